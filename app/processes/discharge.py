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
    from kernels.scratch import Scratch

Numbers = NDArray[np.float64]


def drainage_of(world: World, scratch: Scratch) -> Drainage:
    """How the water of a world reaches the ocean, in arrays of a step that begins on `scratch`."""
    from kernels.rivers import Drainage, drain
    from kernels.routing import Routes

    scratch, shape = scratch.begin(), world.shape
    routes = Routes(scratch.empty(world.ground.size, np.int32), scratch.empty(shape, np.int32), scratch.empty(shape))
    room = Drainage(
        np.empty((0, 0), np.bool_),  # the ocean, which is always a new array
        scratch.empty(shape), scratch.empty(shape, np.int8), routes, scratch.empty(shape),
    )  # fmt: skip
    return drain(world.ground, world.cell_size, world.sea_level, open_edges=not world.walls, out=room)


def discharge_of_cycle(world: World, cycle: Cycle, drainage: Drainage, total: float = 0.0) -> Numbers:
    """The mean discharge of each cell, in cubic metres a second, [row, column], of rain and springs together.

    The mean over the year: seasons and snow leave it as it is. A drop is as much water wherever it comes from. All of
    it together is `total` cubic metres a second if that is not 0.
    """
    from kernels.rain import rain_map
    from kernels.routing import accumulate

    fallen = rain_map(world.ground, world.rainfall, cycle.weather.rain_by_altitude)
    fallen *= cycle.weather.mean_rain
    springs = cycle.drops_of_springs
    if springs is not None and len(springs):
        usual = float(rain_map(world.ground, world.layers.get("rain"), cycle.weather.rain_by_altitude).sum())
        wells = springs[:, -1]
        if cycle.usual_drops > 0.0:
            wells = wells * (usual / cycle.usual_drops)
        else:  # without drops of rain, all springs together bring the precipitation, or the usual one
            fallen[:] = 0.0
            wells = wells * (usual * (cycle.weather.mean_rain or 1.0) / float(wells.sum()))
        np.add.at(fallen, (springs[:, 0].astype(np.intp), springs[:, 1].astype(np.intp)), wells)
    unit = USUAL_PRECIPITATION * 1e-3 / SECONDS_PER_YEAR * world.cell_area
    fallen *= total / max(float(fallen.sum()), 1e-12) if total else unit
    fallen[drainage.ocean] = 0.0
    return accumulate(drainage.directions, drainage.routes.order, fallen)
