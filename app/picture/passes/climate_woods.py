"""Trees where no plants are simulated: what the climate lets grow, as a table like that of simulated trees."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.plants import TREE_COLUMNS, Flora, Tree, load_plants
from app.model.snapshot import Snapshot
from app.picture.passes.forest import chance, grove_noise

TALL = 17.0  # metres, of the tallest trees of most stands
STAND_WIDE = 15.0  # metres from one stand to the next in closed woods
CONIFERS, BROADLEAVES, SHRUBS = range(3)
GROVES_WIDE = (26.0, 8.0)  # of STAND_WIDE, of woods and of the groves and gaps in them; see `grove_noise`
GROVES_CELLS = 7.0  # cells of the narrower waves of `grove_noise`, for a reference of 1
STEEP = (0.45, 0.80)  # slopes of ground: all trees hold, none does
PLAINS = (0.04, 0.20)  # slopes of plains, which are meadows, and of all other ground
TREE_LINE = (0.06, 0.22)  # of the relief, below the line of snow: none grows, woods grow as anywhere
LARGEST_CELL = 40.0  # metres; a map of larger cells shows no single trees


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
    if woods.greenness <= 0.0 or cell > LARGEST_CELL or snapshot.materials is not None:
        return np.empty((0, len(TREE_COLUMNS)), np.float32)
    ground = snapshot.ground()
    density, cold = _density(snapshot, ground, woods)
    rows, columns = ground.shape
    apart = max(STAND_WIDE / cell, 0.25)
    lattice = np.stack(
        np.meshgrid(*(np.arange(int(length / apart)) for length in (rows, columns)), indexing="ij"), axis=-1
    ).reshape(-1, 2).astype(float)
    place = apart * (lattice + np.stack([chance(lattice, 5.0), chance(lattice, 11.0)], axis=1))
    at = np.minimum(place.astype(np.intp), (rows - 1, columns - 1)).T
    here = density[tuple(at)]
    room = np.clip((here - 0.94 * chance(lattice, 13.0)) / 0.06, 0.0, 1.0)
    chosen = room > 0.0
    place, lattice, room, at = place[chosen], lattice[chosen], room[chosen], at[:, chosen]
    high = cold[tuple(at)]
    kind_noise = grove_noise((rows, columns), GROVES_WIDE[1] * STAND_WIDE / cell / GROVES_CELLS)[tuple(at)]
    conifer = chance(lattice, 19.0) < np.clip(0.06 + 1.3 * high + 2.8 * (kind_noise - 0.5), 0.03, 0.94)
    shrub = chance(lattice, 23.0) > 0.55 + 0.6 * here[chosen]
    kind = np.where(shrub, SHRUBS, np.where(conifer, CONIFERS, BROADLEAVES))
    # Most of a stand's trees are young; a few stand over the others.
    size = (0.42 + 0.75 * chance(lattice, 29.0) ** 1.6) * (0.5 + 0.5 * room) * (1.0 - 0.45 * high) * np.where(shrub, 0.75, 1.0)
    size *= TALL / woods.full_height / 0.61
    ones = np.ones(len(place))
    return np.column_stack([place, kind, size, ones, ones]).astype(np.float32)


def _density(
    snapshot: Snapshot, ground: NDArray[np.float32], woods: ClimateWoods
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How much of each cell is wooded, and how near to the cold it is, from 0 to 1."""
    cell = snapshot.cell_size
    south, east = np.gradient(ground, cell)
    steep = np.hypot(south, east)
    wide = max(round(6.0 * STAND_WIDE / cell), 2)
    hollow = np.clip((_mean_around(ground, wide) - ground) / (0.12 * wide * cell), -1.0, 1.0)
    low, high = float(ground.min()), float(ground.max())
    altitude = (ground - low) / max(high - low, 1e-3)
    cold = np.clip((altitude - woods.snow_line + 0.55) / 0.45, 0.0, 1.0)
    noises = [grove_noise(ground.shape, part * STAND_WIDE / cell / GROVES_CELLS) for part in GROVES_WIDE]
    sheltered = 0.6 * np.clip(2.0 * south, -1.0, 1.0)
    thrive = -0.28 + 1.0 * (noises[0] - 0.5) + 1.3 * (noises[1] - 0.5) + 0.9 * hollow + 0.14 * sheltered + 0.45 * woods.greenness
    thrive -= 0.17 * (1.0 - _smooth(PLAINS, steep))
    # Woods end in groves and single trees.
    thrive = np.clip(1.9 * thrive, 0.0, 0.95) + 0.09 * np.clip(1.0 + 3.5 * thrive, 0.0, 1.0) ** 2
    thrive *= _smooth(STEEP[::-1], steep)
    thrive *= _smooth(TREE_LINE, woods.snow_line - altitude + 0.12 * (noises[1] - 0.5))
    for bare in ("water", "ice", "reworked"):
        if bare in snapshot.layers:
            thrive *= 1.0 - np.clip(8.0 * _mean_around(snapshot.layers[bare], 1), 0.0, 1.0)
    return thrive.astype(np.float32), cold.astype(np.float32)


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
