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
    """How much of the rain falls on a cell, beside 1. `rain` of the fields is empty where it falls on all alike."""
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


def starts_of_rain(rain: NDArray[np.float64], count: int, key: int) -> NDArray[np.float64]:
    """Where so many drops begin, float64 [drop, (row, column)], by how much rain falls on each cell, [row, column].

    None begins where no rain falls. `key` is that of the random numbers, see `kernels.random.stream`.
    """
    drawn = np.random.Generator(np.random.Philox(key=key)).random((count, 3))  # counter-based, as all others are
    sums = np.cumsum(rain)
    cells = np.searchsorted(sums, drawn[:, 0] * sums[-1], side="right")
    last = int(np.searchsorted(sums, sums[-1]))  # on which any falls: a product may be rounded up to the sum of all
    return np.stack(np.divmod(np.minimum(cells, last), rain.shape[1]), axis=1) + drawn[:, 1:]
