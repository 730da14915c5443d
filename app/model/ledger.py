"""What entered and left a world, substance by substance: mass is conserved."""

from __future__ import annotations

import math

import msgspec

# How much of what there is may be unaccounted for, as a fraction.
LARGEST_IMBALANCE = 1e-9


class Account(msgspec.Struct):
    """What came in and went out of one substance since the start, in cubic metres, by cause."""

    initial: float = 0.0
    scale: float = 0.0  # the sum of magnitudes at the start; `initial` itself may cancel out where heights are negative
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
        """How far `stored` is from what should be there, as a fraction of all there ever was."""
        # Rock whose height was 0 everywhere is eroded below it: then it is a fraction of what was lost.
        total = self.scale + sum(self.gained.values()) or sum(self.lost.values())
        difference = stored - self.expected()
        if total > 0.0:
            return difference / total
        return math.copysign(math.inf, difference) if difference else 0.0


class Ledger(msgspec.Struct):
    """The accounts of a world. Rock that is eroded becomes sediment; sediment and water can leave the map.

    `kinds` has one more for each kind of loose material, where a world knows several: all of them are the sediment.
    `began` is a checksum of the ground at the start, by which that land is known again; 0 where nobody has taken it.
    """

    rock: Account = msgspec.field(default_factory=Account)
    sediment: Account = msgspec.field(default_factory=Account)
    water: Account = msgspec.field(default_factory=Account)
    kinds: dict[str, Account] = {}
    began: int = 0

    def accounts(self) -> dict[str, Account]:
        """All accounts by the name of their substance."""
        return {"rock": self.rock, "sediment": self.sediment, **self.kinds, "water": self.water}
