"""Glaciers: ice that comes from snow, flows, wears its bed and carries what it wears until it melts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.climate import METRES_PER_KILOMETRE, USUAL_PRECIPITATION, Weather
from app.model.edge_parameters import EdgeParameters
from app.model.layered_map import FIRN, ICE, ICE_RUNOFF, MASS_BALANCE
from app.model.layers import BURIED, LARGEST_RATE, LayerDeclaration
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.firn import take_firn
from app.processes.kinds import account_for
from app.processes.process import register
from kernels.blocks import for_blocks

if TYPE_CHECKING:
    from kernels.ice import IceParameters as KernelParameters
    from kernels.ice import IceTotals, Worn

DEBRIS, SPEED = "ice_debris", "ice_speed"

CAUSE, FLOUR = "worn by ice", "ground to flour by ice"
USUAL_CREEP = 2.4e-24  # 1/(Pa³ s): Glen's A of ice at its melting point (Cuffey, Paterson 2010)
USUAL_SLIDING = 5.7e-20  # m²/(Pa³ s) (Budd, Keage, Blundy 1979, as Oerlemans 1984 uses it)
WATER_IN_ICE = 0.917  # metres of water in a metre of ice, as the kernel has it


class IceParameters(Parameters, frozen=True, kw_only=True):
    """Glaciers by the shallow-ice approximation, with Glen's law and sliding; erosion after Hallet (1979)."""

    title: ClassVar[str] = "Ice"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("glaciers: ice that flows, wears its bed and carries debris")] = False
    years_per_cycle: Annotated[float, parameter(0.01, 10_000.0, "time that passes in a cycle for ice", unit="years",
        log=True, essential=True)] = 10.0
    every: Annotated[int, parameter(1, 1000, "interval of its steps", unit="cycles", log=True)] = 1
    snow_line: Annotated[float, parameter(-10_000.0, 10_000.0,
        "height at which as much snow falls in a year as melts: the equilibrium line", unit="m",
        needs="not snow.enabled", essential=True)] = 1500.0
    gradient: Annotated[float, parameter(0.1, 50.0, "gain or loss of ice per height above or below that line, as water",
        unit="m/km", log=True,
        needs="not snow.enabled")] = 7.0
    most_snow: Annotated[float, parameter(0.0, 20.0, "largest gain in a year, as water", unit="m/year",
        needs="not snow.enabled", essential=True)] = 1.5
    softness: Annotated[float, parameter(0.0, 100.0, "how easily ice deforms, relative to ice that is about to melt",
        unit="times", log=True, least=0.001)] = 1.0
    sliding: Annotated[float, parameter(0.0, 100.0,
        "how easily ice slides on its bed, relative to a usual glacier; 0: frozen to it", unit="times", log=True,
        least=0.001, essential=True)] = 1.0
    wear: Annotated[float, parameter(0.0, 0.1, "depth by which the bed is worn per metre that ice slides over it",
        unit="m/m", log=True, least=1e-7, needs="ice.sliding", essential=True)] = 0.0003
    wear_exponent: Annotated[float, parameter(0.5, 3.0, "exponent of the sliding speed in the law of wear",
        needs="ice.sliding, ice.wear")] = 1.0
    fines: Annotated[float, parameter(0.0, 1.0,
        "fraction of worn rock that is ground to flour, which melt water carries off the map",
        needs="ice.sliding, ice.wear")] = 0.0
    most_steps: Annotated[int, parameter(1, 1000,
        "time steps in a cycle: where ice is too fast for them, it flows for fewer years", unit="steps", log=True,
        costs=True)] = 12
    # fmt: on


@register
class Ice:
    """Lets ice come, flow and go, one cycle at a time."""

    name: ClassVar[str] = "ice"
    after: ClassVar[str] = "geology"
    parameters: ClassVar[type[Parameters]] = IceParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", ICE, DEBRIS, SPEED, ICE_RUNOFF, FIRN)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration(
            ICE, "thickness of ice", "m", np.float64, raises_ground=True, account="water", content=WATER_IN_ICE
        ),
        LayerDeclaration(DEBRIS, "debris in and on ice, as thickness of sediment", "m", np.float64, account="sediment"),
        LayerDeclaration(SPEED, "speed of ice in the mean over its depth", "m/year"),
        LayerDeclaration(
            ICE_RUNOFF, "water that runs off, relative to rain, where it falls as snow and ice melts", "times",
            largest=LARGEST_RATE,
        ),
    )  # fmt: skip

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        slope = np.add.outer(np.zeros(8), np.arange(8.0))
        world = World(slope, np.ones((8, 8)), cell_size=1.0, seed=0)
        self.step(world, IceParameters(snow_line=-10.0), Cycle())

    def step(self, world: World, parameters: IceParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the years since the last step, if a step is due and there is or comes ice."""
        if (world.cycle + 1) % parameters.every:
            return ()
        line = parameters.snow_line + _season(parameters, cycle.weather)
        yearly = world.layers.get(MASS_BALANCE) if cycle.snow_feeds_ice else None
        if cycle.snow_feeds_ice and yearly is None:
            return ()  # no year of snow has passed yet
        comes = world.ground.max() > line if yearly is None else yearly.max() > 0.0
        if ICE not in world.layers and not comes:
            return ()
        wanted = kernel_parameters(parameters, line, cycle.edges, world.refinement)
        totals, from_firn = self._run(world, parameters, wanted, cycle, yearly)
        account, volume = world.ledger.water, world.cell_area * WATER_IN_ICE
        if (fallen := totals.fallen * volume - from_firn) > 0.0:
            account.gain("snow on ice", fallen)
        for cause, amount in {
            "melted from ice": totals.melted,
            "ice off the map": totals.over_edge,
            "calved into the sea": totals.calved,
        }.items():
            if amount:
                account.lose(cause, amount * volume)
        if not world.layers[ICE].any():
            world.forget(ICE, DEBRIS, SPEED, ICE_RUNOFF)
        return tuple(name for name in self.changes if name in world.layers)

    def _run(
        self,
        world: World,
        parameters: IceParameters,
        wanted: KernelParameters,
        cycle: Cycle,
        yearly: NDArray[np.float64] | None,
    ) -> tuple[IceTotals, float]:
        """Let ice come, flow, wear and go. Returns the sums, and the water that came from firn."""
        from kernels.ice import Glaciers

        ice, debris, speed = world.trace(ICE), world.trace(DEBRIS), world.trace(SPEED)
        bed = _bed_of(world)
        glaciers = Glaciers(ice, bed, world.cell_size, wanted, cycle.scratch.begin(), yearly)
        totals = glaciers.run(wanted, speed, rows_first=world.cycle // parameters.every % 2 == 0)
        _tell_runoff(world, glaciers.balance, totals.years, cycle.weather)
        firn = 0.0 if yearly is None else take_firn(world, glaciers.balance * WATER_IN_ICE) * world.cell_area
        lost = glaciers.carry(debris)
        if lost > 0.0:
            world.ledger.sediment.lose("off the map", lost * world.cell_area)
        world.sum_ground()
        before = world.bedrock.copy() if parameters.fines > 0.0 else None
        worn = glaciers.wear(
            world.bedrock, world.sediment, world.ground, debris, world.material_fields(), wanted, world.unsheltered
        )
        _account(world, worn)
        if before is not None:
            flour = _take_flour(debris, before, world.bedrock, parameters.fines)
            world.ledger.sediment.lose(FLOUR, float(flour.sum()) * world.cell_area)
        return totals, firn

    def fade(self, world: World, parameters: IceParameters) -> bool:
        """Let all ice melt at once and lay down its debris: where this process is off, there is none."""
        if ICE not in world.layers:
            return False
        ice, debris = world.layers[ICE], world.layers[DEBRIS]
        area = world.cell_area
        world.ledger.water.lose("melted from ice", float(ice.sum()) * area * WATER_IN_ICE)
        if world.materials is None:
            world.sediment[...] += debris
        else:
            world.mix[..., 0] += debris
            world.ledger.kinds[world.materials.names[0]].gain("laid down by ice", float(debris.sum()) * area)
        world.forget(ICE, DEBRIS, SPEED, ICE_RUNOFF)
        world.sum_mix()
        world.changed["sediment"] = world.next_version
        return False


def _bed_of(world: World) -> NDArray[np.float64]:
    """The height of rock and all that is loose on it, [row, column]."""
    bed, buried = np.empty(world.shape), None if world.beds is None else world.layers[BURIED]

    def find(rows: slice) -> None:
        loose = world.sediment[rows] if buried is None else world.sediment[rows] + buried[rows]
        np.add(world.bedrock[rows], loose, out=bed[rows])

    for_blocks(find, *world.shape)
    return bed


def _take_flour(
    debris: NDArray[np.float64], before: NDArray[np.float64], bedrock: NDArray[np.float64], fines: float
) -> NDArray[np.float64]:
    """Take the fines of the rock that was worn since it was as high as `before`, which becomes what was taken."""

    def take(rows: slice) -> None:
        own = before[rows]
        own -= bedrock[rows]
        own *= fines
        np.minimum(own, debris[rows], out=own)
        debris[rows] -= own

    for_blocks(take, *debris.shape)
    return before


def _season(parameters: IceParameters, weather: Weather) -> float:
    """How much higher the snow line is in this cycle than in the mean: in a year and more there are all seasons."""
    if parameters.years_per_cycle * parameters.every >= 1.0 or weather.lapse_rate <= 0.0:
        return 0.0
    return (weather.temperature - weather.mean_temperature) / weather.lapse_rate


def kernel_parameters(
    parameters: IceParameters, line: float | None = None, edges: EdgeParameters | None = None, finer: float = 1.0
) -> KernelParameters:
    """The parameters of the kernel, for a snow line that is not the mean one and some edges of the map.

    `finer` is how many cells are as long as one of the reference: ice crosses so many more in a cycle.
    """
    from kernels.ice import IceParameters as KernelParameters
    from kernels.parameters import exact

    edges = edges or EdgeParameters()
    years = parameters.years_per_cycle * parameters.every
    return exact(
        for_kernel(
            KernelParameters,
            parameters,
            years=years,
            most_steps=math.ceil(parameters.most_steps * finer),
            creep=parameters.softness * USUAL_CREEP,
            sliding=parameters.sliding * USUAL_SLIDING,
            line=parameters.snow_line if line is None else line,
            gradient=parameters.gradient / METRES_PER_KILOMETRE,
            cap=parameters.most_snow,
            sea_level=edges.sea,
            open_edges=edges.water != "wall",
            wear=parameters.wear,
            exponent=parameters.wear_exponent,
            wear_years=years,
        )
    )


def _tell_runoff(world: World, balance: NDArray[np.float64], years: float, weather: Weather) -> None:
    """Tell what runs off beside the rain: melt adds to it, and snow that stays is taken from it."""
    precipitation = weather.mean_rain * USUAL_PRECIPITATION * 1e-3 * years
    runoff, part = world.trace(ICE_RUNOFF), WATER_IN_ICE / max(precipitation, 1e-6)

    def tell(rows: slice) -> None:
        factor = 1.0 - balance[rows] * part
        runoff[rows] = np.clip(factor, 0.0, LARGEST_RATE, out=factor)

    for_blocks(tell, *world.shape)


def _account(world: World, worn: Worn) -> None:
    """Enter what ice did to its bed. Debris is sediment of no kind."""
    account_for(world, CAUSE, worn.moved)
    kinds = world.materials.loose if world.materials else ()
    for kind, taken, laid in zip(kinds, worn.taken, worn.laid, strict=False):
        account = world.ledger.kinds[kind.name]
        if taken:
            account.lose("taken up by ice", taken * world.cell_area)
        if laid:
            account.gain("laid down by ice", laid * world.cell_area)
