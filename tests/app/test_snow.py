"""Snow as a process of a scene: its ledger, the year of rivers, and what is left of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.model.climate import weather_of
from app.model.world import World
from app.processes.discharge import discharge_of_cycle
from app.scene.scene import Scene
from kernels.rivers import drain
from tests.app.small import assert_continues_after_saving, bits, simulated, small_preset, small_scene

LAYERS = {"snow", "snow_runoff"}
YEAR = 40


def snowy(**settings: object) -> Scene:
    """Mountains of 2 km with a year of cold winters and warm summers."""
    usual = {
        "world__cell_size": 50.0,
        "world__relief": 1200.0,
        "snow__enabled": True,
        "snow__drift": 5.0,
        "wind_field__enabled": True,
        "wind_field__every": 5,
        "climate__year": YEAR,
        "climate__temperature": 6.0,
        "climate__season_rain": 0.2,
        "climate__season_temperature": 10.0,
    }
    return small_scene(**{**usual, **settings})


def test_off_by_default_and_without_a_trace() -> None:
    assert not Scene().snow.enabled
    assert not LAYERS & simulated(1).world.layers.keys()


def test_warm_land_is_as_without_it() -> None:
    warm = snowy(climate__temperature=30.0)
    without = simulated(5, warm.with_value("snow.enabled", False))
    assert bits(simulated(5, warm).world) == bits(without.world)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("size", [(40, 32), (8, 8), (9, 61)])
def test_no_water_is_lost_in_a_year(seed: int, size: tuple[int, int]) -> None:
    """In the ledger, and from rain by snow to what runs off."""
    columns, rows = size
    scene = snowy(
        world__seed=seed, world__columns=columns, world__rows=rows, pools__enabled=True, moisture__enabled=True
    )
    simulator = simulated(0, scene)
    world = simulator.world
    gone = 0.0
    for cycle in range(YEAR + 5):
        before = world.layers["snow"].sum() if "snow" in world.layers else 0.0
        moved = _gained(world) - _lost(world)
        simulator.advance()
        if "snow" in world.layers:
            lies, runs = world.layers["snow"].sum(), world.layers["snow_runoff"].astype(np.float64)
            rain = weather_of(scene.climate, seed, cycle).rain * 0.8 / YEAR
            blown = (_gained(world) - _lost(world) - moved) / world.cell_area
            gone += before + rain * runs.size + blown - lies - rain * runs.sum()
    simulator.verify()
    assert world.imbalance() < 1e-9
    fallen = world.ledger.water.gained["snow"] / world.cell_area
    assert fallen > 0.01 * world.ground.size
    assert abs(gone) < 1e-6 * fallen


def _gained(world: World) -> float:
    return world.ledger.water.gained.get("snow blown onto the map", 0.0)


def _lost(world: World) -> float:
    lost = world.ledger.water.lost
    return lost.get("snow blown off the map", 0.0) + lost.get("avalanches off the map", 0.0)


def test_a_land_opens_with_the_snow_of_the_last_winter() -> None:
    """As much as cycles leave on ground that stands still, on the same cells, and in the ledger."""
    still = snowy(droplets__enabled=False)
    bare = simulated(0, still).world
    simulator = simulated(0, still.with_value("world.past", 3 * YEAR))
    simulator.prepare_all()
    world = simulator.world
    lies, later = world.layers["snow"], simulated(YEAR, still).world.layers["snow"]
    assert world.cycle == 0 and np.array_equal(world.ground, bare.ground)
    assert world.imbalance() < 1e-9
    assert lies.mean() == pytest.approx(later.mean(), rel=0.05)
    assert np.corrcoef(lies.ravel(), later.ravel())[0, 1] > 0.98
    summer = simulated(YEAR // 4 + YEAR // 8, still).world.layers.get("snow", np.zeros(1))
    assert later.mean() > 2.0 * summer.mean(), "snow of the whole year, which a past would have without seasons"


def test_snow_of_the_past_is_the_same_in_long_years() -> None:
    """A year of more cycles than the past has steps lasts as long."""
    short, long = (snowy(droplets__enabled=False, climate__year=year, world__past=year) for year in (YEAR, 25 * YEAR))
    depths = []
    for scene in (short, long):
        simulator = simulated(0, scene)
        simulator.prepare_all()
        depths.append(simulator.world.layers["snow"].mean())
    assert depths[1] == pytest.approx(depths[0], rel=0.05)


def test_the_first_picture_of_winter_has_snow() -> None:
    scene = small_preset("winter", 48)
    simulator = simulated(0, scene)
    simulator.prepare_all()
    assert (simulator.world.layers["snow"] > 0.05).mean() > 0.3


def test_rivers_are_low_in_winter_and_flood_in_spring() -> None:
    """The first year begins in spring without snow, so the second is looked at."""
    simulator = simulated(YEAR, snowy())
    drops = []
    for _ in range(YEAR):
        simulator.advance()
        drops.append(simulator.cycle.drops_of_rain)
    spring, summer, autumn, winter = np.reshape(drops, (4, YEAR // 4)).mean(axis=1).tolist()
    assert int(np.argmax(drops)) < YEAR // 4
    assert spring > 1.5 * summer and spring > 2.0 * winter and spring > 1.5 * autumn


def test_snow_falls_where_rain_does() -> None:
    """By an image as by what the wind brings."""
    still = {"snow__drift": 0.0, "snow__stable_depth": 20.0, "snow__steepest": 89.0, "climate__temperature": -20.0}
    scene = snowy(climate__rain_by_altitude=1.0, **still)
    world = simulated(3, scene).world
    height = (world.ground - world.ground.min()) / np.ptp(world.ground)
    expected = 3.0 * 0.8 / YEAR * height * weather_of(scene.climate, 0, 1).rain
    np.testing.assert_allclose(world.layers["snow"], expected, rtol=0.02, atol=1e-6)
    windy = simulated(1, snowy(orographic_rain__enabled=True, **still)).world
    expected = 0.8 / YEAR * windy.layers["orographic_rain"]
    np.testing.assert_allclose(windy.layers["snow"], expected, rtol=0.02, atol=1e-6)


def test_switched_off_it_melts() -> None:
    simulator = simulated(YEAR, snowy())
    assert simulator.world.layers["snow"].any()
    simulator.change(simulator.scene.with_value("snow.enabled", False))
    simulator.advance()
    simulator.verify()
    assert not LAYERS & simulator.world.layers.keys()


def test_what_melts_wets_the_ground_and_floods() -> None:
    dry = {"moisture__groundwater": 0.0, "droplets__enabled": False}
    for process, more in {"moisture": 1.2, "floods": 1.5}.items():
        scene = snowy(climate__year=0, climate__temperature=-20.0, floods__rain=20.0, **dry)
        simulator = simulated(9, scene.with_value(f"{process}.enabled", True))
        account = simulator.world.ledger.water
        cold = account.gained.get("rain", 0.0)
        simulator.change(simulator.scene.with_value("climate.temperature", 20.0))
        for _ in range(4):
            simulator.advance()
        simulator.verify()
        assert cold == 0.0 and account.gained["rain"] > 0.0
        usual = simulated(4, scene.with_values({f"{process}.enabled": True, "climate.temperature": 20.0}))
        assert account.gained["rain"] > more * usual.world.ledger.water.gained["rain"], process


def test_meanders_and_falls_reckon_with_the_rain_of_the_year_beside_springs() -> None:
    """What freezes does not make springs bring all water of the map."""
    settings = {"droplets__springs": "0.5 0.5 30", "climate__year": 0, "climate__temperature": -20.0}
    scene = snowy(**settings, snow__drift=0.0)
    simulator, without = simulated(1, scene), simulated(1, scene.with_value("snow.enabled", False))
    assert simulator.cycle.drops_of_rain == 0
    drainage = drain(without.world.ground, without.world.cell_size, -np.inf)
    discharge = discharge_of_cycle(simulator.world, simulator.cycle, drainage)
    assert np.array_equal(discharge, discharge_of_cycle(without.world, without.cycle, drainage))


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    assert_continues_after_saving(simulated(YEAR - 3, snowy(pools__enabled=True)), tmp_path / "world.npz", 5)


def test_threads_change_no_bit() -> None:
    scene = snowy(pools__enabled=True)
    assert bits(simulated(YEAR, scene, threads=1).world) == bits(simulated(YEAR, scene, threads=2).world)


def test_one_land_at_two_resolutions() -> None:
    """At the end of winter as much snow lies, and on the same blocks of 200 m."""
    coarse_scene = snowy(droplets__enabled=False, world__relief=600.0, noise__octaves=3, edges__water="wall")
    fine_scene = coarse_scene.with_values(
        {"world.columns": 80, "world.rows": 64, "world.cell_size": 25.0, "world.reference_cell_size": 50.0}
    )
    coarse, fine = (simulated(YEAR, scene).world.layers["snow"] for scene in (coarse_scene, fine_scene))
    coarse_blocks, fine_blocks = (
        coarse.reshape(8, 4, 10, 4).mean(axis=(1, 3)),
        fine.reshape(8, 8, 10, 8).mean(axis=(1, 3)),
    )
    assert fine.mean() == pytest.approx(coarse.mean(), rel=0.15)
    assert np.corrcoef(coarse_blocks.ravel(), fine_blocks.ravel())[0, 1] > 0.7


def test_no_snow_lies_on_lakes() -> None:
    simulator = simulated(YEAR, snowy(pools__enabled=True, droplets__water=1.0))
    lakes = simulator.world.standing > 0
    simulator.advance()
    assert lakes.any() and simulator.world.layers["snow"][lakes & (simulator.world.standing > 0)].max() < 0.5


def test_an_undone_cycle_comes_back_with_its_bits() -> None:
    simulator: Simulator = simulated(YEAR - 2, snowy())
    state, before = simulator.world.state(), bits(simulator.world)
    simulator.advance()
    simulator.world.restore(state)
    after = bits(simulator.world)
    assert after["layers"] == before["layers"]
