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
        window = _surroundings(missing)
        _fill_in_place(filled[window], missing[window])
    return filled


def _surroundings(missing: NDArray[np.bool_]) -> tuple[slice, slice]:
    """The smallest window that holds all missing cells and their neighbours."""
    rows, columns = np.flatnonzero(missing.any(axis=1)), np.flatnonzero(missing.any(axis=0))
    return slice(max(rows[0] - 1, 0), rows[-1] + 2), slice(max(columns[0] - 1, 0), columns[-1] + 2)


def _fill_in_place(elevation: NDArray[np.float64], missing: NDArray[np.bool_]) -> None:
    known = np.where(missing, 0.0, elevation)
    coarse = fill(*_halve(known, missing))
    np.copyto(elevation, _double(coarse, *elevation.shape), where=missing)
    for _ in range(SMOOTHING_SWEEPS):
        np.copyto(elevation, _mean_of_neighbours(elevation), where=missing)


def _halve(known: NDArray[np.float64], missing: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Means of the known values of each 2 by 2 cells, and the mask of known means. Missing values must be 0."""
    rows, columns = known.shape
    edge = ((0, rows % 2), (0, columns % 2))
    known = np.pad(known, edge)
    weight = np.pad(~missing, edge).astype(np.float64)
    total = known[0::2, 0::2] + known[0::2, 1::2] + known[1::2, 0::2] + known[1::2, 1::2]
    count = weight[0::2, 0::2] + weight[0::2, 1::2] + weight[1::2, 0::2] + weight[1::2, 1::2]
    return total / np.maximum(count, 1.0), count == 0.0


def _double(coarse: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """Twice as fine by linear interpolation, cut to `rows` by `columns`."""
    return _double_rows(_double_rows(coarse, rows).T, columns).T


def _double_rows(coarse: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    row = np.arange(rows)
    nearest = row // 2
    second = np.clip(nearest + np.where(row % 2, 1, -1), 0, coarse.shape[0] - 1)
    return 0.75 * coarse[nearest] + 0.25 * coarse[second]


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
