"""Snow that outlives the summer becomes ice of glaciers: no water counts twice, and ice comes where snow lies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.scene.scene import Scene
from tests.app.small import assert_continues_after_saving, bits, simulated, small_scene

LAYERS = {"firn", "mass_balance", "least_snow", "ice_melt"}
YEAR = 16
FED = YEAR // 2 + YEAR  # cycles, after which glaciers know what a year gives
WATER_IN_ICE = 0.917
STILL = {"snow__stable_depth": 20.0, "snow__steepest": 89.0}  # no avalanches


def firny(**settings: object) -> Scene:
    """Mountains whose heights keep their snow, and ice that neither flows nor wears, by the time of snow."""
    usual = {
        "world__cell_size": 50.0,
        "world__relief": 1600.0,
        "droplets__enabled": False,
        "snow__enabled": True,
        "climate__year": YEAR,
        "climate__temperature": 3.0,
        "climate__season_rain": 0.2,
        "climate__season_temperature": 8.0,
        "ice__enabled": True,
        "ice__years_per_cycle": 1.0 / YEAR,
        "ice__softness": 0.0,
        "ice__sliding": 0.0,
    }
    return small_scene(**{**usual, **settings})


def test_all_water_of_ice_was_snow() -> None:
    """In years of one length nothing falls on ice but by the layer of snow, and the ledger holds through melt."""
    simulator = simulated(FED + 2 * YEAR, firny(ice__softness=1.0, ice__sliding=1.0, snow__stable_depth=0.3))
    simulator.verify()
    water, volume = simulator.world.ledger.water, simulator.world.cell_area
    assert simulator.world.layers["ice"].max() > 0.5
    assert water.gained.get("snow on ice", 0.0) < 1e-9 * water.gained["snow"]
    kept = simulator.world.layers["ice"].sum() * WATER_IN_ICE * volume + water.lost.get("melted from ice", 0.0)
    snow = sum(simulator.world.layers[name].sum() for name in ("snow", "firn")) * volume
    left = water.lost["melted from snow"] + water.lost.get("avalanches off the map", 0.0)
    assert kept + snow + left + water.lost.get("ice off the map", 0.0) == pytest.approx(water.gained["snow"], rel=1e-9)
    assert simulator.world.imbalance() < 1e-9


def test_ice_comes_where_snow_outlived_the_summer() -> None:
    """Blown snow and that of avalanches with it: as much as the least of the summer, and nowhere else."""
    windy = {"wind_field__enabled": True, "snow__drift": 10.0, "snow__stable_depth": 0.2}
    found = {}
    for name, settings in {"windy": windy, "still": STILL}.items():
        simulator = simulated(FED - 1, firny(**settings))
        simulator.advance()
        world = simulator.world
        given = world.layers["mass_balance"].copy()
        assert "ice" not in world.layers or world.layers["ice"].sum() * WATER_IN_ICE < 0.1 * given[given > 0.0].sum()
        for _ in range(YEAR - 1):
            simulator.advance()
        np.testing.assert_allclose(world.layers["ice"] * WATER_IN_ICE, np.maximum(given, 0.0), rtol=0.1, atol=1e-12)
        assert (given > 0.05).any() and (given < -0.05).any(), "some places gain, and some would lose"
        found[name] = world.layers["ice"] * WATER_IN_ICE
    moved = np.abs(found["windy"] - found["still"])
    assert moved.sum() > 0.2 * found["still"].sum(), "wind and avalanches feed other places"


def test_more_years_of_ice_are_each_as_the_last_one_of_snow() -> None:
    """What snow did not bring is named in the ledger."""
    simulator = simulated(FED + YEAR - 1, firny(ice__years_per_cycle=10.0 / YEAR))
    simulator.verify()
    world = simulator.world
    ice = world.layers["ice"].sum() * WATER_IN_ICE * world.cell_area
    assert world.ledger.water.gained["snow on ice"] == pytest.approx(0.9 * ice, rel=0.02)
    assert world.imbalance() < 1e-9


def test_as_much_snow_falls_on_ice_as_on_ground() -> None:
    simulator = simulated(FED + YEAR, firny(climate__temperature=-25.0, climate__season_rain=0.0, **STILL))
    world = simulator.world
    assert world.layers["ice"].min() > 0.0
    before = world.ledger.water.gained["snow"]
    simulator.advance()
    fallen = (world.ledger.water.gained["snow"] - before) / world.cell_area / world.ground.size
    assert fallen == pytest.approx(0.8 / YEAR, rel=1e-6)


def test_its_melt_runs_off_in_summer_alone() -> None:
    """A year of it brings the rain, and of the ice what it loses."""
    simulator = simulated(FED + 4 * YEAR, firny(ice__years_per_cycle=50.0 / YEAR, climate__season_rain=0.0))
    simulator.change(simulator.scene.with_value("climate.temperature", 9.0))
    world = simulator.world
    for _ in range(YEAR + YEAR // 2):
        simulator.advance()
    ran = []
    for _ in range(YEAR):
        simulator.advance()
        ran.append(np.array(world.rain_rate))
    melts = (world.layers["mass_balance"] < -0.5) & (world.layers["ice"] > 5.0)
    assert melts.any()
    by_cycle = np.array(ran)[:, melts].mean(axis=1)  # from spring on
    assert by_cycle.max() > 3.0 and by_cycle[5 * YEAR // 8 : 7 * YEAR // 8].max() < 0.5
    expected = 1.0 - world.layers["mass_balance"][melts].mean() / 0.8
    assert by_cycle.mean() == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("process", ["ice", "snow"])
def test_without_one_of_them_there_is_no_firn(process: str) -> None:
    simulator = simulated(FED + 1, firny())
    assert simulator.world.layers.keys() >= LAYERS and simulator.world.layers["firn"].any()
    simulator.change(simulator.scene.with_value(f"{process}.enabled", False))
    for _ in range(2):
        simulator.advance()
    simulator.verify()
    assert not LAYERS & simulator.world.layers.keys()
    assert simulator.world.imbalance() < 1e-9


def test_firn_without_seasons() -> None:
    simulator = simulated(40, firny(climate__year=0, snow__days_per_cycle=36.525, ice__years_per_cycle=0.1))
    simulator.verify()
    assert simulator.world.layers["ice"].max() > 0.3
    assert simulator.world.ledger.water.gained.get("snow on ice", 0.0) < 1e-6


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    assert_continues_after_saving(simulated(FED + 3, firny()), tmp_path / "world.npz", YEAR)


def test_threads_change_no_bit() -> None:
    scene = firny(ice__softness=1.0)
    assert bits(simulated(FED + 4, scene, threads=1).world) == bits(simulated(FED + 4, scene, threads=2).world)


def test_an_undone_cycle_comes_back_with_its_bits() -> None:
    simulator: Simulator = simulated(FED - 1, firny())
    state, before = simulator.world.state(), bits(simulator.world)
    simulator.advance()
    simulator.world.restore(state)
    assert bits(simulator.world)["layers"] == before["layers"]


def test_both_can_be_switched_off_and_on_in_the_middle_of_a_year() -> None:
    """The ledger holds in each cycle, and ice grows again after."""
    simulator = simulated(FED + 2, firny(ice__softness=1.0, ice__sliding=1.0))
    for changed in ({"snow.enabled": False}, {"snow.enabled": True, "ice.enabled": False}, {"ice.enabled": True}):
        simulator.change(simulator.scene.with_values(changed))
        for _ in range(3):
            simulator.advance()
            simulator.verify()
            assert simulator.world.imbalance() < 1e-9
    for _ in range(2 * YEAR):
        simulator.advance()
    simulator.verify()
    assert simulator.world.layers["ice"].max() > 0.3 and simulator.world.imbalance() < 1e-9
