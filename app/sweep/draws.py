"""Random draws of parameters, spread evenly: a Latin hypercube, the same on every machine.

McKay, Beckman, Conover (1979), "A comparison of three methods for selecting values of input variables in the analysis
of output from a computer code", Technometrics 21.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.random import mix_all, process_number

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # as in `kernels.random`, of which this is the way for whole arrays


def latin_hypercube(seed: int, name: str, count: int) -> NDArray[np.float64]:
    """For each of `count` draws the place of one parameter between 0 and 1: one in each of as many equal parts.

    It depends on the seed, the parameter's name and the count alone, so that another parameter changes none of it.
    """
    key = mix_all(np.array([seed], np.uint64) + GOLDEN)
    key = mix_all((key ^ np.uint64(process_number(name))) + GOLDEN)
    words = mix_all(key + np.arange(1, 2 * count + 1, dtype=np.uint64) * GOLDEN)
    parts = np.argsort(words[:count], kind="stable")
    within = (words[count:] >> np.uint64(11)) * 2.0**-53
    places: NDArray[np.float64] = (parts + within) / count
    return places
