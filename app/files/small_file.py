"""Small files in the user's folders, of what the program remembers: each written as a whole, and none worth an error.

What cannot be read is as if it were not there, and what cannot be written is known until the program ends.
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
    """The content of a file in JSON, or `otherwise` where there is none that can be read."""
    if path is None:
        return otherwise
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError, RecursionError) as error:  # whatever is wrong with its text
        log.debug("%s: cannot be read: %s", path, error)
        return otherwise


def write_small_file(path: Path | None, content: object) -> None:
    """Write a file in JSON, and its folder where there is none yet."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(msgspec.json.encode(content))
    except (OSError, UserError) as error:
        log.debug("%s: cannot be written: %s", path, error)
