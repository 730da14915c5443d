"""E4, C7, F3: loose material that slides down where it lies too steep."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from app.parameters import Parameters, described, for_kernel, parameter
from app.processes.cycle import Cycle
from app.processes.process import register
from app.world import World


class CascadeParameters(Parameters, frozen=True, kw_only=True):
    """Sliding of loose material (McDonald 2020).

    Where the world has materials, each lies at its own angle of repose, and roughness and scale say nothing.
    """

    title: ClassVar[str] = "Cascade"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("whether loose material slides")] = False
    roughness: Annotated[
        float,
        parameter(
            0.0,
            0.05,
            "height to the next cell at which sand still lies; times scale: tangent of the angle of repose; "
            "materials have their own",
            unit="h",
        ),
    ] = 0.0075
    settling: Annotated[float, parameter(0.0, 0.045, "how fast the excess slides")] = 0.02
    steepness: Annotated[
        float,
        parameter(0.0, 3.0, "how much steeper all loose material lies than it would", unit="times"),
    ] = 1.0
    wet_strength: Annotated[
        float, parameter(0.0, 2.0, "how much steeper half-wet ground stands than dry ground, as a part of its slope")
    ] = 0.3
    soaked_weakness: Annotated[
        float, parameter(0.0, 0.9, "how much gentler soaked ground lies than dry ground, as a part of its slope")
    ] = 0.4
    root_strength: Annotated[
        float, parameter(0.0, 4.0, "how much steeper ground full of roots stands, as a part of its slope")
    ] = 0.6
    creep: Annotated[
        float, parameter(0.0, 1.0, "part of the difference that moves where it is not too steep: rounds off all forms")
    ] = 0.0
    passes: Annotated[int, parameter(1, 50, "passes over the map in each cycle", log=True)] = 1
    scale: Annotated[
        float, parameter(1.0, 1000.0, "cells to one h, the article's unit of height", unit="cells", log=True)
    ] = 80.0
    edges: Annotated[
        Literal["open", "wrap"],
        described("what lies beyond the map's edges: a wall, or the other side of the map (wrap)"),
    ] = "open"


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
        """Only what lies on the ground asks for it."""
        return False

    def step(self, world: World, parameters: CascadeParameters, cycle: Cycle) -> None:
        """Advance `world` by the slides of one cycle. They only move what is there: the ledger has no entry of them."""
        from kernels import cascade

        cascade.cascade(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(repose=parameters.roughness * parameters.scale),
            world.cell_size,
            for_kernel(cascade.CascadeParameters, parameters, wrap=parameters.edges == "wrap"),
            world.surface,
        )
