"""The rectangles in which surfaces of water are drawn."""

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
RECTANGLE = 5  # first column and row, how many more of both it extends over, level in metres


def lake_rectangles(snapshot: Snapshot, of: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Rectangles that together cover all lakes, each place of a lake once: float32 `[n, RECTANGLE]`.

    A lake that fits into a tile has a rectangle of its own, as its square would mostly lie beside it. Larger ones have
    the tiles that they touch: all of each, as rectangles that share only a part of an edge would leave holes. Squares
    extend from centres of cells to centres of cells. `of` selects cells of lakes; without it, all count.
    """
    layers = snapshot.layers
    if "water_level" not in layers:
        return np.empty((0, RECTANGLE), np.float32)
    level = layers["water_level"]
    lake = (layers["water"] > 0.0) & (level != np.float32(snapshot.sea_level))
    if of is not None:
        lake &= of
    cells = np.flatnonzero(lake)
    if not len(cells):
        return np.empty((0, RECTANGLE), np.float32)
    # Runs of one lake along rows.
    columns, bits = level.shape[1], level.ravel()[cells].view(np.uint32)
    next_begins = (np.diff(cells) != 1) | (cells[1:] % columns == 0) | (bits[1:] != bits[:-1])
    begins, ends = np.concatenate([[True], next_begins]), np.concatenate([next_begins, [True]])
    (row, first), last, bits = np.divmod(cells[begins], columns), cells[ends] % columns, bits[begins]
    levels, lake_of = np.unique(bits, return_inverse=True)
    # Water reaches beyond its cells, up to the centres of the next ones.
    most = np.array(level.shape)[::-1] - 1
    low, high = np.full((len(levels), 2), most), np.zeros((len(levels), 2), np.int64)
    np.minimum.at(low, lake_of, np.column_stack([first, row]))
    np.maximum.at(high, lake_of, np.column_stack([last, row]))
    low, high = np.maximum(low - 1, 0), np.minimum(high + 1, most)
    alone = (high - low <= TILE).all(axis=1)
    own = np.column_stack([low, high - low, levels.view(np.float32)])[alone]
    cut = ~alone[lake_of]
    tiles = _touched_tiles(row[cut], first[cut], last[cut], bits[cut], level.shape)
    return np.concatenate([own, tiles]).astype(np.float32)


def _touched_tiles(
    row: NDArray[np.intp],
    first: NDArray[np.intp],
    last: NDArray[np.intp],
    bits: NDArray[np.uint32],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """The tiles that runs of cells touch, from `first` to `last` column, once per level, as rectangles.

    The first cells of a tile are on the edge of the previous one, too.
    """
    across = -(-shape[1] // TILE)
    from_column, from_row = np.maximum(first - 1, 0) // TILE, np.maximum(row - 1, 0) // TILE
    lengths = last // TILE - from_column + 1
    column = np.arange(lengths.sum()) + np.repeat(from_column - np.cumsum(lengths) + lengths, lengths)
    rows = np.concatenate([np.repeat(from_row, lengths), np.repeat(row // TILE, lengths)])
    number = (rows * across + np.tile(column, 2)).astype(np.uint64)
    key = np.unique((number << np.uint64(32)) | np.tile(np.repeat(bits, lengths), 2))
    number = (key >> np.uint64(32)).astype(np.int64)
    levels = (key & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    low = np.column_stack([number % across, number // across]) * TILE
    return np.column_stack([low, np.minimum(low + TILE, np.array(shape)[::-1] - 1) - low, levels])


def running_tiles(snapshot: Snapshot) -> NDArray[np.float32]:
    """The tiles of running water, whose level varies, in the form of `lake_rectangles`."""
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
    side, none = np.full(len(row), TILE), np.zeros(len(row))
    return np.column_stack([column * TILE, row * TILE, side, side, none]).astype(np.float32)


class WaterRectangles:
    """A buffer with an instance per rectangle, for shaders; those of running water have no level."""

    def __init__(self, context: moderngl.Context, *, of_lakes: bool) -> None:
        self._buffer = GrowingBuffer(context)
        attributes = ("4f 1f/i", "rectangle", "level_of_lake") if of_lakes else ("4f 1x4/i", "rectangle")
        self.geometry = Geometry([(self._buffer.buffer, *attributes)])
        self.number = 0

    def write(self, rectangles: NDArray[np.float32]) -> None:
        self.number = len(rectangles)
        self._buffer.write(rectangles)

    def release(self) -> None:
        self._buffer.release()


class StandingWater:
    """The rectangles of the water of a snapshot."""

    def __init__(self, context: moderngl.Context) -> None:
        # By whether they can have waves.
        self.lakes = {waves: WaterRectangles(context, of_lakes=True) for waves in (False, True)}
        self.running = WaterRectangles(context, of_lakes=False)
        self.has_sea = False
        self.level_is_known = False
        self._version: tuple[int, int] | None = None

    @property
    def is_seen(self) -> bool:
        """Whether there is any water."""
        return self.has_sea or self.running.number > 0 or any(lakes.number for lakes in self.lakes.values())

    @property
    def has_lakes(self) -> bool:
        """Whether there is water at other levels than the sea's, which does not run."""
        return any(lakes.number for lakes in self.lakes.values())

    def show(self, snapshot: Snapshot, wide: NDArray[np.bool_]) -> None:
        """Update them from a snapshot; `wide` are the cells of waters `with_waves`."""
        self.has_sea = math.isfinite(snapshot.sea_level)
        self.level_is_known = "water_level" in snapshot.layers
        version = (snapshot.world, snapshot.versions.get("water_level", -1))
        if version != self._version:
            self._version = version
            # A world can be opened with water that ran once, of which no process tells where it stands now.
            runs = RUNNING in snapshot.layers and self.level_is_known
            none = np.empty((0, RECTANGLE), np.float32)
            self.lakes[True].write(none if runs else lake_rectangles(snapshot, wide))
            self.lakes[False].write(none if runs else lake_rectangles(snapshot, ~wide))
            self.running.write(running_tiles(snapshot) if runs else none)

    def release(self) -> None:
        for rectangles in (*self.lakes.values(), self.running):
            rectangles.release()
