"""A run of hours: everything that there is in one world, for so many cycles that what drifts can be seen to.

    .venv/bin/python -m tests.benchmarks.long_run --side 128 --cycles 100000

prints one line for each of 1, 2, 5, 10, 20, 50 … cycles. It ends with 1 where a world is not sound.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from app.bench.world import everything, plant
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.ledger import LARGEST_IMBALANCE
from app.model.plants import TREE_COLUMNS
from app.scene.scene import Scene

FOREST_AT = 6  # cycles, when there is ground for it


class Drift(NamedTuple):
    """What may drift, after so many cycles."""

    cycle: int
    imbalance: float  # as a part of all there ever was
    lowest: float  # metres
    highest: float
    sediment: float  # cubic metres
    water: float
    largest_sum: float  # of the layers that add up what all cycles brought
    trees: int
    oldest: float  # cycles
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.cycle:>7} cycles  imbalance {self.imbalance:.1e}  ground {self.lowest:.1f} to {self.highest:.1f} m"
            f"  sediment {self.sediment:.3e} m³  water {self.water:.3e} m³  largest sum {self.largest_sum:.2e}"
            f"  trees {self.trees}, oldest {self.oldest:.0f}  {self.seconds:.0f} s"
        )


def scene_of(side: int) -> Scene:
    """Everything, with snowballs, a year and storms."""
    return everything(side).with_values(
        {
            "snowballs.enabled": True,
            "snowballs.count": 1,
            "climate.year": 400,
            "climate.storms": 0.1,
            "climate.rain_by_altitude": 0.3,
        }
    )


def long_run(side: int, cycles: int, threads: int = 1) -> Iterator[Drift]:
    """Run everything on `side` × `side` cells. Raises `SimulationError` where a cycle leaves what is not sound."""
    world, scene = create_world(scene_of(side))
    simulator = Simulator(scene, world, threads)
    begin = time.monotonic()
    told = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
    following = next(told)
    for cycle in range(1, cycles + 1):
        simulator.advance()
        if cycle == FOREST_AT:
            plant(world)
        if cycle in (following, cycles):
            simulator.verify()
            following = next(told)
            yield Drift(
                cycle,
                world.imbalance(),
                float(world.ground.min()),
                float(world.ground.max()),
                world.stored("sediment"),
                world.stored("water"),
                max(float(np.abs(world.layers[name]).max()) for name in ("discharge", "airborne", "traffic")),
                len(world.trees),
                float(world.trees[:, TREE_COLUMNS.index("age")].max(initial=0.0)),
                time.monotonic() - begin,
            )


def main() -> int:
    parser = argparse.ArgumentParser(description="Run everything for hours, and tell what drifts.")
    parser.add_argument("--side", type=int, default=128)
    parser.add_argument("--cycles", type=int, default=100_000)
    arguments = parser.parse_args()
    for drift in long_run(arguments.side, arguments.cycles):
        print(drift, flush=True)
        if not abs(drift.imbalance) <= LARGEST_IMBALANCE:
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
