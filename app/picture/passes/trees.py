"""Trees: lit bodies near the camera, points farther away, and beyond a colour of the ground."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.plants import Flora
from app.model.snapshot import Snapshot
from app.picture.passes import tree_shapes
from app.picture.passes.channels import Channels
from app.picture.passes.climate_woods import ClimateWoods, climate_flora, climate_trees, kept_land
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
LITTLE = 0.002  # part of the trees of the climate that may differ from those that are drawn, which stay then
# Metres in a texel of the map of shadows, over which woods of the climate cast them one by one: less and less, as over
# more they are too many, and each too small.
SHADED_WIDE = (0.64, 0.88)
MOST_UNDERSTORY = 3.0  # undrawn over drawn crown area, at most
INSTANCE = ("2f 3f 4f", "cell", "growth", "foliage")  # a row of Forest.trees


class _Woods(NamedTuple):
    """What trees of the climate were grown from, and the forest."""

    trees: tuple[int, int]  # world and version
    woods: ClimateWoods
    channels: int  # their version
    forest: Forest


class Trees:
    """The trees of a snapshot, and their shadows.

    Those of the climate grow in a thread, as they are many and follow from the whole map: no picture waits for them.
    """

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
        self._grower: ThreadPoolExecutor | None = None
        self._growing: Future[_Woods] | None = None
        self._grown: _Woods | None = None  # the last: they are there at once where they are drawn again
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
        if self._wanted_woods is not None:
            of_woods = self._wanted_trees(latest), self._wanted_woods, self._wanted_channels
            return of_woods == (self._shown, self._woods, self._channels)
        shown = self._shown, self._flora, self._run_up, self._climate, self._channels, self._woods
        wanted = latest.flora, self._wanted_run_up, self._wanted_climate, self._wanted_channels, None
        return shown == (self._wanted_trees(latest), *wanted)

    @property
    def are_of_climate(self) -> bool:
        """Whether the drawn trees follow from the climate."""
        return self._woods is not None

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
        if woods is not None:
            self._update_woods(latest, woods, channels, at_once=at_once)
            return
        same_world = self._shown is not None and self._shown[0] == latest.world and self.forest is not None
        if same_world and self._woods is None and self._age < PATIENCE and not at_once:
            return
        self._shown, self._flora, self._age, self._woods = self._wanted_trees(latest), latest.flora, 0, None
        self._run_up, self._climate, self._channels = run_up, climate, self._wanted_channels
        shore = self._shore
        keep_off: list[Callable[[NDArray[np.float32]], NDArray[np.bool_]]] = []
        if shore is not None and run_up is not None:
            keep_off.append(partial(shore.swept, run_up=run_up))
        if channels is not None and channels.any:
            keep_off.append(channels.cover)
        reference = (latest.reference_cell_size or latest.cell_size) / latest.cell_size
        self._draw_forest(
            Forest(
                latest.trees,
                latest.flora,
                latest.shape,
                latest.cell_size,
                self._heights,
                keep_off,
                partial(temperature_at, latest, *climate),
                reference,
            )
        )

    def _draw_forest(self, forest: Forest) -> None:
        self.forest = forest if len(forest.trees) else None
        self._all_trees.write(forest.trees)

    def _update_woods(self, latest: Snapshot, woods: ClimateWoods, channels: Channels | None, *, at_once: bool) -> None:
        """Draw the trees of the climate that have grown, and let others grow where they are wanted."""
        self._note_ground(latest)
        wanted = self._wanted_trees(latest), woods, self._wanted_channels
        if at_once:
            if self._grown is None or self._grown[:3] != wanted:
                self._grown = _grow(latest, channels, *wanted)
            self._draw_woods(self._grown)
            return
        if self._growing is not None and self._growing.done():
            self._grown, self._growing = self._growing.result(), None
        grown = self._grown
        if grown is None or grown.trees[0] != latest.world:
            grown = self._grown = None
            self.forest = self._shown = None
        elif (self._shown, self._woods, self._channels) != grown[:3]:
            self._draw_woods(grown)
        follows = grown is not None and grown.woods == woods
        if self._growing is not None or self._are_latest or (follows and self._age < PATIENCE_OF_WOODS):
            return
        if self._grower is None:
            self._grower = ThreadPoolExecutor(1, "woods")
        streams = copy.copy(channels)  # which replaces its arrays, and changes none
        self._growing = self._grower.submit(_grow, kept_land(latest), streams, *wanted, before=grown)
        self._age = 0

    def _draw_woods(self, grown: _Woods) -> None:
        self._shown, self._woods, self._channels, forest = grown
        if forest is not self.forest:
            self._draw_forest(forest)
        forest.take_heights(self._heights)

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
        wide = 0.0
        if selected is not None and self._woods is not None:
            wide = math.dist(selected.low[[0, 2]], selected.high[[0, 2]]) / quality.tree_shadow
        kept = min(max((SHADED_WIDE[1] - wide) / (SHADED_WIDE[1] - SHADED_WIDE[0]), 0.0), 1.0)
        if selected is None or self.forest is None or self._shown is None or self._ground is None or kept == 0.0:
            self.shadows.clear()
            return
        number = (self.forest.number,)
        self.shadows.begin(
            self.forest, selected, sun, quality, view, number, self._ground, strength=kept, at_once=at_once
        )

    def release(self) -> None:
        if self._grower is not None:
            self._grower.shutdown(wait=False, cancel_futures=True)
        self._all_trees.release()
        self.shadows.release()


def _grow(
    land: Snapshot,
    channels: Channels | None,
    trees: tuple[int, int],
    woods: ClimateWoods,
    streams: int,
    *,
    before: _Woods | None = None,
) -> _Woods:
    """The trees of the climate; they are those `before` if nearly all stay as they are."""
    forest = Forest(
        climate_trees(land, woods),
        climate_flora(),
        land.shape,
        land.cell_size,
        block_heights(land),
        [channels.cover] if channels is not None and channels.any else [],
        reference=(land.reference_cell_size or land.cell_size) / land.cell_size,
        in_groves=False,
    )
    if before is not None and forest.part_beside(before.forest) < LITTLE:
        forest = before.forest
    return _Woods(trees, woods, streams, forest)


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
