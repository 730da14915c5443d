"""A map seen in other coordinates: where each new cell lies in the old one is known on a coarse lattice.

Between the old cells runs a cubic through four of them along each axis (Keys 1981), kept within the range of the four
cells around, so that no step rings.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit

Values = NDArray[np.float64]


@njit(nogil=True, cache=True, error_model="numpy")
def warp(
    values: Values,
    row_places: Values,
    column_places: Values,
    step: int,
    warped: Values,
    corner: tuple[int, int],
    shape: tuple[int, int],
) -> None:
    """Fill `warped` [row, column] from the old map [row, column], which has a `shape`.

    `values` are those of the old map from the row and column of a `corner` on: all that new cells lie between.
    `row_places` and `column_places` are those of every `step`-th new cell, in rows and columns of the old map from the
    middle of its first cell; between them both are taken as even. Beyond its edge the map goes on as it is there.
    """
    (first_row, first_column), (rows, columns) = corner, shape
    for row in range(warped.shape[0]):
        lattice_row, down = row // step, (row % step) / step
        for column in range(warped.shape[1]):
            lattice_column, right = column // step, (column % step) / step
            y = _between(row_places, lattice_row, lattice_column, down, right)
            x = _between(column_places, lattice_row, lattice_column, down, right)
            y, x = min(max(y, 0.0), rows - 1.0), min(max(x, 0.0), columns - 1.0)
            top, left = min(int(y), rows - 2), min(int(x), columns - 2)
            total, low, high = 0.0, np.inf, -np.inf
            for i in range(-1, 3):
                line = 0.0
                source = min(max(top + i, 0), rows - 1) - first_row
                for j in range(-1, 3):
                    value = values[source, min(max(left + j, 0), columns - 1) - first_column]
                    line += _weight(x - left - j) * value
                    if 0 <= i < 2 and 0 <= j < 2:
                        low, high = min(low, value), max(high, value)
                total += _weight(y - top - i) * line
            warped[row, column] = min(max(total, low), high)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _between(places: Values, row: int, column: int, down: float, right: float) -> float:
    upper = places[row, column] * (1.0 - right) + places[row, column + 1] * right
    lower = places[row + 1, column] * (1.0 - right) + places[row + 1, column + 1] * right
    between: float = upper * (1.0 - down) + lower * down
    return between


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _weight(distance: float) -> float:
    distance = abs(distance)
    if distance < 1.0:
        return (1.5 * distance - 2.5) * distance * distance + 1.0
    if distance < 2.0:
        return ((-0.5 * distance + 2.5) * distance - 4.0) * distance + 2.0
    return 0.0
