"""The mesh of the ground: nodes of a quadtree over the map, fine near the camera and coarse far away (Strugar 2009)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.camera import Camera
from app.picture.passes.blocks import BAND_ROWS, PATCH, reduce_blocks
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.geometry import Geometry
from app.picture.passes.mesh_parts import MeshParts
from app.picture.passes.quality import Quality
from app.picture.passes.shaders import NO_DEFINES
from app.picture.passes.targets import GrowingBuffer

QUADS = 32  # along a side of a node
SHORTEST_DETAIL = 2.2  # below it, nodes of more than two levels could meet, and the ground would crack
FINEST_STRIDE = 0.25  # cells between vertices where the mesh has relief finer than the map
TWISTED = 0.5  # cells: height difference of the two diagonals above which a quad gets a vertex at its centre
SMOOTHER = 3.0  # factor on the size of triangles there: the surface is smooth


def box_corners(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """All corners of boxes given by opposite ones `[box, axis]`, homogeneous: `[corner, box, (x, y, z, 1)]`."""
    corners = np.ones((8, len(low), 4))
    for corner in range(8):
        for axis in range(3):
            corners[corner, :, axis] = (high if corner >> axis & 1 else low)[:, axis]
    return corners


def can_be_seen(
    view_projection: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which boxes may be in the picture, `[box]`, given by opposite corners in picture space."""
    clip = box_corners(low, high) @ view_projection.T
    outside = np.zeros(len(low), bool)
    for axis in (0, 1):
        for sign in (-1.0, 1.0):
            outside |= (sign * clip[..., axis] > clip[..., 3]).all(axis=0)
    return ~(outside | (clip[..., 3] <= 0.0).all(axis=0))


class Finer(NamedTuple):
    """Where the mesh is finer than the map."""

    detail: float  # distance within which nodes with a stride of a cell are divided, in sizes of a node
    view_projection: NDArray[np.float64]  # [row, column]: finer only in view
    base: float  # the lowest height that is drawn
    relief: float  # cells: largest height of the relief above or below the map

    def reach(self, cell_size: float) -> float:
        """Distance from the camera up to which the mesh is finer than the map, in metres."""
        return self.detail * QUADS * cell_size


def finer_detail(detail: float) -> float:
    """The distance within which nodes of cells are divided, from that of coarser nodes."""
    return max(detail / SMOOTHER, SHORTEST_DETAIL)


def detail_distance(camera: Camera, picture_height: int, quality: Quality) -> float:
    """The distance within which nodes are divided, in sizes of a node, for the requested size of triangles."""
    focal_length = 0.5 * picture_height / math.tan(math.radians(camera.field_of_view) / 2.0)
    return max(focal_length / (QUADS * quality.triangle_pixels), SHORTEST_DETAIL)


def coarsest_stride(columns: int, rows: int) -> int:
    """The stride of the root node, which covers the whole map."""
    stride = 1
    while QUADS * stride < max(columns, rows):
        stride *= 2
    return stride


def select_nodes(
    columns: int,
    rows: int,
    cell_size: float,
    heights: tuple[float, float],
    camera: Camera,
    detail: float,
    finer: Finer | None = None,
) -> np.ndarray:
    """The nodes to draw, nearest first: float32 `[node, (column, row, stride, morph distance)]`.

    A node of stride s has `QUADS` × s cells along a side. It is divided if the camera is closer than `detail` times its
    size, so that triangles have a constant size in the picture; lengths in metres. As in the shader, the height of the
    camera counts only outside the range of all heights, as the ground of a node can be anywhere within it. Nodes of
    stride 1 are divided only by `finer`, which also culls their parts.
    """
    stride = float(coarsest_stride(columns, rows))
    eye = camera.position
    beyond = max(heights[0] - eye.y, eye.y - heights[1], 0.0)
    nodes = np.zeros((1, 2))
    chosen: list[np.ndarray] = []

    def reach_of(stride: float) -> float:
        """The distance within which nodes of a stride are divided."""
        of_level = detail if stride > 1.0 else 0.0 if finer is None or stride <= FINEST_STRIDE else finer.detail
        return of_level * QUADS * stride * cell_size

    while True:
        size = QUADS * stride
        nodes = nodes[(nodes[:, 0] < columns - 1) & (nodes[:, 1] < rows - 1)]
        low = (nodes + 0.5) * cell_size
        high = (np.minimum(nodes + size, (columns - 1, rows - 1)) + 0.5) * cell_size
        if finer is not None and stride < 1.0:
            room = finer.relief * cell_size
            lowest, highest = (np.full(len(nodes), y) for y in (min(finer.base, heights[0] - room), heights[1] + room))
            boxes = np.insert(low, 1, lowest, axis=1), np.insert(high, 1, highest, axis=1)
            seen = can_be_seen(finer.view_projection, *boxes)
            nodes, low, high = nodes[seen], low[seen], high[seen]
        sideways = np.maximum(np.maximum(low - (eye.x, eye.z), (eye.x, eye.z) - high), 0.0)
        distance = np.sqrt((sideways**2).sum(axis=1) + beyond**2)
        divided = distance < reach_of(stride)
        whole = nodes[~divided]
        # A node has morphed to the form of its parent at the distance where the parent is no longer divided.
        morph = np.full(len(whole), reach_of(2.0 * stride))
        chosen.append(np.column_stack([whole, np.full(len(whole), stride), morph, distance[~divided]]))
        if not divided.any():
            break
        stride /= 2.0
        half = QUADS * stride
        corners = np.array([(0, 0), (half, 0), (0, half), (half, half)])
        nodes = (nodes[divided][:, None, :] + corners).reshape(-1, 2)
    table = np.concatenate(chosen)
    return np.ascontiguousarray(table[np.argsort(table[:, 4], kind="stable"), :4], np.float32)


def nodes_in_sight(
    nodes: np.ndarray,
    columns: int,
    rows: int,
    cell_size: float,
    span: tuple[float, float],
    view_projection: NDArray[np.float64],
) -> np.ndarray:
    """The nodes that may be in the picture, in the same order.

    `span` contains all heights that are drawn with them, from the foot of the walls to the top of the relief, in
    picture space.
    """
    low = (nodes[:, :2] + 0.5) * cell_size
    high = (np.minimum(nodes[:, :2] + QUADS * nodes[:, 2:3], (columns - 1, rows - 1)) + 0.5) * cell_size
    boxes = (np.insert(at, 1, y, axis=1).astype(np.float64) for at, y in zip((low, high), span, strict=True))
    return np.ascontiguousarray(nodes[can_be_seen(view_projection, *boxes)])


def edge_nodes(nodes: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The nodes at the edges of the map, once per edge: float32 `[node, (…as in select_nodes, side)]`.

    Sides are 0 north, 1 east, 2 south, 3 west.
    """
    column, row, size = nodes[:, 0], nodes[:, 1], QUADS * nodes[:, 2]
    at_edge = (row == 0, column + size >= columns - 1, row + size >= rows - 1, column == 0)
    sides = [np.column_stack([nodes[there], np.full(there.sum(), side)]) for side, there in enumerate(at_edge)]
    return np.ascontiguousarray(np.concatenate(sides), np.float32)


def twisted_patches(ground: NDArray[np.float32], least: float) -> NDArray[np.bool_]:
    """Which patches of `PATCH` × `PATCH` cells have a quad whose diagonals differ in height by at least `least`.

    `ground` is in metres, `[row, column]` of cells, and patches are `[row, column]` as well.
    """
    rows, columns = ground.shape
    twisted = np.zeros((-(-rows // PATCH) * PATCH, -(-columns // PATCH) * PATCH), bool)
    for first in range(0, rows - 1, BAND_ROWS):
        last = min(first + BAND_ROWS, rows - 1)
        twist = np.diff(np.diff(ground[first : last + 1], axis=0), axis=1)
        np.greater_equal(np.abs(twist, out=twist), 2.0 * least, out=twisted[first:last, : columns - 1])
    return reduce_blocks(twisted, PATCH, np.logical_or)


def parts_within(nodes: np.ndarray, patches: np.ndarray) -> np.ndarray:
    """The parts of nodes, `PATCH` quads along a side, that touch a patch that is true: a table like that of nodes."""
    offset = PATCH * np.arange(QUADS // PATCH)
    parts = np.repeat(nodes, len(offset) ** 2, axis=0)
    parts[:, 0] += np.tile(np.tile(offset, len(offset)), len(nodes)) * parts[:, 2]
    parts[:, 1] += np.tile(np.repeat(offset, len(offset)), len(nodes)) * parts[:, 2]
    return np.ascontiguousarray(parts[touching(parts, PATCH, patches)])


def touching(nodes: np.ndarray, quads: int, patches: np.ndarray, *, beyond: int = 1) -> NDArray[np.bool_]:
    """Which nodes of this number of quads per side touch a patch of `PATCH` × `PATCH` cells that is true.

    A node reaches `beyond` its last quad by so many cells: vertices are at the centres of cells, so it ends in the
    first of the next.
    """
    before = np.zeros((patches.shape[0] + 1, patches.shape[1] + 1), np.int64)
    before[1:, 1:] = patches.cumsum(axis=0).cumsum(axis=1)
    first = np.floor(nodes[:, 1::-1]).astype(np.intp)
    last = np.ceil(nodes[:, 1::-1] + quads * nodes[:, 2:3]).astype(np.intp) - 1 + beyond
    (top, left), (bottom, right) = (np.minimum(at, patches.shape).T for at in (first // PATCH, last // PATCH + 1))
    inside = before[bottom, right] - before[top, right] - before[bottom, left] + before[top, left]
    return np.asarray(inside > 0)


def crossed_nodes(nodes: np.ndarray, twisted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which nodes have vertices at the centres of quads: those of stride 1 or finer that touch a twisted patch."""
    crossed = nodes[:, 2] <= 1.0
    crossed[crossed] = touching(nodes[crossed], QUADS, twisted, beyond=0)
    return crossed


def mesh_parts(nodes: np.ndarray, twisted: NDArray[np.bool_]) -> MeshParts:
    """The parts of nodes that have vertices at the centres of quads, and all others."""
    crossed = crossed_nodes(nodes, twisted)
    parts = parts_within(nodes[crossed], np.ones_like(twisted))
    with_centres = touching(parts, PATCH, twisted, beyond=0)
    tables = nodes[~crossed], parts[~with_centres], parts[with_centres]
    return MeshParts(*(np.ascontiguousarray(table) for table in tables))


def in_bands(
    tables: Sequence[NDArray[np.float32]], quads: Sequence[int], eye: tuple[float, float], bands: int
) -> list[list[NDArray[np.float32]]]:
    """The rows of tables of nodes in bands of distance, the nearest first.

    `quads` are those along the sides of the nodes of each table, and `eye` is the camera's column and row.
    """
    middles = [table[:, :2] + 0.5 * side * table[:, 2:3] for table, side in zip(tables, quads, strict=True)]
    away = [np.hypot(*(middle - eye).T) for middle in middles]
    all_away = np.concatenate(away)
    ends = np.quantile(all_away, np.arange(1, bands) / bands) if len(all_away) else all_away
    numbers = [np.searchsorted(ends, each) for each in away]
    return [[table[number == band] for table, number in zip(tables, numbers, strict=True)] for band in range(bands)]


class GroundMesh:
    """The mesh of the ground, for all passes that draw it or something on it."""

    DEFINES: tuple[Mapping[str, int], Mapping[str, int]] = NO_DEFINES, NO_DEFINES  # nodes without and with centres
    BANDS = 6  # of distance, drawn one after the other, as what is hidden by nearer ground is not shaded

    def __init__(self, context: moderngl.Context) -> None:
        self._plain, self._crossed, self._whole = self._shapes = (
            NodeShape(context, PATCH, crossed=False),
            NodeShape(context, PATCH, crossed=True),
            NodeShape(context, QUADS, crossed=False),
        )

    def parts(self, frame: Frame) -> Iterable[Part]:
        nodes = self.nodes(frame)
        # Parts of nodes, then nodes, of which parts are the nearest.
        shapes, tables = (self._plain, self._crossed, self._whole), (nodes.plain, nodes.crossed, nodes.whole)
        eye, cell_size = frame.camera.position, frame.snapshot.cell_size
        banded = in_bands(tables, [shape.quads for shape in shapes], (eye.x / cell_size, eye.z / cell_size), self.BANDS)
        for shape, table in ((shape, table) for band in banded for shape, table in zip(shapes, band, strict=True)):
            defines = self.DEFINES[shape.crossed]
            at_once = (frame.nodes_at_once or max(len(table), 1)) * (QUADS // shape.quads) ** 2
            for first in range(0, len(table), at_once):
                some = table[first : first + at_once]
                shape.nodes.write(some)
                yield Part(shape.geometry, instances=len(some), uniforms={"quads": shape.quads}, defines=defines)

    def nodes(self, frame: Frame) -> MeshParts:
        """The parts of the mesh that are drawn."""
        return frame.mesh

    def release(self) -> None:
        for shape in self._shapes:
            shape.release()


class MapMesh(GroundMesh):
    """The mesh for lower levels of quality.

    Each shape of nodes has its own variant of the shader, as in software each vertex pays for the whole shader. This
    doubles the number of programs, so it is for small shaders only.
    """

    DEFINES = {"MIDDLES": 0}, NO_DEFINES
    BANDS = 1


class NodeShape:
    """Some nodes, or parts of them, and the triangles that their quads are divided into."""

    def __init__(self, context: moderngl.Context, quads: int, *, crossed: bool) -> None:
        self.quads = quads  # along a side
        self.crossed = crossed
        self._indices = context.buffer(np.stack(triangles(quads, crossed=crossed), axis=-1).tobytes())
        self.nodes = GrowingBuffer(context)
        self.geometry = Geometry([(self.nodes.buffer, "4f/i", "node")], self._indices)

    def release(self) -> None:
        self._indices.release()
        self.nodes.release()


def triangles(quads: int, *, crossed: bool) -> list[NDArray[np.uint32]]:
    """The vertices of triangles, in turn, by their numbers: corners row by row, then centres of quads if `crossed`."""
    side = quads + 1
    corner = (np.arange(quads)[:, None] * side + np.arange(quads)).astype(np.uint32)
    north_west, north_east, south_west, south_east = corner, corner + 1, corner + side, corner + side + 1
    if not crossed:
        # Both triangles of a quad share the diagonal from south-west to north-east, the same at all levels.
        return [north_west, south_west, north_east, north_east, south_west, south_east]
    # Four triangles meet in a vertex at the centre, so that both diagonals are edges.
    middle = side * side + np.arange(quads**2, dtype=np.uint32).reshape(corner.shape)
    around = [north_west, south_west, south_east, north_east]
    return [each for k in range(4) for each in (around[k], around[(k + 1) % 4], middle)]
