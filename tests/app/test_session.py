"""A session that is stepped without a thread: what waits, for what, and in which order it is done."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.engine.backlog import Backlog
from app.engine.messages import (
    Arrived,
    Edited,
    FrameBegan,
    GoTo,
    Moment,
    Opened,
    Pause,
    Refused,
    Report,
    Request,
    Run,
    Save,
    Saved,
    SaveFailed,
    Step,
    Stopped,
)
from app.engine.readiness import Readiness
from app.engine.session import Session
from app.engine.session_state import Mode
from app.files import checkpoint
from app.model.world import World
from app.processes.droplets import DropletErosion
from app.scene.edits import Blur, Change, Copy, Keep, Open, Refine, Stroke
from app.scene.scene import Scene
from tests.app.small import bits, simulated, small_scene


class Steps:
    """A session, what it reported, and kernels that are ready but for those that are named."""

    def __init__(self, scene: Scene, monkeypatch: pytest.MonkeyPatch, *, paused: bool = False) -> None:
        self.reports: list[Report] = []
        self.compiling: set[str] = set()
        monkeypatch.setattr(Readiness, "is_ready", lambda _, build, simulator: build not in self.compiling)
        self.session = Session((scene,), self.reports.append, paused=paused)
        self.session.showing.first_picture_shown.set()
        self.ask(Open((scene,)))

    def ask(self, *requests: Request) -> None:
        for request in requests:
            self.session.ask(request)

    def step(self, times: int = 1) -> None:
        for _ in range(times):
            self.session.step()

    def scene(self, world: int = 0) -> Scene:
        assert self.session.lockstep is not None
        return self.session.lockstep.scenes[world]

    @property
    def cycle(self) -> int:
        assert self.session.lockstep is not None
        return self.session.lockstep.cycle

    def heard(self, kind: type) -> list[object]:
        return [getattr(report, "request", None) for report in self.reports if isinstance(report, kind)]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(small_scene(), monkeypatch)


def test_modes_follow_from_what_is_asked(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    session = steps.session
    assert Session((), steps.reports.append).mode is Mode.EMPTY
    assert session.mode is Mode.CYCLES
    steps.step(3)
    assert steps.cycle == 3
    steps.ask(Pause())
    assert session.mode is Mode.PAUSED
    steps.step(3)
    assert steps.cycle == 3
    steps.ask(Step(), Step())
    steps.step(3)
    assert (steps.cycle, session.mode) == (5, Mode.PAUSED)
    steps.ask(GoTo(session.timeline.now.branch, 2))
    assert session.mode is Mode.TRAVEL
    steps.step(4)
    assert (steps.cycle, session.mode) == (2, Mode.PAUSED)

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("app.engine.lockstep.Lockstep.advance", fail)
        steps.ask(Run())
        steps.step()
    assert (session.mode, len(steps.heard(Stopped))) == (Mode.FAILED, 1)
    steps.ask(Run())
    steps.step()
    assert (steps.cycle, session.mode) == (3, Mode.CYCLES)


def test_cycles_follow_the_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(small_scene(simulation__cycles_per_frame=2, simulation__frames_per_cycle=3), monkeypatch)
    for frames, cycles in ((2, 0), (1, 2), (7, 6), (2, 8)):
        steps.ask(FrameBegan(frames))
        steps.step(9)
        assert steps.cycle == cycles


def test_what_is_asked_on_the_way_to_a_moment_is_done_there_in_its_order(steps: Steps, tmp_path: Path) -> None:
    steps.step(6)
    path = tmp_path / "there.npz"
    branch = steps.session.timeline.now.branch
    steps.ask(GoTo(branch, 4, pause=False), Change({"droplets.count": 90}), Copy(0), Change({"droplets.count": 50}, 1))
    steps.ask(Blur(), Save(path), Pause())
    assert len(steps.reports) == 1, "nothing is done on the way"
    steps.step(9)
    assert [type(report) for report in steps.reports] == [Opened, Arrived, Edited, Edited, Saved]
    assert steps.session.mode is Mode.PAUSED
    assert [scene.droplets.count for scene in steps.session.status.scenes] == [90, 50]
    world, scene = checkpoint.load(path)
    assert (world.cycle, scene.droplets.count) == (5, 90)  # smoothing is a cycle


def test_another_land_refuses_what_waits(steps: Steps) -> None:
    steps.step(3)
    copy, pause, other = Copy(0), Pause(), Open((small_scene(world__seed=5),))
    steps.ask(GoTo(steps.session.timeline.now.branch, 1, pause=False), copy, pause, other)
    assert steps.heard(Refused) == [copy, pause]
    assert steps.session.pace_requests_answered == 1
    steps.step(2)
    assert steps.session.mode is Mode.CYCLES and steps.scene().world.seed == 5


def test_a_world_that_is_gone_is_not_saved(steps: Steps, tmp_path: Path) -> None:
    """The window asks for the second of two, while another land is being opened."""
    steps.ask(Save(tmp_path / "second.npz", world=1))
    steps.step()
    assert steps.reports[-1] == SaveFailed(tmp_path / "second.npz", "the world to save is no longer there")


def test_a_change_waits_for_kernels_and_no_other_change_for_it(steps: Steps) -> None:
    steps.step()
    steps.compiling = {"plants", "weathering"}
    steps.ask(Change({"plants.enabled": True, "droplets.count": 61}), Change({"weathering.enabled": True}))
    steps.ask(Change({"weathering.enabled": False}), Change({"droplets.friction": 0.07}))
    steps.step(5)
    assert steps.cycle == 6 and steps.session.status.state == "running"
    assert steps.scene().droplets.friction == 0.07
    assert (steps.scene().plants.enabled, steps.scene().droplets.count) == (False, 60), "a change is made as a whole"
    shown = steps.session.status.scenes[0]
    assert shown.plants.enabled and shown.droplets.count == 61 and not shown.weathering.enabled
    steps.compiling = set()
    steps.step()
    assert steps.scene() == shown


def test_kernels_that_are_no_longer_needed_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(small_scene(plants__enabled=True), monkeypatch)
    steps.compiling = {"plants"}
    steps.step()
    assert (steps.cycle, steps.session.status.state) == (0, "compiling")
    steps.ask(Change({"plants.enabled": False}))
    steps.step()
    assert (steps.cycle, steps.session.status.state) == (1, "running")


def test_a_change_that_waits_goes_with_its_world(steps: Steps) -> None:
    steps.ask(Copy(0))
    steps.step()
    steps.compiling = {"plants"}
    steps.ask(Change({"plants.enabled": True}, 1), Copy(1), Keep((2, 0)))
    assert [scene.plants.enabled for scene in steps.session.status.scenes] == [True, False]
    steps.compiling = set()
    steps.step()
    assert [steps.scene(world).plants.enabled for world in (0, 1)] == [True, False]


def test_strokes_wait_for_kernels_in_their_order(steps: Steps) -> None:
    steps.step()
    first = Stroke("erode", ((10.0, 10.0, 1.0),), 20.0, 1.0, number=1)
    later = Stroke("raise", ((10.0, 10.0, 1.0),), 20.0, 1.0, number=2)
    assert steps.session.lockstep is not None
    steps.ask(Pause())
    steps.session.lockstep.simulators[0].prepared.clear()
    steps.compiling = {"droplets"}
    steps.ask(first, later, Copy(0))
    steps.step(2)
    edits = [edit.request for edit in steps.session.timeline.edits_of(steps.session.timeline.now)]
    assert edits[1:] == [Copy(0)], "what is no stroke does not wait for strokes"
    steps.compiling = set()
    steps.step()
    assert steps.heard(Edited) == [Copy(0), first, later]
    steps.compiling = {"droplets"}
    for simulator in steps.session.lockstep.simulators:
        simulator.prepared.clear()
    steps.ask(first, GoTo(steps.session.timeline.now.branch, 0))
    assert steps.heard(Refused) == [first], "it was meant for the worlds before"


def test_what_each_of_two_strokes_left_is_stored_also_where_nothing_was_shown_between_them(steps: Steps) -> None:
    steps.step(2)
    steps.ask(Pause())
    timeline, moments = steps.session.timeline, []
    for number in (1, 2):
        moments.append(timeline.now)
        steps.ask(Stroke("raise", ((10.0, 10.0, 1.0),), 20.0, 1.0, number=number))
    steps.step()
    assert len({*moments, timeline.now}) == 3
    assert all(timeline.start_for(moment).moment == moment for moment in moments)  # type: ignore[union-attr]


def begin_a_stroke(steps: Steps) -> Moment:
    """Returns the moment that it leaves."""
    steps.step(3)
    steps.ask(Pause())
    left = steps.session.timeline.now
    steps.ask(Stroke("raise", ((10.0, 10.0, 1.0),), 20.0, 1.0, number=1))
    return left


def test_no_state_is_stored_of_cycles_that_a_failure_took_back(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    left = begin_a_stroke(steps)
    assert steps.session.lockstep is not None
    steps.session.lockstep.worlds[0].water[3, 4] = np.nan

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(DropletErosion, "step", fail)  # nor can the cycles be run again
    steps.step()
    assert steps.session.mode is Mode.FAILED and steps.cycle < left.cycle
    stored = [state.moment.cycle for state in steps.session.timeline.seen(None).states_of(left.branch)]
    assert stored and max(stored) <= steps.cycle


def test_an_unsound_state_that_a_stroke_leaves_is_not_stored(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    step = DropletErosion.step

    def unsound(self: DropletErosion, world: World, *rest: Any) -> Collection[str] | None:
        changed = step(self, world, *rest)
        if world.cycle == 2:
            world.water[3, 4] = np.nan
        return changed

    with monkeypatch.context() as patch:
        patch.setattr(DropletErosion, "step", unsound)
        left = begin_a_stroke(steps)
    steps.step()
    assert (steps.session.mode, steps.cycle) == (Mode.FAILED, left.cycle), "the cycle is sound when it is run again"
    assert left not in [state.moment for state in steps.session.timeline.seen(None).states_of(left.branch)]
    assert "a state that was left cannot be kept: it is not sound" in caplog.messages


def test_the_last_value_of_a_parameter_counts() -> None:
    backlog = Backlog()
    backlog.add(Change({"a": 1, "b": 1}))
    backlog.add(Change({"a": 2}, 1))
    backlog.supersede(Change({"b": 3}, 0))
    assert backlog.changes == [Change({"a": 1, "b": 1}), Change({"a": 2}, 1)], "world 1 still has its value to come"
    assert backlog.holds_up(Change({"b": 3}, 0))
    backlog.supersede(Change({"a": 4}))
    assert backlog.changes == [Change({"b": 1})]
    assert not backlog.holds_up(Change({"a": 4}))


def test_sessions_and_simulators_come_to_the_same_bits(steps: Steps) -> None:
    steps.step(7)
    steps.ask(Pause(), Refine(2))
    steps.step()
    assert steps.session.lockstep is not None
    assert bits(steps.session.lockstep.worlds[0]) == bits(simulated(7).refined(2).world)
