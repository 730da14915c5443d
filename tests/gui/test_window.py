"""The real program in a real window, used from outside with mouse and keys."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.files.opening import read_journal
from app.model.errors import UserError
from app.scene.edits import Stroke
from tests import waiting
from tests.gui.few_tools import GROUPS, few_tools
from tests.gui.program import (
    LAND,
    SCENE_MIDDLE,
    SCREEN,
    SEEN,
    STILL_LAND,
    UNSEEN,
    Kept,
    Program,
    cycle_in,
    difference,
    own_screen,
)
from tests.nets.profile import is_nightly


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    with own_screen() as display:
        yield display


@pytest.fixture(scope="module")
def kept(screen: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    one = Kept(tmp_path_factory.mktemp("programs"), screen, *STILL_LAND)
    yield one
    one.end()


@pytest.fixture
def program(kept: Kept, request: pytest.FixtureRequest) -> Iterator[Program]:
    """Paused in cycle 0, as it was opened."""
    failed = request.session.testsfailed
    try:
        opened = kept.at_start()
    except AssertionError:
        kept.end()  # who knows what it is doing
        raise
    yield opened
    if request.session.testsfailed > failed:
        kept.end()


def test_space_pauses_and_goes_on_and_a_step_is_one_cycle(program: Program) -> None:
    program.key("space")
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    program.pause()
    cycle = program.cycle
    program.frames(5)
    assert program.cycle == cycle
    program.key("period")
    program.wait_for(lambda: program.cycle != cycle, "a single step")
    program.frames(5)
    assert program.cycle == cycle + 1
    program.key("space")
    program.wait_for(lambda: program.cycle > cycle + 3, "the simulation to go on")


def test_mouse_and_wheel_move_the_camera(program: Program) -> None:
    before = program.settled()
    assert before.std() > 5.0, "there is nothing in the picture"
    program.drag(SCENE_MIDDLE, (SCENE_MIDDLE[0] + 150, SCENE_MIDDLE[1] + 30))
    orbited = program.settled()
    assert difference(orbited, before) > SEEN
    program.drag(SCENE_MIDDLE, (SCENE_MIDDLE[0] + 120, SCENE_MIDDLE[1]), button=3)
    panned = program.settled()
    assert difference(panned, orbited) > SEEN
    program.do("click", "--repeat", "4", "--delay", "1", "4")
    zoomed = program.settled()
    assert difference(zoomed, panned) > SEEN
    program.key("Home")
    program.wait_for(lambda: difference(program.settled(), before) < UNSEEN, "the picture of before")


def search(program: Program, words: str) -> None:
    """List what is found in the panel."""
    program.key("slash")
    program.type(words)


FOUND = 132  # the row of the first parameter that is found


def test_a_drag_on_a_slider_changes_the_picture_and_not_the_camera(program: Program) -> None:
    before = program.settled()
    search(program, "view.sun_height")
    x = program.size[0] - 130
    program.drag((x, FOUND), (x + 60, FOUND))
    program.key("Escape")
    assert re.findall(r"([\w.]+) = ", program.told)[-1] == "view.sun_height"
    assert difference(program.settled(), before) > SEEN
    program.move(*SCENE_MIDDLE)
    program.key("ctrl+z")
    program.wait_for(lambda: difference(program.settled(), before) < UNSEEN, "the picture of before")


def test_a_click_on_a_slider_sets_nothing_and_a_drag_makes_one_world_when_it_ends(program: Program) -> None:
    program.key("space")
    program.wait_for(lambda: program.cycle > 0, "the simulation")
    program.pause()
    told = len(program.told)

    def changes() -> list[str]:
        return re.findall(r"(\w+\.\w+) = ", program.told[told:])

    x = program.size[0] - 110
    search(program, "world.relief")
    for row in range(FOUND - 36, FOUND + 48, 18):
        program.move(x, row)
        program.do("click", "1")
    program.move(x, FOUND)
    program.do("click", "--repeat", "2", "--delay", "1", "1")
    program.type("5000")
    program.key("Escape")
    program.do("mousedown", "1")
    program.move(x + 30, FOUND)
    program.key("Escape")
    program.do("mouseup", "1")
    program.frames(5)
    assert not changes() and program.cycle > 0
    x -= 40  # elsewhere, as the same place soon after would be a double click
    program.move(x, FOUND)
    program.do("mousedown", "1")
    for step in range(1, 6):
        program.move(x + 8 * step, FOUND)
    assert not changes(), "changed while it was held"
    program.do("mouseup", "1")
    program.wait_for(lambda: program.cycle == 0, "another world")
    assert changes() == ["world.relief"]
    program.move(*SCENE_MIDDLE)
    program.key("Escape", "Escape", "ctrl+z")
    program.wait_for(lambda: program.cycle > 0, "the world before")


def test_another_size_of_the_window(program: Program) -> None:
    for width, height in [(900, 650), (500, 400), (700, 500)]:
        program.resize(width, height)
        program.settled()
        shown = program.picture()
        assert shown[height - 8, width - 8].max() > 8, "a picture of the new size"
        assert not shown[height:].any() and not shown[:, width:].any()


def test_a_hidden_window_rests_while_the_simulation_goes_on(program: Program) -> None:
    def cycles(count: int) -> None:
        """No frame tells of them."""
        cycle = cycle_in(program.title_on_display)
        program.wait_for(lambda: cycle_in(program.title_on_display) > cycle + count, "cycles")

    program.key("space")
    program.xdotool("windowunmap", "--sync", program.window)
    cycles(1)
    cycles(1)  # it may have drawn one more while it was hidden
    frame = program.note["frame"]
    cycles(3)
    assert program.note["frame"] == frame
    program.xdotool("windowmap", "--sync", program.window)
    cycles(3)
    program.wait_for(lambda: program.note["frame"] > frame and program.scene().std() > 5.0, "the window again")


def test_full_screen_and_back(program: Program) -> None:
    assert program.size == SCREEN, "the window is larger than the screen, or smaller than it could be"
    program.resize(700, 500)
    program.key("F11")
    program.wait_for(lambda: program.size == SCREEN, "full screen")
    program.key("F11")
    program.wait_for(lambda: program.size == (700, 500), "the old size")


def test_a_screenshot_is_a_whole_png_of_the_picture(program: Program) -> None:
    program.key("F12")
    program.wait_for(lambda: bool(list(program.folder.glob("thalweg-noise-*.png"))), "the screenshot")
    (path,) = program.folder.glob("thalweg-noise-*.png")
    with Image.open(path) as image:
        assert image.size[0] == program.size[0]
        assert np.asarray(image).std() > 5.0


def test_flight_by_keys_and_back(program: Program) -> None:
    before = program.settled()
    program.key("g")
    program.do("keydown", "w")
    program.wait_for(lambda: difference(program.scene(), before) > SEEN, "another view")
    program.do("keyup", "w")
    program.key("Escape", "Home")
    program.wait_for(lambda: difference(program.settled(), before) < UNSEEN, "the picture of before")


def test_tools_by_mouse_and_keys_and_quit(program: Program, tmp_path: Path) -> None:
    """A digit takes a tool of its group; what was drawn is in the journal of the world that is saved."""
    x, y = SCENE_MIDDLE
    tools = few_tools(1)  # a second one of each group is drawn with in the application
    for number, group in enumerate(GROUPS, 1):
        for name, tool in tools.items():
            if tool.group == group:
                steps = program.note["steps"]
                program.do("key", str(number), *program.at(x, y), "mousedown", "1")
                program.do(*program.at(x + 40, y + 12), "mouseup", "1")
                program.wait_for(lambda steps=steps: program.note["steps"] != steps, f"a step of {name}")
    program.key("Escape", "ctrl+s")
    path = tmp_path / "painted.npz"
    program.type(str(path))
    program.key("Return")
    program.wait_for(path.exists, "the saved world")
    journal = read_journal(path)
    drawn = {edit.request.tool for edit in journal.edits if isinstance(edit.request, Stroke)}
    assert drawn == {name for name, tool in tools.items() if tool.act is not None}
    if is_nightly():  # the check replays journals of all kinds of edits without a window
        done = subprocess.run(
            [sys.executable, "-m", "app", "replay", str(path), "--out", str(tmp_path / "again.npz")],
            capture_output=True, text=True, timeout=waiting.PATIENCE, check=False, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    program.xdotool("key", "ctrl+q")
    program.ends_well()


def complaint(folder: Path, *arguments: str, **environment: str) -> str:
    """The one line with which the program ends when it cannot show what is asked for."""
    done = subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])} | environment,
        capture_output=True, text=True, timeout=waiting.PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


def test_an_opengl_that_is_too_old_is_one_clear_line(tmp_path: Path) -> None:
    line = complaint(tmp_path, "noise", "--size", "64", MESA_GL_VERSION_OVERRIDE="3.3")
    assert "OpenGL 4.1 is needed" in line and "thalweg render" in line


def test_a_file_that_cannot_be_shown_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    assert "broken.png" in complaint(tmp_path, "broken.png")


def divider(program: Program) -> int:
    """The column of the line between two worlds, which is seen before the sky; 0 where there is none."""
    bright = (program.picture()[60:110, 60:640].min(axis=(0, 2)) > 230).nonzero()[0]
    return 60 + int(bright[0]) if len(bright) else 0


@pytest.mark.nightly  # the check compares two worlds in the application, and closes the window in its first minute
def test_two_worlds_side_by_side_and_a_window_that_is_closed(screen: str, tmp_path: Path) -> None:
    many = ("--set", "droplets.count=20000")  # so that a cycle changes the land
    both = Program(tmp_path, screen, *LAND, *many, "--compare", "droplets.count=1")
    try:
        both.wait_for(lambda: both.cycle > 1, "the simulation")
        both.pause()
        both.settled()
        meeting = divider(both)
        shown = both.picture()
        half = (slice(300, 450), slice(60, 160))
        assert difference(shown[half], shown[300:450, meeting + 60 : meeting + 160]) > 1.0, "both sides show the same"
        both.drag((meeting + 1, 300), (meeting - 100, 300))
        both.wait_for(lambda: abs(divider(both) - (meeting - 100)) < 8, "the divider to follow")
        both.drag((100, 400), (180, 400))
        both.settled()
        assert difference(both.picture()[half], shown[half]) > 1.0
        both.move(*SCENE_MIDDLE)
        both.key("c")
        both.wait_for(lambda: divider(both) == 0, "one world")
        both.key("shift+c")
        both.wait_for(lambda: both.cycle == 0 and divider(both) > 0, "two worlds from the start")
        both.key("space")
        both.wait_for(lambda: both.cycle > 3, "the simulation, which is in the middle of a cycle")
        both.close()
        both.ends_well()
    finally:
        both.kill()


def test_no_display_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    from app.window.window import Window

    with pytest.raises(UserError, match=r"no display.*thalweg render"):
        Window("nowhere", 100, 100)
