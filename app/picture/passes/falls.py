"""Falls of streams: the sheets of their water, and the spray at their feet."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from kernels.hydraulic_geometry import channel_width

GRAVITY = 9.81  # m/s²
MOST = 64  # sheets that are drawn: the highest
BY_CELL, MOST_STATIONS = 6, 48  # places along a sheet at which its form is known
SMOOTHED = 4  # times, the course of a sheet
PUFFS, FOAMS = 14, 3  # of spray in the air, and of foam on the water, at a foot
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1))
SIDES = (-1.0, 0.0, 1.0)  # places across a sheet at which it is known
NARROWEST = 0.35  # part of a sheet that is left in a slot
SPREAD = 0.8  # by which a sheet has become wider at its foot
LENGTH, LENGTH_BY_WIDTH = 3.0, 0.5  # of the sheet of a low fall: heights and widths of it, together
WHITE, WHITE_BY_WIDTH = 4.0, 2.0  # of the white water below
BELOW = 3  # cells below the foot of a low fall, over which that can reach

# Of a vertex: its place (east, height, south) in the middle; the way across (east, south) times half the width;
# how far to a side, to 1; metres that the water has fallen there; seconds that took; the part of the sheet, and from 1
# to 2 that of the white water below; chance
SHEET = "3f 2f 4f 1f", "place", "across", "fall", "chance"
# Of a vertex: the middle of a puff at rest; corner; its radius in metres; how dense it is; whether it is foam; chance
SPRAY = "3f 2f 4f", "place", "corner", "puff"

Numbers = NDArray[np.float64]


class _Fall(NamedTuple):
    path: NDArray[np.int64]  # its cells, from the one above its lip to the one below its foot, or some more below
    steps: int  # from its lip to its foot
    height: float  # in metres
    discharge: float  # in cubic metres a second
    is_low: bool  # for its steps


class FallSheets:
    """The sheets of the falls of a snapshot, as they were found last."""

    def __init__(self) -> None:
        self._found_for: tuple[object, ...] | None = None
        self.version = 0  # grows with each change
        self.sheets = np.empty((0, 10), np.float32)  # [vertex], as `SHEET`
        self.triangles = np.empty(0, np.uint32)  # their corners
        self.spray = np.empty((0, 9), np.float32)  # [vertex], as `SPRAY`

    @property
    def any(self) -> bool:
        return len(self.triangles) > 0

    def update(self, snapshot: Snapshot, smallest: float, width: float) -> None:
        """Find the falls of streams of at least the `smallest` discharge, anew if streams have been found anew.

        `width` is that of a stream of 1 m³/s in metres.
        """
        versions = tuple(snapshot.versions.get(name) for name in (SURVEYED_FLOW, SURVEYED_WAY))
        wanted = (snapshot.world, smallest, width, *versions)
        if wanted == self._found_for:
            return
        self._found_for = wanted
        self.version += 1
        sheets, triangles, spray, vertices = [], [], [], 0
        if SURVEYED_FLOW in snapshot.layers and SURVEYED_WAY in snapshot.layers:
            ground = snapshot.ground(dtype=np.float64)
            surface = np.maximum(ground, snapshot.layers.get("water_level", ground))
            for fall in _falls(snapshot, surface, smallest, width):
                sheet = _sheet(surface if fall.is_low else ground, snapshot.cell_size, fall, width)
                row = len(SIDES)
                corner = np.arange(len(sheet) - row, dtype=np.uint32).reshape(-1, row)[:, :-1].reshape(-1, 1) + vertices
                square = np.array([0, 1, row, row, 1, row + 1])
                triangles.append((corner + square).astype(np.uint32).reshape(-1))
                vertices += len(sheet)
                sheets.append(sheet)
                if not fall.is_low:
                    spray.append(_spray(sheet, fall.discharge))
        self.sheets = np.concatenate(sheets).astype(np.float32) if sheets else np.empty((0, 10), np.float32)
        self.triangles = np.concatenate(triangles) if triangles else np.empty(0, np.uint32)
        self.spray = np.concatenate(spray).astype(np.float32) if spray else np.empty((0, 9), np.float32)


def _chance(path: NDArray[np.int64]) -> float:
    """A number from 0 to 1, the same for a fall while its lip stays."""
    return math.modf(float(path[1]) * 0.618034)[0]


def _falls(snapshot: Snapshot, surface: Numbers, smallest: float, width: float) -> Iterable[_Fall]:
    """The highest falls of the streams, on the `surface` of water and land."""
    from kernels.falls import STEEP, find_falls
    from kernels.neighbours import OUTLET, index_steps

    flow, way = snapshot.layers[SURVEYED_FLOW], snapshot.layers[SURVEYED_WAY]
    directions = np.where(way > 0.0, way - 1.0, OUTLET).astype(np.int8)
    size, through = snapshot.cell_size, flow.astype(np.float64)
    found = find_falls(surface, directions, through, flow > smallest, size, width, low=True)
    steps, direction = index_steps(snapshot.shape[1]), directions.reshape(-1)
    for lip, foot, height, discharge in zip(
        *(column[:MOST].tolist() for column in (found.lip, found.foot, found.height, found.discharge)), strict=True
    ):
        path = [lip]
        while path[-1] != foot:
            path.append(path[-1] + int(steps[direction[path[-1]]]))
        count = len(path) - 1
        is_low = height <= STEEP * size * count
        for _ in range(BELOW if is_low else 1):
            below = path[-1] + int(steps[direction[path[-1]]])
            path.append(below if 0 <= below < direction.size else path[-1])  # a river may leave the map
        ways_in = [cell for cell in _beside(lip, snapshot.shape) if cell + int(steps[direction[cell]]) == lip]
        above = max(ways_in, key=lambda cell: float(flow.flat[cell]), default=lip)
        yield _Fall(np.array([above, *path]), count, height, discharge, is_low)


def _beside(cell: int, shape: tuple[int, int]) -> list[int]:
    row, column = divmod(cell, shape[1])
    rows = range(max(row - 1, 0), min(row + 2, shape[0]))
    columns = range(max(column - 1, 0), min(column + 2, shape[1]))
    return [i * shape[1] + j for i in rows for j in columns if (i, j) != (row, column)]


def _stations(fall: _Fall, size: float, wide: float) -> tuple[Numbers, int]:
    """Places along the path of a fall, and how many of them are of its sheet. The others are of white water below."""
    middle, half = 1.0 + 0.5 * fall.steps, 0.5 * fall.steps
    before, after = half + 0.25, half + 0.6  # from before the lip to below the foot
    if fall.is_low:  # cells draw out the drop, which is at the edge between two
        length = 0.5 * (LENGTH * fall.height + LENGTH_BY_WIDTH * wide) / size
        before, after = min(before, length), min(after, length)
    count = min(max(BY_CELL * (fall.steps + 1), 8), MOST_STATIONS) + 1
    sheet = np.linspace(middle - before, middle + after, count)
    if not fall.is_low:
        return sheet, count
    last = min(middle + after + (WHITE * fall.height + WHITE_BY_WIDTH * wide) / size, len(fall.path) - 1.0)
    return np.append(sheet, np.linspace(middle + after, last, BY_CELL + 1)[1:]), count


def _sheet(ground: Numbers, size: float, fall: _Fall, width: float) -> Numbers:
    """A row of vertices for each station of a sheet, as `SHEET`.

    Water leaves the lip with its critical speed, and where the ground sinks more steeply than its trajectory it falls.
    """
    row, column = np.divmod(fall.path, ground.shape[1])
    middle = np.stack([column + 0.5, row + 0.5], axis=1).astype(np.float64)
    for _ in range(1 if fall.is_low else SMOOTHED):  # once, as streams are drawn; what falls free bends less
        middle[1:-1] = 0.5 * middle[1:-1] + 0.25 * (middle[:-2] + middle[2:])
    wide = channel_width(fall.discharge, width)
    along, count = _stations(fall, size, wide)
    places = np.stack([np.interp(along, np.arange(len(middle)), middle[:, axis]) for axis in (0, 1)], axis=1)
    bed = _between(ground, places)
    way = np.gradient(places, axis=0)
    run = np.hypot(*way.T)
    across = np.stack([-way[:, 1], way[:, 0]], axis=1) / np.maximum(run, 1e-9)[:, None]
    speed = (GRAVITY * fall.discharge / wide) ** (1.0 / 3.0)
    steps = size * np.hypot(*np.diff(places, axis=0).T)
    level = bed if fall.is_low else _trajectory(bed, steps, speed)
    fallen = np.maximum.accumulate(level[0] - level)
    part = fallen / max(fallen[count - 1], 1e-9)
    if fall.is_low:  # what cells hide is told by the way along it
        part[:count] = np.linspace(0.0, 1.0, count)
        fallen = fall.height * np.minimum(part, 1.0)
        part = np.append(part[:count], np.linspace(1.0, 2.0, len(part) - count + 1)[1:])
    seconds = np.sqrt(2.0 * fallen / GRAVITY)
    seconds[count:] += np.cumsum(steps[count - 1 :]) / (speed + math.sqrt(2.0 * GRAVITY * fall.height))
    spread = 0.0 if fall.is_low else SPREAD
    half = _fitted(ground, size, places, across, level, 0.5 * wide * (1.0 + spread * part))
    sheet = np.empty((len(along), len(SIDES), 10))
    sides = np.array(SIDES)
    there = places[:, None] + sides[:, None] * ((half / size)[:, None] * across)[:, None]
    sheet[..., [0, 2]] = size * places[:, None]
    sheet[..., 1] = np.maximum(level[:, None], _between(ground, there.reshape(-1, 2)).reshape(-1, len(SIDES)))
    sheet[..., 3:5] = (half[:, None] * across)[:, None]
    sheet[..., 5] = sides
    sheet[..., 6] = fallen[:, None]
    sheet[..., 7] = seconds[:, None]
    sheet[..., 8] = part[:, None]
    sheet[..., 9] = _chance(fall.path)
    return sheet.reshape(-1, 10)


def _trajectory(bed: Numbers, steps: Numbers, speed: float) -> Numbers:
    """Heights of water that comes with a speed in m/s to the first of some places, which are `steps` metres apart."""
    level, sinks = bed.copy(), 0.0  # slope of the water's surface
    for station, step in enumerate(steps.tolist()):
        flies = level[station] + sinks * step - 0.5 * GRAVITY * (step / speed) ** 2
        on_bed = (bed[station + 1] - level[station]) / max(step, 1e-9)
        level[station + 1] = max(flies, bed[station + 1])
        sinks = sinks - GRAVITY * step / speed**2 if flies > bed[station + 1] else min(on_bed, 0.0)
    return level


def _fitted(ground: Numbers, size: float, places: Numbers, across: Numbers, level: Numbers, half: Numbers) -> Numbers:
    """Half the width of a sheet, less where it falls in a slot that is too narrow for it."""
    aside = (half / size)[:, None] * across
    walls = np.maximum(_between(ground, places - aside), _between(ground, places + aside)) - level
    return half * np.clip(2.0 * half / np.maximum(walls, 1e-9), NARROWEST, 1.0)


def _between(layer: Numbers, places: Numbers) -> Numbers:
    """A layer interpolated at places (east, south) in cells."""
    at = np.clip(places[:, ::-1] - 0.5, 0.0, np.array(layer.shape) - 1.001)
    low = at.astype(int)
    part = at - low
    north, west = low.T
    upper = layer[north, west] * (1.0 - part[:, 1]) + layer[north, west + 1] * part[:, 1]
    lower = layer[north + 1, west] * (1.0 - part[:, 1]) + layer[north + 1, west + 1] * part[:, 1]
    between: Numbers = upper * (1.0 - part[:, 0]) + lower * part[:, 0]
    return between


def _spray(sheet: Numbers, discharge: float) -> Numbers:
    """The squares of spray and foam at the foot of a sheet: more of them with its height and with its discharge."""
    foot, before = sheet[-len(SIDES) // 2, :3], sheet[-len(SIDES) // 2 - BY_CELL * len(SIDES) // 2, :3]
    way = (foot - before)[[0, 2]] / max(float(np.hypot(*(foot - before)[[0, 2]])), 1e-9)  # it runs on from there
    wide = 2.0 * float(np.hypot(*sheet[-1, 3:5]))
    height, chance = float(sheet[-1, 6]), float(sheet[-1, 9])
    power = GRAVITY * discharge * height  # kW
    dense = min(0.06 + 0.08 * math.log10(1.0 + 10.0 * power), 0.5)
    radius = min(0.16 * height, 0.5 * height**0.7 + 0.5 * wide) + 0.4 * wide
    count = PUFFS + FOAMS
    chances = np.modf(chance + np.arange(count)[:, None] * np.array([0.618034, 0.754878, 0.569840]))[0]
    is_foam = np.arange(count) >= PUFFS
    size = np.where(is_foam, 0.55 * wide, radius * (0.5 + 1.1 * chances[:, 2] ** 2))
    away = np.where(is_foam, 0.15 * wide, 0.6 * radius)
    downstream = np.where(is_foam, 0.35 * wide * (np.arange(count) - PUFFS), 0.0)
    spray = np.zeros((count, len(SQUARE), 9))
    spray[..., 0] = (foot[0] + away * (2.0 * chances[:, 1] - 1.0) + downstream * way[0])[:, None]
    spray[..., 1] = (foot[1] + np.where(is_foam, 0.02 * size, 0.3 * size))[:, None]
    spray[..., 2] = (foot[2] + away * (2.0 * chances[:, 0] - 1.0) + downstream * way[1])[:, None]
    spray[..., 3:5] = np.array(SQUARE)
    spray[..., 5] = size[:, None]
    spray[..., 6] = np.where(is_foam, min(2.0 * dense, 0.9), dense)[:, None]
    spray[..., 7] = is_foam[:, None]
    spray[..., 8] = chances[:, :1]
    return spray.reshape(-1, 9)
