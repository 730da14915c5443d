"""Rivers in the window: a click on the land, the lists of the panel, and what makes the simulation look for them."""

from __future__ import annotations

import numpy as np
from imgui_bundle import imgui

from app.model.numbers import area_text
from app.model.snapshot import Survey
from app.model.springs import read_springs
from app.window.application import Application
from app.window.commands import changes
from app.window.events import Button, ButtonPressed, ButtonReleased, PointerMoved
from tests.gui.host import SMALL, Driver, drive
from tests.nets.profile import is_nightly

SCENE = (
    SMALL.with_value("droplets.enabled", False)
    .with_value("rivers.threshold", 12)
    .with_value("rivers.watershed_size", 20)
    .with_value("view.quality", "low")
)
MIDDLE = (400.0, 420.0)  # a place of the scene where there is land


def have_land(driver: Driver) -> Application:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.mouse_move_to_pos(
        imgui.ImVec2(*MIDDLE)
    )  # off the menus, which lie where ImGui has its pointer at first
    driver.engine.yield_(3)
    return driver.application


def survey_of(application: Application) -> Survey | None:
    return application.snapshot.survey if application.snapshot else None


def wait_for_flow_path(driver: Driver) -> Survey:
    application = driver.application
    driver.wait_for(lambda: bool((survey := survey_of(application)) and survey.flow_path), "the way of the water")
    survey = survey_of(application)
    assert survey is not None
    return survey


def click_on_land(driver: Driver) -> None:
    driver.engine.mouse_move_to_pos(imgui.ImVec2(*MIDDLE))
    driver.engine.mouse_click(0)
    driver.engine.yield_(3)


def test_a_click_on_the_land_follows_its_water_and_escape_forgets_it() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        assert survey_of(application) is None
        click_on_land(driver)
        survey = wait_for_flow_path(driver)
        assert survey.flow_path is not None
        assert application.watching.asked_place == survey.flow_path.asked
        row, column = survey.flow_path.asked
        place = application.camera.ground_under(MIDDLE[0], MIDDLE[1] - application.layout.top)
        assert place is not None
        assert (row, column) == (int(place.z // 20.0), int(place.x // 20.0))
        assert survey.layers["catchment"][survey.flow_path.row, survey.flow_path.column] == 1.0
        # Drawn, though neither cycle nor camera have changed
        driver.wait_for(lambda: tuple(survey.versions.items()) in (application.side._drawn or ()), "a picture of it")  # type: ignore[operator]
        driver.press("Esc")
        assert application.watching.asked_place is None
        driver.wait_for(lambda: survey_of(application) is None, "no survey")

    drive(test, SCENE)


def test_a_drag_or_a_press_on_the_minimap_asks_nothing_and_the_sky_forgets() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)

        def pointer(*events: object) -> None:
            for event in events:
                driver.viewer.handle(event)  # type: ignore[arg-type]

        x, y = MIDDLE
        driver.engine.mouse_move_to_pos(imgui.ImVec2(x, y))  # away from the menus, which would take a press
        pointer(ButtonPressed(Button.LEFT, x, y), PointerMoved(x + 30.0, y), ButtonReleased(Button.LEFT))
        assert application.watching.asked_place is None
        pointer(ButtonPressed(Button.RIGHT, x, y), ButtonReleased(Button.RIGHT))
        pointer(ButtonPressed(Button.LEFT, x, y, shift=True), ButtonReleased(Button.LEFT))
        assert application.watching.asked_place is None
        left, _, width = application.layout.place_above_minimap(with_minimap=application.documents.scene.view.minimap)
        pointer(ButtonPressed(Button.LEFT, left + 0.5 * width, 700.0), ButtonReleased(Button.LEFT))
        assert application.watching.asked_place is None
        pointer(ButtonPressed(Button.LEFT, x, y), PointerMoved(x + 2.0, y), ButtonReleased(Button.LEFT))
        assert application.watching.asked_place is not None
        pointer(ButtonPressed(Button.LEFT, x, 20.0), ButtonReleased(Button.LEFT))
        assert application.watching.asked_place is None
        application.watching.ask_about((4, 5))
        world = application.snapshot.world if application.snapshot else 0
        application.documents.restart("reset")
        driver.wait_for(lambda: bool(application.snapshot and application.snapshot.world != world), "another world")
        assert application.watching.asked_place is None

    drive(test, SCENE)


def test_the_open_section_lists_lakes_and_mouths_and_a_click_shows_one() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        for section in ("world", "processes"):
            driver.engine.item_close(driver.section(section))
        driver.engine.item_open(driver.section("rivers"))
        driver.wait_for(lambda: bool((survey := survey_of(application)) and survey.mouths), "a survey")
        survey = survey_of(application)
        assert survey is not None
        driver.engine.yield_(3)
        mouth = survey.mouths[1]
        driver._refer_to_parameters()
        driver.engine.item_click("**/###mouths 1")
        flow_path = wait_for_flow_path(driver).flow_path
        assert flow_path is not None
        assert application.watching.asked_place == flow_path.asked == (mouth.row, mouth.column)
        driver.engine.yield_(10)
        goal = application.camera.goal().target
        assert (int(goal.z // 20.0), int(goal.x // 20.0)) == (mouth.row, mouth.column)
        driver.engine.item_click("**/###forget place")
        driver.engine.yield_(2)
        assert application.watching.asked_place is None
        driver.engine.item_close(driver.section("rivers"))
        driver.wait_for(lambda: survey_of(application) is None, "no survey any more")

    drive(test, SCENE, draws_land=False)


def test_the_section_lists_falls_and_a_click_shows_one() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        for section in ("world", "processes"):
            driver.engine.item_close(driver.section(section))
        driver.engine.item_open(driver.section("rivers"))
        driver.wait_for(lambda: bool((survey := survey_of(application)) and survey.falls), "falls")
        survey = survey_of(application)
        assert survey is not None
        driver.engine.yield_(3)
        fall = survey.falls[0]
        assert fall.height == max(each.height for each in survey.falls) > 0.0
        driver._refer_to_parameters()
        driver.engine.item_click("**/###falls 0")
        flow_path = wait_for_flow_path(driver).flow_path
        assert flow_path is not None
        assert application.watching.asked_place == flow_path.asked == (fall.row, fall.column)

    drive(test, SCENE.with_value("world.relief", 3000.0), draws_land=False)


def test_overlays_make_the_simulation_look_for_rivers_and_the_filling_moves_while_it_is_paused() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        changes.change(application, "view.overlay", "rivers")
        driver.wait_for(lambda: survey_of(application) is not None, "rivers")
        changes.change(application, "rivers.threshold", 4)
        threshold_was_12 = survey_of(application)
        driver.wait_for(lambda: survey_of(application) is not threshold_was_12, "more rivers")
        changes.change(application, "view.overlay", "filling")
        driver.wait_for(lambda: bool((survey := survey_of(application)) and survey.filled), "the last front")
        assert application.snapshot is not None
        assert application.snapshot.cycle == 0
        driver.engine.item_close(driver.section("world"))
        driver.engine.item_close(driver.section("processes"))
        driver.engine.item_open(driver.section("rivers"))
        driver.engine.yield_(3)
        driver._refer_to_parameters()
        driver.engine.item_click("**/###fill again")
        driver.wait_for(lambda: bool((survey := survey_of(application)) and not survey.filled), "the first front")
        changes.change(application, "view.overlay", "none")

    drive(test, SCENE, draws_land=is_nightly())


def test_springs_are_placed_and_ended_by_a_click_with_control() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)

        def click(x: float, y: float) -> None:
            driver.viewer.handle(ButtonPressed(Button.LEFT, x, y, control=True))
            driver.viewer.handle(ButtonReleased(Button.LEFT))

        x, y = MIDDLE
        driver.engine.mouse_move_to_pos(imgui.ImVec2(x, y))  # away from the menus, which would take a press
        click(x, y)
        click(x + 150.0, y)
        springs = read_springs(application.documents.scene.droplets.springs)
        assert len(springs) == 2
        assert application.watching.asked_place is None
        assert all(0.0 <= spring.south <= 1.0 and spring.drops == 100.0 for spring in springs)
        click(x, y)
        assert read_springs(application.documents.scene.droplets.springs) == springs[1:]
        click(x, 20.0)  # the sky
        assert len(read_springs(application.documents.scene.droplets.springs)) == 1

    drive(test, SCENE, draws_land=False)


def test_a_click_on_a_slope_says_how_little_drains_there_and_leaves_the_light_on() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        snapshot = application.snapshot
        assert snapshot is not None
        ground = snapshot.ground()
        inner = ground[4:-4, 4:-4]
        peak, valley = (
            tuple(int(part) + 4 for part in np.unravel_index(int(place), inner.shape))
            for place in (inner.argmax(), inner.argmin())
        )
        driver.wait_for_picture()
        before = driver.look()[150:600, 100:700].mean()
        for place, words in ((peak, "only "), (valley, "highlighted: the ")):
            application.watching.ask_about_water((place[0], place[1]))
            survey = wait_for_flow_path(driver)
            driver.wait_for(lambda: bool(application.notices.shown()), "a word")
            (notice,) = application.notices.shown()
            assert survey.flow_path is not None and notice.text.startswith(
                words + area_text(survey.flow_path.catchment)
            )
            driver.wait_for_picture()
            darker = before - driver.look()[150:600, 100:700].mean()
            assert darker < 2.0 if place is peak else darker > 8.0
            application.watching.ask_about(None)
            driver.wait_for(
                lambda: not ((survey := survey_of(application)) and survey.flow_path), "the place to be left"
            )
            application.notices.dismiss(notice)

    drive(test, SCENE)
