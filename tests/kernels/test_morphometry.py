"""The measures of a land's form: exact on lands whose form is known, and against plain references on others."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from app.engine.realism import default_river_cells, measure
from app.model.realism import MEASURES, Measure, Realism
from kernels import morphometry
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS
from kernels.rivers import Drainage, drain
from kernels.routing import accumulate, longest_ways, routes
from tests.kernels.relief import RELIEFS
from tests.kernels.terrain import hills
from tests.kernels.test_rivers import of_pyflwdir, receivers
from tests.nets.cases import tried
from tests.nets.profile import is_nightly

Heights = NDArray[np.float64]

CELL_SIZE = 25.0
METRES = np.arange(200.0) * CELL_SIZE


def measured(ground: Heights, sea_level: float = -math.inf, river_cells: int | None = None) -> Realism:
    ground = np.ascontiguousarray(ground)
    return measure(ground, drain(ground, CELL_SIZE, sea_level), CELL_SIZE, river_cells=river_cells)


# Lands whose measures are known.


def test_a_plane() -> None:
    values = measured(np.add.outer(0.3 * METRES[:120], 0.4 * METRES)).values
    assert values["depth_to_fill"] == 0.0
    assert values["median_slope"] == pytest.approx(math.degrees(math.atan(0.5)))
    assert values["steep_slope"] == pytest.approx(math.degrees(math.atan(0.5)))
    assert values["hypsometric_integral"] == pytest.approx(0.5)
    assert values["laplacian_skew"] is None


def test_a_cone_in_the_sea() -> None:
    south, east = np.meshgrid(METRES - METRES.mean(), METRES - METRES.mean(), indexing="ij")
    found = measured(1000.0 - 0.6 * np.hypot(south, east), sea_level=0.0)
    assert found.values["hypsometric_integral"] == pytest.approx(1.0 / 3.0, abs=0.005)
    assert found.values["median_slope"] == pytest.approx(math.degrees(math.atan(0.6)), abs=0.02)
    assert found.values["depth_to_fill"] == 0.0
    # The part above a relative height h of a cone is (1 − h)²
    curve = found.curves["hypsometry"]
    assert (curve.x[0], curve.x[-1], curve.y[0], curve.y[-1]) == (1.0, 0.0, 0.0, 1.0)
    np.testing.assert_allclose(curve.x, (1.0 - curve.y) ** 2, atol=0.01)


def test_a_parabola_of_a_hillslope() -> None:
    x = METRES - METRES.mean()
    found = measured(np.broadcast_to(500.0 - 1e-4 * x**2, (60, 200)))
    assert found.values["laplacian_skew"] is None  # its curvature is the same everywhere
    gradients = 2e-4 * np.abs(x)
    gradients[[0, -1]] = 1e-4 * np.abs(x[0] + x[1])  # one-sided
    degrees = np.degrees(np.arctan(np.tile(gradients, 60)))
    assert found.values["median_slope"] == pytest.approx(np.median(degrees))
    assert found.values["steep_slope"] == pytest.approx(np.quantile(degrees, 0.95))
    expected = (np.mean(-(x**2)) + x[0] ** 2) / (x[0] ** 2 - x[100] ** 2)
    assert found.values["hypsometric_integral"] == pytest.approx(expected)
    assert expected == pytest.approx(2.0 / 3.0, abs=0.01)


def test_the_skew_of_known_curvatures() -> None:
    x = np.arange(-60.0, 61.0)
    quartic = np.broadcast_to(x**4, (30, 121))  # whose second difference is 12 x² + 2
    low, middle, high = np.quantile(np.tile(12.0 * x[1:-1] ** 2, 28), (0.05, 0.5, 0.95))
    expected = (high + low - 2.0 * middle) / (high - low)
    assert 0.2 < expected < 0.9
    assert measured(quartic).values["laplacian_skew"] == pytest.approx(expected)
    assert measured(-quartic).values["laplacian_skew"] == pytest.approx(-expected)
    cubic = np.broadcast_to(x**3, (30, 121))
    assert measured(cubic).values["laplacian_skew"] == pytest.approx(0.0, abs=1e-12)


def in_steady_state(shape: tuple[int, int], theta: float, factor: float) -> tuple[Heights, Drainage]:
    """S = factor · A^−θ in every cell, on the rivers of some hills; A in m²."""
    tree = drain(hills(*shape, 300.0, 2), CELL_SIZE, -math.inf)
    height, below = np.zeros(tree.accumulation.size), receivers(tree.directions)
    lengths = np.append(LENGTHS * CELL_SIZE, 0.0)[tree.directions.reshape(-1)]
    gradients = factor * (tree.accumulation.reshape(-1) * CELL_SIZE**2) ** -theta
    for cell in tree.routes.order:
        if below[cell] != cell:
            height[cell] = height[below[cell]] + gradients[cell] * lengths[cell]
    ground = height.reshape(shape)
    return ground, tree._replace(filled=ground)


@pytest.mark.parametrize("theta", [0.3, 0.45, 0.9])
def test_a_steady_state_of_incision_has_its_own_concavity(theta: float) -> None:
    ground, drainage = in_steady_state((180, 220), theta, 30.0)
    law = morphometry.slope_area(ground, drainage, CELL_SIZE)
    assert law is not None
    assert -law.exponent == pytest.approx(theta, abs=0.005)
    assert law.factor == pytest.approx(30.0, rel=0.05)
    if theta == morphometry.REFERENCE_CONCAVITY:
        assert morphometry.steepness(law) == pytest.approx(30.0, rel=0.01)


def test_errors_of_heights_leave_the_concavity_as_it_is(subtests: pytest.Subtests) -> None:
    """As in models of real land: whole metres, and random errors, which dam rivers where they fall least."""
    for theta, factor in ((0.35, 10.0), (0.45, 30.0), (0.55, 50.0)):
        ground, _ = in_steady_state((120, 150), theta, factor)
        errors = np.random.default_rng(1).normal(0.0, 2.0, ground.shape)
        found = measured(ground).values["concavity"]
        assert found == pytest.approx(theta, abs=0.04), "some cells have a neighbour steeper than their next one"
        for name, model in (("whole metres", np.round(ground)), ("errors of 2 m", np.round(ground + errors))):
            with subtests.test(name, theta=theta):
                assert measured(model).values["concavity"] == pytest.approx(found, abs=0.05)


def test_a_lake_and_the_step_into_the_sea_have_no_gradient() -> None:
    """A river over a cliff into the sea has the concavity of its bed, and nearly that with a lake in it."""
    cells = np.arange(3000.0)
    river = np.cumsum((3001.0 - cells) ** -0.45)  # from the mouth to the source
    ground = np.full((3, 3000), 1e4)
    ground[1] = 10.0 + river
    ground[1, 0] = -500.0
    plain = measured(ground, sea_level=0.0).values
    assert plain["concavity"] == pytest.approx(0.45, abs=0.01)
    with_lake = ground.copy()
    with_lake[1, 1500:2500] -= 60.0
    drowned = measured(with_lake, sea_level=0.0).values
    assert drowned["depth_to_fill"] > 0.5
    assert drowned["concavity"] == pytest.approx(0.45, abs=0.1)  # the wall at its head is steep


@pytest.mark.parametrize("exponent", [0.5, 0.6, 1.0])
def test_hacks_exponent_of_a_river_whose_catchment_is_known(exponent: float) -> None:
    directions = np.full((2, 5000), OUTLET, np.int8)
    directions[0, 1:] = 1  # to the west
    flow = routes(directions, CELL_SIZE)
    way = longest_ways(directions, flow.order, CELL_SIZE)
    assert way[0].tolist() == [CELL_SIZE * cells for cells in range(4999, -1, -1)]
    area = 1000.0 * (way / (100.0 * CELL_SIZE)) ** (1.0 / exponent)
    ground = np.zeros(directions.shape)
    law = morphometry.hack(Drainage(ground > 1.0, ground, directions, flow, area), CELL_SIZE)
    assert law is not None
    assert law.exponent == pytest.approx(exponent, rel=1e-6)


def doubling(levels: int, rows_below: int) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Directions of rivers that meet in pairs of equals, and the mask of their cells.

    Springs are two columns apart in the first row; two rivers turn to each other, and go one row on where they meet.
    """
    columns = 2**levels
    directions = np.full((levels + rows_below, columns + 2), OUTLET, np.int8)
    rivers = np.zeros(directions.shape, np.bool_)
    places = list(range(0, columns, 2))
    row = 0
    while len(places) > 1:
        meetings = []
        for west, east in zip(places[::2], places[1::2], strict=True):
            middle = (west + east) // 2
            directions[row, west:middle], directions[row, middle + 1 : east + 1] = 2, 1
            directions[row, middle] = 3
            rivers[row, west : east + 1] = True
            meetings.append(middle)
        places, row = meetings, row + 1
    directions[row:-1, places[0]] = 3
    rivers[row:, places[0]] = True
    return directions, rivers


def test_a_tree_that_doubles() -> None:
    levels, rows_below = 6, 30
    directions, rivers = doubling(levels, rows_below)
    flow = routes(directions, CELL_SIZE)
    area = accumulate(directions, flow.order, rivers.astype(float))
    ground = np.zeros(directions.shape)
    drainage = Drainage(ground > 1.0, ground, directions, flow, area)
    found = morphometry.network(drainage, CELL_SIZE, 1)
    assert found.counts.tolist() == [2**order for order in range(levels - 1, -1, -1)]
    assert found.bifurcation_ratio == pytest.approx(2.0)
    # A river of order k + 1 goes one row on, but for springs, and half of the way to the next
    steps = [1.0, *(1.0 + 2.0**order for order in range(1, levels - 1)), 1.0 + rows_below]
    np.testing.assert_allclose(found.lengths, CELL_SIZE * found.counts * steps)
    ratios = np.array(steps[1:]) / np.array(steps[:-1])
    weights = found.counts[:-1] + found.counts[1:]
    assert found.length_ratio == pytest.approx(float(ratios @ weights / weights.sum()))
    assert found.density == pytest.approx(found.lengths.sum() / (directions.size * CELL_SIZE**2))


# Against plain references.


@pytest.mark.slow
@pytest.mark.parametrize("name", RELIEFS)
def test_longest_ways_and_streams_are_those_that_one_finds_by_walking(name: str) -> None:
    ground, sea_level = RELIEFS[name]()
    if ground.size > 10_000 and not is_nightly():
        ground = np.ascontiguousarray(ground[:70, :80])
    drainage = drain(ground, CELL_SIZE, sea_level)
    below = receivers(drainage.directions).tolist()
    steps = np.append(LENGTHS * CELL_SIZE, 0.0)[drainage.directions.reshape(-1)].tolist()
    # From each cell down to its outlet
    longest = [0.0] * ground.size
    for cell in range(ground.size):
        way = 0.0
        while below[cell] != cell:
            way += steps[cell]
            cell = below[cell]
            longest[cell] = max(longest[cell], way)
    found = longest_ways(drainage.directions, drainage.routes.order, CELL_SIZE)
    np.testing.assert_allclose(found.reshape(-1), longest, rtol=1e-12)

    rivers = drainage.accumulation >= 12
    orders = np.maximum(0, of_pyflwdir(drainage.directions).stream_order(type="strahler", mask=rivers)).reshape(-1)
    land = ~drainage.ocean.reshape(-1)
    goes_on = np.zeros(ground.size, np.bool_)  # with the order of what comes in
    for cell in np.flatnonzero(land):
        goes_on[below[cell]] |= below[cell] != cell and orders[below[cell]] == orders[cell]
    counts = Counter(orders[(orders > 0) & land & ~goes_on].tolist())
    network = morphometry.network(drainage, CELL_SIZE, 12)
    assert network.counts.tolist() == [counts[order] for order in sorted(counts)]
    if network.bifurcation_ratio is not None:
        pairs = [(counts[order], counts[order + 1]) for order in sorted(counts)[:-1]]
        weighted = sum(low / high * (low + high) for low, high in pairs) / sum(low + high for low, high in pairs)
        assert network.bifurcation_ratio == pytest.approx(weighted)


def test_laws_are_those_of_a_plain_fit() -> None:
    ground, _ = RELIEFS["real"]()
    drainage = drain(ground, CELL_SIZE, -math.inf)
    areas, falls, lengths, ends, ways, basins = [], [], [], [], [], []
    longest = longest_ways(drainage.directions, drainage.routes.order, CELL_SIZE)

    def goes_to(row: int, column: int) -> tuple[int, int]:
        number = drainage.directions[row, column]
        return row + ROW_STEPS[number], column + COLUMN_STEPS[number]

    for row, column in np.argwhere(drainage.accumulation > 100).tolist():
        number, cells = drainage.directions[row, column], drainage.accumulation[row, column]
        if cells >= 1000:
            basins.append(cells)
            ways.append(longest[row, column])
        if number == OUTLET:
            continue
        end = row, column
        while drainage.directions[below := goes_to(*end)] != OUTLET and drainage.filled[below] == drainage.filled[end]:
            end = below
        ends.append(end)
        areas.append(math.log10(cells))
        falls.append(drainage.filled[row, column] - drainage.filled[goes_to(row, column)])
        lengths.append(CELL_SIZE * LENGTHS[number])
    on_level = Counter(ends)
    beds = [k for k, end in enumerate(ends) if on_level[end] <= morphometry.LONGEST_LEVEL]
    assert len(beds) < 0.9 * len(ends), "there are lakes"
    hack = morphometry.hack(drainage, CELL_SIZE)
    assert hack is not None
    assert hack.exponent == pytest.approx(np.polyfit(np.log(basins), np.log(ways), 1)[0], rel=1e-9)
    points = []
    for low in np.arange(2.0, 6.0, 0.2):
        inside = [k for k in beds if low <= areas[k] < low + 0.2]
        if len(inside) >= 10:
            gradient = sum(falls[k] for k in inside) / sum(lengths[k] for k in inside)
            points.append((np.mean([areas[k] for k in inside]), np.log10(gradient)))
    law = morphometry.slope_area(ground, drainage, CELL_SIZE)
    assert law is not None
    assert law.exponent == pytest.approx(np.polyfit(*np.transpose(points), 1)[0], rel=1e-9)


# Whatever the land is.


def check(found: Realism) -> None:
    assert list(found.values) == [measure.name for measure in MEASURES]
    for each in MEASURES:
        value = found.values[each.name]
        assert value is None or (type(value) is float and math.isfinite(value)), each.name
        assert (each.verdict(value) in ("below", "above", "none")) == bool(each.meaning(value)), each.name
        assert "nan" not in each.text(value)
    for curve in found.curves.values():
        assert np.isfinite(curve.x).all() and np.isfinite(curve.y).all()


@pytest.mark.parametrize("name", RELIEFS)
def test_all_lands_have_numbers_or_none(name: str) -> None:
    found = measured(*RELIEFS[name]())
    check(found)
    if name == "all ocean":
        assert set(found.values.values()) == {None}
        assert not found.curves


@tried(60)
@given(
    ground=arrays.arrays(
        np.float64,
        st.tuples(st.integers(2, 40), st.integers(2, 40)),
        elements=st.sampled_from([0.0, 1.0, -3.0, 1e-12, 8848.0]) | st.floats(-1e4, 1e4),
    ),
    sea_level=st.sampled_from([-math.inf, 0.5, 2e4]),
    river_cells=st.sampled_from([None, 1, 3]),
)
def test_small_maps_have_numbers_or_none(ground: Heights, sea_level: float, river_cells: int | None) -> None:
    check(measured(ground, sea_level, river_cells))


def test_rivers_begin_at_the_same_area_on_a_finer_grid() -> None:
    coarse, fine = (drain(np.zeros((side, side)), CELL_SIZE, -math.inf) for side in (400, 800))
    assert (default_river_cells(coarse), default_river_cells(fine)) == (40, 160)
    assert default_river_cells(drain(np.zeros((5, 5)), CELL_SIZE, -math.inf)) == 20


# The table.


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_measure_says_what_lies_outside_of_its_range(measure: Measure) -> None:
    assert measure.verdict(None) == "none"
    assert measure.needs in measure.meaning(None)
    if not measure.is_bounded:
        assert (measure.verdict(1e9), measure.meaning(1e9)) == ("any", "")
        return
    assert (measure.verdict(measure.low), measure.verdict(measure.high)) == ("inside", "inside")
    assert (measure.verdict(2.0 * measure.high), measure.meaning(2.0 * measure.high)) == ("above", measure.above)
    assert measure.above
    if measure.low > 0.0:
        assert (measure.verdict(0.0), measure.meaning(0.0)) == ("below", measure.below)
        assert measure.below
    for line in (measure.below, measure.above, measure.help, measure.needs):
        assert "\n" not in line
        assert not line.endswith(".")
