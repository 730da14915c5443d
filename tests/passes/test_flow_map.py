"""The map of streams and of what stands close to water, which is drawn only near both."""

from __future__ import annotations

from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.cli.render import scene_camera
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.picture.canvas import Canvas
from app.picture.passes import flow_map
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import flat, hills, snapshot, way, with_layers, with_rivers, with_water


def of_streams_and_lakes() -> Snapshot:
    return with_rivers(snapshot(200.0 * hills(48, 70), cell_size=10.0), 1000.0)


def of_threads() -> Snapshot:
    """A sheet that thins out to either side: in its outermost rows less passes than a stream would need."""
    flow = 0.04 * np.exp(-0.3 * np.abs(np.arange(48) - 24.0))[:, None] * np.ones((1, 70))
    return with_layers(snapshot(flat(48, 70)), surveyed_flow=flow, surveyed_way=-way((1.0, 0.0)))


def maps(draw: Draw, picture: Picture, shown: Snapshot, scene: Scene) -> tuple[NDArray[np.float32], ...]:
    """The map of flow and the courses of streams, each `[row, column, component]`, as a picture has them."""
    draw(shown, scene_camera(scene, shown), scene)
    assert picture.frame is not None
    shape = (*shown.shape, 4)
    flow, rivers = (picture.frame.textures[name] for name in ("flow", "rivers"))
    halves, wholes = np.frombuffer(flow.read(), np.float16), np.frombuffer(rivers.read(), np.float32)
    return halves.astype(np.float32).reshape(shape), wholes.reshape(shape)


@pytest.mark.parametrize("shown", [of_streams_and_lakes(), of_threads()], ids=["streams and lakes", "threads"])
@pytest.mark.parametrize("quality", ["low", "high"])
def test_what_lies_far_from_water_need_not_be_drawn(
    draw: Draw, picture: Picture, monkeypatch: pytest.MonkeyPatch, quality: str, shown: Snapshot
) -> None:
    scene = Scene().with_values({"view.quality": quality, "rivers.width": 60.0})
    flow, rivers = maps(draw, picture, shown, scene)
    near = (flow[..., 0] > 0.0) | (flow[..., 3] > -0.99 * flow_map.NOWHERE_NEAR)
    assert near.any() and not near.all()
    monkeypatch.setattr(flow_map, "stream_cells", lambda snapshot, smallest: np.ones(snapshot.shape, bool))
    picture._maps.forget()
    picture._maps._usual.flow._streams = None
    whole_flow, whole_rivers = maps(draw, picture, shown, scene)
    np.testing.assert_array_equal(rivers, whole_rivers)
    np.testing.assert_array_equal(flow, whole_flow)


@pytest.mark.parametrize("loses", [0.3, 0.5])
def test_an_arm_begins_at_the_river_from_which_it_parts(draw: Draw, picture: Picture, loses: float) -> None:
    """Which has been drawn straighter, beside its cells; a higher stream on the other side is another."""
    rows, columns = 40, 60
    flow, ways = np.zeros((rows, columns)), np.zeros((rows, columns))
    zigzag = 18 + np.abs((np.arange(columns) + 2) % 4 - 2)
    for column, row in enumerate(zigzag):
        on = zigzag[min(column + 1, columns - 1)] - row
        flow[row, column], ways[row, column] = (1.0 if column <= 30 else 1.0 - loses), way((1.0, float(on)))
    first = int(zigzag[30]) + 1
    flow[first:, 30], ways[first:, 30] = loses, way((0.0, 1.0))
    ways[first, 30] *= -1.0
    flow[first, 28], ways[first, 28] = 0.9 * loses, way((0.0, 1.0))
    ground = flat(rows, columns)
    ground[first, 28] = 1.0
    shown = with_layers(snapshot(ground, cell_size=4.0), surveyed_flow=flow, surveyed_way=ways)
    _, rivers = maps(draw, picture, shown, Scene().with_values({"view.quality": "high", "rivers.width": 5.0}))

    def decoded(code: float) -> NDArray[np.float64]:
        return (np.array([int(code) >> shift & 63 for shift in (18, 12, 6, 0)]) - 32.0) / 32.0

    point = 2.0 * decoded(rivers[first, 30, 1])[:2]
    begins = np.array((30.0, first)) + point + decoded(rivers[first, 30, 2])[:2]
    of_river = np.array((30.0, first - 1.0)) + 2.0 * decoded(rivers[first - 1, 30, 1])[:2]
    np.testing.assert_allclose(begins, of_river, atol=0.3)


def test_streams_are_drawn_whole_though_only_on_the_parts_of_the_ground_beside_them(
    draw: Draw, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene().with_values({"view.quality": "high", "rivers.width": 60.0, "camera.distance": 0.25})
    flow = np.where(np.arange(96) == 40, 20.0, 0.0)[:, None] * np.ones((1, 140))
    shown = with_layers(snapshot(flat(96, 140), cell_size=10.0), surveyed_flow=flow, surveyed_way=way((1.0, 0.0)))
    camera = scene_camera(scene, shown)
    pixels = draw(shown, camera, scene, size=(320, 200))
    assert picture.frame is not None
    patches = picture.frame.stream_patches
    assert patches.any() and not patches.all()
    monkeypatch.setattr(flow_map, "patches_with_streams", lambda blocks: np.ones_like(patches))
    picture._maps._usual.flow.forget()
    np.testing.assert_array_equal(draw(shown, camera, scene, size=(320, 200)), pixels)
    assert picture.frame.stream_patches.all()
    monkeypatch.setattr(flow_map, "patches_with_streams", lambda blocks: np.zeros_like(patches))
    picture._maps._usual.flow.forget()
    assert (draw(shown, camera, scene, size=(320, 200)) != pixels).any()


def test_streams_are_looked_for_by_the_smallest_that_is_seen() -> None:
    flow = np.array([[0.5, 1.0, 1.5], [0.2, 0.5, 0.0]])
    ways = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    shown = with_layers(snapshot(flat(2, 3)), **{SURVEYED_FLOW: flow, SURVEYED_WAY: ways})
    assert flow_map.stream_cells(shown, 1.0).tolist() == [[False, False, True], [False, True, False]]
    assert not flow_map.stream_cells(snapshot(flat(2, 3)), 1.0).any()


def test_ground_that_water_has_left_is_wet_and_dries(draw: Draw, picture: Picture) -> None:
    ground = np.linspace(20.0, -26.0, 24, dtype=np.float32)[:, None] * np.ones((1, 32), np.float32)
    scene, shown = Scene().with_value("view.quality", "low"), snapshot(ground)
    full, low = (with_water(shown, np.maximum(ground, np.float32(level))) for level in (0.0, -16.0))
    left = (full.layers["water"] > 0.1) & (low.layers["water"] <= 0.0)
    assert left[5:-5].any()

    def over(water: Snapshot, cycle: int, version: int) -> NDArray[np.float32]:
        shown = replace(water, cycle=cycle, versions={**water.versions, "water": version})
        return maps(draw, picture, shown, scene)[0][..., 3]

    never = over(low, 1, 1)
    assert never[left].min() == pytest.approx(-flow_map.NOWHERE_NEAR, abs=1e-3)
    over(full, 2, 2)
    wet, drier, dry = over(low, 3, 3), over(low, 20, 3), over(low, 200, 3)
    assert wet[left].min() > -0.1 and (wet[~left] == never[~left]).all()
    assert (drier[left] <= wet[left]).all() and -0.5 < drier[left].min() < wet[left].min()
    np.testing.assert_array_equal(dry, never)
    over(full, 201, 4)
    over(full, 2000, 4)
    drawn = picture._maps._usual.flow._wet_mark.version
    over(full, 4000, 4)  # nothing dries any more
    assert picture._maps._usual.flow._wet_mark.version == drawn
    assert over(low, 4001, 5)[left].min() > -0.1, "as wet as if water had not stood there for so long"


def test_ground_before_a_flood_is_no_shore(draw: Draw, picture: Picture) -> None:
    """Beside water that stands or hardly runs it is, as waves wash it; what rushes has only just come there."""
    east, ground = np.arange(32)[None, :] * np.ones((24, 1)), flat(24, 32)
    wet = with_water(snapshot(ground), np.where(east < 16, np.float32(1.0), ground))
    before = {}
    for froude in (0.0, 0.2, 2.0):
        shown = with_layers(wet, froude=np.where(east < 16, froude, 0.0))
        picture._maps.forget()
        before[froude] = maps(draw, picture, shown, Scene().with_value("view.quality", "high"))[0][5:-5, 16, 3]
    np.testing.assert_array_equal(before[0.2], before[0.0])
    assert (before[0.0] >= 0.0).all()
    assert (before[2.0] < -5.0 * flow_map.NOWHERE_NEAR).all()


def test_fast_water_splashes_its_banks_as_high_as_it_reaches(draw: Draw, picture: Picture) -> None:
    """Low ones and not high ones; and slow water none."""
    east, ground = np.arange(32)[None, :] * np.ones((24, 1)), flat(24, 32)
    ground[:12, 16:], ground[12:, 16:] = 1.5, 20.0
    wet = with_water(snapshot(ground), np.where(east < 16, np.float32(1.0), ground))
    for froude, splashed in ((0.2, 0.0), (2.0, -1.0)):
        picture._maps.forget()
        shown = with_layers(wet, froude=np.where(east < 16, froude, 0.0))
        cover = maps(draw, picture, shown, Scene().with_value("view.quality", "high"))[0][..., 0]
        assert (cover[3:9, 14:17] == splashed).all() and (cover[15:, 16] == 0.0).all() and (cover[:, 18:] == 0.0).all()


def test_where_no_water_has_left_nothing_is_drawn_of_it(draw: Draw, picture: Picture) -> None:
    shown = of_streams_and_lakes()
    for cycle in (1, 2, 30):
        maps(draw, picture, replace(shown, cycle=cycle), Scene().with_value("view.quality", "low"))
    assert picture._maps._usual.flow._wet_mark.version == 1


@pytest.mark.parametrize(("quality", "in_turn"), [("low", True), ("high", False)])
def test_streams_and_cover_take_turns_to_follow_a_land_that_changes_at_low_levels(
    context: moderngl.Context, canvas: Canvas, quality: str, in_turn: bool
) -> None:
    picture, land = Picture(context), of_streams_and_lakes()
    scene = Scene().with_values({"view.quality": quality, "rivers.width": 60.0})
    north = np.arange(48)[:, None] < 24

    def state(cycle: int) -> Snapshot:
        """Streams in the north alone and grass on all land, or the other way round."""
        flow = land.layers[SURVEYED_FLOW] * (north if cycle % 2 else 1.0)
        state = with_layers(land, **{SURVEYED_FLOW: flow}, wetness=0.5, grass=float(cycle % 2))
        return replace(state, world=land.world, cycle=cycle, versions=dict.fromkeys(state.versions, cycle))

    def seen(shown: Snapshot) -> tuple[bool, bool]:
        """Whether there are streams in the south, and whether there is grass."""
        if picture.snapshot is not shown:
            picture.show(shown)
        picture.draw(canvas.framebuffer(160, 120), scene_camera(scene, shown), scene)
        assert picture.frame is not None
        textures = picture.frame.textures
        rivers, cover = (
            np.frombuffer(textures["rivers"].read(), np.float32),
            np.frombuffer(textures["cover"].read(), "u1"),
        )
        return bool(rivers.reshape(48, -1)[30:].any()), bool(cover.reshape(-1, 4)[:, 1].any())

    states = [state(cycle) for cycle in range(3)]
    assert seen(states[0]) == (True, False)
    assert seen(states[1]) == (in_turn, True)
    assert not (in_turn and picture.frame_settled), "streams are to follow"
    assert seen(states[1]) == (False, True)
    assert seen(states[2]) == (True, in_turn)
    assert not (in_turn and picture.frame_settled), "cover is to follow"
    assert seen(states[2]) == (True, False)
    assert seen(replace(states[1], world=land.world + 1000)) == (False, True), "another world shows at once"
    picture.release()
