"""Falls: plunge pools that they dig, and faces that they undercut, so that they wander upstream."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.layers import LayerDeclaration
from app.model.parameters import Parameters, described, parameter
from app.model.world import World
from app.processes.cycle import Cycle, compounded
from app.processes.discharge import discharge_of_cycle, drainage_of
from app.processes.kinds import account_for
from app.processes.process import register

UNDERCUT = "undercut"


class FallsParameters(Parameters, frozen=True, kw_only=True):
    """Falls of rivers: plunge pools after Veronese (1937), recession after Hayakawa and Matsukura (2003)."""

    title: ClassVar[str] = "Falls"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool,
        described("falls of rivers that dig plunge pools, undercut their faces and wander upstream")] = False
    retreat: Annotated[float, parameter(0.0, 100.0,
        "recession per cycle of a fall of 10 m and 1 m³/s, of the weakest rock", unit="m", log=True, least=1e-5,
        essential=True)] = 1.0
    least: Annotated[float, parameter(0.0, 1e5, "mean discharge of the smallest rivers whose falls wander",
        unit="m³/s", log=True, least=1e-6)] = 0.002
    pool: Annotated[float, parameter(0.0, 10.0, "factor on the depth of plunge pools", unit="times")] = 1.0
    fines: Annotated[float, parameter(0.0, 1.0,
        "fraction of the broken rock that is so fine that rivers carry it off the map", essential=True)] = 0.6
    every: Annotated[int, parameter(1, 1000, "interval of its steps", unit="cycles", log=True)] = 10
    # fmt: on


DIGGING = 0.1  # part of what is too much above the floor of a pool that is dug in a cycle


@register
class FallsAtWork:
    """Lets falls work on the land, one cycle at a time."""

    name: ClassVar[str] = "falls"
    after: ClassVar[str] = "droplets"
    parameters: ClassVar[type[Parameters]] = FallsParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", UNDERCUT)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration(UNDERCUT, "depth of the notch in the face of a fall", "m", seen="in overlays"),
    )

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        ground = np.add.outer(np.abs(np.arange(-4.0, 4.0)), np.where(np.arange(8) > 3, 20.0, 0.0) + np.arange(8.0))
        world = World(ground, np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, FallsParameters(every=1, least=0.0), Cycle())

    def step(self, world: World, parameters: FallsParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the cycles since the last step, if a step is due and rivers fall anywhere."""
        if (world.cycle + 1) % parameters.every:
            return ()
        from kernels.falls import find_falls
        from kernels.materials import Moved
        from kernels.waterfalls import WaterfallParameters, work

        size, width = world.cell_size, cycle.river_width
        drainage = drainage_of(world, cycle.scratch)
        discharge = discharge_of_cycle(world, cycle, drainage)
        rivers = (discharge >= parameters.least) & ~drainage.ocean
        surface = np.maximum(drainage.filled, world.sea_level, out=drainage.filled)
        falls = find_falls(surface, drainage.directions, discharge, rivers, size, width)
        if not len(falls.lip):
            return ()
        totals = work(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(),
            size,
            drainage,
            discharge,
            falls,
            width,
            world.trace(UNDERCUT),
            WaterfallParameters(
                parameters.retreat * parameters.every,
                parameters.pool,
                compounded(DIGGING, parameters.every),
                parameters.fines,
            ),
            leaves=bool(drainage.ocean.any()) or not world.walls,
            rates=world.rates_in(cycle.scratch),
        )
        account_for(world, "broken by falls", totals.moved)
        account_for(world, "", Moved(off_map=totals.fines), lost="carried off by rivers")
        return self.changes

    def fade(self, world: World, parameters: FallsParameters) -> bool:
        """Forget the notches: where this process is off, nothing is known of them."""
        world.forget(UNDERCUT)
        return False
