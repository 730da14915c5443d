"""The weather that a climate brings."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.climate import ClimateParameters, Weather, weather_of, with_storm
from app.window.panel.weather import weather_text
from tests.app.small import bits, simulated, small_scene

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written

YEAR = 400


def weathers(cycles: int, seed: int = 1, **climate: float) -> list[Weather]:
    parameters = ClimateParameters(**climate)  # type: ignore[arg-type]
    return [weather_of(parameters, seed, cycle) for cycle in range(cycles)]


def test_without_seasons_and_storms_each_cycle_is_like_the_others() -> None:
    first, *others = weathers(50, precipitation=400.0, wind_direction=45.0, wind_speed=2.0, temperature=3.0)
    assert set(others) == {first}
    assert (first.rain, first.wind_direction, first.wind_speed) == (0.5, 45.0, 2.0)
    assert (first.storm, first.season) == (0.0, 0.0)
    assert (first.temperature, first.lapse_rate) == (3.0, pytest.approx(0.0065))


def test_summers_are_warm_and_dry_and_the_year_evens_out() -> None:
    year = weathers(YEAR, year=YEAR, season_rain=0.6, season_temperature=10.0, season_wind=90.0, wind_direction=10.0)
    summer, winter = year[YEAR // 4], year[3 * YEAR // 4]
    assert (summer.season, winter.season) == (pytest.approx(1.0), pytest.approx(-1.0))
    assert (summer.temperature, winter.temperature) == (pytest.approx(25.0), pytest.approx(5.0))
    assert (summer.rain, winter.rain) == (pytest.approx(0.4), pytest.approx(1.6))
    assert np.mean([weather.rain for weather in year]) == pytest.approx(1.0)
    assert np.mean([weather.temperature for weather in year]) == pytest.approx(15.0)
    assert year[0].wind_direction == pytest.approx(100.0)
    assert year[YEAR // 2].wind_direction == pytest.approx(280.0)  # to the other side of north
    assert weathers(2 * YEAR, year=YEAR)[YEAR:] == weathers(YEAR, year=YEAR)


def test_storms_come_and_go_as_often_as_they_are_said_to() -> None:
    cycles = weathers(60_000, storms=0.3, storm_length=40, storm_speed=3.0, wind_speed=1.0)
    storm = np.array([weather.storm for weather in cycles])
    assert 0.25 < np.mean(storm > 0.0) < 0.35
    assert storm.max() > 0.99
    assert np.abs(np.diff(storm)).max() < 0.1  # none begins or ends at once
    passed = np.array([weather.storm_passed for weather in cycles])
    assert (passed[storm == 0.0] == 0.0).all() and passed.max() < 1.0
    assert np.allclose(np.sin(np.pi * passed) ** 2, storm)
    assert np.allclose([weather.wind_speed for weather in cycles], 1.0 + 2.0 * storm)
    assert [weather.storm for weather in weathers(500, seed=2, storms=0.3)] != [
        weather.storm for weather in weathers(500, seed=3, storms=0.3)
    ]
    assert all(weather.storm > 0.0 for weather in weathers(200, storms=1.0))


GUSTY = {"gustiness": 0.5, "gust_length": 30, "gust_turn": 40.0}


def test_gusts_and_lulls_stay_within_their_bounds_and_even_out() -> None:
    cycles = weathers(30_000, wind_speed=2.0, wind_direction=10.0, **GUSTY)
    speed = np.array([weather.wind_speed for weather in cycles])
    turn = np.array([(weather.wind_direction - 10.0 + 180.0) % 360.0 - 180.0 for weather in cycles])
    for gust in (speed / 2.0 - 1.0) / 0.5, turn / 40.0:
        assert np.abs(gust).max() <= 1.0 + 1e-9
        assert gust.min() < -0.9 < 0.9 < gust.max()
        assert abs(gust.mean()) < 0.05
        # No step, and no corner where one span meets the next
        assert np.abs(np.diff(gust)).max() < 2.0 * 1.875 / 30.0
        assert np.abs(np.diff(gust, n=2)).max() < 2.0 * 5.8 / 30.0**2
        # As long as they are said to be: alike a few cycles later, and unlike after two lengths
        alike = [float(np.corrcoef(gust[:-lag], gust[lag:])[0, 1]) for lag in (5, 60)]
        assert alike[0] > 0.8
        assert abs(alike[1]) < 0.1
    assert abs(np.corrcoef(speed, turn)[0, 1]) < 0.1, "the direction goes its own way"


def test_gusts_depend_on_seed_and_cycle_alone_and_on_nothing_without_gustiness() -> None:
    assert weathers(200, **GUSTY) == weathers(200, **GUSTY)
    assert weathers(200, seed=2, **GUSTY) != weathers(200, seed=3, **GUSTY)
    calm = {**GUSTY, "gustiness": 0.0}
    assert set(weathers(50, **calm)) == set(weathers(1))
    stormy = {"storms": 1.0, "storm_length": 20}
    for gusty, steady in zip(weathers(50, **stormy, **GUSTY), weathers(50, **stormy), strict=True):
        assert gusty.storm == steady.storm
        assert 0.5 <= gusty.wind_speed / steady.wind_speed <= 1.5


def test_a_saved_world_goes_on_in_the_same_gusts(tmp_path: Path) -> None:
    gusty = {f"climate__{name}": value for name, value in GUSTY.items()}
    scene = small_scene(wind__enabled=True, wind_field__enabled=True, droplets__enabled=False, **gusty)
    first = simulated(7, scene)
    checkpoint.save(tmp_path / "world.npz", first.world, first.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    second = Simulator(scene, world)
    for _ in range(7):
        first.advance()
        second.advance()
    assert bits(first.world) == bits(second.world)
    steady = simulated(14, scene.with_value("climate.gustiness", 0.0))
    assert not np.array_equal(steady.world.ground, first.world.ground)


def test_no_rain_no_drops_and_twice_the_rain_twice_as_many() -> None:
    dry, half, whole, twice = (
        simulated(5, small_scene(climate__precipitation=800.0 * rain)).world.ledger.water.gained["rain"]
        for rain in (0.0, 0.5, 1.0, 2.0)
    )
    assert (dry, half, twice) == (0.0, pytest.approx(0.5 * whole), pytest.approx(2.0 * whole))


def test_a_change_of_climate_acts_from_the_next_cycle_and_a_replay_has_the_same_weather() -> None:
    scene = small_scene(climate__year=7, wind__enabled=True, climate__storms=0.5, climate__storm_length=3)
    simulator = simulated(12, scene)
    assert bits(simulator.world) == bits(simulated(12, scene).world)
    simulator.go_back(simulator.world.cycle)
    assert bits(simulator.world) == bits(simulated(12, scene).world)
    simulator.change(scene.with_value("climate.precipitation", 0.0))
    rained = simulator.world.ledger.water.gained["rain"]
    simulator.advance()
    assert simulator.world.ledger.water.gained["rain"] == rained


@pytest.mark.parametrize(
    ("cycle", "season"),
    [(0, "spring"), (49, "spring"), (50, "summer"), (149, "summer"), (200, "autumn"), (300, "winter")],
)
def test_the_weather_in_words(cycle: int, season: str) -> None:
    climate = ClimateParameters(year=YEAR, wind_direction=44.0, storms=1.0, storm_length=2, temperature=10.0)
    words = weather_text(weather_of(climate, 1, cycle), climate, cycle)
    assert words.startswith(f"now: {season}, ")
    assert "from north-east" in words
    assert "storm 50%" in words
    still = ClimateParameters(wind_speed=0.0, precipitation=400.0)
    assert weather_text(weather_of(still, 1, cycle), still, cycle) == "now: 15 °C, rain 50%, no wind"


@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
def test_a_storm_that_is_wished_for_has_grown_so_strong(least: float) -> None:
    """As one does that comes up, and at no time weaker than the weather has it."""
    climate = ClimateParameters(storms=1.0, storm_length=100)
    for cycle in range(100):
        weather = weather_of(climate, 1, cycle)
        seen = with_storm(weather, least)
        assert seen.storm == max(weather.storm, least)
        assert seen == weather or math.sin(math.pi * seen.storm_passed) ** 2 == pytest.approx(least)
        assert seen._replace(storm=weather.storm, storm_passed=weather.storm_passed) == weather
