"""Mapping of map areas to screen tiles, so that shaders draw only where needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import SURVEYED_FLOW, Snapshot
from app.picture.camera import Camera
from app.picture.crop import Crop
from app.picture.passes.beach import BEACH_RISES
from app.picture.passes.blocks import corners_of, joined, reduce_blocks
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.flow_map import stream_cells
from app.picture.passes.geometry import Geometry
from app.picture.passes.mesh import box_corners
from app.picture.passes.shore_blocks import BLOCK, Shore, with_those_around
from app.picture.passes.targets import GrowingBuffer

TILE = 16  # pixels along a side
NEAREST = 1e-3  # longer sides of the map: points closer to the plane of the eye may be anywhere on the screen


def block_heights(ground: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The lowest and highest ground in each block of `BLOCK` × `BLOCK` cells and its neighbours, `[row, column]`.

    Neighbours count because the mesh is coarse far away: its triangles extend beyond a block.
    """
    rows, columns = ground.shape
    padded = np.pad(ground, [(0, -rows % BLOCK), (0, -columns % BLOCK)], mode="edge")
    low, high = (
        with_those_around(reduce_blocks(padded, BLOCK, extreme), extreme) for extreme in (np.minimum, np.maximum)
    )
    return low, high


FINE_MESH = 0.85  # fraction of the distance of division within which the mesh has all heights of the map
# Cells by which the height of a beach in the mesh can differ from the map: far away, because the mesh is coarse, and
# nearby, because its quads are two planes.
SHORE_MARGIN, FINE_SHORE_MARGIN = 2.0, 0.5


def blocks_within(
    shape: tuple[int, int], cell_size: float, camera: Camera, reach: float, highest: float
) -> NDArray[np.bool_]:
    """Which blocks are entirely within a distance, measured as for the nodes of the mesh.

    The height counts only above the `highest` ground: see `select_nodes`.
    """
    eye, side = camera.position, BLOCK * cell_size
    down, across = (
        np.maximum(np.abs(np.arange(length) * side - at), np.abs(np.arange(1, length + 1) * side - at))
        for length, at in zip(shape, (eye.z, eye.x), strict=True)
    )
    beyond = max(eye.y - highest, 0.0)
    return np.asarray(down[:, None] ** 2 + across**2 + beyond**2 < reach**2)


def tiles_of_blocks(
    blocks: NDArray[np.bool_],
    heights: tuple[NDArray[np.float32], NDArray[np.float32]],
    cell_size: float,
    exaggeration: float,
    camera: Camera,
    crop: Crop,
    within: float = np.inf,
    margin: float | NDArray[np.float64] = 0.0,
) -> NDArray[np.bool_]:
    """The tiles of a part of the screen that may show a block that is true, `[row from below, column]`.

    `heights` are `block_heights`, extended by `margin`, for all blocks or for each. Blocks farther from the camera than
    `within`, in metres, are omitted.
    """
    width, height = crop.width, crop.height
    across, up = -(-width // TILE), -(-height // TILE)
    row, column = np.nonzero(blocks & np.isfinite(heights[0]))
    if not len(row):
        return np.zeros((up, across), bool)
    side = BLOCK * cell_size
    low = np.column_stack([column * side, heights[0][row, column] * exaggeration, row * side])
    # Vertices are at the centres of cells, so the last quad of a block ends in the next one.
    high = low + np.array((side + cell_size, 0.0, side + cell_size))
    high[:, 1] = heights[1][row, column] * exaggeration
    added = np.broadcast_to(margin, blocks.shape)[row, column]
    low[:, 1] -= added
    high[:, 1] += added
    if np.isfinite(within):
        eye = np.array(camera.position)
        away = np.maximum(np.maximum(low - eye, eye - high), 0.0)
        near = (away**2).sum(axis=1) < within**2
        low, high = low[near], high[near]
    matrix = np.array((crop.clip * camera.projection(crop.aspect) * camera.view()).to_list())  # [column, row]
    x, y, _, w = np.moveaxis(box_corners(low, high) @ matrix, 2, 0)
    nearest = NEAREST * max(blocks.shape) * side
    # A block that extends behind the eye may be anywhere on the screen, unless it is outside one of its edges.
    seen = (w > nearest).any(axis=0)
    for at in (x, y):
        seen &= (at <= w).any(axis=0) & (at >= -w).any(axis=0)
    x, y, w = x[:, seen], y[:, seen], w[:, seen]
    everywhere = (w <= nearest).any(axis=0)
    w = np.maximum(w, nearest)
    x, y = (0.5 + 0.5 * x / w) * (width / TILE), (0.5 + 0.5 * y / w) * (height / TILE)
    left, right = (
        np.where(everywhere, 0, np.floor(x.min(axis=0))),
        np.where(everywhere, across, np.floor(x.max(axis=0)) + 1),
    )
    bottom, top = (
        np.where(everywhere, 0, np.floor(y.min(axis=0))),
        np.where(everywhere, up, np.floor(y.max(axis=0)) + 1),
    )
    left, right = (np.clip(at, 0, across).astype(np.intp) for at in (left, right))
    bottom, top = (np.clip(at, 0, up).astype(np.intp) for at in (bottom, top))
    shown = (left < right) & (bottom < top)
    left, right, bottom, top = left[shown], right[shown], bottom[shown], top[shown]
    # Each rectangle is added at its four corners; cumulative sums fill it (a summed-area table).
    edges = np.zeros((up + 1, across + 1), np.int32)
    for at_row, at_column, sign in ((bottom, left, 1), (top, right, 1), (bottom, right, -1), (top, left, -1)):
        np.add.at(edges, (at_row, at_column), sign)
    return np.asarray(edges.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0)


STREAM_REACH = 2  # cells over which flow.frag and its smoothing spread a stream, besides its own width
WIDEST_PIXEL = 12.0  # largest extent of ground in a pixel, relative to ground that faces the eye
STREAM_FAR = 0.32  # cells per pixel above which courses and ripples of streams are not drawn
FINE_STREAM_FAR = 0.7  # the same if the ground is not drawn by tiles


def stream_blocks(wet: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The blocks of `BLOCK` × `BLOCK` cells in which streams of the `wet` cells may be visible."""
    rows, columns = wet.shape
    room = np.zeros((-(-rows // BLOCK) * BLOCK, -(-columns // BLOCK) * BLOCK), bool)
    room[:rows, :columns] = wet
    for axis in (0, 1):
        before, after = np.zeros_like(room), np.zeros_like(room)
        kept, moved = (
            (slice(None),) * axis + (slice(STREAM_REACH, None),),
            (slice(None),) * axis + (slice(-STREAM_REACH),),
        )
        before[moved], after[kept] = room[kept], room[moved]
        room |= before | after
    return np.asarray(room.reshape(room.shape[0] // BLOCK, BLOCK, -1, BLOCK).any(axis=(1, 3)))


class GroundClass(NamedTuple):
    """An area of the screen whose ground is drawn by one shader."""

    near_streams: bool  # whether ripples of streams may be visible
    beach: bool  # whether there may be a beach
    tiles: NDArray[np.bool_] | None  # None: the whole screen


class GroundTiles:
    """Classifies the tiles of the screen by the variant of the ground shader: with beaches, with streams nearby."""

    def __init__(self, context: moderngl.Context) -> None:
        self._corners, self._indices = GrowingBuffer(context), GrowingBuffer(context)
        self._geometry = Geometry([(self._corners.buffer, "2f", "corner")], self._indices.buffer)
        self._heights = (np.empty((0, 0), np.float32),) * 2
        self._streams = np.empty((0, 0), bool)
        self._ground_noted: tuple[int, ...] | None = None
        self._streams_noted: tuple[object, ...] | None = None

    def parts(self, frame: Frame) -> Iterable[Part]:
        with_streams = frame.smallest_stream is not None
        classes = self.classes(
            frame.snapshot,
            frame.camera,
            frame.exaggeration,
            frame.crop,
            frame.focal_length,
            shore=frame.shore if frame.ground_has_beach else None,
            run_up=frame.run_up,
            run_up_way=frame.run_up_way,
            smallest_stream=frame.smallest_stream,
            fine_mesh=FINE_MESH * 2.0 * frame.tree_view.mesh_reach[0],
        )
        for near, beach, tiles in classes:
            defines = {"STREAMS": (1 + int(near)) * int(with_streams), "BEACH": int(beach)}
            if tiles is None:
                yield Part(vertices=3, defines=defines, vertex="fullscreen.vert")
            else:
                corners, indices = corners_of(joined(tiles), TILE, frame.scene.size)
                self._corners.write(corners)
                self._indices.write(indices)
                yield Part(self._geometry, indices.size, defines=defines)

    def release(self) -> None:
        self._corners.release()
        self._indices.release()

    def classes(
        self,
        snapshot: Snapshot,
        camera: Camera,
        exaggeration: float,
        crop: Crop,
        focal_length: float,
        *,
        shore: Shore | None,
        run_up: float,
        run_up_way: float,
        smallest_stream: float | None,
        fine_mesh: float,
    ) -> list[GroundClass]:
        """The classes of ground on a part of the screen: each tile is in one of them.

        `focal_length` is in pixels. Waves reach the `shore`; `run_up` is their vertical and `run_up_way` their
        horizontal run-up in metres. `smallest_stream` is the discharge of the smallest visible stream, if there are
        any. Within the distance `fine_mesh` in metres, the mesh has all heights of the map.
        """
        seen_from = (snapshot.cell_size, exaggeration, camera, crop)
        near = by_sea = np.zeros((-(-crop.height // TILE), -(-crop.width // TILE)), bool)
        if smallest_stream is not None:
            self._note_streams(snapshot, smallest_stream)
            within = STREAM_FAR * focal_length * snapshot.cell_size
            near = tiles_of_blocks(self._streams, self._heights, *seen_from, within=within)
        if shore is not None:
            highest = snapshot.highest * exaggeration
            beaches = shore.beach_blocks(BEACH_RISES * run_up_way / snapshot.cell_size)
            fine = blocks_within(beaches.shape, snapshot.cell_size, camera, fine_mesh, highest)
            cells = np.where(fine, FINE_SHORE_MARGIN, SHORE_MARGIN)
            margin = cells * snapshot.cell_size + BEACH_RISES * run_up * exaggeration
            by_sea = tiles_of_blocks(beaches, shore.heights, *seen_from, margin=margin)
        if not near.any() and not by_sea.any():
            return [GroundClass(False, False, None)]
        found = []
        for with_near in (False, True):
            for with_beach in (False, True):
                tiles = (near == with_near) & (by_sea == with_beach)
                if tiles.any():
                    found.append(GroundClass(with_near, with_beach, tiles))
        return found

    def _note_streams(self, snapshot: Snapshot, smallest_stream: float) -> None:
        ground = (snapshot.world, snapshot.ground_version)
        if ground != self._ground_noted:
            self._heights = block_heights(snapshot.ground())
            self._ground_noted = ground
        flow = (snapshot.world, smallest_stream, snapshot.versions.get(SURVEYED_FLOW))
        if flow != self._streams_noted:
            self._streams = stream_blocks(stream_cells(snapshot, smallest_stream))
            self._streams_noted = flow
