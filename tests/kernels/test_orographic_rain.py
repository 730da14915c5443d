"""Rain over relief: against the waves and the ridge that the paper's theory solves, and on maps of any shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kernels import orographic_rain as kernel
from kernels.orographic_rain import MoistAir, RainParameters, moist_air, orographic_rain, relative_rain, vapour
from tests.kernels.terrain import hills

AIR = MoistAir(sensitivity=0.009, depth=2500.0)
DELAYS = (1000.0, 700.0)  # s
STABILITY = 0.005  # 1/s
SIDE = 1000.0  # m


def response(south: Any, east: Any, wind: tuple[float, float], stability: float = STABILITY) -> np.ndarray:
    """Rain in mm/h per metre of each wave, plainly as the paper writes it; waves in rad/m, the wind crosses them."""
    sigma = np.asarray(wind[0] * south + wind[1] * east, np.complex128)
    m = np.sqrt((stability**2 - sigma**2) / sigma**2 * (south**2 + east**2))  # where it is imaginary, positively so
    m = np.where(m.imag > 0.0, m, np.sign(sigma.real) * m)
    lift = 3600.0 * AIR.sensitivity * 1j * sigma / (1.0 - 1j * m * AIR.depth)
    return lift / (1.0 + 1j * sigma * DELAYS[0]) / (1.0 + 1j * sigma * DELAYS[1])


def rain(ground: np.ndarray, wind: tuple[float, float] = (0.0, 10.0), **settings: Any) -> np.ndarray:
    return orographic_rain(ground, (SIDE, SIDE), wind, AIR, STABILITY, DELAYS, **settings)


def parameters(**changed: Any) -> RainParameters:
    usual = RainParameters(270.0, 10.0, 15.0, STABILITY, 1000.0, 1000.0, 2.0, 0.0, 20_000.0, False)
    return usual._replace(**changed)


@pytest.mark.parametrize("wind", [(0.0, 10.0), (-6.0, 3.0), (4.0, -9.0)])
@pytest.mark.parametrize("waves", [(0, 1), (0, 9), (3, 1), (2, -5)], ids=str)  # the long ones rise, the short die out
def test_one_wave_is_the_papers(waves: tuple[int, int], wind: tuple[float, float]) -> None:
    rows, columns = 48, 80
    south, east = 2.0 * np.pi * waves[0] / (rows * SIDE), 2.0 * np.pi * waves[1] / (columns * SIDE)
    place = np.arange(rows)[:, None] * SIDE * south + np.arange(columns)[None, :] * SIDE * east
    expected = 400.0 * (response(south, east, wind) * np.exp(1j * place)).real
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(rain(400.0 * np.cos(place), wind, wrap=True), expected, atol=1e-9)


def test_a_bell_shaped_ridge_is_the_papers() -> None:
    """Whose waves are h a exp(−a k), so that its rain is an integral over them."""
    half_width, height = 15_000.0, 500.0
    east = (np.arange(512) - 255.5) * SIDE
    waves = (np.arange(20_000) + 0.5) * 1e-7
    each = height * half_width * np.exp(-half_width * waves) * response(0.0, waves, (0.0, 10.0)) * 1e-7
    expected = np.array([(each * np.exp(1j * waves * x)).sum().real for x in east[::8]])
    found = rain(np.tile(height / (1.0 + (east / half_width) ** 2), (12, 1)))
    np.testing.assert_allclose(found[3, ::8], expected, atol=0.01 * expected.max())
    assert expected.argmax() < 32 < expected.argmin()  # wet on the windward side, dry behind


@pytest.mark.parametrize("shape", [(61, 83), (96, 40)], ids=str)
def test_a_land_is_the_plain_transcription_over_level_surroundings(shape: tuple[int, int]) -> None:
    rows, columns = shape
    place = np.hypot((np.arange(rows)[:, None] - 0.5 * rows) / 6.0, (np.arange(columns) - 0.4 * columns) / 4.0)
    land = 900.0 * np.exp(-0.5 * place**2) * hills(rows, columns)
    wide = np.pad(land, 256)
    south = 2.0 * np.pi * np.fft.fftfreq(wide.shape[0], SIDE)[:, None]
    east = 2.0 * np.pi * np.fft.fftfreq(wide.shape[1], SIDE)
    wind = (5.0, 8.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        factors = np.nan_to_num(response(south, east, wind))
    expected = np.fft.ifft2(factors * np.fft.fft2(wide)).real[256:-256, 256:-256]
    np.testing.assert_allclose(rain(land, wind), expected, atol=0.01 * np.abs(expected).max())


def test_mirrored_land_and_wind_give_mirrored_rain() -> None:
    land = hills(37, 53, seed=4) * 800.0
    usual = relative_rain(land, None, SIDE, parameters())
    mirrored = relative_rain(np.ascontiguousarray(land[:, ::-1]), None, SIDE, parameters(wind_direction=90.0))
    turned = relative_rain(np.ascontiguousarray(land.T), None, SIDE, parameters(wind_direction=0.0))
    np.testing.assert_allclose(mirrored[:, ::-1], usual, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(turned.T, usual, rtol=1e-5, atol=1e-5)
    assert usual.std() > 0.05


@pytest.mark.parametrize("shape", [(8, 8), (1, 9), (8, 301), (257, 130)], ids=str)
@pytest.mark.parametrize("wrap", [False, True])
def test_maps_of_any_shape(shape: tuple[int, int], wrap: bool) -> None:
    """Also where no node has as many cells as the next one."""
    land = 500.0 * np.sin(np.arange(shape[0])[:, None] / 5.0) * np.cos(np.arange(shape[1]) / 7.0)
    found = relative_rain(land, land < -200.0, 500.0, parameters(wrap=wrap, uptake=1.0, wind_direction=200.0))
    assert found.shape == shape and found.dtype == np.float32
    assert found.min() >= 0.0
    assert found.mean(dtype=np.float64) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("changed", [{"air_speed": 0.0}, {"wind_direction": 30.0}], ids=str)
def test_level_land_and_still_air_have_the_same_rain_everywhere(changed: dict[str, float]) -> None:
    land = hills(30, 40) * 900.0 if "air_speed" in changed else np.full((30, 40), 700.0)
    np.testing.assert_allclose(relative_rain(land, None, SIDE, parameters(**changed)), 1.0, rtol=1e-6)


def test_a_higher_foot_on_all_sides_is_no_slope() -> None:
    land = 300.0 * hills(40, 40)
    np.testing.assert_allclose(rain(land + 2000.0), rain(land), atol=1e-8)


def test_one_land_at_two_resolutions() -> None:
    coarse = 800.0 * hills(96, 112, seed=2)
    fine = coarse.repeat(4, axis=0).repeat(4, axis=1)
    of_coarse = relative_rain(coarse, None, SIDE, parameters())
    of_fine = relative_rain(fine, None, SIDE / 4.0, parameters())
    of_fine = of_fine.reshape(96, 4, 112, 4).mean(axis=(1, 3))
    assert np.abs(of_fine - of_coarse).max() < 0.02 * of_coarse.max()


def test_vapour_comes_from_water_and_is_lost_behind_it() -> None:
    water = np.zeros((24, 120))
    water[:, :30] = 1.0
    moist = vapour(water, (SIDE, SIDE), (0.0, 1.0), 20_000.0)[12]
    assert moist[29] > 0.7
    behind = moist[40] / moist[70]
    assert behind == pytest.approx(math.exp(30.0 / 20.0), rel=0.15)
    against = vapour(water, (SIDE, SIDE), (0.0, -1.0), 20_000.0)[12]
    assert against[32:60].max() < 0.3
    wet = relative_rain(np.zeros((24, 120)), water > 0.0, SIDE, parameters(uptake=1.0))
    assert wet[12, 29] > 1.3 * wet[12, 110]


def test_air_of_the_paper() -> None:
    """Near 7 °C its lapse rates, 6.5 K/km along a moist adiabat and 5.8 of the air, are as stable as 0.005 1/s."""
    air = moist_air(7.0, 0.005)
    assert air.sensitivity == pytest.approx(0.0085, rel=0.1)
    assert air.depth == pytest.approx(2900.0, rel=0.1)
    assert moist_air(-10.0, 0.005).sensitivity < 0.4 * air.sensitivity


def test_no_rain_at_all_falls_on_all_cells_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "orographic_rain", lambda ground, *_, **__: np.full(ground.shape, -5.0))
    assert (relative_rain(hills(20, 20), None, SIDE, parameters()) == 1.0).all()
