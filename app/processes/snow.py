"""Snow: it falls where it freezes, drifts into the lee, slides off steep ground, and feeds rivers when it melts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from app.model.climate import USUAL_PRECIPITATION, USUAL_WIND, Weather
from app.model.layered_map import ICE, ICE_MELT, LEAST_SNOW, SNOW, SNOW_RUNOFF
from app.model.layers import LARGEST_SUM, LayerDeclaration
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes import firn
from app.processes.cycle import Cycle
from app.processes.firn import MELTED
from app.processes.process import register
from app.processes.wind_field import WindField
from kernels.standing import DRY

if TYPE_CHECKING:
    from kernels.snow import SnowParameters as KernelParameters
    from kernels.snow import Year

DAYS_OF_YEAR = 365.25
SECONDS_PER_DAY = 86400.0
OBLIQUITY = 23.44  # degrees
WARMEST = 1.0  # °C at which it still snows, as the kernel has it

FELL = "snow"


class SnowParameters(Parameters, frozen=True, kw_only=True):
    """Snow: degree days (Hock 2003), drift (Liston, Sturm 1998), avalanches (Bernhardt, Schulz 2010)."""

    title: ClassVar[str] = "Snow"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("snow that falls, drifts, slides and melts into rivers")] = False
    days_per_cycle: Annotated[float, parameter(0.01, 365.0, "time that passes in a cycle for snow, without seasons",
        unit="days", log=True, needs="not climate.year")] = 2.0
    melt: Annotated[float, parameter(0.0, 20.0,
        "degree-day factor: water that melts in a day for each degree above freezing", unit="mm/(°C day)",
        essential=True)] = 5.0
    sun: Annotated[float, parameter(0.0, 1.0,
        "fraction of the melt that follows the sun on each slope: slopes that face it are bare first")] = 0.5
    latitude: Annotated[float, parameter(-90.0, 90.0, "latitude, for the height of the sun; negative: south", unit="°",
        needs="snow.sun")] = 46.0
    drift: Annotated[float, parameter(0.0, 20.0, "snow that wind carries, relative to saltation over loose snow",
        unit="times", needs="wind_field.enabled", essential=True)] = 1.0
    air_speed: Annotated[float, parameter(0.0, 50.0,
        "speed of a wind that drifts snow, 10 m above it, at the usual wind speed", unit="m/s",
        needs="wind_field.enabled, snow.drift")] = 10.0
    blowing: Annotated[float, parameter(0.0, 1.0, "fraction of the time in which such a wind blows",
        needs="wind_field.enabled, snow.drift")] = 0.3
    fetch: Annotated[float, parameter(10.0, 10_000.0, "distance over which wind takes up nearly all that it can carry",
        unit="m", log=True, needs="wind_field.enabled, snow.drift")] = 500.0
    stable_depth: Annotated[float, parameter(0.01, 20.0,
        "snow water equivalent that a slope of 30° holds; what is more goes down as an avalanche", unit="m", log=True,
        essential=True)] = 0.6
    steepest: Annotated[float, parameter(20.0, 89.0, "slope above which no snow stays", unit="°")] = 55.0
    rests: Annotated[float, parameter(0.0, 45.0, "slope below which avalanches come to rest", unit="°")] = 20.0
    density: Annotated[float, parameter(0.05, 0.9, "density of lying snow relative to water")] = 0.35
    deepest: Annotated[float, parameter(0.1, 1000.0, "snow water equivalent above which snow becomes ice and runs off",
        unit="m", log=True)] = 20.0
    # fmt: on


@register
class Snow:
    """Lets snow come, move and go, one cycle at a time."""

    name: ClassVar[str] = "snow"
    after: ClassVar[str] = "orographic_rain"  # and before all that uses the water that runs off
    parameters: ClassVar[type[Parameters]] = SnowParameters
    changes: ClassVar[tuple[str, ...]] = (SNOW, SNOW_RUNOFF, *firn.FEEDS)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration(SNOW, "snow that lies, as its water equivalent", "m", np.float64, account="water"),
        LayerDeclaration(
            SNOW_RUNOFF, "water that runs off, relative to rain, where it falls as snow and snow melts", "times",
            largest=LARGEST_SUM, default=1.0, seen="in overlays",
        ),
        *firn.LAYERS,
    )  # fmt: skip

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.add.outer(np.zeros(8), 2.0 * np.arange(8.0)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        world.pack("wind field")[...] = 1.0
        cycle = Cycle(Weather(temperature=-5.0), running=frozenset({WindField.name}))
        self.step(world, SnowParameters(), cycle)

    def step(self, world: World, parameters: SnowParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the snow of one cycle, if there is or comes any."""
        from kernels import snow
        from kernels.rain import rain_map

        weather = cycle.weather
        coldest = weather.temperature - weather.lapse_rate * float(world.ground.max())
        if SNOW not in world.layers and ICE not in world.layers and coldest >= WARMEST:
            return ()
        account, area = world.ledger.water, world.cell_area
        lies, runoff = world.trace(SNOW), world.trace(SNOW_RUNOFF)
        days = days_of_cycle(parameters, weather)
        summer = firn.Summer(world.cycle, weather, max(round(DAYS_OF_YEAR / days), 1))
        if not cycle.snow_feeds_ice:
            firn.melt_firn(world)
        elif summer.begins:
            firn.begin_summer(world)
        wanted = _kernel_parameters(parameters, cycle, days)
        totals = snow.exchange(
            world.ground,
            lies,
            rain_map(world.ground, world.precipitation, weather.rain_by_altitude),
            world.standing != DRY,
            runoff,
            world.cell_size,
            wanted,
            _year(world),
        )
        account.gain(FELL, totals.fallen * area)
        account.lose(MELTED, totals.melted * area)
        if totals.evaporated:
            account.lose("evaporated from snow", totals.evaporated * area)
        if lies.any():
            self._move(world, parameters, cycle, days, wanted)
        elif coldest >= WARMEST and ICE not in world.layers and (runoff == 1.0).all():
            self._forget(world)
            return ()
        if cycle.snow_feeds_ice and summer.ends:
            firn.end_summer(world, parameters.deepest)
        return tuple(name for name in self.changes if name in world.layers)

    def _move(
        self, world: World, parameters: SnowParameters, cycle: Cycle, days: float, wanted: KernelParameters
    ) -> None:
        from kernels import snow

        if parameters.drift > 0.0 and WindField.name in cycle.running and world.wind_field is not None:
            self._blow(world, parameters, cycle, days)
        _, left = snow.slide(world.ground, world.layers[SNOW], world.cell_size, wanted, cycle.scratch.begin())
        if left:
            world.ledger.water.lose("avalanches off the map", left * world.cell_area)

    def _blow(self, world: World, parameters: SnowParameters, cycle: Cycle, days: float) -> None:
        from kernels import snow

        weather = cycle.weather
        drifted = snow.blow(
            world.ground,
            world.layers[SNOW],
            world.pack("wind field"),
            world.cell_size,
            for_kernel(
                snow.DriftParameters,
                parameters,
                air_speed=parameters.air_speed * weather.wind_speed / USUAL_WIND,
                seconds=parameters.blowing * days * SECONDS_PER_DAY,
                temperature=weather.temperature,
                lapse_rate=weather.lapse_rate,
                wrap=cycle.edges.wrap,
            ),
            cycle.scratch.begin(),
            rows_first=world.cycle % 2 == 0,
        )
        account, area = world.ledger.water, world.cell_area
        if drifted.gained:
            account.gain("snow blown onto the map", drifted.gained * area)
        if drifted.lost:
            account.lose("snow blown off the map", drifted.lost * area)

    def fade(self, world: World, parameters: SnowParameters) -> bool:
        """Let all snow melt at once: where this process is off, there is none."""
        if SNOW in world.layers:
            world.ledger.water.lose(MELTED, world.cell_area * float(world.layers[SNOW].sum()))
            self._forget(world)
        return False

    def _forget(self, world: World) -> None:
        firn.melt_firn(world)
        world.forget(SNOW, SNOW_RUNOFF)


def _year(world: World) -> Year | None:
    """The account of this year, if glaciers asked for it."""
    from kernels.snow import Year

    if LEAST_SNOW not in world.layers:
        return None
    ice = world.layers[ICE] if ICE in world.layers else np.zeros(world.shape)
    return Year(ice, world.layers[LEAST_SNOW], world.layers[ICE_MELT])


def days_of_cycle(parameters: SnowParameters, weather: Weather) -> float:
    """How many days pass in a cycle."""
    year = weather.year
    return DAYS_OF_YEAR / year if year else parameters.days_per_cycle


def _kernel_parameters(parameters: SnowParameters, cycle: Cycle, days: float) -> KernelParameters:
    """The parameters of the kernel for a cycle of so many days."""
    from kernels.parameters import exact
    from kernels.snow import SnowParameters as KernelParameters

    weather = cycle.weather
    return exact(
        for_kernel(
            KernelParameters,
            parameters,
            precipitation=weather.rain * USUAL_PRECIPITATION * 1e-3 * days / DAYS_OF_YEAR,
            days=days,
            temperature=weather.temperature,
            lapse_rate=weather.lapse_rate,
            melt=parameters.melt * 1e-3,
            declination=OBLIQUITY * weather.season,
            open_edges=cycle.edges.water != "wall",
        )
    )
