"""Worlds that are compared, which are always after the same cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from app.brushes.painting import check
from app.engine.refining import check_refinement
from app.engine.simulator import SimulationError, Simulator
from app.model.errors import explained
from app.model.world import World
from app.scene.comparison import NAMES
from app.scene.edits import Stroke
from app.scene.scene import Scene


class Lockstep:
    """Simulators whose worlds are always after the same cycle: one, or several that are compared.

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
        """The missing builds that each needs with the parameters of `scenes`, or with its current ones."""
        pairs = zip(self.simulators, scenes or self.scenes, strict=True)
        return [(simulator, build) for simulator, scene in pairs for build in simulator.unprepared(scene)]

    def compile_missing(self) -> None:
        """Have all kernels that the next cycles need, compiled on all cores, and spin up each world."""
        for simulator in self.simulators:
            simulator.compile_missing()

    @property
    def spin_up_is_due(self) -> bool:
        """Whether a world is still to be spun up."""
        return any(simulator.spin_up_is_due for simulator in self.simulators)

    def step_spin_up(self) -> bool:
        """Take the next step of each pending spin-up. Returns whether one goes on. All builds must be prepared."""
        for simulator in self.simulators:
            if simulator.spin_up_is_due:
                simulator.step_spin_up()
        return self.spin_up_is_due

    def change(self, scenes: Sequence[Scene]) -> None:
        """Go on with the parameters of other scenes, from the next cycle."""
        self._back_up()
        # First all of them: where one cannot be found, none has been changed
        fields = [simulator.new_fields(scene) for simulator, scene in zip(self.simulators, scenes, strict=True)]
        for simulator, scene, new in zip(self.simulators, scenes, fields, strict=True):
            simulator.go_on_with(scene, new)

    @property
    def has_finished(self) -> bool:
        """Whether all processes have come to their end in all worlds."""
        return all(simulator.has_finished for simulator in self.simulators)

    @property
    def run(self) -> tuple[int, int] | None:
        """How many snowballs of a run have fallen in each world, and how many there are in all."""
        run = self.simulators[0].run
        return (self.worlds[0].snowballs - run.first, run.last - run.first) if run else None

    @property
    def run_is_over(self) -> bool:
        return all(simulator.run_is_over for simulator in self.simulators)

    def with_copy(self, world: int) -> Lockstep:
        """The same worlds, and a copy of one of them as it is now."""
        self._back_up()  # the copy makes its backup now, and all go back as far
        return Lockstep([*self.simulators, self.simulators[world].copy()])

    def kept(self, worlds: Sequence[int]) -> Lockstep:
        """Some of the worlds, in the order that is given."""
        return Lockstep([self.simulators[world] for world in worlds])

    def refined(self, times: int, *, shown: bool = False) -> Lockstep:
        """The same worlds in finer cells, see `app.engine.refining`. Raises `UserError` where there is no place."""
        rows, columns = (side * times for side in self.worlds[0].shape)
        check_refinement(self.scenes, rows, columns, shown=shown)
        self._back_up()  # what fails later goes back to what was sound
        return Lockstep([simulator.refined(times) for simulator in self.simulators])

    def begin_run(self, balls: int) -> None:
        """Run `balls` snowballs in each world, from the next cycle on."""
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

    def paint(self, stroke: Stroke) -> None:
        """Do what a brush does, in one world or in all. Raises `UserError`, where it cannot be done in one of them."""
        asked = self.painted_by(stroke)
        for simulator in asked:
            check(simulator.world, stroke)
        for done, simulator in enumerate(asked):
            try:
                simulator.paint(stroke)
            except SimulationError:
                for other in asked[:done]:
                    other.take_stroke_back()
                raise

    def painted_by(self, stroke: Stroke) -> list[Simulator]:
        """The worlds that a stroke is for."""
        return [simulator for place, simulator in enumerate(self.simulators) if stroke.world in (None, place)]

    def settle_levels(self) -> None:
        """Bring the levels of water up to date, see `Simulator.settle_levels`."""
        for simulator in self.simulators:
            simulator.settle_levels()

    def advance(self) -> None:
        """Run one cycle of each world, and end a run of snowballs that is over. Raises `SimulationError`."""
        if any(simulator.backup.is_old for simulator in self.simulators):
            self._back_up()
        self._for_all(Simulator.run_cycle)
        if self.run and self.run_is_over:
            self.end_run()

    def verify(self) -> None:
        """Raise `SimulationError` if a world is not sound, and go back to before it was so."""
        self._for_all(Simulator.verify)

    def _back_up(self) -> None:
        self.verify()  # first all of them: one that fails takes the others back
        for simulator in self.simulators:
            simulator.back_up()

    def _for_all(self, step: Callable[[Simulator], None]) -> None:
        """Take a step of each, and where one fails, go back to the last cycle that is good in all."""
        failure: SimulationError | None = None
        while failures := self._failures(step):
            good_cycle, failure = min(failures, key=lambda failed: (failed[0], str(failed[1])))
            step = partial(Simulator.go_back, cycle=good_cycle)
        if failure:
            raise failure

    def _failures(self, step: Callable[[Simulator], None]) -> list[tuple[int, SimulationError]]:
        """Take a step of each. Returns after which cycle those that fail have stopped, and why."""
        failures = []
        for name, simulator in zip(NAMES, self.simulators, strict=False):
            try:
                step(simulator)
            except Exception as error:  # of any kind: else one world would go on without the other
                text = f"{name}: {explained(error)}" if len(self.simulators) > 1 else explained(error)
                where = (error.process, error.layer, error.cell) if isinstance(error, SimulationError) else ()
                failure = SimulationError(text, *where)
                failure.__cause__ = error
                failures.append((simulator.world.cycle, failure))
        return failures
