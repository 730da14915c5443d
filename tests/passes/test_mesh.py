"""The mesh of the ground: nodes that cover the map, levels that meet without cracks, walls that meet the ground."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.ground import Ground
from app.picture.passes import composing, frame
from app.picture.passes.blocks import BAND_ROWS
from app.picture.passes.frame import FrameBlock
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.mesh import (
    FINEST_STRIDE,
    PATCH,
    QUADS,
    SHORTEST_DETAIL,
    TWISTED,
    Finer,
    MapMesh,
    crossed_nodes,
    edge_nodes,
    mesh_parts,
    nodes_in_sight,
    select_nodes,
    twisted_patches,
)
from app.picture.passes.shaders import NO_DEFINES, VERSION, ShaderLibrary, preprocess
from app.picture.passes.targets import MIPMAPPED, GrowingBuffer
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes import masks
from tests.passes.rows import rows
from tests.passes.worlds import bumps, flat, hills, snapshot

# Nodes.

sides = st.one_of(st.integers(8, 200), st.integers(8, 8192), st.sampled_from([8, 32, 33, 34, 64, 65, 4097, 8192]))
cameras = st.builds(
    Camera,
    target=st.builds(glm.vec3, st.floats(-0.5, 1.5), st.floats(-1.0, 2.0), st.floats(-0.5, 1.5)),
    heading=st.floats(0.0, 360.0),
    pitch=st.floats(-30.0, 90.0),
    distance=st.floats(1e-4, 6.0),
)
details = st.one_of(st.just(SHORTEST_DETAIL), st.floats(SHORTEST_DETAIL, 12.0))


def scaled(camera: Camera, side: float) -> Camera:
    """The camera, whose lengths were parts of the map's longer side."""
    return Camera(camera.target * side, camera.heading, camera.pitch, camera.distance * side)


def spans(nodes: NDArray[np.float32], columns: int, rows: int) -> NDArray[np.int64]:
    """First column, first row, last column and last row of each node's vertices."""
    first = nodes[:, :2].astype(np.int64)
    last = np.minimum(first + QUADS * nodes[:, 2:3].astype(np.int64), (columns - 1, rows - 1))
    return np.concatenate([first, last], axis=1)


@tried(150)
@given(columns=sides, rows=sides, camera=cameras, detail=details, relief=st.floats(0.0, 3.0))
def test_nodes_cover_each_cell_once_and_neighbours_differ_by_one_level_at_most(
    columns: int, rows: int, camera: Camera, detail: float, relief: float
) -> None:
    side = max(columns, rows) * 10.0
    nodes = select_nodes(columns, rows, 10.0, (0.0, relief * side), scaled(camera, side), detail)
    levels = np.log2(nodes[:, 2])
    assert (levels == np.round(levels)).all() and (nodes[:, :2] % (QUADS * nodes[:, 2:3]) == 0).all()

    # All nodes are squares of a quadtree, so that it is enough to look at blocks of the smallest one.
    block = QUADS * int(nodes[:, 2].min())
    cover = np.zeros((math.ceil((rows - 1) / block), math.ceil((columns - 1) / block)), np.int64)
    level = np.zeros(cover.shape)
    for (west, north, east, south), of_node in zip(spans(nodes, columns, rows), levels, strict=True):
        there = np.s_[north // block : math.ceil(south / block), west // block : math.ceil(east / block)]
        cover[there] += 1
        level[there] = of_node
    assert (cover == 1).all()
    assert np.abs(np.diff(level, axis=0)).max(initial=0.0) <= 1.0
    assert np.abs(np.diff(level, axis=1)).max(initial=0.0) <= 1.0

    # In each level, divided nodes are at most those within reach, and each has four parts.
    within_reach = math.pi * (detail + math.sqrt(2.0) + 1.0) ** 2
    assert len(nodes) <= 4 * within_reach * (levels.max() + 1) + 1


@pytest.mark.parametrize(("columns", "rows"), [(8, 8), (33, 33), (34, 33), (200, 70), (8192, 8)])
def test_edges_are_whole(columns: int, rows: int) -> None:
    camera = Camera(glm.vec3(columns * 2.0, 0.0, rows * 3.0), 0.0, 40.0, 60.0)
    strips = edge_nodes(select_nodes(columns, rows, 10.0, (0.0, 50.0), camera, 2.5), columns, rows)
    for side, along, length in ((0, 0, columns), (2, 0, columns), (1, 1, rows), (3, 1, rows)):
        of_side = strips[strips[:, 4] == side]
        covered = sorted(zip(*spans(of_side, columns, rows)[:, [along, along + 2]].T, strict=True))
        assert covered[0][0] == 0 and covered[-1][1] == length - 1
        assert all(before[1] == after[0] for before, after in itertools.pairwise(covered))


# Vertices.


@pytest.fixture
def vertices(context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock) -> Iterator[Vertices]:
    vertices = Vertices(context, shaders, frame_block)
    yield vertices
    vertices.release()


class Vertices:
    """The vertices that the shader makes of nodes."""

    def __init__(
        self,
        context: moderngl.Context,
        shaders: ShaderLibrary,
        block: FrameBlock,
        relief: moderngl.Texture | None = None,
        shader: str = "terrain.vert",
        defines: Mapping[str, int] = NO_DEFINES,
    ) -> None:
        """With a map of `relief`, the mesh is displaced by it."""
        self.context = context
        self.block = block
        self.relief = relief
        head = [VERSION, f"#define DISPLACED {int(relief is not None)}"]
        head += [f"#define {name} {value}" for name, value in defines.items()]
        lines = head + [part.text for part in preprocess(shader, {frame.INCLUDE: frame.glsl()})]
        self.program = context.program(vertex_shader="\n".join(lines), varyings=["position"])
        self.program[frame.BLOCK].binding = frame.BINDING  # type: ignore[union-attr]
        self.surface = SurfaceMap(context, shaders)
        self.layers = LayerTextures(context)

    def of(self, shown: Snapshot, nodes: NDArray[np.float32], camera: Camera) -> NDArray[np.float32]:
        """Positions of the corners of quads, `[node, row, column, coordinate]`."""
        return self.with_middles(shown, nodes, camera)[0]

    def with_middles(
        self, shown: Snapshot, nodes: NDArray[np.float32], camera: Camera
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Positions of the corners and of the middles of quads, each `[node, row, column, coordinate]`."""
        rows, columns = shown.shape
        self.block.values["map"] = (columns, rows, shown.cell_size, 1.0)
        self.block.values["heights"] = (shown.lowest, shown.highest, shown.lowest, max(rows, columns) * shown.cell_size)
        self.block.values["camera"] = (*camera.position, 0.0)
        self.block.upload()
        self.surface.update(shown, self.layers.upload(shown))
        self.surface.texture.use(0)
        for name, value in (("surface", 0), ("quads", QUADS)):
            self.program[name].value = value  # type: ignore[union-attr]
        if self.relief is not None:
            self.relief.use(1)
            self.program["relief"].value = 1  # type: ignore[union-attr]
        side = QUADS + 1
        table = GrowingBuffer(self.context)
        table.write(nodes)
        number = side**2 + QUADS**2
        result = self.context.buffer(reserve=len(nodes) * number * 3 * 4)
        array = self.context.vertex_array(self.program, [(table.buffer, "4f/i", "node")])
        array.transform(result, moderngl.POINTS, vertices=number, instances=len(nodes))
        positions = np.frombuffer(result.read(), np.float32).reshape(len(nodes), number, 3)
        for part in (array, result, table):
            part.release()
        corners, middles = positions[:, : side**2], positions[:, side**2 :]
        return corners.reshape(-1, side, side, 3), middles.reshape(-1, QUADS, QUADS, 3)

    def release(self) -> None:
        for part in (self.surface, self.layers, self.program):
            part.release()


def borders_between(nodes: NDArray[np.float32]) -> Iterator[tuple[int, int, bool]]:
    """Pairs of nodes of which the second begins where the first ends, and whether it does so in the east."""
    first = nodes[:, :2].astype(int)
    size = (QUADS * nodes[:, 2]).astype(int)
    for one in range(len(nodes)):
        for axis in (0, 1):
            starts = first[:, axis] == first[one, axis] + size[one]
            low, high = first[one, 1 - axis], first[one, 1 - axis] + size[one]
            beside = (first[:, 1 - axis] < high) & (first[:, 1 - axis] + size > low)
            for other in np.flatnonzero(starts & beside):
                yield one, int(other), axis == 0


CAMERAS = {
    "near": Camera(glm.vec3(300.0, 50.0, 300.0), 30.0, 20.0, 120.0),
    "grazing": Camera(glm.vec3(800.0, 80.0, 900.0), 200.0, 1.0, 500.0),
    "far": Camera(glm.vec3(1000.0, 0.0, 1000.0), 330.0, 25.0, 4000.0),
    "above": Camera(glm.vec3(1100.0, 0.0, 700.0), 0.0, 90.0, 900.0),
    "high over a corner": Camera(glm.vec3(0.0, 0.0, 0.0), 0.0, 85.0, 300.0),
}


def borders_that_agree(nodes: NDArray[np.float32], made: NDArray[np.float32]) -> list[tuple[int, int]]:
    """The pairs of nodes with a border in common, each seen to have the same vertices there, as `made` of them."""
    index, pairs = np.arange(QUADS + 1), []
    for one, other, in_east in borders_between(nodes):
        ends, begins = (made[one][:, -1], made[other][:, 0]) if in_east else (made[one][-1], made[other][0])
        across = 1 if in_east else 0
        finer = min((one, other), key=lambda node: nodes[node, 2])
        low, high = nodes[finer, across], nodes[finer, across] + QUADS * nodes[finer, 2]
        sets = []
        for node, border in ((one, ends), (other, begins)):
            at = nodes[node, across] + index * nodes[node, 2]
            sets.append({tuple(vertex) for vertex in border[(at >= low) & (at <= high)].tolist()})
        assert sets[0] == sets[1]
        pairs.append((one, other))
    return pairs


def test_neighbouring_nodes_have_the_same_vertices_at_their_border(
    vertices: Vertices, subtests: pytest.Subtests
) -> None:
    for row in rows(view=list(CAMERAS), relief=[0.0, 100.0, 3000.0], shape=[(250, 250), (100, 233)]):
        with subtests.test(**row):
            shown, camera = snapshot(bumps(*row["shape"]) * row["relief"]), CAMERAS[row["view"]]
            height, width = row["shape"]
            nodes = select_nodes(width, height, 10.0, (shown.lowest, shown.highest), camera, SHORTEST_DETAIL)
            made = vertices.of(shown, nodes, camera)
            pairs = borders_that_agree(nodes, made)
            differing = sum(nodes[one, 2] != nodes[other, 2] for one, other in pairs)
            assert len(nodes) == 1 or differing > 0 or len(np.unique(nodes[:, 2])) == 1


@pytest.mark.parametrize("displaced", [False, True])
@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS.keys())
def test_shaders_for_the_grid_of_the_map_make_the_same_vertices(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock, camera: Camera, displaced: bool
) -> None:
    """To the bit: what lies on the ground, and walls, meet it with vertices of the other shader."""
    shown = snapshot(bumps(100, 233) * 3000.0)
    finer = everywhere(SHORTEST_DETAIL) if displaced else None  # as in layers of a still at levels with relief
    nodes = select_nodes(233, 100, 10.0, (shown.lowest, shown.highest), camera, SHORTEST_DETAIL, finer)
    relief = rough(context, 100, 233) if displaced else None
    vertices = Vertices(context, shaders, frame_block, relief)
    corners, middles = vertices.with_middles(shown, nodes, camera)
    made = [Vertices(context, shaders, frame_block, relief, "places.vert", own) for own in MapMesh.DEFINES]
    without_middles, with_middles = (own.with_middles(shown, nodes, camera) for own in made)
    np.testing.assert_array_equal(without_middles[0], corners)
    np.testing.assert_array_equal(with_middles[0], corners)
    np.testing.assert_array_equal(with_middles[1], middles)
    for own in (vertices, *made):
        own.release()
    if relief is not None:
        relief.release()


def rough(context: moderngl.Context, rows: int, columns: int, scale: int = 3) -> moderngl.Texture:
    """A map of relief of about a cell, `scale` texels along a cell."""
    heights = np.zeros((rows * scale, columns * scale, 4), np.float16)
    heights[..., 0] = np.random.default_rng(5).normal(size=heights.shape[:2])
    texture = context.texture((columns * scale, rows * scale), 4, heights.tobytes(), dtype="f2")
    texture.repeat_x = texture.repeat_y = False
    texture.build_mipmaps()
    texture.filter = MIPMAPPED
    return texture


def everywhere(detail: float) -> Finer:
    """A mesh finer than the map wherever it is near enough: the matrix has no place outside of the picture."""
    return Finer(detail, np.diag([0.0, 0.0, 0.0, 1.0]), 0.0, 2.0)


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS.keys())
def test_a_displaced_mesh_has_no_cracks_either(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock, camera: Camera
) -> None:
    shape = rows, columns = 250, 233
    shown = snapshot(bumps(*shape) * 100.0)
    finer = everywhere(SHORTEST_DETAIL)
    nodes = select_nodes(columns, rows, 10.0, (shown.lowest, shown.highest), camera, SHORTEST_DETAIL, finer)
    relief = rough(context, rows, columns)
    vertices = Vertices(context, shaders, frame_block, relief)
    made = vertices.of(shown, nodes, camera)
    assert borders_that_agree(nodes, made) and (nodes[:, 2].min() < 1.0 or camera.position.y > 500.0)
    vertices.release()
    relief.release()


def test_a_displaced_mesh_has_the_relief_of_the_map_where_it_is_near(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock
) -> None:
    rows, columns, scale = 40, 48, 3
    shown = snapshot(flat(rows, columns, 50.0))
    relief = rough(context, rows, columns, scale)
    camera = Camera(glm.vec3(240.0, 50.0, 200.0), 0.0, 30.0, 20.0)
    nodes = select_nodes(columns, rows, 10.0, (50.0, 50.0), camera, 8.0, everywhere(8.0))
    assert (nodes[:, 2] == FINEST_STRIDE).all()
    vertices = Vertices(context, shaders, frame_block, relief)
    made = vertices.of(shown, nodes, camera).reshape(-1, 3)
    texels = np.frombuffer(relief.read(), np.float16).reshape(rows * scale, columns * scale, 4)[..., 0]
    # In the middle of every third texel is the middle of a cell.
    middles = (made[:, 0] / 10.0 % 1.0 == 0.5) & (made[:, 2] / 10.0 % 1.0 == 0.5)
    column, row = (made[middles][:, axis] / 10.0 * scale for axis in (0, 2))
    expected = 50.0 + 10.0 * texels[row.astype(int), column.astype(int)].astype(float)
    np.testing.assert_allclose(made[middles][:, 1], expected, atol=0.02)
    vertices.release()
    relief.release()


def test_what_the_relief_lifts_into_the_picture_is_not_left_out() -> None:
    """Over flat ground, a picture that sees only what is 25 to 35 m high: cells are 10 m."""
    above = np.diag([0.0, 0.2, 0.0, 1.0])
    above[1, 3] = -6.0  # clip height: 0.2 × height − 6
    camera = Camera(glm.vec3(240.0, 30.0, 200.0), 0.0, 30.0, 20.0)

    def fine(relief: float) -> int:
        finer = Finer(8.0, above, 0.0, relief)
        return int((select_nodes(48, 40, 10.0, (0.0, 0.0), camera, 8.0, finer)[:, 2] < 1.0).sum())

    assert fine(2.0) == 0 and fine(4.0) > 0


def test_between_cells_the_mesh_is_smooth(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock
) -> None:
    """A parabola, whose slopes the map knows, comes out as one."""
    row, column = np.mgrid[:40, :48].astype(np.float32)
    shown = snapshot(0.05 * (column - 20.0) ** 2 + 0.3 * row)
    level = context.texture((1, 1), 4, bytes(8), dtype="f2")
    camera = Camera(glm.vec3(240.0, 20.0, 200.0), 0.0, 30.0, 20.0)
    nodes = select_nodes(48, 40, 10.0, (shown.lowest, shown.highest), camera, 8.0, everywhere(8.0))
    vertices = Vertices(context, shaders, frame_block, level)
    made = vertices.of(shown, nodes, camera).reshape(-1, 3)
    within = (made[:, [0, 2]] > 15.0).all(axis=1) & (made[:, 0] < 460.0) & (made[:, 2] < 380.0)
    east, south = (made[within][:, axis] / 10.0 - 0.5 for axis in (0, 2))
    np.testing.assert_allclose(made[within][:, 1], 0.05 * (east - 20.0) ** 2 + 0.3 * south, atol=2e-3)
    vertices.release()
    level.release()


def test_a_shelf_beside_a_drop_stays_level(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock
) -> None:
    """Slopes in the middles of cells are means of both sides: with all of them, it would rise out of its lake."""
    shown = snapshot(np.where(np.arange(48) < 20, 0.0, 100.0) * np.ones((40, 1)))
    level = context.texture((1, 1), 4, bytes(8), dtype="f2")
    camera = Camera(glm.vec3(240.0, 20.0, 200.0), 0.0, 30.0, 20.0)
    nodes = select_nodes(48, 40, 10.0, (shown.lowest, shown.highest), camera, 8.0, everywhere(8.0))
    vertices = Vertices(context, shaders, frame_block, level)
    heights = vertices.of(shown, nodes, camera).reshape(-1, 3)[:, 1]
    assert heights.min() >= -1e-3 and heights.max() <= 100.0 + 1e-3
    assert ((heights > 1.0) & (heights < 99.0)).any()
    vertices.release()
    level.release()


@pytest.mark.parametrize("height", [-30.0, 30.0])
@pytest.mark.parametrize("falls", [True, False])
@pytest.mark.parametrize("displaced", [False, True])
def test_trenches_and_crests_that_run_diagonally_go_through(
    context: moderngl.Context,
    shaders: ShaderLibrary,
    frame_block: FrameBlock,
    height: float,
    falls: bool,
    displaced: bool,
) -> None:
    """One cell wide, on level ground: between its cells as low, or as high, as in them."""
    row, column = np.mgrid[:40, :40]
    diagonal = row == (column if falls else 39 - column)
    shown = snapshot(np.where(diagonal, 50.0 + height, 50.0))
    camera = Camera(glm.vec3(200.0, 50.0, 200.0), 0.0, 30.0, 20.0)
    finer = everywhere(8.0) if displaced else None
    nodes = select_nodes(40, 40, 10.0, (shown.lowest, shown.highest), camera, 8.0, finer)
    crossed = crossed_nodes(nodes, twisted_patches(shown.ground(), TWISTED * 10.0))
    level = context.texture((1, 1), 4, bytes(8), dtype="f2") if displaced else None
    vertices = Vertices(context, shaders, frame_block, level)
    corners, middles = vertices.with_middles(shown, nodes, camera)
    seen = 0
    for node, middle in zip(corners[crossed], middles[crossed], strict=True):
        for points in (node, middle):
            east, south = (points[..., axis] / 10.0 - 0.5 for axis in (0, 2))
            on_it = np.abs(south - (east if falls else 39.0 - east)) < 1e-3
            on_it &= (np.minimum(east, south) > 2.0) & (np.maximum(east, south) < 37.0)
            seen += int(on_it.sum())
            # Smooth ground has no kink there, and so a little of a dam.
            np.testing.assert_allclose(points[on_it][:, 1], 50.0 + height, atol=4.0 if displaced else 1e-3)
    assert seen > 60
    vertices.release()
    if level is not None:
        level.release()


def test_between_cells_the_pointer_finds_the_ground_that_is_drawn(vertices: Vertices) -> None:
    shown = snapshot(bumps(40, 50) * 100.0)
    camera = Camera(glm.vec3(250.0, 50.0, 200.0), 0.0, 30.0, 50.0)
    nodes = select_nodes(50, 40, 10.0, (shown.lowest, shown.highest), camera, 8.0)
    middles = vertices.with_middles(shown, nodes, camera)[1].reshape(-1, 3).astype(float)
    rock = shown.layers["bedrock"]
    twist = 0.5 * np.abs(np.diff(np.diff(rock, axis=0), axis=1))
    ground, seen = Ground(shown, 1.0), 0
    for east, height, south in middles:
        row, column = round(south / 10.0) - 1, round(east / 10.0) - 1
        if row < 39 and column < 49 and twist[row, column] > 10.0 * TWISTED:
            seen += 1
            assert height == pytest.approx(ground.height(east, south), abs=1e-3)
    assert seen > 500


def test_level_and_tilted_ground_needs_no_vertices_in_the_middle_of_quads() -> None:
    ground = (3.0 * np.arange(40)[:, None] + 7.0 * np.arange(70)).astype(np.float32)
    assert not twisted_patches(ground, 5.0).any()
    ground[20, 50] += 20.0
    patches = twisted_patches(ground, 5.0)
    assert {tuple(patch) for patch in np.argwhere(patches)} == {(2, 6)}
    nodes = np.array([(0, 0, 1, 100), (32, 0, 1, 100), (0, 0, 2, 100), (48, 16, 0.25, 100)], np.float32)
    assert crossed_nodes(nodes, patches).tolist() == [False, True, False, True]


@pytest.mark.parametrize("stride", [0.5, 1.0, 2.0])
def test_only_parts_with_twisted_quads_have_vertices_in_their_middle(stride: float) -> None:
    patches = np.zeros((16, 16), bool)
    patches[3, 5] = True  # rows 24 to 31, columns 40 to 47
    size = QUADS * stride
    corners = [(east, south) for south in np.arange(0.0, 128.0, size) for east in np.arange(0.0, 128.0, size)]
    nodes = np.array([(*corner, stride, 100.0) for corner in corners], np.float32)
    whole, plain, crossed = mesh_parts(nodes, patches)
    drawn = np.zeros((int(128 / stride),) * 2, int)  # quads
    for table, quads in ((whole, QUADS), (plain, PATCH), (crossed, PATCH)):
        for east, south in (table[:, :2] / stride).astype(int):
            drawn[south : south + quads, east : east + quads] += 1
    assert (drawn == 1).all()
    expected = {(40.0 + x, 24.0 + y) for x in (0.0, 4.0) for y in (0.0, 4.0)} if stride < 1.0 else {(40.0, 24.0)}
    assert set(map(tuple, crossed[:, :2].tolist())) == (expected if stride <= 1.0 else set())


@pytest.mark.parametrize("rows", [BAND_ROWS + 1, 2 * BAND_ROWS, 2 * BAND_ROWS + 21])
def test_twisted_quads_are_found_in_all_rows_of_a_map(rows: int) -> None:
    for row in range(rows):
        ground = np.zeros((rows, 30), np.float32)
        ground[row, 20] = 20.0
        found = twisted_patches(ground, 5.0)
        assert found.shape == (-(-rows // PATCH), 4)
        quads = {max(row - 1, 0), min(row, rows - 2)}  # to the north of it and to the south
        assert {tuple(patch) for patch in np.argwhere(found).tolist()} == {(quad // PATCH, 2) for quad in quads}


def assert_out_of_sight(
    nodes: Iterable[list[float]], columns: int, rows: int, span: tuple[float, float], matrix: NDArray[np.float64]
) -> None:
    """No place of any of the nodes, in cells of 10 m, is in the picture at any height of the span."""
    generator = np.random.default_rng(1)
    for column, row, stride, _ in nodes:
        size = np.minimum(QUADS * stride, (columns - 1 - column, rows - 1 - row))
        at = (generator.random((200, 2)) * size + (column, row) + 0.5) * 10.0
        clip = np.column_stack([at[:, 0], generator.uniform(*span, 200), at[:, 1], np.ones(200)]) @ matrix.T
        assert not ((np.abs(clip[:, :2]) <= clip[:, 3:]).all(axis=1) & (clip[:, 3] > 0.0)).any()


@tried(60)
@given(camera=cameras, detail=details)
def test_the_parts_that_are_left_out_are_not_in_the_picture(camera: Camera, detail: float) -> None:
    columns, rows, heights = 150, 200, (0.0, 300.0)
    camera = scaled(camera, 2000.0)
    matrix = np.array((camera.projection(1.6) * camera.view()).to_list()).T
    finer = Finer(SHORTEST_DETAIL, matrix, -100.0, 2.0)
    every = select_nodes(columns, rows, 10.0, heights, camera, detail, everywhere(SHORTEST_DETAIL))
    seen = select_nodes(columns, rows, 10.0, heights, camera, detail, finer)
    drawn = {tuple(node) for node in seen.tolist()}
    assert drawn <= {tuple(node) for node in every.tolist()}
    left_out = [node for node in every.tolist() if tuple(node) not in drawn]
    assert_out_of_sight(left_out, columns, rows, (-100.0, 300.0), matrix)


def test_vertices_near_the_camera_are_the_middles_of_cells(vertices: Vertices) -> None:
    shown = snapshot(bumps(40, 50) * 100.0)
    camera = Camera(glm.vec3(250.0, 50.0, 200.0), 0.0, 30.0, 50.0)
    nodes = select_nodes(50, 40, 10.0, (shown.lowest, shown.highest), camera, 8.0)
    made = {(x, z): y for x, y, z in vertices.of(shown, nodes, camera).reshape(-1, 3).tolist()}
    assert len(made) == 40 * 50
    for row, column in np.ndindex(40, 50):
        assert made[column * 10.0 + 5.0, row * 10.0 + 5.0] == shown.layers["bedrock"][row, column]


@tried(60)
@given(camera=cameras, detail=details)
def test_the_nodes_that_are_left_out_are_not_in_the_picture(camera: Camera, detail: float) -> None:
    rows, columns, heights = 200, 300, (-100.0, 300.0)
    camera = scaled(camera, columns)
    matrix = np.array((camera.projection(1.5) * camera.view()).to_list()).T
    every = select_nodes(columns, rows, 10.0, heights, camera, detail)
    drawn = {tuple(node) for node in nodes_in_sight(every, columns, rows, 10.0, heights, matrix).tolist()}
    left_out = [node for node in every.tolist() if tuple(node) not in drawn]
    assert_out_of_sight(left_out, columns, rows, heights, matrix)


def test_of_a_land_that_is_seen_from_within_only_a_part_is_drawn() -> None:
    camera = Camera(glm.vec3(1500.0, 0.0, 1000.0), 0.0, 10.0, 100.0)
    matrix = np.array((camera.projection(1.5) * camera.view()).to_list()).T
    every = select_nodes(300, 200, 10.0, (0.0, 10.0), camera, 8.0)
    drawn = nodes_in_sight(every, 300, 200, 10.0, (0.0, 10.0), matrix)
    assert 0 < len(drawn) < 0.7 * len(every)


# Pictures.


@pytest.fixture
def mask(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Picture]:
    masks.use(monkeypatch, masks.PLAIN_SHADERS)
    picture = Picture(context, bake_at_once=True, quality="plain")
    yield picture
    picture.release()


def shown_as_mask(picture: Picture, canvas: Canvas, shown: Snapshot, camera: Camera) -> NDArray[np.uint8]:
    if picture.snapshot is not shown:
        picture.show(shown)
    picture.draw(canvas.framebuffer(320, 240), camera, Scene(), minimap=False)
    pixels = canvas.pixels()
    assert pixels is not None
    return pixels


LANDS = {
    "hills": hills(260, 300) * 600.0,
    "noise": bumps(150, 260) * 60.0,
    "steps": np.where(bumps(130, 130) > 0.5, 40.0, 0.0),
    "small": bumps(9, 40) * 40.0,
}


@pytest.mark.parametrize("land", LANDS)
def test_no_background_shows_through_the_land(mask: Picture, canvas: Canvas, land: str) -> None:
    """From far, near, grazing and above: no black pixel within the white land and its red walls."""
    shown = snapshot(LANDS[land])
    rows, columns = shown.shape
    side = 10.0 * max(rows, columns)
    generator = np.random.default_rng(7)
    seen = 0
    for number in range(24):
        heading, where = generator.uniform(0.0, 360.0), generator.uniform(0.0, 1.0, 2)
        pitch = (generator.uniform(15.0, 60.0), generator.uniform(1.0, 8.0), 90.0)[number % 3]
        distance = side * (2.0, 0.6, 0.2, 1.2)[number % 4]
        target = glm.vec3(where[0] * columns * 10.0, shown.highest, where[1] * rows * 10.0)
        pixels = shown_as_mask(mask, canvas, shown, Camera(target, heading, pitch, distance))
        seen += int(pixels.max(axis=2).mean() > 20.0)
        assert not masks.holes(pixels).any(), (heading, pitch, distance, tuple(target))
    assert seen > 12, "most of these cameras see land"


@pytest.mark.parametrize("heading", [0.0, 45.0, 90.0, 135.0, 180.0, 225.0, 270.0, 315.0])
def test_ground_and_walls_meet(mask: Picture, canvas: Canvas, heading: float) -> None:
    """The white ground ends at the red walls, seen from outside at every height of detail: nothing between them."""
    shown = snapshot(hills(200, 260) * 500.0)
    middle = glm.vec3(1300.0, 250.0, 1000.0)
    walls = 0
    for pitch, distance in ((30.0, 3500.0), (12.0, 5500.0), (20.0, 9000.0)):
        pixels = shown_as_mask(mask, canvas, shown, Camera(middle, heading, pitch, distance))
        walls += ((pixels[..., 0] > 0) & (pixels[..., 1] == 0)).sum()
        assert not masks.holes(pixels).any()
    assert walls > 200


def test_a_hole_in_the_land_would_be_seen(mask: Picture, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the node that is nearest to the camera, the test for holes finds one."""
    shown = snapshot(flat(200, 200))
    camera = Camera(glm.vec3(1120.0, 0.0, 1120.0), 0.0, 90.0, 640.0)  # over the middle of a node of 320 m
    assert not masks.holes(shown_as_mask(mask, canvas, shown, camera)).any()
    monkeypatch.setattr(
        composing, "select_nodes", lambda *arguments: np.ascontiguousarray(select_nodes(*arguments)[1:])
    )
    assert masks.holes(shown_as_mask(mask, canvas, shown, camera)).any()
