"""Layers of a map as kernels take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Layer = NDArray[np.float64]

# Height beyond the edges: above any ground, and finite, as infinity times 0 is not a number.
WALL = 1e300


def check_layers(*layers: Layer) -> None:
    """Raises `ValueError` where layers are not what kernels are compiled for."""
    for layer in layers:
        if layer.shape != layers[0].shape or layer.dtype != np.float64 or not layer.flags.c_contiguous:
            raise ValueError("layers must be C-contiguous float64 arrays of one shape")
