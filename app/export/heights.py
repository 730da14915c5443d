"""Heights as files: a table of formats, and the scale that a game engine must be given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.export.geotiff import NODATA, Band, write_geotiff
from app.export.projection import projection_text
from app.export.sheet import Sheet
from app.files.atomic import write_atomically, write_atomically_by_path
from app.model.errors import UserError
from app.model.georeference import is_turned

Numbers = NDArray[np.float64]

MOST_SHADES = 65535  # largest number of 16 bits

# Permitted numbers of vertices per side of a landscape, from the manuals of the engines.
ENGINES: dict[str, tuple[int, ...]] = {
    "unity": (33, 65, 129, 257, 513, 1025, 2049, 4097),
    "unreal": (127, 253, 505, 1009, 2017, 4033, 8129),
}


@dataclass(frozen=True)
class Heights:
    """Heights in metres, [row, column], row 0 in the north, in the cells of a sheet."""

    values: Numbers
    sheet: Sheet
    help: str = ""  # description
    span: tuple[float, float] | None = None  # lowest and highest height of all tiles, if this is a tile

    @property
    def lowest(self) -> float:
        return self.span[0] if self.span else float(self.values.min())

    @property
    def relief(self) -> float:
        """Difference of highest and lowest height; 1 m if all is level, as it is a divisor."""
        return (self.span[1] if self.span else float(self.values.max())) - self.lowest or 1.0

    def tile(self, top: int, left: int, rows: int, columns: int) -> Heights:
        """A rectangle of them, with the span of all."""
        values = self.values[top : top + rows, left : left + columns]
        span = self.lowest, float(self.values.max())
        return Heights(values, self.sheet.part(top, left, rows, columns), self.help, span)

    def shades(self) -> NDArray[np.uint16]:
        """Heights as integers, 0 for the lowest and 65535 for the highest."""
        parts = (self.values - self.lowest) / self.relief
        return np.rint(MOST_SHADES * parts).astype(np.uint16)


# File names of tiles that importers recognize: Unity's Terrain Toolbox (mode "Batch") wants the indices eastward and
# northward, Unreal those eastward and southward.
TILE_NAMES: dict[str, Callable[[int, int, int], str]] = {
    "unity": lambda row, column, tiles: f"_{column}_{tiles - 1 - row}",
    "unreal": lambda row, column, tiles: f"_x{column}_y{row}",
}


def tile_name(side: str, row: int, column: int, tiles: int) -> str:
    """Suffix of the file name of a tile; `tiles` is their number per side, from the north-western corner."""
    return TILE_NAMES[side](row, column, tiles) if side in TILE_NAMES else f"_{row}_{column}"


# Writers. Each one writes the whole file or leaves the previous one.


def _write_png(path: Path, heights: Heights) -> None:
    from imagecodecs import png_encode

    with write_atomically(path) as file:
        file.write(png_encode(heights.shades()))


def _write_raw(path: Path, heights: Heights) -> None:
    with write_atomically(path) as file:
        file.write(heights.shades().astype("<u2").tobytes())


def _write_tiff(path: Path, heights: Heights) -> None:
    band = Band(heights.help or "height", "m")
    write_geotiff(path, heights.values.astype(np.float32), heights.sheet.place, (band,), heights.sheet.unmapped)


def _write_exr(path: Path, heights: Heights) -> None:
    write_exr(path, {"Y": heights.values.astype(np.float32)})


def _write_npy(path: Path, heights: Heights) -> None:
    with write_atomically(path) as file:
        np.save(file, heights.values, allow_pickle=False)


def _write_grid(path: Path, heights: Heights) -> None:
    """Write square cells, the only ones that ArcGIS reads, and a `.prj` file if the coordinate system is known."""
    place = heights.sheet.place
    (dx, _, west), (_, dy, north) = place.to_model.tolist()
    if is_turned(place.to_model) or not dx > 0.0 > dy:
        raise UserError(
            f"cannot write {path}: the rows of this land do not run from west to east in its coordinates, as those of "
            "an ASCII grid must; a GeoTIFF (.tif) has its place"
        )
    if abs(dx + dy) <= 1e-9 * dx:
        cell, values, unmapped = dx, heights.values, heights.sheet.unmapped
    else:
        cell = min(dx, -dy)
        values = _in_squares(heights.values, -dy / cell, dx / cell)
        unmapped = heights.sheet.unmapped
        if unmapped is not None:
            unmapped = _in_squares(unmapped.astype(np.float64), -dy / cell, dx / cell) >= 0.5
    rows, columns = values.shape
    south = north - rows * cell
    head = f"ncols {columns}\nnrows {rows}\nxllcorner {west!r}\nyllcorner {south!r}\ncellsize {cell!r}\n"
    with write_atomically(path) as file:
        file.write(f"{head}NODATA_value {NODATA:g}\n".encode())
        np.savetxt(file, values if unmapped is None else np.where(unmapped, NODATA, values), fmt="%.9g")
    beside = path.with_suffix(".prj")
    if text := projection_text(place):
        with write_atomically(beside) as file:
            file.write(text.encode())
    else:
        beside.unlink(missing_ok=True)  # that of a previous grid would give wrong coordinates


def _in_squares(values: Numbers, down: float, across: float) -> Numbers:
    """Resample values [row, column] of cells that measure `down` × `across` squares to these squares.

    Linear between the centres of cells, constant beyond the outermost ones. The last square ends within half its side
    of the last cell.
    """
    for axis, squares in ((0, down), (1, across)):
        count = values.shape[axis]
        middles = (np.arange(max(round(count * squares), 1)) + 0.5) / squares - 0.5
        middles = middles.clip(0.0, count - 1.0)
        before = np.minimum(middles.astype(np.intp), max(count - 2, 0))
        part = np.expand_dims(middles - before, 1 - axis)
        after = np.minimum(before + 1, count - 1)
        values = values.take(before, axis) * (1.0 - part) + values.take(after, axis) * part
    return values


def write_exr(path: Path, channels: dict[str, NDArray[Any]]) -> None:
    """Write an EXR of named channels, [row, column], in float32 or uint32."""
    import OpenEXR

    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    whole = {name: np.ascontiguousarray(values) for name, values in channels.items()}
    with write_atomically_by_path(path) as part:
        OpenEXR.File(header, whole).write(str(part))


@dataclass(frozen=True)
class HeightFormat:
    """A format of heights: description, suffix, writer, and approximate size."""

    help: str
    suffix: str
    write: Callable[[Path, Heights], None]
    bytes_per_cell: float
    scaled: bool = False  # whether heights are integers from 0 to 65535, with their scale in a text file


HEIGHT_FORMATS: dict[str, HeightFormat] = {
    "tif": HeightFormat("GeoTIFF, float32 metres", ".tif", _write_tiff, 3.0),
    "png": HeightFormat("PNG of 16 bits", ".png", _write_png, 1.5, scaled=True),
    "r16": HeightFormat("raw 16-bit integers, little-endian, for Unity and Unreal", ".r16", _write_raw, 2.0, True),
    "raw": HeightFormat("the same under Unity's name", ".raw", _write_raw, 2.0, True),
    "exr": HeightFormat("OpenEXR, float32 metres in channel Y", ".exr", _write_exr, 3.0),
    "asc": HeightFormat("Esri ASCII grid, in square cells", ".asc", _write_grid, 10.0),
    "npy": HeightFormat("NumPy array, float64 metres", ".npy", _write_npy, 8.0),
}


# Settings for engines.


def engine_side(engine: str, rows: int, columns: int) -> int:
    """The permitted number of vertices of an engine that is nearest, as a ratio, to the longer side of a map."""
    return min(ENGINES[engine], key=lambda side: abs(np.log(side / max(rows, columns))))


def scale_text(heights: Heights) -> str:
    """The settings of engines with which 16-bit heights have their true size. Lengths in metres.

    The size of a terrain in Unity is that from the first vertex to the last. In Unreal shade 32768 is height 0, lengths
    are centimetres, and a Z scale of 100 makes all shades span 512 m (manual, "Landscape technical guide").
    """
    sheet, lowest, relief = heights.sheet, heights.lowest, heights.relief
    east, south = (sheet.columns - 1) * sheet.width, (sheet.rows - 1) * sheet.height
    zero = lowest + relief * 32768 / MOST_SHADES
    told = sheet.window.told + "\n" if sheet.window and sheet.window.told else ""
    return f"""\
{sheet.columns} × {sheet.rows} heights, 16 bits, little-endian, rows from the north
height = {lowest:.10g} m + shade × {relief / MOST_SHADES:.10g} m   (shades 0 to 65535: {lowest:.10g} m to {lowest + relief:.10g} m)
spacing: {sheet.width:.10g} m from west to east, {sheet.height:.10g} m from north to south
{told}
Unity    Import Raw: depth 16 bit, byte order Windows, resolution {sheet.columns} × {sheet.rows}, flip vertically
         terrain width {east:.10g}, length {south:.10g}, height {relief:.10g}; position y {lowest:.10g}
Unreal   Import from file: scale X {100 * sheet.width:.10g}, Y {100 * sheet.height:.10g}, Z {100 * relief * 128 / MOST_SHADES:.10g}
         location Z {100 * zero:.10g}
"""  # noqa: E501
