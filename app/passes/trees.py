"""Trees: lit bodies near the camera, points farther away, and beyond a colour of the ground."""

from __future__ import annotations

from collections.abc import Mapping

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.passes import tree_shapes
from app.passes.forest import Forest, Selection, TreeView, block_heights
from app.passes.quality import Quality
from app.passes.shaders import Drawing, Program, ShaderLibrary, Uniform
from app.passes.tree_shadows import TreeShadows
from app.passes.tree_shapes import BROADLEAF, CONIFER, CROWN_BASE, CROWN_RADIUS, Shape
from app.snapshot import Snapshot

PATIENCE = 24  # frames for which trees that grow are drawn as they were
INSTANCE = ("2f 3f", "cell", "growth")  # a row of Forest.trees

SHAPES = {
    "near": {CONIFER: tree_shapes.near_conifer, BROADLEAF: tree_shapes.near_broadleaf},
    "middle": {CONIFER: tree_shapes.middle_conifer, BROADLEAF: tree_shapes.middle_broadleaf},
}


class TreesPass:
    """Draws the trees of a snapshot, and before that what they cast shadows with."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._bodies: dict[tuple[str, int, int], Bodies] = {}  # by level, kind and variant of the program
        self._points: Drawing | None = None
        self._all_trees: moderngl.Buffer | None = None
        self._latest: Snapshot | None = None
        self._shown: tuple[int, int] | None = None  # world and version of the trees
        self._ground: tuple[int, ...] | None = None
        self._heights = np.empty((0, 2), np.float32)
        self._age = 0  # frames since the trees were uploaded
        self.forest: Forest | None = None
        self.shadows = TreeShadows(context)

    @property
    def buffer(self) -> tuple[object, ...]:
        """All trees, as programs draw from them."""
        assert self._all_trees is not None
        return self._all_trees, *INSTANCE

    @property
    def version(self) -> int:
        """The version of the trees that are drawn."""
        return self._shown[1] if self._shown is not None else 0

    @property
    def settled(self) -> bool:
        """Whether the trees that are drawn are those of the snapshot."""
        return self._latest is None or self._shown == (self._latest.world, self._latest.trees_version)

    def show(self, snapshot: Snapshot) -> None:
        """Take note of the trees of a snapshot, and of the ground that they stand on."""
        self._latest = snapshot
        ground = (snapshot.world, snapshot.ground_version)
        if len(snapshot.trees) and ground != self._ground:
            self._ground, self._heights = ground, block_heights(snapshot)
            if self.forest is not None and self._shown is not None and self._shown[0] == snapshot.world:
                self.forest.take_heights(self._heights)

    def update(self, *, at_once: bool) -> None:
        """Upload the trees if they have changed: new ones now, those that grow now and then, or `at_once`."""
        self._age += 1
        latest = self._latest
        if latest is None or self.settled:
            return
        same_world = self._shown is not None and self._shown[0] == latest.world and self.forest is not None
        if same_world and self._age < PATIENCE and not at_once:
            return
        self._shown, self._age = (latest.world, latest.trees_version), 0
        self.forest = None
        if len(latest.trees):
            self.forest = Forest(latest.trees, latest.shape, latest.cell_size, self._heights)
            self._upload(self.forest.trees)

    def cast_shadows(
        self,
        selected: Selection | None,
        sun: NDArray[np.float64],
        quality: Quality,
        view: TreeView,
        *,
        at_once: bool,
        **textures: moderngl.Texture,
    ) -> None:
        """Draw the shadows of all that stands around the bodies that are selected, if they have changed."""
        if selected is None or self.forest is None or self._shown is None or self._ground is None:
            self.shadows.any = False
            return
        casters = self.shadows.begin(
            self.forest, selected, sun, quality, view, self._shown, self._ground, at_once=at_once
        )
        if casters is not None:
            self._draw_bodies("middle", casters, view, textures, 2, shadow_matrix=self.shadows.clip_matrix)

    def draw(self, selected: Selection, quality: Quality, view: TreeView, **textures: moderngl.Texture) -> None:
        """Draw the trees that are selected."""
        self._context.enable_only(moderngl.DEPTH_TEST | moderngl.PROGRAM_POINT_SIZE)
        self._context.depth_func = "<="
        near, middle, small = quality.tree_pixels
        for level, trees, limits in (
            ("near", selected.near, (0.0, near)),
            ("middle", selected.middle, (near, middle)),
        ):
            self._draw_bodies(
                level, trees, view, textures, int(self.shadows.any), limits=limits, **self.shadows.uniforms
            )
        if not selected.points:
            return
        if self._points is None:
            program = self._shaders.program("tree_sprites.vert", "tree_sprites.frag")
            self._points = Drawing(self._context, program, [self.buffer])
        self._set(self._points, view, textures, limits=(middle, small))
        for first, number in selected.points:
            self._points.render(moderngl.POINTS, vertices=number, first=first)

    def release(self) -> None:
        for bodies in self._bodies.values():
            bodies.release()
        if self._points is not None:
            self._points.release()
        if self._all_trees is not None:
            self._all_trees.release()
        self.shadows.release()

    def _draw_bodies(
        self,
        level: str,
        trees: NDArray[np.float32],
        view: TreeView,
        textures: Mapping[str, moderngl.Texture],
        variant: int,
        **uniforms: Uniform,
    ) -> None:
        """Variants are: 0 trees in the light of the map, 1 with the shadows of bodies, 2 their shadows themselves."""
        for kind, shape in SHAPES[level].items():
            of_kind = trees[(trees[:, 2] > 0.5) == (kind == BROADLEAF)]
            if not len(of_kind):
                continue
            if (level, kind, variant) not in self._bodies:
                fragment = "trees.frag" if variant < 2 else "nothing.frag"
                program = self._shaders.program("trees.vert", fragment, (f"SHADOWS {variant}",))
                self._bodies[level, kind, variant] = Bodies(self._context, program, shape())
            bodies = self._bodies[level, kind, variant]
            self._set(bodies.drawing, view, textures, **uniforms)
            bodies.render(of_kind)

    def _set(
        self, drawing: Drawing, view: TreeView, textures: Mapping[str, moderngl.Texture], **uniforms: Uniform
    ) -> None:
        drawing.program.bind(**textures)
        drawing.program.set(
            mesh_reach=view.mesh_reach,
            crown=(*CROWN_RADIUS, *CROWN_BASE),
            scale=(view.height, view.focal_length, view.winter),
            **uniforms,
        )

    def _upload(self, trees: NDArray[np.float32]) -> None:
        if self._all_trees is None:
            self._all_trees = self._context.buffer(reserve=2 * trees.nbytes, dynamic=True)
        elif trees.nbytes > self._all_trees.size:
            self._all_trees.orphan(2 * trees.nbytes)
        self._all_trees.write(trees)


class Bodies:
    """Many trees of one shape."""

    def __init__(self, context: moderngl.Context, program: Program, shape: Shape) -> None:
        self._vertices = context.buffer(shape.vertices.tobytes())
        self._triangles = context.buffer(shape.triangles.tobytes())
        self._trees = context.buffer(reserve=1024, dynamic=True)
        buffers = [
            (self._vertices, *tree_shapes.ATTRIBUTES),
            (self._trees, INSTANCE[0] + "/i", *INSTANCE[1:]),
        ]
        self.drawing = Drawing(context, program, buffers, self._triangles)

    def render(self, trees: NDArray[np.float32]) -> None:
        if trees.nbytes > self._trees.size:
            self._trees.orphan(2 * trees.nbytes)
        self._trees.write(np.ascontiguousarray(trees))
        self.drawing.render(instances=len(trees))

    def release(self) -> None:
        self.drawing.release()
        for buffer in (self._vertices, self._triangles, self._trees):
            buffer.release()
