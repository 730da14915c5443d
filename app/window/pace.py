"""When a picture is begun, and when the work on it stops for something else."""

from __future__ import annotations

import math
import time

SHARE = 0.45  # of the time that pictures may take where the same cores simulate
FEWEST = 12.0  # pictures a second that are drawn all the same, if they can be
SLICE = 0.015  # seconds of work on a picture that a person waits for who does something else meanwhile


class Pace:
    """Spreads pictures over time, where the cores that draw them also simulate."""

    def __init__(self) -> None:
        self._begun = -math.inf  # when the last picture was
        self._seconds = 0.0  # of work on it
        self._working_since = 0.0

    def rest(self, *, shared: bool) -> float:
        """The seconds until the next picture is due: none, unless it has to share its cores."""
        if not shared:
            return 0.0
        interval = min(self._seconds / SHARE, 1.0 / FEWEST)
        return max(0.0, self._begun + interval - time.perf_counter())

    def begin_picture(self) -> None:
        """Another one is begun now."""
        self._begun, self._seconds = time.perf_counter(), 0.0

    def begin_work(self) -> None:
        """The work on it begins, or goes on, now."""
        self._working_since = time.perf_counter()

    def end_work(self) -> None:
        """It is whole, or rests."""
        self._seconds += time.perf_counter() - self._working_since

    @property
    def slice_is_over(self) -> bool:
        """Whether it has been worked on long enough, while the user waits for something else."""
        return time.perf_counter() - self._working_since > SLICE
