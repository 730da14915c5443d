"""Levels of quality, remembered between runs."""

from __future__ import annotations

from pathlib import Path

from app.files.small_file import read_small_file, write_small_file
from app.picture.passes.quality import BY_NAME, Quality


class LevelsInFile:
    """The level of each renderer in earlier runs, stored in a small file, if given."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._levels = read_small_file(path, dict[str, str], {})

    def level(self, renderer: str) -> Quality | None:
        return BY_NAME.get(self._levels.get(renderer, ""))

    def note(self, renderer: str, level: Quality) -> None:
        """Remember the level for the next run."""
        self._levels[renderer] = level.name
        write_small_file(self._path, self._levels)
