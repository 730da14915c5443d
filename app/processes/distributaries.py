"""Distributaries: rivers that part into arms where they come to a plain or to standing water, and build deltas."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.layers import ARM_CODES, LayerDeclaration
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle, compounded
from app.processes.discharge import discharge_of_cycle, drainage_of
from app.processes.process import register
from kernels.standing import DRY

ARMS = "arms"
SMALLEST_DELTA = 10.0  # side of the smallest water that a delta grows in, in widths of a river of the least discharge


class DistributariesParameters(Parameters, frozen=True, kw_only=True):
    """Arms of rivers, with avulsion by superelevation (Jerolmack, Paola 2007)."""

    title: ClassVar[str] = "Distributaries"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("rivers that part into arms where they come to a plain or to standing water",
        needs="droplets.river_transport")] = False
    slope: Annotated[float, parameter(0.0, 1.0,
        "mean slope of a river to its mouth, below which it may part", log=True, least=1e-5, essential=True)] = 0.005
    superelevation: Annotated[float, parameter(0.0, 2.0,
        "how far the water of a full channel stands above the plain beside it when the river breaks out",
        unit="depths", essential=True)] = 0.5
    advantage: Annotated[float, parameter(1.0, 10.0,
        "by how much steeper than the old way the new one must be", unit="times", log=True)] = 1.2
    least_part: Annotated[float, parameter(0.0, 0.5,
        "part of its river below which an arm silts up and is given up", essential=True)] = 0.06
    least: Annotated[float, parameter(0.0, 1e5, "mean discharge of the smallest rivers that part", unit="m³/s",
        log=True, least=1e-6)] = 0.0005
    spacing: Annotated[float, parameter(0.0, 100.0, "least distance between the mouths of two arms",
        unit="widths")] = 2.0
    every: Annotated[int, parameter(1, 1000, "interval of its steps", unit="cycles", log=True)] = 10
    # fmt: on


@register
class Distributaries:
    """Lets rivers part, one cycle at a time. Drops follow the arms from the next cycle on."""

    name: ClassVar[str] = "distributaries"
    after: ClassVar[str] = "droplets"
    parameters: ClassVar[type[Parameters]] = DistributariesParameters
    changes: ClassVar[tuple[str, ...]] = (ARM_CODES, ARMS)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        # Of a place: on land that moves, codes would lead off the map.
        LayerDeclaration(ARM_CODES, "where the water of an arm goes on", largest=65.0, seen="never", of_place=True),
        LayerDeclaration(
            ARMS, "part of its river that runs in an arm", largest=1.0, seen="in overlays", of_place=True
        ),
    )  # fmt: skip

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.add.outer(np.arange(8.0), np.abs(np.arange(-4.0, 4.0))), np.zeros((8, 8)), 1.0, seed=0)
        world.standing[:3], world.water_level[:3] = DRY + 1, 2.0
        self.step(world, DistributariesParameters(every=1, least=0.0), Cycle())
        _break_out()

    def step(self, world: World, parameters: DistributariesParameters, cycle: Cycle) -> tuple[str, ...]:
        """Renew the arms of `world`, if a step is due. There are none where drops would not follow them."""
        if not cycle.knows_rivers:
            self.fade(world, parameters)
            return ()
        if (world.cycle + 1) % parameters.every:
            return ()
        from kernels import distributaries
        from kernels.hydraulic_geometry import channel_width

        water = _wide_water(world, SMALLEST_DELTA * channel_width(parameters.least, cycle.river_width))
        if not water.any():
            self.fade(world, parameters)
            return ()
        drainage = drainage_of(world, cycle.scratch)
        found = distributaries.part_rivers(
            world.trace(ARM_CODES),
            world.ground,
            water,
            world.water_level,
            drainage.directions,
            discharge_of_cycle(world, cycle, drainage),
            world.cell_size,
            cycle.river_width,
            for_kernel(distributaries.ArmParameters, parameters),
            turn=compounded(distributaries.TURN, parameters.every / 10.0),
            scratch=cycle.scratch,
        )
        arms = world.trace(ARMS)
        arms[...] = 0.0
        arms.reshape(-1)[found.cells] = np.minimum(found.part, 1.0)
        return self.changes

    def fade(self, world: World, parameters: DistributariesParameters) -> bool:
        """Forget the arms: where this process is off, water finds its own way."""
        world.forget(ARM_CODES, ARMS)
        return False


def _break_out() -> None:
    """Let a river break out towards a sea that is lower beside it, and streams run in its arms."""
    from kernels import distributaries
    from kernels.neighbours import ROW_STEPS

    codes, discharge, ground = np.zeros((8, 8), np.float32), np.zeros((8, 8)), np.full((8, 8), 1.0)
    directions = np.full(codes.shape, ROW_STEPS.argmax(), np.int8)  # all to the south
    discharge[:, 3], ground[6:] = 1.0, -1.0
    parameters = DistributariesParameters(slope=1.0, superelevation=0.0, advantage=1.0, spacing=0.0)
    arms = distributaries.part_rivers(
        codes, ground, ground < 0.0, np.linspace(0.9, 0.1, 8) + np.zeros((8, 1)), directions, discharge, 1.0, 1.0,
        for_kernel(distributaries.ArmParameters, parameters),
    )  # fmt: skip
    assert arms.broke_out >= 0
    streams = directions + np.int8(1)
    streams[-1] = 0  # which leave the map there
    distributaries.run_in_arms(codes, discharge, streams)


def _wide_water(world: World, side: float) -> NDArray[np.bool_]:
    """Where lakes and sea are at least as large as a square of so many metres, [row, column]."""
    from kernels.components import components

    labels, count = components(world.standing != DRY)
    large = np.bincount(labels.reshape(-1), minlength=count + 1) * world.cell_area >= side**2
    large[0] = False
    return np.asarray(large[labels])
