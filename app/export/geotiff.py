"""GeoTIFF: maps with georeference, units, descriptions and NODATA."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from app.files.atomic import write_atomically
from app.model.georeference import Georeference

if TYPE_CHECKING:
    from app.model.georeference import Tag

NODATA = -9999.0
NO_NUMBER = 255  # NODATA of bytes: masks, Strahler orders, flow directions, materials
NODATA_TAG = 42113  # of GDAL: a number as text
METADATA_TAG = 42112  # of GDAL: XML
TILE = 256  # cells per side of a tile of the file


@dataclass(frozen=True)
class Band:
    """Description and unit of a band; the unit may be empty."""

    description: str
    unit: str = ""


def write_geotiff(
    path: Path,
    values: NDArray[Any],
    place: Georeference | None,
    bands: Sequence[Band],
    unmapped: NDArray[np.bool_] | None = None,
    *,
    optimised: bool = True,
) -> None:
    """Write [row, column] or [row, column, band], compressed without loss.

    Cells that are `unmapped`, [row, column], are NODATA. If `optimised` and rasterio is installed, the file is a
    cloud-optimised GeoTIFF (COG) with overviews. GDAL writes it, and drops some keys, such as the unit of heights.
    """
    import tifffile

    tags: list[Tag] = list(place.tags()) if place else []
    tags.append((METADATA_TAG, "s", 0, metadata(bands), True))
    if unmapped is not None:
        nothing = NO_NUMBER if values.dtype == np.uint8 else NODATA
        values = np.where(unmapped if values.ndim == 2 else unmapped[..., None], values.dtype.type(nothing), values)
        tags.append((NODATA_TAG, "s", 0, f"{nothing:g}", True))
    whole = io.BytesIO()
    tifffile.imwrite(
        whole,
        values,
        photometric="minisblack",
        planarconfig="contig" if values.ndim == 3 else None,
        compression="zlib",
        predictor=True,
        metadata=None,
        extratags=tags,
        tile=(TILE, TILE) if max(values.shape[:2]) > TILE else None,
    )
    content = _optimised(whole.getvalue(), values) if optimised else whole.getbuffer()
    with write_atomically(path) as file:  # not by GDAL, whose messages on a full disk are unclear
        file.write(content)


def metadata(bands: Sequence[Band]) -> str:
    """The units and descriptions of bands as metadata of GDAL, in ASCII."""
    items = [
        f'<Item name="{name}" sample="{number}" role="{role}">{escape(text)}</Item>'
        for number, band in enumerate(bands)
        for name, role, text in (
            ("DESCRIPTION", "description", band.description),
            ("UNITTYPE", "unittype", band.unit),
        )
        if text
    ]
    text = f"<GDALMetadata>{''.join(items)}</GDALMetadata>"
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _optimised(whole: bytes, values: NDArray[Any]) -> bytes:
    """Convert a GeoTIFF to a cloud-optimised one; unchanged if rasterio is not installed."""
    try:
        import rasterio.io
        import rasterio.shutil
    except ImportError:
        return whole
    is_amount = values.dtype.kind == "f"
    options = {
        "compress": "DEFLATE",
        "predictor": "FLOATING_POINT" if is_amount else "STANDARD",
        "overview_resampling": "AVERAGE" if is_amount else "NEAREST",
    }
    with rasterio.io.MemoryFile(whole) as memory, memory.open() as source, rasterio.io.MemoryFile(ext=".tif") as made:
        rasterio.shutil.copy(source, made.name, driver="COG", **options)
        content: bytes = made.read()
    return content
