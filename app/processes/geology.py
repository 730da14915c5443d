"""Rivers and uplift: a landscape over geological time."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import Layer, World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.plants import ROOTED_GROUND
from app.processes.process import register
from kernels.uplift import Pattern, uplift_pattern

if TYPE_CHECKING:
    from kernels.landscape import LandscapeParameters, Room

MILLIMETRE = 1e-3
CUTS = "geology.erodibility"


class GeologyParameters(Parameters, frozen=True, kw_only=True):
    """Uplift, river incision and deposition, landslides, creep and soil (Yuan et al. 2019; Culling 1960)."""

    title: ClassVar[str] = "Rivers and uplift"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("geological time: uplift, incision by rivers, and hillslopes")] = False
    age: Annotated[
        float,
        parameter(
            0.0, 1e8, "age at which a new range begins", unit="years", needs="world.source=range", essential=True,
            makes_world=True,
        ),
    ] = 5e6  # fmt: skip
    years_per_cycle: Annotated[
        float, parameter(1.0, 1e6, "time that passes in a cycle", unit="years", log=True, essential=True)
    ] = 10_000.0
    every: Annotated[
        int,
        parameter(1, 1000, "cycles between two steps; each makes up for all of their time", unit="cycles", log=True),
    ] = 1
    uplift: Annotated[
        float,
        parameter(-20.0, 20.0, "uplift of rock where it is fastest; below 0 it sinks", unit="mm/year", essential=True),
    ] = 0.5
    uplift_pattern: Annotated[
        Literal["uniform", "dome", "tilted block", "fault", "fold belt", "escarpment"],
        described("where rock rises; the field of uplift is a factor on it", needs="geology.uplift", essential=True),
    ] = "uniform"
    uplift_direction: Annotated[
        float,
        parameter(
            0.0,
            360.0,
            "direction that the uplifted side of a fault or an escarpment faces, or across folds; clockwise from north",
            unit="°",
            needs="geology.uplift, not geology.uplift_pattern=uniform, not geology.uplift_pattern=dome",
        ),
    ] = 180.0
    uplift_width: Annotated[
        float,
        parameter(
            0.02,
            4.0,
            "radius of a dome, width of a block or a half of a belt, relative to the map's longer side",
            log=True,
            needs="geology.uplift, not geology.uplift_pattern=uniform",
        ),
    ] = 0.45
    subsidence: Annotated[
        float,
        parameter(
            0.0,
            1.0,
            "subsidence beside the fault, as a fraction of the uplift",
            needs="geology.uplift, geology.uplift_pattern=tilted block or geology.uplift_pattern=fault",
        ),
    ] = 0.2
    uplift_end: Annotated[
        float,
        parameter(0.0, 1e8, "time at which the uplift ends; 0: it goes on", unit="years", needs="geology.uplift"),
    ] = 0.0
    erodibility: Annotated[
        float,
        parameter(0.0, 1e-2, "K: erodibility of rock by rivers", unit="m^(1-2m)/year", log=True, essential=True),
    ] = 5e-6
    sediment_erodibility: Annotated[
        float,
        parameter(0.1, 50.0, "erodibility of loose material beside that of rock", unit="times", log=True, needs=CUTS),
    ] = 2.0
    cover: Annotated[
        float,
        parameter(0.01, 100.0, "thickness of loose material that half protects rock", unit="m", log=True, needs=CUTS),
    ] = 2.0
    area_exponent: Annotated[float, parameter(0.1, 1.0, "m: exponent of the drainage area in incision", needs=CUTS)] = (
        0.45
    )
    slope_exponent: Annotated[float, parameter(0.5, 3.0, "n: exponent of the slope in incision", needs=CUTS)] = 1.0
    deposition: Annotated[
        float,
        parameter(0.0, 10.0, "G: how readily rivers deposit; 0 carries all away", needs=CUTS, essential=True),
    ] = 0.5
    critical_slope: Annotated[
        float,
        parameter(5.0, 90.0, "steeper slopes slide; 90 leaves all", unit="°", needs=CUTS, essential=True),
    ] = 33.0
    settling_length: Annotated[
        float,
        parameter(
            1.0, 1e6, "distance in the sea over which two thirds of a river's load settle", unit="m", log=True,
            needs=f"{CUTS}, edges.water=sea",
        ),
    ] = 1000.0  # fmt: skip
    diffusivity: Annotated[
        float, parameter(0.0, 10.0, "creep of hillslopes, which rounds them", unit="m²/year", log=True, essential=True)
    ] = 0.01
    soil_production: Annotated[
        float, parameter(0.0, 10.0, "rate at which bare rock turns to soil", unit="mm/year", log=True)
    ] = 0.02
    soil_depth: Annotated[
        float,
        parameter(
            0.01, 10.0, "thickness of soil that reduces its production to a third", unit="m", log=True,
            needs="geology.soil_production",
        ),
    ] = 0.5  # fmt: skip


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


def landscape_parameters(parameters: GeologyParameters, years: float) -> LandscapeParameters:
    """What the kernel asks for, of a step of so many years."""
    from kernels.landscape import LandscapeParameters

    slope = parameters.critical_slope
    return for_kernel(
        LandscapeParameters,
        parameters,
        years=years,
        erodibility=parameters.erodibility,
        sediment_erodibility=parameters.sediment_erodibility,
        critical_slope=math.tan(math.radians(slope)) if slope < 90.0 else math.inf,
        soil_production=parameters.soil_production * MILLIMETRE,
    )


def outlets_of(ground: Layer, *, walls: bool) -> NDArray[np.bool_]:
    """The base level of a map, [row, column]: low places of its edge, or the lowest of all where the edge is a wall."""
    from kernels.stream_power import lowest_of_edge

    if not walls:
        return lowest_of_edge(ground)
    outlets = np.zeros(ground.shape, np.bool_)
    outlets.flat[int(ground.argmin())] = True
    return outlets


def uplift_of(parameters: GeologyParameters, rows: int, columns: int, seed: int, begin: float, years: float) -> Layer:
    """What rises by the pattern in so many years after `begin`, in metres, [row, column]."""
    if parameters.uplift_end:
        years = max(min(begin + years, parameters.uplift_end) - begin, 0.0)
    pattern = Pattern(parameters.uplift_direction, parameters.uplift_width, parameters.subsidence, seed)
    return _pattern(parameters.uplift_pattern, rows, columns, pattern) * (parameters.uplift * MILLIMETRE * years)


@functools.lru_cache(maxsize=4)
def _pattern(name: str, rows: int, columns: int, pattern: Pattern) -> Layer:
    return uplift_pattern(name, rows, columns, pattern)


def _uplift(world: World, parameters: GeologyParameters, years: float) -> Layer:
    risen = uplift_of(parameters, *world.shape, world.seed, world.years, years)
    for factor in ("rate_uplift", "mobility"):
        if factor in world.layers:
            risen *= world.layers[factor]
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
