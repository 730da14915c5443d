"""F2: rock that breaks into loose material, by its own weight and by frost."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np

from app.parameters import Parameters, described, for_kernel, parameter
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import register
from app.world import World


class WeatheringParameters(Parameters, frozen=True, kw_only=True):
    """Rock that breaks where it is too steep (Musgrave, Kolb, Mace 1989), and where it freezes."""

    title: ClassVar[str] = "Weathering"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("whether rock breaks into loose material; the cascade lets that slide")] = False
    breaking: Annotated[
        float, parameter(0.0, 0.5, "part of what stands too steep that breaks off in each cycle, from cliffs")
    ] = 0.02
    steepest: Annotated[
        float, parameter(5.0, 89.0, "steepest slope on which rock stands; materials have their own", unit="°")
    ] = 50.0
    frost: Annotated[
        float,
        parameter(
            0.0, 1.0, "rock that frost breaks in each cycle where it is coldest, bare and weak", unit="m", log=True
        ),
    ] = 0.002
    frost_wetness: Annotated[
        float, parameter(0.0, 10.0, "how much more frost breaks of soaked rock than of dry, as a part")
    ] = 2.0
    cover: Annotated[
        float,
        parameter(
            0.01, 10.0, "loose material under which frost does about a third of what it does to bare rock",
            unit="m", log=True,
        ),
    ] = 0.5  # fmt: skip


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
        """Advance `world` by what breaks in one cycle."""
        from kernels import weathering

        moved = weathering.weather(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(rock_steepest=math.tan(math.radians(parameters.steepest))),
            world.cell_size,
            for_kernel(weathering.WeatheringParameters, parameters, cycle.weather),
            world.surface,
        )
        account_for(world, "broken", moved)
