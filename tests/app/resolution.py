"""The same land in cells of different sizes, after the same time: what must agree, and a table of it.

python -m tests.app.resolution dune-field ridged basic --sizes 256 512 1024 --cycles 200

Noise and real models have more forms in finer cells, and so steeper slopes. With one size and `--refined` the land of
the finer cells is that of the coarse ones, smoothly: then only the processes can differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.engine.creation import create_world, size_in_cells
from app.engine.refining import refined
from app.engine.simulator import Simulator
from app.files.opening import open_scene
from app.model.geology_parameters import Uplift
from app.model.world import World
from app.scene.scene import Scene
from app.sources.heightmap import resample
from kernels.rivers import drain

CHANNEL = 0.002  # part of the map above which the land that drains to a cell makes it a channel


class Measures(NamedTuple):
    """What a land is like that does not depend on its cells."""

    integral: float  # hypsometric
    slope: float  # the mean, in coarse cells
    worn: float  # mean depth in metres, in coarse cells, of what has gone from places and come to others
    drainage: float  # length of channels in kilometres on each square kilometre


class Run(NamedTuple):
    """A scene in some number of cells, before and after some cycles."""

    world: World
    before: np.ndarray  # the ground, and what rock has risen since


def run(scene: Scene, columns: int, cycles: int, threads: int | None = None, *, times: int = 1) -> Run:
    """The world of a scene in so many cells from west to east after so many cycles.

    `times`: it is made in cells so many times as wide, and then refined.
    """
    world, scene = create_world(scene.with_values(size_in_cells(scene, columns // times, 0)))
    if times > 1:
        world = refined(world, times, channels=False)
    before, years = world.ground.copy(), world.years
    simulator = Simulator(scene, world, threads)
    for _ in range(cycles):
        simulator.advance()
    if world.years > years:
        before += Uplift(*world.shape, world.seed).risen(scene.geology, years, world.years - years)
    return Run(world, before)


def measure(run: Run, shape: tuple[int, int]) -> Measures:
    """What a run came to, seen in cells of a coarser map of so many rows and columns."""
    world = run.world
    ground, before = resample(world.ground, *shape), resample(run.before, *shape)
    cell_size = world.cell_size * world.shape[1] / shape[1]
    drainage = drain(ground, cell_size, -np.inf)
    area = world.cell_area * world.ground.size
    channels = drainage.accumulation * cell_size**2 > CHANNEL * area
    return Measures(
        float((world.ground.mean() - world.ground.min()) / np.ptp(world.ground)),
        float(np.hypot(*np.gradient(ground, cell_size)).mean()),
        float(np.abs(ground - before).mean()),
        float(channels.sum()) * cell_size / area * 1e3,
    )


def compare(scene: Scene, sizes: Sequence[int], cycles: int, threads: int | None = None) -> list[Measures]:
    """The measures of a scene in several numbers of cells, all seen in the fewest."""
    runs = [run(scene, columns, cycles, threads) for columns in sorted(sizes)]
    return [measure(each, runs[0].world.shape) for each in runs]


def compare_refined(scene: Scene, columns: int, cycles: int, threads: int | None = None) -> list[Measures]:
    """The measures of a scene in so many cells, and of the same land in cells half as wide."""
    coarse = run(scene, columns, cycles, threads)
    fine = run(scene, 2 * columns, cycles, threads, times=2)
    return [measure(each, coarse.world.shape) for each in (coarse, fine)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512, 1024])
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--refined", action="store_true")
    options = parser.parse_args()
    print("| land | cells | hypsometric integral | mean slope | worn, m | drainage density, 1/km |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in options.presets:
        scene = open_scene(name)
        for setting in options.set:
            scene = scene.with_setting(setting)
        sizes = sorted(options.sizes)
        if options.refined:
            sizes = [sizes[0], 2 * sizes[0]]
        found_by_size = (
            compare_refined(scene, sizes[0], options.cycles)
            if options.refined
            else compare(scene, sizes, options.cycles)
        )
        for columns, found in zip(sizes, found_by_size, strict=True):
            print(f"| {name} | {columns} | {' | '.join(f'{value:.4g}' for value in found)} |", flush=True)


if __name__ == "__main__":
    main()
