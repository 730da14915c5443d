"""The picture as a texture, shown behind the panel and read for screenshots."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.passes import unlocked
from app.picture.passes.targets import release_targets, released_on_error


class Canvas:
    """A framebuffer of any requested size.

    Drawing into it instead of onto the screen keeps the last picture while only the panel changes, and avoids a GL
    error when it is read.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._texture: moderngl.Texture | None = None
        self._framebuffer: moderngl.Framebuffer | None = None

    def framebuffer(self, width: int, height: int) -> moderngl.Framebuffer:
        """The framebuffer, in this size."""
        if self._framebuffer is None or self._framebuffer.size != (width, height):
            with released_on_error() as keep:
                texture = keep(self._context.texture((width, height), 4))
                texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
                framebuffer = self._context.framebuffer([texture])
            self.release()
            framebuffer.use()
            self._texture, self._framebuffer = texture, framebuffer
        return self._framebuffer

    @property
    def framebuffer_as_drawn(self) -> moderngl.Framebuffer | None:
        """The framebuffer of the last picture."""
        return self._framebuffer

    @property
    def texture(self) -> moderngl.Texture | None:
        """The texture of the last picture, bottom row first."""
        return self._texture

    def pixels(self) -> NDArray[np.uint8] | None:
        """Red, green and blue by row and column, top row first."""
        if self._framebuffer is None:
            return None
        return unlocked.read(self._framebuffer)[::-1]

    def lay_onto(self, target: moderngl.Framebuffer, left: int, bottom: int) -> None:
        """Copy the last picture to a place in `target`, given by its lower left corner."""
        if self._framebuffer is not None:
            unlocked.copy(self._framebuffer, target, left, bottom)

    def paint(self, pixels: NDArray[np.uint8], left: int, top: int) -> None:
        """Paint pixels over the picture: `[row from the top, column, (red, green, blue, alpha)]`.

        `left` and `top` are counted from the upper left corner; pixels outside the picture are cut.
        """
        if self._texture is None:
            return
        width, height = self._texture.size
        seen = pixels[max(-top, 0) : max(height - top, 0), max(-left, 0) : max(width - left, 0)]
        left, top = max(left, 0), max(top, 0)
        rows, columns = seen.shape[:2]
        if rows and columns:
            area = (left, height - top - rows, columns, rows)
            self._texture.write(np.ascontiguousarray(seen[::-1]).tobytes(), viewport=area, alignment=1)

    def release(self) -> None:
        if self._framebuffer is not None:
            release_targets([self._framebuffer])
            self._framebuffer = self._texture = None
