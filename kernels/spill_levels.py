"""Levels at which water drains, and its ways over ponds, for single cells: what is not asked for is not worked out.

The level of a cell is that of `kernels.filling`, and the way over a pond that of `kernels.directions`, to the last bit.
From a cell the land is followed down to one whose level is known. Where that ends in a pit, the cells around it are
taken up in the order of their heights, as a lake rises, until one is reached whose level is known (Prim's 1957 tree):
the highest on the way there is the level at which the pit spills. So what is asked of some cells costs in proportion to
the land below them, down to where something is known, and to the ponds on the way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.directions import ACROSS, BESIDE, CROSSING, FAR, NOWHERE, cross_level
from kernels.layers import Layer
from kernels.neighbours import OUTLET, on_map
from kernels.scratch import Scratch

# Where water leaves
OVER_THE_EDGE, IN_THE_SEA = 1, 2

# What is told of a cell
_KNOWN = np.uint8(1)  # its level
_DRAINS = np.uint8(2)  # it has a lower neighbour, or is an outlet
_STANDS = np.uint8(4)  # it lies in a pond, and so does its way out


class Search(NamedTuple):
    """What it is worked out in; arrays are [cell] unless something else is said."""

    rows: int
    columns: int
    steps: NDArray[np.int64]  # [direction]
    ground: NDArray[np.float64]
    outlets: NDArray[np.uint8]  # 0 where water does not leave
    told: NDArray[np.uint8]
    level: NDArray[np.float64]
    direction: NDArray[np.int8]  # of cells in ponds; OUTLET elsewhere
    far: NDArray[np.int32]  # length of the way out of a pond
    tree: NDArray[np.int32]  # in which a cell was taken up last
    trees: NDArray[np.int32]  # [1]: how many there were
    # What a tree may take up next, as `push` has it, by number
    key: NDArray[np.float64]
    second: NDArray[np.int32]
    queue: NDArray[np.int32]
    # What it took up, and from which of these, by number
    taken: NDArray[np.int32]
    parent: NDArray[np.int32]
    # Heights of these, and the highest on their ways to where something is known, by number
    heights: NDArray[np.float64]
    highest: NDArray[np.float64]
    way: NDArray[np.int32]  # by number
    members: NDArray[np.int32]  # by number


def search_of(
    ground: Layer, outlets: NDArray[np.uint8], steps: NDArray[np.int64], scratch: Scratch | None = None
) -> Search:
    """A search on `ground`, float64 [row, column], from which water leaves where `outlets` are not 0, in some cell.

    Nothing but the pages of memory that are touched costs time. `steps` are those of `index_steps`,
    and `scratch` is memory to work in.
    """
    rows, columns = ground.shape
    cells = ground.size
    scratch = scratch or Scratch()
    whole, real = (lambda: scratch.empty(cells, np.int32)), (lambda: scratch.empty(cells))
    return Search(
        rows, columns, steps, ground.reshape(-1), outlets.reshape(-1), np.zeros(cells, np.uint8), real(),
        np.full(cells, OUTLET, np.int8), whole(), np.zeros(cells, np.int32), np.zeros(1, np.int32), real(), whole(),
        whole(), whole(), whole(), real(), real(), whole(), whole(),
    )  # fmt: skip


@njit(nogil=True, error_model="numpy")
def push(key, second, queue, count, new_key, new_second, cell):
    """Put a cell into a heap of `count`, from which the smallest comes first: by its key, a second one, and its number.

    Returns how many there are then.
    """
    place = count
    while place > 0:
        above = (place - 1) >> 1
        if not _comes_before(new_key, new_second, cell, key[above], second[above], queue[above]):
            break
        key[place], second[place], queue[place] = key[above], second[above], queue[above]
        place = above
    key[place], second[place], queue[place] = new_key, new_second, cell
    return count + 1


@njit(nogil=True, error_model="numpy")
def drop_first(key, second, queue, count):
    """Take the first cell, at place 0, out of a heap of `count`. Returns how many are left."""
    count -= 1
    last_key, last_second, last = key[count], second[count], queue[count]
    place = 0
    while 2 * place + 1 < count:
        below = 2 * place + 1
        other = below + 1
        if other < count and _comes_before(
            key[other], second[other], queue[other], key[below], second[below], queue[below]
        ):
            below = other
        if not _comes_before(key[below], second[below], queue[below], last_key, last_second, last):
            break
        key[place], second[place], queue[place] = key[below], second[below], queue[below]
        place = below
    key[place], second[place], queue[place] = last_key, last_second, last
    return count


@njit(nogil=True, error_model="numpy")
def _comes_before(key, second, cell, other_key, other_second, other):
    if key != other_key:
        return key < other_key
    return second < other_second if second != other_second else cell < other


@njit(nogil=True, error_model="numpy")
def level_of(search, first):
    """The level at which the water of a cell drains."""
    told, level, ground = search.told, search.level, search.ground
    if told[first] & _KNOWN:
        return level[first]
    length = 0
    cell = np.int64(first)
    while not told[cell] & _KNOWN:
        if search.outlets[cell]:
            told[cell] |= _KNOWN
            level[cell] = ground[cell]
            break
        row, column = divmod(cell, search.columns)
        lowest, height = NOWHERE, ground[cell]
        for neighbour in range(8):
            if on_map(row, column, neighbour, search.rows, search.columns):
                other = cell + search.steps[neighbour]
                if ground[other] < height:
                    lowest, height = other, ground[other]
        if lowest == NOWHERE:
            _spill(search, cell)
            break
        search.way[length] = cell
        length += 1
        cell = lowest
    below = cell
    for place in range(length - 1, -1, -1):
        cell = np.int64(search.way[place])
        if not told[cell] & _KNOWN:
            if ground[cell] >= level[below]:
                told[cell] |= _KNOWN
                level[cell] = ground[cell]
            else:
                _spill(search, cell)
        below = cell
    return level[first]


@njit(nogil=True, error_model="numpy")
def _spill(search, pit):
    """Find the level of a cell, and of others around it, by a tree that takes up the lowest cell beside it."""
    told, level, ground, tree = search.told, search.level, search.ground, search.tree
    taken, parent, heights, highest = search.taken, search.parent, search.heights, search.highest
    key, second, queue = search.key, search.second, search.queue
    search.trees[0] += 1
    own = search.trees[0]
    # What is queued, with the number of what it is beside as its second key
    waiting = push(key, second, queue, 0, ground[pit], np.int32(0), np.int32(pit))
    tree[pit] = own
    count = 0
    while True:
        cell = np.int64(queue[0])
        taken[count], parent[count], heights[count] = cell, second[0], key[0]
        waiting = drop_first(key, second, queue, waiting)
        if told[cell] & _KNOWN or search.outlets[cell]:
            break
        row, column = divmod(cell, search.columns)
        for neighbour in range(8):
            if on_map(row, column, neighbour, search.rows, search.columns):
                other = cell + search.steps[neighbour]
                if tree[other] != own:
                    tree[other] = own
                    height = level[other] if told[other] & _KNOWN else ground[other]
                    waiting = push(key, second, queue, waiting, height, np.int32(count), np.int32(other))
        count += 1
    # The highest on each cell's way through the tree to the last one: first on the way from the pit, then off it
    highest[: count + 1] = np.inf
    place, most = count, heights[count]
    while True:
        most = max(most, heights[place])
        highest[place] = most
        if place == 0:
            break
        place = parent[place]
    for place in range(count):
        if highest[place] == np.inf:
            highest[place] = max(heights[place], highest[parent[place]])
    # No way out of what had been taken up is lower than what came after: where both agree, that is the level.
    least = -np.inf
    for place in range(count, -1, -1):
        least = max(least, heights[place])
        cell = taken[place]
        if not told[cell] & _KNOWN and highest[place] == least:
            told[cell] |= _KNOWN
            level[cell] = least


@njit(nogil=True, error_model="numpy")
def stands(search, cell):
    """Whether a cell has no neighbour whose level is lower, and is no outlet: then the way out of its pond is found."""
    if not search.told[cell] & (_DRAINS | _STANDS) and not _drains(search, cell):
        _cross_pond(search, cell)
    return search.told[cell] & _STANDS != 0


@njit(nogil=True, error_model="numpy")
def _drains(search, cell):
    level = level_of(search, cell)
    drains = search.outlets[cell] != 0
    row, column = divmod(np.int64(cell), search.columns)
    for neighbour in range(8):
        if not drains and on_map(row, column, neighbour, search.rows, search.columns):
            other = cell + search.steps[neighbour]
            drains = search.ground[other] < level and level_of(search, other) < level
    if drains:
        search.told[cell] |= _DRAINS
    return drains


@njit(nogil=True, error_model="numpy")
def _cross_pond(search, first):
    """Find the way out of a pond for all of its cells."""
    told, direction, far, members = search.told, search.direction, search.far, search.members
    level = level_of(search, first)
    members[0] = first
    told[first] |= _STANDS
    known, count = 0, 1
    towards = np.full(64, NOWHERE, np.int8)  # [member]: a neighbour beyond the pond
    while known < count:
        cell = np.int64(members[known])
        if known == len(towards):
            towards = np.concatenate((towards, np.full_like(towards, NOWHERE)))
        row, column = divmod(cell, search.columns)
        for neighbour in range(8):
            if not on_map(row, column, neighbour, search.rows, search.columns):
                continue
            other = cell + search.steps[neighbour]
            if search.ground[other] > level or level_of(search, other) != level:
                continue
            if not told[other] & (_DRAINS | _STANDS) and not _drains(search, other):
                told[other] |= _STANDS
                members[count] = other
                count += 1
            elif told[other] & _DRAINS and towards[known] == NOWHERE:
                towards[known] = neighbour
        direction[cell] = CROSSING
        far[cell] = FAR
        known += 1
    queued, lengths = np.empty((2, count), np.int32), np.empty((2, count), np.int32)
    ends = np.zeros(2, np.int64)
    for member in range(count):
        if towards[member] != NOWHERE:
            cell, queue = members[member], 0 if towards[member] < 4 else 1
            far[cell] = ACROSS if queue else BESIDE
            direction[cell] = CROSSING + towards[member]
            queued[queue, ends[queue]] = cell
            lengths[queue, ends[queue]] = far[cell]
            ends[queue] += 1
    cross_level(search.level, direction, far, queued, lengths, ends, search.rows, search.columns, search.steps)
    for member in range(count):
        direction[members[member]] -= CROSSING


@njit(nogil=True, cache=True, error_model="numpy")
def find_outlets(ground, sources, ocean, edges_drain, outlets):
    """Mark in `outlets` [row, column] where water leaves the land: `IN_THE_SEA`, or `OVER_THE_EDGE` of the map.

    Over the edge it leaves where the land beside it falls to there, and at the lowest place of it, but not where
    `sources` let water in. `ocean` is empty where there is none. Returns how many cells there are.
    """
    rows, columns = ground.shape
    count = 0
    for row in range(len(ocean)):
        for column in range(columns):
            outlets[row, column] = IN_THE_SEA if ocean[row, column] else 0
            count += ocean[row, column]
    if not edges_drain:
        return count
    lowest = np.inf
    for row in range(rows):
        for column in range(0, columns, 1 if row in (0, rows - 1) else columns - 1):
            lowest = min(lowest, ground[row, column])
    for row in range(rows):
        for column in range(0, columns, 1 if row in (0, rows - 1) else columns - 1):
            height = ground[row, column]
            inside = ground[min(max(row, 1), rows - 2), min(max(column, 1), columns - 2)]
            falls = height < inside or height == lowest
            if falls and not sources[row, column] > 0.0 and outlets[row, column] == 0:
                outlets[row, column] = OVER_THE_EDGE
                count += 1
    return count
