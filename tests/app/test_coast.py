"""The sea at work in a world: its ledger, kinds of sediment, when waves are found anew, and what is kept of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.simulator import Simulator
from app.files import checkpoint
from app.processes.coast import DRIFT, NOTCH, POWER, SWELL_EAST, SWELL_SOUTH
from app.scene.scene import Scene, load_preset
from kernels import swell
from kernels.materials import is_intruded
from tests.app.small import bits, simulated, small_scene

TRACES = (DRIFT, NOTCH, POWER, SWELL_EAST, SWELL_SOUTH)


def by_the_sea(**settings: object) -> Scene:
    """A small scene, half of it sea, whose cliffs are soft."""
    usual = {
        "coast__enabled": True, "coast__wear": 10.0, "edges__water": "sea", "edges__sea_level": 0.0,
        "droplets__enabled": False, "pools__enabled": True, "world__relief": 60.0,
    }  # fmt: skip
    scene = small_scene(**{**usual, **settings})
    if "edges__sea_level" in settings:
        return scene
    return scene.with_value("edges.sea_level", float(np.median(simulated(0, scene).world.ground)))


@pytest.mark.parametrize("standing", [True, False])
def test_what_the_sea_takes_is_in_the_ledger(standing: bool) -> None:
    simulator = simulated(25, by_the_sea(pools__enabled=standing))
    world, account = simulator.world, simulator.world.ledger.sediment
    assert account.gained["worn by the sea"] == world.ledger.rock.lost["worn by the sea"] > 0.0
    assert account.lost["out to sea"] > 0.0 and account.gained["drifted in"] > 0.0
    assert world.imbalance() < 1e-13
    assert all(name in world.layers for name in TRACES) and world.layers[DRIFT].max() > 0.0


def test_kinds_that_settle_slowly_go_out_to_sea() -> None:
    scene = by_the_sea(materials__enabled=True, materials__loose="sand 1; clay 1", coast__fines=0.0, coast__wear=0.0)
    world = simulated(15, scene).world
    kinds = world.ledger.kinds
    assert kinds["clay"].lost["out to sea"] > 0.0 and "out to sea" not in kinds["sand"].lost
    assert world.imbalance() < 1e-13
    assert world.mix.min() >= 0.0


def test_it_does_nothing_without_a_sea_and_forgets_its_waves_when_it_is_switched_off() -> None:
    dry = by_the_sea(edges__water="open", edges__sea_level=0.0)
    without = dry.with_value("coast.enabled", False)
    np.testing.assert_array_equal(simulated(3, dry).world.ground, simulated(3, without).world.ground)
    simulator = simulated(3, by_the_sea())
    simulator.take_scene(simulator.scene.with_value("coast.enabled", False))
    simulator.advance()
    assert not set(TRACES) & simulator.world.layers.keys()


def test_waves_are_found_anew_where_the_coast_or_the_wind_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[float] = []
    find = swell.find_swell

    def counted(*arguments: object) -> None:
        found.append(arguments[2].towards)  # type: ignore[attr-defined]
        find(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(swell, "find_swell", counted)
    still = by_the_sea(coast__minutes=0.0, coast__shaping=0.0, coast__wear=0.0, coast__every=3)
    simulator = simulated(1, still)
    assert found.pop() == 90.0
    found.clear()  # of a kernel that was prepared
    for _ in range(9):
        simulator.advance()
    assert found == [], "where nothing moves"
    simulator.take_scene(still.with_value("climate.wind_direction", 275.0))
    simulator.advance()
    assert found == [], "so little does not count"
    simulator.take_scene(still.with_value("climate.wind_direction", 200.0))
    simulator.advance()
    assert found == [20.0]
    simulator.take_scene(still.with_values({"climate.wind_direction": 200.0, "edges.sea_level": 20.0}))
    for _ in range(4):
        simulator.advance()
    assert found == [20.0, 20.0], "the coast is another one"


def test_a_saved_world_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    scene = by_the_sea(coast__every=4)
    simulator = simulated(6, scene)
    checkpoint.save(tmp_path / "kept.npz", simulator.world, simulator.scene)
    world, kept = checkpoint.load(tmp_path / "kept.npz")
    later = Simulator(kept, world, 1)
    for _ in range(5):
        simulator.advance()
        later.advance()
    assert bits(simulator.world) == bits(later.world)


def test_threads_make_no_difference() -> None:
    scene = by_the_sea(cascade__enabled=True, weathering__enabled=True)
    assert bits(simulated(6, scene, threads=1).world) == bits(simulated(6, scene, threads=2).world)


@pytest.mark.nightly
def test_bays_form_between_headlands_of_hard_rock() -> None:
    simulator = simulated(0, load_preset("headlands"))
    world, level = simulator.world, simulator.scene.edges.sea_level

    def shore() -> NDArray[np.int64]:
        """The row of the first cell of the sea in each column, from the land in the north."""
        return np.asarray((world.ground < level).argmax(axis=0))

    before, columns = shore(), np.arange(world.ground.shape[1])
    fields, heights = world.material_fields(), world.ground[before - 1, columns]
    cells = (before - 1) * len(columns) + columns
    granite = np.array([is_intruded(fields, cell, height) for cell, height in zip(cells, heights, strict=True)])
    while world.cycle < 600:
        simulator.advance()
    retreat = before - shore()
    assert retreat[~granite].mean() > 2.0 * retreat[granite].mean() > 0.0
    assert np.corrcoef(retreat, granite)[0, 1] < -0.3
    assert world.imbalance() < 1e-12


def barriers(ground: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    """In which columns a strip of dry ground lies before water of some cells, with land behind it in the north."""
    found = np.zeros(ground.shape[1], np.bool_)
    for column, dry in enumerate((ground >= level).T):
        shores = np.flatnonzero(np.diff(dry.astype(np.int8)))  # of land, lagoon, barrier, sea
        if dry[0] and len(shores) >= 3:
            lagoon, strip = np.diff(shores[:3])
            found[column] = lagoon >= 3 and strip <= 12
    return found


@pytest.mark.nightly
def test_barriers_with_lagoons_form_where_the_sea_rises_over_gentle_land() -> None:
    simulator = simulated(0, load_preset("barrier-island"))
    assert not barriers(simulator.world.ground, simulator.scene.edges.sea_level).any()
    while simulator.world.cycle < 1000:
        simulator.advance()
    found = barriers(simulator.world.ground, simulator.scene.edges.sea_level)
    assert found.mean() > 0.3
    assert simulator.world.imbalance() < 1e-13


@pytest.mark.parametrize("preset", ["island", "forest-island"])
def test_the_coast_is_switched_on_and_off_on_islands(preset: str) -> None:
    scene = load_preset(preset).with_values({"world.columns": 64, "world.rows": 64, "world.past": 0})
    simulator = simulated(2, scene)
    assert not scene.coast.enabled and DRIFT not in simulator.world.layers
    simulator.take_scene(simulator.scene.with_value("coast.enabled", True))
    for _ in range(6):
        simulator.advance()
    assert simulator.world.layers[POWER].max() > 0.0 and simulator.world.layers[DRIFT].max() > 0.0
    simulator.take_scene(simulator.scene.with_value("coast.enabled", False))
    simulator.advance()
    assert DRIFT not in simulator.world.layers and simulator.world.imbalance() < 1e-12
