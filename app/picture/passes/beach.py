"""The beach in the swash zone: wet and drying sand, with water and foam."""

from __future__ import annotations

import numpy as np

from app.picture.passes.blocks import PATCH
from app.picture.passes.declaration import Frame
from app.picture.passes.mesh import GroundMesh, parts_within

BEACH_RISES = 3.0  # largest height of a beach, relative to the wave run-up


class BeachMesh(GroundMesh):
    """The parts of the ground's mesh at the shore, as software renderers pay for the whole shader everywhere."""

    QUADS = PATCH

    def nodes(self, frame: Frame, nodes: np.ndarray) -> np.ndarray:
        return nodes[:0] if frame.shore is None else parts_within(nodes, frame.shore.patches)
