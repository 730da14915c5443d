"""What is kept of the quality of pictures from one start to the next."""

from __future__ import annotations

from pathlib import Path

from app.files.small_file import read_small_file, write_small_file
from app.picture.passes.quality import BY_NAME, Quality


class LevelsInFile:
    """The level that each renderer came to when the program ran before, in a small file; without a file, none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._levels = read_small_file(path, dict[str, str], {})

    def level(self, renderer: str) -> Quality | None:
        return BY_NAME.get(self._levels.get(renderer, ""))

    def note(self, renderer: str, level: Quality) -> None:
        """Keep it for the next start."""
        self._levels[renderer] = level.name
        write_small_file(self._path, self._levels)
