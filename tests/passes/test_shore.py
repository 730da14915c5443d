"""The coast: distances and directions against exact ones, and when and how it is worked out anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import KDTree
from skimage import measure

from app.model.layers import SWELL_EAST, SWELL_SOUTH
from app.model.snapshot import Snapshot
from app.picture.passes import land_maps
from app.picture.passes import shore as module
from app.picture.passes.frame import FrameBlock
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.shore import NO_COAST, ShoreMap, reaches, wet_cells, with_waves
from app.picture.passes.swell import SeaGrid, StraightWaves, Swell, Waves, swell_field
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.test_maps import texels
from tests.passes.worlds import bumps, drowned, flat, hills, island, plane, snapshot, with_water

Field = NDArray[np.float32]


class Shore:
    """Finds the coast of snapshots."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, block: FrameBlock) -> None:
        self.map = ShoreMap(context, shaders)
        self.layers = LayerTextures(context)
        self.surface = SurfaceMap(context, shaders)
        self.block = block
        self.waves: Waves = Swell(2.0 * np.pi / 120.0, 90.0)

    def update(self, shown: Snapshot, budget: int = 1, *, at_once: bool = False) -> bool:
        rows, columns = shown.shape
        self.block.values["map"] = (columns, rows, shown.cell_size, 1.0)
        self.block.upload()
        textures = self.layers.upload(shown)
        self.surface.update(shown, textures)
        waters = with_waves(wet_cells(shown))
        return self.map.update(
            shown, self.waves, waters, self.surface.texture, self.layers, budget=budget, at_once=at_once
        )

    def field(self, shown: Snapshot) -> Field:
        self.update(shown, at_once=True)
        return texels(self.map.coast)

    def release(self) -> None:
        for made in (self.map, self.layers, self.surface):
            made.release()


@pytest.fixture
def shore(context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock) -> Iterator[Shore]:
    shore = Shore(context, shaders, frame_block)
    yield shore
    shore.release()


# Against exact distances.


def contour(ground: NDArray[np.float64], level: float = 0.0) -> NDArray[np.float64]:
    """Points (row, column) of the line at this level, at most a tenth of a cell apart."""
    points = []
    for line in measure.find_contours(ground, level):
        along = np.linspace(0.0, 1.0, 10, endpoint=False)[:, None]
        points.append((line[:-1, None] + along * np.diff(line, axis=0)[:, None]).reshape(-1, 2))
    return np.concatenate(points)


def nearest(points: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """How far it is from each cell to the nearest of the points."""
    return KDTree(points).query(np.indices(shape).reshape(2, -1).T)[0].reshape(shape)


def landing(field: Field) -> NDArray[np.float64]:
    """Where distance and direction lead from each cell: (row, column)."""
    return np.moveaxis(np.indices(field.shape[:2]), 0, -1) + field[..., :1] * field[..., [2, 1]].astype(np.float64)


def near_the_middle_between_coasts(field: Field) -> NDArray[np.bool_]:
    """Cells where the way to the coast turns by more than 40° between neighbours, and those beside them."""
    turns = np.zeros(field.shape[:2], bool)
    for axis in (0, 1):
        after = np.moveaxis(field[..., 1:3], axis, 0)
        bent = (after[1:] * after[:-1]).sum(axis=-1) < np.cos(np.radians(40.0))
        rows = np.moveaxis(turns, axis, 0)
        rows[1:] |= bent
        rows[:-1] |= bent
    return turns


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_distances_directions_and_gradients_on_islands(shore: Shore, seed: int) -> None:
    ground = island(512, 512, seed=seed)
    shown = drowned(snapshot(ground), 0.0)
    field = shore.field(shown)
    wet = shown.layers["water"] > 0.0
    assert 0.1 < wet.mean() < 0.9
    np.testing.assert_array_equal(field[..., 0] > 0.0, wet, "land is masked exactly")

    points = contour(shown.layers["bedrock"].astype(np.float64))
    exact = nearest(points, ground.shape)
    error = np.abs(np.abs(field[..., 0]) - exact)
    assert error[exact <= 64.0].max() <= 0.25
    assert error.max() <= 0.5
    assert (error > 0.05).mean() <= 0.001, "cells with a coast that is not the nearest"

    np.testing.assert_allclose(np.hypot(field[..., 1], field[..., 2]), 1.0, atol=1e-5)
    off_the_coast = KDTree(points).query(landing(field)[::3, ::3].reshape(-1, 2))[0]
    assert np.quantile(off_the_coast, 0.999) < 0.06 and off_the_coast.max() < 1.0

    steepness = np.hypot(*np.gradient(field[..., 0]))
    plain = wet & ~near_the_middle_between_coasts(field)
    assert plain[wet].mean() > 0.9
    assert (np.abs(steepness - 1.0) < 0.05)[plain].mean() >= 0.97
    assert (field[..., 3] > 0.5)[wet].mean() > 0.9, "waves have room on the sea"


@pytest.mark.parametrize("shape", [(8, 8), (8, 61), (150, 40), (33, 257)])
def test_maps_of_any_shape(shore: Shore, shape: tuple[int, int]) -> None:
    ground = hills(*shape) - np.median(hills(*shape))
    field = shore.field(drowned(snapshot(100.0 * ground), 0.0))
    error = np.abs(np.abs(field[..., 0]) - nearest(contour(ground), shape))
    assert np.quantile(error, 0.99) < 0.05 and error.max() < 0.6


@pytest.mark.parametrize("level", [-5.0, 0.0, 2500.0])
def test_a_straight_coast_is_exact(shore: Shore, level: float) -> None:
    row, column = np.mgrid[:40, :64]
    away = 0.6 * (column - 32.3) + 0.8 * (row - 19.8)
    field = shore.field(drowned(snapshot(level + 5.0 * away), level))
    inner = bowl(40, 64, 19.8, 32.3) < 15.0
    np.testing.assert_allclose(field[..., 0][inner], -away[inner], atol=2e-3)
    np.testing.assert_allclose(field[..., 1][inner], 0.6, atol=1e-3)
    np.testing.assert_allclose(field[..., 2][inner], 0.8, atol=1e-3)


@pytest.mark.parametrize(("height", "distance"), [(1.0, -NO_COAST), (-1.0, NO_COAST)])
def test_without_a_coast_all_is_far_from_it(shore: Shore, height: float, distance: float) -> None:
    shown = drowned(snapshot(flat(20, 30, height)), 0.0)
    if height > 0.0:
        assert not wet_cells(shown).any() and not wet_cells(snapshot(flat(20, 30))).any()
        shown = with_water(shown, np.where(np.eye(20, 30, dtype=bool), 1.5, 1.0))  # a ditch has no waves
    field = shore.field(shown)
    assert (np.abs(field[..., 0]) == NO_COAST).all() and np.median(field[..., 0]) == distance
    assert (field[..., 1:3] == 0.0).all()


def test_cells_with_their_middle_on_the_coast(shore: Shore) -> None:
    """Ground exactly at sea level is dry; the way inland is still uphill, and nothing is not a number."""
    field = shore.field(drowned(snapshot(plane(16, 16, 1.0, 0.0) - 8.0), 0.0))
    assert np.isfinite(field).all()
    np.testing.assert_allclose(field[..., 0], np.broadcast_to(8.0 - np.arange(16.0), (16, 16)), atol=1e-5)
    np.testing.assert_allclose(field[..., 1], 1.0, atol=1e-6)


def test_rough_ground_gives_numbers(shore: Shore) -> None:
    field = shore.field(drowned(snapshot(bumps(64, 64) * 1e4), 5e3))
    assert np.isfinite(field).all()
    np.testing.assert_allclose(np.hypot(field[..., 1], field[..., 2]), 1.0, atol=1e-5)


# Lakes.


def bowl(rows: int, columns: int, row: float, column: float) -> NDArray[np.float64]:
    return np.hypot(*(np.mgrid[:rows, :columns] - np.array([row, column])[:, None, None]))


def test_lakes_have_coasts_at_their_own_levels_if_they_are_large_enough(shore: Shore) -> None:
    """Two large lakes, one high up, and a puddle."""
    west, east, puddle = (bowl(96, 200, *place) for place in ((48, 50), (48, 140), (10, 97)))
    high_up = np.arange(200) > 95
    ground = np.where(puddle < 6.0, 800.0 + puddle, np.where(high_up, 900.0 + east, west))
    level = np.select([puddle < 3.0, west < 25.0, east < 30.0], [803.0, 25.0, 930.0], ground)
    field = shore.field(with_water(snapshot(ground), np.maximum(level, ground)))
    for lake, radius in ((west, 25.0), (east, 30.0)):
        around = np.abs(lake - radius) < 6.0
        np.testing.assert_allclose(field[..., 0][around], radius - lake[around], atol=0.08)
        assert (field[..., 3][around] > 0.05).all()
    assert (field[..., 3][puddle < 2.5] == 0.0).all(), "a puddle has no waves"
    assert field[10, 97, 0] > 25.0, "and no coast"


# Over frames.


def test_the_coast_is_found_again_only_when_something_has_moved(shore: Shore) -> None:
    shown = drowned(snapshot(island(64, 64)), 0.0)
    assert shore.update(shown)
    assert not shore.update(shown) and not shore.update(replace(shown, cycle=7))
    sunk = drowned(replace(shown, cycle=8), 5.0)
    assert not shore.update(sunk, budget=64), "not all of it in one frame"
    frames = 1
    while not shore.update(sunk, budget=4096):
        frames += 1
    assert 5 < frames < 40
    assert not shore.update(sunk)


def test_what_is_shown_stays_whole_while_the_next_is_worked_out(shore: Shore) -> None:
    first = drowned(snapshot(island(48, 80), world=1), 0.0)
    before = shore.field(first)
    second = drowned(replace(first, cycle=1), 8.0)
    while not shore.update(second, budget=700):
        np.testing.assert_array_equal(texels(shore.map.coast), before)
    gradual = texels(shore.map.coast)
    assert (gradual != before).any()
    shore.map.forget()
    np.testing.assert_array_equal(shore.field(second), gradual)


def test_a_coast_that_always_moves_is_shown_now_and_then(shore: Shore) -> None:
    shown = drowned(snapshot(island(64, 64), world=1), 0.0)
    shore.update(shown)
    changes = 0
    for cycle in range(1, 60):
        shown = drowned(replace(shown, cycle=cycle), 0.1 * cycle)
        changes += shore.update(shown, budget=24576)
    assert 5 <= changes <= 12


def test_the_swell_of_a_process_is_drawn_anew_when_it_is_found_anew(shore: Shore) -> None:
    shown = drowned(snapshot(island(64, 80), world=1), 0.0)
    wet = shown.layers["water"] > 0.0

    def with_swell(version: int, south: float, east: float) -> Snapshot:
        ways = {SWELL_SOUTH: np.where(wet, south, 0.0), SWELL_EAST: np.where(wet, east, 0.0)}
        layers = shown.layers | {name: way.astype(np.float32) for name, way in ways.items()}
        return replace(shown, layers=layers, versions=shown.versions | dict.fromkeys(ways, version))

    def far_out() -> Field:
        """Where waves run at sea, by east and south."""
        return texels(shore.map.surf)[2:10, 2:10, 1:3].mean(axis=(0, 1))

    shore.update(with_swell(1, 0.0, 0.25))
    assert far_out() == pytest.approx((0.5, 0.0), abs=0.01)
    assert not shore.update(with_swell(1, 0.0, 0.25), budget=10**6)
    turned = with_swell(2, 0.81, 0.0)
    while not shore.update(turned, budget=10**6):
        pass
    assert far_out() == pytest.approx((0.0, 0.9), abs=0.03)
    while not shore.update(shown, budget=10**6):  # the process is off again
        pass
    assert far_out() == pytest.approx((1.0, 0.0), abs=0.05)


def test_waves_of_a_drawing_run_straight_to_the_coast_and_need_no_swell(
    shore: Shore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = drowned(snapshot(island(64, 80), world=1), 0.0)
    shore.update(shown)
    with_swell = texels(shore.map.nearshore)
    assert (texels(shore.map.surf)[..., 1:3] != 0.0).any()

    def none(grid: SeaGrid, swell: Swell) -> None:
        raise AssertionError("it is never read")

    monkeypatch.setattr(module, "swell_field", none)
    shore.waves = StraightWaves(shore.waves.deep_wave_number)
    while not shore.update(shown, budget=10**5):
        pass
    straight = texels(shore.map.nearshore)
    assert (texels(shore.map.surf) == 0.0).all()
    np.testing.assert_array_equal(straight[..., :3], with_swell[..., :3])
    assert (straight[..., 3] >= with_swell[..., 3]).all() and (straight[..., 3] > with_swell[..., 3]).any()
    assert not shore.update(shown), "and it is found"


def test_a_picture_of_a_drawn_sea_works_out_no_swell_and_finds_its_waters_once(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    for where in (module, land_maps):
        looked = where.with_waves
        monkeypatch.setattr(where, "with_waves", lambda wet, looked=looked: found.append("waters") or looked(wet))
    monkeypatch.setattr(module, "swell_field", lambda *of: found.append("swell") or swell_field(*of))
    shown = drowned(snapshot(island(64, 80), world=7001), 0.0)
    draw(shown, scene=Scene().with_value("waves.style", "lines"))
    assert found == ["waters"]
    draw(shown, scene=Scene())
    assert found == ["waters", "swell"]


def test_the_swell_is_that_of_the_prevailing_wind_in_all_seasons(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes from far away; and crests that turned with the wind of a short year would jump."""
    found: list[float] = []

    def noted(grid: SeaGrid, swell: Swell) -> Field:
        found.append(swell.towards)
        return swell_field(grid, swell)

    monkeypatch.setattr(module, "swell_field", noted)
    shown = drowned(snapshot(island(48, 64), world=7002), 0.0)
    scene = Scene().with_value("climate.wind_direction", 200.0).with_value("climate.year", 100)
    scene = scene.with_value("climate.season_wind", 90.0).with_value("climate.gustiness", 1.0)
    for cycle in (0, 25, 50):
        draw(replace(shown, cycle=cycle), scene=scene.with_value("climate.gust_turn", 60.0))
    assert found == [20.0]


def test_a_new_world_never_shows_the_coast_of_the_one_before(shore: Shore) -> None:
    shore.update(drowned(snapshot(island(64, 64)), 0.0))
    other = drowned(snapshot(island(64, 48, seed=4)), 0.0)
    assert shore.update(other, budget=1)
    np.testing.assert_array_equal(texels(shore.map.coast)[..., 0] > 0.0, other.layers["water"] > 0.0)


@pytest.mark.parametrize(("side", "expected"), [(8, [4, 2, 1, 1]), (9, [8, 4, 2, 1, 1]), (512, [256, 128])])
def test_reaches_of_the_flooding(side: int, expected: list[int]) -> None:
    assert list(reaches(side))[: len(expected)] == expected
    assert list(reaches(side))[-2:] == [1, 1]


def test_a_coast_that_stands_still_is_left_alone_while_the_land_behind_it_wears(shore: Shore) -> None:
    """What changes is the version of a layer, but nothing near the water; a coast that creeps is found in time."""
    ground = island(64, 64)
    shown = drowned(snapshot(ground, world=1), 0.0)
    shore.update(shown)
    before = texels(shore.map.coast)
    for cycle in range(1, 40):
        worn = np.where(before[..., 0] < -4.0, ground - 0.05 * cycle, ground)
        shown = drowned(snapshot(worn, world=1, cycle=cycle), 0.0)
        assert not shore.update(shown, budget=10**6)
    np.testing.assert_array_equal(texels(shore.map.coast), before)
    found = [
        shore.update(drowned(snapshot(ground, world=1, cycle=100 + n), 0.004 * n), budget=10**6) for n in range(60)
    ]
    assert 1 <= sum(found) <= 5


def test_pools_by_the_shore_are_other_waters_and_end_the_sea(shore: Shore) -> None:
    """Land that is full of puddles, each at its own level: the coast is where it would be without them."""
    row, column = np.mgrid[:64, :96]
    ground = 2.0 * (column - 47.5) + 0.01 * row
    shown = drowned(snapshot(ground), 0.0)
    dry = shore.field(shown)
    puddles = (column > 47) & ((row + column) % 2 == 0)
    level = np.where(puddles, ground + 0.5, np.maximum(ground, 0.0))
    field = shore.field(with_water(snapshot(ground), level, 0.0))
    sea = column <= 47
    np.testing.assert_allclose(field[..., 0][sea], dry[..., 0][sea], atol=0.02)
    assert (field[..., 3][puddles] == 0.0).all() and (field[..., 3][sea] > 0.0).all()
