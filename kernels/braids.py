"""Rivers that braid: water that parts among all lower cells, and carries the more out of proportion, the more it is.

After Murray & Paola (1994), on a map whose water may run in any direction. The water Q of each cell, in the order from
the highest to the lowest, goes to its lower neighbours in proportion to the slope S to each. With the mean S of its
ways, weighted by the water of each, a cell sends down

    V = transport · (Q / Q_all · (S + overcome) / 0.01)^m          m = 2.5

in metres over one cell in a cycle, to each neighbour by its part of the power Q · S; and from each bank beside it, at a
slope S_b, there slides lateral · S_b · V. As m is above 1, water that gathers digs, and water that spreads out lays
down what it brought: channels part around their own bars. Only loose material moves. All of it is worked out from the
ground as it was, so that no order of cells shows.

Where water enters, the river brings in a part, the `load`, of what it takes from there: all of it, and the bed stays;
less, and it cuts into its plain, as below a gorge or a lake, and braids farther down with what it took. Over the map's
edge it carries what comes.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.layers import Layer, check_layers
from kernels.loads import dig, sum_up
from kernels.materials import Materials, Moved, asked, thickness
from kernels.neighbours import LENGTHS, OPPOSITE, OUTLET, index_steps, on_map
from kernels.ocean import ocean_mask
from kernels.rates import MOBILITY, Rates, flat, rate_of
from kernels.routing import routes
from kernels.units import Metres

EXPONENT = 2.5  # m
REFERENCE_SLOPE = 0.01
LARGEST_PART = 0.2  # of the step from one cell to the next that may be carried in a cycle

Numbers = NDArray[np.float64]


class BraidParameters(NamedTuple):
    """How rivers that braid carry."""

    transport: Metres  # taken from a cell through which all water runs, at a slope of 1 %
    lateral: float
    overcome: float  # so steeply up it still carries
    load: float  # what it brings in, of what it takes from where it comes in


class Parted(NamedTuple):
    """How water runs that parts, [row, column]."""

    water: Numbers  # what passes, in the unit of the sources
    directions: NDArray[np.int8]  # the number of the neighbour that most of it goes to: see `kernels.neighbours`


class Braided(NamedTuple):
    """What a cycle did, in metres over one cell."""

    water: Numbers  # [row, column]: what passed
    carried: Numbers  # [row, column]: loose material that went on from there
    moved: Moved


_ASKED = ("kinds", "mix", "burden", "strata", "steps_per_metre", "rise", "rock_worn")
_FIELDS = (*_ASKED, "rates", "bedrock", "sediment", "ground")
_Land: Any = namedtuple("_Land", _FIELDS)  # type: ignore[misc]


@njit(nogil=True, cache=True, error_model="numpy")
def _part(filled, directions, order, cell_size, steps, water, ways):
    """Let the water of each cell go on to all lower ones; `ways` [cell * 8 + neighbour] is what goes each way."""
    rows, columns = filled.shape
    height, direction = filled.reshape(-1), directions.reshape(-1)
    ways[:] = 0.0
    for cell in order:
        here = water[cell]
        if not here > 0.0 or direction[cell] == OUTLET:
            continue
        row, column = divmod(cell, columns)
        total = 0.0
        for neighbour in range(8):
            if on_map(row, column, neighbour, rows, columns):
                slope = (height[cell] - height[cell + steps[neighbour]]) / (LENGTHS[neighbour] * cell_size)
                if slope > 0.0:
                    ways[cell * 8 + neighbour] = slope
                    total += ways[cell * 8 + neighbour]
        if total > 0.0:
            for neighbour in range(8):
                ways[cell * 8 + neighbour] *= here / total
        else:  # over a pond, by its shortest way out
            ways[cell * 8 + direction[cell]] = here
        for neighbour in range(8):
            if ways[cell * 8 + neighbour] > 0.0:
                water[cell + steps[neighbour]] += ways[cell * 8 + neighbour]


@njit(nogil=True, cache=True, error_model="numpy")
def _turn_to_most(ways, directions):
    """Let directions be those of the most water, where any runs."""
    direction = directions.reshape(-1)
    for cell in range(len(direction)):
        most = 0.0
        for neighbour in range(8):
            if ways[cell * 8 + neighbour] > most:
                direction[cell], most = neighbour, ways[cell * 8 + neighbour]


@njit(nogil=True, cache=True, error_model="numpy")
def _carry(land, directions, cell_size, steps, water, ways, all_water, parameters, shares, volumes):
    """Find what goes from each cell to each neighbour, `volumes` [cell * 8 + neighbour]; `shares` is room for it."""
    rows, columns = directions.shape
    direction = directions.reshape(-1)
    shares[:] = 0.0
    volumes[:] = 0.0
    for cell in range(len(direction)):
        if not water[cell] > 0.0:
            continue
        row, column = divmod(cell, columns)
        power, steepest, room = 0.0, 0.0, 0.0
        for neighbour in range(8):
            if not on_map(row, column, neighbour, rows, columns):
                continue
            length = LENGTHS[neighbour] * cell_size
            slope = (land.ground[cell] - land.ground[cell + steps[neighbour]]) / length
            steepest = max(steepest, -slope)
            if ways[cell * 8 + neighbour] > 0.0 and slope + parameters.overcome > 0.0:
                shares[cell * 8 + neighbour] = ways[cell * 8 + neighbour] * (slope + parameters.overcome)
                power += shares[cell * 8 + neighbour]
                room = max(room, (slope + parameters.overcome) * length)
        if direction[cell] == OUTLET:
            power = water[cell] * (steepest + parameters.overcome)
            room = (steepest + parameters.overcome) * cell_size
        through = parameters.transport * (power / (all_water * REFERENCE_SLOPE)) ** EXPONENT
        through = min(through, LARGEST_PART * room)
        if direction[cell] != OUTLET and power > 0.0:
            for neighbour in range(8):
                if ways[cell * 8 + neighbour] > 0.0:
                    volumes[cell * 8 + neighbour] += through * shares[cell * 8 + neighbour] / power
        for neighbour in range(8):
            if on_map(row, column, neighbour, rows, columns):
                bank = cell + steps[neighbour]
                rise = land.ground[bank] - land.ground[cell]
                if rise > 0.0 and through > 0.0:
                    slope = rise / (LENGTHS[neighbour] * cell_size)
                    moved = min(parameters.lateral * slope * through, LARGEST_PART * rise)
                    volumes[bank * 8 + OPPOSITE[neighbour]] += moved


@njit(nogil=True, cache=True, error_model="numpy")
def _exchange(land, steps, sources, leaves, load, volumes, carried, off_map, brought):
    """Take from each cell what goes from it, as far as it is there, and bring it to where it goes.

    `carried` [cell] is how much went on. Cells at the map's end keep their height: where it `leaves`, and `sources`,
    where water comes in with a full load.
    """
    kinds = land.kinds
    comes, taken, left, none = np.zeros(len(land.mix)), np.zeros(kinds), np.zeros(kinds), np.zeros(kinds)
    for cell in range(len(land.ground)):
        goes = 0.0
        for neighbour in range(8):
            goes += volumes[cell * 8 + neighbour]
        loose = thickness(land, cell)
        free = rate_of(land.rates, cell, MOBILITY)
        if not (goes > 0.0 and loose > 0.0 and free > 0.0):
            continue
        taken[:] = 0.0
        dig(land, cell, min(free * goes, loose), taken, 0, none)
        for kind in range(kinds):
            left[kind] = taken[kind]
        for neighbour in range(8):
            share = volumes[cell * 8 + neighbour] / goes
            to = cell + steps[neighbour]
            if share > 0.0 and rate_of(land.rates, to, MOBILITY) > 0.0:
                for kind in range(kinds):
                    comes[to * kinds + kind] += share * taken[kind]
                    left[kind] -= share * taken[kind]
                    carried[cell] += share * taken[kind]
        for kind in range(kinds):  # what protected ground does not take, and what rounding leaves
            comes[cell * kinds + kind] += left[kind]
        if sources[cell] > 0.0:
            for kind in range(kinds):
                comes[cell * kinds + kind] += load * taken[kind]
                brought[kind] += load * taken[kind]
    for cell in range(len(land.ground)):
        for kind in range(kinds):
            amount = comes[cell * kinds + kind]
            if leaves[cell] and amount > 0.0:
                off_map[kind] += amount
            else:
                land.mix[cell * kinds + kind] = max(land.mix[cell * kinds + kind] + amount, 0.0)
        sum_up(land, cell)


def _falls_outwards(ground: Layer) -> NDArray[np.bool_]:
    """The cells of the map's edge to which the land beside them falls, and the lowest of the edge."""
    rows, columns = ground.shape
    edge = np.ones(ground.shape, np.bool_)
    edge[1:-1, 1:-1] = False
    row, column = np.nonzero(edge)
    inner = ground[np.clip(row, 1, rows - 2), np.clip(column, 1, columns - 2)]
    edge[row, column] = (ground[row, column] < inner) | (ground[row, column] == ground[row, column].min())
    return edge


class _Routed(NamedTuple):
    water: Numbers  # [cell]
    ways: Numbers  # [cell * 8 + neighbour]: what goes from each to each
    directions: NDArray[np.int8]  # [row, column]: the shortest way down
    ocean: NDArray[np.bool_]
    outlets: NDArray[np.bool_]


def _route(ground: Layer, cell_size: float, sources: Numbers, sea_level: float, open_edges: bool) -> _Routed | None:
    """Where the water of the sources runs; None where there is nothing that it could run to."""
    ocean = ocean_mask(ground, sea_level)
    outlets = ocean.copy()
    if open_edges or not ocean.any():
        outlets |= _falls_outwards(ground) & ~(sources > 0.0)
    if not outlets.any():
        return None
    filled = fill(ground, outlets)
    directions = flow_directions(filled, outlets)
    found = routes(directions, cell_size)
    place = np.empty(ground.size, np.int64)
    place[found.order] = np.arange(ground.size)
    order = np.lexsort((-place, -filled.reshape(-1)))  # on the flat, each before the one that it drains to
    water, ways = np.array(sources, np.float64).reshape(-1), np.empty(ground.size * 8)
    _part(filled, directions, order, float(cell_size), index_steps(ground.shape[1]), water, ways)
    return _Routed(water, ways, directions, ocean, outlets)


def part(
    ground: Layer, cell_size: float, sources: Numbers, *, sea_level: float = -math.inf, open_edges: bool = True
) -> Parted:
    """The water of `sources`, [row, column], as it parts over the ground: what `braid` lets run, and nothing moves."""
    routed = _route(ground, cell_size, sources, sea_level, open_edges)
    if routed is None:
        return Parted(np.zeros(ground.shape), np.full(ground.shape, OUTLET, np.int8))
    _turn_to_most(routed.ways, routed.directions)
    return Parted(routed.water.reshape(ground.shape), routed.directions)


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
) -> Braided:
    """Let the water of a cycle run over loose ground, and change this in place.

    Layers are as kernels of particles take them: float64 metres [row, column]. `sources` [row, column] is the water
    that comes to each cell, in metres. The sea lies below `sea_level`; over the map's edge water leaves where
    `open_edges` says so, as in `kernels.rivers.drain`.
    """
    check_layers(bedrock, sediment, ground)
    shape, cells = ground.shape, ground.size
    routed = _route(ground, cell_size, sources, sea_level, open_edges)
    if routed is None:
        return Braided(np.zeros(shape), np.zeros(shape), Moved())
    water, ways, directions, ocean, outlets = routed
    steps = index_steps(shape[1])
    shares, volumes, carried = np.empty(cells * 8), np.empty(cells * 8), np.zeros(cells)
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    sources = np.ascontiguousarray(sources, np.float64)
    off_map, brought = np.zeros(materials.kinds), np.zeros(materials.kinds)
    all_water = float(sources.sum())
    if all_water > 0.0:
        _carry(land, directions, float(cell_size), steps, water, ways, all_water, parameters, shares, volumes)
        leaves = (outlets & ~ocean & open_edges).reshape(-1)
        _exchange(land, steps, sources.reshape(-1), leaves, float(parameters.load), volumes, carried, off_map, brought)
    moved = Moved(off_map=tuple(off_map.tolist()), blown_in=tuple(brought.tolist()))
    return Braided(water.reshape(shape), carried.reshape(shape), moved)
