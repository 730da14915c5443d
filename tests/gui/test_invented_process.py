"""A process that somebody adds has its group in the panel: title, switch, time and parameters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.window.actions import BY_NAME
from tests.app.small import small_scene
from tests.gui.host import Driver, drive

ROOT = Path(__file__).parent.parent.parent

# Beside this program: see tests/app/test_invented_process.py.
PROGRAM = """
import tests.app.invented
from tests.gui.test_invented_process import check_panel
check_panel()
"""


def test_the_panel_shows_an_invented_process() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check_panel() -> None:
    """What the test above asserts."""

    def test(driver: Driver) -> None:
        simulation = driver.application.simulation
        driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
        BY_NAME["step"].run(driver.application)
        driver.wait_for(lambda: "snowfall" in simulation.status.milliseconds, "a cycle with snow")
        driver.open_all_sections()
        for parameter in ("snowfall.enabled", "snowfall.depth"):
            assert driver.engine.item_exists(driver.widget(parameter)), parameter
        driver.engine.item_click(driver.widget("snowfall.enabled"))
        driver.wait_for(lambda: simulation.scenes[0].value("snowfall.enabled") is False, "the snow to end")

    drive(test, small_scene(snowfall__enabled=True, droplets__enabled=False))
