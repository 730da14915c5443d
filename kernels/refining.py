"""A map in finer cells: smooth between the old cells, with the same mean in each of them, and no new pits on the land.

What lies in a cell is read as a mean over its area, and a parabola is laid through it and the edges to its neighbours
(Colella, Woodward 1984), first along the columns, then along the rows. So the mean of the n × n cells that take the
place of one is what that one had, and slopes go on from one to the next without steps.

A valley one cell wide that runs aslant is cut off at each corner by the land beside it, however smooth. So the ground
is carved along the way of the water of the old map: from the lowest place in each cell to the lowest in the next, no
higher than the way so far; where there are channels, straight down between the two, and a little deeper where more
water passes. What hollows hold more than before is filled up. Both are small, and told: the ground has not the same
volume.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.layers import Layer
from kernels.neighbours import OUTLET, index_steps
from kernels.rivers import drain

# A channel is this part of the side of a new cell deeper for each time that twice the land drains to it, from so many
# cells on.
_DEEPER = 0.02
_HEAD = 16.0


class Refined(NamedTuple):
    """The ground in finer cells, and how far it was changed by what is more than interpolation, in metres."""

    ground: Layer
    carved: Layer  # taken away
    filled: Layer  # put there


def smooth(values: NDArray[np.floating[Any]], times: int) -> Layer:
    """A map in cells `times` as fine: smooth, and each old cell's mean kept. New values may lie beyond the old ones."""
    return _along_rows(_along_rows(np.asarray(values, np.float64).T, times).T, times)


def within(
    values: NDArray[np.floating[Any]], times: int, lowest: float = 0.0, highest: float | Layer = math.inf
) -> Layer:
    """As `smooth`, with no value beyond bounds that the old ones are within; each old cell may have its own.

    Where one would be, all that take the place of a cell come so much nearer to its mean (Zhang, Shu 2010).
    """
    fine = smooth(values, times)
    rows, columns = values.shape
    blocks = fine.reshape(rows, times, columns, times)
    means = np.asarray(values, np.float64)
    down, up = means - blocks.min(axis=(1, 3)), blocks.max(axis=(1, 3)) - means
    part = np.minimum(_part(means - lowest, down), _part(highest - means, up))
    near: Layer = repeated(means, times) + repeated(part, times) * (fine - repeated(means, times))
    return np.clip(near, lowest, repeated(highest, times) if isinstance(highest, np.ndarray) else highest)


def _part(room: Layer, wanted: Layer) -> Layer:
    """Which part of what is wanted there is room for, up to 1."""
    return np.minimum(1.0, np.divide(room, wanted, out=np.ones_like(room), where=wanted > room))


def repeated(values: NDArray[Any], times: int) -> NDArray[Any]:
    """Each cell as `times`² cells of the same value."""
    return np.ascontiguousarray(values.repeat(times, axis=0).repeat(times, axis=1))


def refine_ground(ground: Layer, cell_size: float, sea_level: float, times: int, *, channels: bool) -> Refined:
    """The ground, float64 metres [row, column] on cells of side `cell_size` metres, in cells `times` as fine.

    Above `sea_level` it has no hollow where there was none, and no deeper one. `channels`: with channels along the way
    of the water.
    """
    old = drain(ground, cell_size, sea_level)
    hollow = old.filled > ground
    # No island comes up in a lake or in the sea.
    surface = np.where(old.ocean, sea_level, np.where(hollow, old.filled, math.inf))
    fine = np.ascontiguousarray(within(ground, times, -math.inf, surface))
    before = fine.copy()
    depth = _DEEPER * cell_size / times if channels else 0.0
    steps = index_steps(ground.shape[1])
    order = old.routes.order
    _carve(fine, ground, old.filled, old.ocean, old.directions, order, steps, old.accumulation, times, depth)
    carved = before - fine
    new = drain(fine, cell_size / times, sea_level)
    # A hollow holds no more than it held, and what was none holds nothing.
    missing = np.where(new.ocean | repeated(old.ocean, times), 0.0, new.filled - fine)
    holds, held = _means(missing, times), np.where(old.ocean, np.inf, old.filled - ground)
    kept = np.minimum(1.0, np.divide(held, holds, out=np.ones_like(held), where=holds > 0.0))
    filled = missing * (1.0 - repeated(kept, times))
    return Refined(fine + filled, carved, filled)


def _means(values: Layer, times: int) -> Layer:
    """The mean of the cells that took the place of each one."""
    rows, columns = values.shape
    means: Layer = values.reshape(rows // times, times, columns // times, times).mean(axis=(1, 3))
    return means


def _along_rows(values: Layer, times: int) -> Layer:
    """Each row in `times` as many columns."""
    if values.shape[1] < 2:
        return values.repeat(times, axis=1)
    first, second = values[:, :1], values[:, 1:2]
    last, other = values[:, -1:], values[:, -2:-1]
    # Beyond the map it goes on as at its edge, in a straight line.
    before = 3.0 * first - 2.0 * second, 2.0 * first - second
    after = 2.0 * last - other, 3.0 * last - 2.0 * other
    u = np.hstack([*before, values, *after])
    edges = (7.0 * (u[:, 1:-2] + u[:, 2:-1]) - (u[:, :-3] + u[:, 3:])) / 12.0
    edges = np.clip(edges, np.minimum(u[:, 1:-2], u[:, 2:-1]), np.maximum(u[:, 1:-2], u[:, 2:-1]))
    left, right = edges[:, :-1].copy(), edges[:, 1:].copy()
    rise, bend = right - left, values - 0.5 * (left + right)
    # On a slope the parabola rises or falls throughout; summits and hollows are round.
    slope, steep = (right - values) * (values - left) > 0.0, rise * rise / 6.0
    beyond_right, beyond_left = slope & (rise * bend > steep), slope & (rise * bend < -steep)
    left[beyond_right] = (3.0 * values - 2.0 * right)[beyond_right]
    right[beyond_left] = (3.0 * values - 2.0 * left)[beyond_left]
    rise, curve = right - left, 6.0 * (values - 0.5 * (left + right))
    fine = np.empty((values.shape[0], values.shape[1] * times))
    for part in range(times):
        begin, end = part / times, (part + 1) / times
        middle, square = 0.5 * (begin + end), (begin * begin + begin * end + end * end) / 3.0
        fine[:, part::times] = left + (rise + curve) * middle - curve * square
    return fine


@njit(nogil=True, cache=True, error_model="numpy")
def _lowest(fine, row, column, times):
    """The lowest of the cells that took the place of one."""
    best_row, best_column = row * times, column * times
    for i in range(row * times, (row + 1) * times):
        for j in range(column * times, (column + 1) * times):
            if fine[i, j] < fine[best_row, best_column]:
                best_row, best_column = i, j
    return best_row, best_column


@njit(nogil=True, cache=True, error_model="numpy")
def _cut(fine, row, column, to_row, to_column, height, to_height, straight):
    """Lower the cells on the way from one place to another where they are higher than the way so far.

    A `straight` bed falls evenly from one height to the other.
    """
    steps = max(abs(to_row - row), abs(to_column - column))
    for step in range(steps + 1):
        part = step / max(steps, 1)
        i = row + math.floor((to_row - row) * part + 0.5)
        j = column + math.floor((to_column - column) * part + 0.5)
        if straight:
            fine[i, j] = min(fine[i, j], height + (to_height - height) * part)
        else:
            height = fine[i, j] = min(fine[i, j], height)
    fine[to_row, to_column] = min(fine[to_row, to_column], to_height)


@njit(nogil=True, cache=True, error_model="numpy")
def _carve(fine, ground, filled, ocean, directions, order, steps, accumulation, times, depth):
    """Let the ground fall from the lowest place in each old cell to that in the next, from the sources down."""
    rows, columns = ground.shape
    places = np.empty((rows, columns, 2), np.int64)
    heights = np.empty((rows, columns))
    for row in range(rows):
        for column in range(columns):
            i, j = _lowest(fine, row, column, times)
            places[row, column, 0], places[row, column, 1] = i, j
            heights[row, column] = fine[i, j]
            upstream = accumulation[row, column]
            # Where it stays above what it flows to; in hollows and the sea nothing is deeper than before.
            if upstream > _HEAD and filled[row, column] == ground[row, column] and not ocean[row, column]:
                heights[row, column] -= depth * math.log2(upstream / _HEAD)
    for number in range(len(order) - 1, -1, -1):
        cell = order[number]
        row, column = cell // columns, cell % columns
        if ocean[row, column]:
            continue
        i, j, height = places[row, column, 0], places[row, column, 1], heights[row, column]
        direction = directions[row, column]
        if direction == OUTLET:
            if row == 0 or row == rows - 1 or column == 0 or column == columns - 1:
                to_row = 0 if row == 0 else rows * times - 1 if row == rows - 1 else i
                to_column = j if row == 0 or row == rows - 1 else 0 if column == 0 else columns * times - 1
                _cut(fine, i, j, to_row, to_column, height, height, True)
            continue
        next_cell = cell + steps[direction]
        next_row, next_column = next_cell // columns, next_cell % columns
        to_row, to_column = places[next_row, next_column, 0], places[next_row, next_column, 1]
        if ground[next_row, next_column] > ground[row, column]:
            # On the way out of a hollow, which stays as deep
            level = filled[row, column]
            _cut(fine, i, j, to_row, to_column, level, level, True)
            continue
        if filled[next_row, next_column] > ground[next_row, next_column]:
            height = max(height, heights[next_row, next_column])
        lower = min(heights[next_row, next_column], height)
        heights[next_row, next_column] = lower
        _cut(fine, i, j, to_row, to_column, height, lower, accumulation[row, column] > _HEAD)
