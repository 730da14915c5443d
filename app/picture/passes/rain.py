"""Rain and snow of storms: shafts below the clouds, and streaks and flakes near the camera."""

from __future__ import annotations

import math
from collections.abc import Iterable

import moderngl
from pyglm import glm

from app.model.climate import ClimateParameters, Weather
from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.passes.declaration import Frame, Part

SQUARE = 6  # vertices of its two triangles
SHAFTS = 20  # per side of their lattice
DROPS = 24_000  # half of them flakes
CLOUDS = 0.85  # cloud cover in the heaviest rain
DIMS = 0.5  # fraction of sunlight blocked then


def falling(weather: Weather, strength: float, *, over_sand: bool) -> float:
    """Amount of rain or snow in the air, from 0 to 1: that of storms, which are dry if the wind carries sand."""
    return 0.0 if over_sand else min(strength * weather.storm * math.sqrt(weather.rain), 1.0)


def storms_are_dry(snapshot: Snapshot, view: ViewParameters) -> bool:
    """Whether wind moves sand there, or is about to in a first cycle: storms are dry then."""
    return "airborne" in snapshot.layers or (snapshot.cycle == 0 and view.desert > 0.0)


def may_fall(climate: ClimateParameters, strength: float, *, over_sand: bool) -> bool:
    """Whether rain is possible: shaders are compiled in advance."""
    return climate.storms > 0.0 and strength > 0.0 and not over_sand


def with_rain(frame: Frame) -> bool:
    """Whether rain or snow is drawn; lower levels of quality omit it."""
    return frame.falling > 0.0 and not frame.quality.deferred


class RainShafts:
    """Upright squares without vertex data, placed by rain_shafts.vert, from the farthest row to the nearest."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        yield Part(vertices=SQUARE * SHAFTS * SHAFTS, uniforms={"shafts": SHAFTS})

    def release(self) -> None:
        pass


class Raindrops:
    """Squares without vertex data, placed by rain_drops.vert."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        ahead = glm.normalize(frame.camera.target - frame.camera.position)
        yield Part(vertices=SQUARE * DROPS, uniforms={"pixel": 1.0 / frame.focal_length, "ahead": tuple(ahead)})

    def release(self) -> None:
        pass
