"""Rows of the panel that are out of sight: cheap, and all the same where they were."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from imgui_bundle import imgui

from app.window.commands import changes
from app.window.panel import sight
from app.window.panel.parameters import ParameterRows
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_panel import have_land

Place = tuple[float, ...]


def places(driver: Driver) -> dict[int, Place]:
    """What lies where in the panel, with how the keyboard takes it, in sight or not."""
    driver.engine.yield_(2)
    driver._refer_to_parameters()
    items = imgui.test_engine.TestItemList()
    driver.engine.gather_items(items, "")
    found = (items.get_by_index(number) for number in range(items.get_size()))
    return {item.id_: (item.item_flags, *item.rect_full.min, *item.rect_full.max) for item in found}


def window(driver: Driver) -> imgui.internal.Window:
    return driver.engine.window_info("//Panel/parameters").window


def scroll(driver: Driver, part: float) -> None:
    """From 0 at the top of the panel to 1 at its end."""
    imgui.internal.set_scroll_y(window(driver), part * window(driver).scroll_max.y)
    driver.engine.yield_(2)


@pytest.mark.parametrize("size", [(1280, 800), (480, 320)])  # labels stand beside their widgets, and above them
def test_all_items_are_where_they_would_be_in_sight(size: tuple[int, int]) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.panel.memory.state.unfolded = ["droplets", "climate", "wind"]
        driver.engine.yield_(2)
        for part in (0.0, 0.5, 1.0):
            scroll(driver, part)
            reserved, height = places(driver), window(driver).content_size.y
            with patch.object(sight, "is_needed", lambda *_: True):
                whole = places(driver)
                assert window(driver).content_size.y == height
            assert len(whole) > 60
            assert reserved.keys() == whole.keys()
            for item, place in whole.items():
                assert reserved[item] == pytest.approx(place, abs=0.01), "a hundredth of a pixel"

    drive(test, SMALL, size=size, draws_land=False)


def test_only_what_is_seen_or_used_is_there_as_a_whole() -> None:
    whole = set[str]()
    of_all = ParameterRows._whole_row

    def counted(self: ParameterRows, declaration: object, *widths: float) -> None:
        whole.add(declaration.path)  # type: ignore[attr-defined]
        of_all(self, declaration, *widths)  # type: ignore[arg-type]

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.open_all_sections()
        with patch.object(ParameterRows, "_whole_row", counted):
            scroll(driver, 0.0)
            whole.clear()
            driver.engine.yield_(2)
            rows = driver.rows()
            assert 5 < len(whole) < len(rows) / 3
            assert "view.exaggeration" in rows - whole
            changes.change(application, "view.exaggeration", 3.0)
            driver.engine.yield_(2)
            assert "view.exaggeration" in whole, "it has a button now, which resets it"
            driver.engine.scroll_to_item_y(driver.widget("view.fog"))
            whole.clear()
            driver.engine.yield_(2)
            assert "view.fog" in whole and "droplets.count" not in whole

    drive(test, draws_land=False)


def test_a_field_that_is_typed_in_is_kept_while_it_is_out_of_sight() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        engine.item_double_click(driver.widget("droplets.count"))
        engine.key_chars_replace("123")
        for part in (1.0, 0.0):
            scroll(driver, part)
        assert imgui.get_io().want_text_input
        engine.key_press(int(imgui.Key.enter))
        engine.yield_(2)
        assert application.documents.scene.droplets.count == 123

    drive(test, draws_land=False)


def test_what_the_keyboard_is_on_is_used_by_it_while_it_is_out_of_sight() -> None:
    def test(driver: Driver) -> None:
        application, engine = have_land(driver), driver.engine
        driver.open_all_sections()
        driver.press("F6")
        engine.nav_move_to(driver.widget("droplets.enabled"))
        assert imgui.get_current_context().nav_id == engine.item_info(driver.widget("droplets.enabled")).id_
        scroll(driver, 1.0)
        engine.key_press(int(imgui.Key.space))
        engine.yield_(3)
        assert not application.documents.scene.droplets.enabled

    drive(test, draws_land=False)
