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
        self._shaders = shaders
        self._nodes = NodeBuffer(context)
        self._drawings: dict[bool, Drawing] = {}

    def draw(self, nodes: np.ndarray, *, with_materials: bool, **textures: moderngl.Texture) -> None:
        """`nodes` are those of the ground, whose vertices the walls share."""
        strips = edge_nodes(nodes, *textures["surface"].size)
        self._nodes.write(strips)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        drawing = self._variant(with_materials)
        drawing.program.bind(**textures)
        drawing.program.set(quads=QUADS)
        drawing.render(moderngl.TRIANGLE_STRIP, vertices=2 * (QUADS + 1), instances=len(strips))

    def _variant(self, with_materials: bool) -> Drawing:
        if with_materials not in self._drawings:
            defines = (f"MATERIALS {int(with_materials)}",)
            program = self._shaders.program("walls.vert", "walls.frag", defines)
            buffers = [(self._nodes.buffer, "4f 1f/i", "node", "side")]
            self._drawings[with_materials] = Drawing(self._context, program, buffers)
        return self._drawings[with_materials]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        self._nodes.release()
