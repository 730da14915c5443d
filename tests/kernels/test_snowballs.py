"""Snowballs: nothing lost, the same bits on any number of threads, and agreement with two plain references."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels import snowballs
from kernels.materials import Materials, Moved, asked, one_kind
from kernels.particles import FAILED, REACH, RUNNING
from kernels.random import stream, uniform
from kernels.snowballs import SnowballTotals, roll
from kernels.surface import ROOTS, STRIDE
from tests.kernels import reference_snowballs as reference
from tests.kernels.parameters import snowball_parameters
from tests.kernels.reference_droplets import Map
from tests.kernels.terrain import hills, soil
from tests.kernels.test_kinds_in_water import CLAY, GRAVEL, KINDS, SAND, ordered_sum, patches
from tests.kernels.test_kinds_in_water import materials as of_kinds

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (64, 64), (130, 257)]


class Ground:
    """The layers of a map, and cycles of snowballs over them."""

    def __init__(
        self, bedrock: Layer, sediment: Layer | None = None, cell_size: float = 1.0, sea_level: float = -math.inf
    ) -> None:
        self.bedrock = bedrock.copy()
        self.sediment = np.zeros_like(bedrock) if sediment is None else sediment.copy()
        self.ground = self.bedrock + self.sediment
        self.standing = np.zeros(bedrock.shape, np.uint8)
        self.wear, self.deposit, self.traffic = (np.zeros(bedrock.shape, np.float32) for _ in range(3))
        self.cell_size = cell_size
        self.sea_level = sea_level
        self.surface: NDArray[np.float32] | None = None

    def materials(self) -> Materials:
        return one_kind(self.sediment)

    def roll(self, cycle: int = 0, seed: int = 1, **parameters: Any) -> SnowballTotals:
        return roll(
            self.bedrock, self.sediment, self.ground, self.materials(), self.standing,
            self.wear, self.deposit, self.traffic, self.sea_level, self.cell_size, seed, cycle,
            snowball_parameters(**parameters), surface=self.surface,
        )  # fmt: skip

    def mass(self) -> float:
        return float(self.bedrock.sum() + self.sediment.sum())

    def bits(self) -> bytes:
        layers = (self.bedrock, self.sediment, self.ground, self.wear, self.deposit, self.traffic)
        return b"".join(layer.tobytes() for layer in layers)


def assert_nothing_lost(before: Ground, after: Ground, totals: SnowballTotals) -> None:
    # What lay there and what was moved, which may be far more where the rates are absurd
    scale = float(np.abs(before.bedrock).sum() + before.sediment.sum() + after.wear.sum()) + 1.0
    assert totals.failed_row == -1
    assert after.mass() + sum(totals.moved.off_map) == pytest.approx(before.mass(), abs=1e-12 * scale, rel=0.0)
    assert before.bedrock.sum() - sum(totals.moved.from_rock) == pytest.approx(
        after.bedrock.sum(), abs=1e-12 * scale, rel=0.0
    )
    assert sum(totals.moved.from_rock) >= 0.0
    assert sum(totals.moved.off_map) >= 0.0
    assert (after.sediment >= 0.0).all()
    assert np.array_equal(after.ground, after.bedrock + after.sediment)
    for trace in (after.wear, after.deposit, after.traffic):
        assert (trace >= 0.0).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sea_level", [-math.inf, 8.0])
def test_nothing_is_lost(shape: tuple[int, int], sea_level: float) -> None:
    world = Ground(hills(*shape), soil(*shape), sea_level=sea_level)
    moved = 0.0
    for cycle in range(5):
        before = Ground(world.bedrock, world.sediment)
        totals = world.roll(cycle, count=300)
        assert_nothing_lost(before, world, totals)
        moved += sum(totals.moved.from_rock)
    assert moved > 0.0


def test_nothing_is_lost_on_real_terrain() -> None:
    """Whole metres, as in elevation models, on cells of 75 m far above the sea: steps, flats and pits."""
    start = Ground(np.round(hills(180, 140, 600.0)) + 1500.0, cell_size=75.0)
    world = Ground(start.bedrock, cell_size=75.0)
    totals = world.roll(count=5000)
    assert_nothing_lost(start, world, totals)
    assert sum(totals.moved.from_rock) > 1000.0


@settings(max_examples=60, derandomize=True)
@given(
    rows=st.integers(8, 40),
    columns=st.integers(8, 40),
    relief=st.sampled_from([0.0, 1e-6, 5.0, 3000.0]),
    cell_size=st.sampled_from([0.01, 1.0, 10_000.0]),
    sea=st.sampled_from([-math.inf, 0.0, 0.5, 1.0, math.inf]),
    count=st.sampled_from([0, 1, 40, 200]),
    erosion_rate=st.sampled_from([0.0, 0.04, 0.5]),
    deposition_rate=st.sampled_from([0.0, 0.03, 1.0]),
    speed=st.sampled_from([0.0, 0.15, 1.0]),
    friction=st.sampled_from([0.0, 0.7, 0.99]),
    radius=st.sampled_from([0.0, 0.8, 2.0]),
    iterations=st.sampled_from([1, 300]),
    iteration_scale=st.sampled_from([0.0, 0.04, 1.0]),
    scale=st.sampled_from([1.0, 10.0, 1000.0]),
    memory=st.sampled_from([0.01, 1000.0]),
)
def test_nothing_is_lost_at_the_ends_of_the_ranges(
    rows: int, columns: int, relief: float, cell_size: float, sea: float, **parameters: Any
) -> None:
    start = Ground(hills(rows, columns, relief), soil(rows, columns, 0.1 * relief), cell_size)
    world = Ground(start.bedrock, start.sediment, cell_size, sea * relief if math.isfinite(sea) else sea)
    totals = world.roll(**parameters)
    assert_nothing_lost(start, world, totals)
    assert totals.steps <= parameters["count"] * parameters["iterations"]
    if parameters["erosion_rate"] == 0.0 or sea == math.inf:
        assert np.array_equal(start.ground, world.ground)


@pytest.mark.parametrize("shape", [*SHAPES, (300, 260)])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], two_threads: int) -> None:
    results = []
    for threads in (1, two_threads, two_threads):
        numba.set_num_threads(threads)
        world = Ground(hills(*shape), soil(*shape), sea_level=5.0)
        totals = [world.roll(cycle, count=900, radius=2.0) for cycle in range(3)]
        results.append((world.bits(), totals))
    assert results[0] == results[1] == results[2]


def test_another_seed_or_cycle_is_another_fall() -> None:
    """No two falls have more balls in the same cells than by chance, whichever ball of theirs rolls there."""
    falls = []
    for seed, cycle in itertools.product((1, 2, 3), (0, 1, 2)):
        world = Ground(hills(150, 150))
        smooth = world.ground.copy()
        world.roll(cycle, seed, count=50, iterations=3)
        falls.append(set(np.flatnonzero(world.ground != smooth)))
    for one, other in itertools.combinations(falls, 2):
        assert len(one & other) < 0.2 * min(len(one), len(other))


# Against the references.


def ball_of(cycle: int, shape: tuple[int, int], radius: float = 0.8, number: int = 0, seed: int = 1) -> reference.Ball:
    """A ball as the kernel lets it fall."""
    key = np.uint64(stream(seed, snowballs._PROCESS, cycle))
    place = uniform(key, 4 * number) * shape[0], uniform(key, 4 * number + 1) * shape[1]
    offset = tuple((2.0 * uniform(key, 4 * number + index) - 1.0) * radius for index in (2, 3))
    return reference.Ball(place, offset)  # type: ignore[arg-type]


def empty_traces(shape: tuple[int, int]) -> reference.Traces:
    return reference.Traces(*(np.zeros(shape) for _ in range(3)))


@pytest.mark.parametrize(
    ("relief", "cell_size", "sea_level", "parameters"),
    [
        (20.0, 1.0, 4.0, {}),
        (500.0, 75.0, -math.inf, {"radius": 2.0, "erosion_rate": 0.2}),
        (30.0, 1.0, 10.0, {"speed": 0.9, "friction": 0.6, "iterations": 30, "iteration_scale": 0.5}),
        (15.0, 2.0, -math.inf, {"deposition_rate": 0.3, "scale": 40.0, "radius": 0.0}),
    ],
)
def test_agrees_with_the_plain_reference(
    relief: float, cell_size: float, sea_level: float, parameters: dict[str, Any]
) -> None:
    """Ball by ball, so that there is only one order; across tiles, into sea and lakes, to the edge and beyond."""
    shape = (40, 52)
    world = Ground(hills(*shape, relief), soil(*shape, 0.02 * relief), cell_size, sea_level)
    world.standing[20:26, 30:38] = 1
    plain = Map(world.bedrock.copy(), world.sediment.copy(), cell_size)
    traces = empty_traces(shape)
    off_edge = abraded = 0.0
    steps = 0
    p = reference.Parameters(**parameters)
    for cycle in range(60):
        totals = world.roll(cycle, count=1, memory=1e12, **parameters)
        off_edge += sum(totals.moved.off_map)
        abraded += sum(totals.moved.from_rock)
        steps += totals.steps
        reference.corrected(plain, traces, ball_of(cycle, shape, p.radius), p, sea_level, world.standing)
        np.testing.assert_allclose(world.bedrock, plain.bedrock, rtol=0.0, atol=1e-11 * relief)
        np.testing.assert_allclose(world.sediment, plain.sediment, rtol=0.0, atol=1e-11 * relief)
    assert steps == traces.steps
    assert steps > 300
    assert off_edge == pytest.approx(plain.off_edge, rel=1e-9)
    assert abraded == pytest.approx(plain.abraded, rel=1e-9)
    assert abraded > 0.0
    np.testing.assert_allclose(world.wear, traces.wear, rtol=1e-5, atol=1e-6 * relief)
    np.testing.assert_allclose(world.deposit, traces.deposit, rtol=1e-5, atol=1e-6 * relief)
    np.testing.assert_allclose(world.traffic, traces.traffic)


def test_agrees_with_the_plain_reference_where_balls_share_a_tile() -> None:
    shape = (8, 8)  # one tile
    world = Ground(hills(*shape), soil(*shape))
    plain, traces = Map(world.bedrock.copy(), world.sediment.copy(), 1.0), empty_traces(shape)
    world.roll(count=30)
    for number in range(30):
        ball = ball_of(0, shape, number=number)
        reference.corrected(plain, traces, ball, reference.Parameters(), -math.inf, world.standing)
    np.testing.assert_allclose(world.ground, plain.ground, rtol=0.0, atol=1e-10)


def island(rows: int, columns: int) -> Layer:
    """A hill with ravines to come, in cells, around it the level floor, where the article's balls stop."""
    row, column = np.mgrid[:rows, :columns].astype(float)
    away = np.minimum(1.0, np.hypot((row + 0.5) / rows - 0.5, (column + 0.5) / columns - 0.5) * 2.4)
    return hills(rows, columns, 14.0, seed=5) * (0.5 + 0.5 * np.cos(np.pi * away)) + 10.0 * (1.0 - away**2)


def test_agrees_with_the_article_but_for_what_it_throws_away() -> None:
    shape, scale, cell_size = (56, 44), 10.0, 30.0
    metres = scale * cell_size
    start = island(*shape) / scale
    compared = 0
    for cycle in range(40):
        world = Ground(metres * start, cell_size=cell_size)
        totals = world.roll(cycle, count=1)
        literal = start.copy()
        load, end = reference.article(literal, ball_of(cycle, shape), reference.Parameters())
        assert sum(totals.moved.off_map) == 0.0
        # The article drops what is left; ours puts it down within a cell of the end.
        around = np.zeros(shape, bool)
        row, column = (int(x) for x in end)
        around[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = True
        left = (world.ground - metres * literal)[around].sum()
        assert left == pytest.approx(metres * load, rel=1e-9, abs=1e-9 * metres)
        world.ground[around] = metres * literal[around]
        np.testing.assert_allclose(world.ground, metres * literal, rtol=0.0, atol=1e-12 * metres)
        compared += load > 0.0
    assert compared > 20


def statistics(ground: Layer, start: Layer) -> Layer:
    """What a land looks like after the balls: how much is gone and added, how rough it is, how deep its ravines are."""
    change = ground - start
    curvature = 4.0 * ground - sum(np.roll(ground, step, axis) for step in (-1, 1) for axis in (0, 1))
    inner = (slice(2, -2), slice(2, -2))
    return np.array(
        [
            -change[change < 0.0].sum(),
            change[change > 0.0].sum(),
            np.abs(curvature[inner]).mean(),
            curvature[inner].std(),
            *np.quantile(change, [0.02, 0.25, 0.9]),
        ]
    )


@pytest.mark.slow
def test_many_at_once_leave_what_one_by_one_would() -> None:
    """By tiles the order is another, and so is each ravine, but not the land: as near as other random numbers are."""
    shape = (64, 80)
    start = island(*shape)
    balls = 600
    plain = []
    for seed in (1, 2, 3):
        world, traces = Map(start.copy(), np.zeros(shape), 1.0), empty_traces(shape)
        for number in range(balls):
            ball = ball_of(0, shape, number=number, seed=seed)
            reference.corrected(world, traces, ball, reference.Parameters(), 1.0, np.zeros(shape))
        plain.append(statistics(world.ground, start))
    ours = []
    for seed in range(1, 13):
        ground = Ground(start, sea_level=1.0)
        ground.roll(seed=seed, count=balls)
        ours.append(statistics(ground.ground, start))
    spread = np.std(np.array(plain), axis=0) + np.std(np.array(ours), axis=0)
    assert (np.abs(np.mean(plain, axis=0) - np.mean(ours, axis=0)) < 2.0 * spread).all()


# What balls do.


def fields_of(layers: list[NDArray[Any]], rows: int, columns: int) -> Any:
    """What balls meet where there is one sort of ground."""
    nothing = np.empty(0)
    bare = np.empty(0, np.float32)
    return snowballs._Ground(
        *layers, rows, columns, 0, nothing, nothing, bare, bare, True, *asked(one_kind(layers[1]), snowballs._ASKED)
    )


def test_a_step_favours_no_direction() -> None:
    """Turned and mirrored ground turns and mirrors the step."""
    side = 16
    ground = hills(side, side, 10.0, seed=2)
    balls = snowball_parameters(radius=2.0)._asdict()
    constants = snowballs._Constants(**balls, erosion=0.4, largest_load=64.0, sea_level=-math.inf, cells_per_metre=1.0)

    def stepped(ground: Layer, state: tuple[float, ...]) -> tuple[tuple[float, ...], Layer]:
        layer = ground.copy()
        layers = [layer.reshape(-1), np.zeros(side * side), layer.reshape(-1).copy()]
        traces = [np.zeros(side * side, np.float32) for _ in range(3)]
        fields = fields_of([*layers, np.zeros(side * side, np.uint8), *traces], side, side)
        state, outcome = snowballs._step(state, fields, constants)
        assert outcome == RUNNING
        return state, fields.ground.reshape(side, side)

    row, column, old_row, old_column = 7.3, 8.9, 7.6, 8.2
    offset_row, offset_column = 1.7, -0.4
    middle = snowballs._MARGIN - 0.5

    def state(place: NDArray[np.float64], old: Layer, offset: Layer, velocity: Layer) -> tuple[float, ...]:
        return (*place, *old, *(place + offset + middle), *velocity, 0.2, 0.0, 7.0)

    place, old = np.array([row, column]), np.array([old_row, old_column])
    offset, velocity = np.array([offset_row, offset_column]), np.array([-0.3, 0.1])
    first, changed = stepped(ground, state(place, old, offset, velocity))
    turned, turned_ground = stepped(
        np.ascontiguousarray(ground.T), state(place[::-1], old[::-1], offset[::-1], velocity[::-1])
    )
    np.testing.assert_allclose(turned[:2], first[:2][::-1], rtol=1e-12)
    np.testing.assert_allclose(turned_ground, changed.T, rtol=1e-12)
    flip = np.array([-1.0, 1.0])
    mirrored, mirrored_ground = stepped(
        np.ascontiguousarray(ground[::-1]),
        state(place * flip + [side, 0], old * flip + [side, 0], offset * flip, velocity * flip),
    )
    np.testing.assert_allclose(mirrored[:2], np.array(first[:2]) * flip + [side, 0], rtol=1e-12)
    np.testing.assert_allclose(mirrored_ground, changed[::-1], rtol=1e-12)
    assert not np.array_equal(changed, ground)


class Watched(np.ndarray[Any, Any]):
    """An array that writes down which of its cells are read and written."""

    seen: set[int]

    def __getitem__(self, cell: Any) -> Any:
        self.seen.add(int(cell))
        return super().__getitem__(cell)

    def __setitem__(self, cell: Any, value: Any) -> None:
        self.seen.add(int(cell))
        super().__setitem__(cell, value)


def watched(layer: Layer, seen: set[int]) -> Watched:
    view = layer.reshape(-1).copy().view(Watched)
    view.seen = seen
    return view


@settings(max_examples=40, derandomize=True)
@given(
    place=st.tuples(*[st.floats(0.0, 19.999)] * 2),
    back=st.tuples(*[st.floats(-0.7, 0.7)] * 2),
    offset=st.tuples(*[st.sampled_from([-2.0, -1.3, 0.0, 0.8, 2.0])] * 2),
    velocity=st.tuples(*[st.floats(-0.7, 0.7)] * 2),
    last=st.booleans(),
)
def test_a_step_keeps_to_the_bounds_of_the_engine(
    place: tuple[float, float],
    back: tuple[float, float],
    offset: tuple[float, float],
    velocity: tuple[float, float],
    last: bool,
) -> None:
    side = 20
    seen: set[int] = set()
    ground = hills(side, side, 40.0, seed=1)
    layers = [watched(layer, seen) for layer in (ground, np.zeros_like(ground), ground)]
    others = [watched(np.zeros((side, side), kind), seen) for kind in (np.uint8, *[np.float32] * 3)]
    fields = fields_of([*layers, *others], side, side)
    # The fastest balls there are: speed + friction = 1
    balls = snowball_parameters(speed=0.3, radius=2.0, iterations=5, iteration_scale=1.0)._asdict()
    constants = snowballs._Constants(**balls, erosion=5.0, largest_load=64.0, sea_level=-math.inf, cells_per_metre=1.0)
    old = np.clip(np.array(place) - back, 0.0, side - 1e-9)
    read = np.array(place) + offset + (snowballs._MARGIN - 0.5)
    state = (*place, *old, *read, *velocity, 0.3, 0.0, 4.0 if last else 1.0)
    after, outcome = snowballs._step(state, fields, constants)
    assert outcome != FAILED
    assert math.dist(after[:2], place) <= 1.0 + 1e-12
    here = np.array([int(x) for x in place])
    for cell in seen:
        assert np.abs(np.array(divmod(cell, side)) - here).max() <= REACH


def test_balls_stop_at_the_sea_and_in_lakes_and_leave_their_load_there() -> None:
    row = np.arange(80.0)[:, None]
    slope = np.ascontiguousarray(np.repeat(30.0 - 0.5 * row, 24, axis=1))  # below 0 from row 60 on
    sea = Ground(slope, sea_level=0.0)
    sea.roll(count=100, iterations=300)
    change = sea.ground - slope
    assert np.array_equal(sea.ground[68:], slope[68:]), "nothing goes far beyond the shore"
    assert change[58:68].sum() > 0.3 * -change[change < 0.0].sum(), "a beach grows"
    lake = Ground(slope)
    lake.standing[30:34] = 1
    lake.roll(count=3000, iterations=300)
    assert lake.traffic[31:34].sum() == 0.0
    assert lake.deposit[29:32].sum() > 2.5 * lake.deposit[10:13].sum()


@pytest.mark.parametrize("ground", [np.full((8, 8), 100.0), np.full((9, 31), -5.0)])
def test_flat_ground_stays_as_it_is(ground: Layer) -> None:
    world = Ground(ground)
    totals = world.roll(count=500)
    assert totals == SnowballTotals(Moved((0.0,), (0.0,)), 0, -1, -1)
    assert np.array_equal(world.ground, ground)


def test_nothing_moves_where_all_is_sea() -> None:
    world = Ground(hills(8, 8) - 50.0, sea_level=0.0)
    start = world.ground.copy()
    assert world.roll(count=500).steps == 0
    assert np.array_equal(world.ground, start)


def test_traces_fade() -> None:
    world = Ground(hills(20, 20))
    world.roll(count=400)
    before = float(world.wear.sum())
    world.roll(count=400, erosion_rate=0.0, memory=0.5)
    assert float(world.wear.sum()) == pytest.approx(before * math.exp(-2.0), rel=1e-5)


def test_no_ball_is_faster_than_a_cell_in_a_step() -> None:
    """So a ball is seen in every cell of its way: on a cliff it comes to one after the other."""
    cliff = np.ascontiguousarray(np.repeat(1000.0 * np.arange(60.0, 0.0, -1.0)[:, None], 12, axis=1))
    world = Ground(cliff)
    totals = world.roll(count=2000, speed=1.0, friction=0.5, radius=0.0, erosion_rate=0.0, iterations=1000)
    assert totals.steps > 2000 * 30
    assert world.traffic[40:59].sum(axis=1).min() > 1000


def test_no_ball_bites_deeper_than_sixteen_cells() -> None:
    wall = np.zeros((24, 24))
    wall[:, 12:] = 5000.0
    world = Ground(wall, cell_size=3.0)
    for seed in range(60):  # until one falls on the wall
        world.roll(count=1, seed=seed, erosion_rate=0.5, scale=1000.0, iteration_scale=1.0, iterations=2, radius=0.0)
        if world.wear.any():
            break
    assert 0.0 < world.wear.max() <= 16.0 * 3.0


def test_no_ball_carries_more_than_sixty_four_cells() -> None:
    slope = np.ascontiguousarray(np.repeat(30.0 * np.arange(200.0, 0.0, -1.0)[:, None], 24, axis=1))
    world = Ground(slope, cell_size=3.0)
    for seed in range(20):
        totals = world.roll(
            count=1, seed=seed, erosion_rate=0.5, scale=1000.0, deposition_rate=0.0, speed=0.3, iterations=100
        )
        if totals.steps == 100:
            break
    assert world.deposit.max() == pytest.approx(64.0 * 3.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_cell_is_named_and_not_spread(bad: float) -> None:
    world = Ground(hills(64, 64))
    world.bedrock[30, 20] = world.ground[30, 20] = bad
    totals = world.roll(count=3000)
    assert abs(totals.failed_row - 30) <= REACH
    assert abs(totals.failed_column - 20) <= REACH
    assert np.count_nonzero(~np.isfinite(world.ground)) == 1
    assert np.count_nonzero(~np.isfinite(world.sediment)) == 0


# Several kinds of ground.


class Mixed(Ground):
    """The same of several kinds, on hard and soft rock by turns."""

    def __init__(self, bedrock: Layer, mix: Layer, cell_size: float = 1.0, **properties: Any) -> None:
        super().__init__(bedrock, ordered_sum(mix), cell_size)
        self.kinds = of_kinds(bedrock.shape, mix.shape[2], mix=mix.reshape(-1).copy(), **properties)

    @property
    def mix(self) -> Layer:
        return self.kinds.mix.reshape(*self.bedrock.shape, self.kinds.kinds)

    def materials(self) -> Materials:
        return self.kinds

    def bits(self) -> bytes:
        return super().bits() + self.mix.tobytes()


READILY_ERODED = {"erodibility": np.ones(KINDS), "rock_erodibility": np.ones(2)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kinds", [2, KINDS, 16])
def test_no_kind_is_lost(shape: tuple[int, int], kinds: int) -> None:
    before, after = (Mixed(hills(*shape, 25.0), patches(shape, 3.0 / kinds**2, kinds)) for _ in range(2))
    amounts = before.mix.sum(axis=(0, 1))
    for cycle in range(3):
        totals = after.roll(cycle, count=300)
        amounts += np.subtract(totals.moved.from_rock, totals.moved.off_map)
        assert_nothing_lost(before, after, totals)
        assert np.array_equal(after.sediment, ordered_sum(after.mix)), "the sum of the kinds, to the last bit"
        assert (after.mix >= 0.0).all()
        np.testing.assert_allclose(after.mix.sum(axis=(0, 1)), amounts, rtol=1e-12, atol=1e-12 * amounts.sum())
        assert sum(totals.moved.from_rock) > 0.0
        before = Mixed(after.bedrock, after.mix)
    if kinds == KINDS:
        assert totals.moved.from_rock[CLAY] > 0.0 and totals.moved.from_rock[SAND] > 0.0, "of both rocks"
        assert totals.moved.from_rock[GRAVEL] == 0.0


@pytest.mark.parametrize("cell_size", [1.0, 20.0])
def test_kinds_are_moved_together_as_one_sort_is(cell_size: float) -> None:
    shape = (40, 52)
    rock, loose = hills(*shape, 20.0 * cell_size), soil(*shape, 0.5 * cell_size)
    parts = np.random.default_rng(3).dirichlet(np.ones(KINDS), shape)
    mixed = Mixed(rock, loose[..., None] * parts, cell_size, **READILY_ERODED)
    plain = Ground(rock, loose, cell_size)
    for cycle in range(40):
        of_several, of_one = mixed.roll(cycle, count=1), plain.roll(cycle, count=1)
        assert of_several.steps == of_one.steps
        for name in ("bedrock", "sediment", "ground", "wear", "deposit"):
            ours, theirs = getattr(mixed, name), getattr(plain, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-10 * cell_size, err_msg=name)
        assert sum(of_several.moved.from_rock) == pytest.approx(of_one.moved.from_rock[0], rel=1e-9, abs=1e-12)
        assert sum(of_several.moved.off_map) == pytest.approx(of_one.moved.off_map[0], rel=1e-9, abs=1e-12)
    assert np.abs(mixed.bedrock - rock).max() > 0.01 * cell_size


def test_balls_take_and_put_down_each_kind_by_its_part() -> None:
    """Ground of one mix stays of that mix, however it is moved."""
    parts = np.array([0.2, 0.3, 0.5])
    land = Mixed(hills(60, 50, 25.0), np.full((60, 50, 1), 30.0) * parts, **READILY_ERODED)
    before = land.bedrock.copy()
    totals = land.roll(count=2000)
    assert np.array_equal(land.bedrock, before)
    assert np.abs(land.sediment - 30.0).max() > 1.0
    np.testing.assert_allclose(land.mix, land.sediment[..., None] * parts, rtol=1e-9)
    np.testing.assert_allclose(totals.moved.off_map, sum(totals.moved.off_map) * parts, rtol=1e-9)


def rooted(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Roots from none to the densest, in patches, as `surface` of kernels."""
    surface = np.zeros((*shape, STRIDE), np.float32)
    surface[..., ROOTS] = np.clip(hills(*shape, 2.0, seed=9) - 0.5, 0.0, 1.0)
    return surface


@pytest.mark.parametrize("erodibility", [(1.0, 1.0), (0.6, 0.2), (1.0, 0.0)])
@pytest.mark.parametrize("root_hold", [0.0, 0.9])
def test_resistant_and_rooted_ground_agrees_with_the_plain_reference(
    erodibility: tuple[float, float], root_hold: float
) -> None:
    """Ball by ball, over three kinds that are alike: the reference knows one."""
    shape, of_loose, of_rock = (40, 52), *erodibility
    rock, loose = hills(*shape, 25.0), soil(*shape, 0.5)
    alike = {"erodibility": np.full(KINDS, of_loose), "rock_erodibility": np.full(2, of_rock)}
    world = Mixed(rock, loose[..., None] * np.array([0.2, 0.3, 0.5]), **alike)
    world.surface = rooted(shape)
    plain, traces = Map(world.bedrock.copy(), world.sediment.copy(), 1.0), empty_traces(shape)
    plain.roots = world.surface[..., ROOTS]
    p = reference.Parameters(root_hold=root_hold, erodibility=erodibility)
    for cycle in range(60):
        world.roll(cycle, count=1, memory=1e12, root_hold=root_hold)
        reference.corrected(plain, traces, ball_of(cycle, shape), p, -math.inf, world.standing)
        np.testing.assert_allclose(world.bedrock, plain.bedrock, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(world.sediment, plain.sediment, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(world.wear, traces.wear, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(world.deposit, traces.deposit, rtol=1e-5, atol=1e-5)
    assert np.abs(world.ground - rock - loose).max() > 0.1
    assert (world.bedrock == rock).all() == (of_rock == 0.0)


def test_balls_take_each_kind_as_readily_as_it_is_eroded() -> None:
    """Of deep ground of one mix, with nothing put down: by its part and its erodibility."""
    parts, erodibility = np.array([0.2, 0.3, 0.5]), np.array([1.0, 0.25, 0.0])
    land = Mixed(hills(60, 50, 25.0), np.full((60, 50, 1), 300.0) * parts, erodibility=erodibility)
    before = land.mix.copy()
    land.roll(count=1, deposition_rate=0.0, iterations=30)
    taken = np.maximum(before - land.mix, 0.0).max(axis=(0, 1))
    assert taken[0] > 0.0
    np.testing.assert_allclose(taken / taken[0], parts * erodibility / (parts[0] * erodibility[0]), rtol=0.02)


def test_roots_hold_one_sort_of_ground_too() -> None:
    """And ground without any has the bits of bare ground."""
    worlds = {
        name: Ground(hills(60, 50, 25.0), soil(60, 50, 1.0)) for name in ("bare", "none", "free", "held", "fixed")
    }
    for name in ("none", "free", "held", "fixed"):
        worlds[name].surface = np.zeros((60, 50, STRIDE), np.float32)
    for name in ("free", "held", "fixed"):
        worlds[name].surface[..., ROOTS] = 1.0  # type: ignore[index]
    hold = {"bare": 0.9, "none": 0.9, "free": 0.0, "held": 0.5, "fixed": 1.0}
    start = worlds["bare"].bits()
    for name, world in worlds.items():
        world.roll(count=500, root_hold=hold[name])
    assert worlds["bare"].bits() == worlds["none"].bits() == worlds["free"].bits()
    change = {
        name: np.abs(world.ground - hills(60, 50, 25.0) - soil(60, 50, 1.0)).sum() for name, world in worlds.items()
    }
    assert 0.3 * change["bare"] < change["held"] < 0.7 * change["bare"]
    assert change["fixed"] < 1e-9 and worlds["bare"].bits() != start


def test_kinds_have_the_same_bits_on_one_thread_and_two(two_threads: int) -> None:
    results = []
    for threads in (1, two_threads, two_threads):
        numba.set_num_threads(threads)
        land = Mixed(hills(130, 257), patches((130, 257)))
        totals = [land.roll(cycle, count=900, radius=2.0) for cycle in range(3)]
        results.append((land.bits(), totals))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("relief", [1e150, 1e300, 1e308])
def test_absurd_heights_do_not_become_nan(relief: float) -> None:
    world = Ground(hills(48, 40, relief))
    world.roll(count=500)
    assert np.isfinite(world.ground).all()
    assert np.isfinite(world.sediment).all()


def test_layers_of_the_wrong_kind_are_refused() -> None:
    world = Ground(np.zeros((16, 16)))
    for name, kind in (("sediment", "float64"), ("wear", "float32"), ("standing", "uint8")):
        good = getattr(world, name)
        for bad in (good.astype(np.int16), np.zeros((16, 32), good.dtype)[:, ::2], np.zeros((16, 17), good.dtype)):
            setattr(world, name, bad)
            with pytest.raises(ValueError, match=f"C-contiguous {kind}"):
                world.roll()
        setattr(world, name, good)
