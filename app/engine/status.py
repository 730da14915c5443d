"""The status of the simulation, readable from any thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.engine.messages import Moment, Stopped
from app.engine.moments import TimelineSeen
from app.scene.scene import Scene

State = Literal["loading", "compiling", "growing", "running", "paused", "failed"]  # growing: a spin-up


@dataclass(frozen=True)
class Compiling:
    """Progress of compiling kernels: what is done, in progress and left."""

    done: int
    of: int
    at_work: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return f"compiling kernels: {', '.join(self.at_work or self.waiting)}, {self.done} of {self.of}"


@dataclass(frozen=True)
class Status:
    """What the simulation is doing. `message` says it in words; `stopped` is set where a cycle, or all, failed."""

    scenes: tuple[Scene, ...] = ()  # with all accepted changes, including those that wait for kernels
    state: State = "loading"
    message: str = ""
    cycle: int = 0
    cycles_per_second: float = 0.0
    milliseconds: dict[str, float] = field(default_factory=dict)  # per process, smoothed
    stopped: Stopped | None = None
    compiling: Compiling | None = None  # also while the simulation runs without the new kernels
    moment: Moment = field(default_factory=Moment)
    timeline: TimelineSeen = field(default_factory=TimelineSeen)
    snowball_run: tuple[int, int] | None = None  # of snowballs: those that have fallen, and their total

    @property
    def error(self) -> str:
        """Why it has stopped; empty if it has not."""
        return self.stopped.why if self.stopped else ""
