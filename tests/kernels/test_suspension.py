"""Fine sediment in running water: it is taken up where it is fast, goes with it, sinks, and none is lost."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.materials import one_kind
from kernels.suspension import Suspended, SuspensionParameters, carry

SIZE = 1e-4
CELL = 5.0


class Channel:
    """Water of this depth over a bed of sand, which runs to the east."""

    def __init__(self, depth: float, speed: float, shape: tuple[int, int] = (6, 40), sand: float = 2.0) -> None:
        self.sediment = np.full(shape, sand)
        self.bedrock = np.zeros(shape)
        self.ground = self.bedrock + self.sediment
        self.water = np.full(shape, depth)
        self.east, self.south = np.full(shape, speed, np.float32), np.zeros(shape, np.float32)
        self.load = np.zeros(shape)

    def run(self, seconds: float, cycles: int = 1, size: float = SIZE) -> list[Suspended]:
        parameters = SuspensionParameters(seconds, 0.03, size)
        return [
            carry(
                self.bedrock, self.sediment, self.ground, one_kind(self.sediment), CELL, self.water, self.east,
                self.south, self.load, parameters,
            )
            for _ in range(cycles)
        ]  # fmt: skip

    @property
    def total(self) -> float:
        return float(self.sediment.sum() + self.load.sum())


def test_fast_water_takes_more_and_still_water_lets_all_sink() -> None:
    slow, fast = Channel(1.0, 0.02), Channel(1.0, 2.0)
    assert slow.run(1.0)[0].taken == 0.0 and fast.run(1.0)[0].taken > 0.0
    fast.east[...] = 0.0
    before = fast.load.sum()
    fast.run(2.0)
    part = 1.0 - fast.load.sum() / before
    sinks = 1.65 * 9.81 * SIZE**2 / (18e-6 + math.sqrt(0.75 * 1.65 * 9.81 * SIZE**3))
    assert part == pytest.approx(1.0 - math.exp(-sinks * 20.0 * 2.0), rel=1e-9)
    fast.run(60.0, cycles=5)
    assert fast.load.max() < 1e-9
    np.testing.assert_array_equal(fast.ground, fast.bedrock + fast.sediment)


def test_nothing_is_lost_and_what_leaves_the_map_is_told() -> None:
    channel = Channel(1.5, 2.5)
    channel.south[...] = np.random.default_rng(2).uniform(-2.0, 2.0, channel.south.shape)
    before = channel.total
    passed = channel.run(20.0, cycles=12)
    gone = sum(each.off_map for each in passed)
    assert gone > 0.0 and channel.load.min() >= 0.0 and channel.sediment.min() >= 0.0
    assert channel.total + gone == pytest.approx(before, rel=1e-13)
    taken, settled = sum(each.taken for each in passed), sum(each.settled for each in passed)
    assert taken - settled - gone == pytest.approx(channel.load.sum(), rel=1e-9)


def test_mud_goes_with_the_water_and_settles_where_it_comes_to_rest() -> None:
    channel = Channel(1.0, 1.5)
    channel.east[:, 20:] = 0.0
    channel.sediment[:, 12:] = 0.0
    channel.ground[...] = channel.bedrock + channel.sediment
    channel.run(10.0, cycles=40)
    assert channel.sediment[:, 20].min() > 0.1, "where the water stands"
    assert channel.sediment[:, 24:].max() < 1e-6


def test_protected_ground_and_threads() -> None:
    found: list[NDArray[np.float64]] = []
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    for threads in (1, available):
        numba.set_num_threads(threads)
        channel = Channel(1.5, 2.5)
        channel.south[...] = np.random.default_rng(2).uniform(-2.0, 2.0, channel.south.shape)
        channel.run(20.0, cycles=6)
        found.append(np.stack([channel.load, channel.ground]))
    np.testing.assert_array_equal(*found)
    rates = np.ones((6, 40, 6), np.float32)
    rates[..., 5] = 0.0
    kept = Channel(1.5, 2.5)
    carry(
        kept.bedrock, kept.sediment, kept.ground, one_kind(kept.sediment), CELL, kept.water, kept.east, kept.south,
        kept.load, SuspensionParameters(20.0, 0.03, SIZE), rates,
    )  # fmt: skip
    assert kept.load.max() == 0.0 and (kept.sediment == 2.0).all()
