"""Water: what the lakes of a cycle cost, and what it adds when half of the map is under them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numba
import numpy as np
from numpy.typing import NDArray

from app.bench.row import Row
from app.bench.yardstick import Yardstick, terrain
from kernels.pools import OPEN, PoolParameters, settle

RELIEF = 1500.0  # metres
BASINS = 1600.0  # metres; how deep the wide basins are in which large lakes stand


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(1)
    side, samples = (32, 1) if tiny else (512, 31)
    cost, growth = yards(side, samples)
    yield Row(f"pools, {side}², one core", cost, "yards", 152_000.0)
    yield Row(f"pools, {side}², half of the map under water against 1 %", growth, "times", 1.25)
    numba.set_num_threads(available)


def yards(side: int, samples: int) -> tuple[float, float]:
    """Processor time of all pools with 1 % of the map under water, and how many times that it is with half of it."""
    ground = _ground(side)
    yardstick = Yardstick()
    lakes = [_lakes(ground, share) for share in (0.01, 0.5)]
    costs, ratios = [], []
    for sample in range(samples + 1):
        before = yardstick.nanoseconds()
        seconds = [_seconds(ground, water) for water in lakes]
        yard = 0.5 * (before + yardstick.nanoseconds())
        if sample > 0:  # the first one warms up
            costs.append(seconds[0] * 1e9 / yard)
            ratios.append(seconds[1] / seconds[0])
    return float(np.median(costs)), float(np.median(ratios))


def _ground(side: int) -> NDArray[np.float64]:
    """Mountains with two by two basins between, wide enough for lakes that cover more than half of the map."""
    wave = np.abs(np.sin(np.linspace(0.0, 2.0 * np.pi, side)))
    ground: NDArray[np.float64] = RELIEF * terrain(side, side) - BASINS * np.sqrt(np.outer(wave, wave))
    return ground


def _lakes(ground: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The water of lakes that cover this share of the map."""
    low, high = 0.0, 1e4
    for _ in range(40):
        rain = 0.5 * (low + high)
        water = np.full(ground.shape, rain)
        standing = _settle(ground, water)
        if np.count_nonzero(standing) > share * ground.size:
            high = rain
        else:
            low = rain
    return water


def _seconds(ground: NDArray[np.float64], lakes: NDArray[np.float64]) -> float:
    """Processor time of a cycle in which it rained a little."""
    water = lakes + 1e-4
    begin = time.process_time()
    _settle(ground, water)
    return time.process_time() - begin


def _settle(ground: NDArray[np.float64], water: NDArray[np.float64]) -> NDArray[np.uint8]:
    level, standing = np.empty_like(ground), np.empty(ground.shape, np.uint8)
    settle(ground, water, level, standing, PoolParameters(edges=OPEN, most_spilled=0.0))
    return standing
