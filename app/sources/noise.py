"""A terrain of fractal noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.world import Layer

if TYPE_CHECKING:
    from app.scene import Scene


def elevation(scene: Scene, rows: int, columns: int) -> Layer:
    """Elevations from 0 to 1, `[rows, columns]`."""
    from kernels.noise import fractal_noise

    noise = scene.noise
    return fractal_noise(
        rows,
        columns,
        scene.world.seed,
        noise.wavelength * max(rows, columns),
        noise.octaves,
        noise.lacunarity,
        noise.gain,
        noise.ridged,
    )
