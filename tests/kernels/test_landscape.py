"""Landscapes over geological time, beside analytic results, a dense solution of the same equations, and a library."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels import hillslopes, powers, routing, stream_power
from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.landscape import RIVER_HEAD, STRETCH, Evolved, LandscapeParameters, evolve
from kernels.materials import Materials, one_kind
from kernels.neighbours import OUTLET, index_steps
from kernels.rates import MOBILITY, STRIDE, WEATHERING
from tests.nets.cases import tried

USUAL = LandscapeParameters(
    years=10_000.0,
    erodibility=5e-6,
    sediment_erodibility=1.0,
    cover=1.0,
    area_exponent=0.45,
    channel_area=0.0,
    slope_exponent=1.0,
    deposition=0.0,
    critical_slope=math.inf,
    settling_length=1000.0,
    diffusivity=0.0,
    soil_production=0.0,
    soil_depth=0.5,
    finer=1.0,
)
CELL = 60.0

Mask = NDArray[np.bool_]


def border(shape: tuple[int, int]) -> Mask:
    mask = np.ones(shape, np.bool_)
    mask[1:-1, 1:-1] = False
    return mask


class Land:
    """A map that evolves, with what it has gained and lost, in metres over one cell."""

    def __init__(self, rock: NDArray[np.float64], loose: NDArray[np.float64] | None = None, **parameters: float):
        self.rock = np.array(rock, np.float64, order="C")
        self.loose = np.zeros_like(self.rock) if loose is None else np.array(loose, np.float64, order="C")
        self.ground = self.rock + self.loose
        self.parameters = USUAL._replace(**parameters)  # type: ignore[arg-type]
        self.begin = float(self.rock.sum()), float(self.loose.sum())
        self.risen = self.off_map = self.worn = 0.0
        self.turn = 0

    def step(self, uplift: Any = 0.0, outlets: Mask | None = None, cell: float = CELL, **others: Any) -> Evolved:
        """One step; `uplift` is in metres a year."""
        evolved = evolve(
            self.rock, self.loose, self.ground, one_kind(self.loose), cell, self.parameters,
            np.asarray(uplift) * self.parameters.years, border(self.rock.shape) if outlets is None else outlets,
            columns_first=self.turn % 2 == 0, **others,
        )  # fmt: skip
        self.turn += 1
        self.risen += evolved.risen
        self.off_map += sum(evolved.moved.off_map)
        self.worn += sum(evolved.moved.from_rock) + sum(evolved.soil.from_rock)
        return evolved

    def check(self) -> None:
        """That nothing is lost, and nothing below 0."""
        scale = abs(self.begin[0]) + abs(self.begin[1]) + abs(self.risen) + self.worn + 1.0
        assert abs(self.rock.sum() - self.begin[0] - self.risen + self.worn) < 1e-10 * scale
        assert abs(self.loose.sum() - self.begin[1] - self.worn + self.off_map) < 1e-10 * scale
        assert self.loose.min() >= 0.0
        assert np.isfinite(self.ground).all()
        assert np.array_equal(self.ground, self.rock + self.loose)


def plain(rows: int, columns: int, seed: int = 1, relief: float = 5.0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).random((rows, columns)) * relief


# Powers


@given(st.lists(st.floats(1e-12, 1e15), min_size=1, max_size=1200), st.floats(0.05, 2.0))
@tried(50)
def test_powers_are_those_of_the_library(values: list[float], exponent: float) -> None:
    ours = np.array(values)
    for begin in range(0, len(ours), powers.BLOCK):
        powers.raise_to(ours[begin : begin + powers.BLOCK], exponent, np.empty(powers.BLOCK), np.empty(powers.BLOCK))
    assert np.allclose(ours, np.array(values) ** exponent, rtol=1e-13, atol=0.0)


# Order


@pytest.mark.parametrize("shape", [(2, 2), (3, 9), (20, 300), (260, 129), (300, 270)])
@pytest.mark.parametrize("seed", [1, 2])
def test_all_cells_come_once_and_before_those_that_they_drain_to(shape: tuple[int, int], seed: int) -> None:
    ground = plain(*shape, seed)
    ground += np.arange(shape[1])[::-1] * 0.02  # to the east, so that the last cells are mostly found before their turn
    outlets = stream_power.lowest_of_edge(ground)
    directions = flow_directions(fill(ground, outlets), outlets)
    rain = np.random.default_rng(seed).random(shape)
    guarded = np.full(ground.size + 1, -7, np.int32)  # nothing is written past the end
    totals = rain.copy()
    routing.order_from_springs(directions, guarded[:-1], totals)
    order = guarded[:-1]
    assert guarded[-1] == -7
    assert np.array_equal(np.sort(order), np.arange(ground.size))
    place = np.empty(ground.size, np.int64)
    place[order] = np.arange(ground.size)
    flows = directions.reshape(-1) != OUTLET
    below = np.arange(ground.size) + index_steps(shape[1])[directions.reshape(-1)]
    assert (place[flows] < place[below[flows]]).all()
    expected = routing.accumulate(directions, routing.routes(directions, 1.0).order, rain)
    assert np.allclose(totals, expected, rtol=1e-12)


# Analytic results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exponent", "shape"),
    [
        (1.0, (40, 90)),
        (2.0, (24, 31)),
        (0.7, (24, 31)),
        *(
            pytest.param(exponent, (side, side), marks=pytest.mark.nightly)
            for exponent, side in ((1.0, 64), (2.0, 48), (0.7, 48))
        ),
    ],
)
def test_in_a_steady_state_slope_and_area_are_as_they_must_be(exponent: float, shape: tuple[int, int]) -> None:
    """S = (U / K)^(1 / n) · A^(−m / n) (Howard 1994)."""
    erodibility = {1.0: 5e-6, 2.0: 2e-5, 0.7: 2e-6}[exponent]
    uplift = 1e-3
    land = Land(plain(*shape), slope_exponent=exponent, erodibility=erodibility, years=20_000.0)
    for _ in range(1000):
        before = land.ground.copy()
        land.step(uplift)
    rivers, rivers_before = stream_power.empty_rivers(*shape), stream_power.empty_rivers(*shape)
    stream_power.route(land.ground, border(shape), -math.inf, None, rivers)
    stream_power.route(before, border(shape), -math.inf, None, rivers_before)
    # Where a divide still moves it is not.
    is_steady = np.abs(land.ground - before).reshape(-1) < 0.005 * uplift * land.parameters.years
    is_steady &= rivers.area.reshape(-1) == rivers_before.area.reshape(-1)
    assert is_steady.mean() > 0.3
    direction = rivers.directions.reshape(-1)
    cells = np.flatnonzero((direction != OUTLET) & is_steady)
    below = cells + index_steps(shape[1])[direction[cells]]
    distance = np.where(direction[cells] < 4, CELL, CELL * math.sqrt(2.0))
    height = land.ground.reshape(-1)
    slope = (height[cells] - height[below]) / distance
    area = rivers.area.reshape(-1)[cells] * CELL**2
    expected = (uplift / erodibility) ** (1.0 / exponent) * area ** (-0.45 / exponent)
    assert np.abs(slope / expected - 1.0).max() < 0.02
    land.check()


def test_deposition_makes_a_steady_state_steeper() -> None:
    """By (1 + G · part of the load that comes from upstream)^(1 / n) (Yuan et al. 2019)."""
    land = Land(plain(48, 48), deposition=1.0, years=20_000.0)
    for _ in range(1000):
        land.step(1e-3)
    rivers = stream_power.empty_rivers(48, 48)
    stream_power.route(land.ground, border((48, 48)), -math.inf, None, rivers)
    direction = rivers.directions.reshape(-1)
    cells = np.flatnonzero(direction != OUTLET)
    below = cells + index_steps(48)[direction[cells]]
    distance = np.where(direction[cells] < 4, CELL, CELL * math.sqrt(2.0))
    area = rivers.area.reshape(-1)[cells]
    slope = (land.ground.reshape(-1)[cells] - land.ground.reshape(-1)[below]) / distance
    expected = 1e-3 / 5e-6 * (1.0 + (area - 1.0) / area) * (area * CELL**2) ** -0.45
    # Divides that still move change the loads of all that lies below them.
    wrong = np.abs(slope / expected - 1.0)
    assert np.median(wrong) < 0.005
    assert np.percentile(wrong, 75) < 0.02
    assert np.median(slope[area > 20.0] * (area[area > 20.0] * CELL**2) ** 0.45) > 1.9 * 1e-3 / 5e-6


def test_a_knickpoint_runs_upstream_at_its_speed() -> None:
    """K · A^m where n is 1: with all rain on the highest cell the area is the same along the river."""
    length, speed_cells = 400, 200.0
    ground = np.full((3, length), 1e4)
    ground[1] = 0.01 * CELL * np.arange(length)
    ground[1] += 100.0  # the base level has fallen
    ground[1, 0] = 0.0
    outlets = np.zeros((3, length), np.bool_)
    outlets[1, 0] = True
    rain = np.zeros((3, length), np.float32)
    rain[1, -1] = 1000.0
    years, steps = 500.0, 400
    speed = 5e-6 * (1000.0 * CELL**2) ** 0.45
    assert speed * years * steps / CELL < speed_cells
    land = Land(ground, years=years, erodibility=5e-6)
    for _ in range(steps):
        land.step(outlets=outlets, rain=rain)
    travelled = speed * years * steps
    place = CELL * float(np.interp(50.0, land.ground[1], np.arange(length)))
    assert place == pytest.approx(travelled, rel=0.05)


def test_a_hillslope_becomes_a_parabola() -> None:
    """κ z'' = −U between two rivers (Culling 1960), whichever way it lies."""
    uplift, diffusivity, count = 1e-4, 0.05, 41
    for turned in (False, True):
        shape = (5, count)
        outlets = np.zeros(shape, np.bool_)
        outlets[:, 0] = outlets[:, -1] = True
        rock = np.zeros(shape)
        if turned:
            rock, outlets = rock.T.copy(), outlets.T.copy()
        land = Land(rock, erodibility=0.0, diffusivity=diffusivity, years=100_000.0)
        for _ in range(4000):
            land.step(uplift, outlets, cell=10.0)
        height = land.ground.T if turned else land.ground
        place = 10.0 * np.arange(count)
        expected = uplift / (2.0 * diffusivity) * place * (place[-1] - place)
        assert np.abs(height - expected).max() < 0.005 * expected.max()
        land.check()


def test_creep_is_that_of_a_matrix() -> None:
    """Each of its two halves, beside a dense solution, with places that are slower, fixed or closed."""
    random = np.random.default_rng(5)
    for count, is_even in ((2, False), (7, False), (70, False), (2, True), (7, True), (70, True)):
        height, free = random.random((count, 9)) * 10.0, random.choice([1.0, 0.375, 0.0, -1.0], (count, 9))
        if is_even:
            free[1:-1] = 1.0
            free[[0, -1]] = random.choice([1.0, -1.0], (2, 9))
        ours = height.copy()
        hillslopes.creep(ours, free.astype(np.float32), 3.7, ours, along_columns=True)
        across = np.ascontiguousarray(height.T)
        hillslopes.creep(across, np.ascontiguousarray(free.T, np.float32), 3.7, across, along_columns=False)
        for lane in range(9):
            fast = np.abs(free[:, lane])
            between = 3.7 * np.minimum(fast[1:], fast[:-1])
            matrix = np.eye(count)
            for place in range(count):
                if free[place, lane] <= 0.0:
                    continue
                for other, pace in ((place - 1, between[place - 1 : place]), (place + 1, between[place : place + 1])):
                    if 0 <= other < count:
                        matrix[place, place] += pace[0]
                        matrix[place, other] -= pace[0]
            expected = np.linalg.solve(matrix, height[:, lane])
            assert np.allclose(ours[:, lane], expected, rtol=1e-12)
            assert np.allclose(across[lane], expected, rtol=1e-12)


def test_what_creeps_into_a_channel_is_carried_off() -> None:
    """In a valley whose river wears next to nothing, its bed keeps its height, and what the slopes lose leaves."""
    rows, columns = np.mgrid[:40, :31]
    cell_size, bed = 50.0, columns == 15
    rock = 400.0 + 12.0 * np.abs(columns - 15.0) - 0.5 * rows
    before, loose, ground = rock.copy(), np.zeros(rock.shape), rock.copy()
    outlets = bed & (rows == 39)
    p = USUAL._replace(erodibility=1e-30, diffusivity=0.02)
    evolved = evolve(rock, loose, ground, one_kind(loose), cell_size, p, 0.0, outlets)
    channel = bed & ((rows + 1) * 31 >= RIVER_HEAD / cell_size**2) & ~outlets
    assert channel.sum() > 30
    assert np.allclose(ground[channel], before[channel], rtol=0.0, atol=1e-9)
    lost = float((before - ground)[~bed].sum())
    assert evolved.moved.off_map[0] == pytest.approx(lost - float((ground - before)[bed].sum()), rel=1e-9)
    assert lost > 1.0
    heads = bed & ~channel & ~outlets
    assert np.all(ground[heads] > before[heads] + 1e-3)


def test_soil_follows_the_exponential_law() -> None:
    """d(t) = d₀ · ln(exp(d / d₀) + P · t / d₀) (Heimsath et al. 1997), in one step as in many."""
    loose = np.linspace(0.0, 30.0, 64).reshape(8, 8)
    expected = 0.5 * np.log(np.exp(loose / 0.5) + 1e-4 * 10_000.0 / 0.5)
    for parts in (1, 10):
        land = Land(np.full((8, 8), 100.0), loose, erodibility=0.0, soil_production=1e-4, years=10_000.0 / parts)
        for _ in range(parts):
            land.step()
        assert np.allclose(land.loose, expected, rtol=1e-9)
        assert np.allclose(land.ground, 100.0 + loose, rtol=1e-13)
        land.check()


# The same equations, solved otherwise


def dense_solution(
    ground: NDArray[np.float64], rivers: stream_power.Rivers, parameters: LandscapeParameters
) -> NDArray[np.float64]:
    """z + F (z − z_r) − g · Σ upstream (z before − z) = z before, as one system of equations."""
    count = ground.size
    direction, steps = rivers.directions.reshape(-1), index_steps(ground.shape[1])
    before, area = ground.reshape(-1), rivers.area.reshape(-1)
    upstream = np.zeros((count, count))
    for cell in range(count):
        here = cell
        while direction[here] != OUTLET:
            here += steps[direction[here]]
            upstream[here, cell] = 1.0
    matrix, right = np.eye(count), before.copy()
    for cell in range(count):
        if direction[cell] == OUTLET:
            continue
        distance = CELL if direction[cell] < 4 else CELL * math.sqrt(2.0)
        wear = parameters.years * parameters.erodibility * (area[cell] * CELL**2) ** parameters.area_exponent / distance
        matrix[cell, cell] += wear
        matrix[cell, cell + steps[direction[cell]]] -= wear
        settled = min(parameters.deposition / area[cell], 1.0)
        matrix[cell] += settled * upstream[cell]
        right[cell] += settled * (upstream[cell] @ before)
    solved: NDArray[np.float64] = np.linalg.solve(matrix, right)
    return solved.reshape(ground.shape)


@pytest.mark.parametrize("deposition", [0.0, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_a_step_is_the_solution_of_its_equations(deposition: float, seed: int) -> None:
    shape = (11, 14)
    south, east = np.mgrid[: shape[0], : shape[1]]
    # A land without depressions, and with captured areas of all sizes
    ground = 40.0 * np.minimum(east + 1, shape[1] - east) + 3.0 * south + plain(*shape, seed, 15.0)
    land = Land(ground, deposition=deposition, years=200_000.0)
    outlets = border(shape)
    rivers = stream_power.empty_rivers(*shape)
    from kernels.filling import fill

    land.rock[...] = fill(ground, outlets)
    land.ground[...] = land.rock
    land.begin = float(land.rock.sum()), 0.0
    stream_power.route(land.ground, outlets, -math.inf, None, rivers)
    expected = dense_solution(land.ground, rivers, land.parameters)
    land.step(outlets=outlets)
    assert np.allclose(land.ground, expected, rtol=1e-11, atol=1e-9)
    land.check()


def test_beside_a_library() -> None:
    """fastscapelib (Bovy et al.), with its own filling and routing: within what two orders of flow differ by."""
    fastscapelib = pytest.importorskip("fastscapelib")
    side, uplift, years = 101, 1e-3, 20_000.0
    start = plain(side, side, 4)
    land = Land(start, years=years)
    grid = fastscapelib.RasterGrid([side, side], [CELL, CELL], fastscapelib.NodeStatus.FIXED_VALUE)
    flow = fastscapelib.FlowGraph(grid, [fastscapelib.SingleFlowRouter(), fastscapelib.MSTSinkResolver()])
    eroder = fastscapelib.SPLEroder(flow, 5e-6, 0.45, 1.0, 1e-6)
    theirs = start.copy()
    inside = ~border((side, side))
    for _ in range(400):
        land.step(uplift)
        theirs[inside] += uplift * years
        routed = flow.update_routes(theirs)
        theirs -= eroder.erode(theirs, flow.accumulate(1.0), years)
        del routed
    assert land.ground.mean() == pytest.approx(theirs.mean(), rel=0.03)
    assert land.ground.max() == pytest.approx(theirs.max(), rel=0.15)
    for part in (10, 50, 90):
        assert np.percentile(land.ground, part) == pytest.approx(np.percentile(theirs, part), rel=0.1, abs=1.0)


# What holds whatever the land


@given(
    st.integers(0, 2**31 - 1), st.integers(2, 30), st.integers(2, 30), st.floats(1.0, 1e6), st.floats(0.0, 1e-3),
    st.floats(0.0, 8.0), st.floats(0.05, 3.0), st.floats(0.0, 5.0), st.floats(0.0, 1e-2),
    st.sampled_from([0.7, 1.0, 1.8]),
)  # fmt: skip
@tried(80)
def test_nothing_is_lost(
    seed: int, rows: int, columns: int, years: float, erodibility: float, deposition: float, steepest: float,
    diffusivity: float, soil: float, exponent: float,
) -> None:  # fmt: skip
    random = np.random.default_rng(seed)
    land = Land(
        random.standard_normal((rows, columns)) * 10.0 ** random.uniform(-1, 3),
        random.random((rows, columns)) * 5.0 * random.integers(0, 2),
        years=years, erodibility=erodibility, deposition=deposition, critical_slope=steepest, diffusivity=diffusivity,
        soil_production=soil, slope_exponent=exponent,
    )  # fmt: skip
    sea_level = random.choice([-math.inf, 0.0])
    for _ in range(3):
        outlets = stream_power.lowest_of_edge(land.ground)
        base = land.ground[outlets]
        land.step(random.uniform(-1e-3, 1e-3), outlets, sea_level=sea_level)
        if not diffusivity and sea_level == -math.inf:
            assert np.allclose(land.ground[outlets], base), "the base level stays"
        land.check()


CELLS = [20.0, 100.0]  # metres: of the larger ones some are rivers, which carry off what creeps into them


@pytest.mark.parametrize("cell_size", CELLS)
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_kinds_are_not_lost(exponent: float, cell_size: float) -> None:
    random = np.random.default_rng(2)
    shape, kinds = (30, 40), 3
    mix = random.random((*shape, kinds)) * np.array([2.0, 0.0, 0.5])
    loose = mix[..., 0] + mix[..., 1] + mix[..., 2]
    rock = 200.0 * random.random(shape)
    materials = _three_kinds(mix)
    ground = rock + loose
    p = USUAL._replace(
        deposition=1.0, critical_slope=0.7, diffusivity=0.3, soil_production=1e-4, slope_exponent=exponent,
        erodibility=5e-5, years=3000.0,
    )  # fmt: skip
    stored, rock_before = mix.sum((0, 1)), rock.sum()
    gained, lost, risen = np.zeros(kinds), np.zeros(kinds), 0.0
    for step in range(12):
        outlets = stream_power.lowest_of_edge(ground)
        evolved = evolve(
            rock, loose, ground, materials, cell_size, p, 1.0, outlets, sea_level=20.0, columns_first=step % 2 == 0
        )
        gained += np.add(evolved.moved.from_rock, evolved.soil.from_rock)
        lost += evolved.moved.off_map
        risen += evolved.risen
        assert mix.min() >= 0.0
        assert np.array_equal(loose, mix[..., 0] + mix[..., 1] + mix[..., 2])
        assert np.array_equal(ground, rock + loose)
    assert np.allclose(mix.sum((0, 1)), stored + gained - lost, rtol=1e-11)
    assert rock.sum() == pytest.approx(rock_before + risen - gained.sum(), rel=1e-11)
    assert (lost > 0.0)[[0, 2]].all() and gained[1] > 0.0


@pytest.mark.parametrize("kind", [0, 2])
def test_next_to_nothing_of_a_kind_is_worn_as_little(kind: int) -> None:
    shape = (12, 15)
    rock, mix = plain(*shape, relief=50.0), np.zeros((*shape, 3))
    mix[3:9, 3:9, kind] = 1e-320  # by which nothing can be divided
    loose = mix.sum(axis=2)
    ground = rock + loose
    evolve(rock, loose, ground, _three_kinds(mix), 20.0, USUAL, 1.0, border(shape))
    assert np.isfinite(ground).all()


@pytest.mark.parametrize("kinds", [1, 3])
@pytest.mark.parametrize("varied", [False, True])
def test_what_is_still_is_as_if_it_could_not_move(varied: bool, kinds: int) -> None:
    """To the last bit, also beside other rates."""
    shape = (20, 24)
    still = np.zeros(shape, np.bool_)
    still[3:9, 5:15] = True
    rates = np.ones((*shape, STRIDE), np.float32)
    if varied:
        rates[..., MOBILITY] = np.linspace(0.0, 1.0, 24)
        rates[..., WEATHERING] = 0.5
    held = rates.copy()
    held[still, MOBILITY] = 0.0
    p = USUAL._replace(deposition=1.0, critical_slope=0.7, diffusivity=0.3, soil_production=1e-4, erodibility=5e-5)
    results = []
    for factors, others in ((held, {}), (rates if varied else None, {"still": still})):
        rock, mix = plain(*shape, relief=200.0), np.ones((*shape, kinds))
        loose = mix[..., 0] if kinds == 1 else mix.sum(axis=2)
        ground = rock + loose
        materials = one_kind(loose) if kinds == 1 else _three_kinds(mix)
        begin = ground.copy()
        for _ in range(3):
            evolve(rock, loose, ground, materials, 20.0, p, 0.0, border(shape), rates=factors, **others)
        assert np.array_equal(ground[still], begin[still]) and not np.array_equal(ground[~still], begin[~still])
        results.append(np.concatenate([rock, loose, ground]))
    assert np.array_equal(*results)


def _three_kinds(mix: NDArray[np.float64]) -> Materials:
    """Strata of two rocks, of which one becomes the second kind and breaks into the third."""
    ones = np.ones(3)
    return one_kind(mix[..., 0])._replace(
        kinds=3, mix=mix.reshape(-1), erodibility=np.array([1.0, 0.4, 2.0]), abrasion=ones, porosity=ones,
        permeability=ones, deposition=ones, suspension=ones, repose=ones, worn=np.arange(3),
        strata=np.array([0, 1, 1, 0], np.uint8), steps_per_metre=0.02,
        rise=np.full((1, mix.shape[0] * mix.shape[1]), 210.0, np.float32),
        rock_erodibility=np.array([1.0, 0.3]), rock_worn=np.array([1, 1]), rock_broken=np.array([2, 2]),
    )  # fmt: skip


@pytest.mark.parametrize("sea_level", [-math.inf, 60.0])
@pytest.mark.parametrize("cell_size", CELLS)
def test_one_kind_of_many_is_the_same_land(cell_size: float, sea_level: float) -> None:
    """Heights do not hang on how many kinds are told apart, where all are alike."""
    random = np.random.default_rng(9)
    shape = (24, 33)
    rock, loose = 300.0 * random.random(shape), random.random(shape)
    p = USUAL._replace(deposition=0.8, critical_slope=0.6, diffusivity=0.1, erodibility=2e-5)
    lands = []
    for kinds in (1, 3):
        mix = np.zeros((*shape, kinds))
        mix[..., 0] = loose
        one = one_kind(mix[..., 0].copy())
        materials = (
            one
            if kinds == 1
            else _three_kinds(mix)._replace(
                erodibility=np.ones(3), strata=np.zeros(1, np.uint8), rock_erodibility=np.ones(2)
            )
        )
        own_rock, own_loose = rock.copy(), (one.mix.reshape(shape) if kinds == 1 else loose.copy())
        ground = own_rock + own_loose
        outlets = stream_power.lowest_of_edge(ground)
        for _ in range(3):
            evolve(own_rock, own_loose, ground, materials, cell_size, p, 2.0, outlets, sea_level=sea_level)
        lands.append(ground)
    assert np.allclose(lands[0], lands[1], rtol=1e-9)


def test_the_same_land_has_the_same_bits() -> None:
    lands = []
    for _ in range(2):
        land = Land(plain(50, 70, 3), deposition=1.0, critical_slope=0.6, diffusivity=0.02, soil_production=1e-5)
        for _ in range(20):
            land.step(1e-3, stream_power.lowest_of_edge(land.ground))
        lands.append(land)
    assert lands[0].ground.tobytes() == lands[1].ground.tobytes()


# Lakes, sea and edges


def test_threads_share_several_kinds_without_a_trace() -> None:
    """Heights, mix and what was moved: of each piece that a thread takes, and of all together, in one order."""
    random = np.random.default_rng(5)
    shape = (2 * STRETCH // 128 + 5, 128)
    parameters = USUAL._replace(deposition=0.4, diffusivity=0.01, soil_production=1e-4)
    rock, loose = plain(*shape, relief=300.0), random.random((*shape, 3))
    bits, threads = set(), numba.config.NUMBA_NUM_THREADS
    for number in (1, 2, 2):
        numba.set_num_threads(min(number, threads))
        own, mix = rock.copy(), loose.copy()
        sediment = mix[..., 0] + mix[..., 1] + mix[..., 2]
        ground = own + sediment
        evolved = evolve(own, sediment, ground, _three_kinds(mix), CELL, parameters, 2.0, border(shape))
        bits.add((own.tobytes(), mix.tobytes(), ground.tobytes(), evolved))
    assert len(bits) == 1
    moved = [np.array(each) for each in (evolved.moved.from_rock, evolved.moved.off_map, evolved.soil.from_rock)]
    gained = own.sum() + mix.sum() - rock.sum() - loose.sum()
    assert gained == pytest.approx(evolved.risen - moved[1].sum(), rel=1e-9)
    assert mix.sum(axis=(0, 1)) - loose.sum(axis=(0, 1)) == pytest.approx(moved[0] - moved[1] + moved[2], rel=1e-9)


def test_a_lake_keeps_what_comes_until_it_is_full() -> None:
    """A bowl between high slopes: first nothing passes its sill, in the end all does."""
    side = 41
    south, east = np.mgrid[:side, :side] - side // 2
    distance = np.hypot(south, east)
    ground = 300.0 + 20.0 * distance - 250.0 * np.exp(-((distance / 6.0) ** 2))
    ground[side // 2, side // 2 :] = np.minimum(
        ground[side // 2, side // 2 :], 320.0 - 2.0 * np.arange(side - side // 2)
    )
    land = Land(ground, years=2000.0, erodibility=2e-6, deposition=0.2)
    outlets = stream_power.lowest_of_edge(land.ground)
    rivers = stream_power.empty_rivers(side, side)
    stream_power.route(land.ground, outlets, -math.inf, None, rivers)
    depth = rivers.surface - land.ground
    lake = depth > 0.5
    assert lake.sum() > 50
    land.step(outlets=outlets)
    filled = land.ground[lake] - ground[lake]
    assert (filled > 0.0).all()
    assert (filled <= depth[lake] + 1e-9).all(), "nowhere above its level"
    for _ in range(400):
        land.step(outlets=outlets)
    stream_power.route(land.ground, outlets, -math.inf, None, rivers)
    assert (rivers.surface - land.ground).max() < 0.05 * depth.max()
    land.check()


def test_a_delta_grows_into_the_sea() -> None:
    """What settles off a coast stays below the sea's level, and makes land where it reaches it."""
    rows, columns = 40, 60
    south, east = np.mgrid[:rows, :columns]
    ground = 12.0 * (30.0 - east) + 4.0 * np.abs(south - rows / 2)
    ground[:, 30:] = -0.6 * (east[:, 30:] - 29.0) - 0.05 * south[:, 30:]
    land = Land(ground, erodibility=2e-5, deposition=0.3, years=2000.0, settling_length=150.0)
    sea = ground < 0.0
    outlets = stream_power.lowest_of_edge(land.ground)
    land.step(outlets=outlets, sea_level=0.0)
    laid = land.ground - ground
    assert laid[sea].min() >= 0.0 and laid[sea].max() > 0.0
    assert land.ground[sea].max() <= 1e-9
    for _ in range(60):
        land.step(outlets=stream_power.lowest_of_edge(land.ground), sea_level=0.0)
    assert (land.ground[:, 30:45] > -1e-9).sum() > 20, "the coast has moved out"
    land.check()


def test_the_edge_is_worn_but_for_its_low_places() -> None:
    ground = plain(30, 30, 7, 100.0)
    ground[0] += 300.0
    land = Land(ground, erodibility=1e-4)
    before = land.ground[0].copy()
    for _ in range(50):
        outlets = stream_power.lowest_of_edge(land.ground)
        assert outlets.any()
        assert not outlets[1:-1, 1:-1].any()
        land.step(outlets=outlets)
    assert (land.ground[0] < before - 50.0).mean() > 0.4, "no wall is left standing"


def test_what_may_not_move_does_not() -> None:
    rates = np.ones((40, 40, STRIDE), np.float32)
    rates[10:20, 10:30, MOBILITY] = 0.0
    rock, loose = plain(40, 40, 8, 500.0), np.ones((40, 40))
    land = Land(rock, loose, deposition=1.0, diffusivity=0.5, critical_slope=0.5, soil_production=1e-4, years=5e4)
    for _ in range(5):
        land.step(rates=rates)
    assert np.array_equal(land.rock[10:20, 10:30], rock[10:20, 10:30])
    assert (land.loose[10:20, 10:30] == 1.0).all()
    assert (land.rock != rock).mean() > 0.5
    land.check()


def test_slopes_stand_no_steeper_than_they_can() -> None:
    land = Land(plain(80, 80, 2), critical_slope=0.65, erodibility=2e-6, years=20_000.0)
    for _ in range(300):
        land.step(1e-3)
    rivers = stream_power.empty_rivers(80, 80)
    stream_power.route(land.ground, border((80, 80)), -math.inf, None, rivers)
    direction = rivers.directions.reshape(-1)
    cells = np.flatnonzero(direction != OUTLET)
    below = cells + index_steps(80)[direction[cells]]
    distance = np.where(direction[cells] < 4, CELL, CELL * math.sqrt(2.0))
    slope = (land.ground.reshape(-1)[cells] - land.ground.reshape(-1)[below]) / distance
    # A step of uplift and incision later
    assert np.percentile(slope, 99.9) < 0.65 + 20.0 / CELL + 0.02
    assert (slope > 0.55).mean() > 0.2, "many crowd there"
