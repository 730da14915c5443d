"""Plants in a world: their files, their process, saved and restored, and what they do to rivers."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.climate import weather_of
from app.model.errors import UserError
from app.model.plants import SHAPES, TREE_COLUMNS, FloraParameters, Tree, flora_of, load_plants
from app.model.soundness import find_fault
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


CACTUS = """
title = "Cactus"
wetness = [0.0, 0.02, 0.5, 0.7]
temperature = [-10.0, 0.0, 40.0, 50.0]
slope = [40.0, 60.0]
shape = "columnar"
colour = "#3f6b3a"
height = 0.4
crown = 0.3
rooting = 0.6
roots = 0.3
growth = 300.0
lifetime = 4000.0
hardiness = 300.0
seeds = 0.02
distance = 2.0
shade_tolerance = 0.0
"""


def test_the_usual_kinds_and_those_that_a_scene_can_ask_for() -> None:
    flora = flora_of(FloraParameters())
    assert flora.grass.name == "grass"
    assert flora.names == ("conifer", "broadleaf"), "the order of their numbers in worlds saved before there were more"
    conifer, broadleaf = flora.trees
    assert conifer.temperature[0] < broadleaf.temperature[0], "conifers make the tree line"
    assert all(hasattr(conifer, trait) for trait in TREE_TRAITS)
    known = load_plants()
    shapes = {plant.shape for plant in known.values() if isinstance(plant, Tree)}
    assert shapes == set(SHAPES), "one at least that shows each shape"
    assert flora_of(FloraParameters(trees="poplar; shrub; conifer")).names == ("poplar", "shrub", "conifer")
    assert flora_of(FloraParameters(trees="")).names == ()


def test_a_folder_adds_kinds_and_replaces_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "cactus.toml").write_text(CACTUS)
    (tmp_path / "conifer.toml").write_text(CACTUS.replace('"Cactus"', '"Larch"'))
    (tmp_path / "notes.txt").write_text("not a plant")
    flora = flora_of(FloraParameters(folder=str(tmp_path), trees="cactus; conifer; broadleaf"))
    assert [tree.title for tree in flora.trees] == ["Cactus", "Larch", "Broadleaf"]
    assert flora_of(FloraParameters(folder=str(tmp_path))).names == ("conifer", "broadleaf"), "what is named, no more"
    scene = green(flora__folder=str(tmp_path), flora__trees="cactus", plants__ground_wetness=0.2)
    world = simulated(6 * PERIOD, scene).world
    assert len(world.trees) > 20
    assert take_snapshot(world).flora.trees[0].colour == "#3f6b3a"


def changed_file(tmp_path: Path, name: str, change: tuple[str, str]) -> FloraParameters:
    """A folder with a shipped file, in which a text is replaced."""
    from importlib.resources import files

    text = (files("assets") / "plants" / f"{name}.toml").read_text()
    assert change[0] in text
    (tmp_path / f"{name}.toml").write_text(text.replace(*change))
    return FloraParameters(folder=str(tmp_path))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("broadleaf", ("crown = 0.95\n", ""), r"broadleaf\.toml: 'crown' is missing"),
        ("broadleaf", ("crown = 0.95", "crown = 60.0"), "broadleaf.*: 'crown'"),
        ("broadleaf", ("crown = 0.95", "krone = 0.95"), "'krone' is not a property of a plant"),
        (
            "broadleaf",
            ('shape = "broadleaf"', 'shape = "palm"'),
            r"broadleaf\.toml: Invalid enum value 'palm'.*'shape'",
        ),
        ("broadleaf", ('colour = "#', 'colour = "green'), r"broadleaf\.toml: .*'colour'"),
        ("grass", ("title", "height = 1.0\ntitle"), "'height' is not a property of a plant"),
        ("grass", ("slope = [35.0, 55.0]", "slope = [55.0, 35.0]"), "'slope' is .*; its numbers must not fall"),
        ("grass", ("wetness = [0.05, 0.25, 1.0, 1.0]", "wetness = [0.05, 0.25, 1.0, 1.5]"), "grass.*: 'wetness'"),
        ("grass", ("title = ", "name = 'weed'\ntitle = "), "its name is 'weed', but a plant has the name of its file"),
        ("conifer", ("title = ", "title "), "conifer.toml"),
    ],
)
def test_wrong_files_say_what_would_be_right(tmp_path: Path, name: str, change: tuple[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        flora_of(changed_file(tmp_path, name, change))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ("conifer; brodleaf", "flora.trees: there is no kind 'brodleaf'; did you mean 'broadleaf'?"),
        ("conifer; grass", "flora.trees: 'grass' is no kind of trees; such as conifer; broadleaf"),
        ("conifer 3", "flora.trees: 'conifer 3' is no kind of trees; such as conifer; broadleaf"),
        ("conifer; shrub; conifer", "flora.trees: 'conifer' is there twice"),
        ("; ".join(f"tree-{number}" for number in range(17)), "flora.trees: 17 kinds of trees: a world has up to 16"),
    ],
)
def test_wrong_lists_of_trees_say_what_would_be_right(trees: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        flora_of(FloraParameters(trees=trees))
    assert str(raised.value) == message


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^flora\.folder: .*none: there is no such folder$"):
        simulated(0, green(flora__folder=str(tmp_path / "none")))


# The process.


def test_plants_come_and_show_themselves() -> None:
    world = simulated(10 * PERIOD, green()).world
    assert world.trace("grass").mean() > 0.1
    assert len(world.trees) > 50
    assert set(np.unique(world.trees[:, TREE_COLUMNS.index("kind")])) <= {0.0, 1.0}
    snapshot = take_snapshot(world)
    assert {"grass", "roots", "canopy"} <= snapshot.layers.keys()
    assert "rooted_ground" not in snapshot.layers, "which no picture needs"
    assert np.array_equal(take_snapshot(world, overlay="roots").layers["roots"], world.trace("roots"))
    assert "roots" not in take_snapshot(world, overlay="canopy").layers
    assert snapshot.trees.tobytes() == world.trees.tobytes()
    assert snapshot.trees_version == world.version
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


def test_a_world_goes_on_with_its_own_kinds_and_says_so_where_they_are_missing(tmp_path: Path) -> None:
    kinds = tmp_path / "kinds"
    kinds.mkdir()
    (kinds / "cactus.toml").write_text(CACTUS)
    scene = green(flora__folder=str(kinds), flora__trees="shrub; cactus", plants__ground_wetness=0.2)
    through, saved = simulated(8 * PERIOD, scene), simulated(4 * PERIOD, scene)
    path = tmp_path / "world.npz"
    checkpoint.save(path, saved.world, saved.scene)
    again = Simulator(*reversed(checkpoint.load(path)))  # type: ignore[arg-type]
    for _ in range(4 * PERIOD):
        again.advance()
    assert set(np.unique(again.world.trees[:, TREE_COLUMNS.index("kind")])) == {0.0, 1.0}
    assert bits(again.world) == bits(through.world)

    (kinds / "cactus.toml").unlink()
    with pytest.raises(UserError, match=rf"^{path}: flora\.trees: there is no kind 'cactus'"):
        checkpoint.load(path)
    kinds.rmdir()
    with pytest.raises(UserError, match=rf"^{path}: flora\.folder: .*kinds: there is no such folder$"):
        checkpoint.load(path)


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
            assert find_fault(world) is None, path
            assert np.isfinite(world.trees).all(), path
            assert world.imbalance() < 1e-9, path


def test_plants_that_are_off_leave_old_scenes_as_they_were() -> None:
    assert not PlantsParameters().enabled
    assert simulated(3).world.surface is None


# The comparison of the article: basic, coupled, and coupled with trees; and the momentum of the author's later ones.

COMPARED = ("basic", "coupled", "coupled-with-momentum", "coupled-with-trees")
ARTICLES = {"stream_friction": 0.5, "stream_evaporation": 0.2, "stream_stop": 0.01}


def test_the_compared_presets_differ_in_what_they_compare_alone() -> None:
    basic, coupled, with_momentum, with_trees = (load_preset(name) for name in COMPARED)
    for scene in (coupled, with_momentum, with_trees):
        for group in ("world", "noise", "materials", "climate", "pools", "view", "camera"):
            assert getattr(scene, group) == getattr(basic, group)
    assert coupled.droplets == msgspec.structs.replace(basic.droplets, **ARTICLES), "the article's coupling alone"
    assert with_momentum == msgspec.structs.replace(
        with_momentum, droplets=msgspec.structs.replace(coupled.droplets, momentum=0.3)
    )
    assert with_trees.droplets == coupled.droplets
    assert coupled.droplets.root_deposition == 1.0, "roots hold back both ways, as there"
    assert with_trees.plants.enabled
    assert not coupled.plants.enabled
    assert basic.plants == coupled.plants == Scene().plants
