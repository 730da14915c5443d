"""Centrelines of meandering rivers, as a world stores them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Columns of a point, float64 [point, column]: number of its river, position in metres from the north-western corner
# of the map, mean discharge in cubic metres per second, and height of the bed in metres. The points of a river are in
# order from source to mouth.
CENTRELINE_COLUMNS = ("river", "south", "east", "discharge", "bed")
LARGEST_DISCHARGE = 1e6  # cubic metres per second: five times the Amazon


def fault_of_centrelines(centrelines: NDArray[Any], extent: tuple[float, float]) -> str:
    """What is wrong with centrelines on a map of this height and width in metres; empty if nothing is."""
    if centrelines.dtype != np.float64 or centrelines.ndim != 2 or centrelines.shape[1] != len(CENTRELINE_COLUMNS):
        return f"must be float64 [point, {len(CENTRELINE_COLUMNS)}]; it is {centrelines.dtype} {centrelines.shape}"
    river, south, east, discharge, _ = centrelines.T
    if not np.isfinite(centrelines).all():
        return "must be finite numbers"
    if len(river) and (river[0] != 0.0 or not np.isin(np.diff(river), (0.0, 1.0)).all()):
        return "must have rivers that are counted from 0, the points of each together"
    if (np.bincount(river.astype(np.intp)) < 2).any():
        return "must have two points of each river"
    if not ((south >= 0.0) & (south <= extent[0]) & (east >= 0.0) & (east <= extent[1])).all():
        return "must lie on the map"
    if not ((discharge > 0.0) & (discharge <= LARGEST_DISCHARGE)).all():
        return f"must carry more than 0 and up to {LARGEST_DISCHARGE:g} m³/s"
    return ""


def trunk_sinuosity(centrelines: NDArray[np.float64]) -> float:
    """The sinuosity of the first and largest river: length over distance from source to mouth.

    NaN if there is none.
    """
    line = centrelines[centrelines[:, 0] == 0.0, 1:3]
    if len(line) < 2:
        return math.nan
    straight = float(np.hypot(*(line[-1] - line[0])))
    return float(np.hypot(*np.diff(line, axis=0).T).sum()) / straight if straight > 0.0 else math.nan


def cells_of_channels(
    centrelines: NDArray[np.float64], widths: NDArray[np.float64], shape: tuple[int, int], cell_size: float
) -> NDArray[np.bool_]:
    """The cells, [row, column], whose middles lie in channels of these widths in metres, [point].

    Points lie half a width apart, so that circles around them cover a channel.
    """
    within = np.zeros(shape, np.bool_)
    if not len(centrelines):
        return within
    places = centrelines[:, 1:3] / cell_size - 0.5
    radii = 0.5 * widths / cell_size
    reach = math.ceil(float(radii.max())) + 1
    side = 2 * reach + 1
    around = np.indices((side, side)).reshape(2, -1).T - reach
    cells = np.rint(places).astype(np.intp)[:, None] + around
    near = np.hypot(*np.moveaxis(cells - places[:, None], -1, 0)) <= radii[:, None]
    rows, columns = cells[near & (cells >= 0).all(axis=-1) & (cells < shape).all(axis=-1)].T
    within[rows, columns] = True
    return within
