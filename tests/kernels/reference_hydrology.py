"""The article on streams and pools once more, as plain as can be: `descend`, `flood` and `erode` of its listing.

McDonald 2020, "Procedural hydrology", transcribed line by line; what it does not print (time step, density, rates and
the map's scale) is of the article before it, on which it builds. Heights are in [0, 1], with `scale` cells to one unit.
Drops run one after the other, and each sees what those before it have left.

Beside the listing, `volume` and its products with the velocity are summed up where a drop passes, so that the width of
streams can be measured as that of ours is (`app.engine.channels`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

Layer = NDArray[np.float64]

TIME_STEP, DENSITY, EVAPORATION, DEPOSITION, LEAST_VOLUME, FRICTION = 1.2, 1.0, 0.001, 0.1, 0.01, 0.05
VOLUME_FACTOR = 100.0
SPILLS, TRIES = 5, 10
ADAPTATION = 0.01


@njit
def _normal(h, i, j, scale):
    """Unit normal (row, column) of the ground at a cell, from central differences."""
    rows, columns = h.shape
    north, south, west, east = max(i - 1, 0), min(i + 1, rows - 1), max(j - 1, 0), min(j + 1, columns - 1)
    down = scale * (h[south, j] - h[north, j]) / (south - north)
    along = scale * (h[i, east] - h[i, west]) / (east - west)
    length = math.sqrt(1.0 + down * down + along * along)
    return -down / length, -along / length


@njit
def _descend(h, stream, pool, track, flow, drop, scale, coupled):
    """`Drop::descend`. A drop is (row, column, speed south, speed east, volume, sediment)."""
    rows, columns = h.shape
    x, z, vx, vz, volume, sediment = drop
    while volume > LEAST_VOLUME:
        i, j = int(x), int(z)
        track[i, j] = True
        there = stream[i, j] if coupled else 0.0
        friction = FRICTION * (1.0 - 0.5 * there)
        evaporation = EVAPORATION * (1.0 - 0.2 * there)
        nx, nz = _normal(h, i, j, scale)
        ax, az = nx / (volume * DENSITY), nz / (volume * DENSITY)
        vx += TIME_STEP * ax
        vz += TIME_STEP * az
        x += TIME_STEP * vx
        z += TIME_STEP * vz
        vx *= 1.0 - TIME_STEP * friction
        vz *= 1.0 - TIME_STEP * friction
        flow[i, j, 0] += volume
        flow[i, j, 1] += volume * vx
        flow[i, j, 2] += volume * vz
        if not (0.0 <= x < rows and 0.0 <= z < columns):
            volume = 0.0
            break
        k, l = int(x), int(z)
        if coupled and stream[k, l] > 0.5 and math.hypot(ax, az) < 0.01:
            break
        if pool[k, l] > 0.0:
            break
        wanted = max(0.0, volume * math.hypot(vx, vz) * (h[i, j] - h[k, l]))
        difference = wanted - sediment
        sediment += TIME_STEP * DEPOSITION * difference
        h[i, j] -= TIME_STEP * volume * DEPOSITION * difference
        volume *= 1.0 - TIME_STEP * evaporation
    return x, z, vx, vz, volume, sediment


@njit
def _fill(h, pool, i, j, plane, initial, tried, found, waiting):
    """The recursive fill of `Drop::flood`: how many cells it has set, and its lowest drain, or −1."""
    rows, columns = h.shape
    tried[:] = False
    count, drain = 0, -1
    waiting[0] = i * columns + j
    left = 1
    while left > 0:
        left -= 1
        cell = waiting[left]
        if tried[cell]:
            continue
        tried[cell] = True
        row, column = cell // columns, cell % columns
        level = h[row, column] + pool[row, column]
        if plane < level:
            continue
        if initial > level:
            if drain < 0 or level < h[drain // columns, drain % columns] + pool[drain // columns, drain % columns]:
                drain = cell
            continue
        found[count] = cell
        count += 1
        for a in (-1, 0, 1):
            for b in (-1, 0, 1):
                if 0 <= row + a < rows and 0 <= column + b < columns:
                    other = cell + a * columns + b
                    if not tried[other] and left < len(waiting):
                        waiting[left] = other
                        left += 1
    return count, drain


@njit
def _flood(h, pool, drop, tried, found, waiting):
    """`Drop::flood`."""
    x, z, vx, vz, volume, sediment = drop
    columns = h.shape[1]
    i, j = int(x), int(z)
    plane = initial = h[i, j] + pool[i, j]
    fail = TRIES
    while volume > LEAST_VOLUME and fail > 0:
        count, drain = _fill(h, pool, i, j, plane, initial, tried, found, waiting)
        if drain >= 0:
            row, column = drain // columns, drain % columns
            x, z = float(row), float(column)
            plane = 0.999 * initial + 0.001 * (h[row, column] + pool[row, column])
            for number in range(count):
                r, c = found[number] // columns, found[number] % columns
                pool[r, c] = plane - h[r, c] if plane > h[r, c] else 0.0
            sediment *= 0.1
            break
        held = 0.0
        for number in range(count):
            r, c = found[number] // columns, found[number] % columns
            held += VOLUME_FACTOR * (plane - (h[r, c] + pool[r, c]))
        if held <= volume and initial < plane:
            for number in range(count):
                r, c = found[number] // columns, found[number] % columns
                pool[r, c] = plane - h[r, c]
            volume -= held
            held = 0.0
        else:
            fail -= 1
        initial = max(plane, initial)
        plane += 0.5 * (volume - held) / max(count, 1) / VOLUME_FACTOR
    if fail == 0:
        volume = 0.0
    return x, z, vx, vz, volume, sediment


@njit
def _erode(h, stream, pool, flow, drops, seed, scale, coupled):
    """`World::erode`, with the uniform starts of its demonstration."""
    rows, columns = h.shape
    np.random.seed(seed)
    track = np.zeros((rows, columns), np.bool_)
    passed = np.zeros((rows, columns, 3))
    tried = np.empty(h.size, np.bool_)
    found = np.empty(h.size, np.int64)
    waiting = np.empty(9 * h.size, np.int64)
    for _ in range(drops):
        drop = (np.random.randint(rows) * 1.0, np.random.randint(columns) * 1.0, 0.0, 0.0, 1.0, 0.0)
        for _ in range(SPILLS):
            if drop[4] <= LEAST_VOLUME:
                break
            drop = _descend(h, stream, pool, track, passed, drop, scale, coupled)
            if drop[4] > LEAST_VOLUME:
                drop = _flood(h, pool, drop, tried, found, waiting)
    for i in range(rows):
        for j in range(columns):
            stream[i, j] += ADAPTATION * ((1.0 if track[i, j] else 0.0) - stream[i, j])
            for part in range(3):
                flow[i, j, part] += ADAPTATION * (passed[i, j, part] - flow[i, j, part])


@dataclass
class Hydrology:
    """A map of the article: its basic erosion, or coupled with the map of streams."""

    h: Layer
    scale: float
    coupled: bool
    cycle: int = 0
    stream: Layer = field(init=False)
    pool: Layer = field(init=False)
    flow: NDArray[np.float64] = field(init=False)  # [row, column, (volume, times speed south, east)]

    def __post_init__(self) -> None:
        self.h = self.h.copy()
        self.stream, self.pool = np.zeros_like(self.h), np.zeros_like(self.h)
        self.flow = np.zeros((*self.h.shape, 3))

    def erode(self, cycles: int, drops: int) -> None:
        for _ in range(cycles):
            _erode(self.h, self.stream, self.pool, self.flow, drops, self.cycle, self.scale, self.coupled)
            self.cycle += 1
