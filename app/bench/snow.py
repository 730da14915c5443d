"""Snow: what a cycle costs where all is white, and what one pays for the process where it is too warm."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
import numpy as np

from app.bench.idle import idle_ratio
from app.bench.row import Row
from app.bench.yardstick import Yardstick, terrain
from app.model.climate import Weather
from app.model.layered_map import SNOW
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.snow import Snow, SnowParameters
from app.processes.wind_field import WindField, WindFieldParameters
from app.scene.scene import Scene

CELL_SIZE = 30.0  # metres
RELIEF = 1500.0  # metres
DEEP = 0.5  # metres of water
WARM = 40.0  # °C: no snow

Run = Callable[[], None]


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    yardstick = Yardstick()
    numba.set_num_threads(1)
    for name, temperature in (("winter", -10.0), ("spring", 12.0)):
        cost = yardstick.yards(_cycle(side, temperature), samples)
        yield Row(f"a cycle of snow in {name}, {side}², one core", cost, "yards", None)
    scene = Scene().with_values(
        {"world.source": "noise", "world.columns": side, "world.rows": side, "climate.temperature": WARM}
    )
    beside = idle_ratio(scene, "snow", samples)
    yield Row(f"a cycle with snow switched on and none there, against off, {side}²", beside, "times", 1.05)


def _cycle(side: int, temperature: float) -> Run:
    """A cycle over rough ground that is white at its beginning: with drift and avalanches, or with melt."""
    ground = RELIEF * terrain(side, side)
    world = World(ground, np.zeros_like(ground), CELL_SIZE, seed=0)
    cycle = Cycle(Weather(temperature=temperature), running=frozenset({WindField.name}))
    WindField().step(world, WindFieldParameters(), cycle)
    process, parameters = Snow(), SnowParameters()

    def run() -> None:
        world.trace(SNOW)[...] = DEEP
        process.step(world, parameters, cycle)

    return run
