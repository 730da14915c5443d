"""A river that braids in a world: its threads, its ledger, and that it goes on as it would have."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.ledger import LARGEST_IMBALANCE
from app.processes.braiding import BROUGHT
from app.scene.scene import Scene, load_preset
from tests.app.small import bits, simulated
from tests.kernels.test_braids import braiding_index


def outwash(columns: int = 200, rows: int = 130, **settings: object) -> Scene:
    scene = load_preset("braided").with_values({"world.columns": columns, "world.rows": rows})
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


def test_several_kinds_and_walls() -> None:
    scene = outwash(80, 60, materials__enabled=True, materials__loose="sand 2; gravel 1", edges__water="wall")
    world = simulated(20, scene).world
    assert world.imbalance() < LARGEST_IMBALANCE
    assert "off the map" not in world.ledger.sediment.lost
