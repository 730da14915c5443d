"""The widgets of parameters, used as a person uses them: nothing is set that was not chosen."""

from __future__ import annotations

import dataclasses

import pytest
from imgui_bundle import imgui

from app.engine.thread import SimulationThread
from app.model.numbers import number_text
from app.model.parameters import Declaration
from app.scene.scene import DECLARATIONS, Scene
from app.window.documents import RESTART_DELAY
from app.window.panel.facts import ParameterFacts
from app.window.panel.parameters import ParameterRows, room_for_label
from app.window.panel.widgets import slider_part
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_panel import WITHOUT_DROPS, have_land, running_scene

CLICK_REACH = 6.0  # ImGui's threshold of a drag


def at(driver: Driver, path: str, part: float) -> imgui.ImVec2:
    """A place on a slider: a part of its width."""
    driver.engine.scroll_to_item_y(driver.widget(path))
    box = driver.engine.item_info(driver.widget(path)).rect_full
    return imgui.ImVec2(box.min.x + part * (box.max.x - box.min.x), 0.5 * (box.min.y + box.max.y))


def width_of(driver: Driver, path: str) -> float:
    box = driver.engine.item_info(driver.widget(path)).rect_full
    return box.max.x - box.min.x


def said(driver: Driver) -> list[str]:
    return [notice.text for notice in driver.application.notices.shown()]


def test_a_press_changes_nothing_and_a_drag_goes_on_from_the_value() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        before = application.documents.scene
        for path in ("droplets.friction", "droplets.count", "world.columns", "view.sun_height"):
            for part in (0.02, 0.5, 0.98):
                engine.mouse_move_to_pos(at(driver, path, part))
                engine.mouse_click()
        assert application.documents.scene == before
        assert not imgui.get_io().want_text_input

        path = "droplets.friction"
        declaration = DECLARATIONS[path]
        start = slider_part(declaration, application.documents.scene.droplets.friction)
        engine.mouse_move_to_pos(at(driver, path, 0.9))  # far from where the value is
        engine.mouse_down()
        engine.mouse_move_to_pos(imgui.get_mouse_pos() + imgui.ImVec2(60.0, 0.0))
        engine.yield_(2)
        expected = start + (60.0 - CLICK_REACH) / width_of(driver, path)
        held = application.documents.scene.droplets.friction
        assert slider_part(declaration, held) == pytest.approx(expected, abs=0.02)
        driver.wait_for(lambda: running_scene(application).droplets.friction == held, "what the simulation was told")
        engine.key_press(int(imgui.Key.escape))
        engine.yield_(2)
        assert application.documents.scene == before
        driver.wait_for(
            lambda: running_scene(application).droplets.friction == before.droplets.friction,
            "what the simulation was told",
        )
        engine.mouse_move_to_pos(imgui.get_mouse_pos() - imgui.ImVec2(30.0, 0.0))
        engine.mouse_up()
        engine.yield_(2)
        assert application.documents.scene == before, "it went on after Esc"

        engine.key_down(int(imgui.Key.mod_shift))
        engine.item_drag_with_delta(driver.widget(path), imgui.ImVec2(60.0, 0.0))
        engine.key_up(int(imgui.Key.mod_shift))
        fine = slider_part(declaration, application.documents.scene.droplets.friction) - start
        assert 0.0 < fine < 0.15 * (expected - start)

    drive(test, WITHOUT_DROPS.with_value("droplets.friction", 0.1), draws_land=False)


def test_a_field_opens_with_the_value_and_what_is_typed_is_taken_or_said() -> None:
    cases = [
        ("world.relief", "-500", 300.0, "relief: -500 is out of its range, 0 or from 0.001 to 9 000 m; it stays 300 m"),
        ("world.columns", "5000000", 64, "columns: 5000000 is out of its range, 0 or from 8 to 8 192 cells; it stays"),
        ("world.seed", "many", 1, 'seed: "many" is not a number; it stays 1'),
        ("world.seed", "99999999999", 1, "seed: 99999999999 is out of its range"),
        ("world.seed", "77", 77, ""),
        ("droplets.friction", "rough", 0.05, 'friction: "rough" is not a number; it stays 0.05 1/t'),
        ("droplets.friction", "0.123456", 0.123456, ""),
        ("droplets.count", "2 345", 2345, ""),
    ]

    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        for number, (path, typed, taken, line) in enumerate(cases):
            before = application.documents.scene.value(path)
            engine.mouse_move_to_pos(at(driver, path, 0.2 + 0.08 * number))  # no third click in one place
            engine.mouse_double_click()
            engine.yield_(2)
            assert imgui.get_io().want_text_input, path
            assert application.documents.scene.value(path) == before, path
            engine.key_chars_replace(typed)
            engine.yield_(2)
            assert application.documents.scene.value(path) == before, "taken before it was finished"
            assert not said(driver)
            engine.key_press(int(imgui.Key.enter))
            engine.yield_(2)
            assert application.documents.scene.value(path) == taken, path
            assert [text.startswith(line) for text in said(driver)] == ([True] if line else [])
            for notice in application.notices.shown():
                application.notices.dismiss(notice)

    drive(test, WITHOUT_DROPS.with_values({"world.relief": 300.0, "droplets.friction": 0.05}), draws_land=False)


def test_escape_and_a_click_elsewhere_make_no_world() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        assert application.snapshot is not None
        before, world = application.documents.scene, application.snapshot.world

        places = iter((0.2, 0.35, 0.5, 0.65, 0.8))  # no third click in one place

        def type_into(path: str, text: str) -> None:
            engine.mouse_move_to_pos(at(driver, path, next(places)))
            engine.mouse_double_click()
            engine.yield_(2)
            engine.key_chars_replace(text)

        for path, text in (("world.columns", "5000"), ("world.seed", "9"), ("droplets.friction", "0.7")):
            type_into(path, text)
            engine.key_press(int(imgui.Key.escape))
            engine.yield_(2)
            assert application.documents.scene == before, path
        type_into("world.columns", "5000")
        engine.mouse_move_to_pos(at(driver, "world.relief", 0.5))
        engine.mouse_click()
        engine.yield_(2)
        assert application.documents.scene == before
        assert said(driver) == ["columns: not changed; Enter takes what was typed"]
        type_into("droplets.friction", "0.7")
        engine.mouse_move_to_pos(at(driver, "droplets.density", 0.5))
        engine.mouse_click()
        engine.yield_(2)
        assert application.documents.scene.droplets.friction == 0.7, "what acts while it runs is taken as it is left"
        driver.let_pass(2.0 * RESTART_DELAY)
        assert application.documents.are_shown and application.snapshot.world == world

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_what_holds_is_shown_and_a_drag_begins_there() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        assert application.snapshot is not None
        relief = application.snapshot.highest - application.snapshot.lowest
        engine.mouse_move_to_pos(at(driver, "world.relief", 0.5))
        engine.mouse_down()
        engine.mouse_move_to_pos(imgui.get_mouse_pos() + imgui.ImVec2(CLICK_REACH + 20.0, 0.0))
        engine.mouse_up()
        engine.yield_(2)
        declaration = DECLARATIONS["world.relief"]
        part = slider_part(declaration, relief) + 20.0 / width_of(driver, "world.relief")
        assert slider_part(declaration, application.documents.scene.world.relief) == pytest.approx(part, abs=0.02)
        engine.mouse_move_to_pos(at(driver, "world.columns", 0.5))
        engine.mouse_double_click()
        engine.yield_(2)
        engine.key_press(int(imgui.Key.enter))
        engine.yield_(2)
        assert application.documents.scene.world.columns == 0, "it was not changed"

    drive(
        test,
        Scene().with_values({"world.source": "noise", "world.rows": 48, "droplets.enabled": False}),
        draws_land=False,
    )


def test_a_tooltip_stands_beside_the_panel() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        engine = driver.engine
        panel = engine.window_info("//Panel").window
        for path in ("world.relief", "view.sun_height"):
            engine.mouse_move_to_pos(at(driver, path, 0.5))
            driver.let_pass(1.5)
            tooltips = [
                window
                for window in imgui.get_current_context().windows
                if window.active and window.flags & imgui.WindowFlags_.tooltip.value
            ]
            assert tooltips, path
            for tooltip in tooltips:
                assert tooltip.pos.x + tooltip.size.x <= panel.pos.x
                assert tooltip.pos.y >= 0.0
                assert tooltip.pos.y + tooltip.size.y <= imgui.get_main_viewport().size.y

    drive(test, WITHOUT_DROPS, draws_land=False)


@pytest.mark.parametrize("source", ["noise", "island"])
def test_no_name_of_a_parameter_and_no_value_is_cut_off(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []
    label, value = ParameterRows._label, ParameterRows._value

    def seen_label(rows: ParameterRows, declaration: Declaration, facts: ParameterFacts, width: float) -> None:
        label(rows, declaration, facts, width)
        if imgui.calc_text_size(declaration.label).x > room_for_label(facts, width):
            cut.append(f"{declaration.path}: {imgui.calc_text_size(declaration.label).x} in {width}")

    def seen_value(rows: ParameterRows, declaration: Declaration, facts: ParameterFacts, width: float) -> None:
        if declaration.kind in (int, float):
            for number in (declaration.low, declaration.default, declaration.high):
                if imgui.calc_text_size(number_text(declaration, number)).x > width:
                    cut.append(f"{declaration.path} = {number}")
        value(rows, declaration, facts, width)

    monkeypatch.setattr(ParameterRows, "_label", seen_label)
    monkeypatch.setattr(ParameterRows, "_value", seen_value)

    def test(driver: Driver) -> None:
        have_land(driver)
        driver.open_all_sections()
        assert sorted(set(cut)) == []

    drive(test, SMALL.with_values({"droplets.enabled": False, "world.source": source}), draws_land=False)


def test_a_slider_that_costs_moves_freely_as_long_as_a_cycle_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 1000 drops a cycle takes half a second here: to twice as many a drag is free, and then it goes on slowly."""
    path = "droplets.count"

    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        status = application.simulation.status
        told = dataclasses.replace(status, milliseconds={"droplets": 400.0, "cascade": 100.0})
        monkeypatch.setattr(SimulationThread, "status", property(lambda thread: told))
        width = width_of(driver, path)

        def drag(by: float) -> int:
            engine.mouse_move_to_pos(at(driver, path, 0.2))
            engine.mouse_down()
            for _ in range(10):
                engine.mouse_move_to_pos(imgui.get_mouse_pos() + imgui.ImVec2(0.1 * by, 0.0))
                engine.yield_(2)
            return int(application.documents.scene.value(path))

        held = drag(0.4 * width)
        drawn = application.panel._rows._widgets._drag
        assert drawn is not None and drawn.is_costly and 2250 <= int(drawn.value) < 4000
        assert held <= 2250, "it was applied before it was let go"
        engine.mouse_up()
        engine.yield_(2)
        assert application.documents.scene.value(path) == drawn.value
        drag(-0.2 * width)
        engine.mouse_up()
        engine.yield_(2)
        assert application.documents.scene.value(path) < 1500
        monkeypatch.undo()

    drive(test, SMALL.with_values({path: 1000}), draws_land=False)
