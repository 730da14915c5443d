"""What presets promise in which several processes act on several kinds of ground, at small sizes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.parameters import Value
from app.model.world import World
from app.scene.scene import load_preset
from kernels.materials import rock_at

Layer = NDArray[np.float64]


def after(name: str, cycles: int, **settings: Value) -> tuple[World, World]:
    """A preset's world at its start, and after so many cycles; its accounts close."""
    scene = load_preset(name).with_values({path.replace("__", "."): value for path, value in settings.items()})
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    for _ in range(cycles):
        simulator.advance()
    assert abs(simulator.world.imbalance()) < 1e-9
    assert simulator.world.unsound_cell() is None
    return create_world(scene)[0], simulator.world


def rocks_at_the_top(world: World) -> NDArray[np.int64]:
    """The number of the uppermost rock of each cell."""
    fields = world.material_fields()
    heights = world.bedrock.ravel()
    return np.array([rock_at(fields, cell, heights[cell]) for cell in range(len(heights))]).reshape(world.shape)


def slopes(heights: Layer, cell_size: float) -> Layer:
    south, east = np.gradient(heights, cell_size)
    steepness: Layer = np.degrees(np.arctan(np.hypot(south, east)))
    return steepness


def gullies(world: World) -> float:
    """How much slopes bend from side to side beside how much on their way down: gullies, and the ridges between."""
    rock, blurred = world.bedrock, world.ground
    for _ in range(3):
        blurred = np.mean([np.roll(blurred, shift, axis) for axis in (0, 1) for shift in (-1, 0, 1)], axis=0)
    south, east = np.gradient(blurred, world.cell_size)
    steepness = np.hypot(south, east)
    bends = [np.gradient(part, axis=axis) for part in np.gradient(rock) for axis in (0, 1)]
    south, east = south / steepness, east / steepness
    down = bends[0] * south * south + 2.0 * bends[1] * south * east + bends[3] * east * east
    across = bends[0] * east * east - 2.0 * bends[1] * south * east + bends[3] * south * south
    slope = (steepness > 0.3)[4:-4, 4:-4]
    return float(np.abs(across)[4:-4, 4:-4][slope].mean() / np.abs(down)[4:-4, 4:-4][slope].mean())


@pytest.mark.parametrize("seed", [8, 3])
def test_rain_tears_gullies_into_badlands_and_lays_many_bands_bare(seed: int) -> None:
    small: dict[str, Value] = {"world__columns": 96, "world__rows": 80, "world__cell_size": 11.0, "droplets__count": 60}
    start, world = after("badlands", 350, world__seed=seed, noise__octaves=4, **small)
    assert gullies(world) > 1.08 * gullies(start)
    bare = (world.sediment < 0.2) & (slopes(world.ground, world.cell_size) > 15.0)
    assert bare.mean() > 0.25
    shares = np.bincount(rocks_at_the_top(world)[bare], minlength=3) / bare.sum()
    assert (shares > 0.03).all()
    # Bands: going down the map, the rock changes again and again.
    column = rocks_at_the_top(world)[:, 20]
    assert (np.diff(column) != 0).sum() > 8


def test_a_river_cuts_a_canyon_whose_hard_strata_stand_steepest() -> None:
    small: dict[str, Value] = {"world__columns": 96, "world__rows": 88, "world__cell_size": 29.0}
    start, world = after("canyon", 250, **small)
    inside = slice(4, 70)  # above the plain that it comes out on
    cut = (start.ground.min(axis=1) - world.ground.min(axis=1))[inside]
    assert cut.mean() > 30.0
    depth = np.median(world.ground, axis=1) - world.ground.min(axis=1)
    assert depth[inside].min() > 0.25 * np.ptp(start.ground)
    rocks, steepness = rocks_at_the_top(world), slopes(world.bedrock, world.cell_size)
    names = [rock.name for rock in world.materials.rocks] if world.materials else []
    walls = steepness > 20.0
    mean = {name: steepness[walls & (rocks == number)].mean() for number, name in enumerate(names)}
    assert mean["sandstone"] > mean["clay"] + 2.0


def test_woods_grow_on_the_island_and_not_in_the_sea() -> None:
    start, world = after("forest-island", 150, world__columns=96, world__rows=96, world__cell_size=48.0)
    assert len(start.trees) == 0
    row, column = world.trees[:, 0].astype(int), world.trees[:, 1].astype(int)
    on_land = world.ground[row, column] > world.sea_level
    assert len(world.trees) > 200
    assert on_land.mean() > 0.99
    land = world.ground > world.sea_level + 5.0
    assert world.trace("canopy")[land].mean() > 20.0 * world.trace("canopy")[~land].mean()
    assert set(np.unique(world.trees[:, 2])) == {0.0, 1.0}  # conifers and broadleaves


def test_a_lee_slope_with_plants_keeps_its_sand() -> None:
    """Beside the same dunes without plants, which are even wetter as nothing drinks from them."""
    moved = {}
    for plants in (True, False):
        size = {"world__columns": 72, "world__rows": 56, "wind__count": 20}
        _, before = after("planted-dunes", 180, plants__enabled=plants, **size)
        _, world = after("planted-dunes", 240, plants__enabled=plants, **size)
        lee = np.roll(before.ground, 1, axis=1) - before.ground > 0.2 * world.cell_size  # the wind comes from the west
        moved[plants] = np.abs(world.ground - before.ground)[lee].mean()
    assert moved[True] < 0.5 * moved[False]


def test_the_air_fills_with_sand_in_a_storm_and_clears_after_it() -> None:
    scene = load_preset("storm").with_values({"world.columns": 80, "world.rows": 60, "wind.count": 30})
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    changes: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(220):
        before = float(world.trace("airborne").mean())
        simulator.advance()
        storm = simulator.cycle.weather.storm
        if storm > 0.5 or storm == 0.0:
            changes[storm > 0.5].append(float(world.trace("airborne").mean()) - before)
    assert min(len(kept) for kept in changes.values()) > 40
    assert np.mean(changes[True]) > 0.0 > np.mean(changes[False])
