"""Small files in the user's folders for what the program remembers. Failures are no errors.

An unreadable file counts as missing; values that cannot be written are remembered until the program ends.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TypeVar

import msgspec

from app.files.atomic import write_atomically
from app.model.errors import UserError

log = logging.getLogger(__name__)

_Content = TypeVar("_Content")


def read_small_file(path: Path | None, kind: type[_Content], otherwise: _Content) -> _Content:
    """The content of a JSON file, or `otherwise` if it is not readable."""
    if path is None:
        return otherwise
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError, RecursionError) as error:  # whatever is wrong with its text
        log.debug("%s: cannot be read: %s", path, error)
        return otherwise


def write_small_file(path: Path | None, content: object) -> None:
    """Write a JSON file, and create its folder."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(msgspec.json.encode(content))
    except (OSError, UserError) as error:
        log.debug("%s: cannot be written: %s", path, error)
