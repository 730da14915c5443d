"""Water in the ground in the plainest form: one cell at a time, and one line of cells as a system of equations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.moisture import MoistureParameters
from kernels.standing import DRY, LAKE, SEA

CELL_SIZE = 10.0


@dataclass
class Cell:
    """What is at one place, of one sort of loose material and one of rock."""

    bedrock: float
    sediment: float
    water: float
    standing: int
    moisture: float
    groundwater: float
    cover: float
    porosity: float
    permeability: float
    rock_porosity: float
    rock_permeability: float
    wetness: float = 0.0
    rained: float = 0.0
    evaporated: float = 0.0
    from_sea: float = 0.0
    into_sea: float = 0.0

    def yields(self, p: MoistureParameters) -> tuple[float, float]:
        """Part of the loose material, and of the rock, that groundwater fills."""
        drains = 1.0 - p.field_capacity
        return max(1e-3, self.porosity * drains), max(1e-3, self.rock_porosity * drains)

    def room(self, p: MoistureParameters) -> float:
        loose, rock = self.yields(p)
        return loose * self.sediment + rock * p.aquifer_depth

    def level(self, p: MoistureParameters) -> float:
        """Height to which groundwater stands, found by filling the ground from below."""
        loose, rock = self.yields(p)
        left = self.groundwater
        height = self.bedrock - p.aquifer_depth
        for thickness, part in ((p.aquifer_depth, rock), (self.sediment, loose), (math.inf, 1.0)):
            filled = min(left, thickness * part)
            height += filled / part
            left -= filled
        return height

    def exchange(self, p: MoistureParameters) -> None:
        """What happens in one cycle."""
        soil = min(self.sediment, p.soil_depth)
        capacity = self.porosity * soil + self.rock_porosity * min(p.weathered, p.soil_depth - soil)
        held = p.field_capacity * capacity
        room = self.room(p)
        easily = min(1.0, self.permeability if self.sediment > 0.0 else self.rock_permeability)
        if self.moisture > capacity:
            self.groundwater += self.moisture - capacity
            self.moisture = capacity

        free = capacity - self.moisture + max(0.0, room - self.groundwater)
        if self.standing == SEA:
            soaked = min(easily * p.infiltration, free)
            self.from_sea = soaked
        elif self.water > 0.0:
            soaked = min(easily * p.infiltration, free, self.water)
            self.water -= soaked
        else:
            soaked = max(
                0.0, min(p.rain, capacity - self.moisture, held + max(0.0, room - self.groundwater) - self.moisture)
            )
            self.rained = soaked
        self.groundwater += max(0.0, soaked - (capacity - self.moisture))
        self.moisture = min(capacity, self.moisture + soaked)

        surplus = max(0.0, self.groundwater - room)
        if self.standing == SEA:
            self.into_sea = surplus
            self.groundwater -= surplus
        elif self.water > 0.0:
            self.water += surplus
            self.groundwater -= surplus
        else:
            temperature = p.temperature - p.lapse_rate * (self.bedrock + self.sediment)
            thirst = p.evaporation * (1.0 + p.transpiration * self.cover) * saturated(temperature) / saturated(15.0)
            from_surplus = min(thirst, surplus)
            ease = min(1.0, self.moisture / held) if held > 0.0 else 1.0
            from_soil = min(self.moisture, (thirst - from_surplus) * ease)
            self.groundwater -= from_surplus
            self.moisture -= from_soil
            self.evaporated = from_surplus + from_soil

        if self.groundwater < room:
            below = self.bedrock + self.sediment - self.level(p)
            near = max(0.0, 1.0 - below / min(p.capillary_rise, self.sediment + p.aquifer_depth))
        else:
            near = 1.0 if self.groundwater > 0.0 else 0.0
        if self.moisture > held:
            moved = min(easily * p.percolation * (self.moisture - held), max(0.0, room - self.groundwater))
        else:
            moved = -min(near * p.percolation * (held - self.moisture), self.groundwater)
        self.moisture -= moved
        self.groundwater += moved
        dry = self.standing == DRY and self.water == 0.0
        full = self.moisture / capacity if capacity > 0.0 else 0.0
        self.wetness = max(near, full) if dry else 1.0


def saturated(temperature: float) -> float:
    """Pressure of saturated vapour in hPa (Tetens 1930)."""
    return 6.108 * math.exp(17.27 * temperature / (temperature + 237.3))


def flow_along(cells: list[Cell], time: float, p: MoistureParameters) -> NDArray[np.float64]:
    """Groundwater of a line of cells between walls after a time in cycles."""
    count = len(cells)
    level, conducts, gaining, losing = np.empty((4, count))
    for number, cell in enumerate(cells):
        loose, rock = cell.yields(p)
        level[number] = cell.level(p)
        in_rock = min(max(level[number] - (cell.bedrock - p.aquifer_depth), 0.0), p.aquifer_depth)
        in_loose = min(max(level[number] - cell.bedrock, 0.0), cell.sediment)
        conducts[number] = p.conductivity * (cell.rock_permeability * in_rock + cell.permeability * in_loose)
        top = cell.bedrock + cell.sediment
        gaining[number] = rock if level[number] < cell.bedrock else loose if level[number] < top else 1.0
        losing[number] = loose if in_loose > 0.0 else rock
        if cell.standing != DRY and level[number] >= top:
            gaining[number] = losing[number] = 1e30
            level[number] = top + cell.water if cell.standing == LAKE else max(p.sea_level, top)
    between = np.zeros(count - 1)
    for number in range(count - 1):
        source = number if level[number] > level[number + 1] else number + 1
        mean = 0.5 * (conducts[number] + conducts[number + 1])
        between[number] = time / CELL_SIZE**2 * min(mean, conducts[source])
    system = np.zeros((count, count))
    for number, conductance in enumerate(between):
        system[number, number] += conductance
        system[number + 1, number + 1] += conductance
        system[number, number + 1] -= conductance
        system[number + 1, number] -= conductance
    gain = -system @ level
    change = np.linalg.solve(system + np.diag(np.where(gain > 0.0, gaining, losing)), gain)
    flow = between * -np.diff(level + change)
    out = np.zeros(count)
    out[:-1] += np.maximum(flow, 0.0)
    out[1:] += np.maximum(-flow, 0.0)
    stock = np.array([cell.groundwater for cell in cells])
    part, wanted = np.ones(count), flow
    for _ in range(count):  # what comes to a cell goes on in the same step
        flow = wanted * np.where(wanted > 0.0, part[:-1], part[1:])
        comes = np.zeros(count)
        comes[1:] += np.maximum(flow, 0.0)
        comes[:-1] += np.maximum(-flow, 0.0)
        part = np.minimum(1.0, (stock + comes) / np.maximum(out, 1e-300))
    flow = wanted * np.where(wanted > 0.0, part[:-1], part[1:])
    stock[:-1] -= flow
    stock[1:] += flow
    return stock
