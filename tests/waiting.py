"""Waiting for a state. Tests wait with this alone: what lasts for a time is a guess about the machine it runs on."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

Found = TypeVar("Found")

# Seconds, after which what does not come will not come: far more than a slow machine with other work takes.
PATIENCE = 300.0


def wait_for(
    condition: Callable[[], Found], what: str | Callable[[], str], *, between: float = 0.005, patience: float = PATIENCE
) -> Found:
    """Ask until something is so, and return what the condition then says.

    `what` says what was waited for, or makes that text when it was in vain. `between` is the time in seconds from one
    look to the next. Raises `AssertionError` when patience is at its end.
    """
    end = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what if isinstance(what, str) else what()}")
        time.sleep(between)
    return found


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the test. `Popen` alone would wait for it where the test fails."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def size_of(path: Path) -> int:
    """Of a file, in bytes; 0 where there is none, or none any more."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
