"""What the bench counts of a frame: draws, fragments, and reads of textures."""

from __future__ import annotations

from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.bench.budget import COUNTS_FROM, _CountingShaders, budget, with_counts
from app.bench.frame import READS, PlainMesh
from app.cli.headless import scene_camera
from app.model.snapshot import Snapshot
from app.picture.canvas import Canvas
from app.picture.passes import unlocked
from app.picture.passes.mesh import select_nodes
from app.picture.passes.shaders import ShaderLibrary
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.worlds import (
    drowned,
    flat,
    hills,
    island,
    materials,
    snapshot,
    with_layers,
    with_materials,
    with_water,
)

FRAGMENT = """
uniform sampler2D map;
out vec4 colour;

vec4 twice(ivec2 at) { return texelFetch(map, at, 0) + textureLod(map, vec2(at) / vec2(textureSize(map, 0)), 0.0); }

void main() {
    colour = vec4(0.0);
    if (gl_FragCoord.x < 4.0)
        for (int i = 0; i < 3; ++i) colour += twice(ivec2(gl_FragCoord.xy) + i);
    colour += texture(map, mix(vec2(0.1, 0.2), texture(map, vec2(0.5)).xy, 0.5)) * max(1.0, 2.0);
    colour += textureGrad(map, vec2(0.5), vec2(0.1, 0.0), vec2(0.0, 0.1));
    DROP
}
"""
VERTEX = """#version 410 core
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }
"""


@pytest.fixture(autouse=True)
def can_count(context: moderngl.Context) -> None:
    """Some drivers give exactly the version that is asked for, which is too old to count."""
    if context.version_code < COUNTS_FROM:
        pytest.skip(f"counts need OpenGL {COUNTS_FROM / 100:.1f}")


def counted(context: moderngl.Context, fragment: str) -> list[int]:
    """Reads and fragments of a shader over 16 × 8 pixels."""
    program = context.program(vertex_shader=VERTEX, fragment_shader=with_counts(fragment))
    array, sums = context.vertex_array(program, []), context.buffer(np.zeros(2, np.uint32))
    texture, target = context.texture((4, 4), 4), context.simple_framebuffer((16, 8))
    before = context.fbo
    texture.use(0)
    target.use()
    sums.bind_to_storage_buffer(0)
    array.render(moderngl.TRIANGLES, vertices=3)
    context.finish()
    found: list[int] = np.frombuffer(sums.read(), np.uint32).tolist()
    before.use()
    for made in (array, program, sums, texture, target):
        made.release()
    return found


def test_reads_are_counted_through_loops_and_branches(context: moderngl.Context) -> None:
    assert counted(context, FRAGMENT.replace("DROP", "")) == [128 * 3 + 4 * 8 * 6, 128]
    dropped = FRAGMENT.replace("DROP", "if (gl_FragCoord.y > 4.0) discard;")
    assert counted(context, dropped) == [64 * 3 + 4 * 4 * 6, 64], "what drops itself is not counted"


def test_a_picture_that_counts_has_the_same_pixels(context: moderngl.Context) -> None:
    scene = Scene().with_value("view.quality", "high")
    shown = snapshot(100.0 * hills(48, 64))
    shown = with_water(shown, 40.0)
    camera = scene_camera(scene, shown)
    drawn, resting_place = [], context.fbo
    for library in (ShaderLibrary, _CountingShaders):
        picture = Picture(context, bake_at_once=True, library=library)
        canvas, sums = Canvas(context), context.buffer(reserve=8)
        sums.bind_to_storage_buffer(0)
        picture.show(shown)
        picture.draw(canvas.framebuffer(96, 64), camera, scene)
        drawn.append(canvas.pixels())
        resting_place.use()
        for made in (picture, canvas, sums):
            made.release()
    assert np.array_equal(*drawn)
    found = budget(context, scene, shown, (96, 64))
    resting_place.use()
    assert found and found.draws > 3 and found.fragments > 96 * 64 and found.reads > 2 * found.fragments


def test_the_sea_reads_no_more_textures_the_more_land_it_mirrors(context: moderngl.Context) -> None:
    """A march over the whole map for its sun and its mirror would be a hundred reads a pixel."""
    scene = Scene().with_value("view.quality", "high").with_value("view.sun_height", 8.0)
    shown = drowned(snapshot(island(192, 192), world=1), 0.0)
    resting_place = context.fbo
    found = budget(context, scene, shown, (240, 135))
    resting_place.use()
    assert found and found.reads / (240 * 135) <= READS


def added_by_a_mountain_behind(context: moderngl.Context, lake: NDArray[np.bool_], **view_from: float) -> float:
    """Reads of a pixel over a lake: a mountain behind the viewer is as high as any land, but no ray meets it."""
    row, _ = np.indices(lake.shape)
    ground = np.where(lake, -20.0, 8.0)
    alone, below_a_mountain = (
        with_water(snapshot(np.where(row > 120, height, ground), cell_size=10.0), 20.0 * (lake & (row <= 120)))
        for height in (8.0, 500.0)
    )
    scene = Scene().with_values({"view.quality": "high", "camera.heading": 0.0})
    scene = scene.with_values({f"camera.{name}": value for name, value in view_from.items()})
    resting_place = context.fbo
    reads = [found.reads for shown in (alone, below_a_mountain) if (found := budget(context, scene, shown, (160, 90)))]
    resting_place.use()
    return (reads[1] - reads[0]) / (160 * 90)


def test_no_ray_is_followed_where_a_lake_mirrors_only_sky(context: moderngl.Context) -> None:
    row, column = np.mgrid[:128, :128]
    round_lake = np.hypot(row - 64, column - 64) < 50
    # A lake without any land above it does not even look up its horizon.
    assert added_by_a_mountain_behind(context, round_lake, pitch=30.0, distance=0.3) < 7.0


def test_rays_from_near_a_coast_end_where_all_land_is_below_them(context: moderngl.Context) -> None:
    row, _ = np.mgrid[:128, :128]
    assert added_by_a_mountain_behind(context, np.abs(row - 64) < 3, pitch=50.0, distance=0.12) < 5.0


def reads_of_a_pixel(context: moderngl.Context, clouds: float, **view_from: float) -> float:
    """Of a sea at level high."""
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=20.0), 0.0)
    scene = Scene().with_values({"view.quality": "high", "view.clouds": clouds})
    resting_place = context.fbo
    found = budget(
        context, scene.with_values({f"camera.{name}": value for name, value in view_from.items()}), shown, (160, 90)
    )
    resting_place.use()
    assert found
    return found.reads / (160 * 90)


def test_a_sky_of_clouds_reads_no_more_textures_than_other_pictures(context: moderngl.Context) -> None:
    """Steps through all of their depth are taken for a quarter of the pixels."""
    views = {"pitch": 28.0, "distance": 0.34}, {"pitch": 1.0, "distance": 0.3}  # without any sky, and half of it
    clear, clear_half_sky = (reads_of_a_pixel(context, 0.0, **view) for view in views)
    shadowed, half_sky = (reads_of_a_pixel(context, 0.8, **view) for view in views)
    assert clear + 1.0 < shadowed < clear + 4.0
    assert clear_half_sky + 4.0 < half_sky < clear


def test_ground_that_nearer_ground_hides_is_hardly_shaded(context: moderngl.Context) -> None:
    """Its back faces are not."""
    scene = Scene().with_values({"view.quality": "high", "camera.pitch": 8.0})
    resting_place = context.fbo
    found = budget(context, scene, snapshot(600.0 * hills(96, 96)), (160, 90))
    resting_place.use()
    assert found and found.fragments < 4.4 * 160 * 90


def reads_of_a_fragment(context: moderngl.Context, shown: Snapshot, **view: float) -> float:
    scene = Scene().with_values({"view.quality": "high", **{f"view.{name}": value for name, value in view.items()}})
    resting_place = context.fbo
    found = budget(context, scene, shown, (96, 64))
    resting_place.use()
    assert found
    return found.reads / found.fragments


def test_rock_that_is_hidden_is_not_looked_up(context: moderngl.Context) -> None:
    ground, made_of = 60.0 * hills(48, 64), materials(("sandstone", 20.0))
    bare, hidden = (with_materials(snapshot(ground, loose), made_of, rise=80.0) for loose in (0.0, 50.0))
    assert reads_of_a_fragment(context, hidden) < reads_of_a_fragment(context, bare) - 1.0


def test_rock_asks_for_nothing_that_only_sand_has(context: moderngl.Context) -> None:
    rock = with_layers(snapshot(60.0 * hills(48, 64)), airborne=0.0)
    sand = with_layers(snapshot(60.0 * hills(48, 64), 50.0), airborne=0.01)
    plain, desert = reads_of_a_fragment(context, rock), {"desert": 1.0, "drifting_sand": 1.0}
    assert reads_of_a_fragment(context, rock, **desert) < plain + 2.0
    assert reads_of_a_fragment(context, sand, **desert) > plain + 4.0


def test_sand_in_the_air_too_thin_to_be_seen_asks_for_no_streamers(context: moderngl.Context) -> None:
    worlds = (with_layers(snapshot(60.0 * hills(48, 64), 50.0), airborne=sand) for sand in (0.0, 2e-5, 0.01))
    clear, thin, thick = (reads_of_a_fragment(context, world, drifting_sand=1.0) for world in worlds)
    assert thin == clear < thick - 0.5


def test_the_plain_mesh_is_whole_also_where_the_picture_shows_a_part(
    context: moderngl.Context, canvas: Canvas, picture: Picture
) -> None:
    shown, scene = snapshot(hills(150, 150) * 400.0), Scene()
    picture.show(shown)
    camera = scene_camera(scene, shown)
    picture.draw(canvas.framebuffer(160, 90), replace(camera, distance=0.1 * camera.distance), scene)
    assert picture.frame is not None
    rows, columns = shown.shape
    heights = shown.lowest, shown.highest
    assert len(picture.frame.nodes) < len(select_nodes(columns, rows, 10.0, heights, picture.frame.camera, 8.0))
    plain = PlainMesh(context, picture, (160, 90))
    drawn = unlocked.draws
    plain.draw(plain.whole_frame())
    assert unlocked.draws > drawn
    plain.release()
