"""How far a long command has come, as a bar in the terminal."""

from __future__ import annotations

import contextlib
from typing import Any

from tqdm import tqdm


class Progress(tqdm):  # type: ignore[misc]
    """Goes over a range, and shows how far it is, if there is any way. Where the output is closed, it is silent."""

    def __init__(self, steps: range, what: str, unit: str) -> None:
        super().__init__(steps, desc=what, unit=unit, mininterval=0.2, disable=not steps)

    def reach(self, step: int) -> None:
        """So many steps are done now, for who does not go over the range."""
        self.update(step - self.n)

    def display(self, *arguments: Any, **more: Any) -> bool | None:
        try:
            shown: bool | None = super().display(*arguments, **more)
        except OSError:  # the terminal, or the program at the end of the pipe, has gone
            self.disable = True
            return None
        return shown

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


def simulating(cycles: range) -> Progress:
    """Goes over cycles that are run before anything else."""
    return Progress(cycles, "simulating", "cycle")
