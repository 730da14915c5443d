"""The table of passes, in drawing order."""

from __future__ import annotations

from app.picture.passes.backdrop import BackdropMesh, CloudsOfSky
from app.picture.passes.beach import BeachMesh
from app.picture.passes.declaration import Blending, Frame, Pass
from app.picture.passes.fall_meshes import FallMesh, PoolMesh, SprayMesh
from app.picture.passes.lit_land import LitLand
from app.picture.passes.mesh import GroundMesh, MapMesh
from app.picture.passes.rain import Raindrops, RainShafts, with_rain
from app.picture.passes.storm_front import StormFront
from app.picture.passes.streams import StreamsMesh
from app.picture.passes.tiles import GroundTiles
from app.picture.passes.tree_meshes import TreeBodies, TreeCasters, TreePoints
from app.picture.passes.undergrowth import UndergrowthMesh
from app.picture.passes.walls import WallsMesh
from app.picture.passes.water import LakeSides, LakesMesh, PuddleSides, PuddlesMesh, RunningMesh, SeaMesh
from app.picture.passes.waves import NATURAL

# These shaders always support dust, so that a storm does not wait for the compilation of another variant.
ANY_AIR = {"STORM": 2}
WATER = {"DESERT": 0, "MARKS": 1, "DETAIL_SCALES": 1}  # for the reflected land


def deferred(frame: Frame) -> bool:
    """Whether the ground is shaded deferred: once per pixel, after its mesh."""
    return frame.quality.deferred


def not_deferred(frame: Frame) -> bool:
    return not frame.quality.deferred


def with_streams(frame: Frame) -> bool:
    """Whether streams are drawn over the ground: a deferred ground includes them."""
    return frame.smallest_stream is not None and not frame.quality.deferred


def with_falls(frame: Frame) -> bool:
    """Whether falls are drawn; overlays hide them."""
    return frame.falls.any and not frame.defines["OVERLAY"]


def with_free_falls(frame: Frame) -> bool:
    """Whether falls are drawn that have spray and a pool."""
    return frame.falls.any_free and not frame.defines["OVERLAY"]


def with_beach(frame: Frame) -> bool:
    """Whether beaches are drawn over the ground: a deferred ground may include them."""
    return frame.waves == NATURAL and not frame.ground_has_beach


def with_storm_front(frame: Frame) -> bool:
    """Whether the front of a dust storm is drawn, which lower levels of quality omit."""
    return frame.defines["STORM"] == 1 and not frame.quality.deferred


def with_trees(frame: Frame) -> bool:
    return frame.selected_trees is not None


def with_undergrowth(frame: Frame) -> bool:
    """Whether undergrowth is drawn; overlays hide it."""
    return frame.quality.undergrowth and not frame.defines["OVERLAY"] and frame.trees.cover is not None


def shadows_have_changed(frame: Frame) -> bool:
    return frame.trees.shadows.casters is not None


def bounce_has_changed(frame: Frame) -> bool:
    return frame.bounce.band is not None


def with_deep_clouds(frame: Frame) -> bool:
    return frame.defines["CLOUDS"] > 1


def with_water(frame: Frame) -> bool:
    return frame.water.is_seen


# fmt: off
PASSES: tuple[Pass, ...] = (
    Pass("shadows of trees", "trees.vert", "nothing.frag", TreeCasters, when=shadows_have_changed,
        defines={"SHADOWS": 2} | ANY_AIR, target="tree shadows"),
    Pass("lit land", "fullscreen.vert", "lit_land.frag", LitLand, when=bounce_has_changed,
        defines={"DETAIL_SCALES": 1, "FINE_WATER": 0}, target="lit land"),
    Pass("places", "places.vert", "places.frag", MapMesh, when=deferred, target="places", culled=True),
    Pass("ground", "terrain.vert", "terrain.frag", GroundMesh, when=not_deferred, joined=True,
        culled=True),
    Pass("ground of pixels", "tiles.vert", "terrain.frag", GroundTiles, Blending.IN_PLACE, deferred, {"DEFERRED": 1},
        joined=True),
    Pass("walls", "walls.vert", "walls.frag", WallsMesh, defines=ANY_AIR),
    Pass("streams", "terrain.vert", "streams.frag", StreamsMesh, Blending.BY_COLOUR, with_streams, ANY_AIR,
        culled=True),
    Pass("beach", "terrain.vert", "beach.frag", BeachMesh, Blending.BY_COLOUR, with_beach, ANY_AIR),
    Pass("trees", "trees.vert", "trees.frag", TreeBodies, when=with_trees, defines=ANY_AIR, joined=True),
    Pass("undergrowth", "trees.vert", "trees.frag", UndergrowthMesh, when=with_undergrowth, defines=ANY_AIR,
        joined=True),
    Pass("trees far away", "tree_sprites.vert", "tree_sprites.frag", TreePoints, when=with_trees, defines=ANY_AIR),
    Pass("sea", "water.vert", "water.frag", SeaMesh, Blending.BY_COLOUR, with_water, WATER, joined=True),
    Pass("puddles", "water.vert", "water.frag", PuddlesMesh, Blending.BY_COLOUR, with_water, WATER, joined=True),
    Pass("their sides", "lake_sides.vert", "lake_sides.frag", PuddleSides, Blending.BY_COLOUR, with_water, joined=True),
    Pass("lakes", "water.vert", "water.frag", LakesMesh, Blending.BY_COLOUR, with_water, WATER, joined=True),
    Pass("their sides", "lake_sides.vert", "lake_sides.frag", LakeSides, Blending.BY_COLOUR, with_water, joined=True),
    Pass("running water", "water.vert", "water.frag", RunningMesh, Blending.BY_COLOUR, with_water, WATER, joined=True),
    Pass("clouds", "fullscreen.vert", "clouds.frag", CloudsOfSky, when=with_deep_clouds, defines={"CLOUD_STEPS": 26},
        target="clouds"),
    Pass("backdrop", "fullscreen.vert", "backdrop.frag", BackdropMesh),
    Pass("pools of falls", "plunge_pools.vert", "plunge_pools.frag", PoolMesh, Blending.VEIL, with_free_falls,
        {"STORM": 2}),
    Pass("falls", "falls.vert", "falls.frag", FallMesh, Blending.VEIL, with_falls, joined=True),
    Pass("spray", "spray.vert", "spray.frag", SprayMesh, Blending.VEIL, with_free_falls),
    Pass("front of a storm", "storm_front.vert", "storm_front.frag", StormFront, Blending.VEIL, with_storm_front),
    Pass("shafts of rain", "rain_shafts.vert", "rain_shafts.frag", RainShafts, Blending.VEIL, with_rain),
    Pass("rain and snow", "rain_drops.vert", "rain_drops.frag", Raindrops, Blending.VEIL, with_rain),
)
# fmt: on
