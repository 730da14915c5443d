"""Shaded relief with light from the north-west, as on printed maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.palettes import Stops, interpolated

Values = NDArray[np.floating]
Picture = NDArray[np.float64]  # sRGB in [0, 1], [row, column, 3]

PAPER = (0.93, 0.92, 0.89)
_LIGHT = np.array([-0.5, -0.5, 0.75]) / np.linalg.norm([-0.5, -0.5, 0.75])  # east, south, up
_STEEP = 0.35  # drawn gradient of the median slope


def hill_shade(heights: Values, cell_size: float, known: NDArray[np.bool_] | None = None) -> Values:
    """Hill shading: the cosine of the angle to the light (Lambert 1760), negative in the shade.

    Heights are scaled so that the median slope of `known` cells looks best.
    """
    south, east = gradient(heights, cell_size)
    slopes = np.hypot(south, east)[slice(None) if known is None else known]
    sloping = slopes[slopes > 0.0]
    exaggeration = _STEEP / max(float(np.median(sloping)), 1e-9) if sloping.size else 1.0
    south, east = south * exaggeration, east * exaggeration
    light: Values = (_LIGHT[2] - east * _LIGHT[0] - south * _LIGHT[1]) / np.sqrt(1.0 + south * south + east * east)
    return light


def gradient(heights: Values, cell_size: float) -> tuple[Values, Values]:
    """The gradient to the south and to the east, by central differences; 0 on a map of one row."""
    if min(heights.shape) < 2:
        return np.zeros_like(heights), np.zeros_like(heights)
    return np.gradient(heights, cell_size, axis=0), np.gradient(heights, cell_size, axis=1)


def relief(heights: Values, cell_size: float) -> Picture:
    """Pale paper in relief."""
    paper: Picture = np.clip(0.30 + 0.85 * hill_shade(heights, cell_size), 0.0, 1.0)[..., None] * PAPER
    return paper


def by_height(heights: Values, stops: Stops) -> Picture:
    """The colours of a palette, without its opacity, from the lowest to the highest."""
    low, high = float(heights.min()), float(heights.max())
    return _colours(heights, low, high, stops)[..., :3]


def lit(colours: Picture, light: Values) -> Picture:
    """Colours in the light of `hill_shade`."""
    return (0.4 + 0.7 * np.clip(light, 0.0, 1.0))[..., None] * colours


def over(below: Picture, colour: NDArray[np.float64], opacity: Values) -> Picture:
    """Blend a colour, or one per cell, over a picture."""
    return below + opacity[..., None] * (colour - below)


def with_palette(relief: Picture, values: Values, low: float, high: float, stops: Stops, opacity: float) -> Picture:
    """Blend a palette over a relief, keeping its shading."""
    colours = _colours(values, low, high, stops)
    return over(relief, on_relief(colours[..., :3], relief), opacity * colours[..., 3])


def on_relief(colours: Picture, relief: Picture) -> Picture:
    """Colours in the light and shade of a relief."""
    light = relief.mean(axis=-1, keepdims=True) / np.mean(PAPER)
    shaded: Picture = np.clip(colours * (0.35 + 0.75 * light), 0.0, 1.0)
    return shaded


def to_pixels(picture: Picture) -> NDArray[np.uint8]:
    return np.rint(255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)


def _colours(values: Values, low: float, high: float, stops: Stops) -> NDArray[np.float64]:
    part = np.clip((values - low) / max(high - low, 1e-12), 0.0, 1.0)
    colours: NDArray[np.float64] = interpolated(stops, 256)[np.rint(255 * part).astype(np.intp)]
    return colours
