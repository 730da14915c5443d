"""A river that braids in a world: its threads, its ledger, and that it goes on as it would have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.ledger import LARGEST_IMBALANCE
from app.processes.braiding import BROUGHT
from app.scene.scene import Scene, load_preset
from tests.app.small import bits, simulated
from tests.kernels.test_braids import braiding_index


def outwash(columns: int = 200, rows: int = 130, **settings: object) -> Scene:
    """The plain of the preset on its first day, whose river brings in all that it can carry."""
    scene = load_preset("braided").with_values(
        {
            "world.columns": columns,
            "world.rows": rows,
            "world.past": 0,
            "braiding.lateral": 2.0,
            "braiding.load": 1.0,
            "braiding.springs": "0.61 0.662 50; 0.59 0.68 50; 0.58 0.695 50; 0.6 0.712 50",
        }
    )
    return scene.with_values({path.replace("__", "."): value for path, value in settings.items()})  # type: ignore[misc]


def test_the_river_has_several_threads_which_change() -> None:
    simulator = simulated(150, outwash())
    world = simulator.world
    before = world.layers["discharge"].copy()
    assert braiding_index(before) >= 2.0
    for _ in range(150):
        simulator.advance()
    after = world.layers["discharge"]
    assert braiding_index(after) >= 2.0
    assert np.corrcoef(before.reshape(-1), after.reshape(-1))[0, 1] < 0.95
    assert world.imbalance() < LARGEST_IMBALANCE
    assert world.ledger.sediment.gained[BROUGHT] > 0.0
    assert world.ledger.sediment.lost["off the map"] > 0.0


def test_a_saved_world_goes_on_as_it_would_have(tmp_path: Path) -> None:
    simulator = simulated(20, outwash(90, 60))
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    opened = Simulator(*reversed(checkpoint.load(tmp_path / "world.npz")))
    for _ in range(20):
        simulator.advance()
        opened.advance()
    assert bits(opened.world) == bits(simulator.world)
    assert bits(simulated(40, outwash(90, 60), threads=1).world) == bits(simulator.world)


def test_ground_that_the_river_moved_is_known_by_its_age() -> None:
    simulator = simulated(30, outwash(90, 60, braiding__regrowth=10.0, world__past=0))
    before = simulator.world.layers["reworked"].copy()
    assert np.count_nonzero(before) > 0.0 and before.max() == 1.0
    simulator.change(simulator.scene.with_value("braiding.transport", 0.0))
    for _ in range(20):
        simulator.advance()
    after = simulator.world.layers["reworked"]
    moved = before > 0.01
    assert after[moved] / before[moved] == pytest.approx(np.exp(-2.0), rel=1e-3)


def test_a_river_with_a_past_opens_among_its_bars() -> None:
    """What it moved is accounted for, and more cycles change less than the past did."""
    scene = outwash(90, 60, world__past=60)
    simulator = simulated(0, scene)
    simulator.prepare_all()
    world = simulator.world
    assert world.cycle == 0
    assert world.layers["reworked"].max() > 0.5
    assert world.imbalance() < LARGEST_IMBALANCE
    bare = simulated(0, outwash(90, 60, world__past=0)).world
    assert np.abs(world.ground - bare.ground).max() > 0.5
    assert np.array_equal(world.bedrock, bare.bedrock)


def test_several_kinds_and_walls() -> None:
    scene = outwash(80, 60, materials__enabled=True, materials__loose="sand 2; gravel 1", edges__water="wall")
    world = simulated(20, scene).world
    assert world.imbalance() < LARGEST_IMBALANCE
    assert "off the map" not in world.ledger.sediment.lost
