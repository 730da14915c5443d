"""Long work that asks between two of its portions whether anybody still wants it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from app.model.errors import UserError

_is_wanted: ContextVar[Callable[[], bool]] = ContextVar("is_wanted", default=lambda: True)  # of each thread its own


class Unwanted(UserError):
    """What was being made is not wanted any more."""


@contextlib.contextmanager
def wanted_while(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Within it, on this thread, `check_wanted` asks this."""
    before = _is_wanted.set(is_wanted)
    try:
        yield
    finally:
        _is_wanted.reset(before)


def check_wanted() -> None:
    """Raise `Unwanted` where the work goes on for nobody. Asked at least once a second by what takes longer."""
    if not _is_wanted.get()():
        raise Unwanted("it is not wanted any more")
