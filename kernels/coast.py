"""The sea at work on its shore: cliffs worn at their foot, sand that drifts along, beaches of a form in balance.

All happens within some cells of the shore, and costs as much as these. Waves come as `kernels.swell` found them. From
the outer cells to the shore they lose height to the bed's friction, and are never higher than they can be before they
break, a part of the depth (McCowan 1894): so a wide platform or a shoal protects what lies behind it. On a flat that is
shallower than a beach in balance they decay to what does not break any more (Dally, Dean & Dalrymple 1985): this surf
runs up the shore. The drift counts on waves before they break, and so does not know of it.

Cliffs. The waves' power bores a notch into rock at the level of the sea, faster where the rock is weaker. When it is as
deep as the cell, all that stands over it breaks into loose material. Slides (kernels/cascade.py) and the waves
themselves then clear it away. Bare rock under shallow water is worn down, too, much slower. Storms reach a cliff over
the beach before it, the less the wider it is (Limber & Murray 2011): soft rock goes back until its own sand protects
it, and hard rock from which the drift takes the sand stands before it.

Drift. The shore is a chain of sides between cells of sea and of land, and crosses each where the ground comes to the
level of the sea. Along it goes, in m³ a second (Ashton & Murray 2001, from the CERC formula, for waves of the height H
and the period T in deep water, which come at an angle φ to the shore),

    Q = 0.34 H^(12/5) T^(1/5) · cos^(6/5) φ · sin φ

and what more comes to a cell than goes is laid down there. It never is more than what lies there. Beyond the map's
edge the coast goes on alike.

Profile. Sand goes up and down between neighbours until the bed falls off by 2/3 A^(3/2) h^(−1/2) at each depth h, as
that of h = A y^(2/3) does (Bruun 1954, Dean 1977), and no deeper than waves can move it (Hallermeier 1981). On land it
comes up to where waves run up.

Overwash. Storms run over a beach that is low enough, and leave sand of it behind, on the first ground that lies lower
than their fan (Ashton & Murray 2001 and 2006, Donnelly et al. 2006): narrow barriers roll over themselves, and what is
narrower than a cell is a shoal. The sea fills what it reaches, and what lies low behind a beach through its sand.

What settles slower than sand is taken out to sea where waves move it, and so is a part of all rock that they break.

All is found of what was before it, then done; cells come in an order of the map: no order of threads shows.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.layers import Layer, check_layers
from kernels.loads import dig, dig_rock, sum_up
from kernels.materials import Materials, Moved, asked, rock_at, thickness
from kernels.parameters import exact
from kernels.prefetching import AHEAD, prefetch
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.scratch import Scratch
from kernels.standing import LAKE, SEA
from kernels.swell import GRAVITY, TOE
from kernels.units import Metres, Seconds

_CERC = 0.34  # m^(3/5) s^(−6/5)
_BREAKING = 0.78  # height of waves by depth at which they break
_FRICTION = 0.002  # of the bed: part of its height by depth, squared, that a wave loses over a metre
_DECAY = 0.15  # of the energy of breaking waves in a length that is as long as the water is deep (Dally et al. 1985)
_STABLE = 0.4  # height by depth at which they break no more
_BENT = 0.3  # how far against their direction waves still carry sand up, as a cosine
_STEEPEST = 0.12  # slope of the beach where waves run up
_LOOSE = 0.25  # how far a slope along the shore may differ from none, beside that of the profile
_FASTEST = 0.25  # part of a slope's excess that moves in a cycle between two neighbours
_STEP = 0.25  # waves high: what the drift brings to a cell of the reference at most in a cycle, metres
_REACH = 40  # cells of the reference from the shore
_SMOOTHINGS = 4  # of the line of the shore, in cells of the reference
_MIXINGS = 8  # of the drift along it
_POWER = 10.0  # kW/m: that of waves in which cliffs recede as their parameter says
_FOOT = 0.6  # waves high: how far below the sea the platform lies that a cliff leaves
_BEHIND = 0.15  # waves high: the same behind a beach, up to which storms come
_PLATFORM = 0.02  # how fast bare rock wears under shallow water, beside a cliff
_COVER = 0.3  # metres of sand under which none does
_STORM = 2.0  # how far up waves run in the storms of a cycle, beside how far they do usually
_WASHED = 60.0  # waves high: how far storms run over what lies behind a beach
_FAN = 0.02  # slope of the sand that they leave there
_KEPT = 0.1  # waves high: how high the beach stays
_STIRRED = 0.03  # of the height of waves: how deep they stir sand (Sunamura & Kraus 1985)
_PIECE = 1.0  # metres of a cliff that are of one rock
_OF_THE_SEA = -1.0  # a notch, where there is no cliff but sea

_ASKED = (
    "kinds", "mix", "burden", "deposition", "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_worn",
    "rock_broken",
)  # fmt: skip
_Land: Any = namedtuple("_Land", (*_ASKED, "rates", "bedrock", "sediment", "ground"))  # type: ignore[misc]

# The cells beside the shore, [number]: those of the shore first, then farther ones ring by ring, then those of land
# beside the sea, and at last those behind beaches that storms flood. `across` is the column of each, because divisions
# are slow. `ways` [4 × place + side] tell how far the shore is on the way to land beside cells of it, and 0 where none
# is. `distance`, in cells, is that of the sea from the shore and the width of the beach before land.
_Shore: Any = namedtuple(
    "_Shore",
    "rows columns number cells across ways shores seas lands ends distance height surf broken power south east energy",
)

# The sides of cells of the shore with land beyond, [face], cell by cell. `faces` are their numbers, [4 × place + side],
# or −1; `following` is the next one with land to the right and `leading` the one before, −1 beyond the map's edge;
# `where` is its [row, column].
_Line: Any = namedtuple("_Line", "faces places sides following leading where")

Traces = NDArray[np.float32]


class CoastParameters(NamedTuple):
    """How the sea works on its shore in a cycle."""

    sea_level: Metres
    height: Metres  # of waves on the open sea, from trough to crest
    period: Seconds
    seconds: Seconds  # in which they move sand along the shore
    wear: Metres  # by which the weakest cliff recedes in waves of 10 kW/m
    fines: float  # part of broken rock that is too fine for the shore
    profile: float  # A, m^(1/3)
    shaping: float  # part of a slope's excess that moves between cells of the reference
    finer: float  # how many cells are as long as one of the reference
    share: float  # of a cycle that passes in one go


class CoastTotals(NamedTuple):
    """What came and went, and where a number was none: −1 where all were."""

    moved: Moved  # drift over the map's edges, and rock that became loose
    fines: tuple[float, ...]  # out to sea, [kind], in metres over one cell
    shut_in: float  # water of the sea that is in lakes now, in metres over one cell
    failed_row: int
    failed_column: int


@inlined
def _beside(rows, columns, cell, column, side):
    """The neighbour to the east, south, west or north of a cell in a column; −1 beyond the map."""
    if side == 0:
        return cell + 1 if column + 1 < columns else -1
    if side == 1:
        return cell + columns if cell + columns < rows * columns else -1
    if side == 2:
        return cell - 1 if column > 0 else -1
    return cell - columns if cell >= columns else -1


@njit(nogil=True, error_model="numpy")
def _find_wet(standing, ground, notch, level, wet):
    """Mark the cells of the sea in `wet`, which has a row of water before and after the map's, and in `notch`.

    Returns the first cell whose ground is no number, or −1, and the first row with a cell that was of the sea and is no
    more, or the number of rows.
    """
    rows, columns = ground.shape
    bad, first = -1, rows
    wet[0], wet[rows + 1] = 1, 1
    for row in range(rows):
        broken, changed, came = False, False, False
        for column in range(columns):
            height = ground[row, column]
            sea = (standing[row, column] == SEA) & (height < level)
            broken |= not abs(height) < np.inf
            wet[row + 1, column] = sea
            bored = notch[row, column]
            changed |= (bored < 0.0) & (not sea)
            came |= (bored != _OF_THE_SEA) & sea
        if changed:
            first = min(first, row)
        if came:
            for column in range(columns):
                if wet[row + 1, column]:
                    notch[row, column] = _OF_THE_SEA
        if broken and bad < 0:
            for column in range(columns):
                if bad < 0 and not math.isfinite(ground[row, column]):
                    bad = row * columns + column
    return bad, first


@njit(nogil=True, error_model="numpy")
def _shut_in(standing, ground, notch, level, wet, first, water, surface):
    """Leave the water of the sea where it was shut off from it. Returns how much, in metres over one cell."""
    rows, columns = ground.shape
    total = 0.0
    for row in range(first, rows):
        for column in range(columns):
            if not (notch[row, column] < 0.0 and wet[row + 1, column] == 0):
                continue
            notch[row, column] = 0.0
            more = level - ground[row, column] - water[row, column]
            if standing[row, column] != SEA and more > 0.0:
                water[row, column] += more
                standing[row, column] = LAKE
                surface[row, column] = level
                total += more
    return total


@njit(nogil=True, error_model="numpy")
def _find_line(wet, cells):
    """Write the cells of the sea with land beside them to `cells`, as far as it goes. Returns how many there are."""
    rows, columns = wet.shape[0] - 2, wet.shape[1]
    edge = np.zeros((columns + 7) // 8 * 8, np.uint8)
    eight = edge.view(np.uint64)
    count = 0
    for row in range(rows):
        for j in range(columns - 2):  # from the column to the west, so that this loop is vectorized
            around = wet[row, j + 1] & wet[row + 2, j + 1] & wet[row + 1, j] & wet[row + 1, j + 2]
            edge[j + 1] = wet[row + 1, j + 1] & (around ^ 1)
        for j in (0, columns - 1):
            around = wet[row, j] & wet[row + 2, j]
            around &= wet[row + 1, max(j - 1, 0)] & wet[row + 1, min(j + 1, columns - 1)]
            edge[j] = wet[row + 1, j] & (around ^ 1)
        for number in range(len(eight)):
            if eight[number] == 0:
                continue
            for j in range(8 * number, 8 * number + 8):
                if edge[j]:
                    if count < len(cells):
                        cells[count] = row * columns + j
                    count += 1
    return count


@inlined
def _crossing(land, level, cell, other):
    """How far from the middle of a cell of the sea the shore is on the way to one of land, in cells."""
    below = level - land.ground[cell]
    return min(max(below / max(land.ground[other] - land.ground[cell], 1e-9), 0.02), 0.98)


@njit(nogil=True, error_model="numpy")
def _grown(values, more):
    """Values with room for more of them."""
    grown = np.empty(len(values) + more, values.dtype)
    grown[: len(values)] = values
    return grown


@njit(nogil=True, error_model="numpy")
def _find_shore(land, wet, line, number, rows, columns, cell_size, parameters):
    """The cells of the shore and those near to it. It writes `number`, [cell], and −1 where a cell is none of these."""
    ground, level = land.ground, parameters.sea_level
    reach = max(round(_REACH * parameters.finer), 1)
    closure = TOE * parameters.height
    number[:] = -1
    shores = len(line)
    room = 8 * shores + 64
    cells, across, distance = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    ways = np.zeros(4 * shores)
    for place in range(shores):
        next_cell = line[min(place + AHEAD, shores - 1)]
        for row in range(-1, 2):
            prefetch(ground, next_cell + row * columns)
            prefetch(number, next_cell + row * columns)
        cell = line[place]
        column = cell % columns
        squares = 0.0
        for side in range(4):
            other = _beside(rows, columns, cell, column, side)
            if other >= 0 and not wet[other + columns]:
                way = _crossing(land, level, cell, other)
                ways[4 * place + side] = way
                squares += 1.0 / (way * way)
        cells[place], across[place] = cell, column
        distance[place] = 1.0 / math.sqrt(squares)
        number[cell] = place
    ends = np.full(reach + 1, shores, np.int64)  # of the rings
    begin, count = 0, shores
    for number_of_ring in range(reach):
        end = count
        for place in range(begin, end):
            for side in range(4):
                other = _beside(rows, columns, cells[place], across[place], side)
                if other < 0 or number[other] >= 0 or not level - ground[other] < closure:
                    continue
                if not wet[other + columns]:
                    continue
                if count == len(cells):
                    cells, across, distance = _grown(cells, count), _grown(across, count), _grown(distance, count)
                cells[count], across[count] = other, across[place] + (side == 0) - (side == 2)
                number[other] = count
                count += 1
        for place in range(end, count):  # by what was known before this ring (Rouy & Tourin 1992)
            over = down = 1e9
            for side in range(4):
                other = _beside(rows, columns, cells[place], across[place], side)
                if other >= 0 and 0 <= number[other] < end:
                    if side % 2 == 0:
                        over = min(over, distance[number[other]])
                    else:
                        down = min(down, distance[number[other]])
            apart = over - down
            slanting = 0.5 * (over + down + math.sqrt(max(2.0 - apart * apart, 0.0)))
            distance[place] = slanting if abs(apart) < 1.0 else min(over, down) + 1.0
        begin = end
        ends[number_of_ring + 1 :] = count
    seas = count
    # Land beside the sea comes last, and what lies behind its beaches.
    widest = _STORM * parameters.height / (_STEEPEST * cell_size)
    if len(cells) < count + 4 * shores:
        cells, distance, across = _grown(cells, 4 * shores), _grown(distance, 4 * shores), _grown(across, 4 * shores)
    every, far, along = cells, distance, across
    for place in range(shores):
        for side in range(4):
            way = ways[4 * place + side]
            if way == 0.0:
                continue
            other = _beside(rows, columns, cells[place], across[place], side)
            width = max(0.5 - way, 0.0)
            if number[other] < 0:
                number[other] = count
                every[count], far[count] = other, width
                along[count] = across[place] + (side == 0) - (side == 2)
                prefetch(land.bedrock, other)
                count += 1
            far[number[other]] = min(far[number[other]], width)
    lands = count
    begin = seas
    while begin < count:
        end = count
        for place in range(begin, end):
            cell = every[place]
            if far[place] + 1.0 >= widest or land.bedrock[cell] > level:
                continue
            if ground[cell] > level + _STORM * parameters.height:
                continue
            for side in range(4):
                other = _beside(rows, columns, cell, along[place], side)
                if other < 0 or wet[other + columns]:
                    continue
                if number[other] < 0:
                    if count == len(every):
                        every, far, along = _grown(every, count), _grown(far, count), _grown(along, count)
                    number[other] = count
                    every[count], far[count] = other, far[place] + 1.0
                    along[count] = along[place] + (side == 0) - (side == 2)
                    count += 1
                elif number[other] >= end:
                    far[number[other]] = min(far[number[other]], far[place] + 1.0)
        begin = end
    every, far, along = every[:count], far[:count], along[:count]
    none = np.zeros((7, count))
    return _Shore(
        rows,
        columns,
        number,
        every,
        along,
        ways,
        shores,
        seas,
        lands,
        ends,
        far,
        none[0],
        none[1],
        none[2],
        none[3],
        none[4],
        none[5],
        none[6],
    )


@inlined
def _power(height, depth, period):
    """That of waves, kW for each metre of their crests."""
    fast = min(math.sqrt(GRAVITY * max(depth, 0.0)), GRAVITY * period / (4.0 * math.pi))
    return 0.125 * 1.025 * GRAVITY * height * height * fast


@inlined
def _after_friction(height, depth, cell_size):
    """The height that the bed leaves waves of a height, over a cell."""
    ratio = min(height / depth, _BREAKING)
    return max(height - _FRICTION * ratio * ratio * cell_size, 0.0)


@inlined
def _depth_before(shore, land, foot, side, parameters):
    """How deep the sea is before land, beyond which a cell of it is to a side, half a cell of the reference away.

    Closer in, waves are lower, except on a platform.
    """
    depth = parameters.sea_level - land.ground[shore.cells[foot]]
    beyond = _beside(shore.rows, shore.columns, shore.cells[foot], shore.across[foot], side)
    if beyond < 0 or shore.number[beyond] >= shore.seas:
        return depth
    falls = max(land.ground[shore.cells[foot]] - land.ground[beyond], 0.0)
    away = parameters.finer - 1.0
    return depth + max(min(0.5 * away * falls, max(away, 0.0) * depth), min(away, 0.0) * depth)


@inlined
def _bring_waves(shore, land, south, east, power, cell_size, parameters):
    """Find the height of waves at each cell near the shore, as it was in deep water and as it is after breaking."""
    level = parameters.sea_level
    ring = len(shore.ends) - 1
    for back in range(shore.seas):
        place = shore.seas - 1 - back
        while ring > 0 and place < shore.ends[ring - 1]:
            ring -= 1
        outer = shore.ends[ring]  # where the next ring begins
        next_cell = shore.cells[max(place - AHEAD, 0)]
        for row in range(-1, 2):
            prefetch(south, next_cell + row * shore.columns)
            prefetch(east, next_cell + row * shore.columns)
        prefetch(power, next_cell)
        prefetch(land.ground, next_cell)
        cell = shore.cells[place]
        swell_south, swell_east = float(south[cell]), float(east[cell])
        fresh = (swell_south == 0.0) & (swell_east == 0.0)  # the sea has come here since the swell was found
        total = weight = surf = outer_south = outer_east = 0.0
        for side in range(4):
            other = _beside(shore.rows, shore.columns, cell, shore.across[place], side)
            if other < 0:
                continue
            beside = shore.number[other]
            if beside >= shore.seas or 0 <= beside < outer:
                continue
            further = max(shore.distance[beside] - shore.distance[place], 0.1) if beside >= 0 else 1.0
            weight += further
            if beside >= 0:
                total += further * shore.height[beside]
                surf += further * shore.surf[beside]
                outer_south += further * shore.south[beside]
                outer_east += further * shore.east[beside]
            else:
                come = further * parameters.height * math.sqrt(math.hypot(south[other], east[other]))
                total += come
                surf += come
                outer_south += further * south[other]
                outer_east += further * east[other]
        if fresh and weight > 0.0:
            swell_south, swell_east = outer_south / weight, outer_east / weight
        shore.south[place], shore.east[place] = swell_south, swell_east
        shore.energy[place] = math.hypot(swell_south, swell_east)
        open_sea = parameters.height * math.sqrt(shore.energy[place])
        height = min(total / weight, open_sea) if weight > 0.0 else open_sea
        surf = min(surf / weight, open_sea) if weight > 0.0 else open_sea
        depth = max(level - land.ground[cell], 0.01)
        shore.height[place] = _after_friction(height, depth, cell_size)
        surf = _after_friction(surf, depth, cell_size)
        if depth < surf / _BREAKING:  # on a flat that is wider than the surf on a beach in balance
            balance = parameters.profile * (shore.distance[place] * cell_size) ** (2.0 / 3.0)
            if depth < balance:
                fades = math.exp(-0.5 * _DECAY * cell_size * (1.0 / depth - 1.0 / balance))
                stable = min(_STABLE * depth, surf)
                surf = stable + fades * (surf - stable)
        shore.surf[place] = surf
        shore.broken[place] = min(surf, _BREAKING * depth)
        shore.power[place] = _power(shore.broken[place], level - land.ground[cell], parameters.period)
        power[cell] = shore.power[place]
    for place in range(shore.seas, shore.lands):
        across, down = 0.0, 0.0
        for side in range(4):
            other = _beside(shore.rows, shore.columns, shore.cells[place], shore.across[place], side)
            if other < 0 or not 0 <= shore.number[other] < shore.seas:
                continue
            foot = shore.number[other]
            shore.surf[place] = max(shore.surf[place], shore.surf[foot])
            if shore.height[foot] > shore.height[place]:
                shore.height[place] = shore.height[foot]
                shore.south[place], shore.east[place] = shore.south[foot], shore.east[foot]
                shore.energy[place] = shore.energy[foot]
            depth = _depth_before(shore, land, foot, side, parameters)
            strong = _power(min(shore.surf[foot], _BREAKING * max(depth, 0.01)), depth, parameters.period)
            if side % 2 == 0:
                across = max(across, strong)
            else:
                down = max(down, strong)
        shore.power[place] = math.sqrt(across * across + down * down)
    for place in range(shore.seas, len(shore.cells)):
        power[shore.cells[place]] = 0.0
    for place in range(shore.lands, len(shore.cells)):
        for side in range(4):
            other = _beside(shore.rows, shore.columns, shore.cells[place], shore.across[place], side)
            before = shore.number[other] if other >= 0 else -1
            if shore.seas <= before < place and shore.distance[before] < shore.distance[place]:
                shore.power[place] = max(shore.power[place], shore.power[before])
                shore.surf[place] = max(shore.surf[place], shore.surf[before])
                if shore.height[before] > shore.height[place]:
                    shore.height[place] = shore.height[before]
                    shore.south[place], shore.east[place] = shore.south[before], shore.east[before]
                    shore.energy[place] = shore.energy[before]


@inlined
def _ease(land, cell, height):
    """How easily the rock of a cell is worn at a height."""
    eased = land.rock_erodibility[rock_at(land, cell, min(height, land.bedrock[cell]))]
    return eased * rate_of(land.rates, cell, ERODIBILITY) * rate_of(land.rates, cell, MOBILITY)


@inlined
def _lose(land, cell, kind, depth, part, out):
    """Let a part of what has just become loose of a kind go out to sea, and the rest lie in its cell."""
    gone = part * depth
    out[kind] += gone
    land.mix[cell * land.kinds + kind] += depth - gone


@inlined
def _reached(shore, place, cell_size):
    """The part of their power that waves in storms still have beyond the beach before a place of land."""
    width = max(shore.distance[place], 0.0) * cell_size
    return max(1.0 - width * _STEEPEST / (_STORM * shore.height[place]), 0.0)


@inlined
def _wear_cliffs(shore, land, notch, cell_size, parameters, from_rock, out):
    """Bore into the feet of cliffs, and let fall what stands over a notch that is as deep as its cell."""
    level = parameters.sea_level
    deepest = cell_size * parameters.finer * parameters.share
    for place in range(shore.seas, len(shore.cells)):
        next_cell = shore.cells[min(place + AHEAD, len(shore.cells) - 1)]
        prefetch(land.bedrock, next_cell)
        prefetch(notch, next_cell)
        cell = shore.cells[place]
        if not land.bedrock[cell] > level:
            notch[cell] = 0.0  # a beach
            continue
        power, highest = shore.power[place], shore.height[place]
        if not highest > 0.0:
            continue
        reached = _reached(shore, place, cell_size)
        if not reached > 0.0:
            continue
        bores = parameters.wear * _ease(land, cell, level) * reached * power / _POWER
        bored = notch[cell] + min(bores, deepest)
        notch[cell] = bored
        if bored < cell_size:
            continue
        notch[cell] = 0.0
        foot_level = level - (_FOOT if place < shore.lands else _BEHIND) * highest
        while land.bedrock[cell] > foot_level:
            rock = land.bedrock[cell]
            kind = land.rock_broken[rock_at(land, cell, rock)]
            land.bedrock[cell] = max(rock - _PIECE, foot_level)
            fallen = rock - land.bedrock[cell]
            from_rock[kind] += fallen
            _lose(land, cell, kind, fallen, parameters.fines, out)
        sum_up(land, cell)


@inlined
def _wear_platform(shore, land, parameters, from_rock, out):
    """Wear bare rock down that lies under shallow water."""
    level = parameters.sea_level
    for place in range(shore.seas):
        next_cell = shore.cells[min(place + AHEAD, shore.seas - 1)]
        prefetch(land.sediment, next_cell)
        prefetch(land.ground, next_cell)
        cell = shore.cells[place]
        bare = 1.0 - land.sediment[cell] / _COVER
        depth = level - land.ground[cell]
        shallow = 1.0 - depth / max(shore.height[place], 1e-9)
        if not (bare > 0.0 and shallow > 0.0 and parameters.wear > 0.0):
            continue
        pace = parameters.wear * _PLATFORM * shore.power[place] / _POWER * _ease(land, cell, level)
        kind, worn = dig_rock(land, cell, pace * bare * shallow)
        from_rock[kind] += worn
        _lose(land, cell, kind, worn, parameters.fines, out)
        sum_up(land, cell)


@njit(nogil=True, error_model="numpy")
def _chain(shore, land, wet, level):
    """The line of the shore."""
    rows, columns = shore.rows, shore.columns
    cells, number = shore.cells, shore.number
    faces = np.full(4 * shore.shores, -1, np.int64)
    places, sides = np.empty(4 * shore.shores, np.int64), np.empty(4 * shore.shores, np.int64)
    where = np.empty((4 * shore.shores, 2))
    count = 0
    for place in range(shore.shores):
        cell, column = cells[place], shore.across[place]
        row = (cell - column) // columns
        for side in range(4):
            if shore.ways[4 * place + side] == 0.0:
                continue
            other = _beside(rows, columns, cell, column, side)
            faces[4 * place + side] = count
            places[count], sides[count] = place, side
            way = _crossing(land, level, cell, other)
            where[count, 0] = row + way * ((side == 1) - (side == 3))
            where[count, 1] = column + way * ((side == 0) - (side == 2))
            count += 1
    following, leading = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    for face in range(count):
        place, side = places[face], int(sides[face])
        heading = (side + 3) % 4
        column = shore.across[place]
        ahead = _beside(rows, columns, cells[place], column, heading)
        if ahead < 0:
            continue
        beyond = _beside(rows, columns, ahead, column + (heading == 0) - (heading == 2), side)
        if not wet[ahead + columns]:
            after = faces[4 * place + heading]
        elif not wet[beyond + columns]:
            after = faces[4 * int(number[ahead]) + side]
        else:
            after = faces[4 * int(number[beyond]) + (heading + 2) % 4]
        following[face] = after
        leading[after] = face
    return _Line(faces, places[:count], sides[:count], following, leading, where[:count])


@inlined
def _times(rounds, finer):
    """How many rounds reach as far, over cells of this map, as some do over cells of the reference."""
    return max(round(rounds * finer * finer), 1)


@njit(nogil=True, error_model="numpy")
def _smoothed(line, finer):
    """The line of the shore without the corners of cells."""
    following, leading = line.following, line.leading
    where, other = line.where, line.where.copy()
    for _ in range(_times(_SMOOTHINGS, finer)):
        for face in range(len(following)):
            after, before = following[face], leading[face]
            if after < 0 or before < 0:
                continue
            for axis in range(2):
                ends = where[after, axis] + where[before, axis]
                other[face, axis] = 0.25 * (2.0 * where[face, axis] + ends)
        where, other = other, where
    return _Line(line.faces, line.places, line.sides, following, leading, where)


@inlined
def _facing(line, face):
    """How far a side faces the land of the smoothed shore: 1 if it does straight."""
    where = line.where
    after = line.following[face] if line.following[face] >= 0 else face
    before = line.leading[face] if line.leading[face] >= 0 else face
    down, along = where[after, 0] - where[before, 0], where[after, 1] - where[before, 1]
    long = math.hypot(down, along)
    side = int(line.sides[face])
    towards = along * ((side == 1) - (side == 3)) - down * ((side == 0) - (side == 2))
    return min(max(towards / long, 0.0), 1.0) if long > 1e-6 else 1.0


@njit(nogil=True, error_model="numpy")
def _drive(shore, line, depth_per_cycle, parameters):
    """What would drift from each side of the shore to the next one, metres over one cell.

    It is mixed over some cells along the shore: no form of sand is as narrow as one.
    """
    heights, following, where, places = shore.height, line.following, line.where, line.places
    wanted = np.zeros(len(following))
    ahead, behind = np.empty(len(following), np.uintp), np.empty(len(following), np.uintp)
    for face in range(len(following)):
        after, before = following[face], line.leading[face]
        if after < 0:
            ahead[face] = behind[face] = face
            continue
        ahead[face] = after if following[after] >= 0 else face
        behind[face] = before if before >= 0 else face
        along_south, along_east = where[after, 0] - where[face, 0], where[after, 1] - where[face, 1]
        here, there = places[face], places[after]
        swell_south, swell_east = shore.south[here] + shore.south[there], shore.east[here] + shore.east[there]
        into = swell_south * along_east - swell_east * along_south
        if not into > 0.0:
            continue  # in the lee
        long, energy = math.hypot(along_south, along_east), math.hypot(swell_south, swell_east)
        if not (long > 1e-6 and energy > 1e-6):
            continue
        into /= long * energy
        along = (swell_south * along_south + swell_east * along_east) / (long * energy)
        height = 0.5 * (heights[here] + heights[there]) / parameters.height
        wanted[face] = depth_per_cycle * height**2.4 * into**1.2 * along
    mixed = np.zeros(len(following))
    for _ in range(_times(_MIXINGS, parameters.finer)):
        for face in range(len(following)):
            mixed[face] = 0.25 * (2.0 * wanted[face] + (wanted[ahead[face]] + wanted[behind[face]]))
        wanted, mixed = mixed, wanted
    for face in range(len(following)):
        if following[face] >= 0 and places[following[face]] == places[face]:
            wanted[face] = 0.0  # of one cell
    return wanted


@inlined
def _take(land, cell, depth, taken, first, none, out):
    """Take loose material for others, `taken` [first + kind]; what settles slowly goes out to sea."""
    for kind in range(land.kinds):
        taken[first + kind] = 0.0
    if not depth > 0.0:
        return
    dig(land, cell, depth, taken, first, none)
    for kind in range(land.kinds):
        stays = min(land.deposition[kind], 1.0)
        gone = (1.0 - stays) * taken[first + kind]
        out[kind] += gone
        taken[first + kind] -= gone


@njit(nogil=True, error_model="numpy")
def _let_drift(shore, land, line, depth_per_cycle, parameters, drift, volume, over_edge, out):
    """Move sand along the shore; `over_edge` [out or in, kind]. It adds to `drift`, then multiplied by `volume`."""
    level, kinds = parameters.sea_level, land.kinds
    cells, heights, ground, mix = shore.cells, shore.height, land.ground, land.mix
    places, following, leading = line.places, line.following, line.leading
    wanted = _drive(shore, line, depth_per_cycle, parameters)
    asks, part = np.zeros(shore.shores), np.zeros(shore.shores)
    for face in range(len(wanted)):
        if following[face] >= 0 and wanted[face] != 0.0:
            asks[places[face if wanted[face] > 0.0 else following[face]]] += abs(wanted[face])
    comes, passes = np.zeros((shore.shores, kinds)), np.zeros(shore.shores, np.float32)
    taken, none, changed = np.zeros(shore.shores * kinds), np.zeros(kinds), np.zeros(shore.shores, np.uint8)
    for place in range(shore.shores):
        next_cell = cells[min(place + AHEAD, shore.shores - 1)]
        prefetch(mix, next_cell * kinds)
        prefetch(ground, next_cell)
        prefetch(land.bedrock, next_cell)
        if not asks[place] > 0.0:
            continue
        cell = cells[place]
        lowest = level - TOE * heights[place]
        there = min(thickness(land, cell), max(ground[cell] - lowest, 0.0))
        there *= 0.5 * rate_of(land.rates, cell, MOBILITY)
        part[place] = min(there / asks[place], 1.0)
        _take(land, cell, asks[place] * part[place], taken, place * kinds, none, out)
    for face in range(len(wanted)):
        after = following[face]
        if after < 0 or wanted[face] == 0.0:
            continue
        giver = places[face if wanted[face] > 0.0 else after]
        taker = places[after if wanted[face] > 0.0 else face]
        if rate_of(land.rates, cells[taker], MOBILITY) == 0.0:
            taker = giver
        changed[giver], changed[taker] = 1, 1
        share = abs(wanted[face]) / asks[giver]
        passes[giver] = max(passes[giver], abs(wanted[face]) * part[giver])
        for kind in range(kinds):
            moved = share * taken[giver * kinds + kind]
            # At the ends of the shore as much comes in from beyond the map as goes on, or goes out as comes.
            if wanted[face] > 0.0 and leading[face] == -1:
                over_edge[1, kind] += moved
                comes[giver, kind] += moved
            if wanted[face] < 0.0 and following[after] == -1:
                over_edge[1, kind] += moved
                comes[giver, kind] += moved
            leaves = leading[face] == -1 if wanted[face] < 0.0 else following[after] == -1
            if leaves and taker != giver:
                over_edge[0, kind] += moved
            else:
                comes[taker, kind] += moved
    for place in range(shore.shores):
        prefetch(drift, cells[min(place + AHEAD, shore.shores - 1)])
        if not changed[place]:
            continue
        cell = cells[place]
        for kind in range(kinds):
            mix[cell * kinds + kind] += comes[place, kind]
        drift[cell] = volume * (drift[cell] + passes[place])
        sum_up(land, cell)


@inlined
def _excess(shore, land, line, here, there, side, cell_size, parameters, steep):
    """What goes from a place to one beside it. `steep` is the slope of a beach in balance in a metre of water."""
    level = parameters.sea_level
    far, near = (here, there) if shore.distance[here] >= shore.distance[there] else (there, here)
    height = max(shore.surf[here], shore.surf[there])
    if not height > 0.0:
        return 0.0
    run_up = level + height * min(1.0, parameters.finer)  # over the mean of a cell, where it is wider than a beach
    low = land.ground[shore.cells[far]]
    high = land.ground[shore.cells[near]]
    top = min(high, run_up) if near >= shore.seas else high
    if near >= shore.seas and land.bedrock[shore.cells[near]] >= top:
        return 0.0  # a cliff
    depth = level - 0.5 * (low + top)
    stirred = min(1.0 - depth / (TOE * height), 1.0)
    if not stirred > 0.0:
        return 0.0
    stirred *= min(height / parameters.height, 1.0) ** 2  # by their energy
    slope = _STEEPEST
    if near >= shore.seas:
        onward = side if far == here else (side + 2) % 4
        beyond = _beside(shore.rows, shore.columns, shore.cells[near], shore.across[near], onward)
        if beyond >= 0 and 0 <= shore.number[beyond] < shore.seas:
            slope *= _LOOSE  # waves run over land that is no wider than a cell
    if depth > 0.0:
        slope = min(slope, steep / math.sqrt(depth))
    if there < shore.seas:
        towards = min(abs(shore.distance[here] - shore.distance[there]), 1.0)
    else:
        towards = _facing(line, line.faces[4 * here + side])
    free = _LOOSE * math.sqrt(1.0 - towards * towards)
    rise = top - low
    steepest, gentlest = slope * cell_size * (towards + free), slope * cell_size * (towards - free)
    moved = 0.0
    if rise > steepest:
        moved = -0.5 * stirred * parameters.shaping * (rise - steepest)
    elif rise < gentlest:
        along = shore.south[far] if side % 2 == 1 else shore.east[far]
        along = (along if (side < 2) == (far == here) else -along) / max(shore.energy[far], 1e-12)
        onshore = min(max(_BENT + along, 0.0), 1.0)  # waves carry it their way, and bend some way around
        moved = 0.5 * stirred * onshore * parameters.shaping * (gentlest - rise)
        if near >= shore.seas:
            moved = min(moved, max(run_up - high, 0.0))
    return moved if far == here else -moved


@njit(nogil=True, error_model="numpy")
def _shape(shore, land, line, cell_size, parameters, out):
    """Let sand go up and down the profile of the shore."""
    cells, number, mix = shore.cells, shore.number, land.mix
    count, kinds, steep = len(shore.cells), land.kinds, 2.0 / 3.0 * parameters.profile**1.5
    asks, changed = np.zeros(count), np.zeros(count, np.uint8)
    # What flows, [number], from a place to another.
    most = 4 * shore.seas
    flows, givers, takers = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    many = 0
    for place in range(shore.seas):
        cell = cells[place]
        for side in range(4):
            other = _beside(shore.rows, shore.columns, cell, shore.across[place], side)
            there = number[other] if other >= 0 else -1
            if there < 0 or (there < shore.seas and side > 1):
                continue
            flow = _excess(shore, land, line, place, there, side, cell_size, parameters, steep)
            flow *= rate_of(land.rates, cell, MOBILITY) * rate_of(land.rates, other, MOBILITY)
            if flow == 0.0:
                continue
            giver, taker = (place, there) if flow > 0.0 else (there, place)
            flows[many], givers[many], takers[many] = abs(flow), giver, taker
            many += 1
            asks[giver] += abs(flow)
            changed[giver], changed[taker] = 1, 1
    taken, none = np.zeros(count * kinds), np.zeros(kinds)
    for place in range(count):
        if asks[place] > 0.0:
            there = thickness(land, cells[place])
            _take(land, cells[place], min(asks[place], there), taken, place * kinds, none, out)
    for step in range(many):
        share = flows[step] / asks[givers[step]]
        for kind in range(kinds):
            mix[cells[takers[step]] * kinds + kind] += share * taken[givers[step] * kinds + kind]
    for place in range(count):
        if changed[place]:
            sum_up(land, cells[place])


@njit(nogil=True, error_model="numpy")
def _winnow(shore, land, cell_size, parameters, out):
    """Take out to sea what waves stir up and what does not settle near them."""
    kinds, coarse = land.kinds, True
    for kind in range(kinds):
        coarse &= land.deposition[kind] >= 1.0
    if coarse:
        return
    for place in range(len(shore.cells)):
        cell, height = shore.cells[place], shore.surf[place]
        if not height > 0.0:
            continue
        depth = parameters.sea_level - land.ground[cell]
        stirred = min(1.0 - depth / (TOE * height), 1.0)
        if place >= shore.seas:
            stirred = (1.0 + depth / (_STORM * height)) * _reached(shore, place, cell_size)
        there = thickness(land, cell)
        if not (stirred > 0.0 and there > 0.0):
            continue
        part = min(parameters.share * _STIRRED * height * stirred * rate_of(land.rates, cell, MOBILITY) / there, 1.0)
        for kind in range(kinds):
            gone = part * max(1.0 - land.deposition[kind], 0.0) * land.mix[cell * kinds + kind]
            land.mix[cell * kinds + kind] -= gone
            out[kind] += gone
        sum_up(land, cell)


@inlined
def _find_fan(shore, land, place, cell_size, parameters):
    """Where storms lay down what they carry over the beach from a place beside the sea, and how much, metres.

    They run to the first ground that lies lower than a fan from there, and not over what is too high for them.
    """
    rows, columns, cell, height = shore.rows, shore.columns, shore.cells[place], shore.surf[place]
    level, crest = parameters.sea_level, land.ground[cell]
    most = crest - level - _KEPT * height
    size = shore.energy[place]
    if not (most > 0.0 and size > 0.0 and 1.0 - (crest - level) / (_STORM * height) > 0.0):
        return -1, 0.0
    down, over = shore.south[place] / size, shore.east[place] / size
    for side in range(4):
        other = _beside(rows, columns, cell, shore.across[place], side)
        if other >= 0 and 0 <= shore.number[other] < shore.seas and shore.surf[shore.number[other]] > 0.5 * height:
            down += (side == 3) - (side == 1)
            over += (side == 2) - (side == 0)
    longest = max(abs(down), abs(over))
    if not longest > 0.0:
        return -1, 0.0
    down, over = down / longest, over / longest
    begin_column = shore.across[place]
    begin_row = (cell - begin_column) // columns
    step = cell_size * math.hypot(down, over)
    along = (down * shore.south[place] + over * shore.east[place]) * cell_size / (step * size)
    highest = crest
    for number in range(1, int(_WASHED * height / step) + 2):
        row = begin_row + math.floor(number * down + 0.5)
        column = begin_column + math.floor(number * over + 0.5)
        if not (0 <= row < rows and 0 <= column < columns):
            return -1, 0.0
        there = row * columns + column
        beside = shore.number[there]
        if 0 <= beside < shore.seas and along < 0.5:
            return -1, 0.0  # of the same sea
        highest = max(highest, land.ground[there])
        over_it = 1.0 - (highest - level) / (_STORM * height)
        so_far = 1.0 - number * step / (_WASHED * height)
        if not (over_it > 0.0 and so_far > 0.0):
            return -1, 0.0
        drop = crest - land.ground[there] - _FAN * number * step
        if drop > 0.0:
            part = rate_of(land.rates, cell, MOBILITY) * rate_of(land.rates, there, MOBILITY)
            return there, part * parameters.shaping * over_it * so_far * min(0.5 * drop, most)
    return -1, 0.0


@inlined
def _flood(land, water, surface, standing, cell, level):
    """Let the sea fill a cell behind a beach up to its level. Returns how much water comes, metres."""
    more = level - land.ground[cell] - water[cell]
    if standing[cell] == SEA or not more > 0.0:
        return 0.0
    water[cell] += more
    standing[cell] = LAKE
    surface[cell] = level
    return more


@njit(nogil=True, error_model="numpy")
def _overwash(shore, land, water, surface, standing, cell_size, parameters, out):
    """Let storms carry sand over beaches to what lies behind. Returns the sea's water that comes with it, metres."""
    kinds, first, count = land.kinds, shore.seas, shore.lands - shore.seas
    targets, amounts = np.empty(count, np.int64), np.empty(count)
    for number in range(count):
        targets[number], amounts[number] = _find_fan(shore, land, first + number, cell_size, parameters)
    taken, none = np.zeros(count * kinds), np.zeros(kinds)
    for number in range(count):
        if amounts[number] > 0.0:
            cell = shore.cells[first + number]
            _take(land, cell, min(amounts[number], thickness(land, cell)), taken, number * kinds, none, out)
    brought = 0.0
    for place in range(shore.lands, len(shore.cells)):  # what lies low behind a beach is filled through the sand
        if shore.surf[place] > 0.0:
            brought += _flood(land, water, surface, standing, shore.cells[place], parameters.sea_level)
    for number in range(count):
        if not amounts[number] > 0.0:
            continue
        there = targets[number]
        brought += _flood(land, water, surface, standing, there, parameters.sea_level)
        for kind in range(kinds):
            land.mix[there * kinds + kind] += taken[number * kinds + kind]
    for number in range(count):
        if amounts[number] > 0.0:
            sum_up(land, targets[number])
    return brought


@njit(cache=True, nogil=True, error_model="numpy")
def _work(
    land: Any, standing: Any, ground: Any, water: Any, surface: Any, south: Any, east: Any, notch: Any, power: Any,
    drift: Any, volume: Any, wet: Any, number: Any, cell_size: float, parameters: Any, from_rock: Any, over_edge: Any,
    out: Any,
) -> tuple[int, float]:  # fmt: skip
    """Let the sea work for a cycle. Returns the first cell whose ground is no number, or −1, and what was shut in."""
    rows, columns = ground.shape
    level = parameters.sea_level
    bad, first = _find_wet(standing, ground, notch, level, wet)
    if bad >= 0:
        return bad, 0.0
    shut_in = _shut_in(standing, ground, notch, level, wet, first, water, surface)
    line = np.empty(4 * (rows + columns), np.int64)
    count = _find_line(wet, line)
    if count > len(line):
        line = np.empty(count, np.int64)
        _find_line(wet, line)
    if count == 0:
        return -1, shut_in
    is_wet = wet.reshape(-1)
    shore = _find_shore(land, is_wet, line[:count], number, rows, columns, cell_size, parameters)
    _bring_waves(shore, land, south, east, power, cell_size, parameters)
    _wear_cliffs(shore, land, notch.reshape(-1), cell_size, parameters, from_rock, out)
    _wear_platform(shore, land, parameters, from_rock, out)
    fast = _CERC * parameters.height**2.4 * parameters.period**0.2  # m³/s
    most = _STEP * parameters.height * min(1.0, parameters.finer**2)
    depth_per_cycle = min(fast * parameters.seconds / (cell_size * cell_size), most)
    chain = _smoothed(_chain(shore, land, is_wet, level), parameters.finer)
    _let_drift(shore, land, chain, depth_per_cycle, parameters, drift, volume, over_edge, out)
    _shape(shore, land, chain, cell_size, parameters, out)
    _winnow(shore, land, cell_size, parameters, out)
    shut_in += _overwash(
        shore, land, water.reshape(-1), surface.reshape(-1), standing.reshape(-1), cell_size, parameters, out
    )
    return -1, shut_in


def work(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    standing: NDArray[np.uint8],
    water: tuple[Layer, Layer],
    swell: tuple[Traces, Traces],
    notch: Traces,
    power: Traces,
    drift: Traces,
    parameters: CoastParameters,
    rates: Rates | None = None,
    scratch: Scratch | None = None,
) -> CoastTotals:
    """Let the sea work on its shore for a cycle, and change the map in place.

    Layers are as other kernels that move sediment take them. `standing` tells where the sea is; `water` are the depth
    of all other water, and its level. Where the shore has shut the sea in since the last cycle, and where storms bring
    it over a beach, a lake stays. `swell`, to the south and the east, is that of `kernels.swell.find_swell`. `notch` is
    how deep waves have bored into each cell, metres, below 0 in the sea. Of cells near the shore it writes `power`,
    that of the waves in kW/m, and `drift`, what goes on along the shore in m³; both are 0 elsewhere. `scratch` is that
    of a step that has begun.
    """
    check_layers(bedrock, sediment, ground)
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    from_rock, over_edge, out = np.zeros(materials.kinds), np.zeros((2, materials.kinds)), np.zeros(materials.kinds)
    # Sand comes no farther than the next cell in one go, and spreads with the square of the cells that it comes over.
    goes_at = max(1, math.ceil(parameters.finer**2 - 1e-9))
    parameters = parameters._replace(
        seconds=parameters.seconds / goes_at,
        wear=parameters.wear / goes_at,
        share=1.0 / goes_at,
        shaping=min(parameters.shaping * parameters.finer**2 / goes_at, _FASTEST),
    )
    scratch = scratch or Scratch()
    rows, columns = ground.shape
    wet, number = scratch.empty((rows + 2, columns), np.uint8), scratch.empty(ground.size, np.int32)
    shut_in, volume = 0.0, np.float32(cell_size * cell_size)
    power.fill(0.0)
    drift.fill(0.0)
    for _ in range(goes_at):
        failed, more = _work(
            land, standing, ground, *water, *(layer.reshape(-1) for layer in swell), notch,
            power.reshape(-1), drift.reshape(-1), volume if goes_at == 1 else np.float32(1.0), wet, number,
            float(cell_size), exact(parameters), from_rock, over_edge, out,
        )  # fmt: skip
        shut_in += more
        if failed >= 0:
            break
    if goes_at > 1:
        drift *= volume
    row, column = divmod(failed, columns) if failed >= 0 else (-1, -1)
    moved = Moved(tuple(from_rock.tolist()), tuple(over_edge[0].tolist()), tuple(over_edge[1].tolist()))
    return CoastTotals(moved, tuple(out.tolist()), shut_in, row, column)
