"""Droplet erosion once more, as plain as can be, to compare the kernel with.

`article` is the article's text and listing (McDonald 2020, "Simple particle-based hydraulic erosion"), word for word:
heights in [0, 1], `scale` cells to one unit of height, concentration as what a drop carries.

`corrected` is the same in metres and on two layers, with what `kernels/droplets.py` says that it does otherwise, and on
ground of several kinds, with roots and soaking, where the map has any.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernels.materials import Materials

Layer = NDArray[np.float64]


@dataclass
class Parameters:
    time_step: float = 1.2
    density: float = 1.0
    friction: float = 0.05
    deposition_rate: float = 0.1
    evaporation: float = 0.001
    minimum_volume: float = 0.01
    rock_erodibility: float = 0.5
    longest_path: int = 1000
    water: float = 1.0
    stream_friction: float = 0.0
    stream_evaporation: float = 0.0
    stream_stop: float = 0.0
    momentum: float = 0.0
    root_hold: float = 0.0
    root_deposition: float = 1.0
    soaking: float = 0.0
    attrition: float = 0.0
    river_transport: float = 0.0


def normal(height: Layer, i: int, j: int, scale: float) -> NDArray[np.float64]:
    """Unit normal (row, up, column) of the ground at a cell: the cross product of its two tangents."""
    rows, columns = height.shape
    north, south = max(i - 1, 0), min(i + 1, rows - 1)
    west, east = max(j - 1, 0), min(j + 1, columns - 1)
    along_row = np.array([1.0, scale * (height[south, j] - height[north, j]) / (south - north), 0.0])
    along_column = np.array([0.0, scale * (height[i, east] - height[i, west]) / (east - west), 1.0])
    up = np.cross(along_column, along_row)
    return up / math.sqrt(up @ up)


def article(height: Layer, scale: float, start: tuple[float, float], p: Parameters) -> tuple[float, tuple[int, int]]:
    """One drop over `height`, changed in place. Returns the concentration left in it and the cell where it ended."""
    rows, columns = height.shape
    position = np.array(start)
    speed = np.zeros(2)
    volume, concentration = 1.0, 0.0
    for _ in range(p.longest_path):
        before = (int(position[0]), int(position[1]))
        n = normal(height, *before, scale)
        speed = speed + p.time_step * np.array([n[0], n[2]]) / (volume * p.density)
        position = position + p.time_step * speed
        speed = speed * (1.0 - p.time_step * p.friction)
        after = (math.floor(position[0]), math.floor(position[1]))
        if not (0 <= after[0] < rows and 0 <= after[1] < columns):
            break
        equilibrium = max(0.0, volume * math.hypot(*speed) * (height[before] - height[after]))
        difference = equilibrium - concentration
        concentration += p.time_step * p.deposition_rate * difference
        height[before] -= p.time_step * volume * p.deposition_rate * difference
        volume *= 1.0 - p.time_step * p.evaporation
        if volume < p.minimum_volume:
            break
    return concentration, after


@dataclass
class Map:
    """Two layers in metres, and what has left them."""

    bedrock: Layer
    sediment: Layer
    cell_size: float
    off_edge: float = 0.0
    water_off_edge: float = 0.0
    abraded: float = 0.0
    into_sea: float = 0.0
    steps: int = 0
    walls: bool = False
    ground: Layer = field(init=False)
    level: Layer = field(init=False)  # of lakes; NaN where there is none
    is_sea: NDArray[np.bool_] = field(init=False)
    brought: Layer = field(init=False)  # volume that ended on each cell
    stream: NDArray[np.float32] = field(init=False)
    discharge: NDArray[np.float32] = field(init=False)
    momentum: NDArray[np.float32] = field(init=False)  # [row, column, (south, east)]
    passed: NDArray[np.float32] = field(init=False)  # [row, column, (volume, times velocity south, east)]
    materials: Materials | None = None
    mix: Layer = field(default_factory=lambda: np.empty(0))  # [row, column, kind]
    roots: NDArray[np.float32] = field(init=False)
    wetness: NDArray[np.float32] = field(init=False)
    moisture: Layer = field(init=False)
    kinds_from_rock: NDArray[np.float64] = field(init=False)  # [kind], as those that follow
    kinds_off_edge: NDArray[np.float64] = field(init=False)
    kinds_worn: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.ground = self.bedrock + self.sediment
        shape = self.ground.shape
        self.level = np.full(shape, np.nan)
        self.is_sea = np.zeros(shape, bool)
        self.brought = np.zeros(shape)
        self.stream, self.discharge = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self.momentum, self.passed = np.zeros((*shape, 2), np.float32), np.zeros((*shape, 3), np.float32)
        self.roots, self.wetness = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self.moisture = np.zeros(shape)
        kinds = 0 if self.materials is None else self.materials.kinds
        self.kinds_from_rock, self.kinds_off_edge, self.kinds_worn = np.zeros((3, kinds))

    def end(self, cell: tuple[int, int], volume: float) -> None:
        """A drop ends on the map with what is left of it."""
        if self.is_sea[cell]:
            self.into_sea += volume
        else:
            self.brought[cell] += volume

    def add_sediment(self, cell: tuple[int, int], depth: float) -> None:
        self.sediment[cell] += depth
        self.ground[cell] = self.bedrock[cell] + self.sediment[cell]

    def add_kinds(self, cell: tuple[int, int], depths: NDArray[np.float64]) -> None:
        self.mix[cell] += depths
        self.sediment[cell] = self.mix[cell].sum()
        self.ground[cell] = self.bedrock[cell] + self.sediment[cell]

    def rock(self, cell: tuple[int, int]) -> int:
        """The rock at the top of a cell's bedrock."""
        assert self.materials is not None
        rise = self.materials.rise.reshape(self.ground.shape)
        step = math.floor((float(rise[cell]) - self.bedrock[cell]) * self.materials.steps_per_metre)
        return int(self.materials.strata[min(max(step, 0), len(self.materials.strata) - 1)])

    def wear_rock(self, cell: tuple[int, int], depth: float) -> None:
        self.bedrock[cell] -= depth
        self.abraded += depth
        self.ground[cell] = self.bedrock[cell] + self.sediment[cell]


def around(world: Map, cell: tuple[int, int], corners: bool) -> list[tuple[int, int]]:
    """The neighbours of a cell that are on the map."""
    rows, columns = world.ground.shape
    steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a or b) and (corners or not (a and b))]
    cells = [(cell[0] + a, cell[1] + b) for a, b in steps]
    return [(i, j) for i, j in cells if 0 <= i < rows and 0 <= j < columns]


NO_KINDS = np.empty(0)


def put_down(world: Map, cell: tuple[int, int], mass: float, loads: NDArray[np.float64] = NO_KINDS) -> None:
    """Fill the cell and its neighbours from the lowest up, as a liquid, with `loads` of kinds, if any."""
    order = sorted([cell, *around(world, cell, corners=True)], key=lambda c: float(world.ground[c]))
    heights = [float(world.ground[c]) for c in order]
    for wet in range(1, len(order) + 1):
        level = (mass + sum(heights[:wet])) / wet
        if wet == len(order) or level <= heights[wet]:
            break
    for c, height in zip(order[:wet], heights[:wet], strict=True):
        if not len(loads):
            world.add_sediment(c, level - height)
        elif mass > 0.0:
            world.add_kinds(c, loads * ((level - height) / mass))


def take_kinds(world: Map, cell: tuple[int, int], take: float, loads: NDArray[np.float64], p: Parameters) -> None:
    """Each kind as easily as it is taken, then rock."""
    m = world.materials
    assert m is not None
    loose = float(world.mix[cell].sum())
    taken = world.mix[cell] * m.erodibility * (min(1.0, take / loose) if loose > 0.0 else 0.0)
    if take > loose:
        rock = world.rock(cell)
        worn = (take - loose) * p.rock_erodibility * m.rock_erodibility[rock]
        world.wear_rock(cell, worn)
        loads[m.rock_worn[rock]] += worn
        world.kinds_from_rock[m.rock_worn[rock]] += worn
    world.add_kinds(cell, -taken)
    loads += taken


def settle_kinds(world: Map, cell: tuple[int, int], part: float, room: float, loads: NDArray[np.float64]) -> None:
    """Each kind as fast as it settles; no more than there is room for."""
    assert world.materials is not None
    fast = float(loads @ world.materials.deposition)
    if fast > 0.0:
        part = min(part, room / fast)
    settled = loads * np.minimum(1.0, part * world.materials.deposition)
    world.add_kinds(cell, settled)
    loads -= settled


def wear_load(world: Map, cells: float, loads: NDArray[np.float64], p: Parameters) -> None:
    """What is moved over so many cells gets finer."""
    m = world.materials
    assert m is not None
    for kind in range(m.kinds):
        if m.worn[kind] != kind:
            worn = loads[kind] * min(1.0, m.abrasion[kind] * p.attrition * cells * world.cell_size / 1000.0)
            loads[kind] -= worn
            loads[m.worn[kind]] += worn
            world.kinds_worn[kind] += worn


def surface(world: Map, cell: tuple[int, int]) -> float:
    """The ground, or the water that stands on it."""
    ground, level = float(world.ground[cell]), float(world.level[cell])
    return ground if math.isnan(level) else max(ground, level)


def fall_beyond(
    world: Map, position: NDArray[np.float64], last: tuple[int, int], direction: NDArray[np.float64]
) -> float:
    """The larger of the last two falls on the way of a drop that leaves the map."""
    rows, columns = world.ground.shape
    heights = [float(world.ground[last])]
    for cells in (1.0, 2.0):
        i, j = (int(c) for c in position - cells * direction)
        heights.append(float(world.ground[min(max(i, 0), rows - 1), min(max(j, 0), columns - 1)]))
    return max(heights[2] - heights[1], heights[1] - heights[0])


def fill_to(
    world: Map, cells: list[tuple[int, int]], level: float, mass: float, loads: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Fill cells up to a level, one after the other, and return what is left of the mass and of the loads."""
    for cell in cells:
        laid = min(mass, max(0.0, level - float(world.ground[cell])))
        if laid > 0.0:
            if len(loads):
                world.add_kinds(cell, loads * (laid / mass))
                loads = loads * (1.0 - laid / mass)
            else:
                world.add_sediment(cell, laid)
            mass -= laid
    return mass, loads


def corrected(
    world: Map,
    start: tuple[float, float],
    p: Parameters,
    velocity: tuple[float, float] = (0.0, 0.0),
    volume: float = 1.0,
) -> None:
    """One drop over a map, changed in place."""
    rows, columns = world.ground.shape
    position = np.array(start)
    speed = np.array(velocity)
    concentration = 0.0
    carries = p.river_transport > 0.0
    came: tuple[int, int] | None = None
    loads = np.zeros(0 if world.materials is None else world.materials.kinds)
    for step in range(1, p.longest_path + 1):
        before = (int(position[0]), int(position[1]))
        if carries and not math.isnan(world.level[before]):
            block = sorted([before, *around(world, before, corners=True)])
            flooded = float(world.ground[before]) < world.level[before]
            mass, loads = fill_to(world, block, float(world.level[before]), volume * concentration, loads)
            concentration = mass / volume
            if flooded and mass <= 0.0:
                world.end(before, volume)
                return
        elif not math.isnan(world.level[before]):
            put_down(world, before, volume * concentration, loads)
            world.end(before, volume)
            return
        world.steps += 1
        n = normal(world.ground, *before, 1.0 / world.cell_size)
        stream = float(world.stream[before])

        # A step lasts dt, or as long as a cell takes at the speed before it or after it.
        time = p.time_step if math.hypot(*speed) * p.time_step <= 1.0 else 1.0 / math.hypot(*speed)
        acceleration = np.array([n[0], n[2]]) / p.density
        speed = speed + time * acceleration
        speed = speed * max(0.0, 1.0 - time * p.friction * (1.0 - p.stream_friction * stream))
        flowing, momentum = float(world.discharge[before]), world.momentum[before]
        if p.momentum > 0.0 and float(momentum @ speed) > 0.0:
            same_way = float(momentum @ speed) / (math.hypot(*momentum) * math.hypot(*speed))
            turned = speed + time * p.momentum * same_way * momentum / (volume * p.water + flowing)
            speed = turned * (math.hypot(*speed) / math.hypot(*turned))
        fast = math.hypot(*speed)
        if fast * time > 1.0:
            time_to_move = 1.0 / fast
        else:
            time_to_move = time
        stands = fast <= 1e-3
        slows = not carries and math.hypot(*acceleration) < p.stream_stop
        time = time_to_move
        position_before = position
        if not fast <= 1e-3:
            position = position + time * speed
        after = (math.floor(position[0]), math.floor(position[1]))
        flows = max(flowing, float(world.passed[before][0]) * p.water) / p.water
        outside = not (0 <= after[0] < rows and 0 <= after[1] < columns)
        if outside and world.walls:
            after, stands, outside = before, True, False
        stands = stands or (slows and not outside and float(world.stream[after]) > 0.5)
        near = {c: float(world.ground[c]) for c in around(world, before, corners=True)}
        if carries and not outside:
            climbs = surface(world, after) >= float(world.ground[before])
            if stands or (flows > 1.0 and climbs and after != before):
                # To the lowest cell around, out of a pit once that is filled.
                target = min(near, key=lambda c: (near[c], c))
                stands = False
                if near[target] >= float(world.ground[before]):
                    on_edge = before[0] in (0, rows - 1) or before[1] in (0, columns - 1)
                    outside = on_edge and not world.walls
                    target = min((c for c in near if c != came), key=lambda c: (near[c], c))
                    sill = near[target]
                    if not outside:
                        level = sill + 1e-4 * world.cell_size
                        mass, loads = fill_to(world, [before], level, volume * concentration, loads)
                        concentration = mass / volume
                        stands = float(world.ground[before]) < sill - 1e-12 * abs(sill)
                if outside:
                    target = tuple(  # type: ignore[assignment]
                        -1 if c == 0 else c + 1 if c == last else c
                        for c, last in zip(before, (rows - 1, columns - 1), strict=True)
                    )
                after = before if stands else target
                if not stands:
                    middle = np.array(after) + 0.5
                    way = (middle - position_before) / math.hypot(*(middle - position_before))
                    fast = max(float(speed @ way), 0.3)
                    speed, position = fast * way, middle
        if outside and not carries:
            world.passed[before] += volume * np.array([1.0, *speed])
            world.off_edge += volume * concentration
            world.kinds_off_edge += loads
            world.water_off_edge += volume
            return

        if outside:
            down = fall_beyond(world, position_before, before, speed / fast)
        else:
            down = float(world.ground[before]) - surface(world, after)
        equilibrium = max(0.0, volume * fast * down)
        settles = 1.0 / (1.0 + p.river_transport * flows) if carries else 1.0
        take = volume * min(1.0, time * p.deposition_rate) * (equilibrium - concentration * settles)
        if outside:
            down = min(max(0.0, down), float(world.sediment[before]))
        hold = p.root_hold * (1.0 if take > 0.0 else p.root_deposition)
        take *= 1.0 - hold * float(world.roots[before])
        if take > 0.0 and len(loads):
            take_kinds(world, before, min(take, down), loads, p)
        elif take > 0.0:
            # No deeper than the cell ahead; sediment first, then rock, which resists.
            take = min(take, down)
            loose = min(take, float(world.sediment[before]))
            rock = p.rock_erodibility * (take - loose)
            world.add_sediment(before, -loose)
            world.wear_rock(before, rock)
            concentration += (loose + rock) / volume
        else:
            # No higher than the highest cell beside it, and uphill no higher than the cell ahead.
            room = max(float(world.ground[c]) for c in around(world, before, corners=False)) - world.ground[before]
            if down < 0.0:
                room = min(room, -down)
            put = min(-take, max(0.0, room))
            if len(loads):
                carried = float(loads.sum())
                settle_kinds(world, before, -take / carried if carried > 0.0 else 0.0, max(0.0, room), loads)
            else:
                world.add_sediment(before, put)
                concentration -= put / volume
        if len(loads):
            wear_load(world, time * fast, loads, p)
            concentration = float(loads.sum()) / volume

        if after != before:
            world.passed[before] += volume * np.array([1.0, *speed])
        mass = volume * concentration
        soaked = volume * min(1.0, time * p.soaking * (1.0 - float(world.wetness[before])))
        world.moisture[before] += soaked * p.water
        volume -= soaked
        volume *= max(0.0, 1.0 - time * p.evaporation * (1.0 - p.stream_evaporation * stream))
        concentration = mass / volume if volume > 0.0 else 0.0
        if after != before:
            came = before
        if outside:
            world.off_edge += mass
            world.kinds_off_edge += loads
            world.water_off_edge += volume
            return
        if stands or volume < p.minimum_volume or step == p.longest_path:
            put_down(world, after, mass, loads)
            world.end(after, volume)
            return
