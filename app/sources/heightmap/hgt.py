"""Tiles of SRTM: 16-bit metres, big-endian, rows from the north, samples on the lines of a whole degree.

The name says which degree: `N46E007.hgt` has its south-western corner at 46° north and 7° east.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import WGS_84, Georeference
from app.sources.heightmap.models import Model, Samples
from app.sources.heightmap.raster import Raster
from app.sources.heightmap.tiff import cell_sides
from app.sources.part import Part

log = logging.getLogger(__name__)

CORNER = re.compile(r"([NS])(\d{2})([EW])(\d{3})", re.IGNORECASE)
VOID = -32768
ROWS = (1201, 3601, 7201)  # of a degree; far from the equator half as many columns


def open_hgt(path: Path) -> Model:
    """A tile. Raises `UserError` if the length of the file is none of a tile."""
    length = path.stat().st_size
    shapes = [(rows, columns) for rows in ROWS for columns in (rows, rows // 2 + 1)]
    shape = next((shape for shape in shapes if 2 * shape[0] * shape[1] == length), None)
    if shape is None:
        raise UserError(f"it has {length} bytes; a tile of SRTM has 1201 × 1201 or 3601 × 3601 heights of 2 bytes each")
    rows, columns = shape

    def read(rows: slice, columns: slice) -> tuple[Samples, NDArray[np.bool_]]:
        samples = np.array(np.memmap(path, ">i2", "r", shape=shape)[rows, columns])
        return samples, samples == VOID

    corner = CORNER.match(path.stem)
    if corner is None:
        log.warning("%s: where it lies is not known; the name of a tile is that of its corner: N46E007.hgt", path)
        return Model(rows, columns, read)
    latitude = int(corner[2]) * (1 if corner[1].upper() == "N" else -1)
    longitude = int(corner[4]) * (1 if corner[3].upper() == "E" else -1)
    north_south, east_west = 1.0 / (rows - 1), 1.0 / (columns - 1)
    west, north = longitude - 0.5 * east_west, latitude + 1.0 + 0.5 * north_south
    to_model = np.array([[east_west, 0.0, west], [0.0, -north_south, north]])
    return Model(rows, columns, read, Georeference(to_model, WGS_84), {"GTModelTypeGeoKey": 2})


def read_hgt(path: Path) -> Raster:
    """A whole tile in metres."""
    model = open_hgt(path)
    heights, missing = model.part(Part(0, 0, model.rows, model.columns))
    if model.to_model is None:
        return Raster(heights, missing)
    return Raster(heights, missing, *cell_sides(model.to_model, model.rows, model.columns, model.names))


def place_of_hgt(path: Path, rows: int, columns: int) -> Georeference | None:
    """The georeference of a tile that was resampled to these cells."""
    model = open_hgt(path)
    return model.place and model.place.in_cells(model.columns / columns, model.rows / rows)
