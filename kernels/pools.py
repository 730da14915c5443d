"""Exact lakes, and the sea, for the whole map at once.

After Barnes, Callaghan and Wickert 2021 ("Computing water flow through complex landscapes, part 3: Fill-Spill-Merge").
Once per cycle, on the tree of depressions (`kernels.depressions`):

1. The water of each basin is added up the tree. Two siblings that are full together become one pool, their parent.
   What a full depression has too much spills over its sill.
2. The level of a pool that is not full follows from its volume.

Volumes are metres over one cell. As a fall is only compared with other falls, nothing depends on a cell's size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, njit
from kernels.depressions import (
    FIRST,
    INTO_SEA,
    LEVELS_RUNS,
    OPEN,
    OVER_EDGE,
    RUNS,
    SEA,
    Basins,
    cells_of,
    depression,
    find_basins,
    first_unsound,
    neighbour,
    one_basin,
    root,
)
from kernels.layers import Layer, check_layers
from kernels.parameters import exact
from kernels.scratch import Scratch
from kernels.standing import DRY, LAKE
from kernels.standing import SEA as SEA_WATER
from kernels.units import Metres

# Volumes that agree to this part are equal: sums of the same depths in another order differ by less.
_SAME = 1e-13


class PoolParameters(NamedTuple):
    """What takes water from the lakes, and where it ends."""

    edges: int  # SEA, OPEN or WALL
    sea_level: Metres  # used where the edges are the sea
    evaporation: Metres  # in a cycle, from each cell with water on it
    seepage: Metres  # in a cycle, of what evaporation leaves
    most_spilled: float  # volume of spills in a cycle; what is over it goes on at once, to where it ends


class PoolTotals(NamedTuple):
    """What left the map, in metres over one cell."""

    evaporated: float
    seeped: float
    into_sea: float
    over_edge: float
    failed_row: int  # the first cell whose ground or water is not a finite number, or whose water is negative; -1: none
    failed_column: int


class Spills(NamedTuple):
    """Water on its way over the sills of full lakes; cells are counted as row * columns + column."""

    sill: NDArray[np.int32]  # the highest cell of the way
    beyond: NDArray[np.int32]  # the next one, down on the other side
    volume: Layer  # metres over one cell; it lies on the cell `beyond`


class _Runs(NamedTuple):
    """What bands find in stretches of a row, each at the beginning of its part of these: [cell]."""

    basin: NDArray[np.int32]
    volume: Layer
    node: NDArray[np.int32]
    cells: NDArray[np.int32]
    depth: Layer


@in_threads
def _measure_band(
    band, ground, water, basin, tree, ladders, evaporation, seepage, shape, basins, volumes, node_of, cells, depths,
    lost_in_row, found,
):  # fmt: skip
    """The water that flows from a band to each basin after losses, and of each depression cells and depth below its
    outlet, by stretches of a row: basins and volumes, depressions and cells and sums of depths."""
    columns = shape[1]
    first_cell, past_last = cells_of(band, shape)
    outlet, parent, floor, crests = tree.outlet, tree.parent, tree.floor, tree.crest
    heights, node_at, table, rung, line, last, spaces_per_metre = ladders
    above = np.zeros(columns, np.int32)  # the depression of a cell of the row before: the next one is often in it, too
    runs = levels = first_cell
    for begin in range(first_cell, past_last, columns):
        row_evaporated = row_seeped = 0.0
        end = begin + columns
        cell = begin
        while cell < end:
            here = basin[cell]
            crest = crests[here]
            # Sums of sums, so that rounding does not grow with the number of cells
            arrived = deep = 0.0
            node = np.int64(here)
            if begin > first_cell and basin[cell - columns] == here:
                node = np.int64(above[cell - begin])
            below = 0
            while cell < end and basin[cell] == here:
                depth = water[cell]
                lost = min(depth, evaporation)
                row_evaporated += lost
                depth -= lost
                lost = min(depth, seepage)
                row_seeped += lost
                arrived += depth - lost
                height = ground[cell]
                if height < crest:
                    if not floor[node] <= height < outlet[node]:
                        if below > 0:
                            node_of[levels], cells[levels], depths[levels] = node, below, deep
                            levels += 1
                            below, deep = 0, 0.0
                        node = np.int64(depression(
                            outlet, parent, heights, node_at, table, rung, line, last, spaces_per_metre, here, height
                        ))  # fmt: skip
                    below += 1
                    deep += outlet[node] - height
                above[cell - begin] = node
                cell += 1
            if below > 0:
                node_of[levels], cells[levels], depths[levels] = node, below, deep
                levels += 1
            basins[runs], volumes[runs] = here, arrived
            runs += 1
        lost_in_row[begin // columns, 0], lost_in_row[begin // columns, 1] = row_evaporated, row_seeped
    found[RUNS], found[LEVELS_RUNS] = runs - first_cell, levels - first_cell


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _measure(
    ground: Any, water: Any, basin: Any, tree: Any, ladders: Any, evaporation: float, seepage: float, runs: Any,
    lost_in_row: Any, found: Any,
) -> None:  # fmt: skip
    for band in prange(len(found)):
        _measure_band(
            np.int64(band), ground.reshape(-1), water.reshape(-1), basin.reshape(-1), tree, ladders, evaporation,
            seepage, ground.shape, runs.basin, runs.volume, runs.node, runs.cells, runs.depth, lost_in_row, found[band],
        )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def _add_up(tree, runs, found, shape):
    """The water that flows to each basin, and for each depression how much of it is its children's.

    Returns water; cells of its own, which lie above its children's outlet; cells and capacity of each depression (cells
    below its outlet, and the volume above them); what its children hold.
    """
    nodes = len(tree.outlet)
    volume = np.zeros(nodes)
    own = np.zeros(nodes, np.int64)
    capacity = np.zeros(nodes)
    for band in range(len(found)):
        begin, _ = cells_of(band, shape)
        for run in range(begin, begin + found[band, RUNS]):
            volume[runs.basin[run]] += runs.volume[run]
        for run in range(begin, begin + found[band, LEVELS_RUNS]):
            own[runs.node[run]] += runs.cells[run]
            capacity[runs.node[run]] += runs.depth[run]
    cells = own.copy()
    below = np.zeros(nodes)  # what the children hold
    for node in range(FIRST, nodes):
        if cells[node] > own[node]:
            capacity[node] += below[node] + (cells[node] - own[node]) * (tree.outlet[node] - tree.floor[node])
        p = tree.parent[node]
        if p >= 0:
            below[p] += capacity[node]
            cells[p] += cells[node]
            volume[p] += volume[node]
    return volume, own, cells, capacity, below


@njit(nogil=True, error_model="numpy")
def _is_sea(tree, ground, cell, basin, sea_level):
    return tree.sea[basin] and ground[cell] < sea_level


@njit(nogil=True, error_model="numpy")
def _share(ground, tree, leaves, volume, capacity, below, sea_level, most_spilled):
    """Fill the depressions, spill what is too much and merge those that are full.

    Returns for each node the pool that it belongs to, as a line that leads there; the volume of each pool; the nodes
    that spill and how much; what goes into the sea and over the edge.
    """
    nodes = len(tree.outlet)
    pool = np.arange(nodes).astype(np.int32)
    full = np.zeros(nodes, np.bool_)
    spilling = np.empty(nodes, np.int32)
    spilled = np.empty(nodes)
    spills = 0
    passed_to = np.empty(nodes, np.int32)
    passed = np.empty(nodes)
    passes = 0
    into_sea, over_edge = volume[INTO_SEA], volume[OVER_EDGE]

    # From the top: a depression whose children are both full is one pool with all that is in it.
    merged = np.zeros(nodes, np.bool_)
    for node in range(nodes - 1, FIRST - 1, -1):
        p = tree.parent[node]
        if p >= 0 and merged[p]:
            merged[node] = True
            pool[node] = pool[p]
        else:
            merged[node] = below[node] > 0.0 and volume[node] >= below[node] * (1.0 - _SAME)

    for node in range(FIRST, nodes):
        if tree.sea[node]:
            into_sea += volume[node] if node < leaves else 0.0
            continue
        if pool[node] != node or (below[node] > 0.0 and not merged[node]):
            continue
        full[node] = volume[node] >= capacity[node] * (1.0 - _SAME)
        if volume[node] > capacity[node] * (1.0 + _SAME):
            excess = volume[node] - capacity[node]
            volume[node] = capacity[node]
            beyond = tree.beyond[node]
            if beyond < 0:
                over_edge += excess
            elif _is_sea(tree, ground, beyond, tree.across[node], sea_level):
                into_sea += excess
            else:
                part = min(excess, most_spilled)
                most_spilled -= part
                if part > 0.0:
                    spilling[spills], spilled[spills] = node, part
                    spills += 1
                if excess > part:
                    passed_to[passes], passed[passes] = tree.across[node], excess - part
                    passes += 1

    # What goes on at once, from one pool to the next, until it finds room. Each turn ends one way or fills a pool.
    for index in range(passes):
        rest = passed[index]
        basin = passed_to[index]
        while True:
            if basin == OVER_EDGE:
                over_edge += rest
                break
            if tree.sea[basin]:
                into_sea += rest
                break
            node = root(pool, basin)
            while True:
                room = capacity[node] - volume[node]
                if rest <= room:
                    volume[node] += rest
                    rest = 0.0
                    break
                volume[node] = capacity[node]
                rest -= room
                full[node] = True
                other = tree.sibling[node]
                if other < 0 or not full[other]:
                    break
                p = tree.parent[node]
                pool[node] = pool[other] = p
                volume[p] = volume[node] + volume[other]
                node = p
            if rest <= 0.0:
                break
            basin = tree.across[node]
    return pool, volume, full, spilling[:spills], spilled[:spills], into_sea, over_edge


@in_threads
def _gather_band(band, ground, basin, pool_of, floor, outlet, start, pools, cells, heights, shape, found):
    """Find the cells of a band that the level of their pool can lie among: pools, how many, and their heights."""
    columns = shape[1]
    first_cell, past_last = cells_of(band, shape)
    runs = at = first_cell
    for begin in range(first_cell, past_last, columns):
        end = begin + columns
        cell = begin
        while cell < end:
            here = basin[cell]
            pool = pool_of[here]
            if start[pool] < 0:
                while cell < end and basin[cell] == here:
                    cell += 1
                continue
            low, high = floor[pool], outlet[pool]
            before = at
            while cell < end and basin[cell] == here:
                height = ground[cell]
                if low <= height < high:
                    heights[at] = height
                    at += 1
                cell += 1
            if at > before:
                pools[runs], cells[runs] = pool, at - before
                runs += 1
    found[RUNS] = runs - first_cell


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _gather(ground: Any, basin: Any, pool_of: Any, floor: Any, outlet: Any, start: Any, runs: Any, found: Any) -> None:
    for band in prange(len(found)):
        _gather_band(
            np.int64(band), ground.reshape(-1), basin.reshape(-1), pool_of, floor, outlet, start, runs.node, runs.cells,
            runs.depth, ground.shape, found[band],
        )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def _sort_heights(runs, found, ends, heights, shape):
    """Sort what the bands have found into `heights`, pool by pool; `ends`, where those of a pool begin, becomes that
    where they end."""
    for band in range(len(found)):
        begin, _ = cells_of(band, shape)
        at = begin
        for run in range(begin, begin + found[band, RUNS]):
            pool, cells = runs.node[run], runs.cells[run]
            to = ends[pool]
            for number in range(cells):
                heights[to + number] = runs.depth[at + number]
            ends[pool] = to + cells
            at += cells


@njit(nogil=True, error_model="numpy")
def _filled(heights, level):
    """How many of the cells lie below a level, and the volume between."""
    count, volume = 0, 0.0
    for height in heights:
        depth = max(0.0, level - height)
        count += depth > 0.0
        volume += depth
    return count, volume


@njit(nogil=True, error_model="numpy")
def _solve(heights, floor, highest, base, extra, guess):
    """The level at which `base` cells, from `floor` up, and the given ones hold the volume `extra`.

    Newton's steps on a convex function, straight between the cells' heights: from the second on they come from above,
    and end where no cell falls dry any more.
    """
    level = guess if floor < guess < highest else highest
    wet = len(heights) + 1
    for _ in range(100):
        count, total = 0, 0.0
        for height in heights:
            below = height < level
            count += below
            total += height - floor if below else 0.0
        if count == wet:
            break
        wet = count
        if base + count == 0:
            return floor  # a film that is too thin to rise above the lowest cells in the last digit
        level = floor + (extra + total) / (base + count)
    return min(level, highest)


@njit(nogil=True, error_model="numpy")
def _find_pools(tree, leaves, own, pool, volume, full):
    """The pool of each basin, where the heights of each pool begin whose level is to be found, and of how many cells
    there may be some."""
    nodes = len(tree.outlet)
    start = np.full(nodes, -1, np.int64)
    total = 0
    pool_of = np.empty(leaves, np.int32)
    for basin_number in range(FIRST):
        pool_of[basin_number] = basin_number
    for leaf in range(FIRST, leaves):
        node = root(pool, leaf)
        pool_of[leaf] = node
        if start[node] < 0 and not full[node] and not tree.sea[node] and volume[node] > 0.0:
            start[node] = total
            total += own[node]
    return pool_of, start, total


@njit(nogil=True, error_model="numpy")
def _levels(
    ground, water, tree, leaves, losses, own, cells, capacity, below, pool_of, volume, full, start, ends, heights
):  # fmt: skip
    """The level over each basin, and for each pool what rounding leaves of its volume."""
    nodes = len(tree.outlet)
    levels = np.full(nodes, -np.inf)
    left = np.zeros(nodes)
    for leaf in range(FIRST, leaves):
        node = pool_of[leaf]
        if tree.sea[node] or levels[node] > -np.inf:
            continue
        bottom = ground[tree.pit[node]]
        if full[node]:
            levels[node] = tree.outlet[node]
            left[node] = volume[node] - capacity[node]
        elif volume[node] > 0.0:
            among = heights[start[node] : ends[node]]
            floor, outlet, base = tree.floor[node], tree.outlet[node], cells[node] - own[node]
            depth = max(0.0, water[tree.pit[node]] - losses)
            # As long as the volume is that of the level that is there, up to rounding, it stays to the bit.
            level = bottom + depth
            if floor <= level < outlet:
                count, held = _filled(among, level)
                held += below[node] + base * (level - floor)
                grain = 2.3e-16 * max(abs(level), abs(bottom))
            else:
                held, grain, count = np.inf, 0.0, 0
            if not abs(volume[node] - held) <= 1e-14 * volume[node] + (count + base) * grain:
                level = _solve(among, floor, outlet, base, max(0.0, volume[node] - below[node]), level)
                level = min(bottom + (level - bottom), outlet)
                count, held = _filled(among, level)
                held += below[node] + base * (level - floor)
            levels[node] = level
            left[node] = volume[node] - held
        else:
            levels[node] = bottom
            left[node] = volume[node]
    over = np.empty(leaves)
    over[OVER_EDGE] = -np.inf
    over[INTO_SEA] = -np.inf
    for leaf in range(FIRST, leaves):
        over[leaf] = levels[pool_of[leaf]]
    return over, left


@njit(cache=True, nogil=True, error_model="numpy")
def _share_out(
    ground: Any, tree: Any, runs: Any, lost_in_row: Any, found: Any, leaves: int, sea_level: float, most_spilled: float
) -> Any:
    """Fill the depressions. Returns what `_settle_levels` asks for, what spills, and what left the map."""
    volume, own, cells, capacity, below = _add_up(tree, runs, found, ground.shape)
    pool, volume, full, spilling, spilled, into_sea, over_edge = _share(
        ground.reshape(-1), tree, leaves, volume, capacity, below, sea_level, most_spilled
    )
    evaporated = seeped = 0.0
    for row in range(len(lost_in_row)):
        evaporated += lost_in_row[row, 0]
        seeped += lost_in_row[row, 1]
    pool_of, start, total = _find_pools(tree, leaves, own, pool, volume, full)
    filled = own, cells, capacity, below, volume, full
    spills = tree.sill[spilling], tree.beyond[spilling], spilled
    return pool_of, start, total, filled, spills, (evaporated, seeped, into_sea, over_edge)


@njit(cache=True, nogil=True, error_model="numpy")
def _settle_levels(
    ground: Any, water: Any, basin: Any, tree: Any, runs: Any, found: Any, pool_of: Any, start: Any, total: int,
    filled: Any, losses: float, sea_level: float,
) -> Any:  # fmt: skip
    """The level over each basin, which of them are sea, and which cells keep how much of what rounding leaves."""
    columns, leaves = ground.shape[1], len(pool_of)
    flat_ground, flat_basin = ground.reshape(-1), basin.reshape(-1)
    own, cells, capacity, below, volume, full = filled
    ends, heights = start.copy(), np.empty(total)
    if total > 0:
        _sort_heights(runs, found, ends, heights, ground.shape)
    over, left = _levels(
        flat_ground, water.reshape(-1), tree, leaves, losses, own, cells, capacity, below, pool_of, volume, full,
        start, ends, heights,
    )  # fmt: skip
    for leaf in range(leaves):
        if tree.sea[leaf]:
            over[leaf] = sea_level
    keepers, kept = np.empty(leaves, np.int32), np.empty(leaves)
    count = 0
    for leaf in range(FIRST, leaves):
        node = pool_of[leaf]
        if left[node] != 0.0:
            keepers[count] = _keeper(
                flat_ground, flat_basin, pool_of, over[leaf], tree.pit[node], left[node], columns
            )  # fmt: skip
            kept[count] = left[node]
            left[node] = 0.0
            count += 1
    return over, tree.sea[:leaves], keepers[:count], kept[:count]


@njit(nogil=True, error_model="numpy")
def _keeper(ground, basin, pool_of, level, pit, left, columns):
    """The cell of a pool that keeps what rounding leaves of its volume: the deepest beside the pit.

    Not the pit itself, from whose depth the level is told. But where all others are too shallow it must be the pit.
    """
    rows = len(ground) // columns
    deepest, found = 4.0 * abs(left), pit
    for k in range(8):
        other = neighbour(pit, k, rows, columns)
        if other >= 0 and pool_of[basin[other]] == pool_of[basin[pit]] and level - ground[other] > deepest:
            deepest, found = level - ground[other], other
    return found


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _write(ground: Any, basin: Any, over: Any, sea: Any, water: Any, level: Any, standing: Any) -> None:
    """Give each cell its level, what stands on it and how deep."""
    rows, columns = ground.shape
    for unsigned_row in prange(rows):
        row = np.int64(unsigned_row)
        for column in range(columns):
            height, here = ground[row, column], basin[row, column]
            surface = over[here]
            wet = surface > height
            level[row, column] = surface if wet else height
            water[row, column] = surface - height if wet and not sea[here] else 0.0
            standing[row, column] = (SEA_WATER if sea[here] else LAKE) if wet else DRY


def settle(
    ground: Layer,
    water: Layer,
    level: Layer,
    standing: NDArray[np.uint8],
    parameters: PoolParameters,
    scratch: Scratch | None = None,
) -> tuple[PoolTotals, Spills]:
    """Let all water that lies on the map run to where it stands, and change the map in place.

    `ground` is the height of the ground and `water` the depth of water on it, wherever it stands or was put: float64
    metres [row, column], C-contiguous. First evaporation and seepage take their part from each cell with water; then
    what is left gathers in lakes, which spill and merge, or leaves the map. Afterwards `level` (float64 metres) is the
    surface of the lake or of the sea where there is one, else the ground; `standing` (uint8) is DRY, LAKE or SEA_WATER;
    and `water` is the depth of the lakes. The water over the sea counts as gone, and none is kept there.

    All of a pool has one level to the last bit. A full one has that of its sill, so that with endless water the levels
    are those of the filled depressions. `water` is `level - ground` to the bit except in one cell of a pool, which
    holds what rounding leaves of its volume, and in the cells beyond sills, where what spilled over them is put. It
    can be carried on from there, or is left to the next call. With a flat ground beneath, a film may be too thin to
    raise the level at all: then it lies on a cell that counts as dry.

    What was on the map is there afterwards or in the totals. The same map gives the same bits on any number of threads.
    Where a value is not a finite number, or water is negative, nothing is written, and the totals say where. `scratch`
    is memory to work in.
    """
    check_layers(ground, water, level)
    if standing.shape != ground.shape or standing.dtype != np.uint8 or not standing.flags.c_contiguous:
        raise ValueError("standing must be a C-contiguous uint8 array of the layers' shape")
    scratch = (scratch or Scratch()).begin()
    parameters = exact(parameters)
    sea_level = parameters.sea_level if parameters.edges == SEA else -math.inf
    basins = find_basins(ground, water, parameters.edges, sea_level, scratch)
    if basins is None:
        row, column = first_unsound(ground, water)
        return PoolTotals(0.0, 0.0, 0.0, 0.0, row, column), _NO_SPILLS
    return _settle_in(basins, ground, water, level, standing, parameters, sea_level, scratch)


def _settle_in(
    basins: Basins, ground: Layer, water: Layer, level: Layer, standing: NDArray[np.uint8],
    parameters: PoolParameters, sea_level: float, scratch: Scratch,
) -> tuple[PoolTotals, Spills]:  # fmt: skip
    """As `settle`, in the basins of the ground."""
    basin, pits, tree, ladders, found = basins
    evaporation, seepage = parameters.evaporation, parameters.seepage
    size, lost_in_row = ground.size, np.empty((len(ground), 2))
    runs = _Runs(  # little of it is ever written to
        scratch.empty(size, np.int32), scratch.empty(size), scratch.empty(size, np.int32),
        scratch.empty(size, np.int32), scratch.empty(size),
    )  # fmt: skip
    _measure(ground, water, basin, tree, ladders, evaporation, seepage, runs, lost_in_row, found)
    pool_of, start, total, filled, (sill, beyond, volume), totals = _share_out(
        ground, tree, runs, lost_in_row, found, len(pits), sea_level, parameters.most_spilled
    )
    if total > 0:
        _gather(ground, basin, pool_of, tree.floor, tree.outlet, start, runs, found)
    over, sea, keepers, kept = _settle_levels(
        ground, water, basin, tree, runs, found, pool_of, start, total, filled, evaporation + seepage, sea_level
    )
    _write(ground, basin, over, sea, water, level, standing)
    cells = water.reshape(-1)
    cells[keepers] += kept
    np.add.at(cells, beyond, volume)
    evaporated, seeped, into_sea, over_edge = totals
    return PoolTotals(evaporated, seeped, into_sea, over_edge, -1, -1), Spills(sill, beyond, volume)


def prepare() -> None:
    """Compile what is done in basins, or load it from the cache. What finds them has `prepare` of its own."""
    ground, water = np.zeros((8, 8)), np.full((8, 8), 0.5)
    level, standing = np.empty_like(ground), np.empty(ground.shape, np.uint8)
    parameters = PoolParameters(OPEN, 0.0, 0.0, 0.0, math.inf)
    basins = one_basin(*ground.shape, outlet=1.0)
    _settle_in(basins, ground, water, level, standing, parameters, -math.inf, Scratch())


_NO_SPILLS = Spills(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
