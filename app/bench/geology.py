"""Geological time: cost of a step, the same work in a library, and time to the first picture of a range."""

from __future__ import annotations

import contextlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from app.bench import start
from app.bench.row import Row
from app.bench.yardstick import Yardstick
from app.processes.cycle import Cycle
from app.processes.geology import Geology
from app.scene.scene import Scene, load_preset

YEARS = 10_000.0
UPLIFT = 1e-3  # metres a year
CELL_SIZE = 60.0
PRESET = "young-range"
BARS = {512: 300_000.0, 1024: 1_300_000.0}  # yards

Step = Callable[[], object]

# Run as a program of its own: the preset, and the file of the picture.
FIRST_PICTURE = """
import pathlib, sys
from app.files.opening import open_scene
from app.cli.render import render
scene = open_scene(sys.argv[1])
for setting in sys.argv[3:]:
    scene = scene.with_setting(setting)
render([scene], [pathlib.Path(sys.argv[2])], frames=1, fps=30, size=(1280, 720))
"""


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    import numba

    yardstick = Yardstick()
    numba.set_num_threads(1)
    for side, bar in BARS.items():
        own = side // 16 if tiny else side
        step = step_of_ours(own)
        value = yards(step, 1 if tiny else 15, yardstick)
        yield Row(f"geology, a step with rivers, slopes and soil, {own}², one core", value, "yards", bar)
        with contextlib.suppress(ImportError):
            theirs = yards(step_of_fastscapelib(own), 1 if tiny else 5, yardstick)
            name = f"geology, {own}², beside fastscapelib without deposition and soil"
            yield Row(name, theirs / value, "times as fast", 8.0, at_least=True)
    settings = ["world.columns=64", "world.rows=64"] if tiny else []
    screen, seconds = start.first_picture_seconds(PRESET, 1 if tiny else 3, settings)
    yield Row(f"a new range, 512², from the command to the land, {screen}", seconds, "s", 3.0)
    # All its detail, as the window shows it after a while at rest.
    yield Row("a new range, 512², from the command to the picture", first_picture_seconds(settings, tiny), "s", 3.0)


def yards(step: Step, samples: int, yardstick: Yardstick) -> float:
    """Processor time of a step, in yards that are measured between the samples."""
    step()
    ratios = []
    for _ in range(samples):
        before = yardstick.nanoseconds()
        begin = time.process_time()
        step()
        nanoseconds = (time.process_time() - begin) * 1e9
        ratios.append(2.0 * nanoseconds / (before + yardstick.nanoseconds()))
    return statistics.median(ratios)


def _range(side: int) -> Scene:
    return load_preset(PRESET).with_values(
        {
            "world.columns": side,
            "world.rows": side,
            "world.cell_size": CELL_SIZE,
            "geology.uplift": UPLIFT * 1e3,
            "geology.uplift_pattern": "uniform",
            "geology.years_per_cycle": YEARS,
        }
    )


def step_of_ours(side: int) -> Step:
    """One of a young range."""
    from app.engine.creation import create_world

    scene = _range(side)
    world, _ = create_world(scene)
    process = Geology()
    return lambda: process.step(world, scene.geology, Cycle())


def step_of_fastscapelib(side: int) -> Step:
    """The same on the same land: its routing and filling, implicit incision, and diffusion. Raises `ImportError`."""
    import fastscapelib

    from app.engine.creation import create_world

    scene = _range(side)
    geology = scene.geology
    ground = create_world(scene)[0].ground.copy()
    grid = fastscapelib.RasterGrid([side, side], [CELL_SIZE] * 2, fastscapelib.NodeStatus.FIXED_VALUE)
    flow = fastscapelib.FlowGraph(grid, [fastscapelib.SingleFlowRouter(), fastscapelib.MSTSinkResolver()])
    rivers = fastscapelib.SPLEroder(flow, geology.erodibility, geology.area_exponent, geology.slope_exponent, 1e-3)
    slopes = fastscapelib.DiffusionADIEroder(grid, geology.diffusivity)
    risen = np.full((side, side), UPLIFT * YEARS)
    risen[0] = risen[-1] = risen[:, 0] = risen[:, -1] = 0.0

    def step(_held: object = grid) -> None:  # which the graph does not hold itself
        ground[...] += risen
        flow.update_routes(ground)
        ground[...] -= rivers.erode(ground, flow.accumulate(1.0), YEARS)
        ground[...] -= slopes.erode(ground, YEARS)

    return step


def first_picture_seconds(settings: list[str], tiny: bool) -> float:
    """From the start of the program to a picture of a range that it has made; the first start fills the caches."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FIRST_PICTURE, PRESET, str(Path(folder) / "range.png"), *settings]
        seconds = []
        for _ in range(2 if tiny else 4):
            begin = time.perf_counter()
            subprocess.run(command, env=os.environ.copy(), capture_output=True, check=True)
            seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:]) if len(seconds) > 1 else math.nan
