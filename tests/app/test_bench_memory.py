"""What a running simulation holds in arrays."""

import pytest

from app.bench.memory import _bytes_of
from app.bench.world import everything
from app.engine.creation import create_world
from app.engine.simulator import Simulator


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    world, scene = create_world(everything(128))
    simulator = Simulator(scene, world)
    for _ in range(2):
        simulator.run_cycle()
    return simulator


def test_no_process_keeps_room_of_its_own(simulator: Simulator) -> None:
    """There is one room, as large as what needs most of it, and it goes with those who need it."""
    assert {process.name: size for process in simulator.enabled() if (size := _bytes_of(process, set()))} == {}
    assert simulator._scratch.nbytes >= 100 * simulator.world.ground.size
    simulator.change(simulator.scene.with_value("geology.enabled", False))
    assert simulator._scratch.nbytes == 0
