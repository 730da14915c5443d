"""A terrain of fractal noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.model.layered_map import Layer
from app.sources.grid import Grid
from app.sources.land_scene import LandScene

EDGE = 0.02  # rounding of the edge of a mesa, as a fraction of the relief
UNEVENNESS = 0.08  # fraction of the hills that is left on a mesa

# Frequency and amplitude of a valley's second bends relative to the first. Their ratio is irrational, so that no two
# bends are alike.
SWINGS = 1.618
SWING = 0.45

# A moraine: its half-width relative to the map's longer side, how far its ends reach up the valley and the half-width
# of a breach, both relative to the valley's.
MORAINE = 0.03
ARC = 0.5
BREACH = 0.16

if TYPE_CHECKING:
    from app.sources.parameters import NoiseParameters


def elevation(scene: LandScene, grid: Grid) -> Layer:
    """Elevations, [row, column], before they are stretched to the relief."""
    noise = scene.noise
    heights = _hills(scene, grid)
    if not (noise.plateau or noise.tilt or noise.basin or noise.valley):
        return heights
    land = heights if grid.is_land else _hills(scene, grid.land)
    heights = (heights - land.min()) / np.ptp(land)
    hills = heights
    heights = _without_tops(heights, 1.0 - noise.plateau)
    south, east = from_the_middle(grid, 0.5, 0.5)
    direction = math.radians(noise.tilt_direction)
    heights -= noise.tilt * (math.sin(direction) * east - math.cos(direction) * south)
    south, east = from_the_middle(grid, noise.basin_row, noise.basin_column)
    heights -= noise.basin * (1.0 - rim(np.hypot(south, east) / noise.basin_radius))
    if noise.valley:
        heights -= _valley(noise, hills, grid, scene.world.seed)
    return heights


def _hills(scene: LandScene, grid: Grid) -> Layer:
    from kernels.noise import fractal_noise

    noise = scene.noise
    return fractal_noise(
        grid.rows,
        grid.columns,
        scene.world.seed,
        noise.wavelength * grid.side,
        noise.octaves,
        noise.lacunarity,
        noise.gain,
        noise.ridged,
        grid.sampling,
    )


def _valley(noise: NoiseParameters, hills: Layer, grid: Grid, seed: int) -> Layer:
    """Depth of a winding valley below the land around, relative to the relief of the hills, which are from 0 to 1."""
    from kernels.random import process_number, stream, uniform

    south, east = from_the_middle(grid, noise.valley_row, noise.valley_column)
    direction = math.radians(noise.valley_direction)
    along = math.sin(direction) * east - math.cos(direction) * south
    across = math.cos(direction) * east + math.sin(direction) * south
    key = np.uint64(stream(seed, process_number("valley"), 0))
    middle, slant = np.zeros_like(along), np.zeros_like(along)
    for number, (frequency, swing) in enumerate(((1.0, 1.0), (SWINGS, SWING))):
        turn = 2.0 * math.pi * frequency / noise.valley_wavelength
        phase = turn * along + 2.0 * math.pi * uniform(key, number)
        middle += noise.valley_winding * swing * np.sin(phase)
        slant += noise.valley_winding * swing * turn * np.cos(phase)
    # Where the valley is oblique, its centreline is closer than along a column or row.
    distance = np.abs(across - middle) / np.sqrt(1.0 + slant * slant)
    width = noise.valley_width * np.maximum(1.0 - noise.valley_spurs * (2.0 * hills - 1.0), 0.1)
    deep = noise.valley * np.maximum(1.0 + noise.valley_fall * along, 0.0)
    # V-shaped, so that a river stays in one bed, and land slopes down to it from the rim on.
    part = np.minimum(np.maximum(1.0 - distance / width, 0.0) / (1.0 - noise.valley_floor), 1.0)
    if noise.moraine:
        # An arc left by the ice, with a breach that a stream has cut.
        beyond = (along - noise.moraine_place + ARC * (across - middle) ** 2 / noise.valley_width) / MORAINE
        breach = noise.moraine_breach * np.exp(-((distance / (BREACH * noise.valley_width)) ** 2))
        part *= 1.0 - noise.moraine * np.exp(-beyond * beyond) * (1.0 - breach)
    depth: Layer = deep * part
    return depth


def from_the_middle(grid: Grid, row: float, column: float) -> tuple[Layer, Layer]:
    """Offsets (south, east) of each cell from a place on the land, relative to its longer side."""
    cell, first_south, first_east = grid.sampling
    south, east = np.mgrid[: grid.rows, : grid.columns].astype(float)
    south, east = south * cell + first_south, east * cell + first_east
    return (
        (south + 0.5 - row * grid.land_rows) / grid.side,
        (east + 0.5 - column * grid.land_columns) / grid.side,
    )


def rim(distance: Layer) -> Layer:
    """A smooth rise from 0 at the centre of a basin to 1 at a distance of 1 and beyond."""
    part = np.clip(distance, 0.0, 1.0)
    smooth: Layer = part * part * (3.0 - 2.0 * part)
    return smooth


def _without_tops(heights: Layer, level: float) -> Layer:
    """Heights from 0 to 1, truncated at a level with a rounded edge; a little of the higher relief remains."""
    if level >= 1.0:
        return heights
    cut: Layer = -EDGE * np.logaddexp(-heights / EDGE, -level / EDGE)
    return cut + UNEVENNESS * (heights - cut)
