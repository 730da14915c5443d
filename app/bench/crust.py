"""Ground that moves: what it costs to carry land sideways, and to let the crust follow its load."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
import numpy as np

from app.bench.row import Row
from app.bench.yardstick import Yardstick, terrain
from app.model.geology_parameters import GeologyParameters
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.isostasy import Isostasy, IsostasyParameters
from app.processes.sideways import move_sideways

CELL_SIZE = 50.0  # metres
RELIEF = 1000.0  # metres
YEARS = 5000.0  # in which land comes a cell, or a little more
DIRECTION = 70.0  # degrees

Run = Callable[[], None]


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    yardstick = Yardstick()
    numba.set_num_threads(1)
    for sideways in ("right-lateral fault", "thrust"):
        cost = yardstick.yards(_moving(side, sideways), samples)
        yield Row(f"land that a {sideways} carries by a cell, {side}², one core", cost, "yards", None)
    cost = yardstick.yards(_floating(side), samples)
    yield Row(f"a step of isostasy, {side}², one core", cost, "yards", None)


def _world(side: int) -> World:
    ground = RELIEF * terrain(side, side)
    return World(ground, np.ones_like(ground), CELL_SIZE, seed=0)


def _moving(side: int, sideways: str) -> Run:
    """Each call carries the land by at least a cell."""
    world = _world(side)
    parameters = GeologyParameters(
        sideways=sideways,  # type: ignore[arg-type]
        sideways_direction=DIRECTION,
        sideways_rate=40.0,
    )

    def run() -> None:
        assert move_sideways(world, parameters, YEARS)

    return run


def _floating(side: int) -> Run:
    """Each call has a load that has changed since the last one."""
    world, process, parameters = _world(side), Isostasy(), IsostasyParameters()
    process.step(world, parameters, Cycle())

    def run() -> None:
        world.sediment[...] += 1.0
        world.sum_ground()
        process.step(world, parameters, Cycle())

    return run
