"""The section of edits: rows of layers, which are switched, blended, moved, renamed and removed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from imgui_bundle import imgui
from PIL import Image

from app.scene.edits import Change, Stroke
from app.window.application import Application
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_brushes import ground
from tests.gui.test_rivers import MIDDLE, have_land
from tests.nets.profile import is_nightly

SCENE = SMALL.with_values({"view.quality": "lowest", "droplets.enabled": False})


def paint(driver: Driver, number: int, tool: str, east: float) -> None:
    """A stroke as a person draws it, and the land with it."""
    application = driver.application
    count, before = len(application.stack.layers), ground(application)
    stroke = Stroke(tool, ((east, 300.0, 1.0),), radius=120.0, amount=20.0, number=number)
    application.documents.ask_as_step(stroke, tool)
    driver.wait_for(lambda: len(application.stack.layers) == count + 1, f"a layer of {tool}")
    driver.wait_for(lambda: [step.name for step in application.undo.done][-1:] == [tool], "its step")
    driver.wait_for(lambda: not np.array_equal(ground(application), before), "its land")


def names(application: Application) -> list[str]:
    return [layer.name for layer in application.stack.layers]


def settled(driver: Driver) -> np.ndarray:
    """The ground once the land has been made again."""
    driver.wait_for(lambda: not driver.application.history.is_going, "the land")
    driver.engine.yield_(2)
    return ground(driver.application)


def becomes(driver: Driver, expected: np.ndarray) -> None:
    """Wait until the land is made again, as it is expected."""
    driver.wait_for(lambda: np.array_equal(ground(driver.application), expected), "the land that was there")
    settled(driver)


def look_at(driver: Driver, name: str) -> None:
    """Keep a picture where somebody wants to see it."""
    if folder := os.environ.get("THALWEG_PICTURES"):
        Image.fromarray(driver.look()).save(Path(folder) / f"{name}.png")


def test_layers_are_switched_blended_moved_renamed_and_removed() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        application.panel.show_only("edits")  # type: ignore[attr-defined]
        paint(driver, 1, "raise", 200.0)
        raised = ground(application)
        paint(driver, 2, "lower", 260.0)
        both = settled(driver)
        application.simulation.ask(Change({"fields.rain": "2"}))
        driver.wait_for(lambda: len(application.stack.layers) == 3, "a layer of a field")
        engine.yield_(3)
        look_at(driver, "stack")
        engine.set_ref(engine.window_info("//Panel/parameters").window)

        engine.item_click("lower/###eye")
        becomes(driver, raised)
        driver.press("Ctrl+Z")
        becomes(driver, both)
        assert application.documents.scene.fields.rain == "2"

        engine.item_input_value("field of rain/##stack.field of rain.strength", 50.0)
        settled(driver)
        engine.item_input_value("field of rain/##expression", "height")
        settled(driver)
        assert application.documents.scene.fields.rain == "1 + 0.5 * ((height) - 1)"

        assert names(application) == ["raise", "lower", "field of rain"]
        engine.item_drag_and_drop("raise/name", "lower/name")
        settled(driver)
        assert names(application) == ["lower", "raise", "field of rain"]
        engine.item_click("raise/name", 1)
        engine.item_click("//$FOCUSED/On the land as it began")
        settled(driver)
        assert names(application) == ["raise", "lower", "field of rain"]

        engine.set_ref(engine.window_info("//Panel/parameters").window)
        engine.item_double_click("lower/name")
        engine.item_input_value("lower/##rename", "trench")
        settled(driver)
        assert names(application) == ["raise", "trench", "field of rain"]
        engine.item_click("###hills")
        driver.wait_for(lambda: names(application)[-1] == "heights", "hills")
        look_at(driver, "hills")
        driver.wait_for(lambda: float((ground(application) - both).max()) > 10.0, "hills on the land")
        driver.press("Ctrl+Z")
        settled(driver)
        engine.item_click("trench/###remove")
        becomes(driver, raised)
        assert application.undo.done[-1].name == "trench removed"

    drive(test, SCENE, draws_land=is_nightly())


def test_a_chosen_layer_takes_the_next_stroke_as_one_step_of_undo() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        application.panel.show_only("edits")  # type: ignore[attr-defined]
        paint(driver, 1, "raise", 200.0)
        raised = ground(application)
        paint(driver, 2, "lower", 420.0)
        both = settled(driver)
        engine.set_ref(engine.window_info("//Panel/parameters").window)
        engine.item_click("raise/name")
        assert application.stack.painted is not None and application.stack.painted.name == "raise"
        engine.mouse_move_to_pos(imgui.ImVec2(*MIDDLE))
        application.brushing.choose("raise")
        engine.yield_(3)
        steps = len(application.undo.done)
        application.brushing.press(*MIDDLE, shift=False, control=False)
        application.brushing.release()
        driver.wait_for(lambda: len(application.stack.layers[0].places) == 2, "the layer")
        assert names(application) == ["raise", "lower"]
        driver.wait_for(lambda: not np.array_equal(ground(application), both), "a stroke on the land")
        assert len(application.undo.done) == steps + 1 and application.undo.done[-1].name == "stroke in raise"
        driver.press("Ctrl+Z")
        becomes(driver, both)
        assert len(application.stack.layers[0].places) == 1

        application.stack.rename(application.stack.layers[0], "lower")
        driver.wait_for(lambda: names(application) == ["lower 2", "lower"], "the name")
        assert application.stack.painted is not None and application.stack.painted.name == "lower 2"
        application.stack.rename(application.stack.painted, "raise")
        driver.wait_for(lambda: names(application) == ["raise", "lower"], "the name")
        settled(driver)
        engine.set_ref(engine.window_info("//Panel/parameters").window)
        engine.item_click("raise/name")
        assert application.stack.painted is None
        engine.item_click("lower/###eye")
        becomes(driver, raised)
        engine.item_click("lower/name")  # which is off
        assert application.stack.painted is None

    drive(test, SCENE, draws_land=is_nightly())
