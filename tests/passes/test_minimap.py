"""The minimap: where it lies, what it shows, and where the camera is on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyglm import glm

from app.model.legends import legend_colours
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes.minimap import minimap_rectangle
from app.picture.passes.shaders import FullScreen
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes.conftest import Draw
from tests.passes.worlds import drowned, flat, snapshot, with_layers

sizes = st.one_of(st.integers(1, 60), st.integers(1, 8000))
map_sides = st.integers(8, 8192)


@tried(100)
@given(width=sizes, height=sizes, columns=map_sides, rows=map_sides, scale=st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]))
def test_it_lies_within_the_picture_in_the_corner_and_has_the_form_of_the_map(
    width: int, height: int, columns: int, rows: int, scale: float
) -> None:
    left, top, across, down = minimap_rectangle(width, height, columns, rows, scale)
    assert left >= 0 and top >= 0 and across >= 1 and down >= 1
    assert left + across <= width and top + down <= height
    assert left <= max(width / 2, 1) and top + down >= height / 2
    if min(across, down) > 20:
        assert across / down == pytest.approx(columns / rows, rel=0.06)


def test_it_grows_with_the_content_scale() -> None:
    small, large = (minimap_rectangle(1600 * n, 900 * n, 512, 512, n) for n in (1, 2))
    assert large[2] == pytest.approx(2 * small[2], abs=2)


def linear(pixels: NDArray[np.uint8] | NDArray[np.float64]) -> NDArray[np.float64]:
    srgb = np.asarray(pixels, np.float64)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def quadrants() -> Snapshot:
    """Four terraces: north-west lowest, then north-east, south-west, south-east."""
    ground = flat(80, 120)
    ground[:40, 60:], ground[40:, :60], ground[40:, 60:] = 1.0, 2.0, 3.0
    return snapshot(ground)


def test_it_shows_the_map_with_north_up_in_the_colours_of_the_overlay(draw: Draw, picture: Picture) -> None:
    shown = quadrants()
    scene = Scene().with_value("view.overlay", "elevation").with_value("view.overlay_opacity", 1.0)
    camera = Camera(glm.vec3(-9e4, 0.0, -9e4), 0.0, 30.0, 500.0)  # away, and looking away
    pixels = draw(shown, camera, scene, size=(400, 300), minimap=True)
    left, top, width, height = picture.minimap_rectangle(400, 300)
    colours = linear(legend_colours("elevation", 256)[:, :3])
    places = ((0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75))
    seen = [linear(pixels[int(top + row * height), int(left + column * width)] / 255.0) for row, column in places]
    light = (seen[0] / colours[0]).mean()
    for terrace in range(4):
        np.testing.assert_allclose(seen[terrace], np.minimum(colours[terrace * 85] * light, 1.0), atol=0.03)


@pytest.mark.parametrize("content_scale", [1.0, 2.0])
def test_it_marks_where_the_camera_is_and_what_it_looks_at(draw: Draw, picture: Picture, content_scale: float) -> None:
    picture.content_scale = content_scale
    shown = snapshot(flat(80, 120))
    camera = Camera(glm.vec3(900.0, 0.0, 200.0), 60.0, 45.0, 700.0)
    pixels = draw(shown, camera, size=(800, 600), minimap=True)
    left, top, width, height = picture.minimap_rectangle(800, 600)

    def at(east: float, south: float) -> NDArray[np.uint8]:
        seen: NDArray[np.uint8] = pixels[int(top + south / 800.0 * height), int(left + east / 1200.0 * width)]
        return seen

    eye = camera.position
    assert 0.0 < eye.x < 1200.0 and 0.0 < eye.z < 800.0
    assert (at(eye.x, eye.z) == 255).all()
    np.testing.assert_allclose(at(900.0, 200.0), (255, 204, 92), atol=1)
    # What it sees is brighter than what lies behind it.
    ahead, behind = (at(eye.x + 150.0 * part, eye.z - 87.0 * part) for part in (1.0, -1.0))
    assert ahead.astype(int).sum() > behind.astype(int).sum() + 30


def test_the_rest_of_the_picture_is_the_same_without_it(draw: Draw, picture: Picture) -> None:
    shown = quadrants()
    shown_with, shown_without = (draw(shown, size=(200, 150), minimap=minimap) for minimap in (True, False))
    left, top, width, height = picture.minimap_rectangle(200, 150)
    differs = (shown_with != shown_without).any(axis=2)
    inside = np.zeros_like(differs)
    inside[top : top + height, left : left + width] = True
    assert differs[inside].mean() > 0.9 and not differs[~inside].any()


@pytest.fixture
def drawn(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., bool]]:
    """Draws as the window does, and tells whether the minimap's map was drawn for that."""
    picture = Picture(context)
    maps: list[object] = []
    draw = FullScreen.draw

    def note(self: FullScreen, target: moderngl.Framebuffer, *rest: object) -> None:
        if target is picture._minimap._map._framebuffer:
            maps.append(target)
        draw(self, target, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(FullScreen, "draw", note)

    def drawn(shown: Snapshot, scene: Scene, time: float, heading: float = 0.0) -> bool:
        if picture.snapshot is not shown:
            picture.show(shown)
        camera = Camera(glm.vec3(400.0, 0.0, 300.0), heading, 40.0, 900.0)
        before = len(maps)
        picture.draw(canvas.framebuffer(160, 120), camera, scene, time=time)
        return len(maps) > before

    yield drawn
    picture.release()


@pytest.mark.parametrize("quality", ["low", "high"])
def test_its_map_is_drawn_again_only_where_something_has_changed(drawn: Callable[..., bool], quality: str) -> None:
    scene, shown = Scene().with_value("view.quality", quality), snapshot(flat(60, 80))
    for second in range(16):  # light and the relief in it take some frames
        drawn(shown, scene, second, heading=float(second))
    assert not drawn(shown, scene, 16.0, heading=50.0)
    assert drawn(shown, scene.with_value("view.sun_height", 50.0), 16.0), "what is chosen shows at once"


def test_its_map_is_drawn_now_and_then_while_cycles_run(drawn: Callable[..., bool]) -> None:
    low = Scene().with_value("view.quality", "low")
    cycles = [snapshot(flat(60, 80), world=7, cycle=cycle) for cycle in range(40)]
    assert 6 <= sum(drawn(shown, low, 0.05 * number) for number, shown in enumerate(cycles)) <= 12
    high = low.with_value("view.quality", "high")
    assert sum(drawn(shown, high, 0.05 * number) for number, shown in enumerate(cycles[:10])) >= 9
    drawn(cycles[0], low, 9.0)
    assert drawn(snapshot(flat(60, 80)), low, 9.01), "another world shows at once"


def test_water_is_seen_where_the_overlay_leaves_it(draw: Draw, picture: Picture) -> None:
    """The sea under contours of the land, and not under an opaque map of the elevation."""
    ground = np.broadcast_to(np.linspace(-200.0, 200.0, 80), (60, 80))
    shown = drowned(snapshot(ground), 0.0)
    shown = with_layers(shown, filled=np.maximum(ground, 0.0), lake_depth=0.0)
    camera = Camera(glm.vec3(-9e4, 0.0, -9e4), 0.0, 30.0, 500.0)  # away, and looking away

    def sea_and_land(overlay: str) -> tuple[NDArray[np.float64], ...]:
        scene = Scene().with_values(
            {"view.overlay": overlay, "view.overlay_opacity": 1.0, "view.quality": "low", "waves.enabled": False}
        )
        pixels = draw(shown, camera, scene, size=(400, 300), minimap=True).astype(float)
        left, top, width, height = picture.minimap_rectangle(400, 300)
        return tuple(pixels[top + height // 2, left + int(part * width)] for part in (0.1, 0.9))

    bare, contours, elevation = (sea_and_land(overlay) for overlay in ("none", "filled", "elevation"))
    np.testing.assert_allclose(contours[0], bare[0], atol=1.0)
    assert np.abs(elevation[0] - bare[0]).max() > 20.0
    assert np.abs(contours[1] - bare[1]).max() > 20.0


def test_it_has_the_colours_of_the_scene_and_no_stairs(draw: Draw, picture: Picture) -> None:
    """A cliff across the map has pixels between light and dark at level high; sand and sea are those of the picture."""
    ground = np.where(np.add.outer(1.3 * np.arange(80), np.arange(80)) < 92.0, 0.0, 60.0)
    shown = snapshot(ground, 0.0)
    from_above = Camera(glm.vec3(400.0, 0.0, 400.0), 0.0, 90.0, 900.0)
    scene = Scene().with_values({"view.quality": "high", "view.sun_height": 60.0})
    pixels = draw(shown, from_above, scene, size=(400, 300), minimap=True).astype(float)
    left, top, width, height = picture.minimap_rectangle(400, 300)
    map_place = pixels[top + 4 : top + height // 3, left + 4 : left + width // 3].mean(axis=(0, 1))
    scene_place = pixels[70:110, 160:190].mean(axis=(0, 1))
    tints = [place / place.sum() for place in (map_place, scene_place)]
    np.testing.assert_allclose(tints[0], tints[1], atol=0.03)
    assert picture._minimap._map.texture().size == (2 * width, 2 * height)
    draw(shown, from_above, scene.with_value("view.quality", "low"), size=(400, 300), minimap=True)
    assert picture._minimap._map.texture().size == (width, height)
