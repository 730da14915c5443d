"""Islands of cubic value noise under cosine cones, with cliffs at the coast, craters, and the floor of the sea.

After Talle 2020, "Simulating hydraulic erosion". A place has a height h from 0, the floor of the sea, to 1, the highest
point before craters are dug. The sea stands at h = `coast`.

    h = noise(x)^power · cone(x), over its largest value
    h ← h · (h / T)^cliff_power                 below a noisy threshold T: cliffs at the coast, and flats under the sea
    h ← T' − crater_slope · (h − T')            above a noisy threshold T': what stands above it is mirrored down

`elevation` turns h into parts of the relief with the sea at 0, and this is the only place that does: land rises from
0 at h = coast in proportion to h; the floor falls in the same way to the shelf at h = 0, and farther away from the
islands on to `ocean_depth`, where it is flat. The article's own heights are lengths: from cell to cell it is 0.1, the
sea is 0.5 deep, and the highest mountain stands about 3.2 above its floor; so `coast` is 0.5 / 3.2, its cliffs from 0.4
to 1.2 are 0.125 to 0.375, and one of its units of height is 10 cells (`scale` in kernels/snowballs.py).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange

from kernels.compiling import njit
from kernels.layers import Layer
from kernels.parameters import exact
from kernels.random import mix, process_number, stream, uniform
from kernels.sampling import FINEST, NATIVE, Sampling
from kernels.units import Cells, Height

_PROCESS = process_number("island")

# Streams of random numbers of noise, places and rotations
_PLACES, _TURNS, _CLIFFS, _CRATERS, _FIRST_OCTAVE = range(5)

# Between octaves, so that their grids never line up: the golden angle.
_TURN = math.pi * (3.0 - math.sqrt(5.0))

# How many places each island of an archipelago is chosen from.
_CANDIDATES = 24


class IslandParameters(NamedTuple):
    """Parameters of islands."""

    wavelength: Cells  # of the first octave
    octaves: int
    lacunarity: float  # how much finer each octave is than the one before
    gain: float  # how strong it is beside the one before
    power: float  # exponent of the noise: higher values make lower plains and steeper peaks
    cone_power: float  # higher values make broader islands with steeper coasts
    coast: Height  # at which the sea stands
    cliffs: bool
    cliff_low: Height  # the lowest and the highest threshold of cliffs
    cliff_high: Height
    cliff_wavelength: Cells
    cliff_power: float
    craters: bool
    crater_threshold: Height
    crater_unevenness: Height  # between the lowest and the highest threshold of craters
    crater_wavelength: Cells
    crater_slope: float  # of the inner side of a crater beside the mountain's own
    ocean_depth: float  # parts of the relief
    floor_reach: float  # how far the floor slopes, beside the radius of an island


class Cone(NamedTuple):
    """Where an island stands: in parts of the map's width and height, and of half of them for its radius."""

    east: float
    south: float
    radius: float


def places(number: int, size: float, spread: float, variation: float, seed: int) -> list[Cone]:
    """The cones of `number` islands: the first is the largest, in the middle where it is the only one.

    `size` is the radius of the largest, `variation` how much smaller others may be, `spread` how far from the middle
    they lie, where 1 is as far as the map goes. Each takes of some random places the one that is farthest from the
    others' coasts (Mitchell 1991).
    """
    key = np.uint64(stream(int(seed), _PROCESS, _PLACES))
    draws = iter(range(number * (2 * _CANDIDATES + 1)))

    def draw() -> float:
        return float(uniform(key, next(draws)))

    cones: list[Cone] = []
    for island in range(number):
        radius = size * (1.0 - variation * draw() if island else 1.0)
        farthest = 0.5 * max(0.0, 1.0 - radius) if number > 1 else 0.0  # so that it stays on the map
        best, best_gap = Cone(0.5, 0.5, radius), -math.inf
        for _ in range(_CANDIDATES):
            # Evenly over an ellipse
            away, angle = min(0.5 * spread * math.sqrt(draw()), farthest), 2.0 * math.pi * draw()
            cone = Cone(0.5 + away * math.cos(angle), 0.5 + away * math.sin(angle), radius)
            gaps = (
                2.0 * math.hypot(cone.east - other.east, cone.south - other.south) - other.radius for other in cones
            )
            gap = min(gaps, default=0.0)
            if gap > best_gap:
                best, best_gap = cone, gap
        cones.append(best)
    return cones


@njit(nogil=True, cache=True, error_model="numpy")
def _lattice(key, first_row, first_column, rows, columns):
    """Random values from 0 to 1 at the corners of a part of the plane."""
    values = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            word = np.uint64(first_row + i) * np.uint64(0x9E3779B97F4A7C15)
            word += np.uint64(first_column + j) * np.uint64(0xC2B2AE3D27D4EB4F)
            values[i, j] = np.float64(mix(key ^ word) >> np.uint64(11)) / 9007199254740992.0
    return values


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _cubic(a, b, c, d, x):
    """The article's cubic through b (x = 0) and c (x = 1), with slopes c − a and d − b there."""
    p = (d - c) - (a - b)
    return ((p * x + (a - b - p)) * x + (c - a)) * x + b


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _add_noise(total, values, frequency, cosine, sine, row_shift, column_shift, amplitude, level, cell, south, east):
    """Add an octave of cubic value noise, from −½ to 1½ at the most, halved and raised to 0 to 1, over a level."""
    rows, columns = total.shape
    for row in prange(rows):
        for column in range(columns):
            down, along = row * cell + south, column * cell + east
            y = frequency * (cosine * down + sine * along) + row_shift
            x = frequency * (cosine * along - sine * down) + column_shift
            i, j = int(y), int(x)
            y -= i
            x -= j
            value = _cubic(
                _cubic(values[i, j], values[i, j + 1], values[i, j + 2], values[i, j + 3], x),
                _cubic(values[i + 1, j], values[i + 1, j + 1], values[i + 1, j + 2], values[i + 1, j + 3], x),
                _cubic(values[i + 2, j], values[i + 2, j + 1], values[i + 2, j + 2], values[i + 2, j + 3], x),
                _cubic(values[i + 3, j], values[i + 3, j + 1], values[i + 3, j + 2], values[i + 3, j + 3], x),
                y,
            )
            total[row, column] += amplitude * (min(max(0.25 + 0.5 * value, 0.0), 1.0) - level)


def cubic_noise(
    rows: int,
    columns: int,
    seed: int,
    first: int,
    wavelength: float,
    octaves: int,
    lacunarity: float,
    gain: float,
    sampling: Sampling = NATIVE,
) -> Layer:
    """Octaves of cubic value noise, float64 [row, column] in [0, 1], 0.5 on average (Talle 2017).

    `wavelength` is the distance in cells between the random values of the first octave; each one is `lacunarity` times
    finer and `gain` times as strong as the one before, and turned against it. What is finer than two cells is left
    out. `first` tells different noises of one seed apart. Lengths are in the reference cells of `sampling`; smaller
    cells show more octaves, around the same means.
    """
    total = np.zeros((int(rows), int(columns)))
    sum_of_amplitudes = float(np.sum(float(gain) ** np.arange(octaves)))
    turn = 2.0 * math.pi * float(uniform(np.uint64(stream(int(seed), _PROCESS, _TURNS)), first))
    finer = sampling.finer_octaves(wavelength / lacunarity ** (octaves - 1), octaves, lacunarity)
    for octave in range(octaves + finer):
        key = np.uint64(stream(int(seed), _PROCESS, first + octave))
        amplitude = float(gain) ** octave / sum_of_amplitudes
        frequency = float(lacunarity) ** octave / float(wavelength)
        if frequency * sampling.cell * FINEST > 1.0:
            total += 0.5 * amplitude
            continue
        angle = turn + _TURN * octave
        cosine, sine = math.cos(angle), math.sin(angle)
        north, west = sampling.south, sampling.east
        south, east = (rows - 1.0) * sampling.cell + north, (columns - 1.0) * sampling.cell + west
        corners = [(north, west), (south, west), (north, east), (south, east)]
        down = [frequency * (cosine * row + sine * column) for row, column in corners]
        across = [frequency * (cosine * column - sine * row) for row, column in corners]
        # Anywhere on the plane, but the same place for each size of the map.
        row_shift, column_shift = (1000.0 * float(uniform(key, index)) for index in (0, 1))
        first_row, first_column = math.floor(min(down) + row_shift), math.floor(min(across) + column_shift)
        values = _lattice(
            key,
            first_row,
            first_column,
            math.floor(max(down) + row_shift) - first_row + 5,
            math.floor(max(across) + column_shift) - first_column + 5,
        )
        shifts = row_shift - first_row, column_shift - first_column
        level = 0.5 if octave >= octaves else 0.0
        _add_noise(total, values, frequency, cosine, sine, *shifts, amplitude, level, *map(float, sampling))
    return np.clip(total, 0.0, 1.0, out=total) if finer else total


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _cover_with_cones(heights, floor, cones, power, cone_power, floor_reach, land, cell, south, east):
    """Raise the noise to its power and bring it down to 0 where no island is; `floor` is 1 at islands and 0 far out."""
    rows, columns = heights.shape
    land_rows, land_columns = land
    for row in prange(rows):
        for column in range(columns):
            outside = far_out = 1.0
            for k in range(len(cones)):
                along = (column * cell + east + 0.5) / land_columns - cones[k, 0]
                down = (row * cell + south + 0.5) / land_rows - cones[k, 1]
                away = 2.0 * math.sqrt(along * along + down * down) / cones[k, 2]
                if away < floor_reach:
                    far_out *= 1.0 - (0.5 + 0.5 * math.cos(math.pi * away / floor_reach))
                    if away < 1.0:
                        outside *= 1.0 - (0.5 + 0.5 * math.cos(math.pi * away**cone_power))
            heights[row, column] = heights[row, column] ** power * (1.0 - outside)
            floor[row, column] = 1.0 - far_out


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _cut_cliffs(heights, threshold, low, high, power):
    rows, columns = heights.shape
    for row in prange(rows):
        for column in range(columns):
            h = heights[row, column]
            cliff = low + (high - low) * threshold[row, column]
            if h < cliff:
                heights[row, column] = h * (h / cliff) ** power


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _dig_craters(heights, noise, threshold, unevenness, slope, coast):
    rows, columns = heights.shape
    for row in prange(rows):
        for column in range(columns):
            h = heights[row, column]
            rim = max(coast, threshold + unevenness * (noise[row, column] - 0.5))
            if h > rim:
                heights[row, column] = max(0.0, rim - slope * (h - rim))


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _to_elevation(heights, floor, highest, coast, ocean_depth):
    """In place, from h, which is `highest` at the highest point, to parts of the relief, as told at the top."""
    rows, columns = heights.shape
    rise = (1.0 - ocean_depth) / (highest - coast)
    shelf = min(rise * coast, ocean_depth)
    for row in prange(rows):
        for column in range(columns):
            h = heights[row, column]
            if h >= coast:
                heights[row, column] = rise * (h - coast)
            else:
                deep = shelf + (ocean_depth - shelf) * (1.0 - floor[row, column])
                heights[row, column] = -deep * (1.0 - h / coast)


class Summits(NamedTuple):
    """The highest points of a land: of what lies under the cones, and of h after cliffs were cut and craters dug."""

    under_cones: float
    after_craters: float


class Land(NamedTuple):
    """The components of an island, and the reference cells of its cones."""

    seed: int
    cones: list[Cone]
    parameters: IslandParameters
    rows: int
    columns: int


def find_summits(rows: int, columns: int, land: Land, sampling: Sampling = NATIVE) -> Summits:
    """The summits that such cells show."""
    return _heights(rows, columns, land, sampling, None)[2]


def _heights(
    rows: int, columns: int, land: Land, sampling: Sampling, summits: Summits | None
) -> tuple[Layer, Layer, Summits]:
    """h, the floor of the sea, and the summits by which they are measured: their own, if none are given."""
    p, seed = exact(land.parameters), land.seed
    heights = cubic_noise(rows, columns, seed, _FIRST_OCTAVE, p.wavelength, p.octaves, p.lacunarity, p.gain, sampling)
    floor = np.empty_like(heights)
    table = np.array(land.cones, np.float64).reshape(-1, 3)
    where = (land.rows, land.columns), *map(float, sampling)
    _cover_with_cones(heights, floor, table, p.power, p.cone_power, p.floor_reach, *where)
    highest = summits.under_cones if summits else float(heights.max())
    if highest > 0.0:
        heights /= highest
    if p.cliffs:
        noise = cubic_noise(rows, columns, seed, _CLIFFS, p.cliff_wavelength, 1, 1.0, 1.0, sampling)
        _cut_cliffs(heights, noise, p.cliff_low, p.cliff_high, p.cliff_power)
    if p.craters:
        noise = cubic_noise(rows, columns, seed, _CRATERS, p.crater_wavelength, 1, 1.0, 1.0, sampling)
        rim = p.crater_threshold, p.crater_unevenness
        _dig_craters(heights, noise, *rim, p.crater_slope, p.coast)
    return heights, floor, summits or Summits(highest, float(heights.max()))


def elevation(
    rows: int,
    columns: int,
    seed: int,
    cones: list[Cone],
    parameters: IslandParameters,
) -> Layer:
    """Elevations float64 [row, column] of a map that shows all of a land in its reference cells, see `elevation_of`."""
    return elevation_of(rows, columns, Land(seed, cones, parameters, rows, columns))


def elevation_of(
    rows: int, columns: int, land: Land, sampling: Sampling = NATIVE, summits: Summits | None = None
) -> Layer:
    """Elevations float64 [row, column] as parts of the relief, with the sea at 0: from −ocean_depth to 1 − ocean_depth.

    Where the floor of the sea slopes on to the map's edges, the lowest point is higher. Where the sea covers all, even
    the highest one lies below 0. The same bits on any number of threads.

    Heights are measured by `summits`, or by the highest points of these cells, if none are given.
    """
    p = exact(land.parameters)
    heights, floor, summits = _heights(int(rows), int(columns), land, sampling, summits)
    highest = summits.after_craters
    if highest <= p.coast:
        highest = 1.0  # no land: depth as beside land
    _to_elevation(heights, floor, highest, p.coast, p.ocean_depth)
    return heights
