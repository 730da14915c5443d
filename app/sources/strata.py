"""The attitude of strata: level, tilted, folded, offset by faults, cut by intrusions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.model.materials import MaterialParameters
from app.model.world import World
from app.sources.fields import LandVariables, values_on
from kernels.rock import INTRUDED

OCTAVES = 3  # of folds
LARGEST_SHIFT = 1e5  # metres by which strata are shifted; more is cut off


def rise(
    world: World, parameters: MaterialParameters, longer_side: float
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """The height of the top of the stack in each cell, [row, column], in metres, plus `INTRUDED` in intrusions.

    Where intrusions have roofs, the second are metres by which these lie below that top, plus `INTRUDED` outside of
    intrusions, and the first are without it: uplift is too slow for numbers as large as that.

    `longer_side` is that of the land in cells, to which the wavelength of folds refers. At the centre of the map the
    top is at the height of the highest ground, before folds and faults. The levels of lakes and sea must be up to date.
    Raises `UserError` if an expression is not finite.
    """
    rows, columns = world.shape
    direction = math.radians(parameters.dip_direction)
    slope = math.tan(math.radians(parameters.dip)) * world.cell_size
    south = (np.arange(rows) - 0.5 * (rows - 1))[:, None]
    east = np.arange(columns) - 0.5 * (columns - 1)
    heights = float(world.ground.max()) - slope * (math.sin(direction) * east - math.cos(direction) * south)
    if parameters.fold:
        from kernels.noise import fractal_noise
        from kernels.sampling import Sampling

        wavelength = parameters.fold_wavelength * longer_side
        # The same place in cells of any size; they are of the world's own size, for folds need no finer octaves.
        first = 0.5 - 0.5 * world.reference_cell_size / world.cell_size
        where = Sampling(1.0, first, first)
        folds = fractal_noise(rows, columns, world.seed + 1, wavelength, OCTAVES, 2.0, 0.35, False, where)
        span = float(np.ptp(folds))
        if span > 0.0:
            heights = heights + parameters.fold * ((folds - folds.min()) / span - 0.5)
    land = LandVariables.of_world(world)
    shift = values_on(land, "materials.shift", parameters.shift)
    if shift is not None:
        heights = heights + np.clip(shift, -LARGEST_SHIFT, LARGEST_SHIFT)
    inside = values_on(land, "materials.intrusion", parameters.intrusion)
    if inside is None:
        return heights.astype(np.float32), None
    depth = values_on(land, "materials.intrusion_roof", parameters.intrusion_roof)
    if depth is None:
        return (heights + np.where(inside > 0.0, INTRUDED, 0.0)).astype(np.float32), None
    below_top = heights - world.ground + np.clip(depth, -LARGEST_SHIFT, LARGEST_SHIFT)
    return heights.astype(np.float32), (below_top + np.where(inside > 0.0, 0.0, INTRUDED)).astype(np.float32)
