"""Weathering: rock that breaks into loose material, by its own weight and by frost."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np

from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import register

FASTEST_BREAKING = 0.5  # largest fraction of the excess height that breaks off in a cycle


class WeatheringParameters(Parameters, frozen=True, kw_only=True):
    """Breakdown of rock on steep slopes (Musgrave, Kolb, Mace 1989) and by frost (Hales, Roering 2007)."""

    title: ClassVar[str] = "Weathering"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool,
        described("breakdown of rock by slope failure and frost; the cascade moves the debris")] = False
    breaking: Annotated[float, parameter(0.0, FASTEST_BREAKING,
        "fraction of the rock above the stable slope that breaks off per cycle", essential=True)] = 0.02
    steepest: Annotated[float, parameter(5.0, 89.0, "steepest stable slope of rock, where materials do not define it",
        unit="°", needs="not materials.enabled")] = 50.0
    frost: Annotated[float, parameter(0.0, 1.0, "frost weathering per cycle of bare, dry, weak rock at its coldest",
        unit="m", log=True, essential=True)] = 0.002
    frost_wetness: Annotated[float, parameter(0.0, 10.0,
        "increase of frost weathering on saturated rock, as a fraction",
        needs="weathering.frost, moisture.enabled")] = 2.0
    cover: Annotated[float, parameter(0.01, 10.0,
        "thickness of loose cover that reduces frost weathering to about a third", unit="m", log=True,
        needs="weathering.frost")] = 0.5
    # fmt: on


@register
class Weathering:
    """Breaks the rock of a world, one cycle at a time."""

    name: ClassVar[str] = "weathering"
    after: ClassVar[str] = "wind"
    parameters: ClassVar[type[Parameters]] = WeatheringParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self.step(World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0), WeatheringParameters(), Cycle())

    def step(self, world: World, parameters: WeatheringParameters, cycle: Cycle) -> None:
        """Advance `world` by what breaks in one cycle.

        What stands too high above a neighbour is a slope over one cell: in cells n times as fine it is a face n times
        as low, of which n times the part breaks off, so that it recedes by as many metres. Frost is in metres.
        """
        from kernels import weathering

        moved = weathering.weather(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(rock_steepest=math.tan(math.radians(parameters.steepest))),
            world.cell_size,
            for_kernel(
                weathering.WeatheringParameters,
                parameters,
                cycle.weather,
                breaking=min(parameters.breaking * world.refinement, FASTEST_BREAKING),
            ),
            world.surface,
            world.rates_in(cycle.scratch.begin()),
        )
        account_for(world, "broken", moved)
