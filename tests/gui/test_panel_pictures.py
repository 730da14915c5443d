"""Pictures of the panel and the menus at three sizes of text, beside those that a person has found right.

They are kept with those of `tests/passes/test_screenshots.py`, and made anew in the same way.
"""

from __future__ import annotations

import numpy as np
import pytest
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.files.recorder import write_png
from app.scene.scene import DECLARATIONS
from app.window.commands import changes
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_panel import have_land
from tests.passes.test_screenshots import FOLDER, compare

SCENE = SMALL.with_values({"wind.enabled": True, "droplets.friction": 0.2, "view.minimap": False})


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_panel(scale: float, request: pytest.FixtureRequest) -> None:
    """What is at work with its essential sliders, one changed, one that is grey, and what is not at work; the menus."""
    pictures: list[NDArray[np.uint8]] = []

    def test(driver: Driver) -> None:
        application = have_land(driver)
        if "llvmpipe" not in application.sides.context.info["GL_RENDERER"]:
            pytest.skip("the references were drawn by llvmpipe")
        changes.change(application, "droplets.count", 2 * int(DECLARATIONS["droplets.count"].default))
        driver.wait_for(lambda: application.simulation.status.compiling is None, "kernels")
        driver.wait_for(lambda: not application.notices.shown() and not application.sides.drawing, "rest")
        driver.engine.yield_(20)
        pixels = driver.look().copy()
        window = imgui.internal.find_window_by_name("Panel")
        left, bottom = round(window.pos.x), round(window.pos.y + window.size.y)
        pixels[round(application.layout.top) :, :left] = 0  # the scene has pictures of its own
        pictures.append(pixels[:bottom])

    drive(test, SCENE, size=(1024, 600), scale=scale)
    name = f"panel-at-{scale:g}"
    if request.config.getoption("--regenerate-screenshots"):
        write_png(FOLDER / f"{name}.png", pictures[0])
    else:
        compare(name, pictures[0])
