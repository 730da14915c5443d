"""What a person has: presets of their own, the files opened last, and what the program has shown them already.

All of it lies in small files in the user's folders, each written as a whole. None of it is worth an error: what cannot
be read is as if it were not there, and what cannot be written is known until the program ends.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Self, TypeVar

import msgspec
import platformdirs

from app.files.atomic import write_atomically
from app.model.errors import UserError

log = logging.getLogger(__name__)

MOST_RECENT = 24
RECENT, WELCOME = "recent.json", "welcome.json"

_Content = TypeVar("_Content")


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
    """A person's files. Without a folder nothing outlives the program. Can be used from any thread."""

    def __init__(self, data: Path | None = None, cache: Path | None = None) -> None:
        self._data = data
        self.pictures = cache / "cards" if cache else None  # the folder of pictures of saved presets and worlds
        self._recent: tuple[RecentFile, ...] = ()
        self._welcome = Welcome() if data else Welcome(gallery=True, tour=True)
        self._lock = threading.Lock()

    @classmethod
    def of_user(cls) -> Self:
        """That of the person who runs the program."""
        places = (platformdirs.user_data_path, platformdirs.user_cache_path)
        data, cache = (place("thalweg", appauthor=False) for place in places)
        return cls(data, cache)

    @property
    def own_folder(self) -> Path | None:
        """Where presets of one's own lie."""
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
        """Take a file from the list of recent ones. The file itself stays."""
        with self._lock:
            self._write_recent(tuple(file for file in self._read_recent() if file.place != path))

    @property
    def welcome(self) -> Welcome:
        """What has been shown at the first start."""
        with self._lock:
            self._welcome = self._read(WELCOME, Welcome, self._welcome)
            return self._welcome

    @welcome.setter
    def welcome(self, welcome: Welcome) -> None:
        with self._lock:
            self._welcome = welcome
            self._write(WELCOME, welcome)

    def _read_recent(self) -> tuple[RecentFile, ...]:
        self._recent = self._read(RECENT, tuple[RecentFile, ...], self._recent)
        return self._recent

    def _write_recent(self, files: tuple[RecentFile, ...]) -> None:
        self._recent = files
        self._write(RECENT, files)

    def _read(self, name: str, kind: type[_Content], otherwise: _Content) -> _Content:
        """The content of a file, afresh, as another window may have written it."""
        if self._data is None:
            return otherwise
        try:
            return msgspec.json.decode((self._data / name).read_bytes(), type=kind)
        except (OSError, ValueError, RecursionError) as error:
            log.debug("%s: cannot be read: %s", name, error)
            return otherwise

    def _write(self, name: str, content: object) -> None:
        if self._data is None:
            return
        try:
            self._data.mkdir(parents=True, exist_ok=True)
            with write_atomically(self._data / name) as file:
                file.write(msgspec.json.encode(content))
        except (OSError, UserError) as error:
            log.debug("%s: cannot be written: %s", name, error)
