"""The simulation: cycles over a world, and the thread that runs them beside the picture.

`Simulator` is the plain, synchronous thing: a scene, a world, `advance()`. `SimulationThread` owns one of them, takes
commands and publishes snapshots, and never makes the window wait.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from app import checkpoint
from app.errors import UserError
from app.parameters import Parameters, Value
from app.processes import PROCESSES
from app.processes.pools import Pools, derive_levels
from app.processes.process import Finite, Process, ProcessFailure
from app.processes.snowballs import GROUND, SnowballErosion, smooth
from app.scene import Scene
from app.snapshot import Snapshot, Status, Survey
from app.sources import create_world
from app.survey import Surveyor, Wanted
from app.world import World

log = logging.getLogger(__name__)

SECONDS_BETWEEN_BACKUPS = 2.0
NICENESS = 3  # lets the picture go first; 10 cost two thirds of the cycles and made its late frames no rarer


class SimulationError(UserError):
    """A cycle failed. The world is as it was after the last good cycle."""


PORTION = 500  # snowballs of a run in a cycle: a few milliseconds, after which the picture may follow


class SnowballRun(NamedTuple):
    """So many snowballs that fall while nothing else moves the ground. Counted as `World.snowballs` is."""

    first: int
    last: int


class Simulator:
    """Runs the processes of a scene over a world. Not safe for threads: one owner at a time."""

    def __init__(self, scene: Scene, world: World, threads: int | None = None) -> None:
        self.scene = scene
        self.world = world
        self.threads = threads  # where it is given, it goes before the scene's
        self.milliseconds: dict[str, float] = {}
        self.run: SnowballRun | None = None
        self._processes: list[Process] = [process() for process in PROCESSES]
        self._prepared: set[str] = set()
        self._running = ""  # the process that is, or was last
        self._backup = world.state()
        self._backup_time = time.monotonic()

    def enabled(self) -> list[Process]:
        """The processes that are switched on and have not come to their end, in the order of the cycle."""
        return [
            process
            for process in self._processes
            if (parameters := self._parameters(process)).enabled
            and not (isinstance(process, Finite) and process.finished(self.world, parameters))
        ]

    @property
    def has_finished(self) -> bool:
        """Whether there are processes that are switched on, and all of them have come to their end."""
        return not self.enabled() and any(self._parameters(process).enabled for process in self._processes)

    def unprepared(self) -> list[Process]:
        """Enabled processes whose kernels are not compiled yet."""
        return [process for process in self.enabled() if process.name not in self._prepared]

    def prepare(self, process: Process) -> None:
        """Compile the kernels of a process, or load them from the cache."""
        process.prepare()
        self._prepared.add(process.name)
        if process.name == Pools.name:
            self.derive_levels()

    def prepare_all(self) -> None:
        """Prepare what is switched on, so that the world shows its lakes and sea before the first cycle."""
        for process in self.unprepared():
            self.prepare(process)

    def derive_levels(self) -> None:
        """Bring the levels of lakes and sea up to date with the world and the scene, between two cycles."""
        if self.scene.pools.enabled and Pools.name in self._prepared:
            derive_levels(self.world, self.scene.pools)

    def change(self, scene: Scene) -> None:
        """Go on with the parameters of another scene, from the next cycle."""
        # A replay must run all its cycles with the parameters that they had, and must start from a sound world.
        self.verify()
        self._remember()
        before, self.scene = self.scene, scene
        if scene.pools != before.pools:
            self.derive_levels()

    def smooth(self) -> None:
        """A cycle in which nothing happens but that the ground is blurred once."""
        self.verify()
        smooth(self.world)
        self.world.cycle += 1
        self.world.changed.update(dict.fromkeys(GROUND, self.world.cycle))
        self.derive_levels()
        self._remember()  # a replay begins after it

    def begin_run(self, balls: int) -> None:
        """From the next cycle on, let so many snowballs fall, in portions, and nothing else move the ground."""
        self.verify()
        self._remember()
        self.run = SnowballRun(self.world.snowballs, self.world.snowballs + balls)

    def end_run(self) -> None:
        """Go on as the scene says, whether or not all balls of the run have fallen."""
        self.verify()
        self._remember()
        self.run = None

    @property
    def run_is_over(self) -> bool:
        """Whether all balls of the run have fallen."""
        return self.run is not None and self.world.snowballs >= self.run.last

    def advance(self) -> None:
        """Run one cycle. Raises `SimulationError` where it fails, with the world as it was after the last good one."""
        self.prepare_all()
        if time.monotonic() - self._backup_time > SECONDS_BETWEEN_BACKUPS:
            self.verify()
            self._remember()
        try:
            self._run_cycle()
        except ProcessFailure as failure:
            self._go_back(self.world.cycle)
            raise SimulationError(f"{failure}; stopped after cycle {self.world.cycle}") from failure
        except Exception as error:
            self._go_back(self.world.cycle)
            raise SimulationError(
                f"{self._running}: {type(error).__name__}: {error}; stopped after cycle {self.world.cycle}"
            ) from error

    def verify(self) -> None:
        """Raise `SimulationError` if a layer holds a value that is not finite, and go back to before it was so."""
        if self.world.non_finite_cell() is None:
            return
        last_cycle = self.world.cycle
        self.world.restore(self._backup)
        while self.world.cycle < last_cycle:
            state = self.world.state()
            for process in self.enabled():
                self._step(process)
                if bad := self.world.non_finite_cell():
                    self.world.restore(state)
                    layer, row, column = bad
                    raise SimulationError(
                        f"{process.name} left {layer} not finite at row {row}, column {column}; "
                        f"stopped after cycle {self.world.cycle}"
                    )
            self._end_cycle()
        raise SimulationError("a layer holds a value that is not finite; went back to the last good cycle")

    def _parameters(self, process: Process) -> Any:
        """Of a process in the next cycle: those of the scene, or of the run of snowballs."""
        parameters: Parameters = getattr(self.scene, process.name)
        if self.run is None:
            return parameters
        if process.name == SnowballErosion.name:
            return msgspec.structs.replace(parameters, enabled=True, count=PORTION, total=self.run.last)
        if set(process.changes) & set(GROUND):
            return msgspec.structs.replace(parameters, enabled=False)
        return parameters

    def _run_cycle(self) -> None:
        self._use_threads()
        for process in self.enabled():
            self._running = process.name
            begin = time.perf_counter()
            self._step(process)
            elapsed = (time.perf_counter() - begin) * 1e3
            before = self.milliseconds.get(process.name, elapsed)
            self.milliseconds[process.name] = before + 0.1 * (elapsed - before)
        self._end_cycle()

    def _step(self, process: Process) -> None:
        process.step(self.world, self._parameters(process))
        self.world.changed.update(dict.fromkeys(process.changes, self.world.cycle + 1))

    def _end_cycle(self) -> None:
        self.world.spills = None
        self.world.cycle += 1

    def _remember(self) -> None:
        self._backup = self.world.state()
        self._backup_time = time.monotonic()

    def _go_back(self, cycle: int) -> None:
        """To the state after `cycle`: from the last backup, run the cycles since then once more."""
        self.world.restore(self._backup)
        while self.world.cycle < cycle:
            self._run_cycle()
        self._remember()

    def _use_threads(self) -> None:
        """Numba keeps this per thread, so it is said by the thread that runs the cycle, and again after each change."""
        import numba

        available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(self.threads or self.scene.simulation.threads or available, available))


class SimulationThread:
    """A simulator on a thread of its own.

    Commands may be given from any thread and take effect between two cycles. `take()` hands over the newest snapshot;
    its arrays stay as they are until the next one is taken.
    """

    def __init__(self, scene: Scene, *, paused: bool = False) -> None:
        self.scene = scene  # as last asked for; the simulator's own follows at the next cycle
        self._status = Status()
        self._paused = paused
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = threading.Event()
        self._published: Snapshot | None = None
        self._lock = threading.Lock()
        self._snapshots: list[Snapshot] = []  # the last two of this world
        self._worlds = 0
        self._granted = 0  # cycles that may run now, where the pace follows the frames or single steps
        self._stopping = False
        self._simulator: Simulator | None = None
        self._fresh = False  # there is a state that no snapshot shows yet
        self._wanted = Wanted()
        self._surveyor = Surveyor()
        self._survey: Survey | None = None
        self._survey_failed_for: Wanted | None = None
        self._has_surveyed = False
        self._notices: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._started_cycles: list[tuple[float, int]] = []
        self.first_picture_shown = threading.Event()  # kernels are loaded only after it: the picture comes first
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)

    # What the window calls.

    def start(self) -> None:
        self.restart(self.scene)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; waits for the cycle that is running."""
        self._stopping = True
        self.first_picture_shown.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)  # a compilation that takes longer is left behind

    @property
    def status(self) -> Status:
        return self._status

    @property
    def paused(self) -> bool:
        return self._paused

    def set_paused(self, paused: bool) -> None:
        self._paused = paused  # at once, so that the next press of a key finds what this one asked for
        self._command(lambda: self._set_paused(paused))

    def step(self) -> None:
        """Pause, and run a single cycle."""

        def single_step() -> None:
            self._set_paused(True)
            self._granted = 1

        self._paused = True
        self._command(single_step)

    def change(self, path: str, value: Value) -> None:
        """Change one parameter, from the next cycle on. What changes the terrain itself needs `restart`."""
        self.scene = self.scene.with_value(path, value)

        def apply() -> None:
            # To the simulator's own scene: what was asked for meanwhile may be a world that could not be made.
            if self._simulator:
                version = self._simulator.world.water_version
                self._simulator.change(self._simulator.scene.with_value(path, value))
                # Another level of the sea is seen at once, also while nothing runs.
                self._fresh = self._fresh or self._simulator.world.water_version != version

        self._command(apply)

    def restart(self, scene: Scene) -> None:
        """Make the world of `scene` anew. Where that fails, the world that is there goes on."""
        self.scene = scene
        self._command(lambda: self._load(scene))

    def save(self, path: Path, seen: Scene | None = None) -> None:
        """Write the world to a file between two cycles, with the view and camera of `seen`."""

        def write() -> None:
            if self._simulator is None:
                raise UserError("there is no world to save yet")
            self._simulator.verify()
            scene = self._simulator.scene
            if seen is not None:
                scene = msgspec.structs.replace(scene, view=seen.view, camera=seen.camera)
            checkpoint.save(path, self._simulator.world, scene)
            self._notices.put(f"saved {path}")

        self._command(write)

    def roll_snowballs(self, balls: int) -> None:
        """Let so many snowballs fall, and nothing else move the ground; then go on, or stay paused, as before."""

        def begin() -> None:
            if self._simulator and self._status.state != "failed":
                self._simulator.begin_run(balls)
                self._say_run()

        self._command(begin)

    def cancel_snowballs(self) -> None:
        """Let no more snowballs of a run fall."""
        self._command(self._end_run)

    def smooth(self) -> None:
        """Blur the ground once."""

        def blur() -> None:
            if self._simulator and self._status.state != "failed":
                self._simulator.smooth()
                self._fresh = True
                self._say(cycle=self._simulator.world.cycle)

        self._command(blur)

    def want(self, wanted: Wanted) -> None:
        """What the next snapshots shall tell about rivers."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._wake.set()

    def frame_began(self) -> None:
        """Tell that a frame is drawn: the pace of the simulation may follow it."""
        cycles = self.scene.simulation.cycles_per_frame
        if cycles and not self._paused and self._granted < cycles:
            self._granted = cycles  # what could not be run in time is not made up for
            self._wake.set()

    def take(self) -> Snapshot | None:
        """The newest snapshot, or None if there is none since the last. Gives back the arrays of the one before."""
        with self._lock:
            snapshot, self._published = self._published, None
        if snapshot is not None:
            self._wake.set()
        return snapshot

    def notices(self) -> list[str]:
        """What was said since the last call: errors and what was saved where."""
        said = []
        with contextlib.suppress(queue.Empty):
            while True:
                said.append(self._notices.get_nowait())
        return said

    # What runs on the thread.

    def _command(self, command: Callable[[], None]) -> None:
        self._commands.put(command)
        self._wake.set()

    def _run(self) -> None:
        _lower_priority()
        while not self._stopping:
            self._run_commands()
            self._publish()
            if self._may_run():
                self._cycle()
            elif self._commands.empty() and not self._prepare_levels() and not self._survey_waits():
                self._wake.wait(timeout=0.1)
                self._wake.clear()

    def _run_commands(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                command = self._commands.get_nowait()
                try:
                    command()
                except UserError as error:
                    self._notices.put(str(error))
                except Exception as error:
                    log.exception("a command failed")
                    self._notices.put(f"{type(error).__name__}: {error}")

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        self._granted = 0
        self._started_cycles.clear()
        if self._simulator and not (paused and self._status.state == "failed"):
            self._say(state="paused" if paused else "running", error="", message="")

    def _load(self, scene: Scene) -> None:
        self._say(state="loading", message=f"loading {scene.world.source}", error="")
        try:
            world, made = create_world(scene)
        except Exception as error:
            if self._simulator is None:
                text = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
                self._say(state="failed", message=text, error=text)
            else:
                self.scene = self._simulator.scene
                self._say(state="paused" if self._paused else "running", message="")
            raise
        if self.scene is scene:  # and was not changed while the world was made
            self.scene = made
        self._simulator = Simulator(made, world)
        self._worlds += 1
        self._snapshots = []
        self._fresh = True
        self._started_cycles.clear()
        self._say(state="paused" if self._paused else "running", message="", cycle=world.cycle, run=None)

    def _end_run(self) -> None:
        if self._simulator and self._simulator.run:
            self._simulator.end_run()
            self._say_run()

    def _say_run(self) -> None:
        assert self._simulator is not None
        run, world = self._simulator.run, self._simulator.world
        self._say(run=(world.snowballs - run.first, run.last - run.first) if run else None)

    def _may_run(self) -> bool:
        if self._simulator is None or self._status.state == "failed":
            return False
        if self._simulator.run:
            return True
        if self._paused:
            return self._granted > 0
        if self._simulator.has_finished:
            return False
        return self._granted > 0 or self.scene.simulation.cycles_per_frame == 0

    def _cycle(self) -> None:
        simulator = self._simulator
        assert simulator is not None
        try:
            if unprepared := simulator.unprepared():
                self._prepare(simulator, unprepared[0])
                return
            simulator.advance()
        except SimulationError as error:
            self._say(state="failed", message=str(error), error=str(error), cycle=simulator.world.cycle)
            self._notices.put(str(error))
        except Exception as error:  # a kernel that does not compile, for one: the window lives on
            log.exception("the simulation stopped")
            self._say(state="failed", message=str(error), error=f"{type(error).__name__}: {error}")
        self._fresh = True
        if simulator.run:
            self._say_run()
            if self._status.state == "failed" or simulator.run_is_over:
                self._end_run()
        else:
            self._granted = max(0, self._granted - 1)
        self._measure_pace()

    def _prepare(self, simulator: Simulator, process: Process) -> None:
        self.first_picture_shown.wait(timeout=10.0)
        self._say(state="compiling", message=f"compiling {process.name} (only after an update)")
        simulator.prepare(process)
        self._say(state="paused" if self._paused else "running", message="")
        self._fresh = self._fresh or process.name == Pools.name

    def _prepare_levels(self) -> bool:
        """Lakes and sea are seen as soon as their kernel is there, also while nothing runs."""
        if self._simulator is None or self._status.state == "failed":
            return False
        waiting = [process for process in self._simulator.unprepared() if process.name == Pools.name]
        for process in waiting:
            try:
                self._prepare(self._simulator, process)
            except Exception as error:
                log.exception("lakes and sea cannot be shown")
                self._say(state="failed", message=str(error), error=f"{type(error).__name__}: {error}")
        return bool(waiting)

    def _measure_pace(self) -> None:
        assert self._simulator is not None
        now, cycle = time.monotonic(), self._simulator.world.cycle
        self._started_cycles.append((now, cycle))
        while len(self._started_cycles) > 2 and self._started_cycles[0][0] < now - 1.0:
            self._started_cycles.pop(0)
        begin, first = self._started_cycles[0]
        pace = (cycle - first) / (now - begin) if now > begin else 0.0
        self._say(cycle=cycle, cycles_per_second=pace, milliseconds=dict(self._simulator.milliseconds))

    def _publish(self) -> None:
        """Publish a snapshot if there is something new and the last one was taken."""
        if self._simulator is None or self._published is not None:
            return
        survey_is_due = self._survey_is_due()
        if not self._fresh and not survey_is_due:
            return
        world = self._simulator.world
        try:
            self._simulator.verify()
        except SimulationError as error:
            self._say(state="failed", message=str(error), error=str(error), cycle=world.cycle)
            self._notices.put(str(error))
        if survey_is_due:
            self._find_survey()
        # Two sets of arrays are used in turn: one is the picture's, the other is free to be written.
        old = self._snapshots.pop(0) if len(self._snapshots) == 2 else None
        snapshot = take_snapshot(world, self._worlds, old, self._survey)
        self._snapshots.append(snapshot)
        with self._lock:
            self._published = snapshot
        self._fresh = False

    def _survey_waits(self) -> bool:
        """Whether there is a survey to be made and published, also while nothing runs."""
        return self._published is None and self._survey_is_due()

    def _survey_is_due(self) -> bool:
        if self._simulator is None or self._wanted == self._survey_failed_for:
            return False
        if self._wanted.anything and not self.first_picture_shown.is_set():
            return False
        return self._surveyor.is_due(self._simulator.world, self._simulator.scene.rivers, self._wanted)

    def _find_survey(self) -> None:
        """Survey the world. What goes wrong is told, and not tried again until something else is wanted."""
        assert self._simulator is not None
        before = self._status
        if not self._has_surveyed and self._wanted.anything:
            self._say(state="compiling", message="compiling rivers (only after an update)")
            self._has_surveyed = True
        try:
            self._survey = self._surveyor.survey(self._simulator.world, self._simulator.scene.rivers, self._wanted)
        except Exception as error:
            log.exception("the survey failed")
            self._notices.put(f"{type(error).__name__}: {error}")
            self._surveyor, self._survey, self._survey_failed_for = Surveyor(), None, self._wanted
        self._say(state=before.state, message=before.message)

    def _say(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)


def take_snapshot(world: World, number: int = 0, old: Snapshot | None = None, survey: Survey | None = None) -> Snapshot:
    """The state of `world` in float32; in the arrays of a snapshot that is done with, where there is one."""
    arrays = {} if old is None else old.layers
    versions = dict(world.changed)
    if world.water_version == 0:
        del versions["water"]  # nothing has ever stood there
    else:
        versions["water"] = versions["water_level"] = world.water_version
    for name in arrays.keys() - versions.keys():
        del arrays[name]
    for name, version in versions.items():
        if name not in arrays:
            arrays[name] = np.empty(world.shape, np.float32)
        elif old is not None and old.versions[name] == version:
            continue
        match name:
            case "water":
                np.subtract(world.water_level, world.ground, out=arrays[name], casting="same_kind")
                np.maximum(arrays[name], 0.0, out=arrays[name])
            case "water_level":
                np.copyto(arrays[name], world.water_level, casting="same_kind")
            case _:
                np.copyto(arrays[name], world.layers[name], casting="same_kind")
    if survey is not None:  # whose layers never change
        arrays |= survey.layers
        versions |= survey.versions
    return Snapshot(
        world=number,
        layers=arrays,
        versions=versions,
        cell_size=world.cell_size,
        seed=world.seed,
        cycle=world.cycle,
        lowest=float(world.ground.min()),
        highest=float(world.ground.max()),
        sea_level=world.sea_level,
        ledger=world.ledger_copy(),
        imbalance=world.imbalance(),
        survey=survey,
        snowballs=world.snowballs,
    )


def _lower_priority() -> None:
    """Let the picture go first where both want the same core. Linux only: there a thread has a priority of its own."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
