"""The tiles in which surfaces of water are drawn."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot
from app.picture.passes.geometry import Geometry
from app.picture.passes.targets import GrowingBuffer

RUNNING = "froude"  # the layer that marks running water
TILE = 16  # cells per side of a tile


def lake_tiles(snapshot: Snapshot, of: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """The tiles that contain lakes, once per level: float32 `[n, (column, row, level)]`.

    A tile extends from the centres of its first cells to those of its neighbour's first cells. `of` selects cells of
    lakes; without it, all count.
    """
    layers = snapshot.layers
    if "water_level" not in layers:
        return np.empty((0, 3), np.float32)
    level = layers["water_level"]
    lake = (layers["water"] > 0.0) & (level != np.float32(snapshot.sea_level))
    if of is not None:
        lake &= of
    # Skip cells next to one of the same lake in the same tile: they add nothing.
    fresh = lake.copy()
    fresh[:, 1:] &= ~(lake[:, :-1] & (level[:, 1:] == level[:, :-1]))
    for first in (0, 1):  # the first cells of a tile also belong to the previous one
        fresh[:, first::TILE] |= lake[:, first::TILE]
    row, column = np.nonzero(fresh)
    keys = []
    across = -(-level.shape[1] // TILE)
    for rows_back in (0, 1):
        for columns_back in (0, 1):
            # Tiles of this cell: its own, and those that end at it.
            ends = ((row % TILE == 0) | (rows_back == 0)) & ((column % TILE == 0) | (columns_back == 0))
            tile_row, tile_column = row[ends] // TILE - rows_back, column[ends] // TILE - columns_back
            on_map = (tile_row >= 0) & (tile_column >= 0)
            number = (tile_row * across + tile_column).astype(np.uint64)[on_map]
            bits = level[row[ends], column[ends]].view(np.uint32)[on_map]
            keys.append((number << np.uint64(32)) | bits)
    key = np.unique(np.concatenate(keys))
    number = (key >> np.uint64(32)).astype(np.int64)
    levels = (key & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    return np.column_stack([number % across * TILE, number // across * TILE, levels]).astype(np.float32)


def running_tiles(snapshot: Snapshot) -> NDArray[np.float32]:
    """The tiles of running water, whose level varies, in the form of `lake_tiles`."""
    layers = snapshot.layers
    level = layers["water_level"]
    wet = (layers["water"] > 0.0) & (level != np.float32(snapshot.sea_level))
    rows, columns = (-(-side // TILE) for side in wet.shape)
    padded = np.zeros((rows * TILE + 1, columns * TILE + 1), np.bool_)
    padded[: wet.shape[0], : wet.shape[1]] = wet
    # A tile extends to the first cells of its neighbours, and water is drawn to a cell beyond the wet ones.
    near = padded.copy()
    near[1:] |= padded[:-1]
    near[:-1] |= padded[1:]
    near[:, 1:] |= near[:, :-1].copy()
    near[:, :-1] |= near[:, 1:].copy()
    row, column = np.nonzero(near[:-1, :-1].reshape(rows, TILE, columns, TILE).any(axis=(1, 3)))
    return np.column_stack([column * TILE, row * TILE, np.zeros(len(row))]).astype(np.float32)


class LakeTiles:
    """A buffer with an instance per tile, for shaders."""

    def __init__(self, context: moderngl.Context) -> None:
        self._buffer = GrowingBuffer(context)
        self.geometry = Geometry([(self._buffer.buffer, "3f/i", "lake")])
        self.number = 0

    def write(self, tiles: NDArray[np.float32]) -> None:
        self.number = len(tiles)
        self._buffer.write(tiles)

    def release(self) -> None:
        self._buffer.release()


class StandingWater:
    """The tiles of the water of a snapshot."""

    def __init__(self, context: moderngl.Context) -> None:
        self.tiles = {False: LakeTiles(context), True: LakeTiles(context)}  # of lakes, by whether they can have waves
        self.running = LakeTiles(context)  # of running water
        self.has_sea = False
        self.level_is_known = False
        self._version: tuple[int, int] | None = None

    @property
    def is_seen(self) -> bool:
        """Whether there is any water."""
        return self.has_sea or self.running.number > 0 or any(tiles.number for tiles in self.tiles.values())

    @property
    def has_lakes(self) -> bool:
        """Whether there is water at other levels than the sea's, which does not run."""
        return any(tiles.number for tiles in self.tiles.values())

    def show(self, snapshot: Snapshot, wide: NDArray[np.bool_]) -> None:
        """Update the tiles from a snapshot; `wide` are the cells of waters `with_waves`."""
        self.has_sea = math.isfinite(snapshot.sea_level)
        self.level_is_known = "water_level" in snapshot.layers
        version = (snapshot.world, snapshot.versions.get("water_level", -1))
        if version != self._version:
            self._version = version
            # A world can be opened with water that ran once, of which no process tells where it stands now.
            runs = RUNNING in snapshot.layers and self.level_is_known
            none = np.empty((0, 3), np.float32)
            self.tiles[True].write(none if runs else lake_tiles(snapshot, wide))
            self.tiles[False].write(none if runs else lake_tiles(snapshot, ~wide))
            self.running.write(running_tiles(snapshot) if runs else none)

    def release(self) -> None:
        for tiles in (*self.tiles.values(), self.running):
            tiles.release()
