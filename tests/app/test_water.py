"""Lakes, sea, springs and rain maps in a running world."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.model.errors import UserError
from app.model.springs import read_springs, write_springs
from app.model.world import World
from app.processes.pools import derive_levels
from app.scene.edits import Change
from app.scene.scene import Scene
from kernels.standing import DRY, LAKE, SEA
from tests.app.small import bits, simulated, small_preset, small_scene
from tests.nets.profile import is_nightly
from tests.waiting import wait_for

RAINY = {
    "pools__enabled": True,
    "droplets__count": 200,
    "droplets__stream_friction": 0.5,
    "droplets__stream_evaporation": 0.2,
    "droplets__momentum": 0.3,
}


def rainy(**settings: object) -> Scene:
    return small_scene(**{**RAINY, **settings})


def bowls(sill: float = 10.0) -> World:
    """Two bowls of gravel on a slope, the upper one to the north, with a sill of rock and gravel between them."""
    row, column = np.mgrid[:48, :24].astype(float)
    away = np.abs(column - 11.5) / 11.5
    ground = 40.0 - 0.4 * row + 15.0 * away**2
    for middle, depth in ((12.0, 12.0), (34.0, 12.0)):
        ground -= depth * np.exp(-(((row - middle) / 6.0) ** 2) - ((column - 11.5) / 5.0) ** 2)
    return World(ground - sill, np.full_like(ground, sill), 5.0, seed=3)


def advanced(world: World, scene: Scene, cycles: int) -> World:
    """The world after so many cycles."""
    simulator = Simulator(scene, world)
    for _ in range(cycles):
        simulator.advance()
    return world


@pytest.mark.parametrize("edges", ["sea", "open", "wall"])
@pytest.mark.parametrize("evaporation", [0.0, 0.02])
def test_all_water_is_in_the_ledger(edges: str, evaporation: float) -> None:
    scene = rainy(edges__water=edges, edges__sea_level=22.0, pools__evaporation=evaporation, pools__seepage=0.01)
    world = advanced(bowls(), scene, 4)
    assert world.imbalance() < 1e-9
    water = world.ledger.water
    assert water.gained["rain"] > 0.0
    assert world.stored("water") > 0.0
    assert water.lost["seeped from lakes"] > 0.0
    assert ("evaporated from lakes" in water.lost) == (evaporation > 0.0)
    assert (water.lost.get("into the sea", 0.0) > 0.0) == (edges == "sea")
    assert (water.lost["off the map"] == 0.0) == (edges == "wall")


def test_each_lake_is_flat_to_the_last_bit() -> None:
    from scipy.ndimage import label

    world = advanced(bowls(), rainy(), 4)
    lakes, count = label(world.standing == LAKE, np.ones((3, 3)))
    assert count > 1
    for number in range(1, count + 1):
        levels = np.unique(world.water_level[lakes == number])
        assert len(levels) == 1
    derive_levels(world, rainy().pools, rainy().edges)  # drops have worn the dry ground since the lakes settled
    dry = world.standing == DRY
    assert np.array_equal(world.water_level[dry], world.ground[dry])


def test_a_full_lake_spills_into_the_next_and_its_outlet_is_cut() -> None:
    scene = rainy(droplets__count=1, droplets__water=0.5, droplets__springs="0.25 0.5 60", pools__evaporation=0.0)
    simulator = Simulator(scene, bowls())
    world = simulator.world
    before = world.ground.copy()
    highest = lower_wet = 0.0
    for _ in range(400):
        simulator.advance()
        upper = world.water_level[12, 11] if world.standing[12, 11] == LAKE else -np.inf
        highest = max(highest, upper)
        lower_wet = max(lower_wet, world.water[28:40].sum())
    assert lower_wet > 0.0, "the lower lake has no spring: its water came over the sill"
    sill = before[15:32, 9:15].min(axis=1).argmax() + 15
    assert world.ground[sill, 6:18].min() < before[sill, 6:18].min() - 0.5, "what spills wears its bed"
    assert world.water_level[12, 11] < highest - 0.3, "and drains the lake"
    assert world.imbalance() < 1e-9


def test_the_sea_takes_water_and_leaves_a_delta() -> None:
    row = np.mgrid[:60, :40][0].astype(float)
    ground = 30.0 - row + 3.0 * np.abs(np.mgrid[:60, :40][1] - 20.0) / 20.0
    world = World(ground - 2.0, np.full_like(ground, 2.0), 5.0, seed=1)
    scene = rainy(edges__water="sea", edges__sea_level=0.0, droplets__evaporation=0.0)
    simulator = Simulator(scene, world)
    simulator.prepare_all()
    assert ((world.standing == SEA) == (ground < 0.0)).all()
    before = world.ground.copy()
    for _ in range(6):
        simulator.advance()
    assert world.ledger.water.lost["into the sea"] > 0.5 * world.ledger.water.gained["rain"]
    grown = (world.ground - before).sum(axis=1)
    assert grown[30:34].sum() > 0.0 > grown[10:28].sum()
    assert abs(grown[40:58]).max() < 0.1 * grown[30:34].max()


def test_raising_the_sea_floods_at_once_also_while_paused() -> None:
    scene = rainy(edges__water="sea", edges__sea_level=-100.0)
    thread = SimulationThread(scene, paused=True)
    thread.first_picture_shown.set()
    thread.start()
    try:
        (snapshot,) = wait_for(thread.take, "a snapshot")
        while "water" not in snapshot.layers:
            (snapshot,) = wait_for(thread.take, "a snapshot")
        assert not snapshot.layers["water"].any()
        thread.ask(Change({"edges.sea_level": 100.0}))
        (snapshot,) = wait_for(thread.take, "a snapshot")
        assert snapshot.cycle == 0
        assert snapshot.sea_level == 100.0
        assert snapshot.layers["water"].max() > 50.0
    finally:
        thread.stop()


@pytest.mark.parametrize("sea_level", [-9_999.0, 9_999.0])
def test_a_sea_over_every_peak_and_no_sea_at_all(sea_level: float) -> None:
    world = simulated(10, rainy(edges__water="sea", edges__sea_level=sea_level)).world
    assert (world.standing == SEA).all() == (sea_level > 0.0)
    assert (world.standing == SEA).any() == (sea_level > 0.0)
    assert world.imbalance() < 1e-9


def test_a_saved_world_with_water_goes_on_as_if_it_had_not_been_saved(tmp_path: Path) -> None:
    through = simulated(30, rainy())
    saved = simulated(17, rainy())
    checkpoint.save(tmp_path / "world.npz", saved.world, saved.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    again = Simulator(scene, world)
    for _ in range(13):
        again.advance()
    assert bits(again.world)["layers"] == bits(through.world)["layers"]
    assert again.world.ledger == through.world.ledger


def test_same_bits_on_any_number_of_threads() -> None:
    scene = rainy(world__columns=150, world__rows=130, droplets__count=600)
    assert bits(simulated(12, scene, 1).world) == bits(simulated(12, scene, 2).world)


def test_lakes_without_drops_run_down_and_dry_up() -> None:
    scene = rainy(droplets__enabled=False, pools__evaporation=0.05)
    world, scene = create_world(scene)
    world.water[...] = 1.0
    world.ledger.water.gain("poured", world.stored("water"))
    simulator = Simulator(scene, world)
    stored = []
    for _ in range(30):
        simulator.advance()
        stored.append(world.stored("water"))
    assert all(after <= before for before, after in itertools.pairwise(stored))
    assert stored[-1] < 0.9 * stored[0]
    assert world.imbalance() < 1e-9


def test_streams_lie_where_most_water_gathers() -> None:
    """On real terrain, against the flow accumulation of an independent library."""
    richdem = pytest.importorskip("richdem")
    scene = small_preset("jacksboro", 112, droplets__count=600)
    scene = scene.with_value("droplets.evaporation", 0.0).with_value("droplets.deposition_rate", 0.0)
    scene = scene.with_value("pools.evaporation", 0.0).with_value("droplets.stream_memory", 0.05)
    scene = scene.with_value("droplets.water", 10.0)  # so that lakes are soon full
    simulator = simulated(0, scene)
    world = simulator.world
    for _ in range(80):
        simulator.advance()
    filled = richdem.FillDepressions(richdem.rdarray(world.ground, no_data=-9999.0), epsilon=True)
    upstream = np.asarray(richdem.FlowAccumulation(filled, method="D8"))
    dry = world.standing == DRY
    streams = (upstream > np.quantile(upstream, 0.97)) & dry
    # A drop runs between the eight directions of the library, so that its stream may lie a cell beside.
    wide = np.pad(world.trace("discharge"), 1)
    rows, columns = world.shape
    near = np.max([wide[a : a + rows, b : b + columns] for a in range(3) for b in range(3)], axis=0)
    assert np.mean(near[streams] > np.quantile(near[dry], 0.8)) > 0.9
    assert np.median(near[streams]) > 5.0 * np.median(near[dry])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", pytest.param("jacksboro", marks=pytest.mark.nightly)])
def test_no_spikes(name: str) -> None:
    scene = small_preset(name, 96, droplets__count=150, pools__enabled=True)
    simulator = simulated(0, scene)
    world = simulator.world
    relief = np.ptp(world.ground)
    for _ in range(2000 if is_nightly() else 500):
        before = world.ground.copy()
        simulator.advance()
        assert np.abs(world.ground - before).max() < 0.15 * relief
    assert np.isfinite(world.ground).all()
    assert world.imbalance() < 1e-9


# Springs and maps of rain.


def test_springs_are_read_and_written() -> None:
    text = "0.25 0.5 60; 1 0 2.5"
    springs = read_springs(text)
    assert [tuple(spring) for spring in springs] == [(0.25, 0.5, 60.0), (1.0, 0.0, 2.5)]
    assert read_springs(write_springs(springs)) == springs
    assert read_springs("") == read_springs(" ; ") == ()


@pytest.mark.parametrize(
    ("name", "amount"), [("droplets.springs", "drops"), ("braiding.springs", "m of water over one cell")]
)
@pytest.mark.parametrize("text", ["1 2", "a b c", "0.5 0.5 -1", "0.5 1.5 3", "0.5 0.5 nan", "0.5 0.5 1e9", "1 2 3 4"])
def test_wrong_springs_say_what_would_be_right(text: str, name: str, amount: str) -> None:
    wanted = rf"{re.escape(name)}: .* must be three numbers, such as 0\.2 0\.7 50: .* 100000 {amount} in a cycle"
    with pytest.raises(UserError, match=wanted):
        Scene().with_value(name, f"0.1 0.1 5; {text}")


def test_springs_add_their_water() -> None:
    world = simulated(5, rainy(droplets__springs="0.5 0.5 7.5; 0 0 2; 1 1 1")).world
    assert world.ledger.water.gained["springs"] == pytest.approx(5 * 10.5 * 2.0 * world.cell_area)
    assert world.imbalance() < 1e-9


def test_a_map_of_rain_is_read_kept_and_saved(tmp_path: Path) -> None:
    shades = np.zeros((16, 20), np.uint8)
    shades[:, 10:] = 255
    Image.fromarray(shades).save(tmp_path / "rain.png")
    scene = rainy(world__rain_map=str(tmp_path / "rain.png"))
    simulator = simulated(20, scene)
    rain = simulator.world.trace("rain")
    assert rain.shape == simulator.world.shape
    assert rain[:, :18].max() < 0.01
    assert rain[:, 22:].min() > 0.99
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    world, _ = checkpoint.load(tmp_path / "world.npz")
    assert np.array_equal(world.trace("rain"), rain)


def test_a_map_of_rain_of_one_shade_is_refused(tmp_path: Path) -> None:
    Image.fromarray(np.full((16, 20), 90, np.uint8)).save(tmp_path / "rain.png")
    with pytest.raises(UserError, match="all of one shade"):
        create_world(rainy(world__rain_map=str(tmp_path / "rain.png")))


def test_a_world_without_water_shows_none() -> None:
    snapshot = take_snapshot(simulated(2).world)
    assert "water" not in snapshot.layers
    assert "water_level" not in snapshot.layers


def test_without_rain_nothing_happens_and_springs_still_run() -> None:
    scene = rainy(droplets__count=0)
    start, _ = create_world(scene)
    world = simulated(3, scene).world
    assert np.array_equal(world.ground, start.ground)
    assert not world.water.any()
    world = simulated(3, rainy(droplets__count=0, droplets__springs="0.5 0.5 20")).world
    assert not np.array_equal(world.ground, start.ground)
    assert world.imbalance() < 1e-9


@pytest.mark.parametrize("edges", ["sea", "open", "wall"])
@pytest.mark.parametrize("evaporation", [0.0, 1.0])
def test_extremes_on_flat_land_lose_nothing(edges: str, evaporation: float) -> None:
    scene = rainy(
        edges__water=edges,
        pools__evaporation=evaporation,
        droplets__evaporation=evaporation,
        droplets__springs="0.2 0.3 5",
    )
    world = advanced(World(np.full((9, 23), 4.0), np.zeros((9, 23)), 3.0, seed=1), scene, 12)
    assert np.isfinite(world.water_level).all()
    assert world.imbalance() < 1e-9
    assert (world.ground == 4.0).all()
