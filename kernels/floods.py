"""Water with momentum over any ground: the shallow-water equations on a staggered grid.

After Bates, Horritt & Fewtrell (2010) and de Almeida et al. (2012). Depths h are stored per cell, velocities u on the
sides between cells. With the ground z and the level η = h + z,

    ∂u/∂t = −g ∂η/∂x − advection − (damping + g n² |u| / h^(4/3)) u          ∂h/∂t = −∂(h u)/∂x − ∂(h v)/∂y

n is Manning's roughness. Friction is implicit, the root of a quadratic equation, so thin films neither overshoot nor
oscillate. The local inertial approximation drops advection; it is kept here, because dam-break fronts are too slow
without it (Ritter, Stoker). Advection is upwind and conserves momentum (Stelling & Duinmeijer 2003). The depth at a
side is the upstream level above the higher ground of the two cells. So a lake at rest stays at rest over any ground
(well balanced), and dry cells give no water.

The time step obeys a CFL condition for the fastest wave. Where the fluxes out of a cell are more together than its
water, all of them are scaled down by one factor, so depths never become negative. Velocities are updated first and
depths from the new velocities (forward-backward), so the scheme neither amplifies nor damps waves. Each volume that
enters a cell left another one, to the last bit: fluxes are float32, depths and their sums float64.

Only active tiles are computed: those where water can flow, and their neighbours that it is about to reach. Tiles write
to a second set of layers, so neither their order nor the number of threads affects the result.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, inlined, njit
from kernels.layers import Layer, check_layers
from kernels.parameters import exact
from kernels.scratch import Scratch
from kernels.standing import DRY, LAKE
from kernels.standing import SEA as SEA_WATER
from kernels.units import Metres, PerSecond, Roughness, Seconds, Steps

GRAVITY = 9.81  # m/s²
STILL = 0.01  # metres: a sea this close to its level is displayed as calm
FILM = 1e-4  # metres: shallower water does not flow
OPEN, SEA, WALL = 0, 1, 2  # what is beyond the map's edges

TILE_ROWS, TILE_COLUMNS = 16, 122  # with its halo, a row is eight vectors of 16
_LANES = 16  # numbers of a vector
_HALO = 3  # cells around a tile that its step reads
_WAVE = 0.6  # Courant number of the fastest wave
_MOST = 0.75  # upper limit of the Courant number of the water itself
_CALM_SPEED, _CALM_SPREAD = 1e-4, 1e-3  # m/s and metres: water with less motion and spread of levels is at rest
_CRITICAL = (2.0 / 3.0) ** 1.5  # q = this · √g · h^1.5 over a free fall

# Numbers of each tile after a step
_DEEPEST, _FASTEST, _NORTH, _SOUTH, _WEST, _EAST, _OFF, _OUT, _IN, _STIRRED = range(10)
_FOUND = 16  # numbers of a tile: whole cache lines

# Layout of the work arrays of a tile: planes of the tile with its halo. All planes share one array and have constant
# offsets, so the compiler can see that they do not overlap, and vectorizes. Heights are float64; all else is float32,
# of which a vector holds twice as many. Loops over the planes go on to whole vectors, over numbers that nobody reads.
_WIDTH = TILE_COLUMNS + 2 * _HALO
_PLANE = (TILE_ROWS + 2 * _HALO) * _WIDTH
_WATER, _GROUND = 0, _PLANE
_HEIGHTS = 2 * _PLANE
_DEPTH, _RISE_EAST, _RISE_SOUTH, _STEP_EAST, _STEP_SOUTH, _GIVEN = (_PLANE * plane for plane in range(6))
_EAST_SPEED, _SOUTH_SPEED, _FLUX_EAST, _FLUX_SOUTH = (_PLANE * plane for plane in range(6, 10))
_NEW_EAST, _NEW_SOUTH, _OUT_EAST, _OUT_SOUTH = (_PLANE * plane for plane in range(10, 14))
_BOX = 14 * _PLANE

# First guess of d^(−1/3) from the bits of d, refined by Newton's method
_ROOT_BITS = np.int32(0x54A2FA8C)
_NO_SIGN = np.int32(0x7FFFFFFF)

# float32 and float64 together are float64.
_BOUNDLESS = np.float32(np.inf)
_ZERO, _THIRD, _HALF, _ONE, _TWO, _FOUR = (np.float32(number) for number in (0.0, 1.0 / 3.0, 0.5, 1.0, 2.0, 4.0))
_THIN = np.float32(FILM)
_SLOWEST = np.float32(1e-10)  # m/s: anything slower is rounding error
_NEARLY = np.float32(1.0 - 2e-6)  # of a cell's water at most leaves it, whatever float32 rounds

Numbers = NDArray[np.float64]
Speeds = NDArray[np.float32]


class FloodParameters(NamedTuple):
    """Parameters of the flow."""

    seconds: Seconds  # duration, unless `most_steps` ends it earlier
    most_steps: Steps
    roughness: Roughness
    damping: PerSecond  # of all water, in addition to friction
    edges: int  # OPEN, SEA or WALL
    sea_level: Metres  # if the edges are the sea
    wave_height: Metres  # of a solitary wave that enters over the edges
    wave_seconds: Seconds  # duration of its passage over an edge
    wave_begins: Seconds  # from now; negative if it has already begun
    wave_south: float  # direction of travel, a unit vector
    wave_east: float


class FloodTotals(NamedTuple):
    """Results of `run`; volumes are metres over one cell."""

    seconds: float
    steps: int
    over_edge: float
    into_sea: float
    from_sea: float
    sprung: float  # from springs
    failed_row: int  # the first cell with a non-finite value or negative water; -1 if none
    failed_column: int


_Fields: Any = namedtuple("_Fields", ("ground", "depth", "east", "south", "flux_east", "flux_south"))
_Step: Any = namedtuple(
    "_Step",
    ("pace", "pace32", "per_cell", "gravity", "friction", "damped", "fastest", "edges", "sea_level", "south", "east"),
)


@inlined
def _vectors(count):
    """A count of numbers, rounded up to whole vectors."""
    return (count + _LANES - 1) // _LANES * _LANES


@inlined
def _load(source, first_row, first_column, height, width, box, plane):
    """Copy a tile with its halo into a plane. Beyond the map, edge cells are repeated."""
    rows, columns = source.shape
    begin, count = first_column - _HALO, _vectors(width + 2 * _HALO)
    low, high = max(-begin, 0), min(count, columns - begin)
    for i in range(height + 2 * _HALO):
        row = np.uintp(min(max(first_row - _HALO + i, 0), rows - 1))
        at = plane + i * _WIDTH
        for j in range(low, high):
            box[np.uintp(at + j)] = source[row, np.uintp(begin + j)]
        for j in range(low):
            box[np.uintp(at + j)] = source[row, 0]
        for j in range(high, count):
            box[np.uintp(at + j)] = source[row, np.uintp(columns - 1)]


@inlined
def _load_heights(old, first_row, first_column, height, width, heights, box):
    """Load depth and ground of a tile, and find how level and ground rise from each cell to the next ones.

    Levels are compared in float64. Everything after it is about differences, for which float32 is enough.
    """
    _load(old.ground, first_row, first_column, height, width, heights, _GROUND)
    _load(old.depth, first_row, first_column, height, width, heights, _WATER)
    count = _vectors(width + 2 * _HALO)
    for i in range(height + 2 * _HALO):
        at = i * _WIDTH
        for k in range(at, at + count):
            box[np.uintp(_DEPTH + k)] = heights[np.uintp(_WATER + k)]
    for i in range(height + 2 * _HALO - 1):
        at = i * _WIDTH
        for k in range(at, at + count):
            base, level = heights[np.uintp(_GROUND + k)], heights[np.uintp(_GROUND + k)] + heights[np.uintp(_WATER + k)]
            east, south = heights[np.uintp(_GROUND + k + 1)], heights[np.uintp(_GROUND + k + _WIDTH)]
            box[np.uintp(_STEP_EAST + k)] = east - base
            box[np.uintp(_RISE_EAST + k)] = (east + heights[np.uintp(_WATER + k + 1)]) - level
            box[np.uintp(_STEP_SOUTH + k)] = south - base
            box[np.uintp(_RISE_SOUTH + k)] = (south + heights[np.uintp(_WATER + k + _WIDTH)]) - level


@inlined
def _side(box, k, ahead, rises, base, forth):
    """The depth of water at the side between a cell and the one `ahead` of it, and the depth of the upstream cell.

    `base`: rise of the ground there. `forth`: the first cell is upstream. An upstream cell with no more than a film
    gives a depth of 0.
    """
    # The ground of a side is the higher of both cells, and approaches their mean as water gets deep. The level is that
    # of the upstream cell, extrapolated to the side with a slope limiter (minmod: Roe 1986), less so at a shore.
    rise = box[np.uintp(rises + k)]
    own, other = box[np.uintp(_DEPTH + k)], box[np.uintp(_DEPTH + ahead + k)]
    above, above_beyond = own - max(base, _ZERO), other - max(-base, _ZERO)
    over = max(min(above, above_beyond), _ZERO)
    behind, before = box[np.uintp(rises + k - ahead)], box[np.uintp(rises + k + ahead)]
    along = behind if forth else before
    part = _HALF * (max(min(min(rise, along), over), _ZERO) + min(max(max(rise, along), -over), _ZERO))
    level = above + part if forth else above_beyond - part
    source = own if forth else other
    deep = level + _HALF * min(abs(base), over)
    return deep if source > _THIN else _ZERO, source


@inlined
def _drive(step, box, first, count, ahead, aside, rises, steps, speed, flux, flux_aside, new, out):
    """Compute new speeds and fluxes of a row of sides.

    Each side is between a cell and its neighbour at offset `ahead`, in the direction of `speed` and `flux`. `aside` is
    the offset of the neighbour across this direction, and `flux_aside` the flux towards it.
    """
    per_cell, pace, gravity = step.per_cell, step.pace32, step.gravity
    friction, damped, fastest = step.friction, step.damped, step.fastest
    squared = damped * damped
    for k in range(first, first + _vectors(count)):
        fast, passes = box[np.uintp(speed + k)], box[np.uintp(flux + k)]
        from_behind = max(_HALF * (box[np.uintp(flux + k - ahead)] + passes), _ZERO)
        from_ahead = max(-_HALF * (passes + box[np.uintp(flux + k + ahead)]), _ZERO)
        one = k - aside
        from_one = max(_HALF * (box[np.uintp(flux_aside + one)] + box[np.uintp(flux_aside + one + ahead)]), _ZERO)
        from_other = max(-_HALF * (box[np.uintp(flux_aside + k)] + box[np.uintp(flux_aside + k + ahead)]), _ZERO)
        carried = (
            from_behind * (box[np.uintp(speed + k - ahead)] - fast)
            + from_ahead * (box[np.uintp(speed + k + ahead)] - fast)
        ) + (
            from_one * (box[np.uintp(speed + k - aside)] - fast)
            + from_other * (box[np.uintp(speed + k + aside)] - fast)
        )
        comes = pace * ((from_behind + from_ahead) + (from_one + from_other))
        mean = _HALF * (box[np.uintp(_DEPTH + k)] + box[np.uintp(_DEPTH + ahead + k)])
        base = box[np.uintp(steps + k)]
        fall, slope = -box[np.uintp(rises + k)] * per_cell, base * per_cell
        pushed = fast + pace / max(max(mean, comes), _THIN) * carried
        pushed += gravity * fall / (_ONE + min(fall * fall, slope * slope))
        deep, source = _side(box, k, ahead, rises, base, pushed >= _ZERO)
        word = np.float32(deep).view(np.int32)
        third = (word >> np.int32(2)) + (word >> np.int32(4))
        third = np.int32(third + (third >> np.int32(4)))
        third = np.int32(third + (third >> np.int32(8)))
        third = np.int32(third + (third >> np.int32(16)))
        root = np.int32(_ROOT_BITS - third).view(np.float32)
        root *= (_FOUR - deep * (root * root) * root) * _THIRD
        root *= (_FOUR - deep * (root * root) * root) * _THIRD
        flows = deep > _THIN and abs(pushed) > _SLOWEST
        drag = friction * ((root * root) * (root * root)) if flows else _ZERO
        fast = _TWO * pushed / (damped + math.sqrt(squared + drag * abs(pushed)))
        fast = min(max(fast, -fastest), fastest)
        fast = fast if flows else _ZERO
        box[np.uintp(new + k)] = fast
        most = fastest * source
        box[np.uintp(out + k)] = min(max(fast * max(deep, _ZERO), -most), most)


@inlined
def _edge_speed(step, depth, ground, inner, wave):
    """Outward speed of water over the map's edge (negative: inward), and its depth there.

    `inner` is the outward speed through the opposite side of the cell. An open edge is a free overfall. The sea is a
    radiation condition that absorbs outgoing waves (Flather 1976); `wave` is the height of the incoming one.
    """
    fast, deep = 0.0, depth
    if step.edges == SEA and ground < step.sea_level:
        level = ground + depth
        sea_level = step.sea_level + 2.0 * wave  # doubled, so that the inflow has the speed of the wave
        fast = math.sqrt(GRAVITY / max(max(level, sea_level) - ground, FILM)) * (level - sea_level)
        deep = depth if fast > 0.0 else sea_level - wave - ground
    elif step.edges != WALL and depth > FILM:
        fast = max(_CRITICAL * math.sqrt(GRAVITY * depth), inner)
    return min(max(fast, -step.fastest), step.fastest), deep


@in_threads
def _open_edges(step, heights, box, first_row, first_column, shape, height, width):
    """Compute speeds and fluxes over the map's edges, out of a tile and of the cells beside it."""
    origin = _HALO * _WIDTH + _HALO
    for side in range(4):
        # Cells from this edge to the other one, the first one of the tile and their count, and the same along the edge
        cells, first, count = (shape[0], first_row, height) if side < 2 else (shape[1], first_column, width)
        length, begin, most = (shape[1], first_column, width) if side < 2 else (shape[0], first_row, height)
        speed, flux = (_NEW_SOUTH, _OUT_SOUTH) if side < 2 else (_NEW_EAST, _OUT_EAST)
        along, across = (1, _WIDTH) if side < 2 else (_WIDTH, 1)
        place = 0 if side % 2 == 0 else cells - 1
        if place < first - 1 or place > first + count:
            continue
        at = origin + (place - first) * across
        outward = 1.0 if side % 2 == 1 else -1.0
        wave = max(-outward * (step.south if side < 2 else step.east), 0.0)
        for number in range(-1 if begin > 0 else 0, most + 1 if begin + most < length else most):
            k = at + number * along
            outer, inner = (k, k - across) if side % 2 == 1 else (k - across, k)
            box[_DEPTH + (k + across if side % 2 == 1 else k - across)] = _BOUNDLESS  # what comes in is not limited
            behind = outward * box[speed + inner] if cells > 1 else 0.0
            fast, deep = _edge_speed(step, heights[_WATER + k], heights[_GROUND + k], behind, wave)
            box[speed + outer], box[flux + outer] = outward * fast, outward * fast * deep


@in_threads
def _pass_edges(step, box, first_row, first_column, shape, height, width, found):
    """Add up what leaves and enters over the map's edges along a tile."""
    off = out = came = 0.0
    origin = _HALO * _WIDTH + _HALO
    for side in range(4):
        cells, first, count = (shape[0], first_row, height) if side < 2 else (shape[1], first_column, width)
        if first > 0 if side % 2 == 0 else first + count < cells:
            continue
        flux, along, across = (_OUT_SOUTH, 1, _WIDTH) if side < 2 else (_OUT_EAST, _WIDTH, 1)
        at = flux + origin + (-1 if side % 2 == 0 else count - 1) * across
        for number in range(width if side < 2 else height):
            gone = step.pace * box[at + number * along]
            if side % 2 == 0:
                gone = -gone
            if step.edges == OPEN:
                off += gone
            elif gone >= 0.0:
                out += gone
            else:
                came -= gone
    found[_OFF], found[_OUT], found[_IN] = off, out, came


@inlined
def _limit(step, box, height, width):
    """Let no more flow out of a cell than there is: where its fluxes are too much together, all are as much smaller."""
    pace = step.pace32
    for i in range(_HALO - 1, _HALO + height + 1):
        first = i * _WIDTH + _HALO - 1
        for k in range(first, first + _vectors(width + 2)):
            east_west = max(box[np.uintp(_OUT_EAST + k)], _ZERO) + max(-box[np.uintp(_OUT_EAST + k - 1)], _ZERO)
            north_south = max(box[np.uintp(_OUT_SOUTH + k)], _ZERO) + max(
                -box[np.uintp(_OUT_SOUTH + k - _WIDTH)], _ZERO
            )
            leaves, there = pace * (east_west + north_south), _NEARLY * box[np.uintp(_DEPTH + k)]
            box[np.uintp(_GIVEN + k)] = there / leaves if leaves > there else _ONE
    for i in range(_HALO, _HALO + height):
        first = i * _WIDTH + _HALO - 1
        for k in range(first, first + _vectors(width + 1)):
            flux, own, other = box[np.uintp(_OUT_EAST + k)], box[np.uintp(_GIVEN + k)], box[np.uintp(_GIVEN + k + 1)]
            box[np.uintp(_OUT_EAST + k)] = flux * (own if flux > _ZERO else other)
    for i in range(_HALO - 1, _HALO + height):
        first = i * _WIDTH + _HALO
        for k in range(first, first + _vectors(width)):
            flux, own = box[np.uintp(_OUT_SOUTH + k)], box[np.uintp(_GIVEN + k)]
            other = box[np.uintp(_GIVEN + k + _WIDTH)]
            box[np.uintp(_OUT_SOUTH + k)] = flux * (own if flux > _ZERO else other)


@inlined
def _store(box, plane, target, first_row, first_column, height, width):
    """Copy the tile itself from a plane."""
    for i in range(height):
        row, at = np.uintp(first_row + i), plane + (i + _HALO) * _WIDTH + _HALO
        for j in range(width):
            target[row, np.uintp(first_column + j)] = box[np.uintp(at + j)]


@inlined
def _write(step, heights, box, bits, first_row, first_column, height, width, new, found):
    """Write new depths and speeds of a tile, and the numbers of the tile that the next step needs."""
    pace = step.pace
    # Numbers that are not negative are in the order of their bits, and a maximum of integers is vectorized.
    deepest = fastest = np.int32(0)
    for i in range(height):
        at = (i + _HALO) * _WIDTH + _HALO
        for k in range(at, at + _vectors(width)):
            east_west = np.float64(box[np.uintp(_OUT_EAST + k - 1)]) - np.float64(box[np.uintp(_OUT_EAST + k)])
            north_south = np.float64(box[np.uintp(_OUT_SOUTH + k - _WIDTH)]) - np.float64(box[np.uintp(_OUT_SOUTH + k)])
            deep = max(heights[np.uintp(_WATER + k)] + pace * (east_west + north_south), 0.0)
            heights[np.uintp(_WATER + k)] = deep
            box[np.uintp(_DEPTH + k)] = deep
        for k in range(at, at + width):
            deepest = max(deepest, bits[np.uintp(_DEPTH + k)])
        for k in range(at - 1, at + width):
            fastest = max(fastest, np.int32(bits[np.uintp(_NEW_EAST + k)] & _NO_SIGN))
        for k in range(at, at + width):
            fastest = max(fastest, np.int32(bits[np.uintp(_NEW_SOUTH + k)] & _NO_SIGN))
    _store(heights, _WATER, new.depth, first_row, first_column, height, width)
    _store(box, _NEW_EAST, new.east, first_row, first_column, height, width)
    _store(box, _NEW_SOUTH, new.south, first_row, first_column, height, width)
    _store(box, _OUT_EAST, new.flux_east, first_row, first_column, height, width)
    _store(box, _OUT_SOUTH, new.flux_south, first_row, first_column, height, width)
    first, last = _HALO * _WIDTH + _HALO, (height - 1 + _HALO) * _WIDTH + _HALO
    for k in range(first - _WIDTH, first - _WIDTH + width):
        fastest = max(fastest, np.int32(bits[np.uintp(_NEW_SOUTH + k)] & _NO_SIGN))
    north = south = west = east = np.int32(0)
    for j in range(width):
        north = max(north, bits[np.uintp(_DEPTH + first + j)])
        south = max(south, bits[np.uintp(_DEPTH + last + j)])
    for i in range(height):
        west = max(west, bits[np.uintp(_DEPTH + first + i * _WIDTH)])
        east = max(east, bits[np.uintp(_DEPTH + first + i * _WIDTH + width - 1)])
    greatest = (deepest, fastest, north, south, west, east)
    for number in range(6):
        bits[_GIVEN + number] = greatest[number]
        found[number] = box[_GIVEN + number]
    found[_STIRRED] = found[_FASTEST]


@in_threads
def _step_tile(step, first_row, first_column, old, new, heights, box, bits, found):
    """One step of a tile. `heights` and `box` are the work arrays, `bits` a view of `box` as integers."""
    rows, columns = old.depth.shape
    height, width = min(TILE_ROWS, rows - first_row), min(TILE_COLUMNS, columns - first_column)
    _load_heights(old, first_row, first_column, height, width, heights, box)
    _load(old.east, first_row, first_column, height, width, box, _EAST_SPEED)
    _load(old.south, first_row, first_column, height, width, box, _SOUTH_SPEED)
    _load(old.flux_east, first_row, first_column, height, width, box, _FLUX_EAST)
    _load(old.flux_south, first_row, first_column, height, width, box, _FLUX_SOUTH)
    first, last_row, last_column = _HALO, first_row + height, first_column + width
    if first_row < first or first_column < first or last_row + first >= rows or last_column + first >= columns:
        # Speeds and fluxes beyond the map and on its edges are unknown.
        for i in range(height + 2 * _HALO):
            for j in range(width + 2 * _HALO):
                k = i * _WIDTH + j
                row, column = first_row + i - _HALO, first_column + j - _HALO
                if row < 0 or row >= rows - 1:
                    box[_SOUTH_SPEED + k] = box[_FLUX_SOUTH + k] = _ZERO
                if column < 0 or column >= columns - 1:
                    box[_EAST_SPEED + k] = box[_FLUX_EAST + k] = _ZERO
    # All sides of the tile's cells and of the cells beside them
    for i in range(_HALO - 1, _HALO + height + 1):
        _drive(
            step, box, i * _WIDTH + _HALO - 2, width + 3, 1, _WIDTH, _RISE_EAST, _STEP_EAST, _EAST_SPEED,
            _FLUX_EAST, _FLUX_SOUTH, _NEW_EAST, _OUT_EAST,
        )  # fmt: skip
    for i in range(_HALO - 2, _HALO + height + 1):
        _drive(
            step, box, i * _WIDTH + _HALO - 1, width + 2, _WIDTH, 1, _RISE_SOUTH, _STEP_SOUTH, _SOUTH_SPEED,
            _FLUX_SOUTH, _FLUX_EAST, _NEW_SOUTH, _OUT_SOUTH,
        )  # fmt: skip
    is_edge = first_row == 0 or first_column == 0 or last_row + 1 >= rows or last_column + 1 >= columns
    if is_edge:
        _open_edges(step, heights, box, first_row, first_column, old.depth.shape, height, width)
    _limit(step, box, height, width)
    if is_edge:
        _pass_edges(step, box, first_row, first_column, old.depth.shape, height, width, found)
    _write(step, heights, box, bits, first_row, first_column, height, width, new, found)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _step_tiles(step: Any, tiles: Any, across: int, old: Any, new: Any, found: Any, group: int) -> None:
    for part in prange(-(-len(tiles) // group)):
        heights, box = np.empty(_HEIGHTS), np.empty(_BOX, np.float32)
        bits = box.view(np.int32)
        first = np.int64(part) * group
        last = min(int(first) + group, len(tiles))
        for number in range(int(first), last):
            tile = np.int64(tiles[number])
            row, column = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
            _step_tile(step, row, column, old, new, heights, box, bits, found[tile])


@inlined
def _is_sound(depth, ground, east, south, row, column):
    deep = depth[row, column]
    runs = abs(east[row, column]) + abs(south[row, column]) < np.inf
    return runs & (deep >= 0.0) & (deep < np.inf) & (abs(ground[row, column]) < np.inf)


@in_threads
def _first_unsound(depth, ground, east, south, first_row, first_column, last_row, last_column):
    for row in range(np.uintp(first_row), np.uintp(last_row)):
        for column in range(np.uintp(first_column), np.uintp(last_column)):
            if not _is_sound(depth, ground, east, south, row, column):
                return np.int64(row) * depth.shape[1] + np.int64(column)
    return -1


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _look(depth: Any, ground: Any, east: Any, south: Any, found: Any, across: int, unsound: Any) -> None:
    """Initialize `found` [tile, number]; `unsound` [tile] becomes the first invalid cell of each tile, or −1."""
    rows, columns = depth.shape
    depths, easts, souths = depth.view(np.int64), east.view(np.int32), south.view(np.int32)
    for unsigned in prange(len(found)):
        tile = np.int64(unsigned)
        first_row, first_column = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
        last_row, last_column = min(first_row + TILE_ROWS, rows), min(first_column + TILE_COLUMNS, columns)
        # As in `_write`, by bits. Those of a cell that is not sound do not count, as nothing runs then.
        deep_bits, fast_bits, wrong = np.int64(0), np.int32(0), 0
        for unsigned_row in range(np.uintp(first_row), np.uintp(last_row)):
            for column in range(np.uintp(first_column), np.uintp(last_column)):
                wrong |= not _is_sound(depth, ground, east, south, unsigned_row, column)
                deep_bits = max(deep_bits, depths[unsigned_row, column])
                fast_bits = max(fast_bits, np.int32(easts[unsigned_row, column] & _NO_SIGN))
                fast_bits = max(fast_bits, np.int32(souths[unsigned_row, column] & _NO_SIGN))
        deepest, fastest = np.int64(deep_bits).view(np.float64), np.float64(np.int32(fast_bits).view(np.float32))
        unsound[tile] = -1
        if wrong:
            unsound[tile] = _first_unsound(depth, ground, east, south, first_row, first_column, last_row, last_column)
        found[tile, :] = 0.0
        # Before the first step, assume that water may reach all neighbours.
        found[tile, _DEEPEST] = found[tile, _NORTH] = found[tile, _SOUTH] = deepest
        found[tile, _WEST] = found[tile, _EAST] = deepest
        found[tile, _FASTEST] = fastest if deepest > FILM else 0.0
        found[tile, _STIRRED] = 1.0


@in_threads
def _copy_tile(source, target, tile, across):
    rows, columns = source.shape
    first_row, first_column = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
    last_column = min(first_column + TILE_COLUMNS, columns)
    for row in range(first_row, min(first_row + TILE_ROWS, rows)):
        for column in range(first_column, last_column):
            target[np.uintp(row), np.uintp(column)] = source[np.uintp(row), np.uintp(column)]


@in_threads
def _copy_layers(sources, targets, tile, across):
    _copy_tile(sources[0], targets[0], tile, across)
    for number in range(4):
        _copy_tile(sources[1][number], targets[1][number], tile, across)


@inlined
def _begin_row(ground, depth, speeds, fluxes, row, ahead, first_column, last_column, aside):
    """Compute the fluxes of a row of sides, to cells of the row `ahead` that are `aside` so many columns."""
    for column in range(first_column, last_column):
        j = np.uintp(column + aside)
        here, there = ground[row, np.uintp(column)], ground[ahead, j]
        own, other = depth[row, np.uintp(column)], depth[ahead, j]
        speed = speeds[row, np.uintp(column)]
        source, level = (own, here + own) if speed >= 0.0 else (other, there + other)
        deep = level - max(here, there)
        flows = (source > FILM) & (deep > FILM)
        fluxes[row, np.uintp(column)] = np.float32(speed * deep) if flows else _ZERO
        speeds[row, np.uintp(column)] = speed if flows else _ZERO


@in_threads
def _begin_tile(fields, tile, across):
    """Compute the fluxes of a tile from its speeds, before its first step. Speeds through dry sides become 0."""
    ground, depth, east, south, flux_east, flux_south = fields
    rows, columns = ground.shape
    first_row, first_column = tile // across * TILE_ROWS, tile % across * TILE_COLUMNS
    last_column = min(first_column + TILE_COLUMNS, columns)
    for row in range(first_row, min(first_row + TILE_ROWS, rows)):
        here, below = np.uintp(row), np.uintp(row + 1)
        _begin_row(ground, depth, east, flux_east, here, here, first_column, min(last_column, columns - 1), 1)
        if last_column == columns:
            flux_east[here, np.uintp(columns - 1)] = _ZERO
        if row < rows - 1:
            _begin_row(ground, depth, south, flux_south, here, below, first_column, last_column, 0)
        else:
            for column in range(first_column, last_column):
                flux_south[here, np.uintp(column)] = _ZERO


@njit(nogil=True, parallel=True, error_model="numpy")
def _begin_tiles(own: Any, others: Any, tiles: Any, chosen: Any, turn: int, across: int) -> None:
    """Begin tiles, and copy them to the second set of layers, unless the coming step writes them there."""
    for number in prange(len(tiles)):
        tile = np.int64(tiles[number])
        _begin_tile(own, tile, across)
        if turn == 1 or not chosen[tile]:
            _copy_tile(own.depth, others.depth, tile, across)
            _copy_tile(own.east, others.east, tile, across)
            _copy_tile(own.south, others.south, tile, across)
            _copy_tile(own.flux_east, others.flux_east, tile, across)
            _copy_tile(own.flux_south, others.flux_south, tile, across)


@njit(nogil=True, error_model="numpy")
def _choose(ground, found, across, shore, was, ready, layers, others, turn):
    """The active tiles of the next step: those with water that can flow, and neighbours that it is about to reach.

    A tile rests if nothing moved in it and its neighbours in the last step. A resting tile has the same values in both
    sets of layers. `turn` is the set with the latest values. `ready` [tile]: the second set is initialized. `was`
    [tile] becomes the active tiles; those of the `shore` [tile] are always active, as the sea can enter there.
    """
    down = len(found) // across
    now, other = (layers, others) if turn == 0 else (others, layers)
    chosen = shore.copy()
    for tile in range(len(found)):
        if found[tile, _DEEPEST] > FILM:
            row, column = tile // across, tile % across
            stirred = False
            for i in range(max(row - 1, 0), min(row + 2, down)):
                for j in range(max(column - 1, 0), min(column + 2, across)):
                    stirred |= found[i * across + j, _STIRRED] > 0.0
            if not stirred:
                continue
            chosen[tile] = True
            if row > 0 and found[tile, _NORTH] > FILM:
                chosen[tile - across] = True
            if row < down - 1 and found[tile, _SOUTH] > FILM:
                chosen[tile + across] = True
            if column > 0 and found[tile, _WEST] > FILM:
                chosen[tile - 1] = True
            if column < across - 1 and found[tile, _EAST] > FILM:
                chosen[tile + 1] = True
    count = begun = 0
    tiles, fresh = np.empty(len(found), np.int32), np.empty(len(found), np.int32)
    for tile in range(len(found)):
        if was[tile] and not chosen[tile]:
            _copy_layers(now, other, tile, across)
            found[tile, _FASTEST] = 0.0
            for number in (_OFF, _OUT, _IN):
                found[tile, number] = 0.0
        was[tile] = chosen[tile]
        if not chosen[tile]:
            continue
        tiles[count] = tile
        count += 1
        row, column = tile // across, tile % across
        for i in range(max(row - 1, 0), min(row + 2, down)):
            for j in range(max(column - 1, 0), min(column + 2, across)):
                near = i * across + j
                if not ready[near]:
                    ready[near] = True
                    fresh[begun] = near
                    begun += 1
    if begun > 0:
        own, second = _Fields(ground, layers[0], *layers[1]), _Fields(ground, others[0], *others[1])
        _begin_tiles(own, second, fresh[:begun], chosen, turn, across)
    return tiles[:count]


@njit(nogil=True, error_model="numpy")
def _add_up(found: Any, tiles: Any, totals: Any) -> Any:
    """Add up flows over the map's edges in a step. Returns the speed of the fastest wave."""
    wave = 0.0
    for tile in tiles:
        totals[0] += found[tile, _OFF]
        totals[1] += found[tile, _OUT]
        totals[2] += found[tile, _IN]
        wave = max(wave, math.sqrt(GRAVITY * found[tile, _DEEPEST]) + found[tile, _FASTEST])
    return wave


@njit(cache=True, nogil=True, error_model="numpy")
def _run(
    ground: Any, layers: Any, others: Any, found: Any, across: int, shore: Any, incoming: float, cell_size: float,
    parameters: Any, springs: Any,
) -> Any:  # fmt: skip
    """All steps. Returns the first fields of `FloodTotals`.

    `layers` and `others` are two sets of depth and (speed to the east, to the south, flux to the east, to the south);
    the first one holds input and result. `incoming` is the greatest speed of waves that enter over the edges.
    """
    now, other = layers, others
    was, ready = np.zeros(len(found), np.bool_), np.zeros(len(found), np.bool_)
    totals = np.zeros(3)
    passed = sprung = 0.0
    wave = most = 0.0
    for tile in range(len(found)):
        wave = max(wave, math.sqrt(GRAVITY * found[tile, _DEEPEST]) + found[tile, _FASTEST])
    for spring in range(len(springs)):
        most = max(most, springs[spring, 2])
    tiles = np.empty(0, np.int32)
    steps = 0
    while steps < parameters.most_steps and passed < parameters.seconds:
        left = parameters.seconds - passed
        longest = left
        if max(wave, incoming) > 0.0:
            longest = min(longest, _WAVE * cell_size / max(wave, incoming))
        if most > 0.0:  # a spring in a dry cell raises a wave within this step
            longest = min(longest, ((_WAVE * cell_size) ** 2 / (GRAVITY * most)) ** (1.0 / 3.0))
        turns = math.ceil(left / longest)
        dt = left / turns
        for spring in range(len(springs)):
            row, column = int(springs[spring, 0]), int(springs[spring, 1])
            more = springs[spring, 2] * dt
            now[0][row, column] += more
            sprung += more
            tile = row // TILE_ROWS * across + column // TILE_COLUMNS
            for side in (_DEEPEST, _NORTH, _SOUTH, _WEST, _EAST):
                found[tile, side] = max(found[tile, side], now[0][row, column])
            found[tile, _STIRRED] = 1.0
        tiles = _choose(ground, found, across, shore, was, ready, layers, others, steps % 2)
        part = (passed + 0.5 * dt - parameters.wave_begins) / parameters.wave_seconds
        height = parameters.wave_height * math.sin(math.pi * part) ** 2 if 0.0 < part < 1.0 else 0.0
        step = _Step(
            dt / cell_size, np.float32(dt / cell_size), np.float32(1.0 / cell_size), np.float32(dt * GRAVITY),
            np.float32(4.0 * dt * GRAVITY * parameters.roughness**2), np.float32(1.0 + dt * parameters.damping),
            np.float32(_MOST * cell_size / dt), parameters.edges, parameters.sea_level,
            height * parameters.wave_south, height * parameters.wave_east,
        )  # fmt: skip
        old, new = _Fields(ground, now[0], *now[1]), _Fields(ground, other[0], *other[1])
        group = max(len(tiles) // 64, 1)
        _step_tiles(step, tiles, across, old, new, found, group)
        now, other = other, now
        wave = _add_up(found, tiles, totals)
        passed = parameters.seconds if turns == 1 else passed + dt
        steps += 1
    if steps % 2 == 1:
        for tile in range(len(found)):
            if was[tile]:
                _copy_tile(now[0], other[0], tile, across)
                for number in range(2):
                    _copy_tile(now[1][number], other[1][number], tile, across)
    return passed, steps, totals[0], totals[1], totals[2], sprung


def run(
    ground: Layer,
    water: Layer,
    east: Speeds,
    south: Speeds,
    cell_size: float,
    parameters: FloodParameters,
    springs: Numbers | None = None,
    scratch: Scratch | None = None,
) -> FloodTotals:
    """Advance the water by some seconds; changes its layers in place.

    `ground` is the height of the ground and `water` the depth on it, in metres; `east` and `south` are speeds in m/s
    through the eastern and southern side of each cell: [row, column], C-contiguous, float64 and speeds float32.
    `springs` are [spring, (row, column, metres over one cell per second)]. `scratch` is work memory.

    Volume is conserved: all water stays on the map or is in the totals. The result has the same bits on any number of
    threads. If a value is not finite or water is negative, nothing changes and the totals name the cell.
    """
    check_layers(ground, water)
    check_speeds(east, south)
    parameters = exact(parameters)
    springs = np.empty((0, 3)) if springs is None else np.ascontiguousarray(springs, np.float64)
    scratch = (scratch or Scratch()).begin()
    rows, columns = ground.shape
    across = -(-columns // TILE_COLUMNS)
    count = -(-rows // TILE_ROWS) * across
    found, unsound = np.zeros((count, _FOUND)), np.empty(count, np.int64)
    _look(water, ground, east, south, found, across, unsound)
    if (unsound >= 0).any():
        row, column = divmod(int(unsound[unsound >= 0].min()), columns)
        return FloodTotals(0.0, 0, 0.0, 0.0, 0.0, 0.0, row, column)
    shore, incoming = np.zeros(count, np.bool_), 0.0
    if parameters.edges == SEA:
        lowest = _find_shore(ground, parameters.sea_level, across, shore)
        highest = parameters.sea_level + 2.0 * max(parameters.wave_height, 0.0)
        incoming = math.sqrt(GRAVITY * max(highest - lowest, 0.0))
    shape = ground.shape
    own = water, (east, south, scratch.empty(shape, np.float32), scratch.empty(shape, np.float32))
    others = (
        scratch.empty(shape),
        (
            scratch.empty(shape, np.float32), scratch.empty(shape, np.float32),
            scratch.empty(shape, np.float32), scratch.empty(shape, np.float32),
        ),
    )  # fmt: skip
    totals = _run(
        ground, own, others, found, across, shore, incoming, float(cell_size), parameters, springs
    )  # fmt: skip
    seconds, steps, over_edge, into_sea, from_sea, sprung = totals
    return FloodTotals(seconds, steps, over_edge, into_sea, from_sea, sprung, -1, -1)


def check_speeds(*layers: Speeds) -> None:
    """Raises `ValueError` where speeds are not what kernels are compiled for."""
    for layer in layers:
        if layer.shape != layers[0].shape or layer.dtype != np.float32 or not layer.flags.c_contiguous:
            raise ValueError("speeds must be C-contiguous float32 arrays of one shape")


def _find_shore(ground: Layer, sea_level: float, across: int, shore: NDArray[np.bool_]) -> float:
    """Mark the tiles where the sea can enter over the map's edge. Returns the lowest ground of the edge."""
    rows, columns = ground.shape
    for row in (0, rows - 1):
        places = np.flatnonzero(ground[row] < sea_level)
        shore[row // TILE_ROWS * across + places // TILE_COLUMNS] = True
    for column in (0, columns - 1):
        places = np.flatnonzero(ground[:, column] < sea_level)
        shore[places // TILE_ROWS * across + column // TILE_COLUMNS] = True
    return float(min(ground[0].min(), ground[-1].min(), ground[:, 0].min(), ground[:, -1].min()))


@njit(nogil=True, error_model="numpy")
def _root(parent, cell):
    while parent[cell] != cell:
        parent[cell] = parent[parent[cell]]
        cell = parent[cell]
    return cell


@njit(nogil=True, error_model="numpy")
def _find_bodies(ground, depth, parent):
    """Find connected bodies of water (union-find); `parent` [cell] of each wet cell leads to the first of its body."""
    rows, columns = ground.shape
    for row in range(rows):
        for column in range(columns):
            if not depth[row, column] > FILM:
                continue
            cell, level = row * columns + column, ground[row, column] + depth[row, column]
            parent[cell] = cell
            for side in range(2):
                i, j = row - side, column - 1 + side
                if i < 0 or j < 0 or not depth[i, j] > FILM:
                    continue
                if max(level, ground[i, j] + depth[i, j]) - max(ground[row, column], ground[i, j]) > FILM:
                    one, other = _root(parent, cell), _root(parent, i * columns + j)
                    parent[max(one, other)] = min(one, other)


@njit(cache=True, nogil=True, error_model="numpy")
def _calm(ground: Any, depth: Any, east: Any, south: Any, numbers: Any, sums: Any) -> int:
    rows, columns = ground.shape
    size = rows * columns
    parent, bodies, count, deepest = numbers  # the number of a body stands where its first cell is
    high, low, fast, held, under = sums
    _find_bodies(ground, depth, parent)
    base, water = ground.reshape(-1), depth.reshape(-1)
    known = 0
    for row in range(rows):
        for column in range(columns):
            cell = row * columns + column
            if not water[cell] > FILM:
                continue
            first, level = _root(parent, cell), base[cell] + water[cell]
            speed = max(abs(east[row, column]), abs(south[row, column]))
            if column > 0:
                speed = max(speed, abs(east[row, column - 1]))
            if row > 0:
                speed = max(speed, abs(south[row - 1, column]))
            if first == cell:
                bodies[cell] = known
                high[known] = low[known] = level
                fast[known] = held[known] = under[known] = 0.0
                count[known], deepest[known] = 0, cell
                known += 1
            body = bodies[first]
            count[body] += 1
            held[body] += water[cell]
            under[body] += base[cell]
            fast[body] = max(fast[body], speed)
            high[body], low[body] = max(high[body], level), min(low[body], level)
            if base[cell] < base[deepest[body]]:
                deepest[body] = cell
    calmed = 0
    flat = under  # of each body it takes the place of what is needed no more
    for body in range(known):
        # A body that is already level to rounding error stays as it is.
        spread = high[body] - low[body]
        is_calm = fast[body] <= _CALM_SPEED and spread <= _CALM_SPREAD
        if fast[body] == 0.0 and spread <= 4e-16 * max(abs(high[body]), abs(low[body])):
            is_calm = False
        flat[body] = (held[body] + under[body]) / count[body] if is_calm else np.inf
        calmed += is_calm
    if calmed == 0:
        return 0
    for cell in range(size):
        if water[cell] > FILM and flat[bodies[_root(parent, cell)]] <= base[cell]:
            flat[bodies[_root(parent, cell)]] = np.inf  # levelled, this wet cell would fall dry
    for row in range(rows):
        for column in range(columns):
            cell = row * columns + column
            if not water[cell] > FILM:
                continue
            body = bodies[_root(parent, cell)]
            if flat[body] < np.inf:
                water[cell] = flat[body] - base[cell]
                held[body] -= water[cell]
                east[row, column] = south[row, column] = 0.0
                if column > 0:
                    east[row, column - 1] = 0.0
                if row > 0:
                    south[row - 1, column] = 0.0
    calmed = 0
    for body in range(known):
        if flat[body] < np.inf:
            calmed += 1
            water[deepest[body]] = max(water[deepest[body]] + held[body], 0.0)
    return calmed


def calm(ground: Layer, water: Layer, east: Speeds, south: Speeds, scratch: Scratch | None = None) -> int:
    """Bring bodies of water that are nearly at rest to complete rest: exactly level, without motion.

    Layers are those of `run`. The deepest cell takes the rounding error of the volume. Returns the number of bodies
    that changed.
    """
    scratch = (scratch or Scratch()).begin()
    numbers, sums = scratch.empty((4, ground.size), np.int32), scratch.empty((5, ground.size))
    calmed: int = _calm(ground, water, east, south, numbers, sums)
    return calmed


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _show(
    ground: Any, water: Any, east: Any, south: Any, ocean: Any, least: float, sea_level: float, is_calm: bool,
    level: Any, standing: Any, speed: Any, froude: Any,
) -> None:  # fmt: skip
    rows, columns = ground.shape
    for unsigned in prange(rows):
        row = np.int64(unsigned)
        for column in range(columns):
            deep, base = water[row, column], ground[row, column]
            above = base + deep
            is_sea = ocean[row, column] > 0
            if is_sea and is_calm:
                above = sea_level
            wet = deep >= least
            level[row, column] = above if wet else base
            standing[row, column] = (SEA_WATER if is_sea else LAKE) if wet else DRY
            if len(east) < rows:  # nothing runs
                continue
            along = 0.5 * (east[row, column] + (east[row, column - 1] if column > 0 else east[row, column]))
            down = 0.5 * (south[row, column] + (south[row - 1, column] if row > 0 else south[row, column]))
            fast = math.sqrt(along * along + down * down) if wet else 0.0
            speed[row, column] = fast
            froude[row, column] = fast / math.sqrt(GRAVITY * deep) if wet else 0.0


def show(
    ground: Layer,
    water: Layer,
    east: Speeds,
    south: Speeds,
    ocean: NDArray[np.bool_],
    least: float,
    sea_level: float,
    level: Layer,
    standing: NDArray[np.uint8],
    speed: NDArray[np.float32],
    froude: NDArray[np.float32],
) -> None:
    """Write the layers for display: level, kind of standing water, speed and Froude number.

    Layers are those of `run`. Where nothing runs, `east`, `south`, `speed` and `froude` may have a single cell. Water
    shallower than `least` metres counts as dry. `ocean` is where the sea can stand; if all of it is nearly calm, its
    level is exactly the sea's.
    """
    is_calm = bool(ocean.any()) and bool((np.abs((ground + water)[ocean] - sea_level) < STILL).all())
    _show(ground, water, east, south, ocean, float(least), float(sea_level), is_calm, level, standing, speed, froude)
