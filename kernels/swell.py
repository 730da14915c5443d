"""The swell over the sea: how much of it comes to each place, and where it runs to.

It comes from directions to either side of the wind's, each of which brings a part of its energy (Goda 1985). Each is
swept over the map, row by row in its own direction. Land takes all of it; beyond, the wind raises waves anew, whose
energy grows with their fetch and on the map's longer side comes to that of the open sea. Where the sea is shallow waves
turn to where they are slower, −∇ ln c (refraction). Nearer to the shore than the toe of its profile they are left as
they are: what is told of transport along a shore counts on waves that come there, and turns them itself.

Sweeps follow each other on one thread: no order of threads shows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.layers import Layer
from kernels.parameters import exact
from kernels.units import Degrees, Metres, Seconds

GRAVITY = 9.81  # m/s²
DIRECTIONS = 9
TOE = 2.0  # depth at the toe of a shore's profile by the height of waves, below which they move no sand
_MOST_TURN = 0.3  # of the way over a cell, in which no wave turns by more

Traces = NDArray[np.float32]


class SwellParameters(NamedTuple):
    """What comes from the open sea."""

    towards: Degrees  # clockwise from north
    spread: Degrees  # to either side, within which all comes
    period: Seconds
    sea_level: Metres
    toe: Metres  # depth at the toe of the shore's profile


@njit(nogil=True, error_model="numpy")
def _sweep(wet, grow_down, grow_across, down, across, backwards, raised, weight, sum_down, sum_across):
    """Add what comes from one direction: `down` the rows, at most as far `across` them.

    `grow_down` and `grow_across` are −∇ ln c over a cell; `backwards`: the rows are gone through from the last one.
    """
    rows, columns = wet.shape
    drift = across / down
    step = np.float32(1.0 / down)
    whole = 1 if drift > 0.0 else -1
    part = np.float32(abs(drift))
    left = np.float32(1.0) - part
    unit_down, unit_across = np.float32(-down if backwards else down), np.float32(across)
    more_down, more_across = unit_down * raised * step, unit_across * raised * step
    one, tiny = np.float32(1.0), np.float32(1e-12)
    before = np.empty((2, columns + 2), np.float32)
    here = np.empty((2, columns + 2), np.float32)
    before[0], before[1] = unit_down, unit_across
    here[0], here[1] = unit_down, unit_across
    for number in range(rows):
        row = rows - 1 - number if backwards else number
        for column in range(columns):
            from_beside = column + 1 - whole
            v = left * before[0, column + 1] + part * before[0, from_beside] + more_down
            u = left * before[1, column + 1] + part * before[1, from_beside] + more_across
            size = math.sqrt(v * v + u * u) + tiny
            g, h = grow_down[row, column], grow_across[row, column]
            straight = (g * v + h * u) / size
            v += step * (g * size - straight * v)
            u += step * (h * size - straight * u)
            turned = math.sqrt(v * v + u * u) + tiny
            kept = wet[row, column] * min(size, one) / turned
            v *= kept
            u *= kept
            here[0, column + 1] = v
            here[1, column + 1] = u
            sum_down[row, column] += weight * v
            sum_across[row, column] += weight * u
        before, here = here, before


@njit(nogil=True, error_model="numpy")
def _turning(ground, wet, sea_level, toe, deep, grow_south, grow_east):
    """−∇ ln c over a cell: c² is in proportion to tanh(k h) of the depth, and a fraction near to it."""
    rows, columns = ground.shape
    slow = np.empty((rows, columns), np.float32)  # ln c
    for row in range(rows):
        for column in range(columns):
            x = min(deep * max(sea_level - ground[row, column], toe), 3.0)
            slow[row, column] = x * (27.0 + x * x) / (27.0 + 9.0 * x * x)
    for row in range(rows):
        north, south = max(row - 1, 0), min(row + 1, rows - 1)
        for column in range(columns):
            west, east = max(column - 1, 0), min(column + 1, columns - 1)
            own = -0.5 / slow[row, column]
            down = own * (slow[south, column] - slow[north, column]) / max(south - north, 1)
            over = own * (slow[row, east] - slow[row, west]) / max(east - west, 1)
            grow_south[row, column] = min(max(down, -_MOST_TURN), _MOST_TURN)
            grow_east[row, column] = min(max(over, -_MOST_TURN), _MOST_TURN)


@njit(cache=True, nogil=True, error_model="numpy")
def _find(ground: Any, wet: Any, wet_turned: Any, directions: Any, parameters: Any, south: Any, east: Any) -> None:
    """Write the swell; `directions` are [direction, (south, east, weight)]."""
    rows, columns = wet.shape
    raised = np.float32(1.0 / max(rows, columns))
    deep = 4.0 * math.pi**2 / (GRAVITY * parameters.period**2)
    grow_south, grow_east = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.float32)
    _turning(ground, wet, parameters.sea_level, parameters.toe, deep, grow_south, grow_east)
    grow_south_turned = np.ascontiguousarray(grow_south.T)
    grow_east_turned = np.ascontiguousarray(grow_east.T)
    south_turned, east_turned = np.zeros((columns, rows), np.float32), np.zeros((columns, rows), np.float32)
    south[:] = 0.0
    east[:] = 0.0
    for number in range(len(directions)):
        down, over, weight = directions[number, 0], directions[number, 1], np.float32(directions[number, 2])
        if abs(down) >= abs(over):
            _sweep(wet, grow_south, grow_east, abs(down), over, down < 0.0, raised, weight, south, east)
        else:
            _sweep(
                wet_turned, grow_east_turned, grow_south_turned, abs(over), down, over < 0.0, raised, weight,
                east_turned, south_turned,
            )  # fmt: skip
    for row in range(rows):
        for column in range(columns):
            south[row, column] += south_turned[column, row]
            east[row, column] += east_turned[column, row]


def find_swell(ground: Layer, sea: NDArray[np.bool_], parameters: SwellParameters, south: Traces, east: Traces) -> None:
    """Write where the swell runs to in each cell of the `sea`, [row, column], and 0 on land.

    The vector's length is its energy beside that of the open sea, from 0 to about 1. `ground` are float64 metres.
    """
    angles = np.linspace(-1.0, 1.0, DIRECTIONS + 2)[1:-1] if parameters.spread > 0.0 else np.zeros(1)
    weights = np.cos(0.5 * np.pi * angles) ** 2
    turned = np.radians(parameters.spread * angles)
    weights /= (weights * np.cos(turned)).sum()  # so that all of them together have the length 1
    along = math.radians(parameters.towards) + turned
    wet = sea.astype(np.float32)
    _find(
        ground, wet, np.ascontiguousarray(wet.T),
        np.column_stack([-np.cos(along), np.sin(along), weights]),
        exact(parameters), south, east,
    )  # fmt: skip
