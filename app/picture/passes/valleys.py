"""Valley floors, for morning fog."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot

Floats = NDArray[np.float32]

BLOCKS = 48  # along the longer side of a map; valleys are wider than one of them
AROUND = 2  # blocks to each side over which the minimum is taken
LOWEST_SUN, HIGHEST_SUN = 9.0, 22.0  # degrees: thickest fog below the first, none above the second
DEEPEST = 0.30  # largest optical depth from above
HEIGHT, LOWEST_HEIGHT = 0.07, 0.003  # of the layer: a fraction of the relief, and at least of the map's longer side


class ValleyFloors:
    """A texture of the lowest ground around, smoothed."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._texture: moderngl.Texture | None = None
        self._shown: tuple[int, int] | None = None

    @property
    def texture(self) -> moderngl.Texture:
        assert self._texture is not None
        return self._texture

    def update(self, snapshot: Snapshot) -> None:
        """Recompute the floors if the ground has changed."""
        wanted = snapshot.world, snapshot.ground_version
        if wanted == self._shown and self._texture is not None:
            return
        floors = valley_floors(snapshot.ground())
        size = floors.shape[1], floors.shape[0]
        if self._texture is None or self._texture.size != size:
            self.release()
            self._texture = self._context.texture(size, 1, dtype="f4")
            self._texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            self._texture.repeat_x = self._texture.repeat_y = False
        self._texture.write(floors.tobytes())
        self._shown = wanted

    def release(self) -> None:
        self._shown = None
        if self._texture is not None:
            self._texture.release()
            self._texture = None


def valley_floors(ground: Floats) -> Floats:
    """The lowest height around each block of the ground, smoothed, [row, column] in metres."""
    rows, columns = ground.shape
    side = max(1, math.ceil(max(rows, columns) / BLOCKS))
    padded = np.pad(ground, ((0, -rows % side), (0, -columns % side)), mode="edge")
    lowest = padded.reshape(padded.shape[0] // side, side, padded.shape[1] // side, side).min(axis=(1, 3))
    for axis in (0, 1):
        around = np.pad(lowest, [(AROUND, AROUND) if each == axis else (0, 0) for each in (0, 1)], mode="edge")
        lowest = np.lib.stride_tricks.sliding_window_view(around, 2 * AROUND + 1, axis=axis).min(axis=-1)
    for axis in (0, 1, 0, 1):
        around = np.pad(lowest, [(1, 1) if each == axis else (0, 0) for each in (0, 1)], mode="edge")
        before, here, after = (np.take(around, np.arange(n, n + lowest.shape[axis]), axis=axis) for n in range(3))
        lowest = 0.25 * before + 0.5 * here + 0.25 * after
    return np.ascontiguousarray(lowest, np.float32)


def fog_of(fog: float, sun_height: float) -> float:
    """The vertical optical depth of fog over a valley floor, for a height of the sun in degrees."""
    part = min(max((HIGHEST_SUN - sun_height) / (HIGHEST_SUN - LOWEST_SUN), 0.0), 1.0)
    return DEEPEST * fog * part * part * (3.0 - 2.0 * part)
