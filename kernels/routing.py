"""Where the water of each cell goes, and what gathers there: order, outlets, distances and accumulation.

All of it follows from the map of directions of `kernels.directions`, whose cells form a forest: each tree drains to one
outlet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OPPOSITE, OUTLET, ROW_STEPS, index_steps

_UNKNOWN = -1

# The length of a way is counted in steps, so many across a corner and `BESIDE` times as many beside: as one whole
# number, whose sums are exact whatever their order.
BESIDE = 2.0**26
STEPS = np.array([BESIDE] * 4 + [1.0] * 4 + [0.0])

_TILE = 128  # springs are looked for in so many rows and columns at a time
_LISTED = np.uint8(255)  # what waits for nothing, and has been found before its turn


class Routes(NamedTuple):
    """The ways of all water."""

    order: NDArray[np.int32]  # all cells, row * columns + column, each after the one that it drains to
    outlets: NDArray[np.int32]  # [row, column]: the cell of the outlet that each cell drains to; of an outlet itself
    distances: NDArray[np.float64]  # [row, column]: length of the way there, in metres


@njit(nogil=True, cache=True, error_model="numpy")
def _walk(directions, steps, order, outlets, distances):
    """From each cell down to one that is known, and the same way back. Distances are counted as `STEPS` are."""
    direction, outlet_of, distance_of = directions.reshape(-1), outlets.reshape(-1), distances.reshape(-1)
    # Directions lead down, or on a flat ever closer to its end: no way comes to a cell twice, and each cell is listed
    # by the way that first comes to it.
    way = np.empty(len(order), np.int32)
    outlet_of[:] = _UNKNOWN
    listed = 0
    for start in range(len(order)):
        cell = start
        length = 0
        while outlet_of[cell] == _UNKNOWN and direction[cell] != OUTLET:
            way[length] = cell
            length += 1
            cell += steps[direction[cell]]
        if outlet_of[cell] == _UNKNOWN:
            outlet_of[cell] = cell
            distance_of[cell] = 0.0
            order[listed] = cell
            listed += 1
        outlet, distance = outlet_of[cell], distance_of[cell]
        for place in range(length - 1, -1, -1):
            cell = way[place]
            distance += STEPS[direction[cell]]
            outlet_of[cell] = outlet
            distance_of[cell] = distance
            order[listed] = cell
            listed += 1


@njit(nogil=True, cache=True, error_model="numpy")
def _measure(counted, beside, across, lengths):
    count, length = counted.reshape(-1), lengths.reshape(-1)
    for cell in range(len(count)):
        straight = np.floor(count[cell] * (1.0 / BESIDE))
        length[cell] = straight * beside + (count[cell] - straight * BESIDE) * across


@njit(nogil=True, cache=True)
def _accumulate(directions, order, steps, totals):
    direction, total = directions.reshape(-1), totals.reshape(-1)
    for place in range(len(order) - 1, -1, -1):
        cell = order[place]
        if direction[cell] != OUTLET:
            total[cell + steps[direction[cell]]] += total[cell]


@njit(nogil=True, cache=True)
def _lengthen(directions, order, steps, lengths, ways):
    direction, way = directions.reshape(-1), ways.reshape(-1)
    way[:] = 0.0
    for place in range(len(order) - 1, -1, -1):
        cell = order[place]
        if direction[cell] != OUTLET:
            below = cell + steps[direction[cell]]
            way[below] = max(way[below], way[cell] + lengths[direction[cell]])


@njit(nogil=True, cache=True)
def _strahler(directions, order, steps, rivers, orders):
    """While a cell waits for its turn, its entry is twice the highest order that flows in, and 1 more if two do so."""
    direction, is_river, entry = directions.reshape(-1), rivers.reshape(-1), orders.reshape(-1)
    for place in range(len(order) - 1, -1, -1):
        cell = order[place]
        if not is_river[cell]:
            entry[cell] = 0
            continue
        strahler = max(1, (entry[cell] >> 1) + (entry[cell] & 1))
        entry[cell] = strahler
        if direction[cell] != OUTLET:
            below = cell + steps[direction[cell]]
            if strahler > entry[below] >> 1:
                entry[below] = 2 * strahler
            elif strahler == entry[below] >> 1:
                entry[below] |= 1


@njit(nogil=True, cache=True)
def _upstream(directions, order, steps, catchment):
    direction, inside = directions.reshape(-1), catchment.reshape(-1)
    for cell in order:
        if direction[cell] != OUTLET:
            inside[cell] |= inside[cell + steps[direction[cell]]]


@njit(nogil=True, cache=True)
def _downstream(directions, steps, row, column):
    direction = directions.reshape(-1)
    cell = row * directions.shape[1] + column
    way = [cell]
    while direction[cell] != OUTLET:
        cell += steps[direction[cell]]
        way.append(cell)
    return np.array(way)


def routes(directions: NDArray[np.int8], cell_size: float, out: Routes | None = None) -> Routes:
    """Follow the water of all cells to where it leaves the land. `cell_size` is the side of a cell in metres."""
    if out is None:
        out = empty_routes(*directions.shape)
    follow(directions, out)
    lengths_of(out.distances, cell_size, out.distances)
    return out


def follow(directions: NDArray[np.int8], out: Routes) -> None:
    """Write the ways of all water to `out`, with distances as counts of `STEPS`."""
    _walk(directions, index_steps(directions.shape[1]), *out)


def lengths_of(
    counted: NDArray[np.float64], cell_size: float, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Lengths in metres from counts of `STEPS`, C-contiguous; `out` may be the same array."""
    lengths = np.empty_like(counted) if out is None else out
    _measure(counted, float(cell_size), float(cell_size) * float(LENGTHS[-1]), lengths)
    return lengths


def empty_routes(rows: int, columns: int) -> Routes:
    """Room for the routes of a map."""
    shape = (rows, columns)
    return Routes(np.empty(rows * columns, np.int32), np.empty(shape, np.int32), np.empty(shape))


def accumulate(
    directions: NDArray[np.int8], order: NDArray[np.int32], rain: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much of `rain` comes through each cell, its own included, float64 [row, column]. Overwrites `rain`.

    Rain of 1 on each cell counts the cells upstream; where ocean cells get none, the sum over all outlets is the number
    of land's cells.
    """
    _accumulate(directions, order, index_steps(directions.shape[1]), rain)
    return rain


def longest_ways(directions: NDArray[np.int8], order: NDArray[np.int32], cell_size: float) -> NDArray[np.float64]:
    """The longest way upstream of each cell, in metres, float64 [row, column]; 0 where no water comes in."""
    ways = np.empty(directions.shape)
    _lengthen(directions, order, index_steps(directions.shape[1]), LENGTHS * cell_size, ways)
    return ways


def strahler_orders(
    directions: NDArray[np.int8],
    order: NDArray[np.int32],
    rivers: NDArray[np.bool_],
    begun: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """The order of each river, uint8 [row, column], 0 where none is (Strahler 1957).

    `rivers` is the mask of their cells: with a cell, the one that it drains to is a river, too. A spring has order 1;
    where two rivers of one order meet, and no higher one is there, the order rises by 1. What comes in from outside is
    `begun` [row, column]: twice the highest order, and 1 more if two have it; it is overwritten with the result.
    """
    orders = np.zeros(directions.shape, np.uint8) if begun is None else begun
    _strahler(directions, order, index_steps(directions.shape[1]), rivers, orders)
    return orders


def catchment(directions: NDArray[np.int8], order: NDArray[np.int32], row: int, column: int) -> NDArray[np.bool_]:
    """The cells [row, column] whose water comes through one cell, that one included."""
    inside = np.zeros(directions.shape, np.bool_)
    inside[row, column] = True
    _upstream(directions, order, index_steps(directions.shape[1]), inside)
    return inside


def way_to_outlet(directions: NDArray[np.int8], row: int, column: int) -> NDArray[np.int64]:
    """The cells that the water of one cell comes through, [cell, 2] as row and column, down to the outlet."""
    cells = _downstream(directions, index_steps(directions.shape[1]), int(row), int(column))
    return np.stack(np.divmod(cells, directions.shape[1]), axis=1)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _count_inflows(directions, inflows):
    """How many neighbours drain to each cell."""
    for unsigned_row in prange(len(directions)):
        _count_inflows_of_row(directions, np.int64(unsigned_row), inflows)


@njit(nogil=True, error_model="numpy")
def _count_inflows_of_row(directions, row, inflows):
    """By the whole row, several cells in one instruction."""
    rows, columns = directions.shape
    here = inflows[row]
    here[:] = 0
    for neighbour in range(8):
        other, aside = row + ROW_STEPS[neighbour], COLUMN_STEPS[neighbour]
        if not 0 <= other < rows:
            continue
        begin, end = max(-aside, 0), columns - max(aside, 0)
        own, there = here[begin:end], directions[other][begin + aside : end + aside]
        back = np.int8(OPPOSITE[neighbour])
        for place in range(len(own)):
            own[place] += np.uint8(1) if there[place] == back else np.uint8(0)


@njit(nogil=True, cache=True, error_model="numpy")
def _order_from_springs(directions, steps, order, waiting, totals):
    """`waiting` [cell] is how many neighbours drain to each cell, at first."""
    rows, columns = directions.shape
    direction = directions.reshape(-1)
    # Before a cell is written, no more are listed than were looked at before it.
    springs = np.empty(_TILE * _TILE, np.int32)
    begin, end = np.uintp(0), np.uintp(0)
    tiles_across, tiles_down = -(-columns // _TILE), -(-rows // _TILE)
    for tile in range(tiles_across * tiles_down):
        first_row, first_column = tile // tiles_across * _TILE, tile % tiles_across * _TILE
        # Without branches: each cell is written, and overwritten where it does not count.
        found = np.uintp(0)
        for row in range(first_row, min(first_row + _TILE, rows)):
            for column in range(first_column, min(first_column + _TILE, columns)):
                cell = np.uintp(row * columns + column)
                springs[found] = cell
                found += np.uintp(1) if waiting[cell] == 0 else np.uintp(0)
        for place in range(found):
            order[end + place] = springs[place]
        end += found
        while begin < end:
            cell = np.int64(order[begin])
            begin += np.uintp(1)
            towards = direction[np.uintp(cell)]
            if towards != OUTLET:  # so that not all cells are listed yet
                below = np.uintp(cell + steps[towards])
                totals[below] += totals[np.uintp(cell)]
                left = waiting[below] - np.uint8(1)
                waiting[below] = left if left > 0 else _LISTED
                order[end] = below
                end += np.uintp(1) if left == 0 else np.uintp(0)


def order_from_springs(directions: NDArray[np.int8], out: NDArray[np.int32], totals: NDArray[np.float64]) -> None:
    """Write all cells to `out` [number], each before the one that it drains to, and let `totals` gather on the way.

    Cells that follow each other in it mostly lie beside each other, and do not wait for each other's results, as they
    do along a way: what is worked out for one cell after the other is so up to twice as fast. `totals` are float64
    [row, column], as of `accumulate`.
    """
    waiting = np.empty(directions.size, np.uint8)
    _count_inflows(directions, waiting.reshape(directions.shape))
    _order_from_springs(directions, index_steps(directions.shape[1]), out, waiting, totals.reshape(-1))
