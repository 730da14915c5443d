"""What the program says to the person before it: what went wrong, and what was written where."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

SECONDS_SHOWN = 6.0
MOST_SHOWN = 5


@dataclass(frozen=True)
class Notice:
    """One message. An error stays until it is clicked, anything else fades."""

    text: str
    is_error: bool = False
    born: float = field(default_factory=time.monotonic)

    @property
    def age(self) -> float:
        return time.monotonic() - self.born


class Notices:
    """The messages that are on the screen, oldest first."""

    def __init__(self) -> None:
        self._shown: list[Notice] = []

    def say(self, text: str) -> None:
        self._add(Notice(text))

    def complain(self, text: str) -> bool:
        """Show an error, and tell whether it was not on the screen already."""
        is_new = all(notice.text != text for notice in self._shown)
        self._add(Notice(text, is_error=True))
        return is_new

    def dismiss(self, notice: Notice) -> None:
        self._shown = [other for other in self._shown if other is not notice]

    def shown(self) -> list[Notice]:
        """Those that are still to be seen."""
        self._shown = [notice for notice in self._shown if notice.is_error or notice.age < SECONDS_SHOWN]
        return list(self._shown)

    def _add(self, notice: Notice) -> None:
        # The same thing said again, as an error in every frame would be, is one message.
        others = [other for other in self._shown if other.text != notice.text]
        self._shown = [*others[-(MOST_SHOWN - 1) :], notice]
