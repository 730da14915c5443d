"""Finding one's way in the panel: what is at work, search, pins, what was changed, menus, and the keyboard."""

from __future__ import annotations

import pytest
from imgui_bundle import imgui

from app.scene.scene import DECLARATIONS
from app.window.application import Application
from app.window.commands import changes, moments
from app.window.events import KeyPressed
from app.window.panel import keyboard
from app.window.panel.widgets import slider_part
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_panel import WITHOUT_DROPS, have_land, running_scene

WITH_PLANTS = SMALL.with_values({"droplets.count": 300, "plants.enabled": False})


def type_query(driver: Driver, query: str) -> None:
    driver.press("/")
    driver.wait_for(lambda: imgui.get_io().want_text_input, "the field")
    driver.engine.key_chars_replace(query)
    driver.engine.yield_(3)


def menu_of(driver: Driver, item: str, entry: str) -> None:
    """Choose from what the right button opens."""
    driver.engine.mouse_move(item)
    driver.engine.mouse_click(1)
    driver.engine.yield_(2)
    driver.engine.item_click(f"//$FOCUSED/{entry}")
    driver.engine.yield_(2)


def test_the_panel_begins_with_what_is_at_work() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        shown = driver.rows()
        assert {"droplets.enabled", "droplets.count", "climate.precipitation", "world.seed", "noise.gain"} <= shown
        assert not {"droplets.attrition", "wind.count", "plants.rate", "island.size"} & shown
        assert "wind.enabled" in shown, "what is off has its switch"
        assert len(shown) < 60
        driver.engine.item_click(driver.widget("wind.enabled"))
        driver.engine.yield_(3)
        driver.wait_for(lambda: running_scene(application).wind.enabled, "what the simulation was told")
        assert {"wind.count", "wind.suspension"} <= driver.rows()
        driver.unfold("wind")
        assert {path for path in DECLARATIONS if path.startswith("wind.")} <= driver.rows()
        driver.engine.item_click("###group wind")
        driver.engine.yield_(3)
        assert "wind.lag" not in driver.rows()
        changes.change(application, "wind.lag", 1.0)
        driver.engine.yield_(3)
        assert "wind.lag" in driver.rows(), "what differs from the preset is seen"

    drive(test, draws_land=False)


def test_a_search_finds_what_is_nowhere_shown_and_enter_goes_there() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        type_query(driver, "attrition")
        assert driver.rows() == {"droplets.attrition"}
        driver.engine.key_chars_replace("crater")
        driver.engine.yield_(3)
        assert "island.crater_slope" in driver.rows(), "of a generator that is not used"
        driver.engine.key_chars_replace("droplets.friction")
        driver.engine.yield_(3)
        driver.engine.key_press(int(imgui.Key.enter))
        driver.wait_for(lambda: bool(application.panel._rows._widgets._typing), "the field of the first one")
        driver.engine.key_chars_replace("0.33")
        driver.engine.key_press(int(imgui.Key.enter))
        driver.engine.yield_(3)
        assert application.documents.scene.droplets.friction == 0.33
        driver.press("Esc")
        assert "droplets.count" in driver.rows(), "Esc did not lead back"
        type_query(driver, "friction")
        driver.engine.key_press(int(imgui.Key.escape))
        driver.engine.yield_(3)
        assert application.panel._search.query == ""

    drive(test, draws_land=False)


def test_keys_typed_before_the_field_has_the_keyboard_are_not_the_programs() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.cycle > 0, "a cycle")
        driver.viewer.handle(KeyPressed("/"))
        driver.viewer.handle(KeyPressed("R"))  # would make the world anew
        assert application.panel.is_asking
        cycle = application.snapshot.cycle if application.snapshot else 0
        driver.wait_for(lambda: imgui.get_io().want_text_input, "the field")
        driver.engine.yield_(5)
        assert application.snapshot and application.snapshot.cycle >= cycle
        assert not application.panel.is_asking
        driver.press("Esc")
        driver.wait_for(lambda: not imgui.get_io().want_text_input, "the scene's keys")
        driver.viewer.handle(KeyPressed("R"))
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.cycle < cycle, "a new world")

    drive(test, paused=False, draws_land=False)


def test_what_is_found_can_be_copied() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        changes.change(application, "droplets.friction", 0.25)
        changes.change(application, "world.source", "island")
        type_query(driver, "droplets.friction")
        driver._refer_to_parameters()
        driver.engine.item_click("copy droplets.friction/###copy")
        assert imgui.get_clipboard_text() == "--set droplets.friction=0.25"
        driver.engine.set_ref("//Panel")
        driver.engine.item_click("###copy all")
        assert imgui.get_clipboard_text() == "--set droplets.friction=0.25 --set world.source=island"

    drive(test, draws_land=False)


def test_the_menu_of_a_parameter_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def disabled(text: str) -> None:
        shown.append(text)

    def test(driver: Driver) -> None:
        have_land(driver)
        driver.engine.mouse_move(driver.widget("world.seed"))
        driver.engine.mouse_click(1)
        driver.engine.yield_(2)
        with monkeypatch.context() as patch:
            patch.setattr(imgui, "text_disabled", disabled)
            driver.engine.yield_(1)
        assert shown.count("world.seed") == 1

    drive(test, draws_land=False)


def test_what_is_pinned_comes_first_and_only_there() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        kept = application.panel.memory.state
        menu_of(driver, driver.widget("world.seed"), "###pin")
        assert kept.pinned_parameters == ["world.seed"]
        driver._refer_to_parameters()
        menu_of(driver, "###group droplets", "###pin")
        assert kept.pinned_groups == ["droplets"]
        menu_of(driver, driver.section("view"), "###pin")
        assert kept.pinned_sections == ["view"]

        def top(item: str) -> float:
            return float(driver.engine.item_info(item).rect_full.min.y)

        driver._refer_to_parameters()
        order = ["world.seed/##world.seed", "###group droplets", "###section view", "###section processes"]
        heights = [top(item) for item in order]
        assert heights == sorted(heights)
        kept.pinned_parameters.append("of.the.past")
        kept.pinned_groups.append("nothing")
        driver.engine.yield_(3)
        assert not application.notices.shown()
        menu_of(driver, driver.widget("world.seed"), "###pin")
        assert "world.seed" not in kept.pinned_parameters

    drive(test, draws_land=False)


def test_all_changes_are_reset_in_one_step_of_undo() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        opened = application.documents.scene
        changes.change(application, "droplets.friction", 0.25)
        changes.change(application, "view.haze", 2.0)
        changes.change(application, "climate.precipitation", 1000.0)
        changed = application.documents.scene
        driver.engine.set_ref("//Panel")
        driver.engine.item_click("###reset all")
        driver.engine.yield_(3)
        assert application.documents.scene == opened
        driver.wait_for(lambda: running_scene(application).droplets == opened.droplets, "what the simulation was told")
        assert not driver.engine.item_exists("###reset all")
        moments.undo(application)
        driver.engine.yield_(2)
        assert application.documents.scene == changed
        moments.redo(application)
        assert application.documents.scene == opened

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_changes_that_rebuild_the_world_are_reset_with_the_view_in_one_step() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)

        def wait_for_seed(seed: int) -> None:
            driver.wait_for(
                lambda: running_scene(application).world.seed == seed and application.documents.are_shown,
                f"seed {seed}",
            )
            driver.engine.yield_(3)

        opened = application.documents.scene
        changes.change(application, "world.seed", 7)
        wait_for_seed(7)
        changes.change(application, "view.haze", 2.0)
        changes.change(application, "droplets.friction", 0.25)
        changes.reset_parameters(application, sorted(application.panel._rows.facts.changed))
        wait_for_seed(1)
        assert application.documents.scene == opened
        moments.undo(application)
        wait_for_seed(7)
        driver.wait_for(lambda: not application.history.is_going, "the land of before")
        assert application.documents.scene.droplets.friction == 0.25
        assert application.documents.scene.view.haze == 2.0
        moments.redo(application)
        wait_for_seed(1)
        assert application.documents.scene.view.haze == opened.view.haze

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_parameter_goes_back_to_the_presets_value_or_the_programs() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        path = "droplets.density"

        def is_now(value: float) -> bool:
            return application.documents.scene.value(path) == value

        changes.change(application, path, 3.0)
        engine.yield_(2)
        menu_of(driver, driver.widget(path), "###reset as opened")
        assert is_now(2.0)
        menu_of(driver, driver.widget(path), "###reset by default")
        assert is_now(1.0)
        box = engine.item_info(driver.widget(path)).rect_full
        engine.mouse_move_to_pos(imgui.ImVec2(box.min.x - 100.0, 0.5 * (box.min.y + box.max.y)))  # on the name
        engine.mouse_double_click()
        engine.yield_(2)
        assert is_now(2.0)
        menu_of(driver, driver.widget(path), "###copy")
        assert imgui.get_clipboard_text() == f"--set {path}=2.0"

    drive(test, WITHOUT_DROPS.with_value("droplets.density", 2.0), draws_land=False)


def test_a_drag_is_coarse_while_ctrl_is_held_after_the_press() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        path, declaration = "droplets.friction", DECLARATIONS["droplets.friction"]

        def dragged(key: imgui.Key | None) -> float:
            start = slider_part(declaration, application.documents.scene.droplets.friction)
            engine.mouse_move(driver.widget(path))
            engine.mouse_down()
            if key is not None:
                engine.key_down(int(key))
            engine.mouse_move_to_pos(imgui.get_mouse_pos() + imgui.ImVec2(20.0, 0.0))
            engine.mouse_up()
            if key is not None:
                engine.key_up(int(key))
            engine.yield_(2)
            return slider_part(declaration, application.documents.scene.droplets.friction) - start

        plain = dragged(None)
        assert dragged(imgui.Key.mod_ctrl) == pytest.approx(5.0 * plain, rel=0.3)
        assert dragged(imgui.Key.mod_shift) == pytest.approx(0.1 * plain, rel=0.6)

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_overlays_are_chosen_from_a_menu_in_which_empty_ones_are_grey() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.item_click("//##MainMenuBar/##MenuBar/###overlay")
        driver.engine.yield_(2)
        info = driver.engine.item_info("//$FOCUSED/###overlay canopy")
        assert info.item_flags & imgui.ItemFlags_.disabled.value
        driver.engine.item_click("//$FOCUSED/###overlay slope")
        driver.engine.yield_(2)
        assert application.documents.scene.view.overlay == "slope"
        driver.press("0")
        assert application.documents.scene.view.overlay == "none"
        driver.press("0")
        assert application.documents.scene.view.overlay == "slope"
        driver.press("Shift+O")
        assert application.documents.scene.view.overlay == "elevation"
        driver.press("O")
        assert application.documents.scene.view.overlay == "slope"

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_keyboard_goes_round_the_window_and_leaves_the_scene_its_keys() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        navigates = imgui.ConfigFlags_.nav_enable_keyboard.value

        def is_navigating() -> bool:
            return bool(imgui.get_io().config_flags & navigates)

        assert not is_navigating()
        places = []
        for _ in range(4):
            driver.press("F6")
            places.append(application.panel.keyboard.place)
            window = imgui.get_current_context().nav_window
            assert places[-1] == keyboard.SCENE or (window and window.root_window.name == places[-1])
        assert places == [keyboard.PANEL, keyboard.MENUS, keyboard.TIMELINE, keyboard.SCENE]
        assert not is_navigating()
        driver.press("F6")
        assert is_navigating()
        driver._refer_to_parameters()
        title, switch = (
            engine.item_info(item).id_ for item in ("###group droplets", "droplets.enabled/##droplets.enabled")
        )
        for _ in range(30):
            if imgui.get_current_context().nav_id in (title, switch):
                break
            engine.key_press(int(imgui.Key.down_arrow))
            engine.yield_(2)
        if imgui.get_current_context().nav_id == title:
            engine.key_press(int(imgui.Key.left_arrow))
            engine.yield_(2)
        assert imgui.get_current_context().nav_id == switch
        was_paused = application.simulation.paused
        engine.key_press(int(imgui.Key.space))
        engine.yield_(3)
        assert not application.documents.scene.droplets.enabled
        assert application.simulation.paused == was_paused, "the scene took the key, too"
        engine.key_press(int(imgui.Key.tab))
        engine.yield_(2)
        assert application.panel.visible
        driver.press("Esc")
        assert application.panel.keyboard.place == keyboard.SCENE and not is_navigating()
        driver.press("Space")
        driver.wait_for(lambda: application.simulation.paused != was_paused, "the scene's key")

    drive(test, draws_land=False)


def box_of(name: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a window."""
    window = imgui.internal.find_window_by_name(name)
    assert window is not None and window.active, name
    return window.pos.x, window.pos.y, window.pos.x + window.size.x, window.pos.y + window.size.y


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_a_small_window_has_room_for_all(scale: float) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.yield_(5)
        names = [keyboard.MENUS, keyboard.PANEL, "status"]
        names += [keyboard.TIMELINE] if application.panel.shows_timeline else []
        boxes = {name: box_of(name) for name in names}
        for name, (left, top, right, bottom) in boxes.items():
            assert left >= 0.0 and top >= 0.0 and right <= 1024.0 and bottom <= 600.0, name
            for other, (x, y, far_x, far_y) in boxes.items():
                overlaps = left < far_x - 1.0 and x < right - 1.0 and top < far_y - 1.0 and y < bottom - 1.0
                assert name == other or not overlaps, f"{name} lies over {other}"
        assert application.layout.top == pytest.approx(boxes[keyboard.MENUS][3], abs=1.0)
        assert boxes["Panel"][2] - boxes["Panel"][0] < 0.5 * 1024
        sections = driver.engine.window_info("//Panel/parameters").window
        assert sections.size.y > 8.0 * imgui.get_font_size(), "there is no room for parameters"
        # No row is wider than what shows it.
        assert sections.content_size.x <= sections.size.x + 1.0

    drive(test, WITHOUT_DROPS, size=(1024, 600), scale=scale, draws_land=False)


def test_the_menus_go_away_with_the_panel_and_the_scene_takes_their_place() -> None:
    def test(driver: Driver) -> None:
        application: Application = have_land(driver)
        assert application.layout.top > 0.0
        assert application.layout.corner(application.side)[1] == application.layout.top
        driver.press("Tab")
        driver.engine.yield_(2)
        assert application.layout.top == 0.0
        assert application.layout.size[1] == imgui.get_main_viewport().size.y
        window = imgui.internal.find_window_by_name(keyboard.MENUS)
        assert window is None or not window.active

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_the_field_is_reached_again_after_a_slider_of_what_was_found() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        type_query(driver, "droplets.friction")
        driver.engine.mouse_move(driver.widget("droplets.friction"))
        driver.engine.mouse_double_click(0)
        driver.wait_for(lambda: bool(application.panel._rows._widgets._typing), "its field")
        driver.engine.key_press(int(imgui.Key.escape))
        driver.wait_for(lambda: not imgui.get_io().want_text_input, "its end")
        type_query(driver, "attrition")
        assert application.panel._search.query == "attrition"

    drive(test, draws_land=False)
