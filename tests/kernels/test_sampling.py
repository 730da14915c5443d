"""Noise and midpoint displacement as functions of the position: the same land in cells of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.diamond_square import diamond_square
from kernels.noise import fractal_noise
from kernels.sampling import Sampling
from tests.nets.cases import tried


def refined(cells: int) -> Sampling:
    """Each reference cell in `cells`² of them."""
    return Sampling(1.0 / cells, 0.5 / cells - 0.5, 0.5 / cells - 0.5)


def averaged(heights: np.ndarray, cells: int) -> np.ndarray:
    rows, columns = heights.shape
    means: np.ndarray = heights.reshape(rows // cells, cells, columns // cells, cells).mean(axis=(1, 3))
    return means


@tried(50)
@given(wavelength=st.floats(3.0, 500.0), octaves=st.integers(2, 12), cell=st.floats(0.01, 1.0))
def test_octaves_go_on_until_they_are_as_fine_beside_the_cells_as_before(
    wavelength: float, octaves: int, cell: float
) -> None:
    finest = wavelength / 2.0 ** (octaves - 1)
    more = Sampling(cell).finer_octaves(finest, octaves, 2.0)
    assert more >= 0
    if more:
        assert finest / 2.0**more >= cell * min(finest, 2.0) * (1.0 - 1e-6)
    if finest >= 2.0:
        assert 2.0 ** (more + 1) > min(1.0 / cell, finest / (2.0 * cell)) * (1.0 - 1e-6)


def test_a_single_octave_and_larger_cells_have_no_finer_ones() -> None:
    assert Sampling(0.1).finer_octaves(50.0, 1, 2.0) == 0
    assert Sampling(1.0).finer_octaves(50.0, 8, 2.0) == 0
    assert Sampling(3.0).finer_octaves(50.0, 8, 2.0) == 0


@pytest.mark.parametrize("ridged", [False, True])
def test_smaller_cells_show_the_same_noise_and_more_of_it(ridged: bool) -> None:
    usual = fractal_noise(96, 128, 3, 60.0, 5, ridged=ridged)
    fine = fractal_noise(384, 512, 3, 60.0, 5, ridged=ridged, sampling=refined(4))
    seen = averaged(fine, 4)
    assert np.sqrt(np.mean((seen - usual) ** 2)) < 0.012
    assert seen.mean() == pytest.approx(usual.mean(), abs=2e-3)
    # A fourth of the cell has two more octaves, which are in what is left beside the mean.
    assert (fine - np.kron(seen, np.ones((4, 4)))).std() > 0.005


def test_a_place_has_its_noise_wherever_the_map_begins() -> None:
    whole = fractal_noise(40, 50, 2, 20.0)
    part = fractal_noise(10, 20, 2, 20.0, sampling=Sampling(1.0, 12.0, 25.0))
    np.testing.assert_allclose(part, whole[12:22, 25:45], rtol=0.0, atol=1e-12)


def test_points_of_the_coarse_levels_are_those_of_a_land_in_its_own_cells() -> None:
    usual = diamond_square(128, 128, 5, 0.55)
    fine = diamond_square(256, 256, 5, 0.55, Sampling(0.5), (128, 128))
    np.testing.assert_allclose(fine[::2, ::2], usual, rtol=0.0, atol=1e-12)
    # Between them are points of the next iteration, and not a mean of these.
    half = fine[1:-1:2, 1:-1:2] - 0.25 * (usual[:-1, :-1] + usual[1:, :-1] + usual[:-1, 1:] + usual[1:, 1:])
    reach = 0.55**8
    assert 0.3 * reach < np.abs(half).mean() < 0.7 * reach
    assert np.abs(half).max() <= reach


def test_squares_around_a_land_meet_it_without_a_step() -> None:
    wide = diamond_square(192, 192, 5, 0.55, Sampling(1.0, -32.0, -32.0), (128, 128))
    usual = diamond_square(128, 128, 5, 0.55)
    assert np.corrcoef(wide[32:160, 32:160].ravel(), usual.ravel())[0, 1] > 0.8
    steps = np.abs(np.diff(wide, axis=1)).mean(axis=0)
    assert steps[31] < 2.0 * steps.mean()
    assert steps[159] < 2.0 * steps.mean()
