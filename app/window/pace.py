"""The pace of pictures: when one begins, and when drawing is interrupted."""

from __future__ import annotations

import math
import time

SHARE = 0.45  # fraction of time for pictures if the same cores simulate
FEWEST = 12.0  # least pictures per second
SLICE = 0.015  # seconds of drawing before waiting input is handled


class Pace:
    """Spaces pictures over time if the cores that draw also simulate."""

    def __init__(self) -> None:
        self._begun = -math.inf  # start of the last picture
        self._seconds = 0.0  # of work on it
        self._working_since = 0.0

    def rest(self, *, shared: bool) -> float:
        """Seconds until the next picture is due; 0 unless cores are shared."""
        if not shared:
            return 0.0
        interval = min(self._seconds / SHARE, 1.0 / FEWEST)
        return max(0.0, self._begun + interval - time.perf_counter())

    def begin_picture(self) -> None:
        """A picture begins."""
        self._begun, self._seconds = time.perf_counter(), 0.0

    def begin_work(self) -> None:
        """Drawing begins or resumes."""
        self._working_since = time.perf_counter()

    def end_work(self) -> None:
        """Drawing ends or pauses."""
        self._seconds += time.perf_counter() - self._working_since

    @property
    def slice_is_over(self) -> bool:
        """Whether the slice of drawing time is used up."""
        return time.perf_counter() - self._working_since > SLICE
