"""Fog on the floors of valleys."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.valleys import AROUND, BLOCKS, fog_of, valley_floors
from app.scene.scene import Scene
from tests.nets.cases import tried
from tests.passes.conftest import Draw
from tests.passes.worlds import snapshot

CELL = 20.0
ROWS, COLUMNS = 96, 128


@cache
def valley() -> Snapshot:
    """A valley with a level floor from north to south between two ridges, 300 m high."""
    across = np.abs(np.arange(COLUMNS) - (COLUMNS - 1) / 2) / (COLUMNS / 2)
    return snapshot(np.tile(300.0 * np.maximum(across - 0.25, 0.0) / 0.75, (ROWS, 1)), cell_size=CELL)


def from_above() -> Camera:
    return Camera(glm.vec3(COLUMNS * CELL / 2, 150.0, ROWS * CELL / 2), 0.0, 60.0, 1.2 * COLUMNS * CELL)


def brighter(draw: Draw, **view: float | str) -> np.ndarray:
    """By how much fog changes the picture: [row, column]."""
    shown = valley()
    values = {"sun_height": 7.0, "sun_direction": 0.0, "quality": "high"} | view
    scene = Scene().with_values({f"view.{name}": value for name, value in values.items()})
    without = draw(shown, from_above(), scene.with_value("view.fog", 0.0)).astype(float)
    return np.abs(draw(shown, from_above(), scene).astype(float) - without).mean(axis=2)


def test_fog_lies_on_the_floor_and_not_on_ridges(draw: Draw) -> None:
    changed = brighter(draw, fog=1.0)
    floor, west, east = (changed[50:70, part].mean() for part in (slice(76, 84), slice(25, 40), slice(120, 135)))
    assert floor > 10.0 and max(west, east) < 0.15 * floor


def test_more_fog_hides_more(draw: Draw) -> None:
    floors = [brighter(draw, fog=fog)[50:70, 76:84].mean() for fog in (0.3, 1.0, 2.0)]
    assert floors[0] < floors[1] - 3.0 < floors[2] - 6.0


@pytest.mark.parametrize("view", [{"sun_height": 30.0}, {"quality": "low"}])
def test_there_is_none_under_a_high_sun_and_at_low_levels(draw: Draw, view: dict[str, float | str]) -> None:
    assert not brighter(draw, fog=1.0, **view).any()


def test_fog_goes_with_the_morning() -> None:
    depths = [fog_of(1.0, sun) for sun in (3.0, 9.0, 13.0, 17.0, 22.0, 60.0)]
    assert depths[0] == depths[1] > depths[2] > depths[3] > depths[4] == depths[5] == 0.0
    assert fog_of(0.0, 5.0) == 0.0 and fog_of(2.0, 5.0) == pytest.approx(2.0 * depths[0])


@tried(60)
@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_floors_of_any_map_lie_between_its_lowest_and_highest_ground(rows: int, columns: int, seed: int) -> None:
    ground = np.random.default_rng(seed).normal(100.0, 50.0, (rows, columns)).astype(np.float32)
    floors = valley_floors(ground)
    assert floors.dtype == np.float32 and floors.flags.c_contiguous
    assert max(floors.shape) <= BLOCKS and min(floors.shape) >= 1
    assert ground.min() - 1e-3 <= floors.min() <= floors.max() <= ground.max() + 1e-3


def test_the_floor_of_a_slope_is_its_foot_two_blocks_below() -> None:
    ground = np.tile(np.arange(4.0 * BLOCKS, dtype=np.float32), (4 * BLOCKS, 1))
    expected = 4.0 * (np.arange(BLOCKS) - AROUND)
    np.testing.assert_allclose(valley_floors(ground)[:, 5:-5], np.tile(expected[5:-5], (BLOCKS, 1)))
