"""Running water, a film on the ground that lies in its bed."""

from __future__ import annotations

import moderngl

from app.passes.mesh import GroundMesh
from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary
from app.passes.water import blend_by_colour


class StreamsPass:
    """Lays streams over the ground that has been drawn, on the same mesh."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, mesh: GroundMesh) -> None:
        self._context = context
        self._mesh = mesh
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], Drawing] = {}

    def draw(self, quality: Quality, *, with_overlay: bool, with_course: bool, **textures: moderngl.Texture) -> None:
        blend_by_colour(self._context)
        defines = (
            f"OVERLAY {int(with_overlay)}",
            f"LINES {int(with_course)}",
            f"FINE_WATER {int(quality.fine_water)}",
        )
        if defines not in self._drawings:
            program = self._shaders.program("terrain.vert", "streams.frag", defines)
            self._drawings[defines] = self._mesh.drawing(program)
        drawing = self._drawings[defines]
        drawing.program.bind(**textures)
        self._mesh.render(drawing)

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
