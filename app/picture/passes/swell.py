"""The swell on its way over the map: when its crests come to a place, and how high they still are there.

It is worked out on a grid that is coarser than the map, as it comes from one direction and is long.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.picture.passes.waves import wave_number

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Number = TypeVar("Number", np.float32, np.bool_)

TEXELS = 128  # along the map's longer side: with waves of the usual length three to each
WET_ENOUGH = 0.25  # part of a texel: less is land to the swell
SPREAD = 60.0  # degrees to either side of its direction, within which all of the swell comes
DIRECTIONS, AT_ONCE = 17, 6  # worked out between two looks at whether the frame has had enough
SHALLOWEST = 0.01  # depth × wave number of deep water; in less, waves would come to a stand
NEVER = 1e6  # radians, where no wave arrives
SETTLED = 1e-3  # radians, by which nothing comes sooner any more
ROUNDS = 8  # of the iteration between two looks at that
IN_A_FRAME = 100_000  # texels that are worked on in a frame, about: some milliseconds of any processor


class Swell(NamedTuple):
    """Waves of one period that come from one direction."""

    deep_wave_number: float  # 1/m
    towards: float  # degrees clockwise from north

    @property
    def direction(self) -> tuple[float, float]:
        """The unit vector that it runs along in deep water: east, south."""
        return math.sin(math.radians(self.towards)), -math.cos(math.radians(self.towards))


class StraightWaves(NamedTuple):
    """Waves that run straight to the coast from everywhere, as drawings have them."""

    deep_wave_number: float  # 1/m


Waves = Swell | StraightWaves


class SeaGrid(NamedTuple):
    """The waters of a map, `[row, column]` of texels of `cells` × `cells` cells."""

    cells: int
    spacing: float  # of the texels, metres
    depth: Floats  # metres, the mean of wet cells
    wet: Floats  # the part of each texel


def sea_grid(depth: Floats, cell_size: float) -> SeaGrid:
    """The grid for a map with these depths of water with waves, in metres; 0 if there is none."""
    rows, columns = depth.shape
    cells = max(1, math.ceil(max(rows, columns) / TEXELS))
    padded = np.pad(depth, ((0, -rows % cells), (0, -columns % cells)), mode="edge")
    blocks = padded.reshape(padded.shape[0] // cells, cells, -1, cells)
    wet = (blocks > 0.0).mean(axis=(1, 3), dtype=np.float32)
    mean = blocks.mean(axis=(1, 3), dtype=np.float32) / np.maximum(wet, 1e-6)
    return SeaGrid(cells, cells * cell_size, mean, wet)


def swell_field(grid: SeaGrid, swell: Swell) -> Generator[int, None, Floats]:
    """Arrival and height `[row, column, (radians, part)]` of a swell; yields how many texels were worked on.

    The first is the phase by which crests come later than to the middle of the grid's first texel; the second how high
    they are beside those of the open sea.
    """
    arrival = yield from arrivals(grid, swell)
    height = yield from heights(grid.wet, swell)
    field = np.stack([arrival, height], axis=-1)
    field[grid.wet < WET_ENOUGH] = np.nan
    return filled(field, fallback=np.stack([plane_phase(grid, swell), np.zeros_like(height)], axis=-1))


def plane_phase(grid: SeaGrid, swell: Swell) -> Floats:
    """The arrival in deep water without obstacles."""
    row, column = np.indices(grid.wet.shape, np.float32)
    east, south = swell.direction
    return np.asarray(swell.deep_wave_number * grid.spacing * (east * column + south * row), np.float32)


def arrivals(grid: SeaGrid, swell: Swell) -> Generator[int, None, Floats]:
    """The phase with which the first waves come, |∇phase| = the wave number of the depth; `NEVER` on land.

    They come in over the sides of the map that the swell runs in by. On waters that they do not reach, others begin
    at the shores where the wind leaves the land. Solved by the upwind differences of Rouy and Tourin (1992), iterated.
    """
    wet = grid.wet >= WET_ENOUGH
    deep = swell.deep_wave_number
    across = grid.spacing * wave_number(deep, np.maximum(grid.depth, SHALLOWEST / deep)).astype(np.float32)
    plane = plane_phase(grid, swell)
    known = np.full_like(plane, NEVER)
    begin, left = wet & entered(wet.shape, swell), wet
    while left.any():
        known[begin] = plane[begin]
        yield from _spread(known, across, wet)
        left = wet & (known >= NEVER)
        begin = left & ~upwind(left, swell)
    return known


def entered(shape: tuple[int, ...], swell: Swell) -> Mask:
    """The texels at the sides of a grid that the swell comes in by."""
    east, south = swell.direction
    sides = np.zeros(shape, bool)
    if abs(east) > 1e-6:
        sides[:, 0 if east > 0.0 else -1] = True
    if abs(south) > 1e-6:
        sides[0 if south > 0.0 else -1] = True
    return sides


def upwind(values: Mask, swell: Swell) -> Mask:
    """Whether the neighbour is true that the swell comes from; false outside."""
    east, south = swell.direction
    return moved(values, round(south), round(east), outside=False)


def _spread(known: Floats, across: Floats, wet: Mask) -> Generator[int, None, None]:
    """Lower each wet texel of `known` to the phase with which waves come there; `across` is that over one texel."""
    padded = np.full((known.shape[0] + 2, known.shape[1] + 2), NEVER, np.float32)
    inner = padded[1:-1, 1:-1]
    inner[:] = known
    dry = ~wet
    to_west, to_east = between(across, 0, 1), between(across, 0, -1)
    to_north, to_south = between(across, 1, 0), between(across, -1, 0)
    while True:
        before = inner.copy()
        for _ in range(ROUNDS):
            west, east, north, south = padded[1:-1, :-2], padded[1:-1, 2:], padded[:-2, 1:-1], padded[2:, 1:-1]
            along, down = np.minimum(west, east), np.minimum(north, south)
            over_along, over_down = np.where(west < east, to_west, to_east), np.where(north < south, to_north, to_south)
            straight = np.minimum(along + over_along, down + over_down)
            over, apart = 0.5 * (over_along + over_down), along - down
            slanting = 0.5 * (along + down + np.sqrt(np.maximum(2.0 * over**2 - apart**2, 0.0)))
            come = np.where(np.abs(apart) < over, slanting, straight)
            come[dry] = NEVER
            np.minimum(inner, come, out=inner)
        yield ROUNDS * known.size // 4
        if (before - inner).max() < SETTLED:
            break
    known[:] = np.minimum(inner, NEVER)


def between(values: Floats, rows: int, columns: int) -> Floats:
    """The means of values and shifted values; at the edge, the values themselves."""
    other = moved(values, rows, columns, outside=np.nan)
    return np.where(np.isnan(other), values, 0.5 * (values + other))


def heights(wet: Floats, swell: Swell) -> Generator[int, None, Floats]:
    """The height of waves beside that on the open sea, by how much of the swell comes past the land.

    It comes from directions to either side, each of which brings a part of its energy (Goda 1985): behind the edge of
    land height falls off smoothly. Where land is in the way, the wind raises waves anew, whose energy grows with their
    way over water, and on the map's longer side comes to that of the sea.
    """
    angles = np.linspace(-SPREAD, SPREAD, DIRECTIONS + 2)[1:-1]
    weights = np.cos(0.5 * np.pi * angles / SPREAD) ** 2
    energy = np.zeros_like(wet)
    for number, (angle, weight) in enumerate(zip(angles, weights / weights.sum(), strict=True)):
        if number % AT_ONCE == 0:
            yield AT_ONCE * wet.size // 2
        east, south = Swell(swell.deep_wave_number, swell.towards + float(angle)).direction
        clear, way, reach = wet, wet, 1
        # Twice as far in each step (Hillis and Steele 1986)
        clear = way = moved(wet, round(south), round(east), outside=1.0)
        while reach < sum(wet.shape):
            beyond = round(reach * south), round(reach * east)
            way = way + clear * moved(way, *beyond, outside=float(reach))
            clear = np.minimum(clear, moved(clear, *beyond, outside=1.0))
            reach *= 2
        raised = np.minimum(way / max(wet.shape), 1.0)
        energy += weight * (clear + (1.0 - clear) * raised)
    return np.sqrt(energy)


def moved(values: NDArray[Number], rows: int, columns: int, *, outside: float) -> NDArray[Number]:
    """The values shifted by rows to the south and columns to the east, with `outside` from beyond the edge."""
    result = np.full_like(values, outside)
    height, width = values.shape
    if abs(rows) < height and abs(columns) < width:
        to = slice(max(rows, 0), height + min(rows, 0)), slice(max(columns, 0), width + min(columns, 0))
        of = slice(max(-rows, 0), height + min(-rows, 0)), slice(max(-columns, 0), width + min(-columns, 0))
        result[to] = values[of]
    return result


def filled(field: Floats, *, fallback: Floats) -> Floats:
    """The field with unknown cells filled from near known ones, and from `fallback` farther away."""
    rows, columns = field.shape[:2]
    padded = np.zeros((rows + 2, columns + 2, field.shape[-1] + 1), np.float32)  # the last: whether it is known
    for _ in range(4):
        known = np.isfinite(field[..., 0])
        padded[1:-1, 1:-1, :-1] = np.where(known[..., None], field, 0.0)
        padded[1:-1, 1:-1, -1] = known
        near = ((row, column) for row in range(3) for column in range(3) if (row, column) != (1, 1))
        around = sum(padded[row : row + rows, column : column + columns] for row, column in near)
        assert isinstance(around, np.ndarray)
        taken = ~known & (around[..., -1] > 0.0)
        field[taken] = around[taken][:, :-1] / around[taken][:, -1:]
    return np.where(np.isfinite(field), field, fallback).astype(np.float32)
