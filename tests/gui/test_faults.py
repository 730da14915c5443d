"""What a person sees where memory, OpenGL or the window itself fails: one line, and the land that was there before."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from app.engine.creation import create_world
from app.files import checkpoint
from app.window.actions import BY_NAME
from app.window.commands import changes, files, worlds
from app.window.events import FilesDropped
from tests.faults import failing
from tests.graphics import own_programs
from tests.gui.host import SMALL, Driver, drive
from tests.gui.program import DRY_LAND
from tests.waiting import PATIENCE

WITHOUT_DROPS = SMALL.with_value("droplets.enabled", False)


def complaints(driver: Driver) -> list[str]:
    return [notice.text for notice in driver.application.notices.shown() if notice.is_error]


def have_land(driver: Driver) -> None:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)


def test_a_size_that_would_not_fit_is_refused_and_the_panel_tells_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        monkeypatch.setattr("app.engine.memory.free_memory", lambda: 5.04e9)
        changes.change(driver.application, "world.columns", 7969)
        driver.wait_for(lambda: bool(complaints(driver)), "the complaint")
        driver.engine.yield_(3)
        (text,) = complaints(driver)
        assert text.startswith("7969² cells need about ") and text.endswith("GB of memory; 5 are free")
        check_old_land(driver)

    drive(test, WITHOUT_DROPS.with_value("world.rows", 0), draws_land=False)


def test_what_is_changed_while_a_land_is_made_that_fails_is_made_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        application = driver.application
        monkeypatch.setattr("app.engine.memory.free_memory", lambda: 5.04e9)
        changes.change(application, "world.columns", 7969)
        application.documents.restart("columns")
        changes.change(application, "world.columns", 80)
        driver.wait_for(lambda: bool(complaints(driver)), "the complaint of the first")
        driver.wait_for(lambda: application.snapshot and application.snapshot.shape[1] == 80, "what came next")
        assert application.documents.scene.world.columns == 80

    drive(test, WITHOUT_DROPS.with_value("world.rows", 0), draws_land=False)


def check_old_land(driver: Driver) -> None:
    """Panel, status and simulation have the land that was there before, which goes on."""
    application = driver.application
    assert application.documents.scene.world.columns == SMALL.world.columns
    assert application.snapshot is not None and application.snapshot.shape[1] == SMALL.world.columns
    assert application.simulation.scenes[0].world.columns == SMALL.world.columns
    cycle = application.simulation.status.cycle
    BY_NAME["step"].run(application)
    driver.wait_for(lambda: application.simulation.status.cycle == cycle + 1, "the next cycle")


@pytest.mark.parametrize("fault", ["making a world", "a snapshot", "a backup"])
def test_a_land_without_memory_is_given_up(fault: str) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        with failing(fault):
            changes.change(driver.application, "world.columns", 80)
            driver.wait_for(lambda: bool(complaints(driver)), "the complaint")
        driver.engine.yield_(3)
        assert complaints(driver) == ["there is not enough memory; a smaller map needs less"]
        check_old_land(driver)

    drive(test, WITHOUT_DROPS, draws_land=False)


@pytest.mark.parametrize("fault", ["a texture", "a framebuffer", "an upload", "a drawing", "a shader"])
def test_a_picture_that_cannot_be_drawn_is_told_and_drawn_when_it_can_be(fault: str, tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        application = driver.application
        with own_programs() if fault == "a shader" else nullcontext(), failing(fault):
            changes.change(application, "world.columns", 80)
            changes.change(application, "view.overlay", "slope")
            driver.wait_for(lambda: bool(complaints(driver)), "the complaint")
            driver.save(tmp_path / "meanwhile.npz")
            driver.wait_for((tmp_path / "meanwhile.npz").exists, "the world")
        for text in complaints(driver):
            assert "\n" not in text and "Traceback" not in text
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: bool(application.snapshot and application.snapshot.cycle == 1), "the next picture")
        for notice in application.notices.shown():
            application.notices.dismiss(notice)
        driver.engine.yield_(10)
        assert not complaints(driver)
        assert application.side.picture.snapshot is application.snapshot

    drive(test, WITHOUT_DROPS)


# The program itself. What fails in it is put there, in the name of a driver, after its first pictures.

PROGRAM = """
import sys

from app.cli.main import main
from app.engine.thread import SimulationThread
from app.window import rescue
from app.window.window import Window

rescue.PATIENCE = 300.0
fails, *arguments = sys.argv[1:]
threads = []
begin = SimulationThread.start


def start(thread):
    threads.append(thread)
    begin(thread)


def reset_status(window):
    def tell():
        (thread,) = threads
        if not thread.first_picture_shown.is_set() or thread.status.cycle <= 3:
            return 0
        if fails == "error":
            raise RuntimeError("out of paint")
        return 0x8255  # GL_UNKNOWN_CONTEXT_RESET

    return tell


SimulationThread.start = start
Window._find_reset_status = reset_status
sys.exit(main(arguments))
"""


def run_until_it_fails(fails: str, folder: Path, *arguments: str) -> str:
    """The one line with which the program ends."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "XDG_DATA_HOME": str(folder / "data")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, fails, *DRY_LAND, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    *before, line = done.stderr.splitlines()
    assert all("cannot be kept meanwhile" in warning for warning in before)
    return line


WHY = {"lost": "thalweg: the graphics driver was reset", "error": "thalweg: internal error: RuntimeError: out of paint"}


@pytest.mark.nightly  # the check lets two worlds be saved
@pytest.mark.parametrize(("fails", "why"), WHY.items())
def test_where_the_window_cannot_go_on_the_world_is_saved(fails: str, why: str, tmp_path: Path) -> None:
    line = run_until_it_fails(fails, tmp_path)
    (path,) = (tmp_path / "data" / "thalweg" / "recovery").iterdir()
    assert line == f"{why}; the world is saved; go on with: thalweg {path}"
    world, scene = checkpoint.load(path)
    assert path.name == f"noise-{world.cycle:06d}.npz"
    assert world.cycle > 3 and scene.world.columns == 64


def test_both_of_two_worlds_are_saved(tmp_path: Path) -> None:
    line = run_until_it_fails("error", tmp_path, "--compare", "droplets.count=5")
    one, other = sorted((tmp_path / "data" / "thalweg" / "recovery").iterdir())
    assert line == f"{WHY['error']}; the world is saved; go on with: thalweg {one} or thalweg {other}"
    assert checkpoint.load(one)[0].cycle > 3
    assert (checkpoint.load(one)[1].droplets.count, checkpoint.load(other)[1].droplets.count) != (5, 5)
    assert checkpoint.load(other)[1].droplets.count == 5
    assert checkpoint.load(one)[0].cycle == checkpoint.load(other)[0].cycle


@pytest.mark.nightly  # the check lets two worlds be saved
def test_where_the_world_cannot_be_saved_either_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    line = run_until_it_fails("lost", tmp_path)
    assert line.startswith(f"{WHY['lost']}; the world could not be saved: ")


def damaged_files(folder: Path) -> dict[str, Path]:
    """Files of each kind that fail at some stage of being opened: found, known, read, checked, made into a world."""
    named = {kind: folder / f"bad.{kind}" for kind in ("png", "tif", "npz", "toml")}
    for path in named.values():
        path.write_text("no such thing")
    damaged = {f"a {kind} of words": path for kind, path in named.items()}
    damaged["nothing"] = folder / "nowhere.toml"
    damaged["a kind that is unknown"] = folder / "bad.txt"
    damaged["a kind that is unknown"].write_text("words")
    looks = "[view]\nexaggeration = 3.0\ncaption = 'other'\n[camera]\nheading = 77.0\n"
    for what, text in {
        "a preset with a wrong key": looks + "[world]\ncolums = 40\n",
        "a preset with a wrong value": looks + "[world]\ncolumns = 5000000\n",
        "a preset of an image that is no land": looks + '[world]\nsource = "one.png"\n',
    }.items():
        damaged[what] = folder / f"{what}.toml"
        damaged[what].write_text(text)
    damaged["an image of one pixel"] = folder / "one.png"
    Image.new("L", (1, 1)).save(damaged["an image of one pixel"])
    good = folder / "good.npz"
    checkpoint.save(good, *create_world(WITHOUT_DROPS))
    damaged["half a world"] = folder / "half.npz"
    damaged["half a world"].write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    return damaged


def test_a_file_that_cannot_be_opened_changes_nothing(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """In whatever way it is opened, and at whatever stage that fails; and so does a world without memory."""
    looked_at = WITHOUT_DROPS.with_values({"view.exaggeration": 1.5, "view.camera_path": "0: 10 40 1 0.5 0.5"})
    other = tmp_path / "other.toml"
    other.write_text("[world]\ncolumns = 40\nrows = 40\n[view]\nexaggeration = 3.0\ncaption = 'other'\n")

    def test(driver: Driver) -> None:
        have_land(driver)
        application = driver.application
        changes.change(application, "view.caption", "mine")
        driver.engine.yield_(3)

        def state() -> dict[str, object]:
            documents = application.documents
            return {
                "scenes": documents.scenes,
                "seen": documents.seen,
                "opened": documents.opened,
                "edited": documents.edited,
                "shown": documents.are_shown,
                "simulation": application.simulation.scenes,
                "camera": application.camera.parameters(),
                "world": application.snapshot and application.snapshot.world,
                "undo": list(application.undo.done),
                "name": documents.name,
            }

        before = state()
        ways: dict[str, Callable[[Path], None]] = {
            "opened": partial(files.open, application),
            "dropped": lambda path: driver.viewer.handle(FilesDropped((path,))),
            "compared with": lambda path: worlds.compare_with(application, str(path)),
            "settings taken from": lambda path: worlds.take_from(application, str(path)),
        }
        faults = dict.fromkeys(("making a world", "a snapshot", "a backup"), other)
        for what, path in (damaged_files(tmp_path) | faults).items():
            for way, opens in ways.items():
                makes_no_world = way in ("compared with", "settings taken from")
                if makes_no_world and (what in faults or "is no land" in what):
                    continue  # of these only the settings are read, which are good
                with subtests.test(what=what, way=way):
                    with failing(what) if what in faults else nullcontext():
                        opens(path)
                        driver.wait_for(lambda: bool(complaints(driver)), "the complaint")
                    driver.engine.yield_(3)
                    after = state()
                    assert {name for name in before if before[name] != after[name]} == set()
                    for notice in application.notices.shown():
                        application.notices.dismiss(notice)

    drive(test, looked_at, draws_land=False)
