"""Plants in a world: their files, their process, saved and restored, and what they do to rivers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.climate import weather_of
from app.model.errors import UserError
from app.model.plants import TREE_COLUMNS, load_plants, tree_kinds
from app.processes.plants import PlantsParameters
from app.scene.scene import DECLARATIONS, Scene, load_preset
from kernels.plants import PERIOD, TREE_TRAITS
from kernels.standing import LAKE
from tests.app.small import bits, simulated, small_scene

GREEN = {
    "plants__enabled": True,
    "plants__rate": 8.0,
    "plants__grass_arrival": 0.01,
    "plants__tree_arrival": 0.01,
    "pools__enabled": True,
}


def green(**settings: object) -> Scene:
    return small_scene(**{**GREEN, **settings})


# Kinds of plants.


def test_shipped_kinds_are_those_that_pictures_know() -> None:
    grass, trees = load_plants()
    assert grass.name == "grass"
    assert [tree.name for tree in trees] == ["conifer", "broadleaf"]
    assert tree_kinds() == trees
    conifer, broadleaf = trees
    assert conifer.temperature[0] < broadleaf.temperature[0], "conifers make the tree line"
    assert all(hasattr(conifer, trait) for trait in TREE_TRAITS)


def kinds_folder(tmp_path: Path, name: str, change: tuple[str, str]) -> Path:
    """The shipped files, in one of which a text is replaced."""
    from importlib.resources import files

    for entry in (files("assets") / "plants").iterdir():
        text = entry.read_text()
        if entry.name == f"{name}.toml":
            assert change[0] in text
            text = text.replace(*change)
        (tmp_path / entry.name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "conifer",
            ("number = 0", "number = 2"),
            "numbers of trees are broadleaf 1, conifer 2; they must go from 0 to 1",
        ),
        ("conifer", ("number = 0", "number = 1"), "they must go from 0 to 1, each once"),
        ("broadleaf", ("crown = 0.95\n", ""), r"broadleaf\.toml: 'crown' is missing"),
        ("broadleaf", ("crown = 0.95", "crown = 60.0"), "broadleaf.*: 'crown'"),
        ("broadleaf", ("crown = 0.95", "krone = 0.95"), "'krone' is not a property of a plant"),
        ("grass", ("title", "height = 1.0\ntitle"), "'height' is not a property of a plant"),
        ("grass", ("slope = [35.0, 55.0]", "slope = [55.0, 35.0]"), "'slope' is .*; its numbers must not fall"),
        ("grass", ("wetness = [0.05, 0.25, 1.0, 1.0]", "wetness = [0.05, 0.25, 1.0, 1.5]"), "grass.*: 'wetness'"),
        ("grass", ("title = ", "name = 'weed'\ntitle = "), "its name is 'weed', but a plant has the name of its file"),
        ("conifer", ("title = ", "title "), "conifer.toml"),
    ],
)
def test_wrong_files_say_what_would_be_right(tmp_path: Path, name: str, change: tuple[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_plants(kinds_folder(tmp_path, name, change))


def test_grass_must_be_there_and_trees_need_not(tmp_path: Path) -> None:
    kinds_folder(tmp_path, "grass", ("title", "title"))
    (tmp_path / "conifer.toml").unlink()
    (tmp_path / "broadleaf.toml").unlink()
    assert load_plants(tmp_path)[1] == ()
    (tmp_path / "grass.toml").unlink()
    load_plants.cache_clear()
    with pytest.raises(UserError, match=r"there is no grass\.toml"):
        load_plants(tmp_path)


# The process.


def test_plants_come_and_show_themselves() -> None:
    world = simulated(10 * PERIOD, green()).world
    assert world.trace("grass").mean() > 0.1
    assert len(world.trees) > 50
    assert set(np.unique(world.trees[:, TREE_COLUMNS.index("kind")])) <= {0.0, 1.0}
    snapshot = take_snapshot(world)
    assert {"grass", "roots", "canopy"} <= snapshot.layers.keys()
    assert "rooted_ground" not in snapshot.layers, "which no picture needs"
    assert snapshot.trees.tobytes() == world.trees.tobytes()
    assert snapshot.trees_version == world.cycle
    assert world.imbalance() < 1e-9


def test_plants_are_no_mass_and_change_nothing_where_their_roots_hold_nothing() -> None:
    with_plants, without = (
        simulated(4 * PERIOD, green(plants__enabled=on, droplets__root_hold=0.0)).world for on in (True, False)
    )
    assert with_plants.ground.tobytes() == without.ground.tobytes()
    assert with_plants.ledger == without.ledger
    assert without.surface is None


def test_roots_hold_the_ground() -> None:
    scene = green(plants__tree_arrival=0.1)
    grown = simulated(10 * PERIOD, scene)
    moved = []
    for hold in (0.0, 0.9):
        simulator = Simulator(scene.with_value("droplets.root_hold", hold), grown.world)
        state = grown.world.state()
        before = grown.world.ground.copy()
        for _ in range(PERIOD):
            simulator.advance()
        moved.append(np.abs(grown.world.ground - before).mean())
        grown.world.restore(state)
    assert moved[1] < 0.8 * moved[0]


def test_a_world_with_plants_goes_on_as_if_it_had_not_been_saved(tmp_path: Path) -> None:
    cycles = 6 * PERIOD + 5
    through = simulated(2 * cycles, green())
    saved = simulated(cycles, green())
    checkpoint.save(tmp_path / "world.npz", saved.world, saved.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    again = Simulator(scene, world)
    for _ in range(cycles):
        again.advance()
    assert len(again.world.trees) > 50
    assert bits(again.world) == bits(through.world)


def test_going_back_brings_the_plants_back() -> None:
    simulator = simulated(6 * PERIOD, green())
    state, before = simulator.world.state(), bits(simulator.world)
    for _ in range(2):
        for _ in range(PERIOD + 3):
            simulator.advance()
        later = bits(simulator.world)
        assert later != before
        simulator.world.restore(state)
        assert bits(simulator.world)["layers"] == before["layers"]
        assert bits(simulator.world)["trees"] == before["trees"]


def test_same_bits_on_any_number_of_threads() -> None:
    scene = green(world__columns=40, world__rows=150)
    assert bits(simulated(3 * PERIOD, scene, 1).world) == bits(simulated(3 * PERIOD, scene, 2).world)


def test_trees_of_a_kind_that_is_not_known_are_refused(tmp_path: Path) -> None:
    simulator = simulated(4 * PERIOD, green())
    simulator.world.trees[0, TREE_COLUMNS.index("kind")] = 7.0
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    with pytest.raises(UserError, match="'trees' has kind 7; those that are known now are conifer 0, broadleaf 1"):
        checkpoint.load(tmp_path / "world.npz")


def test_a_winter_kills_no_forest() -> None:
    """Trees live by the mean of the year, not by the weather of a cycle."""
    climate = Scene().climate
    climate = type(climate)(year=40, season_temperature=40.0, temperature=climate.temperature)
    weather = [weather_of(climate, 1, cycle) for cycle in range(40)]
    assert min(now.temperature for now in weather) < -20.0
    assert {now.mean_temperature for now in weather} == {climate.temperature}


def test_a_new_lake_is_seen_by_the_plants() -> None:
    simulator = simulated(12 * PERIOD, green(droplets__enabled=False, plants__tree_arrival=0.1))
    world = simulator.world
    trees = len(world.trees)
    world.water[...] = 8.0
    world.ledger.water.gain("poured", world.stored("water"))
    for _ in range(3 * PERIOD):
        simulator.advance()
    lake = (world.standing == LAKE) & (world.water_level - world.ground > 0.5)
    assert lake.any()
    assert trees > 50
    assert not lake[tuple(world.trees[:, :2].astype(int).T)].any()
    assert world.trace("grass")[lake].max() < 0.01


@pytest.mark.parametrize("end", ["low", "high"])
def test_both_ends_of_each_parameter(end: str) -> None:
    for path, declaration in DECLARATIONS.items():
        if path.startswith("plants.") and declaration.kind in (int, float):
            scene = green().with_value(path, getattr(declaration, end))
            world = simulated(PERIOD + 2, scene).world
            assert world.unsound_cell() is None, path
            assert np.isfinite(world.trees).all(), path
            assert world.imbalance() < 1e-9, path


def test_plants_that_are_off_leave_old_scenes_as_they_were() -> None:
    assert not PlantsParameters().enabled
    assert simulated(3).world.surface is None


# The comparison of the article: basic, coupled, and coupled with trees.

COMPARED = ("basic", "coupled", "coupled-with-trees")


def test_the_compared_presets_differ_in_what_they_compare_alone() -> None:
    basic, coupled, with_trees = (load_preset(name) for name in COMPARED)
    for scene in (coupled, with_trees):
        for group in ("world", "noise", "materials", "climate", "pools", "view", "camera"):
            assert getattr(scene, group) == getattr(basic, group)
    assert with_trees.droplets == coupled.droplets != basic.droplets
    assert with_trees.plants.enabled
    assert not coupled.plants.enabled
    assert basic.plants == coupled.plants == Scene().plants
