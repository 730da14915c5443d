"""Islands in the sea (after Talle 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.model.errors import UserError
from app.model.layered_map import Layer
from app.model.parameters import for_kernel
from app.sources.grid import Grid
from app.sources.land_scene import LandScene

if TYPE_CHECKING:
    from kernels.island import Cone

LARGEST_COORDINATE = 10.0


def layers(scene: LandScene, grid: Grid) -> tuple[Layer, Layer]:
    """The height of the rock, with the sea at 0, and nothing on it, [row, column], as fractions of the relief."""
    from kernels import island as kernel

    island = scene.island
    seed = scene.world.seed
    cones = _listed(island.places) or kernel.places(
        island.islands, island.size, island.spread, island.size_variation, seed
    )
    parameters = for_kernel(
        kernel.IslandParameters,
        island,
        wavelength=island.wavelength * grid.side,
        cliff_wavelength=island.cliff_wavelength * grid.side,
        crater_wavelength=island.crater_wavelength * grid.side,
    )
    land = kernel.Land(seed, cones, parameters, grid.land_rows, grid.land_columns)
    whole = grid.land
    summits = None if grid.is_land else kernel.find_summits(whole.rows, whole.columns, land, whole.sampling)
    rock = kernel.elevation_of(grid.rows, grid.columns, land, grid.sampling, summits)
    return rock, np.zeros_like(rock)


def _listed(places: str) -> list[Cone]:
    """The islands of a text such as `0.3 0.5 0.4; 0.7 0.4 0.2`. Raises `UserError` if it is invalid."""
    from kernels.island import Cone

    cones = []
    for place in places.split(";"):
        if not place.strip():
            continue
        try:
            east, south, radius = (float(number) for number in place.replace(",", " ").split())
            if not (max(abs(east), abs(south)) <= LARGEST_COORDINATE and 0.0 < radius <= LARGEST_COORDINATE):
                raise ValueError
        except ValueError:
            raise UserError(
                f"island.places = {places}: '{place.strip()}' must be three numbers, how far east and south, and the "
                f"radius (above 0), up to {LARGEST_COORDINATE:g}, such as 0.5 0.5 1; the next follows after a semicolon"
            ) from None
        cones.append(Cone(east, south, radius))
    return cones
