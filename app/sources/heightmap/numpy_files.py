"""NumPy's own files: `.npy`, one array, and `.npz`, several arrays by name. Never unpickled."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import Georeference
from app.sources.heightmap.geography import in_bounds, looks_like_degrees, metres_per_degree
from app.sources.heightmap.raster import Raster, check_array

# The array of an NPZ file that is the map, if there are several that could be.
ELEVATION = "elevation"
# What makes an NPZ file a saved world.
META = "meta"
# More than the header of any array that could be a map: bytes.
LONGEST_HEADER = 16_384


def is_saved_world(path: str | Path) -> bool:
    """Whether a file is a world that this program saved. Reads only the archive's table of contents."""
    if not Path(path).is_file():  # to open a pipe would wait for its other end
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{META}.npy" in archive.namelist()
    except Exception:  # whatever is wrong with it, it is for its reader to say
        return False


def read_npy(path: Path) -> Raster:
    """One 2-D array of metres, without a cell size."""
    with path.open("rb") as file:
        shape, dtype = _read_header(file)
        check_array(shape, dtype)
        file.seek(0)
        return Raster(np.lib.format.read_array(file, allow_pickle=False))


def read_npz(path: Path) -> Raster:
    """The 2-D array named `elevation`, or the only 2-D array, in metres.

    Cells are `cell_size` metres wide and high, or `dx` wide and `dy` high: degrees if `xmin`, `xmax`, `ymin` and `ymax`
    are longitudes and latitudes, metres otherwise.
    """
    with zipfile.ZipFile(path) as archive:
        headers = {}
        for member in archive.namelist():
            if member.endswith(".npy"):
                with archive.open(member) as file:
                    headers[member.removesuffix(".npy")] = _read_header(file)
        shape, dtype = headers[name := _choose_map(headers)]
        check_array(shape, dtype)
        numbers = {
            key: float(_read_member(archive, key).reshape(()))
            for key, (shape, dtype) in headers.items()
            if math.prod(shape) == 1 and dtype.kind in "iuf"
        }
        samples = _read_member(archive, name)
    width, height = _cell_sides(numbers)
    return Raster(samples, cell_width=width, cell_height=height)


def place_of_npz(path: Path, rows: int, columns: int) -> Georeference | None:
    """The georeference of an archive that was resampled to these cells, by `xmin`, `xmax`, `ymin` and `ymax`."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in ("xmin", "xmax", "ymin", "ymax") if f"{name}.npy" in archive.namelist()]
        bounds = []
        for name in names:
            with archive.open(f"{name}.npy") as file:
                shape, dtype = _read_header(file)
            if math.prod(shape) == 1 and dtype.kind in "iuf":
                bounds.append(float(_read_member(archive, name).reshape(())))
    if len(bounds) < 4:
        return None
    west, east, *latitudes = bounds
    return in_bounds(west, min(latitudes), east, max(latitudes), rows, columns)


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array. Only the start is read, since a header can claim to be as long as memory."""
    file = io.BytesIO(file.read(LONGEST_HEADER))
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    return shape, dtype


def _read_member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _choose_map(headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> str:
    if ELEVATION in headers:
        return ELEVATION
    maps = [name for name, (shape, _) in headers.items() if len(shape) == 2]
    if len(maps) == 1:
        return maps[0]
    if maps:
        raise UserError(f"it holds several 2-D arrays ({', '.join(maps)}); name the one that is the map '{ELEVATION}'")
    held = ", ".join(headers) or "nothing"
    raise UserError(f"it holds no 2-D array (only {held}); expected one, [row, column], named '{ELEVATION}'")


def _cell_sides(numbers: dict[str, float]) -> tuple[float | None, float | None]:
    """Width and height of a cell in metres."""
    if "cell_size" in numbers:
        return numbers["cell_size"], numbers["cell_size"]
    if "dx" not in numbers and "dy" not in numbers:
        return None, None
    dx = abs(numbers.get("dx", numbers.get("dy", 0.0)))
    dy = abs(numbers.get("dy", dx))
    if {"xmin", "xmax", "ymin", "ymax"} <= numbers.keys():
        # Some files call the latitude of the first row `ymin` although it lies in the north.
        south, north = sorted((numbers["ymin"], numbers["ymax"]))
        if looks_like_degrees(numbers["xmin"], south, numbers["xmax"], north, max(dx, dy)):
            east_west, north_south = metres_per_degree((south + north) / 2)
            return dx * east_west, dy * north_south
    return dx, dy
