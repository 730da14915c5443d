"""The beach that waves run up: its sand, wet and drying, and the water and foam on it."""

from __future__ import annotations

import numpy as np

from app.picture.passes.blocks import PATCH
from app.picture.passes.declaration import Frame
from app.picture.passes.mesh import GroundMesh, parts_within

BEACH_RISES = 3.0  # how far up a beach can reach, relative to the wave run-up


class BeachMesh(GroundMesh):
    """The parts of the ground's mesh where the shore is.

    Only there: software renderers pay for all of a shader wherever it draws.
    """

    QUADS = PATCH

    def nodes(self, frame: Frame, nodes: np.ndarray) -> np.ndarray:
        return nodes[:0] if frame.shore is None else parts_within(nodes, frame.shore.patches)
