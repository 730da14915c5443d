"""A river that braids in a world: its threads, its ledger, and that it goes on as it would have."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from app.engine.memory import BRAIDING, Needs
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.ledger import LARGEST_IMBALANCE
from app.processes.braiding import BROUGHT, Braiding
from app.processes.cycle import Cycle
from app.scene.scene import DECLARATIONS, Scene, load_preset, without_effect
from kernels import braids
from tests.app.small import bits, simulated
from tests.kernels.test_braids import braiding_index

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written


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


@pytest.mark.nightly
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
    simulator = simulated(20, outwash(90, 60), threads=2)
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


@pytest.mark.parametrize("drops", [False, True])
def test_ground_that_a_river_moved_grows_over_where_it_is_switched_off(drops: bool) -> None:
    simulator = simulated(5, outwash(90, 60, braiding__regrowth=10.0, droplets__enabled=drops))
    before = simulator.world.layers["reworked"].copy()
    simulator.change(simulator.scene.with_value("braiding.enabled", False))
    for _ in range(20):
        simulator.advance()
    after = simulator.world.layers["reworked"]
    assert simulator.world.changed["reworked"] == simulator.world.version
    assert after == pytest.approx(before * np.exp(-2.0), rel=1e-3)
    for _ in range(1000):
        simulator.advance()
    assert not simulator.world.layers["reworked"].any()


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


def test_a_river_with_a_past_begins_with_the_traces_that_cycles_lead_to() -> None:
    """Also where drops run on the same land, and these know their averages from few cycles."""
    scene = outwash(90, 60, world__past=60, droplets__count=200, braiding__transport=0.0, braiding__memory=0.05)
    simulator = simulated(0, scene)
    simulator.prepare_all()
    world = simulator.world
    first = {name: world.layers[name].copy() for name in ("stream", "discharge")}
    for _ in range(150):
        simulator.advance()
    threads = simulator.world.layers["discharge"] > 5.0
    assert threads.any()
    for name, traces in first.items():
        later = simulator.world.layers[name]
        assert traces[threads].mean() == pytest.approx(later[threads].mean(), rel=0.05)
        assert traces[~threads].mean() == pytest.approx(later[~threads].mean(), rel=0.25), "drops elsewhere"
    alone = simulated(0, outwash(90, 60, world__past=60, droplets__enabled=False))
    alone.prepare_all()
    assert alone.world.layers["discharge"].max() > 5.0


def test_streams_of_drops_run_dry_where_these_are_switched_off() -> None:
    simulator = simulated(20, outwash(90, 60, droplets__count=200, braiding__transport=0.0))
    begun = simulator.world.layers["discharge"].sum()
    simulator.change(simulator.scene.with_value("droplets.enabled", False))
    for _ in range(120):
        simulator.advance()
    traces = simulator.world.layers["discharge"]
    threads = traces > 1e-3
    assert traces[threads].sum() > 0.3 * begun and traces[~threads].sum() < 1e-3 * begun
    assert np.count_nonzero(threads) < 0.2 * threads.size


def test_a_world_that_braids_needs_more_memory_while_it_runs_and_lives_its_past() -> None:
    scene = outwash(90, 60, world__past=60)
    still = scene.with_value("braiding.enabled", False)
    braiding, other = (Needs.of([each], 1000, shown=False) for each in (scene, still))
    begun = [Needs.of([each.with_value("world.past", 0)], 1000, shown=False) for each in (scene, still)]
    assert braiding.running - begun[0].running >= 2 * (other.running - begun[1].running) > 0.0
    world = simulated(0, scene).world
    process, sources = Braiding(), scene.braiding
    process.step(world, sources, Cycle())
    tracemalloc.start()
    try:
        process.step(world, sources, Cycle())
        assert tracemalloc.get_traced_memory()[1] < 1.2 * BRAIDING * world.ground.size
    finally:
        tracemalloc.stop()


def test_a_river_that_braids_alone_is_drawn_by_the_parameters_of_streams() -> None:
    scene = outwash(90, 60, droplets__enabled=False, geology__enabled=False, plants__enabled=False)
    for path in ("view.stream_threshold", "rivers.width", "world.past"):
        assert not without_effect(scene, DECLARATIONS[path])
        assert without_effect(scene.with_value("braiding.enabled", False), DECLARATIONS[path])


def test_what_it_is_drawn_by_is_compiled_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    monkeypatch.setattr(braids, "part", lambda *_, **__: ran.append("part"))
    Braiding().prepare()
    assert ran == ["part"]


def test_several_kinds_and_walls() -> None:
    scene = outwash(80, 60, materials__enabled=True, materials__loose="sand 2; gravel 1", edges__water="wall")
    world = simulated(20, scene).world
    assert world.imbalance() < LARGEST_IMBALANCE
    assert "off the map" not in world.ledger.sediment.lost
