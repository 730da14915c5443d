"""The ground."""

from __future__ import annotations

import moderngl

from app.passes.canopy import NO_FOREST
from app.passes.mesh import GroundMesh
from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary
from app.passes.tree_shadows import TreeShadows


class TerrainPass:
    """Draws the ground with its materials, light and overlay."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, mesh: GroundMesh) -> None:
        self._context = context
        self._shaders = shaders
        self._mesh = mesh
        self._drawings: dict[tuple[str, ...], Drawing] = {}

    def draw(
        self,
        quality: Quality,
        *,
        with_overlay: bool,
        with_lines: bool,
        with_course: bool,
        desert: bool,
        drifting: bool,
        with_water: bool,
        with_marks: bool,
        with_materials: bool,
        with_life: bool,
        with_dust: bool,
        forest: tuple[float, float, float, float] | None,
        tree_shadows: TreeShadows,
        **textures: moderngl.Texture,
    ) -> None:
        """`forest` is the uniform of that name in canopy.glsl, where there are trees."""
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        drawing = self._variant(
            f"OVERLAY {int(with_overlay)}",
            f"LINES {int(with_lines or with_course)}",
            f"DESERT {int(desert)}",
            f"DRIFTING {int(drifting)}",
            f"WATER {int(with_water)}",
            f"MARKS {int(with_marks)}",
            f"MATERIALS {int(with_materials)}",
            f"LIVING {int(with_life)}",
            f"STORM {int(with_dust)}",
            f"CANOPY {0 if forest is None else 1 + int(tree_shadows.any)}",
            f"DETAIL_SCALES {quality.detail_scales}",
        )
        drawing.program.bind(**textures, **tree_shadows.texture)
        drawing.program.set(with_course=with_course, forest=forest or NO_FOREST, **tree_shadows.uniforms)
        self._mesh.render(drawing)

    def _variant(self, *defines: str) -> Drawing:
        if defines not in self._drawings:
            self._drawings[defines] = self._mesh.drawing(self._shaders.program("terrain.vert", "terrain.frag", defines))
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
