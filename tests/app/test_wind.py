"""Wind and cascade as processes of a scene."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from app import checkpoint
from app.processes.wind import WindErosion, WindParameters
from app.scene import DECLARATIONS, Scene, load_preset, presets
from app.simulation import Simulator
from app.sources import create_world
from app.world import LAYERS, World
from tests.app.small import bits, simulated, small_scene
from tests.kernels.terrain import hills, soil

WINDY = {"wind__enabled": True, "cascade__enabled": True, "wind__dust": 0.1, "wind__inflow": 0.5}

SAND = [name for name in presets() if load_preset(name).world.source == "sand"]


def windy(**settings: object) -> Scene:
    return small_scene(**{**WINDY, **settings})


@pytest.mark.parametrize("edges", ["open", "wrap"])
def test_ledger_closes(edges: str) -> None:
    simulator = simulated(20, windy(wind__edges=edges, cascade__edges=edges))
    world = simulator.world
    assert world.imbalance() < 1e-12
    lost = world.ledger.sediment.lost["off the map"]
    assert world.ledger.rock.lost["worn by wind"] > 0.0
    assert world.ledger.sediment.gained["worn by wind"] == world.ledger.rock.lost["worn by wind"]
    gained = world.ledger.sediment.gained["blown in"]
    assert gained == (pytest.approx(20 * 250 * 0.5 * world.cell_area) if edges == "open" else 0.0)
    assert lost > 0.0  # by drops, too


def test_wrapping_dunes_lose_nothing() -> None:
    scene = load_preset("dune-field").with_value("world.columns", 64).with_value("world.rows", 48)
    world = simulated(100, scene).world
    assert world.ledger.sediment.lost["off the map"] == 0.0
    assert world.imbalance() < 1e-13
    assert np.ptp(world.ground) > 0.0


def test_off_by_default_and_other_scenes_keep_their_bits() -> None:
    scene = Scene()
    assert not scene.wind.enabled
    assert not scene.cascade.enabled
    world = simulated(3).world
    assert "wind_path" not in world.layers
    assert "airborne" not in world.layers


def test_same_bits_on_any_number_of_threads() -> None:
    assert bits(simulated(8, windy(), 1).world) == bits(simulated(8, windy(), 2).world)


def test_a_saved_world_goes_on_as_if_it_had_not_been_saved(tmp_path: Path) -> None:
    first = simulated(5, windy())
    checkpoint.save(tmp_path / "world.npz", first.world, first.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    second = Simulator(scene, world)
    for _ in range(5):
        first.advance()
        second.advance()
    assert first.world.layers["wind_path"].any()
    assert bits(first.world) == bits(second.world)


def test_a_saved_world_without_water_and_traces_can_be_read(tmp_path: Path) -> None:
    simulator = simulated(2)
    checkpoint.save(tmp_path / "new.npz", simulator.world, simulator.scene)
    with np.load(tmp_path / "new.npz") as file:
        old = {name: file[name] for name in ("meta", "bedrock", "sediment")}
    np.savez(tmp_path / "old.npz", **old)
    world, _ = checkpoint.load(tmp_path / "old.npz")
    assert np.array_equal(world.ground, simulator.world.ground)
    assert set(world.layers) == set(LAYERS)
    assert not world.water.any()


def test_nothing_breaks_with_any_two_parameters_at_the_ends_of_their_ranges() -> None:
    """On a map 8 cells wide with sand and bare rock."""
    numbers = [
        declaration
        for path, declaration in DECLARATIONS.items()
        if path.startswith("wind.") and declaration.kind in (int, float) and declaration.name != "count"
    ]
    process = WindErosion()
    for one, other in itertools.combinations(numbers, 2):
        for a, b in itertools.product((one.low, one.high), (other.low, other.high)):
            for edges in ("open", "wrap"):
                values = {"longest_path": 200, one.name: one.kind(a), other.name: other.kind(b)}
                world = World(hills(8, 11, 20.0), soil(8, 11, 2.0), cell_size=3.0, seed=1)
                process.step(world, WindParameters(count=12, edges=edges, **values))  # type: ignore[arg-type]
                assert world.imbalance() < 1e-12, values
                assert world.non_finite_cell() is None, values
                assert world.sediment.min() >= 0.0, values
                assert np.array_equal(world.ground, world.bedrock + world.sediment), values


@pytest.mark.parametrize("name", SAND)
def test_sand_presets_run_and_lose_nothing(name: str) -> None:
    scene = load_preset(name).with_value("world.columns", 48).with_value("world.rows", 40)
    scene = scene.with_value("wind.count", 20)
    world, scene = create_world(scene)
    start = world.sediment.copy()
    assert start.sum() > 0.0
    simulator = Simulator(scene, world)
    for _ in range(10):
        simulator.advance()
    assert world.imbalance() < 1e-12
    assert not np.array_equal(start, world.sediment)


def test_a_sheet_of_sand_goes_on_across_the_edges() -> None:
    scene = load_preset("dune-field").with_value("world.columns", 96).with_value("world.rows", 64)
    world, _ = create_world(scene)
    for axis in (0, 1):
        inside = np.abs(np.diff(world.ground, axis=axis)).mean()
        across = np.abs(np.take(world.ground, 0, axis) - np.take(world.ground, -1, axis)).mean()
        assert across < 2.0 * inside


def test_variations_of_the_article_differ_from_their_base_in_what_they_say() -> None:
    base = load_preset("article-wind")
    factors = {
        "article-settling-4": {"cascade.settling": 4.0},
        "article-settling-0.2": {"cascade.settling": 0.2},
        "article-roughness-2": {"cascade.roughness": 2.0},
        "article-suspension-10": {"wind.suspension": 10.0, "wind.deposition": 10.0},
        "article-suspension-0.1": {"wind.suspension": 0.1, "wind.deposition": 0.1},
        "article-wind-0.25": {"wind.speed": 0.25},
    }
    assert factors.keys() == {name for name in SAND if name.startswith("article-")} - {"article-wind"}
    assert base.world.seed == 1606266249
    for name, changes in factors.items():
        variation = load_preset(name)
        for path in DECLARATIONS:
            value, expected = variation.value(path), base.value(path)
            if path in changes:
                assert isinstance(expected, float)
                assert value == pytest.approx(expected * changes[path]), path
            else:
                assert value == expected, path
