"""The swell over the sea: how much of it comes to each place, and where it runs to.

It comes from directions to either side of the wind's, each of which brings a part of its energy (Goda 1985). Each is
swept over the map, row by row in its own direction. Land takes all of it; beyond, the wind raises waves anew, whose
energy grows with their fetch and on the map's longer side comes to that of the open sea. Where the sea is shallow waves
turn to where they are slower, −∇ ln c (refraction). Nearer to the shore than the toe of its profile they are left as
they are: what is told of transport along a shore counts on waves that come there, and turns them itself.

So the mean of the directions behind an island runs into its shadow from both sides. Crests are drawn across it: their
phase is the one whose slope comes nearest to this direction and to the wave number, by least squares, the more the
higher waves are. It is relaxed from coarse grids to fine ones (successive over-relaxation, Young 1954).

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
USUAL_SPREAD = 60.0  # degrees to either side of its direction, within which all comes: that of wind waves (Goda 1985)
_MOST_TURN = 0.3  # of the way over a cell, in which no wave turns by more
_SWEEPS = 30, 120  # of the phase on the finest grid and on each coarser one
_OVER = 1.85  # relaxation
_COARSEST = 8  # cells across
_WEAKEST = 0.01  # weight of waves of no energy, beside those of the open sea
_HELD = 1e-6  # and that of a phase as in deep water

Traces = NDArray[np.float32]
Numbers = NDArray[np.float64]


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


def find_swell(
    ground: Layer, sea: NDArray[np.bool_] | Traces, parameters: SwellParameters, south: Traces, east: Traces
) -> None:
    """Write where the swell runs to in each cell of the `sea`, [row, column], and 0 on land.

    The vector's length is its energy beside that of the open sea, from 0 to about 1. `ground` are float64 metres, `sea`
    the part of each cell that waves cross.
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


@njit(cache=True, nogil=True, error_model="numpy")
def _relax(south: Any, east: Any, number: Any, plane_south: float, plane_east: float, sweeps: int, later: Any) -> None:
    """Bring the phase of crests nearer to the one that fits the swell best, see `find_crests`."""
    rows, columns = number.shape
    # Between a cell and the one to the north and to the west of it: weights, and how much later crests come here.
    north, west = np.zeros((rows + 1, columns + 1)), np.zeros((rows + 1, columns + 1))
    south_step, east_step = np.zeros((rows + 1, columns + 1)), np.zeros((rows + 1, columns + 1))
    energy, phase = np.empty((rows, columns)), np.zeros((rows + 2, columns + 2))
    for row in range(rows):
        for column in range(columns):
            phase[row + 1, column + 1] = later[row, column]
            energy[row, column] = math.sqrt(south[row, column] ** 2 + east[row, column] ** 2)
    for row in range(rows):
        for column in range(columns):
            here = energy[row, column]
            if not here > 0.0:
                continue
            there = energy[row - 1, column] if row > 0 else 0.0
            if there > 0.0:
                north[row, column] = 0.5 * (here + there) + _WEAKEST
                step = number[row, column] * south[row, column] / here
                step += number[row - 1, column] * south[row - 1, column] / there
                south_step[row, column] = 0.5 * step - plane_south
            there = energy[row, column - 1] if column > 0 else 0.0
            if there > 0.0:
                west[row, column] = 0.5 * (here + there) + _WEAKEST
                step = number[row, column] * east[row, column] / here
                step += number[row, column - 1] * east[row, column - 1] / there
                east_step[row, column] = 0.5 * step - plane_east
    told, whole = np.empty((rows, columns)), np.empty((rows, columns))
    for row in range(rows):
        for column in range(columns):
            around = north[row, column] + north[row + 1, column] + west[row, column] + west[row, column + 1]
            whole[row, column] = _OVER / (_HELD + around)
            told[row, column] = (
                north[row, column] * south_step[row, column] + west[row, column] * east_step[row, column]
            )
            told[row, column] -= north[row + 1, column] * south_step[row + 1, column]
            told[row, column] -= west[row, column + 1] * east_step[row, column + 1]
    for _ in range(sweeps):
        for row in range(rows):
            for column in range(columns):
                around = told[row, column] + north[row, column] * phase[row, column + 1]
                around += north[row + 1, column] * phase[row + 2, column + 1]
                around += west[row, column + 1] * phase[row + 1, column + 2]
                around += west[row, column] * phase[row + 1, column]
                own = phase[row + 1, column + 1]
                phase[row + 1, column + 1] = own + (whole[row, column] * around - _OVER * own)
    for row in range(rows):
        for column in range(columns):
            later[row, column] = phase[row + 1, column + 1]


def _halved(values: Numbers) -> Numbers:
    """The means of squares of 2 × 2 cells, of which those over the edge repeat the last ones."""
    rows, columns = values.shape
    even = np.pad(values, ((0, rows % 2), (0, columns % 2)), mode="edge")
    return np.asarray(even.reshape(even.shape[0] // 2, 2, -1, 2).mean(axis=(1, 3)))


def _doubled(values: Numbers) -> Numbers:
    """Values on a grid of cells half as wide, by bilinear interpolation."""
    for axis in range(2):
        lines = np.moveaxis(values, axis, 0)
        around = np.concatenate([lines[:1], lines, lines[-1:]])
        finer = np.empty((2 * len(lines), lines.shape[1]))
        finer[::2] = 0.75 * lines + 0.25 * around[:-2]
        finer[1::2] = 0.75 * lines + 0.25 * around[2:]
        values = np.moveaxis(finer, 0, axis)
    return values


def find_crests(
    south: Numbers, east: Numbers, number: Numbers, plane: tuple[float, float], *, is_finest: bool = True
) -> Numbers:
    """By how much crests of the swell come later to each cell than those of a plane wave, in radians, [row, column].

    `south` and `east` are those of `find_swell`, and 0 where nothing is known; `number` is the phase over a cell along
    the waves' way, and `plane` that of the plane wave over a cell to the south and to the east. Only differences within
    a water tell anything.
    """
    rows, columns = number.shape
    later = np.zeros((rows, columns))
    if max(rows, columns) > _COARSEST:
        energy = np.maximum(np.hypot(south, east), 1e-12)
        numbers = 2.0 * _halved(energy * number) / _halved(energy)
        coarse_south, coarse_east = _halved(south), _halved(east)
        coarse = find_crests(coarse_south, coarse_east, numbers, (2.0 * plane[0], 2.0 * plane[1]), is_finest=False)
        known = np.where((coarse_south != 0.0) | (coarse_east != 0.0), 1.0, 1e-12)
        later[...] = (_doubled(coarse * known) / _doubled(known))[:rows, :columns]
    _relax(south, east, number, float(plane[0]), float(plane[1]), _SWEEPS[not is_finest], later)
    return later


def prepare() -> None:
    """Compile what is drawn of the swell, or load it from the cache."""
    south, east = np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32)
    parameters = SwellParameters(90.0, USUAL_SPREAD, 7.0, 0.0, 1.0)
    find_swell(np.full((8, 8), -9.0), np.ones((8, 8), np.float32), parameters, south, east)
    find_crests(south.astype(np.float64), east.astype(np.float64), np.ones((8, 8)), (0.0, 1.0))


def is_prepared() -> bool:
    """Whether nothing waits for it to be compiled or loaded."""
    return bool(_find.signatures and _relax.signatures)
