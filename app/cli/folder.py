"""Folders that commands write into."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from app.files.atomic import reason_of
from app.model.errors import UserError


def is_folder(path: Path) -> bool:
    """Whether a path is a folder, as far as permissions tell."""
    try:
        return path.is_dir()
    except OSError:
        return False


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """A context with a new folder and its parents. Empty ones are removed at its end.

    Raises `UserError` if nothing can be written into it.
    """
    new: list[Path] = []
    try:
        new += (place for place in (folder, *folder.parents) if not place.exists())
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission")
    except OSError as error:
        is_file = isinstance(error, FileExistsError)
        reason = "it is a file; name a folder" if is_file else reason_of(error, folder)
        raise UserError(f"cannot write into {folder}: {reason}") from error
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for place in new:
                place.rmdir()  # fails unless empty
        raise
