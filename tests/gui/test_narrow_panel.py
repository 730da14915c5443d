"""The panel in a small window: half of it at most, and no text is cut off."""

from __future__ import annotations

from imgui_bundle import imgui

from app.window.panel import WINDOW
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

    drive(test, SMALL, size=SMALLEST)
