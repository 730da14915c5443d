"""Degrees to metres, and maps in bounds of either."""

from __future__ import annotations

from math import cos, radians

import numpy as np

from app.model.errors import UserError
from app.model.georeference import WGS_84, Georeference

# So near to a pole, a cell's east-west side shrinks to nothing over a few rows.
LARGEST_LATITUDE = 89.0


def metres_per_degree(latitude: float) -> tuple[float, float]:
    """Metres per degree of longitude and per degree of latitude (degrees north) on the WGS 84 ellipsoid.

    The series is the usual one, good to a millimetre or so per degree (Snyder 1987).
    """
    if not abs(latitude) <= LARGEST_LATITUDE:
        raise UserError(
            f"the map's centre is at latitude {latitude:g}; "
            f"a map in degrees can lie from {-LARGEST_LATITUDE:g} to {LARGEST_LATITUDE:g}"
        )
    angle = radians(latitude)
    longitude = 111_412.84 * cos(angle) - 93.5 * cos(3 * angle) + 0.118 * cos(5 * angle)
    return longitude, 111_132.92 - 559.82 * cos(2 * angle) + 1.175 * cos(4 * angle)


def looks_like_degrees(west: float, south: float, east: float, north: float, cell: float) -> bool:
    """Whether bounds and the larger side of a cell, of a file that does not name its unit, are in degrees.

    Metric coordinates are as good as never so small, except on a map of a laboratory's size, which starts at (0, 0).
    """
    on_the_globe = max(abs(west), abs(east)) <= 360.0 and max(abs(south), abs(north)) <= 90.0
    return on_the_globe and cell < 1.0 and (west, south) != (0.0, 0.0)


def in_bounds(west: float, south: float, east: float, north: float, rows: int, columns: int) -> Georeference | None:
    """The georeference of a map between bounds, in degrees of WGS 84 if they look like it; None if invalid."""
    width, height = (east - west) / columns, (north - south) / rows
    if not (width > 0.0 and height > 0.0 and max(map(abs, (west, south, east, north))) < float("inf")):
        return None
    keys = WGS_84 if looks_like_degrees(west, south, east, north, max(width, height)) else ()
    return Georeference(np.array([[width, 0.0, west], [0.0, -height, north]]), keys)
