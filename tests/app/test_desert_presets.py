"""Oasis and delta, in fewer and larger cells: what they promise, beside runs without what it is said to come from."""

from __future__ import annotations

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.model.parameters import Value
from app.sources.grid import grid_of
from app.sources.noise import from_the_middle
from kernels.standing import DRY
from tests.app.small import simulated, small_preset

SIDE = 96


def after(cycles: int, name: str, **settings: Value) -> Simulator:
    """The simulator of a preset after some cycles; its accounts close."""
    simulator = simulated(cycles, small_preset(name, SIDE, **settings))
    assert abs(simulator.world.imbalance()) < 1e-9
    return simulator


@pytest.mark.nightly
def test_groundwater_keeps_the_lake_of_the_oasis_and_makes_its_shore_green() -> None:
    world, dry = (after(160, "oasis", **changes).world for changes in ({}, {"moisture__groundwater": 0.0}))
    from_middle = np.hypot(*from_the_middle(grid_of(small_preset("oasis", SIDE), SIDE, SIDE), 0.5, 0.5))
    hollow, dunes = from_middle < 0.15, from_middle > 0.4
    lake = world.water > 0.0
    assert not (dry.water > 0.0).any()
    assert lake[hollow].mean() > 0.1
    assert not lake[dunes].any()
    wetness, grass = world.layers["wetness"], world.layers["grass"]
    # Ground is wet where the wind lifts nothing from it any more.
    wet = 1.0 / small_preset("oasis", SIDE).wind.wet_cohesion
    assert wetness[hollow].mean() > wet > max(wetness[dunes].mean(), dry.layers["wetness"][hollow].mean())
    shore = hollow & ~lake
    assert grass[shore].mean() > 0.5 > 2.0 * dry.layers["grass"][shore].mean()
    assert grass[shore].mean() > 5.0 * grass[dunes].mean()
    assert len(world.trees) > len(dry.trees)


@pytest.mark.nightly
def test_plants_hold_the_sand_of_the_oasis_where_wet_ground_does_not() -> None:
    """Wet ground holds it, too: most of it stays where it is with one of them, and not with neither."""
    dry: dict[str, Value] = {"wind__wet_cohesion": 0.0}
    bare: dict[str, Value] = {"plants__enabled": False}
    simulators = [after(100, "oasis", **changes) for changes in (dry, bare, dry | bare)]
    before = [simulator.world.ground.copy() for simulator in simulators]
    grass = simulators[0].world.layers["grass"].copy()
    for simulator in simulators:
        for _ in range(60):
            simulator.advance()
    grown = (np.minimum(grass, simulators[0].world.layers["grass"]) > 0.3) & (simulators[0].world.water == 0.0)
    assert np.count_nonzero(grown) > 200
    plants, wetness, neither = (
        float(np.maximum(0.0, ground - simulator.world.ground)[grown].mean())
        for ground, simulator in zip(before, simulators, strict=True)
    )
    # From where so much is covered the wind lifts no more than this part of what it would.
    assert plants < (1.0 - 0.3 * simulators[0].scene.wind.plant_cover) ** 2 * neither
    assert wetness < 0.5 * neither


def test_the_river_of_the_delta_builds_land_into_its_lake() -> None:
    """From a lake without any delta."""
    none: dict[str, Value] = {"sand__delta": 0.0}
    start = simulated(0, small_preset("delta", SIDE, **none)).world
    lake = start.water > 0.0
    # The river comes from the north: the nearest third of the lake is where its delta grows.
    row = np.mgrid[:SIDE, :SIDE][0]
    near = lake & (row < row[lake].min() + (np.ptp(row[lake]) + 1) / 3)
    risen, land = [], []
    without_river: dict[str, Value] = {"droplets__springs": ""}
    for changes in (none, none | without_river):
        world = after(100, "delta", **changes).world
        risen.append(world.ground - start.ground)
        land.append(near & (world.standing == DRY))
    river, rain = risen
    # Most of what lies there is of the river, and most of what came into the lake lies there.
    assert river[near].sum() > 2.0 * rain[near].sum()
    assert river[near].sum() > 0.5 * river[lake].sum()
    assert np.count_nonzero(near) < 0.5 * np.count_nonzero(lake)
    # A good part of it is land by then, and not without the river.
    assert land[0].sum() > 0.2 * near.sum() > 2.0 * land[1].sum()


@pytest.mark.nightly
def test_the_wind_drives_the_dunes_of_the_delta_to_the_east() -> None:
    """Sand slides off them to both sides as well, so that it comes to lie where none did without any wind."""
    start = simulated(0, small_preset("delta", SIDE)).world
    sandy = start.sediment > 0.0
    column = np.mgrid[:SIDE, :SIDE][1]
    middle, edge = column[sandy].mean(), column[sandy].max()
    beside = (start.water == 0.0) & ~sandy & (column > middle) & (column <= edge + 8)
    gained = {}
    winds: dict[str, dict[str, Value]] = {
        "west": {},
        "none": {"wind__enabled": False},
        "east": {"climate__wind_direction": 90.0},
    }
    for wind, changes in winds.items():
        world = after(160, "delta", **changes).world
        assert (world.ledger.sediment.gained.get("blown in", 0.0) > 0.0) == (wind != "none")
        change = world.sediment - start.sediment
        parts = (sandy & (column < middle), sandy & (column > middle), beside)
        gained[wind] = [float(change[part].mean()) for part in parts]
    assert gained["west"][0] < gained["none"][0] < 0.0 < gained["west"][1]
    assert gained["none"][1] < 0.5 * gained["west"][1]
    assert gained["east"][1] < gained["none"][1]
    assert gained["west"][2] > gained["none"][2] > gained["east"][2]
