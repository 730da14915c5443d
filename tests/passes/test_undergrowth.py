"""Tufts, reeds and bushes: where the simulation has grass, where they stay, and only near the eye."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyglm import glm
from scipy.spatial import cKDTree

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import shaders
from app.picture.passes.forest import Forest
from app.picture.passes.ground_cover import GroundCover
from app.picture.passes.undergrowth import PLANTS, Plant, in_wedge, reach_of, undergrowth
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes import masks
from tests.passes.test_trees import tree_view
from tests.passes.worlds import bumps, flat, kinds_of_each_shape, snapshot, with_layers

CELL = 10.0
TUFT, REED, BUSH, THICKET, SAPLING = PLANTS


def cover(grass: float | NDArray[np.float64], wet: float, side: int = 48, wood: float = 0.5) -> GroundCover:
    whole = np.broadcast_to(np.asarray(grass, np.float32), (side, side))
    return GroundCover(whole, np.full((side, side), wet, np.float32), (1, 1, 1), np.full((side, side), wood))


def by_place(plants: NDArray[np.float32]) -> dict[tuple[float, float], float]:
    return {(float(plant[0]), float(plant[1])): float(plant[3]) for plant in plants}


def test_there_is_as_much_as_there_is_grass_and_reeds_where_it_is_wet() -> None:
    for plant, wet, none in ((TUFT, 0.3, 1.0), (REED, 1.0, 0.3)):
        numbers = [len(undergrowth(cover(grass, wet), plant, (24.0, 24.0), 20.0)) for grass in (0.0, 0.2, 0.5, 0.9)]
        assert numbers[0] == 0 and (np.diff(numbers) > 0).all()
        assert numbers[-1] <= 40 * 40 * plant.slots
        assert len(undergrowth(cover(0.9, none), plant, (24.0, 24.0), 20.0)) == 0
    assert 0 < len(undergrowth(cover(0.9, 0.3), BUSH, (24.0, 24.0), 20.0)) < 0.5 * 40 * 40


@pytest.mark.parametrize("plant", PLANTS, ids=["tufts", "reeds", "bushes", "thicket", "saplings"])
def test_each_stays_where_it_is_while_the_eye_moves(plant: Plant) -> None:
    grass, wet = bumps(48, 48), 1.0 if plant is REED else 0.4
    one, other = (by_place(undergrowth(cover(grass, wet), plant, place, 9.0)) for place in ((20.0, 22.0), (24.0, 22.0)))
    both = {place for place in one if place[0] >= 15.0 and place[0] < 29.0}
    assert len(both) > 10
    assert all(other[place] == one[place] for place in both)


@pytest.mark.parametrize(("plant", "wet"), [(TUFT, 0.3), (REED, 1.0)], ids=["tufts", "reeds"])
def test_tufts_and_reeds_stand_in_groups(plant: Plant, wet: float) -> None:
    """Each is nearer to the next than if they were strewn at random, where half the mean distance is expected."""
    places = undergrowth(cover(0.3, wet), plant, (24.0, 24.0), 20.0)[:, :2].astype(float)
    away = cKDTree(places).query(places, k=2)[0][:, 1]
    assert away.mean() < 0.8 * 0.5 * 40.0 / math.sqrt(len(places))


@pytest.mark.parametrize("plant", [BUSH, THICKET, SAPLING], ids=["bushes", "thicket", "saplings"])
def test_shrubs_stand_in_thickets_with_clearings_between_them(plant: Plant) -> None:
    """Their numbers in squares of four cells vary by more than if they were strewn at random."""
    places = undergrowth(cover(0.6, 0.3), plant, (24.0, 24.0), 24.0)[:, :2]
    numbers = np.histogram2d(*places.T, bins=12, range=[(0.0, 48.0), (0.0, 48.0)])[0]
    assert numbers.var() > 1.5 * numbers.mean()


@pytest.mark.parametrize("plant", [THICKET, SAPLING], ids=["thicket", "saplings"])
def test_shrubs_and_saplings_grow_under_trees_alone(plant: Plant) -> None:
    numbers = [len(undergrowth(cover(0.6, 0.3, wood=wood), plant, (24.0, 24.0), 20.0)) for wood in (0.0, 0.3, 1.0)]
    assert numbers[0] == 0 and 300 < numbers[1] < numbers[2]
    assert len(undergrowth(cover(0.6, 1.0, wood=1.0), plant, (24.0, 24.0), 20.0)) == 0, "in a marsh"


def test_wood_is_where_trees_stand() -> None:
    trees = np.array([[8.5, 20.5, 0.0, 1.0, 1.0, 1.0], [30.5, 12.5, 0.0, 0.3, 1.0, 1.0]], np.float32)
    wood = Forest(trees, kinds_of_each_shape(), (48, 48), CELL, np.zeros((4, 2), np.float32)).wood()
    assert wood.shape == (48, 48) and wood.max() <= 1.0
    near = [wood[8 - 2 : 8 + 4, 20 - 2 : 20 + 4].sum(), wood[30 - 2 : 30 + 4, 12 - 2 : 12 + 4].sum()]
    assert near[0] > 2.0 * near[1] > 0.0
    assert wood.sum() == pytest.approx(sum(near))


@tried(40)
@given(grass=st.floats(0.0, 0.95), wet=st.floats(0.0, 1.0))
def test_none_comes_or_goes_at_once(grass: float, wet: float) -> None:
    """With a little more grass all are there that were, hardly larger; what is new is small."""
    for plant in PLANTS:
        before, after = (
            by_place(undergrowth(cover(amount, wet, 8), plant, (4.0, 4.0), 4.0)) for amount in (grass, grass + 0.004)
        )
        assert before.keys() <= after.keys() or wet > 0.69
        grown = [after[place] - before.get(place, 0.0) for place in after]
        new = [after[place] for place in after.keys() - before.keys()]
        limit = 0.35 if plant is not REED else 0.8  # reeds follow the root of the cover
        assert max(new, default=0.0) <= plant.height * 1.35 * max(limit, 0.39)
        assert max(grown, default=0.0) <= plant.height * 1.35 * max(limit, 0.39)


@cache
def all_around() -> NDArray[np.float32]:
    return undergrowth(cover(0.5, 0.3), TUFT, (24.0, 24.0), 24.0)


@tried(40)
@given(
    heading=st.floats(0.0, 360.0),
    pitch=st.floats(1.0, 89.0),
    distance=st.floats(20.0, 150.0),
    field_of_view=st.floats(15.0, 60.0),
    aspect=st.floats(0.6, 2.6),
)
def test_what_is_in_the_picture_is_never_left_out(
    heading: float, pitch: float, distance: float, field_of_view: float, aspect: float
) -> None:
    camera = Camera(glm.vec3(240.0, 0.0, 240.0), heading, pitch, distance, field_of_view)
    plants = all_around()
    kept = in_wedge(plants, camera, aspect, CELL)
    feet = np.column_stack([plants[:, 0] * CELL, np.zeros(len(plants)), plants[:, 1] * CELL, np.ones(len(plants))])
    clip = feet @ np.array((camera.projection(aspect) * camera.view()).to_list())
    seen = (np.abs(clip[:, :2]) < clip[:, 3:]).all(axis=1)
    assert kept[seen].all()


def test_reach_is_where_the_largest_have_the_fewest_pixels() -> None:
    view = tree_view()
    for plant in PLANTS:
        tallest = 1.35 * plant.height * view.tallest
        assert tallest * view.focal_length / reach_of(plant, view) == pytest.approx(0.9 * plant.pixels)


def meadow(grass: float) -> Snapshot:
    return with_layers(snapshot(flat(48, 48), cell_size=CELL), grass=grass, wetness=0.3)


@pytest.fixture
def pictures(context: moderngl.Context) -> Iterator[dict[str, Picture]]:
    made = {level: Picture(context, bake_at_once=True, quality=level) for level in ("low", "high")}
    yield made
    for picture in made.values():
        picture.release()


def test_it_is_drawn_near_the_eye_at_high_levels(
    pictures: dict[str, Picture], canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    blue = "out vec4 colour;\nvoid main() { colour = vec4(0.0, 0.0, 1.0, 1.0); }\n"
    masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "trees.frag": blue})
    scene = Scene().with_value("view.tree_size", 2.0)

    def drawn(level: str, grass: float, distance: float, overlay: str = "none") -> int:
        picture, camera = pictures[level], Camera(glm.vec3(240.0, 0.0, 240.0), 30.0, 25.0, distance, 32.0)
        picture.show(meadow(grass))
        view = scene.with_value("view.overlay", overlay)
        picture.draw(canvas.framebuffer(240, 160), camera, view, minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        return int(((pixels[..., 2] > 128) & (pixels[..., 0] < 128)).sum())

    assert drawn("high", 0.8, 30.0) > 300
    assert drawn("high", 0.8, 30.0) > 2 * drawn("high", 0.15, 30.0)
    assert drawn("high", 0.0, 30.0) == drawn("high", 0.8, 900.0) == drawn("low", 0.8, 30.0) == 0
    assert drawn("high", 0.8, 30.0, "slope") == 0


def test_levels_that_save_work_do_not_compile_it(canvas: Canvas, pictures: dict[str, Picture]) -> None:
    refused: list[str] = []
    read = shaders.read_shader
    try:
        shaders.read_shader = lambda name: (refused.append(name), read(name))[1]  # type: ignore[assignment]
        pictures["low"].show(meadow(0.8))
        camera = Camera(glm.vec3(240.0, 0.0, 240.0), 30.0, 25.0, 30.0, 32.0)
        pictures["low"].draw(canvas.framebuffer(120, 80), camera, Scene(), minimap=False)
    finally:
        shaders.read_shader = read
    assert refused and "trees.vert" not in refused
