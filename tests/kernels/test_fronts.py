"""Filling by fronts that come from the coast, and end as the exact fill."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.filling import fill
from kernels.fronts import Fronts
from kernels.ocean import ocean_mask, outlet_mask
from tests.kernels.relief import RELIEFS


@pytest.mark.parametrize("name", RELIEFS)
@pytest.mark.parametrize("open_edges", [True, False])
def test_the_end_is_the_exact_fill(name: str, open_edges: bool) -> None:
    ground, sea_level = RELIEFS[name]()
    outlets = outlet_mask(ocean_mask(ground, sea_level), open_edges)
    fronts = Fronts(ground, outlets)
    filled = fill(ground, outlets)
    before = fronts.levels.copy()
    while not fronts.finished:
        fronts.advance(7)
        assert (fronts.levels <= before).all()
        assert (fronts.levels >= filled).all()
        before = fronts.levels.copy()
    assert np.array_equal(fronts.levels, filled)
    rounds = fronts.rounds
    fronts.advance()
    assert fronts.rounds == rounds


def test_fronts_move_on_by_a_cell_in_a_round() -> None:
    ground = np.zeros((21, 31))
    ground[10, 15] = 5.0
    fronts = Fronts(ground, outlet_mask(np.zeros(ground.shape, bool)))
    edge = np.minimum(*np.meshgrid(np.minimum(np.arange(21), 20 - np.arange(21)), range(31), indexing="ij"))
    away = np.minimum(edge, np.minimum(np.arange(31), 30 - np.arange(31)))
    for rounds in range(11):
        assert np.array_equal(np.isfinite(fronts.levels), away <= rounds)
        fronts.advance()
    assert fronts.levels[10, 15] == 5.0


def test_what_was_too_high_is_lowered_when_a_shorter_way_is_found() -> None:
    """A basin that a high pass reaches first, and a low one later."""
    ground = np.full((9, 30), 50.0)
    ground[4, 2:25] = 1.0
    ground[4, 1] = 20.0
    ground[4, 25:29] = 3.0
    fronts = Fronts(ground, outlet_mask(np.zeros(ground.shape, bool)) & (ground < 50.0) | (np.arange(30) == 0)[None, :])
    fronts.levels[4, 29] = ground[4, 29] = 2.0
    fronts.advance(6)
    assert fronts.levels[4, 3] >= 20.0
    while not fronts.finished:
        fronts.advance()
    assert fronts.levels[4, 3] == 3.0
