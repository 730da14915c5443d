"""The streams of a world: directions and discharge of its water, from rain and springs to the end."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from app.engine.discharge import closed_edge, inflow_of, water_of_land
from app.model.layered_map import ICE, SHELTERING
from app.model.layers import ARM_CODES
from app.model.runoff import Runoff
from app.model.world import World

# Streams cross hollows that are shallower than this, in cells. Carving drops leave such hollows.
POOL_DEPTH = 0.1
# Depth that is assumed for the bed of a stream, in cells, where drops have made one: on flat ground streams follow
# the thread of most discharge, and stay in it.
BED_DEPTH = 0.03
OLD_BED_DEPTH = 0.08  # the same for a stream that existed before; less than the depth that ends one
# Fraction of the old discharge that is remembered, and fraction that must remain for this.
MEMORY, LEFT = 0.7, 0.3
# Drops wander: those within so many reference cells to either side count as one stream, and by at most this factor.
BESIDE, UNSEEN = 4, 3.0
# Of the discharge of the smallest stream that is seen: what less than that runs in a thread seeps through its gravel.
SEEPING = 0.25


def streams_of(
    world: World, runoff: Runoff, before: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The discharge of each cell in cubic metres a second, and 1 + the number of the neighbour that it goes to.

    Of a river that parts into threads that is the one that most goes to, and less than 0.

    0 if no water goes on, and in lakes, where none is seen to run. Numbers as in `kernels.neighbours`; both
    [row, column]. Water runs as rain and springs feed it; where drops have run, no more than they brought: some soaks
    away or evaporates. Streams that were there `before`, by their discharge, stay where they are until the land around
    lies lower by more than their bed. On smooth ground they wander by its unevenness, beside the steepest ways of
    `kernels.rivers.drain`, which analyses and the overlays of drainage go by.
    """
    from kernels.neighbours import OUTLET
    from kernels.rain import rain_map
    from kernels.standing import LAKE
    from kernels.streams import find_streams

    rain = world.layers.get("rain")
    water = water_of_land(world.ground, runoff, rain, world.rain_rate)
    surface = world.ground.copy()
    stands = (world.standing == LAKE) & (world.water_level > surface)
    surface[stands] = world.water_level[stands]
    if before is not None:
        least = runoff.smallest_stream(world.reference_cell_size)
        surface -= (OLD_BED_DEPTH * world.cell_size) * before / (before + max(least, 1e-30))
    most = crossed = None
    if runoff.from_drops and "discharge" in world.layers and world.layers["discharge"].any():
        passing = _passing(world, runoff)
        usual = float(rain_map(world.ground, rain, runoff.by_altitude).mean())
        surface -= (BED_DEPTH * world.cell_size) * passing / (passing + runoff.least_cells)
        crossed = ~stands & (passing > 0.0)
        reach = max(round(BESIDE * world.reference_cell_size / world.cell_size), 1)
        most = np.where(~stands, UNSEEN * usual * _sum_around(passing, reach) / (2 * reach + 1), np.inf)
    elif not runoff.lasts:
        return np.zeros(world.shape, np.float32), np.zeros(world.shape, np.float32)
    inflow = inflow_of(runoff, world.shape, world.cell_area)
    if inflow is not None:
        crossed = np.ones(world.shape, np.bool_)  # a river that comes in goes on over all hollows
    found = find_streams(
        surface,
        world.sea_level,
        water,
        pool_depth=POOL_DEPTH * world.cell_size,
        kept=(1.0 - runoff.loss) ** (world.cell_size / world.reference_cell_size),
        most=most,
        crossed=crossed,
        inflow=inflow,
        closed=closed_edge(runoff, world.shape),
        open_edges=not world.walls,
    )
    flow = found.flow * runoff.discharge(world.cell_area)
    directions = np.where(found.directions == OUTLET, 0, found.directions + 1)
    if runoff.braided:
        _part(world, runoff, flow, directions)
    if ARM_CODES in world.layers:
        from kernels.distributaries import run_in_arms

        run_in_arms(world.layers[ARM_CODES], flow, directions)
    if before is not None:  # otherwise faint streams flicker
        goes_on = flow > LEFT * before
        flow[goes_on] += MEMORY * (before[goes_on] - flow[goes_on])
    _follow_centrelines(world, flow, directions)
    if ICE in world.layers:  # under it none is seen
        stands = stands | (world.layers[ICE] >= SHELTERING)
    flow[stands], directions[stands] = 0.0, 0
    return flow.astype(np.float32), directions.astype(np.float32)


def _part(world: World, runoff: Runoff, flow: NDArray[np.float64], directions: NDArray[np.integer]) -> None:
    """Route braided rivers as their process does: by all downward directions, over the unfilled ground."""
    from kernels.braids import part

    rows, columns = world.shape
    sources = np.zeros(world.shape)
    for south, east, water in runoff.braided:
        sources[min(int(south * rows), rows - 1), min(int(east * columns), columns - 1)] += water
    if not sources.any():
        return
    parted = part(world.ground, world.cell_size, sources, sea_level=world.sea_level, open_edges=not world.walls)
    all_of_it = runoff.discharge(flow.size * world.cell_area)
    passing = parted.water * (all_of_it / runoff.depth_of_drops(world.reference_cell_size))
    here = passing > SEEPING * runoff.smallest_stream(world.reference_cell_size)
    flow[here] += passing[here]
    directions[here] = -1 - parted.directions[here]


def _follow_centrelines(world: World, flow: NDArray[np.float64], directions: NDArray[np.integer]) -> None:
    """Route meandering rivers along their centrelines, with the discharge that shapes them."""
    from kernels.neighbours import COLUMN_STEPS, ROW_STEPS

    numbers = {step: number for number, step in enumerate(zip(ROW_STEPS.tolist(), COLUMN_STEPS.tolist(), strict=True))}
    rows, columns = world.shape
    river, south, east, discharge, _ = world.centrelines.T
    for line in np.unique(river):
        own = river == line
        points = np.stack([south[own], east[own]], axis=1) / world.cell_size
        way = np.append(0.0, np.hypot(*np.diff(points, axis=0).T).cumsum())
        along = np.arange(0.0, way[-1], 0.5)  # in cells, so that successive points are in neighbouring cells
        cells = np.stack([np.interp(along, way, points[:, axis]) for axis in (0, 1)], axis=1).astype(int)
        cells = cells.clip(0, [rows - 1, columns - 1])
        cells = cells[np.append(True, np.diff(cells, axis=0).any(axis=1))]
        carried = discharge[own][0]
        for cell, following in itertools.pairwise(map(tuple, cells.tolist())):
            flow[cell] = max(flow[cell], carried)
            directions[cell] = 1 + numbers[following[0] - cell[0], following[1] - cell[1]]
        last = tuple(cells[-1])
        flow[last] = max(flow[last], carried)


def _passing(world: World, runoff: Runoff) -> NDArray[np.float64]:
    """Recent passage of drops through each cell, relative to the mean."""
    times = world.reference_cell_size / world.cell_size
    mean = runoff.drops * times**2 * runoff.drop_depth * world.reference_cell_size / world.ground.size
    remembered = 1.0 - (1.0 - runoff.memory) ** max(world.cycles_before + world.cycle, 1)  # averages begin at 0
    passed: NDArray[np.float64] = world.layers["discharge"] / np.float64(mean * remembered)
    return passed


def _sum_around(values: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """The sum over the square of this reach around each cell."""
    sums = np.pad(np.pad(values, reach).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    side = 2 * reach + 1
    around: NDArray[np.float64] = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return around.clip(min=0.0)
