"""Falls of streams: the sheets of their water, and the spray at their feet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from kernels.hydraulic_geometry import bankfull_depth, channel_width

GRAVITY = 9.81  # m/s²
MOST = 64  # sheets that are drawn: the highest
BY_CELL, MOST_STATIONS = 6, 48  # places along a sheet at which its form is known
FLIES_BY_CELL = 24  # places along the ground at which a trajectory is
SMOOTHED = 4  # times, the course of a sheet
LANDS = 4  # cells below the foot of a wall, over which what falls free can come down
LEAPS_FROM = 1.0  # slope of a wall from which water that strikes it leaps again
LEAPS = 0.10  # part of the speed with which it strikes that goes outwards
PUFFS, OF_FOOT = 32, 18  # of spray in the air, and those of them at the foot
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1))
POOL_RINGS, POOL_WAYS = 12, 41
POOL_BY_WIDTH, POOL_BY_HEIGHT = 0.9, 0.05  # its half width, beside the width of the fall at its foot and its height
POOL_RUNS_ON = 0.8  # how much longer it is downstream
SIDES = (-1.0, 0.0, 1.0)  # places across a sheet at which it is known
NARROWEST = 0.6  # part of a sheet that is left in a slot
EVENED = 40  # times, how wide a sheet is
SPREAD = 1.5  # by which a sheet has become wider at its foot
LEAST_LOW = 0.25  # of its width, from which height on a low fall is one: less is a rapid, as its stream shows it
LENGTH, LENGTH_BY_WIDTH = 3.0, 0.5  # of the sheet of a low fall: heights and widths of it, together
WHITE, WHITE_BY_WIDTH = 4.0, 2.0  # of the white water below
BELOW = 3  # cells below the foot of a low fall, over which that can reach
BEGINS = 0.02  # part of a sheet by which less than 0 it is where it begins

# Of a vertex: its place (east, height, south) in the middle; the way across (east, south) times half the width;
# how far to a side, to 1; metres that the water has fallen there; seconds that took; the part of the sheet, and from 1
# to 2 that of the white water below; chance, and 1 more where the fall is low
SHEET = "3f 2f 4f 1f", "place", "across", "fall", "chance"
# Of a vertex: the middle of a puff at rest; corner; its radius in metres; how dense it is; how it rises; chance
SPRAY = "3f 2f 4f", "place", "corner", "puff"
# Of a vertex: its place; metres from the foot (on and across the river); beside the rim, which is 1; metres of
# water; whether it is rock that is wet; chance
POOL = "3f 2f 4f", "place", "from_foot", "pool"

Numbers = NDArray[np.float64]
Vertices = NDArray[np.float32]


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
        self._forget()

    def _forget(self) -> None:
        self.sheets = np.empty((0, 10), np.float32)  # [vertex], as `SHEET`
        self.triangles = np.empty(0, np.uint32)  # their corners
        self.spray = np.empty((0, 9), np.float32)  # [vertex], as `SPRAY`
        self.pools = np.empty((0, 9), np.float32)  # [vertex], as `POOL`
        self.pool_triangles = np.empty(0, np.uint32)  # their corners

    @property
    def any(self) -> bool:
        return len(self.triangles) > 0

    @property
    def any_free(self) -> bool:
        """Whether any has spray and a pool."""
        return len(self.spray) > 0

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
        self._forget()
        if SURVEYED_FLOW not in snapshot.layers or SURVEYED_WAY not in snapshot.layers:
            return
        ground = snapshot.ground(dtype=np.float64)
        surface = np.maximum(ground, snapshot.layers.get("water_level", ground))
        sheets, pools, spray = list[Numbers](), list[Numbers](), list[Numbers]()
        for fall in _falls(snapshot, surface, smallest, width):
            sheet = _sheet(surface if fall.is_low else ground, snapshot.cell_size, fall, width)
            sheets.append(sheet)
            if not fall.is_low:
                spray.append(_spray(sheet, fall.discharge))
                pools += [_wet_rock(sheet, ground, snapshot.cell_size), _pool(sheet, surface, snapshot.cell_size)]
        self.sheets, self.triangles = _joined(sheets, self.sheets)
        self.pools, self.pool_triangles = _joined(pools, self.pools)
        if spray:
            self.spray = np.concatenate(spray).astype(np.float32)


def _joined(grids: Sequence[Numbers], none: Vertices) -> tuple[Vertices, NDArray[np.uint32]]:
    """The vertices of grids [row, column, number], and the corners of their triangles."""
    if not grids:
        return none, np.empty(0, np.uint32)
    triangles, vertices = [], 0
    for grid in grids:
        rows, columns, _ = grid.shape
        corner = vertices + (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1, 1)
        triangles.append(corner + np.array([0, 1, columns, columns, 1, columns + 1]))
        vertices += rows * columns
    joined = np.concatenate([grid.reshape(-1, grid.shape[-1]) for grid in grids]).astype(np.float32)
    return joined, np.concatenate(triangles).astype(np.uint32).reshape(-1)


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
        if is_low and height < LEAST_LOW * channel_width(discharge, width):
            continue
        for _ in range(BELOW if is_low else LANDS):
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
    before = half + 0.9  # from before the lip
    if not fall.is_low:
        sheet = np.linspace(middle - before, len(fall.path) - 1.0, FLIES_BY_CELL * (fall.steps + LANDS))
        return sheet, len(sheet)
    # Cells draw out the drop of a low fall, which is at the edge between two.
    length = 0.5 * (LENGTH * fall.height + LENGTH_BY_WIDTH * wide) / size
    before, after = min(before, length), min(half + 0.6, length)
    count = min(max(BY_CELL * (fall.steps + 1), 8), MOST_STATIONS) + 1
    sheet = np.linspace(middle - before, middle + after, count)
    last = min(middle + after + (WHITE * fall.height + WHITE_BY_WIDTH * wide) / size, len(fall.path) - 1.0)
    return np.append(sheet, np.linspace(middle + after, last, BY_CELL + 1)[1:]), count


def _sheet(ground: Numbers, size: float, fall: _Fall, width: float) -> Numbers:
    """Vertices [station, side, number] of a sheet, as `SHEET`.

    Streams are drawn as wide as they are when full to their banks. So deep they leave the lip with the speed of shallow
    waves, and where the ground sinks more steeply than the trajectory they fall.
    """
    row, column = np.divmod(fall.path, ground.shape[1])
    middle = np.stack([column + 0.5, row + 0.5], axis=1).astype(np.float64)
    for _ in range(1 if fall.is_low else SMOOTHED):  # once, as streams are drawn; what falls free bends less
        middle[1:-1] = 0.5 * middle[1:-1] + 0.25 * (middle[:-2] + middle[2:])
    wide = channel_width(fall.discharge, width)
    along, count = _stations(fall, size, wide)
    places = np.stack([np.interp(along, np.arange(len(middle)), middle[:, axis]) for axis in (0, 1)], axis=1)
    bed = _between(ground, places)
    speed = math.sqrt(GRAVITY * bankfull_depth(wide))
    level = bed
    if not fall.is_low:
        level, landed = _trajectory(bed, size * np.hypot(*np.diff(places, axis=0).T), speed, fall.height)
        places, level = _evenly(places[: landed + 1], level[: landed + 1], size)
        count = len(level)
    steps = size * np.hypot(*np.diff(places, axis=0).T)
    way = np.gradient(places, axis=0)
    if not fall.is_low:  # in the air a sheet does not turn
        way[:] = places[-1] - places[0]
    across = np.stack([-way[:, 1], way[:, 0]], axis=1) / np.maximum(np.hypot(*way.T), 1e-9)[:, None]
    fallen = np.maximum.accumulate(level[0] - level)
    part = fallen / max(fallen[count - 1], 1e-9)
    if fall.is_low:  # what cells hide is told by the way along it
        part[:count] = np.linspace(0.0, 1.0, count)
        fallen = fall.height * np.minimum(part, 1.0)
        part = np.append(part[:count], np.linspace(1.0, 2.0, len(part) - count + 1)[1:])
    else:  # it begins to be seen before the lip
        part -= BEGINS * np.clip(1.0 - np.append(0.0, np.cumsum(steps)) / (0.8 * size), 0.0, 1.0)
    seconds = np.sqrt(2.0 * fallen / GRAVITY)
    seconds[count:] += np.cumsum(steps[count - 1 :]) / (speed + math.sqrt(2.0 * GRAVITY * fall.height))
    spread = 0.0 if fall.is_low else SPREAD
    half = _fitted(ground, size, places, across, level, 0.5 * wide * (1.0 + spread * part))
    for _ in range(EVENED):
        half[1:-1] = 0.5 * half[1:-1] + 0.25 * (half[:-2] + half[2:])
    sheet = np.empty((len(level), len(SIDES), 10))
    sides = np.array(SIDES)
    there = places[:, None] + sides[:, None] * ((half / size)[:, None] * across)[:, None]
    sheet[..., [0, 2]] = size * places[:, None]
    sheet[..., 1] = level[:, None]
    if fall.is_low:
        beside = _between(ground, there.reshape(-1, 2)).reshape(-1, len(SIDES))
        sheet[..., 1] = np.maximum(sheet[..., 1], beside)
    sheet[..., 3:5] = (half[:, None] * across)[:, None]
    sheet[..., 5] = sides
    sheet[..., 6] = fallen[:, None]
    sheet[..., 7] = seconds[:, None]
    sheet[..., 8] = part[:, None]
    sheet[..., 9] = _chance(fall.path) + float(fall.is_low)
    return sheet


def _trajectory(bed: Numbers, steps: Numbers, speed: float, height: float) -> tuple[Numbers, int]:
    """Heights of water over some places, which are `steps` metres apart, and at which it has come down for good.

    It comes to the first with a speed in m/s and falls by a `height` in metres. Cells make one slope of the ledges of a
    wall: from those that water strikes it leaps again.
    """
    level, sinks = bed.copy(), 0.0  # slope of the water's surface
    struck = bed[0]  # height from which it has fallen free
    for station, step in enumerate(steps.tolist()):
        flies = level[station] + sinks * step - 0.5 * GRAVITY * (step / speed) ** 2
        on_bed = (bed[station + 1] - level[station]) / max(step, 1e-9)
        level[station + 1] = max(flies, bed[station + 1])
        if flies > bed[station + 1]:
            sinks -= GRAVITY * step / speed**2
            continue
        if bed[0] - bed[station + 1] > 0.9 * height and on_bed > -LEAPS_FROM:
            return level, station + 1
        if on_bed < -LEAPS_FROM and sinks < on_bed:
            speed = max(speed, LEAPS * math.sqrt(2.0 * GRAVITY * max(struck - level[station], 0.0)))
            sinks = 0.0
            struck = level[station + 1]
        else:
            sinks = min(on_bed, 0.0)
    return level, len(steps)


def _evenly(places: Numbers, level: Numbers, size: float) -> tuple[Numbers, Numbers]:
    """Places (east, south) in cells along a trajectory and their heights, so that they follow each other evenly."""
    lengths = np.hypot(size * np.hypot(*np.diff(places, axis=0).T), np.diff(level))
    at = np.append(0.0, np.cumsum(lengths))
    even = np.linspace(0.0, at[-1], min(max(round(BY_CELL * at[-1] / size), 8), MOST_STATIONS) + 1)
    east, south, height = (np.interp(even, at, values) for values in (*places.T, level))
    return np.stack([east, south], axis=1), height


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


def _foot(sheet: Numbers) -> tuple[Numbers, Numbers, float, float]:
    """Where a sheet comes down, the way (east, south) it came, its width there and its height, in metres."""
    middle = sheet[:, len(SIDES) // 2]
    foot = middle[-1, :3]
    way = (foot - middle[0, :3])[[0, 2]]
    return foot, way / max(float(np.hypot(*way)), 1e-9), 2.0 * float(np.hypot(*middle[-1, 3:5])), float(middle[-1, 6])


def _spray(sheet: Numbers, discharge: float) -> Numbers:
    """The squares of spray [vertex, number] along a sheet and at its foot: denser with its height and its discharge."""
    _, _, wide, height = _foot(sheet)
    middle, chance = sheet[:, len(SIDES) // 2], float(sheet[0, 0, 9])
    power = GRAVITY * discharge * height  # kW
    dense = min(0.04 + 0.05 * math.log10(1.0 + 10.0 * power), 0.20)
    radius = min(0.16 * height, 0.5 * height**0.7 + 0.5 * wide) + 0.4 * wide
    dense *= min(max(1.2 * wide / radius, 0.25), 1.0)  # a thread of water fills less of it than a broad sheet
    chances = np.modf(chance + np.arange(PUFFS)[:, None] * np.array([0.618034, 0.754878, 0.569840]))[0]
    at_foot = np.arange(PUFFS) < OF_FOOT
    # What is torn from a sheet sinks beside it and grows on its way down.
    part = np.where(at_foot, 1.0, 0.30 + 0.70 * np.sqrt(chances[:, 2]))
    places = np.stack([np.interp(part, middle[:, 8], middle[:, axis]) for axis in range(3)], axis=1)
    size = radius * np.where(at_foot, 0.5 + 1.1 * chances[:, 2] ** 2, 0.25 + 0.75 * part**2)
    away = np.where(at_foot, 0.7 * radius, 0.5 * size)
    spray = np.zeros((PUFFS, len(SQUARE), 9))
    spray[..., 0] = (places[:, 0] + away * (2.0 * chances[:, 1] - 1.0))[:, None]
    spray[..., 1] = (places[:, 1] + np.where(at_foot, 0.2, 0.0) * size)[:, None]
    spray[..., 2] = (places[:, 2] + away * (2.0 * chances[:, 0] - 1.0))[:, None]
    spray[..., 3:5] = np.array(SQUARE)
    spray[..., 5] = size[:, None]
    spray[..., 6] = (dense * np.where(at_foot, 1.0, 0.9 * part))[:, None]
    spray[..., 7] = np.where(at_foot, 1.0, -1.0)[:, None]
    spray[..., 8] = chances[:, :1]
    return spray.reshape(-1, 9)


def _pool(sheet: Numbers, surface: Numbers, size: float) -> Numbers:
    """Vertices [ring, way, number] of the pool that a fall has dug at its foot, as `POOL`: level, on water and land.

    It is some widths of the fall wide, and longer downstream.
    """
    foot, way, wide, height = _foot(sheet)
    beside, angle = np.meshgrid(np.linspace(0.0, 1.0, POOL_RINGS), np.linspace(0.0, math.tau, POOL_WAYS), indexing="ij")
    radius = (POOL_BY_WIDTH * wide + POOL_BY_HEIGHT * height) * beside
    on, aside = radius * (1.0 + POOL_RUNS_ON * np.maximum(np.cos(angle), 0.0)) * np.cos(angle), radius * np.sin(angle)
    east, south = foot[0] + on * way[0] - aside * way[1], foot[2] + on * way[1] + aside * way[0]
    ground = _between(surface, np.stack([east, south], axis=-1).reshape(-1, 2) / size).reshape(east.shape)
    level = ground[0, 0] + 0.05 * wide
    pool = np.empty((*east.shape, 9))
    # What runs off sinks with its bed.
    pool[..., 0], pool[..., 1], pool[..., 2] = east, np.minimum(level, ground + 0.05 * wide), south
    pool[..., 3], pool[..., 4], pool[..., 5] = on, aside, beside
    pool[..., 6] = level - ground
    pool[..., 7], pool[..., 8] = 0.0, sheet[0, 0, 9]
    return pool


def _wet_rock(sheet: Numbers, ground: Numbers, size: float) -> Numbers:
    """Vertices [station, side, number] of the rock behind a sheet that its spray keeps wet, as `POOL`."""
    _, _, wide, height = _foot(sheet)
    middle = sheet[1:, len(SIDES) // 2]
    sides = np.linspace(-1.0, 1.0, 9)
    across = middle[:, 3:5] / np.maximum(np.hypot(*middle[:, 3:5].T), 1e-9)[:, None]
    half = (0.6 + 0.9 * middle[:, 8]) * wide + 0.06 * height * middle[:, 8]
    places = middle[:, None, [0, 2]] + sides[:, None] * (half[:, None] * across)[:, None]
    rock = np.empty((len(middle), len(sides), 9))
    rock[..., [0, 2]] = places
    rock[..., 1] = _between(ground, places.reshape(-1, 2) / size).reshape(places.shape[:2])
    rock[..., 3], rock[..., 4] = middle[:, 6:7], sides * half[:, None]
    rock[..., 5] = np.maximum(np.abs(sides), 1.0 - middle[:, 8:9] / 0.08)
    rock[..., 6] = middle[:, 1:2] - rock[..., 1]  # how far the water is from it
    rock[..., 7], rock[..., 8] = 1.0, sheet[0, 0, 9]
    return rock
