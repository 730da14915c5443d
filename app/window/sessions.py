"""Ended sessions: listing them, and resuming one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.autosave import EndedSession
from app.model.errors import UserError

if TYPE_CHECKING:
    from app.scene.scene import Scene

# Seconds after the start at which sessions are looked up again: a killed program may hold its own for a while.
LATER = (2.0, 6.0, 20.0)

TakeOver = Callable[[Path], None]
LookUp = Callable[[], Sequence[EndedSession]]


class Sessions:
    """Lists sessions that `look_up` finds, and resumes one by `open_scenes`."""

    def __init__(self, look_up: LookUp, open_scenes: Callable[[Sequence[Scene]], None], take_over: TakeOver) -> None:
        """`take_over` is given the folder of a session whose worlds have arrived."""
        self.listed: tuple[EndedSession, ...] = ()  # offered for choice; empty: no list
        self._look_up = look_up
        self._open_scenes = open_scenes
        self._take_over = take_over
        self._offered: set[Path] = set()  # folders of sessions that were offered unasked
        self._later = list(LATER)
        self._resumed: EndedSession | None = None  # until its worlds arrive

    def offer(self) -> None:
        """List unclosed sessions, if any of them was not offered yet."""
        unclosed = [session for session in self._look_up() if not session.index.closed]
        if any(session.folder not in self._offered for session in unclosed):
            self._list(unclosed)

    def offer_later(self, seconds: float) -> None:
        """Look up sessions again when due, at this time since the start."""
        if self._later and seconds > self._later[0]:
            self._later = [moment for moment in self._later if moment >= seconds]
            self.offer()

    def list_all(self) -> None:
        """List all sessions that can be resumed. Raises `UserError` if there is none."""
        found = self._look_up()
        if not found:
            raise UserError("there is no other session to resume")
        self._list(found)

    def _list(self, sessions: Sequence[EndedSession]) -> None:
        self.listed = tuple(sessions)
        self._offered |= {session.folder for session in sessions}

    def close_list(self) -> None:
        """Close the list. These sessions are not offered again, but can still be opened."""
        for session in self.listed:
            if not session.index.closed:
                session.settle()
        self.listed = ()

    def resume(self, session: EndedSession) -> None:
        """Resume a session. It stays on offer until its worlds arrive."""
        self._open_scenes(session.scenes)
        self.listed, self._resumed = (), session

    def forget_resumed(self) -> None:
        self._resumed = None

    def worlds_came(self) -> None:
        """The opened worlds have arrived."""
        if self._resumed is not None:
            self._take_over(self._resumed.folder)
            self._resumed.settle()
            self._resumed = None
