"""Terrain by midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.random import process_number, stream, uniform

_PROCESS = process_number("diamond-square")


@njit(nogil=True, cache=True)
def _displacement(key, cell, reach):
    return reach * (2.0 * uniform(key, cell) - 1.0)


@njit(nogil=True, cache=True, parallel=True)
def _subdivide(heights, key, roughness):
    """Fill a square of (2^n + 1)² cells whose corners are set."""
    side = len(heights)
    step = side - 1
    reach = 1.0
    while step > 1:
        half = step // 2
        reach *= roughness
        squares = (side - 1) // step
        # Diamond: the centre of each square from its four corners
        for i in prange(squares):
            north, row, south = i * step, i * step + half, i * step + step
            for west in range(0, side - 1, step):
                east, column = west + step, west + half
                corners = heights[north, west] + heights[north, east] + heights[south, west] + heights[south, east]
                heights[row, column] = 0.25 * corners + _displacement(key, row * side + column, reach)
        # Square: the middle of each side from its two ends and the centres beside it, of which the map's edge has one
        for k in prange(2 * squares + 1):
            row = k * half
            for column in range(half if k % 2 == 0 else 0, side, step):
                total = 0.0
                count = 0
                if row >= half:
                    total += heights[row - half, column]
                    count += 1
                if row + half < side:
                    total += heights[row + half, column]
                    count += 1
                if column >= half:
                    total += heights[row, column - half]
                    count += 1
                if column + half < side:
                    total += heights[row, column + half]
                    count += 1
                heights[row, column] = total / count + _displacement(key, row * side + column, reach)
        step = half


def diamond_square(rows: int, columns: int, seed: int, roughness: float = 0.55) -> NDArray[np.float64]:
    """Heights float64 [row, column] around 0, by the diamond-square algorithm (Fournier, Fussell, Carpenter 1982).

    Four corners, uniform in [-1, 1]; then iteration i = 1, 2, … adds to each new point a number uniform in [-R^i, R^i],
    where R is `roughness`, in (0, 1). Made on the smallest square of (2^n + 1)² cells that holds the map, and cropped
    to its north-west corner. A point's number depends on its place, not on the order or the number of threads.
    """
    side = 2
    while side + 1 < max(rows, columns):
        side *= 2
    side += 1
    key = np.uint64(stream(int(seed), _PROCESS, 0))
    heights = np.empty((side, side))
    for row in (0, side - 1):
        for column in (0, side - 1):
            heights[row, column] = 2.0 * uniform(key, row * side + column) - 1.0
    _subdivide(heights, key, float(roughness))
    return heights[:rows, :columns].copy()
