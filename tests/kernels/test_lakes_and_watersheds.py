"""Lakes on the filled surface, watersheds of a smallest size, and their colours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from kernels.components import components
from kernels.lakes import Lakes, find_lakes
from kernels.neighbours import index_steps
from kernels.ocean import outlet_mask
from kernels.rivers import Drainage, drain
from kernels.watersheds import Watersheds, find_watersheds, watershed_colours
from tests.kernels.relief import RELIEFS
from tests.kernels.terrain import hills

CELL_SIZE = 12.5
TOUCHING = np.ones((3, 3))

names = pytest.mark.parametrize("name", RELIEFS)


def drained(name: str) -> tuple[NDArray[np.float64], Drainage]:
    ground, sea_level = RELIEFS[name]()
    return ground, drain(ground, CELL_SIZE, sea_level)


def lakes_of(ground: NDArray[np.float64], drainage: Drainage) -> Lakes:
    return find_lakes(ground, drainage.filled, drainage.directions, drainage.accumulation, CELL_SIZE)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 0.6, 0.95, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (41, 60)])
def test_components_are_those_of_scipy(share: float, shape: tuple[int, int]) -> None:
    mask = np.random.default_rng(4).random(shape) < share
    labels, count = components(mask)
    expected, expected_count = ndimage.label(mask, TOUCHING)
    assert count == expected_count
    assert np.array_equal(labels > 0, mask)
    firsts = [np.flatnonzero(labels == label + 1)[0] for label in range(count)]
    assert firsts == sorted(firsts)
    assert len(np.unique(labels.astype(np.int64) * (count + 1) + expected)) == count + (not mask.all())


@names
def test_lakes_are_the_water_above_the_ground(name: str) -> None:
    ground, drainage = drained(name)
    lakes = lakes_of(ground, drainage)
    depth = drainage.filled - ground
    assert np.array_equal(lakes.labels > 0, depth > 0.0)
    assert not (drainage.ocean & (lakes.labels > 0)).any()
    numbers = np.arange(1, len(lakes.level) + 1)
    assert np.array_equal(lakes.labels, ndimage.label(depth > 0.0, TOUCHING)[0])
    np.testing.assert_allclose(lakes.volume, ndimage.sum(depth, lakes.labels, numbers) * CELL_SIZE**2, rtol=1e-12)
    assert np.array_equal(lakes.cells, ndimage.sum(depth > 0.0, lakes.labels, numbers))
    assert np.array_equal(lakes.depth, ndimage.maximum(depth, lakes.labels, numbers))
    for lake in np.argsort(lakes.volume)[-40:]:
        inside = lakes.labels == lake + 1
        level, outlet, inflow = lakes.level[lake], lakes.outlet[lake], lakes.inflow[lake]
        assert (drainage.filled[inside] == level).all()  # exactly flat
        row, column = np.unravel_index(outlet, ground.shape)
        assert ground[row, column] == level  # the sill
        assert ndimage.binary_dilation(inside, TOUCHING)[row, column]
        below = np.flatnonzero(inside) + index_steps(ground.shape[1])[drainage.directions[inside]]
        sills = below[lakes.labels.reshape(-1)[below] == 0]
        assert outlet in sills
        assert drainage.accumulation.reshape(-1)[sills].max() == drainage.accumulation[row, column] == inflow
    if name in ("bowl", "ditch that fills"):
        assert len(numbers) >= 1
        assert lakes.volume.max() > 0.0


def test_a_lake_of_known_size() -> None:
    ground = np.full((20, 20), 10.0)
    ground[5:9, 6:12] = 4.0
    ground[6, 12:] = 7.0
    ground[15, 15] = 9.0
    lakes = lakes_of(ground, drain(ground, CELL_SIZE, -math.inf))
    assert lakes.level.tolist() == [7.0, 10.0]
    assert lakes.depth.tolist() == [3.0, 1.0]
    assert lakes.cells.tolist() == [24, 1]
    assert lakes.volume.tolist() == [24 * 3.0 * CELL_SIZE**2, CELL_SIZE**2]
    assert lakes.outlet[0] == 6 * 20 + 12


@names
@pytest.mark.parametrize("smallest", [1, 12, 300])
def test_watersheds_of_a_smallest_size(name: str, smallest: int) -> None:
    _, drainage = drained(name)
    found = find_watersheds(drainage.routes.outlets, drainage.ocean, smallest)
    land = ~drainage.ocean
    assert np.array_equal(np.bincount(found.labels[land], minlength=1)[1:], found.cells)
    assert (found.labels[land] == 0).sum() == found.coast_cells
    assert (found.labels[drainage.ocean] == 0).all()
    assert (found.cells >= smallest).all()
    assert (np.diff(found.outlet) > 0).all()
    kept = found.labels > 0
    assert np.array_equal(drainage.routes.outlets[kept], found.outlet[found.labels[kept] - 1])
    sizes = np.bincount(drainage.routes.outlets[land], minlength=1)
    assert (sizes >= smallest).sum() == len(found.outlet)
    discharge = drainage.accumulation.reshape(-1)[found.outlet]
    assert np.array_equal(discharge, found.cells)


def touching_pairs(labels: NDArray[np.int32]) -> set[tuple[int, int]]:
    pairs = set()
    rows, columns = labels.shape
    for i, j in ((0, 1), (1, -1), (1, 0), (1, 1)):
        one = labels[: rows - i, max(0, -j) : columns - max(0, j)]
        two = labels[i:, max(0, j) : columns - max(0, -j)]
        differ = (one != two) & (one > 0) & (two > 0)
        pairs |= set(zip(one[differ].tolist(), two[differ].tolist(), strict=True))
    return pairs


def assert_colours_differ(watersheds: Watersheds, colours: NDArray[np.int32]) -> None:
    assert (colours > 0).all()
    assert all(colours[one - 1] != colours[two - 1] for one, two in touching_pairs(watersheds.labels))


@names
@pytest.mark.parametrize("smallest", [1, 20])
def test_colours_of_neighbours_differ(name: str, smallest: int) -> None:
    _, drainage = drained(name)
    found = find_watersheds(drainage.routes.outlets, drainage.ocean, smallest)
    colours = watershed_colours(found)
    assert len(colours) == len(found.outlet)
    assert_colours_differ(found, colours)


def test_more_neighbours_than_favourite_colours() -> None:
    """A watershed in the north that touches forty in the south."""
    labels = np.ones((10, 80), np.int32)
    labels[5:] = 2 + np.arange(80) // 2
    labels = np.where(labels == 1, 41, labels - 1).astype(np.int32)
    watersheds = Watersheds(labels, np.arange(41), np.ones(41, np.int64), 0)
    assert_colours_differ(watersheds, watershed_colours(watersheds))
    # And where all of them want the same
    assert_colours_differ(watersheds, watershed_colours(watersheds, np.full(41, 3, np.int32)))
    # And where the forty have all that the one could like
    before = np.append(np.arange(1, 41), 0).astype(np.int32)
    colours = watershed_colours(watersheds, before)
    assert colours[40] == 41
    assert np.array_equal(colours[:40], before[:40])


def test_colours_stay_with_their_outlets_while_the_ground_changes() -> None:
    ground = RELIEFS["island"]()[0]
    rng = np.random.default_rng(1)
    colour_map = np.zeros(ground.size, np.int32)
    for cycle in range(8):
        drainage = drain(ground, CELL_SIZE, 0.0)
        found = find_watersheds(drainage.routes.outlets, drainage.ocean, 15)
        before = colour_map[found.outlet]
        colours = watershed_colours(found, before)
        assert_colours_differ(found, colours)
        if cycle > 0:
            had_one = before > 0
            assert had_one.mean() > 0.7
            assert (colours == before)[had_one].mean() > 0.85  # the others have got new neighbours
        by_outlet = np.zeros(ground.size, np.int32)
        by_outlet[found.outlet] = colours
        colour_map = by_outlet[drainage.routes.outlets.reshape(-1)]
        ground = ground + rng.normal(0.0, 0.01, ground.shape)


def test_favourite_colours_depend_on_the_place_of_the_outlet_alone() -> None:
    """So most watersheds keep theirs without any memory, where others come and go."""
    ground = hills(80, 80, 60.0)
    colours = []
    for smallest in (40, 30):
        drainage = drain(ground, CELL_SIZE, 10.0)
        found = find_watersheds(drainage.routes.outlets, drainage.ocean, smallest)
        colours.append(dict(zip(found.outlet.tolist(), watershed_colours(found).tolist(), strict=True)))
    few, many = colours
    assert few.keys() < many.keys()
    assert np.mean([few[outlet] == many[outlet] for outlet in few]) > 0.8


def test_a_plain_has_no_lakes_and_an_outlet_all_along_its_edge() -> None:
    ground, drainage = drained("plain")
    assert len(lakes_of(ground, drainage).level) == 0
    found = find_watersheds(drainage.routes.outlets, drainage.ocean)
    assert len(found.outlet) == outlet_mask(drainage.ocean).sum()
