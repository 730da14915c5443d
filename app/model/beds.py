"""Buried beds of loose material: what lies below the active layer, which is all that processes see of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.layers import BURIED, LARGEST_CYCLE, LARGEST_HEIGHT
from kernels.beds import NO_BED

THICKNESSES, CYCLES = "beds", "bed_cycles"  # names of the arrays in states and saved worlds
FEWEST, MOST = 2, 16  # beds of a cell
THINNEST_OF_REFINED = 0.02  # a bed in a finer cell, relative to what it was; a thinner one ends before it
TOO_THIN = 1e-6  # metres: thinner beds are as thick in all finer cells, for single precision tells no parts of them


class Beds(NamedTuple):
    """The buried beds of each cell, the uppermost first; those that a cell has not are 0 thick.

    The sum of a cell is in layer `BURIED`, to the last bit.
    """

    thicknesses: NDArray[np.float32]  # of each kind, metres, [row, column, bed, kind]
    cycles: NDArray[np.float32]  # mean cycle in which each was buried, or NO_BED, [row, column, bed]

    @classmethod
    def none(cls, count: int, kinds: int, shape: tuple[int, int]) -> Beds:
        """No bed anywhere, with memory for so many in each cell."""
        return cls(np.zeros((*shape, count, kinds), np.float32), np.full((*shape, count), NO_BED, np.float32))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        rows, columns, _ = self.cycles.shape
        return rows, columns

    @property
    def most(self) -> int:
        """For how many beds of a cell there is memory."""
        return int(self.cycles.shape[2])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by their names in states."""
        return {THICKNESSES: self.thicknesses, CYCLES: self.cycles}

    def copy(self) -> Beds:
        return Beds(self.thicknesses.copy(), self.cycles.copy())

    def thickness_of_kinds(self) -> NDArray[np.float64]:
        """Metres of each kind in all beds together over one cell, [kind]."""
        from kernels.stratigraphy import thickness_of_kinds

        return thickness_of_kinds(*self)

    def number(self) -> NDArray[np.uint8]:
        """The number of beds of each cell, [row, column]."""
        found: NDArray[np.uint8] = (self.cycles != NO_BED).sum(axis=2, dtype=np.uint8)
        return found

    def sum(self) -> NDArray[np.float64]:
        """Thickness of all beds of each cell in metres, [row, column]."""
        from kernels.stratigraphy import sum_of_beds

        return sum_of_beds(*self)

    def add_below(self, kind: int, thickness: NDArray[np.float64]) -> None:
        """Add a bed of this kind and thickness in metres, [row, column], below all others; it is of cycle 0."""
        row, column = np.nonzero(thickness.astype(np.float32) > 0.0)
        bed = self.number()[row, column].astype(np.intp)
        self.thicknesses[row, column, bed, kind] = thickness[row, column]
        self.cycles[row, column, bed] = 0.0

    def age(self, cycle: int) -> NDArray[np.float32]:
        """Cycles since the uppermost bed was buried, [row, column]; 0 where there is none."""
        uppermost = self.cycles[..., 0]
        found: NDArray[np.float32] = np.where(uppermost == NO_BED, np.float32(0.0), np.float32(cycle) - uppermost)
        return found

    def resized(self, count: int) -> Beds:
        """The same beds with memory for so many in each cell; those below are 0 thick."""
        more = Beds.none(max(count - self.most, 0), self.thicknesses.shape[3], self.shape)
        return Beds(*(np.concatenate((own[:, :, :count], new), axis=2) for own, new in zip(self, more, strict=True)))

    def refined(self, times: int) -> tuple[Beds, NDArray[np.float64]]:
        """The beds in cells `times` as fine, and the metres of each kind that rounding leaves, [row, column, kind].

        Each bed has the mixture that it had, and gets thicker and thinner towards its continuation in the neighbours,
        down to nothing where it wedges out; its mean over an old cell stays.
        """
        from kernels.refining import repeated

        thicknesses, cycles = (repeated(array, times) for array in self)
        exact = thicknesses * self._parts_in_finer(times)[..., None]
        near = exact.astype(np.float32)
        near = np.where(near > exact, np.nextafter(near, np.float32(0.0)), near)
        gone = ~near.any(axis=3)
        order = np.argsort(gone, axis=2, kind="stable")
        cycles = np.take_along_axis(np.where(gone, np.float32(NO_BED), cycles), order, axis=2)
        beds = Beds(np.take_along_axis(near, order[..., None], axis=2), cycles)
        return beds, (exact - near).sum(axis=2)

    def _parts_in_finer(self, times: int) -> NDArray[np.float64]:
        """How thick each bed is in cells `times` as fine, relative to what it was, [row, column, bed]."""
        thick = self.thicknesses.sum(axis=3, dtype=np.float64)
        rows, columns = self.shape
        place = (np.arange(times) + 0.5) / times - 0.5
        change = np.zeros((rows, times, columns, times, self.most))
        for axis, along in ((0, place[:, None, None, None]), (1, place[:, None])):
            change += self._slopes(thick, axis)[:, None, :, None] * along
        per_metre = np.divide(1.0, thick, out=np.zeros_like(thick), where=thick > TOO_THIN)[:, None, :, None]
        parts = 1.0 + change * per_metre
        parts *= parts > THINNEST_OF_REFINED
        parts /= parts.mean(axis=(1, 3), keepdims=True)
        return np.asarray(parts.reshape(rows * times, columns * times, self.most))

    def _slopes(self, thick: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """How much thicker beds of these thicknesses get over a cell along an axis of the map: [row, column, bed].

        A bed goes on in a neighbour as that with its number from the bottom, if its kind is the same, else as that with
        its number from the top. Slopes are limited (van Leer 1977): no bed gets thicker or thinner than both.
        """
        number = self.number()[..., None].astype(np.intp)
        kind = np.where(np.arange(self.most) < number, self.thicknesses.argmax(axis=3), -1)
        from_bottom = np.maximum(number - 1 - np.arange(self.most), 0)  # the order is its own inverse

        def turned(values: NDArray[Any]) -> NDArray[Any]:
            return np.take_along_axis(values, from_bottom, axis=2)

        upwards = np.where(np.arange(self.most) < number, turned(kind), -1)
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
        if self.thicknesses.dtype != np.float32 or self.cycles.dtype != np.float32:
            return "must be of type float32"
        if self.cycles.ndim != 3 or self.shape != buried.shape or not FEWEST <= self.most <= MOST:
            return f"must be [row, column, bed], with {FEWEST} to {MOST} beds"
        if self.thicknesses.shape != (*self.cycles.shape, kinds):
            return "must be [row, column, bed, kind], with the kinds of the world"
        if not (self.thicknesses.min() >= 0.0 and self.thicknesses.max() <= LARGEST_HEIGHT):
            return f"must be from 0 to {LARGEST_HEIGHT:g} m thick"
        if not (self.cycles.min() >= NO_BED and self.cycles.max() <= LARGEST_CYCLE):
            return "have a cycle that there was not"
        there = self.cycles != NO_BED
        if (there[..., 1:] & ~there[..., :-1]).any() or (self.thicknesses.any(axis=3) != there).any():
            return "must lie on one another, without gaps, and have a thickness"
        return "" if np.array_equal(self.sum(), buried) else f"are not together what the layer '{BURIED}' is"


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
