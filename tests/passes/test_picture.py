"""The picture as a whole: the same pixels each time, at every size and quality, whatever was there before."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.cli.headless import scene_camera
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import shaders
from app.picture.passes.quality import BY_NAME, LEVELS, AutomaticQuality, Haste, Quality
from app.picture.picture import Picture
from app.scene.scene import Scene
from app.window.known_levels import LevelsInFile
from tests.graphics import own_programs
from tests.nets.profile import is_nightly
from tests.passes import gl
from tests.passes.conftest import Draw
from tests.passes.rows import rows
from tests.passes.worlds import bumps, drowned, flat, hills, snapshot, with_water

QUALITIES = [level.name for level in LEVELS]


def land(world: int | None = None, *, seed: int = 3, shape: tuple[int, int] = (60, 90)) -> Snapshot:
    return snapshot(hills(*shape, seed=seed) * 300.0, bumps(*shape, seed=seed) * 0.8, world=world)


def scene(**view: float | str | bool) -> Scene:
    made = Scene()
    for name, value in view.items():
        made = made.with_value(f"view.{name}", value)
    return made


# The same pixels.


def test_the_same_world_and_camera_give_the_same_pixels(draw: Draw, subtests: pytest.Subtests) -> None:
    shown = land()
    for quality in QUALITIES:
        with subtests.test(quality=quality):
            chosen = scene(quality=quality, overlay="slope")
            first = draw(shown, scene=chosen, minimap=True)
            assert first.std() > 10.0, "there is something to see"
            np.testing.assert_array_equal(first, draw(shown, scene=chosen, minimap=True))


@pytest.mark.parametrize("quality", ["medium", "high"])
def test_snow_lies_over_rock_as_in_a_picture_that_has_just_begun(draw: Draw, picture: Picture, quality: str) -> None:
    shown, snowy = land(), scene(quality=quality, snow_line=0.2, exaggeration=3.0)
    expected = draw(shown, scene=snowy)
    picture.reload_shaders()  # bakes all again
    draw(shown, scene=scene(quality=quality, snow_line=2.0, exaggeration=3.0))
    np.testing.assert_array_equal(draw(shown, scene=snowy), expected)


def test_pixels_do_not_depend_on_what_was_shown_before(
    context: moderngl.Context, canvas: Canvas, draw: Draw, picture: Picture
) -> None:
    shown, chosen = land(world=1), scene(overlay="change", quality="medium")
    expected = draw(shown, scene=chosen, minimap=True)
    draw(land(seed=8, shape=(90, 60)), scene=scene(quality="high"), size=(50, 70))
    draw(land(seed=9, shape=(60, 90)), scene=scene(overlay="slope", sun_height=60.0, exaggeration=4.0))
    draw(snapshot(flat(8, 8)), scene=scene(quality="ultra"), minimap=True)
    draw(land(world=2, seed=4), scene=scene(quality="low"), size=(1, 1))
    again = land(world=3)
    np.testing.assert_array_equal(draw(again, scene=chosen, minimap=True), expected)


@pytest.mark.parametrize("quality", ["low", "high"])
def test_programs_that_others_have_used_draw_as_those_that_are_new(
    context: moderngl.Context, canvas: Canvas, quality: str
) -> None:
    """Most tests draw with programs that other pictures have let go."""
    chosen = scene(quality=quality, overlay="slope", exaggeration=2.0)
    other = scene(quality=quality, overlay="slope", sun_height=70.0, exaggeration=0.5, haze=4.0, snow_line=0.1)
    wet = drowned(land(), 90.0)

    def drawn(shown: Snapshot, scene: Scene) -> NDArray[np.uint8]:
        picture = Picture(context, bake_at_once=True)
        picture.show(shown)
        picture.draw(canvas.framebuffer(160, 120), scene_camera(scene, shown), scene, time=3.0)
        pixels = canvas.pixels()
        assert pixels is not None
        picture.release()
        return pixels.copy()

    with own_programs():
        expected = drawn(wet, chosen)
    drawn(drowned(land(seed=8, shape=(90, 60)), 150.0), other)
    np.testing.assert_array_equal(drawn(wet, chosen), expected)


def test_a_later_cycle_is_drawn_as_if_it_was_the_first(draw: Draw) -> None:
    first = land(world=1)
    later = snapshot(first.layers["bedrock"] * 0.5, 2.0, world=1, cycle=7)
    chosen = scene(quality="medium")
    draw(first, scene=chosen)
    camera = scene_camera(chosen, later)
    seen = draw(later, camera, chosen)
    alone = snapshot(later.layers["bedrock"], later.layers["sediment"])
    np.testing.assert_array_equal(seen, draw(alone, camera, chosen))


def test_light_that_is_baked_over_frames_ends_as_light_that_is_baked_at_once(
    context: moderngl.Context, canvas: Canvas, draw: Draw
) -> None:
    chosen = scene(quality="low")
    """So does the relief that it shows, and the horizons that lakes mirror: the first picture waits for neither."""
    first, later = land(world=1), with_water(snapshot(hills(60, 90, seed=5) * 400.0, world=1, cycle=1), 120.0)
    camera = scene_camera(chosen, later)
    expected = draw(later, camera, chosen)
    picture = Picture(context)
    target = canvas.framebuffer(160, 120)
    assert picture.frame_settled, "nothing is shown"
    for shown in (first, later):
        picture.show(shown)
        assert not picture.frame_settled
        frames = 0
        while not picture.frame_settled:
            picture.draw(target, camera, chosen, minimap=False)
            frames += 1
            assert frames < 100
        assert frames > 3
    pixels = canvas.pixels()
    np.testing.assert_array_equal(pixels, expected)
    picture.draw(target, camera, scene(quality="low", sun_direction=10.0), minimap=False)
    picture.release()


# Sizes.


def test_every_pixel_is_drawn_at_every_size_and_quality(
    draw: Draw, picture: Picture, canvas: Canvas, subtests: pytest.Subtests
) -> None:
    shown, sizes = land(), [(1, 1), (2, 1), (1, 37), (33, 17), (160, 121)]
    for row in rows(quality=QUALITIES, size=sizes, content_scale=[1.0, 2.0]):
        with subtests.test(**row):
            size, picture.content_scale = row["size"], row["content_scale"]
            pixels = draw(shown, scene=scene(quality=row["quality"]), size=size, minimap=True)
            assert pixels.shape == (size[1], size[0], 3)
            assert not (pixels == (255, 0, 255)).all(axis=2).any(), "the magenta that was there before"
            alpha = np.frombuffer(canvas.framebuffer(*size).read(components=4, alignment=1), np.uint8)[3::4]
            assert (alpha == 255).all(), "a picture is opaque"


@pytest.mark.parametrize("size", [(8000, 200), (200, 4000)])
def test_a_very_long_window(draw: Draw, size: tuple[int, int]) -> None:
    pixels = draw(land(), scene=scene(quality="low"), size=size, minimap=True)
    assert not (pixels == (255, 0, 255)).all(axis=2).any()


def test_qualities_differ_in_detail_and_not_in_what_is_seen(draw: Draw) -> None:
    shown = land()
    pictures = [draw(shown, scene=scene(quality=quality)).astype(int) for quality in QUALITIES]
    for other in pictures[1:]:
        assert np.abs(other.mean(axis=(0, 1)) - pictures[0].mean(axis=(0, 1))).max() < 6.0
        assert np.abs(other - pictures[0]).mean() > 0.1


def test_without_a_snapshot_the_picture_is_plain(context: moderngl.Context, canvas: Canvas) -> None:
    picture = Picture(context)
    target = canvas.framebuffer(20, 10)
    target.clear(1.0, 0.0, 1.0, 1.0)
    picture.draw(target, Camera(glm.vec3(), 0.0, 45.0, 1.0), Scene())
    pixels = canvas.pixels()
    assert pixels is not None and len(np.unique(pixels.reshape(-1, 3), axis=0)) == 1 and pixels.max() < 64
    picture.release()


# State that others leave.


Leave = Callable[[moderngl.Context, moderngl.Framebuffer], object]


def raw(name: str, *arguments: int | float) -> Leave:
    return lambda context, target: gl.call(name)(*arguments)


def left_scissor(context: moderngl.Context, target: moderngl.Framebuffer) -> None:
    gl.call("Enable")(gl.GL_SCISSOR_TEST)
    gl.call("Scissor")(3, 3, 5, 5)


def left_on_target(context: moderngl.Context, target: moderngl.Framebuffer) -> None:
    target.scissor = (10, 10, 20, 20)
    target.viewport = (5, 5, 30, 30)


def left_blending(context: moderngl.Context, target: moderngl.Framebuffer) -> None:
    context.enable(moderngl.BLEND)
    context.blend_func = moderngl.ONE, moderngl.ONE
    context.blend_equation = moderngl.FUNC_REVERSE_SUBTRACT


def left_culling(context: moderngl.Context, target: moderngl.Framebuffer) -> None:
    context.enable(moderngl.CULL_FACE)
    context.cull_face = "front"
    context.front_face = "cw"


def left_depth(context: moderngl.Context, target: moderngl.Framebuffer) -> None:
    context.enable(moderngl.DEPTH_TEST)
    context.depth_func = ">"


STATES = {
    "scissor": left_scissor,
    "scissor and viewport of the target": left_on_target,
    "blending": left_blending,
    "raw blending": raw("Enable", gl.GL_BLEND),
    "culling": left_culling,
    "depth": left_depth,
    "discarding": lambda context, target: context.enable(moderngl.RASTERIZER_DISCARD),
    "depth mask": raw("DepthMask", 0),
    "colour mask": raw("ColorMask", 0, 0, 0, 0),
    "viewport": raw("Viewport", 1, 1, 7, 7),
    "texture unit": raw("ActiveTexture", 0x84C0 + 9),
}


def several(*names: str) -> Leave:
    """What leaves several of them at a time."""

    def leave(context: moderngl.Context, target: moderngl.Framebuffer) -> None:
        for name in names:
            STATES[name](context, target)

    return leave


# All of them in two pictures: those that moderngl knows of, and those that it does not
AT_ONCE = {
    "known": several("scissor", "scissor and viewport of the target", "blending", "culling", "depth", "discarding"),
    "unknown": several("raw blending", "depth mask", "colour mask", "viewport", "texture unit"),
}


def reset(context: moderngl.Context) -> None:
    """Back to the state of a new context."""
    gl.call("ActiveTexture")(0x84C0)
    context.enable_only(moderngl.NOTHING)
    context.blend_equation = moderngl.FUNC_ADD
    context.blend_func = moderngl.DEFAULT_BLENDING
    context.cull_face, context.front_face, context.depth_func = "back", "ccw", "<"


@pytest.mark.parametrize("quality", ["low", pytest.param("medium", marks=pytest.mark.nightly), "high"])
def test_pixels_do_not_depend_on_the_state_that_others_left(
    context: moderngl.Context,
    draw: Draw,
    picture: Picture,
    canvas: Canvas,
    quality: str,
    subtests: pytest.Subtests,
) -> None:
    shown, chosen = land(), scene(quality=quality, overlay="sediment")
    expected = draw(shown, scene=chosen, size=(96, 72), minimap=True)
    for state, leave in (STATES if quality == "low" or is_nightly() else AT_ONCE).items():
        with subtests.test(state=state):
            target = canvas.framebuffer(96, 72)
            target.use()
            target.clear(1.0, 0.0, 1.0, 1.0)
            try:
                leave(context, target)
                # All over again: maps, too.
                picture.show(land())
                picture.draw(target, scene_camera(chosen, shown), chosen, minimap=True)
                seen = canvas.pixels()
            finally:
                reset(context)
            np.testing.assert_array_equal(seen, expected)


@pytest.mark.usefixtures("compiled_anew")
def test_nothing_is_left_behind(context: moderngl.Context, canvas: Canvas) -> None:
    """After release, the context holds as many objects of each kind as before."""
    target = canvas.framebuffer(64, 48)
    target.use()
    before = gl.living_objects()
    picture = Picture(context, bake_at_once=True)
    for number, quality in enumerate((*QUALITIES, *QUALITIES) if is_nightly() else ("low", "high", "low", "high")):
        shown = land(seed=number, shape=(20 + 4 * number, 30))
        chosen = scene(quality=quality, overlay=("none", "slope")[number % 2])
        picture.show(shown)
        picture.draw(target, scene_camera(chosen, shown), chosen)
        assert picture.reload_shaders() == ""
        picture.draw(target, scene_camera(chosen, shown), chosen)
    assert sum(gl.living_objects().values()) > sum(before.values())
    picture.release()
    assert gl.living_objects() == before


# Shaders that change.


@pytest.mark.parametrize(
    ("name", "result", "quality"), [("light.frag", "vec4(", "low"), ("fractures.frag", "0.5 + vec4(", "medium")]
)
def test_a_reload_changes_also_what_is_baked(
    draw: Draw, picture: Picture, monkeypatch: pytest.MonkeyPatch, name: str, result: str, quality: str
) -> None:
    shown, chosen = land(), scene(quality=quality)
    bright = draw(shown, scene=chosen)
    read = shaders.read_shader
    dark = read(name).replace(f"result = {result}", "result = 0.0 * vec4(")
    monkeypatch.setattr(shaders, "read_shader", lambda asked: dark if asked == name else read(asked))
    np.testing.assert_array_equal(draw(shown, scene=chosen), bright)
    assert picture.reload_shaders() == ""
    assert draw(shown, scene=chosen).mean() < bright.mean() - 5.0
    monkeypatch.undo()
    assert picture.reload_shaders() == ""
    np.testing.assert_array_equal(draw(shown, scene=chosen), bright)


def test_a_shader_that_does_not_compile_leaves_the_picture_as_it_is(
    draw: Draw, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = land()
    before = draw(shown, minimap=True)
    read = shaders.read_shader
    lines = read("terrain.frag").splitlines()
    broken = "\n".join([*lines[:-1], "nonsense;", "}"])
    monkeypatch.setattr(shaders, "read_shader", lambda name: broken if name == "terrain.frag" else read(name))
    assert picture.reload_shaders().startswith(f"shaders/terrain.frag, line {len(lines)}:")
    np.testing.assert_array_equal(draw(shown, minimap=True), before)


def test_shaders_are_read_from_the_package() -> None:
    assert shaders.read_shader("terrain.vert") == files("shaders").joinpath("terrain.vert").read_text(encoding="utf-8")


# Extremes.


def scene_radiance(picture: Picture) -> NDArray[np.float16]:
    """What the scene holds before tone mapping."""
    texture = picture._resolve._framebuffers["scene"].color_attachments[0]
    return np.frombuffer(texture.read(), np.float16)  # type: ignore[union-attr]


EXTREMES: dict[str, tuple[Snapshot, Scene]] = {
    "flat": (snapshot(flat(40, 40)), scene()),
    "flat and high": (snapshot(flat(40, 40, 1e5)), scene(exaggeration=10.0, overlay="elevation")),
    "tall": (snapshot(hills(40, 40) * 1e5), scene(exaggeration=10.0)),
    "tall on tiny cells": (snapshot(hills(40, 40) * 1e5, cell_size=0.01), scene()),
    "deep": (snapshot(hills(40, 40) * -1e5, cell_size=10_000.0), scene(exaggeration=0.2)),
    "tiny": (snapshot(bumps(8, 8) * 1e-3, cell_size=0.01), scene(overlay="change")),
    "noon": (snapshot(hills(40, 40) * 200.0), scene(sun_height=90.0, sun_direction=0.0)),
    "dusk": (snapshot(hills(40, 40) * 200.0), scene(sun_height=1.0, sun_direction=180.0)),
    "bright": (snapshot(hills(40, 40) * 200.0), scene(exposure=4.0, haze=4.0, snow_line=0.0)),
    "dark": (snapshot(hills(40, 40) * 200.0), scene(exposure=-4.0, haze=0.0, greenness=0.0)),
    "buried": (snapshot(hills(40, 40) * 200.0, 1e4), scene(overlay="sediment", overlay_opacity=0.0)),
    "a strip": (snapshot(hills(8, 400) * 50.0), scene()),
}


def test_extreme_lands_and_views_give_numbers(draw: Draw, picture: Picture, subtests: pytest.Subtests) -> None:
    """The check draws what is opened at both levels, and of all else a third; the night all at both."""
    for number, (extreme, (shown, chosen)) in enumerate(EXTREMES.items()):
        side = max(shown.shape) * shown.cell_size
        middle = glm.vec3(0.5 * side, shown.highest * chosen.view.exaggeration, 0.5 * side)
        cameras = {
            "as opened": scene_camera(chosen, shown),
            "from above": Camera(middle, 30.0, 90.0, 2.0 * side),
            "inside of the land": Camera(middle - glm.vec3(0.0, 0.3 * side, 0.0), 200.0, -20.0, 0.1 * side),
            "under its base": Camera(middle - glm.vec3(0.0, 3.0 * side, 0.0), 100.0, -60.0, side),
            "very near": Camera(middle, 0.0, 5.0, 1e-3 * side),
        }
        for turn, quality in enumerate(("low", "high")):
            for place, (view, camera) in enumerate(cameras.items()):
                if place > 0 and (place + number + turn) % 3 and not is_nightly():
                    continue
                with subtests.test(extreme=extreme, quality=quality, view=view):
                    pixels = draw(
                        shown, camera, chosen.with_value("view.quality", quality), size=(48, 32), minimap=True
                    )
                    assert np.isfinite(scene_radiance(picture)).all()
                    assert not (pixels == (255, 0, 255)).all(axis=2).any()


def test_a_flat_land_looks_flat(draw: Draw, picture: Picture) -> None:
    """Without relief, the ground differs from place to place by its fine noise only."""
    shown = snapshot(flat(64, 64, 1234.567), world=4)
    camera = Camera(glm.vec3(320.0, 1234.567, 320.0), 0.0, 90.0, 300.0)
    chosen = scene(overlay="elevation", overlay_opacity=1.0)
    pixels = draw(shown, camera, chosen).astype(int)
    assert pixels.reshape(-1, 3).std(axis=0).max() < 12.0


# Quality that follows the time.


def test_quality_goes_down_soon_and_up_only_with_room_and_never_to_what_was_too_slow() -> None:
    automatic = AutomaticQuality(BY_NAME["high"])
    for _ in range(AutomaticQuality.PATIENCE - 1):
        automatic.measure(1.0)
    automatic.measure(0.02)  # one frame in time: not slow all the while
    for _ in range(AutomaticQuality.PATIENCE - 1):
        automatic.measure(1.0)
    assert automatic.level is BY_NAME["high"]
    automatic.measure(1.0)
    assert automatic.level is BY_NAME["medium"]
    for _ in range(3000):
        automatic.measure(0.001)
    assert automatic.level is BY_NAME["medium"]
    for _ in range(3000):
        automatic.measure(1.0)
    assert automatic.level is LEVELS[0]


@pytest.mark.parametrize(("seconds", "name"), [(1.0, "lowest"), (0.1, "medium"), (0.03, "high"), (0.001, "high")])
def test_a_guessed_level_is_left_at_once_where_the_machine_cannot_hold_it(seconds: float, name: str) -> None:
    chosen: list[Quality] = []
    automatic = AutomaticQuality(BY_NAME["high"], guessed=True, changed=chosen.append)
    for _ in range(AutomaticQuality.COMPILING):
        automatic.measure(9.0)
    for _ in range(AutomaticQuality.JUDGED):
        assert automatic.level is BY_NAME["high"]
        automatic.measure(seconds)
    assert automatic.level is BY_NAME[name]
    assert chosen == ([automatic.level] if name != "high" else [])
    for _ in range(3000):
        automatic.measure(0.001)
    assert automatic.level is BY_NAME[name], "what was too slow once is not tried again"


def test_the_level_that_a_renderer_came_to_is_known_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "levels.json"
    LevelsInFile(path).note("one", BY_NAME["medium"])
    known = LevelsInFile(path)
    known.note("other", BY_NAME["low"])
    assert LevelsInFile(path).level("one") is BY_NAME["medium"]
    assert LevelsInFile(path).level("other") is BY_NAME["low"]
    assert LevelsInFile(path).level("third") is None
    for damaged in (b"", b"[1]", b'{"one": "best"}', b"\xff", b'{"\xec": "low"}', b"[" * 100_000):
        path.write_bytes(damaged)
        assert LevelsInFile(path).level("one") is None
    LevelsInFile(tmp_path / "nowhere" / "levels.json").note("one", BY_NAME["low"])  # cannot be kept, and need not be


def test_a_picture_opens_with_the_known_level(context: moderngl.Context, tmp_path: Path) -> None:
    known = LevelsInFile(tmp_path / "levels.json")
    known.note(context.info["GL_RENDERER"], BY_NAME["medium"])
    for picture, name in ((Picture(context, known_levels=known), "medium"), (Picture(context), None)):
        level = picture.quality(Scene().view)
        assert level.name == (name or ("low" if picture.software else "high"))
        picture.release()


def test_a_level_that_was_asked_for_stays_however_late_its_frames_are(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.picture.passes.quality.time.perf_counter", itertools.count().__next__)
    chosen, shown = scene(), land()
    for name in ("low", None):
        picture = Picture(context, quality=name)
        picture.show(shown)
        for _ in range(AutomaticQuality.COMPILING + AutomaticQuality.JUDGED):
            picture.draw(canvas.framebuffer(16, 12), scene_camera(chosen, shown), chosen, minimap=False)
        assert picture.quality(chosen.view).name == (name or "lowest")
        picture.release()


def test_a_picture_that_follows_a_hand_is_as_small_as_it_must_be() -> None:
    haste = Haste()
    before = haste.scale
    for _ in range(Haste.PATIENCE - 1):
        haste.measure(2.0 * Haste.SLOW)
    assert haste.scale == before
    for _ in range(3000):
        haste.measure(2.0 * Haste.SLOW)
    assert haste.scale == min(Haste.SCALES) < before
    for _ in range(3000):
        haste.measure(0.5 * (Haste.SLOW + Haste.FAST))
    assert haste.scale == min(Haste.SCALES)
    for _ in range(3000):
        haste.measure(0.5 * Haste.FAST)
    assert haste.scale == max(Haste.SCALES) > before


def test_quality_never_rises_to_ultra_by_itself() -> None:
    automatic = AutomaticQuality(LEVELS[0])
    for _ in range(3000):
        automatic.measure(0.001)
    assert automatic.level.name == "high"
