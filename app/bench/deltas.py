"""Distributaries: what a step costs on a delta with arms, and what a cycle pays for it where no water stands."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from app.bench.idle import idle_ratio
from app.bench.row import Row
from app.bench.yardstick import Yardstick, terrain
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.distributaries import Distributaries, DistributariesParameters
from app.scene.scene import Scene
from kernels.standing import LAKE

CELL_SIZE = 10.0
STEPS = 20  # after which the delta has arms


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    numba.set_num_threads(1)
    yardstick = Yardstick()
    world = _plain(side)
    process, parameters, cycle = Distributaries(), DistributariesParameters(enabled=True, every=1), Cycle()

    def step() -> None:
        process.step(world, parameters, cycle)

    for _ in range(STEPS):
        step()
    yield Row(f"a step of distributaries, a plain of {side}²", yardstick.yards(step, samples), "yards", None)
    scene = Scene().with_values({"world.columns": side, "world.rows": side, "droplets.river_transport": 1.0})
    beside = idle_ratio(scene, "distributaries", samples, cycles=DistributariesParameters().every)
    yield Row(f"a cycle with distributaries switched on and no water, against off, {side}²", beside, "times", None)


def _plain(side: int) -> World:
    """A rough plain that falls to a lake in its south."""
    fall = 0.002 * CELL_SIZE * np.arange(float(side))[::-1, None]
    ground = fall + 2.0 * terrain(side, side)
    world = World(ground, np.zeros_like(ground), CELL_SIZE, seed=0)
    world.standing[3 * side // 4 :] = LAKE
    world.water_level[...] = ground[3 * side // 4 :].max()
    return world
