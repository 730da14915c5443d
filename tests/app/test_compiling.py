"""Kernels compiled beside the program: what the cache has then, what is told meanwhile, and what goes wrong."""

from __future__ import annotations

import contextlib
import dis
import io
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import psutil
import pytest

from app.engine import compiling, showing
from app.engine.builds import ON_RICH_GROUND, Ground, builds_of, foreseen, in_order
from app.engine.compiling import Compiler, NotCached
from app.engine.creation import create_world
from app.engine.messages import Pause, Watch
from app.engine.readiness import Readiness
from app.engine.simulator import Simulator
from app.engine.status import Compiling
from app.engine.survey import Wanted
from app.engine.survey import prepare as prepare_surveys
from app.engine.thread import SimulationThread
from app.processes.distributaries import Distributaries
from app.processes.droplets import DropletErosion, DropletParameters
from app.processes.meandering import Meandering
from app.processes.plants import Plants, PlantsParameters
from app.processes.pools import Pools, PoolsParameters
from app.processes.process import Process
from app.processes.stratigraphy import Stratigraphy
from app.scene.edits import Change
from app.scene.scene import Scene
from kernels import distributaries, meanders, path_cost, pools, stratigraphy
from kernels.standing import DRY, SEA
from tests.app.hands import let_go_round
from tests.app.small import bits, small_scene
from tests.nets.profile import is_nightly
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow  # programs are started

ROOT = Path(__file__).parent.parent.parent

# Two processes whose kernels are soon compiled, on land that is made without any
SETTINGS = {"world.columns": 24, "droplets.enabled": False, "pools.enabled": False, "weathering.enabled": True}

FIRST_CYCLES = """
import hashlib, json, sys
from app.engine.messages import Step
from app.engine.thread import SimulationThread
from app.files.opening import open_scene
from tests.waiting import wait_for

compiled, seen = [], []
thread = SimulationThread(open_scene("jacksboro").with_values(json.loads(sys.argv[1])), paused=True)
thread.start()
snapshots = wait_for(thread.take, "the land")
assert "numba" not in sys.modules
from numba.core import event

class Compilations(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].__name__)
    def on_end(self, event): ...

event.register("numba:compile", Compilations())
thread.first_picture_shown.set()
for cycle in (1, 2, 3):
    thread.ask(Step())

    def seen_cycle():
        if (status := thread.status).compiling and status.compiling.words not in seen:
            seen.append(status.compiling.words)
        assert status.state != "failed", status.error
        return (taken := thread.take()) and taken[0].cycle == cycle and taken

    snapshots = wait_for(seen_cycle, f"cycle {cycle}")
thread.stop()
layers = {name: hashlib.sha256(layer.tobytes()).hexdigest() for name, layer in snapshots[0].layers.items()}
print(json.dumps({"compiled": compiled, "seen": seen, "layers": layers, "seconds": thread.compile_seconds}))
"""


def run_first_cycles(cache: Path) -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", FIRST_CYCLES, json.dumps(SETTINGS)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@contextlib.contextmanager
def running(scene: Scene) -> Iterator[SimulationThread]:
    thread = SimulationThread(scene)
    thread.first_picture_shown.set()
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


@pytest.mark.nightly  # before the check, workers fill the cache, and test_particles sees that nothing is missing
def test_workers_fill_the_cache_and_the_program_itself_compiles_nothing(tmp_path: Path) -> None:
    first = run_first_cycles(tmp_path)
    assert first["compiled"] == []
    assert any("weathering, 0 of 1" in words for words in first["seen"])
    assert first["seconds"] > 0.0
    second = run_first_cycles(tmp_path)
    assert (second["compiled"], second["seen"], second["seconds"]) == ([], [], 0.0)
    assert second["layers"] == first["layers"]


# Of each case in a process of its own, which begins with all imported and nothing compiled
FIRST_CYCLES_OF_GEOLOGY = """
import json, os, sys
import numba
from numba.core.dispatcher import Dispatcher
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.scene.scene import Scene

missing, compile = [], Dispatcher.compile

def told(self, signature):
    missing.append(self.py_func.__name__)
    return compile(self, signature)

def run(settings, layers):
    world, scene = create_world(Scene().with_values(settings))
    for layer in layers:
        world.trace(layer)[...] = 0.5
    simulator = Simulator(scene, world)
    simulator.prepare_all()
    Dispatcher.compile = told
    simulator.advance()
    print(json.dumps([sorted(simulator.prepared), missing]), flush=True)

for settings, layers in json.loads(sys.argv[1]):
    if not (child := os.fork()):
        run(settings, layers)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""

GEOLOGY: tuple[tuple[tuple[str, ...], dict[str, Any], str], ...] = (
    ((), {}, "geology"),
    (("grass", "canopy"), {}, "geology on rich ground"),
    ((), {"materials.enabled": True}, "geology on rich ground"),
    ((), {"geology.slope_exponent": 2.0}, "geology"),
)
GEOLOGY_BY_NIGHT = (
    (("wetness",), {}, "geology on rich ground"),
    ((), {"fields.erodibility": "0.5 + 0.5 * x"}, "geology on rich ground"),
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="cases are forked")
def test_geology_has_all_its_kernels_before_it_runs(subtests: pytest.Subtests) -> None:
    """Within one process, what another case compiled would stay."""
    land = {"world.columns": 24, "world.rows": 24, "droplets.enabled": False, "geology.enabled": True}
    cases = (*GEOLOGY, *GEOLOGY_BY_NIGHT) if is_nightly() else GEOLOGY
    given = json.dumps([({**land, **settings}, layers) for layers, settings, _ in cases])
    command = [sys.executable, "-c", FIRST_CYCLES_OF_GEOLOGY, given]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for (layers, settings, build), line in zip(cases, done.stdout.splitlines(), strict=True):
        with subtests.test(layers=layers, settings=settings):
            assert json.loads(line) == [[build], []]


def no_worker() -> subprocess.Popen[str]:
    """One that ends at the first word."""
    return program("import sys; sys.stdin.readline()")


def program(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextlib.contextmanager
def nothing_cached() -> Iterator[None]:
    raise NotCached
    yield


def test_where_workers_die_the_program_compiles_itself_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiling, "_start_worker", no_worker)
    monkeypatch.setattr("app.engine.readiness.only_from_cache", nothing_cached)
    with caplog.at_level(logging.WARNING), running(small_scene(pools__enabled=True)) as thread:
        wait_for(lambda: thread.status.cycle >= 3, "cycles")
    told = [record.getMessage() for record in caplog.records]
    builds = ("basins", "droplets", "pools", "depressions")
    assert len(told) == len(builds)
    assert all(any(f"of {build} are" in line and "ended" in line for line in told) for build in builds)


def test_where_no_worker_starts_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> subprocess.Popen[str]:
        raise OSError("no more processes")

    monkeypatch.setattr(compiling, "_start_worker", fail)
    compiler = Compiler(workers=2)
    compiler.ask(["pools", "droplets", "wind"])
    wait_for(lambda: compiler.progress is None, "the end of all builds")
    assert [compiler.outcome(build) for build in ("pools", "droplets", "wind")] == ["no more processes"] * 3
    compiler.close()


def test_a_build_that_fails_tells_why_and_the_others_go_on() -> None:
    compiler = Compiler(workers=1)
    try:
        compiler.ask(["nonsense", "other nonsense"])
        wait_for(lambda: compiler.progress is None, "the end of all builds")
        assert compiler.outcome("nonsense") == "KeyError: 'nonsense'"
        assert compiler.outcome("other nonsense") == "KeyError: 'other nonsense'"
    finally:
        compiler.close()


def test_progress_names_what_goes_on_and_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    workers: list[subprocess.Popen[str]] = []

    def one_and_no_more() -> subprocess.Popen[str]:
        workers.append(program("input(); print('done 2.5', flush=True); input(); input()"))
        return workers[-1]

    monkeypatch.setattr(compiling, "_start_worker", one_and_no_more)
    compiler = Compiler(workers=1)
    compiler.ask(["pools", "wind", "plants"])
    wait_for(lambda: compiler.outcome("pools") == "", "a build")
    progress = wait_for(lambda: (now := compiler.progress) and now.at_work and now, "the next build")
    assert progress == Compiling(1, 3, ("wind",), ("plants",))
    assert progress.words == "compiling kernels: wind, 1 of 3"
    assert compiler.seconds == 2.5

    # And who quits waits for nothing.
    compiler.close()
    assert [worker.poll() is None for worker in workers] == [False]
    compiler.ask(["cascade"])
    assert compiler.progress is None


class SlowToEnd:
    """A worker that compiles anything at once, and ends when it may."""

    def __init__(self) -> None:
        self.stdin, self.stdout = io.StringIO(), io.StringIO(f"{compiling.DONE} 0.0\n" * 9)
        self.is_ending, self.may_end = threading.Event(), threading.Event()

    def kill(self) -> None: ...

    def communicate(self) -> None:
        self.is_ending.set()
        assert self.may_end.wait(PATIENCE)


def test_what_is_asked_for_while_a_worker_ends_is_compiled() -> None:
    workers: list[SlowToEnd] = []

    def start() -> Any:
        workers.append(SlowToEnd())
        return workers[-1]

    compiler = Compiler(workers=1, start=start)
    try:
        compiler.ask(["pools"])
        wait_for(lambda: workers and workers[0].is_ending.is_set(), "the end of a worker")
        compiler.ask(["wind"])
        wait_for(lambda: compiler.outcome("wind") == "", "the other build")
        assert len(workers) == 2  # the first has not ended yet
    finally:
        for worker in workers:
            worker.may_end.set()
        compiler.close()


def test_who_quits_leaves_no_build_to_be_compiled_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SlowToEnd()
    worker.stdout = io.StringIO()  # as of one that has ended
    compiler = Compiler(workers=1, start=lambda: worker)  # type: ignore[arg-type, return-value]
    compiler.ask(["pools"])
    wait_for(worker.is_ending.is_set, "the end of a worker")
    monkeypatch.setattr(worker, "kill", worker.may_end.set)
    compiler.close()
    assert compiler.outcome("pools") is None


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for a process by its number")
def test_workers_end_where_the_program_is_killed(tmp_path: Path) -> None:
    code = """
import threading
from app.engine.compiling import Compiler
from tests.waiting import wait_for
compiler = Compiler(workers=1)
compiler.ask(["droplets"])
wait_for(lambda: compiler._workers and compiler.progress.at_work, "a worker")
print(compiler._workers[0].pid, flush=True)
threading.Event().wait()
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    killed = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with killed:
        assert killed.stdout is not None
        worker = int(killed.stdout.readline())

        def works() -> bool:
            try:
                return "app.engine.compiling" in psutil.Process(worker).cmdline()
            except psutil.Error:  # it has ended
                return False

        wait_for(works, "the worker")
        wait_for(lambda: any(tmp_path.rglob("*.nbi")), "its first kernel")
        killed.kill()
    wait_for(lambda: not works(), "the end of the worker")
    assert not list(tmp_path.rglob("*share_*.nbi"))  # in the midst of a build, and not after it


def test_a_switch_that_needs_kernels_does_not_stop_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = threading.Event()
    monkeypatch.setattr(
        Readiness, "is_ready", lambda self, build, simulator: compiled.is_set() or build not in ("plants", "weathering")
    )
    states = set()
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        thread.ask(Change({"plants.enabled": True, "droplets.count": 61}))
        thread.ask(Change({"weathering.enabled": True}))
        thread.ask(Change({"weathering.enabled": False}))  # what is asked for last counts
        thread.ask(Change({"droplets.friction": 0.07}))  # what needs no kernels is not held up
        cycle = thread.status.cycle

        def goes_on() -> bool:
            states.add(thread.status.state)
            return thread.status.cycle > cycle + 30

        wait_for(goes_on, "cycles")
        assert states == {"running"}
        assert thread.session.lockstep is not None
        (simulator,) = thread.session.lockstep.simulators
        assert simulator.scene.droplets.friction == 0.07
        assert not simulator.scene.plants.enabled
        assert simulator.scene.droplets.count == 60  # a change is made as a whole
        compiled.set()
        wait_for(lambda: simulator.scene.plants.enabled, "plants")
        assert simulator.scene.droplets.count == 61
        assert not simulator.scene.weathering.enabled
        wait_for(lambda: "grass" in simulator.world.layers, "grass")


def test_a_cycle_never_runs_without_a_process_that_is_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = threading.Event()
    monkeypatch.setattr(Readiness, "is_ready", lambda self, build, simulator: compiled.is_set() or build != "droplets")
    with running(small_scene(pools__enabled=True, edges__water="sea", edges__sea_level=1e3)) as thread:
        # What changes no layer comes before: the sea is seen, and no cycle has run.
        snapshot = wait_for(lambda: (taken := thread.take()) and "water" in taken[0].layers and taken[0], "the sea")
        assert (snapshot.layers["water"] > 0.0).all()
        wait_for(lambda: thread.status.state == "compiling", "the state")
        let_go_round(thread)
        assert thread.status.cycle == 0
        compiled.set()
        wait_for(lambda: thread.status.cycle >= 3, "cycles")


def test_a_window_that_is_hidden_from_the_start_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "WAIT_FOR_PICTURE", 2.0 * PATIENCE)
    hidden = SimulationThread(small_scene())
    hidden.start()
    try:
        wait_for(lambda: hidden.status.state == "running", "cycles")
        hidden.ask(Pause())
        wait_for(lambda: hidden.status.state == "paused", "the pause")
        assert hidden.session.lockstep is not None and hidden.session.lockstep.unprepared()  # the picture comes first
        monkeypatch.setattr(hidden.session.showing, "_latest_picture", 0.0)
        wait_for(lambda: hidden.session.lockstep is not None and not hidden.session.lockstep.unprepared(), "kernels")
    finally:
        hidden.stop()


def test_rivers_are_compiled_beside_the_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = threading.Event()
    monkeypatch.setattr(Readiness, "is_ready", lambda self, build, simulator: compiled.is_set() or build != "rivers")
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        thread.ask(Watch(wanted=Wanted(rivers=True)))
        cycle = thread.status.cycle
        wait_for(
            lambda: (taken := thread.take()) and taken[0].cycle > cycle + 20 and taken[0].survey is None,
            "cycles without rivers",
        )
        compiled.set()
        wait_for(lambda: (taken := thread.take()) and taken[0].survey, "rivers")


SWITCHES = {
    "materials": {"materials.enabled": True},
    "plants": {"plants.enabled": True},
    "moisture": {"moisture.enabled": True},
    "wind field": {"wind_field.enabled": True},
    "lag": {"wind.lag": 1.0},
    "rivers": {"droplets.river_transport": 3.0},
    "nothing": {},
}


@pytest.mark.parametrize("switches", [*([one] for one in SWITCHES), ["plants", "moisture", "wind field"]])
def test_builds_are_foreseen(switches: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No cycle uses a kernel of which it was not said before that it would."""
    from kernels import cascade, droplets, wind

    used: set[str] = set()

    def watch(module: Any, name: str, build: str) -> None:
        function = getattr(module, name)

        def run(*arguments: Any, **options: Any) -> Any:
            used.add(build)
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, run)

    watch(droplets, "_run", "droplets")
    watch(droplets, "_run_rich", "droplets" + ON_RICH_GROUND)
    watch(droplets, "_run_rivers", "droplets in rivers")
    watch(droplets, "_run_rivers_rich", "droplets in rivers" + ON_RICH_GROUND)
    watch(wind, "_run", "wind")
    watch(wind, "_run_rich", "wind" + ON_RICH_GROUND)
    watch(cascade, "_slide", "cascade")
    watch(cascade, "_slide_rich", "cascade" + ON_RICH_GROUND)
    settings = {path: value for one in switches for path, value in SWITCHES[one].items()}
    scene = small_scene(wind__enabled=True, wind__count=20, cascade__enabled=True).with_values(settings)
    assert {build for build in foreseen(scene) if build.startswith(("droplets", "wind", "cascade"))}
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    for _ in range(3):
        prepared = set(simulator.unprepared()) | simulator.prepared
        simulator.prepare_all()
        used.clear()
        simulator.run_cycle()
        assert used <= prepared
        assert len(used) == 3
        # Nor is one foreseen for nothing: what is compiled besides is what the next cycle needs.
        assert len({build for build in prepared if build.startswith(("droplets", "wind", "cascade"))}) <= (
            7 if "plants" in switches else 4
        )


@pytest.mark.parametrize("order", [("pools", "basins", "depressions"), ("depressions", "basins", "pools")])
def test_levels_of_lakes_come_with_the_last_of_their_builds(order: tuple[str, ...]) -> None:
    world, scene = create_world(small_scene(pools__enabled=True, edges__water="sea", edges__sea_level=1e3))
    simulator = Simulator(scene, world)
    for build in order:
        assert (world.standing == DRY).all()  # else what is missing would be compiled here
        simulator.prepare(build)
    assert (world.standing == SEA).all()


def test_what_is_foreseen_before_the_world_is_made() -> None:
    scene = small_scene(materials__enabled=True, cascade__enabled=True)
    assert foreseen(scene) == ["droplets on rich ground", "cascade on rich ground"]
    bare, covered = Ground(materials=False, covered=False), Ground(materials=False, covered=True)
    droplets, parameters = DropletErosion(), DropletParameters()
    assert builds_of(droplets, parameters, bare, frozenset({"droplets"})) == ("droplets",)
    assert builds_of(droplets, parameters, covered, frozenset({"droplets"})) == ("droplets on rich ground",)
    rivers = DropletParameters(river_transport=1.0)
    assert builds_of(droplets, rivers, bare, frozenset({"droplets"})) == ("droplets in rivers",)
    assert builds_of(droplets, rivers, covered, frozenset({"droplets"})) == ("droplets in rivers on rich ground",)
    running_plants = frozenset({"droplets", "plants"})
    assert builds_of(droplets, parameters, bare, running_plants) == ("droplets", "droplets on rich ground")
    assert builds_of(Plants(), PlantsParameters(), bare, running_plants) == ("plants",)
    assert builds_of(Pools(), PoolsParameters(), bare, frozenset({"pools"})) == ("pools", "basins", "depressions")
    assert in_order(["snowballs", "wind", "basins", "wind"]) == ["basins", "wind", "snowballs"]


def test_no_two_cached_kernels_share_a_file() -> None:
    """Processes that compile at the same time would take each other's place."""
    code = """
import app, gc, importlib, pathlib, collections
for path in sorted(pathlib.Path("kernels").glob("*.py")):
    importlib.import_module(f"kernels.{path.stem}")
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
caches = [o._cache for o in gc.get_objects() if isinstance(o, Dispatcher) and isinstance(o._cache, FunctionCache)]
paths = [cache._cache_file._index_path for cache in caches]
files = collections.Counter(path for path in paths if "kernels" in path)
print(len(files), *[path for path, count in files.items() if count > 1])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    count, *twice = done.stdout.split()
    assert int(count) > 50
    assert twice == []


def test_commands_without_a_window_fill_the_cache_first(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(self: Compiler, builds: list[str]) -> None:
        asked.extend(builds)

    monkeypatch.setattr(Compiler, "ask", ask)
    monkeypatch.setattr(compiling, "only_from_cache", nothing_cached)
    world, scene = create_world(small_scene(pools__enabled=True))
    simulator = Simulator(scene, world)
    simulator.compile_missing()
    assert asked == ["basins", "droplets", "pools", "depressions"]
    assert simulator.unprepared() == []
    simulator.advance()
    one, scene = create_world(small_scene(pools__enabled=True))
    other = Simulator(scene, one)
    other.advance()
    assert bits(one) == bits(world)


def called_in(module: ModuleType) -> set[str]:
    """The globals of a module that its functions use, without its kernels: what those use is compiled with them."""
    functions = [each for each in vars(module).values() if isinstance(each, FunctionType)]
    return {code.argval for each in functions for code in dis.get_instructions(each) if code.opname == "LOAD_GLOBAL"}


@pytest.mark.parametrize(
    ("process", "module", "of_others"),
    [
        (Distributaries, distributaries, set()),
        (Stratigraphy, stratigraphy, set()),
        (Pools, pools, set()),
        (Meandering, meanders, {"_ways"}),  # a measure of the survey's
    ],
)
def test_a_process_prepares_all_kernels_of_its_own(
    process: type[Process], module: ModuleType, of_others: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is left out would be compiled in the middle of a cycle."""
    names = called_in(module) - of_others
    own = {name: vars(module)[name] for name in names if vars(module).get(name).__class__.__name__ == "CPUDispatcher"}
    kernels = {
        name: own[name] for name in own if own[name].__module__ == module.__name__ and own[name].stats.cache_path
    }
    called = set()

    def recorded(name: str) -> Callable[..., object]:
        def kernel(*arguments: object) -> object:
            called.add(name)
            return kernels[name](*arguments)

        return kernel

    for name in kernels:
        monkeypatch.setattr(module, name, recorded(name))
    process().prepare()
    assert called == kernels.keys() and called


def test_the_survey_prepares_what_breaks_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    called, kernel = [], path_cost._break_ties
    monkeypatch.setattr(path_cost, "_break_ties", lambda *arguments: called.append(1) or kernel(*arguments))
    prepare_surveys()
    assert called
