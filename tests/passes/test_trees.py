"""Trees in the picture: where they stand, how they take and hide the light, and what they are from afar."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm
from scipy import ndimage

from app.model.climate import Weather
from app.model.plants import KRUMMHOLZ, SHAPES
from app.model.snapshot import Snapshot
from app.model.traits import Setting
from app.picture import picture as picture_module
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import composing, frame, shaders, tree_shapes
from app.picture.passes import forest as forest_module
from app.picture.passes import trees as trees_module
from app.picture.passes.channels import Channels
from app.picture.passes.forest import (
    VARIANTS,
    Forest,
    Selection,
    TreeView,
    block_heights,
    select_trees,
    stands,
    variants_of,
)
from app.picture.passes.frame import FrameBlock
from app.picture.passes.mesh import (
    FINEST_STRIDE,
    QUADS,
    TWISTED,
    coarsest_stride,
    crossed_nodes,
    select_nodes,
    twisted_patches,
)
from app.picture.passes.quality import BY_NAME, Quality
from app.picture.passes.shaders import VERSION, ShaderLibrary, preprocess
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.nets.profile import is_nightly
from tests.passes import masks
from tests.passes.test_mesh import Vertices, everywhere, rough
from tests.passes.worlds import flat, hills, kinds_of_each_shape, planted, snapshot, way, with_layers, wooded

CELL = 20.0
CONIFER, BROADLEAF, POPLAR, SHRUB = 0.0, 1.0, 2.0, 3.0  # as kinds_of_each_shape has them
SIZE = (160, 120)

# Heights in pixels from which trees are seen in detail and as bodies, and below which they are but a colour.
LEVELS = {
    "near": (0.01, 0.005, 0.002),
    "middle": (1e9, 0.01, 0.005),
    "points": (1e9, 1e9, 0.01),
    "colour": (1e9, 1e9, 1e9),
}
BODIES = ("near", "middle", "points")

Draw = Callable[..., NDArray[np.float64]]
STAND, SCATTER, GROVES = forest_module.STAND, forest_module.SCATTER, forest_module.GROVES


@pytest.fixture(autouse=True)
def trees_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One tree is drawn for each that is simulated, where it is, as large as there, and all of its crown; what stands,
    groves and the understory are has tests of its own.
    """
    monkeypatch.setattr(forest_module, "STAND", ((0.0, 0.0, 1.0),))
    monkeypatch.setattr(forest_module, "SCATTER", 0.0)
    monkeypatch.setattr(forest_module, "GROVES", (1.0, 1.0))
    monkeypatch.setattr(trees_module, "MOST_UNDERSTORY", 0.0)


def drawing(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch, quality_at: Callable[[str], Quality]
) -> Iterator[Draw]:
    """Draws a snapshot with all its trees at one level, as brightness of each pixel and channel from 0 to 1."""
    pictures: dict[str, Picture] = {}

    def draw(
        level: str, shown: Snapshot, camera: Camera, scene: Scene | None = None, size: tuple[int, int] = SIZE
    ) -> NDArray[np.float64]:
        if level not in pictures:
            monkeypatch.setitem(picture_module.BY_NAME, level, quality_at(level))
            pictures[level] = Picture(context, bake_at_once=True, quality=level)
        picture = pictures[level]
        if picture.snapshot is not shown:
            picture.show(shown)
        picture.draw(canvas.framebuffer(*size), camera, scene or Scene(), minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        return pixels.astype(np.float64) / 255.0

    yield draw
    for picture in pictures.values():
        picture.release()


@pytest.fixture
def draw_as(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Draw]:
    """As `drawing`, without what else may show a part of a tree: outlines that are smoothed add pixels around it."""
    plain = replace(BY_NAME["low"], scale=1.0, outlines=False, triangle_pixels=3.0)
    yield from drawing(
        context, canvas, monkeypatch, lambda level: replace(plain, name=level, tree_pixels=LEVELS[level])
    )


@pytest.fixture
def draw_fine(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Draw]:
    """As `drawing`, with all that level high has."""
    yield from drawing(
        context, canvas, monkeypatch, lambda level: replace(BY_NAME["high"], name=level, tree_pixels=LEVELS[level])
    )


def meadow(side: int = 32, height: float = 0.0) -> Snapshot:
    return snapshot(flat(side, side, height), cell_size=CELL)


def looking(row: float, column: float, heading: float, pitch: float, cells: float, height: float = 0.0) -> Camera:
    return Camera(glm.vec3(column * CELL, height, row * CELL), heading, pitch, cells * CELL, 16.0)


def lit(direction: float, height: float) -> Scene:
    return Scene().with_value("view.sun_direction", direction).with_value("view.sun_height", height)


def changed(with_tree: NDArray[np.float64], without: NDArray[np.float64], least: float = 0.03) -> NDArray[np.bool_]:
    return np.asarray(np.abs(with_tree - without).max(axis=2) > least)


BLUE = "out vec4 colour;\nvoid main() { colour = vec4(0.0, 0.0, 1.0, 1.0); }\n"


# Where they stand.


def test_a_tree_stands_with_its_foot_where_it_is_on_the_map(
    draw_as: Draw, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """On a table land, away from the middle of the picture, also with heights exaggerated."""
    masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "trees.frag": BLUE, "tree_sprites.frag": BLUE})
    for level, kind, (heading, pitch) in itertools.product(BODIES, (CONIFER, BROADLEAF), ((0.0, 12.0), (250.0, 40.0))):
        with subtests.test(level=level, kind=kind, heading=heading):
            shown = planted(meadow(48, 70.0), [[20.3, 27.6, kind, 1.0]])
            camera = looking(24.0, 24.0, heading, pitch, 60.0, 140.0)
            scene = Scene().with_value("view.exaggeration", 2.0).with_value("view.tree_size", 6.0)
            pixels = draw_as(level, shown, camera, scene)
            row, column = np.nonzero((pixels[..., 2] > 0.5) & (pixels[..., 0] < 0.5))
            away = glm.vec3(27.6 * CELL, 140.0, 20.3 * CELL) - camera.position
            depth = glm.dot(away, camera.direction)
            focal_length = 0.5 * SIZE[1] / math.tan(math.radians(8.0))
            x = SIZE[0] / 2 + focal_length * glm.dot(away, camera.right) / depth
            y = SIZE[1] / 2 - focal_length * glm.dot(away, camera.up) / depth
            tall = 6.0 * CELL * focal_length / depth * math.cos(math.radians(pitch))
            assert len(row) > 20
            assert abs(column.mean() + 0.5 - x) < 0.17 * tall  # no crown is even, and each leans
            if level == "points":  # a square, as its fragments are not cut out here
                assert row.min() - 1.0 < y - 0.7 * tall and row.max() + 2.0 > y
            else:
                # A trunk goes a little into the ground, which hides that; a crown hangs over its foot, seen from above.
                assert y - 2.0 < row.max() + 1.0 < y + 2.0 + 0.45 * tall * math.tan(math.radians(pitch))
                assert 0.75 * tall < y - row.min() < 1.3 * tall * (1.0 + 0.4 * math.tan(math.radians(pitch)))


@pytest.mark.parametrize("displaced", [False, True])
def test_trees_stand_on_the_ground_as_it_is_drawn(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock, displaced: bool
) -> None:
    """On all levels of detail of the mesh: not on the hills that a coarse mesh leaves out."""
    rows, columns = 290, 420
    shown = snapshot(hills(rows, columns, seed=6, roughness=1.5) * 900.0, cell_size=10.0)
    camera = Camera(glm.vec3(300.0, 300.0, 2500.0), 40.0, 25.0, 300.0)
    detail = 2.4
    heights = (shown.lowest, shown.highest)
    finer = everywhere(detail) if displaced else None
    nodes = select_nodes(columns, rows, 10.0, heights, camera, detail, finer)
    assert len(np.unique(nodes[:, 2])) >= (4 if displaced else 3)
    relief = rough(context, rows, columns) if displaced else None
    vertices = Vertices(context, shaders, frame_block, relief)
    corners, middles = vertices.with_middles(shown, nodes, camera)  # leaves the surface in the first texture unit
    crossed = crossed_nodes(nodes, twisted_patches(shown.ground(), TWISTED * 10.0))
    assert 0 < crossed.sum() < len(nodes)
    places = np.random.default_rng(2).random((400, 2)) * (columns - 1.0, rows - 1.0) + 0.5
    drawn = np.full(len(places), np.nan)
    for node, middle, with_middle in zip(corners, middles, crossed, strict=True):
        low, high = node.min(axis=(0, 1)), node.max(axis=(0, 1))
        on_map = 10.0 * places
        within = np.flatnonzero(((on_map >= low[[0, 2]]) & (on_map <= high[[0, 2]])).all(axis=1))
        points = on_map[within, None, :]
        nw, ne, sw, se = (node[i : QUADS + i, j : QUADS + j] for i in (0, 1) for j in (0, 1))
        quarters = ((nw, ne, middle), (ne, se, middle), (se, sw, middle), (sw, nw, middle))
        for triangle in quarters if with_middle else ((nw, sw, ne), (ne, sw, se)):
            a, b, c = (corner.reshape(-1, 3).astype(np.float64) for corner in triangle)
            area = _area(a, b, c)
            shares = [_area(points, b, c), _area(a, points, c), _area(a, b, points)]
            with np.errstate(divide="ignore", invalid="ignore"):
                u, v, w = (share / area for share in shares)
            inside = (np.minimum(np.minimum(u, v), w) >= -1e-9) & (np.abs(area) > 1e-3)
            tree, quad = np.nonzero(inside)
            parts = ((u, a), (v, b), (w, c))
            drawn[within[tree]] = sum(share[tree, quad] * corner[quad, 1] for share, corner in parts)
    assert np.isfinite(drawn).all()

    lines = [part.text for part in preprocess("trees.vert", {frame.INCLUDE: frame.glsl()})]
    head = [VERSION, "#define SHADOWS 2", f"#define DISPLACED {int(displaced)}"]
    program = context.program(vertex_shader="\n".join([*head, *lines]), varyings=["position"])
    program[frame.BLOCK].binding = frame.BINDING  # type: ignore[union-attr]
    reach = detail * QUADS * 10.0
    grids = (reach, coarsest_stride(columns, rows), reach if displaced else 0.0, FINEST_STRIDE)
    program["mesh_reach"].value = grids  # type: ignore[union-attr]
    if displaced:
        program["relief"].value = 1  # type: ignore[union-attr]
    trees = np.column_stack([places, np.tile([CONIFER, 1.0, 1.0], (len(places), 1))]).astype(np.float32)
    buffer, result = context.buffer(trees.tobytes()), context.buffer(reserve=12 * len(places))
    array = context.vertex_array(program, [(buffer, "2f 3f", "cell", "growth")], skip_errors=True)
    array.transform(result, moderngl.POINTS, vertices=len(places))  # the vertex in the shape's origin
    found = np.frombuffer(result.read(), np.float32).reshape(-1, 3).copy()
    for thing in (array, buffer, result, program, vertices):
        thing.release()

    assert np.allclose(found[:, [0, 2]], 10.0 * places, atol=1e-3)
    error = np.abs(found[:, 1] - drawn)
    finest = shown.layers["bedrock"][places[:, 1].astype(int), places[:, 0].astype(int)]
    assert np.abs(finest - drawn).max() > 8.0  # the ground itself is elsewhere
    assert np.median(error) < 0.001 and np.quantile(error, 0.95) < 0.4
    assert error.max() < 2.0  # where the mesh passes from one level into the next


def _area(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Twice the area of triangles on the map; places have two coordinates, vertices three."""
    (ax, az), (bx, bz), (cx, cz) = ((p[..., 0], p[..., -1]) for p in (a, b, c))
    return np.asarray((bx - ax) * (cz - az) - (cx - ax) * (bz - az))


def test_trees_at_the_edge_of_the_map_stand_on_the_ground(draw_as: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ground ends in the middle of the outermost cells: their outer halves have none."""
    masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "trees.frag": BLUE, "tree_sprites.frag": BLUE})
    corners = [[0.0, 0.0], [0.0, 31.99], [31.99, 0.0], [31.99, 31.99]]
    shown = planted(meadow(), [[*corner, CONIFER, 0.5] for corner in corners])
    camera = Camera(glm.vec3(16.0 * CELL, 0.0, 16.0 * CELL), 0.0, 90.0, 60.0 * CELL, 40.0)
    pixels = draw_as("middle", shown, camera)
    land = pixels.min(axis=2) > 0.5
    rows, columns = np.nonzero(land)
    tree_rows, tree_columns = np.nonzero((pixels[..., 2] > 0.5) & (pixels[..., 0] < 0.5))
    assert len(tree_rows) > 3
    assert abs(rows.min() - tree_rows.min()) <= 1 and abs(rows.max() - tree_rows.max()) <= 1
    assert abs(columns.min() - tree_columns.min()) <= 1 and abs(columns.max() - tree_columns.max()) <= 1


# Which are drawn, and how.


def tree_view(height: float = 28.0, focal_length: float = 700.0, exaggeration: float = 1.0) -> TreeView:
    return TreeView(height, focal_length, (2000.0, 16.0), exaggeration, 0.0)


@pytest.mark.parametrize("shape", [(96, 140), (33, 8), (8, 70)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_tree_in_view_is_drawn_by_its_size_in_the_picture(shape: tuple[int, int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows, columns = shape
    ground = hills(rows, columns, seed=seed) * 40.0
    trees = np.column_stack(
        [
            generator.random((900, 2)) * (rows, columns),
            generator.integers(0, 2, 900),
            generator.uniform(0.05, 1.0, 900),
        ]
    )
    shown = planted(snapshot(ground, cell_size=CELL), trees)
    forest = forest_of(shown)
    limits = (60.0, 20.0, 4.0)
    for heading, pitch, cells in ((30.0, 20.0, 40.0), (200.0, 5.0, 15.0), (300.0, 70.0, 120.0)):
        camera = looking(rows / 2, columns / 2, heading, pitch, cells, 20.0)
        view = tree_view()
        selected = select_trees(forest, camera, 1.4, limits, view)
        eye = np.array(camera.position)
        cell = trees[:, :2].astype(int)
        foot = np.column_stack([trees[:, 1] * CELL, ground[cell[:, 0], cell[:, 1]], trees[:, 0] * CELL])
        middle = foot + np.array([0.0, 14.0, 0.0]) * trees[:, 3:4]
        pixels = 28.0 * trees[:, 3] * 700.0 / np.linalg.norm(middle - eye, axis=1)
        matrix = np.array((camera.projection(1.4) * camera.view()).to_list()).T
        clip = np.column_stack([foot, np.ones(len(foot))]) @ matrix.T
        seen = (np.abs(clip[:, :2]) < clip[:, 3:]).all(axis=1)
        as_near, as_middle = _among(trees, selected.near), _among(trees, selected.middle)
        points = np.zeros(len(forest.trees), bool)
        for first, number in selected.points:
            points[first : first + number] = True
        as_point = _among(trees, forest.trees[points])
        numbers = select_trees(forest, camera, 1.4, limits, view, one_by_one=True).one_by_one
        assert numbers is not None and points[numbers].all()
        as_single_point = _among(trees, forest.trees[numbers])
        outside = np.abs(clip[:, 0]) > clip[:, 3] + 25.0 * CELL
        assert as_near[seen & (pixels > 60.0)].all() and not as_near[pixels < 60.0 * 0.5].any()
        assert as_middle[seen & (pixels > 20.0) & (pixels < 60.0)].all()
        assert not as_middle[(pixels < 10.0) | (pixels > 120.0)].any()
        assert as_point[seen & (pixels > 4.0) & (pixels < 20.0)].all()
        assert as_single_point[seen & (pixels > 4.0 * 1.7) & (pixels < 20.0)].all()  # lower ones may have faded
        assert not as_single_point[(pixels < 4.0 * 0.6) | outside].any()
        assert as_near.sum() + as_middle.sum() < 1.2 * len(trees)


@pytest.mark.parametrize("distance", [40.0, 200.0])
def test_points_that_are_left_out_one_by_one_are_not_in_the_picture(
    draw_as: Draw, monkeypatch: pytest.MonkeyPatch, distance: float
) -> None:
    generator = np.random.default_rng(4)
    places, kinds = generator.random((3000, 2)) * 128.0, generator.integers(0, 4, (3000, 1))
    trees = np.column_stack([places, kinds, generator.uniform(0.02, 1.0, 3000)])
    shown = planted(snapshot(hills(128, 128) * 400.0, cell_size=CELL), trees)
    camera = looking(64.0, 64.0, 30.0, 15.0, distance, 200.0)
    monkeypatch.setitem(LEVELS, "some", (1e9, 1e9, 3.0))
    found: list[int] = []

    def all_of_their_blocks(*given: Any, **how: Any) -> Selection:
        selected = select_trees(*given, **how)
        assert selected.one_by_one is not None
        found.append(len(selected.one_by_one))
        found.append(sum(number for _, number in selected.points))
        return selected._replace(one_by_one=None)

    before = draw_as("some", shown, camera)
    monkeypatch.setattr(composing, "select_trees", all_of_their_blocks)
    after = draw_as("some", shown, camera)
    assert np.array_equal(before, after)
    assert 20 < found[0] < 0.7 * found[1]
    assert not np.array_equal(after, draw_as("colour", shown, camera))


def test_of_more_points_than_wanted_the_lowest_in_the_picture_are_left_out() -> None:
    generator = np.random.default_rng(4)
    trees = np.column_stack([generator.random((3000, 2)) * 128.0, np.zeros(3000), generator.uniform(0.02, 1.0, 3000)])
    forest = forest_of(planted(snapshot(hills(128, 128) * 400.0, cell_size=CELL), trees))
    camera = looking(64.0, 64.0, 30.0, 15.0, 200.0, 200.0)
    shown = [
        select_trees(forest, camera, 1.4, (1e9, 1e9, 3.0), tree_view(), one_by_one=True, most_points=most)
        for most in (None, 3000, 100)
    ]
    everything, as_many, few = (set(selected.one_by_one) for selected in shown if selected.one_by_one is not None)
    assert everything == as_many and few < everything and len(few) == 100
    assert shown[0].smallest == shown[1].smallest == 3.0 < shown[2].smallest
    again = select_trees(forest, camera, 1.4, (1e9, 1e9, shown[2].smallest), tree_view(), one_by_one=True).one_by_one
    assert again is not None and len(few ^ set(again)) <= 1, "they fade at the least height that is told to shaders"


def forest_of(shown: Snapshot) -> Forest:
    return Forest(shown.trees, shown.flora, shown.shape, shown.cell_size, block_heights(shown))


def _among(trees: NDArray[np.float64], chosen: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which trees are among the chosen, told by their places."""
    there = {(float(column), float(row)) for column, row in chosen[:, :2]}
    places = trees[:, :2].astype(np.float32)
    return np.array([(float(column), float(row)) in there for row, column in places])


def test_trees_get_lower_and_fewer_towards_the_tree_line_and_end_as_krummholz() -> None:
    side, number = 64, 4096
    south = (np.arange(side, dtype=np.float64) + 0.5)[:, None] * np.ones(side)
    shown = snapshot(20.0 * south, cell_size=CELL)  # 0 to 1280 m
    places = np.argwhere(np.ones((side, side))) + 0.5
    shown = planted(shown, np.column_stack([places, np.full(number, CONIFER), np.ones(number), np.full(number, 0.3)]))
    coldest = shown.flora.trees[int(CONIFER)].temperature[0]
    at_line, lapse_rate = 900.0, 0.0065
    weather = Weather(mean_temperature=coldest + lapse_rate * at_line, lapse_rate=lapse_rate)
    temperature = partial(trees_module.temperature_at, shown, weather.mean_temperature, weather.lapse_rate)
    heights = block_heights(shown)
    forest = Forest(shown.trees, shown.flora, shown.shape, shown.cell_size, heights, (), temperature)

    below = at_line - 20.0 * forest.trees[:, 1]  # metres below the line
    zones = [
        (below > near) & (below <= far) for near, far in ((450.0, 900.0), (220.0, 330.0), (80.0, 180.0), (-380.0, 0.0))
    ]
    means = [float(forest.sizes[zone].mean()) for zone in zones]
    per_cell = [zone.sum() / (side * rows) for zone, rows in zip(zones, (22.5, 5.5, 5.0, 19.0), strict=True)]
    assert means[0] == forest.sizes.max()  # some 300 m below the line and lower down they are as high as elsewhere
    assert means[0] > means[1] > means[2] > 2.0 * means[3]
    assert forest.sizes.min() == pytest.approx(KRUMMHOLZ * forest.sizes.max())
    assert per_cell[0] > 1.2 * per_cell[2] > 1.2 * per_cell[3]
    shapes = forest.trees[:, 2]
    assert (shapes[zones[0]] == tree_shapes.CONIFER).all()
    assert (shapes[zones[3]] == tree_shapes.SHRUB).mean() > 0.9
    assert forest.trees[zones[3], 4].mean() > forest.trees[zones[0], 4].mean()  # what is low by cold is not sick


def test_a_warmer_climate_lets_the_trees_that_are_drawn_grow(context: moderngl.Context) -> None:
    shown = planted(meadow(32, 300.0), [[16.5, 16.5, CONIFER, 1.0]])
    drawn = trees_module.Trees(context)
    sizes = []
    for mean in (0.0, -0.5, 12.0):
        drawn.show(shown)
        drawn.update(None, Weather(mean_temperature=mean), at_once=True)
        assert drawn.settled
        assert drawn.forest is not None
        sizes.append(float(drawn.forest.sizes[0]))
    drawn.release()
    assert sizes[1] < sizes[0] < sizes[2]


def test_no_tree_stands_in_a_channel_nor_on_its_bars(context: moderngl.Context) -> None:
    """A river of four cells across the map, a brook beside it, and trees all over; without a survey they all stand."""
    places = np.argwhere(np.ones((32, 32))) + 0.5
    dry = planted(meadow(32), np.column_stack([places, np.tile([CONIFER, 1.0], (len(places), 1))]))
    flow, cell = np.zeros((32, 32)), dry.cell_size
    flow[16], flow[4] = (4.0 * cell / 5.0) ** 2, (0.1 * cell / 5.0) ** 2
    wet = with_layers(dry, surveyed_flow=flow, surveyed_way=np.where(flow > 0.0, way((1.0, 0.0)), 0.0))
    drawn, channels, rows = trees_module.Trees(context), Channels(), []
    for shown in (dry, wet):
        channels.note(shown, 1e-6, 5.0)
        drawn.show(shown)
        drawn.update(None, Weather(), channels, at_once=True)
        assert drawn.settled
        assert drawn.forest is not None
        rows.append(drawn.forest.trees[:, 1])
    drawn.release()
    all_of_them, beside = rows
    assert np.abs(all_of_them - 16.5).min() < 0.2
    assert 2.0 < np.abs(beside - 16.5).min() < 4.0
    assert np.abs(beside - 4.5).min() < 0.2
    assert len(beside) == (np.abs(all_of_them - 16.5) > np.abs(beside - 16.5).min() - 1e-3).sum()


@pytest.mark.parametrize("wall", [0.0, 800.0])
def test_no_tree_stands_in_a_river_that_is_drawn_straighter_than_its_cells(wall: float) -> None:
    """It runs eastwards in bends of two cells: on a plain along their middle, between walls in its bed."""
    bends = np.rint(16.0 + 2.0 * np.sin(np.arange(64) / 2.5)).astype(int)
    course = [(bends[0], 0)]
    for column in range(1, 64):
        course += [(row, column) for row in np.linspace(course[-1][0], bends[column], 3).round().astype(int)]
    cells = list(dict.fromkeys(course))
    land, flow, ways = flat(32, 64), np.zeros((32, 64)), np.zeros((32, 64))
    for (row, column), (to_row, to_column) in itertools.pairwise(cells):
        flow[row, column] = (1.4 * CELL / 5.0) ** 2 + 1e-3 * column
        ways[row, column] = way((to_column - column, to_row - row))
        land[row, column] = -wall
    river = with_layers(snapshot(land, cell_size=CELL), surveyed_flow=flow, surveyed_way=ways)
    channels = Channels()
    channels.note(river, 1e-6, 5.0)
    beds = np.array([cell for cell in cells if 16 < cell[1] < 48]) + 0.5
    outermost = beds[np.abs(beds[:, 0] - 16.5) > 1.5]
    assert len(outermost) > 10
    outwards = np.sign(outermost - 16.5) * (1.0, 0.0)
    outside, inside = (channels.cover(outermost + cells * outwards).mean() for cells in (0.6, -1.8))
    assert (outside < 0.3 and inside > 0.9) if wall == 0.0 else (outside > 0.9 and inside < 0.8), (outside, inside)


def test_trees_out_of_view_are_left_out() -> None:
    places = np.argwhere(np.ones((32, 32))) * 8.0 + 4.0
    shown = planted(meadow(256), np.column_stack([places, np.tile([CONIFER, 1.0], (len(places), 1))]))
    selected = select_trees(forest_of(shown), looking(128.0, 128.0, 0.0, 10.0, 40.0), 1.0, (1e9, 1e9, 0.1), tree_view())
    assert 0 < sum(number for _, number in selected.points) < 0.5 * len(places)


def test_without_trees_nothing_of_them_is_drawn_or_compiled(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = shaders.read_shader

    def refuse(name: str) -> str:
        assert name not in ("trees.vert", "tree_sprites.vert", "canopy.vert")
        return read(name)

    monkeypatch.setattr(shaders, "read_shader", refuse)
    bare = snapshot(hills(40, 50) * 200.0, cell_size=CELL)
    drawn = Picture(context, bake_at_once=True, quality="low")
    try:
        drawn.show(bare)
        drawn.draw(canvas.framebuffer(*SIZE), looking(20.0, 25.0, 30.0, 30.0, 90.0, 100.0), Scene())
    finally:
        drawn.release()


def test_an_overlay_is_not_hidden_by_trees(draw_as: Draw) -> None:
    bare = snapshot(hills(40, 50) * 200.0, cell_size=CELL)
    tree = planted(bare, [[20.0, 25.0, BROADLEAF, 1.0]])
    camera, scene = looking(20.0, 25.0, 30.0, 30.0, 20.0, 60.0), Scene().with_value("view.overlay", "slope")
    scene = scene.with_value("view.overlay_opacity", 1.0).with_value("view.sun_height", 80.0)
    assert np.array_equal(draw_as("middle", tree, camera, scene), draw_as("middle", bare, camera, scene))
    without = scene.with_value("view.overlay", "none")
    assert not np.array_equal(draw_as("middle", tree, camera, without), draw_as("middle", bare, camera, without))


def test_trees_are_uploaded_only_when_they_change(draw_as: Draw) -> None:
    land = meadow()
    camera = looking(16.0, 16.0, 0.0, 30.0, 24.0)
    first = planted(land, [[14.0, 14.0, BROADLEAF, 1.0]], version=4)
    bare = draw_as("middle", land, camera)
    before = draw_as("middle", first, camera)
    same_version = planted(land, [[18.0, 18.0, BROADLEAF, 1.0]], version=4)
    assert np.array_equal(draw_as("middle", same_version, camera), before)
    moved = draw_as("middle", replace(same_version, trees_version=5), camera)
    assert np.abs(moved - before).max() > 0.1
    assert np.array_equal(draw_as("middle", replace(land, trees_version=6), camera), bare)


def test_trees_that_grow_are_drawn_before_the_picture_is_settled(context: moderngl.Context, canvas: Canvas) -> None:
    """Where the picture may take its time: not in each frame, but soon."""
    land, camera, scene = meadow(), looking(16.0, 16.0, 0.0, 30.0, 24.0), Scene()
    small, large = (planted(land, [[16.0, 16.0, BROADLEAF, size]], version) for version, size in ((1, 0.3), (2, 0.9)))

    def settled(picture: Picture) -> tuple[NDArray[np.uint8], int]:
        frames = 0
        while frames == 0 or not picture.frame_settled:
            picture.draw(canvas.framebuffer(*SIZE), camera, scene, minimap=False)
            frames += 1
        pixels = canvas.pixels()
        assert pixels is not None
        return pixels.copy(), frames

    pictures = [Picture(context, quality="low"), Picture(context, bake_at_once=True, quality="low")]
    try:
        pictures[0].show(small)
        before, _ = settled(pictures[0])
        pictures[0].show(large)
        after, frames = settled(pictures[0])
        pictures[1].show(large)
        expected, _ = settled(pictures[1])
    finally:
        for picture in pictures:
            picture.release()
    assert 1 < frames < 80
    assert np.abs(after.astype(int) - before).max() > 40
    assert np.abs(after.astype(int) - expected).max() < 12


# Light.


@pytest.mark.parametrize("level", BODIES)
@pytest.mark.parametrize("kind", [CONIFER, BROADLEAF])
def test_crowns_are_lit_on_the_side_of_the_sun(draw_as: Draw, level: str, kind: float) -> None:
    shown, bare = planted(meadow(), [[16.0, 16.0, kind, 1.0]]), meadow()
    camera = looking(16.0, 16.0, 0.0, 12.0, 12.0, 0.5 * CELL)
    brightness = {}
    for sun in (270.0, 90.0):
        scene = lit(sun, 25.0)
        pixels = draw_as(level, shown, camera, scene)
        there = changed(pixels, draw_as(level, bare, camera, scene))
        there[int(0.55 * SIZE[1]) :] = False  # the crown, not its shadow
        columns = np.nonzero(there)[1]
        middle = SIZE[0] // 2
        assert len(columns) > 60
        grey = pixels.mean(axis=2)
        brightness[sun] = [grey[:, half][there[:, half]].mean() for half in (np.s_[:middle], np.s_[middle:])]
    (west_by_west, east_by_west), (west_by_east, east_by_east) = brightness[270.0], brightness[90.0]
    assert west_by_west > 1.02 * east_by_west
    assert east_by_east > 1.02 * west_by_east


def test_light_falls_through_the_crown_of_a_near_tree_as_a_whole(draw_fine: Draw) -> None:
    """It gets darker from its sunny side to the other, and not in each of its boughs."""
    shown, bare = planted(meadow(), [[16.0, 16.0, BROADLEAF, 1.0]]), meadow()
    camera, scene = looking(16.0, 16.0, 0.0, 6.0, 5.0, 0.6 * CELL), lit(270.0, 25.0)
    pixels = draw_fine("near", shown, camera, scene)
    there = changed(pixels, draw_fine("near", bare, camera, scene))
    there[int(0.60 * SIZE[1]) :] = False  # the crown, not its shadow
    columns = np.nonzero(there)[1]
    first, last = np.percentile(columns, (2, 98))
    edges = np.linspace(first, last, 5).astype(int)
    grey = pixels.mean(axis=2)
    parts = [grey[:, begin:end][there[:, begin:end]].mean() for begin, end in itertools.pairwise(edges)]
    assert parts[0] > 1.8 * parts[3]


def test_far_trees_cast_shadows_on_snow(draw_fine: Draw) -> None:
    """Away from the sun; those that are not drawn as bodies have no other."""
    snowy = with_layers(meadow(), snow=1.0)
    camera, scene = looking(16.0, 16.0, 0.0, 40.0, 14.0), lit(270.0, 35.0)
    darker = draw_fine("points", snowy, camera, scene) - draw_fine(
        "points", planted(snowy, [[16.0, 16.0, CONIFER, 1.0]]), camera, scene
    )
    beside = darker.mean(axis=2)[SIZE[1] // 2 - 4 : SIZE[1] // 2 + 4]
    middle = SIZE[0] // 2
    east, west = beside[:, middle + 5 : middle + 14].mean(), beside[:, middle - 14 : middle - 5].mean()
    assert east > 2.0 * abs(west)


@pytest.mark.parametrize("level", BODIES)
def test_trees_cast_shadows_away_from_the_sun(draw_as: Draw, level: str, subtests: pytest.Subtests) -> None:
    """Seen from above; `side` is where the shadow is: down and to the right of the tree."""
    shown, bare = planted(meadow(), [[16.0, 16.0, BROADLEAF, 1.0]]), meadow()
    camera = Camera(glm.vec3(16.0 * CELL, 0.0, 16.0 * CELL), 0.0, 90.0, 30.0 * CELL, 16.0)
    for sun, side in ((270.0, (0, 1)), (90.0, (0, -1)), (0.0, (1, 0)), (180.0, (-1, 0))):
        with subtests.test(sun=sun):
            scene = lit(sun, 35.0)
            darker = draw_as(level, bare, camera, scene).mean(axis=2) - draw_as(level, shown, camera, scene).mean(
                axis=2
            )
            cell = 0.5 * SIZE[1] / math.tan(math.radians(8.0)) / 30.0
            row, column = (np.arange(n) + 0.5 - n / 2 for n in SIZE[::-1])
            along = (side[0] * row[:, None] + side[1] * column) / cell
            across = np.abs(side[1] * row[:, None] + side[0] * column) / cell
            behind, before = (
                darker[(across < 0.4) & (along * sign > 0.8) & (along * sign < 1.9)].mean() for sign in (1, -1)
            )
            assert behind > 0.04 and behind > 2.0 * abs(before)


def test_the_feet_of_trees_see_little_of_the_sky(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a high sun, from above: what of a shadow is beside the crown, with finer detail as level medium has it."""
    camera = Camera(glm.vec3(16.0 * CELL, 0.0, 16.0 * CELL), 0.0, 90.0, 30.0 * CELL, 16.0)
    scene = lit(270.0, 65.0)

    def in_shadow(scales: int) -> float:
        plain = replace(BY_NAME["low"], name="plain", scale=1.0, outlines=False, detail_scales=scales)
        monkeypatch.setitem(picture_module.BY_NAME, "plain", replace(plain, tree_pixels=LEVELS["near"]))
        picture, seen = Picture(context, bake_at_once=True, quality="plain"), []
        for shown in (planted(meadow(), [[16.0, 16.0, BROADLEAF, 1.0]]), meadow()):
            picture.show(shown)
            picture.draw(canvas.framebuffer(*SIZE), camera, scene, minimap=False)
            pixels = canvas.pixels()
            assert pixels is not None
            seen.append(pixels.astype(np.float64).mean(axis=2))
        picture.release()
        row, column = SIZE[1] // 2, SIZE[0] // 2
        beside = (seen[0] / seen[1])[row - 4 : row + 4, column : column + 30]
        return float(np.sort(beside.ravel())[:24].mean())

    assert in_shadow(2) < 0.92 * in_shadow(1)


def test_trees_that_come_later_cast_the_same_shadows(context: moderngl.Context, canvas: Canvas) -> None:
    bare = meadow()
    shown = planted(bare, [[16.0, 16.0, BROADLEAF, 1.0]])
    camera = Camera(glm.vec3(16.0 * CELL, 0.0, 16.0 * CELL), 0.0, 60.0, 30.0 * CELL, 16.0)

    def drawn(*snapshots: Snapshot) -> NDArray[np.float64]:
        picture = Picture(context, bake_at_once=True, quality="high")
        for land in snapshots:
            picture.show(land)
            picture.draw(canvas.framebuffer(*SIZE), camera, lit(250.0, 25.0), minimap=False)
        pixels = canvas.pixels()
        picture.release()
        assert pixels is not None
        return pixels.astype(np.float64)

    np.testing.assert_allclose(drawn(bare, shown), drawn(shown), atol=2.0)


def test_a_picture_is_not_settled_with_shadows_of_trees_on_ground_that_has_changed(
    context: moderngl.Context, canvas: Canvas
) -> None:
    """They stay for some frames while cycles run; the last of these is no cycle to stay at."""
    trees, camera = [[8.0, 8.0, BROADLEAF, 1.0]], looking(8.0, 8.0, 0.0, 20.0, 3.0)
    land = [
        planted(snapshot(flat(16, 16, height), cell_size=CELL, world=4, cycle=cycle), trees)
        for cycle, height in enumerate((0.0, 0.2))
    ]
    shadows = []
    for shown in (land, land[1:]):
        picture = Picture(context, quality="low")
        for state in shown:
            picture.show(state)
            frames = 0
            while frames == 0 or not picture.frame_settled:
                picture.draw(canvas.framebuffer(*SIZE), camera, lit(250.0, 25.0), minimap=False)
                frames += 1
                assert frames < 80
        assert picture.frame is not None
        texture = picture.frame.textures["tree_shadow"]
        shadows.append(np.frombuffer(texture.read(), np.float32))
        picture.release()
    np.testing.assert_array_equal(*shadows)


def test_trees_stand_in_the_shadow_of_hills_and_of_other_trees(draw_as: Draw) -> None:
    """A tree to the east of a wall of trees, or of a ridge, is darker than one that stands free."""
    alone = [[16.0, 16.0, BROADLEAF, 0.6]]
    wall = [[row, 14.6, BROADLEAF, 1.0] for row in np.arange(13.0, 19.0, 0.4)]
    ridge = flat(32, 32)
    ridge[:, 8:11] = 6.0 * CELL
    camera, scene = looking(16.0, 16.0, 0.0, 80.0, 16.0, 0.5 * CELL), lit(270.0, 22.0)
    for level in BODIES:
        brightness = []
        for land, trees in ((meadow(), alone), (meadow(), alone + wall), (snapshot(ridge, cell_size=CELL), alone)):
            pixels = draw_as(level, planted(land, trees), camera, scene)
            crown = pixels[SIZE[1] // 2 - 6 : SIZE[1] // 2 + 4, SIZE[0] // 2 - 6 : SIZE[0] // 2 + 6]
            brightness.append(crown.mean())
        free, behind_trees, behind_ridge = brightness
        assert behind_trees < 0.95 * free, level
        assert behind_ridge < 0.85 * free, level


# What they look like.


def test_in_woods_the_sun_comes_to_the_tops_of_far_trees(draw_as: Draw) -> None:
    """Others stand towards the sun, beside the tree: it is darker at its foot and hardly at its top."""
    tree, others = (
        [[16.0, 16.0, BROADLEAF, 1.0]],
        [[row, column, BROADLEAF, 1.0] for row in np.arange(15.0, 17.0, 0.25) for column in np.arange(11.0, 15.3, 0.3)],
    )
    camera, scene = looking(16.0, 16.0, 0.0, 5.0, 14.0, 0.5 * CELL), lit(270.0, 12.0)
    parts = {}
    for name, beside in (("alone", []), ("in woods", others)):
        without = draw_as("points", planted(meadow(), beside) if beside else meadow(), camera, scene)
        pixels = draw_as("points", planted(meadow(), [*beside, *tree]), camera, scene)
        there = changed(pixels, without)
        there[:, : SIZE[0] // 2 - 2] = False  # the tree, not those beside it
        rows = np.nonzero(there.any(axis=1))[0]
        grey, middle = pixels.mean(axis=2), (rows[0] + rows[-1]) // 2
        parts[name] = grey[:middle][there[:middle]].mean() / grey[middle:][there[middle:]].mean()
    assert parts["in woods"] > 1.15 * parts["alone"], parts


@pytest.mark.parametrize("level", BODIES)
def test_kinds_differ_in_form_and_colour(draw_as: Draw, level: str) -> None:
    camera, scene = looking(16.0, 16.0, 0.0, 8.0, 10.0, 0.6 * CELL), lit(200.0, 30.0)
    bare = draw_as(level, meadow(), camera, scene)
    widths, colours = [], []
    for kind in (CONIFER, BROADLEAF):
        pixels = draw_as(level, planted(meadow(), [[16.0, 16.0, kind, 1.0]]), camera, scene)
        there = changed(pixels, bare)
        rows = np.nonzero(there.sum(axis=1) > 1)[0]
        foot = int(SIZE[1] * 0.5 + 0.5 * (rows.max() - SIZE[1] * 0.5))
        tall = foot - rows.min()
        widths.append([there[rows.min() + int(part * tall)].sum() for part in (0.2, 0.5)])
        there[rows.min() + int(0.6 * tall) :] = False  # not the ground at its foot
        colours.append(pixels[there].mean(axis=0))
    conifer, broadleaf = widths
    assert conifer[0] < 0.7 * conifer[1] and broadleaf[0] > 1.6 * conifer[0]
    (needle_red, _, needle_blue), (leaf_red, _, leaf_blue) = colours
    assert leaf_red / leaf_blue > 1.02 * needle_red / needle_blue  # needles are bluer


@pytest.mark.parametrize("level", [*BODIES, "colour"])
def test_sick_trees_and_broadleaves_in_winter_are_brown(draw_as: Draw, level: str) -> None:
    generator = np.random.default_rng(1)
    places = np.column_stack([8.0 + 16.0 * generator.random((900, 2)), np.full(900, BROADLEAF), np.full(900, 0.9)])
    camera, scene = looking(16.0, 16.0, 0.0, 55.0, 24.0), lit(200.0, 45.0)
    green = planted(meadow(), places)
    sick = planted(meadow(), np.column_stack([places, np.full(900, 0.05)]))

    def redness(shown: Snapshot, scene: Scene) -> float:
        red, middle, _ = draw_as(level, shown, camera, scene)[40:80, 50:110].reshape(-1, 3).mean(axis=0)
        return float(red / middle)

    usual = redness(green, scene)
    assert redness(sick, scene) > 1.12 * usual
    assert redness(replace(green, cycle=75), scene.with_value("climate.year", 100)) > 1.12 * usual


@pytest.mark.parametrize("level", [*BODIES, "colour"])
def test_snow_lies_on_conifers_and_over_the_litter_below_them(draw_as: Draw, level: str) -> None:
    """Crowns that hide all of the ground are whiter where snow lies, and yet darker than it."""
    places = np.column_stack([8.0 + 16.0 * np.random.default_rng(1).random((900, 2)), np.full(900, CONIFER)])
    camera, scene = looking(16.0, 16.0, 0.0, 40.0, 24.0), lit(200.0, 45.0)

    def look(depth: float, number: int) -> NDArray[np.float64]:
        shown = planted(with_layers(meadow(), snow=depth), np.column_stack([places, np.full(900, 0.9)])[:number])
        return np.asarray(draw_as(level, shown, camera, scene)[40:80, 50:110].reshape(-1, 3).mean(axis=0))

    bare, snowy, white = look(0.0, 900), look(1.0, 900), look(1.0, 1)
    assert snowy[2] > 1.45 * bare[2]
    assert snowy.mean() < 0.85 * white.mean()


@pytest.mark.parametrize("level", BODIES)
def test_one_sees_through_the_crowns_of_dead_trees(draw_as: Draw, level: str) -> None:
    """Before a bright sky: fewer pixels are covered than by a tree in leaf, and yet the outline is as large."""
    camera, scene = looking(16.0, 16.0, 0.0, 2.0, 4.0, 0.6 * CELL), lit(180.0, 40.0)
    bare = draw_as(level, meadow(), camera, scene)
    covered, extent = [], []
    for health in (1.0, 0.03):
        tree = planted(meadow(), [[16.0, 16.0, BROADLEAF, 1.0, health]])
        there = changed(draw_as(level, tree, camera, scene), bare)[: SIZE[1] // 2]
        covered.append(there.sum())
        extent.append(np.ptp(np.nonzero(there)[1]) + 1)
    assert covered[1] < 0.85 * covered[0]
    assert extent[1] > 0.8 * extent[0]


def test_the_sky_is_seen_between_the_boughs_of_near_broadleaves(draw_as: Draw) -> None:
    """From the side, in some of their forms: what they hide is not all that is within their outline."""
    camera, scene = looking(16.0, 16.0, 0.0, 2.0, 4.0, 0.6 * CELL), lit(180.0, 40.0)
    bare, gaps = draw_as("near", meadow(), camera, scene), []
    for column in np.arange(15.7, 16.3, 0.1):
        pixels = draw_as("near", planted(meadow(), [[16.0, column, BROADLEAF, 1.0]]), camera, scene)
        there = changed(pixels, bare)[: SIZE[1] // 2]
        spans = there.cumsum(axis=1) * there[:, ::-1].cumsum(axis=1)[:, ::-1] > 0
        gaps.append(1.0 - there.sum() / spans.sum())
    assert np.mean(gaps) > 0.05


@pytest.mark.parametrize("level", ["near", "middle"])
def test_the_wind_bends_trees_a_little_and_leaves_their_feet(
    draw_as: Draw, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "trees.frag": BLUE})
    tree, camera = planted(meadow(), [[16.0, 16.0, CONIFER, 1.0]]), looking(16.0, 16.0, 0.0, 4.0, 4.0, 0.6 * CELL)
    columns = []
    for blows_from in (270.0, 90.0):
        pixels = draw_as(level, tree, camera, Scene().with_value("climate.wind_direction", blows_from))
        row, column = np.nonzero((pixels[..., 2] > 0.5) & (pixels[..., 0] < 0.5))
        tall = np.ptp(row)
        columns.append([column[row < row.min() + 0.2 * tall].mean(), column[row > row.max() - 0.1 * tall].mean()])
    (top_east, foot), (top_west, same_foot) = columns
    assert 0.02 * tall < top_east - top_west < 0.12 * tall
    assert abs(foot - same_foot) < 0.01 * tall


def test_no_two_trees_have_the_same_tone(draw_as: Draw) -> None:
    camera, scene = looking(16.0, 16.0, 0.0, 89.0, 40.0), lit(200.0, 80.0)
    trees = [
        [row, column, BROADLEAF, 0.9] for row in np.arange(13.0, 20.0, 2.0) for column in np.arange(13.0, 20.0, 2.0)
    ]
    tones = []
    for tree in trees:
        pixels = draw_as("points", planted(meadow(), [tree]), camera, scene)
        there = changed(pixels, draw_as("points", meadow(), camera, scene))
        tones.append(pixels[there].mean(axis=0))
    assert np.std(tones, axis=0).mean() > 0.01 * np.mean(tones)


# From afar.


def test_a_forest_that_becomes_a_colour_keeps_its_brightness(draw_as: Draw, subtests: pytest.Subtests) -> None:
    """The check has each forest by one sun, and the night by all."""
    suns, bare = (150.0, 240.0, 330.0), meadow(64)
    forests = (
        (CONIFER, 2200), (CONIFER, 8000), (BROADLEAF, 2200), (BROADLEAF, 8000), (POPLAR, 12_000), (SHRUB, 12_000),
    )  # fmt: skip
    for place, (kind, number) in enumerate(forests):
        generator = np.random.default_rng(7)
        size = generator.beta(3.0, 1.6, number).clip(0.05, 1.0)
        trees = np.column_stack([64.0 * generator.random((number, 2)), np.full(number, kind), size])
        shown = planted(meadow(64), trees)
        height = shown.flora.trees[int(kind)].height  # all are seen as large
        camera = Camera(glm.vec3(32.0 * CELL, 0.0, 32.0 * CELL), 330.0, 30.0, 150.0 * height * CELL, 10.0)
        for sun in suns if is_nightly() else (suns[place % 3],):
            with subtests.test(kind=kind, number=number, sun=sun):
                means = {}
                for level, land in (("points", shown), ("colour", shown), ("bare", bare)):
                    pixels = draw_as("colour" if level == "bare" else level, land, camera, lit(sun, 27.0))
                    means[level] = pixels[45:75, 50:110].reshape(-1, 3).mean(axis=0)
                assert np.abs(means["points"] - means["bare"]).max() > 0.05
                assert np.abs(means["points"] - means["colour"]).max() < 0.037


def test_a_forest_in_finer_cells_is_as_dense_from_afar(draw_as: Draw) -> None:
    """Trees are so many reference cells high, however fine the cells are."""
    land = snapshot(flat(48, 48), cell_size=CELL)
    fine = replace(snapshot(flat(96, 96), cell_size=0.5 * CELL), reference_cell_size=CELL)
    trees = some_trees(3000, shape=(48, 48))
    camera = looking(24.0, 24.0, 0.0, 50.0, 40.0)
    finer = trees.copy()
    finer[:, :2] = 2.0 * trees[:, :2] + 0.5
    coarse = draw_as("colour", planted(land, trees), camera)
    bare = draw_as("colour", land, camera)
    as_fine = draw_as("colour", planted(fine, finer, 2), camera)
    darkened = (bare - coarse).mean()
    assert darkened > 0.05
    assert (bare - as_fine).mean() == pytest.approx(darkened, rel=0.2)


def test_nothing_jumps_while_the_camera_goes_away(draw_as: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """From trees in detail to a forest that is but a colour: from frame to frame the picture's tone hardly changes."""
    monkeypatch.setitem(LEVELS, "all", (40.0, 14.0, 2.5))
    shown = wooded(snapshot(hills(96, 96, seed=12, roughness=2.6) * 400.0, cell_size=CELL), 9000)
    row, column = np.median(shown.trees[:, :2], axis=0)
    height = float(shown.layers["bedrock"][int(row), int(column)])
    means, distance = [], 27.0  # nearer trees fill the picture one by one
    while distance < 400.0:
        camera = Camera(glm.vec3(column * CELL, height, row * CELL), 40.0, 50.0, distance * CELL, 12.0)
        pixels = draw_as("all", shown, camera, size=(96, 72))
        means.append(pixels[20:52, 28:68].mean())
        distance *= 1.06
    assert len(means) > 40 and np.ptp(means) > 0.02
    assert np.abs(np.diff(means)).max() < 0.03


# Shapes.


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=SHAPES)
@pytest.mark.parametrize("level", ["near", "middle"])
@pytest.mark.parametrize("form", range(VARIANTS))
def test_shapes_are_of_the_size_that_points_and_colours_take_them_for(number: int, level: str, form: int) -> None:
    shape = (tree_shapes.NEAR if level == "near" else tree_shapes.MIDDLE)[number](form)
    leaves = shape.vertices[shape.vertices[:, 7] > 0.5]
    solid = leaves[(leaves[:, 8:] == 0.0).all(axis=1)]
    around = np.hypot(leaves[:, 0], leaves[:, 2])
    assert 0.85 < around.max() / tree_shapes.CROWN_RADIUS[number] < 1.35
    assert 0.85 < leaves[:, 1].max() < 1.1 and -0.05 < solid[:, 1].min() < tree_shapes.CROWN_BASE[number] + 0.12
    assert np.allclose(np.linalg.norm(shape.vertices[:, 3:6], axis=1), 1.0, atol=1e-5)
    assert shape.triangles.max() == len(shape.vertices) - 1
    assert (20 <= len(shape.triangles) <= 220) if level == "middle" else (100 <= len(shape.triangles) <= 500)


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=SHAPES)
@pytest.mark.parametrize("level", ["near", "middle"])
def test_forms_of_a_shape_are_unlike_from_the_side(number: int, level: str) -> None:
    """No outline is that of another: how wide crowns are in each tenth of their height."""
    outlines = []
    for form in range(VARIANTS):
        vertices = (tree_shapes.NEAR if level == "near" else tree_shapes.MIDDLE)[number](form).vertices
        leaves = vertices[vertices[:, 7] > 0.5]
        slices = [leaves[np.abs(leaves[:, 1] - height) < 0.08, 0] for height in np.linspace(0.1, 0.95, 10)]
        outlines.append([float(np.ptp(slice_)) if len(slice_) else 0.0 for slice_ in slices])
    for one, other in ((0, 1), (1, 2), (0, 2)):
        apart = np.abs(np.subtract(outlines[one], outlines[other])).max()
        assert apart > 0.12 * tree_shapes.CROWN_RADIUS[number]


# Stands: what is drawn for each tree that is simulated.


@pytest.fixture
def in_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest_module, "STAND", STAND)
    monkeypatch.setattr(forest_module, "SCATTER", SCATTER)


def some_trees(number: int, seed: int = 5, shape: tuple[int, int] = (48, 80)) -> NDArray[np.float32]:
    generator = np.random.default_rng(seed)
    places = generator.random((number, 2)) * shape
    rest = [generator.integers(0, 4, number), generator.uniform(0.05, 1.0, number), np.ones(number), np.ones(number)]
    return np.column_stack([places, *rest]).astype(np.float32)


def test_a_stand_has_more_and_smaller_trees_with_the_same_cover(in_stands: None) -> None:
    trees = some_trees(700)
    drawn = stands(trees, (48, 80))
    assert len(drawn) == 4 * len(trees)
    mean = np.sqrt((drawn[:, 3] ** 2).mean() / (trees[:, 3] ** 2).mean())
    assert mean == pytest.approx(0.5, abs=0.01)
    owners = drawn.reshape(4, len(trees), 6)
    np.testing.assert_allclose((owners[..., 3] ** 2).sum(axis=0), trees[:, 3] ** 2, rtol=0.02)
    np.testing.assert_array_equal(owners[..., [2, 4, 5]], np.broadcast_to(trees[:, [2, 4, 5]], (4, len(trees), 3)))
    assert (drawn[:, :2] >= 0.0).all() and (drawn[:, :2] <= (48, 80)).all()
    assert np.abs(owners[..., :2] - trees[:, :2]).max() < 0.9
    inside = ((trees[:, :2] > 1.0) & (trees[:, :2] < (47.0, 79.0))).all(axis=1)
    apart = np.linalg.norm(owners[:, None, inside, :2] - owners[None, :, inside, :2], axis=-1)
    assert apart[np.triu_indices(4, 1)].min() > 0.05


def test_the_trees_of_a_stand_stay_where_they_are(in_stands: None) -> None:
    """While their tree grows and ails, and whatever else comes and goes."""
    trees = some_trees(300)
    before = stands(trees, (48, 80)).reshape(4, 300, 6)
    later = trees.copy()
    later[:, 3:] *= 0.7
    after = stands(later[100:], (48, 80)).reshape(4, 200, 6)
    np.testing.assert_array_equal(after[..., :3], before[:, 100:, :3])
    np.testing.assert_array_equal(variants_of(_as_drawn(after)), variants_of(_as_drawn(before[:, 100:])))


def test_all_forms_are_among_trees(in_stands: None) -> None:
    forms = variants_of(_as_drawn(stands(some_trees(3000), (48, 80))))
    assert (np.abs(np.bincount(forms, minlength=VARIANTS) / len(forms) - 1.0 / VARIANTS) < 0.03).all()


def test_stands_differ(in_stands: None) -> None:
    """Some are thickets, and in some one tree towers over the others."""
    trees = some_trees(500)
    owners = stands(trees, (48, 80)).reshape(4, 500, 6)
    inside = ((trees[:, :2] > 1.0) & (trees[:, :2] < (47.0, 79.0))).all(axis=1)
    width = np.linalg.norm(owners[:, inside, :2] - owners[:, inside, :2].mean(axis=0), axis=-1).mean(axis=0)
    assert np.percentile(width, 95) > 1.6 * np.percentile(width, 5)
    largest = (owners[..., 3] / trees[:, 3]).max(axis=0)
    assert largest.min() < 0.60 and largest.max() > 0.75


def test_an_open_wood_stands_in_groves_and_a_closed_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With saplings in its clearings, about the cover that it has in the simulation, and no more trees."""
    uneven = {}
    for number in (1500, 9000):
        trees = some_trees(number, shape=(96, 96))
        trees[:, 2:4] = BROADLEAF, 0.8
        heights = block_heights(meadow(96))
        made = []
        for groves in (GROVES, (1.0, 1.0)):
            monkeypatch.setattr(forest_module, "GROVES", groves)
            made.append(Forest(trees, kinds_of_each_shape(), (96, 96), CELL, heights))
        wood, even = made
        uneven[number] = wood.sizes.std() / wood.sizes.mean(), 1.0 - len(wood.trees) / number
        assert (wood.sizes**2).sum() == pytest.approx((even.sizes**2).sum(), rel=0.2)
    assert uneven[1500][0] > 0.25 and 0.1 < uneven[1500][1] < 0.5
    assert uneven[9000] == (pytest.approx(0.0, abs=0.05), pytest.approx(0.0, abs=0.01))


def test_crowns_that_are_not_drawn_are_an_understory(
    draw_as: Draw, in_stands: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the trees of a forest that is closed in the simulation no bare ground is seen."""
    generator = np.random.default_rng(3)
    places = np.stack(np.indices((40, 40)), axis=-1).reshape(-1, 2) + 4.0 + 0.6 * generator.random((1600, 2))
    shown = planted(meadow(48), np.column_stack([places, np.full(1600, BROADLEAF), np.ones(1600)]))
    camera, scene = looking(24.0, 24.0, 0.0, 35.0, 40.0), lit(240.0, 40.0).with_value("view.tree_size", 0.6)
    without = draw_as("points", shown, camera, scene)
    monkeypatch.setattr(trees_module, "MOST_UNDERSTORY", 3.0)
    closed = draw_as("points", shown, camera, scene)
    between = changed(closed, without)
    assert between.mean() > 0.15
    greenness = [(p[between][:, 1] - 0.5 * (p[between][:, 0] + p[between][:, 2])).mean() for p in (without, closed)]
    # Darker, as it lies in the shadow of trees, and yet as green as a meadow: it is no litter.
    assert greenness[1] > 0.8 * greenness[0] and closed[between].mean() < without[between].mean()


def _as_drawn(trees: NDArray[np.float32]) -> NDArray[np.float32]:
    """Their places as `Forest.trees` has them."""
    return trees.reshape(-1, 6)[:, [1, 0]]


def test_trees_of_one_simulated_tree_are_seen(draw_as: Draw, in_stands: None) -> None:
    """Four crowns in place of one, of about the area that one had."""
    camera, scene = looking(16.0, 16.0, 0.0, 89.0, 10.0), lit(200.0, 45.0)
    bare = meadow()
    tree = planted(bare, [[16.0, 18.0, BROADLEAF, 1.0]])
    # By more than the ground around them, from which they keep some of the sky.
    there = changed(draw_as("middle", tree, camera, scene), draw_as("middle", bare, camera, scene), least=0.1)
    assert ndimage.label(ndimage.binary_opening(there, iterations=2))[1] >= 2


# Kinds.


@pytest.mark.parametrize("level", BODIES)
def test_each_kind_has_its_own_shape_and_height(draw_as: Draw, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    """A shrub is low and wide, a poplar high and narrow, in the mean of some that have each their own width."""
    plain = {**masks.PLAIN_SHADERS, "trees.frag": BLUE}
    if level == "points":  # whose outline is made where their colour is
        outline = "colour = vec4(radiance * (0.55 + 0.90 * grain.x) + air_added, outline_key());"
        text = shaders.read_shader("tree_sprites.frag")
        assert outline in text
        plain["tree_sprites.frag"] = text.replace(outline, "colour = vec4(0.0, 0.0, 1.0, 1.0);")
    masks.use(monkeypatch, plain)
    scene = Scene().with_value("view.tree_size", 6.0)
    outlines = {}
    for kind in (CONIFER, BROADLEAF, POPLAR, SHRUB):
        sides = []
        for place in ((16.0, 16.0), (15.3, 16.4), (16.7, 15.8), (14.8, 15.6), (17.1, 16.2)):
            with_tree = draw_as(level, planted(meadow(), [[*place, kind, 1.0]]), looking(*place, 0.0, 8.0, 60.0), scene)
            row, column = np.nonzero((with_tree[..., 2] > 0.5) & (with_tree[..., 0] < 0.5))
            sides.append((np.ptp(row) + 1, np.ptp(column) + 1))
        outlines[kind] = np.mean(sides, axis=0)
    (tall, _), (poplar, narrow), (shrub, wide) = outlines[CONIFER], outlines[POPLAR], outlines[SHRUB]
    assert 1.15 * tall < poplar and shrub < 0.5 * tall
    assert narrow < 0.4 * poplar and wide > 0.8 * shrub


@pytest.mark.parametrize("level", [*BODIES, "colour"])
def test_a_kind_has_the_colour_of_its_file(draw_as: Draw, level: str) -> None:
    """Also while the trees stay as they are, as when their colour is changed in the panel."""
    places = np.column_stack([8.0 + 16.0 * np.random.default_rng(3).random((700, 2)), np.full((700, 2), 1.0)])
    shown = planted(meadow(), places)
    green, red = (
        replace(shown, flora=shown.flora.with_traits((Setting("broadleaf", "colour", colour),)))
        for colour in ("#2f7a2a", "#8a2f22")
    )
    camera = looking(16.0, 16.0, 0.0, 60.0, 40.0)
    before, after = (draw_as(level, land, camera)[50:70, 70:90].reshape(-1, 3).mean(axis=0) for land in (green, red))
    assert before[1] > 1.1 * before[0]
    assert after[0] > 1.2 * after[1]
