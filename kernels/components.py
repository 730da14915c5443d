"""Connected components, and disjoint sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit


@njit(nogil=True, cache=True)
def find(parents, member):
    """The member that stands for a set; shortens the way there by halves (Tarjan, van Leeuwen 1984)."""
    while parents[member] != member:
        parents[member] = parents[parents[member]]
        member = parents[member]
    return member


@njit(nogil=True, cache=True)
def _label_runs(mask, labels):
    """Row by row, each run of cells is joined with those of the row before that it touches."""
    rows, columns = mask.shape
    most = rows * ((columns + 1) // 2)  # a cell lies between two runs of a row
    parents = np.empty(most, np.int32)
    begins = np.empty(most, np.int32)
    ends = np.empty(most, np.int32)  # one past the last
    row_begins = np.empty(rows + 1, np.int64)
    runs = 0
    row_begins[0] = 0
    for row in range(rows):
        inside = mask[row]
        column = 0
        above = row_begins[row - 1] if row > 0 else 0
        first = runs
        while column < columns:
            if not inside[column]:
                column += 1
                continue
            begin = column
            while column < columns and inside[column]:
                column += 1
            parents[runs] = runs
            begins[runs] = begin
            ends[runs] = column
            # Touches over a corner count, too.
            while above < first and ends[above] < begin:
                above += 1
            other = above
            while other < first and begins[other] <= column:
                one, two = find(parents, other), find(parents, runs)
                parents[max(one, two)] = min(one, two)
                other += 1
            runs += 1
        row_begins[row + 1] = runs
    numbers = np.empty(runs, np.int32)
    count = 0
    for run in range(runs):  # the run that stands for a component is its first
        root = find(parents, run)
        if root == run:
            count += 1
            numbers[run] = count
        else:
            numbers[run] = numbers[root]
    for row in range(rows):
        labels[row] = 0
        for run in range(row_begins[row], row_begins[row + 1]):
            labels[row, begins[run] : ends[run]] = numbers[run]
    return count


def components(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """Label the connected components of a mask [row, column]; eight neighbours connect.

    Returns int32 labels [row, column], 0 outside the mask and from 1 in the order of the components' first cells, and
    the number of components.
    """
    labels = np.empty(mask.shape, np.int32)
    return labels, int(_label_runs(mask, labels))


@njit(nogil=True, cache=True)
def _join(pairs, parents):
    for place in range(len(pairs)):
        one, two = find(parents, pairs[place, 0]), find(parents, pairs[place, 1])
        parents[max(one, two)] = min(one, two)
    for member in range(len(parents)):
        parents[member] = find(parents, member)


def find_all(pairs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """For each of `count` members the smallest one of its set, where `pairs` [pair, 2] are in one set each."""
    parents = np.arange(count)
    _join(pairs, parents)
    return parents
