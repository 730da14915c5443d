"""The simulation: the same bits however it is run, nothing lost, and what happens when a cycle fails."""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.messages import (
    FrameBegan,
    GoTo,
    OpenFailed,
    Pause,
    Request,
    Run,
    Save,
    Saved,
    Step,
    Stopped,
    Watch,
)
from app.engine.publishing import Publisher
from app.engine.simulator import SimulationError, Simulator
from app.engine.thread import PAUSE_AFTER_SHORT_STEP, SHORT_STEP, SimulationThread
from app.files import checkpoint
from app.files.opening import open_scene
from app.model.layers import side_by_side
from app.model.snapshot import Snapshot
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion
from app.processes.process import ProcessFailure
from app.scene.edits import Change, Open
from app.scene.scene import Scene
from tests.app.hands import let_go_round
from tests.app.small import bits, heard, simulated, small_scene
from tests.waiting import PATIENCE, wait_for

# The simulator, one cycle after the other.


# A tenth of a cell's side high, on cells of 20 m: cubic metres.
WATER_OF_A_DROP = 2.0 * 20.0**2


def test_cycles_change_the_land_and_lose_nothing() -> None:
    start, _ = create_world(small_scene())
    world = simulated(50).world
    assert world.cycle == 50
    assert not np.array_equal(world.bedrock, start.bedrock)
    assert world.imbalance() < 1e-9
    assert world.ledger.water.gained["rain"] == pytest.approx(50 * 60 * WATER_OF_A_DROP)


def test_ground_stays_the_sum_of_the_layers() -> None:
    world = simulated(20).world
    assert np.array_equal(world.ground, world.bedrock + world.sediment)
    assert world.sediment.min() >= 0.0


def test_same_scene_gives_the_same_bits() -> None:
    assert bits(simulated(12).world) == bits(simulated(12).world)


def test_bits_do_not_depend_on_threads() -> None:
    scene = small_scene(world__columns=150, world__rows=130, droplets__count=400)
    one, two = (simulated(8, scene, threads) for threads in (1, 2))
    by_parameter = simulated(8, scene.with_value("simulation.threads", 1))
    assert bits(one.world) == bits(two.world) == bits(by_parameter.world)


def test_resume_equals_run_through(tmp_path: Path) -> None:
    through = simulated(14)
    first = simulated(5)
    checkpoint.save(tmp_path / "five.npz", first.world, first.scene)
    resumed = simulated(9, open_scene(str(tmp_path / "five.npz")))
    assert bits(resumed.world) == bits(through.world)
    checkpoint.save(tmp_path / "resumed.npz", resumed.world, resumed.scene)
    checkpoint.save(tmp_path / "through.npz", through.world, through.scene)
    assert (tmp_path / "resumed.npz").read_bytes() == (tmp_path / "through.npz").read_bytes()


def test_changed_parameter_takes_effect_at_the_next_cycle() -> None:
    simulator, unchanged = simulated(4), simulated(5)
    simulator.change(simulator.scene.with_value("droplets.count", 61))
    assert bits(simulator.world) == bits(simulated(4).world)
    simulator.advance()
    rain = simulator.world.ledger.water.gained["rain"]
    assert rain == pytest.approx((4 * 60 + 61) * WATER_OF_A_DROP)
    assert bits(simulator.world) != bits(unchanged.world)


def test_process_that_is_switched_off_does_nothing() -> None:
    start, _ = create_world(small_scene())
    world = simulated(3, small_scene(droplets__enabled=False)).world
    assert world.cycle == 3
    assert np.array_equal(world.ground, start.ground)


# Cycles that fail.


class Digging:
    """Lowers the land by one metre a cycle. At cycle `fails_at` it calls `failure` half-way through."""

    name = "droplets"
    changes = ("bedrock", "sediment")
    fails_at = 7
    failure: Callable[[World], None]

    def prepare(self) -> None:
        pass

    def step(self, world: World, parameters: Any, cycle: Cycle) -> None:
        world.bedrock[: world.shape[0] // 2] -= 1.0
        if world.cycle == self.fails_at:
            self.failure(world)
        world.bedrock[world.shape[0] // 2 :] -= 1.0
        np.add(world.bedrock, world.sediment, out=world.ground)
        world.ledger.rock.lose("dug", world.shape[0] * world.shape[1] * world.cell_area)


def raise_value_error(world: World) -> None:
    raise ValueError("a shovel broke")


def raise_process_failure(world: World) -> None:
    raise ProcessFailure("droplets", 3, 5)


def write_nan(world: World) -> None:
    world.sediment[9, 11] = np.nan


def raise_a_tower(world: World) -> None:
    world.bedrock[9, 11] = 2e6


def take_more_than_there_is(world: World) -> None:
    world.sediment[9, 11] -= 0.75


def sicken_a_tree(world: World) -> None:
    world.trees = np.array([[3.5, 5.5, 0.0, 0.5, 10.0, np.nan]], np.float32)


def send_a_river_off_the_map(world: World) -> None:
    world.centrelines = np.array([[0.0, 5.0, 5.0, 1.0, 0.0], [0.0, -5.0, 5.0, 1.0, 0.0]])


def lose_a_metre(world: World) -> None:
    world.bedrock[20, 10] -= 1.0


@contextmanager
def digging(monkeypatch: pytest.MonkeyPatch, failure: Callable[[World], None] | None) -> Iterator[None]:
    """Have `Digging` for the only process; without a failure it digs on."""
    process = type("Digging", (Digging,), {"failure": staticmethod(failure or (lambda world: None))})
    with monkeypatch.context() as patch:
        patch.setattr("app.engine.cycles.PROCESSES", (process,))
        yield


@pytest.mark.parametrize("seconds_between_backups", [0.0, 1000.0])
@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (raise_value_error, "droplets: ValueError: a shovel broke; stopped after cycle 7"),
        (raise_process_failure, "droplets: a value at row 3, column 5 is not a finite number; stopped after cycle 7"),
        (write_nan, "droplets left sediment not finite at row 9, column 11; stopped after cycle 7"),
        (
            raise_a_tower,
            "droplets left bedrock at 2e+06 (it may be from -1e+06 to 1e+06) at row 9, column 11; "
            "stopped after cycle 7",
        ),
        (
            take_more_than_there_is,
            "droplets left sediment at -0.25 (it may be from 0 to 1e+06) at row 9, column 11; stopped after cycle 7",
        ),
        (
            sicken_a_tree,
            "droplets left trees: must be finite numbers; the health of tree 0 is nan; stopped after cycle 7",
        ),
        (send_a_river_off_the_map, "droplets left centrelines: must lie on the map; stopped after cycle 7"),
        (lose_a_metre, "droplets: 1.4e-05 of all rock is unaccounted for; stopped after cycle 7"),
    ],
)
def test_failed_cycle_is_named_and_undone(
    failure: Callable[[World], None], message: str, seconds_between_backups: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engine.backup.SECONDS_BETWEEN_BACKUPS", seconds_between_backups)
    monkeypatch.setattr("app.engine.backup.LARGEST_COST", float("inf"))
    with digging(monkeypatch, None):
        good = simulated(7)
    with digging(monkeypatch, failure):
        simulator = simulated(7)
        with pytest.raises(SimulationError) as raised:
            for _ in range(4):  # a value that is not finite may be noticed some cycles later
                simulator.advance()
            simulator.verify()
    assert str(raised.value) == message
    assert bits(simulator.world) == bits(good.world)


def test_failure_after_a_change_goes_back_with_the_right_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycles before the change had the old parameters and those after it the new ones, also when they are redone."""
    rain = DropletErosion.step

    def fail_in_cycle_6(self: DropletErosion, world: World, parameters: Any, cycle: Cycle) -> None:
        rain(self, world, parameters, cycle)
        if world.cycle == 6:
            raise ValueError("enough")

    def change_in_cycle_4() -> Simulator:
        simulator = simulated(4)
        simulator.change(simulator.scene.with_value("droplets.count", 61))
        simulator.advance()
        simulator.advance()
        return simulator

    good = bits(change_in_cycle_4().world)
    monkeypatch.setattr(DropletErosion, "step", fail_in_cycle_6)
    simulator = change_in_cycle_4()
    with pytest.raises(SimulationError, match="droplets: ValueError: enough; stopped after cycle 6"):
        simulator.advance()
    assert bits(simulator.world) == good


def test_parameters_are_not_changed_over_a_world_that_is_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    with digging(monkeypatch, write_nan):
        simulator = simulated(9)
        with pytest.raises(SimulationError, match="stopped after cycle 7"):
            simulator.change(small_scene(droplets__count=1))
    assert simulator.world.cycle == 7
    assert find_fault(simulator.world) is None


def test_no_cycle_is_counted_that_no_file_could_tell(tmp_path: Path) -> None:
    simulator = simulated(0)
    simulator.world.cycle = 2**53 - 1
    simulator.back_up()
    simulator.advance()
    with pytest.raises(SimulationError, match=f"cycle {2**53} is the last"):
        simulator.advance()
    checkpoint.save(tmp_path / "last.npz", simulator.world, simulator.scene)
    assert checkpoint.load(tmp_path / "last.npz")[0].cycle == 2**53


def test_what_a_file_brings_along_unaccounted_for_stops_nothing() -> None:
    """Only what is lost from then on does."""
    simulator = simulated(0)
    simulator.world.bedrock[...] += 1.0
    np.add(simulator.world.bedrock, simulator.world.sediment, out=simulator.world.ground)
    opened = Simulator(simulator.scene, simulator.world)
    assert opened.world.imbalance() > 1e-6
    opened.advance()
    opened.verify()


# The thread.


@contextmanager
def running(*scenes: Scene, paused: bool = False) -> Iterator[SimulationThread]:
    thread = SimulationThread(*scenes, paused=paused)
    thread.first_picture_shown.set()
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


def take(thread: SimulationThread) -> Snapshot | None:
    """The newest snapshot of a single world."""
    return next(iter(thread.take()), None)


def shown(snapshot: Snapshot) -> dict[str, bytes]:
    return {name: layer.tobytes() for name, layer in snapshot.layers.items()}


@pytest.fixture(scope="module")
def good_states() -> dict[int, object]:
    """What a snapshot shows after each cycle, one cycle after the other."""
    simulator = simulated(0)
    states = {0: bits(simulator.world)["shown"]}
    for cycle in range(1, 61):
        simulator.advance()
        states[cycle] = bits(simulator.world)["shown"]
    return states


@pytest.mark.parametrize("cycles_per_frame", [0, 1, 3])
@pytest.mark.parametrize("rounds", [1, 5])
def test_bits_do_not_depend_on_frames(cycles_per_frame: int, rounds: int, good_states: dict[int, object]) -> None:
    """At any pace, and however often somebody looks, a snapshot of a cycle shows the same."""
    seen = set()
    with running(small_scene(simulation__cycles_per_frame=cycles_per_frame)) as thread:
        while max(seen, default=0) < 30:
            thread.ask(FrameBegan())
            let_go_round(thread, rounds)
            if snapshot := take(thread):
                if snapshot.cycle not in good_states:
                    break
                assert shown(snapshot) == good_states[snapshot.cycle]
                seen.add(snapshot.cycle)
    assert seen


def test_pace_follows_the_frames() -> None:
    with running(small_scene(simulation__cycles_per_frame=3)) as thread:
        wait_for(lambda: take(thread), "a snapshot")
        let_go_round(thread)
        assert thread.status.cycle == 0  # nothing was drawn, so nothing runs
        for frame in range(1, 4):
            thread.ask(FrameBegan())
            wait_for(lambda frame=frame: thread.status.cycle == 3 * frame, "cycles")
        let_go_round(thread)
        assert thread.status.cycle == 9
        thread.ask(FrameBegan(4))  # a frame that took as long as four of the screen's
        wait_for(lambda: thread.status.cycle == 21, "cycles")


def test_slow_motion_lets_frames_pass_between_cycles() -> None:
    with running(small_scene(simulation__cycles_per_frame=2, simulation__frames_per_cycle=3)) as thread:
        wait_for(lambda: take(thread), "a snapshot")
        for _ in range(2):
            thread.ask(FrameBegan())
        let_go_round(thread)
        assert thread.status.cycle == 0
        thread.ask(FrameBegan())
        wait_for(lambda: thread.status.cycle == 2, "cycles")
        thread.ask(FrameBegan(7))  # two portions, and a third of the next
        wait_for(lambda: thread.status.cycle == 6, "cycles")
        thread.ask(FrameBegan(2))
        wait_for(lambda: thread.status.cycle == 8, "cycles")


def test_single_steps_while_paused() -> None:
    with running(small_scene(), paused=True) as thread:
        assert wait_for(lambda: take(thread), "a snapshot").cycle == 0
        thread.ask(Step())
        assert wait_for(lambda: take(thread), "a snapshot").cycle == 1
        let_go_round(thread)
        assert take(thread) is None
        assert thread.status.state == "paused"
        thread.ask(Run())
        assert wait_for(lambda: thread.status.cycle > 3, "cycles")


def test_taken_snapshot_stays_as_it_is_until_the_next_is_taken() -> None:
    with running(small_scene()) as thread:
        snapshot = wait_for(lambda: take(thread), "a snapshot")
        before = shown(snapshot)
        wait_for(lambda: thread.status.cycle > snapshot.cycle + 20, "cycles")
        assert shown(snapshot) == before


def test_change_goes_to_the_next_cycle() -> None:
    with running(small_scene(), paused=True) as thread:
        wait_for(lambda: take(thread), "a snapshot")
        thread.ask(Step())
        wait_for(lambda: take(thread), "a snapshot")
        thread.ask(Change({"droplets.count": 61}))
        thread.ask(Step())
        snapshot = wait_for(lambda: take(thread), "a snapshot")
    assert snapshot.ledger.water.gained["rain"] == pytest.approx((60 + 61) * WATER_OF_A_DROP)


def test_what_is_switched_off_takes_no_time() -> None:
    scene = small_scene(cascade__enabled=True)
    simulator = simulated(3, scene)
    assert set(simulator.milliseconds) == {"droplets", "cascade"}
    simulator.change(scene.with_value("cascade.enabled", False))
    assert set(simulator.milliseconds) == {"droplets"}
    with running(scene, paused=True) as thread:
        thread.ask(Step())
        wait_for(lambda: set(thread.status.milliseconds) == {"droplets", "cascade"}, "the times of processes")
        thread.ask(Change({"droplets.enabled": False}))
        wait_for(lambda: set(thread.status.milliseconds) == {"cascade"}, "the times of processes")


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_cycles_in_which_nothing_happens_leave_the_interpreter_to_others(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window gives the lock back many times in a frame and must not wait each time to have it again."""
    given_way: list[float] = []
    ticks = itertools.count(0.0, seconds)  # so long each cycle takes, by this clock
    clock = SimpleNamespace(perf_counter=lambda: next(ticks), monotonic=time.monotonic, sleep=given_way.append)
    monkeypatch.setattr("app.engine.thread.time", clock)
    with running(small_scene(droplets__enabled=False)) as thread:
        wait_for(lambda: thread.status.cycle > 20, "cycles")
    if seconds < SHORT_STEP:
        assert len(given_way) >= thread.status.cycle and set(given_way) == {PAUSE_AFTER_SHORT_STEP} != {0.0}
    else:
        assert given_way == []


def test_restart_makes_the_world_anew(tmp_path: Path) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        other = small_scene(world__columns=24, world__seed=5)
        thread.ask(Pause())
        thread.ask(Open((other,)))
        snapshot = wait_for(lambda: (taken := take(thread)) and taken.world == 2 and taken, "a snapshot")
        world, _ = create_world(other)
        assert snapshot.cycle == 0
        assert shown(snapshot) == bits(world)["shown"]
        thread.ask(Open((other.with_value("world.source", str(tmp_path / "none.tif")),)))
        assert "there is no such file" in wait_for(lambda: heard(thread, OpenFailed), "a report")[0].why
        wait_for(lambda: thread.status.state == "paused", "a pause, which a land comes to after its picture")
        thread.ask(Step())
        assert wait_for(lambda: take(thread), "a snapshot").world == 2  # the world that was there goes on


def test_saved_between_two_cycles(tmp_path: Path) -> None:
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 2, "cycles")
        thread.ask(Save(tmp_path / "world.npz"))
        wait_for(lambda: heard(thread, Saved), "a report")
    world, _ = checkpoint.load(tmp_path / "world.npz")
    assert bits(world) == bits(simulated(world.cycle).world)


@pytest.mark.parametrize("failure", [raise_value_error, raise_process_failure, write_nan])
def test_thread_shows_the_last_good_state_after_a_failure(
    failure: Callable[[World], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with digging(monkeypatch, None):
        good = bits(simulated(7).world)["shown"]
    with digging(monkeypatch, failure), running(small_scene()) as thread:
        last = None

        def failed() -> bool:
            nonlocal last
            last = take(thread) or last
            return thread.status.state == "failed" and last is not None and last.cycle == 7

        wait_for(failed, "a failure")
        assert last is not None
        assert shown(last) == good
        assert "7" in thread.status.error or "8" in thread.status.error
        assert heard(thread, Stopped) == [thread.status.stopped]
        with monkeypatch.context() as patch:
            patch.setattr("app.engine.cycles.PROCESSES", (DropletErosion,))
            thread.ask(Open((small_scene(),)))
            wait_for(lambda: thread.status.state == "running" and thread.status.cycle > 3, "cycles")


def test_simulator_prepares_what_is_switched_on() -> None:
    world, scene = create_world(small_scene(droplets__enabled=False))
    simulator = Simulator(scene, world)
    assert simulator.unprepared() == []
    simulator.change(scene.with_value("droplets.enabled", True))
    assert simulator.unprepared() == ["droplets"]
    simulator.advance()
    assert simulator.unprepared() == []


def test_what_is_shown_is_not_written_to_until_it_is_given_back() -> None:
    simulator, publisher = simulated(0), Publisher()
    worlds = [simulator.world]

    def publish() -> None:
        simulator.advance()
        publisher.publish(worlds, [None], "none")

    publisher.begin(publisher.first(worlds, "none"))
    first = publisher.take(gives_back=False)
    publish()
    assert publisher.is_full and publisher.has_place
    second = publisher.take(gives_back=False)
    before = [shown(snapshot) for snapshot in (*first, *second)]
    assert publisher.is_full and not publisher.has_place
    publish()  # as where they are taken between the look and this
    third = publisher.take(gives_back=False)
    assert [shown(snapshot) for snapshot in (*first, *second)] == before != [shown(third[0])] * 2
    assert publisher.give_back(third)
    publish()
    fourth = publisher.take()
    assert shown(fourth[0]) == bits(simulator.world)["shown"]
    assert fourth[0].layers["bedrock"] is second[0].layers["bedrock"]  # which was given back
    publish()  # and by `take`, so were those before it
    assert publisher.take()[0].layers["bedrock"] is third[0].layers["bedrock"]


def test_large_snapshots_that_nobody_reads_any_more_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.publishing.LARGEST_KEPT", 0)
    simulator, publisher = simulated(0), Publisher()
    worlds = [simulator.world]
    publisher.begin(publisher.first(worlds, "none"))
    shown_first = weakref.ref(publisher.take(gives_back=False)[0].layers["bedrock"])
    simulator.advance()
    publisher.publish(worlds, [None], "none")
    second = publisher.take(gives_back=False)
    assert shown_first() is not None, "it is still read"
    publisher.give_back(second)
    assert shown_first() is None
    for _ in range(3):
        simulator.advance()
        publisher.publish(worlds, [None], "none")
        last = second[0]
        second = publisher.take()
        assert shown(second[0]) == bits(simulator.world)["shown"] != shown(last)


def test_a_layer_that_stays_is_one_array_in_all_snapshots() -> None:
    world, publisher = simulated(1).world, Publisher()
    publisher.begin(publisher.first([world], "none"))
    last = publisher.take()[0]
    for name, other in itertools.islice(itertools.cycle(itertools.permutations(("bedrock", "sediment"))), 6):
        layers, before, trees = dict(last.layers), shown(last), last.trees
        world.layers[name] += 1.0
        world.touched(name)
        publisher.publish([world], [None], "none")
        assert {layer: values.tobytes() for layer, values in layers.items()} == before, "it is still read"
        last = publisher.take()[0]
        assert shown(last) == bits(world)["shown"]
        assert last.layers[name] is not layers[name]
        assert last.layers[other] is layers[other]
        assert last.trees is trees


def test_whether_it_is_paused_is_as_was_asked_for_last(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = SimulationThread(small_scene())
    ask, seen = simulation.session.ask, list[bool]()

    def note(request: Request) -> None:
        seen.append(simulation.paused)
        ask(request)

    monkeypatch.setattr(simulation.session, "ask", note)
    for request in (GoTo(99, 0, pause=True), Run(), Step(), GoTo(98, 0, pause=True), Run(), GoTo(97, 0, pause=True)):
        simulation.ask(request)
    simulation.start()
    try:
        wait_for(lambda: len(seen) == 7, "answers, also to what opens the land")
        assert seen == [True] * 6 + [False]  # after the last one, which is refused, it goes on as it did
    finally:
        simulation.stop()


def test_a_land_that_is_being_made_is_given_up_where_the_thread_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    made, within, may_go_on = 0, threading.Event(), threading.Event()

    def evolve(*_: object, **__: object) -> None:
        nonlocal made
        made += 1
        within.set()
        assert may_go_on.wait(PATIENCE)

    monkeypatch.setattr("kernels.landscape.evolve", evolve)
    sources: tuple[dict[str, object], ...] = ({"world__source": "range"}, {"world__worn": 1e5})
    for number, source in enumerate(sources, 1):
        simulation = SimulationThread(small_scene(**source))
        simulation.start()
        wait_for(within.is_set, "the first step of the land's past")
        stopping = threading.Thread(target=simulation.stop, daemon=True)
        stopping.start()
        wait_for(lambda thread=simulation: thread._stopping, "the end")  # type: ignore[misc]
        may_go_on.set()
        stopping.join(PATIENCE)
        assert made == number
        within.clear()
        may_go_on.clear()


def test_a_window_gets_the_layers_of_an_overlay_while_it_shows_it() -> None:
    scene = small_scene(plants__enabled=True)
    simulation = SimulationThread(scene, paused=True)
    simulation.first_picture_shown.set()
    simulation.start()
    try:
        simulation.ask(Step())
        assert "canopy" not in _newest(simulation, lambda snapshot: snapshot.cycle == 1).layers
        simulation.ask(Watch("canopy"))  # and nothing runs
        shown = _newest(simulation, lambda snapshot: "canopy" in snapshot.layers)
        assert shown.cycle == 1
        assert "roots" not in shown.layers
        simulation.ask(Watch("none"))
        assert "canopy" not in _newest(simulation, lambda snapshot: "canopy" not in snapshot.layers).layers
    finally:
        simulation.stop()


def _newest(simulation: SimulationThread, condition: Callable[[Snapshot], bool]) -> Snapshot:
    """The first snapshot that fits."""
    return wait_for(lambda: next(filter(condition, simulation.take()), None), "such a snapshot")


# Streams whose water has ended.


def test_streams_run_dry_while_no_drops_fall_and_nothing_else_changes() -> None:
    simulator = simulated(20, small_scene(droplets__stream_memory=0.1, pools__enabled=False))
    world = simulator.world
    before = {name: world.layers[name].copy() for name in side_by_side("flow")}
    kept, ledger = bits(world), world.ledger_copy()
    simulator.change(simulator.scene.with_value("droplets.enabled", False))
    for _ in range(10):
        simulator.advance()
    for name in side_by_side("flow"):
        np.testing.assert_allclose(world.layers[name], 0.9**10 * before[name], rtol=1e-4, atol=1e-3)
        assert world.changed[name] == world.version
    assert before["discharge"].max() > 0.1
    assert world.ledger == ledger
    assert bits(world)["ground"] == kept["ground"]
    for _ in range(200):
        simulator.advance()
    assert not any(world.layers[name].any() for name in side_by_side("flow"))
    assert world.changed["stream"] < world.version, "what is dry does not change any more"


def test_dry_streams_are_the_same_bits_after_a_replay_and_in_a_saved_world(tmp_path: Path) -> None:
    scene = small_scene(droplets__stream_memory=0.1)

    def run_dry(cycles: int) -> Simulator:
        simulator = simulated(6, scene)
        simulator.change(simulator.scene.with_value("droplets.enabled", False))
        for _ in range(cycles):
            simulator.advance()
        return simulator

    through, replayed, first = run_dry(8), run_dry(8), run_dry(3)
    replayed.go_back(14)
    assert bits(replayed.world) == bits(through.world)
    checkpoint.save(tmp_path / "dry.npz", first.world, first.scene)
    assert bits(simulated(5, open_scene(str(tmp_path / "dry.npz"))).world) == bits(through.world)


def test_a_run_of_snowballs_does_not_let_streams_run_dry() -> None:
    simulator = simulated(6, small_scene(droplets__stream_memory=0.1))
    before = simulator.world.layers["discharge"].copy()
    simulator.begin_snowball_run(1500)
    while not simulator.snowball_run_is_over:
        simulator.advance()
    assert np.array_equal(simulator.world.layers["discharge"], before)


def test_while_it_gives_way_it_rests_after_a_step_until_it_is_asked_or_need_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.engine.thread.WAY", 1e9)
    monkeypatch.setattr("app.engine.thread.LONGEST_WAY", 1e4)
    rests: list[float] = []
    ends: list[float] = []  # number of drops at the end of each
    rest_for_picture = SimulationThread._rest_for_picture

    def noted(self: SimulationThread, rest: float) -> None:
        rests.append(rest)
        rest_for_picture(self, rest)
        ends.append(self.scenes[0].droplets.count)

    monkeypatch.setattr(SimulationThread, "_rest_for_picture", noted)
    with running(small_scene()) as thread:
        wait_for(lambda: thread.status.cycle > 1, "cycles")
        thread.give_way(True)
        for number in range(1, 4):
            wait_for(lambda: len(rests) == number, "a rest")  # noqa: B023
            thread.ask(FrameBegan())  # which is no reason to go on
            thread.ask(Change({"droplets.count": 60 + number}))
            wait_for(lambda: len(ends) == number, "its end")  # noqa: B023
        assert ends == [61, 62, 63]
        cycle = thread.status.cycle
        thread.give_way(False)
        wait_for(lambda: thread.status.cycle > cycle + 3, "cycles as before")
