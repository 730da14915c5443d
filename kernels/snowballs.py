"""Snowballs that roll downhill, erode the ground on their way and deposit where it gets flatter.

After Talle 2020, "Simulating hydraulic erosion", on two layers (rock, and loose sediment on it) and in metres. A ball
starts at a random place x and keeps a random offset o, up to `radius` in each direction, which drives apart the paths
of balls. In step i, from 0 to `iterations` − 1, with n the unit normal of the ground at x + o, n.y its part upwards, v
the velocity and m the load:

    the ground is flat, or below standing water: the ball ends
    deposit = m · deposition_rate · n.y
    erosion = erosion_rate · (1 − n.y) · min(1, i · iteration_scale)
    m ← m + erosion − deposit, and the ground at the *previous* place changes by as much the other way
    v ← friction · v + n.xz · speed,  x ← x + v

Positions and speeds are in cells, as in the article. Its heights are lengths with `scale` cells to one unit of them, so
erosion in metres is that above times scale · cell_size. The ground between the middles of cells is interpolated; the
normal is that of central differences over one cell to each side; a change is shared among the four cells around the
place, in parts with which the same interpolation would read it back.

Where this is not what the article's own code does:

- A ball takes loose sediment first, then rock. What it puts down is sediment.
- Where the ground is of several kinds (C7), it takes the same part of each that lies in a cell, times its erodibility,
  and of rock what this becomes when it is worn, times that of the rock; it puts down the same part of each that it
  carries.
- Roots hold the ground as they do under drops: deposit and erosion are less by the part root_hold · roots.
- Rates (kernels/rates.py): the erodibility at the previous place is a factor on the erosion, and the mobility of each
  of the four cells on its share of a change.
- What a ball still carries where it ends is put down there; the article throws it away, 1.5 to 4 % of an island.
- The article's balls run on over the floor of the sea until it is level; ours end at the water, as its text has it.
- Speed is at most 1 − friction, so that no step goes farther than a cell; erosion_rate · scale is at most 16 cells; and
  a ball that carries 64 cells over one wears nothing more.
- The ground at the map's edge is read there and not beyond it; a ball ends where it leaves the map, with its load.

A ball leaves three traces: what it took from each cell (`wear`) and put down in it (`deposit`), in metres, and
that it came (`traffic`, in balls). They fade, so that they tell of the last `memory` balls for each cell of the map.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.droplets import put_down_rich
from kernels.layers import Layer
from kernels.materials import Materials, Moved, asked, ground_of, rock_at, thickness
from kernels.parameters import constants_type, exact
from kernels.particles import ENDED, FAILED, RUNNING, by_kind, engine, own_amounts
from kernels.random import process_number, stream, uniform
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of, settle
from kernels.surface import ROOTS, STRIDE
from kernels.units import Cells, Steps

Trace = NDArray[np.float32]

_PROCESS = process_number("snowballs")

# What a ball wears in a step on a vertical wall is at most so many sides of a cell: forty times what an island needs,
# and heights stay within what a file may hold at all ends of the parameters' ranges.
_DEEPEST_BITE = 16.0

# What a ball carries is at most so many sides of a cell over one cell, four times what it comes to on an island: else
# it could heap up land without end.
_LARGEST_LOAD = 64.0

# The offset of a ball is shorter than this, in cells, by more than half a cell.
_MARGIN = 3


class SnowballParameters(NamedTuple):
    """What the balls of a cycle are like."""

    count: int  # type: ignore[assignment]  # balls; hides tuple.count, which nobody needs here
    erosion_rate: Annotated[float, "article's h"]
    deposition_rate: float  # part of the load that is put down in a step on level ground
    speed: Cells  # that a vertical wall adds to a step
    friction: float  # part of the velocity that is *kept* in a step
    radius: Cells  # of the offset
    iterations: Steps  # at most
    iteration_scale: float  # part of the erosion rate that each step adds until all of it is reached
    scale: Cells  # to the article's unit of height
    memory: Annotated[float, "balls per cell"]  # in which traces fade to 1 / e
    root_hold: float  # part of deposit and erosion that is missing where roots are densest


class SnowballTotals(NamedTuple):
    """Amounts moved in a cycle, in metres over one cell."""

    moved: Moved
    steps: int
    failed_row: int  # where a ball met a value that is not a finite number; -1: nowhere
    failed_column: int


class _Fields(NamedTuple):
    bedrock: Layer  # each [row * columns + column]: one index serves all
    sediment: Layer
    ground: Layer
    standing: NDArray[np.uint8]  # not 0 in lakes and sea
    wear: Trace
    deposit: Trace
    traffic: Trace
    rows: int
    columns: int
    stride: int  # of the next two
    loads: Layer  # [ball * stride + kind]: what it carries
    from_rock: Layer  # [drop * stride + kind]: load made from rock
    surface: NDArray[np.float32]  # [cell * STRIDE + one of kernels/surface.py]; empty: bare
    rates: Rates  # as in kernels/rates.py; empty: 1
    plain: bool  # whether there is one kind of loose material, and nothing else that raises the ground


# What balls ask of `Materials`
_ASKED = (
    "kinds", "mix", "burden", "erodibility", "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_worn",
)  # fmt: skip

# All side by side, because what Numba runs in parallel takes no tuple of tuples.
_Ground: Any = namedtuple("_Ground", _Fields._fields + _ASKED)  # type: ignore[misc]

# The parameters, with no more speed than friction takes; the erosion in metres, and what follows from the map
_Constants = constants_type(SnowballParameters, "erosion", "largest_load", "sea_level", "cells_per_metre")


@inlined
def _spawn(particle, key, fields, constants):
    """A ball at rest, anywhere on the map."""
    row = uniform(key, 4 * particle) * fields.rows
    column = uniform(key, 4 * particle + 1) * fields.columns
    offset_row = (2.0 * uniform(key, 4 * particle + 2) - 1.0) * constants.radius
    offset_column = (2.0 * uniform(key, 4 * particle + 3) - 1.0) * constants.radius
    # Middles of cells are whole numbers in what a ball reads at, which is never negative: int() rounds it down.
    read_row, read_column = row + offset_row + (_MARGIN - 0.5), column + offset_column + (_MARGIN - 0.5)
    # What a ball keeps to tell what it wore: how much, or, of several kinds, its number, which finds its own
    told = 0.0 if fields.kinds == 1 else float(particle)
    return row, column, row, column, read_row, read_column, 0.0, 0.0, 0.0, told, 0.0


@inlined
def _add(fields, cell, amount):
    """Put `amount` on a cell without a burden, or take it where it is negative, sediment first.

    Returns what came of the rock.
    """
    loose = fields.sediment[np.uintp(cell)] + amount
    worn = max(0.0, -loose)
    loose = max(0.0, loose)
    rock = fields.bedrock[np.uintp(cell)] - worn
    fields.bedrock[np.uintp(cell)] = rock
    fields.sediment[np.uintp(cell)] = loose
    fields.ground[np.uintp(cell)] = rock + loose
    return worn


@njit(nogil=True, error_model="numpy")
def _dig_mix(fields, own, cell, depth):
    """Take `depth` of a cell, all that lies there by the same part, then rock, each as far as it can be eroded.

    Returns what this comes to.
    """
    here = cell * fields.kinds
    loose = thickness(fields, cell)
    part = depth / loose if depth < loose else 1.0
    total = 0.0
    for kind in range(fields.kinds):
        taken = part * fields.erodibility[kind] * fields.mix[here + kind]
        fields.mix[here + kind] -= taken
        fields.loads[own + kind] += taken
        total += taken
    if depth > loose:
        rock = rock_at(fields, cell, fields.bedrock[cell])
        worn = (depth - loose) * fields.rock_erodibility[rock]
        kind = fields.rock_worn[rock]
        fields.bedrock[cell] -= worn
        fields.from_rock[own + kind] += worn
        fields.loads[own + kind] += worn
        total += worn
    return total


@njit(nogil=True, error_model="numpy")
def _change_mix(fields, ball, cells, shares, amount, load):
    """As `_change`, each kind by itself. Returns what was taken."""
    own = ball * fields.stride
    taken = 0.0
    part = min(1.0, amount / load) if amount > 0.0 else 0.0
    moved = 1.0
    if len(fields.rates) > 0:
        moved = (shares[0] + shares[1]) + (shares[2] + shares[3])
    for kind in range(fields.kinds if part > 0.0 else 0):
        laid = part * fields.loads[own + kind]
        fields.loads[own + kind] -= moved * laid
        for place in range(4):
            fields.mix[cells[place] * fields.kinds + kind] += shares[place] * laid
    for place in range(4):
        if amount < 0.0:
            taken += _dig_mix(fields, own, cells[place], -shares[place] * amount)
        cell = cells[place]
        fields.sediment[cell] = thickness(fields, cell)
        fields.ground[cell] = ground_of(fields.burden, cell, fields.bedrock[cell], fields.sediment[cell])
    return taken


@njit(nogil=True, error_model="numpy")
def _change_rich(fields, told, cells, shares, amount, load, deposit, erosion):
    """As `_change`, on ground that is not plain. Not inlined, so that the loop stays short where it is.

    Returns what the ball tells of what it wore, and the erosion.
    """
    if fields.kinds > 1:
        taken = _change_mix(fields, int(told), cells, shares, amount, load)
        return told, deposit + taken if amount < 0.0 else erosion
    for place in range(4):
        cell = cells[place]
        told += _add(fields, cell, shares[place] * amount)
        fields.ground[cell] = ground_of(fields.burden, cell, fields.bedrock[cell], fields.sediment[cell])
    return told, erosion


@inlined
def _change(fields, row, column, deposit, erosion, load, told):
    """Share deposit − erosion, of the load, or taken where it is negative, among the four cells around a place.

    Returns what the ball tells of what it wore, and deposit and erosion, which are less where the ground resists.
    """
    amount = deposit - erosion
    # Middles of cells: the one to the north and west of the place, and how far the place is from it. Beyond the map's
    # edges the cell at the edge takes it.
    i, j = int(row + 0.5) - 1, int(column + 0.5) - 1
    south, east = row - 0.5 - i, column - 0.5 - j
    upper, lower = max(i, 0) * fields.columns, min(i + 1, fields.rows - 1) * fields.columns
    left, right = max(j, 0), min(j + 1, fields.columns - 1)
    nw, ne, sw, se = upper + left, upper + right, lower + left, lower + right
    to_nw, to_ne, to_sw, to_se = (1.0 - south) * (1.0 - east), (1.0 - south) * east, south * (1.0 - east), south * east
    if len(fields.rates) > 0:
        to_nw *= rate_of(fields.rates, nw, MOBILITY)
        to_ne *= rate_of(fields.rates, ne, MOBILITY)
        to_sw *= rate_of(fields.rates, sw, MOBILITY)
        to_se *= rate_of(fields.rates, se, MOBILITY)
        moved = (to_nw + to_ne) + (to_sw + to_se)
        deposit *= moved
        erosion *= moved
    if not fields.plain:
        told, erosion = _change_rich(
            fields, told, (nw, ne, sw, se), (to_nw, to_ne, to_sw, to_se), amount, load, deposit, erosion
        )
        return told, deposit, erosion
    worn = _add(fields, nw, to_nw * amount)
    worn += _add(fields, ne, to_ne * amount)
    worn += _add(fields, sw, to_sw * amount)
    worn += _add(fields, se, to_se * amount)
    return told + worn, deposit, erosion


@inlined
def _step(state, fields, constants):
    """One step of one ball; the formulas are at the top of this file."""
    row, column, old_row, old_column, read_row, read_column, v_row, v_column, load, told, i = state
    rows, columns = fields.rows, fields.columns
    ground = fields.ground

    # The cell to the north-west of the place that is read, with its neighbours (a: its column, b: the next one), and
    # how far south and east of its middle the place lies. A step begins where the one before ends, so the processor
    # waits for the chain of operations from place to place: it is kept short, with weights that are made beside it.
    r, c = int(read_row) - _MARGIN, int(read_column) - _MARGIN
    if 0 < r < rows - 2 and 0 < c < columns - 2:
        a1 = r * columns + c
        a0, a2, a3 = a1 - columns, a1 + columns, a1 + 2 * columns
        b0, b1, b2, b3 = a0 + 1, a1 + 1, a2 + 1, a3 + 1
        west1, west2, east1, east2 = a1 - 1, a2 - 1, b1 + 1, b2 + 1
    else:
        # The ground at the map's edge is that beyond it.
        r0, r1 = min(max(r - 1, 0), rows - 1) * columns, min(max(r, 0), rows - 1) * columns
        r2, r3 = min(max(r + 1, 0), rows - 1) * columns, min(max(r + 2, 0), rows - 1) * columns
        c0, c1 = min(max(c - 1, 0), columns - 1), min(max(c, 0), columns - 1)
        c2, c3 = min(max(c + 1, 0), columns - 1), min(max(c + 2, 0), columns - 1)
        a0, a1, a2, a3 = r0 + c1, r1 + c1, r2 + c1, r3 + c1
        b0, b1, b2, b3 = r0 + c2, r1 + c2, r2 + c2, r3 + c2
        west1, west2, east1, east2 = r1 + c0, r2 + c0, r1 + c3, r2 + c3
    south, east = read_row - np.floor(read_row), read_column - np.floor(read_column)
    north, west = 1.0 - south, 1.0 - east
    nw, ne, sw, se = north * west, north * east, south * west, south * east
    half = 0.5 * constants.cells_per_metre
    # Unsigned, so that no test for a negative index is compiled.
    h_nw, h_ne, h_sw, h_se = ground[np.uintp(a1)], ground[np.uintp(b1)], ground[np.uintp(a2)], ground[np.uintp(b2)]
    # Central differences at the four cells around the place, between which they are interpolated
    rise_south = ((half * nw) * (h_sw - ground[np.uintp(a0)]) + (half * ne) * (h_se - ground[np.uintp(b0)])) + (
        (half * sw) * (ground[np.uintp(a3)] - h_nw) + (half * se) * (ground[np.uintp(b3)] - h_ne)
    )
    rise_east = ((half * nw) * (h_ne - ground[np.uintp(west1)]) + (half * sw) * (h_se - ground[np.uintp(west2)])) + (
        (half * ne) * (ground[np.uintp(east1)] - h_nw) + (half * se) * (ground[np.uintp(east2)] - h_sw)
    )
    height = (nw * h_nw + ne * h_ne) + (sw * h_sw + se * h_se)
    steepness = 1.0 + (rise_south * rise_south + rise_east * rise_east)
    # Tests are put such that NaN takes the way of the exception.
    if not abs(height) + steepness < np.inf:
        return state, FAILED
    length = math.sqrt(steepness)
    here = int(row) * columns + int(column)
    if length == 1.0 or height <= constants.sea_level or fields.standing[np.uintp(here)] != 0:
        left = 0.0
        if load > 0.0:
            left = put_down_rich(fields, int(row), int(column), told, load)
            fields.deposit[here] += max(0.0, load - left)
        return (row, column, old_row, old_column, read_row, read_column, v_row, v_column, left, told, i), ENDED

    upright = 1.0 / length
    old = int(old_row) * columns + int(old_column)
    deposit = load * constants.deposition_rate * upright
    erosion = (constants.erosion * min(1.0, i * constants.iteration_scale)) * (1.0 - upright)
    if len(fields.surface) > 0:
        free = 1.0 - constants.root_hold * fields.surface[np.uintp(old * STRIDE + ROOTS)]
        deposit *= free
        erosion *= free
    erosion *= rate_of(fields.rates, old, ERODIBILITY)
    erosion = min(erosion, constants.largest_load - load)
    told, deposit, erosion = _change(fields, old_row, old_column, deposit, erosion, load, told)
    fields.wear[np.uintp(old)] += erosion
    fields.deposit[np.uintp(old)] += deposit
    fields.traffic[np.uintp(here)] += here != old
    load += erosion - deposit

    v_row = constants.friction * v_row - (constants.speed * rise_south) / length
    v_column = constants.friction * v_column - (constants.speed * rise_east) / length
    new_row, new_column = row + v_row, column + v_column
    read_row += v_row
    read_column += v_column
    i += 1.0
    outcome = RUNNING
    if not (0.0 <= new_row < rows and 0.0 <= new_column < columns):
        outcome = ENDED
    elif i >= constants.iterations:
        left = put_down_rich(fields, int(new_row), int(new_column), told, load)
        fields.deposit[int(new_row) * columns + int(new_column)] += max(0.0, load - left)
        load = left
        outcome = ENDED
    return (new_row, new_column, row, column, read_row, read_column, v_row, v_column, load, told, i), outcome


_run = engine(_spawn, _step, slots=11)
_LOAD = 8


@njit(cache=True, nogil=True)
def _total(particles: Any, status: Any) -> Any:
    """Add up the balls in their order."""
    abraded = off_map = 0.0
    steps = 0
    failed_row = failed_column = -1
    for particle in range(len(particles)):
        off_map += particles[particle, 8]  # where a ball ended on the map, it has put down all
        abraded += particles[particle, 9]
        steps += int(particles[particle, 10])
        if status[particle] == FAILED and failed_row < 0:
            failed_row, failed_column = int(particles[particle, 0]), int(particles[particle, 1])
    return abraded, off_map, steps, failed_row, failed_column


@njit(cache=True, nogil=True, parallel=True)
def _fade(wear: Trace, deposit: Trace, traffic: Trace, kept: np.float32) -> None:
    rows, columns = wear.shape
    for row in prange(rows):
        for column in range(columns):
            wear[row, column] *= kept
            deposit[row, column] *= kept
            traffic[row, column] *= kept


def roll(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    standing: NDArray[np.uint8],
    wear: Trace,
    deposit: Trace,
    traffic: Trace,
    sea_level: float,
    cell_size: float,
    seed: int,
    cycle: int,
    parameters: SnowballParameters,
    *,
    surface: NDArray[np.float32] | None = None,
    rates: Rates | None = None,
) -> SnowballTotals:
    """Let the balls of one cycle roll over a map, and change it in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. `standing` (uint8) is not 0 where water
    stands, where balls end; they do so, too, where the ground is not above `sea_level` (metres; minus infinity where
    there is no sea). `wear`, `deposit` and `traffic` are float32 traces as told at the top of this file. `cell_size` is
    the side of a cell in metres. `surface` is float32 [row, column, one of kernels/surface.py], and `rates`
    [row, column, one of kernels/rates.py].

    The same map, seed, cycle and parameters give the same bits on any number of threads. What was on the map is there
    afterwards or in `moved`.

    Where a ball meets a value that is not a finite number, it stops before it writes, `failed_row` and `failed_column`
    say where, and the cycle is not complete.
    """
    rows, columns = bedrock.shape
    layers: list[NDArray[Any]] = [bedrock, sediment, ground, standing, wear, deposit, traffic]
    types: list[type[np.generic]] = [*[np.float64] * 3, np.uint8, *[np.float32] * 3]
    for layer, kind in zip(layers, types, strict=True):
        if layer.shape != (rows, columns) or layer.dtype != kind or not layer.flags.c_contiguous:
            raise ValueError(f"layers must be C-contiguous {np.dtype(kind)} arrays of one shape")
    p = exact(parameters)
    kinds = materials.kinds if materials.kinds > 1 else 0
    loads, from_rock = own_amounts(p.count, kinds), own_amounts(p.count, kinds)
    own = (loads.shape[1], loads.reshape(-1), from_rock.reshape(-1))
    covered = np.empty(0, np.float32) if surface is None else surface.reshape(-1)
    factors = flat(rates)
    on_it = (covered, factors, kinds == 0 and len(materials.burden) == 0)
    fields = _Ground._make(
        (*(layer.reshape(-1) for layer in layers), rows, columns, *own, *on_it, *asked(materials, _ASKED))
    )
    constants = _Constants(
        **p._replace(speed=min(p.speed, 1.0 - p.friction))._asdict(),
        erosion=min(p.erosion_rate * p.scale, _DEEPEST_BITE) * float(cell_size),
        largest_load=_LARGEST_LOAD * float(cell_size),
        sea_level=float(sea_level),
        cells_per_metre=1.0 / float(cell_size),
    )
    key = np.uint64(stream(int(seed), _PROCESS, int(cycle)))
    kept = math.exp(-p.count / (p.memory * rows * columns))
    _fade(wear, deposit, traffic, np.float32(kept))
    particles, status = _run(p.count, key, rows, columns, fields, constants)
    if len(factors) > 0:
        carried = loads if kinds > 0 else particles[:, _LOAD : _LOAD + 1].copy()
        settle(particles, carried, factors, materials, bedrock, sediment, ground)
        particles[:, _LOAD] = carried[:, : materials.kinds].sum(axis=1)
    abraded, off_map, *others = _total(particles, status)
    worn, gone = (by_kind(from_rock, kinds), by_kind(loads, kinds)) if kinds > 0 else ((abraded,), (off_map,))
    return SnowballTotals(Moved(worn, gone), *others)
