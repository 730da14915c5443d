"""Signals that end a program: Ctrl+C, `kill` and `timeout`, and a terminal that closes.

Each acts like Ctrl+C, so that files are cleaned up on the way out. A command whose work can be saved defers the first
one instead, finishes its current step, and saves its work.

Python handles signals between two bytecodes, so not while a kernel runs, and code that catches all errors can swallow
the exception of a handler. Therefore a thread also receives signals, and ends a program that continues regardless. If a
step takes too long, the state before it is saved.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from app.cli.terminal import no_more_output
from app.files.atomic import remove_unfinished
from app.files.scratch import remove_scratch_folder
from app.model.errors import explained

# Some systems lack some of them.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

GRACE = 3.0  # seconds in which a program must end once it has no work to save
LONGEST_STEP = 2.0  # seconds after a signal until a step is aborted, so that there is time to save the state before it
BETWEEN_LOOKS = 0.1  # seconds between checks whether a step that can be aborted has begun

_LOOK_UP, _NO_MORE = 255, 0  # messages to the thread besides signal numbers


class Ended(KeyboardInterrupt):
    """A signal ended the program. The text, if any, tells the user in one line what was saved."""

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(text)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status by which shells report the signal."""
        return 128 + self.number


class Wish:
    """A wish to end, with the signal that asked for it."""

    number = 0  # none

    def __bool__(self) -> bool:
        return self.number != 0

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """A context without steps: the first signal raises `Ended` in it, and only sets the wish after it."""
        step = _watch.step if _watch else None
        if _watch is None or step is None or step.wish is not self:
            yield
            return
        step.has_nothing_to_finish = True
        try:
            if self:
                raise Ended(self.number)
            yield
        finally:
            step.has_nothing_to_finish = False
            if self:
                _watch.give_time(step)

    @contextlib.contextmanager
    def or_given_up(self, leave: Callable[[], str]) -> Iterator[None]:
        """A context for a step that may take long. Some seconds after the first signal the program ends without it;
        before, `leave` saves the state before the step, on another thread, and returns a message of one line.
        """
        step = _watch.step if _watch else None
        if step is None or step.wish is not self:
            yield
            return
        step.leave = leave
        try:
            yield
        finally:
            with step.being_left:  # forever if the step is being aborted now
                step.leave = None


class _Step:
    """A step, and the effect of the first signal during it: it sets the wish or raises `Ended`."""

    def __init__(self, text: str, *, raises: bool = False) -> None:
        self.wish = Wish()
        self.raises = raises
        self.has_nothing_to_finish = False
        self.was_heard = False  # whether the thread has heard it
        self.leave: Callable[[], str] | None = None  # set while the step can be aborted
        self.being_left = threading.Lock()
        self._unsaid = deque([text] if text else [])

    def say(self) -> None:
        """Announce once what is being finished."""
        with contextlib.suppress(IndexError):
            _say(self._unsaid.popleft())


class _Watch:
    """Handles signals and watches them on a thread, which ends the program if it does not end in time."""

    def __init__(self) -> None:
        self.step: _Step | None = None
        self._number = 0  # the signal after which no work is saved
        self._latest_end: float | None = None
        self._giving_up: float | None = None  # when the step is aborted
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._asked: deque[threading.Event] = deque()  # waiting threads
        self._thread = threading.Thread(target=self._listen, name="signals", daemon=True)
        self._thread.start()
        self._teller = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        # Ignored signals stay ignored, as under nohup.
        former = {number: signal.getsignal(number) for number in ENDING}
        self._handlers = {number: handler for number, handler in former.items() if handler != signal.SIG_IGN}
        for number in self._handlers:
            signal.signal(number, self._handle)

    def close(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(self._teller)
        self._tell(_NO_MORE)
        self._thread.join()
        self._ear.close()
        self._mouth.close()

    def give_time(self, step: _Step) -> None:
        """Cancel the deadline: the program continues with its cleanup, and the next signal counts."""
        self._wait_until_heard()
        self._latest_end, step.was_heard = None, True

    @contextlib.contextmanager
    def during(self, step: _Step) -> Iterator[None]:
        before, self.step = self.step, step
        try:
            yield
        finally:
            try:
                if step.wish:
                    self._wait_until_heard()
            finally:
                self.step = before

    def _handle(self, number: int, frame: Any) -> None:
        step = self.step
        if step is None or step.wish or step.has_nothing_to_finish:
            if step and not step.wish:
                step.wish.number = number
            self._end_soon(number)
            raise Ended(number)
        step.wish.number = number
        step.say()
        if step.raises:
            raise Ended(number)

    def _end_soon(self, number: int) -> None:
        if self._latest_end is None:
            self._number, self._latest_end = number, time.monotonic() + GRACE
            self._tell(_LOOK_UP)

    def _wait_until_heard(self) -> None:
        """Wait until the thread has seen all handled signals."""
        self._asked.append(heard := threading.Event())
        self._tell(_LOOK_UP)
        heard.wait(GRACE)

    def _tell(self, word: int) -> None:
        with contextlib.suppress(BlockingIOError):  # the pipe is full, so the thread wakes anyway
            self._mouth.send(bytes([word]))

    # On the thread.

    def _listen(self) -> None:
        while True:
            ends = [end for end in (self._latest_end, self._giving_up) if end is not None]
            self._ear.settimeout(max(min(ends) - time.monotonic(), 0.001) if ends else None)
            try:
                told = self._ear.recv(4096)
            except TimeoutError:
                self._end_if_late()
                self._exit_if_late()
                continue
            for number in told:
                if number == _NO_MORE:
                    return
                if number == _LOOK_UP and self._asked:
                    self._asked.popleft().set()
                if number in self._handlers:
                    self._hear(number)
            self._end_if_late()
            self._exit_if_late()

    def _hear(self, number: int) -> None:
        step = self.step
        if step is None or step.was_heard or step.has_nothing_to_finish:
            self._end_soon(number)
        else:
            step.was_heard = True
            step.say()
            self._number, self._giving_up = number, time.monotonic() + LONGEST_STEP

    def _exit_if_late(self) -> None:
        if self._giving_up is None or time.monotonic() < self._giving_up:
            return
        step = self.step
        if step is None:
            self._giving_up = None
            return
        with step.being_left:
            if step.leave is None:
                self._giving_up = time.monotonic() + BETWEEN_LOOKS
                return
            try:
                text = step.leave()
            except Exception as error:
                text = f"nothing could be kept: {explained(error)}"
            _leave(self._number, text)

    def _end_if_late(self) -> None:
        if (end := self._latest_end) is not None and time.monotonic() >= end:
            _end_by_force(self._number)


_watch: _Watch | None = None


@contextlib.contextmanager
def _watched() -> Iterator[_Watch | None]:
    """The watch, created on first use; None outside the main thread."""
    global _watch
    if _watch is not None or threading.current_thread() is not threading.main_thread():
        yield _watch if threading.current_thread() is threading.main_thread() else None
        return
    _watch = _Watch()
    try:
        yield _watch
    finally:
        _watch.close()
        _watch = None


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """A context in which each of these signals raises `Ended`. After some seconds the program is killed."""
    with _watched():
        yield


@contextlib.contextmanager
def shielded_from_signals(step: str) -> Iterator[Wish]:
    """A context in which the first of these signals only sets a wish, which is checked after each step.

    The user is told at once that the current `step` is finished first. A second signal raises `Ended`.
    """
    text = f"\nstopping after this {step}; interrupt again to stop at once and lose unsaved work\n"
    with _within(_Step(text)) as wish:
        yield wish


@contextlib.contextmanager
def first_signal_raises() -> Iterator[None]:
    """A context in which the first of these signals raises `Ended`. Saving afterwards has no deadline."""
    with _within(_Step("", raises=True)):
        yield


@contextlib.contextmanager
def _within(step: _Step) -> Iterator[Wish]:
    with _watched() as watch:
        if watch is None:
            yield step.wish
            return
        with watch.during(step):
            yield step.wish


def _end_by_force(number: int) -> NoReturn:
    """End the program at once. Unfinished files are removed."""
    _leave(number, "ended in the midst of its work; nothing half-written was left")


def _leave(number: int, text: str) -> NoReturn:
    remove_unfinished()
    remove_scratch_folder()
    _say(f"\n{text}\n")
    os._exit(128 + number)


def _say(text: str) -> None:
    """Write to the terminal if it still exists, bypassing buffers that the signal may have interrupted."""
    try:
        os.write(2, text.encode(sys.stderr.encoding or "utf-8", "replace"))
    except OSError:
        no_more_output()
