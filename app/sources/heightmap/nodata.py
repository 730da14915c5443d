"""Find and fill cells without data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Usual values of missing heights, for files that declare none.
USUAL_MARKERS = (-32768.0, -32767.0, -9999.0, -99999.0)
# The extreme float32 and its like, however many digits survived.
NO_HEIGHT = 1e30
# Sweeps of smoothing at each size of the pyramid: the coarse ones did most of the work already.
SMOOTHING_SWEEPS = 8


def usual_markers(elevation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where metres hold a value that many programs mean as NODATA and that is no height on Earth."""
    return (np.abs(elevation) >= NO_HEIGHT) | np.isin(elevation, USUAL_MARKERS)


def are_heights(elevation: NDArray[np.float64]) -> bool:
    """Whether all are finite, and none is such a value."""
    return bool(elevation.min() > max(USUAL_MARKERS) and elevation.max() < NO_HEIGHT)  # NaN is neither


def fill(elevation: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A copy of `elevation` whose `missing` cells continue their surroundings smoothly; at least one must be known.

    Pull and push (Gortler and others 1996): average what is known over 2 by 2 cells until nothing is missing, then go
    back, interpolating what is missing from the coarser map and smoothing it.
    """
    filled = elevation.copy()
    if missing.any():
        window = surroundings(np.asarray(missing.any(axis=1)), np.asarray(missing.any(axis=0)))
        _fill_in_place(filled[window], missing[window])
    return filled


def surroundings(in_rows: NDArray[np.bool_], in_columns: NDArray[np.bool_]) -> tuple[slice, slice]:
    """The smallest window that holds all missing cells and their neighbours, from the rows and columns with any."""
    rows, columns = np.flatnonzero(in_rows), np.flatnonzero(in_columns)
    return slice(max(int(rows[0]) - 1, 0), int(rows[-1]) + 2), slice(max(int(columns[0]) - 1, 0), int(columns[-1]) + 2)


def _fill_in_place(elevation: NDArray[np.float64], missing: NDArray[np.bool_]) -> None:
    coarse = fill(*halve(elevation, missing))
    continue_in_place(elevation, missing, coarse)


def continue_in_place(
    elevation: NDArray[np.float64], missing: NDArray[np.bool_], coarse: NDArray[np.float64], top: int = 0, left: int = 0
) -> None:
    """Fill what is missing by what is filled in cells twice as large.

    Of a part of a map, which begins at row `top` and column `left` of what `coarse` covers, all but the outer
    `SMOOTHING_SWEEPS` cells are as they are in the whole.
    """
    np.copyto(elevation, _double(coarse, top, left, *elevation.shape), where=missing)
    for _ in range(SMOOTHING_SWEEPS):
        np.copyto(elevation, _mean_of_neighbours(elevation), where=missing)


def halve(elevation: NDArray[np.float64], missing: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Means of the known values of each 2 by 2 cells, and where there is none."""
    known = np.where(missing, 0.0, elevation)
    rows, columns = known.shape
    edge = ((0, rows % 2), (0, columns % 2))
    known = np.pad(known, edge)
    weight = np.pad(~missing, edge).astype(np.float64)
    total = known[0::2, 0::2] + known[0::2, 1::2] + known[1::2, 0::2] + known[1::2, 1::2]
    count = weight[0::2, 0::2] + weight[0::2, 1::2] + weight[1::2, 0::2] + weight[1::2, 1::2]
    return total / np.maximum(count, 1.0), count == 0.0


def _double(coarse: NDArray[np.float64], top: int, left: int, rows: int, columns: int) -> NDArray[np.float64]:
    """Twice as fine by linear interpolation: so many rows and columns from a row and a column on."""
    across = _double_rows(coarse, top, rows, _nearest(left, columns, coarse.shape[1]))
    return _double_rows(across.T, left, columns, slice(None), coarse.shape[1]).T


def _nearest(begin: int, count: int, coarse: int) -> slice:
    """The coarse cells that some fine ones are interpolated from."""
    return slice(max(begin // 2 - 1, 0), min((begin + count - 1) // 2 + 2, coarse))


def _double_rows(
    coarse: NDArray[np.float64], top: int, rows: int, columns: slice, whole: int = 0
) -> NDArray[np.float64]:
    """Some rows, from a part of the coarse ones where there are more on the `whole`."""
    count = whole or coarse.shape[0]
    begin = _nearest(top, rows, count).start if whole else 0
    row = np.arange(top, top + rows)
    nearest = row // 2
    second = np.clip(nearest + np.where(row % 2, 1, -1), 0, count - 1)
    fine: NDArray[np.float64] = 0.75 * coarse[nearest - begin, columns] + 0.25 * coarse[second - begin, columns]
    return fine


def _mean_of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the four neighbours; the map's edge counts as its own neighbour."""
    mean = np.empty_like(values)
    mean[1:] = values[:-1]
    mean[0] = values[0]
    mean[:-1] += values[1:]
    mean[-1] += values[-1]
    mean[:, 1:] += values[:, :-1]
    mean[:, 0] += values[:, 0]
    mean[:, :-1] += values[:, 1:]
    mean[:, -1] += values[:, -1]
    mean *= 0.25
    return mean
