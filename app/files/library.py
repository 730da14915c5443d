"""The library of a user: own presets, recent files, and what was shown at the first start.

Stored in small files in the user's folders, see `app.files.small_file`.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Self

import msgspec
import platformdirs

from app.files.small_file import read_small_file, write_small_file

log = logging.getLogger(__name__)

MOST_RECENT = 24
RECENT, WELCOME = "recent.json", "welcome.json"


class RecentFile(msgspec.Struct, frozen=True):
    """A file that was opened or saved."""

    path: str
    time: float  # seconds since 1970

    @property
    def place(self) -> Path:
        return Path(self.path)


class Welcome(msgspec.Struct, frozen=True):
    """What has been shown at the first start."""

    gallery: bool = False
    tour: bool = False


class Library:
    """The files of a user. Without a folder nothing is stored. Safe for threads."""

    def __init__(self, data: Path | None = None, cache: Path | None = None) -> None:
        self._data = data
        self.pictures = cache / "cards" if cache else None  # the folder of pictures of saved presets and worlds
        self.loops = cache / "loops" if cache else None  # the folder of moving pictures of cards
        self._recent: tuple[RecentFile, ...] = ()
        self._welcome = Welcome() if data else Welcome(gallery=True, tour=True)
        self._lock = threading.Lock()

    @classmethod
    def of_user(cls) -> Self:
        """The library of the current user."""
        places = (platformdirs.user_data_path, platformdirs.user_cache_path)
        data, cache = (place("thalweg", appauthor=False) for place in places)
        return cls(data, cache)

    @property
    def own_folder(self) -> Path | None:
        """The folder of the user's presets."""
        return self._data / "presets" if self._data else None

    @property
    def recent(self) -> tuple[RecentFile, ...]:
        """The files opened or saved last, the newest first."""
        with self._lock:
            return self._read_recent()

    def note(self, path: Path) -> None:
        """A file was opened or saved now."""
        try:
            file = RecentFile(str(path.expanduser().absolute()), time.time())
        except (OSError, RuntimeError) as error:
            log.debug("%s: cannot be remembered: %s", path, error)
            return
        with self._lock:
            others = tuple(other for other in self._read_recent() if other.path != file.path)
            self._write_recent((file, *others)[:MOST_RECENT])

    def forget(self, path: Path) -> None:
        """Remove a file from the list of recent ones. The file itself stays."""
        with self._lock:
            self._write_recent(tuple(file for file in self._read_recent() if file.place != path))

    @property
    def welcome(self) -> Welcome:
        """What has been shown at the first start."""
        with self._lock:
            self._welcome = read_small_file(self._place(WELCOME), Welcome, self._welcome)
            return self._welcome

    @welcome.setter
    def welcome(self, welcome: Welcome) -> None:
        with self._lock:
            self._welcome = welcome
            write_small_file(self._place(WELCOME), welcome)

    def _place(self, name: str) -> Path | None:
        """The path of a file of the library. It is read each time, as another window may write it."""
        return self._data / name if self._data else None

    def _read_recent(self) -> tuple[RecentFile, ...]:
        self._recent = read_small_file(self._place(RECENT), tuple[RecentFile, ...], self._recent)
        return self._recent

    def _write_recent(self, files: tuple[RecentFile, ...]) -> None:
        self._recent = files
        write_small_file(self._place(RECENT), files)
