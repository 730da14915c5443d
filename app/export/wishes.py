"""What an export writes: one table that defines the command line, the dialog and the checks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.export.heights import ENGINES, HEIGHT_FORMATS
from app.export.landscape import SURFACES
from app.export.map_files import LAYERED, MAP_FORMATS
from app.export.maps import ALL, FAMILIES, MAPS, MASK
from app.export.meshes import MESH_FORMATS, PRINTED, Print
from app.export.pictures import PAPERS, PICTURE_FORMATS, PICTURES
from app.export.trees import TREE_FORMATS
from app.export.vectors import VECTOR_FORMATS
from app.model.errors import UserError, nearest
from app.model.field_parameters import read_field
from app.model.world import LARGEST_SIDE, SMALLEST_SIDE

AS_USUAL = Print()
OF_WORLD = "world"  # the square cells that the world is computed in
FITS = {
    "add": "more land around it, as high as its edge, NODATA in GeoTIFF",
    "cut": "less land, from its middle",
}
TILES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Wishes:
    """A request for an export: names from the tables of formats, surfaces and maps."""

    heights: tuple[str, ...] = ()  # formats
    surfaces: tuple[str, ...] = ("ground",)
    maps: tuple[str, ...] = ()
    mask: str = ""  # an expression, written as a map of its own
    map_format: str = "tif"
    vectors: tuple[str, ...] = ()  # formats
    trees: tuple[str, ...] = ()  # formats
    meshes: tuple[str, ...] = ()  # formats
    triangles: int = 200_000  # at most, of a mesh
    tiles: int = 1  # along each side of meshes, a power of two
    texture: int = 2048  # pixels along the longer side of the ground's colours; 0: none
    printed: Print = AS_USUAL
    pictures: tuple[str, ...] = ()
    picture_format: str = "png"
    paper: str = "a4"
    dpi: int = 300
    side: str = ""  # of all maps: an engine, `world`, a number of cells, or WIDTHxHEIGHT; empty: that of the source
    fit: str = "add"  # how cells stay square if the proportions differ
    height_tiles: int = 1  # along each side of heights

    @property
    def any(self) -> bool:
        return bool(
            self.heights or self.maps or self.mask or self.vectors or self.trees or self.meshes or self.pictures
        )

    def value(self, path: str) -> Any:
        """The value for a row of `WISHES`."""
        name, _, part = path.partition(".")
        return getattr(getattr(self, name), part) if part else getattr(self, name)

    def with_value(self, path: str, value: Any) -> Wishes:
        """A copy with another value for a row of `WISHES`."""
        name, _, part = path.partition(".")
        return replace(self, **{name: replace(getattr(self, name), **{part: value}) if part else value})

    def checked(self) -> Wishes:
        """The same, validated. Raises `UserError`."""
        for wish in WISHES:
            wish.check(self.value(wish.path))
        read_side(self.side)
        try:
            read_field(self.mask)
        except UserError as error:
            raise UserError(f"--mask {self.mask}: {error}") from error
        return self


IN_A_FOLDER = Wishes(heights=("tif", "png"))  # by default


@dataclass(frozen=True)
class Wish:
    """One option of an export: a field of `Wishes`, and its permitted values.

    Values are one or several names from `known`, a number in a range, or a text.
    """

    path: str
    group: str
    option: str
    label: str
    help: str
    known: Mapping[str, str] | None = None
    several: bool = False
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    proposed: tuple[str, ...] = ()  # of a text

    @property
    def default(self) -> Any:
        return Wishes().value(self.path)

    def check(self, value: Any) -> None:
        """Raise `UserError` if a value is not permitted."""
        if self.known is not None:
            for name in value if self.several else (str(value),):
                if name not in self.known:
                    is_number = isinstance(value, int)
                    words = f"must be one of {', '.join(self.known)}" if is_number else "there is no such name"
                    hint = "" if is_number else nearest(name, self.known, "thalweg export --help")
                    raise UserError(f"{self.option} {name}: {words}{hint}")
        elif not isinstance(value, str) and not self.low <= value <= self.high:
            raise UserError(f"{self.option} {value:g}: must be from {self.low:g} to {self.high:g}")


def _helps(*tables: Mapping[str, Any], **more: str) -> dict[str, str]:
    return {name: row.help for table in tables for name, row in table.items()} | more


_SIDES = "; ".join(f"{name}: the nearest of {', '.join(map(str, sizes))}" for name, sizes in ENGINES.items())

# fmt: off
WISHES: tuple[Wish, ...] = (
    Wish("heights", "heights", "--heights", "formats", "formats of heights", _helps(HEIGHT_FORMATS), several=True),
    Wish("surfaces", "heights", "--surface", "surfaces", "which heights", SURFACES, several=True),
    Wish("side", "heights", "--side", "cells",
        f"cells of all maps: from west to east, or WIDTHxHEIGHT; {_SIDES}; {OF_WORLD}: the square cells of the world; "
        "empty: rows and columns of the heightmap that it came from",
        proposed=(*ENGINES, OF_WORLD)),
    Wish("fit", "heights", "--fit", "square cells", "how cells stay square where --side has other proportions", FITS),
    Wish("height_tiles", "heights", "--height-tiles", "tiles",
        "of heights along each side, which share their borders and one scale, with the names that the engine of --side "
        "knows; each has as many cells as --side says", {str(count): f"{count} × {count}" for count in TILES}),
    Wish("maps", "maps", "--maps", "maps", "maps", {ALL: "all that this world has"} | _helps(MAPS, **FAMILIES),
        several=True),
    Wish(MASK, "maps", "--mask", "mask",
        "where an expression of the land is true, such as slope < 20, as a map of its own"),
    Wish("map_format", "maps", "--map-format", "format", "of maps",
        _helps(MAP_FORMATS, **{LAYERED: "all as layers of one EXR"})),
    Wish("vectors", "vectors", "--vectors", "formats", "formats of rivers, watersheds and lakes",
        _helps(VECTOR_FORMATS), several=True),
    Wish("trees", "trees", "--trees", "formats", "formats of trees", _helps(TREE_FORMATS), several=True),
    Wish("meshes", "meshes", "--meshes", "formats", "formats of meshes",
        _helps(MESH_FORMATS, **{PRINTED: "closed blocks for printers, with water as a body of its own"}), several=True),
    Wish("triangles", "meshes", "--triangles", "triangles", "of the land at most; how far they are from it is told",
        low=2, high=10**8),
    Wish("tiles", "meshes", "--tiles", "tiles", "along each side, whose borders fit",
        {str(count): f"{count} × {count}" for count in TILES}),
    Wish("texture", "meshes", "--texture", "texture", "of the ground's colours along the longer side; 0: without",
        low=0, high=16384, unit="pixels"),
    Wish("printed.width", "meshes", "--print-width", "print width", "longer side of a printed block", low=1e-3,
        high=1e6, unit="mm"),
    Wish("printed.base", "meshes", "--print-base", "print base", "of a printed block, below the land", low=1e-3,
        high=1e6, unit="mm"),
    Wish("printed.exaggeration", "meshes", "--print-exaggeration", "print heights",
        "by which a printed block's heights are multiplied", low=1e-3, high=1e3),
    Wish("pictures", "pictures", "--pictures", "maps", "printed maps", _helps(PICTURES), several=True),
    Wish("picture_format", "pictures", "--picture-format", "format", "of printed maps",
        dict.fromkeys(PICTURE_FORMATS, "at the size of the paper")),
    Wish("paper", "pictures", "--paper", "paper", "size",
        {name: f"{width} × {height} mm" for name, (width, height) in PAPERS.items()}),
    Wish("dpi", "pictures", "--dpi", "dots per inch", "pixels of printed maps", low=36, high=1200, unit="dpi"),
)
# fmt: on


def read_side(text: str) -> str | tuple[int, int] | None:
    """The name of an engine, or columns and rows, where 0 rows means in proportion; None: those of the source.

    Raises `UserError` if the text is invalid.
    """
    if not text or text in (*ENGINES, OF_WORLD):
        return text or None
    match = re.fullmatch(r"(\d{1,9})(?:[x×](\d{1,9}))?", text.strip())
    sides = [int(side) for side in match.groups() if side] if match else []
    if not sides or not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides):
        raise UserError(
            f"--side {text}: must be {', '.join(ENGINES)}, {OF_WORLD}, a number of cells or WIDTHxHEIGHT, "
            f"each from {SMALLEST_SIDE} to {LARGEST_SIDE}"
        )
    return sides[0], sides[1] if len(sides) == 2 else 0
