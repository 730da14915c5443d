"""Exact lakes, and the sea, for the whole map at once.

After Barnes, Callaghan and Wickert 2020 ("Computing water flow through complex landscapes, part 2: depression
hierarchies") and 2021 ("part 3: Fill-Spill-Merge"). Once per cycle, from the ground alone:

1. Each cell flows to its lowest neighbour by slope. All cells that end in one pit are a basin.
2. Where two basins meet, the lowest way over is their saddle. Only a cell whose lower neighbours do not hang together
   can be one, so few are looked at; between those that hang together there is a lower way.
3. Saddles from the lowest up join basins into depressions, and these into larger ones: a binary tree, whose leaves are
   basins. A depression's outlet is the saddle at which it joins its sibling, or drains.
4. The water of each basin is added up the tree. Two siblings that are full together become one pool, their parent.
   What a full depression has too much spills over its sill.
5. The level of a pool that is not full follows from its volume.

A cell beyond which lies the edge drains over it, except between walls. The sea is what lies below its level and hangs
together with the map's edge: its basins are those that join the edge below that level.

What is done for each cell is done in bands of rows, side by side. What the bands find is put together in their order,
so that nothing depends on the number of threads; only the tree, which is small, is one thread's work.

Volumes are metres over one cell. As a fall is only compared with other falls, nothing depends on a cell's size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.layers import Layer, check_layers
from kernels.parameters import exact
from kernels.standing import DRY, LAKE
from kernels.standing import SEA as SEA_WATER
from kernels.units import Metres

# What lies beyond the edge of the map
SEA, OPEN, WALL = 0, 1, 2

# The eight neighbours: those straight ahead come first, so that of two equally steep ones these are taken.
_ROW_STEPS = np.array([-1, 0, 0, 1, -1, -1, 1, 1])
_COLUMN_STEPS = np.array([0, -1, 1, 0, -1, 1, -1, 1])
_INVERSE_DISTANCES = np.array([1.0] * 4 + [math.sqrt(0.5)] * 4)
_BACK = np.array([3, 2, 1, 0, 7, 6, 5, 4])  # the opposite of each direction
_NOWHERE, _OFF_MAP = 8, 9  # where a cell flows to that has no lower neighbour, or that lies at an open edge

# A cell whose way leaves its band points to the cell beyond, with this number added. No map has so many cells.
_BEYOND_BAND = 1 << 30

# The first two basins are no basins: what flows over the edge of the map, and what flows into the sea on it.
_OVER_EDGE, _INTO_SEA, _FIRST = 0, 1, 2

# In as many parts, which do not hang together, the lower neighbours of a cell can be at most.
_PARTS_OF_A_CELL = 4

# Rows of a band. The ways of its cells are followed to its edge, and from there, one by one, from band to band.
BAND = 64

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


class _Tree(NamedTuple):
    """Depressions: leaves first, in the order of their pits, then parents after their children."""

    outlet: Layer  # height of the sill; infinite where there is none
    parent: NDArray[np.int32]  # -1: none
    sibling: NDArray[np.int32]
    sill: NDArray[np.int32]  # cell
    beyond: NDArray[np.int32]  # cell to which a spill flows; -1: off the map
    across: NDArray[np.int32]  # basin of that cell
    pit: NDArray[np.int32]  # lowest cell
    floor: Layer  # height from which it fills after its children: their outlet, or the pit
    crest: Layer  # outlet of the largest depression around it
    sea: NDArray[np.bool_]


class _Ladders(NamedTuple):
    """Lines of depressions that lead up the tree, each from a basin to where it ends in a larger one's line.

    The depression around a basin in which a height lies could be found by climbing from parent to parent. But where the
    whole map is one basin, a tree is as high as it has basins. So each line is one stretch of an array, and a table
    tells for evenly spaced heights where on it to look.
    """

    outlet: Layer  # by rung: heights of the outlets from the line's basin upwards
    node: NDArray[np.int32]  # by rung
    table: NDArray[np.int32]  # by rung: as many spaces of height as the line has rungs, and the first rung in each
    rung: NDArray[np.int32]  # by node
    line: NDArray[np.int32]  # by node: the basin of its line
    last: NDArray[np.int32]  # by basin: the last rung
    spaces_per_metre: Layer  # by basin


def _links() -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """For each set of lower neighbours (one bit each): which part each is in (two bits each), and if there are several.

    A part is what hangs together among the neighbours themselves.
    """
    parts = np.zeros(256, np.uint16)
    several = np.zeros(256, np.bool_)
    for mask in range(256):
        part = list(range(8))
        members = [k for k in range(8) if mask >> k & 1]
        for _ in members:
            for a in members:
                for b in members:
                    steps = abs(_ROW_STEPS[a] - _ROW_STEPS[b]), abs(_COLUMN_STEPS[a] - _COLUMN_STEPS[b])
                    if max(steps) <= 1:
                        part[a] = part[b] = min(part[a], part[b])
        numbers = sorted({part[k] for k in members})
        several[mask] = len(numbers) > 1
        for k in members:
            parts[mask] |= numbers.index(part[k]) << 2 * k
    return parts, several


_PARTS, _SEVERAL = _links()


@njit(nogil=True, error_model="numpy")
def _look_inside(ground, water, row, toward, lower):
    """Steepest descent and lower neighbours of the cells of a row between its ends; whether all values are sound."""
    columns = ground.shape[1]
    inner = columns - 2
    north_west, north, north_east = ground[row - 1][:inner], ground[row - 1][1:-1], ground[row - 1][2:]
    west, here, east = ground[row][:inner], ground[row][1:-1], ground[row][2:]
    south_west, south, south_east = ground[row + 1][:inner], ground[row + 1][1:-1], ground[row + 1][2:]
    out, mask = toward[row][1:-1], lower[row][1:-1]
    diagonal = math.sqrt(0.5)
    for j in range(inner):
        h = here[j]
        fall = h - north[j]
        lower_set = np.int64(1) if fall >= 0.0 else np.int64(0)
        best = np.int64(0) if fall > 0.0 else np.int64(_NOWHERE)
        steepest = max(fall, 0.0)
        fall = h - west[j]
        lower_set |= np.int64(2) if fall >= 0.0 else np.int64(0)
        best = np.int64(1) if fall > steepest else best
        steepest = max(fall, steepest)
        fall = h - east[j]
        lower_set |= np.int64(4) if fall > 0.0 else np.int64(0)
        best = np.int64(2) if fall > steepest else best
        steepest = max(fall, steepest)
        fall = h - south[j]
        lower_set |= np.int64(8) if fall > 0.0 else np.int64(0)
        best = np.int64(3) if fall > steepest else best
        steepest = max(fall, steepest)
        fall = (h - north_west[j]) * diagonal
        lower_set |= np.int64(16) if fall >= 0.0 else np.int64(0)
        best = np.int64(4) if fall > steepest else best
        steepest = max(fall, steepest)
        fall = (h - north_east[j]) * diagonal
        lower_set |= np.int64(32) if fall >= 0.0 else np.int64(0)
        best = np.int64(5) if fall > steepest else best
        steepest = max(fall, steepest)
        fall = (h - south_west[j]) * diagonal
        lower_set |= np.int64(64) if fall > 0.0 else np.int64(0)
        best = np.int64(6) if fall > steepest else best
        steepest = max(fall, steepest)
        fall = (h - south_east[j]) * diagonal
        lower_set |= np.int64(128) if fall > 0.0 else np.int64(0)
        best = np.int64(7) if fall > steepest else best
        out[j] = best
        mask[j] = lower_set


@njit(nogil=True, error_model="numpy")
def _look_at_edge(ground, row, column, toward, lower, open_edges):
    """The same for a cell at the edge of the map."""
    rows, columns = ground.shape
    h = ground[row, column]
    best, steepest, lower_set = _NOWHERE, 0.0, 0
    for k in range(8):
        i, j = row + _ROW_STEPS[k], column + _COLUMN_STEPS[k]
        if 0 <= i < rows and 0 <= j < columns:
            fall = (h - ground[i, j]) * _INVERSE_DISTANCES[k]
            earlier = i < row or (i == row and j < column)
            if fall > 0.0 or (fall == 0.0 and earlier):
                lower_set |= 1 << k
            if fall > steepest:
                best, steepest = k, fall
    toward[row, column] = _OFF_MAP if open_edges else best
    lower[row, column] = lower_set


@njit(nogil=True, error_model="numpy")
def _sound(ground, water):
    """Whether a row holds finite numbers alone, and no negative water. Without a branch, for speed."""
    bad = np.int64(0)
    for j in range(len(ground)):
        bad |= np.int64(0) if abs(ground[j]) < np.inf else np.int64(1)
        bad |= np.int64(0) if 0.0 <= water[j] < np.inf else np.int64(1)
    return bad == 0


@njit(nogil=True, error_model="numpy")
def _cells_of(band, shape):
    """The first cell of a band, and one past its last."""
    rows, columns = shape
    return band * BAND * columns, min((band + 1) * BAND, rows) * columns


# What is found in a band
_SOUND, _FLAT, _PAIRS, _RUNS, _LEVELS_RUNS = range(5)
_FOUND = 8  # numbers for each band: a cache line


@njit(nogil=True, error_model="numpy")
def _look_at_band(band, ground, water, toward, lower, open_edges, flat_cells, found):
    rows, columns = ground.shape
    sound = True
    flat = 0
    for row in range(band * BAND, min((band + 1) * BAND, rows)):
        sound = _sound(ground[row], water[row]) and sound
        if 0 < row < rows - 1:
            _look_inside(ground, water, row, toward, lower)
            _look_at_edge(ground, row, 0, toward, lower, open_edges)
            _look_at_edge(ground, row, columns - 1, toward, lower, open_edges)
        else:
            for column in range(columns):
                _look_at_edge(ground, row, column, toward, lower, open_edges)
        first = row * columns
        for column in range(columns):  # without a branch, for speed
            flat_cells[flat] = first + column
            flat += toward[row, column] == _NOWHERE
    found[_SOUND], found[_FLAT] = sound, flat


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _look(ground: Any, water: Any, toward: Any, lower: Any, basin: Any, open_edges: bool, found: Any) -> None:
    """Where each cell flows to, and which of its neighbours are lower; `found` [band] is what there is in each.

    Of two equally high cells the one that comes first on the map counts as lower here. Cells without a lower neighbour
    are written to `basin`, those of a band at its beginning.
    """
    cells = basin.reshape(-1)
    for unsigned_band in prange(len(found)):
        band = np.int64(unsigned_band)
        begin, end = _cells_of(band, ground.shape)
        _look_at_band(band, ground, water, toward, lower, open_edges, cells[begin:end], found[band])


@njit(cache=True, nogil=True)
def _first_unsound(ground: Any, water: Any) -> tuple[int, int]:
    for row in range(ground.shape[0]):
        for column in range(ground.shape[1]):
            if not (abs(ground[row, column]) < np.inf and 0.0 <= water[row, column] < np.inf):
                return row, column
    return -1, -1


@njit(nogil=True, error_model="numpy")
def _neighbour(cell, k, rows, columns):
    """The neighbour of a cell in direction k; -1 where it lies off the map."""
    row, column = cell // columns + _ROW_STEPS[k], cell % columns + _COLUMN_STEPS[k]
    if 0 <= row < rows and 0 <= column < columns:
        return row * columns + column
    return -1


@njit(nogil=True, error_model="numpy")
def _put_together(found, what, of_bands, shape):
    """What each band has written at its beginning, one after the other."""
    together = np.empty(found[:, what].sum(), of_bands.dtype)
    count = 0
    for band in range(len(found)):
        begin, _ = _cells_of(band, shape)
        here = found[band, what]
        together[count : count + here] = of_bands[begin : begin + here]
        count += here
    return together


@njit(nogil=True, error_model="numpy")
def _inside(cell, rows, columns):
    """Whether a cell has all its neighbours."""
    return columns <= cell < (rows - 1) * columns and 0 < cell % columns < columns - 1


@njit(nogil=True, error_model="numpy")
def _spread(ground, toward, queue, count, rows, columns):
    """Let the flat around the `count` cells at the head of the queue flow to them, by the shortest ways."""
    head = 0
    while head < count:
        cell = np.int64(queue[head])
        head += 1
        inside = _inside(cell, rows, columns)
        for k in range(8):
            if inside:
                other = cell + _ROW_STEPS[k] * columns + _COLUMN_STEPS[k]
            else:
                other = _neighbour(cell, k, rows, columns)
            if other >= 0 and toward[other] == _NOWHERE and ground[other] == ground[cell] and other != queue[0]:
                toward[other] = _BACK[k]
                queue[count] = other
                count += 1


@njit(nogil=True, error_model="numpy")
def _drain_flats(ground, toward, flat_cells, rows, columns):
    """Lead flats to their outlets, and those without one to their first cell; the cells that are left are the pits."""
    queue = np.empty(len(flat_cells), np.int32)
    ways = np.empty(len(flat_cells), np.uint8)
    count = 0
    any_flat = False
    for cell in flat_cells:
        inside = _inside(cell, rows, columns)
        way = _NOWHERE
        for k in range(8):
            if inside:
                other = cell + _ROW_STEPS[k] * columns + _COLUMN_STEPS[k]
            else:
                other = _neighbour(cell, k, rows, columns)
            if other >= 0 and ground[other] == ground[cell]:
                any_flat = True
                if toward[other] != _NOWHERE:
                    way = k
                    break
        if way != _NOWHERE:
            queue[count] = cell
            ways[count] = way
            count += 1
    if not any_flat:
        return
    for index in range(count):
        toward[queue[index]] = ways[index]
    _spread(ground, toward, queue, count, rows, columns)
    for cell in flat_cells:
        if toward[cell] == _NOWHERE:
            queue[0] = cell
            _spread(ground, toward, queue, 1, rows, columns)


@njit(cache=True, nogil=True, error_model="numpy")
def _find_pits(ground: Any, toward: Any, basin: Any, found: Any) -> Any:
    """Lead flats to their outlets. Returns all cells that had no lower neighbour, and the pit of each basin."""
    rows, columns = ground.shape
    flat_cells = _put_together(found, _FLAT, basin.reshape(-1), ground.shape)
    leads = toward.reshape(-1)
    _drain_flats(ground.reshape(-1), leads, flat_cells, rows, columns)
    pits = np.empty(len(flat_cells) + _FIRST, np.int32)
    pits[:_FIRST] = -1
    count = _FIRST
    for cell in flat_cells:
        if leads[cell] == _NOWHERE:
            pits[count] = cell
            count += 1
    return flat_cells, pits[:count]


@njit(nogil=True, error_model="numpy")
def _follow(basin, cell):
    """Let a cell point as far as the cell in its band does that it points to; whether that points on in the band."""
    found = basin[cell]
    found = basin[np.uintp(~found if found < 0 else cell)]
    basin[cell] = found
    return found < 0


@njit(nogil=True, error_model="numpy")
def _lead_band(band, ground, toward, pits, sea_level, basin, shape):
    """Let each cell of a band point to where its way leaves the band, or write in which basin it lies."""
    rows, columns = shape
    begin, end = _cells_of(band, shape)
    # Until its basin is known a cell points to one on its way down, c being written as -1 - c.
    steps = np.zeros(_OFF_MAP + 1, np.int64)
    for k in range(8):
        steps[k] = _ROW_STEPS[k] * columns + _COLUMN_STEPS[k]
    for cell in range(begin, end):
        basin[cell] = ~(cell + steps[toward[cell]])
    for first in (begin, end - columns):
        for cell in range(first, first + columns):
            ahead = cell + steps[toward[cell]]
            if not begin <= ahead < end:
                basin[cell] = ahead + _BEYOND_BAND
    low, high = _FIRST, len(pits)
    while low < high:
        middle = (low + high) // 2
        if pits[middle] < begin:
            low = middle + 1
        else:
            high = middle
    while low < len(pits) and pits[low] < end:
        basin[pits[low]] = low
        low += 1
    for row in range(begin // columns, end // columns):
        for column in range(0, columns, 1 if row == 0 or row == rows - 1 else columns - 1):
            cell = row * columns + column
            if toward[cell] == _OFF_MAP:
                basin[cell] = _INTO_SEA if ground[cell] < sea_level else _OVER_EDGE
    # Passes to and fro shorten all ways without a branch; the few that are left are followed one by one.
    unknown = end - begin
    while 4 * unknown > end - begin:
        for cell in range(begin, end):
            _follow(basin, cell)
        unknown = 0
        for cell in range(end - 1, begin - 1, -1):
            unknown += _follow(basin, cell)
    for cell in range(begin, end):
        while _follow(basin, cell):
            pass


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _lead(ground: Any, toward: Any, pits: Any, sea_level: float, basin: Any) -> None:
    for band in prange(-(-ground.shape[0] // BAND)):
        _lead_band(
            np.int64(band), ground.reshape(-1), toward.reshape(-1), pits, sea_level, basin.reshape(-1), ground.shape
        )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _join_bands(basin: Any, found: Any) -> Any:
    """Write in which basins the cells of the first and the last row of each band lie: ways lead from one to the next.

    Returns room for the pairs of all bands. Little of it is ever written to.
    """
    columns = basin.shape[1]
    cells = basin.reshape(-1)
    for band in range(len(found)):
        begin, end = _cells_of(band, basin.shape)
        for first in (begin, end - columns):
            for cell in range(first, first + columns):
                ahead = cells[cell]
                while ahead >= _BEYOND_BAND:
                    ahead = cells[np.uintp(ahead - _BEYOND_BAND)]
                cells[cell] = ahead
    return np.empty((_PARTS_OF_A_CELL * len(cells), 2), np.int32)


@njit(nogil=True, error_model="numpy")
def _finish_band(band, ground, toward, lower, basin, pairs, shape):
    """Write in which basin each cell of a band lies, and find its pairs. Returns how many.

    A pair are neighbouring cells in two basins, the higher one first.
    """
    columns = shape[1]
    begin, end = _cells_of(band, shape)
    for cell in range(begin + columns, end - columns):
        found = basin[cell]
        basin[cell] = basin[np.uintp(found - _BEYOND_BAND if found >= _BEYOND_BAND else cell)]
    steps = np.empty(8, np.int64)
    for k in range(8):
        steps[k] = _ROW_STEPS[k] * columns + _COLUMN_STEPS[k]
    best, steepest = np.empty(4, np.int64), np.empty(4)
    candidates = np.empty(columns + 1, np.int32)
    count = 0
    for first in range(begin, end, columns):
        found_in_row = 0
        for cell in range(first, first + columns):
            candidates[found_in_row] = cell
            found_in_row += _SEVERAL[lower[cell]]  # without a branch, for speed
        for candidate in candidates[:found_in_row]:
            cell = np.int64(candidate)
            if toward[cell] == _OFF_MAP:
                continue
            # Of each part of the lower neighbours, the steepest way down
            steepest[:] = -1.0
            height = ground[cell]
            members = lower[cell]
            parts = _PARTS[members]
            for k in range(8):
                if members >> k & 1:
                    part = parts >> 2 * k & 3
                    fall = (height - ground[cell + steps[k]]) * _INVERSE_DISTANCES[k]
                    if fall > steepest[part]:
                        steepest[part] = fall
                        best[part] = cell + steps[k]
            # Where three basins meet in one cell, water goes on by the steepest way there, so that one comes first.
            while True:
                part = 0
                for other in range(1, 4):
                    if steepest[other] > steepest[part]:
                        part = other
                if steepest[part] < 0.0:
                    break
                if basin[best[part]] != basin[cell]:
                    pairs[count, 0], pairs[count, 1] = cell, best[part]
                    count += 1
                steepest[part] = -1.0
    return count


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _find_pairs(ground: Any, toward: Any, lower: Any, basin: Any, pairs: Any, found: Any) -> None:
    for band in prange(len(found)):
        found[band, _PAIRS] = _finish_band(
            np.int64(band), ground.reshape(-1), toward.reshape(-1), lower.reshape(-1), basin.reshape(-1),
            pairs[_PARTS_OF_A_CELL * _cells_of(band, ground.shape)[0] :], ground.shape,
        )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def _saddles(toward, lower, flat_cells, basin, pairs_of_bands, found, rows, columns):
    """All pairs, among which is the lowest way between any two basins."""
    steps = np.empty(8, np.int64)
    for k in range(8):
        steps[k] = _ROW_STEPS[k] * columns + _COLUMN_STEPS[k]
    # Beside those of the bands at most four neighbours of a flat's cell that count as lower, and eight of an edge's
    most = found[:, _PAIRS].sum() + 4 * len(flat_cells) + 16 * (rows + columns)
    pairs, count = np.empty((most, 2), np.int32), 0
    for band in range(len(found)):
        begin = _PARTS_OF_A_CELL * _cells_of(band, (rows, columns))[0]
        for index in range(begin, begin + found[band, _PAIRS]):
            pairs[count] = pairs_of_bands[index]
            count += 1
    # On a flat, cells flow to neighbours that count as no lower, so that all are compared.
    for cell in flat_cells:
        members, here = lower[cell], basin[cell]
        for k in range(8):
            if members >> k & 1 and basin[cell + steps[k]] != here:
                pairs[count, 0], pairs[count, 1] = cell, cell + steps[k]
                count += 1
    # So with open edges, over which everything inside of them can flow.
    for row in range(rows):
        for column in range(0, columns, 1 if row == 0 or row == rows - 1 else columns - 1):
            cell = row * columns + column
            if toward[cell] == _OFF_MAP:
                for k in range(8):
                    if lower[cell] >> k & 1 and basin[cell + steps[k]] >= _FIRST:
                        pairs[count, 0], pairs[count, 1] = cell, cell + steps[k]
                        count += 1
    return pairs[:count]


@njit(nogil=True, error_model="numpy")
def _root(above, index):
    """The last of the line that `above` leads along, which is made shorter on the way."""
    while above[index] != index:
        above[index] = above[above[index]]
        index = above[index]
    return index


@njit(nogil=True, error_model="numpy")
def _sorted_by_height(ground, pairs):
    """The order of the pairs from the lowest saddle up, by radix sort: equal ones stay in their order."""
    count = len(pairs)
    heights = np.empty(count)
    for index in range(count):
        heights[index] = ground[pairs[index, 0]] + 0.0  # no negative zero
    keys = heights.view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    for index in range(count):
        keys[index] ^= ~np.uint64(0) if keys[index] & sign else sign
    digits, bits = 6, np.uint64(11)
    ends = np.zeros((digits, 1 << 11), np.int64)
    last = np.uint64((1 << 11) - 1)
    for index in range(count):
        key = keys[index]
        for digit in range(digits):
            ends[digit, key & last] += 1
            key >>= bits
    order, other = np.arange(count).astype(np.int32), np.empty(count, np.int32)
    for digit in range(digits):
        shift = np.uint64(digit) * bits
        begins = ends[digit]
        if count > 0 and begins[(keys[0] >> shift) & last] == count:
            continue  # all are equal in this digit
        total = 0
        for value in range(1 << 11):
            total, begins[value] = total + begins[value], total
        for index in order:
            value = (keys[index] >> shift) & last
            other[begins[value]] = index
            begins[value] += 1
        order, other = other, order
    return order


@njit(nogil=True, error_model="numpy")
def _grow_tree(ground, toward, basin, pits, pairs, sea_level, columns):
    """Join the basins over their saddles, the lowest first."""
    basins = len(pits)
    order = _sorted_by_height(ground, pairs)

    size = 2 * basins
    outlet = np.full(size, np.inf)
    parent = np.full(size, -1, np.int32)
    sibling = np.full(size, -1, np.int32)
    sill = np.full(size, -1, np.int32)
    beyond = np.full(size, -1, np.int32)
    across = np.full(size, -1, np.int32)
    pit = np.full(size, -1, np.int32)
    floor = np.full(size, np.inf)
    for leaf in range(basins):
        pit[leaf] = pits[leaf]
    for leaf in range(_FIRST, basins):
        floor[leaf] = ground[pits[leaf]]
    nodes = basins
    above = np.arange(basins)  # sets of joined basins
    top = np.arange(basins)  # the node that each set is, by its root
    above[_INTO_SEA] = _OVER_EDGE
    for index in order:
        cell, other = np.int64(pairs[index, 0]), np.int64(pairs[index, 1])
        here, there = _root(above, basin[cell]), _root(above, basin[other])
        if here == there:
            continue
        # A way down leads from the saddle's cell on this side, and from the other one on that.
        way = toward[cell]
        down = -1 if way == _OFF_MAP else cell + _ROW_STEPS[way] * columns + _COLUMN_STEPS[way]
        if here != _OVER_EDGE:
            node = top[here]
            outlet[node], sill[node], beyond[node], across[node] = ground[cell], cell, other, basin[other]
        if there != _OVER_EDGE:
            node = top[there]
            outlet[node], sill[node], beyond[node], across[node] = ground[cell], cell, down, basin[cell]
        if here == _OVER_EDGE:
            above[there] = _OVER_EDGE
        elif there == _OVER_EDGE:
            above[here] = _OVER_EDGE
        else:
            a, b = top[here], top[there]
            parent[a] = parent[b] = nodes
            sibling[a], sibling[b] = b, a
            pit[nodes] = pit[a] if ground[pit[a]] <= ground[pit[b]] else pit[b]
            floor[nodes] = ground[cell]
            above[there] = here
            top[here] = nodes
            nodes += 1

    crest = outlet.copy()
    sea = np.zeros(nodes, np.bool_)
    sea[_INTO_SEA] = True
    crest[_OVER_EDGE] = crest[_INTO_SEA] = -np.inf
    for node in range(nodes - 1, _FIRST - 1, -1):
        p = parent[node]
        if p >= 0:
            sea[node], crest[node] = sea[p], crest[p]
        elif outlet[node] < sea_level:
            sea[node], crest[node] = True, -np.inf
    return _Tree(
        outlet[:nodes], parent[:nodes], sibling[:nodes], sill[:nodes], beyond[:nodes], across[:nodes], pit[:nodes],
        floor[:nodes], crest[:nodes], sea,
    )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def _space(height, lowest, highest, per_metre, spaces):
    """In which of a line's spaces a height lies; never less for a greater one."""
    return int(min((max(lowest, min(height, highest)) - lowest) * per_metre, spaces - 1.0))


@njit(nogil=True, error_model="numpy")
def _raise_ladders(tree, leaves):
    """Divide the tree into lines: each depression goes on the line of the child with more basins in it."""
    nodes = len(tree.outlet)
    basins = np.ones(nodes, np.int32)
    heir = np.full(nodes, -1, np.int32)
    for node in range(leaves, nodes):
        basins[node] = 0
    for node in range(_FIRST, nodes):
        p = tree.parent[node]
        if p >= 0:
            basins[p] += basins[node]
            if heir[p] < 0 or basins[node] > basins[heir[p]]:
                heir[p] = node
    outlet, node_at, table = np.empty(nodes), np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    rung, line = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    last, spaces_per_metre = np.zeros(leaves, np.int32), np.zeros(leaves)
    count = 0
    for leaf in range(_FIRST, leaves):
        first, node = count, leaf
        while True:
            outlet[count], node_at[count], rung[node], line[node] = tree.outlet[node], node, count, leaf
            count += 1
            p = tree.parent[node]
            if p < 0 or heir[p] != node:
                break
            node = p
        last[leaf] = count - 1
        spaces = count - first
        highest = outlet[count - 1] if outlet[count - 1] < np.inf or spaces == 1 else outlet[count - 2]
        lowest = outlet[first]
        per_metre = spaces / (highest - lowest) if lowest < highest < np.inf else 0.0
        spaces_per_metre[leaf] = per_metre if per_metre < np.inf else 0.0
        at = first
        for space in range(spaces):
            while at < count - 1 and _space(outlet[at], lowest, highest, spaces_per_metre[leaf], spaces) < space:
                at += 1
            table[first + space] = at
    return _Ladders(outlet, node_at, table, rung, line, last, spaces_per_metre)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _depression(outlet, parent, heights, node_at, table, rung, line, last, spaces_per_metre, basin, height):
    """The smallest depression around a basin whose outlet lies higher than `height`.

    It is given the arrays one by one, as taking them out of tuples for each cell costs ten times what is done here.
    """
    node = basin
    while outlet[node] <= height:
        own = line[node]
        first, end = rung[own], last[own]
        if heights[end] <= height:
            node = parent[node_at[end]]
            continue
        spaces = end + 1 - first
        highest = heights[end] if heights[end] < np.inf or end == first else heights[end - 1]
        space = _space(height, heights[first], highest, spaces_per_metre[own], spaces)
        low = max(rung[node], table[first + space])
        high = table[first + space + 1] if space + 1 < spaces else end
        while low < high:
            middle = (low + high) >> 1
            if heights[middle] > height:
                high = middle
            else:
                low = middle + 1
        node = node_at[low]
    return node


class _Runs(NamedTuple):
    """What bands find in stretches of a row, each at the beginning of its part of these: [cell]."""

    basin: NDArray[np.int32]
    volume: Layer
    node: NDArray[np.int32]
    cells: NDArray[np.int32]
    depth: Layer


@njit(nogil=True, error_model="numpy")
def _measure_band(
    band, ground, water, basin, tree, ladders, evaporation, seepage, shape, basins, volumes, node_of, cells, depths,
    lost_in_row, found,
):  # fmt: skip
    """The water that flows from a band to each basin after losses, and of each depression cells and depth below its
    outlet, by stretches of a row: basins and volumes, depressions and cells and sums of depths."""
    columns = shape[1]
    first_cell, past_last = _cells_of(band, shape)
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
                        node = np.int64(_depression(
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
    found[_RUNS], found[_LEVELS_RUNS] = runs - first_cell, levels - first_cell


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
        begin, _ = _cells_of(band, shape)
        for run in range(begin, begin + found[band, _RUNS]):
            volume[runs.basin[run]] += runs.volume[run]
        for run in range(begin, begin + found[band, _LEVELS_RUNS]):
            own[runs.node[run]] += runs.cells[run]
            capacity[runs.node[run]] += runs.depth[run]
    cells = own.copy()
    below = np.zeros(nodes)  # what the children hold
    for node in range(_FIRST, nodes):
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
    into_sea, over_edge = volume[_INTO_SEA], volume[_OVER_EDGE]

    # From the top: a depression whose children are both full is one pool with all that is in it.
    merged = np.zeros(nodes, np.bool_)
    for node in range(nodes - 1, _FIRST - 1, -1):
        p = tree.parent[node]
        if p >= 0 and merged[p]:
            merged[node] = True
            pool[node] = pool[p]
        else:
            merged[node] = below[node] > 0.0 and volume[node] >= below[node] * (1.0 - _SAME)

    for node in range(_FIRST, nodes):
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
            if basin == _OVER_EDGE:
                over_edge += rest
                break
            if tree.sea[basin]:
                into_sea += rest
                break
            node = _root(pool, basin)
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


@njit(nogil=True, error_model="numpy")
def _gather_band(band, ground, basin, pool_of, floor, outlet, start, pools, cells, heights, shape, found):
    """Find the cells of a band that the level of their pool can lie among: pools, how many, and their heights."""
    columns = shape[1]
    first_cell, past_last = _cells_of(band, shape)
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
    found[_RUNS] = runs - first_cell


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
        begin, _ = _cells_of(band, shape)
        at = begin
        for run in range(begin, begin + found[band, _RUNS]):
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
    for basin_number in range(_FIRST):
        pool_of[basin_number] = basin_number
    for leaf in range(_FIRST, leaves):
        node = _root(pool, leaf)
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
    for leaf in range(_FIRST, leaves):
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
    over[_OVER_EDGE] = -np.inf
    over[_INTO_SEA] = -np.inf
    for leaf in range(_FIRST, leaves):
        over[leaf] = levels[pool_of[leaf]]
    return over, left


@njit(cache=True, nogil=True, error_model="numpy")
def _find_tree(
    ground: Any, toward: Any, lower: Any, basin: Any, pits: Any, flat_cells: Any, pairs: Any, found: Any,
    sea_level: float,
) -> Any:  # fmt: skip
    """The tree of depressions, its ladders, and room for what the bands find of them."""
    rows, columns = ground.shape
    cells = rows * columns
    flat_ground, flat_toward, flat_basin = ground.reshape(-1), toward.reshape(-1), basin.reshape(-1)
    all_pairs = _saddles(
        flat_toward, lower.reshape(-1), flat_cells, flat_basin, pairs, found, rows, columns
    )  # fmt: skip
    tree = _grow_tree(flat_ground, flat_toward, flat_basin, pits, all_pairs, sea_level, columns)
    # Little of it is ever written to.
    runs = _Runs(
        np.empty(cells, np.int32), np.empty(cells), np.empty(cells, np.int32), np.empty(cells, np.int32),
        np.empty(cells),
    )  # fmt: skip
    return tree, _raise_ladders(tree, len(pits)), runs, np.empty((rows, 2))


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
    for leaf in range(_FIRST, leaves):
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
        other = _neighbour(pit, k, rows, columns)
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
    ground: Layer, water: Layer, level: Layer, standing: NDArray[np.uint8], parameters: PoolParameters
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
    Where a value is not a finite number, or water is negative, nothing is written, and the totals say where.
    """
    check_layers(ground, water, level)
    if standing.shape != ground.shape or standing.dtype != np.uint8 or not standing.flags.c_contiguous:
        raise ValueError("standing must be a C-contiguous uint8 array of the layers' shape")
    toward, lower = np.empty(ground.shape, np.uint8), np.empty(ground.shape, np.uint8)
    basin = np.empty(ground.shape, np.int32)
    found = np.zeros((-(-len(ground) // BAND), _FOUND), np.int64)
    _look(ground, water, toward, lower, basin, parameters.edges != WALL, found)
    if not found[:, _SOUND].all():
        row, column = _first_unsound(ground, water)
        return PoolTotals(0.0, 0.0, 0.0, 0.0, row, column), _NO_SPILLS
    parameters = exact(parameters)
    sea_level = parameters.sea_level if parameters.edges == SEA else -math.inf
    evaporation, seepage = parameters.evaporation, parameters.seepage
    flat_cells, pits = _find_pits(ground, toward, basin, found)
    _lead(ground, toward, pits, sea_level, basin)
    pairs = _join_bands(basin, found)
    _find_pairs(ground, toward, lower, basin, pairs, found)
    tree, ladders, runs, lost_in_row = _find_tree(
        ground, toward, lower, basin, pits, flat_cells, pairs, found, sea_level
    )
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


_NO_SPILLS = Spills(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
