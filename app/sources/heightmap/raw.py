"""Raw samples without a header, little-endian, row by row from the north, as game engines and terrain tools write them.

The map is square, unless the file's name ends in its size: `valley_1024x512.r16` is 1024 columns by 512 rows.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from app.model.errors import UserError
from app.sources.heightmap.raster import Raster, check_size

SIZE_IN_NAME = re.compile(r"(?:^|[^0-9])([0-9]{1,5})x([0-9]{1,5})$")


def read_raw_16(path: Path) -> Raster:
    """Unsigned 16-bit integers: 0 is the lowest, 65535 the highest."""
    return _read(path, np.dtype("<u2"), full_scale=65535.0)


def read_raw_float(path: Path) -> Raster:
    """32-bit floats, metres."""
    return _read(path, np.dtype("<f4"), full_scale=None)


def _read(path: Path, dtype: np.dtype[np.generic], full_scale: float | None) -> Raster:
    size = path.stat().st_size
    rows, columns = _shape(path.stem, size, dtype)
    check_size(rows, columns)
    return Raster(np.fromfile(path, dtype, rows * columns).reshape(rows, columns), full_scale=full_scale)


def _shape(stem: str, size: int, dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """Rows and columns of a file with `size` bytes."""
    if match := SIZE_IN_NAME.search(stem):
        columns, rows = int(match[1]), int(match[2])
    else:
        rows = columns = math.isqrt(size // dtype.itemsize)
    expected = rows * columns * dtype.itemsize
    if size != expected:
        why = "as its name says" if match else "the nearest square (others need a name such as hills_640x480.r16)"
        raise UserError(
            f"it has {size} bytes; {columns} columns by {rows} rows of {dtype.itemsize} bytes, {why}, take {expected}"
        )
    return rows, columns
