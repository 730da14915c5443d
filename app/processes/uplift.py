"""Uplift: rock that rises, or sinks, as the crust below does."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.parameters import Parameters, described, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.plants import ROOTED_GROUND
from app.processes.process import register

FASTEST = 10.0  # metres in a cycle


class UpliftParameters(Parameters, frozen=True, kw_only=True):
    """Uplift and subsidence of rock, which carries all that lies on it."""

    title: ClassVar[str] = "Uplift"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("uplift of rock, or its subsidence")] = False
    rate: Annotated[float, parameter(-FASTEST, FASTEST, "rise of rock per cycle; below 0 it sinks", unit="m/cycle")] = (
        0.01
    )


@register
class Uplift:
    """Lets the rock of a world rise, one cycle at a time."""

    name: ClassVar[str] = "uplift"
    after: ClassVar[str] = ""  # before lakes, which rise with their beds
    parameters: ClassVar[type[Parameters]] = UpliftParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", ROOTED_GROUND)

    def prepare(self) -> None:
        """There is nothing to compile."""

    def step(self, world: World, parameters: UpliftParameters, cycle: Cycle) -> tuple[str, ...]:
        """Raise `world` by what rises in one cycle, plants with their ground."""
        risen = np.array(parameters.rate)
        for factor in ("rate_uplift", "mobility"):
            if factor in world.layers:
                risen = risen * world.layers[factor].astype(np.float64)
        changed = tuple(name for name in self.changes if name in world.layers)
        for name in changed:
            world.layers[name] += risen.astype(world.layers[name].dtype, copy=False)
        world.sum_ground()
        volume = float(np.broadcast_to(risen, world.shape).sum()) * world.cell_area
        if volume > 0.0:
            world.ledger.rock.gain("uplift", volume)
        elif volume < 0.0:
            world.ledger.rock.lose("subsidence", -volume)
        return changed
