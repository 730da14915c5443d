"""Everything for many cycles: nothing drifts, and nothing that is counted runs over."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.creation import create_world
from app.engine.simulator import SimulationError, Simulator
from app.files import checkpoint
from app.model.layers import LARGEST_CYCLE
from app.model.ledger import LARGEST_IMBALANCE
from tests.benchmarks.long_run import long_run, scene_of
from tests.nets.extremes import state_bits

CYCLES = 100_000


def test_what_drifts_is_told() -> None:
    told = list(long_run(16, 12))
    assert [drift.cycle for drift in told] == [1, 2, 5, 10, 12]
    assert told[-1].trees > 0
    assert told[-1].largest_sum > 0.0
    assert all(abs(drift.imbalance) <= LARGEST_IMBALANCE for drift in told)


@pytest.mark.nightly
def test_a_hundred_thousand_cycles() -> None:
    for drift in long_run(128, CYCLES):
        print(drift)
        assert abs(drift.imbalance) <= LARGEST_IMBALANCE
        assert drift.oldest <= drift.cycle + 400.0  # a forest has its ages from the start


def test_the_last_cycles_that_can_be_counted(tmp_path: Path) -> None:
    """Seeds of random numbers, the year, storms, and the versions of layers are all told by the cycle."""
    world, scene = create_world(scene_of(16))
    simulator = Simulator(scene, world, threads=1)
    for _ in range(8):
        simulator.advance()
    world.cycle = LARGEST_CYCLE - 8
    simulator.back_up()
    for _ in range(8):
        simulator.advance()
    simulator.verify()
    assert max(world.changed.values()) == world.version and world.cycle == LARGEST_CYCLE
    checkpoint.save(tmp_path / "world.npz", world, scene)
    opened, _ = checkpoint.load(tmp_path / "world.npz")
    assert state_bits(opened) == state_bits(world)
    with pytest.raises(SimulationError, match="is the last that can be counted"):
        simulator.advance()
