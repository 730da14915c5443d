"""Lakes are level, hold what flowed to them and spill at their outlet, and nothing is lost."""

from __future__ import annotations

import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import richdem
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage
from skimage.morphology import reconstruction

from kernels.depressions import OPEN, SEA, WALL
from kernels.pools import DRY, LAKE, SEA_WATER, PoolTotals, Spills, settle
from tests.kernels import reference_pools
from tests.kernels.parameters import pool_parameters
from tests.kernels.terrain import hills
from tests.nets.cases import covered, tried

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (100, 81)]
EIGHT = np.ones((3, 3), int)


class Lakes:
    """A map after its water has settled, with all that holds for every map checked."""

    water: Layer
    level: Layer
    standing: NDArray[np.uint8]
    totals: PoolTotals
    spills: Spills

    def __init__(self, ground: Layer, water: Layer | float, at_once: bool = True, **parameters: Any) -> None:
        self.ground = np.ascontiguousarray(ground, float)
        before = np.array(np.broadcast_to(water, ground.shape), float)
        self.water = before.copy()
        self.level = np.full(ground.shape, np.nan)
        self.standing = np.full(ground.shape, 255, np.uint8)
        self.parameters = pool_parameters(**{"edges": OPEN, "most_spilled": 0.0 if at_once else math.inf, **parameters})
        self.totals, self.spills = settle(self.ground, self.water, self.level, self.standing, self.parameters)
        assert np.array_equal(self.ground, ground)
        assert (self.totals.failed_row, self.totals.failed_column) == (-1, -1)
        self._check(before)

    def again(self, **parameters: Any) -> Lakes:
        return Lakes(self.ground, self.water, **{**self.parameters._asdict(), **parameters})

    @property
    def stored(self) -> float:
        return math.fsum(self.water.flat)

    def _check(self, before: Layer) -> None:
        ground, water, level, standing = self.ground, self.water, self.level, self.standing
        parameters, totals, spills = self.parameters, self.totals, self.spills
        assert min(totals[:4]) >= 0.0
        lost = math.fsum(totals[:4])
        assert self.stored + lost == pytest.approx(math.fsum(before.flat), rel=1e-12, abs=1e-300)
        assert (water >= 0.0).all()

        # What spilled lies beyond sills, and these are as high as the surface behind them.
        assert spills.sill.dtype == spills.beyond.dtype == np.int32
        assert len(spills.sill) == len(spills.beyond) == len(spills.volume)
        assert math.fsum(spills.volume) <= parameters.most_spilled * (1.0 + 1e-12)
        for sill, beyond, volume in zip(spills.sill, spills.beyond, spills.volume, strict=True):
            assert volume > 0.0
            rows, columns = np.unravel_index([sill, beyond], ground.shape)
            assert max(abs(rows[1] - rows[0]), abs(columns[1] - columns[0])) == 1
            assert ground.flat[beyond] <= ground.flat[sill]
            assert water.flat[beyond] >= volume

        # Lakes are level, and as deep as there is water; but for rounding all of it stands in lakes.
        wet = standing == LAKE
        sea = standing == SEA_WATER
        assert set(np.unique(standing)) <= {DRY, LAKE, SEA_WATER}
        assert (level[wet] > ground[wet]).all()
        assert np.array_equal(level[standing == DRY], ground[standing == DRY])
        assert (level[sea] == parameters.sea_level).all()
        assert (water[sea] == 0.0).all()
        lakes, count = ndimage.label(wet, EIGHT)
        for lake, inside in enumerate(ndimage.find_objects(lakes), 1):
            assert len(np.unique(level[inside][lakes[inside] == lake])) == 1
        expected = np.where(wet, level - ground, 0.0)
        np.add.at(expected.reshape(-1), spills.beyond, spills.volume)
        grain = 4e-16 * max(np.abs(level).max(), np.abs(ground).max())
        np.testing.assert_allclose(water, expected, rtol=1e-12, atol=ground.size * grain + 4e-15 * self.stored)
        # No lake stands higher than dry ground or the sea beside it, nor at an open edge.
        lowest = ndimage.minimum_filter(np.where(sea, -np.inf, level), size=3, mode="nearest")
        assert (lowest[wet] >= level[wet]).all()
        if parameters.edges != WALL:
            edge = np.ones(ground.shape, bool)
            edge[1:-1, 1:-1] = False
            assert not wet[edge].any()
        # Rounding shows in one cell of a lake at most. (Films that are too thin to count lie at the bottom of pits.)
        assert np.count_nonzero(water[wet] != expected[wet]) <= count


def profile(heights: list[float], wall: float = 50.0) -> Layer:
    """A valley with these heights along it, three rows wide with high ground on both sides, open at its two ends."""
    ground = np.full((9, len(heights)), wall)
    ground[4] = heights
    return ground


def ends_high(heights: list[float]) -> list[float]:
    return [40.0, *heights, 40.0]


def drop_at(ground: Layer, *places: tuple[int, int, float]) -> Layer:
    water = np.zeros(ground.shape)
    for row, column, volume in places:
        water[row, column] += volume
    return water


def full(ground: Layer, edges: int, sea_level: float = 0.0) -> Layer:
    """The filled depressions, by scikit-image."""
    seed = np.full(ground.shape, ground.max())
    mask = ground
    if edges == SEA:
        sea = reference_pools.Map(ground, edges, sea_level).sea
        mask = np.where(sea, sea_level, ground)
        seed[sea] = sea_level
    border = np.ones(ground.shape, bool)
    border[1:-1, 1:-1] = False
    seed[border] = mask[border]
    return np.asarray(reconstruction(np.maximum(seed, mask), mask, method="erosion", footprint=EIGHT), float)


# Maps whose answer is known


def test_one_bowl() -> None:
    ground = np.full((9, 9), 10.0)
    ground[3:6, 3:6] = 4.0
    ground[4, 4] = 2.0
    lakes = Lakes(ground, drop_at(ground, (4, 4, 1.5)))
    assert lakes.level[4, 4] == 3.5
    assert (lakes.standing == LAKE).sum() == 1
    lakes = Lakes(ground, drop_at(ground, (3, 5, 2.0 + 9.0)))
    assert (lakes.level[3:6, 3:6] == 5.0).all()
    assert lakes.water[4, 4] == 3.0
    assert (lakes.standing == LAKE).sum() == 9
    assert lakes.totals.over_edge == 0.0
    lakes = Lakes(ground, drop_at(ground, (4, 4, 100.0)))
    assert (lakes.level == 10.0).all()
    assert lakes.stored == 2.0 + 9 * 6.0
    assert lakes.totals.over_edge == 100.0 - 56.0


def test_two_bowls_with_a_saddle() -> None:
    ground = profile(ends_high([20.0, 3.0, 10.0, 5.0, 20.0]))
    first = drop_at(ground, (4, 2, 6.0))
    assert Lakes(ground, first).level[4].tolist() == ends_high([20.0, 9.0, 10.0, 5.0, 20.0])
    # The first one is full, and 2 m spill into the second.
    first = drop_at(ground, (4, 2, 9.0))
    assert Lakes(ground, first).level[4].tolist() == ends_high([20.0, 10.0, 10.0, 7.0, 20.0])
    # Told as a spill, these lie at the foot of the sill, and run into the second by themselves.
    lakes = Lakes(ground, first, at_once=False)
    columns = ground.shape[1]
    assert lakes.spills.sill.tolist() == [4 * columns + 3]
    assert lakes.spills.beyond.tolist() == [4 * columns + 4]
    assert lakes.spills.volume.tolist() == [2.0]
    assert lakes.water[4].tolist() == [0.0, 0.0, 7.0, 0.0, 2.0, 0.0, 0.0]
    assert lakes.standing[4].tolist() == [DRY, DRY, LAKE, DRY, DRY, DRY, DRY]
    again = lakes.again()
    assert again.level[4].tolist() == ends_high([20.0, 10.0, 10.0, 7.0, 20.0])
    assert len(again.spills.sill) == 0
    # Both are full and become one: 7 + 5, and 3 m over all three.
    for at_once in (True, False):
        lakes = Lakes(ground, drop_at(ground, (4, 2, 21.0)), at_once)
        assert lakes.level[4].tolist() == ends_high([20.0, 13.0, 13.0, 13.0, 20.0])
        assert len(lakes.spills.sill) == 0
    # It falls, and is two again.
    lakes = Lakes(ground, lakes.water, evaporation=4.0)
    assert lakes.totals.evaporated == 4.0 + 4.0 + 3.0
    assert lakes.level[4].tolist() == ends_high([20.0, 9.0, 10.0, 9.0, 20.0])


def test_chain_of_three_lakes() -> None:
    ground = profile([40.0, 20.0, 30.0, 10.0, 25.0, 5.0, 15.0, 2.0])
    columns = ground.shape[1]
    spring = drop_at(ground, (4, 1, 100.0))
    lakes = Lakes(ground, spring)
    assert lakes.level[4].tolist() == [40.0, 30.0, 30.0, 25.0, 25.0, 15.0, 15.0, 2.0]
    assert lakes.totals.over_edge == 100.0 - 10.0 - 15.0 - 10.0
    # A cycle for each sill
    lakes = Lakes(ground, spring, at_once=False)
    sills = []
    while len(lakes.spills.sill) > 0:
        assert (lakes.spills.beyond == lakes.spills.sill + 1).all()
        sills += (lakes.spills.sill - 4 * columns).tolist()
        lakes = lakes.again()
    assert sills == [2, 4, 6]
    assert lakes.totals.over_edge == 65.0
    assert lakes.level[4].tolist() == [40.0, 30.0, 30.0, 25.0, 25.0, 15.0, 15.0, 2.0]
    # Cut the second sill: that lake drains as far, into the third and on.
    ground[4, 4] = 18.0
    lakes = Lakes(ground, lakes.water)
    assert lakes.level[4].tolist() == [40.0, 30.0, 30.0, 18.0, 18.0, 15.0, 15.0, 2.0]
    assert lakes.totals.over_edge == 7.0


def test_nested_bowls() -> None:
    ground = np.full((17, 17), 30.0)
    ground[2:15, 2:15] = 20.0  # a wide bowl, with two in it, of which one has two in it again
    ground[4:13, 4:11] = 15.0
    ground[4:13, 11] = 20.0
    ground[4:13, 12] = 12.0
    ground[6, 6] = ground[10, 8] = 10.0
    for volume, surface in ((3.0, 13.0), (5.0, 15.0), (7.0, 15.0), (10.0, 15.0), (10.0 + 6.3, 15.1)):
        lakes = Lakes(ground, drop_at(ground, (6, 6, volume)))
        assert lakes.level[6, 6] == pytest.approx(surface, abs=1e-13)
    lakes = Lakes(ground, drop_at(ground, (6, 6, 10.0 + 315.0 + 36.0)))
    assert (lakes.level[4:13, 4:11] == 20.0).all()
    assert (lakes.level[4:13, 12] == 16.0).all()
    lakes = Lakes(ground, drop_at(ground, (6, 6, 10.0 + 315.0 + 72.0 + 169.0)))
    assert (lakes.level[2:15, 2:15] == 21.0).all()


def test_bowl_on_the_edge() -> None:
    ground = np.full((9, 9), 10.0)
    ground[0:3, 3:6] = 2.0
    ground[3, 4] = 1.0
    lakes = Lakes(ground, 1.0)
    assert (lakes.level == full(ground, OPEN)).all()
    assert lakes.stored == 1.0
    assert lakes.level[3, 4] == 2.0
    lakes = Lakes(ground, 1.0, edges=WALL)
    # Nine cells at 2 m and one at 1 m hold all that rained on the plain around, up to its brim.
    assert lakes.level[0, 3] == 10.0
    assert lakes.stored == 81.0


def test_plateau_without_lower_ground_is_one_pit_and_one_with_an_outlet_drains() -> None:
    ground = np.full((12, 14), 10.0)
    ground[3:9, 4:10] = 6.0
    ground[5, 6] = 8.0  # an island on it
    lakes = Lakes(ground, drop_at(ground, (3, 4, 3.5)))
    assert (lakes.level[3:9, 4:10] == np.where(ground[3:9, 4:10] == 6.0, 6.1, 8.0)).all()
    assert (lakes.standing == LAKE).sum() == 35
    ground[8, 9] = 5.0
    lakes = Lakes(ground, drop_at(ground, (3, 4, 0.5)))
    assert lakes.level[8, 9] == 5.5
    assert (lakes.standing == LAKE).sum() == 1
    # To the nearer one of two outlets
    plain = np.full((9, 20), 7.0)
    plain[1:8, 1:19] = 5.0
    plain[4, 1] = plain[4, 18] = 3.0
    assert Lakes(plain, drop_at(plain, (4, 9, 1.0))).water[4, 1] == 1.0
    assert Lakes(plain, drop_at(plain, (4, 10, 1.0))).water[4, 18] == 1.0


def test_pit_of_one_cell() -> None:
    ground = np.full((8, 8), 3.0)
    ground[4, 5] = 1.0
    assert Lakes(ground, drop_at(ground, (4, 5, 1.25))).level[4, 5] == 2.25
    lakes = Lakes(ground, 0.5)
    assert lakes.level[4, 5] == 3.0
    assert (lakes.standing == LAKE).sum() == 1
    assert lakes.totals.over_edge == pytest.approx(0.5 * 64 - 2.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_rain_on_a_flat_sheet(shape: tuple[int, int]) -> None:
    flat = np.full(shape, -7.0)
    lakes = Lakes(flat, 0.25)
    assert lakes.totals.over_edge == 0.25 * flat.size
    assert (lakes.standing == DRY).all()
    lakes = Lakes(flat, 0.25, edges=WALL)
    assert (lakes.level == -6.75).all()
    assert (lakes.standing == LAKE).all()
    lakes = Lakes(flat, 0.25, edges=SEA, sea_level=-7.0)
    assert lakes.totals.over_edge == 0.25 * flat.size
    lakes = Lakes(flat, 0.25, edges=SEA, sea_level=-6.999)
    assert lakes.totals.into_sea == 0.25 * flat.size
    assert (lakes.standing == SEA_WATER).all()


@pytest.mark.parametrize("edges", [SEA, OPEN])
def test_map_without_pits_keeps_no_water(edges: int) -> None:
    row, column = np.mgrid[:40, :30]
    for ground in (2.0 * row + column, -np.hypot(row - 20.3, column - 14.6), np.maximum(row, 20) + 1.0):
        lakes = Lakes(ground, 1.0, edges=edges, sea_level=float(ground.min()))
        assert (lakes.standing == DRY).all()
        assert lakes.stored == 0.0
        assert lakes.totals.over_edge == ground.size
        lakes = Lakes(ground, 1.0, edges=SEA, sea_level=float(ground.min()) + 5.0)
        assert lakes.totals.into_sea > 0.0
        assert lakes.stored == 0.0


def spiral(turns: int) -> tuple[Layer, list[tuple[int, int]]]:
    """A ditch that winds inwards from the edge, one cell wide with walls between; its cells from outside in."""
    side = 4 * turns + 3
    ground = np.full((side, side), 1e3)
    way = [(1, 0)]
    row, column, step = 1, 0, (0, 1)
    visited = {(1, 0)}
    while True:
        row_step, column_step = step
        ahead = [(row + n * row_step, column + n * column_step) for n in (1, 2)]
        inside = 1 <= ahead[0][0] < side - 1 and 1 <= ahead[0][1] < side - 1
        if not inside or ahead[1] in visited:
            step = column_step, -row_step
            ahead = [(row + n * step[0], column + n * step[1]) for n in (1, 2)]
            if ahead[1] in visited or ahead[0] in visited:
                break
            continue
        row, column = ahead[0]
        visited.add((row, column))
        way.append((row, column))
    for distance, cell in enumerate(way):
        ground[cell] = float(distance)
    return ground, way


def test_spiral() -> None:
    ground, way = spiral(6)
    assert len(way) > 200
    lakes = Lakes(ground, drop_at(ground, (*way[-1], 5.0)))
    assert lakes.totals.over_edge == 5.0
    # The other way round it fills from the middle: a lake as long as the ditch.
    for distance, cell in enumerate(way):
        ground[cell] = float(-distance)
    lakes = Lakes(ground, drop_at(ground, (*way[0], 1e9)), edges=OPEN)
    assert lakes.totals.over_edge == 1e9  # the first cell is the edge
    lakes = Lakes(ground, drop_at(ground, (*way[1], 1e6)))
    assert lakes.stored == sum(range(len(way)))
    assert all(lakes.level[cell] == 0.0 for cell in way)
    # With pits all along it every one spills into the next.
    for distance, cell in enumerate(way):
        ground[cell] = distance + 5.0 * (distance % 2)
    lakes = Lakes(ground, drop_at(ground, (*way[-1], 1e4)))
    assert np.array_equal(lakes.level, full(ground, OPEN))


def test_walls_keep_everything() -> None:
    for shape in SHAPES:
        ground = hills(*shape, 10.0)
        lakes = Lakes(ground, 30.0, edges=WALL)
        assert lakes.stored == pytest.approx(30.0 * ground.size, rel=1e-12)
        assert (lakes.standing == LAKE).all()
        assert lakes.level[0, 0] == pytest.approx(30.0 + ground.mean(), rel=1e-13)


@pytest.mark.parametrize("sea_level", [-1.0, 0.0, 4.0, 9.5, 19.0, 20.0, 25.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_sea_at_many_levels(shape: tuple[int, int], sea_level: float) -> None:
    ground = hills(*shape, 20.0, seed=3)
    sea = reference_pools.Map(ground, SEA, sea_level).sea
    lakes = Lakes(ground, 1e4, edges=SEA, sea_level=sea_level)
    assert np.array_equal(lakes.standing == SEA_WATER, sea)
    assert np.array_equal(lakes.level, full(ground, SEA, sea_level))
    assert (lakes.totals.into_sea > 0.0) == sea.any()
    dry = Lakes(ground, 0.0, edges=SEA, sea_level=sea_level)
    assert np.array_equal(dry.level, np.where(sea, sea_level, ground))


def test_land_below_the_sea_behind_a_ridge_stays_dry_until_the_ridge_is_flooded() -> None:
    ground = profile([-5.0, -3.0, 2.0, -8.0, -4.0, 12.0])
    dry = Lakes(ground, 0.0, edges=SEA, sea_level=1.0)
    assert dry.standing[4].tolist() == [SEA_WATER, SEA_WATER, DRY, DRY, DRY, DRY]
    rain = drop_at(ground, (4, 4, 3.0))
    lake = Lakes(ground, rain, edges=SEA, sea_level=1.0)
    assert lake.level[4].tolist() == [1.0, 1.0, 2.0, -5.0, -4.0, 12.0]
    flooded = Lakes(ground, lake.water, edges=SEA, sea_level=2.5)
    assert flooded.level[4].tolist() == [2.5] * 5 + [12.0]
    assert flooded.totals.into_sea == 3.0
    # Over a ridge that is as high as the sea, none comes in.
    assert (Lakes(ground, 0.0, edges=SEA, sea_level=2.0).standing[4] == SEA_WATER).sum() == 2


# Maps at random


def rough(rows: int, columns: int, seed: int) -> Layer:
    return np.random.default_rng(seed).random((rows, columns)) * 10.0


def real(rows: int, columns: int) -> Layer:
    """Whole metres, as they were measured."""
    path = files("assets") / "terrain" / "jacksboro.npz"
    return np.load(Path(str(path)))["elevation"][100 : 100 + rows, 60 : 60 + columns].astype(float)


MAPS = {
    "hills": hills(97, 71, 40.0),
    "noise": rough(90, 70, 1),
    "whole metres": np.round(hills(70, 55, 30.0, seed=5)),
    "real": real(140, 131),
    "far up": hills(60, 70, 1.0) + 8000.0,
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("edges", [OPEN, SEA])
def test_endless_water_fills_every_depression_to_the_bit(name: str, edges: int) -> None:
    ground = MAPS[name]
    sea_level = float(np.quantile(ground, 0.3))
    expected = full(ground, edges, sea_level)
    assert np.array_equal(expected, reference_pools.filled(ground, edges, sea_level))
    assert Lakes(ground, 1e6, edges=edges, sea_level=sea_level).level.tobytes() == expected.tobytes()
    # And so where what spills is told, and runs on in the next cycle
    lakes = Lakes(ground, 1e6, at_once=False, edges=edges, sea_level=sea_level)
    assert lakes.level.tobytes() == expected.tobytes()


@pytest.mark.parametrize("edges", [OPEN, SEA, WALL])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_slow_reference(edges: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = int(random.integers(8, 25)), int(random.integers(8, 25))
    # Heights that are all different: where two ways are equally good, the reference may take the other one.
    ground = random.permutation(shape[0] * shape[1]).reshape(shape) / 10.0 if seed % 2 else hills(*shape, 10.0, seed)
    ground -= np.median(ground)
    sea_level = float(np.quantile(ground, 0.2))
    for depth in (0.01, 0.3, 2.0):
        water = depth * (random.random(shape) < 0.3) * random.random(shape)
        expected = reference_pools.settled(ground, water, edges, sea_level)
        lakes = Lakes(ground, water, edges=edges, sea_level=sea_level)
        level = np.where(expected.sea, sea_level, expected.levels())
        np.testing.assert_allclose(lakes.level, level, rtol=0.0, atol=1e-12)
        assert lakes.totals.into_sea == pytest.approx(float(expected.into_sea), rel=1e-12, abs=1e-12)
        assert lakes.totals.over_edge == pytest.approx(float(expected.over_edge), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 4, 6, 7])
@pytest.mark.parametrize("depth", [0.1, 1.0, 10.0, 1e4])
def test_agrees_with_richdem(seed: int, depth: float) -> None:
    """The Fill-Spill-Merge of the method's authors.

    There water runs from a sill the way that the flood came which found the depressions, and not down the steepest
    slope. On these maps both lead into the same lakes, as long as the water starts in the pits.
    """
    ground = hills(60, 70, 20.0, seed)
    pits = np.zeros(ground.shape, bool)
    pits[1:-1, 1:-1] = (ground == ndimage.minimum_filter(ground, size=3))[1:-1, 1:-1]
    water = np.zeros(ground.shape)
    water[pits] = depth * np.random.default_rng(seed).random(np.count_nonzero(pits))

    def array(values: NDArray[Any]) -> Any:
        return richdem.rdarray(values, no_data=-9999)

    topography, theirs = array(ground.copy()), array(water.copy())
    labels = richdem.get_new_depression_hierarchy_labels(ground.shape)
    depressions, flow = richdem.get_depression_hierarchy(topography, labels)
    richdem.fill_spill_merge(topography, labels, flow, depressions, theirs)
    assert np.count_nonzero(theirs) > 0
    np.testing.assert_allclose(Lakes(ground, water).water, theirs, rtol=0.0, atol=1e-12)


@tried(80)
@given(
    rows=st.integers(8, 12),
    columns=st.integers(8, 12),
    heights=st.integers(1, 9),
    edges=st.sampled_from([OPEN, SEA, WALL]),
    sea_level=st.sampled_from([0.0, 1.0, 2.5, 20.0]),
    depth=st.sampled_from([1e-6, 0.1, 1.0, 50.0]),
    at_once=st.booleans(),
    loss=st.sampled_from([0.0, 0.05, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_maps_of_few_heights(
    rows: int,
    columns: int,
    heights: int,
    edges: int,
    sea_level: float,
    depth: float,
    at_once: bool,
    loss: float,
    seed: int,
) -> None:
    """Flats and equal saddles everywhere: all that holds for every map is checked in Lakes."""
    random = np.random.default_rng(seed)
    ground = random.integers(0, heights, (rows, columns)).astype(float)
    water = depth * random.random((rows, columns)) * (random.random((rows, columns)) < 0.5)
    lakes = Lakes(ground, water, at_once, edges=edges, sea_level=sea_level, evaporation=loss, seepage=0.5 * loss)
    assert lakes.totals.evaporated == pytest.approx(np.minimum(water, loss).sum(), rel=1e-12)
    left = water - np.minimum(water, loss)
    assert lakes.totals.seeped == pytest.approx(np.minimum(left, 0.5 * loss).sum(), rel=1e-12)
    if edges != WALL:
        flooded = Lakes(ground, water + 1e3, at_once, edges=edges, sea_level=sea_level)
        assert np.array_equal(flooded.level, reference_pools.filled(ground, edges, sea_level))


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("edges", [OPEN, SEA, WALL])
def test_spills_carried_on_by_themselves_end_as_those_at_once(name: str, edges: int) -> None:
    ground = MAPS[name]
    sea_level = float(np.quantile(ground, 0.3))
    water = np.random.default_rng(2).random(ground.shape) * 0.05 * np.ptp(ground)
    at_once = Lakes(ground, water, edges=edges, sea_level=sea_level)
    lakes = Lakes(ground, water, at_once=False, edges=edges, sea_level=sea_level)
    assert len(lakes.spills.sill) > 0
    into_sea, over_edge = lakes.totals.into_sea, lakes.totals.over_edge
    cycles = 0
    while len(lakes.spills.sill) > 0:
        lakes = lakes.again()
        into_sea += lakes.totals.into_sea
        over_edge += lakes.totals.over_edge
        cycles += 1
        assert cycles < 200
    np.testing.assert_allclose(lakes.level, at_once.level, rtol=0.0, atol=1e-9)
    assert into_sea == pytest.approx(at_once.totals.into_sea, rel=1e-9, abs=1e-9)
    assert over_edge == pytest.approx(at_once.totals.over_edge, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", MAPS)
def test_no_more_spills_than_wanted_and_the_rest_goes_on_at_once(name: str) -> None:
    ground = MAPS[name]
    water = np.random.default_rng(3).random(ground.shape) * 0.05 * np.ptp(ground)
    free = math.fsum(Lakes(ground, water, at_once=False).spills.volume)
    at_once = Lakes(ground, water)
    assert len(at_once.spills.sill) == 0
    for part in (0.1, 0.7):
        lakes = Lakes(ground, water, most_spilled=part * free)
        assert math.fsum(lakes.spills.volume) == pytest.approx(part * free, rel=1e-12)
        np.testing.assert_allclose(lakes.again(most_spilled=0.0).level, at_once.level, rtol=0.0, atol=1e-9)


@pytest.mark.slow
@covered(name=list(MAPS), edges=[OPEN, SEA, WALL], depth=[1e-9, 1e-3, 0.3, 1e4])
def test_what_has_settled_stays(name: str, edges: int, depth: float) -> None:
    ground = MAPS[name]
    lakes = Lakes(ground, depth, edges=edges, sea_level=float(np.quantile(ground, 0.3)))
    for _ in range(3):
        again = lakes.again(most_spilled=math.inf)
        assert len(again.spills.sill) == 0
        assert again.totals.into_sea == again.totals.over_edge == 0.0
        assert again.level.tobytes() == lakes.level.tobytes()
        assert again.standing.tobytes() == lakes.standing.tobytes()
        np.testing.assert_allclose(again.water, lakes.water, rtol=1e-12, atol=1e-15 * lakes.stored)
        lakes = again


@pytest.mark.parametrize("edges", [OPEN, SEA, WALL])
def test_no_direction_is_favoured(edges: int) -> None:
    ground = hills(73, 58, 20.0, seed=8)
    lakes = Lakes(ground, 0.5, edges=edges, sea_level=5.0)
    for turn in (lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a.T, lambda a: np.rot90(a)):
        turned = Lakes(np.ascontiguousarray(turn(ground)), 0.5, edges=edges, sea_level=5.0)
        np.testing.assert_allclose(turned.level, turn(lakes.level), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("edges", [OPEN, SEA, WALL])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], edges: int, two_threads: int) -> None:
    results = set()
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        lakes = Lakes(hills(*shape, 50.0), 0.4, at_once=False, edges=edges, sea_level=10.0, evaporation=0.01)
        arrays = (lakes.water, lakes.level, lakes.standing, *lakes.spills)
        results.add((lakes.totals, *(array.tobytes() for array in arrays)))
    assert len(results) == 1


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [(0, 0), (5, 8), (9, 3)])
def test_what_is_no_number_is_named_and_nothing_written(wrong: float, place: tuple[int, int]) -> None:
    for layer in (0, 1):
        ground, water = hills(10, 9), np.ones((10, 9))
        (ground, water)[layer][place] = wrong
        (ground, water)[layer][9, 8] = math.nan
        level, standing, before = np.full((10, 9), 7.0), np.full((10, 9), 7, np.uint8), water.copy()
        totals, spills = settle(ground, water, level, standing, pool_parameters())
        assert (totals.failed_row, totals.failed_column) == place
        assert len(spills.sill) == 0
        assert np.array_equal(water, before, equal_nan=True)
        assert (level == 7.0).all()
        assert (standing == 7).all()


def test_negative_water_is_named() -> None:
    water = np.zeros((8, 8))
    water[2, 3] = -1e-9
    totals, _ = settle(hills(8, 8), water, np.empty((8, 8)), np.empty((8, 8), np.uint8), pool_parameters())
    assert (totals.failed_row, totals.failed_column) == (2, 3)


def test_layers_of_another_form_are_refused() -> None:
    good = np.zeros((8, 9))
    standing = np.zeros((8, 9), np.uint8)
    for wrong in (np.zeros((9, 8)), np.zeros((8, 9), np.float32), np.zeros((9, 8)).T):
        for arrays in ((good, wrong, good), (good, good, wrong)):
            with pytest.raises(ValueError, match="layers must be C-contiguous float64 arrays of one shape"):
                settle(*arrays, standing, pool_parameters())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="standing must be"):
        settle(good, good.copy(), good.copy(), np.zeros((8, 9)), pool_parameters())  # type: ignore[arg-type]


@pytest.mark.parametrize("volume", [1e-16, 5e-14, 1.1368683772161603e-13, 1.2e-13, 3e-13])
def test_a_film_thinner_than_the_last_digit_stays_a_film(volume: float) -> None:
    """It once filled its pit to the brim, and left less than no water on the cell beside."""
    ground = np.full((9, 9), -550.0)
    ground[4, 4] = ground[5, 4] = -558.1930304934601
    water = np.zeros_like(ground)
    water[5, 4] = volume
    level, standing = np.empty_like(ground), np.empty(ground.shape, np.uint8)
    for _ in range(3):
        settle(ground, water, level, standing, pool_parameters(edges=OPEN))
        assert water.min() >= 0.0
        assert water.sum() == pytest.approx(volume, rel=1e-12)
        assert level[4, 4] < -558.19303049345
