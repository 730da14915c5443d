"""Sliding of loose material that is steeper than its angle of repose.

After McDonald 2020, "Simple particle-based wind erosion": where the ground differs by more than `roughness` between
two neighbours, half the excess moves down, limited by the sediment that is there, times `settling`. The article does
this at each contact of a particle, for the cell of contact; here it is one pass over the map for all loose material,
whatever made it steep, because a pass reads and writes memory in order and costs a few per cent of what the particles
do. Where more parcels of wind are over each cell than in the article, or slower ones for a longer time, it goes as much
faster, as there; where fewer are, it keeps its pace, as water and frost make slopes too. So sand settles four times as
much under a wind of a quarter of the speed, which is most of what the article shows of it.

In cells n times as fine n² passes do the work of one, as the flux down an excess is a diffusion. Where little lies on a
steep slope, all of it is on its way, a part of a cell in each pass: there only one nth of it counts, so that it comes
down as fast in metres.

A difference over the diagonal is allowed √2 times as much, as it lies √2 cells apart: so the angle of repose is the
same in all eight directions, and a heap becomes a cone and not a pyramid. The article allows no more over the diagonal
than straight ahead; there forms of four to eight cells keep two thirds of the power that they have here
(`tests/kernels/test_wind.py` shows that this is the only reason).

Of several materials each lies at its own angle of repose. A mix has the mean of the tangents of its kinds,
weighted by their thickness, and what slides is as mixed as the cell that gives it. Half-wet ground stands steeper, as
films of water hold its grains together; where it is soaked they bear a part of its weight, and it lies at about half
the tangent (Skempton & DeLory 1957). Roots hold it. What counts between two cells is the ground of the higher one, as
that is what would slide: so both see the same. The mobility of both (kernels/rates.py) is a factor on what moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, njit
from kernels.layers import WALL, Layer, check_layers
from kernels.materials import Materials, ground_of
from kernels.parameters import exact
from kernels.rates import MOBILITY, Rates, flat
from kernels.rates import STRIDE as RATES
from kernels.surface import ROOTS, STRIDE, WETNESS
from kernels.units import Speed, Times

# The map is processed in place, in bands of so many rows: copies of whole layers would cost more than the pass.
BAND = 32

# Cells of a row whose mix is worked on together, if anything slides there at all.
_STRETCH = 64

# What the article's cascades do in a cycle of its 250 particles on 256×256 cells: one at each step on the ground and
# two in the air make 5.5 for each cell, of a time of dt = 0.25. A pair of neighbours meets in those of both.
_TIME = 5.5 * 0.25
_BOTH = 2.0
_PARCELS = 250.0
_SIDE = 256.0
_SPEED = 1.4

# Largest part that eight neighbours may take together; a little below 1, as sums are rounded.
_FASTEST = 0.125 * (1.0 - 1e-9)

# However many parcels blow. So many at the fastest rate leave nothing steep within thirty cells.
_MOST_PASSES = 1000

# Metres: less than this does not slide, as parts of it could not be told.
_LEAST = 1e-290


class CascadeParameters(NamedTuple):
    """How loose material slides."""

    settling: float  # up to 0.045, where all that can slide does
    creep: float  # part of the difference that moves by the same rate below the angle of repose: 0 to 1
    passes: int
    wrap: bool  # the map's edges are neighbours of each other; else they are walls
    steepness: Times  # what all tangents of angles of repose are multiplied by
    wet_strength: float  # how much steeper half-wet ground stands, as a part
    soaked_weakness: float  # how much gentler soaked ground lies: 0 to below 1
    root_strength: float  # how much steeper ground full of roots stands
    parcels: int  # of wind that blew over the map in this cycle
    wind_speed: Speed
    pace: Times  # how many passes do the work of one, or how much of it one does
    supply: Times  # at most so many times the loose material of a cell count in the flow to a neighbour


@njit(inline="always")
def _flow(here, loose, other, other_loose, stable, creep, supply):
    """The flow from one neighbour in metres, negative towards it. The bits are the same from both sides."""
    difference = other - here
    moved = 0.5 * max(abs(difference) - stable, creep * abs(difference))
    return min(moved, supply * other_loose) if difference > 0.0 else -min(moved, supply * loose)


# Here and in other kernels cells are copied one by one: where one array is assigned to another, Numba also compiles the
# text of the error that says that their shapes differ, which takes a second and a half.


@njit(nogil=True, error_model="numpy")
def _keep_ends(ground, sediment, begin, last, before):
    """Keep what the first and the last row of a band are before a pass."""
    for j in range(ground.shape[1]):
        before[0, j] = ground[begin, j]
        before[1, j] = sediment[begin, j]
        before[2, j] = ground[last, j]
        before[3, j] = sediment[last, j]


@njit(nogil=True, error_model="numpy")
def _copy_row(ground, sediment, heights, depths, wrap):
    """Copy a row, with one more cell at each end: that of the other end, or a wall."""
    for j in range(len(ground)):
        heights[j + 1] = ground[j]
        depths[j + 1] = sediment[j]
    heights[0] = ground[-1] if wrap else WALL
    heights[-1] = ground[0] if wrap else WALL
    depths[0] = sediment[-1] if wrap else 0.0
    depths[-1] = sediment[0] if wrap else 0.0


@njit(nogil=True, error_model="numpy")
def _slide_row(rock, loose, surface, heights, depths, first, stable, creep, supply, rate):
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
            _flow(h, s, h0[j + 1], s0[j + 1], stable, creep, supply)
            + _flow(h, s, h1[j], s1[j], stable, creep, supply)
            + _flow(h, s, h1[j + 2], s1[j + 2], stable, creep, supply)
            + _flow(h, s, h2[j + 1], s2[j + 1], stable, creep, supply)
        )
        across = (
            _flow(h, s, h0[j], s0[j], diagonal, creep, supply)
            + _flow(h, s, h0[j + 2], s0[j + 2], diagonal, creep, supply)
            + _flow(h, s, h2[j], s2[j], diagonal, creep, supply)
            + _flow(h, s, h2[j + 2], s2[j + 2], diagonal, creep, supply)
        )
        s += rate * (beside + across)
        loose[j] = s
        surface[j] = rock[j] + s


@in_threads
def _slide_band(band, bedrock, sediment, ground, before, wrap, stable, creep, supply, rate):
    """One pass over a band of rows; `before` tells what was in the rows on both sides of it."""
    rows, columns = ground.shape
    begin, end = band * BAND, min((band + 1) * BAND, rows)
    bands = len(before)
    heights = np.full((3, columns + 2), WALL)
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
            heights[last] = WALL
            depths[last] = 0.0
        _slide_row(bedrock[row], sediment[row], ground[row], heights, depths, first, stable, creep, supply, rate)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _slide(bedrock, sediment, ground, wrap, stable, creep, supply, rate, passes):
    rows, columns = ground.shape
    bands = (rows + BAND - 1) // BAND
    # [band]: ground and sediment of its first row, and of its last one
    before = np.empty((bands, 4, columns))
    for _ in range(passes):
        for band in prange(bands):
            begin, last = band * BAND, min((band + 1) * BAND, rows) - 1
            _keep_ends(ground, sediment, begin, last, before[band])
        for band in prange(bands):
            _slide_band(np.int64(band), bedrock, sediment, ground, before, wrap, stable, creep, supply, rate)


class _Holding(NamedTuple):
    """At what slope ground lies, and what holds it."""

    stable: Layer  # [kind]: difference in height between two neighbours at which it lies still, metres
    surface: NDArray[np.float32]  # as in kernels/surface.py, or empty
    rates: Rates  # as in kernels/rates.py, or empty
    burden: Layer  # as `Materials` have it
    wet_strength: float
    soaked_weakness: float
    root_strength: float


# Values of each cell of a row, and of one more at each end
_HEIGHT = 0
_STABLE = 1  # the difference in height to a neighbour at which it lies still
_PART = 2  # one by its sediment
_FREE = 3  # mobility, if there are rates


@njit(nogil=True, error_model="numpy")
def _read_row(ground, sediment, mix, row, holding, wrap, told, mixes):
    """Copy a row, with one more cell at each end: that of the other end, or a wall. `mixes` is [kind, cell]."""
    columns = len(ground)
    kinds = len(holding.stable)
    heights, stable, parts = told[_HEIGHT], told[_STABLE], told[_PART]
    for j in range(columns):
        heights[j + 1] = ground[j]
        parts[j + 1] = 1.0 / sediment[j] if sediment[j] > _LEAST else 0.0
    stable[:] = 0.0
    for kind in range(kinds):
        kind_stable, depths = holding.stable[kind], mixes[kind]
        place = np.uintp(kind)
        for j in range(np.uintp(1), np.uintp(columns + 1)):
            depth = mix[place]
            depths[j] = depth
            stable[j] += depth * kind_stable
            place += np.uintp(kinds)
    for j in range(columns):
        stable[j + 1] *= parts[j + 1]
    if len(holding.surface) > 0:
        begin = row * columns * STRIDE
        for j in range(columns):
            wetness = holding.surface[begin + j * STRIDE + WETNESS]
            stable[j + 1] *= (
                1.0
                + holding.wet_strength * 4.0 * wetness * (1.0 - wetness)
                - holding.soaked_weakness * max(0.0, 2.0 * wetness - 1.0)
                + holding.root_strength * holding.surface[begin + j * STRIDE + ROOTS]
            )
    if len(holding.rates) > 0:
        free = told[_FREE]
        begin = row * columns * RATES
        for j in range(columns):
            free[j + 1] = holding.rates[begin + j * RATES + MOBILITY]
        free[0], free[-1] = free[-2], free[1]
    heights[0], heights[-1] = (heights[-2], heights[1]) if wrap else (WALL, WALL)
    stable[0], stable[-1] = stable[-2], stable[1]
    parts[0], parts[-1] = (parts[-2], parts[1]) if wrap else (0.0, 0.0)
    for kind in range(kinds):
        mixes[kind, 0], mixes[kind, -1] = mixes[kind, -2], mixes[kind, 1]


@njit(nogil=True, error_model="numpy")
def _find_flows(row, others, begin, end, east, distance, creep, supply, flows):
    """What cells should get of their neighbours, as a part of what those have; negative: what they should give.

    The neighbours lie `east` of the cells in the row `others`, which may be the same one.
    """
    h, t, p = row[_HEIGHT], row[_STABLE], row[_PART]
    other_h, other_t, other_p = others[_HEIGHT], others[_STABLE], others[_PART]
    for here in range(np.uintp(begin), np.uintp(end)):
        other = here + np.uintp(east)
        difference = other_h[other] - h[here]
        steep, part = (other_t[other], other_p[other]) if difference > 0.0 else (t[here], p[here])
        moved = min(0.5 * max(abs(difference) - steep * distance, creep * abs(difference)) * part, supply)
        flows[here] = moved if difference > 0.0 else -moved


@njit(nogil=True, error_model="numpy")
def _hold_flows(row, others, begin, end, east, flows):
    """Let less move between cells of little mobility; the arguments are as for `_find_flows`."""
    free, other_free = row[_FREE], others[_FREE]
    for here in range(np.uintp(begin), np.uintp(end)):
        flows[here] *= free[here] * other_free[here + np.uintp(east)]


@njit(nogil=True, error_model="numpy")
def _find_flows_between(row, next_row, creep, supply, has_rates, flows):
    """The flows to the cells of a row from those to the south-west, south and south-east."""
    columns = row.shape[1] - 2
    diagonal = math.sqrt(2.0)
    _find_flows(row, next_row, 1, columns + 2, -1, diagonal, creep, supply, flows[0])
    _find_flows(row, next_row, 1, columns + 1, 0, 1.0, creep, supply, flows[1])
    _find_flows(row, next_row, 0, columns + 1, 1, diagonal, creep, supply, flows[2])
    if has_rates:
        _hold_flows(row, next_row, 1, columns + 2, -1, flows[0])
        _hold_flows(row, next_row, 1, columns + 1, 0, flows[1])
        _hold_flows(row, next_row, 0, columns + 1, 1, flows[2])


@njit(nogil=True, error_model="numpy")
def _gather(north, beside, south, begin, cells, rate, shares):
    """What each cell receives from its eight neighbours, and keeps, as fractions of their material.

    Returns whether anything moves.
    """
    n0, n1, n2 = north[0], north[1], north[2]
    s0, s1, s2 = south[0], south[1], south[2]
    moving = 0
    for j in range(np.uintp(cells)):
        here = np.uintp(begin) + j
        west, east = here - np.uintp(1), here + np.uintp(1)
        a, b, c = -n2[west], -n1[here], -n0[east]
        d, e = -beside[west], beside[here]
        f, g, h = s0[here], s1[here], s2[here]
        shares[j] = rate * max(a, 0.0)
        shares[_STRETCH + j] = rate * max(b, 0.0)
        shares[2 * _STRETCH + j] = rate * max(c, 0.0)
        shares[3 * _STRETCH + j] = rate * max(d, 0.0)
        shares[4 * _STRETCH + j] = rate * max(e, 0.0)
        shares[5 * _STRETCH + j] = rate * max(f, 0.0)
        shares[6 * _STRETCH + j] = rate * max(g, 0.0)
        shares[7 * _STRETCH + j] = rate * max(h, 0.0)
        gone = (
            ((min(a, 0.0) + min(c, 0.0)) + (min(f, 0.0) + min(h, 0.0)))
            + ((min(b, 0.0) + min(g, 0.0)) + (min(d, 0.0) + min(e, 0.0)))
        )  # fmt: skip
        shares[8 * _STRETCH + j] = 1.0 + rate * gone
        moving |= int(abs(a) + abs(b) + abs(c) + abs(d) + abs(e) + abs(f) + abs(g) + abs(h) > 0.0)
    return moving > 0


@njit(nogil=True, error_model="numpy")
def _move_kind(shares, north, same, south, begin, cells, depths):
    """One kind of material in a row after the pass, from its row and the adjacent ones."""
    for j in range(np.uintp(cells)):
        here = np.uintp(begin) + j
        west, east = here - np.uintp(1), here + np.uintp(1)
        across = (
            shares[j] * north[west] + shares[2 * _STRETCH + j] * north[east]
            + (shares[5 * _STRETCH + j] * south[west] + shares[7 * _STRETCH + j] * south[east])
        )  # fmt: skip
        beside = (
            shares[_STRETCH + j] * north[here] + shares[6 * _STRETCH + j] * south[here]
            + (shares[3 * _STRETCH + j] * same[west] + shares[4 * _STRETCH + j] * same[east])
        )  # fmt: skip
        depths[j] = shares[8 * _STRETCH + j] * same[here] + (across + beside)


@njit(nogil=True, error_model="numpy")
def _slide_row_rich(
    rock, loose, surface, burden, mix, mixes, first, north, beside, south, rate, shares, depths, total
):  # fmt: skip
    """As `_slide_row`, for a mix of materials. `mixes` tells what was before, and the flows are found already."""
    columns = len(loose)
    kinds = mixes.shape[1]
    for begin in range(0, columns, _STRETCH):
        cells = min(_STRETCH, columns - begin)
        if not _gather(north, beside, south, begin + 1, cells, rate, shares):
            continue
        total[:] = 0.0
        for kind in range(kinds):
            _move_kind(
                shares, mixes[first, kind], mixes[(first + 1) % 3, kind], mixes[(first + 2) % 3, kind],
                begin + 1, cells, depths,
            )  # fmt: skip
            place = np.uintp(begin * kinds + kind)
            for j in range(np.uintp(cells)):
                mix[place] = depths[j]
                total[j] += depths[j]
                place += np.uintp(kinds)
        for j in range(cells):
            loose[begin + j] = total[j]
            surface[begin + j] = ground_of(burden, begin + j, rock[begin + j], total[j])


@in_threads
def _slide_band_rich(band, bedrock, sediment, ground, mix, before, mix_before, holding, wrap, creep, supply, rate):
    """As `_slide_band`, for a mix of materials."""
    rows, columns = ground.shape
    kinds = len(holding.stable)
    has_rates = len(holding.rates) > 0
    begin, end = band * BAND, min((band + 1) * BAND, rows)
    bands = len(before)
    stride = columns * kinds
    told = np.zeros((3, 4, columns + 2))
    told[:, _HEIGHT] = WALL
    mixes = np.zeros((3, kinds, columns + 2))
    between = np.zeros((2, 3, columns + 2))  # flows from row to row: to the north and to the south of one
    beside = np.zeros(columns + 2)
    shares, depths, total = np.empty(9 * _STRETCH), np.empty(_STRETCH), np.empty(_STRETCH)
    if begin > 0 or wrap:
        north = (band - 1) % bands
        _read_row(
            before[north, 2], before[north, 3], mix_before[north, 1], (begin - 1) % rows, holding, wrap,
            told[0], mixes[0],
        )  # fmt: skip
    _read_row(
        ground[begin], sediment[begin], mix[begin * stride : (begin + 1) * stride], begin, holding, wrap,
        told[1], mixes[1],
    )  # fmt: skip
    _find_flows_between(told[0], told[1], creep, supply, has_rates, between[0])
    for row in range(begin, end):
        step = row - begin
        first, here, last = step % 3, (step + 1) % 3, (step + 2) % 3
        if row + 1 < end:
            _read_row(
                ground[row + 1], sediment[row + 1], mix[(row + 1) * stride : (row + 2) * stride], row + 1,
                holding, wrap, told[last], mixes[last],
            )  # fmt: skip
        elif end < rows or wrap:
            south = (band + 1) % bands
            _read_row(
                before[south, 0], before[south, 1], mix_before[south, 0], end % rows, holding, wrap,
                told[last], mixes[last],
            )  # fmt: skip
        else:
            told[last, _HEIGHT] = WALL
            told[last, _PART] = 0.0
        _find_flows(told[here], told[here], 0, columns + 1, 1, 1.0, creep, supply, beside)
        if has_rates:
            _hold_flows(told[here], told[here], 0, columns + 1, 1, beside)
        _find_flows_between(told[here], told[last], creep, supply, has_rates, between[(step + 1) % 2])
        _slide_row_rich(
            bedrock[row], sediment[row], ground[row], holding.burden[row * columns : (row + 1) * columns],
            mix[row * stride : (row + 1) * stride], mixes, first,
            between[step % 2], beside, between[(step + 1) % 2], rate, shares, depths, total,
        )  # fmt: skip


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _slide_rich(bedrock, sediment, ground, mix, holding, wrap, creep, supply, rate, passes):
    rows, columns = ground.shape
    bands = (rows + BAND - 1) // BAND
    stride = columns * len(holding.stable)
    before = np.empty((bands, 4, columns))
    mix_before = np.empty((bands, 2, stride))
    for _ in range(passes):
        for band in prange(bands):
            begin, last = band * BAND, min((band + 1) * BAND, rows) - 1
            _keep_ends(ground, sediment, begin, last, before[band])
            for place in range(stride):
                mix_before[band, 0, place] = mix[begin * stride + place]
                mix_before[band, 1, place] = mix[last * stride + place]
        for band in prange(bands):
            _slide_band_rich(
                np.int64(band), bedrock, sediment, ground, mix, before, mix_before, holding, wrap, creep, supply, rate
            )


def _pace(p: CascadeParameters, rows: int, columns: int) -> tuple[float, int]:
    """The rate of a pass and the number of passes: several if one is not enough for so many parcels."""
    rate = min(max(_BOTH * _TIME * p.settling, 0.0), _FASTEST)
    # A parcel crosses the map, so that it is over each cell as often as its side is short. A strong wind piles up more
    # than a weak one, and so leaves no less time.
    parcels = p.parcels / _PARCELS * (_SIDE / math.sqrt(rows * columns))
    contacts = max(1.0, parcels * max(1.0, _SPEED / p.wind_speed)) if p.wind_speed > 0.0 else 1.0
    contacts *= p.pace
    passes = max(p.passes, min(math.ceil(contacts * p.passes * rate / _FASTEST), _MOST_PASSES))
    return min(contacts * p.passes / passes * rate, _FASTEST), passes


def cascade(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    parameters: CascadeParameters,
    surface: NDArray[np.float32] | None = None,
    rates: Rates | None = None,
) -> None:
    """Let what lies too steep slide, and change the map in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. `cell_size` is the side of a cell in
    metres. `surface` is what kernels/surface.py says, and `rates` what kernels/rates.py does, each [row, column, …]. No
    sediment is lost, none becomes negative, and the same map gives the same bits on any number of threads. All cells
    slide at once, so no direction is favoured.
    """
    check_layers(bedrock, sediment, ground)
    p = exact(parameters)
    rate, passes = _pace(p, *ground.shape)
    stable = materials.repose * p.steepness * cell_size
    creep, wrap = p.creep, p.wrap
    supply = min(p.supply, _FASTEST / rate) if rate > 0.0 else 1.0  # so that a cell has all that it gives
    if materials.kinds == 1 and surface is None and rates is None and len(materials.burden) == 0:
        _slide(bedrock, sediment, ground, wrap, float(stable[0]), creep, supply, rate, passes)
        return
    holding = _Holding(
        stable,
        np.empty(0, np.float32) if surface is None else surface.reshape(-1),
        flat(rates),
        materials.burden,
        p.wet_strength,
        p.soaked_weakness,
        p.root_strength,
    )
    _slide_rich(bedrock, sediment, ground, materials.mix, holding, wrap, creep, supply, rate, passes)
