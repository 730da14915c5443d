"""Fine sediment that running water carries in suspension.

The bed gives what van Rijn (1984) measured, in metres of grains a second,

    0.00033 √(R g D) · D*^0.3 · (θ/θ_c − 1)^1.5     D* = D (R g / ν²)^(1/3)

for grains of the size D under the shear θ (see kernels/bed_load.py), and takes back what sinks to it: w c, for grains
that sink with w (Ferguson & Church 2004) and the concentration c at the bed, which is that of the whole depth times
1 + 31.5 (u*/w)^−1.46 (Parker, Fukushima & Pantin 1986, a fit to Rouse's profiles). What is carried goes with the water.
Only the kind that settles slowest is, from as much of the bed as it is a part of.

First each cell gives and takes, then all pass on what goes through their sides, some times in a cycle, so that nothing
passes more than a cell at once. Each cell is found of what was before: no order of threads shows.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange

from kernels.compiling import inlined, njit
from kernels.floods import FILM, GRAVITY, Speeds, check_speeds
from kernels.layers import Layer, check_layers
from kernels.loads import sum_up
from kernels.materials import Materials, asked, thickness
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.units import Metres, Roughness, Seconds

_HEAVIER = 1.65  # R: how much heavier than water grains are
_CRITICAL = 0.047  # θ_c
_PACKED = 0.6  # part of a bed that is grains
_VISCOSITY = 1e-6  # ν, m²/s
_DENSEST = 0.05  # part of the water that is bed, from where on it takes no more
_PART = 0.1  # of the depth of the water, by which a bed sinks at most in a cycle
_MOST_PASSES = 32  # in a cycle: faster water carries less far than it runs
_NEAREST_BED = 20.0  # concentration at the bed beside that of the whole depth, at most
_EAST, _SOUTH, _WEST, _NORTH = range(4)  # sides of a cell

_ASKED = ("kinds", "mix", "erodibility", "burden", "deposition", "strata", "steps_per_metre", "rise")
_Land: Any = namedtuple("_Land", (*_ASKED, "rates", "bedrock", "sediment", "ground"))  # type: ignore[misc]


class SuspensionParameters(NamedTuple):
    """How water carries fine grains."""

    seconds: Seconds
    roughness: Roughness
    suspended_size: Metres


class Suspended(NamedTuple):
    """What passed between bed and water, and what left the map, in metres over one cell."""

    taken: float
    settled: float
    off_map: float


def finest_kind(materials: Materials) -> int:
    """The number of the kind that settles slowest."""
    return int(np.argmin(materials.deposition))


@inlined
def _sinking(size):
    """How fast grains of a size sink, m/s (Ferguson & Church 2004)."""
    pull = _HEAVIER * GRAVITY * size * size
    return pull / (18.0 * _VISCOSITY + math.sqrt(0.75 * _HEAVIER * GRAVITY * size**3))


@inlined
def _exchange(land, cell, depth, fast, load, finest, sinks, parameters):
    """Let a cell give to its water and take from it. Returns what it has given and taken, metres."""
    carried = load[cell]
    ease = rate_of(land.rates, cell, MOBILITY)
    if ease == 0.0 or (carried == 0.0 and not fast > 0.0):
        return 0.0, 0.0
    own = cell * land.kinds + finest
    taken, settled = 0.0, carried
    if depth > FILM:
        shear = GRAVITY * (parameters.roughness * fast) ** 2 / depth ** (1.0 / 3.0)  # u*²
        nearer = min(1.0 + 31.5 * (sinks / math.sqrt(shear)) ** 1.46, _NEAREST_BED) if shear > 0.0 else _NEAREST_BED
        settled = carried * (1.0 - math.exp(-sinks * nearer * parameters.seconds / depth))
        size = parameters.suspended_size
        over = shear / (_HEAVIER * GRAVITY * size * _CRITICAL) - 1.0
        if over > 0.0:
            rough = size * (_HEAVIER * GRAVITY / (_VISCOSITY * _VISCOSITY)) ** (1.0 / 3.0)
            pace = 0.00033 * math.sqrt(_HEAVIER * GRAVITY * size) * rough**0.3 * over * math.sqrt(over) / _PACKED
            loose = thickness(land, cell)
            part = land.mix[own] / loose if loose > 0.0 else 0.0
            ease *= land.erodibility[finest] * rate_of(land.rates, cell, ERODIBILITY)
            room = max(_DENSEST * depth - (carried - settled), 0.0)
            taken = min(min(pace * ease * part * parameters.seconds, land.mix[own]), min(_PART * depth, room))
    if taken == 0.0 and settled == 0.0:
        return 0.0, 0.0
    load[cell] = carried - settled + taken
    land.mix[own] += settled - taken
    sum_up(land, cell)
    return taken, settled


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _carry(
    land: Any, depth: Any, east: Any, south: Any, load: Any, other: Any, cell_size: float, finest: int, sinks: float,
    parameters: Any, shares: Any, sums: Any,
) -> float:  # fmt: skip
    """Let water carry for a cycle. Returns what left the map; `sums` [row, (taken, settled, …)] are what passed."""
    rows, columns = depth.shape
    for row in prange(rows):
        fastest = 0.0
        for column in range(columns):
            cell = row * columns + column
            fast_east, fast_south = np.float64(east[row, column]), np.float64(south[row, column])
            fast_west = np.float64(east[row, column - 1]) if column > 0 else 0.0
            fast_north = np.float64(south[row - 1, column]) if row > 0 else 0.0
            fast = math.hypot(max(abs(fast_east), abs(fast_west)), max(abs(fast_south), abs(fast_north)))
            taken, settled = _exchange(land, cell, depth[row, column], fast, load, finest, sinks, parameters)
            sums[row, 0] += taken
            sums[row, 1] += settled
            wet = 1.0 if depth[row, column] > FILM else 0.0
            shares[4 * cell + _EAST], shares[4 * cell + _SOUTH] = wet * max(fast_east, 0.0), wet * max(fast_south, 0.0)
            shares[4 * cell + _WEST], shares[4 * cell + _NORTH] = (
                wet * max(-fast_west, 0.0),
                wet * max(-fast_north, 0.0),
            )
            leaving = (shares[4 * cell] + shares[4 * cell + 1]) + (shares[4 * cell + 2] + shares[4 * cell + 3])
            fastest = max(fastest, leaving)
            sums[row, 3] += load[cell]
        sums[row, 2] = fastest
    fastest, carried = 0.0, 0.0
    for row in range(rows):
        fastest = max(fastest, sums[row, 2])
        carried += sums[row, 3]
    if not carried > 0.0:
        return 0.0
    courant = fastest * parameters.seconds / cell_size
    passes = min(math.ceil(courant), _MOST_PASSES)
    if passes == 0:
        return 0.0
    step = min(parameters.seconds / passes, cell_size / fastest) / cell_size
    lost = 0.0
    for _ in range(passes):
        for row in prange(rows):
            for column in range(columns):
                cell = row * columns + column
                own = 4 * cell
                leaves = step * ((shares[own] + shares[own + 1]) + (shares[own + 2] + shares[own + 3]))
                now = load[cell] * max(1.0 - leaves, 0.0)
                if row > 0:
                    now += load[cell - columns] * (step * shares[4 * (cell - columns) + _SOUTH])
                if column > 0:
                    now += load[cell - 1] * (step * shares[4 * (cell - 1) + _EAST])
                if column < columns - 1:
                    now += load[cell + 1] * (step * shares[4 * (cell + 1) + _WEST])
                if row < rows - 1:
                    now += load[cell + columns] * (step * shares[4 * (cell + columns) + _NORTH])
                other[cell] = now
        for row in range(rows):
            lost += load[(row + 1) * columns - 1] * step * shares[4 * ((row + 1) * columns - 1) + _EAST]
        for cell in range((rows - 1) * columns, rows * columns):
            lost += load[cell] * step * shares[4 * cell + _SOUTH]
        for row in prange(rows):
            for column in range(columns):
                load[row * columns + column] = other[row * columns + column]
    return lost


def carry(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    water: Layer,
    east: Speeds,
    south: Speeds,
    load: Layer,
    parameters: SuspensionParameters,
    rates: Rates | None = None,
    scratch: Scratch | None = None,
) -> Suspended:
    """Let water take up fine sediment, carry it for some seconds, and lay it down; the ground changes in place.

    Layers are as `kernels.bed_load.carry` takes them; `load` is what water carries in each cell, in metres of the bed.
    """
    check_layers(bedrock, sediment, ground, water, load)
    check_speeds(east, south)
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    scratch = scratch or Scratch()
    other, shares = scratch.empty(water.size), scratch.empty(4 * water.size)
    finest = finest_kind(materials)
    sinks = float(_sinking(parameters.suspended_size) * min(float(materials.deposition[finest]), 1.0))
    sums = np.zeros((water.shape[0], 4))
    off_map = _carry(
        land, water, east, south, load.reshape(-1), other, float(cell_size), finest, sinks, parameters, shares, sums
    )
    return Suspended(float(sums[:, 0].sum()), float(sums[:, 1].sum()), float(off_map))
