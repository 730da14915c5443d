"""What is kept of the quality of pictures from one start to the next."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from app.files.atomic import write_atomically_by_path
from app.model.errors import UserError
from app.picture.passes.quality import BY_NAME, Quality

log = logging.getLogger(__name__)


class LevelsInFile:
    """The level that each renderer came to when the program ran before, in a small file; without a file, none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._levels: dict[str, str] = {}
        if path is not None and path.is_file():
            try:
                self._levels = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
            except (OSError, ValueError, RecursionError) as error:  # whatever is wrong with its text
                log.debug("%s: the saved quality levels cannot be read: %s", path, error)

    def level(self, renderer: str) -> Quality | None:
        return BY_NAME.get(self._levels.get(renderer, ""))

    def note(self, renderer: str, level: Quality) -> None:
        """Keep it for the next start."""
        self._levels[renderer] = level.name
        if self._path is None:
            return
        try:
            with write_atomically_by_path(self._path) as temporary:
                temporary.write_bytes(msgspec.json.encode(self._levels))
        except (OSError, UserError) as error:
            log.debug("%s: the quality level cannot be saved: %s", self._path, error)
