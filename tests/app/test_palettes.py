"""Palettes: they can be read by eyes that cannot tell red from green, or blue from yellow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from app.model import palettes
from app.model.overlays import OVERLAYS, Value, overlay_range
from app.model.palettes import Stops, interpolated
from tests.passes.worlds import bumps, snapshot

# What is seen in linear light without one kind of cones, at full strength (Machado, Oliveira, Fernandes 2009)
EYES = {
    "all": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
RISING = {
    "RELIEF", "HEAT", "CONTACT", "SAND", "WORN", "FLOW", "DAMP", "PLANTS", "ROOTS", "RIVERS", "ACCUMULATION",
    "DISTANCE",
}  # fmt: skip
FALLING = {"LAKE", "WATER"}
OF_TWO_SIDES = {"CHANGE", "LESS_AND_MORE"}


def lab(srgb: NDArray[np.float64], eye: str) -> NDArray[np.float64]:
    """CIE L*a*b* of colours as an eye sees them."""
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ EYES[eye].T, 0.0, 1.0) @ XYZ.T / WHITE
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0)
    light, red, yellow = 116.0 * root[:, 1] - 16.0, 500.0 * (root[:, 0] - root[:, 1]), 200.0 * (root[:, 1] - root[:, 2])
    return np.stack([light, red, yellow], axis=1)


def stops(name: str) -> Stops:
    found: Stops = getattr(palettes, name)
    return found


def test_lightness_goes_one_way_with_the_value(subtests: pytest.Subtests) -> None:
    for name in sorted(RISING | FALLING):
        for eye in EYES:
            with subtests.test(name=name, eye=eye):
                lightness = lab(interpolated(stops(name), 32)[:, :3], eye)[:, 0] * (1.0 if name in RISING else -1.0)
                assert (np.diff(lightness) > 0.0).all()
                assert np.ptp(lightness) > 40.0


def test_two_sides_part_from_a_light_middle_and_look_unlike(subtests: pytest.Subtests) -> None:
    for name in sorted(OF_TWO_SIDES):
        for eye in EYES:
            with subtests.test(name=name, eye=eye):
                seen = lab(interpolated(stops(name), 65)[:, :3], eye)
                assert (np.diff(seen[:33, 0]) > 0.0).all() and (np.diff(seen[32:, 0]) < 0.0).all()
                if eye != "no blue":  # and there hatches tell them apart
                    apart = np.linalg.norm(seen[:20] - seen[:-21:-1], axis=1)
                    assert apart.min() > 20.0


def test_neighbouring_directions_look_unlike(subtests: pytest.Subtests) -> None:
    for eye in EYES:
        with subtests.test(eye=eye):
            seen = lab(np.array(palettes.COMPASS)[:, :3] / 255.0, eye)
            assert np.linalg.norm(np.diff(seen, axis=0), axis=1).min() > 12.0
            opposite = np.linalg.norm(seen[:4] - seen[4:8], axis=1)
            assert opposite.min() > 25.0


def test_every_palette_of_an_overlay_is_looked_at() -> None:
    looked_at = {palettes.FROM_THE_COAST} | {
        getattr(palettes, name) for name in RISING | FALLING | OF_TWO_SIDES | {"COMPASS"}
    }
    others = {palettes.NOTHING, palettes.PROTECTED, palettes.FILLING, palettes.WIND, palettes.watershed_stops()}
    assert {overlay.palette for overlay in OVERLAYS.values()} <= looked_at | others


def test_what_is_clear_is_said_and_nothing_else() -> None:
    for overlay in OVERLAYS.values():
        clear = min(stop[3] for stop in overlay.palette) == 0.0 and overlay.palette != palettes.NOTHING
        says = overlay.clear != ""
        # The sea has neither contours nor directions, and rivers are lines, whatever their palettes hold.
        assert says == (clear or overlay.value in (Value.CONTOURS, Value.ARROWS, Value.RIVERS)), overlay.name


def test_nothing_is_clear(subtests: pytest.Subtests) -> None:
    """A value of 0 has no colour, and one that has a colour is not 0, but where 0 is what is shown."""
    shown = snapshot(bumps(8, 8))
    for name, overlay in OVERLAYS.items():
        if not overlay.clear or overlay.value not in (Value.LAYER, Value.SEDIMENT):
            continue
        with subtests.test(name=name):
            low, high = overlay_range(name, shown)
            opacities = interpolated(overlay.palette, 257)[:, 3]
            at_nothing = opacities[round(256.0 * min(max(-low / (high - low), 0.0), 1.0))]
            assert at_nothing == (0.0 if name not in ("protection", "filling") else overlay.palette[0][3])
