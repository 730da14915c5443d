"""Files of terrain: those of the user, and those that ship with the program."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from app.model.errors import UserError
from app.model.home import path_of
from app.sources.parameters import GENERATOR_NAMES


def find_terrain(source: str) -> Path:
    """The file that a source names: a path, or a terrain that ships with the program."""
    try:
        source.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{source}: its name is not valid UTF-8, so no world could name it; rename it") from error
    path = path_of(source)
    if is_there(path):
        return path
    if shipped := shipped_terrain(source):
        return shipped
    if "/" in source or "\\" in source:
        raise UserError(f"{source}: there is no such file")
    raise UserError(
        f"{source}: there is no such file, and no generator or preset of that name ({', '.join(GENERATOR_NAMES)})"
    )


def is_there(path: Path) -> bool:
    """Whether a path exists. One that the system cannot look up, for example because of its length, does not."""
    try:
        return path.exists()
    except OSError:
        return False


def shipped_terrain(name: str) -> Path | None:
    """The shipped terrain of that name, or None."""
    shipped = Path(str(files("assets") / "terrain" / name))
    return shipped if "/" not in name and is_there(shipped) and shipped.is_file() else None
