"""A picture that is drawn in tiles is the picture that is drawn at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.cli.headless import scene_camera
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.crop import MARGIN, STEP, bands
from app.picture.passes.quality import LEVELS
from app.picture.sides import Sides
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes.worlds import bumps, drowned, hills, island, snapshot, with_rivers, wooded

SIDE = 3 * STEP  # of a tile
SIZE = (3 * SIDE, 2 * SIDE)
SMALLER = (2 * SIDE, 2 * SIDE)
LARGEST = SIDE + 2 * MARGIN


@tried(100)
@given(st.integers(1, 5000), st.integers(1, 3000), st.integers(2 * MARGIN + STEP, 2048))
def test_tiles_cover_a_picture_once_and_none_is_too_large(width: int, height: int, largest: int) -> None:
    rows = 0
    for band in bands(width, height, largest):
        assert band[0].top == rows and len({(tile.top, tile.height) for tile in band}) == 1
        rows += band[0].height
        columns = 0
        for tile in band:
            assert tile.left == columns
            columns += tile.width
            drawn = tile.drawn
            assert drawn.width <= largest and drawn.height <= largest
            assert drawn.left >= 0 and drawn.left + drawn.width <= width
            assert drawn.bottom >= 0 and drawn.top >= 0
            assert drawn.left % STEP == drawn.bottom % STEP == 0
            assert (tile.rows.start, tile.columns.start) == (tile.top - drawn.top, tile.left - drawn.left)
            assert tile.rows.stop <= drawn.height and tile.columns.stop <= drawn.width
        assert columns == width
    assert rows == height


@pytest.fixture
def sides(context: moderngl.Context, resting_place: moderngl.Framebuffer) -> Iterator[Sides]:
    made = Sides(context, bake_at_once=True)
    yield made
    resting_place.use()
    made.release()


def in_tiles_and_at_once(
    sides: Sides,
    snapshots: list[Snapshot],
    scene: Scene,
    camera: Camera,
    *,
    size: tuple[int, int] = SIZE,
    labels: bool = False,
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    sides.show(snapshots)
    sides.lay_out(*size)
    count = len(snapshots)
    names = [(f"World {place}", "as it is") for place in range(count)] if labels else []
    arguments = ([camera] * count, [scene] * count)
    sides.draw(*arguments, time=2.0, minimap=True, labels=names)
    pixels = sides.pixels()
    assert pixels is not None
    looks = sides.looks(*arguments, minimap=True, labels=names)
    tiled = list(sides.bands(looks, 2.0, LARGEST))
    assert len(tiled) == 2
    return np.concatenate(tiled).astype(np.int16), pixels.astype(np.int16)


@cache
def wet_land() -> Snapshot:
    land = drowned(snapshot(island(96, 128, relief=300.0), cell_size=10.0), 60.0)
    return wooded(with_rivers(land, 1e4), 3000)


LANDS = {
    "wooded island": (wet_land, {"waves.enabled": True}),
    "hills on a table": (lambda: wooded(snapshot(150.0 * hills(96, 128), cell_size=10.0), 900), {}),
    "hills with an overlay": (lambda: snapshot(150.0 * hills(96, 128), cell_size=10.0), {"view.overlay": "slope"}),
    "desert": (
        lambda: snapshot(60.0 * bumps(96, 128), sediment=5.0, cell_size=10.0),
        {"view.desert": 1.0, "view.drifting_sand": 1.0},
    ),
}


# Each land and each level; the night has all of them with each other.
CHECKED = {
    ("wooded island", "lowest"),
    ("wooded island", "high"),
    ("hills on a table", "medium"),
    ("hills with an overlay", "ultra"),
    ("desert", "low"),
}


@pytest.mark.parametrize(
    ("land", "quality"),
    [
        pytest.param(land, level.name, marks=() if (land, level.name) in CHECKED else pytest.mark.nightly)
        for land in LANDS
        for level in LEVELS
    ],
)
def test_no_seams(land: str, quality: str, sides: Sides) -> None:
    make, settings = LANDS[land]
    shown = make()
    scene = Scene().with_values({"view.quality": quality, **settings})
    camera = scene_camera(scene, shown, SMALLER[0] / SMALLER[1])
    tiled, whole = in_tiles_and_at_once(sides, [shown], scene, camera, size=SMALLER)
    assert whole.std() > 10.0
    check(tiled, whole)


def check(tiled: NDArray[np.int16], whole: NDArray[np.int16]) -> None:
    """They are alike but for rounding: where edges of triangles lie to a part of a pixel."""
    assert tiled.shape == whole.shape
    differs = np.abs(tiled - whole).max(axis=2)
    assert (differs > 2).mean() < 0.001
    assert (differs > 32).mean() < 0.0001
    # And no more of it along the seams than elsewhere.
    seams = np.zeros(whole.shape[:2], bool)
    for at in range(SIDE, whole.shape[1], SIDE):
        seams[:, at - 2 : at + 2] = True
    seams[SIDE - 2 : SIDE + 2] = True
    assert (differs[seams] > 2).mean() < 0.003


@pytest.mark.parametrize("pitch", [4.0, pytest.param(88.0, marks=pytest.mark.nightly)])
def test_no_seams_from_nearby_and_from_above(pitch: float, sides: Sides) -> None:
    shown = wet_land()
    scene = Scene().with_values({"view.quality": "high", "camera.pitch": pitch, "camera.distance": 0.4})
    check(*in_tiles_and_at_once(sides, [shown], scene, scene_camera(scene, shown, 1.0), size=SMALLER))


def test_labels_dividers_and_minimaps_of_two_worlds_are_cut_with_the_picture(sides: Sides) -> None:
    one, other = (snapshot(150.0 * hills(96, 128, seed=seed), cell_size=10.0, world=seed) for seed in (3, 4))
    scene = Scene().with_value("view.quality", "high")
    tiled, whole = in_tiles_and_at_once(sides, [one, other], scene, scene_camera(scene, one, 0.75), labels=True)
    check(tiled, whole)
    np.testing.assert_array_equal(tiled[:, SIZE[0] // 2], whole[:, SIZE[0] // 2])  # the divider
