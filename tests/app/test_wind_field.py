"""The wind field as a process of a scene: when it is found, and what parcels do in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.model.climate import Weather
from app.model.layered_map import TOUCHES
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.wind import WindErosion, WindParameters
from app.processes.wind_field import WindField, WindFieldParameters
from app.scene.scene import Scene
from tests.app.small import assert_continues_after_saving, bits, simulated, small_scene
from tests.kernels.terrain import hills


def windy(**settings: object) -> Scene:
    blowing = {"wind__enabled": True, "wind_field__enabled": True, "wind_field__every": 4, "droplets__enabled": False}
    return small_scene(**{**blowing, **settings})


def field_of(world: World) -> np.ndarray:
    assert world.wind_field is not None
    return world.wind_field.copy()


def test_off_by_default_and_other_scenes_have_none() -> None:
    assert not Scene().wind_field.enabled
    assert simulated(2, small_scene(wind__enabled=True)).world.wind_field is None


def test_found_at_its_cycles_and_when_the_wind_has_turned() -> None:
    simulator = simulated(1, windy())
    world = simulator.world
    found = [field_of(world)]
    for _ in range(4):
        simulator.advance()
        found.append(field_of(world))
    assert all(np.array_equal(found[0], later) for later in found[1:4])
    assert not np.array_equal(found[0], found[4])
    assert world.changed["wind_field_south"] == 5 * TOUCHES
    simulator.change(simulator.scene.with_value("climate.wind_direction", 275.0))
    simulator.advance()
    assert np.array_equal(field_of(world), found[4])  # too little to be worth it
    simulator.change(simulator.scene.with_value("climate.wind_direction", 310.0))
    simulator.advance()
    assert not np.array_equal(field_of(world), found[4])
    assert world.wind_field_direction == 310.0
    assert world.changed["wind_field_south"] == 7 * TOUCHES


def test_a_turn_over_north_is_no_great_one() -> None:
    world = World(hills(20, 20), np.zeros((20, 20)), cell_size=1.0, seed=0)
    WindField().step(world, WindFieldParameters(), Cycle(Weather(wind_direction=358.0)))
    before = field_of(world)
    world.cycle = 1
    WindField().step(world, WindFieldParameters(), Cycle(Weather(wind_direction=3.0)))
    assert np.array_equal(field_of(world), before)


@pytest.mark.parametrize("cycles", [5, 8])
def test_a_saved_world_goes_on_as_if_it_had_not_been_saved(cycles: int, tmp_path: Path) -> None:
    """Also where the wind turns a little from cycle to cycle, so that it counts with which wind the field was found."""
    scene = windy(climate__year=60, climate__season_wind=60.0, wind_field__turn=25.0, wind_field__every=100)
    first = simulated(cycles, scene)
    assert first.world.wind_field_direction != first.cycle.weather.wind_direction
    assert_continues_after_saving(first, tmp_path / "world.npz", cycles=6)


def test_a_failed_cycle_leaves_the_field_as_it_was() -> None:
    simulator = simulated(3, windy())
    state = simulator.world.state()
    field, direction = field_of(simulator.world), simulator.world.wind_field_direction
    simulator.change(simulator.scene.with_value("climate.wind_direction", 90.0))
    simulator.advance()
    simulator.world.restore(state)
    assert np.array_equal(field_of(simulator.world), field)
    assert simulator.world.wind_field_direction == direction


def test_same_bits_on_any_number_of_threads() -> None:
    scene = windy(world__columns=100, world__rows=70)
    assert bits(simulated(6, scene, 1).world) == bits(simulated(6, scene, 2).world)


def test_parcels_follow_it_and_nothing_is_lost() -> None:
    plain, shaped = (simulated(5, windy(wind_field__enabled=enabled)).world for enabled in (False, True))
    assert not np.array_equal(plain.sediment, shaped.sediment)
    assert shaped.imbalance() < 1e-12


def test_a_field_that_is_switched_off_holds_no_longer() -> None:
    simulator = simulated(3, windy())
    simulator.change(simulator.scene.with_value("wind_field.enabled", False))
    simulator.advance()
    world = simulator.world
    again = World(world.bedrock, world.sediment, world.cell_size, world.seed)
    alone = Simulator(simulator.scene, again)
    alone.world.cycle = world.cycle
    alone.advance()
    simulator.advance()
    assert np.array_equal(alone.world.sediment, world.sediment)


WEST = Weather()


def drifted(world: World, field: bool, weather: Weather = WEST, **parameters: object) -> np.ndarray:
    """What a parcel's path says of where the wind blows: how often it touched each cell."""
    cycle = Cycle(weather, running=frozenset({"wind_field"} if field else ()))
    settings = {"count": 400, "gusts": 0.0, "speed_up": 0.0, "abrasion": 0.0, "friction": 0.0, **parameters}
    WindErosion().step(world, WindParameters(**settings), cycle)  # type: ignore[arg-type]
    return world.trace("wind_path").copy()


def test_over_level_ground_the_field_changes_nothing() -> None:
    paths = []
    for field in (False, True):
        world = World(np.zeros((40, 60)), np.ones((40, 60)), cell_size=1.0, seed=3)
        WindField().step(world, WindFieldParameters(), Cycle())
        paths.append((drifted(world, field, gusts=20.0), world.sediment))
    for a, b in zip(*paths, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_a_wind_that_turns_a_little_takes_the_field_with_it() -> None:
    """Level ground: a field of the west wind, and parcels of a wind from 8° farther north."""
    paths = []
    for known in (270.0, 278.0):
        world = World(np.zeros((40, 60)), np.zeros((40, 60)), cell_size=1.0, seed=3)
        WindField().step(world, WindFieldParameters(), Cycle(Weather(wind_direction=known)))
        paths.append(drifted(world, field=True, weather=Weather(wind_direction=278.0)))
    assert paths[0].any()
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-9)


def test_speed_up_does_not_count_twice() -> None:
    """Where the field tells how fast the wind is, the parcels' own speed-up has no say."""
    grounds = []
    for speed_up in (0.0, 20.0):
        world = World(hills(40, 60, 10.0), np.ones((40, 60)), cell_size=1.0, seed=3)
        WindField().step(world, WindFieldParameters(), Cycle())
        drifted(world, field=True, speed_up=speed_up)
        grounds.append(world.sediment)
    assert np.array_equal(*grounds)


def test_crowns_of_trees_slow_the_wind_once() -> None:
    """In the field where there is one, else in the parcels: and grass in the parcels alone."""
    carried = {}
    for plant in ("grass", "canopy"):
        for field in (False, True):
            world = World(np.zeros((40, 90)), np.ones((40, 90)), cell_size=1.0, seed=3)
            world.trace(plant)[:, 30:60] = 0.8
            WindField().step(world, WindFieldParameters(tree_shelter=0.0), Cycle())
            drifted(world, field, plant_cover=0.0, plant_trapping=0.0)
            carried[plant, field] = float(world.trace("airborne")[:, 40:60].sum())
    open_ground = World(np.zeros((40, 90)), np.ones((40, 90)), cell_size=1.0, seed=3)
    drifted(open_ground, field=False, plant_cover=0.0, plant_trapping=0.0)
    bare = float(open_ground.trace("airborne")[:, 40:60].sum())
    assert carried["canopy", False] < 0.92 * bare
    assert carried["canopy", True] == pytest.approx(bare, rel=1e-3)
    assert carried["grass", True] == pytest.approx(carried["grass", False], rel=1e-3)
    assert carried["grass", True] < 0.95 * bare
