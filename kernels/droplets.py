"""D2, C1, C2: drops of water that run downhill, wear the ground, carry what they wore and put it down.

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
in a stream there is less friction and less evaporation, a slow drop ends, and a drop is turned by the momentum m of the
water that flows there, towards v + t · strength · cos(v, m) · m / (V + discharge): inertia that bends rivers. A drop
counts once for each cell that it leaves.

A drop ends where water stands. In a lake its water is put into `water`, from where it joins the lake; the sea takes it.
Its load settles where it enters, so deltas grow. A drop that comes to rest elsewhere leaves its water in `water` too,
if there are lakes at all. For a drop that enters a lake the ground ahead is the lake's surface: what goes on below it
wears no shore.

Where this is not what the article's own code does:

- The force is divided by density alone. Weight and inertia both go with the volume; the article divides the force by
  the volume too, so that its drops race as they dry.
- Friction acts before the move, not after it.
- A step ends at the latest after one cell's length, so that no drop leaps over the ground between; t ≤ dt is the time
  that this takes.
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
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from kernels.particles import ENDED, FAILED, RUNNING, engine, in_step
from kernels.random import process_number, stream, uniform

Layer = NDArray[np.float64]

_PROCESS = process_number("droplets")

# Slower than this (cells per unit of time) a drop stands still and seeps away.
_STILL = 1e-3


class DropletParameters(NamedTuple):
    """What the drops of a cycle are like. Times are in the article's unit; a step takes `dt` or less."""

    count: int = 1000  # type: ignore[assignment]  # drops; hides tuple.count, which nobody needs here
    dt: float = 1.2
    density: float = 1.0
    friction: float = 0.05  # part of the speed lost per unit of time
    deposition_rate: float = 0.1  # part of the way to the equilibrium load per unit of time
    evaporation: float = 0.001  # part of the volume lost per unit of time
    min_volume: float = 0.01  # a smaller drop ends
    rock_erodibility: float = 0.5  # how much rock comes loose where as much sediment would: 0 to 1
    max_steps: int = 1000  # a drop ends after so many
    water: float = 1.0  # metres over one cell: a drop of volume 1
    stream_friction: float = 0.0  # part of the friction that is missing in a full stream
    stream_evaporation: float = 0.0  # part of the evaporation that is missing there
    stream_stop: float = 0.0  # in a stream a drop ends when its acceleration is less than this
    momentum: float = 0.0  # how strongly the stream that it is in turns a drop, per unit of time
    rain_altitude: float = 0.0  # part of the rain that follows the altitude; the rest falls everywhere alike


class DropletTotals(NamedTuple):
    """What a cycle moved, in metres over one cell."""

    rock_abraded: float  # bedrock that became sediment
    sediment_off_edge: float
    rained: float  # = evaporated + water_off_edge + water_into_sea + water_kept, where there are no sources
    evaporated: float  # without lakes, with what seeped into the ground where a drop ended
    water_off_edge: float
    water_into_sea: float
    water_kept: float  # put into lakes, or left on the ground to join one
    steps: int
    failed_row: int  # where a drop met a value that is not a finite number; -1: nowhere
    failed_column: int


# What stands on a cell. A drop that comes there ends.
DRY = 0
LAKE = 1
SEA = 2

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


class _Fields(NamedTuple):
    bedrock: Layer  # each [row * columns + column]: one index serves all
    sediment: Layer
    ground: Layer
    flow: NDArray[np.float32]  # [(row * columns + column) * _STRIDE + one of FLOW]
    standing: NDArray[np.uint8]
    level: Layer
    sources: NDArray[np.float64]  # [source, (row, column, velocity south, velocity east, volume)]
    rain: NDArray[np.float32]  # how much of the rain falls on each cell, beside the others; empty: on all alike
    lowest: float
    highest: float
    rows: int
    columns: int
    rained: int  # drops before those of the sources


class _Constants(NamedTuple):
    dt: float
    force: float  # acceleration of a drop on a vertical wall
    friction: float
    deposition_rate: float
    evaporation: float
    min_volume: float
    rock_erodibility: float
    max_steps: float
    water: float
    stream_friction: float
    stream_evaporation: float
    stream_stop: float
    momentum: float
    rain_altitude: float
    walls: bool
    cells_per_metre: float


# So often a place for a drop is drawn again where little rain falls, before it is taken all the same.
_DRAWS = 64
_NUMBERS_OF_A_DRAW = 2**40  # random numbers: two for the place of each drop, and, half way on, one to decide


@njit(nogil=True, error_model="numpy")
def _rain_on(cell, fields, constants):
    """How much rain falls on a cell, from 0 to 1."""
    rain = 1.0
    if constants.rain_altitude > 0.0 and fields.highest > fields.lowest:
        height = (fields.ground[cell] - fields.lowest) / (fields.highest - fields.lowest)
        rain = 1.0 + constants.rain_altitude * (height - 1.0)
    if len(fields.rain) > 0:
        rain *= fields.rain[cell]
    return rain


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
        return row, column, v_row, v_column, volume, 0.0, math.sqrt(v_row * v_row + v_column * v_column), 0.0, 0.0
    row = column = 0.0
    for draw in range(_DRAWS):
        number = 2 * particle + draw * _NUMBERS_OF_A_DRAW
        row = uniform(key, number) * fields.rows
        column = uniform(key, number + 1) * fields.columns
        rain = _rain_on(int(row) * fields.columns + int(column), fields, constants)
        if rain >= 1.0 or uniform(key, number + _NUMBERS_OF_A_DRAW // 2) < rain:
            break
    return row, column, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0


@njit(nogil=True, error_model="numpy")
def put_down(fields, row, column, load):
    """Lay `load` (metres over one cell) on the cell and its neighbours, the lowest first, as a liquid would."""
    north, south = max(row - 1, 0), min(row + 2, fields.rows)  # south and east are past the last
    west, east = max(column - 1, 0), min(column + 2, fields.columns)
    # The level of the liquid: from that over all cells, each round leaves out those that stand above it.
    level = np.inf
    wet = 10  # cells; there are at most nine
    while True:
        below = 0
        total = load
        for i in range(north, south):
            for j in range(west, east):
                height = fields.ground[i * fields.columns + j]
                if height < level:
                    below += 1
                    total += height
        if below >= wet or below == 0:  # more than before only by rounding, which must not go on for ever
            break
        wet = below
        level = total / below
    for i in range(north, south):
        for j in range(west, east):
            cell = i * fields.columns + j
            if fields.ground[cell] < level:
                share = min(load, level - fields.ground[cell])
                load -= share
                fields.sediment[cell] += share
                fields.ground[cell] = fields.bedrock[cell] + fields.sediment[cell]
    # What rounding left over
    cell = row * fields.columns + column
    fields.sediment[cell] += load
    fields.ground[cell] = fields.bedrock[cell] + fields.sediment[cell]


@in_step
def _pass(fields, flow, volume, v_row, v_column):
    """Count a drop that leaves a cell. All float32."""
    fields.flow[flow + np.uintp(_PASSED)] += volume
    fields.flow[flow + np.uintp(_PASSED_SOUTH)] += volume * v_row
    fields.flow[flow + np.uintp(_PASSED_EAST)] += volume * v_column


@in_step
def _step(state, fields, constants):
    """One step of one drop; the formulas are at the top of this file."""
    row, column, v_row, v_column, volume, load, speed, abraded, steps = state
    columns = fields.columns
    i, j = int(row), int(column)
    cell = i * columns + j
    # Unsigned, so that no test for a negative index is compiled.
    here = np.uintp(cell)
    if fields.standing[here] != DRY:
        put_down(fields, i, j, load)
        return (row, column, v_row, v_column, volume, 0.0, speed, abraded, steps), ENDED
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

    # The time in which the drop would cross a cell at its present speed; then, if that has grown, at its new speed.
    time = min(constants.dt, 1.0 / speed)
    fall_squared = fall_south * fall_south + fall_east * fall_east
    push = time * constants.force / math.sqrt(1.0 + fall_squared)
    slow = stream_there > 0.5 and fall_squared * (push * push) < (time * constants.stream_stop) ** 2
    kept = max(0.0, 1.0 - time * constants.friction * (1.0 - constants.stream_friction * stream_there))
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
            pull /= volume * constants.water + discharge
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

    outcome = ENDED if slow else RUNNING
    # Tests are put such that NaN takes the way of the exception.
    if not speed > _STILL:
        if not speed >= 0.0:
            return state, FAILED
        new_row, new_column = row, column
        outcome = ENDED
    elif not (0.0 <= new_row < fields.rows and 0.0 <= new_column < columns):
        if not (math.isfinite(new_row) and math.isfinite(new_column)):
            return state, FAILED
        if not constants.walls:
            _pass(fields, flow, np.float32(volume), np.float32(v_row), np.float32(v_column))
            return (new_row, new_column, v_row, v_column, volume, load, speed, abraded, steps + 1.0), ENDED
        new_row, new_column = row, column
        outcome = ENDED

    # Exchange with the cell that the drop leaves. Digging takes loose sediment, then rock, down to the cell ahead;
    # putting down fills up to the highest cell beside it, and, where the way leads up, to the cell ahead.
    there = int(new_row) * columns + int(new_column)
    ahead = fields.ground[np.uintp(there)]
    if fields.standing[np.uintp(there)] != DRY:
        ahead = max(ahead, fields.level[np.uintp(there)])
    drop = height - ahead
    descent = max(0.0, drop)
    change = min(1.0, time * constants.deposition_rate) * (volume * volume * speed * descent - load)
    if not abs(change) + abs(drop) < np.inf:
        return state, FAILED
    loose = fields.sediment[here]
    room = max(0.0, max(max(north, south), max(west, east)) - height)
    if drop < 0.0:
        room = min(room, -drop)
    change = min(max(change, -room), descent)
    from_loose = min(change, loose)
    from_rock = max(0.0, change - loose) * constants.rock_erodibility
    loose -= from_loose
    rock = fields.bedrock[here] - from_rock
    fields.bedrock[here] = rock
    fields.sediment[here] = loose
    fields.ground[here] = rock + loose
    abraded += from_rock
    load += from_loose + from_rock

    # Where it stays in the cell, nothing is counted: without a branch, because nobody can foretell it.
    _pass(fields, flow, np.float32(volume if there != cell else 0.0), np.float32(v_row), np.float32(v_column))
    lost = time * constants.evaporation * (1.0 - constants.stream_evaporation * stream_there)
    volume *= max(0.0, 1.0 - lost)
    steps += 1.0
    if outcome == ENDED or volume < constants.min_volume or steps >= constants.max_steps:
        put_down(fields, int(new_row), int(new_column), load)
        load = 0.0
        outcome = ENDED
    return (new_row, new_column, v_row, v_column, volume, load, speed, abraded, steps), outcome


_run = engine(_spawn, _step, slots=9)


@njit(cache=True, nogil=True)
def _total(particles: Any, status: Any, fields: Any, water: Any, water_of_drop: float) -> DropletTotals:
    """Add up the drops in their order, and leave the water of those that ended on the map in `water`, if it is one."""
    abraded = sediment_off_edge = evaporated = water_off_edge = water_into_sea = water_kept = 0.0
    steps = 0
    failed_row = failed_column = -1
    for particle in range(len(particles)):
        row, column, _, _, volume, load, _, worn, taken = particles[particle]
        abraded += worn
        steps += int(taken)
        begun = 1.0 if particle < fields.rained else fields.sources[particle - fields.rained, 4]
        evaporated += begun - volume
        sediment_off_edge += load  # where a drop ended on the map, it has put down all
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
    return DropletTotals(
        abraded,
        sediment_off_edge,
        fields.rained * water_of_drop,
        evaporated * water_of_drop,
        water_off_edge * water_of_drop,
        water_into_sea * water_of_drop,
        water_kept * water_of_drop,
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
    cell_size: float,
    seed: int,
    cycle: int,
    parameters: DropletParameters,
    *,
    flow: NDArray[np.float32] | None = None,
    standing: StandingWater | None = None,
    sources: NDArray[np.float64] | None = None,
    rain: NDArray[np.float32] | None = None,
) -> DropletTotals:
    """Let the drops of one cycle run over a map, and change it in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous. `cell_size` is the side of a cell in metres. The same map, seed, cycle and parameters
    give the same bits on any number of threads. What was on the map is there afterwards or in `sediment_off_edge`.

    `flow` are the maps of flowing water from `new_flow`, in which passages are counted; `remember` ends the cycle for
    them. `standing` tells of lakes and sea; without it drops seep away where they end. `sources` are more drops, one in
    each row: row, column, velocity (south, east; cells per unit of time) and volume. `rain` is how much falls on each
    cell, from 0 to 1, [row, column].

    Where a drop meets a value that is not a finite number, it stops before it writes, `failed_row` and `failed_column`
    say where, and the cycle is not complete.
    """
    rows, columns = bedrock.shape
    for layer in (bedrock, sediment, ground):
        if layer.shape != (rows, columns) or layer.dtype != np.float64 or not layer.flags.c_contiguous:
            raise ValueError("layers must be C-contiguous float64 arrays of one shape")
    if flow is None:
        flow = new_flow(rows, columns)
    by_altitude = parameters.rain_altitude > 0.0
    none = np.empty(0)
    fields = _Fields(
        bedrock.reshape(-1),
        sediment.reshape(-1),
        ground.reshape(-1),
        flow.reshape(-1),
        np.zeros(rows * columns, np.uint8) if standing is None else standing.standing.reshape(-1),
        none if standing is None else standing.level.reshape(-1),
        np.empty((0, 5)) if sources is None else np.ascontiguousarray(sources, np.float64),
        np.empty(0, np.float32) if rain is None else np.ascontiguousarray(rain, np.float32).reshape(-1),
        float(ground.min()) if by_altitude else 0.0,
        float(ground.max()) if by_altitude else 0.0,
        rows,
        columns,
        int(parameters.count),
    )
    constants = _Constants(
        dt=float(parameters.dt),
        force=1.0 / float(parameters.density),
        friction=float(parameters.friction),
        deposition_rate=float(parameters.deposition_rate),
        evaporation=float(parameters.evaporation),
        min_volume=float(parameters.min_volume),
        rock_erodibility=float(parameters.rock_erodibility),
        max_steps=float(parameters.max_steps),
        water=float(parameters.water),
        stream_friction=float(parameters.stream_friction),
        stream_evaporation=float(parameters.stream_evaporation),
        stream_stop=float(parameters.stream_stop),
        momentum=float(parameters.momentum),
        rain_altitude=float(parameters.rain_altitude),
        walls=standing is not None and bool(standing.walls),
        cells_per_metre=1.0 / float(cell_size),
    )
    key = np.uint64(stream(int(seed), _PROCESS, int(cycle)))
    particles, status = _run(fields.rained + len(fields.sources), key, rows, columns, fields, constants)
    water = none if standing is None else standing.water.reshape(-1)
    return DropletTotals(*_total(particles, status, fields, water, constants.water))
