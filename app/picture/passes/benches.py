"""Benches and cliffs of strata: how far ground of an even slope is raised where hard and soft rock crop out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.model.materials import Materials

CONTRAST = 2.6  # exponent on the tangent of the steepest slope of each rock
BEDS = (0.31, 0.083)  # thickness of sets and of single beds, as fractions of a mean stratum
BED_CONTRAST = 0.55  # standard deviation of their resistance, logarithmic
EVEN = 1.5  # mean strata over which slopes are the same as without benches, in the mean


def bench_table(materials: Materials) -> NDArray[np.float64]:
    """How much deeper in the strata than a plain slope the ground lies, in metres, by the depth of the slope: [step].

    Hard rock forms cliffs and soft rock forms benches, so a hard stratum takes less of the way down than its thickness.
    Ground never rises on the way down. The table is 0 at both ends, and without contacts: outside there are no benches.
    """
    strata, step = materials.strata, materials.metres_per_step
    contacts = int(np.count_nonzero(np.diff(strata)))
    if contacts == 0:
        return np.zeros(1)
    steepest = np.array([math.tan(math.radians(rock.steepest or 45.0)) for rock in materials.rocks])
    mean_steps = len(strata) / contacts
    resistance = CONTRAST * np.log(steepest[strata]) + _beds(len(strata), mean_steps)
    share = np.exp(-resistance)  # of the way down that a metre of rock takes, relative to others
    share /= _smooth(share, EVEN * mean_steps)
    ground = (np.arange(len(strata)) + 0.5) * step
    slope = np.cumsum(share) * step
    slope += _smooth(ground - slope, EVEN * mean_steps)
    deeper = np.interp(ground, slope, ground) - ground
    ends = np.minimum(ground, ground[-1] - ground) / (mean_steps * step)
    tapered: NDArray[np.float64] = np.maximum.accumulate(ground + deeper * np.clip(ends - 0.125, 0.0, 1.0)) - ground
    return tapered


def _beds(steps: int, mean_steps: float) -> NDArray[np.float64]:
    """Logarithmic resistance of beds within the strata, relative to their rock."""
    found = np.zeros(steps)
    for number, thickness in enumerate(BEDS):
        width = max(thickness * mean_steps, 1.0)
        random = np.random.default_rng(number).normal(0.0, BED_CONTRAST / math.sqrt(len(BEDS)), steps)
        bounds = np.cumsum(width * np.random.default_rng(10 + number).uniform(0.4, 1.6, int(2.5 * steps / width) + 1))
        found += random[np.minimum(np.searchsorted(bounds, np.arange(steps)), steps - 1)]
    return found


def _smooth(values: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """The weighted mean over a Gaussian window, with this standard deviation in steps."""
    reach = min(math.ceil(3.0 * deviation), len(values) - 1)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    return np.convolve(np.pad(values, reach, mode="edge"), weights / weights.sum(), "valid")
