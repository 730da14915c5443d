"""What a tile of a map knows of rivers and lakes that go on in other tiles: see `kernels.tiles`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.lakes import add_exactly
from kernels.neighbours import OUTLET, index_steps
from kernels.tiles import Ways, border_places

# Orders of rivers.

LARGEST_ORDER = 63  # an order is reached by twice as many springs as the one below it


class Segments(NamedTuple):
    """Rivers that come in over the border, cut where they meet: each begins where one comes in, or where two meet.

    Which order they have is told once that of what comes in is known.
    """

    begun: NDArray[np.uint8]  # twice the highest order that joins at the begin from within, and 1 more if two have it
    table: NDArray[np.uint8]  # [segment, order at its begin]: the order at its end
    into: NDArray[np.int64]  # the segment that it flows into; -1 where it leaves the tile or ends
    entry: NDArray[np.int64]  # the segment that begins at each border cell, or -1
    exit: NDArray[np.int64]  # the segment that leaves the tile from each border cell, or -1
    order: NDArray[
        np.uint8
    ]  # of rivers that leave from each border cell, where nothing from outside is in them; else 0


@njit(nogil=True, cache=True)
def join_order(entry, order):
    """What is known of the orders that come in, after one more: twice the highest, and 1 more if two have it."""
    if order > entry >> 1:
        return np.uint8(2 * order)
    return np.uint8(entry | 1) if order == entry >> 1 else np.uint8(entry)


@njit(nogil=True, cache=True)
def order_below(entry):
    """The order of a river below what comes in."""
    return np.uint8(max(1, (entry >> 1) + (entry & 1)))


@njit(nogil=True, cache=True)
def _cut_rivers(closed, order, steps, is_river, cells, entry_of, begun, table, into, entry, segment, is_begin):
    direction, river = closed.reshape(-1), is_river.reshape(-1)
    count = 0
    for place in range(len(cells)):
        if entry_of[place]:
            segment[cells[place]], is_begin[cells[place]] = count, True
            count += 1
    for place in range(len(order) - 1, -1, -1):
        cell = order[place]
        if not river[cell]:
            continue
        own = segment[cell]
        if own >= 0:
            if is_begin[cell]:
                begun[own] = entry[cell]
            elif entry[cell] > 0:
                for incoming in range(LARGEST_ORDER + 1):
                    table[own, incoming] = order_below(join_order(entry[cell], table[own, incoming]))
        if direction[cell] == OUTLET:
            continue
        below = cell + steps[direction[cell]]
        if own < 0:
            entry[below] = join_order(entry[below], order_below(entry[cell]))
        elif segment[below] < 0:
            segment[below] = own
        elif is_begin[below]:
            into[own] = segment[below]
        else:
            into[segment[below]], into[own] = count, count
            segment[below], is_begin[below] = count, True
            count += 1
    return count


def river_segments(ways: Ways, rivers: NDArray[np.bool_], comes_in: NDArray[np.bool_]) -> Segments:
    """Cut the rivers of a tile. `rivers` is their mask [row, column], and `comes_in` where any does over the border."""
    rows, columns = rivers.shape
    row, column = border_places(rows, columns)
    cells = row * columns + column
    most = 2 * int(np.count_nonzero(comes_in))
    begun = np.zeros(most, np.uint8)
    table = np.tile(np.arange(LARGEST_ORDER + 1, dtype=np.uint8), (most, 1))
    into = np.full(most, -1, np.int64)
    entry, segment = np.zeros(rivers.size, np.uint8), np.full(rivers.size, -1, np.int32)
    is_begin = np.zeros(rivers.size, np.bool_)
    count = _cut_rivers(
        ways.closed, ways.order, index_steps(columns), rivers, cells, comes_in, begun, table, into, entry, segment,
        is_begin,
    )  # fmt: skip
    at_entry = np.full(len(cells), -1, np.int64)
    at_entry[comes_in] = np.arange(np.count_nonzero(comes_in))
    leaves = rivers[row, column] & (ways.closed[row, column] == OUTLET)
    of_segment = np.where(leaves, segment[cells], -1)
    plain = np.maximum(1, (entry[cells] >> 1) + (entry[cells] & 1)).astype(np.uint8)
    order = np.where(leaves & (of_segment < 0), plain, np.uint8(0))
    return Segments(begun[:count], table[:count], into[:count], at_entry, of_segment.astype(np.int64), order)


@njit(nogil=True, cache=True)
def _order_segments(begun, table, into, node, incoming):
    """Let orders run down all segments; `node` is the border cell that a segment crosses into, or -1."""
    waiting = np.zeros(len(into), np.int64)
    for segment in range(len(into)):
        if into[segment] >= 0:
            waiting[into[segment]] += 1
    ready = np.empty(len(into), np.int64)
    count = done = 0
    for segment in range(len(into)):
        if waiting[segment] == 0:
            ready[count] = segment
            count += 1
    while done < count:
        segment = ready[done]
        done += 1
        order = table[segment, order_below(begun[segment])]
        below = into[segment]
        if node[segment] >= 0:
            incoming[node[segment]] = join_order(incoming[node[segment]], order)
        if below >= 0:
            begun[below] = join_order(begun[below], order)
            waiting[below] -= 1
            if waiting[below] == 0:
                ready[count] = below
                count += 1
    return count


@njit(nogil=True, cache=True)
def _join_plain(orders, nodes, entries, begun, incoming):
    for place in range(len(orders)):
        incoming[nodes[place]] = join_order(incoming[nodes[place]], orders[place])
        begun[entries[place]] = join_order(begun[entries[place]], orders[place])


def order_rivers(segments: Segments, following: NDArray[np.int64], crosses: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """What orders come in at each border cell of all tiles: twice the highest, and 1 more if two have it.

    `segments` are those of all tiles, with numbers that count through, and `following` and `crosses` as for `gather`.
    """
    incoming = np.zeros(len(following), np.uint8)
    begun, into = segments.begun.copy(), segments.into.copy()
    plain = np.flatnonzero(crosses & (segments.order > 0))
    targets = following[plain]
    _join_plain(segments.order[plain], targets, segments.entry[targets], begun, incoming)
    node = np.full(len(into), -1, np.int64)
    leaves = np.flatnonzero(crosses & (segments.exit >= 0))
    node[segments.exit[leaves]] = following[leaves]
    into[segments.exit[leaves]] = segments.entry[following[leaves]]
    reached = _order_segments(begun, segments.table, into, node, incoming)
    assert reached == len(into), "a river runs in a circle"
    return incoming


# Lakes.


class LakeParts(NamedTuple):
    """What a tile has of lakes, an entry for each part: see `kernels.lakes.Lakes`."""

    level: NDArray[np.float64]
    depth: NDArray[np.float64]
    depths: NDArray[np.int64]  # [part, 2], see `kernels.lakes.add_exactly`
    cells: NDArray[np.int64]
    outlet: NDArray[np.int64]  # the cell below, row * columns + column of the tile; -1 where none is in it
    source: NDArray[np.int64]  # the cell of the lake that drains to it
    inflow: NDArray[np.float64]


@njit(nogil=True, cache=True, error_model="numpy")
def _measure_lakes(
    ground, filled, closed, accumulation, steps, labels, level, depth, depths, cells, outlet, source, inflow
):
    height, surface, total = ground.reshape(-1), filled.reshape(-1), accumulation.reshape(-1)
    direction, label_of = closed.reshape(-1), labels.reshape(-1)
    for cell in range(len(label_of)):
        if label_of[cell] == 0:
            continue
        lake = label_of[cell] - 1
        level[lake] = surface[cell]
        depth[lake] = max(depth[lake], surface[cell] - height[cell])
        add_exactly(depths, lake, surface[cell] - height[cell])
        cells[lake] += 1
        if direction[cell] == OUTLET:
            continue
        below = cell + steps[direction[cell]]
        if label_of[below] == 0 and (outlet[lake] < 0 or total[below] > inflow[lake]):
            outlet[lake], source[lake], inflow[lake] = below, cell, total[below]


def measure_lakes(
    ground: NDArray[np.float64],
    filled: NDArray[np.float64],
    ways: Ways,
    accumulation: NDArray[np.float64],
    labels: NDArray[np.int32],
    count: int,
) -> LakeParts:
    """Measure the parts of lakes in a tile; what leaves it from a lake's cell is not looked at."""
    whole, real = np.int64, np.float64
    parts = LakeParts(
        np.zeros(count, real), np.zeros(count, real), np.zeros((count, 2), whole), np.zeros(count, whole),
        np.full(count, -1, whole), np.full(count, -1, whole), np.zeros(count, real),
    )  # fmt: skip
    _measure_lakes(ground, filled, ways.closed, accumulation, index_steps(ground.shape[1]), labels, *parts)
    return parts


@njit(nogil=True, cache=True)
def first_cells(labels, count):
    """The first cell of each component, [row * columns + column], from labels of which the first is 1."""
    first = np.full(count, -1, np.int64)
    label_of = labels.reshape(-1)
    for cell in range(len(label_of)):
        if label_of[cell] > 0 and first[label_of[cell] - 1] < 0:
            first[label_of[cell] - 1] = cell
    return first


@njit(nogil=True, cache=True)
def farthest(ends, distances, farthest_of):
    """The longest of the `distances` of the cells that drain to each end, into `farthest_of` [cell]."""
    end_of, distance, longest = ends.reshape(-1), distances.reshape(-1), farthest_of.reshape(-1)
    for cell in range(len(end_of)):
        longest[end_of[cell]] = max(longest[end_of[cell]], distance[cell])
