"""Fields in the panel: typed, previewed, shown on the land and removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from imgui_bundle import imgui

from app.files.recorder import write_png
from app.model.overlays import OVERLAYS
from app.window.application import Application
from app.window.commands import changes
from app.window.panel import file_dialog
from app.window.panel.fields import coloured, look_of, overlay_of
from tests.gui.host import Driver, drive
from tests.gui.test_panel import WITHOUT_DROPS, have_land

RAIN = "fields.rain"


def made(application: Application, path: str) -> tuple[bool, str]:
    """Whether a field has a picture, and what is wrong with it."""
    known = application.panel._rows._fields._made.get(path)
    return (known[1] is not None, known[3]) if known else (False, "")


def test_a_field_is_typed_seen_shown_and_removed() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.item_open(driver.section("fields"))
        driver.engine.yield_(3)
        driver.engine.item_click(driver.widget(RAIN))
        driver.engine.key_chars("hight")
        driver.engine.yield_(3)
        assert made(application, RAIN) == (False, "there is no variable 'hight'; did you mean 'height'?")
        assert application.documents.scene.fields.rain == ""
        driver.engine.key_chars_replace("2 * y")
        driver.engine.yield_(3)
        assert made(application, RAIN) == (True, "")
        driver.engine.key_press(int(imgui.Key.enter))
        driver.wait_for(lambda: application.simulation.scenes[0].fields.rain == "2 * y", "the field is there")

        driver.engine.item_click(driver.widget(RAIN).replace("##", "###show ", 1))
        driver.wait_for(lambda: application.documents.scene.view.overlay == "rain_field", "its overlay is shown")
        driver.wait_for(
            lambda: application.snapshot is not None and "rate_rain" in application.snapshot.layers, "it has been found"
        )
        assert application.snapshot is not None
        assert np.isclose(application.snapshot.layers["rate_rain"][-1, 0], 2.0, atol=0.1)

        driver.engine.item_click(driver.widget(RAIN).replace("##", "###clear ", 1))
        driver.wait_for(lambda: application.simulation.scenes[0].fields.rain == "", "it is gone")
        driver.wait_for(lambda: "rate_rain" not in application.snapshot.layers, "and its layer")
        assert made(application, RAIN) == (False, "")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_field_that_cannot_be_made_leaves_the_one_before() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        changes.change(application, RAIN, "1 + x")
        driver.wait_for(lambda: application.simulation.scenes[0].fields.rain == "1 + x", "the field is there")
        changes.change(application, RAIN, 'image("nowhere/there.png")')
        driver.wait_for(lambda: application.documents.scene.fields.rain == "1 + x", "it is refused")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_soil_is_typed_seen_and_lies_on_the_land() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        changes.change(application, "soil.sand", "2 * y")
        changes.change(application, "soil.clay", "hight")
        assert application.documents.scene.soil.clay == "", "it is refused"
        driver.engine.yield_(3)
        driver.widget("soil.sand")
        driver.wait_for(lambda: made(application, "soil.sand") == (True, ""), "it has a picture")
        driver.wait_for(lambda: application.documents.are_shown, "the land is rebuilt")

        def lies_there() -> bool:
            snapshot = application.snapshot
            return snapshot is not None and bool(np.isclose(snapshot.layers["sediment"][-1, 0], 2.0, atol=0.1))

        driver.wait_for(lies_there, "the soil")

    drive(test, WITHOUT_DROPS.with_value("materials.enabled", True), draws_land=False)


def test_colours_of_a_preview() -> None:
    values = np.array([[0.0, 0.25, 1.0, 4.0, 100.0]], np.float32)

    def test(driver: Driver) -> None:
        snapshot = have_land(driver).snapshot
        assert snapshot is not None
        picture = coloured(values, look_of(RAIN, values, snapshot))[0].astype(int)
        assert np.array_equal(picture[0], picture[1]) and np.array_equal(picture[3], picture[4])
        assert picture[0, 0] > picture[0, 2], "less is brown"
        assert picture[4, 2] > picture[4, 0], "more is green and blue"
        assert np.ptp(picture[2]) < 12, "and 1 is grey"
        assert overlay_of("mobility") in OVERLAYS

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_an_image_masks_a_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the menu of its parameter; a second one masks what the first one left."""
    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        halves = np.zeros((16, 16, 3), np.uint8)
        halves[:, 8:] = 255
        write_png(tmp_path / f"{name}.png", halves)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.item_open(driver.section("fields"))
        for name in ("one", "two"):
            driver.engine.item_click(driver.widget("fields.erodibility"), 1)
            driver.engine.yield_(3)
            driver.engine.item_click("//$FOCUSED/###mask")
            driver.engine.yield_(3)
            assert application.panel.is_asking
            driver.engine.set_ref("//###file dialog")
            driver.engine.item_click(f"**/{name}.png")
            driver.engine.item_click("Open")
            driver.engine.yield_(3)
        masks = [f'image("{tmp_path / name}.png")' for name in ("one", "two")]
        assert application.documents.scene.fields.erodibility == f"({masks[0]}) * {masks[1]}"

        def is_masked() -> bool:
            snapshot = application.snapshot
            rate = snapshot.layers.get("rate_erodibility") if snapshot else None
            return rate is not None and rate[10, 2] == 0.0 and rate[10, -3] == 1.0

        changes.change(application, "view.overlay", overlay_of("erodibility"))
        driver.wait_for(is_masked, "the mask on the land")

    drive(test, WITHOUT_DROPS, draws_land=False)
