"""The water and the plants that a land has before its first cycle, and what rivers have made of it before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.cli.export import landscape_of
from app.engine import spin_up
from app.engine.creation import create_world
from app.engine.lockstep import Lockstep
from app.engine.memory import Needs
from app.engine.messages import GoTo, Report, SpinUpFailed
from app.engine.session import Session
from app.engine.session_state import Mode
from app.engine.simulator import Simulator
from app.engine.spin_up import GATHERED, has_spin_up, is_due, sheds_debris
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.model.ledger import LARGEST_IMBALANCE
from app.processes import plants
from app.scene.edits import Change, Copy, Open
from app.scene.scene import Scene, load_preset
from tests.app.small import bits, simulated, size_in_cells, small_preset, small_scene
from tests.waiting import wait_for

CYCLES = 300


def old_scene(**settings: object) -> Scene:
    """Noise with lakes, streams and plants of many cycles."""
    usual = {"world__past": CYCLES, "pools__enabled": True, "plants__enabled": True, "plants__rate": 4.0}
    return small_scene(**{**usual, **settings})


def opened(scene: Scene, threads: int | None = None) -> Simulator:
    """The simulator of a scene before its first cycle, with all its kernels."""
    world, scene = create_world(scene)
    simulator = Simulator(scene, world, threads)
    simulator.prepare_all()
    return simulator


def test_a_land_opens_with_its_streams_lakes_and_trees_on_the_ground_as_it_is() -> None:
    bare, old = opened(old_scene(world__past=0)).world, opened(old_scene()).world
    assert old.cycle == 0
    assert np.array_equal(old.bedrock, bare.bedrock) and np.array_equal(old.sediment, bare.sediment)
    assert not bare.water.any() and "stream" not in bare.layers and not len(bare.trees)
    assert old.water.any() and old.layers["stream"].any() and len(old.trees) > 20
    assert old.layers["grass"].mean() > 0.1
    assert old.imbalance() <= LARGEST_IMBALANCE
    assert old.ledger.water.gained[GATHERED] == pytest.approx(old.stored("water"))


def test_lakes_are_as_full_as_cycles_keep_them() -> None:
    """Nothing jumps in the first cycles: what is there is what the processes lead to on ground that stands still."""
    still = {"droplets.deposition_rate": 0.0, "plants.enabled": False}
    scene = old_scene(pools__evaporation=0.2, world__past=3000).with_values(still)
    old = opened(scene)
    full = old.world.stored("water")
    for _ in range(40):
        old.advance()
    assert old.world.stored("water") == pytest.approx(full, rel=0.1)
    slow = simulated(400, scene.with_value("world.past", 0))
    assert full == pytest.approx(slow.world.stored("water"), rel=0.15)


def test_streams_carry_at_first_what_they_carry_later() -> None:
    still = {"droplets.deposition_rate": 0.0, "plants.enabled": False}
    old = opened(old_scene(droplets__river_transport=0.5).with_values(still))
    before = old.world.layers["discharge"].copy()
    for _ in range(60):
        old.advance()
    after = old.world.layers["discharge"]
    assert before.sum() == pytest.approx(after.sum(), rel=0.2)
    assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.9


@pytest.mark.parametrize("transport", [0.0, 0.5])
def test_streams_act_on_drops_at_first_as_they_do_later(transport: float) -> None:
    """Averages that begin with nothing would let streams grow for hundreds of cycles."""
    still = {"droplets.deposition_rate": 0.0, "plants.enabled": False, "droplets.river_transport": transport}
    old = opened(old_scene().with_values(still))
    before = old.world.layers["discharge"].sum()
    for _ in range(400):
        old.advance()
    assert before == pytest.approx(old.world.layers["discharge"].sum(), rel=0.2)


def test_the_past_is_as_long_in_finer_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ground is as wet, however few cycles of drops there is time for, and as many trees grow on it."""
    monkeypatch.setattr(spin_up, "CELLS", 64 * 48)
    shape = {"world__columns": 64, "world__rows": 48, "world__reference_cell_size": 20.0}
    wet = {"moisture__enabled": True, "world__past": 1000, "plants__rate": 14.0, "plants__tree_arrival": 5e-4}
    scene = old_scene(**shape, **wet)
    worlds = [opened(size).world for size in (scene, scene.with_values(size_in_cells(scene, 256, 192)))]
    coarse, fine = (world.layers["wetness"].mean() for world in worlds)
    assert fine == pytest.approx(coarse, rel=0.05)
    assert len(worlds[1].trees) > 0.5 * len(worlds[0].trees) > 100


def test_the_ground_is_as_wet_as_cycles_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spin_up, "CYCLES", 1)
    still = {"droplets.deposition_rate": 0.0, "plants.enabled": False}
    scene = old_scene(moisture__enabled=True, world__past=1000).with_values(still)
    old = opened(scene)
    wet = old.world.layers["moisture"].mean()
    for _ in range(200):
        old.advance()
    assert wet == pytest.approx(old.world.layers["moisture"].mean(), rel=0.1)


def test_the_past_is_the_same_whenever_and_wherever_it_is_lived() -> None:
    """Before the first cycle, before a change or a copy, on one thread or two, or where a saved world goes on."""
    scene = old_scene()
    wetter = scene.with_value("droplets.count", 120)
    expected = opened(scene, threads=2)
    expected.change(wetter)
    for _ in range(3):
        expected.advance()
    world, scene = create_world(scene)
    changed = Simulator(scene, world, threads=1)
    changed.change(wetter)  # before its kernels are there
    copied = Lockstep([changed]).with_copy(0).simulators[1]
    for simulator in (changed, copied):
        for _ in range(3):
            simulator.advance()
        assert bits(simulator.world) == bits(expected.world)


@pytest.mark.parametrize("lived", [False, True])
def test_a_saved_world_has_its_past_once(tmp_path: Path, lived: bool) -> None:
    scene = old_scene()
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    if lived:
        simulator.prepare_all()
    checkpoint.save(tmp_path / "world.npz", simulator.world, scene)
    again = Simulator(scene, checkpoint.load(tmp_path / "world.npz")[0])
    assert again.world.has_past == lived
    simulator.advance()
    again.advance()
    assert again.world.cycles_before == simulator.world.cycles_before > 0
    assert bits(again.world) == bits(simulator.world)


def test_going_back_to_the_beginning_comes_to_the_same_past() -> None:
    simulator = opened(old_scene())
    before = bits(simulator.world)
    simulator.advance()
    simulator.go_back(0)
    assert bits(simulator.world) == before


def test_a_window_sees_the_past_before_the_first_cycle() -> None:
    thread = SimulationThread(old_scene(), paused=True)
    thread.first_picture_shown.set()
    thread.start()
    try:
        shown = wait_for(lambda: (taken := thread.take()) and "grass" in taken[0].layers and taken, "its plants")
        assert shown[0].cycle == 0
        assert shown[0].layers["water"].any() and len(shown[0].trees)
    finally:
        thread.stop()


def begun(scene: Scene, reports: list[Report] | None = None) -> Session:
    """A paused session, stepped by the test, with all its kernels."""
    heard = reports if reports is not None else []
    session = Session((scene,), heard.append, paused=True)
    session.showing.first_picture_shown.set()
    session.ask(Open((scene,)))
    assert session.lockstep is not None
    for simulator, build in session.lockstep.unprepared():
        simulator.prepare(build)
    return session


def started(scene: Scene) -> Session:
    """The same in the midst of a land's past."""
    session = begun(scene)
    session.step()
    assert session.lockstep is not None
    assert session.mode is Mode.SPIN_UP, "one step is not all of it"
    return session


def step(session: Session, *, until: Callable[[], bool]) -> None:
    def is_so() -> bool:
        if not until():
            session.step()
        return until()

    wait_for(is_so, "what its steps lead to", between=0.0)


def test_a_past_that_is_given_up_leaves_the_land_as_it_was() -> None:
    """Only its last step changes anything, so that a world that is saved meanwhile lives all of it later."""
    world, scene = create_world(old_scene())
    simulator = Simulator(scene, world)
    for build in simulator.unprepared():
        simulator.prepare(build)
    state = bits(world), world.cycles_before
    while simulator.spin_up_is_due:
        assert (bits(world), world.cycles_before) == state
        simulator.step_spin_up()
    assert (bits(world), world.cycles_before) != state


def test_a_session_answers_while_the_past_is_lived() -> None:
    """Another land is opened at once; what changes the land is done after its past, as if that had been there."""
    scene = old_scene()
    session = started(scene)
    assert session.status.state == "growing" and session.status.message
    session.ask(Change({"droplets.count": 90}))
    session.ask(Copy(0))
    session.step()
    assert session.lockstep is not None
    assert len(session.lockstep.simulators) == 1 and session.status.scenes[0].droplets.count == 90
    step(session, until=lambda: session.lockstep is not None and len(session.lockstep.simulators) == 2)
    session.step()
    assert session.status.state == "paused"
    expected = opened(scene)
    expected.change(scene.with_value("droplets.count", 90))
    for simulator in session.lockstep.simulators:
        assert simulator.scene.droplets.count == 90
        assert bits(simulator.world) == bits(expected.world)
    session.ask(Open((old_scene(world__seed=9),)))
    session.step()
    assert session.mode is Mode.SPIN_UP
    session.ask(Open((old_scene(world__past=0),)))
    session.step()
    assert session.mode is Mode.PAUSED and not session.lockstep.worlds[0].has_past


def test_undo_to_the_beginning_finds_the_past_there() -> None:
    session = started(old_scene())
    assert session.lockstep is not None
    step(session, until=lambda: session.mode is Mode.PAUSED)
    expected = bits(session.lockstep.worlds[0])
    now = session.timeline.now
    session.ask(Change({"droplets.count": 90}))
    session.ask(GoTo(now.branch, now.cycle, now.edits))
    step(session, until=lambda: session.mode is Mode.PAUSED)
    assert bits(session.lockstep.worlds[0]) == expected


def test_a_past_that_fails_is_told_and_the_land_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("app.engine.spin_up.fill", fails)
    reports: list[Report] = []
    session = begun(old_scene(), reports)
    step(session, until=lambda: session.mode is Mode.PAUSED)
    [told] = [report for report in reports if isinstance(report, SpinUpFailed)]
    assert "past" in told.why and "memory" in told.why
    assert session.lockstep is not None
    session.lockstep.advance()


def test_a_land_without_water_and_plants_has_no_past() -> None:
    scene = small_scene(world__past=1000, droplets__enabled=False)
    world, scene = create_world(scene)
    assert not has_spin_up(scene) and not is_due(world, scene)
    old = small_scene(world__past=1000)
    assert Needs.of([scene], 1, shown=False) == Needs.of([scene.with_value("world.past", 0)], 1, shown=False)
    assert Needs.of([old], 1, shown=False) != Needs.of([old.with_value("world.past", 0)], 1, shown=False)


def test_walls_have_shed_debris_on_which_nothing_else_acts() -> None:
    """As much as in as many cycles, and the ledger has it; elsewhere the ground stays as it is."""
    scene = small_preset("scree", 48, world__past=12)
    world, scene = create_world(scene)
    before = world.ground.copy()
    old, slow = opened(scene).world, simulated(12, scene.with_value("world.past", 0)).world
    assert old.cycle == 0 and np.array_equal(old.bedrock, slow.bedrock) and np.array_equal(old.sediment, slow.sediment)
    assert old.sediment.max() > 1.0 and np.array_equal(old.ground, old.bedrock + old.sediment)
    assert old.ground.min() >= before.min() and not np.array_equal(old.ground, before)
    assert old.imbalance() <= LARGEST_IMBALANCE
    assert (
        Needs.of([scene], 1, shown=False).running
        > Needs.of([scene.with_value("world.past", 0)], 1, shown=False).running
    )
    assert sheds_debris(scene) and not sheds_debris(scene.with_value("droplets.enabled", True))
    rainy = scene.with_values({"droplets.enabled": True, "droplets.deposition_rate": 0.0})
    assert np.array_equal(opened(rainy).world.ground, before)


def test_a_flood_has_run_for_its_past() -> None:
    """With what it carries, as in as many cycles; the ledger has both."""
    scene = small_preset("dam-break", 64, world__past=6)
    old, slow = opened(scene).world, simulated(6, scene.with_value("world.past", 0)).world
    assert old.cycle == 0 and old.layers["flood_speed"].max() > 1.0 and old.layers["suspended"].any()
    for name in ("water", "flood_south", "suspended", "sediment"):
        assert np.allclose(old.layers[name], slow.layers[name], atol=1e-3), name
    assert old.imbalance() <= LARGEST_IMBALANCE
    assert not opened(scene.with_value("floods.enabled", False)).world.has_past


def test_an_export_before_the_first_cycle_has_the_past_that_a_window_shows() -> None:
    assert bits(landscape_of(old_scene()).world) == bits(opened(old_scene()).world)


def test_plants_have_their_turns_in_the_period_of_their_kernel() -> None:
    from kernels.plants import PERIOD

    assert plants.PERIOD == PERIOD


def test_worn_land_has_valleys_that_drain_it() -> None:
    """Rivers leave few hollows, wear no base level down, and put what they wear in valleys or over the edge."""
    from kernels.rivers import drain

    plain, _ = create_world(small_scene(world__relief=200.0))
    worn, _ = create_world(small_scene(world__relief=200.0, world__worn=3e5))
    assert worn.years == 3e5

    def in_hollows(ground: np.ndarray) -> float:
        filled = drain(ground, plain.cell_size, -np.inf).filled
        return float((filled - ground).sum())

    assert in_hollows(worn.ground) < 0.3 * in_hollows(plain.ground)
    assert worn.ground.mean() < plain.ground.mean()
    assert worn.ground.min() >= plain.ground.min() - 1e-6


def test_worn_land_in_finer_cells_has_no_teeth_where_it_was_steep() -> None:
    """What rivers have worn is found in reference cells: rims that are sharper than these must not stand on it."""
    from kernels.rivers import drain

    scene = load_preset("forest-island").with_value("world.past", 0)

    def hollows(side: int) -> float:
        world, _ = create_world(scene.with_values(size_in_cells(scene, side, side)))
        filled = drain(world.ground, world.cell_size, scene.edges.sea).filled
        return float((filled - world.ground).sum() * world.cell_area)

    assert hollows(768) < 2.0 * hollows(384)
