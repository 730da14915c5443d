"""Falls at work: what a step costs on land with many of them, and what a cycle pays for it where there are none."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numba
import numpy as np

from app.bench.row import Row
from app.bench.yardstick import Yardstick
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.processes.cycle import Cycle
from app.processes.falls import FallsAtWork, FallsParameters
from app.scene.scene import Scene

STEEP, GENTLE = 4000.0, 100.0  # metres of relief


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    side, samples = (48, 1) if tiny else (512, 15)
    numba.set_num_threads(1)
    yardstick = Yardstick()
    world, _ = create_world(_scene(side, STEEP))
    process, parameters, cycle = FallsAtWork(), FallsParameters(enabled=True, every=1), Cycle()

    def step() -> None:
        process.step(world, parameters, cycle)

    yield Row(f"a step of falls, steep land of {side}²", yardstick.yards(step, samples), "yards", None)
    beside = _beside_nothing(side, samples)
    yield Row(f"a cycle with falls switched on and none there, against off, {side}²", beside, "times", None)
    numba.set_num_threads(available)


def _scene(side: int, relief: float) -> Scene:
    return Scene().with_values({"world.columns": side, "world.rows": side, "world.relief": relief})


def _beside_nothing(side: int, samples: int) -> float:
    """How many times as long cycles of drops take with a process that looks for falls in one of them."""
    scene, every = _scene(side, GENTLE), FallsParameters().every
    simulators = []
    for on in (False, True):
        world, made = create_world(scene.with_value("falls.enabled", on))
        simulators.append(Simulator(made, world, 1))
        simulators[-1].advance()
    ratios = []
    for _ in range(samples):
        taken = []
        for simulator in simulators:
            begin = time.process_time()
            for _ in range(every):
                simulator.advance()
            taken.append(time.process_time() - begin)
        ratios.append(taken[1] / taken[0])
    return float(np.median(ratios))
