"""The walls of the block of land, with its strata."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl

from app.model.layers import ROOF
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.geometry import Geometry
from app.picture.passes.mesh import QUADS, edge_nodes
from app.picture.passes.targets import GrowingBuffer


class WallsMesh:
    """A strip along each edge of the map, from the ground down to the base. It shares the vertices of the ground."""

    def __init__(self, context: moderngl.Context) -> None:
        self._nodes = GrowingBuffer(context)
        self._geometry = Geometry([(self._nodes.buffer, "4f 1f/i", "node", "side")])

    def parts(self, frame: Frame) -> Iterable[Part]:
        rows, columns = frame.snapshot.shape
        strips = edge_nodes(frame.nodes, columns, rows)
        self._nodes.write(strips)
        shown = frame.snapshot
        inside = {"BEDS": int(shown.edge_beds is not None), "ROOFS": int(ROOF in shown.layers)}
        uniforms = {"quads": QUADS}
        yield Part(
            self._geometry, 2 * (QUADS + 1), len(strips), moderngl.TRIANGLE_STRIP, uniforms=uniforms, defines=inside
        )

    def release(self) -> None:
        self._nodes.release()
