"""The yard: the time that this machine takes for one step of a plain droplet kernel, on one core.

Times are given in yards, so that figures from different machines, and from different hours on a busy one, can be
compared. The kernel is the articles' loop in its plainest form: one drop after the other on one layer, with the slope
under the drop, a push, a move by one cell's diagonal, and an exchange of sediment.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

SIDE = 256
DROPS = 512
LONGEST_PATH = 500
STEEPNESS = 20.0  # relief of the terrain in cells, as a drop feels it


@njit(nogil=True, cache=True)
def run_drops(height: NDArray[np.float64], drops: int, seed: int) -> int:
    """Let drops run over `height` [row, column], which they change; return how many steps they took together."""
    rows, columns = height.shape
    taken = 0
    random = np.uint64(2 * seed + 1)
    for _ in range(drops):
        # A linear congruential generator (Knuth's MMIX) is enough for places of rain.
        random = random * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        row = 1.0 + (rows - 3) * ((random >> np.uint64(11)) / 9007199254740992.0)
        random = random * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        column = 1.0 + (columns - 3) * ((random >> np.uint64(11)) / 9007199254740992.0)
        south = east = load = 0.0
        volume = 1.0
        for _ in range(LONGEST_PATH):
            i, j = int(row), int(column)
            slope_south = 0.5 * STEEPNESS * (height[i - 1, j] - height[i + 1, j])
            slope_east = 0.5 * STEEPNESS * (height[i, j - 1] - height[i, j + 1])
            upright = 1.0 / math.sqrt(1.0 + slope_south * slope_south + slope_east * slope_east)
            south += upright * slope_south / volume
            east += upright * slope_east / volume
            speed = math.sqrt(south * south + east * east)
            if speed < 1e-9:
                break
            south *= math.sqrt(2.0) / speed
            east *= math.sqrt(2.0) / speed
            row += south
            column += east
            if not (1.0 <= row < rows - 2 and 1.0 <= column < columns - 2):
                break
            exchange = 0.1 * (max(0.0, height[i, j] - height[int(row), int(column)]) - load)
            height[i, j] -= exchange * volume
            load = (load + exchange) / 0.999
            volume *= 0.999
            taken += 1
    return taken


def terrain(rows: int, columns: int) -> NDArray[np.float64]:
    """A fractal terrain from 0 to 1: noise whose amplitude falls with the frequency, as on land."""
    frequency = np.hypot(np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)[None, :])
    frequency[0, 0] = np.inf
    noise = np.fft.rfft2(np.random.default_rng(1).standard_normal((rows, columns)))
    height: NDArray[np.float64] = np.fft.irfft2(noise * frequency**-2.1, s=(rows, columns))
    height -= height.min()
    height /= height.max()
    return height


class Yardstick:
    """Measures the yard, repeatedly, between samples of what is compared with it."""

    def __init__(self) -> None:
        self._terrain = terrain(SIDE, SIDE)
        self._runs = 0
        self.nanoseconds()  # compiles

    def nanoseconds(self) -> float:
        """Processor time of a step now, in nanoseconds: one sample, of which a median should be taken."""
        height = self._terrain.copy()
        self._runs += 1
        begin = time.process_time()
        steps = run_drops(height, DROPS, self._runs)
        return (time.process_time() - begin) / steps * 1e9

    def yards(self, run: Callable[[], None], samples: int) -> float:
        """The median processor time of a run, in yards that are measured between the samples. It runs once before."""
        ratios = []
        run()
        for _ in range(samples):
            before = self.nanoseconds()
            begin = time.process_time()
            run()
            nanoseconds = (time.process_time() - begin) * 1e9
            ratios.append(2.0 * nanoseconds / (before + self.nanoseconds()))
        return float(np.median(ratios))
