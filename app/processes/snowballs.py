"""Snowballs that roll downhill, erode the ground and deposit where it gets flatter (Talle 2020)."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np

from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle, compounded
from app.processes.kinds import account_for
from app.processes.process import ProcessFailure, register

MOVED = ("bedrock", "sediment")


class SnowballParameters(Parameters, frozen=True, kw_only=True):
    """Snowball erosion (Talle 2020)."""

    title: ClassVar[str] = "Snowballs"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("erosion by snowballs rolling downhill")] = False
    count: Annotated[int, parameter(1, 100_000, "snowballs per cycle", log=True, essential=True, costs=True)] = 500
    total: Annotated[int, parameter(0, 1_000_000, "number of snowballs after which no more fall; 0 means unlimited",
        unit="balls")] = 0
    erosion_rate: Annotated[float, parameter(0.0, 0.5, "erosion by a ball per step on a vertical wall",
        unit="article's h", essential=True)] = 0.04
    deposition_rate: Annotated[float, parameter(0.0, 1.0,
        "fraction of its load that a ball deposits per step on level ground")] = 0.03
    speed: Annotated[float, parameter(0.0, 1.0, "speed gained per step on a vertical wall; at most 1 − friction",
        unit="cells")] = 0.15
    friction: Annotated[float, parameter(0.0, 0.99, "fraction of its speed that a ball keeps from step to step")] = 0.7
    radius: Annotated[float, parameter(0.0, 2.0, "offset at which a ball samples the slope; larger spreads paths apart",
        unit="cells")] = 0.8
    iterations: Annotated[int, parameter(1, 10_000, "a ball ends after this many steps", unit="steps", log=True)] = 80
    iteration_scale: Annotated[float, parameter(0.0, 1.0,
        "fraction of the erosion rate added per step, until the full rate is reached")] = 0.04
    scale: Annotated[float, parameter(1.0, 1000.0, "cells per h, the article's unit of height", unit="cells",
        log=True)] = 10.0
    memory: Annotated[float, parameter(0.01, 1000.0, "averaging window of the erosion, deposition and traffic maps",
        unit="balls per cell", log=True)] = 2.0
    root_hold: Annotated[float, parameter(0.0, 1.0,
        "reduction of erosion and deposition under the densest roots, as a fraction", needs="plants.enabled")] = 0.9
    into_water: Annotated[bool,
        described("balls roll on below water, as in the article's code, and cut inlets; else they end there")] = False
    smoothing: Annotated[float, parameter(0.0, 1.0, "strength of a 3×3 blur of the ground in each cycle")] = 0.0
    smooth_at_end: Annotated[bool, described("one 3×3 blur of the ground after the last ball of the total",
        needs="snowballs.total")] = True
    # fmt: on


@register
class SnowballErosion:
    """Lets snowballs roll over a world, one cycle at a time."""

    name: ClassVar[str] = "snowballs"
    after: ClassVar[str] = "droplets"
    parameters: ClassVar[type[Parameters]] = SnowballParameters
    changes: ClassVar[tuple[str, ...]] = (*MOVED, "wear", "deposit", "traffic")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, SnowballParameters(count=1, smoothing=1.0), Cycle())

    def finished(self, world: World, parameters: SnowballParameters) -> bool:
        """Whether the last ball has fallen."""
        return 0 < self._total(world, parameters) <= world.snowballs

    @staticmethod
    def _total(world: World, parameters: SnowballParameters) -> int:
        return round(parameters.total * world.refinement**2)

    def step(self, world: World, parameters: SnowballParameters, cycle: Cycle) -> None:
        """Advance `world` by the balls of one cycle. Raises `ProcessFailure` if one meets what is not finite.

        In cells n times as fine, n² as many balls fall, as many on each area, and each rolls n times as many steps,
        which are as many metres together. What it gains, keeps and puts down in one of them is such that it comes to
        the same over these metres; what it wears in a step is as deep beside the side of a cell as before. The offset
        stays one in cells, for it is there to spread the paths of balls over the cells beside each other.
        """
        from kernels import snowballs

        finer = world.refinement
        count = round(parameters.count * finer**2)
        if parameters.total:
            count = min(count, max(self._total(world, parameters) - world.snowballs, 0))
        kept = parameters.friction ** (1.0 / finer)
        ends = world.standing if not parameters.into_water else np.zeros_like(world.standing)
        totals = snowballs.roll(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(),
            ends,
            world.trace("wear"),
            world.trace("deposit"),
            world.trace("traffic"),
            world.sea_level if not parameters.into_water else -math.inf,
            world.cell_size,
            world.seed,
            world.cycle,
            for_kernel(
                snowballs.SnowballParameters,
                parameters,
                count=count,
                deposition_rate=compounded(parameters.deposition_rate, 1.0 / finer),
                friction=kept,
                speed=parameters.speed * ((1.0 - kept) / (1.0 - parameters.friction)),
                iterations=round(parameters.iterations * finer),
                iteration_scale=parameters.iteration_scale / finer,
            ),
            surface=world.surface,
            rates=world.rates_in(cycle.scratch.begin()),
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        world.snowballs += count
        account_for(world, "worn by snowballs", totals.moved)
        if parameters.smoothing:
            _smooth_partly(world, parameters.smoothing)
        if parameters.smooth_at_end and self.finished(world, parameters):
            _smooth_partly(world, 1.0)


def _smooth_partly(world: World, rate: float) -> None:
    """Blur the ground as far, in metres, as one blur does in reference cells."""
    blurs = max(1, math.ceil(rate * world.refinement**2))
    for _ in range(blurs):
        smooth(world, rate * world.refinement**2 / blurs)


def smooth(world: World, rate: float = 1.0) -> None:
    """Blur the ground, fully or partly. This conserves mass, so the ledger has no entry."""
    from kernels import smoothing

    mobility = world.layers.get("mobility")
    smoothing.smooth(world.bedrock, rate, mobility)
    for kind in range(world.mix.shape[2]):
        smoothing.smooth(world.mix[..., kind], rate, mobility)
    world.sum_mix()
