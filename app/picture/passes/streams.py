"""Streams on the ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.blocks import PATCH
from app.picture.passes.declaration import Frame
from app.picture.passes.mesh import GroundMesh, parts_within, touching
from app.picture.passes.mesh_parts import MeshParts

FAR_STRIDE = 1.0  # cells between vertices: in coarser nodes, pixels are so long that streams blur far beside them
STREAM_NEAR = 0.07  # cells per pixel below which the edges of streams are seen


def meet_near(
    streams: NDArray[np.bool_], shores: NDArray[np.bool_], snapshot: Snapshot, camera: Camera, within: float
) -> bool:
    """Whether there is a patch of both kinds, `[row, column]`, at most so many metres from the camera."""
    side, eye = PATCH * snapshot.cell_size, camera.position
    rows, columns = np.nonzero(streams & shores)
    sideways = np.hypot((columns + 0.5) * side - eye.x, (rows + 0.5) * side - eye.z) - 0.5 * side
    return bool((np.hypot(sideways, max(eye.y - snapshot.highest, 0.0)) < within).any())


class StreamsMesh(GroundMesh):
    """The parts of the ground's mesh with streams, as looking for them elsewhere would read the map for nothing."""

    BANDS = 1

    def nodes(self, frame: Frame) -> MeshParts:
        whole, plain, crossed = frame.mesh
        patches = frame.stream_patches
        far = whole[:, 2] > FAR_STRIDE
        plain, crossed = (table[touching(table, PATCH, patches)] for table in (plain, crossed))
        return MeshParts(whole[far], np.concatenate([plain, parts_within(whole[~far], patches)]), crossed)
