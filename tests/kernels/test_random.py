"""Counter-based random numbers: uniform, and without a trace of each other."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from kernels.random import mix, process_number, stream, uniform

COUNT = 20_000


@njit(cache=True)
def numbers(key: np.uint64, count: int) -> NDArray[np.float64]:
    drawn = np.empty(count)
    for index in range(count):
        drawn[index] = uniform(key, index)
    return drawn


def of(seed: int, process: int = 5, cycle: int = 0, count: int = COUNT) -> NDArray[np.float64]:
    return numbers(np.uint64(stream(seed, process, cycle)), count)


def test_numbers_are_uniform() -> None:
    from scipy import stats  # takes long to load

    drawn = of(1)
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert stats.kstest(drawn, "uniform").pvalue > 0.001
    low_bits = (drawn * 2.0**53).astype(np.uint64) & np.uint64(255)
    assert stats.chisquare(np.bincount(low_bits, minlength=256)).pvalue > 0.001


def test_first_numbers_of_neighbouring_streams_are_uniform() -> None:
    """As droplets use them: a few numbers from each of many streams."""
    from scipy import stats

    by_seed = [of(seed, count=1)[0] for seed in range(3000)]
    by_cycle = [of(1, cycle=cycle, count=1)[0] for cycle in range(3000)]
    for drawn in (by_seed, by_cycle):
        assert stats.kstest(drawn, "uniform").pvalue > 0.001
        assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4.0 / np.sqrt(len(drawn))


@pytest.mark.parametrize("lag", [1, 2, 3, 64])
def test_numbers_of_one_stream_are_uncorrelated(lag: int) -> None:
    drawn = of(3)
    assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 4.0 / np.sqrt(COUNT)


def test_neighbouring_streams_are_uncorrelated() -> None:
    first = of(0)
    others = [of(1), of(2), of(-1), of(0, process=6), of(0, cycle=1), of(0, process=0, cycle=5), of(5, process=0)]
    for other in others:
        assert abs(np.corrcoef(first, other)[0, 1]) < 4.0 / np.sqrt(COUNT)
        assert abs(np.corrcoef(first[1:], other[:-1])[0, 1]) < 4.0 / np.sqrt(COUNT)


def test_streams_share_no_number() -> None:
    drawn = np.concatenate([of(seed, cycle=cycle, count=500) for seed in range(10) for cycle in range(10)])
    assert len(np.unique(drawn)) == len(drawn)


def test_each_bit_of_the_input_flips_half_of_the_output() -> None:
    words = [int(word) for word in np.random.default_rng(0).integers(2**63, size=200)]
    for bit in range(64):
        flips = [(int(mix(np.uint64(word))) ^ int(mix(np.uint64(word ^ (1 << bit))))).bit_count() for word in words]
        assert 30.0 < np.mean(flips) < 34.0


def test_same_in_python_and_in_a_kernel() -> None:
    key = np.uint64(stream(-(2**63), process_number("wind"), 2**62))
    drawn = numbers(key, 10)
    assert [uniform(key, index) for index in range(10)] == list(drawn)
    assert 0.0 <= uniform(key, 2**40) < 1.0
