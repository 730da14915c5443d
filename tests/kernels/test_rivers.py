"""Filling, directions, flow paths and accumulation, against what others compute."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.sparse import csgraph
from skimage.morphology import reconstruction

from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS, index_steps
from kernels.ocean import outlet_mask
from kernels.path_cost import path_cost
from kernels.rivers import Drainage, drain
from kernels.routing import accumulate, catchment, strahler_orders, way_to_outlet
from tests.kernels.relief import RELIEFS, spiral
from tests.kernels.terrain import hills
from tests.nets.cases import tried

CELL_SIZE = 12.5

Heights = NDArray[np.float64]
Case = tuple[str, bool]
CASES = [(name, open_edges) for name in RELIEFS for open_edges in (True, False)]
cases = pytest.mark.parametrize("case", CASES, ids=[f"{name}, {'open' if edges else 'walls'}" for name, edges in CASES])


@functools.cache
def drained(case: Case) -> tuple[Heights, Drainage]:
    name, open_edges = case
    ground, sea_level = RELIEFS[name]()
    return ground, drain(ground, CELL_SIZE, sea_level, open_edges=open_edges)


def neighbours_of(values: NDArray[Any], beyond: Any) -> NDArray[Any]:
    """The values of the eight neighbours of each cell, [number, row, column]; `beyond` the map's edge."""
    rows, columns = values.shape
    padded = np.pad(values, 1, constant_values=beyond)
    return np.stack(
        [padded[1 + i : 1 + i + rows, 1 + j : 1 + j + columns] for i, j in zip(ROW_STEPS, COLUMN_STEPS, strict=True)]
    )


def receivers(directions: NDArray[np.int8]) -> NDArray[np.int64]:
    """The cell that each cell drains to, flat; an outlet to itself."""
    return np.arange(directions.size) + index_steps(directions.shape[1])[directions.reshape(-1)]


def forest(directions: NDArray[np.int8]) -> sparse.csr_array:
    """The graph of all directions, from each cell to its receiver, with the lengths of the steps in metres."""
    cells = np.flatnonzero(directions.reshape(-1) != OUTLET)
    lengths = CELL_SIZE * LENGTHS[directions.reshape(-1)[cells]]
    return sparse.csr_array((lengths, (cells, receivers(directions)[cells])), shape=(directions.size, directions.size))


def reference_fill(ground: Heights, outlets: NDArray[np.bool_]) -> Heights:
    seed = np.where(outlets, ground, ground.max())
    filled: Heights = reconstruction(seed, ground, method="erosion", footprint=np.ones((3, 3)))
    return filled


@cases
def test_fill_has_the_bits_of_a_reconstruction_by_erosion(case: Case) -> None:
    ground, drainage = drained(case)
    outlets = outlet_mask(drainage.ocean, case[1])
    assert np.array_equal(drainage.filled, reference_fill(ground, outlets))
    assert outlets.any()
    if case[0] not in ("plain", "all ocean", "ditch that drains"):
        assert (drainage.filled > ground).any()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("roughness", [0.4, 0.8, 1.2, 1.8])
def test_fill_of_smooth_and_rough_terrain_with_outlets_anywhere(seed: int, roughness: float) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 70, 2)
    ground = np.sign(hills(rows, columns, 2.0, seed) - 1.0) * np.abs(hills(rows, columns, 2.0, seed) - 1.0) ** roughness
    ground += rng.normal(0.0, 0.1, ground.shape)
    outlets = rng.random(ground.shape) < 0.01
    outlets[rng.integers(rows), rng.integers(columns)] = True
    assert np.array_equal(fill(ground, outlets), reference_fill(ground, outlets))


integer_maps = arrays.arrays(
    np.int64, st.tuples(st.integers(2, 12), st.integers(2, 12)), elements=st.integers(0, 4)
).map(lambda heights: heights.astype(np.float64))


@tried(100)
@given(ground=integer_maps, sea_level=st.sampled_from([-math.inf, 1.0, 2.0]), open_edges=st.booleans())
def test_maps_full_of_ties(ground: Heights, sea_level: float, open_edges: bool) -> None:
    drainage = drain(ground, CELL_SIZE, sea_level, open_edges=open_edges)
    outlets = outlet_mask(drainage.ocean, open_edges)
    assert np.array_equal(drainage.ocean, reference_ocean(ground, sea_level))
    assert np.array_equal(drainage.filled, reference_fill(ground, outlets))
    assert_steepest_first(drainage, outlets)
    assert_shortest_over_flats(drainage)
    assert_all_water_gets_out(drainage, outlets)
    rain = np.where(drainage.ocean, 0.0, 1.0)
    np.testing.assert_allclose(drainage.accumulation, solved_accumulation(drainage, rain), rtol=1e-12)


def reference_ocean(ground: Heights, sea_level: float) -> NDArray[np.bool_]:
    """Water is poured in at the edge: nothing below sea level that it reaches stays dry."""
    below = np.pad(ground < sea_level, 1, constant_values=True)
    seed = np.zeros_like(below)
    seed[[0, -1]] = seed[:, [0, -1]] = True
    return reconstruction(seed, below, footprint=np.ones((3, 3)))[1:-1, 1:-1].astype(bool) & (ground < sea_level)


@cases
def test_ocean_is_what_the_sea_reaches(case: Case) -> None:
    ground, drainage = drained(case)
    assert np.array_equal(drainage.ocean, reference_ocean(ground, RELIEFS[case[0]]()[1]))
    if "sea" in case[0] or "ocean" in case[0] or case[0] == "island":
        assert drainage.ocean.any()


def test_hollows_below_sea_level_are_land() -> None:
    ground, drainage = drained(("several oceans", False))
    hollow = (ground < 0.0) & ~drainage.ocean
    assert hollow.any()
    assert (drainage.filled[hollow] >= 0.0).all()
    assert (drainage.directions[hollow] != OUTLET).all()


def test_the_edge_is_the_outlet_where_there_is_no_ocean() -> None:
    ground = hills(30, 40)
    open_edges, walls = (drain(ground, CELL_SIZE, -math.inf, open_edges=edges) for edges in (True, False))
    assert np.array_equal(open_edges.directions, walls.directions)
    ground[0, 5] = -5.0
    open_edges, walls = (drain(ground, CELL_SIZE, -1.0, open_edges=edges) for edges in (True, False))
    assert (walls.routes.outlets == 5).all()
    assert len(np.unique(open_edges.routes.outlets)) > 100


def assert_steepest_first(drainage: Drainage, outlets: NDArray[np.bool_]) -> None:
    drops = drainage.filled - neighbours_of(drainage.filled, np.inf)
    drops[4:] *= math.sqrt(0.5)
    sloping = (drops.max(axis=0) > 0.0) & ~outlets
    assert np.array_equal(drainage.directions[sloping], drops.argmax(axis=0)[sloping])
    assert np.array_equal(drainage.directions == OUTLET, outlets)


def assert_shortest_over_flats(drainage: Drainage) -> None:
    """By Dijkstra's method over the levels, from all cells that have a lower neighbour or are outlets."""
    filled, directions = drainage.filled, drainage.directions
    around = neighbours_of(filled, np.inf)
    flat = (around.min(axis=0) >= filled) & (directions != OUTLET)
    if not flat.any():
        return
    cells = np.arange(filled.size).reshape(filled.shape)
    lengths = np.where(np.arange(8) < 4, 70, 99)[:, None, None]
    level = (around == filled) & flat  # from a flat to its neighbour; the way is looked for from there to here
    here = np.broadcast_to(cells, level.shape)[level]
    there = neighbours_of(cells, -1)[level]
    weights = np.broadcast_to(lengths, level.shape)[level].astype(float)
    graph = sparse.csr_array((weights, (there, here)), shape=(filled.size, filled.size))
    sources = np.flatnonzero(~flat)
    far = csgraph.dijkstra(graph, indices=sources, min_only=True).reshape(filled.shape)
    assert np.isfinite(far).all()
    by_neighbour = np.where(around == filled, neighbours_of(far, np.inf) + lengths, np.inf)
    assert np.array_equal(directions[flat], by_neighbour.argmin(axis=0)[flat])


def assert_all_water_gets_out(drainage: Drainage, outlets: NDArray[np.bool_]) -> None:
    order, directions = drainage.routes.order, drainage.directions
    below = receivers(directions)
    assert np.array_equal(np.sort(order), np.arange(directions.size))
    place = np.empty_like(order)
    place[order] = np.arange(directions.size)
    land = directions.reshape(-1) != OUTLET
    assert (place[below] < place)[land].all()  # so there are no cycles
    filled = drainage.filled.reshape(-1)
    assert (filled[below] <= filled).all()
    assert outlets.reshape(-1)[drainage.routes.outlets].all()


@cases
def test_directions(case: Case) -> None:
    _, drainage = drained(case)
    outlets = outlet_mask(drainage.ocean, case[1])
    assert_steepest_first(drainage, outlets)
    assert_shortest_over_flats(drainage)
    assert_all_water_gets_out(drainage, outlets)


@cases
def test_outlets_are_the_components_of_the_forest(case: Case) -> None:
    _, drainage = drained(case)
    count, labels = csgraph.connected_components(forest(drainage.directions), directed=False)
    outlets = drainage.routes.outlets.reshape(-1)
    assert len(np.unique(outlets)) == count
    assert np.array_equal(labels, labels[outlets])
    assert np.array_equal(outlets[outlets], outlets)


@cases
def test_distances_are_those_of_dijkstra(case: Case) -> None:
    _, drainage = drained(case)
    upstream = forest(drainage.directions).T.tocsr()
    expected = csgraph.dijkstra(upstream, indices=np.flatnonzero(drainage.directions == OUTLET), min_only=True)
    np.testing.assert_allclose(drainage.routes.distances.reshape(-1), expected, rtol=1e-12)


def solved_accumulation(drainage: Drainage, rain: Heights) -> Heights:
    """What comes through each cell is its rain and what comes through the cells that drain to it."""
    graph = forest(drainage.directions)
    graph.data[:] = 1.0
    system = (sparse.eye_array(rain.size) - graph.T).tocsc()
    solution: Heights = sparse.linalg.spsolve(system, rain.reshape(-1)).reshape(rain.shape)
    return solution


@cases
def test_accumulation_solves_the_linear_system(case: Case) -> None:
    ground, drainage = drained(case)
    land = ~drainage.ocean
    np.testing.assert_allclose(drainage.accumulation, solved_accumulation(drainage, land.astype(float)), rtol=1e-12)
    assert drainage.accumulation[drainage.directions == OUTLET].sum() == land.sum()
    rain = np.random.default_rng(3).random(ground.shape)
    name, open_edges = case
    rained = drain(ground, CELL_SIZE, RELIEFS[name]()[1], open_edges=open_edges, rain=rain)
    assert np.array_equal(rained.directions, drainage.directions)
    np.testing.assert_allclose(rained.accumulation, solved_accumulation(drainage, rain * land), rtol=1e-9, atol=1e-12)
    total = rained.accumulation[rained.directions == OUTLET].sum()
    assert total == pytest.approx(rain[land].sum(), rel=1e-12, abs=1e-12)


def of_pyflwdir(directions: NDArray[np.int8]) -> Any:
    """The same directions in the codes of that library: powers of two clockwise from the east, 0 for an outlet."""
    #                north west east south north-west north-east south-west south-east outlet
    codes = np.array([64, 16, 1, 4, 32, 128, 8, 2, 0], np.uint8)
    import pyflwdir  # takes long to load

    return pyflwdir.from_array(codes[directions], ftype="d8")


@cases
def test_accumulation_and_strahler_orders_are_those_of_pyflwdir(case: Case) -> None:
    _, drainage = drained(case)
    land = ~drainage.ocean
    theirs = of_pyflwdir(drainage.directions)
    assert np.array_equal(theirs.accuflux(land.astype(float)), drainage.accumulation)
    rivers = drainage.accumulation >= 15.0
    ours = strahler_orders(drainage.directions, drainage.routes.order, rivers)
    assert np.array_equal(ours, np.maximum(0, theirs.stream_order(type="strahler", mask=rivers)))
    assert np.array_equal(ours > 0, rivers)


def test_strahler_order_rises_where_two_of_one_order_meet() -> None:
    """Four springs in pairs, and a fifth that joins the second order without raising it."""
    ground = np.full((12, 12), 100.0)
    for column in (2, 4, 7, 9):
        ground[2:5, column] = [50.0, 49.0, 48.0]
    ground[5, [3, 8]] = 40.0
    ground[6, [4, 7]] = 39.0
    ground[7, [5, 6]] = [30.0, 31.0]
    ground[8:11, 5] = [20.0, 19.0, 18.0]
    ground[9, 3:5] = [60.0, 59.0]
    ground[11, 5] = 0.0
    drainage = drain(ground, 1.0, 1.0, open_edges=False)
    rivers = ground < 90.0
    orders = strahler_orders(drainage.directions, drainage.routes.order, rivers)
    assert (orders[2:5, [2, 4, 7, 9]] == 1).all()
    assert (orders[5, [3, 8]] == 2).all()
    assert (orders[8:, 5] == 3).all()
    assert (orders[9, 3:5] == 1).all()


@pytest.mark.parametrize("name", ["island", "real", "plateaus"])
def test_catchment_holds_the_cells_whose_way_comes_through(name: str) -> None:
    _, drainage = drained((name, True))
    rng = np.random.default_rng(0)
    for _ in range(10):
        row, column = (int(rng.integers(side)) for side in drainage.filled.shape)
        inside = catchment(drainage.directions, drainage.routes.order, row, column)
        upstream = accumulate(drainage.directions, drainage.routes.order, np.ones(drainage.filled.shape))
        assert inside.sum() == upstream[row, column]
        way = way_to_outlet(drainage.directions, row, column)
        assert tuple(way[0]) == (row, column)
        assert np.ravel_multi_index(tuple(way[-1]), inside.shape) == drainage.routes.outlets[row, column]
        steps = np.hypot(*np.diff(way, axis=0).T).sum() * CELL_SIZE
        assert steps == pytest.approx(drainage.routes.distances[row, column], rel=1e-12)
        for i, j in rng.integers(drainage.filled.shape, size=(20, 2)):
            passes = (way_to_outlet(drainage.directions, i, j) == (row, column)).all(axis=1).any()
            assert inside[i, j] == passes


def test_a_level_without_a_way_out_keeps_its_water() -> None:
    """No filled surface has one; else its cells would send their water to the north, and the first row off the map."""
    level = np.zeros((6, 9))
    assert (flow_directions(level, np.zeros(level.shape, np.bool_)) == OUTLET).all()
    level[2:4, 3:6] = -1.0
    directions = flow_directions(level, np.zeros(level.shape, np.bool_))
    assert (directions[2:4, 3:6] == OUTLET).all() and (directions[0] != OUTLET).all()


def test_the_ditch_leads_back_through_all_its_turns() -> None:
    ground = spiral(31, descends=True)
    drainage = drain(ground, 1.0, -math.inf)
    last = np.unravel_index(np.where(ground < 1000.0, ground, np.inf).argmin(), ground.shape)
    way = way_to_outlet(drainage.directions, *last)
    assert len(way) > 300
    assert (drainage.filled[way[:, 0], way[:, 1]] == 500.0).all()
    assert tuple(way[-1]) == (0, 1)


def test_results_are_written_into_an_earlier_one() -> None:
    first = drain(hills(40, 50, seed=1), CELL_SIZE, 5.0)
    again = drain(hills(40, 50, seed=2), CELL_SIZE, 6.0, out=first)
    fresh = drain(hills(40, 50, seed=2), CELL_SIZE, 6.0)
    assert again.filled is first.filled
    for ours, theirs in zip((*again[:3], *again.routes, again[4]), (*fresh[:3], *fresh.routes, fresh[4]), strict=True):
        assert np.array_equal(ours, theirs)


def test_maps_of_the_wrong_kind_are_refused() -> None:
    for bad in (np.zeros((9, 9), np.float32), np.zeros((9, 18))[:, ::2], np.zeros((1, 9)), np.zeros(9)):
        with pytest.raises(ValueError, match="C-contiguous float64"):
            drain(bad, 1.0, 0.0)
    for bad in (np.nan, np.inf):
        ground = np.zeros((9, 9))
        ground[4, 5] = bad
        with pytest.raises(ValueError, match="finite"):
            drain(ground, 1.0, 0.0)
    with pytest.raises(ValueError, match="rain"):
        drain(np.zeros((9, 9)), 1.0, 0.0, rain=np.zeros((9, 8)))


@cases
def test_the_least_cost_is_that_of_dijkstra_and_no_more_than_the_way_of_the_water(case: Case) -> None:
    _, drainage = drained(case)
    outlets = outlet_mask(drainage.ocean, case[1])
    cost = path_cost(drainage.filled, outlets, CELL_SIZE)
    around = neighbours_of(drainage.filled, -np.inf)
    may = around >= drainage.filled  # water can come from there
    there, here = np.nonzero(may.reshape(8, -1))
    graph = sparse.csr_array(
        (CELL_SIZE * LENGTHS[there], (here, here + index_steps(cost.shape[1])[there])), shape=(cost.size, cost.size)
    )
    least = csgraph.dijkstra(graph, indices=np.flatnonzero(outlets), min_only=True).reshape(cost.shape)
    np.testing.assert_allclose(cost, least, rtol=1e-12)
    assert (cost <= drainage.routes.distances * (1.0 + 1e-12)).all()


@cases
def test_the_least_cost_breaks_ties(case: Case) -> None:
    """Of the steepest neighbours, and over a flat of those as high, water goes to that of the least cost."""
    name, open_edges = case
    ground, sea_level = RELIEFS[name]()
    usual = drained(case)[1]
    found = drain(ground, CELL_SIZE, sea_level, open_edges=open_edges, by_cost=True)
    outlets = outlet_mask(found.ocean, open_edges)
    assert np.array_equal(found.filled, usual.filled)
    assert np.array_equal(found.directions == OUTLET, outlets)
    slopes = (found.filled - neighbours_of(found.filled, np.inf)) * np.array([1.0] * 4 + [0.5**0.5] * 4)[:, None, None]
    costs = neighbours_of(path_cost(found.filled, outlets, CELL_SIZE), np.inf)
    costs[slopes < np.maximum(slopes.max(axis=0), 0.0)] = np.inf
    assert np.array_equal(found.directions[~outlets], costs.argmin(axis=0)[~outlets])
    assert found.accumulation[outlets & ~found.ocean].sum() == (~found.ocean).sum() or found.ocean.any()
    assert found.routes.order.size == np.unique(found.routes.order).size


def test_over_a_lake_water_takes_the_way_of_the_least_cost_and_not_the_nearest_end_of_the_flat() -> None:
    """Of two ways out of a lake the nearer one winds to the edge, and the farther one leads straight there."""
    ground = np.full((21, 41), 50.0)
    ground[10, 5:36] = 10.0  # the lake
    ground[10, 36:] = np.linspace(9.0, 5.0, 5)  # the straight way, to the east
    ground[11:18, 5] = 9.5  # and the other one: south first, then east
    ground[18, 5:41] = np.linspace(9.0, 5.0, 36)
    nearer = drain(ground, 1.0, -np.inf)
    cheaper = drain(ground, 1.0, -np.inf, by_cost=True)
    lake = 10, 16
    out = (10, 40)
    assert divmod(int(nearer.routes.outlets[lake]), 41) != out
    assert divmod(int(cheaper.routes.outlets[lake]), 41) == out
    assert cheaper.routes.distances[lake] < nearer.routes.distances[lake]


def test_water_leaves_although_all_edges_are_closed() -> None:
    closed = np.ones((9, 12), np.bool_)
    found = drain(np.arange(108.0).reshape(9, 12), 1.0, -np.inf, closed=closed)
    assert np.isfinite(found.filled).all() and (found.directions == OUTLET).sum() == 38
    closed[0, 0] = False
    assert np.argwhere(drain(np.ones((9, 12)), 1.0, -np.inf, closed=closed).directions == OUTLET).tolist() == [[0, 0]]
