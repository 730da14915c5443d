"""Folders that commands write into."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from app.files.atomic import reason_of
from app.model.errors import UserError


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder and those above it. Where nothing is written into them, they do not stay."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file; name a folder" if folder.exists() else reason_of(error, folder)
        raise UserError(f"cannot write into {folder}: {reason}") from error
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for place in new:
                place.rmdir()  # only where it is empty
        raise
