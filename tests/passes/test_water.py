"""Lakes and sea in the picture: where they lie, how they take the light, and that they lie nowhere else."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from app.camera import Camera
from app.passes.water import TILE, lake_tiles
from app.scene import Scene
from app.snapshot import Snapshot
from tests.passes.conftest import Draw
from tests.passes.worlds import bumps, flat, plane, snapshot

CELL = 10.0


def flooded(ground: ArrayLike, level: ArrayLike, *, sea: float = -math.inf) -> Snapshot:
    """Ground with water up to `level` of each cell."""
    dry = snapshot(ground, cell_size=CELL)
    rock = dry.layers["bedrock"]
    surface = np.maximum(np.broadcast_to(np.asarray(level, np.float32), rock.shape), rock)
    layers = {**dry.layers, "water_level": surface, "water": surface - rock}
    return replace(dry, layers=layers, versions=dict.fromkeys(layers, 0), sea_level=sea)


def from_above(cells: float, rows: int, columns: int, height: float = 0.0) -> Camera:
    """North up, over the middle of the map, with so many cells from the top of the picture to its bottom."""
    middle = glm.vec3(columns / 2 * CELL, height, rows / 2 * CELL)
    return Camera(
        middle, heading=0.0, pitch=90.0, distance=cells * CELL / 2.0 / math.tan(math.radians(5.0)), field_of_view=10.0
    )


def calm(**view: float | str) -> Scene:
    """Clear air and water without waves."""
    scene = Scene().with_value("view.waves", 0.0).with_value("view.haze", 0.0)
    for name, value in view.items():
        scene = scene.with_value(f"view.{name}", value)
    return scene


def difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.abs(one.astype(int) - other).max(axis=2)


def reference_tiles(shown: Snapshot) -> set[tuple[float, float, float]]:
    """The tiles that touch a cell of a lake, one by one."""
    rows, columns = shown.shape
    found = set()
    for row, column in np.argwhere(shown.layers["water"] > 0.0):
        level = shown.layers["water_level"][row, column]
        if level == np.float32(shown.sea_level):
            continue
        for first_row in range(0, rows, TILE):
            for first_column in range(0, columns, TILE):
                if first_row <= row <= first_row + TILE and first_column <= column <= first_column + TILE:
                    found.add((float(first_column), float(first_row), float(level)))
    return found


@pytest.mark.parametrize("shape", [(8, 8), (33, 65), (97, 40), (64, 64)])
@pytest.mark.parametrize("sea", [-math.inf, 2.0])
def test_lakes_are_drawn_in_every_tile_that_they_touch(shape: tuple[int, int], sea: float) -> None:
    levels = np.random.default_rng(4).choice([1.0, 2.0, 3.5], shape).astype(np.float32)
    shown = flooded(bumps(*shape, seed=2, height=40.0), levels, sea=sea)
    tiles = lake_tiles(shown)
    assert tiles.dtype == np.float32
    assert {tuple(map(float, tile)) for tile in tiles} == reference_tiles(shown)
    assert len(tiles) == len(reference_tiles(shown)), "each once"


def test_without_water_there_are_no_tiles() -> None:
    assert lake_tiles(snapshot(flat(8, 8))).shape == (0, 3)
    assert lake_tiles(flooded(flat(40, 40, 5.0), 1.0)).shape == (0, 3)


def test_where_nothing_stands_the_picture_is_the_same_to_the_bit(draw: Draw) -> None:
    ground = bumps(48, 64, height=30.0)
    dry, known = snapshot(ground, cell_size=CELL), flooded(ground, -100.0)
    np.testing.assert_array_equal(draw(dry), draw(known))


@pytest.mark.parametrize("exaggeration", [1.0, 1.37, 3.0])
@pytest.mark.parametrize("sea", [False, True])
def test_the_shore_lies_where_the_level_cuts_the_ground(draw: Draw, sea: bool, exaggeration: float) -> None:
    """On ground that rises to the east, at a part of a cell, and as straight as a ruler."""
    ground = plane(40, 60, 2.0, 0.0)
    for level in (47.0, 47.5, 48.2):
        wet = flooded(ground, level, sea=np.float32(level) if sea else -math.inf)
        camera = from_above(40.0, 40, 60, level * exaggeration)
        scene = calm(exaggeration=exaggeration)
        with_water = draw(wet, camera, scene, size=(480, 320))
        without = draw(snapshot(ground, cell_size=CELL), camera, scene, size=(480, 320))
        changed = difference(with_water, without)[40:280] > 12
        shore = np.array([np.flatnonzero(row).max() + 1 for row in changed]) / 8.0  # cells from the western edge
        assert shore.std() < 0.25
        assert shore.mean() == pytest.approx(level / 2.0 + 0.5, abs=0.6)
        assert changed[:, 8 : int(shore.min() * 8) - 8].all(), "there are no holes"
