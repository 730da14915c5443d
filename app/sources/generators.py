"""The generators of terrain, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from app.model.layered_map import Layer
from app.sources import diamond_square, island, noise, sand
from app.sources.grid import Grid, reference_cell, relief_of
from app.sources.land_scene import LandScene
from app.sources.mountain_range import GeneratedLand, mountain_range
from app.sources.parameters import DIAMOND_SQUARE, ISLAND, NOISE, RANGE, SAND
from app.sources.wearing import wear_of

# A generator makes heights, or heights of rock and thickness of loose material, as fractions of the relief, on a grid
# with cells no larger than the reference cells. Relief and cell size come from the scene. Or it makes a land in metres
# on any grid.
Generator = Callable[[LandScene, Grid], Layer | tuple[Layer, Layer] | GeneratedLand]

DETAIL = 0.1  # of a reference cell: this much wear removes most finer forms

GENERATORS: dict[str, Generator] = {
    NOISE: noise.elevation,
    DIAMOND_SQUARE: diamond_square.elevation,
    SAND: sand.layers,
    ISLAND: island.layers,
    RANGE: mountain_range,
}

DEFAULT_SIDE = 512  # cells


def generate(scene: LandScene, grid: Grid) -> GeneratedLand:
    """The land of a generator: rock and loose material, or all of the ground as rock.

    Cells larger than reference cells have their mean. The relief is measured in reference cells: with larger cells,
    summits are lower; smaller cells, and cells beyond the land, may be higher.
    """
    generator = GENERATORS[scene.world.source]
    if generator is mountain_range:
        return _with_relief(mountain_range(scene, grid), scene.world.relief)
    relief = relief_of(scene, grid)
    made = generator(scene, grid.finest)
    assert not isinstance(made, GeneratedLand)
    if isinstance(made, tuple):
        rock, loose = (_averaged(layer, grid) for layer in made)
        land = GeneratedLand(relief * rock, relief * loose)
        lowest, highest = 0.0, 1.0
    else:
        span = made if grid.is_land else generator(scene, grid.land)
        assert isinstance(span, np.ndarray)
        lowest, highest = float(span.min()), float(span.max())
        land = GeneratedLand(_averaged(stretched(made, relief, lowest, highest), grid))
    if not scene.world.worn or generator is sand.layers:
        return land
    if grid.cell < 1.0:  # wear is computed in reference cells, so that it is the same at any resolution
        made = generator(scene, grid.in_reference_cells)
    heights = made[0] if isinstance(made, tuple) else made
    assert isinstance(heights, np.ndarray)
    heights = stretched(heights, relief, lowest, highest)
    metres = grid.in_reference_cells.cell * reference_cell(scene)
    wear = wear_of(scene, heights, metres)
    alluvium = _averaged(wear.alluvium, grid).clip(min=0.0)
    # Forms finer than reference cells are worn away with their ground.
    detail = (land.rock - _averaged(heights, grid)) * np.exp(-np.abs(_averaged(wear.change, grid)) / (DETAIL * metres))
    ground = _averaged(heights + wear.change, grid) + detail
    return GeneratedLand(ground - alluvium - scene.world.soil_depth, alluvium, scene.world.worn)


def is_worn(scene: LandScene) -> bool:
    """Whether the generated land of a scene is eroded over geological time."""
    return scene.world.source == RANGE or (scene.world.source in GENERATORS and scene.world.worn > 0.0)


def _with_relief(land: GeneratedLand, relief: float) -> GeneratedLand:
    """A land in metres, scaled to this relief above its lowest place; 0: unchanged."""
    if not relief or land.loose is None:
        return land
    ground = land.rock + land.loose
    lowest, highest = float(ground.min()), float(ground.max())
    return replace(land, rock=lowest + stretched(ground, relief, lowest, highest) - land.loose)


def stretched(heights: Layer, relief: float, lowest: float, highest: float) -> Layer:
    """Rescale heights linearly, so that `lowest` becomes 0 and `highest` becomes `relief`."""
    return (heights - lowest) * (relief / (highest - lowest) if highest > lowest else 0.0)


def _averaged(heights: Layer, grid: Grid) -> Layer:
    """Heights in the cells of a grid."""
    from app.sources.heightmap import resample

    return heights if heights.shape == (grid.rows, grid.columns) else resample(heights, grid.rows, grid.columns)
