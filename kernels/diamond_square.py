"""Terrain by midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

from __future__ import annotations

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.random import process_number, stream, uniform
from kernels.sampling import NATIVE, Sampling

_PROCESS = process_number("diamond-square")


@njit(nogil=True, cache=True)
def _displacement(key, row, column, side, reach):
    """That of a point: a land of `side`² of them has its own numbers, and others go on around it."""
    if 0 <= row < side and 0 <= column < side:
        number = row * side + column
    else:
        number = ((row + (1 << 30)) << 31) + (column + (1 << 30))
    return reach * (2.0 * uniform(key, number) - 1.0)


@njit(nogil=True, cache=True, parallel=True)
def _subdivide(heights, key, roughness, step, reach, north, west, own):
    """Fill a square of cells, of which every `step`-th is set.

    The first cell is the point (north, west) of a land of `own`² points.
    """
    side = len(heights)
    while step > 1:
        half = step // 2
        reach *= roughness
        squares = (side - 1) // step
        # Diamond: the centre of each square from its four corners
        for i in prange(squares):
            above, row, below = i * step, i * step + half, i * step + step
            for left in range(0, side - 1, step):
                right, column = left + step, left + half
                corners = heights[above, left] + heights[above, right] + heights[below, left] + heights[below, right]
                heights[row, column] = 0.25 * corners + _displacement(key, north + row, west + column, own, reach)
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
                heights[row, column] = total / count + _displacement(key, north + row, west + column, own, reach)
        step = half
    return reach


def diamond_square(
    rows: int,
    columns: int,
    seed: int,
    roughness: float = 0.55,
    sampling: Sampling = NATIVE,
    land: tuple[int, int] | None = None,
    corners: tuple[float, ...] = (),
) -> NDArray[np.float64]:
    """Heights float64 [row, column] around 0, by the diamond-square algorithm (Fournier, Fussell, Carpenter 1982).

    Four corners, those that are given or uniform in [-1, 1]; then iteration i = 1, 2, … adds to each new point a number
    uniform in [-R^i, R^i], where R is `roughness`, in (0, 1). Made on the smallest square of (2^n + 1)² cells that
    holds the `land`, which is the map, if not given, and cropped to its north-west corner. A point's number depends on
    its place, not on the order or the number of threads. `corners` are the heights of the square's own: north-west,
    north-east, south-west and south-east.

    Smaller cells of `sampling` have the same points with more iterations between them, and lie between these points.
    Beyond the land, more squares of the same size lie around its own.
    """
    land = land or (rows, columns)
    size = 2
    while size + 1 < max(land):
        size *= 2
    key = np.uint64(stream(int(seed), _PROCESS, 0))
    if sampling == NATIVE and land == (rows, columns):
        return _points(size, key, float(roughness), 0, 1, corners)[0][:rows, :columns].copy()
    last = [(count - 1) * sampling.cell + start for count, start in zip((rows, columns), sampling[1:], strict=True)]
    before = max(0, math.ceil(-(min(sampling[1:]) + 0.5) / size))  # squares
    after = max(1, math.ceil((max(last) - 0.5) / size))
    points, reach = _points(size, key, float(roughness), before, before + after, corners)
    finer = max(0, math.floor(math.log2(1.0 / sampling.cell) + 1e-9))
    for iteration in range(1, finer + 1):
        wide = np.zeros((2 * len(points) - 1,) * 2)
        wide[::2, ::2] = points
        key = np.uint64(stream(int(seed), _PROCESS, iteration))
        first = -before * size << iteration
        reach = _subdivide(wide, key, float(roughness), 2, reach, first, first, (size << iteration) + 1)
        points = wide
    places = [
        (np.arange(count, dtype=np.float64) * sampling.cell + start + before * size) * 2.0**finer
        for count, start in zip((rows, columns), sampling[1:], strict=True)
    ]
    return _between(points, *places)


def _points(
    size: int, key: np.uint64, roughness: float, before: int, squares: int, corners: tuple[float, ...]
) -> tuple[NDArray[np.float64], float]:
    """The points of `squares`² squares, `before` of them before the land's own on each axis; the last displacement."""
    side = size * squares + 1
    first = -before * size
    heights = np.empty((side, side))
    for row in range(0, side, size):
        for column in range(0, side, size):
            heights[row, column] = _displacement(key, first + row, first + column, size + 1, 1.0)
    if corners:
        own = slice(before * size, (before + 1) * size + 1, size)
        heights[own, own] = np.reshape(corners, (2, 2))
    reach = _subdivide(heights, key, roughness, size, 1.0, first, first, size + 1)
    return heights, float(reach)


def _between(points: NDArray[np.float64], south: NDArray[np.float64], east: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bilinear interpolation between points, [row, column], constant beyond the outer ones."""
    most = len(points) - 1.0
    south, east = np.clip(south, 0.0, most), np.clip(east, 0.0, most)
    row, column = (np.minimum(where.astype(np.intp), len(points) - 2) for where in (south, east))
    down, along = (south - row)[:, None], east - column
    rows = points[row] * (1.0 - down) + points[row + 1] * down
    heights: NDArray[np.float64] = rows[:, column] * (1.0 - along) + rows[:, column + 1] * along
    return heights
