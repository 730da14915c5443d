"""Brushes in the window: chosen by keys and buttons, drawn with the mouse, seen at once, undone in one step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from imgui_bundle import imgui

from app.scene.edits import Stroke
from app.window.application import Application
from app.window.commands import moments
from app.window.events import Button, ButtonPressed, ButtonReleased, Scrolled
from tests.gui.few_tools import GROUPS, few_tools
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_rivers import MIDDLE, have_land
from tests.nets.profile import is_nightly

SCENE = SMALL.with_values({"view.quality": "low", "droplets.enabled": False})


def drag(driver: Driver, *places: tuple[float, float], **held: bool) -> None:
    """Press at the first place, move through the others, and let go."""
    driver.engine.mouse_move_to_pos(imgui.ImVec2(*places[0]))
    driver.viewer.handle(ButtonPressed(Button.LEFT, *places[0], **held))
    for place in places[1:]:
        driver.engine.mouse_move_to_pos(imgui.ImVec2(*place))
        driver.engine.yield_(2)
    driver.viewer.handle(ButtonReleased(Button.LEFT))
    driver.engine.yield_(2)


def ground(application: Application) -> np.ndarray:
    assert application.snapshot is not None
    return application.snapshot.ground().astype(np.float64)


def strokes(application: Application) -> list[Stroke]:
    status = application.simulation.status
    edits = application.simulation.session.timeline.edits_of(status.moment)
    return [edit.request for edit in edits if isinstance(edit.request, Stroke)]


def test_each_tool_is_drawn_with_and_undone_in_one_step() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        x, y = MIDDLE
        for name, tool in few_tools().items():
            application.brushing.choose(name)
            before, done, moment = ground(application), len(application.undo.done), application.simulation.status.moment
            drag(driver, (x - 60.0, y), (x, y + 10.0), (x + 60.0, y))
            driver.wait_for(lambda done=done: len(application.undo.done) > done, f"a step of {name}")
            if tool.act is None:
                continue
            assert strokes(application)[-1].tool == name
            assert application.undo.done[-1].name.startswith(tool.label)
            # Through the snapshots that follow
            driver.engine.yield_(4)
            moments.undo(application)
            driver.wait_for(lambda: not application.history.is_going, f"before {name}")
            driver.wait_for(
                lambda before=before: np.array_equal(ground(application), before), f"the land before {name}"
            )
            assert application.simulation.status.moment.edits == moment.edits or tool.needs

    drive(test, SCENE, draws_land=is_nightly())


def test_the_land_rises_under_the_pointer_while_it_is_drawn() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("raise")
        before = ground(application)
        hit = application.views.ground_under(*MIDDLE)
        assert hit is not None
        cell = application.views.cell_at(hit.x, hit.z)
        driver.viewer.handle(ButtonPressed(Button.LEFT, *MIDDLE))
        driver.wait_for(lambda: bool(ground(application)[cell] > before[cell] + 1.0), "land that rises")
        height = ground(application)[cell]
        driver.wait_for(lambda: bool(ground(application)[cell] > height + 1.0), "land that goes on rising")
        driver.viewer.handle(ButtonReleased(Button.LEFT))
        driver.wait_for(lambda: len(application.undo.done) == 1, "the end of the stroke")
        lockstep = application.simulation.session.lockstep
        assert lockstep is not None
        world = lockstep.simulators[0].world
        driver.wait_for(lambda: np.allclose(ground(application), world.ground, atol=1e-3), "all that was drawn")
        height = float(world.ground[cell])
        driver.engine.yield_(20)
        assert world.ground[cell] == height
        assert len(application.undo.done) == 1

    drive(test, SCENE)


def test_the_window_rests_until_land_with_a_touch_comes_and_draws_what_has_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.window.brushing.LONGEST_WAIT", math.inf)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        brushing, side = application.brushing, application.side
        brushing.choose("raise")
        monkeypatch.setattr(application.simulation, "take", lambda **_: ())
        brushing.press(*MIDDLE, shift=False, control=False)
        assert brushing.awaits_land and 0.0 < driver.viewer.rest <= 0.1
        monkeypatch.setattr("app.window.brushing.LONGEST_WAIT", -1.0)
        assert not brushing.awaits_land, "for as long as it may"
        monkeypatch.setattr("app.window.brushing.LONGEST_WAIT", math.inf)
        application.sides.pictures += 1  # one without the touch
        assert application.snapshot is not None
        for drawn in (False, True):
            side._drawn_version = application.snapshot.version if drawn else -1
            brushing.update(1.0)
            assert brushing.awaits_land == drawn, "the land at hand is drawn before other land is awaited"
        brushing.release()
        monkeypatch.undo()

    drive(test, SCENE, draws_land=is_nightly())


def test_with_control_the_contrary_is_done_and_with_alt_the_camera_moves() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("raise")
        x, y = MIDDLE
        drag(driver, (x, y), (x + 30.0, y), control=True)
        driver.wait_for(lambda: len(application.undo.done) == 1, "a step")
        assert strokes(application)[-1].tool == "lower"
        application.brushing.choose("clear")  # all plants, which cannot be sown
        drag(driver, (x, y), (x + 30.0, y), control=True)
        driver.wait_for(lambda: len(application.undo.done) == 2, "another step")
        assert (strokes(application)[-1].tool, strokes(application)[-1].choice) == ("sow", "grass")
        heading = application.camera.parameters().heading
        drag(driver, (x, y), (x + 80.0, y), alt=True)
        driver.engine.yield_(10)
        assert application.camera.parameters().heading != heading
        assert len(application.undo.done) == 2

    drive(test, SCENE, draws_land=is_nightly())


def test_a_straight_line_joins_the_last_stroke_with_shift() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("raise")
        application.brushing.set("radius", 0.03)
        x, y = MIDDLE
        drag(driver, (x - 100.0, y))
        drag(driver, (x + 100.0, y), shift=True)
        driver.wait_for(lambda: len(application.undo.done) == 2, "two steps")
        places = np.array([dab[:2] for dab in strokes(application)[-1].dabs])
        way = np.diff(places, axis=0)
        assert len(places) > 5
        cross = way[:, 0] * way[0, 1] - way[:, 1] * way[0, 0]
        assert np.abs(cross).max() < 1e-3 * (way**2).sum(axis=1).max()

    drive(test, SCENE, draws_land=is_nightly())


def test_keys_and_wheel_change_the_brush() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        brushing = application.brushing
        driver.press("V")
        assert brushing.tool_name == "raise"
        for number, group in enumerate(GROUPS, 1):
            next(a for a in actions() if a.keys == (str(number),)).run(application)
            assert brushing.tool is not None and brushing.tool.group == group
        first = brushing.tool_name
        driver.press("V")
        assert not brushing.is_active
        driver.press("V")
        assert brushing.tool_name == first
        x, y = MIDDLE
        for keys, held, name in (
            (("+", "-"), "control", "radius"),
            (("I", "U"), "shift", "strength"),
            (("Shift+I", "Shift+U"), "alt", "hardness"),
            (("Shift+Y", "Y"), "shift control", "spacing"),
        ):
            before = getattr(brushing.settings, name)
            next(a for a in actions() if keys[0] in a.keys).run(application)
            assert getattr(brushing.settings, name) > before
            next(a for a in actions() if keys[1] in a.keys).run(application)
            assert getattr(brushing.settings, name) == pytest.approx(before)
            distance = application.camera.parameters().distance
            driver.viewer.handle(Scrolled(1.0, x, y, **dict.fromkeys(held.split(), True)))
            assert getattr(brushing.settings, name) > before
            driver.engine.yield_(5)
            assert application.camera.parameters().distance == distance
        driver.press("Esc")
        assert not brushing.is_active

    drive(test, SCENE, draws_land=is_nightly())


def actions() -> tuple:  # type: ignore[type-arg]
    from app.window.actions import ACTIONS

    return ACTIONS


def test_where_water_goes_that_is_poured_on_dry_ground_is_said() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("pour")
        driver.engine.yield_(3)
        application.brushing.press(*MIDDLE, shift=False, control=False)
        application.brushing.release()
        assert any("lowest hollow" in notice.text for notice in application.notices.shown())

    drive(test, SCENE, draws_land=is_nightly())


def test_the_toolbar_chooses_and_goes_away_with_tab() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.engine.set_ref("//##toolbar")
        driver.engine.item_click("###brush_water")
        driver.engine.yield_(3)
        assert application.brushing.tool_name == "pour"
        driver.engine.set_ref("//##brush")
        driver.engine.item_click("###tool river bed")
        assert application.brushing.tool_name == "river bed"
        driver.engine.set_ref("//##toolbar")
        driver.engine.item_click("###pointer")
        assert not application.brushing.is_active
        driver.press("Tab")
        assert not imgui.internal.find_window_by_name("##toolbar").active

    drive(test, SCENE, draws_land=is_nightly())


def test_a_rate_is_seen_where_it_was_painted_before_any_cycle_runs() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("rain")
        driver.wait_for(lambda: application.documents.scene.view.overlay == "rain_field", "its overlay")
        driver.wait_for_picture()
        before, cycle = driver.look().astype(int), application.simulation.status.cycle
        x, y = MIDDLE
        drag(driver, (x - 20.0, y), (x + 20.0, y))
        driver.engine.mouse_move_to_pos(imgui.ImVec2(x + 150.0, y - 100.0))  # the ring is elsewhere
        driver.wait_for(lambda: len(application.undo.done) == 1, "the stroke")

        def is_rainier() -> bool:
            return application.snapshot is not None and bool(application.snapshot.layers["rate_rain"].max() > 1.1)

        driver.wait_for(is_rainier, "land with more rain")
        driver.wait_for_picture()
        assert application.simulation.status.cycle == cycle
        around = np.s_[int(y) - 8 : int(y) + 8, int(x) - 8 : int(x) + 8]
        red, green, _ = (driver.look().astype(int) - before)[around].mean(axis=(0, 1))
        assert green - red > 20.0, "more rain is green"

    drive(test, SCENE)


def test_only_the_world_under_the_pointer_is_painted() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.wait_for(lambda: len(application.sides.shown) == 2, "two worlds")
        application.brushing.choose("raise")
        right = application.layout.corner(application.sides.shown[1])[0] + 150.0
        drag(driver, (right, MIDDLE[1]), (right + 20.0, MIDDLE[1]))
        driver.wait_for(lambda: len(application.undo.done) == 1, "a step")
        assert strokes(application)[-1].world == 1

    drive(test, SCENE, SCENE, draws_land=is_nightly())
