"""What suits the land of a heightmap: how it is seen, where its sea is, and how large its streams are.

It is seen whole, as a block on its table, in light from the side: nobody has looked for its best side yet.
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
SEEN_RELIEF = 0.05  # of the longer side: how high land looks best
MOST_EXAGGERATED = 6.0
STEPS = 2.0  # to a unit of exaggeration
SPREAD = (2.0, 98.0)  # percentiles between which nearly all land lies
CELLS_PER_STREAM = 430  # of the map, for each that a stream gathers at least
LEVEL = 0.5  # metres of relief, below which there is nothing to see
FEWEST, MOST = 50.0, 100_000.0  # such cells
FLAT_SEA = 0.5  # metres: a sea without a floor, as models from above have it, lies so near to 0
SEA_PART = 0.01  # of the map, or of its edge, from which on it is one

# Of models that were measured from above the sea is level; others have its floor.
Sea = Literal["level", "deep"]
FLOORS: dict[Sea, float] = {"level": 0.03, "deep": 0.0}  # slope of the floor that is made


def suited(scene: Scene, land: Overview, cells: int) -> Scene:
    """The scene of a heightmap with what suits its land, in so many cells."""
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
    """By how much heights are best multiplied: never less than true to scale, as a plain is."""
    low, high = np.percentile(land.known, SPREAD) if land.known.size else (0.0, 0.0)
    if high - low < LEVEL:
        return 1.0
    times = SEEN_RELIEF * max(land.extent) / float(high - low)
    return min(max(round(times * STEPS) / STEPS, 1.0), MOST_EXAGGERATED)


def sea_of(land: Overview) -> Sea | None:
    """What kind of sea stands at 0 m; None where there is none.

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
