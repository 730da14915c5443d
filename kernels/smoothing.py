"""The binomial blur: each cell becomes a mean of itself and its neighbours, and nothing is lost."""

from __future__ import annotations

import numpy as np
from numba import prange

from kernels.compiling import njit
from kernels.layers import Layer
from kernels.rates import Rates


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _blur_rows(layer, free, result):
    """Weights ¼, ½, ¼ from west to east."""
    rows, columns = layer.shape
    for row in prange(rows):
        for column in range(columns):
            here = layer[row, column]
            west = layer[row, max(column - 1, 0)] - here
            east = layer[row, min(column + 1, columns - 1)] - here
            if len(free) > 0:
                west *= free[row, max(column - 1, 0)] * free[row, column]
                east *= free[row, min(column + 1, columns - 1)] * free[row, column]
            result[row, column] = here + 0.25 * (west + east)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _blur_columns(layer, blurred_rows, free, rate):
    """The same from north to south of what has been blurred from west to east; go the part `rate` of the way there."""
    rows, columns = layer.shape
    for row in prange(rows):
        north, south = max(row - 1, 0), min(row + 1, rows - 1)
        for column in range(columns):
            here = blurred_rows[row, column]
            from_north, from_south = blurred_rows[north, column] - here, blurred_rows[south, column] - here
            if len(free) > 0:
                from_north *= free[north, column] * free[row, column]
                from_south *= free[south, column] * free[row, column]
            around = from_north + from_south
            layer[row, column] += rate * ((here + 0.25 * around) - layer[row, column])


def smooth(layer: Layer, rate: float = 1.0, mobility: Rates | None = None) -> None:
    """Blur a layer, float64 [row, column] of 2×2 cells or more, in place: 3×3 weights (1 2 1; 2 4 2; 1 2 1) / 16.

    `rate` is how much of the blur is done, from 0 to 1. Beyond the map's edges a cell finds itself again. So what one
    cell takes on of its neighbour, the neighbour takes on of it: the sum stays as it was, up to rounding, and no value
    goes beyond the lowest and the highest of its neighbourhood, so that none becomes negative where none was. Rock and
    sediment are blurred one by one, which blurs the ground, their sum, just as much, and loses nothing of either.

    `mobility`, [row, column] from 0 to 1, of both neighbours is a factor on what they take on of each other.
    """
    blurred_rows = np.empty_like(layer)
    free = np.empty((0, 0), np.float32) if mobility is None else np.ascontiguousarray(mobility)
    _blur_rows(layer, free, blurred_rows)
    _blur_columns(layer, blurred_rows, free, float(rate))
