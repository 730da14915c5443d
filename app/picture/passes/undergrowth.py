"""Tufts of grass, reeds and bushes near the eye: each where the simulation has grass, and as dense as that; and what
grows under trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.camera import Camera
from app.picture.passes import tree_shapes
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.forest import VARIANTS, TreeView, chance, grove_noise, variants_of
from app.picture.passes.ground_cover import GroundCover
from app.picture.passes.targets import release_all
from app.picture.passes.tree_shapes import Shape
from app.picture.passes.trees import Bodies

Values = NDArray[np.float64]

STEP = 4.0  # cells of movement before plants are selected again
GROUP = 0.32  # width of a group, cells
# Bushes and young trees stand in thickets, with clearings between them: how wide, as a part of groves; how many in
# both, beside their mean; and where both are, in a noise from 0 to 1.
THICKETS_WIDE = 0.4
IN_CLEARINGS, IN_THICKETS = 0.15, 2.1
THICKETS_BETWEEN = (0.42, 0.62)
# Darker than grass from above, see ground.glsl, as one looks into it
STRAW, MEADOW, RANK = (0.138, 0.118, 0.064), (0.088, 0.096, 0.036), (0.046, 0.062, 0.024)
BUSH = (0.070, 0.088, 0.034)
THICKET, SAPLING = (0.052, 0.070, 0.026), (0.056, 0.076, 0.028)


class Plant(NamedTuple):
    """A kind of undergrowth."""

    shape: Callable[[int], Shape]  # by the number of its form
    height: float  # relative to a full-grown tree's
    slots: int  # places for one in a cell
    pixels: float  # least height in the picture
    cover: Callable[[Values, Values, Values], Values]  # fraction of occupied slots, from grass, wetness and wood
    colour: tuple[float, float, float] | None = None  # without one, that of grass
    together: int = 1  # slots of a group

    @property
    def woody(self) -> bool:
        return self.colour is not None


def _tufts(grass: Values, wet: Values, wood: Values) -> Values:
    return grass * (1.0 - _sodden(wet))


def _reeds(grass: Values, wet: Values, wood: Values) -> Values:
    return np.sqrt(grass) * _sodden(wet)


def _bushes(grass: Values, wet: Values, wood: Values) -> Values:
    return 0.30 * np.clip(2.0 * grass - 0.5, 0.0, 1.0) * (1.0 - _sodden(wet))


def _thicket(grass: Values, wet: Values, wood: Values) -> Values:
    return 0.75 * wood * (1.0 - _sodden(wet))


def _saplings(grass: Values, wet: Values, wood: Values) -> Values:
    return 0.45 * wood * (1.0 - _sodden(wet))


def _sodden(wet: Values) -> Values:
    return np.clip(4.0 * wet - 2.8, 0.0, 1.0)


PLANTS = (
    Plant(tree_shapes.tuft, 0.045, 30, 4.5, _tufts, together=6),
    Plant(tree_shapes.reeds, 0.11, 15, 6.0, _reeds, together=5),
    Plant(tree_shapes.middle_shrub, 0.13, 1, 8.0, _bushes, BUSH),
    Plant(tree_shapes.middle_shrub, 0.18, 6, 5.0, _thicket, THICKET),
    Plant(tree_shapes.sapling, 0.32, 2, 6.0, _saplings, SAPLING),
)


def undergrowth(cover: GroundCover, plant: Plant, east_south: tuple[float, float], reach: float) -> NDArray[np.float32]:
    """The plants of a sort around a place (column, row) up to `reach` cells from it, as `Forest.trees` has trees.

    Where one stands follows from its cell and slot alone. It is smaller where the cover hardly suffices for it, so that
    none comes or goes at once.
    """
    rows, columns = cover.grass.shape
    low = np.maximum(np.floor(np.array(east_south)[::-1] - reach), 0).astype(int)
    high = np.minimum(np.ceil(np.array(east_south)[::-1] + reach), (rows, columns)).astype(int)
    if (high <= low).any():
        return np.empty((0, 9), np.float32)
    area = np.s_[low[0] : high[0], low[1] : high[1]]
    wet = cover.wetness[area].astype(float)
    taken = plant.cover(cover.grass[area].astype(float), wet, cover.wood[area].astype(float))
    if plant.woody:
        begin, end = THICKETS_BETWEEN
        part = np.clip((grove_noise((rows, columns), THICKETS_WIDE)[area] - begin) / (end - begin), 0.0, 1.0)
        taken = taken * (IN_CLEARINGS + (IN_THICKETS - IN_CLEARINGS) * part)
    cells = np.stack(np.meshgrid(*map(np.arange, low, high), indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    drawn = []
    for slot in range(plant.slots):
        room = np.clip(4.0 * (taken.ravel() - chance(cells, 3.0 * slot + 0.7)), 0.0, 1.0)
        chosen = room > 0.0
        at, which = cells[chosen], 3.0 * slot + plant.height
        place = at + np.stack([chance(at, which + 1.1), chance(at, which + 2.3)], axis=1)
        if plant.together > 1:
            group = 3.0 * (slot // plant.together) + plant.height
            middle = np.stack([chance(at, group + 5.9), chance(at, group + 7.3)], axis=1)
            place = at + GROUP * (place - at) + (1.0 - GROUP) * middle
        size = plant.height * (0.65 + 0.7 * chance(at, which + 3.7)) * (0.35 + 0.65 * room[chosen])
        ones = np.ones(len(at))
        looks = np.column_stack([_colours(plant, wet.ravel()[chosen]), np.zeros(len(at))])
        drawn.append(np.column_stack([place[:, ::-1], tree_shapes.SHRUB * ones, size, ones, looks]))
    return np.concatenate(drawn).astype(np.float32)


def _colours(plant: Plant, wet: Values) -> Values:
    if plant.colour is not None:
        return np.tile(plant.colour, (len(wet), 1))
    part = np.clip(np.stack([(0.9 * wet - 0.05) / 0.4, (wet - 0.6) / 0.4], axis=1), 0.0, 1.0)
    dry = np.array(STRAW) + part[:, :1] * (np.array(MEADOW) - STRAW)
    return np.asarray(dry + 0.7 * part[:, 1:] * (RANK - dry))


def in_wedge(plants: NDArray[np.float32], camera: Camera, aspect: float, cell_size: float) -> NDArray[np.bool_]:
    """A conservative test on the map of which may be visible from a camera."""
    eye = camera.position
    away = plants[:, :2] * cell_size - (eye.x, eye.z)
    heading = math.radians(camera.heading)
    ahead = away @ (math.sin(heading), -math.cos(heading))
    aside = np.abs(away @ (math.cos(heading), math.sin(heading)))
    wide = 1.15 * aspect * math.tan(math.radians(camera.field_of_view) / 2.0)
    near = aside <= wide * np.hypot(ahead, eye.y - camera.target.y) + 2.0 * cell_size
    return near & ((ahead > -2.0 * cell_size) | (camera.pitch + 0.5 * camera.field_of_view > 80.0))


class UndergrowthMesh:
    """The undergrowth near the camera, as bodies like those of trees."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._bodies: dict[tuple[int, int], Bodies] = {}  # by the sort and its form
        self._found: dict[int, tuple[object, NDArray[np.float32]]] = {}  # by sort: their inputs, and they

    def parts(self, frame: Frame) -> Iterable[Part]:
        cover = frame.trees.cover
        if cover is None:
            return
        cell_size, view = frame.snapshot.cell_size, frame.tree_view
        for number, plant in enumerate(PLANTS):
            reach = reach_of(plant, view)
            if frame.camera.position.y - frame.camera.target.y > reach:
                continue
            plants = self._near(number, cover, frame.camera, reach / cell_size + STEP, cell_size)
            plants = plants[in_wedge(plants, frame.camera, frame.aspect, cell_size)]
            forms = variants_of(plants)
            for form in range(VARIANTS):
                alike = plants[forms == form]
                if not len(alike):
                    continue
                if (number, form) not in self._bodies:
                    self._bodies[number, form] = Bodies(self._context, plant.shape(form))
                bodies = self._bodies[number, form]
                bodies.trees.write(alike)
                yield Part(bodies.geometry, instances=len(alike), uniforms={"limits": (0.0, plant.pixels)})

    def _near(
        self, number: int, cover: GroundCover, camera: Camera, reach: float, cell_size: float
    ) -> NDArray[np.float32]:
        eye = camera.position
        middle = tuple(float(round(place / cell_size / STEP) * STEP) for place in (eye.x, eye.z))
        wanted = cover.key, middle, reach
        known = self._found.get(number)
        if known is None or known[0] != wanted:
            found = undergrowth(cover, PLANTS[number], (middle[0], middle[1]), reach)
            known = self._found[number] = wanted, found
        return known[1]

    def release(self) -> None:
        release_all(*self._bodies.values())


def reach_of(plant: Plant, view: TreeView) -> float:
    """The distance in metres at which the largest of a kind has its least height in the picture."""
    return 1.35 * plant.height * view.tallest * view.focal_length / (0.9 * plant.pixels)
