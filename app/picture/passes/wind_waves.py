"""A seamless texture of wind waves."""

from __future__ import annotations

from functools import cache

import moderngl
import numpy as np

from app.picture.passes.detail import bytes_of
from app.picture.passes.mipmaps import Mipmaps

SIDE = 256
LONGEST, SHORTEST = 5.0, 40.0  # waves along the tile
SPREAD = 6.0  # larger values narrow the range of directions


def wind_waves_texture(context: moderngl.Context, mipmaps: Mipmaps) -> moderngl.Texture:
    """RGBA8: slopes along and across the wind (0 at 0.5), height, and the sum of the slopes' squares.

    The total variance of slopes is 0.1. Mipmaps fade the waves with distance; the variance that they lose is the
    difference of the last channel and the squares of the first two.
    """
    texture = context.texture((SIDE, SIDE), 4, _texels())
    mipmaps.build(texture)
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    return texture


@cache
def _texels() -> bytes:
    """The texels, cached, as they are the same for all pictures."""
    generator = np.random.default_rng(7)
    across, along = np.meshgrid(np.fft.fftfreq(SIDE, 1.0 / SIDE), np.fft.fftfreq(SIDE, 1.0 / SIDE), indexing="ij")
    frequency = np.hypot(across, along)
    frequency[0, 0] = 1.0
    # After Phillips (1957): energy falls with the fourth power of frequency, and most of it travels with the wind.
    energy = frequency**-4.0 * (np.abs(along) / frequency) ** SPREAD
    energy *= (frequency >= LONGEST) * np.exp(-((frequency / SHORTEST) ** 2))
    noise = np.fft.fft2(generator.standard_normal((SIDE, SIDE)))
    spectrum = noise * np.sqrt(energy)
    step = 2j * np.pi / SIDE
    height, slope_along, slope_across = (
        np.fft.ifft2(spectrum * factor).real for factor in (1.0, step * along, step * across)
    )
    scale = np.sqrt(0.1 / (slope_along.var() + slope_across.var()))
    slopes = np.clip(scale * np.stack([slope_along, slope_across]), -1.0, 1.0)
    channels = [*(0.5 + 0.5 * slopes), 0.5 + height / (6.0 * height.std()), (slopes**2).sum(axis=0)]
    return bytes_of(channels)
