"""Ground vegetation near the camera."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot
from app.picture.passes.forest import Forest
from app.picture.passes.swash import SeaShore
from app.picture.passes.waves import RunUp


class GroundCover(NamedTuple):
    """Grass, wetness and wood of a world, [row, column]; no grass where water stands or the sea runs up a beach."""

    grass: NDArray[np.float32]
    wetness: NDArray[np.float32]
    key: tuple[object, ...]  # of the world and its versions, of the waves, and of the trees
    wood: NDArray[np.float32]  # 0 to 1, how much of a cell drawn trees stand over

    @staticmethod
    def of(
        snapshot: Snapshot,
        before: GroundCover | None,
        shore: SeaShore | None,
        run_up: RunUp | None,
        forest: Forest | None = None,
    ) -> GroundCover | None:
        """That of a snapshot, copied because its arrays are reused; `before` if it is equal."""
        layers = snapshot.layers
        if "grass" not in layers or "wetness" not in layers:
            return None
        key = snapshot.world, snapshot.versions["grass"], snapshot.versions["wetness"], run_up, forest and forest.number
        if before is not None and before.key == key:
            return before
        grass = layers["grass"] * (layers["water"] <= 0.0) if "water" in layers else layers["grass"].copy()
        if shore is not None and run_up is not None:
            grass[shore.swept_cells(run_up)] = 0.0
        wood = np.zeros(snapshot.shape, np.float32) if forest is None else forest.wood()
        return GroundCover(grass, layers["wetness"].copy(), key, wood * (grass > 0.0))
