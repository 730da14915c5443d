"""The sea on its shore: straight coasts whose fate is known, cliffs, beaches in balance, and exact masses."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.coast import CoastParameters, CoastTotals, work
from kernels.components import components
from kernels.materials import Materials, one_kind
from kernels.ocean import ocean_mask
from kernels.standing import DRY, SEA
from kernels.swell import SwellParameters, find_swell

Numbers = NDArray[np.float64]

CELL = 20.0
HEIGHT, PERIOD = 1.5, 7.0
PROFILE = 0.15
SOUTH = 180.0  # degrees: where waves run to that come from the north


class Coast:
    """A land by the sea, all sand unless it is told how thick this is."""

    def __init__(self, ground: Numbers, sand: Numbers | float = 60.0) -> None:
        self.sediment = np.zeros_like(ground) + sand
        self.bedrock = ground - self.sediment
        self.ground = self.bedrock + self.sediment
        self.water, self.level = np.zeros_like(ground), np.zeros_like(ground)
        self.swell = self.trace(), self.trace()
        self.notch, self.power, self.drift = self.trace(), self.trace(), self.trace()
        self.came = self.went = 0.0
        self.totals: CoastTotals | None = None

    def trace(self) -> NDArray[np.float32]:
        return np.zeros(self.ground.shape, np.float32)

    def run(
        self,
        cycles: int,
        towards: float = SOUTH,
        *,
        seconds: float = 180.0,
        wear: float = 0.0,
        fines: float = 0.0,
        shaping: float = 0.2,
        sea_level: float = 0.0,
        every: int = 10,
        spread: float = 0.0,
        materials: Materials | None = None,
        rates: NDArray[np.float32] | None = None,
    ) -> Coast:
        parameters = CoastParameters(sea_level, HEIGHT, PERIOD, seconds, wear, fines, PROFILE, shaping, 1.0, 1.0)
        for cycle in range(cycles):
            sea = ocean_mask(self.ground, sea_level)
            if cycle % every == 0:
                comes = SwellParameters(towards, spread, PERIOD, sea_level, 2.0 * HEIGHT)
                find_swell(self.ground, sea, comes, *self.swell)
            self.totals = work(
                self.bedrock, self.sediment, self.ground,
                one_kind(self.sediment) if materials is None else materials,
                CELL, np.where(sea, SEA, DRY).astype(np.uint8), (self.water, self.level),
                self.swell, self.notch, self.power, self.drift, parameters, rates,
            )  # fmt: skip
            moved = self.totals.moved
            self.came += sum(moved.blown_in)
            self.went += sum(moved.off_map) + sum(self.totals.fines)
        return self

    @property
    def line(self) -> Numbers:
        """The row, in parts of it, in which each column has its shore; the sea is in the north."""
        row = (self.ground >= 0.0).argmax(axis=0)
        column = np.arange(len(row))
        above, below = self.ground[row, column], self.ground[row - 1, column]
        return row - above / (above - below)


def in_balance(shore: Numbers | float, rows: int, columns: int) -> Numbers:
    """Ground whose shore is in these rows, by column, with the sea in the north and a beach as waves would form it."""
    away = (shore - np.arange(rows)[:, None]) * CELL * np.ones((1, columns))
    return np.where(
        away > 0.0, -np.minimum(PROFILE * np.maximum(away, 0.0) ** (2 / 3), 30.0), np.minimum(-0.1 * away, HEIGHT)
    )


@pytest.mark.parametrize(("angle", "turned"), [(20.0, False), (70.0, False), (70.0, True)])
def test_waves_smooth_a_straight_coast_below_45_degrees_and_make_it_wavy_above(angle: float, turned: bool) -> None:
    """Ashton & Murray (2001): the high-angle instability of coasts. It is the same from either side."""
    columns, length = 128, 64
    wave = 2.0 * np.sin(2.0 * np.pi * np.arange(columns) / length)
    coast = Coast(in_balance(32.0 + (wave[::-1] if turned else wave), 48, columns))

    def amplitude() -> float:
        line = coast.line[32:96]
        return float(abs(np.fft.rfft(line - line.mean())[64 // length])) / 32.0

    towards = SOUTH + (angle if turned else -angle)
    coast.run(100, towards)  # until the profile is in balance with these waves
    begin = amplitude()
    growth = coast.run(500, towards) and amplitude() / begin
    assert growth < 0.95 if angle < 45.0 else growth > 1.05


def test_nothing_is_lost_and_what_passes_the_edges_is_told() -> None:
    bay = 20.0 + 4.0 * np.sin(2.0 * np.pi * np.arange(70) / 50.0)
    ground = in_balance(bay, 40, 70)
    ground[:, 40:] += 10.0 * (ground > 0.0)[:, 40:]  # a cliff
    coast = Coast(ground, np.where(np.arange(70) < 40, 8.0, 0.2))
    sand, rock = coast.sediment.sum(), coast.bedrock.sum()
    worn = 0.0
    for _ in range(30):
        coast.run(1, 140.0, wear=5.0, fines=0.3)
        assert coast.totals is not None
        worn += sum(coast.totals.moved.from_rock)
    assert coast.came > 0.0 and coast.went > 0.0 and worn > 0.0
    assert coast.sediment.sum() + coast.went - coast.came - worn == pytest.approx(sand, rel=1e-13)
    assert coast.bedrock.sum() + worn == pytest.approx(rock, rel=1e-13)
    np.testing.assert_array_equal(coast.ground, coast.bedrock + coast.sediment)
    assert coast.sediment.min() >= 0.0


def test_a_cliff_falls_when_waves_have_bored_through_it_and_a_hard_one_stands() -> None:
    ground = np.where(np.arange(24)[:, None] < 12, -2.0, 15.0) * np.ones((1, 16))
    soft = Coast(ground, 0.0).run(60, wear=2.0, seconds=0.0)
    hard = Coast(ground, 0.0).run(
        60, wear=2.0, seconds=0.0, materials=one_kind(np.zeros(ground.shape), rock_erodibility=0.1)
    )
    assert hard.notch[12].min() > 0.0 and (hard.bedrock == Coast(ground, 0.0).bedrock)[12:].all()
    assert (soft.bedrock[12] < 0.0).all(), "the first row of the cliff is a platform"
    assert soft.sediment[10:14].sum() > 0.0, "and rubble"
    assert (soft.bedrock[14:] == 15.0).all()


def test_a_beach_protects_the_cliff_behind_it_the_more_the_wider_it_is() -> None:
    """Limber & Murray (2011). Storms cross one beach of a cell, and not one of two."""

    def bored(width: int) -> float:
        ground = in_balance(16.0, 32, 12)
        rock = np.where(np.arange(32)[:, None] < 16 + width, -40.0, 15.0) * np.ones((1, 12))
        coast = Coast(np.maximum(ground, rock), np.where(rock > 0.0, 0.0, 30.0)).run(5, wear=1.0, seconds=0.0)
        return float((coast.notch[16 + width, 2:-2] / coast.power[15, 2:-2]).mean())

    assert 0.5 * bored(0) > bored(1) > 0.0 and bored(3) == 0.0


def barrier(width: int, crest: float = 0.8) -> Coast:
    """A beach so many cells wide and so high, with a lagoon of two metres behind it and the land beyond."""
    ground = in_balance(16.0, 40, 16)
    ground[16 : 16 + width] = crest
    ground[16 + width : 16 + width + 8] = -2.0
    ground[16 + width + 8 :] = 3.0
    ground[16 + width :, [0, 1, -2, -1]] = 3.0
    return Coast(ground)


def test_storms_carry_sand_and_water_over_a_narrow_barrier_and_not_over_a_high_or_a_wide_one() -> None:
    before, coast = barrier(2), barrier(2)
    sand = coast.sediment.sum()
    coast.level[...] = -9.0
    coast.run(40, seconds=0.0)
    back = coast.ground[18:20] - before.ground[18:20]
    assert back.mean() > 0.05 and coast.totals is not None, "a fan in the lagoon"
    assert coast.water[18:20].max() > 0.5, "which the sea has filled"
    np.testing.assert_array_equal(coast.level, np.where(coast.water > 0.0, 0.0, -9.0), "at once up to its level")
    assert coast.ground[:17].sum() < before.ground[:17].sum(), "with what the sea side loses"
    assert coast.sediment.sum() + coast.went - coast.came == pytest.approx(sand, rel=1e-13)
    for other in (barrier(2, crest=2.0 * HEIGHT), barrier(8)):
        lagoon = other.ground < -1.5
        lagoon[:17] = False
        bottom = other.ground[lagoon].copy()
        other.run(40, seconds=0.0)
        np.testing.assert_array_equal(other.ground[lagoon], bottom)
        assert other.water.max() == 0.0


def test_waves_run_over_an_islet_of_a_cell_until_it_is_a_shoal() -> None:
    ground = np.full((24, 24), -2.5)
    ground[12, 12] = 1.0
    islet = Coast(ground.copy()).run(60, seconds=0.0)
    assert islet.ground.max() < 0.0
    ground[9:15, 9:15] = 1.0
    assert Coast(ground).run(60, seconds=0.0).ground.max() > 0.5


def test_a_platform_protects_the_cliff_behind_it() -> None:
    def bored(depth: float) -> float:
        ground = np.where(np.arange(32)[:, None] < 24, -depth, 15.0) * np.ones((1, 12))
        ground[:4] = -10.0
        return float(Coast(ground, 0.0).run(5, wear=1.0).notch[24].mean())

    assert 0.0 < bored(0.5) < 0.5 * bored(2.0) and bored(2.0) < bored(8.0)


@pytest.mark.parametrize("steeper", [0.6, 1.6])
def test_a_beach_comes_to_the_slopes_of_dean(steeper: float) -> None:
    coast = Coast(in_balance(30.0, 48, 12) * steeper).run(800, shaping=0.25, seconds=0.0)
    depth = -coast.ground[:, 6]
    middle = 0.5 * (depth[1:] + depth[:-1])
    sea = (depth[1:] > 0.0) & (middle < 0.8 * 2.0 * HEIGHT)
    slope = 2.0 / 3.0 * PROFILE**1.5 / np.sqrt(middle[sea])
    assert sea.sum() >= 2
    np.testing.assert_allclose(-np.diff(depth)[sea] / CELL, slope, rtol=0.1)


def test_drift_goes_with_the_waves_and_stops_in_the_lee_of_a_headland() -> None:
    ground = in_balance(24.0, 48, 96)
    ground[6:26, 44:48] = 20.0  # a groyne
    coast = Coast(ground).run(90, 140.0)
    line = coast.line
    assert line[40:44].mean() < 23.4, "sand lies to the west of it"
    assert line[50:66].max() > 24.1, "and is missing beyond its lee"
    assert abs(np.diff(line[8:36])).max() < 0.5, "without teeth of the size of cells"


def test_nothing_happens_without_sea_on_protected_ground_or_where_the_sea_is_calm() -> None:
    ground = in_balance(10.0, 24, 20)
    dry = Coast(ground).run(3, sea_level=-100.0)
    np.testing.assert_array_equal(dry.ground, Coast(ground).ground)
    rates = np.ones((24, 20, 6), np.float32)
    rates[..., 5] = 0.0
    kept = Coast(ground).run(3, 140.0, rates=rates, wear=5.0)
    np.testing.assert_array_equal(kept.ground, Coast(ground).ground)


def test_where_the_shore_shuts_the_sea_in_its_water_stays() -> None:
    ground = in_balance(14.0, 28, 24)
    ground[16:22, 8:14] = -1.0
    ground[14:16, 10] = -1.0  # a narrow inlet
    coast = Coast(ground).run(1)
    assert coast.water.max() == 0.0
    coast.sediment[14:16, 9:12] += 3.0
    coast.ground[...] = coast.bedrock + coast.sediment
    coast.run(1)
    assert coast.totals is not None and coast.totals.shut_in == coast.water.sum() > 30.0
    lagoon = coast.water > 0.0
    assert (coast.level[lagoon] == 0.0).all() and lagoon[17:21, 9:13].all()


@pytest.mark.parametrize("shape", [(8, 8), (8, 41), (33, 9)])
def test_small_and_narrow_maps(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    ground = 3.0 * rng.standard_normal(shape)
    coast = Coast(ground, 2.0)
    before = coast.sediment.sum() + coast.bedrock.sum()
    coast.run(20, 215.0, wear=3.0, fines=0.2, every=3)
    after = coast.sediment.sum() + coast.bedrock.sum() + coast.went - coast.came
    assert after == pytest.approx(before, rel=1e-12) and np.isfinite(coast.ground).all()
    assert not np.array_equal(coast.ground, ground)


def test_a_land_in_a_mirror_has_the_same_fate() -> None:
    rng = np.random.default_rng(8)
    bumps = rng.standard_normal((5, 8)).repeat(8, axis=0).repeat(8, axis=1)
    ground = in_balance(20.0, 40, 64) + bumps
    for mirrored, towards in ((ground[:, ::-1], 220.0), (ground[::-1], 40.0), (ground.T, 310.0 - 180.0)):
        one = Coast(ground).run(8, 140.0, wear=1.0)
        other = Coast(np.ascontiguousarray(mirrored)).run(8, towards, wear=1.0)
        back = {(40, 64): other.ground[:, ::-1] if towards == 220.0 else other.ground[::-1], (64, 40): other.ground.T}
        np.testing.assert_allclose(back[other.ground.shape], one.ground, atol=1e-6)


def test_threads_do_not_change_a_bit() -> None:
    ground = in_balance(20.0, 40, 64) + np.random.default_rng(8).standard_normal((40, 64))
    found: list[Any] = []
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    for threads in (1, available):
        numba.set_num_threads(threads)
        found.append(Coast(ground).run(5, 120.0, wear=1.0).ground)
    np.testing.assert_array_equal(*found)


def test_a_value_that_is_no_number_is_told() -> None:
    ground = in_balance(10.0, 24, 20)
    coast = Coast(ground)
    coast.ground[3, 4] = np.nan
    find_swell(coast.ground, np.zeros((24, 20), np.bool_), SwellParameters(SOUTH, 0.0, PERIOD, 0.0, 3.0), *coast.swell)
    totals = work(
        coast.bedrock, coast.sediment, coast.ground, one_kind(coast.sediment), CELL, np.zeros((24, 20), np.uint8),
        (coast.water, coast.level), coast.swell, coast.notch, coast.power, coast.drift,
        CoastParameters(0.0, HEIGHT, PERIOD, 1.0, 0.0, 0.0, PROFILE, 0.2, 1.0, 1.0),
    )  # fmt: skip
    assert (totals.failed_row, totals.failed_column) == (3, 4)


def test_the_swell_turns_to_shallow_water_and_is_weak_behind_land() -> None:
    ground = np.full((64, 64), -60.0)
    ground[28:36, 20:44] = 5.0  # an island
    south, east = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    find_swell(ground, ground < 0.0, SwellParameters(SOUTH, 60.0, PERIOD, 0.0, 3.0), south, east)
    assert south[4, 32] == pytest.approx(1.0, abs=1e-3) and abs(east[4, 32]) < 1e-3
    assert (south[30, 22:40] == 0.0).all(), "none on land"
    assert 0.0 < south[38, 32] < 0.3 < south[60, 32] < south[38, 4], "weak in its lee, and less so farther on"
    assert east[40, 20] > 0.05 and east[40, 43] < -0.05, "and from both sides there"
    slope = np.linspace(-60.0, -3.1, 64)[None, :] * np.ones((64, 1))
    find_swell(slope, slope < 0.0, SwellParameters(SOUTH, 0.0, PERIOD, 0.0, 3.0), south, east)
    assert east[60, 50] > 0.1 and abs(east[60, 10]) < 0.02, "towards the shallow side in the east"
    np.testing.assert_allclose(np.hypot(south, east), 1.0, atol=1e-3)


def test_a_delta_is_bent_by_the_drift() -> None:
    """Bhattacharya & Giosan (2003): it holds up what drifts, and so grows updrift of its mouth and not beyond."""

    def grown(towards: float) -> tuple[float, float]:
        """How far the shore has gone out to the west and to the east of a mouth that brings sand."""
        ground = in_balance(24.0, 40, 96)
        coast, still = Coast(ground), Coast(ground)
        for _ in range(240):
            for column, depth in zip(range(45, 51), (0.05, 0.1, 0.15, 0.15, 0.1, 0.05), strict=True):
                coast.sediment[int(coast.line[column]), column] += depth
            coast.ground[...] = coast.bedrock + coast.sediment
            coast.run(1, towards)
            still.run(1, towards)
        more = still.line - coast.line
        return float(more[20:45].sum()), float(more[51:76].sum())

    west, east = grown(SOUTH)
    assert west == pytest.approx(east, rel=0.05) and west > 1.0
    west, east = grown(SOUTH - 40.0)  # to the east
    assert west > 1.0 and east < 0.5 * west


def behind_an_island(gap: int) -> Coast:
    """A straight coast of sand in row 28, with an island of rock that many cells before it, 16 long and 5 wide."""
    coast = Coast(in_balance(28.0, 40, 64))
    rows = slice(23 - gap, 28 - gap)
    coast.bedrock[rows, 24:40], coast.sediment[rows, 24:40] = 20.0, 0.0
    coast.ground[...] = coast.bedrock + coast.sediment
    return coast


def test_in_the_lee_of_an_island_drift_converges_and_a_salient_grows() -> None:
    """Waves turn into the shadow from both sides (Ashton & Murray 2001), and move sand there that they leave."""
    coast, still = behind_an_island(8), behind_an_island(8)
    coast.run(1, spread=60.0)
    south, east = (way[27] for way in coast.swell)
    assert south[30:34].max() < 0.5 * south[4:10].min(), "waves are low there"
    assert east[20:28].min() > 0.0 > east[36:44].max()
    grown = []
    for _ in range(3):
        coast.run(200, spread=60.0, seconds=600.0)
        more = (coast.ground - still.ground)[20:30]
        grown.append(float(more[:, 24:40].sum()))
    assert 2.0 < grown[0] < grown[1] < grown[2]
    assert more[:, 8:20].sum() < 0.0 and more[:, 44:56].sum() < 0.0, "out of what lies beside it"


def test_a_salient_joins_an_island_that_is_close_enough() -> None:
    """A tombolo; a salient stays short of an island that is farther away (Sanderson & Eliot 1996)."""

    def is_joined(coast: Coast, gap: int) -> bool:
        """Whether dry land leads from the island to the land behind."""
        lands, _ = components(coast.ground > 0.0)
        return bool(lands[26 - gap, 32] == lands[36, 32])

    near, far = behind_an_island(2), behind_an_island(8)
    assert not is_joined(near, 2)
    assert is_joined(near.run(3500, spread=60.0, seconds=600.0), 2)
    assert not is_joined(far.run(1500, spread=60.0, seconds=600.0), 8)
    assert near.sediment.sum() + near.went - near.came == pytest.approx(behind_an_island(2).sediment.sum(), rel=1e-12)


def test_a_spit_grows_straight_on_where_the_coast_bends_away() -> None:
    """And none where waves come the other way."""
    row, column = np.mgrid[:48, :80]
    west = np.where(row < 16, np.hypot(16 - row, np.maximum(column - 39, 0)), column - 39.0)
    inland = np.where(column < 40, np.where(row < 16, row - 16.0, np.minimum(40 - column, row - 15)), -west)
    inland = np.where(
        row >= 40, np.maximum(inland, row - 39.0), np.where(inland > 0, inland, np.maximum(inland, row - 40.0))
    )
    away = -CELL * inland
    ground = np.where(away > 0.0, -np.minimum(PROFILE * np.maximum(away, 0.0) ** (2 / 3), 30.0), -0.1 * away)
    before = np.minimum(ground, HEIGHT)

    def beyond(towards: float, cycles: int) -> NDArray[np.int64]:
        """In how many rows each column beyond the bend has land that was sea."""
        coast = Coast(before.copy()).run(cycles, towards, spread=40.0, seconds=600.0)
        return np.asarray(((coast.ground > 0.0) & (before <= 0.0))[:30, 40:].sum(axis=0))

    short, long = beyond(SOUTH - 35.0, 250), beyond(SOUTH - 35.0, 800)
    assert 0 < np.count_nonzero(short) < np.count_nonzero(long)
    assert np.count_nonzero(long) >= 4 and long.max() <= 4, "longer than it is wide"
    assert np.count_nonzero(beyond(SOUTH + 35.0, 800)) <= 1
