"""Esri ASCII grid: a header of names and numbers, then the rows from the north, in metres."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.model.errors import UserError
from app.model.georeference import Georeference
from app.sources.heightmap.geography import in_bounds, looks_like_degrees, metres_per_degree
from app.sources.heightmap.raster import Raster, check_size

# More than any header has, in lines and in bytes per line.
LONGEST_HEADER = 20
LONGEST_LINE = 1024


def read_ascii_grid(path: Path) -> Raster:
    """Cells are `cellsize` wide and high, or `dx` wide and `dy` high.

    They are degrees if the lower left corner and the size of the map fit on the globe, metres otherwise.
    """
    with path.open("rb") as file:
        header = _read_header(file)
        columns, rows = _whole_number(header, "ncols"), _whole_number(header, "nrows")
        check_size(rows, columns)
        # One more than there should be, to notice if there are more.
        samples = np.fromfile(file, np.float64, rows * columns + 1, sep=" ")
    if samples.size != rows * columns:
        found = "more" if samples.size > rows * columns else str(samples.size)
        raise UserError(f"its header declares {columns} by {rows} cells, {rows * columns} values; found {found}")
    samples = samples.reshape(rows, columns)
    missing = samples == header["nodata_value"] if "nodata_value" in header else None
    width, height = _cell_sides(header, rows, columns)
    return Raster(samples, missing, width, height)


def place_of_grid(path: Path, rows: int, columns: int) -> Georeference | None:
    """The georeference of a grid that was resampled to these cells. The format names no coordinate system."""
    with path.open("rb") as file:
        header = _read_header(file)
    dx = header.get("dx", header.get("cellsize"))
    dy = header.get("dy", header.get("cellsize"))
    if dx is None or dy is None:
        return None
    file_columns, file_rows = _whole_number(header, "ncols"), _whole_number(header, "nrows")
    west = header.get("xllcorner", header.get("xllcenter", 0.5 * dx) - 0.5 * dx)
    south = header.get("yllcorner", header.get("yllcenter", 0.5 * dy) - 0.5 * dy)
    return in_bounds(west, south, west + file_columns * dx, south + file_rows * dy, rows, columns)


def _read_header(file: BinaryIO) -> dict[str, float]:
    """The numbers at the top by their names in lower case. Leaves the file at the first row of values."""
    header: dict[str, float] = {}
    for _ in range(LONGEST_HEADER):
        start = file.tell()
        words = file.readline(LONGEST_LINE).decode("ascii", "replace").split()
        if not words:
            continue
        name = words[0].lower()
        if not name[0].isalpha() or name in ("nan", "inf"):
            file.seek(start)
            break
        try:
            header[name] = float(words[1])
        except (IndexError, ValueError):
            raise UserError(f"its header says {' '.join(words)[:40]!r}; expected a name and a number") from None
    return header


def _whole_number(header: dict[str, float], name: str) -> int:
    value = header.get(name)
    if value is None or not value.is_integer():
        fault = "lacks" if value is None else f"says {value:g} for"
        raise UserError(f"its header {fault} {name}; expected lines such as 'ncols 400', 'nrows 300', 'cellsize 30'")
    return int(value)


def _cell_sides(header: dict[str, float], rows: int, columns: int) -> tuple[float | None, float | None]:
    """Width and height of a cell in metres."""
    dx = header.get("dx", header.get("cellsize"))
    dy = header.get("dy", header.get("cellsize"))
    if dx is None or dy is None:
        return None, None
    west = header.get("xllcorner", header.get("xllcenter"))
    south = header.get("yllcorner", header.get("yllcenter"))
    if west is None or south is None:
        return dx, dy
    if not looks_like_degrees(west, south, west + columns * dx, south + rows * dy, max(dx, dy)):
        return dx, dy
    east_west, north_south = metres_per_degree(south + rows * dy / 2)
    return dx * east_west, dy * north_south
