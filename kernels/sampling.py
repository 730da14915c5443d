"""Where the cells of a map lie on a land that is a function of the position."""

from __future__ import annotations

import math
from typing import NamedTuple

from kernels.units import Cells

FINEST = 2.0  # cells: a shorter wavelength cannot be shown


class Sampling(NamedTuple):
    """The middle of the cell (row, column) lies at (row · cell + south, column · cell + east).

    Positions are in cells of the size for which the land's numbers hold, and (0, 0) is the middle of the first of them.
    """

    cell: Cells = 1.0
    south: Cells = 0.0
    east: Cells = 0.0

    def finer_octaves(self, finest: Cells, octaves: int, lacunarity: float) -> int:
        """How many octaves go on below the `finest` of `octaves`, so that smaller cells show as much detail as usual.

        None where there is but one, which is no fractal, or where they would be finer than cells can show.
        """
        if self.cell >= 1.0 or octaves <= 1 or lacunarity <= 1.0:
            return 0
        smaller = min(1.0 / self.cell, finest / (FINEST * self.cell))
        return max(0, math.floor(math.log(smaller) / math.log(lacunarity) + 1e-9))


NATIVE = Sampling()
