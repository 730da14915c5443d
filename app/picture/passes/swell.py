"""The swell as it is drawn: when its crests come to a place, and how high they still are there.

Where it runs to and how high it is, `kernels.swell` finds, for the picture as for the waves at work on a coast. Where
these are at work, what they know of it is drawn. The picture does so on a grid that is coarser than the map, as swell
is long.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.picture.passes.waves import GRAVITY, wave_number

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

TEXELS = 128  # along the map's longer side: with waves of the usual length three to each
WET_ENOUGH = 0.25  # part of a texel: less is land to the swell
CROSSED = 0.5  # part of a texel with water, in which land holds up no waves
SHALLOWEST = 0.01  # depth × wave number of deep water; in less, waves would come to a stand


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
    # Where the swell runs to, as `kernels.swell.find_swell` tells it, the mean of wet cells; 0 where nobody knows.
    south: Floats
    east: Floats

    def with_swell(self, swell: tuple[Floats, Floats] | None) -> SeaGrid:
        """The same waters with the swell of the map's cells, to the south and the east, if a process has found it."""
        if swell is None:
            return self._replace(south=np.zeros_like(self.wet), east=np.zeros_like(self.wet))
        there = np.maximum(_means((swell[0] != 0.0) | (swell[1] != 0.0), self.cells), 1e-6)
        south, east = (np.asarray(_means(way, self.cells) / there, np.float32) for way in swell)
        return self._replace(south=south, east=east)


def _means(values: NDArray[Any], cells: int) -> Floats:
    """The means of squares of `cells` × `cells`, of which those over the edge repeat the last ones."""
    rows, columns = values.shape
    padded = np.pad(values, ((0, -rows % cells), (0, -columns % cells)), mode="edge")
    blocks = padded.reshape(padded.shape[0] // cells, cells, -1, cells)
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32))


def sea_grid(depth: Floats, cell_size: float) -> SeaGrid:
    """The grid for a map with these depths of water with waves, in metres; 0 if there is none."""
    cells = max(1, math.ceil(max(depth.shape) / TEXELS))
    wet = _means(depth > 0.0, cells)
    mean = np.asarray(_means(depth, cells) / np.maximum(wet, 1e-6), np.float32)
    return SeaGrid(cells, cells * cell_size, mean, wet, np.zeros_like(wet), np.zeros_like(wet))


def swell_is_ready() -> bool:
    """Whether the kernels of the swell are loaded, which takes longer than a first picture may."""
    kernel = sys.modules.get("kernels.swell")
    return kernel is not None and bool(kernel.is_prepared())


def swell_field(grid: SeaGrid, swell: Swell) -> Floats:
    """Arrival and height `[row, column, (radians, part)]` of a swell.

    The first is the phase by which crests come later than to the middle of the grid's first texel; the second how high
    they are beside those of the open sea.
    """
    from kernels.swell import find_crests

    wet = grid.wet >= WET_ENOUGH
    south, east = np.where(wet, grid.south, 0.0), np.where(wet, grid.east, 0.0)
    known = (south != 0.0) | (east != 0.0)
    if known.any():
        swell = swell._replace(towards=math.degrees(math.atan2(east.sum(), -south.sum())))
    if (wet & ~known).any():
        found_south, found_east = _found(grid, swell)
        south, east = (np.where(known, own, found) for own, found in ((south, found_south), (east, found_east)))
    south, east = np.where(wet, south, 0.0).astype(np.float64), np.where(wet, east, 0.0).astype(np.float64)
    deep = swell.deep_wave_number
    number = grid.spacing * wave_number(deep, np.maximum(grid.depth, SHALLOWEST / deep)).astype(np.float64)
    plane = plane_phase(grid, swell)
    across, down = (deep * grid.spacing * way for way in swell.direction)
    arrival = plane + find_crests(south, east, number, (down, across)).astype(np.float32)
    field = np.stack([arrival, np.minimum(np.hypot(south, east), 1.0) ** 0.5], axis=-1).astype(np.float32)
    field[~wet] = np.nan
    return filled(field, fallback=np.stack([plane, np.zeros_like(plane)], axis=-1))


def _found(grid: SeaGrid, swell: Swell) -> tuple[Floats, Floats]:
    """Where a swell runs to, south and east, of which no process knows."""
    from kernels.swell import USUAL_SPREAD, SwellParameters, find_swell

    deep = swell.deep_wave_number
    period = 2.0 * math.pi / math.sqrt(GRAVITY * deep)
    south, east = np.zeros_like(grid.wet), np.zeros_like(grid.wet)
    parameters = SwellParameters(swell.towards, USUAL_SPREAD, period, 0.0, SHALLOWEST / deep)
    crossed = np.where(grid.wet >= WET_ENOUGH, np.minimum(grid.wet / CROSSED, 1.0), 0.0).astype(np.float32)
    find_swell(-grid.depth.astype(np.float64), crossed, parameters, south, east)
    return south, east


def plane_phase(grid: SeaGrid, swell: Swell) -> Floats:
    """The arrival in deep water without obstacles."""
    row, column = np.indices(grid.wet.shape, np.float32)
    east, south = swell.direction
    return np.asarray(swell.deep_wave_number * grid.spacing * (east * column + south * row), np.float32)


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
