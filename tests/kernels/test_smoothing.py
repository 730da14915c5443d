"""The binomial blur against a plain one, and what it keeps."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from kernels.smoothing import smooth
from tests.kernels.terrain import hills, soil

SHAPES = [(2, 2), (8, 8), (8, 31), (57, 40)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_agrees_with_weights_of_the_article(shape: tuple[int, int], rate: float) -> None:
    layer = hills(*shape)
    padded = np.pad(layer, 1, mode="edge")
    weights = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16.0
    rows, columns = shape
    blurred = sum(weights[i, j] * padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3))
    result = layer.copy()
    smooth(result, rate)
    np.testing.assert_allclose(result, layer + rate * (blurred - layer), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_lost_and_nothing_becomes_negative(shape: tuple[int, int]) -> None:
    layer = soil(*shape) + 0.0
    result = layer.copy()
    for _ in range(50):
        smooth(result)
    assert result.sum() == pytest.approx(layer.sum(), rel=1e-13)
    assert result.min() >= 0.0
    assert result.max() <= layer.max()


def test_level_ground_stays_to_the_bit() -> None:
    layer = np.full((20, 30), 0.1)
    smooth(layer, 0.7)
    assert (layer == 0.1).all()


def test_same_bits_on_one_thread_and_two(two_threads: int) -> None:
    results = []
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        layer = hills(100, 77)
        smooth(layer, 0.4)
        results.append(layer.tobytes())
    assert results[0] == results[1]
