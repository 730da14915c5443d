"""What a session leaves when it is killed at any moment: nothing, or a whole world with its journal."""

from __future__ import annotations

import math
import os
import random
import signal
import sys
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.engine import session_writer, thread
from app.engine.autosave import MOST_SESSIONS, SessionFolder, ended_sessions
from app.engine.messages import Arrived, Edited, GoTo, Look, SessionFailed, Step
from app.engine.stored_world import StoredWorld
from app.files import checkpoint
from app.files.journal import Journal
from app.files.opening import read_journal
from app.model.errors import UserError
from app.model.view_parameters import CameraParameters, ViewParameters
from app.model.world import World
from app.processes.droplets import DropletErosion
from app.scene.edits import Blur, Copy, Edit, Open
from app.scene.scene import Scene
from app.window.sessions import LATER, Sessions
from tests.app.hands import Hands
from tests.app.small import bits, simulated, small_scene
from tests.nets.profile import is_nightly
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow  # programs are started

MOST_WRITES = 40  # after which a session has been written twice


def left_by(folder: Path, cycles: int) -> SessionFolder:
    """A session with one world, which is not closed."""
    session = SessionFolder(folder)
    simulator = simulated(cycles)
    session.write("hills", [StoredWorld.of(simulator)], Journal((Edit(0, Open((simulator.scene,))),), cycles))
    return session


def end_without_closing(session: SessionFolder) -> None:
    """As a kill does."""
    os.close(session._lock)


def test_a_session_that_ended_is_found_and_one_that_lives_is_not(tmp_path: Path) -> None:
    session = left_by(tmp_path, 3)
    assert ended_sessions(tmp_path) == []
    end_without_closing(session)
    (ended,) = ended_sessions(tmp_path)
    assert (ended.index.name, ended.index.cycle, ended.index.closed) == ("hills", 3, False)
    assert ended.scenes[0].name == "hills"
    world, _ = checkpoint.load(Path(ended.scenes[0].saved_world))
    assert bits(world) == bits(simulated(3).world)
    assert read_journal(Path(ended.scenes[0].saved_world)).cycle == 3


def test_one_that_was_closed_says_so_and_one_without_work_leaves_nothing(tmp_path: Path) -> None:
    left_by(tmp_path, 2).close()
    (ended,) = ended_sessions(tmp_path)
    assert ended.index.closed
    SessionFolder(tmp_path).close()
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_declined_is_not_offered_again_and_still_there(tmp_path: Path) -> None:
    end_without_closing(left_by(tmp_path, 2))
    ended_sessions(tmp_path)[0].settle()
    (ended,) = ended_sessions(tmp_path)
    assert ended.index.closed
    checkpoint.load(Path(ended.scenes[0].saved_world))


def test_only_the_newest_few_are_kept_and_each_holds_one_state(tmp_path: Path) -> None:
    for cycles in range(MOST_SESSIONS + 3):
        session = left_by(tmp_path, cycles)
        simulator = simulated(cycles)
        journal = Journal((Edit(0, Open((simulator.scene,))),), cycles)
        for _ in range(3):
            session.write("hills", [StoredWorld.of(simulator)], journal)
        end_without_closing(session)
    ended = ended_sessions(tmp_path)
    assert [session.index.cycle for session in ended] == list(range(MOST_SESSIONS + 2, 2, -1))
    assert all(len(list(session.folder.glob("*.npz"))) == 1 for session in ended)
    assert len(list(tmp_path.iterdir())) == MOST_SESSIONS


def test_what_a_person_edited_outlives_what_nobody_did(tmp_path: Path) -> None:
    world = simulated(1)
    opened, touched = Edit(0, Open((world.scene,))), Edit(1, Blur())
    session = SessionFolder(tmp_path)
    session.write("hills", [StoredWorld.of(world)], Journal((opened, touched), 1))
    end_without_closing(session)
    for _ in range(MOST_SESSIONS + 1):
        end_without_closing(left_by(tmp_path, 1))
    assert [session.index.edits for session in ended_sessions(tmp_path)] == [*[0] * (MOST_SESSIONS - 1), 1]


def test_one_that_is_still_in_use_at_the_start_is_offered_later(tmp_path: Path) -> None:
    session = left_by(tmp_path, 3)
    opened: list[Sequence[Scene]] = []
    taken_over: list[Path] = []
    sessions = Sessions(lambda: ended_sessions(tmp_path), opened.append, taken_over.append)
    sessions.offer()
    assert not sessions.listed
    end_without_closing(session)
    sessions.offer_later(LATER[0] / 2.0)
    assert not sessions.listed
    sessions.offer_later(LATER[0] + 0.1)
    (listed,) = sessions.listed
    sessions.resume(listed)
    assert [scene.name for scene in opened[0]] == ["hills"] and not sessions.listed
    sessions.offer_later(LATER[-1] + 0.1)
    assert not sessions.listed, "it was offered"
    sessions.worlds_came()
    assert len(taken_over) == 1
    assert ended_sessions(tmp_path)[0].index.closed


def writes(process: int) -> int:
    """How often it has written something."""
    told = dict(line.split(": ") for line in Path(f"/proc/{process}/io").read_text().splitlines())
    return int(told["syscw"])


@pytest.mark.skipif(sys.platform != "linux", reason="only there it is known what a process does")
def test_killed_at_any_moment_it_leaves_a_whole_world_or_the_one_before(tmp_path: Path) -> None:
    """At 20 moments, and at 200 in the night."""
    rng = random.Random(5)
    turns = 200 if is_nightly() else 20
    states = []
    for cycles in range(4):
        simulator = simulated(cycles, small_scene(world__columns=24, world__rows=20))
        states.append((StoredWorld.of(simulator), Journal((Edit(0, Open((simulator.scene,))),), cycles), simulator))
    there = [bits(simulator.world) for _, _, simulator in states]
    found = 0
    for turn in range(turns):
        child = os.fork()
        if child == 0:
            try:
                session = SessionFolder(tmp_path)
                number = 0
                while True:
                    kept, journal, _ = states[number % len(states)]
                    session.write("hills", [kept, kept][: 1 + number % 2], journal)
                    number += 1
            finally:
                os._exit(1)
        if turn % 4:
            wait_for(lambda: any(tmp_path.glob("*/session.json")), "a session", between=0.001)
        goal = writes(child) + rng.randrange(MOST_WRITES)
        wait_for(lambda child=child, goal=goal: writes(child) >= goal, "what it writes", between=0.0)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for session in ended_sessions(tmp_path):
            found += 1
            for scene in session.scenes:
                world, _ = checkpoint.load(Path(scene.saved_world))
                assert bits(world) == there[session.index.cycle]
                assert read_journal(Path(scene.saved_world)).cycle == session.index.cycle
            session.remove()
        for rest in tmp_path.iterdir():  # killed before anything was whole
            assert rest.is_dir()
    assert found >= 0.7 * turns


def test_a_thread_writes_its_work_with_view_and_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_writer, "SECONDS_BETWEEN_WRITES", 0.05)
    hands = Hands(small_scene(), folder=SessionFolder(tmp_path))
    try:
        view, camera = ViewParameters(sun_height=11.0), CameraParameters(heading=12.0)
        hands.thread.ask(Look(view, camera))
        hands.step(3)
        hands.ask(Blur(), Edited)
        hands.ask(Copy(0), Edited)
        hands.step(2)
        folder = next(tmp_path.iterdir())
        hands.wait(lambda: len(list(folder.glob("*.npz"))) == 2)
        assert not [report for report in hands.reports if isinstance(report, SessionFailed)]
        cycle = hands.thread.status.cycle
    finally:
        hands.thread.stop()
    (ended,) = ended_sessions(tmp_path)
    assert ended.index.closed and ended.index.cycle == cycle
    assert [scene.view for scene in ended.scenes] == [view, view]
    assert ended.scenes[0].camera == camera
    assert read_journal(Path(ended.scenes[1].saved_world)).cycle == cycle


def test_where_it_cannot_be_written_that_is_said_and_all_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_writer, "SECONDS_BETWEEN_WRITES", 0.01)
    session = SessionFolder(tmp_path)
    hands = Hands(small_scene(), folder=session)

    def full(*_: object, **__: object) -> None:
        raise UserError("no space is left there")

    monkeypatch.setattr(checkpoint, "save", full)
    try:
        hands.step(3)
        hands.wait(lambda: SessionFailed("no space is left there") in hands.reports)
        hands.step(3)
    finally:
        hands.thread.stop()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_without_a_place_to_write_there_is_no_session(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="cannot be kept"):
        SessionFolder(tmp_path)


def test_looking_back_does_not_put_the_past_in_place_of_the_work(tmp_path: Path) -> None:
    hands = Hands(small_scene(), folder=SessionFolder(tmp_path))
    try:
        hands.step(6)
        hands.ask(Blur(), Edited)
        hands.step(3)
        hands.ask(GoTo(hands.moment.branch, 2), Arrived)
    finally:
        hands.thread.stop()
    (ended,) = ended_sessions(tmp_path)
    assert ended.index.cycle == 10
    assert len(read_journal(Path(ended.scenes[0].saved_world)).edits) == 2


def test_a_cycle_that_is_running_comes_to_its_end_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(thread, "QUIET_END", 0.01)
    monkeypatch.setattr(session_writer, "SECONDS_BETWEEN_WRITES", math.inf)
    step, within, may_end = DropletErosion.step, threading.Event(), threading.Event()

    def held(self: DropletErosion, world: World, *rest: Any) -> Collection[str] | None:
        if world.cycle == 3:
            within.set()
            assert may_end.wait(PATIENCE)
        return step(self, world, *rest)

    monkeypatch.setattr(DropletErosion, "step", held)
    hands = Hands(small_scene(), folder=SessionFolder(tmp_path))
    hands.step(3)
    hands.thread.ask(Step())
    wait_for(within.is_set, "the fourth cycle")
    stopping = threading.Thread(target=hands.thread.stop, daemon=True)
    stopping.start()
    try:
        wait_for(lambda: caplog.messages or not stopping.is_alive(), "word of what is waited for")
        assert stopping.is_alive() and not list(tmp_path.rglob("*.npz"))
        assert caplog.messages == ["the running cycle is finished first, and then the work is saved"]
    finally:
        may_end.set()
        stopping.join(PATIENCE)
    (ended,) = ended_sessions(tmp_path)
    assert ended.index.closed and ended.index.cycle == 4
    assert bits(checkpoint.load(Path(ended.scenes[0].saved_world))[0]) == bits(hands.lockstep.worlds[0])
