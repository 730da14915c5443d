"""Files of sheets: one land, and the changes of each picture.

title = "Wind over sand"
base = "article-wind"        # a preset, a generator or a file, which `thalweg` opens too
cycles = 3000

[changes.camera]             # of all pictures: sections as in a preset
pitch = 20.0

[[pictures]]
caption = "settling ×4"
preset = "article-settling-4"

[[pictures]]
caption = "less wind"
changes.climate.wind_speed = 0.35
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from app.engine.creation import read_size, size_in_cells
from app.files.opening import open_compared, open_scene
from app.files.paths import found, value_found
from app.files.text import read_text
from app.model.errors import UserError, nearest
from app.model.parameters import Declaration, Value, declarations, described, parameter
from app.scene.comparison import is_of_ground, with_compared_of
from app.scene.scene import (
    Scene,
    check_value,
    presets,
    read_toml,
    read_values,
    rebuilds_world,
)
from app.sources.generators import GENERATORS
from app.sources.terrain import is_there

CHANGES, PICTURES = "changes", "pictures"  # the tables of a sheet
MOST_PICTURES = 64
LONGEST_LINE = 120  # letters


def _check_line(text: str) -> None:
    if len(text) > LONGEST_LINE or not text.isprintable():
        raise UserError(f"'{text[:LONGEST_LINE]}' must be one line of up to {LONGEST_LINE} letters")


class SheetValues(msgspec.Struct, frozen=True, kw_only=True):
    """The values of a sheet for all pictures, besides `changes`."""

    title: Annotated[str, described("what stands over the pictures", check=_check_line)] = ""
    base: Annotated[str, described("the preset, generator or file whose land all pictures show")] = ""
    size: Annotated[str, described("of the land in cells, as --size; empty: that of the base")] = ""
    cycles: Annotated[int, parameter(0, 10_000_000, "after how many a world is shown")] = 0
    columns: Annotated[int, parameter(1, 16, "pictures in a row")] = 2
    width: Annotated[int, parameter(16, 4096, "of a picture", unit="pixels")] = 640
    height: Annotated[int, parameter(16, 4096, "of a picture", unit="pixels")] = 360


class PictureValues(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one picture, besides `changes`."""

    caption: Annotated[str, described("what stands in the picture", check=_check_line)] = ""
    preset: Annotated[str, described("the preset or saved world whose processes and climate it has")] = ""
    cycles: Annotated[int, parameter(0, 10_000_000, "after how many it is shown, where not as the sheet says")] = 0
    snowballs: Annotated[int, parameter(0, 10_000_000, "that fall instead of cycles, if any do")] = 0


Values = TypeVar("Values", SheetValues, PictureValues)


@dataclass(frozen=True)
class Variation:
    """One picture of a sheet: its scene, and the run of its world."""

    caption: str
    scene: Scene
    cycles: int
    snowballs: int  # that fall instead of cycles, if any


class Sheet:
    """A sheet from a file. Named sources are opened when needed."""

    def __init__(self, content: Mapping[str, Any], name: str, folder: Path) -> None:
        """`name` is that of the file, for errors; paths are relative to `folder`. Raises `UserError`."""
        self.name = name
        self._folder = folder
        own = {key: value for key, value in content.items() if key not in (CHANGES, PICTURES)}
        self.values = _values(SheetValues, own, name, "a sheet")
        for key in ("title", "base"):
            if not getattr(self.values, key):
                raise UserError(f"{name}: '{key}' is missing, which every sheet has")
        if self.values.size:
            read_size(self.values.size, f"{name}: size =")
        self._changes = _changes(content, name)
        pictures = content.get(PICTURES)
        if not isinstance(pictures, list) or not 1 <= len(pictures) <= MOST_PICTURES:
            raise UserError(f"{name}: must have from 1 to {MOST_PICTURES} pictures, each after a line [[{PICTURES}]]")
        self._pictures = [
            _picture(item, f"{name}: picture {number}", self.values.cycles)
            for number, item in enumerate(pictures, start=1)
        ]

    def base(self, source: str | None = None) -> Scene:
        """The scene that all pictures vary, with the changes of the sheet. Its source can be overridden."""
        wanted = max(read_size(self.values.size, "size =")) if self.values.size else 0
        if source is not None:
            return self._changed(open_scene(source, wanted=wanted))
        try:
            return self._changed(open_scene(self._found(self.values.base), wanted=wanted))
        except UserError as error:
            raise UserError(f"{self.name}: {error}") from error

    def _changed(self, scene: Scene) -> Scene:
        """A scene with the changes of the sheet."""
        values = dict(self._changes)
        if self.values.size:
            values = {**size_in_cells(scene, *read_size(self.values.size, "size =")), **values}
        for path, value in values.items():
            if scene.saved_world and rebuilds_world(path):
                raise UserError(f"{path}: {scene.name} is a saved world, which keeps its terrain and size")
            scene = scene.with_value(path, value_found(path, value, self._found))
        return scene

    def variations(self, base: Scene) -> list[Variation]:
        """The pictures in order. Raises `UserError` if one names a missing source."""
        variations = []
        for number, (values, changes) in enumerate(self._pictures, start=1):
            scene = base
            if values.preset:
                try:
                    scene = with_compared_of(scene, open_compared(self._found(values.preset)))
                except UserError as error:
                    raise UserError(f"{self.name}: picture {number}: {error}") from error
            for path in changes:
                if base.saved_world and is_of_ground(path):
                    raise UserError(
                        f"{self.name}: picture {number}: {path}: {base.name} is a saved world, which keeps its ground"
                    )
            variations.append(Variation(values.caption, scene.with_values(changes), values.cycles, values.snowballs))
        return variations

    def _found(self, name: str) -> str:
        return name if name in presets() or name in GENERATORS else found(name, self._folder)


def sheets() -> dict[str, Traversable]:
    """The sheets that ship with the program, by name."""
    entries = sorted((files("assets") / "sheets").iterdir(), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".toml"): entry for entry in entries if entry.name.endswith(".toml")}


def open_sheet(name: str) -> Sheet:
    """A shipped sheet by name, or one from a file. Raises `UserError` if there is none."""
    shipped = sheets()
    if name in shipped:
        return read_sheet(shipped[name].read_text(encoding="utf-8"), f"sheet {name}", Path())
    path = Path(name)
    if not is_there(path) and "/" not in name and not path.suffix:
        raise UserError(f"{name}: there is no sheet of this name{nearest(name, shipped)}")
    if not is_there(path):
        raise UserError(f"{name}: there is no such file")
    return read_sheet(read_text(path, "sheet"), name, path.parent)


def read_sheet(text: str, name: str, folder: Path) -> Sheet:
    """A sheet from a text; see `Sheet`."""
    return Sheet(read_toml(text, name, "sheet"), name, folder)


def _values(kind: type[Values], content: Mapping[str, Any], name: str, what: str) -> Values:
    known: dict[str, Declaration] = {declaration.name: declaration for declaration in declarations(kind)}
    for key, value in content.items():
        if key not in known:
            raise UserError(f"{name}: there is no '{key}' in {what}{nearest(key, [*known, CHANGES])}")
        try:
            check_value(known[key], value)
        except UserError as error:
            raise UserError(f"{name}: {error}") from error
    return kind(**content)


def _changes(content: Mapping[str, Any], name: str) -> dict[str, Value]:
    sections = content.get(CHANGES, {})
    if not isinstance(sections, dict):
        raise UserError(f"{name}: {CHANGES}: must hold sections, such as [{CHANGES}.camera]")
    try:
        return read_values(sections)
    except UserError as error:
        raise UserError(f"{name}: {CHANGES}: {error}") from error


def _picture(content: Any, name: str, cycles: int) -> tuple[PictureValues, dict[str, Value]]:
    """The values and changes of a picture. `cycles` is the default of its number of cycles."""
    if not isinstance(content, dict):
        raise UserError(f"{name}: must hold values, after a line [[{PICTURES}]]")
    own = {key: value for key, value in content.items() if key != CHANGES}
    values = _values(PictureValues, {"cycles": cycles, **own}, name, "a picture")
    if not values.caption:
        raise UserError(f"{name}: 'caption' is missing, which every picture has")
    changes = _changes(content, name)
    for path in changes:
        if rebuilds_world(path) and not is_of_ground(path):
            raise UserError(f"{name}: {path}: all pictures of a sheet show one land; the sheet's own changes set it")
    return values, changes
