"""Streams on the ground."""

from __future__ import annotations

import numpy as np

from app.picture.passes.blocks import PATCH
from app.picture.passes.declaration import Frame
from app.picture.passes.mesh import GroundMesh, parts_within, touching
from app.picture.passes.mesh_parts import MeshParts

FAR_STRIDE = 1.0  # cells between vertices: in coarser nodes, pixels are so long that streams blur far beside them


class StreamsMesh(GroundMesh):
    """The parts of the ground's mesh with streams, as looking for them elsewhere would read the map for nothing."""

    BANDS = 1

    def nodes(self, frame: Frame) -> MeshParts:
        whole, plain, crossed = frame.mesh
        patches = frame.stream_patches
        far = whole[:, 2] > FAR_STRIDE
        plain, crossed = (table[touching(table, PATCH, patches)] for table in (plain, crossed))
        return MeshParts(whole[far], np.concatenate([plain, parts_within(whole[~far], patches)]), crossed)
