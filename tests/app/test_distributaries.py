"""Distributaries as a process: drops run in the arms, all is in the ledger, and the delta of the preset has several."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.refining import refined
from app.files import checkpoint
from app.model.errors import UserError
from app.model.layers import ARM_CODES
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.distributaries import ARMS
from app.scene.scene import Scene, load_preset
from kernels.components import components
from kernels.neighbours import COLUMN_STEPS, ROW_STEPS
from kernels.standing import DRY
from tests.app.small import assert_continues_after_saving, bits, simulated, small_preset, small_scene

SIDE = 64
NEAR = 10.0  # metres: mouths that are no farther from each other are one
LEAST = 0.1  # part of the river in an arm that counts
PARTS = 4  # of a shore from west to east, which grow as much in the end


def delta(side: int = SIDE, **settings: object) -> Scene:
    """The preset in few cells, with neither wind nor plants, and arms that are renewed in each other cycle."""
    usual = {"wind__enabled": False, "wind_field__enabled": False, "plants__enabled": False, "moisture__enabled": False}
    arms = {"distributaries__enabled": True, "distributaries__every": 2}
    return small_preset("delta", side, **{**usual, **arms, **settings})  # type: ignore[arg-type]


def largest_lake(world: World) -> NDArray[np.bool_]:
    labels, count = components(world.standing != DRY)
    sizes = np.bincount(labels.reshape(-1), minlength=count + 1)
    sizes[0] = 0
    return np.asarray(labels == sizes.argmax())


class Lobes(NamedTuple):
    """How a shore has moved out between looks at its lake."""

    leaders: list[int]  # between two looks, the part of the shore that grew most, beside what each does in the end
    lead: float  # median of how many times as much as it would if all grew evenly
    retreat: float  # what the lake took back between looks, as a fraction of all growth


def lobes(lakes: list[NDArray[np.bool_]]) -> Lobes:
    grown = [before & ~after for before, after in pairwise(lakes)]
    edges = np.quantile(np.nonzero(lakes[0] & ~lakes[-1])[1], np.linspace(0.0, 1.0, PARTS + 1))
    edges[-1] += 1.0
    growth = np.array([np.histogram(np.nonzero(each)[1], edges)[0] for each in grown], np.float64)
    times = growth * growth.sum() / (growth.sum(axis=1, keepdims=True) * growth.sum(axis=0))
    lost = sum(int((after & ~before).sum()) for before, after in pairwise(lakes))
    return Lobes(
        times.argmax(axis=1).tolist(),
        float(np.median(times.max(axis=1))),
        lost / sum(int(each.sum()) for each in grown),
    )


def mouths(world: World) -> list[float]:
    """The part of all water at the mouths of arms in the largest lake that comes to each, by the water that passed."""
    codes, lake, discharge = world.layers[ARM_CODES], largest_lake(world), world.layers["discharge"]
    comes = np.zeros(world.shape)
    for row, column in zip(*np.nonzero(codes), strict=True):
        code = float(codes[row, column])
        ways, part = int(code) - 1, code - int(code)
        shares = {ways & 7: 1.0} if ways & 7 == ways >> 3 else {ways & 7: part, ways >> 3: 1.0 - part}
        for way, share in shares.items():
            to = row + ROW_STEPS[way], column + COLUMN_STEPS[way]
            if lake[to] and not codes[to]:
                comes[row, column] += share * discharge[row, column]
    around = np.zeros(world.shape, np.bool_)
    reach = int(0.5 * NEAR / world.cell_size)
    for row, column in zip(*np.nonzero(comes), strict=True):
        around[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1] = True
    labels, count = components(around)
    parts = np.bincount(labels.reshape(-1), comes.reshape(-1), count + 1)[1:]
    return sorted((parts / max(parts.sum(), 1e-9)).tolist(), reverse=True)


def test_the_river_of_the_delta_parts_and_not_without_the_process() -> None:
    """Where none has been built before: its arms are narrower than so few cells."""
    world = simulated(100, delta(sand__delta=0.0)).world
    assert sum(part >= LEAST for part in mouths(world)) >= 2
    arms = world.layers[ARMS]
    assert arms.max() == 1.0 and 0.0 < arms[arms > 0.0].min() < 0.9
    assert abs(world.imbalance()) < 1e-9
    plain = simulated(2, delta(distributaries__enabled=False)).world
    assert not {ARM_CODES, ARMS} & plain.layers.keys()
    assert not Scene().distributaries.enabled


def test_on_any_threads_after_saving_in_finer_cells_and_switched_off(tmp_path: Path) -> None:
    simulator = simulated(24, delta(), threads=1)
    simulator.verify()
    assert bits(simulator.world) == bits(simulated(24, delta(), threads=2).world)
    assert_continues_after_saving(simulator, tmp_path / "world.npz", 3)
    finer = refined(simulator.world, 2, channels=False)
    assert find_fault(finer) is None
    assert np.count_nonzero(finer.layers[ARM_CODES]) == 4 * np.count_nonzero(simulator.world.layers[ARM_CODES])
    simulator.change(simulator.scene.with_value("distributaries.enabled", False))
    simulator.advance()
    assert not {ARM_CODES, ARMS} & simulator.world.layers.keys()


@pytest.mark.parametrize(
    ("row", "code", "why"),
    [(0, 1.5, "must not lead off the map"), (5, 65.0, "must be 0, or from 1 to less than 65"), (5, 0.5, "must be 0")],
)
def test_arms_that_lead_off_the_map_are_told(row: int, code: float, why: str, tmp_path: Path) -> None:
    simulator = simulated(0, small_scene())
    simulator.world.trace(ARM_CODES)[row, 7] = code
    assert (fault := find_fault(simulator.world)) and why in fault.why
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    with pytest.raises(UserError, match=rf"world\.npz: 'arm_codes' {why}"):
        checkpoint.load(tmp_path / "world.npz")


def test_where_drops_do_not_know_their_river_there_are_no_arms() -> None:
    simulator = simulated(2, delta())
    assert simulator.world.layers[ARMS].any()
    simulator.change(simulator.scene.with_value("droplets.river_transport", 0.0))
    simulator.advance()
    assert not {ARM_CODES, ARMS} & simulator.world.layers.keys()


def test_where_no_water_stands_nothing_parts() -> None:
    without = delta(pools__enabled=False, world__lake_depth=0.0, distributaries__enabled=False)
    changed = simulated(6, without.with_value("distributaries.enabled", True)).world
    assert bits(changed) == bits(simulated(6, without).world)


def test_lobes_tell_a_shore_that_moves_out_evenly_or_in_one_place_from_one_that_does_so_by_turns() -> None:
    def lakes(rows: list[list[int]]) -> list[NDArray[np.bool_]]:
        """The shore in each fifth column of each look."""
        return [np.arange(40)[:, None] > np.repeat(row, 5) for row in rows]

    evenly = lobes(lakes([[2 * look] * 4 for look in range(8)]))
    assert evenly.lead == 1.0 and evenly.retreat == 0.0
    by_turns = lobes(lakes([[4 * ((look + 3 - part) // 4) for part in range(4)] for look in range(9)]))
    assert by_turns == Lobes([0, 1, 2, 3] * 2, 4.0, 0.0)
    back_and_forth = lobes(lakes([[0] * 4, [4] * 4, [2] * 4, [6] * 4]))
    assert back_and_forth.retreat == 0.25


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [1, 2])
def test_the_shore_of_the_delta_moves_out_lobe_by_lobe(seed: int) -> None:
    """In cells of twice the preset's side, which tell as much in a fraction of the time."""
    simulator = simulated(300, delta(136, world__seed=seed, distributaries__every=10))
    lakes = [largest_lake(simulator.world)]
    while simulator.world.cycle < 1900:
        for _ in range(200):
            simulator.advance()
        lakes.append(largest_lake(simulator.world))
    leaders, lead, retreat = lobes(lakes)
    assert len(set(leaders)) >= 3 and sum(a != b for a, b in pairwise(leaders)) >= 3, leaders
    assert lead > 1.35, "it moves out evenly"
    assert retreat < 0.2


@pytest.mark.nightly
@pytest.mark.parametrize(("seed", "built"), [(1, True), (2, True), (3, True), (4, True), (5, False)])
def test_the_delta_of_the_preset_has_three_arms_most_of_the_time_and_its_shore_moves_out(
    seed: int, built: bool
) -> None:
    """Where the lake is small it has no delta at first, or it would be full before the end."""
    scene = load_preset("delta").with_value("world.seed", seed)
    simulator = simulated(0, scene if built else scene.with_value("sand.delta", 0.0))
    world, counts, lakes, beds = simulator.world, list[int](), list[NDArray[np.bool_]](), list[NDArray[np.bool_]]()
    while world.cycle < 2000:
        simulator.advance()
        if world.cycle >= 300 and world.cycle % 100 == 0:
            counts.append(sum(part >= LEAST for part in mouths(world)))
            lakes.append(largest_lake(world))
            beds.append(world.layers[ARMS] > 0.0)
    assert min(counts) >= 1 and np.mean(np.array(counts) >= 3) > 0.5, counts
    assert 400 < lakes[-1].sum() < 0.9 * lakes[0].sum()
    given_up = np.any(beds, axis=0) & ~beds[-1]
    assert given_up.sum() > 20, "arms are given up"
    assert abs(world.imbalance()) < 1e-9
