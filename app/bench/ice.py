"""Glaciers: what a step costs where all is ice, and what a cycle pays for the process where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
import numpy as np

from app.bench.idle import idle_ratio
from app.bench.row import Row
from app.bench.yardstick import Yardstick, terrain
from app.processes.ice import IceParameters, kernel_parameters
from app.scene.scene import Scene
from kernels.ice import Glaciers
from kernels.scratch import Scratch

CELL_SIZE = 50.0  # metres
RELIEF = 2500.0  # metres
THICK = 150.0  # metres, of ice
STEPS = 4
NO_ICE = 1e4  # metres: a snow line above all land

Run = Callable[[], None]


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    yardstick = Yardstick()
    numba.set_num_threads(1)
    cost = yardstick.yards(_steps(side), samples) / STEPS
    yield Row(f"a step of ice, {side}², all covered, one core", cost, "yards", 500_000.0)
    scene = Scene().with_values(
        {"world.source": "noise", "world.columns": side, "world.rows": side, "ice.snow_line": NO_ICE}
    )
    beside = idle_ratio(scene, "ice", samples)
    yield Row(f"a cycle with ice switched on and none there, against off, {side}²", beside, "times", 1.05)


def _steps(side: int) -> Run:
    """Some steps of a year over rough ground that is all covered."""
    ground = RELIEF * terrain(side, side)
    wanted = kernel_parameters(IceParameters(snow_line=0.5 * RELIEF))
    ice = np.empty_like(ground)
    glaciers = Glaciers(ice, ground, CELL_SIZE, wanted, Scratch())
    sums = np.zeros((side, 3))

    def run() -> None:
        ice[...] = THICK
        for step in range(STEPS):
            glaciers.exchange(wanted, 1.0, sums)
            glaciers.flow(1.0, rows_first=step % 2 == 0)

    return run
