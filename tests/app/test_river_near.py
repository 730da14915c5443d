"""A click on land means the river that is close to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.model.snapshot import SURVEYED_FLOW, Snapshot
from app.window.watching import REACH_OF_A_RIVER, river_near
from tests.app.small import small_scene


def with_river(column: int) -> Snapshot:
    """A little water everywhere, and a river from north to south."""
    world, _ = create_world(small_scene())
    snapshot = take_snapshot(world)
    discharge = np.full(snapshot.shape, 0.1, np.float32)
    discharge[:, column] = 10.0 + np.arange(snapshot.shape[0])  # more and more downstream
    return replace(snapshot, layers={**snapshot.layers, SURVEYED_FLOW: discharge})


def test_a_click_beside_a_river_takes_it_and_one_far_away_does_not() -> None:
    river = with_river(20)
    row, column = river_near(river, (10, 20 - REACH_OF_A_RIVER))
    assert column == 20 and abs(row - 10) <= REACH_OF_A_RIVER
    far = (10, 20 - REACH_OF_A_RIVER - 1)
    assert river_near(river, far) == far
    assert river_near(river, (10, 20)) == (10, 20), "on the river it is the point itself"


def test_at_the_edge_and_without_streams() -> None:
    river = with_river(0)
    assert river_near(river, (0, 2))[1] == 0
    rows, columns = river.shape
    assert river_near(river, (rows - 1, columns - 1)) == (rows - 1, columns - 1)
    layers = {name: layer for name, layer in river.layers.items() if name != SURVEYED_FLOW}
    assert river_near(replace(river, layers=layers), (3, 3)) == (3, 3)
