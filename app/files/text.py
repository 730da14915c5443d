"""Text files that the user may have written."""

from __future__ import annotations

from pathlib import Path

from app.model.errors import UserError

LARGEST_TEXT = 2**20  # bytes; presets have a few thousand


def read_text(path: Path, kind: str) -> str:
    """The text of a file. Raises `UserError`, which names the kind of file, if it is not text."""
    if not path.is_file():
        raise UserError(f"{path}: not a {kind}: it is not a regular file")
    try:
        if path.stat().st_size > LARGEST_TEXT:
            raise UserError(f"{path}: not a {kind}: it has more than {LARGEST_TEXT} bytes")
        return path.read_text(encoding="utf-8-sig")  # some editors begin with a byte order mark
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a {kind}: it must be text in UTF-8") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
