"""What the passes of a frame are drawn from: put together of the maps of the land and what a picture is taken with."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.climate import Weather
from app.model.overlays import OVERLAYS, Value
from app.model.snapshot import Snapshot
from app.picture.crop import Crop
from app.picture.passes.atmosphere import Sky
from app.picture.passes.backdrop import horizon_dip
from app.picture.passes.beach import BEACH_RISES
from app.picture.passes.canopy import NO_FOREST
from app.picture.passes.declaration import Frame, Shot
from app.picture.passes.forest import TreeView, select_trees
from app.picture.passes.land_maps import LandMaps, with_course, with_life
from app.picture.passes.mesh import (
    FINEST_STRIDE,
    QUADS,
    Finer,
    coarsest_stride,
    crossed_nodes,
    detail_distance,
    finer_detail,
    nodes_in_sight,
    select_nodes,
)
from app.picture.passes.quality import Quality
from app.picture.passes.rain import may_fall
from app.picture.passes.targets import colour
from app.picture.passes.tiles import FINE_STREAM_FAR, STREAM_FAR, WIDEST_PIXEL
from app.picture.passes.trees import leaf_uniforms, tree_uniforms
from app.picture.passes.valleys import fog_of
from app.picture.passes.water import TILE
from app.picture.passes.waves import NATURAL, NO_WAVES


def compose(
    snapshot: Snapshot,
    shot: Shot,
    quality: Quality,
    weather: Weather,
    maps: LandMaps,
    sky: Sky,
    block: NDArray[np.void],
    targets: dict[str, moderngl.Framebuffer],
    *,
    aspect: float,
    crop: Crop,
    waves: int,
    least_discharge: float,
    with_dust: bool,
    falling: float,
    at_once: bool,
) -> Frame:
    """The frame of a picture of this `aspect`, or of the part `crop` of it, in pixels of the scene.

    It is put together of `maps` that are up to date and a frame's `block`. `targets` are those of the scene. With
    `at_once`, the shadows of trees never wait.
    """
    camera, view = shot.camera, shot.appearance.view
    overlay = OVERLAYS[view.overlay]
    with_overlay = overlay.value is not Value.NONE
    rows, columns = snapshot.shape
    scene_height = crop.size[1]
    detail = detail_distance(camera, scene_height, quality)
    finer = None
    clip_space = crop.clip * camera.projection(aspect) * camera.view()
    view_projection = np.array(clip_space.to_list()).T  # [row, column]
    if displaced := maps.relief_kind == 2 and quality.displaced:
        finer = Finer(finer_detail(detail), view_projection, float(block["heights"][2]), maps.relief_span)
    heights = (snapshot.lowest * view.exaggeration, snapshot.highest * view.exaggeration)
    focal_length = 0.5 * scene_height / math.tan(math.radians(camera.field_of_view) / 2.0)
    tree_view = TreeView(
        height=view.tree_size * (snapshot.reference_cell_size or snapshot.cell_size),
        focal_length=focal_length,
        mesh_reach=(
            detail * QUADS * snapshot.cell_size,
            float(coarsest_stride(columns, rows)),
            finer.reach(snapshot.cell_size) if finer else 0.0,
            FINEST_STRIDE,
        ),
        exaggeration=view.exaggeration,
        winter=max(-weather.season, 0.0),
    )
    forest, selected = maps.trees.forest, None
    if forest is not None and not with_overlay:  # which trees would hide
        each = quality.deferred  # the shader of a tree that is not seen costs software far more than to find it here
        selected = select_trees(forest, camera, aspect, quality.tree_pixels, tree_view, one_by_one=each)
    sun = block["sun"][:3].astype(float)
    shadows = maps.trees.shadows
    maps.trees.cast_shadows(selected, sun, quality, tree_view, at_once=at_once)
    if shadows.target is not None:
        targets["tree shadows"] = shadows.target
    with_materials = snapshot.materials is not None
    over_sand = "airborne" in snapshot.layers
    rainy = not quality.deferred and may_fall(shot.appearance.climate, view.rain, over_sand=over_sand)
    nodes = select_nodes(columns, rows, snapshot.cell_size, heights, camera, detail, finer)
    room = maps.relief_span * snapshot.cell_size if displaced else 0.0
    span = min(float(block["heights"][2]), heights[0] - room), heights[1] + room
    nodes = nodes_in_sight(nodes, columns, rows, snapshot.cell_size, span, view_projection)
    textures = maps.textures(snapshot, view.overlay, with_waves=waves != NO_WAVES)
    textures |= {**shadows.texture, "sky": sky.texture}
    if "places" in targets:
        textures["places"] = colour(targets["places"])
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
        crossed=crossed_nodes(nodes, maps.twisted),
        focal_length=focal_length,
        waves=waves,
        water=maps.water,
        shore=maps.shore if waves == NATURAL else None,
        run_up=float(block["beach"][0]),
        run_up_way=float(block["beach"][1]),
        falling=falling,
        smallest_stream=least_discharge if maps.with_streams else None,
        horizon_dip=horizon_dip(camera, snapshot, float(block["heights"][2])),
        trees=maps.trees,
        tree_view=tree_view,
        selected_trees=selected,
        defines={
            "OVERLAY": int(with_overlay),
            "LINES": int(overlay.value is Value.RIVERS),
            "COURSE": int(with_course(snapshot)),
            "DESERT": int(view.desert > 0.0 or (with_materials and "wind_path" in snapshot.layers)),
            "DRIFTING": int(view.drifting_sand > 0.0),
            "WATER": int(maps.with_water),
            "MARKS": int(maps.marks.shown),
            "MATERIALS": int(with_materials),
            "LIVING": int(with_life(snapshot)),
            "STORM": int(with_dust),
            "FOG": int(fog_of(view.fog, view.sun_height) > 0.0 and not quality.deferred),
            "CLOUDS": int(view.clouds > 0.0 or rainy) * (1 + int(quality.fine_water)),
            "CANOPY": 0 if with_overlay or forest is None else 1 + int(shadows.any),
            "SHADOWS": int(shadows.any),
            "DETAIL_SCALES": quality.detail_scales,
            "SAMPLES": quality.samples,
            "RELIEF": maps.relief_kind,
            "DISPLACED": int(displaced),
            "SHADE": int(maps.shade is not None and quality.displaced),
            "FINE_WATER": int(quality.fine_water),
            "WAVES": waves,
        },
        textures=textures,
        uniforms={
            **tree_uniforms(tree_view),
            **shadows.uniforms,
            "forest": NO_FOREST
            if forest is None
            else (tree_view.height, focal_length, quality.tree_pixels[2], tree_view.winter),
            **leaf_uniforms(forest, view.tree_size),
            "scene_size": (float(crop.width), float(crop.height)),
            "relief_span": maps.relief_span,
            "level_is_known": maps.water.level_is_known,
            "tile": float(TILE),
            "stream_far": STREAM_FAR if quality.deferred else FINE_STREAM_FAR,
            "river_reach": maps.river_reach,
            "beach_rises": BEACH_RISES,
            "widest_pixel": WIDEST_PIXEL / focal_length,
        },
    )
