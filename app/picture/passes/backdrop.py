"""What lies around the land: the table that the block stands on, and the sky."""

from __future__ import annotations

import math
from collections.abc import Iterable

import moderngl

from app.picture.passes.declaration import Frame, Part

SKY = {"TABLE": 0, "SHADOW": 0, "SUN": 0}
SKY_WITH_SUN = SKY | {"SUN": 1}
TABLE = {"TABLE": 1, "SHADOW": 0, "SUN": 0}
TABLE_IN_SHADOW = {"TABLE": 1, "SHADOW": 1, "SUN": 0}
SUN_RADIUS = 0.00465  # of its disc, in radians


class BackdropMesh:
    """Every pixel that the land has left free; drawn last, so that no hidden pixel is computed."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        height = frame.scene.height
        horizon = frame.camera.horizon(frame.aspect)  # from 0 at the bottom of the picture to 1
        line = horizon * frame.crop.size[1] - 0.5 - frame.crop.bottom
        first_of_sky = math.ceil(min(max(line, 0.0), height)) if frame.with_table else 0
        if first_of_sky > 0:
            below = (0, first_of_sky)
            yield Part(
                vertices=6,
                mode=moderngl.TRIANGLE_FAN,
                defines=TABLE_IN_SHADOW,
                vertex="block_shadow.vert",
                rows=below,
            )
            yield Part(vertices=3, defines=TABLE, rows=below)
        if first_of_sky < height:
            yield from self._sky(first_of_sky, rows_of_sun(frame), height)

    def _sky(self, lowest: int, sun: tuple[int, int], highest: int) -> Iterable[Part]:
        """Strips of rows: where there is no disc of the sun, software need not look for it."""
        below, above = (min(max(row, lowest), highest) for row in sun)
        for low, high, defines in ((lowest, below, SKY), (below, above, SKY_WITH_SUN), (above, highest, SKY)):
            if high > low:
                yield Part(vertices=3, defines=defines, uniforms={"sun_radius": SUN_RADIUS}, rows=(low, high))

    def release(self) -> None:
        pass


def rows_of_sun(frame: Frame) -> tuple[int, int]:
    """The rows of the part of the picture, from below, that the sun's disc can lie in; none where it is not ahead."""
    place = frame.camera.place_of(frame.camera.position + frame.sun * frame.camera.distance, frame.aspect)
    if place is None:
        return 0, 0
    middle = 0.5 * (1.0 + place[1]) * frame.crop.size[1] - frame.crop.bottom
    # Towards the corners of a picture it is drawn out.
    reach = 2.0 + SUN_RADIUS * frame.focal_length * (1.0 + place[0] ** 2 + place[1] ** 2)
    return math.floor(middle - reach), math.ceil(middle + reach)
