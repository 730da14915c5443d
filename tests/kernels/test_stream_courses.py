"""Streams over a surface: where they run, what they carry, and which hollows hold them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS
from kernels.rivers import drain
from kernels.streams import UNEVENNESS, find_streams
from tests.nets.cases import tried


def slope_with_pit(depth: float, reach: int) -> NDArray[np.float64]:
    """Ground that falls to the south, with a square pit."""
    ground = np.repeat(100.0 - np.arange(30.0)[:, None], 21, axis=1) + 0.2 * np.abs(np.arange(21) - 10.0)
    ground[15 - reach : 16 + reach, 10 - reach : 11 + reach] -= depth
    return ground


def ends(directions: NDArray[np.int8]) -> NDArray[np.bool_]:
    inside = directions == OUTLET
    inside[[0, -1]] = inside[:, [0, -1]] = False
    return inside


@tried(50)
@given(st.integers(0, 10_000), st.sampled_from([-math.inf, 20.0]))
def test_without_hollows_that_hold_it_all_water_drains_as_it_does_over_filled_ground(seed: int, sea: float) -> None:
    ground = np.random.default_rng(seed).uniform(0.0, 100.0, (14, 19))
    found = find_streams(ground, sea, np.ones(ground.shape), pool_depth=math.inf)
    expected = drain(ground, 1.0, sea)
    np.testing.assert_array_equal(found.directions == OUTLET, expected.directions == OUTLET)
    leaves = found.directions == OUTLET
    assert found.flow[leaves].sum() == pytest.approx(expected.accumulation[leaves].sum())
    filled = expected.filled
    for row, column in np.argwhere(found.directions != expected.directions):
        own, steepest = (
            (filled[row, column] - filled[row + ROW_STEPS[way], column + COLUMN_STEPS[way]])
            / math.hypot(ROW_STEPS[way], COLUMN_STEPS[way])
            for way in (found.directions[row, column], expected.directions[row, column])
        )
        assert own > 0.0
        assert own * (1.0 + UNEVENNESS) >= steepest * (1.0 - UNEVENNESS)


def test_water_does_not_run_straight_along_the_grid_where_the_ground_is_smooth() -> None:
    """Down planes it goes about as they fall, in no straight line, and comes together on its way."""
    side = 120
    south, east = np.mgrid[:side, :side].astype(float)
    for angle in (0.0, 20.0, 45.0):
        fall = 0.01 * math.cos(math.radians(angle)), 0.01 * math.sin(math.radians(angle))
        found = find_streams(-fall[0] * south - fall[1] * east, -math.inf, np.ones((side, side)), pool_depth=1.0)
        row, column, ways = 10, 10, list[int]()
        while (way := int(found.directions[row, column])) != OUTLET and len(ways) < 90:
            ways.append(way)
            row, column = row + ROW_STEPS[way], column + COLUMN_STEPS[way]
        assert max(len(list(run)) for _, run in itertools.groupby(ways)) < 25, angle
        assert abs(math.degrees(math.atan2(column - 10, row - 10)) - angle) < 20.0, angle
        assert found.flow.max() > 1.5 * side, angle


def test_a_deep_hollow_holds_its_stream_a_shallow_or_small_one_does_not() -> None:
    for depth, reach, holds in ((20.0, 3, True), (1.5, 3, False), (20.0, 0, False)):
        ground = slope_with_pit(depth, reach)
        found = find_streams(ground, -math.inf, np.ones(ground.shape), pool_depth=2.5)
        assert ends(found.directions).any() == holds, (depth, reach)
        if holds:
            held = found.flow[ends(found.directions)].sum()
            assert held > 70.0
            assert (
                found.flow[ends(found.directions)].sum() + found.flow[[0, -1]].sum() + found.flow[1:-1, [0, -1]].sum()
                == ground.size
            )


def test_drops_that_cross_a_hollow_take_the_stream_along() -> None:
    ground = slope_with_pit(20.0, 3)
    found = find_streams(
        ground, -math.inf, np.ones(ground.shape), pool_depth=2.5, crossed=np.ones(ground.shape, np.bool_)
    )
    assert not ends(found.directions).any()


@tried(50)
@given(st.integers(0, 10_000), st.floats(0.5, 1.0), st.floats(1.0, 20.0))
def test_each_cell_has_what_is_left_of_what_comes_in_and_no_more_than_it_can(
    seed: int, kept: float, limit: float
) -> None:
    random = np.random.default_rng(seed)
    ground, runoff = random.uniform(0.0, 9.0, (11, 13)), random.uniform(0.0, 2.0, (11, 13))
    most = random.uniform(0.0, limit, ground.shape)
    found = find_streams(ground, -math.inf, runoff, pool_depth=3.0, kept=kept, most=most)
    expected = runoff.copy()
    for row, column in np.ndindex(ground.shape):
        towards = found.directions[row, column]
        if towards != OUTLET:
            expected[row + ROW_STEPS[towards], column + COLUMN_STEPS[towards]] += kept * found.flow[row, column]
    np.testing.assert_allclose(found.flow, np.minimum(expected, most), rtol=1e-12)
