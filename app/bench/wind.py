"""Wind: cost of a step with its share of the cascade, gain of a second core, and growth with the map."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numba
import numpy as np

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.yardstick import Yardstick, terrain
from app.model.parameters import for_kernel
from app.model.world import World
from app.scene.scene import load_preset
from kernels.cascade import CascadeParameters, cascade
from kernels.wind import WindParameters, blow

PARCELS = 250
RELIEF = 80.0  # cells, the article's unit of height, which its land fills
LAND = 256  # side of the land, which goes on periodically on larger maps

# All numbers of the article (McDonald 2020), with its wind along the diagonal
_PRESET = load_preset("article-wind")
ARTICLE = for_kernel(
    WindParameters, _PRESET.wind, count=PARCELS, wrap=False,
    wind_direction=315.0, wind_speed=math.sqrt(2.0), wind_field_direction=270.0,
)  # fmt: skip
SLIDING = for_kernel(
    CascadeParameters, _PRESET.cascade, wrap=False, parcels=0, wind_speed=math.sqrt(2.0), pace=1.0, supply=1.0
)

# With what makes dunes that stay and wander
DUNES = ARTICLE._replace(
    wind_direction=270.0, gusts=15.0, friction=0.02, suspension=0.0004, deposition=0.2, shear=5.0, speed_up=8.0,
    upwind_length=100.0, shelter_angle=15.0, lee_deposition=0.5,
)  # fmt: skip


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (32, 1) if tiny else (256, 21)
    numba.set_num_threads(1)
    for name, parameters in (("article", ARTICLE), ("dunes", DUNES)):
        per_step, in_all = yards(side, parameters, samples)
        yield Row(f"wind, {name}, {side}², one core, with cascade", per_step, "yards per step", 0.7)
        yield Row(f"wind, {name}, {PARCELS} parcels, {side}², one core", in_all, "yards", 167_000.0)

    side, parcels, samples = (32, 100, 1) if tiny else (512, 1000, 15)
    gain, same_bits = gain_of_two_threads(side, parcels, samples)
    yield Row(f"wind, {side}², two threads against one", gain, "times as fast", 1.6, at_least=True)
    yield Row(f"wind, {side}², same bits on both", float(same_bits), "1 is yes", 1.0, at_least=True)

    side, samples = (32, 1) if tiny else (256, 15)
    numba.set_num_threads(1)
    yield Row(f"wind, article, from {side}² to {2 * side}², same parcels", growth(side, samples), "times the cost", 2.0)


def yards(side: int, parameters: WindParameters, samples: int) -> tuple[float, float]:
    """Processor time of a step and of a cycle on one core, all sand, in yards that are measured between the samples."""
    yardstick = Yardstick()
    start = _world(side).state()
    world = _world(side)
    _cycle(world, parameters, cycle=0)
    per_step, in_all = [], []
    for cycle in range(samples):
        before = yardstick.nanoseconds()
        world.restore(start)
        begin = time.process_time()
        steps = _cycle(world, parameters, cycle)
        nanoseconds = (time.process_time() - begin) * 1e9
        yard = 0.5 * (before + yardstick.nanoseconds())
        per_step.append(nanoseconds / steps / yard)
        in_all.append(nanoseconds / yard)
    return float(np.median(per_step)), float(np.median(in_all))


def gain_of_two_threads(side: int, parcels: int, samples: int) -> tuple[float, bool]:
    """How many times as fast two threads are as one, run in turn on the same world, and whether the bits agree."""
    world = _world(side)
    start = world.state()
    ratios = []
    same_bits = True
    for cycle in range(samples + 1):
        seconds, grounds = {}, []
        for threads in (1, TWO):
            numba.set_num_threads(threads)
            world.restore(start)
            begin = time.perf_counter()
            _cycle(world, DUNES._replace(count=parcels), cycle)
            seconds[threads] = time.perf_counter() - begin
            grounds.append(world.ground.tobytes())
        same_bits = same_bits and grounds[0] == grounds[1]
        if cycle > 0:  # the first one warms up
            ratios.append(seconds[1] / seconds[TWO])
    return float(np.median(ratios)), same_bits


def growth(side: int, samples: int) -> float:
    """How many times the processor time a cycle takes where the map's side is doubled and the land goes on."""
    worlds = [_world(side), _world(2 * side)]
    starts = [world.state() for world in worlds]
    ratios = []
    for cycle in range(samples + 1):
        seconds = []
        for world, start in zip(worlds, starts, strict=True):
            world.restore(start)
            begin = time.process_time()
            _cycle(world, ARTICLE, cycle)
            seconds.append(time.process_time() - begin)
        if cycle > 0:
            ratios.append(seconds[1] / seconds[0])
    return float(np.median(ratios))


def _world(side: int) -> World:
    land = min(side, LAND)
    sand = np.tile(RELIEF * terrain(land, land), (side // land, side // land))
    world = World(np.zeros_like(sand), sand, cell_size=1.0, seed=1)
    for trace in ("wind_path", "airborne"):
        world.trace(trace)  # made once, and not in the first cycle after each `restore`
    return world


def _cycle(world: World, parameters: WindParameters, cycle: int) -> int:
    """Run a cycle of wind and of the cascade; return the steps that the parcels took."""
    totals = blow(
        world.bedrock, world.sediment, world.ground, world.material_fields(),
        world.trace("wind_path"), world.trace("airborne"), world.cell_size, world.seed, cycle, parameters,
    )  # fmt: skip
    materials = world.material_fields(repose=_PRESET.cascade.roughness * _PRESET.cascade.scale)
    sliding = SLIDING._replace(parcels=parameters.count)
    cascade(world.bedrock, world.sediment, world.ground, materials, world.cell_size, sliding)
    return totals.steps
