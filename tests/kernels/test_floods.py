"""Water that runs: dam breaks, waves in a bowl, rivers and lakes whose course is known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.floods import (
    GRAVITY,
    OPEN,
    SEA,
    TILE_COLUMNS,
    TILE_ROWS,
    WALL,
    FloodParameters,
    FloodTotals,
    Speeds,
    calm,
    run,
)
from kernels.scratch import Scratch
from tests.nets.cases import tried

Numbers = NDArray[np.float64]

NO_WAVE = (0.0, 1.0, 0.0, 0.0, 1.0)


class Basin(NamedTuple):
    """Ground with water on it."""

    ground: Numbers
    water: Numbers
    east: Speeds
    south: Speeds
    cell: float

    @classmethod
    def of(cls, ground: Numbers, water: Numbers, cell: float = 1.0) -> Basin:
        ground, water = (np.ascontiguousarray(np.broadcast_to(layer, np.shape(ground))) for layer in (ground, water))
        still = np.zeros((2, *ground.shape), np.float32)
        return cls(ground.astype(float), water.astype(float), still[0], still[1], cell)

    def run(
        self,
        seconds: float,
        *,
        edges: int = WALL,
        sea_level: float = 0.0,
        roughness: float = 0.0,
        damping: float = 0.0,
        springs: Numbers | None = None,
        wave: tuple[float, float, float, float, float] | None = None,
    ) -> FloodTotals:
        parameters = FloodParameters(seconds, 100_000, roughness, damping, edges, sea_level, *(wave or NO_WAVE))
        totals = run(self.ground, self.water, self.east, self.south, self.cell, parameters, springs)
        assert totals.failed_row < 0 and totals.seconds == seconds
        return totals

    @property
    def level(self) -> Numbers:
        return self.ground + self.water


def dam_break(behind: float, before: float, place: Numbers, seconds: float) -> Numbers:
    """Depths after a dam at 0 has gone, on a bed without friction (Ritter 1892; Stoker 1957)."""
    fast = math.sqrt(GRAVITY * behind)
    at = place / seconds
    wave = (2.0 * fast - at) ** 2 / (9.0 * GRAVITY)
    if before == 0.0:
        return np.where(at < -fast, behind, np.where(at < 2.0 * fast, wave, 0.0))
    low, high = before, behind
    for _ in range(100):  # the depth between the wave that runs back and the bore
        depth = 0.5 * (low + high)
        speed = 2.0 * (fast - math.sqrt(GRAVITY * depth))
        if speed > (depth - before) * math.sqrt(0.5 * GRAVITY * (1.0 / depth + 1.0 / before)):
            low = depth
        else:
            high = depth
    bore = depth * speed / (depth - before)
    plain = np.where(at < bore, depth, before)
    return np.where(at < -fast, behind, np.where(at < speed - math.sqrt(GRAVITY * depth), wave, plain))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("before", "error"), [(0.0, 0.004), (0.1, 0.004), (1.0, 0.003)])
def test_a_dam_breaks_as_ritter_and_stoker_found(before: float, error: float, turned: bool) -> None:
    columns, behind, seconds = 400, 5.0, 10.0
    place = np.arange(columns) + 0.5 - columns / 2
    water = np.where(place < 0.0, behind, before) * np.ones((3, 1))
    basin = Basin.of(np.zeros((columns, 3) if turned else (3, columns)), water.T if turned else water)
    begin = basin.water.sum()
    basin.run(seconds)
    water = basin.water.T if turned else basin.water
    assert np.ptp(water, axis=0).max() == 0.0, "all rows are alike"
    exact = dam_break(behind, before, place, seconds)
    assert np.abs(water[1] - exact).mean() < error * behind
    assert abs(basin.water.sum() / begin - 1.0) < 1e-12
    if before:
        wet = place[water[1] > 1.2 * before].max()
        assert wet == pytest.approx(place[exact > 1.2 * before].max(), abs=2.0), "the bore is where it should be"


def test_water_swings_in_a_bowl_as_thacker_found() -> None:
    """A level surface goes round in a paraboloid, and is back where it was after a period (Thacker 1981)."""
    side, depth, radius, shift = 128, 10.0, 1400.0, 140.0
    cell = 4000.0 / side
    south, east = (np.mgrid[:side, :side] + 0.5) * cell - 2000.0
    squared = (south**2 + east**2) / radius**2
    level = shift * depth / radius**2 * (2.0 * east - shift)
    turn = math.sqrt(2.0 * GRAVITY * depth) / radius
    basin = Basin.of(depth * (squared - 1.0), np.maximum(level - depth * (squared - 1.0), 0.0), cell)
    basin.south[basin.water > 0.0] = shift * turn
    begin = basin.water.sum()
    basin.run(2.0 * math.pi / turn)
    amplitude = 2.0 * shift * depth / radius
    error = (basin.level - level)[squared < 0.64] / amplitude
    assert math.sqrt((error**2).mean()) < 0.01
    assert np.abs(error).max() < 0.025
    assert abs(basin.water.sum() / begin - 1.0) < 1e-12


def test_a_lake_at_rest_stays_at_rest_over_rough_ground() -> None:
    ground = np.random.default_rng(1).random((41, 90)) * 10.0
    basin = Basin.of(ground, np.maximum(8.0 - ground, 0.0), 5.0)
    before = basin.water.copy()
    basin.run(60.0, roughness=0.03)
    assert np.abs(basin.water - before).max() < 1e-12
    assert max(np.abs(basin.east).max(), np.abs(basin.south).max()) < 1e-12


@pytest.mark.parametrize(("slope", "discharge"), [(0.01, 2.0), (0.002, 5.0), (0.05, 0.5)])
def test_a_river_on_a_slope_runs_as_deep_as_manning_says(slope: float, discharge: float) -> None:
    cell, roughness = 10.0, 0.03
    ground = -slope * cell * np.arange(120.0) * np.ones((5, 1))
    ground[[0, -1]] += 50.0
    ground[:, 0] += 50.0
    basin = Basin.of(ground, np.zeros_like(ground), cell)
    springs = np.array([[row, 4.0, discharge / cell] for row in (1.0, 2.0, 3.0)])
    totals = basin.run(1500.0, edges=OPEN, roughness=roughness, springs=springs)
    depth = (discharge * roughness / math.sqrt(slope)) ** 0.6
    np.testing.assert_allclose(basin.water[2, 30:80], depth, rtol=0.01)
    assert basin.water.sum() + totals.over_edge == pytest.approx(totals.sprung, rel=1e-12)


def test_waves_leave_to_the_sea_and_its_level_comes_in() -> None:
    basin = Basin.of(np.full((20, 70), -5.0), np.full((20, 70), 5.0), 10.0)
    basin.water[10, 30] += 20.0
    before = basin.water.sum()
    totals = basin.run(300.0, edges=SEA)
    assert np.abs(basin.level).max() < 0.05
    assert basin.water.sum() == pytest.approx(before - totals.into_sea + totals.from_sea, rel=1e-12)
    basin.run(600.0, edges=SEA, sea_level=2.0)
    np.testing.assert_allclose(basin.level, 2.0, atol=0.05)


def test_a_wave_comes_in_and_leaves_on_the_other_side() -> None:
    """It is as high as it is told, runs as fast as waves of its length do, and leaves no echo."""
    depth, height, seconds, cell = 20.0, 0.2, 40.0, 10.0
    ground = np.full((3, 200), -depth)
    ground[[0, 2]] = 50.0  # walls along its way
    basin = Basin.of(ground, np.maximum(-ground, 0.0), cell)
    speed, wave = math.sqrt(GRAVITY * depth), (height, seconds, 0.0, 0.0, 1.0)
    basin.run(90.0, edges=SEA, wave=wave)
    crest = int(basin.level[1].argmax())
    assert basin.level[1, crest] == pytest.approx(height, rel=0.05)
    assert crest * cell == pytest.approx(speed * (90.0 - 0.5 * seconds), rel=0.05)
    basin.run(200.0, edges=SEA)
    assert np.abs(basin.level[1]).max() < 0.05 * height


def test_threads_change_no_bit() -> None:
    import numba

    ground = 10.0 * np.random.default_rng(3).random((70, 150))
    available, seen = numba.config.NUMBA_NUM_THREADS, set()  # type: ignore[attr-defined]
    for threads in sorted({1, available}):
        numba.set_num_threads(threads)
        basin = Basin.of(ground, np.maximum(6.0 - ground, 0.0) + (ground < 2.0))
        basin.run(5.0, edges=OPEN, roughness=0.03)
        seen.add(b"".join(layer.tobytes() for layer in basin[1:4]))
    numba.set_num_threads(available)
    assert len(seen) == 1


def test_water_that_has_come_to_rest_is_level_to_the_last_bit() -> None:
    ground = 10.0 * np.random.default_rng(3).random((30, 40))
    ground[:, 18:22] = 20.0  # two lakes
    water = np.maximum(12.0 - ground, 0.0)
    water[5, 5], water[20, 30] = water[5, 5] + 1e-4, water[20, 30] - 1e-4
    basin = Basin.of(ground, water)
    before = basin.water.sum()
    assert calm(basin.ground, basin.water, basin.east, basin.south) == 2
    for lake in (np.s_[:, :18], np.s_[:, 22:]):
        levels = np.sort(basin.level[lake], axis=None)
        assert np.ptp(levels) < 1e-11, "one cell keeps what rounding leaves"
        assert np.ptp(levels[1:-1]) < 1e-14, "as far as sums of numbers of this size can tell"
    assert basin.water.sum() == pytest.approx(before, rel=1e-14)
    basin.east[4, 4] = 0.1  # what moves is let alone
    moving = basin.water.copy()
    calm(basin.ground, basin.water, basin.east, basin.south)
    np.testing.assert_array_equal(basin.water[:, :18], moving[:, :18])


def test_lakes_come_to_rest_whatever_was_in_the_scratch_memory() -> None:
    ground = 10.0 * np.random.default_rng(3).random((30, 40))
    ground[:, 18:22], scratch, rest = 20.0, Scratch(), []
    for _ in range(3):  # in memory of its own, in a new block, and in one of no numbers
        basin = Basin.of(ground, np.maximum(12.0 - ground, 0.0))
        basin.water[5, 5] += 1e-4
        assert calm(basin.ground, basin.water, basin.east, basin.south, scratch) == 1
        rest.append(basin.water.copy())
        scratch.begin().empty(scratch.nbytes, np.uint8)[:] = 255
    np.testing.assert_array_equal(rest[1:], rest[:-1])


def test_the_sea_comes_over_a_dry_shore() -> None:
    ground = np.linspace(-4.0, 4.0, 60) * np.ones((9, 1))
    basin = Basin.of(ground, np.zeros_like(ground), 10.0)
    totals = basin.run(900.0, edges=SEA, roughness=0.03)
    below = ground < -0.5
    np.testing.assert_allclose(basin.level[below], 0.0, atol=0.02)
    assert basin.water[ground > 1.0].max() == 0.0
    assert basin.water.sum() == pytest.approx(totals.from_sea - totals.into_sea, rel=1e-12)


def test_what_is_not_sound_is_told_and_nothing_is_changed() -> None:
    for layer in range(4):
        basin = Basin.of(np.zeros((9, 12)), np.ones((9, 12)))
        basin[layer][3, 5] = np.nan
        totals = run(*basin[:4], 1.0, FloodParameters(1.0, 10, 0.03, 0.0, WALL, 0.0, *NO_WAVE))
        assert (totals.failed_row, totals.failed_column) == (3, 5)


def rough(most_rows: int, most_columns: int) -> st.SearchStrategy[Numbers]:
    """Two layers of numbers from 0 to 1."""
    return st.builds(
        lambda rows, columns, seed: np.random.default_rng(seed).random((2, rows, columns)),
        st.integers(1, most_rows),
        st.integers(1, most_columns),
        st.integers(0, 1000),
    )


ONE_TILE = min(TILE_ROWS, TILE_COLUMNS)  # in which steps are as long in all directions


@tried(12)
@given(
    rough=rough(40, 150), edges=st.sampled_from([OPEN, SEA, WALL]), steep=st.floats(0.0, 50.0), part=st.floats(0.0, 1.0)
)
def test_no_water_is_lost_and_none_is_less_than_nothing(rough: Numbers, edges: int, steep: float, part: float) -> None:
    ground, wet = rough
    basin = Basin.of(steep * ground, np.where(wet < part, 4.0 * wet, 0.0), 3.0)
    before = basin.water.sum()
    totals = basin.run(5.0, edges=edges, sea_level=0.5 * steep, roughness=0.03)
    after = basin.water.sum() + totals.over_edge + totals.into_sea - totals.from_sea
    assert abs(after - before) <= 1e-12 * max(before + totals.from_sea, 1.0), "of all that there ever was"
    for layer in basin[1:4]:
        assert np.isfinite(layer).all()
    assert basin.water.min(initial=0.0) >= 0.0


@tried(8)
@given(rough=rough(ONE_TILE, ONE_TILE), edges=st.sampled_from([OPEN, SEA, WALL]))
def test_all_directions_are_alike(rough: Numbers, edges: int) -> None:
    ground, wet = rough
    one = Basin.of(10.0 * ground, np.where(wet < 0.5, 4.0 * wet, 0.0))
    turns = [
        lambda layer: layer[::-1],
        lambda layer: layer[:, ::-1],
        lambda layer: layer.T,
    ]
    others = [Basin.of(turn(one.ground), turn(one.water)) for turn in turns]
    one.run(3.0, edges=edges, sea_level=5.0, roughness=0.03)
    for turn, other in zip(turns, others, strict=True):
        other.run(3.0, edges=edges, sea_level=5.0, roughness=0.03)
        np.testing.assert_array_equal(other.water, turn(one.water))
