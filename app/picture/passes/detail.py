"""Noise finer than the cells of the map, as a texture that repeats without seams."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.passes.mipmaps import Mipmaps

SIDE = 512


def detail_texture(context: moderngl.Context, mipmaps: Mipmaps) -> moderngl.Texture:
    """RGBA8: a height, its two slopes, and a second height. Mipmaps let it fade with distance."""
    texture = context.texture((SIDE, SIDE), 4, _texels())
    mipmaps.build(texture)
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    return texture


@cache
def _texels() -> bytes:
    """They are the same for all pictures."""
    generator = np.random.default_rng(20)
    frequency = np.hypot(np.fft.fftfreq(SIDE)[:, None], np.fft.rfftfreq(SIDE))
    frequency[0, 0] = 1.0
    height = _periodic_noise(generator, frequency, falloff=0.90)
    other = _periodic_noise(generator, frequency, falloff=1.35)
    east = np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)
    south = np.roll(height, -1, axis=0) - np.roll(height, 1, axis=0)
    steepest = 3.0 * max(east.std(), south.std())
    channels = [0.5 + height / 6.0, 0.5 + east / (2.0 * steepest), 0.5 + south / (2.0 * steepest), 0.5 + other / 6.0]
    return bytes_of(channels)


def bytes_of(channels: Sequence[NDArray[np.float64]]) -> bytes:
    """The texels of channels of one shape, whose values from 0 to 1 become 0 to 255."""
    texels = np.empty((*channels[0].shape, len(channels)), np.uint8)
    for number, channel in enumerate(channels):  # one by one, so that they stay in the processor's cache
        texels[..., number] = np.clip(channel * 255.0 + 0.5, 0, 255)
    return texels.tobytes()


def _periodic_noise(generator: np.random.Generator, frequency: NDArray[np.float64], falloff: float) -> np.ndarray:
    """Noise of unit variance whose amplitude falls with frequency to the power of `falloff`."""
    # The longest waves would show the tile; they are left out.
    spectrum = np.fft.rfft2(generator.standard_normal((SIDE, SIDE))) * frequency**-falloff * (frequency > 2.5 / SIDE)
    noise = np.fft.irfft2(spectrum, s=(SIDE, SIDE))
    scaled: np.ndarray = noise / noise.std()
    return scaled
