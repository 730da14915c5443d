"""Rain and snow that fall while a storm blows: when, where and at which levels they are seen."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.climate import Weather
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.rain import falling
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import hills, snapshot, with_layers

CELL = 10.0


@cache
def land() -> Snapshot:
    return snapshot(200.0 * hills(64, 64), cell_size=CELL)


def stormy(quality: str = "high", **values: float) -> Scene:
    """A storm at half its height, from the first cycle on."""
    scene = Scene().with_value("climate.storms", 1.0).with_value("climate.storm_length", 2)
    scene = scene.with_value("view.quality", quality).with_value("view.rain", values.pop("rain", 2.0))
    for name, value in values.items():
        scene = scene.with_value(name.replace("__", "."), value)
    return scene


def within(heading: float = 0.0) -> Camera:
    return Camera(glm.vec3(32 * CELL, 140.0, 32 * CELL), heading, 6.0, 12.0 * CELL, 50.0)


def changed(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The part of a picture that differs."""
    return float((np.abs(one.astype(int) - other).max(axis=2) > 3).mean())


def test_it_rains_in_storms_and_not_over_loose_sand() -> None:
    assert falling(Weather(), 1.0, over_sand=False) == 0.0
    light, heavy = (falling(Weather(storm=storm), 1.0, over_sand=False) for storm in (0.3, 0.8))
    assert 0.0 < light < heavy < 1.0
    assert falling(Weather(storm=0.8, rain=0.2), 1.0, over_sand=False) < heavy
    assert (
        falling(Weather(storm=0.8, rain=0.0), 1.0, over_sand=False)
        == 0.0
        == falling(Weather(storm=0.8), 0.0, over_sand=False)
    )
    assert falling(Weather(storm=1.0, rain=4.0), 3.0, over_sand=False) == 1.0
    assert falling(Weather(storm=1.0), 1.0, over_sand=True) == 0.0


def test_drops_fall_with_the_time_and_are_the_same_at_the_same_time(draw: Draw) -> None:
    first, again, later = (draw(land(), within(), stormy(), size=(200, 150), time=time) for time in (2.0, 2.0, 2.1))
    np.testing.assert_array_equal(first, again)
    assert 0.001 < changed(first, later) < 0.5
    still = [draw(land(), within(), stormy(rain=0.0), size=(200, 150), time=time) for time in (2.0, 2.1)]
    assert changed(*still) < 0.5 * changed(first, later)


def test_shafts_hang_under_the_clouds_far_away(draw: Draw) -> None:
    """Over a dark land that is looked at from far: paler where it rains, and no picture of squares."""
    far = Camera(glm.vec3(32 * CELL, 0.0, 32 * CELL), 20.0, 14.0, 140.0 * CELL, 34.0)
    dry, wet = (draw(land(), far, stormy(rain=rain), size=(240, 160)).astype(float) for rain in (0.0, 2.0))
    assert changed(dry.astype(np.uint8), wet.astype(np.uint8)) > 0.3
    upper = wet[:20].mean(axis=2)
    assert np.abs(np.diff(upper, axis=1)).max() < 25.0, "soft threads, without edges"


@pytest.mark.parametrize("quality", ["low", "medium"])
def test_levels_that_save_work_show_none_of_it(draw: Draw, quality: str) -> None:
    one, other = (draw(land(), within(), stormy(quality, rain=rain), size=(120, 90)) for rain in (0.0, 2.0))
    np.testing.assert_array_equal(one, other)


def test_dust_storms_are_dry(draw: Draw) -> None:
    """Also before they have raised any."""
    sand = with_layers(land(), airborne=np.zeros((64, 64)))
    one, other = (draw(sand, within(), stormy(rain=rain), size=(120, 90)) for rain in (0.0, 2.0))
    np.testing.assert_array_equal(one, other)


def test_it_snows_where_it_is_cold(draw: Draw) -> None:
    """Flakes sink slowly: in the time in which rain has changed the picture, snow has hardly."""
    moved = []
    for temperature in (20.0, -20.0):
        scene = stormy(climate__temperature=temperature, view__snow_line=2.0)
        pair = [draw(replace(land(), cycle=0), within(), scene, size=(200, 150), time=time) for time in (2.0, 2.03)]
        moved.append(changed(*pair))
    assert moved[1] < 0.5 * moved[0]


def test_no_part_of_a_drop_is_dark(draw: Draw) -> None:
    """Before a sky and a land in shade they are bright, also along their edges, which are narrower than a pixel."""
    frames = [draw(land(), within(), stormy(), size=(240, 180), time=time).astype(float) for time in (2.0, 2.15, 2.37)]
    behind = np.median(frames, axis=0)
    assert max((frame - behind).max() for frame in frames) > 20.0
    assert min((frame - behind).min() for frame in frames) > -20.0
