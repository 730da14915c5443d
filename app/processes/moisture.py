"""Soil moisture, groundwater, and springs where groundwater surfaces."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from app.model.climate import USUAL_WIND
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle, Rising
from app.processes.process import register

if TYPE_CHECKING:
    from kernels.moisture import Aquifer


class MoistureParameters(Parameters, frozen=True, kw_only=True):
    """Water in the ground (Dupuit 1863, Boussinesq 1904): soil moisture, groundwater, springs, marshes."""

    title: ClassVar[str] = "Moisture"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("water in the ground: soil moisture, groundwater and springs")] = False
    rain_infiltration: Annotated[float, parameter(0.0, 1.0,
        "rain per cycle that can infiltrate open ground, as water depth", unit="m", log=True, essential=True)] = 0.004
    soaking: Annotated[float, parameter(0.0, 0.2, "rate at which a droplet loses water by infiltration into dry ground",
        unit="1/t", log=True, needs="droplets.enabled")] = 0.002
    infiltration: Annotated[float, parameter(0.0, 1.0,
        "infiltration of standing water into sand per cycle, as water depth", unit="m", log=True)] = 0.02
    soil_depth: Annotated[float, parameter(0.01, 10.0, "depth of the soil that rain wets and evaporation dries",
        unit="m", log=True)] = 1.0
    weathered: Annotated[float, parameter(0.0, 2.0,
        "greatest thickness of rock that counts as soil, where loose cover is thin", unit="m")] = 0.2
    porosity: Annotated[float, parameter(0.01, 0.6, "porosity of loose material, where materials do not define it",
        needs="not materials.enabled")] = 0.38
    rock_porosity: Annotated[float, parameter(0.01, 0.6, "porosity of rock, where materials do not define it",
        needs="not materials.enabled")] = 0.15
    field_capacity: Annotated[float, parameter(0.0, 0.9,
        "fraction of pore space that holds water against gravity; only this water evaporates")] = 0.3
    percolation: Annotated[float, parameter(0.0, 1.0,
        "fraction of soil water above field capacity that drains to groundwater per cycle")] = 0.2
    evaporation: Annotated[float, parameter(0.0, 1.0, "evaporation from wet soil at 15 °C per cycle, as water depth",
        unit="m", log=True)] = 0.002
    transpiration: Annotated[float, parameter(0.0, 4.0,
        "additional water loss under full plant cover, relative to evaporation from bare soil", unit="times",
        needs="plants.enabled")] = 1.0
    groundwater: Annotated[float, parameter(0.0, 1.0, "initial saturation of the pores below the soil")] = 0.25
    aquifer_depth: Annotated[float, parameter(0.0, 1_000.0,
        "thickness of rock that bears groundwater, below the loose material", unit="m", log=True)] = 20.0
    conductivity: Annotated[float, parameter(0.001, 10_000.0, "hydraulic conductivity of sand", unit="m/cycle",
        log=True)] = 20.0
    rock_permeability: Annotated[float, parameter(0.0, 1.0,
        "permeability of rock relative to sand, where materials do not define it", needs="not materials.enabled")] = 0.2
    capillary_rise: Annotated[float, parameter(0.01, 10.0,
        "height above the water table up to which the ground is wetted", unit="m", log=True)] = 1.0
    smallest_spring: Annotated[float, parameter(0.001, 10.0,
        "water depth that must accumulate before emerging groundwater runs off as a spring", unit="m", log=True,
        needs="droplets.enabled")] = 0.1
    # fmt: on


@register
class Moisture:
    """Lets the ground of a world take, hold and give water, one cycle at a time."""

    name: ClassVar[str] = "moisture"
    after: ClassVar[str] = "pools"
    parameters: ClassVar[type[Parameters]] = MoistureParameters
    changes: ClassVar[tuple[str, ...]] = ("moisture", "groundwater", "wetness", "water")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        from kernels.moisture import seep

        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, MoistureParameters(), Cycle(running=frozenset({"droplets"})))
        seep(world.water, world.trace("groundwater"), 0.0)  # as lakes do where this process runs

    def step(self, world: World, parameters: MoistureParameters, cycle: Cycle) -> None:
        """Advance the subsurface water of `world` by one cycle, and pass springs and infiltration to drops."""
        from kernels import moisture

        settled = cycle.has_standing_water
        new = "moisture" not in world.layers
        aquifer = _aquifer(world, parameters, cycle)
        area = world.cell_area
        account = world.ledger.water
        if new and parameters.groundwater > 0.0:
            account.gain("found in the ground", aquifer.fill(parameters.groundwater) * area)
        cycle.soaking = parameters.soaking
        if world.cycle % moisture.CYCLES_PER_FLOW == 0:
            turn = world.cycle // moisture.CYCLES_PER_FLOW % 2 == 1
            off_map = aquifer.flow(moisture.CYCLES_PER_FLOW, columns_first=turn)
            account.lose("off the map underground", off_map * area)
        if world.cycle % moisture.CYCLES_PER_EXCHANGE != 0:
            return
        totals = aquifer.exchange(moisture.CYCLES_PER_EXCHANGE)
        account.gain("rain", totals.rained * area)
        account.lose("evaporated from the ground", totals.evaporated * area)
        if totals.from_sea or totals.into_sea:
            account.gain("from the sea", totals.from_sea * area)
            account.lose("into the sea", totals.into_sea * area)
        if "droplets" in cycle.running:
            cycle.rising = Rising(*aquifer.rise())
        elif settled:
            cells, depths = aquifer.rise()
            world.water.reshape(-1)[cells] += depths


def soak(world: World, parameters: MoistureParameters, cycle: Cycle, cycles: int) -> Iterator[None]:
    """Spin up the wetness of the ground over so many cycles, in a few long steps with a pause after each.

    What comes out of the ground is gone. Each step takes half of the time that is left, so that the last ones are as
    short as cycles.
    """
    from kernels.moisture import CYCLES_PER_EXCHANGE

    new = "moisture" not in world.layers
    aquifer = _aquifer(world, parameters, cycle)
    if new and parameters.groundwater > 0.0:
        aquifer.fill(parameters.groundwater)
    columns_first = False
    while cycles > 0:
        step = max(cycles // 2, min(cycles, CYCLES_PER_EXCHANGE))
        aquifer.flow(step, columns_first=columns_first)
        aquifer.exchange(step)
        aquifer.rise()
        cycles, columns_first = cycles - step, not columns_first
        yield


def _aquifer(world: World, parameters: MoistureParameters, cycle: Cycle) -> Aquifer:
    """The ground of a world, as the weather and the water of a cycle find it."""
    from kernels import moisture

    settled = cycle.has_standing_water
    weather = cycle.weather
    # The usual wind dries as much as `evaporation` says, still air about half of that (Penman 1948).
    dried = parameters.evaporation * (1.0 + weather.wind_speed) / (1.0 + USUAL_WIND)
    return moisture.Aquifer(
        moisture.Ground(
            world.bedrock,
            world.loose,
            world.ground,
            world.water,
            world.standing if settled else (world.water > 0.0).astype(np.uint8),
            world.trace("moisture"),
            world.trace("groundwater"),
            world.pack("surface"),
            world.rain_and_melt,
            world.rates_in(cycle.scratch.begin()),
        ),
        world.material_fields(
            porosity=parameters.porosity,
            rock_porosity=parameters.rock_porosity,
            rock_permeability=parameters.rock_permeability,
        ),
        world.cell_size,
        for_kernel(
            moisture.MoistureParameters,
            parameters,
            weather,
            rain=parameters.rain_infiltration * weather.rain,
            evaporation=dried,
            walls=settled and world.walls,
            sea_level=world.sea_level if settled else -math.inf,
        ),
    )
