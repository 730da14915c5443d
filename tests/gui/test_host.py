"""What the tests of the window stand on: each begins with the same window, whatever was done in those before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.picture import style
from app.window.application import Application
from app.window.panel import places
from app.window.panel.first_tour import STEPS
from tests.gui.host import SMALL, Driver, drive

SCENE = SMALL.with_values({"droplets.enabled": False, "view.quality": "low"})
NOTED = {name for step in STEPS for name in step.at}  # places that are remembered from one frame to the next


def have_land(driver: Driver) -> Application:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)
    return driver.application


def is_settled(driver: Driver) -> bool:
    application = driver.application
    survey = application.snapshot is not None and application.snapshot.survey is not None
    return survey and application.side.picture.frame_settled and application._at_rest


def state() -> dict[str, object]:
    """What ImGui and the panel remember from one frame to the next."""
    io, ui = imgui.get_io(), imgui.get_current_context()
    return {
        "windows": [
            (window.name, window.pos, window.size, window.scroll, window.active, window.collapsed)
            for window in ui.windows
        ],
        "the keyboard's": (ui.nav_window.name if ui.nav_window else "", ui.nav_id, ui.active_id, io.want_text_input),
        "popups": ui.open_popup_stack.size(),
        "the pointer's": (io.mouse_pos, [imgui.is_mouse_down(button) for button in range(3)], io.want_capture_mouse),
        "modifiers": (io.key_ctrl, io.key_shift, io.key_alt),
        "clipboard": imgui.get_clipboard_text(),
        "layout": imgui.save_ini_settings_to_memory(),
        "size": (io.display_size, imgui.get_style().font_scale_dpi, imgui.get_style().window_padding),
        "places": {name: places.place_of(name) for name in NOTED},
        "time": imgui.get_time(),
    }


def begin(seen: list[tuple[dict[str, object], dict[str, object], NDArray[np.uint8]]]) -> Callable[[Driver], None]:
    def test(driver: Driver) -> None:
        at_first = state()
        have_land(driver)
        driver.wait_for(lambda: is_settled(driver), "a picture at rest")
        frame = driver.look()
        later = {name: value for name, value in state().items() if name != "time"}
        seen.append((at_first, later, frame))

    return test


def disturb(driver: Driver) -> None:
    """Leave nothing as it was, and the mouse and a key down."""
    application, engine = have_land(driver), driver.engine
    driver.press("V")
    driver.press("C")
    driver.wait_for(lambda: len(application.sides.shown) == 2, "two worlds")
    application.commands.change("view.overlay", "slope")
    application.commands.change("view.sun_height", 11.0)
    engine.item_click(driver.widget("wind.enabled"))
    engine.set_ref("//Panel")
    engine.scroll_to_bottom("//Panel/parameters")
    imgui.set_clipboard_text("of another test")
    application.commands.begin_tour()
    engine.yield_(3)
    application.commands.begin_tour()
    driver.press("/")
    driver.wait_for(lambda: imgui.get_io().want_text_input, "the field")
    engine.key_chars_replace("wind")
    driver.press("Ctrl+E")
    driver.wait_for(lambda: application.exporting.is_open, "the dialog")
    engine.key_down(int(imgui.Key.mod_ctrl))
    engine.mouse_move_to_pos(imgui.ImVec2(300.0, 300.0))
    engine.mouse_down(0)
    engine.yield_(3)


def fail(driver: Driver) -> None:
    disturb(driver)
    raise LookupError("of a test")


def break_off(driver: Driver) -> None:
    """Ask for what is not there, so that the test engine does nothing any more."""
    disturb(driver)
    driver.engine.item_click("//Panel/###nowhere")
    driver.wait_for(lambda: False, "what never comes")


def test_a_test_begins_as_if_none_had_been_before() -> None:
    seen: list[tuple[dict[str, object], dict[str, object], NDArray[np.uint8]]] = []
    drive(begin(seen), SCENE, sharp=True)
    fonts = style.Fonts.text
    drive(disturb, SCENE, size=(1024, 600), scale=2.0)
    with pytest.raises(LookupError, match="of a test"):
        drive(fail, SCENE)
    with pytest.raises(AssertionError, match="nothing more was done") as broken_off:
        drive(break_off, SCENE)
    assert any("nowhere" in note for note in broken_off.value.__notes__)
    drive(begin(seen), SCENE, sharp=True)
    assert style.Fonts.text is not fonts
    (first, first_later, before), (second, second_later, after) = seen
    assert second == first
    assert second_later == first_later
    assert np.array_equal(after, before)
    assert before.std() > 20.0


def test_a_test_leaves_nothing_in_opengl(monkeypatch: pytest.MonkeyPatch) -> None: ...
