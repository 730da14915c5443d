"""The ground."""

from __future__ import annotations

import moderngl
import numpy as np

from app.passes.mesh import QUADS, NodeBuffer
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
        self._nodes = NodeBuffer(context)
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], Drawing] = {}

    def draw(
        self,
        nodes: np.ndarray,
        quality: Quality,
        *,
        with_overlay: bool,
        desert: bool,
        with_marks: bool,
        **textures: moderngl.Texture,
    ) -> None:
        self._nodes.write(nodes)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        drawing = self._variant(quality, with_overlay, desert, with_marks)
        drawing.program.bind(**textures)
        drawing.program.set(quads=QUADS)
        drawing.render(instances=len(nodes))

    def _variant(self, quality: Quality, with_overlay: bool, desert: bool, with_marks: bool) -> Drawing:
        defines = (
            f"OVERLAY {int(with_overlay)}",
            f"DESERT {int(desert)}",
            f"MARKS {int(with_marks)}",
            f"DETAIL_SCALES {quality.detail_scales}",
        )
        if defines not in self._drawings:
            program = self._shaders.program("terrain.vert", "terrain.frag", defines)
            buffers = [(self._nodes.buffer, "4f/i", "node")]
            self._drawings[defines] = Drawing(self._context, program, buffers, self._indices)
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        self._indices.release()
        self._nodes.release()
