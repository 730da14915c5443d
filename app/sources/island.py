"""Islands in the sea (after Talle 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.model.errors import UserError
from app.model.parameters import for_kernel
from app.model.world import Layer

if TYPE_CHECKING:
    from app.scene.scene import Scene
    from kernels.island import Cone

LARGEST_COORDINATE = 10.0


def layers(scene: Scene, rows: int, columns: int) -> tuple[Layer, Layer]:
    """The height of the rock, with the sea at 0, and nothing on it, `[rows, columns]`, as fractions of the relief."""
    from kernels import island as kernel

    island = scene.island
    seed = scene.world.seed
    cones = _listed(island.places) or kernel.places(
        island.islands, island.size, island.spread, island.size_variation, seed
    )
    side = max(rows, columns)
    rock = kernel.elevation(
        rows,
        columns,
        seed,
        cones,
        for_kernel(
            kernel.IslandParameters,
            island,
            wavelength=island.wavelength * side,
            cliff_wavelength=island.cliff_wavelength * side,
            crater_wavelength=island.crater_wavelength * side,
        ),
    )
    return rock, np.zeros_like(rock)


def _listed(places: str) -> list[Cone]:
    """The islands of a text such as `0.3 0.5 0.4; 0.7 0.4 0.2`. Raises `UserError` where it says something else."""
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
