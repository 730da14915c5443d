"""The ground shaded once for each pixel, and the parts of the screen that need more than its plain shader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partialmethod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from numpy.typing import NDArray
from pyglm import glm

from app.cli.headless import scene_camera
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.crop import whole
from app.picture.passes import surroundings
from app.picture.passes.blocks import BAND_ROWS, joined
from app.picture.passes.quality import Quality
from app.picture.passes.shore import with_waves
from app.picture.passes.shore_blocks import BLOCK, Shore
from app.picture.passes.tiles import (
    TILE,
    GroundClass,
    GroundTiles,
    block_heights,
    stream_blocks,
    tiles_of_blocks,
)
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes.conftest import Draw
from tests.passes.rows import rows
from tests.passes.worlds import drowned, hills, plane, planted, snapshot, way, with_layers, with_rivers

CAMERAS = {
    "from afar": Camera(glm.vec3(640.0, 50.0, 480.0), 20.0, 35.0, 2400.0),
    "from above": Camera(glm.vec3(640.0, 50.0, 480.0), 100.0, 88.0, 1500.0),
    "near": Camera(glm.vec3(500.0, 60.0, 600.0), 250.0, 15.0, 300.0),
    "from within": Camera(glm.vec3(640.0, 80.0, 480.0), 310.0, 3.0, 60.0),
}


@tried(100)
@given(tiles=st_numpy.arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 9))))
def test_rectangles_cover_each_tile_once_and_nothing_else(tiles: NDArray[np.bool_]) -> None:
    covered = np.zeros(tiles.shape, int)
    for left, bottom, right, top in joined(tiles):
        assert left < right and bottom < top
        covered[bottom:top, left:right] += 1
    np.testing.assert_array_equal(covered, tiles)


@pytest.mark.parametrize("view", CAMERAS)
def test_tiles_hold_all_pixels_that_show_a_block(draw: Draw, picture: Picture, view: str) -> None:
    ground = 150.0 * hills(96, 128)
    shown, camera = snapshot(ground, cell_size=10.0), CAMERAS[view]
    scene = Scene().with_value("view.exaggeration", 1.7)
    draw(shown, camera, scene, size=(330, 250))
    assert picture.frame is not None
    texture = picture.frame.textures["places"]
    size = texture.size[:2]
    places = np.frombuffer(texture.read(), np.float32).reshape(size[1], size[0], 2)
    seen = places[..., 0] > 0.0
    assert seen.mean() > 0.2
    rng = np.random.default_rng(1)
    for part in (0.1, 0.5, 0.9):
        blocks = rng.random((24, 32)) < part
        tiles = tiles_of_blocks(blocks, block_heights(ground.astype(np.float32)), 10.0, 1.7, camera, whole(*size))
        column, row = (
            np.minimum(places[..., axis] / (10.0 * BLOCK), last).astype(int) for axis, last in ((0, 31), (1, 23))
        )
        of_blocks = seen & blocks[row, column]
        on_tiles = tiles.repeat(TILE, axis=0).repeat(TILE, axis=1)[: size[1], : size[0]]
        assert on_tiles[of_blocks].all()
    assert of_blocks.any()
    if view == "from afar":
        assert tiles_of_blocks(np.eye(24, 32) > 2.0, block_heights(ground), 10.0, 1.7, camera, whole(*size)).sum() == 0
        one = np.zeros((24, 32), bool)
        one[10, 10] = True
        assert 0 < tiles_of_blocks(one, block_heights(ground), 10.0, 1.7, camera, whole(*size)).sum() < 10


def test_blocks_far_away_are_left_out() -> None:
    camera, blocks = CAMERAS["from afar"], np.ones((24, 32), bool)
    heights = block_heights(np.zeros((96, 128), np.float32))
    everywhere = tiles_of_blocks(blocks, heights, 10.0, 1.0, camera, whole(320, 240))
    near = tiles_of_blocks(blocks, heights, 10.0, 1.0, camera, whole(320, 240), within=2200.0)
    assert 0 < near.sum() < everywhere.sum()
    assert not (near & ~everywhere).any()
    assert near[: len(near) // 2].sum() > near[len(near) // 2 :].sum()  # what is near is below


def test_blocks_of_streams_hold_all_that_spreads_from_them() -> None:
    wet = np.zeros((40, 50), bool)
    wet[17, 24] = True
    blocks = stream_blocks(wet)
    assert blocks.shape == (10, 13)
    assert {(int(row), int(column)) for row, column in np.argwhere(blocks)} == {(3, 5), (4, 5), (3, 6), (4, 6)}
    assert not stream_blocks(np.zeros_like(wet)).any()


@pytest.mark.parametrize("reach", [0.5, 3.0, 5.0, 20.0])
def test_blocks_of_beaches_hold_all_dry_ground_so_near_to_water_and_little_else(reach: float) -> None:
    rows, columns = 50, 61
    wet = np.zeros((rows, columns), bool)
    wet[20:23, 33], wet[40, 3] = True, True
    shore = Shore.of(np.full((rows, columns), 12.0, np.float32), wet)
    row, column = np.mgrid[:rows, :columns]
    away = np.min([np.maximum(abs(row - r), abs(column - c)) for r, c in np.argwhere(wet)], axis=0)
    blocks = shore.beach_blocks(reach)
    cells = blocks.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)[:rows, :columns]
    near = min(reach, 8.0)
    assert cells[~wet & (away <= near)].all()
    assert not cells[away > near + 2 * BLOCK].any()
    assert (np.array(shore.heights)[:, blocks] == 12.0).all()
    assert not Shore.of(np.zeros((8, 9), np.float32), np.ones((8, 9), bool)).beach_blocks(reach).any()


def test_the_heights_of_a_shore_are_the_extremes_of_the_water_that_can_reach_it() -> None:
    rows, columns = BAND_ROWS + 21, 45
    generator = np.random.default_rng(1)
    wet, level = generator.random((rows, columns)) < 0.01, generator.random((rows, columns), np.float32)
    low, high = Shore.of(level, wet).heights
    assert low.shape == high.shape == (-(-rows // BLOCK), -(-columns // BLOCK))
    for row, column in np.ndindex(low.shape):
        top, left = max((row - 2) * BLOCK, 0), max((column - 2) * BLOCK, 0)
        around = np.s_[top : (row + 3) * BLOCK, left : (column + 3) * BLOCK]
        reaching = level[around][wet[around]]
        assert low[row, column] == reaching.min(initial=np.inf)
        assert high[row, column] == reaching.max(initial=-np.inf)


def test_a_block_that_reaches_behind_the_eye_is_not_everywhere() -> None:
    """Only where it can be in the picture: that around the camera is below it."""
    camera = Camera(glm.vec3(640.0, 400.0, 480.0), 0.0, 20.0, 60.0)
    heights = block_heights(np.zeros((96, 128), np.float32))
    row, column = np.mgrid[:24, :32]
    eye = camera.position / (10.0 * BLOCK)
    around = (abs(row + 0.5 - eye.z) < 2.0) & (abs(column + 0.5 - eye.x) < 2.0)
    assert around.any()
    assert not tiles_of_blocks(around, heights, 10.0, 1.0, camera, whole(320, 240)).any()


def test_puddles_and_brooks_have_no_waves_but_the_arms_of_lakes_do() -> None:
    wet = np.zeros((64, 64), bool)
    wet[4:20, 4:20] = True  # a lake
    wet[10, 20:40] = True  # with a narrow arm
    wet[40:43, 40:43] = True  # a puddle
    wet[50, 5:60] = True  # a brook
    found = with_waves(wet)
    assert found[:30].sum() == wet[:30].sum()
    assert not found[30:].any()
    assert not with_waves(np.zeros((5, 7), bool)).any() and with_waves(np.ones((5, 7), bool)).all()


def both_ways(draw: Draw, monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> NDArray[np.int_]:
    """How far pixels differ between ground that is shaded once for each pixel and ground that is not."""
    pixels = draw(*arguments, **options).astype(int)
    monkeypatch.setattr(Quality, "deferred", property(lambda quality: False))
    monkeypatch.setattr(Quality, "shadows_have_heights", property(lambda quality: False))  # as where it is deferred
    monkeypatch.setattr(surroundings, "QUADS", surroundings.QUADS_OF_SOFTWARE)
    other = draw(*arguments, **options).astype(int)
    assert np.ptp(pixels) > 50
    return np.abs(pixels - other).max(axis=2)


def bare() -> Snapshot:
    return snapshot(200.0 * hills(96, 128))


WORLDS: dict[str, Callable[[], Snapshot]] = {
    "bare": bare,
    "rivers": lambda: with_rivers(bare(), 200.0),
    "sea": lambda: drowned(bare(), 80.0),
}


def rainy(scene: Scene) -> Scene:
    """The scene with a threshold by which `WORLDS` have streams."""
    return scene.with_value("view.stream_threshold", 40.0)


def test_it_looks_as_if_the_mesh_itself_was_shaded(
    draw: Draw, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    lands = {world: make() for world, make in WORLDS.items()}
    for row in rows(world=list(lands), quality=["low", "medium"], distance=[1.0, 0.25]):
        with subtests.test(**row), monkeypatch.context() as patch:
            shown = lands[row["world"]]
            scene = rainy(Scene()).with_value("view.quality", row["quality"])
            camera = scene_camera(scene, shown)
            camera = replace(camera, distance=camera.distance * row["distance"])
            differ = both_ways(draw, patch, shown, camera, scene, size=(320, 200))
            # At the edges of triangles, quads of the mesh read coarser images of textures, and have other grit.
            assert np.mean(differ) < 3.3
            assert np.mean(differ > 12) < 0.075


def everything_of(
    tiles: GroundTiles, classes: Callable[..., list[GroundClass]], *arguments: Any, **options: Any
) -> list[GroundClass]:
    """Classes that say of all tiles that they may have streams nearby and beaches, where those are drawn at all."""
    near, beach = options["smallest_stream"] is not None, options["shore"] is not None
    return [entry._replace(near_streams=near, beach=beach) for entry in classes(tiles, *arguments, **options)]


def test_tiles_of_streams_and_beaches_leave_no_seams(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same picture, where the whole screen has the shader for streams nearby and for beaches."""
    for make in (WORLDS["rivers"], WORLDS["sea"]):
        shown, scene = make(), rainy(Scene())
        camera = scene_camera(scene, shown)
        pixels = draw(shown, camera, scene, size=(320, 200)).astype(int)
        with monkeypatch.context() as patch:
            patch.setattr(GroundTiles, "classes", partialmethod(everything_of, GroundTiles.classes))
            everywhere = draw(shown, camera, scene, size=(320, 200)).astype(int)
        assert np.abs(pixels - everywhere).max() <= 3


def test_streams_near_a_beach_and_below_trees_are_whole(
    draw: Draw, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ground has no room for the textures of all three: tiles without a beach would have other streams."""
    sea = drowned(snapshot(plane(96, 128, 0.0, -0.4)), -30.0)
    flow = np.zeros(sea.shape)
    flow[:75, 4::8] = 30.0
    wet = with_layers(sea, surveyed_flow=flow, surveyed_way=np.where(flow > 0.0, way((0.0, 1.0)), 0.0))
    shown = planted(wet, [[row, column, 0.0, 1.0] for row in range(40, 72, 6) for column in range(0, 128, 8)])
    scene = rainy(Scene()).with_values({"view.quality": "medium", "view.tree_size": 4.0, "rivers.width": 3.0})
    camera = Camera(glm.vec3(640.0, -25.0, 680.0), 0.0, 20.0, 200.0, 40.0)
    pixels = draw(shown, camera, scene, size=(320, 200)).astype(int)
    assert picture.frame is not None and picture.frame.defines["CANOPY"] == 2
    with monkeypatch.context() as patch:
        patch.setattr(GroundTiles, "classes", partialmethod(everything_of, GroundTiles.classes))
        everywhere = draw(shown, camera, scene, size=(320, 200)).astype(int)
    assert np.abs(pixels - everywhere).max() <= 3
