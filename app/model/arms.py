"""Arms of rivers, as a world stores them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def fault_of_arms(codes: NDArray[np.float32]) -> str:
    """What is wrong with a map of codes, see `kernels.distributaries`; empty if nothing is."""
    from kernels.neighbours import COLUMN_STEPS, ROW_STEPS

    row, column = np.nonzero(codes)
    ways = codes[row, column].astype(np.int64) - 1
    if ((ways < 0) | (ways > 63)).any():
        return "must be 0, or from 1 to less than 65"
    rows, columns = codes.shape
    for way in (ways & 7, ways >> 3):
        to_row, to_column = row + ROW_STEPS[way], column + COLUMN_STEPS[way]
        if ((to_row < 0) | (to_row >= rows) | (to_column < 0) | (to_column >= columns)).any():
            return "must not lead off the map"
    return ""
