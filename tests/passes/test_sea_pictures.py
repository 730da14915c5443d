"""The sea in finished pictures: that it moves and loops, its drawn styles, and beaches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.model.wave_parameters import WaveParameters
from app.picture.camera import Camera
from app.picture.passes import shore_blocks as module
from app.picture.passes.blocks import PATCH
from app.picture.passes.mesh import QUADS, parts_within, select_nodes
from app.picture.passes.shore_blocks import shore_patches
from app.picture.passes.waves import DRAWN, NATURAL, NO_WAVES, drawing_of
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import drowned, flat, island, snapshot

CELL = 20.0


def sunk(rows: int = 96, columns: int = 128) -> Snapshot:
    return drowned(snapshot(island(rows, columns, relief=600.0), cell_size=CELL), 0.0)


def from_above(shown: Snapshot) -> Camera:
    rows, columns = shown.shape
    return Camera(glm.vec3(columns / 2, 0.0, rows / 2) * CELL, 0.0, 90.0, 1.4 * columns * CELL)


def scene(**values: float | str | bool) -> Scene:
    changed = Scene()
    for name, value in values.items():
        changed = changed.with_value(f"waves.{name}", value)
    return changed


def test_the_sea_moves_and_after_its_loop_is_the_same(draw: Draw) -> None:
    shown, sea = sunk(), scene(loop=30.0)
    first, later, again = (draw(shown, from_above(shown), sea, time=time) for time in (1.0, 3.0, 31.0))
    assert (first != later).any(axis=2).mean() > 0.04
    assert np.abs(first.astype(int) - again).max() <= 1


@pytest.mark.parametrize("minimap", [False, True])
def test_every_drawing_of_the_sea_is_another_picture(draw: Draw, minimap: bool) -> None:
    shown = sunk()
    scenes = [scene(), scene(style="lines"), *(scene(stage=stage) for stage in ("cells", "distance", "plain_wave"))]
    pictures = [draw(shown, from_above(shown), each, size=(240, 180), minimap=minimap) for each in scenes]
    corner = (slice(100, 180), slice(0, 100)) if minimap else (slice(None), slice(None))
    for i, one in enumerate(pictures):
        for other in pictures[:i]:
            assert (np.abs(one[corner].astype(int) - other[corner]).max(axis=2) > 20).mean() > 0.02


def test_lines_are_white_around_the_coast_on_an_even_sea(draw: Draw) -> None:
    shown = sunk()
    sea = scene(style="lines", fronts=12.0).with_value("view.haze", 0.0)
    pixels = draw(shown, from_above(shown), sea, size=(320, 240)).astype(int)
    border = np.concatenate([pixels[:3].reshape(-1, 3), pixels[-3:].reshape(-1, 3)])
    assert np.ptp(border, axis=0).max() < 30, "flat beyond the lines"
    blue = border.mean(axis=0)
    assert blue[2] > blue[1] > blue[0]
    white = pixels.min(axis=2) > 175
    assert 0.01 < white.mean() < 0.15


@pytest.mark.parametrize("quality", ["low", "high"])
def test_beaches_are_drawn_whole_though_only_by_the_shore(
    draw: Draw, monkeypatch: pytest.MonkeyPatch, quality: str
) -> None:
    """The blocks of the map that the pass leaves out have nothing of it."""
    sea = scene(run_up=2.0).with_value("view.quality", quality)
    pixels = []
    beach_blocks = module.Shore.beach_blocks
    for everywhere in (False, True):
        if everywhere:
            monkeypatch.setattr(module, "shore_patches", lambda wet: np.ones_like(shore_patches(wet)))
            monkeypatch.setattr(module.Shore, "beach_blocks", lambda *at: np.ones_like(beach_blocks(*at)))
        shown = sunk()
        camera = Camera(glm.vec3(1280.0, 0.0, 960.0), 30.0, 40.0, 2600.0)
        pixels.append(draw(shown, camera, sea, size=(200, 150)))
    np.testing.assert_array_equal(*pixels)
    bare = draw(shown, camera, sea.with_value("waves.run_up", 0.0), size=(200, 150))
    assert (bare != pixels[0]).any()


def test_shore_patches_hold_all_dry_cells_near_water() -> None:
    wet = np.random.default_rng(3).random((53, 70)) < 0.004
    wet[30:, 50:] = True
    patches = shore_patches(wet)
    assert patches.shape == (7, 9)
    for row, column in np.argwhere(~wet):
        near = wet[max(row - PATCH, 0) : row + PATCH + 1, max(column - PATCH, 0) : column + PATCH + 1].any()
        assert patches[row // PATCH, column // PATCH] or not near
    assert not shore_patches(np.zeros((16, 16), bool)).any() and not shore_patches(np.ones((16, 16), bool)).any()


@pytest.mark.parametrize("shape", [(8, 8), (70, 200), (300, 130)])
def test_parts_of_nodes_cover_the_patches_and_no_more_than_touch_them(shape: tuple[int, int]) -> None:
    rows, columns = shape
    patches = np.random.default_rng(1).random((-(-rows // PATCH), -(-columns // PATCH))) < 0.1
    patches[-1, -1] = True
    camera = Camera(glm.vec3(columns / 2, 0.0, rows / 2), 30.0, 30.0, 1.2 * columns)
    nodes = select_nodes(columns, rows, 1.0, (0.0, 10.0), camera, 2.5)
    parts = parts_within(nodes, patches)
    covered = np.zeros((rows, columns), bool)
    for column, row, stride, _ in parts.astype(int):
        size = PATCH * stride
        assert patches[row // PATCH : (row + size) // PATCH + 1, column // PATCH : (column + size) // PATCH + 1].any()
        covered[row : row + size + 1, column : column + size + 1] = True
    assert covered[np.kron(patches, np.ones((PATCH, PATCH), bool))[:rows, :columns]].all()
    whole = parts_within(nodes, np.ones_like(patches))
    on_map = (whole[:, 0] < columns - 1) & (whole[:, 1] < rows - 1)
    assert on_map.sum() <= len(nodes) * (QUADS // PATCH) ** 2


@pytest.mark.parametrize(
    ("waves", "number"),
    [
        (WaveParameters(), NATURAL),
        (WaveParameters(enabled=False, stage="cells"), NO_WAVES),
        (WaveParameters(style="lines"), DRAWN["lines"]),
        (WaveParameters(style="lines", stage="distance"), DRAWN["distance"]),
    ],
)
def test_what_is_drawn_follows_from_the_parameters(waves: WaveParameters, number: int) -> None:
    assert drawing_of(waves) == number


def test_where_no_water_stands_no_waves_run(picture: Picture) -> None:
    picture.show(snapshot(flat(16, 16, 5.0)))
    assert not picture.has_waves(Scene())
    picture.show(sunk())
    assert picture.has_waves(Scene()) and not picture.has_waves(scene(enabled=False))


def test_pictures_change_no_layer(draw: Draw) -> None:
    shown = sunk()
    before: dict[str, NDArray[np.float32]] = {name: layer.copy() for name, layer in shown.layers.items()}
    draw(shown, from_above(shown), scene(height=4.0), time=5.0)
    for name, layer in shown.layers.items():
        np.testing.assert_array_equal(layer, before[name])


def test_waves_of_the_open_sea_are_seen_from_a_few_hundred_of_their_lengths(draw: Draw) -> None:
    """They are lighter and darker by a hundredth or more, from pixel to pixel."""
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    camera = Camera(glm.vec3(32.0, 0.0, 32.0) * CELL, 0.0, 20.0, 80.0 * CELL, 40.0)
    view = Scene().with_values({"view.quality": "high", "view.clouds": 0.0})
    sea = draw(shown, camera, view, size=(480, 270)).astype(float).mean(axis=2)[150:250]
    broad = np.array([np.convolve(row, np.ones(16) / 16.0, "same") for row in sea])
    assert (sea - broad)[:, 16:-16].std() > 0.01 * sea.mean()


def test_the_sea_from_afar_has_no_pattern_of_tiles(draw: Draw) -> None:
    """Across the picture, no wavelength shorter than gusts stands out as those of a tile do that repeats."""
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    camera = Camera(glm.vec3(32.0, 0.0, 32.0) * CELL, 0.0, 14.0, 200.0 * CELL, 40.0)
    view = Scene().with_values({"view.quality": "high", "view.clouds": 0.0})
    rows = draw(shown, camera, view, size=(480, 270)).astype(float).mean(axis=2)[90:120]
    waves = (rows - rows.mean(axis=1, keepdims=True)) * np.hanning(rows.shape[1])
    strength = (np.abs(np.fft.rfft(waves, axis=1)) ** 2).mean(axis=0)[40:120]
    assert strength.max() < 150.0 * np.median(strength)


def test_the_sea_from_afar_has_crests_and_no_streaks(draw: Draw) -> None:
    """Along rows of the picture it is light and dark within a few pixels, though these are long from there."""
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    camera = Camera(glm.vec3(32.0, 0.0, 32.0) * CELL, 0.0, 10.0, 60.0 * CELL, 40.0)
    view = Scene().with_values({"view.quality": "high", "view.clouds": 0.0})
    sea = draw(shown, camera, view, size=(480, 270)).astype(float).mean(axis=2)[110:160]
    fine, broad = (np.abs(sea[:, pixels:] - sea[:, :-pixels]).mean() for pixels in (3, 24))
    assert fine > 0.5 * broad, (fine, broad)


def test_the_sea_has_whitecaps_in_wind_and_none_in_a_breeze(draw: Draw) -> None:
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    camera = Camera(glm.vec3(32.0, 0.0, 32.0) * CELL, 0.0, 30.0, 60.0 * CELL, 40.0)
    white = []
    for waves in (0.5, 1.5, 2.0):
        view = Scene().with_values({"view.quality": "high", "view.clouds": 0.0, "view.waves": waves})
        white.append((draw(shown, camera, view, size=(480, 270)).min(axis=2)[90:] > 130).mean())
    assert white[0] == 0.0
    assert 0.001 < white[1] < 1.2 * white[1] < white[2] < 0.1


def test_the_sea_ends_in_a_line_that_is_darker_than_the_sky(draw: Draw) -> None:
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    camera = Camera(glm.vec3(32.0, 0.0, 32.0) * CELL, 0.0, 14.0, 200.0 * CELL, 40.0)
    view = Scene().with_values({"view.quality": "high", "view.clouds": 0.0})
    rows = draw(shown, camera, view, size=(480, 270)).astype(float).mean(axis=(1, 2))
    assert 8.0 < (rows[:-2] - rows[2:])[:80].max() < 60.0
