"""Sediment that running water drags along its bed.

After Meyer-Peter & Müller (1948): through each side of a cell goes, in m² of grains a second,

    q = 8 √(R g D³) · (θ − θ_c)^1.5     θ = n² u² / (R D h^(1/3)),   θ_c = 0.047,   R = 1.65

for grains of the size D, water of the depth h and the speed u, and Manning's roughness n. All kinds go alike, by their
part in the bed and their erodibility. What more goes from a cell than comes to it lowers it, and the other way round
(Exner 1925). Only loose material moves, never more than there is, and never more in one go than a part of the depth of
the water: so beds neither swing nor rise through the water. First all cells give, then all take, each from its
neighbours in the order of the map: no order of threads shows.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.floods import FILM, GRAVITY, Speeds, check_speeds
from kernels.layers import Layer, check_layers
from kernels.loads import dig, sum_up
from kernels.materials import Materials, Moved, asked, thickness
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.units import Metres, Roughness, Seconds

_HEAVIER = 1.65  # R: how much heavier than water grains are
_CRITICAL = 0.047  # θ_c
_PACKED = 0.6  # part of a bed that is grains
_EAST, _SOUTH, _WEST, _NORTH = range(4)  # sides of a cell
_PART = 0.1  # of the depth of the water, by which a bed changes at most in one go

_ASKED = ("kinds", "mix", "erodibility", "burden", "strata", "steps_per_metre", "rise", "rock_worn")
_FIELDS = (*_ASKED, "rates", "bedrock", "sediment", "ground")
_Land: Any = namedtuple("_Land", _FIELDS)  # type: ignore[misc]


class BedLoadParameters(NamedTuple):
    """How water drags grains."""

    seconds: Seconds
    roughness: Roughness
    grain_size: Metres
    finer: float  # how many cells are as long as one of the reference


@inlined
def _drag(fast, root, parameters):
    """What goes out through a metre of a side, in m³ of the bed a second, of water that runs out there so `fast`.

    `root` is the cube root of its depth.
    """
    if not fast > 0.0:
        return 0.0
    grain = parameters.grain_size
    over = (parameters.roughness * fast) ** 2 / (_HEAVIER * grain * root) - _CRITICAL
    if over <= 0.0:
        return 0.0
    return 8.0 * math.sqrt(_HEAVIER * GRAVITY * grain**3) * (over * math.sqrt(over)) / _PACKED


@inlined
def _dig_cell(land, row, column, depth, east, south, cell_size, parameters, limit, taken, shares, none):
    """Dig what the water drags off a cell. `taken` [cell × kind] becomes what it is, `shares` [cell × side] which part
    of it goes where. `limit` is the part of what may go at most that goes in cells so wide.

    Returns whether anything goes.
    """
    here = depth[row, column]
    if not here > FILM:
        return False
    fast_east, fast_south = np.float64(east[row, column]), np.float64(south[row, column])
    fast_west = -np.float64(east[row, column - 1]) if column > 0 else 0.0
    fast_north = -np.float64(south[row - 1, column]) if row > 0 else 0.0
    fastest = max(max(fast_east, fast_west), max(fast_south, fast_north))
    if not fastest > 0.0:
        return False
    # θ > θ_c without a root, with room for what it rounds
    drag = (parameters.roughness * fastest) ** 2 / (_HEAVIER * _CRITICAL * parameters.grain_size)
    if drag * drag * drag < 0.999 * here:
        return False
    root = here ** (1.0 / 3.0)
    to_east, to_south = _drag(fast_east, root, parameters), _drag(fast_south, root, parameters)
    to_west, to_north = _drag(fast_west, root, parameters), _drag(fast_north, root, parameters)
    total = (to_east + to_west) + (to_south + to_north)
    if not total > 0.0:
        return False
    cell = row * depth.shape[1] + column
    own = cell * land.kinds
    loose = thickness(land, cell)
    if not loose > 0.0:
        return False
    ease = 0.0
    for kind in range(land.kinds):
        ease += land.erodibility[kind] * land.mix[own + kind] / loose
    ease *= rate_of(land.rates, cell, ERODIBILITY) * rate_of(land.rates, cell, MOBILITY)
    volume = min(ease * total * parameters.seconds / cell_size, limit * min(loose, _PART * here))
    if not volume > 0.0:
        return False
    for kind in range(land.kinds):
        taken[own + kind] = 0.0
    dig(land, cell, volume, taken, own, none)
    shares[4 * cell + _EAST], shares[4 * cell + _SOUTH] = to_east / total, to_south / total
    shares[4 * cell + _WEST], shares[4 * cell + _NORTH] = to_west / total, to_north / total
    return True


@inlined
def _take(shares, taken, cell, side, kinds, comes):
    """Add what goes from a cell through a side to what `comes` [kind]."""
    share = shares[4 * cell + side]
    if share > 0.0:
        for kind in range(kinds):
            comes[kind] += share * taken[cell * kinds + kind]


@inlined
def _lay_cell(land, row, column, rows, columns, taken, shares, goes, comes):
    """Lay on a cell what comes from its neighbours, in the order of the map, and what protected ones do not take."""
    cell, kinds = row * columns + column, land.kinds
    north, west, east, south = row > 0, column > 0, column < columns - 1, row < rows - 1
    # Mostly nothing comes: that is seen without a branch for each neighbour, and no rate is looked at.
    beside = goes[np.uintp(cell - west)] | goes[np.uintp(cell + east)]
    if not (
        goes[np.uintp(cell)] | beside | goes[np.uintp(cell - north * columns)] | goes[np.uintp(cell + south * columns)]
    ):
        return
    is_open = rate_of(land.rates, cell, MOBILITY) != 0.0
    from_north, from_west = is_open and north and goes[cell - columns], is_open and west and goes[cell - 1]
    from_east, from_south = is_open and east and goes[cell + 1], is_open and south and goes[cell + columns]
    if not (from_north or from_west or goes[cell] or from_east or from_south):
        return
    for kind in range(kinds):
        comes[kind] = 0.0
    if from_north:
        _take(shares, taken, cell - columns, _SOUTH, kinds, comes)
    if from_west:
        _take(shares, taken, cell - 1, _EAST, kinds, comes)
    if goes[cell]:
        if east and rate_of(land.rates, cell + 1, MOBILITY) == 0.0:
            _take(shares, taken, cell, _EAST, kinds, comes)
        if south and rate_of(land.rates, cell + columns, MOBILITY) == 0.0:
            _take(shares, taken, cell, _SOUTH, kinds, comes)
        if west and rate_of(land.rates, cell - 1, MOBILITY) == 0.0:
            _take(shares, taken, cell, _WEST, kinds, comes)
        if north and rate_of(land.rates, cell - columns, MOBILITY) == 0.0:
            _take(shares, taken, cell, _NORTH, kinds, comes)
    if from_east:
        _take(shares, taken, cell + 1, _WEST, kinds, comes)
    if from_south:
        _take(shares, taken, cell + columns, _NORTH, kinds, comes)
    for kind in range(kinds):
        land.mix[cell * kinds + kind] += comes[kind]
    sum_up(land, cell)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _carry(
    land: Any, depth: Any, east: Any, south: Any, cell_size: float, parameters: Any, taken: Any, shares: Any, goes: Any,
    moved: Any,
) -> Any:  # fmt: skip
    """Move what a cycle drags; `moved` [kind] becomes what left the map, in metres over one cell.

    `taken` [cell × kind], `shares` [cell × side] and `goes` [cell] are memory to work in.
    """
    rows, columns = depth.shape
    limit = min(1.0, parameters.finer)
    for row in prange(rows):
        none = np.zeros(land.kinds)
        for column in range(columns):
            goes[row * columns + column] = _dig_cell(
                land, row, column, depth, east, south, cell_size, parameters, limit, taken, shares, none
            )
    for row in prange(rows):
        comes = np.zeros(land.kinds)
        for column in range(columns):
            _lay_cell(land, row, column, rows, columns, taken, shares, goes, comes)
    for row in range(rows):  # what leaves the map, over its eastern and southern edges
        for cell in range(row * columns + (columns - 1 if row < rows - 1 else 0), (row + 1) * columns):
            if cell == (row + 1) * columns - 1 and goes[cell]:
                _take(shares, taken, cell, _EAST, land.kinds, moved)
            if row == rows - 1 and goes[cell]:
                _take(shares, taken, cell, _SOUTH, land.kinds, moved)


def carry(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    water: Layer,
    east: Speeds,
    south: Speeds,
    parameters: BedLoadParameters,
    rates: Rates | None = None,
    scratch: Scratch | None = None,
) -> Moved:
    """Let water drag grains along its bed for some seconds, and change the ground in place.

    Layers are as other kernels that move sediment take them; `water`, `east` and `south` are those of
    `kernels.floods.run`. `scratch` is that of a step that has begun.
    """
    check_layers(bedrock, sediment, ground, water)
    check_speeds(east, south)
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    scratch = scratch or Scratch()
    taken, shares = scratch.empty(water.size * materials.kinds), scratch.empty(4 * water.size)
    goes = scratch.empty(water.size, np.bool_)
    off_map: NDArray[np.float64] = np.zeros(materials.kinds)
    # In one go grains come no farther than the next cell, so that finer ones take several.
    goes_at = max(1, math.ceil(parameters.finer - 1e-9))
    parameters = parameters._replace(seconds=parameters.seconds / goes_at, finer=float(parameters.finer))
    for _ in range(goes_at):
        _carry(land, water, east, south, float(cell_size), parameters, taken, shares, goes, off_map)
    return Moved(off_map=tuple(off_map.tolist()))
