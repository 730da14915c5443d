"""Rain that the wind brings as a process of a scene: when its map is made, and what takes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.discharge import water_of_land
from app.engine.simulator import Simulator
from app.model.layered_map import TOUCHES
from app.model.layers import OROGRAPHIC_RAIN
from app.processes.droplets import water_of_cycle
from app.scene.scene import Scene
from tests.app.small import assert_continues_after_saving, bits, simulated, small_scene


def rainy(**settings: object) -> Scene:
    """Land of 16 km, on whose slopes it rains much more than elsewhere."""
    usual = {
        "world__cell_size": 400.0,
        "world__relief": 2000.0,
        "orographic_rain__enabled": True,
        "orographic_rain__every": 4,
        "orographic_rain__forming_time": 200.0,
        "orographic_rain__fall_time": 200.0,
    }
    return small_scene(**{**usual, **settings})


def test_off_by_default_and_other_scenes_have_none() -> None:
    assert not Scene().orographic_rain.enabled
    assert OROGRAPHIC_RAIN not in simulated(2).world.layers


def test_made_at_its_cycles_and_when_the_wind_is_another_one() -> None:
    simulator = simulated(1, rainy())
    world = simulator.world
    made = [world.layers[OROGRAPHIC_RAIN].copy()]

    def advance(**changed: float) -> None:
        for path, value in changed.items():
            simulator.change(simulator.scene.with_value(path.replace("__", "."), value))
        simulator.advance()
        made.append(world.layers[OROGRAPHIC_RAIN].copy())

    for _ in range(4):
        advance()
    assert all(np.array_equal(made[0], later) for later in made[1:4])
    assert not np.array_equal(made[0], made[4])
    assert world.changed[OROGRAPHIC_RAIN] == 5 * TOUCHES
    advance(climate__wind_direction=275.0)
    assert np.array_equal(made[-1], made[-2])  # too little to be worth it
    advance(climate__wind_direction=90.0)
    assert np.corrcoef(made[-1].ravel(), made[-2].ravel())[0, 1] < 0.2, "the other side of each hill is wet"
    assert world.changed[OROGRAPHIC_RAIN] == 7 * TOUCHES
    simulator.change(simulator.scene.with_value("orographic_rain.every", 1000))
    advance(climate__wind_speed=0.7)
    assert not np.array_equal(made[-1], made[-2])
    advance(climate__temperature=5.0)
    assert not np.array_equal(made[-1], made[-2])


def test_rain_falls_where_the_map_says_and_no_more_of_it() -> None:
    scene = rainy(droplets__count=4000, moisture__enabled=True)
    plain, blown = simulated(1, scene.with_value("orographic_rain.enabled", False)), simulated(1, scene)
    world = blown.world
    factor = world.layers[OROGRAPHIC_RAIN]
    assert factor.mean() == pytest.approx(1.0, abs=1e-5)
    assert factor.max() > 1.5 and factor.min() < 0.5
    drops = water_of_cycle(world, blown.scene.droplets, blown.cycle)
    np.testing.assert_allclose(drops / drops.mean(), factor, rtol=1e-5)
    np.testing.assert_allclose(water_of_land(world.ground, scene.runoff, rate=world.rain_rate), factor, rtol=1e-5)
    rained = [simulator.world.ledger.water.gained["rain"] for simulator in (plain, blown)]
    assert rained[1] == pytest.approx(rained[0], rel=0.02)
    wet = factor > 1.2
    soaked = [simulator.world.layers["moisture"][wet].sum() for simulator in (plain, blown)]
    assert soaked[1] > 1.1 * soaked[0]


def test_fields_multiply_it() -> None:
    world = simulated(1, rainy(fields__rain="2 * x")).world
    expected = world.layers["rate_rain"] * world.layers[OROGRAPHIC_RAIN]
    assert world.rainfall is not None and world.rain_rate is not None
    np.testing.assert_array_equal(world.rainfall, expected)
    np.testing.assert_array_equal(world.rain_rate, expected)


def test_switched_off_it_rains_as_before() -> None:
    simulator = simulated(3, rainy())
    simulator.change(simulator.scene.with_value("orographic_rain.enabled", False))
    simulator.advance()
    assert simulator.world.rainfall is None
    assert OROGRAPHIC_RAIN not in simulator.world.changed


@pytest.mark.parametrize("cycles", [5, 8])
def test_a_saved_world_goes_on_as_if_it_had_not_been_saved(cycles: int, tmp_path: Path) -> None:
    """Also where the wind turns a little from cycle to cycle, so that it counts with which wind the map was made."""
    turning = {"climate__year": 60, "climate__season_wind": 60.0, "climate__season_temperature": 0.0}
    turning["orographic_rain__turn"] = 25.0
    first = simulated(cycles, rainy(**turning, orographic_rain__every=100))
    assert first.world.rain_wind.direction != first.cycle.weather.wind_direction
    assert_continues_after_saving(first, tmp_path / "world.npz", cycles=6)


def test_the_same_bits_on_one_thread_and_on_two() -> None:
    scene = rainy(moisture__enabled=True)
    assert bits(simulated(6, scene, threads=1).world) == bits(simulated(6, scene, threads=2).world)


def test_a_past_has_its_rain() -> None:
    world, scene = create_world(rainy(moisture__enabled=True, world__past=50))
    simulator = Simulator(scene, world)
    simulator.prepare_all()
    while simulator.spin_up_is_due:
        simulator.step_spin_up()
    factor = simulator.world.layers[OROGRAPHIC_RAIN]
    moisture = simulator.world.layers["moisture"]
    assert moisture[factor > 1.5].mean() > 1.3 * moisture[factor < 0.5].mean()
