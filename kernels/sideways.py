"""Land that is carried sideways, in whole cells: along a fault, or over the ramp of a thrust.

Nothing is interpolated, so that valleys stay as sharp as they are: land waits until it has come a step of whole cells,
`Step`, and moves by it at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.layers import Layer

Cells = NDArray[np.int64]

LONGEST = 3  # cells along an axis: the trace of a fault repeats itself in so many


class Step(NamedTuple):
    """A step of land, in cells. The two have no common divisor."""

    south: int
    east: int

    @property
    def length(self) -> float:
        """In cells."""
        return math.hypot(self.south, self.east)


def step_towards(direction: float) -> Step:
    """The step whose direction is nearest to one in degrees clockwise from north; at most 9.3° off."""
    angle = math.radians(direction)
    south, east = -math.cos(angle), math.sin(angle)
    steps = [
        Step(row, column)
        for row in range(-LONGEST, LONGEST + 1)
        for column in range(-LONGEST, LONGEST + 1)
        if math.gcd(row, column) == 1
    ]
    return max(steps, key=lambda step: round((step.south * south + step.east * east) / step.length, 9))


def distances(rows: int, columns: int, step: Step) -> tuple[Layer, Layer]:
    """How far each cell is ahead of the middle of the map, and to the left of it, [row, column], in cells.

    Cells that a step leads to from one another are equally far to the left, to the last bit.
    """
    row, column = np.arange(1 - rows, rows, 2)[:, None], np.arange(1 - columns, columns, 2)[None, :]
    ahead = step.south * row + step.east * column
    left = step.south * column - step.east * row
    return ahead / (2.0 * step.length), left / (2.0 * step.length)


def along_fault(moves: NDArray[np.bool_], step: Step, times: int) -> Cells:
    """Where the land of each cell comes from, [cell], when what `moves`, [row, column], makes so many steps.

    It moves as a whole, and what leaves the map on one side comes in on the other, so that each cell's land is
    somewhere: cells that steps lead to from one another are a chain, and its end goes on at its beginning. `moves`
    must be alike along each chain, see `distances`.
    """
    rows, columns = moves.shape
    cells = np.flatnonzero(moves)
    row, column = cells // columns, cells % columns
    behind = np.minimum(_steps_to_edge(row, rows, -step.south), _steps_to_edge(column, columns, -step.east))
    before = np.minimum(_steps_to_edge(row, rows, step.south), _steps_to_edge(column, columns, step.east))
    on = (behind + times) % (behind + before + 1) - behind
    source = np.arange(moves.size)
    source[(row + on * step.south) * columns + column + on * step.east] = cells
    return source


def _steps_to_edge(place: Cells, cells: int, step: int) -> Cells:
    """How many steps lead on along an axis with so many cells."""
    if step == 0:
        return np.full(len(place), np.iinfo(np.int64).max // 4)
    return ((cells - 1 - place) if step > 0 else place) // abs(step)


class Thrust(NamedTuple):
    """Where the land of a hanging wall goes."""

    source: Cells  # [cell]: where the land of each cell comes from; outside the map: from the nearest cell of it
    enters: NDArray[np.bool_]  # [cell]: where it comes from outside
    over_edge: Cells  # cells whose land leaves the map
    over_front: Cells  # cells whose land goes beyond the trace of the fault
    front: Cells  # and the cells that it goes to


def over_thrust(hanging: NDArray[np.bool_], step: Step, times: int) -> Thrust:
    """Where land goes when a hanging wall, [row, column], which ends at its front, makes so many steps."""
    rows, columns = hanging.shape
    wall = hanging.reshape(-1)
    source, enters = np.arange(wall.size), np.zeros(wall.size, np.bool_)
    cells = np.flatnonzero(wall)
    row, column = cells // columns, cells % columns
    south, east = times * step.south, times * step.east
    from_row, from_column = np.clip(row - south, 0, rows - 1), np.clip(column - east, 0, columns - 1)
    source[cells] = from_row * columns + from_column
    enters[cells] = (from_row != row - south) | (from_column != column - east)
    to_row, to_column = row + south, column + east
    stays = (to_row >= 0) & (to_row < rows) & (to_column >= 0) & (to_column < columns)
    target = to_row[stays] * columns + to_column[stays]
    beyond = ~wall[target]
    return Thrust(source, enters, cells[~stays], cells[stays][beyond], target[beyond])


def fault_height(ahead: Layer, start: float, slope: float, height: float) -> Layer:
    """Height of a fault that rises from a flat over a ramp to another flat, as `ahead`, which is in metres.

    Land on it keeps its thickness as it goes along (vertical simple shear, as Gibbs 1983): where the fault rises, so
    does what is on it, which over a ramp below ground is a fault-bend fold (Suppe 1983).
    """
    return np.asarray(np.clip((ahead - start) * slope, 0.0, height))
