"""The time line: every moment is had again to the last bit, and what was left is there to go back to."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import imagecodecs
import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.branches import StoredState
from app.engine.compressed import Compressed, spill
from app.engine.lockstep import Lockstep
from app.engine.messages import Arrived, DiscardBranch, Edited, GoTo, Moment, Opened, Pause, Refused, Run, Step
from app.engine.simulator import Simulator
from app.engine.state_store import StateStore
from app.engine.stored_world import StoredWorld
from app.engine.thumbnails import THUMBNAIL, thumbnail
from app.engine.timeline import Timeline
from app.files.scratch import scratch_folder
from app.model.view_parameters import ViewParameters
from app.model.world import World
from app.processes import PROCESSES
from app.processes.process import ProcessFailure
from app.scene.edits import Blur, CancelSnowballs, Change, Copy, Keep, Open, RollSnowballs
from app.scene.scene import load_preset, presets
from tests.app.hands import Hands
from tests.app.small import bits, simulated, small_preset, small_scene

# In which all processes run, in each kind of ground; the others are for the night.
IN_CHECK = (
    "dykes", "ledges", "lifted", "meanders", "braided", "archipelago", "delta", "article-wind",
    "dam-break", "rain-shadow", "alps", "spit", "winter", "falls", "strike-slip", "bedded-plain",
)  # fmt: skip


def test_all_processes_are_in_the_check() -> None:
    scenes = [load_preset(name) for name in IN_CHECK]
    assert all(any(getattr(scene, process.name).enabled for scene in scenes) for process in PROCESSES)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in IN_CHECK else pytest.mark.nightly) for name in presets()]
)
def test_a_kept_state_is_the_state_that_was_there(name: str) -> None:
    simulator = simulated(12, small_preset(name, 48))
    kept = StoredWorld.of(simulator)
    there, levels = bits(simulator.world), simulator.world.water_level.tobytes()
    back = kept.simulator()
    assert bits(back.world) == there
    assert back.world.water_level.tobytes() == levels
    assert back.world.standing.tobytes() == simulator.world.standing.tobytes()
    for _ in range(8):
        simulator.advance()
        back.advance()
    assert bits(back.world) == bits(simulator.world)
    assert bits(kept.simulator().world) == there  # from which nothing was taken away


@pytest.mark.parametrize("name", ["coupled-with-trees", "jacksboro", "dune-field", "island"])
def test_layers_that_have_not_changed_are_shared_with_the_state_before(name: str) -> None:
    simulator = simulated(5, small_preset(name, 40))
    first = StoredWorld.of(simulator)
    again = StoredWorld.of(simulator, first)
    assert all(again.layers[layer] is first.layers[layer] for layer in first.versions)
    simulator.advance()
    later = StoredWorld.of(simulator, again)
    assert bits(later.simulator().world) == bits(simulator.world)
    changed = [layer for layer in later.versions if later.layers[layer] is not first.layers.get(layer)]
    assert changed


def test_a_kept_state_is_the_backup_too() -> None:
    """Neither has layers of its own beside the other's, and layers that stay as they are take no memory anew."""
    simulator = simulated(3)
    kept = StoredWorld.of(simulator)
    simulator.run_cycle()
    last = simulator.backup.take(simulator.world)
    state = StoredWorld.of(simulator, kept)
    assert all(state.layers[name] is layer for name, layer in last.layers.items())
    assert state.simulator().backup.layers.layers == last.layers
    good = bits(simulator.world)
    simulator.run_cycle()
    simulator.go_back(4)
    assert bits(simulator.world) == good


def test_a_state_on_disk_is_the_one_that_was_in_memory() -> None:
    simulator = simulated(6, small_preset("coupled-with-trees", 40))
    kept = StoredWorld.of(simulator)
    spill(list(kept.parts))
    assert not any(part.in_memory for part in kept.parts)
    assert bits(kept.simulator().world) == bits(simulator.world)


def test_a_state_on_disk_leaves_little_in_memory() -> None:
    """Neither its small map nor its trees: a session has thousands of them."""
    simulator = simulated(6, small_preset("coupled-with-trees", 64))
    assert simulator.world.trees.nbytes > 5_000
    lockstep, states = Lockstep([simulator]), []
    tracemalloc.start()
    try:
        memory = []
        for number in range(30):
            simulator.world.touched(*simulator.world.layers)
            states.append(StoredState.of(Moment(1, 6, number), lockstep))
            simulator.world.touched(*simulator.world.layers)
            simulator.backup.take(simulator.world)  # else the state is the backup, too
            spill(list(states[-1].parts))
            memory.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert memory[-1] - memory[9] < 20 * 10_000
    assert bits(states[3].worlds[0].simulator().world) == bits(simulator.world)


def test_lands_that_were_left_are_thinned_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.state_store.LARGEST_MEMORY", 0)
    monkeypatch.setattr("app.engine.state_store.LARGEST_DISK", 700_000)
    timeline, scene = Timeline(), small_scene()
    for _ in range(6):
        lockstep = Lockstep([simulated(0, scene)])
        timeline.begin(Open((scene,)), lockstep)
        for _ in range(8):
            lockstep.advance()
            timeline.advanced(lockstep, 0.01)
            timeline.store_state(lockstep)
    seen = timeline.seen(None)
    assert seen.bytes_in_memory + seen.bytes_on_disk < 700_000
    for branch in seen.branches.values():
        assert [branch.states[0].moment.cycle, branch.states[-1].moment.cycle] == [0, 8]


def test_any_cycle_is_had_again(hands: Hands) -> None:
    there = {}
    for _ in range(7):
        there[hands.thread.status.cycle] = hands.bits
        hands.step(3)
    branch = hands.moment.branch
    for cycle in (6, 0, 15, 3):
        arrived = hands.ask(GoTo(branch, cycle), Arrived)
        assert isinstance(arrived, Arrived) and arrived.worlds
        assert hands.bits == there[cycle]
        assert hands.thread.status.cycle == cycle
        assert hands.thread.status.state == "paused"
        assert hands.moment == Moment(branch, cycle, 1)
    assert hands.timeline.branches.keys() == {branch}  # to look is not to go on


def test_edits_are_made_again_at_their_cycles(hands: Hands) -> None:
    hands.step(4)
    hands.thread.ask(Change({"droplets.count": 200}))
    hands.step(4)
    hands.ask(Blur(), Edited)
    hands.step(4)
    hands.ask(Copy(0), Edited)
    hands.thread.ask(Change({"droplets.count": 5}, 1))
    hands.step(4)
    hands.ask(RollSnowballs(300), Edited)
    hands.wait(lambda: hands.thread.status.snowball_run is None and hands.thread.status.cycle > 17)
    hands.step(2)
    hands.ask(Keep((1,)), Edited)
    hands.step(3)
    end, there = hands.moment, hands.bits
    scenes = hands.thread.scenes
    hands.ask(GoTo(end.branch, 2), Arrived)
    assert hands.thread.scenes[0].droplets.count == 60
    del hands.thread.session.timeline._branches[end.branch].states[1:]  # all the way is run again
    hands.ask(GoTo(end.branch, end.cycle), Arrived)
    assert hands.moment == end
    assert hands.bits == there
    assert hands.thread.scenes == scenes


def test_the_moment_before_an_edit_is_had_again(hands: Hands) -> None:
    hands.step(5)
    before = hands.bits
    edited = hands.ask(Blur(), Edited)
    assert isinstance(edited, Edited)
    after = hands.bits
    assert after != before
    where = hands.moment
    hands.ask(GoTo(edited.before.branch, edited.before.cycle, edited.before.edits), Arrived)
    assert hands.bits == before
    hands.ask(GoTo(where.branch, where.cycle, where.edits), Arrived)
    assert hands.bits == after


def test_who_goes_on_from_the_past_is_on_a_branch_and_the_old_one_stays(hands: Hands) -> None:
    hands.step(6)
    hands.thread.ask(Change({"droplets.count": 200}))
    hands.step(4)
    old, there = hands.moment, hands.bits
    hands.ask(GoTo(old.branch, 3), Arrived)
    hands.step(4)
    new = hands.moment
    assert new.branch != old.branch
    assert hands.timeline.branches[new.branch].origin == Moment(old.branch, 3, 1)
    assert hands.bits == [bits(simulated(7).world)]
    hands.ask(GoTo(old.branch, old.cycle), Arrived)
    assert hands.bits == there
    hands.ask(GoTo(new.branch, 2), Arrived)  # before it left the other
    assert hands.bits == [bits(simulated(2).world)]


def test_who_goes_on_where_nothing_was_done_later_stays_on_the_branch(hands: Hands) -> None:
    hands.step(8)
    branch = hands.moment.branch
    hands.ask(GoTo(branch, 5), Arrived)
    hands.step(1)
    assert hands.moment == Moment(branch, 6, 1)
    assert hands.timeline.branches[branch].last == 8


def test_a_new_world_can_be_gone_back_from(hands: Hands) -> None:
    hands.step(5)
    there = hands.bits
    opened = hands.ask(Open((small_scene(world__seed=9),)), Opened)
    assert isinstance(opened, Opened)
    hands.step(2)
    assert hands.bits != there
    hands.ask(GoTo(opened.before.branch, opened.before.cycle, opened.before.edits), Arrived)
    assert hands.bits == there
    hands.step(1)
    assert hands.bits == [bits(simulated(6).world)]


def test_a_land_that_was_left_takes_no_memory(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = []
    monkeypatch.setattr("app.engine.state_store.trim_memory", lambda: given_back.append(True))
    hands.step(5)
    there, old = hands.bits, hands.moment
    hands.ask(Open((small_scene(),)), Opened)
    timeline = hands.thread.session.timeline
    timeline.store._writer.submit(lambda: None).result()
    left = timeline._branches[old.branch].states
    assert left and not any(state.bytes_in_memory for state in left)
    assert given_back
    hands.ask(GoTo(old.branch, old.cycle), Arrived)
    assert hands.bits == there


def test_what_is_asked_on_the_way_is_done_at_its_end(hands: Hands) -> None:
    hands.step(40)
    branch = hands.moment.branch
    hands.thread.ask(GoTo(branch, 30))
    hands.thread.ask(Change({"droplets.count": 3}))
    hands.thread.ask(Step())
    hands.wait(lambda: hands.thread.status.cycle == 31 and hands.thread.status.moment.edits == 2)
    assert hands.timeline.branches[hands.moment.branch].edits[-1].cycle == 30


def test_a_branch_can_be_thrown_away(hands: Hands) -> None:
    hands.step(3)
    first = hands.moment.branch
    hands.ask(Open((small_scene(world__seed=2),)), Opened)
    hands.ask(DiscardBranch(hands.moment.branch), Refused)
    hands.thread.ask(DiscardBranch(first))
    hands.settle()
    assert first not in hands.timeline.branches
    refused = hands.ask(GoTo(first, 0), Refused)
    assert isinstance(refused, Refused) and "deleted" in refused.why


def test_states_are_kept_while_it_runs_and_the_oldest_go_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.timeline.SECONDS_BETWEEN_STATES", 0.0)
    monkeypatch.setattr("app.engine.timeline.LARGEST_COST", 1e9)
    monkeypatch.setattr("app.engine.state_store.LARGEST_MEMORY", 60_000)
    hands = Hands(small_scene())
    try:
        hands.thread.ask(Run())
        hands.wait(lambda: hands.thread.status.cycle > 60)
        hands.thread.ask(Pause())
        hands.settle()
        seen = hands.timeline
        cycles = [state.moment.cycle for state in seen.branches[hands.moment.branch].states]
        assert len(cycles) > 50 and cycles == sorted(set(cycles))
        hands.thread.session.timeline.store._writer.submit(lambda: None).result()
        seen = hands.thread.session.timeline.seen(None)
        assert seen.bytes_on_disk > 0
        assert seen.bytes_in_memory < 200_000
        for cycle in (2, 33, 58):
            hands.ask(GoTo(hands.moment.branch, cycle), Arrived)
            assert hands.bits == [bits(simulated(cycle).world)]
    finally:
        hands.thread.stop()


def test_old_states_are_thinned_where_they_take_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.state_store.LARGEST_MEMORY", 0)
    monkeypatch.setattr("app.engine.state_store.LARGEST_DISK", 900_000)
    timeline, scene = Timeline(), small_scene()
    simulator = simulated(0, scene)
    lockstep = Lockstep([simulator])
    timeline.begin(Open((scene,)), lockstep)
    for _ in range(80):
        lockstep.advance()
        timeline.advanced(lockstep, 0.01)
        timeline.store_state(lockstep)
    (branch,) = timeline.seen(None).branches.values()
    cycles = np.array([state.moment.cycle for state in branch.states])
    assert cycles[0] == 0 and cycles[-1] == 80
    gaps = np.diff(cycles)
    assert len(cycles) < 60
    assert (gaps[-6:] == 1).all()
    assert gaps[: len(gaps) // 2].mean() > gaps[len(gaps) // 2 :].mean()
    assert gaps.max() <= 40


def test_nothing_is_lost_where_states_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.engine.state_store.spill", full)
    simulator = simulated(3)
    state = StoredState.of(Moment(1, 3, 1), Lockstep([simulator]))
    StateStore()._spill(state)
    assert "stored states stay in memory, as they cannot be written: " in caplog.text
    assert bits(state.worlds[0].simulator().world) == bits(simulator.world)


def test_a_large_backup_is_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.compressed.LARGEST_IN_MEMORY", 0)
    simulator = simulated(3)
    good = bits(simulator.world)
    simulator.backup.take(simulator.world)
    assert not any(layer.in_memory for layer in simulator.backup.layers.layers.values())
    files = len(list(scratch_folder().glob("*.states")))
    for _ in range(5):
        simulator.run_cycle()
        simulator.backup.take(simulator.world)
    assert len(list(scratch_folder().glob("*.states"))) <= files + len(simulator.backup.layers.layers)
    kept = StoredWorld.of(simulator)
    assert not any(part.in_memory for part in kept.parts)
    simulator.run_cycle()
    simulator.go_back(8)
    assert bits(simulator.world) == bits(simulated(8).world) == bits(kept.simulator().world) != good


def test_a_backup_that_cannot_be_written_stays_in_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.engine.compressed.LARGEST_IN_MEMORY", 0)
    monkeypatch.setattr("app.engine.compressed.spill", full)
    simulator = simulated(3)
    simulator.backup.take(simulator.world)
    good = bits(simulator.world)
    simulator.run_cycle()
    simulator.go_back(3)
    assert bits(simulator.world) == good
    assert "a backup stays in memory, as it cannot be written: " in caplog.text


def test_a_thumbnail_is_small_and_shows_light_and_water() -> None:
    world = simulated(1, small_scene(world__columns=200, world__rows=90)).world
    image = thumbnail(world, ViewParameters())
    assert max(image.shape[:2]) <= THUMBNAIL
    assert image.std() > 5.0


def test_a_thumbnail_has_the_colours_of_its_land() -> None:
    def mean(world: World, **view: float) -> NDArray[np.float64]:
        colour: NDArray[np.float64] = thumbnail(world, ViewParameters(**view)).mean(axis=(0, 1))
        return colour

    flat = simulated(0, small_scene(world__source="sand")).world
    green, dry, desert = mean(flat, greenness=1.0), mean(flat, greenness=0.0), mean(flat, desert=1.0)
    assert green[0] - green[1] < 5.0 < dry[0] - dry[1] and dry[0] > dry[1] > dry[2]
    assert desert.sum() > dry.sum() > green.sum()
    assert mean(flat, snow_line=-0.1).min() > 200.0 > desert.min()
    flat.trace("snow")[...] = 0.5
    assert mean(flat).min() > 200.0
    flat.forget("snow")
    granite, sandstone = (
        simulated(0, small_scene(materials__enabled=True, materials__strata=rock, world__soil_depth=0.0)).world
        for rock in ("granite", "sandstone")
    )
    grey, red = mean(granite, greenness=0.0), mean(sandstone, greenness=0.0)
    assert red[0] - red[2] > grey[0] - grey[2] + 20.0


def test_where_a_state_cannot_be_brought_back_the_land_stays(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    hands.step(6)
    there = hands.bits

    def without_memory(stored: StoredWorld, threads: int | None = None) -> Simulator:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(StoredWorld, "simulator", without_memory)
        refused = hands.ask(GoTo(hands.moment.branch, 2), Refused)
        assert isinstance(refused, Refused) and "memory" in refused.why
    assert hands.bits == there
    hands.step(1)
    assert hands.bits == [bits(simulated(7).world)]


def test_a_cycle_that_fails_on_the_way_leaves_the_last_good_one(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    hands.step(9)
    branch = hands.moment.branch
    del hands.thread.session.timeline._branches[branch].states[1:]
    run_cycle = Simulator._run_cycle

    def failing(simulator: Simulator, *, again: bool = False) -> None:
        if simulator.world.cycle == 4:
            raise ProcessFailure("droplets", 1, 1)
        run_cycle(simulator, again=again)

    with monkeypatch.context() as patch:
        patch.setattr(Simulator, "_run_cycle", failing)
        hands.thread.ask(GoTo(branch, 8))
        hands.thread.ask(Change({"droplets.count": 9}))
        hands.wait(lambda: hands.thread.status.state == "failed")
        assert hands.thread.status.cycle == 4
    hands.wait(lambda: hands.thread.scenes[0].droplets.count == 9)  # what waited is done there
    hands.thread.ask(Run())
    hands.wait(lambda: hands.thread.status.cycle > 5)
    hands.ask(GoTo(branch, 3), Arrived)
    assert hands.bits == [bits(simulated(3).world)]


def test_what_is_asked_on_the_way_keeps_its_order(hands: Hands) -> None:
    hands.step(30)
    del hands.thread.session.timeline._branches[hands.moment.branch].states[1:]
    hands.thread.ask(GoTo(hands.moment.branch, 25))
    hands.thread.ask(Change({"droplets.count": 21}))
    hands.thread.ask(Run())
    hands.thread.ask(Pause())
    hands.thread.ask(Change({"droplets.count": 22}))
    hands.wait(lambda: hands.thread.scenes[0].droplets.count == 22)
    hands.settle()
    assert hands.thread.scenes[0].droplets.count == 22
    assert hands.thread.status.state == "paused"


def test_a_run_of_snowballs_on_the_way_is_not_cut_short(hands: Hands) -> None:
    hands.step(2)
    hands.ask(RollSnowballs(3000), Edited)
    hands.wait(lambda: hands.thread.status.snowball_run is None and hands.thread.status.cycle > 4)
    hands.step(2)
    end, there = hands.moment, hands.bits
    del hands.thread.session.timeline._branches[end.branch].states[1:]
    hands.thread.ask(GoTo(end.branch, end.cycle, end.edits))
    hands.thread.ask(CancelSnowballs())
    hands.wait(lambda: hands.thread.status.timeline.target is None and hands.moment == end)
    hands.settle()
    assert hands.bits == there


def test_one_steps_back_past_a_blur(hands: Hands) -> None:
    hands.step(5)
    there = hands.bits
    hands.ask(Blur(), Edited)
    hands.ask(GoTo(hands.moment.branch, 5), Arrived)
    assert hands.moment == Moment(1, 5, 1)
    assert hands.bits == there
    hands.ask(GoTo(1, 6), Arrived)
    assert hands.moment == Moment(1, 6, 2)


def test_a_change_to_what_is_there_already_is_none(hands: Hands) -> None:
    hands.step(4)
    hands.ask(GoTo(hands.moment.branch, 2), Arrived)
    hands.thread.ask(Change({"droplets.count": hands.thread.scenes[0].droplets.count}))
    hands.settle()
    assert hands.timeline.branches.keys() == {1}


def test_thousands_of_states_on_disk_are_not_as_many_open_files(tmp_path: Path) -> None:
    simulator = simulated(1)
    kept = [StoredWorld.of(simulator) for _ in range(40)]
    before = open_files()
    for state in kept:
        spill(list(state.layers.values()))
    if before:
        assert open_files() < before + 10
    assert bits(kept[7].simulator().world) == bits(simulator.world)
    files = len(list(scratch_folder().glob("*.states")))
    del kept, state
    assert len(list(scratch_folder().glob("*.states"))) <= files - 39


def open_files() -> int:
    """Of this process; 0 where the system does not list them."""
    listed = Path("/proc/self/fd")
    return len(list(listed.iterdir())) if listed.is_dir() else 0


def test_states_are_compressed_by_as_many_threads_as_kernels_have(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, encode = [], imagecodecs.blosc_encode

    def spied(*arguments: Any, **options: Any) -> Any:
        asked.append(options["numthreads"])
        return encode(*arguments, **options)

    monkeypatch.setattr(imagecodecs, "blosc_encode", spied)
    monkeypatch.setattr(numba, "get_num_threads", lambda: 3)
    array = np.arange(200_000.0).reshape(400, 500)
    assert (Compressed(array).array() == array).all()
    assert asked == [3]
