"""Where the rain falls: on drops that begin, and on the ground that soaks it up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import inlined
from kernels.layers import Layer


def span_of_heights(ground: Layer, rain_by_altitude: float) -> tuple[float, float]:
    """The lowest and the highest ground, between which rain follows the altitude; both 0 where it does not."""
    return (float(ground.min()), float(ground.max())) if rain_by_altitude > 0.0 else (0.0, 0.0)


@inlined
def rain_on(cell, fields, constants):
    """How much of the rain falls on a cell, from 0 to 1. `rain` of the fields is empty where it falls on all alike."""
    rain = 1.0
    if constants.rain_by_altitude > 0.0 and fields.highest > fields.lowest:
        height = (fields.ground[cell] - fields.lowest) / (fields.highest - fields.lowest)
        rain = 1.0 + constants.rain_by_altitude * (height - 1.0)
    if len(fields.rain) > 0:
        rain *= fields.rain[cell]
    return rain


def rain_map(ground: Layer, rain: NDArray[np.float32] | None, rain_by_altitude: float) -> NDArray[np.float64]:
    """`rain_on` of all cells, float64 [row, column]; `rain` as the map of a world has it, or None."""
    lowest, highest = span_of_heights(ground, rain_by_altitude)
    fallen = np.ones(ground.shape)
    if rain_by_altitude > 0.0 and highest > lowest:
        fallen += rain_by_altitude * ((ground - lowest) / (highest - lowest) - 1.0)
    if rain is not None:
        fallen *= rain
    return fallen
