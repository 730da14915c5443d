"""Cycles over a world: each enabled process takes its step."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec

from app.engine import builds
from app.engine.builds import Ground, asks_for_rates, builds_of
from app.model.climate import weather_of
from app.model.layers import LAYERS
from app.model.parameters import Parameters
from app.model.trait_parameters import read_material_traits, read_plant_traits
from app.model.world import World
from app.numba_settings import usual_threads
from app.processes import PROCESSES
from app.processes.cycle import Cycle
from app.processes.floods import Floods, derive_levels
from app.processes.pools import Pools
from app.processes.process import Caching, Fading, Finite, Noting, Process
from app.processes.snowballs import MOVED, SnowballErosion
from app.scene.scene import Scene
from kernels.scratch import Scratch

LAKES = (Pools.name, *Pools.parts)  # the builds that find their levels
PORTION = 500  # snowballs per cycle of a run: a few milliseconds, so that the picture keeps up


class SnowballRun(NamedTuple):
    """A run of snowballs while all other processes pause. Counted like `World.snowballs`."""

    first: int
    last: int

    def finer(self, times: int) -> SnowballRun:
        """The same run in finer cells, where the same effect takes more balls."""
        return SnowballRun(self.first * times**2, self.last * times**2)


class CycleGivenUp(Exception):
    """The user gave up the cycle."""


@dataclass(frozen=True)
class CycleSoFar:
    """Progress of the running cycle: elapsed seconds and the current process.

    `part` is the fraction of the process's particles that have ended; 0 if it has none.
    """

    seconds: float
    process: str
    part: float


@functools.cache
def _is_of(process: type[Process], protocol: type) -> bool:
    return issubclass(process, protocol)  # slow to answer, and the same in all worlds


def _is(process: Process, protocol: type) -> bool:
    """Whether a process is also of another protocol, all of which is methods."""
    return _is_of(type(process), protocol)


class Cycles:
    """Runs the processes of a scene over a world. It has no rollback; see `Simulator`."""

    def __init__(self, scene: Scene, world: World, threads: int | None = None) -> None:
        self.scene = scene.at(world.cycle)
        self.world = world
        self.threads = threads  # if given, it overrides that of the scene
        self.milliseconds: dict[str, float] = {}
        self.snowball_run: SnowballRun | None = None
        self.prepared: set[str] = set()  # builds
        self.cycle = Cycle()  # the current or last one
        self._running = ""  # the current or last process
        self._is_given_up = False
        self.began: float | None = None  # start of the running cycle, by `time.monotonic`
        self._levels_are_old = False  # since the last cycle or edit
        self._scratch = Scratch()  # of all processes
        self._processes: list[Process] = [process() for process in PROCESSES]
        self._finite = {process.name: cast(Finite, process) for process in self._processes if _is(process, Finite)}
        self._caching = [process for process in self._processes if _is(process, Caching)]
        self._noting = {process.name: cast(Noting, process) for process in self._processes if _is(process, Noting)}
        self._fading = [process for process in self._processes if _is(process, Fading)]
        self._take_traits()

    # What runs.

    def enabled(self, scene: Scene | None = None) -> list[Process]:
        """The enabled processes that have not finished, in the order of the cycle."""
        return [
            process
            for process in self._processes
            if (parameters := self._parameters(process, scene)).enabled
            and not ((finite := self._finite.get(process.name)) and finite.finished(self.world, parameters))
        ]

    @property
    def has_finished(self) -> bool:
        """Whether there are enabled processes, and all of them have finished."""
        return not self.enabled() and any(self._parameters(process).enabled for process in self._processes)

    @property
    def snowball_run_is_over(self) -> bool:
        """Whether all balls of the run have fallen."""
        return self.snowball_run is not None and self.world.snowballs >= self.snowball_run.last

    @property
    def _has_rivers(self) -> bool:
        """Whether water runs over the land and cuts channels."""
        return self.scene.has_drops or "stream" in self.world.layers

    def _parameters(self, process: Process, scene: Scene | None = None) -> Any:
        """The parameters of a process in the next cycle: of `scene`, the current scene, or the run of snowballs."""
        parameters: Parameters = getattr(scene or self.scene, process.name)
        if self.snowball_run is None:
            return parameters
        if process.name == SnowballErosion.name:
            finer = self.world.refinement**2  # factor on what the process makes; a run counts all balls that fall
            return msgspec.structs.replace(
                parameters, enabled=True, count=PORTION / finer, total=self.snowball_run.last / finer
            )
        if set(process.changes) & set(MOVED):
            return msgspec.structs.replace(parameters, enabled=False)
        return parameters

    def take_scene(self, scene: Scene) -> None:
        """Use the parameters of another scene, except its fields."""
        self.settle_levels()
        before, self.scene = self.scene, scene
        self._drop_disabled()
        if scene.traits != before.traits:
            self._take_traits()
        if (scene.pools, scene.floods.enabled, scene.edges) != (before.pools, before.floods.enabled, before.edges):
            self.derive_levels()

    def _follow_keys(self) -> None:
        """Set keyed parameters to their values in the next cycle."""
        if self.scene.keys and (scene := self.scene.at(self.world.cycle)) is not self.scene:
            self.take_scene(scene)

    def _take_traits(self) -> None:
        """Apply the traits of ground and plants that the scene sets."""
        traits, world = self.scene.traits, self.world
        world.flora = world.flora.with_traits(read_plant_traits(traits.plants))
        if world.materials is not None:
            world.materials = world.materials.with_traits(read_material_traits(traits.materials))

    # Kernels.

    def unprepared(self, scene: Scene | None = None, *, rated: bool = False) -> list[str]:
        """The missing builds that the next cycles need with the parameters of `scene`, or with its current ones.

        `rated`: on ground that has rates, also where it has none yet.
        """
        enabled = self.enabled(scene)
        running = frozenset(process.name for process in enabled)
        world = self.world
        will_be_rated = asks_for_rates(scene or self.scene)
        rated = rated or world.unsheltered is not None  # ice covers the ground
        ground = Ground(world.materials is not None, world.is_covered, rated, will_be_rated)
        needed = (builds_of(process, self._parameters(process, scene), ground, running) for process in enabled)
        return [build for of_process in needed for build in of_process if build not in self.prepared]

    def load(self, build: str) -> None:
        """Compile a build of kernels, or load it from the cache."""
        builds.prepare(build, self._processes)

    def prepare(self, build: str) -> None:
        """Load a build and use it from the next cycle on."""
        self.load(build)
        self.prepared.add(build)
        if build in (*LAKES, Floods.name):
            self.derive_levels()

    # Levels of lakes and sea.

    def derive_levels(self) -> None:
        """Update the levels of lakes and sea, between two cycles."""
        self._levels_are_old = False
        scene = self.scene
        if self.prepared.issuperset((Floods.name,) if scene.floods.enabled else LAKES):
            derive_levels(self.world, scene.floods, scene.pools, scene.edges)

    def settle_levels(self) -> None:
        """Update the levels of lakes and sea after the last cycle or edit.

        So a paused land looks as it does when it is restored, and an edit moves only the lakes that it reaches.
        """
        if self._levels_are_old:
            self.derive_levels()

    # A cycle.

    def so_far(self) -> CycleSoFar | None:
        """Progress of the running cycle; None if none runs. Any thread may ask."""
        began = self.began
        if began is None:
            return None
        from kernels import particles

        return CycleSoFar(time.monotonic() - began, self._running, particles.progress())

    def give_up_cycle(self) -> None:
        """End the running cycle soon; it raises `CycleGivenUp`. Any thread may call this."""
        from kernels import particles

        self._is_given_up = True
        particles.give_up()

    def _run_cycle(self, *, again: bool = False) -> None:
        """Run a cycle. One that is run `again`, after a rollback, cannot be given up."""
        from kernels import particles

        self._use_threads()
        self._is_given_up = False
        particles.give_up(False)
        self.began = None if again else time.monotonic()
        try:
            self._run_processes()
        except particles.GivenUp as ended:
            raise CycleGivenUp from ended
        finally:
            self.began = None
            particles.give_up(False)  # particles of a brush are not given up

    def _run_processes(self) -> None:
        self._begin_cycle()
        for process in self.enabled():
            if self._is_given_up:
                raise CycleGivenUp
            self._running = process.name
            begin = time.perf_counter()
            self._step(process)
            elapsed = (time.perf_counter() - begin) * 1e3
            before = self.milliseconds.get(process.name, elapsed)
            self.milliseconds[process.name] = before + 0.1 * (elapsed - before)
        self._drop_disabled()
        self._end_cycle()

    def _begin_cycle(self) -> None:
        if self.scene.floods.enabled:  # processes after it have moved the ground
            self.derive_levels()
        self._levels_are_old = False  # otherwise Pools updates them first
        self._follow_keys()
        weather = weather_of(self.scene.climate, self.world.seed, self.world.cycle)
        running = frozenset(process.name for process in self.enabled())
        scene = self.scene
        knows_rivers = scene.droplets.enabled and scene.droplets.river_transport > 0.0
        self.cycle = Cycle(weather, scene.edges, running, self._scratch, scene.rivers.width, knows_rivers)
        for name, process in self._noting.items():
            if name in running:
                process.note(self.world, self.cycle)

    def _step(self, process: Process) -> None:
        changed = process.step(self.world, self._parameters(process), self.cycle)
        self.world.changed.update(
            dict.fromkeys(process.changes if changed is None else changed, self.world.next_version)
        )

    def _end_cycle(self) -> None:
        if self.snowball_run is None:  # all other processes pause during a run
            self._fade_traces()
        self.world.end_cycle()
        self._levels_are_old = True

    def _fade_traces(self) -> None:
        """Fade the traces of processes that are switched off, unless another process leaves the same trace."""
        left = {name for process in self.enabled() for name in process.changes}
        for process in self._fading:
            parameters = self._parameters(process)
            traces = [name for name in process.changes if not LAYERS[name].always and name not in left]
            if not parameters.enabled and traces and cast(Fading, process).fade(self.world, parameters):
                self.world.changed.update(dict.fromkeys(traces, self.world.next_version))

    def _drop_disabled(self) -> None:
        running = {process.name for process in self.enabled()}
        for process in self._caching:
            if process.name not in running:
                cast(Caching, process).release()
        if running != self.cycle.running:
            self._scratch.release()
        self.milliseconds = {name: taken for name, taken in self.milliseconds.items() if name in running}

    def set_room_aside(self, larger_than: int) -> None:
        """Give the memory back that processes work in, where it is more bytes than that, until their next step."""
        if self._scratch.nbytes > larger_than:
            self._scratch.set_aside()

    def _use_threads(self) -> None:
        """Set the number of threads. Numba keeps it per thread, so the thread that runs cycles must set it."""
        import numba

        available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        wanted = self.threads or self.scene.simulation.threads or usual_threads(available)
        numba.set_num_threads(min(wanted, available))
