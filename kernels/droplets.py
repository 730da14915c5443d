"""D2: drops of rain that run downhill, wear the ground, carry what they wore and put it down.

After McDonald 2020, "Simple particle-based hydraulic erosion", on two layers (rock, and loose sediment on it) and in
metres. The article has heights h in [0, 1] and `scale` cells to one unit of height. Here a height is
H = h · scale · cell_size metres, so the slope of the ground is the true one, and as the exchange is proportional to
height, every formula and every rate stays as it was. Positions and speeds are in cells, as in the article.

A drop has volume V (1 at its start), velocity v and load m: metres of ground over one cell, so that concentration is
m / V. In each step of time t:

    v ← (v + t · n.xz / density) · (1 − t · friction)      n: unit normal of the ground, from central differences
    x ← x + t · v
    m ← m + t · deposition_rate · (V · c_eq − m)           c_eq = max(0, V · |v| · (H before − H after))
    V ← V · (1 − t · evaporation)

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
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernels.particles import ENDED, FAILED, RUNNING, engine
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


class DropletTotals(NamedTuple):
    """What a cycle moved, in metres over one cell (ground), and in volumes of a new drop (water)."""

    rock_abraded: float  # bedrock that became sediment
    sediment_off_edge: float
    rained: float  # = evaporated + water_off_edge
    evaporated: float  # with what seeped into the ground where a drop ended
    water_off_edge: float
    steps: int
    failed_row: int  # where a drop met a value that is not a finite number; -1: nowhere
    failed_column: int


class _Fields(NamedTuple):
    bedrock: Layer  # each [row * columns + column]: one index serves all three
    sediment: Layer
    ground: Layer
    rows: int
    columns: int


class _Constants(NamedTuple):
    dt: float
    force: float  # acceleration of a drop on a vertical wall
    friction: float
    deposition_rate: float
    evaporation: float
    min_volume: float
    rock_erodibility: float
    max_steps: float
    cells_per_metre: float


@njit(nogil=True, error_model="numpy")
def _spawn(particle, key, fields, constants):
    """A drop at rest, anywhere on the map."""
    row = uniform(key, 2 * particle) * fields.rows
    column = uniform(key, 2 * particle + 1) * fields.columns
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


@njit(nogil=True, error_model="numpy", forceinline=True)
def _step(state, fields, constants):
    """One step of one drop; the formulas are at the top of this file."""
    row, column, v_row, v_column, volume, load, speed, abraded, steps = state
    columns = fields.columns
    i, j = int(row), int(column)
    cell = i * columns + j
    # Unsigned, so that no test for a negative index is compiled.
    here = np.uintp(cell)
    height = fields.ground[here]
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
    push = time * constants.force / math.sqrt(1.0 + (fall_south * fall_south + fall_east * fall_east))
    kept = max(0.0, 1.0 - time * constants.friction)
    v_row = (v_row + push * fall_south) * kept
    v_column = (v_column + push * fall_east) * kept
    speed_squared = v_row * v_row + v_column * v_column
    speed = math.sqrt(speed_squared)
    if time * time * speed_squared > 1.0:  # said so that the processor need not wait for the root to go on
        time = 1.0 / speed
    new_row = row + time * v_row
    new_column = column + time * v_column

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
        return (new_row, new_column, v_row, v_column, volume, load, speed, abraded, steps + 1.0), ENDED

    # Exchange with the cell that the drop leaves. Digging takes loose sediment, then rock, down to the cell ahead;
    # putting down fills up to the highest cell beside it, and, where the way leads up, to the cell ahead.
    drop = height - fields.ground[np.uintp(int(new_row) * columns + int(new_column))]
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

    volume *= 1.0 - time * constants.evaporation
    steps += 1.0
    if outcome == ENDED or volume < constants.min_volume or steps >= constants.max_steps:
        put_down(fields, int(new_row), int(new_column), load)
        load = 0.0
        outcome = ENDED
    return (new_row, new_column, v_row, v_column, volume, load, speed, abraded, steps), outcome


_run = engine(_spawn, _step, slots=9)


@njit(cache=True, nogil=True)
def _total(particles: Any, status: Any, rows: int, columns: int) -> DropletTotals:
    """Add up the drops in their order."""
    abraded = sediment_off_edge = evaporated = water_off_edge = 0.0
    steps = 0
    failed_row = failed_column = -1
    for particle in range(len(particles)):
        row, column, _, _, volume, load, _, worn, taken = particles[particle]
        abraded += worn
        steps += int(taken)
        evaporated += 1.0 - volume
        sediment_off_edge += load  # where a drop ended on the map, it has put down all
        if not (0.0 <= row < rows and 0.0 <= column < columns):
            water_off_edge += volume
        else:
            evaporated += volume
            if status[particle] == FAILED and failed_row < 0:
                failed_row, failed_column = int(row), int(column)
    rained = float(len(particles))
    return DropletTotals(
        abraded, sediment_off_edge, rained, evaporated, water_off_edge, steps, failed_row, failed_column
    )


def erode(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    cell_size: float,
    seed: int,
    cycle: int,
    parameters: DropletParameters,
) -> DropletTotals:
    """Let the drops of one cycle run over a map, and change it in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous. `cell_size` is the side of a cell in metres. The same map, seed, cycle and parameters
    give the same bits on any number of threads. What was on the map is there afterwards or in `sediment_off_edge`.

    Where a drop meets a value that is not a finite number, it stops before it writes, `failed_row` and `failed_column`
    say where, and the cycle is not complete.
    """
    rows, columns = bedrock.shape
    for layer in (bedrock, sediment, ground):
        if layer.shape != (rows, columns) or layer.dtype != np.float64 or not layer.flags.c_contiguous:
            raise ValueError("layers must be C-contiguous float64 arrays of one shape")
    fields = _Fields(bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1), rows, columns)
    constants = _Constants(
        dt=float(parameters.dt),
        force=1.0 / float(parameters.density),
        friction=float(parameters.friction),
        deposition_rate=float(parameters.deposition_rate),
        evaporation=float(parameters.evaporation),
        min_volume=float(parameters.min_volume),
        rock_erodibility=float(parameters.rock_erodibility),
        max_steps=float(parameters.max_steps),
        cells_per_metre=1.0 / float(cell_size),
    )
    key = np.uint64(stream(int(seed), _PROCESS, int(cycle)))
    particles, status = _run(int(parameters.count), key, rows, columns, fields, constants)
    return DropletTotals(*_total(particles, status, rows, columns))
