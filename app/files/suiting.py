"""A scene that suits the land of a heightmap: view, sea, and size of streams.

It is shown whole, as a block on its table, in light from the side.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from app.model.view_parameters import CameraParameters
from app.scene.scene import Scene
from app.sources.heightmap.overview import Overview

WHOLE = CameraParameters(heading=330.0, pitch=15.0, distance=1.75, field_of_view=30.0)
SUN_DIRECTION, SUN_HEIGHT = 250.0, 20.0  # degrees
CLOUDS = 0.3  # of the sky
SEEN_RELIEF = 0.05  # of the longer side: the relief that looks best
MOST_EXAGGERATED = 6.0
STEPS = 2.0  # per unit of exaggeration
SPREAD = (2.0, 98.0)  # percentiles between which nearly all land lies
CELLS_PER_STREAM = 430  # of the map, per cell of the least catchment of a stream
LEVEL = 0.5  # metres of relief below which land counts as level
FEWEST, MOST = 50.0, 100_000.0  # cells of the least catchment of a stream
FLAT_SEA = 0.5  # metres: a level sea in a model lies this close to 0
SEA_PART = 0.01  # fraction of the map, or of its edge, from which on it is a sea

# Models measured from above have a level sea; others have a sea floor.
Sea = Literal["level", "deep"]
FLOORS: dict[Sea, float] = {"level": 0.03, "deep": 0.0}  # slope of the generated floor


def suited(scene: Scene, land: Overview, cells: int) -> Scene:
    """The scene of a heightmap with parameters that suit its land at this resolution."""
    view = msgspec.structs.replace(
        scene.view,
        exaggeration=exaggeration_of(land),
        stream_threshold=round(min(max(cells / CELLS_PER_STREAM, FEWEST), MOST)),
        sun_direction=SUN_DIRECTION,
        sun_height=SUN_HEIGHT,
        clouds=CLOUDS,
    )
    scene = msgspec.structs.replace(scene, view=view, camera=WHOLE)
    sea = sea_of(land)
    if sea is None:
        return scene
    return scene.with_values({"edges.water": "sea", "edges.sea_level": 0.0, "world.sea_floor": FLOORS[sea]})


def exaggeration_of(land: Overview) -> float:
    """The exaggeration of heights that looks best, at least 1."""
    low, high = np.percentile(land.known, SPREAD) if land.known.size else (0.0, 0.0)
    if high - low < LEVEL:
        return 1.0
    times = SEEN_RELIEF * max(land.extent) / float(high - low)
    return min(max(round(times * STEPS) / STEPS, 1.0), MOST_EXAGGERATED)


def sea_of(land: Overview) -> Sea | None:
    """The kind of sea at 0 m; None if there is none.

    There is one where much of the land is as flat as a sea at 0, or where much of the map's edge lies below it, and
    other land above.
    """
    known = ~land.missing
    if not (land.heights[known] > FLAT_SEA).any():
        return None
    flat = known & (np.abs(land.heights) <= FLAT_SEA)
    edge = np.zeros_like(known)
    edge[[0, -1], :] = edge[:, [0, -1]] = True
    edge &= known
    if flat.sum() >= SEA_PART * known.sum() and (flat & edge).any():
        return "level"
    below = edge & (land.heights < -FLAT_SEA)
    return "deep" if edge.any() and below.sum() >= SEA_PART * edge.sum() else None
