"""The drainage of a tile of a map, and what its border tells the others.

A map that is too large for memory is cut into tiles. Each is solved apart, and told by its border alone: by the cells
of the border, and what links these through the tile. From all borders together follows what comes into each tile, and
with that it is solved again, to the same bits as a map in memory (Barnes 2016 for filling, 2017 for accumulation).

A tile has at least 2 × 2 cells. Its border cells are numbered along the northern row, the southern one, and down the
western and the eastern column between these. A framed tile has one more row or column on each side, of its neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.components import find
from kernels.directions import ACROSS, BESIDE, FAR, flow_directions, steepest_directions
from kernels.filling import fill
from kernels.neighbours import FLAT, LATER, OUTLET, index_steps, on_map
from kernels.routing import empty_routes, follow
from kernels.sorting import sorted_order

OUTSIDE = 0  # the node that stands for all outlets; border cell k is node k + 1
ENDS = -1  # water that ends in an outlet of the tile
LEAVES = -2  # water that leaves the tile

_LATELY_BITS = 13
_MIX = np.uint64(0x9E3779B97F4A7C15)


def border_places(rows: int, columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the border cells of a tile, in the order of their numbers."""
    across, down = np.arange(columns), np.arange(1, rows - 1)
    return (
        np.concatenate((np.zeros_like(across), np.full_like(across, rows - 1), down, down)),
        np.concatenate((across, across, np.zeros_like(down), np.full_like(down, columns - 1))),
    )


def border_numbers(
    row: NDArray[np.int64], column: NDArray[np.int64], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The numbers of border cells of tiles with so many rows and columns."""
    between = 2 * columns + row - 1
    numbers = np.where(column == 0, between, between + rows - 2)
    numbers = np.where(row == rows - 1, columns + column, numbers)
    return np.where(row == 0, column, numbers)


# Filling.


class Passes(NamedTuple):
    """What links border cells of a tile: a tree of nodes, two to a pass [pass, 2], and the heights of the passes."""

    nodes: NDArray[np.int32]
    heights: NDArray[np.float64]


@njit(nogil=True, cache=True)
def _label_ways(directions, steps, labels):
    """Label each cell as the end of its way is labelled; what is not known yet is -1."""
    direction, label_of = directions.reshape(-1), labels.reshape(-1)
    way = np.empty(len(direction), np.int32)
    for start in range(len(direction)):
        cell = start
        length = 0
        while label_of[cell] < 0:
            way[length] = cell
            length += 1
            cell += steps[direction[cell]]
        label = label_of[cell]
        for place in range(length):
            label_of[way[place]] = label


@njit(nogil=True, cache=True, error_model="numpy")
def _list_passes(filled, labels, steps):
    """Where ways of different labels touch: two labels [pass, 2] and a height. A pair may come more than once."""
    rows, columns = filled.shape
    level, label_of = filled.reshape(-1), labels.reshape(-1)
    nodes, heights = np.empty((1024, 2), np.int32), np.empty(1024)
    lately_pair, lately_place = np.full(1 << _LATELY_BITS, -1, np.int64), np.empty(1 << _LATELY_BITS, np.int64)
    count = 0
    for row in range(rows):
        for column in range(columns):
            cell = row * columns + column
            for neighbour in LATER:
                if not on_map(row, column, neighbour, rows, columns):
                    continue
                other = cell + steps[neighbour]
                if label_of[other] == label_of[cell]:
                    continue
                low, high = min(label_of[cell], label_of[other]), max(label_of[cell], label_of[other])
                height = max(level[cell], level[other])
                pair = (np.int64(low) << 32) | high
                slot = (np.uint64(pair) * _MIX) >> np.uint64(64 - _LATELY_BITS)
                if lately_pair[slot] == pair:
                    heights[lately_place[slot]] = min(heights[lately_place[slot]], height)
                    continue
                if count == len(heights):
                    nodes = np.concatenate((nodes, np.empty_like(nodes)))
                    heights = np.concatenate((heights, np.empty_like(heights)))
                lately_pair[slot] = pair
                lately_place[slot] = count
                nodes[count, 0], nodes[count, 1], heights[count] = low, high, height
                count += 1
    return nodes[:count], heights[:count]


@njit(nogil=True, cache=True, error_model="numpy")
def _tree(count, nodes, heights):
    """Those passes, in ascending order, that join what is not joined yet (Kruskal 1956)."""
    parents = np.arange(count).astype(np.int32)
    kept = np.empty(count, np.int64)
    found = 0
    for place in sorted_order(heights):
        one, two = find(parents, nodes[place, 0]), find(parents, nodes[place, 1])
        if one != two:
            parents[max(one, two)] = min(one, two)
            kept[found] = place
            found += 1
    return kept[:found]


def border_passes(ground: NDArray[np.float64], outlets: NDArray[np.bool_]) -> Passes:
    """How water gets from one border cell of a tile to another, or to an outlet in it: over which lowest passes.

    `ground` are heights and `outlets` the mask of outlets, [row, column].
    """
    rows, columns = ground.shape
    border = border_places(rows, columns)
    ends = outlets.copy()
    ends[border] = True
    filled = fill(ground, ends)
    directions = flow_directions(filled, ends)
    labels = np.full(ground.shape, -1, np.int32)
    labels[border] = np.arange(1, len(border[0]) + 1)
    labels[outlets] = OUTSIDE
    _label_ways(directions, index_steps(columns), labels)
    nodes, heights = _list_passes(filled, labels, index_steps(columns))
    kept = _tree(len(border[0]) + 1, nodes, heights)
    return Passes(nodes[kept], heights[kept])


def fill_within(
    ground: NDArray[np.float64], outlets: NDArray[np.bool_], levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fill a tile whose border cells are known to be filled up to these `levels`."""
    border = border_places(*ground.shape)
    bounded, ends = ground.copy(), outlets.copy()
    bounded[border] = levels
    ends[border] = True
    return fill(bounded, ends)


# Directions.


def steepest_within(framed: NDArray[np.float64], outlets: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Directions of a tile by steepness, `FLAT` where no neighbour is lower.

    `framed` is the filled surface with its frame, infinite beyond the map.
    """
    rows, columns = framed.shape
    ends = np.zeros((rows, columns), np.bool_)
    ends[1:-1, 1:-1] = outlets
    return np.ascontiguousarray(steepest_directions(framed, ends)[1:-1, 1:-1])


@njit(nogil=True, cache=True, error_model="numpy")
def _begin_flats(framed, direction, far, steps, is_inside):
    """The flats that a way out begins from, with its length: those beside what is no flat, or in the frame."""
    height, length_of = framed.reshape(-1), far.reshape(-1)
    count = 0
    for cell in range(len(direction)):
        count += is_inside[cell] and direction[cell] == FLAT
    seeds = np.empty(count, np.int64)
    found = 0
    for cell in range(len(direction)):
        if not is_inside[cell] or direction[cell] != FLAT:
            continue
        shortest = np.int64(FAR)
        for neighbour in range(8):
            other = cell + steps[neighbour]
            if height[other] != height[cell] or (is_inside[other] and direction[other] == FLAT):
                continue
            beyond = np.int64(0) if is_inside[other] else np.int64(length_of[other])
            if beyond < FAR:
                shortest = min(shortest, beyond + (BESIDE if neighbour < 4 else ACROSS))
        length_of[cell] = shortest
        if shortest < FAR:
            seeds[found] = (shortest << 32) | cell
            found += 1
    return np.sort(seeds[:found]), count


@njit(nogil=True, cache=True, error_model="numpy")
def _lengthen(direction, far, steps, is_inside, seeds, count):
    """The shortest way out of each flat, by Dijkstra's (1959) method with three queues, each sorted by itself."""
    length_of = far.reshape(-1)
    queued, lengths = np.empty((2, count), np.int32), np.empty((2, count), np.int32)
    seed = beside = across = 0
    ends = np.zeros(2, np.int64)
    while True:
        length, taken = np.int64(FAR), -1
        if seed < len(seeds):
            length, taken = seeds[seed] >> 32, 0
        if beside < ends[0] and lengths[0, beside] < length:
            length, taken = np.int64(lengths[0, beside]), 1
        if across < ends[1] and lengths[1, across] < length:
            length, taken = np.int64(lengths[1, across]), 2
        if taken < 0:
            return
        if taken == 0:
            cell = seeds[seed] & 0xFFFFFFFF
            seed += 1
        elif taken == 1:
            cell = np.int64(queued[0, beside])
            beside += 1
        else:
            cell = np.int64(queued[1, across])
            across += 1
        if length_of[cell] < length:
            continue
        for neighbour in range(8):
            other = cell + steps[neighbour]
            if not is_inside[other] or direction[other] != FLAT:
                continue
            there = length + (BESIDE if neighbour < 4 else ACROSS)
            if there < length_of[other]:
                length_of[other] = there
                queue = 0 if neighbour < 4 else 1
                queued[queue, ends[queue]] = other
                lengths[queue, ends[queue]] = there
                ends[queue] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def _direct_flats(framed, direction, far, steps, is_inside, directed):
    """Direct each flat along its shortest way, by the smallest number where there are several."""
    height, length_of = framed.reshape(-1), far.reshape(-1)
    for cell in range(len(direction)):
        if not is_inside[cell] or direction[cell] != FLAT:
            continue
        directed[cell] = OUTLET
        for neighbour in range(8):
            other = cell + steps[neighbour]
            if height[other] != height[cell] or length_of[other] == FAR:
                continue
            if length_of[other] + (BESIDE if neighbour < 4 else ACROSS) == length_of[cell]:
                directed[cell] = neighbour
                break


def cross_flats(
    framed: NDArray[np.float64], steepest: NDArray[np.int8], far: NDArray[np.int32]
) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """Direct the flats of a tile along their shortest ways out; also the lengths of these at the border cells.

    `framed` is the filled surface with its frame and `steepest` what `steepest_within` finds. `far` is framed, too: in
    the frame the lengths of the ways from there, as far as they are known, 0 at what is no flat and `FAR` elsewhere; it
    is overwritten.
    """
    rows, columns = framed.shape
    steps = index_steps(columns)
    direction = np.full(framed.shape, OUTLET, np.int8)
    direction[1:-1, 1:-1] = steepest
    is_inside = np.zeros(framed.shape, np.bool_)
    is_inside[1:-1, 1:-1] = True
    far[1:-1, 1:-1] = 0
    flat = direction.reshape(-1), far, steps, is_inside.reshape(-1)
    seeds, count = _begin_flats(framed, *flat)
    directed = direction.copy()
    if count:
        _lengthen(*flat, seeds, count)
        _direct_flats(framed, *flat, directed.reshape(-1))
    core = far[1:-1, 1:-1]
    return np.ascontiguousarray(directed[1:-1, 1:-1]), core[border_places(rows - 2, columns - 2)]


# Routing.


class Ways(NamedTuple):
    """How water runs through a tile, cell by cell."""

    closed: NDArray[np.int8]  # directions, with `OUTLET` where water leaves the tile, too
    order: NDArray[np.int32]  # each cell after the one that it drains to
    ends: NDArray[np.int32]  # [row, column]: the cell where the way of each leaves the tile or ends
    distances: NDArray[np.float64]  # [row, column]: from there, as counts of `kernels.routing.STEPS`


class Links(NamedTuple):
    """How water runs from one border cell of a tile to the next one on its way; entries are border cells."""

    following: NDArray[np.int64]  # the next one's number, `ENDS` or `LEAVES`
    end: NDArray[np.int64]  # the outlet, row * columns + column of the tile, where the water ends in it
    length: NDArray[np.float64]  # of the way there, as counts of `kernels.routing.STEPS`
    direction: NDArray[np.int8]  # by which the water leaves the tile, elsewhere `OUTLET`


@njit(nogil=True, cache=True)
def _close(directions):
    """Turn what leads out of the tile into outlets; the directions by which that was, of all cells."""
    rows, columns = directions.shape
    for row in range(rows):
        for column in range(0, columns, 1 if row in (0, rows - 1) else columns - 1):
            direction = directions[row, column]
            if direction != OUTLET and not on_map(row, column, direction, rows, columns):
                directions[row, column] = OUTLET


@njit(nogil=True, cache=True)
def _link(closed, steps, ends, distances, cells, following, end, length):
    direction, end_of, distance = closed.reshape(-1), ends.reshape(-1), distances.reshape(-1)
    number = np.full(len(direction), -1, np.int32)  # of the border cell whose way was the first to come by
    for place in range(len(cells)):
        number[cells[place]] = place
    for place in range(len(cells)):
        cell = cells[place]
        end[place] = end_of[cell]
        following[place] = ENDS
        length[place] = distance[cell]
        while direction[cell] != OUTLET:
            cell += steps[direction[cell]]
            met = number[cell]
            if met < 0:
                number[cell] = place
                continue
            following[place] = met if cells[met] == cell else following[met]
            break
        if following[place] >= 0:
            length[place] -= distance[cells[following[place]]]


def ways_of(directions: NDArray[np.int8]) -> Ways:
    """Follow all water of a tile to where it leaves the tile or ends."""
    closed = directions.copy()
    _close(closed)
    routes = empty_routes(*directions.shape)
    follow(closed, routes)
    return Ways(closed, *routes)


def links_of(directions: NDArray[np.int8], ways: Ways) -> Links:
    """How border cells are linked by the ways of a tile."""
    rows, columns = directions.shape
    row, column = border_places(rows, columns)
    cells = row * columns + column
    following, end = np.empty(len(cells), np.int64), np.empty(len(cells), np.int64)
    length = np.empty(len(cells))
    _link(ways.closed, index_steps(columns), ways.ends, ways.distances, cells, following, end, length)
    leaves = (directions[row, column] != OUTLET) & (ways.closed[row, column] == OUTLET)
    following[leaves] = LEAVES
    return Links(following, end, length, np.where(leaves, directions[row, column], OUTLET).astype(np.int8))


@njit(nogil=True, cache=True)
def _gather(following, crosses, gathered, extra, order):
    """Along the links of all borders, from springs down. Returns how many were reached: all, as nothing runs round."""
    waiting = np.zeros(len(following), np.int32)
    for node in range(len(following)):
        if following[node] >= 0:
            waiting[following[node]] += 1
    count = 0
    for node in range(len(following)):
        if waiting[node] == 0:
            order[count] = node
            count += 1
    done = 0
    while done < count:
        node = order[done]
        done += 1
        below = following[node]
        if below < 0:
            continue
        # What a tile counted itself is in the next one's count already; what came from another tile is not.
        extra[below] += gathered[node] + extra[node] if crosses[node] else extra[node]
        waiting[below] -= 1
        if waiting[below] == 0:
            order[count] = below
            count += 1
    return count


def gather(
    following: NDArray[np.int64], crosses: NDArray[np.bool_], gathered: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What comes through each border cell of all tiles beside what its own tile `gathered`; and their order downwards.

    `following` is the next border cell of any tile, negative at the end, and `crosses` where this is of another tile.
    """
    extra, order = np.zeros(len(following)), np.empty(len(following), np.int64)
    reached = _gather(following, crosses, gathered, extra, order)
    assert reached == len(following), "water runs in a circle"
    return extra, order


@njit(nogil=True, cache=True)
def _trace(following, order, lengths, ends, distances):
    for place in range(len(order) - 1, -1, -1):
        node = order[place]
        below = following[node]
        distances[node] = lengths[node]
        if below >= 0:
            distances[node] += distances[below]
            ends[node] = ends[below]


def trace(
    following: NDArray[np.int64], order: NDArray[np.int64], lengths: NDArray[np.float64], ends: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The length of the way from each border cell to its outlet, as counts; `ends`, where known, spread upstream."""
    distances = np.empty(len(following))
    _trace(following, order, lengths, ends, distances)
    return distances
