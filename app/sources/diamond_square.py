"""A terrain by midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

from __future__ import annotations

from app.model.layered_map import Layer
from app.sources.grid import Grid
from app.sources.land_scene import LandScene
from app.sources.parameters import read_corners


def elevation(scene: LandScene, grid: Grid) -> Layer:
    """Elevations from about 0 to 1, [row, column]."""
    from kernels.diamond_square import diamond_square

    land = grid.land_rows, grid.land_columns
    own = scene.diamond_square
    corners = read_corners(own.corners)
    return diamond_square(grid.rows, grid.columns, scene.world.seed, own.roughness, grid.sampling, land, corners)
