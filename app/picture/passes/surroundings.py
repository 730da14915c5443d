"""The land around a block: the map's own land, mirrored at its border, out to where the ground bends below the horizon.

Slopes go on over the border, and pass into those of the mirrored land. It is seen from low above the block, behind the
sides that face away from the eye. Sides that face the eye show their walls, and stand on the table.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.geometry import Geometry
from app.picture.passes.targets import GrowingBuffer, release_all

# Of a vertex: its place (east, height in metres, south); where on the map the land there is from, unfolded, in sides of
# the block; the slopes of that land (to the east and south); how much of each slope the land here has, to the east
# and to the south: of that to the east first; and the slopes that it has beside them.
VERTEX = "3f 2f 2f 4f 2f", "place", "along", "slopes", "turned", "beside"
SAMPLES = 192  # of the ground, along the longer side of the map
# Along the longer side of the map; and a quad, in the next further in.
QUADS, QUADS_OF_SOFTWARE = (80, 1.06), (34, 1.08)
REACH = 2.4  # beside the map, in its longer sides
WINDING = 0.2  # sides by which the mirrored land is displaced, far away: no one sees that it is mirrored
FAR_RELIEF = 0.7  # of that of the map, at the end
SMOOTHED_OVER = 0.8  # sides
# Far away each row of pixels would show other crests: the land there is that of so many times fewer samples.
COARSER = 6
COARSE_FROM, COARSE_OVER = 0.3, 1.0  # sides
GOES_ON = 0.045  # sides, over which the slopes of the border turn into those of mirrored land
LEAST_SIDE = 0.12  # sides inside the block from which on the eye sees no wall of that side
LEAVES = 0.26, 0.55  # sides outside the block, over which the land around it sinks to the table
LEAST_ABOVE = 0.02  # sides: of the eye over the plain
SKIRT = 0.04  # sides, by which the mesh goes down below the border of the block: no gap is seen there

Numbers = NDArray[np.float64]


class Surroundings:
    """The mesh, which changes with the ground: quads around the block, of which those in sight are drawn."""

    def __init__(self, context: moderngl.Context) -> None:
        self._vertices, self._triangles = GrowingBuffer(context), GrowingBuffer(context)
        self._geometry = Geometry([(self._vertices.buffer, *VERTEX)], self._triangles.buffer)
        self._written: tuple[int | None, ...] | None = None
        self._quads: Quads | None = None
        self._drawn: tuple[object, ...] | None = None  # what the triangles were chosen for
        self._count = 0  # corners of these

    def parts(self, frame: Frame, raised: float) -> Iterable[Part]:
        """The quads in sight, raised from the table by this part of their height."""
        snapshot, (quads, growth) = frame.snapshot, QUADS_OF_SOFTWARE if frame.quality.deferred else QUADS
        wanted = snapshot.world, snapshot.ground_version, snapshot.versions.get("water_level"), quads
        if wanted != self._written:
            vertices, self._quads = mesh(snapshot, quads, growth)
            self._vertices.write(vertices)
            self._written = wanted
        assert self._quads is not None
        sides = tuple(raised * side for side in hidden_sides(frame.camera, snapshot))
        drawn = frame.camera, frame.aspect, sides, snapshot.shape, snapshot.cell_size, quads
        if drawn != self._drawn:
            triangles = self._quads.in_sight(frame.camera, frame.aspect, sides)
            self._triangles.write(triangles)
            self._drawn, self._count = drawn, triangles.size
        if self._count:
            yield Part(
                self._geometry,
                self._count,
                defines={"TABLE": 2, "SHADOW": 0, "SUN": 0, "FAR_LAND": 1},
                uniforms={"raised_sides": sides},
                vertex="surroundings.vert",
            )

    def release(self) -> None:
        release_all(self._vertices, self._triangles)


class Quads(NamedTuple):
    """The quads of a mesh, and where they are."""

    triangles: NDArray[np.uint32]  # corners of the two of each
    x: Numbers  # of the vertices, east and south in metres
    z: Numbers
    beside: NDArray[np.bool_]  # for each quad, the sides of the block that it is beside: west, east, north, south

    def in_sight(self, camera: Camera, aspect: float, raised_sides: Sequence[float]) -> NDArray[np.uint32]:
        """Corners of the triangles that may be seen, the nearest first, so that what these hide is not computed.

        All others are beside the picture, whose lower edge shows the most, or beside sides that are not raised.
        """
        across, up, ahead = camera.picture_axes(aspect)
        below, eye, horizontal = ahead - up, camera.position, camera.horizontal_direction
        seen = (self.beside & (np.array(raised_sides) > 0.0)).any(axis=1)
        if glm.dot(below, horizontal) > 0.0:
            left, right = below - across, below + across
            x, z = self.x - eye.x, self.z - eye.z
            for inside in (left.x * z - left.z * x > 0.0, right.x * z - right.z * x < 0.0):
                seen &= inside[self.triangles[:, (0, 1, 2, 5)]].any(axis=1)
        triangles = self.triangles[seen]
        way = (horizontal.x * self.x + horizontal.z * self.z)[triangles[:, 0]]
        nearest_first: NDArray[np.uint32] = triangles[np.argsort(way, kind="stable")].reshape(-1)
        return nearest_first


def border_height(snapshot: Snapshot) -> float:
    """The mean height of the ground at the border of the map, in metres."""
    edges = (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1])
    return float(np.mean([snapshot.ground(edge, np.float64).mean() for edge in edges]))


def raised_part(camera: Camera, snapshot: Snapshot) -> float:
    """How much the land around the block is raised from the table: not at all from far outside of the block."""
    rows, columns = snapshot.shape
    size = snapshot.cell_size
    east = max(-camera.position.x, camera.position.x - columns * size, 0.0)
    south = max(-camera.position.z, camera.position.z - rows * size, 0.0)
    begin, end = LEAVES
    away = math.hypot(east, south) / (max(rows, columns) * size)
    return float(1.0 - _smoothstep((away - begin) / (end - begin)))


def hidden_sides(camera: Camera, snapshot: Snapshot) -> tuple[float, float, float, float]:
    """How much each side of the block faces away from the eye, from 0 to 1: west, east, north, south."""
    rows, columns = snapshot.shape
    size, eye = snapshot.cell_size, camera.position
    soft = LEAST_SIDE * max(rows, columns) * size
    inside = eye.x, columns * size - eye.x, eye.z, rows * size - eye.z
    west, east, north, south = _smoothstep(np.array(inside) / soft).tolist()
    return west, east, north, south


class Lattice(NamedTuple):
    """What of a mesh follows from the size of a map alone."""

    x: Numbers  # places of its vertices, east and south in metres
    z: Numbers
    u: Numbers  # where their land is from, unfolded, in sides of the block
    v: Numbers
    skirt: NDArray[np.bool_]  # vertices inside the block
    source: Sampling  # of their land, of that in fewer samples, and of that of the border beside them
    coarse: Sampling
    border: Sampling
    coarse_part: Numbers  # how much of the land is in fewer samples
    lower: Numbers  # of the relief of the map
    lowers: tuple[Numbers, Numbers]  # its slopes, to the east and south
    goes_on: Numbers  # from 0 to 1
    goes_on_slopes: tuple[Numbers, Numbers]
    along_border: tuple[NDArray[np.bool_], NDArray[np.bool_]]  # where that of the border is from another place
    turned: tuple[Numbers, ...]  # slopes of `u`, then of `v`, times the side of the map along it
    quads: Quads


def mesh(snapshot: Snapshot, quads: int, growth: float = QUADS[1]) -> tuple[NDArray[np.float32], Quads]:
    """Vertices, as `VERTEX`, and their quads, with so many along the longer side of the map."""
    lattice = _lattice(snapshot.shape, snapshot.cell_size, quads, growth)
    land = _smooth_land(snapshot)
    source = _mixed(lattice.source.of(land), lattice.coarse.of(_means(land, COARSER)), lattice.coarse_part)
    border = lattice.border.of(land)
    level, lower, goes_on = border_height(snapshot), lattice.lower, lattice.goes_on
    # Land mirrored in a point of the border has its slope there, as land mirrored in a line has not. What falls steeply
    # inside would stand over the map as a cone: nothing is higher than the land of the map.
    raised, room = 2.0 * goes_on * (border[0] - source[0]), np.maximum(land[0].max() - source[0], 1e-6)
    part = np.clip(raised / room, 0.0, 2.0)
    limited = np.where(raised > 0.0, room * (part - 0.25 * part**2), raised)
    eased = 1.0 - 0.5 * part
    over = source[0] + limited - level
    height = level + over * lower
    keeps = lower * (1.0 - (part - 0.25 * part**2) + eased * (part - 2.0 * goes_on))
    # What the slopes of the mirrored land leave out.
    rest = [
        over * lowers + 2.0 * lower * eased * ((border[0] - source[0]) * weakens + goes_on * slope * along)
        for along, slope, lowers, weakens in zip(
            lattice.along_border, border[1:], lattice.lowers, lattice.goes_on_slopes, strict=True
        )
    ]
    height[lattice.skirt] -= SKIRT * max(snapshot.shape) * snapshot.cell_size
    turned = [keeps * part for part in lattice.turned]
    vertices = np.stack(
        [lattice.x, height, lattice.z, lattice.u, lattice.v, source[1], source[2], *turned, *rest],
        axis=-1,
        dtype=np.float32,
        casting="same_kind",
    )
    return vertices.reshape(-1, vertices.shape[-1]), lattice.quads


@functools.lru_cache(maxsize=2)
def _lattice(shape: tuple[int, int], size: float, quads: int, growth: float) -> Lattice:
    """The vertices of a mesh, and its triangles, which are the same while the ground changes."""
    rows, columns = shape
    side = max(shape) * size
    east, is_in_east = _axis(columns, size, side, quads, growth)
    south, is_in_south = _axis(rows, size, side, quads, growth)
    x, z = np.meshgrid(east, south)
    u, v = (x / size - 0.5) / max(columns - 1, 1), (z / size - 0.5) / max(rows - 1, 1)
    beside = [np.maximum(np.maximum(-part, part - 1.0), 0.0) for part in (u, v)]
    away = np.hypot(beside[0] * (columns - 1), beside[1] * (rows - 1)) * size / side
    winding = WINDING * away / (0.4 + away)
    u, v = u + winding * np.sin(5.0 * v + 2.0 * u + 1.0), v + winding * np.sin(5.5 * u - 1.5 * v + 2.5)
    lower = 1.0 - (1.0 - FAR_RELIEF) * _smoothstep(away / SMOOTHED_OVER)
    goes_on: Numbers = np.exp(-((away / GOES_ON) ** 2))
    outwards = np.gradient(away, south, east)
    lowers = np.gradient(lower, south, east)
    grid = _grid(shape)
    return Lattice(
        x,
        z,
        u,
        v,
        is_in_south[:, None] & is_in_east,
        _sampling(grid, _folded(u), _folded(v)),
        _sampling(_means_grid(grid, COARSER), _folded(u), _folded(v)),
        _sampling(grid, np.clip(u, 0.0, 1.0), np.clip(v, 0.0, 1.0)),
        np.broadcast_to(_smoothstep((away - COARSE_FROM) / COARSE_OVER), x.shape),
        lower,
        (lowers[1], lowers[0]),
        goes_on,
        (-2.0 * away / GOES_ON**2 * goes_on * outwards[1], -2.0 * away / GOES_ON**2 * goes_on * outwards[0]),
        ((u > 0.0) & (u < 1.0), (v > 0.0) & (v < 1.0)),
        tuple(
            max(cells - 1, 1) * size * part
            for along, cells in ((u, columns), (v, rows))
            for part in reversed(np.gradient(along, south, east))
        ),
        _quads(x, z, is_in_east, is_in_south),
    )


def _quads(x: Numbers, z: Numbers, is_in_east: NDArray[np.bool_], is_in_south: NDArray[np.bool_]) -> Quads:
    """The quads between vertices, but for those inside the block, whose rows and columns are told."""
    rows, row = x.shape
    first = np.arange(rows * row, dtype=np.uint32).reshape(rows, row)[:-1, :-1]
    beside = np.zeros((*first.shape, 4), bool)
    for along, within, (low, high) in ((1, is_in_east, (0, 1)), (0, is_in_south, (2, 3))):
        inner = np.nonzero(within)[0]
        number = np.expand_dims(np.arange(first.shape[along]), 1 - along)
        beside[..., low], beside[..., high] = number < inner[0], number >= inner[-1]
    around = beside.any(axis=2)
    triangles = first[around][:, None] + np.array([0, row, 1, 1, row, row + 1], np.uint32)
    return Quads(triangles, x.reshape(-1), z.reshape(-1), beside[around])


def _axis(cells: int, size: float, side: float, quads: int, growth: float) -> tuple[Numbers, NDArray[np.bool_]]:
    """Places along an axis of the map, and which of them are within the block, a cell or more from its walls."""
    length = (cells - 1) * size
    inner = np.linspace(0.0, length, max(round(length / side * quads), 2) + 1)[1:-1]
    steps = math.ceil(math.log(1.0 + REACH * quads * (growth - 1.0)) / math.log(growth))
    outside = np.cumsum(growth ** np.arange(steps)) * (side / quads)
    edge = min(size, 0.5 * inner[0])
    last = np.array([length - edge, length])
    places = np.concatenate([-outside[::-1], np.array([0.0, edge]), inner, last, length + outside])
    within = np.zeros(2 * steps + len(inner) + 4, bool)
    within[steps + 1 : -steps - 1] = True
    return places + 0.5 * size, within


def _folded(place: Numbers) -> Numbers:
    """A place of land that is mirrored at each border, in sides of the block."""
    folded: Numbers = 1.0 - np.abs(1.0 - np.mod(place, 2.0))
    return folded


def _step(shape: tuple[int, int]) -> int:
    """Cells between two samples of the ground."""
    return max(max(shape) // SAMPLES, 1)


def _grid(shape: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of the samples of the ground."""
    return _means_grid(shape, _step(shape))


def _means_grid(grid: tuple[int, int], step: int) -> tuple[int, int]:
    return max(grid[0] // step, 1), max(grid[1] // step, 1)


def _means(layers: Numbers, step: int) -> Numbers:
    """Layers `[number, row, column]` as means over squares of so many samples; what is left over is left out."""
    rows, columns = _means_grid((layers.shape[1], layers.shape[2]), step)
    high, wide = min(step, layers.shape[1]), min(step, layers.shape[2])
    squares = layers[:, : rows * high, : columns * wide].reshape(len(layers), rows, high, columns, wide)
    means: Numbers = squares.mean(axis=(2, 4), dtype=np.float64)
    return means


def _smooth_land(snapshot: Snapshot) -> Numbers:
    """Smoothed ground and lakes: height in metres, slopes to the east and south, `[number, row, column]`."""
    step = _step(snapshot.shape)
    ground = snapshot.ground()
    means = _means(np.maximum(ground, snapshot.layers.get("water_level", ground))[None], step)[0]
    if min(means.shape) < 2:
        return np.stack([np.full_like(means, means.mean()), np.zeros_like(means), np.zeros_like(means)])
    south, east = np.gradient(means, step * snapshot.cell_size)
    return np.stack([means, east, south])


class Sampling(NamedTuple):
    """How layers `[number, row, column]` are read at places between their samples."""

    first: NDArray[np.intp]  # the north-western of four samples, counted along rows
    to_next: tuple[int, int]  # from a sample to that east and that south of it
    right: Numbers  # parts of the way to these
    down: Numbers

    def of(self, layers: Numbers) -> Numbers:
        """The layers at the places."""
        flat = layers.reshape(len(layers), -1)
        upper, lower = (
            _mixed(flat[:, first], flat[:, first + self.to_next[0]], self.right)
            for first in (self.first, self.first + self.to_next[1])
        )
        return _mixed(upper, lower, self.down)


def _sampling(grid: tuple[int, int], u: Numbers, v: Numbers) -> Sampling:
    """The way to read a grid of samples at places in sides of the block."""
    rows, columns = grid
    if min(grid) < 2:
        return Sampling(np.zeros(u.shape, np.intp), (0, 0), np.zeros(u.shape), np.zeros(u.shape))
    row, column = v * (rows - 1), u * (columns - 1)
    north, west = np.minimum(row.astype(np.intp), rows - 2), np.minimum(column.astype(np.intp), columns - 2)
    return Sampling(north * columns + west, (1, columns), column - west, row - north)


def _mixed(one: Numbers, other: Numbers, part: Numbers) -> Numbers:
    mixed: Numbers = one + (other - one) * part
    return mixed


def _smoothstep(part: Numbers | float) -> Numbers:
    part = np.clip(part, 0.0, 1.0)
    smooth: Numbers = part * part * (3.0 - 2.0 * part)
    return smooth
