"""Mipmaps of textures that are drawn or uploaded."""

from __future__ import annotations

import moderngl

from app.picture.passes import unlocked
from app.picture.passes.shaders import FullScreen, ShaderLibrary


class Mipmaps:
    """Fills the mipmaps of textures with their mean values.

    Drivers differ in how they halve sides that are odd: NVIDIA's moves what is there by up to half a texel, and with it
    the coasts that are found by mipmaps. A software rasteriser compiles its own way anew in each process and for each
    format, which takes longer than all that is drawn for a small map. A shader of ours has the same values everywhere.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = FullScreen(context, shaders, "mipmap.frag")

    def build(self, texture: moderngl.Texture) -> None:
        """Fill all levels from the largest. The filter stays."""
        context = self._context
        bound = context.fbo or context.screen or context.detect_framebuffer(0)  # a new context has none in use
        target = context.framebuffer([texture])
        try:
            unlocked.allocate_mipmaps(texture)
            width, height = texture.size
            level, steps = 0, 255.0 if texture.dtype == "f1" else 0.0
            while max(width, height) > 1:
                width, height, level = max(width // 2, 1), max(height // 2, 1), level + 1
                with unlocked.between_levels(target, texture, level):
                    self._drawing.program.bind(above=texture)
                    self._drawing.program.set(size=(float(width), float(height)), steps=steps)
                    self._drawing.draw(target, (0, 0, width, height))
        finally:
            bound.use()
            target.release()

    def release(self) -> None:
        self._drawing.release()
