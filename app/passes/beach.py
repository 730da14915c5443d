"""The beach that waves run up: its sand, wet and drying, and the water and foam on it."""

from __future__ import annotations

import moderngl
import numpy as np

from app.passes.mesh import BLOCK, GroundMesh, parts_within
from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary
from app.passes.water import blend_by_colour

BEACH_RISES = 3.0  # how high a beach can lie, beside how high waves run up


class BeachPass:
    """Lays the beach over the ground that has been drawn, on a part of the same mesh.

    Only where the shore is: software renderers pay for all of a shader wherever it draws.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._mesh = GroundMesh(context, quads=BLOCK)
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], Drawing] = {}

    def draw(
        self,
        nodes: np.ndarray,
        blocks: np.ndarray,
        quality: Quality,
        *,
        with_overlay: bool,
        with_course: bool,
        **textures: moderngl.Texture,
    ) -> None:
        """`nodes` are those of the ground, `blocks` tell where on the map the shore is."""
        by_the_shore = parts_within(nodes, blocks)
        if not len(by_the_shore):
            return
        self._mesh.select(by_the_shore)
        blend_by_colour(self._context)
        defines = (
            f"OVERLAY {int(with_overlay)}",
            f"LINES {int(with_course)}",
            f"FINE_WATER {int(quality.fine_water)}",
        )
        if defines not in self._drawings:
            program = self._shaders.program("terrain.vert", "beach.frag", defines)
            self._drawings[defines] = self._mesh.drawing(program)
        drawing = self._drawings[defines]
        drawing.program.bind(**textures)
        drawing.program.set(beach_rises=BEACH_RISES)
        self._mesh.render(drawing)

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        self._mesh.release()
