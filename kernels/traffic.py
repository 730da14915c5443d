"""Rivers and lakes where the traffic of snowballs gathers, for looking at: it changes nothing.

Balls wander, so that much traffic alone is no river: on an open flank, too, many come by. Water lies lower than what is
around it:

- A stream begins where at least `threshold` balls came by in a valley: across the direction of flow, both banks rise.
  From there it follows the flow directions down to the ocean, joins others, and carries what they carry.
- A depression that as many balls enter is a lake. Each of its cells takes `LAKE_SHARE` of the threshold, as a lake
  without an outlet is as large as its inflow can make up for evaporation. Where that is more than all its cells take it
  is full to its sill, and the rest flows on over it; else it stands at the level at which it is as large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.lakes import Lakes
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS, index_steps
from kernels.rivers import Drainage
from kernels.smoothing import smooth

BANK_SLOPE = 0.15  # that both banks of a valley have at least
BANK_REACH = 3  # cells across the flow to where they are measured; across a corner 2, which is about as far
LAKE_SHARE = 1.0 / 40.0
SMALLEST_LAKE = 6  # cells: smaller ones are holes in the bed of a stream


class Gathered(NamedTuple):
    """What flows and stands, [row, column]."""

    flow: NDArray[np.float64]  # balls that a stream carries; 0 outside streams
    level: NDArray[np.float64]  # height of the surface of lakes in metres; minus infinity where there is none


@njit(nogil=True, cache=True)
def _in_valley(ground, row, column, direction, rise):
    """Whether the ground rises by so much to both sides of the flow."""
    rows, columns = ground.shape
    reach = BANK_REACH if direction < 4 else BANK_REACH - 1
    south, east = reach * COLUMN_STEPS[direction], -reach * ROW_STEPS[direction]
    for side in (-1, 1):
        bank_row, bank_column = row + side * south, column + side * east
        if not (0 <= bank_row < rows and 0 <= bank_column < columns):
            return False
        if ground[bank_row, bank_column] - ground[row, column] < rise:
            return False
    return True


@njit(nogil=True, cache=True)
def _gather(ground, directions, order, labels, traffic, blurred, outlet, cells, steps, threshold, rise, flow, inflow):
    """Lead the streams down, and into lakes; `inflow` and `cells` are those of each lake."""
    columns = ground.shape[1]
    direction, lake_of, through = directions.reshape(-1), labels.reshape(-1), flow.reshape(-1)
    balls, often = traffic.reshape(-1), blurred.reshape(-1)  # single paths of balls are noise
    passed_on = np.zeros(len(cells))
    for place in range(len(order) - 1, -1, -1):
        cell = order[place]
        toward = direction[cell]
        if toward == OUTLET:
            continue
        below = cell + steps[toward]
        lake = lake_of[cell] - 1
        if lake >= 0:
            through[cell] = 0.0
            if lake_of[below] == 0 and below == outlet[lake]:
                # It may be reached again with more that has come in.
                surplus = inflow[lake] - LAKE_SHARE * threshold * cells[lake]
                surplus = surplus if surplus >= threshold else 0.0
                through[below] += surplus - passed_on[lake]
                passed_on[lake] = surplus
            continue
        if often[cell] > max(through[cell], threshold) and (
            through[cell] > 0.0 or _in_valley(ground, cell // columns, cell % columns, toward, rise)
        ):
            through[cell] = often[cell]
        if lake_of[below] > 0:
            inflow[lake_of[below] - 1] += max(through[cell], balls[cell])
        else:
            through[below] += through[cell]


def gather(
    ground: NDArray[np.float64],
    drainage: Drainage,
    lakes: Lakes,
    traffic: NDArray[np.float32],
    threshold: float,
    cell_size: float,
) -> Gathered:
    """The rivers and lakes of so much `traffic` in balls, float32 [row, column], above a `threshold` > 0 in balls.

    `drainage` and `lakes` are those of `ground`, float64 heights in metres; `cell_size` is the side of a cell.
    """
    blurred = traffic.astype(np.float64)
    smooth(blurred)
    flow, inflow = np.zeros(ground.shape), np.zeros(len(lakes.cells))
    _gather(
        ground, drainage.directions, drainage.routes.order, lakes.labels, traffic, blurred, lakes.outlet, lakes.cells,
        index_steps(ground.shape[1]), float(threshold), BANK_SLOPE * BANK_REACH * cell_size, flow, inflow,
    )  # fmt: skip
    flow[drainage.ocean | (lakes.labels > 0)] = 0.0
    return Gathered(flow, _levels(ground, lakes, inflow / (LAKE_SHARE * threshold), inflow >= threshold))


def _levels(
    ground: NDArray[np.float64], lakes: Lakes, extent: NDArray[np.float64], wet: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The levels of lakes that are `wet`, each over as many of its cells as its `extent` says, or over all."""
    height, label, level = ground.reshape(-1), lakes.labels.reshape(-1), np.full(ground.size, -np.inf)
    inside = np.flatnonzero(label)
    lowest_first = inside[np.lexsort((height[inside], label[inside]))]
    ends = np.cumsum(lakes.cells)
    for lake in np.flatnonzero(wet & (np.minimum(extent, lakes.cells) >= SMALLEST_LAKE)):
        cells = lowest_first[ends[lake] - lakes.cells[lake] : ends[lake]]
        flooded = int(min(extent[lake], len(cells)))
        surface = lakes.level[lake] if flooded == len(cells) else height[cells[flooded]]
        under = cells[height[cells] < surface]
        level[under] = surface
    return level.reshape(ground.shape)
