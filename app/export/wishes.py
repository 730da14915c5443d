"""What a person wants written, from words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.export.heights import ENGINES, HEIGHT_FORMATS
from app.export.landscape import SURFACES
from app.export.map_files import LAYERED, MAP_FORMATS
from app.export.maps import ALL, MAP_NAMES
from app.export.meshes import MESH_FORMATS, PRINTED, Print
from app.export.pictures import PAPERS, PICTURE_FORMATS, PICTURES
from app.export.trees import TREE_FORMATS
from app.model.errors import UserError, nearest
from app.model.world import LARGEST_SIDE, SMALLEST_SIDE

AS_USUAL = Print()
TILES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Wishes:
    """What shall be written: names from the tables of formats, surfaces and maps."""

    heights: tuple[str, ...] = ()  # formats
    surfaces: tuple[str, ...] = ("ground",)
    maps: tuple[str, ...] = ()
    map_format: str = "tif"
    trees: tuple[str, ...] = ()  # formats
    meshes: tuple[str, ...] = ()  # formats
    triangles: int = 200_000  # of a mesh at most
    tiles: int = 1  # along each side of meshes, a power of two
    texture: int = 2048  # pixels along the longer side of the ground's colours; 0: none
    printed: Print = AS_USUAL
    pictures: tuple[str, ...] = ()
    picture_format: str = "png"
    paper: str = "a4"
    dpi: int = 300
    side: str = ""  # of all maps: an engine, a number of cells, or WIDTHxHEIGHT; empty: as the world has

    @property
    def any(self) -> bool:
        return bool(self.heights or self.maps or self.trees or self.meshes or self.pictures)

    def checked(self) -> Wishes:
        """The same, where all of it is known. Raises `UserError`."""
        check_names("--heights", self.heights, HEIGHT_FORMATS)
        check_names("--surface", self.surfaces, SURFACES)
        check_names("--maps", self.maps, (*MAP_NAMES, ALL))
        check_names("--map-format", (self.map_format,), (*MAP_FORMATS, LAYERED))
        check_names("--trees", self.trees, TREE_FORMATS)
        check_names("--meshes", self.meshes, (*MESH_FORMATS, PRINTED))
        check_names("--pictures", self.pictures, PICTURES)
        check_names("--picture-format", (self.picture_format,), PICTURE_FORMATS)
        check_names("--paper", (self.paper,), PAPERS)
        if self.tiles not in TILES:
            raise UserError(f"--tiles {self.tiles}: must be one of {', '.join(map(str, TILES))}")
        read_side(self.side)
        return self


def check_names(option: str, names: Sequence[str], known: Iterable[str]) -> None:
    """Raise `UserError` where one of several names is not among those that are known."""
    known = list(known)
    for name in names:
        if name not in known:
            raise UserError(f"{option} {name}: there is no such name{nearest(name, known)}")


def read_side(text: str) -> str | tuple[int, int] | None:
    """An engine by its name, or columns and rows, of which 0 is in proportion; None: as the world has.

    Raises `UserError`.
    """
    if not text or text in ENGINES:
        return text or None
    match = re.fullmatch(r"(\d{1,9})(?:[x×](\d{1,9}))?", text.strip())
    sides = [int(side) for side in match.groups() if side] if match else []
    if not sides or not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides):
        raise UserError(
            f"--side {text}: must be {', '.join(ENGINES)}, a number of cells or WIDTHxHEIGHT, "
            f"each from {SMALLEST_SIDE} to {LARGEST_SIDE}"
        )
    return sides[0], sides[1] if len(sides) == 2 else 0
