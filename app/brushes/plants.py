"""Brushes that sow and clear plants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.brushes.touch import Touch
from app.model.errors import UserError, nearest
from app.model.plants import GRASS
from app.model.world import World
from kernels import brushes

SAPLING = 0.3  # size of a tree that is set by hand
SAPLING_HEALTH = 0.9
ALL_PLANTS = "all"


def sow(touch: Touch) -> None:
    world, choice = touch.world, touch.stroke.choice
    if choice == GRASS:
        grass = world.trace(GRASS)[touch.cells]
        grass[...] = np.minimum(grass + 0.3 * touch.stroke.amount * touch.weight * _dry(touch), 1.0)
        world.touched(GRASS)
        return
    trees = _young_trees(touch, tree_of(world, choice))
    if len(trees):
        world.trees = np.concatenate([world.trees, trees])
    world.touched()
    world.trees_version = world.version


def clear(touch: Touch) -> None:
    world, choice, (rows, columns) = touch.world, touch.stroke.choice or ALL_PLANTS, touch.cells
    left = 1.0 - np.minimum(touch.stroke.amount * touch.weight, 1.0)
    names = [] if choice not in (GRASS, ALL_PLANTS) else [GRASS]
    if choice != GRASS:
        row, column = (world.trees[:, axis].astype(np.intp) for axis in (0, 1))
        inside = (row >= rows.start) & (row < rows.stop) & (column >= columns.start) & (column < columns.stop)
        if choice != ALL_PLANTS:
            inside &= world.trees[:, 2] == tree_of(world, choice)
        chance = brushes.uniforms(len(world.trees), "cleared by hand", touch.stroke.number, touch.number)
        dead = np.zeros(len(world.trees), bool)
        dead[inside] = chance[inside] >= left[row[inside] - rows.start, column[inside] - columns.start]
        world.trees = np.ascontiguousarray(world.trees[~dead])
    if choice == ALL_PLANTS:
        names += ["roots", "canopy"]
    for name in names:
        if name in world.layers:
            world.layers[name][touch.cells] *= left.astype(np.float32)
    world.touched(*(name for name in names if name in world.layers))
    world.trees_version = world.version


def _dry(touch: Touch) -> NDArray[np.bool_]:
    """Dry cells, according to the layers: the levels of lakes and sea follow in the next cycle."""
    dry = touch.world.water[touch.cells] <= 0.0
    return dry & (touch.world.ground[touch.cells] >= touch.scene.edges.sea) if touch.scene.has_standing_water else dry


def _young_trees(touch: Touch, kind: int) -> NDArray[np.float32]:
    """Saplings at places by chance, none of them in water or close to another tree."""
    world, stroke = touch.world, touch.stroke
    rows, columns = touch.cells
    count = (rows.stop - rows.start) * (columns.stop - columns.start)
    chance = brushes.uniforms(3 * count, "sown by hand", stroke.number, touch.number).reshape(3, -1)
    # In steps of 1/64 of a cell, as `kernels.plants` has them.
    inside = (np.floor(chance[:2] * 64.0) + 0.5) / 64.0
    row = np.repeat(np.arange(rows.start, rows.stop), columns.stop - columns.start)
    column = np.tile(np.arange(columns.start, columns.stop), rows.stop - rows.start)
    taken = np.zeros(world.shape, bool)
    taken[world.trees[:, 0].astype(np.intp), world.trees[:, 1].astype(np.intp)] = True
    kept = chance[2] < 0.05 * stroke.amount * touch.weight.reshape(-1)
    kept &= (_dry(touch) & ~taken[touch.cells]).reshape(-1)
    trees = np.zeros((int(np.count_nonzero(kept)), world.trees.shape[1]), np.float32)
    trees[:, 0], trees[:, 1] = row[kept] + inside[0][kept], column[kept] + inside[1][kept]
    trees[:, 2], trees[:, 3], trees[:, 5] = kind, SAPLING, SAPLING_HEALTH
    return trees


def tree_of(world: World, name: str) -> int:
    if name not in world.flora.names:
        raise UserError(f"this land has no plant '{name}'{nearest(name, (GRASS, *world.flora.names))}")
    return world.flora.names.index(name)
