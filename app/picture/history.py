"""Histories of a few numbers, for the plots of the panel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot


class FrameTimes:
    """How long the last frames took, in milliseconds."""

    LENGTH = 240

    def __init__(self) -> None:
        self._milliseconds = np.zeros(self.LENGTH, np.float32)
        self._count = 0

    def add(self, seconds: float) -> None:
        self._milliseconds[self._count % self.LENGTH] = seconds * 1e3
        self._count += 1

    def values(self) -> NDArray[np.float32]:
        """Oldest first."""
        if self._count <= self.LENGTH:
            return self._milliseconds[: self._count]
        return np.roll(self._milliseconds, -(self._count % self.LENGTH))

    @property
    def typical(self) -> float:
        """The median of about the last half second."""
        recent = self.values()[-30:]
        return float(np.median(recent)) if len(recent) else 0.0


class LedgerHistory:
    """The sediment budget from the start of a world to now, in cubic metres over cycles.

    If there are too many points, every second one is dropped and the sampling rate is halved, so that the whole
    history stays visible at a bounded size.
    """

    LENGTH = 512
    CURVES: tuple[str, ...] = ("rock eroded", "sediment stored", "off the map")

    def __init__(self) -> None:
        self._world = -1
        self._rows: list[tuple[float, ...]] = []  # cycle, then the curves
        self._stride = 1
        self._table: NDArray[np.float64] | None = None

    def add(self, snapshot: Snapshot) -> None:
        if snapshot.world != self._world or (self._rows and snapshot.cycle < self._rows[-1][0]):
            self._world = snapshot.world
            self._rows, self._stride = [], 1
        if self._rows and snapshot.cycle < self._rows[-1][0] + self._stride:
            return
        ledger = snapshot.ledger
        self._rows.append(
            (
                float(snapshot.cycle),
                sum(ledger.rock.lost.values()),
                ledger.sediment.expected(),
                ledger.sediment.lost.get("off the map", 0.0),
            )
        )
        if len(self._rows) > self.LENGTH:
            self._rows = self._rows[::2]
            self._stride = max(2 * self._stride, 1)
        self._table = None

    def cycles(self) -> NDArray[np.float64]:
        return self._column(0)

    def curve(self, name: str) -> NDArray[np.float64]:
        return self._column(1 + self.CURVES.index(name))

    def _column(self, number: int) -> NDArray[np.float64]:
        if self._table is None:
            self._table = np.ascontiguousarray(np.array(self._rows, np.float64).reshape(-1, 1 + len(self.CURVES)).T)
        column: NDArray[np.float64] = self._table[number]
        return column
