"""Waves on a plane beach in NumPy, from their formulas: linear theory, with Newton's method in place of a fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.wave_parameters import WaveParameters
from app.picture.passes.waves import SeaState

Array = NDArray[np.float64]


def wave_number(deep: float, depth: Array) -> Array:
    """k of `deep` = k · tanh(k · depth), the dispersion of waves of one period (Airy 1841)."""
    number = deep / np.sqrt(np.tanh(deep * depth))
    for _ in range(8):
        tanh = np.tanh(number * depth)
        excess = number * tanh - deep
        number = number - excess / (tanh + number * depth * (1.0 - tanh**2))
    return number


def phase(deep: float, slope: float, away: Array) -> Array:
    """∫ k over the way from the shore to `away` metres off it, where the depth is slope · way."""
    steps = (np.arange(300) + 0.5) / 300
    points = np.geomspace(away.min(), away.max(), 200)
    integral = (wave_number(deep, slope * points[:, None] * steps**2) * 2.0 * steps).mean(axis=-1) * points
    return np.interp(away, points, integral)


def height(sea: SeaState, waves: WaveParameters, slope: float, away: Array, phase: Array) -> Array:
    """Of the water over its still level, metres, where nothing shelters the shore or scatters its waves."""
    depth = slope * away
    shoaled = sea.height * np.maximum(0.36 / (sea.wave_number * depth), 1.0) ** 0.25
    breaking = shoaled / (0.78 * depth)
    tall = shoaled / (1.0 + breaking**4) ** 0.25
    eased = np.clip((breaking - 0.25) / 0.75, 0.0, 1.0)
    trough = 0.5 + 0.38 * waves.steep_fronts * eased**2 * (3.0 - 2.0 * eased)
    age = phase / (2.0 * np.pi) % 1.0
    part = np.where(age < trough, age / trough, (1.0 - age) / (1.0 - trough))
    swing = 1.0 - part * part * (3.0 - 2.0 * part)
    return tall * (swing * (0.5 + 0.5 * swing) - 0.4357)
