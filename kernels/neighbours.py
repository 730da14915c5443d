"""The eight neighbours of a cell, by a number from 0 to 7: first the four beside it, then the four across a corner.

A map of directions holds for each cell the number of the neighbour that its water flows to, as int8, or `OUTLET` where
the water leaves the map's land. Numbers follow memory: of two neighbours of one kind, the one with the smaller index in
the map has the smaller number.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit

#                     north west east south, north-west north-east south-west south-east
ROW_STEPS = np.array([-1, 0, 0, 1, -1, -1, 1, 1])
COLUMN_STEPS = np.array([0, -1, 1, 0, -1, 1, -1, 1])
LENGTHS = np.array([1.0] * 4 + [math.sqrt(2.0)] * 4)  # in cells
OPPOSITE = np.array([3, 2, 1, 0, 7, 6, 5, 4])
EARLIER = (4, 0, 5, 1)  # those with a smaller index, in the order of their indices
LATER = (2, 6, 3, 7)  # those with a larger one

OUTLET = 8
FLAT = 9  # no neighbour is lower: only while directions are being found


def index_steps(columns: int) -> NDArray[np.int64]:
    """Index offset of each neighbour in a flattened map of so many columns; 0 for an outlet."""
    return np.append(ROW_STEPS * columns + COLUMN_STEPS, 0)


@njit(nogil=True, cache=True)
def on_map(row, column, neighbour, rows, columns):
    """Whether a cell's neighbour lies on the map."""
    return 0 <= row + ROW_STEPS[neighbour] < rows and 0 <= column + COLUMN_STEPS[neighbour] < columns
