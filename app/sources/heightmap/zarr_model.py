"""A Zarr store as a model of which parts are read: a map as xarray writes it, by the CF conventions.

It lies where its coordinates say, which are the middles of cells. Its coordinate system is well-known text in the
attributes of its grid mapping.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import Georeference
from app.sources.heightmap.georeference import place_of_page
from app.sources.heightmap.models import Model, Samples
from app.sources.heightmap.tiff import UNITS_BY_NAME, georeference, north_up

if TYPE_CHECKING:
    import zarr

MARKS = "zarr.json", ".zgroup", ".zarray"  # files by which a folder is known
WELL_KNOWN_TEXT = "crs_wkt", "spatial_ref"  # attributes of a grid mapping
MISSING = "_FillValue", "missing_value"
DIMENSIONS = "_ARRAY_DIMENSIONS"  # by which xarray marks its arrays in format 2
UNEVEN = 0.01  # of a cell, by which the middles of cells may lie beside even ones
EASTWARD = frozenset({"x", "lon", "longitude", "easting"})  # usual names of the dimension of columns
GEOGRAPHIC = {"GTModelTypeGeoKey": 2}


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr store."""
    return any((path / mark).is_file() for mark in MARKS)


def open_zarr(path: Path) -> Model:
    """The one map of a store. Raises `UserError`."""
    try:
        import zarr
        from zarr import open as open_store
    except ModuleNotFoundError as error:
        raise UserError(f"{path}: a Zarr store needs the package zarr; pip install 'thalweg[sweep]' adds it") from error
    try:
        opened = open_store(str(path), mode="r")
    except Exception as error:  # whatever the library makes of a damaged one
        raise UserError(f"cannot read {path} as a Zarr store: {type(error).__name__}; it must be complete") from error
    store = {"map": opened} if isinstance(opened, zarr.Array) else dict(opened.arrays())
    array = _map_of(path, store)
    down, along = _dimensions(array) or ("", "")
    if down.lower() in EASTWARD and along.lower() not in EASTWARD:
        turned = f"transpose(..., '{along}', '{down}')"
        raise UserError(f"{path}: its map has columns before rows; it must have rows first: {turned} of xarray")
    rows, columns = array.shape[-2:]
    to_model = _to_model(store, array)
    from_south, from_east, place, names = False, False, None, dict[str, Any]()
    if to_model is not None:
        from_south, from_east, to_model = north_up(to_model, rows, columns)
        place, names = _place(to_model, store, array)
    missing = [number for value in _missing(array) if not math.isnan(number := _number(value, math.nan))]
    turn = slice(None, None, -1 if from_south else 1), slice(None, None, -1 if from_east else 1)
    first = (0,) * (array.ndim - 2)

    def read(wanted_rows: slice, wanted_columns: slice) -> tuple[Samples, NDArray[np.bool_] | None]:
        down = slice(rows - wanted_rows.stop, rows - wanted_rows.start) if from_south else wanted_rows
        along = slice(columns - wanted_columns.stop, columns - wanted_columns.start) if from_east else wanted_columns
        samples = np.asarray(array[(*first, down, along)])[turn]
        return samples, np.isin(samples, missing) if missing else None

    unit = UNITS_BY_NAME.get(str(array.attrs.get("units", "m")).lower(), 1.0)
    scale, offset = _number(array.attrs.get("scale_factor"), 1.0), _number(array.attrs.get("add_offset"), 0.0)
    return Model(rows, columns, read, place, names, scale * unit, offset * unit, band=array.chunks[-2])


def _map_of(path: Path, store: Mapping[str, zarr.Array]) -> zarr.Array:
    """The only array of numbers with rows and columns. Raises `UserError`."""
    maps = {
        name: array
        for name, array in store.items()
        if array.ndim >= 2 and array.dtype.kind in "iuf" and all(length == 1 for length in array.shape[:-2])
    }
    if len(maps) == 1:
        return next(iter(maps.values()))
    found = f"has {len(maps)} ({', '.join(sorted(maps))})" if maps else "has none"
    raise UserError(f"{path}: a Zarr store must have one map, of rows and columns of heights; it {found}")


def _to_model(store: Mapping[str, zarr.Array], array: zarr.Array) -> NDArray[np.float64] | None:
    """From [column, row, 1] of cells' corners to coordinates, (2, 3); None if these are not there, or not even.

    As rioxarray has it, an affine transformation in the attributes of the grid mapping is exact, and so comes first:
    unless coordinates say otherwise, as those of a part do, which keeps the transformation of the whole.
    """
    by_coordinates = _from_coordinates(store, array)
    said = [_number(part, math.nan) for part in str(_grid_mapping(store, array).get("GeoTransform", "")).split()]
    if len(said) != 6 or not all(map(math.isfinite, said)):
        return by_coordinates
    x, across, turned_across, y, turned_down, down = said
    transform = np.array([[across, turned_across, x], [turned_down, down, y]])
    if by_coordinates is None or turned_across or turned_down:
        return transform
    rows, columns = array.shape[-2:]
    ends = np.array([[0.5, columns - 0.5], [0.5, rows - 0.5], [1.0, 1.0]])
    apart = abs(transform @ ends - by_coordinates @ ends).max(axis=1)
    return transform if (apart <= UNEVEN * abs(by_coordinates.diagonal())).all() else by_coordinates


def _from_coordinates(store: Mapping[str, zarr.Array], array: zarr.Array) -> NDArray[np.float64] | None:
    """As `_to_model`, from the coordinates of rows and columns alone."""
    axes = []
    for name, count in zip(_dimensions(array) or (), array.shape[-2:], strict=False):
        along = store.get(name)
        if along is None or along.shape != (count,) or count < 2 or along.dtype.kind not in "iuf":
            return None
        middles = np.asarray(along[:], np.float64)
        step = (middles[-1] - middles[0]) / (count - 1)
        if not abs(middles - (middles[0] + step * np.arange(count))).max() <= UNEVEN * abs(step):
            return None
        axes.append((step, middles[0] - 0.5 * step))
    if len(axes) != 2:
        return None
    (down, y), (across, x) = axes
    return np.array([[across, 0.0, x], [0.0, down, y]])


def _missing(array: zarr.Array) -> list[object]:
    """What stands for no height; in format 2 xarray writes it as what chunks are filled with that are not there."""
    of_chunks = [array.fill_value] if array.metadata.zarr_format == 2 and DIMENSIONS in array.attrs else []
    return [*(array.attrs.get(key) for key in MISSING), *of_chunks]


def _dimensions(array: zarr.Array) -> tuple[str, str] | None:
    """The names of rows and columns, if they have any."""
    names = list(getattr(array.metadata, "dimension_names", None) or array.attrs.get(DIMENSIONS) or ())
    return (str(names[-2]), str(names[-1])) if len(names) == array.ndim else None


def _grid_mapping(store: Mapping[str, zarr.Array], array: zarr.Array) -> dict[str, Any]:
    """What is said of the coordinate system."""
    mapping = store.get(str(array.attrs.get("grid_mapping", "spatial_ref")))
    return {} if mapping is None else dict(mapping.attrs)


def _place(
    to_model: NDArray[np.float64], store: Mapping[str, zarr.Array], array: zarr.Array
) -> tuple[Georeference, dict[str, Any]]:
    """Where the map lies, and the names of its GeoTIFF keys, if its coordinate system is known."""
    attributes = _grid_mapping(store, array)
    text = next((str(attributes[key]) for key in WELL_KNOWN_TEXT if key in attributes), "")
    without = Georeference(to_model, ()), GEOGRAPHIC if text.startswith("GEOG") else {}
    if not text:
        return without
    try:
        import rasterio.errors
        import rasterio.io
        import tifffile
    except ModuleNotFoundError:
        return without
    try:
        with rasterio.io.MemoryFile() as memory:
            cells = rasterio.Affine(*to_model.reshape(-1))
            memory.open(driver="GTiff", width=1, height=1, count=1, dtype="uint8", crs=text, transform=cells).close()
            page = tifffile.TiffFile(io.BytesIO(memory.read())).pages.first
            known = place_of_page(page)
            return (Georeference(to_model, known.keys), georeference(page)[1]) if known else without
    except (ValueError, rasterio.errors.RasterioError):  # it describes no system that GDAL can express
        return without


def _number(value: object, otherwise: float) -> float:
    """An attribute that is a number: as itself, as text, or as the eight bytes that xarray writes in base 64."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    try:
        (number,) = struct.unpack("<d", base64.b64decode(str(value), validate=True))
    except (binascii.Error, struct.error):
        return otherwise
    return float(number)
