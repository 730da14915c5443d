"""The land around a block: the map's own land, mirrored at its border, out to where the ground bends below the horizon.

Slopes go on over the border, and pass into those of the mirrored land. It is seen from low above the block, behind the
sides that face away from the eye. Sides that face the eye show their walls, and stand on the table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
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
SAMPLES = 96  # of the ground, along the longer side of the map
QUADS, QUADS_OF_SOFTWARE = 80, 24  # along the longer side of the map
REACH = 2.4  # beside the map, in its longer sides
GROWTH = 1.08  # of a quad to the next further out
WINDING = 0.2  # sides by which the mirrored land is displaced, far away: no one sees that it is mirrored
FAR_RELIEF = 0.7  # of that of the map, at the end
SMOOTHED_OVER = 0.8  # sides
GOES_ON = 0.12  # sides, over which the slopes of the border turn into those of mirrored land
LEAST_SIDE = 0.12  # sides inside the block from which on the eye sees no wall of that side
LEAVES = 0.26, 0.55  # sides outside the block, over which the land around it sinks to the table
LEAST_ABOVE = 0.02  # sides: of the eye over the plain
SKIRT = 0.04  # sides, by which the mesh goes down below the border of the block: no gap is seen there

Numbers = NDArray[np.float64]


class Surroundings:
    """The mesh, which changes with the ground: eight pieces around the block."""

    def __init__(self, context: moderngl.Context) -> None:
        self._vertices, self._triangles = GrowingBuffer(context), GrowingBuffer(context)
        self._geometry = Geometry([(self._vertices.buffer, *VERTEX)], self._triangles.buffer)
        self._written: tuple[int, ...] | None = None
        self._pieces: list[Piece] = []

    def parts(self, frame: Frame, raised: float) -> Iterable[Part]:
        """The pieces in sight, raised from the table by this part of their height."""
        snapshot, quads = frame.snapshot, QUADS_OF_SOFTWARE if frame.quality.deferred else QUADS
        wanted = snapshot.world, snapshot.ground_version, quads
        if wanted != self._written:
            vertices, triangles, self._pieces = mesh(snapshot, quads)
            self._vertices.write(vertices)
            self._triangles.write(np.concatenate((triangles, triangles[::-1])))
            self._written = wanted
        sides = tuple(raised * side for side in hidden_sides(frame.camera, snapshot))
        pieces = [piece for piece in self._pieces if max(sides[side] for side in piece.sides) > 0.0]
        # The nearest first, so that what it hides is not computed.
        ahead = frame.camera.horizontal_direction
        from_north_west = (ahead.z if abs(ahead.z) > abs(ahead.x) else ahead.x) > 0.0
        count = sum(piece.length for piece in self._pieces)
        for piece in sorted(pieces, key=lambda piece: piece.way_along(ahead)):
            if in_sight(piece, frame.camera, frame.aspect):
                yield Part(
                    self._geometry,
                    piece.length,
                    first=piece.first if from_north_west else 2 * count - piece.first - piece.length,
                    defines={"TABLE": 2, "SHADOW": 0, "SUN": 0, "FAR_LAND": 1},
                    uniforms={"raised_sides": sides},
                    vertex="surroundings.vert",
                )

    def release(self) -> None:
        release_all(self._vertices, self._triangles)


class Piece(NamedTuple):
    """A rectangle of the mesh: corners of triangles, the sides of the block that it is beside, and where it is."""

    first: int
    length: int
    sides: tuple[int, ...]  # 0 west, 1 east, 2 north, 3 south
    low: tuple[float, float]  # its north-western corner (east, south) in metres
    high: tuple[float, float]

    def way_along(self, direction: glm.vec3) -> float:
        """How far its middle lies in a horizontal direction, in metres."""
        return 0.5 * (direction.x * (self.low[0] + self.high[0]) + direction.z * (self.low[1] + self.high[1]))


def in_sight(piece: Piece, camera: Camera, aspect: float) -> bool:
    """Whether some of a piece may be seen: it is not all beside the picture, whose lower edge shows the most."""
    across, up, ahead = camera.picture_axes(aspect)
    below, eye = ahead - up, camera.position
    if glm.dot(below, camera.horizontal_direction) <= 0.0:
        return True
    corners = [(x - eye.x, z - eye.z) for x in (piece.low[0], piece.high[0]) for z in (piece.low[1], piece.high[1])]
    left, right = below - across, below + across
    return any(left.x * z - left.z * x > 0.0 for x, z in corners) and any(
        right.x * z - right.z * x < 0.0 for x, z in corners
    )


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


def mesh(snapshot: Snapshot, quads: int) -> tuple[NDArray[np.float32], NDArray[np.uint32], list[Piece]]:
    """Vertices, as `VERTEX`, corners of triangles, and pieces, with so many quads along the longer side of the map."""
    rows, columns = snapshot.shape
    size = snapshot.cell_size
    side = max(rows, columns) * size
    east, is_in_east = _axis(columns, size, side, quads)
    south, is_in_south = _axis(rows, size, side, quads)
    x, z = np.meshgrid(east, south)
    u, v = (x / size - 0.5) / max(columns - 1, 1), (z / size - 0.5) / max(rows - 1, 1)
    beside = [np.maximum(np.maximum(-part, part - 1.0), 0.0) for part in (u, v)]
    away = np.hypot(beside[0] * (columns - 1), beside[1] * (rows - 1)) * size / side
    winding = WINDING * away / (0.4 + away)
    u, v = u + winding * np.sin(5.0 * v + 2.0 * u + 1.0), v + winding * np.sin(5.5 * u - 1.5 * v + 2.5)
    land = _smooth_land(snapshot)
    source = _sampled(land, _folded(u), _folded(v))
    level = border_height(snapshot)
    lower = 1.0 - (1.0 - FAR_RELIEF) * _smoothstep(away / SMOOTHED_OVER)
    # Land mirrored in a point of the border has its slope there, as land mirrored in a line has not.
    border = _sampled(land, np.clip(u, 0.0, 1.0), np.clip(v, 0.0, 1.0))
    goes_on = np.exp(-((away / GOES_ON) ** 2))
    over = source[0] + 2.0 * goes_on * (border[0] - source[0]) - level
    height = level + over * lower
    turned = [
        lower * (1.0 - 2.0 * goes_on) * max(cells - 1, 1) * size * part
        for along, cells in ((u, columns), (v, rows))
        for part in reversed(np.gradient(along, south, east))
    ]
    # What the slopes of the mirrored land leave out.
    weakens = goes_on * (source[0] - border[0]) * 2.0 * away / (GOES_ON**2 * side)
    rest = [
        over * lowers + 2.0 * lower * (weakens * outwards + goes_on * slope * ((place > 0.0) & (place < 1.0)))
        for place, slope, lowers, outwards in zip(
            (u, v),
            border[1:],
            np.gradient(lower, south, east)[::-1],
            np.gradient(away * side, south, east)[::-1],
            strict=True,
        )
    ]
    height[np.ix_(is_in_south, is_in_east)] -= SKIRT * side
    vertices = np.stack([x, height, z, u, v, source[1], source[2], *turned, *rest], axis=-1)
    corner = np.arange(x.size, dtype=np.uint32).reshape(x.shape)
    row = x.shape[1]
    cuts = [
        (0, int(within.argmax()), len(within) - int(within[::-1].argmax()) - 1, len(within) - 1)
        for within in (is_in_east, is_in_south)
    ]
    pieces: list[Piece] = []
    triangles: list[NDArray[np.uint32]] = []
    begun = 0
    for i, j in itertools.product(range(3), range(3)):
        if i == j == 1:
            continue
        (west, east_end), (north, south_end) = cuts[0][i : i + 2], cuts[1][j : j + 2]
        first = corner[north:south_end, west:east_end].reshape(-1, 1)
        quad: NDArray[np.uint32] = first + np.array([0, row, 1, 1, row, row + 1], np.uint32)
        triangles.append(quad.reshape(-1))
        sides = tuple(side for side, beside in enumerate((i == 0, i == 2, j == 0, j == 2)) if beside)
        low, high = (float(east[west]), float(south[north])), (float(east[east_end]), float(south[south_end]))
        pieces.append(Piece(begun, triangles[-1].size, sides, low, high))
        begun += triangles[-1].size
    return vertices.reshape(-1, vertices.shape[-1]).astype(np.float32), np.concatenate(triangles), pieces


def _axis(cells: int, size: float, side: float, quads: int) -> tuple[Numbers, NDArray[np.bool_]]:
    """Places along an axis of the map, and which of them are within the block, a cell or more from its walls."""
    length = (cells - 1) * size
    inner = np.linspace(0.0, length, max(round(length / side * quads), 2) + 1)[1:-1]
    steps = math.ceil(math.log(1.0 + REACH * quads * (GROWTH - 1.0)) / math.log(GROWTH))
    outside = np.cumsum(GROWTH ** np.arange(steps)) * (side / quads)
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


def _smooth_land(snapshot: Snapshot) -> Numbers:
    """The height in metres and the slopes to the east and south of smoothed ground, `[number, row, column]`."""
    step = max(max(snapshot.shape) // SAMPLES, 1)
    ground = snapshot.ground()
    rows, columns = (max(count // step, 1) for count in ground.shape)
    ground = ground[: rows * step, : columns * step].reshape(rows, step, columns, step)
    means = ground.mean(axis=(1, 3), dtype=np.float64)
    if min(rows, columns) < 2:
        return np.stack([np.full_like(means, means.mean()), np.zeros_like(means), np.zeros_like(means)])
    south, east = np.gradient(means, step * snapshot.cell_size)
    return np.stack([means, east, south])


def _sampled(layers: Numbers, u: Numbers, v: Numbers) -> Numbers:
    """Layers `[number, row, column]` at places in sides of the block."""
    rows, columns = layers.shape[1:]
    if min(rows, columns) < 2:
        return np.broadcast_to(layers[:, :1, :1], (len(layers), *u.shape)).copy()
    row, column = v * (rows - 1), u * (columns - 1)
    north, west = np.minimum(row.astype(int), rows - 2), np.minimum(column.astype(int), columns - 2)
    down, right = row - north, column - west
    upper = layers[:, north, west] * (1.0 - right) + layers[:, north, west + 1] * right
    lower = layers[:, north + 1, west] * (1.0 - right) + layers[:, north + 1, west + 1] * right
    mixed: Numbers = upper * (1.0 - down) + lower * down
    return mixed


def _smoothstep(part: Numbers | float) -> Numbers:
    part = np.clip(part, 0.0, 1.0)
    smooth: Numbers = part * part * (3.0 - 2.0 * part)
    return smooth
