"""The panel, used as a person uses it, by ImGui's test engine."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from imgui_bundle import imgui

from app.engine.compiling import Compiler
from app.engine.status import Compiling
from app.model.errors import UserError
from app.model.materials import Material
from app.processes import droplets
from app.scene.scene import DECLARATIONS, GROUPS, Scene, read_preset
from app.sources.parameters import WorldParameters
from app.window import pace
from app.window.actions import ACTIONS, BY_NAME
from app.window.application import Application
from app.window.commands import changes, files, running
from app.window.documents import RESTART_DELAY
from app.window.events import Event, FilesDropped, KeyPressed, PointerMoved
from app.window.panel import menus
from app.window.panel.parameters import is_in_use
from tests.gui.host import SMALL, Driver, FakeHost, drive

WITHOUT_DROPS = SMALL.with_value("droplets.enabled", False)


def have_land(driver: Driver) -> Application:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)
    return driver.application


def running_scene(application: Application) -> Scene:
    """What the simulation itself was told."""
    return application.simulation.scenes[0]


def test_every_declared_parameter_has_a_widget() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.open_all_sections()
        scene = application.documents.scene
        assert driver.rows() == {path for path in DECLARATIONS if is_in_use(path.partition(".")[0], scene)}
        assert "diamond_square.roughness" not in driver.rows()

    drive(test, draws_land=False)


def test_only_the_group_of_the_generator_that_is_used_is_shown() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        assert driver.engine.item_exists(driver.widget("diamond_square.roughness"))
        assert not driver.engine.item_exists(driver.widget("noise.octaves"))

    drive(test, Scene(world=WorldParameters(source="diamond-square", columns=33, rows=33)), draws_land=False)


def test_a_slider_changes_the_simulation_at_once() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        before = application.documents.scene.droplets.friction
        driver.engine.item_drag_with_delta(driver.widget("droplets.friction"), imgui.ImVec2(60.0, 0.0))
        driver.engine.yield_(2)
        assert application.documents.scene.droplets.friction != before
        changed = application.documents.scene.droplets.friction
        driver.wait_for(lambda: running_scene(application).droplets.friction == changed, "what the simulation was told")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_typed_number_is_taken_exactly_and_out_of_its_range_changes_nothing() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        for typed, kept in [(5.0, 0.05), (-3.0, 0.05), (0.25, 0.25), (5.0, 0.25)]:
            driver.engine.item_input_value(driver.widget("droplets.friction"), typed)
            driver.engine.yield_(2)
            assert application.documents.scene.droplets.friction == kept
            driver.wait_for(
                lambda kept=kept: running_scene(application).droplets.friction == kept, "what the simulation was told"
            )

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_double_click_lets_type_a_number_and_does_not_move_the_slider() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.item_double_click(driver.widget("droplets.count"))
        driver.engine.yield_(3)
        assert imgui.get_io().want_text_input
        assert application.documents.scene.droplets.count == 1000
        driver.engine.key_chars_replace_enter("1234")
        driver.engine.yield_(3)
        assert application.documents.scene.droplets.count == 1234

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_changed_parameter_is_marked_and_can_be_reset() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        opened = application.documents.scene.droplets.density
        assert not driver.engine.item_exists(driver.reset_button("droplets.density"))
        assert application.panel.changed("processes") == 0
        driver.engine.item_input_value(driver.widget("droplets.density"), 3.0)
        driver.engine.yield_(2)
        assert application.panel.changed("processes") == 1
        driver.engine.item_click(driver.reset_button("droplets.density"))
        driver.engine.yield_(2)
        assert application.documents.scene.droplets.density == opened
        driver.wait_for(lambda: running_scene(application).droplets.density == opened, "what the simulation was told")
        assert not driver.engine.item_exists(driver.reset_button("droplets.density"))

    drive(test, WITHOUT_DROPS.with_value("droplets.density", 2.0), draws_land=False)


def test_switches_and_choices() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.item_click(driver.widget("droplets.enabled"))
        driver.engine.yield_(2)
        assert application.documents.scene.droplets.enabled
        driver.wait_for(lambda: running_scene(application).droplets.enabled, "what the simulation was told")
        driver.engine.item_click(driver.widget("view.overlay"))
        driver.engine.item_click("//$FOCUSED/slope")
        driver.engine.yield_(2)
        assert application.documents.scene.view.overlay == "slope"

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_what_the_terrain_is_made_from_makes_the_world_anew_once_the_slider_is_let_go() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        assert application.snapshot is not None
        world = application.snapshot.world
        driver.engine.mouse_move(driver.widget("world.columns"))
        driver.engine.mouse_down()
        driver.engine.mouse_move_to_pos(imgui.get_mouse_pos() - imgui.ImVec2(150.0, 0.0))
        driver.let_pass(2.0 * RESTART_DELAY)
        assert application.documents.are_shown and not application.documents.restart_waits, "made while it was held"
        driver.engine.key_press(int(imgui.Key.escape))
        driver.engine.mouse_up()
        driver.let_pass(2.0 * RESTART_DELAY)
        assert application.documents.scene.world.columns == 64, "Esc did not take it back"
        assert not application.documents.restart_waits and application.documents.are_shown
        assert application.snapshot.world == world
        driver.engine.item_drag_with_delta(driver.widget("world.columns"), imgui.ImVec2(-150.0, 0.0))
        driver.wait_for(lambda: application.documents.scene.world.columns != 64, "the end of the drag")
        changes.change(application, "world.columns", 80)
        driver.wait_for(
            lambda: application.snapshot is not None and application.snapshot.shape == (48, 80), "a new map"
        )
        assert application.snapshot.world > world

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_view_changes_the_picture_and_leaves_the_simulation_alone() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        world = application.snapshot and application.snapshot.world
        driver.engine.item_input_value(driver.widget("view.exaggeration"), 4.0)
        driver.engine.yield_(3)
        assert application.documents.scene.view.exaggeration == 4.0
        assert application.snapshot and application.snapshot.world == world
        assert running_scene(application).view.exaggeration == 1.0

    drive(test, WITHOUT_DROPS)


def test_another_generator_can_be_chosen() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.item_click(driver.widget("world.source"))
        driver.engine.item_click("//$FOCUSED/diamond-square##generator")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.world > 1, "a new world")
        assert running_scene(application).world.source == "diamond-square"

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_buttons_of_the_uppermost_row() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        simulation = application.simulation
        driver.engine.item_click(driver.button("toggle_pause"))
        driver.wait_for(lambda: not simulation.paused and simulation.status.cycle > 3, "running")
        driver.engine.item_click(driver.button("toggle_pause"))
        driver.wait_for(lambda: simulation.status.state == "paused", "a pause, after the cycle that still ran")
        cycle = simulation.status.cycle
        driver.engine.item_click(driver.button("step"))
        driver.wait_for(lambda: simulation.status.cycle == cycle + 1, "one cycle")
        driver.engine.item_click(driver.button("slower"))
        driver.engine.yield_(2)
        assert application.documents.scene.simulation.cycles_per_frame == 100
        driver.engine.item_click(driver.button("new_seed"))
        driver.wait_for(lambda: simulation.status.cycle == 0, "a new world")
        assert application.documents.scene.world.seed != 1

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_menus_list_every_action_and_do_it() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        for group in menus.groups():
            driver.engine.item_click(f"//##MainMenuBar/##MenuBar/{group}")
            driver.engine.yield_(2)
            for action in ACTIONS:
                if action.group == group:
                    assert driver.engine.item_exists(f"//$FOCUSED/{action.label}"), action.label
            driver.press("Esc")
        driver.engine.item_click("//##MainMenuBar/##MenuBar/View")
        driver.engine.item_click("//$FOCUSED/Minimap")
        driver.engine.yield_(2)
        assert not application.documents.scene.view.minimap

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_menu_refines_the_land_and_undo_takes_it_back() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        assert application.snapshot is not None
        rows, columns = application.snapshot.shape
        label = menus.refinement_label(application.documents.scenes, rows, columns, 2)
        distance = application.camera.parameters().distance

        def wait_for_shape(*shape: int) -> None:
            driver.wait_for(lambda: application.snapshot is not None and application.snapshot.shape == shape, "cells")

        driver.engine.set_ref("//##MainMenuBar")
        driver.engine.menu_click(f"Simulation/Refine/{label}")
        driver.engine.set_ref("")
        wait_for_shape(2 * rows, 2 * columns)
        assert application.camera.parameters().distance == pytest.approx(distance, rel=0.01)
        driver.press("Ctrl+Z")
        wait_for_shape(rows, columns)

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_tab_hides_the_panel_and_shows_it_again() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        assert driver.engine.item_exists(driver.button("toggle_pause"))
        driver.press("Tab")
        assert not driver.application.panel.visible
        assert driver.engine.window_info("//Panel", imgui.test_engine.TestOpFlags_.no_error.value).window is None
        driver.press("Tab")
        assert driver.engine.item_exists(driver.button("toggle_pause"))

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_letters_in_a_field_are_no_keys() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        before = visible_state(application)
        key = imgui.Key.mod_ctrl
        driver.engine.key_down(int(key))
        driver.engine.item_click(driver.widget("droplets.count"))
        driver.engine.key_up(int(key))
        driver.engine.yield_(2)
        assert imgui.get_io().want_text_input
        for letter in (imgui.Key.n, imgui.Key.r, imgui.Key.m, imgui.Key.g, imgui.Key.space):
            driver.engine.key_press(int(letter))
        driver.engine.key_chars("nrm?.[")
        driver.engine.yield_(3)
        assert visible_state(application) == before
        driver.engine.key_press(int(imgui.Key.escape))
        driver.engine.yield_(3)
        driver.press("M")
        assert visible_state(application) != before

    drive(test, WITHOUT_DROPS, draws_land=False)


def visible_state(application: Application) -> tuple[object, ...]:
    """All that keys can change and a person can see."""
    host = application.host
    assert isinstance(host, FakeHost)
    snapshot = application.snapshot
    return (
        application.simulation.paused,
        snapshot and (snapshot.world, snapshot.cycle),
        application.documents.scene,
        len(application.documents.scenes),
        application.cameras.linked,
        application.camera.goal(),
        application.camera.flying,
        application.camera_follow.following,
        application.recording.current is not None,
        application.panel.timeline_visible,
        application.panel.visible,
        (application.guide.is_open, application.guide.page),
        application.panel.keyboard.place,
        application.panel.is_asking,
        application.versions.is_open,
        application.panel.gallery.is_open,
        application.panel.tour.is_on,
        application.brushing.tool_name,
        application.brushing.settings,
        application.interface_size,
        tuple(notice.text for notice in application.notices.shown()),
        tuple(host.asked),
    )


def test_every_key_does_something_that_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        for action in ACTIONS:
            for key in action.keys:
                if imgui.get_io().want_text_input:
                    driver.engine.key_press(int(imgui.Key.escape))
                application.panel.keyboard.leave()
                application.panel.visible, application.guide.is_open = True, action.name == "close"
                if application.camera.flying:
                    application.camera.toggle_fly()
                application.panel.close_topmost() if application.panel.is_asking else None
                application.camera.look_at(100.0 + len(action.label), 200.0)
                application.camera.scroll(2.0, 300.0, 300.0)
                for notice in application.notices.shown():
                    application.notices.dismiss(notice)
                driver.engine.yield_(3)
                before = visible_state(application)
                driver.press(key)
                driver.wait_for(lambda before=before: visible_state(application) != before, f"{key} for {action.label}")

    drive(test, WITHOUT_DROPS, draws_land=False)
    assert list(tmp_path.glob("*.png")), "F12 wrote nothing"


@pytest.mark.parametrize("event", [KeyPressed("M"), PointerMoved(1.0, 1.0)])
def test_a_key_shows_before_a_picture_is_whole(event: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SLICE", 0.0)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        host = application.host
        assert isinstance(host, FakeHost)
        driver.engine.mouse_move_to_pos((100.0, 300.0))
        driver.wait_for(lambda: not application.sides.drawing, "a whole picture")
        before = application.documents.scene.view.minimap
        host.happening = [event]
        application.sides.redraw()
        driver.engine.yield_()
        is_key = isinstance(event, KeyPressed)
        assert application.sides.drawing == is_key, "only for a key it stops"
        assert (application.documents.scene.view.minimap != before) == is_key
        driver.wait_for(lambda: not application.sides.drawing, "the rest of the picture")

    drive(test, WITHOUT_DROPS)


def test_a_key_shows_before_a_picture_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        drawn: list[bool] = []

        def draws(*events: Event) -> bool:
            drawn.clear()
            driver.viewer.frame(events, 0.02, 1280.0, 800.0, 1.0)
            return bool(drawn)

        with monkeypatch.context() as patch:
            patch.setattr(driver.viewer, "update", lambda *_: None)
            patch.setattr(driver.viewer, "gui", lambda: None)
            patch.setattr(driver.viewer.drawing, "draw", lambda: drawn.append(True))
            assert draws()
            assert draws(PointerMoved(1.0, 1.0))
            assert [draws(KeyPressed("M")) for _ in range(4)] == [False, True, False, True], "held keys let pictures by"

    drive(test, WITHOUT_DROPS)


def test_a_failed_simulation_tells_its_cause_and_the_ways_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no rain today")

    def test(driver: Driver) -> None:
        application = have_land(driver)
        monkeypatch.setattr(droplets.DropletErosion, "prepare", lambda self: None)
        monkeypatch.setattr(droplets.DropletErosion, "step", fail)
        changes.change(application, "droplets.enabled", True)
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.simulation.status.state == "failed", "the failure")
        driver.engine.yield_(3)
        assert "no rain today" in application.simulation.status.error
        assert not application.notices.shown(), "told twice"
        driver.engine.item_click("//##failure/Continue without droplets")
        driver.wait_for(lambda: application.simulation.status.cycle > 3, "the simulation to go on")
        running.toggle_pause(application)
        changes.change(application, "droplets.enabled", True)
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.simulation.status.state == "failed", "the failure")
        driver.engine.yield_(3)
        driver.engine.item_click("//##failure/Reset")
        driver.wait_for(lambda: application.simulation.status.state != "failed", "a new beginning")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_an_error_stays_until_it_is_clicked(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        files.open(application, tmp_path / "nowhere.tif")
        driver.engine.yield_(3)
        (notice,) = application.notices.shown()
        assert notice.is_error and "nowhere.tif" in notice.text
        driver.engine.mouse_move_to_pos(driver.engine.window_info("//##notice 0").rect_full.get_center())
        driver.engine.mouse_click()
        driver.engine.yield_(2)
        assert not application.notices.shown()

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_world_that_cannot_be_made_leaves_the_old_one_and_its_parameters() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        changes.change(application, "world.source", "nowhere.tif")
        driver.wait_for(lambda: bool(application.notices.shown()), "the complaint")
        driver.wait_for(lambda: application.simulation.status.state == "paused", "the old world")
        driver.engine.yield_(3)
        assert application.documents.scene.world == SMALL.world

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_an_error_in_a_frame_is_shown_and_the_next_frame_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.window.panel import transport

    speed = transport._speed

    def test(driver: Driver) -> None:
        application = have_land(driver)

        def fail(*_: object) -> None:
            raise RuntimeError("out of paint")

        monkeypatch.setattr(transport, "_speed", fail)
        driver.wait_for(
            lambda: any("out of paint" in notice.text for notice in application.notices.shown()), "a notice"
        )
        monkeypatch.setattr(transport, "_speed", speed)
        driver.engine.yield_(3)
        driver.press("M")
        assert not application.documents.scene.view.minimap
        assert driver.engine.item_exists(driver.button("toggle_pause"))

    drive(test, WITHOUT_DROPS)


def test_saving_and_opening_a_preset_and_a_world(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        changes.change(application, "droplets.friction", 0.3)
        driver.save(tmp_path / "mine.toml")
        assert read_preset((tmp_path / "mine.toml").read_text(), "mine").droplets.friction == 0.3
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.simulation.status.cycle == 1, "a cycle")
        driver.save(tmp_path / "mine")
        driver.wait_for(lambda: (tmp_path / "mine.npz").exists(), "the world")
        files.open(application, "noise")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.world == 2, "another world")
        files.open(application, tmp_path / "mine.npz")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.world == 3, "the saved world")
        assert application.snapshot.cycle == 1
        assert application.documents.scene.droplets.friction == 0.3
        driver.wait_for(lambda: application.simulation.status.state == "paused", "a world at rest")
        assert application.simulation.status.cycle == 1

    drive(test, WITHOUT_DROPS)


def test_words_on_a_bar_of_progress_can_be_read() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        text, bar, below = (
            imgui.get_style().color_(colour.value)
            for colour in (imgui.Col_.text, imgui.Col_.plot_histogram, imgui.Col_.window_bg)
        )
        shown = [
            bar.w * on + (1.0 - bar.w) * under for on, under in ((bar.x, below.x), (bar.y, below.y), (bar.z, below.z))
        ]
        bright, dark = (
            0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2 for r, g, b in ((text.x, text.y, text.z), shown)
        )
        assert (bright + 0.05) / (dark + 0.05) > 4.5  # contrast as in the Web Content Accessibility Guidelines

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_land_is_called_as_what_was_opened(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        (tmp_path / "mine.toml").write_text("[world]\ncolumns = 40\nrows = 40\n")
        files.open(application, tmp_path / "mine.toml")
        driver.wait_for(lambda: driver.viewer.title.startswith("Thalweg – mine – cycle"), "its land")
        driver.save(tmp_path / "kept.npz")
        driver.wait_for(lambda: (tmp_path / "kept.npz").exists(), "the world")
        files.open(application, tmp_path / "kept.npz")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.world == 3, "the saved world")
        assert application.documents.name == "kept"
        BY_NAME["reset"].run(application)
        assert application.documents.name == "kept"
        changes.change(application, "world.source", "sand")
        assert application.documents.name == "sand"

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_dropped_file_is_opened(tmp_path: Path) -> None:
    preset = tmp_path / "mine.toml"
    preset.write_text('[world]\nsource = "diamond-square"\ncolumns = 40\nrows = 40\n[droplets]\nenabled = false\n')

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.viewer.handle(FilesDropped((preset,)))
        driver.wait_for(
            lambda: application.snapshot is not None and application.snapshot.shape == (40, 40), "its world"
        )
        assert application.documents.opened == application.documents.scene
        assert application.documents.scene == msgspec.structs.replace(
            read_preset(preset.read_text(), "mine"), name="mine"
        )

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_pressing_pause_twice_before_the_simulation_hears_of_it_changes_nothing() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        running.toggle_pause(application)
        running.toggle_pause(application)
        driver.engine.yield_(10)
        assert application.simulation.paused

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_our_own_file_dialog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.window.panel import file_dialog

    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "notes.txt").write_text("not to be listed")

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.press("Ctrl+S")
        assert application.panel.is_asking
        driver.engine.set_ref("//###file dialog")
        assert driver.engine.item_exists("**/deeper") and not driver.engine.item_exists("**/notes.txt")
        driver.engine.item_click("**/deeper")
        driver.engine.yield_(2)
        driver.engine.item_click("##name")
        driver.engine.key_chars_replace("kept.toml")
        driver.engine.item_click("Save")
        driver.wait_for(lambda: (tmp_path / "deeper" / "kept.toml").exists(), "the preset")
        assert not application.panel.is_asking
        changes.change(application, "droplets.density", 5.0)
        driver.press("Ctrl+O")
        driver.engine.set_ref("//###file dialog")
        driver.engine.item_click("**/kept.toml")
        driver.engine.item_click("Open")
        driver.wait_for(lambda: application.documents.scene.droplets.density == 1.0, "the preset again")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_our_own_file_dialog_replaces_nothing_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the ending is added, nor on Enter, nor on a double click."""
    from app.window.panel import file_dialog

    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "zz.npz").write_bytes(b"old")
    (tmp_path / "p.toml").write_bytes(b"old")

    def test(driver: Driver) -> None:
        application = have_land(driver)

        def type_name(name: str) -> None:
            driver.engine.item_click("##name")
            driver.engine.key_chars_replace(name)
            driver.engine.yield_(2)

        driver.press("Ctrl+S")
        driver.engine.set_ref("//###file dialog")
        type_name("zz")
        assert driver.engine.item_exists("Replace")
        assert not driver.engine.item_exists("Save")
        driver.engine.key_chars_replace_enter("p.toml")
        driver.engine.yield_(3)
        driver.engine.item_double_click("**/zz.npz")
        driver.engine.yield_(3)
        type_name("picture.png")
        driver.engine.item_click("Save")
        assert application.panel.is_asking
        assert {path.name for path in tmp_path.iterdir()} == {"home", "zz.npz", "p.toml"}
        assert (tmp_path / "zz.npz").read_bytes() == (tmp_path / "p.toml").read_bytes() == b"old"
        type_name("nowhere/x")
        driver.engine.item_click("Save")
        assert application.panel.is_asking  # there is no such folder
        driver.engine.yield_(3)
        dialog = imgui.internal.find_window_by_name("###file dialog")
        assert dialog is not None
        assert dialog.content_size.x <= dialog.inner_rect.get_width(), "what is wrong is not read to its end"
        type_name("~/x.npz")
        driver.engine.item_click("Save")
        driver.wait_for(lambda: (tmp_path / "home" / "x.npz").exists(), "the world")
        driver.press("Ctrl+S")
        driver.engine.set_ref("//###file dialog")
        type_name(str(tmp_path / "p.toml"))
        for _ in range(2):  # the second says that it is meant
            assert (tmp_path / "p.toml").read_bytes() == b"old"
            driver.engine.key_press(imgui.Key.enter.value)
            driver.engine.yield_(4)
        driver.wait_for(lambda: (tmp_path / "p.toml").read_bytes() != b"old", "the preset")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_name_that_was_refused_is_typed_anew_and_one_esc_leaves_the_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.window.panel import file_dialog

    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(tmp_path)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.press("Ctrl+S")
        driver.wait_for(lambda: imgui.get_io().want_text_input, "the keyboard")
        driver.engine.key_chars_replace_enter("p.png")
        driver.engine.yield_(4)
        assert application.panel.is_asking and imgui.get_io().want_text_input
        driver.engine.key_chars_replace_enter("p.toml")
        driver.wait_for(lambda: (tmp_path / "p.toml").exists(), "the preset")
        driver.press("Ctrl+S")
        driver.wait_for(lambda: imgui.get_io().want_text_input, "the keyboard")
        driver.engine.key_press(imgui.Key.escape.value)
        driver.engine.yield_(3)
        assert not application.panel.is_asking
        driver.press("Ctrl+S")
        driver.wait_for(lambda: imgui.get_io().want_text_input, "the keyboard")
        driver.press("Ctrl+O")  # another dialog takes its place, though text is typed
        driver.engine.set_ref("//###file dialog")
        driver.wait_for(lambda: driver.engine.item_exists("Open"), "the dialog to open a file")
        driver.engine.key_press(imgui.Key.mod_ctrl | imgui.Key.a)
        driver.engine.yield_(3)
        assert application.panel.is_asking

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_esc_closes_a_menu_of_the_right_button_and_nothing_else() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("raise")
        driver.engine.yield_(3)
        driver.engine.item_click(driver.widget("droplets.count"), 1)
        driver.engine.yield_(3)
        assert imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value)
        driver.engine.key_press(imgui.Key.escape.value)
        driver.engine.yield_(3)
        assert not imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value)
        assert application.brushing.is_active
        driver.engine.key_press(imgui.Key.escape.value)
        driver.engine.yield_(3)
        assert not application.brushing.is_active

    drive(test, SMALL, draws_land=False)


@pytest.mark.parametrize("key", ["Ctrl+O", "Ctrl+T"])
def test_names_that_the_system_cannot_look_for_are_told(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the dialog, or where the file is opened; the window goes on."""
    from app.window.panel import file_dialog

    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(tmp_path)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.press(key)
        driver.engine.set_ref("//###file dialog")
        driver.engine.item_click("##name")
        driver.engine.key_chars_replace_enter(300 * "a")
        driver.engine.yield_(3)
        told = [notice.text for notice in application.notices.shown()]
        assert application.panel.is_asking or any("there is no" in text for text in told), told

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_save_that_fails_is_asked_about_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.files import checkpoint

    def fail(*what: object, **how: object) -> None:
        raise UserError("cannot write: no space is left there")

    monkeypatch.setattr(checkpoint, "save", fail)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.save(tmp_path / "mine.npz")
        driver.wait_for(lambda: application.panel.is_asking, "the dialog")
        assert [notice.text for notice in application.notices.shown()] == ["cannot write: no space is left there"]
        driver.engine.set_ref("//###file dialog")
        monkeypatch.undo()
        driver.engine.item_click("Save")
        driver.wait_for(lambda: (tmp_path / "mine.npz").exists(), "the world")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_systems_dialog_knows_not_the_ending_that_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks about the name that was typed; what is written has another."""
    from app.window.panel import file_dialog

    chosen: list[Path] = []
    (tmp_path / "zz.npz").write_bytes(b"old")
    dialog = file_dialog.FileDialog()
    dialog.ask_again(tmp_path / "any", "", [], files.target, chosen.append)
    for name, answer in (("zz", None), ("zz.npz", tmp_path / "zz.npz"), ("z.png", None), ("new", tmp_path / "new.npz")):
        dialog.close()
        assert dialog._checked(tmp_path / name, files.target) == answer
        assert dialog.is_open == (answer is None)


def test_typing_into_our_own_file_dialog_presses_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.window.panel import file_dialog

    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(tmp_path)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        before = application.documents.scene
        driver.press("Ctrl+S")
        driver.engine.yield_(3)
        assert imgui.get_io().want_text_input  # without a click
        driver.engine.key_chars_replace_enter("kept.toml")
        driver.wait_for(lambda: (tmp_path / "kept.toml").exists(), "the preset")
        driver.press("Ctrl+O")
        driver.engine.set_ref("//###file dialog")
        driver.engine.item_click("**/kept.toml")
        driver.press("N")
        driver.press("O")
        assert application.documents.scene == before
        driver.press("Esc")
        assert not application.panel.is_asking

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_whole_panel_at_twice_the_size_of_text() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        driver.open_all_sections()
        driver.engine.yield_(3)
        width = driver.engine.window_info("//Panel").window.size.x
        assert width < 0.5 * 1024
        assert not driver.application.notices.shown()

    drive(test, WITHOUT_DROPS, size=(1024, 600), scale=2.0, draws_land=False)


def test_the_camera_goes_on_with_a_drag_that_leaves_the_scene() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        heading = application.camera.goal().heading
        driver.engine.mouse_move_to_pos(imgui.ImVec2(400.0, 300.0))
        driver.engine.mouse_down()
        driver.engine.mouse_move_to_pos(imgui.ImVec2(1200.0, 300.0))
        driver.engine.yield_(2)
        assert application.camera.dragging
        assert application.camera.goal().heading == pytest.approx(heading + 240.0, abs=5.0)
        driver.engine.mouse_up()
        driver.engine.yield_(2)
        assert not application.camera.dragging

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_click_on_the_minimap_moves_the_camera_there() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        left, top, width, height = application.layout.minimap(application.side)
        driver.engine.mouse_move_to_pos(imgui.ImVec2(left + 0.25 * width, top + 0.75 * height))
        driver.engine.mouse_click()
        driver.engine.yield_(2)
        target, cell = application.camera.goal().target, application.snapshot.cell_size
        assert target.x == pytest.approx(0.25 * 64 * cell, rel=0.1)
        assert target.z == pytest.approx(0.75 * 48 * cell, rel=0.1)

    drive(test, WITHOUT_DROPS)


def test_the_camera_follows_a_new_world_and_keeps_a_view_that_fits() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.camera.scroll(-1.0, 400.0, 300.0)
        driver.wait_for(lambda: not application.camera.moving, "the camera to come to rest")
        before = application.camera.goal()

        def make_anew(path: str, value: float) -> None:
            assert application.snapshot is not None
            world = application.snapshot.world
            changes.change(application, path, value)
            driver.wait_for(
                lambda: application.snapshot is not None and application.snapshot.world > world, "another world"
            )
            driver.engine.yield_(2)

        make_anew("world.seed", 5)
        assert application.camera.goal() == before
        make_anew("world.relief", 4100.0)
        assert application.snapshot is not None
        goal = application.camera.goal()
        assert goal.position.y > 0.5 * application.snapshot.highest
        assert goal.distance > 2.0 * before.distance
        assert goal.heading == before.heading
        make_anew("world.columns", 128)
        assert application.camera.goal().heading == before.heading

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_scene_with_other_ranges_needs_no_other_panel() -> None:
    """Every group of the scene belongs to a section that the panel shows."""
    from app.window.panel.parameters import SECTIONS

    assert {group.section for group in GROUPS.values()} <= set(SECTIONS)
    with pytest.raises(UserError):
        msgspec.structs.replace(SMALL).with_value("droplets.friction", 2.0)


def test_a_run_of_snowballs_shows_how_far_it_is_and_can_be_cancelled() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        simulation = application.simulation
        driver.engine.item_click(driver.snowball_button("roll 35000"))
        driver.wait_for(
            lambda: application.snapshot is not None and application.snapshot.snowballs == 35_000, "its end"
        )
        driver.wait_for(lambda: simulation.status.snowball_run is None, "the end of the run")
        assert simulation.paused, "all else is as it was"
        driver.engine.yield_(2)
        running.roll_snowballs(application, 10_000_000)
        driver.wait_for(lambda: driver.engine.item_exists(driver.snowball_button("cancel snowballs")), "its button")
        driver.engine.item_click(driver.snowball_button("cancel snowballs"))
        driver.wait_for(lambda: simulation.status.snowball_run is None, "the end of the run")
        assert simulation.status.cycle < 10_000_000 // 500

    drive(test, WITHOUT_DROPS.with_values({"world.source": "island", "snowballs.enabled": True}), draws_land=False)


def test_traits_of_all_kinds_in_use_are_changed_while_the_world_runs() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine

        def scene() -> Scene:
            shown = application.documents.scene
            driver.wait_for(lambda: running_scene(application).traits == shown.traits, "what the simulation was told")
            return shown

        driver.unfold("traits")
        for fold in ("traits.materials sand", "traits.materials granite", "traits.plants grass", "traits.plants shrub"):
            assert engine.item_exists(f"###kind {fold}"), fold
        assert not engine.item_exists("###kind traits.plants conifer"), "which is not in this world"

        engine.item_open("###kind traits.materials sand")
        engine.yield_(2)
        engine.item_input_value("##traits.materials.sand.repose", 12.0)
        engine.yield_(3)
        assert scene().traits.materials == "sand repose 12"
        assert not engine.item_exists("##traits.materials.sand.steepest"), "sand is no rock"
        driver.wait_for(lambda: sand(application).repose == 12.0, "sand that lies less steep")
        engine.item_input_value("##traits.materials.sand.erodibility", 0.5)
        engine.yield_(3)
        assert scene().traits.materials == "sand repose 12; sand erodibility 0.5"
        engine.item_click("###reset traits.materials sand repose")
        engine.yield_(3)
        assert scene().traits.materials == "sand erodibility 0.5"
        engine.item_input_value("##traits.materials.sand.erodibility", 1.0)
        engine.yield_(3)
        assert scene().traits.materials == "", "as its file says"

        # Of several numbers that must not fall, the others give way.
        engine.item_open("###kind traits.plants shrub")
        engine.yield_(2)
        engine.item_input_value("##traits.plants.shrub.slope optimal to", 70.0)
        engine.yield_(3)
        assert scene().traits.plants == "shrub slope 70 70"
        engine.item_input_value("##traits.plants.shrub.slope none above", 20.0)
        engine.yield_(3)
        assert scene().traits.plants == "shrub slope 20 20"

        # Esc takes a drag back.
        engine.mouse_move("##traits.plants.shrub.roots")
        engine.mouse_down()
        engine.mouse_move_to_pos(imgui.get_mouse_pos() + imgui.ImVec2(40.0, 0.0))
        engine.yield_(2)
        assert "shrub roots" in scene().traits.plants
        engine.key_press(int(imgui.Key.escape))
        engine.mouse_up()
        engine.yield_(3)
        assert scene().traits.plants == "shrub slope 20 20"

    def sand(application: Application) -> Material:
        assert application.snapshot is not None and application.snapshot.materials is not None
        return next(material for material in application.snapshot.materials.loose if material.name == "sand")

    drive(
        test,
        WITHOUT_DROPS.with_values({"materials.enabled": True, "plants.enabled": True, "flora.trees": "poplar; shrub"}),
        draws_land=False,
    )


def test_the_key_for_another_seed_makes_another_island() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        assert application.snapshot is not None
        first, before = application.snapshot.world, application.snapshot.layers["bedrock"].copy()
        driver.press("N")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.world != first, "the island")
        assert application.documents.scene.world.source == "island"
        assert (application.snapshot.layers["bedrock"] != before).mean() > 0.5
        assert application.snapshot.cycle == 0

    drive(test, WITHOUT_DROPS.with_value("world.source", "island"), draws_land=False)


def test_a_box_shows_how_far_kernels_are(monkeypatch: pytest.MonkeyPatch) -> None:
    progress: list[Compiling | None] = [Compiling(4, 9, ("wind", "pools"), ("plants",))]
    monkeypatch.setattr(Compiler, "progress", property(lambda self: progress[0]))

    def is_shown() -> bool:
        window = imgui.internal.find_window_by_name("##compiling")
        return window is not None and window.active

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.wait_for(is_shown, "the box")
        assert application.simulation.status.compiling == progress[0]
        progress[0] = None
        driver.wait_for(lambda: not is_shown(), "the end of it")

    drive(test, draws_land=False)
