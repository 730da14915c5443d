"""The sides of the block that is cut out of the land, with its strata."""

from __future__ import annotations

import moderngl

from app.passes.shaders import Drawing, ShaderLibrary


class WallsPass:
    """Draws a strip along each edge of the map, from the ground down to the base."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = Drawing(context, shaders.program("walls.vert", "walls.frag"))

    def draw(self, *, surface: moderngl.Texture, detail: moderngl.Texture) -> None:
        columns, rows = surface.size
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        self._drawing.program.bind(surface=surface, detail=detail)
        for side in range(4):
            self._drawing.program.set(side=side)
            self._drawing.render(moderngl.TRIANGLE_STRIP, vertices=2 * (rows if side % 2 else columns))

    def release(self) -> None:
        self._drawing.release()
