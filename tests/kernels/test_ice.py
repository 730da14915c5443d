"""Ice: against Halfar's dome and EISMINT, exact in mass, stable in long steps, and what it makes of a valley."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest

from kernels.ice import (
    FASTEST,
    GRAVITY,
    ICE_DENSITY,
    SECONDS_PER_YEAR,
    Glaciers,
    IceParameters,
    IceTotals,
    _find_speed,
    law_of,
)
from kernels.materials import one_kind
from kernels.parameters import exact
from kernels.scratch import Scratch
from tests.kernels.terrain import hills

Map = np.ndarray[Any, np.dtype[np.float64]]


def wanted(**changed: Any) -> IceParameters:
    usual = IceParameters(
        years=10.0, most_steps=20, creep=2.4e-24, sliding=5.7e-20, line=1200.0, gradient=0.007, cap=2.0,
        sea_level=-math.inf, open_edges=False, wear=0.0, exponent=1.0, wear_years=10.0,
    )  # fmt: skip
    return exact(usual._replace(**changed))


class Glaciated:
    """A land with ice, as the process has it."""

    def __init__(self, rock: Map, cell_size: float = 50.0, ice: Map | None = None) -> None:
        self.rock, self.cell_size = rock.copy(), cell_size
        self.sediment, self.debris = np.zeros(rock.shape), np.zeros(rock.shape)
        self.ice = np.zeros(rock.shape) if ice is None else ice.copy()
        self.speed = np.zeros(rock.shape, np.float32)
        self.cycles = 0
        self.lost = 0.0  # debris over the edge

    def advance(self, parameters: IceParameters) -> IceTotals:
        glaciers = Glaciers(self.ice, self.rock + self.sediment, self.cell_size, parameters, Scratch())
        totals = glaciers.run(parameters, self.speed, rows_first=self.cycles % 2 == 0)
        self.lost += glaciers.carry(self.debris)
        ground = self.rock + self.sediment + self.ice
        materials = one_kind(self.sediment)._replace(burden=self.ice.reshape(-1))
        glaciers.wear(self.rock, self.sediment, ground, self.debris, materials, parameters)
        np.testing.assert_array_equal(ground, (self.rock + self.sediment) + self.ice)
        self.cycles += 1
        return totals

    def bits(self) -> tuple[bytes, ...]:
        return tuple(part.tobytes() for part in (self.rock, self.sediment, self.debris, self.ice, self.speed))


def mountains(rows: int = 48, columns: int = 72) -> Map:
    return hills(rows, columns, 2200.0)


def test_halfars_dome() -> None:
    """Halfar (1983): the spreading of a dome on level ground has a closed solution."""
    creep, height, radius, size, cells = 1e-16 / SECONDS_PER_YEAR, 3600.0, 600e3, 25e3, 61
    begin = (7.0 / 4.0) ** 3 * radius**4 / height**7 / (18.0 * 0.4 * 1e-16 * (ICE_DENSITY * GRAVITY) ** 3)
    place = (np.arange(cells) - cells // 2) * size
    distance = np.hypot(*np.meshgrid(place, place))

    def dome(time: float) -> Map:
        reach = (begin / time) ** (1.0 / 18.0) * distance / radius
        return height * (begin / time) ** (1.0 / 9.0) * np.maximum(1.0 - reach ** (4.0 / 3.0), 0.0) ** (3.0 / 7.0)

    ice = dome(begin)
    before = ice.sum()
    glaciers = Glaciers(ice, np.zeros(ice.shape), size, wanted(creep=creep, sliding=0.0), Scratch())
    for step in range(50):
        glaciers.flow(9.0 * begin / 50.0, rows_first=step % 2 == 0)
    expected = dome(10.0 * begin)
    middle = cells // 2
    assert ice[middle, middle] == pytest.approx(expected[middle, middle], rel=0.02)
    for line, right in ((ice[middle], expected[middle]), (ice[:, middle], expected[:, middle])):
        assert abs(int((line > 0.0).sum()) - int((right > 0.0).sum())) <= 4  # two cells at each end
    assert ice.sum() == pytest.approx(before, rel=1e-12)


def test_fixed_margin_of_eismint() -> None:
    """Huybrechts & Payne (1996): 31 × 31 cells of 50 km, 0.3 m of ice a year, and none at the edge."""
    ice, creep = np.zeros((31, 31)), 1e-16 / SECONDS_PER_YEAR
    parameters = wanted(creep=creep * (910.0 / ICE_DENSITY) ** 3, sliding=0.0)  # of its density
    glaciers = Glaciers(ice, np.zeros(ice.shape), 50e3, parameters, Scratch())
    for step in range(500):
        ice += 15.0
        ice[0] = ice[-1] = ice[:, 0] = ice[:, -1] = 0.0
        glaciers.flow(50.0, rows_first=step % 2 == 0)
    ice[0] = ice[-1] = ice[:, 0] = ice[:, -1] = 0.0
    assert ice[15, 15] == pytest.approx(3419.9, rel=0.02)
    np.testing.assert_allclose(ice, ice[::-1, ::-1], rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("years", [0.5, 10.0, 400.0])
def test_nothing_is_lost_in_steps_of_any_length_on_steep_beds(years: float) -> None:
    land = Glaciated(mountains(), ice=hills(48, 72, 100.0, seed=3))
    ground = land.rock.sum()
    for _ in range(6):
        before = land.ice.sum()
        totals = land.advance(wanted(years=years, most_steps=5, wear=1e-3, open_edges=True))
        expected = before + totals.fallen - totals.melted - totals.over_edge - totals.calved
        assert land.ice.sum() == pytest.approx(expected, rel=1e-12)
        assert land.ice.min() >= 0.0 and land.debris.min() >= 0.0
    assert totals.over_edge > 0.0
    assert land.rock.sum() + land.sediment.sum() + land.debris.sum() + land.lost == pytest.approx(ground, rel=1e-12)
    assert land.rock.sum() < ground and land.lost > 0.0


def test_long_steps_come_to_as_much_ice() -> None:
    found = []
    for years in (0.1, 1.0):
        ice, parameters = np.zeros((48, 72)), wanted()
        glaciers = Glaciers(ice, mountains(), 50.0, parameters, Scratch())
        for step in range(round(60.0 / years)):
            glaciers.exchange(parameters, years, np.zeros((48, 3)))
            glaciers.flow(years, rows_first=step % 2 == 0)
        found.append(ice)
    short, long = found
    assert short.sum() > 1e4
    assert long.sum() == pytest.approx(short.sum(), rel=0.1)


def test_turned_land_has_turned_ice() -> None:
    land, turned = mountains(), np.ascontiguousarray(mountains().T)
    one, other = Glaciated(land), Glaciated(turned)
    other.cycles = 1
    for _ in range(5):
        one.advance(wanted(most_steps=2))
        other.advance(wanted(most_steps=2))
    assert one.ice.max() > 30.0
    np.testing.assert_allclose(one.ice.T, other.ice, rtol=1e-9, atol=1e-9)


def test_threads_change_no_bit() -> None:
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    found = set()
    for threads in sorted({1, available}):
        numba.set_num_threads(threads)
        land = Glaciated(mountains(100, 130))
        for _ in range(4):
            land.advance(wanted(wear=1e-3, open_edges=True))
        found.add(land.bits())
    numba.set_num_threads(available)
    assert len(found) == 1


def test_ice_that_would_swim_calves() -> None:
    bed = np.tile(np.linspace(600.0, -1400.0, 100), (12, 1))
    land = Glaciated(bed)
    parameters = wanted(line=0.0, sea_level=0.0, cap=1.0)
    calved = sum(land.advance(parameters).calved for _ in range(40))
    assert calved > 0.0
    there = land.ice > 0.0
    swims = there & (land.ice * 0.917 < -bed)
    assert swims.sum(axis=1).max() <= 1, "what has flowed there since"
    assert there[:, bed[0] > 300.0].all() and not there[:, bed[0] < -1000.0].any()


def valley(rows: int = 96, columns: int = 41, size: float = 50.0) -> Map:
    """A V: walls of 0.6 on both sides of a floor that falls by 0.12."""
    across = np.abs(np.arange(columns) - columns // 2) * size
    return 0.6 * across[None, :] + 0.12 * size * np.arange(rows, 0, -1)[:, None]


def exponent_of_profile(heights: Map, size: float = 50.0) -> float:
    """b of the power law |x|^b that fits a cross section with its lowest point in the middle."""
    middle = len(heights) // 2
    distance = size * np.abs(np.arange(len(heights)) - middle)
    near = (distance > 0.0) & (distance < 0.5 * distance.max())
    rise = heights[near] - heights[middle]
    return float(np.polyfit(np.log(distance[near]), np.log(np.maximum(rise, 1.0)), 1)[0])


def carved(cycles: int, wear: float = 5e-3) -> Glaciated:
    land = Glaciated(valley())
    for _ in range(cycles):
        land.advance(wanted(line=350.0, gradient=0.006, wear=wear, open_edges=True, most_steps=8))
    return land


def test_a_valley_of_a_river_becomes_one_of_a_glacier() -> None:
    land = carved(40)
    exponents = [exponent_of_profile(land.rock[row]) for row in range(25, 45)]
    assert exponent_of_profile(valley()[30]) == pytest.approx(1.0, abs=0.01)
    assert np.mean(exponents) > 1.05


@pytest.mark.nightly
def test_valleys_come_to_the_shape_of_those_of_glaciers() -> None:
    land = carved(400, wear=2e-3)
    exponents = [exponent_of_profile(land.rock[row]) for row in range(25, 45)]
    assert 1.6 <= np.mean(exponents) <= 2.2


def test_a_slab_on_a_slope_is_as_fast_as_the_law_says() -> None:
    bed = np.tile(0.1 * 50.0 * np.arange(40, 0, -1)[:, None], (1, 20))
    ice, speed = np.full(bed.shape, 100.0), np.zeros(bed.shape, np.float32)
    parameters = wanted(years=0.01, line=-1e6, cap=0.0, open_edges=True)
    totals = Glaciers(ice, bed, 50.0, parameters, Scratch()).run(parameters, speed, rows_first=True)
    law = law_of(parameters, 50.0)
    assert speed[20, 10] == pytest.approx((law.creep * 100.0**4 + law.sliding * 100.0**2) * 0.1**3, rel=0.01)
    assert totals.fastest == pytest.approx(float(speed.max()))
    assert totals.over_edge > 0.0


def test_ice_that_has_melted_was_not_faster_than_any_glacier() -> None:
    ice, speed, fastest = np.full((6, 7), 1e-3), np.zeros((6, 7), np.float32), np.zeros(6)
    passed = np.full((6, 7), 400.0)
    _find_speed(ice, passed, passed, np.ones((1, 1), np.bool_), 50.0 / 0.01, speed, fastest)
    assert (speed == FASTEST).all() and (fastest == FASTEST).all()


def test_debris_is_laid_where_ice_ends() -> None:
    land = carved(80)
    assert land.sediment.sum() > 0.0
    ends = int(np.flatnonzero(land.ice[:, 20] > 1.0)[-1])
    laid = land.sediment.sum(axis=1)
    assert laid[ends - 6 : ends + 7].sum() > 0.5 * laid.sum(), "a moraine"
    assert laid[: ends // 2].sum() < 0.1 * laid.sum()


def test_frozen_ice_wears_nothing() -> None:
    land = Glaciated(mountains())
    for _ in range(4):
        land.advance(wanted(sliding=0.0, wear=1e-3))
    assert land.ice.max() > 10.0
    np.testing.assert_array_equal(land.rock, mountains())
