"""Pictures side by side: each as it would be alone, parted by a divider, named by a label."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.cli.headless import scene_camera
from app.model.legends import legend, legend_colours
from app.model.overlays import overlay_range
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.legend import legend_sign
from app.picture.lettering import sign
from app.picture.passes.quality import BY_NAME, AutomaticQuality
from app.picture.passes.tiles import GroundTiles
from app.picture.picture import MINIMAP_PATIENCE, Picture
from app.picture.sides import DIVIDER_COLOUR, LONGER_REST, Sides, areas
from app.picture.style import Face, load_fonts
from app.scene.comparison import labels
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes import gl
from tests.passes.worlds import drowned, hills, island, snapshot, way, with_layers

SIZE = (400, 260)
LABEL_ROWS = 100  # more than the labels here have
DIVIDER = 2
MOST_BANDS = 100  # in which light and relief of a small land are drawn

ONE = Scene().with_values({"view.quality": "low", "view.minimap": True})
OTHER = ONE.with_value("droplets.evaporation", 0.01)


def land(world: int, seed: int = 3, *, relief: float = 300.0, cycle: int = 0) -> Snapshot:
    return snapshot(hills(60, 90, seed=seed) * relief, 0.4, world=world, cycle=cycle)


@pytest.fixture
def sides(context: moderngl.Context, resting_place: moderngl.Framebuffer) -> Iterator[Sides]:
    sides = Sides(context, bake_at_once=True)
    yield sides
    resting_place.use()
    sides.release()


def draw(sides: Sides, camera: Camera, *scenes: Scene, minimap: bool = False) -> NDArray[np.uint8]:
    sides.draw([camera] * len(scenes), scenes, time=0.0, minimap=minimap, labels=labels(scenes))
    pixels = sides.pixels()
    assert pixels is not None
    return pixels


@pytest.mark.parametrize("level", ["lowest", "low", "medium"])
def test_pictures_for_files_have_pixels_of_their_own(
    sides: Sides, context: moderngl.Context, resting_place: moderngl.Framebuffer, level: str
) -> None:
    """Only those of a window are enlarged, at levels that save work."""
    scene = ONE.with_value("view.quality", level)
    window = Sides(context)
    sizes = []
    for each in (sides, window):
        each.show([land(1)])
        each.lay_out(*SIZE)
        draw(each, scene_camera(scene, land(1)), scene)
        frame = each.shown[0].picture.frame
        assert frame is not None
        sizes.append(frame.scene.size)
    resting_place.use()
    window.release()
    assert sizes[0] == SIZE
    assert (sizes[1] == SIZE) == (level == "medium")


@tried(100)
@given(
    width=st.integers(2, 4000),
    height=st.integers(1, 3000),
    divider=st.floats(0.0, 1.0),
    free=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted).map(tuple),
)
def test_areas_fill_the_picture_and_meet_at_the_divider(
    width: int, height: int, divider: float, free: tuple[float, float]
) -> None:
    (whole,) = areas(width, height, 1, free=free)
    assert (whole.left, whole.width, whole.height) == (0, width, height)
    one, other = areas(width, height, 2, free=free, divider=divider)
    assert one.left == 0 and other.left == one.width >= 1 and other.width >= 1
    assert one.width + other.width == width
    meeting = (free[0] + divider * (free[1] - free[0])) * width
    assert abs(other.left - meeting) <= 1.0
    for area in (one, other):
        assert 0.0 <= area.free[0] < area.free[1] <= 1.0
    # What is free of the sides is what is free of the whole, as far as anything is.
    if free[0] * width + 2 < meeting < free[1] * width - 2:
        assert one.free[0] * one.width == pytest.approx(free[0] * width, abs=1e-6)
        assert other.left + other.free[1] * other.width == pytest.approx(free[1] * width, abs=1e-6)
        assert (one.free[1], other.free[0]) == (1.0, 0.0)


@tried(100)
@given(
    width=st.integers(4, 4000),
    height=st.integers(2, 3000),
    count=st.integers(1, 4),
    divider=st.floats(0.1, 0.9),
    free=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted).map(tuple),
)
def test_areas_of_a_grid_cover_the_picture_once(
    width: int, height: int, count: int, divider: float, free: tuple[float, float]
) -> None:
    parts = areas(width, height, count, free=free, divider=divider, in_grid=True)
    assert len(parts) == count
    assert sum(area.width * area.height for area in parts) == width * height
    for number, area in enumerate(parts):
        assert area.left >= 0 and area.top >= 0 and area.left + area.width <= width and area.top + area.height <= height
        for other in parts[:number]:
            apart = area.left >= other.left + other.width or area.top >= other.top + other.height
            assert apart
    assert len({area.top for area in parts}) == (1 if count < 3 else 2)


def test_four_worlds_lie_in_a_grid_each_as_it_is_alone(context: moderngl.Context, sides: Sides, canvas: Canvas) -> None:
    shown = [land(number, seed=number) for number in (1, 2, 3, 4)]
    cameras = [replace(scene_camera(ONE, shown[0]), heading=90.0 * number) for number in range(4)]
    sides.show(shown)
    sides.lay_out(*SIZE, in_grid=True)
    sides.draw(cameras, [ONE] * 4, time=0.0, minimap=False)
    pixels = sides.pixels()
    assert pixels is not None and pixels.shape == (SIZE[1], SIZE[0], 3)
    picture = Picture(context, bake_at_once=True)
    picture.least_scale = 1.0
    span = overlay_range("none", *shown)
    for number, (land_shown, camera) in enumerate(zip(shown, cameras, strict=True)):
        row, column = divmod(number, 2)
        rows, columns = SIZE[1] // 2, SIZE[0] // 2
        part = pixels[row * rows : (row + 1) * rows, column * columns : (column + 1) * columns]
        picture.show(land_shown)
        picture.draw(canvas.framebuffer(columns, rows), camera, ONE, minimap=False, overlay_span=span)
        alone = canvas.pixels()
        assert alone is not None
        np.testing.assert_array_equal(part[DIVIDER:, DIVIDER:], alone[DIVIDER:, DIVIDER:])
    picture.release()


@pytest.mark.parametrize(
    ("divider", "quality"),
    [
        (0.1, "low"),
        (0.5, "medium"),
        (0.8, "high"),
        *(
            pytest.param(divider, quality, marks=pytest.mark.nightly)
            for divider, quality in (
                (0.5, "low"),
                (0.8, "low"),
                (0.1, "medium"),
                (0.8, "medium"),
                (0.1, "high"),
                (0.5, "high"),
            )
        ),
    ],
)
def test_each_half_is_the_picture_of_that_size_from_the_same_camera(
    context: moderngl.Context, sides: Sides, canvas: Canvas, divider: float, quality: str
) -> None:
    one, other = (scene.with_value("view.quality", quality) for scene in (ONE, OTHER))
    shown = [land(1), land(2, seed=5)]
    camera = scene_camera(one, shown[0])
    sides.show(shown)
    sides.lay_out(*SIZE, divider=divider)
    pixels = draw(sides, camera, one, other)
    assert pixels.shape == (SIZE[1], SIZE[0], 3)
    meeting = round(divider * SIZE[0])
    picture = Picture(context, bake_at_once=True)
    picture.least_scale = 1.0
    span = overlay_range("none", *shown)
    for part, snapshot_, scene in (
        (pixels[:, :meeting], shown[0], one),
        (pixels[:, meeting:], shown[1], other),
    ):
        picture.show(snapshot_)
        picture.draw(canvas.framebuffer(part.shape[1], SIZE[1]), camera, scene, minimap=False, overlay_span=span)
        alone = canvas.pixels()
        assert alone is not None
        np.testing.assert_array_equal(part[LABEL_ROWS:, DIVIDER:], alone[LABEL_ROWS:, DIVIDER:])
    picture.release()
    assert (pixels[:, meeting : meeting + DIVIDER] == DIVIDER_COLOUR[:3]).all()
    assert not (pixels[LABEL_ROWS:, meeting - 1] == DIVIDER_COLOUR[:3]).all()


def test_widths_of_streams_are_on_one_scale_on_both_sides(sides: Sides) -> None:
    """What runs dry beside a world with rain has the same rivers at first, whatever its own drops were."""
    wet = ONE.with_values({"droplets.count": 4000, "view.stream_threshold": 1.0})
    dry = wet.with_values({"droplets.count": 10, "droplets.enabled": False})
    still = land(1)
    in_bed = np.broadcast_to(np.arange(90) == 45, still.shape)
    discharge = 400.0 * wet.runoff.smallest_stream(still.cell_size)
    flow = {SURVEYED_FLOW: in_bed * np.float32(discharge), SURVEYED_WAY: in_bed * np.float32(way((0.0, 1.0)))}
    shown = [with_layers(replace(still, world=world), **flow) for world in (1, 2)]
    camera = scene_camera(wet, still)
    sides.show(shown)
    sides.lay_out(*SIZE)
    halves = [np.split(draw(sides, camera, *scenes), 2, axis=1) for scenes in ((wet, dry), (dry, wet), (wet, wet))]
    rows = slice(LABEL_ROWS, None)
    for left, right in halves:
        np.testing.assert_array_equal(left[rows], halves[2][0][rows])
        np.testing.assert_array_equal(right[rows], halves[2][1][rows])
    sides.show([still, replace(still, world=2)])
    without = np.split(draw(sides, camera, wet, dry), 2, axis=1)
    assert (without[0][rows] != halves[0][0][rows]).any(), "there is a stream"


def test_a_world_alone_fills_the_picture_without_label_or_divider(
    context: moderngl.Context, sides: Sides, canvas: Canvas
) -> None:
    shown = land(1)
    camera = scene_camera(ONE, shown)
    sides.show([shown])
    sides.lay_out(*SIZE)
    pixels = draw(sides, camera, ONE, minimap=True)
    picture = Picture(context, bake_at_once=True)
    picture.least_scale = 1.0
    picture.show(shown)
    picture.draw(canvas.framebuffer(*SIZE), camera, ONE, minimap=True)
    np.testing.assert_array_equal(pixels, canvas.pixels())
    picture.release()


def test_labels_stand_in_the_upper_left_corner_of_what_is_free(sides: Sides) -> None:
    sides.show([land(1), land(2)])
    camera = scene_camera(ONE, land(1))
    sides.lay_out(800, 260, free=(0.2, 0.9))
    with_labels = draw(sides, camera, ONE, OTHER)
    middle = round(0.55 * 800)
    for left, label in zip((160, middle), labels([ONE, OTHER]), strict=True):
        expected = sign(label, 1.0, min(middle - 160 - 28, 360))[:, :, :3]
        rows, columns = expected.shape[:2]
        np.testing.assert_array_equal(with_labels[14 : 14 + rows, left + 14 : left + 14 + columns], expected)


def test_a_label_is_not_under_what_covers_the_left_end(sides: Sides) -> None:
    sides.show([land(1), land(2)])
    camera = scene_camera(ONE, land(1))
    sides.lay_out(800, 260)
    before = draw(sides, camera, ONE, OTHER)
    for side in sides.shown:
        side.covered_left = 50
    moved = draw(sides, camera, ONE, OTHER)
    expected = sign(labels([ONE, OTHER])[0], 1.0, min(400 - 50 - 28, 360))[:, :, :3]
    rows, columns = expected.shape[:2]
    np.testing.assert_array_equal(moved[14 : 14 + rows, 64 : 64 + columns], expected)
    np.testing.assert_array_equal(moved[:, 400:], before[:, 400:])


def test_a_narrow_side_has_its_letter_alone_and_none_is_too_narrow(sides: Sides) -> None:
    sides.show([land(1), land(2)])
    for size in ((130, 90), (40, 40), (8, 300), (2, 2)):
        sides.lay_out(*size)
        pixels = draw(sides, scene_camera(ONE, land(1)), ONE, OTHER, minimap=True)
        assert pixels.shape == (size[1], size[0], 3)


def test_overlays_have_the_same_colours_on_both_sides(sides: Sides) -> None:
    """Hills of another height take another part of the palette, and not the same one."""
    low, high = land(1, relief=100.0), land(2, relief=400.0)
    scene = ONE.with_values({"view.overlay": "elevation", "view.overlay_opacity": 1.0})
    sides.show([low, high])
    sides.lay_out(600, 300)
    camera = replace(scene_camera(scene, low), pitch=90.0)
    apart = draw(sides, camera, scene, scene)
    sides.show([low, land(3, relief=100.0)])
    alike = draw(sides, camera, scene, scene)
    one, other = apart[150:, 100:200].astype(int), alike[150:, 100:200].astype(int)
    assert np.abs(one - other).mean() > 10.0


def test_minimaps_are_alike_where_both_have_the_same_room(sides: Sides) -> None:
    sides.show([land(1), land(2)])
    for divider, expected in ((0.5, True), (0.05, False)):
        sides.lay_out(1600, 900, free=(0.0, 0.8), divider=divider)
        rectangles = [side.picture.minimap_rectangle(side.area.width, side.area.height)[2:] for side in sides.shown]
        assert (rectangles[0] == rectangles[1]) is expected
        for side, (width, _) in zip(sides.shown, rectangles, strict=True):
            assert width < side.area.width


def test_only_what_has_changed_is_drawn(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    slices = Picture.slices

    def note(self: Picture, *arguments: object, **more: object) -> Iterator[None]:
        assert self.snapshot is not None
        drawn.append(self.snapshot.world)
        return slices(self, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Picture, "slices", note)
    camera = scene_camera(ONE, land(1))

    def drawn_by(act: Callable[[], object]) -> list[int]:
        drawn.clear()
        act()
        sides.draw([camera] * 2, [ONE, scene], time=0.0, minimap=False, labels=labels([ONE, scene]))
        return drawn

    scene = ONE
    assert drawn_by(lambda: (sides.show([land(1), land(2)]), sides.lay_out(*SIZE))) == [1, 2]
    assert drawn_by(lambda: None) == []
    assert drawn_by(lambda: sides.show([land(1, cycle=1), land(2, cycle=1)])) == [1, 2]
    assert drawn_by(lambda: sides.lay_out(*SIZE, divider=0.4)) == [1, 2]
    assert drawn_by(sides.redraw) == [1, 2]
    scene = OTHER
    assert drawn_by(lambda: None) == [1, 2], "both labels have changed"
    camera = replace(camera, heading=camera.heading + 1.0)
    assert drawn_by(lambda: None) == [1, 2]


def test_pictures_stay_while_only_a_minimap_is_behind(
    context: moderngl.Context, resting_place: moderngl.Framebuffer
) -> None:
    sides = Sides(context)
    sides.show([land(1)])
    sides.lay_out(*SIZE)
    camera, later = scene_camera(ONE, land(1)), 10.0

    def is_drawn(time: float) -> bool:
        return sides.draw([camera], [ONE], time=time, minimap=True)

    def comes_to_rest(time: float) -> bool:
        return any(not is_drawn(time) for _ in range(MOST_BANDS))

    assert comes_to_rest(0.0) and not sides.settled
    assert not is_drawn(0.5 * MINIMAP_PATIENCE)
    assert is_drawn(1.1 * MINIMAP_PATIENCE) and sides.settled, "the minimap"
    assert not is_drawn(later)
    sides.show([land(1, cycle=1)])
    assert comes_to_rest(later) and not sides.settled, "it shows the land before its light"
    assert sides.draw([camera], [ONE], time=later, minimap=False), "there is none"
    assert any(not sides.draw([camera], [ONE], time=later, minimap=False) for _ in range(MOST_BANDS)) and sides.settled
    resting_place.use()
    sides.release()


@pytest.mark.usefixtures("compiled_anew")
def test_a_world_keeps_its_side_and_others_are_given_back(
    context: moderngl.Context, resting_place: moderngl.Framebuffer
) -> None:
    resting_place.use()
    before = gl.living_objects()
    sides = Sides(context)
    (first,) = sides.shown
    sides.show([land(1)])
    assert sides.shown == [first]
    sides.show([land(2), land(3)])
    assert sides.shown[0] is first
    second = sides.shown[1]
    sides.lay_out(*SIZE)
    draw(sides, scene_camera(ONE, land(1)), ONE, OTHER)
    resting_place.use()
    two = gl.living_objects()
    sides.show([land(3, cycle=1)])
    assert sides.shown == [second]
    assert sum(gl.living_objects().values()) < sum(two.values())
    sides.lay_out(*SIZE)
    assert draw(sides, scene_camera(ONE, land(1)), OTHER).std() > 5.0
    resting_place.use()
    sides.release()
    assert gl.living_objects() == before


# In slices.


def draw_a_slice(sides: Sides) -> None:
    sides.go_on(lambda: True)


def test_a_picture_in_slices_is_that_drawn_at_once_whatever_is_drawn_between_them(
    sides: Sides, resting_place: moderngl.Framebuffer
) -> None:
    sides.show([land(1), land(2, seed=5)])
    sides.lay_out(*SIZE)
    camera = scene_camera(ONE, land(1))
    at_once = draw(sides, camera, ONE, OTHER, minimap=True).copy()
    other_view = replace(camera, heading=camera.heading + 90.0)
    assert (draw(sides, other_view, ONE, OTHER, minimap=True) != at_once).any()
    assert sides.begin([camera] * 2, [ONE, OTHER], time=0.0, minimap=True, labels=labels([ONE, OTHER]))
    slices = 0
    while sides.drawing:
        draw_a_slice(sides)
        slices += 1
        resting_place.use()  # as the panel's renderer leaves it
        resting_place.viewport = (0, 0, 1, 1)
        sides.context.enable_only(moderngl.BLEND)
        resting_place.clear(0.3, 0.2, 0.1, 1.0, depth=0.0)
    assert slices > 8, "of two pictures, each of several passes"
    np.testing.assert_array_equal(sides.pixels(), at_once)


def test_what_is_not_whole_is_not_seen(sides: Sides) -> None:
    sides.show([land(1), land(2)])
    sides.lay_out(*SIZE)
    camera = scene_camera(ONE, land(1))
    before = draw(sides, camera, ONE, ONE).copy()
    turned = replace(camera, heading=camera.heading + 40.0)
    sides.begin([turned] * 2, [ONE, ONE], time=0.0, minimap=False)
    while sides.drawing:
        np.testing.assert_array_equal(sides.pixels(), before)
        draw_a_slice(sides)
    pixels = sides.pixels()
    assert pixels is not None
    for half in (pixels[:, : SIZE[0] // 2], pixels[:, SIZE[0] // 2 :]):
        assert (half != before[:, : SIZE[0] // 2]).any(), "both change together"


@pytest.mark.parametrize("end", ["show", "redraw", "reload", "fail"])
def test_a_picture_that_is_given_up_is_drawn_anew(
    sides: Sides, end: str, monkeypatch: pytest.MonkeyPatch, resting_place: moderngl.Framebuffer
) -> None:
    sides.show([land(1)])
    sides.lay_out(*SIZE)
    camera = scene_camera(ONE, land(1))
    expected = draw(sides, camera, ONE).copy()
    draw(sides, replace(camera, heading=camera.heading + 40.0), ONE)
    sides.begin([camera], [ONE], time=0.0, minimap=False)
    draw_a_slice(sides)
    draw_a_slice(sides)
    assert sides.drawing
    match end:
        case "show":
            sides.show([land(1)])
        case "redraw":
            sides.redraw()
        case "reload":
            sides.reload_shaders()
        case "fail":
            with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
                patch.setattr(GroundTiles, "classes", lambda *_, **__: 1 // 0)
                sides.go_on()
    assert not sides.drawing
    resting_place.use()
    np.testing.assert_array_equal(draw(sides, camera, ONE), expected)


def test_a_picture_keeps_its_place_until_another_is_whole(sides: Sides) -> None:
    sides.show([land(1), land(2)])
    sides.lay_out(*SIZE)
    camera = scene_camera(ONE, land(1))
    draw(sides, camera, ONE, ONE)
    before = [side.seen_area for side in sides.shown]
    sides.lay_out(*SIZE, divider=0.7)
    sides.begin([camera] * 2, [ONE, ONE], time=0.0, minimap=False)
    while sides.drawing:
        assert [side.seen_area for side in sides.shown] == before
        draw_a_slice(sides)
    assert [side.seen_area for side in sides.shown] == [side.area for side in sides.shown] != before


def test_both_sides_have_one_quality_that_follows_the_time_of_the_whole_frame(
    context: moderngl.Context, resting_place: moderngl.Framebuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[float] = []
    sides = Sides(context)
    one, other = (sides.show([land(1), land(2)]), sides.shown)[1]
    automatic = Scene()
    monkeypatch.setattr(one.picture._automatic, "measure", times.append)
    assert other.picture._automatic is one.picture._automatic
    sides.lay_out(*SIZE)
    camera = scene_camera(automatic, land(1))
    for frame in range(6):
        draw(sides, replace(camera, heading=float(frame)), automatic, automatic)
    assert len(times) == 6
    resting = []
    for _ in range(24):  # its light becomes finer, and then nothing is drawn, so there is nothing to measure
        draw(sides, replace(camera, heading=5.0), automatic, automatic)
        resting.append(len(times))
    assert resting[-1] == resting[-8] < 24
    resting_place.use()
    sides.release()


# Letters.


def test_signs_show_their_letters_the_same_each_time() -> None:
    first = sign(("A", "friction 0.1"), 1.0, 500)
    again = sign.__wrapped__(("A", "friction 0.1"), 1.0, 500)
    np.testing.assert_array_equal(first, again)
    assert first.dtype == np.uint8 and (first[:, :, 3] == 255).all()
    assert first[:, :, :3].max() > 200, "there is something to read"
    assert not np.array_equal(first, sign(("A", "friction 0.2"), 1.0, 500))
    assert sign(("A", "friction 0.1"), 2.0, 900).shape[0] == 2 * first.shape[0]


def test_letters_leave_the_context_of_a_window_current() -> None:
    """And none where there was none: a window that opens later would not have its own."""
    before = imgui.get_current_context()
    sign.__wrapped__(("A",), 1.0, 500)
    assert imgui.get_current_context() == before
    context = imgui.create_context()
    imgui.set_current_context(context)
    sign.__wrapped__(("A",), 1.0, 500)
    assert imgui.get_current_context() == context
    imgui.destroy_context(context)


def test_a_font_is_always_one_of_the_context_that_is_current() -> None:
    """Contexts come and go while a window has one: no font of another one can be drawn with, nor one that is gone."""
    before = imgui.get_current_context()
    told = legend("slope", [land(world=1)])
    assert told is not None
    contexts = [imgui.create_context() for _ in range(2)]
    for context in contexts:
        imgui.set_current_context(context)
        with pytest.raises(LookupError, match="Roboto"):
            Face.BOLD.font()
        load_fonts()
    for context in (*contexts, *contexts):
        imgui.set_current_context(context)
        legend_sign.__wrapped__(told, 1.0, 80, 400)
        sign.__wrapped__(("A", "friction"), 1.0, 500)
        for face in Face:
            assert face.font().owner_atlas == imgui.get_io().fonts, "after one with a context of its own came and went"
            assert face.font().get_debug_name() == face.value
    for context in contexts:
        imgui.destroy_context(context)
    if before is None:
        with pytest.raises(AssertionError, match="no font without a context"):
            Face.PLAIN.font()
    else:
        imgui.set_current_context(before)


@tried(100)
@given(widest=st.integers(20, 400), words=st.text(min_size=1, max_size=60), scale=st.sampled_from([0.7, 1.0, 2.5]))
def test_signs_are_no_wider_than_there_is_room(widest: int, words: str, scale: float) -> None:
    drawn = sign((words, "second"), scale, widest)
    assert drawn.shape[1] <= max(widest, round(60 * scale))


def test_the_legend_is_in_the_picture_where_it_is_wanted(sides: Sides, subtests: pytest.Subtests) -> None:
    """On the minimap or in its place, on the first side alone, with the colours of the palette."""
    shown = [land(world=1), land(world=2)]
    sides.show(shown)
    sides.lay_out(900, 500)
    camera = scene_camera(ONE, shown[0])
    for name, minimap in (("slope", True), ("slope", False), ("flow_directions", True), ("change", False)):
        with subtests.test(name=name, minimap=minimap):
            plain = ONE.with_value("view.overlay", name)
            without, with_it = (
                draw(sides, camera, scene, scene.with_value("droplets.evaporation", 0.01), minimap=minimap).astype(int)
                for scene in (plain, plain.with_value("view.legend", True))
            )
            told = legend(name, shown)
            assert told is not None
            left, top, width, height = sides.shown[0].picture.minimap_rectangle(sides.shown[0].area.width, 500)
            painted = legend_sign(told, 1.0, width, 420)[..., :3]
            bottom = top - left // 2 if minimap else top + height
            place = slice(bottom - len(painted), bottom), slice(left, left + painted.shape[1])
            np.testing.assert_array_equal(with_it[place], painted)
            rest = with_it.copy()
            rest[place] = without[place]
            np.testing.assert_array_equal(rest, without)
            colours = np.rint(255.0 * legend_colours(name, 8)[:, :3]).astype(int)
            opaque = colours[legend_colours(name, 8)[:, 3] == 1.0]
            if not told.names:
                assert np.abs(painted.astype(int) - opaque[-1]).sum(axis=2).min() < 12


def test_a_legend_keeps_within_its_room() -> None:
    for name in ("change", "watersheds", "flow_directions"):
        told = legend(name, [land(world=1)])
        assert told is not None
        for widest in (130, 240, 420):
            assert legend_sign(told, 1.0, 120, widest).shape[1] <= widest


def with_levels_to_refine(
    context: moderngl.Context, monkeypatch: pytest.MonkeyPatch, shown: Snapshot
) -> tuple[Sides, Scene, Camera, int]:
    """A land of which pictures at rest are refined by so many levels, however long one takes."""
    monkeypatch.setattr(AutomaticQuality, "measure", lambda self, seconds: None)
    sides, scene = Sides(context), Scene().with_value("view.quality", "automatic")
    sides.show([shown])
    sides.lay_out(*SIZE)
    finest = sides.shown[0].picture.finer_levels(scene.view)
    if not finest:
        pytest.skip("a graphics card draws at the level that suits it")
    return sides, scene, scene_camera(scene, shown), finest


def test_a_sea_at_rest_is_refined_and_stands_still_until_it_is_touched(
    context: moderngl.Context, resting_place: moderngl.Framebuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though waves run, and the light of a low level is baked over many pictures."""
    shown = drowned(snapshot(island(128, 128), world=1), 0.0)
    sides, scene, camera, finest = with_levels_to_refine(context, monkeypatch, shown)
    side = sides.shown[0]

    def look(time: int, camera: Camera) -> bool:
        drawn = sides.begin([camera], [scene], time=0.1 * time, minimap=False, at_rest=True)
        sides.go_on()
        return drawn

    drawn = [look(time, camera) for time in range((LONGER_REST + 2) * (finest + 1) + 8)]
    assert side.picture.has_waves(scene) and drawn[LONGER_REST - 1]
    assert side._drawn and side._drawn[0].finer == finest and not drawn[-1]
    assert look(len(drawn), replace(camera, distance=2.0 * camera.distance))
    assert side._drawn and side._drawn[0].finer == 0
    resting_place.use()
    sides.release()


def test_after_pictures_at_rest_the_usual_one_is_there_at_once(
    context: moderngl.Context, resting_place: moderngl.Framebuffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Light that is baked over many pictures stays as it was."""
    monkeypatch.setattr("app.picture.picture.FINEST_AT_REST", BY_NAME["medium"])
    sides, scene, camera, finest = with_levels_to_refine(context, monkeypatch, snapshot(hills(64, 64)))
    side = sides.shown[0]

    def draw_until(condition: Callable[[], bool], *, at_rest: bool) -> NDArray[np.int_]:
        for _ in range(400):
            sides.begin([camera], [scene], time=0.0, minimap=False, at_rest=at_rest)
            sides.go_on()
            if condition():
                pixels = sides.pixels()
                assert pixels is not None
                return pixels.astype(int)
        pytest.fail("it is never reached")

    usual = draw_until(lambda: sides.settled, at_rest=False)
    refined = draw_until(lambda: side._drawn is not None and side._drawn[0].finer == finest, at_rest=True)
    assert np.abs(refined - usual).mean() > 1.0
    touched = draw_until(lambda: True, at_rest=False)
    assert sides.settled
    np.testing.assert_array_equal(touched, usual)
    resting_place.use()
    sides.release()
