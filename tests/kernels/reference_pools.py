"""Pools the slow way, in exact fractions: pour the water of one cell after the other, and watch where it goes.

Nothing here knows of depressions and their hierarchy. A pool is a set of cells with a level. It takes water until its
level reaches the lowest cell around it, takes that cell in too, and spills where a cell around it lies lower than its
level. Pools that stand at the same level side by side are one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kernels.depressions import OPEN, SEA, WALL

Layer = NDArray[np.float64]
Cell = tuple[int, int]


@dataclass(eq=False)
class Pool:
    level: Fraction
    cells: set[Cell] = field(default_factory=set)


class Map:
    """A map onto which water is poured."""

    def __init__(self, ground: Layer, edges: int, sea_level: float = 0.0) -> None:
        self.ground = ground
        self.rows, self.columns = ground.shape
        self.open = edges in (SEA, OPEN)
        self.sea = self._flood_sea(sea_level) if edges == SEA else np.zeros(ground.shape, bool)
        self.pool_of: dict[Cell, Pool] = {}
        self.into_sea = Fraction(0)
        self.over_edge = Fraction(0)

    def neighbours(self, cell: Cell) -> Iterator[Cell]:
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                other = cell[0] + i, cell[1] + j
                if other != cell and 0 <= other[0] < self.rows and 0 <= other[1] < self.columns:
                    yield other

    def at_edge(self, cell: Cell) -> bool:
        return cell[0] in (0, self.rows - 1) or cell[1] in (0, self.columns - 1)

    def _flood_sea(self, sea_level: float) -> NDArray[np.bool_]:
        sea = np.zeros(self.ground.shape, bool)
        todo = [cell for cell in np.ndindex(self.ground.shape) if self.at_edge(cell) and self.ground[cell] < sea_level]
        for cell in todo:
            sea[cell] = True
        while todo:
            for other in self.neighbours(todo.pop()):
                if not sea[other] and self.ground[other] < sea_level:
                    sea[other] = True
                    todo.append(other)
        return sea

    def fall(self, cell: Cell, other: Cell) -> float:
        straight = cell[0] == other[0] or cell[1] == other[1]
        return float(self.ground[cell] - self.ground[other]) * (1.0 if straight else math.sqrt(0.5))

    def pour(self, cell: Cell, volume: Fraction) -> None:
        """Let a volume run from a cell to where it stays."""
        while volume > 0:
            if self.sea[cell]:
                self.into_sea += volume
                return
            if cell in self.pool_of:
                volume, way = self.fill(self.pool_of[cell], volume)
            elif self.open and self.at_edge(cell):
                self.over_edge += volume
                return
            else:
                lower = [other for other in self.neighbours(cell) if self.ground[other] < self.ground[cell]]
                if lower:
                    way = max(lower, key=lambda other, here=cell: self.fall(here, other))  # type: ignore[misc]
                else:
                    self.pool_of[cell] = Pool(Fraction(self.ground[cell]), {cell})
                    way = cell
            if way is None:
                self.over_edge += volume
                return
            cell = way

    def fill(self, pool: Pool, volume: Fraction) -> tuple[Fraction, Cell | None]:
        """Put water into a pool; returns what it cannot hold, and the cell to which that flows; None: off the map."""
        while volume > 0:
            ways = []
            for cell in pool.cells:
                if self.ground[cell] == pool.level:
                    if self.open and self.at_edge(cell):
                        return volume, None
                    for other in self.neighbours(cell):
                        if other not in pool.cells and (self.sea[other] or self.ground[other] < pool.level):
                            beside = self.pool_of.get(other)
                            if beside is None or beside.level < pool.level:
                                ways.append((self.fall(cell, other), other))
            if ways:
                return volume, max(ways)[1]
            around = {other for cell in pool.cells for other in self.neighbours(cell)} - pool.cells
            if not around:
                pool.level += volume / len(pool.cells)
                return Fraction(0), None
            lowest = min(max(Fraction(self.ground[cell]), self.level_of(cell)) for cell in around)
            room = (lowest - pool.level) * len(pool.cells)
            if volume < room:
                pool.level += volume / len(pool.cells)
                return Fraction(0), None
            volume -= room
            pool.level = lowest
            for cell in around:
                if self.ground[cell] <= lowest:
                    beside = self.pool_of.get(cell)
                    self._take_in(pool, beside.cells if beside else {cell})
        return Fraction(0), None

    def level_of(self, cell: Cell) -> Fraction:
        return self.pool_of[cell].level if cell in self.pool_of else Fraction(self.ground[cell])

    def _take_in(self, pool: Pool, cells: set[Cell]) -> None:
        pool.cells |= cells
        for cell in cells:
            self.pool_of[cell] = pool

    def levels(self) -> Layer:
        """The surface of the water where some stands, else the ground; the sea is left out."""
        return np.array([[float(self.level_of((i, j))) for j in range(self.columns)] for i in range(self.rows)])


def settled(ground: Layer, water: Layer, edges: int, sea_level: float = 0.0) -> Map:
    """The map after all water has run to where it stays at once."""
    result = Map(ground, edges, sea_level)
    for cell in np.ndindex(ground.shape):
        if water[cell] > 0.0:
            result.pour(cell, Fraction(water[cell]))
    return result


def filled(ground: Layer, edges: int, sea_level: float = 0.0) -> Layer:
    """The levels under endless water: each cell as high as the lowest way to the edge or the sea makes it."""
    reference = Map(ground, edges, sea_level)
    surface = np.full(ground.shape, np.inf)
    queue: list[tuple[float, Cell]] = []
    for cell in np.ndindex(ground.shape):
        if reference.sea[cell] or (reference.open and reference.at_edge(cell)):
            surface[cell] = max(ground[cell], sea_level) if reference.sea[cell] else ground[cell]
            heapq.heappush(queue, (surface[cell], cell))
    assert queue or edges == WALL
    while queue:
        level, cell = heapq.heappop(queue)
        for other in reference.neighbours(cell):
            if surface[other] == np.inf:
                surface[other] = max(level, ground[other])
                heapq.heappush(queue, (surface[other], other))
    return surface
