"""What fails is told in one line, and nothing that was there before is harmed: worlds, files, the thread itself."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import imageio_ffmpeg
import numpy as np
import pytest

from app.cli.main import main
from app.engine.creation import create_world, create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import Needs, check_memory, free_memory
from app.engine.messages import OpenFailed, Pause, Run, Save, Saved, SaveFailed, Step, Stopped, SurveyFailed, Watch
from app.engine.simulator import SimulationError, Simulator
from app.engine.survey import Wanted
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.files.opening import open_scene
from app.files.recorder import open_recorder, write_png
from app.model.errors import UserError
from app.model.world import World
from app.picture.passes.quality import LEVELS
from app.scene.edits import Change, Open
from app.scene.scene import Scene
from app.window import loop
from app.window.known_levels import LevelsInFile
from tests.app.small import bits, heard, simulated, small_scene
from tests.app.test_simulation import running, take
from tests.faults import KERNELS, failing, full_disk, no_memory
from tests.waiting import wait_for

pytestmark = pytest.mark.slow  # programs are started

NO_MEMORY = "there is not enough memory; a smaller map needs less"
OTHER = small_scene(world__columns=24, world__seed=5)


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many that the test has made there are, also those that nobody can reach any more but that are not freed.

    Not by `gc.get_objects`: a thread fails whose half-made tuple someone else refers to.
    """
    made: WeakSet[World] = WeakSet()
    make = World.__init__

    def note(self: World, *given: Any, **named: Any) -> None:
        made.add(self)
        make(self, *given, **named)

    monkeypatch.setattr(World, "__init__", note)
    return lambda: len(made)


def is_shown(thread: SimulationThread) -> bool:
    """Whether nothing is left to be shown: streams come when their kernels do, also while no cycle runs."""
    take(thread)
    session = thread.session
    assert session.lockstep is not None
    return not session.showing.is_old and not session.showing._surveys.are_due(session.lockstep)


def goes_on(thread: SimulationThread, folder: Path) -> None:
    """A world runs on, is shown and can be saved, and is what it would be if nothing had happened."""
    thread.ask(Pause())
    before = wait_for(lambda: thread.status.state == "paused" and thread.status, "the state")
    thread.ask(Step())
    wait_for(lambda: thread.status.cycle == before.cycle + 1, "cycles")
    wait_for(lambda: (snapshot := take(thread)) and snapshot.cycle == before.cycle + 1, "cycles")
    thread.ask(Save(folder / "after.npz"))
    wait_for((folder / "after.npz").exists, "the file")
    world, _ = checkpoint.load(folder / "after.npz")
    assert bits(world) == bits(simulated(world.cycle).world)


@pytest.fixture
def no_log() -> Iterator[None]:
    """What pytest keeps of the log would keep all that an error refers to."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


# Worlds.


@pytest.mark.usefixtures("no_log")
@pytest.mark.parametrize("fault", ["making a world", "a layer", "a backup", "the check of a world", "a snapshot"])
def test_a_world_that_cannot_be_made_is_dropped_and_the_one_before_goes_on(
    fault: str, worlds: Callable[[], int], tmp_path: Path
) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        thread.ask(Pause())
        wait_for(lambda: thread.status.state == "paused" and take(thread), "the state")
        wait_for(lambda: is_shown(thread), "the last picture")  # what waits to be shown would meet the fault first
        before, scenes = worlds(), thread.scenes
        with failing(fault, sparing=thread.session.lockstep):  # which is checked each time that it is shown
            thread.ask(Open((OTHER,)))
            assert wait_for(lambda: heard(thread, OpenFailed), "a report") == [OpenFailed(Open((OTHER,)), NO_MEMORY)]
        wait_for(lambda: thread.status.state == "paused", lambda: f"a pause: {thread.status}")
        assert thread.scenes == scenes
        assert worlds() == before, "what was made of the new world is still held"
        goes_on(thread, tmp_path)


@pytest.mark.usefixtures("no_log")
def test_the_second_of_two_worlds_that_cannot_be_made_takes_the_first_with_it(
    worlds: Callable[[], int], tmp_path: Path
) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        thread.ask(Pause())
        wait_for(lambda: thread.status.state == "paused" and take(thread), "the state")
        wait_for(lambda: is_shown(thread), "the last picture")  # what waits to be shown would meet the fault first
        before = worlds()
        with failing("a snapshot", after=1):
            thread.ask(Open((OTHER, OTHER)))
            wait_for(lambda: heard(thread, OpenFailed), "a report")
        assert worlds() == before
        goes_on(thread, tmp_path)


def test_a_first_world_that_cannot_be_made_is_told() -> None:
    with failing("a snapshot"), running(small_scene()) as thread:
        wait_for(lambda: thread.status.state == "failed", "the state")
        assert thread.status.error == NO_MEMORY
        assert thread._thread.is_alive()


def test_a_world_that_stopped_stays_so_where_no_other_can_be_made() -> None:
    with failing("kernel of droplets"), running(small_scene()) as thread:
        error = wait_for(lambda: thread.status.error, "the error")
        with failing("making a world"):
            thread.ask(Open((OTHER,)))
            wait_for(lambda: heard(thread, OpenFailed), "a report")
        wait_for(lambda: thread.status.state == "failed", "the state")
        assert thread.status.error == error


@pytest.mark.parametrize("fault", ["a snapshot", "publishing"])
def test_what_cannot_be_shown_stops_the_simulation_but_not_its_thread(fault: str, tmp_path: Path) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        with failing(fault, times=1):
            wait_for(lambda: thread.take() or thread.status.state == "failed", "the state")
            wait_for(lambda: thread.status.state == "failed", "the state")
        assert thread.status.error == NO_MEMORY
        assert heard(thread, Stopped) == [thread.status.stopped]
        thread.ask(Save(tmp_path / "stopped.npz"))
        wait_for(lambda: heard(thread, Saved), "a report")
        thread.ask(Run())
        wait_for(lambda: thread.status.state == "running", "the state")
        goes_on(thread, tmp_path)


def test_errors_without_end_leave_a_thread_that_listens(tmp_path: Path) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        with failing("publishing", lambda: RuntimeError("again")) as failures:
            wait_for(lambda: failures.count > 3, "failures")
            assert thread.status.error == "RuntimeError: again"
            thread.ask(Save(tmp_path / "meanwhile.npz"))
            wait_for((tmp_path / "meanwhile.npz").exists, "the file")
        thread.ask(Run())
        wait_for(lambda: thread.status.state == "running", "the state")
        goes_on(thread, tmp_path)


def test_a_survey_that_fails_is_told_and_the_simulation_goes_on(tmp_path: Path) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        with failing("a survey") as failures:
            thread.ask(Watch(wanted=Wanted(rivers=True)))
            wait_for(lambda: thread.take() and failures.count, "failures")
            assert wait_for(lambda: heard(thread, SurveyFailed), "a report") == [SurveyFailed(NO_MEMORY)]
        cycle = thread.status.cycle
        wait_for(lambda: thread.status.cycle > cycle and thread.status.state == "running", "the state")
        thread.ask(Watch(wanted=Wanted()))
        goes_on(thread, tmp_path)


# Backups and cycles.


def test_a_backup_that_fails_leaves_the_old_one_whole() -> None:
    simulator = simulated(2)
    simulator.back_up()
    simulator.advance()
    message = f"^{NO_MEMORY}; stopped after cycle 3"
    with failing("the ledger of a backup"), pytest.raises(SimulationError, match=message):
        simulator.back_up()
    simulator.advance()
    simulator.go_back(2)  # not to what was half written over it
    assert bits(simulator.world) == bits(simulated(2).world)


def process_alone(name: str) -> Scene:
    """Small, with this process and what it needs; what works only from time to time works in each cycle, and it snows.

    It has a sea. A parameter of a process, such as floods.bed_load, stands for the process with this part of it.
    """
    scene = small_scene(droplets__enabled=False, wind_field__every=1, ice__snow_line=-100.0, climate__temperature=-2.0)
    scene = scene.with_values({"edges.water": "sea", "edges.sea_level": float(create_world(scene)[0].ground.mean())})
    process, _, part = name.partition(".")
    scene = scene.with_values({f"{process}.enabled": True, "materials.enabled": process == "stratigraphy"})
    if process == "distributaries":  # of which there are none without drops that know their rivers
        scene = scene.with_values({"droplets.enabled": True, "droplets.river_transport": 1.0})
    return scene.with_value(name, True) if part else scene


@pytest.mark.parametrize("error", [no_memory, lambda: RuntimeError("a kernel broke")])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_fails_once_costs_nothing(name: str, error: Callable[[], Exception]) -> None:
    simulator = simulated(3, process_alone(name))
    with failing(f"kernel of {name}", error, times=1), pytest.raises(SimulationError) as raised:
        for _ in range(50):
            simulator.advance()
    cycle = simulator.world.cycle
    why = NO_MEMORY if error is no_memory else "RuntimeError: a kernel broke"
    assert str(raised.value) == f"{name.partition('.')[0]}: {why}; stopped after cycle {cycle}"
    assert cycle >= 3
    simulator.advance()
    assert bits(simulator.world) == bits(simulated(cycle + 1, process_alone(name)).world)


def test_a_kernel_that_goes_on_failing_takes_the_world_back_to_its_last_backup() -> None:
    scene = small_scene(cascade__enabled=True)  # which comes after drops, that have changed the ground by then
    simulator = simulated(3, scene)
    simulator.back_up()
    simulator.advance()
    with failing("kernel of cascade"), pytest.raises(SimulationError, match=f"{NO_MEMORY}; went back to cycle 3"):
        simulator.advance()
    assert bits(simulator.world) == bits(simulated(3, scene).world)


def test_two_worlds_stay_in_step_where_one_fails() -> None:
    scenes = (small_scene(), small_scene(droplets__count=90))
    both = Lockstep([Simulator(scene, world) for world, scene in map(create_world, scenes)])
    both.advance()
    for fault, message in (
        ("kernel of droplets", f"^B: droplets: {NO_MEMORY}; stopped after cycle 1"),
        ("loading kernels", f"^B: {NO_MEMORY}"),
    ):
        with failing(fault, after=1, times=1), pytest.raises(SimulationError, match=message):
            both.advance()
        assert [bits(world) for world in both.worlds] == [bits(simulated(1, scene).world) for scene in scenes]


# Memory.


@pytest.mark.parametrize("arguments", [["simulate", "--out", "w.npz"], ["render", "--out", "p.png"], ["sheet"]])
def test_what_would_not_fit_is_refused_in_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("app.engine.memory.free_memory", lambda: 5.04e9)
    command, *rest = arguments
    words = [command, "snowballs"] if command == "sheet" else [command]
    assert main([*words, "noise", "--size", "7969", *rest]) == 1
    line = capsys.readouterr().err.splitlines()[-1]  # after a bar of progress
    assert line.startswith("thalweg: 7969² cells need about ") and line.endswith("GB of memory; 5 are free")
    assert not list(tmp_path.iterdir())


def test_a_saved_world_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.save(tmp_path / "w.npz", simulated(1).world, small_scene())
    scene = checkpoint.load_scene(tmp_path / "w.npz")
    monkeypatch.setattr("app.engine.memory.free_memory", lambda: 1e3)
    with failing_read(monkeypatch), pytest.raises(UserError, match=r"^40×32 cells need about .* GB of memory"):
        create_worlds([scene], lambda rows, columns: check_memory([scene], rows, columns))


class failing_read:  # noqa: N801
    """Within it, no array of a saved world can be read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def __enter__(self) -> None:
        self._patch.setattr(np, "load", lambda *_, **__: pytest.fail("it was read"))

    def __exit__(self, *_: object) -> None:
        pass


def test_pictures_of_water_with_waves_need_more_than_others() -> None:
    land = small_scene().with_value("pools.enabled", False)
    sea = land.with_value("edges.water", "sea")
    assert Needs.of([sea], 1, shown=True).running > Needs.of([land], 1, shown=True).running
    assert Needs.of([sea], 1, shown=False) == Needs.of([land], 1, shown=False)
    land, sea = (scene.with_value("waves.enabled", False) for scene in (land, sea))
    assert Needs.of([sea], 1, shown=True) == Needs.of([land], 1, shown=True)


def test_memory_of_strata_and_roofs_is_asked_for_where_they_are() -> None:
    land = {"droplets.enabled": False, "materials.enabled": True, "materials.intrusion": "x"}
    for in_time in (False, True):
        strata = Scene().with_values({**land, "geology.enabled": in_time})
        roofs = strata.with_value("materials.intrusion_roof", "10")
        assert Needs.of([roofs], 1, shown=True).running > Needs.of([strata], 1, shown=True).running


def test_two_worlds_need_twice_as_much_and_those_before_give_theirs_back() -> None:
    scene = small_scene()
    one, two = Needs.of([scene], 1000, shown=True), Needs.of([scene, scene], 1000, shown=True)
    assert two == Needs(2 * one.making, 2 * one.running)
    cells = int(free_memory() / one.running * 1000)
    check_memory([scene], cells // 2, 1, shown=True)
    with pytest.raises(UserError, match="2 worlds of"):
        check_memory([scene, scene], cells, 1, shown=True)
    check_memory([scene], int(cells * 1.2), 1, shown=True, given_back=one._replace(running=0.4 * free_memory()))


@pytest.mark.parametrize("name", ["noise", "delta", "island", "storm", "jacksboro"])
def test_the_estimate_knows_all_layers_that_processes_leave(name: str) -> None:
    """So that it follows what is declared, and nothing is added to a world without it."""
    small = {"world.columns": 40, "world.rows": 40, "droplets.count": 20, "wind.count": 20}
    scene = open_scene(name).with_values(small)
    simulator = simulated(5, scene)
    simulator.back_up()
    world = simulator.world
    state = world.state()["layers"]
    assert Needs.of([scene], world.ground.size, shown=False).making >= sum(
        array.nbytes for array in (*world.layers.values(), world.ground, world.water_level, *state.values())
    )


LIMITED = """
import resource
from pathlib import Path

from app.engine import runner
from app.engine.thread import SimulationThread
from app.engine.messages import OpenFailed
from app.scene.edits import Open
from app.numba_settings import configure_numba
from app.scene.scene import Scene
from tests.waiting import wait_for

configure_numba()


def taken():
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith("VmSize")))


small = Scene().with_values({"world.source": "noise", "world.columns": 64, "world.rows": 64})
thread = SimulationThread(small)
thread.first_picture_shown.set()
thread.start()
wait_for(lambda: thread.take() and thread.status.cycle > 0, "a cycle")
before = taken()
resource.setrlimit(resource.RLIMIT_AS, (before + 200_000_000,) * 2)
for estimate in (runner.check_memory, lambda *_, **__: None):  # as if others took the memory in between
    runner.check_memory = estimate
    thread.ask(Open((thread.scenes[0].with_values({"world.columns": 2000, "world.rows": 2000}),)))
    print(*wait_for(lambda: [told.why for told in thread.reports() if isinstance(told, OpenFailed)], "why"), sep="\\n")
    cycle = thread.status.cycle
    wait_for(lambda: thread.take() and thread.status.cycle > cycle, "a cycle")
assert taken() < before + 20_000_000, "what could not be made is still held"
thread.stop()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits as on Linux")
def test_a_limited_address_space() -> None:
    """First the estimate refuses; where it is wrong, making fails. Each time the world before goes on."""
    root = Path(__file__).parents[2]
    # glibc reserves an arena for each thread, and keeps the heap of freed arrays: both would count as held.
    exact = {**os.environ, "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "1000000"}
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, cwd=root, env=exact, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, failed = done.stdout.splitlines()
    assert refused.startswith("2000² cells need about ") and refused.endswith("are free")
    assert failed == NO_MEMORY


# Files.

SAVING = {
    "creating a file": "no permission; choose a place where this user may write",
    "writing a file": "no space is left there; free some or choose another place",
    "putting a file on the disk": "no space is left there; free some or choose another place",
    "renaming a file": "no permission; choose a place where this user may write",
}


@pytest.mark.parametrize("fault", SAVING)
def test_a_save_that_fails_leaves_the_older_file_and_the_world(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    path.write_bytes(b"older")
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        with failing(fault):
            thread.ask(Save(path))
            why = f"cannot write {path}: {SAVING[fault]}"
            assert wait_for(lambda: heard(thread, SaveFailed), "a report") == [SaveFailed(path, why)]
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"world.npz": b"older"}
        goes_on(thread, tmp_path)


@pytest.mark.parametrize("error", [no_memory, lambda: ValueError("no such array")])
def test_a_save_can_fail_in_any_way(error: Callable[[], Exception], tmp_path: Path) -> None:
    path = tmp_path / "world.npz"
    path.write_bytes(b"older")
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        with failing("writing a file", error):
            thread.ask(Save(path))
            (failed,) = wait_for(lambda: heard(thread, SaveFailed), "a report")
        assert failed.why == (NO_MEMORY if error is no_memory else "ValueError: no such array")
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"world.npz": b"older"}
        goes_on(thread, tmp_path)


@pytest.mark.parametrize("fault", SAVING)
def test_simulate_says_why_it_cannot_save(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "world.npz"
    path.write_bytes(b"older")
    words = ["simulate", "noise", "--size", "40", "--cycles", "2", "--overwrite", "--out", str(path)]
    with failing(fault):
        assert main(words) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line == f"thalweg: cannot write {path}: {SAVING[fault]}"
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"world.npz": b"older"}


@pytest.mark.parametrize("fault", ["creating a file", "renaming a file"])
def test_settings_that_cannot_be_kept_stop_nothing(fault: str, tmp_path: Path) -> None:
    known = LevelsInFile(tmp_path / "levels.json")
    known.note("a renderer", LEVELS[1])
    with failing(fault):
        known.note("a renderer", LEVELS[0])
    assert [path.name for path in tmp_path.iterdir()] == ["levels.json"]
    assert LevelsInFile(tmp_path / "levels.json").level("a renderer") == LEVELS[1]


def test_no_folder_for_the_layout_of_the_panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    with failing("making a folder"):
        assert loop._layout_file() is None


PIXELS = np.zeros((16, 16, 3), np.uint8)


@pytest.mark.parametrize("fault", ["encoding a picture", "putting a file on the disk", "renaming a file"])
def test_a_picture_that_cannot_be_written_leaves_the_older_one(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(b"older")
    for write in (lambda: write_png(path, PIXELS), lambda: record(path)):
        with failing(fault), pytest.raises((UserError, MemoryError)):
            write()
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"p.png": b"older"}


@pytest.mark.parametrize("fault", ["starting the encoder of clips", "putting a file on the disk", "renaming a file"])
def test_a_clip_that_cannot_be_written_leaves_the_older_one(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "c.mp4"
    path.write_bytes(b"older")
    imageio_ffmpeg.get_ffmpeg_exe()  # which starts it, too, but remembers what came of it
    with failing(fault), pytest.raises(UserError, match=r"c\.mp4"):
        record(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"c.mp4": b"older"}


def record(path: Path) -> None:
    with open_recorder(path, 16, 16, 30) as take_picture:
        take_picture(PIXELS)


def test_the_faults_are_those_of_a_real_disk() -> None:
    error = full_disk()
    assert isinstance(error, OSError) and (error.errno, error.strerror) == (errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_change_while_a_world_fails_is_one_of_the_world_that_goes_on() -> None:
    scene = small_scene()
    with running(scene, paused=True) as thread:
        wait_for(lambda: thread.status.state == "paused", "the state")
        thread.ask(Open((scene.with_value("world.source", "there-is-no.tif"),)))
        thread.ask(Change({"droplets.count": 7}))
        assert wait_for(lambda: heard(thread, OpenFailed), "a report")
        wait_for(lambda: thread.scenes[0].droplets.count == 7, "the change")
        assert thread.scenes[0].world.source == scene.world.source
