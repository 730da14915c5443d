"""Small maps of a land in about the colours in which the picture shows it, for the time line and for versions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.layered_map import SNOW as LYING_SNOW
from app.model.plants import GRASS
from app.model.shading import gradient, hill_shade, lit, over, to_pixels
from app.model.view_parameters import ViewParameters
from app.model.world import World, rocks_on_top
from kernels.standing import DRY

THUMBNAIL = 72  # cells along the longer side

# Albedos in linear light, as those of shaders/include/ground.glsl
LUSH = np.array((0.100, 0.119, 0.039))
DRY_GRASS = np.array((0.250, 0.205, 0.110))
ROCK = np.array((0.270, 0.232, 0.192))
SAND = np.array((0.365, 0.298, 0.198))
SNOW = np.array((0.9, 0.9, 0.9))
WET = np.array((0.25, 0.43, 0.60))  # sRGB
BRIGHTER = 3.1  # than the albedo: the light of the sun, as in the minimap
GENTLE, STEEP = 0.25, 0.75  # slopes, between which grass gives way to rock
MOST_GREEN = 0.75  # of a land that is green by its climate
SEEN_SNOW = 0.04  # metres of water
COVER = 0.5  # metres of loose material that hide the rock

Colours = NDArray[np.float64]


def thumbnail(world: World, view: ViewParameters) -> NDArray[np.uint8]:
    """A map of at most `THUMBNAIL` cells a side, with light from the north-west: [row, column, (red, green, blue)]."""
    step = max(1, -(-max(world.shape) // THUMBNAIL))
    cells = np.s_[::step, ::step]
    ground = world.ground[cells]
    linear = _albedo(world, view, cells, ground, world.cell_size * step) * BRIGHTER
    picture = lit(np.clip(linear, 0.0, 1.0) ** (1.0 / 2.2), hill_shade(ground, world.cell_size * step))
    wet = world.standing[cells] != DRY
    return to_pixels(np.where(wet[..., None], WET, picture))


def _albedo(
    world: World, view: ViewParameters, cells: tuple[slice, slice], ground: NDArray[np.float64], cell_size: float
) -> Colours:
    """What covers the ground: plants on gentle slopes, sand, rock or the kinds of it, and snow."""
    slope = np.hypot(*gradient(ground, cell_size))
    bare = np.clip((slope - GENTLE) / (STEEP - GENTLE), 0.0, 1.0)
    if GRASS in world.layers:
        green = np.asarray(world.layers[GRASS][cells], np.float64)
    else:
        green = np.full(ground.shape, MOST_GREEN * view.greenness)
    materials = world.materials
    if materials is not None:
        rocks = np.array([rock.linear_colour for rock in materials.rocks])
        loose = np.array([kind.linear_colour for kind in materials.loose])
        rock = rocks[rocks_on_top(world, cells)]
        mix = world.mix[cells]
        gentle = over(rock, loose[mix.argmax(axis=2)], np.clip(world.loose[cells] / COVER, 0.0, 1.0))
        colours = over(gentle, LUSH, green * (1.0 - view.desert))
    else:
        rock = np.broadcast_to(ROCK, (*ground.shape, 3))
        dry = over(np.broadcast_to(DRY_GRASS, rock.shape), LUSH, green)
        colours = over(dry, SAND, np.full(ground.shape, view.desert))
        rock = over(rock, SAND, np.full(ground.shape, view.desert))
    colours = over(colours, rock, bare)
    height = (ground - ground.min()) / max(float(np.ptp(ground)), 1e-9)
    white = height > view.snow_line
    if LYING_SNOW in world.layers:
        white |= world.layers[LYING_SNOW][cells] > SEEN_SNOW
    return over(colours, SNOW, white.astype(np.float64))
