"""What grows on the ground below trees, as it is seen near the eye."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot


class GroundCover(NamedTuple):
    """Grass and wetness of a world, [row, column]; no grass where water stands."""

    grass: NDArray[np.float32]
    wetness: NDArray[np.float32]
    key: tuple[int, ...]  # of the world and its versions

    @staticmethod
    def of(snapshot: Snapshot, before: GroundCover | None) -> GroundCover | None:
        """That of a snapshot, whose arrays may be written again; `before` where it is the same."""
        layers = snapshot.layers
        if "grass" not in layers or "wetness" not in layers:
            return None
        key = snapshot.world, snapshot.versions["grass"], snapshot.versions["wetness"]
        if before is not None and before.key == key:
            return before
        grass = layers["grass"] * (layers["water"] <= 0.0) if "water" in layers else layers["grass"].copy()
        return GroundCover(grass, layers["wetness"].copy(), key)
