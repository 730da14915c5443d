"""Rivers that cut into the land, carry what they cut, and lay it down where they slow.

Per year the ground z changes by

    ∂z/∂t = U − K · A^m · S^n + (G / A) · ∫ (U − ∂z/∂t) dA

with the uplift U, the drained area A, weighted by rain, and the slope S down the flow: incision by stream power (Howard
1994), and deposition of a part of what comes from upstream (Davy, Lague 2009; Yuan et al. 2019). Here the uplift has
been done before.

A step is implicit in the heights and in the load: for n = 1 these are linear equations along the trees of flow, where
each cell knows the one that it drains to (Braun, Willett 2013) and the sum of what comes from above. Written for a cell
whose receiver has height z_r, its own height and the load that leaves it are

    z = γ + δ · z_r        q = α + β · z_r

From the springs down, γ, δ, α and β follow from the sums of α and β of the cells that drain to it; from the outlets up,
each height from that of its receiver. So two walks solve it, exactly, for any G and any length of time, where others
iterate. For other n, α and β are those of the tangent at the heights of the last round, and a cell's own height comes
from its own equation, by Newton's method; without deposition the first round is the last.

What stands too steep above its receiver slides before, and the river carries it. What a river carries into a lake
settles there, as far as there is room below the level at which the lake spills; the rest goes on. In the sea a load
settles over a distance, nowhere above sea level. What comes to an outlet leaves the map.

Loads are in metres over one cell.

Trees of flow are independent of one another: each thread has some of them, and results do not depend on which.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.blocks import for_blocks
from kernels.compiling import inlined, njit
from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.layers import Layer
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS, index_steps, on_map
from kernels.ocean import ocean_mask
from kernels.powers import BLOCK, raise_to
from kernels.prefetching import AHEAD, prefetch
from kernels.routing import order_from_springs
from kernels.scratch import Scratch
from kernels.units import Metres, SquareMetres, Years

# What a cell is to the water that comes to it
LAND, LAKE, SEA, BASE = 0, 1, 2, 3

# Square metres that drain to where half of the water has gathered in a channel: heads of channels drain some 10 000 to
# 100 000 (Montgomery & Dietrich 1988). On slopes above it runs in sheets, of which a cell half as wide has half as
# much, and wears as a cell of the reference would.
SHEET_AREA = 1e5

# Rounds end where no height changes by more than this part of the relief, or after so many.
_CLOSE = 1e-9
_ROUNDS = 30
_LEAST_SLOPE = 1e-9  # at which a tangent is taken
_NEWTON_STEPS = 60
_LEAST_AREA = 1e-30  # drained, in cells: no rain falls there at all
_SIZES = 6  # of trees, each a quarter of the one before

# Portion of a thread, independent of the number of threads, so that sums are, too
STRETCH = 16 * BLOCK  # cells


class StreamPowerParameters(NamedTuple):
    """How rivers wear the land in a step."""

    years: Years
    area_exponent: float  # m
    channel_area: SquareMetres  # that drains to the head of a channel: slopes above are worn as the head is
    slope_exponent: float  # n
    deposition: float  # G
    critical_slope: float  # tangent of the steepest slope that stands; infinite: all do
    settling_length: Metres  # over which two thirds of a load settle in the sea
    finer: float  # how many cells are as long as one of the reference


class Rivers(NamedTuple):
    """How the land of a step drains, and what that is worked out with; arrays are [row, column] if nothing is said."""

    surface: Layer  # the ground, with lakes filled to where they spill, or the sea
    directions: NDArray[np.int8]  # see `kernels.neighbours`
    order: NDArray[np.int32]  # [number]: all cells, each before the one that it drains to; sorted by threads
    area: Layer  # drained, in cells, each weighted by its rain
    kind: NDArray[np.uint8]  # LAND, LAKE, SEA or BASE
    sums: NDArray[np.float64]  # [row, column, 2]: see `_down`
    wear: Layer  # K · A^m · years / distance to the receiver


class Trees(NamedTuple):
    """The trees of flow of a land that was routed."""

    begins: NDArray[np.int64]  # [thread and one more]: where in the order the cells of its trees begin
    outlets: NDArray[np.int32]  # [tree]: where it leaves the land, in an order that no number of threads changes


_WORTH_SHARING = 8192  # cells


def empty_rivers(rows: int, columns: int, scratch: Scratch | None = None, wear: Layer | None = None) -> Rivers:
    """Room for the rivers of a map; `wear`: an array for that, which only `incise` needs, that of K too."""
    scratch = scratch or Scratch()
    surface, area = scratch.empty((rows, columns)), scratch.empty((rows, columns))
    wear = scratch.empty((rows, columns)) if wear is None else wear
    directions, kind = scratch.empty((rows, columns), np.int8), scratch.empty((rows, columns), np.uint8)
    order, sums = scratch.empty(rows * columns, np.int32), scratch.empty((rows, columns, 2))
    return Rivers(surface, directions, order, area, kind, sums, wear)


def lowest_of_edge(ground: Layer) -> NDArray[np.bool_]:
    """Where water leaves over the map's edge, [row, column]: its cells that have no lower neighbour, and the lowest.

    All others of the edge drain to their lowest neighbour, and are worn as the land inside is.
    """
    mask = np.zeros(ground.shape, np.bool_)
    _find_lowest_of_edge(ground, mask)
    return mask


@njit(nogil=True, cache=True, error_model="numpy")
def _find_lowest_of_edge(ground, mask):
    rows, columns = ground.shape
    lowest, lowest_row, lowest_column = np.inf, 0, 0
    for row in range(rows):
        for column in range(0, columns, 1 if row in (0, rows - 1) else columns - 1):
            height = ground[row, column]
            if height < lowest:
                lowest, lowest_row, lowest_column = height, row, column
            has_lower = False
            for neighbour in range(8):
                if on_map(row, column, neighbour, rows, columns):
                    has_lower |= ground[row + ROW_STEPS[neighbour], column + COLUMN_STEPS[neighbour]] < height
            mask[row, column] = not has_lower
    mask[lowest_row, lowest_column] = True


def route(
    ground: Layer, outlets: NDArray[np.bool_], sea_level: float, rain: NDArray[np.float32] | None, rivers: Rivers
) -> Trees:
    """Find how `ground` drains to `outlets` [row, column], at least one, and write it to `rivers`.

    The flow goes on over the floor of the sea, which lies below `sea_level` and reaches the map's edge; -inf: none.
    `rain` is what falls on each cell beside the others.
    """
    fill(ground, outlets, rivers.surface)
    flow_directions(rivers.surface, outlets, rivers.directions, scratch=rivers.order)
    rivers.area[...] = 1.0 if rain is None else rain
    order_from_springs(rivers.directions, rivers.order, rivers.area)
    trees = _share(rivers)
    _tell_kinds(ground.reshape(-1), rivers.surface.reshape(-1), rivers.directions.reshape(-1), rivers.kind.reshape(-1))
    if sea_level > -math.inf:
        sea = ocean_mask(ground, sea_level)
        rivers.kind[sea] = SEA
        rivers.surface[sea] = sea_level
    return trees


def _share(rivers: Rivers) -> Trees:
    """Sort the order by what threads are to walk. Overwrites `kind` and `wear`, which are found later."""
    direction = rivers.directions.reshape(-1)
    threads = numba.get_num_threads() if direction.size >= _WORTH_SHARING else 1
    outlets = np.flatnonzero(direction == OUTLET).astype(np.int32)
    begins = np.zeros(threads + 1, np.int64)
    _sort_by_thread(
        direction, rivers.area.reshape(-1), index_steps(rivers.directions.shape[1]), rivers.order,
        rivers.wear.reshape(-1).view(np.int32)[: direction.size], rivers.kind.reshape(-1), outlets, begins,
    )  # fmt: skip
    return Trees(begins, outlets)


@njit(nogil=True, cache=True, error_model="numpy")
def _sort_by_thread(direction, area, steps, order, unsorted, thread_of, outlets, begins):
    """Sort `order` by the thread that each cell is for, and `outlets` as they came in the order before."""
    threads = len(begins) - 1
    if threads > 1:
        # Large trees first, each to the thread that has least so far
        loads, largest = np.zeros(threads), 0.0
        for cell in outlets:
            largest = max(largest, area[cell])
        for size in range(_SIZES):
            least = largest * 0.25 ** (size + 1) if size < _SIZES - 1 else -1.0
            for cell in outlets:
                if least < area[cell] <= largest * 0.25**size:
                    thread_of[cell] = np.argmin(loads)
                    loads[thread_of[cell]] += area[cell]
        for place in range(len(order) - 1, -1, -1):
            cell = np.int64(order[place])
            if direction[cell] != OUTLET:
                thread_of[cell] = thread_of[cell + steps[direction[cell]]]
            begins[thread_of[cell] + 1] += 1
        for thread in range(threads):
            begins[thread + 1] += begins[thread]
        ends = begins.copy()
        unsorted[:] = order
        found = 0
        for number in unsorted:
            cell = np.int64(number)
            thread = thread_of[cell]
            order[ends[thread]] = cell
            ends[thread] += 1
            if direction[cell] == OUTLET:
                outlets[found] = cell
                found += 1
        return
    begins[1] = len(order)
    found = 0
    for cell in order:
        if direction[cell] == OUTLET:
            outlets[found] = cell
            found += 1


def incise(
    ground: Layer,
    erodibility: Layer,
    mobility: NDArray[np.bool_],
    cell_size: float,
    parameters: StreamPowerParameters,
    sea_level: float,
    rivers: Rivers,
    trees: Trees,
    out: Layer,
) -> None:
    """Let the rivers of a land that was routed wear and fill it for some years; write the new ground to `out`.

    `ground` is float64 metres [row, column]. `erodibility` is K for areas in square metres and years; it may be the
    array of the rivers' `wear`, and is overwritten then. Without `mobility` [cell] nothing is worn, laid down, or
    slides; it is empty where all may. What is on `ground` and not on `out` has left the map.
    """
    p = parameters
    steps = index_steps(ground.shape[1])
    direction, kind = rivers.directions.reshape(-1), rivers.kind.reshape(-1)
    surface, height = rivers.surface.reshape(-1), ground.reshape(-1)
    sums = rivers.sums.reshape(-1)
    wear, area = rivers.wear.reshape(-1), rivers.area.reshape(-1)
    scale = p.years * cell_size ** (2.0 * p.area_exponent)
    # For n = 1 the coefficient of the fall to the receiver, else that of the power of the slope
    power = -1.0 if p.slope_exponent == 1.0 else 0.0
    least = p.channel_area / cell_size**2
    _find_wear(
        area, least, p.finer, cell_size**2 / SHEET_AREA, p.area_exponent, erodibility.reshape(-1), mobility, direction,
        scale, cell_size, power, wear,
    )  # fmt: skip
    settling = 1.0 - math.exp(-cell_size / p.settling_length)
    walk = (kind, direction, rivers.order, steps)
    rise = p.critical_slope * cell_size
    for_blocks(lambda rows: rivers.sums[rows].fill(0.0), *ground.shape)
    if p.slope_exponent == 1.0:
        _wear(
            height, surface, sums, wear, np.empty(0), area, p.deposition, *walk, settling, sea_level, mobility, rise,
            trees.begins,
        )  # fmt: skip
        _lay(height, surface, sums, kind, mobility, out.reshape(-1))
        return
    _slide(surface, direction, kind, mobility, rivers.order, steps, rise)
    begin = surface.copy()
    for turn in range(_ROUNDS):
        if turn > 0:
            sums[:] = 0.0
        linear, constant = _tangent(surface, wear, direction, kind, steps, cell_size, p.slope_exponent)
        _down(height, begin, surface, sums, linear, constant, area, p.deposition, *walk, settling, sea_level, mobility)
        change = _up_by_newton(
            begin, surface, sums, wear, area, p.deposition, *walk, cell_size, p.slope_exponent, mobility
        )
        if p.deposition == 0.0 or change <= _CLOSE * max(np.ptp(height), _CLOSE):
            break
    _lay(height, surface, sums, kind, mobility, out.reshape(-1))


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _wear(
    height, surface, sums, wear, constant, area, deposition, kind, direction, order, steps, settling, sea_level,
    mobility, rise, begins,
):  # fmt: skip
    """Slide, wear and fill all trees, n = 1."""
    for unsigned_thread in prange(len(begins) - 1):
        thread = np.int64(unsigned_thread)
        own = order[begins[thread] : begins[thread + 1]]
        _slide(surface, direction, kind, mobility, own, steps, rise)
        _down(
            height, surface, surface, sums, wear, constant, area, deposition, kind, direction, own, steps, settling,
            sea_level, mobility,
        )  # fmt: skip
        _up(surface, sums, kind, direction, own, steps)


def carry(
    ground: Layer,
    load: Layer,
    mobility: NDArray[np.bool_],
    cell_size: float,
    parameters: StreamPowerParameters,
    sea_level: float,
    rivers: Rivers,
    stays: NDArray[np.float64],
) -> None:
    """Let the rivers of a land that was routed carry a load [row, column] that came to them, and lay it on `ground`.

    `load` becomes what came to each cell, and `stays` [cell] the part of it that is laid there, if it is not empty. A
    lake is filled from where a river enters it. What is not on `ground` after has left the map.
    """
    p = parameters
    settling = 1.0 - math.exp(-cell_size / p.settling_length)
    _carry(
        ground.reshape(-1), rivers.surface.reshape(-1), load.reshape(-1), stays, rivers.area.reshape(-1),
        p.deposition, rivers.kind.reshape(-1), rivers.directions.reshape(-1), rivers.order,
        index_steps(ground.shape[1]), settling, sea_level, mobility,
    )  # fmt: skip


@njit(nogil=True, cache=True, error_model="numpy")
def _carry(
    height, surface, load, stays, area, deposition, kind, direction, order, steps, settling, sea_level, mobility
):  # fmt: skip
    for number in order:
        cell = np.uintp(number)
        comes = load[cell]
        if not comes > 0.0:
            continue
        what = kind[cell]
        left = 0.0
        if what == LAND:
            left = comes * _settled(deposition, area, mobility, cell)
        elif what == LAKE and may_move(mobility, cell):
            left = min(comes, max(surface[cell] - height[cell], 0.0))
        elif what == SEA and may_move(mobility, cell):
            left = min(comes * settling, max(sea_level - height[cell], 0.0))
        height[cell] += left
        if len(stays) > 0:
            stays[cell] = left / comes
        if direction[cell] != OUTLET:
            load[np.uintp(np.int64(number) + steps[direction[cell]])] += comes - left


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _tell_kinds(height, surface, direction, kind):
    for cell in prange(len(height)):
        filled = LAKE if surface[cell] > height[cell] else LAND
        kind[cell] = BASE if direction[cell] == OUTLET else filled


@inlined
def may_move(mobility, cell):
    """Whether anything is worn, laid down or slides in a cell."""
    return len(mobility) == 0 or mobility[np.uintp(cell)]


@njit(nogil=True, cache=True, error_model="numpy")
def _slide(surface, direction, kind, mobility, order, steps, rise):
    """Lower what stands steeper than it can above its receiver; a `rise` of infinity: nothing does."""
    if rise == np.inf:
        return
    across = rise * math.sqrt(2.0)
    for place in range(len(order)):
        number = np.int64(order[np.uintp(len(order) - 1 - place)])
        cell = np.uintp(number)
        if kind[cell] == LAND and may_move(mobility, cell):
            towards = direction[cell]
            highest = surface[np.uintp(number + steps[towards])] + (rise if towards < 4 else across)
            surface[cell] = min(surface[cell], highest)


@inlined
def _settled(deposition, area, mobility, cell):
    """The part of the load from upstream that is laid down in a cell."""
    # No more can be laid down than comes.
    part = deposition if deposition < area[cell] else area[cell]
    return part / max(area[cell], _LEAST_AREA) if may_move(mobility, cell) else 0.0


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _find_wear(
    area, least, finer, part_of_sheet, exponent, erodibility, mobility, direction, scale, distance, power, wear
):  # fmt: skip
    """The coefficient of incision of each cell, for a power of the distance; no area counts for less than `least`.

    A cell is `part_of_sheet` of `SHEET_AREA`.
    """
    beside, across = scale * distance**power, scale * (distance * math.sqrt(2.0)) ** power
    for unsigned_piece in prange((len(wear) + STRETCH - 1) // STRETCH):
        begin = np.int64(unsigned_piece) * STRETCH
        _find_wear_of_stretch(
            area, least, finer, part_of_sheet, exponent, erodibility, mobility, direction, beside, across, wear, begin
        )


@njit(nogil=True, error_model="numpy")
def _find_wear_of_stretch(
    area, least, finer, part_of_sheet, exponent, erodibility, mobility, direction, beside, across, wear, first
):  # fmt: skip
    raised, one, other = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for begin in range(first, min(first + STRETCH, len(wear)), BLOCK):
        part = slice(begin, begin + BLOCK)
        drained, free, towards, result = area[part], erodibility[part], direction[part], wear[part]
        block = raised[: len(result)]
        for i in range(len(block)):
            block[i] = drained[i] if drained[i] > least else least
        if finer != 1.0:
            for i in range(len(block)):
                block[i] *= finer ** (1.0 / (1.0 + part_of_sheet * block[i]))
        raise_to(block, exponent, one, other)
        for i in range(len(block)):
            factor = beside if towards[i] < 4 else across
            result[i] = block[i] * free[i] * factor
        if len(mobility) > 0:
            may = mobility[part]
            for i in range(len(block)):
                result[i] = result[i] if may[i] else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _tangent(surface, wear, direction, kind, steps, cell_size, exponent):
    """Incision as a line around the present heights: its slope against the fall, and its value where there is none."""
    linear, constant = np.zeros(len(surface)), np.zeros(len(surface))
    for cell in range(len(surface)):
        if kind[cell] != LAND:
            continue
        towards = direction[cell]
        distance = cell_size if towards < 4 else cell_size * math.sqrt(2.0)
        slope = max((surface[cell] - surface[cell + steps[towards]]) / distance, _LEAST_SLOPE)
        power = slope ** (exponent - 1.0)
        linear[cell] = wear[cell] * exponent * power / distance
        constant[cell] = wear[cell] * (exponent - 1.0) * power * slope
    return linear, constant


@njit(nogil=True, cache=True, error_model="numpy")
def _down(
    height, begin, surface, sums, wear, constant, area, deposition, kind, direction, order, steps, settling,
    sea_level, mobility,
):  # fmt: skip
    """From the springs down: what each cell's height and load are if its receiver's height is known.

    `sums` [2 · cell and one more] are those of α and β over the cells that drain to a cell. For n = 1 they become γ and
    δ on land. In a lake they are what has come, and how much room there is upstream; of its last cell the first becomes
    the part of the lake that is filled. In the sea the first becomes what is laid down. All of it is 0 before.
    """
    one, last = np.uintp(1), len(order) - 1
    for place in range(len(order)):
        number, soon = order[np.uintp(place)], np.int64(order[np.uintp(min(place + AHEAD, last))])
        prefetch(sums, 2 * soon)
        prefetch(begin, soon)
        prefetch(height, soon)
        prefetch(wear, soon)
        cell, towards = np.uintp(number), direction[np.uintp(number)]
        what = kind[cell]
        if what == BASE:
            continue
        receiver = np.uintp(np.int64(number) + steps[towards])
        to = kind[receiver]
        own, others = np.uintp(2) * cell, np.uintp(2) * receiver
        comes, with_height = sums[own], sums[own + one]
        if what == LAND:
            settled = _settled(deposition, area, mobility, cell)
            above = begin[cell] + settled * comes
            if len(constant) > 0:
                above += constant[cell]
            divided = 1.0 / (1.0 + wear[cell] - settled * with_height)
            height_alone, of_receiver = above * divided, wear[cell] * divided
            if len(constant) == 0:
                sums[own], sums[own + one] = height_alone, of_receiver
            leaves = comes + height[cell] + (with_height - 1.0) * height_alone
            leaves_with_height = (with_height - 1.0) * of_receiver
            if to == LAND:
                sums[others] += leaves
                sums[others + one] += leaves_with_height
            else:
                sums[others] += leaves + leaves_with_height * surface[receiver]
        elif what == LAKE:
            room = with_height + (surface[cell] - height[cell] if may_move(mobility, cell) else 0.0)
            if to == LAKE:
                sums[others] += comes
                sums[others + one] += room
            else:
                stays = min(max(comes, 0.0), room)
                sums[others] += comes - stays
                sums[own] = stays / room if room > 0.0 else 0.0
        else:
            below = max(sea_level - height[cell], 0.0) if may_move(mobility, cell) else 0.0
            stays = min(max(comes, 0.0) * settling, below)
            sums[own] = stays
            if towards != OUTLET:
                sums[others] += comes - stays


@njit(nogil=True, error_model="numpy")
def _up(surface, sums, kind, direction, order, steps):
    """From the outlets up: the heights."""
    for place in range(len(order) - 1, -1, -1):
        number, soon = np.int64(order[np.uintp(place)]), np.int64(order[np.uintp(max(place - AHEAD, 0))])
        prefetch(sums, 2 * soon)
        prefetch(surface, soon)
        cell = np.uintp(number)
        if kind[cell] == LAND:
            below = surface[np.uintp(number + steps[direction[cell]])]
            alone, of_receiver = sums[np.uintp(2) * cell], sums[np.uintp(2) * cell + np.uintp(1)]
            new = alone + of_receiver * below
            # Nothing is worn where the receiver was filled up to above the cell, and nothing comes from there.
            surface[cell] = new if new >= below else alone / (1.0 - of_receiver)
        elif kind[cell] == LAKE:
            _share_lake(number, sums, kind, direction, steps)


@njit(nogil=True, cache=True, error_model="numpy")
def _up_by_newton(
    begin, surface, sums, wear, area, deposition, kind, direction, order, steps, cell_size, exponent, mobility
):  # fmt: skip
    """The same for other n than 1. Returns by how much any height changed."""
    change = 0.0
    for place in range(len(order) - 1, -1, -1):
        cell = order[place]
        if kind[cell] == LAND and may_move(mobility, cell):
            towards = direction[cell]
            distance = cell_size if towards < 4 else cell_size * math.sqrt(2.0)
            below = surface[cell + steps[towards]]
            # a · S + b · S^n = c
            settled = _settled(deposition, area, mobility, cell)
            rest = 1.0 - settled * sums[2 * cell + 1]
            c = begin[cell] + settled * sums[2 * cell] - rest * below
            new = below + distance * _falling(rest * distance, wear[cell], exponent, c)
            change = max(change, abs(new - surface[cell]))
            surface[cell] = new
        elif kind[cell] == LAKE:
            _share_lake(cell, sums, kind, direction, steps)
    return change


@njit(nogil=True, error_model="numpy")
def _falling(a, b, exponent, c):
    """The S of a · S + b · S^n = c, in which b does not count below 0; a is above 0."""
    if c <= 0.0:
        return c / a
    low, high = 0.0, c / a
    slope = high
    for _ in range(_NEWTON_STEPS):
        power = slope ** (exponent - 1.0)
        wrong = (a + b * power) * slope - c
        if wrong > 0.0:
            high = slope
        else:
            low = slope
        new = slope - wrong / (a + exponent * b * power)
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - slope) <= 1e-14 * slope:
            break
        slope = new
    return slope


@njit(nogil=True, error_model="numpy")
def _share_lake(cell, sums, kind, direction, steps):
    """All of a lake is filled by one part, that of the last of its cells."""
    receiver = cell + steps[direction[cell]]
    if kind[receiver] == LAKE:
        sums[2 * cell] = sums[2 * receiver]


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _lay(height, surface, sums, kind, mobility, out):
    """The new ground."""
    for unsigned_cell in prange(len(height)):
        cell = np.int64(unsigned_cell)
        before = height[cell]
        what = kind[cell]
        now = before
        if what == LAND:
            now = surface[cell]
        elif what == LAKE and may_move(mobility, cell):
            now = before + sums[2 * cell] * (surface[cell] - before)
        elif what == SEA:
            now = before + sums[2 * cell]
        out[cell] = now
