"""Floods in the picture: waves across the way of the water, rollers where it is slowed, mud that pools share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from app.model.snapshot import Snapshot
from tests.passes.conftest import Draw
from tests.passes.test_water import CELL, calm, flooded, from_above
from tests.passes.worlds import plane, with_layers

SIDE, PIXELS, SLOPE = 48, 320, 0.02
MUDDY, THICK = 0.02, 0.2  # metres of the bed in one of water


def flood(froude: ArrayLike, load: ArrayLike = THICK, depth: float = 3.0) -> Snapshot:
    """A sheet of water that runs to the east with such Froude numbers, and holds so much mud in a metre of depth."""
    ground = plane(SIDE, SIDE, -SLOPE * CELL, 0.0)
    wet, layer = flooded(ground, ground + depth), np.ones((SIDE, SIDE), np.float32)
    return with_layers(wet, froude=layer * froude, suspended=(layer * load * depth).astype(np.float32))


def seen(draw: Draw, shown: Snapshot) -> NDArray[np.float64]:
    scene, middle = calm(quality="high", flow_speed=0.0, sun_height=25.0, sun_direction=270.0), -SLOPE * CELL * SIDE / 2
    return draw(shown, from_above(40.0, SIDE, SIDE, middle), scene, size=(PIXELS, PIXELS)).astype(float)[8:-8, 8:-8]


def test_fast_water_stands_in_waves_across_its_way(draw: Draw) -> None:
    slow, fast = (seen(draw, flood(froude)).mean(axis=2) for froude in (0.45, 1.1))
    assert fast.std() > 2.0 * slow.std()
    cells = fast.reshape(len(fast) // 8, 8, -1, 8).mean(axis=(1, 3))
    across, along = (np.abs(np.diff(cells, axis=axis)).mean() for axis in (0, 1))
    assert along > 1.3 * across, "though foam lies along it in streaks"


def test_water_that_is_faster_than_its_waves_holds_them_aslant(draw: Draw) -> None:
    """Light changes across its way as much as along it, other than in slower water."""

    def across_to_along(froude: float) -> float:
        light = seen(draw, flood(froude, depth=6.0))[..., 2]
        cells = light.reshape(len(light) // 8, 8, -1, 8).mean(axis=(1, 3))
        across, along = (np.abs(np.diff(cells, axis=axis)).mean() for axis in (0, 1))
        return float(across / along)

    assert across_to_along(2.4) > 3.0 * across_to_along(0.95)


def test_fast_water_that_is_slowed_has_a_roller(draw: Draw) -> None:
    """It is white there, and no line of its own where it is not slowed."""
    east = np.arange(SIDE)[None, :] * np.ones((SIDE, 1))
    light = seen(draw, flood(np.where(east < SIDE / 2, 2.6, 0.2))).mean(axis=(0, 2))
    column, cells = light.size // 2, PIXELS / 40
    roller, fast, slow = (light[round(column + cells * part)] for part in (1.5, -10.0, 10.0))
    assert roller > max(fast, slow) + 8.0


def test_shallow_mud_is_paler_than_deep(draw: Draw) -> None:
    """Though it carries no more."""
    shallow, deep = (seen(draw, flood(0.4, depth=depth)).mean() for depth in (0.5, 5.0))
    assert shallow > 1.15 * deep


def test_the_foam_of_fast_water_lies_in_bunches(draw: Draw) -> None:
    """Between them its mud is as dark as that of quiet water, but where it turns to the sky."""
    quiet, fast = (seen(draw, flood(froude, depth=2.0)).mean(axis=2) for froude in (0.1, 3.0))
    foamy = (fast > quiet.mean() + 40.0).mean()
    assert 0.01 < foamy < 0.25, foamy


def test_pools_in_muddy_water_share_its_mud_and_clear_lakes_do_not(draw: Draw) -> None:
    blues = {}
    for half in (0, 1, 14):
        load = np.full((SIDE, SIDE), MUDDY)
        if half:
            load[24 - half : 24 + half, 24 - half : 24 + half] = 0.0
        pixels = seen(draw, flood(0.05, load, depth=2.0))
        middle = pixels.shape[0] // 2
        red, _, blue = pixels[middle - 4 : middle + 4, middle - 4 : middle + 4].mean(axis=(0, 1))
        blues[half] = blue / red
    assert blues[1] < 1.1 * blues[0], "brown"
    assert blues[14] > 1.5 * blues[0], "blue"


def test_the_front_of_a_flood_foams(draw: Draw) -> None:
    """Where nothing runs ahead it is white, more than behind, than deep water, and than what comes slowly."""
    east = np.arange(SIDE)[None, :] * np.ones((SIDE, 1))

    def light(depth: float, froude: float = 6.0) -> NDArray[np.float64]:
        across = seen(draw, flood(np.where(east < SIDE / 2, froude, 0.0), depth=depth)).mean(axis=(0, 2))
        at = [round(across.size // 2 - PIXELS / 40 * cells) for cells in (4.0, 1.0, 16.0, 10.0)]
        return np.array([across[at[0] : at[1]].mean(), across[at[2] : at[3]].mean()])

    shallow, deep, slow = light(0.4), light(3.0), light(0.4, froude=1.8)
    assert shallow[0] > shallow[1] + 15.0
    assert shallow[0] > deep[0] + 15.0
    assert shallow[0] > slow[0] + 15.0, "as along the sides of a flood"


def test_fast_water_leaves_its_banks_muddy(draw: Draw) -> None:
    """Next to it grass is brown, farther off as green as beside slow water."""
    east = np.arange(SIDE)[None, :] * np.ones((SIDE, 1))
    ground = (0.2 * CELL * np.maximum(east - SIDE / 2, -4.0)).astype(np.float32)

    def red_to_green(froude: float) -> NDArray[np.float64]:
        shown = with_layers(flooded(ground, 0.1), froude=np.where(ground < 0.1, froude, 0.0))
        shown = replace(shown, versions={**shown.versions, "water": round(10 * froude)})
        across = seen(draw, shown).mean(axis=0)
        beside, away = (across[across.shape[0] // 2 + 8 * first :][: 8 * 2].mean(axis=0) for first in (1, 8))
        return np.array([beside[0] / beside[1], away[0] / away[1]])

    slow, fast = red_to_green(0.2), red_to_green(2.6)
    assert fast[0] > 1.04 * slow[0]
    assert fast[1] == pytest.approx(slow[1], abs=0.01)


def test_deep_water_that_hardly_runs_keeps_its_mud_below(draw: Draw) -> None:
    """So that a lake that a flood leaves is no plain of mud as soon as its level begins to fall."""
    still, fast = (seen(draw, flood(froude, load=MUDDY, depth=8.0)).mean(axis=(0, 1)) for froude in (0.05, 0.9))
    assert still[2] / still[0] > 1.4 * fast[2] / fast[0]
