"""Floods: water with momentum, instead of lakes that are level at once."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.edge_parameters import EdgeParameters
from app.model.layered_map import SNOW_RUNOFF, Layer
from app.model.layers import LayerDeclaration
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.springs import Spring, read_springs
from app.model.world import World
from app.processes import pools
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.pools import PoolsParameters
from app.processes.process import ProcessFailure, register
from kernels.blocks import for_blocks
from kernels.scratch import Scratch

SECONDS_PER_HOUR = 3600.0
CYCLES_PER_CALM = 8  # between checks for water that has come to rest
LEAST_SEEN = 0.01  # metres, or fraction of a cell if that is less: shallower water is not displayed
SHEET = 0.003  # of a cell: what is shallower and wide is a sheet over the ground, too thin for a surface of its own

EAST, SOUTH, SPEED, FROUDE = "flood_east", "flood_south", "flood_speed", "froude"
LOAD = "suspended"


def read_inflows(text: str) -> tuple[Spring, ...]:
    """Positions and discharges of inflows. Raises `UserError` if the text is invalid."""
    return read_springs(text, "floods.springs", "m³/s")


class FloodsParameters(Parameters, frozen=True, kw_only=True):
    """Shallow water with momentum (Bates, Horritt, Fewtrell 2010; Stelling, Duinmeijer 2003)."""

    title: ClassVar[str] = "Floods"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("lakes, floods and the sea as water that runs, with waves and currents")] = False
    seconds_per_cycle: Annotated[float, parameter(0.01, 3600.0, "time that passes in a cycle for the water", unit="s",
        log=True, essential=True)] = 2.0
    roughness: Annotated[float, parameter(0.0, 0.2, "Manning's roughness of the bed", unit="s/m^(1/3)",
        essential=True)] = 0.035
    damping: Annotated[float, parameter(0.0, 1.0, "rate at which waves calm down also in deep water", unit="1/s",
        log=True)] = 0.0005
    rain: Annotated[float, parameter(0.0, 1000.0, "rain that runs off", unit="mm/h", log=True, essential=True)] = 0.0
    springs: Annotated[str, described(
        "position (south, east, from 0 to 1) and discharge in m³/s of each inflow, separated by ';'",
        check=read_inflows)] = ""
    bed_load: Annotated[bool, described("sediment that water drags along its bed", essential=True)] = True
    grain_size: Annotated[float, parameter(1e-4, 1.0, "size of the grains that it drags", unit="m", log=True,
        needs="floods.bed_load")] = 0.005
    suspended_load: Annotated[bool, described("fine sediment that water stirs up and carries as mud")] = False
    suspended_size: Annotated[float, parameter(1e-5, 1e-3, "size of the grains that it carries in suspension", unit="m",
        log=True, needs="floods.suspended_load")] = 1e-4
    wave_height: Annotated[float, parameter(-50.0, 50.0,
        "height of a single wave that comes in from the sea, such as a tsunami", unit="m", needs="edges.water=sea",
        essential=True)] = 0.0
    wave_seconds: Annotated[float, parameter(1.0, 7200.0, "time that the wave takes to pass", unit="s", log=True,
        needs="floods.wave_height")] = 240.0
    wave_direction: Annotated[float, parameter(0.0, 360.0, "direction the wave comes from, clockwise from north",
        unit="°", needs="floods.wave_height")] = 270.0
    wave_cycle: Annotated[int, parameter(0, 1_000_000, "cycle in which the wave comes", log=True,
        needs="floods.wave_height")] = 20
    most_steps: Annotated[int, parameter(1, 10_000,
        "time steps in a cycle: where waves are too fast for them, less time passes", unit="steps", log=True)] = 500
    # fmt: on


@register
class Floods:
    """Moves the water of a world, one cycle at a time."""

    name: ClassVar[str] = "floods"
    after: ClassVar[str] = "pools"
    parameters: ClassVar[type[Parameters]] = FloodsParameters
    changes: ClassVar[tuple[str, ...]] = ("water", "sediment", EAST, SOUTH, SPEED, FROUDE, LOAD)
    layers: ClassVar[tuple[LayerDeclaration, ...]] = (
        LayerDeclaration(EAST, "speed of water to the east", "m/s", signed=True, seen="never"),
        LayerDeclaration(SOUTH, "speed of water to the south", "m/s", signed=True, seen="never"),
        LayerDeclaration(SPEED, "speed of running water", "m/s", seen="in overlays"),
        LayerDeclaration(FROUDE, "speed of running water beside that of its waves (Froude number)"),
        LayerDeclaration(LOAD, "fine sediment in suspension, as thickness of the bed", "m", np.float64,
                         account="sediment"),
    )  # fmt: skip

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        parameters = FloodsParameters(seconds_per_cycle=0.1, springs="0.5 0.5 1", suspended_load=True)
        self.step(world, parameters, Cycle())

    def step(self, world: World, parameters: FloodsParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance the water of `world` by the seconds of a cycle."""
        from kernels import floods

        account, area = world.ledger.water, world.cell_area
        ocean = _ocean(world, cycle.edges)
        if EAST not in world.layers:
            _fill_sea(world, ocean, cycle.edges.sea)
        if parameters.rain > 0.0:
            account.gain("rain", _rain(world, parameters, cycle) * area)
        totals = floods.run(
            world.ground,
            world.water,
            world.trace(EAST),
            world.trace(SOUTH),
            world.cell_size,
            for_kernel(
                floods.FloodParameters,
                parameters,
                seconds=parameters.seconds_per_cycle,
                edges={"open": floods.OPEN, "sea": floods.SEA, "wall": floods.WALL}[cycle.edges.water],
                sea_level=cycle.edges.sea_level,
                wave_begins=(parameters.wave_cycle - world.cycle) * parameters.seconds_per_cycle,
                wave_south=math.cos(math.radians(parameters.wave_direction)),
                wave_east=-math.sin(math.radians(parameters.wave_direction)),
            ),
            _springs(world, parameters),
            cycle.scratch,
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        for cause, volume in {"off the map": totals.over_edge, "into the sea": totals.into_sea}.items():
            if volume:
                account.lose(cause, volume * area)
        for cause, volume in {"from the sea": totals.from_sea, "springs": totals.sprung}.items():
            if volume:
                account.gain(cause, volume * area)
        if parameters.bed_load:
            _carry(world, parameters, totals.seconds, cycle.scratch)
        if parameters.suspended_load:
            _suspend(world, parameters, totals.seconds, cycle.scratch)
        else:
            _settle(world)
        if world.cycle % CYCLES_PER_CALM == 0:
            floods.calm(world.ground, world.water, world.layers[EAST], world.layers[SOUTH], cycle.scratch)
        _show(world, world.water, ocean, cycle.edges)
        return tuple(name for name in self.changes if name in world.layers)

    def fade(self, world: World, parameters: FloodsParameters) -> bool:
        """Forget the speeds of water, as it stands while this process is off."""
        _settle(world)
        world.forget(EAST, SOUTH, SPEED, FROUDE)
        return False


def derive_levels(world: World, floods: FloodsParameters, lakes: PoolsParameters, edges: EdgeParameters) -> None:
    """Update `standing`, `water_level` and `sea_level` of `world`, and nothing else.

    With floods they follow the water as it is, otherwise the level lakes that it would form.
    """
    if not floods.enabled:
        if lakes.enabled:
            pools.derive_levels(world, lakes, edges)
        return
    ocean, water = _ocean(world, edges), world.water
    if EAST not in world.layers:  # the sea comes with the first cycle
        water = np.where(ocean, np.maximum(water, edges.sea - world.ground), water)
    _show(world, water, ocean, edges)


def _ocean(world: World, edges: EdgeParameters) -> NDArray[np.bool_]:
    from kernels.ocean import ocean_mask

    return ocean_mask(world.ground, edges.sea)


def _fill_sea(world: World, ocean: NDArray[np.bool_], sea_level: float) -> None:
    """Fill the sea with water. Without floods it is only a level."""
    if not ocean.any():
        return
    more = np.where(ocean, np.maximum(sea_level - world.ground - world.water, 0.0), 0.0)
    world.water[...] += more
    world.ledger.water.gain("from the sea", float(more.sum()) * world.cell_area)


def _rain(world: World, parameters: FloodsParameters, cycle: Cycle) -> float:
    """Add the rain of a cycle. Returns its amount in metres over one cell."""
    from kernels.rain import rain_map

    usual = rain_map(world.ground, world.rainfall, cycle.weather.rain_by_altitude)
    depth = parameters.rain * 1e-3 / SECONDS_PER_HOUR * parameters.seconds_per_cycle
    part, runoff, fallen = depth * usual.size / max(float(usual.sum()), 1e-9), world.layers.get(SNOW_RUNOFF), usual

    def fall(rows: slice) -> None:
        fallen[rows] *= part
        if runoff is not None:
            fallen[rows] *= runoff[rows]
        world.water[rows] += fallen[rows]

    for_blocks(fall, *world.shape)
    return float(fallen.sum())


def _carry(world: World, parameters: FloodsParameters, seconds: float, scratch: Scratch) -> None:
    """Move bed load by the water of a cycle."""
    from kernels import bed_load

    moved = bed_load.carry(
        world.bedrock,
        world.sediment,
        world.ground,
        world.material_fields(),
        world.cell_size,
        world.water,
        world.layers[EAST],
        world.layers[SOUTH],
        for_kernel(
            bed_load.BedLoadParameters,
            parameters,
            seconds=seconds,
            finer=world.refinement,
        ),
        world.rates_in(scratch.begin()),
        scratch,
    )
    account_for(world, "", moved)


def _suspend(world: World, parameters: FloodsParameters, seconds: float, scratch: Scratch) -> None:
    """Move suspended load by the water of a cycle."""
    from kernels import suspension

    passed = suspension.carry(
        world.bedrock,
        world.sediment,
        world.ground,
        world.material_fields(),
        world.cell_size,
        world.water,
        world.layers[EAST],
        world.layers[SOUTH],
        world.trace(LOAD),
        for_kernel(suspension.SuspensionParameters, parameters, seconds=seconds),
        world.rates_in(scratch.begin()),
        scratch,
    )
    if passed.off_map:
        world.ledger.sediment.lose("off the map", passed.off_map * world.cell_area)
    _account_for_finest(world, passed.taken, passed.settled)


def _settle(world: World) -> None:
    """Let all that is in suspension settle at once."""
    if LOAD not in world.layers:
        return
    from kernels.suspension import finest_kind

    load = world.layers[LOAD]
    if world.materials is None:
        world.sediment[...] += load
    else:
        world.mix[..., finest_kind(world.material_fields())] += load
    _account_for_finest(world, 0.0, float(load.sum()))
    world.forget(LOAD)
    world.sum_mix()
    world.changed["sediment"] = world.next_version


def _account_for_finest(world: World, taken: float, settled: float) -> None:
    """Enter what went into suspension and what settled, in metres over one cell: sediment in water is of no kind."""
    if world.materials is None:
        return
    from kernels.suspension import finest_kind

    account = world.ledger.kinds[world.materials.names[finest_kind(world.material_fields())]]
    if taken:
        account.lose("taken into suspension", taken * world.cell_area)
    if settled:
        account.gain("settled", settled * world.cell_area)


def _springs(world: World, parameters: FloodsParameters) -> NDArray[np.float64]:
    """Inflows for the kernel: [spring, (row, column, metres over one cell per second)]."""
    rows, columns = world.shape
    return np.array(
        [
            (
                min(int(spring.south * rows), rows - 1),
                min(int(spring.east * columns), columns - 1),
                spring.drops / world.cell_area,
            )
            for spring in read_inflows(parameters.springs)
        ],
        np.float64,
    ).reshape(-1, 3)


def _show(world: World, water: Layer, ocean: NDArray[np.bool_], edges: EdgeParameters) -> None:
    from kernels import floods

    runs = EAST in world.layers
    unseen = np.zeros((1, 1), np.float32)
    floods.show(
        world.ground,
        water,
        world.layers[EAST] if runs else unseen,
        world.layers[SOUTH] if runs else unseen,
        ocean,
        max(min(LEAST_SEEN, LEAST_SEEN * world.cell_size), SHEET * world.cell_size),
        edges.sea if math.isfinite(edges.sea) else 0.0,
        world.water_level,
        world.standing,
        world.trace(SPEED) if runs else unseen,
        world.trace(FROUDE) if runs else unseen,
    )
    world.sea_level = edges.sea
    world.walls = edges.water == "wall"
    world.water_version += 1
