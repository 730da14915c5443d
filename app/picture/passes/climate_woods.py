"""Trees where no plants are simulated: what the climate lets grow, as a table like that of simulated trees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.plants import TREE_COLUMNS, Flora, Tree, load_plants
from app.model.snapshot import RAISING, Snapshot
from app.picture.passes.forest import chance, grove_noise

TALL = 17.0  # metres, of the tallest trees of most stands
LARGEST_OF_STAND = 0.61  # size of the largest tree of a stand of forest.py, beside that of the stand
STAND_WIDE = 19.0  # metres from one stand to the next in closed woods
MOST_STANDS = 200_000  # on a map; on a larger one they are farther apart
CONIFERS, BROADLEAVES, SHRUBS = range(3)
GROVES_WIDE = (390.0, 120.0)  # metres, of woods and of the groves and gaps in them; see `grove_noise`
GROVES_CELLS = 7.0  # cells of the narrower waves of `grove_noise`, for a reference of 1
# What lets trees thrive: a mean, which green land has more of; both kinds of noise; hollows, which are deep where they
# lie so far below the mean around, for its reach; slopes that face north; and plains, where they thrive less.
MEAN, BY_GREENNESS, BY_NOISE, BY_HOLLOW, BY_ASPECT, ON_PLAINS = -0.28, 0.45, (1.0, 1.3), 0.9, 0.14, -0.17
AROUND, DEEP = 90.0, 0.12  # reach, in metres
NORTHERN = 1.2  # for a slope of 1, up to 0.6
# Stands are closed where they thrive, and beyond that they end in groves and single trees.
CLOSES, CLOSED = 1.9, 0.95
SINGLE, THIN_OUT = 0.18, 2.2
RIM_LOW, RIM_UP_TO = 0.60, 0.5  # size of trees where woods end; density from which on they are as high as inside
APPEARS = 0.06  # range of density in which a stand grows up
STEEP = (0.80, 0.45)  # slopes of ground: none holds, all trees do
PLAINS = (0.04, 0.20)  # slopes of plains, which are meadows, and of all other ground
# Of the relief, below the line of snow: none grows, woods grow as anywhere.
TREE_LINE, TREE_LINE_UNEVEN = (0.06, 0.22), 0.12
COLD = (0.55, 0.10)  # of the relief, below the line of snow: warm, and the coldest
CONIFERS_WARM, CONIFERS_COLD, CONIFERS_TOGETHER, CONIFERS_LEAST = 0.06, 1.3, 2.8, 0.03  # part of stands
SHRUBS_OPEN, SHRUBS_CLOSED = 0.62, -0.20  # part of stands that are shrubs, in the open and in closed woods
SHRUBS_LOW, COLD_LOW = 0.75, 0.45  # size of shrubs; by which trees are lower in the cold
# Most trees are young, and a few stand over the others: sizes, and how skewed they are.
YOUNG, OLD, SKEWED = 0.42, 1.17, 1.6
LARGEST_CELL = 40.0  # metres; a map of larger cells shows no single trees
BARE = ("water", "ice", "reworked")  # layers where none stands, for so much of which there are none
BARES = 8.0


class ClimateWoods(NamedTuple):
    """What woods follow from, beside the ground."""

    snow_line: float  # as a fraction of the relief
    greenness: float
    full_height: float  # of a tree of size 1, metres


@cache
def climate_flora() -> Flora:
    """Conifers, broadleaves and shrubs, as they ship with the program."""
    known = load_plants()
    kinds = tuple(kind for kind in map(known.get, ("conifer", "broadleaf", "shrub")) if isinstance(kind, Tree))
    return Flora(known["grass"], kinds)


def climate_trees(snapshot: Snapshot, woods: ClimateWoods) -> NDArray[np.float32]:
    """The trees of a snapshot without simulated plants, as `Snapshot.trees` has those of others."""
    cell = snapshot.cell_size
    if woods.greenness <= 0.0 or cell > LARGEST_CELL:
        return np.empty((0, len(TREE_COLUMNS)), np.float32)
    ground = snapshot.ground()
    density, cold = _density(snapshot, ground, woods)
    lattice = _lattice(snapshot.shape, cell)
    here = density[lattice.row, lattice.column]
    room = np.clip((here - lattice.least) / APPEARS, 0.0, 1.0)
    chosen = np.flatnonzero(room > 0.0)
    lattice, room, here = lattice.of(chosen), room[chosen], here[chosen]
    high = cold[lattice.row, lattice.column]
    conifers = CONIFERS_WARM + CONIFERS_COLD * high + CONIFERS_TOGETHER * lattice.together
    conifer = lattice.leafy < np.clip(conifers, CONIFERS_LEAST, 1.0 - 2.0 * CONIFERS_LEAST)
    shrub = lattice.tall < SHRUBS_OPEN + (SHRUBS_CLOSED - SHRUBS_OPEN) * here
    kind = np.where(shrub, SHRUBS, np.where(conifer, CONIFERS, BROADLEAVES))
    size = lattice.grown * (0.5 + 0.5 * room) * (1.0 - COLD_LOW * high) * np.where(shrub, SHRUBS_LOW, 1.0)
    size *= RIM_LOW + (1.0 - RIM_LOW) * _smooth((0.0, RIM_UP_TO), here)
    size *= TALL / (LARGEST_OF_STAND * woods.full_height)
    ones = np.ones(len(size))
    return np.column_stack([lattice.place, kind, size, ones, ones]).astype(np.float32)


def kept_land(snapshot: Snapshot) -> Snapshot:
    """The snapshot with what woods follow from, which stays as it is when the next one is taken."""
    layers = {name: snapshot.layers[name].copy() for name in (*RAISING, *BARE) if name in snapshot.layers}
    return replace(snapshot, layers=layers)


class Lattice(NamedTuple):
    """All places for stands on a map, and what chance makes of each: it depends on no ground."""

    place: NDArray[np.float64]  # [stand, (row, column)]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    least: NDArray[np.float64]  # density with which it appears
    leafy: NDArray[np.float64]  # from 0 to 1: a conifer below some part
    tall: NDArray[np.float64]  # and a shrub
    grown: NDArray[np.float64]  # size
    together: NDArray[np.float32]  # noise about 0, by which conifers stand together

    def of(self, stands: NDArray[np.intp]) -> Lattice:
        """Some of the places."""
        chosen: list[NDArray[Any]] = [of_all[stands] for of_all in self]
        return Lattice(*chosen)


@lru_cache(maxsize=2)
def _lattice(shape: tuple[int, int], cell: float) -> Lattice:
    rows, columns = shape
    apart = max(STAND_WIDE / cell, math.sqrt(rows * columns / MOST_STANDS))
    along = [np.arange(int(length / apart)) for length in shape]
    lattice = np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    place = apart * (lattice + np.stack([chance(lattice, 5.0), chance(lattice, 11.0)], axis=1))
    row, column = np.minimum(place.astype(np.intp), (rows - 1, columns - 1)).T
    return Lattice(
        place,
        row,
        column,
        least=(1.0 - APPEARS) * chance(lattice, 13.0),
        leafy=chance(lattice, 19.0),
        tall=chance(lattice, 23.0),
        grown=YOUNG + (OLD - YOUNG) * chance(lattice, 29.0) ** SKEWED,
        together=grove_noise(shape, _reference(GROVES_WIDE[1], cell))[row, column] - np.float32(0.5),
    )


def _density(
    snapshot: Snapshot, ground: NDArray[np.float32], woods: ClimateWoods
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How much of each cell is wooded, and how near to the cold it is, from 0 to 1."""
    cell = snapshot.cell_size
    south, east = np.gradient(ground, cell)
    steep = np.hypot(south, east)
    wide = max(round(AROUND / cell), 2)
    hollow = np.clip((_mean_around(ground, wide) - ground) / (DEEP * wide * cell), -1.0, 1.0)
    low, high = float(ground.min()), float(ground.max())
    below_snow = woods.snow_line - (ground - low) / max(high - low, 1e-3)
    noises = [grove_noise(ground.shape, _reference(part, cell)) - 0.5 for part in GROVES_WIDE]
    thrive = MEAN + BY_GREENNESS * woods.greenness + BY_HOLLOW * hollow
    thrive += BY_NOISE[0] * noises[0] + BY_NOISE[1] * noises[1]
    thrive += BY_ASPECT * np.clip(NORTHERN * south, -0.5 * NORTHERN, 0.5 * NORTHERN)
    thrive += ON_PLAINS * (1.0 - _smooth(PLAINS, steep))
    thrive = np.clip(CLOSES * thrive, 0.0, CLOSED) + SINGLE * np.clip(1.0 + THIN_OUT * thrive, 0.0, 1.0) ** 2
    thrive *= _smooth(STEEP, steep) * _smooth(TREE_LINE, below_snow + TREE_LINE_UNEVEN * noises[1])
    for bare in BARE:
        if bare in snapshot.layers:
            thrive *= 1.0 - np.clip(BARES * _mean_around(snapshot.layers[bare], 1), 0.0, 1.0)
    cold = np.clip((below_snow - COLD[0]) / (COLD[1] - COLD[0]), 0.0, 1.0)
    return thrive.astype(np.float32), cold.astype(np.float32)


def _reference(wide: float, cell: float) -> float:
    """What makes the waves of `grove_noise` so many metres wide, in cells of so many."""
    return wide / (cell * GROVES_CELLS)


def _smooth(between: tuple[float, float], values: NDArray[np.float32]) -> NDArray[np.float32]:
    part = np.clip((values - between[0]) / (between[1] - between[0]), 0.0, 1.0)
    return np.asarray(part * part * (3.0 - 2.0 * part), np.float32)


def _mean_around(values: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """The mean over a square around each cell, of 2 `reach` + 1 cells."""
    side = 2 * reach + 1
    sums = np.pad(values.astype(np.float64), reach, mode="edge")
    for axis in (0, 1):
        total = np.cumsum(np.insert(sums, 0, 0.0, axis=axis), axis=axis)
        length = values.shape[axis]
        sums = np.take(total, range(side, side + length), axis) - np.take(total, range(length), axis)
    return (sums / side**2).astype(np.float32)
