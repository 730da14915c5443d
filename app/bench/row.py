"""One figure and its bar."""

from __future__ import annotations

from dataclasses import dataclass

# Units that say it; of what is counted in times and in parts of a hundred, a bar says it.
MORE_IS_BETTER = {"times as fast", "1 is yes", "1/s", "frames", "processes"}
SHARES = {"%", "times"}


@dataclass(frozen=True)
class Row:
    """A figure that should be at most its bar, or at least, where less is worse.

    A bar of None asks for nothing. A value of None could not be measured, and keeps to no bar.
    """

    name: str
    value: float | None
    unit: str
    bar: float | None
    at_least: bool = False

    @property
    def ok(self) -> bool:
        """Whether the figure keeps to its bar."""
        if self.bar is None:
            return True
        if self.value is None:
            return False
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def worse_by(self, before: float) -> float | None:
        """By which part a figure got worse; None if it is neither better nor worse, or could not be measured."""
        if self.value is None or not before or (self.unit in SHARES and self.bar is None):
            return None
        change = self.value / before - 1.0
        return -change if self.at_least or self.unit in MORE_IS_BETTER else change

    def as_text(self) -> str:
        value = "none" if self.value is None else f"{self.value:.4g}"
        bar = "" if self.bar is None else f"{'≥' if self.at_least else '≤'} {self.bar:g}"
        return f"{self.name:<68} {value:>10} {self.unit:<14} {bar:>8}  {'' if self.ok else 'missed'}".rstrip()
