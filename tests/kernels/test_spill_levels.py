"""Levels and ways over ponds that are found cell by cell are those of whole maps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.neighbours import index_steps
from kernels.spill_levels import IN_THE_SEA, OVER_THE_EDGE, find_outlets, level_of, search_of, stands
from tests.nets.cases import tried


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 4.0]), st.booleans())
@tried(10)
def test_levels_and_ways_are_those_of_the_whole_map(seed: int, steps: float, sea: bool) -> None:
    """In whatever order they are asked for; on ground with steps there are ponds beside ponds, and wide plateaus."""
    draw = np.random.default_rng(seed)
    ground = draw.normal(0.0, 2.0, (9, 12)) + draw.normal(0.0, 3.0, (9, 1)).cumsum(axis=0)
    if steps:
        ground = np.round(ground * steps) / steps
    ocean = ground < np.quantile(ground, 0.1) if sea else np.zeros((0, 0), np.bool_)
    outlets = np.zeros(ground.shape, np.uint8)
    assert find_outlets(ground, np.zeros(ground.shape), ocean, True, outlets) == np.count_nonzero(outlets)
    filled = fill(ground, outlets > 0)
    directions = flow_directions(filled, outlets > 0).reshape(-1)
    search = search_of(ground, outlets, index_steps(12))
    for cell in draw.permutation(ground.size)[: ground.size // 2]:
        assert level_of(search, cell) == filled.flat[cell]
        if stands(search, cell):
            assert search.direction[cell] == directions[cell]
            assert search.far[cell] > 0


def test_a_basin_beside_the_way_out_spills_over_the_same_pass() -> None:
    """It is taken up after the pass, on the way to what is known, and yet drains no lower than there."""
    ground = np.full((9, 9), 20.0)
    arms = {(2, 4): 5.0, (3, 4): 6.0, (4, 4): 8.0, (5, 5): 6.5, (6, 6): 4.0, (5, 3): 7.0, (6, 2): 6.0, (7, 1): 5.0}
    for place, height in arms.items():
        ground[place] = height
    ground[8, 0] = 0.0
    outlets = ground == 0.0
    search = search_of(ground, outlets.astype(np.uint8), index_steps(9))
    for row, column in arms:
        assert level_of(search, row * 9 + column) == fill(ground, outlets)[row, column]


def test_water_leaves_where_the_land_falls_to_the_edge() -> None:
    ground = np.add.outer(np.zeros(9), np.arange(11.0))
    sources, none = np.zeros(ground.shape), np.zeros((0, 0), np.bool_)
    outlets = np.zeros(ground.shape, np.uint8)
    assert find_outlets(ground, sources, none, True, outlets) == 9
    assert (outlets[:, 0] == OVER_THE_EDGE).all()
    sources[4, 0] = 1.0
    outlets[...] = 0
    find_outlets(ground, sources, none, True, outlets)
    assert outlets[4, 0] == 0, "where water comes in"
    ocean = ground < 3.0
    assert find_outlets(ground, sources, ocean, False, outlets) == 27
    assert (outlets[ocean] == IN_THE_SEA).all() and not outlets[~ocean].any()
