"""Beds of loose material below an active layer: what is buried keeps its order, and comes out again in it.

The active layer after Hirano (1971), with a substrate of beds below it as Parker, Paola and Leclair (2000) and
Viparelli et al. (2010) keep it: all that moves loose material sees the active layer alone, which is mixed. Where it
grows too thick, the excess becomes the uppermost bed, in the mixture of the layer; where it grows thin, it takes from
the uppermost bed. Beds are runs: what is much like the bed below it is added to that.

Few cells have many beds, so they are packed: one array has those of all cells, row by row, and of each cell the
uppermost first; another one tells how many each cell has. They are changed where they lie. A bed of which nothing is
left gets the cycle `NO_BED`, and is left out when all rows are done; new beds are kept aside until then.

Thicknesses are float32 numbers, and what is moved is the exact difference between two of them: so nothing is lost by
rounding, and the active layer keeps what they cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.beds import NO_BED
from kernels.compiling import inlined, njit
from kernels.exchanging import KINDS

Numbers = NDArray[np.float64]
Beds = NDArray[np.float32]
Counts = NDArray[np.uint8]

THICKEST, THINNEST = 2.0, 0.5  # of the active layer, relative to the wanted one, before material is exchanged
UNLIKE = 0.15  # fraction of a mixture that differs from the bed below where a new bed begins


@inlined
def _thickness_of(beds, bed):
    """The thickness of a bed in metres."""
    at = np.uintp(bed)
    total = np.float64(beds[at, np.uintp(0)])
    if beds.shape[1] == KINDS:  # the usual number, without a loop of few turns
        total += np.float64(beds[at, np.uintp(1)])
        total += np.float64(beds[at, np.uintp(2)])
        return total + np.float64(beds[at, np.uintp(3)])
    for kind in range(1, beds.shape[1]):
        total += np.float64(beds[at, np.uintp(kind)])
    return total


@inlined
def _sum_of(beds, bed, end, total):
    """The thickness of some beds that lie on one another, and of what lies on them."""
    while bed < end:
        total += _thickness_of(beds, bed)
        bed += 1
    return total


@inlined
def _sum_of_kinds(mix, first, kinds):
    """The thickness of the active layer of a cell, whose kinds begin at `first`."""
    total = 0.0
    for kind in range(kinds):
        total += mix[np.uintp(first + kind)]
    return total


@inlined
def _not_above(value):
    """The float32 number next to a value that is not above it; the value is not negative."""
    near = np.float32(value)
    if np.float64(near) > value:
        near = np.int32(near.view(np.int32) - 1).view(np.float32)  # `nextafter`, which is a call
    return near


@inlined
def _not_below(value):
    """The float32 number next to a value that is not below it; the value is not negative."""
    near = np.float32(value)
    if np.float64(near) < value:
        near = np.int32(near.view(np.int32) + 1).view(np.float32)
    return near


@inlined
def _copy(beds, ages, source, into, cycles, target):
    """Copy a bed to another place."""
    at, to = np.uintp(source), np.uintp(target)
    cycles[to] = ages[at]
    if beds.shape[1] == KINDS:
        first, second, third, fourth = beds[at, 0], beds[at, 1], beds[at, 2], beds[at, 3]
        into[to, 0], into[to, 1], into[to, 2], into[to, 3] = first, second, third, fourth
        return
    for kind in range(beds.shape[1]):
        into[to, np.uintp(kind)] = beds[at, np.uintp(kind)]


@inlined
def _copy_those_left(beds, ages, source, end, into, cycles, target):
    """Copy the beds of which anything is left. Returns the place after the last of them."""
    for bed in range(source, end):
        # Without branches: each is written, and overwritten where nothing is left of it.
        is_left = ages[np.uintp(bed)] != np.float32(NO_BED)
        _copy(beds, ages, bed, into, cycles, target)
        target += 1 if is_left else 0
    return target


@inlined
def _merge_oldest(beds, ages, bed, mix, first):
    """Merge bed `bed + 1`, the oldest, into the one above it. What rounding leaves goes to the active layer."""
    upper, lower = _thickness_of(beds, bed), _thickness_of(beds, bed + 1)
    mean = (upper * np.float64(ages[bed]) + lower * np.float64(ages[bed + 1])) / (upper + lower)
    ages[bed] = np.float32(mean)
    for kind in range(beds.shape[1]):
        both = np.float64(beds[bed, kind]) + np.float64(beds[bed + 1, kind])
        beds[bed, kind] = _not_above(both)
        mix[first + kind] += both - np.float64(beds[bed, kind])


@inlined
def _begin(beds, ages, bed, cycle):
    """Begin a bed of nothing."""
    for kind in range(beds.shape[1]):
        beds[bed, kind] = np.float32(0.0)
    ages[bed] = np.float32(cycle)


@inlined
def _begins(mix, first, beds, bed, end, depth, thinnest):
    """Whether a bed begins above others, the uppermost of which is `bed`, with an active layer of this depth."""
    if bed == end:
        return True
    top = _thickness_of(beds, bed)
    if top < thinnest:
        return False
    unlike = 0.0
    for kind in range(beds.shape[1]):
        unlike += abs(mix[first + kind] / depth - np.float64(beds[bed, kind]) / top)
    return 0.5 * unlike > UNLIKE


@inlined
def _bury(mix, first, beds, ages, bed, part, cycle):
    """Move a part of the active layer into a bed. Returns whether anything is in it then."""
    before = _thickness_of(beds, bed)
    for kind in range(beds.shape[1]):
        old = np.float64(beds[bed, kind])
        beds[bed, kind] = _not_above(old + part * mix[first + kind])
        mix[first + kind] -= np.float64(beds[bed, kind]) - old
    after = _thickness_of(beds, bed)
    if after <= 0.0:  # so little that no number tells it
        return False
    mean = (before * np.float64(ages[bed]) + (after - before) * cycle) / after
    ages[bed] = np.float32(mean)
    return True


@inlined
def _take_of_kind(into, first, beds, bed, kind, part):
    """Move a part of one kind of a bed. Returns what is left of it, in metres."""
    at, own = np.uintp(bed), np.uintp(kind)
    old = np.float64(beds[at, own])
    now = _not_below((1.0 - part) * old)
    beds[at, own] = now
    into[np.uintp(first + kind)] += old - np.float64(now)
    return np.float64(now)


@inlined
def _exhume(into, first, beds, ages, bed, end, wanted):
    """Move up to `wanted` metres of beds, from the first, into `into`, where the kinds of a place begin at `first`.

    Returns the first bed of which anything is left, and the thickness of this and those below.
    """
    left = 0.0
    while wanted > 0.0 and bed < end:
        top = _thickness_of(beds, bed)
        part = 1.0 if top <= wanted else wanted / top
        left = _take_of_kind(into, first, beds, bed, 0, part)
        if beds.shape[1] == KINDS:
            left += _take_of_kind(into, first, beds, bed, 1, part)
            left += _take_of_kind(into, first, beds, bed, 2, part)
            left += _take_of_kind(into, first, beds, bed, 3, part)
        else:
            for kind in range(1, beds.shape[1]):
                left += _take_of_kind(into, first, beds, bed, kind, part)
        if left > 0.0:  # no more is wanted
            break
        ages[np.uintp(bed)] = np.float32(NO_BED)
        wanted -= top
        bed += 1
    return bed, _sum_of(beds, bed + (1 if left > 0.0 else 0), end, left)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _count(numbers, counts):
    for unsigned_row in prange(len(counts)):
        row, count = np.uintp(unsigned_row), 0
        for column in range(numbers.shape[1]):
            count += numbers[row, np.uintp(column)]
        counts[row] = count


def starts_of(numbers: Counts) -> NDArray[np.int64]:
    """The place of the first bed of each row, and of the end, [row + 1]; `numbers` are [row, column]."""
    starts = np.zeros(len(numbers) + 1, np.int64)
    _count(numbers, starts[1:])
    return np.cumsum(starts, out=starts)


@njit(cache=True, nogil=True, error_model="numpy")
def _leave_out(beds, ages, begin):
    """Move beds up to those before where nothing is left of some. Returns the number of all that are left."""
    return _copy_those_left(beds, ages, begin, len(ages), beds, ages, begin)


def _left(beds: Beds, ages: Beds, starts: NDArray[np.int64], gone: NDArray[np.int64]) -> tuple[Beds, Beds]:
    """The arrays without beds of which nothing is left: so many are `gone` of each row."""
    if not gone.any():
        return beds, ages
    end = _leave_out(beds, ages, int(starts[np.argmax(gone > 0)]))
    return _shortened(beds, end), _shortened(ages, end)


def _shortened(array: Beds, end: int) -> Beds:
    """An array of which nobody has a view without what lies beyond an index: itself, if it can be."""
    if array.base is not None:
        return array[:end].copy()
    array.resize((end, *array.shape[1:]), refcheck=False)
    return array


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _count_exchanged(sediment, numbers, active, counts):
    """How many cells of each row exchange anything."""
    for unsigned_row in prange(len(counts)):
        row, count = np.uintp(unsigned_row), 0
        for column in range(sediment.shape[1]):
            depth, has_beds = sediment[row, np.uintp(column)], numbers[row, np.uintp(column)] > 0
            count += (depth > THICKEST * active) | ((depth < THINNEST * active) & has_beds)
        counts[row] = count


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _exchange(
    mix, sediment, buried, numbers, beds, ages, starts, active, most, cycle, new_beds, new_ages, above, begins, new,
    gone,
):  # fmt: skip
    """All but adding the `new` beds of each row, [row]: `above` tells where. Their places begin at `begins`, [row]."""
    rows, columns = sediment.shape
    kinds = beds.shape[1]
    for unsigned_row in prange(rows):
        row = np.int64(unsigned_row)
        cells, firsts = np.empty(columns + 1, np.int32), np.empty(columns + 1, np.int64)
        listed, bed = 0, starts[row]
        for column in range(columns):
            # Without branches, which could not be foreseen: each is written, and overwritten where it does not count.
            at, across = np.uintp(row), np.uintp(column)
            depth, number = sediment[at, across], np.int64(numbers[at, across])
            cells[np.uintp(listed)], firsts[np.uintp(listed)] = column, bed
            is_exchanged = (depth > THICKEST * active) | ((depth < THINNEST * active) & (number > 0))
            listed += 1 if is_exchanged else 0
            bed += number
        place, popped = begins[row], 0
        for i in range(listed):
            column, bed = np.int64(cells[i]), firsts[i]
            number, depth = np.int64(numbers[row, column]), sediment[row, column]
            first, end, thickness = (row * columns + column) * kinds, bed + number, 0.0
            if depth < THINNEST * active:
                top, thickness = _exhume(mix, first, beds, ages, bed, end, active - depth)
                popped += top - bed
                number = end - top
                bed = end
            else:
                begins_new = _begins(mix, first, beds, bed, end, depth, active)
                part = (depth - active) / depth
                if begins_new and number < most:
                    _begin(new_beds, new_ages, place, cycle)
                    if _bury(mix, first, new_beds, new_ages, place, part, cycle):
                        thickness = _thickness_of(new_beds, place)
                        above[place] = bed
                        place += 1
                        number += 1
                else:
                    if begins_new:  # where there is no place for it, the two oldest become one
                        _merge_oldest(beds, ages, end - 2, mix, first)
                        for lower in range(end - 1, bed, -1):
                            _copy(beds, ages, lower - 1, beds, ages, lower)
                        _begin(beds, ages, bed, cycle)
                    if not _bury(mix, first, beds, ages, bed, part, cycle):
                        ages[bed] = np.float32(NO_BED)
                        popped += 1
                        number -= 1
                        bed += 1
            buried[row, column], numbers[row, column] = _sum_of(beds, bed, end, thickness), number
            sediment[row, column] = _sum_of_kinds(mix, first, kinds)
        new[row], gone[row] = place - begins[row], popped


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _with_new(beds, ages, starts, new_beds, new_ages, above, begins, new, into, cycles, targets):
    """Copy the beds of which anything is left, and the new ones, into arrays where rows begin at `targets`."""
    for unsigned_row in prange(len(new)):
        row = np.int64(unsigned_row)
        bed, target = starts[row], targets[row]
        for place in range(begins[row], begins[row] + new[row]):
            target = _copy_those_left(beds, ages, bed, above[place], into, cycles, target)
            bed = above[place]
            _copy(new_beds, new_ages, place, into, cycles, target)
            target += 1
        end = starts[row + 1]
        while end > bed and ages[end - 1] == np.float32(NO_BED):
            end -= 1  # which must not be written to where the next row begins
        _copy_those_left(beds, ages, bed, end, into, cycles, target)


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
    begins = np.zeros(len(mix) + 1, np.int64)
    _count_exchanged(sediment, numbers, float(active), begins[1:])
    np.cumsum(begins, out=begins)
    if begins[-1] == 0:
        return False, beds, cycles
    starts, (new, gone) = starts_of(numbers), np.zeros((2, len(mix)), np.int64)
    added = np.empty((begins[-1], beds.shape[1]), np.float32), np.empty(begins[-1], np.float32)
    above = np.empty(begins[-1], np.int64)
    _exchange(
        mix.reshape(-1), sediment, buried, numbers, beds, cycles, starts, float(active), most, float(cycle), *added,
        above, begins, new, gone,
    )  # fmt: skip
    if not new.any():
        return True, *_left(beds, cycles, starts, gone)
    targets = starts_of(numbers)
    grown = np.empty((targets[-1], beds.shape[1]), np.float32), np.empty(targets[-1], np.float32)
    _with_new(beds, cycles, starts, *added, above, begins, new, *grown, targets)
    return True, *grown


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _spare(buried, numbers, beds, ages, starts, bedrock, before, taken, gone):
    rows, columns = buried.shape
    kinds = beds.shape[1]
    for unsigned_row in prange(rows):
        row = np.int64(unsigned_row)
        cells, firsts = np.empty(columns + 1, np.int32), np.empty(columns + 1, np.int64)
        listed, bed = 0, starts[row]
        for column in range(columns):
            at, across = np.uintp(row), np.uintp(column)
            number = np.int64(numbers[at, across])
            cells[np.uintp(listed)], firsts[np.uintp(listed)] = column, bed
            is_worn = (before[at, across] > bedrock[at, across]) & (number > 0)
            listed += 1 if is_worn else 0
            bed += number
        popped = 0
        for i in range(listed):
            column, bed = np.int64(cells[i]), firsts[i]
            end = bed + np.int64(numbers[row, column])
            worn = before[row, column] - bedrock[row, column]
            top, left = _exhume(taken, row * kinds, beds, ages, bed, end, worn)
            bedrock[row, column] += buried[row, column] - left
            buried[row, column], numbers[row, column] = left, end - top
            popped += top - bed
        gone[row] = popped


def spare_rock(
    bedrock: Numbers, before: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds
) -> tuple[Numbers, Beds, Beds]:
    """Take from beds what was taken of the rock below them, which becomes as high again, as far as they go.

    `before` is the bedrock before it was worn, [row, column]; the other arrays are those of `exchange`. Returns the
    metres over one cell that were taken of each kind, [kind], and the new beds and cycles.
    """
    rows, kinds = len(bedrock), beds.shape[1]
    taken, gone, starts = np.zeros(rows * kinds), np.zeros(rows, np.int64), starts_of(numbers)
    _spare(buried, numbers, beds, cycles, starts, bedrock, before, taken, gone)
    return np.asarray(taken.reshape(rows, kinds).sum(axis=0)), *_left(beds, cycles, starts, gone)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _exhume_cells(
    mix, sediment, buried, numbers, beds, ages, starts, north, west, wanted, exhumed, gone, bedrock, ground, others
):  # fmt: skip
    columns, kinds = sediment.shape[1], beds.shape[1]
    for unsigned_part in prange(wanted.shape[0]):
        part = np.int64(unsigned_part)
        row = north + part
        cells, firsts = np.empty(wanted.shape[1] + 1, np.int32), np.empty(wanted.shape[1] + 1, np.int64)
        listed, bed = 0, starts[row]
        for column in range(west):
            bed += np.int64(numbers[row, column])
        for place in range(wanted.shape[1]):
            at, across = np.uintp(row), np.uintp(west + place)
            number = np.int64(numbers[at, across])
            cells[np.uintp(listed)], firsts[np.uintp(listed)] = place, bed
            lacks = (wanted[np.uintp(part), np.uintp(place)] > sediment[at, across]) & (number > 0)
            listed += 1 if lacks else 0
            bed += number
        popped = 0
        for i in range(listed):
            place, bed = np.int64(cells[i]), firsts[i]
            at, across = np.uintp(row), np.uintp(west + place)
            end, first = bed + np.int64(numbers[at, across]), (row * columns + west + place) * kinds
            lacking = wanted[np.uintp(part), np.uintp(place)] - sediment[at, across]
            top, left = _exhume(mix, first, beds, ages, bed, end, lacking)
            loose = _sum_of_kinds(mix, first, kinds)
            buried[at, across], sediment[at, across], numbers[at, across] = left, loose, end - top
            burden = left
            for other in range(len(others)):
                burden += others[other, at, across]
            ground[at, across] = (bedrock[at, across] + loose) + burden
            popped += top - bed
        exhumed[part], gone[row] = listed, popped


def exhume(
    mix: Numbers, sediment: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds, wanted: Numbers,
    north: int, west: int, bedrock: Numbers, ground: Numbers, others: Sequence[Numbers] = ()
) -> tuple[bool, Beds, Beds]:  # fmt: skip
    """Let uppermost beds become a part of the active layer until it is `wanted` metres thick, or all do.

    Returns whether any did, and the new beds and cycles.

    `wanted` are the cells of a part of the map, [row, column], whose first is in row `north` and column `west`.
    `ground` [row, column] is summed up again where beds were taken: of `bedrock`, of the sediment, and of all that is
    buried and the `others` of the burden. The other arrays are those of `exchange`.
    """
    starts, exhumed, gone = starts_of(numbers), np.zeros(len(wanted), np.int64), np.zeros(len(mix), np.int64)
    more = np.stack(others) if len(others) > 1 else np.reshape(others[0] if others else (), (-1, *ground.shape))
    _exhume_cells(
        mix.reshape(-1), sediment, buried, numbers, beds, cycles, starts, north, west,
        np.ascontiguousarray(wanted, np.float64), exhumed, gone, bedrock, ground, more.astype(np.float64, copy=False),
    )  # fmt: skip
    return bool(exhumed.any()), *_left(beds, cycles, starts, gone)


@njit(cache=True, nogil=True)
def _volumes(beds, totals):
    for bed in range(len(beds)):
        for kind in range(len(totals)):
            totals[kind] += np.float64(beds[bed, kind])


def thickness_of_kinds(beds: Beds) -> Numbers:
    """Metres of each kind in all beds together over one cell, [kind]; `beds` is that of `exchange`."""
    totals = np.zeros(beds.shape[1])
    _volumes(beds, totals)
    return totals


@njit(cache=True, nogil=True)
def _sums(numbers, beds, sums):
    bed = 0
    for cell in range(len(sums)):
        end = bed + np.int64(numbers[cell])
        sums[cell] = _sum_of(beds, bed, end, 0.0)
        bed = end


def sum_of_beds(numbers: Counts, beds: Beds) -> Numbers:
    """Thickness of all beds of each cell, [row, column], to the last bit that of `buried`."""
    sums = np.zeros(numbers.shape)
    _sums(numbers.reshape(-1), beds, sums.reshape(-1))
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def _limit(mix, sediment, buried, numbers, beds, ages, most, kinds):
    bed = 0
    for cell in range(len(sediment)):
        number = np.int64(numbers[cell])
        if number > most:
            for lower in range(number - 1, most - 1, -1):
                _merge_oldest(beds, ages, bed + lower - 1, mix, cell * kinds)
                ages[bed + lower] = np.float32(NO_BED)
            sediment[cell] = _sum_of_kinds(mix, cell * kinds, kinds)
            buried[cell] = _sum_of(beds, bed, bed + most, 0.0)
            numbers[cell] = most
        bed += number


def limit(
    mix: Numbers, sediment: Numbers, buried: Numbers, numbers: Counts, beds: Beds, cycles: Beds, most: int
) -> tuple[Beds, Beds]:
    """Merge the oldest beds of each cell that has more than so many. The arrays are those of `exchange`.

    Returns the new beds and cycles.
    """
    flat = mix.reshape(-1), sediment.reshape(-1), buried.reshape(-1), numbers.reshape(-1)
    _limit(*flat, beds, cycles, most, beds.shape[1])
    end = _leave_out(beds, cycles, 0)
    return _shortened(beds, end), _shortened(cycles, end)


@njit(cache=True, nogil=True)
def _take(beds, ages, firsts, source, numbers, into, cycles):
    target = 0
    for cell in range(len(source)):
        first = firsts[source[cell]]
        for bed in range(first, first + numbers[cell]):
            _copy(beds, ages, bed, into, cycles, target)
            target += 1


def taken_from(numbers: Counts, beds: Beds, cycles: Beds, source: NDArray[np.int64]) -> tuple[Counts, Beds, Beds]:
    """The arrays, which are those of `exchange`, with the beds of each cell from another one, [cell]."""
    flat = numbers.reshape(-1)
    firsts = np.cumsum(flat, dtype=np.int64) - flat
    moved = flat[source]
    end = int(moved.sum(dtype=np.int64))
    into, ages = np.empty((end, beds.shape[1]), np.float32), np.empty(end, np.float32)
    _take(beds, cycles, firsts, source, moved, into, ages)
    return moved.reshape(numbers.shape), into, ages
