"""Interpolation between cell centres."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def between_cells(
    values: NDArray[np.float32], east: NDArray[np.floating], south: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Values interpolated between cell centres, at places in cells from the north-western corner."""
    rows, columns = values.shape
    row, column = (np.clip(at - 0.5, 0.0, last - 1e-3) for at, last in ((south, rows - 1), (east, columns - 1)))
    top, left = row.astype(int), column.astype(int)
    down, right = (row - top), (column - left)
    upper = values[top, left] * (1.0 - right) + values[top, left + 1] * right
    lower = values[top + 1, left] * (1.0 - right) + values[top + 1, left + 1] * right
    return np.asarray(upper * (1.0 - down) + lower * down, np.float32)
