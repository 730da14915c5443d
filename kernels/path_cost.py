"""Path cost to the ocean: the length of the shortest path that never rises.

As the article on rivers for maps of imagined worlds has it: where steepness does not decide, a river prefers the cell
of least cost. Directions (`kernels.directions`) go by steepness, and so their ways are as long or longer. Where several
neighbours are equally steep, `break_ties` takes that of least cost.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.neighbours import LENGTHS, index_steps, on_map


@njit(nogil=True, cache=True, error_model="numpy")
def _spread(filled, outlets, steps, lengths, costs):
    """From the outlets inland, by Dijkstra's (1959) method."""
    rows, columns = filled.shape
    height, out, cost = filled.reshape(-1), outlets.reshape(-1), costs.reshape(-1)
    cost[:] = np.inf
    waiting = [(0.0, 0)]
    waiting.clear()
    for cell in range(len(out)):
        if out[cell]:
            cost[cell] = 0.0
            heapq.heappush(waiting, (0.0, cell))
    while len(waiting) > 0:
        length, cell = heapq.heappop(waiting)
        if length > cost[cell]:
            continue
        row, column = divmod(cell, columns)
        for neighbour in range(8):
            if not on_map(row, column, neighbour, rows, columns):
                continue
            other = cell + steps[neighbour]
            longer = length + lengths[neighbour]
            if height[other] >= height[cell] and longer < cost[other]:
                cost[other] = longer
                heapq.heappush(waiting, (longer, other))


@njit(nogil=True, cache=True, error_model="numpy")
def _break_ties(filled, outlets, steps, costs, directions):
    rows, columns = filled.shape
    across = math.sqrt(0.5)
    height, out, cost, direction = filled.reshape(-1), outlets.reshape(-1), costs.reshape(-1), directions.reshape(-1)
    for cell in range(len(out)):
        if out[cell]:
            continue
        row, column = divmod(cell, columns)
        steepest, least = 0.0, np.inf
        for neighbour in range(8):
            if not on_map(row, column, neighbour, rows, columns):
                continue
            other = cell + steps[neighbour]
            drop = height[cell] - height[other]
            slope = drop if neighbour < 4 else drop * across
            if slope > steepest or (slope == steepest and cost[other] < least):
                steepest, least = slope, cost[other]
                direction[cell] = neighbour


def break_ties(
    filled: NDArray[np.float64], outlets: NDArray[np.bool_], costs: NDArray[np.float64], directions: NDArray[np.int8]
) -> None:
    """Direct water of cells with several equally steep neighbours to that of the least cost, as the article does.

    `directions` int8 [row, column] are those of `kernels.directions.flow_directions`, and are changed in place. On a
    flat all neighbours as high are equally steep. `costs` are those of `path_cost`: they decrease along each way over a
    flat, so that no way comes back.
    """
    _break_ties(filled, outlets, index_steps(filled.shape[1]), costs, directions)


def path_cost(filled: NDArray[np.float64], outlets: NDArray[np.bool_], cell_size: float) -> NDArray[np.float64]:
    """The length in metres of the shortest way of each cell to an outlet that never leads up, [row, column].

    `filled` is a surface without depressions, as `kernels.filling.fill` makes it, so that there is a way from each
    cell; `cell_size` is the side of a cell in metres.
    """
    costs = np.empty(filled.shape)
    _spread(filled, outlets, index_steps(filled.shape[1]), LENGTHS * float(cell_size), costs)
    return costs
