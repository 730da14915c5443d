"""Trees as a table, and as instances for engines and modellers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.export.landscape import Landscape
from app.files.atomic import write_atomically
from app.model.climate import METRES_PER_KILOMETRE
from app.model.plants import TREE_COLUMNS, Shape, Tree, cold_on

COLUMNS = ("x", "y", "ground", "east", "south", "kind", "size", "age", "health", "height", "crown_radius")


def tree_heights(landscape: Landscape) -> NDArray[np.float64]:
    """The height of each tree in metres, as in the picture: lower towards the tree line."""
    kinds, sizes = _columns(landscape, "kind", "size")
    full = np.array([tree.height for tree in landscape.world.flora.trees] or [0.0])
    climate, number = landscape.scene.climate, kinds.astype(np.intp)
    temperature = climate.temperature - climate.lapse_rate / METRES_PER_KILOMETRE * tree_places(landscape)[:, 2]
    in_cold = cold_on(landscape.world.flora, number, temperature).height
    heights: NDArray[np.float64] = full[number] * sizes * _tall(landscape) * in_cold
    return heights


def crown_radii(landscape: Landscape) -> NDArray[np.float64]:
    """The radius of each tree's crown in metres."""
    kinds, sizes = _columns(landscape, "kind", "size")
    full = np.array([tree.crown for tree in landscape.world.flora.trees] or [0.0])
    radii: NDArray[np.float64] = full[kinds.astype(np.intp)] * sizes * landscape.world.reference_cell_size
    return radii


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
    """The cells before positions, and the fraction of the way from their centres to the next ones."""
    middle = np.clip(at - 0.5, 0.0, count - 1.0)
    before = np.minimum(middle.astype(np.intp), count - 2)
    return before, middle - before


def write_table(path: Path, landscape: Landscape) -> None:
    """Trees as CSV: coordinates, metres from the north-western corner, and their properties."""
    world, flora = landscape.world, landscape.world.flora
    kinds, sizes, ages, health = _columns(landscape, "kind", "size", "age", "health")
    east, south, ground = tree_places(landscape).T
    rows, columns = _columns(landscape, "row", "column")
    x, y = landscape.world_sheet.coordinates(rows, columns)
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
    """The height in metres of a full-grown tree of a kind of height 1."""
    return landscape.scene.view.tree_size * landscape.world.reference_cell_size


def _columns(landscape: Landscape, *names: str) -> list[NDArray[np.float64]]:
    trees = landscape.world.trees
    return [trees[:, TREE_COLUMNS.index(name)].astype(np.float64) for name in names]


# Trees of height 1 and radius 1 by shape: height of the base of the crown, and number of sides of its cone; 0: round
CROWNS: dict[Shape, tuple[float, int]] = {
    "conifer": (0.12, 7),
    "broadleaf": (0.25, 0),
    "columnar": (0.08, 0),
    "shrub": (0.0, 0),
}
TRUNK, TRUNK_RADIUS = (84, 66, 50), 0.12  # sRGB; fraction of the crown's radius


def write_instances(path: Path, landscape: Landscape) -> None:
    """Trees as glTF: a mesh for each kind, and a node with position and size for each tree.

    Axes are those of the ground: metres from the centre of the map, X east, Y up, Z south.
    """
    from trimesh import Scene

    world, kinds = landscape.world, _columns(landscape, "kind")[0].astype(int)
    scene = Scene()
    names = world.flora.names
    for number in np.unique(kinds):
        scene.geometry[names[number]] = _tree_mesh(world.flora.trees[number])
    heights, radii = tree_heights(landscape), crown_radii(landscape)
    rows, columns = world.shape
    places = tree_places(landscape) - 0.5 * np.array([columns, rows, 0.0]) * world.cell_size
    for tree, kind in enumerate(kinds):
        east, south, ground = places[tree]
        matrix = np.diag([radii[tree], heights[tree], radii[tree], 1.0])
        matrix[:3, 3] = east, ground, south
        scene.graph.update(frame_to=f"{names[kind]} {tree}", matrix=matrix, geometry=names[kind])
    content = scene.export(file_type="glb")
    with write_atomically(path) as file:
        file.write(content)


def _tree_mesh(tree: Tree) -> Any:
    """A tree of height 1 and radius 1, its foot at 0, with the colours of its leaves and trunk.

    Vertices have colours, as trimesh needs SciPy to convert colours of faces.
    """
    from trimesh.creation import cone, cylinder, icosphere
    from trimesh.util import concatenate

    begins, sides = CROWNS[tree.shape]
    if sides:
        crown = cone(radius=1.0, height=1.0 - begins, sections=sides)
        crown.apply_translation((0.0, 0.0, begins))
    else:
        crown = icosphere(subdivisions=1)
        crown.apply_scale((1.0, 1.0, 0.5 * (1.0 - begins)))
        crown.apply_translation((0.0, 0.0, 0.5 * (1.0 + begins)))
    crown.visual.vertex_colors = [int(tree.colour[at : at + 2], 16) for at in (1, 3, 5)]
    parts = [crown]
    if begins:
        trunk = cylinder(radius=TRUNK_RADIUS, height=2.0 * begins, sections=5)
        trunk.apply_translation((0.0, 0.0, begins))
        trunk.visual.vertex_colors = TRUNK
        parts.append(trunk)
    whole = concatenate(parts)
    whole.apply_transform([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])  # Z up to Y up
    return whole


@dataclass(frozen=True)
class TreeFormat:
    """A format of trees: description, file name, writer, and approximate size per tree."""

    help: str
    file: str
    write: Callable[[Path, Landscape], None]
    bytes_per_tree: float
    may_be_empty: bool = True


TREE_FORMATS: dict[str, TreeFormat] = {
    "csv": TreeFormat("a table of their places, kinds, heights and health", "trees.csv", write_table, 90.0),
    "glb": TreeFormat("glTF with an instance of its kind for each", "trees.glb", write_instances, 150.0, False),
}
