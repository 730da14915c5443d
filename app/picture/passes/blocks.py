"""Maps in square blocks of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def reduce_blocks(cells: NDArray[Any], side: int, combine: np.ufunc) -> NDArray[Any]:
    """What `combine` makes of each block of `side` × `side` cells, `[row, column]` of blocks.

    `side` is a power of two, and those of the map are multiples of it. Combines halves again and again: NumPy is slow
    to reduce axes that are short.
    """
    while side > 1:
        cells = combine(cells[0::2], cells[1::2])
        cells = combine(cells[:, 0::2], cells[:, 1::2])
        side //= 2
    return cells
