"""The ground: nodes of a quadtree over the map, fine near the camera and coarse far away (Strugar 2009)."""

from __future__ import annotations

import math

import moderngl
import numpy as np

from app.camera import Camera
from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary

QUADS = 32  # along a side of a node


def select_nodes(
    columns: int, rows: int, cell_size: float, heights: tuple[float, float], camera: Camera, detail_distance: float
) -> np.ndarray:
    """The nodes to draw, nearest first: float32 `[node, (column, row, stride, morph distance)]`.

    A node of stride s covers `QUADS` × s cells. It is divided where the camera is nearer than `detail_distance` times
    its size, so that a cell's size in the picture stays about the same; lengths in metres.
    """
    stride = 1
    while QUADS * stride < max(columns, rows):
        stride *= 2
    eye = camera.position
    nodes = np.zeros((1, 2))
    chosen: list[np.ndarray] = []
    while True:
        size = QUADS * stride
        nodes = nodes[(nodes[:, 0] < columns - 1) & (nodes[:, 1] < rows - 1)]
        low = nodes * cell_size
        high = np.minimum(nodes + size, (columns, rows)) * cell_size
        sideways = np.maximum(np.maximum(low - (eye.x, eye.z), (eye.x, eye.z) - high), 0.0)
        upwards = max(heights[0] - eye.y, eye.y - heights[1], 0.0)
        distance = np.sqrt((sideways**2).sum(axis=1) + upwards**2)
        reach = detail_distance * size * cell_size
        divided = (distance < reach) & (stride > 1)
        whole = nodes[~divided]
        # A node has taken the form of its parent where its parent is no longer divided.
        morph = np.full(len(whole), 2.0 * reach)
        chosen.append(np.column_stack([whole, np.full(len(whole), stride), morph, distance[~divided]]))
        if stride == 1 or not divided.any():
            break
        stride //= 2
        half = QUADS * stride
        corners = np.array([(0, 0), (half, 0), (0, half), (half, half)])
        nodes = (nodes[divided][:, None, :] + corners).reshape(-1, 2)
    table = np.concatenate(chosen)
    return np.ascontiguousarray(table[np.argsort(table[:, 4], kind="stable"), :4], np.float32)


class TerrainPass:
    """Draws the ground with its materials, light and overlay."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        side = QUADS + 1
        corner = (np.arange(QUADS)[:, None] * side + np.arange(QUADS)).astype(np.uint32)
        # Both triangles of a quad share the diagonal from south-west to north-east, in all levels alike.
        quads = np.stack([corner, corner + side, corner + 1, corner + 1, corner + side, corner + side + 1], axis=-1)
        self._indices = context.buffer(quads.tobytes())
        self._nodes = context.buffer(reserve=1024 * 16, dynamic=True)
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], Drawing] = {}
        self.nodes_drawn = 0

    def draw(
        self,
        camera: Camera,
        heights: tuple[float, float],
        cell_size: float,
        picture_height: int,
        quality: Quality,
        *,
        with_overlay: bool,
        surface: moderngl.Texture,
        initial: moderngl.Texture,
        light: moderngl.Texture,
        detail: moderngl.Texture,
        palette: moderngl.Texture,
    ) -> None:
        columns, rows = surface.size
        focal_length = 0.5 * picture_height / math.tan(math.radians(camera.field_of_view) / 2.0)
        # Below 2.2 sizes, nodes of more than two levels could meet, and the ground would crack.
        detail_distance = max(focal_length / (QUADS * quality.triangle_pixels), 2.2)
        nodes = select_nodes(columns, rows, cell_size, heights, camera, detail_distance)
        self.nodes_drawn = len(nodes)
        if nodes.nbytes > self._nodes.size:
            self._nodes.orphan(2 * nodes.nbytes)
        self._nodes.write(nodes)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        drawing = self._variant(quality, with_overlay)
        drawing.program.bind(surface=surface, initial=initial, light=light, detail=detail, palette=palette)
        drawing.program.set(quads=QUADS)
        drawing.render(instances=len(nodes))

    def _variant(self, quality: Quality, with_overlay: bool) -> Drawing:
        defines = (f"OVERLAY {int(with_overlay)}", f"DETAIL_SCALES {quality.detail_scales}")
        if defines not in self._drawings:
            program = self._shaders.program("terrain.vert", "terrain.frag", defines)
            self._drawings[defines] = Drawing(self._context, program, [(self._nodes, "4f/i", "node")], self._indices)
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        self._indices.release()
        self._nodes.release()
