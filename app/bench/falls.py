"""Falls at work: what a step costs on land with many of them, and what a cycle pays for it where there are none."""

from __future__ import annotations

from collections.abc import Iterator

import numba

from app.bench.idle import idle_ratio
from app.bench.row import Row
from app.bench.yardstick import Yardstick
from app.engine.creation import create_world
from app.processes.cycle import Cycle
from app.processes.falls import FallsAtWork, FallsParameters
from app.scene.scene import Scene

STEEP, GENTLE = 4000.0, 100.0  # metres of relief


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    numba.set_num_threads(1)
    yardstick = Yardstick()
    world, _ = create_world(_scene(side, STEEP))
    process, parameters, cycle = FallsAtWork(), FallsParameters(enabled=True, every=1), Cycle()

    def step() -> None:
        process.step(world, parameters, cycle)

    yield Row(f"a step of falls, steep land of {side}²", yardstick.yards(step, samples), "yards", None)
    beside = idle_ratio(_scene(side, GENTLE), "falls", samples, cycles=FallsParameters().every)
    yield Row(f"a cycle with falls switched on and none there, against off, {side}²", beside, "times", None)


def _scene(side: int, relief: float) -> Scene:
    return Scene().with_values({"world.columns": side, "world.rows": side, "world.relief": relief})
