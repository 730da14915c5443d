"""The trees of a snapshot by blocks of the map, and their level of detail."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.plants import KRUMMHOLZ, SHAPES, Cold, Flora, cold_on
from app.model.snapshot import Snapshot
from app.model.traits import linear_colour
from app.picture.camera import Camera
from app.picture.passes.tree_shapes import CONIFER, CROWN_AREA, SHRUB

BLOCK = 32  # cells per side of blocks; trees are culled by block
SPREAD = 0.30  # variation of height among trees of one size: tree_height in tree.glsl
OVERLAP = 0.10  # range over which levels of detail blend, as a fraction of their limit: finer_share in tree.glsl
# A simulated tree is drawn as a stand of smaller ones with the same area of crowns: their positions in cells from the
# centre, and their sizes, whose squares add up to 1.
STAND = ((-0.42, -0.36, 0.61), (0.40, -0.44, 0.50), (0.36, 0.42, 0.47), (-0.40, 0.40, 0.40))
SCATTER = 0.32  # cells of random displacement of each
# Random variation of stands: their density relative to the positions above, from thicket to loose group, and their mix
# of ages, as a power of the areas of crowns (normalized to 1 again).
WIDTH = (0.45, 1.10)
UNEVENNESS = (0.4, 3.2)
# Where a wood is not closed it stands in groves, with clearings between them where a few saplings grow. Sizes in both,
# relative to the mean, and which of them are too small to be drawn; the width of groves in reference cells, and the sum
# of the squares of sizes for each of these from which on a wood is closed.
GROVES = (0.30, 1.28)
LEAST_SAPLING = 0.46
GROVES_WIDE = (7.0, 17.0)
GROVES_FROM = 0.44  # of a noise from 0 to 1
CLOSED_COVER = 0.50
DENSITY_OVER = 6  # cells
# Near the tree line a stand has fewer trees; the last conifers are bushes; and some trees stand where it is colder or
# warmer than around them, by up to so many degrees, or the line would be one of equal height.
FEWEST_IN_COLD = 0.35  # part of a stand
KRUMMHOLZ_BELOW = 0.30  # share of their height
SHELTER = 0.7  # °C
LEAST_ENDURED = 0.1  # health with which a tree lives
VARIANTS = 3  # forms of each shape
CLOSED_WOOD = 6.0  # over the area of crowns of a full-grown tree, in heights: all of a cell is wood
ALIKE = 0.05  # by which sizes of trees differ that look alike
SAMPLED = 4  # cells between samples for the heights of a block
FADES = 0.375  # times the least height of points, by which some are gone sooner than others: see tree_sprites.vert
ROUGHLY = 0.95  # margin on the height in pixels that a tree needs, as the height of its ground is unknown
NEARER = 4095.0  # steps of distance by which points are sorted
AROUND = 1.5  # heights of a tree: radius around its foot that contains all of it


def block_heights(snapshot: Snapshot) -> NDArray[np.float32]:
    """The lowest and highest ground of each block, roughly: `[block, (low, high)]`."""
    ground = snapshot.ground(np.s_[::SAMPLED, ::SAMPLED])
    side = BLOCK // SAMPLED
    tiles = np.pad(ground, [(0, -length % side) for length in ground.shape], mode="edge")
    tiles = tiles.reshape(tiles.shape[0] // side, side, tiles.shape[1] // side, side)
    return np.column_stack([tiles.min(axis=(1, 3)).ravel(), tiles.max(axis=(1, 3)).ravel()])


class Forest:
    """The trees of a snapshot, sorted by blocks of the map."""

    _numbers = count()

    def __init__(
        self,
        trees: NDArray[np.float32],
        flora: Flora,
        shape: tuple[int, int],
        cell_size: float,
        heights: NDArray[np.float32],
        keep_off: Sequence[Callable[[NDArray[np.float32]], NDArray[np.bool_]]] = (),
        temperature: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None,
        reference: float = 1.0,
        *,
        in_groves: bool = True,
    ) -> None:
        """Each of `keep_off` says at which positions `[position, (row, column)]` no tree can stand, `temperature` what
        the annual mean is there, in °C; without it, trees are as high as they can be. `reference` is the width of a
        reference cell, the unit of their sizes, in cells. Trees of an open wood are drawn `in_groves`.
        """
        self.number = next(self._numbers)  # no other forest of the program has it
        rows, columns = shape
        share = np.ones(len(trees), np.float32)
        if temperature is not None:
            share, endured = _cold_on(trees, flora, temperature(trees[:, :2]))
            # Those that cold keeps low are no sicker than others: their needles are green.
            trees = trees.copy()
            trees[:, 5] = np.minimum(trees[:, 5] / np.maximum(endured, LEAST_ENDURED), 1.0)
        trees = np.column_stack([stands(trees, shape), np.tile(share, len(STAND))])
        if share.min(initial=1.0) < 1.0:
            trees = trees[_stays(trees)]
        for swept in keep_off:
            trees = trees[~swept(trees[:, :2])]
        if in_groves:
            part = grove_sizes(trees, shape, reference)
            stays = part > LEAST_SAPLING
            trees = trees[stays]
            trees[:, 3] *= part[stays]
        down, across = -(-rows // BLOCK), -(-columns // BLOCK)
        row, column = trees[:, 0], trees[:, 1]
        block = (row.astype(np.int32) // BLOCK).clip(0, down - 1) * across
        block += (column.astype(np.int32) // BLOCK).clip(0, across - 1)
        if down * across <= np.iinfo(np.uint16).max:
            block = block.astype(np.uint16)  # which is sorted much faster
        row, column, kind, size, _, health, share = trees[np.argsort(block, kind="stable")].T
        looks = _looks(flora).take(kind.astype(np.intp), axis=0)
        size = size * share
        looks[(looks[:, 0] == CONIFER) & (share < KRUMMHOLZ_BELOW), 0] = SHRUB
        # float32 [tree, (column, row, shape, size, health, colour of its leaves and whether it sheds them)]
        self.trees = np.column_stack([column, row, looks[:, 0], size * looks[:, 1], health, looks[:, 2:]])
        # Positions (east, south) in metres, and sizes: contiguous, as each frame reads all of them.
        self.places = np.stack([column, row]).astype(np.float32) * np.float32(cell_size)
        self.sizes = np.ascontiguousarray(self.trees[:, 3])
        self.shown_sizes = self.sizes * _shown_parts(self.trees[:, :2])  # see `_shown_parts`
        self.leaves = _mean_leaves(self.trees)
        self.simulated_cover = _simulated_cover(flora, kind.astype(np.intp), size)
        numbers = np.bincount(block, minlength=down * across)
        self.first = np.concatenate([[0], np.cumsum(numbers)])  # [block], and the number of trees
        self.inhabited = np.flatnonzero(numbers)  # the blocks that have trees
        self._starts = self.first[self.inhabited]
        self.largest = np.maximum.reduceat(self.trees[:, 3], self._starts)  # [inhabited block]
        self.smallest = np.minimum.reduceat(self.trees[:, 3], self._starts)
        self._low_corner = np.column_stack([self.inhabited % across, self.inhabited // across]) * BLOCK
        self._map = (columns, rows)
        self.cell_size = cell_size
        self.take_heights(heights)

    def take_heights(self, heights: NDArray[np.float32]) -> None:
        """Update the heights of the ground, given as `block_heights`."""
        self._heights = heights[self.inhabited]

    def part_beside(self, other: Forest) -> float:
        """The part of all trees that stand in one of two forests only, or are not alike in both."""
        mine, theirs = (
            np.ascontiguousarray(forest.trees[:, :2], np.float32).view(np.complex64).ravel() for forest in (self, other)
        )
        _, here, there = np.intersect1d(mine, theirs, return_indices=True)
        unlike = np.abs(self.trees[here, 2:4] - other.trees[there, 2:4]).max(axis=1) > ALIKE
        alike = len(here) - np.count_nonzero(unlike)
        return 1.0 - float(alike) / max(len(self.trees), len(other.trees), 1)

    def boxes(self, exaggeration: float, tallest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Opposite corners of each inhabited block with its trees, in picture space; `tallest` in metres, of size 1."""
        low, high = self._low_corner - 1.0, np.minimum(self._low_corner + BLOCK, self._map) + 1.0
        slack = 0.5 * (self._heights[:, 1] - self._heights[:, 0]) / BLOCK * SAMPLED
        bottom, top = (self._heights[:, 0] - slack) * exaggeration, (self._heights[:, 1] + slack) * exaggeration
        top = top + tallest * np.maximum(self.largest, 1.0)
        return (
            np.column_stack([low[:, 0] * self.cell_size, bottom, low[:, 1] * self.cell_size]),
            np.column_stack([high[:, 0] * self.cell_size, top, high[:, 1] * self.cell_size]),
        )

    def of_blocks(self, blocks: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The indices of all trees of some inhabited blocks, and the number in each block."""
        starts, ends = self._starts[blocks], self.first[self.inhabited[blocks] + 1]
        lengths = ends - starts
        return np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths), lengths

    def larger_than(self, sizes: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The indices of trees whose shown sizes are larger than the limit for their inhabited block, and the number in
        each block.
        """
        all_lengths = np.diff(self._starts, append=len(self.trees))
        numbers = np.flatnonzero(self.shown_sizes > np.repeat(sizes.astype(np.float32), all_lengths))
        return numbers, np.diff(np.searchsorted(numbers, self._starts), append=len(numbers))

    def wood(self) -> NDArray[np.float32]:
        """How much of each cell its trees stand over, from 0 to 1, `[row, column]`."""
        columns, rows = self._map
        column, row = (np.minimum(self.trees[:, k].astype(np.intp), last - 1) for k, last in enumerate((columns, rows)))
        area = np.array(CROWN_AREA)[self.trees[:, 2].astype(np.intp)] * self.sizes.astype(np.float64) ** 2
        sums = np.bincount(row * columns + column, area, rows * columns).reshape(rows, columns)
        return np.asarray(np.minimum(CLOSED_WOOD * sums, 1.0), np.float32)

    def runs(self, blocks: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Ranges (first, count) of the trees of the inhabited blocks that are true; adjacent ones are merged."""
        edges = np.flatnonzero(np.diff(blocks.astype(np.int8), prepend=0, append=0))
        bounds = np.append(self._starts, len(self.trees))
        return [(int(bounds[a]), int(bounds[b] - bounds[a])) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def stands(trees: NDArray[np.float32], shape: tuple[int, int]) -> NDArray[np.float32]:
    """The stands that are drawn for the trees of a snapshot: `len(STAND)` times as many, with the same columns.

    They depend on the position of the tree only, so that they do not move while it grows. Stands have random rotations.
    """
    place = trees[:, :2].astype(np.float64)
    turn = (4.0 * chance(place, 3.1)).astype(np.intp)
    width = WIDTH[0] + (WIDTH[1] - WIDTH[0]) * chance(place, 29.0)
    unevenness = UNEVENNESS[0] + (UNEVENNESS[1] - UNEVENNESS[0]) * chance(place, 31.0) ** 2
    areas = np.array([size for *_, size in STAND])[:, None] ** (2.0 * unevenness)
    sizes = np.sqrt(areas / areas.sum(axis=0))
    drawn = np.tile(trees, (len(STAND), 1))
    for number, (east, south, _) in enumerate(STAND):
        moved = drawn[number * len(trees) : (number + 1) * len(trees)]
        turned = _QUARTERS @ (south, east)  # [quarter, 2]
        for axis, which in enumerate((7.0 + number, 17.0 + number)):
            scatter = chance(place, which) * 2.0 - 1.0
            moved[:, axis] = np.clip(
                place[:, axis] + width * (turned[turn, axis] + SCATTER * scatter), 0.0, shape[axis]
            )
        moved[:, 3] *= sizes[number]
    return drawn


def grove_sizes(trees: NDArray[np.float32], shape: tuple[int, int], reference: float = 1.0) -> NDArray[np.float32]:
    """The sizes of trees, relative to those in an even wood: large in groves, small in clearings.

    It depends on their position, and on how dense the wood is: a closed one stays closed.
    """
    row, column = trees[:, 0].astype(np.intp), trees[:, 1].astype(np.intp)
    rows, columns = (-(-length // DENSITY_OVER) + 1 for length in shape)
    tile = row // DENSITY_OVER * columns + column // DENSITY_OVER
    area = np.bincount(tile, trees[:, 3].astype(np.float64) ** 2, rows * columns) * (reference / DENSITY_OVER) ** 2
    sparse = np.clip(1.5 - 1.5 * area / CLOSED_COVER, 0.0, 1.0)[tile]
    noise = grove_noise(shape, reference)[np.minimum(row, shape[0] - 1), np.minimum(column, shape[1] - 1)]
    own = 0.30 * (chance(trees[:, :2].astype(np.float64), 53.0) - 0.5)
    grove = np.clip((noise + own - GROVES_FROM) / 0.30 + 0.5, 0.0, 1.0)
    low, high = GROVES
    return np.asarray(1.0 + sparse * (low + (high - low) * grove - 1.0), np.float32)


@lru_cache(maxsize=4)
def grove_noise(shape: tuple[int, int], reference: float) -> NDArray[np.float32]:
    """Smooth noise from 0 to 1 over the cells, as wide as groves are."""
    total = np.zeros(shape)
    for number, (cells, strength) in enumerate(zip(GROVES_WIDE, (0.55, 0.45), strict=True)):
        wide = cells * reference
        nodes = np.stack(np.meshgrid(*(np.arange(length // wide + 2.0) for length in shape), indexing="ij"), axis=-1)
        values = chance(nodes, 59.0 + number)
        for axis, length in enumerate(shape):
            at = (np.arange(length) + 0.5) / wide
            node, part = at.astype(np.intp), at % 1.0
            part = np.expand_dims(part * part * (3.0 - 2.0 * part), 1 - axis)
            values = values.take(node, axis) * (1.0 - part) + values.take(node + 1, axis) * part
        total += strength * values
    return total.astype(np.float32)


def _cold_on(trees: NDArray[np.float32], flora: Flora, temperature: NDArray[np.float32]) -> Cold:
    """What cold does to the trees of a snapshot, each in its own shelter."""
    sheltered = temperature + SHELTER * (2.0 * chance(trees[:, :2].astype(np.float64), 43.0) - 1.0)
    return cold_on(flora, trees[:, 2].astype(np.intp), sheltered)


def _stays(trees: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which trees of stands are left in the cold, by the share of their height in the last column."""
    warm = np.clip((trees[:, -1] - KRUMMHOLZ) / (1.0 - KRUMMHOLZ), 0.0, 1.0)
    left = FEWEST_IN_COLD + (1.0 - FEWEST_IN_COLD) * warm
    return np.asarray((warm >= 1.0) | (chance(trees[:, :2].astype(np.float64), 47.0) < left))


_QUARTERS = np.array([((1, 0), (0, 1)), ((0, -1), (1, 0)), ((-1, 0), (0, -1)), ((0, 1), (-1, 0))], float)


def chance(places: NDArray[np.float64], which: float) -> NDArray[np.float64]:
    """A random number from 0 to 1 for each position, `[position, 2]`."""
    drawn = np.abs(np.sin(places @ (12.9898, 78.233) + which * 37.719) * 43758.5453)
    return np.asarray(drawn - np.floor(drawn))


def _shown_parts(cells: NDArray[np.float32]) -> NDArray[np.float32]:
    """The height of each tree at these cells (column, row), beside that of others of its size, divided by how many
    times the least height of points it must have to be more than a colour of the ground: see tree_sprites.vert.
    """
    of_height = chance_in_shaders(cells * np.float32(7.31) + np.float32(3.7))
    of_fading = chance_in_shaders(cells[:, ::-1] * np.float32(5.17) + np.float32(91.3))
    return np.asarray((1.0 + SPREAD * (of_height - 0.5)) / (1.0 + FADES * of_fading), np.float32)


def chance_in_shaders(places: NDArray[np.float32]) -> NDArray[np.float32]:
    """The number from 0 to 1 that `hash` of map.glsl has for each place, `[place, 2]`."""
    x, y = np.ascontiguousarray(places.T, np.float32) * np.float32(0.1031)
    x, y = x - np.floor(x), y - np.floor(y)
    added = x * (y + np.float32(33.33)) + y * (x + np.float32(33.33)) + x * (x + np.float32(33.33))
    found = (x + y + 2.0 * added) * (x + added)
    return np.asarray(found - np.floor(found), np.float32)


def variants_of(trees: NDArray[np.float32]) -> NDArray[np.intp]:
    """The form of each tree of `Forest.trees`, chosen by its position."""
    return (VARIANTS * chance(trees[:, :2].astype(np.float64), 1.0)).astype(np.intp)


def _looks(flora: Flora) -> NDArray[np.float32]:
    """The appearance of each kind: [kind, (shape, height, red, green, blue, deciduous)]."""
    looks = [
        (SHAPES.index(tree.shape), tree.height, *linear_colour(tree.colour), tree.deciduous) for tree in flora.trees
    ]
    return np.array(looks, np.float32).reshape(len(looks), 6)


def _mean_leaves(trees: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mean leaves of conifers and of all others, weighted by crown area: [class, (red, green, blue, deciduous)]."""
    area = trees[:, 3].astype(np.float64) ** 2 * np.array(CROWN_AREA)[trees[:, 2].astype(np.intp)]
    of_class = [np.where(trees[:, 2] == CONIFER, area, 0.0), np.where(trees[:, 2] != CONIFER, area, 0.0)]
    return np.array([part @ trees[:, 5:9] / max(part.sum(), 1e-12) for part in of_class])


def _simulated_cover(flora: Flora, kind: NDArray[np.intp], size: NDArray[np.float32]) -> NDArray[np.float64]:
    """Crown area of trees of these kinds and sizes in the simulation, in reference cells, relative to that of the drawn
    trees at a height of 1: [class], as in `_mean_leaves`.
    """
    squares = np.bincount(kind, size.astype(np.float64) ** 2, len(flora.trees))
    looks, crowns = _looks(flora), np.array([tree.crown for tree in flora.trees])
    shape = looks[:, 0].astype(np.intp)
    drawn = squares * np.array(CROWN_AREA)[shape] * looks[:, 1] ** 2
    of_class = [np.where(shape == CONIFER, squares, 0.0), np.where(shape != CONIFER, squares, 0.0)]
    of_drawn = [np.where(shape == CONIFER, drawn, 0.0), np.where(shape != CONIFER, drawn, 0.0)]
    return np.array(
        [part @ (math.pi * crowns**2) / max(area.sum(), 1e-12) for part, area in zip(of_class, of_drawn, strict=True)]
    )


def view_planes(camera: Camera, aspect: float) -> NDArray[np.float64]:
    """The planes at the sides of the view: `[plane, (x, y, z, away)]`, positive within."""
    matrix = np.array((camera.projection(aspect) * camera.view()).to_list()).T
    return np.array([matrix[3] + matrix[0], matrix[3] - matrix[0], matrix[3] + matrix[1], matrix[3] - matrix[1]])


def in_view(low: NDArray[np.float64], high: NDArray[np.float64], planes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which boxes are visible: those not entirely outside one plane of the view."""
    seen = np.ones(len(low), bool)
    for plane in planes:
        outermost = np.where(plane[:3] > 0.0, high, low)
        seen &= outermost @ plane[:3] + plane[3] > 0.0
    return seen


class TreeView(NamedTuple):
    """View parameters of trees."""

    height: float  # of a full-grown tree, m
    focal_length: float  # pixels per metre at a distance of 1 m
    # Distance up to which the ground has the map's grid, m; its coarsest grid, cells; the same of a finer one
    mesh_reach: tuple[float, float, float, float]
    exaggeration: float
    winter: float  # from 0 to 1

    @property
    def tallest(self) -> float:
        return self.height * (1.0 + 0.5 * SPREAD)

    @property
    def shortest(self) -> float:
        return self.height * (1.0 - 0.5 * SPREAD)


class Span(NamedTuple):
    """Upper and lower bounds of heights in pixels."""

    most: NDArray[np.float64]
    least: NDArray[np.float64]

    def between(self, low: float, high: float) -> NDArray[np.bool_]:
        """Which heights may be between the two limits of a level of detail; an upper limit of 0 means none."""
        above = self.most > (1.0 - OVERLAP) * low
        return above & (self.least < (1.0 + OVERLAP) * high) if high > 0.0 else above


class Selection(NamedTuple):
    """The trees to draw."""

    near: NDArray[np.float32]  # trees in detail, rows of `Forest.trees`
    middle: NDArray[np.float32]  # trees as bodies
    points: list[tuple[int, int]]  # ranges (first, count) of trees that become points if they are small enough
    one_by_one: NDArray[np.uint32] | None  # indices of visible ones; without it, the shader culls them
    smallest: float  # least height of points, pixels
    low: NDArray[np.float64]  # opposite corners of a box around all bodies, in picture space
    high: NDArray[np.float64]


def select_trees(
    forest: Forest,
    camera: Camera,
    aspect: float,
    limits: tuple[float, float, float],
    view: TreeView,
    *,
    one_by_one: bool = False,
    most_points: int | None = None,
) -> Selection:
    """The trees in view by level of detail, which depends on their height in pixels, see `limits`.

    Points are selected by block, and culled by the shader, or `one_by_one`. With `most_points` of them the least height
    of points is larger where more would be in view: while the camera moves, trees fade and none flickers.
    """
    low, high = forest.boxes(view.exaggeration, view.tallest)
    eye = np.array(camera.position)
    nearest = np.linalg.norm(np.maximum(np.maximum(low - eye, eye - high), 0.0), axis=1)
    farthest = np.linalg.norm(np.maximum(np.abs(low - eye), np.abs(high - eye)), axis=1)
    blocks = Span(
        view.tallest * view.focal_length * forest.largest / np.maximum(nearest, 1e-6),
        view.shortest * view.focal_length * forest.smallest / np.maximum(farthest, 1e-6),
    )
    planes = view_planes(camera, aspect)
    seen = in_view(low, high, planes)
    near, middle, small = limits
    close = np.flatnonzero(seen & blocks.between(middle, 0.0))
    numbers, lengths = forest.of_blocks(close)
    trees = forest.trees[numbers]
    level = np.hypot(trees[:, 0] * forest.cell_size - eye[0], trees[:, 1] * forest.cell_size - eye[2])
    bottom, top = low[close, 1] - eye[1], high[close, 1] - eye[1]
    least = np.maximum(np.maximum(bottom, -top), 0.0).repeat(lengths)
    most = np.maximum(np.abs(bottom), np.abs(top)).repeat(lengths)
    size = trees[:, 3] * view.focal_length
    pixels = Span(
        size * view.tallest / np.maximum(np.hypot(level, least), 1e-6),
        size * view.shortest / np.maximum(np.hypot(level, most), 1e-6),
    )
    bodies = pixels.between(middle, 0.0)
    box_low, box_high = np.full(3, np.inf), np.full(3, -np.inf)
    if bodies.any():
        places = trees[bodies, :2] * forest.cell_size
        owners = np.repeat(close, lengths)[bodies]
        box_low[[0, 2]], box_high[[0, 2]] = places.min(axis=0), places.max(axis=0)
        box_low[1], box_high[1] = low[owners, 1].min(), high[owners, 1].max()
    far = seen & blocks.between(small, middle)
    numbers_of_points = None
    if one_by_one:
        numbers_of_points, small = _points_in_view(
            forest, far, (low, high), nearest, eye, planes, small, view, most_points
        )
    return Selection(
        near=trees[pixels.between(near, 0.0)],
        middle=trees[pixels.between(middle, near)],
        points=forest.runs(far),
        one_by_one=numbers_of_points,
        smallest=small,
        low=box_low,
        high=box_high,
    )


def _points_in_view(
    forest: Forest,
    blocks: NDArray[np.bool_],
    boxes: tuple[NDArray[np.float64], NDArray[np.float64]],
    nearest: NDArray[np.float64],
    eye: NDArray[np.float64],
    planes: NDArray[np.float64],
    small: float,
    view: TreeView,
    most_points: int | None,
) -> tuple[NDArray[np.uint32], float]:
    """The trees of some inhabited blocks that may be in view and at least `small` pixels high, or more if more than
    `most_points` are, and that height.

    `boxes` contain the blocks, and `nearest` are their distances in metres.
    """
    low, high = boxes
    most = view.height * view.focal_length / (ROUGHLY * small)  # largest distance at which a tree of size 1 is so high
    # The distance of their blocks comes first: it excludes most of them with one comparison each.
    numbers, lengths = forest.larger_than(np.where(blocks, nearest / most, np.inf))
    size, (east, south) = forest.sizes[numbers], forest.places[:, numbers]

    def of_trees(of_blocks: NDArray[np.float64]) -> NDArray[np.float32]:
        return np.repeat(of_blocks.astype(np.float32), lengths)

    beyond = np.maximum(np.maximum(low[:, 1] - eye[1], eye[1] - high[:, 1]), 0.0)
    away2 = (east - np.float32(eye[0])) ** 2 + (south - np.float32(eye[2])) ** 2 + of_trees(beyond**2)
    high2 = (forest.shown_sizes[numbers] * np.float32(most)) ** 2 / np.maximum(away2, np.float32(1e-6))  # in `small`
    seen = high2 > 1.0
    around = size * np.float32(AROUND * view.tallest)
    for x, y, z, d in planes:
        room = np.float32(abs(x) + abs(y) + abs(z)) * around
        at_most = of_trees(np.maximum(y * low[:, 1], y * high[:, 1]) + d)
        seen &= np.float32(x) * east + np.float32(z) * south + room + at_most > 0.0
    if most_points is not None and np.count_nonzero(seen) > most_points:
        least2 = float(np.partition(high2[seen], -most_points)[-most_points])
        seen &= high2 >= least2
        small *= math.sqrt(least2)
    # The nearest first: they hide others, which are not shaded then.
    order = np.argsort(
        np.sqrt(away2[seen] / max(float(away2.max(initial=0.0)), 1e-6) * NEARER**2).astype(np.uint16), kind="stable"
    )
    found: NDArray[np.uint32] = numbers[seen][order].astype(np.uint32)
    return found, small
