"""What two ice ages leave in `alps`: troughs, hanging valleys, overdeepened basins that hold lakes, and cirques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.layered_map import Layer
from app.scene.scene import load_preset
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS
from kernels.rivers import Drainage, drain

GLACIAL, END = 120, 345  # cycles
Place = tuple[int, int]


@dataclass
class Valleys:
    """The rivers of the land before it had ice, which say where its valleys are."""

    drainage: Drainage
    cell_size: float
    iced: NDArray[np.bool_]
    trunk: ClassVar[float] = 2.0  # km² that drain through a trunk valley
    tributary: ClassVar[float] = 0.3

    def area(self, place: Place) -> float:
        return float(self.drainage.accumulation[place]) * self.cell_size**2 / 1e6

    def confluences(self) -> list[tuple[Place, list[Place]]]:
        """Cells of trunks under ice, each with 1.5 km of a tributary, upwards from its mouth."""
        directions = self.drainage.directions
        above: dict[Place, list[Place]] = {}
        for row, column in np.ndindex(directions.shape):
            direction = directions[row, column]
            if direction != OUTLET:
                below = row + int(ROW_STEPS[direction]), column + int(COLUMN_STEPS[direction])
                above.setdefault(below, []).append((row, column))
        found = []
        for place, upstream in above.items():
            if len(upstream) < 2 or not self.iced[place] or self.area(place) < self.trunk:
                continue
            way = [sorted(upstream, key=self.area)[-2]]
            if not self.tributary <= self.area(way[0]) <= 0.5 * self.area(place):
                continue
            while self.along(way)[-1] < 1500.0 and way[-1] in above:
                way.append(max(above[way[-1]], key=self.area))
            if self.along(way)[-1] >= 1500.0:
                found.append((place, way))
        return found

    def along(self, way: list[Place]) -> Layer:
        steps = np.hypot(*np.diff(np.array(way), axis=0).T) if len(way) > 1 else np.empty(0)
        return self.cell_size * np.append(0.0, np.cumsum(steps))

    def hang_heights(self, rock: Layer) -> Layer:
        """How far each tributary's floor, drawn out to the trunk, is above it (Amundson, Iverson 2006), in metres."""
        floor = ndimage.minimum_filter(rock, 3)
        heights = []
        for place, way in self.confluences():
            along = self.along(way)
            middle = int(np.searchsorted(along, 500.0))
            height = np.array([floor[each] for each in way])
            slope = (height[-1] - height[middle]) / (along[-1] - along[middle])
            heights.append(height[middle] - floor[place] - slope * (along[middle] + self.cell_size))
        return np.array(heights)


def exponents(rock: Layer, ice: Layer, valleys: Valleys, number: int = 20) -> Layer:
    """b of the power law |x|^b of cross sections up to the trim line (Svensson 1959), where trunks have most ice.

    Sections are 600 m apart at least, and 2 km from the map's edges; each is the mean of its sides."""
    size, margin = valleys.cell_size, round(2000.0 / valleys.cell_size)
    inside = np.zeros(rock.shape, np.bool_)
    inside[margin:-margin, margin:-margin] = True
    area = valleys.drainage.accumulation * (size / 1000.0) ** 2
    cells = np.argwhere(inside & (ice > 60.0) & (area >= valleys.trunk) & (area <= 40.0))
    places: list[NDArray[np.int64]] = []
    for place in cells[np.argsort(-ice[tuple(cells.T)], kind="stable")]:
        if len(places) < number and all(np.hypot(*(place - other)) * size >= 600.0 for other in places):
            places.append(place)
    found = [exponent(rock, ice, place, valleys) for place in places]
    return np.array([each for each in found if np.isfinite(each)])


def exponent(rock: Layer, ice: Layer, place: NDArray[np.int64], valleys: Valleys) -> float:
    """That of one section across the way that the river of a place goes in the next five cells."""
    below = place.copy()
    for _ in range(5):
        direction = valleys.drainage.directions[tuple(below)]
        if direction != OUTLET:
            below += np.array([ROW_STEPS[direction], COLUMN_STEPS[direction]])
    way = (below - place) / max(float(np.hypot(*(below - place))), 1.0)
    along = np.arange(-15.0, 15.25, 0.5)
    line = place[:, None] + along * np.array([-way[1], way[0]])[:, None]
    height, thick = (ndimage.map_coordinates(layer, line, order=1, mode="nearest") for layer in (rock, ice))
    middle = int(np.argmin(np.where(np.abs(along) <= 3.0, height, np.inf)))
    fits = []
    for side in (np.arange(middle, len(along)), np.arange(middle, -1, -1)):
        bare = np.flatnonzero(thick[side] < 10.0)
        end = min(int(bare[0]) if len(bare) else len(side), int(np.argmax(height[side])) + 1)
        wall = side[1:end]
        wall = wall[height[wall] > height[middle] + 1.0]
        if len(wall) >= 5:
            apart = np.log(np.abs(along[wall] - along[middle]))
            fits.append(np.polyfit(apart, np.log(height[wall] - height[middle]), 1)[0])
    return float(np.mean(fits)) if fits else np.nan


def cirques(rock: Layer, cell_size: float, iced: NDArray[np.bool_]) -> int:
    """Hollows with a floor gentler than 20° below a headwall steeper than 35° (Evans, Cox 1974), of at least 4 ha."""
    slope = np.degrees(np.arctan(np.hypot(*np.gradient(rock, cell_size))))
    walls = ndimage.maximum_filter(np.where(slope > 35.0, rock, -1e9), 2 * round(500.0 / cell_size) + 1)
    labels, count = ndimage.label((slope < 20.0) & iced & (walls > rock + 100.0), np.ones((3, 3)))
    sizes = np.bincount(labels.reshape(-1), minlength=count + 1)[1:]
    return int((sizes * cell_size**2 >= 4e4).sum())


def basins(rock: Layer, cell_size: float) -> int:
    """Closed hollows of the rock that are deeper than 10 m: overdeepenings (Cook, Swift 2012)."""
    depth = drain(rock, cell_size, -np.inf).filled - rock
    return int(ndimage.label(depth > 10.0)[1])


@pytest.mark.nightly
def test_ice_ages_leave_troughs_hanging_valleys_basins_and_cirques() -> None:
    world, scene = create_world(load_preset("alps"))
    simulator = Simulator(scene, world)
    before, drainage = world.bedrock.copy(), drain(world.ground, world.cell_size, -np.inf)
    iced = np.zeros(world.shape, np.bool_)
    for _ in range(END):
        simulator.advance()
        if world.cycle == GLACIAL:
            ice = world.layers["ice"].copy()
            iced = ice > 30.0
    simulator.verify()
    assert iced.mean() > 0.07, "glaciers cover the heights"
    valleys = Valleys(drainage, world.cell_size, iced)
    vees, troughs = exponents(before, ice, valleys), exponents(world.bedrock, ice, valleys)
    assert len(troughs) >= 18 and vees.mean() < 1.1, vees
    assert 1.6 <= troughs.mean() <= 2.2 and np.median(troughs) > 1.55, troughs
    hung, hang = valleys.hang_heights(before), valleys.hang_heights(world.bedrock)
    assert len(hang) >= 8 and (hung > 50.0).sum() == 0, "rivers meet at one height"
    assert (hang > 50.0).mean() > 0.4
    assert basins(before, world.cell_size) == 0 and basins(world.bedrock, world.cell_size) > 40
    assert (world.water > 2.0).sum() > 100, "and lakes lie in some of them"
    assert cirques(world.bedrock, world.cell_size, iced) > 1.5 * cirques(before, world.cell_size, iced) + 10


@pytest.mark.nightly
def test_the_sea_rises_into_troughs_that_ice_has_worn_below_it() -> None:
    world, scene = create_world(load_preset("fjords"))
    simulator = Simulator(scene, world)
    land = world.ground > 50.0
    for _ in range(235):
        simulator.advance()
    simulator.verify()
    assert "ice" not in world.layers or world.layers["ice"].mean() < 1.0
    rock, cell = world.bedrock, world.cell_area / 1e6
    assert (land & (rock < 0.0)).sum() * cell > 10.0, "km² of land that are below the old sea level"
    assert (land & (world.ground < world.sea_level - 300.0)).sum() * cell > 10.0, "and deep below the new one"
    assert 0.3 < (world.ground > world.sea_level).mean() < 0.7
