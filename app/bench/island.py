"""Islands and snowballs: cost of a new island and of its erosion, and gain of a second core."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numba
import numpy as np

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.yardstick import Yardstick
from app.engine.creation import create_world
from app.model.parameters import for_kernel
from app.model.world import World
from app.processes.snowballs import SnowballParameters, smooth
from app.scene.scene import Scene, load_preset
from kernels.snowballs import SnowballParameters as KernelParameters
from kernels.snowballs import roll

BALLS = 50_000
CYCLES = 5  # in which they fall

# Measured of the article's JavaScript (Talle 2020): 226 ms for the balls and 110 ms for an island, in yards of 46 ns.
# Ours may take a fifth and a half of that.
BALLS_BAR = 4_900_000 / 5
ISLAND_BAR = 110e6 / 46.0 / 2


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    balls, columns, samples = (100, 32, 1) if tiny else (BALLS, 251, 15)
    scene = load_preset("article-island").with_value("world.columns", columns).with_value("world.rows", 2 * columns - 1)
    size = f"{columns}×{2 * columns - 1}"
    numba.set_num_threads(1)
    in_all, per_step = yards_of_balls(scene, balls, samples)
    yield Row(f"{balls} snowballs, {size}, one core", in_all, "yards", BALLS_BAR)
    yield Row(f"a step of a snowball, {size}, one core", per_step, "yards per step", None)

    side, samples = (32, 1) if tiny else (512, 15)
    square = scene.with_value("world.columns", side).with_value("world.rows", side)
    yield Row(f"a new island, {side}², one core", yards_of_island(square, samples), "yards", ISLAND_BAR)

    balls, samples = (100, 1) if tiny else (BALLS, 9)
    gain, same_bits = gain_of_two_threads(square, balls, samples)
    yield Row(f"snowballs, {side}², two threads against one", gain, "times as fast", None)
    yield Row(f"snowballs, {side}², same bits on both", float(same_bits), "1 is yes", 1.0, at_least=True)


def yards_of_balls(scene: Scene, balls: int, samples: int) -> tuple[float, float]:
    """Processor time of a run of `balls`, and of a step, in yards that are measured between the samples."""
    yardstick = Yardstick()
    world, _ = create_world(scene)
    start = world.state()
    _roll(world, balls // 10)
    in_all, per_step = [], []
    for _ in range(samples):
        before = yardstick.nanoseconds()
        world.restore(start)
        begin = time.process_time()
        steps = _roll(world, balls)
        nanoseconds = (time.process_time() - begin) * 1e9
        yard = 0.5 * (before + yardstick.nanoseconds())
        in_all.append(nanoseconds / yard)
        per_step.append(nanoseconds / yard / steps)
    return float(np.median(in_all)), float(np.median(per_step))


def yards_of_island(scene: Scene, samples: int) -> float:
    """Processor time of a new island, in yards."""
    yardstick = Yardstick()
    create_world(scene)
    ratios = []
    for seed in range(samples):
        before = yardstick.nanoseconds()
        begin = time.process_time()
        create_world(scene.with_value("world.seed", seed))
        nanoseconds = (time.process_time() - begin) * 1e9
        ratios.append(2.0 * nanoseconds / (before + yardstick.nanoseconds()))
    return float(np.median(ratios))


def gain_of_two_threads(scene: Scene, balls: int, samples: int) -> tuple[float, bool]:
    """How many times as fast two threads are as one, run in turn on the same island, and whether the bits agree."""
    world, _ = create_world(scene)
    start = world.state()
    ratios = []
    same_bits = True
    for sample in range(samples + 1):
        seconds, grounds = {}, []
        for threads in (1, TWO):
            numba.set_num_threads(threads)
            world.restore(start)
            begin = time.perf_counter()
            _roll(world, balls)
            seconds[threads] = time.perf_counter() - begin
            grounds.append(world.ground.tobytes())
        same_bits = same_bits and grounds[0] == grounds[1]
        if sample > 0:  # the first one warms up
            ratios.append(seconds[1] / seconds[TWO])
    return float(np.median(ratios)), same_bits


def _roll(world: World, balls: int) -> int:
    """Run the article's snowballs, and blur the ground; return the steps they took."""
    steps = 0
    parameters = for_kernel(KernelParameters, SnowballParameters(count=balls // CYCLES))
    for cycle in range(CYCLES):
        steps += roll(
            world.bedrock, world.sediment, world.ground, world.material_fields(), world.standing,
            world.trace("wear"), world.trace("deposit"), world.trace("traffic"),
            0.0, world.cell_size, world.seed, cycle, parameters,
        ).steps  # fmt: skip
    smooth(world)
    return steps
