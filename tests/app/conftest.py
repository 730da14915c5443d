"""What several tests hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.hands import Hands
from tests.app.small import small_scene


@pytest.fixture
def hands() -> Iterator[Hands]:
    hands = Hands(small_scene())
    yield hands
    hands.thread.stop()
