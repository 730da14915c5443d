"""Snow: it falls where it freezes, melts by warmth and sun, drifts into the lee, and slides off steep ground.

Depths are metres of water. Rain becomes snow over two degrees around the freezing point. It melts by degree days
(Hock 2003), of which a part follows the sun on each slope: the potential radiation of a day on it, beside that on
level ground (Hock 1999; the sun's path as in Allen, Trezza & Tasumi 2006), without the shadows of other land. Where
snow has gone, what is left of the warmth melts ice, which is darker and so melts faster (Hock 2003).

Wind carries snow by saltation (Pomeroy & Gray 1990, as Liston & Sturm 1998 use it): with air of density ρ, of the
friction velocity u, above its threshold u₀, a metre's width of it carries at most

    Q = 0.68 ρ u₀ (u² − u₀²) / (g u)                            kg/(m s)

It takes up snow over a fetch F as dQ/dx = 3 (Q_most − Q) / F, and lays down at once what it can carry no more. Rows
carry the eastward part of it and columns the southward part, each from one end to the other in the time of a cycle.
Snow that melts lies still.

Steep ground holds little snow: by the inverse square of its angle (Bernhardt & Schulz 2010), and above an angle none;
on gentle ground, where avalanches rest, by the inverse of the angle. Where it is deeper by a part, what is above that
slides to lower neighbours, most of it the steepest way, and takes along what is too deep there. It goes on to where
ground is gentle, and rests there as deep as this holds. From the highest cell to the lowest, each is done after what
slides into it: an avalanche runs to its end in one cycle, in cells of any size, and what a cell gives does not depend
on cells of the same height. On gentle ground what is deeper than a slope holds on which avalanches rest spreads as sand
does (kernels/cascade.py), until its surface is as gentle.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.blocks import for_blocks
from kernels.compiling import in_threads, njit
from kernels.layers import Layer
from kernels.parameters import exact
from kernels.scratch import Scratch
from kernels.units import Celsius, CelsiusPerMetre, Degrees, Metres, Times

# Units that only this process has
MetresPerSecond = Annotated[float, "m/s"]

MIXED = 2.0  # degrees, around the freezing point, over which snow becomes rain
SUNS = 16  # places of the sun in a day

AIR, GRAVITY, WATER = 1.2, 9.81, 1000.0  # kg/m³, m/s², kg/m³
DRAG = 0.4 / math.log(10.0 / 0.001)  # friction velocity beside the wind at 10 m, over snow of a roughness of 1 mm
THRESHOLD = 0.25  # m/s: friction velocity at which snow begins to drift (Liston & Sturm 1998)

HELD_AT = 30.0  # degrees: the slope whose stable depth is a parameter
RELEASE = 1.2  # stable depths of which an avalanche begins
EASED = 0.125 * (1.0 - 1e-9)  # part of its snow, or of what is too steep, that a cell gives a neighbour at once
LEAST = 1e-12  # metres: less than this counts as none
BARE_ICE = 1.6  # times that ice melts faster than snow: 8 to 5 mm/(°C day)
WATER_IN_ICE = 0.917  # metres of water in a metre of ice
_DRY = 1e-9  # metres of rain in a cycle, with which nothing can run off

Numbers = NDArray[np.float64]


class SnowParameters(NamedTuple):
    """How snow falls, melts and slides."""

    precipitation: Metres  # of a cycle, where the rain is 1
    days: float  # of a cycle
    temperature: Celsius  # at a height of 0
    lapse_rate: CelsiusPerMetre
    melt: Metres  # in a day, for each degree
    sun: float  # part of it that follows the sun
    latitude: Degrees
    declination: Degrees  # latitude over which the sun stands
    stable_depth: Metres  # on a slope of 30°
    steepest: Degrees  # above which it holds none
    rests: Degrees  # slope on which avalanches come to rest
    density: float  # of snow beside water
    deepest: Metres  # what is more becomes ice and runs off
    open_edges: bool  # whether avalanches leave the map


class DriftParameters(NamedTuple):
    """How wind carries snow."""

    air_speed: MetresPerSecond  # of the wind at 10 m, where the field of it is 1
    seconds: float  # of a cycle in which it blows
    drift: Times  # how much more it carries
    fetch: Metres
    temperature: Celsius
    lapse_rate: CelsiusPerMetre
    wrap: bool


class Exchanged(NamedTuple):
    """What fell and melted, in metres of water over one cell."""

    fallen: float
    melted: float  # and ran off
    evaporated: float  # where no rain falls at all, which it could run off with


class Year(NamedTuple):
    """What glaciers ask of snow: maps [row, column] of metres."""

    ice: Layer  # its thickness
    least: Layer  # snow since the account of it began, kept current
    melt: Layer  # of ice, were there any, as water: added to


class Drifted(NamedTuple):
    """What came and went over the edges of the map, in metres of water over one cell."""

    gained: float
    lost: float


def sun_of_day(latitude: float, declination: float) -> Numbers:
    """The places of the sun: [place, (east, south, up)], the middles of equal parts of the time from rise to set."""
    phi, delta = math.radians(latitude), math.radians(declination)
    noon, swing = math.sin(phi) * math.sin(delta), math.cos(phi) * math.cos(delta)
    if noon + swing <= 0.0:
        return np.empty((0, 3))  # polar night
    sets = math.acos(min(max(-noon / max(swing, 1e-12), -1.0), 1.0))
    turn = sets * ((2.0 * np.arange(SUNS) + 1.0) / SUNS - 1.0)  # 0 at noon
    up = noon + swing * np.cos(turn)
    east = -math.cos(delta) * np.sin(turn)
    south = math.sin(phi) * math.cos(delta) * np.cos(turn) - math.cos(phi) * math.sin(delta)
    return np.stack([east, south, up], axis=1)


@in_threads
def _slopes(ground, i, j, cell_size):
    """How much the ground rises to the east and to the south."""
    rows, columns = ground.shape
    west, east, north, south = max(j - 1, 0), min(j + 1, columns - 1), max(i - 1, 0), min(i + 1, rows - 1)
    to_east = (ground[i, east] - ground[i, west]) / ((east - west) * cell_size)
    to_south = (ground[south, j] - ground[north, j]) / ((south - north) * cell_size)
    return to_east, to_south


@in_threads
def _find_sunshine(ground, i, cell_size, cells, suns, level, to_east, to_south, sunshine):
    """The sun of a day on the slopes of some cells of a row, beside that on level ground: `sunshine` [column].

    All arrays have a number for each column. By the row, several cells are worked out in one instruction.
    """
    count = len(cells)
    for k in range(count):
        to_east[k], to_south[k] = _slopes(ground, i, cells[k], cell_size)
    total = np.zeros(count)
    for sun in range(len(suns)):
        east, south, up = suns[sun, 0], suns[sun, 1], suns[sun, 2]
        for k in range(count):
            at = np.uintp(k)
            total[at] += max(0.0, up - east * to_east[at] - south * to_south[at])
    for k in range(count):
        east, south = to_east[k], to_south[k]
        sunshine[cells[k]] = total[k] / (level * math.sqrt(1.0 + east * east + south * south))


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _exchange(
    ground: Any, snow: Any, rain: Any, wet: Any, runoff: Any, suns: Any, level: float, cell_size: float, p: Any,
    ice: Any, least: Any, ice_melt: Any, sums: Any,
) -> None:  # fmt: skip
    rows, columns = ground.shape
    feeds = ice.size > 0
    follows_sun = p.sun > 0.0 and level > 0.0
    for i in prange(rows):
        fallen, melted, evaporated = 0.0, 0.0, 0.0
        cells, sunshine = np.empty(columns, np.int64), np.empty(columns)
        if follows_sun:
            count = 0
            for j in range(columns):
                warmth = p.temperature - p.lapse_rate * ground[i, j]
                cells[count] = j
                may_melt = feeds | (snow[i, j] > 0.0) | (warmth < 0.5 * MIXED)
                count += (warmth > 0.0) & (not wet[i, j]) & may_melt
            _find_sunshine(ground, i, cell_size, cells[:count], suns, level, np.empty(count), np.empty(count), sunshine)
        for j in range(columns):
            warmth = p.temperature - p.lapse_rate * ground[i, j]
            water = p.precipitation * rain[i, j]
            falls = water * min(max(0.5 - warmth / MIXED, 0.0), 1.0)
            lies = snow[i, j] + falls
            melts, from_ice = 0.0, 0.0
            if wet[i, j]:
                melts = lies
            elif lies > 0.0 or feeds:
                could = 0.0
                if warmth > 0.0:
                    could = p.melt * p.days * warmth
                    if follows_sun:
                        could *= 1.0 - p.sun + p.sun * sunshine[j]
                melts = min(max(could, lies - p.deepest), lies)
                if feeds:
                    from_ice = BARE_ICE * max(could - lies, 0.0)
            fallen += falls
            snow[i, j] = lies - melts if melts < lies else 0.0
            if feeds:
                least[i, j] = min(least[i, j], snow[i, j])
                ice_melt[i, j] += from_ice
                from_ice = min(from_ice, WATER_IN_ICE * ice[i, j])
            if water > _DRY:
                melted += melts
                runoff[i, j] = (water - falls + (melts + from_ice)) / water
            else:
                evaporated += melts
                runoff[i, j] = 1.0
        sums[i, 0], sums[i, 1], sums[i, 2] = fallen, melted, evaporated


def exchange(
    ground: Layer,
    snow: Layer,
    rain: Numbers,
    wet: NDArray[np.bool_],
    runoff: NDArray[np.float32],
    cell_size: float,
    parameters: SnowParameters,
    year: Year | None = None,
) -> Exchanged:
    """Let snow fall and melt for a cycle.

    `rain` is that on each cell, where 1 is the precipitation. On `wet` cells no snow lies. `runoff` becomes the water
    that runs off each cell, beside its rain: without what falls as snow, and with what melts. All are [row, column].
    Where glaciers ask for its `year`, its account is kept, and melt of ice runs off, too.
    """
    p = exact(parameters)
    suns = sun_of_day(p.latitude, p.declination)
    sums = np.empty((len(ground), 3))
    maps = year or (np.empty((0, 0)),) * 3
    _exchange(ground, snow, rain, wet, runoff, suns, float(suns[:, 2].sum()), float(cell_size), p, *maps, sums)
    return Exchanged(*sums.sum(axis=0).tolist())


# Drift


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _capacities(ground: Any, field: Any, p: Any, eastward: Any, southward: Any) -> None:
    """What the wind can carry over each cell in a cycle: m² of water, that is m³ for each metre across."""
    rows, columns = ground.shape
    usual = p.drift * p.seconds * 0.68 * AIR * THRESHOLD / (GRAVITY * WATER)
    for i in prange(rows):
        for j in range(columns):
            south, east = float(field[i, j, 0]), float(field[i, j, 1])
            wind = math.sqrt(south * south + east * east)
            friction = DRAG * p.air_speed * wind
            carries = 0.0
            if friction > THRESHOLD and p.temperature - p.lapse_rate * ground[i, j] <= 0.0:
                carries = usual * (friction * friction - THRESHOLD * THRESHOLD) / (friction * wind)
            eastward[i, j] = carries * east
            southward[i, j] = carries * south


@in_threads
def _blow_line(snow, capacity, cell_size, takes, wrap, forwards):
    """Let the wind along a line carry snow one way. Returns what came over its edges, and what went."""
    cells = len(snow)
    carried, gained = 0.0, 0.0
    for number in range(2 * cells if wrap else cells):
        j = number % cells if forwards else cells - 1 - number % cells
        most = capacity[j] if forwards else -capacity[j]
        if number >= cells and not carried > 0.0:
            break
        if number == 0 and not wrap and most > 0.0 and snow[j] > 0.0:
            carried = gained = most
        if most <= 0.0:
            if carried > 0.0:
                snow[j] += carried / cell_size
                carried = 0.0
        elif carried > most:
            snow[j] += (carried - most) / cell_size
            carried = most
        elif number < cells:
            taken = min((most - carried) * takes, snow[j] * cell_size)
            carried += taken
            left = snow[j] - taken / cell_size
            snow[j] = left if left > 0.0 else 0.0
    if wrap:
        snow[0 if forwards else cells - 1] += carried / cell_size
        return 0.0, 0.0
    return gained, carried


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _blow_lines(snow: Any, capacity: Any, cell_size: float, takes: float, wrap: bool, sums: Any) -> None:
    """Blow along all rows of arrays."""
    for i in prange(len(snow)):
        came, went = _blow_line(snow[i], capacity[i], cell_size, takes, wrap, True)
        came_back, went_back = _blow_line(snow[i], capacity[i], cell_size, takes, wrap, False)
        sums[i, 0], sums[i, 1] = (came + came_back) / cell_size, (went + went_back) / cell_size


def _copy(source: Numbers, out: Numbers) -> None:
    for_blocks(lambda rows: np.copyto(out[rows], source[rows]), *out.shape)


def blow(
    ground: Layer,
    snow: Layer,
    field: NDArray[np.float32],
    cell_size: float,
    parameters: DriftParameters,
    scratch: Scratch,
    *,
    rows_first: bool,
) -> Drifted:
    """Let the wind carry snow for a cycle. `field` is the wind beside its usual speed, [row, column, (south, east)]."""
    p = exact(parameters)
    rows, columns = ground.shape
    eastward, southward = scratch.empty((rows, columns)), scratch.empty((rows, columns))
    _capacities(ground, field, p, eastward, southward)
    takes = 1.0 - math.exp(-3.0 * cell_size / p.fetch)
    gained = lost = 0.0
    for along_rows in (rows_first, not rows_first):
        lines, capacity = snow, eastward
        if not along_rows:
            lines, capacity = scratch.empty((columns, rows)), scratch.empty((columns, rows))
            _copy(snow.T, lines)
            _copy(southward.T, capacity)
        sums = np.empty((len(lines), 2))
        _blow_lines(lines, capacity, float(cell_size), takes, p.wrap, sums)
        if not along_rows:
            _copy(lines.T, snow)
        came, went = sums.sum(axis=0).tolist()
        gained, lost = gained + came, lost + went
    return Drifted(gained, lost)


# Avalanches


class _Hold(NamedTuple):
    """How much snow slopes hold."""

    at_one: float  # metres of water on a slope of a degree, by the square of the angle
    steepest: float  # tangent of the slope above which it holds none
    rests: float  # tangent of that below which avalanches rest
    rest_angle: float  # the same in degrees


def _hold_of(parameters: SnowParameters) -> _Hold:
    steepest = math.tan(math.radians(min(parameters.steepest, 89.9)))
    rests = max(parameters.rests, 0.1)
    at_one = parameters.stable_depth * HELD_AT * HELD_AT
    return exact(_Hold(at_one, steepest, math.tan(math.radians(rests)), rests))


@in_threads
def _held(slope, hold):
    """How much snow a slope holds, in metres of water; `slope` is its tangent."""
    if slope >= hold.steepest:
        return 0.0
    if slope <= 0.0:
        return math.inf
    angle = math.degrees(math.atan(slope))
    return hold.at_one / (angle * max(angle, hold.rest_angle))


@in_threads
def _fall(ground, i, j, cell_size):
    """The steepest way down from a cell, as a tangent."""
    north, south = max(i - 1, 0), min(i + 1, ground.shape[0] - 1)  # at edges cells stand for those beyond
    west, east = max(j - 1, 0), min(j + 1, ground.shape[1] - 1)
    straight = min(ground[north, j], ground[south, j], ground[i, west], ground[i, east])
    across = min(ground[north, west], ground[north, east], ground[south, west], ground[south, east])
    return max(ground[i, j] - straight, (ground[i, j] - across) / math.sqrt(2.0)) / cell_size


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _find_unstable(ground: Any, snow: Any, cell_size: float, hold: Any, unstable: Any, found: Any) -> None:
    rows, columns = ground.shape
    least = _held(hold.steepest * (1.0 - 1e-9), hold)
    for i in prange(rows):
        count = 0
        for j in range(columns):
            moves = False
            if snow[i, j] > LEAST:
                fall = _fall(ground, i, j, cell_size)
                if fall >= hold.steepest or snow[i, j] > least:
                    moves = snow[i, j] > RELEASE * _held(fall, hold)
            unstable[i, j] = moves
            count += moves
        found[i] = count


@in_threads
def _evened(ground, snow, i, j, k, m, apart, density, rests, deep):
    """What comes over from a neighbour, negative: to it. The bits are the same from both sides."""
    if abs(ground[i, j] - ground[k, m]) > rests * apart:
        return 0.0
    difference = (ground[k, m] + snow[k, m] / density) - (ground[i, j] + snow[i, j] / density)
    moved = EASED * 0.5 * density * max(abs(difference) - rests * apart, 0.0)
    if difference > 0.0:
        return min(moved, EASED * max(snow[k, m] - deep, 0.0))
    return -min(moved, EASED * max(snow[i, j] - deep, 0.0))


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _even_out(
    ground: Any, snow: Any, before: Any, deepest: Any, cell_size: float, density: float, rests: float, deep: float
) -> None:
    """Let snow above a depth spread on gentle ground until its surface is as gentle. `before` becomes a copy of it."""
    rows, columns = ground.shape
    for i in prange(rows):
        most = 0.0
        for j in range(columns):
            before[i, j] = snow[i, j]
            most = max(most, snow[i, j])
        deepest[i] = most
    for i in prange(rows):
        first, last = max(i - 1, 0), min(i + 2, rows)
        if deepest[first:last].max() <= deep:
            continue
        for j in range(columns):
            left, right = max(j - 1, 0), min(j + 2, columns)
            most = 0.0
            for k in range(first, last):
                for m in range(left, right):
                    most = max(most, before[k, m])
            if most <= deep:
                continue
            comes = 0.0
            for k in range(first, last):
                for m in range(left, right):
                    if k != i or m != j:
                        apart = cell_size if k == i or m == j else cell_size * math.sqrt(2.0)
                        comes += _evened(ground, before, i, j, k, m, apart, density, rests, deep)
            snow[i, j] = before[i, j] + comes


@in_threads
def _is_before(heights, one, other):
    return heights[one] > heights[other] or (heights[one] == heights[other] and one < other)


@in_threads
def _push(heap, count, heights, cell):
    """Add a cell to a heap of so many, with the highest at its top."""
    place = count
    while place > 0:
        above = (place - 1) // 2
        if not _is_before(heights, cell, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = cell


@in_threads
def _pop(heap, count, heights):
    """Take the highest cell from a heap of so many."""
    top, last, count = heap[0], heap[count - 1], count - 1
    place = 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count and _is_before(heights, heap[below + 1], heap[below]):
            below += 1
        if not _is_before(heights, heap[below], last):
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last
    return top


@njit(cache=True, nogil=True, error_model="numpy")
def _slide(
    ground: Any, snow: Any, waits: Any, arrived: Any, heap: Any, cell_size: float, hold: Any, deep: float, is_open: bool
) -> tuple[float, float]:
    """Let all snow that is unstable slide to its end, from the highest cell on. Returns what moved and what left."""
    rows, columns = snow.shape
    cells, heights, waiting = snow.reshape(-1), ground.reshape(-1), waits.reshape(-1)
    count = 0
    for cell in range(len(cells)):
        arrived[cell] = 0.0
        if waiting[cell]:
            _push(heap, count, heights, cell)
            count += 1
    shares = np.zeros(9)
    moved, left = 0.0, 0.0
    while count > 0:
        cell = _pop(heap, count, heights)
        count -= 1
        i, j = cell // columns, cell % columns
        slope, all_ways = 0.0, 0.0
        for way in range(9):
            k, m = i + way // 3 - 1, j + way % 3 - 1
            shares[way] = 0.0
            if way != 4 and 0 <= k < rows and 0 <= m < columns and ground[k, m] < heights[cell]:
                fall = (heights[cell] - ground[k, m]) / cell_size
                fall = fall if way % 2 == 1 else fall / math.sqrt(2.0)
                slope = max(slope, fall)
                shares[way] = fall * fall * fall * fall
                all_ways += shares[way]
        if not all_ways > 0.0:
            at_edge = i == 0 or j == 0 or i == rows - 1 or j == columns - 1
            if is_open and at_edge and cells[cell] > deep:
                left += cells[cell] - deep
                cells[cell] = deep
            continue
        slides = cells[cell] - _held(slope, hold)
        if slope > hold.rests:
            slides = max(slides, arrived[cell])  # what moves goes on
        if not slides > LEAST:
            continue
        moved += slides
        cells[cell] -= slides
        for way in range(9):
            if shares[way] > 0.0:
                other = (i + way // 3 - 1) * columns + j + way % 3 - 1
                goes = slides * (shares[way] / all_ways)
                cells[other] += goes
                arrived[other] += goes
                if not waiting[other]:
                    waiting[other] = True
                    _push(heap, count, heights, other)
                    count += 1
    return moved, left


def slide(
    ground: Layer, snow: Layer, cell_size: float, parameters: SnowParameters, scratch: Scratch
) -> tuple[float, float]:
    """Let deep snow spread where ground is gentle, and avalanches go where it is steep.

    Returns what avalanches moved from cell to cell, once for each step, and what they took off the map, in metres of
    water over one cell.
    """
    hold, side, shape = _hold_of(parameters), float(cell_size), ground.shape
    deep = hold.at_one / hold.rest_angle**2
    _even_out(ground, snow, scratch.empty(shape), np.empty(shape[0]), side, float(parameters.density), hold.rests, deep)
    waits, found = scratch.empty(shape, np.bool_), np.empty(shape[0], np.int64)
    _find_unstable(ground, snow, side, hold, waits, found)
    if not found.any():
        return 0.0, 0.0
    arrived, heap = scratch.empty(ground.size), scratch.empty(ground.size, np.int64)
    moved, left = _slide(ground, snow, waits, arrived, heap, side, hold, deep, bool(parameters.open_edges))
    return float(moved), float(left)
