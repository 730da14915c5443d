"""Lakes: where the filled surface lies above the ground."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.components import components
from kernels.neighbours import index_steps


class Lakes(NamedTuple):
    """Lakes, numbered from 1 in the order of their first cells; entry k of the lists is lake k + 1."""

    labels: NDArray[np.int32]  # [row, column]; 0: none
    level: NDArray[np.float64]  # height of the surface, in metres
    depth: NDArray[np.float64]  # the largest, in metres
    volume: NDArray[np.float64]  # cubic metres
    cells: NDArray[np.int64]  # area in cells
    outlet: NDArray[
        np.int64
    ]  # the first cell below, row * columns + column; where there are several, the largest river
    inflow: NDArray[np.float64]  # what comes through the outlet, in the unit of the accumulation


# Depths are added up as whole numbers, coarse ones and what these leave, so that the sum is the same in any order.
_COARSE, _FINE = 2.0**16, 2.0**52  # for each metre


@njit(nogil=True)
def add_exactly(sums, place, metres):
    """Add a depth to an entry of `sums`, int64 [entry, 2]."""
    coarse = np.rint(metres * _COARSE)
    sums[place, 0] += np.int64(coarse)
    sums[place, 1] += np.int64(np.rint((metres - coarse / _COARSE) * _FINE))


def metres_of(sums: NDArray[np.int64]) -> NDArray[np.float64]:
    """What was added to each entry, in metres."""
    return sums[:, 0] / _COARSE + sums[:, 1] / _FINE


@njit(nogil=True, cache=True, error_model="numpy")
def _measure(ground, filled, directions, accumulation, steps, labels, level, depth, depths, cells, outlet, inflow):
    height, surface, total = ground.reshape(-1), filled.reshape(-1), accumulation.reshape(-1)
    direction, label_of = directions.reshape(-1), labels.reshape(-1)
    for cell in range(len(label_of)):
        if label_of[cell] == 0:
            continue
        lake = label_of[cell] - 1
        level[lake] = surface[cell]
        depth[lake] = max(depth[lake], surface[cell] - height[cell])
        add_exactly(depths, lake, surface[cell] - height[cell])
        cells[lake] += 1
        below = cell + steps[direction[cell]]
        if label_of[below] == 0 and (outlet[lake] < 0 or total[below] > inflow[lake]):
            outlet[lake], inflow[lake] = below, total[below]


def find_lakes(
    ground: NDArray[np.float64],
    filled: NDArray[np.float64],
    directions: NDArray[np.int8],
    accumulation: NDArray[np.float64],
    cell_size: float,
) -> Lakes:
    """The lakes of a map: connected cells where `filled` lies above `ground`, [row, column], both in metres.

    Each has one level, and leaves over a sill that is as high. `directions` and `accumulation` are those of the filled
    surface; `cell_size` is the side of a cell in metres.
    """
    labels, count = components(filled > ground)
    lakes = Lakes(
        labels, np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, np.int64),
        np.full(count, -1, np.int64), np.zeros(count),
    )  # fmt: skip
    depths = np.zeros((count, 2), np.int64)
    _measure(
        ground, filled, directions, accumulation, index_steps(ground.shape[1]), labels, lakes.level, lakes.depth,
        depths, lakes.cells, lakes.outlet, lakes.inflow,
    )  # fmt: skip
    lakes.volume[:] = metres_of(depths) * (cell_size * cell_size)
    return lakes
