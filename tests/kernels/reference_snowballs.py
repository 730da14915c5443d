"""Snowballs once more, as plain as can be, to compare the kernel with.

`article` is the article's text and listing (Talle 2020, "Simulating hydraulic erosion"), word for word: one layer,
heights in its own unit with `scale` cells to one, what a ball still carries at its end thrown away, and no sea but the
level floor. `many_of_the_article` is the same for whole islands, with what makes its coasts uneven to be switched off.

`corrected` is the same in metres and on two layers, with what `kernels/snowballs.py` says that it does otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numba
import numpy as np
from numpy.typing import NDArray

from tests.kernels.reference_droplets import Map, put_down

Layer = NDArray[np.float64]


@dataclass
class Parameters:
    erosion_rate: float = 0.04
    deposition_rate: float = 0.03
    speed: float = 0.15
    friction: float = 0.7
    radius: float = 0.8
    iterations: int = 80
    iteration_scale: float = 0.04
    scale: float = 10.0
    root_hold: float = 0.0
    erodibility: tuple[float, float] = (1.0, 1.0)  # of all that is loose, and of rock


@dataclass
class Ball:
    """Where a ball starts, in cells, and its offset."""

    place: tuple[float, float]
    offset: tuple[float, float]


@dataclass
class Traces:
    wear: Layer
    deposit: Layer
    traffic: Layer
    steps: int = 0
    lost: float = field(default=0.0)


def corners(place: NDArray[np.float64], shape: tuple[int, int]) -> list[tuple[tuple[int, int], float]]:
    """The four cells whose middles are around a place, and the weight of each; the edge's cell for those beyond it."""
    north, west = (math.floor(x - 0.5) for x in place)
    south, east = place[0] - 0.5 - north, place[1] - 0.5 - west
    found = []
    for row, by_row in ((north, 1.0 - south), (north + 1, south)):
        for column, by_column in ((west, 1.0 - east), (west + 1, east)):
            cell = min(max(row, 0), shape[0] - 1), min(max(column, 0), shape[1] - 1)
            found.append((cell, by_row * by_column))
    return found


def sample(height: Layer, place: NDArray[np.float64]) -> float:
    return sum(weight * float(height[cell]) for cell, weight in corners(place, height.shape))  # type: ignore[arg-type]


def normal(height: Layer, place: NDArray[np.float64], cells_per_height: float) -> NDArray[np.float64]:
    """Unit normal (row, up, column) of the ground at a place, from heights a cell away on each side."""
    south, east = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    down = cells_per_height * (sample(height, place + south) - sample(height, place - south)) / 2.0
    across = cells_per_height * (sample(height, place + east) - sample(height, place - east)) / 2.0
    up = np.array([-down, 1.0, -across])
    return up / math.sqrt(up @ up)


def article(height: Layer, ball: Ball, p: Parameters) -> tuple[float, NDArray[np.float64]]:
    """One ball over `height`, changed in place. Returns what is left in it and where it ended."""
    place = np.array(ball.place)
    before = place.copy()
    velocity = np.zeros(2)
    sediment = 0.0
    for i in range(p.iterations):
        n = normal(height, place + np.array(ball.offset), p.scale)
        if n[1] == 1.0:
            break
        deposit = sediment * p.deposition_rate * n[1]
        erosion = p.erosion_rate * (1.0 - n[1]) * min(1.0, i * p.iteration_scale)
        for cell, weight in corners(before, height.shape):  # type: ignore[arg-type]
            height[cell] += weight * (deposit - erosion)
        sediment += erosion - deposit
        velocity = p.friction * velocity + n[[0, 2]] * p.speed
        before = place.copy()
        place = place + velocity
    return sediment, place


@numba.njit
def _at(height: Layer, row: float, column: float) -> float:
    """The height at a place, between the middles of the four cells around it."""
    north, west = math.floor(row - 0.5), math.floor(column - 0.5)
    south, east = row - 0.5 - north, column - 0.5 - west
    r, c = min(max(north, 0), height.shape[0] - 2), min(max(west, 0), height.shape[1] - 2)
    upper = (1.0 - east) * height[r, c] + east * height[r, c + 1]
    lower = (1.0 - east) * height[r + 1, c] + east * height[r + 1, c + 1]
    return (1.0 - south) * upper + south * lower  # type: ignore[no-any-return]


@numba.njit
def _put(height: Layer, row: float, column: float, amount: float) -> None:
    north, west = math.floor(row - 0.5), math.floor(column - 0.5)
    south, east = row - 0.5 - north, column - 0.5 - west
    r, c = min(max(north, 0), height.shape[0] - 2), min(max(west, 0), height.shape[1] - 2)
    height[r, c] += (1.0 - south) * (1.0 - east) * amount
    height[r, c + 1] += (1.0 - south) * east * amount
    height[r + 1, c] += south * (1.0 - east) * amount
    height[r + 1, c + 1] += south * east * amount


@numba.njit
def many_of_the_article(height: Layer, count: int, seed: int, scale: float, keeps: bool, stops: bool) -> None:
    """The listing with its own numbers, for `count` balls over an island whose sea is at 0, changed in place.

    With `keeps` a ball puts down at its end what it still carries, and with `stops` it ends at the water.
    """
    np.random.seed(seed)
    rows, columns = height.shape
    for _ in range(count):
        x, y = np.random.random() * rows, np.random.random() * columns
        ox, oy = (2.0 * np.random.random() - 1.0) * 0.8, (2.0 * np.random.random() - 1.0) * 0.8
        xp, yp, vx, vy, sediment = x, y, 0.0, 0.0, 0.0
        for i in range(80):
            a, b = x + ox, y + oy
            down = scale * (_at(height, a + 1.0, b) - _at(height, a - 1.0, b)) / 2.0
            across = scale * (_at(height, a, b + 1.0) - _at(height, a, b - 1.0)) / 2.0
            length = math.sqrt(1.0 + down * down + across * across)
            if length == 1.0 or (stops and _at(height, a, b) <= 0.0):
                break
            deposit = sediment * 0.03 / length
            erosion = 0.04 * (1.0 - 1.0 / length) * min(1.0, i * 0.04)
            _put(height, xp, yp, deposit - erosion)
            sediment += erosion - deposit
            vx, vy = 0.7 * vx - 0.15 * down / length, 0.7 * vy - 0.15 * across / length
            xp, yp = x, y
            x, y = x + vx, y + vy
            if not (0.0 <= x < rows and 0.0 <= y < columns):
                break
        if keeps:
            _put(height, xp, yp, sediment)


def add(world: Map, cell: tuple[int, int], amount: float, erodibility: tuple[float, float]) -> float:
    """Put sediment on a cell, or take sediment, then rock. Returns what was put there."""
    of_loose, of_rock = erodibility if amount < 0.0 else (1.0, 1.0)
    loose = max(amount, -float(world.sediment[cell]))
    rock = of_rock * (loose - amount)
    world.add_sediment(cell, of_loose * loose)
    world.wear_rock(cell, rock)
    return of_loose * loose - rock


def corrected(world: Map, traces: Traces, ball: Ball, p: Parameters, sea_level: float, standing: Layer) -> None:
    """One ball over a map, changed in place."""
    rows, columns = world.ground.shape
    metres = p.scale * world.cell_size
    place, offset = np.array(ball.place), np.array(ball.offset)
    before = place.copy()
    velocity = np.zeros(2)
    load = 0.0
    speed = min(p.speed, 1.0 - p.friction)
    for i in range(p.iterations):
        here, old = (tuple(int(x) for x in q) for q in (place, before))
        n = normal(world.ground, place + offset, 1.0 / world.cell_size)
        if n[1] == 1.0 or sample(world.ground, place + offset) <= sea_level or standing[here]:
            break
        deposit = load * p.deposition_rate * n[1]
        erosion = metres * p.erosion_rate * (1.0 - n[1]) * min(1.0, i * p.iteration_scale)
        free = 1.0 - p.root_hold * float(world.roots[old])
        deposit, erosion = free * deposit, free * erosion
        put = [add(world, c, w * (deposit - erosion), p.erodibility) for c, w in corners(before, (rows, columns))]
        erosion = deposit - sum(put)
        traces.wear[old] += erosion
        traces.deposit[old] += deposit
        traces.traffic[here] += here != old
        traces.steps += 1
        load += erosion - deposit
        velocity = p.friction * velocity + n[[0, 2]] * speed
        before = place.copy()
        place = place + velocity
        if not (0.0 <= place[0] < rows and 0.0 <= place[1] < columns):
            world.off_edge += load
            return
    here = (int(place[0]), int(place[1]))
    put_down(world, here, load)
    traces.deposit[here] += load
