"""Two worlds side by side, used as a person uses them, by ImGui's test engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from imgui_bundle import imgui
from PIL import Image

from app.files import checkpoint
from app.model.snapshot import Snapshot
from app.picture.sides import DIVIDER_COLOUR
from app.scene.scene import DECLARATIONS, load_preset
from app.window import notices
from app.window.actions import BY_NAME
from app.window.application import Application
from app.window.commands import changes, files
from app.window.layout import DIVIDER_RANGE
from tests.gui.host import SMALL, Driver, drive
from tests.nets.profile import is_nightly

ONE = SMALL.with_values({"droplets.count": 50, "simulation.cycles_per_frame": 1})
OTHER = ONE.with_values({"droplets.count": 90})
WITHOUT_DROPS = SMALL.with_value("droplets.enabled", False)


def snapshots(application: Application) -> list[Snapshot]:
    return application.sides.snapshots


def have_two(driver: Driver) -> Application:
    application = driver.application
    driver.wait_for(lambda: len(snapshots(application)) == 2, "two worlds")
    driver.engine.yield_(3)
    return application


def begin_comparison(driver: Driver) -> Application:
    application = driver.application
    driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)
    driver.engine.item_click(driver.button("compare"))
    return have_two(driver)


def change(driver: Driver, edited: str) -> None:
    driver.engine.set_ref("//Panel")
    driver.engine.item_click(f"###change {edited}")
    driver.engine.yield_(2)


def drag(driver: Driver, start: tuple[float, float], end: tuple[float, float]) -> None:
    driver.engine.mouse_move_to_pos(imgui.ImVec2(*start))
    driver.engine.mouse_down()
    driver.engine.mouse_move_to_pos(imgui.ImVec2(*end))
    driver.engine.yield_(2)
    driver.engine.mouse_up()
    driver.engine.yield_(2)


def middle_of(application: Application, number: int) -> float:
    """Where the middle of a side is, in what is free of it."""
    area = application.sides.shown[number].area
    return area.left + 0.5 * (area.free[0] + area.free[1]) * area.width


def test_compare_goes_on_with_a_copy_and_ends_with_the_one_that_is_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "SECONDS_SHOWN", 600.0)

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.cycle == 1, "a cycle")
        driver.press("C")
        have_two(driver)
        one, other = snapshots(application)
        assert (one.cycle, other.cycle) == (1, 1)
        assert np.array_equal(one.layers["bedrock"], other.layers["bedrock"])
        driver.engine.item_input_value(driver.widget("droplets.count"), 90)
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: [shown.cycle for shown in snapshots(application)] == [2, 2], "a cycle of both")
        one, other = snapshots(application)
        kept = other.layers["bedrock"].copy()
        assert not np.array_equal(one.layers["bedrock"], kept)
        driver.press("C")
        driver.wait_for(lambda: len(snapshots(application)) == 1, "one world")
        (alone,) = snapshots(application)
        assert (alone.world, alone.cycle) == (other.world, 2)
        assert np.array_equal(alone.layers["bedrock"], kept)
        assert application.documents.scene.droplets.count == 90
        assert any("B continues alone" in notice.text for notice in application.notices.shown())
        driver.press("C")
        have_two(driver)
        change(driver, "A")
        first = application.sides.shown[0]
        driver.press("C")
        driver.wait_for(lambda: application.sides.shown == [first], "the world at the left")

    drive(test, ONE, draws_land=False)


def test_two_worlds_can_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "SECONDS_SHOWN", 600.0)

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.cycle == 1, "a cycle")
        driver.press("Shift+C")
        driver.wait_for(lambda: [shown.cycle for shown in snapshots(application)] == [0, 0], "two new worlds")
        (notice,) = application.notices.shown()
        assert "restart from the same land" in notice.text

    drive(test, ONE, draws_land=False)


def test_up_to_four_worlds_with_cameras_of_their_own() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_two(driver), driver.engine
        engine.set_ref("//Panel")
        buttons = ("###add a world", "###remove the world", "###link cameras", "###take a preset")

        def places() -> list[tuple[float, float]]:
            corners = [engine.item_info(button).rect_full.min for button in buttons]
            return [(corner.x, corner.y) for corner in corners]

        before = places()
        for count in (3, 4):
            engine.item_click("###add a world")
            driver.wait_for(lambda count=count: len(snapshots(application)) == count, f"{count} worlds")
            engine.yield_(3)
            assert places() == before, "buttons move under the pointer"
        assert application.documents.edited == "D"
        assert [scene.droplets.count for scene in application.documents.scenes] == [50, 90, 90, 90]
        engine.yield_(3)
        tops = {side.area.top for side in application.sides.shown}
        assert len(tops) == 2, "four lie in a grid"
        engine.item_click("###grid")
        engine.yield_(3)
        assert {side.area.top for side in application.sides.shown} == {0}
        engine.item_click("###link cameras")
        engine.yield_(2)
        goals = [replace(application.cameras.of(shown.world).goal(), middle=0.0) for shown in snapshots(application)]
        assert goals.count(goals[0]) == 4
        application.views.place = 2
        application.camera.top_view()
        engine.yield_(2)
        pitches = [application.cameras.of(shown.world).goal().pitch for shown in snapshots(application)]
        assert pitches[2] == 90.0 and pitches.count(pitches[0]) == 3
        engine.item_click("###link cameras")
        engine.yield_(2)
        assert application.camera.goal().pitch == 90.0, "all are seen from where the pointed one was"
        change(driver, "B")
        third = snapshots(application)[2].world
        engine.item_click("###remove the world")
        driver.wait_for(lambda: len(snapshots(application)) == 3, "three worlds")
        assert snapshots(application)[1].world == third
        assert application.documents.edited == "C"

    drive(test, ONE, OTHER, draws_land=is_nightly())


def test_the_panel_changes_what_it_is_told_to() -> None:
    def test(driver: Driver) -> None:
        application = begin_comparison(driver)
        simulation = application.simulation

        def check_counts(*counts: int) -> None:
            driver.engine.yield_(2)
            assert tuple(scene.droplets.count for scene in application.documents.scenes) == counts
            driver.wait_for(
                lambda: tuple(scene.droplets.count for scene in simulation.scenes) == counts, "what both were told"
            )

        def type_count(count: int) -> None:
            driver.engine.item_input_value(driver.widget("droplets.count"), count)

        type_count(90)
        check_counts(50, 90)
        change(driver, "A")
        assert application.documents.scene.droplets.count == 50
        type_count(60)
        check_counts(60, 90)
        change(driver, "all")
        assert application.documents.scene.droplets.count == 60
        type_count(70)
        check_counts(70, 70)
        change(driver, "B")
        driver.engine.item_click(driver.reset_button("droplets.count"))
        check_counts(70, 50)
        # What is not a process is the same for both.
        driver.engine.item_input_value(driver.widget("view.exaggeration"), 3.0)
        driver.engine.yield_(2)
        assert [scene.view.exaggeration for scene in application.documents.scenes] == [3.0, 3.0]
        driver.engine.item_click(driver.button("faster"))
        driver.wait_for(
            lambda: [scene.simulation.cycles_per_frame for scene in simulation.scenes] == [2, 2], "what both were told"
        )

    drive(test, ONE, draws_land=False)


def test_differences_are_marked_and_both_ledgers_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.window.panel import status_line

    items: list[str] = []
    item = status_line._item

    def remember(text: str, *more: object) -> None:
        items.append(text)
        item(text, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(status_line, "_item", remember)

    def test(driver: Driver) -> None:
        application = have_two(driver)
        rows = application.panel._rows
        assert rows.facts.differing_in("processes") == 1
        assert rows.facts.of("droplets.count").differs and not rows.facts.of("droplets.friction").differs
        assert "A: 50 · B: 90" in rows._help(DECLARATIONS["droplets.count"])
        items.clear()
        driver.engine.yield_(2)
        (balance,) = {text for text in items if text.startswith("mass balance")}
        assert balance == "mass balance A 0e+00 · B 0e+00"
        change(driver, "all")
        driver.engine.item_input_value(driver.widget("droplets.count"), 70)
        driver.engine.yield_(2)
        assert rows.facts.differing_in("processes") == 0

    drive(test, ONE, OTHER, draws_land=False)


def test_the_processes_of_a_preset_are_taken_by_what_is_edited() -> None:
    def test(driver: Driver) -> None:
        application = begin_comparison(driver)
        cycle, worlds = application.simulation.status.cycle, [shown.world for shown in snapshots(application)]
        driver.engine.set_ref("//Panel")
        driver.engine.item_click("###take a preset")
        driver.engine.item_click("//$FOCUSED/dune-field")
        preset = load_preset("dune-field")
        driver.wait_for(lambda: application.simulation.scenes[1].wind == preset.wind, "what the other was told")
        driver.engine.yield_(3)
        one, other = application.simulation.scenes
        assert (other.wind, other.droplets, other.cascade) == (preset.wind, preset.droplets, preset.cascade)
        assert one.wind == ONE.wind
        assert other.world == ONE.world
        assert application.documents.scenes[1].name == "dune-field"
        assert [shown.world for shown in snapshots(application)] == worlds, "the worlds go on"
        assert application.simulation.status.cycle == cycle

    drive(test, ONE, draws_land=False)


def test_reset_new_seed_and_another_source_act_on_both() -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)

        def both_anew(act: Callable[[], object]) -> list[Snapshot]:
            worlds = {shown.world for shown in snapshots(application)}
            act()
            driver.wait_for(
                lambda: (
                    len(snapshots(application)) == 2
                    and worlds.isdisjoint(shown.world for shown in snapshots(application))
                ),
                "two new worlds",
            )
            one, other = snapshots(application)
            assert one.cycle == other.cycle == 0
            assert one.seed == other.seed
            assert np.array_equal(one.layers["bedrock"], other.layers["bedrock"])
            assert [scene.droplets.count for scene in application.simulation.scenes] == [50, 90]
            return [one, other]

        driver.engine.item_click(driver.button("step"))
        driver.wait_for(lambda: [shown.cycle for shown in snapshots(application)] == [1, 1], "a cycle of both")
        both_anew(lambda: driver.engine.item_click(driver.button("reset")))
        one, _ = both_anew(lambda: driver.engine.item_click(driver.button("new_seed")))
        assert one.seed == application.documents.scene.world.seed != ONE.world.seed
        one, _ = both_anew(lambda: changes.change(application, "world.source", "diamond-square"))
        assert application.simulation.scenes[0].world.source == "diamond-square"
        files.open(application, "noise")
        driver.wait_for(lambda: len(snapshots(application)) == 1, "the preset alone")
        assert not application.documents.comparing

    drive(test, ONE, OTHER, draws_land=False)


def test_worlds_that_cannot_be_made_leave_those_that_are_there(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)
        worlds = [shown.world for shown in snapshots(application)]
        broken = tmp_path / "broken.toml"
        broken.write_text('[world]\nsource = "nowhere.tif"\n')
        files.open(application, broken)
        driver.wait_for(lambda: bool(application.notices.shown()), "the complaint")
        driver.engine.yield_(3)
        assert application.documents.comparing
        assert [scene.droplets.count for scene in application.documents.scenes] == [50, 90]
        assert application.documents.scene.world == ONE.world
        assert [shown.world for shown in snapshots(application)] == worlds
        assert application.documents.scenes[1] == application.documents.opened

    drive(test, ONE, OTHER, draws_land=False)


def test_the_divider_is_dragged_and_put_back_by_a_double_click() -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)
        free = application.panel.free_of_scene[1] * 1280.0
        assert application.layout.divider_place == pytest.approx(free / 2.0, abs=1.0)
        heading = application.camera.goal().heading
        drag(driver, (application.layout.divider_place, 500.0), (free * 0.25, 520.0))
        assert application.layout.divider_place == pytest.approx(free * 0.25, abs=8.0)
        assert [side.area.width + side.area.left for side in application.sides.shown] == [
            application.sides.shown[1].area.left,
            1280,
        ]
        drag(driver, (application.layout.divider_place, 500.0), (1270.0, 500.0))
        assert application.layout.divider == DIVIDER_RANGE[1]
        drag(driver, (application.layout.divider_place, 500.0), (2.0, 500.0))
        assert application.layout.divider == DIVIDER_RANGE[0]
        assert application.camera.goal().heading == heading, "the camera went along"
        driver.engine.mouse_move_to_pos(imgui.ImVec2(application.layout.divider_place, 500.0))
        io = imgui.get_io()
        io.mouse_single_click_delay, io.mouse_double_click_time = 6.0, 5.0  # frames can be long
        driver.engine.mouse_double_click()
        driver.engine.yield_(2)
        assert application.layout.divider == 0.5

    drive(test, WITHOUT_DROPS, WITHOUT_DROPS, draws_land=False)


def test_mouse_on_either_side_moves_the_one_camera() -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)
        camera = application.camera
        headings = [camera.goal().heading]
        for number in (0, 1):
            x = middle_of(application, number)
            drag(driver, (x, 300.0), (x + 40.0, 300.0))
            headings.append(camera.goal().heading)
        assert headings[1] - headings[0] == pytest.approx(headings[2] - headings[1], abs=1.0)
        # The wheel zooms towards the ground under the pointer, which stays there, on each side.
        for number in (0, 1):
            x = middle_of(application, number) + 50.0
            driver.engine.mouse_move_to_pos(imgui.ImVec2(x, 420.0))
            places = []
            for _ in range(2):
                driver.engine.mouse_wheel_y(1.0)
                driver.wait_for(lambda: not camera.moving, "the camera to come to rest")
                left, top = application.layout.corner(application.sides.shown[number])
                place = camera.ground_under(x - left, 420.0 - top)
                assert place is not None
                places.append((place.x, place.z))
            assert places[0] == pytest.approx(places[1], abs=3.0)

    drive(test, WITHOUT_DROPS, WITHOUT_DROPS, draws_land=False)


def test_a_click_on_the_minimap_of_the_right_side_moves_the_camera_there() -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)
        side = application.sides.shown[1]
        left, top, width, height = application.layout.minimap(side)
        driver.engine.mouse_move_to_pos(imgui.ImVec2(left + 0.25 * width, top + 0.75 * height))
        driver.engine.mouse_click()
        driver.engine.yield_(2)
        target, cell = application.camera.goal().target, snapshots(application)[1].cell_size
        assert target.x == pytest.approx(0.25 * 64 * cell, rel=0.1)
        assert target.z == pytest.approx(0.75 * 48 * cell, rel=0.1)

    drive(test, WITHOUT_DROPS, WITHOUT_DROPS, draws_land=False)


def test_a_click_on_either_side_follows_the_water_of_the_place_on_both() -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)
        BY_NAME["top_view"].run(application)
        driver.wait_for(lambda: not application.camera.moving, "the view from above")
        asked = []
        for number in (0, 1):
            driver.engine.mouse_move_to_pos(imgui.ImVec2(middle_of(application, number) + 20.0, 380.0))
            driver.engine.mouse_click()
            driver.wait_for(
                lambda: all(
                    shown.survey
                    and shown.survey.flow_path
                    and shown.survey.flow_path.asked == application.watching.asked_place
                    for shown in snapshots(application)
                ),
                "both courses",
            )
            asked.append(application.watching.asked_place)
            application.watching.ask_about(None)
        assert None not in asked
        assert np.abs(np.subtract(*asked)).max() <= 1, "the same place of the picture is the same place of the land"

    drive(test, WITHOUT_DROPS, WITHOUT_DROPS, draws_land=False)


def test_the_land_is_as_wide_in_its_half_as_before_and_again_after_it() -> None:
    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
        driver.engine.yield_(5)
        camera = application.camera
        alone = camera.goal().distance
        begin_comparison(driver)
        apart = camera.goal().distance
        assert apart > 1.5 * alone
        saved = camera.parameters().distance
        BY_NAME["opening_view"].run(application)
        assert camera.goal().distance == pytest.approx(apart, rel=1e-3)
        drag(driver, (application.layout.divider_place, 500.0), (application.layout.divider_place / 2.0, 500.0))
        driver.press("C")
        driver.wait_for(lambda: len(snapshots(application)) == 1, "one world")
        assert camera.goal().distance == pytest.approx(alone, rel=1e-3)
        assert camera.parameters().distance == pytest.approx(saved, rel=1e-3)

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_screenshot_shows_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notices, "SECONDS_SHOWN", 600.0)

    def test(driver: Driver) -> None:
        application = have_two(driver)
        driver.press("F12")
        driver.wait_for(lambda: any("saved" in notice.text for notice in application.notices.shown()), "the picture")
        (path,) = tmp_path.glob("*.png")
        with Image.open(path) as image:
            pixels = np.asarray(image)
        assert pixels.shape[1::-1] == application.layout.pixel_size
        meeting = application.sides.shown[1].area.left
        assert (pixels[:, meeting] == DIVIDER_COLOUR[:3]).all()
        # The label of the first stands beside the tools.
        tools = application.sides.shown[0].covered_left
        for half, left in ((pixels[:, :meeting], tools), (pixels[:, meeting + 2 :], 0)):
            assert half.std() > 10.0
            assert (half[14, left + 14] < 40).all(), "the label"

    drive(test, WITHOUT_DROPS, WITHOUT_DROPS)


def test_the_world_that_is_edited_is_saved(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        have_two(driver)
        for edited, count in (("A", 50), ("B", 90)):
            change(driver, edited)
            driver.save(tmp_path / f"{edited}.npz")
            driver.wait_for(lambda path=tmp_path / f"{edited}.npz": path.exists(), "the world")
            assert checkpoint.load_scene(tmp_path / f"{edited}.npz").droplets.count == count
            driver.save(tmp_path / f"{edited}.toml")
            assert f"count = {count}" in (tmp_path / f"{edited}.toml").read_text()

    drive(test, ONE, OTHER, draws_land=False)


def test_a_failure_of_one_stops_both_and_they_go_on_without_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.processes.droplets import DropletErosion

    def fail(self: DropletErosion, world: object, parameters: object, cycle: object) -> None:
        if getattr(parameters, "count", 0) == 90:
            raise ValueError("no rain today")

    monkeypatch.setattr(DropletErosion, "prepare", lambda self: None)
    monkeypatch.setattr(DropletErosion, "step", fail)

    def test(driver: Driver) -> None:
        application = have_two(driver)
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.simulation.status.state == "failed", "the failure")
        driver.engine.yield_(3)
        assert application.simulation.status.error.startswith("B: droplets: ValueError: no rain today")
        assert [shown.cycle for shown in snapshots(application)] == [0, 0]
        driver.engine.item_click("//##failure/Continue without droplets")
        driver.wait_for(lambda: application.simulation.status.cycle > 3, "the simulation to go on")
        assert [scene.droplets.enabled for scene in application.simulation.scenes] == [False, False]

    drive(test, ONE, OTHER, draws_land=False)


@pytest.mark.parametrize("size", [(480, 320), (1600, 500), (500, 1000)])
def test_every_size_of_the_window(size: tuple[int, int]) -> None:
    def test(driver: Driver) -> None:
        application = have_two(driver)
        for divider in DIVIDER_RANGE:
            application.layout.divider = divider
            driver.engine.yield_(3)
            sizes = [side.canvas.texture.size for side in application.sides.shown if side.canvas.texture is not None]
            assert (sum(width for width, _ in sizes), sizes[1][1]) == application.layout.pixel_size
        assert not application.notices.shown()

    drive(
        test,
        WITHOUT_DROPS,
        OTHER.with_values({"droplets.enabled": False, "climate.wind_speed": 3.0}),
        size=size,
    )


def test_what_made_a_range_makes_it_anew_in_all_worlds() -> None:
    """Where geological time does not go on, its parameters act on nothing but the land that worlds begin with."""

    def test(driver: Driver) -> None:
        application = begin_comparison(driver)
        before = snapshots(application)[0].world
        assert application.documents.rebuilds("geology.uplift")
        changes.change(application, "geology.uplift", 2.0)
        driver.wait_for(lambda: snapshots(application)[0].world != before, "other worlds")
        driver.wait_for(lambda: application.documents.are_shown and len(snapshots(application)) == 2, "both")
        assert [scene.geology.uplift for scene in application.simulation.scenes] == [2.0, 2.0]
        one, other = (snapshot.layers["bedrock"] for snapshot in snapshots(application))
        assert np.array_equal(one, other)
        changes.change(application, "geology.enabled", True)
        assert not application.documents.rebuilds("geology.uplift")
        changes.change(application, "geology.uplift", 3.0)
        driver.wait_for(lambda: application.simulation.scenes[1].geology.uplift == 3.0, "the change")
        assert application.simulation.scenes[0].geology.uplift == 2.0

    one = WITHOUT_DROPS.with_values({"world.source": "range", "world.columns": 48, "world.rows": 48})
    drive(test, one, draws_land=False)
