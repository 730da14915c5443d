"""The swell over a map: when it comes and how high, against formulas and a solution by other means."""

from __future__ import annotations

import heapq
import math
from collections.abc import Generator
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.picture.passes.swell import NEVER, SeaGrid, Swell, arrivals, heights, plane_phase, sea_grid, swell_field
from app.picture.passes.waves import wave_number
from tests.nets.cases import tried
from tests.passes import reference_waves

SPACING = 40.0
DEEP = 2.0 * math.pi / 120.0
Result = TypeVar("Result")


def finished(work: Generator[int, None, Result]) -> Result:
    while True:
        try:
            assert next(work) > 0
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def grid(depth: NDArray[np.floating], cells: int = 1) -> SeaGrid:
    return SeaGrid(cells, SPACING, depth.astype(np.float32), (depth > 0.0).astype(np.float32))


def test_wave_numbers_of_any_depth() -> None:
    depth = np.geomspace(1e-3, 1e4, 200)
    np.testing.assert_allclose(wave_number(DEEP, depth), reference_waves.wave_number(DEEP, depth), rtol=1e-3)


@pytest.mark.parametrize("towards", [0.0, 17.0, 90.0, 135.0, 200.0, 314.0])
def test_on_open_water_the_phase_is_the_way_along_the_swell(towards: float) -> None:
    swell = Swell(DEEP, towards)
    open_sea = grid(np.full((40, 56), 500.0))
    np.testing.assert_allclose(finished(arrivals(open_sea, swell)), plane_phase(open_sea, swell), atol=2e-3)
    row, column = 7, 9
    way = SPACING * (column * math.sin(math.radians(towards)) - row * math.cos(math.radians(towards)))
    assert plane_phase(open_sea, swell)[row, column] == pytest.approx(DEEP * way, abs=1e-3)
    assert finished(heights(open_sea.wet, swell)) == pytest.approx(1.0), "and nothing takes of its height"


def test_over_a_bed_that_rises_crests_turn_as_snell_says() -> None:
    """The wave number along the contours stays; what is left of it runs up the slope."""
    away = SPACING * np.arange(160, 0, -1)
    depth = np.maximum(0.012 * (away - 800.0), 0.0) + 4.0
    swell = Swell(DEEP, 55.0)
    found = finished(arrivals(grid(np.tile(depth, (220, 1))), swell))
    along = DEEP * math.cos(math.radians(55.0))
    number = reference_waves.wave_number(DEEP, depth)
    across = np.sqrt(number**2 - along**2)
    expected = SPACING * np.concatenate([[0.0], np.cumsum(0.5 * (across[1:] + across[:-1]))])
    middle = found[110]  # the south side tells the phase of deep water where it is shallow, too
    np.testing.assert_allclose(middle - middle[0], expected, rtol=0.01, atol=0.1)
    turned = math.atan2(along, across[-1])
    assert turned < math.radians(20.0)


def marched(across: NDArray[np.floating], start: NDArray[np.bool_], begin: NDArray[np.floating]) -> Any:
    """|∇T| = f by Dijkstra's order (Sethian 1996), f the mean of two neighbours where one tells; NEVER where f = 0."""
    rows, columns = across.shape
    known = np.full(across.shape, NEVER)
    known[start] = begin[start]
    done = np.zeros(across.shape, bool)
    queue = [(known[r, c], r, c) for r, c in np.argwhere(start)]
    heapq.heapify(queue)

    def told(row: int, column: int, down: int, right: int) -> tuple[float, float]:
        sides = [
            (known[r, c], 0.5 * (across[row, column] + across[r, c]))
            for r, c in ((row + down, column + right), (row - down, column - right))
            if 0 <= r < rows and 0 <= c < columns
        ]
        return min(sides)

    while queue:
        _, row, column = heapq.heappop(queue)
        if done[row, column]:
            continue
        done[row, column] = True
        for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if not (0 <= r < rows and 0 <= c < columns) or done[r, c] or across[r, c] == 0.0:
                continue
            (a, over_a), (b, over_b) = told(r, c, 0, 1), told(r, c, 1, 0)
            over = 0.5 * (over_a + over_b)
            come = min(a + over_a, b + over_b)
            if abs(a - b) < over:
                come = 0.5 * (a + b + math.sqrt(2.0 * over**2 - (a - b) ** 2))
            if come < known[r, c]:
                known[r, c] = come
                heapq.heappush(queue, (come, r, c))
    return known


@tried(20)
@given(seed=st.integers(0, 10**6), towards=st.sampled_from([90.0, 180.0, 110.0, 235.0]))
def test_arrivals_between_islands_are_those_of_a_march_in_order(seed: int, towards: float) -> None:
    random = np.random.default_rng(seed)
    depth = np.full((24, 30), 300.0)
    for row, column, radius in zip(
        random.integers(4, 20, 4), random.integers(5, 25, 4), random.uniform(1.0, 4.0, 4), strict=True
    ):
        depth[np.hypot(*(np.mgrid[:24, :30] - np.array([row, column])[:, None, None])) < radius] = 0.0
    swell, sea = Swell(DEEP, towards), grid(depth)
    found = finished(arrivals(sea, swell))
    across = np.where(depth > 0.0, SPACING * DEEP, 0.0)
    start = np.zeros(depth.shape, bool)
    east, south = swell.direction
    if abs(east) > 1e-6:
        start[:, 0 if east > 0.0 else -1] = True
    if abs(south) > 1e-6:
        start[0 if south > 0.0 else -1] = True
    expected = marched(across, start, plane_phase(sea, swell))
    reached = expected < NEVER
    np.testing.assert_allclose(found[reached], expected[reached], atol=0.05)
    assert (found[depth == 0.0] == NEVER).all()


def round_island() -> NDArray[np.float64]:
    away = np.hypot(*(np.mgrid[:81, :121] - np.array([40.0, 40.0])[:, None, None]))
    return np.where(away < 14.0, 0.0, 400.0)


def test_behind_a_round_island_waves_are_low_and_come_late_and_alike_from_both_sides() -> None:
    sea, swell = grid(round_island()), Swell(DEEP, 90.0)
    arrival, height = np.moveaxis(finished(swell_field(sea, swell)), -1, 0)
    for field in (arrival, height):
        np.testing.assert_allclose(field, field[::-1], atol=0.05)
    assert height[40, 20] > 0.99 and height[40, 57] < 0.2, "just before it, and just behind it"
    behind = height[40, 56:]
    assert (np.diff(behind) > -0.02).all() and behind[-1] > 0.6, "far behind it waves are nearly as high again"
    edge = np.convolve(height[:41, 70], (0.25, 0.5, 0.25), "valid")  # about as smooth as it is looked up
    assert np.diff(edge).max() < 0.03 and np.diff(edge).min() > -0.12, "no sharp edge of the shadow"
    late = arrival - plane_phase(sea, swell)
    assert late[40, 20] == pytest.approx(0.0, abs=0.01) and late[40, 58] > 3.0
    # Around the flank and on: a tangent, an arc, and the plane wave before it.
    x, radius = 30.0, 14.0
    turn = math.pi / 2.0 - math.acos(radius / x)
    way = math.sqrt(x**2 - radius**2) + radius * turn
    assert late[40, 70] == pytest.approx(DEEP * SPACING * (way - x), abs=DEEP * SPACING * 2.0), "to two texels"


def test_on_a_lake_waves_grow_with_their_way_over_water() -> None:
    depth = np.zeros((50, 70))
    depth[10:40, 10:60] = 300.0
    swell = Swell(DEEP, 90.0)
    arrival, height = np.moveaxis(finished(swell_field(grid(depth), swell)), -1, 0)
    along = height[25, 10:60]
    assert along[0] < 0.2 and 0.3 < along[-1] < 1.0 and (np.diff(along) > -1e-3).all()
    np.testing.assert_allclose(arrival[12:38, 10:60], plane_phase(grid(depth), swell)[12:38, 10:60], atol=0.05)


@pytest.mark.parametrize(("shape", "cells"), [((64, 100), 1), ((300, 130), 3), ((5, 700), 6)])
def test_the_grid_of_a_map_of_any_shape(shape: tuple[int, int], cells: int) -> None:
    depth = np.where(np.random.default_rng(1).random(shape) < 0.6, 8.0, 0.0).astype(np.float32)
    found = sea_grid(depth, 10.0)
    assert found.cells == cells and found.spacing == 10.0 * cells
    assert found.wet.shape == tuple(-(-side // cells) for side in shape)
    np.testing.assert_allclose(found.depth[found.wet > 0.0], 8.0, rtol=1e-5)
    field = finished(swell_field(found, Swell(DEEP, 30.0)))
    assert np.isfinite(field).all() and field[..., 1].min() >= 0.0 and field[..., 1].max() <= 1.0


def test_dry_land_has_no_waves_but_numbers() -> None:
    field = finished(swell_field(grid(np.zeros((6, 9))), Swell(DEEP, 90.0)))
    assert np.isfinite(field).all() and (field[..., 1] == 0.0).all()
