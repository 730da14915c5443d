"""What lies around the land: the table that the block stands on, and the sky."""

from __future__ import annotations

import moderngl

from app.passes.shaders import Drawing, ShaderLibrary


class BackdropPass:
    """Fills every pixel that the land has left free; drawn last, so that no hidden pixel is computed."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[bool, Drawing] = {}

    def draw(self, *, with_dust: bool, surface: moderngl.Texture, detail: moderngl.Texture) -> None:
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        if with_dust not in self._drawings:
            program = self._shaders.program("fullscreen.vert", "backdrop.frag", (f"STORM {int(with_dust)}",))
            self._drawings[with_dust] = Drawing(self._context, program)
        drawing = self._drawings[with_dust]
        drawing.program.bind(surface=surface, detail=detail)
        drawing.render(vertices=3)

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
