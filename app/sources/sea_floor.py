"""A generated sea floor for models without bathymetry, in which the sea is level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.sources.fields import distance_to
from app.sources.heightmap.resampling import nearest_cells, resample

LEVEL = 0.05  # metres: largest distance of such a sea level from 0
DEEPEST = 200.0  # metres: depth of a shelf
LARGEST_SIDE = 1024  # cells; distances on larger maps are computed at a lower resolution


def with_sea_floor(elevation: NDArray[np.float64], cell_size: float, slope: float) -> NDArray[np.float64]:
    """Heights [row, column] in metres, with a sea floor that falls from the shore by `slope`, down to a shelf.

    A sea is level ground at 0 m that reaches the map's edge.
    """
    from kernels.ocean import ocean_mask

    ocean = ocean_mask(elevation, LEVEL)
    sea = ocean & (np.abs(elevation) <= LEVEL)
    if not sea.any():
        return elevation
    rows, columns = elevation.shape
    times = max(1.0, max(rows, columns) / LARGEST_SIDE)
    coarse = nearest_cells(~ocean, max(round(rows / times), 2), max(round(columns / times), 2))
    distance = np.maximum(resample(distance_to(coarse), rows, columns) * times, 0.5)
    return np.where(sea, -np.minimum(slope * cell_size * distance, DEEPEST), elevation)
