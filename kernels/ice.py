"""Glaciers: ice that flows, slides, wears its bed and carries what it wears, by the shallow-ice approximation.

Ice of thickness H on a bed b has the surface s = b + H. Per metre of width it flows with (Glen's law, n = 3; sliding
as a cubic law without pore pressure: Oerlemans 1984, Braun, Zwartz & Tomkin 1999)

    q = −k |∇s|² (c H⁵ + f H³) ∇s                                           ∂H/∂t = a − ∇·q

c = 2 A (ρ g)³ / 5 for Glen's A, f = F (ρ g)³ for sliding. k is below 1 where walls hold the ice of a narrow trough:
1 / (1 + 200 m · curvature of the bed), in the form of Braun et al. (1999). Ice flows out of no cell without ice: on the
sides of cells the thickness is the mean of both, or that of the upper cell where this is less, so that steep beds keep
what they have (the failure that Jarosch, Schoof & Anslow 2013 describe cannot occur).

A step solves all lines along one axis, and then those along the other. In a line the flux is linear in the change of
thickness over the step (Newton's first step, with the slope's and the thickness's part). That gives a tridiagonal
matrix with a positive inverse: stable for a step of any length. Fluxes are what is added in the end, and those that
would take more than a cell has are made smaller, so that what one cell loses another has, to rounding.

Lines are solved in blocks of columns or rows side by side; what a block needs of rows is turned into columns in its own
memory. No block sees what another one writes, so the same map gives the same bits on any number of threads. Only tiles
count that have ice, or had some in the run, or in which snow can stay; and of a block's lines only the segments with
ice: what lies between them has no flux.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, inlined, njit
from kernels.layers import Layer
from kernels.loads import dig, sum_up
from kernels.materials import Materials, Moved, asked, rock_at
from kernels.parameters import exact
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.units import Metres, MetresPerYear, PerYear, Steps, Years

ICE_DENSITY, WATER_DENSITY = 917.0, 1000.0  # kg/m³
WATER_IN_ICE = ICE_DENSITY / WATER_DENSITY  # metres of water in a metre of ice
GRAVITY = 9.81  # m/s²
SECONDS_PER_YEAR = 31_556_926.0
NARROWING = 200.0  # metres: how much a bed that is bent across holds its ice
NARROW_OVER = 200.0  # metres, over which its bend is measured
COUPLED_OVER = 1.0  # thicknesses, over which ice that slides holds and draws its neighbours (Kamb & Echelmeyer 1986)
GENTLE, STEEP = 0.6, 1.7  # slopes of ground on which all snow stays, and none

WIDTH = 32  # lines of a block, and cells along the side of a tile
_LINE = 8  # cells in a line of the cache
FASTEST = 1e5  # m/year, beyond any glacier: where most ice that passed a cell has melted, its speed is not known
_STRIDE = 1.0  # cells that the fastest ice goes in a step: what goes further piles up before it can turn
_LONGER = 1.5  # times that a step may be as long as the one before
_SLOWEST = 50.0  # m/year, that the first step reckons with
_THIN = 40.0  # metres: thinner ice counts as so much slower

# Planes of a block's memory: [plane, along the lines, line]. Those from _ICE on are of rows that are turned, and have
# one line more at each side.
_FLUX, _TO_UPPER, _TO_LOWER, _RATIO, _CHANGE, _ACROSS, _ICE, _BED, _HOLD, _AFTER = range(10)
_PLANES = 10

Numbers = NDArray[np.float64]


class IceParameters(NamedTuple):
    """How ice comes, flows, wears and goes."""

    years: Years  # that pass, as far as `most_steps` do
    most_steps: Steps
    creep: float  # Glen's A, 1/(Pa³ s)
    sliding: float  # of the cubic law, m²/(Pa³ s); 0: frozen to its bed
    line: Metres  # height of the equilibrium line
    gradient: PerYear  # balance in metres of water per year and metre of height
    cap: MetresPerYear  # most that stays, as water
    sea_level: Metres  # minus infinity: none
    open_edges: bool  # whether it flows over the map's edge
    wear: float  # bed that is worn by a speed of 1 m/year, metres per year
    exponent: float  # of the speed
    wear_years: Years  # for which the bed is worn


class IceTotals(NamedTuple):
    """What a run did; volumes of ice are metres over one cell."""

    steps: int
    years: float  # that passed for the ice
    fallen: float
    melted: float
    over_edge: float
    calved: float
    fastest: float  # m/year, in the mean over the depth


class Worn(NamedTuple):
    """What ice did to its bed: changes of each loose kind, in metres over one cell."""

    moved: Moved  # rock that became loose
    taken: tuple[float, ...]  # up into the ice
    laid: tuple[float, ...]  # down from it


_ASKED = ("kinds", "mix", "burden", "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_worn", "rock_broken")
_Land: Any = namedtuple("_Land", (*_ASKED, "bedrock", "sediment", "ground"))  # type: ignore[misc]
_DEEPEST_WEAR = 0.05  # of a cell's side, in a run

_Law: Any = namedtuple("_Law", ("creep", "sliding", "cell_size", "open_edges"))


def law_of(parameters: IceParameters, cell_size: float) -> Any:
    """The constants of flow, for years in the place of seconds."""
    weight = (ICE_DENSITY * GRAVITY) ** 3 * SECONDS_PER_YEAR
    return _Law(
        0.4 * parameters.creep * weight, parameters.sliding * weight, float(cell_size), bool(parameters.open_edges)
    )


@inlined
def _fall_across(ice, bed, i, one, column, other, size):
    here = bed[i, column] + ice[i, column]
    west, east = bed[i, one] + ice[i, one], bed[i, other] + ice[i, other]
    west = west if ice[i, one] > 0.0 else min(west, here)
    east = east if ice[i, other] > 0.0 else min(east, here)
    return (west - east) * (0.5 / size)


@in_threads
def _find_across(ice, bed, begin, width, lo, hi, size, across):
    """The fall of the surface across the lines at each cell. Ground without ice that stands higher counts as level."""
    last = ice.shape[1] - 1
    for i in range(lo, hi + 1):
        for j in range(1 if begin == 0 else 0, width - 1 if begin + width > last else width):
            column = np.uintp(begin + j)
            west, east = np.uintp(begin + j - 1), np.uintp(begin + j + 1)
            across[i, np.uintp(j)] = _fall_across(ice, bed, i, west, column, east, size)
        for j in range(0, width, max(width - 1, 1)):  # at edges of the map cells stand for those beyond
            column = begin + j
            west, east = np.uintp(max(column - 1, 0)), np.uintp(min(column + 1, last))
            across[i, np.uintp(j)] = _fall_across(ice, bed, i, west, np.uintp(column), east, size)


@in_threads
def _find_fluxes(ice, bed, hold, begin, width, lo, hi, law, block):
    """What flows down the lines through the lower side of each cell, m²/year, and how it changes with both cells."""
    flux, to_upper, to_lower, across = block[_FLUX], block[_TO_UPPER], block[_TO_LOWER], block[_ACROSS]
    per_size = 1.0 / law.cell_size
    for i in range(lo, hi):
        for j in range(width):
            column, k = np.uintp(begin + j), np.uintp(j)
            h0, h1 = ice[i, column], ice[i + 1, column]
            fall = ((bed[i, column] + h0) - (bed[i + 1, column] + h1)) * per_size
            upper = h0 if fall > 0.0 else h1
            thick = min(0.5 * (h0 + h1), upper)
            aside = 0.5 * (across[i, k] + across[i + 1, k])
            straight = fall * fall
            slope = straight + aside * aside
            strength = 0.5 * (hold[i, column] + hold[i + 1, column]) * slope * thick * thick
            square = thick * thick
            conducts = strength * thick * (law.creep * square + law.sliding)
            part = straight / max(slope, 1e-30)
            leans = conducts * (1.0 + 2.0 * part) * per_size
            thickens = strength * (5.0 * law.creep * square + 3.0 * law.sliding) * abs(fall)
            flux[i, k] = conducts * fall
            to_upper[i, k] = leans + (thickens if fall > 0.0 else 0.0)
            to_lower[i, k] = leans + (0.0 if fall > 0.0 else thickens)


@in_threads
def _edge_flux(ice, bed, hold, row, inner, column, law):
    """What flows over the map's edge, m²/year, and how it changes: the surface goes on to fall, or the bed does."""
    thick = ice[row, column]
    drop = bed[inner, column] - bed[row, column]
    fall = max(drop, drop + (ice[inner, column] - thick), 0.0) / law.cell_size
    strength = hold[row, column] * fall * fall * fall * thick * thick
    square = thick * thick
    return (
        strength * thick * (law.creep * square + law.sliding),
        strength * (5.0 * law.creep * square + 3.0 * law.sliding),
    )


@in_threads
def _solve(ice, bed, hold, begin, width, lo, hi, rows, law, years, block, edges):
    """The changes of thickness, and the fluxes at the end of the step. `edges` gets those over the map's edge."""
    flux, to_upper, to_lower = block[_FLUX], block[_TO_UPPER], block[_TO_LOWER]
    ratio, change = block[_RATIO], block[_CHANGE]
    pace = years / law.cell_size
    for j in range(width):
        k = np.uintp(j)
        for side in range(4):
            edges[side, k] = 0.0
    if law.open_edges and rows > 1:
        for j in range(width):
            k = np.uintp(j)
            if lo == 0:
                edges[0, k], edges[2, k] = _edge_flux(ice, bed, hold, 0, 1, begin + j, law)
            if hi == rows - 1:
                edges[1, k], edges[3, k] = _edge_flux(ice, bed, hold, rows - 1, rows - 2, begin + j, law)
    for i in range(lo, hi + 1):
        first, last = i == lo, i == hi
        for j in range(width):
            k = np.uintp(j)
            own = 1.0
            gains = 0.0
            if first:
                own += pace * edges[2, k]
                gains -= pace * edges[0, k]
            else:
                own += pace * (to_lower[i - 1, k] - to_upper[i - 1, k] * ratio[i - 1, k])
                gains += pace * (flux[i - 1, k] + to_upper[i - 1, k] * change[i - 1, k])
            if last:
                own += pace * edges[3, k]
                gains -= pace * edges[1, k]
                ratio[i, k] = 0.0
            else:
                own += pace * to_upper[i, k]
                gains -= pace * flux[i, k]
            per = 1.0 / own
            if not last:
                ratio[i, k] = pace * to_lower[i, k] * per
            change[i, k] = gains * per
    for j in range(width):
        k = np.uintp(j)
        edges[1, k] += edges[3, k] * change[hi, k]
    for i in range(hi - 1, lo - 1, -1):
        for j in range(width):
            k = np.uintp(j)
            change[i, k] += ratio[i, k] * change[i + 1, k]
            flux[i, k] += to_upper[i, k] * change[i, k] - to_lower[i, k] * change[i + 1, k]
    for j in range(width):
        k = np.uintp(j)
        edges[0, k] += edges[2, k] * change[lo, k]


@in_threads
def _move(ice, begin, width, lo, hi, pace, block, edges, after):
    """Let what flows in a step flow, first up the lines and then down. No cell gives more than it has and gets."""
    flux, up = block[_FLUX], block[_RATIO]
    for j in range(width):
        k = np.uintp(j)
        up[hi, k] = 0.0
    for i in range(hi - 1, lo - 1, -1):
        for j in range(width):
            k = np.uintp(j)
            up[i, k] = min(max(-pace * flux[i, k], 0.0), ice[i + 1, np.uintp(begin + j)] + up[i + 1, k])
    for j in range(width):
        k = np.uintp(j)
        has = ice[lo, np.uintp(begin + j)] + up[lo, k]
        edges[0, k] = min(max(pace * edges[0, k], 0.0), has)
        after[lo, np.uintp(begin + j)] = has - edges[0, k]
    for i in range(lo, hi):
        for j in range(width):
            k = np.uintp(j)
            column = np.uintp(begin + j)
            has = after[i, column]
            down = min(max(pace * flux[i, k], 0.0), has)
            flux[i, k] = down - up[i, k]
            after[i, column] = has - down
            after[i + 1, column] = ((ice[i + 1, column] + up[i + 1, k]) - up[i, k]) + down
    for j in range(width):
        k = np.uintp(j)
        edges[1, k] = min(max(pace * edges[1, k], 0.0), after[hi, np.uintp(begin + j)])
        after[hi, np.uintp(begin + j)] -= edges[1, k]


@in_threads
def _find_ice(ice, tiles, number, along_rows, has):
    """Where along the lines of a block any of them has ice."""
    rows, columns = ice.shape
    begin = number * WIDTH
    for tile in range((len(has) + WIDTH - 1) // WIDTH):
        first, last = tile * WIDTH, min((tile + 1) * WIDTH, len(has))
        for k in range(first, last):
            has[k] = False
        if along_rows and tiles[number, tile]:
            for i in range(begin, min(begin + WIDTH, rows)):
                for k in range(first, last):
                    has[np.uintp(k)] |= ice[i, np.uintp(k)] > 0.0
        elif not along_rows and tiles[tile, number]:
            for k in range(first, last):
                found = False
                for j in range(begin, min(begin + WIDTH, columns)):
                    found |= ice[k, np.uintp(j)] > 0.0
                has[k] = found


@in_threads
def _next_segment(has, at):
    """The first and the last place of the next ones with ice; −1 and −1 where there are none.

    Two places without ice end a segment: what flows into the one after it does not meet what flows against it.
    """
    while at < len(has) and not has[at]:
        at += 1
    if at == len(has):
        return -1, -1
    last = at
    for k in range(at + 1, len(has)):
        if has[k]:
            last = k
        elif k - last == 2:
            break
    return at, last


@in_threads
def _clear(after, tiles, number, along_rows, first, end):
    """Set what lies between two segments of a block to 0, in tiles that may have something there."""
    rows, columns = after.shape
    begin = number * WIDTH
    for tile in range(first // WIDTH, (end + WIDTH - 1) // WIDTH):
        lo, hi = max(first, tile * WIDTH), min(end, (tile + 1) * WIDTH)
        if along_rows and tiles[number, tile]:
            after[begin : min(begin + WIDTH, rows), lo:hi] = 0.0
        elif not along_rows and tiles[tile, number]:
            after[lo:hi, begin : min(begin + WIDTH, columns)] = 0.0


@in_threads
def _turn(source, begin, width, lo, hi, target):
    """Make columns of rows, with one more at each side; there are none beyond the map, where the last one counts."""
    rows = source.shape[0]
    for first in range(lo, hi + 1, _LINE):
        end = min(first + _LINE, hi + 1)
        for j in range(width + 2):
            row = min(max(begin + j - 1, 0), rows - 1)
            for i in range(first, end):
                target[np.uintp(i), np.uintp(j)] = source[row, np.uintp(i)]


@in_threads
def _turn_back(source, offset, begin, width, lo, hi, target):
    """Make rows of columns again."""
    for first in range(lo, hi + 1, _LINE):
        end = min(first + _LINE, hi + 1)
        for j in range(width):
            for i in range(first, end):
                target[begin + j, np.uintp(i)] = source[np.uintp(i), np.uintp(offset + j)]


@in_threads
def _flow_segment(ice, bed, hold, begin, width, lo, hi, length, law, years, block, edges, after):
    """Let ice flow down some columns, from one row to another. Returns the highest speed, m/year."""
    _find_across(ice, bed, begin, width, lo, hi, law.cell_size, block[_ACROSS])
    _find_fluxes(ice, bed, hold, begin, width, lo, hi, law, block)
    _solve(ice, bed, hold, begin, width, lo, hi, length, law, years, block, edges)
    _move(ice, begin, width, lo, hi, years / law.cell_size, block, edges, after)
    flux, fastest = block[_FLUX], block[_ACROSS]  # of each line, where what it was found with is needed no more
    for j in range(width):
        fastest[lo, np.uintp(j)] = 0.0
    for i in range(lo, hi):
        for j in range(width):
            k, column = np.uintp(j), np.uintp(begin + j)
            thick = max(max(ice[i, column], ice[i + 1, column]), _THIN)
            fastest[lo, k] = max(fastest[lo, k], abs(flux[i, k]) / thick)
    most = 0.0
    for j in range(width):
        most = max(most, fastest[lo, np.uintp(j)])
    return most * law.cell_size / years


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _flow(
    ice: Any, bed: Any, hold: Any, tiles: Any, along_rows: bool, law: Any, years: float, memory: Any, after: Any,
    carried: Any, over: Any, fastest: Any,
) -> None:  # fmt: skip
    """Let ice flow along rows or columns for a step; `after` gets what is there then, in all tiles that count.

    What passed the side of each cell towards the next one is added to `carried`, and what left over the first and the
    last edge of the map to `over` [edge, line], in metres over one cell. `fastest` [block] gets the highest speed,
    m/year. `tiles` get those to which ice comes. Blocks are shared among as many threads as `memory` is for.
    """
    rows, columns = ice.shape
    lines, length = (rows, columns) if along_rows else (columns, rows)
    blocks = (lines + WIDTH - 1) // WIDTH
    for unsigned in prange(len(memory)):
        worker = np.int64(unsigned)
        block = memory[worker]
        flux = block[_FLUX]
        edges, has = np.zeros((4, WIDTH)), np.zeros(length, np.bool_)
        for number in range(worker, blocks, len(memory)):
            begin = number * WIDTH
            width = min(WIDTH, lines - begin)
            fastest[number] = 0.0
            _find_ice(ice, tiles, number, along_rows, has)
            done = 0
            first, last = _next_segment(has, 0)
            while first >= 0:
                lo, hi = max(first - 1, 0), min(last + 1, length - 1)
                _clear(after, tiles, number, along_rows, done, lo)
                if along_rows:
                    _turn(ice, begin, width, lo, hi, block[_ICE])
                    _turn(bed, begin, width, lo, hi, block[_BED])
                    _turn(hold, begin, width, lo, hi, block[_HOLD])
                    fast = _flow_segment(
                        block[_ICE], block[_BED], block[_HOLD], 1, width, lo, hi, length, law, years, block, edges,
                        block[_AFTER],
                    )  # fmt: skip
                    _turn_back(block[_AFTER], 1, begin, width, lo, hi, after)
                    for at in range(lo, hi, _LINE):
                        for j in range(width):
                            for i in range(at, min(at + _LINE, hi)):
                                carried[begin + j, np.uintp(i)] += flux[np.uintp(i), np.uintp(j)]
                    for tile in range(lo // WIDTH, hi // WIDTH + 1):
                        tiles[number, tile] = True
                else:
                    fast = _flow_segment(
                        ice, bed, hold, begin, width, lo, hi, length, law, years, block, edges, after
                    )  # fmt: skip
                    for i in range(lo, hi):
                        for j in range(width):
                            carried[i, np.uintp(begin + j)] += flux[i, np.uintp(j)]
                    for tile in range(lo // WIDTH, hi // WIDTH + 1):
                        tiles[tile, number] = True
                fastest[number] = max(fastest[number], fast)
                for j in range(width):
                    over[0, begin + j] += edges[0, j]
                    over[1, begin + j] += edges[1, j]
                done = hi + 1
                first, last = _next_segment(has, last + 1)
            _clear(after, tiles, number, along_rows, done, length)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _mark(layer: Any, least: float, tiles: Any) -> None:
    """Mark the tiles in which a layer is above `least` anywhere."""
    rows, columns = layer.shape
    for unsigned in prange(len(tiles)):
        tile = np.int64(unsigned)
        for i in range(tile * WIDTH, min((tile + 1) * WIDTH, rows)):
            for other in range(tiles.shape[1]):
                found = False
                for j in range(np.uintp(other * WIDTH), np.uintp(min((other + 1) * WIDTH, columns))):
                    found |= layer[i, j] > least
                tiles[tile, other] |= found


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _look(ice: Any, bed: Any, reach: int, cell_size: float, hold: Any, stays: Any) -> None:
    """How narrow the bed holds its ice, as the factor on its flow, and what part of the snow stays on each cell."""
    rows, columns = bed.shape
    per = 1.0 / (reach * cell_size) ** 2
    for unsigned in prange(rows):
        i = np.int64(unsigned)
        north, south = max(i - reach, 0), min(i + reach, rows - 1)
        above, below = max(i - 1, 0), min(i + 1, rows - 1)
        for j in range(columns):
            west, east = max(j - reach, 0), min(j + reach, columns - 1)
            bend = (bed[north, j] + bed[south, j]) + (bed[i, west] + bed[i, east]) - 4.0 * bed[i, j]
            hold[i, j] = 1.0 / (1.0 + NARROWING * max(bend, 0.0) * per)
            left, right = max(j - 1, 0), min(j + 1, columns - 1)
            top, bottom = bed[above, j] + ice[above, j], bed[below, j] + ice[below, j]
            down = (bottom - top) / ((below - above) * cell_size)
            along = ((bed[i, right] + ice[i, right]) - (bed[i, left] + ice[i, left])) / ((right - left) * cell_size)
            steep = math.sqrt(down * down + along * along)
            stays[i, j] = min(max((STEEP - steep) * (1.0 / (STEEP - GENTLE)), 0.0), 1.0)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _exchange(
    ice: Any, bed: Any, stays: Any, yearly: Any, tiles: Any, parameters: Any, years: float, balance: Any, totals: Any
) -> None:
    """Let snow fall and ice melt for a step, and ice calve that would swim.

    A map `yearly` with cells, in metres of water, takes the place of the balance by height.

    `balance` gets what each cell gained by it, without calving, and `totals` [row, (fallen, melted, calved)] the sums,
    all in metres of ice.
    """
    rows, columns = ice.shape
    gradient, cap = parameters.gradient / WATER_IN_ICE * years, parameters.cap / WATER_IN_ICE * years
    fed = yearly.size > 0
    for unsigned in prange(rows):
        i = np.int64(unsigned)
        fallen = melted = calved = 0.0
        for tile in range(tiles.shape[1]):
            if not tiles[i // WIDTH, tile]:
                continue
            for j in range(np.uintp(tile * WIDTH), np.uintp(min((tile + 1) * WIDTH, columns))):
                thick = ice[i, j]
                if fed:
                    gain = yearly[i, j] / WATER_IN_ICE * years
                else:
                    gain = min(gradient * ((bed[i, j] + thick) - parameters.line), cap)
                if gain > 0.0:  # snow stays on no open sea
                    is_land = thick > 0.0 or bed[i, j] >= parameters.sea_level
                    gain *= (1.0 if fed else stays[i, j]) if is_land else 0.0
                now = max(thick + gain, 0.0)
                swims = now > 0.0 and now * WATER_IN_ICE < parameters.sea_level - bed[i, j]
                more = now - thick
                balance[i, j] += more
                fallen += max(more, 0.0)
                melted -= min(more, 0.0)
                calved += now if swims else 0.0
                ice[i, j] = 0.0 if swims else now
        totals[i, 0] += fallen
        totals[i, 1] += melted
        totals[i, 2] += calved


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _find_speed(ice: Any, south: Any, east: Any, tiles: Any, pace: float, speed: Any, fastest: Any) -> None:
    """How fast ice went in the mean over its depth, m/year, from what passed the cells' sides.

    `pace` is the side of a cell over the years in which it did.
    """
    rows, columns = ice.shape
    for unsigned in prange(rows):
        i = np.int64(unsigned)
        most = 0.0
        for tile in range(tiles.shape[1]):
            first, end = tile * WIDTH, min((tile + 1) * WIDTH, columns)
            if not tiles[i // WIDTH, tile]:
                speed[i, first:end] = 0.0
                continue
            for j in range(first, end):
                thick = ice[i, j]
                down = 0.5 * (south[i, j] + (south[i - 1, j] if i > 0 else south[i, j]))
                along = 0.5 * (east[i, j] + (east[i, j - 1] if j > 0 else east[i, j]))
                fast = math.sqrt(down * down + along * along) * pace / max(thick, 1.0) if thick > 0.0 else 0.0
                speed[i, j] = min(fast, FASTEST)
                most = max(most, speed[i, j])
        fastest[i] = most


class Glaciers:
    """Memory and fixed maps of one run: see `run`."""

    def __init__(
        self,
        ice: Layer,
        bed: Layer,
        cell_size: float,
        parameters: IceParameters,
        scratch: Scratch,
        yearly: Layer | None = None,
    ) -> None:
        """`yearly` is what snow gives and warmth takes in a year, in metres of water; None: that follows height."""
        self.yearly = np.empty((0, 0)) if yearly is None else yearly
        rows, columns = ice.shape
        self.law = law_of(parameters, cell_size)
        self.ice, self.bed = ice, bed
        longest, tall, wide = max(rows, columns), -(-rows // WIDTH), -(-columns // WIDTH)
        workers = min(numba.get_num_threads(), max(tall, wide))
        self._memory = scratch.empty((workers, _PLANES, longest, WIDTH + 2))
        self.hold, self.stays = scratch.empty((rows, columns)), scratch.empty((rows, columns))
        self._between, self.balance = scratch.empty((rows, columns)), scratch.empty((rows, columns))
        # What passed the sides of cells, and where it is needed no more the sums of speeds
        self._sums = scratch.empty((2, rows + 1, columns + 1))
        self.south, self.east = self._sums.reshape(-1)[: 2 * rows * columns].reshape(2, rows, columns)
        for empty in (self._between, self.balance, self.south, self.east):
            empty[...] = 0.0
        self._tiles = np.zeros((tall, wide), np.bool_)
        self.over_rows, self.over_columns = np.zeros((2, columns)), np.zeros((2, rows))
        self._fastest = np.zeros((2, max(tall, wide)))
        reach = max(round(NARROW_OVER / cell_size), 1)
        _look(ice, bed, reach, float(cell_size), self.hold, self.stays)

    def flow(self, years: float, *, rows_first: bool) -> float:
        """Let it flow for a step. Returns how fast the fastest ice was along rows or columns, m/year."""
        _mark(self.ice, 0.0, self._tiles)
        return self._flow(years, rows_first=rows_first)

    def _flow(self, years: float, *, rows_first: bool) -> float:
        """As `flow`, where all tiles with ice are known."""
        self._fastest[...] = 0.0
        for ice, after, along_rows in (
            (self.ice, self._between, rows_first),
            (self._between, self.ice, not rows_first),
        ):
            _flow(
                ice, self.bed, self.hold, self._tiles, along_rows, self.law, years, self._memory, after,
                self.east if along_rows else self.south, self.over_columns if along_rows else self.over_rows,
                self._fastest[int(along_rows)],
            )  # fmt: skip
        return float(self._fastest.max())

    def exchange(self, parameters: IceParameters, years: float, sums: Numbers) -> None:
        """Let snow fall and ice melt and calve for a step; add to `sums` [row, (fallen, melted, calved)]."""
        self._mark_snow(parameters)
        _mark(self.ice, 0.0, self._tiles)
        self._exchange(parameters, years, sums)

    def _mark_snow(self, parameters: IceParameters) -> None:
        """Mark the tiles in which snow may stay where there is no ice."""
        if self.yearly.size:
            _mark(self.yearly, 0.0, self._tiles)
        else:
            _mark(self.bed, parameters.line, self._tiles)

    def _exchange(self, parameters: IceParameters, years: float, sums: Numbers) -> None:
        """As `exchange`, where all tiles with ice and snow are known."""
        _exchange(
            self.ice, self.bed, self.stays, self.yearly, self._tiles, parameters, years, self.balance, sums
        )  # fmt: skip

    def run(self, parameters: IceParameters, speed: NDArray[np.float32], *, rows_first: bool) -> IceTotals:
        """Let ice come, flow, melt and calve for some years, in steps in which it goes no further than a cell.

        `speed` is that of the ice at first, m/year, and in the end what it was in the mean.
        """
        rows = len(self.ice)
        sums, fastest = np.zeros((rows, 3)), np.zeros(rows)
        stride = _STRIDE * self.law.cell_size
        passed, longest = 0.0, stride / max(float(speed.max()), _SLOWEST)
        steps = 0
        self._mark_snow(parameters)
        _mark(self.ice, 0.0, self._tiles)
        while steps < parameters.most_steps and passed < parameters.years:
            left = parameters.years - passed
            turns = math.ceil(left / longest)
            years = left / turns
            self._exchange(parameters, years, sums)
            fast = self._flow(years, rows_first=rows_first != (steps % 2 == 1))
            longest = min(_LONGER * years, stride / max(fast, 1e-9))
            passed = parameters.years if turns == 1 else passed + years
            steps += 1
        over = math.fsum((self.over_rows.sum(), self.over_columns.sum()))
        _find_speed(self.ice, self.south, self.east, self._tiles, self.law.cell_size / passed, speed, fastest)
        fallen, melted, calved = (float(part) for part in sums.sum(axis=0))
        return IceTotals(steps, passed, fallen, melted, float(over), calved, float(fastest.max()))

    def carry(self, debris: Layer) -> float:
        """Let debris go with the ice of a run. Returns what left over the map's edge, in metres over one cell."""
        lost = np.zeros(2)
        _mark(debris, 0.0, self._tiles)
        flow = debris, self.ice, self.balance, self._tiles
        lost[0] = _carry_all(*flow, self.east, self.over_columns, self._memory, self._between, along_rows=True)
        lost[1] = _carry_all(*flow, self.south, self.over_rows, self._memory, self._between, along_rows=False)
        return float(lost.sum())

    def wear(
        self,
        bedrock: Layer,
        sediment: Layer,
        ground: Layer,
        debris: Layer,
        materials: Materials,
        parameters: IceParameters,
        rates: Rates | None = None,
    ) -> Worn:
        """Lay down the debris of what melted, and take up what the ice wears off its bed.

        `bedrock` (heights), `sediment` (thickness on it), `ground` (the sum of all that lies there, kept current) and
        `debris` (as thickness of sediment) are float64 metres [row, column], C-contiguous. `materials` have the mix
        that is the sediment, and in `burden` the ice as it is now.
        """
        rows = len(ground)
        kinds = materials.kinds
        sums = np.zeros((rows, 3, kinds))
        land = _Land._make((*asked(materials, _ASKED), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1)))
        sliding = self._between
        _find_sliding(self.ice, self.bed, self.hold, self._tiles, self.law, sliding)
        _sum_along_rows(sliding, self._sums)
        _sum_down_columns(self._sums)
        _wear(
            self.ice, self.bed, sliding, self._sums, self.balance, debris, land, self.law, exact(parameters),
            flat(rates), sums,
        )  # fmt: skip
        from_rock, taken, laid = (tuple(part.tolist()) for part in sums.sum(axis=0))
        return Worn(Moved(from_rock=from_rock), taken, laid)


@in_threads
def _carry_block(
    debris, ice, balance, flux, over, concentration, tiles, number, along_rows, begin, line, width, length
):  # fmt: skip
    """Let debris go with what passed along the lines of a block. Returns what left over both edges.

    `begin` is the first column of the block in the maps, `line` the one in `over`.
    """
    held, comes, before = np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH)
    lost = 0.0
    for i in range(length):
        if not (tiles[number, i // WIDTH] if along_rows else tiles[i // WIDTH, number]):
            for k in range(width):
                comes[k] = before[k] = 0.0
            continue
        for j in range(width):
            column, k = np.uintp(begin + j), np.uintp(j)
            through = flux[i, column] if i < length - 1 else over[1, np.uintp(line + j)]
            thick = max(ice[i, column] - min(balance[i, column], 0.0), 1e-6)
            gives = max(through, 0.0) + (max(-comes[k], 0.0) if i > 0 else over[0, np.uintp(line + j)])
            brought = max(comes[k], 0.0) * before[k] if i > 0 else 0.0
            before[k] = (debris[i, column] + brought) / (thick + gives)
            comes[k] = through
            concentration[i, column] = before[k]
    for k in range(width):
        before[k] = 0.0
    for back in range(length):
        i = length - 1 - back
        if not (tiles[number, i // WIDTH] if along_rows else tiles[i // WIDTH, number]):
            for k in range(width):
                before[k] = 0.0
            continue
        for j in range(width):
            column, k = np.uintp(begin + j), np.uintp(j)
            through = flux[i, column] if i < length - 1 else over[1, np.uintp(line + j)]
            above = flux[i - 1, column] if i > 0 else -over[0, np.uintp(line + j)]
            thick = max(ice[i, column] - min(balance[i, column], 0.0), 1e-6)
            gives = max(through, 0.0) + max(-above, 0.0)
            held[k] = concentration[i, column] + max(-through, 0.0) * before[k] / (thick + gives)
            before[k] = held[k]
            debris[i, column] = held[k] * thick
            if i == 0:
                lost += over[0, np.uintp(line + j)] * held[k]
            if i == length - 1:
                lost += over[1, np.uintp(line + j)] * held[k]
    return lost


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _carry(
    debris: Any, ice: Any, balance: Any, tiles: Any, along_rows: bool, flux: Any, over: Any, memory: Any,
    concentration: Any, lost: Any,
) -> None:  # fmt: skip
    rows, columns = debris.shape
    lines, length = (rows, columns) if along_rows else (columns, rows)
    for unsigned in prange(len(memory)):
        worker = np.int64(unsigned)
        for number in range(worker, len(lost), len(memory)):
            begin = number * WIDTH
            width = min(WIDTH, lines - begin)
            if not along_rows:
                lost[number] = _carry_block(
                    debris, ice, balance, flux, over, concentration, tiles, number, False, begin, begin, width, length
                )
                continue
            # In the block's memory, where rows are columns
            turned = memory[worker]
            for tile in range(tiles.shape[1]):
                if tiles[number, tile]:
                    lo, hi = tile * WIDTH, min((tile + 1) * WIDTH, length) - 1
                    _turn(debris, begin, width, lo, hi, turned[0])
                    _turn(ice, begin, width, lo, hi, turned[1])
                    _turn(balance, begin, width, lo, hi, turned[2])
                    _turn(flux, begin, width, lo, hi, turned[3])
                    if lo > 0:
                        _turn(flux, begin, width, lo - 1, lo - 1, turned[3])
            lost[number] = _carry_block(
                turned[0], turned[1], turned[2], turned[3], over, turned[4], tiles, number, True, 1, begin, width,
                length,
            )  # fmt: skip
            for tile in range(tiles.shape[1]):
                if tiles[number, tile]:
                    lo, hi = tile * WIDTH, min((tile + 1) * WIDTH, length) - 1
                    _turn_back(turned[0], 1, begin, width, lo, hi, debris)


def _carry_all(
    debris: Layer,
    ice: Layer,
    balance: Layer,
    tiles: NDArray[np.bool_],
    flux: Layer,
    over: Numbers,
    memory: Numbers,
    concentration: Layer,
    *,
    along_rows: bool,
) -> float:
    """Let debris go with what passed along the rows or columns. Returns what left over both edges.

    It is mixed into all ice that was in a cell, upwind, in one implicit step.
    """
    lost = np.zeros(tiles.shape[0 if along_rows else 1])
    _carry(debris, ice, balance, tiles, along_rows, flux, over, memory, concentration, lost)
    return float(lost.sum())


@in_threads
def _surface_fall(ice, bed, i, j, north, south, west, east, size):
    """The slope of the surface at a cell with ice. Ground without ice that stands higher counts as level."""
    here = bed[i, j] + ice[i, j]
    top = bed[north, j] + ice[north, j]
    bottom = bed[south, j] + ice[south, j]
    left, right = bed[i, west] + ice[i, west], bed[i, east] + ice[i, east]
    top = top if ice[north, j] > 0.0 else min(top, here)
    bottom = bottom if ice[south, j] > 0.0 else min(bottom, here)
    left = left if ice[i, west] > 0.0 else min(left, here)
    right = right if ice[i, east] > 0.0 else min(right, here)
    down = (top - bottom) / ((south - north) * size)
    along = (left - right) / ((east - west) * size)
    return math.sqrt(down * down + along * along)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _find_sliding(ice: Any, bed: Any, hold: Any, tiles: Any, law: Any, sliding: Any) -> None:
    """How fast ice slides by its own thickness and slope, m/year."""
    rows, columns = ice.shape
    for unsigned in prange(rows):
        i = np.int64(unsigned)
        north, south = max(i - 1, 0), min(i + 1, rows - 1)
        for tile in range(tiles.shape[1]):
            first, end = tile * WIDTH, min((tile + 1) * WIDTH, columns)
            if not tiles[i // WIDTH, tile]:
                sliding[i, first:end] = 0.0
                continue
            for j in range(first, end):
                thick, fast = ice[i, j], 0.0
                if thick > 0.0:
                    west, east = max(j - 1, 0), min(j + 1, columns - 1)
                    slope = _surface_fall(ice, bed, i, j, north, south, west, east, law.cell_size)
                    fast = hold[i, j] * law.sliding * thick * thick * slope * slope * slope
                sliding[i, j] = fast


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _sum_along_rows(sliding: Any, sums: Any) -> None:
    """Running sums of speeds, and of how many cells slide: [(speed, count), row + 1, column + 1]."""
    rows, columns = sliding.shape
    for unsigned in prange(rows):
        i = np.int64(unsigned)
        total, count = 0.0, 0.0
        sums[0, i + 1, 0] = sums[1, i + 1, 0] = 0.0
        for j in range(columns):
            fast = sliding[i, j]
            total += fast
            count += 1.0 if fast > 0.0 else 0.0
            sums[0, i + 1, j + 1], sums[1, i + 1, j + 1] = total, count


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _sum_down_columns(sums: Any) -> None:
    """From sums along rows those of all that is to the north-west (Crow 1984)."""
    _, rows, columns = sums.shape
    bands = (columns + WIDTH - 1) // WIDTH
    for unsigned in prange(bands):
        begin = np.int64(unsigned) * WIDTH
        first, end = np.uintp(begin), np.uintp(min(begin + WIDTH, columns))
        for k in range(2):
            for j in range(first, end):
                sums[k, 0, j] = 0.0
            for i in range(1, rows):
                for j in range(first, end):
                    sums[k, i, j] += sums[k, i - 1, j]


@in_threads
def _coupled(sums, i, j, reach):
    """How fast ice slides at a cell together with that around: it is held and drawn by its neighbours."""
    _, rows, columns = sums.shape
    north, south = max(i - reach, 0), min(i + reach + 1, rows - 1)
    west, east = max(j - reach, 0), min(j + reach + 1, columns - 1)
    total = (sums[0, south, east] - sums[0, north, east]) - (sums[0, south, west] - sums[0, north, west])
    count = (sums[1, south, east] - sums[1, north, east]) - (sums[1, south, west] - sums[1, north, west])
    return max(total, 0.0) / max(count, 1.0)


@in_threads
def _wear_row(
    i, ice, bed, sliding, around, balance, debris, land, law, parameters, rates, carried, from_rock, taken, laid
):
    """Lay down and take up in a row; add to the last three [kind] what that was, in metres over one cell."""
    rows, columns = ice.shape
    size = law.cell_size
    north, south = max(i - 1, 0), min(i + 1, rows - 1)
    for j in range(columns):
        thick = ice[i, j]
        cell = i * columns + j
        if debris[i, j] > 0.0:
            melted = max(-balance[i, j], 0.0)
            part = melted / (thick + melted) if thick > 0.0 else 1.0
            depth = part * debris[i, j]
            if depth > 0.0:
                kind = land.rock_broken[rock_at(land, cell, land.bedrock[cell])]
                debris[i, j] -= depth
                land.mix[cell * land.kinds + kind] += depth
                laid[kind] += depth
                sum_up(land, cell)
        if not (sliding[i, j] > 0.0 and parameters.wear > 0.0):
            continue
        west, east = max(j - 1, 0), min(j + 1, columns - 1)
        slides = _coupled(around, i, j, max(np.int64(COUPLED_OVER * thick / size), 1))
        down = (bed[south, j] - bed[north, j]) / ((south - north) * size)
        along = (bed[i, east] - bed[i, west]) / ((east - west) * size)
        lean = math.sqrt(1.0 + min(down * down + along * along, 4.0))
        depth = parameters.wear * slides**parameters.exponent * parameters.wear_years * lean
        depth *= rate_of(rates, cell, ERODIBILITY) * rate_of(rates, cell, MOBILITY)
        loose = land.sediment[cell]
        if depth > loose:
            depth = loose + (depth - loose) * land.rock_erodibility[rock_at(land, cell, land.bedrock[cell])]
        depth = min(depth, _DEEPEST_WEAR * size)
        if not depth > 0.0:
            continue
        dig(land, cell, depth, carried, 0, from_rock)
        for kind in range(land.kinds):
            debris[i, j] += carried[kind]
            taken[kind] += carried[kind]
            carried[kind] = 0.0


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _wear(
    ice: Any, bed: Any, sliding: Any, around: Any, balance: Any, debris: Any, land: Any, law: Any, parameters: Any,
    rates: Any, sums: Any,
) -> None:  # fmt: skip
    for unsigned in prange(len(ice)):
        i = np.int64(unsigned)
        carried = np.zeros(land.kinds)
        _wear_row(
            i, ice, bed, sliding, around, balance, debris, land, law, parameters, rates, carried, sums[i, 0],
            sums[i, 1], sums[i, 2],
        )  # fmt: skip
