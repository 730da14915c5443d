"""The measures of `app.model.realism`, taken of a land."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.model.realism import Curve, PowerLaw, Realism

if TYPE_CHECKING:
    from kernels.morphometry import Law
    from kernels.rivers import Drainage

# The least catchment of a river, as a part of the land, so that a finer grid has the same rivers: small enough for
# hundreds of rivers, without which ratios of their numbers say nothing.
RIVER_PART = 1.0 / 4000.0
FEWEST_RIVER_CELLS = 20  # and at least so many cells

STEEPEST = 60  # degrees: the curve of slopes has a point for each, and steeper slopes count in the last


def measure(
    ground: NDArray[np.float64], drainage: Drainage, cell_size: float, *, river_cells: int | None = None, cycle: int = 0
) -> Realism:
    """All measures of a land: `ground` in metres [row, column], its drainage, and the cell size in metres.

    Rivers begin where `river_cells` come together, by default a fixed part of the land.
    """
    from kernels import morphometry

    if river_cells is None:
        river_cells = default_river_cells(drainage)
    hack = morphometry.hack(drainage, cell_size)
    beds = morphometry.slope_area(ground, drainage, cell_size)
    heights = morphometry.hypsometry(ground, drainage)
    slopes = morphometry.slopes(ground, drainage, cell_size)
    network = morphometry.network(drainage, cell_size, river_cells)
    median, steep = (None, None) if slopes is None else np.quantile(slopes, (0.5, 0.95)).tolist()
    values = {
        "depth_to_fill": morphometry.depth_to_fill(ground, drainage),
        "laplacian_skew": morphometry.laplacian_skew(ground, drainage),
        "hack_exponent": hack and hack.exponent,
        "concavity": beds and -beds.exponent,
        "steepness": morphometry.steepness(beds),
        "hypsometric_integral": heights and heights.integral,
        "median_slope": median,
        "steep_slope": steep,
        "drainage_density": None if network.density is None else 1e3 * network.density,
        "bifurcation_ratio": network.bifurcation_ratio,
        "length_ratio": network.length_ratio,
    }
    curves = {}
    for name, law in (("slope_area", beds), ("hack", hack)):
        if law is not None:
            curves[name] = _curve(law)
    if heights is not None:
        curves["hypsometry"] = Curve(heights.part_above, heights.height)
    if slopes is not None:
        counts, degrees = np.histogram(np.minimum(slopes, STEEPEST), STEEPEST, (0.0, STEEPEST))
        curves["slopes"] = Curve(degrees[:-1], counts / len(slopes))
    return Realism(cycle, values, curves)


def default_river_cells(drainage: Drainage) -> int:
    """The catchment, in cells, at which a river begins."""
    return max(FEWEST_RIVER_CELLS, round(RIVER_PART * int(np.count_nonzero(~drainage.ocean))))


def _curve(law: Law) -> Curve:
    return Curve(law.x, law.y, PowerLaw(law.factor, law.exponent))
