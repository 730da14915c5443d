"""Rivers and uplift: a landscape over geological time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.edge_parameters import EdgeParameters
from app.model.geology_parameters import (
    GeologyParameters,
    Uplift,
    has_base_level,
    landscape_parameters,
    outlets_of,
)
from app.model.layered_map import Layer
from app.model.layers import BURIED, ROOF, STRATA
from app.model.materials import MaterialParameters, materials_of
from app.model.parameters import Parameters
from app.model.plants import ROOTED_GROUND
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import register
from app.processes.sideways import CRUST_LOAD, move_sideways
from app.processes.stratigraphy import note_rock, spare_rock
from kernels.blocks import for_blocks

if TYPE_CHECKING:
    from kernels.materials import Materials

CAUSE = "worn by rivers and slopes"
CREPT_IN = "crept in from the base level"
SOIL = "turned to soil"
UPLIFTED = (STRATA, CRUST_LOAD)  # beside bedrock; rock that comes from below is no load


@register
class Geology:
    """Lets geological time pass over a world, one cycle at a time."""

    name: ClassVar[str] = "geology"
    after: ClassVar[str] = ""  # before lakes, whose beds it raises
    parameters: ClassVar[type[Parameters]] = GeologyParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", STRATA, ROOF, ROOTED_GROUND)

    def __init__(self) -> None:
        self._uplift: Uplift | None = None

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self._step_on(World(np.add.outer(np.zeros(8), np.arange(8.0)), np.ones((8, 8)), cell_size=1.0, seed=0))

    def prepare_rich(self) -> None:
        """As `prepare`, for ground of several kinds, too: what is on ground of one kind changes nothing here."""
        self.prepare()
        world = World(np.add.outer(np.zeros(8), np.arange(8.0)), np.ones((8, 8)), cell_size=1.0, seed=0)
        materials = materials_of(MaterialParameters())
        world.lay_materials(materials, {materials.names[0]: 1.0}, np.zeros((8, 8), np.float32))
        self._step_on(world)

    def asks_for_rich(self, parameters: GeologyParameters, running: frozenset[str]) -> bool:
        """Only what lies on the ground asks for it."""
        return False

    def release(self) -> None:
        """Release cached data."""
        self._uplift = None

    def _step_on(self, world: World) -> None:
        sea = EdgeParameters(water="sea", sea_level=2.0)
        for exponent in (1.0, 2.0):
            self.step(world, GeologyParameters(slope_exponent=exponent), Cycle(edges=sea))

    def step(self, world: World, parameters: GeologyParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the years since the last step, if a step is due."""
        from kernels.landscape import evolve, lay_lowest
        from kernels.materials import Moved

        years = world.years_to_come + parameters.years_per_cycle
        if (world.cycle + 1) % parameters.every:
            world.years_to_come = years
            return ()
        world.years_to_come = 0.0
        has_noted = cycle.bedrock is not None
        spare_rock(world, cycle)  # of what others wore: time takes what it needs of beds itself
        carried = move_sideways(world, parameters, years)
        before = world.ground.copy() if ROOTED_GROUND in world.layers else None
        walls = cycle.edges.water == "wall"
        outlets = outlets_of(world.ground, walls=walls)
        base_level = has_base_level(parameters, walls=walls)
        changed = ["bedrock", "sediment", *(name for name in UPLIFTED if name in world.layers)]
        uplift = [self._rise(world, parameters, years, ~outlets if base_level else np.True_)]
        ground = world.material_fields()
        evolved = evolve(
            world.bedrock,
            world.sediment,
            world.ground,
            ground,
            world.cell_size,
            landscape_parameters(parameters, years, world.refinement),
            uplift.pop(),  # so that nobody holds it when the rock has risen
            outlets,
            base_level=base_level,
            sea_level=cycle.edges.sea,
            rain=_rain(world, cycle.weather),
            rates=world.unsheltered,
            still=world.sheltered,
            columns_first=world.cycle // parameters.every % 2 == 0,
            scratch=cycle.scratch,
            buried=world.layers.get(BURIED),
            expose=partial(_expose, world, ground) if world.beds is not None else None,
        )
        if world.beds is not None:
            changed.append(BURIED)
            if has_noted:
                note_rock(world, cycle)
        world.years += years
        moved = evolved.moved
        if walls:  # nothing leaves
            lay_lowest(world.mix, world.ground, moved.off_map, world.layers.get("mobility"))
            world.sum_mix()
            moved = moved._replace(off_map=())
        # Where slopes fall from the base level into the map, more may creep in than leaves.
        crept_in = tuple(max(-load, 0.0) for load in moved.off_map)
        account_for(world, CAUSE, moved._replace(off_map=tuple(max(load, 0.0) for load in moved.off_map)))
        account_for(world, SOIL, evolved.soil)
        account_for(world, CREPT_IN, Moved(blown_in=crept_in), blown_in=CREPT_IN)
        volume = evolved.risen * world.cell_area
        if volume > 0.0:
            world.ledger.rock.gain("uplift", volume)
        elif volume < 0.0:
            world.ledger.rock.lose("subsidence", -volume)
        if before is not None:
            _raise_roots(world, before)
            changed.append(ROOTED_GROUND)
        return *changed, *carried

    def _rise(self, world: World, parameters: GeologyParameters, years: float, rises: Any) -> Layer | float:
        """As `_risen`, after what lies in the rock has risen as far, where it `rises`."""
        uplift = self._risen(world, parameters, years)
        everywhere = np.broadcast_to(uplift, world.shape)
        where = np.broadcast_to(rises, world.shape)
        for layer in (world.layers[name] for name in UPLIFTED if name in world.layers):
            _rise_with(layer, everywhere, where)
        return uplift

    def _risen(self, world: World, parameters: GeologyParameters, years: float) -> Layer | float:
        """Uplift in so many years, in metres."""
        if self._uplift is None or not self._uplift.is_for(*world.shape, world.seed):
            self._uplift = Uplift(*world.shape, world.seed)
        risen = self._uplift.risen(parameters, world.years, years)
        for factor in ("rate_uplift", "mobility"):
            if factor in world.layers:
                risen = risen * world.layers[factor]
        return risen


def _rise_with(layer: NDArray[np.floating], uplift: Layer, where: NDArray[np.bool_]) -> None:
    """Add the uplift to a layer of heights, in place."""

    def rise(rows: slice) -> None:
        own = layer[rows]
        np.add(own, uplift[rows].astype(layer.dtype, copy=False), out=own, where=where[rows])

    for_blocks(rise, *layer.shape)


def _raise_roots(world: World, before: Layer) -> None:
    """Let plants keep standing on the ground, which was at the heights `before`."""
    rooted = world.layers[ROOTED_GROUND]

    def keep_up(rows: slice) -> None:
        rooted[rows] += np.subtract(world.ground[rows], before[rows]).astype(rooted.dtype)

    for_blocks(keep_up, *world.shape)


def _expose(world: World, ground: Materials, depth: Layer) -> None:
    """Let beds become loose material where as much as `depth` metres is to be dug, [row, column]."""
    if world.exhume(depth) and not np.shares_memory(world.layers[BURIED], ground.burden):  # beds are not all of it
        world.sum_burden(ground.burden.reshape(world.shape))


def _rain(world: World, weather: Weather) -> NDArray[np.float32] | None:
    """Rain of each cell relative to the usual; None: 1 everywhere."""
    from kernels.rain import rain_map

    falls = world.rainfall
    if weather.rain_by_altitude > 0.0:
        falls = rain_map(world.ground, falls, weather.rain_by_altitude).astype(np.float32)
    if weather.mean_rain != 1.0:  # a step has many years
        mean = np.float32(weather.mean_rain)
        falls = np.full(world.shape, mean) if falls is None else falls * mean
    return falls
