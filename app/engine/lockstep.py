"""Worlds that are compared: they stay in the same cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from app.brushes.painting import check
from app.engine.cycles import CycleSoFar
from app.engine.refining import check_refinement
from app.engine.simulator import CycleWasGivenUp, SimulationError, Simulator
from app.model.errors import explained
from app.model.world import World
from app.scene.comparison import NAMES
from app.scene.edits import Lay, Stroke
from app.scene.scene import Scene


class Lockstep:
    """Simulators whose worlds stay in the same cycle: one, or several that are compared.

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
        """Milliseconds per cycle of each process, summed over all worlds."""
        total: dict[str, float] = {}
        for simulator in self.simulators:
            for name, milliseconds in simulator.milliseconds.items():
                total[name] = total.get(name, 0.0) + milliseconds
        return total

    def unprepared(self, scenes: Sequence[Scene] | None = None) -> list[tuple[Simulator, str]]:
        """The missing builds of all worlds with the parameters of `scenes`, or with the current ones."""
        pairs = zip(self.simulators, scenes or self.scenes, strict=True)
        return [(simulator, build) for simulator, scene in pairs for build in simulator.unprepared(scene)]

    def compile_missing(self) -> None:
        """Compile all kernels that the next cycles need, on all cores, and spin up each world."""
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
        # Compute all fields first: if one fails, no world has changed
        fields = [simulator.new_fields(scene) for simulator, scene in zip(self.simulators, scenes, strict=True)]
        for simulator, scene, new in zip(self.simulators, scenes, fields, strict=True):
            simulator.apply_scene(scene, new)

    @property
    def snowball_run(self) -> tuple[int, int] | None:
        """Snowballs of a run that have fallen in each world, and their total."""
        run = self.simulators[0].snowball_run
        return (self.worlds[0].snowballs - run.first, run.last - run.first) if run else None

    @property
    def snowball_run_is_over(self) -> bool:
        return all(simulator.snowball_run_is_over for simulator in self.simulators)

    def with_copy(self, world: int) -> Lockstep:
        """The same worlds and a copy of one of them."""
        self._back_up()  # the copy is backed up now, and all worlds must roll back equally far
        return Lockstep([*self.simulators, self.simulators[world].copy()])

    def hold(self) -> Callable[[], Lockstep]:
        """Hold the present state of all worlds, see `Simulator.hold`."""
        held = [simulator.hold() for simulator in self.simulators]
        return lambda: Lockstep([make() for make in held])

    @property
    def bytes(self) -> int:
        """Of the layers of all worlds."""
        return sum(layer.nbytes for world in self.worlds for layer in world.layers.values())

    def only(self, worlds: Sequence[int]) -> Lockstep:
        """A selection of the worlds, in the given order."""
        return Lockstep([self.simulators[world] for world in worlds])

    def refined(self, times: int, *, shown: bool = False) -> Lockstep:
        """The same worlds in finer cells, see `app.engine.refining`. Raises `UserError` if memory is too small."""
        rows, columns = (side * times for side in self.worlds[0].shape)
        check_refinement(self.scenes, rows, columns, shown=shown)
        self._back_up()  # a later failure rolls back to this sound state
        return Lockstep([simulator.refined(times) for simulator in self.simulators])

    def begin_snowball_run(self, balls: int) -> None:
        """Run `balls` snowballs in each world, from the next cycle on."""
        self._back_up()
        for simulator in self.simulators:
            simulator.begin_snowball_run(balls)

    def end_snowball_run(self) -> None:
        """End a run of snowballs: all processes of the scenes continue."""
        self._back_up()
        for simulator in self.simulators:
            simulator.end_snowball_run()

    def smooth(self) -> None:
        """Blur the ground of each world once."""
        self._back_up()
        for simulator in self.simulators:
            simulator.smooth()

    def paint(self, stroke: Stroke) -> None:
        """Paint with a brush in one world or in all. Raises `UserError` if one of them cannot be painted."""
        asked = self.painted_by(stroke)
        for simulator in asked:
            check(simulator.world, stroke)
        for done, simulator in enumerate(asked):
            try:
                simulator.paint(stroke)
            except SimulationError:
                for other in asked[:done]:
                    other.undo_stroke()
                raise

    def lay(self, request: Lay) -> None:
        """Raise the ground of one world or of all by an expression. Raises `UserError` if it has no value in one."""
        self._back_up()
        asked = self.painted_by(request)
        heights = [simulator.heights(request.expression) for simulator in asked]
        for simulator, metres in zip(asked, heights, strict=True):
            simulator.lay(metres)

    def painted_by(self, stroke: Stroke | Lay) -> list[Simulator]:
        """The worlds that a stroke or heights are for."""
        return [simulator for place, simulator in enumerate(self.simulators) if stroke.world in (None, place)]

    def settle_levels(self) -> None:
        """Update the water levels, see `Simulator.settle_levels`."""
        for simulator in self.simulators:
            simulator.settle_levels()

    def set_room_aside(self, larger_than: int) -> None:
        """Give the memory back that processes work in, where it is more bytes than that, until their next step."""
        for simulator in self.simulators:
            simulator.set_room_aside(larger_than)

    def advance(self) -> None:
        """Run one cycle of each world, and end a run of snowballs that is over. Raises `SimulationError`."""
        if any(simulator.backup.is_old for simulator in self.simulators):
            self._back_up()
        self._for_all(Simulator.run_cycle)
        if self.snowball_run and self.snowball_run_is_over:
            self.end_snowball_run()

    @property
    def cycle_so_far(self) -> CycleSoFar | None:
        """How far the cycle is that runs now in one of the worlds, whichever thread asks."""
        return next((so_far for simulator in self.simulators if (so_far := simulator.so_far())), None)

    def give_up_cycle(self) -> None:
        """From any thread: let the cycle that runs now end soon, and the worlds go back to before it."""
        for simulator in self.simulators:
            if simulator.so_far():
                simulator.give_up_cycle()

    @property
    def is_sound(self) -> bool:
        """Whether all worlds are, see `Simulator.is_sound`."""
        return all(simulator.is_sound for simulator in self.simulators)

    def verify(self) -> None:
        """Raise `SimulationError` if a world is not sound, after rolling back to a sound cycle."""
        self._for_all(Simulator.verify)

    def _back_up(self) -> None:
        self.verify()  # verify all first: one failure rolls back the others
        for simulator in self.simulators:
            simulator.back_up()

    def _for_all(self, step: Callable[[Simulator], None]) -> None:
        """Step each simulator. If one fails, roll all back to the last cycle that is sound in all."""
        failure: SimulationError | None = None
        while failures := self._failures(step):
            good_cycle, failure = min(failures, key=lambda failed: (failed[0], str(failed[1])))
            step = partial(Simulator.go_back, cycle=good_cycle)
        if failure:
            raise failure

    def _failures(self, step: Callable[[Simulator], None]) -> list[tuple[int, SimulationError]]:
        """Step each simulator. Returns the cycles after which failing ones stopped, and the errors."""
        failures = []
        for name, simulator in zip(NAMES, self.simulators, strict=False):
            try:
                step(simulator)
            except Exception as error:  # any error: otherwise one world would get ahead of the others
                text = f"{name}: {explained(error)}" if len(self.simulators) > 1 else explained(error)
                where = (error.process, error.layer, error.cell) if isinstance(error, SimulationError) else ()
                failure = (CycleWasGivenUp if isinstance(error, CycleWasGivenUp) else SimulationError)(text, *where)
                failure.__cause__ = error
                failures.append((simulator.world.cycle, failure))
        return failures
