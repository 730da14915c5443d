"""Beds of loose material below an active layer: what is buried keeps its order, and comes out again in it.

The active layer after Hirano (1971), with a substrate of beds below it as Parker, Paola and Leclair (2000) and
Viparelli et al. (2010) keep it: all that moves loose material sees the active layer alone, which is mixed. Where it
grows too thick, the excess becomes the uppermost bed, in the mixture of the layer; where it grows thin, it takes from
the uppermost bed. Beds are runs: what is much like the bed below it is added to that.

Few cells have many beds, so they are packed: one array has those of all cells, row by row, and of each cell the
uppermost first; another one tells how many each cell has. A row is worked on from west to east, each cell in turn in a
stack of its own. Where beds may come, the rows first get as much more room, with what they have at its end, so that
what is written never overtakes what is to be read; in the end the gaps between the rows are closed.

Thicknesses are float32 numbers, and what is moved is the exact difference between two of them: so nothing is lost by
rounding, and the active layer keeps what they cannot tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.beds import MOST
from kernels.compiling import inlined, njit

Numbers = NDArray[np.float64]
Beds = NDArray[np.float32]
Counts = NDArray[np.uint8]

THICKEST, THINNEST = 2.0, 0.5  # of the active layer, relative to the wanted one, before material is exchanged
UNLIKE = 0.15  # fraction of a mixture that differs from the bed below where a new bed begins


@inlined
def _thickness_of(stack, bed):
    """The thickness of a bed in metres."""
    total = 0.0
    for kind in range(stack.shape[1]):
        total += np.float64(stack[bed, kind])
    return total


@inlined
def _merge_oldest(stack, cycles, bed, mix, first):
    """Merge bed `bed + 1`, the oldest, into the one above it. What rounding leaves goes to the active layer."""
    upper, lower = _thickness_of(stack, bed), _thickness_of(stack, bed + 1)
    mean = (upper * np.float64(cycles[bed]) + lower * np.float64(cycles[bed + 1])) / (upper + lower)
    cycles[bed] = np.float32(mean)
    for kind in range(stack.shape[1]):
        both = np.float64(stack[bed, kind]) + np.float64(stack[bed + 1, kind])
        stack[bed, kind] = _not_above(both)
        mix[first + kind] += both - np.float64(stack[bed, kind])


@inlined
def _not_above(value):
    """The float32 number next to a value that is not above it; the value is not negative."""
    near = np.float32(value)
    if np.float64(near) > value:
        near = np.nextafter(near, np.float32(0.0))
    return near


@inlined
def _not_below(value):
    """The float32 number next to a value that is not below it; the value is not negative."""
    near = np.float32(value)
    if np.float64(near) < value:
        near = np.nextafter(near, np.float32(np.inf))
    return near


@inlined
def _push(stack, cycles, number, most, cycle, mix, first):
    """Begin a bed above all others; when there is no place for it, the two oldest become one. Returns their number."""
    if number == most:
        _merge_oldest(stack, cycles, number - 2, mix, first)
        number -= 1
    for bed in range(number, 0, -1):
        for kind in range(stack.shape[1]):
            stack[bed, kind] = stack[bed - 1, kind]
        cycles[bed] = cycles[bed - 1]
    for kind in range(stack.shape[1]):
        stack[0, kind] = np.float32(0.0)
    cycles[0] = np.float32(cycle)
    return number + 1


@inlined
def _pop(stack, cycles, number):
    """Remove the uppermost bed, whose material is gone. Returns the number of beds."""
    for bed in range(number - 1):
        for kind in range(stack.shape[1]):
            stack[bed, kind] = stack[bed + 1, kind]
        cycles[bed] = cycles[bed + 1]
    return number - 1


@inlined
def _bury(mix, first, stack, cycles, number, most, depth, excess, thinnest, cycle):
    """Bury a part of the active layer of this depth, in its mixture. Returns the number of beds."""
    kinds = stack.shape[1]
    begins = number == 0
    if not begins:
        top = _thickness_of(stack, 0)
        if top >= thinnest:
            unlike = 0.0
            for kind in range(kinds):
                unlike += abs(mix[first + kind] / depth - np.float64(stack[0, kind]) / top)
            begins = 0.5 * unlike > UNLIKE
    if begins:
        number = _push(stack, cycles, number, most, cycle, mix, first)
    part = excess / depth
    before = _thickness_of(stack, 0)
    for kind in range(kinds):
        old = np.float64(stack[0, kind])
        stack[0, kind] = _not_above(old + part * mix[first + kind])
        mix[first + kind] -= np.float64(stack[0, kind]) - old
    after = _thickness_of(stack, 0)
    if after <= 0.0:  # so little that no number tells it
        number = _pop(stack, cycles, number)
    else:
        mean = (before * np.float64(cycles[0]) + (after - before) * cycle) / after
        cycles[0] = np.float32(mean)
    return number


@inlined
def _exhume(into, first, stack, cycles, number, wanted):
    """Move up to `wanted` metres of the uppermost beds into `into`, where the kinds of a place begin at `first`.

    Returns the number of beds.
    """
    kinds = stack.shape[1]
    while wanted > 0.0 and number > 0:
        top = _thickness_of(stack, 0)
        if top <= wanted:
            for kind in range(kinds):
                into[first + kind] += np.float64(stack[0, kind])
            number = _pop(stack, cycles, number)
        else:
            stays = 1.0 - wanted / top
            for kind in range(kinds):
                old = np.float64(stack[0, kind])
                stack[0, kind] = _not_below(stays * old)
                into[first + kind] += old - np.float64(stack[0, kind])
            if _thickness_of(stack, 0) <= 0.0:
                number = _pop(stack, cycles, number)
        wanted -= top
    return number


@inlined
def _sum_of(stack, number):
    """The thickness of all beds of a stack."""
    total = 0.0
    for bed in range(number):
        total += _thickness_of(stack, bed)
    return total


@inlined
def _sum_up(mix, kinds, sediment, cell):
    """Recompute the sum of the active layer of a cell."""
    total = 0.0
    for kind in range(kinds):
        total += mix[cell * kinds + kind]
    sediment[cell] = total


@inlined
def _copy(beds, ages, source, number, into, cycles, target):
    """Copy beds from one place to another one, or to the same one farther ahead."""
    for bed in range(number):
        for kind in range(beds.shape[1]):
            into[target + bed, kind] = beds[source + bed, kind]
        cycles[target + bed] = ages[source + bed]


@njit(cache=True, nogil=True, parallel=True)
def _count(sediment: Any, numbers: Any, active: float, most: int, columns: int, more: Any, touched: Any) -> None:
    """By how many beds each row may grow, and whether anything in it is exchanged."""
    for row in prange(len(more)):
        grows, changes = 0, 0
        for cell in range(row * columns, (row + 1) * columns):
            if sediment[cell] > THICKEST * active:
                changes += 1
                if numbers[cell] < most:
                    grows += 1
            elif sediment[cell] < THINNEST * active and numbers[cell] > 0:
                changes += 1
        more[row] = grows
        touched[row] = changes


@njit(cache=True, nogil=True, parallel=True)
def _make_room(beds: Any, ages: Any, starts: Any, into: Any, cycles: Any, ends: Any) -> None:
    """Copy each row of beds to the end of its new place."""
    for row in prange(len(ends)):
        number = starts[row + 1] - starts[row]
        _copy(beds, ages, starts[row], number, into, cycles, ends[row] - number)


@njit(cache=True, nogil=True, parallel=True)
def _exchange(mix: Any, sediment: Any, buried: Any, numbers: Any, beds: Any, ages: Any, reads: Any, writes: Any,
              active: float, most: int, cycle: float, columns: int, totals: Any) -> None:  # fmt: skip
    for row in prange(len(totals)):
        kinds = beds.shape[1]
        stack, cycles = np.empty((most, kinds), np.float32), np.empty(most, np.float32)
        read, write = reads[row], writes[row]
        for cell in range(row * columns, (row + 1) * columns):
            number, depth = np.int64(numbers[cell]), sediment[cell]
            buries = depth > THICKEST * active
            if buries or (depth < THINNEST * active and number > 0):
                _copy(beds, ages, read, number, stack, cycles, 0)
                read += number
                if buries:
                    number = _bury(mix, cell * kinds, stack, cycles, number, most, depth, depth - active, active, cycle)
                else:
                    number = _exhume(mix, cell * kinds, stack, cycles, number, active - depth)
                _sum_up(mix, kinds, sediment, cell)
                buried[cell] = _sum_of(stack, number)
                numbers[cell] = number
                _copy(stack, cycles, 0, number, beds, ages, write)
            else:
                if write != read:
                    _copy(beds, ages, read, number, beds, ages, write)
                read += number
            write += number
        totals[row] = write - writes[row]


@njit(cache=True, nogil=True, parallel=True)
def _spare(buried: Any, numbers: Any, beds: Any, ages: Any, starts: Any, bedrock: Any, before: Any, columns: int,
           taken: Any, totals: Any) -> None:  # fmt: skip
    for row in prange(len(totals)):
        kinds = beds.shape[1]
        stack, cycles = np.empty((MOST, kinds), np.float32), np.empty(MOST, np.float32)
        read = write = starts[row]
        for cell in range(row * columns, (row + 1) * columns):
            number, worn = np.int64(numbers[cell]), before[cell] - bedrock[cell]
            if worn > 0.0 and number > 0:
                _copy(beds, ages, read, number, stack, cycles, 0)
                read += number
                number = _exhume(taken, row * kinds, stack, cycles, number, worn)
                left = _sum_of(stack, number)
                bedrock[cell] += buried[cell] - left
                buried[cell] = left
                numbers[cell] = number
                _copy(stack, cycles, 0, number, beds, ages, write)
            else:
                if write != read:
                    _copy(beds, ages, read, number, beds, ages, write)
                read += number
            write += number
        totals[row] = write - starts[row]


@njit(cache=True, nogil=True)
def _close_gaps(beds: Any, ages: Any, starts: Any, totals: Any) -> int:
    """Move rows of beds, of which each begins at its place, to one another. Returns the number of all beds."""
    end = 0
    for row in range(len(totals)):
        if starts[row] != end:
            _copy(beds, ages, starts[row], totals[row], beds, ages, end)
        end += totals[row]
    return end


def starts_of(numbers: Counts) -> NDArray[np.int64]:
    """The place of the first bed of each row, and of the end, [row + 1]; `numbers` are [row, column]."""
    starts = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(numbers.sum(axis=1, dtype=np.int64), out=starts[1:])
    return starts


def _closed(beds: Beds, cycles: Beds, starts: NDArray[np.int64], totals: NDArray[np.int64]) -> tuple[Beds, Beds]:
    """The arrays of beds without gaps between rows, and without memory beyond the last bed."""
    end = _close_gaps(beds, cycles, starts, totals)
    return _shortened(beds, end), _shortened(cycles, end)


def _shortened(array: Beds, end: int) -> Beds:
    """An array of which nobody has a view without what lies beyond an index: itself, if it can be."""
    if end == len(array):
        return array
    if array.base is not None:
        return array[:end].copy()
    array.resize((end, *array.shape[1:]), refcheck=False)
    return array


def exchange(
    mix: Numbers, sediment: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds, active: float,
    most: int, cycle: int
) -> tuple[bool, Beds, Beds]:  # fmt: skip
    """Bring the active layer of each cell near to `active` metres, with up to `most` beds.

    `mix` is [row, column, kind], and `sediment` [row, column] its sum. `numbers` is how many beds each cell has,
    [row, column]; no cell may have more than `most`. `beds` has the metres of each kind in all of them, [bed, kind],
    and `cycles` the mean cycle in which each was buried, [bed]; `buried` is their sum in each cell, [row, column].

    Returns whether anything was exchanged, and the new beds and cycles; all other arrays change. The ground is to be
    summed up after it.
    """
    rows, columns, _ = mix.shape
    more, touched, totals = (np.zeros(rows, np.int64) for _ in range(3))
    flat = sediment.reshape(-1), buried.reshape(-1), numbers.reshape(-1)
    _count(flat[0], flat[2], float(active), most, columns, more, touched)
    if not touched.any():
        return False, beds, cycles
    starts = starts_of(numbers)
    writes = starts + np.append(0, np.cumsum(more))
    grown = np.empty((writes[-1], beds.shape[1]), np.float32), np.empty(writes[-1], np.float32)
    _make_room(beds, cycles, starts, *grown, writes[1:])
    reads = writes[1:] - np.diff(starts)
    _exchange(
        mix.reshape(-1), *flat, *grown, reads, writes, float(active), most, float(cycle), columns, totals
    )  # fmt: skip
    return True, *_closed(*grown, writes, totals)


def spare_rock(
    bedrock: Numbers, before: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds
) -> tuple[Numbers, Beds, Beds]:
    """Take from beds what was taken of the rock below them, which becomes as high again, as far as they go.

    `before` is the bedrock before it was worn, [row, column]; the other arrays are those of `exchange`. Returns the
    metres over one cell that were taken of each kind, [kind], and the new beds and cycles.
    """
    (rows, columns), kinds = bedrock.shape, beds.shape[1]
    taken, totals, starts = np.zeros(rows * kinds), np.zeros(rows, np.int64), starts_of(numbers)
    _spare(
        buried.reshape(-1), numbers.reshape(-1), beds, cycles, starts, bedrock.reshape(-1), before.reshape(-1),
        columns, taken, totals,
    )  # fmt: skip
    return np.asarray(taken.reshape(rows, kinds).sum(axis=0)), *_closed(beds, cycles, starts, totals)


@njit(cache=True, nogil=True, parallel=True)
def _exhume_cells(mix: Any, sediment: Any, buried: Any, numbers: Any, beds: Any, ages: Any, starts: Any, columns: int,
                  north: int, west: int, wanted: Any, totals: Any, exhumed: Any) -> None:  # fmt: skip
    for unsigned_row in prange(wanted.shape[0]):
        kinds = beds.shape[1]
        stack, cycles = np.empty((MOST, kinds), np.float32), np.empty(MOST, np.float32)
        part = np.int64(unsigned_row)
        row, east = north + part, west + wanted.shape[1]
        read = write = starts[row]
        count = 0
        for column in range(columns):
            cell = row * columns + column
            number = np.int64(numbers[cell])
            lacking = wanted[part, column - west] - sediment[cell] if west <= column < east else 0.0
            if lacking > 0.0 and number > 0:
                _copy(beds, ages, read, number, stack, cycles, 0)
                read += number
                number = _exhume(mix, cell * kinds, stack, cycles, number, lacking)
                _sum_up(mix, kinds, sediment, cell)
                buried[cell] = _sum_of(stack, number)
                numbers[cell] = number
                _copy(stack, cycles, 0, number, beds, ages, write)
                count += 1
            else:
                if write != read:
                    _copy(beds, ages, read, number, beds, ages, write)
                read += number
            write += number
        totals[row] = write - starts[row]
        exhumed[part] = count


def exhume(
    mix: Numbers, sediment: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds, wanted: Numbers,
    north: int, west: int
) -> tuple[bool, Beds, Beds]:  # fmt: skip
    """Let uppermost beds become a part of the active layer until it is `wanted` metres thick, or all do.

    Returns whether any did, and the new beds and cycles. The ground is to be summed up after it.

    `wanted` are the cells of a part of the map, [row, column], whose first is in row `north` and column `west`. The
    other arrays are those of `exchange`.
    """
    columns, starts = mix.shape[1], starts_of(numbers)
    exhumed, totals = np.zeros(len(wanted), np.int64), np.diff(starts)
    _exhume_cells(
        mix.reshape(-1), sediment.reshape(-1), buried.reshape(-1), numbers.reshape(-1), beds, cycles, starts, columns,
        north, west, np.ascontiguousarray(wanted, np.float64), totals, exhumed,
    )  # fmt: skip
    return bool(exhumed.any()), *_closed(beds, cycles, starts, totals)


@njit(cache=True, nogil=True)
def _volumes(beds: Any, totals: Any) -> None:
    for bed in range(len(beds)):
        for kind in range(len(totals)):
            totals[kind] += np.float64(beds[bed, kind])


def thickness_of_kinds(beds: Beds) -> Numbers:
    """Metres of each kind in all beds together over one cell, [kind]; `beds` is that of `exchange`."""
    totals = np.zeros(beds.shape[1])
    _volumes(beds, totals)
    return totals


@njit(cache=True, nogil=True)
def _sums(numbers: Any, beds: Any, sums: Any) -> None:
    bed = 0
    for cell in range(len(sums)):
        total = 0.0
        for _ in range(numbers[cell]):
            total += _thickness_of(beds, bed)
            bed += 1
        sums[cell] = total


def sum_of_beds(numbers: Counts, beds: Beds) -> Numbers:
    """Thickness of all beds of each cell, [row, column], to the last bit that of `buried`."""
    sums = np.zeros(numbers.shape)
    _sums(numbers.reshape(-1), beds, sums.reshape(-1))
    return sums


@njit(cache=True, nogil=True)
def _limit(mix: Any, sediment: Any, buried: Any, numbers: Any, beds: Any, ages: Any, most: int) -> int:
    kinds = beds.shape[1]
    stack, cycles = np.empty((MOST, kinds), np.float32), np.empty(MOST, np.float32)
    read = write = 0
    for cell in range(len(sediment)):
        number = int(numbers[cell])
        _copy(beds, ages, read, number, stack, cycles, 0)
        read += number
        if number > most:
            for bed in range(number - 1, most - 1, -1):
                _merge_oldest(stack, cycles, bed - 1, mix, cell * kinds)
            number = most
            _sum_up(mix, kinds, sediment, cell)
            buried[cell] = _sum_of(stack, number)
            numbers[cell] = number
        _copy(stack, cycles, 0, number, beds, ages, write)
        write += number
    return write


def limit(
    mix: Numbers, sediment: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds, most: int
) -> tuple[Beds, Beds]:
    """Merge the oldest beds of each cell that has more than so many. The arrays are those of `exchange`.

    Returns the new beds and cycles.
    """
    end = _limit(mix.reshape(-1), sediment.reshape(-1), buried.reshape(-1), numbers.reshape(-1), beds, cycles, most)
    return beds[:end].copy(), cycles[:end].copy()


@njit(cache=True, nogil=True)
def _take(beds: Any, ages: Any, firsts: Any, source: Any, numbers: Any, into: Any, cycles: Any) -> None:
    target = 0
    for cell in range(len(source)):
        number = int(numbers[cell])
        _copy(beds, ages, firsts[source[cell]], number, into, cycles, target)
        target += number


def taken_from(numbers: Counts, beds: Beds, cycles: Beds, source: NDArray[np.int64]) -> tuple[Counts, Beds, Beds]:
    """The arrays, which are those of `exchange`, with the beds of each cell from another one, [cell]."""
    flat = numbers.reshape(-1)
    firsts = np.cumsum(flat, dtype=np.int64) - flat
    moved = flat[source]
    end = int(moved.sum(dtype=np.int64))
    into, ages = np.empty((end, beds.shape[1]), np.float32), np.empty(end, np.float32)
    _take(beds, cycles, firsts, source, moved, into, ages)
    return moved.reshape(numbers.shape), into, ages
