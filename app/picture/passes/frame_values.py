"""Values of the frame block: camera, light, air and water of a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.climate import USUAL_WIND, ClimateParameters, Weather, weather_of
from app.model.layered_map import SNOW
from app.model.layers import OROGRAPHIC_RAIN
from app.model.materials import SEDIMENT_THAT_HIDES
from app.model.overlays import OVERLAYS, Value
from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.appearance import Appearance
from app.picture.passes import frame, rain
from app.picture.passes.atmosphere import SkyLight
from app.picture.passes.backdrop import horizon_dip
from app.picture.passes.materials import MaterialTextures
from app.picture.passes.storm_front import front_of
from app.picture.passes.taken import Taken
from app.picture.passes.valleys import HEIGHT, LOWEST_HEIGHT, fog_of
from app.picture.passes.waves import WEAKEST_WIND, block_values

DIMMED = 0.42, 0.52, 0.68  # optical depth of the thickest dust of a storm for sunlight: red, green, blue
DUST_DEPTH = 4.2  # optical depth of it over the longer side of the map, along the lowest ground
DUST_HEIGHT, LOWEST_DUST = 0.30, 0.02  # scale height: a fraction of the relief, and at least of the longer side
DUST_DRIFT = 0.045  # longer sides per second
DIPPING, LEVEL = (0.21, 0.96, -0.18), (0.0, 1.0, 0.0)  # ways across beds: of one rock, of strata, which are level
BED_SPAN = 0.02, 0.25  # limits of the drawn thickness of beds, as fractions of the relief
# Air: optical depth over the longer side along the lowest ground, and its scale height in such sides.
AIR_DEPTH, AIR_HEIGHT = 0.21, 0.16
# Clouds, in parts of the map's longer side.
# Base above the highest ground, and thickness, in moist and in dry air. Air that rises reaches its dew point the later
# the drier it is, and little is left of the height in which heaps can grow.
CLOUD_BASE, CLOUD_THICKNESS = (0.17, 0.27), (0.14, 0.08)
WISPS = 0.5, 1.3  # opacity of high clouds of ice, beside the usual, in moist and in dry air
GREEN = 0.7  # greenness of land in moist air
CLOUD_TILE = 2.4  # period of their noise
CLOUD_DRIFT = 0.0012  # per cycle, not per second, so that films are reproducible
CLOUD_SPREAD = 0.132  # standard deviation of their noise
ICE_LAGS = 0.125  # of a year, by which the ice of streams follows the warmth of the air
CLOUD_SAMPLES, CLOUD_BINS = 48, 16  # of the map of rain, along its longer side and along the wind
CLOUD_SHADE = 0.72  # fraction of sunlight that the thickest ones block
HIGH_SUN = 0.82, 0.98  # sines of the sun's height where relief shading begins, and where it is complete
FORM_AT_NOON = 0.9
BASE_DEPTH = 0.10  # of the shorter side of the map: depth of the block below its lowest ground

WAVE_LENGTH = 1.0 / 360.0  # of the map's longer side: waves follow the size of the map
SUBPIXELS = 256  # per side of a pixel: the grid to which rasterisers snap vertices


def fill_frame_block(
    block: NDArray[np.void],
    taken: Taken,
    materials: MaterialTextures,
    sky: SkyLight,
) -> None:
    """Fill the fields of `frame.FIELDS` for a picture, or a part of it."""
    snapshot, crop, aspect, weather = taken.snapshot, taken.crop, taken.aspect, taken.weather
    camera, appearance, time = taken.shot.camera, taken.shot.appearance, taken.shot.time
    storm, falling = taken.storm, taken.falling
    overlay_span, least_discharge = taken.shot.overlay_span, taken.shot.least_discharge
    assert overlay_span is not None and least_discharge is not None
    view = appearance.view
    rows, columns = snapshot.shape
    side = max(rows, columns) * snapshot.cell_size
    lowest, highest = snapshot.lowest * view.exaggeration, snapshot.highest * view.exaggeration
    view_projection = camera.projection(aspect) * camera.view()
    rays = (*crop.axes(*camera.picture_axes(aspect)), glm.vec3())
    direction, height = math.radians(view.sun_direction), math.radians(view.sun_height)
    eye = camera.position

    block["view_projection"] = np.array(view_projection.to_list(), np.float32).ravel()
    block["crop"] = crop.clip_change
    block["subpixels"] = (*(0.5 * SUBPIXELS * side for side in crop.size), 0.0, 0.0)
    block["rays"] = [part for ray in rays for part in (*ray, 0.0)]
    block["camera"] = (eye.x, eye.y, eye.z, time)
    block["sun"] = (
        math.sin(direction) * math.cos(height),
        math.sin(height),
        -math.cos(direction) * math.cos(height),
        math.tan(min(height, math.radians(89.5))),
    )
    past_rain = 1.0 - rain.DIMS * falling
    dimmed = (
        past_rain * light * math.exp(-storm * part) for light, part in zip(sky.sunlight.tolist(), DIMMED, strict=True)
    )
    block["sun_light"] = (*dimmed, sky.exposure * 2.0**view.exposure)
    for name, colours in sky.fields.items():
        block[name] = colours
    block["map"] = (columns, rows, snapshot.cell_size, view.exaggeration)
    base = lowest - BASE_DEPTH * min(rows, columns) * snapshot.cell_size
    block["heights"] = (lowest, highest, base, side)
    dip = camera.horizontal_direction * (horizon_dip(camera, snapshot, base, view.exaggeration) or 0.0)
    block["sunward"] = (math.sin(direction), -math.cos(direction), dip.x, dip.z)
    block["air"] = (AIR_DEPTH * view.haze / side, AIR_HEIGHT * side, lowest, front_of(weather.storm_passed))
    layer = max(HEIGHT * (highest - lowest), LOWEST_HEIGHT * side)
    thin = max(DUST_HEIGHT * (highest - lowest), LOWEST_DUST * side)
    at_eye = (math.exp(-max(eye.y - lowest, 0.0) / height) for height in (AIR_HEIGHT * side, thin))
    block["fog"] = (fog_of(view.fog, view.sun_height), 1.0 / layer, *at_eye)
    dry = dryness(view, sea=snapshot.sea_level > frame.NO_SEA)
    above, thickness, wisps = (moist + dry * (arid - moist) for moist, arid in (CLOUD_BASE, CLOUD_THICKNESS, WISPS))
    cloud_base = highest + above * side
    begins = _begins(cloud_cover(view, falling))
    block["clouds"] = (cloud_base, cloud_base + thickness * side, 1.0 / (CLOUD_TILE * side), begins)
    blows = math.radians(appearance.climate.wind_direction)
    drifted = CLOUD_DRIFT * snapshot.cycle / CLOUD_TILE
    east, south = (math.fmod(part * drifted, 10.0) for part in (-math.sin(blows), math.cos(blows)))
    block["cloud_drift"] = (east, south, wisps, CLOUD_SHADE)
    block["cloud_line"] = cloud_line(snapshot, weather, cloud_cover(view, falling))
    cover = SEDIMENT_THAT_HIDES * snapshot.cell_size
    snow = snow_line(view, weather, snapshot)
    block["ground_look"] = (snow, view.greenness, cover, form_at_noon(view.sun_height))
    wind = math.radians(weather.wind_direction)  # that it comes from
    block["wind"] = (-math.sin(wind), math.cos(wind), view.desert, view.drifting_sand)
    relief_in_metres = snapshot.highest - snapshot.lowest
    thinnest, thickest = (max(part * relief_in_metres, 1e-3) for part in BED_SPAN)
    beds = min(max(materials.thickness, thinnest), thickest)
    block["strata"] = (1.0 / materials.depth, beds, weather.season, materials.slip_slope)
    block["beds"] = way_across_beds(materials.thickness)
    block["dust"] = (storm * DUST_DEPTH / side, thin, storm, time * DUST_DRIFT * side)
    sea_level = max(snapshot.sea_level, frame.NO_SEA)
    # The variance of the slopes of a sea grows with the wind (Cox and Munk 1954).
    roughness = view.waves * math.sqrt(max(weather.wind_speed / USUAL_WIND, WEAKEST_WIND))
    block["water"] = (view.water_clarity, roughness, WAVE_LENGTH * side, sea_level)
    block["streams"] = (
        math.log2(max(least_discharge, 1e-30)),
        0.5 * appearance.runoff.river_width / snapshot.cell_size,
        view.flow_speed,
        warmth_of_ice(appearance.climate, snapshot.cycle),
    )
    for name, value in block_values(appearance.waves, taken.sea, time, snapshot.cell_size).items():
        block[name] = value
    block["rain"] = (falling, weather.temperature, weather.lapse_rate, weather.rain_by_altitude)
    low, high = overlay_span
    overlay = OVERLAYS[view.overlay]
    opacity = view.overlay_opacity if overlay.is_known(snapshot) else 0.0
    stepped_back = min(1.0, 1.4 * opacity) if overlay.value is not Value.NONE and overlay.dims else 0.0
    block["part"] = (crop.left, crop.bottom, stepped_back, 0.0)
    block["overlay"] = (overlay.value, opacity, overlay.scaled(low), overlay.scaled(high))


def way_across_beds(thickness: float) -> tuple[float, float, float, float]:
    """A unit vector across beds (east, up, south), where strata are so thick in metres; infinitely for one rock."""
    return (*(DIPPING if math.isinf(thickness) else LEVEL), 0.0)


def cloud_line(snapshot: Snapshot, weather: Weather, cover: float) -> tuple[float, ...]:
    """Decrease of the noise threshold of clouds where the wind brings rain: coefficients of a cubic, constant first.

    Cloud cover is proportional to rain. The variable is the distance along the wind from the centre of the map, from -1
    to 1 in halves of the longer side. So a range has clouds on its windward side, and a clear sky behind. All are 0 if
    rain is uniform.
    """
    layer = snapshot.layers.get(OROGRAPHIC_RAIN)
    if layer is None:
        return 0.0, 0.0, 0.0, 0.0
    step = max(1, max(layer.shape) // CLOUD_SAMPLES)
    rows, columns = layer.shape
    half = 0.5 * max(rows, columns)
    blows = math.radians(weather.wind_direction)
    south = (np.arange(0, rows, step) + 0.5 - 0.5 * rows)[:, None] / half
    east = (np.arange(0, columns, step) + 0.5 - 0.5 * columns) / half
    along = np.clip(math.cos(blows) * south - math.sin(blows) * east, -1.0, 1.0)
    bins = np.minimum((along + 1.0) * (CLOUD_BINS / 2.0), CLOUD_BINS - 1).astype(int).ravel()
    count = np.bincount(bins, minlength=CLOUD_BINS)
    falls = np.bincount(bins, layer[::step, ::step].ravel(), CLOUD_BINS) / np.maximum(count, 1)
    begins = [_begins(cover * float(times)) - _begins(cover) for times in falls]
    places = (np.arange(CLOUD_BINS) + 0.5) * (2.0 / CLOUD_BINS) - 1.0
    found = np.polynomial.polynomial.polyfit(places, begins, 3, w=np.sqrt(count))
    return tuple(-float(value) for value in found)


def _begins(cover: float) -> float:
    """The noise threshold above which there are clouds, for a cover of the sky."""
    return NormalDist(0.5, CLOUD_SPREAD).inv_cdf(1.0 - min(max(cover, 1e-3), 0.999))


def cloud_cover(view: ViewParameters, falling: float) -> float:
    """Cloud cover, including the clouds of rain or snow."""
    return max(view.clouds, rain.CLOUDS * falling)


def dryness(view: ViewParameters, *, sea: bool) -> float:
    """How dry the air over a land is, from 0 to 1: as bare as its ground is, or half as much beside a sea."""
    bare = max(view.desert, 1.0 - min(view.greenness / GREEN, 1.0))
    return 0.5 * bare if sea else bare


def form_at_noon(sun_height: float) -> float:
    """Fraction of light that hollows lose and crests gain, for a height of the sun in degrees.

    Nothing casts shadows under a high sun: then relief shows in how much of the bright sky around the sun is visible.
    """
    high = (math.sin(math.radians(sun_height)) - HIGH_SUN[0]) / (HIGH_SUN[1] - HIGH_SUN[0])
    high = min(max(high, 0.0), 1.0)
    return FORM_AT_NOON * high * high * (3.0 - 2.0 * high)


def snow_line(view: ViewParameters, weather: Weather, snapshot: Snapshot) -> float:
    """The snow line as a fraction of the relief: that of the view, or the level of frost if that is lower.

    Where snow lies as a layer, frost says nothing.
    """
    if SNOW in snapshot.layers:
        return view.snow_line
    if weather.lapse_rate <= 0.0:
        freezes = -math.inf if weather.temperature < 0.0 else math.inf
    else:
        freezes = weather.temperature / weather.lapse_rate
    part = (freezes - snapshot.lowest) / max(snapshot.highest - snapshot.lowest, 1e-3)
    return min(view.snow_line, min(max(part, -1.0), 2.0))


def warmth_of_ice(climate: ClimateParameters, cycle: int) -> float:
    """The warmth at height 0 by which streams freeze, °C: of some time ago, as ice takes time to grow and to thaw."""
    return weather_of(climate, 0, cycle - round(ICE_LAGS * climate.year)).temperature


def least_discharge(appearances: Sequence[Appearance], snapshots: Sequence[Snapshot]) -> float:
    """The least discharge of visible streams, common to pictures side by side."""
    return max(
        appearance.runoff.smallest_stream(snapshot.reference_cell_size or snapshot.cell_size)
        for appearance, snapshot in zip(appearances, snapshots, strict=True)
    )
