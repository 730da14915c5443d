"""Cycles over a world with rollback: an unsound state is detected and undone."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.brushes.painting import paint, raise_all
from app.brushes.tools import TOOLS
from app.engine import spin_up
from app.engine.backup import Backup
from app.engine.builds import Ground, builds_of
from app.engine.compiling import fill_cache
from app.engine.compressed import CompressedLayers
from app.engine.creation import field_values_of
from app.engine.cycles import LAKES, CycleGivenUp, Cycles, SnowballRun
from app.engine.refining import refined
from app.model.errors import UserError, explained
from app.model.field_parameters import FIELD_LAYERS, OF_WATER, read_field
from app.model.layers import LARGEST_CYCLE
from app.model.ledger import LARGEST_IMBALANCE
from app.model.soundness import find_fault, unsound_account
from app.model.world import World
from app.processes.droplets import DropletErosion
from app.processes.floods import Floods
from app.processes.process import ProcessFailure
from app.processes.snowballs import MOVED, smooth
from app.scene.edits import Stroke
from app.scene.scene import Scene
from app.sources.fields import LandVariables

log = logging.getLogger(__name__)

NewFields = Mapping[str, NDArray[np.float32] | None]  # by name; None removes a field


class SimulationError(UserError):
    """A cycle failed. The world was rolled back to the last sound cycle.

    `process`, `layer` and `cell` (row, column) say where, as far as it is known.
    """

    def __init__(self, why: str, process: str = "", layer: str = "", cell: tuple[int, int] | None = None) -> None:
        super().__init__(why)
        self.process = process
        self.layer = layer
        self.cell = cell


class CycleWasGivenUp(SimulationError):
    """Somebody did not want to wait for a cycle. The world is as it was before it, and nothing is wrong with it."""


class Simulator(Cycles):
    """Runs cycles of a world, and rolls back to a sound state if one fails.

    Not safe for threads: one owner at a time.
    """

    def __init__(
        self, scene: Scene, world: World, threads: int | None = None, kept: CompressedLayers | None = None
    ) -> None:
        """`kept`: earlier layers of this world; the backup shares the unchanged ones."""
        super().__init__(scene, world, threads)
        self.allowed_imbalance = world.imbalance() + LARGEST_IMBALANCE  # an imbalance from a file is tolerated
        self.spin_up_failure = ""  # why the world has no spin-up
        self._spin_up: Iterator[None] | None = None  # an unfinished one
        self.backup = Backup()
        self.backup.take(world, *([kept] if kept else []))

    def copy(self) -> Simulator:
        """A copy of the simulator and its world, which continues with the same bits."""
        return self.hold()()

    def hold(self) -> Callable[[], Simulator]:
        """Hold the present state, with no more than a copy of its arrays: the result makes a simulator of it, once."""
        scene, world, layers = self.scene, self.world.copy(), self.backup.layers
        allowed, prepared, run, levels_are_old = (
            self.allowed_imbalance,
            set(self.prepared),
            self.snowball_run,
            self._levels_are_old,
        )

        def held() -> Simulator:
            other = Simulator(scene, world, self.threads, layers)
            other.allowed_imbalance, other.prepared, other.snowball_run = allowed, prepared, run
            other._levels_are_old = levels_are_old
            return other

        return held

    def refined(self, times: int) -> Simulator:
        """A simulator that continues with the same world in finer cells."""
        self.settle_levels()
        other = Simulator(self.scene, refined(self.world, times, channels=self._has_rivers), self.threads)
        other.allowed_imbalance = self.allowed_imbalance
        other.prepared = set(self.prepared)
        other.snowball_run = self.snowball_run and self.snowball_run.finer(times)
        other.derive_levels()
        return other

    def prepare_all(self) -> None:
        """Prepare all enabled processes and spin up, so that the world has its past before its first cycle."""
        for build in self.unprepared():
            self.prepare(build)
        while self.spin_up_is_due:
            self.step_spin_up()

    @property
    def spin_up_is_due(self) -> bool:
        """Whether a spin-up is still to be done before the first cycle."""
        return spin_up.is_due(self.world, self.scene)

    def finish_spin_up(self) -> None:
        """Finish a pending spin-up first."""
        if self.spin_up_is_due:
            self.prepare_all()

    def step_spin_up(self) -> None:
        """Take the next step of a spin-up. Only its last one changes the world. All builds must be prepared."""
        self._use_threads()
        try:
            self._spin_up = self._spin_up or spin_up.begin(self.world, self.scene, self.enabled(), self._scratch)
            next(self._spin_up, None)
        except Exception as error:
            self.world.has_past = True
            self.spin_up_failure = f"the land begins without its past: {explained(error)}"
            log.warning("%s", self.spin_up_failure)
        if not self.spin_up_is_due:
            self._spin_up = None
            self.derive_levels()
            self.take_backup()  # a replay begins after it

    def compile_missing(self) -> None:
        """As `prepare_all`, on all cores and with a progress bar."""
        fill_cache(self.unprepared(), self.load)
        self.prepare_all()

    def change(self, scene: Scene) -> None:
        """Use the parameters of another scene from the next cycle on."""
        # A replay must run its cycles with their own parameters, from a sound world.
        self.back_up()
        self.apply_scene(scene, self.new_fields(scene))

    def new_fields(self, scene: Scene) -> NewFields:
        """The values of the fields that change. Raises `UserError`."""
        before = self.scene.fields
        names = [name for name in before.__struct_fields__ if getattr(scene.fields, name) != getattr(before, name)]
        return field_values_of(self.world, scene, names)

    def apply_scene(self, scene: Scene, fields: NewFields | None = None) -> None:
        """As `change`, after the caller has made a backup. `fields` come from `new_fields`."""
        self.take_scene(scene)
        if fields:
            for name, values in fields.items():
                self.world.lay_rate(FIELD_LAYERS[name], values)
            self.take_backup()  # a replay begins after it

    def paint(self, stroke: Stroke) -> None:
        """Paint with a brush, between two cycles. A replay paints again."""
        self.finish_spin_up()
        cycle = self.world.cycle
        try:
            self._paint(stroke)
        except Exception as error:
            self.go_back(cycle)
            raise SimulationError(f"{TOOLS[stroke.tool].label}: {explained(error)}; nothing was changed") from error

    def undo_stroke(self) -> None:
        """Undo the stroke that was painted just now."""
        del self.backup.strokes[-1]
        self.go_back(self.world.cycle)

    def unprepared_for(self, stroke: Stroke) -> list[str]:
        """The missing builds that a stroke needs at once."""
        if self.spin_up_is_due:
            return self.unprepared()
        if not TOOLS[stroke.tool].runs_drops:
            return []
        world, nothing_runs = self.world, frozenset[str]()
        ground = Ground(world.materials is not None, world.is_covered, world.unsheltered is not None)
        droplets = next(process for process in self._processes if process.name == DropletErosion.name)
        needed = builds_of(droplets, self.scene.droplets, ground, nothing_runs)
        if self.scene.has_standing_water:
            needed = (*((Floods.name,) if self.scene.floods.enabled else LAKES), *needed)
        return [build for build in needed if build not in self.prepared]

    def _paint(self, stroke: Stroke) -> None:
        for build in self.unprepared_for(stroke):
            self.prepare(build)
        mask = read_field(stroke.mask)
        if TOOLS[stroke.tool].runs_drops or (mask is not None and mask.uses(*OF_WATER)):
            # Always, even if a picture has derived them: otherwise the bits would depend on that.
            self.derive_levels()
        paint(self.world, self.scene, stroke)
        self.backup.strokes.append((self.world.cycle, stroke))
        self._levels_are_old = True

    def heights(self, expression: str) -> NDArray[np.float64]:
        """What an expression comes to on the present land, in metres, [row, column]. Raises `UserError`."""
        field = read_field(expression)
        if field is not None and field.uses(*OF_WATER):
            self.derive_levels()
        values = LandVariables.of_world(self.world).value(expression)
        return np.zeros(self.world.shape) if values is None else values

    def lay(self, metres: NDArray[np.float64]) -> None:
        """Raise the ground by so much, between two cycles; what is protected stays."""
        self.back_up()
        raise_all(self.world, self.scene, metres)
        self.derive_levels()
        self.take_backup()  # a replay begins after it

    def smooth(self) -> None:
        """A cycle that only blurs the ground."""
        self.back_up()
        smooth(self.world)
        self.world.end_cycle()
        self.world.changed.update(dict.fromkeys(MOVED, self.world.version))
        self.derive_levels()
        self.take_backup()  # a replay begins after it

    def begin_snowball_run(self, balls: int) -> None:
        """Run `balls` snowballs from the next cycle on, in portions. All other processes pause."""
        self.back_up()
        self.snowball_run = SnowballRun(self.world.snowballs, self.world.snowballs + balls)

    def end_snowball_run(self) -> None:
        """End the run of snowballs. The processes of the scene continue."""
        self.back_up()
        self.snowball_run = None

    def advance(self) -> None:
        """Run one cycle. If it fails, roll back to the last sound cycle and raise `SimulationError`."""
        if self.backup.is_old:
            self.back_up()
        self.run_cycle()

    def back_up(self) -> None:
        """Back up the current state, from which a rollback replays cycles."""
        self.finish_spin_up()
        self.verify()
        try:
            self.take_backup()
        except Exception as error:
            raise SimulationError(f"{explained(error)}; stopped after cycle {self.world.cycle}") from error

    def take_backup(self, *before: CompressedLayers) -> CompressedLayers:
        """As `Backup.take`. The scratch memory is given back first: it and two backups are never in memory together."""
        self._scratch.release()
        return self.backup.take(self.world, *before)

    def run_cycle(self) -> None:
        """As `advance`, but without renewing an old backup."""
        if self.world.cycle >= LARGEST_CYCLE:
            raise SimulationError(f"cycle {LARGEST_CYCLE} is the last that can be counted")
        self._follow_keys()
        self.prepare_all()
        try:
            self._run_cycle()
        except CycleGivenUp as asked:
            self.go_back(self.world.cycle)
            raise CycleWasGivenUp(f"cycle {self.world.cycle + 1} was given up") from asked
        except ProcessFailure as failure:
            self.go_back(self.world.cycle)
            text = f"{failure}; stopped after cycle {self.world.cycle}"
            raise SimulationError(text, failure.process, cell=failure.cell) from failure
        except Exception as error:
            running = self._running  # the rollback changes it
            self.go_back(self.world.cycle)
            text = f"{running}: {explained(error)}; stopped after cycle {self.world.cycle}"
            raise SimulationError(text, running) from error

    def backed_up_world(self) -> World:
        """A copy of the world from the last backup. Any thread may ask for it while a cycle runs."""
        return self.world.copy(self.backup.state)

    @property
    def is_sound(self) -> bool:
        """Whether the world can be saved and opened again.

        Its values are finite and within their bounds, its ground is the sum of its layers, its trees and rivers are on
        the map, and its ledger adds up.
        """
        return not (find_fault(self.world) or unsound_account(self.world, self.allowed_imbalance))

    def verify(self) -> None:
        """If the world is not sound, roll back and raise `SimulationError`."""
        if self.is_sound:
            return
        with self._or_to_backup():
            self._find_unsound_process(self.world.cycle)

    def _find_unsound_process(self, last_cycle: int) -> None:
        """Replay the cycles since the last backup to find the process that left the unsound state."""
        again = list(self.backup.strokes)
        self._restore(self.backup.state)
        while self.world.cycle < last_cycle:
            self._paint_again(again)
            state = self.world.state()
            imbalances = [self.world.imbalances()]
            self._begin_cycle()
            enabled = self.enabled()
            for process in enabled:
                self._step(process)
                if fault := find_fault(self.world):
                    self._restore(state)
                    text = f"{process.name} left {fault.why}; stopped after cycle {self.world.cycle}"
                    raise SimulationError(text, process.name, fault.layer, fault.cell)
                imbalances.append(self.world.imbalances())
            self._end_cycle()
            if substance := unsound_account(self.world, self.allowed_imbalance):
                steps = [abs(after[substance] - before[substance]) for before, after in itertools.pairwise(imbalances)]
                wrong = f"{abs(imbalances[-1][substance]):.1e} of all {substance} is unaccounted for"
                name = enabled[steps.index(max(steps))].name
                self._restore(state)
                raise SimulationError(f"{name}: {wrong}; stopped after cycle {self.world.cycle}", name)
        raise SimulationError("the world held invalid values; went back to the last good cycle")

    def go_back(self, cycle: int) -> None:
        """Roll back to the state after `cycle`: replay from the last backup.

        Raises `SimulationError` if a replayed cycle leaves an unsound world, and stops before it.
        """
        with self._or_to_backup():
            again = [(after, stroke) for after, stroke in self.backup.strokes if after <= cycle]
            self._restore(self.backup.state)
            while self.world.cycle < cycle:
                self._paint_again(again)
                self._run_cycle(again=True)
            self._paint_again(again)
        self.verify()

    def _paint_again(self, strokes: Sequence[tuple[int, Stroke]]) -> None:
        """Repaint the strokes that followed the current cycle."""
        for after, stroke in strokes:
            if after == self.world.cycle:
                self._paint(stroke)

    @contextlib.contextmanager
    def _or_to_backup(self) -> Iterator[None]:
        """If a replay fails, for lack of memory for example, stay at the last backup, which is sound."""
        try:
            yield
        except SimulationError:
            raise
        except Exception as error:
            self._restore(self.backup.state)
            raise SimulationError(f"{explained(error)}; went back to cycle {self.world.cycle}") from error

    def _restore(self, state: dict[str, Any]) -> None:
        """Restore a state of the world and the levels of its lakes."""
        self.world.restore(state)
        if state is self.backup.state:
            self.backup.strokes = []
        try:
            self.derive_levels()
        except Exception as error:  # the next cycle recomputes them
            log.debug("the levels of lakes are not up to date: %s", error)
