"""The ledger: what entered and left a world, by substance."""

from __future__ import annotations

import math

import msgspec

# Largest tolerated imbalance, as a fraction.
LARGEST_IMBALANCE = 1e-9


class Account(msgspec.Struct):
    """Gains and losses of one substance since the start, in cubic metres, by cause."""

    initial: float = 0.0
    scale: float = 0.0  # sum of magnitudes at the start; `initial` may cancel out with negative heights
    gained: dict[str, float] = {}
    lost: dict[str, float] = {}

    def gain(self, cause: str, volume: float) -> None:
        self.gained[cause] = self.gained.get(cause, 0.0) + volume

    def lose(self, cause: str, volume: float) -> None:
        self.lost[cause] = self.lost.get(cause, 0.0) + volume

    def expected(self) -> float:
        """What should be stored now."""
        return self.initial + sum(self.gained.values()) - sum(self.lost.values())

    def imbalance(self, stored: float) -> float:
        """Difference between `stored` and the expected amount, as a fraction of the total."""
        # Of rock of height 0, more can be lost than there ever was.
        total = max(self.scale + sum(self.gained.values()), sum(self.lost.values()))
        difference = stored - self.expected()
        if total > 0.0:
            return difference / total
        return math.copysign(math.inf, difference) if difference else 0.0


class Ledger(msgspec.Struct):
    """The accounts of a world. Eroded rock becomes sediment; sediment and water can leave the map.

    `kinds` has an account for each loose material if there are several; together they are the sediment.
    `began` is a checksum of the initial ground; 0 if it was not computed.
    """

    rock: Account = msgspec.field(default_factory=Account)
    sediment: Account = msgspec.field(default_factory=Account)
    water: Account = msgspec.field(default_factory=Account)
    kinds: dict[str, Account] = {}
    began: int = 0

    def accounts(self) -> dict[str, Account]:
        """All accounts by substance."""
        return {"rock": self.rock, "sediment": self.sediment, **self.kinds, "water": self.water}
