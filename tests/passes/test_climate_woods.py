"""Trees where no plants are simulated."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import moderngl
import numpy as np
import pytest
from pyglm import glm

from app.model.climate import Weather
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes import composing, land_maps
from app.picture.passes import trees as trees_module
from app.picture.passes.climate_woods import BROADLEAVES, CONIFERS, SHRUBS, ClimateWoods, climate_trees
from app.picture.passes.forest import Forest, TreeView
from app.picture.passes.quality import BY_NAME
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.worlds import flat, hills, plane, planted, snapshot, with_layers
from tests.waiting import PATIENCE, wait_for

WOODS_OF_CLIMATE = True
CELL = 20.0
WOODS = ClimateWoods(snow_line=2.0, greenness=0.7, full_height=28.0)
VIEW = TreeView(28.0, 1000.0, (1e4, 8.0, 0.0, 0.5), 1.0, 0.0)


def test_no_tree_of_the_climate_stands_on_walls_nor_in_water_nor_above_the_tree_line() -> None:
    land = snapshot(60.0 * hills(96, 96), cell_size=CELL)
    everywhere = climate_trees(land, WOODS)
    assert len(everywhere) > 200
    assert (everywhere[:, :2] >= 0.0).all() and (everywhere[:, :2] < 96.0).all()
    assert not len(climate_trees(snapshot(plane(64, 64, 1.2 * CELL, 0.0), cell_size=CELL), WOODS))
    water = np.zeros((96, 96))
    water[:, 40:60] = 3.0
    beside = climate_trees(with_layers(land, water=water), WOODS)
    assert 0 < len(beside) < len(everywhere)
    assert ((beside[:, 1] < 40.0) | (beside[:, 1] >= 60.0)).all()
    ground = land.ground()
    low = climate_trees(land, WOODS._replace(snow_line=0.6))
    at = tuple(low[:, :2].astype(int).T)
    assert len(low) > 0
    assert ((ground[at] - ground.min()) / np.ptp(ground)).max() < 0.6
    assert not len(climate_trees(land, WOODS._replace(greenness=0.0)))


def test_trees_of_the_climate_stay_where_they_are_while_the_ground_changes_a_little() -> None:
    heights = 60.0 * hills(96, 96)
    before, after = (
        {tuple(tree) for tree in climate_trees(snapshot(land, cell_size=CELL), WOODS)[:, :2]}
        for land in (heights, heights + 0.02 * hills(96, 96, seed=9))
    )
    assert len(before & after) > 0.9 * len(before | after)


def test_woods_are_mixed_and_most_of_their_trees_are_small() -> None:
    trees = climate_trees(snapshot(60.0 * hills(128, 128), cell_size=CELL), WOODS)
    assert min((trees[:, 2] == CONIFERS).mean(), (trees[:, 2] == BROADLEAVES).mean()) > 0.05
    assert np.median(trees[:, 3]) < 0.6 * trees[:, 3].max()


def test_woods_end_in_low_trees() -> None:
    trees = climate_trees(snapshot(60.0 * hills(128, 128), cell_size=CELL), WOODS)
    row, column = trees[:, :2].astype(int).T
    tile = row // 4 * 32 + column // 4
    around = np.bincount(tile, minlength=1024)[tile]
    tall = trees[:, 2] != SHRUBS
    inside, at_rim = (trees[tall & chosen, 3].mean() for chosen in (around > 10, around < 4))
    assert at_rim < 0.8 * inside, (at_rim, inside)


def test_woods_cast_shadows_as_wide_as_their_map_has_texels(
    context: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadows: dict[str, float] = {}
    trees = trees_module.Trees(context)
    woods = planted(snapshot(flat(32, 32), cell_size=CELL), [[16.0, 16.0, 0.0, 1.0]])
    trees.show(woods)
    trees.update(None, Weather(), at_once=True)
    monkeypatch.setattr(trees, "_woods", WOODS)
    for wide in (0.0, 1400.0):
        box: Any = SimpleNamespace(low=np.zeros(3), high=np.array([wide, 9.0, wide]))
        for level in ("medium", "high"):
            monkeypatch.setattr(
                trees.shadows, "begin", lambda *_, strength, level=level, **__: shadows.update({level: strength})
            )
            shadows.clear()
            trees.cast_shadows(box, np.array([0.0, 1.0, 0.0]), BY_NAME[level], VIEW, at_once=True)
            assert shadows.get(level, 0.0) == (1.0 if level == "high" or not wide else 0.0)
    trees.release()


def test_trees_of_the_climate_follow_the_ground_once_it_has_changed(context: moderngl.Context) -> None:
    land = snapshot(60.0 * hills(96, 96), cell_size=CELL)
    drowned = snapshot(flat(96, 96), cell_size=CELL)
    drowned = replace(drowned, versions={name: version + 1 for name, version in drowned.versions.items()})
    drawn = trees_module.Trees(context)
    numbers = []
    for shown, woods in ((land, None), (land, WOODS), (drowned, WOODS)):
        drawn.show(shown)
        drawn.update(None, Weather(), None, woods, at_once=True)
        assert drawn.settled
        numbers.append(0 if drawn.forest is None else len(drawn.forest.trees))
    drawn.release()
    assert numbers[0] == 0
    assert 0 < numbers[2] != numbers[1] > 0


def test_the_climate_grows_trees_at_all_levels_and_beside_none_that_are_known(
    context: moderngl.Context, canvas: Canvas
) -> None:
    land = snapshot(60.0 * hills(96, 96), cell_size=CELL)
    one = planted(land, [[48.0, 48.0, 0.0, 1.0]])
    numbers = {}
    for name, shown, level in (("low", land, "low"), ("medium", land, "medium"), ("planted", one, "medium")):
        picture = Picture(context, bake_at_once=True, quality=level)
        picture.show(shown)
        camera = Camera(glm.vec3(960.0, 60.0, 960.0), 0.0, 30.0, 1500.0, 30.0)
        picture.draw(canvas.framebuffer(96, 64), camera, Scene(), minimap=False)
        assert picture.frame is not None
        forest = picture.frame.trees.forest
        numbers[name] = 0 if forest is None else len(forest.trees)
        picture.release()
    assert numbers["low"] == numbers["medium"] > 200
    assert 0 < numbers["planted"] <= 4


def test_at_level_low_woods_darken_the_ground_where_no_tree_is_seen(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composing, "MOST_OF_WOODS", 1)
    land = snapshot(20.0 * hills(96, 96), cell_size=CELL)
    camera = Camera(glm.vec3(960.0, 10.0, 960.0), 0.0, 85.0, 2500.0, 30.0)
    drawn, looks = [], []
    for woods in (WOODS, None):
        monkeypatch.setattr(land_maps, "woods_of", lambda *land_and_view, woods=woods: woods)
        picture, target = Picture(context, bake_at_once=True, quality="low"), canvas.framebuffer(96, 96)
        picture.show(land)
        picture.draw(target, camera, Scene(), minimap=False)
        assert picture.frame is not None and picture.frame.defines["CANOPY"] == 0, "nothing more is read per pixel"
        forest = picture.frame.trees.forest
        assert (forest is None) == (woods is None)
        if forest is not None:
            wood = forest.wood()[::-1].reshape(24, 4, 24, 4).mean(axis=(1, 3))
        pixels = np.frombuffer(target.read(components=3), np.uint8).reshape(24, 4, 24, 4, 3)
        drawn.append(pixels.mean(axis=(1, 3, 4)))
        look = picture.frame.textures["land_look"]
        assert isinstance(look, moderngl.Texture)
        looks.append(np.frombuffer(look.read(), np.uint8).astype(float))
        picture.release()
    darker = drawn[1] - drawn[0]
    assert (looks[1] - looks[0]).max() > 20.0, "so it is on land beyond the map"
    middle = np.s_[4:-4, 4:-4]
    assert np.corrcoef(darker[middle].ravel(), wood[middle].ravel())[0, 1] > 0.25
    assert darker[middle].max() > 12.0


def test_woods_grow_in_a_thread_as_they_do_at_once_and_are_there_when_they_are_drawn_again(
    context: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    heights = 60.0 * hills(96, 96)
    land = snapshot(heights, cell_size=CELL)
    may_grow, growers = threading.Event(), []
    grow = trees_module._grow

    def watched(*inputs: Any, **options: Any) -> Any:
        assert may_grow.wait(PATIENCE)
        growers.append(threading.current_thread())
        return grow(*inputs, **options)

    def update(drawn: trees_module.Trees, woods: ClimateWoods | None, *, at_once: bool = False) -> Forest | None:
        drawn.update(None, Weather(), None, woods, at_once=at_once)
        return drawn.forest

    at_once, beside = trees_module.Trees(context), trees_module.Trees(context)
    at_once.show(land)
    expected = update(at_once, WOODS, at_once=True)
    monkeypatch.setattr(trees_module, "_grow", watched)
    beside.show(land)
    assert (update(beside, WOODS), beside.settled) == (None, False), "no picture waits"
    land.layers["bedrock"][:] = 0.0  # as its arrays are used again
    may_grow.set()
    grown = wait_for(lambda: update(beside, WOODS), "woods")
    assert growers and growers[0] is not threading.current_thread()
    assert expected is not None and beside.settled
    np.testing.assert_array_equal(grown.trees, expected.trees)
    assert update(beside, None) is None
    assert update(beside, WOODS) is grown and beside.settled and len(growers) == 1
    at_once.release()
    beside.release()


def test_trees_stay_as_they_are_until_many_of_them_would_change() -> None:
    heights = 60.0 * hills(96, 96)
    first, hardly, much = (
        trees_module._grow(snapshot(land, cell_size=CELL), None, (1, number), WOODS, 0)
        for number, land in enumerate((heights, heights + 1e-5, heights + 6.0 * hills(96, 96, seed=9)))
    )
    assert first.forest.part_beside(hardly.forest) < trees_module.LITTLE < first.forest.part_beside(much.forest) < 1.0
    assert first.forest.part_beside(first.forest) == 0.0
    for land, stays in ((heights + 1e-5, True), (heights + 6.0 * hills(96, 96, seed=9), False)):
        grown = trees_module._grow(snapshot(land, cell_size=CELL), None, (1, 9), WOODS, 0, before=first)
        assert (grown.forest is first.forest) == stays
        assert grown.trees == (1, 9)
