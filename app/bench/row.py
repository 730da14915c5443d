"""One figure and its bar."""

from __future__ import annotations

from dataclasses import dataclass


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

    def as_json(self) -> dict[str, str | float | bool | None]:
        return {"name": self.name, "value": self.value, "unit": self.unit, "bar": self.bar, "ok": self.ok}

    def as_text(self) -> str:
        value = "none" if self.value is None else f"{self.value:.4g}"
        bar = "" if self.bar is None else f"{'≥' if self.at_least else '≤'} {self.bar:g}"
        return f"{self.name:<68} {value:>10} {self.unit:<14} {bar:>8}  {'' if self.ok else 'missed'}".rstrip()
