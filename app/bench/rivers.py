"""Rivers: cost of filling and routing per cell, and the same work in other libraries."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.bench.row import Row
from app.bench.yardstick import Yardstick, terrain
from app.engine.realism import measure
from kernels.filling import fill
from kernels.fronts import Fronts
from kernels.noise import fractal_noise
from kernels.ocean import ocean_mask, outlet_mask
from kernels.rivers import drain

RELIEF = 1000.0  # metres
CELL_SIZE = 20.0
SIDES = (64, 128, 256, 512, 1024)  # of the lands whose fronts are counted
LANDS = 5  # of each side

Heights = NDArray[np.float64]
Work = Callable[[], object]


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    yardstick = Yardstick()
    for side in (16, 32) if tiny else (512, 1024):
        ground = _land(side)
        samples = 1 if tiny else 15
        value = yards_per_cell(fill_by_us(ground), side, samples, yardstick)
        yield Row(f"rivers, exact fill, {side}², one core", value, "yards per cell", 0.26)
    side, samples = (32, 1) if tiny else (1024, 9)
    ground = _land(side)
    noise = _white_noise(side)
    typical = yards_per_cell(all_by_us(ground), side, samples, yardstick)
    yield Row(f"rivers, fill to accumulation, {side}², one core", typical, "yards per cell", 0.9)
    worst = yards_per_cell(all_by_us(noise), side, samples, yardstick)
    yield Row(f"rivers, fill to accumulation, {side}², white noise against it", worst / typical, "times the cost", 4.0)
    worst = yards_per_cell(fill_by_us(noise), side, samples, yardstick)
    yield Row(f"rivers, exact fill, {side}², white noise", worst, "yards per cell", 4.0 * 0.26)

    value = yards_per_cell(measures_by_us(ground), side, samples, yardstick)
    yield Row(f"rivers, measures of realism, {side}², one core", value, "yards per cell", 4.0)

    for side in (16, 32) if tiny else SIDES:
        counted = [rounds_of_fill(_random_land(side, seed)) / side for seed in range(1 if tiny else LANDS)]
        yield Row(f"rivers, rounds of a fill front by front, {side}², hills", float(np.mean(counted)), "sides", None)
        rounds = rounds_of_fill(_white_noise(side)) / side
        yield Row(f"rivers, rounds of a fill front by front, {side}², white noise", rounds, "sides", None)

    for name, make in OTHERS.items():
        with contextlib.suppress(ImportError):
            work = make(ground)
            value = yards_per_cell(work, side, 1 if tiny else 3, yardstick)
            yield Row(f"for comparison, {side}²: {name}", value, "yards per cell", None)

    side, samples = (64, 1) if tiny else (4096, 3)
    value = yards_per_cell(all_by_us(_land(side)), side, samples, yardstick)
    yield Row(f"rivers, fill to accumulation, {side}², one core", value, "yards per cell", 1.6)


def yards_per_cell(work: Work, side: int, samples: int, yardstick: Yardstick) -> float:
    """Processor time of a piece of work for each cell of a map, in yards that are measured between the samples."""
    work()
    ratios = []
    for _ in range(samples):
        before = yardstick.nanoseconds()
        begin = time.process_time()
        work()
        nanoseconds = (time.process_time() - begin) / side**2 * 1e9
        ratios.append(2.0 * nanoseconds / (before + yardstick.nanoseconds()))
    return float(np.median(ratios))


def rounds_of_fill(ground: Heights) -> int:
    """How many rounds levels advance from the map's edge before nothing changes any more."""
    fronts = Fronts(ground, outlet_mask(ocean_mask(ground, -math.inf)))
    fronts.advance(ground.size)
    return fronts.rounds


def fill_by_us(ground: Heights) -> Work:
    outlets = outlet_mask(ocean_mask(ground, -math.inf))
    filled = np.empty_like(ground)
    return lambda: fill(ground, outlets, filled)


def all_by_us(ground: Heights) -> Work:
    """Fill, directions, order, outlets, distances and accumulation."""
    drainage = drain(ground, CELL_SIZE, -math.inf)
    return lambda: drain(ground, CELL_SIZE, -math.inf, out=drainage)


def measures_by_us(ground: Heights) -> Work:
    """All measures of a land's form, without the routing."""
    drainage = drain(ground, CELL_SIZE, -math.inf)
    return lambda: measure(ground, drainage, CELL_SIZE)


# The same maps by other libraries, as far as each has them. A library that is not installed raises an ImportError.


def _fill_by_topotoolbox(ground: Heights) -> Work:
    grid = _grid_of_topotoolbox(ground)
    return lambda: grid.fillsinks()


def _all_by_topotoolbox(ground: Heights) -> Work:
    import topotoolbox

    grid = _grid_of_topotoolbox(ground)

    def work() -> None:
        flow = topotoolbox.FlowObject(grid)
        flow.flow_accumulation()
        flow.drainagebasins()
        flow.upstream_distance()

    return work


def _grid_of_topotoolbox(ground: Heights) -> Any:
    import topotoolbox

    grid = topotoolbox.GridObject()
    grid.z = np.asarray(ground, np.float32, order="F")  # it has no other floats
    grid.cellsize = CELL_SIZE
    return grid


def _fill_by_richdem(ground: Heights) -> Work:
    import richdem

    north_up = (0.0, CELL_SIZE, 0.0, 0.0, 0.0, -CELL_SIZE)
    heights = richdem.rdarray(ground, no_data=-9999.0, geotransform=north_up)
    return lambda: richdem.FillDepressions(heights, epsilon=False, in_place=False)


def _all_by_pyflwdir(ground: Heights) -> Work:
    import pyflwdir

    ones = np.ones(ground.shape)

    def work() -> None:
        flow = pyflwdir.from_dem(ground)
        flow.accuflux(ones)
        flow.basins()
        flow.stream_distance()

    return work


OTHERS: dict[str, Callable[[Heights], Work]] = {
    "exact fill by topotoolbox (float32)": _fill_by_topotoolbox,
    "exact fill by richdem2": _fill_by_richdem,
    "fill to accumulation by topotoolbox (float32)": _all_by_topotoolbox,
    "fill to accumulation by pyflwdir": _all_by_pyflwdir,
}


def _land(side: int) -> Heights:
    return RELIEF * terrain(side, side)


def _random_land(side: int, seed: int) -> Heights:
    """Hills of fractal noise, half as wide as the map whatever its side."""
    return RELIEF * fractal_noise(side, side, seed, 0.5 * side, gain=0.5)


def _white_noise(side: int) -> Heights:
    return RELIEF * np.random.default_rng(1).random((side, side))
