"""Water that parts over loose ground, and the bars that it builds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.braids import LARGEST_PART, Braided, BraidParameters, braid, part
from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.materials import one_kind
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS, index_steps
from kernels.rates import MOBILITY, STRIDE
from tests.nets.cases import tried
from tests.nets.profile import is_nightly

Numbers = NDArray[np.float64]

USUAL = BraidParameters(transport=8.0, lateral=2.0, overcome=0.002, load=1.0, largest_part=LARGEST_PART)
CELL = 10.0


class Plain:
    """A plain of gravel that falls to the east, with a river that comes in from the west."""

    def __init__(self, rows: int = 80, columns: int = 160, seed: int = 1, slope: float = 0.015, uneven: float = 0.1):
        draw = np.random.default_rng(seed)
        self.loose = np.full((rows, columns), 20.0)
        self.rock = np.zeros((rows, columns)) - slope * CELL * np.arange(columns) - 20.0
        self.rock += draw.normal(0.0, uneven, self.rock.shape)
        self.ground = self.rock + self.loose
        self.begin, self.brought, self.left = float(self.loose.sum()), 0.0, 0.0
        self.sources = np.zeros((rows, columns))
        self.sources[rows // 2 - 4 : rows // 2 + 4, 0] = 40.0

    def run(self, cycles: int, parameters: BraidParameters = USUAL, **others: object) -> Braided:
        for _ in range(cycles):
            kinds = one_kind(self.loose)
            done = braid(self.rock, self.loose, self.ground, kinds, CELL, self.sources, parameters, **others)  # type: ignore[arg-type]
            self.brought += sum(done.moved.blown_in)
            self.left += sum(done.moved.off_map)
        return done


def braiding_index(water: Numbers, part: float = 0.2) -> float:
    """Threads in a cross-section that carry more than a part of what the largest does, in the mean."""
    counts = []
    for column in range(20, water.shape[1] - 20):
        wet = np.append(False, water[:, column] > part * water[:, column].max())
        counts.append(np.count_nonzero(wet[1:] & ~wet[:-1]))
    return float(np.mean(counts))


def test_what_is_still_is_as_if_it_could_not_move() -> None:
    one, other = Plain(), Plain()
    still = np.zeros(one.ground.shape, np.bool_)
    still[:, 40:60] = True
    rates = np.ones((*still.shape, STRIDE), np.float32)
    rates[still, MOBILITY] = 0.0
    before, results = one.loose.copy(), (one.run(2, rates=rates), other.run(2, still=still))
    assert np.array_equal(one.loose, other.loose) and np.array_equal(results[0].carried, results[1].carried)
    assert not np.array_equal(one.loose, before) and one.loose[:, 40:60].sum() >= before[:, 40:60].sum()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3, 4))])
def test_a_river_parts_into_threads_that_do_not_stay(seed: int) -> None:
    rows, columns, cycles = (80, 160, 110) if is_nightly() else (48, 80, 60)
    plain = Plain(rows, columns, seed=seed)
    before = plain.run(cycles).water
    rock = plain.rock.copy()
    after = plain.run(cycles).water
    assert braiding_index(before) >= 2.0
    assert braiding_index(after) >= 2.0
    assert np.corrcoef(before.reshape(-1), after.reshape(-1))[0, 1] < 0.95
    # Channels and bars where a smooth plain was, and no more than some decimetres of them
    change = np.quantile(plain.ground - (plain.rock + 20.0), [0.01, 0.99])
    assert change[0] < -0.05
    assert change[1] > 0.05
    assert np.array_equal(plain.rock, rock)


@pytest.mark.slow
def test_what_goes_from_a_cell_comes_to_another() -> None:
    plain = Plain(40, 64)
    plain.run(40)
    assert plain.loose.sum() + plain.left == pytest.approx(plain.begin + plain.brought, rel=1e-12)
    assert plain.brought > 0.0
    assert plain.left > 0.0
    assert (plain.loose >= 0.0).all()
    assert np.array_equal(plain.ground, plain.rock + plain.loose)


def test_all_water_leaves() -> None:
    plain = Plain(uneven=0.0)
    water = plain.run(1).water
    assert water[:, -1].sum() == pytest.approx(plain.sources.sum(), rel=1e-9)


def test_on_an_even_plane_the_sides_are_alike() -> None:
    plain = Plain(40, 64, uneven=0.0)
    plain.run(30)
    assert plain.ground == pytest.approx(plain.ground[::-1], abs=1e-9)


def test_without_water_nothing_moves() -> None:
    plain = Plain()
    plain.sources[:] = 0.0
    before = plain.ground.tobytes()
    assert not plain.run(3).water.any()
    assert plain.ground.tobytes() == before


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([-np.inf, -1.0]))
@tried(25)
def test_mass_is_kept_on_any_land(seed: int, open_edges: bool, sea: float) -> None:
    plain = Plain(24, 36, seed, uneven=3.0)
    rates = np.ones((24, 36, 6), np.float32)
    rates[10:14, 10:20, 5] = 0.0
    protected = plain.ground[10:14, 10:20].tobytes()
    plain.run(4, open_edges=open_edges, sea_level=sea, rates=rates)
    assert plain.loose.sum() + plain.left == pytest.approx(plain.begin + plain.brought, rel=1e-12)
    assert plain.ground[10:14, 10:20].tobytes() == protected
    if not open_edges:
        assert plain.left == 0.0


def test_water_parts_around_an_island_and_joins_below() -> None:
    """Each side carries its share, nothing is lost, and the river that braids runs just so."""
    plain = Plain(uneven=0.0)
    plain.rock[34:46, 60:80] += 5.0
    plain.ground = plain.rock + plain.loose
    parted = part(plain.ground, CELL, plain.sources)
    north, south = (parted.water[rows, 70].sum() for rows in (slice(0, 34), slice(46, None)))
    assert parted.water[34:46, 70].sum() == 0.0
    assert north == pytest.approx(south, rel=1e-6) and north + south == pytest.approx(plain.sources.sum(), rel=1e-9)
    assert np.array_equal(parted.water, plain.run(1).water)
    row, column = np.nonzero(parted.water[:, :-1])
    assert (parted.directions[row, column] != OUTLET).all()
    to = row + ROW_STEPS[parted.directions[row, column]], column + COLUMN_STEPS[parted.directions[row, column]]
    assert (parted.water[to] > 0.0).all()


def solved_water(ground: Numbers, sources: Numbers, outlets: NDArray[np.bool_]) -> Numbers:
    """The same by other means: the whole map is filled, and what comes to all cells is one set of equations."""
    rows, columns = ground.shape
    filled = fill(ground, outlets)
    directions = flow_directions(filled, outlets)
    goes = np.zeros((ground.size, ground.size))
    for cell in np.flatnonzero(~outlets):
        row, column = divmod(int(cell), columns)
        slopes = {}
        for south, east, length in zip(ROW_STEPS, COLUMN_STEPS, LENGTHS, strict=True):
            if 0 <= row + south < rows and 0 <= column + east < columns:
                fall = filled[row, column] - filled[row + south, column + east]
                if fall > 0.0:
                    slopes[(row + south) * columns + column + east] = fall / length
        if not slopes:
            slopes = {cell + index_steps(columns)[directions[row, column]]: 1.0}
        goes[list(slopes), cell] = np.array(list(slopes.values())) / sum(slopes.values())
    return np.linalg.solve(np.eye(ground.size) - goes, sources.reshape(-1)).reshape(ground.shape)


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from([0.05, 1.0, 8.0]), st.booleans())
@tried(8)
def test_water_is_that_of_a_whole_map_that_is_filled(seed: int, uneven: float, in_steps: bool) -> None:
    """On smooth and on rough ground, with ponds, and with plateaus of one height."""
    plain = Plain(17, 22, seed, uneven=uneven)
    ground = np.round(plain.ground * 2.0) / 2.0 if in_steps else plain.ground
    sources = np.zeros(ground.shape)
    sources[8, 3], sources[4, 10], sources[13, 2] = 5.0, 1.0, 2.0
    outlets = np.ones(ground.shape, np.bool_)
    outlets[1:-1, 1:-1] = False
    inside = np.pad(ground[1:-1, 1:-1], 1, mode="edge")
    outlets &= (ground < inside) | (ground == ground[outlets].min())
    water = part(ground, CELL, sources).water
    expected = solved_water(ground, sources, outlets)
    assert water == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_what_no_water_comes_to_is_not_looked_at() -> None:
    plain, other = Plain(uneven=1.0), Plain(uneven=1.0)
    reached = plain.run(1)
    near = np.zeros(plain.ground.shape, np.bool_)
    near.flat[reached.cells] = True
    away = ~sum(np.roll(near, step, axis=0) for step in range(-8, 9)).astype(np.bool_)
    away[[0, -1]] = away[:, [0, -1]] = False
    assert np.count_nonzero(away) > away.size // 8
    other.ground[away] = np.nan
    assert np.array_equal(other.run(1).water, reached.water)
    assert np.isnan(other.ground[away]).all()
    assert not reached.water[~near].any() and len(reached.carried) == len(reached.cells)


def test_it_carries_what_there_is() -> None:
    """Nothing over bare rock, and of a thin bed no more than that."""
    plain = Plain()
    plain.loose[:, 30:60] = 0.0
    plain.loose[:, 60:90] = 1e-4
    plain.ground = plain.rock + plain.loose
    before = plain.loose.copy()
    done, carried = plain.run(1), np.zeros(before.shape)
    carried.flat[done.cells] = done.carried
    assert carried[:, 1:30].max() > 1e-3
    assert not carried[:, 30:60].any()
    assert carried[:, 60:90].max() > 0.0 and (carried <= before + 1e-12).all()


@pytest.mark.slow
def test_a_river_with_less_load_cuts_in_where_it_comes_in() -> None:
    full, clear = Plain(40, 64), Plain(40, 64)
    full.run(40)
    clear.run(40, parameters=USUAL._replace(load=0.2))
    bed = full.sources > 0.0
    fallen = [(plain.rock + 20.0 - plain.ground)[bed].mean() for plain in (full, clear)]
    assert fallen[0] < 0.1 < 0.3 < fallen[1]
    assert clear.loose.sum() + clear.left == pytest.approx(clear.begin + clear.brought, rel=1e-12)
