"""Beds of loose material at the edges of the map, as the walls of the block show them."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.materials import Materials
from app.model.snapshot import Snapshot
from app.picture.passes.materials import albedo

BED_TONES = (1.0, 0.9)  # of every other bed, so that those of one kind are told apart


class EdgeBeds:
    """A texture [side and bed, place along the side]: root of the albedo, and depth of the bed's foot in metres."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._texture: moderngl.Texture | None = None
        self._made_for: NDArray[np.float32] | None = None

    def update(self, snapshot: Snapshot) -> None:
        """Make the texture of a snapshot."""
        beds = snapshot.edge_beds
        if beds is self._made_for:
            return
        self.release()
        if beds is not None and snapshot.materials is not None:
            texels = edge_texels(beds, snapshot.materials)
            self._texture = self._context.texture(texels.shape[1::-1], 4, texels.tobytes(), dtype="f4")
            self._texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._made_for = beds

    @property
    def texture(self) -> moderngl.Texture | None:
        """None if there are no beds."""
        return self._texture

    def release(self) -> None:
        if self._texture is not None:
            self._texture.release()
        self._texture = self._made_for = None


def edge_texels(beds: NDArray[np.float32], materials: Materials) -> NDArray[np.float32]:
    """The texels of the beds of all sides, see `Snapshot.edge_beds`."""
    sides, length, count, _ = beds.shape
    thickness = beds.sum(axis=3)
    colours = np.array([albedo(material) for material in materials.loose])
    mixed = beds @ colours / np.maximum(thickness, 1e-12)[..., None]
    texels = np.zeros((sides, count, length, 4), np.float32)
    tones = np.resize(BED_TONES, count)
    texels[..., :3] = np.sqrt(mixed * tones[:, None]).transpose(0, 2, 1, 3)
    texels[..., 3] = thickness.cumsum(axis=2).transpose(0, 2, 1)
    return texels.reshape(sides * count, length, 4)
