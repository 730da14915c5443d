"""Pictures of worlds in a fixed size."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot
from app.picture.canvas import Canvas
from app.picture.passes.declaration import Shot
from app.picture.picture import Picture


class Painter:
    """Paints complete pictures of `size` (width, height)."""

    def __init__(self, context: moderngl.Context, size: tuple[int, int]) -> None:
        self._size = size
        self._picture = Picture(context, bake_at_once=True)
        self._canvas = Canvas(context)

    def paint(self, snapshot: Snapshot, shot: Shot) -> NDArray[np.uint8]:
        """The picture of a world in a shot: [row, column, (red, green, blue)], top row first."""
        self._picture.show(snapshot)
        for _ in self._picture.slices(self._canvas.framebuffer(*self._size), shot):
            pass
        pixels = self._canvas.pixels()
        assert pixels is not None
        return pixels

    def release(self) -> None:
        self._picture.release()
        self._canvas.release()
