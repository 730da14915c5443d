"""The thread that the simulation runs on, so that neither it nor the window ever waits for the other."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from app.engine.builds import RIVERS, foreseen, in_order
from app.engine.compiling import cache_is_empty
from app.engine.creation import create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import NOTHING, Needs, check_memory
from app.engine.messages import (
    Blur,
    CancelSnowballs,
    Change,
    Copy,
    FrameBegan,
    Keep,
    Open,
    Opened,
    OpenFailed,
    Pause,
    Refused,
    Report,
    Request,
    RollSnowballs,
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
from app.engine.simulator import SimulationError, Simulator
from app.engine.status import Status
from app.engine.surveys import Surveys
from app.files import checkpoint
from app.model.errors import UserError, explained
from app.model.parameters import Value
from app.model.snapshot import Snapshot
from app.processes.pools import Pools
from app.scene.comparison import MOST_WORLDS
from app.scene.scene import Scene

log = logging.getLogger(__name__)

WAIT_FOR_KERNELS = 0.05  # seconds between two looks whether they are there
NICENESS = 4  # lets the picture go first; 10 cost a third of the cycles for a twentieth of the frames

# A cycle that is as short as this, in seconds, is hardly more than Python. One after the other they would keep the
# interpreter's lock to themselves, and the window would wait for it at each call that gives it back.
SHORT_CYCLE = 0.0005
GIVING_WAY = 0.0001  # seconds
AFTER_AN_ERROR = 0.1  # seconds, so that one that comes again and again leaves the processor to others


class SimulationThread:
    """The simulation of one world, or of several that are compared, on a thread of its own.

    It is controlled and reports by messages. `take` hands over the newest snapshots; their arrays stay
    as they are until the next ones are taken. Each world has its scene, at its place in `scenes`.
    """

    def __init__(self, *scenes: Scene, paused: bool = False) -> None:
        self.paused = paused  # as it was asked for last
        self.first_picture_shown = threading.Event()  # kernels are loaded only after it: the picture comes first
        self._opening = Open(scenes)
        self._status = Status(scenes=scenes)
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._publisher = Publisher()
        self._readiness = Readiness()
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        # All that follows belongs to the thread.
        self._lockstep: Lockstep | None = None
        self._is_paused = paused
        self._granted = 0  # cycles that may run now, where the pace follows the frames or single steps
        self._overlay = "none"
        self._surveys = Surveys()
        self._fresh = False  # there is a state that no snapshot shows yet
        self._held: dict[int, dict[str, Value]] = {}  # changes of each world that wait for kernels, see `Change`
        self._started_cycles: list[tuple[float, int]] = []

    # What others call.

    def start(self) -> None:
        self.ask(self._opening)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; waits for the cycle that is running."""
        self._stopping = True
        self._readiness.compiler.close()
        self.first_picture_shown.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)  # a compilation that takes longer is left behind

    def ask(self, request: Request) -> None:
        """Ask for something, which is done between two cycles, in the order of asking."""
        match request:  # known at once, so that the next press of a key finds what this one asked for
            case Pause() | Step():
                self.paused = True
            case Run():
                self.paused = False
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

    def take(self) -> tuple[Snapshot, ...]:
        """The newest snapshots, one of each world and all after the same cycle; none if there are none since the last.

        Gives back the arrays of those before.
        """
        snapshots = self._publisher.take()
        if snapshots:
            self._wake.set()
        return snapshots

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
        _lower_priority()
        with self._living_on():
            if cache_is_empty():
                # Before the worlds are made and Numba is loaded here: both take seconds, in which workers can begin.
                builds = in_order(build for scene in self._opening.scenes for build in foreseen(scene))
                self._readiness.compiler.ask(builds)
        while not self._stopping:
            with self._living_on():
                self._go_round()

    def _go_round(self) -> None:
        """Do what was asked for, publish what is new, run a cycle; where there is nothing to do, wait a little."""
        self._answer_requests()
        self._end_holding()
        self._tell_of_compiling()
        self._publish()
        if self._may_run():
            begin = time.perf_counter()
            self._cycle()
            if time.perf_counter() - begin < SHORT_CYCLE:
                time.sleep(GIVING_WAY)
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
                request = self._requests.get_nowait()
                try:
                    self._answer(request)
                except Exception as error:
                    if not isinstance(error, UserError):
                        log.exception("a request failed")
                    self._reports.put(Refused(request, explained(error)))

    def _answer(self, request: Request) -> None:
        match request:
            case Open():
                self._open(request)
            case Change(values, world):
                self._change(values, world)
            case Copy(world):
                self._copy(world)
            case Keep(worlds):
                self._keep(worlds)
            case Pause():
                self._set_paused(True)
            case Run():
                self._set_paused(False)
            case Step():
                granted = self._granted if self._is_paused else 0
                self._set_paused(True)
                self._granted = granted + 1
            case Blur():
                self._blur()
            case RollSnowballs(balls):
                self._roll_snowballs(balls)
            case CancelSnowballs():
                self._end_run()
            case Save():
                self._save(request)
            case Watch(overlay, wanted):
                self._fresh = self._fresh or overlay != self._overlay  # also while nothing runs
                self._overlay, self._surveys.wanted = overlay, wanted
            case FrameBegan(screens):
                self._follow_frame(screens)

    def _open(self, request: Open) -> None:
        """Make worlds, or leave all as it was. What was made of them until an error came is in no name here: it is
        freed with the error."""
        before = self._status
        self._say(state="loading", message=f"loading {request.scenes[0].world.source}", stopped=None)
        try:
            lockstep, snapshots = self._made(request.scenes)
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
        self._lockstep = lockstep
        self._surveys.begin(len(lockstep.simulators))
        self._held = {}
        self._fresh = False
        self._started_cycles.clear()
        state = "paused" if self._is_paused else "running"
        self._say(scenes=lockstep.scenes, state=state, message="", cycle=lockstep.cycle, run=None)
        self._reports.put(Opened(request, tuple(snapshot.world for snapshot in snapshots)))
        self._publisher.begin(snapshots)  # last: the report on what they are comes first

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
        if self._may_go_on_without(scenes):
            for place in places:
                if world in (None, place):
                    self._held[place] |= values
        else:
            self._go_on_with(scenes)
        self._say(scenes=self._scenes_asked_for)

    def _copy(self, world: int) -> None:
        lockstep = self._lockstep
        if lockstep is None or world >= len(lockstep.simulators):
            raise UserError("there is no world yet that could be compared")
        if len(lockstep.simulators) == MOST_WORLDS:
            raise UserError(f"{MOST_WORLDS} worlds are compared already; more cannot be")
        check_memory([lockstep.scenes[world]], *lockstep.worlds[world].shape, shown=True)
        self._lockstep = lockstep.with_copy(world)
        self._held[len(lockstep.simulators)] = dict(self._held.get(world, {}))
        self._publisher.add()
        self._surveys.add()
        self._fresh = True
        self._say(scenes=self._scenes_asked_for)

    def _keep(self, worlds: tuple[int, ...]) -> None:
        if self._lockstep is None or not worlds or max(worlds) >= len(self._lockstep.simulators):
            return  # it could not be made
        self._lockstep = Lockstep([self._lockstep.simulators[world] for world in worlds])
        self._held = {place: self._held.get(world, {}) for place, world in enumerate(worlds)}
        self._publisher.keep(worlds)
        self._surveys.keep(worlds)
        self._fresh = True
        self._say(scenes=self._scenes_asked_for)

    def _set_paused(self, paused: bool) -> None:
        self._is_paused = paused
        self._granted = 0
        self._started_cycles.clear()
        if self._lockstep and not (paused and self._status.state == "failed"):
            self._say(state="paused" if paused else "running", stopped=None, message="")

    def _blur(self) -> None:
        if self._lockstep and self._status.state != "failed":
            self._lockstep.smooth()
            self._fresh = True
            self._say(cycle=self._lockstep.cycle)

    def _roll_snowballs(self, balls: int) -> None:
        if self._lockstep and self._status.state != "failed":
            self._lockstep.begin_run(balls)
            self._say(run=self._lockstep.run)

    def _end_run(self) -> None:
        if self._lockstep and self._lockstep.run:
            self._lockstep.end_run()
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
            seen = {"view": request.view, "camera": request.camera}
            scene = msgspec.structs.replace(simulator.scene, **{name: part for name, part in seen.items() if part})
            checkpoint.save(request.path, simulator.world, scene)
        except Exception as error:
            if not isinstance(error, UserError):
                log.exception("%s cannot be saved", request.path)
            self._reports.put(SaveFailed(request.path, explained(error)))
        else:
            self._reports.put(Saved(request.path))

    def _follow_frame(self, screens: int) -> None:
        if self._lockstep and not self._is_paused:
            cycles = self._lockstep.scenes[0].simulation.cycles_per_frame * screens
            self._granted = max(self._granted, cycles)  # what could not be run in time is not made up for

    # Cycles.

    def _may_run(self) -> bool:
        if self._lockstep is None or self._status.state == "failed":
            return False
        if self._lockstep.run:
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
            lockstep.advance()
        except Exception as error:  # a kernel that does not compile, for one
            self._fail(error)
        self._fresh = True
        if lockstep.run:
            self._say(run=lockstep.run)
            if self._status.state == "failed" or lockstep.run_is_over:
                self._end_run()
        else:
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
        self._say(state="failed", message=stopped.why, stopped=stopped, cycle=cycle)

    def _measure_pace(self) -> None:
        assert self._lockstep is not None
        now, cycle = time.monotonic(), self._lockstep.cycle
        self._started_cycles.append((now, cycle))
        while len(self._started_cycles) > 2 and self._started_cycles[0][0] < now - 1.0:
            self._started_cycles.pop(0)
        begin, first = self._started_cycles[0]
        pace = (cycle - first) / (now - begin) if now > begin else 0.0
        self._say(cycle=cycle, cycles_per_second=pace, milliseconds=self._lockstep.milliseconds)

    # Kernels are compiled while the simulation runs. A cycle runs with all enabled processes or with none: did
    # it do without those whose kernels take longer, its bits would depend on how fast a machine compiles. What may come
    # before it is what changes no layer: lakes and sea are seen as soon as their own kernels are there. Once cycles run
    # they need not stop: a change that needs new kernels can wait, as it counts from the cycle in which it is made, as
    # all that a person does; and a survey, which changes nothing, is made when it can be.

    def _prepare(self) -> bool:
        """Give the simulators the builds that they need and that are ready; returns whether all are."""
        assert self._lockstep is not None
        unprepared = self._lockstep.unprepared()
        if not unprepared:
            return True
        self.first_picture_shown.wait(timeout=10.0)
        ready = {build for build in in_order(build for _, build in unprepared) if self._is_ready(build)}
        for simulator, build in unprepared:
            if build in ready:
                if self._readiness.failed_elsewhere(build):
                    self._say(state="compiling", message=f"compiling {build}")
                simulator.prepare(build)
                self._fresh = self._fresh or build == Pools.name
        if len(ready) < len({build for _, build in unprepared}):
            return False
        self._say(state="paused" if self._is_paused else "running", message="")
        return True

    def _prepare_at_rest(self) -> bool:
        """As `_prepare`, while nothing runs; returns whether there is more than before."""
        if self._lockstep is None or self._status.state == "failed":
            return False
        before = len(self._lockstep.unprepared())
        try:
            self._prepare()
        except Exception as error:
            self._fail(error)
        return len(self._lockstep.unprepared()) < before

    def _is_ready(self, build: str) -> bool:
        assert self._lockstep is not None
        return self._readiness.is_ready(build, self._lockstep.simulators[0])

    def _may_go_on_without(self, scenes: Sequence[Scene]) -> bool:
        """Whether cycles run now, and these scenes need builds that must be waited for."""
        if self._lockstep is None or self._is_paused or self._status.state != "running" or self._lockstep.unprepared():
            return False
        needed = in_order(build for _, build in self._lockstep.unprepared(scenes))
        return bool([build for build in needed if not self._is_ready(build)])  # all of them are asked for

    def _go_on_with(self, scenes: Sequence[Scene]) -> None:
        assert self._lockstep is not None
        versions, traits = self._lockstep.water_versions, [scene.traits for scene in self._lockstep.scenes]
        self._lockstep.change(scenes)
        self._say(milliseconds=self._lockstep.milliseconds)
        # Another level of the sea, and another colour of a kind, are seen at once, also while nothing runs.
        self._fresh = self._fresh or self._lockstep.water_versions != versions
        self._fresh = self._fresh or [scene.traits for scene in scenes] != traits

    @property
    def _scenes_asked_for(self) -> tuple[Scene, ...]:
        """The scenes of the worlds, with the changes that wait for kernels."""
        assert self._lockstep is not None
        return tuple(scene.with_values(self._held.get(place, {})) for place, scene in enumerate(self._lockstep.scenes))

    def _end_holding(self) -> None:
        """Make the changes that waited for kernels, if these are there or nothing goes on meanwhile."""
        if self._lockstep is None or not any(self._held.values()):
            return
        scenes = self._scenes_asked_for
        if not self._may_go_on_without(scenes):
            self._held = {}
            self._go_on_with(scenes)

    def _tell_of_compiling(self) -> None:
        progress = self._readiness.compiler.progress
        if progress != self._status.compiling:
            self._say(compiling=progress)

    # Snapshots and surveys.

    def _publish(self) -> None:
        """Publish snapshots if there is something new and the last ones were taken."""
        if self._lockstep is None or self._publisher.is_full:
            return
        survey_is_due = self._survey_is_due()
        if not self._fresh and not survey_is_due:
            return
        try:
            self._lockstep.verify()
        except SimulationError as error:
            self._fail(error)
        if survey_is_due:
            self._find_surveys()
        self._fresh = False  # first: where this cannot be shown, it is not tried again until something happens
        self._publisher.publish(self._lockstep.worlds, self._surveys.newest, self._overlay)

    def _survey_waits(self) -> bool:
        """Whether there is a survey to be made and published, also while nothing runs."""
        return not self._publisher.is_full and self._survey_is_due()

    def _survey_is_due(self) -> bool:
        wants = self._surveys.wanted.anything
        if self._lockstep is None or (wants and not self.first_picture_shown.is_set()):
            return False
        return self._surveys.are_due(self._lockstep) and (not wants or self._is_ready(RIVERS))

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


def _lower_priority() -> None:
    """Let the picture go first where both want the same core. Linux only: there each thread has its own priority."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
