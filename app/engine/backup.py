"""Backups: the last state of a world that is known to be sound."""

from __future__ import annotations

import time
from typing import Any

from app.engine.compressed import CompressedLayers
from app.model.world import World
from app.scene.edits import Stroke

SECONDS_BETWEEN_BACKUPS = 2.0
LARGEST_COST = 0.005  # of backups, as a fraction of the running time: large worlds are backed up less often


class Backup:
    """A state to which a failed cycle rolls back, and the strokes painted since."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}  # replaced as a whole, never changed
        self.layers = CompressedLayers({}, {})
        self.strokes: list[tuple[int, Stroke]] = []  # each with the cycle before it
        self._time = time.monotonic()
        self._seconds_to_next = SECONDS_BETWEEN_BACKUPS

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self._time > self._seconds_to_next

    def take(self, world: World, *before: CompressedLayers) -> CompressedLayers:
        """Back up a world, which is sound, and return its layers.

        They are shared with the last backup, and with those `before`, where they did not change since.
        """
        begin = time.monotonic()
        layers = CompressedLayers.of(world, self.layers, *before)
        self.state = {"layers": layers.layers, **world.rest_of_state()}
        self.layers = layers
        self.strokes = []
        self._time = time.monotonic()
        self._seconds_to_next = max(SECONDS_BETWEEN_BACKUPS, (self._time - begin) / LARGEST_COST)
        return layers
