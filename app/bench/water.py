"""Water: cost of a drop's step, of lakes, of both, and with half of the map under water."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numba
import numpy as np
from numpy.typing import NDArray

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.yardstick import Yardstick, terrain
from app.model.parameters import for_kernel
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion, DropletParameters
from app.processes.pools import Pools, PoolsParameters
from kernels import droplets
from kernels.depressions import OPEN
from kernels.materials import one_kind
from kernels.pools import PoolParameters, settle

CELL_SIZE = 20.0  # metres
WARM_UP = 8  # cycles, after which there are streams
COUPLED = for_kernel(
    droplets.DropletParameters,
    DropletParameters(count=1000, stream_friction=0.5, stream_evaporation=0.2, stream_stop=0.01),
    water=1.0, rain_by_altitude=0.0, soaking=0.0,
)  # fmt: skip
RELIEF = 1500.0  # metres
BASINS = 1600.0  # metres; how deep the wide basins are in which large lakes stand


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    numba.set_num_threads(1)
    side, samples = (32, 1) if tiny else (256, 41)
    yield Row(f"a drop's step with streams, {side}², one core", yards_per_step(side, samples), "yards per step", 0.85)

    side, samples = (32, 1) if tiny else (512, 31)
    cost, growth = yards(side, samples)
    yield Row(f"pools, {side}², one core", cost, "yards", 152_000.0)
    yield Row(f"pools, {side}², half of the map under water against 1 %", growth, "times", 1.25)

    numba.set_num_threads(TWO)
    dry = yards_per_cycle(side, 512, 0.01, samples)
    yield Row(f"a cycle of 512 drops with pools, {side}², two threads", dry, "yards", 350_000.0)
    wet = yards_per_cycle(side, 512, 0.5, samples)
    yield Row(f"the same, half of the map under water against 1 %, {side}²", wet / dry, "times", 1.25)
    side, samples = (32, 1) if tiny else (1024, 15)
    large = yards_per_cycle(side, 2048, 0.01, samples)
    yield Row(f"a cycle of 2048 drops with pools, {side}², two threads", large, "yards", 1_400_000.0)


def yards_per_step(side: int, samples: int) -> float:
    """Processor time of a step of drops on which streams act, in yards that are measured between the samples."""
    yardstick = Yardstick()
    bedrock = 0.15 * side * CELL_SIZE * terrain(side, side)
    flow = droplets.new_flow(side, side)
    ratios = []
    for cycle in range(samples + WARM_UP):
        rock = bedrock.copy()
        sediment, ground = np.zeros_like(rock), rock.copy()
        before = yardstick.nanoseconds()
        begin = time.process_time()
        totals = droplets.erode(rock, sediment, ground, one_kind(sediment), CELL_SIZE, 1, cycle, COUPLED, flow=flow)
        nanoseconds = (time.process_time() - begin) / totals.steps * 1e9
        droplets.remember(flow, 0.1, COUPLED.water)
        if cycle >= WARM_UP:
            ratios.append(2.0 * nanoseconds / (before + yardstick.nanoseconds()))
    return float(np.median(ratios))


def yards_per_cycle(side: int, drops: int, share: float, samples: int) -> float:
    """A whole cycle of lakes, drops and streams, where lakes cover a share of the map."""
    yardstick = Yardstick()
    ground = _ground(side)
    world = World(ground, np.zeros_like(ground), CELL_SIZE, seed=1, water=_lakes(ground, share))
    rain = DropletParameters(count=drops, water=1e-3, stream_friction=0.5, stream_evaporation=0.2)
    ratios = []
    for cycle in range(samples + WARM_UP):
        before = yardstick.nanoseconds()
        begin = time.perf_counter()
        now = Cycle()
        Pools().step(world, PoolsParameters(evaporation=0.0), now)
        DropletErosion().step(world, rain, now)
        nanoseconds = (time.perf_counter() - begin) * 1e9
        world.cycle += 1
        if cycle >= WARM_UP:
            ratios.append(2.0 * nanoseconds / (before + yardstick.nanoseconds()))
    return float(np.median(ratios))


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
    settle(ground, water, level, standing, PoolParameters(OPEN, 0.0, evaporation=0.0, seepage=0.0, most_spilled=0.0))
    return standing
