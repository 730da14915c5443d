"""The wind near the ground, shaped by hills, valleys and trees."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.layers import side_by_side
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.process import register


class WindFieldParameters(Parameters, frozen=True, kw_only=True):
    """Wind shaped by the terrain (Jackson, Hunt 1975; Paris et al. 2019): crests, gaps, valleys, shelter."""

    title: ClassVar[str] = "Wind field"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("local wind shaped by the terrain instead of a uniform one")] = False
    every: Annotated[int, parameter(1, 1000, "cycles between updates of the wind field", unit="cycles", log=True)] = 20
    turn: Annotated[float, parameter(0.1, 45.0, "change of wind direction that triggers an update", unit="°",
        log=True)] = 10.0
    speed_up: Annotated[float, parameter(0.0, 4.0,
        "strength of speed-up over crests and through gaps, and of steering along valleys", essential=True)] = 1.0
    upwind: Annotated[float, parameter(0.0, 2.0, "upwind shift of the highest speed from the crest")] = 0.3
    highest: Annotated[float, parameter(1.0, 5.0,
        "upper limit of the local wind speed, relative to the prevailing wind", unit="times")] = 2.5
    shelter: Annotated[float, parameter(0.0, 1.0, "reduction of wind speed in the lee of a ridge, as a fraction")] = 0.7
    shelter_angle: Annotated[float, parameter(1.0, 89.0,
        "angle below horizontal of the separation bubble's upper edge behind a ridge", unit="°")] = 15.0
    tree_shelter: Annotated[float, parameter(0.0, 1.0, "reduction of wind speed under a closed canopy, as a fraction",
        needs="plants.enabled")] = 0.6
    tree_length: Annotated[float, parameter(1.0, 100.0, "distance behind trees over which the wind recovers",
        unit="cells", log=True, needs="plants.enabled, wind_field.tree_shelter")] = 8.0
    # fmt: on


@register
class WindField:
    """Computes the wind near the ground from time to time."""

    name: ClassVar[str] = "wind_field"
    after: ClassVar[str] = "snowballs"
    parameters: ClassVar[type[Parameters]] = WindFieldParameters
    changes: ClassVar[tuple[str, ...]] = side_by_side("wind field")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        world.trace("canopy")
        self.step(world, WindFieldParameters(), Cycle())

    def step(self, world: World, parameters: WindFieldParameters, cycle: Cycle) -> tuple[str, ...]:
        """Recompute the wind of `world` if it is missing, due, or the prevailing wind has turned."""
        from kernels import wind_field

        direction = cycle.weather.wind_direction
        turned = abs((direction - world.wind_field_direction + 180.0) % 360.0 - 180.0)
        if world.wind_field is not None and world.cycle % parameters.every and turned <= parameters.turn:
            return ()
        world.wind_field_direction = direction
        wind_field.find_wind_field(
            world.ground,
            world.layers["canopy"] if world.surface is not None else None,
            world.cell_size,
            for_kernel(
                wind_field.WindFieldParameters,
                parameters,
                cycle.weather,
                tree_length=parameters.tree_length * world.refinement,  # constant in metres
                wrap=cycle.edges.wrap,
            ),
            world.pack("wind field"),
        )
        return self.changes
