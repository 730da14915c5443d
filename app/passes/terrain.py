"""The ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import moderngl

from app.passes.beach import BEACH_RISES
from app.passes.canopy import NO_FOREST
from app.passes.mesh import GroundMesh
from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary
from app.passes.tiles import STREAM_FAR, GroundClass, TileDrawing
from app.passes.tree_shadows import TreeShadows

WIDEST_PIXEL = 12.0  # how much ground a pixel spans at most, beside what it would if the ground faced the eye


class Deferred(NamedTuple):
    """What the ground is drawn from where the mesh has been drawn before, by a `PlacesPass`."""

    places: moderngl.Texture
    focal_length: float  # pixels
    with_streams: bool
    tiles: Sequence[GroundClass]  # together all of the screen


class TerrainPass:
    """Draws the ground with its materials, light and overlay: the mesh, or what the mesh has left on the screen."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, mesh: GroundMesh) -> None:
        self._context = context
        self._shaders = shaders
        self._mesh = mesh
        self._drawings: dict[tuple[str, ...], Drawing] = {}
        self._tiles = TileDrawing(context)

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
        deferred: Deferred | None,
        **textures: moderngl.Texture,
    ) -> None:
        """`forest` is the uniform of that name in canopy.glsl, where there are trees.

        Where it is `deferred`, the mesh is not drawn again, and streams and beaches are drawn with the ground.
        """
        self._context.enable_only(moderngl.DEPTH_TEST)
        look = (
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
        uniforms = {"with_course": with_course, "forest": forest or NO_FOREST, **tree_shadows.uniforms}
        if deferred is None:
            self._context.depth_func = "<="
            drawing = self._mesh_variant(*look)
            drawing.program.bind(**textures, **tree_shadows.texture)
            drawing.program.set(**uniforms)
            self._mesh.render(drawing)
            return
        scene = self._context.fbo
        scene.depth_mask = False
        self._context.depth_func = ">"  # what is drawn lies behind all: where there is something
        for near, beach, part in deferred.tiles:
            program = self._shaders.program(
                "fullscreen.vert" if part is None else "tiles.vert",
                "terrain.frag",
                (
                    *look,
                    "DEFERRED 1",
                    f"STREAMS {(1 + int(near)) * int(deferred.with_streams)}",
                    f"BEACH {int(beach)}",
                    f"FINE_WATER {int(quality.fine_water)}",
                ),
            )
            program.bind(**textures, **tree_shadows.texture, places=deferred.places)
            program.set(
                **uniforms,
                stream_far=STREAM_FAR,
                beach_rises=BEACH_RISES,
                widest_pixel=WIDEST_PIXEL / deferred.focal_length,
            )
            self._tiles.draw(program, part, scene.size)
        scene.depth_mask = True

    def _mesh_variant(self, *defines: str) -> Drawing:
        if defines not in self._drawings:
            self._drawings[defines] = self._mesh.drawing(self._shaders.program("terrain.vert", "terrain.frag", defines))
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        self._tiles.release()
