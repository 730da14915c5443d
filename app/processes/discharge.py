"""The mean discharge of rivers for processes that need it in cubic metres a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.model.climate import USUAL_PRECIPITATION
from app.model.runoff import SECONDS_PER_YEAR
from app.model.world import World
from app.processes.cycle import Cycle

if TYPE_CHECKING:
    from kernels.rivers import Drainage

Numbers = NDArray[np.float64]


def discharge_of_cycle(world: World, cycle: Cycle, drainage: Drainage, total: float = 0.0) -> Numbers:
    """The mean discharge of each cell, in cubic metres a second, [row, column], of rain and springs together.

    All of it together is the precipitation on the map, or `total` cubic metres a second if that is not 0.
    """
    from kernels.rain import rain_map
    from kernels.routing import accumulate

    fallen = rain_map(world.ground, world.rainfall, cycle.weather.rain_by_altitude)
    springs = cycle.drops_of_springs
    if springs is not None and len(springs):
        share = cycle.drops_without_snow / max(float(fallen.sum()), 1e-12)
        fallen = fallen * share
        np.add.at(fallen, (springs[:, 0].astype(np.intp), springs[:, 1].astype(np.intp)), springs[:, -1])
    precipitation = cycle.weather.mean_rain * USUAL_PRECIPITATION * 1e-3 / SECONDS_PER_YEAR * world.cell_area
    total = total or precipitation * fallen.size
    fallen = np.where(drainage.ocean, 0.0, fallen * (total / max(float(fallen.sum()), 1e-12)))
    return accumulate(drainage.directions, drainage.routes.order, fallen)
