"""Trees: lit bodies near the camera, points farther away, and beyond a colour of the ground."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.plants import Flora
from app.model.snapshot import Snapshot
from app.picture.passes import tree_shapes
from app.picture.passes.channels import Channels
from app.picture.passes.climate_woods import ClimateWoods, climate_flora, climate_trees
from app.picture.passes.forest import Forest, Selection, TreeView, block_heights
from app.picture.passes.geometry import Geometry
from app.picture.passes.ground_cover import GroundCover
from app.picture.passes.quality import Quality
from app.picture.passes.shaders import Uniform
from app.picture.passes.swash import SeaShore
from app.picture.passes.targets import GrowingBuffer, release_all
from app.picture.passes.tree_shadows import TreeShadows
from app.picture.passes.tree_shapes import CROWN_BASE, CROWN_RADIUS, Shape
from app.picture.passes.waves import RunUp

PATIENCE = 24  # frames between updates of growing trees
PATIENCE_OF_WOODS = 96  # and of those that follow from the ground, which hardly changes meanwhile
WIDEST_SHADED = 900.0  # metres, over which woods of the climate cast shadows one by one; over more they are too many
MOST_UNDERSTORY = 3.0  # undrawn over drawn crown area, at most
INSTANCE = ("2f 3f 4f", "cell", "growth", "foliage")  # a row of Forest.trees


class Trees:
    """The trees of a snapshot, and their shadows."""

    def __init__(self, context: moderngl.Context) -> None:
        self._all_trees = GrowingBuffer(context)
        self.vertices = (self._all_trees.buffer, *INSTANCE)  # all of them, one for each vertex
        self.geometry = Geometry([self.vertices])
        self._latest: Snapshot | None = None
        self._shown: tuple[int, int] | None = None  # world and version of the trees
        self._shore: SeaShore | None = None  # shore of the latest trees
        self._run_up: RunUp | None = None  # of the waves there, as the trees are drawn
        self._wanted_run_up: RunUp | None = None
        self._flora: Flora | None = None  # of the drawn trees
        self._climate: tuple[float, float] | None = None  # where the trees are drawn
        self._wanted_climate: tuple[float, float] | None = None
        self._channels = self._wanted_channels = 0  # their version, where the trees are drawn
        self._woods: ClimateWoods | None = None  # where the trees are drawn
        self._wanted_woods: ClimateWoods | None = None
        self._ground: tuple[int, ...] | None = None
        self._heights = np.empty((0, 2), np.float32)
        self._age = 0  # frames since the trees were uploaded
        self.forest: Forest | None = None
        self._cover: GroundCover | None = None
        self.shadows = TreeShadows(context)

    @property
    def settled(self) -> bool:
        """Whether the drawn trees are those of the snapshot, and their shadows those on its ground."""
        return self._are_latest and self.shadows.is_settled

    @property
    def _are_latest(self) -> bool:
        latest = self._latest
        if latest is None:
            return True
        shown = self._shown, self._flora, self._run_up, self._climate, self._channels, self._woods
        wanted = latest.flora, self._wanted_run_up, self._wanted_climate, self._wanted_channels, self._wanted_woods
        return shown == (self._wanted_trees(latest), *wanted)

    def _wanted_trees(self, snapshot: Snapshot) -> tuple[int, int]:
        """World and version of the trees of a snapshot; those of the climate follow from its ground."""
        by_climate = self._wanted_woods is not None
        return snapshot.world, snapshot.ground_version if by_climate else snapshot.trees_version

    @property
    def cover(self) -> GroundCover | None:
        """Undergrowth of the snapshot, computed on demand."""
        self._cover = (
            None
            if self._latest is None
            else GroundCover.of(self._latest, self._cover, self._shore, self._run_up, self.forest)
        )
        return self._cover

    def show(self, snapshot: Snapshot) -> None:
        """Set the trees of a snapshot, with their ground and shore."""
        before = self._latest
        self._latest = snapshot
        if before is None or (before.world, before.trees_version) != (snapshot.world, snapshot.trees_version):
            self._shore = SeaShore.of(snapshot) if len(snapshot.trees) else None
        if len(snapshot.trees) or self._woods is not None:
            self._note_ground(snapshot)

    def _note_ground(self, snapshot: Snapshot) -> None:
        ground = (snapshot.world, snapshot.ground_version)
        if ground != self._ground:
            self._ground, self._heights = ground, block_heights(snapshot)
            if self.forest is not None and self._shown is not None and self._shown[0] == snapshot.world:
                self.forest.take_heights(self._heights)

    def update(
        self,
        run_up: RunUp | None,
        weather: Weather,
        channels: Channels | None = None,
        woods: ClimateWoods | None = None,
        *,
        at_once: bool,
    ) -> None:
        """Upload changed trees: new ones now, growing ones from time to time, or `at_once`.

        None of them is seen where the sea runs up its beaches nor in the `channels` of streams, and they are low where
        it is cold all year. Where no plants are simulated, they are the `woods` of the climate.
        """
        self._age += 1
        self._wanted_woods = woods
        self._wanted_run_up = run_up
        self._wanted_channels = channels.version if channels is not None else 0
        self._wanted_climate = climate = weather.mean_temperature, weather.lapse_rate
        latest = self._latest
        if latest is None or self._are_latest:
            return
        same_world = self._shown is not None and self._shown[0] == latest.world and self.forest is not None
        if same_world and self._age < (PATIENCE if woods is None else PATIENCE_OF_WOODS) and not at_once:
            return
        self._shown, self._flora, self._age, self._woods = self._wanted_trees(latest), latest.flora, 0, woods
        self._run_up, self._climate, self._channels = run_up, climate, self._wanted_channels
        self.forest = None
        shore = self._shore
        keep_off: list[Callable[[NDArray[np.float32]], NDArray[np.bool_]]] = []
        if shore is not None and run_up is not None:
            keep_off.append(partial(shore.swept, run_up=run_up))
        if channels is not None and channels.any:
            keep_off.append(channels.cover)
        if woods is None:
            grown, temperature = (latest.trees, latest.flora), partial(temperature_at, latest, *climate)
        else:
            self._note_ground(latest)
            grown, temperature = (climate_trees(latest, woods), climate_flora()), None
        reference = (latest.reference_cell_size or latest.cell_size) / latest.cell_size
        forest = Forest(
            *grown,
            latest.shape,
            latest.cell_size,
            self._heights,
            keep_off,
            temperature,
            reference,
            in_groves=woods is None,
        )
        if len(forest.trees):
            self.forest = forest
            self._all_trees.write(forest.trees)

    def cast_shadows(
        self,
        selected: Selection | None,
        sun: NDArray[np.float64],
        quality: Quality,
        view: TreeView,
        *,
        at_once: bool,
    ) -> None:
        """Choose the trees that cast shadows around the selected bodies, if that has changed."""
        too_wide = (
            selected is not None
            and self._woods is not None
            and math.dist(selected.low[[0, 2]], selected.high[[0, 2]]) > WIDEST_SHADED
        )
        if selected is None or self.forest is None or self._shown is None or self._ground is None or too_wide:
            self.shadows.clear()
            return
        self.shadows.begin(self.forest, selected, sun, quality, view, self._shown, self._ground, at_once=at_once)

    def release(self) -> None:
        self._all_trees.release()
        self.shadows.release()


def temperature_at(
    snapshot: Snapshot, at_zero: float, lapse_rate: float, places: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The annual mean temperature in °C at positions `[position, (row, column)]`; `at_zero` at a height of 0."""
    last = np.array(snapshot.shape) - 1
    row, column = np.minimum(places.astype(np.intp), last).T
    return np.float32(at_zero) - np.float32(lapse_rate) * snapshot.ground((row, column))


def tree_uniforms(view: TreeView) -> dict[str, Uniform]:
    """Uniforms of tree.glsl."""
    return {
        "mesh_reach": view.mesh_reach,
        "crown_radius": CROWN_RADIUS,
        "crown_base": CROWN_BASE,
        "scale": (view.height, view.focal_length, view.winter),
    }


def leaf_uniforms(forest: Forest | None, tree_size: float) -> dict[str, Uniform]:
    """What canopy.glsl reads of the colours of leaves, and of the crowns that are not drawn; `tree_size` as in
    `ViewParameters`.
    """
    if forest is None:
        return {"conifer_leaves": (0.0,) * 4, "other_leaves": (0.0,) * 4, "understory": (0.0,) * 2}
    conifers, others = (tuple(map(float, leaves)) for leaves in forest.leaves)
    left = np.clip(forest.simulated_cover / tree_size**2 - 1.0, 0.0, MOST_UNDERSTORY)
    return {"conifer_leaves": conifers, "other_leaves": others, "understory": tuple(map(float, left))}


class Bodies:
    """Many trees of one shape."""

    def __init__(self, context: moderngl.Context, shape: Shape) -> None:
        self._vertices = context.buffer(shape.vertices.tobytes())
        self._triangles = context.buffer(shape.triangles.tobytes())
        self.trees = GrowingBuffer(context)
        self.geometry = Geometry(
            [(self._vertices, *tree_shapes.ATTRIBUTES), (self.trees.buffer, INSTANCE[0] + "/i", *INSTANCE[1:])],
            self._triangles,
        )

    def release(self) -> None:
        release_all(self._vertices, self._triangles, self.trees)
