"""Hillslopes: soil creep, and soil production from rock.

Creep moves as much as the ground is steep (Culling 1960): ∂z/∂t = κ ∇²z. A step is implicit, first along the rows and
then along the columns, or the other way round (locally one-dimensional, Marchuk 1990), so that it may be of any length:
nothing overshoots, and what leaves one cell comes to its neighbour.

Rock under a soil of depth d turns to soil at the rate P · exp(−d / d₀) (Heimsath et al. 1997), for which a step has an
exact result:

    d ← d + d₀ · ln(1 + P · t / d₀ · exp(−d / d₀))
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.layers import Layer
from kernels.materials import ground_of
from kernels.powers import BLOCK, LEAST_EXPONENT, exp2_of, log2_of

LANES = 8  # rows that are done side by side
BAND = 32  # columns likewise


@njit(nogil=True, error_model="numpy")
def _solve(height, free, pace, passed, weight):
    """Creep along the first axis of `height` [place, lane], in place; the last two are scratch of its shape.

    Between two cells it is as fast as in the slower one, and what is not `free` at all keeps its height.
    """
    places, lanes = height.shape
    for place in range(places):
        here, fast = height[place], free[place]
        part, way = passed[place], weight[place]
        part_before, way_before, fast_before = (
            passed[max(place - 1, 0)],
            weight[max(place - 1, 0)],
            free[max(place - 1, 0)],
        )
        fast_after = free[min(place + 1, places - 1)]
        to_first = 0.0 if place == 0 else pace
        to_last = 0.0 if place == places - 1 else pace
        if place == 0:
            for lane in range(lanes):
                part[lane] = way[lane] = 0.0
        for lane in range(lanes):
            speed = abs(fast[lane])
            to_before = to_first * min(speed, abs(fast_before[lane]))
            to_after = to_last * min(speed, abs(fast_after[lane]))
            divided = 1.0 / (1.0 + to_after + to_before * (1.0 - part_before[lane]))
            moved = (here[lane] + to_before * way_before[lane]) * divided
            is_free = fast[lane] > 0.0
            part[lane] = to_after * divided if is_free else 0.0
            way[lane] = moved if is_free else here[lane]
    last, way = height[places - 1], weight[places - 1]
    for lane in range(lanes):
        last[lane] = way[lane]
    for place in range(places - 2, -1, -1):
        here, after, part, way = height[place], height[place + 1], passed[place], weight[place]
        for lane in range(lanes):
            here[lane] = way[lane] + part[lane] * after[lane]


@njit(nogil=True, error_model="numpy")
def _solve_even(height, is_first_free, is_last_free, parts, weight):
    """As `_solve`, where all is free but for some of the ends, [lane]; the coefficients are those of `_even`."""
    places, lanes = height.shape
    free_part, free_way, fixed_part, fixed_way, pace = parts
    here, way = height[0], weight[0]
    for lane in range(lanes):
        way[lane] = here[lane] * free_way[0] if is_first_free[lane] > 0.0 else here[lane]
    for place in range(1, places - 1):
        here, way, before = height[place], weight[place], weight[place - 1]
        one, other = free_way[place], fixed_way[place]
        for lane in range(lanes):
            way[lane] = (here[lane] + pace[0] * before[lane]) * (one if is_first_free[lane] > 0.0 else other)
    last, before = height[places - 1], weight[places - 2]
    one, other = free_way[places - 1], fixed_way[places - 1]
    for lane in range(lanes):
        solved = (last[lane] + pace[0] * before[lane]) * (one if is_first_free[lane] > 0.0 else other)
        last[lane] = solved if is_last_free[lane] > 0.0 else last[lane]
    for place in range(places - 2, -1, -1):
        here, after, way = height[place], height[place + 1], weight[place]
        one, other = free_part[place], fixed_part[place]
        for lane in range(lanes):
            here[lane] = way[lane] + (one if is_first_free[lane] > 0.0 else other) * after[lane]


@njit(nogil=True, error_model="numpy")
def _even(places, pace):
    """For `_solve_even`: what a place passes on and how much of its own it keeps, if the first is free and if not."""
    free_part, free_way = np.empty(places), np.empty(places)
    fixed_part, fixed_way = np.empty(places), np.empty(places)
    free_way[0], fixed_way[0] = 1.0 / (1.0 + pace), 1.0
    free_part[0], fixed_part[0] = pace * free_way[0], 0.0
    for place in range(1, places):
        after = pace if place < places - 1 else 0.0
        free_way[place] = 1.0 / (1.0 + after + pace * (1.0 - free_part[place - 1]))
        fixed_way[place] = 1.0 / (1.0 + after + pace * (1.0 - fixed_part[place - 1]))
        free_part[place], fixed_part[place] = after * free_way[place], after * fixed_way[place]
    return free_part, free_way, fixed_part, fixed_way, np.full(1, pace)


@njit(nogil=True, error_model="numpy")
def _is_even(free, first_row, last_row, first_column, last_column, along_columns):
    """Whether all of a part of the map is free but for some of the ends of its lines."""
    other = 0
    for row in range(first_row, last_row):
        here = free[row]
        if along_columns and row in (0, len(free) - 1):
            for column in range(first_column, last_column):
                other += abs(here[column]) != 1.0
        elif along_columns:
            for column in range(first_column, last_column):
                other += here[column] != 1.0
        else:
            for column in range(first_column + 1, last_column - 1):
                other += here[column] != 1.0
            other += (abs(here[first_column]) != 1.0) + (abs(here[last_column - 1]) != 1.0)
    return other == 0


@njit(nogil=True, error_model="numpy")
def _copy_columns(source, begin, count, target):
    for row in range(len(source)):
        own, there = source[row][begin : begin + count], target[row]
        for lane in range(count):
            there[lane] = own[lane]


@njit(nogil=True, error_model="numpy")
def _turn_rows(source, begin, count, target):
    """Rows become lanes; some at a time, so that what is written is not far apart."""
    columns = source.shape[1]
    for first in range(0, columns, LANES):
        last = min(first + LANES, columns)
        for lane in range(count):
            own = source[begin + lane]
            for column in range(first, last):
                target[column, lane] = own[column]


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _creep_down(ground, free, pace, out, shares):
    """Along the columns, a band of them at a time; each thread has some of these."""
    rows, columns = ground.shape
    parts = _even(rows, pace)
    bands = -(-columns // BAND)
    for unsigned_share in prange(shares):
        share = np.int64(unsigned_share)
        height, fast = np.zeros((rows, BAND)), np.ones((rows, BAND))
        passed, weight = np.empty((rows, BAND)), np.empty((rows, BAND))
        first, last = np.ones(BAND), np.ones(BAND)
        for band in range(share * bands // shares, (share + 1) * bands // shares):
            begin = band * BAND
            count = min(BAND, columns - begin)
            _copy_columns(ground, begin, count, height)
            if _is_even(free, 0, rows, begin, begin + count, True):
                first[:count] = free[0][begin : begin + count]
                last[:count] = free[rows - 1][begin : begin + count]
                _solve_even(height, first, last, parts, weight)
            else:
                _copy_columns(free, begin, count, fast)
                _solve(height, fast, pace, passed, weight)
            for row in range(rows):
                own, there = out[row][begin : begin + count], height[row]
                for lane in range(count):
                    own[lane] = there[lane]


@njit(nogil=True, cache=True, parallel=True, error_model="numpy")
def _creep_across(ground, free, pace, out, shares):
    """Along the rows, some of them side by side; each thread has some of these."""
    rows, columns = ground.shape
    parts = _even(columns, pace)
    bands = -(-rows // LANES)
    for unsigned_share in prange(shares):
        share = np.int64(unsigned_share)
        height, fast = np.zeros((columns, LANES)), np.ones((columns, LANES))
        passed, weight = np.empty((columns, LANES)), np.empty((columns, LANES))
        first, last = np.ones(LANES), np.ones(LANES)
        for band in range(share * bands // shares, (share + 1) * bands // shares):
            begin = band * LANES
            count = min(LANES, rows - begin)
            _turn_rows(ground, begin, count, height)
            if _is_even(free, begin, begin + count, 0, columns, False):
                first[:count] = free[begin : begin + count, 0]
                last[:count] = free[begin : begin + count, columns - 1]
                _solve_even(height, first, last, parts, weight)
            else:
                _turn_rows(free, begin, count, fast)
                _solve(height, fast, pace, passed, weight)
            for start in range(0, columns, LANES):
                for lane in range(count):
                    own = out[begin + lane]
                    for column in range(start, min(start + LANES, columns)):
                        own[column] = height[column, lane]


def creep(ground: Layer, free: NDArray[np.float32], pace: float, out: Layer, *, along_columns: bool) -> None:
    """Let the ground creep along its columns, or along its rows, to `out`: `pace` is κ · years / cell area.

    `free` [row, column] is 1 where the ground moves as that says, less where it is slower, 0 where it neither gives nor
    takes, and −1 where it keeps its height: what creeps there leaves the map, and what creeps from there comes in.
    `out` may be the ground itself.
    """
    (_creep_down if along_columns else _creep_across)(ground, free, pace, out, numba.get_num_threads())


@njit(nogil=True, cache=True, error_model="numpy")
def make_soil(bedrock, soil, ground, burden, hold, depth, made):
    """Turn rock to soil, both [cell], in place; returns how much did, in metres over one cell.

    `ground` [cell] becomes the sum of both and of the `burden` that `Materials` have. `made` is P · t / depth, and
    `hold` [cell] a factor on it.
    """
    power, scratch, other = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    scale = -1.0 / (depth * math.log(2.0))
    total = 0.0
    for begin in range(0, len(soil), BLOCK):
        part = slice(begin, begin + BLOCK)
        rock, above, held, top = bedrock[part], soil[part], hold[part], ground[part]
        block = power[: len(rock)]
        for i in range(len(block)):
            block[i] = max(scale * above[i], LEAST_EXPONENT)
        exp2_of(block, scratch)
        for i in range(len(block)):
            block[i] = 1.0 + made * held[i] * block[i]
        log2_of(block, scratch, other)
        for i in range(len(block)):
            before = rock[i]
            rock[i] = before - depth * math.log(2.0) * block[i]
            became = before - rock[i]  # as far as numbers of this size can tell
            above[i] += became
            top[i] = ground_of(burden, begin + i, rock[i], above[i])
            total += became
    return total
