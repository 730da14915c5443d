"""What a running simulation holds in arrays."""

import tracemalloc
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.bench.memory import _bytes_of
from app.bench.world import WARM_UP, everything
from app.engine.creation import create_world
from app.engine.lockstep import Lockstep
from app.engine.memory import GEOLOGY, GEOLOGY_OF_A_KIND
from app.engine.publishing import Publisher
from app.engine.showing import Showing
from app.engine.simulator import Simulator
from app.processes.floods import CYCLES_PER_CALM
from app.processes.process import Process

MOST_BESIDES = 65.0  # bytes per cell
MOST_OF_SELDOM = {"wind_field": 95.0}  # which is made anew when the land has changed


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    world, scene = create_world(everything(128))
    simulator = Simulator(scene, world)
    for _ in range(WARM_UP):
        simulator.run_cycle()  # until all layers are there, of ice too
    return simulator


def test_a_step_takes_little_besides_the_room_that_processes_share(simulator: Simulator) -> None:
    """Also a step that is not due in each cycle."""
    most, step = {}, simulator._step

    def traced(process: Process) -> None:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        step(process)
        taken = (tracemalloc.get_traced_memory()[1] - before) / simulator.world.ground.size
        most[process.name] = max(most.get(process.name, 0.0), taken)

    simulator.run_cycle()
    tracemalloc.start()
    try:
        simulator._step = traced  # type: ignore[method-assign]
        for _ in range(2 * CYCLES_PER_CALM):
            simulator.run_cycle()
    finally:
        tracemalloc.stop()
        del simulator._step
    assert {name: taken for name, taken in most.items() if taken > MOST_OF_SELDOM.get(name, MOST_BESIDES)} == {}


def test_no_process_keeps_room_of_its_own(simulator: Simulator) -> None:
    """There is one room, as large as what needs most of it, and it goes with those who need it."""
    cells = simulator.world.ground.size
    kept = {process.name: size for process in simulator.enabled() if (size := _bytes_of(process, set()))}
    assert kept == {"geology": 8 * cells}, "the pattern of its uplift"
    assert simulator._scratch.nbytes >= 88 * cells
    kinds = simulator.world.mix.shape[2]
    assert simulator._scratch.nbytes <= (GEOLOGY + GEOLOGY_OF_A_KIND * kinds) * cells, "what is asked for in advance"
    simulator.back_up()
    assert simulator._scratch.nbytes == 0  # two backups are in memory for a moment
    for _ in range(2):
        simulator.run_cycle()
    assert simulator._scratch.nbytes >= 88 * cells
    simulator.change(simulator.scene.with_value("geology.enabled", False))
    assert simulator._scratch.nbytes == 0


def test_a_large_room_is_never_in_memory_with_new_snapshots(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.run_cycle()
    room, rooms = simulator._scratch.nbytes, []
    monkeypatch.setattr(Publisher, "publish", lambda *arguments: rooms.append(simulator._scratch.nbytes))
    showing = Showing(cast(Any, SimpleNamespace()), print)
    showing._surveys.begin(1)
    for largest in (room, room - 1):
        monkeypatch.setattr("app.engine.showing.LARGEST_KEPT", largest)
        showing.publish(Lockstep([simulator]))
    assert rooms == [room, 0]
    simulator._scratch.begin()
    assert simulator._scratch.nbytes >= room, "the next step takes all of it at once"
