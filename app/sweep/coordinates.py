"""Coordinates of a sweep's worlds, rows and columns, and what they are, after the CF conventions.

Worlds that lie in one place have the coordinates of their cells' middles and its coordinate system, in the way in which
xarray and rioxarray read them: `spatial_ref` holds it, and each layer names that.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import zarr

from app.export.projection import coordinate_system
from app.model.georeference import Georeference, Place, georeference_of, is_turned

WORLD, ROW, COLUMN = "world", "row", "column"
GRID = "spatial_ref"
CONVENTIONS = "CF-1.11"
SAME_PLACE = 1e-9  # difference of two places, as a part of a cell

LINEAR_UNIT = 3076  # ProjLinearUnitsGeoKey
METRE = 9001
UNITS = {METRE: "m", 9002: "ft", 9003: "US_survey_foot"}

OF_CELLS = {"long_name": "cells from the north-western corner", "units": "1"}


def make_coordinates(group: zarr.Group, worlds: int, shape: tuple[int, int]) -> None:
    """Numbers of worlds, and rows and columns counted in cells, in an empty set."""
    rows, columns = shape
    values = {WORLD: np.arange(worlds), ROW: np.arange(rows) + 0.5, COLUMN: np.arange(columns) + 0.5}
    for name, axis in values.items():
        told = {"long_name": "number of the world", "units": "1"} if name == WORLD else OF_CELLS
        array = group.create_array(name, shape=axis.shape, dtype=axis.dtype, dimension_names=(name,), attributes=told)
        array[:] = axis
    array = group.create_array(GRID, shape=(), dtype=np.int64, attributes={"long_name": "coordinate system"})
    array[...] = 0


def write_coordinates(group: zarr.Group, places: Sequence[Place | None], shape: tuple[int, int]) -> None:
    """Say where the worlds so far lie, where that is one place; else rows and columns are counted in cells."""
    rows, columns = (np.arange(count) + 0.5 for count in shape)
    system, told = {"long_name": "coordinate system"}, {ROW: OF_CELLS, COLUMN: OF_CELLS}
    if (place := _common(places)) is not None:
        (width, across, west), (down, height, north) = place.to_model.tolist()
        system["GeoTransform"] = " ".join(map(repr, (west, width, across, north, down, height)))
        if text := coordinate_system(place):
            system |= {"crs_wkt": text, "spatial_ref": text}  # as the conventions, and as GDAL has it
        if not is_turned(place.to_model):
            rows, columns, told = north + rows * height, west + columns * width, _axes(place)
    group[ROW][:], group[COLUMN][:] = rows, columns
    for name, attributes in ((GRID, system), *told.items()):
        group[name].attrs.put(attributes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Zarr 3 does not ask for it; xarray does
        zarr.consolidate_metadata(group.store)


def _common(places: Sequence[Place | None]) -> Georeference | None:
    """The place that all of these are, where it is one."""
    known = [georeference_of(place) for place in places if place is not None]
    alike = bool(known) and len(known) == len(places) and all(_same(known[0], other) for other in known[1:])
    return known[0] if alike else None


def _axes(place: Georeference) -> dict[str, dict[str, str]]:
    """What the conventions call both axes."""
    if place.in_degrees:
        return {
            ROW: {"standard_name": "latitude", "long_name": "latitude", "units": "degrees_north", "axis": "Y"},
            COLUMN: {"standard_name": "longitude", "long_name": "longitude", "units": "degrees_east", "axis": "X"},
        }
    unit = UNITS.get(place.key(LINEAR_UNIT) or METRE, "m")
    return {
        ROW: {"standard_name": "projection_y_coordinate", "long_name": "northing", "units": unit, "axis": "Y"},
        COLUMN: {"standard_name": "projection_x_coordinate", "long_name": "easting", "units": unit, "axis": "X"},
    }


def _same(one: Georeference, other: Georeference) -> bool:
    cell = float(np.abs(one.to_model[:, :2]).max())
    return one.keys == other.keys and bool(np.abs(one.to_model - other.to_model).max() <= SAME_PLACE * cell)
