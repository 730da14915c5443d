"""The sea at work on its shore: what a cycle costs on an island, and finding its waves anew."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from app.bench.row import Row
from app.bench.yardstick import Yardstick
from app.engine.creation import create_world
from app.model.edge_parameters import EdgeParameters
from app.processes.coast import Coast, CoastParameters
from app.processes.cycle import Cycle
from app.scene.scene import Scene
from kernels.ocean import ocean_mask
from kernels.standing import DRY, SEA
from kernels.swell import SwellParameters, find_swell

WARM_UP = 20  # cycles, after which there are beaches
SEA_EDGES = EdgeParameters(water="sea")


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    numba.set_num_threads(1)
    yardstick = Yardstick()
    scene = Scene().with_values(
        {"world.source": "island", "world.columns": side, "world.rows": side, "world.soil_depth": 2.0}
    )
    world, _ = create_world(scene)
    process, parameters = Coast(), CoastParameters(enabled=True, every=1000)
    world.standing[...] = np.where(ocean_mask(world.ground, SEA_EDGES.sea), SEA, DRY)
    cycle = Cycle(edges=SEA_EDGES, running=frozenset({"pools"}))
    world.cycle = 1

    def step() -> None:
        process.step(world, parameters, cycle)

    for _ in range(WARM_UP):
        step()
    yield Row(f"a cycle of coast, island of {side}²", yardstick.yards(step, samples), "yards", 24_000.0)
    sea = world.standing == SEA
    south, east = np.zeros(sea.shape, np.float32), np.zeros(sea.shape, np.float32)
    comes = SwellParameters(90.0, parameters.spread, parameters.period, 0.0, 3.0)

    def find() -> None:
        find_swell(world.ground, sea, comes, south, east)

    yield Row(f"finding the waves of coast anew, {side}²", yardstick.yards(find, samples), "yards", None)
