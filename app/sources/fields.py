"""Evaluation of fields: expressions of the land for all cells, or coarse for a preview."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.field_parameters import FIELD_LAYERS, FIELDS, read_field
from app.model.layers import LAYERS, LOOSE
from app.model.snapshot import Snapshot
from app.model.world import LARGEST_SIDE, World
from app.sources.terrain import find_terrain
from kernels.standing import DRY

Values = NDArray[np.float64]

PICTURE_SIDE = LARGEST_SIDE // 2  # cells to which larger pictures are reduced
PREVIEW_SIDE = 72  # cells, of the longer side
STRONG_STREAM = 0.5  # frequency of drops from which a cell counts as water

METRES_OF_CURVATURE = 1000.0  # the unit of curvature is one over a kilometre
KINDS_TOLD = 16  # kinds that a snapshot can encode in a number

OCTAVES = 5  # octaves of noise, each half as long and strong as the one before
MOST_CELLS = 1e9  # cells of noise across a map: positions beyond it have no fractional bits
_DIRECTIONS: NDArray[np.float64] = np.array(
    [(1, 0), (0, 1), (-1, 0), (0, -1), *((x * math.sqrt(0.5), y * math.sqrt(0.5)) for x in (1, -1) for y in (1, -1))]
)


@dataclass(frozen=True)
class LandVariables:
    """Variables of a land for expressions, [row, column]: lengths in metres, all else as in layers."""

    height: Values
    cell_size: float
    layers: Mapping[str, NDArray[Any]]  # available layers
    water_depth: Values
    kinds: NDArray[Any] | None = None  # of a snapshot, see `kernels.materials.commonest_kinds`

    @classmethod
    def of_world(cls, world: World) -> LandVariables:
        """The levels of its lakes and sea must be up to date."""
        depth = np.where(world.standing != DRY, np.maximum(world.water_level - world.ground, 0.0), 0.0)
        return cls(world.ground, world.cell_size, {**world.layers, "sediment": world.loose}, depth)

    @classmethod
    def of_snapshot(cls, snapshot: Snapshot, side: int = PREVIEW_SIDE) -> LandVariables:
        """At low resolution: the middle cell of each block."""
        step = max(1, math.ceil(max(snapshot.shape) / side))
        cells = np.s_[step // 2 :: step, step // 2 :: step]
        ground = np.ascontiguousarray(snapshot.ground(cells, np.float64))
        water = snapshot.layers.get("water")
        depth = np.zeros(ground.shape) if water is None else water[cells].astype(np.float64)
        layers = {name: layer[cells] for name, layer in snapshot.layers.items() if name in LAYERS}
        kinds = snapshot.layers.get("loose_kinds")
        return cls(ground, snapshot.cell_size * step, layers, depth, None if kinds is None else kinds[cells])

    def variable(self, name: str) -> Values:
        """One of `VARIABLES` in each cell."""
        rows, columns = self.height.shape
        south, east = (np.arange(rows) + 0.5)[:, None], (np.arange(columns) + 0.5)[None, :]
        match name:
            case "height":
                return self.height
            case "slope":
                fall = [np.gradient(self.height, self.cell_size, axis=axis) for axis in (0, 1)]
                return np.asarray(np.degrees(np.arctan(np.hypot(*fall))))
            case "curvature":
                south, east = (np.gradient(self.height, self.cell_size, axis=axis) for axis in (0, 1))
                bends = np.gradient(south, self.cell_size, axis=0) + np.gradient(east, self.cell_size, axis=1)
                return np.asarray(METRES_OF_CURVATURE * bends)
            case "kind":
                return self._kind()
            case "flow":
                name = "discharge"
            case "water_depth":
                return self.water_depth
            case "water_distance":
                return self._water_distance()
            case "x":
                return np.broadcast_to(east / columns, self.height.shape)
            case "y":
                return np.broadcast_to(south / rows, self.height.shape)
            case "east":
                return np.broadcast_to(east * self.cell_size, self.height.shape)
            case "south":
                return np.broadcast_to(south * self.cell_size, self.height.shape)
        layer = self.layers.get(name)
        return np.zeros(self.height.shape) if layer is None else layer.astype(np.float64)

    def _kind(self) -> Values:
        """The commonest loose kind, from the layers of a world or the encoded kinds of a snapshot."""
        loose = [layer for name, layer in self.layers.items() if name.startswith(LOOSE)]
        if loose:
            kinds = np.argmax(np.stack(loose), axis=0)
        elif self.kinds is not None:
            kinds = self.kinds.astype(np.int64) % KINDS_TOLD
        else:
            kinds = np.zeros(self.height.shape, np.int64)
        return np.where(self.layers["sediment"] > 0.0, kinds, -1).astype(np.float64)

    def _water_distance(self) -> Values:
        water = self.water_depth > 0.0
        if "stream" in self.layers:
            water |= self.layers["stream"] > STRONG_STREAM
        return distance_to(water) * self.cell_size

    def noise(self, metres: Values, seed: Values) -> Values:
        """Fractal gradient noise from 0 to 1 with mean 0.5 and a largest wavelength of `metres`."""
        if metres.ndim or seed.ndim:
            raise UserError("noise: metres and seed must be numbers, the same in all cells")
        if not metres > 0.0 or not seed == np.floor(seed) or not 0.0 <= seed < 2.0**31:
            raise UserError(f"noise({metres:g}, {seed:g}): must be more than 0 m, and a whole number from 0 on")
        if not max(self.height.shape) * self.cell_size / metres < MOST_CELLS:
            raise UserError(f"noise({metres:g}, {seed:g}): metres must be more")
        y, x = self.variable("south") / metres, self.variable("east") / metres
        total, weight = np.zeros(self.height.shape), 0.0
        for octave in range(OCTAVES):
            part = 0.5**octave
            total += part * _gradient_noise(x / part, y / part, int(seed) * OCTAVES + octave)
            weight += part
        return np.clip(0.5 + 0.75 * total / weight, 0.0, 1.0)

    def image(self, name: str) -> Values:
        """A picture or heightmap, stretched over the map: 0 at its darkest or lowest, 1 at its brightest or highest."""
        from app.sources.heightmap import resample

        return resample(picture(find_terrain(name)), *self.height.shape)

    def value(self, text: str) -> Values | None:
        """The value of a field expression, clamped to 0 to `largest`; None if the text is empty.

        Raises `UserError` if the text is invalid or its value is not finite.
        """
        expression = read_field(text)
        if expression is None:
            return None
        found = expression.value(self.variable, {"noise": self.noise, "image": self.image})
        found = np.array(np.broadcast_to(found, self.height.shape))
        if not np.isfinite(found).all():
            row, column = np.argwhere(~np.isfinite(found))[0]
            raise UserError(
                f"'{text}' is not a finite number at row {row}, column {column}: it divides by 0, say, or takes the "
                "root or the log of what is below it"
            )
        return found


def field_values(world: World, name: str, text: str) -> NDArray[np.float32] | None:
    """The values of a field on a world, within the bounds of its layer; None if the text is empty.

    The levels of lakes and sea must be up to date. Raises `UserError`.
    """
    return field_on(LandVariables.of_world(world), name, text)


def preview(snapshot: Snapshot, path: str, text: str) -> NDArray[np.float32]:
    """The values of a parameter's expression on the land of a snapshot at low resolution, [row, column].

    Values of a field are within the bounds of its layer. Raises `UserError`.
    """
    land, group, name = LandVariables.of_snapshot(snapshot), *path.split(".")
    values = field_on(land, name, text or "1") if group == FIELDS else values_on(land, path, text or "0")
    assert values is not None
    return values.astype(np.float32)


def field_on(land: LandVariables, name: str, text: str) -> NDArray[np.float32] | None:
    """The values of a field on a land, within the bounds of its layer; None if the text is empty."""
    values = values_on(land, f"{FIELDS}.{name}", text)
    return None if values is None else np.clip(values, *LAYERS[FIELD_LAYERS[name]].bounds).astype(np.float32)


def values_on(land: LandVariables, path: str, text: str) -> Values | None:
    """The values of the expression of a parameter on a land; None if the text is empty.

    Raises `UserError`, which names the parameter by its `path`.
    """
    try:
        return land.value(text)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def distance_to(places: NDArray[np.bool_]) -> Values:
    """Distance of each cell to the nearest marked one, in cells; without any, the size of the map.

    By jump flooding (Rong, Tan 2006), with one more round of step 1 before: exact in all but a few cells.
    """
    rows, columns = places.shape
    far = math.hypot(rows, columns)
    if not places.any():
        return np.full(places.shape, far)
    south, east = np.meshgrid(np.arange(float(rows)), np.arange(float(columns)), indexing="ij")
    nearest_south, nearest_east = (np.where(places, position, np.inf) for position in (south, east))
    steps = [1, *(2**power for power in reversed(range(max(rows, columns).bit_length())))]
    best = np.where(places, 0.0, np.inf)
    for step in steps:
        for down, right in ((i, j) for i in (-step, 0, step) for j in (-step, 0, step) if i or j):
            here = np.s_[max(0, -down) : rows - max(0, down), max(0, -right) : columns - max(0, right)]
            there = np.s_[max(0, down) : rows - max(0, -down), max(0, right) : columns - max(0, -right)]
            if abs(down) >= rows or abs(right) >= columns:
                continue
            found_south, found_east = nearest_south[there], nearest_east[there]
            with np.errstate(invalid="ignore"):
                distance = np.asarray(np.hypot(found_south - south[here], found_east - east[here]))
            nearer = distance < best[here]
            best[here][nearer] = distance[nearer]
            nearest_south[here][nearer] = found_south[nearer]
            nearest_east[here][nearer] = found_east[nearer]
    return best


def _gradient_noise(x: Values, y: Values, seed: int) -> Values:
    """Perlin noise (2002) at positions [row, column], from about −0.7 to 0.7."""
    column, row = np.floor(x), np.floor(y)
    along, down = x - column, y - row
    corners = {}
    for i in (0, 1):
        for j in (0, 1):
            direction = _hash(row + i, column + j, seed) % len(_DIRECTIONS)
            corners[i, j] = _DIRECTIONS[direction, 0] * (along - j) + _DIRECTIONS[direction, 1] * (down - i)
    fade_along, fade_down = (part**3 * (part * (6.0 * part - 15.0) + 10.0) for part in (along, down))
    north = corners[0, 0] + fade_along * (corners[0, 1] - corners[0, 0])
    south = corners[1, 0] + fade_along * (corners[1, 1] - corners[1, 0])
    return np.asarray(north + fade_down * (south - north))


def _hash(row: Values, column: Values, seed: int) -> NDArray[np.intp]:
    """A random number for each corner of a grid."""
    from kernels.random import mix_all  # Numba, which is not loaded before it is needed

    word = row.astype(np.int64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word ^= column.astype(np.int64).astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    word ^= np.uint64((seed + 1) * 0x165667B19E3779F9 % 2**64)
    return (mix_all(word) >> np.uint64(40)).astype(np.intp)


def picture(path: Path) -> Values:
    """A picture or heightmap from 0 to 1, read from its file. Raises `UserError` if it cannot be read."""
    return _picture(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _picture(path: Path, changed: int) -> Values:
    """A picture from 0 to 1, cached until its file changes."""
    from app.sources.heightmap import read_heightmap

    elevation = read_heightmap(path, wanted=PICTURE_SIDE).elevation
    lowest, highest = float(elevation.min()), float(elevation.max())
    if not highest > lowest:
        raise UserError(f"{path}: all of one shade; a picture must have darker and lighter places")
    return np.asarray((elevation - lowest) / (highest - lowest))
