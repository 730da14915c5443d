"""Where waves come to a shore, in blocks of the map that are projected to the screen."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.picture.passes.blocks import BAND_ROWS, PATCH, in_whole_blocks, reduce_blocks

BLOCK = 4  # cells along a side of a block
BEACH_CELLS = 8  # no beach is wider: see beach.glsl
BEACH_BLOCKS = -(-BEACH_CELLS // BLOCK)  # to each side of water in which a beach can lie


class Shore(NamedTuple):
    """Where waves come to a shore."""

    patches: NDArray[np.bool_]  # `shore_patches`
    water: NDArray[np.bool_]  # whether there is any in each block of `BLOCK` × `BLOCK` cells
    land: NDArray[np.bool_]  # whether there is dry ground
    heights: tuple[NDArray[np.float32], NDArray[np.float32]]  # of the water that can reach them

    @classmethod
    def of(cls, level: NDArray[np.float32], wet: NDArray[np.bool_]) -> Shore:
        """The shore of water of this `level` in cells that are `wet`, [row, column]."""
        water = reduce_blocks(in_whole_blocks(wet, BLOCK, False), BLOCK, np.logical_or)
        only_water = reduce_blocks(in_whole_blocks(wet, BLOCK, True), BLOCK, np.logical_and)
        low, high = (
            with_those_around(_of_cells(level, wet, extreme, nowhere), extreme, BEACH_BLOCKS)
            for extreme, nowhere in ((np.minimum, np.inf), (np.maximum, -np.inf))
        )
        return cls(shore_patches(wet), water, ~only_water, (low, high))

    def beach_blocks(self, reach: float) -> NDArray[np.bool_]:
        """The blocks of `BLOCK` × `BLOCK` cells with ground within this distance of water, in cells."""
        times = math.ceil(min(reach + 1.0, BEACH_CELLS) / BLOCK)  # a cell more: between two the distance is mixed
        return np.asarray(self.land & with_those_around(self.water, np.logical_or, times))


def shore_patches(wet: np.ndarray) -> np.ndarray:
    """Which patches of `PATCH` × `PATCH` cells hold dry ground with water on or next to it, `[row, column]` of patches.

    So beaches that are not wider than a patch lie in no other. `wet` is given per cell.
    """
    water = reduce_blocks(in_whole_blocks(wet, PATCH, False), PATCH, np.logical_or)
    only_water = reduce_blocks(in_whole_blocks(wet, PATCH, True), PATCH, np.logical_and)
    tall, wide = water.shape
    near_water = np.zeros((tall + 2, wide + 2), bool)
    for row in range(3):
        for column in range(3):
            near_water[row : row + tall, column : column + wide] |= water
    return np.asarray(near_water[1:-1, 1:-1] & ~only_water)


def with_those_around(blocks: NDArray[Any], extreme: np.ufunc, times: int = 1) -> NDArray[Any]:
    """The extreme of each block and those around it, as many to each side as `times`."""
    for _ in range(times):
        around = np.pad(blocks, 1, mode="edge")
        down = extreme(extreme(around[:-2], around[1:-1]), around[2:])
        blocks = extreme(extreme(down[:, :-2], down[:, 1:-1]), down[:, 2:])
    return blocks


def _of_cells(
    values: NDArray[np.float32], cells: NDArray[np.bool_], extreme: np.ufunc, nowhere: float
) -> NDArray[np.float32]:
    """The extreme of the values of some cells in each block, and `nowhere` in blocks without any."""
    rows, columns = cells.shape
    found = np.empty((-(-rows // BLOCK), -(-columns // BLOCK)), np.float32)
    room = np.empty((BAND_ROWS, found.shape[1] * BLOCK), np.float32)
    for first in range(0, rows, BAND_ROWS):
        last = min(first + BAND_ROWS, rows)
        room.fill(nowhere)
        np.copyto(room[: last - first, :columns], values[first:last], where=cells[first:last])
        of_band = found[first // BLOCK : (first + BAND_ROWS) // BLOCK]
        of_band[...] = reduce_blocks(room, BLOCK, extreme)[: len(of_band)]
    return found
