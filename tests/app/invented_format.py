"""A format of heights, as somebody would add it: a reader, a writer, and a row of each table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.export import heights
from app.export.heights import HeightFormat, Heights
from app.files.atomic import write_atomically
from app.model.errors import UserError
from app.sources import heightmap
from app.sources.heightmap import formats
from app.sources.heightmap.formats import Format
from app.sources.heightmap.raster import Raster, check_size


def read_table(path: Path) -> Raster:
    """Heights in metres, the rows from the north, without a cell size."""
    lines = path.read_text(encoding="utf-8").splitlines()
    columns = len(lines[0].split(",")) if lines else 0
    check_size(len(lines), columns)
    try:
        samples = np.array([[float(word) for word in line.split(",")] for line in lines])
    except ValueError as error:
        raise UserError(f"expected {columns} numbers in each line, with commas between them: {error}") from None
    return Raster(samples)


def write_table(path: Path, land: Heights) -> None:
    with write_atomically(path) as file:
        np.savetxt(file, land.values, fmt="%.9g", delimiter=",")


# Added from outside. In the program these are rows of the two tables.
TABLE = Format("a table of heights", (".csv",), read_table)
heightmap.FORMATS = formats.FORMATS = (*formats.FORMATS, TABLE)
formats.SUFFIXES[".csv"] = TABLE
heights.HEIGHT_FORMATS["csv"] = HeightFormat("table of heights, in metres", ".csv", write_table, 10.0)
