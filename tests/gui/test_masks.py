"""Where a brush acts is picked with sliders, and seen while they move."""

from __future__ import annotations

import numpy as np
import pytest

from app.window.panel.mask_picker import mask_map, round_range
from tests.gui.host import Driver, drive
from tests.gui.test_brushes import SCENE, drag, ground, strokes
from tests.gui.test_rivers import MIDDLE, have_land


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.4176, 58.93, (0.0, 59.0)),
        (-1.0, -1.0, (-1.0, -1.0)),
        (1203.7, 2811.2, (1200.0, 2900.0)),
        (0.0, 0.031, (0.0, 0.031)),
    ],
)
def test_the_ends_of_a_range_are_round_and_hold_all_of_it(
    low: float, high: float, expected: tuple[float, float]
) -> None:
    assert round_range(low, high) == expected


def test_a_mask_is_picked_by_sliders_and_holds_for_the_stroke() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        application.brushing.choose("raise")
        driver.engine.yield_(3)
        mask, x, y = application.panel._toolbar.mask, *MIDDLE
        driver.engine.set_ref("//##brush")
        driver.engine.combo_click("##mask by/###slope")
        driver.engine.yield_(2)
        assert mask.by == "slope" and mask.low < 5.0 < 40.0 < mask.high
        driver.engine.item_input_value("##mask to", 20.0)
        driver.engine.yield_(2)
        assert application.brushing.mask == f"(slope >= {mask.low:g}) * (slope <= 20)"
        land = mask._small_land()
        assert land is not None and mask._map is not None
        shown = mask_map(land, mask.text).astype(int)
        blue = shown[..., 2] - shown[..., 0] > 10
        assert np.mean(blue == (land.variable("slope") <= 20.0)) > 0.97
        before = ground(application)
        drag(driver, (x - 20.0, y), (x + 20.0, y))
        driver.wait_for(lambda: len(application.undo.done) == 1, "the stroke")
        driver.engine.yield_(6)
        assert strokes(application)[0].mask == mask.text
        steep = np.degrees(np.arctan(np.hypot(*np.gradient(before, 20.0)))) > 60.0
        assert (ground(application) - before > 0.1).any() and not (ground(application) - before)[steep].any()
        mask.choose("everywhere")
        driver.engine.yield_(2)
        assert application.brushing.mask == ""

    drive(test, SCENE, draws_land=False)
