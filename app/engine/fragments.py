"""Rivers without filling: each ends in the first hollow on its way.

For comparison with the rivers of the filled land: such routing finds mostly fragments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.engine.discharge import discharge_of_world, rivers_by
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff

if TYPE_CHECKING:
    from app.model.world import World
    from kernels.rivers import Drainage


class Fragments(NamedTuple):
    """Drainage of the unfilled ground."""

    drainage: Drainage  # of the unfilled ground; water also ends in pits
    orders: NDArray[np.uint8]  # Strahler's [row, column]; 0 if no river is


def drain_unfilled(
    ground: NDArray[np.float64], cell_size: float, sea_level: float, *, open_edges: bool = True
) -> Drainage:
    """As `kernels.rivers.drain`, without filling: water ends where no neighbour is lower."""
    from kernels.directions import flow_directions
    from kernels.ocean import ocean_mask, outlet_mask
    from kernels.rivers import Drainage
    from kernels.routing import accumulate, routes

    ocean = ocean_mask(ground, sea_level)
    directions = flow_directions(ground, outlet_mask(ocean, open_edges))
    ways = routes(directions, cell_size)
    accumulation = accumulate(directions, ways.order, (~ocean).astype(np.float64))
    return Drainage(ocean, ground, directions, ways, accumulation)


def fragments_of(world: World, rule: RiverParameters, runoff: Runoff) -> Fragments:
    """The fragments of a world, with rivers that begin by this rule."""
    from kernels.routing import strahler_orders

    drainage = drain_unfilled(world.ground, world.cell_size, world.sea_level, open_edges=not world.walls)
    discharge = discharge_of_world(drainage, world, runoff)
    is_river = rivers_by(rule, drainage, discharge, runoff, world.cell_area) >= 1.0
    return Fragments(drainage, strahler_orders(drainage.directions, drainage.routes.order, is_river))
