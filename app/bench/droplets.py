"""Droplet erosion: cost of a step, and gain of a second core."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numba
import numpy as np

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.yardstick import Yardstick, terrain
from app.model.parameters import for_kernel
from app.model.world import World
from app.processes.droplets import DropletParameters
from kernels.droplets import DropletParameters as KernelParameters
from kernels.droplets import DropletTotals, erode, remember

CELL_SIZE = 20.0  # metres
RELIEF = 0.15  # of the map's side
RIVER_TRANSPORT = 3.0


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (32, 1) if tiny else (256, 41)
    yield Row(f"droplets, {side}², one core", yards_per_step(side, samples), "yards per step", 1.2)

    for rich, ground in ((False, "bare"), (True, "rich")):
        cost = cost_of_rivers(side, samples, rich=rich)
        yield Row(f"discharge-aware drops, {side}², {ground} ground, against others", cost, "times a step", 1.15)

    side, drops, samples = (32, 100, 1) if tiny else (1024, 10_000, 15)
    gain, same_bits = gain_of_two_threads(side, drops, samples)
    yield Row(f"droplets, {side}², two threads against one", gain, "times as fast", 1.6, at_least=True)
    yield Row(f"droplets, {side}², same bits on both", float(same_bits), "1 is yes", 1.0, at_least=True)


def yards_per_step(side: int, samples: int) -> float:
    """Processor time of a step on one core, in yards that are measured between the samples."""
    numba.set_num_threads(1)
    yardstick = Yardstick()
    start = _world(side)
    _run(start, drops=10, cycle=0)
    ratios = []
    for cycle in range(samples):
        before = yardstick.nanoseconds()
        world = _copy(start)
        begin = time.process_time()
        totals = _run(world, drops=1000, cycle=cycle)
        nanoseconds = (time.process_time() - begin) / totals.steps * 1e9
        ratios.append(2.0 * nanoseconds / (before + yardstick.nanoseconds()))
    return float(np.median(ratios))


def cost_of_rivers(side: int, samples: int, *, rich: bool) -> float:
    """How many times as long as another a step takes that knows its river, on the same worlds, on one core."""
    numba.set_num_threads(1)
    start = _world(side)
    start.trace("discharge")
    if rich:
        start.trace("wetness")
    for cycle in range(10):  # by which rivers are known
        _run(start, drops=1000, cycle=cycle, river_transport=RIVER_TRANSPORT)
        remember(start.flow, 0.1, 1.0)
    ratios = []
    for cycle in range(samples + 1):
        times = {}
        for transport in (0.0, RIVER_TRANSPORT) if cycle % 2 else (RIVER_TRANSPORT, 0.0):
            world = start.copy()
            begin = time.process_time()
            totals = _run(world, drops=1000, cycle=10 + cycle, river_transport=transport)
            times[transport] = (time.process_time() - begin) / totals.steps
        if cycle > 0:  # the first one warms up
            ratios.append(times[RIVER_TRANSPORT] / times[0.0])
    return float(np.median(ratios))


def gain_of_two_threads(side: int, drops: int, samples: int) -> tuple[float, bool]:
    """How many times as fast two threads are as one, run in turn on the same worlds, and whether the bits agree."""
    start = _world(side)
    ratios = []
    same_bits = True
    for cycle in range(samples + 1):
        seconds, worlds = [], []
        for threads in (1, TWO) if cycle % 2 else (TWO, 1):
            numba.set_num_threads(threads)
            world = _copy(start)
            begin = time.perf_counter()
            _run(world, drops=drops, cycle=cycle)
            seconds.append(time.perf_counter() - begin)
            worlds.append(world)
        same_bits = same_bits and all(
            np.array_equal(worlds[0].layers[name].view(np.int64), layer.view(np.int64))
            for name, layer in worlds[1].layers.items()
        )
        if cycle > 0:  # the first one warms up
            ratios.append(seconds[0] / seconds[1] if cycle % 2 else seconds[1] / seconds[0])
    return float(np.median(ratios)), same_bits


def _world(side: int) -> World:
    bedrock = terrain(side, side) * (RELIEF * side * CELL_SIZE)
    return World(bedrock, np.zeros_like(bedrock), CELL_SIZE, seed=1)


def _copy(world: World) -> World:
    return World(world.bedrock.copy(), world.sediment.copy(), world.cell_size, world.seed)


def _run(world: World, drops: int, cycle: int, river_transport: float = 0.0) -> DropletTotals:
    process = DropletParameters(count=drops, river_transport=river_transport)
    parameters = for_kernel(KernelParameters, process, water=1.0, rain_by_altitude=0.0, soaking=0.0)
    layers = (world.bedrock, world.sediment, world.ground, world.material_fields())
    flow = world.flow if "discharge" in world.layers else None
    return erode(*layers, world.cell_size, world.seed, cycle, parameters, flow=flow, surface=world.surface)
