"""Backups of a session on disk, so that a kill or a power cut loses little work."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import platformdirs

from app.engine.stored_world import StoredWorld
from app.files import checkpoint
from app.files.atomic import write_atomically
from app.files.journal import Journal
from app.model.errors import UserError, explained
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene.comparison import NAMES
from app.scene.scene import Scene

if sys.platform != "win32":
    import fcntl

log = logging.getLogger(__name__)

MOST_SESSIONS = 8  # ended sessions that are kept

LOCK, INDEX, PICTURE = "in-use", "session.json", "picture.webp"


class Index(msgspec.Struct, frozen=True):
    """The contents of a session's folder. It is written last, so that every file it names exists."""

    name: str
    cycle: int
    time: float  # seconds since 1970
    worlds: tuple[str, ...]  # names of files
    closed: bool = False  # the program has ended as it should
    edits: int = 0  # made by the user since the land was opened
    seconds: float = 0.0  # duration of the session


@dataclass(frozen=True)
class EndedSession:
    """An ended session that can be resumed."""

    folder: Path
    index: Index

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes to open. Raises `UserError` if they cannot be read."""
        scenes = (checkpoint.load_scene(self.folder / name) for name in self.index.worlds)
        return tuple(msgspec.structs.replace(scene, name=self.index.name) for scene in scenes)

    @property
    def picture(self) -> Path:
        """The file with the last picture of the session, if there is one."""
        return self.folder / PICTURE

    def settle(self) -> None:
        """Do not offer this session again: it was resumed or declined. It can still be opened."""
        with contextlib.suppress(OSError, UserError):
            _write_index(self.folder, msgspec.structs.replace(self.index, closed=True))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class SessionFolder:
    """The folder of this session. Raises `UserError` if it cannot be created."""

    def __init__(self, home: Path | None = None) -> None:
        try:
            self._folder = (home or sessions_folder()) / f"{time.time_ns():x}-{secrets.token_hex(3)}"
            self._folder.mkdir(parents=True)
            self._lock = os.open(self._folder / LOCK, os.O_CREAT | os.O_RDWR)
            if sys.platform != "win32":
                fcntl.flock(self._lock, fcntl.LOCK_EX)  # for as long as the process lives
        except OSError as error:
            raise UserError(f"the work cannot be kept meanwhile: {explained(error)}") from error
        self._index: Index | None = None
        self._began = time.monotonic()

    @property
    def path(self) -> Path:
        return self._folder

    @property
    def picture(self) -> Path:
        """Where the picture of this session is to be written."""
        return self._folder / PICTURE

    def write(
        self,
        name: str,
        worlds: Sequence[StoredWorld],
        journal: Journal,
        seen: tuple[ViewParameters, CameraParameters] | None = None,
    ) -> None:
        """Write the newest state, then remove the one before. Raises `UserError` if writing fails."""
        last = self._index.worlds if self._index else ()
        turn = "b" if last and last[0].endswith("-a.npz") else "a"
        files = tuple(f"world-{letter}-{turn}.npz" for letter, _ in zip(NAMES, worlds, strict=False))
        for number, (file, kept) in enumerate(zip(files, worlds, strict=True)):
            simulator = kept.simulator()
            scene = simulator.scene
            if seen:
                scene = msgspec.structs.replace(scene, view=seen[0], camera=seen[1])
            own = journal.of(number) if len(worlds) > 1 else journal
            checkpoint.save(self._folder / file, simulator.world, scene, own, compressed=False)
        edits, seconds = len(journal.edits) - 1, time.monotonic() - self._began  # the first opened the land
        self._index = Index(name, journal.cycle, time.time(), files, edits=edits, seconds=seconds)
        _write_index(self._folder, self._index)
        for file in set(last) - set(files):
            (self._folder / file).unlink(missing_ok=True)

    def close(self) -> None:
        """Mark the session as closed properly. It can still be opened later."""
        with contextlib.suppress(OSError, UserError):
            if self._index is None:
                shutil.rmtree(self._folder, ignore_errors=True)
            else:
                _write_index(self._folder, msgspec.structs.replace(self._index, closed=True))
        with contextlib.suppress(OSError):
            os.close(self._lock)


def _write_index(folder: Path, index: Index) -> None:
    with write_atomically(folder / INDEX) as file:
        file.write(msgspec.json.encode(index))


def sessions_folder() -> Path:
    """The folder of all sessions."""
    return platformdirs.user_data_path("thalweg", appauthor=False) / "sessions"


def ended_sessions(home: Path | None = None) -> list[EndedSession]:
    """The sessions whose program has ended, the newest first.

    All but few are removed, and what holds nothing: those in which a person edited the land are kept rather than
    others, the newest of both.
    """
    home = home or sessions_folder()
    if not home.is_dir():
        return []
    ended = []
    for folder in home.iterdir():
        if _is_in_use(folder):
            continue
        session = _read(folder)
        if session is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            ended.append(session)
    ended.sort(key=lambda session: (session.index.edits > 0, session.index.time), reverse=True)
    for session in ended[MOST_SESSIONS:]:
        session.remove()
    return sorted(ended[:MOST_SESSIONS], key=lambda session: session.index.time, reverse=True)


def _read(folder: Path) -> EndedSession | None:
    try:
        index = msgspec.json.decode((folder / INDEX).read_bytes(), type=Index)
    except (OSError, ValueError) as error:
        log.debug("%s: %s", folder, error)
        return None
    names = index.worlds
    is_whole = bool(names) and all(Path(name).name == name and (folder / name).is_file() for name in names)
    return EndedSession(folder, index) if is_whole else None


def _is_in_use(folder: Path) -> bool:
    if sys.platform == "win32":
        try:
            (folder / LOCK).unlink(missing_ok=True)  # Windows refuses this while the owner runs
        except OSError:
            return True
    else:
        try:
            with (folder / LOCK).open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the owner runs
        except FileNotFoundError:
            with contextlib.suppress(OSError):  # another process has removed it
                return time.time() - folder.stat().st_mtime < 10.0  # another process is creating it
            return True
        except OSError:
            return True
    return False
