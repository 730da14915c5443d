"""Plants: they live where they can, die where they cannot, spread, compete, and come to a balance."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.plants import (
    AGE,
    COLUMN,
    HEALTH,
    KIND,
    PERIOD,
    ROW,
    SIZE,
    STRIPE,
    Climate,
    Fields,
    PlantKinds,
    grow,
    in_order_of_cells,
)
from kernels.standing import DRY, LAKE, SEA
from kernels.surface import CANOPY, GRASS, ROOTS, STRIDE, WETNESS
from tests.kernels.parameters import plant_parameters
from tests.kernels.terrain import hills
from tests.nets.cases import tried

MILD = Climate(temperature=15.0, lapse_rate=0.0065, rain=1.0, rain_by_altitude=0.0, lowest=0.0, highest=0.0)

# Grass, one tree that likes it cool and dry, and one that likes it warm and wet
NEEDS = np.array(
    [
        [0.05, 0.25, 1.0, 1.0, -6.0, 0.0, 24.0, 32.0, 0.7, 1.4],
        [0.05, 0.2, 0.5, 0.8, -3.0, 1.0, 10.0, 16.0, 0.6, 1.1],
        [0.2, 0.5, 1.0, 1.0, 3.0, 10.0, 19.0, 26.0, 0.5, 0.9],
    ]
)
TRAITS = np.array(
    [
        [0.6, 1.2, 0.7, 200.0, 3000.0, 60.0, 0.02, 4.0, 0.5],
        [0.9, 1.6, 0.9, 200.0, 3000.0, 60.0, 0.02, 3.0, 0.3],
    ]
)
KINDS = PlantKinds(NEEDS, TRAITS)
BARREN = {"grass_arrival": 0.0, "tree_arrival": 0.0}  # nothing comes by itself


class Land:
    """A small map with plants on it, whose moisture is simulated unless there is none."""

    def __init__(
        self, ground: NDArray[np.float64], wetness: float | None = 0.5, trees: Any = (), seed: int = 1
    ) -> None:
        rows, columns = ground.shape
        self.fields = Fields(
            ground=ground.copy(),
            rooted_ground=ground.astype(np.float32),
            surface=np.zeros((rows, columns, STRIDE), np.float32),
            flow=np.zeros((rows, columns, 8), np.float32),
            standing=np.full((rows, columns), DRY, np.uint8),
            water_level=ground.copy(),
            rain=np.empty((0, 0), np.float32),
            wet=wetness is not None,
            cell_size=10.0,
        )
        if wetness is not None:
            self.surface[..., WETNESS] = wetness
        self.trees = np.array(trees, np.float32).reshape(-1, 6)
        self.seed, self.cycle = seed, 0

    @property
    def surface(self) -> NDArray[np.float32]:
        return self.fields.surface

    @property
    def grass(self) -> NDArray[np.float32]:
        return self.surface[..., GRASS]

    def live(self, cycles: int, climate: Climate = MILD, **parameters: Any) -> Land:
        for _ in range(cycles):
            trees = self.trees
            self.trees = grow(trees, self.fields, KINDS, climate, self.seed, self.cycle, plant_parameters(**parameters))
            self.cycle += 1
        return self

    def check(self) -> None:
        """What holds for all plants at all times."""
        rows, columns = self.fields.ground.shape
        assert np.isfinite(self.surface).all()
        assert self.surface.min() >= 0.0
        assert self.surface.max() <= 1.0
        trees = self.trees
        assert trees.dtype == np.float32
        assert np.isfinite(trees).all()
        assert (trees >= 0.0).all()
        assert (trees[:, SIZE] <= 1.0).all()
        assert (trees[:, HEALTH] > 0.0).all()
        assert (trees[:, HEALTH] <= 1.0).all()
        assert (trees[:, ROW] < rows).all()
        assert (trees[:, COLUMN] < columns).all()
        cells = trees[:, ROW].astype(int) * columns + trees[:, COLUMN].astype(int)
        assert (np.diff(cells) > 0).all(), "in the order of their cells, one on each"

    def bits(self) -> tuple[bytes, ...]:
        return self.surface.tobytes(), self.fields.rooted_ground.tobytes(), self.trees.tobytes()


def level(rows: int = 24, columns: int = 32) -> NDArray[np.float64]:
    return np.full((rows, columns), 100.0)


def forest(rows: int, columns: int, kind: int = 1, every: int = 2) -> list[tuple[float, ...]]:
    """Full-grown trees on every other cell."""
    return [(i + 0.5, j + 0.5, kind, 1.0, 100.0, 1.0) for i in range(0, rows, every) for j in range(0, columns, every)]


# Life.


def test_grass_and_trees_come_by_themselves_and_cover_good_land() -> None:
    land = Land(level()).live(1200, grass_arrival=1e-3, tree_arrival=2e-4)
    land.check()
    assert land.grass.mean() > 0.3
    assert len(land.trees) > 0.2 * land.grass.size
    assert land.surface[..., CANOPY].mean() > 0.5
    assert land.surface[..., ROOTS].mean() > 0.5


def test_nothing_comes_where_nothing_is_allowed_to() -> None:
    land = Land(level()).live(200, **BARREN)
    assert len(land.trees) == 0
    assert not land.surface[..., GRASS:].any()


def test_one_tree_becomes_a_wood_around_it() -> None:
    land = Land(level(64, 64), trees=[(32.5, 32.5, 1, 1.0, 0.0, 1.0)])
    counts = [len(land.live(8 * PERIOD, **BARREN).trees) for _ in range(8)]
    assert counts == sorted(counts)
    assert counts[-1] > 20
    assert (land.trees[:, KIND] == 1).all()
    away = np.hypot(land.trees[:, ROW] - 32.5, land.trees[:, COLUMN] - 32.5)
    early = Land(level(64, 64), trees=[(32.5, 32.5, 1, 1.0, 0.0, 1.0)]).live(16 * PERIOD, **BARREN)
    away_early = np.hypot(early.trees[:, ROW] - 32.5, early.trees[:, COLUMN] - 32.5)
    assert np.mean(away) > 1.3 * np.mean(away_early), "the wood widens"


def test_seeds_fly_as_far_as_they_should() -> None:
    """In one turn, from a single column of trees: distances across it are those of an exponential in the plane."""
    columns, middle = 121, 60
    flights = []
    for seed in range(30):
        trees = [(i + 0.5, middle + 0.5, 1, 1.0, 0.0, 1.0) for i in range(48)]
        land = Land(level(48, columns), 0.8, trees, seed).live(PERIOD, seeds=20.0, random_death=0.0, **BARREN)
        young = land.trees[land.trees[:, AGE] == 0.0]
        flights.append(np.floor(young[:, COLUMN]) - middle)
    across = np.concatenate(flights)
    assert len(across) > 300
    assert abs(across.mean()) < 0.2
    random = np.random.default_rng(0)
    distance, angle = random.exponential(TRAITS[1, 7], 400_000), random.uniform(0.0, 2.0 * np.pi, 400_000)
    # To the middle of a cell; those beside the column of trees have no room
    expected = np.floor(distance * np.cos(angle) + 0.5)
    expected, across = (places[np.abs(places) > 2.0] for places in (expected, across))
    assert np.abs(across).mean() == pytest.approx(np.abs(expected).mean(), rel=0.1)


def test_grass_spreads_from_cell_to_cell() -> None:
    land = Land(level())
    land.grass[12, 16] = 0.5
    reached = [np.count_nonzero(land.live(2 * PERIOD, **BARREN).grass) for _ in range(6)]
    assert reached == sorted(reached)
    assert reached[0] >= 9
    assert reached[-1] > 2 * reached[0]
    still = Land(level())
    still.grass[12, 16] = 0.5
    still.live(12 * PERIOD, grass_spread=0.0, **BARREN)
    assert np.count_nonzero(still.grass) == 1


def test_grass_grows_as_the_logistic_curve_says() -> None:
    land = Land(level(), 0.15)  # worth a half
    land.grass[...] = 0.01
    land.live(10 * PERIOD, grass_spread=0.0, **BARREN)
    limit = 0.5
    expected = limit / (1.0 + (limit / 0.01 - 1.0) * np.exp(-0.02 * 10 * PERIOD))
    np.testing.assert_allclose(land.grass, expected, rtol=1e-3)


# What is no number, or nowhere.


def test_a_tree_whose_health_is_no_number_stays_for_all_to_see() -> None:
    """Neither dead nor alive, it would leave a row that nobody writes; another one dies in the same turn."""
    trees = [(2.5, 3.5, 1, 0.7, 100.0, np.nan), (2.5, 9.5, 0, 0.7, 1e9, 1.0), (5.5, 1.5, 1, 0.4, 100.0, 0.9)]
    land = Land(level(), trees=trees).live(1, random_death=0.0, seeds=0.0, **BARREN)
    assert land.trees[:, [ROW, COLUMN, KIND]].tolist() == [[2.5, 3.5, 1.0], [5.5, 1.5, 1.0]]
    assert np.isnan(land.trees[0, HEALTH]) and land.trees[1, HEALTH] > 0.5


def test_a_tree_that_is_nowhere_or_of_no_kind_is_refused(subtests: pytest.Subtests) -> None:
    sound = (2.5, 3.5, 1.0, 0.7, 100.0, 1.0)
    for column, values in ((ROW, (-1.0, 24.0, np.nan, np.inf)), (COLUMN, (-0.5, 32.0, np.nan)), (KIND, (2.0, np.nan))):
        for value in values:
            with subtests.test(column=column, value=value):
                wrong = list(sound)
                wrong[column] = value
                with pytest.raises(ValueError, match="tree 1 is off the map, or of no kind"):
                    Land(level(), trees=[sound, wrong, sound]).live(1)


# Needs.


def test_grass_follows_wetness() -> None:
    land = Land(level())
    land.surface[..., WETNESS] = np.linspace(0.0, 0.5, 32)
    land.live(900, grass_arrival=0.01, tree_arrival=0.0)
    along = land.grass.mean(axis=0)
    assert (along[:3] == 0.0).all(), "none in the desert"
    assert (np.diff(along) >= -1e-3).all()
    assert along[-1] > 0.95


def test_no_tree_stands_above_the_tree_line_and_none_on_cliffs() -> None:
    ground = np.linspace(0.0, 4000.0, 96)[:, None] + np.zeros((96, 24))
    fields_are_level = Land(ground)
    fields_are_level.fields = fields_are_level.fields._replace(cell_size=1000.0)
    land = fields_are_level.live(1200, tree_arrival=2e-3)
    land.check()
    warmth = 15.0 - 0.0065 * ground[land.trees[:, ROW].astype(int), 0]
    assert len(land.trees) > 300
    assert warmth.min() > NEEDS[1, 4]
    assert land.grass[15.0 - 0.0065 * ground[:, 0] < NEEDS[0, 4]].max() == 0.0

    steep = Land(np.where(np.arange(48)[:, None] < 24, 12.0 * 24, 12.0 * np.arange(48)[:, None]) + np.zeros((48, 24)))
    steep.live(600, tree_arrival=2e-3, grass_arrival=0.01)
    rows = steep.trees[:, ROW].astype(int)
    assert np.count_nonzero(rows < 23) > 50
    assert not (rows >= 25).any(), "a slope of 50° carries no tree"


def test_two_kinds_sort_by_what_they_need() -> None:
    ground = np.linspace(0.0, 2000.0, 96)[:, None] + np.zeros((96, 32))  # from 15 °C down to 2
    land = Land(ground, 0.5)
    land.fields = land.fields._replace(cell_size=1000.0)
    land.live(1500, tree_arrival=1e-3)
    cool, warm = (land.trees[land.trees[:, KIND] == kind, ROW] for kind in (0, 1))
    assert min(len(cool), len(warm)) > 100
    assert cool.mean() > warm.mean() + 20.0


def test_drought_kills_in_time_and_not_at_once() -> None:
    land = Land(level(), 0.6, forest(24, 32))
    before = len(land.trees)
    land.surface[..., WETNESS] = 0.0
    assert len(land.live(PERIOD, **BARREN).trees) > 0.9 * before
    assert len(land.live(20 * PERIOD, **BARREN).trees) == 0


def test_without_moisture_the_ground_is_wetter_near_water() -> None:
    land = Land(level(40, 40), None)
    land.fields.standing[:, :4] = LAKE
    land.fields.water_level[:, :4] += 5.0
    land.fields.flow[:, 30, 0] = 0.5
    land.live(900, grass_arrival=0.01, tree_arrival=0.0, ground_wetness=0.1, stream_limit=0.5)
    along = land.grass.mean(axis=0)
    assert along[:4].max() == 0.0
    assert along[5] > along[20] + 0.3
    assert along[29] > along[20] + 0.3
    assert along[30] > along[20], "a stream at the limit is not too strong"
    dry = Land(level(), None).live(900, MILD._replace(rain=0.1), grass_arrival=0.01)
    assert not dry.grass.any()


def test_rain_by_altitude_and_a_map_of_rain_wet_the_ground() -> None:
    ground = np.linspace(0.0, 100.0, 48)[None, :] + np.zeros((16, 48))
    climate = MILD._replace(rain_by_altitude=1.0, lowest=0.0, highest=100.0)
    up = Land(ground, None).live(900, climate, grass_arrival=0.01).grass.mean(axis=0)
    assert up[-1] > 0.8
    assert up[0] == 0.0
    land = Land(level(16, 48), None)
    land.fields = land.fields._replace(
        rain=np.linspace(1.0, 0.0, 48, dtype=np.float32)[None, :] + np.zeros((16, 1), "f4")
    )
    along = land.live(900, grass_arrival=0.01).grass.mean(axis=0)
    assert along[0] > 0.8
    assert along[-1] == 0.0


# Death.


@pytest.mark.parametrize("standing", [LAKE, SEA])
def test_plants_die_in_a_new_lake(standing: int) -> None:
    land = Land(level(), 0.6, forest(24, 32))
    land.grass[...] = 0.8
    land.fields.standing[:, :16] = standing
    land.fields.water_level[:, :16] += 3.0
    land.live(3 * PERIOD, random_death=0.0, **BARREN)
    land.check()
    assert not (land.trees[:, COLUMN] < 16).any()
    assert np.count_nonzero(land.trees[:, COLUMN] >= 16) >= 24 / 2 * 16 / 2
    assert land.grass[:, :16].max() < 0.05 < land.grass[:, 20:].min()
    assert land.surface[:, :13, CANOPY].max() == 0.0


def test_plants_endure_a_puddle() -> None:
    land = Land(level(), 0.6, forest(24, 32))
    land.fields.standing[...] = LAKE
    land.fields.water_level[...] += 0.1
    land.live(6 * PERIOD, random_death=0.0, flood_depth=0.2, **BARREN)
    assert len(land.trees) == 12 * 16
    assert len(land.live(6 * PERIOD, random_death=0.0, flood_depth=0.05, **BARREN).trees) == 0


def test_a_strong_stream_sweeps_them_away_and_a_weak_one_does_not() -> None:
    land = Land(level(), 0.6, forest(24, 32))
    land.grass[...] = 0.8
    land.fields.flow[:, 10, 0] = 0.9
    land.fields.flow[:, 20, 0] = 0.4
    land.fields.flow[:, 26, 1] = 3.0
    land.fields.flow[:, 30, 1] = 1.0
    land.live(4 * PERIOD, random_death=0.0, stream_limit=0.6, flow_limit=2.0, **BARREN)
    columns = land.trees[:, COLUMN].astype(int)
    for strong, weak in ((10, 20), (26, 30)):
        assert not (columns == strong).any()
        assert (columns == weak).any()
        assert land.grass[:, strong].max() < 0.01 < land.grass[:, weak].min()


@pytest.mark.parametrize("step", [2.0, -2.0])
def test_ground_that_moves_buries_and_undercuts(step: float) -> None:
    """By two metres every 16 cycles, where 0.05 in each can be lived with; and by so little that all live."""
    for by, lives in ((step, False), (0.01 * step, True)):
        land = Land(level(), 0.6, forest(24, 32))
        land.grass[...] = 0.8
        for _ in range(12):
            land.fields.ground[:, 16:] += by
            land.live(PERIOD, random_death=0.0, burial=0.05, undercut=0.05, **BARREN)
        assert (land.trees[:, COLUMN] >= 17).any() == lives
        assert (land.trees[:, COLUMN] < 15).sum() >= 12 * 7
        assert (land.grass[:, 20:].max() > 0.3) == lives
        assert land.grass[:, :12].min() > 0.3


def test_a_slide_kills_at_once() -> None:
    land = Land(level(), 0.6, forest(24, 32))
    land.fields.ground[...] += 20.0
    assert len(land.live(PERIOD, **BARREN).trees) == 0


def test_trees_die_of_age_and_at_random() -> None:
    old = [(i + 0.5, j + 0.5, 1, 1.0, 4300.0, 1.0) for i in range(24) for j in range(0, 32, 2)]
    assert len(Land(level(), 0.6, old).live(PERIOD, random_death=0.0, seeds=0.0, **BARREN).trees) == 0
    land = Land(level(), 0.6, forest(24, 32))
    before = len(land.trees)
    land.live(20 * PERIOD, random_death=0.002, seeds=0.0, **BARREN)
    assert len(land.trees) / before == pytest.approx(0.998 ** (20 * PERIOD), abs=0.1)


def test_a_forest_comes_to_a_balance() -> None:
    """Over some of its generations: it neither grows beyond all bounds nor dies out, and it renews itself."""
    land = Land(level(48, 48), 0.6)
    counts = []
    for _ in range(24):
        land.live(PERIOD * 10, rate=4.0)
        counts.append(len(land.trees))
    late = np.array(counts[8:])
    assert late.min() > 0.75 * late.max()
    assert 0.2 * 48 * 48 < late.mean() < 0.95 * 48 * 48
    assert land.trees[:, AGE].max() < 1.5 * TRAITS[1, 4]
    assert (land.trees[:, SIZE] < 0.3).any(), "there are young ones"
    land.check()


def test_shade_keeps_small_ones_small() -> None:
    """A seedling between large trees is behind one in the open."""
    open_land = Land(level(), 0.8, [(8.5, 8.5, 1, 0.1, 0.0, 0.6)])
    around = [(7.5, 8.5), (8.5, 7.5), (8.5, 9.5), (9.5, 8.5)]
    trees = sorted([*((*place, 1, 1.0, 0.0, 1.0) for place in around), (8.5, 8.5, 1, 0.1, 0.0, 0.6)])
    shaded = Land(level(), 0.8, trees)
    found = []
    for land in (open_land, shaded):
        land.live(4 * PERIOD, seeds=0.0, random_death=0.0, **BARREN)
        here = (land.trees[:, ROW] == 8.5) & (land.trees[:, COLUMN] == 8.5)
        found.append(land.trees[here][0])
    assert found[1][SIZE] < 0.95 * found[0][SIZE]
    assert found[1][HEALTH] < 0.9 * found[0][HEALTH]


def test_a_smaller_limit_makes_an_open_wood() -> None:
    dense, open_wood = (
        Land(level(32, 32), 0.6).live(1500, densest_canopy=limit, tree_arrival=1e-3) for limit in (0.8, 0.2)
    )
    assert len(open_wood.trees) < 0.6 * len(dense.trees)
    assert open_wood.surface[..., CANOPY].mean() < 0.7 * dense.surface[..., CANOPY].mean()


# Roots and canopy.


def test_roots_and_canopy_are_those_of_the_trees_that_stand_there() -> None:
    """Against a sum over all trees and all cells, also across the borders of stripes."""
    rows, columns = 3 * STRIPE, 30
    random = np.random.default_rng(2)
    cells = np.sort(random.choice(rows * columns, 90, replace=False))
    trees = np.zeros((90, 6), np.float32)
    trees[:, ROW], trees[:, COLUMN] = cells // columns + random.random(90), cells % columns + random.random(90)
    trees[:, KIND], trees[:, SIZE], trees[:, HEALTH] = random.integers(0, 2, 90), random.uniform(0.1, 1.0, 90), 0.9
    land = Land(level(rows, columns), 0.6, trees)
    land.live(PERIOD, rate=0.0, grass_roots=0.0, random_death=0.0)
    assert len(land.trees) == 90
    np.testing.assert_array_equal(land.trees[:, SIZE], trees[:, SIZE])
    south, east = np.mgrid[:rows, :columns] + 0.5
    bare, loose = np.ones((rows, columns)), np.ones((rows, columns))
    for tree in land.trees.astype(float):
        away = np.hypot(south - tree[ROW], east - tree[COLUMN])
        crown, rooting, density = TRAITS[int(tree[KIND])][:3] * np.array([tree[SIZE], tree[SIZE], 1.0])
        bare *= 1.0 - 0.9 * min(1.0, np.pi * crown**2) * np.clip(crown + 0.5 - away, 0.0, 1.0)
        loose *= 1.0 - density * min(1.0, 2.0 * rooting) * np.maximum(0.0, 1.0 - away / (rooting + 0.5))
    np.testing.assert_allclose(land.surface[..., CANOPY], 1.0 - bare, atol=1e-5)
    np.testing.assert_allclose(land.surface[..., ROOTS], 1.0 - loose, atol=1e-5)


def test_grass_has_fewer_roots_than_trees_and_less_of_it_grows_in_their_shade() -> None:
    grass = Land(level(), 0.6)
    grass.grass[...] = 1.0
    grass.live(10 * PERIOD, **BARREN)
    wood = Land(level(), 0.6, forest(24, 32, every=1)).live(10 * PERIOD, random_death=0.0, **BARREN)
    assert 0.3 < grass.surface[..., ROOTS].mean() < 0.6 < wood.surface[..., ROOTS].mean()
    wood.grass[...] = 1.0
    wood.live(20 * PERIOD, random_death=0.0, **BARREN)
    assert wood.grass.mean() < 0.6 < 0.95 < grass.grass.mean()


# The rotation, and the same bits.


@pytest.mark.parametrize("shape", [(8, 8), (9, 31), (140, 12), (300, 9)])
def test_each_row_has_one_turn_in_a_period(shape: tuple[int, int]) -> None:
    land = Land(level(*shape))
    turns = np.zeros(shape, int)
    for _ in range(PERIOD):
        land.fields.rooted_ground[...] = -1.0
        land.live(1)
        turns += land.fields.rooted_ground == 100.0
    assert (turns == 1).all()


def random_land(shape: tuple[int, int], seed: int, count: int) -> Land:
    """With hills, a lake, streams, grass and trees in no order, some of them on one cell."""
    random = np.random.default_rng(seed)
    rows, columns = shape
    land = Land(hills(*shape, 40.0, seed), None, seed=seed)
    land.grass[...] = random.random(shape)
    land.fields.flow[..., 0] = random.random(shape) ** 4
    lake = land.fields.ground < 8.0
    land.fields.standing[lake] = LAKE
    land.fields.water_level[lake] = 8.0
    land.trees = np.column_stack(
        [
            random.uniform(0.0, rows, count),
            random.uniform(0.0, columns, count),
            random.integers(0, 2, count),
            random.random(count),
            random.uniform(0.0, 4000.0, count),
            random.random(count),
        ]
    ).astype(np.float32)
    land.trees[:, ROW] = np.minimum(land.trees[:, ROW], np.nextafter(np.float32(rows), np.float32(0)))
    land.trees[:, COLUMN] = np.minimum(land.trees[:, COLUMN], np.nextafter(np.float32(columns), np.float32(0)))
    return land


def test_same_bits_on_any_number_of_threads() -> None:
    results = []
    available = numba.config.NUMBA_NUM_THREADS
    for threads in (1, min(2, available)):
        numba.set_num_threads(threads)
        results.append(random_land((2 * PERIOD * STRIPE + 5, 40), 3, 2500).live(3 * PERIOD).bits())
    numba.set_num_threads(available)
    assert results[0] == results[1]


def test_a_seed_makes_the_same_plants_and_another_one_others() -> None:
    one, again, other = (Land(level(), seed=seed).live(600, tree_arrival=1e-3) for seed in (1, 1, 2))
    assert one.bits() == again.bits()
    assert one.bits() != other.bits()


def test_trees_come_into_the_order_of_their_cells() -> None:
    trees = random_land((50, 33), 5, 800).trees
    ordered = in_order_of_cells(trees, 50, 33)
    cells = trees[:, ROW].astype(int) * 33 + trees[:, COLUMN].astype(int)
    np.testing.assert_array_equal(ordered, trees[np.argsort(cells, kind="stable")])


EXTREMES = {
    "rate": (0.0, 20.0),
    "grass_growth": (0.0, 1.0),
    "grass_spread": (0.0, 1.0),
    "grass_decline": (0.0, 1.0),
    "grass_arrival": (0.0, 0.1),
    "grass_shade": (0.0, 1.0),
    "grass_roots": (0.0, 1.0),
    "seeds": (0.0, 20.0),
    "tree_arrival": (0.0, 0.1),
    "densest_canopy": (0.0, 1.0),
    "random_death": (0.0, 0.1),
    "stream_limit": (0.0, 1.0),
    "flow_limit": (1e-3, 1e3),
    "steepest": (0.0, 60.0),
    "flood_depth": (0.0, 100.0),
    "burial": (1e-5, 10.0),
    "undercut": (1e-5, 10.0),
    "ground_wetness": (0.0, 1.0),
}


@tried(40)
@given(
    shape=st.tuples(st.integers(8, 40), st.integers(8, 30)),
    seed=st.integers(0, 1000),
    count=st.integers(0, 200),
    ends=st.fixed_dictionaries({name: st.sampled_from(ends) for name, ends in EXTREMES.items()}),
)
def test_all_stays_within_bounds_at_both_ends_of_all_parameters(
    shape: tuple[int, int], seed: int, count: int, ends: dict[str, float]
) -> None:
    land = random_land(shape, seed, count)
    for _ in range(2):
        land.live(PERIOD, **ends)
        land.fields.ground[...] += np.random.default_rng(seed).normal(0.0, 0.3, shape)
    trees = land.trees
    assert np.isfinite(land.surface).all()
    assert land.surface.min() >= 0.0
    assert land.surface.max() <= 1.0
    assert np.isfinite(trees).all()
    assert (trees[:, HEALTH] > 0.0).all()
    assert ((trees[:, ROW] < shape[0]) & (trees[:, COLUMN] < shape[1])).all()
    assert ((trees[:, SIZE] <= 1.0) & (trees >= 0.0).all(axis=1)).all()
