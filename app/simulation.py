"""The simulation: cycles over a world, and the thread that runs them beside the picture.

`Simulator` is the plain, synchronous thing: a scene, a world, `advance()`. `Lockstep` keeps several of them at the same
cycle, so that their worlds can be compared. `SimulationThread` owns them, takes commands and publishes snapshots, and
never makes the window wait.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from app import builds, checkpoint
from app.builds import RIVERS, Ground, builds_of, in_order
from app.climate import weather_of
from app.comparison import NAMES
from app.compiling import Compiler, NotCached, cache_is_empty, fill_cache, only_from_cache, tell_of_failure
from app.errors import UserError, explained
from app.layers import LAYERS, layer_declaration
from app.memory import NOTHING, Needs, check_memory
from app.parameters import Parameters, Value
from app.processes import PROCESSES
from app.processes.cycle import Cycle
from app.processes.pools import Pools, derive_levels
from app.processes.process import Fading, Finite, Process, ProcessFailure
from app.processes.snowballs import GROUND, SnowballErosion, smooth
from app.scene import Scene
from app.snapshot import Snapshot, Status, Survey, shown_versions
from app.sources import create_worlds
from app.survey import Surveyor, Wanted
from app.world import LARGEST_CYCLE, LARGEST_IMBALANCE, World
from kernels.standing import DRY

log = logging.getLogger(__name__)

Told = TypeVar("Told")

SECONDS_BETWEEN_BACKUPS = 2.0
WAIT_FOR_KERNELS = 0.05  # seconds between two looks whether they are there
NICENESS = 4  # lets the picture go first; 10 cost a third of the cycles for a twentieth of the frames


class SimulationError(UserError):
    """A cycle failed. The world is as it was after the last good cycle."""


# A cycle that is as short as this, in seconds, is hardly more than Python. One after the other they would keep the
# interpreter's lock to themselves, and the window would wait for it at each call that gives it back.
SHORT_CYCLE = 0.0005
GIVING_WAY = 0.0001  # seconds
AFTER_AN_ERROR = 0.1  # seconds, so that one that comes again and again leaves the processor to others

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
        self.cycle = Cycle()  # the one that runs, or ran last
        self._allowed_imbalance = world.imbalance() + LARGEST_IMBALANCE  # what a file brings along is not ours
        self._processes: list[Process] = [process() for process in PROCESSES]
        # Asked several times in each cycle, and `isinstance` of a protocol is slow to answer.
        self._finite = {process.name: process for process in self._processes if isinstance(process, Finite)}
        self._fading = [process for process in self._processes if isinstance(process, Fading)]
        self._prepared: set[str] = set()
        self._running = ""  # the process that is, or was last
        self._backup = world.state()
        self._backup_time = time.monotonic()

    def enabled(self, scene: Scene | None = None) -> list[Process]:
        """The processes that are switched on and have not come to their end, in the order of the cycle."""
        return [
            process
            for process in self._processes
            if (parameters := self._parameters(process, scene)).enabled
            and not ((finite := self._finite.get(process.name)) and finite.finished(self.world, parameters))
        ]

    @property
    def has_finished(self) -> bool:
        """Whether there are processes that are switched on, and all of them have come to their end."""
        return not self.enabled() and any(self._parameters(process).enabled for process in self._processes)

    def unprepared(self, scene: Scene | None = None) -> list[str]:
        """The builds that the next cycles need with the parameters of a scene, or of its own, and that are missing."""
        enabled = self.enabled(scene)
        running = frozenset(process.name for process in enabled)
        ground = Ground(materials=self.world.materials is not None, covered=self.world.surface is not None)
        needed = (builds_of(process, self._parameters(process, scene), ground, running) for process in enabled)
        return [build for of_process in needed for build in of_process if build not in self._prepared]

    def load(self, build: str) -> None:
        """Compile a build of kernels, or load it from the cache."""
        builds.prepare(build, self._processes)

    def prepare(self, build: str) -> None:
        """As `load`, and use it from the next cycle on."""
        self.load(build)
        self._prepared.add(build)
        if build == Pools.name:
            self.derive_levels()

    def prepare_all(self) -> None:
        """Prepare what is switched on, so that the world shows its lakes and sea before the first cycle."""
        for build in self.unprepared():
            self.prepare(build)

    def compile_missing(self) -> None:
        """As `prepare_all`, on all cores, and with a bar that shows how far it is."""
        fill_cache(self.unprepared(), self.load)
        self.prepare_all()

    def derive_levels(self) -> None:
        """Bring the levels of lakes and sea up to date with the world and the scene, between two cycles."""
        if self.scene.pools.enabled and Pools.name in self._prepared:
            derive_levels(self.world, self.scene.pools)

    def change(self, scene: Scene) -> None:
        """Go on with the parameters of another scene, from the next cycle."""
        # A replay must run all its cycles with the parameters that they had, and must start from a sound world.
        self.back_up()
        self.go_on_with(scene)

    def go_on_with(self, scene: Scene) -> None:
        """As `change`, but without a backup, which must have been made just now."""
        before, self.scene = self.scene, scene
        self._forget_times_of_what_is_off()
        if scene.pools != before.pools:
            self.derive_levels()

    def smooth(self) -> None:
        """A cycle in which nothing happens but that the ground is blurred once."""
        self.back_up()
        smooth(self.world)
        self.world.cycle += 1
        self.world.changed.update(dict.fromkeys(GROUND, self.world.cycle))
        self.derive_levels()
        self._remember()  # a replay begins after it

    def begin_run(self, balls: int) -> None:
        """From the next cycle on, let so many snowballs fall, in portions, and nothing else move the ground."""
        self.back_up()
        self.run = SnowballRun(self.world.snowballs, self.world.snowballs + balls)

    def end_run(self) -> None:
        """Go on as the scene says, whether or not all balls of the run have fallen."""
        self.back_up()
        self.run = None

    @property
    def run_is_over(self) -> bool:
        """Whether all balls of the run have fallen."""
        return self.run is not None and self.world.snowballs >= self.run.last

    def advance(self) -> None:
        """Run one cycle. Raises `SimulationError` where it fails, with the world as it was after the last good one."""
        if self.backup_is_old:
            self.back_up()
        self.run_cycle()

    @property
    def backup_is_old(self) -> bool:
        return time.monotonic() - self._backup_time > SECONDS_BETWEEN_BACKUPS

    def back_up(self) -> None:
        """Keep the state of now, from which cycles are run once more where a later one fails."""
        self.verify()
        try:
            self._remember()
        except Exception as error:
            raise SimulationError(f"{explained(error)}; stopped after cycle {self.world.cycle}") from error

    def run_cycle(self) -> None:
        """As `advance`, but without a new backup however old the last one is."""
        if self.world.cycle >= LARGEST_CYCLE:
            raise SimulationError(f"cycle {LARGEST_CYCLE} is the last that can be counted")
        self.prepare_all()
        try:
            self._run_cycle()
        except ProcessFailure as failure:
            self.go_back(self.world.cycle)
            raise SimulationError(f"{failure}; stopped after cycle {self.world.cycle}") from failure
        except Exception as error:
            running = self._running  # where going back fails too, it is another one
            self.go_back(self.world.cycle)
            raise SimulationError(f"{running}: {explained(error)}; stopped after cycle {self.world.cycle}") from error

    def verify(self) -> None:
        """Raise `SimulationError` if the world is not sound, and go back to before it was so.

        A sound one can be saved and opened again: all its values are finite and within their bounds, and its ledger
        adds up.
        """
        if not self._unsound_layer() and not self._unsound_account():
            return
        with self._backup_kept():
            self._find_unsound_process(self.world.cycle)

    def _find_unsound_process(self, last_cycle: int) -> None:
        """Run the cycles since the last backup once more, up to before the process that left what is not sound."""
        self._restore(self._backup)
        while self.world.cycle < last_cycle:
            state = self.world.state()
            imbalances = [self.world.imbalances()]
            self._begin_cycle()
            enabled = self.enabled()
            for process in enabled:
                self._step(process)
                if wrong := self._unsound_layer():
                    self._restore(state)
                    raise SimulationError(f"{process.name} left {wrong}; stopped after cycle {self.world.cycle}")
                imbalances.append(self.world.imbalances())
            self._end_cycle()
            if substance := self._unsound_account():
                steps = [abs(after[substance] - before[substance]) for before, after in itertools.pairwise(imbalances)]
                wrong = f"{abs(imbalances[-1][substance]):.1e} of all {substance} is unaccounted for"
                name = enabled[steps.index(max(steps))].name
                self._restore(state)
                raise SimulationError(f"{name}: {wrong}; stopped after cycle {self.world.cycle}")
        raise SimulationError("the world was not sound; went back to the last good cycle")

    def _unsound_layer(self) -> str:
        """The layer and cell that hold a value which none may have, as a text; empty where there is none."""
        if not (cell := self.world.unsound_cell()):
            return ""
        layer, row, column = cell
        value = self.world.layers[layer][row, column]
        low, high = layer_declaration(layer).bounds
        found = f"at {value:g} (it may be from {low:g} to {high:g})" if np.isfinite(value) else "not finite"
        return f"{layer} {found} at row {row}, column {column}"

    def _unsound_account(self) -> str:
        """The substance of which most is unaccounted for, where it is more than may be; empty where all adds up."""
        imbalances = {name: abs(imbalance) for name, imbalance in self.world.imbalances().items()}
        beyond = {name: part for name, part in imbalances.items() if not part <= self._allowed_imbalance}  # also NaN
        return max(beyond, key=beyond.__getitem__, default="")

    def go_back(self, cycle: int) -> None:
        """To the state after `cycle`: from the last backup, run the cycles since then once more.

        Raises `SimulationError` if one of them left a world that is not sound, and stays before it.
        """
        with self._backup_kept():
            self._restore(self._backup)
            while self.world.cycle < cycle:
                self._run_cycle()
        self.verify()

    @contextlib.contextmanager
    def _backup_kept(self) -> Iterator[None]:
        """Where cycles cannot be run once more, for lack of memory, say, stay at the last backup, which is sound."""
        try:
            yield
        except SimulationError:
            raise
        except Exception as error:
            self._restore(self._backup)
            raise SimulationError(f"{explained(error)}; went back to cycle {self.world.cycle}") from error

    def _parameters(self, process: Process, scene: Scene | None = None) -> Any:
        """Of a process in the next cycle: those of a scene, or of its own, or of the run of snowballs."""
        parameters: Parameters = getattr(scene or self.scene, process.name)
        if self.run is None:
            return parameters
        if process.name == SnowballErosion.name:
            return msgspec.structs.replace(parameters, enabled=True, count=PORTION, total=self.run.last)
        if set(process.changes) & set(GROUND):
            return msgspec.structs.replace(parameters, enabled=False)
        return parameters

    def _run_cycle(self) -> None:
        self._use_threads()
        self._begin_cycle()
        for process in self.enabled():
            self._running = process.name
            begin = time.perf_counter()
            self._step(process)
            elapsed = (time.perf_counter() - begin) * 1e3
            before = self.milliseconds.get(process.name, elapsed)
            self.milliseconds[process.name] = before + 0.1 * (elapsed - before)
        self._forget_times_of_what_is_off()
        self._end_cycle()

    def _forget_times_of_what_is_off(self) -> None:
        running = {process.name for process in self.enabled()}
        self.milliseconds = {name: taken for name, taken in self.milliseconds.items() if name in running}

    def _begin_cycle(self) -> None:
        weather = weather_of(self.scene.climate, self.world.seed, self.world.cycle)
        self.cycle = Cycle(weather, frozenset(process.name for process in self.enabled()))

    def _step(self, process: Process) -> None:
        changed = process.step(self.world, self._parameters(process), self.cycle)
        self.world.changed.update(dict.fromkeys(process.changes if changed is None else changed, self.world.cycle + 1))

    def _end_cycle(self) -> None:
        if self.run is None:  # for which all else stands still
            self._fade_traces()
        self.world.cycle += 1

    def _fade_traces(self) -> None:
        """Let what processes left fade where they are switched off."""
        for process in self._fading:
            parameters = self._parameters(process)
            if not parameters.enabled and process.fade(self.world, parameters):
                traces = [name for name in process.changes if not LAYERS[name].always]
                self.world.changed.update(dict.fromkeys(traces, self.world.cycle + 1))

    def _remember(self) -> None:
        self._backup = self.world.state(self._backup)
        self._backup_time = time.monotonic()

    def _restore(self, state: dict[str, Any]) -> None:
        """Go back to a state of the world, and to the levels that its lakes had then."""
        self.world.restore(state)
        try:
            self.derive_levels()
        except Exception as error:  # the next cycle finds them anew
            log.debug("the levels of lakes are not up to date: %s", error)

    def _use_threads(self) -> None:
        """Numba keeps this per thread, so it is said by the thread that runs the cycle, and again after each change."""
        import numba

        available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(self.threads or self.scene.simulation.threads or available, available))


class Lockstep:
    """Simulators whose worlds are always after the same cycle: one, or two that are compared.

    They run in turn on the thread of the caller, each as it would alone. Where one of them fails, all go back to the
    last cycle that is good in all. Their backups are made together, so that none has to go back beyond its own.
    """

    def __init__(self, simulators: Sequence[Simulator]) -> None:
        self.simulators = tuple(simulators)

    @property
    def cycle(self) -> int:
        return self.simulators[0].world.cycle

    @property
    def scenes(self) -> tuple[Scene, ...]:
        return tuple(simulator.scene for simulator in self.simulators)

    @property
    def worlds(self) -> tuple[World, ...]:
        return tuple(simulator.world for simulator in self.simulators)

    @property
    def water_versions(self) -> list[int]:
        return [world.water_version for world in self.worlds]

    @property
    def milliseconds(self) -> dict[str, float]:
        """What each process takes in a cycle of all worlds."""
        total: dict[str, float] = {}
        for simulator in self.simulators:
            for name, milliseconds in simulator.milliseconds.items():
                total[name] = total.get(name, 0.0) + milliseconds
        return total

    def unprepared(self, scenes: Sequence[Scene] | None = None) -> list[tuple[Simulator, str]]:
        """The builds that each needs with the parameters of these scenes, or of their own, and that are missing."""
        pairs = zip(self.simulators, scenes or self.scenes, strict=True)
        return [(simulator, build) for simulator, scene in pairs for build in simulator.unprepared(scene)]

    def change(self, scenes: Sequence[Scene]) -> None:
        """Go on with the parameters of other scenes, from the next cycle."""
        self._back_up()
        for simulator, scene in zip(self.simulators, scenes, strict=True):
            simulator.go_on_with(scene)

    @property
    def has_finished(self) -> bool:
        """Whether all processes have come to their end in all worlds."""
        return all(simulator.has_finished for simulator in self.simulators)

    @property
    def run(self) -> tuple[int, int] | None:
        """How many snowballs of a run have fallen in each world, and how many will."""
        run = self.simulators[0].run
        return (self.worlds[0].snowballs - run.first, run.last - run.first) if run else None

    @property
    def run_is_over(self) -> bool:
        return all(simulator.run_is_over for simulator in self.simulators)

    def begin_run(self, balls: int) -> None:
        """Let so many snowballs fall in each world, from the next cycle on."""
        self._back_up()
        for simulator in self.simulators:
            simulator.begin_run(balls)

    def end_run(self) -> None:
        """Go on as the scenes say."""
        self._back_up()
        for simulator in self.simulators:
            simulator.end_run()

    def smooth(self) -> None:
        """Blur the ground of each world once."""
        self._back_up()
        for simulator in self.simulators:
            simulator.smooth()

    def advance(self) -> None:
        """Run one cycle of each world. Raises `SimulationError` where it fails."""
        if any(simulator.backup_is_old for simulator in self.simulators):
            self._back_up()
        self._for_all(Simulator.run_cycle)

    def verify(self) -> None:
        """Raise `SimulationError` if a world is not sound, and go back to before it was so."""
        self._for_all(Simulator.verify)

    def _back_up(self) -> None:
        self.verify()  # first all of them: one that fails takes the others back
        for simulator in self.simulators:
            simulator.back_up()

    def _for_all(self, step: Callable[[Simulator], None]) -> None:
        """Take a step of each, and where one fails, go back to the last cycle that is good in all."""
        text = ""
        while failures := self._failures(step):
            good_cycle, text = min(failures)
            step = partial(Simulator.go_back, cycle=good_cycle)
        if text:
            raise SimulationError(text)

    def _failures(self, step: Callable[[Simulator], None]) -> list[tuple[int, str]]:
        """Take a step of each. Returns after which cycle those that fail have stopped, and what they say."""
        failures = []
        for name, simulator in zip(NAMES, self.simulators, strict=False):
            try:
                step(simulator)
            except Exception as error:  # of any kind: else one world would go on without the other
                text = f"{name}: {explained(error)}" if len(self.simulators) > 1 else explained(error)
                failures.append((simulator.world.cycle, text))
        return failures


class SimulationThread:
    """The simulation of one world, or of two that are compared, on a thread of its own.

    Commands may be given from any thread and take effect between two cycles. `take()` hands over the newest snapshots;
    their arrays stay as they are until the next ones are taken. Each world has a scene of its own, and a place in the
    order of `scenes`.
    """

    def __init__(self, *scenes: Scene, paused: bool = False) -> None:
        self.scenes = scenes  # as last asked for; the simulators' own follow at the next cycle
        self._restarts = 0  # that were asked for
        self._status = Status()
        self._paused = paused
        self._commands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = threading.Event()
        self._published: tuple[Snapshot, ...] = ()
        self._lock = threading.Lock()
        self._snapshots: list[tuple[Snapshot, ...]] = []  # the last two of these worlds
        self._numbers: tuple[int, ...] = ()  # of the worlds
        self._granted = 0  # cycles that may run now, where the pace follows the frames or single steps
        self._stopping = False
        self._lockstep: Lockstep | None = None
        self._fresh = False  # there is a state that no snapshot shows yet
        self._wanted = Wanted()
        self._overlay = "none"
        self._surveyors: list[Surveyor] = []  # one for each world
        self._surveys: list[Survey | None] = []
        self._survey_failed_for: Wanted | None = None
        self.compiler = Compiler()
        self._ready: set[str] = set()  # builds that need not be waited for any more
        self._held: dict[int, dict[str, Value]] = {}  # changes of each world that wait for kernels, see `change`
        self._notices: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._failed_saves: queue.SimpleQueue[tuple[Path, str]] = queue.SimpleQueue()
        self._failed_restarts: queue.SimpleQueue[tuple[Scene, ...]] = queue.SimpleQueue()
        self._started_cycles: list[tuple[float, int]] = []
        self.first_picture_shown = threading.Event()  # kernels are loaded only after it: the picture comes first
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)

    # What the window calls.

    def start(self) -> None:
        self.restart(*self.scenes)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; waits for the cycle that is running."""
        self._stopping = True
        self.compiler.close()
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

    def change(self, values: Mapping[str, Value], world: int | None = None) -> None:
        """Change parameters, from the next cycle on, of one world or of all.

        What changes the terrain itself needs `restart`. Where a change needs kernels that are still to be compiled, a
        simulation that runs goes on as before until they are there, as if the change had been asked for later.
        """

        def changed(scenes: Sequence[Scene]) -> tuple[Scene, ...]:
            return tuple(
                scene.with_values(values) if world in (None, place) else scene for place, scene in enumerate(scenes)
            )

        self.scenes = changed(self.scenes)
        restarts = self._restarts

        def apply() -> None:
            # To the simulators' own scenes: what was asked for meanwhile may be a world that could not be made.
            if self._lockstep is None:
                return
            if restarts == self._restarts and len(self.scenes) == len(self._lockstep.scenes):
                self.scenes = changed(self.scenes)  # once more: such a world took them with it
            places = range(len(self._lockstep.simulators)) if world is None else (world,)
            for place in places:  # of each parameter the last word counts
                self._held[place] = {path: old for path, old in self._held.get(place, {}).items() if path not in values}
            scenes = changed(self._lockstep.scenes)
            if self._may_go_on_without(scenes):
                for place in places:
                    self._held[place] |= values
            else:
                self._go_on_with(scenes)

        self._command(apply)

    def restart(self, *scenes: Scene) -> None:
        """Make the worlds of `scenes` anew. Where that fails, those that are there go on."""
        self.scenes = scenes
        self._restarts += 1
        number = self._restarts
        self._command(lambda: self._load(scenes, is_last=lambda: number == self._restarts))

    def keep(self, world: int) -> None:
        """Go on with one of the worlds alone."""
        self.scenes = self.scenes[world : world + 1]
        self._command(lambda: self._keep(world))

    def save(self, path: Path, seen: Scene | None = None, world: int = 0) -> None:
        """Write a world to a file between two cycles, with the view and camera of `seen`."""

        def write() -> None:
            if self._lockstep is None:
                raise UserError("there is no world to save yet")
            self._lockstep.verify()
            simulator = self._lockstep.simulators[world]
            scene = simulator.scene
            if seen is not None:
                scene = msgspec.structs.replace(scene, view=seen.view, camera=seen.camera)
            checkpoint.save(path, simulator.world, scene)
            self._notices.put(f"saved {path}")

        def attempt() -> None:
            try:
                write()
            except Exception as error:
                if not isinstance(error, UserError):
                    log.exception("%s cannot be saved", path)
                self._failed_saves.put((path, explained(error)))

        self._command(attempt)

    def between_cycles(self, work: Callable[[Lockstep], Told], seconds: float) -> Told:
        """Do something with the worlds between two cycles, and wait for what comes of it, its errors too.

        Raises `TimeoutError` after so many seconds, and `UserError` where there are no worlds.
        """
        answer: Future[Told] = Future()

        def attempt() -> None:
            try:
                if self._lockstep is None:
                    raise UserError("there is no world yet")
                answer.set_result(work(self._lockstep))
            except Exception as error:
                answer.set_exception(error)

        self._command(attempt)
        return answer.result(seconds)

    def roll_snowballs(self, balls: int) -> None:
        """Let so many snowballs fall, and nothing else move the ground; then go on, or stay paused, as before."""

        def begin() -> None:
            if self._lockstep and self._status.state != "failed":
                self._lockstep.begin_run(balls)
                self._say(run=self._lockstep.run)

        self._command(begin)

    def cancel_snowballs(self) -> None:
        """Let no more snowballs of a run fall."""
        self._command(self._end_run)

    def smooth(self) -> None:
        """Blur the ground once."""

        def blur() -> None:
            if self._lockstep and self._status.state != "failed":
                self._lockstep.smooth()
                self._fresh = True
                self._say(cycle=self._lockstep.cycle)

        self._command(blur)

    def want(self, wanted: Wanted) -> None:
        """What the next snapshots shall tell about rivers."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._wake.set()

    def show_overlay(self, name: str) -> None:
        """Which overlay is seen: the next snapshots have all that it shows, also while nothing runs."""
        if name != self._overlay:
            self._overlay = name

            def refresh() -> None:
                self._fresh = True

            self._command(refresh)

    def frame_began(self, screens: int = 1) -> None:
        """Tell that a frame is drawn, for so many of the screen's: the simulation's pace may follow it."""
        cycles = self.scenes[0].simulation.cycles_per_frame * screens
        if cycles and not self._paused and self._granted < cycles:
            self._granted = cycles  # what could not be run in time is not made up for
            self._wake.set()

    def take(self) -> tuple[Snapshot, ...]:
        """The newest snapshots, one of each world and all after the same cycle; none if there are none since the last.

        Gives back the arrays of those before.
        """
        with self._lock:
            snapshots, self._published = self._published, ()
        if snapshots:
            self._wake.set()
        return snapshots

    def notices(self) -> list[str]:
        """What was said since the last call: errors and what was saved where."""
        return _taken_from(self._notices)

    def failed_saves(self) -> list[tuple[Path, str]]:
        """What could not be saved since the last call, and why."""
        return _taken_from(self._failed_saves)

    def failed_restarts(self) -> list[tuple[Scene, ...]]:
        """The scenes whose worlds could not be made since the last call; the notices tell why."""
        return _taken_from(self._failed_restarts)

    # What runs on the thread.

    def _command(self, command: Callable[[], None]) -> None:
        self._commands.put(command)
        self._wake.set()

    def _run(self) -> None:
        _lower_priority()
        with self._living_on():
            if cache_is_empty():
                # Before the worlds are made and Numba is loaded here: both take seconds, in which workers can begin.
                self.compiler.ask(in_order(build for scene in self.scenes for build in _foreseen(scene)))
        while not self._stopping:
            with self._living_on():
                self._go_round()

    def _go_round(self) -> None:
        """Do what was asked for, publish what is new, run a cycle; where there is nothing to do, wait a little."""
        self._run_commands()
        self._end_holding()
        self._tell_of_compiling()
        self._publish()
        if self._may_run():
            begin = time.perf_counter()
            self._cycle()
            if time.perf_counter() - begin < SHORT_CYCLE:
                time.sleep(GIVING_WAY)
        elif self._commands.empty() and not self._prepare_at_rest() and not self._survey_waits():
            self._wake.wait(timeout=0.1)
            self._wake.clear()

    @contextlib.contextmanager
    def _living_on(self) -> Iterator[None]:
        """Outlive any error in what is done within, so that a person can still save."""
        try:
            yield
        except Exception as error:
            with contextlib.suppress(Exception):  # where there is no memory to tell of it, either
                self._fail(error)
            time.sleep(AFTER_AN_ERROR)

    def _run_commands(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                command = self._commands.get_nowait()
                try:
                    command()
                except Exception as error:
                    if not isinstance(error, UserError):
                        log.exception("a command failed")
                    self._notices.put(explained(error))

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        self._granted = 0
        self._started_cycles.clear()
        if self._lockstep and not (paused and self._status.state == "failed"):
            self._say(state="paused" if paused else "running", error="", message="")

    def _load(self, scenes: tuple[Scene, ...], is_last: Callable[[], bool]) -> None:
        """Make worlds, or leave all as it was. What was made of them until an error came is in no name here: it is
        freed with the error. `is_last` tells whether no others were asked for since."""
        before = self._status
        self._say(state="loading", message=f"loading {scenes[0].world.source}", error="")
        try:
            lockstep, snapshots = self._made(scenes)
        except Exception as error:
            if self._lockstep is None:
                text = explained(error)
                self._say(state="failed", message=text, error=text)
            else:
                if is_last():
                    self.scenes = self._lockstep.scenes
                self._say(state=before.state, message=before.message, error=before.error)
            self._failed_restarts.put(scenes)
            raise
        if self.scenes is scenes:
            self.scenes = lockstep.scenes
        self._lockstep = lockstep
        self._numbers = tuple(snapshot.world for snapshot in snapshots)
        self._begin_surveys()
        self._held = {}
        self._snapshots = [snapshots]
        with self._lock:
            self._published = snapshots
        self._fresh = False
        self._started_cycles.clear()
        self._say(state="paused" if self._paused else "running", message="", cycle=lockstep.cycle, run=None)

    def _made(self, scenes: tuple[Scene, ...]) -> tuple[Lockstep, tuple[Snapshot, ...]]:
        """New worlds, and what is seen of them first: only what can also be shown takes the place of what is there."""
        before = NOTHING
        if self._lockstep is not None:
            before = Needs.of(self._lockstep.scenes, self._lockstep.worlds[0].ground.size, shown=True)
        made = create_worlds(scenes, partial(check_memory, scenes, shown=True, given_back=before))
        lockstep = Lockstep([Simulator(scene, world) for world, scene in made])
        lockstep.verify()
        numbers = itertools.count(max(self._numbers, default=0) + 1)
        snapshots = (take_snapshot(world, next(numbers), overlay=self._overlay) for world in lockstep.worlds)
        return lockstep, tuple(snapshots)

    def _keep(self, world: int) -> None:
        if self._lockstep is None or world >= len(self._lockstep.simulators):
            return  # it could not be made
        self._lockstep = Lockstep([self._lockstep.simulators[world]])
        self._held = {0: self._held.get(world, {})}
        self._numbers = (self._numbers[world],)
        self._surveyors, self._surveys = [self._surveyors[world]], [self._surveys[world]]
        self._snapshots = []
        self._fresh = True

    def _end_run(self) -> None:
        if self._lockstep and self._lockstep.run:
            self._lockstep.end_run()
            self._say(run=None)

    def _may_run(self) -> bool:
        if self._lockstep is None or self._status.state == "failed":
            return False
        if self._lockstep.run:
            return True
        if self._paused:
            return self._granted > 0
        if self._lockstep.has_finished:
            return False
        return self._granted > 0 or self.scenes[0].simulation.cycles_per_frame == 0

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
        """Stop, and say why. Commands are still heard: the person may save, change something and go on."""
        text = explained(error)
        if text != self._status.error:  # what comes again and again is told once
            self._notices.put(text)
            if not isinstance(error, UserError):
                log.error("the simulation stopped", exc_info=error)
        self._say(state="failed", message=text, error=text, cycle=self._lockstep.cycle if self._lockstep else 0)

    # Kernels are compiled beside the simulation. A cycle runs with all processes that are switched on or with none: did
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
                if self.compiler.outcome(build):  # it failed there, so it is compiled here
                    self._say(state="compiling", message=f"compiling {build}")
                simulator.prepare(build)
                self._fresh = self._fresh or build == Pools.name
        if len(ready) < len({build for _, build in unprepared}):
            return False
        self._say(state="paused" if self._paused else "running", message="")
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
        """Whether a build need not be waited for: it is in the cache, or can be had only here. If not, have it made."""
        if build in self._ready:
            return True
        assert self._lockstep is not None
        asked, outcome = self.compiler.has_asked(build), self.compiler.outcome(build)
        if asked and outcome is None:
            return False
        if not outcome:
            try:
                with only_from_cache():
                    self._lockstep.simulators[0].load(build)
            except NotCached:
                if not asked:
                    self.compiler.ask([build])
                    return False
                outcome = "it left nothing in the cache"
            except Exception as error:  # which will be told of where the build is used
                log.debug("%s: %s", build, error)
        if outcome:
            tell_of_failure(build, outcome)
        self._ready.add(build)
        return True

    def _may_go_on_without(self, scenes: Sequence[Scene]) -> bool:
        """Whether cycles run now, and these scenes need builds that must be waited for."""
        if self._lockstep is None or self._paused or self._status.state != "running" or self._lockstep.unprepared():
            return False
        needed = in_order(build for _, build in self._lockstep.unprepared(scenes))
        return bool([build for build in needed if not self._is_ready(build)])  # all of them are asked for

    def _go_on_with(self, scenes: Sequence[Scene]) -> None:
        assert self._lockstep is not None
        versions = self._lockstep.water_versions
        self._lockstep.change(scenes)
        self._say(milliseconds=self._lockstep.milliseconds)
        # Another level of the sea is seen at once, also while nothing runs.
        self._fresh = self._fresh or self._lockstep.water_versions != versions

    def _end_holding(self) -> None:
        """Make the changes that waited for kernels, if these are there or nothing goes on meanwhile."""
        if self._lockstep is None or not any(self._held.values()):
            return
        scenes = [scene.with_values(self._held.get(place, {})) for place, scene in enumerate(self._lockstep.scenes)]
        if not self._may_go_on_without(scenes):
            self._held = {}
            self._commands.put(partial(self._go_on_with, scenes))
            self._run_commands()

    def _tell_of_compiling(self) -> None:
        progress = self.compiler.progress
        if progress != self._status.compiling:
            self._say(compiling=progress)

    def _measure_pace(self) -> None:
        assert self._lockstep is not None
        now, cycle = time.monotonic(), self._lockstep.cycle
        self._started_cycles.append((now, cycle))
        while len(self._started_cycles) > 2 and self._started_cycles[0][0] < now - 1.0:
            self._started_cycles.pop(0)
        begin, first = self._started_cycles[0]
        pace = (cycle - first) / (now - begin) if now > begin else 0.0
        self._say(cycle=cycle, cycles_per_second=pace, milliseconds=self._lockstep.milliseconds)

    def _publish(self) -> None:
        """Publish snapshots if there is something new and the last ones were taken."""
        if self._lockstep is None or self._published:
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
        # Two sets of arrays are used in turn: one is the picture's, the other is free to be written.
        worlds = self._lockstep.worlds
        old = self._snapshots.pop(0) if len(self._snapshots) == 2 else (None,) * len(worlds)
        snapshots = tuple(map(take_snapshot, worlds, self._numbers, old, self._surveys, [self._overlay] * len(worlds)))
        self._snapshots.append(snapshots)
        with self._lock:
            self._published = snapshots

    def _survey_waits(self) -> bool:
        """Whether there is a survey to be made and published, also while nothing runs."""
        return not self._published and self._survey_is_due()

    def _survey_is_due(self) -> bool:
        if self._lockstep is None or self._wanted == self._survey_failed_for:
            return False
        if self._wanted.anything and not self.first_picture_shown.is_set():
            return False
        is_due = any(
            surveyor.is_due(simulator.world, simulator.scene.rivers, self._wanted)
            for surveyor, simulator in zip(self._surveyors, self._lockstep.simulators, strict=True)
        )
        return is_due and (not self._wanted.anything or self._is_ready(RIVERS))

    def _find_surveys(self) -> None:
        """Survey the worlds. What goes wrong is told, and not tried again until something else is wanted."""
        assert self._lockstep is not None
        try:
            self._surveys = [
                surveyor.survey(simulator.world, simulator.scene.rivers, self._wanted)
                for surveyor, simulator in zip(self._surveyors, self._lockstep.simulators, strict=True)
            ]
        except Exception as error:
            log.exception("the survey failed")
            self._notices.put(f"rivers: {explained(error)}")
            self._begin_surveys()
            self._survey_failed_for = self._wanted

    def _begin_surveys(self) -> None:
        assert self._lockstep is not None
        self._surveyors = [Surveyor() for _ in self._lockstep.simulators]
        self._surveys = [None for _ in self._lockstep.simulators]

    def _say(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)


def _taken_from(waiting: queue.SimpleQueue[Told]) -> list[Told]:
    """All that is in a queue, which is empty then."""
    taken: list[Told] = []
    with contextlib.suppress(queue.Empty):
        while True:
            taken.append(waiting.get_nowait())
    return taken


def _foreseen(scene: Scene) -> list[str]:
    """The builds that the first cycles of a scene will need, as far as is known before its world is made."""
    enabled = [process() for process in PROCESSES if getattr(scene, process.name).enabled]
    running = frozenset(process.name for process in enabled)
    ground = Ground(materials=scene.materials.enabled, covered=False)
    needed = (builds_of(process, getattr(scene, process.name), ground, running) for process in enabled)
    return [build for of_process in needed for build in of_process]


def take_snapshot(
    world: World,
    number: int = 0,
    old: Snapshot | None = None,
    survey: Survey | None = None,
    overlay: str | None = None,
) -> Snapshot:
    """The state of `world` in float32; in the arrays of a snapshot that is done with, where there is one.

    Its layers are those of `shown_versions`, and those of the survey.
    """
    arrays = {} if old is None else old.layers
    versions = shown_versions(world, overlay)
    for name in arrays.keys() - versions.keys():
        del arrays[name]
    for name, version in versions.items():
        if name not in arrays:
            arrays[name] = np.empty(world.shape, np.float32)
        elif old is not None and old.versions.get(name) == version:
            continue
        match name:
            # What is dry may have been dug since the levels were derived.
            case "water":
                np.subtract(world.water_level, world.ground, out=arrays[name], casting="same_kind")
                np.maximum(arrays[name], 0.0, out=arrays[name])
                arrays[name] *= world.standing != DRY
            case "water_level":
                np.copyto(arrays[name], world.water_level, casting="same_kind")
                np.copyto(arrays[name], world.ground, casting="same_kind", where=world.standing == DRY)
            case "loose_kinds":
                from kernels.materials import commonest_kinds

                commonest_kinds(world.mix, arrays[name])
            case _ if layer_declaration(name).given:
                arrays[name] = world.layers[name]  # which never changes
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
        materials=world.materials,
        trees=world.trees.copy() if old is None or old.trees_version != world.trees_version else old.trees,
        trees_version=world.trees_version,
    )


def _lower_priority() -> None:
    """Let the picture go first where both want the same core. Linux only: there a thread has a priority of its own."""
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
