"""Messages to the user: what went wrong, and what was written where."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from typing import Literal

from app.model.numbers import spaced

Kind = Literal["info", "warning", "error"]

SECONDS_SHOWN, SECONDS_OF_A_WARNING, SECONDS_OF_AN_ERROR = 6.0, 10.0, 60.0
FADE_SECONDS = 0.7  # the last of them
MOST_SHOWN = 3


@dataclass(frozen=True)
class Notice:
    """One message, which is there until it is clicked away, or has faded. `count` is how often it came."""

    text: str
    kind: Kind = "info"
    count: int = 1
    born: float = field(default_factory=lambda: time.monotonic())  # when it came last

    @property
    def is_error(self) -> bool:
        return self.kind == "error"

    @property
    def seconds_left(self) -> float:
        seconds = {"info": SECONDS_SHOWN, "warning": SECONDS_OF_A_WARNING, "error": SECONDS_OF_AN_ERROR}[self.kind]
        return seconds - (time.monotonic() - self.born)

    @property
    def opacity(self) -> float:
        """From 1, as long as it does not fade, to 0."""
        return min(max(self.seconds_left / FADE_SECONDS, 0.0), 1.0)

    @property
    def line(self) -> str:
        """What is read."""
        return self.text if self.count == 1 else f"{self.text}  (×{spaced(self.count)})"


class Notices:
    """The messages that are on the screen, oldest first: the newest ones, and each only once.

    Recorders and writers of screenshots say theirs from threads of their own.
    """

    def __init__(self) -> None:
        self._shown: list[Notice] = []
        self._lock = threading.RLock()

    def say(self, text: str) -> None:
        self._add(text, "info")

    def warn(self, text: str) -> None:
        """Show that something was not accepted as asked for."""
        self._add(text, "warning")

    def complain(self, text: str) -> bool:
        """Show an error. Returns whether it is new on the screen."""
        with self._lock:
            is_new = all(notice.text != text for notice in self._shown)
            self._add(text, "error")
        return is_new

    def dismiss(self, notice: Notice) -> None:
        with self._lock:
            self._shown = [other for other in self._shown if other is not notice]

    def dismiss_all(self) -> bool:
        """Clear the screen of warnings and errors. Returns whether there were any."""
        with self._lock:
            kept = [notice for notice in self.shown() if notice.kind == "info"]
            is_less = len(kept) < len(self._shown)
            self._shown = kept
        return is_less

    def shown(self) -> list[Notice]:
        """Those that are still to be seen."""
        with self._lock:
            self._shown = [notice for notice in self._shown if notice.seconds_left > 0.0]
            return list(self._shown)

    @property
    def rest(self) -> float:
        """For how many seconds none of them will look otherwise: until the next one begins to fade."""
        return max(min((notice.seconds_left for notice in self.shown()), default=math.inf) - FADE_SECONDS, 0.0)

    def _add(self, text: str, kind: Kind) -> None:
        # The same thing said again, as an error in every frame would be, is one message.
        with self._lock:
            count = 1 + sum(other.count for other in self.shown() if other.text == text)
            others = [other for other in self._shown if other.text != text]
            self._shown = [*others[-(MOST_SHOWN - 1) :], Notice(text, kind, count)]
