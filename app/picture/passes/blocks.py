"""Maps in square blocks of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BAND_ROWS = 64  # of a map, that are worked out at a time: what is between then lies in a processor's cache


def reduce_blocks(cells: NDArray[Any], side: int, combine: np.ufunc) -> NDArray[Any]:
    """What `combine` makes of each block of `side` × `side` cells, `[row, column]` of blocks.

    `side` is a power of two, and those of the map are multiples of it. Combines whole rows, and of what is left halves
    again and again: NumPy is slow to reduce a last axis that is short.
    """
    rows, columns = cells.shape
    blocks: NDArray[Any] = combine.reduce(cells.reshape(rows // side, side, columns), axis=1)
    while side > 1:
        blocks = combine(blocks[:, 0::2], blocks[:, 1::2])
        side //= 2
    return blocks


def in_whole_blocks(cells: NDArray[Any], side: int, filling: Any) -> NDArray[Any]:
    """The cells, with as many of a `filling` in the south and east as make whole blocks."""
    missing = [(0, -length % side) for length in cells.shape]
    return np.pad(cells, missing, constant_values=filling) if any(after for _, after in missing) else cells
