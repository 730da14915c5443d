"""A simulation thread as a test holds it."""

from __future__ import annotations

from collections.abc import Callable

from app.engine.autosave import SessionFolder
from app.engine.lockstep import Lockstep
from app.engine.messages import Moment, Refused, Report, Step
from app.engine.moments import TimelineSeen
from app.engine.thread import SimulationThread
from app.scene.edits import Copy
from app.scene.scene import Scene
from tests.app.small import bits
from tests.waiting import wait_for


class Hands:
    """Asks a thread, and waits for what comes of it."""

    def __init__(self, *scenes: Scene, folder: SessionFolder | None = None) -> None:
        self.thread = SimulationThread(*scenes, paused=True, folder=folder)
        self.thread.first_picture_shown.set()
        self.reports: list[Report] = []
        self.thread.start()
        self.wait(lambda: self.thread.status.state == "paused")

    def wait(self, done: Callable[[], bool]) -> None:
        def is_done() -> bool:
            if done():
                return True
            self.thread.take()
            self.reports += self.thread.reports()
            return done()

        wait_for(is_done, lambda: f"it; status: {self.thread.status}", between=0.001)

    def step(self, cycles: int) -> None:
        goal = self.thread.status.cycle + cycles
        for _ in range(cycles):
            self.thread.ask(Step())
        self.wait(lambda: self.thread.status.cycle == goal)

    def ask(self, request: object, answer: type[Report]) -> Report:
        """Ask, and return what is answered to it."""
        self.thread.ask(request)  # type: ignore[arg-type]
        found: list[Report] = []

        def is_there() -> bool:
            found[:] = [
                report
                for report in self.reports
                if isinstance(report, answer) and getattr(report, "request", None) is request
            ]
            return bool(found)

        self.wait(is_there)
        return found[0]

    def settle(self) -> None:
        """Wait until all that was asked for is done."""
        done = Copy(99)
        self.ask(done, Refused)

    @property
    def moment(self) -> Moment:
        return self.thread.status.moment

    @property
    def timeline(self) -> TimelineSeen:
        return self.thread.status.timeline

    @property
    def lockstep(self) -> Lockstep:
        assert self.thread.session.lockstep is not None
        return self.thread.session.lockstep

    @property
    def bits(self) -> list[dict[str, object]]:
        return [bits(world) for world in self.lockstep.worlds]


def let_go_round(thread: SimulationThread, times: int = 5) -> None:
    """Let a thread go round so often: what has not come of what was asked before will not come.

    In each round it answers, publishes, and runs a cycle where it may; at rest it is woken for it.
    """
    go_round, done = thread._run_once, 0

    def counted() -> None:
        nonlocal done
        go_round()
        done += 1

    def are_done() -> bool:
        thread._wake.set()
        return done >= times

    thread._run_once = counted  # type: ignore[method-assign]
    wait_for(are_done, "rounds of the thread")
    thread._run_once = go_round  # type: ignore[method-assign]
