"""E4: loose material that slides down where it lies steeper than its angle of repose.

After McDonald 2020, "Simple particle-based wind erosion": where the ground differs by more than `roughness` between
two neighbours, half the excess moves down, limited by the sediment that is there, times `settling`. The article does
this at each contact of a particle, for the cell of contact; here it is one pass over the map for all loose material,
whatever made it steep, because a pass reads and writes memory in order and costs a few per cent of what the particles
do.

A difference over the diagonal is allowed √2 times as much, as it lies √2 cells apart: so the angle of repose is the
same in all eight directions, and a heap becomes a cone and not a pyramid. The article allows no more over the diagonal
than straight ahead; there forms of four to eight cells keep two thirds of the power that they have here
(`tests/kernels/test_wind.py` shows that this is the only reason).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Layer = NDArray[np.float64]

# Higher than any ground, and finite: infinity times a creep of 0 is not a number.
_WALL = 1e300

# The map is worked on in place, in bands of so many rows: copies of whole layers cost more than the pass itself.
_BAND = 32

# What the article's cascades do in a cycle of its 250 particles on 256×256 cells: one at each step on the ground and
# two in the air make 5.5 for each cell, of a time of dt = 0.25. A pair of neighbours meets in those of both.
_TIME = 5.5 * 0.25
_BOTH = 2.0

# With eight neighbours that all take, no more than what is there may go; a little less, as sums are rounded.
_FASTEST = 0.125 * (1.0 - 1e-9)


class CascadeParameters(NamedTuple):
    """How loose material slides."""

    roughness: float = 0.005  # times scale: tangent of the angle of repose
    settling: float = 0.01  # up to 0.045, where all that can slide does
    creep: float = 0.0  # part of the difference that moves by the same rate below the angle of repose: 0 to 1
    scale: float = 80.0  # cells to the article's unit of height
    passes: int = 1
    wrap: bool = False  # the map's edges are neighbours of each other; else they are walls


@njit(inline="always")
def _flow(here, loose, other, other_loose, stable, creep):
    """What one neighbour should give (metres), negative where it should take. The same bits seen from both sides."""
    difference = other - here
    moved = 0.5 * max(abs(difference) - stable, creep * abs(difference))
    return min(moved, other_loose) if difference > 0.0 else -min(moved, loose)


@njit(nogil=True, error_model="numpy")
def _copy_row(ground, sediment, heights, depths, wrap):
    """Copy a row, with one more cell at each end: that of the other end, or a wall."""
    heights[1:-1] = ground
    depths[1:-1] = sediment
    heights[0] = ground[-1] if wrap else _WALL
    heights[-1] = ground[0] if wrap else _WALL
    depths[0] = sediment[-1] if wrap else 0.0
    depths[-1] = sediment[0] if wrap else 0.0


@njit(nogil=True, error_model="numpy")
def _slide_row(rock, loose, surface, heights, depths, first, stable, creep, rate):
    """Give the cells of one row what they have after the pass.

    `heights` and `depths` tell what was before, in three rows with one more cell at each end: `first` is the row to the
    north, and the other two follow in turn.
    """
    diagonal = stable * math.sqrt(2.0)
    h0, h1, h2 = heights[first], heights[(first + 1) % 3], heights[(first + 2) % 3]
    s0, s1, s2 = depths[first], depths[(first + 1) % 3], depths[(first + 2) % 3]
    for j in range(len(loose)):
        h, s = h1[j + 1], s1[j + 1]
        beside = (
            _flow(h, s, h0[j + 1], s0[j + 1], stable, creep)
            + _flow(h, s, h1[j], s1[j], stable, creep)
            + _flow(h, s, h1[j + 2], s1[j + 2], stable, creep)
            + _flow(h, s, h2[j + 1], s2[j + 1], stable, creep)
        )
        across = (
            _flow(h, s, h0[j], s0[j], diagonal, creep)
            + _flow(h, s, h0[j + 2], s0[j + 2], diagonal, creep)
            + _flow(h, s, h2[j], s2[j], diagonal, creep)
            + _flow(h, s, h2[j + 2], s2[j + 2], diagonal, creep)
        )
        s += rate * (beside + across)
        loose[j] = s
        surface[j] = rock[j] + s


@njit(nogil=True, error_model="numpy")
def _slide_band(band, bedrock, sediment, ground, before, wrap, stable, creep, rate):
    """One pass over a band of rows; `before` tells what was in the rows on both sides of it."""
    rows, columns = ground.shape
    begin, end = band * _BAND, min((band + 1) * _BAND, rows)
    bands = len(before)
    heights = np.full((3, columns + 2), _WALL)
    depths = np.zeros((3, columns + 2))
    if begin > 0 or wrap:
        north = before[(band - 1) % bands]
        _copy_row(north[2], north[3], heights[0], depths[0], wrap)
    _copy_row(ground[begin], sediment[begin], heights[1], depths[1], wrap)
    for row in range(begin, end):
        first = (row - begin) % 3
        last = (first + 2) % 3
        if row + 1 < end:
            _copy_row(ground[row + 1], sediment[row + 1], heights[last], depths[last], wrap)
        elif end < rows or wrap:
            south = before[(band + 1) % bands]
            _copy_row(south[0], south[1], heights[last], depths[last], wrap)
        else:
            heights[last] = _WALL
            depths[last] = 0.0
        _slide_row(bedrock[row], sediment[row], ground[row], heights, depths, first, stable, creep, rate)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _slide(bedrock, sediment, ground, wrap, stable, creep, rate, passes):
    rows, columns = ground.shape
    bands = (rows + _BAND - 1) // _BAND
    # [band]: ground and sediment of its first row, and of its last one
    before = np.empty((bands, 4, columns))
    for _ in range(passes):
        for band in prange(bands):
            begin, last = band * _BAND, min((band + 1) * _BAND, rows) - 1
            before[band, 0] = ground[begin]
            before[band, 1] = sediment[begin]
            before[band, 2] = ground[last]
            before[band, 3] = sediment[last]
        for band in prange(bands):
            _slide_band(np.int64(band), bedrock, sediment, ground, before, wrap, stable, creep, rate)


def cascade(bedrock: Layer, sediment: Layer, ground: Layer, cell_size: float, parameters: CascadeParameters) -> None:
    """Let what lies too steep slide, and change the map in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous. `cell_size` is the side of a cell in metres. No sediment is lost, none becomes
    negative, and the same map gives the same bits on any number of threads. All cells slide at once, so no direction
    is favoured.
    """
    for layer in (bedrock, sediment, ground):
        if layer.shape != bedrock.shape or layer.dtype != np.float64 or not layer.flags.c_contiguous:
            raise ValueError("layers must be C-contiguous float64 arrays of one shape")
    rate = min(max(_BOTH * _TIME * parameters.settling, 0.0), _FASTEST)
    stable = float(parameters.roughness * parameters.scale * cell_size)
    creep = float(parameters.creep)
    _slide(bedrock, sediment, ground, bool(parameters.wrap), stable, creep, rate, int(parameters.passes))
