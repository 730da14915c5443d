"""Periodic backup of a session, in the background."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.engine.autosave import SessionFolder
from app.engine.messages import Look, Moment, Report, SessionFailed, SessionWritten
from app.engine.timeline import Timeline
from app.model.errors import explained

SECONDS_BETWEEN_WRITES = 30.0  # the most work that a kill can lose


class SessionWriter:
    """Belongs to the thread that runs the worlds."""

    def __init__(self, session: SessionFolder) -> None:
        self.session = session
        self.look: Look | None = None  # the current view
        self._moment = Moment()  # that was written last
        self._time = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether it is time to check for a new state."""
        return time.monotonic() > self._time + SECONDS_BETWEEN_WRITES

    def write(self, timeline: Timeline, moment: Moment, report: Callable[[Report], None]) -> None:
        """Write the newest stored state before a moment in the background, unless it was written already."""
        self._time = time.monotonic()
        state = timeline.start_for(moment)
        if state is None or state.moment == self._moment:
            return
        self._moment, name = state.moment, state.worlds[0].scene.name
        session, journal = self.session, timeline.journal_of(state)
        seen = (self.look.view, self.look.camera) if self.look else None

        def write() -> None:
            try:
                session.write(name, state.worlds, journal, seen)
            except Exception as error:
                report(SessionFailed(explained(error)))
            else:
                report(SessionWritten(session.picture))

        timeline.store.in_background(write)
