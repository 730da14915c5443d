"""Progress bars of long commands."""

from __future__ import annotations

import contextlib
from typing import Any

from tqdm import tqdm


class Progress(tqdm):  # type: ignore[misc]
    """Iterates over a range with a progress bar. It is silent if the output is closed or the range is empty."""

    def __init__(self, steps: range, what: str, unit: str, *, scaled: bool = False) -> None:
        super().__init__(steps, desc=what, unit=unit, unit_scale=scaled, mininterval=0.2, disable=not steps)

    def reach(self, step: int) -> None:
        """Set the number of finished steps, for callers that do not iterate."""
        self.update(step - self.n)

    def display(self, *arguments: Any, **more: Any) -> bool | None:
        try:
            shown: bool | None = super().display(*arguments, **more)
        except OSError:  # the terminal or the reader of the pipe is gone
            self.disable = True
            return None
        return shown

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


def simulating(cycles: range) -> Progress:
    """Progress over cycles that run first."""
    return Progress(cycles, "simulating", "cycle")
