"""TIFF and GeoTIFF: integers and floats of 8 to 64 bits. GeoTIFF has the cell size and the unit of heights."""

from __future__ import annotations

import contextlib
import logging
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import is_turned
from app.sources.heightmap.geography import looks_like_degrees, metres_per_degree
from app.sources.heightmap.raster import Raster, check_size, image_raster

if TYPE_CHECKING:
    from tifffile import TiffFile, TiffPage

log = logging.getLogger(__name__)

NODATA_TAG = 42113  # as GDAL writes it: a number as text
MOST_CHANNELS = 4
# Unsigned samples of at most this many bits are shades, wider ones are numbers.
SHADE_BITS = 16

# GTModelTypeGeoKey
GEOGRAPHIC = 2
# ProjLinearUnitsGeoKey and VerticalUnitsGeoKey: metre, foot, US survey foot.
METRES_PER_UNIT = {9001: 1.0, 9002: 0.3048, 9003: 1200.0 / 3937.0}
# VerticalCSTypeGeoKey of heights that are in feet: NAVD88, NGVD29.
UNIT_OF_HEIGHTS = {6360: 9003, 8228: 9002, 5702: 9003, 7968: 9003}
# Of a band, as GDAL writes it into its own tag.
GDAL_METADATA = 42112
UNITS_BY_NAME = {
    **dict.fromkeys(("m", "metre", "meter", "metres", "meters"), 1.0),
    **dict.fromkeys(("ft", "foot", "feet", "international foot"), 0.3048),
    **dict.fromkeys(("us survey foot", "ftus", "us-ft", "us survey feet", "survey_foot", "sft"), 1200.0 / 3937.0),
    **dict.fromkeys(("cm", "centimetre", "centimeter"), 0.01),
    **dict.fromkeys(("dm", "decimetre", "decimeter"), 0.1),
}
ROLE = re.compile(r'<Item\b[^<>]*\bsample="0" role="(scale|offset|unittype)">([^<]{1,40})</Item>', re.IGNORECASE)
# GeogAngularUnitsGeoKey: radian, degree, grad.
DEGREES_PER_UNIT = {9101: math.degrees(1.0), 9102: 1.0, 9105: 0.9}


def read_tiff(path: Path) -> Raster:
    """The first page. Metres if the file has a cell size or its samples are signed or floats, shades otherwise."""
    import tifffile

    # It logs each oddity of a damaged file; what matters arrives as an exception.
    tifffile.logger().setLevel(logging.CRITICAL + 1)
    with tifffile.TiffFile(path) as file:
        page = file.pages.first
        check_size(page.imagelength, page.imagewidth)
        if page.imagedepth != 1 or not 1 <= page.samplesperpixel <= MOST_CHANNELS:
            raise UserError(
                f"it has {page.imagedepth} layers of {page.samplesperpixel} channels; "
                f"expected one layer of 1 to {MOST_CHANNELS} channels"
            )
        if page.photometric == tifffile.PHOTOMETRIC.SEPARATED:
            raise UserError("its colours are CMYK; expected shades of grey, or red, green and blue")
        pages = _pages(file)
        image = page.asarray()
        if page.axes == "SYX":
            image = np.moveaxis(image, 0, -1)
        missing = declared_missing(page, image)
        to_model, tags = georeference(page)
        scale, offset = heights_of(page, tags)
        bits = page.bitspersample
    if image.dtype.kind not in "iuf":
        raise UserError(f"it holds values of type {image.dtype}; expected integers or floats")

    width = height = None
    if to_model is not None:
        image, missing, to_model = _north_up(image, missing, to_model, path)
        width, height = cell_sides(to_model, image.shape[0], image.shape[1], tags)
    full_scale = full_scale_of(image.dtype, bits)
    raster = image_raster(image, full_scale, width, height)
    samples = raster.samples if (scale, offset) == (1.0, 0.0) else raster.samples * scale + offset
    known_missing = [mask for mask in (missing, raster.missing) if mask is not None]
    taken = " of ".join(filter(None, (raster.taken, f"the first of {pages} pages" if pages > 1 else "")))
    missing = np.logical_or.reduce(known_missing) if known_missing else None
    return Raster(samples, missing, width, height, full_scale, taken)


def full_scale_of(dtype: np.dtype[Any], bits: int) -> float | None:
    """The brightest sample of shades; None where samples are numbers."""
    return 2.0**bits - 1.0 if dtype.kind == "u" and bits <= SHADE_BITS else None


def heights_of(page: TiffPage, tags: dict[str, Any]) -> tuple[float, float]:
    """Metres for each unit of a sample, and metres of a sample of 0, by the GeoTIFF keys and what GDAL adds to them."""
    vertical = UNIT_OF_HEIGHTS.get(tags.get("VerticalCSTypeGeoKey", 0), 9001)
    unit = METRES_PER_UNIT.get(tags.get("VerticalUnitsGeoKey", vertical), 1.0)
    tag = page.tags.get(GDAL_METADATA)
    said = {role.lower(): text.strip() for role, text in ROLE.findall(str(tag.value))} if tag is not None else {}
    if name := said.get("unittype"):
        if name.lower() not in UNITS_BY_NAME:
            log.warning("%s: its heights are in %r, which is not known, and are taken as metres", _name(page), name)
        unit = UNITS_BY_NAME.get(name.lower(), 1.0)
    scale, offset = (_number(page, said, role, usual) for role, usual in (("scale", 1.0), ("offset", 0.0)))
    return scale * unit, offset * unit


def _number(page: TiffPage, said: dict[str, str], role: str, usual: float) -> float:
    """The value of the file, or the default."""
    try:
        number = float(said.get(role, usual))
    except ValueError:
        number = math.nan
    if math.isfinite(number) and (number or role != "scale"):
        return number
    log.warning("%s: the %s of its heights, %r, is no number, and is ignored", _name(page), role, said[role])
    return usual


def _name(page: TiffPage) -> str:
    return str(page.parent.filename)


def _pages(file: TiffFile) -> int:
    """How many maps a file holds: pages without those that show another one smaller. A damaged one ends the count."""
    maps: dict[int, bool] = {}
    with contextlib.suppress(Exception):
        for page in file.pages:
            if page.offset in maps:  # each says where the next one is, and that may be one of those before
                break
            maps[page.offset] = not getattr(page, "is_reduced", False)
    return sum(maps.values())


def declared_missing(page: TiffPage, image: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Where a map of one channel holds the value that the file declares to be NODATA."""
    tag = page.tags.get(NODATA_TAG)
    if tag is None or image.ndim != 2:
        return None
    try:
        marker = float(str(tag.value).strip(" \0"))
    except ValueError:
        log.warning("%s: the NODATA tag %r is not a number, and is ignored", page.parent.filename, tag.value)
        return None
    if image.dtype.kind == "f":
        # The text can have more digits than the samples.
        with np.errstate(over="ignore"):
            return np.asarray(image == image.dtype.type(marker))
    return np.asarray(image == marker)


def georeference(page: TiffPage) -> tuple[NDArray[np.float64] | None, dict[str, Any]]:
    """The affine map from [column, row, 1] to model coordinates [x, y], shape (2, 3), and the GeoTIFF keys."""
    tags: dict[str, Any] = (page.geotiff_tags or {}) if page.is_geotiff else {}
    if "ModelTransformation" in tags:
        return np.asarray(tags["ModelTransformation"], np.float64).reshape(4, 4)[[0, 1]][:, [0, 1, 3]], tags
    scale = page.tags.get("ModelPixelScaleTag")
    if scale is None:
        return None, tags
    scale_x, scale_y = float(scale.value[0]), float(scale.value[1])
    tiepoint = page.tags.get("ModelTiepointTag")
    column, row, _, x, y, _ = tiepoint.value[:6] if tiepoint is not None else (0.0,) * 6
    # The scale's y points north while rows go south.
    return np.array([[scale_x, 0.0, x - column * scale_x], [0.0, -scale_y, y + row * scale_y]]), tags


def _north_up(
    image: NDArray[Any], missing: NDArray[np.bool_] | None, to_model: NDArray[np.float64], path: Path
) -> tuple[NDArray[Any], NDArray[np.bool_] | None, NDArray[np.float64]]:
    """Image, mask and georeference with row 0 in the north and column 0 in the west."""
    from_south, from_east, to_model = north_up(to_model, *image.shape[:2])
    if from_south:
        image, missing = image[::-1], None if missing is None else missing[::-1]
    if from_east:
        image, missing = image[:, ::-1], None if missing is None else missing[:, ::-1]
    if is_turned(to_model):
        log.warning("%s: the map is turned; its first row is taken for the north", path)
    return image, missing, to_model


def north_up(to_model: NDArray[np.float64], rows: int, columns: int) -> tuple[bool, bool, NDArray[np.float64]]:
    """Whether the first row is in the south, whether the first column is in the east, and the georeference without."""
    to_model = to_model.copy()
    from_south, from_east = bool(to_model[1, 1] > 0.0), bool(to_model[0, 0] < 0.0)
    if from_south:
        to_model[:, 2] += to_model[:, 1] * rows
        to_model[:, 1] *= -1.0
    if from_east:
        to_model[:, 2] += to_model[:, 0] * columns
        to_model[:, 0] *= -1.0
    return from_south, from_east, to_model


def cell_sides(to_model: NDArray[np.float64], rows: int, columns: int, tags: dict[str, Any]) -> tuple[float, float]:
    """Width and height of a cell in metres."""
    width, height = (float(side) for side in np.hypot(to_model[0, :2], to_model[1, :2]))
    if not np.isfinite(to_model).all():
        raise UserError("its georeference holds a value that is not a finite number")
    south, north = to_model[1] @ (0.0, rows, 1.0), to_model[1] @ (columns, 0.0, 1.0)
    if degrees := degrees_of(to_model, rows, columns, tags):
        east_west, north_south = metres_per_degree(float(south + north) / 2 * degrees)
        return width * degrees * east_west, height * degrees * north_south
    metres = METRES_PER_UNIT.get(tags.get("ProjLinearUnitsGeoKey", 9001), 1.0)
    return width * metres, height * metres


def degrees_of(to_model: NDArray[np.float64], rows: int, columns: int, tags: dict[str, Any]) -> float:
    """Degrees per unit of coordinates; 0 if they are lengths."""
    if "GTModelTypeGeoKey" in tags:
        geographic = tags["GTModelTypeGeoKey"] == GEOGRAPHIC
    else:
        (west, south), (east, north) = (to_model @ (0.0, rows, 1.0), to_model @ (columns, 0.0, 1.0))
        geographic = looks_like_degrees(west, south, east, north, float(np.abs(to_model[:, :2]).max()))
    return DEGREES_PER_UNIT.get(tags.get("GeogAngularUnitsGeoKey", 9102), 1.0) if geographic else 0.0
