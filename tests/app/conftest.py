"""What several tests hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.hands import Hands
from tests.app.small import small_scene
from tests.graphics import graphics
from tests.waiting import PATIENCE


@pytest.fixture(scope="package", autouse=True)
def one_context() -> Iterator[None]:
    """Films are drawn with the OpenGL of all tests, whose programs and fixed textures are made once.

    No film may leave an error in it. Programs that tests start have a context of their own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.cli.filming.headless_context", graphics)
        yield


@pytest.fixture(scope="package", autouse=True)
def patience_with_signals() -> Iterator[None]:
    """Tests that signal their own process are not ended by force, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GRACE", "LONGEST_STEP"):
            patch.setattr(f"app.cli.signals.{name}", PATIENCE)
        yield


@pytest.fixture
def hands() -> Iterator[Hands]:
    hands = Hands(small_scene())
    yield hands
    hands.thread.stop()
