"""Sliding of loose material above its angle of repose (after McDonald 2020)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.process import register

Where = Literal["everywhere", "under_wind"]


class CascadeParameters(Parameters, frozen=True, kw_only=True):
    """Sliding of loose material (McDonald 2020).

    Where the world has materials, each has its own angle of repose, and roughness and scale have no effect.
    """

    title: ClassVar[str] = "Cascade"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("sliding of loose material that exceeds its angle of repose")] = False
    roughness: Annotated[float, parameter(0.0, 0.05,
        "stable height difference to the next cell: tangent of the angle of repose over scale,"
        " where materials do not define it", unit="h", needs="not materials.enabled")] = 0.0075
    settling: Annotated[float, parameter(0.0, 0.045,
        "rate at which excess height slides; more with many or slow parcels of wind", essential=True)] = 0.02
    steepness: Annotated[float, parameter(0.0, 3.0, "factor on the tangent of all angles of repose", unit="times",
        essential=True)] = 1.0
    wet_strength: Annotated[float, parameter(0.0, 2.0,
        "increase of the angle of repose in half-wet ground, as a fraction of its tangent",
        needs="moisture.enabled")] = 0.3
    soaked_weakness: Annotated[float, parameter(0.0, 0.9,
        "decrease of the angle of repose in saturated ground, as a fraction of its tangent",
        needs="moisture.enabled")] = 0.4
    root_strength: Annotated[float, parameter(0.0, 4.0,
        "increase of the angle of repose under the densest roots, as a fraction of its tangent",
        needs="plants.enabled")] = 0.6
    creep: Annotated[float, parameter(0.0, 1.0,
        "creep below the angle of repose: fraction of a height difference that moves; rounds all forms")] = 0.0
    where: Annotated[Where, described(
        "where sand slides: everywhere, or only where parcels of wind pass in a cycle, as in the article on wind",
        needs="wind.enabled")] = "everywhere"
    passes: Annotated[int, parameter(1, 50, "passes over the map per cycle", log=True, costs=True)] = 1
    scale: Annotated[float, parameter(1.0, 1000.0, "cells per h, the article's unit of height", unit="cells", log=True,
        needs="not materials.enabled")] = 80.0
    # fmt: on


@register
class Cascade:
    """Lets the loose material of a world slide, one cycle at a time."""

    name: ClassVar[str] = "cascade"
    after: ClassVar[str] = "weathering"
    parameters: ClassVar[type[Parameters]] = CascadeParameters
    changes: ClassVar[tuple[str, ...]] = ("sediment",)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, CascadeParameters(), Cycle())

    def prepare_rich(self) -> None:
        """As `prepare`, for ground of several kinds, or with wetness or plants on it."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        world.trace("wetness")
        self.step(world, CascadeParameters(), Cycle())

    def asks_for_rich(self, parameters: CascadeParameters, running: frozenset[str]) -> bool:
        """What lies on the ground asks for it, and slides in some places alone."""
        return parameters.where == "under_wind"

    def step(self, world: World, parameters: CascadeParameters, cycle: Cycle) -> None:
        """Advance `world` by the slides of one cycle. Slides conserve mass, so the ledger has no entry.

        What slides is a flux down the excess of the slope: a diffusion, which takes n² passes in cells n times as fine
        to do the same in metres in the same time; a thin sheet moves a part of a cell in each, and takes n.
        """
        from kernels import cascade

        cascade.cascade(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(repose=parameters.roughness * parameters.scale),
            world.cell_size,
            for_kernel(
                cascade.CascadeParameters,
                parameters,
                cycle.weather,
                wrap=cycle.edges.wrap,
                parcels=cycle.parcels,
                pace=world.refinement**2,
                supply=1.0 / world.refinement,
            ),
            world.surface,
            _where_blown(world, cycle) if parameters.where == "under_wind" else world.rates_in(cycle.scratch.begin()),
        )


def _where_blown(world: World, cycle: Cycle) -> NDArray[np.float32] | None:
    """The rates of the world, with mobility only where a parcel of this cycle was, or in a cell beside.

    In the article a cell and its neighbours slide at each contact. Without wind, sand slides everywhere.
    """
    rates = world.rates_in(cycle.scratch.begin())
    if cycle.blown is None:
        return rates
    from kernels.rates import MOBILITY, STRIDE

    around = np.pad(cycle.blown, 1, mode="wrap" if cycle.edges.wrap else "constant")
    for axis in (0, 1):
        before, after = (np.roll(around, way, axis) for way in (1, -1))
        around = np.maximum(around, np.maximum(before, after))
    if rates is None:
        rates = cycle.scratch.empty((*world.shape, STRIDE), np.float32)
        rates.fill(1.0)
    elif rates is world.unsheltered:
        rates = rates.copy()
    rates[..., MOBILITY] *= around[1:-1, 1:-1]
    return rates
