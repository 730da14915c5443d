"""Noise finer than the cells of the map, as a texture that repeats without seams."""

from __future__ import annotations

from functools import cache

import moderngl
import numpy as np

from app.picture.passes import unlocked

SIDE = 512


def detail_texture(context: moderngl.Context) -> moderngl.Texture:
    """RGBA8: a height, its two slopes, and a second height. Mipmaps let it fade with distance."""
    texture = context.texture((SIDE, SIDE), 4, _texels())
    unlocked.build_mipmaps(texture)
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    return texture


@cache
def _texels() -> bytes:
    """They are the same for all pictures."""
    generator = np.random.default_rng(20)
    height = _periodic_noise(generator, falloff=0.90)
    other = _periodic_noise(generator, falloff=1.35)
    east = np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)
    south = np.roll(height, -1, axis=0) - np.roll(height, 1, axis=0)
    steepest = 3.0 * max(east.std(), south.std())
    channels = [0.5 + height / 6.0, 0.5 + east / (2.0 * steepest), 0.5 + south / (2.0 * steepest), 0.5 + other / 6.0]
    return np.clip(np.stack(channels, axis=-1) * 255.0 + 0.5, 0, 255).astype(np.uint8).tobytes()


def _periodic_noise(generator: np.random.Generator, falloff: float) -> np.ndarray:
    """Noise of unit variance whose amplitude falls with frequency to the power of `falloff`."""
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(SIDE), np.fft.rfftfreq(SIDE), indexing="ij"))
    frequency[0, 0] = 1.0
    # The longest waves would show the tile; they are left out.
    spectrum = np.fft.rfft2(generator.standard_normal((SIDE, SIDE))) * frequency**-falloff * (frequency > 2.5 / SIDE)
    noise = np.fft.irfft2(spectrum, s=(SIDE, SIDE))
    scaled: np.ndarray = noise / noise.std()
    return scaled
