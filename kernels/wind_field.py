"""The wind near the ground: fast over crests and through gaps, turned along valleys, slow behind ridges and trees.

Ground of height h disturbs a wind of unit speed and direction d as a flow without friction over low hills (Jackson and
Hunt 1975, as used for dunes by Kroy, Sauermann, Herrmann 2002). For each wave of the ground, of wave vector k,

    u(k) = speed_up · h(k) · ( k (k·d) / |k|  +  i · upwind · (k·d) · d )

The first part is the flow that a potential gives: it is symmetric to both sides of a crest, weighs every size of hill
by its steepness, squeezes the wind through gaps, and takes from it in a valley what blows across. The second is the
slope along the wind: friction moves the fastest place upwind of the crest.

Behind a crest the flow separates: h is not the ground but the line that falls from the crest by `shelter_angle`, where
that is higher, as in dunes' separation bubbles, and below it the wind is slower, by up to `shelter`. That wind in a
landscape shall be found from its relief at several sizes at once, and have such a shadow, is after Paris, Peytavie,
Guérin, Argudo, Galin 2019, "Desertscape Simulation"; waves have all sizes. Trees slow the wind likewise, and it
recovers within `tree_length` cells behind them.

Steep ground would make it too much: what is added along the wind, x, counts as x / (1 + x / (highest − 1)), what is
taken leaves 1 / (1 + x), and what blows across is limited in the same way as what is added.

The ground is taken on a grid of up to 256 nodes a side, because a hill's wind reaches farther than its foot. Beyond
open edges it goes on as in a mirror, and half a map beyond them comes the other side.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.layers import Layer
from kernels.parameters import exact
from kernels.units import Cells, Degrees, Times

_MOST_NODES = 256

# Waves that are short beside the distance of two nodes are smoothed away; in nodes.
_SMOOTHING = 1.0

# Under the line from a crest, the shelter is full where the ground is lower than the line falls in so many nodes.
_NODES_TO_SHELTER = 3.0

# So often a line from a crest goes around a map that wraps, at most.
_MOST_ROUNDS = 16


class WindFieldParameters(NamedTuple):
    """How strongly ground and trees act on the wind."""

    wind_direction: Degrees  # where the prevailing wind comes from, clockwise from north
    speed_up: float
    upwind: float
    shelter: float  # part of the wind that is missing behind a crest
    shelter_angle: Degrees  # by which the line from a crest falls
    tree_shelter: float  # part of the wind that is missing under a closed canopy
    tree_length: Cells  # behind trees over which the wind recovers, to a part of 1 / e
    highest: Times  # what no wind is faster than, beside the prevailing one
    wrap: bool  # what leaves the map comes back on the other side


def find_wind_field(
    ground: Layer,
    canopy: NDArray[np.float32] | None,
    cell_size: float,
    parameters: WindFieldParameters,
    field: NDArray[np.float32],
) -> None:
    """Write the wind near the ground to `field`, float32 [row, column, (south, east)], as parts of the prevailing one.

    `ground` is float64 metres [row, column], `canopy` the part of each cell under the crowns of trees, from 0 to 1, or
    None; `cell_size` is the side of a cell in metres. Over level open ground the wind is the prevailing one. A value
    that is not a finite number spreads over the field, and nowhere else.
    """
    rows, columns = ground.shape
    p = exact(parameters)
    step = math.ceil(max(rows, columns) / _MOST_NODES)
    nodes = math.ceil(rows / step), math.ceil(columns / step)
    sides = rows / nodes[0] * cell_size, columns / nodes[1] * cell_size  # metres from node to node
    south = round(math.cos(math.radians(p.wind_direction)), 15)
    east = round(-math.sin(math.radians(p.wind_direction)), 15)
    height, crowns = np.empty(nodes), np.zeros(nodes)
    _mean_of_cells(ground, height)
    if canopy is not None:
        _mean_of_cells(canopy, crowns)
    slope = math.tan(math.radians(min(p.shelter_angle, 89.9)))
    line = height.copy()
    _sweep(line, crowns, south, east, sides[0], sides[1], slope, 1.0 / (p.tree_length * cell_size), p.wrap)
    relief = (line - line.mean()).astype(np.float32)  # twice as fast, and far finer than what is not known of the wind
    if not p.wrap:
        relief = _go_on(_go_on(relief).T).T
    waves = np.fft.rfft2(relief)
    row_waves = 2.0 * np.pi * np.fft.fftfreq(relief.shape[0], sides[0])
    column_waves = 2.0 * np.pi * np.fft.rfftfreq(relief.shape[1], sides[1])
    smooth_row, smooth_column = _SMOOTHING * sides[0], _SMOOTHING * sides[1]
    to_south, to_east = np.empty_like(waves), np.empty_like(waves)
    _respond(
        waves, relief.shape[1], row_waves, column_waves, smooth_row, smooth_column, south, east,
        p.speed_up, p.upwind, to_south, to_east,
    )  # fmt: skip
    more_south, more_east = (np.fft.irfft2(wave, relief.shape)[: nodes[0], : nodes[1]] for wave in (to_south, to_east))
    full = slope * _NODES_TO_SHELTER * max(sides)
    _limit(more_south, more_east, line - height, crowns, south, east, full, p.shelter, p.tree_shelter, p.highest - 1.0)
    _to_cells(more_south, more_east, field, p.wrap)


def _go_on(relief: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows, and after them half as many more that lead from the last to the first: both mirrored, the one fading
    into the other, so that the whole goes on periodically without a step."""
    more = len(relief) // 2
    place = ((np.arange(more, dtype=np.float32) + 0.5) / more)[:, None]
    fade = place * place * (3.0 - 2.0 * place)
    return np.concatenate([relief, (1.0 - fade) * relief[: -more - 1 : -1] + fade * relief[more - 1 :: -1]])


@njit(cache=True, nogil=True, parallel=True)
def _mean_of_cells(layer: Any, nodes: Any) -> None:
    """The mean of the cells of each node."""
    rows, columns = layer.shape
    for i in prange(nodes.shape[0]):
        north, south = i * rows // nodes.shape[0], (i + 1) * rows // nodes.shape[0]
        for j in range(nodes.shape[1]):
            west, east = j * columns // nodes.shape[1], (j + 1) * columns // nodes.shape[1]
            total = 0.0
            for row in range(north, south):
                for column in range(west, east):
                    total += layer[row, column]
            nodes[i, j] = total / ((south - north) * (east - west))


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(line, crowns, south, east, side_south, side_east, slope, recovery, wrap):
    """With the wind over the map: draw the lines that fall from crests, and let trees shelter what is behind them.

    It goes from row to row, or from column to column where the wind blows rather along the rows, and looks back along
    the wind between two nodes of the one before. Where the map wraps, it goes around until the highest line has fallen.
    """
    across_rows = abs(south) * side_east >= abs(east) * side_south
    if across_rows:
        lines, places = line.shape
        drift = -(east / side_east) / (abs(south) / side_south)  # nodes to the side, looking back one line
        distance = side_south / abs(south)
        backwards = south < 0.0
    else:
        places, lines = line.shape
        drift = -(south / side_south) / (abs(east) / side_east)
        distance = side_east / abs(east)
        backwards = east < 0.0
    falls = slope * distance
    stays = math.exp(-recovery * distance)
    first = math.floor(drift)
    part = drift - first
    rounds = min(2 + int((line.max() - line.min()) / (falls * lines)), _MOST_ROUNDS) if wrap else 1
    for number in range(1, rounds * lines):
        this, before = number % lines, (number - 1) % lines
        if backwards:
            this, before = lines - 1 - this, lines - 1 - before
        for place in range(places):
            a, b = place + first, place + first + 1
            if wrap:
                a, b = a % places, b % places
            elif a < 0 or a >= places or (part > 0.0 and b >= places):
                continue  # what lies beyond an open edge gives no shelter
            else:
                b = min(b, places - 1)
            if across_rows:
                here = this, place
                one, other = (before, a), (before, b)
            else:
                here = place, this
                one, other = (a, before), (b, before)
            line[here] = max(line[here], (1.0 - part) * line[one] + part * line[other] - falls)
            crowns[here] = max(crowns[here], stays * ((1.0 - part) * crowns[one] + part * crowns[other]))


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _respond(
    waves: Any, columns: int, row_waves: Any, column_waves: Any, smooth_row: float, smooth_column: float,
    south: float, east: float, speed_up: float, upwind: float, to_south: Any, to_east: Any,
) -> None:  # fmt: skip
    """What each wave of the ground, which has so many columns, adds to the wind, as at the top of this file."""
    for i in prange(waves.shape[0]):
        k_south = row_waves[i]
        for j in range(waves.shape[1]):
            k_east = column_waves[j]
            length = math.sqrt(k_south * k_south + k_east * k_east)
            along = k_south * south + k_east * east
            a, b = k_south * smooth_row, k_east * smooth_column
            wave = speed_up * math.exp(-0.5 * (a * a + b * b)) * waves[i, j]
            if 2 * i == waves.shape[0] or 2 * j == columns:
                wave *= 0.0  # the shortest wave has no sign, and so no direction
            both = along / length if length > 0.0 else 0.0
            shift = 1j * (upwind * along)
            to_south[i, j] = wave * (both * k_south + shift * south)
            to_east[i, j] = wave * (both * k_east + shift * east)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _limit(
    more_south: Any, more_east: Any, depth: Any, crowns: Any, south: float, east: float, full: float, shelter: float,
    tree_shelter: float, most: float,
) -> None:  # fmt: skip
    """Make of what the ground adds to the wind the wind itself, which is neither too fast nor turns back."""
    for i in prange(more_south.shape[0]):
        for j in range(more_south.shape[1]):
            along = more_south[i, j] * south + more_east[i, j] * east
            across = more_east[i, j] * south - more_south[i, j] * east
            if along >= 0.0:
                along = 1.0 + along * most / (most + along) if most > 0.0 else 1.0
            else:
                along = 1.0 / (1.0 - along)
            across *= most / (most + abs(across)) if most > 0.0 else 0.0
            part = min(1.0, depth[i, j] / full)
            left = (1.0 - shelter * part) * (1.0 - tree_shelter * crowns[i, j])
            more_south[i, j] = left * (along * south - across * east)
            more_east[i, j] = left * (along * east + across * south)


@njit(cache=True, nogil=True, parallel=True)
def _to_cells(from_south: Any, from_east: Any, field: Any, wrap: bool) -> None:
    """Interpolate from the nodes to the cells."""
    rows, columns = field.shape[:2]
    nodes_south, nodes_east = from_south.shape
    for row in prange(rows):
        y = (row + 0.5) * nodes_south / rows - 0.5
        i = math.floor(y)
        down = y - i
        above, below = i, i + 1
        if wrap:
            above, below = above % nodes_south, below % nodes_south
        else:
            above, below = max(above, 0), min(below, nodes_south - 1)
        for column in range(columns):
            x = (column + 0.5) * nodes_east / columns - 0.5
            j = math.floor(x)
            right = x - j
            west, east = j, j + 1
            if wrap:
                west, east = west % nodes_east, east % nodes_east
            else:
                west, east = max(west, 0), min(east, nodes_east - 1)
            for what in range(2):
                nodes = from_south if what == 0 else from_east
                upper = (1.0 - right) * nodes[above, west] + right * nodes[above, east]
                lower = (1.0 - right) * nodes[below, west] + right * nodes[below, east]
                field[row, column, what] = (1.0 - down) * upper + down * lower
