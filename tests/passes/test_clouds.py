"""Clouds in the sky, and their shadows on land and sea."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.frame_values import CLOUD_BASE, CLOUD_DRIFT
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import drowned, flat, snapshot, with_layers

CELL = 20.0
SIDE = 64 * CELL
FARTHEST = 10  # pixels that clouds are followed


def scene(**view: float | str) -> Scene:
    return Scene().with_values({f"view.{name}": value for name, value in view.items()})


def plain(cycle: int = 0) -> Snapshot:
    return snapshot(flat(64, 64), cell_size=CELL, world=77, cycle=cycle)


def from_above() -> Camera:
    return Camera(glm.vec3(SIDE / 2, 0.0, SIDE / 2), 0.0, 90.0, 1.2 * SIDE, 40.0)


def upwards(heading: float = 0.0) -> Camera:
    return Camera(glm.vec3(SIDE / 2, 40.0, SIDE / 2), heading, -18.0, 1.0, 30.0)


def spread(pixels: NDArray[np.uint8]) -> float:
    return float(pixels[20:100, 40:120].astype(float).mean(axis=2).std())


@pytest.mark.parametrize("quality", ["low", "high"])
def test_more_of_the_sky_is_white_the_more_clouds_there_are(draw: Draw, quality: str) -> None:
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    clear = draw(shown, upwards(), scene(quality=quality, clouds=0.0)).astype(float)
    whiter = []
    for cover in (0.15, 0.4, 0.8):
        pixels = draw(shown, upwards(), scene(quality=quality, clouds=cover)).astype(float)
        whiter.append((pixels[..., 0] - clear[..., 0] > 12.0).mean())
    assert 0.01 < whiter[0] < whiter[1] - 0.1 < whiter[2] - 0.2


def test_their_shadows_lie_on_the_land_from_level_high_on(draw: Draw) -> None:
    spreads = {
        (quality, cover): spread(draw(plain(), from_above(), scene(quality=quality, clouds=cover, greenness=0.0)))
        for quality in ("low", "high")
        for cover in (0.0, 0.5)
    }
    assert spreads["high", 0.5] > spreads["high", 0.0] + 8.0
    assert abs(spreads["low", 0.5] - spreads["low", 0.0]) < 0.5


@pytest.mark.parametrize(
    ("direction", "wet", "dry"),
    [(270.0, np.s_[:, :50], np.s_[:, 95:]), (180.0, np.s_[70:], np.s_[:25])],
)
def test_clouds_stand_where_the_wind_brings_rain(draw: Draw, direction: float, wet: Any, dry: Any) -> None:
    """Before a range, and not behind it."""
    before = np.linspace(2.0, 0.0, 64, dtype=np.float32)
    rain = np.tile(before, (64, 1)) if direction == 270.0 else np.tile(before[::-1, None], (1, 64))
    high_sun = scene(quality="high", clouds=0.5, greenness=0.0, sun_height=60.0)
    usual = high_sun.with_value("climate.wind_direction", direction)
    alike, ranged = plain(), with_layers(plain(), orographic_rain=rain)
    clear, even, uneven = (
        draw(land, from_above(), each, size=(120, 120)).astype(float).mean(axis=2)
        for land, each in ((alike, usual.with_value("view.clouds", 0.0)), (alike, usual), (ranged, usual))
    )
    shade = [clear - each for each in (even, uneven)]
    assert shade[1][wet].mean() > 2.0 * shade[0][wet].mean()
    contrasts = [each[wet].mean() / each[dry].mean() for each in shade]
    assert contrasts[1] > 2.0 * contrasts[0]


def test_shadows_are_soft(draw: Draw) -> None:
    size = (240, 240)
    pictures = [
        draw(plain(), from_above(), scene(quality="high", clouds=cover, greenness=0.0), size=size)
        .astype(float)
        .mean(axis=2)[60:180, 60:180]
        for cover in (0.0, 0.5)
    ]
    part = pictures[1] / pictures[0]
    assert part.min() < 0.75
    assert max(np.abs(np.diff(part, axis=axis)).max() for axis in (0, 1)) < 0.21


def test_where_pixels_are_enlarged_edges_are_no_stairs(draw: Draw) -> None:
    """Seen towards the horizon, where they are drawn out most, they fade from pixel to pixel."""
    shown = drowned(snapshot(flat(64, 64, -200.0), cell_size=CELL), 0.0)
    for quality in ("lowest", "low"):
        sky = draw(shown, replace(upwards(), pitch=-9.0), scene(quality=quality, clouds=0.5), size=(320, 200))
        steps = np.abs(np.diff(sky[:90:2, ::2, 0].astype(float), axis=0))
        assert np.percentile(steps, 98) < 28.0, np.percentile(steps, 98)


def test_dry_land_lies_under_thin_high_clouds_and_a_sea_makes_its_air_moist(draw: Draw) -> None:
    grains = []
    for shown, greenness in ((plain(), 0.0), (drowned(plain(), 0.5), 0.0), (plain(), 1.0)):
        sky = draw(shown, upwards(), scene(quality="high", clouds=0.0, greenness=greenness))[:60, :, 2].astype(float)
        grains.append(np.abs(sky[:, 8:] - sky[:, :-8]).mean())
    assert grains[0] > 1.15 * grains[1] > 1.3 * grains[2]


def test_clouds_drift_with_the_cycles_and_not_with_time(draw: Draw) -> None:
    view = scene(quality="high", clouds=0.5)
    first = draw(plain(0), from_above(), view, time=0.0)
    np.testing.assert_array_equal(first, draw(plain(0), from_above(), view, time=50.0))
    later = draw(plain(60), from_above(), view, time=0.0)
    assert (np.abs(first.astype(int) - later).max(axis=2) > 10).mean() > 0.05


def test_shadows_cover_about_as_much_of_the_land_as_is_asked(draw: Draw) -> None:
    view = scene(quality="high", clouds=0.5, sun_height=90.0)
    land = draw(plain(), from_above(), view, size=(120, 120)).astype(float).mean(axis=2)
    bare = (
        draw(plain(), from_above(), scene(quality="high", sun_height=90.0), size=(120, 120)).astype(float).mean(axis=2)
    )
    shaded = (land / bare)[30:90, 30:90]
    assert 0.2 < (shaded < 0.93).mean() < 0.8


def moved(one: NDArray[np.generic], other: NDArray[np.generic]) -> tuple[int, int]:
    """By how many pixels, to the right and down, what is seen in one picture has come in the other."""
    first, second = (np.asarray(pixels, float).mean(axis=2) for pixels in (one, other))
    inner, reach = np.s_[FARTHEST:-FARTHEST, FARTHEST:-FARTHEST], range(-FARTHEST, FARTHEST + 1)
    left = {
        (right, down): np.abs(np.roll(first, (down, right), (0, 1)) - second)[inner].mean()
        for right in reach
        for down in reach
    }
    return min(left, key=left.__getitem__)


@pytest.mark.parametrize(("wind", "way"), [(270.0, (1.0, 0.0)), (180.0, (0.0, -1.0)), (315.0, (0.7, 0.7))])
def test_shadows_go_over_the_land_with_the_wind_and_as_evenly_as_cycles(
    draw: Draw, wind: float, way: tuple[float, float]
) -> None:
    view = scene(quality="high", clouds=0.5, sun_height=90.0, greenness=0.0, haze=0.0)
    view = view.with_value("climate.wind_direction", wind)
    bare = draw(plain(), from_above(), view.with_value("view.clouds", 0.0), size=(160, 160)).astype(float)
    shaded = [draw(plain(n), from_above(), view, size=(160, 160)) / bare for n in (0, 20, 40)]
    middle = slice(40, 120)
    steps = [moved(a[middle, middle], b[middle, middle]) for a, b in itertools.pairwise(shaded)]
    expected = 20 * CLOUD_DRIFT * SIDE * 160 / (2.0 * 1.2 * SIDE * math.tan(math.radians(20.0)))
    np.testing.assert_allclose(steps, np.tile(np.array(way) * expected, (2, 1)), atol=1.1)


def test_the_drier_the_air_the_higher_are_clouds(draw: Draw) -> None:
    """Their shadows fall farther from the sun."""
    view, shaded = scene(quality="high", sun_height=65.0, sun_direction=270.0, haze=0.0), []
    for greenness in (0.7, 0.0):
        clear, cloudy = (
            draw(
                plain(),
                from_above(),
                view.with_values({"view.clouds": cover, "view.greenness": greenness}),
                size=(160, 160),
            )
            for cover in (0.0, 0.5)
        )
        shaded.append((cloudy / np.maximum(clear.astype(float), 1.0))[40:120, 40:120])
    moist, arid = CLOUD_BASE
    expected = (arid - moist) / math.tan(math.radians(65.0)) * 160 / (2.0 * 1.2 * math.tan(math.radians(20.0)))
    np.testing.assert_allclose(moved(shaded[0], shaded[1]), (expected, 0.0), atol=1.1)


def test_clouds_in_the_sky_go_where_their_shadows_go(draw: Draw) -> None:
    """A wind from the west moves them to the right before an eye that looks north."""
    view = scene(quality="high", clouds=0.7, haze=0.0)
    eye = replace(upwards(), pitch=-60.0)
    seen = [draw(plain(n), eye, view, size=(160, 120)) for n in (0, 8, 16)]
    steps = np.array([moved(a, b) for a, b in itertools.pairwise(seen)])
    assert (steps[:, 0] > 2.0).all() and np.abs(steps[:, 1]).max() <= 1.0
