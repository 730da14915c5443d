"""A call of OpenGL that fails is one line to read, leaves nothing behind, and is made up for once it works."""

from __future__ import annotations

from dataclasses import replace

import moderngl
import numpy as np
import pytest

from app.cli.headless import scene_camera
from app.model.errors import UserError, explained
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes.shaders import ShaderError
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.faults import failing
from tests.nets.profile import is_nightly
from tests.passes import gl
from tests.passes.worlds import bumps, drowned, island, snapshot, with_layers, wooded

LAND = snapshot(bumps(30, 40, height=50.0), 1.0)


def shore(rows: int, columns: int) -> Snapshot:
    """Land in a sea with waves, with woods, and with marks of snowballs on it: a picture of many textures."""
    rising = wooded(snapshot(island(rows, columns) - 30.0, 1.0), 40)
    ones = np.full((rows, columns), 0.2, np.float32)
    return drowned(with_layers(rising, wear=ones, deposit=ones, traffic=ones, wind_path=ones), 0.0)


def camera(shown: Snapshot) -> Camera:
    return scene_camera(Scene(), shown)


def draw(picture: Picture, canvas: Canvas, shown: Snapshot, quality: str) -> np.ndarray:
    scene = Scene().with_value("view.quality", quality)
    if picture.snapshot is not shown:
        picture.show(shown)
    picture.draw(canvas.framebuffer(96, 64), camera(shown), scene, minimap=True)
    pixels = canvas.pixels()
    assert pixels is not None
    return pixels.copy()


@pytest.mark.parametrize(("quality", "every"), [("low", 13), ("high", 60)])
def test_a_call_that_fails_at_any_time_leaves_nothing_behind(
    quality: str, every: int, context: moderngl.Context, canvas: Canvas, own_textures: None, subtests: pytest.Subtests
) -> None:
    """So many calls work, then none, as in a window that tries again in each frame; at last they do again.

    The check lets some of the calls fail, from the first on, and the night each.
    """
    shown = shore(36, 44)
    fresh = Picture(context, bake_at_once=True, quality="low")
    expected = draw(fresh, canvas, shown, quality)
    fresh.release()
    for fault in ("a texture", "a framebuffer", "an upload", "a drawing"):
        with subtests.test(fault=fault):
            picture = Picture(context, bake_at_once=True, quality="low")
            first = draw(picture, canvas, LAND, quality)
            for number in range(0, 200, 1 if is_nightly() else every):
                held = []
                for working in (number, 0, 0, 0):
                    with failing(fault, after=working) as failures:
                        try:
                            draw(picture, canvas, shown, quality)
                        except Exception as error:
                            assert "\n" not in explained(error)
                        failures.is_met = True
                    held.append(gl.living_objects())
                    if failures.count == 0 and working:
                        break
                if len(held) == 1:  # there are no more calls than these
                    break
                for kind in held[0]:
                    assert held[-1][kind] <= held[-2][kind], (number, kind)
                np.testing.assert_array_equal(draw(picture, canvas, LAND, quality), first)
            assert number > 1
            np.testing.assert_array_equal(draw(picture, canvas, shown, quality), expected)
            picture.release()


def test_an_upload_that_fails_leaves_the_land_that_is_seen(picture: Picture, canvas: Canvas) -> None:
    land = shore(30, 40)
    before = draw(picture, canvas, land, "low")
    higher = replace(drowned(land, 9.0), versions={name: version + 1 for name, version in land.versions.items()})
    for number in range(4):
        with failing("an upload", after=number), pytest.raises(MemoryError):
            picture.show(higher)
        assert picture.snapshot is land
        np.testing.assert_array_equal(draw(picture, canvas, land, "low"), before)
    assert not np.array_equal(draw(picture, canvas, higher, "low"), before)


@pytest.mark.usefixtures("compiled_anew")
def test_a_shader_that_does_not_compile_names_itself(picture: Picture, canvas: Canvas) -> None:
    with failing("a shader"), pytest.raises(ShaderError) as raised:
        draw(picture, canvas, LAND, "low")
    assert isinstance(raised.value, UserError)
    assert ".vert" in str(raised.value) or ".frag" in str(raised.value)
    assert draw(picture, canvas, LAND, "low").std() > 1.0


@pytest.mark.usefixtures("compiled_anew")
def test_shaders_that_cannot_be_reloaded_run_on(picture: Picture, canvas: Canvas) -> None:
    before = draw(picture, canvas, LAND, "low")
    with failing("a shader", after=2):
        assert picture.reload_shaders()
    np.testing.assert_array_equal(draw(picture, canvas, LAND, "low"), before)


@pytest.mark.parametrize("fault", ["a texture", "a framebuffer"])
def test_a_canvas_of_another_size_that_cannot_be_made(fault: str, canvas: Canvas) -> None:
    before = canvas.framebuffer(40, 30)
    held = gl.living_objects()
    with failing(fault), pytest.raises(Exception, match="framebuffer is not complete"):
        canvas.framebuffer(80, 60)
    assert gl.living_objects() == held
    assert canvas.framebuffer(40, 30) is before
