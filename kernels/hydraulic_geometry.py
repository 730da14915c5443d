"""How wide and how deep rivers are, by the water that they carry (Leopold & Maddock 1953).

One law for kernels and picture: w = a · Q^0.5 for the mean discharge, where `a` is the parameter `rivers.width`, and
the depth of a channel full to its banks by its width, from the regional curves of Bieger et al. (2015),
D = 0.30 · (w / 2.70)^0.605. river_points.frag draws rivers by the same law.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@overload
def channel_width(discharge: float, of_one: float) -> float: ...
@overload
def channel_width(discharge: Numbers, of_one: float) -> Numbers: ...
def channel_width(discharge: Numbers | float, of_one: float) -> Numbers | float:
    """Width in metres of a river that carries so many cubic metres a second in the mean.

    `of_one` is the width in metres of a river of 1 m³/s.
    """
    return of_one * discharge**0.5


def discharge_of_width(width: float, of_one: float) -> float:
    """The mean discharge, in cubic metres a second, of a river so many metres wide, where one of 1 m³/s is `of_one`."""
    return (width / of_one) ** 2


@overload
def bankfull_depth(width: float) -> float: ...
@overload
def bankfull_depth(width: Numbers) -> Numbers: ...
def bankfull_depth(width: Numbers | float) -> Numbers | float:
    """Bankfull depth in metres of a channel of this width in metres."""
    return 0.30 * (width / 2.70) ** 0.605
