"""A plate that bends under loads, beside the solutions of Turcotte and Schubert (2014)."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.flexure import GRAVITY, deflection, flexural_parameter, rigidity

MANTLE = 3300.0


@pytest.mark.parametrize("waves", [(1, 0), (3, 2), (0, 12)])
@pytest.mark.parametrize("thickness", [0.0, 5e3, 40e3])
def test_a_wave_of_load_bends_it_by_as_much_as_the_law_says(waves: tuple[int, int], thickness: float) -> None:
    """w = q / (Δρ g + D k⁴), equation 3.110; a cosine is its own mirror image at the edges."""
    rows, columns, size = 48, 70, 2000.0
    south, east = (np.pi * count / (cells * size) for count, cells in zip(waves, (rows, columns), strict=True))
    row, column = (size * (np.arange(cells) + 0.5) for cells in (rows, columns))
    load = 5e5 * np.cos(south * row)[:, None] * np.cos(east * column)[None, :]
    stiff = rigidity(thickness) * (south**2 + east**2) ** 2
    expected = load * GRAVITY / (MANTLE * GRAVITY + stiff)
    assert deflection(load, size, thickness, MANTLE) == pytest.approx(expected, abs=1e-6 * load.max() / MANTLE)


def test_a_line_of_load_makes_a_trough_with_a_bulge_beside_it() -> None:
    """w = V α³ / 8D · exp(−x/α) (cos x/α + sin x/α), equations 3.130 and 3.131."""
    thickness, size, columns = 10e3, 1000.0, 801
    load = np.zeros((8, columns))
    load[:, columns // 2] = 1e7
    alpha = flexural_parameter(thickness, MANTLE)
    x = size * np.abs(np.arange(columns) - columns // 2) / alpha
    deepest = 1e7 * size * GRAVITY * alpha**3 / (8.0 * rigidity(thickness))
    expected = deepest * np.exp(-x) * (np.cos(x) + np.sin(x))
    found = deflection(load, size, thickness, MANTLE)
    assert found == pytest.approx(np.tile(expected, (8, 1)), abs=1e-3 * deepest)
    assert abs(x[found[0].argmin()] - np.pi) < 0.05 and found.min() == pytest.approx(-0.0432 * deepest, rel=0.02)


@pytest.mark.parametrize("shape", [(8, 9), (31, 14)])
def test_a_stiff_plate_leaves_out_what_would_not_bend_it(shape: tuple[int, int]) -> None:
    """Beside the same with all waves, by sums of cosines."""
    load, size, thickness = 1e6 * np.random.default_rng(3).random(shape), 4000.0, 20e3
    result = np.zeros(shape)
    for wave in np.ndindex(shape):
        cosines = (
            np.cos(np.pi * count * (np.arange(cells) + 0.5) / cells) for count, cells in zip(wave, shape, strict=True)
        )
        basis = np.outer(*cosines)
        square = sum((np.pi * count / (cells * size)) ** 2 for count, cells in zip(wave, shape, strict=True))
        stiff = rigidity(thickness) / GRAVITY * square**2
        result += basis * (load * basis).sum() / (basis * basis).sum() / (MANTLE + stiff)
    assert deflection(load, size, thickness, MANTLE) == pytest.approx(result, abs=1e-6 * load.max() / MANTLE)


def test_an_even_load_floats_however_stiff_the_plate_is() -> None:
    even = np.full((10, 13), MANTLE)
    assert deflection(even, 50.0, 50e3, MANTLE) == pytest.approx(np.ones((10, 13)), rel=1e-12)
