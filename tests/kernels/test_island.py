"""Islands: noise against a plain one, cones, cliffs, craters, the floor of the sea, and the same bits everywhere."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels import island
from kernels.island import Cone, cubic_noise, elevation, places
from kernels.sampling import NATIVE
from tests.kernels.parameters import island_parameters
from tests.nets.cases import tried

Layer = NDArray[np.float64]

ALONE = [Cone(0.5, 0.5, 1.0)]
PLAIN = island_parameters(wavelength=24.0, cliffs=False, craters=False)


def noise(side: int = 200, seed: int = 3, octaves: int = 1, wavelength: float = 16.0) -> Layer:
    return cubic_noise(side, side, seed, 4, wavelength, octaves, 1.7, 0.5)


@pytest.mark.parametrize("octaves", [1, 6])
def test_noise_keeps_its_range(octaves: int) -> None:
    layer = noise(400, octaves=octaves, wavelength=8.0)
    assert 0.0 <= layer.min() < layer.max() <= 1.0
    assert layer.mean() == pytest.approx(0.5, abs=0.02)
    assert layer.std() > 0.05


def test_noise_is_the_articles_cubic_through_values_at_its_corners() -> None:
    """The article's interpolation once more, on a grid that is not turned."""
    values = np.random.default_rng(5).random((12, 14))
    frequency, shape = 0.23, (29, 41)
    total = np.zeros(shape)
    island._add_noise(total, values, frequency, 1.0, 0.0, 0.3, 0.6, 1.0, 0.0, *NATIVE)

    def cubic(p: Layer, x: float) -> float:
        a, b, c, d = p
        # Slopes at b and c are c − a and d − b.
        basis = np.array([[2, -2, 1, 1], [-3, 3, -2, -1], [0, 0, 1, 0], [1, 0, 0, 0]])
        return float(np.array([x**3, x**2, x, 1.0]) @ basis @ np.array([b, c, c - a, d - b]))

    for row in range(0, shape[0], 4):
        for column in range(0, shape[1], 5):
            y, x = frequency * row + 0.3, frequency * column + 0.6
            i, j = int(y), int(x)
            rows = np.array([cubic(values[i + k, j : j + 4], x - j) for k in range(4)])
            expected = np.clip(0.25 + 0.5 * cubic(rows, y - i), 0.0, 1.0)
            assert total[row, column] == pytest.approx(expected, abs=1e-12)


def test_noise_is_smooth_and_its_wavelength_is_as_asked() -> None:
    layer = noise(256, wavelength=32.0)
    assert np.abs(np.diff(layer, axis=0)).max() < 0.1
    # The first octave hardly changes from cell to cell, and is another one a wavelength on.
    near = np.corrcoef(layer[:, 4:].ravel(), layer[:, :-4].ravel())[0, 1]
    far = np.corrcoef(layer[:, 64:].ravel(), layer[:, :-64].ravel())[0, 1]
    assert near > 0.9
    assert abs(far) < 0.35


def test_noise_runs_in_no_direction() -> None:
    """Over many seeds, because each is turned as a whole."""
    down, across = (
        np.mean([np.square(np.diff(noise(128, seed), axis=axis)).mean() for seed in range(40)]) for axis in (0, 1)
    )
    assert down == pytest.approx(across, rel=0.15)


@pytest.mark.parametrize("shape", [(8, 8), (8, 90), (128, 96), (251, 501)])
def test_an_island_has_sea_around_it_and_the_sea_is_at_0(shape: tuple[int, int]) -> None:
    z = elevation(*shape, 1, ALONE, island_parameters(wavelength=0.2 * max(shape)))
    assert z.shape == shape
    edge = np.concatenate([z[0], z[-1], z[:, 0], z[:, -1]])
    assert (edge < 0.0).all()
    assert z.max() == pytest.approx(0.75)
    assert z.min() >= -0.25
    assert 0.02 < (z > 0.0).mean() < 0.7


def test_the_floor_slopes_away_from_the_coast_and_is_flat_far_out() -> None:
    z = elevation(160, 160, 2, [Cone(0.5, 0.5, 0.4)], PLAIN._replace(floor_reach=1.8))
    row, column = np.mgrid[:160, :160]
    away = 2.0 * np.hypot((row + 0.5) / 160 - 0.5, (column + 0.5) / 160 - 0.5) / 0.4
    assert np.ptp(z[away > 1.81]) == 0.0
    assert z[away > 1.81].max() == z.min() == -0.25
    rings = [z[(away >= inner) & (away < inner + 0.1)].mean() for inner in np.arange(1.0, 1.8, 0.1)]
    assert (np.diff(rings) < 0.0).all()


def test_height_across_the_coast_has_no_step() -> None:
    z = elevation(300, 300, 4, ALONE, PLAIN._replace(wavelength=80.0, octaves=2))
    assert max(np.abs(np.diff(z, axis=axis)).max() for axis in (0, 1)) < 0.06


def test_cliffs_are_where_the_threshold_is_above_the_sea() -> None:
    """What stood below the threshold is gone into the sea; what stood above it has not moved."""
    parameters = island_parameters(wavelength=60.0, craters=False)
    with_cliffs = elevation(256, 256, 1, ALONE, parameters)
    without = elevation(256, 256, 1, ALONE, parameters._replace(cliffs=False))
    assert (with_cliffs <= without + 1e-12).all()
    unmoved = np.isclose(with_cliffs, without)
    assert unmoved[without > 0.75 * (parameters.cliff_high - parameters.coast) / (1.0 - parameters.coast)].all()
    assert (~unmoved & (without > 0.0)).sum() > 500

    # Higher thresholds leave steeper coasts.
    def steepness(z: Layer) -> float:
        slope = np.hypot(*np.gradient(z))
        return float(slope[(z > 0.0) & (z < 0.05)].mean())

    high = elevation(256, 256, 1, ALONE, parameters._replace(cliff_low=0.25, cliff_high=0.3))
    assert steepness(high) > 2.0 * steepness(without)


def test_craters_mirror_what_stands_above_their_rim() -> None:
    h = np.linspace(0.0, 1.0, 101).reshape(1, -1).repeat(8, axis=0)
    dug = h.copy()
    island._dig_craters(dug, np.full(h.shape, 0.5), 0.8, 0.3, 0.5, 0.1)
    below = h <= 0.8
    assert np.array_equal(dug[below], h[below])
    np.testing.assert_allclose(dug[~below], 0.8 - 0.5 * (h[~below] - 0.8))
    # An uneven rim: the noise shifts it by half of the unevenness up and down.
    rim = h.copy()
    island._dig_craters(rim, np.where(np.arange(101) % 2, 1.0, 0.0) * np.ones((8, 1)), 0.8, 0.3, 0.5, 0.1)
    assert rim.max() == pytest.approx(0.95, abs=0.011)


def test_a_volcano_has_a_crater_with_a_rim_around() -> None:
    parameters = island_parameters(wavelength=300.0, octaves=1, crater_threshold=0.7, crater_unevenness=0.0)
    z = elevation(200, 200, 3, ALONE, parameters)
    whole = elevation(200, 200, 3, ALONE, parameters._replace(craters=False))
    top = np.unravel_index(whole.argmax(), z.shape)
    assert z[top] < 0.9 * z.max()


def test_islands_stand_where_they_are_asked_for() -> None:
    cones = [Cone(0.25, 0.3, 0.35), Cone(0.75, 0.7, 0.35)]
    z = elevation(200, 200, 1, cones, PLAIN)
    land = z > 0.0
    assert land[:100, :100].any() and land[100:, 100:].any()
    assert not land[:100, 120:].any() and not land[120:, :80].any()


@pytest.mark.parametrize("number", [1, 2, 7, 40])
def test_places_are_on_the_map_apart_and_follow_the_seed(number: int) -> None:
    cones = places(number, 0.3, 0.9, 0.5, seed=5)
    assert cones == places(number, 0.3, 0.9, 0.5, seed=5)
    assert len(cones) == number
    if number == 1:
        assert cones == [Cone(0.5, 0.5, 0.3)]
        return
    assert cones != places(number, 0.3, 0.9, 0.5, seed=6)
    for cone in cones:
        assert 2.0 * math.hypot(cone.east - 0.5, cone.south - 0.5) + cone.radius <= 1.0 + 1e-12
        assert 0.15 <= cone.radius <= 0.3
    if number <= 7:
        gaps = [math.dist(a[:2], b[:2]) for a in cones for b in cones if a is not b]
        assert min(gaps) > 0.1


@tried(60)
@given(
    rows=st.integers(8, 40),
    columns=st.integers(8, 40),
    seed=st.integers(0, 2**31 - 1),
    cones=st.lists(
        st.builds(Cone, st.floats(-10.0, 10.0), st.floats(-10.0, 10.0), st.sampled_from([1e-3, 0.5, 10.0])),
        max_size=3,
    ),
    wavelength=st.sampled_from([0.1, 7.0, 300.0]),
    octaves=st.sampled_from([1, 12]),
    lacunarity=st.sampled_from([1.2, 4.0]),
    gain=st.sampled_from([0.1, 0.9]),
    power=st.sampled_from([0.5, 8.0]),
    cone_power=st.sampled_from([0.5, 8.0]),
    coast=st.sampled_from([0.005, 0.95]),
    cliff_low=st.sampled_from([0.001, 1.0]),
    cliff_high=st.sampled_from([0.001, 1.0]),
    cliff_power=st.sampled_from([0.0, 8.0]),
    crater_threshold=st.sampled_from([0.05, 1.0]),
    crater_unevenness=st.sampled_from([0.0, 1.0]),
    crater_slope=st.sampled_from([0.0, 2.0]),
    ocean_depth=st.sampled_from([0.0, 0.95]),
    floor_reach=st.sampled_from([1.0, 4.0]),
)
def test_never_worse_than_odd(rows: int, columns: int, seed: int, cones: list[Cone], **parameters: float) -> None:
    """All sea, all land, tiny maps, the ends of all ranges: finite, and within the relief."""
    p = island_parameters(cliff_wavelength=5.0, crater_wavelength=9.0, **parameters)
    z = elevation(rows, columns, seed, cones, p)
    assert np.isfinite(z).all()
    assert z.max() <= 1.0 - p.ocean_depth + 1e-9
    if not cones:
        assert (z == -p.ocean_depth).all()


def test_another_seed_is_another_island_on_any_number_of_threads(two_threads: int) -> None:
    p = island_parameters(wavelength=20.0)
    results = []
    for threads, seed in ((1, 1), (two_threads, 1), (1, 2)):
        numba.set_num_threads(threads)
        results.append(elevation(60, 75, seed, ALONE, p).tobytes())
    assert results[0] == results[1] != results[2]
