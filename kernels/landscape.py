"""Landscape evolution: rivers, and the slopes between them.

Rivers are those of kernels/stream_power.py, slopes of kernels/hillslopes.py.

A step lets rock rise, routes the water, lets slides and rivers wear the land and lay down what they carry, then lets
the slopes creep, and rock turn to soil. It is implicit, and may be of any length; of long steps the land shows fewer of
the captures between which rivers move.

What creeps into a channel is the river's load, and goes on with it in the same step. A channel is far narrower than a
cell: if its cell were raised instead, the river would have to wear that off as if it were rock, the more of it the
smaller the cell is.

What is worn is loose material first, then rock, which becomes loose material; what is laid down is loose. K is that of
the rock, times its erodibility, and grows to that of the loose material with its thickness d, by d / (d + cover). Where
there are several kinds, a load is a mix of them, and each share that is laid down has the load's mix.

Rates (kernels/rates.py): erodibility is a factor on K; where mobility is 0 nothing is worn, laid down, or slides.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.exchanging import add, exchange, sum_of
from kernels.hillslopes import creep, make_soil
from kernels.layers import Layer, check_layers
from kernels.loads import all_of, dig, dig_rock, lay, sum_up
from kernels.materials import Materials, Moved, asked, ground_of, rock_at
from kernels.neighbours import OUTLET, index_steps
from kernels.rates import ERODIBILITY, MOBILITY, WEATHERING, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.stream_power import (
    BASE,
    LAKE,
    LAND,
    Rivers,
    StreamPowerParameters,
    carry,
    empty_rivers,
    incise,
    may_move,
    route,
)
from kernels.units import Metres, MetresPerYear, SquareMetres, SquareMetresPerYear, Years

# Square metres that drain to where a river carries off what creeps into it. Channels begin higher, at 1e4 to 1e5
# (Montgomery, Dietrich 1988); with these, valleys are sharper than real ones are, by the skew of the curvature.
RIVER_HEAD = 5e5

# Portion of a thread, independent of the number of threads, so that sums are, too.
LINES = 16  # along which the ground creeps
STRETCH = 8192  # cells


class LandscapeParameters(NamedTuple):
    """Parameters of a step."""

    years: Years
    erodibility: float  # K of rock, for areas in square metres: m^(1 − 2 m) / year
    sediment_erodibility: float  # of loose material beside that of rock
    cover: Metres  # thickness of loose material that halves the way from the one to the other
    area_exponent: float  # m
    channel_area: SquareMetres  # that drains to the head of a channel
    slope_exponent: float  # n
    deposition: float  # G
    critical_slope: float  # tangent of the steepest slope that stands; infinite: all do
    settling_length: Metres  # over which two thirds of a load settle in the sea
    diffusivity: SquareMetresPerYear
    soil_production: MetresPerYear  # of bare rock
    soil_depth: Metres  # under which it is a third of that
    finer: float  # how many cells are as long as one of the reference


class Evolved(NamedTuple):
    """Results of a step, in metres over one cell."""

    moved: Moved
    soil: Moved  # of rock that turned to soil where it lies
    risen: float  # rock that came from below; less than 0: it sank


class Room(NamedTuple):
    """Scratch arrays of a step; arrays are [row, column]."""

    rivers: Rivers
    factor: (
        Layer  # K in each cell, how it is to change, the ground before it creeps, or how fast its rock turns to soil
    )
    free: NDArray[np.float32]  # how freely each cell creeps, −1 where it keeps its height: see `creep`; or `_dig_beds`
    after: Layer  # the ground as it becomes
    load: Layer  # what crept into each channel, and what of that comes from upstream
    comes: NDArray[np.float64]  # [cell * kinds + kind]: of several kinds what comes to each cell
    dug: NDArray[np.float64]  # [cell * kinds + kind]: and what was dug there


_ASKED = (
    "kinds",
    "mix",
    "burden",
    "erodibility",
    "strata",
    "steps_per_metre",
    "rise",
    "rock_erodibility",
    "rock_worn",
    "rock_broken",
)
_Ground: Any = namedtuple("_Ground", (*_ASKED, "rates", "bedrock", "sediment", "ground"))  # type: ignore[misc]


def _room_for(rows: int, columns: int, kinds: int, scratch: Scratch) -> Room:
    """Scratch arrays for a map with so many kinds of loose material."""
    shape, cells = (rows, columns), rows * columns
    factor, after = scratch.empty(shape), scratch.empty(shape)
    comes, dug = (scratch.empty(kinds * cells if kinds > 1 else 0) for _ in range(2))
    # Rivers have worn the land before anything is dug, and what was dug is laid before slopes creep.
    wear = dug[:cells].reshape(shape) if kinds > 1 else None
    load = scratch.empty(shape) if wear is None else wear
    return Room(
        empty_rivers(rows, columns, scratch, wear), factor, scratch.empty(shape, np.float32), after, load, comes, dug
    )


def evolve(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    parameters: LandscapeParameters,
    uplift: Layer | float,
    outlets: NDArray[np.bool_],
    *,
    base_level: bool = True,
    sea_level: float = -math.inf,
    rain: NDArray[np.float32] | None = None,
    rates: Rates | None = None,
    columns_first: bool = False,
    scratch: Scratch | None = None,
    buried: Layer | None = None,
    expose: Callable[[Layer], None] | None = None,
) -> Evolved:
    """Advance a landscape by `parameters.years`, in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. `cell_size` is the side of a cell in
    metres. `uplift` is what rock rises by in the step, in metres. Water leaves by `outlets` [row, column], at least one
    cell; where they are the `base_level`, these neither rise nor creep. The sea lies below `sea_level`, and its floor
    rises and takes loads everywhere. `rain` is what falls on each cell beside others, `rates` what kernels/rates.py
    says. Slopes creep along columns first, or along rows.
    `scratch` is memory to work in. `buried` is how thick beds of loose material lie between rock and sediment, metres
    [row, column]; `expose` is called with what is to be dug off each cell, metres [row, column], and makes uppermost
    beds a part of the mix as far as that needs them.
    """
    check_layers(bedrock, sediment, ground)
    p = parameters
    room = _room_for(ground.shape[0], ground.shape[1], materials.kinds, (scratch or Scratch()).begin())
    land: Any = _Ground._make(
        (*asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1))
    )
    held = outlets.reshape(-1) if base_level else np.zeros(outlets.size, np.bool_)
    risen = _rise(land, np.array(uplift, np.float64, copy=None).reshape(-1), held)
    from_rock, off_map, soil = np.zeros(land.kinds), np.zeros(land.kinds), np.zeros(land.kinds)
    after, rivers = room.after.reshape(-1), room.rivers
    kind, directions = rivers.kind.reshape(-1), rivers.directions.reshape(-1)
    mobility = np.empty(0) if rates is None else rates[..., MOBILITY].astype(np.float64).reshape(-1)
    power = StreamPowerParameters._make(getattr(p, name) for name in StreamPowerParameters._fields)
    comes = room.comes
    steps = index_steps(ground.shape[1])
    below = np.empty(0) if buried is None else buried.reshape(-1)
    if p.erodibility > 0.0:
        trees = route(ground, outlets, sea_level, rain, rivers)
        _find_erodibility(land, p.erodibility, p.sediment_erodibility, p.cover, below, room.factor.reshape(-1))
        incise(ground, room.factor, mobility, cell_size, power, sea_level, rivers, trees, room.after)
        if land.kinds > 1:
            if expose is not None:
                expose(np.subtract(ground, room.after, out=room.factor))
            change, rock_kind = room.factor.reshape(-1), room.free.reshape(-1)
            _dig_beds(land, after, kind, change, rock_kind, comes, room.dug, from_rock)
            _exchange_along_rivers(
                land, change, rock_kind, kind, directions, rivers.order, steps, rivers.surface.reshape(-1),
                rivers.sums.reshape(-1), mobility, comes, room.dug, trees.begins,
            )  # fmt: skip
            _leave(land, trees.outlets, comes, off_map)
            room.after[...] = ground
    else:
        room.after[...] = ground
    if p.diffusivity > 0.0:
        pace = p.diffusivity * p.years / cell_size**2
        _find_mobility(land, held, room.free.reshape(-1))
        before, load = room.factor.reshape(-1), room.load.reshape(-1)
        before[:] = after
        for along_columns in (columns_first, not columns_first):
            creep(room.after, room.free, pace, along_columns=along_columns)
            if land.kinds > 1:
                if expose is not None:
                    _find_crept_off(room.after, pace, along_columns, room.load)
                    expose(room.load)
                cells, lines = ground.shape if along_columns else ground.T.shape
                strides = (1, ground.shape[1]) if along_columns else (ground.shape[1], 1)
                _exchange_along_lines(
                    land, after, room.free.reshape(-1), pace, cells, lines, *strides, from_rock, off_map
                )
        if p.erodibility > 0.0:
            least = max(p.channel_area, RIVER_HEAD) / cell_size**2
            _take_from_channels(rivers.area.reshape(-1), kind, least, before, after, load)
            stays = np.empty(0)
            if land.kinds > 1:
                _dig_crept(land, rivers.area.reshape(-1), least, load, comes, from_rock)
                stays = np.zeros(ground.size)
            carry(room.after, room.load, mobility, cell_size, power, sea_level, rivers, stays)
            if land.kinds > 1:
                area = rivers.area.reshape(-1)
                _lay_crept(land, area, least, directions, rivers.order, steps, stays, comes, trees.outlets, off_map)
                room.after[...] = ground
    if land.kinds == 1:
        _exchange(land, after, from_rock, off_map)
    if p.soil_production > 0.0:
        _find_weathering(land, room.factor.reshape(-1))
        made = p.soil_production * p.years / p.soil_depth
        factor = room.factor.reshape(-1)
        if buried is not None:
            cover = np.divide(below, -p.soil_depth, out=room.load.reshape(-1))
            factor *= np.exp(cover, out=cover)
        if land.kinds == 1:
            soil[0] += make_soil(land.bedrock, land.sediment, land.ground, land.burden, factor, p.soil_depth, made)
        else:
            _make_soil_of_kinds(land, factor, p.soil_depth, made, soil)
    moved = Moved(from_rock=tuple(from_rock.tolist()), off_map=tuple(off_map.tolist()))
    return Evolved(moved, Moved(from_rock=tuple(soil.tolist())), risen)


@njit(nogil=True, cache=True, error_model="numpy")
def _rise(land, uplift, outlets):
    risen = 0.0
    for cell in range(len(outlets)):
        before = land.bedrock[cell]
        if not outlets[cell]:
            land.bedrock[cell] = before + (uplift[cell] if len(uplift) > 1 else uplift[0])
        risen += land.bedrock[cell] - before
        land.ground[cell] = ground_of(land.burden, cell, land.bedrock[cell], land.sediment[cell])
    return risen


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _find_crept_off(after, pace, along_columns, off):
    """The most that creeps `off` each cell along an axis, in metres, to heights that are known, [row, column]."""
    rows, columns = after.shape
    south, east = (1, 0) if along_columns else (0, 1)
    for unsigned_row in prange(rows):
        row = np.int64(unsigned_row)
        for column in range(columns):
            here, metres = after[row, column], 0.0
            if row + south < rows and column + east < columns:
                metres += max(pace * (here - after[row + south, column + east]), 0.0)
            if row >= south and column >= east:
                metres += max(pace * (here - after[row - south, column - east]), 0.0)
            off[row, column] = metres


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _find_erodibility(land, rock, loose, cover, buried, factor):
    """K in each cell. What is `buried` under the sediment covers rock too."""
    for unsigned_cell in prange(len(factor)):
        cell = np.int64(unsigned_cell)
        of_rock, of_loose, depth = 1.0, loose, land.sediment[cell]
        if len(land.strata) > 1:
            of_rock = land.rock_erodibility[rock_at(land, cell, land.bedrock[cell])]
        elif land.kinds > 1:
            of_rock = land.rock_erodibility[0]
        if land.kinds > 1 and depth > 0.0:
            of_loose = 0.0
            for kind in range(land.kinds):
                of_loose += land.mix[cell * land.kinds + kind] * land.erodibility[kind]
            of_loose = loose * (of_loose / depth)  # in this order, as depths may be next to nothing
        if len(buried) > 0:
            depth += buried[cell]
        covered = depth / (depth + cover)
        factor[cell] = rock * (of_rock + covered * (of_loose - of_rock))
        if len(land.rates) > 0:
            factor[cell] *= rate_of(land.rates, cell, ERODIBILITY)


@njit(nogil=True, cache=True, error_model="numpy")
def _find_mobility(land, outlets, free):
    """How freely each cell creeps, −1 in outlets: see `creep`."""
    for cell in range(len(free)):
        free[cell] = -1.0 if outlets[cell] else rate_of(land.rates, cell, MOBILITY)


@njit(nogil=True, cache=True, error_model="numpy")
def _take_from_channels(area, kind, least, before, after, load):
    """Take what crept into channels off them; `before` and `after` are the ground before and after creep.

    Channels are where at least `least` cells drain.
    """
    for cell in range(len(after)):
        load[cell] = 0.0
        if area[cell] >= least and kind[cell] == LAND and after[cell] > before[cell]:  # the rarest first
            load[cell] = after[cell] - before[cell]
            after[cell] = before[cell]


@njit(nogil=True, cache=True, error_model="numpy")
def _dig_crept(land, area, least, load, comes, from_rock):
    """Take what crept into channels off ground of several kinds: it is what comes there, in `comes`."""
    for cell in range(len(load)):
        if area[cell] >= least:
            own = cell * land.kinds
            for kind in range(land.kinds):
                comes[own + kind] = 0.0
            if load[cell] > 0.0:
                dig(land, cell, load[cell], comes, own, from_rock)


@njit(nogil=True, cache=True, error_model="numpy")
def _lay_crept(land, area, least, direction, order, steps, stays, comes, outlets, off_map):
    """Lay down what crept into channels, of each load that comes to a cell the part that `stays`."""
    kinds = land.kinds
    for cell in order:
        own = cell * kinds
        if area[cell] >= least and all_of(comes, own, kinds) > 0.0:  # as below any channel
            if stays[cell] > 0.0:
                lay(land, cell, stays[cell], comes, own)
            if direction[cell] != OUTLET:
                add(comes, own, comes, (cell + steps[direction[cell]]) * kinds, kinds)
    for cell in outlets:
        if area[cell] >= least:
            add(comes, cell * kinds, off_map, 0, kinds)


@njit(nogil=True, cache=True, error_model="numpy")
def _find_weathering(land, factor):
    """The factor on how fast the rock of each cell turns to soil."""
    for cell in range(len(factor)):
        factor[cell] = rate_of(land.rates, cell, WEATHERING) * rate_of(land.rates, cell, MOBILITY)
        if land.kinds > 1:
            factor[cell] *= land.rock_erodibility[rock_at(land, cell, land.bedrock[cell])]


@njit(nogil=True, cache=True, error_model="numpy")
def _exchange(land, after, from_rock, off_map):
    """Bring the layers of ground of one kind to new heights: what is missing in the end has left the map."""
    worn = left = 0.0
    for cell in range(len(after)):
        rock, loose = land.bedrock[cell], land.sediment[cell]
        change = after[cell] - land.ground[cell]
        dug = max(-change - loose, 0.0)
        land.bedrock[cell] = rock - dug
        dug = rock - land.bedrock[cell]  # as far as numbers of this size can tell
        now = max(loose + (change + dug), 0.0)
        land.sediment[cell] = now
        land.ground[cell] = ground_of(land.burden, cell, land.bedrock[cell], now)
        worn += dug
        left += loose + dug - now
    from_rock[0] += worn
    off_map[0] += left


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _dig_beds(land, after, kind_of, change, rock_kind, comes, dug, from_rock):
    """Lower ground of several kinds to its new heights: what is dug from a cell is in `dug`, and nothing `comes` yet.

    `change` [cell] becomes by how much each cell is to change, but in lakes and where the map ends. Where rock was dug
    it is how much of that, as less than 0, and `rock_kind` [cell] is what it became; −1 elsewhere.
    """
    pieces = (len(after) + STRETCH - 1) // STRETCH
    of_piece = np.zeros((pieces, land.kinds))
    for piece in prange(pieces):
        _dig_stretch(land, after, kind_of, change, rock_kind, comes, dug, np.int64(piece) * STRETCH, of_piece[piece])
    _add_in_order(of_piece, from_rock)


@njit(nogil=True, error_model="numpy")
def _dig_stretch(land, after, kind_of, change, rock_kind, comes, dug, begin, from_rock):
    kinds = land.kinds
    end = min(begin + STRETCH, len(after))
    comes[begin * kinds : end * kinds] = 0.0
    dug[begin * kinds : end * kinds] = 0.0
    for cell in range(begin, end):
        change[cell] = after[cell] - land.ground[cell]
        rock_kind[cell] = -1.0
        if change[cell] < 0.0 and kind_of[cell] != BASE and kind_of[cell] != LAKE:
            own, depth = cell * kinds, -change[cell]
            loose = sum_of(land.mix, own, kinds)
            exchange(land.mix, own, dug, own, min(depth / loose, 1.0) if loose > 0.0 else 0.0, 0.0, kinds)
            if depth > loose:
                kind, rock = dig_rock(land, cell, depth - loose)
                if rock > 0.0:
                    from_rock[kind] += rock
                    change[cell], rock_kind[cell] = -rock, kind
            sum_up(land, cell)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _exchange_along_rivers(
    land, change, rock_kind, kind_of, direction, order, steps, surface, sums, mobility, comes, dug, begins
):  # fmt: skip
    """Carry what was dug from cell to cell, and raise ground of several kinds to its new heights with it.

    `change`, `rock_kind`, `comes` and `dug` are what `_dig_beds` left. `sums` are what `incise` left: of the last cell
    of a lake the part of it that is filled, and how deep the rest of it is, over one cell. What leaves the map is what
    `comes` to outlets then. `begins` are those of `Trees`.
    """
    last = np.empty(len(change), np.int32)
    left = np.empty(len(change))  # of the room in the lake of a last cell that is not yet filled
    for unsigned_thread in prange(len(begins) - 1):
        thread = np.int64(unsigned_thread)
        _exchange_along_trees(
            land, change, rock_kind, kind_of, direction, order[begins[thread] : begins[thread + 1]], steps, surface,
            sums, mobility, comes, dug, last, left,
        )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy")
def _leave(land, outlets, comes, off_map):
    for cell in outlets:
        add(comes, cell * land.kinds, off_map, 0, land.kinds)


@njit(nogil=True, error_model="numpy")
def _exchange_along_trees(
    land, change, rock_kind, kind_of, direction, order, steps, surface, sums, mobility, comes, dug, last, left
):  # fmt: skip
    kinds = land.kinds
    ponds, count = np.empty(len(order), np.int32), 0  # the cells of lakes, as they come in the order
    for cell in order:
        own = cell * kinds
        what = kind_of[cell]
        if what == BASE:
            continue
        receiver = cell + steps[direction[cell]]
        passed = 1.0
        if what == LAKE:
            ponds[count] = cell
            count += 1
            load = sum_of(comes, own, kinds)
            if kind_of[receiver] != LAKE and load > 0.0:
                own_room = surface[cell] - land.ground[cell] if may_move(mobility, cell) else 0.0
                stays = sums[2 * cell] * (sums[2 * cell + 1] + own_room)
                passed = 1.0 - min(stays / load, 1.0)
        elif change[cell] < 0.0:
            add(dug, own, comes, own, kinds)
            if rock_kind[cell] >= 0.0:
                comes[own + int(rock_kind[cell])] -= change[cell]
        else:
            load = sum_of(comes, own, kinds)
            if load > 0.0:
                exchange(land.mix, own, comes, own, 0.0, min(change[cell] / load, 1.0), kinds)
                sum_up(land, cell)
        if what == LAKE:
            for kind in range(kinds):
                amount = passed * comes[own + kind]
                comes[own + kind] -= amount
                comes[receiver * kinds + kind] += amount
        elif direction[cell] != OUTLET:
            add(comes, own, comes, receiver * kinds, kinds)
    # Deposits in a lake cover its whole floor: cells take in turn, from below upwards.
    for place in range(count - 1, -1, -1):
        cell = ponds[place]
        receiver = cell + steps[direction[cell]]
        if kind_of[receiver] == LAKE:
            last[cell] = last[receiver]
        else:
            last[cell] = cell
            left[cell] = sums[2 * cell + 1] + (surface[cell] - land.ground[cell] if may_move(mobility, cell) else 0.0)
        depth = surface[cell] - land.ground[cell] if may_move(mobility, cell) else 0.0
        end = last[cell]
        lay(land, cell, min(depth / left[end], 1.0) if left[end] > 0.0 else 1.0, comes, end * kinds)
        left[end] -= depth


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _exchange_along_lines(
    land, after, free, pace, cells, lines, line_step, cell_step, from_rock, off_map
):  # fmt: skip
    """The same for what crept along lines of cells: from each height to the next hollow, both ways.

    `after` becomes the ground.
    """
    kinds = land.kinds
    bands = (lines + LINES - 1) // LINES
    dug, left = np.zeros((bands, kinds)), np.zeros((bands, kinds))
    for unsigned_band in prange(bands):
        band = np.int64(unsigned_band)
        first, last = band * LINES, min((band + 1) * LINES, lines)
        # Lines whose own cells lie far apart go side by side: so all is used that is read from memory at once.
        together = LINES if cell_step > 1 else 1
        for line in range(first, last, together):
            count = min(together, last - line)
            _exchange_side_by_side(
                land, after, free, pace, cells, line * line_step, count, cell_step, dug[band], left[band]
            )
    _add_in_order(dug, from_rock)
    _add_in_order(left, off_map)


@njit(nogil=True, error_model="numpy")
def _exchange_side_by_side(land, after, free, pace, cells, begin, lines, cell_step, from_rock, off_map):
    """Some lines, place by place, in memory of their own: what lies in a place of all lines is beside each other."""
    kinds = land.kinds
    # What lies side by side on the map: a place of all lines, or a line.
    width = lines if cell_step > 1 else cells
    parts = cells * lines // width
    mix = np.empty(cells * lines * kinds)
    goes = np.zeros((cells + 1) * lines)  # forwards to each cell of a line, less than 0: backwards from it
    is_held = np.empty(cells * lines, np.bool_)
    for part in range(parts):
        first, own = begin + part * cell_step, part * width
        _take(land.mix, first * kinds, mix, own * kinds, width * kinds)
        for i in range(width):
            is_held[own + i] = free[first + i] < 0.0
        if cell_step == 1:
            _find_creep(after, free, pace, first, 1, width - 1, goes[1:])
        elif part < parts - 1:
            _find_creep(after, free, pace, first, cell_step, width, goes[own + lines :])
    carried = np.zeros(lines * kinds)
    for place in range(cells):
        for line in range(lines):
            at = place * lines + line
            cell, come, go = begin + place * cell_step + line, goes[at], goes[at + lines]
            _pass_on(land, mix, at, cell, max(come, 0.0), max(go, 0.0), is_held[at], carried, line, from_rock, off_map)
    carried[:] = 0.0
    for place in range(cells - 1, -1, -1):
        for line in range(lines):
            at = place * lines + line
            cell, come, go = begin + place * cell_step + line, -goes[at + lines], -goes[at]
            _pass_on(land, mix, at, cell, max(come, 0.0), max(go, 0.0), is_held[at], carried, line, from_rock, off_map)
    for part in range(parts):
        first, own = begin + part * cell_step, part * width
        _take(mix, own * kinds, land.mix, first * kinds, width * kinds)
        for i in range(width):
            loose = sum_of(mix, (own + i) * kinds, kinds)
            top = ground_of(land.burden, first + i, land.bedrock[first + i], loose)
            land.sediment[first + i] = loose
            land.ground[first + i] = top
            after[first + i] = top


@inlined
def _take(source, first, target, to, count):
    for i in range(count):
        target[np.uintp(to + i)] = source[np.uintp(first + i)]


@inlined
def _find_creep(after, free, pace, first, step, count, goes):
    """What creeps from each of `count` cells to the one that lies a `step` on; less than 0: comes from there."""
    for i in range(count):
        here, there = np.uintp(first + i), np.uintp(first + i + step)
        goes[np.uintp(i)] = pace * min(abs(free[here]), abs(free[there])) * (after[here] - after[there])


@inlined
def _pass_on(land, mix, at, cell, come, go, is_held, carried, line, from_rock, off_map):
    """Let so much come to a cell with the load of its line, and so much go on with it."""
    if not come + go > 0.0:
        return
    kinds = land.kinds
    first, own = at * kinds, line * kinds
    if is_held:
        loose = land.sediment[cell]
        for kind in range(kinds):
            part = mix[first + kind] / loose if loose > 0.0 else 0.0
            off_map[kind] += carried[own + kind] - go * part
            carried[own + kind] = go * part
        if loose == 0.0:
            kind = land.rock_worn[rock_at(land, cell, land.bedrock[cell])]
            off_map[kind] -= go
            carried[own + kind] = go
        return
    # Whether a cell is dug or laid upon cannot be foreseen: so both are done without a branch, one of them by nothing.
    loose = sum_of(mix, first, kinds)
    dug_part, laid_part = _parts(come, go, loose)
    exchange(mix, first, carried, own, dug_part, laid_part, kinds)
    if go - come > loose:
        kind, dug = dig_rock(land, cell, go - come - loose)
        from_rock[kind] += dug
        carried[own + kind] += dug


@inlined
def _parts(come, go, loose):
    """The part of the loose material of a cell that is dug off, and the part of the load that is laid there."""
    more = go - come
    over, under = (more, loose) if more > 0.0 else (go, come)
    part = over / (under if under > 0.0 else 1.0)
    return (min(part, 1.0) if more > 0.0 else 0.0), (0.0 if more > 0.0 else 1.0 - part)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _make_soil_of_kinds(land, factor, depth, made, from_rock):
    pieces = (len(factor) + STRETCH - 1) // STRETCH
    of_piece = np.zeros((pieces, land.kinds))
    for piece in prange(pieces):
        _make_soil_of_stretch(land, factor, depth, made, np.int64(piece) * STRETCH, of_piece[piece])
    _add_in_order(of_piece, from_rock)


@njit(nogil=True, error_model="numpy")
def _make_soil_of_stretch(land, factor, depth, made, begin, from_rock):
    for cell in range(begin, min(begin + STRETCH, len(factor))):
        rock = land.bedrock[cell]
        kind = land.rock_broken[rock_at(land, cell, rock)]
        land.bedrock[cell] = rock - depth * math.log1p(made * factor[cell] * math.exp(-land.sediment[cell] / depth))
        became = rock - land.bedrock[cell]
        land.mix[cell * land.kinds + kind] += became
        sum_up(land, cell)
        from_rock[kind] += became


@njit(nogil=True, error_model="numpy")
def _add_in_order(parts, sums):
    """Add to `sums` [kind] what threads found in their `parts` [part, kind], so that no order of threads shows."""
    for part in range(len(parts)):
        for kind in range(len(sums)):
            sums[kind] += parts[part, kind]


def lay_lowest(
    mix: NDArray[np.float64], ground: Layer, loads: tuple[float, ...], mobility: NDArray[np.float32] | None = None
) -> None:
    """Fill the lowest cells to one level with loads of each kind, in metres over one cell; `ground` is not changed.

    `mix` is [row, column, kind]. Where `mobility` [row, column] is 0 nothing is laid.
    """
    load = sum(loads)
    free = np.ones(ground.shape, np.bool_) if mobility is None else mobility > 0.0
    if not load > 0.0 or not free.any():
        return
    heights = np.sort(ground[free])
    below = np.cumsum(heights)
    room = heights * np.arange(1, len(heights) + 1) - below  # up to the height of each
    count = int(np.searchsorted(room, load))
    level = (below[count - 1] + load) / count
    lowest = free & (ground < level)
    depth = level - ground[lowest]
    depth *= load / depth.sum()
    for kind, own in enumerate(loads):
        mix[lowest, kind] += depth * (own / load)
