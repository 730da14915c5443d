"""What follows from the borders of all tiles: the part of an analysis that is done in one place.

It grows with the borders of tiles and not with their area. Arrays have an entry for each node: see `Tiling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.tiles.tiling import Integers, Tiling
from kernels.components import find_all
from kernels.directions import ACROSS, BESIDE, FAR
from kernels.filling import basin_levels
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS
from kernels.routing import STEPS
from kernels.tiles import ENDS, LEAVES, OUTSIDE, Links, Passes, gather, trace

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Pairs(NamedTuple):
    """Nodes of different tiles that touch; each pair comes twice, once from each side."""

    one: Integers
    other: Integers
    neighbour: NDArray[np.int8]  # which neighbour of the one the other is
    begins: Integers  # the first pair of each tile, by the one, and the number of all


def pairs_of(tiling: Tiling) -> Pairs:
    """All pairs of nodes that touch."""
    ones, others, neighbours, begins = [], [], [], [0]
    for tile in range(len(tiling)):
        touches = tiling.touches(tile)
        ones.append(touches.border + tiling.first_nodes[tile])
        others.append(touches.node)
        neighbours.append(touches.neighbour.astype(np.int8))
        begins.append(begins[-1] + len(touches.node))
    return Pairs(np.concatenate(ones), np.concatenate(others), np.concatenate(neighbours), np.array(begins))


def joined_components(pairs: Pairs, components: Integers, count: int) -> Integers:
    """What components of tiles are one, where they touch: for each of `count` the smallest that it hangs together with.

    `components` is that of each node, from 0 on, or -1.
    """
    one, other = components[pairs.one], components[pairs.other]
    both = (one >= 0) & (other >= 0) & (one < other)
    return find_all(np.unique(np.stack((one[both], other[both]), axis=-1), axis=0), count)


# Filling.


def filled_levels(tiling: Tiling, pairs: Pairs, ground: Numbers, outlets: Mask, passes: Sequence[Passes]) -> Numbers:
    """The levels that border cells are filled up to. `ground` and `outlets` are theirs, and `passes` those of tiles."""
    nodes, heights = [], []
    for tile, found in enumerate(passes):
        first = tiling.first_nodes[tile]
        nodes.append(np.where(found.nodes == OUTSIDE, OUTSIDE, found.nodes + first).astype(np.int32))
        heights.append(found.heights)
    once = pairs.one < pairs.other
    between = np.stack((pairs.one[once], pairs.other[once]), axis=-1)
    heights.append(ground[between].max(axis=1))
    nodes.append(np.where(outlets[between], OUTSIDE, between + 1).astype(np.int32))
    levels = basin_levels(len(ground) + 1, np.concatenate(nodes), np.concatenate(heights))
    return np.where(outlets, ground, np.maximum(ground, levels[1:]))


# Directions over flats.


class FlatRounds:
    """Which tiles have to cross their flats anew, as ways out of these have become known in others."""

    def __init__(self, pairs: Pairs, filled: Numbers) -> None:
        level = np.flatnonzero(filled[pairs.one] == filled[pairs.other])
        self._one, self._other = pairs.one[level], pairs.other[level]
        self._step = np.where(pairs.neighbour[level] < 4, BESIDE, ACROSS)
        self._told = np.full(len(level), FAR, np.int64)  # the length of the way from there when the tile was crossed
        self._pairs = pairs
        self._level = level
        self.far = np.full(len(filled), FAR, np.int32)  # of each node: 0 where no flat is

    def due(self) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """The tiles to cross, each with the lengths of the ways from what touches it, which it is told by this."""
        there = self.far[self._other].astype(np.int64)
        matters = (there != self._told) & (there < FAR) & (there + self._step <= self.far[self._one])
        tiles = np.unique(np.searchsorted(self._pairs.begins, self._level[matters], side="right") - 1)
        for tile in tiles.tolist():
            begin, end = np.searchsorted(self._level, self._pairs.begins[tile : tile + 2])
            self._told[begin:end] = there[begin:end]
            yield tile, beside_of(self._pairs, tile, self.far)


def beside_of(pairs: Pairs, tile: int, values: NDArray[Any]) -> NDArray[Any]:
    """The values of what touches a tile, an entry for each of its `touches`."""
    return values[pairs.other[pairs.begins[tile] : pairs.begins[tile + 1]]]


# Routing.


class Rivers(NamedTuple):
    """How water runs from tile to tile."""

    following: Integers  # the next node; negative where the water ends in the tile
    crosses: Mask  # whether that is of another tile
    order: Integers  # all nodes downstream
    ends: Integers  # the outlet that the water of each node ends in: row * columns + column of the map
    distances: Numbers  # the way there, as counts of `kernels.routing.STEPS`


def rivers_of(tiling: Tiling, links: Sequence[Links]) -> Rivers:
    """Link the borders of all tiles."""
    count = int(tiling.first_nodes[-1])
    following, ends = np.full(count, ENDS, np.int64), np.full(count, -1, np.int64)
    lengths, crosses = np.zeros(count), np.zeros(count, np.bool_)
    for tile, found in enumerate(links):
        nodes, window = tiling.nodes(tile), tiling.window(tile)
        following[nodes] = np.where(found.following >= 0, found.following + nodes.start, ENDS)
        row, column = np.divmod(found.end, window.columns)
        outlet = (window.row + row) * tiling.columns + window.column + column
        ends[nodes] = np.where(found.following == ENDS, outlet, -1)
        lengths[nodes] = found.length
        leaves = np.flatnonzero(found.following == LEAVES)
        touches = tiling.touches(tile)
        number = np.full((nodes.stop - nodes.start, len(ROW_STEPS)), -1, np.int64)
        number[touches.border, touches.neighbour] = touches.node
        direction = found.direction[leaves]
        following[nodes.start + leaves] = number[leaves, direction]
        lengths[nodes.start + leaves] = STEPS[direction]
        crosses[nodes.start + leaves] = True
    assert (found.direction <= OUTLET).all() and len(COLUMN_STEPS) == len(ROW_STEPS)
    _, order = gather(following, crosses, np.zeros(count))
    distances = trace(following, order, lengths, ends)
    return Rivers(following, crosses, order, ends, distances)


def gathered(rivers: Rivers, within: Numbers) -> tuple[Numbers, Numbers]:
    """What comes through each node, and what of that comes in from other tiles, of what gathers `within` each tile."""
    extra, _ = gather(rivers.following, rivers.crosses, within)
    through = within + extra
    comes_in = np.zeros(len(within))
    np.add.at(comes_in, rivers.following[rivers.crosses], through[rivers.crosses])
    return through, comes_in
