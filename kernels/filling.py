"""Filling of depressions, exactly.

Each cell is raised to the lowest level at which its water can drain: over all ways to an outlet, the lowest of their
highest points. That is what the article of 2017 looks for, front by front from the coast; in image analysis it is a
reconstruction by erosion (Vincent 1993).

Two sweeps over the map, south and north, carry levels as far as ways run with the sweep: after them most cells stand on
their own ground, which is final, and the others have a level that is too high at most. Among those, the depressions,
the problem is one of a graph, however winding the ways are: each cell runs down to the pit of its basin, and its level
is that of the pit or its own ground, whichever is higher. Between two basins water passes at the lowest place of their
border. Taken in ascending order, as in Kruskal's (1956) tree, these passes tell at which level each basin drains
(Cordonnier, Bovy, Braun 2019 describe this graph). The cost grows with the number of cells, whatever the terrain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.components import find
from kernels.directions import steepest_directions
from kernels.neighbours import EARLIER, FLAT, LATER, index_steps, on_map
from kernels.sorting import sorted_order

_DRAINED = 0  # the label of cells that stand on their own ground
_UNKNOWN = -1

# Fraction of cells that may be lowered one by one before the graph is built.
_PATIENCE = 16

# Pairs of basins that were met lately, so that each pair is listed once, or not much oftener.
_LATELY_BITS = 13
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True, error_model="numpy")
def _sweep(ground, outlets, filled, southward, first):
    """Lower `filled` to what can be reached from the row behind and, both ways, along the row."""
    rows, columns = ground.shape
    last = columns - 1
    level, from_west, from_east = np.empty(columns), np.empty(columns), np.empty(columns)
    for count in range(rows):
        row = count if southward else rows - 1 - count
        here, out, result = ground[row], outlets[row], filled[row]
        if count == 0:
            level[:] = np.inf
        else:
            behind = filled[row - 1] if southward else filled[row + 1]
            level[0] = min(behind[0], behind[1])
            level[last] = min(behind[last - 1], behind[last])
            for column in range(1, last):
                lowest = behind[column - 1] if behind[column - 1] < behind[column] else behind[column]
                level[column] = lowest if lowest < behind[column + 1] else behind[column + 1]
        if first:
            for column in range(columns):
                raised = level[column] if level[column] > here[column] else here[column]
                result[column] = here[column] if out[column] else raised
        else:
            for column in range(columns):
                raised = level[column] if level[column] > here[column] else here[column]
                result[column] = raised if raised < result[column] else result[column]
        # Both ways along the row at once: neither can lower what the other has lowered.
        eastward = westward = np.inf
        for column in range(columns):
            opposite = last - column
            eastward = here[column] if here[column] > eastward else eastward
            eastward = result[column] if result[column] < eastward else eastward
            from_west[column] = eastward
            westward = here[opposite] if here[opposite] > westward else westward
            westward = result[opposite] if result[opposite] < westward else westward
            from_east[opposite] = westward
        for column in range(columns):
            result[column] = from_west[column] if from_west[column] < from_east[column] else from_east[column]


@njit(nogil=True, cache=True)
def _list_raised(ground, filled):
    """The cells above their own ground, row after row, and where each row begins in the list."""
    rows, columns = ground.shape
    row_begins = np.empty(rows + 1, np.int64)
    # Before a cell is written, no more are listed than were looked at before it.
    raised = np.empty(rows * columns, np.int32)
    count = 0
    for row in range(rows):
        row_begins[row] = count
        for column in range(columns):
            # Without branches: each cell is written, and overwritten where it does not count.
            raised[count] = row * columns + column
            count += filled[row, column] > ground[row, column]
    row_begins[rows] = count
    return raised[:count], row_begins


@njit(nogil=True, cache=True, error_model="numpy")
def _lower_in_turn(ground, filled, raised, steps, patience):
    """Lower the cells that have a lower neighbour, then those around them, and so on.

    Returns whether that came to an end within `patience` cells.
    """
    rows, columns = ground.shape
    height, level = ground.reshape(-1), filled.reshape(-1)
    # Up to `patience` cells come in at first, and as many are taken out. Each of these lets in seven at most: the
    # neighbour that it was lowered for stands no higher, as levels only fall, so that it is not lowered in turn.
    queue = np.empty(patience * 8, np.int32)
    end = 0
    for cell in raised:
        row, column = divmod(np.int64(cell), columns)
        inside = 0 < row < rows - 1 and 0 < column < columns - 1
        lowest = np.inf
        for neighbour in range(8):
            if inside or on_map(row, column, neighbour, rows, columns):
                there = level[cell + steps[neighbour]]
                lowest = there if there < lowest else lowest
        if lowest < level[cell]:
            if end == patience:
                return False
            level[cell] = max(height[cell], lowest)
            queue[end] = cell
            end += 1
    begin = 0
    while begin < end:
        if begin == patience:
            return False
        cell = np.int64(queue[begin])
        begin += 1
        row, column = divmod(cell, columns)
        for neighbour in range(8):
            if on_map(row, column, neighbour, rows, columns):
                other = cell + steps[neighbour]
                lower = max(height[other], level[cell])
                if lower < level[other]:
                    level[other] = lower
                    queue[end] = other
                    end += 1
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def _label_basins(ground, filled, directions, raised, labels, steps):
    """Label raised cells by the pit that they run down to, from 1; all others as drained. Returns the number of labels.

    On a level, where none is lower, water may run to any neighbour of the same height with a smaller index.
    """
    rows, columns = ground.shape
    height, level = ground.reshape(-1), filled.reshape(-1)
    direction, label_of = directions.reshape(-1), labels.reshape(-1)
    labels[:] = _DRAINED
    for cell in raised:
        if level[cell] > height[cell]:
            label_of[cell] = _UNKNOWN
    # A way leads through raised cells alone, and never to one twice: down, or on a level to a smaller index.
    way = np.empty(len(raised), np.int32)
    count = 1
    for start in raised:
        cell = np.int64(start)
        length = 0
        while True:
            label = label_of[cell]
            if label != _UNKNOWN:
                break
            towards = direction[cell]
            if towards == FLAT:
                row, column = divmod(cell, columns)
                for neighbour in EARLIER:
                    if (
                        on_map(row, column, neighbour, rows, columns)
                        and height[cell + steps[neighbour]] == height[cell]
                    ):
                        towards = neighbour
                        break
            if towards == FLAT:
                label = count
                label_of[cell] = label
                count += 1
                break
            way[length] = cell
            length += 1
            cell += steps[towards]
        for place in range(length):
            label_of[way[place]] = label
    return count


@njit(nogil=True, cache=True, error_model="numpy")
def _list_passes(ground, raised, row_begins, labels, count, steps):
    """The passes between basins, as two labels [pass, 2] and a height.

    First come those to drained cells, one for each label; of the others, a pair may be listed more than once.
    """
    rows, columns = ground.shape
    height, label_of = ground.reshape(-1), labels.reshape(-1)
    # A row of at most `columns` raised cells meets four later neighbours of each. There is room for these beside one
    # pass for each label; where it gets short it is doubled, by no less than the 4 · `columns` that may follow.
    basins = np.empty((3 * count + 4 * columns, 2), np.int32)
    passes = np.empty(len(basins))
    for label in range(count):
        basins[label, 0] = label
        basins[label, 1] = _DRAINED
        passes[label] = np.inf
    met_pair, met_pass = np.empty(4 * columns, np.int64), np.empty(4 * columns)
    lately_pair = np.full(1 << _LATELY_BITS, -1, np.int64)
    lately_place = np.empty(1 << _LATELY_BITS, np.int32)
    for row in range(rows):
        # Without branches, as they could not be foreseen: first all pairs of neighbours that differ.
        met = 0
        for place in range(row_begins[row], row_begins[row + 1]):
            cell = np.int64(raised[place])
            label = label_of[cell]
            here = height[cell]
            column = cell - row * columns
            inside = 0 < row < rows - 1 and 0 < column < columns - 1
            drained = passes[label]
            for neighbour in range(8):
                if not inside and not on_map(row, column, neighbour, rows, columns):
                    continue
                other = np.uintp(cell + steps[neighbour])
                other_label = label_of[other]
                level = height[other] if height[other] > here else here
                drained = level if other_label == _DRAINED and level < drained else drained
                if neighbour in LATER:
                    low, high = min(label, other_label), max(label, other_label)
                    met_pair[met] = (np.int64(low) << 32) | high
                    met_pass[met] = level
                    met += low != high and low != _DRAINED
            passes[label] = drained
        # Then those of them that are new
        if count + met > len(passes):
            basins = np.concatenate((basins, np.empty_like(basins)))
            passes = np.concatenate((passes, np.empty_like(passes)))
        for place in range(met):
            pair, level = met_pair[place], met_pass[place]
            slot = (np.uint64(pair) * _MIX) >> np.uint64(64 - _LATELY_BITS)
            if lately_pair[slot] == pair:
                if level < passes[lately_place[slot]]:
                    passes[lately_place[slot]] = level
                continue
            lately_pair[slot] = pair
            lately_place[slot] = count
            basins[count, 0] = pair >> 32
            basins[count, 1] = pair & 0xFFFFFFFF
            passes[count] = level
            count += 1
    return basins[:count], passes[:count]


@njit(nogil=True, cache=True, error_model="numpy")
def basin_levels(count, basins, passes):
    """The level at which the basins of each label drain: the highest pass on their lowest way to drained cells."""
    parents = np.arange(count).astype(np.int32)
    levels = np.full(count, np.inf)  # of a set, once it drains; such a set grows no more
    levels[_DRAINED] = -np.inf
    for place in sorted_order(passes):
        one, two = find(parents, basins[place, 0]), find(parents, basins[place, 1])
        if one == two:
            continue
        one_drains, two_drains = levels[one] < np.inf, levels[two] < np.inf
        if not one_drains and not two_drains:
            parents[max(one, two)] = min(one, two)
        elif not one_drains:
            levels[one] = passes[place]
        elif not two_drains:
            levels[two] = passes[place]
    for label in range(count):
        levels[label] = levels[find(parents, label)]
    return levels


@njit(nogil=True, cache=True)
def _raise(ground, filled, raised, labels, levels):
    height, level, label_of = ground.reshape(-1), filled.reshape(-1), labels.reshape(-1)
    for cell in raised:
        level[cell] = max(height[cell], levels[label_of[cell]])


def fill(
    ground: NDArray[np.float64],
    outlets: NDArray[np.bool_],
    out: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Fill the depressions of `ground`, float64 heights [row, column]: the lowest surface on which all water drains.

    `outlets` [row, column] is where water leaves, at least one cell; there the surface is the ground. All levels are
    heights of the ground, with all their bits. `out` may be given for the result, which is float64 [row, column].
    """
    filled = np.empty_like(ground) if out is None else out
    _sweep(ground, outlets, filled, True, True)
    _sweep(ground, outlets, filled, False, False)
    raised, row_begins = _list_raised(ground, filled)
    steps = index_steps(ground.shape[1])
    if not _lower_in_turn(ground, filled, raised, steps, ground.size // _PATIENCE):
        labels = np.empty(ground.shape, np.int32)
        count = _label_basins(ground, filled, steepest_directions(ground, outlets), raised, labels, steps)
        basins, passes = _list_passes(ground, raised, row_begins, labels, count, steps)
        _raise(ground, filled, raised, labels, basin_levels(count, basins, passes))
    return filled
