"""Rivers that meander in a world: found, moved, saved and restored, with all they wear in the ledger."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.centrelines import trunk_sinuosity
from app.model.errors import UserError
from app.model.ledger import LARGEST_IMBALANCE
from app.model.river_parameters import RIVER_WIDTH
from app.processes.meandering import CAUSE, LEFT
from app.scene.scene import Scene, load_preset
from kernels.hydraulic_geometry import channel_width
from tests.app.small import bits, simulated, small_scene

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written


def meadow(columns: int = 150, rows: int = 90, **settings: object) -> Scene:
    """The preset on a smaller map, whose bends move faster."""
    scene = load_preset("meanders").with_values(
        {
            "world.columns": columns,
            "world.rows": rows,
            "world.relief": 6.0,
            "meandering.migration": 8.0,
            "meandering.discharge": 8.0,
            "meandering.past_years": 0.0,
        }
    )
    return scene.with_values({path.replace("__", "."): value for path, value in settings.items()})  # type: ignore[misc]


@pytest.mark.nightly
@pytest.mark.parametrize(("seed", "columns", "rows"), [(125, 110, 70), (7, 180, 80), (31, 140, 110)])
def test_the_trunk_becomes_sinuous_and_leaves_oxbows(seed: int, columns: int, rows: int) -> None:
    simulator = simulated(1, meadow(columns, rows, world__seed=seed))
    world = simulator.world
    assert 1.0 <= trunk_sinuosity(world.centrelines) < 1.1
    while LEFT not in world.ledger.water.gained and world.cycle < 400:
        simulator.advance()
    assert world.ledger.water.gained[LEFT] > 0.0
    assert trunk_sinuosity(world.centrelines) >= 1.5
    assert world.imbalance() < LARGEST_IMBALANCE
    assert world.years == 2.0 * world.cycle


def test_the_water_runs_in_the_channel() -> None:
    world = simulated(60, load_preset("meanders")).world
    middles = (np.indices(world.shape).reshape(2, -1).T + 0.5) * world.cell_size
    line = world.centrelines[::2, 1:3]
    width = channel_width(float(world.centrelines[:, 3].max()), RIVER_WIDTH)
    beside = (cKDTree(line).query(middles)[0] < width).reshape(world.shape)
    discharge = world.layers["discharge"]
    assert beside.mean() < 0.1
    assert discharge[beside].sum() > 0.6 * discharge.sum()


def test_the_past_cuts_the_bed_in_which_the_river_begins() -> None:
    """No trench opens in the first cycle, and water runs in the bed before it; the ledger has what was cut."""
    bare, old = (meadow(world__past=past) for past in (0, 50))
    start = simulated(0, bare).world
    simulator = simulated(0, old)
    simulator.prepare_all()
    world = simulator.world
    assert world.cycle == 0 and world.years == 0.0 and len(world.centrelines)
    cut = np.abs(world.ground - start.ground)
    assert world.ledger.sediment.lost["off the map"] > 0.0
    assert world.imbalance() < LARGEST_IMBALANCE
    bed = cut > 0.5 * cut.max()
    assert world.layers["discharge"][bed].sum() > 0.5 * world.layers["discharge"].sum()
    before = world.ground.copy()
    simulator.advance()
    assert np.abs(world.ground - before).max() < 0.5 * cut.max()
    assert world.imbalance() < LARGEST_IMBALANCE


def test_rivers_have_wandered_for_the_years_of_their_past() -> None:
    """As they would in cycles: with bends and oxbows full of water before the first one, until which no time passes."""
    simulator = simulated(0, meadow(110, 70, world__past=50, meandering__past_years=600.0))
    simulator.prepare_all()
    world = simulator.world
    assert world.cycle == 0 and world.years == 0.0
    assert trunk_sinuosity(world.centrelines) > 1.5
    near_river = cKDTree(world.centrelines[:, 1:3]).query(np.argwhere(world.water > 0.5) * world.cell_size)[0]
    assert (near_river > 3.0 * channel_width(float(world.centrelines[:, 3].max()), RIVER_WIDTH)).any(), "oxbows"
    assert world.imbalance() < LARGEST_IMBALANCE
    before = world.ground.copy()
    simulator.advance()
    assert np.abs(world.ground - before).max() < 0.5 * np.ptp(before)
    assert world.imbalance() < LARGEST_IMBALANCE


def test_no_tree_stands_in_the_channel() -> None:
    """It is wider than the path of the drops that would sweep trees away, and forests grow up to its banks."""
    simulator = simulated(0, meadow(world__past=1000))
    simulator.prepare_all()
    world = simulator.world
    line = world.centrelines[:, 1:3]
    half = 0.5 * float(channel_width(world.centrelines[:, 3], RIVER_WIDTH).min())
    places = (np.floor(world.trees[:, :2]) + 0.5) * world.cell_size  # the cells that trees stand in
    away = np.hypot(*(places[:, None] - line[None]).T).min(axis=0)
    assert np.count_nonzero(away < 3.0 * half) > 20
    assert not np.any(away < 0.9 * half)


@pytest.mark.parametrize("width", [RIVER_WIDTH, 2.0 * RIVER_WIDTH])
def test_rivers_move_with_the_width_with_which_they_are_drawn(width: float) -> None:
    """Points of a line lie half a width of the river apart."""
    scene = meadow(90, 60, world__past=0, meandering__discharge=40.0, rivers__width=width)
    assert scene.runoff.river_width == width
    line = simulated(1, scene).world.centrelines
    apart = np.hypot(*np.diff(line[line[:, 0] == 0.0, 1:3], axis=0).T).mean()
    assert apart == pytest.approx(0.5 * channel_width(line[:, 3], width).mean(), rel=0.15)


def test_the_same_bits_again_and_on_any_number_of_threads() -> None:
    one, two = (simulated(25, meadow(), threads).world for threads in (1, 2))
    assert len(one.centrelines) and bits(one) == bits(two)


def test_a_saved_world_goes_on_as_it_would_have(tmp_path: Path) -> None:
    simulator = simulated(15, meadow())
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    saved = world.centrelines.copy()
    assert len(saved)
    assert saved.tobytes() == simulator.world.centrelines.tobytes()
    opened = Simulator(scene, world)
    opened.derive_levels()
    for _ in range(15):
        simulator.advance()
        opened.advance()
    assert len(world.centrelines) and not np.array_equal(world.centrelines, saved)
    assert world.centrelines.tobytes() == simulator.world.centrelines.tobytes()
    assert world.ground.tobytes() == simulator.world.ground.tobytes()


def test_a_world_goes_back_with_its_rivers() -> None:
    simulator = simulated(10, meadow())
    state, copy = simulator.world.state(), simulator.copy()
    assert len(state["centrelines"])
    for _ in range(10):
        simulator.advance()
        copy.advance()
    assert len(copy.world.centrelines) and not np.array_equal(copy.world.centrelines, state["centrelines"])
    assert bits(copy.world) == bits(simulator.world)
    simulator.world.restore(state)
    assert simulator.world.cycle == 10
    assert simulator.world.centrelines.tobytes() == state["centrelines"].tobytes()
    for _ in range(10):
        simulator.advance()
    assert simulator.world.centrelines.tobytes() == copy.world.centrelines.tobytes()


def test_rivers_stay_in_steep_valleys_and_where_they_are_narrow() -> None:
    for settings in ({"meandering__steepest": 1e-4}, {"meandering__narrowest": 200.0}):
        world = simulated(2, meadow(**settings)).world
        assert not len(world.centrelines)
        assert math.isnan(trunk_sinuosity(world.centrelines))
        assert CAUSE not in world.ledger.rock.lost


def test_rivers_run_into_the_sea_and_build_out_there() -> None:
    scene = meadow(edges__water="sea", edges__sea_level=1.0, droplets__springs="", droplets__count=0)
    simulator = simulated(1, scene)
    world = simulator.world
    assert len(world.centrelines)
    before = world.ground.copy()
    for _ in range(40):
        simulator.advance()
    sea = before < 1.0
    assert (world.ground - before)[sea].sum() > 0.0
    assert world.imbalance() < LARGEST_IMBALANCE


@pytest.mark.parametrize("edges", ["wall", "open"])
def test_nothing_leaves_over_walls(edges: str) -> None:
    world = simulated(30, meadow(edges__water=edges, meandering__discharge=40.0)).world
    assert len(world.centrelines)
    assert ("off the map" in world.ledger.sediment.lost) == (edges == "open")
    assert world.imbalance() < LARGEST_IMBALANCE


def test_several_kinds_of_ground() -> None:
    scene = meadow(materials__enabled=True, materials__strata="clay 3; sandstone", materials__loose="sand 2; gravel 1")
    world = simulated(30, scene).world
    assert len(world.centrelines)
    assert world.imbalance() < LARGEST_IMBALANCE
    assert world.ledger.kinds["gravel"].lost["off the map"] > 0.0


def test_land_without_rivers_has_none() -> None:
    world = simulated(3, small_scene(meandering__enabled=True)).world
    assert not len(world.centrelines)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: lines.astype(np.float32), "must be float64"),
        (lambda lines: np.where(np.arange(5) == 1, np.nan, lines), "finite numbers"),
        (lambda lines: lines + np.array([1.0, 0.0, 0.0, 0.0, 0.0]), "counted from 0"),
        (lambda lines: lines + np.array([0.0, 1e6, 0.0, 0.0, 0.0]), "on the map"),
        (lambda lines: lines * np.array([1.0, 1.0, 1.0, 0.0, 1.0]), "carry more than 0"),
        (lambda lines: lines[:1], "two points"),
    ],
)
def test_centrelines_of_files_are_checked(change: object, told: str, tmp_path: Path) -> None:
    simulator = simulated(1, meadow())
    simulator.world.centrelines = change(simulator.world.centrelines)  # type: ignore[operator]
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    with pytest.raises(UserError, match=told):
        checkpoint.load(tmp_path / "world.npz")
