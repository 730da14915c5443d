"""Outlines of surfaces where a scene has no samples: smooth, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm
from scipy import ndimage

from app.model.snapshot import Snapshot
from app.picture import picture as picture_module
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import shaders
from app.picture.passes.quality import BY_NAME, LEVELS
from app.picture.passes.resolve import rows_of_land
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes import masks
from tests.passes.rows import rows
from tests.passes.worlds import bumps, hills, pyramid, snapshot, with_water

SIZE = (240, 180)
CELL = 10.0
FINE = 6  # pixels of a reference along one of a picture
OF_NO_SAMPLES = [level.name for level in LEVELS if level.outlines]

# Land is white, all else is black: what is between is a part of a pixel.
WHITE_AND_BLACK = {
    "terrain.frag": '#include "place.glsl"\n#include "outline.glsl"\nuniform sampler2D surface;\nout vec4 colour;\n'
    "void main() { find_place(surface); colour = vec4(vec3(1.0), outline_key_at(position)); }\n",
    "walls.frag": '#include "outline.glsl"\nout vec4 colour;\n'
    "void main() { colour = vec4(vec3(0.0), -outline_key()); }\n",
    "backdrop.frag": "out vec4 colour;\nvoid main() { colour = vec4(0.0); }\n",
    "water.frag": '#include "outline.glsl"\nlayout(location = 0, index = 0) out vec4 added;\n'
    "layout(location = 0, index = 1) out vec4 kept;\n"
    "void main() { added = vec4(vec3(0.0), -outline_key()); kept = vec4(0.0); }\n",
}
AS_IT_IS = '#include "frame.glsl"\nuniform vec4 part;\nvec3 developed(vec3 radiance, vec2 uv) { return radiance; }\n'

Draw = Callable[..., NDArray[np.float64]]


@pytest.fixture
def draw_at(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Draw]:
    """Draws at a level, with outlines smoothed or not: brightness from 0 to 1, [row from the top, column]."""
    pictures: list[Picture] = []

    def draw(
        level: str, shown: Snapshot, camera: Camera, *, outlines: bool, scale: float | None = None, times: int = 1
    ) -> NDArray[np.float64]:
        quality = replace(BY_NAME[level], outlines=outlines, scale=scale or BY_NAME[level].scale, triangle_pixels=1.0)
        monkeypatch.setitem(picture_module.BY_NAME, "tried", quality)
        pictures.append(Picture(context, bake_at_once=True, quality="tried"))
        pictures[-1].show(shown)
        scene = Scene().with_values({"waves.enabled": False, "view.waves": 0.0})
        pictures[-1].draw(canvas.framebuffer(SIZE[0] * times, SIZE[1] * times), camera, scene, minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        return pixels.mean(axis=2) / 255.0

    yield draw
    for picture in pictures:
        picture.release()


def bowl() -> Snapshot:
    """A round lake in ground that rises evenly around it."""
    south, east = np.mgrid[:64, :64] - 31.5
    ground = 4.0 * (np.hypot(south, east) - 20.0)
    return with_water(snapshot(ground, cell_size=CELL), np.maximum(ground, 0.0))


def mountain() -> Snapshot:
    return snapshot(pyramid(64, 64, 32, 32, 180.0, 30), cell_size=CELL)


def over(pitch: float, distance: float, heading: float = 20.0) -> Camera:
    return Camera(glm.vec3(320.0, 20.0, 320.0), heading=heading, pitch=pitch, distance=distance)


VIEWS = {"skyline": (mountain(), over(4.0, 900.0)), "shore": (bowl(), over(35.0, 700.0))}


@pytest.mark.parametrize("what", ["skyline", pytest.param("shore", marks=pytest.mark.nightly)])
def test_outlines_have_the_tones_of_a_picture_of_many_samples(
    draw_at: Draw, monkeypatch: pytest.MonkeyPatch, what: str, subtests: pytest.Subtests
) -> None:
    """Along slanted skylines and round shores, pixels come nearer to the part of them that is land."""
    masks.use(monkeypatch, WHITE_AND_BLACK)
    read = shaders.read_shader
    monkeypatch.setattr(
        shaders, "read_shader", lambda name: AS_IT_IS if name == "include/developed.glsl" else read(name)
    )
    shown, camera = VIEWS[what]
    fine = draw_at(OF_NO_SAMPLES[0], shown, camera, outlines=False, scale=1.0, times=FINE)
    covered = fine.reshape(SIZE[1], FINE, SIZE[0], FINE).mean(axis=(1, 3))
    edge = (covered > 0.02) & (covered < 0.98)
    assert edge.sum() > 150
    for level in OF_NO_SAMPLES:
        with subtests.test(level=level):
            plain, smooth = (draw_at(level, shown, camera, outlines=outlines, scale=1.0) for outlines in (False, True))
            between = [((pixels > 0.05) & (pixels < 0.95))[edge].mean() for pixels in (plain, smooth)]
            assert between[0] < 0.02 and between[1] > 0.5
            errors = [np.abs(pixels - covered)[edge].mean() for pixels in (plain, smooth)]
            assert errors[1] < 0.6 * errors[0]
            # In the level's own scale an enlarged pixel has tones of its own.
            plain, smooth = (draw_at(level, shown, camera, outlines=outlines) for outlines in (False, True))
            errors = [np.abs(pixels - covered)[edge].mean() for pixels in (plain, smooth)]
            assert errors[1] < 0.9 * errors[0]


def keys_of(picture: Picture) -> NDArray[np.float32]:
    """What tells surfaces apart, for each pixel of the scene, [row from the top, column]."""
    scene = picture._resolve._framebuffers["scene"]
    width, height = scene.size
    read = np.frombuffer(scene.read(components=4, dtype="f2"), np.float16)
    return read.reshape(height, width, 4)[::-1, :, 3].astype(np.float32)


@pytest.mark.parametrize("level", OF_NO_SAMPLES)
def test_nothing_within_a_surface_is_smoothed(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    ground = hills(60, 90) * 300.0
    shown = with_water(snapshot(ground, bumps(60, 90) * 0.8), np.where(ground < 120.0, 120.0, ground))
    monkeypatch.setitem(picture_module.BY_NAME, "plain", replace(BY_NAME[level], scale=1.0, outlines=False))
    monkeypatch.setitem(picture_module.BY_NAME, "smooth", replace(BY_NAME[level], scale=1.0))
    drawn = []
    for name in ("plain", "smooth"):
        picture = Picture(context, bake_at_once=True, quality=name)
        picture.show(shown)
        camera = Camera(glm.vec3(450.0, 130.0, 300.0), heading=30.0, pitch=14.0, distance=700.0)
        picture.draw(canvas.framebuffer(*SIZE), camera, Scene(), minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        drawn.append(pixels.astype(int))
        keys = keys_of(picture)
        picture.release()
    changed = np.abs(drawn[1] - drawn[0]).max(axis=2) > 1  # one level of rounding
    across = ndimage.convolve1d(keys, [1.0, -2.0, 1.0], axis=1)
    upwards = ndimage.convolve1d(keys, [1.0, -2.0, 1.0], axis=0)
    sizes = ndimage.maximum_filter(np.abs(keys), 3)
    at_outline = np.maximum(np.abs(across), np.abs(upwards)) > 0.01 * sizes
    near = ndimage.binary_dilation(at_outline, np.ones((3, 3)))
    assert (~near).mean() > 0.5, "there are surfaces"
    assert not changed[~near].any()
    assert changed[near].sum() > 100


def ridges() -> NDArray[np.float64]:
    """They run to the south, 30 to 90 m high."""
    return np.broadcast_to(60.0 + 30.0 * np.sin(0.5 * np.arange(64)), (64, 64)).copy()


@pytest.mark.parametrize("level", OF_NO_SAMPLES)
def test_the_skyline_of_land_around_a_block_is_smooth(draw_at: Draw, level: str) -> None:
    ground = ridges()
    camera = Camera(glm.vec3(320.0, 60.0, 200.0), heading=0.0, pitch=20.0, distance=300.0, field_of_view=30.0)
    border = camera.place_of(glm.vec3(320.0, 90.0, 5.0), SIZE[0] / SIZE[1])
    assert border is not None
    row = round(0.5 * SIZE[1] * (1.0 - border[1]))
    plain, smooth = (
        draw_at(level, snapshot(ground, cell_size=CELL), camera, outlines=outlines, scale=1.0)
        for outlines in (False, True)
    )
    changed = np.abs(smooth - plain) > 1.5 / 255.0
    assert changed[: row - 6].sum() > 40


def test_every_level_has_smooth_outlines() -> None:
    for level in LEVELS:
        assert level.samples > 0 or level.fxaa or level.outlines, level.name
        assert not (level.outlines and level.samples), "the places of samples have no keys"


def test_land_lies_in_the_rows_that_are_searched_for_outlines(
    context: moderngl.Context, canvas: Canvas, subtests: pytest.Subtests
) -> None:
    shown = snapshot(hills(60, 90) * 300.0)
    picture = Picture(context, bake_at_once=True, quality="low")
    picture.show(shown)
    ground = shown.layers["bedrock"]
    for row in rows(distance=[150.0, 800.0, 3000.0], pitch=[-5.0, 3.0, 12.0, 40.0, 89.0], heading=[0.0, 50.0, 200.0]):
        with subtests.test(**row):
            camera = Camera(glm.vec3(450.0, 160.0, 300.0), **row)
            picture.draw(canvas.framebuffer(*SIZE), camera, Scene(), minimap=False)
            frame = picture.frame
            assert frame is not None
            searched = rows_of_land(frame)
            for south, east in np.argwhere(ground > 0.0)[::7]:
                point = glm.vec3((east + 0.5) * 10.0, float(ground[south, east]), (south + 0.5) * 10.0)
                place = camera.place_of(point, frame.aspect)
                if place is not None and max(abs(place[0]), abs(place[1])) <= 1.0:
                    assert 0.5 * (place[1] + 1.0) * frame.crop.height <= searched
            if row["distance"] == 3000.0 and row["pitch"] == 12.0:
                assert searched < 0.95 * frame.crop.height, "sky is left out"
    picture.release()


def test_so_does_land_around_a_block(context: moderngl.Context, canvas: Canvas) -> None:
    """Seen from over its crests, it lies higher in the picture than the far corners of the map do."""
    picture = Picture(context, bake_at_once=True, quality="low")
    picture.show(snapshot(ridges(), cell_size=CELL))
    camera = Camera(glm.vec3(320.0, 120.0, 320.0), heading=0.0, pitch=1.0, distance=30.0, field_of_view=5.0)
    picture.draw(canvas.framebuffer(*SIZE), camera, Scene(), minimap=False)
    assert picture.frame is not None
    keys, searched = keys_of(picture), rows_of_land(picture.frame)
    picture.release()
    assert keys.any() and searched < len(keys)
    assert not keys[: len(keys) - searched].any()
