"""The mean discharge of rivers: the rain of the climate, over the land that it falls on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.model.climate import ClimateParameters
from app.model.runoff import SECONDS_PER_YEAR

if TYPE_CHECKING:
    from kernels.rivers import Drainage


def depends_on(climate: ClimateParameters) -> tuple[float, float]:
    """What of a climate it depends on: precipitation in mm a year, and how much of it follows the altitude."""
    return climate.precipitation, climate.rain_by_altitude


def mean_discharge(
    drainage: Drainage,
    ground: NDArray[np.float64],
    cell_size: float,
    climate: ClimateParameters,
    rain: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """The water through each cell, in cubic metres a second, [row, column].

    All that falls on the land runs off. `drainage` is that of `ground`, heights in metres; `cell_size` is the side of a
    cell. `rain` is the part of the precipitation that falls on each cell, as a world's map of rain has it.
    """
    from kernels.rain import rain_map
    from kernels.routing import accumulate

    precipitation, by_altitude = depends_on(climate)
    cells = drainage.accumulation
    if rain is not None or by_altitude > 0.0:
        fallen = np.where(drainage.ocean, 0.0, rain_map(ground, rain, by_altitude))
        cells = accumulate(drainage.directions, drainage.routes.order, fallen)
    return cells * (cell_size * cell_size * 1e-3 * precipitation / SECONDS_PER_YEAR)
