"""What is kept of the panel from one start to the next: what a person has pinned and unfolded."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from app.files.atomic import write_atomically_by_path
from app.model.errors import UserError

log = logging.getLogger(__name__)


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
        self.kept = Kept()
        if path is not None and path.is_file():
            try:
                self.kept = msgspec.json.decode(path.read_bytes(), type=Kept)
            except (OSError, ValueError, RecursionError) as error:  # whatever is wrong with its text
                log.debug("%s: what the panel remembered cannot be read: %s", path, error)

    def toggle(self, names: list[str], name: str) -> None:
        """Add a name to one of the lists of `kept`, or take it away."""
        if name in names:
            names.remove(name)
        else:
            names.append(name)
        self._save()

    def _save(self) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically_by_path(self._path) as temporary:
                temporary.write_bytes(msgspec.json.encode(self.kept))
        except (OSError, UserError) as error:
            log.debug("%s: what the panel remembers cannot be saved: %s", self._path, error)
