"""Meandering rivers: centrelines that migrate over a flood plain, cut off bends, and rework the ground.

A river is a line of points, about half a width apart, from its source to its mouth; both keep their place. In a step
of time each point moves away from the centre of its curve C, by the curvature there and further up the river (Howard &
Knutson 1984, after the linear theory of bends of Ikeda, Parker & Sawai 1981):

    rate = E · σ^(−2/3) · w · (Ω · C + Γ · α · ∫ C(s − ξ) · exp(−α · ξ) dξ)     α = 2 · friction / depth

with Ω = −1, Γ = 2.5, the sinuosity σ and the width w. So bends grow, and drift down the valley. A bank that is higher
than the channel is deep takes as much longer, as it has more to carry off (the rate is a volume of bank), and one of
rock by what this resists. Where two parts of a line come nearer than a channel's width, the neck between them is cut
through, and the bend is left as an oxbow.

What the ground has of it:

- The bed falls from source to mouth. In time it evens out along the river (diffusion of the long profile, Begin 1988),
  so that a river that grows longer, or shorter by a cut-off, finds its slope.
- Of a cell the channel covers a part. As it takes more of it, the cell is lowered to the bed; as it leaves, the cell is
  filled as a point bar. How high bars grow changes with the years, so that a bend leaves ridges and swales.
- What stands low beside the river is slowly filled up to the flood plain, less so farther away (Howard 1996): oxbows.
- All of it is worn first and laid down from the river's load, from source to mouth: no more is laid down than is there.
  What is left at the mouth leaves with the water.

Places are metres from the north-western corner of the map.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.hydraulic_geometry import bankfull_depth, channel_width
from kernels.layers import Layer, check_layers
from kernels.loads import all_of, dig, lay
from kernels.materials import Materials, Moved, asked, rock_at
from kernels.neighbours import OUTLET, index_steps
from kernels.random import process_number, stream, uniform
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.units import Metres, MetresPerYear, PerYear, SquareMetresPerYear, Widths, Years

# A point of a centreline: the number of its river, its place in metres, the mean discharge in cubic metres a second and
# the height of the bed in metres. Points of one river follow each other from its source to its mouth.
RIVER, SOUTH, EAST, DISCHARGE, BED = range(5)

BAND = 32  # rows in which a thread looks at once for what lies near rivers

Centrelines = NDArray[np.float64]  # [point, one of the above]
Numbers = NDArray[np.float64]

OMEGA, GAMMA = -1.0, 2.5  # weights of the curvature at a point and of that above it
SPACING = 0.5  # widths from point to point
NECK = 1.25  # widths: between two parts of a line that are nearer, the neck is cut through
LOOP = 4.0  # widths: a shorter way from one to the other is no bend
CALM = 6.0  # widths from its ends over which a river begins to move
LARGEST_MOVE = 0.06  # widths, of a bend as sharp as its river is wide: longer steps are taken in parts
MOST_PARTS = 64  # of a step; what would go farther stays behind
INFLOW = 0.12  # curvature of what comes in, relative to the width: the bends that a river has above its source
INFLOW_SPACING = 4.0  # widths that a bend migrates while this turns from one side to the other
BAR_SPACING = 1.0  # widths that a bend migrates between two ridges
BANKS = 2.0  # cells beyond a channel that belong to it
FLOODED = 3.0  # times `flood_reach`: as far as floods leave anything
SMOOTHING = 2.0  # widths over which a course of cells becomes a line

_process = process_number("meandering")


class MeanderParameters(NamedTuple):
    """How rivers move in a step."""

    years: Years
    river_width: Metres  # of a river of 1 m³/s: see kernels/hydraulic_geometry.py
    migration: MetresPerYear  # E: of a bend whose radius is the width of its river
    friction: float  # its coefficient: bends are the longer the less it is
    rock_erodibility: float  # how fast a bank of rock retreats, beside one of loose material
    bars: float  # how much the height of bars changes with the years, as a part of the depth
    flood_deposition: PerYear  # part of its depth below the flood plain by which ground at a bank is filled
    flood_reach: Widths  # over which this becomes a third
    bed_diffusivity: SquareMetresPerYear


class Meandered(NamedTuple):
    """Results of a step, in metres over one cell."""

    centrelines: Centrelines
    moved: Moved
    loads: Numbers  # [river, kind]: what came to each mouth; it is on the map no more
    cut_off: NDArray[np.int64]  # cells that belong to new oxbows, as row * columns + column
    levels: Numbers  # of the flood plain beside each of them, in metres
    bends: int  # that were cut off


_ASKED = (
    "kinds", "mix", "burden", "erodibility", "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_worn",
)  # fmt: skip
_FIELDS = (*_ASKED, "rates", "bedrock", "sediment", "ground", "rows", "columns", "cell_size")
_Land: Any = namedtuple("_Land", _FIELDS)  # type: ignore[misc]

# What lies near the rivers: the nearest point of each cell and how far away the line is, and the parts of it that
# channels cover, [one of these, cell]. Only blocks of cells that are `known` [row, block] have values, and only those
# that the lines have `reached` [row, block] have a nearest point. So rivers cost what they touch, not the whole map.
_BEFORE, _AFTER, _STRAIGHT = range(3)
_BLOCK = 64  # cells of a row
_Near: Any = namedtuple("_Near", ("nearest", "distance", "covered", "known", "reached"))

# Lines.


@njit(nogil=True, cache=True, error_model="numpy")
def curvatures(south: Any, east: Any) -> Any:
    """Of a line at each of its points, in 1/m: that of the circle through it and its neighbours; 0 at the ends.

    Above 0 it turns from south to east, that is to the left as it goes.
    """
    count = len(south)
    curvature = np.zeros(count)
    for i in range(1, count - 1):
        a_south, a_east = south[i] - south[i - 1], east[i] - east[i - 1]
        b_south, b_east = south[i + 1] - south[i], east[i + 1] - east[i]
        sides = math.sqrt(
            (a_south * a_south + a_east * a_east)
            * (b_south * b_south + b_east * b_east)
            * ((a_south + b_south) ** 2 + (a_east + b_east) ** 2)
        )
        if sides > 0.0:
            curvature[i] = 2.0 * (a_south * b_east - a_east * b_south) / sides
    return curvature


@njit(nogil=True, cache=True, error_model="numpy")
def upstream_means(lengths: Any, alpha: Any, values: Any, above: float) -> Any:
    """α · ∫ of `values` above each point of a line, times exp(−α · distance), by the trapezium rule.

    `lengths` [point] are those of the ways to the next points, in metres, and `alpha` [point] is 1/m along them;
    `above` is what it comes to at the first point.
    """
    count = len(values)
    means = np.full(count, above)
    total = above
    for i in range(1, count):
        half = 0.5 * lengths[i - 1] * alpha[i - 1]
        total = (total + half * values[i - 1]) * math.exp(-2.0 * half) + half * values[i]
        means[i] = total
    return means


@njit(nogil=True, cache=True, error_model="numpy")
def _ways(south, east):
    """The length from each point to the next, 0 at the last one."""
    lengths = np.zeros(len(south))
    for i in range(len(south) - 1):
        lengths[i] = math.hypot(south[i + 1] - south[i], east[i + 1] - east[i])
    return lengths


def sinuosity(south: Numbers, east: Numbers) -> float:
    """The length of a line beside the distance of its ends."""
    straight = math.hypot(south[-1] - south[0], east[-1] - east[0])
    return float(_ways(south, east).sum()) / straight if straight > 0.0 else 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def migration(south: Any, east: Any, width: Any, depth: Any, friction: float, inflow: float = 0.0) -> Any:
    """How fast each point of a line moves, as a part of E, [point]: to the left of its way, or below 0 to the right.

    `width` and `depth` are in metres, [point]. `inflow` is the mean curvature of the river above its first point, in
    1/m, weighted as the integral weights it.
    """
    lengths = _ways(south, east)
    curvature = curvatures(south, east)
    above = upstream_means(lengths, 2.0 * friction / depth, curvature, inflow)
    last = len(south) - 1
    straight = math.hypot(south[last] - south[0], east[last] - east[0])
    along = lengths.sum()
    slower = (straight / along) ** (2.0 / 3.0) if along > 0.0 else 0.0
    # Away from the centre of the curve, which is to the left where it turns there.
    return -slower * width * (OMEGA * curvature + GAMMA * above)


# Banks.


@njit(nogil=True, cache=True, error_model="numpy")
def _bank(land, near, rivers, owner, south, east, bed, depth, rock_erodibility):
    """How readily the bank at a place gives way: 1 where it is loose and as high as the channel is deep."""
    row, column = int(np.floor(south / land.cell_size)), int(np.floor(east / land.cell_size))
    if not (0 <= row < land.rows and 0 <= column < land.columns):
        return 0.0
    cell = row * land.columns + column
    if near.reached[row, column // _BLOCK] and near.nearest[cell] >= 0 and rivers[near.nearest[cell]] != owner:
        return 0.0
    height = max(land.ground[cell] - bed, depth)
    rock = min(max(land.bedrock[cell] - bed, 0.0), height) / height
    yields = (1.0 - rock) + rock * rock_erodibility * land.rock_erodibility[rock_at(land, cell, land.bedrock[cell])]
    return yields * depth / height * rate_of(land.rates, cell, ERODIBILITY) * rate_of(land.rates, cell, MOBILITY)


@njit(nogil=True, cache=True, error_model="numpy")
def _move(land, near, rivers, river, points, width, depth, years, inflow, parameters):
    """Let the points of one river migrate. `rivers` are those of the points that are near to cells."""
    south, east = points[:, SOUTH].copy(), points[:, EAST].copy()
    rates = migration(south, east, width, depth, parameters.friction, inflow)
    lengths = _ways(south, east)
    along, whole = 0.0, lengths.sum()
    for i in range(1, len(south) - 1):
        along += lengths[i - 1]
        way_south, way_east = south[i + 1] - south[i - 1], east[i + 1] - east[i - 1]
        way = math.hypot(way_south, way_east)
        if not way > 0.0:
            continue
        left_south, left_east = -way_east / way, way_south / way
        nominal = min(parameters.migration * years, LARGEST_MOVE * width[i])
        move = nominal * rates[i] * min(1.0, min(along, whole - along) / (CALM * width[i]))
        side = math.copysign(0.5 * width[i] + land.cell_size, move)
        move *= _bank(
            land, near, rivers, river, south[i] + side * left_south, east[i] + side * left_east, points[i, BED],
            depth[i], parameters.rock_erodibility,
        )  # fmt: skip
        points[i, SOUTH] += move * left_south
        points[i, EAST] += move * left_east


@njit(nogil=True, cache=True, error_model="numpy")
def _respaced(points, width):
    """The line with points added and left out, so that they are about as far from each other as they should be."""
    count = len(points)
    room = 4 * count + 8
    kept = np.empty((room, points.shape[1]))
    kept[0] = points[0]
    end = 1
    for i in range(1, count):
        spacing = SPACING * width[i]
        gap = math.hypot(points[i, SOUTH] - kept[end - 1, SOUTH], points[i, EAST] - kept[end - 1, EAST])
        if i < count - 1 and gap < 0.6 * spacing:
            continue
        parts = min(int(gap / (1.4 * spacing)) + 1, room - end - (count - i))
        before = kept[end - 1].copy()
        bent = parts == 2 and end > 1 and i < count - 1
        for part in range(1, parts):
            share = part / parts
            kept[end] = (1.0 - share) * before + share * points[i]
            if bent:  # on the curve, not on its chord
                for axis in (SOUTH, EAST):
                    kept[end, axis] = (
                        9.0 * (before[axis] + points[i, axis]) - kept[end - 2, axis] - points[i + 1, axis]
                    ) / 16.0
            end += 1
        kept[end] = points[i]
        end += 1
    return kept[:end]


@njit(nogil=True, cache=True, error_model="numpy")
def _without_loops(points, width):
    """The line with the necks of its bends cut through, and how many they were."""
    count = len(points)
    lengths = _ways(points[:, SOUTH], points[:, EAST])
    kept = np.ones(count, np.bool_)
    cut = 0
    i = 0
    while i < count - 2:
        neck = NECK * width[i]
        along = 0.0
        j = i
        while j < count - 1:
            along += lengths[j]
            j += 1
            if along < LOOP * width[i]:
                continue
            gap = math.hypot(points[j, SOUTH] - points[i, SOUTH], points[j, EAST] - points[i, EAST])
            if gap < neck:
                kept[i + 1 : j] = False
                cut += 1
                i = j - 1
                break
            # It comes no nearer than the way allows.
            to_go = gap - neck
            while j < count - 2 and to_go > lengths[j]:
                to_go -= lengths[j]
                along += lengths[j]
                j += 1
        i += 1
    return points[kept], cut


# The ground.


@njit(nogil=True, error_model="numpy")
def _reach(land, near, row, first, last):
    """Make the blocks with the columns from `first` to `last` of a row ready for nearest points."""
    for block in range(first // _BLOCK, last // _BLOCK + 1):
        if near.reached[row, block]:
            continue
        near.reached[row, block] = True
        begin, end = _cells_of(land, row, block)
        near.nearest[begin:end] = -1
        near.distance[begin:end] = np.inf
        if not near.known[row, block]:
            near.known[row, block] = True
            near.covered[:, begin:end] = 0.0


@inlined
def _cells_of(land, row, block):
    """The first cell of a block, and that after its last one."""
    return row * land.columns + block * _BLOCK, row * land.columns + min((block + 1) * _BLOCK, land.columns)


@njit(nogil=True, cache=True, error_model="numpy")
def _rows_near(land, points, reach):
    """The first row within `reach` metres of each part of a line, and that after the last one, [part, 2]."""
    size = land.cell_size
    rows = np.zeros((len(points), 2), np.int32)
    for i in range(len(points) - 1):
        if points[i, RIVER] != points[i + 1, RIVER]:
            continue
        south, way_south = points[i, SOUTH], points[i + 1, SOUTH] - points[i, SOUTH]
        rows[i, 0] = max(int((south + min(way_south, 0.0) - reach[i]) / size - 0.5), 0)
        rows[i, 1] = min(int((south + max(way_south, 0.0) + reach[i]) / size + 0.5), land.rows - 1) + 1
    return rows


@njit(nogil=True, error_model="numpy")
def _paint(land, points, reach, rows, near, first, last):
    """For each cell within `reach` metres of a line, [point], its nearest point and how far away the line is.

    Only in the rows from `first` to before `last`; `rows` are those of `_rows_near`.
    """
    near.reached[first:last] = False
    nearest, distance = near.nearest, near.distance
    size = land.cell_size
    for i in range(len(points) - 1):
        first_row, end_row = max(np.int64(rows[i, 0]), first), min(np.int64(rows[i, 1]), last)
        if first_row >= end_row:
            continue
        south, east = points[i, SOUTH], points[i, EAST]
        way_south, way_east = points[i + 1, SOUTH] - south, points[i + 1, EAST] - east
        squared = way_south * way_south + way_east * way_east
        margin = reach[i]
        first_column = max(int((east + min(way_east, 0.0) - margin) / size - 0.5), 0)
        last_column = min(int((east + max(way_east, 0.0) + margin) / size + 0.5), land.columns - 1)
        for row in range(first_row, end_row):
            off_south = (row + 0.5) * size - south
            _reach(land, near, row, first_column, last_column)
            # Without a branch, several cells in one instruction
            for column in range(first_column, last_column + 1):
                off_east = (column + 0.5) * size - east
                share = 0.0
                if squared > 0.0:
                    share = min(max((off_south * way_south + off_east * way_east) / squared, 0.0), 1.0)
                from_south, from_east = off_south - share * way_south, off_east - share * way_east
                away = from_south * from_south + from_east * from_east
                cell = np.uintp(row * land.columns + column)
                before, known = distance[cell], nearest[cell]
                is_nearer = (away <= margin * margin) & (away < before)
                distance[cell] = away if is_nearer else before
                nearest[cell] = np.int32(i) if is_nearer else known
    for row in range(first, last):
        for block in range(near.reached.shape[1]):
            if near.reached[row, block]:
                begin, end = _cells_of(land, row, block)
                for cell in range(np.uintp(begin), np.uintp(end)):
                    distance[cell] = math.sqrt(distance[cell])


@inlined
def _covered(distance, width, size):
    """The part of a cell that a channel covers whose middle is so far from its own."""
    below = max(distance - 0.5 * size, -0.5 * width)
    above = min(distance + 0.5 * size, 0.5 * width)
    return min(max((above - below) / size, 0.0), 1.0)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _cover(land, points, width, reach, near, which):
    """As `_paint`, on the whole map, and the part of each cell that the channels cover; `which` −1: not that."""
    rows = _rows_near(land, points, reach)
    bands = (land.rows + BAND - 1) // BAND
    for unsigned_band in prange(bands):
        first = np.int64(unsigned_band) * BAND
        last = min(first + BAND, land.rows)
        _paint(land, points, reach, rows, near, first, last)
        if which >= 0:
            _cover_rows(land, width, near, which, first, last)


@njit(nogil=True, error_model="numpy")
def _cover_rows(land, width, near, which, first, last):
    part = near.covered[which]
    for row in range(first, last):
        for block in range(near.known.shape[1]):
            if not near.known[row, block]:
                continue
            begin, end = _cells_of(land, row, block)
            part[begin:end] = 0.0
            if not near.reached[row, block]:
                continue
            for cell in range(np.uintp(begin), np.uintp(end)):
                if near.nearest[cell] >= 0:
                    part[cell] = _covered(near.distance[cell], width[near.nearest[cell]], land.cell_size)


@njit(nogil=True, cache=True, error_model="numpy")
def _even_out(points, first, last, amount):
    """Diffusion of the long profile of one river, implicit, its ends fixed; `amount` is diffusivity times time."""
    count = last - first
    if count < 3 or amount <= 0.0:
        return
    ratio, value = np.zeros(count), np.empty(count)
    value[0] = points[first, BED]
    for i in range(1, count - 1):
        point = first + i
        before = math.hypot(
            points[point, SOUTH] - points[point - 1, SOUTH], points[point, EAST] - points[point - 1, EAST]
        )
        after = math.hypot(
            points[point + 1, SOUTH] - points[point, SOUTH], points[point + 1, EAST] - points[point, EAST]
        )
        above = 2.0 * amount / (max(before, 1e-9) * (before + after))
        below = 2.0 * amount / (max(after, 1e-9) * (before + after))
        own = 1.0 + above + below - above * ratio[i - 1]
        ratio[i] = below / own
        value[i] = (points[point, BED] + above * value[i - 1]) / own
    for i in range(count - 2, 0, -1):
        points[first + i, BED] = value[i] + ratio[i] * points[first + i + 1, BED]


@njit(nogil=True, cache=True, error_model="numpy")
def _grade(land, points, near, amount):
    """Bring the beds to the ground, where others have dug deeper, and let them fall from source to mouth."""
    last = len(points)
    for i in range(len(points) - 1, -1, -1):
        row = int(np.floor(points[i, SOUTH] / land.cell_size))
        column = int(np.floor(points[i, EAST] / land.cell_size))
        if 0 <= row < land.rows and 0 <= column < land.columns:
            cell = row * land.columns + column
            if near.known[row, column // _BLOCK] and near.covered[_BEFORE, cell] == 1.0:
                points[i, BED] = min(points[i, BED], land.ground[cell])
        if i + 1 < len(points) and points[i + 1, RIVER] == points[i, RIVER]:
            points[i, BED] = max(points[i, BED], points[i + 1, BED])
        else:
            last = i + 1
        if i == 0 or points[i - 1, RIVER] != points[i, RIVER]:
            _even_out(points, i, last, amount)


@njit(nogil=True, cache=True, error_model="numpy")
def _near_cells(land, near, points):
    """The cells that have a nearest point, those of each of so many points one after the other, and where they begin.

    Of one point they stand in the order of the map.
    """
    begins = np.zeros(points + 1, np.int64)
    for row in range(land.rows):
        for block in range(near.reached.shape[1]):
            if near.reached[row, block]:
                begin, end = _cells_of(land, row, block)
                for cell in range(begin, end):
                    if near.nearest[cell] >= 0:
                        begins[near.nearest[cell] + 1] += 1
    for i in range(points):
        begins[i + 1] += begins[i]
    cells, placed = np.empty(begins[-1], np.int64), begins[:-1].copy()
    for row in range(land.rows):
        for block in range(near.reached.shape[1]):
            if near.reached[row, block]:
                begin, end = _cells_of(land, row, block)
                for cell in range(begin, end):
                    if near.nearest[cell] >= 0:
                        cells[placed[near.nearest[cell]]] = cell
                        placed[near.nearest[cell]] += 1
    return cells, begins


@njit(nogil=True, cache=True, error_model="numpy")
def _channels(land, near):
    """The cells that channels now cover by more than a half, in the order of the map, and their nearest points."""
    cells, points = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for row in range(land.rows):
        for block in range(near.reached.shape[1]):
            if near.reached[row, block]:
                begin, end = _cells_of(land, row, block)
                for cell in range(begin, end):
                    if near.nearest[cell] >= 0 and near.covered[_AFTER, cell] > 0.5:
                        cells.append(np.int64(cell))
                        points.append(np.int64(near.nearest[cell]))
    return np.array(cells, np.int64), np.array(points, np.int64)


@njit(nogil=True, cache=True, error_model="numpy")
def _join(land, near):
    """Let what is covered after a neck was cut be that and all that was covered before."""
    for row in range(land.rows):
        for block in range(near.known.shape[1]):
            if near.known[row, block]:
                begin, end = _cells_of(land, row, block)
                for cell in range(begin, end):
                    both = max(near.covered[_AFTER, cell], near.covered[_STRAIGHT, cell])
                    near.covered[_STRAIGHT, cell] = both


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _exchange(land, points, width, depth, near, was, now, years, bar, parameters, loads, from_rock):
    """Let the rivers wear and fill the ground where they have moved, each from its source to its mouth.

    `was` and `now` tell which parts of the cells channels covered and cover, `bar` is the height of bars above the bed
    as a part of the depth; `loads` are [river * kinds + kind].
    """
    cells, begins = _near_cells(land, near, len(points))
    wanted, rock = np.empty(len(cells)), np.zeros((len(cells), land.kinds))
    ends = _ends_of_rivers(points, len(loads) // land.kinds)
    for unsigned_river in prange(len(ends) - 1):
        river = np.int64(unsigned_river)
        _exchange_along(
            land, points, width, depth, near, was, now, years, bar, parameters, loads, cells, begins, wanted, rock,
            ends[river], ends[river + 1],
        )  # fmt: skip
    for place in range(len(cells)):  # in the order of the rivers, so that no number of threads shows
        for kind in range(land.kinds):
            from_rock[kind] += rock[place, kind]


@njit(nogil=True, error_model="numpy")
def _ends_of_rivers(points, rivers):
    """Where the points of each river begin, and where the last ones end."""
    ends = np.zeros(rivers + 1, np.int64)
    for i in range(len(points)):
        ends[int(points[i, RIVER]) + 1] += 1
    for river in range(rivers):
        ends[river + 1] += ends[river]
    return ends


@njit(nogil=True, error_model="numpy")
def _exchange_along(
    land, points, width, depth, near, was, now, years, bar, parameters, loads, cells, begins, wanted, rock, begin, end
):  # fmt: skip
    """For the points of one river. `rock` [cell of these, kind] becomes what was dug of rock."""
    before, after, distance = near.covered[was], near.covered[now], near.distance
    for i in range(begin, end):
        first = int(points[i, RIVER]) * land.kinds
        bed = points[i, BED]
        for place in range(begins[i], begins[i + 1]):
            cell = cells[place]
            free = rate_of(land.rates, cell, MOBILITY)
            height = land.ground[cell]
            share = 0.0
            if after[cell] == 1.0:
                share = 1.0
            elif after[cell] > before[cell]:
                share = (after[cell] - before[cell]) / (1.0 - before[cell])
            if share > 0.0 and height > bed and free > 0.0:
                dig(land, cell, free * share * (height - bed), loads, first, rock[place])
        # Beds that are too deep and bars come first, then what floods leave.
        for floods in (False, True):
            total = 0.0
            for place in range(begins[i], begins[i + 1]):
                cell = cells[place]
                level, share = 0.0, 0.0
                if not floods and after[cell] == 1.0:
                    level, share = bed, 1.0
                elif not floods and before[cell] > after[cell]:
                    level, share = bed + bar * depth[i], (before[cell] - after[cell]) / before[cell]
                elif floods and after[cell] < 1.0:
                    level = bed + depth[i]
                    away = max(distance[cell] - 0.5 * width[i], 0.0) / (parameters.flood_reach * width[i])
                    share = (1.0 - after[cell]) * (
                        1.0 - math.exp(-parameters.flood_deposition * years * math.exp(-away))
                    )
                wanted[place] = rate_of(land.rates, cell, MOBILITY) * share * max(level - land.ground[cell], 0.0)
                total += wanted[place]
            load = all_of(loads, first, land.kinds)
            if not (total > 0.0 and load > 0.0):
                continue
            served = min(1.0, load / total)
            for place in range(begins[i], begins[i + 1]):
                if wanted[place] > 0.0:
                    left = all_of(loads, first, land.kinds)
                    if left > 0.0:
                        lay(land, cells[place], min(served * wanted[place] / left, 1.0), loads, first)


@njit(nogil=True, cache=True, error_model="numpy")
def _settle(land, row, column, ways, level, load):
    """Fill the cells around one up to a level in the order of `ways`, while the load lasts."""
    for south, east in ways:
        if not all_of(load, 0, land.kinds) > 0.0:
            return
        if not (0 <= row + south < land.rows and 0 <= column + east < land.columns):
            continue
        cell = (row + south) * land.columns + column + east
        room = rate_of(land.rates, cell, MOBILITY) * (level - land.ground[cell])
        if room > 0.0:
            lay(land, cell, min(room / all_of(load, 0, land.kinds), 1.0), load, 0)


@njit(nogil=True, cache=True, error_model="numpy")
def _main_stem(directions, discharge, steps, outlet, least):
    """The cells of a river from its outlet up along the greatest discharge, as long as this is enough."""
    direction, flow = directions.reshape(-1), discharge.reshape(-1)
    rows, columns = directions.shape
    way = [outlet]
    cell = outlet
    while True:
        row, column = divmod(cell, columns)
        best = -1
        for neighbour in range(8):
            above = cell + steps[neighbour]
            above_row, above_column = divmod(above, columns)
            if not (0 <= above_row < rows and abs(above_column - column) <= 1 and abs(above_row - row) <= 1):
                continue
            flows_in = direction[above] != OUTLET and above + steps[direction[above]] == cell
            if flows_in and flow[above] >= least and (best < 0 or flow[above] > flow[best]):
                best = above
        if best < 0:
            return np.array(way)
        cell = best
        way.append(cell)
    return np.array(way)


def main_stem(directions: NDArray[np.int8], discharge: Numbers, outlet: int, least: float) -> NDArray[np.int64]:
    """The cells of a river, row * columns + column, from its source to an outlet, along the greatest discharge.

    It begins where the discharge, [row, column], is `least`.
    """
    steps = index_steps(directions.shape[1])
    way: NDArray[np.int64] = _main_stem(directions, discharge, steps, int(outlet), float(least))
    return way[::-1]


def centreline(
    river: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    level: Numbers,
    discharge: Numbers,
    cell_size: float,
    river_width: float,
) -> Centrelines:
    """The line of a river through the middles of cells, from its source to its mouth, as it was before it moved.

    `level` is the height of the flood plain in each of them, in metres, falling, and `discharge` the water.
    `river_width` is the width of a river of 1 m³/s in metres.
    """
    places = np.stack([rows + 0.5, columns + 0.5], axis=1) * cell_size
    width = channel_width(discharge, river_width)
    # By rounds of a mean with the neighbours: the courses of cells have corners, and rivers have none.
    for _ in range(math.ceil(2.0 * (SMOOTHING * float(width.mean()) / cell_size + 1.0) ** 2)):
        places[1:-1] = 0.25 * places[:-2] + 0.5 * places[1:-1] + 0.25 * places[2:]
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(places, axis=0).T)))
    count = max(round(along[-1] / (SPACING * float(width.mean()))), 2)
    at = np.linspace(0.0, along[-1], count + 1)
    line = np.empty((count + 1, 5))
    line[:, RIVER] = river
    for column, values in ((SOUTH, places[:, 0]), (EAST, places[:, 1]), (DISCHARGE, discharge)):
        line[:, column] = np.interp(at, along, values)
    line[:, BED] = np.interp(at, along, level) - bankfull_depth(channel_width(line[:, DISCHARGE], river_width))
    line[:, BED] = np.maximum.accumulate(line[::-1, BED])[::-1]
    return line


def meander(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    centrelines: Centrelines,
    parameters: MeanderParameters,
    *,
    seed: int = 0,
    begin: float = 0.0,
    fresh: bool = False,
    rates: Rates | None = None,
    scratch: Scratch | None = None,
) -> Meandered:
    """Let rivers migrate for some years, and bring the ground up to date in place.

    Layers are as kernels of particles take them: float64 metres [row, column]. `centrelines` [point, (river, south,
    east, discharge, bed)] are not changed. `begin` are the years that have passed before, which with `seed` decide how
    high bars grow. `fresh`: no channel has been cut yet. `rates` are those of kernels/rates.py. What lies near the
    rivers is worked out in `scratch`.
    """
    check_layers(bedrock, sediment, ground)
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
        *ground.shape, float(cell_size),
    ))  # fmt: skip
    rivers, kinds = count_rivers(centrelines), materials.kinds
    loads, from_rock = np.zeros(rivers * kinds), np.zeros(kinds)
    near = _nothing_near(ground.shape, scratch or Scratch())
    points, bends, oxbows, levels = centrelines.copy(), 0, [np.empty(0, np.int64)], [np.empty(0)]
    parts = _parts_of(parameters, points)
    years, river_width = parameters.years / parts, parameters.river_width
    for part in range(parts):
        moment = (begin + years * (part + 0.5)) * parameters.migration
        width, depth = _sizes(points, river_width)
        if not (fresh and part == 0):
            _cover(land, points, width, 0.5 * width + BANKS * cell_size, near, _BEFORE)
        _cover(land, points, width, 1.5 * width, near, -1)
        owners = points[:, RIVER].copy()
        lines = _lines(points)
        for number, line in enumerate(lines):
            own_width, own_depth = _sizes(line, river_width)
            swing = 2.0 * _noise(number, moment / (INFLOW_SPACING * own_width[0]), seed) - 1.0
            inflow = INFLOW * swing / own_width[0]
            _move(land, near, owners, float(number), line, own_width, own_depth, years, inflow, parameters)
            lines[number] = _respaced(line, own_width)
        # First where they have moved to, before any neck is cut: what is cut off is not filled.
        points = np.concatenate(lines)
        points[:, SOUTH:DISCHARGE] = np.clip(points[:, SOUTH:DISCHARGE], 0.0, np.array(ground.shape) * cell_size)
        width, depth = _sizes(points, river_width)
        reach = 0.5 * width + BANKS * cell_size
        silting = 0.0
        if part == parts - 1:  # floods are slow: once in a step
            reach = np.maximum(reach, FLOODED * parameters.flood_reach * width)
            silting = parameters.years
        _cover(land, points, width, reach, near, _AFTER)
        _grade(land, points, near, parameters.bed_diffusivity * years)
        bar = 1.0 - parameters.bars * _noise(rivers, moment / (BAR_SPACING * float(width.mean())), seed)
        _exchange(land, points, width, depth, near, _BEFORE, _AFTER, silting, bar, parameters, loads, from_rock)
        cut = 0
        for number, line in enumerate(lines := _lines(points)):
            shorter, necks = _without_loops(line, _sizes(line, river_width)[0])
            if necks:
                lines[number] = _respaced(shorter, _sizes(shorter, river_width)[0])
                cut += necks
        if cut:
            bends += cut
            channels, nearest = _channels(land, near)
            banks = (points[:, BED] + depth)[nearest]
            points = np.concatenate(lines)
            width, depth = _sizes(points, river_width)
            _cover(land, points, width, 0.5 * width + BANKS * cell_size, near, _STRAIGHT)
            is_left = (near.covered[_STRAIGHT, channels] == 0.0) & ~np.isin(channels, np.concatenate(oxbows))
            oxbows.append(channels[is_left])
            levels.append(banks[is_left])
            _join(land, near)
            _exchange(land, points, width, depth, near, _AFTER, _STRAIGHT, 0.0, bar, parameters, loads, from_rock)
    return Meandered(
        points, Moved(tuple(from_rock.tolist())), loads.reshape(rivers, kinds),
        np.concatenate(oxbows), np.concatenate(levels), bends,
    )  # fmt: skip


def _nothing_near(shape: tuple[int, ...], scratch: Scratch) -> Any:
    """Room for what lies near rivers, in which there is nothing yet."""
    rows, columns = shape
    cells, blocks = rows * columns, -(-columns // _BLOCK)
    return _Near(
        scratch.empty(cells, np.int32), scratch.empty(cells), scratch.empty((3, cells)),
        np.zeros((rows, blocks), np.bool_), np.zeros((rows, blocks), np.bool_),
    )  # fmt: skip


def count_rivers(centrelines: Centrelines) -> int:
    """How many rivers the lines are of."""
    return int(centrelines[-1, RIVER]) + 1 if len(centrelines) else 0


def _lines(points: Centrelines) -> list[Centrelines]:
    """The line of each river, a copy."""
    ends = np.searchsorted(points[:, RIVER], np.arange(count_rivers(points) + 1))
    return [points[first:last].copy() for first, last in itertools.pairwise(ends)]


def _sizes(points: Centrelines, river_width: float) -> tuple[Numbers, Numbers]:
    """The width and the depth of the channel at each point, in metres, where one of 1 m³/s is so wide."""
    width = channel_width(np.ascontiguousarray(points[:, DISCHARGE]), river_width)
    return width, bankfull_depth(width)


def _parts_of(parameters: MeanderParameters, points: Centrelines) -> int:
    """The number of parts of a step, so that each is short relative to the evolution of bends."""
    narrowest = float(_sizes(points, parameters.river_width)[0].min())
    return min(max(math.ceil(parameters.migration * parameters.years / (LARGEST_MOVE * narrowest)), 1), MOST_PARTS)


def _noise(number: int, at: float, seed: int) -> float:
    """Value noise, from 0 to 1: the one of a number, at a place where it has a new value at each whole one."""
    key = np.uint64(stream(int(seed), _process, number))
    span, part = divmod(at, 1.0)
    first, second = float(uniform(key, int(span))), float(uniform(key, int(span) + 1))
    return first + (second - first) * part * part * (3.0 - 2.0 * part)


def lay_around(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    middle: tuple[int, int],
    reach: int,
    level: float,
    load: Numbers,
    rates: Rates | None = None,
) -> None:
    """Fill the cells around one up to a level, the nearest first.

    `middle` is its row and column, `reach` how many cells of rows and columns it goes to each side, and `load` that of
    each kind, in metres over one cell. What finds no room is left in `load`.
    """
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
        *ground.shape, 1.0,
    ))  # fmt: skip
    _settle(land, *middle, _by_distance(reach), float(level), load)


@functools.cache
def _by_distance(reach: int) -> NDArray[np.int16]:
    """The ways to all cells around one, [cell, (rows, columns)], the shortest first."""
    south, east = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    nearest = np.argsort((south**2 + east**2).reshape(-1), kind="stable")
    return np.stack([south.reshape(-1)[nearest], east.reshape(-1)[nearest]], axis=1).astype(np.int16)
