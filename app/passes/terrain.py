"""The ground."""

from __future__ import annotations

import moderngl
import numpy as np

from app.passes.mesh import QUADS, NodeBuffer, touching
from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary


class TerrainPass:
    """Draws the ground with its materials, light and overlay."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        side = QUADS + 1
        corner = (np.arange(QUADS)[:, None] * side + np.arange(QUADS)).astype(np.uint32)
        # Both triangles of a quad share the diagonal from south-west to north-east, in all levels alike.
        quads = np.stack([corner, corner + side, corner + 1, corner + 1, corner + side, corner + side + 1], axis=-1)
        self._indices = context.buffer(quads.tobytes())
        self._nodes = (NodeBuffer(context), NodeBuffer(context))  # without beaches, and with
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], Drawing] = {}

    def draw(
        self,
        nodes: np.ndarray,
        quality: Quality,
        *,
        with_overlay: bool,
        desert: bool,
        with_water: bool,
        beaches: np.ndarray | None,
        **textures: moderngl.Texture,
    ) -> None:
        """`beaches` are the blocks of the map that waves run up a beach in; None where there are no waves."""
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        # Software renderers pay for beaches wherever they could be: elsewhere the ground is drawn without.
        by_waves = touching(nodes, beaches) if beaches is not None else np.zeros(len(nodes), bool)
        for with_beach, batch in ((False, nodes[~by_waves]), (True, nodes[by_waves])):
            if len(batch):
                self._nodes[with_beach].write(np.ascontiguousarray(batch))
                drawing = self._variant(quality, with_overlay, desert, with_water, with_beach)
                drawing.program.bind(**textures)
                drawing.program.set(quads=QUADS)
                drawing.render(instances=len(batch))

    def _variant(
        self, quality: Quality, with_overlay: bool, desert: bool, with_water: bool, with_beach: bool
    ) -> Drawing:
        defines = (
            f"OVERLAY {int(with_overlay)}",
            f"DESERT {int(desert)}",
            f"WATER {int(with_water)}",
            f"WAVES {int(with_beach)}",
            f"FINE_WATER {int(quality.fine_water)}",
            f"DETAIL_SCALES {quality.detail_scales}",
        )
        if defines not in self._drawings:
            program = self._shaders.program("terrain.vert", "terrain.frag", defines)
            buffers = [(self._nodes[with_beach].buffer, "4f/i", "node")]
            self._drawings[defines] = Drawing(self._context, program, buffers, self._indices)
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        self._indices.release()
        for nodes in self._nodes:
            nodes.release()
