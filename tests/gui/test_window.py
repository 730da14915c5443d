"""The real program in a real window, used from outside with mouse and keys."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.model.errors import UserError
from tests.gui.display import start_display
from tests.gui.program import PATIENCE, SCENE_MIDDLE, Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    # At one level: pictures are compared, and the automatic one may change between them.
    running = Program(tmp_path, "noise", "--size", "128", "--set", "view.quality=low")
    yield running
    running.end()


def test_space_pauses_and_goes_on_and_ctrl_q_quits(program: Program) -> None:
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    program.pause()
    cycle = program.cycle
    time.sleep(1.0)
    assert program.cycle == cycle
    program.key("period")
    program.wait_for(lambda: program.cycle == cycle + 1, "a single step")
    program.key("space")
    program.wait_for(lambda: program.cycle > cycle + 3, "the simulation to go on")
    program.key("ctrl+q")
    assert program.process.wait(timeout=PATIENCE) == 0
    assert "Traceback" not in program.log.read_text()


def test_mouse_and_wheel_move_the_camera(program: Program) -> None:
    program.pause()
    program.settled()
    program.key("Home")  # the ground has changed since the opening, and the view with it
    before = program.settled()
    assert before.std() > 5.0, "there is nothing in the picture"
    program.drag(SCENE_MIDDLE, (SCENE_MIDDLE[0] + 150, SCENE_MIDDLE[1] + 30))
    orbited = program.settled()
    assert np.abs(orbited - before).mean() > 2.0
    program.drag(SCENE_MIDDLE, (SCENE_MIDDLE[0] + 120, SCENE_MIDDLE[1]), button=3)
    panned = program.settled()
    assert np.abs(panned - orbited).mean() > 2.0
    for _ in range(4):
        program.xdotool("click", "4")
    zoomed = program.settled()
    assert np.abs(zoomed - panned).mean() > 2.0
    program.key("Home")
    program.move(*SCENE_MIDDLE)
    program.wait_for(lambda: np.abs(program.settled() - before).mean() < 1.0, "the view of the opening")


def test_a_drag_on_a_slider_changes_the_picture_and_not_the_camera(program: Program) -> None:
    program.pause()
    program.key("t")
    before = program.settled()
    width, height = program.size
    program.xdotool("mousemove", "--window", program.window, str(width - 160), str(height // 2))
    # Down the column of sliders, further and further down the panel, until one that the picture depends on was met. Let
    # go elsewhere: that opens and closes nothing else on the way.
    for _ in range(12):
        program.xdotool("mousemove", "--window", program.window, str(width - 160), str(height // 2))
        program.xdotool("click", "--repeat", "6", "--delay", "60", "5")  # the wheel
        for row in range(height // 2, height - 40, 18):
            program.drag((width - 160, row), (width - 70, row - 60), steps=1)
        if "view.sun" in program.log.read_text():
            break
    assert "view.sun" in program.log.read_text()
    assert np.abs(program.settled() - before).mean() > 0.5


def test_a_click_on_a_slider_sets_nothing_and_a_drag_makes_one_world_when_it_ends(program: Program) -> None:
    program.pause()
    x = program.size[0] - 110
    empty = program.searched()
    program.key("slash")
    program.wait_for(lambda: np.any(program.searched() != empty), "the field, which has the keyboard")
    program.xdotool("type", "--delay", "40", "world.relief")
    program.settled(program.found)  # keys that have come are taken one a frame
    relief = 132  # the row of that parameter, the only one that is found

    def changes() -> list[str]:
        return re.findall(r"(world\.\w+|noise\.\w+) = ", program.log.read_text())

    for row in range(96, 180, 9):
        program.move(x, row)
        program.xdotool("click", "1")
    program.move(x, relief)
    program.xdotool("click", "--repeat", "2", "--delay", "50", "1")
    time.sleep(0.5)
    program.key("5", "0", "0", "0", "Escape")
    program.xdotool("mousedown", "1")
    program.move(x + 30, relief)
    program.key("Escape")
    time.sleep(0.5)
    program.xdotool("mouseup", "1")
    time.sleep(1.0)
    assert not changes() and program.cycle > 0
    program.move(x, relief)
    program.xdotool("mousedown", "1")
    for step in range(1, 6):
        program.move(x + 8 * step, relief)
    time.sleep(1.0)
    assert not changes(), "changed while it was held"
    program.xdotool("mouseup", "1")
    program.wait_for(lambda: program.cycle == 0, "another world")
    assert changes() == ["world.relief"]


def test_another_size_of_the_window(program: Program) -> None:
    program.pause()
    for width, height in [(1500, 1000), (700, 500), (1024, 600)]:
        program.xdotool("windowsize", program.window, str(width), str(height))
        program.wait_for(lambda size=(width, height): program.size == size, "the new size")
        program.wait_for(
            lambda end=(height - 8, width - 8): program.picture()[end].max() > 8, "a picture of the new size"
        )
    program.settled()
    program.key("ctrl+q")
    assert program.process.wait(timeout=PATIENCE) == 0


def test_a_hidden_window_rests_while_the_simulation_goes_on(program: Program) -> None:
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    program.xdotool("windowunmap", "--sync", program.window)
    cycle = program.cycle
    program.wait_for(lambda: program.cycle > cycle + 3, "cycles while it is hidden")
    program.xdotool("windowmap", "--sync", program.window)
    cycle = program.cycle
    program.wait_for(lambda: program.cycle > cycle + 3 and program.scene().std() > 5.0, "the window again")


def test_the_window_is_no_larger_than_the_screen(tmp_path: Path) -> None:
    server, name = start_display("800x600")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISPLAY", name)
            small = Program(tmp_path, "noise", "--size", "64")
            small.wait_for(lambda: small.size == (800, 600), "the size of the screen")
            small.end()
    finally:
        server.terminate()
        server.wait(timeout=30.0)


def test_full_screen_and_back(program: Program) -> None:
    before = program.size
    program.move(*SCENE_MIDDLE)
    program.key("F11")
    program.wait_for(lambda: program.size == (1600, 1200), "full screen")
    program.key("F11")
    program.wait_for(lambda: program.size == before, "the old size")


def test_a_screenshot_is_a_whole_png_of_the_picture(program: Program, tmp_path: Path) -> None:
    program.pause()
    program.key("F12")
    program.wait_for(lambda: bool(list(tmp_path.glob("thalweg-noise-*.png"))), "the screenshot")
    (path,) = tmp_path.glob("thalweg-noise-*.png")
    with Image.open(path) as image:
        assert image.size[0] == program.size[0]
        assert np.asarray(image).std() > 5.0


def test_closing_the_window_ends_the_program(program: Program) -> None:
    program.xdotool("windowclose", program.window)
    assert program.process.wait(timeout=PATIENCE) is not None


def complaint(folder: Path, *arguments: str, **environment: str) -> str:
    """The one line with which the program ends when it cannot show what is asked for."""
    done = subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])} | environment,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
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


def test_flight_by_keys_and_back(program: Program) -> None:
    program.pause()
    program.settled()
    program.key("Home")  # the ground has changed since the opening, and the view with it
    before = program.settled()
    program.key("g")
    program.xdotool("keydown", "w")
    time.sleep(1.0)
    program.xdotool("keyup", "w")
    flown = program.settled()
    assert np.abs(flown - before).mean() > 2.0
    program.key("Escape", "Home")
    assert np.abs(program.settled() - before).mean() < 1.0


def divider(program: Program) -> int:
    """The column of the line between two worlds, which is seen before the sky; 0 where there is none."""
    bright = (program.picture()[150:200, 250:800].min(axis=(0, 2)) > 230).nonzero()[0]
    return 250 + int(bright[0]) if len(bright) else 0


def test_two_worlds_side_by_side(tmp_path: Path) -> None:
    both = Program(tmp_path, "noise", "--size", "128", "--compare", "droplets.count=1")
    try:
        both.wait_for(lambda: both.cycle > 20, "the simulation")
        both.pause()
        both.settled()

        meeting = divider(both)
        shown = both.picture()
        half = (slice(300, 600), slice(0, 200))
        assert np.abs(shown[half] - shown[300:600, meeting : meeting + 200]).mean() > 1.0, "both sides show the same"
        both.drag((meeting + 1, 300), (meeting - 200, 300))
        both.wait_for(lambda: abs(divider(both) - (meeting - 200)) < 8, "the divider to follow")
        both.drag((100, 500), (180, 500))
        assert np.abs(both.picture()[half] - shown[half]).mean() > 1.0
        both.move(*SCENE_MIDDLE)
        both.key("c")
        both.wait_for(lambda: divider(both) == 0, "one world")
        both.key("shift+c")
        both.wait_for(lambda: both.cycle == 0, "two worlds from the start")
        both.key("ctrl+q")
        assert both.process.wait(timeout=PATIENCE) == 0
        assert "Traceback" not in both.log.read_text()
    finally:
        both.end()


def test_no_display_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    from app.window.window import Window

    with pytest.raises(UserError, match=r"no display.*thalweg render"):
        Window("nowhere", 100, 100)
