"""The panel in a small window: half of it at most, and no text is cut off."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from imgui_bundle import imgui

from app.window.events import Event
from app.window.panel import WINDOW
from app.window.viewer import Viewer
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_panel import have_land

SMALLEST = (480, 320)


def test_in_the_smallest_window_it_takes_at_most_half_and_shows_its_lines_whole() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        panel = imgui.internal.find_window_by_name(WINDOW)
        assert 0.2 * SMALLEST[0] < panel.size.x <= 0.5 * SMALLEST[0]
        driver.unfold("droplets")
        driver.engine.yield_(2)
        rows = driver.engine.window_info(f"//{WINDOW}/parameters").window
        assert rows.content_size.x <= rows.inner_rect.max.x - rows.inner_rect.min.x + 2.0  # rounded
        assert rows.content_size.y > rows.size.y

    drive(test, SMALL, size=SMALLEST, draws_land=False)


def test_it_is_narrowed_with_its_window_and_gets_its_width_back(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [(1280, 800)]
    lay_out = Viewer.frame

    def of_size(self: Viewer, events: Sequence[Event], dt: float, width: float, height: float, scale: float) -> None:
        imgui.get_main_viewport().work_size = imgui.get_main_viewport().size = imgui.ImVec2(*sizes[-1])
        lay_out(self, events, dt, *sizes[-1], scale)

    monkeypatch.setattr(Viewer, "frame", of_size)

    def test(driver: Driver) -> None:
        have_land(driver)
        panel = imgui.internal.find_window_by_name(WINDOW)
        before = panel.size.x
        for size, widest in ((SMALLEST, 0.5 * SMALLEST[0]), ((700, 500), 0.5 * 700), ((1280, 800), before)):
            sizes.append(size)
            driver.engine.yield_(4)
            assert 0.2 * size[0] < panel.size.x <= widest
        assert panel.size.x == before

    drive(test, SMALL, draws_land=False)
