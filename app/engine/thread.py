"""The thread that the simulation runs on, so that neither it nor the window ever waits for the other."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.engine.autosave import Session
from app.engine.builds import RIVERS, STREAMS, foreseen, in_order
from app.engine.compiling import cache_is_empty
from app.engine.creation import create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import NOTHING, Needs, check_memory
from app.engine.messages import (
    Arrived,
    DiscardBranch,
    Edited,
    FrameBegan,
    GoTo,
    Look,
    Moment,
    Opened,
    OpenFailed,
    PastFailed,
    Pause,
    Refused,
    Report,
    Request,
    Run,
    Save,
    Saved,
    SaveFailed,
    Step,
    Stopped,
    SurveyFailed,
    Watch,
)
from app.engine.publishing import Publisher
from app.engine.readiness import Readiness
from app.engine.session_writer import SessionWriter
from app.engine.simulator import SimulationError, Simulator
from app.engine.status import Status
from app.engine.surveys import Surveys
from app.engine.timeline import Kept, Timeline, Travel, edited
from app.files import checkpoint
from app.files.journal import Journal, write_journal
from app.model.errors import UserError, explained
from app.model.layers import side_by_side
from app.model.overlays import OVERLAYS
from app.model.parameters import Value
from app.model.snapshot import Snapshot
from app.model.wanted import wanted_while
from app.scene.comparison import MOST_WORLDS
from app.scene.edits import Blur, CancelSnowballs, Change, Copy, Keep, LandRequest, Open, Refine, RollSnowballs, Stroke
from app.scene.scene import Scene, seen_as

log = logging.getLogger(__name__)

WAIT_FOR_KERNELS = 0.05  # seconds between two looks whether they are there
WAIT_FOR_PICTURE = 10.0  # seconds
NICENESS = 4  # lets the picture go first; 10 cost a third of the cycles for a twentieth of the frames

# A cycle that is as short as this, in seconds, is hardly more than Python. One after the other they would keep the
# interpreter's lock to themselves, and the window would wait for it at each call that gives it back.
SHORT_CYCLE = 0.0005
GIVING_WAY = 0.0001  # seconds
AFTER_AN_ERROR = 0.1  # seconds, so that one that comes again and again leaves the processor to others
UNNOTICED = 1.0  # seconds that the end may take without a word


# What is asked while a land lives its past, and done after it. Changes and strokes wait as they do for kernels.
EDITS = (Copy, Keep, Blur, Refine, RollSnowballs, CancelSnowballs)
# What is asked on the way to a moment, and done there.
FOR_ITS_END = (*EDITS, Change, Stroke, Pause, Run, Step, Save)


class SimulationThread:
    """The simulation of one world, or of several that are compared, on a thread of its own.

    It is controlled and reports by messages. `take` hands over the newest snapshots; their arrays stay
    as they are until the next ones are taken. Each world has its scene, at its place in `scenes`. Where there is a
    `session`, the newest state and its journal are written there now and then, and at the end.
    """

    def __init__(self, *scenes: Scene, paused: bool = False, session: Session | None = None) -> None:
        self.first_picture_shown = threading.Event()  # kernels are loaded only after it: the picture comes first
        self._opening = Open(scenes)
        self._status = Status(scenes=scenes)
        self._asked_pause = paused  # last
        self._pauses_asked = 0
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._publisher = Publisher()
        self._readiness = Readiness()
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        # All that follows belongs to the thread.
        self._lockstep: Lockstep | None = None
        self._latest_picture = math.inf  # by the clock: kernels do not wait for the first one any longer
        self._is_paused = paused
        self._pauses_answered = 0
        self._granted = 0  # cycles that may run now, where the pace follows the frames or single steps
        self._frames_seen = 0  # since the last portion of cycles was granted
        self._overlay = "none"
        self._surveys = Surveys()
        self._timeline = Timeline()
        self._session = SessionWriter(session) if session else None
        self._told_version = 0  # of the time line, that others can see
        self._travel: Travel | None = None  # to a moment of the time line
        self._travel_request: tuple[GoTo, Moment] | None = None  # what asked for it, and where the worlds were then
        self._waiting: list[Request] = []  # for the end of the travel
        self._fresh = False  # there is a state that no snapshot shows yet
        self._painted = False  # and a hand waits for it
        self._stroke: int | None = None  # the number of the one that may go on with another part
        self._waiting_strokes: list[Stroke] = []  # for kernels
        self._held: dict[int, dict[str, Value]] = {}  # changes of each world that wait for kernels, see `Change`
        self._started_cycles: list[tuple[float, int]] = []

    # What others call.

    def start(self) -> None:
        self.ask(self._opening)
        self._thread.start()

    def stop(self) -> None:
        """End the thread: the cycle that is running comes to its end, and then the session is written."""
        self._stopping = True
        self._readiness.compiler.close()
        was_seen = self.first_picture_shown.is_set()
        self.first_picture_shown.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=UNNOTICED)
            if self._thread.is_alive() and was_seen:
                log.warning("what the simulation is at comes to its end first, and then its work is kept")
            self._thread.join()
        self._timeline.close()
        if self._session:
            self._session.session.close()

    def ask(self, request: Request) -> None:
        """Ask for something, which is done between two cycles, in the order of asking."""
        match request:  # known at once, so that the next press of a key finds what this one asked for
            case Pause() | Step() | GoTo(pause=True):
                self._asked_pause = True
                self._pauses_asked += 1
            case Run():
                self._asked_pause = False
                self._pauses_asked += 1
            case _:
                pass
        self._requests.put(request)
        self._wake.set()

    def reports(self) -> list[Report]:
        """What has happened since the last call."""
        heard: list[Report] = []
        with contextlib.suppress(queue.Empty):
            while True:
                heard.append(self._reports.get_nowait())
        return heard

    def take(self, *, gives_back: bool = True) -> tuple[Snapshot, ...]:
        """The newest snapshots, one of each world and all after the same cycle; none if there are none since the last.

        Gives back the arrays of those before; who still reads them says otherwise, and calls `give_back` later.
        """
        snapshots = self._publisher.take(gives_back=gives_back)
        if snapshots:
            self._wake.set()
        return snapshots

    def give_back(self, shown: Sequence[Snapshot]) -> None:
        """Give back the arrays of all snapshots that were taken, but for those that are shown."""
        if self._publisher.give_back(shown):
            self._wake.set()

    @property
    def paused(self) -> bool:
        """Whether it will be paused when all that was asked for is done."""
        return self._asked_pause if self._pauses_asked > self._pauses_answered else self._is_paused

    @property
    def status(self) -> Status:
        return self._status

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """Those of the worlds that are there, with all changes that were taken."""
        return self._status.scenes

    @property
    def compile_seconds(self) -> float:
        """How long it took to compile what was missing."""
        return self._readiness.compiler.seconds

    # What runs on the thread.

    def _run(self) -> None:
        with wanted_while(lambda: not self._stopping):
            self._live()

    def _live(self) -> None:
        _lower_priority()
        with self._living_on():
            if cache_is_empty():
                # Before the worlds are made and Numba is loaded here: both take seconds, in which workers can begin.
                builds = in_order(build for scene in self._opening.scenes for build in foreseen(scene))
                self._readiness.compiler.ask(builds)
        while not self._stopping:
            with self._living_on():
                self._go_round()
        with self._living_on():
            self._write_session()

    def _go_round(self) -> None:
        """Do what was asked for, publish what is new, run a cycle; where there is nothing to do, wait a little."""
        self._answer_requests()
        self._end_holding()
        self._paint_what_waited()
        self._tell_of_compiling()
        self._publish()
        if self._session and self._session.is_due:
            self._write_session()
        if self._may_run():
            begin = time.perf_counter()
            self._cycle()
            if time.perf_counter() - begin < SHORT_CYCLE:
                time.sleep(GIVING_WAY)
        elif self._picture_comes_first:
            self.first_picture_shown.wait(timeout=WAIT_FOR_KERNELS)
        elif self._requests.empty() and not self._prepare_at_rest() and not self._survey_waits():
            self._wake.wait(timeout=0.1)
            self._wake.clear()

    @contextlib.contextmanager
    def _living_on(self) -> Iterator[None]:
        """Outlive any error in what is done within, so that a person can still save."""
        try:
            yield
        except Exception as error:
            with contextlib.suppress(Exception):  # where there is no memory to report it, either
                self._fail(error)
            time.sleep(AFTER_AN_ERROR)

    # Requests.

    def _answer_requests(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._answer_or_refuse(self._requests.get_nowait())

    def _answer_or_refuse(self, request: Request) -> None:
        try:
            self._answer(request)
        except Exception as error:
            self._refuse(request, error)
        else:
            if not (self._waiting and self._waiting[-1] is request):
                self._count(request)

    def _count(self, request: Request) -> None:
        """A request has been answered, or refused: what it asked for counts no more, but how it is now."""
        if isinstance(request, Pause | Step | Run) or (isinstance(request, GoTo) and request.pause):
            self._pauses_answered += 1

    def _refuse(self, request: Request, error: Exception) -> None:
        if not isinstance(error, UserError):
            log.error("a request failed", exc_info=error)
        if isinstance(request, Stroke):
            self._stroke = None
        self._count(request)
        self._reports.put(Refused(request, explained(error)))

    def _answer(self, request: Request) -> None:
        if (self._travel and isinstance(request, FOR_ITS_END)) or (self._past_goes_on and isinstance(request, EDITS)):
            self._waiting.append(request)
            return
        match request:
            case Open():
                self._open(request)
            case Change(values, world):
                self._change(values, world)
            case Copy(world):
                self._copy(request, world)
            case Keep(worlds):
                self._keep(request, worlds)
            case GoTo():
                self._go_to(request)
            case DiscardBranch(branch):
                self._timeline.discard(branch)
                self._tell_of_timeline()
            case Pause():
                self._set_paused(True)
            case Run():
                self._set_paused(False)
            case Step():
                granted = self._granted if self._is_paused else 0
                self._set_paused(True)
                self._granted = granted + 1
            case Blur():
                self._blur(request)
            case Refine():
                self._refine(request)
            case RollSnowballs(balls):
                self._roll_snowballs(request, balls)
            case CancelSnowballs():
                self._end_run()
            case Stroke():
                self._paint(request)
            case Save():
                self._save(request)
            case Look(view, camera):
                if self._session:
                    self._session.look = request
                if not self._travel:
                    self._timeline.looked(view, camera)
            case Watch(overlay, wanted):
                self._fresh = self._fresh or overlay != self._overlay  # also while nothing runs
                self._overlay, self._surveys.wanted = overlay, wanted
                self._foresee_rates()
            case FrameBegan(screens):
                self._follow_frame(screens)

    def _open(self, request: Open) -> None:
        """Make worlds, or leave all as it was. What was made of them until an error came is in no name here: it is
        freed with the error."""
        before = self._status
        moment = self._leave()
        self._say(state="loading", message=f"loading {request.scenes[0].world.source}", stopped=None)
        try:
            lockstep, snapshots = self._made(request.scenes)
            past = _past_of(request)
        except Exception as error:
            if not isinstance(error, UserError):
                log.exception("a world cannot be made")
            why = explained(error)
            if self._lockstep is None:
                self._say(state="failed", message=why, stopped=Stopped(why))
            else:
                self._say(state=before.state, message=before.message, stopped=before.stopped)
            self._reports.put(OpenFailed(request, why))
            return
        self._end_travel()
        waiting, self._waiting = self._waiting, []
        for other in waiting:
            self._refuse(other, UserError("another land was opened meanwhile"))
        self._timeline.begin(request, lockstep, past)
        self._go_on_from(lockstep)
        numbers = tuple(snapshot.world for snapshot in snapshots)
        self._reports.put(Opened(request, numbers, self._timeline.now.branch, moment))
        self._publisher.begin(snapshots)  # last: the report on what they are comes first

    def _go_on_from(self, lockstep: Lockstep) -> None:
        """Other worlds take the place of those before."""
        self._latest_picture = min(self._latest_picture, time.monotonic() + WAIT_FOR_PICTURE)
        self._lockstep = lockstep
        self._surveys.begin(len(lockstep.simulators))
        self._held = {}
        self._stroke = None  # what a hand goes on to draw was meant for the land before
        strokes, self._waiting_strokes = self._waiting_strokes, []
        for stroke in strokes:
            self._reports.put(Refused(stroke, "there is another land meanwhile"))
        self._fresh = False
        self._started_cycles.clear()
        state = "paused" if self._is_paused else "running"
        self._say(scenes=lockstep.scenes, state=state, message="", cycle=lockstep.cycle, run=lockstep.run)
        self._tell_of_timeline()

    def _made(self, scenes: tuple[Scene, ...]) -> tuple[Lockstep, tuple[Snapshot, ...]]:
        """New worlds, and what is seen of them first: only what can also be shown takes the place of what is there."""
        before = NOTHING
        if self._lockstep is not None:
            before = Needs.of(self._lockstep.scenes, self._lockstep.worlds[0].ground.size, shown=True)
        made = create_worlds(scenes, partial(check_memory, scenes, shown=True, given_back=before))
        lockstep = Lockstep([Simulator(scene, world) for world, scene in made])
        lockstep.verify()
        return lockstep, self._publisher.first(lockstep.worlds, self._overlay)

    def _change(self, values: dict[str, Value], world: int | None) -> None:
        if self._lockstep is None:
            return
        places = range(len(self._lockstep.simulators))
        for place in places:  # of each parameter the last word counts
            if world in (None, place):
                held = self._held.get(place, {})
                self._held[place] = {path: value for path, value in held.items() if path not in values}
        scenes = tuple(
            scene.with_values(values) if world in (None, place) else scene
            for place, scene in enumerate(self._lockstep.scenes)
        )
        if scenes == self._lockstep.scenes:
            pass  # as it is already
        elif self._may_go_on_without(scenes):
            for place in places:
                if world in (None, place):
                    self._held[place] |= values
        else:
            self._go_on_with(Change(values, world))
        self._say(scenes=self._scenes_asked_for)

    def _copy(self, request: Copy, world: int) -> None:
        lockstep = self._lockstep
        if lockstep is None or world >= len(lockstep.simulators):
            raise UserError("there is no world yet that could be compared")
        if len(lockstep.simulators) == MOST_WORLDS:
            raise UserError(f"{MOST_WORLDS} worlds are compared already; more cannot be")
        check_memory([lockstep.scenes[world]], *lockstep.worlds[world].shape, shown=True)
        self._edit(request)
        self._held[len(lockstep.simulators)] = dict(self._held.get(world, {}))
        self._publisher.add()
        self._surveys.add()
        self._say(scenes=self._scenes_asked_for)

    def _keep(self, request: Keep, worlds: tuple[int, ...]) -> None:
        if self._lockstep is None or not worlds or max(worlds) >= len(self._lockstep.simulators):
            raise UserError("there is no such world to go on with")
        self._edit(request)
        self._held = {place: self._held.get(world, {}) for place, world in enumerate(worlds)}
        self._publisher.keep(worlds)
        self._surveys.keep(worlds)
        self._say(scenes=self._scenes_asked_for)

    def _edit(self, request: Copy | Keep | Blur | RollSnowballs) -> None:
        """Make an edit, from which there is a way back."""
        before = self._leave()
        assert self._lockstep is not None
        self._lockstep = edited(self._lockstep, request)
        self._note(request)
        self._reports.put(Edited(request, before))
        self._fresh = True

    def _note(self, request: LandRequest) -> None:
        """Enter in the journal what was done just now."""
        assert self._lockstep is not None
        self._timeline.edited(request, self._lockstep)
        self._tell_of_timeline()

    # The time line.

    def _leave(self) -> Moment:
        """Keep the present state, which something else takes the place of, and return where that was."""
        if self._travel:
            return self._travel.target  # as good as there: it can be had again
        if self._lockstep is not None:
            try:
                self._lockstep.settle_levels()
                self._lockstep.verify()
                self._timeline.keep(self._lockstep)
            except Exception as error:  # it is had again from the state before
                log.warning("the present state cannot be kept: %s", error)
        return self._timeline.now

    def _go_to(self, request: GoTo) -> None:
        if self._lockstep is None:
            raise UserError("there is no world yet")
        target = Moment(request.branch, request.cycle, max(request.edits or 1, 1))  # the first edit made the worlds
        if request.edits is None:
            target = self._timeline.complete(request.branch, request.cycle)
        before, edits = self._leave(), self._timeline.edits_of(target)
        start = self._timeline.start_for(target) or self._begin_again(target)
        lockstep = Lockstep([kept.simulator() for kept in start.worlds])
        snapshots = self._publisher.first(lockstep.worlds, self._overlay)
        # All is there; what fails before leaves the worlds as they are.
        if request.pause:
            self._set_paused(True)
        self._end_travel()
        self._travel, self._travel_request = Travel(start, target, edits), (request, before)
        self._timeline.travelled(self._travel.moment(lockstep), lockstep)
        self._go_on_from(lockstep)
        self._say(stopped=None, message="")
        self._publisher.begin(snapshots)

    def _begin_again(self, target: Moment) -> Kept:
        """The first state of the way to a moment, which is not kept: that of a world that was opened with its past."""
        opened = self._timeline.edits_of(target)[0]
        assert isinstance(opened.request, Open)
        scenes = opened.request.scenes
        lockstep = Lockstep(
            [Simulator(scene, world) for world, scene in create_worlds(scenes, partial(check_memory, scenes))]
        )
        Journal((opened,), opened.cycle).check_beginning(lockstep.cycle)
        return self._timeline.keep_first(target.branch, lockstep)

    def _travel_on(self) -> None:
        """Do what was done next on the way to a moment, and stop where it is reached."""
        assert self._travel is not None and self._lockstep is not None
        shapes = [world.shape for world in self._lockstep.worlds]
        self._lockstep = self._travel.edit(self._lockstep)
        if [world.shape for world in self._lockstep.worlds] != shapes:
            self._surveys.begin(len(self._lockstep.simulators))
            self._publisher.begin(self._publisher.first(self._lockstep.worlds, self._overlay))
        if self._travel.is_over(self._lockstep):
            self._arrive()
        else:
            self._lockstep.advance()
            self._timeline.travelled(self._travel.moment(self._lockstep), self._lockstep)
            self._say(cycle=self._lockstep.cycle, run=self._lockstep.run)

    def _arrive(self) -> None:
        assert self._travel is not None and self._travel_request is not None and self._lockstep is not None
        request, before = self._travel_request
        self._timeline.travelled(self._travel.moment(self._lockstep), self._lockstep)
        self._travel = self._travel_request = None
        self._fresh = True
        self._say(scenes=self._lockstep.scenes, cycle=self._lockstep.cycle, run=self._lockstep.run)
        self._tell_of_timeline()
        self._reports.put(Arrived(request, self._publisher.numbers, before))
        self._answer_what_waited()

    def _answer_what_waited(self) -> None:
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            self._answer_or_refuse(request)

    def _end_travel(self) -> None:
        """Something else was asked for on the way."""
        if self._travel_request:
            request, before = self._travel_request
            self._reports.put(Arrived(request, (), before))
        self._travel = self._travel_request = None

    def _keep_state_when_due(self) -> None:
        """Keep the present state for the time line, now and then."""
        assert self._lockstep is not None
        if self._timeline.keeping_is_due:
            self._lockstep.verify()
            self._timeline.keep(self._lockstep)
        self._tell_of_timeline()

    def _tell_of_timeline(self) -> None:
        target = self._travel.target if self._travel else None
        if self._timeline.version != self._told_version or target != self._status.timeline.target:
            self._told_version = self._timeline.version
            self._say(timeline=self._timeline.seen(target))
        self._say(moment=self._timeline.now)

    def _set_paused(self, paused: bool) -> None:
        if paused != self._is_paused and not self._travel:
            self._timeline.stopped_or_went_on()
        self._is_paused = paused
        self._granted = 0
        self._started_cycles.clear()
        if self._lockstep and not (paused and self._status.state == "failed"):
            self._say(state="paused" if paused else "running", stopped=None, message="")

    def _blur(self, request: Blur) -> None:
        self._edit_sound_world(request)
        self._say(cycle=self._timeline.now.cycle)

    def _refine(self, request: Refine) -> None:
        """Go on with the worlds in finer cells. Where they cannot be made or shown, those that are there go on."""
        lockstep = self._sound_lockstep()
        before = self._leave()
        finer = lockstep.refined(request.times, shown=True)
        snapshots = self._publisher.first(finer.worlds, self._overlay)
        self._lockstep = finer
        self._note(request)
        self._surveys.begin(len(finer.simulators))
        self._started_cycles.clear()
        self._fresh = False
        self._reports.put(Edited(request, before))
        self._publisher.begin(snapshots)

    def _roll_snowballs(self, request: RollSnowballs, balls: int) -> None:
        self._edit_sound_world(request)
        self._say(run=self._lockstep.run if self._lockstep else None)

    def _edit_sound_world(self, request: Blur | RollSnowballs) -> None:
        self._sound_lockstep()
        self._edit(request)

    def _sound_lockstep(self) -> Lockstep:
        if self._lockstep is None:
            raise UserError("there is no world yet")
        if self._status.state == "failed":
            raise UserError("the simulation has stopped; resume it first")
        return self._lockstep

    def _paint(self, request: Stroke) -> None:
        """Do what a brush does. There is a way back to before the first part of a stroke."""
        if request.begins:
            self._stroke = None
        elif request.number != self._stroke:
            return  # of one that could not be begun, or of another land
        if self._lockstep is None:
            raise UserError("there is no world yet")
        if self._status.state == "failed":
            self._stroke = None
            raise UserError("the simulation has stopped; resume it first")
        self._stroke = request.number
        if self._waiting_strokes or not self._has_kernels_for(request):
            self._waiting_strokes.append(request)
        else:
            self._paint_now(request)

    def _has_kernels_for(self, stroke: Stroke) -> bool:
        assert self._lockstep is not None
        if self._past_goes_on:
            return False
        painted = self._lockstep.painted_by(stroke)
        needed = in_order(build for simulator in painted for build in simulator.unprepared_for(stroke))
        missing = [build for build in needed if not self._is_ready(build)]  # all of them are asked for
        return not missing

    def _paint_what_waited(self) -> None:
        """Paint the strokes that waited for kernels, as far as these are there."""
        while self._waiting_strokes and self._has_kernels_for(self._waiting_strokes[0]):
            stroke = self._waiting_strokes.pop(0)
            try:
                self._paint_now(stroke)
            except Exception as error:
                self._refuse(stroke, error)

    def _paint_now(self, request: Stroke) -> None:
        assert self._lockstep is not None
        before = self._leave() if request.begins else None
        self._lockstep = edited(self._lockstep, request)
        self._note(request)
        if before is not None:
            self._reports.put(Edited(request, before))
        self._fresh = self._painted = True

    def _end_run(self) -> None:
        if self._lockstep and self._lockstep.run:
            self._lockstep.end_run()
            self._note(CancelSnowballs())
            self._say(run=None)

    def _save(self, request: Save) -> None:
        try:
            if self._lockstep is None:
                raise UserError("there is no world to save yet")
            try:
                self._lockstep.verify()
            except SimulationError as error:  # they have gone back to a cycle after which they were sound
                self._fail(error)
            simulator = self._lockstep.simulators[request.world]
            scene = seen_as(simulator.scene, request.seen) if request.seen else simulator.scene
            journal = self._timeline.journal(request.world)
            if request.is_scratch:
                checkpoint.save(request.path, simulator.world, scene, journal, compressed=False)
                self._reports.put(Saved(request.path))
                return
            if request.path.suffix.lower() == ".toml":
                write_journal(request.path, journal)
            else:
                checkpoint.save(request.path, simulator.world, scene, journal)
        except Exception as error:
            if not isinstance(error, UserError):
                log.exception("%s cannot be saved", request.path)
            self._reports.put(SaveFailed(request.path, explained(error)))
        else:
            self._reports.put(Saved(request.path))

    def _write_session(self) -> None:
        """Write the newest state for the case that the program is killed, while cycles go on.

        That is the end of the branch, also where an earlier moment is looked at.
        """
        if self._session is None or self._lockstep is None:
            return
        now = self._travel_request[1] if self._travel_request else self._leave()
        self._session.write(self._timeline, self._timeline.end_of(now), self._reports.put)

    @property
    def _picture_comes_first(self) -> bool:
        """Whether kernels wait for the first picture. Not for long: a window may be hidden from the start."""
        if self.first_picture_shown.is_set() or time.monotonic() > self._latest_picture:
            return False
        return self._lockstep is not None and bool(self._lockstep.unprepared())

    def _follow_frame(self, screens: int) -> None:
        if self._lockstep and not self._is_paused:
            simulation = self._lockstep.scenes[0].simulation
            portions, self._frames_seen = divmod(self._frames_seen + screens, simulation.frames_per_cycle)
            cycles = simulation.cycles_per_frame * portions
            self._granted = max(self._granted, cycles)  # what could not be run in time is not made up for

    # Cycles.

    def _may_run(self) -> bool:
        if self._lockstep is None or self._status.state == "failed" or self._picture_comes_first:
            return False
        if self._lockstep.run or self._travel:
            return True
        if self._is_paused:
            return self._granted > 0
        if self._lockstep.has_finished:
            return False
        return self._granted > 0 or self._lockstep.scenes[0].simulation.cycles_per_frame == 0

    def _cycle(self) -> None:
        lockstep = self._lockstep
        assert lockstep is not None
        try:
            if not self._prepare():
                self._say(state="compiling")
                self._wake.wait(timeout=WAIT_FOR_KERNELS)
                self._wake.clear()
                return
            if self._live_on():
                return
            if self._travel:
                self._travel_on()
                return
            begin = time.perf_counter()
            lockstep.advance()
            self._timeline.advanced(lockstep, time.perf_counter() - begin)
            self._keep_state_when_due()
        except Exception as error:  # a kernel that does not compile, for one
            self._fail(error)
        self._fresh = True
        if lockstep.run:
            self._say(run=lockstep.run)
            if self._status.state == "failed":
                self._end_run()
        else:
            self._say(run=None)
            self._granted = max(0, self._granted - 1)
        self._measure_pace()

    def _fail(self, error: Exception) -> None:
        """Stop, and say why. Requests are still heard: the person may save, change something and go on."""
        where = (error.process, error.layer, error.cell) if isinstance(error, SimulationError) else ()
        stopped = Stopped(explained(error), *where)
        if stopped != self._status.stopped:  # what recurs is reported once
            self._reports.put(stopped)
            if not isinstance(error, UserError):
                log.error("the simulation stopped", exc_info=error)
        cycle = self._lockstep.cycle if self._lockstep else 0
        if self._travel and self._lockstep:
            self._timeline.travelled(self._travel.moment(self._lockstep), self._lockstep)
        elif self._lockstep:
            self._timeline.advanced(self._lockstep, 0.0)
        self._end_travel()
        self._say(state="failed", message=stopped.why, stopped=stopped, cycle=cycle)
        self._answer_what_waited()

    def _measure_pace(self) -> None:
        assert self._lockstep is not None
        now, cycle = time.monotonic(), self._lockstep.cycle
        self._started_cycles.append((now, cycle))
        while len(self._started_cycles) > 2 and self._started_cycles[0][0] < now - 1.0:
            self._started_cycles.pop(0)
        begin, first = self._started_cycles[0]
        pace = (cycle - first) / (now - begin) if now > begin else 0.0
        if any(scene.keys for scene in self._lockstep.scenes):
            self._say(scenes=self._scenes_asked_for)
        self._say(cycle=cycle, cycles_per_second=pace, milliseconds=self._lockstep.milliseconds)

    # Kernels are compiled while the simulation runs. A cycle runs with all enabled processes or with none: did
    # it do without those whose kernels take longer, its bits would depend on how fast a machine compiles. What may come
    # before it is what changes no layer: lakes and sea are seen as soon as their own kernels are there. What a land has
    # from its past comes as soon as all are, with the same bits whenever that is. Once cycles run they need not stop: a
    # change that needs new kernels can wait, as it counts from the cycle in which it is made, as all that a person
    # does; and a survey, which changes nothing, is made when it can be.

    def _prepare(self) -> bool:
        """Give the simulators the builds that they need and that are ready; returns whether all are."""
        assert self._lockstep is not None
        unprepared = self._lockstep.unprepared()
        if not unprepared:
            return True
        ready = {build for build in in_order(build for _, build in unprepared) if self._is_ready(build)}
        before = self._lockstep.water_versions
        for simulator, build in unprepared:
            if build in ready:
                if self._readiness.failed_elsewhere(build):
                    self._say(state="compiling", message=f"compiling {build}")
                simulator.prepare(build)
                # Lakes and sea are seen at once.
                self._fresh = self._fresh or self._lockstep.water_versions != before
        if len(ready) < len({build for _, build in unprepared}):
            return False
        self._say(state="paused" if self._is_paused else "running", message="")
        return True

    @property
    def _past_goes_on(self) -> bool:
        """Whether there is a past to be lived before a person may change the land."""
        return self._lockstep is not None and self._status.state != "failed" and self._lockstep.past_is_due

    def _live_on(self) -> bool:
        """Take the next step of the past, between which all requests are heard; returns whether there was one."""
        assert self._lockstep is not None
        if not self._lockstep.past_is_due:
            return False
        if self._lockstep.live_on():
            self._say(state="growing", message="water and plants come to the land")
            return True
        self._fresh = True
        self._timeline.keep_anew(self._lockstep)
        self._say(state="paused" if self._is_paused else "running", message="")
        for simulator in self._lockstep.simulators:
            if simulator.past_failure:
                self._reports.put(PastFailed(simulator.past_failure))
        if not self._travel:
            self._answer_what_waited()
        return True

    def _prepare_at_rest(self) -> bool:
        """As `_prepare`, and the past after it, while nothing runs; returns whether there is more than before."""
        if self._lockstep is None or self._status.state == "failed":
            return False
        before = len(self._lockstep.unprepared())
        try:
            if self._prepare() and self._live_on():
                return True
        except Exception as error:
            self._fail(error)
        return len(self._lockstep.unprepared()) < before

    def _is_ready(self, build: str) -> bool:
        assert self._lockstep is not None
        return self._readiness.is_ready(build, self._lockstep.simulators[0])

    def _may_go_on_without(self, scenes: Sequence[Scene]) -> bool:
        """Whether cycles run now, or a past is lived, and these scenes need builds that must be waited for."""
        if self._past_goes_on:
            return True
        if self._lockstep is None or self._is_paused or self._status.state != "running" or self._lockstep.unprepared():
            return False
        needed = in_order(build for _, build in self._lockstep.unprepared(scenes))
        return bool([build for build in needed if not self._is_ready(build)])  # all of them are asked for

    def _go_on_with(self, *changes: Change) -> None:
        assert self._lockstep is not None
        versions = self._lockstep.water_versions
        seen = [(scene.traits, scene.fields) for scene in self._lockstep.scenes]
        for change in changes:
            self._lockstep = edited(self._lockstep, change)
            self._note(change)
        self._say(milliseconds=self._lockstep.milliseconds)
        # Another level of the sea, colour of a kind or field is seen at once, also while nothing runs.
        self._fresh = self._fresh or self._lockstep.water_versions != versions
        self._fresh = self._fresh or [(scene.traits, scene.fields) for scene in self._lockstep.scenes] != seen

    @property
    def _scenes_asked_for(self) -> tuple[Scene, ...]:
        """The scenes of the worlds, with the changes that wait for kernels."""
        assert self._lockstep is not None
        return tuple(scene.with_values(self._held.get(place, {})) for place, scene in enumerate(self._lockstep.scenes))

    def _foresee_rates(self) -> None:
        """Have the kernels of ground with rates made while one is only looked at: then a brush need not wait long."""
        shown = OVERLAYS[self._overlay].layers
        if self._lockstep is not None and any(name in shown for name in side_by_side("rates")):
            for simulator in self._lockstep.simulators:
                for build in in_order(simulator.unprepared(rated=True)):
                    self._is_ready(build)

    def _end_holding(self) -> None:
        """Make the changes that waited for kernels, if these are there or nothing goes on meanwhile."""
        if self._lockstep is None or not any(self._held.values()):
            return
        scenes = self._scenes_asked_for
        if not self._may_go_on_without(scenes):
            held, self._held = self._held, {}
            self._go_on_with(*(Change(values, place) for place, values in held.items() if values))

    def _tell_of_compiling(self) -> None:
        progress = self._readiness.compiler.progress
        if progress != self._status.compiling:
            self._say(compiling=progress)

    # Snapshots and surveys.

    def _publish(self) -> None:
        """Publish snapshots if there is something new and the last ones were taken."""
        publisher = self._publisher
        if self._lockstep is None or (publisher.is_full and not (self._painted and publisher.has_place)):
            return
        survey_is_due = self._survey_is_due()
        if not self._fresh and not survey_is_due:
            return
        try:
            if not self._may_run():  # else the next cycle does it
                self._lockstep.settle_levels()
            self._lockstep.verify()
        except SimulationError as error:
            self._fail(error)
        if survey_is_due:
            self._find_surveys()
        self._fresh = self._painted = (
            False  # first: where this cannot be shown, it is not tried again until something happens
        )
        self._publisher.publish(self._lockstep.worlds, self._surveys.newest, self._overlay)

    def _survey_waits(self) -> bool:
        """Whether there is a survey to be made and published, also while nothing runs."""
        return not self._publisher.is_full and self._survey_is_due()

    def _survey_is_due(self) -> bool:
        wanted = self._surveys.wanted
        if self._lockstep is None or (wanted.anything and not self.first_picture_shown.is_set()):
            return False
        if not self._surveys.are_due(self._lockstep):
            return False
        if wanted.streams_alone:  # which wait for what cycles need
            return not self._lockstep.unprepared() and self._is_ready(STREAMS)
        return not wanted.anything or self._is_ready(RIVERS)

    def _find_surveys(self) -> None:
        """Survey the worlds, and report where that fails."""
        assert self._lockstep is not None
        try:
            self._surveys.find(self._lockstep)
        except Exception as error:
            log.exception("the survey failed")
            self._reports.put(SurveyFailed(explained(error)))

    def _say(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)


def _past_of(request: Open) -> Journal | None:
    """The journal that led to a saved world, where it knows one. A comparison begins without."""
    if len(request.scenes) > 1 or not request.scenes[0].saved_world:
        return None
    return checkpoint.load_past(Path(request.scenes[0].saved_world))


def _lower_priority() -> None:
    """Let the picture go first where both want the same core. Linux only: there each thread has its own priority."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
