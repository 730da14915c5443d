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
from kernels.exchanging import (
    KINDS,
    LANES,
    LINES,
    add,
    clear,
    exchange,
    exchange_lines,
    lowest_bit,
    sum_of,
    turn_four,
    weighed,
)
from kernels.hillslopes import creep, make_soil
from kernels.layers import Layer, check_layers
from kernels.loads import all_of, dig, dig_rock, lay, sum_up
from kernels.materials import Materials, Moved, asked, ground_of, rock_at
from kernels.neighbours import OUTLET, index_steps
from kernels.prefetching import prefetch
from kernels.rates import ERODIBILITY, MOBILITY, WEATHERING, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.stream_power import (
    BASE,
    LAKE,
    LAND,
    STRETCH,
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

AHEAD = 12  # cells whose loads are fetched from memory, which takes as long as to work them out
PLACES = 8  # of a line that are taken at once


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
    factor: Layer  # K in each cell, the wear that comes of it, what is to be dug off, or how fast rock turns to soil
    free: NDArray[np.float32]  # how freely each cell creeps: see `creep`; or the rock that was dug: see `_sum_rock`
    after: Layer  # the ground as it becomes, or the part of `factor` that beds leave
    load: Layer  # what crept into each channel, and what of that comes from upstream: a part of the rivers' sums
    comes: NDArray[np.float64]  # [cell * kinds + kind]: of several kinds what comes to each cell


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
_Ground: Any = namedtuple("_Ground", (*_ASKED, "rates", "mobility", "bedrock", "sediment", "ground"))  # type: ignore[misc]


def _room_for(rows: int, columns: int, kinds: int, scratch: Scratch) -> Room:
    """Scratch arrays for a map with so many kinds of loose material."""
    shape, cells = (rows, columns), rows * columns
    factor, after = scratch.empty(shape), scratch.empty(shape)
    comes = scratch.empty(kinds * cells if kinds > 1 else 0)
    rivers = empty_rivers(rows, columns, scratch, factor)  # K is needed until it is known how fast rivers wear the land
    load = rivers.sums.reshape(-1)[cells:].reshape(shape)  # slopes creep when they have
    return Room(rivers, factor, scratch.empty(shape, np.float32), after, load, comes)


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
    still: NDArray[np.bool_] | None = None,
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
    says; where it is `still`, mobility is 0, [row, column]. Slopes creep along columns first, or along rows.
    `scratch` is memory to work in. `buried` is how thick beds of loose material lie between rock and sediment, metres
    [row, column]; `expose` is called with what is to be dug off each cell, metres [row, column], and makes uppermost
    beds a part of the mix as far as that needs them.
    """
    check_layers(bedrock, sediment, ground)
    p = parameters
    room = _room_for(ground.shape[0], ground.shape[1], materials.kinds, (scratch or Scratch()).begin())
    mobility = _mobility(rates, still)
    land: Any = _Ground._make((
        *asked(materials, _ASKED), flat(rates), mobility,
        bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    held = outlets.reshape(-1) if base_level else np.zeros(outlets.size, np.bool_)
    _rise(land, np.array(uplift, np.float64, copy=None).reshape(-1), held, room.after.reshape(-1))
    risen = _sum_in_order(room.after.reshape(-1))
    del uplift  # which may be the last to hold a map
    from_rock, off_map, soil = np.zeros(land.kinds), np.zeros(land.kinds), np.zeros(land.kinds)
    after, rivers = room.after.reshape(-1), room.rivers
    kind, directions = rivers.kind.reshape(-1), rivers.directions.reshape(-1)
    power = StreamPowerParameters._make(getattr(p, name) for name in StreamPowerParameters._fields)
    comes = room.comes
    steps = index_steps(ground.shape[1])
    below = np.empty(0) if buried is None else buried.reshape(-1)
    if p.erodibility > 0.0:
        trees = route(ground, outlets, sea_level, rain, rivers)
        del rain
        _find_erodibility(land, p.erodibility, p.sediment_erodibility, p.cover, below, room.factor.reshape(-1), comes)
        incise(ground, room.factor, mobility, cell_size, power, sea_level, rivers, trees, room.after)
        if land.kinds > 1:
            if expose is not None:
                expose(np.subtract(ground, room.after, out=room.factor))
            rock, rock_kind = room.factor.reshape(-1), room.free.reshape(-1)
            _exchange_along_rivers(
                land, after, rock, rock_kind, kind, directions, rivers.order, steps, rivers.surface.reshape(-1),
                rivers.sums.reshape(-1), mobility, comes, trees.begins,
            )  # fmt: skip
            _sum_rock(rock, rock_kind, from_rock)
            _leave(land, trees.outlets, comes, off_map)
    else:
        room.after[...] = ground
    if p.diffusivity > 0.0:
        pace = p.diffusivity * p.years / cell_size**2
        _find_mobility(land, held, room.free.reshape(-1))
        is_river = p.erodibility > 0.0
        least = max(p.channel_area, RIVER_HEAD) / cell_size**2
        area, load, now = rivers.area.reshape(-1), room.load.reshape(-1), ground if land.kinds > 1 else room.after
        # What `rivers` were worked out with is not needed any more.
        found = rivers.sums.reshape(-1).view(np.int32)
        channels = _channels(area, least, rivers.order, trees.begins, found) if is_river else np.empty(0, np.int32)
        before = now.reshape(-1)[channels]
        for along_columns in (columns_first, not columns_first):
            creep(now, room.free, pace, room.after, along_columns=along_columns)
            if land.kinds > 1:
                if expose is not None:
                    _find_crept_off(room.after, pace, along_columns, room.load)
                    expose(room.load)
                cells, lines = ground.shape if along_columns else ground.T.shape
                strides = (1, ground.shape[1]) if along_columns else (ground.shape[1], 1)
                _exchange_along_lines(
                    land, after, room.free.reshape(-1), pace, cells, lines, *strides, from_rock, off_map
                )
        if is_river:
            _take_from_channels(channels, kind, before, now.reshape(-1), after, load)
            stays = np.empty(0)
            if land.kinds > 1:
                _dig_crept(land, np.sort(channels), load, comes, from_rock)
                stays = room.factor.reshape(-1)
                stays.fill(0.0)
            carry(room.after, room.load, mobility, cell_size, power, sea_level, rivers._replace(order=channels), stays)
            if land.kinds > 1:
                _lay_crept(land, area, least, directions, channels, steps, stays, comes, trees.outlets, off_map)
    if land.kinds == 1:
        _exchange(land, after, from_rock, off_map)
    if p.soil_production > 0.0:
        made = p.soil_production * p.years / p.soil_depth
        if buried is not None:
            np.exp(np.divide(below, -p.soil_depth, out=after), out=after)
        if land.kinds == 1:
            factor = room.factor.reshape(-1)
            _find_weathering(land, factor)
            if buried is not None:
                factor *= after
            soil[0] += make_soil(land.bedrock, land.sediment, land.ground, land.burden, factor, p.soil_depth, made)
        else:
            _make_soil_of_kinds(land, after[: len(below)], p.soil_depth, made, soil)
    moved = Moved(from_rock=tuple(from_rock.tolist()), off_map=tuple(off_map.tolist()))
    return Evolved(moved, Moved(from_rock=tuple(soil.tolist())), risen)


def _mobility(rates: Rates | None, still: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Whether anything may move in each cell, [cell]; empty where it may in all."""
    if rates is None:
        return np.empty(0, np.bool_) if still is None else ~still.reshape(-1)
    mobility: NDArray[np.bool_] = rates[..., MOBILITY] > 0.0
    if still is not None:
        mobility &= ~still
    return mobility.reshape(-1)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _rise(land, uplift, outlets, risen):
    """Raise rock outside of `outlets` by the `uplift`; `risen` [cell] becomes by how much numbers of its size tell."""
    for unsigned_piece in prange((len(outlets) + STRETCH - 1) // STRETCH):
        _rise_of_stretch(land, uplift, outlets, risen, np.int64(unsigned_piece) * STRETCH)


@njit(nogil=True, error_model="numpy")
def _rise_of_stretch(land, uplift, outlets, risen, begin):
    for cell in range(begin, min(begin + STRETCH, len(outlets))):
        before = land.bedrock[cell]
        if not outlets[cell]:
            land.bedrock[cell] = before + (uplift[cell] if len(uplift) > 1 else uplift[0])
        risen[cell] = land.bedrock[cell] - before
        land.ground[cell] = ground_of(land.burden, cell, land.bedrock[cell], land.sediment[cell])


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_in_order(values):
    """One after the other, so that no number of threads shows."""
    total = 0.0
    for value in values:
        total += value
    return total


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
def _find_erodibility(land, rock, loose, cover, buried, factor, comes):
    """K in each cell. What is `buried` under the sediment covers rock too. Of several kinds nothing `comes` yet."""
    for unsigned_cell in prange(len(factor)):
        cell = np.int64(unsigned_cell)
        of_rock, of_loose, depth = 1.0, loose, land.sediment[cell]
        if len(land.strata) > 1:
            of_rock = land.rock_erodibility[rock_at(land, cell, land.bedrock[cell])]
        elif land.kinds > 1:
            of_rock = land.rock_erodibility[0]
        if land.kinds > 1:
            own = cell * land.kinds
            if depth > 0.0:
                # in this order, as depths may be next to nothing
                of_loose = loose * (weighed(land.mix, own, land.erodibility, land.kinds) / depth)
            clear(comes, own, land.kinds)
        if len(buried) > 0:
            depth += buried[cell]
        covered = depth / (depth + cover)
        factor[cell] = rock * (of_rock + covered * (of_loose - of_rock))
        if len(land.rates) > 0:
            factor[cell] *= rate_of(land.rates, cell, ERODIBILITY)


@inlined
def _mobility_of(land, cell):
    return rate_of(land.rates, cell, MOBILITY) if may_move(land.mobility, cell) else 0.0


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _find_mobility(land, outlets, free):
    """How freely each cell creeps, −1 in outlets: see `creep`."""
    for unsigned_cell in prange(len(free)):
        cell = np.int64(unsigned_cell)
        free[cell] = -1.0 if outlets[cell] else _mobility_of(land, cell)


def _channels(
    area: NDArray[np.float64],
    least: float,
    order: NDArray[np.int32],
    begins: NDArray[np.int64],
    found: NDArray[np.int32],
) -> NDArray[np.int32]:
    """The cells to which at least `least` drain, as they come in the order: with a cell all that lie downstream."""
    ends = begins[:-1].copy()
    _list_channels(area, least, order, begins, found, ends)
    return np.concatenate([found[begin:end] for begin, end in zip(begins, ends, strict=False)])


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _list_channels(area, least, order, begins, found, ends):
    for unsigned_thread in prange(len(ends)):
        thread = np.int64(unsigned_thread)
        end, last = np.uintp(begins[thread]), begins[thread + 1]
        for place in range(begins[thread], last):
            cell = order[place]
            prefetch(area, np.int64(order[min(place + AHEAD, last - 1)]))
            # Without branches: each cell is written, and overwritten where it does not count.
            found[end] = cell
            end += np.uintp(1) if area[np.uintp(cell)] >= least else np.uintp(0)
        ends[thread] = end


@njit(nogil=True, cache=True, error_model="numpy")
def _take_from_channels(channels, kind, before, now, after, load):
    """Take what crept into channels off them, which is a `load` then; `before` [channel] is their ground before creep.

    `after` [cell] becomes the ground without it, and is that of `now` in other channels.
    """
    for i in range(len(channels)):
        cell = channels[i]
        here = now[cell]
        is_raised = kind[cell] == LAND and here > before[i]
        load[cell] = here - before[i] if is_raised else 0.0
        after[cell] = before[i] if is_raised else here


@njit(nogil=True, cache=True, error_model="numpy")
def _dig_crept(land, channels, load, comes, from_rock):
    """Take what crept into channels off ground of several kinds: it is what comes there, in `comes`."""
    for cell in channels:
        own = cell * land.kinds
        for kind in range(land.kinds):
            comes[own + kind] = 0.0
        if load[cell] > 0.0:
            dig(land, cell, load[cell], comes, own, from_rock)


@njit(nogil=True, cache=True, error_model="numpy")
def _lay_crept(land, area, least, direction, channels, steps, stays, comes, outlets, off_map):
    """Lay down what crept into channels, of each load that comes to a cell the part that `stays`."""
    kinds = land.kinds
    for cell in channels:
        own = cell * kinds
        if all_of(comes, own, kinds) > 0.0:
            if stays[cell] > 0.0:
                lay(land, cell, stays[cell], comes, own)
            if direction[cell] != OUTLET:
                add(comes, own, comes, (cell + steps[direction[cell]]) * kinds, kinds)
    for cell in outlets:
        if area[cell] >= least:
            add(comes, cell * kinds, off_map, 0, kinds)


@njit(nogil=True, cache=True, error_model="numpy")
def _find_weathering(land, factor):
    """The factor on how fast the rock of each cell turns to soil of one kind."""
    for cell in range(len(factor)):
        factor[cell] = rate_of(land.rates, cell, WEATHERING) * _mobility_of(land, cell)


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
def _exchange_along_rivers(
    land, after, rock, rock_kind, kind_of, direction, order, steps, surface, sums, mobility, comes, begins
):  # fmt: skip
    """Dig ground of several kinds, carry that from cell to cell, and raise ground to its new heights with it.

    `after` is the ground as it is to become, but in lakes and where the map ends; nothing `comes` [cell * kinds + kind]
    yet. `sums` are what `incise` left: of the last cell of a lake the part of it that is filled, and how deep the rest
    of it is, over one cell. What leaves the map is what `comes` to outlets then. `begins` are those of `Trees`.
    `rock_kind` [cell] becomes the kind that rock became where it was dug, −1 elsewhere, and `rock` [cell] how much.
    """
    last = np.empty(len(after), np.int32)
    left = np.empty(len(after))  # of the room in the lake of a last cell that is not yet filled
    for unsigned_thread in prange(len(begins) - 1):
        thread = np.int64(unsigned_thread)
        _exchange_along_trees(
            land, after, rock, rock_kind, kind_of, direction, order[begins[thread] : begins[thread + 1]], steps,
            surface, sums, mobility, comes, last, left,
        )  # fmt: skip


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _sum_rock(rock, rock_kind, from_rock):
    """Add up the rock that was dug, in an order that no number of threads changes."""
    pieces = (len(rock) + STRETCH - 1) // STRETCH
    of_piece = np.zeros((pieces, len(from_rock)))
    for unsigned_piece in prange(pieces):
        piece = np.int64(unsigned_piece)
        for cell in range(piece * STRETCH, min((piece + 1) * STRETCH, len(rock))):
            if rock_kind[np.uintp(cell)] >= 0.0:
                of_piece[piece, int(rock_kind[np.uintp(cell)])] += rock[np.uintp(cell)]
    _add_in_order(of_piece, from_rock)


@njit(nogil=True, cache=True, error_model="numpy")
def _leave(land, outlets, comes, off_map):
    for cell in outlets:
        add(comes, cell * land.kinds, off_map, 0, land.kinds)


@njit(nogil=True, error_model="numpy")
def _exchange_along_trees(
    land, after, rock, rock_kind, kind_of, direction, order, steps, surface, sums, mobility, comes, last, left
):  # fmt: skip
    kinds = land.kinds
    ponds, count = np.empty(len(order), np.int32), 0  # the cells of lakes, as they come in the order
    end = len(order) - 1
    for place in range(len(order)):
        cell, at = np.int64(order[place]), np.uintp(order[place])
        own = cell * kinds
        soon = np.int64(order[min(place + AHEAD, end)]) * kinds
        prefetch(land.mix, soon)
        prefetch(comes, soon)
        what = kind_of[at]
        rock_kind[at] = -1.0
        if what == BASE:
            continue
        receiver = cell + steps[direction[cell]]
        passed = 1.0
        change = after[at] - land.ground[at]
        if what == LAKE:
            ponds[count] = cell
            count += 1
            load = sum_of(comes, own, kinds)
            if kind_of[receiver] != LAKE and load > 0.0:
                own_room = surface[cell] - land.ground[cell] if may_move(mobility, cell) else 0.0
                stays = sums[2 * cell] * (sums[2 * cell + 1] + own_room)
                passed = 1.0 - min(stays / load, 1.0)
        elif change < 0.0:
            loose = sum_of(land.mix, own, kinds)
            exchange(land.mix, own, comes, own, min(-change / loose, 1.0) if loose > 0.0 else 0.0, 0.0, kinds)
            if -change > loose:
                became, dug = dig_rock(land, cell, -change - loose)
                if dug > 0.0:
                    comes[own + became] += dug
                    rock[at], rock_kind[at] = dug, became
            sum_up(land, cell)
        else:
            load = sum_of(comes, own, kinds)
            if load > 0.0:
                exchange(land.mix, own, comes, own, 0.0, min(change / load, 1.0), kinds)
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
    """The same for what crept along lines of cells: from each height to the next hollow, both ways."""
    bands = (lines + LINES - 1) // LINES
    sums = np.zeros((bands, 2, land.kinds))  # of what was dug of rock, and of what left the map
    for unsigned_band in prange(bands):
        band = np.int64(unsigned_band)
        count = min(LINES, lines - band * LINES)
        _exchange_side_by_side(
            land,
            after,
            free,
            pace,
            cells,
            band * LINES * line_step,
            count,
            line_step,
            cell_step,
            sums[band].reshape(-1),
        )
    _add_in_order(sums[:, 0], from_rock)
    _add_in_order(sums[:, 1], off_map)


@njit(nogil=True, error_model="numpy")
def _exchange_side_by_side(land, after, free, pace, cells, begin, lines, line_step, cell_step, sums):
    """Some lines, place by place, in memory of their own: what lies in a place of all lines is beside each other.

    There are [place, kind, line] of the mix, and [place, line] of what goes forwards to each cell, less than 0:
    backwards from it.
    """
    kinds = land.kinds
    mix, goes, is_held = np.empty(cells * kinds * LINES), np.empty((cells + 1) * LINES), np.zeros(cells, np.bool_)
    goes[:LINES] = goes[cells * LINES :] = 0.0
    if lines < LINES:
        mix[:] = 0.0
        goes[:] = 0.0
    _take_lines(land, free, cells, begin, lines, line_step, cell_step, mix, is_held)
    _find_creep(after, free, pace, cells, begin, lines, line_step, cell_step, goes)
    # Lines that are one after the other on the map have their sums one after the other.
    room = 2 * cells * (kinds + 1) if cell_step == 1 else 0
    amounts, whats, counts = np.empty(lines * room), np.empty(lines * room, np.uint16), np.zeros(lines, np.int64)
    noted = (amounts, whats, counts, sums)
    carried, loose = np.zeros(kinds * LINES), np.empty(LANES)
    for is_back in range(2):
        carried[:] = 0.0
        sign = -1.0 if is_back else 1.0
        for count in range(cells):
            place = cells - 1 - count if is_back else count
            own, cell = place * kinds * LINES, begin + place * cell_step
            come, go = (place + is_back) * LINES, (place + 1 - is_back) * LINES
            if kinds != KINDS or is_held[place]:
                for line in range(lines):
                    _pass_on(
                        land, free, mix, own + line, cell + line * line_step, sign * goes[come + line],
                        sign * goes[go + line], carried, line, noted,
                    )  # fmt: skip
                continue
            for first in range(0, LINES, LANES):
                lacks = exchange_lines(mix, own + first, carried, first, goes, come + first, go + first, sign, loose)
                while lacks != 0:
                    lane = lowest_bit(lacks)
                    lacks &= lacks - 1
                    line = first + lane
                    comes, leaves = max(sign * goes[come + line], 0.0), max(sign * goes[go + line], 0.0)
                    depth = leaves - comes - loose[lane]
                    _dig_rock_of_line(land, cell + line * line_step, depth, carried, line, noted)
    for line in range(lines if room > 0 else 0):
        for i in range(line * room, line * room + counts[line]):
            sums[whats[i]] += amounts[i]
    _give_lines(land, cells, begin, lines, line_step, cell_step, mix, goes)


@njit(nogil=True, error_model="numpy")
def _take_lines(land, free, cells, begin, lines, line_step, cell_step, mix, is_held):
    """The mix of lines, and in which places any of them keeps its height."""
    kinds = land.kinds
    for start in range(0, cells, PLACES):
        for first in range(0, lines, KINDS):
            count = min(KINDS, lines - first)
            for place in range(start, min(start + PLACES, cells)):
                cell = begin + place * cell_step + first * line_step
                own = place * kinds * LINES + first
                for line in range(count):
                    is_held[place] |= free[cell + line * line_step] < 0.0
                if kinds == KINDS and count == KINDS:
                    turn_four(land.mix, cell * KINDS, line_step * KINDS, mix, own, LINES)
                    continue
                for line in range(count):
                    for kind in range(kinds):
                        mix[own + kind * LINES + line] = land.mix[(cell + line * line_step) * kinds + kind]


@njit(nogil=True, error_model="numpy")
def _give_lines(land, cells, begin, lines, line_step, cell_step, mix, sums):
    """The mix back to the map, and its sums, [place, line] on the way."""
    kinds = land.kinds
    for place in range(cells):
        own, to = np.uintp(place * kinds * LINES), np.uintp(place * LINES)
        for line in range(LINES):
            sums[to + np.uintp(line)] = _sum_of_line(mix, own + np.uintp(line), kinds)
    for start in range(0, cells, PLACES):
        end = min(start + PLACES, cells)
        for first in range(0, lines, KINDS):
            count = min(KINDS, lines - first)
            for place in range(start, end):
                cell = begin + place * cell_step + first * line_step
                own = place * kinds * LINES + first
                if kinds == KINDS and count == KINDS:
                    turn_four(mix, own, LINES, land.mix, cell * KINDS, line_step * KINDS)
                    continue
                for line in range(count):
                    for kind in range(kinds):
                        land.mix[(cell + line * line_step) * kinds + kind] = mix[own + kind * LINES + line]
        if cell_step > 1:
            for place in range(start, end):
                for line in range(lines):
                    _lay_sum(land, begin + place * cell_step + line, sums[np.uintp(place * LINES + line)])
        else:
            for line in range(lines):
                for place in range(start, end):
                    cell = begin + line * line_step + place
                    _lay_sum(land, cell, sums[np.uintp(place * LINES + line)])


@inlined
def _lay_sum(land, cell, loose):
    at = np.uintp(cell)
    top = ground_of(land.burden, at, land.bedrock[at], loose)
    land.sediment[at] = loose
    land.ground[at] = top


@njit(nogil=True, error_model="numpy")
def _find_creep(after, free, pace, cells, begin, lines, line_step, cell_step, goes):
    """What creeps from each cell of lines to the next one; less than 0: comes from there."""
    if cell_step > 1:
        for place in range(cells - 1):
            first = begin + place * cell_step
            for line in range(lines):
                here, there = np.uintp(first + line), np.uintp(first + line + cell_step)
                slower = min(abs(free[here]), abs(free[there]))
                goes[np.uintp((place + 1) * LINES + line)] = pace * slower * (after[here] - after[there])
        return
    for start in range(0, cells - 1, LINES):
        for line in range(lines):
            first = begin + line * line_step
            for place in range(start, min(start + LINES, cells - 1)):
                here, there = np.uintp(first + place), np.uintp(first + place + 1)
                slower = min(abs(free[here]), abs(free[there]))
                goes[np.uintp((place + 1) * LINES + line)] = pace * slower * (after[here] - after[there])


@inlined
def _sum_of_line(mix, own, kinds):
    """All kinds of a cell of one of the lines, in their order."""
    total = mix[np.uintp(own)]
    if kinds == KINDS:
        second, third, fourth = np.uintp(own + LINES), np.uintp(own + 2 * LINES), np.uintp(own + 3 * LINES)
        return total + mix[second] + mix[third] + mix[fourth]
    for kind in range(1, kinds):
        total += mix[np.uintp(own + kind * LINES)]
    return total


@inlined
def _note(line, what, amount, noted):
    """Add an amount to one of the sums, or write it down where that is not yet its turn."""
    amounts, whats, counts, sums = noted
    if len(amounts) == 0:
        sums[what] += amount
        return
    place = line * (len(amounts) // len(counts)) + counts[line]
    amounts[place], whats[place] = amount, what
    counts[line] += 1


@inlined
def _dig_rock_of_line(land, cell, depth, carried, line, noted):
    kind, dug = dig_rock(land, cell, depth)
    _note(line, kind, dug, noted)
    carried[kind * LINES + line] += dug


@inlined
def _pass_on(land, free, mix, own, cell, comes, leaves, carried, line, noted):
    """Let so much come to a cell with the load of its line, and so much go on with it; less than 0: nothing."""
    come, go = max(comes, 0.0), max(leaves, 0.0)
    if not come + go > 0.0:
        return
    kinds = land.kinds
    if free[cell] < 0.0:
        loose = land.sediment[cell]
        for kind in range(kinds):
            load = kind * LINES + line
            part = mix[own + kind * LINES] / loose if loose > 0.0 else 0.0
            _note(line, kinds + kind, carried[load] - go * part, noted)
            carried[load] = go * part
        if loose == 0.0:
            kind = land.rock_worn[rock_at(land, cell, land.bedrock[cell])]
            _note(line, kinds + kind, -go, noted)
            carried[kind * LINES + line] = go
        return
    # Whether a cell is dug or laid upon cannot be foreseen: so both are done without a branch, one of them by nothing.
    loose = _sum_of_line(mix, own, kinds)
    more = go - come
    over, under = (more, loose) if more > 0.0 else (go, come)
    part = over / (under if under > 0.0 else 1.0)
    dug_part, laid_part = (min(part, 1.0) if more > 0.0 else 0.0), (0.0 if more > 0.0 else 1.0 - part)
    for kind in range(kinds):
        at, to = np.uintp(own + kind * LINES), np.uintp(kind * LINES + line)
        depth, load = mix[at], carried[to]
        left, laid = depth - dug_part * depth, laid_part * load
        mix[at] = left + laid
        carried[to] = (load - laid) + (depth - left)
    if more > loose:
        _dig_rock_of_line(land, cell, more - loose, carried, line, noted)


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _make_soil_of_kinds(land, below, depth, made, from_rock):
    """As `make_soil`, of several kinds. `below` [cell] is a factor for what lies under the soil; empty: 1."""
    pieces = (len(land.bedrock) + STRETCH - 1) // STRETCH
    of_piece = np.zeros((pieces, land.kinds))
    for piece in prange(pieces):
        _make_soil_of_stretch(land, below, depth, made, np.int64(piece) * STRETCH, of_piece[piece])
    _add_in_order(of_piece, from_rock)


@njit(nogil=True, error_model="numpy")
def _make_soil_of_stretch(land, below, depth, made, begin, from_rock):
    for cell in range(begin, min(begin + STRETCH, len(land.bedrock))):
        at = np.uintp(cell)
        before = land.bedrock[at]
        rock = np.uintp(rock_at(land, cell, before))
        kind = land.rock_broken[rock]
        factor = rate_of(land.rates, cell, WEATHERING) * _mobility_of(land, cell)
        factor *= land.rock_erodibility[rock]
        if len(below) > 0:
            factor *= below[at]
        now = before - depth * math.log1p(made * factor * math.exp(-land.sediment[at] / depth))
        became = before - now
        land.bedrock[at] = now
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
