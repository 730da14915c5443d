"""Signals that end a program: Ctrl+C, `kill` and `timeout`, and a terminal that closes.

Each ends it as Ctrl+C does, so that files are cleared up on the way out. A command whose work can be kept asks to hear
of the first one instead, finishes the step that it is at, and keeps what there is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from app.cli.terminal import no_more_output

# Not every system has all of them.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

Handler = Callable[[int, Any], None]


class Ended(KeyboardInterrupt):
    """A signal has ended the program. The text is what the person should know, in one line, where there is any."""

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(text)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status by which shells report the signal."""
        return 128 + self.number


class Wish:
    """Whether a signal has asked to end, and which."""

    number = 0  # none

    def __bool__(self) -> bool:
        return self.number != 0


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within it, each of these signals raises `Ended`."""

    def end(number: int, frame: Any) -> None:
        raise Ended(number)

    with _handled_by(end):
        yield


@contextlib.contextmanager
def kept_from_signals(step: str) -> Iterator[Wish]:
    """Within it, the first of these signals only becomes a wish, which is looked at after each step.

    It says at once that the present `step` is finished first. A second signal raises `Ended`.
    """
    wish = Wish()

    def note(number: int, frame: Any) -> None:
        if wish:
            raise Ended(number)
        wish.number = number
        _say(f"\nstopping after this {step}; interrupt again to stop at once and lose unsaved work\n")

    with _handled_by(note):
        yield wish


@contextlib.contextmanager
def _handled_by(handler: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # no other may handle signals
        yield
        return
    # What is ignored stays so, as under nohup.
    before = {number: signal.getsignal(number) for number in ENDING if signal.getsignal(number) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, signal.SIG_DFL if former is None else former)


def _say(text: str) -> None:
    """Write to the terminal, where it is still there; past the buffers, whose writing a signal may have broken into."""
    try:
        os.write(2, text.encode(sys.stderr.encoding or "utf-8", "replace"))
    except OSError:
        no_more_output()
