"""Ground that moves sideways: offset streams, thrusts and folds, with all that lies on the land, and the ledger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.geology_parameters import GeologyParameters
from app.model.layered_map import ICE, Layer
from app.model.layers import ARM_CODES, BURIED
from app.model.materials import MaterialParameters, materials_of
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.geology import Geology
from app.processes.sideways import BROKEN, THRUST, move_sideways
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS
from kernels.rivers import drain
from tests.app.small import bits, small_scene

YEARS = 1000.0
STILL = {
    "uplift": 0.0, "erodibility": 0.0, "diffusivity": 0.0, "soil_production": 0.0, "years_per_cycle": YEARS,
}  # fmt: skip


def rough(rows: int = 24, columns: int = 30, size: float = 10.0, *, rich: bool = False) -> World:
    """Land that differs from cell to cell, and so does all that lies on it."""
    numbers = np.random.default_rng(7)
    world = World(numbers.random((rows, columns)) * 50.0, numbers.random((rows, columns)), size, 3)
    world.water[...] = numbers.random((rows, columns))
    if rich:
        materials = materials_of(MaterialParameters())
        rise = numbers.random((rows, columns)).astype(np.float32)
        world.lay_materials(materials, dict.fromkeys(materials.names, 1.0), rise)
        world.trace(ICE)[...] = numbers.random((rows, columns))
        world.trace("wetness")[...] = numbers.random((rows, columns))
        world.lay_rate("rate_rain", numbers.random((rows, columns)).astype(np.float32))
        world.trees = np.array([[3.5, 4.25, 0, 1, 1, 1], [20.5, 4.25, 0, 1, 1, 1]], np.float32)
        world.sum_mix()
    world.ledger = World(world.bedrock, world.sediment, size, 3, world.water).ledger
    world._begin_accounts()
    world.ledger.water.initial = world.ledger.water.scale = world.stored("water")
    return world


def moving(**settings: object) -> GeologyParameters:
    return GeologyParameters(**{**STILL, "sideways_rate": 10.0, **settings})


@pytest.mark.parametrize(("sideways", "east"), [("right-lateral fault", 1), ("left-lateral fault", 1)])
def test_all_layers_of_one_side_go_along_the_fault(sideways: str, east: int) -> None:
    world = rough(rich=True)
    before = world.copy()
    carried = move_sideways(world, moving(sideways=sideways), YEARS)  # by one cell, eastwards
    rows = slice(0, 12) if sideways.startswith("right") else slice(12, 24)  # facing it, the other side goes right
    for name, layer in world.layers.items():
        expected = before.layers[name].copy()
        if name != "rate_rain":
            expected[rows] = np.roll(expected[rows], east, 1)
        assert np.array_equal(layer, expected), name
    assert {"bedrock", "sediment", "water", ICE, "wetness", "strata_rise"} <= set(carried)
    assert np.array_equal(world.ground, before.ground[np.arange(24)[:, None], _columns(rows, east)])
    moved = 0 if sideways.startswith("right") else 1
    assert world.trees[moved].tolist() == [before.trees[moved, 0], before.trees[moved, 1] + east, 0, 1, 1, 1]
    assert np.array_equal(world.trees[1 - moved], before.trees[1 - moved])
    assert max(map(abs, world.imbalances().values())) < 1e-14


def _columns(rows: slice, east: int) -> np.ndarray:
    columns = np.tile(np.arange(30), (24, 1))
    columns[rows] = np.roll(columns[rows], east, 1)
    return columns


def test_land_waits_until_it_has_come_a_whole_cell(tmp_path: Path) -> None:
    world = rough()
    parameters = moving(sideways="right-lateral fault", sideways_rate=4.0)
    before = world.bedrock.copy()
    for _ in range(2):
        assert move_sideways(world, parameters, YEARS) == ()
    assert np.array_equal(world.bedrock, before) and world.way_to_come == pytest.approx(8.0)
    checkpoint.save(tmp_path / "world.npz", world, small_scene())
    for other in (world.copy(), checkpoint.load(tmp_path / "world.npz")[0]):
        assert move_sideways(other, parameters, YEARS) and other.way_to_come == pytest.approx(2.0)
        assert np.array_equal(other.bedrock[:12], np.roll(before[:12], 1, 1))


def test_beds_go_along_the_fault() -> None:
    world = rough(rich=True)
    world.bury(0.1, 4)
    before = world.copy()
    move_sideways(world, moving(sideways="right-lateral fault"), YEARS)
    assert world.beds is not None and before.beds is not None
    for one, other in zip(world.beds.dense(4), before.beds.dense(4), strict=True):
        assert np.array_equal(one[:12], np.roll(other[:12], 1, 1)) and np.array_equal(one[12:], other[12:])
    assert find_fault(world) is None and world.imbalance() < 1e-13


@pytest.mark.parametrize("sideways", ["right-lateral fault", "thrust"])
def test_thrusts_mix_beds_and_arms_of_rivers_stay_on_the_map(sideways: str) -> None:
    world = rough(rich=True)
    world.bury(0.1, 4)
    buried, codes = world.layers[BURIED].copy(), world.trace(ARM_CODES)
    codes[3, :-1] = 1.5 + 9.0 * 2  # each leads to its eastern neighbour
    before = codes.copy()
    move_sideways(world, moving(sideways=sideways, sideways_direction=180.0), YEARS)
    assert buried.mean() > 0.3 and (world.beds is None) == (BURIED not in world.layers) == (sideways == "thrust")
    assert np.array_equal(codes, before), "or they would lead off the map"
    assert find_fault(world) is None and world.imbalance() < 1e-13


@pytest.mark.parametrize("sideways", ["thrust", "fold"])
@pytest.mark.parametrize("direction", [90.0, 200.0, 315.0])
@pytest.mark.parametrize("rich", [False, True])
def test_thrusts_and_folds_are_in_the_ledger(sideways: str, direction: float, rich: bool) -> None:
    world = rough(rich=rich)
    parameters = moving(
        sideways=sideways, sideways_direction=direction, ramp_height=60.0, sideways_rate=37.0, fault_place=0.1
    )
    for _ in range(5):
        move_sideways(world, parameters, YEARS)
    account = world.ledger.rock
    assert THRUST in {**account.gained, **account.lost}
    assert (BROKEN in account.lost) == (sideways == "thrust")
    assert max(map(abs, world.imbalances().values())) < 1e-13


def test_a_hidden_ramp_makes_a_fold_as_wide_and_high_as_its_fault_says() -> None:
    """By a slip of s over a ramp that is longer, the land rises by s tan(dip) over all of the ramp (Suppe 1983)."""
    world = World(np.zeros((8, 80)), np.zeros((8, 80)), 10.0, 0)
    dip, height, slip = 30.0, 150.0, 100.0
    slope = np.tan(np.radians(dip))
    move_sideways(world, moving(sideways="fold", ramp_dip=dip, ramp_height=height, sideways_rate=slip), YEARS)
    ahead = (np.arange(80) - 39.5) * 10.0
    ramp = height / slope
    expected = np.interp(ahead, [0.0, slip, ramp, ramp + slip], [0.0, slip * slope, slip * slope, 0.0])
    assert world.bedrock == pytest.approx(np.tile(expected, (8, 1)), abs=1e-9)
    assert world.ledger.rock.gained[THRUST] == pytest.approx(slip * height * 80.0, rel=1e-9), "the area of the slip"


def test_a_thrust_carries_old_land_over_its_front() -> None:
    world = World(np.zeros((8, 80)), np.zeros((8, 80)), 10.0, 0)
    world.bedrock[:, 30] = 5.0
    world._begin_accounts()
    parameters = moving(sideways="thrust", ramp_dip=30.0, ramp_height=100.0, sideways_rate=20.0)
    for _ in range(4):
        move_sideways(world, parameters, YEARS)
    assert world.bedrock[4, 38] - world.bedrock[4, 37] == pytest.approx(5.0 - 0.0, abs=1e-9)
    assert (world.bedrock[:, 40:] == 0.0).all() and (world.sediment[:, 40:] > 0.0).any()
    assert world.ground[4, 39] > 20.0 and abs(world.imbalance()) < 1e-12


def valleys(rows: int = 60, columns: int = 64, size: float = 20.0) -> World:
    """Straight streams that run south, 16 cells apart, in valleys of 30 m."""
    east = np.arange(columns)
    across = 30.0 * np.abs(((east + 8) % 16) - 8) / 8.0
    return World(across[None, :] + 0.08 * size * np.arange(rows, 0, -1)[:, None], np.zeros((rows, columns)), size, 0)


def course(ground: Layer, size: float, row: int, column: int) -> list[tuple[int, int]]:
    """The cells of a stream, down to the edge."""
    directions = drain(ground, size, -np.inf).directions
    cells = [(row, column)]
    while (direction := directions[cells[-1]]) != OUTLET and len(cells) < ground.size:
        cells.append((cells[-1][0] + int(ROW_STEPS[direction]), cells[-1][1] + int(COLUMN_STEPS[direction])))
    return cells


@pytest.mark.parametrize("sideways", ["right-lateral fault", "left-lateral fault"])
def test_streams_that_cross_a_fault_are_offset_by_its_slip(sideways: str) -> None:
    """As those of the Carrizo Plain (Wallace 1968): while the next valley is farther, water follows the fault."""
    world = valleys()
    parameters = GeologyParameters(
        years_per_cycle=1000.0, uplift=0.0, erodibility=2e-5, deposition=0.0, diffusivity=1e-3, soil_production=0.0,
        sideways=sideways, sideways_rate=5.0, sideways_direction=90.0,
    )  # fmt: skip
    process, cells = Geology(), 6
    for _ in range(cells * 4):
        process.step(world, parameters, Cycle())
        world.end_cycle()
    # The northern, upper side goes east, or the southern, lower one does.
    offset = cells if sideways.startswith("right") else -cells
    for source in (16, 32):
        begin = source + (cells if offset > 0 else 0)
        cells_of = course(world.ground, world.cell_size, 5, begin)
        enters = next(column for row, column in cells_of if row == 26)
        leaves = [column for row, column in cells_of if row == 34][-1]
        assert enters - leaves == pytest.approx(offset, abs=1)


def test_off_by_default_and_the_same_bits() -> None:
    scene = small_scene(geology__enabled=True)
    assert scene.geology.sideways == "none"
    still = scene.with_values({"geology.sideways": "thrust", "geology.sideways_rate": 0.0})
    assert _run(scene) == _run(still)


def test_threads_change_no_bit() -> None:
    scene = small_scene(
        geology__enabled=True, geology__sideways="right-lateral fault", geology__sideways_direction=70.0,
        geology__sideways_rate=50.0,
    )  # fmt: skip
    assert _run(scene, 1) == _run(scene, 2)
    assert _run(scene) != _run(scene.with_value("geology.sideways", "none"))


def _run(scene: object, threads: int | None = None) -> object:
    simulator = Simulator(scene, create_world(scene)[0], threads)
    for _ in range(4):
        simulator.advance()
    simulator.verify()
    return bits(simulator.world)


@pytest.mark.parametrize("sideways", ["right-lateral fault", "thrust"])
def test_it_is_the_same_land_in_cells_of_half_the_size(sideways: str) -> None:
    coarse, fine = rough(24, 30, 20.0), rough(48, 60, 10.0)
    for layer in ("bedrock", "sediment", "water"):
        fine.layers[layer][...] = np.kron(coarse.layers[layer], np.ones((2, 2)))
    fine.sum_ground()
    for world in (coarse, fine):
        move_sideways(world, moving(sideways=sideways, sideways_rate=60.0, ramp_height=150.0), YEARS)
    means = fine.ground.reshape(24, 2, 30, 2).mean(axis=(1, 3))
    agrees = np.abs(means - coarse.ground) < (1e-9 if sideways != "thrust" else 8.0)
    assert agrees.mean() > (0.999 if sideways != "thrust" else 0.95)
