"""Worlds that go on in finer cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import main
from app.engine import refining
from app.engine.creation import create_world
from app.engine.messages import Arrived, Edited, GoTo, Refused, Save, Saved
from app.engine.refining import refined
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.errors import UserError
from app.model.layers import LOOSE, layer_declaration
from app.model.soundness import find_fault
from app.model.world import World
from app.scene.edits import Blur, Copy, Refine
from tests.app.hands import Hands
from tests.app.small import bits, simulated, small_preset, small_scene

# To which power of the cells' number in a row these grow, as they count cells, and how far drops go in a cycle
GROWN = {"discharge": 2, "momentum_south": 3, "momentum_east": 3}


def means(values: np.ndarray, times: int) -> np.ndarray:
    rows, columns = values.shape
    found: np.ndarray = values.reshape(rows // times, times, columns // times, times).mean(axis=(1, 3))
    return found


@pytest.mark.parametrize(
    ("name", "times"),
    [
        pytest.param(name, times, marks=() if times == 2 + 2 * (number % 2) else pytest.mark.nightly)
        for number, name in enumerate(
            ("jacksboro", "coupled-with-trees", "oasis", "dune-and-river", "delta", "island", "spring", "dykes")
        )
        for times in (2, 4)
    ],
)
def test_every_substance_is_where_it_was(name: str, times: int) -> None:
    simulator = simulated(12, small_preset(name, 48))
    world = simulator.world
    fine = refined(world, times, channels=True)
    assert fine.shape == (world.shape[0] * times, world.shape[1] * times)
    assert (fine.cell_size, fine.reference_cell_size) == (world.cell_size / times, world.reference_cell_size)
    for name, layer in world.layers.items():
        declared = layer_declaration(name)
        if name == "bedrock":
            continue  # which is carved and filled, see the ledger
        scale = max(1.0, float(np.abs(layer).max()))
        if declared.account:
            np.testing.assert_allclose(means(fine.layers[name], times), layer, rtol=0.0, atol=1e-12 * scale)
        elif name != "rooted_ground":
            more = times ** GROWN.get(name, 0)
            np.testing.assert_allclose(means(fine.layers[name], times) / more, layer, rtol=0.0, atol=2e-6 * scale)
    assert fine.ledger.rock.lost[refining.CARVED] > 0.0
    assert max(map(abs, fine.imbalances().values())) < 1e-9
    assert find_fault(fine) is None
    assert fine.ground.tobytes() == (fine.bedrock + fine.sediment).tobytes()
    if world.materials is not None:
        kinds = sum(fine.layers[LOOSE + kind] for kind in world.materials.names)
        np.testing.assert_allclose(kinds, fine.sediment, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(fine.trees[:, :2], world.trees[:, :2] * times)
    assert (fine.cycle, fine.seed) == (world.cycle, world.seed)


@pytest.mark.parametrize("name", ["coupled-with-trees", "oasis", "island", "dune-field", "spring", "storm"])
def test_a_refined_world_goes_on_and_can_be_saved(name: str, tmp_path: Path) -> None:
    simulator = simulated(6, small_preset(name, 40)).refined(2)
    for _ in range(4):
        simulator.advance()
    simulator.verify()
    checkpoint.save(tmp_path / "fine.npz", simulator.world, simulator.scene)
    again, scene = checkpoint.load(tmp_path / "fine.npz")
    assert again.reference_cell_size == 2.0 * again.cell_size
    assert bits(again)["layers"] == bits(simulator.world)["layers"]
    other = Simulator(scene, again)
    other.derive_levels()
    other.advance()
    simulator.advance()
    assert bits(other.world)["layers"] == bits(simulator.world)["layers"]


def test_the_geological_clock_goes_on() -> None:
    world, _ = create_world(small_preset("young-range", 64))
    assert refined(world, 2, channels=False).years == world.years > 0.0


def test_lakes_stay_where_they_are_and_level() -> None:
    simulator = simulated(30, small_preset("lakes", 96))
    world, fine = simulator.world, simulator.refined(2).world
    lakes = np.count_nonzero(world.water > 0.0) / world.ground.size
    assert lakes > 0.01
    assert np.count_nonzero(fine.standing) / fine.ground.size == pytest.approx(lakes, rel=0.3)
    assert fine.stored("water") == pytest.approx(world.stored("water"), rel=1e-12)


@pytest.fixture
def hands() -> Iterator[Hands]:
    hands = Hands(small_scene(pools__enabled=True))
    yield hands
    hands.thread.stop()


def shape(hands: Hands) -> tuple[int, int]:
    world: World = hands.lockstep.worlds[0]
    return world.shape


def test_a_refinement_is_undone_and_done_again_to_the_bit(hands: Hands) -> None:
    hands.step(5)
    before, where = hands.bits, hands.moment
    edited = hands.ask(Refine(2), Edited)
    assert isinstance(edited, Edited)
    assert edited.before == where
    assert shape(hands) == (64, 80)
    hands.step(4)
    hands.ask(Blur(), Edited)
    end, there = hands.moment, hands.bits
    hands.ask(GoTo(where.branch, where.cycle, where.edits), Arrived)
    assert shape(hands) == (32, 40)
    assert hands.bits == before
    del hands.thread.session.timeline._branches[end.branch].states[1:]  # all the way is run again
    hands.ask(GoTo(end.branch, end.cycle, end.edits), Arrived)
    assert shape(hands) == (64, 80)
    assert hands.bits == there


def test_worlds_that_are_compared_are_refined_together(hands: Hands) -> None:
    hands.step(2)
    hands.ask(Copy(0), Edited)
    hands.ask(Refine(2), Edited)
    assert [world.shape for world in hands.lockstep.worlds] == [(64, 80)] * 2
    hands.step(2)
    assert hands.bits[0] == hands.bits[1]


def test_a_journal_with_a_refinement_is_replayed_to_the_bit(hands: Hands, tmp_path: Path) -> None:
    hands.step(3)
    hands.ask(Refine(2), Edited)
    hands.step(3)
    path, again = tmp_path / "world.npz", tmp_path / "again.npz"
    hands.thread.ask(Save(path))
    hands.wait(lambda: Saved(path) in hands.reports)
    assert main(["replay", str(path), "--out", str(again), "--threads", "2"]) == 0
    assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(path)[0])


def test_what_would_be_too_large_is_refused_and_nothing_changes(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    hands.step(2)
    before = hands.bits
    monkeypatch.setattr(refining, "LARGEST_SIDE", 100)
    refused = hands.ask(Refine(4), Refused)
    assert isinstance(refused, Refused)
    assert refused.why == "160×128 cells are too many: a side may have up to 100"
    monkeypatch.undo()
    monkeypatch.setattr("app.engine.memory.free_memory", lambda: 1e6)
    refused = hands.ask(Refine(4), Refused)
    assert isinstance(refused, Refused)
    assert "GB of memory" in refused.why
    assert hands.bits == before


def test_other_numbers_are_refused() -> None:
    world = simulated(0).world
    with pytest.raises(UserError, match="refine = 3: must be 2 or 4"):
        refined(world, 3, channels=True)
    world.cell_size = 2e-4
    with pytest.raises(UserError, match=r"cells of 5e-05 m are too small"):
        refined(world, 4, channels=True)
