"""From heights to rivers.

Fill the depressions from the ocean (`kernels.filling`), direct the water of each cell (`kernels.directions`), follow it
to the ocean (`kernels.routing`) and count what gathers. Lakes and watersheds are read off the result (`kernels.lakes`,
`kernels.watersheds`).

The method is that of an article on rivers for maps of imagined worlds, whose levels advance from the coast, front by
front, until nothing changes; its end state is computed here at once. Its pseudocode says max where its text means min.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.directions import flow_directions
from kernels.filling import fill
from kernels.ocean import ocean_mask, outlet_mask
from kernels.path_cost import break_ties, path_cost
from kernels.routing import Routes, accumulate, empty_routes, routes


class Drainage(NamedTuple):
    """How a map drains; arrays are [row, column]."""

    ocean: NDArray[np.bool_]
    filled: NDArray[np.float64]  # the ground with its depressions filled, in metres
    directions: NDArray[np.int8]  # the number of the neighbour that water flows to: see `kernels.neighbours`
    routes: Routes
    accumulation: NDArray[np.float64]  # land's cells upstream, its own included, or their rain


def drain(
    ground: NDArray[np.float64],
    cell_size: float,
    sea_level: float,
    *,
    open_edges: bool = True,
    closed: NDArray[np.bool_] | None = None,
    rain: NDArray[np.float64] | None = None,
    by_cost: bool = False,
    out: Drainage | None = None,
) -> Drainage:
    """How the water of a map reaches the ocean.

    `ground` are finite heights in metres, float64 [row, column], C-contiguous, of at least 2 × 2 cells of side
    `cell_size` metres. The ocean is what lies below `sea_level` and is reached from the map's edge; -inf means that
    there is none. Water leaves over the map's edge too where `open_edges` says so or where there is no ocean, but for
    cells that are `closed`. `rain` is what falls on each cell, by default 1; what falls on the ocean does not count.
    `by_cost`: of equally steep ways water takes that of the least cost to the ocean. `out` is an earlier result for a
    map of the same shape, whose arrays are used again.
    """
    if ground.dtype != np.float64 or not ground.flags.c_contiguous or ground.ndim != 2 or min(ground.shape) < 2:
        raise ValueError("ground must be a C-contiguous float64 array of at least 2 × 2 cells")
    if not np.isfinite(ground.sum()):
        raise ValueError("ground must be finite")
    if rain is not None and rain.shape != ground.shape:
        raise ValueError("rain must have the shape of the ground")
    ocean = ocean_mask(ground, sea_level)
    outlets = outlet_mask(ocean, open_edges, closed)
    if out is None:
        shape = ground.shape
        out = Drainage(ocean, np.empty(shape), np.empty(shape, np.int8), empty_routes(*shape), np.empty(shape))
    fill(ground, outlets, out.filled)
    # The order of cells is not known yet, so its room is free.
    flow_directions(out.filled, outlets, out.directions, scratch=out.routes.order)
    if by_cost:
        break_ties(out.filled, outlets, path_cost(out.filled, outlets, cell_size), out.directions)
    routes(out.directions, cell_size, out.routes)
    out.accumulation[:] = 1.0 if rain is None else rain
    out.accumulation[ocean] = 0.0
    accumulate(out.directions, out.routes.order, out.accumulation)
    return out._replace(ocean=ocean)
