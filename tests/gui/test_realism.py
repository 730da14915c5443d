"""The section on realism: it measures while it is open, shows what it finds at all sizes of text, and rests else."""

from __future__ import annotations

import pytest
from imgui_bundle import imgui

from app.model.realism import MEASURES, Realism
from app.scene.scene import Scene
from app.sources.parameters import WorldParameters
from app.window.actions import BY_NAME
from app.window.application import Application
from app.window.panel import realism as section
from tests.gui.host import Driver, drive

SCENE = (
    Scene(world=WorldParameters(source="noise", columns=160, rows=120))
    .with_value("rivers.interval", 3)
    .with_value("view.quality", "low")
    .with_value("view.minimap", False)
)


def have_land(driver: Driver) -> Application:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.mouse_move_to_pos(imgui.ImVec2(300.0, 400.0))  # off the menus
    driver.engine.yield_(3)
    return driver.application


def found(application: Application) -> Realism | None:
    survey = application.snapshot.survey if application.snapshot else None
    return survey.realism if survey else None


def open_section(driver: Driver) -> Realism:
    application = driver.application
    application.panel.show_only("realism")
    driver.wait_for(lambda: found(application) is not None, "measures")
    driver.engine.yield_(3)
    realism = found(application)
    assert realism is not None
    return realism


def test_it_measures_at_intervals_while_it_is_open_and_not_without() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.wait_for(lambda: bool(application.snapshot and application.snapshot.survey), "streams of the picture")
        assert application.snapshot is not None and application.snapshot.survey is not None
        assert found(application) is None
        before = application.snapshot.survey
        first = open_section(driver)
        assert first.cycle == 0
        assert first.values.keys() == {each.name for each in MEASURES}
        assert application.snapshot.survey is not None
        assert application.snapshot.survey.layers.keys() == before.layers.keys(), "no rivers"
        driver.engine.yield_(20)
        assert found(application) is first  # while nothing changes
        BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.cycle == 1, "a cycle")
        assert found(application) is first
        for _ in range(2):
            BY_NAME["step"].run(application)
        driver.wait_for(lambda: found(application) not in (None, first), "new measures")
        assert (later := found(application)) and later.cycle == 3
        assert later.values != first.values
        application.panel.show_only("performance")
        for _ in range(3):
            BY_NAME["step"].run(application)
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.cycle == 6, "cycles")
        driver.engine.yield_(5)
        assert found(application) in (None, later), "it measures though nobody looks"

    drive(test, SCENE, draws_land=False)


# The least and the most that has to fit, and what is between
IN_CHECK = ((1.0, 1), (1.5, 2), (2.0, 4))


@pytest.mark.parametrize(
    ("scale", "worlds"),
    [
        pytest.param(scale, worlds, marks=() if (scale, worlds) in IN_CHECK else pytest.mark.nightly)
        for scale in (1.0, 1.5, 2.0)
        for worlds in (1, 2, 4)
    ],
)
def test_all_of_it_fits_into_a_small_window(scale: float, worlds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    free: list[tuple[float, float]] = []  # to both sides of each text
    ending_at = section._ending_at

    def noted(right: float, text: str, colour: section.Colour = section.TEXT) -> None:
        before = imgui.get_item_rect_max()
        ending_at(right, text, colour)
        begin, end = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        left = begin.x - (before.x if abs(before.y - end.y) < 2.0 else imgui.get_window_pos().x)
        free.append((left, imgui.get_window_pos().x + imgui.get_window_size().x - end.x))

    monkeypatch.setattr(section, "_ending_at", noted)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        open_section(driver)
        shown = application.sides
        driver.wait_for(lambda: all(each.survey and each.survey.realism for each in shown.snapshots), "all worlds")
        free.clear()
        driver.engine.yield_(3)
        window = driver.engine.window_info("//Panel/parameters").window
        assert window.content_size.x <= window.size.x
        assert len(free) >= worlds * len(MEASURES)
        assert all(left > 0.0 and right >= 0.0 for left, right in free)

    scenes = [SCENE.with_value("droplets.friction", 0.1 + 0.1 * world) for world in range(worlds)]
    drive(test, *scenes, size=(1024, 600), scale=scale, draws_land=False)


def test_help_comes_when_the_pointer_rests_on_a_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, ...]] = []
    monkeypatch.setattr(section, "tooltip_on_hover", lambda *lines: imgui.is_item_hovered() and shown.append(lines))
    places: dict[str, imgui.ImVec2] = {}
    mark = section._mark

    def noted(colour: section.Colour) -> None:
        places.setdefault(MEASURES[len(places) % len(MEASURES)].name, imgui.get_cursor_screen_pos())
        mark(colour)

    monkeypatch.setattr(section, "_mark", noted)

    def test(driver: Driver) -> None:
        have_land(driver)
        realism = open_section(driver)
        first = MEASURES[0]
        driver.engine.mouse_move_to_pos(imgui.ImVec2(places[first.name].x + 40.0, places[first.name].y + 6.0))
        driver.engine.yield_(5)
        assert realism.values[first.name] is not None
        assert shown[-1][:2] == (first.help, f"real terrain: {first.range_text}")
        assert (first.above in shown[-1]) == (first.verdict(realism.values[first.name]) == "above")

    drive(test, SCENE, draws_land=False)
