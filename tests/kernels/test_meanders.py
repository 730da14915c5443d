"""Centrelines that migrate, beside a plain transcription and what is known of bends, and what the ground has of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.hydraulic_geometry import bankfull_depth, channel_width, discharge_of_width
from kernels.materials import one_kind
from kernels.meanders import (
    BED,
    EAST,
    SOUTH,
    Meandered,
    MeanderParameters,
    centreline,
    curvatures,
    meander,
    migration,
    sinuosity,
    upstream_means,
)
from tests.nets.cases import tried

Numbers = NDArray[np.float64]

OF_ONE = 7.2  # metres: the width of a river of 1 m³/s
USUAL = MeanderParameters(
    years=2.0,
    river_width=OF_ONE,
    migration=2.0,
    friction=0.015,
    rock_erodibility=0.05,
    bars=0.5,
    flood_deposition=0.002,
    flood_reach=3.0,
    bed_diffusivity=2000.0,
)
CELL, FALL, WIDTH = 10.0, 0.003, 25.0


class Plain:
    """A plain that falls to the east, with a river through its middle, and what has left it."""

    def __init__(self, rows: int = 80, columns: int = 120, seed: int = 1, rough: float = 0.3, **parameters: float):
        draw = np.random.default_rng(seed)
        self.level = -FALL * CELL * np.arange(columns)
        self.loose = np.full((rows, columns), 20.0)
        self.rock = np.zeros((rows, columns)) + self.level + draw.normal(0.0, 0.1, (rows, columns)) - 20.0
        self.ground = self.rock + self.loose
        self.begin = self.mass
        course = rows // 2 + np.cumsum(draw.normal(0.0, rough, columns))
        self.river = centreline(
            0, course, np.arange(columns), self.level, np.full(columns, discharge_of_width(WIDTH, OF_ONE)), CELL, OF_ONE
        )
        self.parameters = USUAL._replace(**parameters)  # type: ignore[arg-type]
        self.left, self.bends, self.years, self.rock_worn = 0.0, 0, 0.0, 0.0

    @property
    def mass(self) -> float:
        return float(self.rock.sum() + self.loose.sum())

    def step(self, **others: Any) -> Meandered:
        done = meander(
            self.rock, self.loose, self.ground, one_kind(self.loose), CELL, self.river, self.parameters,
            begin=self.years, fresh=self.years == 0.0, **others,
        )  # fmt: skip
        self.river = done.centrelines
        self.left += float(done.loads.sum())
        self.bends += done.bends
        self.years += self.parameters.years
        self.rock_worn += sum(done.moved.from_rock)
        return done

    def run(self, steps: int, **others: Any) -> Plain:
        for _ in range(steps):
            self.step(**others)
        return self


def sine_generated(swing: float, wavelength: float = 12.0 * WIDTH, waves: int = 6) -> tuple[Numbers, Numbers]:
    """A line whose direction is a sine of the way along it (Langbein & Leopold 1966), running east."""
    along = np.arange(0.0, waves * wavelength, 0.5 * WIDTH)
    direction = swing * np.sin(2.0 * math.pi * along / wavelength)
    step = 0.5 * WIDTH
    return np.cumsum(step * np.sin(direction)), np.cumsum(step * np.cos(direction))


def moved(south: Numbers, east: Numbers) -> Numbers:
    width = np.full(len(south), WIDTH)
    return migration(south, east, width, bankfull_depth(width), USUAL.friction, 0.0)


# Lines.


def test_the_curvature_of_a_circle() -> None:
    angle = np.linspace(0.0, 3.0, 50)
    found = curvatures(100.0 * np.cos(angle), 100.0 * np.sin(angle))
    assert found[1:-1] == pytest.approx(0.01)
    assert curvatures(100.0 * np.sin(angle), 100.0 * np.cos(angle))[1:-1] == pytest.approx(-0.01)


@given(st.integers(2, 40), st.integers(0, 10_000))
@tried(50)
def test_the_mean_upstream_is_that_of_a_plain_transcription(count: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    lengths, alpha, values = draw.uniform(1.0, 50.0, count), draw.uniform(0.001, 0.1, count), draw.normal(size=count)
    above = float(draw.normal())
    depths = np.append(0.0, np.cumsum((lengths * alpha)[:-1]))
    plain = np.empty(count)
    for i in range(count):
        plain[i] = above * math.exp(-depths[i])
        for j in range(i):
            ends = values[j] * math.exp(depths[j] - depths[i]) + values[j + 1] * math.exp(depths[j + 1] - depths[i])
            plain[i] += 0.5 * lengths[j] * alpha[j] * ends
    assert upstream_means(lengths, alpha, values, above) == pytest.approx(plain, rel=1e-11, abs=1e-12)


def test_a_straight_line_stays_straight() -> None:
    along = np.arange(60) * 12.5
    assert np.abs(moved(0.6 * along, 0.8 * along)).max() < 1e-12


def test_a_bend_grows_and_drifts_down_the_valley() -> None:
    south, east = sine_generated(0.5)
    speed = moved(south, east)
    way = np.gradient(south), np.gradient(east)
    length = np.hypot(*way)
    shift = -speed * way[1] / length  # southward: of the way to its left
    middle = slice(50, -50)  # far from the ends
    outward = south - south[middle].mean()
    # In phase with the line it grows, a quarter behind it drifts downstream.
    assert float((shift * outward)[middle].sum()) > 0.0
    downstream = -np.gradient(south, east)
    assert float((shift * downstream)[middle].sum()) > 0.0


def test_short_bends_fade_and_long_ones_grow() -> None:
    growth = []
    for wavelength in (3.0, 12.0):
        south, east = sine_generated(0.1, wavelength * WIDTH, 10)
        way = np.gradient(south), np.gradient(east)
        shift = -moved(south, east) * way[1] / np.hypot(*way)
        growth.append(float((shift * (south - south.mean()))[20:-20].sum()))
    assert growth[0] < 0.0 < growth[1]


def test_a_mirrored_line_moves_as_in_a_mirror() -> None:
    south, east = sine_generated(0.9)
    assert moved(-south, east) == pytest.approx(-moved(south, east), rel=1e-12, abs=1e-15)


def test_hydraulic_geometry() -> None:
    assert channel_width(discharge_of_width(30.0, 7.2), 7.2) == pytest.approx(30.0)
    assert channel_width(400.0, 7.2) == pytest.approx(10.0 * channel_width(4.0, 7.2)) == pytest.approx(144.0)
    # The curves of Bieger et al. (2015): a catchment of 100 km² has a channel 13.7 m wide and 0.80 m deep.
    assert bankfull_depth(2.70 * 100.0**0.352) == pytest.approx(0.30 * 100.0**0.213, rel=1e-3)


# The ground.


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 3))])
def test_a_river_becomes_sinuous_and_cuts_off_its_bends(seed: int) -> None:
    plain = Plain(80, 160, seed).run(1)
    assert sinuosity(plain.river[:, SOUTH], plain.river[:, EAST]) < 1.1
    ends = plain.river[[0, -1], SOUTH : EAST + 1]
    while not plain.bends and plain.years < 1500.0:
        plain.step(seed=seed)
    assert plain.bends > 0
    assert sinuosity(plain.river[:, SOUTH], plain.river[:, EAST]) > 1.5
    assert (plain.river[[0, -1], SOUTH : EAST + 1] == ends).all()


@pytest.mark.slow
def test_what_is_worn_is_laid_down_or_leaves() -> None:
    plain = Plain().run(400)
    assert plain.bends > 0
    assert plain.mass + plain.left == pytest.approx(plain.begin, rel=1e-12)
    assert (plain.loose >= 0.0).all()
    assert np.array_equal(plain.ground, plain.rock + plain.loose)


def test_the_bed_falls_and_the_channel_lies_on_it() -> None:
    plain = Plain().run(300)
    bed = plain.river[:, BED]
    assert (np.diff(bed) <= 0.0).all()
    cells = (plain.river[:, SOUTH] // CELL).astype(int), (plain.river[:, EAST] // CELL).astype(int)
    depth = bankfull_depth(WIDTH)
    assert np.median(np.abs(plain.ground[cells] - bed)) < 0.05 * depth
    assert (plain.ground[cells] - bed < depth).all()
    # Bars grow up to the flood plain and no higher.
    assert (plain.ground - plain.level).max() < 0.6


def test_a_bend_that_is_cut_off_stays_open() -> None:
    plain = Plain()
    while not len((done := plain.step()).cut_off):
        assert plain.years < 1500.0
    depth = done.levels - plain.ground.reshape(-1)[done.cut_off]
    assert np.median(depth) > 0.5 * bankfull_depth(WIDTH)
    before = plain.ground.reshape(-1)[done.cut_off].mean()
    plain.parameters = plain.parameters._replace(migration=0.0, flood_deposition=0.02)
    # What floods lay down there must come from somewhere: a river that has much to carry
    plain.loose += 0.5
    plain.ground += 0.5
    plain.run(20)
    assert plain.ground.reshape(-1)[done.cut_off].mean() > before + 0.5


@pytest.mark.slow
def test_high_banks_and_rock_give_way_more_slowly() -> None:
    def widened(**changes: float) -> float:
        plain = Plain(rough=0.6)
        plain.loose[:] = changes.get("loose", 20.0)
        plain.rock[:] = plain.level + changes.get("height", 0.0) - plain.loose
        plain.ground[:] = plain.rock + plain.loose
        begun = sinuosity(plain.river[:, SOUTH], plain.river[:, EAST])
        plain.run(100)
        return sinuosity(plain.river[:, SOUTH], plain.river[:, EAST]) - begun

    assert widened() > 3.0 * widened(height=5.0) > 0.0
    assert widened() > 3.0 * widened(loose=0.0) > 0.0


def test_protected_ground_keeps_its_bits() -> None:
    plain = Plain()
    rates = np.ones((*plain.ground.shape, 6), np.float32)
    rates[30:40, 40:80, 5] = 0.0
    before = plain.ground[30:40, 40:80].tobytes(), plain.rock[30:40, 40:80].tobytes()
    plain.run(200, rates=rates)
    assert (plain.ground[30:40, 40:80].tobytes(), plain.rock[30:40, 40:80].tobytes()) == before
    assert plain.mass + plain.left == pytest.approx(plain.begin, rel=1e-12)


def test_a_narrow_channel_takes_only_a_part_of_its_cells() -> None:
    plain = Plain(40, 60, rough=0.0, migration=0.0, flood_deposition=0.0)
    discharge = np.full(60, discharge_of_width(4.0, OF_ONE))
    plain.river = centreline(0, np.full(60, 20.0), np.arange(60), plain.level, discharge, CELL, OF_ONE)
    before = plain.ground.copy()
    plain.run(1)
    cut = before - plain.ground
    assert cut[20, 10:50].mean() == pytest.approx(0.4 * bankfull_depth(4.0), rel=0.3)
    assert np.count_nonzero(cut[:, 30]) == 1


@given(st.integers(0, 10_000), st.floats(0.0, 40.0), st.floats(0.1, 200.0), st.floats(3.0, 120.0))
@tried(10)
def test_mass_is_kept_whatever_the_river_is_like(seed: int, migration: float, years: float, width: float) -> None:
    plain = Plain(40, 70, seed, migration=migration, years=years, flood_deposition=0.1)
    discharge = np.linspace(0.5, 1.0, 70) * discharge_of_width(width, OF_ONE)
    plain.river = centreline(0, np.full(70, 20.0), np.arange(70), plain.level, discharge, CELL, OF_ONE)
    plain.run(4)
    assert plain.mass + plain.left == pytest.approx(plain.begin, rel=1e-12)
    assert np.isfinite(plain.ground).all()
    assert ((plain.river[:, SOUTH] >= 0.0) & (plain.river[:, SOUTH] <= 400.0)).all()
