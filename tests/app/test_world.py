"""The world and its ledger."""

from __future__ import annotations

import numpy as np
import pytest

from app.cli.simulate import ledger_text
from app.engine.creation import create_world
from app.model.errors import UserError
from app.model.soundness import find_fault
from app.model.world import World
from app.scene.scene import Scene
from tests.app.small import small_scene


def small_world() -> World:
    random = np.random.default_rng(3)
    return World(random.uniform(-50.0, 100.0, (9, 14)), random.uniform(0.0, 2.0, (9, 14)), cell_size=5.0, seed=7)


def test_ground_is_rock_and_sediment() -> None:
    world = small_world()
    assert world.shape == (9, 14)
    assert np.array_equal(world.ground, world.bedrock + world.sediment)


def test_ledger_begins_with_what_lies_there() -> None:
    world = small_world()
    assert world.stored("sediment") == pytest.approx(world.sediment.sum() * 25.0)
    assert world.imbalance() == 0.0


def test_ledger_notices_what_is_lost_or_made_from_nothing() -> None:
    world = small_world()
    world.sediment[4, 4] += 1.0
    made = 25.0 / world.ledger.sediment.scale
    assert world.imbalance() == pytest.approx(made)
    world.ledger.sediment.gain("test", 25.0)
    assert world.imbalance() < 1e-14
    world.ledger.water.gain("rain", 10.0)
    assert world.imbalance() == pytest.approx(1.0)  # it rained, and nothing says where the water went
    world.ledger.water.lose("evaporated", 10.0)
    assert world.imbalance() < 1e-14
    dry = small_world()
    dry.water[2, 3] = 1.0
    assert dry.imbalance() == np.inf  # of a substance that there has never been any of


def test_unsound_cell_is_found_and_named() -> None:
    world = small_world()
    world.trace("momentum_east")[1, 2] = -1e11
    assert find_fault(world) is None
    world.sediment[2, 11] = np.nan
    assert (fault := find_fault(world)) and fault[1:] == ("sediment", (2, 11))
    world.sediment[2, 11] = -1e-30
    assert (fault := find_fault(world)) and fault[1:] == ("sediment", (2, 11))
    world.bedrock[3, 4] = -1.1e6
    assert (fault := find_fault(world)) and fault[1:] == ("bedrock", (3, 4))


def test_unsound_cell_of_a_mix_is_found() -> None:
    world, _ = create_world(small_scene(materials__enabled=True))
    assert find_fault(world) is None
    name = f"loose_{world.materials.names[1]}" if world.materials else ""
    world.layers[name][5, 6] = np.inf
    assert (fault := find_fault(world)) and fault[1:] == (name, (5, 6))


def test_state_is_a_copy_and_brings_all_back() -> None:
    world = small_world()
    state = world.state()
    before = {name: layer.copy() for name, layer in world.layers.items()}
    world.bedrock[3, 3] += 9.0
    world.cycle = 12
    world.ledger.rock.lose("test", 3.0)
    world.restore(state)
    assert world.cycle == 0
    assert world.ledger.rock.lost == {}
    assert all(np.array_equal(world.layers[name], layer) for name, layer in before.items())
    assert np.array_equal(world.ground, world.bedrock + world.sediment)
    world.ledger.rock.lose("test", 3.0)
    assert state["ledger"].rock.lost == {}  # so that it can be gone back to again


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        (["world.columns=40"], (40, 40)),
        (["world.rows=24"], (24, 24)),
        (["world.columns=40", "world.rows=16"], (16, 40)),
    ],
)
def test_generators_make_any_rectangle(settings: list[str], shape: tuple[int, int]) -> None:
    for source in ("noise", "diamond-square"):
        scene = Scene().with_value("world.source", source)
        for setting in settings:
            scene = scene.with_setting(setting)
        world, _ = create_world(scene)
        assert world.shape == shape
        assert world.ground.min() == pytest.approx(0.0)
        assert world.ground.max() == pytest.approx(0.15 * max(shape) * world.cell_size)


def test_terrain_of_a_file_keeps_its_proportions_at_another_size() -> None:
    scene = Scene().with_value("world.source", "jacksboro.npz")
    whole, _ = create_world(scene)
    small, _ = create_world(scene.with_value("world.columns", 64))
    assert small.shape[1] == 64
    assert small.shape[0] / 64 == pytest.approx(whole.shape[0] / whole.shape[1], rel=0.01)
    assert small.cell_size * 64 == pytest.approx(whole.cell_size * whole.shape[1], rel=0.01)


def test_soil_is_the_uppermost_part_of_the_ground() -> None:
    scene = Scene().with_setting("world.columns=16")
    bare, _ = create_world(scene)
    covered, _ = create_world(scene.with_setting("world.soil_depth=2"))
    assert np.all(covered.sediment == 2.0)
    assert np.allclose(covered.ground, bare.ground, atol=1e-9)


def test_seed_makes_another_terrain_and_the_same_seed_the_same() -> None:
    scene = Scene().with_setting("world.columns=16")
    one, again, other = (create_world(scene.with_value("world.seed", seed))[0] for seed in (1, 1, 2))
    assert np.array_equal(one.ground, again.ground)
    assert not np.array_equal(one.ground, other.ground)


def test_too_small_a_map_is_refused() -> None:
    with pytest.raises(UserError, match=r"world\.columns = 7: must be 0 or from 8 to 8192 cells"):
        create_world(Scene().with_setting("world.columns=7"))


def test_what_is_nothing_has_no_sign_in_the_printed_ledger() -> None:
    world = World(np.ones((8, 8)), np.zeros((8, 8)), cell_size=2.0, seed=0)
    world.ledger.water.lose("into the sea", 0.0)
    world.ledger.water.lose("evaporated", 2.5)
    lines = dict(line.rsplit(maxsplit=1) for line in ledger_text(world).splitlines() if line.startswith("  "))
    assert lines["  into the sea"] == lines["  in the world now"] == "0"
    assert (lines["  evaporated"], lines["  unaccounted for"]) == ("-2.5", "+2.5")
    assert "-0" not in ledger_text(world).replace("e-0", "")
