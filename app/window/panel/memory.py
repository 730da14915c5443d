"""What is kept of the panel from one start to the next: what a person has pinned and unfolded."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.files.small_file import read_small_file, write_small_file


class Kept(msgspec.Struct):
    """Names of sections and groups and paths of parameters. Those of another version of the program may be unknown."""

    pinned_sections: list[str] = []
    pinned_groups: list[str] = []
    pinned_parameters: list[str] = []
    unfolded: list[str] = []  # groups that show all their parameters


class PanelMemory:
    """What the panel remembers, in a small file; without one, until the program ends."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.kept = read_small_file(path, Kept, Kept())

    def toggle(self, names: list[str], name: str) -> None:
        """Add a name to one of the lists of `kept`, or take it away."""
        if name in names:
            names.remove(name)
        else:
            names.append(name)
        write_small_file(self._path, self.kept)
