"""A seamless texture of fractured rock: blocks of three sizes with plane faces."""

from __future__ import annotations

import moderngl

from app.picture.passes import unlocked
from app.picture.passes.shaders import FullScreen, ShaderLibrary, Uniform
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP, MapTarget, release_all

SIDE = 512
MEAN_HEIGHT = -0.039  # of the tile, relative to its side
# Ranges of its channels from 0 to 1: height, slopes, and height above the surroundings.
SPANS = 0.18, 10.4, 0.075


class Fractures:
    """Draws the tile on first use. RGBA8: height, two slopes, height above the surroundings."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, detail: moderngl.Texture) -> None:
        self._detail = detail
        self._drawn = False
        self._heights = MapTarget(context, (1, "f4"), filter=ONE_MIPMAP)
        self._tile = MapTarget(context, (4, "f1"), filter=MIPMAPPED)
        self._of_heights = FullScreen(context, shaders, "fractures_height.frag")
        self._of_tile = FullScreen(context, shaders, "fractures.frag")

    @property
    def texture(self) -> moderngl.Texture:
        if not self._drawn:
            self._draw(self._of_heights, self._heights, {"detail": self._detail}, texels=float(SIDE))
            self._draw(self._of_tile, self._tile, {"heights": self._heights.texture()}, spans=(MEAN_HEIGHT, *SPANS))
            self._heights.release()
            self._drawn = True
        return self._tile.texture()

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = False

    def release(self) -> None:
        self.forget()
        release_all(self._heights, self._tile, self._of_heights, self._of_tile)

    @staticmethod
    def _draw(drawing: FullScreen, target: MapTarget, read: dict[str, moderngl.Texture], **uniforms: Uniform) -> None:
        target.fit((SIDE, SIDE))
        drawing.program.bind(**read)
        drawing.program.set(**uniforms)
        drawing.draw(target.framebuffer)
        unlocked.build_mipmaps(target.texture())
        target.texture().repeat_x = target.texture().repeat_y = True
