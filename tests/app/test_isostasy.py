"""Isostasy: the crust follows its load, in the ledger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.refining import FILLED, refined
from app.engine.simulator import Simulator
from app.model.edge_parameters import EdgeParameters
from app.model.layered_map import ICE
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.isostasy import CRUST_LOAD, ISOSTASY, ROSE, SANK, Isostasy, IsostasyParameters
from app.scene.scene import Scene
from tests.app.small import assert_continues_after_saving, bits, simulated, small_scene

FLOATING = IsostasyParameters(elastic_thickness=0.0, response_time=0.0)


def plain(rows: int = 12, columns: int = 16) -> World:
    return World(np.full((rows, columns), 100.0), np.zeros((rows, columns)), 1000.0, 0)


def stepped(world: World, parameters: IsostasyParameters = FLOATING, steps: int = 1, **edges: object) -> World:
    for _ in range(steps):
        Isostasy().step(world, parameters, Cycle(edges=EdgeParameters(**edges)))  # type: ignore[arg-type]
    return world


def test_the_load_that_it_begins_with_is_in_balance() -> None:
    world = stepped(plain(), steps=3)
    assert (world.bedrock == 100.0).all() and (world.layers[ISOSTASY] == 0.0).all()


@pytest.mark.parametrize(("layer", "density"), [(ICE, 917.0), ("water", 1000.0), ("sediment", 2000.0)])
def test_what_comes_lets_the_crust_sink_by_its_weight(layer: str, density: float) -> None:
    world = stepped(plain())
    world.trace(layer)[...] = 330.0
    world.sum_ground()
    stepped(world, steps=4)
    assert world.bedrock == pytest.approx(np.full(world.shape, 100.0 - density / 10.0), rel=1e-12)
    assert world.ledger.rock.lost[SANK] == pytest.approx(density / 10.0 * world.ground.size * 1e6)
    world.layers[layer][...] = 0.0
    world.sum_ground()
    stepped(world)
    assert world.bedrock == pytest.approx(np.full(world.shape, 100.0), rel=1e-12)
    assert world.ledger.rock.gained[ROSE] == pytest.approx(world.ledger.rock.lost[SANK])
    assert world.layers[ISOSTASY] == pytest.approx(np.zeros(world.shape), abs=1e-12)


def test_the_sea_is_a_load() -> None:
    world = stepped(plain())
    stepped(world, water="sea", sea_level=430.0)
    assert world.bedrock == pytest.approx(np.zeros(world.shape), abs=1e-9), "under 330 m of water"


def test_it_takes_its_time() -> None:
    world = stepped(plain())
    world.sediment[...] = 330.0
    world.sum_ground()
    slow = IsostasyParameters(elastic_thickness=0.0, response_time=3000.0, years_per_cycle=1500.0)
    for steps in (1, 2, 3):
        stepped(world, slow)
        assert 100.0 - world.bedrock[0, 0] == pytest.approx(200.0 * (1.0 - np.exp(-0.5 * steps)), rel=1e-12)


def test_uplift_is_no_load_and_wear_is() -> None:
    usual = {"droplets__enabled": False, "geology__enabled": True, "isostasy__enabled": True, "geology__uplift": 1.0}
    still = {"geology__erodibility": 0.0, "geology__diffusivity": 0.0, "geology__soil_production": 0.0}
    lifted = simulated(5, small_scene(**usual, **still))
    lifted.verify()
    assert ROSE not in lifted.world.ledger.rock.gained and np.abs(lifted.world.layers[ISOSTASY]).max() < 1e-12
    worn = simulated(5, small_scene(**usual, geology__erodibility=1e-4))
    worn.verify()
    rock, sediment = worn.world.ledger.rock, worn.world.ledger.sediment
    assert rock.gained[ROSE] > 0.2 * sediment.lost["off the map"] > 0.0


def test_a_thrust_lets_the_land_before_it_sink() -> None:
    still = {"geology__erodibility": 0.0, "geology__diffusivity": 0.0, "geology__soil_production": 0.0}
    scene = small_scene(
        **still, droplets__enabled=False, geology__enabled=True, geology__uplift=0.0, isostasy__enabled=True,
        isostasy__elastic_thickness=100.0, geology__sideways="thrust", geology__sideways_rate=20.0,
        geology__ramp_height=300.0, isostasy__response_time=0.0,
    )  # fmt: skip
    world = simulated(8, scene).world
    sunk = world.layers[ISOSTASY].mean(axis=0)
    assert sunk[:20].max() < 0.0 and sunk[21] < 0.5 * sunk[:20].min() < 0.0


def isostatic() -> Scene:
    return small_scene(geology__enabled=True, isostasy__enabled=True, isostasy__every=2)


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    assert_continues_after_saving(simulated(5, isostatic()), tmp_path / "world.npz", 4)


def test_threads_change_no_bit() -> None:
    assert bits(simulated(4, isostatic(), 1).world) == bits(simulated(4, isostatic(), 2).world)


def test_switched_off_it_forgets_the_load() -> None:
    scene = isostatic()
    simulator = Simulator(scene, create_world(scene)[0])
    for _ in range(4):
        simulator.advance()
    assert CRUST_LOAD in simulator.world.layers
    simulator.change(scene.with_value("isostasy.enabled", False))
    simulator.advance()
    assert not {CRUST_LOAD, ISOSTASY} & simulator.world.layers.keys()
    simulator.verify()


def test_refined_land_rises_as_it_would_have_done() -> None:
    world = simulated(2, small_scene(isostasy__enabled=True)).world
    finer = refined(world, 2, channels=True)
    assert finer.ledger.rock.gained[FILLED] > 0.0, "rock that is no load that has come"
    means = []
    for each in (world, finer):
        ground = each.ground.copy()
        stepped(each, IsostasyParameters(response_time=0.0))
        means.append((each.ground - ground).mean())
    assert means[0] != 0.0 and means[1] == pytest.approx(means[0], rel=1e-6)
