"""Files of kinds (materials and plants): shipped ones, and those of a user folder."""

from __future__ import annotations

import re
from collections.abc import Container
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

import msgspec

from app.model.errors import UserError
from app.model.home import path_of
from app.model.toml import parse_toml

SUFFIX = ".toml"

Kind = TypeVar("Kind", bound=msgspec.Struct)


def kind_files(shipped: str, folder: str, parameter: str) -> dict[str, Traversable]:
    """Files of kinds by name: those of `assets/<shipped>`, overridden by those of a folder.

    `parameter` names the folder. Raises `UserError` if it is missing or unreadable.
    """
    places: list[Traversable] = [files("assets") / shipped]
    try:
        if folder:
            path = path_of(folder)
            if not path.is_dir():
                raise UserError(f"{parameter}: {folder}: there is no such folder")
            places.append(path)
        entries = [entry for place in places for entry in sorted(place.iterdir(), key=lambda entry: entry.name)]
    except OSError as error:
        raise UserError(f"{parameter}: {folder}: cannot be read: {error.strerror}") from error
    return {entry.name.removesuffix(SUFFIX): entry for entry in entries if entry.name.endswith(SUFFIX)}


def read_kind(entry: Traversable, kind: type[Kind], what: str, reserved: Container[str] = ()) -> Kind:
    """The kind in a file, named after the file; `what` is for errors. Raises `UserError`."""
    name = entry.name.removesuffix(SUFFIX)
    try:
        read = msgspec.convert(parse_toml(entry.read_text(encoding="utf-8")), kind)
    except OSError as error:
        raise UserError(f"{entry}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{entry}: {plain_reason(str(error), what)}") from error
    if not re.fullmatch("[a-z][a-z0-9-]*", name) or name in reserved:
        others = f", and not {', '.join(reserved)}" if isinstance(reserved, tuple) and reserved else ""
        raise UserError(f"{entry}: '{name}' cannot be the name of a {what}: small letters, digits and -{others}")
    own = getattr(read, "name", "")
    if own not in ("", name):
        raise UserError(f"{entry}: its name is '{own}', but a {what} has the name of its file")
    return msgspec.structs.replace(read, name=name)


def plain_reason(reason: str, what: str) -> str:
    """An error of msgspec, in words for the user."""
    reason = re.sub(r"Object missing required field `(\w+)`", r"'\1' is missing", reason)
    reason = re.sub(r"Object contains unknown field `(\w+)`", rf"'\1' is not a property of a {what}", reason)
    return re.sub(r" - at `\$\.([\w.]+)(?:\[\d+\])?`", r": '\1'", reason)
