"""How many cycles run: as fast as they can, some with each frame, or single ones while the simulation is paused."""

from __future__ import annotations

import time
from typing import Literal

from app.engine.lockstep import Lockstep
from app.scene.scene import Scene

SECONDS_OF_PACE = 1.0  # over which cycles per second are averaged


class Pace:
    def __init__(self, *, paused: bool = False) -> None:
        self.is_paused = paused
        self._granted = 0  # cycles that may run now, where the pace follows the frames or single steps
        self._frames = 0  # since the last cycles were granted
        self._marks: list[tuple[float, int]] = []  # when each of the last cycles ended, and its number

    @property
    def state(self) -> Literal["paused", "running"]:
        return "paused" if self.is_paused else "running"

    def set_paused(self, paused: bool, steps: int = 0) -> None:
        """Pause, with so many single cycles beside those that were asked for before, or let cycles run."""
        self._granted = steps + (self._granted if steps and self.is_paused else 0)
        self.is_paused = paused
        self.measure_anew()

    def follow_frame(self, scene: Scene, screens: int) -> None:
        """Grant the cycles that go with a frame, which spans this many frames of the screen."""
        if not self.is_paused:
            portions, self._frames = divmod(self._frames + screens, scene.simulation.frames_per_cycle)
            # What could not be run in time is not made up for.
            self._granted = max(self._granted, scene.simulation.cycles_per_frame * portions)

    def grants_cycle(self, lockstep: Lockstep) -> bool:
        """Whether another cycle may run."""
        if self.is_paused:
            return self._granted > 0
        if lockstep.has_finished:
            return False
        return self._granted > 0 or lockstep.scenes[0].simulation.cycles_per_frame == 0

    def count_cycle(self) -> None:
        """A granted cycle has run."""
        self._granted = max(0, self._granted - 1)

    def cycles_per_second(self, cycle: int) -> float:
        """The pace of the last second, up to this cycle, which has just ended."""
        now = time.monotonic()
        self._marks.append((now, cycle))
        while len(self._marks) > 2 and self._marks[0][0] < now - SECONDS_OF_PACE:
            self._marks.pop(0)
        begin, first = self._marks[0]
        return (cycle - first) / (now - begin) if now > begin else 0.0

    def measure_anew(self) -> None:
        """Forget the cycles so far: they ran before a pause, or in other worlds."""
        self._marks.clear()
