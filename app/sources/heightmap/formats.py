"""The table of heightmap formats. The file dialog, the drop handler and the documentation derive from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.model.errors import UserError
from app.model.georeference import Georeference
from app.sources.heightmap.ascii_grid import place_of_grid, read_ascii_grid
from app.sources.heightmap.exr import read_exr
from app.sources.heightmap.georeference import read_georeference
from app.sources.heightmap.hgt import place_of_hgt, read_hgt
from app.sources.heightmap.numpy_files import place_of_npz, read_npy, read_npz
from app.sources.heightmap.png import read_png
from app.sources.heightmap.raster import Raster
from app.sources.heightmap.raw import read_raw_16, read_raw_float
from app.sources.heightmap.tiff import read_tiff


@dataclass(frozen=True)
class Format:
    """A file format that can be read: its name, suffixes and decoder."""

    name: str  # as in "cannot read hills.png as ..."
    suffixes: tuple[str, ...]  # in lower case, with the dot
    read: Callable[[Path], Raster]
    place: Callable[[Path, int, int], Georeference | None] | None = None  # of a map read onto rows and columns


FORMATS: tuple[Format, ...] = (
    Format("a PNG image", (".png",), read_png),
    Format("a TIFF image", (".tif", ".tiff"), read_tiff, read_georeference),
    Format("a tile of SRTM", (".hgt",), read_hgt, place_of_hgt),
    Format("an OpenEXR image", (".exr",), read_exr),
    Format("an Esri ASCII grid", (".asc",), read_ascii_grid, place_of_grid),
    Format("a NumPy array", (".npy",), read_npy),
    Format("a NumPy archive", (".npz",), read_npz, place_of_npz),
    Format("raw 16-bit integers", (".r16", ".raw"), read_raw_16),
    Format("raw 32-bit floats", (".r32", ".f32"), read_raw_float),
)

SUFFIXES: dict[str, Format] = {suffix: format for format in FORMATS for suffix in format.suffixes}


def format_of(path: Path) -> Format:
    """The format of a file by its suffix."""
    format = SUFFIXES.get(path.suffix.lower())
    if format is None:
        raise UserError(f"{path}: a heightmap's name must end in one of {', '.join(SUFFIXES)}")
    return format
