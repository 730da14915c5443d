"""The particle engine: the order of events, the number of threads, the edges, and what is cached."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from kernels.particles import (
    ENDED,
    FAILED,
    REACH,
    RUNNING,
    _board,
    _cut,
    _threads_worth,
    counted,
    engine,
    tile_side,
)
from kernels.random import stream, uniform
from tests.kernels_at_hand import compile_all
from tests.nets.profile import is_nightly

SHAPES = [(8, 8), (8, 300), (9, 31), (64, 64), (150, 131), (520, 600)]


class Trail(NamedTuple):
    """What a walker reads and writes: it turns away from where others went before."""

    visits: NDArray[np.float64]
    rows: int
    columns: int


class Habits(NamedTuple):
    life: float
    doomed: float  # the number of a walker that fails, or -1
    lost: float  # the number of a walker that leaves the map without ending, or -1
    wrap: bool


@njit
def spawn(particle: int, key: np.uint64, trail: Trail, habits: Habits) -> Any:
    row = uniform(key, 2 * particle) * trail.rows
    column = uniform(key, 2 * particle + 1) * trail.columns
    return row, column, float(particle), 0.0, 0.0


@register_jitable
def wave(angle: float) -> float:
    """As a sine, but of operations that every processor rounds alike, as walkers are chaotic."""
    return abs((angle - 1.0) % 4.0 - 2.0) - 1.0


@njit
def step(state: Any, trail: Trail, habits: Habits) -> Any:
    row, column, number, age, heading = state
    if number == habits.doomed and age == 3.0:
        return state, FAILED
    if number == habits.lost and age == 3.0:
        return (math.nan, column, number, age + 1.0, heading), RUNNING
    i, j = int(row), int(column)
    around = 0.0
    for a in range(i - 1, i + 2):
        for b in range(j - 1, j + 2):
            if habits.wrap or (0 <= a < trail.rows and 0 <= b < trail.columns):
                around += trail.visits[a % trail.rows, b % trail.columns] * (3.0 + a - i + 0.5 * (b - j))
    heading += 0.7 + wave(around)
    trail.visits[i, j] += 1.0 + 0.01 * number
    row += 0.9 * wave(heading)
    column += 0.9 * wave(heading + 1.0)
    age += 1.0
    if habits.wrap:
        row, column = row % trail.rows, column % trail.columns
    inside = 0.0 <= row < trail.rows and 0.0 <= column < trail.columns
    return (row, column, number, age, heading), RUNNING if inside and age < habits.life else ENDED


# Numba's cache does not notice when this file changes, but another name.
run = engine(spawn, step, slots=5, name="walkers_" + hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8])


def walk(
    shape: tuple[int, int],
    count: int = 300,
    life: float = 90.0,
    doomed: float = -1.0,
    lost: float = -1.0,
    wrap: bool = False,
) -> Any:
    trail = Trail(np.zeros(shape), *shape)
    key = np.uint64(stream(11, 22, 33))
    particles, status = run(count, key, *shape, trail, Habits(life, doomed, lost, wrap), wrap=wrap)
    return trail.visits, particles, status


def walk_plainly(shape: tuple[int, int], count: int = 300, life: float = 90.0, wrap: bool = False) -> Any:
    """The same in Python, with the order of events written out."""
    trail = Trail(np.zeros(shape), *shape)
    habits = Habits(life, -1.0, -1.0, wrap)
    key = np.uint64(stream(11, 22, 33))
    row_tiles, column_tiles = (_cut(cells, tile_side(*shape), wrap)[0] for cells in shape)
    states = [spawn.py_func(particle, key, trail, habits) for particle in range(count)]
    status = [RUNNING] * count

    def tile_of(state: Any) -> tuple[int, int]:
        return row_tiles[int(state[0])], column_tiles[int(state[1])]

    while RUNNING in status:
        for colour in ((0, 0), (0, 1), (1, 0), (1, 1)):
            waiting = [p for p in range(count) if status[p] == RUNNING]
            standing = {p: tile_of(states[p]) for p in waiting}
            for tile in sorted({t for t in standing.values() if (t[0] % 2, t[1] % 2) == colour}):
                for p in waiting:
                    if standing[p] == tile:
                        while status[p] == RUNNING and tile_of(states[p]) == tile:
                            states[p], status[p] = step.py_func(states[p], trail, habits)
    return trail.visits, np.array(states), np.array(status)


@pytest.mark.parametrize("shape", [(8, 8), (9, 31), (60, 45)])
@pytest.mark.parametrize("wrap", [False, True])
def test_order_of_events(shape: tuple[int, int], wrap: bool) -> None:
    for ours, plain in zip(walk(shape, 60, 40.0, wrap=wrap), walk_plainly(shape, 60, 40.0, wrap), strict=True):
        assert np.array_equal(ours, plain)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", [False, True])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], wrap: bool, two_threads: int) -> None:
    numba.set_num_threads(1)
    alone = walk(shape, 2000, wrap=wrap)
    numba.set_num_threads(two_threads)
    for _ in range(20 if is_nightly() else 2):
        for one, two in zip(alone, walk(shape, 2000, wrap=wrap), strict=True):
            assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_all_particles_end(shape: tuple[int, int]) -> None:
    visits, particles, status = walk(shape)
    assert (status == ENDED).all()
    assert np.array_equal(particles[:, 2], np.arange(300))
    assert visits.sum() == pytest.approx((particles[:, 3] * (1.0 + 0.01 * particles[:, 2])).sum())


@pytest.mark.parametrize("shape", [(9, 31), (150, 131)])
def test_a_run_that_counts_its_work_does_the_same(shape: tuple[int, int]) -> None:
    plain = walk(shape, 200)
    with counted() as counts:
        for one, other in zip(plain, walk(shape, 200), strict=True):
            assert one.tobytes() == other.tobytes()
    walk(shape, 200)
    (count,) = counts
    assert sum(int(steps.sum()) for steps in count.steps) == plain[1][:, 3].sum()
    assert count.lots == 4
    assert len(count.steps) % 4 == 0  # rounds of four colours


def test_no_particles() -> None:
    _, particles, status = walk((20, 20), 0)
    assert particles.shape == (0, 5)
    assert status.shape == (0,)


def test_a_failure_is_reported_and_stops_the_run() -> None:
    _, particles, status = walk((200, 200), 300, 1e4, doomed=17.0)
    assert [int(number) for number in particles[status == FAILED, 2]] == [17]
    assert (status == RUNNING).any()


def test_a_particle_that_leaves_the_map_without_ending_has_failed() -> None:
    _, particles, status = walk((200, 200), lost=5.0)
    assert [int(number) for number in particles[status == FAILED, 2]] == [5]


def test_tiles_keep_apart_and_depend_on_the_map_alone() -> None:
    for shape in SHAPES:
        assert 8 <= tile_side(*shape) <= 64
        assert tile_side(*shape) == tile_side(*shape[::-1])
    assert tile_side(1024, 1024) == 64


def test_no_more_threads_are_asked_for_than_tiles_can_be_run_at_a_time(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba, "get_num_threads", lambda: 16)
    # Of one colour there is every other tile of every other row.
    for shape, wrap, most in (((8, 8), False, 1), ((8, 40), False, 3), ((8, 40), True, 2), ((16, 24), False, 2)):
        for count, threads in ((1000, most), (8, 1)):
            with subtests.test(shape=shape, wrap=wrap, count=count):
                assert _threads_worth(_board(count, 2, *shape, tile_side(*shape), wrap)) == threads
    assert _threads_worth(_board(1000, 2, 2000, 2000, 64, wrap=False)) == 16


@pytest.mark.parametrize("wrap", [False, True])
def test_no_cell_is_in_reach_of_two_tiles_of_one_colour(wrap: bool) -> None:
    for side in (8, 16, 64):
        for cells in range(1, 5 * side):
            tiles, begins = _cut(cells, side, wrap)
            assert (begins[0], begins[-1]) == (0, cells)
            for colour in (0, 1):
                reached: list[int] = []
                for tile in range(colour, len(begins) - 1, 2):
                    inside = np.flatnonzero(tiles == tile)
                    assert np.array_equal(inside, np.arange(begins[tile], begins[tile + 1]))
                    near = {int(cell) + step for cell in inside for step in range(-REACH, REACH + 1)}
                    near = {cell % cells for cell in near} if wrap else {cell for cell in near if 0 <= cell < cells}
                    reached += near
                assert len(reached) == len(set(reached)), (cells, side)


PROGRAM = """
from app.engine.builds import all_builds, prepare
from app.engine.compiling import only_from_cache

for build in all_builds():
    with only_from_cache():
        prepare(build)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing() -> None:
    compile_all()
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
