"""Rivers and uplift: a landscape over geological time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.geology_parameters import GeologyParameters, landscape_parameters, outlets_of, uplift_of
from app.model.parameters import Parameters
from app.model.world import Layer, World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.plants import ROOTED_GROUND
from app.processes.process import register

if TYPE_CHECKING:
    from kernels.landscape import Room


@register
class Geology:
    """Lets geological time pass over a world, one cycle at a time."""

    name: ClassVar[str] = "geology"
    after: ClassVar[str] = ""  # before lakes, which rise with their beds
    parameters: ClassVar[type[Parameters]] = GeologyParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", ROOTED_GROUND)

    def __init__(self) -> None:
        self._room: Room | None = None

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.add.outer(np.zeros(8), np.arange(8.0)), np.ones((8, 8)), cell_size=1.0, seed=0)
        for exponent in (1.0, 2.0):
            self.step(world, GeologyParameters(slope_exponent=exponent), Cycle())

    def step(self, world: World, parameters: GeologyParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the years of the cycles since the last step, if it is time for one."""
        from kernels.landscape import evolve, room_for

        if (world.cycle + 1) % parameters.every:
            return ()
        years = parameters.years_per_cycle * parameters.every
        if self._room is None or self._room.after.shape != world.shape:
            self._room = room_for(*world.shape)
        before = world.ground.copy() if ROOTED_GROUND in world.layers else None
        outlets = outlets_of(world.ground, walls=cycle.edges.water == "wall")
        evolved = evolve(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(),
            world.cell_size,
            landscape_parameters(parameters, years),
            _uplift(world, parameters, years),
            outlets,
            sea_level=cycle.edges.sea,
            rain=_rain(world, cycle.weather),
            rates=world.rates,
            columns_first=world.cycle // parameters.every % 2 == 0,
            room=self._room,
        )
        world.years += years
        moved = evolved.moved
        if cycle.edges.water == "wall":  # nothing leaves
            _lay_lowest(world, moved.off_map)
            moved = moved._replace(off_map=())
        # Where slopes fall from the base level into the map, more may creep in than leaves.
        off_map, blown_in = (tuple(max(sign * load, 0.0) for load in moved.off_map) for sign in (1.0, -1.0))
        account_for(world, "worn by rivers and slopes", moved._replace(off_map=off_map, blown_in=blown_in))
        volume = evolved.risen * world.cell_area
        if volume > 0.0:
            world.ledger.rock.gain("uplift", volume)
        elif volume < 0.0:
            world.ledger.rock.lose("subsidence", -volume)
        if before is None:
            return ("bedrock", "sediment")
        # Plants live for a moment of this time, and stand on the ground as it is.
        world.layers[ROOTED_GROUND] += (world.ground - before).astype(world.layers[ROOTED_GROUND].dtype)
        return self.changes


def _uplift(world: World, parameters: GeologyParameters, years: float) -> Layer:
    risen = uplift_of(parameters, *world.shape, world.seed, world.years, years)
    for factor in ("rate_uplift", "mobility"):
        if factor in world.layers:
            risen = risen * world.layers[factor]
    return risen


def _rain(world: World, weather: Weather) -> NDArray[np.float32] | None:
    """How much of the usual rain falls on each cell; None: as much as usual everywhere."""
    from kernels.rain import rain_map

    falls = world.rainfall
    if weather.rain_by_altitude > 0.0:
        falls = rain_map(world.ground, falls, weather.rain_by_altitude).astype(np.float32)
    if weather.rain != 1.0:
        falls = np.full(world.shape, weather.rain, np.float32) if falls is None else falls * np.float32(weather.rain)
    return falls


def _lay_lowest(world: World, loads: tuple[float, ...]) -> None:
    """Fill the lowest cells to one level with loads of each kind, in metres over one cell."""
    load = sum(loads)
    if not load > 0.0:
        return
    heights = np.sort(world.ground, axis=None)
    below = np.cumsum(heights)
    room = heights * np.arange(1, len(heights) + 1) - below  # up to the height of each
    count = int(np.searchsorted(room, load))
    level = (below[count - 1] + load) / count
    lowest = world.ground < level
    depth = level - world.ground[lowest]
    depth *= load / depth.sum()
    for kind, own in enumerate(loads):
        world.mix[lowest, kind] += depth * (own / load)
    world.sum_mix()
