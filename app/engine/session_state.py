"""The state of a session, and the operations that answers use."""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from app.engine.autosave import SessionFolder
from app.engine.backlog import Backlog
from app.engine.lockstep import Lockstep
from app.engine.messages import Arrived, GoTo, Moment, Pause, Refused, Report, Request, Run, Step, Stopped
from app.engine.pace import Pace
from app.engine.player import Travel, edited
from app.engine.readiness import Readiness
from app.engine.session_writer import SessionWriter
from app.engine.showing import Showing
from app.engine.simulator import SimulationError
from app.engine.status import Status
from app.engine.timeline import Timeline
from app.model.errors import UserError, explained
from app.scene.edits import CancelSnowballs, Change, LandRequest, Stroke
from app.scene.scene import Scene

log = logging.getLogger(__name__)

LARGEST_HELD = 2**25  # bytes of the layers of a state that waits to be stored


class Mode(enum.Enum):
    """What the session does in its next steps."""

    EMPTY = enum.auto()  # there is no world yet
    FAILED = enum.auto()  # a cycle failed: only requests are answered
    TRAVEL = enum.auto()  # to another moment of the time line
    SPIN_UP = enum.auto()
    SNOWBALLS = enum.auto()  # a run of snowballs; all else stands still
    CYCLES = enum.auto()
    PAUSED = enum.auto()


class SessionState:
    """The worlds of a session and all that belongs to them.

    Not thread-safe except `status`, which is replaced and never modified.
    """

    def __init__(
        self,
        scenes: tuple[Scene, ...],
        report: Callable[[Report], None],
        *,
        paused: bool = False,
        folder: SessionFolder | None = None,
    ) -> None:
        """`scenes` are opened first. The session is backed up in `folder`."""
        self.report = report
        self.status = Status(scenes=scenes)
        self.lockstep: Lockstep | None = None
        self.timeline = Timeline()
        self.travel: Travel | None = None
        self.pace = Pace(paused=paused)
        self.pace_requests_answered = 0
        self.readiness = Readiness()
        self.showing = Showing(self.readiness, report)
        self.backlog = Backlog()
        self.writer = SessionWriter(folder) if folder else None
        self.stroke: int | None = None  # the number of the stroke that may continue
        self._held: tuple[Moment, Callable[[], Lockstep]] | None = None  # a state that is still to be stored
        self._told_version = 0  # version of the time line that was reported

    @property
    def mode(self) -> Mode:
        if self.lockstep is None:
            return Mode.EMPTY
        if self.status.state == "failed":
            return Mode.FAILED
        if self.travel:
            return Mode.TRAVEL
        if self.lockstep.spin_up_is_due:
            return Mode.SPIN_UP
        if self.lockstep.snowball_run:
            return Mode.SNOWBALLS
        return Mode.PAUSED if self.pace.is_paused else Mode.CYCLES

    @property
    def scenes_asked_for(self) -> tuple[Scene, ...]:
        """The scenes of the worlds, with the waiting changes."""
        scenes = self.lockstep.scenes if self.lockstep else ()
        for change in self.backlog.changes:
            scenes = change.applied_to(scenes)
        return scenes

    def refuse(self, request: Request, error: Exception) -> None:
        if not isinstance(error, UserError):
            log.error("a request failed", exc_info=error)
        if isinstance(request, Stroke):
            self.stroke = None
        self.count(request)
        self.report(Refused(request, explained(error)))

    def count(self, request: Request) -> None:
        if asks_for_pace(request):
            self.pace_requests_answered += 1

    def say(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)

    def tell_of_timeline(self) -> None:
        target = self.travel.target if self.travel else None
        if self.timeline.version != self._told_version or target != self.status.timeline.target:
            self._told_version = self.timeline.version
            self.say(timeline=self.timeline.seen(target))
        self.say(moment=self.timeline.now)

    def sound_lockstep(self) -> Lockstep:
        """The worlds. Raises `UserError` if there are none or a cycle has failed."""
        if self.lockstep is None:
            raise UserError("there is no world yet")
        if self.mode is Mode.FAILED:
            raise UserError("the simulation has stopped; resume it first")
        return self.lockstep

    def leave_soon(self) -> Moment:
        """As `leave`, but the state is stored by `store_held`, once what replaces it is shown.

        A large one is stored at once: there would be two of them in memory.
        """
        self.store_held()
        if self.travel or self.lockstep is None or self.lockstep.bytes > LARGEST_HELD:
            return self.leave()
        self._held = self.timeline.now, self.lockstep.hold()
        return self.timeline.now

    def store_held(self) -> None:
        """Store the state that was left last, if it is not stored yet."""
        if self._held is None:
            return
        (moment, hold), self._held = self._held, None
        if self.timeline.has(moment):  # no failure has taken it back
            self._store(hold, moment)

    def leave(self) -> Moment:
        """Keep the current state, which is about to be replaced, and return its moment."""
        self.store_held()
        if self.travel:
            return self.travel.target  # as if it had arrived: the travel can be repeated
        if (lockstep := self.lockstep) is not None:
            self._store(lambda: lockstep, self.timeline.now)
        return self.timeline.now

    def _store(self, worlds: Callable[[], Lockstep], moment: Moment) -> None:
        try:
            lockstep = worlds()
            lockstep.settle_levels()
            if not lockstep.is_sound:  # what was held has no earlier state to go back to
                raise SimulationError("it is not sound")
            self.timeline.store_state(lockstep, moment)
        except Exception as error:  # it can be recomputed from the state before
            log.warning("a state that was left cannot be kept: %s", error)

    def edit(self, request: LandRequest) -> None:
        """Make an edit and enter it in the journal."""
        assert self.lockstep is not None
        self.lockstep = edited(self.lockstep, request)
        self.note(request)

    def note(self, request: LandRequest) -> None:
        """Enter an edit in the journal."""
        assert self.lockstep is not None
        self.timeline.edited(request, self.lockstep)
        self.tell_of_timeline()

    def follow_worlds(self, places: Sequence[int]) -> None:
        """The worlds are now those that were at these places."""
        self.backlog.follow_worlds(places)
        self.say(scenes=self.scenes_asked_for)

    def replace_worlds(self, lockstep: Lockstep) -> None:
        """Replace the worlds. Waiting requests for the old worlds are dropped."""
        self.lockstep = lockstep
        self.stroke = None
        self.pace.measure_anew()
        self.say(
            scenes=lockstep.scenes,
            state=self.pace.state,
            message="",
            stopped=None,
            cycle=lockstep.cycle,
            snowball_run=lockstep.snowball_run,
        )
        self.tell_of_timeline()

    def drop_backlog(self, *kinds: type) -> None:
        """Refuse waiting requests of these kinds: they were meant for other worlds."""
        for request in self.backlog.take_out(*kinds):
            if not isinstance(request, Change):
                self.refuse(request, UserError("another land has taken its place"))

    def set_paused(self, paused: bool, steps: int = 0) -> None:
        """Pause after some more cycles, or run."""
        if paused != self.pace.is_paused and not self.travel:
            self.timeline.repeat_look()
        self.pace.set_paused(paused, steps)
        if self.lockstep and not (paused and self.mode is Mode.FAILED):
            self.say(state=self.pace.state, stopped=None, message="")

    def end_snowball_run(self) -> None:
        if self.lockstep and self.lockstep.snowball_run:
            self.edit(CancelSnowballs())
            self.say(snowball_run=None)

    def give_up_travel(self) -> None:
        """Abandon a travel: something else was requested."""
        if self.travel:
            self.report(Arrived(self.travel.request, (), self.travel.before))
        self.travel = None

    def fail(self, error: Exception) -> None:
        """Stop and report why. Requests are still answered: the user can save, change something and continue."""
        where = (error.process, error.layer, error.cell) if isinstance(error, SimulationError) else ()
        stopped = Stopped(explained(error), *where)
        if stopped != self.status.stopped:  # a recurring failure is reported once
            self.report(stopped)
            if not isinstance(error, UserError):
                log.error("the simulation stopped", exc_info=error)
        if self.travel and self.lockstep:
            self.timeline.travelled(self.travel.moment(self.lockstep), self.lockstep)
        elif self.lockstep:
            self.timeline.advanced(self.lockstep, 0.0)
        self.give_up_travel()
        cycle = self.lockstep.cycle if self.lockstep else 0
        self.say(state="failed", message=stopped.why, stopped=stopped, cycle=cycle)


def asks_for_pace(request: Request) -> bool:
    """Whether a request pauses the simulation, or lets it run."""
    return isinstance(request, Pause | Step | Run) or (isinstance(request, GoTo) and request.pause)
