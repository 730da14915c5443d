"""The centrelines of rivers that meander, as a world keeps them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What is known of each point, float64 [point, column]: the number of its river, its place in metres from the
# north-western corner of the map, the mean discharge in cubic metres a second, and the height of the bed in metres.
# Points of one river follow each other from its source to its mouth.
CENTRELINE_COLUMNS = ("river", "south", "east", "discharge", "bed")
LARGEST_DISCHARGE = 1e6  # cubic metres a second: five times that of the Amazon


def fault_of_centrelines(centrelines: NDArray[Any], extent: tuple[float, float]) -> str:
    """What is wrong with centrelines on a map so many metres high and wide; empty: nothing."""
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
    """Of the first river, which is the largest: its length beside the distance from its source to its mouth.

    NaN where there is none.
    """
    line = centrelines[centrelines[:, 0] == 0.0, 1:3]
    if len(line) < 2:
        return math.nan
    straight = float(np.hypot(*(line[-1] - line[0])))
    return float(np.hypot(*np.diff(line, axis=0).T).sum()) / straight if straight > 0.0 else math.nan
