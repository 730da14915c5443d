"""Trees as a table that any program reads."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.export.landscape import Landscape
from app.files.atomic import write_atomically
from app.model.plants import TREE_COLUMNS

COLUMNS = ("x", "y", "ground", "east", "south", "kind", "size", "age", "health", "height", "crown_radius")


def tree_heights(landscape: Landscape) -> NDArray[np.float64]:
    """The height of each tree in metres, as in the picture."""
    kinds, sizes = _columns(landscape, "kind", "size")
    full = np.array([tree.height for tree in landscape.world.flora.trees] or [0.0])
    heights: NDArray[np.float64] = full[kinds.astype(np.intp)] * sizes * _tall(landscape)
    return heights


def tree_places(landscape: Landscape) -> NDArray[np.float64]:
    """Metres from the north-western corner eastward and southward, and the height of the ground, [tree, 3]."""
    rows, columns = _columns(landscape, "row", "column")
    world = landscape.world
    (south, down), (east, right) = (_between(at, count) for at, count in zip((rows, columns), world.shape, strict=True))
    upper, lower = (
        world.ground[row, east] * (1.0 - right) + world.ground[row, east + 1] * right for row in (south, south + 1)
    )
    ground = upper * (1.0 - down) + lower * down
    return np.stack([columns * world.cell_size, rows * world.cell_size, ground], axis=-1)


def _between(at: NDArray[np.float64], count: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The cell before places, and how far they are from its middle to that of the next."""
    middle = np.clip(at - 0.5, 0.0, count - 1.0)
    before = np.minimum(middle.astype(np.intp), count - 2)
    return before, middle - before


def write_table(path: Path, landscape: Landscape) -> None:
    """Trees as CSV: coordinates, metres from the north-western corner, and what is known of each."""
    world, flora = landscape.world, landscape.world.flora
    kinds, sizes, ages, health = _columns(landscape, "kind", "size", "age", "health")
    east, south, ground = tree_places(landscape).T
    rows, columns = _columns(landscape, "row", "column")
    x, y = landscape.sheet.place.to_model @ np.stack([columns, rows, np.ones_like(rows)])
    crowns = (
        np.array([tree.crown for tree in flora.trees] or [0.0])[kinds.astype(np.intp)]
        * sizes
        * world.reference_cell_size
    )
    heights = tree_heights(landscape)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    names = flora.names
    for tree, kind in enumerate(kinds.astype(int)):
        writer.writerow(
            [
                *(f"{value:.9g}" for value in (x[tree], y[tree])),
                *(f"{value:.6g}" for value in (ground[tree], east[tree], south[tree])),
                names[kind],
                *(f"{value:.6g}" for value in (sizes[tree], ages[tree], health[tree])),
                *(f"{value:.6g}" for value in (heights[tree], crowns[tree])),
            ]
        )
    with write_atomically(path) as file:
        file.write(text.getvalue().encode())


def _tall(landscape: Landscape) -> float:
    """How tall a tree of height 1 is that is full-grown, in metres."""
    return landscape.scene.view.tree_size * landscape.world.reference_cell_size


def _columns(landscape: Landscape, *names: str) -> list[NDArray[np.float64]]:
    trees = landscape.world.trees
    return [trees[:, TREE_COLUMNS.index(name)].astype(np.float64) for name in names]


TREE_FORMATS = {"csv": "a table of all trees with their places, kinds, heights and health"}
