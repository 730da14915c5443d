"""Notices: errors, warnings and confirmations."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from typing import Literal

from app.model.numbers import spaced

Kind = Literal["info", "warning", "error"]

SECONDS_SHOWN, SECONDS_OF_A_WARNING, SECONDS_OF_AN_ERROR = 6.0, 10.0, 60.0
FADE_SECONDS = 0.7  # at the end of its time
MOST_SHOWN = 3


@dataclass(frozen=True)
class Notice:
    """A message that stays until it is dismissed or fades. `count` is the number of repetitions."""

    text: str
    kind: Kind = "info"
    count: int = 1
    born: float = field(default_factory=lambda: time.monotonic())  # time of the last repetition

    @property
    def is_error(self) -> bool:
        return self.kind == "error"

    @property
    def seconds_left(self) -> float:
        seconds = {"info": SECONDS_SHOWN, "warning": SECONDS_OF_A_WARNING, "error": SECONDS_OF_AN_ERROR}[self.kind]
        return seconds - (time.monotonic() - self.born)

    @property
    def opacity(self) -> float:
        """From 1 down to 0 while it fades."""
        return min(max(self.seconds_left / FADE_SECONDS, 0.0), 1.0)

    @property
    def line(self) -> str:
        """The text with its count."""
        return self.text if self.count == 1 else f"{self.text}  (×{spaced(self.count)})"


class Notices:
    """The messages on the screen, oldest first; only the newest, without repetition.

    Safe for threads: recorders and screenshots report from their own.
    """

    def __init__(self) -> None:
        self._shown: list[Notice] = []
        self._lock = threading.RLock()

    def say(self, text: str) -> None:
        self._add(text, "info")

    def warn(self, text: str) -> None:
        """Show a warning: something was not accepted."""
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
        """The messages that are still visible."""
        with self._lock:
            self._shown = [notice for notice in self._shown if notice.seconds_left > 0.0]
            return list(self._shown)

    @property
    def rest(self) -> float:
        """Seconds until the next message begins to fade."""
        return max(min((notice.seconds_left for notice in self.shown()), default=math.inf) - FADE_SECONDS, 0.0)

    def _add(self, text: str, kind: Kind) -> None:
        # Repetitions, such as an error in every frame, are one message.
        with self._lock:
            count = 1 + sum(other.count for other in self.shown() if other.text == text)
            others = [other for other in self._shown if other.text != text]
            self._shown = [*others[-(MOST_SHOWN - 1) :], Notice(text, kind, count)]
