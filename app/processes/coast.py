"""Coast: waves that wear cliffs, move sand along the shore and build beaches."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.climate import USUAL_WIND
from app.model.layers import SWELL_EAST, SWELL_SOUTH, LayerDeclaration
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import ProcessFailure, register
from kernels.standing import DRY, SEA

SECONDS_PER_MINUTE = 60.0
WEAKEST_WIND = 0.1  # of the usual wind: swell remains on still air

NOTCH, POWER, DRIFT = "notch", "wave_power", "drift"


class CoastParameters(Parameters, frozen=True, kw_only=True):
    """Waves at work on the shore (Ashton & Murray 2001; Dean 1977): cliffs, drift along the shore, and beaches."""

    title: ClassVar[str] = "Coast"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("waves of the sea that wear cliffs, move sand along the shore and build beaches",
        needs="edges.water=sea")] = False
    height: Annotated[float, parameter(0.0, 10.0, "height of waves on the open sea in the usual wind", unit="m",
        essential=True)] = 1.5
    period: Annotated[float, parameter(1.0, 25.0, "period of the waves in the usual wind", unit="s")] = 7.0
    spread: Annotated[float, parameter(0.0, 80.0, "directions to either side of the wind's from which waves come",
        unit="°")] = 60.0
    wear: Annotated[float, parameter(0.0, 20.0,
        "recession per cycle of a cliff of the weakest rock, in waves of 10 kW/m", unit="m", log=True,
        essential=True)] = 1.0
    fines: Annotated[float, parameter(0.0, 1.0,
        "fraction of the worn rock that is too fine for beaches and goes out to sea")] = 0.5
    minutes: Annotated[float, parameter(0.0, 1000.0,
        "time per cycle in which waves move sand along the shore; less where that is too much for the cells",
        unit="min", log=True, essential=True)] = 2.0
    profile: Annotated[float, parameter(0.02, 0.5, "steepness of beaches in balance: larger for coarser sand",
        unit="m^(1/3)")] = 0.15
    shaping: Annotated[float, parameter(0.0, 0.25,
        "fraction per cycle of a beach's deviation from its balance that waves level")] = 0.2
    every: Annotated[int, parameter(1, 1000, "cycles between updates of the waves where the coast has moved",
        unit="cycles", log=True)] = 20
    turn: Annotated[float, parameter(0.1, 45.0, "change of wind direction that triggers an update", unit="°",
        log=True)] = 10.0
    # fmt: on


@register
class Coast:
    """Lets the sea work on the shore of a world, one cycle at a time."""

    name: ClassVar[str] = "coast"
    after: ClassVar[str] = "cascade"
    parameters: ClassVar[type[Parameters]] = CoastParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", "water", SWELL_SOUTH, SWELL_EAST, NOTCH, POWER, DRIFT)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration(SWELL_SOUTH, "energy of waves that run southward, relative to the open sea", signed=True),
        LayerDeclaration(SWELL_EAST, "energy of waves that run eastward, relative to the open sea", signed=True),
        LayerDeclaration(NOTCH, "depth of a notch in a cliff; below 0 in the sea", "m", signed=True, seen="never"),
        LayerDeclaration(POWER, "power of waves at the shore", "kW/m", seen="in overlays"),
        LayerDeclaration(DRIFT, "sand that drifts along the shore per cycle", "m³", largest=1e12, seen="in overlays"),
    )  # fmt: skip

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        from app.model.edge_parameters import EdgeParameters

        world = World(np.linspace(-4.0, 3.0, 64).reshape(8, 8), np.ones((8, 8)), cell_size=1.0, seed=0)
        self.step(world, CoastParameters(), Cycle(edges=EdgeParameters(water="sea")))

    def step(self, world: World, parameters: CoastParameters, cycle: Cycle) -> tuple[str, ...]:
        """Let the sea work on the shore of `world` for a cycle. Without a sea nothing happens."""
        from kernels import coast, materials

        edges, wind = cycle.edges, max(cycle.weather.wind_speed / USUAL_WIND, WEAKEST_WIND)
        height, period = parameters.height * wind, parameters.period * wind ** (1.0 / 3.0)
        if edges.water != "sea" or not height > 0.0:
            return ()
        standing = _sea_of(world, cycle)
        found = self._bring_swell(world, parameters, cycle, standing, height, period)
        totals = coast.work(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(),
            world.cell_size,
            standing,
            (world.water, world.water_level),
            (world.layers[SWELL_SOUTH], world.layers[SWELL_EAST]),
            world.trace(NOTCH),
            world.trace(POWER),
            world.trace(DRIFT),
            for_kernel(
                coast.CoastParameters,
                parameters,
                sea_level=edges.sea_level,
                profile=parameters.profile,
                height=height,
                period=period,
                seconds=parameters.minutes * SECONDS_PER_MINUTE,
                finer=world.refinement,
                share=1.0,
            ),
            world.rates_in(cycle.scratch.begin()),
            cycle.scratch,
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        if totals.shut_in > 0.0:
            world.ledger.water.gain("from the sea", totals.shut_in * world.cell_area)
            world.water_version += 1
        account_for(world, "worn by the sea", totals.moved, "drifted in")
        account_for(world, "", materials.Moved(off_map=totals.fines), lost="out to sea")
        return self.changes if found else tuple(name for name in self.changes if name not in (SWELL_SOUTH, SWELL_EAST))

    def fade(self, world: World, parameters: CoastParameters) -> bool:
        """Forget the waves: where this process is off, nothing is known of them."""
        world.forget(SWELL_SOUTH, SWELL_EAST, NOTCH, POWER, DRIFT)
        return False

    def _bring_swell(
        self, world: World, parameters: CoastParameters, cycle: Cycle, standing: NDArray[np.uint8], height: float,
        period: float,
    ) -> bool:  # fmt: skip
        """Find the swell of `world` anew, if there is none yet, the wind has turned, or the coast has moved.

        Returns whether it was.
        """
        from kernels.swell import TOE, SwellParameters, find_swell

        towards = (cycle.weather.wind_direction + 180.0) % 360.0
        known = SWELL_SOUTH in world.layers
        south, east = world.trace(SWELL_SOUTH), world.trace(SWELL_EAST)
        turned = abs((towards - world.swell_direction + 180.0) % 360.0 - 180.0)
        is_current = known and turned <= parameters.turn
        if is_current and world.cycle % parameters.every:
            return False
        sea = standing == SEA
        # There is some swell in each cell of the sea that there was, and none on land.
        if is_current and np.array_equal(sea, (south != 0.0) | (east != 0.0)):
            return False
        world.swell_direction = towards
        find_swell(
            world.ground,
            sea,
            SwellParameters(towards, parameters.spread, period, cycle.edges.sea_level, TOE * height),
            south,
            east,
        )
        return True


def _sea_of(world: World, cycle: Cycle) -> NDArray[np.uint8]:
    """Where the sea is, as `World.standing`, also where lakes and sea are not simulated."""
    if cycle.has_standing_water:
        return world.standing
    from kernels.ocean import ocean_mask

    return np.where(ocean_mask(world.ground, cycle.edges.sea), SEA, DRY).astype(np.uint8)
