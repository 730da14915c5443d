"""The climate: rain, wind and temperature, with seasons, storms and gusts, and the weather of each cycle."""

from __future__ import annotations

import math
import random
from typing import Annotated, ClassVar, NamedTuple

from app.model.parameters import Parameters, parameter
from kernels.units import Celsius, CelsiusPerMetre, Degrees, Speed

METRES_PER_KILOMETRE = 1000.0
USUAL_WIND = 1.4  # cells per unit of time: the reference that other speeds are relative to

USUAL_PRECIPITATION = 800.0  # mm per year: the reference of the amounts in parameters of processes


# Needs of parameters that only these processes read
READ_RAIN = (
    "droplets.enabled or moisture.enabled or plants.enabled or geology.enabled or meandering.enabled or snow.enabled"
    " or falls.enabled"
)
FEEL_WARMTH = "moisture.enabled or plants.enabled or weathering.enabled or snow.enabled"
WARMTH_MATTERS = f"{FEEL_WARMTH} or orographic_rain.enabled"


class ClimateParameters(Parameters, frozen=True, kw_only=True):
    """Rain, wind and temperature, shared by all processes."""

    title: ClassVar[str] = "Climate"
    section: ClassVar[str] = "climate"

    # fmt: off
    precipitation: Annotated[float, parameter(0.0, 4.0 * USUAL_PRECIPITATION,
        "annual precipitation: droplets, infiltration and discharge are proportional to it", unit="mm", log=True,
        needs=READ_RAIN, essential=True)] = USUAL_PRECIPITATION
    rain_by_altitude: Annotated[float, parameter(0.0, 1.0,
        "fraction of the rain that increases with altitude; the rest is uniform",
        needs=f"{READ_RAIN} or floods.enabled")] = 0.0
    wind_direction: Annotated[float, parameter(0.0, 360.0, "direction the wind comes from, clockwise from north",
        unit="°", essential=True)] = 270.0
    wind_speed: Annotated[float, parameter(0.0, 4.0, "speed of the prevailing wind", unit="cells/t",
        essential=True)] = USUAL_WIND
    temperature: Annotated[float, parameter(-40.0, 45.0, "air temperature at height 0", unit="°C",
        needs=WARMTH_MATTERS, essential=True)] = 15.0
    lapse_rate: Annotated[float, parameter(0.0, 60.0, "decrease of temperature per kilometre of height", unit="°C/km",
        needs=f"{FEEL_WARMTH} or ice.enabled")] = 6.5
    year: Annotated[int, parameter(0, 100_000, "length of a year; 0: no seasons", unit="cycles", log=True)] = 0
    season_rain: Annotated[float, parameter(0.0, 1.0,
        "seasonal amplitude of rain, as a fraction: drier summers, wetter winters",
        needs=f"climate.year, {READ_RAIN}")] = 0.5
    season_temperature: Annotated[float, parameter(0.0, 40.0,
        "seasonal amplitude of temperature: summer above, winter below the annual mean", unit="°C",
        needs=f"climate.year, {WARMTH_MATTERS} or ice.enabled")] = 8.0
    season_wind: Annotated[float, parameter(0.0, 180.0, "seasonal swing of the wind direction to either side", unit="°",
        needs="climate.year")] = 0.0
    storms: Annotated[float, parameter(0.0, 1.0, "fraction of the time in which a storm blows", essential=True)] = 0.0
    storm_length: Annotated[int, parameter(2, 10_000, "duration of a storm", unit="cycles", log=True,
        needs="climate.storms")] = 60
    storm_speed: Annotated[float, parameter(1.0, 4.0,
        "wind speed at the peak of a storm, relative to the prevailing wind", unit="times",
        needs="climate.storms")] = 2.0
    gustiness: Annotated[float, parameter(0.0, 1.0,
        "largest deviation of gusts and lulls from the wind speed, as a fraction; 0: steady wind")] = 0.0
    gust_length: Annotated[int, parameter(1, 10_000, "time between gusts and lulls", unit="cycles", log=True,
        needs="climate.gustiness")] = 20
    gust_turn: Annotated[float, parameter(0.0, 90.0, "largest swing of the wind direction with the gusts", unit="°",
        needs="climate.gustiness")] = 0.0
    # fmt: on


class MoistWind(NamedTuple):
    """The wind that brings rain."""

    direction: Degrees = 270.0  # where it comes from, clockwise from north
    speed: Speed = USUAL_WIND
    temperature: Celsius = 15.0  # at a height of 0

    def differs(self, other: MoistWind, turn: Degrees, speed: float, warming: Celsius) -> bool:
        """Whether it differs from another one by more than so many degrees, such a fraction of speed, or in warmth."""
        return (
            abs((self.direction - other.direction + 180.0) % 360.0 - 180.0) > turn
            or abs(self.speed - other.speed) > speed * max(self.speed, other.speed)
            or abs(self.temperature - other.temperature) > warming
        )


class Weather(NamedTuple):
    """The weather of one cycle."""

    rain: float = 1.0  # factor on rainfall
    mean_rain: float = 1.0  # as `rain`, over the year
    rain_by_altitude: float = 0.0
    wind_direction: Degrees = 270.0  # direction it comes from, clockwise from north
    wind_speed: Speed = USUAL_WIND
    temperature: Celsius = 15.0  # at a height of 0
    lapse_rate: CelsiusPerMetre = 0.0065
    storm: float = 0.0  # from 0 to 1 at its height
    season: float = 0.0  # from −1 in the middle of winter to 1 in the middle of summer
    mean_temperature: Celsius = 15.0  # as `temperature`, over the year
    storm_passed: float = 0.0  # elapsed fraction of a storm
    year: int = 0  # length of a year in cycles; 0: no seasons


def weather_of(climate: ClimateParameters, seed: int, cycle: int) -> Weather:
    """The weather of a cycle: a pure function of its arguments. A year begins in spring."""
    season = math.sin(2.0 * math.pi * (cycle % climate.year) / climate.year) if climate.year else 0.0
    swing = math.cos(2.0 * math.pi * (cycle % climate.year) / climate.year) if climate.year else 0.0
    storm = _storm(climate, seed, cycle)
    gust, turn = (_gust(climate, f"{what} {seed}", cycle) for what in ("gust", "turn"))
    return Weather(
        rain=climate.precipitation / USUAL_PRECIPITATION * (1.0 - climate.season_rain * season),
        mean_rain=climate.precipitation / USUAL_PRECIPITATION,
        rain_by_altitude=climate.rain_by_altitude,
        wind_direction=(climate.wind_direction + climate.season_wind * swing + climate.gust_turn * turn) % 360.0,
        wind_speed=climate.wind_speed * (1.0 + (climate.storm_speed - 1.0) * storm) * (1.0 + climate.gustiness * gust),
        temperature=climate.temperature + climate.season_temperature * season,
        lapse_rate=climate.lapse_rate / METRES_PER_KILOMETRE,
        storm=storm,
        season=season,
        mean_temperature=climate.temperature,
        storm_passed=(cycle % climate.storm_length + 0.5) / climate.storm_length if storm > 0.0 else 0.0,
        year=climate.year,
    )


def with_storm(weather: Weather, least: float) -> Weather:
    """This weather in a storm that comes up and has grown to a strength from 0 to 1, if none as strong blows."""
    if weather.storm >= least:
        return weather
    return weather._replace(storm=least, storm_passed=math.asin(math.sqrt(least)) / math.pi)


def _storm(climate: ClimateParameters, seed: int, cycle: int) -> float:
    """Strength of a storm, from 0 to 1. Time is divided into spans of a storm's length; random spans have a storm."""
    if climate.storms == 0.0:
        return 0.0
    span, moment = divmod(cycle, climate.storm_length)
    if random.Random(f"storm {seed} {span}").random() >= climate.storms:
        return 0.0
    return math.sin(math.pi * (moment + 0.5) / climate.storm_length) ** 2


def _gust(climate: ClimateParameters, stream: str, cycle: int) -> float:
    """From −1 to 1: value noise over the cycles, with a number of the stream at every `gust_length` of them.

    Smooth (Perlin 2002: first and second derivatives are 0 at each number).
    """
    if climate.gustiness == 0.0:
        return 0.0
    span, moment = divmod(cycle, climate.gust_length)
    before, after = (random.Random(f"{stream} {end}").uniform(-1.0, 1.0) for end in (span, span + 1))
    part = moment / climate.gust_length
    return before + (after - before) * part**3 * (part * (6.0 * part - 15.0) + 10.0)
