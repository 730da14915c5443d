"""The sides of the block that is cut out of the land, with its strata."""

from __future__ import annotations

import moderngl
import numpy as np

from app.passes.mesh import QUADS, NodeBuffer, edge_nodes
from app.passes.shaders import Drawing, ShaderLibrary


class WallsPass:
    """Draws a strip along each edge of the map, from the ground down to the base."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._nodes = NodeBuffer(context)
        program = shaders.program("walls.vert", "walls.frag")
        self._drawing = Drawing(context, program, [(self._nodes.buffer, "4f 1f/i", "node", "side")])

    def draw(self, nodes: np.ndarray, *, surface: moderngl.Texture, detail: moderngl.Texture) -> None:
        """`nodes` are those of the ground, whose vertices the walls share."""
        strips = edge_nodes(nodes, *surface.size)
        self._nodes.write(strips)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        self._drawing.program.bind(surface=surface, detail=detail)
        self._drawing.program.set(quads=QUADS)
        self._drawing.render(moderngl.TRIANGLE_STRIP, vertices=2 * (QUADS + 1), instances=len(strips))

    def release(self) -> None:
        self._drawing.release()
        self._nodes.release()
