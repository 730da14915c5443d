"""A process with a layer and a parameter, as somebody would add it: all that there is of it stands here."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.layers import LayerDeclaration
from app.model.parameters import Parameters, described, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.process import register


class SnowfallParameters(Parameters, frozen=True, kw_only=True):
    """Snow that falls and lies."""

    title: ClassVar[str] = "Snowfall"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("whether snow falls")] = False
    depth: Annotated[float, parameter(0.0, 2.0, "what falls in a cycle, as water", unit="m")] = 0.25


@register
class Snowfall:
    """Lets snow fall on a world, one cycle at a time."""

    name: ClassVar[str] = "snowfall"
    after: ClassVar[str] = "moisture"
    parameters: ClassVar[type[Parameters]] = SnowfallParameters
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration("sleet", "snow that lies, as water", "m", np.float64, account="water", raises_ground=True),
    )
    changes: ClassVar[tuple[str, ...]] = ("sleet",)

    def prepare(self) -> None:
        """It has no kernel."""

    def step(self, world: World, parameters: SnowfallParameters, cycle: Cycle) -> None:
        """Advance `world` by the snow of one cycle."""
        fallen = parameters.depth * cycle.weather.rain
        world.trace("sleet")[...] += fallen
        world.sum_ground()
        world.ledger.water.gain("sleet", fallen * world.ground.size * world.cell_area)
