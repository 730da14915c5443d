"""What several tests hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import moderngl
import pytest

from tests.app.hands import Hands
from tests.app.small import small_scene
from tests.graphics import graphics, own_framebuffer


@pytest.fixture(scope="package", autouse=True)
def one_context() -> Iterator[None]:
    """Films are drawn with the OpenGL of all tests, whose programs and fixed textures are made once.

    Programs that tests start have a context of their own. Tests of passes ask what errors OpenGL has; here moderngl
    may go back to a framebuffer that was released with its film.
    """

    @contextmanager
    def lent() -> Iterator[moderngl.Context]:
        with graphics() as context:
            yield context
            own_framebuffer().use()
            assert context.error is not None  # which forgets it

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.cli.filming.headless_context", lent)
        yield


@pytest.fixture
def hands() -> Iterator[Hands]:
    hands = Hands(small_scene())
    yield hands
    hands.thread.stop()
