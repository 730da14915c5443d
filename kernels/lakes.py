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


@njit(nogil=True, cache=True, error_model="numpy")
def _measure(ground, filled, directions, accumulation, steps, labels, level, depth, volume, cells, outlet, inflow):
    height, surface, total = ground.reshape(-1), filled.reshape(-1), accumulation.reshape(-1)
    direction, label_of = directions.reshape(-1), labels.reshape(-1)
    for cell in range(len(label_of)):
        if label_of[cell] == 0:
            continue
        lake = label_of[cell] - 1
        level[lake] = surface[cell]
        depth[lake] = max(depth[lake], surface[cell] - height[cell])
        volume[lake] += surface[cell] - height[cell]
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
    _measure(ground, filled, directions, accumulation, index_steps(ground.shape[1]), *lakes)
    lakes.volume[:] *= cell_size * cell_size
    return lakes
