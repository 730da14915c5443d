"""The courses of running water: where it gathers, and where it ends in hollows that it does not fill.

Water crosses a shallow or small hollow, as a stream fills the pools of its bed. A deep one holds it: it runs down to
the lake that stands there, or to the lowest ground. Where it is known how much comes by, no more does: what has been
lost on the way does not come back.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.components import components
from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS, index_steps
from kernels.ocean import ocean_mask, outlet_mask
from kernels.random import mix
from kernels.routing import order_from_springs

POOL_CELLS = 6  # of the largest pool in the bed of a stream
END_DEPTH = 0.1  # of the deepest water in a hollow: where a stream ends in it
# By which part the unevenness of the ground that no cell shows makes a way steeper, at most. On slopes that are smooth,
# water would run straight along the grid without it.
UNEVENNESS = 0.6


class Streams(NamedTuple):
    """How water runs over the land, [row, column]."""

    flow: NDArray[np.float64]  # what comes through each cell, in the unit of the runoff
    directions: NDArray[np.int8]  # the number of the neighbour that it flows to: see `kernels.neighbours`


@njit(nogil=True, cache=True)
def _measure(surface, filled, labels, crossed, depth, cells, is_crossed):
    level, height, label_of, crosses = filled.reshape(-1), surface.reshape(-1), labels.reshape(-1), crossed.reshape(-1)
    for cell in range(len(label_of)):
        if label_of[cell] > 0:
            hollow = label_of[cell] - 1
            if level[cell] - height[cell] > depth[hollow]:
                depth[hollow] = level[cell] - height[cell]
                is_crossed[hollow] = crosses[cell]
            cells[hollow] += 1


@njit(nogil=True, cache=True)
def _mark_ends(surface, filled, labels, depth, is_end, outlets):
    level, height, label_of, out = filled.reshape(-1), surface.reshape(-1), labels.reshape(-1), outlets.reshape(-1)
    for cell in range(len(label_of)):
        if label_of[cell] > 0 and is_end[label_of[cell] - 1]:
            deepest = depth[label_of[cell] - 1]
            if level[cell] - height[cell] >= (1.0 - END_DEPTH) * deepest:
                out[cell] = True


@njit(nogil=True, cache=True, error_model="numpy")
def _wander(filled, directions):
    """Let water run to the neighbour that is the steepest with the unevenness of the ground, the same at all times.

    Only cells with neighbours on all sides are turned, so that none sends its water off the map.
    As every other direction it leads down; on flats, water keeps the shortest way.
    """
    rows, columns = filled.shape
    across = math.sqrt(0.5)
    for row in range(1, rows - 1):
        for column in range(1, columns - 1):
            direction, height = directions[row, column], filled[row, column]
            if direction == OUTLET or filled[row + ROW_STEPS[direction], column + COLUMN_STEPS[direction]] >= height:
                continue
            word = mix(np.uint64(row * columns + column))
            steepest = 0.0
            for neighbour in range(8):
                drop = height - filled[row + ROW_STEPS[neighbour], column + COLUMN_STEPS[neighbour]]
                if drop > 0.0:
                    chance = np.int64((word >> np.uint64(8 * neighbour)) & np.uint64(255)) / 127.5 - 1.0
                    slope = (drop if neighbour < 4 else drop * across) * (1.0 + UNEVENNESS * chance)
                    if slope > steepest:
                        directions[row, column], steepest = neighbour, slope


@njit(nogil=True, cache=True)
def _gather(directions, order, steps, kept, most, totals):
    direction, total, limit = directions.reshape(-1), totals.reshape(-1), most.reshape(-1)
    for place in range(len(order)):
        cell = order[place]
        total[cell] = min(total[cell], limit[cell])
        if direction[cell] != OUTLET:
            total[cell + steps[direction[cell]]] += kept * total[cell]


def find_streams(
    surface: NDArray[np.float64],
    sea_level: float,
    runoff: NDArray[np.float64],
    *,
    pool_depth: float,
    kept: float = 1.0,
    most: NDArray[np.float64] | None = None,
    crossed: NDArray[np.bool_] | None = None,
    inflow: NDArray[np.float64] | None = None,
    closed: NDArray[np.bool_] | None = None,
    open_edges: bool = True,
) -> Streams:
    """The streams of `runoff`, what runs off each cell, over a `surface` of ground and lakes, heights in metres.

    All maps are [row, column], float64; ocean, `closed` and `open_edges` are as in `kernels.rivers.drain`. A hollow
    that is larger than `POOL_CELLS` and deeper than `pool_depth`, in metres, holds what comes to it, unless its lowest
    cell is `crossed`. `kept` is the part that is left of the water of a cell in the next one downstream, and `most`
    what comes through each cell at most, beside all of an `inflow` from outside of the map.
    """
    ocean = ocean_mask(surface, sea_level)
    outlets = outlet_mask(ocean, open_edges, closed)
    filled = fill(surface, outlets)
    labels, count = components(filled > surface)
    if count:
        depth, cells, is_crossed = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.bool_)
        crosses = np.zeros(surface.shape, np.bool_) if crossed is None else crossed
        _measure(surface, filled, labels, crosses, depth, cells, is_crossed)
        is_end = (depth > pool_depth) & (cells > POOL_CELLS) & ~is_crossed
        if is_end.any():
            _mark_ends(surface, filled, labels, depth, is_end, outlets)
            fill(surface, outlets, filled)
    order = np.empty(surface.size, np.int32)  # a number for each cell, as scratch and then as the order of all cells
    directions = flow_directions(filled, outlets, scratch=order)
    _wander(filled, directions)
    order_from_springs(directions, order, np.zeros(surface.shape))
    flow = np.where(ocean, 0.0, runoff)
    limits = np.full(surface.shape, np.inf) if most is None else most
    _gather(directions, order, index_steps(surface.shape[1]), kept, limits, flow)
    if inflow is not None:
        beside = np.where(ocean, 0.0, inflow)
        _gather(directions, order, index_steps(surface.shape[1]), 1.0, np.full(surface.shape, np.inf), beside)
        flow += beside
    return Streams(flow, directions)
