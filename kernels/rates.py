"""Factors on what processes do in each cell, as kernels see them: float32 [cell * STRIDE + one of these].

All are 1 where nothing is said. Mobility is from 0 to 1: where it is 0 the ground is protected, and neither rock nor
sediment is moved by any process. Where no factor is anything else than 1, the array is empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.layers import Layer
from kernels.materials import Materials, ground_of

ERODIBILITY, WIND, WEATHERING, GROWTH, EVAPORATION, MOBILITY = range(6)
STRIDE = 6

Rates = NDArray[np.float32]


def flat(rates: Rates | None) -> Rates:
    """The factors of a map, [row, column, one of the above], as kernels see them; empty where there are none.

    Raises `ValueError` where the array is of another form.
    """
    if rates is None:
        return np.empty(0, np.float32)
    if rates.ndim != 3 or rates.shape[2] != STRIDE or rates.dtype != np.float32 or not rates.flags.c_contiguous:
        raise ValueError(f"rates must be a C-contiguous float32 array [row, column, {STRIDE}]")
    return rates.reshape(-1)


@inlined
def rate_of(rates, cell, rate):
    """One of the factors of a cell."""
    return float(rates[np.uintp(cell * STRIDE + rate)]) if len(rates) > 0 else 1.0


@inlined
def is_free(rates, cell):
    """Whether anything can be laid on a cell."""
    return len(rates) == 0 or rates[np.uintp(cell * STRIDE + MOBILITY)] > 0.0


@njit(nogil=True, error_model="numpy")
def _lowest_free(rates, ground, row, column, rows, columns):
    """The lowest of the nearest free cells around a place, ring by ring of a square; −1 where there is none."""
    for reach in range(max(rows, columns)):
        lowest = -1
        for i in range(max(row - reach, 0), min(row + reach + 1, rows)):
            is_end = i == row - reach or i == row + reach
            for j in range(column - reach, column + reach + 1, 1 if is_end else max(2 * reach, 1)):
                if not 0 <= j < columns:
                    continue
                cell = i * columns + j
                if is_free(rates, cell) and (lowest < 0 or ground[cell] < ground[lowest]):
                    lowest = cell
        if lowest >= 0:
            return lowest
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(
    places: Any, loads: Any, rates: Any, mix: Any, kinds: int, burden: Any, bedrock: Any, sediment: Any, ground: Any,
    rows: int, columns: int,
) -> None:  # fmt: skip
    for particle in range(len(places)):
        row, column = places[particle, 0], places[particle, 1]
        if not (0.0 <= row < rows and 0.0 <= column < columns):
            continue
        load = 0.0
        for kind in range(kinds):
            load += loads[particle, kind]
        if not load > 0.0:
            continue
        cell = _lowest_free(rates, ground, int(row), int(column), rows, columns)
        if cell < 0:
            return
        depth = 0.0
        for kind in range(kinds):
            mix[cell * kinds + kind] += loads[particle, kind]
            loads[particle, kind] = 0.0
            depth += mix[cell * kinds + kind]
        sediment[cell] = depth
        ground[cell] = ground_of(burden, cell, bedrock[cell], depth)


def settle(
    places: NDArray[np.float64],
    loads: NDArray[np.float64],
    rates: Rates,
    materials: Materials,
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
) -> None:
    """Lay what particles still carry that ended on protected ground on the lowest of the nearest free cells.

    `places` are [particle, (row, column, …)], and `loads` [particle, kind and more] in metres over one cell. These
    become 0, but for particles that left the map, and where all of it is protected. `rates` are as `flat` has them,
    the others as kernels of particles do.
    """
    _settle(
        places, loads, rates, materials.mix, materials.kinds, materials.burden,
        bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1), *ground.shape,
    )  # fmt: skip
