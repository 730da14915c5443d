"""Depression filling in visible steps: levels advance from the coast, front by front, until nothing changes.

In each round every cell beside one that is known to drain looks for the lowest level among those; it is raised to that
level, or stands on its own ground where that is higher. A cell that drains already takes the new level if it is lower:
a way from another side may be. The end state is that of `kernels.filling.fill`, which is many times as fast; this is
for looking on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit


@njit(nogil=True, cache=True, error_model="numpy")
def _advance(ground, levels, before):
    rows, columns = ground.shape
    changed = 0
    before[1:-1, 1:-1] = levels
    for row in range(rows):
        north, here, south = before[row], before[row + 1], before[row + 2]
        for column in range(columns):
            lowest = min(north[column], north[column + 1], north[column + 2], here[column], here[column + 2])
            lowest = min(lowest, south[column], south[column + 1], south[column + 2])
            level = max(ground[row, column], lowest)
            if level < levels[row, column]:
                levels[row, column] = level
                changed += 1
    return changed


class Fronts:
    """The levels of a map while its depressions fill up, round by round.

    `ground` are float64 heights [row, column], `outlets` the mask of cells where water leaves. `levels` are infinite
    where nothing is known yet; `rounds` counts those that changed something; `finished` tells that nothing changes any
    more.
    """

    def __init__(self, ground: NDArray[np.float64], outlets: NDArray[np.bool_]) -> None:
        self.ground = ground
        self.levels = np.where(outlets, ground, np.inf)
        self.rounds = 0
        self.finished = False
        self._before = np.full((ground.shape[0] + 2, ground.shape[1] + 2), np.inf)

    def advance(self, rounds: int = 1) -> None:
        """Run so many rounds, or the remaining ones."""
        for _ in range(rounds):
            if self.finished:
                return
            self.finished = _advance(self.ground, self.levels, self._before) == 0
            self.rounds += not self.finished
