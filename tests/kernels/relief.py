"""Terrains on which water has to find its way, by name: for the tests of rivers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.sources.heightmap import read_heightmap
from tests.kernels.terrain import hills
from tests.nets.profile import is_nightly

Heights = NDArray[np.float64]


def island(rows: int, columns: int, seed: int = 0) -> Heights:
    """Land above 0 in the middle, sea around it."""
    y, x = np.mgrid[-1.0 : 1.0 : rows * 1j, -1.0 : 1.0 : columns * 1j]
    return hills(rows, columns, 60.0, seed) - 50.0 * np.minimum(1.0, np.hypot(x, y))


def bowl(rows: int, columns: int) -> Heights:
    """One depression, with a notch in its rim."""
    y, x = np.mgrid[-1.0 : 1.0 : rows * 1j, -1.0 : 1.0 : columns * 1j]
    heights: Heights = np.maximum(0.0, np.minimum(x * x + y * y, 1.6 - np.hypot(x, y)))
    heights[rows // 2, columns // 2 :] = np.minimum(heights[rows // 2, columns // 2 :], 0.55)
    return heights


def spiral(side: int, descends: bool) -> Heights:
    """A ditch between high walls that winds from the edge to the middle.

    Where it descends on its way it fills up, else it drains to its mouth at the edge.
    """
    heights = np.full((side, side), 1000.0)
    cells = [(0, 1)]
    heading, turns = 0, 0
    while turns < 2:  # twice without a step: the middle
        south, east = ((1, 0), (0, 1), (-1, 0), (0, -1))[heading % 4]
        row, column = cells[-1][0] + south, cells[-1][1] + east
        beyond = (row + south, column + east)
        if 0 < row < side - 1 and 0 < column < side - 1 and beyond not in cells:
            cells.append((row, column))
            turns = 0
        else:
            heading += 1
            turns += 1
    for step, cell in enumerate(cells):
        heights[cell] = 500.0 - step / 10.0 if descends else step / 10.0
    return heights


def plateaus(rows: int, columns: int) -> Heights:
    """Few heights, so that nearly all of it is level."""
    return np.round(hills(rows, columns, 4.0, 3))


def real() -> Heights:
    """The Jacksboro fault in Tennessee, in whole metres."""
    from importlib.resources import as_file, files

    with as_file(files("assets") / "terrain" / "jacksboro.npz") as path:
        return read_heightmap(path).elevation


def several_oceans(rows: int, columns: int) -> Heights:
    """Two seas at the edge that a ridge parts, and a hollow below sea level inland."""
    heights = hills(rows, columns, 20.0, 5) + 1.0
    heights[:, : columns // 5] -= 30.0
    heights[: rows // 2, -columns // 6 :] -= 30.0
    heights[rows // 2 : rows // 2 + 4, columns // 2 : columns // 2 + 4] = -20.0
    return heights


def part_of_real() -> Heights:
    """Its north-west, and all of it in a nightly run."""
    return real() if is_nightly() else np.ascontiguousarray(real()[:160, :203])


# The terrain and its sea level
RELIEFS: dict[str, Callable[[], tuple[Heights, float]]] = {
    "noise": lambda: (hills(90, 90), -math.inf),
    "noise with a sea": lambda: (hills(90, 90), 7.0),
    "not square": lambda: (hills(40, 151, seed=4), 4.0),
    "island": lambda: (island(97, 80), 0.0),
    "real": lambda: (part_of_real(), -math.inf),
    "real with a sea": lambda: (part_of_real(), 380.0),
    "bowl": lambda: (bowl(60, 71), -math.inf),
    "ditch that fills": lambda: (spiral(31, descends=True), -math.inf),
    "ditch that drains": lambda: (spiral(31, descends=False), -math.inf),
    "white noise": lambda: (np.random.default_rng(1).random((60, 71)), -math.inf),
    "white noise with seas": lambda: (np.random.default_rng(2).random((80, 90)), 0.38),
    "plateaus": lambda: (plateaus(70, 81), -math.inf),
    "plateaus and a sea": lambda: (plateaus(70, 81), 1.0),
    "plain": lambda: (np.full((20, 30), 3.0), -math.inf),
    "several oceans": lambda: (several_oceans(80, 90), 0.0),
    "smallest": lambda: (hills(8, 8), 3.0),
    "strip": lambda: (hills(8, 300), -math.inf),
    "all ocean": lambda: (hills(12, 9), 1000.0),
}
