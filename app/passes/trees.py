"""Trees: lit bodies near the camera, points farther away, and beyond a colour of the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.camera import Camera
from app.passes import tree_shapes
from app.passes.quality import Quality
from app.passes.shaders import Drawing, Program, ShaderLibrary, Uniform
from app.passes.tree_shapes import BROADLEAF, CONIFER, CROWN_BASE, CROWN_RADIUS, Shape
from app.snapshot import Snapshot

BLOCK = 32  # cells along a side of the blocks by which trees are left out that are not in view
SPREAD = 0.30  # by which trees of one size differ in height: tree_height in tree.glsl
INSTANCE = ("2f 3f", ("cell", "growth"))  # a row of Forest.trees
OVERLAP = 0.15  # of a limit, over which a level passes into the next: finer_share in tree.glsl
SAMPLED = 4  # cells from one to the next whose height is taken for the heights of a block

SHAPES = {
    "near": {CONIFER: tree_shapes.near_conifer, BROADLEAF: tree_shapes.near_broadleaf},
    "middle": {CONIFER: tree_shapes.middle_conifer, BROADLEAF: tree_shapes.middle_broadleaf},
}


class Forest:
    """The trees of a snapshot, sorted by blocks of the map."""

    def __init__(self, snapshot: Snapshot) -> None:
        rows, columns = snapshot.shape
        down, across = -(-rows // BLOCK), -(-columns // BLOCK)
        row, column, kind, size, _, health = snapshot.trees.T
        block = (row // BLOCK).astype(np.int32).clip(0, down - 1) * across
        block += (column // BLOCK).astype(np.int32).clip(0, across - 1)
        if down * across <= np.iinfo(np.uint16).max:
            block = block.astype(np.uint16)  # which is sorted much faster
        order = np.argsort(block, kind="stable")
        self.trees = np.column_stack([column, row, kind, size, health])[order]  # float32 [tree, (…)]
        count = np.bincount(block, minlength=down * across)
        self.first = np.concatenate([[0], np.cumsum(count)])  # [block], and the number of trees
        self.inhabited = np.flatnonzero(count)  # the blocks that have trees
        self._starts = self.first[self.inhabited]
        self.largest = np.maximum.reduceat(self.trees[:, 3], self._starts)  # [inhabited block]
        self.smallest = np.minimum.reduceat(self.trees[:, 3], self._starts)
        self._low_corner = np.column_stack([self.inhabited % across, self.inhabited // across]) * BLOCK
        self._map = (columns, rows)
        self.cell_size = snapshot.cell_size
        self.take_heights(snapshot)

    def take_heights(self, snapshot: Snapshot) -> None:
        """Take note of the heights of the ground, roughly."""
        every = np.s_[::SAMPLED, ::SAMPLED]
        ground = snapshot.layers["bedrock"][every] + snapshot.layers["sediment"][every]
        side = BLOCK // SAMPLED
        room = [(0, -length % side) for length in ground.shape]
        tiles = np.pad(ground, room, mode="edge")
        tiles = tiles.reshape(tiles.shape[0] // side, side, tiles.shape[1] // side, side)
        self._heights = np.column_stack(
            [tiles.min(axis=(1, 3)).ravel()[self.inhabited], tiles.max(axis=(1, 3)).ravel()[self.inhabited]]
        )

    def boxes(self, exaggeration: float, tallest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Opposite corners of each inhabited block with its trees, in picture space; `tallest` in metres."""
        low, high = self._low_corner - 1.0, np.minimum(self._low_corner + BLOCK, self._map) + 1.0
        slack = 0.5 * (self._heights[:, 1] - self._heights[:, 0]) / BLOCK * SAMPLED
        bottom, top = (self._heights[:, 0] - slack) * exaggeration, (self._heights[:, 1] + slack) * exaggeration
        return (
            np.column_stack([low[:, 0] * self.cell_size, bottom, low[:, 1] * self.cell_size]),
            np.column_stack([high[:, 0] * self.cell_size, top + tallest, high[:, 1] * self.cell_size]),
        )

    def of_blocks(self, blocks: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The numbers of all trees of some inhabited blocks, and how many each of the blocks has."""
        starts, ends = self._starts[blocks], self.first[self.inhabited[blocks] + 1]
        lengths = ends - starts
        return np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths), lengths

    def runs(self, blocks: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """First and number of trees of the inhabited blocks that are true; those that follow each other in one run."""
        edges = np.flatnonzero(np.diff(blocks.astype(np.int8), prepend=0, append=0))
        bounds = np.append(self._starts, len(self.trees))
        return [(int(bounds[a]), int(bounds[b] - bounds[a])) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def in_view(low: NDArray[np.float64], high: NDArray[np.float64], camera: Camera, aspect: float) -> NDArray[np.bool_]:
    """Which boxes can be seen: those that are not whole beyond one of the planes that bound the view."""
    matrix = np.array((camera.projection(aspect) * camera.view()).to_list()).T
    planes = np.array([matrix[3] + matrix[0], matrix[3] - matrix[0], matrix[3] + matrix[1], matrix[3] - matrix[1]])
    seen = np.ones(len(low), bool)
    for plane in planes:
        outermost = np.where(plane[:3] > 0.0, high, low)
        seen &= outermost @ plane[:3] + plane[3] > 0.0
    return seen


class TreeView(NamedTuple):
    """How trees are seen in a picture."""

    height: float  # of a full-grown tree, m
    focal_length: float  # pixels of a metre at a distance of one
    mesh_reach: tuple[float, float]  # how far the ground has its finest grid, m; its coarsest grid, cells
    exaggeration: float
    winter: float  # from 0 to 1

    @property
    def tallest(self) -> float:
        return self.height * (1.0 + 0.5 * SPREAD)

    @property
    def shortest(self) -> float:
        return self.height * (1.0 - 0.5 * SPREAD)


class Span(NamedTuple):
    """The most and the least that heights can be, in pixels."""

    most: NDArray[np.float64]
    least: NDArray[np.float64]

    def between(self, low: float, high: float) -> NDArray[np.bool_]:
        """Which may lie between two limits, at which a level passes into the next; no upper one where that is 0."""
        above = self.most > (1.0 - OVERLAP) * low
        return above & (self.least < (1.0 + OVERLAP) * high) if high > 0.0 else above


class TreesPass:
    """Draws the trees of a snapshot."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._bodies: dict[tuple[str, int], Bodies] = {}  # by level and kind
        self._points: Drawing | None = None
        self._all_trees: moderngl.Buffer | None = None
        self._forest: Forest | None = None
        self._shown: tuple[int, int] | None = None
        self._ground: tuple[int, ...] | None = None

    @property
    def any(self) -> bool:
        """Whether there are trees."""
        return self._forest is not None

    def show(self, snapshot: Snapshot) -> None:
        """Upload the trees where they have changed."""
        ground = (snapshot.world, snapshot.versions["bedrock"], snapshot.versions["sediment"])
        if (snapshot.world, snapshot.trees_version) != self._shown:
            self._shown = snapshot.world, snapshot.trees_version
            self._forest = Forest(snapshot) if len(snapshot.trees) else None
            if self._forest is not None:
                self._upload(self._forest.trees)
        elif self._forest is not None and ground != self._ground:
            self._forest.take_heights(snapshot)
        self._ground = ground

    def draw(
        self, camera: Camera, aspect: float, quality: Quality, view: TreeView, **textures: moderngl.Texture
    ) -> None:
        """Draw all trees that are in view and large enough to be seen as such."""
        forest = self._forest
        if forest is None:
            return
        low, high = forest.boxes(view.exaggeration, view.tallest)
        eye = np.array(camera.position)
        nearest = np.linalg.norm(np.maximum(np.maximum(low - eye, eye - high), 0.0), axis=1)
        farthest = np.linalg.norm(np.maximum(np.abs(low - eye), np.abs(high - eye)), axis=1)
        blocks = Span(
            view.tallest * view.focal_length * forest.largest / np.maximum(nearest, 1e-6),
            view.shortest * view.focal_length * forest.smallest / np.maximum(farthest, 1e-6),
        )
        seen = in_view(low, high, camera, aspect)
        near, middle, small = quality.tree_pixels
        self._context.enable_only(moderngl.DEPTH_TEST | moderngl.PROGRAM_POINT_SIZE)
        self._context.depth_func = "<="
        for level, finer, coarser in (("near", 0.0, near), ("middle", near, middle)):
            candidates = np.flatnonzero(seen & blocks.between(coarser, finer))
            if len(candidates):
                numbers, trees = self._of_blocks(forest, candidates, low, high, eye, view)
                self._draw_bodies(
                    level, forest.trees[numbers[trees.between(coarser, finer)]], (finer, coarser), view, textures
                )
        points = self._point_drawing()
        self._set(points, view, textures, limits=(middle, small))
        for first, number in forest.runs(seen & blocks.between(small, middle)):
            points.render(moderngl.POINTS, vertices=number, first=first)

    def release(self) -> None:
        for bodies in self._bodies.values():
            bodies.release()
        if self._points is not None:
            self._points.release()
        if self._all_trees is not None:
            self._all_trees.release()

    def _of_blocks(
        self,
        forest: Forest,
        blocks: NDArray[np.intp],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        eye: NDArray[np.float64],
        view: TreeView,
    ) -> tuple[NDArray[np.intp], Span]:
        """The trees of some blocks, and how large each of them is in the picture."""
        numbers, lengths = forest.of_blocks(blocks)
        trees = forest.trees[numbers]
        level = np.hypot(trees[:, 0] * forest.cell_size - eye[0], trees[:, 1] * forest.cell_size - eye[2])
        bottom, top = low[blocks, 1] - eye[1], high[blocks, 1] - eye[1]
        least = np.maximum(np.maximum(bottom, -top), 0.0).repeat(lengths)
        most = np.maximum(np.abs(bottom), np.abs(top)).repeat(lengths)
        size = trees[:, 3] * view.focal_length
        return numbers, Span(
            size * view.tallest / np.maximum(np.hypot(level, least), 1e-6),
            size * view.shortest / np.maximum(np.hypot(level, most), 1e-6),
        )

    def _draw_bodies(
        self,
        level: str,
        trees: NDArray[np.float32],
        limits: tuple[float, float],
        view: TreeView,
        textures: Mapping[str, moderngl.Texture],
    ) -> None:
        for kind in SHAPES[level]:
            of_kind = trees[(trees[:, 2] > 0.5) == (kind == BROADLEAF)]
            if not len(of_kind):
                continue
            if (level, kind) not in self._bodies:
                program = self._shaders.program("trees.vert", "trees.frag")
                self._bodies[level, kind] = Bodies(self._context, program, SHAPES[level][kind]())
            bodies = self._bodies[level, kind]
            self._set(bodies.drawing, view, textures, limits=limits)
            bodies.render(of_kind)

    def _point_drawing(self) -> Drawing:
        if self._points is None:
            program = self._shaders.program("tree_sprites.vert", "tree_sprites.frag")
            assert self._all_trees is not None
            self._points = Drawing(self._context, program, [(self._all_trees, INSTANCE[0], *INSTANCE[1])])
        return self._points

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
            (self._vertices, tree_shapes.ATTRIBUTES[0], *tree_shapes.ATTRIBUTES[1]),
            (self._trees, INSTANCE[0] + "/i", *INSTANCE[1]),
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
