"""Droplet erosion: nothing is lost, the same bits on any number of threads, and what the article says."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels import droplets
from kernels.droplets import DropletTotals, erode
from kernels.materials import one_kind
from kernels.random import stream, uniform
from tests.kernels import reference_droplets as reference
from tests.kernels.parameters import droplet_parameters
from tests.kernels.terrain import hills, soil
from tests.nets.profile import is_nightly

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (64, 64), (130, 257)]


class Ground:
    """The layers of a map, and cycles of drops over them."""

    def __init__(self, bedrock: Layer, sediment: Layer | None = None, cell_size: float = 1.0) -> None:
        self.bedrock = bedrock.copy()
        self.sediment = np.zeros_like(bedrock) if sediment is None else sediment.copy()
        self.ground = self.bedrock + self.sediment
        self.cell_size = cell_size

    def erode(self, cycle: int = 0, seed: int = 1, **parameters: Any) -> DropletTotals:
        return erode(
            self.bedrock, self.sediment, self.ground, one_kind(self.sediment),
            self.cell_size, seed, cycle, droplet_parameters(**parameters),
        )  # fmt: skip

    def mass(self) -> float:
        return float(self.bedrock.sum() + self.sediment.sum())

    def bits(self) -> bytes:
        return self.bedrock.tobytes() + self.sediment.tobytes() + self.ground.tobytes()


def assert_nothing_lost(before: Ground, after: Ground, totals: DropletTotals) -> None:
    scale = float(np.abs(before.bedrock).sum() + before.sediment.sum()) + 1.0
    assert totals.failed_row == -1
    assert after.mass() + sum(totals.moved.off_map) == pytest.approx(before.mass(), abs=1e-12 * scale, rel=0.0)
    assert before.bedrock.sum() - sum(totals.moved.from_rock) == pytest.approx(
        after.bedrock.sum(), abs=1e-12 * scale, rel=0.0
    )
    assert totals.rained == pytest.approx(totals.evaporated + totals.water_off_edge, rel=1e-9)
    assert min(sum(totals.moved.from_rock), sum(totals.moved.off_map), totals.evaporated, totals.water_off_edge) >= 0.0
    assert (after.sediment >= 0.0).all()
    assert np.array_equal(after.ground, after.bedrock + after.sediment)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 7])
def test_nothing_is_lost(shape: tuple[int, int], seed: int) -> None:
    world = Ground(hills(*shape, seed=seed), soil(*shape, seed=seed))
    moved = 0.0
    for cycle in range(5):
        before = Ground(world.bedrock, world.sediment)
        totals = world.erode(cycle=cycle, seed=seed, count=300)
        assert_nothing_lost(before, world, totals)
        moved += sum(totals.moved.from_rock)
    assert moved > 0.0


def test_nothing_is_lost_on_real_terrain() -> None:
    """Whole metres, as in elevation models, on cells of 75 m far above the sea: steps, flats and pits."""
    start = Ground(np.round(hills(180, 140, 600.0)) + 1500.0, cell_size=75.0)
    world = Ground(start.bedrock, cell_size=75.0)
    totals = world.erode(count=2000)
    assert_nothing_lost(start, world, totals)
    assert sum(totals.moved.from_rock) > 1000.0


@settings(max_examples=60, derandomize=True)
@given(
    rows=st.integers(8, 40),
    columns=st.integers(8, 40),
    relief=st.sampled_from([0.0, 1e-6, 5.0, 3000.0]),
    cell_size=st.sampled_from([0.01, 1.0, 10_000.0]),
    count=st.sampled_from([0, 1, 40, 200]),
    time_step=st.sampled_from([0.1, 1.2, 2.0]),
    density=st.sampled_from([0.1, 1.0, 10.0]),
    friction=st.sampled_from([0.0, 0.05, 0.8]),
    deposition_rate=st.sampled_from([0.0, 0.1, 0.8]),
    evaporation=st.sampled_from([0.0, 0.001, 0.1]),
    minimum_volume=st.sampled_from([0.0, 0.01, 0.99]),
    rock_erodibility=st.sampled_from([0.0, 0.5, 1.0]),
    longest_path=st.sampled_from([1, 300]),
    river_transport=st.sampled_from([0.0, 3.0, 100.0]),
)
def test_nothing_is_lost_at_the_ends_of_the_ranges(
    rows: int, columns: int, relief: float, cell_size: float, **parameters: Any
) -> None:
    start = Ground(hills(rows, columns, relief), soil(rows, columns, 0.1 * relief), cell_size)
    world = Ground(start.bedrock, start.sediment, cell_size)
    totals = world.erode(**parameters)
    assert_nothing_lost(start, world, totals)
    assert totals.rained == parameters["count"]
    assert totals.steps <= parameters["count"] * parameters["longest_path"]
    if parameters["rock_erodibility"] == 0.0:
        assert np.array_equal(start.bedrock, world.bedrock)


@pytest.mark.parametrize("shape", [*SHAPES, (300, 260)])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], two_threads: int) -> None:
    results = []
    for threads in (1, two_threads, two_threads):
        numba.set_num_threads(threads)
        world = Ground(hills(*shape), soil(*shape))
        totals = [world.erode(cycle=cycle, count=600) for cycle in range(3)]
        results.append((world.bits(), totals))
    assert results[0] == results[1] == results[2]


def test_another_seed_or_cycle_is_another_rain() -> None:
    """No two rains have more drops in the same cells than by chance, whichever drop of theirs falls there."""
    rains = []
    for seed, cycle in itertools.product((1, 2, 3), (0, 1, 2)):
        world = Ground(hills(150, 150))
        dry = world.ground.copy()
        world.erode(cycle, seed, count=50, longest_path=1)
        rains.append(set(np.flatnonzero(world.ground != dry)))
    for one, other in itertools.combinations(rains, 2):
        assert len(one & other) < 0.2 * min(len(one), len(other))


def start_of(seed: int, cycle: int, shape: tuple[int, int], particle: int = 0) -> tuple[float, float]:
    """Where the kernel lets a drop fall."""
    key = np.uint64(stream(seed, droplets._PROCESS, cycle))
    return uniform(key, 2 * particle) * shape[0], uniform(key, 2 * particle + 1) * shape[1]


@pytest.mark.parametrize(
    ("relief", "cell_size", "parameters"),
    [
        (20.0, 1.0, {}),
        (500.0, 75.0, {"rock_erodibility": 1.0}),
        (60.0, 1.0, {"friction": 0.4, "evaporation": 0.05, "density": 3.0, "time_step": 0.7}),
        (5.0, 1.0, {"deposition_rate": 0.7, "longest_path": 40, "minimum_volume": 0.9, "evaporation": 0.01}),
    ],
)
def test_agrees_with_the_plain_reference(relief: float, cell_size: float, parameters: dict[str, Any]) -> None:
    """Drop by drop, so that there is only one order; across tiles, to the edge and beyond."""
    shape = (40, 52)
    world = Ground(hills(*shape, relief), soil(*shape, 0.02 * relief), cell_size)
    plain = reference.Map(world.bedrock.copy(), world.sediment.copy(), cell_size)
    off_edge = water_off_edge = abraded = 0.0
    steps = 0
    for cycle in range(60 if is_nightly() else 20):
        totals = world.erode(cycle=cycle, count=1, **parameters)
        off_edge += sum(totals.moved.off_map)
        water_off_edge += totals.water_off_edge
        abraded += sum(totals.moved.from_rock)
        steps += totals.steps
        reference.corrected(plain, start_of(1, cycle, shape), reference.Parameters(**parameters))
        np.testing.assert_allclose(world.bedrock, plain.bedrock, rtol=0.0, atol=1e-12 * relief)
        np.testing.assert_allclose(world.sediment, plain.sediment, rtol=0.0, atol=1e-12 * relief)
    assert steps == plain.steps
    assert off_edge == pytest.approx(plain.off_edge, rel=1e-10)
    assert water_off_edge == pytest.approx(plain.water_off_edge, rel=1e-10)
    assert abraded == pytest.approx(plain.abraded, rel=1e-10)
    assert water_off_edge > 0.0
    assert abraded > 0.0


def test_agrees_with_the_plain_reference_where_drops_share_a_tile() -> None:
    shape = (8, 8)  # one tile
    world = Ground(hills(*shape), soil(*shape))
    plain = reference.Map(world.bedrock.copy(), world.sediment.copy(), 1.0)
    world.erode(count=30)
    for particle in range(30):
        reference.corrected(plain, start_of(1, 0, shape, particle), reference.Parameters())
    np.testing.assert_allclose(world.ground, plain.ground, rtol=0.0, atol=1e-11)


def test_agrees_with_the_article_where_it_needs_no_correction() -> None:
    """No evaporation, no friction, all of the rock, steps shorter than a cell, and every cell visited in descent."""
    shape = (30, 40)
    scale, cell_size = 8.0, 30.0
    # A bowed slope on which a drop gathers speed and load all the way
    i, j = np.mgrid[: shape[0], : shape[1]].astype(float)
    height = 1.0 - i / 60.0 - j / 90.0 - (i * j) / 20_000.0
    parameters: dict[str, Any] = {
        "time_step": 0.3, "friction": 0.0, "evaporation": 0.0, "rock_erodibility": 1.0, "deposition_rate": 0.05,
        "longest_path": 25,
    }  # fmt: skip
    metres = scale * cell_size
    compared = 0
    for cycle in range(40):
        world = Ground(metres * height, cell_size=cell_size)
        totals = world.erode(cycle=cycle, count=1, **parameters)
        literal = height.copy()
        load, end = reference.article(literal, scale, start_of(1, cycle, shape), reference.Parameters(**parameters))
        if totals.water_off_edge > 0.0:
            assert sum(totals.moved.off_map) == pytest.approx(metres * load, rel=1e-9)
        else:
            # The article drops what is left; ours puts it down within a cell of the end.
            around = np.zeros(shape, bool)
            around[max(0, end[0] - 1) : end[0] + 2, max(0, end[1] - 1) : end[1] + 2] = True
            left = (world.ground - metres * literal)[around].sum()
            assert left == pytest.approx(metres * load, rel=1e-9)
            world.ground[around] = metres * literal[around]
        np.testing.assert_allclose(world.ground, metres * literal, rtol=0.0, atol=1e-12 * metres)
        compared += load > 0.0
    assert compared > 30


def extremes(ground: Layer) -> tuple[float, float]:
    """How far the worst cell stands above, and lies below, all its eight neighbours."""
    rows, columns = ground.shape
    padded = np.pad(ground, 1, mode="edge")
    around = np.stack(
        [padded[1 + a : 1 + a + rows, 1 + b : 1 + b + columns] for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
    )
    inner = (slice(1, -1), slice(1, -1))
    return float((ground - around.max(0))[inner].max()), float((around.min(0) - ground)[inner].max())


def test_no_spikes_and_no_pits_grow() -> None:
    i, j = np.mgrid[:96, :80].astype(float)
    start = 30.0 * np.exp(-((i - 48.0) ** 2 + (j - 40.0) ** 2) / 600.0)  # a smooth mountain
    world = Ground(start)
    for cycle in range(40):
        world.erode(cycle=cycle, count=400, rock_erodibility=1.0)
    spike, pit = extremes(world.ground)
    assert np.abs(world.ground - start).max() > 2.0
    assert spike < 0.3
    assert pit < 0.1


def test_nothing_digs_deeper_than_the_cell_ahead() -> None:
    """So the lowest point of the map stays the lowest, however greedy the drops are."""
    start = hills(64, 48, 60.0)
    world = Ground(start)
    for cycle in range(10):
        world.erode(cycle=cycle, count=300, rock_erodibility=1.0, deposition_rate=50.0)
    assert np.abs(world.ground - start).max() > 2.0
    assert world.ground.min() >= start.min() - 1e-12


def test_drops_do_not_race_as_they_dry() -> None:
    """On a plane a drop nears the speed at which friction balances the slope, however little of it is left."""
    slope = 0.2
    plane = np.ascontiguousarray(np.repeat(slope * np.arange(400.0, 0.0, -1.0)[:, None], 16, axis=1))
    world = Ground(plane)
    friction, dt = 0.5, 1.0
    totals = world.erode(
        count=200,
        time_step=dt,
        friction=friction,
        evaporation=0.002,
        deposition_rate=0.0,
        minimum_volume=1e-9,
        longest_path=100_000,
    )
    terminal = slope / np.hypot(1.0, slope) * (1.0 / friction - dt)  # v = (v + dt·a) · (1 − dt·f)
    key = np.uint64(stream(1, droplets._PROCESS, 0))
    distance = sum((1.0 - uniform(key, 2 * particle)) * 400.0 for particle in range(200))
    assert totals.steps == pytest.approx(distance / (terminal * dt), rel=0.05)
    assert totals.water_off_edge + totals.evaporated == pytest.approx(200.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_cell_is_named_and_not_spread(bad: float) -> None:
    world = Ground(hills(64, 64))
    world.bedrock[30, 20] = world.ground[30, 20] = bad
    totals = world.erode(count=3000)
    assert abs(totals.failed_row - 30) <= 1
    assert abs(totals.failed_column - 20) <= 1
    assert np.count_nonzero(~np.isfinite(world.ground)) == 1
    assert np.count_nonzero(~np.isfinite(world.sediment)) == 0


def test_a_map_without_any_number_fails_at_once() -> None:
    world = Ground(np.full((20, 30), np.nan))
    totals = world.erode(count=100)
    assert 0 <= totals.failed_row < 20
    assert 0 <= totals.failed_column < 30


@pytest.mark.parametrize("relief", [1e150, 1e300, 1e308])
def test_absurd_heights_do_not_become_nan(relief: float) -> None:
    world = Ground(hills(48, 40, relief))
    world.erode(count=500)
    assert np.isfinite(world.ground).all()
    assert np.isfinite(world.sediment).all()


@pytest.mark.timeout(20)
def test_a_load_that_rounding_cannot_settle_is_put_down() -> None:
    """The level over these cells swings between two values of the last digit; this once went on for ever."""
    last_digits = (2, 1, 1, 1, 1, 3, 2, 2, 2)
    ground = np.array([float(f"495.625247145433{digit}") for digit in last_digits])
    bedrock, sediment = ground.copy(), np.zeros(9)
    fields = SimpleNamespace(bedrock=bedrock, sediment=sediment, ground=ground, rows=3, columns=3)
    # The plain functions: the test's time limit can end them.
    assert math.isfinite(droplets.liquid_level(fields, 3, (0, 3, 0, 3), 5.99e-13))
    droplets.put_down(fields, 1, 1, 0, 5.99e-13)
    assert sediment.sum() == pytest.approx(5.99e-13, rel=1e-12)
    assert (sediment >= 0.0).all()


def test_flat_ground_stays_as_it_is() -> None:
    world = Ground(np.full((16, 24), 100.0))
    totals = world.erode(count=500)
    assert (world.ground == 100.0).all()
    assert totals.steps == 500  # each drop finds at its first step that nothing moves it
    assert totals.evaporated == 500.0


def test_layers_of_the_wrong_kind_are_refused() -> None:
    good = np.zeros((16, 16))
    for bad in (good.astype(np.float32), np.zeros((16, 32))[:, ::2], np.zeros((16, 17))):
        with pytest.raises(ValueError, match="C-contiguous float64"):
            erode(good, bad, good, one_kind(bad), 1.0, 0, 0, droplet_parameters())
