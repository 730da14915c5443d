"""Composition of a frame for the passes, from the maps of the land and the shot."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.layered_map import SNOW
from app.model.overlays import OVERLAYS, Value
from app.picture.passes.atmosphere import Sky
from app.picture.passes.backdrop import horizon_dip
from app.picture.passes.beach import BEACH_RISES
from app.picture.passes.canopy import NO_FOREST
from app.picture.passes.declaration import Frame
from app.picture.passes.forest import TreeView, select_trees
from app.picture.passes.land_maps import LandMaps, with_flow_path, with_life, with_plants
from app.picture.passes.mesh import (
    FINEST_STRIDE,
    QUADS,
    Finer,
    coarsest_stride,
    detail_distance,
    finer_detail,
    mesh_parts,
    nodes_in_sight,
    select_nodes,
)
from app.picture.passes.rain import may_fall, storms_are_dry
from app.picture.passes.shaders import Uniform
from app.picture.passes.streams import STREAM_NEAR, meet_near
from app.picture.passes.taken import Taken
from app.picture.passes.targets import colour
from app.picture.passes.tiles import FINE_STREAM_FAR, STREAM_FAR, WIDEST_PIXEL
from app.picture.passes.trees import leaf_uniforms, tree_uniforms
from app.picture.passes.valleys import fog_of
from app.picture.passes.waves import NATURAL, NO_WAVES

NODES_AT_REST = 12  # drawn in one slice of a picture that is refined: the first touch gives it up after that
# Of the woods of the climate at the lowest levels: least height of trees in pixels, and how many are drawn.
SMALLEST_OF_WOODS, MOST_OF_WOODS = 2.4, 3000
OF_BOUNCE = "sun_light", "sky_light", "sun", "ground_look", "wind", "strata"  # fields that bounced light depends on


def compose(
    taken: Taken,
    maps: LandMaps,
    sky: Sky,
    block: NDArray[np.void],
    targets: dict[str, moderngl.Framebuffer],
    *,
    at_once: bool,
) -> Frame:
    """Compose the frame of a picture from up-to-date `maps` and the frame `block`.

    `targets` are the render targets of the scene. With `at_once`, shadows of trees are drawn immediately.
    """
    snapshot, shot, quality, crop, aspect = taken.snapshot, taken.shot, taken.quality, taken.crop, taken.aspect
    camera, view = shot.camera, shot.appearance.view
    overlay = OVERLAYS[view.overlay]
    with_overlay = overlay.value is not Value.NONE
    rows, columns = snapshot.shape
    detail = detail_distance(camera, crop.size[1], quality)
    finer, view_projection, heights, focal_length = None, taken.view_projection, taken.heights, taken.focal_length
    if displaced := maps.relief_kind == 2 and quality.displaced:
        finer = Finer(finer_detail(detail), view_projection, float(block["heights"][2]), maps.relief_span)
    tree_view = _tree_view(taken, detail, finer)
    forest, selected = maps.trees.forest, None
    # At the lowest levels baked light alone tells the ground of woods of the climate: they must cost little.
    in_light = maps.trees.are_of_climate and quality.detail_scales == 1
    if forest is not None and not with_overlay:  # which trees would hide
        each = quality.deferred  # in software, culling each tree here is far cheaper than shading hidden ones
        limits, most = quality.tree_pixels, None
        if in_light:
            limits, most = (*limits[:2], SMALLEST_OF_WOODS), MOST_OF_WOODS
        selected = select_trees(forest, camera, aspect, limits, tree_view, one_by_one=each, most_points=most)
    sun = block["sun"][:3].astype(float)
    shadows = maps.trees.shadows
    maps.trees.cast_shadows(None if in_light else selected, sun, quality, tree_view, at_once=at_once)
    if shadows.target is not None:
        targets["tree shadows"] = shadows.target
    with_materials = snapshot.materials is not None
    dry = storms_are_dry(snapshot, view)
    rainy = not quality.deferred and may_fall(shot.appearance.climate, view.rain, over_sand=dry)
    room = maps.relief_span * snapshot.cell_size if displaced else 0.0
    span = min(float(block["heights"][2]), heights[0] - room), heights[1] + room
    nodes = select_nodes(columns, rows, snapshot.cell_size, heights, camera, detail, finer)
    nodes = nodes_in_sight(nodes, columns, rows, snapshot.cell_size, span, view_projection)
    textures = maps.textures(snapshot, view.overlay, with_waves=taken.waves != NO_WAVES)
    textures |= {**shadows.texture, "sky": sky.texture}
    textures |= {name: colour(targets[name]) for name in ("places", "clouds") if name in targets}
    defines = {
        "OVERLAY": int(with_overlay),
        "LINES": int(overlay.value is Value.RIVERS),
        "FLOW_PATH": int(with_flow_path(snapshot)),
        "DESERT": int(view.desert > 0.0 or (with_materials and "wind_path" in snapshot.layers)),
        "DRIFTING": int(view.drifting_sand > 0.0),
        "PLUME": int(view.dust_plume > 0.0 and quality.detail_scales > 2 and maps.sand_in_air > 0.0),
        "WATER": int(maps.with_water),
        "MARKS": int(maps.marks.shown),
        "ICE": int(maps.glaciers.shown),
        "SNOWY": int(SNOW in snapshot.layers),
        "MATERIALS": int(with_materials),
        "INTRUSIONS": int(snapshot.materials is not None and snapshot.materials.intruded),
        "LIVING": int(with_life(snapshot)),
        "GREEN_BY_CLIMATE": int(not with_plants(snapshot)),
        "STORM": int(taken.storm > 0.0),
        "FOG": int(fog_of(view.fog, view.sun_height) > 0.0 and not quality.deferred),
        "CLOUDS": int(view.clouds > 0.0 or rainy) * (1 + int(quality.deep_clouds)),
        "CANOPY": 0 if with_overlay or forest is None or in_light else 1 + int(shadows.any),
        "UNDER_WOODS": int(in_light and not with_overlay and forest is not None),
        "SHADOWS": int(shadows.any),
        "DETAIL_SCALES": quality.detail_scales,
        "GRAIN": int(quality.grain),
        "SAMPLES": quality.samples,
        "RELIEF": maps.relief_kind,
        "DISPLACED": int(displaced),
        "SHADE": int(maps.shade is not None and quality.shadows_have_heights),
        "FINE_WATER": int(quality.fine_water),
        "HORIZONS": int(maps.horizons_known),
        "WAVES": taken.waves,
    }
    _begin_bounce(taken, maps, block, has_canopy=defines["CANOPY"] > 0, at_once=at_once)
    if maps.bounce.band is not None:
        targets["lit land"] = maps.bounce.lit_land
    textures |= {"bounce": maps.bounce.texture, "lit_land": colour(maps.bounce.lit_land)}
    textures["land_look"] = colour(maps.bounce.lit_land, 1)
    dip = horizon_dip(camera, snapshot, float(block["heights"][2]), view.exaggeration)
    if dip is not None:
        textures["land_afar"], with_relief = maps.land_afar(quality)
        defines["AFAR_RELIEF"] = int(with_relief)
    shore = maps.shore if taken.waves == NATURAL else None
    near = STREAM_NEAR * focal_length * snapshot.cell_size
    by_shore = (
        maps.with_streams
        and shore is not None
        and meet_near(maps.stream_patches, shore.patches, snapshot, camera, near)
    )
    return Frame(
        snapshot=snapshot,
        camera=camera,
        aspect=aspect,
        crop=crop,
        exaggeration=view.exaggeration,
        sun=glm.vec3(*sun),
        quality=quality,
        targets=targets,
        nodes=nodes,
        mesh=mesh_parts(nodes, maps.twisted),
        focal_length=focal_length,
        waves=taken.waves,
        water=maps.water,
        shore=shore,
        run_up=float(block["beach"][0]),
        run_up_way=float(block["beach"][1]),
        falling=taken.falling,
        smallest_stream=shot.least_discharge if maps.with_streams else None,
        stream_patches=maps.stream_patches,
        streams_near_shore=by_shore,
        falls=maps.falls,
        bounce=maps.bounce,
        table_height=float(block["heights"][2]),
        horizon_dip=dip,
        trees=maps.trees,
        tree_view=tree_view,
        selected_trees=selected,
        nodes_at_once=NODES_AT_REST if shot.finer else None,
        defines=defines,
        textures=textures,
        uniforms=_uniforms(taken, maps, tree_view),
    )


def _begin_bounce(taken: Taken, maps: LandMaps, block: NDArray[np.void], *, has_canopy: bool, at_once: bool) -> None:
    """Start to update the lit land for bounced light, if sun, sky or land have changed."""
    rows, columns = taken.snapshot.shape
    sun_and_sky = tuple(tuple(block[name].tolist()) for name in OF_BOUNCE)
    goal = (maps.light.drawn, taken.snapshot.version, has_canopy, *sun_and_sky)
    budget, side = taken.quality.bounce_budget, taken.quality.bounce_side
    maps.bounce.begin(taken.snapshot.world, (columns, rows), goal, budget, side, at_once=at_once)


def _tree_view(taken: Taken, detail: float, finer: Finer | None) -> TreeView:
    """View parameters of trees; `detail` and `finer` are those of the mesh of the ground."""
    snapshot, view = taken.snapshot, taken.shot.appearance.view
    rows, columns = snapshot.shape
    return TreeView(
        height=view.tree_size * (snapshot.reference_cell_size or snapshot.cell_size),
        focal_length=taken.focal_length,
        mesh_reach=(
            detail * QUADS * snapshot.cell_size,
            float(coarsest_stride(columns, rows)),
            finer.reach(snapshot.cell_size) if finer else 0.0,
            FINEST_STRIDE,
        ),
        exaggeration=view.exaggeration,
        winter=max(-taken.weather.season, 0.0),
    )


def _uniforms(taken: Taken, maps: LandMaps, tree_view: TreeView) -> dict[str, Uniform]:
    """The uniforms that all passes of a frame may read."""
    forest, quality, crop, focal_length = maps.trees.forest, taken.quality, taken.crop, tree_view.focal_length
    return {
        **tree_uniforms(tree_view),
        **maps.trees.shadows.uniforms,
        "forest": NO_FOREST
        if forest is None
        else (tree_view.height, focal_length, quality.tree_pixels[2], tree_view.winter),
        **leaf_uniforms(forest, taken.shot.appearance.view.tree_size),
        "scene_size": (float(crop.width), float(crop.height)),
        "relief_span": maps.relief_span,
        "tallest_tree": 0.0 if forest is None else tree_view.height,
        "level_is_known": maps.water.level_is_known,
        "stream_far": STREAM_FAR if quality.deferred else FINE_STREAM_FAR,
        "river_reach": maps.river_reach,
        "beach_rises": BEACH_RISES,
        "widest_pixel": WIDEST_PIXEL / focal_length,
        "intrusion": maps.materials.intrusion,
        "dust_plume": taken.shot.appearance.view.dust_plume,
    }
