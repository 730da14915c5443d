"""Meandering: trunk rivers that swing over their flood plains, cut off bends, and leave bars and oxbows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.discharge import discharge_of_cycle
from app.processes.kinds import account_for
from app.processes.process import register

if TYPE_CHECKING:
    from kernels.materials import Materials as MaterialFields

CAUSE = "worn by meanders"
LEFT = "left in oxbows"

SEARCH = 20  # cycles between searches for rivers
SHORTEST = 12.0  # widths: a shorter reach has no room for bends
NARROWEST = 0.25  # cells: narrower rivers are not resolved
REACH = 10.0  # widths to each side over which the slope of a valley is measured
DELTA = 60  # cells around a mouth in which a river fills the water that it runs into

Numbers = NDArray[np.float64]


class MeanderingParameters(Parameters, frozen=True, kw_only=True):
    """Migration of trunk rivers by the curvature of their bends (Howard, Knutson 1984), with cut-offs and bars."""

    title: ClassVar[str] = "Meandering"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("trunk rivers that migrate, with point bars, cut-offs and oxbows")] = False
    migration: Annotated[float, parameter(0.0, 50.0, "migration rate of a bend whose radius is the river's width",
        unit="m/year", log=True, essential=True)] = 2.0
    years_per_cycle: Annotated[float, parameter(0.01, 1000.0, "time that passes in a cycle for the rivers",
        unit="years", log=True, essential=True)] = 1.0
    past_years: Annotated[float, parameter(0.0, 10_000.0,
        "how long rivers have wandered before the first cycle",
        unit="years", needs="world.past")] = 0.0
    discharge: Annotated[float, parameter(0.0, 100_000.0,
        "mean discharge of all the map's running water; 0: its precipitation", unit="m³/s", log=True,
        essential=True)] = 0.0
    narrowest: Annotated[float, parameter(0.5, 1000.0, "narrower rivers stay in their beds", unit="m", log=True,
        essential=True)] = 10.0
    steepest: Annotated[float, parameter(0.0, 0.2, "slope of the steepest valley in which a river meanders",
        log=True)] = 0.01
    friction: Annotated[float, parameter(0.001, 0.1, "friction coefficient of the bed; less makes longer bends",
        log=True)] = 0.015
    rock_erodibility: Annotated[float, parameter(0.0, 1.0,
        "retreat of a bank of rock beside that of one of loose material")] = 0.05
    bars: Annotated[float, parameter(0.0, 1.0,
        "variation of the height of point bars, as a fraction of the depth; leaves scrolls")] = 0.5
    flood_deposition: Annotated[float, parameter(0.0, 1.0,
        "fraction of its depth below the flood plain that floods fill at the bank", unit="1/year", log=True)] = 0.002
    flood_reach: Annotated[float, parameter(0.1, 10.0, "distance from the bank over which floods leave a third as much",
        unit="widths", log=True)] = 3.0
    bed_diffusivity: Annotated[float, parameter(0.0, 1e6, "how fast a bed evens out along the river", unit="m²/year",
        log=True)] = 2000.0
    # fmt: on


@register
class Meandering:
    """Lets the trunk rivers of a world migrate, one cycle at a time."""

    name: ClassVar[str] = "meandering"
    after: ClassVar[str] = "droplets"
    parameters: ClassVar[type[Parameters]] = MeanderingParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", "water")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        from kernels import meanders

        plain = np.add.outer(np.zeros(24), np.arange(24.0, 0.0, -1.0) * 0.01)
        world = World(plain, np.ones((24, 24)), cell_size=10.0, seed=0)
        parameters, cycle = MeanderingParameters(discharge=20.0, narrowest=1.0, migration=20.0), Cycle()
        lines = _find_rivers(world, parameters, cycle)
        around = np.linspace(0.1, 2.0 * np.pi - 0.1, 60)
        world.centrelines = line = lines[:60]  # a bend that all but meets itself, so that it is cut off
        line[:, meanders.RIVER], line[:, meanders.DISCHARGE] = 0.0, 5.0
        line[:, meanders.SOUTH], line[:, meanders.EAST] = 120.0 + 60.0 * np.sin(around), 120.0 + 60.0 * np.cos(around)
        self.step(world, parameters, cycle)

    def step(self, world: World, parameters: MeanderingParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the years of a cycle. Where it has no rivers that meander, it is looked for some."""
        from kernels import meanders

        fresh = not len(world.centrelines)
        if fresh:
            if world.cycle % SEARCH:
                return ()
            world.centrelines = _find_rivers(world, parameters, cycle)
            if not len(world.centrelines):
                return ()
        scratch = cycle.scratch.begin()
        materials, rates = world.material_fields(), world.rates_in(scratch)
        meandered = meanders.meander(
            world.bedrock,
            world.sediment,
            world.ground,
            materials,
            world.cell_size,
            world.centrelines,
            for_kernel(
                meanders.MeanderParameters,
                parameters,
                years=parameters.years_per_cycle,
                river_width=cycle.river_width,
            ),
            seed=world.seed,
            begin=world.years,
            fresh=fresh,
            rates=rates,
            scratch=scratch,
        )
        world.centrelines = meandered.centrelines
        if "geology" not in cycle.running:  # geology has its own clock
            world.years += parameters.years_per_cycle
        off_map = _leave(world, materials, rates, meandered.loads, cycle)
        account_for(world, CAUSE, meandered.moved._replace(off_map=off_map))
        if not cycle.has_standing_water or not len(meandered.cut_off):
            return "bedrock", "sediment"
        _leave_water(world, meandered.cut_off, meandered.levels)
        return self.changes


def _find_rivers(world: World, parameters: MeanderingParameters, cycle: Cycle) -> Numbers:
    """The centrelines of all reaches of trunk rivers that are wide enough, in valleys that are flat enough."""
    from kernels.hydraulic_geometry import bankfull_depth, channel_width, discharge_of_width
    from kernels.meanders import centreline, main_stem
    from kernels.neighbours import OUTLET
    from kernels.rivers import drain

    size, columns = world.cell_size, world.shape[1]
    drainage = drain(world.ground, size, world.sea_level, open_edges=not world.walls)
    discharge = discharge_of_cycle(world, cycle, drainage, parameters.discharge)
    least = discharge_of_width(max(parameters.narrowest, NARROWEST * size), cycle.river_width)
    flow, filled = discharge.reshape(-1), drainage.filled.reshape(-1)
    outlets = np.flatnonzero((drainage.directions == OUTLET).reshape(-1) & (flow >= least))
    lines: list[Numbers] = []
    for outlet in outlets[np.lexsort((outlets, -flow[outlets]))]:
        stem = main_stem(drainage.directions, discharge, int(outlet), least)
        level, width = filled[stem], channel_width(flow[stem], cycle.river_width)
        reach = max(round(REACH * float(width.mean()) / size), 1)
        place = np.arange(len(stem))
        above, below = np.maximum(place - reach, 0), np.minimum(place + reach, len(stem) - 1)
        slope = (level[above] - level[below]) / (np.maximum(below - above, 1) * size)
        standing = level - world.ground.reshape(-1)[stem] > 2.0 * bankfull_depth(width)
        flat = np.append(np.append(False, (slope <= parameters.steepest) & ~standing), False)
        begins, ends = np.flatnonzero(flat[1:] & ~flat[:-1]), np.flatnonzero(flat[:-1] & ~flat[1:])
        for first, last in zip(begins, ends, strict=True):
            cells = stem[first:last]
            if len(cells) * size >= SHORTEST * float(width[first:last].mean()) and len(cells) > 2:
                places = cells // columns, cells % columns
                lines.append(centreline(len(lines), *places, level[first:last], flow[cells], size, cycle.river_width))
    return np.concatenate([world.centrelines, *lines])


def _leave(
    world: World, materials: MaterialFields, rates: NDArray[np.float32] | None, loads: Numbers, cycle: Cycle
) -> tuple[float, ...]:
    """Move the loads of river mouths over the edge, or into the water or hollow at the mouth, the nearest cells first.

    `loads` are [river, kind]. Returns what has left, of each kind, in metres over one cell.
    """
    from kernels.hydraulic_geometry import bankfull_depth, channel_width
    from kernels.landscape import lay_lowest
    from kernels.meanders import lay_around

    rows, columns = world.shape
    off_map = np.zeros(loads.shape[1])
    lines = world.centrelines
    for river, load in enumerate(loads):
        mouth = lines[lines[:, 0] == river][-1]
        row = min(int(mouth[1] / world.cell_size), rows - 1)
        column = min(int(mouth[2] / world.cell_size), columns - 1)
        if not (row in (0, rows - 1) or column in (0, columns - 1)):
            level = float(mouth[4] + bankfull_depth(channel_width(float(mouth[3]), cycle.river_width)))
            lay_around(
                world.bedrock, world.sediment, world.ground, materials, (row, column), DELTA, level, load, rates
            )  # fmt: skip
        off_map += load
    if cycle.edges.water == "wall":  # nothing leaves
        lay_lowest(world.mix, world.ground, tuple(off_map), world.layers.get("mobility"))
        world.sum_mix()
        return ()
    return tuple(off_map.tolist())


def _leave_water(world: World, cells: NDArray[np.int64], levels: Numbers) -> None:
    """Fill cut-off bends with water up to the banks."""
    water = world.water.reshape(-1)
    more = np.maximum(levels - world.ground.reshape(-1)[cells] - water[cells], 0.0)
    water[cells] += more
    world.ledger.water.gain(LEFT, float(more.sum()) * world.cell_area)
