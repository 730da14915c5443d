"""Braided rivers: water that splits among all lower cells, with transport that grows faster than discharge.

After Murray & Paola (1994), on a map whose water may run in any direction. The water Q of each cell, in the order from
the highest to the lowest, goes to its lower neighbours in proportion to the slope S to each. With the mean S of its
ways, weighted by the water of each, a cell sends down

    V = transport · (Q / Q_all · (S + overcome) / 0.01)^m          m = 2.5

in metres over one cell in a cycle, to each neighbour by its part of the power Q · S; and from each bank beside it, at a
slope S_b, there slides lateral · S_b · V. As m is above 1, water that gathers digs, and water that spreads out lays
down what it brought: channels part around their own bars. Only loose material moves. All of it is worked out from the
ground as it was, so that no order of cells shows. What no water comes to is not looked at: a cycle costs what its wet
cells do, and the ponds among them.

Where water enters, the river brings in a part, the `load`, of what it adds to transport there: all, and the bed stays;
less, and it cuts into its plain, as below a gorge or a lake, and braids farther down with what it took. Over the map's
edge it carries what comes.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.layers import Layer, check_layers
from kernels.loads import dig, sum_up
from kernels.materials import Materials, Moved, asked, thickness
from kernels.neighbours import LENGTHS, OPPOSITE, OUTLET, index_steps, on_map
from kernels.ocean import ocean_mask
from kernels.rates import MOBILITY, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.spill_levels import IN_THE_SEA, OVER_THE_EDGE, drop_first, find_outlets, level_of, push, search_of, stands
from kernels.units import Metres

EXPONENT = 2.5  # m
REFERENCE_SLOPE = 0.01
LARGEST_PART = 0.2  # of a step, beyond which its height oscillates from cycle to cycle

_FEW = 256  # cells that there is room for at first
_LEAST = np.finfo(np.float32).tiny  # of traces: processors are slow with numbers that are smaller

Numbers = NDArray[np.float64]


class BraidParameters(NamedTuple):
    """How rivers that braid carry."""

    transport: Metres  # taken from a cell through which all water runs, at a slope of 1 %
    lateral: float
    overcome: float  # so steeply up it still carries
    load: float  # what it brings in, of what it takes from where it comes in
    largest_part: float  # of the step from one cell to the next that may be carried in a cycle


class Parted(NamedTuple):
    """How water runs that parts, [row, column]."""

    water: Numbers  # what passes, in the unit of the sources
    directions: NDArray[
        np.int8
    ]  # the neighbour that most of it goes to: see `kernels.neighbours`; OUTLET where none is


class Braided(NamedTuple):
    """Results of a cycle, in metres over one cell."""

    cells: NDArray[np.int32]  # where anything did, as row * columns + column, in this order: elsewhere all is 0
    water: Numbers  # [row, column]: what passed; good until the next step begins on the scratch memory
    carried: Numbers  # of each of the cells: loose material that went on from there
    moved: Moved


_ASKED = ("kinds", "mix", "burden", "strata", "steps_per_metre", "rise", "rock_worn")
_FIELDS = (*_ASKED, "rates", "still", "bedrock", "sediment", "ground")
_Land: Any = namedtuple("_Land", _FIELDS)  # type: ignore[misc]


@njit(nogil=True, cache=True, error_model="numpy")
def _part(search, cell_size, springs, water, number, level, far, queue):
    """Let the water of each cell go on to all lower ones, from the highest down, over a pond from farthest out on.

    `water` [cell], that of the cells `springs` before, becomes what passes, and `number` [cell], all 0 before, says
    which of the results a cell is, from 1. `level`, `far` and `queue` [cell] are memory to work in.
    Returns all cells with water in the order of their numbers, and what goes from each to its neighbours, [number, 8].
    """
    rows, columns, steps = search.rows, search.columns, search.steps
    cells, ways = np.empty(_FEW, np.int32), np.zeros((_FEW, 8))
    waiting = count = 0
    for cell in springs:
        waiting = push(level, far, queue, waiting, -level_of(search, cell), _way_out(search, cell), np.int32(cell))
    while waiting > 0:
        cell = np.int64(queue[0])
        waiting = drop_first(level, far, queue, waiting)
        if count == len(cells):
            cells, ways = np.concatenate((cells, np.empty_like(cells))), np.concatenate((ways, np.zeros_like(ways)))
        cells[count] = cell
        way = ways[count]
        count += 1
        number[cell] = count
        if search.outlets[cell]:
            continue
        row, column = divmod(cell, columns)
        here, height = water[cell], level_of(search, cell)
        total = 0.0
        for neighbour in range(8):
            if on_map(row, column, neighbour, rows, columns):
                other = cell + steps[neighbour]
                if search.ground[other] < height:
                    slope = (height - level_of(search, other)) / (LENGTHS[neighbour] * cell_size)
                    if slope > 0.0:
                        way[neighbour] = slope
                        total += slope
        if total > 0.0:
            for neighbour in range(8):
                way[neighbour] *= here / total
        else:
            way[search.direction[cell]] = here
        for neighbour in range(8):
            if way[neighbour] > 0.0:
                other = cell + steps[neighbour]
                if not water[other] > 0.0:
                    out = _way_out(search, other)
                    waiting = push(level, far, queue, waiting, -level_of(search, other), out, np.int32(other))
                water[other] += way[neighbour]
    return cells[:count], ways[:count]


@njit(nogil=True, error_model="numpy")
def _way_out(search, cell):
    """How far it is out of the pond that a cell stands in, as less than 0: the farthest comes first. Of others 0."""
    return -search.far[cell] if stands(search, cell) else np.int32(0)


@njit(nogil=True, cache=True, error_model="numpy")
def _carry(land, cells, ways, outlets, cell_size, steps, water, all_water, parameters, number):
    """Find what goes from each cell to each neighbour: volumes [number, 8] of all cells that may give or take any.

    `cells` and `ways` are what `_part` returned. Returns theirs, with those of their banks after them, which are given
    their numbers here.
    """
    rows, columns = outlets.shape
    outlet = outlets.reshape(-1)
    all_cells = np.empty(min(9 * len(cells), len(water)), np.int32)
    all_cells[: len(cells)] = cells
    count = len(cells)
    for index in cells:
        row, column = divmod(np.int64(index), columns)
        for neighbour in range(8):
            bank = np.int64(index) + steps[neighbour]
            if on_map(row, column, neighbour, rows, columns) and number[bank] == 0:
                all_cells[count] = bank
                count += 1
                number[bank] = count
    volumes = np.zeros((count, 8))
    shares = np.empty(8)
    for place in range(len(cells)):
        cell, way = np.int64(cells[place]), ways[place]
        row, column = divmod(cell, columns)
        power, steepest, room = 0.0, 0.0, 0.0
        shares[:] = 0.0
        for neighbour in range(8):
            if not on_map(row, column, neighbour, rows, columns):
                continue
            length = LENGTHS[neighbour] * cell_size
            slope = (land.ground[cell] - land.ground[cell + steps[neighbour]]) / length
            steepest = max(steepest, -slope)
            if way[neighbour] > 0.0 and slope + parameters.overcome > 0.0:
                shares[neighbour] = way[neighbour] * (slope + parameters.overcome)
                power += shares[neighbour]
                room = max(room, (slope + parameters.overcome) * length)
        if outlet[cell]:
            power = water[cell] * (steepest + parameters.overcome)
            room = (steepest + parameters.overcome) * cell_size
        through = parameters.transport * (power / (all_water * REFERENCE_SLOPE)) ** EXPONENT
        through = min(through, parameters.largest_part * room)
        if not outlet[cell] and power > 0.0:
            for neighbour in range(8):
                if way[neighbour] > 0.0:
                    volumes[place, neighbour] += through * shares[neighbour] / power
        for neighbour in range(8):
            if on_map(row, column, neighbour, rows, columns):
                bank = cell + steps[neighbour]
                rise = land.ground[bank] - land.ground[cell]
                if rise > 0.0 and through > 0.0:
                    slope = rise / (LENGTHS[neighbour] * cell_size)
                    moved = min(parameters.lateral * slope * through, parameters.largest_part * rise)
                    volumes[number[bank] - 1, OPPOSITE[neighbour]] += moved
    return all_cells[:count], volumes


@inlined
def _mobility_of(land, cell):
    return 0.0 if len(land.still) > 0 and land.still[cell] else rate_of(land.rates, cell, MOBILITY)


@njit(nogil=True, cache=True, error_model="numpy")
def _exchange(land, cells, steps, sources, water, outlets, load, volumes, number, carried, off_map, brought):
    """Take from each of the cells what goes from it, as far as it is there, and bring it to where it goes.

    `volumes` [number, 8] is what goes from each, and `carried`, of each of `cells`, becomes how much went on. Cells at
    the map's end keep their height: where water leaves over the edge, and `sources`, where it comes in with a full
    load.
    """
    kinds = land.kinds
    comes, taken, left, none = np.zeros((len(volumes), kinds)), np.zeros(kinds), np.zeros(kinds), np.zeros(kinds)
    for place in range(len(cells)):
        cell = np.int64(cells[place])
        own = number[cell] - 1
        goes = 0.0
        for neighbour in range(8):
            goes += volumes[own, neighbour]
        loose = thickness(land, cell)
        free = _mobility_of(land, cell)
        if not (goes > 0.0 and loose > 0.0 and free > 0.0):
            continue
        taken[:] = 0.0
        dig(land, cell, min(free * goes, loose), taken, 0, none)
        for kind in range(kinds):
            left[kind] = taken[kind]
        for neighbour in range(8):
            share = volumes[own, neighbour] / goes
            to = cell + steps[neighbour]
            if share > 0.0 and _mobility_of(land, to) > 0.0:
                for kind in range(kinds):
                    comes[number[to] - 1, kind] += share * taken[kind]
                    left[kind] -= share * taken[kind]
                    carried[place] += share * taken[kind]
        for kind in range(kinds):  # what protected ground does not take, and what rounding leaves
            comes[own, kind] += left[kind]
        if sources[cell] > 0.0:
            others = 1.0 - sources[cell] / water[cell]
            part = load * (1.0 - others**EXPONENT)  # what water adds: that which comes by has its load
            for kind in range(kinds):
                comes[own, kind] += part * taken[kind]
                brought[kind] += part * taken[kind]
    for index in cells:
        cell = np.int64(index)
        for kind in range(kinds):
            amount = comes[number[cell] - 1, kind]
            if outlets[cell] == OVER_THE_EDGE and amount > 0.0:
                off_map[kind] += amount
            else:
                land.mix[cell * kinds + kind] = max(land.mix[cell * kinds + kind] + amount, 0.0)
        sum_up(land, cell)


class _Routed(NamedTuple):
    """The cells that have water, [number], and where it goes."""

    water: Numbers  # [row, column]
    cells: NDArray[np.int32]
    ways: Numbers  # [number, 8]: what goes from each to its neighbours
    number: NDArray[np.int32]  # [row, column]: that of each cell, from 1
    outlets: NDArray[np.uint8]  # [row, column]: where water leaves


def _route(
    ground: Layer,
    cell_size: float,
    sources: Numbers,
    sea_level: float,
    open_edges: bool,
    scratch: Scratch | None = None,
) -> _Routed | None:
    """The routes of the water of the sources; None if there is nowhere to flow."""
    ocean = ocean_mask(ground, sea_level) if sea_level > -math.inf else np.empty((0, 0), np.bool_)
    has_ocean = bool(ocean.any())
    outlets = np.zeros(ground.shape, np.uint8)
    if not find_outlets(ground, sources, ocean, open_edges or not has_ocean, outlets):
        return None
    scratch = scratch or Scratch()
    water, number = scratch.empty(ground.shape), np.zeros(ground.shape, np.int32)
    water.fill(0.0)
    springs = np.flatnonzero(sources > 0.0)
    water.reshape(-1)[springs] = sources.reshape(-1)[springs]
    search = search_of(ground, outlets, index_steps(ground.shape[1]), scratch)
    heap = scratch.empty(water.size), scratch.empty(water.size, np.int32), scratch.empty(water.size, np.int32)
    cells, ways = _part(search, float(cell_size), springs, water.reshape(-1), number.reshape(-1), *heap)
    return _Routed(water, cells, ways, number, outlets)


def part(
    ground: Layer, cell_size: float, sources: Numbers, *, sea_level: float = -math.inf, open_edges: bool = True
) -> Parted:
    """The water of `sources`, [row, column], as it parts over the ground: what `braid` lets run, and nothing moves."""
    sources = np.ascontiguousarray(sources, np.float64)
    directions = np.full(ground.shape, OUTLET, np.int8)
    routed = _route(ground, cell_size, sources, sea_level, open_edges)
    if routed is None:
        return Parted(np.zeros(ground.shape), directions)
    runs = routed.ways.any(axis=1)
    directions.reshape(-1)[routed.cells[runs]] = routed.ways[runs].argmax(axis=1)
    return Parted(routed.water, directions)


def braid(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    sources: Numbers,
    parameters: BraidParameters,
    *,
    sea_level: float = -math.inf,
    open_edges: bool = True,
    rates: Rates | None = None,
    still: NDArray[np.bool_] | None = None,
    scratch: Scratch | None = None,
) -> Braided:
    """Let the water of a cycle run over loose ground, and change this in place.

    Layers are as kernels of particles take them: float64 metres [row, column]. `sources` [row, column] is the water
    that comes to each cell, in metres. The sea lies below `sea_level`; over the map's edge water leaves where
    `open_edges` says so, as in `kernels.rivers.drain`. Where it is `still` [row, column] nothing moves. `scratch` is
    memory to work in.
    """
    check_layers(bedrock, sediment, ground)
    sources = np.ascontiguousarray(sources, np.float64)
    routed = _route(ground, cell_size, sources, sea_level, open_edges, scratch and scratch.begin())
    if routed is None or not len(routed.cells):
        return Braided(np.empty(0, np.int32), np.zeros(ground.shape), np.empty(0), Moved())
    steps, number, outlets = index_steps(ground.shape[1]), routed.number.reshape(-1), routed.outlets
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), np.empty(0, np.bool_) if still is None else still.reshape(-1),
        bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    off_map, brought = np.zeros(materials.kinds), np.zeros(materials.kinds)
    cells, volumes = _carry(
        land, routed.cells, routed.ways, outlets, float(cell_size), steps, routed.water.reshape(-1),
        float(sources.sum()), parameters, number,
    )  # fmt: skip
    cells.sort()  # so that no order but that of the map shows in the sums
    carried = np.zeros(len(cells))
    if not open_edges:
        outlets[outlets == OVER_THE_EDGE] = IN_THE_SEA  # nothing leaves
    _exchange(
        land, cells, steps, sources.reshape(-1), routed.water.reshape(-1), outlets.reshape(-1),
        float(parameters.load), volumes, number, carried, off_map, brought,
    )  # fmt: skip
    moved = Moved(off_map=tuple(off_map.tolist()), blown_in=tuple(brought.tolist()))
    return Braided(cells, routed.water, carried, moved)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def fade(reworked, kept):
    """Keep a part of the trace of what rivers moved, [row, column], in place."""
    none = np.float32(0.0)
    for row in prange(reworked.shape[0]):
        here = reworked[row]
        for column in range(len(here)):
            left = here[column] * kept
            here[column] = left if left >= _LEAST else none


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def follow(now_stream, now_discharge, weight, where_they_ran, reworked, stream, discharge):
    """Let traces of flowing water, float32 [row, column], take so much of the way to what runs now, in place.

    `where_they_ran`: only in cells where threads run, or where `reworked` says that they did.
    """
    none = np.float32(0.0)
    for row in prange(stream.shape[0]):
        runs, passes, moved = now_stream[row], now_discharge[row], reworked[row]
        for column in range(len(runs)):
            if not where_they_ran or runs[column] > none or moved[column] > none:
                stream[row, column] += weight * (runs[column] - stream[row, column])
                discharge[row, column] += weight * (passes[column] - discharge[row, column])
