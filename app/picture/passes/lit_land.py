"""The lit land from above, the source of bounced light."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl

from app.picture.passes.declaration import Frame, Part


class LitLand:
    """The rows of the lit land that a frame draws."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        bounce = frame.bounce
        if bounce.band is not None:
            defines = {"CANOPY": min(frame.defines["CANOPY"], 1), "PATCHY": int(frame.quality.detail_scales > 2)}
            yield Part(vertices=3, defines=defines, rows=bounce.band)
            surface = frame.textures["surface"]
            assert isinstance(surface, moderngl.Texture)
            bounce.finish(surface)

    def release(self) -> None:
        pass
