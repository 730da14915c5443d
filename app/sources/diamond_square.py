"""A terrain by midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.model.world import Layer
from app.sources.grid import Grid

if TYPE_CHECKING:
    from app.scene.scene import Scene


def elevation(scene: Scene, grid: Grid) -> Layer:
    """Elevations from about 0 to 1, [row, column]."""
    from kernels.diamond_square import diamond_square

    land = grid.land_rows, grid.land_columns
    roughness = scene.diamond_square.roughness
    return diamond_square(grid.rows, grid.columns, scene.world.seed, roughness, grid.sampling, land)
