"""Meshes that are exported: closed where they must be, as near to the land as they say, and readable by others."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.cli import main as cli
from app.cli.export import ground_colours
from app.export.landscape import Landscape
from app.export.meshes import MESH_FORMATS, Print, wet_squares
from app.export.plan import plan, write_item
from app.export.triangles import Surface, all_cells, few_triangles, in_tiles, triangulated
from app.export.wishes import Wishes
from app.model.errors import UserError
from app.model.world import World
from app.scene.scene import Scene
from kernels.standing import DRY, LAKE
from tests.app.full_disk import keeps_the_old_file_on_a_full_disk
from tests.app.small import small_scene
from tests.app.test_export import landscape_of, write
from tests.kernels.relief import island
from tests.nets.cases import tried

Numbers = NDArray[Any]


def hills(rows: int, columns: int, seed: int = 1) -> Numbers:
    """A land of waves of all lengths."""
    south, east = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    rng = np.random.default_rng(seed)
    ground = np.zeros((rows, columns))
    for length in (60.0, 25.0, 9.0, 4.0):
        a, b, phase = rng.uniform(0.5, 1.0, 3)
        ground += length * np.sin(a * east / length * 3.0 + phase) * np.cos(b * south / length * 3.0)
    return ground


def area_from_above(surface: Surface) -> Numbers:
    """Twice the area of each triangle in cells², positive where it goes against the clock as seen from above."""
    a, b, c = (surface.points[surface.faces[:, corner]] * (1.0, -1.0) for corner in range(3))
    (ux, uy), (vx, vy) = (b - a).T, (c - a).T
    return np.asarray(ux * vy - uy * vx)


def height_at(surface: Surface, east: float, south: float) -> float:
    """By looking at all triangles."""
    a, b, c = (surface.points[surface.faces[:, corner]] for corner in range(3))
    area = np.cross(np.c_[b - a, np.zeros(len(a))], np.c_[c - a, np.zeros(len(a))])[:, 2]
    at = np.array([east, south])
    u = np.cross(np.c_[at - a, np.zeros(len(a))], np.c_[c - a, np.zeros(len(a))])[:, 2] / area
    v = np.cross(np.c_[b - a, np.zeros(len(a))], np.c_[at - a, np.zeros(len(a))])[:, 2] / area
    inside = np.flatnonzero((u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9))
    heights = surface.heights[surface.faces[inside]]
    found = heights[:, 0] * (1.0 - u[inside] - v[inside]) + heights[:, 1] * u[inside] + heights[:, 2] * v[inside]
    assert np.ptp(found) < 1e-6  # triangles that meet there agree
    return float(found[0])


# Triangles.


@tried(40)
@given(rows=st.integers(2, 70), columns=st.integers(2, 70), most=st.integers(2, 3000), tiles=st.sampled_from((1, 2, 4)))
def test_few_triangles_cover_the_map_without_cracks(rows: int, columns: int, most: int, tiles: int) -> None:
    tiles = min(tiles, 1 if min(rows, columns) < 9 else 4)
    surface = few_triangles(hills(rows, columns), most, tiles)
    areas = area_from_above(surface)
    assert (areas > 0.0).all()
    assert areas.sum() == pytest.approx(2.0 * (rows - 1) * (columns - 1))
    assert len(surface.faces) <= max(most, 2 * tiles**2 * 4)
    # Each edge is of two triangles, or one at the border: so there are no points in the middle of another's edge
    edges = np.sort(surface.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    assert counts.max() <= 2
    alone = surface.points[unique[counts == 1]]
    on_border = [(alone[..., axis] == last).all(axis=1) for axis, last in ((0, 0.0), (1, 0.0))]
    on_border += [
        np.isclose(alone[..., axis], last).all(axis=1) for axis, last in ((0, columns - 1.0), (1, rows - 1.0))
    ]
    assert np.logical_or.reduce(on_border).all()


@pytest.mark.parametrize(("rows", "columns"), [(65, 65), (50, 80), (33, 20)])
def test_error_is_that_of_the_triangles(rows: int, columns: int) -> None:
    ground = hills(rows, columns)
    errors = []
    for most in (100, 600, 2000):
        surface = few_triangles(ground, most)
        misses = np.array(
            [[abs(height_at(surface, east, south) - ground[south, east]) for east in range(0, columns, 3)]
             for south in range(0, rows, 3)]
        )  # fmt: skip
        assert misses.max() <= surface.error * 1.02 + 1e-9
        assert misses.max() >= 0.5 * surface.error
        assert surface.rms < surface.error
        errors.append(surface.error)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.2 * errors[0]


def test_error_on_points_of_the_lattice_is_exact() -> None:
    ground = hills(33, 33)
    for most in (20, 60, 300):
        surface = few_triangles(ground, most)
        misses = [
            abs(height_at(surface, east, south) - ground[south, east]) for south in range(33) for east in range(33)
        ]
        assert max(misses) == pytest.approx(surface.error, rel=1e-9)
        assert np.sqrt(np.mean(np.square(misses))) == pytest.approx(surface.rms, rel=1e-9)


def test_level_land_in_tiles_has_two_triangles_in_each() -> None:
    surface = few_triangles(np.zeros((33, 33)), 2, 4)
    assert len(surface.faces) == 32
    assert [len(part.faces) for _, _, part in in_tiles(surface)] == [2] * 16


def test_plane_needs_two_triangles_and_few_follow_a_bend() -> None:
    plane = np.add.outer(np.arange(65.0), 2.0 * np.arange(65.0))
    assert len(few_triangles(plane, 10_000).faces) == 2
    assert few_triangles(plane, 10_000).error < 1e-9
    bend = np.maximum(np.add.outer(np.zeros(65), np.arange(65.0)) - 32.0, 0.0)
    surface = few_triangles(bend, 10_000)
    assert surface.error < 1e-9 and len(surface.faces) <= 300


def test_as_many_triangles_as_cells_are_the_cells() -> None:
    ground = hills(20, 31)
    surface = triangulated(ground, 2 * 19 * 30)
    assert (len(surface.points), len(surface.faces), surface.error) == (20 * 31, 2 * 19 * 30, 0.0)
    np.testing.assert_array_equal(surface.heights.reshape(20, 31), ground)
    assert (area_from_above(surface) == 1.0).all()
    assert len(triangulated(ground, 2 * 19 * 30 - 1).faces) < 2 * 19 * 30


@pytest.mark.parametrize("most", [3000, 10**6])
def test_borders_of_tiles_fit(most: int) -> None:
    surface = triangulated(hills(80, 112), most, 4)
    tiles = {(row, column): part for row, column, part in in_tiles(surface)}
    assert tiles.keys() == {(row, column) for row in range(4) for column in range(4)}
    assert sum(len(part.faces) for part in tiles.values()) == len(surface.faces)
    for (row, column), part in tiles.items():
        for beside, axis, line in (((row, column + 1), 0, column + 1), ((row + 1, column), 1, row + 1)):
            if beside in tiles:
                at = surface.lines[axis][line]
                mine, others = (border(tile, axis, at) for tile in (part, tiles[beside]))
                assert len(mine) >= 2
                np.testing.assert_array_equal(mine, others)


def border(tile: Surface, axis: int, line: float) -> Numbers:
    """Places and heights of the points on a line, in order along it."""
    on = np.isclose(tile.points[:, axis], line)
    points = np.column_stack([tile.points[on], tile.heights[on]])
    return points[np.argsort(points[:, 1 - axis])]


# Files.


@pytest.fixture(scope="module")
def lakes() -> Landscape:
    scene = small_scene(pools__enabled=True, world__lake_depth=60.0, world__columns=60, world__rows=44)
    return landscape_of(scene, 2)


@pytest.fixture
def trimesh() -> Any:
    """Which takes a second to load."""
    import trimesh

    return trimesh


COLOURS = np.add.outer(np.arange(44) * 4, np.arange(60) * 3)[..., None].repeat(3, axis=-1).astype(np.uint8)


def export(landscape: Landscape, folder: Path, **wishes: Any) -> dict[str, str]:
    """What is said of each file."""
    items = plan(landscape, Wishes(**wishes), lambda side: COLOURS)
    return {item.name: write_item(item, folder / item.name) for item in items}


@pytest.mark.parametrize("name", MESH_FORMATS)
@pytest.mark.parametrize("triangles", [500, 10**6])
def test_meshes_have_the_heights_and_normals_of_the_land(
    name: str, triangles: int, lakes: Landscape, tmp_path: Path, trimesh: Any
) -> None:
    told = export(lakes, tmp_path, meshes=(name,), triangles=triangles)
    loaded = trimesh.load(tmp_path / f"ground.{name}")
    ground = loaded.geometry["ground"] if hasattr(loaded, "geometry") else loaded
    assert f"{len(ground.faces)} triangles" in told[f"ground.{name}"]
    rows, columns = lakes.world.shape
    side = lakes.world.cell_size
    east, up, south = ground.vertices.T
    assert (np.ptp(east), np.ptp(south)) == pytest.approx(((columns - 1) * side, (rows - 1) * side))
    if triangles == 10**6:
        place = (
            np.rint(south / side + 0.5 * (rows - 1)).astype(int),
            np.rint(east / side + 0.5 * (columns - 1)).astype(int),
        )
        np.testing.assert_allclose(up, lakes.world.ground[place], rtol=1e-6, atol=1e-5)
        assert len(set(zip(*place, strict=True))) == rows * columns
    assert (ground.face_normals[:, 1] > 0.0).all()
    assert (ground.vertex_normals[:, 1] > 0.0).all()
    assert ground.is_winding_consistent


def test_glb_has_colours_in_their_places_and_water(lakes: Landscape, tmp_path: Path, trimesh: Any) -> None:
    export(lakes, tmp_path, meshes=("glb",))
    scene = trimesh.load(tmp_path / "ground.glb")
    ground, water = scene.geometry["ground"], scene.geometry["water"]
    picture = np.asarray(ground.visual.material.baseColorTexture)
    np.testing.assert_array_equal(picture, COLOURS)
    rows, columns = lakes.world.shape
    east, _, south = ground.vertices.T / lakes.world.cell_size
    u, v = ground.visual.uv.T
    np.testing.assert_allclose(u * columns, east + 0.5 * columns, atol=1e-3)
    np.testing.assert_allclose((1.0 - v) * rows, south + 0.5 * rows, atol=1e-3)
    levels = lakes.world.water_level[lakes.world.standing != DRY]
    assert water.vertices[:, 1].min() >= levels.min() - 1e-3 and water.vertices[:, 1].max() <= levels.max() + 1e-3
    assert water.visual.material.alphaMode == "BLEND"
    east, _, south = water.vertices.T / lakes.world.cell_size
    wet = lakes.world.standing != DRY
    inside = {(round(r), round(c)) for r, c in zip(south + 0.5 * (rows - 1), east + 0.5 * (columns - 1), strict=True)}
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(wet)), strict=True)) <= inside


@pytest.mark.parametrize("triangles", [400, 10_000])
def test_tiles_of_glb_have_their_own_part_of_colours_and_water(
    triangles: int, lakes: Landscape, tmp_path: Path, trimesh: Any
) -> None:
    """All water is there once; colours are those of the places, and no tile carries the others' pictures."""
    export(lakes, tmp_path, meshes=("glb",), tiles=2, triangles=triangles)
    (tmp_path / "whole").mkdir()
    export(lakes, tmp_path / "whole", meshes=("glb",), triangles=triangles)
    whole = trimesh.load(tmp_path / "whole" / "ground.glb").geometry["water"]
    rows, columns = lakes.world.shape
    middles: list[tuple[float, ...]] = []
    for path in sorted(tmp_path.glob("*.glb")):
        parts = trimesh.load(path).geometry
        if "water" in parts:
            middles += map(tuple, parts["water"].triangles_center.round(2).tolist())
        ground = parts["ground"]
        picture = np.asarray(ground.visual.material.baseColorTexture)
        assert picture.shape[0] <= 0.5 * rows + 4 and picture.shape[1] <= 0.5 * columns + 4
        east, _, south = ground.vertices.T / lakes.world.cell_size
        u, v = ground.visual.uv.T
        at = np.rint((1.0 - v) * len(picture) - 0.5).astype(int), np.rint(u * picture.shape[1] - 0.5).astype(int)
        placed = np.rint(south + 0.5 * (rows - 1)).astype(int), np.rint(east + 0.5 * (columns - 1)).astype(int)
        assert np.abs(picture[at].astype(int) - COLOURS[placed]).max() <= 4  # a pixel, where rounding parts them
    assert sorted(middles) == sorted(map(tuple, whole.triangles_center.round(2).tolist()))


def test_blocks_are_closed_and_of_the_size_that_is_asked_for(lakes: Landscape, tmp_path: Path, trimesh: Any) -> None:
    printed = Print(120.0, 4.0, 2.0)
    for triangles in (400, 10**6):
        export(lakes, tmp_path, meshes=("stl",), triangles=triangles, printed=printed)
        block, water = trimesh.load(tmp_path / "block.stl"), trimesh.load(tmp_path / "water.stl")
        for body in (block, water):
            assert body.is_watertight and body.is_winding_consistent and body.volume > 0.0
        ground, scale = lakes.world.ground, 120.0 / (59 * lakes.world.cell_size)
        assert block.extents[:2] == pytest.approx((120.0, 120.0 * 43 / 59), rel=1e-5)
        np.testing.assert_allclose(block.bounds[0], 0.0, atol=1e-4)
        if triangles == 10**6:
            assert block.bounds[1][2] == pytest.approx(4.0 + 2.0 * scale * np.ptp(ground), rel=1e-5)
            # The volume under a surface of triangles, each its area times the mean of its corners
            surface = all_cells(ground - ground.min())
            under = (0.5 * surface.heights[surface.faces].mean(axis=1)).sum() * (lakes.world.cell_size * scale) ** 2
            assert block.volume == pytest.approx(120.0 * 120.0 * 43 / 59 * 4.0 + 2.0 * scale * under, rel=1e-4)
        assert water.bounds[0][2] >= 4.0 - 0.1 and water.bounds[1][2] <= block.bounds[1][2]


def test_tiles_of_blocks_are_closed_and_together_the_whole(lakes: Landscape, tmp_path: Path, trimesh: Any) -> None:
    export(lakes, tmp_path, meshes=("stl",), triangles=1500)
    whole = trimesh.load(tmp_path / "block.stl")
    names = export(lakes, tmp_path, meshes=("stl",), triangles=1500, tiles=4)
    tiles = [trimesh.load(tmp_path / name) for name in names if name.startswith("block")]
    assert len(tiles) == 16 and all(tile.is_watertight for tile in tiles)
    assert sum(tile.volume for tile in tiles) == pytest.approx(whole.volume, rel=0.02)


def test_lakes_that_touch_in_a_corner_are_printed_closed(tmp_path: Path, trimesh: Any) -> None:
    world = World(np.zeros((20, 20)), np.zeros((20, 20)), 10.0, 1)
    for row, column in ((4, 4), (6, 6), (8, 4), (12, 12), (14, 14), (12, 15), (0, 19), (2, 17)):
        world.standing[row, column] = LAKE
        world.water_level[row, column] = 1.0 + row
    landscape = Landscape(world, Scene())
    wet = wet_squares(landscape)
    export(landscape, tmp_path, meshes=("stl",))
    water = trimesh.load(tmp_path / "water.stl")
    assert water.is_watertight and water.is_winding_consistent
    assert np.count_nonzero(wet) * 2 <= len(water.faces)


def test_dry_tiny_and_level_land(tmp_path: Path, trimesh: Any) -> None:
    landscape = Landscape(World(np.full((8, 9), 7.0), np.zeros((8, 9)), 5.0, 1), Scene())
    told = export(landscape, tmp_path, meshes=("glb", "obj", "ply", "stl"))
    assert set(told) == {"ground.glb", "ground.obj", "ground.ply", "block.stl"}
    assert trimesh.load(tmp_path / "block.stl").is_watertight
    assert set(trimesh.load(tmp_path / "ground.glb").geometry) == {"ground"}


def test_too_many_tiles_for_the_map(lakes: Landscape) -> None:
    with pytest.raises(UserError, match="--tiles 32: 60×44 cells are too few for so many tiles"):
        plan(lakes, Wishes(meshes=("glb",), tiles=32))
    with pytest.raises(UserError, match="--tiles 3: must be one of 1, 2, 4"):
        plan(lakes, Wishes(meshes=("glb",), tiles=3))


def test_without_the_package_one_line_names_the_extra(lakes: Landscape, tmp_path: Path) -> None:
    (item,) = plan(lakes, Wishes(meshes=("ply",)))
    with mock.patch.dict("sys.modules", {"trimesh": None}), pytest.raises(UserError) as error:
        write_item(item, tmp_path / item.name)
    assert "the Python package trimesh is not installed; pip install 'thalweg[export]'" in str(error.value)
    assert not list(tmp_path.iterdir())


def test_full_disk_leaves_old_meshes(lakes: Landscape, tmp_path: Path, trimesh: Any) -> None:
    for item in plan(lakes, Wishes(meshes=("glb", "obj", "ply", "stl"), triangles=100)):
        keeps_the_old_file_on_a_full_disk(item, tmp_path / item.name)
    assert len(list(tmp_path.iterdir())) == 5


# Colours.


@pytest.mark.slow
def test_colours_are_those_of_the_picture_without_light() -> None:
    ground = 3.0 * island(40, 56)
    scene = small_scene(world__source="noise", world__columns=56, world__rows=40)
    landscape = Landscape(World(ground, np.zeros_like(ground), 20.0, 1), scene)
    colours = ground_colours(landscape, 112)
    assert colours.shape == (80, 112, 3)
    assert colours.std() > 3.0  # several kinds of ground
    other = scene.with_values({"view.sun_direction": 70.0, "view.sun_height": 80.0, "view.exposure": 2.0})
    lit = ground_colours(Landscape(landscape.world, other), 112).astype(int)
    assert np.abs(lit - colours).mean() < 1.0
    snowy = scene.with_value("view.snow_line", 0.5)
    white = ground_colours(Landscape(landscape.world, snowy), 112).min(axis=-1) > 200
    high = np.kron(ground, np.ones((2, 2)))
    # Where it belongs: high up, but in gullies rather than on crests.
    assert white.any() and high[white].mean() > high[~white].mean() + 0.15 * np.ptp(ground)


def test_command_writes_one_mesh(tmp_path: Path, trimesh: Any, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "noise", "--size", "48x32", "--triangles", "300", "--texture", "64"]
    assert cli.main([*words, "--out", str(tmp_path / "land.glb")]) == 0
    assert "triangles, at most" in capsys.readouterr().out
    scene = trimesh.load(io.BytesIO((tmp_path / "land.glb").read_bytes()), file_type="glb")
    assert scene.geometry["ground"].visual.material.baseColorTexture.size == (64, 43)
    assert cli.main([*words, "--out", str(tmp_path / "land.stl"), "--print-width", "80"]) == 0
    assert trimesh.load(tmp_path / "land.stl").extents[0] == pytest.approx(80.0, rel=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["land.glb", "land.stl"]
    assert write(landscape_of(small_scene()), tmp_path, meshes=("ply",))[0].exists()
