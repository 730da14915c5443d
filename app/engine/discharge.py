"""Mean discharge, and where rivers begin: for overlays, lists, analyses and exports.

The water comes from the climate, its maps and rates, and from springs. Drawn streams use the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff

if TYPE_CHECKING:
    from app.model.world import World
    from kernels.rivers import Drainage

Numbers = NDArray[np.float64]

CLOSED = 4  # cells around a place where a river comes in
EXACT_BITS = 53  # of a whole number that a float64 holds


def water_of_land(
    ground: Numbers,
    runoff: Runoff,
    rain: NDArray[np.float32] | None = None,
    rate: NDArray[np.float32] | None = None,
    braided: float = 0.0,
) -> Numbers:
    """Mean water input to each cell, relative to the climate's precipitation on one cell, [row, column].

    `ground` are heights in metres. `rain` is the map of where rain falls and `rate` a factor on it, both [row, column].
    Drops of rain are as many whatever their map, and springs bring so many drops beside them; a rate makes more or
    fewer of rain. `braided` is the precipitation of all cells for a metre of the water of a river that braids; 0 leaves
    them out.
    """
    from kernels.rain import rain_map

    usual = rain_map(ground, rain, runoff.by_altitude)
    all_of_it = float(usual.sum())
    water: Numbers = usual * runoff.rain
    if rate is not None:
        water *= rate
    springs = [(south, east, part * all_of_it) for south, east, part in runoff.springs]
    springs += [(south, east, part * braided) for south, east, part in runoff.braided]
    _add_at(water, springs)
    return water


def inflow_of(runoff: Runoff, shape: tuple[int, int], cell_area: float) -> Numbers | None:
    """What comes in from outside of a map of cells of so many square metres, as `water_of_land`; None if nothing."""
    of_a_cell = runoff.discharge(cell_area)
    if not runoff.inflows or of_a_cell <= 0.0:
        return None
    water = np.zeros(shape)
    _add_at(water, [(south, east, discharge / of_a_cell) for south, east, discharge in runoff.inflows])
    return water


def _add_at(water: Numbers, springs: Iterable[tuple[float, float, float]]) -> None:
    """Add to a map at places south and east, from 0 to 1."""
    rows, columns = water.shape
    for south, east, amount in springs:
        water[min(int(south * rows), rows - 1), min(int(east * columns), columns - 1)] += amount


def closed_edge(runoff: Runoff, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
    """Cells near the places where rivers come in, over which no water leaves the map, [row, column]; None if none do.

    Otherwise a river would leave over the edge beside the place, for each hollow in the floor of its valley.
    """
    if not runoff.inflows:
        return None
    rows, columns = shape
    closed = np.zeros(shape, np.bool_)
    for south, east, _ in runoff.inflows:
        row, column = int(south * rows), int(east * columns)
        closed[max(row - CLOSED, 0) : row + CLOSED + 1, max(column - CLOSED, 0) : column + CLOSED + 1] = True
    return closed


def drained(
    ground: Numbers,
    cell_size: float,
    sea_level: float,
    runoff: Runoff,
    *,
    open_edges: bool = True,
    by_cost: bool = False,
    out: Drainage | None = None,
) -> Drainage:
    """As `kernels.rivers.drain`, with the rivers of the runoff that come in from outside of the map.

    These have as many cells upstream as bring their water.
    """
    from kernels.rivers import drain
    from kernels.routing import accumulate

    closed = closed_edge(runoff, ground.shape)
    drainage = drain(ground, cell_size, sea_level, open_edges=open_edges, closed=closed, by_cost=by_cost, out=out)
    inflow = inflow_of(runoff, ground.shape, cell_size * cell_size)
    if inflow is None:
        return drainage
    cells = np.where(drainage.ocean, 0.0, 1.0 + np.rint(inflow))
    return drainage._replace(accumulation=accumulate(drainage.directions, drainage.routes.order, cells))


def mean_discharge(
    drainage: Drainage,
    ground: Numbers,
    cell_size: float,
    runoff: Runoff,
    rain: NDArray[np.float32] | None = None,
    rate: NDArray[np.float32] | None = None,
    reference_cell_size: float | None = None,
) -> Numbers:
    """Mean discharge through each cell, in cubic metres per second, [row, column].

    All rain and all spring water runs off, and what comes in runs on. `drainage` is that of `ground`, in metres;
    `cell_size` is the side of a cell. `rain` and `rate` are as for `water_of_land`, and the cells that the runoff
    counts in are of the side `reference_cell_size`, by default the map's own.
    """
    through = gathered_water(drainage, ground, cell_size, runoff, rain, rate, reference_cell_size or cell_size)
    through *= runoff.discharge(cell_size * cell_size)
    return through


def gathered_water(
    drainage: Drainage,
    ground: Numbers,
    cell_size: float,
    runoff: Runoff,
    rain: NDArray[np.float32] | None,
    rate: NDArray[np.float32] | None,
    reference_cell_size: float,
) -> Numbers:
    """As `mean_discharge`, relative to the precipitation on one cell: sums without any rounding."""
    from kernels.routing import accumulate

    water = water_of_land(ground, runoff, rain, rate, ground.size / runoff.depth_of_drops(reference_cell_size))
    if (inflow := inflow_of(runoff, water.shape, cell_size * cell_size)) is not None:
        water += inflow
    in_whole_parts(water, water.size)
    water[drainage.ocean] = 0.0
    return accumulate(drainage.directions, drainage.routes.order, water)


def in_whole_parts(water: Numbers, cells: int) -> None:
    """Round what falls on cells of a map of so many, relative to the precipitation on one, in place.

    To whole parts of that, as small as they can be for the sum over the map to be exact in whatever order.
    """
    parts = 2.0 ** (EXACT_BITS - cells.bit_length())
    water *= parts
    np.rint(water, out=water)
    water /= parts


def discharge_of_world(drainage: Drainage, world: World, runoff: Runoff) -> Numbers:
    """The mean discharge of a world with this drainage."""
    layers = world.layers
    return mean_discharge(
        drainage,
        world.ground,
        world.cell_size,
        runoff,
        layers.get("rain"),
        world.mean_rain_rate,
        world.reference_cell_size,
    )


def rivers_by(
    rule: RiverParameters, drainage: Drainage, discharge: Numbers, runoff: Runoff, cell_area: float
) -> Numbers:
    """Discharge of each cell relative to the least of a river, [row, column]: rivers have 1 and more.

    `discharge` is as `mean_discharge` has it, of cells of so many square metres.
    """
    return relative_to_least(rule, drainage.accumulation, discharge, runoff, cell_area)


def relative_to_least(
    rule: RiverParameters, cells: Numbers, discharge: Numbers, runoff: Runoff, cell_area: float
) -> Numbers:
    """As `rivers_by`, from the number of land's cells upstream of each cell."""
    if rule.begin == "area":
        return cells / rule.threshold
    least = rule.discharge or rule.threshold * runoff.discharge(cell_area)
    return discharge / least if least > 0.0 else np.where(discharge > 0.0, np.inf, 0.0)
