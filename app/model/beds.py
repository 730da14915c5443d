"""Buried beds of loose material: what lies below the active layer, which is all that processes see of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.layers import BURIED, LARGEST_CYCLE, LARGEST_HEIGHT
from kernels.beds import MOST, NO_BED

NUMBERS, THICKNESSES, CYCLES = "bed_numbers", "beds", "bed_cycles"  # names of the arrays in states and saved worlds
ARRAYS = NUMBERS, THICKNESSES, CYCLES
FEWEST = 2  # beds that a cell may have at most, where that is chosen
THINNEST_OF_REFINED = 0.02  # a bed in a finer cell, relative to what it was; a thinner one ends before it
TOO_THIN = 1e-6  # metres: thinner beds are as thick in all finer cells, for single precision tells no parts of them

Dense = tuple[NDArray[np.float32], NDArray[np.float32]]


class Beds(NamedTuple):
    """The buried beds of all cells, row by row, and of each cell the uppermost first.

    They are packed, so that they take memory where they are. The sum of a cell is in layer `BURIED`, to the last bit.
    """

    numbers: NDArray[np.uint8]  # of beds, [row, column]
    thicknesses: NDArray[np.float32]  # of each kind, metres, [bed, kind]
    cycles: NDArray[np.float32]  # mean cycle in which each was buried, [bed]

    @classmethod
    def none(cls, kinds: int, shape: tuple[int, int]) -> Beds:
        """No bed anywhere."""
        return cls(np.zeros(shape, np.uint8), np.empty((0, kinds), np.float32), np.empty(0, np.float32))

    @classmethod
    def packed(cls, thicknesses: NDArray[np.float32], cycles: NDArray[np.float32]) -> Beds:
        """From as many beds in each cell: [row, column, bed, kind] in metres and [row, column, bed].

        Cells that have fewer end with the cycle `NO_BED`.
        """
        there = cycles != NO_BED
        return cls(there.sum(axis=2, dtype=np.uint8), thicknesses[there], cycles[there])

    @classmethod
    def of_state(cls, layers: Mapping[str, Any]) -> Beds | None:
        """Copies of the arrays of a state, if it has beds."""
        return cls(*(np.array(layers[name]) for name in ARRAYS)) if THICKNESSES in layers else None

    def dense(self, count: int | None = None) -> Dense:
        """As many beds in each cell, by default those of the cell with most; see `packed`."""
        count = self.most if count is None else count
        thicknesses = np.zeros((*self.shape, count, self.kinds), np.float32)
        cycles = np.full((*self.shape, count), NO_BED, np.float32)
        there = np.arange(count) < self.numbers[..., None]
        thicknesses[there], cycles[there] = self.thicknesses, self.cycles
        return thicknesses, cycles

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        rows, columns = self.numbers.shape
        return rows, columns

    @property
    def kinds(self) -> int:
        """Of loose material."""
        return int(self.thicknesses.shape[1])

    @property
    def most(self) -> int:
        """Of the cell with most beds."""
        return int(self.numbers.max(initial=0))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by their names in states."""
        return dict(zip(ARRAYS, self, strict=True))

    def thickness_of_kinds(self) -> NDArray[np.float64]:
        """Metres of each kind in all beds together over one cell, [kind]."""
        from kernels.stratigraphy import thickness_of_kinds

        return thickness_of_kinds(self.thicknesses)

    def thickness_of_kind(self, kind: int) -> NDArray[np.float64]:
        """Metres of a kind in all beds of each cell, [row, column]."""
        from kernels.stratigraphy import sum_of_beds

        return sum_of_beds(self.numbers, np.ascontiguousarray(self.thicknesses[:, kind : kind + 1]))

    def sum(self) -> NDArray[np.float64]:
        """Thickness of all beds of each cell in metres, [row, column]."""
        from kernels.stratigraphy import sum_of_beds

        return sum_of_beds(self.numbers, self.thicknesses)

    def bed(self, number: int) -> Dense:
        """A bed of each cell, counted from 0 for the uppermost: metres [row, column, kind] and cycles [row, column].

        Cells without it have 0 and `NO_BED`.
        """
        thicknesses = np.zeros((*self.shape, self.kinds), np.float32)
        cycles = np.full(self.shape, NO_BED, np.float32)
        flat, there = self.numbers.reshape(-1), self.numbers > number
        place = (np.cumsum(flat, dtype=np.int64) - flat)[there.reshape(-1)] + number
        thicknesses[there], cycles[there] = self.thicknesses[place], self.cycles[place]
        return thicknesses, cycles

    def with_below(self, kind: int, thickness: NDArray[np.float64]) -> Beds:
        """With a bed of this kind and thickness in metres, [row, column], below all others; it is of cycle 0."""
        thick = thickness.astype(np.float32)
        here = thick > 0.0
        numbers = self.numbers + here
        last = np.cumsum(numbers.reshape(-1), dtype=np.int64)[here.reshape(-1)] - 1
        is_new = np.zeros(int(numbers.sum(dtype=np.int64)), np.bool_)
        is_new[last] = True
        beds = Beds(numbers, np.zeros((len(is_new), self.kinds), np.float32), np.zeros(len(is_new), np.float32))
        beds.thicknesses[~is_new], beds.cycles[~is_new] = self.thicknesses, self.cycles
        beds.thicknesses[last, kind] = thick[here]
        return beds

    def age(self, cycle: int) -> NDArray[np.float32]:
        """Cycles since the uppermost bed was buried, [row, column]; 0 where there is none."""
        _, uppermost = self.bed(0)
        found: NDArray[np.float32] = np.where(uppermost == NO_BED, np.float32(0.0), np.float32(cycle) - uppermost)
        return found

    def refined(self, times: int) -> tuple[Beds, NDArray[np.float64]]:
        """The beds in cells `times` as fine, and the metres of each kind that rounding leaves, [row, column, kind].

        Each bed has the mixture that it had, and gets thicker and thinner towards its continuation in the neighbours,
        down to nothing where it wedges out; its mean over an old cell stays.
        """
        from kernels.refining import repeated

        dense = self.dense()
        thicknesses, cycles = (repeated(array, times) for array in dense)
        exact = thicknesses * self._parts_in_finer(dense[0], times)[..., None]
        near = exact.astype(np.float32)
        near = np.where(near > exact, np.nextafter(near, np.float32(0.0)), near)
        gone = ~near.any(axis=3)
        order = np.argsort(gone, axis=2, kind="stable")
        cycles = np.take_along_axis(np.where(gone, np.float32(NO_BED), cycles), order, axis=2)
        beds = Beds.packed(np.take_along_axis(near, order[..., None], axis=2), cycles)
        return beds, (exact - near).sum(axis=2)

    def _parts_in_finer(self, dense: NDArray[np.float32], times: int) -> NDArray[np.float64]:
        """How thick each bed is in cells `times` as fine, relative to what it was, [row, column, bed]."""
        thick = dense.sum(axis=3, dtype=np.float64)
        rows, columns, count = thick.shape
        place = (np.arange(times) + 0.5) / times - 0.5
        change = np.zeros((rows, times, columns, times, count))
        for axis, along in ((0, place[:, None, None, None]), (1, place[:, None])):
            change += self._slopes(thick, dense.argmax(axis=3), axis)[:, None, :, None] * along
        per_metre = np.divide(1.0, thick, out=np.zeros_like(thick), where=thick > TOO_THIN)[:, None, :, None]
        parts = 1.0 + change * per_metre
        parts *= parts > THINNEST_OF_REFINED
        parts /= parts.mean(axis=(1, 3), keepdims=True)
        return np.asarray(parts.reshape(rows * times, columns * times, count))

    def _slopes(self, thick: NDArray[np.float64], commonest: NDArray[np.intp], axis: int) -> NDArray[np.float64]:
        """How much thicker beds of these thicknesses get over a cell along an axis of the map: [row, column, bed].

        A bed goes on in a neighbour as that with its number from the bottom, if its kind is the same, else as that with
        its number from the top. Slopes are limited (van Leer 1977): no bed gets thicker or thinner than both.
        """
        count = thick.shape[2]
        number = self.numbers[..., None].astype(np.intp)
        kind = np.where(np.arange(count) < number, commonest, -1)
        from_bottom = np.maximum(number - 1 - np.arange(count), 0)  # the order is its own inverse

        def turned(values: NDArray[Any]) -> NDArray[Any]:
            return np.take_along_axis(values, from_bottom, axis=2)

        upwards = np.where(np.arange(count) < number, turned(kind), -1)
        by_bottom = map(turned, _steps_to_neighbours(turned(thick), upwards, axis))
        by_top = _steps_to_neighbours(thick, kind, axis)
        before, after = (np.where(np.isnan(one), other, one) for one, other in zip(by_bottom, by_top, strict=True))
        least = np.minimum(2.0 * np.minimum(np.abs(before), np.abs(after)), 0.5 * np.abs(before + after))
        both = np.where(before * after > 0.0, np.copysign(least, before), 0.0)
        alone = np.nan_to_num(np.where(np.isnan(before), after, before))
        slopes: NDArray[np.float64] = np.where(np.isnan(before + after), alone, both)
        return slopes

    def fault(self, buried: NDArray[np.float64], kinds: int) -> str:
        """What is wrong with beds that come from a file or a cycle; empty: nothing. `buried` is the layer."""
        if self.numbers.dtype != np.uint8 or self.thicknesses.dtype != np.float32 or self.cycles.dtype != np.float32:
            return "must be of type float32, and their numbers of type uint8"
        if self.numbers.shape != buried.shape or self.most > MOST:
            return f"must be 0 to {MOST} in each cell, [row, column]"
        count = int(self.numbers.sum(dtype=np.int64))
        if self.cycles.shape != (count,) or self.thicknesses.shape != (count, kinds):
            return "must be [bed, kind], as many as all cells have, with the kinds of the world"
        if count and not (self.thicknesses.min() >= 0.0 and self.thicknesses.max() <= LARGEST_HEIGHT):
            return f"must be from 0 to {LARGEST_HEIGHT:g} m thick"
        if count and not (self.cycles.min() > NO_BED and self.cycles.max() <= LARGEST_CYCLE):
            return "have a cycle that there was not"
        if not self.thicknesses.any(axis=1).all():
            return "must have a thickness"
        return "" if np.array_equal(self.sum(), buried) else f"are not together what the layer '{BURIED}' is"


def fault_of_dense(thicknesses: NDArray[Any], cycles: NDArray[Any]) -> str:
    """What is wrong with arrays that `Beds.packed` is to take, from a file of an older version; empty: nothing."""
    if cycles.dtype != np.float32 or cycles.ndim != 3 or thicknesses.shape[:3] != cycles.shape:
        return "must be float32, [row, column, bed, kind] and [row, column, bed]"
    there = cycles != NO_BED
    if there.shape[2] > MOST or (there[..., 1:] & ~there[..., :-1]).any() or (thicknesses.any(axis=3) & ~there).any():
        return f"must lie on one another, without gaps, up to {MOST}"
    return ""


def _steps_to_neighbours(
    thick: NDArray[np.float64], kind: NDArray[np.intp], axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By how much beds are thicker than before and get thicker after it, along an axis; NaN where they do not go on.

    A bed goes on in that of the same number, if it is of the same `kind`, which is −1 where there is none.
    """
    size = kind.shape[axis]
    here, there = (kind.take(cells, axis) for cells in (range(size - 1), range(1, size)))
    steps = np.where((here == there) & (here >= 0), np.diff(thick, axis=axis), np.nan)
    nothing = np.full_like(thick.take([0], axis), np.nan)
    return np.concatenate((nothing, steps), axis), np.concatenate((steps, nothing), axis)
