"""Water that runs in a world: what it takes over from lakes and gives back, the sea, hands, and its ledger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.brushes.painting import paint
from app.engine.memory import floods_room
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.edge_parameters import EdgeParameters
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.floods import EAST, Floods, FloodsParameters
from app.processes.pools import PoolsParameters, fill
from app.scene.edits import Stroke
from app.scene.scene import Scene, load_preset
from kernels.scratch import LINE
from kernels.standing import LAKE, SEA
from tests.app.small import bits, simulated, small_scene

WALLS = EdgeParameters(water="wall")


def flooded(**settings: object) -> Scene:
    """A small scene whose water runs, without drops."""
    return small_scene(floods__enabled=True, droplets__enabled=False, **settings)


def basin() -> World:
    """A lake in a bowl, which a ridge parts from a lower plain, in cells of 5 m."""
    south, east = np.mgrid[:30, :48] * 5.0
    ground = 10.0 - 8.0 * np.exp(-(((south - 75.0) / 40.0) ** 2 + ((east - 60.0) / 40.0) ** 2))
    ground[:, 30:] = 2.0 - 0.01 * east[:, 30:]
    world = World(ground - 3.0, np.full(ground.shape, 3.0), cell_size=5.0, seed=0)
    world.water[...] = np.maximum(8.0 - world.ground, 0.0) * (east < 140.0)
    world.ledger.water.gain("stood in lakes at the start", world.stored("water"))
    return world


def run(world: World, cycles: int, **parameters: object) -> None:
    """Let water run with walls around."""
    process = Floods()
    usual = {"enabled": True, "seconds_per_cycle": 20.0, "damping": 0.02, "bed_load": False, **parameters}
    for _ in range(cycles):
        process.step(world, FloodsParameters(**usual), Cycle(edges=WALLS))  # type: ignore[arg-type]
        world.end_cycle()


def test_a_real_valley_comes_to_rest_at_the_level_of_its_lake() -> None:
    scene = load_preset("jacksboro").with_values(
        {"world.past": 0, "world.part": "64x48+80+80", "droplets.enabled": False}
    )
    world = simulated(0, scene).world
    lakes = world.copy()
    assert list(fill(lakes, PoolsParameters(evaporation=0.0), WALLS, np.full(lakes.shape, 10.0), 1))
    level, wet = lakes.water_level.copy(), lakes.standing == LAKE
    deepest = np.unravel_index(lakes.water.argmax(), lakes.shape)
    lake = wet & (level == level[deepest])
    # The same water, but for a wave: in one half of the lake it stands higher, in the other lower.
    world.water[...] = lakes.water
    column = np.broadcast_to(np.arange(world.shape[1]), world.shape)
    middle = column[lake].mean()
    shifted = np.minimum(0.2 * lakes.water, 0.5) * lake
    more, less = shifted * (column < middle), shifted * (column >= middle)
    world.water[...] += more * (less.sum() / more.sum()) - less
    assert np.ptp((world.ground + world.water)[lake]) > 0.2
    run(world, 60, seconds_per_cycle=60.0)
    deep = lake & (lakes.water > 0.1)
    np.testing.assert_allclose(world.water_level[deep], level[deep], atol=1e-3)
    assert world.stored("water") == pytest.approx(lakes.stored("water"), rel=1e-12)


def test_switching_it_on_and_off_at_any_moment_loses_nothing() -> None:
    scene = flooded(pools__enabled=True, pools__evaporation=0.0, floods__rain=500.0, floods__seconds_per_cycle=30.0)
    simulator = simulated(6, scene)
    world = simulator.world
    assert world.water.max() > 0.05 and EAST in world.layers
    for on in (False, True, False, False, True, True, False):
        simulator.change(simulator.scene.with_value("floods.enabled", on))
        simulator.advance()
        simulator.verify()
        assert world.imbalance() < 1e-12
        assert (EAST in world.layers) == on
    lakes = world.standing == LAKE
    assert lakes.any()
    assert len(np.unique(world.water_level[lakes])) < np.count_nonzero(lakes), "they are level again"


def test_the_sea_comes_with_it_and_goes_with_it() -> None:
    scene = flooded(edges__water="sea", edges__sea_level=40.0, pools__enabled=True, world__relief=100.0)
    simulator = simulated(2, scene)
    world = simulator.world
    sea = world.standing == SEA
    assert sea.any() and (world.water[sea] > 0.0).all()
    assert np.abs(world.water_level[sea] - 40.0).max() < 0.01
    assert world.ledger.water.gained["from the sea"] > 0.0 and world.imbalance() < 1e-12
    simulator.change(simulator.scene.with_value("floods.enabled", False))
    simulator.advance()
    assert (world.water[world.standing == SEA] == 0.0).all()
    assert (world.water_level[world.standing == SEA] == 40.0).all()
    assert world.imbalance() < 1e-12


def test_the_tide_follows_the_level_of_the_sea() -> None:
    scene = flooded(edges__water="sea", edges__sea_level=40.0, world__relief=100.0, floods__seconds_per_cycle=300.0)
    simulator = simulated(3, scene)
    low = simulator.world.stored("water")
    simulator.change(simulator.scene.with_value("edges.sea_level", 44.0))
    for _ in range(6):
        simulator.advance()
    world = simulator.world
    assert world.stored("water") > 1.1 * low
    sea = world.standing == SEA
    assert np.median(world.water_level[sea]) == pytest.approx(44.0, abs=0.1)
    assert world.imbalance() < 1e-12


def test_a_saved_world_goes_on_as_it_would_have_on_any_threads(tmp_path: Path) -> None:
    scene = flooded(floods__rain=200.0, floods__springs="0.5 0.5 3", materials__enabled=True)
    simulator = simulated(5, scene, threads=2)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    opened = Simulator(*reversed(checkpoint.load(tmp_path / "world.npz")))  # type: ignore[arg-type]
    for each in (simulator, opened):
        for _ in range(5):
            each.advance()
    assert bits(opened.world) == bits(simulator.world)
    assert bits(simulated(10, scene, threads=1).world) == bits(simulator.world)


def test_a_lake_that_is_cut_drains_through_the_cut() -> None:
    world = basin()
    run(world, 4)
    plain = np.s_[:, 34:]
    assert world.water[plain].max() == 0.0, "the ridge holds it"
    before = world.stored("water")
    cut = Stroke("river bed", ((60.0, 75.0, 1.0), (160.0, 75.0, 1.0)), 10.0, 2.0)
    paint(world, Scene(), cut)
    run(world, 30)
    assert world.water[plain].max() > 0.1
    assert world.layers["flood_speed"].max() > 0.0
    assert world.stored("water") == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("kinds", ["sand 1; gravel 1; clay 1; soil 1", ""])
@pytest.mark.parametrize(("bed_load", "suspended"), [(True, False), (False, False), (False, True)])
def test_its_scratch_memory_is_as_it_was_reckoned(kinds: str, bed_load: bool, suspended: bool) -> None:
    scene = flooded(floods__rain=50.0, floods__bed_load=bed_load, floods__suspended_load=suspended)
    if kinds:
        scene = scene.with_values({"materials.enabled": True, "materials.loose": kinds})
    simulator = simulated(1, scene)
    taken = simulator.cycle.scratch.begin().nbytes / simulator.world.ground.size
    assert taken == pytest.approx(floods_room(scene, simulator.world), abs=8 * LINE / simulator.world.ground.size)


def test_what_is_poured_runs_and_what_is_dammed_stays() -> None:
    world = basin()
    paint(world, Scene(), Stroke("pour", ((200.0, 75.0, 1.0),), 15.0, 3.0))
    run(world, 1, seconds_per_cycle=2.0)
    assert world.layers["flood_speed"].max() > 1.0, "it is no lake at once"
    world = basin()
    paint(world, Scene(), Stroke("river bed", ((60.0, 75.0, 1.0), (160.0, 75.0, 1.0)), 10.0, 2.0))
    paint(world, Scene(), Stroke("raise", ((125.0, 75.0, 1.0),), 25.0, 12.0))
    run(world, 20)
    assert world.water[:, 34:].max() < 0.01


def test_a_breach_grows_where_water_drags_the_dam_away_and_only_there() -> None:
    still, carried = basin(), basin()
    for world in (still, carried):
        world.bedrock[14:17, 20:30] -= np.maximum(world.ground - 7.0, 0.0)[14:17, 20:30]
        world.sum_ground()
    ground, loose = still.ground.copy(), carried.stored("sediment")
    run(still, 12)
    run(carried, 12, bed_load=True, grain_size=0.001)
    np.testing.assert_array_equal(still.ground, ground)
    assert (ground - carried.ground)[14:17, 20:29].mean() > 0.03, "the cut is deeper"
    assert (carried.ground - ground)[14:17, 30:].max() > 0.02, "and what was there lies on the plain"
    assert carried.stored("sediment") == pytest.approx(loose, rel=1e-12)
    dry = carried.water == 0.0
    dry[1:-1, 1:-1] &= (still.water == 0.0)[1:-1, 1:-1]
    assert np.abs(carried.ground - ground)[:8][dry[:8]].max() == 0.0


def test_protected_ground_neither_gives_nor_takes() -> None:
    world = basin()
    world.bedrock[14:17, 20:30] -= np.maximum(world.ground - 7.0, 0.0)[14:17, 20:30]
    world.sum_ground()
    world.trace("mobility")[:, 24:40] = 0.0
    ground = world.ground.copy()
    run(world, 4, bed_load=True)
    np.testing.assert_array_equal(world.ground[:, 24:40], ground[:, 24:40])
    assert np.abs(world.ground - ground).max() > 0.01


@pytest.mark.parametrize("loose", ["", "sand 2; clay 1"])
def test_mud_is_in_the_ledger_and_settles_where_it_is_switched_off(loose: str) -> None:
    scene = flooded(
        floods__suspended_load=True, floods__springs="0.5 0.5 400", floods__seconds_per_cycle=5.0,
        materials__enabled=bool(loose), materials__loose=loose or "sand 1", world__soil_depth=2.0,
    )  # fmt: skip
    simulator = simulated(12, scene)
    world = simulator.world
    assert world.layers["suspended"].sum() > 0.0 and world.imbalance() < 1e-12
    if loose:
        assert world.ledger.kinds["clay"].lost["taken into suspension"] > 0.0
        assert "taken into suspension" not in world.ledger.kinds["sand"].lost
    assert bits(world) == bits(simulated(12, scene, threads=2).world)
    for setting in ("floods.suspended_load", "floods.enabled"):
        other = simulated(12, scene)
        other.take_scene(scene.with_value(setting, False))
        other.advance()
        assert "suspended" not in other.world.layers and other.world.imbalance() < 1e-12
