"""Where on Earth a map lies, as a GeoTIFF says."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.model.georeference import KEY_DIRECTORY, KEY_DOUBLES, KEY_KINDS, KEY_TEXTS, Georeference, Tag
from app.sources.heightmap.tiff import georeference, north_up

if TYPE_CHECKING:
    from tifffile import TiffPage

log = logging.getLogger(__name__)

PIXEL_IS_POINT = 2  # GTRasterTypeGeoKey: positions are those of the cells' middles
VERTICAL_UNITS, METRE = 4099, 9001  # VerticalUnitsGeoKey


def read_georeference(path: Path, rows: int, columns: int) -> Georeference | None:
    """The georeference of a file that was resampled to `rows` and `columns`, or None.

    The map has its first row in the north and its heights in metres, whatever the file has.
    """
    import tifffile

    try:
        file = tifffile.TiffFile(path)
    except tifffile.TiffFileError:
        return None
    with file:
        page = file.pages.first
        place = place_of_page(page)
        return place and place.in_cells(page.imagewidth / columns, page.imagelength / rows)


def place_of_page(page: TiffPage) -> Georeference | None:
    """The georeference of a page, with its first row in the north."""
    to_model, names = georeference(page)
    if to_model is None:
        return None
    pixel_is_point = names.get("GTRasterTypeGeoKey") == PIXEL_IS_POINT
    if pixel_is_point:
        to_model = to_model - 0.5 * np.outer(to_model[:, 0] + to_model[:, 1], (0.0, 0.0, 1.0))
    _, _, to_model = north_up(to_model, page.imagelength, page.imagewidth)
    try:
        keys = _keys(page)
    except ValueError as error:
        log.warning("%s: its GeoTIFF keys are not used: %s", page.parent.filename, error)
        keys = ()
    return Georeference(to_model, keys, pixel_is_point)


def _keys(page: TiffPage) -> tuple[Tag, ...]:
    """The coordinate system of a page with heights in metres. Raises `ValueError` if it is damaged."""
    keys: list[Tag] = []
    for number, name in ((KEY_DIRECTORY, "SHORT"), (KEY_DOUBLES, "DOUBLE"), (KEY_TEXTS, "ASCII")):
        kind = KEY_KINDS[number]
        tag = page.tags.get(number)
        if tag is None:
            continue
        if tag.dtype_name != name:
            raise ValueError(f"tag {number} is of type {tag.dtype_name}; must be {name}")
        value = tag.value
        if number == KEY_DIRECTORY:
            value = _with_metres(np.atleast_1d(value))
        if number == KEY_DOUBLES:
            value = np.atleast_1d(value).tolist()
        if number == KEY_TEXTS and not (isinstance(value, str) and value.isascii()):
            raise ValueError(f"tag {number} is no ASCII text")
        keys.append((number, kind, 0 if kind == "s" else len(value), value, True))
    return tuple(keys)


def _with_metres(directory: NDArray[np.int64]) -> tuple[int, ...]:
    """A key directory, four numbers to an entry, whose heights are metres."""
    entries = directory.reshape(-1, 4)
    entries[1:][entries[1:, 0] == VERTICAL_UNITS, 3] = METRE
    return tuple(entries.reshape(-1).tolist())
