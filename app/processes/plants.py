"""C5: grass and trees, which hold the ground."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.plants import load_plants
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.process import register

if TYPE_CHECKING:
    from kernels.plants import PlantKinds

ROOTED_GROUND = "rooted_ground"


class PlantsParameters(Parameters, frozen=True, kw_only=True):
    """Grass and trees (after McDonald 2020): where they live, how they spread, and what kills them."""

    title: ClassVar[str] = "Plants"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("whether plants live")] = False
    rate: Annotated[float, parameter(0.0, 20.0, "how fast time passes for plants", unit="times")] = 1.0
    grass_growth: Annotated[
        float, parameter(0.0, 1.0, "how fast thin grass becomes denser", unit="1/cycle", log=True)
    ] = 0.02
    grass_spread: Annotated[
        float, parameter(0.0, 1.0, "how fast grass comes from cell to cell", unit="1/cycle", log=True)
    ] = 0.02
    grass_arrival: Annotated[
        float, parameter(0.0, 0.1, "chance that grass comes to a cell by itself", unit="1/cycle", log=True)
    ] = 1e-4
    grass_decline: Annotated[
        float, parameter(0.0, 1.0, "how fast grass dies where it lacks something", unit="1/cycle", log=True)
    ] = 0.02
    grass_shade: Annotated[float, parameter(0.0, 1.0, "part of the grass that is missing under closed crowns")] = 0.6
    grass_roots: Annotated[float, parameter(0.0, 1.0, "how densely the roots of full grass hold the ground")] = 0.4
    seeds: Annotated[float, parameter(0.0, 20.0, "how many seeds trees have, beside what is usual", unit="times")] = 1.0
    tree_arrival: Annotated[
        float, parameter(0.0, 0.1, "chance that a tree comes up on a cell from far away", unit="1/cycle", log=True)
    ] = 4e-5
    densest_canopy: Annotated[
        float, parameter(0.0, 1.0, "part of the ground that crowns come to cover in a forest")
    ] = 0.8
    random_death: Annotated[
        float, parameter(0.0, 0.1, "chance of a tree to die of what is not simulated", unit="1/cycle", log=True)
    ] = 1e-4
    stream_limit: Annotated[
        float, parameter(0.0, 1.0, "streams that drops pass more often than this sweep plants away")
    ] = 0.6
    flow_limit: Annotated[
        float,
        parameter(
            1e-4, 100.0, "and so do streams with more water in a cycle, as depth over one cell", unit="cells", log=True
        ),
    ] = 0.15
    steepest: Annotated[
        float, parameter(0.0, 89.0, "slope beyond which no plant stands, whatever its kind", unit="°")
    ] = 55.0
    flood_depth: Annotated[
        float, parameter(0.0, 100.0, "depth of standing water that plants endure", unit="m", log=True)
    ] = 0.2
    burial: Annotated[
        float,
        parameter(1e-5, 1.0, "how fast the ground may rise before it buries plants", unit="cells/cycle", log=True),
    ] = 0.006
    undercut: Annotated[
        float,
        parameter(1e-5, 1.0, "how fast the ground may sink before plants are undercut", unit="cells/cycle", log=True),
    ] = 0.005
    ground_wetness: Annotated[
        float,
        parameter(0.0, 1.0, "how wet level ground far from water is, where moisture is not simulated"),
    ] = 0.4


@register
class Plants:
    """Lets the plants of a world live, one cycle at a time."""

    name: ClassVar[str] = "plants"
    after: ClassVar[str] = "cascade"
    parameters: ClassVar[type[Parameters]] = PlantsParameters
    changes: ClassVar[tuple[str, ...]] = ("grass", "roots", "canopy", ROOTED_GROUND)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        # In no order, and with one that dies: so that all kernels run
        world.trees = np.zeros((2, world.trees.shape[1]), np.float32)
        world.trees[0, 0] = 1.0
        self.step(world, PlantsParameters(), Cycle())

    def step(self, world: World, parameters: PlantsParameters, cycle: Cycle) -> None:
        """Advance the plants of `world` by one cycle. They are of no substance that the ledger knows."""
        from kernels import plants

        surface = world.pack("surface")
        if ROOTED_GROUND not in world.layers:
            world.trace(ROOTED_GROUND)[...] = world.ground
        nothing = np.empty((0, 0), np.float32)
        weather = cycle.weather
        varied = weather.rain_by_altitude > 0.0
        world.trees = plants.grow(
            world.trees,
            plants.Fields(
                ground=world.ground,
                rooted_ground=world.trace(ROOTED_GROUND),
                surface=surface,
                flow=world.flow if "stream" in world.layers else nothing[..., None],
                standing=world.standing,
                water_level=world.water_level,
                rain=world.layers.get("rain", nothing),
                wet="moisture" in cycle.running,
                cell_size=world.cell_size,
            ),
            _kinds(),
            for_kernel(
                plants.Climate,
                weather,
                temperature=weather.mean_temperature,
                lowest=float(world.ground.min()) if varied else 0.0,
                highest=float(world.ground.max()) if varied else 0.0,
            ),
            world.seed,
            world.cycle,
            for_kernel(
                plants.PlantParameters,
                parameters,
                flow_limit=parameters.flow_limit * world.cell_size,
                steepest=math.tan(math.radians(parameters.steepest)),
                burial=parameters.burial * world.cell_size,
                undercut=parameters.undercut * world.cell_size,
            ),
        )
        world.trees_version = world.cycle + 1


def _kinds() -> PlantKinds:
    """What grass and all kinds of trees need, as kernels take it."""
    from kernels.plants import TREE_TRAITS, PlantKinds

    grass, trees = load_plants()
    needs = [
        (*plant.wetness, *plant.temperature, *(math.tan(math.radians(slope)) for slope in plant.slope))
        for plant in (grass, *trees)
    ]
    traits = [[getattr(tree, trait) for trait in TREE_TRAITS] for tree in trees]
    return PlantKinds(np.array(needs), np.array(traits).reshape(len(trees), len(TREE_TRAITS)))
