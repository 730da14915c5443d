"""Lakes that grow, merge, spill and dry up, and the sea (after Barnes, Callaghan, Wickert 2020, 2021)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.edge_parameters import EdgeParameters
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle, Spills
from app.processes.process import ProcessFailure, register
from kernels.standing import SEA

if TYPE_CHECKING:
    from kernels.pools import PoolTotals
    from kernels.scratch import Scratch


class PoolsParameters(Parameters, frozen=True, kw_only=True):
    """Standing water (Barnes, Callaghan, Wickert 2020): droplets feed lakes, and run on from where these overflow."""

    title: ClassVar[str] = "Lakes and sea"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("standing water: lakes and the sea")] = False
    evaporation: Annotated[float, parameter(0.0, 1.0, "evaporation from lakes per cycle, as water depth", unit="m",
        log=True, essential=True)] = 0.005
    seepage: Annotated[float, parameter(0.0, 1.0, "seepage from lakes into the ground per cycle, as water depth",
        unit="m", log=True)] = 0.0
    # fmt: on


BASINS, DEPRESSIONS = "basins", "depressions"  # builds: of what finds basins, and of what joins them

NO_SPILLS = Spills(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


@register
class Pools:
    """Lets water settle in a world, one cycle at a time."""

    name: ClassVar[str] = "pools"
    after: ClassVar[str] = ""
    parameters: ClassVar[type[Parameters]] = PoolsParameters
    changes: ClassVar[tuple[str, ...]] = ("water",)

    parts: ClassVar[tuple[str, ...]] = (BASINS, DEPRESSIONS)

    def prepare(self) -> None:
        """Compile the kernels that work in basins, or load them from the cache."""
        from kernels.pools import prepare

        prepare()

    def prepare_part(self, part: str) -> None:
        """As `prepare`, for the kernels that find basins, or join them."""
        from kernels import depressions

        depressions.prepare() if part == BASINS else depressions.prepare_tree()

    def step(self, world: World, parameters: PoolsParameters, cycle: Cycle) -> None:
        """Settle all water of `world`, and put the flow from lake to lake into `cycle.spills`."""
        seepage, evaporation = parameters.seepage, parameters.evaporation
        if seepage > 0.0 and "moisture" in cycle.running:
            from kernels.moisture import seep

            seep(world.water, world.trace("groundwater"), seepage)
            seepage = 0.0
        if evaporation > 0.0 and "rate_evaporation" in world.layers:
            dried = np.minimum(world.water, evaporation * world.layers["rate_evaporation"].astype(np.float64))
            world.water[...] -= dried
            world.ledger.water.lose("evaporated from lakes", float(dried.sum()) * world.cell_area)
            evaporation = 0.0
        if "floods" in cycle.running:  # which lets water run to its level
            _dry(world, evaporation, seepage)
            cycle.spills = NO_SPILLS
            return
        totals, cycle.spills = _settle(
            world, world.water, parameters, cycle.edges, evaporation, seepage, scratch=cycle.scratch
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        area = world.cell_area
        lost = {
            "evaporated from lakes": totals.evaporated,
            "seeped from lakes": totals.seeped,
            "into the sea": totals.into_sea,
            "off the map": totals.over_edge,
        }
        for cause, volume in lost.items():
            if volume:
                world.ledger.water.lose(cause, volume * area)


def _dry(world: World, evaporation: float, seepage: float) -> None:
    """Take from all water but the sea what it loses in a cycle, and let it lie as it does."""
    for cause, depth in {"evaporated from lakes": evaporation, "seeped from lakes": seepage}.items():
        if depth > 0.0:
            lost = np.minimum(world.water, depth) * (world.standing != SEA)
            world.water[...] -= lost
            world.ledger.water.lose(cause, float(lost.sum()) * world.cell_area)


def fill(
    world: World, parameters: PoolsParameters, edges: EdgeParameters, runoff: NDArray[np.float64], cycles: int
) -> Iterator[None]:
    """Spin up lakes over so many cycles, with this `runoff` in each, metres [row, column].

    It takes few long steps, and this pauses after each. What is over their sills goes on to where it ends. Each step
    takes half of the time that is left: lakes that balance evaporation come to their levels, and the last steps are as
    short as cycles.
    """
    loss = parameters.evaporation * world.layers.get("rate_evaporation", np.ones((), np.float32)).astype(np.float64)
    loss += parameters.seepage
    while cycles > 0:
        step = max(cycles // 2, 1)
        world.water[...] = np.maximum(world.water - step * loss, 0.0) + step * runoff
        _settle(world, world.water, parameters, edges, evaporation=0.0, seepage=0.0, most_spilled=0.0)
        cycles -= step
        yield


def derive_levels(world: World, parameters: PoolsParameters, edges: EdgeParameters) -> None:
    """Update `standing`, `water_level` and `sea_level` of `world`, and nothing else."""
    _settle(world, world.water.copy(), parameters, edges, evaporation=0.0, seepage=0.0)


def _settle(
    world: World,
    water: NDArray[np.float64],
    parameters: PoolsParameters,
    edges: EdgeParameters,
    evaporation: float,
    seepage: float,
    most_spilled: float = math.inf,
    scratch: Scratch | None = None,
) -> tuple[PoolTotals, Spills]:
    from kernels import depressions, pools

    totals, spills = pools.settle(
        world.ground,
        water,
        world.water_level,
        world.standing,
        for_kernel(
            pools.PoolParameters,
            parameters,
            edges={"sea": depressions.SEA, "open": depressions.OPEN, "wall": depressions.WALL}[edges.water],
            sea_level=edges.sea_level,
            evaporation=evaporation,
            seepage=seepage,
            most_spilled=most_spilled,
        ),
        scratch,
    )
    world.sea_level = edges.sea
    world.walls = edges.water == "wall"
    world.water_version += 1
    return totals, Spills(spills.sill, spills.beyond, spills.volume)
