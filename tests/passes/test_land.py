"""Where land lies in the picture, and what its sides show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture import picture as picture_module
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes.quality import BY_NAME
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes import masks
from tests.passes.worlds import bumps, flat, hills, pyramid, snapshot

SIZE = (320, 240)
ABOVE = """#include "place.glsl"
uniform sampler2D surface;
out vec4 colour;
void main() { find_place(surface); colour = vec4(position.y > %f ? vec3(0.0, 0.0, 1.0) : vec3(1.0), 1.0); }
"""

# The height of what is drawn, by steps of some metres.
STEPS = """#include "place.glsl"
uniform sampler2D surface;
out vec4 colour;
void main() { find_place(surface); colour = vec4(vec3(fract(%s / 37.0)), 1.0); }
"""

Show = Callable[..., NDArray[np.uint8]]


@pytest.fixture
def show(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Show]:
    """Draws with some shaders replaced; with the same ones, by the same picture."""
    pictures: list[tuple[dict[str, str], Picture]] = []

    def show(
        shown: Snapshot, camera: Camera, replaced: dict[str, str], scene: Scene | None = None
    ) -> NDArray[np.uint8]:
        if not pictures or pictures[-1][0] != replaced:
            masks.use(monkeypatch, replaced, triangle_pixels=2.0)
            pictures.append((replaced, Picture(context, bake_at_once=True, quality="plain")))
        picture = pictures[-1][1]
        if picture.snapshot is not shown:
            picture.show(shown)
        picture.draw(canvas.framebuffer(*SIZE), camera, scene or Scene(), minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        return pixels.copy()

    yield show
    for _, picture in pictures:
        picture.release()


def projected(camera: Camera, place: tuple[float, float, float]) -> NDArray[np.float64]:
    """Where a place is in the picture, in pixels from the left and from the top, by the definition of the camera."""
    away = glm.vec3(*place) - camera.position
    depth = glm.dot(away, camera.direction)
    focal_length = 0.5 * SIZE[1] / math.tan(math.radians(camera.field_of_view) / 2.0)
    right, up = glm.dot(away, camera.right) / depth, glm.dot(away, camera.up) / depth
    return np.array([SIZE[0] / 2 + focal_length * right, SIZE[1] / 2 - focal_length * up])


def test_a_pyramid_stands_where_it_is_on_the_map(show: Show, subtests: pytest.Subtests) -> None:
    """In the north-east, 90 columns and 30 rows in: its blue tip is at the pixel that geometry says."""
    headings, pitches = (0.0, 70.0, 160.0, 250.0, 340.0), (20.0, 60.0, 90.0)
    for exaggeration in (0.5, 1.0, 10.0):
        height = 400.0 / exaggeration
        shown = snapshot(pyramid(120, 140, 30, 90, height, 12), cell_size=10.0)
        top = (905.0, height * exaggeration, 305.0)
        scene = Scene().with_value("view.exaggeration", exaggeration)
        for heading, pitch in itertools.product(headings, pitches):
            with subtests.test(exaggeration=exaggeration, heading=heading, pitch=pitch):
                camera = Camera(glm.vec3(750.0, 200.0, 450.0), heading, pitch, 1800.0)
                pixels = show(shown, camera, {**masks.PLAIN_SHADERS, "terrain.frag": ABOVE % 340.0}, scene)
                row, column = np.nonzero((pixels[..., 2] > 0) & (pixels[..., 0] == 0))
                tip, middle = projected(camera, top), projected(camera, (905.0, 370.0, 305.0))
                assert len(row) > 5
                assert abs(column.mean() + 0.5 - middle[0]) < 1.5
                assert row.min() - 2.0 < tip[1] < row.max() + 2.0
                if pitch < 90.0:
                    assert abs(row.min() - tip[1]) < 3.0


def test_north_is_up_and_east_is_right_in_the_top_view(show: Show) -> None:
    shown = snapshot(pyramid(100, 100, 20, 80, 100.0, 8))
    camera = Camera(glm.vec3(500.0, 0.0, 500.0), 0.0, 90.0, 2500.0)
    pixels = show(shown, camera, {**masks.PLAIN_SHADERS, "terrain.frag": ABOVE % 50.0})
    row, column = np.nonzero((pixels[..., 2] > 0) & (pixels[..., 0] == 0))
    assert row.mean() < SIZE[1] / 2 - 20 and column.mean() > SIZE[0] / 2 + 20


def test_a_wall_shows_sediment_as_thick_as_it_is(show: Show, subtests: pytest.Subtests) -> None:
    """Two blocks of the same outline, one all rock: their walls differ where the other one has sediment."""
    columns, rows = 90, 60
    distance = 600.0
    tone = {"tone.frag": masks.PLAIN_SHADERS["tone.frag"], "backdrop.frag": masks.PLAIN_SHADERS["backdrop.frag"]}
    for heading in (0.0, 90.0, 180.0, 270.0):
        camera = Camera(glm.vec3(450.0, 70.0, 300.0), heading, 0.0, distance)
        rock = show(snapshot(flat(rows, columns, 100.0)), camera, tone).astype(int)
        half = (columns if heading in (90.0, 270.0) else rows) * 5.0 - 5.0
        focal_length = 0.5 * SIZE[1] / math.tan(math.radians(camera.field_of_view) / 2.0)
        pixels_per_metre = focal_length / (distance - half)
        for thickness in (5.0, 20.0, 60.0):
            with subtests.test(heading=heading, thickness=thickness):
                covered = show(snapshot(flat(rows, columns, 100.0 - thickness), thickness), camera, tone).astype(int)
                differs = np.abs(rock - covered).max(axis=2) > 4
                band = np.flatnonzero(differs[:, 120:200].mean(axis=1) > 0.1)
                top = SIZE[1] / 2 - 30.0 * pixels_per_metre  # the ground is 30 m over the camera
                assert abs(band.min() - top) < 2.0
                assert abs(len(band) - thickness * pixels_per_metre) < 2.5 + 0.03 * len(band)


def test_walls_without_sediment_show_none(show: Show) -> None:
    camera = Camera(glm.vec3(450.0, 70.0, 300.0), 0.0, 0.0, 600.0)
    thin, none = (show(snapshot(flat(60, 90, 100.0), thickness), camera, {}) for thickness in (1e-6, 0.0))
    np.testing.assert_array_equal(thin, none)


# Far and near, large and small.


def test_land_reaches_to_the_horizon_however_near_the_camera_is_to_it(show: Show) -> None:
    """A mountain at the other end of a large map still stands there when the camera looks at the ground before it."""
    ground = flat(375, 375)
    ground[:50] = 2000.0
    camera = Camera(glm.vec3(7500.0, 0.0, 14900.0), 0.0, 2.0, 45.0)
    pixels = show(snapshot(ground, cell_size=40.0), camera, masks.PLAIN_SHADERS)
    rows = np.flatnonzero(pixels[:, SIZE[0] // 2, 1] > 0)
    assert len(rows) > 0.6 * SIZE[1]
    assert np.ptp(rows) + 1 == len(rows)


@pytest.mark.parametrize("cell_size", [0.01, 10_000.0])
def test_small_and_large_cells_give_the_same_picture(
    context: moderngl.Context, canvas: Canvas, cell_size: float
) -> None:
    """All lengths times the same factor: nothing that can be seen changes, where it is not colder higher up.

    But the relief finer than the map, whose forms have sizes of their own.
    """
    scene = Scene().with_values({"climate.lapse_rate": 0.0, "view.fine_relief": 0.0})
    pictures = []
    for size in (10.0, cell_size):
        scale = size / 10.0
        shown = snapshot(hills(60, 80) * 250.0 * scale, bumps(60, 80) * 0.5 * scale, cell_size=size)
        camera = Camera(glm.vec3(400.0, 120.0, 300.0) * scale, 20.0, 25.0, 900.0 * scale)
        picture = Picture(context, bake_at_once=True, quality="medium")
        picture.show(shown)
        picture.draw(canvas.framebuffer(*SIZE), camera, scene, minimap=True)
        pixels = canvas.pixels()
        assert pixels is not None
        pictures.append(pixels.astype(int))
        picture.release()
    difference = np.abs(pictures[0] - pictures[1]).max(axis=2)
    assert (difference > 6).mean() < 0.005
    assert pictures[0].std() > 20.0


@pytest.mark.parametrize("quality", ["low", "medium", "high"])
def test_no_shadow_line_runs_along_the_foot_of_a_sunlit_wall(
    context: moderngl.Context, canvas: Canvas, quality: str
) -> None:
    """The sun stands behind the camera: wall and table are light, and so is the line where they meet."""
    picture = Picture(context, bake_at_once=True, quality=quality)
    scene = Scene().with_value("view.sun_direction", 200.0)
    for heading in (0.0, 20.0, 35.0):
        picture.show(snapshot(flat(60, 80, 100.0)))
        camera = Camera(glm.vec3(400.0, 100.0, 300.0), heading, 30.0, 1300.0)
        picture.draw(canvas.framebuffer(*SIZE), camera, scene, minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        brightness = pixels.max(axis=2)
        dark = brightness < 0.6 * np.percentile(brightness, 2)
        assert dark.sum() < 40, "but for the shaded sides of shrubs; the line would have hundreds of pixels"
    picture.release()


def test_the_height_of_the_mesh_is_known_where_ground_is_drawn_after_it(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the relief that is finer than the map, on which noise is projected; the map has not."""
    shown, seen = snapshot(pyramid(64, 64, 32, 32, 600.0, 30), cell_size=10.0), {}
    camera = Camera(glm.vec3(320.0, 300.0, 320.0), 20.0, 25.0, 900.0)
    for height, samples in (("drawn_height()", 4), ("drawn_height()", 0), ("position.y", 0)):
        quality = replace(BY_NAME["high"], samples=samples, outlines=False, fxaa=False)
        monkeypatch.setitem(picture_module.BY_NAME, "tried", quality)
        masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "terrain.frag": STEPS % height})
        picture = Picture(context, bake_at_once=True, quality="tried")
        picture.show(shown)
        picture.draw(canvas.framebuffer(*SIZE), camera, Scene(), minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        seen[height, samples] = pixels.astype(float).mean(axis=2)
        picture.release()
    mesh = seen["drawn_height()", 4]
    differs = [np.abs(other - mesh).mean() for key, other in seen.items() if key != ("drawn_height()", 4)]
    assert differs[0] < 5.0 < 0.5 * differs[1], differs
