"""What snowballs left behind on the ground of the picture: sand, bare rock, and nothing where there is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.frame import FrameBlock
from app.picture.passes.maps import LayerTextures
from app.picture.passes.marks import SNOWBALLS, MarksMap
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.targets import release_all
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import bumps, flat, snapshot

ROWS, COLUMNS, CELL = 24, 40, 10.0


def left(**traces: ArrayLike) -> Snapshot:
    """Level rock on which snowballs have left these traces, and 0 of their others."""
    made = snapshot(flat(ROWS, COLUMNS, 20.0), cell_size=CELL)
    layers = {name: np.broadcast_to(np.float32(traces.get(name, 0.0)), (ROWS, COLUMNS)).copy() for name in SNOWBALLS}
    return replace(made, layers={**made.layers, **layers}, versions={**made.versions, **dict.fromkeys(layers, 0)})


@pytest.fixture
def marks(context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock) -> Iterator[MarksMap]:
    frame_block.values["map"] = (COLUMNS, ROWS, CELL, 1.0)
    frame_block.upload()
    made = MarksMap(context, shaders)
    yield made
    made.release()


def joined(
    context: moderngl.Context, marks: MarksMap, shown: Snapshot, strength: float = 1.0, wind_direction: float = 270.0
) -> NDArray[np.float64]:
    """Sand, bare rock, what rivers moved and what lies under snow, `[row, column, 4]`."""
    layers, before = LayerTextures(context), context.fbo
    layers.upload(shown)
    south, east = np.gradient(shown.ground(dtype=np.float64), shown.cell_size)
    ground = np.dstack([shown.ground(dtype=np.float64), east, south, np.zeros(shown.shape)]).astype(np.float32)
    surface = context.texture(shown.shape[::-1], 4, ground.tobytes(), dtype="f4")
    surface.repeat_x = surface.repeat_y = False
    marks.update(shown, layers, strength, surface, wind_direction)
    before.use()
    release_all(layers, surface)
    width, height = marks.texture.size
    return np.frombuffer(marks.texture.read(), np.uint8).reshape(height, width, 4) / 255.0


def test_sand_is_where_more_was_put_down_and_rock_where_more_was_worn(
    context: moderngl.Context, marks: MarksMap
) -> None:
    given = joined(context, marks, left(deposit=2.0 * CELL, wear=0.1 * CELL))[5, 5]
    assert given[0] > 0.9 and given[1] == 0.0
    taken = joined(context, marks, left(deposit=0.1 * CELL, wear=2.0 * CELL))[5, 5]
    assert taken[0] == 0.0 and taken[1] > 0.9
    hardly = joined(context, marks, left(deposit=0.01 * CELL, wear=0.02 * CELL))[5, 5]
    assert hardly[0] == hardly[1] == 0.0
    half = joined(context, marks, left(deposit=2.0 * CELL), strength=0.5)[5, 5]
    assert half[0] == pytest.approx(0.5, abs=0.01)


def test_traces_are_blurred_by_a_binomial(context: moderngl.Context, marks: MarksMap) -> None:
    """Without anything worn, sand tells how much was put down: how much of it lies between two ends."""
    deposit = CELL * bumps(ROWS, COLUMNS, seed=4)
    padded = np.pad(deposit / CELL, 1, mode="edge")
    weights = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16.0
    blurred = sum(weights[i, j] * padded[i : i + ROWS, j : j + COLUMNS] for i in range(3) for j in range(3))
    thick, given = np.clip((blurred - 0.10) / 0.80, 0.0, 1.0), np.clip((blurred / (blurred + 0.02) + 0.05) / 0.65, 0, 1)
    expected = thick**2 * (3.0 - 2.0 * thick) * given**2 * (3.0 - 2.0 * given)
    np.testing.assert_allclose(joined(context, marks, left(deposit=deposit))[..., 0], expected, atol=0.02)


def test_nothing_is_joined_where_nothing_was_left_or_nothing_is_wanted(
    context: moderngl.Context, marks: MarksMap
) -> None:
    assert not joined(context, marks, snapshot(flat(ROWS, COLUMNS))).any()
    assert not marks.shown
    assert joined(context, marks, left(deposit=CELL)).any()
    assert marks.shown
    assert not joined(context, marks, left(deposit=CELL), strength=0.0).any()
    assert not marks.shown


def test_a_trace_that_changed_is_joined_anew(context: moderngl.Context, marks: MarksMap) -> None:
    first = left(deposit=CELL)
    assert joined(context, marks, first)[..., 0].any()
    later = replace(left(wear=CELL), world=first.world, versions={**first.versions, **dict.fromkeys(SNOWBALLS, 1)})
    assert not joined(context, marks, later)[..., 0].any()


def picture_of(draw: Draw, shown: Snapshot, **view: float) -> NDArray[np.float64]:
    """The mean colour of the middle of the picture."""
    scene = Scene()
    for name, value in view.items():
        scene = scene.with_value(f"view.{name}", value)
    return draw(shown, scene=scene)[50:90, 50:110].astype(float).mean(axis=(0, 1))


def test_the_ground_takes_the_colours_of_sand_and_rock(draw: Draw) -> None:
    grass = picture_of(draw, left())
    sand = picture_of(draw, left(deposit=2.0 * CELL))
    rock = picture_of(draw, left(wear=2.0 * CELL))
    assert grass[1] > grass[0], "green"
    assert sand[0] > sand[1] > sand[2], "warm"
    assert sand.sum() > grass.sum() + 60.0, "bright"
    assert rock[0] >= rock[1] > rock[2]
    assert np.ptp(rock) < np.ptp(grass), "grey"


def test_without_traces_the_view_changes_nothing(draw: Draw) -> None:
    """So that no picture of other lands becomes another."""
    plain = snapshot(flat(ROWS, COLUMNS, 20.0), cell_size=CELL)
    np.testing.assert_array_equal(picture_of(draw, plain), picture_of(draw, plain, wear_and_deposit=0.0))
    np.testing.assert_array_equal(
        picture_of(draw, plain), picture_of(draw, left(deposit=5.0, wear=7.0), wear_and_deposit=0.0)
    )


def test_bars_that_a_river_moved_are_bare_gravel_and_grow_over(
    context: moderngl.Context, marks: MarksMap, draw: Draw
) -> None:
    """Also in a world without snowballs, and however strongly their marks are shown."""
    ground = snapshot(flat(ROWS, COLUMNS, 20.0), cell_size=CELL)

    def after(age: float) -> Snapshot:
        layers = {**ground.layers, "reworked": flat(ROWS, COLUMNS, float(np.exp(-age)))}
        return replace(ground, layers=layers, versions=dict.fromkeys(layers, int(10 * age)))

    assert joined(context, marks, after(0.0), strength=0.0)[5, 5].tolist() == [0.0, 0.0, 1.0, 0.0]
    scene = Scene().with_value("view.greenness", 1.0)
    camera = Camera(glm.vec3(COLUMNS * CELL / 2, 20.0, ROWS * CELL / 2), 0.0, 90.0, 300.0, 32.0)
    pictures = [
        draw(shown, camera, scene).astype(float).mean(axis=(0, 1)) for shown in (after(0.1), after(4.0), ground)
    ]
    fresh, old, never = (float(2.0 * colour[1] / (colour[0] + colour[2])) for colour in pictures)
    assert fresh < 0.97 * never, "greener"
    assert old == pytest.approx(never, abs=0.01)


def test_lying_snow_hides_the_ground_whatever_the_climate_says(
    context: moderngl.Context, marks: MarksMap, draw: Draw
) -> None:
    """Deep snow all of it, thin snow a part; where its layer is 0 there is none, also in frost."""
    ground = snapshot(flat(ROWS, COLUMNS, 20.0), cell_size=CELL)

    def under(depth: ArrayLike, version: int) -> Snapshot:
        layers = {**ground.layers, "snow": np.broadcast_to(np.float32(depth), (ROWS, COLUMNS)).copy()}
        return replace(ground, layers=layers, versions=dict.fromkeys(layers, version))

    deep = joined(context, marks, under(1.0, 1), strength=0.0)[5, 5]
    thin = joined(context, marks, under(0.03, 2), strength=0.0)[5, 5]
    assert deep.tolist() == [0.0, 0.0, 0.0, 1.0] and 0.2 < thin[3] < 0.5
    drift = np.zeros((ROWS, COLUMNS))
    drift[12, 20] = 50.0
    around = joined(context, marks, under(drift, 4), strength=0.0)[11:14, 19:22, 3]
    np.testing.assert_allclose(around * 16.0, [[1, 2, 1], [2, 4, 2], [1, 2, 1]], atol=0.05)
    scene = Scene().with_values({"view.greenness": 1.0, "climate.temperature": -30.0})
    camera = Camera(glm.vec3(COLUMNS * CELL / 2, 20.0, ROWS * CELL / 2), 0.0, 90.0, 300.0, 32.0)
    half = np.where(np.arange(COLUMNS) < COLUMNS // 2, 1.0, 0.0)
    pixels = draw(under(half, 3), camera, scene).astype(float)
    middle = pixels.shape[1] // 2
    white, bare = pixels[:, : middle - 8], pixels[:, middle + 8 :]
    assert white.min(axis=2).mean() > 180.0 > 1.3 * bare.min(axis=2).mean()
    frozen = draw(ground, camera, scene).astype(float)
    assert frozen.min(axis=2).mean() > 180.0, "without the layer, by climate"


def test_wind_takes_snow_from_rises_and_from_slopes_that_face_it(context: moderngl.Context, marks: MarksMap) -> None:
    """It leaves it in hollows and in their lee, and nothing changes where none lies."""
    column = np.arange(COLUMNS) - 0.5 * (COLUMNS - 1)
    ridge = np.broadcast_to(np.float32(60.0 - 4.0 * np.abs(column)), (ROWS, COLUMNS)).copy()

    def snowy(ground: NDArray[np.float32], depth: float, version: int) -> Snapshot:
        made = snapshot(ground, cell_size=CELL)
        layers = {**made.layers, "snow": flat(ROWS, COLUMNS, depth)}
        return replace(made, layers=layers, versions=dict.fromkeys(layers, version))

    def lies(wind_direction: float, ground: NDArray[np.float32] = ridge) -> NDArray[np.float64]:
        return joined(context, marks, snowy(ground, 0.2, 1), 0.0, wind_direction)[..., 3].mean(axis=0)

    west, east = np.s_[4:16], np.s_[-16:-4]
    from_west, from_east = lies(270.0), lies(90.0)
    assert from_west[west].mean() < from_west[east].mean() - 0.1
    assert from_east[east].mean() < from_east[west].mean() - 0.1
    middle = np.s_[COLUMNS // 2 - 1 : COLUMNS // 2 + 1]
    assert from_west[middle].mean() < 0.5 * lies(270.0, 60.0 - ridge)[middle].mean()
    assert not joined(context, marks, snowy(ridge, 0.0, 2), 0.0)[..., 3].any()
