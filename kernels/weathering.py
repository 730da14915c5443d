"""Rock that breaks into loose material, where it is steeper than it can stand and where frost reaches it.

Thermal erosion after Musgrave, Kolb, Mace (1989), on two layers: what stands too high above the lowest of its eight
neighbours loses a part of that excess. The rock of a cell is measured against the ground of its neighbours, so scree
that gathers below a cliff holds its foot, and where weak strata give way below a strong one, that is left too steep and
follows: strong strata become ledges, weak ones slopes.

Frost cracks rock where the mean temperature comes near 0 °C (Hales & Roering 2007), the more the weaker and the wetter
it is, and less with the thickness of what lies on it, nearly as by the exponential law of soil production (Heimsath et
al. 1997).

Rates (kernels/rates.py) are factors on both, and mobility, too.

What breaks stays where it was, as loose material, so that the ground is as high as before. Slides (kernels/cascade.py)
carry it down.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, njit
from kernels.layers import WALL, Layer, check_layers
from kernels.materials import Materials, Moved, asked, ground_of, rock_at, thickness
from kernels.parameters import exact
from kernels.rates import MOBILITY, WEATHERING, Rates, flat, rate_of
from kernels.surface import STRIDE, WETNESS
from kernels.units import Celsius, CelsiusPerMetre, Metres

# °C of the air, in the mean of a cycle: above the first there is no frost, below the second there is most.
NO_FROST = 5.0
MOST_FROST = -5.0

# Under so many times the cover below which frost does a third it does nothing. (1 - d / 4)⁴ is near to the exponential
# law, and ends.
REACH = 4.0

# Rows that are worked on together
BAND = 32


class WeatheringParameters(NamedTuple):
    """How rock breaks in a cycle."""

    breaking: float  # part of what stands too high
    frost: Metres  # of bare, dry, weak rock where it is coldest
    frost_wetness: float  # how much more of soaked rock, as a part
    cover: Metres  # of loose material under which frost does a third of that
    temperature: Celsius  # at a height of 0
    lapse_rate: CelsiusPerMetre


_ASKED = ("kinds", "mix", "burden", "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_broken")

# What is asked of the materials; and the difference in height between two neighbours at which each rock stands, metres,
# with the least of these
_Rocks: Any = namedtuple("_Rocks", (*_ASKED, "stable", "least"))  # type: ignore[misc]


# What is found out of each cell of a row, with one more at each end
_LOWER = 0  # the lower one of the neighbours to the north and to the south
_GROUND = 1
_BESIDE = 2  # how far the rock stands above the lowest neighbour straight ahead
_ACROSS = 3  # and on the diagonals
_FROST = 4  # metres that frost breaks of the weakest rock
_FOUND = 5


@in_threads
def _find_faces(rock, north, same, south, found):
    """How far the rock of a row stands above the ground around; the others are rows of the ground."""
    lower, ground, beside, across = found[_LOWER], found[_GROUND], found[_BESIDE], found[_ACROSS]
    columns = np.uintp(len(rock))
    one = np.uintp(1)
    for j in range(columns):
        lower[j + one] = min(north[j], south[j])
        ground[j + one] = same[j]
    for j in range(columns):
        here, east = j + one, j + one + one
        beside[here] = rock[j] - min(lower[here], min(ground[j], ground[east]))
        across[here] = rock[j] - min(lower[j], lower[east])


@in_threads
def _find_frost(rock, cover, burden, row, surface, parameters, frost):
    """What frost breaks of the weakest rock, metres."""
    columns = len(rock)
    first = np.uintp(row * columns)
    for j in range(columns):
        lying = cover[j] + burden[first + np.uintp(j)] if len(burden) > 0 else cover[j]
        temperature = parameters.temperature - parameters.lapse_rate * rock[j]
        cold = min(max((NO_FROST - temperature) * (1.0 / (NO_FROST - MOST_FROST)), 0.0), 1.0)
        bare = max(1.0 - lying / (REACH * parameters.cover), 0.0)
        frost[j + 1] = parameters.frost * (cold * cold * (3.0 - 2.0 * cold)) * ((bare * bare) * (bare * bare))
    if len(surface) > 0:
        place = np.uintp(row * columns * STRIDE + WETNESS)
        for j in range(np.uintp(1), np.uintp(columns + 1)):
            frost[j] *= 1.0 + parameters.frost_wetness * surface[place]
            place += np.uintp(STRIDE)


@in_threads
def _break_row(row, bedrock, sediment, ground, found, parameters, rocks, rates, broken):
    """Break the rock of a row; add to `broken` [kind] how much there is more of each kind, in metres over one cell."""
    columns = len(bedrock)
    beside, across, frost = found[_BESIDE], found[_ACROSS], found[_FROST]
    diagonal = math.sqrt(2.0)
    least, least_across = rocks.least, rocks.least * diagonal
    for j in range(columns):
        if not (beside[j + 1] > least or across[j + 1] > least_across or frost[j + 1] > 0.0):
            continue
        height = bedrock[j]
        cell = row * columns + j
        rock = rock_at(rocks, cell, height)
        stable = rocks.stable[rock]
        excess = max(beside[j + 1] - stable, across[j + 1] - stable * diagonal, 0.0)
        if len(rates) > 0:
            pace = rate_of(rates, cell, WEATHERING) * rate_of(rates, cell, MOBILITY)
            broken_off = min(pace * parameters.breaking, 1.0) * excess
            bedrock[j] = height - (broken_off + pace * (rocks.rock_erodibility[rock] * frost[j + 1]))
        else:
            bedrock[j] = height - (parameters.breaking * excess + rocks.rock_erodibility[rock] * frost[j + 1])
        lost = height - bedrock[j]  # as far as numbers of this size can tell
        if not lost > 0.0:
            continue
        kind = rocks.rock_broken[rock]
        rocks.mix[cell * rocks.kinds + kind] += lost
        sediment[j] = thickness(rocks, cell)
        broken[kind] += lost
        ground[j] = ground_of(rocks.burden, cell, bedrock[j], sediment[j])


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _weather(bedrock, sediment, ground, parameters, rocks, surface, rates, broken):
    rows, columns = ground.shape
    bands = (rows + BAND - 1) // BAND
    # [band]: the ground of its first row, and of its last one; in a band rows follow each other
    before = np.empty((bands, 2, columns))
    for band in prange(bands):
        before[band, 0] = ground[band * BAND]
        before[band, 1] = ground[min((band + 1) * BAND, rows) - 1]
    for unsigned_band in prange(bands):
        band = np.int64(unsigned_band)
        begin, end = band * BAND, min((band + 1) * BAND, rows)
        found = np.zeros((_FOUND, columns + 2))
        found[:_BESIDE] = WALL
        for row in range(begin, end):
            # Beyond the map's edges a cell finds its own row again.
            north = ground[max(row - 1, 0)] if row > begin or band == 0 else before[band - 1, 1]
            south = ground[min(row + 1, rows - 1)] if row + 1 < end or end == rows else before[band + 1, 0]
            _find_faces(bedrock[row], north, ground[row], south, found)
            if parameters.frost > 0.0:
                _find_frost(bedrock[row], sediment[row], rocks.burden, row, surface, parameters, found[_FROST])
            _break_row(row, bedrock[row], sediment[row], ground[row], found, parameters, rocks, rates, broken[band])


def weather(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    parameters: WeatheringParameters,
    surface: NDArray[np.float32] | None = None,
    rates: Rates | None = None,
) -> Moved:
    """Break rock into loose material where it lies, and change the map in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. `cell_size` is the side of a cell in
    metres. `surface` is what kernels/surface.py says, and `rates` what kernels/rates.py does, each [row, column, …].
    The same map gives the same bits on any number of threads.
    """
    check_layers(bedrock, sediment, ground)
    stable = materials.rock_steepest * cell_size
    broken = np.zeros(((len(ground) + BAND - 1) // BAND, materials.kinds))
    _weather(
        bedrock, sediment, ground,
        exact(parameters),
        _Rocks._make((*asked(materials, _ASKED), stable, float(stable.min()))),
        np.empty(0, np.float32) if surface is None else surface.reshape(-1),
        flat(rates),
        broken,
    )  # fmt: skip
    return Moved(from_rock=tuple(broken.sum(axis=0).tolist()))
