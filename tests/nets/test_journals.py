"""Commands in any order, at any moment: the thread lives, loses nothing, and saves what can be opened."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.brushes.stack import layers_of
from app.cli.replay import replay
from app.engine.messages import (
    DiscardBranch,
    FrameBegan,
    GoTo,
    Look,
    Opened,
    Pause,
    Report,
    Run,
    Save,
    Saved,
    SaveFailed,
    Step,
    Watch,
    read,
    written,
)
from app.engine.thread import SimulationThread
from app.files import atomic as app_files
from app.files import checkpoint
from app.model.ledger import LARGEST_IMBALANCE
from app.model.snapshot import Snapshot
from app.model.soundness import find_fault
from app.model.view_parameters import CameraParameters, ViewParameters
from app.model.world import World
from app.processes import PROCESSES
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion
from app.processes.process import ProcessFailure
from app.scene.edits import (
    Blur,
    CancelSnowballs,
    Change,
    Copy,
    Keep,
    Lay,
    Open,
    Refine,
    Restack,
    RollSnowballs,
    Stroke,
)
from app.scene.scene import Scene
from app.sources.generators import GENERATORS
from tests.app.small import bits, small_scene
from tests.faults import failing
from tests.nets.profile import examples
from tests.waiting import wait_for

STATES = {"loading", "compiling", "running", "paused", "failed"}
REASONS = ("no space is left", "there is no folder", "there is no world", "not enough memory")  # for which a save fails

SCENES = (
    small_scene(world__columns=16, world__rows=12, droplets__count=20),
    small_scene(world__columns=12, world__rows=16, droplets__count=20, pools__enabled=True, world__seed=5),
    small_scene(world__columns=16, world__rows=12, droplets__enabled=False),
    small_scene(world__columns=16, world__rows=12, droplets__count=20, simulation__cycles_per_frame=3),
    small_scene(world__columns=16, world__rows=12, droplets__count=20, fields__rain="2 - x"),
)
MOST_REFINEMENTS = 2  # in a test: more would take long
MISSING = SCENES[0].with_value("world.source", "there-is-no.tif")
# Where memory can be missing: before, while and after what is shown is copied, and in what goes before it.
NEEDS_MEMORY = (
    "a snapshot",
    "the versions of a snapshot",
    "an array of a snapshot",
    "the ledger of a backup",  # and of a snapshot, which comes last
    "publishing",
    "a backup",
    "the check of a world",
    "making a world",
    "a layer",
    "kernel of droplets",
)
EXHAUSTING = SCENES[0].with_value("world.source", "exhausting")


class Faults:
    """What goes wrong in a journal, switched on and off by its commands."""

    def __init__(self) -> None:
        self.disc_is_full = False
        self.process_fails = False
        self.without_memory = ExitStack()

    def end(self) -> None:
        self.disc_is_full = self.process_fails = False
        self.without_memory.close()


class Journal:
    """A thread with the commands that a person can give, by name; a number says which of several is meant."""

    def __init__(self, folder: Path, faults: Faults) -> None:
        self.folder = folder
        self.faults = faults
        self.thread = SimulationThread(SCENES[0])
        self.thread.first_picture_shown.set()
        self.saved: set[Path] = set()
        self.snapshots: tuple[Snapshot, ...] = ()
        self.heard: list[Report] = []
        self.strokes = self.refinements = self.rounds = 0
        self._count_rounds()
        self.thread.start()

    def _count_rounds(self) -> None:
        """Of the thread: in each it answers, publishes, and runs a cycle where it may."""
        go_round = self.thread._run_once

        def counted() -> None:
            self.rounds += 1
            go_round()

        self.thread._run_once = counted  # type: ignore[method-assign]

    def open(self, number: int) -> None:
        self.thread.ask(Open((SCENES[number % len(SCENES)],)))

    def open_missing(self, number: int) -> None:
        self.thread.ask(Open((MISSING,)))

    def open_too_large(self, number: int) -> None:
        self.thread.ask(Open((EXHAUSTING,)))

    def open_saved(self, number: int) -> None:
        saved = sorted(self.saved)
        if saved:
            self.thread.ask(Open((Scene(saved_world=str(saved[number % len(saved)])),)))

    def reset(self, number: int) -> None:
        self.thread.ask(Open(self.thread.scenes))

    def compare(self, number: int) -> None:
        scene = self.thread.scenes[0]
        self.thread.ask(
            Open(
                (
                    scene,
                    scene.with_value("droplets.evaporation", 0.01 * number),
                )
            )
        )

    def compare_missing(self, number: int) -> None:
        self.thread.ask(
            Open(
                (
                    self.thread.scenes[0],
                    MISSING,
                )
            )
        )

    def keep(self, number: int) -> None:
        self.thread.ask(Keep((number % len(self.thread.scenes),)))

    def change(self, number: int) -> None:
        world = None if number % 2 else number % len(self.thread.scenes)
        self.thread.ask(Change({"droplets.count": 10 * number}, world))

    def switch(self, number: int) -> None:
        process = ("droplets", "cascade", "pools", "weathering")[number % 4]
        self.thread.ask(Change({f"{process}.enabled": number > 4}))

    def save(self, number: int) -> None:
        path = self.folder / f"{number % 3}.npz"
        scene = self.thread.scenes[0]
        self.thread.ask(Save(path, seen=scene))
        self.saved.add(path)

    def save_nowhere(self, number: int) -> None:
        self.thread.ask(Save(self.folder / "missing" / "world.npz"))

    def copy(self, number: int) -> None:
        self.thread.ask(Copy(number % len(self.thread.scenes)))

    def paint(self, number: int) -> None:
        """A stroke in two parts, with whatever happens between them."""
        tool = ("raise", "smooth", "erode", "pour", "protect", "sow", "river bed", "stamp", "loose")[number % 9]
        choice = {"sow": "grass", "stamp": "mesa"}.get(tool, "")
        self.strokes += 1
        world = None if number % 2 else number % len(self.thread.scenes)
        part = Stroke(
            tool,
            ((30.0 * number, 60.0, 1.0), (140.0, 90.0, 0.5)),
            70.0,
            0.9,
            choice=choice,
            number=self.strokes,
            world=world,
        )
        self.thread.ask(part)
        if tool not in ("river bed", "stamp"):
            self.thread.ask(msgspec.structs.replace(part, first=2))

    def lay(self, number: int) -> None:
        """Heights, or a field, of all worlds or of one."""
        world = None if number % 2 else number % len(self.thread.scenes)
        if number < 6:
            self.thread.ask(Lay(f"{number} * x - 2", world))
        else:
            self.thread.ask(Change({"fields.rain": f"1 + {number} * y"}, world))

    def restack(self, number: int) -> None:
        """Change some layer of the present stack in some way."""
        status = self.thread.status
        branch = status.timeline.branches.get(status.moment.branch)
        layers = layers_of(branch.edits[: status.moment.edits]) if branch else []
        if not layers:
            return
        layer, other = layers[number % len(layers)], layers[(number * 7 + 1) % len(layers)]
        change: tuple[dict[str, Any], ...] = (
            {"is_on": not layer.is_on},
            {"strength": 0.25 * number},
            {"after": other.name},
            {"after": ""},
            {"removed": True},
            {"name": other.name},
            {"expression": f"0.5 + {number} * x"},
            {"takes": self.strokes},
            {"is_on": False, "strength": 2.0},
            {"is_on": True, "after": other.name},
        )
        self.thread.ask(Restack(layer.name, **change[(number + self.strokes) % len(change)]))

    def keys(self, number: int) -> None:
        self.thread.ask(Change({"keys.droplets.friction": f"0: 0.1; {number + 1}: 0.5"}))

    def go_to(self, number: int) -> None:
        """To some cycle of some branch."""
        branches = list(self.thread.status.timeline.branches.values())
        if branches:
            branch = branches[number % len(branches)]
            self.thread.ask(GoTo(branch.number, branch.first + (branch.last - branch.first) * number // 9))

    def go_back(self, number: int) -> None:
        """To just before some edit."""
        status = self.thread.status
        branch = status.timeline.branches.get(status.moment.branch)
        if branch and len(branch.edits) > 1:
            edits = 1 + number % (len(branch.edits) - 1)
            self.thread.ask(GoTo(branch.number, branch.edits[edits].cycle, edits, pause=number % 2 == 0))

    def discard(self, number: int) -> None:
        self.thread.ask(DiscardBranch(number))

    def look(self, number: int) -> None:
        self.thread.ask(Look(ViewParameters(sun_height=10.0 + number), CameraParameters(heading=10.0 * number)))

    def run(self, number: int) -> None:
        self.thread.ask(Run())

    def pause(self, number: int) -> None:
        self.thread.ask(Pause())

    def step(self, number: int) -> None:
        self.thread.ask(Step())

    def frame(self, number: int) -> None:
        self.thread.ask(FrameBegan())
        self.snapshots = self.thread.take() or self.snapshots

    def snowballs(self, number: int) -> None:
        self.thread.ask(RollSnowballs(40 * number))

    def no_snowballs(self, number: int) -> None:
        self.thread.ask(CancelSnowballs())

    def blur(self, number: int) -> None:
        self.thread.ask(Blur())

    def refine(self, number: int) -> None:
        if self.refinements < MOST_REFINEMENTS:
            self.refinements += 1
            self.thread.ask(Refine(2))

    def overlay(self, number: int) -> None:
        self.thread.ask(Watch(("none", "wetness", "canopy", "discharge")[number % 4]))

    def fill_disc(self, number: int) -> None:
        self.faults.disc_is_full = True

    def free_disc(self, number: int) -> None:
        self.faults.disc_is_full = False

    def save_on_full_disc(self, number: int) -> None:
        path = self.folder / "older.npz"
        path.write_bytes(b"older")
        self.faults.disc_is_full = True
        self.thread.ask(Save(path))
        self.wait_for(lambda: self.hears(lambda report: isinstance(report, SaveFailed) and report.path == path))
        self.faults.disc_is_full = False
        assert path.read_bytes() == b"older"

    def break_process(self, number: int) -> None:
        self.faults.process_fails = True

    def mend_process(self, number: int) -> None:
        self.faults.process_fails = False

    def exhaust_memory(self, number: int) -> None:
        """For good, in one of the places where it is needed."""
        failures = self.faults.without_memory.enter_context(failing(NEEDS_MEMORY[number]))
        failures.is_met = True

    def run_short_of_memory(self, number: int) -> None:
        """Once, while the next snapshots are taken: in the first array, or the second …"""
        failures = self.faults.without_memory.enter_context(failing("an array of a snapshot", after=number, times=1))
        failures.is_met = True

    def free_memory(self, number: int) -> None:
        self.faults.without_memory.close()

    def wait(self, number: int) -> None:
        """For so many rounds of the thread, whatever it does in them."""
        goal = self.rounds + number

        def is_reached() -> bool:
            self.thread._wake.set()  # from its rest
            return self.rounds >= goal

        self.wait_for(is_reached)

    # What must hold.

    def check(self) -> None:
        """At any moment."""
        assert self.thread._thread.is_alive()
        assert self.thread.status.state in STATES
        assert self.thread.status.cycle >= 0
        self.heard += self.thread.reports()

    def check_at_rest(self) -> None:
        """When everything that was asked for has been done."""
        self.faults.end()
        self.thread.ask(CancelSnowballs())
        self.thread.ask(Pause())
        last = self.folder / "last.npz"
        self.thread.ask(Save(last))
        self.wait_for(lambda: self.hears(lambda report: isinstance(report, Saved | SaveFailed) and report.path == last))
        if Saved(last) not in self.heard:  # there was no memory for a first world
            assert SaveFailed(last, "there is no world to save yet") in self.heard
            self.thread.ask(Open((SCENES[0],)))
            self.thread.ask(Save(last))
            self.wait_for(lambda: self.hears(lambda report: report == Saved(last)))
        self.thread.ask(Open(self.thread.scenes))  # another command, which comes after what the save has changed
        self.thread.take()
        self.wait_for(self.thread.take)
        opened, _ = checkpoint.load(last)
        assert find_fault(opened) is None
        assert abs(opened.imbalance()) <= LARGEST_IMBALANCE
        self.check_replay(last)
        for report in self.heard:
            if isinstance(report, SaveFailed) and report.path != last:
                assert any(reason in report.why for reason in REASONS), report.why

        # It goes on: from now on as if nothing had happened.
        self.thread.ask(Open((SCENES[0],)))
        self.thread.ask(Run())
        self.wait_for(lambda: self.thread.status.state == "running" and self.thread.status.cycle > 2)
        self.thread.ask(Pause())
        saved = Open((Scene(saved_world=str(last)),))
        self.thread.ask(saved)
        self.wait_for(lambda: self.hears(lambda report: isinstance(report, Opened) and report.request is saved))
        world = self.wait_for(lambda: next((s for s in self.thread.take() if s.cycle == opened.cycle), None))
        status = self.wait_for(lambda: self.thread.status if self.thread.status.state == "paused" else None)
        assert status.cycle == world.cycle
        assert status.error == ""
        assert len(self.thread.scenes) == 1
        assert abs(world.imbalance) <= LARGEST_IMBALANCE
        for path in self.saved:
            if path.exists():
                checkpoint.load(path)
        assert not list(self.folder.glob(".*")), "parts of files were left behind"

    def check_replay(self, saved: Path) -> None:
        """What is in the journal of a saved world leads to its last bit."""
        journal = checkpoint.load_journal(saved)
        if journal is None:
            return  # its own file was opened, and written over
        again = saved.with_name("again.npz")
        replay(journal, again, overwrite=True)
        assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(saved)[0])

    def hears(self, condition: Callable[[Report], bool]) -> bool:
        """Whether there was such a report, before or now. All can be written down, and read again."""
        new = self.thread.reports()
        assert read(written(new)) == new
        self.heard += new
        return any(map(condition, self.heard))

    def wait_for(self, condition: Callable[[], Any]) -> Any:
        def found() -> Any:
            assert self.thread._thread.is_alive()
            return condition()

        return wait_for(found, lambda: f"it; status: {self.thread.status}; heard: {self.heard[-3:]}", between=0.001)


OF_TESTS = ("check", "check_at_rest", "check_replay", "hears", "wait_for")
COMMANDS = tuple(
    name
    for name, method in vars(Journal).items()
    if callable(method) and not name.startswith("_") and name not in OF_TESTS
)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    made = Faults()
    put_on_disk = app_files._put_on_disk

    def put(place: Path, access: int) -> None:
        if made.disc_is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        put_on_disk(place, access)

    class Breaking(DropletErosion):
        def step(self, world: World, parameters: Any, cycle: Cycle) -> None:
            if made.process_fails and world.cycle % 3 == 2:
                world.bedrock[: world.shape[0] // 2] -= 1.0
                raise ProcessFailure("droplets", 3, 5)
            super().step(world, parameters, cycle)

    def exhausting(scene: Scene, rows: int, columns: int) -> Any:
        raise MemoryError

    monkeypatch.setattr(app_files, "_put_on_disk", put)
    monkeypatch.setitem(GENERATORS, "exhausting", exhausting)
    processes = tuple(Breaking if process is DropletErosion else process for process in PROCESSES)
    monkeypatch.setattr("app.engine.cycles.PROCESSES", processes)
    return made


@settings(
    max_examples=examples(25),
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(commands=st.lists(st.tuples(st.sampled_from(COMMANDS), st.integers(0, 9)), min_size=2, max_size=25))
def test_commands_in_any_order(commands: list[tuple[str, int]], faults: Faults, tmp_path: Path) -> None:
    journal = Journal(Path(tempfile.mkdtemp(dir=tmp_path)), faults)
    try:
        for name, number in commands:
            getattr(journal, name)(number)
            journal.check()
        journal.check_at_rest()
    finally:
        faults.end()
        journal.thread.stop()
    assert not journal.thread._thread.is_alive()


LIMITED = """
import resource, sys
from pathlib import Path
from app.engine.messages import OpenFailed, Save, Saved
from app.scene.edits import Open
from app.engine.thread import SimulationThread
from app.files import checkpoint
from tests.app.small import small_scene
from tests.waiting import wait_for

def come_to(condition):
    def found():
        assert thread._thread.is_alive(), "the thread has died"
        return condition()
    return wait_for(found, lambda: f"it; status: {thread.status}")

def heard(kind):
    return [report for report in thread.reports() if isinstance(report, kind)]

path = Path(sys.argv[1])
thread = SimulationThread(small_scene())
thread.first_picture_shown.set()
thread.start()
come_to(lambda: thread.status.cycle > 2)
size = 1024 * int(Path("/proc/self/status").read_text().partition("VmSize:")[2].split()[0])
resource.setrlimit(resource.RLIMIT_AS, (size + 300 * 2**20, resource.RLIM_INFINITY))
for source in ("noise", "diamond-square", "island", "sand"):
    thread.ask(Open((small_scene(world__source=source, world__columns=8192, world__rows=8192),)))
    print(come_to(lambda: heard(OpenFailed))[0].why)
    before = thread.status.cycle
    come_to(lambda: thread.status.state == "running" and thread.status.cycle > before + 2)
thread.ask(Save(path))
print(come_to(lambda: heard(Saved))[0].path)
assert checkpoint.load(path)[0].cycle > 2
thread.stop()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space as Linux does")
def test_worlds_that_memory_cannot_hold_leave_the_one_before(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "world.npz")], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-2000:]
    lines = result.stdout.splitlines()
    assert len(lines) == 5
    assert lines[-1] == str(tmp_path / "world.npz")
    assert all("emory" in line or "allocate" in line for line in lines[:-1]), lines
