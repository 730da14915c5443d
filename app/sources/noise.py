"""A terrain of fractal noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.world import Layer

EDGE = 0.02  # of the relief: how rounded the edge of a table land is
UNEVENNESS = 0.08  # part of the hills that is left on a table land

if TYPE_CHECKING:
    from app.scene import Scene


def elevation(scene: Scene, rows: int, columns: int) -> Layer:
    """Elevations from 0 to 1, `[rows, columns]`."""
    from kernels.noise import fractal_noise

    noise = scene.noise
    heights = fractal_noise(
        rows,
        columns,
        scene.world.seed,
        noise.wavelength * max(rows, columns),
        noise.octaves,
        noise.lacunarity,
        noise.gain,
        noise.ridged,
    )
    if not (noise.plateau or noise.tilt or noise.basin):
        return heights
    heights = (heights - heights.min()) / np.ptp(heights)
    heights = _without_tops(heights, 1.0 - noise.plateau)
    south, east = from_the_middle(rows, columns, 0.5, 0.5)
    direction = math.radians(noise.tilt_direction)
    heights -= noise.tilt * (math.sin(direction) * east - math.cos(direction) * south)
    south, east = from_the_middle(rows, columns, noise.basin_row, noise.basin_column)
    heights -= noise.basin * (1.0 - rim(np.hypot(south, east) / noise.basin_radius))
    return heights


def from_the_middle(rows: int, columns: int, row: float, column: float) -> tuple[Layer, Layer]:
    """How far south and east each cell lies of a place on the map, as parts of the map's longer side."""
    south, east = np.mgrid[:rows, :columns].astype(float)
    side = max(rows, columns)
    return (south + 0.5 - row * rows) / side, (east + 0.5 - column * columns) / side


def rim(distance: Layer) -> Layer:
    """From 0 in the middle of a basin to 1 at the distance 1 and beyond, without an edge."""
    part = np.clip(distance, 0.0, 1.0)
    smooth: Layer = part * part * (3.0 - 2.0 * part)
    return smooth


def _without_tops(heights: Layer, level: float) -> Layer:
    """Heights from 0 to 1 that are worn down to a level, with a rounded edge; of what stood higher a little is left."""
    if level >= 1.0:
        return heights
    cut: Layer = -EDGE * np.logaddexp(-heights / EDGE, -level / EDGE)
    return cut + UNEVENNESS * (heights - cut)
