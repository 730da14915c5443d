"""What the tests of the window stand on: each begins with the same window, whatever was done in those before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.picture.passes.held import held
from app.window.actions import BY_NAME
from app.window.application import Application
from app.window.commands import changes, files
from app.window.panel import places, widgets
from app.window.panel.first_tour import STEPS
from tests.graphics import graphics
from tests.gui.host import SMALL, Driver, drive

SCENE = SMALL.with_values({"droplets.enabled": False, "view.quality": "low"})
CLOUDS_DRIFT = 32  # steps of 255, at most, while a land is awaited


class Seen(NamedTuple):
    """What is so when a test begins, and when the land is seen, with a picture; bytes that are left in OpenGL."""

    first: dict[str, object]
    later: dict[str, object]
    frame: NDArray[np.uint8]
    left: tuple[int, int] = (0, 0)


def both(vector: imgui.ImVec2) -> tuple[float, float]:
    return vector.x, vector.y


def at_first() -> dict[str, object]:
    """What is so before a land is there, which comes when it may."""
    io = imgui.get_io()
    return {
        "popups": imgui.get_current_context().open_popup_stack.size(),
        "pointer": (both(io.mouse_pos), [imgui.is_mouse_down(button) for button in range(3)]),
        "keys": (io.key_ctrl, io.key_shift, io.key_alt, io.want_text_input),
        "clipboard": imgui.get_clipboard_text(),
        "size": (both(io.display_size), imgui.get_style().font_scale_dpi, both(imgui.get_style().window_padding)),
        "slides": dict(widgets._Slides.began),
        "time": imgui.get_time(),
    }


def with_land() -> dict[str, object]:
    ui = imgui.get_current_context()
    return {
        "windows": [
            (window.name, both(window.pos), both(window.size), both(window.scroll), window.collapsed)
            for window in ui.windows
            if window.active
        ],
        "focus": (ui.nav_window.name if ui.nav_window else "", ui.nav_id, ui.active_id, ui.hovered_id),
        "layout": imgui.save_ini_settings_to_memory(),
        "noted": sorted(places._Noted.places),
        "places": {name: places.place_of(name) for step in STEPS for name in step.at},
    }


def have_land(driver: Driver) -> Application:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)
    return driver.application


def begin() -> Seen:
    """A test that only looks."""
    seen: list[Seen] = []

    def test(driver: Driver) -> None:
        first = at_first()
        sides = have_land(driver).sides
        driver.wait_for(lambda: sides.shown[0].picture.frame_settled and not sides.drawing, "a whole picture")
        driver.engine.yield_(5)
        seen.append(Seen(first, with_land(), driver.look()))

    drive(test, SCENE, sharp=True)
    with graphics():
        textures, buffers, *_ = held()
    return seen[0]._replace(left=(textures, buffers))


def disturb(driver: Driver) -> None:
    """Leave nothing as it was, and the mouse and a key down."""
    application, engine = have_land(driver), driver.engine
    driver.press("V")
    driver.press("C")
    driver.wait_for(lambda: len(application.sides.shown) == 2, "two worlds")
    changes.change(application, "view.overlay", "slope")
    changes.change(application, "view.sun_height", 11.0)
    engine.item_click(driver.widget("wind.enabled"))
    engine.mouse_wheel_y(-9.0)
    imgui.set_clipboard_text("of another test")
    driver.press("/")
    driver.wait_for(lambda: imgui.get_io().want_text_input, "the field")
    engine.key_chars_replace("wind")
    BY_NAME["begin_tour"].run(application)
    files.export_dialog(application)
    driver.wait_for(lambda: application.exporting.is_open, "the dialog")
    engine.key_down(int(imgui.Key.mod_ctrl))
    engine.mouse_move_to_pos(imgui.ImVec2(300.0, 300.0))
    engine.mouse_down(0)
    engine.yield_(3)


def fail(driver: Driver) -> None:
    disturb(driver)
    raise LookupError("of a test")


def break_off(driver: Driver) -> None:
    """Ask for what is not there: then the test engine does nothing any more."""
    disturb(driver)
    driver.engine.item_click("//Panel/###nowhere")
    driver.wait_for(lambda: False, "what never comes")


def test_a_test_begins_as_if_none_had_been_before() -> None:
    before = begin()
    drive(disturb, SCENE, size=(1024, 600), scale=2.0)
    with pytest.raises(LookupError, match="of a test"):
        drive(fail, SCENE)
    with pytest.raises(AssertionError, match="nothing more was done") as broken_off:
        drive(break_off, SCENE)
    assert "nowhere" in broken_off.value.__notes__[0]
    after = begin()
    assert after.first == before.first
    assert after.later == before.later
    assert np.abs(after.frame.astype(int) - before.frame).max() < CLOUDS_DRIFT
    assert before.frame.std() > 20.0
    assert after.left == before.left
