"""Materials as files and texts, the errors of wrong ones, and worlds that are made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.cli.simulate import ledger_text
from app.engine.creation import create_world
from app.files import checkpoint
from app.model.errors import UserError
from app.model.materials import MOST_KINDS, MaterialParameters, load_materials, materials_of, read_mix, read_strata
from app.model.world import World
from app.processes.cycle import Cycle, Rising
from app.processes.droplets import VOLUME, DropletErosion, DropletParameters, _risen_drops
from app.processes.snowballs import smooth
from app.scene.scene import Scene
from tests.app.small import assert_continues_after_saving, bits, simulated, small_preset, small_scene

MIXED = {
    "materials__enabled": True,
    "materials__loose": "sand 3; gravel 2; clay 1",
    "materials__strata": "sandstone 12; clay 6; granite",
    "world__soil_depth": 1.0,
    "droplets__count": 150,
}

LOOSE_FILE = """
title = "Silt"
colour = "#a08060"
loose = true
erodibility = 0.9
abrasion = 0.1
porosity = 0.4
deposition = 0.3
suspension = 0.5
repose = 30.0
"""
SOLID_FILE = """
title = "Basalt"
colour = "#404040"
solid = true
erodibility = 0.2
abrasion = 0.1
porosity = 0.1
steepest = 75.0
worn = "sand"
broken = "gravel"
"""


def mixed(**settings: object) -> Scene:
    return small_scene(**{**MIXED, **settings})


def ordered_sum(world: World) -> Any:
    total = np.zeros(world.shape)
    for kind in range(world.mix.shape[2]):
        total += world.mix[..., kind]
    return total


def write(folder: Path, **files: str | bytes) -> MaterialParameters:
    """Parameters with a folder of these files."""
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / f"{name.replace('_', '-')}.toml").write_bytes(data)
    return MaterialParameters(folder=str(folder))


# Files.


def test_shipped_materials_are_sound() -> None:
    known = load_materials()
    assert {"clay", "gravel", "sand", "soil", "granite", "sandstone"} <= set(known)
    made = materials_of(MaterialParameters())
    assert list(made.names) == sorted(made.names)
    for rock in made.rocks:
        assert rock.loose or (rock.worn in made.names and rock.broken in made.names)


def test_a_folder_adds_materials_and_replaces_shipped_ones(tmp_path: Path) -> None:
    sand = LOOSE_FILE.replace('"Silt"', '"Black sand"')
    parameters = write(tmp_path, silt=LOOSE_FILE, basalt=SOLID_FILE, sand=sand)
    (tmp_path / "notes.txt").write_text("not a material")
    made = materials_of(MaterialParameters(folder=parameters.folder, strata="basalt 20; granite", loose="silt 2; sand"))
    assert "silt" in made.names and made.rocks[0].title == "Basalt"
    assert made.loose[made.kind("sand")].title == "Black sand"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("silt", LOOSE_FILE.replace('title = "Silt"\n', ""), "'title' is missing"),
        ("silt", LOOSE_FILE.replace("erodibility = 0.9\n", ""), "'erodibility' is missing"),
        ("silt", LOOSE_FILE.replace("repose = 30.0\n", ""), "'repose' is missing, which every loose material has"),
        ("basalt", SOLID_FILE.replace("steepest = 75.0\n", ""), "'steepest' is missing, which every solid material"),
        ("basalt", SOLID_FILE + "repose = 30.0\n", "'repose' is of loose materials, and this one says loose = false"),
        ("silt", LOOSE_FILE + "steepest = 30.0\n", "'steepest' is of solid materials, and this one says solid = false"),
        ("silt", LOOSE_FILE + 'broken = "sand"\n', "'broken' is of solid materials, and this one says solid = false"),
        ("basalt", SOLID_FILE.replace('worn = "sand"\n', ""), "'worn' is missing: what does it become?"),
        ("basalt", SOLID_FILE.replace('broken = "gravel"\n', ""), "'broken' is missing: what does it become?"),
        ("silt", LOOSE_FILE.replace("loose = true", "loose = false"), "neither solid nor loose"),
        ("silt", LOOSE_FILE + "hardness = 3\n", "'hardness' is not a property of a material"),
        ("silt", LOOSE_FILE.replace("0.9", "1.5"), "'erodibility'"),
        ("silt", LOOSE_FILE.replace("0.9", "-0.1"), "'erodibility'"),
        ("silt", LOOSE_FILE.replace("0.9", "nan"), "'erodibility'"),
        ("silt", LOOSE_FILE.replace("0.3", "1e9"), "'deposition'"),
        ("silt", LOOSE_FILE.replace("30.0", "90.0"), "'repose'"),
        ("silt", LOOSE_FILE.replace("0.9", '"much"'), "'erodibility'"),
        ("silt", LOOSE_FILE.replace("#a08060", "brown"), "'colour'"),
        ("silt", LOOSE_FILE + 'name = "mud"\n', "its name is 'mud', but a material has the name of its file"),
        ("silt", LOOSE_FILE + 'worn = "dust"\n', "worn: there is no material 'dust'"),
        ("silt", LOOSE_FILE + 'worn = "granite"\n', "worn: 'granite' is not loose"),
        ("basalt", SOLID_FILE.replace('"gravel"', '"graval"'), "there is no material 'graval'; did you mean 'gravel'?"),
        ("gravel", LOOSE_FILE + 'worn = "sand"\n', ""),
        ("sand", LOOSE_FILE + 'worn = "gravel"\n', "worn goes in a circle: "),
        ("silt", "title = ", ""),
        ("silt", b'title = "\xff\xfe"', ""),
        ("silt", "", "'title' is missing"),
        ("Silt", LOOSE_FILE, "'Silt' cannot be the name of a material"),
        ("water", LOOSE_FILE, "'water' cannot be the name of a material"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    parameters = write(tmp_path, **{name: content})
    if name == "gravel":
        assert materials_of(parameters).names  # as the shipped one does
        return
    with pytest.raises(UserError) as raised:
        materials_of(parameters)
    said = str(raised.value)
    assert message in said and f"{name}.toml" in said
    assert "\n" not in said


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^materials\.folder: .*none: there is no such folder$"):
        materials_of(MaterialParameters(folder=str(tmp_path / "none")))
    with pytest.raises(UserError, match="there is no such folder"):
        create_world(mixed(materials__folder=str(tmp_path / "none")))


def test_too_many_kinds(tmp_path: Path) -> None:
    parameters = write(tmp_path, **{f"silt_{number}": LOOSE_FILE for number in range(MOST_KINDS)})
    with pytest.raises(UserError, match=f"loose materials: a world has up to {MOST_KINDS}$"):
        materials_of(parameters)


@pytest.mark.parametrize(
    ("strata", "loose", "message"),
    [
        ("", "sand", "materials.strata: must name rocks"),
        ("granite 0", "sand", "materials.strata: must name rocks"),
        ("granit", "sand", "materials.strata: there is no material 'granit'; did you mean 'granite'?"),
        ("gravel 5; granite", "sand", "materials.strata: 'gravel' is not solid"),
        ("sandstone; granite", "sand", "materials.strata: 'sandstone' needs a thickness"),
        ("sandstone x; granite", "sand", "materials.strata: 'sandstone x' must be a name and a number"),
        ("sandstone -3; granite", "sand", "materials.strata: 'sandstone -3' must be a name and a number"),
        ("sandstone nan; granite", "sand", "materials.strata: 'sandstone nan' must be a name and a number"),
        ("granite", "", "materials.loose: must name loose materials"),
        ("granite", "sand 0", "materials.loose: must name loose materials"),
        ("granite", "sand inf", "materials.loose: must name loose materials"),
        ("granite", "mud 2", "materials.loose: there is no material 'mud'"),
        ("granite", "granite 2", "materials.loose: 'granite' is not loose"),
    ],
)
def test_wrong_texts_are_named(strata: str, loose: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        read_strata(strata)
        read_mix(loose)
        materials_of(MaterialParameters(strata=strata, loose=loose))
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


# Worlds.


def test_each_kind_is_accounted_for() -> None:
    world = simulated(8, mixed(materials__repeat=True)).world
    assert world.imbalance() < 1e-9
    assert np.array_equal(world.sediment, ordered_sum(world))
    assert np.array_equal(world.ground, world.bedrock + world.sediment)
    kinds = world.ledger.kinds
    assert kinds["sand"].gained["worn by drops"] > 0.0 < kinds["clay"].gained["worn by drops"]
    assert kinds["gravel"].lost["worn to sand"] == kinds["sand"].gained["worn from gravel"] > 0.0
    gained = sum(account.gained.get("worn by drops", 0.0) for account in kinds.values())
    assert gained == pytest.approx(world.ledger.rock.lost["worn by drops"], rel=1e-9)
    lost = sum(account.lost.get("off the map", 0.0) for account in kinds.values())
    assert lost == pytest.approx(world.ledger.sediment.lost["off the map"], rel=1e-9)
    text = ledger_text(world)
    assert "gravel, m³" in text and "worn to sand" in text


def test_a_mix_is_laid_in_its_parts() -> None:
    world, _ = create_world(mixed())
    assert world.materials is not None
    shares = {name: world.stored(name) / world.stored("sediment") for name in world.materials.names}
    expected = {"sand": 1.0 / 2.0, "gravel": 1.0 / 3.0, "clay": 1.0 / 6.0}
    assert shares == pytest.approx({**dict.fromkeys(shares, 0.0), **expected})


def test_same_bits_on_one_thread_and_two() -> None:
    results = [
        bits(simulated(4, mixed(world__columns=90, world__rows=70), threads=threads).world) for threads in (1, 2)
    ]
    assert results[0] == results[1]


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    simulator = simulated(3, mixed())
    assert_continues_after_saving(simulator, tmp_path / "world.npz", cycles=3)


def test_going_back_brings_every_bit_of_the_mix_back() -> None:
    simulator = simulated(2, mixed())
    simulator.back_up()
    before = {**bits(simulator.world), "ledger": simulator.world.ledger_copy()}
    simulator.advance()
    assert bits(simulator.world) != before
    simulator.go_back(2)
    assert bits(simulator.world) == before


@pytest.mark.parametrize(
    ("layer", "change", "message"),
    [
        (
            "loose_sand",
            lambda values: values + 1e-6,
            "its loose materials are not together what its layer 'sediment' is",
        ),
        (
            "loose_clay",
            lambda values: values * np.nan,
            "layer 'loose_clay' is nan at row 0, column 0; must be a finite",
        ),
        ("loose_clay", lambda values: -1.0 - values, "layer 'loose_clay' is -"),
        ("loose_clay", lambda values: values[:5], "layer 'loose_clay' has the shape (5, 40)"),
        ("strata_rise", None, "its rock is of several materials, but it has no 'strata_rise'"),
        ("loose_clay", None, "its loose materials are gravel, sand, soil; those that are known now are clay, gravel"),
    ],
)
def test_a_wrong_mix_in_a_file_is_named(tmp_path: Path, layer: str, change: Any, message: str) -> None:
    path = tmp_path / "world.npz"
    simulator = simulated(1, mixed())
    checkpoint.save(path, simulator.world, simulator.scene)
    with np.load(path) as file:
        arrays = dict(file)
    values = arrays.pop(layer)
    if change is not None:
        arrays[layer] = change(values)
    np.savez(path, **arrays)
    with pytest.raises(UserError) as raised:
        checkpoint.load(path)
    assert str(raised.value).startswith(f"{path}: {message}")
    assert "\n" not in str(raised.value)


def test_a_file_with_kinds_that_are_not_known_any_more(tmp_path: Path) -> None:
    write(tmp_path, silt=LOOSE_FILE)
    simulator = simulated(1, mixed(materials__folder=str(tmp_path)))
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    assert checkpoint.load(tmp_path / "world.npz")[0].stored("silt") == 0.0
    (tmp_path / "silt.toml").unlink()
    with pytest.raises(
        UserError, match=r"its loose materials are clay, gravel, sand, silt, soil; those that are known"
    ):
        checkpoint.load(tmp_path / "world.npz")


def test_snowballs_and_the_blur_lose_no_kind() -> None:
    scene = mixed(snowballs__enabled=True, snowballs__count=400, snowballs__smoothing=0.3, droplets__enabled=False)
    world = simulated(4, scene).world
    assert world.imbalance() < 1e-9
    assert np.array_equal(world.sediment, ordered_sum(world))
    assert sum(account.gained.get("worn by snowballs", 0.0) for account in world.ledger.kinds.values()) > 0.0
    before = {name: world.stored(name) for name in world.ledger.kinds}
    smooth(world)
    assert {name: world.stored(name) for name in before} == pytest.approx(before, rel=1e-12)
    assert np.array_equal(world.sediment, ordered_sum(world))


def test_roots_in_a_world_lower_what_is_moved() -> None:
    moved = []
    for roots in (0.0, 1.0):
        world, scene = create_world(mixed())
        world.trace("roots")[...] = roots
        start = world.ground.copy()
        DropletErosion().step(world, scene.droplets, Cycle())
        moved.append(np.abs(world.ground - start).sum())
    assert moved[1] < 0.4 * moved[0]


def test_soaked_water_is_in_the_moisture() -> None:
    world, scene = create_world(mixed())
    DropletErosion().step(world, scene.droplets, Cycle(soaking=0.05))
    assert world.layers["moisture"].sum() > 0.0
    assert world.imbalance() < 1e-9


@pytest.mark.slow
def test_a_river_breaks_through_a_row_of_dunes() -> None:
    """It cuts the lowest way over the row down to the rock, where else the wind heaps the dunes up."""

    def lowest_way(heights: NDArray[np.float64]) -> float:
        rows, columns = heights.shape
        middle = slice(columns // 3, 2 * columns // 3)
        return float(heights[rows // 3 : 2 * rows // 3, middle].max(axis=0).min())

    start = simulated(0, small_preset("dune-and-river", 112)).world
    with_river, without = (
        simulated(250, small_preset("dune-and-river", 112, **changes)).world
        for changes in ({}, {"droplets__springs": ""})
    )
    for world in (with_river, without):
        assert abs(world.imbalance()) < 1e-9
    assert lowest_way(with_river.ground) < lowest_way(start.bedrock)
    assert lowest_way(without.ground) > lowest_way(start.ground) > lowest_way(start.bedrock)


# Groundwater that rises. Of a drop's water of 2 m, as that of the small scene.


def risen(depths: list[float], most: int, cycle: int = 0) -> tuple[World, Any]:
    world, _ = create_world(small_scene())
    world.cycle = cycle
    cells = np.arange(len(depths), dtype=np.int64) * 37 + 5
    now = Cycle(rising=Rising(cells, np.array(depths)))
    drops = _risen_drops(world, now, most, 2.0)
    assert now.rising is None
    assert 2.0 * drops[:, VOLUME].sum() + world.water.sum() == pytest.approx(sum(depths), rel=1e-12)
    assert len(drops) <= most and (drops[:, VOLUME] <= 1.0 + 1e-12).all()
    assert set(drops[:, 0].astype(int) * 40 + drops[:, 1].astype(int)) <= set(cells.tolist())
    return world, drops


def test_rising_groundwater_runs_on_as_drops() -> None:
    world, drops = risen([3.0, 0.0, 5.0], most=100)
    assert len(drops) == 4
    assert not world.water.any()
    world, drops = risen([3.0, 0.0, 50.0], most=10)  # more than so many drops can carry stays where it is
    assert len(drops) == 10
    assert world.water.sum() == pytest.approx(33.0)
    assert risen([1.0], most=0)[0].water.sum() == 1.0
    assert len(risen([0.0], most=5)[1]) == 0


def test_each_cell_has_its_share_of_risen_drops_in_time() -> None:
    depths = [0.02, 0.1, 0.0, 0.08]
    begun = np.zeros(len(depths))
    for cycle in range(400):
        _, drops = risen(depths, 50, cycle)
        cells = drops[:, 0].astype(int) * 40 + drops[:, 1].astype(int)
        begun += [2.0 * drops[cells == 37 * number + 5, VOLUME].sum() for number in range(len(depths))]
    np.testing.assert_allclose(begun / 400, depths, atol=0.02)


def test_risen_water_is_in_the_ledger() -> None:
    world, scene = create_world(mixed(droplets__count=20))
    world.trace("groundwater")[...] = 1.0
    world.ledger.water.initial = world.ledger.water.scale = world.stored("water")
    cells = np.arange(300, dtype=np.int64) * 3
    world.layers["groundwater"].reshape(-1)[cells] -= 0.5
    now = Cycle(rising=Rising(cells, np.full(300, 0.5)))
    DropletErosion().step(world, DropletParameters(count=20), now)
    assert scene.materials.enabled
    assert world.imbalance() < 1e-9


def test_a_file_whose_ledger_lacks_a_kind(tmp_path: Path) -> None:
    simulator = simulated(1, mixed())
    del simulator.world.ledger.kinds["gravel"]
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    with pytest.raises(UserError, match=r"world\.npz: its ledger has no account of gravel$"):
        checkpoint.load(tmp_path / "world.npz")
