"""Wind in a world of several materials: its ledger, and what wetness and storms do."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.climate import Weather
from app.model.layers import LOOSE
from app.model.parameters import Value
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.wind import WindErosion, WindParameters
from app.scene.scene import Scene
from tests.app.small import bits, simulated, small_preset, small_scene

MIXED = {
    "materials__enabled": True,
    "materials__loose": "sand 3; clay 1; gravel 1; soil 1",
    "droplets__enabled": False,
    "wind__enabled": True,
    "wind__dust": 0.1,
    "wind__abrasion": 0.1,
    "wind__inflow": 0.5,
}


def mixed(**settings: object) -> Scene:
    return small_scene(**{**MIXED, **settings})


def test_every_account_closes() -> None:
    world = simulated(20, mixed()).world
    assert world.imbalance() < 1e-12
    ledger = world.ledger
    assert ledger.rock.lost["worn by wind"] > 0.0
    for cause in ("worn by wind", "blown in"):
        total = sum(account.gained.get(cause, 0.0) for account in ledger.kinds.values())
        assert total == pytest.approx(ledger.sediment.gained[cause])
    assert ledger.kinds["sand"].gained["blown in"] == ledger.sediment.gained["blown in"] > 0.0
    assert "off the map" not in ledger.kinds["gravel"].lost
    summed = np.zeros(world.shape)
    for kind in range(world.mix.shape[2]):
        summed += world.mix[..., kind]
    assert np.array_equal(summed, world.sediment)


def test_same_bits_on_any_number_of_threads() -> None:
    assert bits(simulated(6, mixed(), 1).world) == bits(simulated(6, mixed(), 2).world)


def test_sand_dries_and_starts_to_move() -> None:
    world, scene = create_world(mixed(wind__inflow=0.0, wind__abrasion=0.0))
    world.trace("wetness")[...] = 1.0
    simulator = Simulator(scene, world)
    before = world.mix.copy()
    simulator.advance()
    assert np.array_equal(world.mix, before)
    world.trace("wetness")[...] = 0.0
    simulator.advance()
    assert np.abs(world.mix - before).max() > 0.0


def test_a_storm_fills_the_air_with_dust_that_is_gone_when_it_ends() -> None:
    scene = mixed(world__soil_depth=3.0, wind__uplift=1.0, climate__storm_length=40)
    world, scene = create_world(scene)
    calm, storm = Weather(), Weather(storm=1.0, wind_speed=2.8)
    carried = []
    for weather in (calm, storm, calm):
        for _ in range(250):
            WindErosion().step(world, msgspec.structs.replace(scene.wind, count=40), Cycle(weather))
            world.cycle += 1
        carried.append(float(world.trace("airborne").sum()))
    assert carried[1] > 2.0 * carried[0]
    assert carried[2] < 0.6 * carried[1]
    assert world.imbalance() < 1e-12


def test_a_storm_brings_more_parcels() -> None:
    inflow = []
    for strength in (0.0, 0.5, 1.0):
        world = World(np.zeros((16, 16)), np.ones((16, 16)), cell_size=1.0, seed=0)
        wind = WindParameters(count=100, inflow=1.0, storm_parcels=2.0)
        WindErosion().step(world, wind, Cycle(Weather(storm=strength)))
        inflow.append(world.ledger.sediment.gained["blown in"])
    assert inflow == [100.0, 200.0, 300.0]


def plume(**settings: Value) -> tuple[dict[str, float], dict[str, float], float]:
    """Of the preset that shows it, of each kind: how many cells downwind what is left lies, and the part blown away.

    And how far the soil on the ground in the east lies from the line downwind, root mean square.
    """
    scene = small_preset("dust-plume", 96, **settings)
    start = create_world(scene)[0]
    world = simulated(200, scene).world
    across, along = (np.arange(side) - (side - 1) / 2.0 for side in world.shape)
    moved, gone = {}, {}
    for name in ("sand", "soil", "clay"):
        before, after = (one.layers[LOOSE + name] for one in (start, world))
        moved[name] = float((after @ along).sum() / after.sum() - (before @ along).sum() / before.sum())
        gone[name] = world.ledger.kinds[name].lost["off the map"] / world.cell_area / float(before.sum())
    east = world.layers[LOOSE + "soil"][:, 60:].sum(axis=1)
    return moved, gone, float(np.sqrt((east @ across**2) / east.sum()))


@pytest.mark.nightly
def test_the_plume_of_dust_shows_uplift_lag_and_gusts() -> None:
    moved, gone, width = plume()
    assert gone["clay"] > 4.0 * gone["sand"], "dust flies away, and sand stays"
    _, fallen, _ = plume(wind__uplift=0.0)
    for name in ("sand", "soil", "clay"):
        assert gone[name] > 3.0 * fallen[name], "uplift holds it in the air"
    prompt, _, _ = plume(wind__lag=0.0)
    assert all(prompt[name] > moved[name] + 0.05 for name in moved), "lag lets all fall behind"
    late, early = plume(wind__lift=0.0)[0], plume(wind__lift=0.0, wind__lag=0.0)[0]
    behind = {name: early[name] - late[name] for name in moved}
    assert behind["sand"] > behind["soil"] > behind["clay"] > 0.0, "the coarse most where the wind lifts none of it"
    assert behind["sand"] > 0.1
    assert width > 1.1 * plume(climate__gust_turn=0.0)[2], "gusts that turn fan the plume out"
