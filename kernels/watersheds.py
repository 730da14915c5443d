"""Watersheds, and colours by which neighbours can be told apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.random import mix

# Among so many colours a watershed has its favourite.
_FAVOURITES = 16
_SEEN_BITS = 10
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Watersheds(NamedTuple):
    """Watersheds of at least some size, numbered from 1 in the order of their outlets.

    Entry k of the lists is watershed k + 1.
    """

    labels: NDArray[np.int32]  # [row, column]; 0 is the ocean and the coast: all land that drains in smaller ones
    outlet: NDArray[np.int64]  # row * columns + column
    cells: NDArray[np.int64]  # of land
    coast_cells: int  # of land in smaller ones


@njit(nogil=True, cache=True)
def _number(outlets, ocean, smallest, labels):
    outlet_of, is_ocean, label_of = outlets.reshape(-1), ocean.reshape(-1), labels.reshape(-1)
    # Of an outlet: first how many cells it has, then the number of its watershed
    numbers = np.zeros(len(outlet_of), np.int32)
    for cell in range(len(outlet_of)):
        numbers[outlet_of[cell]] += not is_ocean[cell]
    count = 0
    for cells in numbers:
        count += cells >= smallest
    outlet, size = np.empty(count, np.int64), np.empty(count, np.int64)
    count = coast = 0
    for cell in range(len(numbers)):
        if numbers[cell] >= smallest:
            outlet[count], size[count] = cell, numbers[cell]
            count += 1
            numbers[cell] = count
        else:
            coast += numbers[cell]
            numbers[cell] = 0
    for cell in range(len(outlet_of)):
        label_of[cell] = 0 if is_ocean[cell] else numbers[outlet_of[cell]]
    return outlet, size, coast


def find_watersheds(outlets: NDArray[np.int32], ocean: NDArray[np.bool_], smallest: int = 1) -> Watersheds:
    """The watersheds of a map, from the outlet of each cell [row, column] and the mask of the ocean.

    Those of fewer than `smallest` cells, as there are many along each coast, are merged into one, the coast.
    """
    labels = np.empty(outlets.shape, np.int32)
    outlet, cells, coast = _number(outlets, ocean, max(1, int(smallest)), labels)
    return Watersheds(labels, outlet, cells, int(coast))


@njit(nogil=True, cache=True)
def _list_borders(labels):
    """Pairs of different labels that touch, over a corner too, as low << 32 | high. A pair may come more than once."""
    rows, columns = labels.shape
    pairs = np.empty(1024, np.int64)
    seen = np.zeros(1 << _SEEN_BITS, np.int64)
    count = 0
    for row in range(rows):
        for column in range(columns):
            label = labels[row, column]
            for neighbour in range(4):  # east, south-west, south, south-east
                i = row + (neighbour > 0)
                j = column + 1 if neighbour == 0 else column + neighbour - 2
                if i == rows or not 0 <= j < columns:
                    continue
                other = labels[i, j]
                if other == label or label == 0 or other == 0:
                    continue
                pair = (np.int64(min(label, other)) << 32) | max(label, other)
                slot = (np.uint64(pair) * _MIX) >> np.uint64(64 - _SEEN_BITS)
                if seen[slot] == pair:
                    continue
                seen[slot] = pair
                if count == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[count] = pair
                count += 1
    return pairs[:count]


@njit(nogil=True, cache=True)
def _colour(outlet, before, begins, neighbours):
    """One after the other, those that had a colour before first: the favourite, or the next that no neighbour has."""
    count = len(outlet)
    colours = np.zeros(count, np.int32)
    taken = np.full(max(count, _FAVOURITES, before.max() if count else 0) + 2, -1, np.int64)  # by whose neighbour
    for had_one in (True, False):
        for number in range(count):
            if (before[number] > 0) != had_one:
                continue
            for neighbour in neighbours[begins[number] : begins[number + 1]]:
                taken[colours[neighbour]] = number
            colour = np.int64(before[number])
            if not had_one:
                colour = np.int64(1 + mix(np.uint64(outlet[number])) % np.uint64(_FAVOURITES))
            tried = 0
            while taken[colour] == number:
                tried += 1
                colour = 1 + colour % _FAVOURITES if tried < _FAVOURITES else 1 + tried
            colours[number] = colour
    return colours


def watershed_colours(watersheds: Watersheds, before: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """A colour for each watershed, int32 [watershed] from 1, such that two that touch, over a corner too, differ.

    A colour belongs to the place of the outlet, so that a watershed keeps it while its borders move. `before` are
    colours that watersheds should keep, 0 for those that had none. Numbers above 16 come only where smaller ones are
    not enough.
    """
    count = len(watersheds.outlet)
    if before is None:
        before = np.zeros(count, np.int32)
    pairs = np.unique(_list_borders(watersheds.labels))
    one, two = (pairs >> 32) - 1, (pairs & 0xFFFFFFFF) - 1
    ends, neighbours = np.concatenate((one, two)), np.concatenate((two, one))
    begins = np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=count))))
    colours: NDArray[np.int32] = _colour(
        watersheds.outlet, before, begins, neighbours[np.argsort(ends, kind="stable")].astype(np.int64)
    )
    return colours
