"""Falls: where a river drops over more than it is deep, and more steeply than a loose bed can lie.

A river whose bed is no steeper than loose rock rests runs over its own gravel. Where the step to the next cell is
steeper, the bed is bare, and water that comes to the edge leaves it. Steps that follow each other are one fall, from
the cell of its lip to that of its foot. Cells hide what is shorter than they are: a step lies at the edge between two.

So a fall that is much lower than a cell is wide looks like a gentle slope. What tells it from one is that it is far
steeper than the rest of its reach: these are low falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.blocks import for_blocks
from kernels.hydraulic_geometry import bankfull_depth, channel_width
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

STEEP = 0.7  # tangent of 35°, the angle at which gravel rests
STANDS_OUT = 2.5  # times the slope of its reach, from which a step is a low fall
REACH = 4  # steps above one and below it that are its reach


class Falls(NamedTuple):
    """Falls, the highest first; cells are row * columns + column, all arrays [fall]."""

    lip: Integers
    foot: Integers
    top: Numbers  # height of the water's surface at the lip, in metres
    height: Numbers  # of that over the water's surface at the foot
    discharge: Numbers  # at the lip, in cubic metres a second


class Steps(NamedTuple):
    """Steps of rivers from one cell to the next that are falls or parts of them, all arrays [step]."""

    cell: Integers
    below: Integers  # the cell that it flows to
    top: Numbers  # height of the water's surface in the cell, in metres
    bottom: Numbers  # and in that below
    discharge: Numbers  # of the cell, in cubic metres a second


def find_falls(
    surface: Numbers,
    directions: NDArray[np.int8],
    discharge: Numbers,
    rivers: NDArray[np.bool_],
    cell_size: float,
    width_of_one: float,
    *,
    low: bool = False,
) -> Falls:
    """The falls of `rivers`, a mask of their cells; all maps are [row, column].

    `surface` is the height of the water in metres, `directions` the numbers of the neighbours that it flows to, and
    `discharge` what comes through each cell in cubic metres a second. `cell_size` is the side of a cell and
    `width_of_one` the width of a river of 1 m³/s, both in metres. With `low`, low falls are among them.
    """
    return joined_falls(falling_within(surface, directions, discharge, rivers, cell_size, width_of_one, low=low))


def falling_within(
    surface: Numbers,
    directions: NDArray[np.int8],
    discharge: Numbers,
    rivers: NDArray[np.bool_],
    cell_size: float,
    width_of_one: float,
    *,
    low: bool = False,
) -> Steps:
    """The steps of rivers that fall; arguments are as for `find_falls`."""
    if low:  # what stands out is told from all steps
        steps, lengths = _steps_of_rows(surface, directions, discharge, rivers, cell_size, slice(0, len(rivers)))
        return falling(steps, lengths, width_of_one, _stands_out(steps, lengths))
    found: dict[int, Steps] = {}

    def find(rows: slice) -> None:
        steps, lengths = _steps_of_rows(surface, directions, discharge, rivers, cell_size, rows)
        found[rows.start] = falling(steps, lengths, width_of_one)

    for_blocks(find, *rivers.shape)  # since most steps do not fall, and lists of them take much memory
    return Steps._make(map(np.concatenate, zip(*(found[start] for start in sorted(found)), strict=True)))


def _steps_of_rows(
    surface: Numbers,
    directions: NDArray[np.int8],
    discharge: Numbers,
    rivers: NDArray[np.bool_],
    cell_size: float,
    rows_of_block: slice,
) -> tuple[Steps, Numbers]:
    """All steps of rivers from the cells of some rows, and their lengths in metres."""
    height, through = surface.reshape(-1), discharge.reshape(-1)
    row, column = np.nonzero(rivers[rows_of_block] & (directions[rows_of_block] != OUTLET))
    row += rows_of_block.start
    direction = directions[row, column]
    row_below, column_below = row + ROW_STEPS[direction], column + COLUMN_STEPS[direction]
    rows, columns = directions.shape
    on_map = (row_below >= 0) & (row_below < rows) & (column_below >= 0) & (column_below < columns)
    cell, below = (row * columns + column)[on_map], (row_below * columns + column_below)[on_map]
    lengths = cell_size * LENGTHS[direction[on_map]]
    return Steps(cell, below, height[cell], height[below], through[cell]), lengths


def falling(steps: Steps, lengths: Numbers, width_of_one: float, stands_out: NDArray[np.bool_] | None = None) -> Steps:
    """Those of some steps that fall; `lengths` are theirs in metres, [step]. Those that stand out may be low falls."""
    drop = steps.top - steps.bottom
    falls = drop > STEEP * lengths
    if stands_out is not None:
        falls |= stands_out
    falls &= (steps.discharge > 0.0) & (drop > bankfull_depth(channel_width(steps.discharge, width_of_one)))
    return Steps(steps.cell[falls], steps.below[falls], steps.top[falls], steps.bottom[falls], steps.discharge[falls])


def _stands_out(steps: Steps, lengths: Numbers) -> NDArray[np.bool_]:
    """Whether each of the steps of rivers, whose cells ascend, is far steeper than its reach."""
    count = len(steps.cell)
    if not count:
        return np.zeros(0, np.bool_)
    at = np.minimum(np.searchsorted(steps.cell, steps.below), count - 1)
    down = np.where(steps.cell[at] == steps.below, at, np.arange(count))
    up = np.arange(count)
    upper, lower = _main_steps(steps.cell, steps.below, steps.discharge)
    up[lower] = upper
    first = last = np.arange(count)
    length = lengths.copy()
    for _ in range(REACH):
        above, beneath = up[first], down[last]
        length += np.where(above != first, lengths[above], 0.0) + np.where(beneath != last, lengths[beneath], 0.0)
        first, last = above, beneath
    reach = (steps.top[first] - steps.bottom[last]) / length
    # Where a river begins, the hillside above it is steep, too.
    whole = (up[up] != up) & (down != np.arange(count))
    stands_out: NDArray[np.bool_] = whole & (steps.top - steps.bottom > STANDS_OUT * reach * lengths)
    return stands_out


def joined_falls(steps: Steps) -> Falls:
    """The falls that some steps form, in whatever order these come.

    Where rivers fall into one fall, the one that brings more goes on; the other ends there.
    """
    by_cell = np.argsort(steps.cell)
    cell, below, discharge = steps.cell[by_cell], steps.below[by_cell], steps.discharge[by_cell]
    top, bottom = steps.top[by_cell], steps.bottom[by_cell]
    first, last = _ends(cell, below, discharge)
    height = top[first] - bottom[last]
    order = np.lexsort((cell[first], -height))
    first, last = first[order], last[order]
    return Falls(cell[first], below[last], top[first], height[order], discharge[first])


def _ends(cell: Integers, below: Integers, discharge: Numbers) -> tuple[Integers, Integers]:
    """The first and the last steps, by their numbers, of those that follow each other; cells ascend."""
    count = len(cell)
    following, is_first = np.arange(count), np.ones(count, np.bool_)
    upper, lower = _main_steps(cell, below, discharge)
    following[upper] = lower
    is_first[lower] = False
    while True:  # to twice as many steps on in each round
        farther = following[following]
        if np.array_equal(farther, following):
            return np.flatnonzero(is_first), following[is_first]
        following = farther


def _main_steps(cell: Integers, below: Integers, discharge: Numbers) -> tuple[Integers, Integers]:
    """Numbers of the steps that bring most to a next one, and of these next ones; cells ascend."""
    if not len(cell):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(cell, below), len(cell) - 1)
    order = np.lexsort((cell, -discharge))  # the most first, and the first of such
    order = order[cell[at[order]] == below[order]]
    lower, which = np.unique(at[order], return_index=True)
    return order[which], lower
