"""What the simulation shows of itself to the picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.world import Ledger

State = Literal["loading", "compiling", "running", "paused", "failed"]


@dataclass(frozen=True)
class Snapshot:
    """The world after one cycle: float32 layers that stay unchanged until the next snapshot has been taken.

    `layers` has those of the world, and `water_level`: the surface of lake or sea, or the ground where it is dry. Here
    `water` is the depth of the sea too. A trace that nobody has left is not there.

    `versions` holds the cycle in which each layer was changed last, so that none is copied or uploaded again as it was.
    `world` tells worlds apart: it is another number after each restart.
    """

    world: int
    layers: dict[str, NDArray[np.float32]]
    versions: dict[str, int]
    cell_size: float
    seed: int
    cycle: int
    lowest: float
    highest: float
    sea_level: float  # minus infinity where there is no sea
    ledger: Ledger
    imbalance: float
    snowballs: int = 0  # that have fallen

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.layers["bedrock"].shape
        return rows, columns


@dataclass(frozen=True)
class Status:
    """What the simulation is doing. `message` tells it in words; `error` is set where it has stopped with one."""

    state: State = "loading"
    message: str = ""
    cycle: int = 0
    cycles_per_second: float = 0.0
    milliseconds: dict[str, float] = field(default_factory=dict)  # per process, smoothed
    error: str = ""
    run: tuple[int, int] | None = None  # snowballs that have fallen in a run that goes on, and all of them
