"""What OpenGL holds: counted as it was asked for, and no more of it after worlds of many sizes."""

from __future__ import annotations

from functools import cache

import moderngl
import pytest

from app.cli.headless import scene_camera
from app.model.snapshot import Snapshot
from app.picture.canvas import Canvas
from app.picture.passes import land_maps
from app.picture.passes.declaration import Shot
from app.picture.passes.held import held
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.nets.profile import is_nightly
from tests.passes.worlds import drowned, hills, island, snapshot, with_rivers, wooded


def test_textures_renderbuffers_and_buffers_are_counted_until_they_are_released(context: moderngl.Context) -> None:
    before = held()
    texture = context.texture((30, 20), 4, dtype="f4")
    small = context.texture((16, 16), 1)
    small.build_mipmaps()
    depth = context.depth_texture((10, 10))
    samples = context.renderbuffer((8, 8), 4, samples=2, dtype="f2")
    buffer = context.buffer(reserve=1000)
    now = held()
    assert now.objects == before.objects + 5
    assert now.buffers == before.buffers + 1000
    expected = 30 * 20 * 16 + (256 + 64 + 16 + 4 + 1) + 10 * 10 * 4 + 8 * 8 * 8 * 2
    # Drivers may take more samples than were asked for, and other depths.
    assert expected - 200 <= now.textures - before.textures <= 2 * expected
    for thing in (texture, small, depth, samples, buffer):
        thing.release()
    assert held() == before


def test_names_that_are_far_from_the_first_are_found(context: moderngl.Context) -> None:
    before = held()
    for _ in range(3000):
        context.buffer(reserve=4).release()
    late = context.buffer(reserve=500)
    assert held().buffers == before.buffers + 500
    late.release()


def test_what_is_let_go_without_a_release_is_still_counted(context: moderngl.Context) -> None:
    before = held()
    lost = context.texture((64, 64), 1)
    name = lost.glo
    del lost
    assert held().textures == before.textures + 64 * 64
    context.external_texture(name, (64, 64), 1, 0, "f1").release()


@pytest.mark.parametrize("quality", [pytest.param("low", marks=pytest.mark.nightly), "high"])
def test_a_picture_holds_no_more_after_worlds_of_other_sizes(
    context: moderngl.Context, canvas: Canvas, quality: str
) -> None:
    picture = Picture(context, bake_at_once=True)
    sizes = ((20, 30), (45, 16), (12, 16)) if is_nightly() else ((45, 16), (12, 20))
    overlays = ("none", "rivers", "wind", "material") if is_nightly() else ("none", "material")

    @cache
    def land(rows: int, columns: int) -> Snapshot:
        """One with all that there is."""
        return wooded(drowned(with_rivers(snapshot(hills(rows, columns) * 300.0, 0.4), 1.0), 60.0), 100)

    def show(rows: int, columns: int) -> tuple[int, int]:
        """Bytes of textures and the number of objects after it."""
        shown = land(rows, columns)
        for overlay in overlays:
            scene = Scene().with_values({"view.overlay": overlay, "view.quality": quality})
            picture.show(shown)
            picture.draw(canvas.framebuffer(2 * columns, 2 * rows), scene_camera(scene, shown), scene)
        now = held()
        return now.textures, now.objects

    for size in sizes:  # shaders are compiled for what is there, and kept
        show(*size)
    first = [show(*size) for size in sizes]
    assert [show(*size) for size in sizes] == first
    picture.release()


def test_a_picture_gives_back_what_only_a_higher_level_needs(context: moderngl.Context, canvas: Canvas) -> None:
    """All but small tiles that repeat, which are made once for a context."""
    picture = Picture(context, bake_at_once=True)
    shown = snapshot(hills(160, 160) * 300.0, 0.4)
    picture.show(shown)

    def textures(quality: str) -> int:
        scene = Scene().with_value("view.quality", quality)
        picture.draw(canvas.framebuffer(64, 48), scene_camera(scene, shown), scene)
        return held().textures

    low, high = textures("low"), textures("high")
    assert textures("low") - low < 4 * 2**20 < high - low
    picture.release()


def test_a_picture_that_is_refined_is_drawn_in_more_slices_and_is_the_same(
    context: moderngl.Context, canvas: Canvas
) -> None:
    """A touch gives it up after the slice that is being drawn."""
    picture = Picture(context, bake_at_once=True)
    scene = Scene().with_value("view.quality", "high")
    shown = snapshot(400.0 * hills(150, 150))
    picture.show(shown)
    shot = Shot(scene_camera(scene, shown), scene, minimap=False)
    drawn, slices = [], []
    for finer in (0, 0, 1):
        slices.append(len(list(picture.slices(canvas.framebuffer(96, 64), shot._replace(finer=finer)))))
        drawn.append(canvas.pixels().copy())
    picture.release()
    assert slices[2] > slices[1] + 3
    assert (drawn[2] == drawn[1]).all()


@pytest.mark.parametrize("quality", ["lowest", "high"])
def test_a_picture_that_is_refined_waits_for_its_maps_and_bakes_few_texels_at_a_time(
    context: moderngl.Context, canvas: Canvas, quality: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A touch gives it up after few of them; the first picture of its level has all relief and light already."""
    monkeypatch.setattr(land_maps, "TEXELS_AT_REST", 600)
    scene = Scene().with_value("view.quality", quality)
    shown = snapshot(400.0 * hills(60, 60))
    shot = Shot(scene_camera(scene, shown), scene, minimap=False)
    slices = []
    for finer in (0, 1):
        picture = Picture(context)
        picture.show(shown)
        target = canvas.framebuffer(96, 64)
        picture.draw(target, shot.camera, Scene().with_value("view.quality", "lowest"), minimap=False)
        slices.append(len(list(picture.slices(target, shot._replace(finer=finer)))))
        pictures = 0
        while not picture.frame_settled:
            list(picture.slices(target, shot._replace(finer=finer)))
            pictures += 1
            assert pictures < 100
        if finer:
            assert pictures <= 4, "light that the land bounces comes in later ones"
        picture.release()
    assert slices[1] > slices[0] + 2 * 60 * 60 * 4 // 600


def test_a_picture_that_is_refined_has_the_shore_of_its_waves(context: moderngl.Context, canvas: Canvas) -> None:
    """It is the last for as long as nothing is touched."""
    scene = Scene().with_values({"view.quality": "lowest", "waves.enabled": True})
    shown = drowned(snapshot(island(160, 160)), 0.0)
    shot = Shot(scene_camera(scene, shown), scene, minimap=False)
    picture, target = Picture(context), canvas.framebuffer(96, 64)
    picture.show(shown)
    list(picture.slices(target, shot))
    before = picture._maps._shore.shown
    stormy = shot._replace(appearance=scene.with_value("climate.wind_speed", 4.0))
    list(picture.slices(target, stormy))
    assert picture._maps._shore.shown == before, "it takes its time"
    list(picture.slices(target, stormy._replace(finer=1)))
    assert before is not None and not before.same_waves(picture._maps._shore.shown)
    picture.release()
