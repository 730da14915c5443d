"""What lies around the land: the table that the block stands on, and the sky."""

from __future__ import annotations

import moderngl

from app.passes.shaders import Drawing, ShaderLibrary


class BackdropPass:
    """Fills every pixel that the land has left free; drawn last, so that no hidden pixel is computed."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = Drawing(context, shaders.program("fullscreen.vert", "backdrop.frag"))

    def draw(self, *, surface: moderngl.Texture, detail: moderngl.Texture) -> None:
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        self._drawing.program.bind(surface=surface, detail=detail)
        self._drawing.render(vertices=3)

    def release(self) -> None:
        self._drawing.release()
