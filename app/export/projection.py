"""Coordinate systems as well-known text: in Esri's dialect for `.prj` files, in the standard one for others."""

from __future__ import annotations

import io

from app.model.georeference import LOCAL_METRES, WGS_84, Georeference

WGS_84_TEXT = (
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],'
    'UNIT["Degree",0.0174532925199433]]'
)
LOCAL_TEXT = 'LOCAL_CS["Local metres",UNIT["metre",1],AXIS["Easting",EAST],AXIS["Northing",NORTH]]'


def projection_text(place: Georeference) -> str:
    """The coordinate system in Esri's dialect; empty if it is unknown, or if rasterio is needed and not installed."""
    if place.keys == WGS_84:
        return WGS_84_TEXT
    if place.keys == LOCAL_METRES:
        return ""
    return _well_known_text(place, "WKT1_ESRI")


def coordinate_system(place: Georeference) -> str:
    """The coordinate system in the standard dialect; empty if it is unknown."""
    if not place.keys or place.keys == LOCAL_METRES:
        return ""
    return _well_known_text(place, "WKT2_2019") or (WGS_84_TEXT if place.keys == WGS_84 else "")


def _well_known_text(place: Georeference, version: str) -> str:
    """The coordinate system in a dialect; empty if it cannot be described, or if rasterio is not installed."""
    try:
        import rasterio.errors
        import rasterio.io
    except ImportError:
        return ""
    import numpy as np
    import tifffile

    cell = io.BytesIO()
    tifffile.imwrite(cell, np.zeros((1, 1), np.uint8), metadata=None, extratags=list(place.tags()))
    try:
        with rasterio.io.MemoryFile(cell.getvalue()) as memory, memory.open() as file:
            return str(file.crs.to_wkt(version=version)) if file.crs else ""
    except (ValueError, rasterio.errors.RasterioError):  # the keys describe no system that GDAL can express
        return ""
