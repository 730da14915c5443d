"""The start: time to the first picture, and to the first cycle on a clean machine."""

from __future__ import annotations

import contextlib
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.bench.display import display
from app.bench.row import Row
from app.model.errors import UserError
from app.scene.scene import DEFAULT_PRESET

log = logging.getLogger(__name__)

PATIENCE = 300.0  # seconds after which a measurement has failed
SCENES = {DEFAULT_PRESET: 10.0, "delta": 35.0}  # seconds to the first cycle

# Run as separate programs. The first has the preset, and what is changed in it as a setting.
FIRST_CYCLE = """
import sys, time
from app.files.opening import open_scene
from app.engine.thread import SimulationThread
scene = open_scene(sys.argv[1])
for setting in sys.argv[2:]:
    scene = scene.with_setting(setting)
simulation = SimulationThread(scene)
simulation.first_picture_shown.set()
simulation.start()
while simulation.status.cycle == 0 and simulation.status.state != "failed":
    time.sleep(0.01)
simulation.stop()
if simulation.status.cycle == 0:
    sys.exit(simulation.status.error)
print(simulation.compile_seconds)
"""
# The others have the preset, the file of the window's layout and settings, and end when the land is on the screen.
_OPENED = """
import os, pathlib, sys
from app.files.opening import open_scene
scene = open_scene(sys.argv[1])
for setting in sys.argv[3:]:
    scene = scene.with_setting(setting)
"""
FIRST_PICTURE_IN_WINDOW = f"""{_OPENED}
from app.window.loop import run
run(scene, layout_file=pathlib.Path(sys.argv[2]), on_first_picture=lambda: os._exit(0))
"""
FIRST_PICTURE_WITHOUT_WINDOW = f"""{_OPENED}
from app.cli.render import render
render([scene], [pathlib.Path(sys.argv[2]).with_suffix(".png")], frames=1, fps=30, size=(1280, 720))
"""


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    for preset, bar in SCENES.items():
        # A small scene with the smallest kernels shows the form of the rows, and takes some seconds, too.
        settings = ["pools.enabled=false", "droplets.enabled=false", "cascade.enabled=true"] if tiny else []
        name, settings = (DEFAULT_PRESET if tiny else preset), [*settings, *(["world.columns=32"] if tiny else [])]
        seconds, compiling = first_cycle_seconds(name, settings)
        yield Row(f"first cycle on an empty cache, {preset}", seconds, "s", bar)
        yield Row(f"compiling for it, on one core, {preset}", compiling, "s", None)
    screen, picture = first_picture_seconds(DEFAULT_PRESET, starts=1 if tiny else 3)
    yield Row(f"first picture, second start, {screen}", picture, "s", 0.8)


def first_cycle_seconds(preset: str, settings: list[str]) -> tuple[float | None, float | None]:
    """How long a new process takes from its start to its first cycle where nothing is compiled yet, without a window.

    And how much processor time its workers took to compile. Nothing is returned where that fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        begin = time.perf_counter()
        done = _run(FIRST_CYCLE, [preset, *settings], environment)
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        log.warning("the first cycle of %s does not come: %s", preset, _reason(done))
        return None, None
    return seconds, float(done.stdout)


def first_picture_seconds(preset: str, starts: int, settings: Sequence[str] = ()) -> tuple[str, float | None]:
    """How long a new process takes from its start to the land on the screen, and what kind of screen that was.

    The land is that of a preset with some settings changed.

    The first start fills the caches and does not count. Nothing is returned where the viewer does not start.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        try:
            (where, screen), script = stack.enter_context(display()), FIRST_PICTURE_IN_WINDOW
        except UserError:
            where, screen, script = "without a window (no display, no Xvfb)", {}, FIRST_PICTURE_WITHOUT_WINDOW
        seconds = []
        for _ in range(1 + starts):
            begin = time.perf_counter()
            done = _run(script, [preset, str(Path(folder) / "layout.ini"), *settings], {**os.environ, **screen})
            seconds.append(time.perf_counter() - begin)
            if done.returncode != 0:
                log.warning("the viewer does not start %s: %s", where, _reason(done))
                return where, None
        return where, statistics.median(seconds[1:])


def _run(script: str, arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE, check=False
    )


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
