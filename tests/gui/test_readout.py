"""What the status line says of the land under the pointer."""

from __future__ import annotations

import math

import numpy as np
from imgui_bundle import imgui

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.model.georeference import KEY_DIRECTORY, Georeference, Origin
from app.model.numbers import spaced
from app.window.panel.readout import readout, slope_at
from app.window.panel.status_line import readout_under_pointer
from tests.app.small import small_scene
from tests.gui.host import Driver, drive


def test_it_says_height_slope_water_ground_and_place() -> None:
    world, _ = create_world(small_scene(world__source="sand"))
    rows, columns = world.shape
    south, east = np.mgrid[:rows, :columns]
    world.layers["bedrock"][:] = 100.0 + (3.0 * south + 4.0 * east) * world.cell_size
    world.layers["sediment"][:] = 0.0
    world.layers["sediment"][2, 3] = 1.5
    world.ground[:] = world.layers["bedrock"] + world.layers["sediment"]
    snapshot = take_snapshot(world)
    snapshot.layers["water"] = np.zeros(world.shape, np.float32)
    snapshot.layers["water"][5, 6] = 2.0
    for cell in ((0, 0), (6, 7), (rows - 1, columns - 1)):
        assert math.isclose(slope_at(snapshot, cell), math.degrees(math.atan(5.0)), rel_tol=1e-5)
    assert "79°" in readout(snapshot, (5, 6)) and "2 m of water" in readout(snapshot, (5, 6))
    assert "rock" in readout(snapshot, (5, 6)) and "water" not in readout(snapshot, (6, 6))
    assert "1.5 m of sediment" in readout(snapshot, (2, 3)) or "1.5 m of sand" in readout(snapshot, (2, 3))
    assert readout(snapshot, (0, 1)).endswith(f"y {0.5 * world.cell_size:.0f} m")


def test_coordinates_are_those_of_the_model() -> None:
    world, _ = create_world(small_scene(world__source="sand"))
    to_model = np.array([[0.5, 0.0, -84.0], [0.0, -0.5, 36.0]])
    directory = (KEY_DIRECTORY, "H", 8, (1, 1, 0, 1, 1024, 0, 1, 2), True)
    world.origin = Origin(Georeference(to_model, (directory,)))
    assert readout(take_snapshot(world), (1, 2)).endswith("35.25000° N, 82.75000° W")
    metres = np.array([[10.0, 0.0, 500_000.0], [0.0, -10.0, 4_000_000.0]])
    world.origin = Origin(Georeference(metres, ()))
    assert readout(take_snapshot(world), (1, 2)).endswith(f"E {spaced(500_025)}, N {spaced(3_999_985)}")


def test_it_is_said_over_the_land_and_not_over_the_panel() -> None:
    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the land")
        driver.engine.yield_(4)
        said: list[str] = []
        for x in (0.4, 0.99):
            width, height = application.layout.size
            driver.engine.mouse_move_to_pos(imgui.ImVec2(x * width, 0.6 * height))
            driver.engine.yield_(2)
            said.append(readout_under_pointer(application))
        assert "°" in said[0] and said[1] == ""

    drive(test, draws_land=False)
