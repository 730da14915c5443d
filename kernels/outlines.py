"""Outlines of cells with the same number, found row by row, so that a map may be larger than memory.

A corner of an outline has one edge along the rows and one along the columns. Each edge is known when its second corner
is met: the next one in the same row of corners, or the next one in the same column. So what is held are the corners of
outlines of numbers that go on below, and a row of cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.components import find

Integers = NDArray[np.int64]


class Corners(NamedTuple):
    """Corners of outlines, in the order in which they were met; those of no part are free."""

    row: NDArray[np.int32]
    column: NDArray[np.int32]
    following: NDArray[np.int32]  # the next corner of the outline, with the cells on the right
    number: NDArray[np.int32]
    part: NDArray[np.int32]  # of the cells that are connected over edges; see `find`
    twin: NDArray[np.int32]  # the other corner of the same number in this place, or -1


class Front(NamedTuple):
    """The row of cells that was read last, with one more cell at each end, and the corners that wait below it."""

    number: NDArray[np.int32]
    part: NDArray[np.int32]
    east_of: NDArray[np.int32]  # the open corner of cells east of each column of corners, or -1
    west_of: NDArray[np.int32]


class Rings(NamedTuple):
    """Closed outlines, sorted by number, part, and from outside in; the first corner of each is also its last."""

    row: NDArray[np.int32]
    column: NDArray[np.int32]
    begin: Integers  # [ring + 1]
    number: NDArray[np.int32]  # [ring]
    is_outer: NDArray[np.bool_]


@njit(nogil=True, cache=True)
def last_rows(numbers, first_row, last):
    """Set `last[n]` to the last row with the number n > 0, of rows [row, column] from `first_row` on."""
    for row in range(numbers.shape[0]):
        for column in range(numbers.shape[1]):
            if numbers[row, column] > 0:
                last[numbers[row, column]] = first_row + row


@inlined
def _corners_here(nw, ne, sw, se):
    """How many outlines turn where four cells meet; cells that meet at a corner alone are not connected."""
    count = 0
    if nw > 0 and ((nw != ne and nw != sw) or (nw == ne and (nw == sw) != (nw == se)) or (nw == sw == se and nw != ne)):
        count += 1
    if ne > 0 and ((ne != nw and ne != se) or (ne == se == sw and ne != nw)):
        count += 1
    if sw > 0 and sw != nw and sw != se:
        count += 1
    if se > 0 and se != ne and se != sw:
        count += 1
    return count


@njit(nogil=True, cache=True)
def count_corners(numbers, above):
    """The corners above and between rows below the row `above`, and the most parts that begin there."""
    corners, parts = 0, 0
    columns = numbers.shape[1]
    for row in range(numbers.shape[0]):
        nw, sw = np.int32(0), np.int32(0)
        for column in range(columns + 1):
            ne = se = np.int32(0)
            if column < columns:
                se = numbers[row, column]
                ne = numbers[row - 1, column] if row > 0 else above[column + 1]
            if se > 0 and se != ne and se != sw:
                parts += 1
            if not (nw == ne and sw == se and nw == sw):
                corners += _corners_here(nw, ne, sw, se)
            nw, sw = ne, se
    return corners, parts


@njit(nogil=True, cache=True)
def _add(corners, used, row, column, number, part):
    corners.row[used] = row
    corners.column[used] = column
    corners.following[used] = -1
    corners.number[used] = number
    corners.part[used] = part
    corners.twin[used] = -1
    return used + 1


@inlined
def _pair(corners, first, used):
    """Cells of the same number that meet at a corner alone have two corners there."""
    for one in range(first, used):
        for other in range(one + 1, used):
            if corners.number[one] == corners.number[other]:
                corners.twin[one], corners.twin[other] = other, one


@njit(nogil=True, cache=True)
def follow_rows(numbers, first_row, front, corners, used, parents, parts):
    """Add the corners above and between rows [row, column]; how many corners and parts there are then."""
    columns = numbers.shape[1]
    new_part = np.empty(columns + 2, np.int32)
    for row in range(numbers.shape[0]):
        new_part[0] = new_part[columns + 1] = -1
        for column in range(columns):
            here = numbers[row, column]
            at = column + 1
            if here <= 0:
                new_part[at] = -1
                continue
            is_west = column > 0 and numbers[row, column - 1] == here
            is_north = front.number[at] == here
            if is_west:
                new_part[at] = new_part[at - 1]
                if is_north:
                    one, two = find(parents, new_part[at]), find(parents, front.part[at])
                    parents[max(one, two)] = min(one, two)
            elif is_north:
                new_part[at] = front.part[at]
            else:
                parents[parts] = parts
                new_part[at] = parts
                parts += 1
        below = above = np.int64(-1)  # the corner whose edge to the east waits, with its cells below or above it
        south = first_row + row
        for column in range(columns + 1):
            nw, ne = front.number[column], front.number[column + 1]
            sw = numbers[row, column - 1] if column > 0 else np.int32(0)
            se = numbers[row, column] if column < columns else np.int32(0)
            if nw == ne and sw == se and nw == sw:
                continue
            first = used
            # Edges that end here: those from the west, and those from above
            if nw > 0 and nw != ne and nw != sw:
                end = used
                used = _add(corners, used, south, column, nw, front.part[column])
                corners.following[end] = above
                corners.following[front.west_of[column]] = end
            if sw > 0 and sw != nw and sw != se:
                end = used
                used = _add(corners, used, south, column, sw, new_part[column])
                corners.following[below] = end
                front.west_of[column] = end
            if ne == sw and ne == se and ne > 0 and nw != ne:
                end = used
                used = _add(corners, used, south, column, ne, front.part[column + 1])
                corners.following[below] = end
                corners.following[end] = front.east_of[column]
            elif nw == ne and nw == se and nw > 0 and sw != nw:
                end = used
                used = _add(corners, used, south, column, nw, front.part[column])
                corners.following[end] = above
                front.east_of[column] = end
            # Edges that begin here, to the east
            if ne > 0 and ne != nw and ne != se:
                above = used
                used = _add(corners, used, south, column, ne, front.part[column + 1])
                corners.following[above] = front.east_of[column]
            if se > 0 and se != ne and se != sw:
                below = used
                used = _add(corners, used, south, column, se, new_part[column + 1])
                front.east_of[column] = below
            if nw == sw and nw == se and nw > 0 and ne != nw:
                below = used
                used = _add(corners, used, south, column, nw, front.part[column])
                corners.following[front.west_of[column]] = below
            elif nw == ne and nw == sw and nw > 0 and se != nw:
                above = used
                used = _add(corners, used, south, column, nw, front.part[column])
                front.west_of[column] = above
            if used >= first + 2:
                _pair(corners, first, used)
        front.part[:] = new_part
        front.number[1 : columns + 1] = numbers[row]
    return used, parts


@njit(nogil=True, cache=True)
def part_rings(corners, used, is_complete):
    """Part outlines that come to the same place twice, so that none touches itself: one becomes two there."""
    place = np.full(used, -1, np.int64)  # on the way; -2 for what was parted from it
    steps = 0
    for first in range(used):
        if place[first] != -1 or not is_complete[corners.number[first]]:
            continue
        begin, corner = steps, first
        while place[corner] == -1:
            twin = corners.twin[corner]
            if twin >= 0 and place[twin] >= begin:
                after = corners.following[corner]
                corners.following[corner] = corners.following[twin]
                corners.following[twin] = after
                parted = corner
                while place[parted] != -2:
                    place[parted] = -2
                    parted = corners.following[parted]
                corner = after
                continue
            place[corner] = steps
            steps += 1
            corner = corners.following[corner]


@njit(nogil=True, cache=True)
def find_rings(corners, used, parents, is_complete):
    """First corner, corners, number, part and doubled area of each outline of numbers that are complete.

    The area is negative where the outline goes round a hole.
    """
    most = 0
    for corner in range(used):
        most += is_complete[corners.number[corner]]
    most //= 4
    start, length = np.empty(most, np.int64), np.empty(most, np.int64)
    number, part, area = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int64)
    is_met = np.zeros(used, np.bool_)
    rings = 0
    for first in range(used):
        if is_met[first] or not is_complete[corners.number[first]]:
            continue
        count, doubled, corner = 0, np.int64(0), first
        while not is_met[corner]:
            is_met[corner] = True
            after = corners.following[corner]
            one, other = np.int64(corners.column[corner]), np.int64(corners.column[after])
            doubled += one * corners.row[after] - other * corners.row[corner]
            corner = after
            count += 1
        start[rings], length[rings], number[rings] = first, count, corners.number[first]
        part[rings], area[rings] = find(parents, corners.part[first]), doubled
        rings += 1
    return start[:rings], length[:rings], number[:rings], part[:rings], area[:rings]


@njit(nogil=True, cache=True)
def write_rings(corners, start, begin, row, column):
    """Write the corners of outlines one after the other, each closed."""
    for ring in range(len(start)):
        corner = start[ring]
        for place in range(begin[ring], begin[ring + 1]):
            row[place], column[place] = corners.row[corner], corners.column[corner]
            corner = corners.following[corner]


@njit(nogil=True, cache=True)
def drop_corners(corners, used, front, is_complete):
    """Drop the corners of numbers that are complete; how many are left."""
    place = np.full(used, -1, np.int64)
    left = 0
    for corner in range(used):
        if not is_complete[corners.number[corner]]:
            place[corner] = left
            left += 1
    for corner in range(used):
        to = place[corner]
        if to >= 0:
            corners.row[to], corners.column[to] = corners.row[corner], corners.column[corner]
            corners.number[to], corners.part[to] = corners.number[corner], corners.part[corner]
            after = corners.following[corner]
            corners.following[to] = place[after] if after >= 0 else -1
            twin = corners.twin[corner]
            corners.twin[to] = place[twin] if twin >= 0 else -1
    for waiting in (front.east_of, front.west_of):
        for column in range(len(waiting)):
            if waiting[column] >= 0:
                waiting[column] = place[waiting[column]] if waiting[column] < used else -1
    return left


class Outlines:
    """Outlines of a map that is read by rows, from the north; cells are connected over their edges."""

    def __init__(self, columns: int, last: Integers) -> None:
        """`last` is the last row of each number; entry 0 stands for none."""
        self._last, self._columns, self._next_row = last, columns, 0
        self._front = Front(
            np.zeros(columns + 2, np.int32),
            np.full(columns + 2, -1, np.int32),
            np.full(columns + 1, -1, np.int32),
            np.full(columns + 1, -1, np.int32),
        )
        self._corners = _room(0)
        self._parents = np.zeros(0, np.int32)
        self._used = self._parts = 0

    @property
    def held(self) -> int:
        """The corners of outlines that are not complete."""
        return self._used

    def follow(self, numbers: NDArray[np.int32]) -> Rings:
        """Read the next rows [row, column]; the outlines of the numbers whose last row lies above their last one.

        A row of zeros must be read after the last one.
        """
        corners, parts = count_corners(numbers, self._front.number)
        self._make_room(int(corners), int(parts))
        self._used, self._parts = follow_rows(
            numbers, self._next_row, self._front, self._corners, self._used, self._parents, self._parts
        )
        self._next_row += len(numbers)
        is_complete = self._last < self._next_row - 1
        rings = self._closed(is_complete)
        self._used = drop_corners(self._corners, self._used, self._front, is_complete)
        return rings

    def _make_room(self, corners: int, parts: int) -> None:
        if self._used + corners > len(self._corners.row):
            larger = _room(self._used + corners)
            for old, new in zip(self._corners, larger, strict=True):
                new[: self._used] = old[: self._used]
            self._corners = larger
        if self._parts + parts > len(self._parents):
            self._parents = np.concatenate((self._parents, np.zeros(parts + len(self._parents) // 2, np.int32)))

    def _closed(self, is_complete: NDArray[np.bool_]) -> Rings:
        part_rings(self._corners, self._used, is_complete)
        start, length, number, part, area = find_rings(self._corners, self._used, self._parents, is_complete)
        is_outer = area > 0
        order = np.lexsort((start, ~is_outer, part, number))
        begin = np.append(0, np.cumsum(length[order] + 1)).astype(np.int64)
        row, column = np.empty(begin[-1], np.int32), np.empty(begin[-1], np.int32)
        write_rings(self._corners, start[order], begin, row, column)
        return Rings(row, column, begin, number[order], is_outer[order])


def _room(corners: int) -> Corners:
    return Corners(*(np.empty(corners, np.int32) for _ in Corners._fields))
