"""The depression hierarchy of a map.

After Barnes, Callaghan and Wickert 2020 ("Computing water flow through complex landscapes, part 2: depression
hierarchies"). From the ground alone:

1. Each cell flows to its lowest neighbour by slope. All cells that end in one pit are a basin.
2. Where two basins meet, the lowest way over is their saddle. Only a cell whose lower neighbours do not hang together
   can be one, so few are looked at; between those that hang together there is a lower way.
3. Saddles from the lowest up join basins into depressions, and these into larger ones: a binary tree, whose leaves are
   basins. A depression's outlet is the saddle at which it joins its sibling, or drains.

A cell beyond which lies the edge drains over it, except between walls. The sea is what lies below its level and hangs
together with the map's edge: its basins are those that join the edge below that level.

What is done for each cell is done in bands of rows, side by side. What the bands find is put together in their order,
so that nothing depends on the number of threads; only the tree, which is small, is one thread's work.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, njit
from kernels.layers import Layer
from kernels.scratch import Scratch

# Labels beyond the edge of the map
SEA, OPEN, WALL = 0, 1, 2

# The eight neighbours: orthogonal ones first, so that they win ties.
_ROW_STEPS = np.array([-1, 0, 0, 1, -1, -1, 1, 1])
_COLUMN_STEPS = np.array([0, -1, 1, 0, -1, 1, -1, 1])
_INVERSE_DISTANCES = np.array([1.0] * 4 + [math.sqrt(0.5)] * 4)
_BACK = np.array([3, 2, 1, 0, 7, 6, 5, 4])  # the opposite of each direction
_NOWHERE, _OFF_MAP = 8, 9  # where a cell flows to that has no lower neighbour, or that lies at an open edge

# Added to the index of a cell beyond the band. No map has so many cells.
_BEYOND_BAND = 1 << 30

# The first two basins are no basins: what flows over the edge of the map, and what flows into the sea on it.
OVER_EDGE, INTO_SEA, FIRST = 0, 1, 2

# In as many parts, which do not hang together, the lower neighbours of a cell can be at most.
_PARTS_OF_A_CELL = 4

# Rows of a band. The ways of its cells are followed to its edge, and from there, one by one, from band to band.
BAND = 64


class Tree(NamedTuple):
    """Depressions: leaves first, in the order of their pits, then parents after their children."""

    outlet: Layer  # height of the sill; infinite if there is none
    parent: NDArray[np.int32]  # -1: none
    sibling: NDArray[np.int32]
    sill: NDArray[np.int32]  # cell
    beyond: NDArray[np.int32]  # cell to which a spill flows; -1: off the map
    across: NDArray[np.int32]  # basin of that cell
    pit: NDArray[np.int32]  # lowest cell
    floor: Layer  # height from which it fills after its children: their outlet, or the pit
    crest: Layer  # outlet of the largest depression around it
    sea: NDArray[np.bool_]


class Ladders(NamedTuple):
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
def cells_of(band, shape):
    """The first cell of a band, and one past its last."""
    rows, columns = shape
    return band * BAND * columns, min((band + 1) * BAND, rows) * columns


# Counts of a band
SOUND, _FLAT, _PAIRS, RUNS, LEVELS_RUNS = range(5)
FOUND = 8  # numbers for each band: a cache line


@in_threads
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
    found[SOUND], found[_FLAT] = sound, flat


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def look(ground: Any, water: Any, toward: Any, lower: Any, basin: Any, open_edges: bool, found: Any) -> None:
    """Where each cell flows to, and which of its neighbours are lower; `found` [band] is what there is in each.

    Of two equally high cells the one that comes first on the map counts as lower here. Cells without a lower neighbour
    are written to `basin`, those of a band at its beginning.
    """
    cells = basin.reshape(-1)
    for unsigned_band in prange(len(found)):
        band = np.int64(unsigned_band)
        begin, end = cells_of(band, ground.shape)
        _look_at_band(band, ground, water, toward, lower, open_edges, cells[begin:end], found[band])


@njit(cache=True, nogil=True)
def first_unsound(ground: Any, water: Any) -> tuple[int, int]:
    for row in range(ground.shape[0]):
        for column in range(ground.shape[1]):
            if not (abs(ground[row, column]) < np.inf and 0.0 <= water[row, column] < np.inf):
                return row, column
    return -1, -1


@njit(nogil=True, error_model="numpy")
def neighbour(cell, k, rows, columns):
    """The neighbour of a cell in direction k; -1 where it lies off the map."""
    row, column = cell // columns + _ROW_STEPS[k], cell % columns + _COLUMN_STEPS[k]
    if 0 <= row < rows and 0 <= column < columns:
        return row * columns + column
    return -1


@njit(nogil=True, error_model="numpy")
def _put_together(found, what, of_bands, shape):
    """Concatenate what each band has written at its beginning."""
    together = np.empty(found[:, what].sum(), of_bands.dtype)
    count = 0
    for band in range(len(found)):
        begin, _ = cells_of(band, shape)
        for index in range(begin, begin + found[band, what]):  # to assign a slice compiles for seconds
            together[count] = of_bands[index]
            count += 1
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
                other = neighbour(cell, k, rows, columns)
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
                other = neighbour(cell, k, rows, columns)
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
def find_pits(ground: Any, toward: Any, basin: Any, found: Any) -> Any:
    """Lead flats to their outlets. Returns all cells that had no lower neighbour, and the pit of each basin."""
    rows, columns = ground.shape
    flat_cells = _put_together(found, _FLAT, basin.reshape(-1), ground.shape)
    leads = toward.reshape(-1)
    _drain_flats(ground.reshape(-1), leads, flat_cells, rows, columns)
    pits = np.empty(len(flat_cells) + FIRST, np.int32)
    pits[:FIRST] = -1
    count = FIRST
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


@in_threads
def _lead_band(band, ground, toward, pits, sea_level, basin, shape):
    """Let each cell of a band point to where its way leaves the band, or write in which basin it lies."""
    rows, columns = shape
    begin, end = cells_of(band, shape)
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
    low, high = FIRST, len(pits)
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
                basin[cell] = INTO_SEA if ground[cell] < sea_level else OVER_EDGE
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
def lead(ground: Any, toward: Any, pits: Any, sea_level: float, basin: Any) -> None:
    for band in prange(-(-ground.shape[0] // BAND)):
        _lead_band(
            np.int64(band), ground.reshape(-1), toward.reshape(-1), pits, sea_level, basin.reshape(-1), ground.shape
        )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def join_bands(basin: Any, found: Any) -> Any:
    """Write in which basins the cells of the first and the last row of each band lie: ways lead from one to the next.

    Returns room for the pairs of all bands. Little of it is ever written to.
    """
    columns = basin.shape[1]
    cells = basin.reshape(-1)
    for band in range(len(found)):
        begin, end = cells_of(band, basin.shape)
        for first in (begin, end - columns):
            for cell in range(first, first + columns):
                ahead = cells[cell]
                while ahead >= _BEYOND_BAND:
                    ahead = cells[np.uintp(ahead - _BEYOND_BAND)]
                cells[cell] = ahead
    return np.empty((_PARTS_OF_A_CELL * len(cells), 2), np.int32)


@in_threads
def _finish_band(band, ground, toward, lower, basin, pairs, shape):
    """Write in which basin each cell of a band lies, and find its pairs. Returns how many.

    A pair are neighbouring cells in two basins, the higher one first.
    """
    columns = shape[1]
    begin, end = cells_of(band, shape)
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
            # Where three basins meet in one cell, the steepest direction decides which comes first.
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
def find_pairs(ground: Any, toward: Any, lower: Any, basin: Any, pairs: Any, found: Any) -> None:
    for band in prange(len(found)):
        found[band, _PAIRS] = _finish_band(
            np.int64(band), ground.reshape(-1), toward.reshape(-1), lower.reshape(-1), basin.reshape(-1),
            pairs[_PARTS_OF_A_CELL * cells_of(band, ground.shape)[0] :], ground.shape,
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
        begin = _PARTS_OF_A_CELL * cells_of(band, (rows, columns))[0]
        for index in range(begin, begin + found[band, _PAIRS]):
            pairs[count, 0], pairs[count, 1] = pairs_of_bands[index, 0], pairs_of_bands[index, 1]
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
                    if lower[cell] >> k & 1 and basin[cell + steps[k]] >= FIRST:
                        pairs[count, 0], pairs[count, 1] = cell, cell + steps[k]
                        count += 1
    return pairs[:count]


@njit(nogil=True, error_model="numpy")
def root(above, index):
    """The last of the line that `above` leads along, which is made shorter on the way."""
    while above[index] != index:
        above[index] = above[above[index]]
        index = above[index]
    return index


@njit(nogil=True, error_model="numpy")
def _sorted_by_height(ground, pairs):
    """The pairs sorted by saddle height, by a stable radix sort."""
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
    for leaf in range(FIRST, basins):
        floor[leaf] = ground[pits[leaf]]
    nodes = basins
    above = np.arange(basins)  # sets of joined basins
    top = np.arange(basins)  # the node that each set is, by its root
    above[INTO_SEA] = OVER_EDGE
    for index in order:
        cell, other = np.int64(pairs[index, 0]), np.int64(pairs[index, 1])
        here, there = root(above, basin[cell]), root(above, basin[other])
        if here == there:
            continue
        # A way down leads from the saddle's cell on this side, and from the other one on that.
        way = toward[cell]
        down = -1 if way == _OFF_MAP else cell + _ROW_STEPS[way] * columns + _COLUMN_STEPS[way]
        if here != OVER_EDGE:
            node = top[here]
            outlet[node], sill[node], beyond[node], across[node] = ground[cell], cell, other, basin[other]
        if there != OVER_EDGE:
            node = top[there]
            outlet[node], sill[node], beyond[node], across[node] = ground[cell], cell, down, basin[cell]
        if here == OVER_EDGE:
            above[there] = OVER_EDGE
        elif there == OVER_EDGE:
            above[here] = OVER_EDGE
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
    sea[INTO_SEA] = True
    crest[OVER_EDGE] = crest[INTO_SEA] = -np.inf
    for node in range(nodes - 1, FIRST - 1, -1):
        p = parent[node]
        if p >= 0:
            sea[node], crest[node] = sea[p], crest[p]
        elif outlet[node] < sea_level:
            sea[node], crest[node] = True, -np.inf
    return Tree(
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
    for node in range(FIRST, nodes):
        p = tree.parent[node]
        if p >= 0:
            basins[p] += basins[node]
            if heir[p] < 0 or basins[node] > basins[heir[p]]:
                heir[p] = node
    outlet, node_at, table = np.empty(nodes), np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    rung, line = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    last, spaces_per_metre = np.zeros(leaves, np.int32), np.zeros(leaves)
    count = 0
    for leaf in range(FIRST, leaves):
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
    return Ladders(outlet, node_at, table, rung, line, last, spaces_per_metre)


@njit(nogil=True, error_model="numpy", forceinline=True)
def depression(outlet, parent, heights, node_at, table, rung, line, last, spaces_per_metre, basin, height):
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


@njit(cache=True, nogil=True, error_model="numpy")
def find_tree(
    ground: Any, toward: Any, lower: Any, basin: Any, pits: Any, flat_cells: Any, pairs: Any, found: Any,
    sea_level: float,
) -> Any:  # fmt: skip
    """The tree of depressions, and its ladders."""
    rows, columns = ground.shape
    flat_ground, flat_toward, flat_basin = ground.reshape(-1), toward.reshape(-1), basin.reshape(-1)
    all_pairs = _saddles(
        flat_toward, lower.reshape(-1), flat_cells, flat_basin, pairs, found, rows, columns
    )  # fmt: skip
    tree = _grow_tree(flat_ground, flat_toward, flat_basin, pits, all_pairs, sea_level, columns)
    return tree, _raise_ladders(tree, len(pits))


class Basins(NamedTuple):
    """The basins and depressions of a map."""

    basin: NDArray[np.int32]  # that each cell lies in, [row, column]
    pits: NDArray[np.int32]  # cell, by basin
    tree: Tree
    ladders: Ladders
    found: NDArray[np.int64]  # counts of each band, [band, count]


def find_basins(ground: Layer, water: Layer, edges: int, sea_level: float, scratch: Scratch) -> Basins | None:
    """The basins of a ground in metres, [row, column]; None if it, or the depth of water on it, is unsound.

    `edges` are SEA, OPEN or WALL; `sea_level` is minus infinity where there is no sea. Some arrays are of `scratch`.
    """
    pairs_of_basins = _find_pairs_of_basins(ground, water, edges, sea_level, scratch)
    if pairs_of_basins is None:
        return None
    toward, lower, basin, pits, flat_cells, pairs, found = pairs_of_basins
    tree, ladders = find_tree(ground, toward, lower, basin, pits, flat_cells, pairs, found, sea_level)
    return Basins(basin, pits, tree, ladders, found)


def _find_pairs_of_basins(
    ground: Layer, water: Layer, edges: int, sea_level: float, scratch: Scratch
) -> tuple[Any, ...] | None:
    """What `find_tree` asks for; see `find_basins`."""
    toward, lower = scratch.empty(ground.shape, np.uint8), scratch.empty(ground.shape, np.uint8)
    basin = scratch.empty(ground.shape, np.int32)
    found = np.zeros((-(-len(ground) // BAND), FOUND), np.int64)
    look(ground, water, toward, lower, basin, edges != WALL, found)
    if not found[:, SOUND].all():
        return None
    flat_cells, pits = find_pits(ground, toward, basin, found)
    lead(ground, toward, pits, sea_level, basin)
    pairs = join_bands(basin, found)
    find_pairs(ground, toward, lower, basin, pairs, found)
    return toward, lower, basin, pits, flat_cells, pairs, found


def prepare() -> None:
    """Compile what finds basins, or load it from the cache. What joins them has `prepare_tree`."""
    _find_pairs_of_basins(np.zeros((8, 8)), np.zeros((8, 8)), OPEN, -math.inf, Scratch())


def prepare_tree() -> None:
    """Compile what joins basins, or load it from the cache."""
    ground, codes, basin = np.zeros((8, 8)), np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.int32)
    pits, pairs, found = np.full(FIRST, -1, np.int32), np.empty((0, 2), np.int32), np.zeros((1, FOUND), np.int64)
    find_tree(ground, codes, codes, basin, pits, np.empty(0, np.int32), pairs, found, -math.inf)


def one_basin(rows: int, columns: int, outlet: float) -> Basins:
    """Those of a map at height 0 that is all one basin, whose water would flow off the map at a height above."""
    nodes, pit = FIRST + 1, FIRST
    nowhere, first = np.full(nodes, -1, np.int32), np.zeros(nodes, np.int32)
    outlets = np.array([np.inf] * FIRST + [outlet])
    tree = Tree(
        outlet=outlets, parent=nowhere, sibling=nowhere, sill=first, beyond=nowhere, across=first, pit=first,
        floor=np.zeros(nodes), crest=np.array([-np.inf] * FIRST + [outlet]), sea=np.arange(nodes) == INTO_SEA,
    )  # fmt: skip
    line = np.full(nodes, pit, np.int32)
    ladders = Ladders(outlets[::-1].copy(), line, first, first, line, first, np.zeros(nodes))
    found = np.zeros((-(-rows // BAND), FOUND), np.int64)
    return Basins(np.full((rows, columns), pit, np.int32), first, tree, ladders, found)
