"""Cycles over a world: each enabled process takes its step; invalid states are detected and rolled back."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.brushes.painting import paint
from app.brushes.tools import TOOLS
from app.engine import builds, past
from app.engine.builds import Ground, asks_for_rates, builds_of
from app.engine.compiling import fill_cache
from app.engine.creation import field_values_of
from app.engine.refining import refined
from app.model.climate import weather_of
from app.model.errors import UserError, explained
from app.model.field_parameters import FIELD_LAYERS
from app.model.layers import GROUND, LAYERS, layer_declaration
from app.model.ledger import LARGEST_IMBALANCE
from app.model.parameters import Parameters
from app.model.trait_parameters import read_material_traits, read_plant_traits
from app.model.world import LARGEST_CYCLE, World
from app.processes import PROCESSES
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion
from app.processes.pools import Pools, derive_levels
from app.processes.process import Fading, Finite, Keeping, Process, ProcessFailure
from app.processes.snowballs import MOVED, SnowballErosion, smooth
from app.scene.edits import Stroke
from app.scene.scene import Scene

log = logging.getLogger(__name__)

NewFields = Mapping[str, NDArray[np.float32] | None]  # by their names; None: the field goes

SECONDS_BETWEEN_BACKUPS = 2.0

PORTION = 500  # snowballs of a run in a cycle: a few milliseconds, after which the picture may follow


class SimulationError(UserError):
    """A cycle failed. The world is as it was after the last good cycle.

    `process`, `layer` and `cell` (row, column) say where, as far as it is known.
    """

    def __init__(self, why: str, process: str = "", layer: str = "", cell: tuple[int, int] | None = None) -> None:
        super().__init__(why)
        self.process = process
        self.layer = layer
        self.cell = cell


class SnowballRun(NamedTuple):
    """A run of snowballs while all other processes are paused. Counted as `World.snowballs` is."""

    first: int
    last: int

    def finer(self, times: int) -> SnowballRun:
        """The same in finer cells, in which more balls do as much."""
        return SnowballRun(self.first * times**2, self.last * times**2)


class Simulator:
    """Runs the processes of a scene over a world. Not safe for threads: one owner at a time."""

    def __init__(self, scene: Scene, world: World, threads: int | None = None) -> None:
        self.scene = scene.at(world.cycle)
        self.world = world
        self.threads = threads  # where it is given, it goes before the scene's
        self.milliseconds: dict[str, float] = {}
        self.run: SnowballRun | None = None
        self.cycle = Cycle()  # the one that runs, or ran last
        self.allowed_imbalance = world.imbalance() + LARGEST_IMBALANCE  # what a file brings along is not ours
        self._processes: list[Process] = [process() for process in PROCESSES]
        # Asked several times in each cycle, and `isinstance` of a protocol is slow to answer.
        self._finite = {process.name: process for process in self._processes if isinstance(process, Finite)}
        self._keeping = [process for process in self._processes if isinstance(process, Keeping)]
        self._fading = [process for process in self._processes if isinstance(process, Fading)]
        self.prepared: set[str] = set()  # builds
        self._running = ""  # the process that is, or was last
        self._take_traits()
        self._strokes: list[tuple[int, Stroke]] = []  # since the backup, each with the cycle that it came after
        self._levels_are_old = False  # since the land was changed by hand
        self._past: Iterator[None] | None = None  # that is being lived
        self.past_failure = ""  # why there is none
        self._backup = world.state()
        self._backup_time = time.monotonic()

    def copy(self) -> Simulator:
        """Another simulator, whose world is a copy of this one's, and which goes on as this one would."""
        other = Simulator(self.scene, self.world.copy(), self.threads)
        other.allowed_imbalance = self.allowed_imbalance
        other.prepared = set(self.prepared)
        other.run = self.run
        return other

    def refined(self, times: int) -> Simulator:
        """Another simulator, that goes on with this one's world in finer cells."""
        self.settle_levels()
        other = Simulator(self.scene, refined(self.world, times, channels=self._has_rivers), self.threads)
        other.allowed_imbalance = self.allowed_imbalance
        other.prepared = set(self.prepared)
        other.run = self.run and self.run.finer(times)
        other.derive_levels()
        return other

    @property
    def _has_rivers(self) -> bool:
        """Whether water runs over the land, so that it has channels."""
        return self.scene.has_drops or "stream" in self.world.layers

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

    def unprepared(self, scene: Scene | None = None, *, rated: bool = False) -> list[str]:
        """The missing builds that the next cycles need with the parameters of `scene`, or with its current ones.

        `rated`: on ground that has rates, also where it has none yet.
        """
        enabled = self.enabled(scene)
        running = frozenset(process.name for process in enabled)
        world = self.world
        will_be_rated = asks_for_rates(scene or self.scene)
        rated = rated or world.rates is not None
        ground = Ground(world.materials is not None, world.is_covered, rated, will_be_rated)
        needed = (builds_of(process, self._parameters(process, scene), ground, running) for process in enabled)
        return [build for of_process in needed for build in of_process if build not in self.prepared]

    def load(self, build: str) -> None:
        """Compile a build of kernels, or load it from the cache."""
        builds.prepare(build, self._processes)

    def prepare(self, build: str) -> None:
        """As `load`, and use it from the next cycle on."""
        self.load(build)
        self.prepared.add(build)
        if build == Pools.name:
            self.derive_levels()

    def prepare_all(self) -> None:
        """Prepare what is switched on, so that the world shows its lakes and sea, and its past, before its cycles."""
        for build in self.unprepared():
            self.prepare(build)
        while self.past_is_due:
            self.live_on()

    @property
    def past_is_due(self) -> bool:
        """Whether the world has a past that it has not lived, or not to its end."""
        return past.is_due(self.world, self.scene)

    def have_past(self) -> None:
        """Let the world have lived its past, where it has one, before anything else happens to it."""
        if self.past_is_due:
            self.prepare_all()

    def live_on(self) -> None:
        """Take the next step of the world's past, of which nothing is seen before the last. All must be prepared."""
        self._use_threads()
        try:
            self._past = self._past or self._begin_past()
            next(self._past, None)
        except Exception as error:
            self.world.has_past = True
            self.past_failure = f"the land begins without the water and plants of its past: {explained(error)}"
            log.warning("%s", self.past_failure)
        if not self.past_is_due:
            self._past = None
            self.derive_levels()
            self._remember()  # a replay begins after it

    def _begin_past(self) -> Iterator[None]:
        log.debug("%d cycles of the past come to the land", self.scene.world.past)
        enabled = {process.name for process in self.enabled()}
        weather = weather_of(self.scene.climate, self.world.seed, self.world.cycle)
        cycle = Cycle(weather, self.scene.edges, frozenset(enabled))
        # Those of cycles to come know nothing of it.
        processes = [process() for process in PROCESSES if process.name in enabled]
        return past.live(self.world, self.scene, processes, cycle)

    def compile_missing(self) -> None:
        """As `prepare_all`, on all cores, and with a bar that shows how far it is."""
        fill_cache(self.unprepared(), self.load)
        self.prepare_all()

    def derive_levels(self) -> None:
        """Bring the levels of lakes and sea up to date with the world and the scene, between two cycles."""
        self._levels_are_old = False
        if self.scene.pools.enabled and Pools.name in self.prepared:
            derive_levels(self.world, self.scene.pools, self.scene.edges)

    def change(self, scene: Scene) -> None:
        """Go on with the parameters of another scene, from the next cycle."""
        # A replay must run all its cycles with the parameters that they had, and must start from a sound world.
        self.back_up()
        self.go_on_with(scene, self.new_fields(scene))

    def new_fields(self, scene: Scene) -> NewFields:
        """What the fields come to that are not as they were. Raises `UserError`."""
        before = self.scene.fields
        names = [name for name in before.__struct_fields__ if getattr(scene.fields, name) != getattr(before, name)]
        return field_values_of(self.world, scene, names)

    def go_on_with(self, scene: Scene, fields: NewFields | None = None) -> None:
        """As `change`, but without a backup, which must have been made just now. `fields` are of `new_fields`."""
        self.settle_levels()
        before, self.scene = self.scene, scene
        self._forget_what_is_off()
        if scene.traits != before.traits:
            self._take_traits()
        if (scene.pools, scene.edges) != (before.pools, before.edges):
            self.derive_levels()
        if fields:
            for name, values in fields.items():
                self.world.lay_rate(FIELD_LAYERS[name], values)
            self._remember()  # a replay begins after it

    def _take_traits(self) -> None:
        """Let the kinds of ground and of plants have the traits that the scene gives them."""
        traits, world = self.scene.traits, self.world
        world.flora = world.flora.with_traits(read_plant_traits(traits.plants))
        if world.materials is not None:
            world.materials = world.materials.with_traits(read_material_traits(traits.materials))

    def paint(self, stroke: Stroke) -> None:
        """Do what a brush does, between two cycles. It is done again where these are run once more."""
        self.have_past()
        cycle = self.world.cycle
        try:
            self._paint(stroke)
        except Exception as error:
            self.go_back(cycle)
            raise SimulationError(f"{TOOLS[stroke.tool].label}: {explained(error)}; nothing was changed") from error

    def take_stroke_back(self) -> None:
        """Be as before the last stroke, which was painted just now."""
        del self._strokes[-1]
        self.go_back(self.world.cycle)

    def unprepared_for(self, stroke: Stroke) -> list[str]:
        """The missing builds that a stroke needs at once."""
        if self.past_is_due:
            return self.unprepared()
        if not TOOLS[stroke.tool].runs_drops:
            return []
        world, nothing_runs = self.world, frozenset[str]()
        ground = Ground(world.materials is not None, world.is_covered, world.rates is not None)
        droplets = next(process for process in self._processes if process.name == DropletErosion.name)
        needed = builds_of(droplets, self.scene.droplets, ground, nothing_runs)
        if self.scene.pools.enabled:
            needed = (Pools.name, *needed)
        return [build for build in needed if build not in self.prepared]

    def _paint(self, stroke: Stroke) -> None:
        for build in self.unprepared_for(stroke):
            self.prepare(build)
        if TOOLS[stroke.tool].runs_drops:
            # Whether or not they were derived for a picture since the last change: else bits would hang on that.
            self.derive_levels()
        paint(self.world, self.scene, stroke)
        self._strokes.append((self.world.cycle, stroke))
        self._levels_are_old = True

    def settle_levels(self) -> None:
        """Bring the levels of lakes and sea up to date where the land was changed by hand."""
        if self._levels_are_old:
            self.derive_levels()

    def smooth(self) -> None:
        """A cycle in which nothing happens but that the ground is blurred once."""
        self.back_up()
        smooth(self.world)
        self.world.end_cycle()
        self.world.changed.update(dict.fromkeys(MOVED, self.world.version))
        self.derive_levels()
        self._remember()  # a replay begins after it

    def begin_run(self, balls: int) -> None:
        """From the next cycle on, run `balls` snowballs, in portions, with all other processes paused."""
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
        self.have_past()
        self.verify()
        try:
            self._remember()
        except Exception as error:
            raise SimulationError(f"{explained(error)}; stopped after cycle {self.world.cycle}") from error

    def run_cycle(self) -> None:
        """As `advance`, but without a new backup however old the last one is."""
        if self.world.cycle >= LARGEST_CYCLE:
            raise SimulationError(f"cycle {LARGEST_CYCLE} is the last that can be counted")
        self._follow_keys()
        self.prepare_all()
        try:
            self._run_cycle()
        except ProcessFailure as failure:
            self.go_back(self.world.cycle)
            text = f"{failure}; stopped after cycle {self.world.cycle}"
            raise SimulationError(text, failure.process, cell=failure.cell) from failure
        except Exception as error:
            running = self._running  # where going back fails too, it is another one
            self.go_back(self.world.cycle)
            text = f"{running}: {explained(error)}; stopped after cycle {self.world.cycle}"
            raise SimulationError(text, running) from error

    def verify(self) -> None:
        """Raise `SimulationError` if the world is not sound, and go back to before it was so.

        A sound one can be saved and opened again: all its values are finite and within their bounds, its ground is the
        sum of its layers, its trees and rivers are on the map, and its ledger adds up.
        """
        if not (self.world.unsound_cell() or self.world.fault_of_tables() or self._unsound_account()):
            return
        with self._backup_kept():
            self._find_unsound_process(self.world.cycle)

    def _find_unsound_process(self, last_cycle: int) -> None:
        """Run the cycles since the last backup once more, up to before the process that left what is not sound."""
        again = list(self._strokes)
        self._restore(self._backup)
        while self.world.cycle < last_cycle:
            self._paint_again(again)
            state = self.world.state()
            imbalances = [self.world.imbalances()]
            self._begin_cycle()
            enabled = self.enabled()
            for process in enabled:
                self._step(process)
                if unsound := self.world.unsound_cell():
                    layer, *cell = unsound
                    wrong = self._in_words(*unsound)
                    self._restore(state)
                    text = f"{process.name} left {wrong}; stopped after cycle {self.world.cycle}"
                    raise SimulationError(text, process.name, layer, (cell[0], cell[1]))
                if fault := self.world.fault_of_tables():
                    self._restore(state)
                    raise SimulationError(
                        f"{process.name} left {fault}; stopped after cycle {self.world.cycle}", process.name
                    )
                imbalances.append(self.world.imbalances())
            self._end_cycle()
            if substance := self._unsound_account():
                steps = [abs(after[substance] - before[substance]) for before, after in itertools.pairwise(imbalances)]
                wrong = f"{abs(imbalances[-1][substance]):.1e} of all {substance} is unaccounted for"
                name = enabled[steps.index(max(steps))].name
                self._restore(state)
                raise SimulationError(f"{name}: {wrong}; stopped after cycle {self.world.cycle}", name)
        raise SimulationError("the world held invalid values; went back to the last good cycle")

    def _in_words(self, layer: str, row: int, column: int) -> str:
        """A value that its layer may not have, and where it is."""
        if layer == GROUND:
            return f"ground that is not the sum of its layers at row {row}, column {column}"
        value = self.world.layers[layer][row, column]
        low, high = layer_declaration(layer).bounds
        found = f"at {value:g} (it may be from {low:g} to {high:g})" if np.isfinite(value) else "not finite"
        return f"{layer} {found} at row {row}, column {column}"

    def _unsound_account(self) -> str:
        """The substance of which most is unaccounted for, where it is more than may be; empty where all adds up."""
        imbalances = {name: abs(imbalance) for name, imbalance in self.world.imbalances().items()}
        beyond = {name: part for name, part in imbalances.items() if not part <= self.allowed_imbalance}  # also NaN
        return max(beyond, key=beyond.__getitem__, default="")

    def go_back(self, cycle: int) -> None:
        """To the state after `cycle`: from the last backup, run the cycles since then once more.

        Raises `SimulationError` if one of them left a world that is not sound, and stays before it.
        """
        with self._backup_kept():
            again = [(after, stroke) for after, stroke in self._strokes if after <= cycle]
            self._restore(self._backup)
            while self.world.cycle < cycle:
                self._paint_again(again)
                self._run_cycle()
            self._paint_again(again)
        self.verify()

    def _paint_again(self, strokes: Sequence[tuple[int, Stroke]]) -> None:
        """Do again what brushes did after the cycle that the world is after."""
        for after, stroke in strokes:
            if after == self.world.cycle:
                self._paint(stroke)

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
        """Of a process in the next cycle: those of `scene`, of the current one, or of the run of snowballs."""
        parameters: Parameters = getattr(scene or self.scene, process.name)
        if self.run is None:
            return parameters
        if process.name == SnowballErosion.name:
            finer = self.world.refinement**2  # what the process makes more of; a run counts all that fall
            return msgspec.structs.replace(parameters, enabled=True, count=PORTION / finer, total=self.run.last / finer)
        if set(process.changes) & set(MOVED):
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
        self._forget_what_is_off()
        self._end_cycle()

    def _forget_what_is_off(self) -> None:
        running = {process.name for process in self.enabled()}
        for process in self._keeping:
            if process.name not in running:
                process.release()
        self.milliseconds = {name: taken for name, taken in self.milliseconds.items() if name in running}

    def _follow_keys(self) -> None:
        """Give the parameters that have keys their values of the next cycle."""
        if self.scene.keys and (scene := self.scene.at(self.world.cycle)) is not self.scene:
            self.go_on_with(scene)

    def _begin_cycle(self) -> None:
        self._follow_keys()
        self._levels_are_old = False  # lakes and sea come first
        weather = weather_of(self.scene.climate, self.world.seed, self.world.cycle)
        self.cycle = Cycle(weather, self.scene.edges, frozenset(process.name for process in self.enabled()))

    def _step(self, process: Process) -> None:
        changed = process.step(self.world, self._parameters(process), self.cycle)
        self.world.changed.update(
            dict.fromkeys(process.changes if changed is None else changed, self.world.next_version)
        )

    def _end_cycle(self) -> None:
        if self.run is None:  # for which all else stands still
            self._fade_traces()
        self.world.end_cycle()

    def _fade_traces(self) -> None:
        """Let what processes left fade where they are switched off, and no other one leaves the like."""
        left = {name for process in self.enabled() for name in process.changes}
        for process in self._fading:
            parameters = self._parameters(process)
            traces = [name for name in process.changes if not LAYERS[name].always and name not in left]
            if not parameters.enabled and traces and process.fade(self.world, parameters):
                self.world.changed.update(dict.fromkeys(traces, self.world.next_version))

    def _remember(self) -> None:
        self._backup = self.world.state(self._backup)
        self._backup_time = time.monotonic()
        self._strokes = []

    def _restore(self, state: dict[str, Any]) -> None:
        """Go back to a state of the world, and to the levels that its lakes had then."""
        self.world.restore(state)
        if state is self._backup:
            self._strokes = []
        try:
            self.derive_levels()
        except Exception as error:  # the next cycle recomputes them
            log.debug("the levels of lakes are not up to date: %s", error)

    def _use_threads(self) -> None:
        """Numba keeps this per thread, so it is said by the thread that runs the cycle, and again after each change."""
        import numba

        available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        numba.set_num_threads(min(self.threads or self.scene.simulation.threads or available, available))
