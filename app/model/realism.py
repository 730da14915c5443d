"""Measures that tell fluvial terrain from other terrain, with the ranges of real terrain.

`kernels.morphometry` computes them. One measure says little; several out of range show that no rivers made
the land.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["inside", "below", "above", "any", "none"]


@dataclass(frozen=True)
class Measure:
    """A measure, and its range in real terrain of 30 to 90 m cells, ends included.

    A measure that depends on rock and climate alone has no bounds, and its verdict is always "any".
    """

    name: str
    label: str
    unit: str
    decimals: int
    help: str  # definition and source
    needs: str  # requirements on the land
    low: float = -math.inf
    high: float = math.inf
    below: str = ""  # meaning of a value out of range, in one line
    above: str = ""
    has_sign: bool = False  # the range applies to the absolute value

    @property
    def is_bounded(self) -> bool:
        return math.isfinite(self.low) or math.isfinite(self.high)

    def verdict(self, value: float | None) -> Verdict:
        """The position of a value relative to the range; "none" for a missing value."""
        if value is None:
            return "none"
        if not self.is_bounded:
            return "any"
        size = round(abs(value) if self.has_sign else value, self.decimals)  # as it is shown
        return "below" if size < self.low else "above" if size > self.high else "inside"

    def meaning(self, value: float | None) -> str:
        """One line on a value that is out of range or missing; otherwise empty."""
        verdict = self.verdict(value)
        return {"below": self.below, "above": self.above, "none": f"not measured: it needs {self.needs}"}.get(
            verdict, ""
        )

    @property
    def title(self) -> str:
        """Label and unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def text(self, value: float | None) -> str:
        """A value as text."""
        if value is None:
            return "–"
        return f"{round(value, self.decimals) + 0.0:.{self.decimals}f}".replace("-", "−")

    @property
    def range_text(self) -> str:
        """The range of real terrain as text."""
        if not self.is_bounded:
            return "by terrain"
        sign = "±" if self.has_sign else ""
        return f"{sign}{self.low:g} to {sign}{self.high:g}"


# The ranges are those of elevation models of 30 to 90 m cells, measured in the same way; those of Hack's exponent by
# HydroRIVERS basins, of concavity by Gailleton et al. (2021), of Strahler's ratios by Horton (1945).

CHANNELS = "rivers of two orders at least"

# fmt: off
MEASURES: tuple[Measure, ...] = (
    # Models have 0.03 and more, partly from height errors: less is no fault.
    Measure("depth_to_fill", "depth to fill", "m", 2,
        "mean over the land of how much would have to be filled so that everything drains (Barnes et al. 2014)",
        "land", 0.0, 1.0, above="a land of bathtubs: rivers have not cut through the sills of its hollows"),
    Measure("laplacian_skew", "skew of curvature", "", 3,
        "(q95 + q5 − 2·q50) / (q95 − q5) of the 5-point Laplacian's quantiles (Bowley 1901), its size judged",
        "curvature that is not the same everywhere", 0.01, 0.11,
        below="valleys are as sharp as crests: upside down it would look the same, as noise does",
        above="crests (−) or valleys (+) are sharp creases between smooth forms: ridged noise has −0.3", has_sign=True),
    Measure("hack_exponent", "Hack's exponent", "", 2,
        "how the longest way upstream grows with the area, L ∝ A^h, from 1000 cells on (Hack 1957)",
        "rivers with 1000 to 2000 cells upstream", 0.47, 0.61,
        below="basins widen faster than their rivers lengthen: they gather in hollows, and not in valleys",
        above="basins are long and narrow: rivers run side by side and hardly join"),
    Measure("concavity", "concavity θ", "", 2,
        "how the mean gradient of rivers falls with the area, S ∝ A^−θ, in bins of 0.2 decades over 100 cells; without "
        "lakes (Flint 1974)", "rivers that fall, with catchments of 100 to 400 cells and more", 0.25, 0.6,
        below="rivers are nearly as steep below as above: they have not shaped their beds",
        above="steep heads over flat trunks: valleys are drowned, or filled with what rivers do not carry out"),
    Measure("steepness", "steepness ksn", "m^0.9", 1,
        "S·A^0.45, the gradient for its area: it grows with uplift and with hard rock (Wobus et al. 2006)",
        "rivers that fall, with catchments of 100 to 400 cells and more"),
    Measure("hypsometric_integral", "hypsometric integral", "", 2,
        "(mean − lowest) / (highest − lowest) of the land (Strahler 1952; Pike and Wilson 1971)",
        "land that is not all of one height", 0.2, 0.6,
        below="nearly all of it is low, under a few peaks: worn down, or buried",
        above="nearly all of it is high: a plateau that rivers have hardly reached"),
    Measure("median_slope", "median slope", "°", 1,
        "half of the land is steeper; lakes and sea left out. Hillslopes of young ranges crowd at 30 to 35° "
        "(Montgomery 2001)", "land outside of lakes"),
    Measure("steep_slope", "steepest 5 %", "°", 1, "5 % of the land is this steep, or steeper; lakes and sea left out",
        "land outside of lakes"),
    Measure("drainage_density", "drainage density", "km/km²", 2,
        "length of all rivers for each area of land (Horton 1945)", "land"),
    Measure("bifurcation_ratio", "bifurcation ratio", "", 2,
        "rivers of an order for each of the next: the mean over Strahler's orders, each by how many rivers it is of "
        "(Horton 1945; Strahler 1953)", CHANNELS, 3.0, 5.0,
        below="rivers meet in pairs, with few tributaries on the way",
        above="many brooks run straight into a large river: valleys without branches"),
    Measure("length_ratio", "length ratio", "", 2,
        "mean length of the rivers of an order over that of the order below, averaged in the same way (Horton 1945)",
        CHANNELS, 1.5, 3.5,
        below="large rivers are as short as their tributaries: they end at the next confluence or coast",
        above="a few trunks are very long for their tributaries"),
)
# fmt: on


class PowerLaw(NamedTuple):
    """y = factor · x^exponent."""

    factor: float
    exponent: float


class Spread(NamedTuple):
    """How sure a value is: nine of ten lands that are drawn from the basins of this one have one between these."""

    low: float
    high: float


class Curve(NamedTuple):
    """Points of a plot, and the fitted law, if any."""

    x: NDArray[np.float64]  # [point]
    y: NDArray[np.float64]
    law: PowerLaw | None = None


@dataclass(frozen=True)
class Realism:
    """The measures of a land at a cycle.

    Curves: `slope_area`, mean gradient over m², `hack`, metres of the longest way upstream over m², `hypsometry`,
    relative height over the part of the land that lies higher, and `slopes`, the part of the land over degrees.
    """

    cycle: int
    values: Mapping[str, float | None]  # by measure; None if missing
    curves: Mapping[str, Curve]

    def outside(self) -> list[Measure]:
        """The measures that are out of range."""
        return [measure for measure in MEASURES if measure.verdict(self.values[measure.name]) in ("below", "above")]
