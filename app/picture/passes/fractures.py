"""A seamless texture of fractured rock: blocks of three sizes with plane faces."""

from __future__ import annotations

import moderngl

from app.picture.passes.fixed import FixedTextures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary, Uniform
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP, Filter, MapTarget, release_all

SIDE = 512
MEAN_HEIGHT = -0.0222  # of the tile, relative to its side
# Ranges of its channels from 0 to 1: height, slopes, and height above the surroundings.
SPANS = 0.265, 10.63, 0.0834


class Fractures:
    """Draws the tile of a context on first use. RGBA8: height, two slopes, height above the surroundings."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, fixed: FixedTextures) -> None:
        self._fixed = fixed
        self._mipmaps = Mipmaps(context, shaders)
        self._heights = MapTarget(context, (1, "f4"), filter=ONE_MIPMAP)
        self._of_heights = FullScreen(context, shaders, "fractures_height.frag")
        self._of_tile = FullScreen(context, shaders, "fractures.frag")

    @property
    def texture(self) -> moderngl.Texture:
        """The tile, whose mipmaps pass into each other."""
        return self.read_by(MIPMAPPED)

    def read_by(self, filter: Filter) -> moderngl.Texture:
        """The tile, whose mipmaps are read as a level of quality wants them to."""
        if not self._fixed.fractures_drawn:
            noise = {"detail": self._fixed.repeating(self._mipmaps)["detail"]}
            self._draw(self._of_heights, self._heights, noise, texels=float(SIDE))
            for tile in self._fixed.fractures.values():
                self._draw(self._of_tile, tile, {"heights": self._heights.texture()}, spans=(MEAN_HEIGHT, *SPANS))
            self._heights.release()
            self._fixed.fractures_drawn = True
        return self._fixed.fractures[filter].texture()

    def forget(self) -> None:
        """Force a redraw."""
        self._fixed.fractures_drawn = False

    def release(self) -> None:
        release_all(self._heights, self._of_heights, self._of_tile, self._mipmaps)

    def _draw(
        self, drawing: FullScreen, target: MapTarget, read: dict[str, moderngl.Texture], **uniforms: Uniform
    ) -> None:
        target.fit((SIDE, SIDE))
        drawing.program.bind(**read)
        drawing.program.set(**uniforms)
        drawing.draw(target.framebuffer)
        self._mipmaps.build(target.texture())
        target.texture().repeat_x = target.texture().repeat_y = True
