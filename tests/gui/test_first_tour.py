"""The first tour: it points at things and goes on when they are done, and can be skipped for good."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imgui_bundle import imgui

from app.files.library import Library
from app.window.actions import BY_NAME
from app.window.application import Application
from app.window.commands import changes
from app.window.events import Button, ButtonPressed, ButtonReleased
from app.window.panel import first_tour
from app.window.panel.first_tour import STEPS
from app.window.panel.places import Rectangle, beside, place_of
from tests.gui.host import SMALL, Driver, drive

QUIET = SMALL.with_value("droplets.enabled", False)

length = st.floats(1.0, 300.0)


@given(st.tuples(st.floats(0.0, 900.0), st.floats(0.0, 500.0), length, length), st.tuples(length, length))
def test_a_box_stays_on_the_screen_and_covers_nothing_where_there_is_room(
    target: tuple[float, float, float, float], size: tuple[float, float]
) -> None:
    left, top, width, height = target
    thing, screen, gap = Rectangle(left, top, left + width, top + height), (1280.0, 720.0), 10.0
    box = beside(thing, size, screen, gap)
    assert box.left >= 0.0 and box.top >= 0.0 and box.right <= screen[0] and box.bottom <= screen[1]
    rooms = (
        thing.left - size[0], screen[0] - thing.right - size[0], thing.top - size[1], screen[1] - thing.bottom - size[1]
    )  # fmt: skip
    if max(rooms) >= gap:
        assert not box.overlaps(thing)


def begin(driver: Driver) -> Application:
    application = driver.application
    driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
    driver.engine.mouse_move_to_pos(imgui.ImVec2(400.0, 300.0))  # off the menus
    driver.engine.yield_(10)
    BY_NAME["begin_tour"].run(application)
    driver.engine.yield_(4)
    return application


def title(application: Application) -> str:
    step = application.panel.tour.step
    return step.title if step else ""


@pytest.mark.parametrize(
    ("size", "scale"),
    [((1280, 720), 1.0), pytest.param((1024, 600), 1.0, marks=pytest.mark.nightly), ((1024, 600), 2.0)],
)
def test_enter_leads_through_all_steps_that_have_something_to_point_at(size: tuple[int, int], scale: float) -> None:
    def test(driver: Driver) -> None:
        application = begin(driver)
        seen = []
        while (step := application.panel.tour.step) is not None:
            seen.append(step)
            targets = [place for name in step.at if (place := place_of(name))]
            box = driver.engine.window_info(f"//{first_tour.NAME}").window
            assert box is not None
            shown = Rectangle(box.pos.x, box.pos.y, box.pos.x + box.size.x, box.pos.y + box.size.y)
            assert shown.left >= 0.0 and shown.right <= size[0] and shown.top >= 0.0 and shown.bottom <= size[1]
            assert bool(targets) == bool(step.at)
            assert not (targets and shown.overlaps(targets[0])), step.title
            driver.engine.key_press(int(imgui.Key.enter))
            driver.engine.yield_(5)
        assert len(seen) >= 4 and seen == [step for step in STEPS if step in seen]

    drive(test, QUIET, size=size, scale=scale, draws_land=False)


def test_what_is_done_need_not_be_confirmed() -> None:
    def test(driver: Driver) -> None:
        application = begin(driver)
        assert title(application) == "Look around"
        driver.viewer.handle(ButtonPressed(Button.LEFT, 400.0, 300.0))
        driver.engine.mouse_move_to_pos(imgui.ImVec2(460.0, 300.0))
        driver.engine.yield_(4)
        assert title(application) == "Look around"  # until the drag ends
        driver.viewer.handle(ButtonReleased(Button.LEFT))
        driver.engine.yield_(4)
        assert title(application) == "Pause and speed"
        driver.press("Space")
        assert title(application) == "Change something"
        changes.change(application, "droplets.friction", 0.3)
        driver.engine.yield_(4)
        assert title(application) == "Other lands"
        driver.press("P")
        application.panel.gallery.close()
        driver.engine.yield_(6)
        assert title(application) not in ("", "Other lands")

    drive(test, QUIET, draws_land=False)


def test_it_follows_the_gallery_of_the_first_start_and_esc_skips_it_for_good(tmp_path: Path) -> None:
    library = Library(tmp_path)

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
        application.panel.gallery.open()
        driver.engine.yield_(3)
        application.panel.gallery.close()
        driver.engine.yield_(4)
        assert title(application) == "Look around"
        driver.press("Esc")
        assert title(application) == "" and not application.panel.tour.is_on

    drive(test, QUIET, library=library, draws_land=False)
    assert Library(tmp_path).welcome.tour

    def test_again(driver: Driver) -> None:
        application = driver.application
        application.panel.gallery.open()
        driver.engine.yield_(3)
        application.panel.gallery.close()
        driver.engine.yield_(4)
        assert title(application) == ""

    drive(test_again, QUIET, library=Library(tmp_path), draws_land=False)
