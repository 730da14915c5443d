"""Two worlds compared: what they share, what differs, and that they run in step, each as it would alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from app.engine.creation import create_world, create_worlds
from app.engine.lockstep import Lockstep
from app.engine.messages import FrameBegan, OpenFailed, Refused, Run, Save, Saved, Step, Stopped, Watch
from app.engine.simulator import SimulationError, Simulator
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.files.opening import open_comparison, open_scene
from app.model.errors import UserError
from app.model.layers import LOOSE
from app.model.snapshot import Snapshot
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion
from app.scene.comparison import MOST_LISTED, differences, labels, with_compared_of
from app.scene.edits import Change, Copy, Keep, Open
from app.scene.scene import DECLARATIONS, GROUPS, Scene, makes_world
from tests.app.small import Heard, bits, heard, simulated, small_scene
from tests.app.test_simulation import WATER_OF_A_DROP, running, shown
from tests.waiting import wait_for

ONE = small_scene()
OTHER = small_scene(droplets__evaporation=0.01, droplets__count=90)


def lockstep(*scenes: Scene, threads: int | None = None) -> Lockstep:
    return Lockstep([Simulator(scene, world, threads) for world, scene in map(create_world, scenes)])


# What they share.

RANGE = small_scene(world__source="range", world__columns=48, world__rows=40)


def test_climate_and_processes_differ_and_all_else_is_shared() -> None:
    preset = open_scene("dune-field")
    mixed = with_compared_of(ONE, preset)
    for path in DECLARATIONS:
        may_differ = GROUPS[path.partition(".")[0]].section in ("climate", "processes", "rivers")
        assert mixed.value(path) == (preset if may_differ else ONE).value(path), path
    assert differences(mixed, preset) == {}
    assert with_compared_of(ONE.with_values(differences(ONE, preset)), mixed) == mixed
    assert differences(ONE, preset).keys() >= {"wind.enabled", "droplets.enabled"}


def test_second_scene_from_words(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[world]\ncolumns = 9\n[droplets]\nfriction = 0.3\n")
    second = open_comparison(ONE, [str(tmp_path / "mine.toml"), "droplets.density=2", "wind.enabled=true"])
    assert second.world == ONE.world
    assert (second.droplets.friction, second.droplets.density, second.wind.enabled) == (0.3, 2.0, True)
    assert second.droplets.count == Scene().droplets.count  # all processes are those of the preset
    assert second.name == "mine"
    checkpoint.save(tmp_path / "world.npz", simulated(1, OTHER).world, OTHER)
    second = open_comparison(ONE, [str(tmp_path / "world.npz")])
    assert second.droplets == OTHER.droplets
    assert not second.saved_world


def test_compared_ranges_begin_with_the_same_land_and_age() -> None:
    rising = RANGE.with_values({"geology.enabled": True, "geology.age": 2e6, "geology.uplift": 2.0})
    assert with_compared_of(RANGE, rising).geology == msgspec.structs.replace(rising.geology, age=RANGE.geology.age)
    at_rest = rising.with_value("geology.enabled", False)
    assert with_compared_of(RANGE, at_rest).geology == RANGE.geology, "it would act on nothing but the land's beginning"
    for scene in (rising, at_rest):
        assert with_compared_of(RANGE.with_values(differences(RANGE, scene)), scene) == with_compared_of(RANGE, scene)
    with pytest.raises(UserError, match=r"geology\.age=3e6: worlds that are compared share it"):
        open_comparison(rising, ["geology.age=3e6"])
    with pytest.raises(UserError, match=r"geology\.uplift=1: worlds that are compared share it"):
        open_comparison(RANGE, ["geology.uplift=1"])
    other = open_comparison(RANGE, ["geology.uplift=3", "geology.enabled=true"])
    first, second = create_worlds([RANGE, other], lambda rows, columns: None)
    assert first[0].ground.tobytes() == second[0].ground.tobytes()
    assert first[0].years == second[0].years == RANGE.geology.age
    assert second[1] == other


def test_what_acts_on_nothing_but_the_beginning_of_a_range_makes_its_world() -> None:
    rising = RANGE.with_value("geology.enabled", True)
    for path, makes in {
        "geology.enabled": (False, False, False),
        "geology.age": (True, True, True),
        "geology.uplift": (True, False, False),
        "geology.every": (False, False, False),
        "geology.settling_length": (False, False, False),  # there is no sea
        "keys.geology.uplift": (True, False, False),
        "droplets.count": (False, False, False),
        "world.seed": (True, True, True),
    }.items():
        assert tuple(makes_world(scene, path) for scene in (RANGE, rising, ONE)) == makes, path


def test_worlds_may_begin_with_other_strata_and_soils_on_the_same_heights() -> None:
    """Also where rivers have worn the land before: all have that of the first."""
    first = small_scene(materials__enabled=True, materials__strata="sandstone 20; granite", world__worn=2e4)
    words = ["materials.strata=clay 20; granite", "soil.gravel=0.5 * (x > 0.5)", "droplets.count=80"]
    second = open_comparison(first, words)
    (one, _), (other, scene) = create_worlds([first, second], lambda rows, columns: None)
    np.testing.assert_allclose(one.ground, other.ground, rtol=1e-12)
    assert [world.materials.rocks[0].name for world in (one, other) if world.materials] == ["sandstone", "clay"]
    gravel = other.layers[LOOSE + "gravel"]
    assert one.layers[LOOSE + "gravel"].max() == 0.0 and gravel[:, :20].max() == 0.0 and gravel[:, 20:].min() == 0.5
    assert scene.droplets.count == 80
    assert [label[1:3] for label in labels([first, second])] == [
        ("materials: strata sandstone 20; granite", "soil: gravel none"),
        ("materials: strata clay 20; granite", "soil: gravel 0.5 * (x > 0.5)"),
    ]
    assert with_compared_of(first, second).materials == first.materials, "a preset is put on the ground that is there"
    saved = msgspec.structs.replace(first, saved_world="kept.npz")
    with pytest.raises(UserError, match=r"materials.dip=3: .* is a saved world, which keeps the ground"):
        open_comparison(saved, ["materials.dip=3"])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("world.seed=3", "world.seed=3: worlds that are compared share it"),
        ("view.haze=0", "only climate, processes, rivers, materials and soil can differ"),
        ("droplets.evaporation=9", "droplets.evaporation = 9: must be from"),
        ("droplets.evaporating=0.1", "did you mean 'droplets.evaporation'?"),
        ("jacksboro.npz", "jacksboro.npz: it has land but no parameters of processes"),
        ("nois", "did you mean 'noise'?"),
    ],
)
def test_words_that_do_not_make_a_second_scene(word: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        open_comparison(ONE, [word])
    assert message in str(raised.value)


def test_labels_tell_what_has_an_effect() -> None:
    assert labels([ONE]) == [()]
    assert labels([ONE, ONE]) == [("A",), ("B",)]
    assert labels([ONE, ONE.with_values({"droplets.evaporation": 0.01, "wind.suspension": 0.005})]) == [
        ("A", "droplets: evaporation 0.001 1/t"),
        ("B", "droplets: evaporation 0.01 1/t"),
    ]  # the wind does not blow
    hot, cold = (ONE.with_value("climate.temperature", degrees) for degrees in (30.0, -5.0))
    assert [label[1] for label in labels([ONE, hot, cold])] == [
        f"climate: temperature {degrees} °C" for degrees in ("15", "30", "-5")
    ]
    without = ONE.with_values({"droplets.enabled": False, "droplets.friction": 0.3})
    assert labels([ONE, without]) == [("A", "droplets on"), ("B", "droplets off")]
    named = with_compared_of(open_scene("noise"), open_scene("dune-field"))
    one, other = labels([open_scene("noise"), named])
    assert (one[0], other[0]) == ("A   noise", "B   dune-field")
    paths = ["count", "friction", "density", "minimum_volume", "longest_path", "deposition_rate"]
    many = ONE.with_values({f"droplets.{name}": ONE.value(f"droplets.{name}") * 2 for name in paths})  # type: ignore[operator]
    for label in labels([ONE, many]):
        assert len(label) == MOST_LISTED + 2
        assert label[-1] == "and 2 more"


# In step.


@pytest.mark.parametrize("threads", [1, 2])
def test_each_world_is_as_it_would_be_alone(threads: int) -> None:
    large = {"world__columns": 150, "world__rows": 130}
    one = small_scene(**large, droplets__count=400)
    other = small_scene(
        **large, droplets__count=300, droplets__evaporation=0.01, cascade__enabled=True, pools__enabled=True
    )
    both = lockstep(one, other, threads=threads)
    for _ in range(6):
        both.advance()
    both.verify()
    assert [world.cycle for world in both.worlds] == [6, 6]
    for scene, world in zip((one, other), both.worlds, strict=True):
        assert bits(world) == bits(simulated(6, scene, 1).world)
    assert bits(both.worlds[0]) != bits(both.worlds[1])


def test_a_change_of_one_leaves_the_other_alone() -> None:
    both = lockstep(ONE, ONE)
    for _ in range(3):
        both.advance()
    both.change([ONE, OTHER])
    both.advance()
    one, other = both.worlds
    assert bits(one) == bits(simulated(4).world)
    alone = simulated(3)
    alone.change(OTHER)
    alone.advance()
    assert bits(other) == bits(alone.world)


def raise_value_error(world: World) -> None:
    raise ValueError("a shovel broke")


def write_nan(world: World) -> None:
    world.sediment[9, 11] = float("nan")


@contextmanager
def failing(
    monkeypatch: pytest.MonkeyPatch, count: int, failure: Callable[[World], None], cycle: int = 7
) -> Iterator[None]:
    """In cycle 7, let the world on which so many drops fall fail."""
    rain = DropletErosion.step

    def fail(self: DropletErosion, world: World, parameters: Any, now: Cycle) -> None:
        rain(self, world, parameters, now)
        if world.cycle == cycle and parameters.count == count:
            failure(world)

    with monkeypatch.context() as patch:
        patch.setattr(DropletErosion, "step", fail)
        yield


@pytest.mark.parametrize("seconds_between_backups", [0.0, 100.0])
@pytest.mark.parametrize("failure", [raise_value_error, write_nan])
@pytest.mark.parametrize(("letter", "count"), [("A", 60), ("B", 90)])
def test_failure_of_one_takes_both_to_the_last_good_cycle(
    letter: str,
    count: int,
    failure: Callable[[World], None],
    seconds_between_backups: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.engine.backup.SECONDS_BETWEEN_BACKUPS", seconds_between_backups)
    monkeypatch.setattr("app.engine.backup.LARGEST_COST", float("inf"))
    good = [bits(simulated(7, scene).world) for scene in (ONE, OTHER)]
    both = lockstep(ONE, OTHER)
    with failing(monkeypatch, count, failure):
        with pytest.raises(SimulationError) as raised:
            for _ in range(12):  # a value that is not finite is noticed some cycles later
                both.advance()
            both.verify()
        assert str(raised.value).startswith(f"{letter}: droplets")
        assert str(raised.value).endswith("stopped after cycle 7")
        assert [bits(world) for world in both.worlds] == good
    for _ in range(3):  # and they can go on
        both.advance()
    assert [bits(world) for world in both.worlds] == [bits(simulated(10, scene).world) for scene in (ONE, OTHER)]


def test_lakes_are_those_of_the_last_good_cycle_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.backup.SECONDS_BETWEEN_BACKUPS", 0.0)
    monkeypatch.setattr("app.engine.backup.LARGEST_COST", float("inf"))
    lakes = {"pools__enabled": True, "edges__water": "wall", "pools__evaporation": 0.0}
    scenes = small_scene(**lakes), small_scene(**lakes, droplets__count=90)
    good = [simulated(7, scene) for scene in scenes]
    for simulator in good:
        simulator.derive_levels()
    both = lockstep(*scenes)
    with failing(monkeypatch, 90, write_nan), pytest.raises(SimulationError, match=r"^B: .*stopped after cycle 7$"):
        for _ in range(12):
            both.advance()
    assert [bits(world) for world in both.worlds] == [bits(simulator.world) for simulator in good]
    for _ in range(3):
        both.advance()
    assert [bits(world) for world in both.worlds] == [bits(simulated(10, scene).world) for scene in scenes]


def test_the_earlier_of_two_failures_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody has noticed it yet, because no drop reads what is not finite."""

    def write_nan_to_water(world: World) -> None:
        world.water[9, 11] = float("nan")

    both = lockstep(ONE, OTHER)
    with (
        failing(monkeypatch, 60, raise_value_error, cycle=8),
        failing(monkeypatch, 90, write_nan_to_water, cycle=5),
        pytest.raises(SimulationError, match=r"^B: .*stopped after cycle 5$"),
    ):
        for _ in range(9):
            both.advance()
    assert [bits(world) for world in both.worlds] == [bits(simulated(5, scene).world) for scene in (ONE, OTHER)]


# The thread.


def take_both(thread: SimulationThread) -> tuple[Snapshot, ...]:
    return wait_for(thread.take, "snapshots")


def after(thread: SimulationThread, cycle: int) -> tuple[Snapshot, ...]:
    """Snapshots of a cycle."""
    found = wait_for(lambda: (taken := thread.take()) and taken[0].cycle == cycle and taken, f"cycle {cycle}")
    assert isinstance(found, tuple)
    return found


def of_worlds(thread: SimulationThread, count: int) -> tuple[Snapshot, ...]:
    """Snapshots of so many worlds."""
    found = wait_for(lambda: (taken := thread.take()) and len(taken) == count and taken, f"{count} worlds")
    assert isinstance(found, tuple)
    return found


def answer(thread: SimulationThread, kind: type[Heard]) -> Heard:
    """The first report of a kind."""
    return wait_for(lambda: heard(thread, kind), kind.__name__)[0]


def test_snapshots_are_of_the_same_cycle_and_as_of_worlds_alone() -> None:
    seen: dict[int, list[object]] = {}
    with running(ONE, OTHER) as thread:
        while len(seen) < 5:
            one, other = take_both(thread)
            assert one.cycle == other.cycle
            assert one.world != other.world
            seen[one.cycle] = [shown(one), shown(other)]
    alone = [simulated(0, scene) for scene in (ONE, OTHER)]
    for cycle in range(max(seen) + 1):
        if cycle in seen:
            assert seen[cycle] == [bits(simulator.world)["shown"] for simulator in alone], cycle
        for simulator in alone:
            simulator.advance()


def test_pause_step_pace_and_change_act_on_both_or_one() -> None:
    with running(ONE, OTHER, paused=True) as thread:
        assert [snapshot.cycle for snapshot in take_both(thread)] == [0, 0]
        thread.ask(Change({"droplets.count": 70}, 1))
        thread.ask(Step())
        one, other = take_both(thread)
        assert (one.cycle, other.cycle) == (1, 1)
        assert one.ledger.water.gained["rain"] == pytest.approx(60 * WATER_OF_A_DROP)
        assert other.ledger.water.gained["rain"] == pytest.approx(70 * WATER_OF_A_DROP)
        thread.ask(Change({"droplets.count": 80}))
        thread.ask(Step())
        one, other = take_both(thread)
        assert one.ledger.water.gained["rain"] == pytest.approx((60 + 80) * WATER_OF_A_DROP)
        assert other.ledger.water.gained["rain"] == pytest.approx((70 + 80) * WATER_OF_A_DROP)
        thread.ask(Change({"simulation.cycles_per_frame": 3}))
        thread.ask(Run())
        wait_for(lambda: thread.status.state == "running", "running")
        thread.ask(FrameBegan())
        wait_for(lambda: thread.status.cycle == 5, "three cycles for a frame")
        assert set(thread.status.milliseconds) == {"droplets"}


def test_from_one_to_two_and_back_to_either() -> None:
    with running(ONE, paused=True) as thread:
        (alone,) = take_both(thread)
        for kept in (0, 1):
            thread.ask(Open((ONE, OTHER)))
            both = take_both(thread)
            assert [snapshot.cycle for snapshot in both] == [0, 0]
            assert alone.world not in [snapshot.world for snapshot in both]
            thread.ask(Step())
            both = after(thread, 1)
            last = [shown(snapshot) for snapshot in both]
            thread.ask(Keep((kept,)))
            (alone,) = take_both(thread)
            assert (alone.world, alone.cycle) == (both[kept].world, 1)
            assert shown(alone) == last[kept]
            assert thread.scenes == ((ONE, OTHER)[kept],)
            thread.ask(Step())
            (alone,) = take_both(thread)
            assert shown(alone) == bits(simulated(2, (ONE, OTHER)[kept]).world)["shown"]


def test_worlds_that_cannot_be_made_leave_the_one_that_is_there(tmp_path: Path) -> None:
    with running(ONE, paused=True) as thread:
        (alone,) = take_both(thread)
        missing = ONE.with_value("world.source", str(tmp_path / "none.tif"))
        thread.ask(Open((missing, missing)))
        thread.ask(Change({"droplets.count": 61}, 1))
        thread.ask(Keep((1,)))
        assert "there is no such file" in answer(thread, OpenFailed).why
        thread.ask(Step())
        (snapshot,) = after(thread, 1)
        assert snapshot.world == alone.world
        assert shown(snapshot) == bits(simulated(1).world)["shown"]


@pytest.mark.parametrize("failure", [raise_value_error, write_nan])
def test_thread_shows_the_last_good_states_of_both(
    failure: Callable[[World], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [bits(simulated(7, scene).world)["shown"] for scene in (ONE, OTHER)]
    with failing(monkeypatch, 90, failure), running(ONE, OTHER) as thread:
        last: tuple[Snapshot, ...] = ()

        def failed() -> bool:
            nonlocal last
            last = thread.take() or last
            return thread.status.state == "failed" and bool(last) and last[0].cycle == 7

        wait_for(failed, "the last good cycle of both")
        assert [shown(snapshot) for snapshot in last] == good
        assert thread.status.error.startswith("B: ")
        assert heard(thread, Stopped) == [thread.status.stopped]


def test_either_world_is_saved(tmp_path: Path) -> None:
    with running(ONE, OTHER, paused=True) as thread:
        take_both(thread)
        thread.ask(Step())
        take_both(thread)
        for world, scene in enumerate((ONE, OTHER)):
            thread.ask(Save(tmp_path / f"{world}.npz", world=world))
            answer(thread, Saved)
            saved, kept = checkpoint.load(tmp_path / f"{world}.npz")
            assert kept == scene
            assert bits(saved) == bits(simulated(1, scene).world)


# Copies.


def test_a_copy_is_the_same_world_and_goes_on_as_it_would() -> None:
    scene = small_scene(
        pools__enabled=True, moisture__enabled=True, plants__enabled=True, materials__enabled=True, wind__enabled=True
    )
    simulator = simulated(9, scene)
    both = Lockstep([simulator]).with_copy(0)
    one, other = both.worlds
    assert bits(one) == bits(other)
    assert not any(np.shares_memory(one.layers[name], other.layers[name]) for name in one.layers)
    for _ in range(5):
        both.advance()
    assert bits(one) == bits(other) == bits(simulated(14, scene).world)
    changed = [scene, scene.with_value("droplets.count", 90)]
    both.change(changed)
    both.advance()
    assert bits(one) == bits(simulated(15, scene).world)
    assert bits(one) != bits(other)


def test_copies_come_and_go_while_it_runs() -> None:
    with running(ONE, paused=True) as thread:
        take_both(thread)
        for _ in range(3):
            thread.ask(Step())
        (alone,) = after(thread, 3)
        for count in (2, 3, 4):
            thread.ask(Copy(0))
            worlds = of_worlds(thread, count)
        assert len({world.world for world in worlds}) == 4
        assert worlds[0].world == alone.world
        assert {world.cycle for world in worlds} == {3}
        thread.ask(Copy(0))
        refused = answer(thread, Refused)
        assert refused.why == "4 worlds are compared already; there can be no more"
        thread.ask(Change({"droplets.count": 90}, 2))
        thread.ask(Step())
        numbers = [world.world for world in worlds]
        worlds = after(thread, 4)
        same = shown(worlds[0])
        assert [shown(world) == same for world in worlds] == [True, True, False, True]
        thread.ask(Keep((2, 3)))
        worlds = of_worlds(thread, 2)
        assert [world.world for world in worlds] == numbers[2:]
        assert [scene.droplets.count for scene in thread.scenes] == [90, 60]


def test_a_copy_that_memory_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(ONE, paused=True) as thread:
        take_both(thread)
        monkeypatch.setattr("app.engine.memory.free_memory", lambda: 1000.0)
        thread.ask(Copy(0))
        refused = answer(thread, Refused)
        assert "memory" in refused.why
        assert len(thread.scenes) == 1


def test_the_difference_of_grounds_is_a_layer_while_it_is_looked_at() -> None:
    with running(ONE, OTHER, paused=True) as thread:
        take_both(thread)
        thread.ask(Step())
        thread.ask(Watch("difference"))
        one, other = wait_for(
            lambda: (taken := thread.take()) and "difference" in taken[0].layers and taken[0].cycle == 1 and taken,
            "the difference",
        )
        expected = other.ground(dtype=np.float64) - one.ground(dtype=np.float64)
        assert np.abs(expected).max() > 0.0
        np.testing.assert_allclose(other.layers["difference"], expected, atol=1e-3)
        np.testing.assert_array_equal(one.layers["difference"], -other.layers["difference"])
        thread.ask(Keep((1,)))
        wait_for(lambda: (taken := thread.take()) and "difference" not in taken[0].layers, "no difference")
