"""Stratigraphy: loose material that is buried stays in beds, in its order, and comes out again in it."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.beds import FEWEST
from app.model.layers import BURIED
from app.model.materials import MaterialParameters, materials_of
from app.model.parameters import Parameters, described, parameter
from app.model.world import World, take_beds
from app.processes.cycle import Cycle
from app.processes.process import register
from kernels.beds import MOST

SPARED = "taken of beds for the rock below"


class StratigraphyParameters(Parameters, frozen=True, kw_only=True):
    """Beds of loose material below an active layer (Hirano 1971; Viparelli et al. 2010)."""

    title: ClassVar[str] = "Stratigraphy"
    section: ClassVar[str] = "processes"
    needs: ClassVar[str] = "materials.enabled"

    # fmt: off
    enabled: Annotated[bool,
        described("beds that remember: buried loose material keeps its order, and comes out again in it")] = False
    active_layer: Annotated[float, parameter(0.01, 10.0,
        "thickness of the mixed loose material on top, all that a cycle can move; beds lie below",
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
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", BURIED)

    def note(self, world: World, cycle: Cycle) -> None:
        """Take note of the height of rock below beds."""
        note_rock(world, cycle)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        from kernels.stratigraphy import limit

        world = World(np.add.outer(np.zeros(8), np.arange(8.0)), np.ones((8, 8)), cell_size=1.0, seed=0)
        materials = materials_of(MaterialParameters())
        world.lay_materials(materials, {materials.names[0]: 1.0}, np.zeros((8, 8), np.float32))
        world.bury(0.1, FEWEST)
        if world.beds is not None:
            limit(world.mix, world.sediment, world.layers[BURIED], *world.beds, FEWEST)
        take_beds(world, np.arange(world.ground.size))
        world.spare_rock(world.bedrock + 0.1)
        world.stored(materials.names[0])
        if world.beds is not None:
            world.beds.sum()
        world.forget_beds()

    def step(self, world: World, parameters: StratigraphyParameters, cycle: Cycle) -> tuple[str, ...]:
        """Bring the active layer of each cell near to its thickness."""
        if world.materials is None:
            return ()
        spared = spare_rock(world, cycle)
        exchanged = world.bury(parameters.active_layer, parameters.beds)
        return (*self.changes[: 1 if spared else 0], *(self.changes[1:] if spared or exchanged else ()))

    def fade(self, world: World, parameters: StratigraphyParameters) -> bool:
        """Mix all beds with what lies on them: where this process is off, nothing is known of them."""
        if world.beds is not None:
            world.forget_beds()
            world.changed["sediment"] = world.next_version
        return False


def note_rock(world: World, cycle: Cycle) -> None:
    """Take note of the height of rock below beds, from which on it is to be spared."""
    cycle.bedrock = world.bedrock.copy() if world.beds is not None else None


def spare_rock(world: World, cycle: Cycle) -> bool:
    """Where all of the active layer was taken and then rock, since that was noted, take beds in the place of that rock.

    Returns whether anything was taken.
    """
    before, cycle.bedrock = cycle.bedrock, None
    if before is None or world.beds is None or world.materials is None:
        return False
    taken = world.spare_rock(before)
    if volume := float(taken.sum()):
        ledger = world.ledger
        ledger.rock.gain(SPARED, volume)
        ledger.sediment.lose(SPARED, volume)
        for name, part in zip(world.materials.names, taken.tolist(), strict=True):
            if part:
                ledger.kinds[name].lose(SPARED, part)
    return volume > 0.0
