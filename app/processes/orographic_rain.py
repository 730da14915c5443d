"""Orographic rain: more on windward slopes, less behind them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from app.model.climate import USUAL_WIND, MoistWind, Weather
from app.model.layers import OROGRAPHIC_RAIN
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.process import register
from kernels.standing import DRY

# Changes of wind speed (a fraction) and temperature (degrees) that trigger an update of the map
SPEED_CHANGE = 0.2
WARMING = 3.0


class OrographicRainParameters(Parameters, frozen=True, kw_only=True):
    """Rain distributed by wind and relief (Smith, Barstad 2004): windward slopes are wet, and a rain shadow is dry."""

    title: ClassVar[str] = "Orographic rain"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("rain distributed by wind and relief; its mean stays the precipitation")] = False
    every: Annotated[int, parameter(1, 10_000, "cycles between updates of the map of rain", unit="cycles",
        log=True)] = 50
    turn: Annotated[float, parameter(0.1, 45.0, "change of wind direction that triggers an update", unit="°",
        log=True)] = 10.0
    air_speed: Annotated[float, parameter(0.0, 50.0, "speed of the moist air at the usual wind speed", unit="m/s",
        essential=True)] = 10.0
    background: Annotated[float, parameter(0.01, 50.0,
        "rain on level land while moist air flows; less of it makes the contrast stronger", unit="mm/h", log=True,
        essential=True)] = 2.0
    forming_time: Annotated[float, parameter(0.0, 10_000.0, "time in which condensed vapour forms drops",
        unit="s")] = 1000.0
    fall_time: Annotated[float, parameter(0.0, 10_000.0, "time in which drops fall to the ground, adrift with the wind",
        unit="s")] = 1000.0
    stability: Annotated[float, parameter(0.0, 0.02, "moist buoyancy frequency: stable air lifts less high",
        unit="1/s")] = 0.005
    uptake: Annotated[float, parameter(0.0, 10.0,
        "increase of rain from air that has come over water, as a fraction", needs="pools.enabled")] = 0.5
    uptake_reach: Annotated[float, parameter(100.0, 1e6, "distance within which air takes up vapour, and loses it",
        unit="m", log=True, needs="pools.enabled, orographic_rain.uptake")] = 20_000.0
    # fmt: on


@register
class OrographicRain:
    """Updates the rain on each cell relative to the mean, in some cycles."""

    name: ClassVar[str] = "orographic_rain"
    after: ClassVar[str] = "pools"  # whose water gives vapour; before all processes that use rain
    parameters: ClassVar[type[Parameters]] = OrographicRainParameters
    changes: ClassVar[tuple[str, ...]] = (OROGRAPHIC_RAIN,)

    def prepare(self) -> None:
        """Nothing to compile."""

    def step(self, world: World, parameters: OrographicRainParameters, cycle: Cycle) -> tuple[str, ...]:
        """Update the map of `world` if there is none yet, if it is due, or if the wind has changed."""
        from kernels.orographic_rain import RainParameters, relative_rain

        wind = _wind_of(cycle.weather)
        if (
            OROGRAPHIC_RAIN in world.layers
            and world.cycle % parameters.every
            and not wind.differs(world.rain_wind, parameters.turn, SPEED_CHANGE, WARMING)
        ):
            return ()
        world.rain_wind = wind
        world.trace(OROGRAPHIC_RAIN)[...] = relative_rain(
            world.ground,
            (world.standing != DRY) if "pools" in cycle.running else None,
            world.cell_size,
            for_kernel(
                RainParameters,
                parameters,
                wind_direction=wind.direction,
                temperature=wind.temperature,
                air_speed=parameters.air_speed * wind.speed / USUAL_WIND,
                wrap=cycle.edges.wrap,
            ),
        )
        return self.changes

    def fade(self, world: World, parameters: OrographicRainParameters) -> bool:
        """Forget the map, so that rain is uniform again."""
        if OROGRAPHIC_RAIN in world.layers:
            world.forget(OROGRAPHIC_RAIN)
        return False


def _wind_of(weather: Weather) -> MoistWind:
    return MoistWind(weather.wind_direction, weather.wind_speed, weather.temperature)
