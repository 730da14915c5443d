"""The beach in the swash zone: wet and drying sand, with water and foam."""

from __future__ import annotations

import numpy as np

from app.picture.passes.blocks import PATCH
from app.picture.passes.declaration import Frame
from app.picture.passes.mesh import GroundMesh, parts_within, touching
from app.picture.passes.mesh_parts import MeshParts

BEACH_RISES = 3.0  # largest height of a beach, relative to the wave run-up


class BeachMesh(GroundMesh):
    """The parts of the ground's mesh at the shore, as software renderers pay for the whole shader everywhere."""

    BANDS = 1

    def nodes(self, frame: Frame) -> MeshParts:
        whole, plain, crossed = frame.mesh
        if frame.shore is None:
            return MeshParts(whole[:0], plain[:0], crossed[:0])
        patches = frame.shore.patches
        plain, crossed = (table[touching(table, PATCH, patches)] for table in (plain, crossed))
        return MeshParts(whole[:0], np.concatenate([plain, parts_within(whole, patches)]), crossed)
