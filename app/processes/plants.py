"""Grass and trees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.centrelines import cells_of_channels
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.plants import GRASS, ROOTED_GROUND, Flora
from app.model.world import World
from app.processes.cycle import Cycle, compounded
from app.processes.process import register
from kernels.standing import DRY, SEA

if TYPE_CHECKING:
    from kernels.plants import PlantKinds

PERIOD = 16  # cycles in which each plant is updated once, as in `kernels.plants`, which would load Numba


GENTLE, BARE = 0.50, 0.95  # slopes, as tangents, above which grass gets sparse and ends, as in ground.glsl
FASTEST_SPREAD = 1.0  # 1/cycle
REACH_OF_WATER = 4  # cells over which streams and lakes wet the ground


class PlantsParameters(Parameters, frozen=True, kw_only=True):
    """Grass and trees (after McDonald 2020): habitat, dispersal and mortality."""

    title: ClassVar[str] = "Plants"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("vegetation: grass and trees")] = False
    rate: Annotated[float, parameter(0.0, 20.0, "factor on the pace of plant life", unit="times", essential=True)] = 1.0
    grass_at_start: Annotated[float, parameter(0.0, 1.0,
        "grass cover of gentle slopes when plants begin to be simulated, as a fraction")] = 0.0
    grass_growth: Annotated[float, parameter(0.0, 1.0, "growth rate of sparse grass", unit="1/cycle", log=True)] = 0.02
    grass_spread: Annotated[float, parameter(0.0, FASTEST_SPREAD, "rate at which grass spreads to neighbouring cells",
        unit="1/cycle", log=True)] = 0.02
    grass_arrival: Annotated[float, parameter(0.0, 0.1, "chance that grass establishes on a cell away from other grass",
        unit="1/cycle", log=True)] = 1e-4
    grass_decline: Annotated[float, parameter(0.0, 1.0, "rate at which grass dies back where conditions are too poor",
        unit="1/cycle", log=True)] = 0.02
    grass_shade: Annotated[float, parameter(0.0, 1.0, "reduction of grass under a closed canopy, as a fraction")] = 0.6
    grass_roots: Annotated[float, parameter(0.0, 1.0, "root density of full grass cover")] = 0.4
    seeds: Annotated[float, parameter(0.0, 20.0, "factor on the seed production of trees", unit="times",
        essential=True)] = 1.0
    tree_arrival: Annotated[float, parameter(0.0, 0.1,
        "chance that a tree establishes on a cell from a distant seed source", unit="1/cycle", log=True)] = 4e-5
    densest_canopy: Annotated[float, parameter(0.0, 1.0, "canopy cover that a forest reaches")] = 0.8
    random_death: Annotated[float, parameter(0.0, 0.1, "mortality of trees from causes that are not simulated",
        unit="1/cycle", log=True)] = 1e-4
    stream_limit: Annotated[float, parameter(0.0, 1.0,
        "streams where droplets pass in more than this fraction of cycles remove plants",
        needs="droplets.enabled")] = 0.6
    flow_limit: Annotated[float, parameter(1e-4, 100.0,
        "streams with more water per cycle remove plants, as depth over one cell", unit="cells", log=True,
        needs="droplets.enabled")] = 0.15
    steepest: Annotated[float, parameter(0.0, 89.0, "steepest slope on which any plant grows", unit="°")] = 55.0
    flood_depth: Annotated[float, parameter(0.0, 100.0, "depth of standing water that plants survive", unit="m",
        log=True)] = 0.2
    burial: Annotated[float, parameter(1e-5, 1.0, "deposition rate above which plants are buried", unit="cells/cycle",
        log=True)] = 0.006
    undercut: Annotated[float, parameter(1e-5, 1.0, "erosion rate above which plants are undercut", unit="cells/cycle",
        log=True)] = 0.005
    ground_wetness: Annotated[float, parameter(0.0, 1.0,
        "wetness of level ground far from water, where moisture is not simulated", needs="not moisture.enabled")] = 0.4
    # fmt: on


@register
class Plants:
    """Lets the plants of a world live, one cycle at a time."""

    name: ClassVar[str] = "plants"
    after: ClassVar[str] = "cascade"
    parameters: ClassVar[type[Parameters]] = PlantsParameters
    changes: ClassVar[tuple[str, ...]] = (GRASS, "roots", "canopy", ROOTED_GROUND)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        # In no order, and with one that dies: so that all kernels run
        world.trees = np.zeros((2, world.trees.shape[1]), np.float32)
        world.trees[0, 0] = 1.0
        self.step(world, PlantsParameters(), Cycle())

    def step(self, world: World, parameters: PlantsParameters, cycle: Cycle) -> None:
        """Advance the plants of `world` by one cycle. They have no account in the ledger."""
        from kernels import plants

        surface = world.pack("surface")
        if ROOTED_GROUND not in world.layers:
            world.trace(ROOTED_GROUND)[...] = world.ground
            _sow_at_start(world, parameters.grass_at_start)
        nothing = np.empty((0, 0), np.float32)
        rain, rates = world.rainfall, world.rates_in(cycle.scratch.begin())
        weather = cycle.weather
        varied = weather.rain_by_altitude > 0.0
        finer = world.refinement  # lengths, depths and areas count reference cells
        world.trees = plants.grow(
            world.trees,
            plants.Fields(
                ground=world.ground,
                rooted_ground=world.trace(ROOTED_GROUND),
                surface=surface,
                flow=world.flow if "stream" in world.layers else nothing[..., None],
                standing=_standing(world, cycle.river_width),
                water_level=world.water_level,
                rain=nothing if rain is None else rain,
                wet="moisture" in cycle.running,
                cell_size=world.cell_size,
                rates=nothing[..., None] if rates is None else rates,
            ),
            _kinds(world.flora),
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
                # The same water is deeper over a smaller cell; n² times as many drops spread over n cells.
                flow_limit=parameters.flow_limit * world.reference_cell_size * finer**2,
                stream_limit=compounded(parameters.stream_limit, finer),
                steepest=math.tan(math.radians(parameters.steepest)),
                burial=parameters.burial * world.reference_cell_size,
                undercut=parameters.undercut * world.reference_cell_size,
                # What spreads to the next cell does so over n² as many in the same time.
                grass_spread=min(parameters.grass_spread * finer**2, FASTEST_SPREAD),
                tree_arrival=parameters.tree_arrival / finer**2,
                reach_of_water=max(1, round(REACH_OF_WATER * finer)),
                cell=1.0 / finer,
            ),
        )
        world.trees_version = world.next_version


def _standing(world: World, river_width: float) -> NDArray[np.uint8]:
    """Where water stands for plants: also in channels of meandering rivers, wider than the paths of their drops."""
    from kernels.hydraulic_geometry import channel_width

    if not len(world.centrelines):
        return world.standing
    widths = channel_width(world.centrelines[:, 3], river_width)
    return np.where(
        cells_of_channels(world.centrelines, widths, world.shape, world.cell_size), np.uint8(SEA), world.standing
    )


def _sow_at_start(world: World, cover: float) -> None:
    """Let grass stand where it is drawn as long as no plants are simulated: on gentle slopes, and in no water."""
    down, across = np.gradient(world.ground, world.cell_size)
    steepness = np.clip((np.hypot(down, across) - GENTLE) / (BARE - GENTLE), 0.0, 1.0)
    drawn = cover * (1.0 - steepness * steepness * (3.0 - 2.0 * steepness)) * (world.standing == DRY)
    grass = world.trace(GRASS)
    np.maximum(grass, drawn, out=grass, casting="same_kind")


def _kinds(flora: Flora) -> PlantKinds:
    """The needs of grass and trees, for kernels."""
    from kernels.plants import TREE_TRAITS, PlantKinds

    trees = flora.trees
    needs = [
        (*plant.wetness, *plant.temperature, *(math.tan(math.radians(slope)) for slope in plant.slope))
        for plant in (flora.grass, *trees)
    ]
    traits = [[getattr(tree, trait) for trait in TREE_TRAITS] for tree in trees]
    return PlantKinds(np.array(needs), np.array(traits).reshape(len(trees), len(TREE_TRAITS)))
