"""Terrain for tests."""

import numpy as np
from numpy.typing import NDArray


def hills(rows: int, columns: int, relief: float = 20.0, seed: int = 0) -> NDArray[np.float64]:
    """Hills and valleys with detail at all sizes, float64 metres [row, column] from 0 to `relief`."""
    frequency = np.hypot(np.fft.fftfreq(rows)[:, None], np.fft.fftfreq(columns)[None, :])
    frequency[0, 0] = 1.0
    noise = np.random.default_rng(seed).standard_normal((rows, columns))
    field = np.fft.ifft2(np.fft.fft2(noise) * frequency**-2.0).real
    return np.ascontiguousarray(relief * ((field - field.min()) / np.ptp(field)))


def soil(rows: int, columns: int, depth: float = 1.0, seed: int = 0) -> NDArray[np.float64]:
    """Patches of loose sediment, float64 metres [row, column], with bare rock between them."""
    return np.maximum(0.0, hills(rows, columns, 2.0 * depth, seed + 1000) - depth)
