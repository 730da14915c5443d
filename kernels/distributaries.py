"""Distributaries: where a river comes to a plain or to standing water it parts into arms, which are given up in turn.

A network of arms leads from the head of a delta, where the river's slope falls below a threshold, to its mouths. It is
a map of codes: 0 where no arm runs, else

    1 + first + 8 · second + part

`first` and `second` are the numbers of the neighbours that water goes on to, the same where there is but one, and
`part`, between 0 and 1, is what the first of them takes. No way along codes comes to a cell twice.

- **Avulsion** (Jerolmack, Paola 2007): a bed silts up until the water stands above the plain beside it. Where bed +
  depth − plain > superelevation · depth as far as beyond its bank, and the steepest way from there to standing water is
  steeper than the arm's own by a factor, the water breaks out and takes that way. The steepest such way is taken in
  each step.
- **Parting**: both ways stay open. Each takes water by the root of its slope to its mouth (as channels of one section
  do by Chézy's law), to which its part moves by steps. An arm that builds out its mouth gets longer and gentler, and
  the other one takes over.
- **Giving up**: an arm that takes less than the `least` part of its river silts up: it is closed, and its bed stays as
  a hollow that later water may find again.

Where a mouth has built land, its arm goes on along the flow directions.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS, index_steps, on_map
from kernels.scratch import Scratch
from kernels.units import CubicMetresPerSecond, Depths, Times, Widths

GENTLEST = 1e-6  # slope of an arm whose mouth is no lower than its bed
TURN = 0.25  # part of the way to its balance that the share of an arm takes in a step
NEW = 0.3  # part of the water that breaks out at first
LEAST_PART = 1.0 / 64.0  # of a parting, so that codes stay exact

Numbers = NDArray[np.float64]


class ArmParameters(NamedTuple):
    """How rivers part."""

    slope: float  # mean slope to the mouth, below which a river may part
    superelevation: Depths  # of the water in a full channel, over the plain beside it
    advantage: Times  # of the slope of a new way, that of the old one
    least: CubicMetresPerSecond  # discharge of the smallest rivers
    least_part: float  # part of its river in the smallest arm
    spacing: Widths  # least distance between two mouths


_Delta: Any = namedtuple(
    "_Delta",
    ("codes", "directions", "water", "ground", "level", "discharge", "mark", "steps", "rows", "columns", "cell_size"),
)


@njit(nogil=True, error_model="numpy")
def _ways(code):
    """The first and the second neighbour that water goes on to, and the part of the first."""
    ways = int(code) - 1
    return ways & 7, ways >> 3, float(code) - int(code)


@njit(nogil=True, error_model="numpy")
def _code(first, second, part):
    return np.float32(1 + first + 8 * second) + np.float32(min(max(part, LEAST_PART), 1.0 - LEAST_PART))


@njit(nogil=True, error_model="numpy")
def _leads_to(delta, stack, stamp, cell, goal):
    """Whether the arms from a cell come to another one. Marks what it passes with a stamp of its own."""
    stack[0] = cell
    count = 1
    delta.mark[cell] = stamp
    while count > 0:
        count -= 1
        here = stack[count]
        if here == goal:
            return True
        if not delta.codes[here] > 0.0:
            continue
        first, second, _ = _ways(delta.codes[here])
        for way in (first, second):
            to = here + delta.steps[way]
            if delta.mark[to] != stamp:
                delta.mark[to] = stamp
                stack[count] = to
                count += 1
    return False


@njit(nogil=True, error_model="numpy")
def _lay(delta, stack, stamp, cell, head):
    """Lay an arm from a dry cell along the flow directions: to water, off the map, or to an arm not upstream of `head`.

    An arm upstream of it is taken over. Returns the next unused stamp.
    """
    while not delta.water[cell] and delta.directions[cell] != OUTLET:
        if delta.codes[cell] > 0.0:
            stamp += 1
            if head < 0 or not _leads_to(delta, stack, stamp, cell, head):
                break
        way = int(delta.directions[cell])
        delta.codes[cell] = _code(way, way, 0.5)
        cell += delta.steps[way]
    return stamp + 1


@njit(nogil=True, error_model="numpy")
def _is_valid(delta, cell):
    """Whether both ways of an arm stay on the map."""
    row, column = divmod(cell, delta.columns)
    first, second, _ = _ways(delta.codes[cell])
    return on_map(row, column, first, delta.rows, delta.columns) and on_map(
        row, column, second, delta.rows, delta.columns
    )


@njit(nogil=True, error_model="numpy")
def _go_on(delta, stack, waiting, stamp, heads):
    """Let all arms from the heads of deltas reach water: where one ends on land, it goes on. Returns the next stamp."""
    count = 0
    for head in heads:
        if delta.codes[head] > 0.0 and not _is_valid(delta, head):
            delta.codes[head] = 0.0
        if not delta.codes[head] > 0.0:
            stamp = _lay(delta, stack, stamp, head, -1)
        waiting[count] = head
        count += 1
    seen = np.zeros(len(delta.codes), np.bool_)
    while count > 0:
        count -= 1
        cell = waiting[count]
        if seen[cell] or not delta.codes[cell] > 0.0:
            continue
        seen[cell] = True
        first, second, _ = _ways(delta.codes[cell])
        for way in (first, second):
            to = cell + delta.steps[way]
            if delta.water[to] or delta.directions[to] == OUTLET:
                continue
            if delta.codes[to] > 0.0 and not _is_valid(delta, to):
                delta.codes[to] = 0.0
            if not delta.codes[to] > 0.0:
                stamp = _lay(delta, stack, stamp, to, cell)
            waiting[count] = to
            count += 1
    return stamp


@njit(nogil=True, error_model="numpy")
def _order(delta, heads, place):
    """The cells of all arms, each after those that flow to it, and how many are sources, which come first.

    `place` [cell] becomes their number in this order, -1 elsewhere.
    """
    place[:] = -1
    comes = np.zeros(len(delta.codes), np.int32)
    cells = np.flatnonzero(delta.codes > 0.0)
    stack = np.empty(2 * len(cells) + len(heads) + 1, np.int64)
    reached = np.zeros(len(delta.codes), np.bool_)
    count = 0
    for head in heads:
        if not reached[head]:
            reached[head] = True
            stack[count] = head
            count += 1
    while count > 0:
        count -= 1
        cell = stack[count]
        if not delta.codes[cell] > 0.0:
            continue
        first, second, _ = _ways(delta.codes[cell])
        for other in range(1 if first == second else 2):
            to = cell + delta.steps[second if other else first]
            comes[to] += 1
            if not reached[to]:
                reached[to] = True
                stack[count] = to
                count += 1
    order = np.empty(len(cells), np.int64)
    done = last = 0
    for head in heads:
        if comes[head] == 0 and delta.codes[head] > 0.0 and place[head] < 0:
            place[head] = last
            order[last] = head
            last += 1
    sources = last
    while done < last:
        cell = order[done]
        done += 1
        first, second, _ = _ways(delta.codes[cell])
        for other in range(1 if first == second else 2):
            to = cell + delta.steps[second if other else first]
            comes[to] -= 1
            if comes[to] == 0 and delta.codes[to] > 0.0:
                place[to] = last
                order[last] = to
                last += 1
    for cell in cells:
        if place[cell] < 0:
            delta.codes[cell] = 0.0
    return order[:last], sources


@njit(nogil=True, error_model="numpy")
def _slope_of(delta, cell, end, length):
    return max((delta.ground[cell] - end) / length, GENTLEST)


@njit(nogil=True, error_model="numpy")
def _share(delta, order, sources, place, turn, far, end, through, river):
    """Find for each cell of the order how far its mouth is and how high, and its discharge beside that of its river.

    Partings change by `turn` towards the balance of their slopes. With several mouths, it is the one that most of the
    water comes to.
    """
    for number in range(len(order) - 1, -1, -1):
        cell = order[number]
        first, second, part = _ways(delta.codes[cell])
        ends, lengths = (0.0, 0.0), (0.0, 0.0)
        for other in range(2):
            way = second if other else first
            to = cell + delta.steps[way]
            length = LENGTHS[way] * delta.cell_size
            height = max(delta.level[to], delta.ground[to]) if delta.water[to] else delta.ground[to]
            if place[to] >= 0:
                length, height = length + far[place[to]], end[place[to]]
            if other:
                ends, lengths = (ends[0], height), (lengths[0], length)
            else:
                ends, lengths = (height, height), (length, length)
        if first != second:
            one = math.sqrt(_slope_of(delta, cell, ends[0], lengths[0]))
            two = math.sqrt(_slope_of(delta, cell, ends[1], lengths[1]))
            part += turn * (one / (one + two) - part)
            delta.codes[cell] = _code(first, second, part)
        main = 0 if part >= 0.5 else 1
        far[number], end[number] = lengths[main], ends[main]
    through[:], river[:] = 0.0, 0.0
    for number in range(sources):
        through[number] = river[number] = delta.discharge[order[number]]
    for number in range(len(order)):
        cell = order[number]
        first, second, part = _ways(delta.codes[cell])
        for other in range(1 if first == second else 2):
            to = place[cell + delta.steps[second if other else first]]
            if to >= 0:
                passes = 1.0 if first == second else 1.0 - part if other else part
                through[to] += passes * through[number]
                river[to] = max(river[to], river[number])


@njit(nogil=True, error_model="numpy")
def _give_up(delta, order, through, river, least_part):
    """Close arms that take too little. Returns whether there were any."""
    any_closed = False
    for number in range(len(order)):
        first, second, part = _ways(delta.codes[order[number]])
        if first != second and min(part, 1.0 - part) * through[number] < least_part * river[number]:
            stays = first if part >= 0.5 else second
            delta.codes[order[number]] = _code(stays, stays, 0.5)
            any_closed = True
    return any_closed


@njit(nogil=True, error_model="numpy")
def _way_to_water(delta, cell):
    """How long the way from a cell along the flow directions is, and where it ends: -1 where it comes to an arm."""
    length = 0.0
    while not delta.water[cell] and delta.directions[cell] != OUTLET:
        if delta.codes[cell] > 0.0:
            return length, -1
        way = int(delta.directions[cell])
        length += LENGTHS[way] * delta.cell_size
        cell += delta.steps[way]
    return length, cell


@njit(nogil=True, error_model="numpy")
def _is_apart(delta, cell, order, place, distance):
    """Whether all mouths are so many metres from a cell."""
    row, column = divmod(cell, delta.columns)
    for own in order:
        first, second, _ = _ways(delta.codes[own])
        for way in (first, second):
            to = own + delta.steps[way]
            if place[to] < 0:
                other_row, other_column = divmod(to, delta.columns)
                if (other_row - row) ** 2 + (other_column - column) ** 2 < (distance / delta.cell_size) ** 2:
                    return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def _break_out(delta, order, place, far, end, through, river, depth, width, parameters):
    """The cell where a river leaves its bed, the neighbour to which, and how many cells it overtops so.

    -1, 0, 0 where it stays in its bed.
    """
    best, found, found_way, found_cells = parameters.advantage, np.int64(-1), 0, 0
    for number in range(len(order)):
        cell = order[number]
        first, second, _ = _ways(delta.codes[cell])
        if first != second or through[number] < 2.0 * parameters.least_part * river[number]:
            continue
        row, column = divmod(cell, delta.columns)
        own = _slope_of(delta, cell, end[number], far[number])
        reach = 2 + int(0.5 * width[number] / delta.cell_size)  # beyond the bank
        for way in range(8):
            to, to_row, to_column = cell, row, column
            for cells in range(1, reach + 1):
                if not on_map(to_row, to_column, way, delta.rows, delta.columns):
                    break
                to += delta.steps[way]
                to_row, to_column = to_row + ROW_STEPS[way], to_column + COLUMN_STEPS[way]
                above = delta.ground[cell] + depth[number] - delta.ground[to]
                if delta.codes[to] > 0.0 or delta.water[to] or above < parameters.superelevation * depth[number]:
                    break
                length, mouth = _way_to_water(delta, to)
                if mouth < 0:
                    continue
                length += cells * LENGTHS[way] * delta.cell_size
                surface = max(delta.level[mouth], delta.ground[mouth])
                steeper = _slope_of(delta, cell, surface, length) / own
                if steeper > best and _is_apart(delta, mouth, order, place, parameters.spacing * width[number]):
                    best, found, found_way, found_cells = steeper, cell, way, cells
    return found, found_way, found_cells


@njit(nogil=True, cache=True, error_model="numpy")
def _heads(directions, discharge, water, ground, level, steps, columns, cell_size, least, slope):
    """The heads of deltas: of each river that comes to water, the cell farthest up from which it is so gentle there."""
    rows = len(ground) // columns
    heads = np.empty(16, np.int64)
    count = 0
    for mouth in range(len(ground)):
        if water[mouth] or directions[mouth] == OUTLET or discharge[mouth] < least:
            continue
        if not water[mouth + steps[directions[mouth]]]:
            continue
        shore = mouth + steps[directions[mouth]]
        surface = max(level[shore], ground[shore])
        cell, head, length = mouth, mouth, LENGTHS[directions[mouth]] * cell_size
        while True:
            if ground[cell] - surface <= slope * length:
                head = cell
            row, column = divmod(cell, columns)
            most, up, by = least, -1, 0
            for way in range(8):
                if on_map(row, column, way, rows, columns):
                    other = cell + steps[way]
                    to = directions[other]
                    if to != OUTLET and other + steps[to] == cell and discharge[other] >= most and not water[other]:
                        most, up, by = discharge[other], other, way
            if up < 0:
                break
            cell = up
            length += LENGTHS[by] * cell_size
        if count == len(heads):
            heads = np.concatenate((heads, np.empty_like(heads)))
        heads[count] = head
        count += 1
    return np.unique(heads[:count])


@njit(nogil=True, cache=True, error_model="numpy")
def _renew(delta, heads, place, stack, waiting, turn, least_part):
    """Let arms go on to the water, share the rivers among them and give up those that take too little.

    Returns the cells of arms in the order of their water, and of each how far its mouth is, how high that is, its
    discharge and that of its river.
    """
    delta.mark[:] = 0
    _go_on(delta, stack, waiting, np.int32(0), heads)
    while True:
        order, sources = _order(delta, heads, place)
        far, end, through, river = np.empty((4, len(order)))
        _share(delta, order, sources, place, turn, far, end, through, river)
        if not _give_up(delta, order, through, river, least_part):
            return order, far, end, through, river
        turn = 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _open(delta, cell, way, cells, stack):
    """Let a part of the water break out of an arm, over so many cells to one side, and on along the flow directions."""
    first, _, _ = _ways(delta.codes[cell])
    delta.codes[cell] = _code(first, way, 1.0 - NEW)
    for _ in range(cells - 1):
        cell += delta.steps[way]
        delta.codes[cell] = _code(way, way, 0.5)
    cell += delta.steps[way]
    delta.mark[:] = 0
    _lay(delta, stack, np.int32(0), cell, np.int64(cell))


@njit(nogil=True, cache=True, error_model="numpy")
def _reroute(codes, steps, flow, directions):
    """Take the water of each river from the way that `directions` show, and let it run in its arms."""
    cells = np.flatnonzero(codes > 0.0)
    comes, through = np.zeros(len(codes), np.int32), np.zeros(len(codes))
    for cell in cells:
        first, second, _ = _ways(codes[cell])
        for other in range(1 if first == second else 2):
            comes[cell + steps[second if other else first]] += 1
    order = np.empty(len(cells), np.int64)
    done = last = 0
    for cell in cells:
        if comes[cell] == 0:
            order[last] = cell
            last += 1
            through[cell] = flow[cell]
            way = cell
            while True:
                flow[way] = max(flow[way] - through[cell], 0.0)
                if directions[way] <= 0:
                    break
                way += steps[directions[way] - 1]
    while done < last:
        cell = order[done]
        done += 1
        flow[cell] += through[cell]
        first, second, part = _ways(codes[cell])
        directions[cell] = 1 + (first if part >= 0.5 else second)
        for other in range(1 if first == second else 2):
            to = cell + steps[second if other else first]
            through[to] += through[cell] * (1.0 if first == second else 1.0 - part if other else part)
            comes[to] -= 1
            if comes[to] == 0 and codes[to] > 0.0:
                order[last] = to
                last += 1
    for cell in order[:last]:
        first, second, part = _ways(codes[cell])
        aside = cell + steps[second if part >= 0.5 else first]
        if first != second and codes[aside] > 0.0:
            directions[aside] = -abs(directions[aside])


def run_in_arms(codes: NDArray[np.float32], flow: Numbers, directions: NDArray[np.integer[Any]]) -> None:
    """Let the rivers among streams run in their arms; all maps are [row, column], the last two are changed in place.

    `flow` is what comes through each cell, in any unit, and `directions` 1 + the number of the neighbour that it goes
    on to, 0 where it does not. Where an arm parts, that is the one that most goes to; the other one has a number less
    than 0, as the first of a thread that parts from a river.
    """
    _reroute(codes.reshape(-1), index_steps(codes.shape[1]), flow.reshape(-1), directions.reshape(-1))


class Arms(NamedTuple):
    """Where arms run."""

    cells: NDArray[np.int64]  # row * columns + column, each after those that flow to it
    part: Numbers  # [cell]: of the river in the arm
    broke_out: int  # the cell where a river left its bed in this step; -1: nowhere


def part_rivers(
    codes: NDArray[np.float32],
    ground: Numbers,
    water: NDArray[np.bool_],
    level: Numbers,
    directions: NDArray[np.int8],
    discharge: Numbers,
    cell_size: float,
    width_of_one: float,
    parameters: ArmParameters,
    turn: float = TURN,
    scratch: Scratch | None = None,
) -> Arms:
    """Renew the network of arms, `codes`, in place; all maps are [row, column].

    `ground` in metres; `water` says where water stands that is large enough for a delta, and `level` how high, in
    metres. `directions` are the numbers of the neighbours that water on the ground flows to, and `discharge` what comes
    so through each cell, in cubic metres a second. `cell_size` is the side of a cell, and `width_of_one` the width of a
    river of 1 m³/s, both in metres. `turn` is the part of the way to their balance that the shares of arms take.
    `scratch` is memory to work in, in a step that has begun.
    """
    from kernels.hydraulic_geometry import bankfull_depth, channel_width

    rows, columns = codes.shape
    steps, scratch = index_steps(columns), scratch or Scratch()
    flat = (directions.reshape(-1), discharge.reshape(-1), water.reshape(-1), ground.reshape(-1), level.reshape(-1))
    heads = _heads(*flat, steps, columns, float(cell_size), float(parameters.least), float(parameters.slope))
    delta = _Delta(
        codes.reshape(-1), flat[0], flat[2], flat[3], flat[4], flat[1], scratch.empty(codes.size, np.int32), steps,
        rows, columns, float(cell_size),
    )  # fmt: skip
    delta.codes[flat[2]] = 0.0
    place, stack, waiting = (
        scratch.empty(cells, np.int64) for cells in (codes.size, codes.size, 2 * codes.size + len(heads))
    )
    room, least_part = (heads, place, stack, waiting), float(parameters.least_part)
    order, far, end, through, river = _renew(delta, *room, float(turn), least_part)
    broke_out = -1
    if len(order):
        depth = bankfull_depth(channel_width(through, width_of_one))
        width = channel_width(river, width_of_one)
        cell, way, cells = _break_out(delta, order, place, far, end, through, river, depth, width, parameters)
        if cell >= 0:
            broke_out = int(cell)
            _open(delta, cell, way, cells, stack)
            order, far, end, through, river = _renew(delta, *room, 0.0, least_part)
    part = np.divide(through, river, out=np.zeros(len(order)), where=river > 0.0)
    return Arms(order, part, broke_out)
