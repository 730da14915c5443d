"""Forms of the land that generators make."""

from __future__ import annotations

import numpy as np
import pytest

from app.scene import Scene
from app.sources import create_world
from app.world import World

SIZE = {"world.columns": 60, "world.rows": 40, "world.relief": 100.0, "world.cell_size": 10.0}


def land(**settings: object) -> World:
    return create_world(Scene().with_values({**SIZE, **{k.replace("__", "."): v for k, v in settings.items()}}))[0]  # type: ignore[misc,dict-item]


def test_a_plateau_is_flat_on_top_and_leaves_the_valleys() -> None:
    hills, table = land(world__seed=4), land(world__seed=4, noise__plateau=0.5)
    high = hills.ground > np.quantile(hills.ground, 0.8)
    assert np.ptp(table.ground[high]) < 0.25 * np.ptp(hills.ground[high])
    low = hills.ground < np.quantile(hills.ground, 0.2)
    assert np.corrcoef(hills.ground[low], table.ground[low])[0, 1] > 0.999
    assert np.ptp(table.ground) == pytest.approx(100.0)


@pytest.mark.parametrize(("direction", "falls"), [(0.0, "north"), (90.0, "east"), (180.0, "south"), (270.0, "west")])
def test_a_tilted_land_falls_to_its_direction(direction: float, falls: str) -> None:
    ground = land(noise__tilt=6.0, noise__tilt_direction=direction).ground
    sides = {"north": ground[:8], "south": ground[-8:], "west": ground[:, :8], "east": ground[:, -8:]}
    assert min(sides, key=lambda side: sides[side].mean()) == falls


def test_a_basin_lies_where_it_is_said_to() -> None:
    ground = land(noise__basin=5.0, noise__basin_radius=0.2, noise__basin_row=0.3, noise__basin_column=0.7).ground
    row, column = np.unravel_index(int(ground.argmin()), ground.shape)
    assert np.hypot(row - 12, column - 42) < 4
    sand = land(world__source="sand", sand__rock="basin", sand__rock_radius=0.3, sand__rock_height=0.3)
    assert sand.sediment[20, 30] < 0.05 * sand.sediment.max()
    assert sand.ground[20, 30] < sand.ground.mean()
    assert sand.sediment[:, :5].min() > 0.1 * sand.sediment.max()
