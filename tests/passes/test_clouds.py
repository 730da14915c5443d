"""Clouds in the sky, and their shadows on land and sea."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import drowned, flat, snapshot

CELL = 20.0
SIDE = 64 * CELL


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
    assert spreads["low", 0.5] == spreads["low", 0.0]


def test_shadows_are_soft(draw: Draw) -> None:
    size = (240, 240)
    pictures = [
        draw(plain(), from_above(), scene(quality="high", clouds=cover), size=size)
        .astype(float)
        .mean(axis=2)[60:180, 60:180]
        for cover in (0.0, 0.5)
    ]
    part = pictures[1] / pictures[0]
    assert part.min() < 0.75
    assert max(np.abs(np.diff(part, axis=axis)).max() for axis in (0, 1)) < 0.14


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
