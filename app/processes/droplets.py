"""D2: rain drops that wear, carry and put down material on their way downhill."""

from __future__ import annotations

from typing import Annotated, ClassVar

from app.parameters import Parameters, described, parameter
from app.processes.process import ProcessFailure
from app.world import World


class DropletParameters(Parameters, frozen=True, kw_only=True):
    """Droplet erosion (McDonald 2020)."""

    title: ClassVar[str] = "Droplets"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("whether drops fall")] = True
    count: Annotated[int, parameter(1, 100_000, "drops in each cycle", log=True)] = 1000
    time_step: Annotated[
        float, parameter(0.1, 2.0, "length of a drop's step, shortened where it would pass a cell", unit="t")
    ] = 1.2
    density: Annotated[float, parameter(0.1, 10.0, "inertia of a drop: dense ones turn slowly", log=True)] = 1.0
    friction: Annotated[float, parameter(0.0, 0.8, "part of its speed that a drop loses", unit="1/t")] = 0.05
    deposition_rate: Annotated[
        float, parameter(0.0, 0.8, "how fast the load of a drop nears its equilibrium", unit="1/t")
    ] = 0.1
    evaporation: Annotated[
        float, parameter(0.0001, 0.1, "part of its volume that a drop loses", unit="1/t", log=True)
    ] = 0.001
    minimum_volume: Annotated[float, parameter(0.001, 0.9, "a drop ends when it is smaller than this", log=True)] = 0.01
    rock_erodibility: Annotated[float, parameter(0.0, 1.0, "how easily bedrock is worn, beside loose sediment")] = 0.5
    longest_path: Annotated[int, parameter(1, 10_000, "a drop ends after this many steps", unit="steps", log=True)] = (
        1000
    )


class DropletErosion:
    """Lets drops run over a world, one cycle at a time."""

    name: ClassVar[str] = "droplets"
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        import numpy as np

        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, DropletParameters(count=1))

    def step(self, world: World, parameters: DropletParameters) -> None:
        """Advance `world` by the drops of one cycle. Raises `ProcessFailure` before anything non-finite is written."""
        from kernels import droplets

        totals = droplets.erode(
            world.bedrock,
            world.sediment,
            world.ground,
            world.cell_size,
            world.seed,
            world.cycle,
            droplets.DropletParameters(
                count=parameters.count,
                dt=parameters.time_step,
                density=parameters.density,
                friction=parameters.friction,
                deposition_rate=parameters.deposition_rate,
                evaporation=parameters.evaporation,
                min_volume=parameters.minimum_volume,
                rock_erodibility=parameters.rock_erodibility,
                max_steps=parameters.longest_path,
            ),
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        area = world.cell_area
        ledger = world.ledger
        ledger.rock.lose("worn by drops", totals.rock_abraded * area)
        ledger.sediment.gain("worn by drops", totals.rock_abraded * area)
        ledger.sediment.lose("off the map", totals.sediment_off_edge * area)
        ledger.water.gain("rain", totals.rained * area)
        ledger.water.lose("evaporated", totals.evaporated * area)
        ledger.water.lose("off the map", totals.water_off_edge * area)
