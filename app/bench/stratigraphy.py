"""Beds of loose material: what a cycle of several kinds costs with them, and their memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.world import everything, simulator_of
from app.engine.simulator import Simulator
from app.processes import PROCESSES
from app.scene.scene import Scene

MOVING = ("droplets", "wind", "wind_field", "weathering", "cascade")  # processes that move loose material
WHOLE = 512  # cells


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (32, 3) if tiny else (WHOLE, 31)
    threads = TWO
    with_beds, without = (simulator_of(_scene(side, MOVING, enabled), threads) for enabled in (True, False))
    cost = _cost(with_beds, without, samples)
    yield Row(f"drops, wind and slides on four kinds, beds against none, {side}²", cost, "times", 1.3)
    over_beds, alone = (simulator_of(_scene(side, ("geology",), enabled), threads) for enabled in (True, False))
    yield Row(f"geology on four kinds, beds against none, {side}²", _cost(over_beds, alone, samples), "times", 1.4)
    beds = with_beds.world.beds
    assert beds is not None
    held = sum(array.nbytes for array in beds) / with_beds.world.ground.size
    most = with_beds.scene.stratigraphy.beds
    yield Row(f"memory of up to {most} beds of four kinds", held, "bytes per cell", None)


def _cost(with_beds: Simulator, without: Simulator, samples: int) -> float:
    """How many times as long a cycle takes with beds."""
    ratios = []
    for sample in range(samples):
        runs = (with_beds.run_cycle, without.run_cycle)
        seconds = [_seconds(run) for run in (runs if sample % 2 else runs[::-1])]
        ratios.append(seconds[0] / seconds[1] if sample % 2 else seconds[1] / seconds[0])
    return float(np.median(ratios))


def _scene(side: int, moving: tuple[str, ...], enabled: bool) -> Scene:
    """Processes that move loose material, on deep soil of four kinds."""
    scene = everything(side)
    off = {f"{process.name}.enabled": False for process in PROCESSES if process.name not in moving}
    return scene.with_values({**off, "stratigraphy.enabled": enabled})


def _seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
