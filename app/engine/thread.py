"""The thread of a session: neither it nor the window waits for the other."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from app.engine.autosave import SessionFolder
from app.engine.cycles import CycleSoFar
from app.engine.messages import FrameBegan, Report, Request, Run
from app.engine.session import Session
from app.engine.session_state import asks_for_pace
from app.engine.status import Status
from app.model.snapshot import Snapshot
from app.model.wanted import wanted_while
from app.scene.edits import Open
from app.scene.scene import Scene

log = logging.getLogger(__name__)

Message = TypeVar("Message")

NICENESS = 4  # gives the picture priority; 10 cost a third of the cycles for a twentieth of the frames

# Steps shorter than this, in seconds, are mostly Python. A sequence of them would hold the interpreter's lock almost
# always, and the window would wait after each call that releases it.
SHORT_STEP = 0.0005
PAUSE_AFTER_SHORT_STEP = 0.0001  # seconds
PAUSE_AFTER_ERROR = 0.1  # seconds, so that a recurring error does not occupy a core
# While the simulation gives way it rests after each step for so many times as long as that took, but not longer than
# this, in seconds.
WAY = 8.0
LONGEST_WAY = 1.0
QUIET_END = 1.0  # seconds after which a slow end is announced


class SimulationThread:
    """A mailbox around a session that runs on a thread of its own.

    It is controlled and reports by messages. `take` returns the newest snapshots, whose arrays do not change until the
    next call. The scene of each world has the same index in `scenes`. If there is a `folder`, the newest state and its
    journal are backed up there periodically and at the end.
    """

    def __init__(self, *scenes: Scene, paused: bool = False, folder: SessionFolder | None = None) -> None:
        self._folder = folder
        self._opening = Open(scenes)
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._gives_way = False
        self._paused_last = paused  # by the last request to pause or run
        self._pace_requests = 0
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self.session = Session(scenes, self._reports.put, paused=paused, folder=folder)  # used by the thread only
        self.first_picture_shown = self.session.showing.first_picture_shown

    def start(self) -> None:
        self.ask(self._opening)
        self._thread.start()

    def stop(self) -> None:
        """End the thread: finish the running cycle, then write the newest state."""
        self._stopping = True
        self.session.readiness.compiler.close()
        was_seen = self.first_picture_shown.is_set()
        self.first_picture_shown.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=QUIET_END)
            if self._thread.is_alive() and was_seen and self._folder:
                log.warning("the running cycle is finished first, and then the work is saved")
            self._thread.join()
        self.session.timeline.store.close()
        if self._folder:
            self._folder.close()

    def ask(self, request: Request) -> None:
        """Send a request. Requests are answered between cycles, in order."""
        if asks_for_pace(request):  # takes effect on `paused` at once, so that the next key press sees it
            self._paused_last = not isinstance(request, Run)
            self._pace_requests += 1
        self._requests.put(request)
        self._wake.set()

    def reports(self) -> list[Report]:
        """The reports since the last call."""
        return list(_taken(self._reports))

    def take(self, *, gives_back: bool = True) -> tuple[Snapshot, ...]:
        """The newest snapshots, one per world and all of the same cycle; none if nothing is new.

        Gives back the arrays of the last snapshots. With `gives_back` False the caller does so later by `give_back`.
        """
        snapshots = self.session.showing.publisher.take(gives_back=gives_back)
        if snapshots:
            self._wake.set()
        return snapshots

    def on_touch(self, tell: Callable[[], None]) -> None:
        """Have a function called, by the thread, as soon as snapshots with a touch of a brush can be taken."""
        self.session.showing.tell_of_touch = tell

    def give_back(self, shown: Sequence[Snapshot]) -> None:
        """Give back the arrays of all taken snapshots, except those that are shown."""
        if self.session.showing.publisher.give_back(shown):
            self._wake.set()

    @property
    def paused(self) -> bool:
        """Whether the worlds will be paused once all requests are answered."""
        session = self.session
        return self._paused_last if self._pace_requests > session.pace_requests_answered else session.pace.is_paused

    @property
    def session_path(self) -> Path | None:
        """The folder that the session is backed up in, if any."""
        return self._folder.path if self._folder else None

    @property
    def cycle_so_far(self) -> CycleSoFar | None:
        """Progress of the running cycle; None if none runs."""
        lockstep = self.session.lockstep
        return lockstep.cycle_so_far if lockstep else None

    def give_way(self, gives_way: bool) -> None:
        """Leave most of the cores to the picture from the next step on, or not any more. No bit changes."""
        if gives_way != self._gives_way:
            self._gives_way = gives_way
            self._wake.set()

    def give_up_cycle(self) -> None:
        """End the running cycle soon, and pause the worlds before it. Does nothing if none runs."""
        if lockstep := self.session.lockstep:
            lockstep.give_up_cycle()

    @property
    def status(self) -> Status:
        return self.session.status

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes of the current worlds, with all accepted changes."""
        return self.status.scenes

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling missing kernels."""
        return self.session.readiness.compiler.seconds

    # What runs on the thread.

    def _run(self) -> None:
        _lower_priority()
        with wanted_while(lambda: not self._stopping):
            with self._surviving_errors():
                self.session.readiness.foresee(self._opening.scenes)
            while not self._stopping:
                with self._surviving_errors():
                    self._run_once()
            with self._surviving_errors():
                self.session.write()

    def _run_once(self) -> None:
        """Pass on requests, advance the session by a step, and rest if there is nothing to do."""
        for request in _taken(self._requests):
            self.session.ask(request)
        begin = time.perf_counter()
        rest = self.session.step()
        taken = time.perf_counter() - begin
        if not rest:
            if self._gives_way:
                self._rest_for_picture(min(WAY * taken, LONGEST_WAY))
            elif taken < SHORT_STEP:
                time.sleep(PAUSE_AFTER_SHORT_STEP)
        elif self.session.waits_for_first_picture:
            self.first_picture_shown.wait(rest)
        else:
            self._wake.wait(rest)
            self._wake.clear()

    def _rest_for_picture(self, rest: float) -> None:
        """Rest for so many seconds, until a request is more than the begin of a frame, or the picture is done."""
        end = time.perf_counter() + rest
        while self._gives_way and not self._stopping and (left := end - time.perf_counter()) > 0.0:
            self._wake.wait(left)
            self._wake.clear()
            asked = list(_taken(self._requests))
            for request in asked:
                self.session.ask(request)
            if not all(isinstance(request, FrameBegan) for request in asked):
                return

    @contextlib.contextmanager
    def _surviving_errors(self) -> Iterator[None]:
        """Survive any error, so that the user can still save."""
        try:
            yield
        except Exception as error:
            with contextlib.suppress(Exception):  # there may be no memory to report it
                self.session.fail(error)
            time.sleep(PAUSE_AFTER_ERROR)


def _taken(messages: queue.SimpleQueue[Message]) -> Iterator[Message]:
    """Take messages out of a queue, one by one, until it is empty."""
    with contextlib.suppress(queue.Empty):
        while True:
            yield messages.get_nowait()


def _lower_priority() -> None:
    """Give the thread that draws priority on a shared core. Linux only, where each thread has its own priority."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
