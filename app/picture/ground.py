"""The ground that the camera stands and looks on: heights and rays over a snapshot, in picture space, on the CPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.model.view_parameters import CameraParameters
from app.picture.camera import CLEARANCE, OPENING_ASPECT, Camera, lifted, opening_camera

STEPS = 1024  # samples along a ray before the hit is refined
BISECTIONS = 12
STEPS_TO_PLACES = 96

# Cells whose heights a place has its own from, as steps to the south and east of the north-western of the four around
# it: these four, and the eight beside them.
_AROUND = ((0, 0), (0, 1), (1, 0), (1, 1), (-1, 0), (-1, 1), (2, 0), (2, 1), (0, -1), (1, -1), (0, 2), (1, 2))
_ROWS_AROUND, _COLUMNS_AROUND = np.array(_AROUND).T[:, :, None]


class Ground:
    """The surface of a snapshot, with its heights exaggerated as in the picture.

    Heights belong to the centres of cells and are interpolated between them as by `elevation_at` in the shaders;
    outside the map the ground goes on from its edge.
    """

    def __init__(self, snapshot: Snapshot, exaggeration: float) -> None:
        self._snapshot = snapshot
        self.rows, self.columns = snapshot.shape
        self.cell_size = snapshot.cell_size
        self.exaggeration = exaggeration
        self.lowest = snapshot.lowest * exaggeration
        self.highest = snapshot.highest * exaggeration

    @property
    def east(self) -> float:
        """Metres from the western to the eastern edge."""
        return self.columns * self.cell_size

    @property
    def south(self) -> float:
        """Metres from the northern to the southern edge."""
        return self.rows * self.cell_size

    @property
    def side(self) -> float:
        """The longer side in metres."""
        return max(self.east, self.south)

    def height(self, east: float, south: float) -> float:
        """The height of the surface, in picture space."""
        return float(self._heights(np.array([east]), np.array([south]))[0])

    def heights(self, places: Sequence[tuple[float, float]]) -> list[float]:
        """Heights of the surface at places (east, south), in picture space; fast for many."""
        points = np.array(places, np.float64).reshape(-1, 2)
        return [float(height) for height in self._heights(points[:, 0], points[:, 1])]

    def mean_height(self, east: float, south: float, reach: float) -> float:
        """The mean height of the surface as far as `reach` metres around a place, in picture space."""
        offsets = np.linspace(-reach, reach, 5)
        across, down = np.meshgrid(east + offsets, south + offsets)
        return float(self._heights(across.ravel(), down.ravel()).mean())

    def limit(self, east: float, south: float) -> float:
        """The least height of a camera: that of ground or water.

        Outside the map the ground falls off continuously; the sea continues.
        """
        outside = max(-east, east - self.east, -south, south - self.south, 0.0)
        sea = self._snapshot.sea_level * self.exaggeration
        return max(self.lowest, sea, self.level(east, south) - outside)

    def level(self, east: float, south: float) -> float:
        """The height of what is seen at a place, in picture space: of the ground, or of water over it."""
        return max(self.height(east, south), self._water(east, south))

    def lowest_eye(self, east: float, south: float) -> float:
        """The height that a camera is lifted to: `CLEARANCE` over what stands there."""
        return self.limit(east, south) + CLEARANCE * self.side

    def hit(self, origin: glm.vec3, direction: glm.vec3) -> glm.vec3 | None:
        """The first intersection of a ray with the surface, or None."""
        span = self._inside(origin, direction)
        if span is None:
            return None
        distances = np.linspace(*span, STEPS)
        above = self._clearance(origin, direction, distances)
        below = np.flatnonzero(above <= 0.0)
        if not len(below):
            return None
        first = int(below[0])
        if first == 0:
            # The ray comes in through a wall of the block, or starts under the ground.
            return origin + direction * float(distances[0])
        near, far = float(distances[first - 1]), float(distances[first])
        for _ in range(BISECTIONS):
            middle = 0.5 * (near + far)
            if self._clearance(origin, direction, np.array([middle]))[0] > 0.0:
                near = middle
            else:
                far = middle
        return origin + direction * far

    def seen_from(self, eye: glm.vec3, places: Sequence[tuple[float, float]]) -> list[bool]:
        """Whether no ground lies between an eye and places (east, south) on the surface, roughly."""
        points = np.array(places, np.float64).reshape(-1, 2)
        heights = self._heights(points[:, 0], points[:, 1])
        parts = np.linspace(0.02, 0.98, STEPS_TO_PLACES)[:, None]
        east, south = (eye_part + parts * (points[:, axis] - eye_part) for axis, eye_part in ((0, eye.x), (1, eye.z)))
        ray = eye.y + parts * (heights - eye.y)
        inside = (east >= 0.0) & (east <= self.east) & (south >= 0.0) & (south <= self.south)
        ground = self._heights(east.ravel(), south.ravel()).reshape(east.shape)
        hidden = inside & (ground > ray + 2e-3 * self.side * (1.0 - parts))
        seen: NDArray[np.bool_] = np.all(~hidden, axis=0)
        return [bool(part) for part in seen]

    def _water(self, east: float, south: float) -> float:
        """The level of water, standing or running, in the four cells around a place; without any, minus infinity."""
        layers, sea = self._snapshot.layers, self._snapshot.sea_level
        if "water" not in layers or "water_level" not in layers:
            return sea * self.exaggeration
        row, column = (
            min(max(int(at / self.cell_size - 0.5), 0), cells - 2)
            for at, cells in ((south, self.rows), (east, self.columns))
        )
        around = np.s_[row : row + 2, column : column + 2]
        level = layers["water_level"][around]
        levels = level[(layers["water"][around] > 0.0) | (level == np.float32(sea))]
        return float(levels.max(initial=-math.inf)) * self.exaggeration

    def _clearance(self, origin: glm.vec3, direction: glm.vec3, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        east = origin.x + direction.x * distances
        south = origin.z + direction.z * distances
        return origin.y + direction.y * distances - self._heights(east, south)

    def _inside(self, origin: glm.vec3, direction: glm.vec3) -> tuple[float, float] | None:
        """The segment of a ray that lies in the box around the land, as distances from its origin."""
        margin = 1e-3 * self.side
        near, far = 0.0, float("inf")
        for start, along, low, high in (
            (origin.x, direction.x, 0.0, self.east),
            (origin.y, direction.y, self.lowest - margin, self.highest + margin),
            (origin.z, direction.z, 0.0, self.south),
        ):
            if abs(along) < 1e-9:
                if not low <= start <= high:
                    return None
                continue
            one, other = (low - start) / along, (high - start) / along
            near, far = max(near, min(one, other)), min(far, max(one, other))
        return (near, far) if near < far else None

    def _heights(self, east: NDArray[np.float64], south: NDArray[np.float64]) -> NDArray[np.float64]:
        column = np.minimum(np.maximum(east / self.cell_size - 0.5, 0.0), self.columns - 1.0)
        row = np.minimum(np.maximum(south / self.cell_size - 0.5, 0.0), self.rows - 1.0)
        west = np.minimum(column.astype(np.intp), self.columns - 2)
        north = np.minimum(row.astype(np.intp), self.rows - 2)
        across, down = column - west, row - north
        # All in one look at the layers: pointing at the ground takes hundreds of single heights in each frame.
        rows = np.minimum(np.maximum(north + _ROWS_AROUND, 0), self.rows - 1)
        columns = np.minimum(np.maximum(west + _COLUMNS_AROUND, 0), self.columns - 1)
        heights: list[NDArray[np.float64]] = list(self._snapshot.ground((rows, columns), np.float64))
        north_west, north_east, south_west, south_east, *beside = heights
        upper = north_west * (1.0 - across) + north_east * across
        lower = south_west * (1.0 - across) + south_east * across
        surface: NDArray[np.float64] = upper * (1.0 - down) + lower * down
        twist = 0.25 * (north_west + south_east - north_east - south_west)
        if not twist.any():
            surface *= self.exaggeration
            return surface
        around = sum(beside) / len(beside)
        mean = 0.25 * (north_west + north_east + south_west + south_east)
        over = np.minimum(np.maximum(2.0 * (mean - around), -np.abs(twist)), np.abs(twist))
        along = np.where(over * twist > 0.0, down, 1.0 - down)
        part = 4.0 * np.minimum(across * (1.0 - along), along * (1.0 - across))
        surface += over * part
        surface *= self.exaggeration
        return surface


def above_ground(camera: Camera, *grounds: Ground) -> Camera:
    """The camera lifted out of ground and water if needed, looking at the same target."""
    eye = camera.position
    return lifted(camera, max(ground.lowest_eye(eye.x, eye.z) for ground in grounds))


def opening_over(ground: Ground, parameters: CameraParameters, aspect: float = OPENING_ASPECT) -> Camera:
    """The camera that a scene opens with. It looks at the surface: that of the water where its target lies under it."""
    east, south = parameters.target_east * ground.east, parameters.target_south * ground.south
    shape = ground.rows, ground.columns, ground.cell_size
    return opening_camera(parameters, *shape, ground.level(east, south), aspect)
