"""Files that a scene names: heightmaps, rain maps, pictures of fields, folders of materials and of plants.

In memory these paths are relative to the working folder. In a file they are relative to the
folder of this file, so that the two can be moved and opened together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from app.files.atomic import working_folder
from app.model.field_parameters import with_files
from app.model.home import path_of
from app.model.parameters import Value
from app.scene.scene import DECLARATIONS, Scene, find_declaration
from app.sources.generators import GENERATORS
from app.sources.terrain import is_there, shipped_terrain

EXPRESSIONS = [path for path, declaration in DECLARATIONS.items() if declaration.names_files]
NAMING = [path for path, declaration in DECLARATIONS.items() if declaration.names_file]


def named_from(scene: Scene, folder: Path) -> Scene:
    """The scene with paths relative to `folder`. Names of shipped terrain stay."""
    return with_names(scene, lambda name: from_folder(name, folder))


def found_from(scene: Scene, folder: Path) -> Scene:
    """The scene of a file in `folder`, with paths from the working folder.

    Each is looked for by its name from that folder; then, as it may have moved, in the folder itself; then from where
    the program runs. One that is nowhere gets the path where it should be, which the error that follows names.
    """
    return with_names(scene, lambda name: found(name, folder))


def with_names(scene: Scene, named: Callable[[str], str]) -> Scene:
    """The scene with its paths mapped by `named`."""
    names = {path: str(scene.value(path)) for path in NAMING}
    values = {path: named(name) for path, name in names.items() if name and name not in GENERATORS}
    for path in EXPRESSIONS:
        values[path] = with_files(str(scene.value(path)), named)
    return scene.with_values(values)


def value_found(path: str, value: Value, find: Callable[[str], str]) -> Value:
    """The value of a parameter with its paths mapped by `find`."""
    declaration = find_declaration(path)
    if declaration.names_files:
        return with_files(str(value), find)
    return find(str(value)) if declaration.names_file and value else value


def names_in(path: str, value: Value) -> list[str]:
    """The paths in the value of a parameter, in order."""
    names: list[str] = []

    def note(name: str) -> str:
        names.append(name)
        return name

    value_found(path, value, note)
    return [name for name in names if name not in GENERATORS]


def from_folder(name: str, folder: Path) -> str:
    """The path of a file relative to `folder`; see `named_from`."""
    place = path_of(name)
    if not place.exists():
        return name
    here = working_folder()
    try:
        relative = Path(os.path.relpath((here / place).resolve(), (here / folder).resolve())).as_posix()
        return f"./{relative}" if relative in GENERATORS else relative
    except ValueError:  # on another drive
        return str((here / place).resolve())


def found(name: str, folder: Path) -> str:
    """The file that a file in `folder` names; see `found_from`."""
    place, here = path_of(name), working_folder()
    folder = here / folder
    there = Path(os.path.normpath(folder.resolve() / place))
    for candidate in (there, folder / place.name, here / place):
        if is_there(candidate):
            return str(candidate)
    return name if shipped_terrain(name) else str(there)
