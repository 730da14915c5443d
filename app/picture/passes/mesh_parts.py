"""The nodes of the ground's mesh as they are drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class MeshParts(NamedTuple):
    """The nodes as they are drawn, each as a table like that of nodes, in the same order.

    Few quads are twisted, so that only parts of nodes have vertices at the centres of quads.
    """

    whole: np.ndarray  # nodes without such vertices
    plain: np.ndarray  # parts of the others, `PATCH` quads along a side, without them
    crossed: np.ndarray  # parts with them
