"""Beds of loose material below an active layer: what is buried keeps its order, and comes out again in it.

The active layer after Hirano (1971), with a substrate of beds below it as Parker, Paola and Leclair (2000) and
Viparelli et al. (2010) keep it: all that moves loose material sees the active layer alone, which is mixed. Where it
grows too thick, the excess becomes the uppermost bed, in the mixture of the layer; where it grows thin, it takes from
the uppermost bed. Beds are runs: what is much like the bed below it is added to that.

Thicknesses are float32 numbers, and what is moved is the exact difference between two of them: so nothing is lost by
rounding, and the active layer keeps what they cannot tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.beds import NO_BED
from kernels.compiling import inlined, njit

Numbers = NDArray[np.float64]
Beds = NDArray[np.float32]

THICKEST, THINNEST = 2.0, 0.5  # of the active layer, relative to the wanted one, before material is exchanged
UNLIKE = 0.15  # fraction of a mixture that differs from the bed below where a new bed begins


@inlined
def _thickness_of(beds, kinds, bed, cell):
    """The thickness of a bed in metres."""
    total = 0.0
    for kind in range(kinds):
        total += np.float64(beds[cell, bed, kind])
    return total


@inlined
def _merge_oldest(beds, cycles, kinds, bed, cell, mix):
    """Merge bed `bed + 1`, the oldest, into the one above it. What rounding leaves goes to the active layer."""
    upper, lower = _thickness_of(beds, kinds, bed, cell), _thickness_of(beds, kinds, bed + 1, cell)
    mean = (upper * np.float64(cycles[cell, bed]) + lower * np.float64(cycles[cell, bed + 1])) / (upper + lower)
    cycles[cell, bed] = np.float32(mean)
    for kind in range(kinds):
        both = np.float64(beds[cell, bed, kind]) + np.float64(beds[cell, bed + 1, kind])
        beds[cell, bed, kind] = _not_above(both)
        mix[cell * kinds + kind] += both - np.float64(beds[cell, bed, kind])
        beds[cell, bed + 1, kind] = np.float32(0.0)
    cycles[cell, bed + 1] = np.float32(NO_BED)


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
def _push(beds, cycles, kinds, cell, cycle, mix):
    """Begin a bed above all others; when there is no place for it, the two oldest become one."""
    last = beds.shape[1] - 1
    if cycles[cell, last] != np.float32(NO_BED):
        _merge_oldest(beds, cycles, kinds, last - 1, cell, mix)
    bed = last
    while bed > 0:
        if cycles[cell, bed - 1] != np.float32(NO_BED):
            for kind in range(kinds):
                beds[cell, bed, kind] = beds[cell, bed - 1, kind]
            cycles[cell, bed] = cycles[cell, bed - 1]
        bed -= 1
    for kind in range(kinds):
        beds[cell, 0, kind] = np.float32(0.0)
    cycles[cell, 0] = np.float32(cycle)


@inlined
def _pop(beds, cycles, kinds, cell):
    """Remove the uppermost bed, whose material is gone."""
    last = beds.shape[1] - 1
    bed = 0
    while bed < last and cycles[cell, bed + 1] != np.float32(NO_BED):
        for kind in range(kinds):
            beds[cell, bed, kind] = beds[cell, bed + 1, kind]
        cycles[cell, bed] = cycles[cell, bed + 1]
        bed += 1
    for kind in range(kinds):
        beds[cell, bed, kind] = np.float32(0.0)
    cycles[cell, bed] = np.float32(NO_BED)


@inlined
def _bury(mix, kinds, beds, cycles, cell, depth, excess, thinnest, cycle):
    """Bury a part of the active layer of this depth, in its mixture."""
    first = cell * kinds
    begins = cycles[cell, 0] == np.float32(NO_BED)
    if not begins:
        top = _thickness_of(beds, kinds, 0, cell)
        if top >= thinnest:
            unlike = 0.0
            for kind in range(kinds):
                unlike += abs(mix[first + kind] / depth - np.float64(beds[cell, 0, kind]) / top)
            begins = 0.5 * unlike > UNLIKE
    if begins:
        _push(beds, cycles, kinds, cell, cycle, mix)
    part = excess / depth
    before = _thickness_of(beds, kinds, 0, cell)
    for kind in range(kinds):
        old = np.float64(beds[cell, 0, kind])
        beds[cell, 0, kind] = _not_above(old + part * mix[first + kind])
        mix[first + kind] -= np.float64(beds[cell, 0, kind]) - old
    after = _thickness_of(beds, kinds, 0, cell)
    if after <= 0.0:  # so little that no number tells it
        _pop(beds, cycles, kinds, cell)
    else:
        mean = (before * np.float64(cycles[cell, 0]) + (after - before) * cycle) / after
        cycles[cell, 0] = np.float32(mean)


@inlined
def _exhume(into, first, kinds, beds, cycles, cell, wanted):
    """Move up to `wanted` metres of the uppermost beds into `into`, where the kinds of a place begin at `first`."""
    while wanted > 0.0 and cycles[cell, 0] != np.float32(NO_BED):
        top = _thickness_of(beds, kinds, 0, cell)
        if top <= wanted:
            for kind in range(kinds):
                into[first + kind] += np.float64(beds[cell, 0, kind])
            _pop(beds, cycles, kinds, cell)
        else:
            stays = 1.0 - wanted / top
            for kind in range(kinds):
                old = np.float64(beds[cell, 0, kind])
                beds[cell, 0, kind] = _not_below(stays * old)
                into[first + kind] += old - np.float64(beds[cell, 0, kind])
            if _thickness_of(beds, kinds, 0, cell) <= 0.0:
                _pop(beds, cycles, kinds, cell)
        wanted -= top


@inlined
def _sum_of(beds, cycles, kinds, cell):
    """The thickness of all beds of a cell."""
    total = 0.0
    for bed in range(beds.shape[1]):
        if cycles[cell, bed] == np.float32(NO_BED):
            break
        total += _thickness_of(beds, kinds, bed, cell)
    return total


@inlined
def _sum_up(mix, kinds, sediment, buried, beds, cycles, cell):
    """Recompute the sums of a cell: the active layer, and all beds."""
    total = 0.0
    for kind in range(kinds):
        total += mix[cell * kinds + kind]
    sediment[cell] = total
    buried[cell] = _sum_of(beds, cycles, kinds, cell)


@njit(cache=True, nogil=True, parallel=True)
def _exchange(mix: Any, kinds: int, sediment: Any, buried: Any, beds: Any, cycles: Any, active: float, cycle: float,
              columns: int, exchanged: Any) -> None:  # fmt: skip
    for row in prange(len(exchanged)):
        count = 0
        for cell in range(row * columns, (row + 1) * columns):
            depth = sediment[cell]
            if depth > THICKEST * active:
                _bury(mix, kinds, beds, cycles, cell, depth, depth - active, active, cycle)
            elif depth < THINNEST * active and cycles[cell, 0] != np.float32(NO_BED):
                _exhume(mix, cell * kinds, kinds, beds, cycles, cell, active - depth)
            else:
                continue
            _sum_up(mix, kinds, sediment, buried, beds, cycles, cell)
            count += 1
        exchanged[row] = count


@njit(cache=True, nogil=True, parallel=True)
def _spare(kinds: int, buried: Any, beds: Any, cycles: Any, bedrock: Any, before: Any, columns: int,
           taken: Any) -> None:  # fmt: skip
    for row in prange(len(taken) // kinds):
        for cell in range(row * columns, (row + 1) * columns):
            worn = before[cell] - bedrock[cell]
            if worn > 0.0 and cycles[cell, 0] != np.float32(NO_BED):
                _exhume(taken, row * kinds, kinds, beds, cycles, cell, worn)
                left = _sum_of(beds, cycles, kinds, cell)
                bedrock[cell] += buried[cell] - left
                buried[cell] = left


def _of_cells(array: Beds) -> Beds:
    """An array of beds with one axis for rows and columns."""
    return array.reshape(-1, *array.shape[2:])


def exchange(
    mix: Numbers, sediment: Numbers, buried: Numbers, beds: Beds, cycles: Beds, active: float, cycle: int
) -> bool:
    """Bring the active layer of each cell near to `active` metres. Returns whether anything was exchanged.

    `mix` is [row, column, kind], and `sediment` [row, column] its sum; `beds` is [row, column, bed, kind], metres, the
    uppermost bed first, `buried` [row, column] its sum, and `cycles` [row, column, bed] the mean cycle in which a bed
    was buried, or `NO_BED`. All of them change. The ground is to be summed up after it.
    """
    rows, columns, kinds = mix.shape
    exchanged = np.zeros(rows, np.int64)
    _exchange(
        mix.reshape(-1), kinds, sediment.reshape(-1), buried.reshape(-1), _of_cells(beds),
        _of_cells(cycles), float(active), float(cycle), columns, exchanged,
    )  # fmt: skip
    return bool(exchanged.any())


def spare_rock(bedrock: Numbers, before: Numbers, buried: Numbers, beds: Beds, cycles: Beds) -> Numbers:
    """Take from beds what was taken of the rock below them, which becomes as high again, as far as they go.

    `before` is the bedrock before it was worn, [row, column]; the other arrays are those of `exchange`. Returns the
    metres over one cell that were taken of each kind, [kind].
    """
    rows, columns, _, kinds = beds.shape
    taken = np.zeros(rows * kinds)
    _spare(
        kinds, buried.reshape(-1), _of_cells(beds), _of_cells(cycles), bedrock.reshape(-1), before.reshape(-1),
        columns, taken,
    )  # fmt: skip
    return np.asarray(taken.reshape(rows, kinds).sum(axis=0))


@njit(cache=True, nogil=True, parallel=True)
def _exhume_cells(mix: Any, kinds: int, sediment: Any, buried: Any, beds: Any, cycles: Any, columns: int, north: int,
                  west: int, wanted: Any, exhumed: Any) -> None:  # fmt: skip
    for unsigned_row in prange(wanted.shape[0]):
        row = np.int64(unsigned_row)
        count = 0
        for column in range(wanted.shape[1]):
            cell = (north + row) * columns + west + column
            lacking = wanted[row, column] - sediment[cell]
            if lacking > 0.0 and cycles[cell, 0] != np.float32(NO_BED):
                _exhume(mix, cell * kinds, kinds, beds, cycles, cell, lacking)
                _sum_up(mix, kinds, sediment, buried, beds, cycles, cell)
                count += 1
        exhumed[row] = count


def exhume(
    mix: Numbers, sediment: Numbers, buried: Numbers, beds: Beds, cycles: Beds, wanted: Numbers, north: int, west: int
) -> bool:
    """Let uppermost beds become a part of the active layer until it is `wanted` metres thick, or all do.

    Returns whether any did. The ground is to be summed up after it.

    `wanted` are the cells of a part of the map, [row, column], whose first is in row `north` and column `west`. The
    other arrays are those of `exchange`.
    """
    _, columns, kinds = mix.shape
    exhumed = np.zeros(len(wanted), np.int64)
    _exhume_cells(
        mix.reshape(-1), kinds, sediment.reshape(-1), buried.reshape(-1), _of_cells(beds),
        _of_cells(cycles), columns, north, west, np.ascontiguousarray(wanted, np.float64), exhumed,
    )  # fmt: skip
    return bool(exhumed.any())


@njit(cache=True, nogil=True)
def _volumes(beds: Any, cycles: Any, totals: Any) -> None:
    for cell in range(len(cycles)):
        for bed in range(beds.shape[1]):
            if cycles[cell, bed] == np.float32(NO_BED):
                break
            for kind in range(len(totals)):
                totals[kind] += np.float64(beds[cell, bed, kind])


def thickness_of_kinds(beds: Beds, cycles: Beds) -> Numbers:
    """Metres of each kind in all beds together over one cell, [kind]; the arrays are those of `exchange`."""
    kinds = beds.shape[3]
    totals = np.zeros(kinds)
    _volumes(_of_cells(beds), _of_cells(cycles), totals)
    return totals


@njit(cache=True, nogil=True)
def _sums(beds: Any, cycles: Any, kinds: int, sums: Any) -> None:
    for cell in range(len(sums)):
        sums[cell] = _sum_of(beds, cycles, kinds, cell)


def sum_of_beds(beds: Beds, cycles: Beds) -> Numbers:
    """Thickness of all beds of each cell, [row, column], to the last bit that of `buried`."""
    kinds = beds.shape[3]
    sums = np.zeros(cycles.shape[:2])
    _sums(_of_cells(beds), _of_cells(cycles), kinds, sums.reshape(-1))
    return sums


@njit(cache=True, nogil=True)
def _limit(mix: Any, kinds: int, sediment: Any, buried: Any, beds: Any, cycles: Any, count: int) -> None:
    for cell in range(len(sediment)):
        if cycles[cell, count] == np.float32(NO_BED):
            continue
        for bed in range(beds.shape[1] - 1, count - 1, -1):
            if cycles[cell, bed] != np.float32(NO_BED):
                _merge_oldest(beds, cycles, kinds, bed - 1, cell, mix)
        _sum_up(mix, kinds, sediment, buried, beds, cycles, cell)


def limit(mix: Numbers, sediment: Numbers, buried: Numbers, beds: Beds, cycles: Beds, count: int) -> None:
    """Merge the oldest beds of each cell that has more than so many. The arrays are those of `exchange`."""
    kinds = mix.shape[2]
    if count < beds.shape[2]:
        _limit(
            mix.reshape(-1), kinds, sediment.reshape(-1), buried.reshape(-1), _of_cells(beds),
            _of_cells(cycles), count,
        )  # fmt: skip
