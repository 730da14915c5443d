"""The state of the panel that is saved between starts: pinned and unfolded groups."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.files.small_file import read_small_file, write_small_file


class PanelState(msgspec.Struct):
    """Names of sections and groups and paths of parameters. Names of another version of the program may be unknown."""

    pinned_sections: list[str] = []
    pinned_groups: list[str] = []
    pinned_parameters: list[str] = []
    unfolded: list[str] = []  # groups that show all their parameters


class PanelMemory:
    """Saves the state of the panel in a small file; without one it is lost when the program ends."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.state = read_small_file(path, PanelState, PanelState())

    def toggle(self, names: list[str], name: str) -> None:
        """Add a name to one of the lists of `state`, or remove it."""
        if name in names:
            names.remove(name)
        else:
            names.append(name)
        write_small_file(self._path, self.state)
