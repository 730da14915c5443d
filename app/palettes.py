"""Colours of what is found out about water, for previews and for overlays.

A palette is a sequence of sRGB colours with opacity, evenly spaced from the low end of a range to its high end.
"""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

Stops = tuple[tuple[int, int, int, float], ...]

# From a puddle to a deep lake, from a brook to a stream, and from the coast to the farthest spring
LAKE: Stops = ((150, 205, 214, 0.0), (118, 186, 208, 0.9), (62, 134, 184, 1), (32, 84, 146, 1), (18, 44, 96, 1))
ACCUMULATION: Stops = (
    (12, 16, 26, 0.85), (18, 38, 66, 0.9), (26, 78, 116, 0.95),
    (64, 146, 172, 1), (168, 216, 214, 1), (250, 252, 240, 1),
)  # fmt: skip
DISTANCE: Stops = (
    (28, 44, 74, 1), (38, 90, 112, 1), (86, 140, 116, 1), (176, 176, 112, 1), (226, 190, 138, 1), (246, 232, 214, 1),
)  # fmt: skip

RIVER = (34, 92, 158)
OCEAN = (30, 62, 92)

# Neighbouring numbers should look different: the golden ratio spreads hues evenly however many there are.
_GOLDEN = 0.6180339887498949
# Of watersheds there may be more colours than the eye can tell apart; from here on they come again.
WATERSHED_COLOURS = 255


def watershed_colours() -> NDArray[np.float64]:
    """sRGB in [0, 1] by the number of a watershed's colour, [number, 3]; number 0 is the coast."""
    colours = [(0.62, 0.60, 0.57)]
    for number in range(WATERSHED_COLOURS):
        hue = (0.08 + number * _GOLDEN) % 1.0
        saturation = (0.40, 0.46, 0.33)[number % 3]
        value = (0.66, 0.54, 0.72, 0.60)[number % 4]
        colours.append(colorsys.hsv_to_rgb(hue, saturation, value))
    return np.array(colours)


def watershed_stops() -> Stops:
    """The same colours as a palette with a stop for each number. The coast has none."""
    colours = np.rint(255.0 * watershed_colours()).astype(int).tolist()
    return tuple((red, green, blue, float(number > 0)) for number, (red, green, blue) in enumerate(colours))


def interpolated(stops: Stops, steps: int) -> NDArray[np.float64]:
    """A palette as sRGB in [0, 1] with opacity, [step, 4]."""
    table = np.array(stops, np.float64)
    table[:, :3] /= 255.0
    at = np.linspace(0.0, len(stops) - 1.0, steps)
    return np.stack([np.interp(at, np.arange(len(stops)), table[:, channel]) for channel in range(4)], axis=1)
