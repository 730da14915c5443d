"""Signals that end a program: Ctrl+C, `kill` and `timeout`, and a terminal that closes.

Each ends it as Ctrl+C does, so that files are cleared up on the way out. A command whose work can be kept asks to hear
of the first one instead, finishes the step that it is at, and keeps what there is.

Python handles signals between two of its own steps, and so not while a kernel runs, and what a handler raises can get
lost in code that lets no error out. Therefore a thread hears of them too, and ends a program that goes on nevertheless:
where a step takes too long, with what there was before it.
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

# Not every system has all of them.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

GRACE = 3.0  # seconds in which a program must have ended that keeps no work any more
LONGEST_STEP = 2.0  # seconds after a signal in which a step must have ended, else it is given up: so there is time to
# write what there was before it
BETWEEN_LOOKS = 0.1  # seconds, after which a step may have begun that can be given up

_LOOK_UP, _NO_MORE = 255, 0  # what the thread is told besides numbers of signals


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
    def at_once(self) -> Iterator[None]:
        """Within it there is no step to be finished: the first signal raises `Ended`, and is a wish after it."""
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
        """Within it is a step that may take long. It is given up some seconds after the first signal, and the program
        ends: before that `leave` keeps on another thread what there was before the step, and says what in a line.
        """
        step = _watch.step if _watch else None
        if step is None or step.wish is not self:
            yield
            return
        step.leave = leave
        try:
            yield
        finally:
            with step.being_left:  # without end, where it is given up just now
                step.leave = None


class _Step:
    """What the first signal lets come to its end, and what that does: it becomes a wish, or raises `Ended`."""

    def __init__(self, text: str, *, raises: bool = False) -> None:
        self.wish = Wish()
        self.raises = raises
        self.has_nothing_to_finish = False
        self.was_heard = False  # by the thread
        self.leave: Callable[[], str] | None = None  # while it can be given up
        self.being_left = threading.Lock()
        self._unsaid = deque([text] if text else [])

    def say(self) -> None:
        """Say what it waits for, once: whoever hears of the signal first does."""
        with contextlib.suppress(IndexError):
            _say(self._unsaid.popleft())


class _Watch:
    """Handles signals, and hears them on a thread of its own. Where the program does not end in time, that ends it."""

    def __init__(self) -> None:
        self.step: _Step | None = None
        self._number = 0  # of the signal after which no work is kept
        self._latest_end: float | None = None
        self._giving_up: float | None = None  # when the step is that was heard of
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self._asked: deque[threading.Event] = deque()  # by whom, each of which tells to look up
        self._thread = threading.Thread(target=self._listen, name="signals", daemon=True)
        self._thread.start()
        self._teller = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        # What is ignored stays so, as under nohup.
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
        """Let the program go on after all with what it has: the next signal is the one that counts."""
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
        """Wait until the thread has heard of all signals that were handled."""
        self._asked.append(heard := threading.Event())
        self._tell(_LOOK_UP)
        heard.wait(GRACE)

    def _tell(self, word: int) -> None:
        with contextlib.suppress(BlockingIOError):  # so much is to be heard already that it looks up in any case
            self._mouth.send(bytes([word]))

    # What runs on the thread.

    def _listen(self) -> None:
        while True:
            ends = [end for end in (self._latest_end, self._giving_up) if end is not None]
            self._ear.settimeout(max(min(ends) - time.monotonic(), 0.001) if ends else None)
            try:
                told = self._ear.recv(4096)
            except TimeoutError:
                self._end_if_late()
                self._give_up_if_long()
                continue
            for number in told:
                if number == _NO_MORE:
                    return
                if number == _LOOK_UP and self._asked:
                    self._asked.popleft().set()
                if number in self._handlers:
                    self._hear(number)
            self._end_if_late()
            self._give_up_if_long()

    def _hear(self, number: int) -> None:
        step = self.step
        if step is None or step.was_heard or step.has_nothing_to_finish:
            self._end_soon(number)
        else:
            step.was_heard = True
            step.say()
            self._number, self._giving_up = number, time.monotonic() + LONGEST_STEP

    def _give_up_if_long(self) -> None:
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
    """The watch, which is set up by the first who asks; None on a thread that may handle no signals."""
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
    """Within it, each of these signals raises `Ended`; what has not ended some seconds later is ended by force."""
    with _watched():
        yield


@contextlib.contextmanager
def kept_from_signals(step: str) -> Iterator[Wish]:
    """Within it, the first of these signals only becomes a wish, which is looked at after each step.

    It says at once that the present `step` is finished first. A second signal raises `Ended`.
    """
    text = f"\nstopping after this {step}; interrupt again to stop at once and lose unsaved work\n"
    with _within(_Step(text)) as wish:
        yield wish


@contextlib.contextmanager
def kept_on_the_way_out() -> Iterator[None]:
    """Within it, the first of these signals raises `Ended`, and what then keeps the work may take its time."""
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
    """End the program in the midst of what it does. Nothing that it was writing is left."""
    _leave(number, "ended in the midst of its work; nothing half-written was left")


def _leave(number: int, text: str) -> NoReturn:
    remove_unfinished()
    remove_scratch_folder()
    _say(f"\n{text}\n")
    os._exit(128 + number)


def _say(text: str) -> None:
    """Write to the terminal, where it is still there; past the buffers, whose writing a signal may have broken into."""
    try:
        os.write(2, text.encode(sys.stderr.encoding or "utf-8", "replace"))
    except OSError:
        no_more_output()
