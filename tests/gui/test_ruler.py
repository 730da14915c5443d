"""The ruler: Shift + click from one place to another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from imgui_bundle import imgui

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.window.panel.ruler import WINDOW, words
from app.window.ruler import profile
from tests.app.small import small_scene
from tests.gui.host import Driver, drive
from tests.gui.test_brushes import SCENE
from tests.gui.test_rivers import MIDDLE, have_land
from tests.nets.profile import is_nightly


def test_a_profile_has_length_and_rise_and_the_water_on_its_way() -> None:
    world, _ = create_world(small_scene(world__source="sand"))
    cell, (rows, columns) = world.cell_size, world.shape
    _, east = np.mgrid[:rows, :columns]
    world.layers["bedrock"][:] = 50.0 + 0.1 * cell * (east + 0.5)
    world.layers["sediment"][:] = 0.0
    world.ground[:] = world.layers["bedrock"]
    snapshot = take_snapshot(world)
    depth = np.where((east >= 10) & (east < 14), 3.0, 0.0).astype(np.float32)
    snapshot.layers.update(water=depth, water_level=(world.ground + depth).astype(np.float32))
    found = profile(snapshot, (5.5 * cell, 8.5 * cell), (20.5 * cell, 8.5 * cell))
    assert found.length == pytest.approx(15.0 * cell) and found.rise == pytest.approx(1.5 * cell, rel=1e-4)
    assert found.slope == pytest.approx(math.degrees(math.atan(0.1)), rel=1e-4)
    np.testing.assert_allclose(found.ground, 50.0 + 0.1 * (5.5 * cell + found.along), rtol=1e-5)
    wet = found.along[found.water > found.ground]
    assert 4.4 * cell < wet.min() < 5.1 * cell and 7.9 * cell < wet.max() < 8.6 * cell
    back = profile(snapshot, (20.5 * cell, 8.5 * cell), (5.5 * cell, 8.5 * cell))
    assert "falls" in words(back) and "rises" in words(found) and "5.7°" in words(back)


def test_two_clicks_with_shift_measure_and_escape_ends_it() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        x, y = MIDDLE
        heading = application.camera.parameters().heading

        def click(across: float) -> None:
            driver.engine.mouse_move_to_pos(imgui.ImVec2(x + across, y))
            driver.engine.key_down(imgui.Key.mod_shift)
            driver.engine.mouse_click(0)
            driver.engine.key_up(imgui.Key.mod_shift)
            driver.engine.yield_(3)

        def profile_is_open() -> bool:
            window = imgui.internal.find_window_by_name(WINDOW)
            return window is not None and window.active

        click(-60.0)
        assert application.ruler.is_on and application.ruler.end is None and not profile_is_open()
        driver.engine.mouse_move_to_pos(imgui.ImVec2(x, y))
        driver.engine.yield_(2)
        click(60.0)
        assert application.ruler.end is not None and profile_is_open()
        start, end, hit = application.ruler.start, application.ruler.end, application.views.ground_under(x + 60.0, y)
        assert hit is not None and start is not None and math.dist(end, (hit.x, hit.z)) < 1e-3 * math.dist(start, end)
        assert application.watching.asked_place is None and application.camera.parameters().heading == heading
        click(20.0)  # anew
        assert application.ruler.end is None and application.ruler.start != start
        driver.press("Esc")
        assert not application.ruler.is_on and not profile_is_open()
        click(-60.0)
        application.documents.restart("another land")
        world = application.snapshot and application.snapshot.world
        driver.wait_for(lambda: bool(application.snapshot and application.snapshot.world != world), "another land")
        driver.engine.yield_(3)
        assert not application.ruler.is_on

    drive(test, SCENE, draws_land=is_nightly())
