"""What lies around the land: the table that the block stands on, and the sky."""

from __future__ import annotations

import math
from collections.abc import Iterable

import moderngl

from app.picture.passes.declaration import Frame, Part

SKY = {"TABLE": 0, "SHADOW": 0}
TABLE = {"TABLE": 1, "SHADOW": 0}
TABLE_IN_SHADOW = {"TABLE": 1, "SHADOW": 1}


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
            yield Part(vertices=3, defines=SKY, rows=(first_of_sky, height))

    def release(self) -> None:
        pass
