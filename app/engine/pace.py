"""The pace of cycles: as fast as possible, a number per frame, or single steps while paused."""

from __future__ import annotations

import time
from typing import Literal

from app.engine.lockstep import Lockstep
from app.scene.scene import Scene

SECONDS_OF_PACE = 1.0  # averaging time of cycles per second


class Pace:
    def __init__(self, *, paused: bool = False) -> None:
        self.is_paused = paused
        self._granted = 0  # cycles that may run now, if the pace follows frames or single steps
        self._frames = 0  # since the last cycles were granted
        self._marks: list[tuple[float, int]] = []  # end time and number of each of the last cycles

    @property
    def state(self) -> Literal["paused", "running"]:
        return "paused" if self.is_paused else "running"

    def set_paused(self, paused: bool, steps: int = 0) -> None:
        """Pause and grant further single cycles, or run freely."""
        self._granted = steps + (self._granted if steps and self.is_paused else 0)
        self.is_paused = paused
        self.measure_anew()

    def follow_frame(self, scene: Scene, screens: int) -> None:
        """Grant the cycles of a frame that spans this many screen frames."""
        if not self.is_paused:
            portions, self._frames = divmod(self._frames + screens, scene.simulation.frames_per_cycle)
            # Cycles that did not run in time are dropped.
            self._granted = max(self._granted, scene.simulation.cycles_per_frame * portions)

    def grants_cycle(self, lockstep: Lockstep) -> bool:
        """Whether another cycle may run."""
        if self.is_paused:
            return self._granted > 0
        if all(simulator.has_finished for simulator in lockstep.simulators):
            return False
        return self._granted > 0 or lockstep.scenes[0].simulation.cycles_per_frame == 0

    def count_cycle(self) -> None:
        """A granted cycle has run."""
        self._granted = max(0, self._granted - 1)

    def cycles_per_second(self, cycle: int) -> float:
        """Cycles per second over the last second, up to the cycle that has just ended."""
        now = time.monotonic()
        self._marks.append((now, cycle))
        while len(self._marks) > 2 and self._marks[0][0] < now - SECONDS_OF_PACE:
            self._marks.pop(0)
        begin, first = self._marks[0]
        return (cycle - first) / (now - begin) if now > begin else 0.0

    def measure_anew(self) -> None:
        """Forget past cycles: they ran before a pause, or in other worlds."""
        self._marks.clear()
