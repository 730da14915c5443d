"""Crops: parts of a picture that are drawn separately, for pictures larger than a framebuffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyglm import glm

LARGEST_TILE = 2048  # pixels along a side of a tile with its margin
# Margin around a tile: antialiasing reads neighbours, and a tree drawn as a point disappears if its centre is outside.
MARGIN = 40
STEP = 40  # tiles begin at multiples of it, where pixels of the scene begin at every scale of quality


@dataclass(frozen=True)
class Crop:
    """A rectangle of a picture of a `size` (width, height), by its lower left corner. All in pixels."""

    size: tuple[int, int]
    left: int
    bottom: int
    width: int
    height: int

    @property
    def top(self) -> int:
        """Distance from the upper edge of the picture."""
        return self.size[1] - self.bottom - self.height

    @property
    def aspect(self) -> float:
        """Aspect ratio of the whole picture."""
        return self.size[0] / self.size[1]

    @property
    def scale(self) -> tuple[float, float]:
        """Its fraction of the picture, across and up."""
        return self.width / self.size[0], self.height / self.size[1]

    @property
    def middle(self) -> tuple[float, float]:
        """The centre in the picture, from -1 to 1."""
        across, up = self.size
        return (2 * self.left + self.width) / across - 1.0, (2 * self.bottom + self.height) / up - 1.0

    @property
    def clip_change(self) -> tuple[float, float, float, float]:
        """The change from the clip space of the picture to that of the part: factors and shifts (x, y)."""
        (across, up), (x, y) = self.scale, self.middle
        return 1.0 / across, 1.0 / up, -x / across, -y / up

    @property
    def clip(self) -> glm.mat4:
        """`clip_change` as a matrix."""
        matrix = glm.mat4(1.0)
        matrix[0][0], matrix[1][1], matrix[3][0], matrix[3][1] = self.clip_change
        return matrix

    def axes(self, across: glm.vec3, up: glm.vec3, ahead: glm.vec3) -> tuple[glm.vec3, glm.vec3, glm.vec3]:
        """The axes of directions in the part, from those in the picture: see `Camera.picture_axes`."""
        (wide, tall), (x, y) = self.scale, self.middle
        return across * wide, up * tall, ahead + across * x + up * y

    def scaled(self, scale: float) -> Crop:
        """The same part of a picture enlarged by a factor."""
        if scale == 1.0:
            return self
        width, height = (max(1, round(side * scale)) for side in self.size)
        left, bottom = round(self.left * scale), round(self.bottom * scale)
        right = width if self.left + self.width == self.size[0] else round((self.left + self.width) * scale)
        top = height if self.bottom + self.height == self.size[1] else round((self.bottom + self.height) * scale)
        return Crop((width, height), left, bottom, max(right - left, 1), max(top - bottom, 1))


def whole(width: int, height: int) -> Crop:
    """All of a picture."""
    return Crop((width, height), 0, 0, width, height)


@dataclass(frozen=True)
class Tile:
    """A tile of a picture, and the crop that is drawn for it."""

    left: int
    top: int
    width: int
    height: int
    drawn: Crop

    @property
    def rows(self) -> slice:
        """Its rows in the drawn picture, from the top."""
        return slice(self.top - self.drawn.top, self.top - self.drawn.top + self.height)

    @property
    def columns(self) -> slice:
        return slice(self.left - self.drawn.left, self.left - self.drawn.left + self.width)


def bands(width: int, height: int, largest: int = LARGEST_TILE) -> Iterator[list[Tile]]:
    """The tiles of a picture, in bands from the uppermost, each from left to right.

    The drawn crop of a tile has sides of at most `largest` and stays within the picture, so edges of the picture look
    as if it were drawn in one piece.
    """
    side = max((largest - 2 * MARGIN) // STEP, 1) * STEP
    columns = [(0, width)] if width <= largest else [(x, min(x + side, width)) for x in range(0, width, side)]
    rows = [(0, height)] if height <= largest else [(y, min(y + side, height)) for y in range(0, height, side)]
    for low, high in reversed(rows):  # counted from the bottom, as OpenGL shades pixels in pairs from there
        bottom, top = max(low - MARGIN, 0), min(high + MARGIN, height)
        band = []
        for left, right in columns:
            west, east = max(left - MARGIN, 0), min(right + MARGIN, width)
            drawn = Crop((width, height), west, bottom, east - west, top - bottom)
            band.append(Tile(left, height - high, right - left, high - low, drawn))
        yield band
