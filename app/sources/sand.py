"""Sand on rock: what dunes start from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.model.world import Layer
from app.sources.noise import from_the_middle, rim

# Of a foreland, relative to the map's longer side
MOUNTAINS = 0.42  # how far south they reach
GAP = 0.07  # half the width of the gap between them
GAP_BEND = 0.03  # how far it winds
HILLS = 0.24  # wavelength of its mountains and hills
# and relative to its height
PLAIN = 0.14  # how far it falls from north to south
BASIN = 0.038  # how deep the basin lies in it

if TYPE_CHECKING:
    from app.scene.scene import Scene


def layers(scene: Scene, rows: int, columns: int) -> tuple[Layer, Layer]:
    """The height of the rock and the thickness of the sand on it, `[rows, columns]`, as fractions of the relief."""
    sand = scene.sand
    rock = np.zeros((rows, columns))
    bare: Layer | float = 1.0  # 0 where no sand of a sheet lies
    if sand.rock == "pyramid":
        # Its corners point north, east, south and west: a wind from any of these meets an edge.
        south, east = from_the_middle(rows, columns, 0.5, 0.5)
        rock = sand.rock_height * np.maximum(0.0, 1.0 - (np.abs(south) + np.abs(east)) / sand.rock_radius)
    elif sand.rock == "ridges":
        rock = sand.rock_height * _noise(scene, rows, columns, ridged=True)
    elif sand.rock == "valley":
        # It falls to the south, as far as its sides rise to the west and the east.
        south, east = from_the_middle(rows, columns, 0.5, 0.5)
        rock = sand.rock_height * 0.5 * (0.5 - south + (2.0 * east) ** 2)
    elif sand.rock == "basin":
        bare = rim(np.hypot(*from_the_middle(rows, columns, 0.5, 0.5)) / sand.rock_radius)
        rock = sand.rock_height * bare
    elif sand.rock == "foreland":
        rock = sand.rock_height * _foreland(scene, rows, columns)
    if sand.form in ("row", "column"):
        south, east = from_the_middle(rows, columns, sand.heap_row, sand.heap_column)
        across = south if sand.form == "row" else east
        noise = 1.0 - sand.unevenness * _noise(scene, rows, columns, ridged=False)
        thickness = sand.height * np.maximum(0.0, noise - (across / sand.heap_radius) ** 2)
    elif sand.form == "heap":
        south, east = from_the_middle(rows, columns, sand.heap_row, sand.heap_column)
        thickness = sand.height * np.maximum(0.0, 1.0 - (south**2 + east**2) / sand.heap_radius**2)
    else:
        surface = sand.height * (1.0 - sand.unevenness * _noise(scene, rows, columns, ridged=False))
        thickness = np.maximum(0.0, surface - rock) * bare
    return rock, thickness


def _foreland(scene: Scene, rows: int, columns: int) -> Layer:
    """Mountains in the north, with a winding gap from which a plain falls to a basin: heights from 0 to about 1."""
    south, east = from_the_middle(rows, columns, 0.0, 0.5)
    east = east + GAP_BEND * np.sin(3.0 * math.pi * south / MOUNTAINS)
    mountains = rim(1.0 - south / MOUNTAINS) * (1.0 - np.exp(-((east / GAP) ** 2)))
    rugged = 0.45 + 0.55 * rim(_noise(scene, rows, columns, ridged=True, wavelength=HILLS))
    hills = _noise(scene, rows, columns, ridged=False, wavelength=HILLS) - 0.5
    plain = rows / max(rows, columns) - south + (2.0 * east) ** 2 + 0.25 * hills
    shore = (1.0 + hills) * scene.sand.rock_radius
    basin = rim(np.hypot(*from_the_middle(rows, columns, 0.72, 0.55)) / shore)
    heights: Layer = (1.0 - PLAIN - BASIN) * mountains * rugged + PLAIN * 0.5 * plain + BASIN * basin
    return heights


def _noise(scene: Scene, rows: int, columns: int, ridged: bool, wavelength: float = 0.0) -> Layer:
    """Noise from 0 to 1 that goes on without a step from one edge of the map to the opposite one.

    Its wavelength is that of the sand, if none is given.
    """
    from kernels.noise import fractal_noise

    sand = scene.sand
    # Another seed for the rock, so that its ridges do not follow the sand.
    seed = scene.world.seed + 1 if ridged else scene.world.seed
    noise = fractal_noise(
        2 * rows,
        2 * columns,
        seed,
        (wavelength or sand.wavelength) * max(rows, columns),
        sand.octaves,
        ridged=ridged,
    )
    noise -= noise.mean()
    # Each half fades into the other; the root keeps the hills as high in between as at the edges.
    fade = np.arange(rows)[:, None] / rows
    noise = ((1.0 - fade) * noise[rows:] + fade * noise[:rows]) / np.hypot(1.0 - fade, fade)
    fade = np.arange(columns) / columns
    noise = ((1.0 - fade) * noise[:, columns:] + fade * noise[:, :columns]) / np.hypot(1.0 - fade, fade)
    stretched: Layer = (noise - noise.min()) / np.ptp(noise)
    return stretched
