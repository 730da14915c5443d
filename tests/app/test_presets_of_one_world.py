"""What presets promise in which several processes act on several kinds of ground, in few cells.

Each claim is held against a run without the process that it is about, or against what the land was like at its start.
"""

from __future__ import annotations

import math
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from app.model.materials import read_strata
from app.model.parameters import Value
from app.model.soundness import find_fault
from app.model.world import World
from kernels.filling import fill
from kernels.materials import rock_at
from kernels.standing import LAKE
from tests.app.small import simulated, small_preset
from tests.app.test_slopes import steepness

Layer = NDArray[np.float64]


def after(cycles: int, name: str, columns: int, **settings: Value) -> World:
    """A preset's world in so many cells from west to east after some cycles; its accounts close."""
    world = simulated(cycles, small_preset(name, columns, **settings)).world
    assert abs(world.imbalance()) < 1e-9
    assert find_fault(world) is None
    return world


def rocks_at_the_top(world: World) -> NDArray[np.str_]:
    """The name of the uppermost rock of each cell."""
    assert world.materials is not None
    fields, heights = world.material_fields(), world.bedrock.ravel()
    numbers = [rock_at(fields, cell, heights[cell]) for cell in range(len(heights))]
    return np.array([rock.name for rock in world.materials.rocks])[numbers].reshape(world.shape)


def gullies(rock: Layer, ground: Layer) -> float:
    """How much slopes bend from side to side beside how much on their way down: gullies, and the ridges between."""
    for _ in range(3):
        ground = np.mean([np.roll(ground, shift, axis) for axis in (0, 1) for shift in (-1, 0, 1)], axis=0)
    south, east = np.gradient(ground)
    steepness = np.hypot(south, east)
    bends = [np.gradient(part, axis=axis) for part in np.gradient(rock) for axis in (0, 1)]
    south, east = south / steepness, east / steepness
    down = bends[0] * south * south + 2.0 * bends[1] * south * east + bends[3] * east * east
    across = bends[0] * east * east - 2.0 * bends[1] * south * east + bends[3] * south * south
    slope = (steepness > np.quantile(steepness, 0.2))[4:-4, 4:-4]
    return float(np.abs(across)[4:-4, 4:-4][slope].mean() / np.abs(down)[4:-4, 4:-4][slope].mean())


@pytest.mark.parametrize("seed", [8, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2, 3))])
def test_rain_tears_gullies_into_badlands(seed: int) -> None:
    """It wears along the slopes. Evenly smoothed, as much or more, the same land has none; how much the measure of that
    varies with how much it is smoothed is what it may be wrong by."""
    start, world = (after(cycles, "badlands", 96, world__seed=seed) for cycles in (0, 350))
    smooth = (ndimage.gaussian_filter(start.bedrock, width) for width in (0.0, 0.5, 0.7, 1.0))
    without = [gullies(land, land) for land in smooth]
    assert gullies(world.bedrock, world.ground) > max(without) + np.ptp(without)


def alike(rock: str, other: str, folder: Path) -> str:
    """A folder of materials in which water takes one rock as easily as another."""
    shipped = files("assets") / "materials"
    erodibility = re.compile("erodibility = .*")
    like = erodibility.search((shipped / f"{other}.toml").read_text())
    assert like
    (folder / f"{rock}.toml").write_text(erodibility.sub(like[0], (shipped / f"{rock}.toml").read_text()))
    return str(folder)


@pytest.mark.parametrize("seed", [8, pytest.param(3, marks=pytest.mark.nightly)])
def test_hard_bands_come_out_in_badlands(seed: int, tmp_path: Path) -> None:
    """At the start a band has its share of the slopes by its thickness d. One that wears e times as fast lies bare for
    d / e: towards these shares the slopes go, if the rocks differ."""
    scene = small_preset("badlands", 96, world__seed=seed)
    start = simulated(0, scene).world
    assert start.materials is not None
    erodibility = {rock.name: rock.erodibility for rock in start.materials.rocks}
    thickness = dict.fromkeys(erodibility, 0.0)
    for stratum in read_strata(scene.materials.strata):
        thickness[stratum.rock] += stratum.thickness
    hardest = min(erodibility, key=lambda name: erodibility[name])
    assert hardest == "sandstone"
    at_first = thickness[hardest] / sum(thickness.values())
    in_the_end = (thickness[hardest] / erodibility[hardest]) / sum(
        thickness[name] / erodibility[name] for name in erodibility
    )

    def share(world: World) -> float:
        bare = (world.sediment < 0.2) & (steepness(world) > 15.0)
        return float((rocks_at_the_top(world)[bare] == hardest).mean())

    half_way = 0.5 * (at_first + in_the_end)
    folder = alike(hardest, "siltstone", tmp_path)
    without = after(350, "badlands", 96, world__seed=seed, materials__folder=folder)
    assert share(start) < half_way
    assert share(without) < half_way
    assert share(after(350, "badlands", 96, world__seed=seed)) > half_way


@pytest.mark.nightly
def test_a_river_cuts_a_canyon_whose_soft_strata_give_way() -> None:
    columns, cycles = 128, 340
    scene = small_preset("canyon", columns)
    start = simulated(0, scene).world
    world = after(cycles, "canyon", columns)
    dry = after(cycles, "canyon", columns, droplets__springs="")
    unbroken = after(cycles, "canyon", columns, weathering__enabled=False)
    # Above the plain that it comes out on, it has cut through the thickest of its strata, and that is the river's work.
    inside = slice(4, round(0.75 * len(world.ground)))
    floor = {name: land.ground.min(axis=1)[inside] for name, land in (("start", start), ("wet", world), ("dry", dry))}
    cut = floor["dry"] - floor["wet"]
    assert cut.min() > 0.0
    assert cut.mean() > max(stratum.thickness for stratum in read_strata(scene.materials.strata))
    assert (floor["start"] - floor["dry"]).max() < 0.1 * cut.min()
    # A canyon, and not land that is worn as a whole
    middle = {name: np.median(land.ground, axis=1)[inside] for name, land in (("wet", world), ("dry", dry))}
    assert np.abs(middle["wet"] - middle["dry"]).mean() < 0.1 * cut.mean()

    def too_steep(world: World, rock: str) -> tuple[float, float]:
        """Of the walls in a rock, the part that clay could not stand as, and the variance of this."""
        assert world.materials is not None
        limit = next(clay.steepest for clay in world.materials.rocks if clay.name == "clay")
        wall = (world.sediment < 0.5) & (steepness(world) > 20.0) & (rocks_at_the_top(world) == rock)
        part = float((steepness(world)[wall] > limit).mean())
        return part, part * (1.0 - part) / np.count_nonzero(wall)

    # Clay that stands too steep breaks, sandstone need not: beyond what chance does, twice the standard error.
    clay, variance = too_steep(world, "clay")
    for other, of_other in (too_steep(unbroken, "clay"), too_steep(world, "sandstone")):
        assert other - clay > 2.0 * math.sqrt(variance + of_other)


def test_lakes_at_many_heights_spill_and_cut_their_outlets_down() -> None:
    start, world = (after(cycles, "lakes", 96) for cycles in (0, 100))
    dry = after(100, "lakes", 96, pools__enabled=False)
    labels, count = ndimage.label(world.standing == LAKE)
    levels = [world.water_level[labels == lake].mean() for lake in range(1, count + 1) if (labels == lake).sum() >= 20]
    assert len(levels) >= 5
    assert np.ptp(levels) > np.ptp(start.ground) / 3.0

    def brim(world: World) -> Layer:
        """The lowest surface on which all water would run off the map."""
        inside = np.zeros((world.shape[0] - 2, world.shape[1] - 2), np.bool_)
        return fill(world.ground, np.pad(inside, 1, constant_values=True))

    # Where lakes were to be, their brims are lower, since what spills wears them; sediment alone makes them higher.
    hollow = brim(start) - start.ground > 2.0
    cut, without = (float((brim(start) - brim(land))[hollow].mean()) for land in (world, dry))
    assert cut > 0.0 > without


def test_woods_grow_on_the_island_and_not_in_the_sea() -> None:
    start, world = (after(cycles, "forest-island", 96) for cycles in (0, 150))
    assert len(start.trees) == 0
    row, column = world.trees[:, 0].astype(int), world.trees[:, 1].astype(int)
    above = world.ground > world.sea_level
    # Seeds come to all cells alike: of trees that grew anywhere, as many as of the cells would stand on land.
    assert above.mean() < 0.5
    assert above[row, column].mean() > 0.99
    land = world.ground > world.sea_level + 5.0
    assert world.trace("canopy")[land].mean() > 20.0 * world.trace("canopy")[~land].mean()
    # High up, where it is cold, most are conifers, below broadleaves; where it is as warm above, these are everywhere.
    warm = after(150, "forest-island", 96, climate__lapse_rate=0.0)
    for woods, conifers_above in ((world, True), (warm, False)):
        heights = woods.ground[tuple(woods.trees[:, :2].astype(int).T)]
        conifer = woods.trees[:, 2] == 0.0
        assert (conifer[heights > np.median(heights)].mean() > 0.5) == conifers_above
        assert conifer[heights <= np.median(heights)].mean() < 0.5


def test_sand_stays_where_grass_stands_and_in_its_lee() -> None:
    """Beside the same dunes without plants, which are even wetter as nothing drinks from them."""
    simulators = [simulated(60, small_preset("planted-dunes", 72, **bare)) for bare in ({}, {"plants__enabled": False})]
    with_plants, bare = (simulator.world for simulator in simulators)
    before, grass = [world.ground.copy() for world in (with_plants, bare)], with_plants.layers["grass"].copy()
    for simulator in simulators:
        for _ in range(60):
            simulator.advance()
    moved, without = (
        np.abs(world.ground - at_first) for world, at_first in zip((with_plants, bare), before, strict=True)
    )
    standing = np.minimum(grass, with_plants.layers["grass"]) > 0.5
    lee = np.roll(before[0], 1, axis=1) - before[0] > 0.05 * with_plants.cell_size  # the wind comes from the west
    # So much of what it would lift elsewhere the wind lifts where half of the ground is covered.
    left = (1.0 - 0.5 * simulators[0].scene.wind.plant_cover) ** 2
    for part in (standing, standing & lee):
        assert part.mean() > 0.05
        assert moved[part].mean() < left * without[part].mean()
    assert moved[grass < 0.2].mean() > moved[standing].mean()


def test_the_air_fills_with_sand_in_a_storm_and_clears_after_it() -> None:
    """Beside the same wind without storms, in whose air sand gathers, too, until as much settles as is lifted."""
    simulators = [simulated(0, small_preset("storm", 80, **calm)) for calm in ({}, {"climate__storms": 0.0})]
    more = 0.0
    changes: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(220):
        for simulator in simulators:
            simulator.advance()
        before = more
        stormy, calm = (float(simulator.world.trace("airborne").mean()) for simulator in simulators)
        more = stormy - calm
        storm = simulators[0].cycle.weather.storm
        if storm > 0.5 or storm == 0.0:
            changes[storm > 0.5].append(more - before)
    assert min(len(kept) for kept in changes.values()) > 40
    assert np.mean(changes[True]) > 0.0 > np.mean(changes[False])
