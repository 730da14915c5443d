"""Colours of maps, for previews and for overlays.

A palette is a sequence of sRGB colours with opacity, evenly spaced from the low end of a range to its high end.
"""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

Stops = tuple[tuple[int, int, int, float], ...]

# All are readable without telling red from green: lightness rises with the value, or falls on both sides of a middle,
# like cmocean (Thyng et al. 2016) and the scientific colour maps (Crameri 2018). Deeper water is darker, as on charts.
# The palette is transparent where a value means nothing.

# From a puddle to a deep lake, from a brook to a stream, and from the coast to the farthest spring
LAKE: Stops = ((150, 205, 214, 0.0), (118, 186, 208, 0.9), (62, 134, 184, 1), (32, 84, 146, 1), (18, 44, 96, 1))
ACCUMULATION: Stops = (
    (12, 16, 26, 0.85), (18, 38, 66, 0.9), (26, 78, 116, 0.95),
    (64, 146, 172, 1), (168, 216, 214, 1), (250, 252, 240, 1),
)  # fmt: skip
DISTANCE: Stops = (
    (28, 44, 74, 1), (38, 90, 112, 1), (86, 140, 116, 1), (176, 176, 112, 1), (226, 190, 138, 1), (246, 232, 214, 1),
)  # fmt: skip

# Land and processes
RELIEF: Stops = (
    (36, 86, 88, 1), (66, 112, 86, 1), (108, 132, 82, 1), (168, 158, 98, 1), (214, 190, 144, 1), (244, 236, 226, 1),
)  # fmt: skip
HEAT: Stops = (
    (32, 40, 84, 0.9), (98, 52, 120, 1), (178, 66, 104, 1), (236, 112, 76, 1), (250, 196, 106, 1), (252, 246, 208, 1),
)  # fmt: skip
CONTACT: Stops = (
    (60, 48, 110, 0), (98, 52, 120, 0.8), (178, 66, 104, 1), (236, 112, 76, 1), (250, 196, 106, 1), (252, 246, 208, 1),
)  # fmt: skip
SAND: Stops = ((96, 58, 40, 0), (150, 92, 48, 0.75), (206, 142, 66, 1), (242, 198, 112, 1), (254, 242, 196, 1))
WORN: Stops = ((84, 22, 44, 0), (150, 48, 56, 0.75), (210, 92, 72, 1), (242, 162, 126, 1), (253, 230, 214, 1))
WATER: Stops = ((196, 226, 240, 0), (150, 206, 232, 0.85), (76, 158, 210, 1), (32, 98, 172, 1), (16, 44, 110, 1))
FLOW: Stops = ((30, 66, 120, 0), (36, 100, 164, 0.75), (58, 150, 204, 1), (132, 206, 226, 1), (232, 250, 244, 1))
DAMP: Stops = ((48, 62, 66, 0), (38, 92, 104, 0.7), (44, 136, 148, 1), (104, 188, 196, 1), (208, 240, 236, 1))
PLANTS: Stops = ((52, 70, 44, 0), (66, 104, 52, 0.7), (104, 146, 60, 1), (168, 194, 86, 1), (236, 238, 166, 1))
ROOTS: Stops = ((70, 50, 54, 0), (112, 78, 74, 0.75), (158, 120, 100, 1), (200, 172, 146, 1), (242, 230, 216, 1))
WIND: Stops = (
    (48, 58, 96, 1), (62, 110, 150, 1), (120, 172, 164, 1), (218, 214, 170, 1), (238, 168, 92, 1), (196, 76, 54, 1),
)  # fmt: skip
CHANGE: Stops = (
    (140, 34, 30, 1), (206, 94, 66, 0.95), (240, 190, 160, 0.6), (245, 245, 240, 0),
    (166, 200, 224, 0.6), (72, 132, 188, 0.95), (26, 64, 128, 1),
)  # fmt: skip
# Factors: below 1, 1 (transparent), above 1
LESS_AND_MORE: Stops = (
    (128, 70, 14, 1), (204, 130, 44, 0.95), (236, 200, 140, 0.65), (244, 242, 236, 0),
    (150, 210, 196, 0.65), (34, 146, 134, 0.95), (8, 84, 84, 1),
)  # fmt: skip
PROTECTED: Stops = ((152, 140, 214, 0.95), (140, 132, 178, 0))
RIVERS: Stops = ((64, 118, 176, 0.85), (66, 154, 208, 0.95), (132, 208, 230, 1), (232, 250, 248, 1))
FROM_THE_COAST: Stops = ((28, 44, 74, 0), *DISTANCE)  # transparent at the coast
FILLING: Stops = ((16, 20, 30, 0.8), (72, 120, 168, 0), (20, 70, 150, 1))  # transparent at the final level
# Clockwise from north and back: dark north, light south, warm east, cool west
COMPASS: Stops = (
    (96, 46, 92, 0.8), (150, 62, 58, 0.8), (190, 122, 48, 0.8), (206, 186, 92, 0.8), (184, 212, 160, 0.8),
    (104, 186, 192, 0.8), (58, 130, 190, 0.8), (76, 76, 160, 0.8), (96, 46, 92, 0.8),
)  # fmt: skip
NOTHING: Stops = ((0, 0, 0, 0), (0, 0, 0, 0))

RIVER = (34, 92, 158)
OCEAN = (30, 62, 92)

# Neighbouring numbers should look different: the golden ratio spreads hues evenly however many there are.
_GOLDEN = 0.6180339887498949
# The eye cannot distinguish more colours; with more watersheds they repeat.
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
    """The colours as a palette with a stop per number. The coast is transparent."""
    colours = np.rint(255.0 * watershed_colours()).astype(int).tolist()
    return tuple((red, green, blue, float(number > 0)) for number, (red, green, blue) in enumerate(colours))


def interpolated(stops: Stops, steps: int) -> NDArray[np.float64]:
    """A palette as sRGB in [0, 1] with opacity, [step, 4]."""
    table = np.array(stops, np.float64)
    table[:, :3] /= 255.0
    at = np.linspace(0.0, len(stops) - 1.0, steps)
    return np.stack([np.interp(at, np.arange(len(stops)), table[:, channel]) for channel in range(4)], axis=1)
