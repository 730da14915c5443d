"""Stratigraphy: loose material that is buried stays in beds, in its order, and comes out again in it."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.beds import FEWEST, MOST
from app.model.layers import BURIED
from app.model.materials import MaterialParameters, materials_of
from app.model.parameters import Parameters, described, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.geology import Geology
from app.processes.process import register


class StratigraphyParameters(Parameters, frozen=True, kw_only=True):
    """Beds of loose material below an active layer (Hirano 1971; Viparelli et al. 2010)."""

    title: ClassVar[str] = "Stratigraphy"
    section: ClassVar[str] = "processes"
    needs: ClassVar[str] = "materials.enabled, not geology.enabled"

    # fmt: off
    enabled: Annotated[bool,
        described("beds that remember: buried loose material keeps its order, and comes out again in it")] = False
    active_layer: Annotated[float, parameter(0.01, 10.0,
        "thickness of the loose material on top, which is mixed and all that a cycle can move; below it lie beds",
        unit="m", log=True, essential=True)] = 0.3
    beds: Annotated[int, parameter(FEWEST, MOST,
        "most beds of a cell; where there are more, the two oldest become one", unit="beds", costs=True)] = 8
    # fmt: on


@register
class Stratigraphy:
    """Buries and exhumes loose material, one cycle at a time."""

    name: ClassVar[str] = "stratigraphy"
    after: ClassVar[str] = "ice"  # the last: after all that move loose material
    parameters: ClassVar[type[Parameters]] = StratigraphyParameters
    changes: ClassVar[tuple[str, ...]] = ("sediment", BURIED)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.add.outer(np.zeros(8), np.arange(8.0)), np.ones((8, 8)), cell_size=1.0, seed=0)
        materials = materials_of(MaterialParameters())
        world.lay_materials(materials, {materials.names[0]: 1.0}, np.zeros((8, 8), np.float32))
        for count in (3, 2):
            world.bury(0.1, count)
        world.stored(materials.names[0])
        world.forget_beds()

    def step(self, world: World, parameters: StratigraphyParameters, cycle: Cycle) -> tuple[str, ...]:
        """Bring the active layer of each cell near to its thickness."""
        if world.materials is None:
            return ()
        if Geology.name in cycle.running:  # a step of its time moves more than any active layer
            self.fade(world, parameters)
            return ()
        return self.changes if world.bury(parameters.active_layer, parameters.beds) else ()

    def fade(self, world: World, parameters: StratigraphyParameters) -> bool:
        """Mix all beds with what lies on them: where this process is off, nothing is known of them."""
        if world.beds is not None:
            world.forget_beds()
            world.changed["sediment"] = world.next_version
        return False
