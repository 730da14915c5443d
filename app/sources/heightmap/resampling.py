"""Change the number of rows and columns of a map.

Enlarging interpolates with a monotone cubic (Fritsch and Carlson 1980) along each axis: smooth slopes, and at a step no
ringing, since no new value leaves the range of the two old ones that it lies between. Shrinking averages the area that
each new cell covers, which keeps the volume of the ground.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Lines of the map done together: few enough to stay in the cache, many enough for NumPy.
LINES_AT_ONCE = 16


def resample(elevation: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """`elevation` [row, column] stretched to `rows` by `columns` over the same extent, C-contiguous."""
    elevation = np.ascontiguousarray(elevation, np.float64)
    if elevation.shape[0] != rows:
        elevation = _resample_rows(elevation, rows)
    if elevation.shape[1] != columns:
        elevation = np.ascontiguousarray(_resample_rows(elevation.T, columns).T)
    return elevation


def resampled_part(
    elevation: NDArray[np.float64], rows: int, columns: int, part: tuple[slice, slice]
) -> NDArray[np.float64]:
    """Some rows and columns of what `resample` makes, to the same bits."""
    elevation = np.ascontiguousarray(elevation, np.float64)
    south, east = (slice(*lines.indices(count)) for lines, count in zip(part, (rows, columns), strict=True))
    return resampled_from(elevation, (0, 0), elevation.shape, (rows, columns), (south, east))


def resampled_from(
    values: NDArray[np.float64],
    corner: tuple[int, int],
    whole: tuple[int, ...],
    shape: tuple[int, int],
    part: tuple[slice, slice],
) -> NDArray[np.float64]:
    """Some rows and columns of what `resample` makes of a `whole` map in a new `shape`, to the same bits.

    `values` are the rows and columns of the whole from a `corner` on, all of `rows_needed` at least.
    """
    for axis in (0, 1):
        along = values if axis == 0 else values.T
        if whole[axis] == shape[axis]:
            along = along[part[axis].start - corner[axis] : part[axis].stop - corner[axis]]
        else:
            along = _resample_rows(along, shape[axis], part[axis], corner[axis], whole[axis])
        values = along if axis == 0 else along.T
    return np.ascontiguousarray(values)


def rows_needed(whole: int, count: int, part: slice) -> slice:
    """The rows, of a `whole` number of them, that some of `count` rows are made of by `resample`."""
    ratio = whole / count
    return slice(max(math.floor(part.start * ratio) - 2, 0), min(math.ceil(part.stop * ratio) + 2, whole))


def _resample_rows(
    values: NDArray[np.float64], count: int, part: slice | None = None, top: int = 0, whole: int = 0
) -> NDArray[np.float64]:
    """The same columns with `count` rows, or a part of these; from the `top` row on of a `whole` number of them."""
    whole = whole or values.shape[0]
    change = _enlarge_rows if count > whole else _shrink_rows
    rows = np.arange(count) if part is None else np.arange(part.start, part.stop)
    # A result laid out like its source lets the transposed call above write along memory too.
    result = np.empty((len(rows), values.shape[1]), order="F" if values.flags.f_contiguous else "C")
    for first in range(0, values.shape[1], LINES_AT_ONCE):
        lines = slice(first, first + LINES_AT_ONCE)
        result[:, lines] = change(np.ascontiguousarray(values[:, lines]), count, rows, top, whole)
    return result


def nearest_cells(values: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Categorical `values` [row, column] over the same extent: each new cell takes the value at its middle."""
    row, column = nearest_lines(values.shape[0], rows), nearest_lines(values.shape[1], columns)
    nearest: NDArray[Any] = values[row[:, None], column]
    return nearest


def nearest_lines(old: int, new: int) -> NDArray[np.intp]:
    """Which of the `old` rows, or columns, the middle of each `new` one lies in."""
    return ((np.arange(new) + 0.5) * (old / new)).astype(np.intp)


def _enlarge_rows(
    values: NDArray[np.float64], count: int, rows: NDArray[np.intp], top: int, old_count: int
) -> NDArray[np.float64]:
    """These `rows` of the `count`; `values` are those of the `old_count` from the `top` on."""
    if old_count == 1:
        return np.repeat(values, len(rows), axis=0)
    # Cells are areas: old and new maps share their edges, not the centres of their outer cells.
    position = np.clip((rows + 0.5) * (old_count / count) - 0.5, 0.0, old_count - 1.0)
    left = np.minimum(position.astype(np.intp), old_count - 2)
    t = (position - left)[:, np.newaxis]
    left -= top

    step = np.diff(values, axis=0)
    slope = _monotone_slopes(step)
    start, rise = values[left], step[left]
    slope_left, slope_right = slope[left], slope[left + 1]
    # The cubic through both values with both slopes, in Horner's form.
    cubic = slope_left + slope_right - 2.0 * rise
    square = rise - slope_left - cubic
    result: NDArray[np.float64] = start + t * (slope_left + t * (square + t * cubic))
    return result


def _monotone_slopes(step: NDArray[np.float64]) -> NDArray[np.float64]:
    """Central differences, limited so that the cubic between two values never leaves their range."""
    slope = np.zeros((step.shape[0] + 1, step.shape[1]))
    before, after = step[:-1], step[1:]
    limit = np.minimum(np.abs(before), np.abs(after))
    limit *= 3.0 * (before * after > 0.0)  # peaks and hollows keep their places
    slope[1:-1] = np.minimum(np.maximum(0.5 * (before + after), -limit), limit)
    slope[0], slope[-1] = step[0], step[-1]
    return slope


def _shrink_rows(
    values: NDArray[np.float64], count: int, rows: NDArray[np.intp], top: int, old_count: int
) -> NDArray[np.float64]:
    """These `rows` of the `count`; `values` are those of the `old_count` from the `top` on."""
    ratio = old_count / count
    begin = rows * ratio
    end = begin + ratio
    first = begin.astype(np.intp)
    total = np.zeros((len(rows), values.shape[1]))
    weights = np.zeros((len(rows), 1))
    for offset in range(int(np.ceil(ratio)) + 1):
        row = first + offset
        covered = np.clip(np.minimum(end, row + 1.0) - np.maximum(begin, row), 0.0, None)[:, np.newaxis]
        total += covered * values[np.minimum(row - top, len(values) - 1)]
        weights += covered
    return total / weights
