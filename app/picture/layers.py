"""Layers of a still besides colours: depth, normal and material of each pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.materials import SEDIMENT_THAT_HIDES, rock_numbers
from app.model.snapshot import Snapshot
from app.picture.camera import NEAREST_DRAWN, Camera
from app.picture.crop import Crop
from app.picture.sampling import between_cells

# What passes draw, by pass name. Grounds have the numbers from `GROUND` on.
NOTHING, WATER, TREES, WALLS, GROUND = 0, 1, 2, 3, 8
DRAWN_BY = {
    **dict.fromkeys(("places", "ground"), GROUND),
    "walls": WALLS,
    **dict.fromkeys(("trees", "trees far away"), TREES),
    **dict.fromkeys(("sea", "puddles", "lakes", "their sides"), WATER),
}

# OpenEXR layers and their types. Colours are in linear light, with the exposure of the picture.
CHANNELS: tuple[tuple[str, str], ...] = (
    *((name, "HALF") for name in ("R", "G", "B")),
    ("depth.Z", "FLOAT"),  # metres along the direction of view; infinite for sky and table
    *((f"normal.{axis}", "HALF") for axis in "XYZ"),  # east, up, south
    ("material.id", "UINT"),
)


def material_names(snapshot: Snapshot) -> dict[int, str]:
    """The meaning of the numbers in the layer `material.id`."""
    known = snapshot.materials
    grounds = [each.name for each in (*known.loose, *known.rocks)] if known else ["sediment", "bedrock"]
    named = {NOTHING: "nothing", WATER: "water", TREES: "trees", WALLS: "walls"}
    return named | {GROUND + number: name for number, name in enumerate(grounds)}


class SurfaceOfLand:
    """Normals and materials of the ground by cell, with exaggeration."""

    def __init__(self, snapshot: Snapshot, exaggeration: float) -> None:
        self._cell_size = snapshot.cell_size
        height = snapshot.ground().astype(np.float32) * exaggeration
        self._south, self._east = np.gradient(height, snapshot.cell_size)
        self._materials = _materials_of_cells(snapshot)

    def normals(self, east: NDArray[np.float32], south: NDArray[np.float32]) -> NDArray[np.float32]:
        """Normals at positions in metres: [position, (east, up, south)]."""
        slopes = [
            between_cells(slope, east / self._cell_size, south / self._cell_size) for slope in (self._east, self._south)
        ]
        return _unit(np.stack([-slopes[0], np.ones_like(east), -slopes[1]], axis=-1))

    def materials(self, east: NDArray[np.float32], south: NDArray[np.float32]) -> NDArray[np.uint32]:
        rows, columns = self._materials.shape
        row, column = (
            np.clip((at / self._cell_size).astype(int), 0, last)
            for at, last in ((south, rows - 1), (east, columns - 1))
        )
        return np.asarray(self._materials[row, column])


def surface_layers(
    depth: NDArray[np.float32], drawn: NDArray[np.uint32], camera: Camera, crop: Crop, land: SurfaceOfLand
) -> dict[str, NDArray[np.generic]]:
    """The layers other than colours of a part of a picture: [row, column], top row first.

    `depth` is that of OpenGL, from 0 to 1, and `drawn` the object of each pixel as a number of `DRAWN_BY`.
    """
    near = NEAREST_DRAWN * camera.distance
    with np.errstate(divide="ignore"):
        away = np.where(drawn == NOTHING, np.inf, near / (1.0 - depth.astype(np.float64)))
    across, up, ahead = (np.array(axis) for axis in crop.axes(*camera.picture_axes(crop.aspect)))
    x = (np.arange(crop.width) + 0.5) / crop.width * 2.0 - 1.0
    y = 1.0 - (np.arange(crop.height) + 0.5) / crop.height * 2.0
    rays = ahead + x[None, :, None] * across + y[:, None, None] * up
    places = np.array(camera.position) + np.where(np.isfinite(away), away, 0.0)[..., None] * rays
    normals = np.zeros((*depth.shape, 3), np.float32)
    faces = (drawn == TREES) | (drawn == WALLS)
    if faces.any() and min(depth.shape) > 1:
        turned = _unit(np.cross(np.gradient(places, axis=0), np.gradient(places, axis=1)))
        towards = np.sign(-(turned * rays).sum(axis=-1, keepdims=True))
        normals[faces] = (turned * towards)[faces]
    normals[drawn == WATER] = (0.0, 1.0, 0.0)
    ground = drawn == GROUND
    east, south = (places[ground][:, axis].astype(np.float32) for axis in (0, 2))
    normals[ground] = land.normals(east, south)
    numbers = drawn.copy()
    numbers[ground] = land.materials(east, south)
    return {
        "depth.Z": away.astype(np.float32),
        **{f"normal.{axis}": normals[..., place].astype(np.float16) for place, axis in enumerate("XYZ")},
        "material.id": numbers,
    }


def _materials_of_cells(snapshot: Snapshot) -> NDArray[np.uint32]:
    """The material of each cell's surface: its main loose kind, or the bare rock."""
    layers, known = snapshot.layers, snapshot.materials
    covered = layers["sediment"] > 0.5 * SEDIMENT_THAT_HIDES * snapshot.cell_size
    if known is None:
        numbers = np.where(covered, 0, 1)
    else:
        rock = rock_numbers(known, layers["strata_rise"] - layers["bedrock"])
        numbers = np.where(covered, layers["loose_kinds"].astype(int) & 15, len(known.loose) + rock)
    return (GROUND + numbers).astype(np.uint32)


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))
