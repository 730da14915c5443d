"""Fractal noise: its range, its sizes, its symmetry, and the same bits everywhere."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.noise import fractal_noise, simplex


def layer(octaves: int = 1, wavelength: float = 16.0, seed: int = 3, side: int = 512) -> NDArray[np.float64]:
    return fractal_noise(side, side, seed, wavelength, octaves=octaves)


@pytest.mark.parametrize("ridged", [False, True])
@pytest.mark.parametrize("octaves", [1, 8])
def test_range(ridged: bool, octaves: int) -> None:
    heights = fractal_noise(400, 300, 1, 20.0, octaves=octaves, ridged=ridged)
    assert heights.shape == (400, 300)
    assert heights.dtype == np.float64
    assert heights.min() >= 0.0
    assert heights.max() <= 1.0
    assert np.ptp(heights) > 0.5
    if not ridged:
        assert heights.mean() == pytest.approx(0.5, abs=0.02)


def test_simplex_noise_reaches_its_bounds_and_keeps_them() -> None:
    points = np.random.default_rng(0).uniform(-500.0, 500.0, (50_000, 2))
    values = np.array([simplex(np.uint64(7), x, y) for x, y in points])
    assert np.abs(values).max() <= 1.0
    assert values.max() > 0.9
    assert values.min() < -0.9
    assert abs(values.mean()) < 0.02


def test_simplex_noise_is_smooth() -> None:
    """Across the sides of triangles and of squares, too: value and slope change little over a short way."""
    way = np.array([simplex(np.uint64(1), 0.37 * t, 0.61 * t) for t in np.linspace(0.0, 20.0, 40_001)])
    slope = np.diff(way) / (20.0 / 40_000)
    assert np.abs(np.diff(way)).max() < 0.005
    assert np.abs(np.diff(slope)).max() < 0.05


@pytest.mark.parametrize("octaves", [1, 6])
def test_a_cell_depends_on_its_place_alone(octaves: int, two_threads: int) -> None:
    numba.set_num_threads(1)
    whole = fractal_noise(200, 300, 5, 40.0, octaves=octaves)
    numba.set_num_threads(two_threads)
    assert whole.tobytes() == fractal_noise(200, 300, 5, 40.0, octaves=octaves).tobytes()
    assert np.array_equal(whole[:8, :90], fractal_noise(8, 90, 5, 40.0, octaves=octaves))


def test_seeds_are_uncorrelated() -> None:
    first, second = layer(seed=1) - 0.5, layer(seed=2) - 0.5
    assert abs((first * second).mean() / (first.std() * second.std())) < 0.05
    assert not np.array_equal(first, second)


def test_wavelength() -> None:
    """Neighbouring hills are about a wavelength apart: that is where most of the power is."""
    for wavelength in (16.0, 40.0):
        power = np.abs(np.fft.fft2(layer(wavelength=wavelength) - 0.5)) ** 2
        frequency = np.fft.fftfreq(512)
        k = np.hypot(*np.meshgrid(frequency, frequency))
        mean_wavelength = 1.0 / ((power * k).sum() / power.sum())
        assert 0.5 * wavelength < mean_wavelength < 1.5 * wavelength


def test_no_direction_is_favoured() -> None:
    """Slopes of many octaves point into all eight directions about equally often."""
    strength = np.zeros(8)
    for seed in range(6):
        down, right = np.gradient(layer(octaves=6, wavelength=60.0, seed=seed))
        octant = np.floor((np.arctan2(down, right) / (2.0 * np.pi) % 1.0) * 8.0).astype(int) % 8
        strength += np.bincount(octant.ravel(), np.hypot(down, right).ravel(), minlength=8)
    assert strength.max() / strength.min() < 1.2


def test_gain_and_lacunarity() -> None:
    """More gain is rougher; one octave without a second is what gain 0 leaves."""
    rough = [np.abs(np.diff(fractal_noise(256, 256, 1, 64.0, gain=gain))).mean() for gain in (0.3, 0.5, 0.7)]
    assert rough[0] < rough[1] < rough[2]
    finer = [np.abs(np.diff(fractal_noise(256, 256, 1, 64.0, 3, lacunarity))).mean() for lacunarity in (1.5, 2.5)]
    assert finer[0] < finer[1]
    np.testing.assert_allclose(fractal_noise(64, 64, 1, 20.0, 5, gain=0.0), fractal_noise(64, 64, 1, 20.0, 1))
    assert np.isfinite(fractal_noise(64, 64, 1, 20.0, 5, gain=1.0)).all()


def test_ridges_are_sharp_on_top_and_smooth_below() -> None:
    heights = fractal_noise(400, 400, 2, 80.0, ridged=True)
    inner = heights[1:-1, 1:-1]
    bend = np.abs(heights[2:, 1:-1] + heights[:-2, 1:-1] + heights[1:-1, 2:] + heights[1:-1, :-2] - 4.0 * inner)
    low, high = np.quantile(inner, [0.2, 0.9])
    assert bend[inner > high].mean() > 3.0 * bend[inner < low].mean()
