"""Where water leaves the land: into the ocean, and over the map's edge."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kernels.blocks import for_blocks
from kernels.components import components


def _border(rows: int, columns: int) -> NDArray[np.bool_]:
    border = np.ones((rows, columns), np.bool_)
    border[1:-1, 1:-1] = False
    return border


def ocean_mask(ground: NDArray[np.float64], sea_level: float) -> NDArray[np.bool_]:
    """The cells of `ground` [row, column] below `sea_level` that the sea reaches from the map's edge.

    It reaches a cell through cells below sea level that touch each other, over a corner too. Land below sea level that
    a shore shuts off is land. A sea level of -inf means no ocean.
    """
    if sea_level == -math.inf:
        return np.zeros(ground.shape, np.bool_)
    below = np.empty(ground.shape, np.bool_)
    for_blocks(lambda rows: np.less(ground[rows], sea_level, out=below[rows]), *ground.shape)
    if not below.any():
        return below
    labels, count = components(below)
    reached = np.zeros(count + 1, np.bool_)
    for side in (labels[0], labels[-1], labels[:, 0], labels[:, -1]):
        reached[side] = True
    reached[0] = False
    ocean = below
    for_blocks(lambda rows: reached.take(labels[rows], out=ocean[rows], mode="clip"), *ground.shape)
    return ocean


def outlet_mask(
    ocean: NDArray[np.bool_], open_edges: bool = True, closed: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """The cells [row, column] where water is out: the ocean, and the map's edge where that is open and not `closed`.

    Where that leaves none, all of the map's edge is the outlet all the same, since water needs one.
    """
    if not open_edges and ocean.any():
        return ocean
    border = _border(*ocean.shape)
    outlets = ocean | border if closed is None else ocean | (border & ~closed)
    return outlets if outlets.any() else border
