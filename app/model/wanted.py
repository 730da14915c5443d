"""Cancellation of long work, which checks between portions whether it is still wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from app.model.errors import UserError

_is_wanted: ContextVar[Callable[[], bool]] = ContextVar("is_wanted", default=lambda: True)  # per thread


class Unwanted(UserError):
    """The result is not wanted any more."""


@contextlib.contextmanager
def wanted_while(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """A context in which `check_wanted` on this thread calls this function."""
    before = _is_wanted.set(is_wanted)
    try:
        yield
    finally:
        _is_wanted.reset(before)


def check_wanted() -> None:
    """Raise `Unwanted` if the work is not wanted. Long work calls it at least once a second."""
    if not _is_wanted.get()():
        raise Unwanted("it is not wanted any more")
