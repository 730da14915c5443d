"""Hydraulic erosion by drops: they run downhill, erode, transport and deposit.

After McDonald 2020, "Simple particle-based hydraulic erosion", and the streams of his "Procedural hydrology" (2020) and
"Meandering rivers" (2023), on two layers (rock, and loose sediment on it) and in
metres. The article has heights h in [0, 1] and `scale` cells to one unit of height. Here a height is
H = h · scale · cell_size metres, so the slope of the ground is the true one, and as the exchange is proportional to
height, every formula and every rate stays as it was. Positions and speeds are in cells, as in the article.

A drop has volume V (1 at its start), velocity v and load m: metres of ground over one cell, so that concentration is
m / V. In each step of time t:

    v ← (v + t · n.xz / density) · (1 − t · friction)      n: unit normal of the ground, from central differences
    x ← x + t · v
    m ← m + t · deposition_rate · (V · c_eq − m)           c_eq = max(0, V · |v| · (H before − H after))
    V ← V · (1 − t · evaporation)

The maps of flowing water (`FLOW`) remember where drops went: `stream`, how many of the last cycles had a drop there;
`discharge`, how much water passed in a cycle; `momentum`, the same times its velocity. They act on the drops, if asked:
in a stream there is less friction and less evaporation, a slow drop that enters one ends, and a drop is turned by the
momentum m of the water that flows there, towards v + t · strength · cos(v, m) · m / (V + discharge): inertia that bends
rivers. A drop counts once for each cell that it leaves.

A drop ends where water stands. In a lake its water is put into `water`, from where it joins the lake; the sea takes it.
Its load settles where it enters, so deltas grow. A drop that comes to rest elsewhere leaves its water in `water` too,
if there are lakes at all. For a drop that enters a lake the ground ahead is the lake's surface: what goes on below it
wears no shore.

With `river_transport` k above 0 a drop knows the river that it is in: q drops of volume 1 pass there in a cycle, in the
mean or in the present one. What it carries settles on a way that grows with discharge (Davy & Lague 2009), so that
rivers carry out what slopes bring:

    m ← m + t · deposition_rate · (V · c_eq − m / (1 + k · q))

Then water also finds its way. Where a river (q > 1) runs against ground that does not fall, or a drop stands still, it
goes to the lowest cell beside it, out of a pit once its load has filled that; if it is not enough, it ends there. What
it carries into a lake settles up to the surface and no higher, and the rest goes on. A drop that leaves the map takes
loose sediment from its last cell as if the ground went on beyond it, so that no bar dams an outlet: rock there stays,
as the base level of the land.

Accelerations are those of a map whose cells have the side `reference_cell_size`, and a step takes as much less time as
cells are smaller, so that one of smaller cells, with as much water on an area in more and smaller drops, becomes the
same land. q counts drops of the reference.

Rates (kernels/rates.py) are factors of each cell: erodibility on what is taken in a step of time, so that no more than
all of the difference to the equilibrium is, evaporation on what goes to the air, and mobility on all exchange. So a
drop carries its load over protected ground, and puts down what it still has when it ends there as near as it can.

What is on the ground acts on the drops, too. Roots hold it: what is taken is less by the part root_hold · roots, and
what is put down by that times root_deposition: 1 as in the article, 0 where plants let settle what comes. Where
the ground soaks, a drop leaves t · soaking · (1 − wetness) of its volume in the moisture of each cell.

Where the ground is of several kinds, a load m is the sum of loads m_k, and x the part of the exchange above:

    taking, dug = m's gain:         m_k ← m_k + (e_k · s_k / s) · min(dug, s)     s_k: thickness of kind k, s: of all
      what it digs below s:         m_w ← m_w + e_r · rock_erodibility · (dug − s)    of the rock r, which becomes w
    putting down, x = m's loss / m: m_k ← m_k · (1 − min(1, d_k · x)),  x ≤ room / Σ d_k · m_k
    being moved by |t · v| cells:   m_k ← m_k · (1 − a_k · attrition · |t · v|), which becomes the kind worn[k]

with the erodibility e, the deposition d (how fast it settles, beside sand) and the abrasion a of each. So what is
coarse is put down first, and gets finer on its way, by the same part in each kilometre (Sternberg 1875).

Where this is not what the article's own code does:

- The force is divided by density alone. Weight and inertia both go with the volume; the article divides the force by
  the volume too, so that its drops race as they dry.
- Friction acts before the move, not after it.
- A step ends at the latest after one cell's length, so that no drop leaps over the ground between; t ≤ `time_step` is
  the time that this takes.
- Evaporation takes water and leaves the load: in the article the concentration stays and the load vanishes with it.
- A drop takes loose sediment first, then rock, which resists; it digs no deeper than the cell that it flows to, and
  fills no higher than the ground around. Else pits and spikes would grow.
- The ground at the map's edge is read there and not beyond it; a drop ends where it leaves the map, with its load.
- What a drop still carries when it ends on the map is put down around it.
- The momentum of a stream turns a drop and does not make it faster: the article, which sets all speeds to the same
  value in each step, need not care, but here the two would drive each other without end.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit, variant
from kernels.exchanging import KINDS, settle_four, sum_of
from kernels.layers import Layer, check_layers
from kernels.materials import Materials, Moved, asked, ground_of, rock_at, thickness
from kernels.neighbours import COLUMN_STEPS, ROW_STEPS
from kernels.parameters import constants_type, exact
from kernels.particles import ENDED, FAILED, RUNNING, by_kind, engine, own_amounts
from kernels.rain import rain_on, span_of_heights
from kernels.random import process_number, stream, uniform
from kernels.rates import ERODIBILITY, EVAPORATION, MOBILITY, Rates, flat, is_free, rate_of, settle
from kernels.standing import DRY, SEA
from kernels.surface import ROOTS, STRIDE, WETNESS
from kernels.units import Acceleration, Metres, PerKilometre, PerTime, Steps, Time

_PROCESS = process_number("droplets")

# Slower than this (cells per unit of time) a drop stands still and seeps away.
_STILL = 1e-3
# So fast at least it leaves a place where it stood.
_SPILLING = 0.3
# The ground in a pit that was filled falls so much to where the water leaves it.
_LEAST_SLOPE = 1e-4
_RIVERS = False  # whether drops know the river that they are in: see `_run_rivers`


class DropletParameters(NamedTuple):
    """Parameters of the drops of a cycle. Times are in the unit of the article; a step takes `time_step` or less."""

    count: int  # type: ignore[assignment]  # drops; hides tuple.count, which nobody needs here
    time_step: Time
    density: float
    friction: PerTime  # part of the speed that is lost
    deposition_rate: PerTime  # part of the way to the equilibrium load
    evaporation: PerTime  # part of the volume that is lost
    minimum_volume: float  # a smaller drop ends
    rock_erodibility: float  # how much rock comes loose where as much sediment would: 0 to 1
    longest_path: Steps  # most steps of a drop
    water: Metres  # over one cell: a drop of volume 1
    stream_friction: float  # part of the friction that is missing in a full stream
    stream_evaporation: float  # part of the evaporation that is missing there
    stream_stop: Acceleration  # in a stream a drop ends when its own is less than this
    momentum: PerTime  # how strongly the stream that it is in turns a drop
    rain_by_altitude: float  # part of the rain that follows the altitude; the rest falls everywhere alike
    root_hold: float  # part of the exchange with the ground that is missing where roots are densest
    root_deposition: float  # how much of that part is missing where something is put down
    soaking: PerTime  # part of the volume that dry ground takes
    attrition: PerKilometre  # part of a load of abrasion 1 that becomes finer
    river_transport: float  # by what part the way of a load is longer for each drop that passes in a cycle


class DropletTotals(NamedTuple):
    """Amounts moved in a cycle, in metres over one cell."""

    moved: Moved
    rained: float  # = evaporated + water_off_edge + … + water_soaked, where there are no sources
    evaporated: float  # without lakes, with what seeped into the ground where a drop ended
    water_off_edge: float
    water_into_sea: float
    water_kept: float  # put into lakes, or left on the ground to join one
    water_soaked: float  # that became moisture
    steps: int
    failed_row: int  # where a drop met a value that is not a finite number; -1: nowhere
    failed_column: int


# What lies side by side in the maps of flowing water. The first four are averages over cycles; the others are added up
# in the present one.
FLOW = ("stream", "discharge", "momentum_south", "momentum_east", "passed", "passed_south", "passed_east", "unused")
_STREAM, _DISCHARGE, _MOMENTUM_SOUTH, _MOMENTUM_EAST, _PASSED, _PASSED_SOUTH, _PASSED_EAST, _ = range(len(FLOW))
_STRIDE = len(FLOW)  # 32 bytes: a cell's values share a cache line


class StandingWater(NamedTuple):
    """Lakes and sea, which end the ways of drops. `walls`: nothing leaves over the map's edge."""

    standing: NDArray[np.uint8]  # [row, column]: DRY, LAKE or SEA
    level: Layer  # [row, column], m: the surface of what stands there
    water: Layer  # [row, column], m: what drops bring is added to it
    walls: bool


class _BareGround(NamedTuple):
    bedrock: Layer  # each [row * columns + column]: one index serves all
    sediment: Layer
    ground: Layer
    flow: NDArray[np.float32]  # [(row * columns + column) * _STRIDE + one of FLOW]
    standing: NDArray[np.uint8]
    level: Layer
    sources: NDArray[np.float64]  # [source, (row, column, velocity south, velocity east, volume)]
    rain: NDArray[np.float32]  # how much of the rain falls on each cell, beside the others; empty: on all alike
    starts: NDArray[np.float64]  # [drop of rain * 2 + (row, column)]: where each begins; empty: where rain falls
    arms: NDArray[np.float32]  # where rivers part, as in kernels/distributaries.py; empty: nowhere
    lowest: float
    highest: float
    rows: int
    columns: int
    rained: int  # drops before those of the sources
    cycle: int


class _OnTheGround(NamedTuple):
    surface: NDArray[np.float32]  # [cell * STRIDE + one of kernels/surface.py]; empty: bare and dry
    rates: Rates  # as in kernels/rates.py; empty: 1
    moisture: Layer  # what the ground soaks up is added to it; empty: it soaks up nothing
    soaked: NDArray[np.float64]  # [drop * soaked_stride]: volume that it lost so; empty: nothing
    soaked_stride: int
    wearing: NDArray[np.int64]  # the kinds that wear into another
    stride: int  # of the next three
    loads: NDArray[np.float64]  # [drop * stride + kind]: its load
    from_rock: NDArray[np.float64]  # [drop * stride + kind]: load made from rock
    made_finer: NDArray[np.float64]  # [drop * stride + kind]: load worn into another kind


# Arrays of `Materials` that drops use
_ASKED = (
    "kinds", "mix", "burden", "erodibility", "abrasion", "deposition", "worn",
    "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_worn",
)  # fmt: skip

# All side by side, because what Numba runs in parallel takes no tuple of tuples.
_RichGround: Any = namedtuple("_RichGround", _BareGround._fields + _OnTheGround._fields + _ASKED)  # type: ignore[misc]


# The parameters, with attrition in each cell, and what follows from them: the acceleration of a drop on a vertical
# wall, the area of a cell in cells of the reference, how many drops of the reference a metre on a cell is, and by what
# part of itself that which a step does is less, as the n steps of the reference in it do 1 − (1 − x / n)ⁿ and not x
_Constants = constants_type(
    DropletParameters, "force", "walls", "cells_per_metre", "area", "drops_per_metre", "compound"
)


# So often a place for a drop is drawn again where little rain falls, before it is taken all the same.
_DRAWS = 64
_CELLS = 2**31  # more than a map has
_NUMBERS_OF_A_DRAW = 2**40  # random numbers: two for the place of each drop, and, half way on, one to decide


@njit(nogil=True, error_model="numpy")
def _spawn(particle, key, fields, constants):
    """A drop of rain at rest, anywhere on the map where rain falls, or the next drop of the sources."""
    if particle >= fields.rained:
        source = particle - fields.rained
        row, column, v_row, v_column, volume = (
            fields.sources[source, 0],
            fields.sources[source, 1],
            fields.sources[source, 2],
            fields.sources[source, 3],
            fields.sources[source, 4],
        )
        speed = math.sqrt(v_row * v_row + v_column * v_column)
        return row, column, v_row, v_column, volume, 0.0, 0.0, speed, 0.0, 0.0, float(particle), -1.0
    row = column = 0.0
    if len(fields.starts) > 0:
        row, column = fields.starts[2 * particle], fields.starts[2 * particle + 1]
        return row, column, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(particle), -1.0
    for draw in range(_DRAWS):
        number = 2 * particle + draw * _NUMBERS_OF_A_DRAW
        row = uniform(key, number) * fields.rows
        column = uniform(key, number + 1) * fields.columns
        rain = rain_on(int(row) * fields.columns + int(column), fields, constants)
        if rain >= 1.0 or uniform(key, number + _NUMBERS_OF_A_DRAW // 2) < rain:
            break
    return row, column, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(particle), -1.0


@njit(nogil=True, error_model="numpy")
def _around(row, column, rows, columns):
    """The cells around one, as far as they are on the map: first row and the one past the last, and so of columns."""
    return max(row - 1, 0), min(row + 2, rows), max(column - 1, 0), min(column + 2, columns)


@inlined
def _is_open(fields, cell):
    """Whether anything can be laid on a cell."""
    return True


@inlined
def _is_open_rich(fields, cell):
    return is_free(fields.rates, cell)


def _liquid_level(fields, columns, around, load):
    """The level to which `load` (metres over one cell) fills cells as a liquid would."""
    ground = fields.ground
    north, south, west, east = around
    # From that over all cells, each round leaves out those that stand above it.
    level = np.inf
    wet = 10  # cells; there are at most nine
    while True:
        below = 0
        total = load
        for i in range(north, south):
            for j in range(west, east):
                height = ground[i * columns + j]
                if height < level and _is_open(fields, i * columns + j):
                    below += 1
                    total += height
        if below >= wet or below == 0:  # more than before only by rounding, which must not go on for ever
            break
        wet = below
        level = total / below
    return level


liquid_level = njit(nogil=True, error_model="numpy")(_liquid_level)
liquid_level_rich = njit(nogil=True, error_model="numpy")(variant(_liquid_level, "_rich"))


# What a step does with bare ground, and with rich ground in the functions with `_rich` in their names; see
# kernels/materials.py.


@inlined
def _carried(fields, drop, load):
    """All that a drop carries, metres over one cell."""
    return load


@inlined
def _carried_rich(fields, drop, load):
    if fields.kinds == 1:
        return load
    load = 0.0
    own = int(drop) * fields.stride
    for number in range(own, own + fields.kinds):
        load += fields.loads[number]
    return load


@inlined
def _ground(fields, cell, rock, loose):
    """The ground of a cell, metres, with what else lies there."""
    return rock + loose


@inlined
def _ground_rich(fields, cell, rock, loose):
    return ground_of(fields.burden, cell, rock, loose)


@inlined
def _lay(fields, cell, drop, share, load):
    """Lay a share of what a drop carries on a cell."""
    fields.sediment[cell] += share
    fields.ground[cell] = _ground(fields, cell, fields.bedrock[cell], fields.sediment[cell])


@inlined
def _lay_rich(fields, cell, drop, share, load):
    if fields.kinds == 1:
        fields.sediment[cell] += share
    else:
        here, own = cell * fields.kinds, int(drop) * fields.stride
        part = share / load if share < load else 1.0
        for kind in range(fields.kinds):
            laid = part * fields.loads[own + kind]
            fields.loads[own + kind] -= laid
            fields.mix[here + kind] += laid
        fields.sediment[cell] = thickness(fields, cell)
    fields.ground[cell] = _ground_rich(fields, cell, fields.bedrock[cell], fields.sediment[cell])


def _put_down(fields, row, column, drop, load):
    """Lay what a drop carries on the cell and its neighbours, the lowest first, as a liquid would: the same mix on all.

    `load` is in metres over one cell. Returns what it still carries, where all of them are protected.
    """
    load = _carried(fields, drop, load)
    around = _around(row, column, fields.rows, fields.columns)
    level = liquid_level(fields, fields.columns, around, load)
    north, south, west, east = around
    for i in range(north, south):
        for j in range(west, east):
            cell = i * fields.columns + j
            if fields.ground[cell] < level and load > 0.0 and _is_open(fields, cell):
                share = min(load, level - fields.ground[cell])
                _lay(fields, cell, drop, share, load)
                load -= share
    if not _is_open(fields, row * fields.columns + column):
        return load
    _lay(fields, row * fields.columns + column, drop, load, load)  # what rounding left over
    return 0.0


def _put_down_below(fields, row, column, drop, load, level):
    """Deposit the load of a drop on the cell and its neighbours, up to a level. Returns the rest of the load."""
    load = _carried(fields, drop, load)
    north, south, west, east = _around(row, column, fields.rows, fields.columns)
    for i in range(north, south):
        for j in range(west, east):
            cell = i * fields.columns + j
            if fields.ground[cell] < level and load > 0.0 and _is_open(fields, cell):
                share = min(load, level - fields.ground[cell])
                _lay(fields, cell, drop, share, load)
                load -= share
    return load


@inlined
def _lowest_beside(fields, i, j, but):
    """The lowest of the eight cells beside one, other than one of them, or -1; and its height."""
    lowest, height = -1, np.inf
    north, south, west, east = _around(i, j, fields.rows, fields.columns)
    for row in range(north, south):
        for column in range(west, east):
            cell = row * fields.columns + column
            there = fields.ground[np.uintp(cell)]
            if there < height and (row != i or column != j) and cell != but:
                lowest, height = cell, there
    return lowest, height


def _out_of_pit(fields, constants, row, column, came, drop, load):
    """Where water goes on from a cell with none beside it that is lower: off the map, or out of a pit.

    That is first filled with what the drop carries, up to the lowest cell beside it, but that which it `came` from.
    Returns that cell, -1 off the map, or the same one where the load is not enough, and what the drop still carries.
    """
    here = row * fields.columns + column
    if not constants.walls and (row in (0, fields.rows - 1) or column in (0, fields.columns - 1)):
        return -1, load
    lowest, sill = _lowest_beside(fields, row, column, came)
    height = fields.ground[here]
    load = _carried(fields, drop, load)
    filled = 0.0
    if _is_open(fields, here):
        filled = min(load, sill - height + _LEAST_SLOPE / constants.cells_per_metre)
        if filled > 0.0:
            _lay(fields, here, drop, filled, load)
            load -= filled
    if filled >= sill - height:
        return lowest, load
    return here, load


# Not inlined, as they come once for a drop, or seldom
put_down_below = njit(nogil=True, error_model="numpy")(_put_down_below)
put_down_below_rich = njit(nogil=True, error_model="numpy")(variant(_put_down_below, "_rich"))
out_of_pit = njit(nogil=True, error_model="numpy")(_out_of_pit)
out_of_pit_rich = njit(nogil=True, error_model="numpy")(variant(_out_of_pit, "_rich"))
put_down = njit(nogil=True, error_model="numpy")(_put_down)
put_down_rich = njit(nogil=True, error_model="numpy")(variant(_put_down, "_rich"))


@inlined
def _freedom(fields, constants, cell, wanted):
    """The part of the exchange with a cell that nothing hinders. A drop takes what is `wanted`, or puts it down."""
    return 1.0


@inlined
def _freedom_rich(fields, constants, cell, wanted):
    freedom = rate_of(fields.rates, cell, MOBILITY)
    if len(fields.surface) == 0:
        return freedom
    hold = constants.root_hold * (1.0 if wanted > 0.0 else constants.root_deposition)
    return freedom * (1.0 - hold * fields.surface[np.uintp(cell * STRIDE + ROOTS)])


@inlined
def _pace(fields, cell, wanted):
    """How much faster a cell gives what is `wanted` of it than others do."""
    return 1.0


@inlined
def _pace_rich(fields, cell, wanted):
    return rate_of(fields.rates, cell, ERODIBILITY) if wanted > 0.0 else 1.0


@inlined
def _drying(fields, cell):
    """How much faster a drop dries over a cell than over others."""
    return 1.0


@inlined
def _drying_rich(fields, cell):
    return rate_of(fields.rates, cell, EVAPORATION)


@inlined
def _soaked(fields, constants, cell, volume, time, drop):
    """The volume that a drop leaves in the ground of a cell."""
    return 0.0


@inlined
def _soaked_rich(fields, constants, cell, volume, time, drop):
    if constants.soaking == 0.0:
        return 0.0
    dry = 1.0
    if len(fields.surface) > 0:
        dry -= fields.surface[np.uintp(cell * STRIDE + WETNESS)]
    soaked = volume * min(1.0, time * constants.soaking * dry)
    fields.moisture[np.uintp(cell)] += soaked * constants.water
    fields.soaked[np.uintp(int(drop) * fields.soaked_stride)] += soaked
    return soaked


@inlined
def _exchange(fields, constants, cell, change, room, descent, load, settling, drop, distance):
    """Exchange material with a cell, in metres: up to `descent` out of it, or up to `room` into it.

    Returns what came of the rock, what the drop carries, the same with each kind times how fast it settles, and the
    sediment of the cell.
    """
    loose = fields.sediment[np.uintp(cell)]
    change = min(max(change, -room), descent)
    from_loose = min(change, loose)
    from_rock = max(0.0, change - loose) * constants.rock_erodibility
    return from_rock, load + (from_loose + from_rock), settling, loose - from_loose


@inlined
def _exchange_rich(fields, constants, cell, change, room, descent, load, settling, drop, distance):
    kinds = fields.kinds
    if kinds == 1:
        return _exchange(fields, constants, cell, change, room, descent, load, settling, drop, distance)
    here, own = np.uintp(cell * kinds), np.uintp(int(drop) * fields.stride)
    loose = fields.sediment[np.uintp(cell)]
    dug = min(max(0.0, change), descent)
    taking = dug / loose if dug < loose else 1.0
    putting = 0.0
    if change < 0.0 and settling > 0.0:
        putting = min(-change / load, room / settling)
    abraded = 0.0
    if dug > loose:
        rock = np.uintp(rock_at(fields, cell, fields.bedrock[np.uintp(cell)]))
        abraded = (dug - loose) * constants.rock_erodibility * fields.rock_erodibility[rock]
        becomes = own + np.uintp(fields.rock_worn[rock])
        fields.from_rock[becomes] += abraded
        fields.loads[becomes] += abraded
    sediment = load = settling = 0.0
    # One of both is 0, but nobody can foretell which: without a branch it takes less time.
    if kinds == KINDS:
        settle_four(
            fields.mix, np.intp(here), fields.loads, np.intp(own), fields.deposition, fields.erodibility, putting, 0.0,
            taking,
        )  # fmt: skip
        sediment, load = sum_of(fields.mix, here, KINDS), sum_of(fields.loads, own, KINDS)
        for number in range(KINDS):
            settling += fields.loads[own + np.uintp(number)] * fields.deposition[np.uintp(number)]
    else:
        for number in range(kinds):
            kind = np.uintp(number)
            there, carried = fields.mix[here + kind], fields.loads[own + kind]
            deposition = fields.deposition[kind]
            taken = there * (taking * fields.erodibility[kind])
            settled = carried * min(1.0, putting * deposition)
            there = (there - taken) + settled
            carried = (carried - settled) + taken
            fields.mix[here + kind] = there
            fields.loads[own + kind] = carried
            sediment += there
            load += carried
            settling += carried * deposition
    for place in range(len(fields.wearing)):
        kind = np.uintp(fields.wearing[place])
        becomes = np.uintp(fields.worn[kind])
        finer = fields.loads[own + kind] * min(1.0, fields.abrasion[kind] * constants.attrition * distance)
        fields.loads[own + kind] -= finer
        fields.loads[own + becomes] += finer
        fields.made_finer[own + kind] += finer
        settling += finer * (fields.deposition[becomes] - fields.deposition[kind])
    return abraded, load, settling, sediment


@inlined
def _pass(fields, flow, volume, v_row, v_column):
    """Count a drop that leaves a cell. All float32."""
    fields.flow[flow + np.uintp(_PASSED)] += volume
    fields.flow[flow + np.uintp(_PASSED_SOUTH)] += volume * v_row
    fields.flow[flow + np.uintp(_PASSED_EAST)] += volume * v_column


@inlined
def _fall_beyond(fields, row, column, south, east):
    """How far the ground beyond the map's edge falls: as on the way of a drop to its last cell, or to the one before.

    `south` and `east` are the direction that it leaves in, of unit length.
    """
    last_row, last_column = fields.rows - 1, fields.columns - 1
    height = fields.ground[np.uintp(int(row) * fields.columns + int(column))]
    before_row, before_column = min(max(int(row - south), 0), last_row), min(max(int(column - east), 0), last_column)
    before = fields.ground[np.uintp(before_row * fields.columns + before_column)]
    first_row = min(max(int(row - 2.0 * south), 0), last_row)
    first_column = min(max(int(column - 2.0 * east), 0), last_column)
    return max(fields.ground[np.uintp(first_row * fields.columns + first_column)] - before, before - height)


@inlined
def _fall_to(fields, height, there):
    """How far it is down to a cell, or to the water that stands there."""
    ahead = fields.ground[np.uintp(there)]
    if fields.standing[np.uintp(there)] != DRY:
        ahead = max(ahead, fields.level[np.uintp(there)])
    return height - ahead


@inlined
def _step_in_arm(fields, cell, drop):
    """The step to the cell that a drop in an arm of a river goes on to: where it parts, one of two, by their parts."""
    code = fields.arms[np.uintp(cell)]
    ways = int(code) - 1
    way, second = ways & 7, ways >> 3
    if second != way and not uniform(np.uint64(fields.cycle * _CELLS + cell), drop) < float(code) - int(code):
        way = second
    return ROW_STEPS[way] * fields.columns + COLUMN_STEPS[way]


def _step(state, fields, constants):
    """One step of one drop; the formulas are at the top of this file."""
    row, column, v_row, v_column, volume, load, settling, speed, abraded, steps, drop, came = state
    columns = fields.columns
    i, j = int(row), int(column)
    cell = i * columns + j
    # Unsigned, so that no test for a negative index is compiled.
    here = np.uintp(cell)
    arm = _RIVERS and len(fields.arms) > 0 and fields.arms[here] > 0.0  # which goes on through ponds in its bed
    if fields.standing[here] != DRY and not arm:
        under_water = True
        if _RIVERS:
            under_water = fields.ground[here] < fields.level[here]
            carried = _carried(fields, drop, load)
            load = put_down_below(fields, i, j, drop, load, fields.level[here])
            settling *= load / carried if carried > 0.0 else 0.0
        else:
            load = put_down(fields, i, j, drop, load)
        if not _RIVERS or (under_water and not load > 0.0):
            return (row, column, v_row, v_column, volume, load, 0.0, speed, abraded, steps, drop, came), ENDED
    height = fields.ground[here]
    flow = np.uintp(cell * _STRIDE)
    stream_there = fields.flow[flow + np.uintp(_STREAM)]
    if 0 < i < fields.rows - 1 and 0 < j < columns - 1:
        north = fields.ground[np.uintp(cell - columns)]
        south = fields.ground[np.uintp(cell + columns)]
        west = fields.ground[np.uintp(cell - 1)]
        east = fields.ground[np.uintp(cell + 1)]
        fall_south = (north - south) * (0.5 * constants.cells_per_metre)
        fall_east = (west - east) * (0.5 * constants.cells_per_metre)
    else:
        # One-sided differences at the map's edge
        north = fields.ground[np.uintp(cell - columns * (i > 0))]
        south = fields.ground[np.uintp(cell + columns * (i < fields.rows - 1))]
        west = fields.ground[np.uintp(cell - (j > 0))]
        east = fields.ground[np.uintp(cell + (j < columns - 1))]
        fall_south = (north - south) * constants.cells_per_metre / ((i > 0) + (i < fields.rows - 1))
        fall_east = (west - east) * constants.cells_per_metre / ((j > 0) + (j < columns - 1))
    drag = 1.0 - constants.stream_friction * stream_there
    settles, river = 1.0, 0.0
    if _RIVERS:
        passed = fields.flow[flow + np.uintp(_PASSED)] * constants.water
        river = max(fields.flow[flow + np.uintp(_DISCHARGE)], passed) * constants.drops_per_metre
        settles = 1.0 / (1.0 + constants.river_transport * river)

    # The time in which the drop would cross a cell at its present speed; then, if that has grown, at its new speed.
    time = min(constants.time_step, 1.0 / speed)
    fall_squared = fall_south * fall_south + fall_east * fall_east
    push = time * constants.force / math.sqrt(1.0 + fall_squared)
    slow = not _RIVERS and fall_squared * (push * push) < (time * constants.stream_stop) ** 2
    lost = time * constants.friction * drag
    kept = max(0.0, 1.0 - lost * (1.0 - min(constants.compound * lost, 0.5)))
    v_row = (v_row + push * fall_south) * kept
    v_column = (v_column + push * fall_east) * kept
    if constants.momentum > 0.0:
        there_south = fields.flow[flow + np.uintp(_MOMENTUM_SOUTH)]
        there_east = fields.flow[flow + np.uintp(_MOMENTUM_EAST)]
        along = there_south * v_row + there_east * v_column
        fast_there = there_south * there_south + there_east * there_east
        fast = v_row * v_row + v_column * v_column
        if along > 0.0 and fast_there * fast > 0.0:
            discharge = fields.flow[flow + np.uintp(_DISCHARGE)]
            pull = time * constants.momentum * along / math.sqrt(fast_there * fast)
            pull /= volume * constants.water + discharge * constants.area
            v_row += pull * there_south
            v_column += pull * there_east
            turned = math.sqrt(fast / (v_row * v_row + v_column * v_column))
            v_row *= turned
            v_column *= turned
    speed_squared = v_row * v_row + v_column * v_column
    speed = math.sqrt(speed_squared)
    if time * time * speed_squared > 1.0:  # said so that the processor need not wait for the root to go on
        time = 1.0 / speed
    new_row = row + time * v_row
    new_column = column + time * v_column

    leaves = False
    outcome = RUNNING
    # Tests are put such that NaN takes the way of the exception.
    if not speed > _STILL:
        if not speed >= 0.0:
            return state, FAILED
        new_row, new_column = row, column
        outcome = ENDED
    elif not (0.0 <= new_row < fields.rows and 0.0 <= new_column < columns):
        if not (math.isfinite(new_row) and math.isfinite(new_column)):
            return state, FAILED
        outcome = ENDED
        if constants.walls:
            new_row, new_column = row, column
        elif _RIVERS:
            leaves = True
        else:
            _pass(fields, flow, np.float32(volume), np.float32(v_row), np.float32(v_column))
            return (
                new_row, new_column, v_row, v_column, volume, load, settling, speed, abraded, steps + 1.0, drop, came,
            ), ENDED  # fmt: skip

    there = -1 if leaves else int(new_row) * columns + int(new_column)
    if slow and fields.flow[np.uintp(there * _STRIDE + _STREAM)] > 0.5:
        outcome = ENDED
    fall = 0.0 if leaves else _fall_to(fields, height, there)
    finds = False
    if arm:
        finds, leaves, outcome = True, False, RUNNING
        there = cell + _step_in_arm(fields, cell, int(drop))
        fall = _fall_to(fields, height, there)
    elif _RIVERS and not leaves and (outcome == ENDED or (river > 1.0 and not fall > 0.0 and there != cell)):
        # Water finds its way to the lowest cell beside it.
        if 0 < i < fields.rows - 1 and 0 < j < columns - 1:
            # As `_lowest_beside` finds it, in less time
            north_west = fields.ground[np.uintp(cell - columns - 1)]
            north_east = fields.ground[np.uintp(cell - columns + 1)]
            south_west = fields.ground[np.uintp(cell + columns - 1)]
            south_east = fields.ground[np.uintp(cell + columns + 1)]
            diagonal = min(min(north_west, north_east), min(south_west, south_east))
            lowest = min(min(min(north, south), min(west, east)), diagonal)
            # The first of them; without a branch, because nobody can foretell it.
            step = columns + 1
            step = columns if south == lowest else step
            step = columns - 1 if south_west == lowest else step
            step = 1 if east == lowest else step
            step = -1 if west == lowest else step
            step = 1 - columns if north_east == lowest else step
            step = -columns if north == lowest else step
            step = -1 - columns if north_west == lowest else step
            there = cell + step
        else:
            there, lowest = _lowest_beside(fields, i, j, -1)
        if not lowest < height:
            carried = _carried(fields, drop, load)
            there, load = out_of_pit(fields, constants, i, j, int(came), drop, load)
            settling *= load / carried if carried > 0.0 else 0.0
            height = fields.ground[here]
        finds, leaves = True, there < 0
        outcome = ENDED if leaves or there == cell else RUNNING
        fall = 0.0 if leaves else _fall_to(fields, height, there)
    if finds:
        to_row = i + (there >= cell - j + columns) - (there < cell - j)
        new_row, new_column = to_row + 0.5, there - to_row * columns + 0.5
        if leaves:
            new_row = -0.5 if i == 0 else i + 1.5 if i == fields.rows - 1 else i + 0.5
            new_column = -0.5 if j == 0 else j + 1.5 if j == columns - 1 else j + 0.5
        if there != cell:
            way_south, way_east = new_row - row, new_column - column
            way = math.sqrt(way_south * way_south + way_east * way_east)
            speed = max((v_row * way_south + v_column * way_east) / way, _SPILLING)
            v_row, v_column = speed * way_south / way, speed * way_east / way
    if leaves:
        fall = _fall_beyond(fields, row, column, v_row / speed, v_column / speed)

    # Exchange with the cell that the drop leaves. Digging takes loose sediment, then rock, down to the cell ahead;
    # putting down fills up to the highest cell beside it, and, where the way leads up, to the cell ahead.
    descent = max(0.0, fall)
    wanted = volume * volume * speed * descent - load * settles
    exchanged = time * constants.deposition_rate * _pace(fields, cell, wanted)
    exchanged = min(1.0, exchanged * (1.0 - min(constants.compound * exchanged, 0.5)))
    exchanged *= _freedom(fields, constants, cell, wanted)
    change = exchanged * wanted
    if not abs(change) + abs(fall) < np.inf:
        return state, FAILED
    room = max(0.0, max(max(north, south), max(west, east)) - height)
    if fall < 0.0:
        room = min(room, -fall)
    if leaves:
        descent = min(descent, fields.sediment[here])
    from_rock, load, settling, loose = _exchange(
        fields, constants, cell, change, room, descent, load, settling, drop, time * speed
    )
    rock = fields.bedrock[here] - from_rock
    fields.bedrock[here] = rock
    fields.sediment[here] = loose
    fields.ground[here] = _ground(fields, cell, rock, loose)
    abraded += from_rock

    # Where it stays in the cell, nothing is counted: without a branch, because nobody can foretell it.
    _pass(fields, flow, np.float32(volume if there != cell else 0.0), np.float32(v_row), np.float32(v_column))
    volume -= _soaked(fields, constants, cell, volume, time, drop)
    lost = time * constants.evaporation * (1.0 - constants.stream_evaporation * stream_there) * _drying(fields, cell)
    volume *= max(0.0, 1.0 - lost)
    steps += 1.0
    if there != cell:
        came = float(cell)
    if leaves:
        return (new_row, new_column, v_row, v_column, volume, load, settling, speed, abraded, steps, drop, came), ENDED
    if outcome == ENDED or volume < constants.minimum_volume or steps >= constants.longest_path:
        load = put_down(fields, int(new_row), int(new_column), drop, load)
        outcome = ENDED
    return (new_row, new_column, v_row, v_column, volume, load, settling, speed, abraded, steps, drop, came), outcome


_SLOTS = 12
_LOAD = 5
_run = engine(_spawn, inlined(_step), _SLOTS)
_run_rich = engine(_spawn, inlined(variant(_step, "_rich")), _SLOTS, name="droplets_on_rich_ground")
# The same with rivers that carry
_run_rivers = engine(_spawn, inlined(variant(_step, _RIVERS=True)), _SLOTS, name="droplets_in_rivers")
_run_rivers_rich = engine(
    _spawn, inlined(variant(_step, "_rich", _RIVERS=True)), _SLOTS, name="droplets_in_rivers_on_rich_ground"
)


@njit(cache=True, nogil=True)
def _total(particles: Any, status: Any, fields: Any, soaked_up: Any, water: Any, water_of_drop: float) -> Any:
    """Add up the drops in their order, and leave the water of those that ended on the map in `water`, if it is one.

    Returns the rock that they wore, the load of those that left the map, and what else `DropletTotals` has.
    """
    abraded = off_map = evaporated = water_off_edge = water_into_sea = water_kept = water_soaked = 0.0
    steps = 0
    failed_row = failed_column = -1
    for particle in range(len(particles)):
        row, column, _, _, volume, load, _, _, worn, taken, _, _ = particles[particle]
        abraded += worn
        steps += int(taken)
        begun = 1.0 if particle < fields.rained else fields.sources[particle - fields.rained, 4]
        soaked = soaked_up[particle] if len(soaked_up) > 0 else 0.0
        water_soaked += soaked
        evaporated += begun - volume - soaked
        off_map += load  # where a drop ended on the map, it has put down all
        if not (0.0 <= row < fields.rows and 0.0 <= column < fields.columns):
            water_off_edge += volume
            continue
        if status[particle] == FAILED and failed_row < 0:
            failed_row, failed_column = int(row), int(column)
        cell = int(row) * fields.columns + int(column)
        if fields.standing[cell] == SEA:
            water_into_sea += volume
        elif len(water) > 0:
            water[cell] += volume * water_of_drop
            water_kept += volume
        else:
            evaporated += volume
    return (
        abraded,
        off_map,
        fields.rained * water_of_drop,
        evaporated * water_of_drop,
        water_off_edge * water_of_drop,
        water_into_sea * water_of_drop,
        water_kept * water_of_drop,
        water_soaked * water_of_drop,
        steps,
        failed_row,
        failed_column,
    )


@njit(cache=True, nogil=True, parallel=True)
def _remember(flow: Any, rate: float, water: float) -> None:
    """Let the passages of this cycle into the averages, and forget them."""
    new, old = np.float32(rate), np.float32(1.0 - rate)
    amount = np.float32(rate * water)
    for row in prange(flow.shape[0]):
        for column in range(flow.shape[1]):
            cell = flow[row, column]
            passed = cell[_PASSED]
            cell[_STREAM] = old * cell[_STREAM] + new * np.float32(passed > np.float32(0.0))
            cell[_DISCHARGE] = old * cell[_DISCHARGE] + amount * passed
            cell[_MOMENTUM_SOUTH] = old * cell[_MOMENTUM_SOUTH] + amount * cell[_PASSED_SOUTH]
            cell[_MOMENTUM_EAST] = old * cell[_MOMENTUM_EAST] + amount * cell[_PASSED_EAST]
            cell[_PASSED] = cell[_PASSED_SOUTH] = cell[_PASSED_EAST] = np.float32(0.0)


def new_flow(rows: int, columns: int) -> NDArray[np.float32]:
    """Maps of flowing water where none has flowed yet: [row, column, one of FLOW]."""
    return np.zeros((rows, columns, len(FLOW)), np.float32)


def remember(flow: NDArray[np.float32], rate: float, water: float) -> None:
    """End a cycle for the maps of flowing water: the passages of `erode` move the averages by the part `rate`.

    `water` is that of a drop of volume 1, in metres over one cell: the unit of discharge is metres over one cell in a
    cycle, that of momentum the same times cells per unit of time.
    """
    _remember(flow, float(rate), float(water))


def erode(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    seed: int,
    cycle: int,
    parameters: DropletParameters,
    *,
    flow: NDArray[np.float32] | None = None,
    standing: StandingWater | None = None,
    sources: NDArray[np.float64] | None = None,
    rain: NDArray[np.float32] | None = None,
    surface: NDArray[np.float32] | None = None,
    moisture: Layer | None = None,
    rates: Rates | None = None,
    starts: NDArray[np.float64] | None = None,
    arms: NDArray[np.float32] | None = None,
    reference_cell_size: float = 0.0,
) -> DropletTotals:
    """Run the drops of one cycle over a map, and change it in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. `cell_size` is the side of a cell in
    metres. The same map, seed, cycle and parameters give the same bits on any number of threads. What was on the map is
    there afterwards or in `moved`.

    `flow` are the maps of flowing water from `new_flow`, in which passages are counted; `remember` ends the cycle for
    them. `standing` tells of lakes and sea; without it drops seep away where they end. `sources` are more drops, one in
    each row: row, column, velocity (south, east; cells per unit of time) and volume. `rain` is how much falls on each
    cell, from 0 to 1, [row, column].

    `surface` is float32 [row, column, one of kernels/surface.py]. `moisture`, metres of water [row, column], takes what
    the ground soaks up. `rates` are float32 [row, column, one of kernels/rates.py].

    `starts` says where each drop of rain begins, [drop, (row, column)], instead of `rain`.

    `arms` are the codes of arms that rivers part into, float32 [row, column], see `kernels.distributaries`: drops that
    carry by their river follow them.

    `reference_cell_size`, in metres, is the side of the cells that accelerations are in; 0: of the map's own.

    Where a drop meets a value that is not a finite number, it stops before it writes, `failed_row` and `failed_column`
    say where, and the cycle is not complete.
    """
    rows, columns = bedrock.shape
    check_layers(bedrock, sediment, ground)
    if flow is None:
        flow = new_flow(rows, columns)
    parameters = exact(parameters)
    if starts is not None and starts.shape != (parameters.count, 2):
        raise ValueError("starts must be the row and the column of each drop of rain")
    none = np.empty(0)
    factors = flat(rates)
    drops = parameters.count + (0 if sources is None else len(sources))
    bare = _BareGround(
        bedrock.reshape(-1),
        sediment.reshape(-1),
        ground.reshape(-1),
        flow.reshape(-1),
        np.zeros(rows * columns, np.uint8) if standing is None else standing.standing.reshape(-1),
        none if standing is None else standing.level.reshape(-1),
        np.empty((0, 5)) if sources is None else np.ascontiguousarray(sources, np.float64),
        np.empty(0, np.float32) if rain is None else np.ascontiguousarray(rain, np.float32).reshape(-1),
        none if starts is None else np.ascontiguousarray(starts, np.float64).reshape(-1),
        np.empty(0, np.float32) if arms is None else arms.reshape(-1),
        *span_of_heights(ground, parameters.rain_by_altitude),
        rows,
        columns,
        parameters.count,
        int(cycle),
    )
    kinds = materials.kinds if materials.kinds > 1 else 0
    soaks = moisture is not None and parameters.soaking > 0.0
    soaked = own_amounts(drops if soaks else 0, 1)
    loads, from_rock, made_finer = (own_amounts(drops, kinds) for _ in range(3))
    fields: Any = bare
    rivers = parameters.river_transport > 0.0
    run = _run_rivers if rivers else _run
    if kinds > 0 or surface is not None or soaks or len(factors) > 0 or len(materials.burden) > 0:
        wears = (materials.worn != np.arange(materials.kinds)) & (materials.abrasion > 0.0)
        covered = _OnTheGround(
            np.empty(0, np.float32) if surface is None else surface.reshape(-1),
            factors,
            moisture.reshape(-1) if moisture is not None else none,
            soaked.reshape(-1),
            soaked.shape[1],
            np.flatnonzero(wears if parameters.attrition > 0.0 else none),
            loads.shape[1],
            loads.reshape(-1),
            from_rock.reshape(-1),
            made_finer.reshape(-1),
        )
        fields = _RichGround._make((*bare, *covered, *asked(materials, _ASKED)))
        run = _run_rivers_rich if rivers else _run_rich
    side = float(cell_size) / (float(reference_cell_size) or float(cell_size))
    of_all = parameters._asdict() | {
        "soaking": parameters.soaking if soaks else 0.0,
        "attrition": parameters.attrition / 1000.0 * float(cell_size),
        "stream_stop": parameters.stream_stop / side,
        "time_step": parameters.time_step * side,
    }
    constants = _Constants(
        **of_all,
        force=1.0 / parameters.density / side,
        walls=standing is not None and bool(standing.walls),
        cells_per_metre=1.0 / float(cell_size),
        area=side * side,
        drops_per_metre=side * side / parameters.water,
        compound=0.5 * (1.0 - 1.0 / side),
    )
    key = np.uint64(stream(int(seed), _PROCESS, int(cycle)))
    particles, status = run(drops, key, rows, columns, fields, constants)
    if len(factors) > 0:
        carried = loads if kinds > 0 else particles[:, _LOAD : _LOAD + 1].copy()
        settle(particles, carried, factors, materials, bedrock, sediment, ground)
        particles[:, _LOAD] = carried[:, : materials.kinds].sum(axis=1)
    water = none if standing is None else standing.water.reshape(-1)
    soaked_up = soaked[:, 0].copy() if soaks else none
    abraded, off_map, *totals = _total(particles, status, bare, soaked_up, water, constants.water)
    # Where a drop ended on the map, it has put down all.
    moved = Moved((abraded,), (off_map,))
    if kinds > 0:
        moved = Moved(by_kind(from_rock, kinds), by_kind(loads, kinds), worn=by_kind(made_finer, kinds))
    return DropletTotals(moved, *totals)
