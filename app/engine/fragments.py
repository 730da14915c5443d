"""What rivers would be where nothing is filled: each ends in the first hollow that it comes to.

For looking on, beside the rivers of the filled land: most of what such routing finds are fragments.
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
    """How the water runs that no filling helps on."""

    drainage: Drainage  # of the ground as it lies; water ends in pits, too
    orders: NDArray[np.uint8]  # Strahler's [row, column]; 0 where no river is


def drain_unfilled(
    ground: NDArray[np.float64], cell_size: float, sea_level: float, *, open_edges: bool = True
) -> Drainage:
    """As `kernels.rivers.drain`, on the ground as it lies: where no neighbour is lower, water ends."""
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
    """The fragments of a world, where rivers begin by that rule."""
    from kernels.routing import strahler_orders

    drainage = drain_unfilled(world.ground, world.cell_size, world.sea_level, open_edges=not world.walls)
    discharge = discharge_of_world(drainage, world, runoff)
    is_river = rivers_by(rule, drainage, discharge, runoff, world.cell_area) >= 1.0
    return Fragments(drainage, strahler_orders(drainage.directions, drainage.routes.order, is_river))
