"""Fractal terrain from gradient noise."""

from __future__ import annotations

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.random import mix, process_number, stream, uniform
from kernels.sampling import NATIVE, Sampling

_PROCESS = process_number("noise")

# Simplex grid: squares sheared into equilateral triangles, and back.
_SHEAR = (math.sqrt(3.0) - 1.0) / 2.0
_UNSHEAR = (3.0 - math.sqrt(3.0)) / 6.0
# Makes the largest possible value 1: it lies in the middle of a triangle's side, with both gradients pointing inwards.
_SCALE = 99.2

_GRADIENTS = 256
_GRADIENT_X = np.cos(2.0 * np.pi * np.arange(_GRADIENTS) / _GRADIENTS)
_GRADIENT_Y = np.sin(2.0 * np.pi * np.arange(_GRADIENTS) / _GRADIENTS)

# The mean of (1 - |simplex noise|)²
_MEAN_RIDGE = 0.357

# Between octaves, so that their grids never line up: the golden angle.
_TURN = math.pi * (3.0 - math.sqrt(5.0))


@njit(nogil=True, cache=True, error_model="numpy")
def _corner(key, i, j, x, y):
    """Contribution of the grid corner (i, j) at the offset (x, y)."""
    fade = 0.5 - x * x - y * y
    if fade <= 0.0:
        return 0.0
    word = np.uint64(i) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(j) * np.uint64(0xC2B2AE3D27D4EB4F)
    direction = mix(key ^ word) >> np.uint64(56)
    fade *= fade
    return fade * fade * (_GRADIENT_X[direction] * x + _GRADIENT_Y[direction] * y)


@njit(nogil=True, cache=True, error_model="numpy")
def simplex(key: np.uint64, x: float, y: float) -> float:
    """Simplex noise at (x, y), in [-1, 1]: smooth, about one hill to a unit of length, zero on average.

    Perlin 2001 with a hash for the gradients, in 256 directions: unlike noise on a square grid it favours none.
    """
    shear = (x + y) * _SHEAR
    i, j = math.floor(x + shear), math.floor(y + shear)
    unshear = (i + j) * _UNSHEAR
    x0, y0 = x - i + unshear, y - j + unshear
    # The triangle of the square's two
    right = 1 if x0 > y0 else 0
    x1, y1 = x0 - right + _UNSHEAR, y0 - (1 - right) + _UNSHEAR
    x2, y2 = x0 - 1.0 + 2.0 * _UNSHEAR, y0 - 1.0 + 2.0 * _UNSHEAR
    total = _corner(key, i, j, x0, y0)
    total += _corner(key, i + right, j + 1 - right, x1, y1)
    total += _corner(key, i + 1, j + 1, x2, y2)
    return _SCALE * total  # type: ignore[no-any-return]


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _fill(heights, keys, matrix, offset, gain, ridged, octaves, cell, south, east):
    """Each octave o has its own key and its own map, position -> matrix[o] @ (column, row) + offset[o].

    Octaves beyond `octaves` add detail around the sum of the others.
    """
    rows, columns = heights.shape
    total = (1.0 - gain**octaves) / (1.0 - gain) if gain != 1.0 else float(octaves)
    for row in prange(rows):
        for column in range(columns):
            height = 0.0
            amplitude = 1.0 / total
            weight = 1.0
            along, down = column * cell + east, row * cell + south
            for octave in range(len(keys)):
                x = matrix[octave, 0] * along - matrix[octave, 1] * down + offset[octave, 0]
                y = matrix[octave, 1] * along + matrix[octave, 0] * down + offset[octave, 1]
                value = simplex(keys[octave], x, y)
                finer = octave >= octaves
                if ridged:
                    # Detail grows on the ridges; the valleys stay smooth.
                    ridge = 1.0 - abs(value)
                    ridge *= ridge * weight
                    height += amplitude * (ridge - _MEAN_RIDGE * weight if finer else ridge)
                    weight = min(1.0, 2.0 * ridge)
                elif finer:
                    height += amplitude * 0.5 * value
                else:
                    height += amplitude * (0.5 + 0.5 * value)
                amplitude *= gain
            heights[row, column] = height


def fractal_noise(
    rows: int,
    columns: int,
    seed: int,
    wavelength_cells: float,
    octaves: int = 8,
    lacunarity: float = 2.0,
    gain: float = 0.5,
    ridged: bool = False,
    sampling: Sampling = NATIVE,
) -> NDArray[np.float64]:
    """Heights float64 [row, column] in [0, 1], 0.5 on average: octaves of simplex noise, each finer and weaker.

    `wavelength_cells` is the size of the largest hills in cells; each octave is `lacunarity` times finer and `gain`
    times as high as the one before. `ridged` makes sharp ridges with smooth valleys (Musgrave 1998), lower on average.
    The height of a cell depends on its position alone, not on the size of the map or the number of threads. Lengths are
    in the reference cells of `sampling`; smaller cells show more octaves, around the same means, and so leave [0, 1]
    by a little.
    """
    key = np.uint64(stream(int(seed), _PROCESS, 0))
    every = octaves + sampling.finer_octaves(wavelength_cells / lacunarity ** (octaves - 1), octaves, lacunarity)
    keys = np.array([stream(int(seed), _PROCESS, 1 + octave) for octave in range(every)], np.uint64)
    frequency = float(lacunarity) ** np.arange(every) / float(wavelength_cells)
    angle = 2.0 * np.pi * uniform(key, 0) + _TURN * np.arange(every)
    matrix = np.stack([frequency * np.cos(angle), frequency * np.sin(angle)], axis=1)
    offset = np.array([[uniform(key, 1 + 2 * octave), uniform(key, 2 + 2 * octave)] for octave in range(every)])
    heights = np.empty((int(rows), int(columns)))
    where = (float(part) for part in sampling)
    _fill(heights, keys, matrix, 1000.0 * offset, float(gain), bool(ridged), int(octaves), *where)
    return heights
