"""The neighbour that the water of each cell flows to (D8: O'Callaghan, Mark 1984).

The steepest drop comes first. Where no neighbour is lower, on the level surface of a lake or a plain, water takes the
shortest way to where that level has a lower neighbour. Ties are broken by the neighbours' numbers, the smallest first:
see `kernels.neighbours`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.neighbours import COLUMN_STEPS, FLAT, OPPOSITE, OUTLET, ROW_STEPS, index_steps, on_map

# The lengths of a step in whole numbers, so that ways of equal length tie exactly: 99 / 70 is the square root of 2
# within 0.01 %.
BESIDE = 70
ACROSS = 99
BAND = 8  # rows that a thread takes at once
FAR = np.iinfo(np.int32).max

CROSSING = FLAT + 1
NOWHERE = -1


@njit(nogil=True, error_model="numpy")
def _steepest_of_some(surface, row, column):
    """The direction of one cell, which may lie at the map's edge."""
    rows, columns = surface.shape
    direction = FLAT
    steepest = 0.0
    for neighbour in range(8):
        if on_map(row, column, neighbour, rows, columns):
            drop = surface[row, column] - surface[row + ROW_STEPS[neighbour], column + COLUMN_STEPS[neighbour]]
            slope = drop if neighbour < 4 else drop * math.sqrt(0.5)
            if slope > steepest:
                direction, steepest = neighbour, slope
    return direction


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _steepest(surface, outlets, directions):
    rows = len(surface)
    bands = (rows + BAND - 1) // BAND
    for unsigned_band in prange(bands):
        first = np.int64(unsigned_band) * BAND
        _steepest_of_rows(surface, outlets, directions, first, min(first + BAND, rows))


@njit(nogil=True, error_model="numpy")
def _steepest_of_rows(surface, outlets, directions, first, last):
    rows, columns = surface.shape
    across = math.sqrt(0.5)
    for row in range(max(first, 1), min(last, rows - 1)):
        north, here, south = surface[row - 1], surface[row], surface[row + 1]
        out, result = outlets[row], directions[row]
        # Without branches, so that several cells are done at once.
        for column in range(1, columns - 1):
            height = here[column]
            slope = height - north[column]
            steepest = slope if slope > 0.0 else 0.0
            direction = 0 if slope > 0.0 else FLAT
            slope = height - here[column - 1]
            direction = 1 if slope > steepest else direction
            steepest = slope if slope > steepest else steepest
            slope = height - here[column + 1]
            direction = 2 if slope > steepest else direction
            steepest = slope if slope > steepest else steepest
            slope = height - south[column]
            direction = 3 if slope > steepest else direction
            steepest = slope if slope > steepest else steepest
            slope = (height - north[column - 1]) * across
            direction = 4 if slope > steepest else direction
            steepest = slope if slope > steepest else steepest
            slope = (height - north[column + 1]) * across
            direction = 5 if slope > steepest else direction
            steepest = slope if slope > steepest else steepest
            slope = (height - south[column - 1]) * across
            direction = 6 if slope > steepest else direction
            steepest = slope if slope > steepest else steepest
            slope = (height - south[column + 1]) * across
            direction = 7 if slope > steepest else direction
            result[column] = OUTLET if out[column] else direction
    for row in range(first, last):
        for column in range(0, columns, 1 if row in (0, rows - 1) else columns - 1):
            directions[row, column] = OUTLET if outlets[row, column] else _steepest_of_some(surface, row, column)


@njit(nogil=True, error_model="numpy")
def cross_level(height, direction, far, queued, lengths, ends, rows, columns, steps):
    """Give the flats of a level that hang together the direction of the shortest way out, by Dijkstra's (1959) method.

    The flats are `CROSSING`, and afterwards that and their direction; `far` [cell] is the length of the way. As steps
    have one of two lengths, two queues that are sorted by themselves do: one for the ways that begin with a step to a
    cell beside, one for those across a corner. They begin with `ends` [queue] cells, those that a way out begins from:
    `queued` [queue, number] and the `lengths` of their ways.
    """
    beside = across = 0  # how many of each queue have been taken
    while beside < ends[0] or across < ends[1]:
        queue, head = 0, beside
        if beside == ends[0] or (across < ends[1] and lengths[1, across] < lengths[0, beside]):
            queue, head = 1, across
        cell, length = np.int64(queued[queue, head]), lengths[queue, head]
        beside, across = (beside + 1, across) if queue == 0 else (beside, across + 1)
        if far[cell] < length:
            continue
        row, column = divmod(cell, columns)
        inside = 0 < row < rows - 1 and 0 < column < columns - 1
        for neighbour in range(8):
            if not inside and not on_map(row, column, neighbour, rows, columns):
                continue
            other = cell + steps[neighbour]
            if direction[other] < FLAT or height[other] != height[cell]:
                continue
            towards = CROSSING + OPPOSITE[neighbour]
            queue = 0 if neighbour < 4 else 1
            length_there = length + (ACROSS if queue else BESIDE)
            if length_there < far[other]:
                far[other] = length_there
                direction[other] = towards
                queued[queue, ends[queue]] = other
                lengths[queue, ends[queue]] = length_there
                ends[queue] += 1
            elif length_there == far[other] and towards < direction[other]:
                direction[other] = towards


@njit(nogil=True, cache=True, error_model="numpy")
def _cross_flats(surface, directions, far, steps):
    """Give flats the direction of the shortest way over their level to a cell that has a lower neighbour.

    Level by level: see `cross_level`. Until its level is done, a flat's direction is told as that much more than
    `CROSSING`. `far` [cell] is scratch.
    """
    rows, columns = surface.shape
    height, direction = surface.reshape(-1), directions.reshape(-1)
    size = 0
    for cell in range(len(direction)):
        size += direction[cell] == FLAT
    # A flat becomes a member once, as it is no longer told as `FLAT` then. No cell comes twice into one queue: lengths
    # that are taken out only grow, so those that come into one queue do, too, and a second way would be no shorter.
    members = np.empty(size, np.int32)
    queued = np.empty((2, size), np.int32)
    lengths = np.empty((2, size), np.int32)
    ends = np.empty(2, np.int64)
    for first in range(len(direction)):
        if direction[first] != FLAT:
            continue
        level = height[first]
        ends[:] = 0
        # All flats of this level that hang together, and those of them that begin a way
        members[0] = first
        direction[first] = CROSSING
        known, count = 0, 1
        while known < count:
            cell = np.int64(members[known])
            known += 1
            row, column = divmod(cell, columns)
            inside = 0 < row < rows - 1 and 0 < column < columns - 1
            towards = NOWHERE
            for neighbour in range(8):
                if not inside and not on_map(row, column, neighbour, rows, columns):
                    continue
                other = cell + steps[neighbour]
                if height[other] != level:
                    continue
                if direction[other] == FLAT:
                    direction[other] = CROSSING
                    members[count] = other
                    count += 1
                elif direction[other] < FLAT and towards == NOWHERE:
                    towards = neighbour
            far[cell] = FAR
            if towards != NOWHERE:
                queue = 0 if towards < 4 else 1
                far[cell] = ACROSS if queue else BESIDE
                direction[cell] = CROSSING + towards
                queued[queue, ends[queue]] = cell
                lengths[queue, ends[queue]] = far[cell]
                ends[queue] += 1
        cross_level(height, direction, far, queued, lengths, ends, rows, columns, steps)
        for member in members[:count]:
            # A level without a way out, which no filled surface has, keeps its water, rather than send it off the map.
            direction[member] = OUTLET if far[member] == FAR else direction[member] - CROSSING


def steepest_directions(
    surface: NDArray[np.float64], outlets: NDArray[np.bool_], out: NDArray[np.int8] | None = None
) -> NDArray[np.int8]:
    """The number of each cell's steepest lower neighbour, int8 [row, column]; `FLAT` where none is lower.

    `surface` are float64 heights [row, column]; cells of the mask `outlets` become `OUTLET`.
    """
    directions = np.empty(surface.shape, np.int8) if out is None else out
    _steepest(surface, outlets, directions)
    return directions


def flow_directions(
    filled: NDArray[np.float64],
    outlets: NDArray[np.bool_],
    out: NDArray[np.int8] | None = None,
    scratch: NDArray[np.int32] | None = None,
) -> NDArray[np.int8]:
    """The number of the neighbour that the water of each cell flows to, int8 [row, column], `OUTLET` in `outlets`.

    `filled` is a surface without depressions, float64 [row, column], as `kernels.filling.fill` makes it. Following the
    directions never leads up, and always to an outlet. `scratch` is an int32 map that may be overwritten.
    """
    directions = steepest_directions(filled, outlets, out)
    far = np.empty(filled.size, np.int32) if scratch is None else scratch.reshape(-1)
    _cross_flats(filled, directions, far, index_steps(filled.shape[1]))
    return directions
