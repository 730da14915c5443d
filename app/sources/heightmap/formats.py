"""The table of heightmap formats. The file dialog, the drop handler and the documentation derive from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.errors import UserError
from app.sources.heightmap.numpy_files import read_npy, read_npz
from app.sources.heightmap.raster import Raster


@dataclass(frozen=True)
class Format:
    """A kind of file that can be read: how it is called, told by and decoded."""

    name: str  # as in "cannot read hills.png as ..."
    suffixes: tuple[str, ...]  # in lower case, with the dot
    read: Callable[[Path], Raster]


FORMATS: tuple[Format, ...] = (
    Format("a NumPy array", (".npy",), read_npy),
    Format("a NumPy archive", (".npz",), read_npz),
)

SUFFIXES: dict[str, Format] = {suffix: format for format in FORMATS for suffix in format.suffixes}


def format_of(path: Path) -> Format:
    """The format that a file's suffix tells."""
    format = SUFFIXES.get(path.suffix.lower())
    if format is None:
        raise UserError(f"{path}: a heightmap's name must end in one of {', '.join(SUFFIXES)}")
    return format
