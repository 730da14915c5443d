"""Droplets that erode, transport and deposit on their way downhill, and their streams (after McDonald 2020, 2023)."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.edge_parameters import EdgeParameters
from app.model.layers import ARM_CODES, side_by_side
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.springs import read_springs
from app.model.world import World
from app.processes.cycle import Cycle, Spills
from app.processes.kinds import account_for
from app.processes.process import ProcessFailure, register

SPILL_SPEED = 0.5  # reference cells per unit of time: speed of drops that leave a lake
VOLUME = 4  # column of the volume in a table of drops
IN_RIVERS = " in rivers"  # suffix of the build for drops that carry by the discharge of their river
DRY_STREAM = 1e-6  # least frequency of a stream


class DropletParameters(Parameters, frozen=True, kw_only=True):
    """Droplet erosion and streams (McDonald 2020, 2023)."""

    title: ClassVar[str] = "Droplets"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("hydraulic erosion by droplets")] = True
    count: Annotated[int, parameter(0, 100_000, "droplets of rain per cycle", log=True, essential=True,
        costs=True)] = 1000
    time_step: Annotated[float, parameter(0.1, 2.0, "time step of a droplet, shortened so that it skips no cell",
        unit="t")] = 1.2
    density: Annotated[float, parameter(0.1, 10.0, "inertia of a droplet: denser ones turn more slowly",
        log=True)] = 1.0
    friction: Annotated[float, parameter(0.0, 0.8, "rate at which a droplet loses speed to friction",
        unit="1/t")] = 0.05
    deposition_rate: Annotated[float, parameter(0.0, 0.8,
        "rate at which a droplet's load approaches its transport capacity", unit="1/t", essential=True)] = 0.1
    evaporation: Annotated[float, parameter(0.0, 1.0, "rate at which a droplet loses volume", unit="1/t",
        log=True)] = 0.001
    minimum_volume: Annotated[float, parameter(0.001, 0.9, "a droplet ends below this volume; a new one has 1",
        log=True)] = 0.01
    rock_erodibility: Annotated[float, parameter(0.0, 1.0, "erodibility of bedrock relative to loose sediment",
        essential=True)] = 0.5
    longest_path: Annotated[int, parameter(1, 10_000, "a droplet ends after this many steps", unit="steps",
        log=True)] = 1000
    water: Annotated[float, parameter(0.001, 10.0, "water in a new droplet, as depth over one cell", unit="cells",
        log=True)] = 0.1
    springs: Annotated[str,
        described("position (south, east, from 0 to 1) and droplets per cycle of each spring, separated by ';'",
        check=read_springs)] = ""
    stream_memory: Annotated[float, parameter(0.001, 1.0,
        "weight of the latest cycle in the stream averages; higher adapts and fades faster", log=True)] = 0.01
    stream_friction: Annotated[float, parameter(0.0, 1.0, "reduction of friction in a stream, as a fraction")] = 0.0
    stream_evaporation: Annotated[float, parameter(0.0, 1.0,
        "reduction of evaporation in a stream, as a fraction")] = 0.0
    stream_stop: Annotated[float, parameter(0.0, 0.1,
        "in a stream a droplet ends when its acceleration falls below this", unit="cells/t²")] = 0.0
    momentum: Annotated[float, parameter(0.0, 1.0,
        "how strongly a stream's momentum deflects droplets; makes rivers meander", unit="1/t", essential=True)] = 0.0
    river_transport: Annotated[float, parameter(0.0, 100.0,
        "by how much a river carries sediment farther, per droplet that passes in a cycle; 0: as far as any water",
        log=True, essential=True)] = 0.0
    root_hold: Annotated[float, parameter(0.0, 1.0,
        "reduction of erosion and deposition under the densest roots, as a fraction", needs="plants.enabled")] = 0.9
    root_deposition: Annotated[float, parameter(0.0, 1.0,
        "how far roots reduce deposition as well; 0: sediment settles among plants as on bare ground",
        needs="plants.enabled, droplets.root_hold")] = 1.0
    attrition: Annotated[float, parameter(0.0, 1000.0,
        "downstream fining: rate at which a load of abrasion 1 wears to finer kinds", unit="1/km", log=True,
        needs="materials.enabled")] = 5.0
    # fmt: on


@register
class DropletErosion:
    """Lets drops run over a world, one cycle at a time."""

    name: ClassVar[str] = "droplets"
    after: ClassVar[str] = "moisture"
    parameters: ClassVar[type[Parameters]] = DropletParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", "water", *side_by_side("flow"))
    alternatives: ClassVar[tuple[str, ...]] = (IN_RIVERS,)

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self.step(_small_world(), DropletParameters(count=1), Cycle())

    def prepare_rich(self) -> None:
        """As `prepare`, for ground of several kinds, or with wetness or plants on it."""
        self.step(_small_world(rich=True), DropletParameters(count=1), Cycle())

    def alternative(self, parameters: DropletParameters) -> str:
        """Whether drops use the discharge of their river."""
        return IN_RIVERS if parameters.river_transport > 0.0 else ""

    def prepare_alternative(self, alternative: str, *, rich: bool) -> None:
        """As `prepare` or `prepare_rich`, for drops in rivers."""
        self.step(_small_world(rich=rich), DropletParameters(count=1, river_transport=1.0), Cycle())

    def asks_for_rich(self, parameters: DropletParameters, running: frozenset[str]) -> bool:
        """Whether the ground needs the richer kernel."""
        return False

    def step(self, world: World, parameters: DropletParameters, cycle: Cycle) -> None:
        """Advance `world` by the drops of one cycle. Raises `ProcessFailure` before anything non-finite is written."""
        from kernels import droplets

        water = _water_of_drop(world, parameters)
        usual = round(parameters.count * _drops_for_one(world))
        starts = count_drops(world, parameters, cycle)
        count, springs = cycle.drops_of_rain, cycle.drops_of_springs
        assert springs is not None
        spills = _spilled_drops(world, cycle.spills, usual + len(springs), water)
        rising = _risen_drops(world, cycle, usual, water)
        rained = _run(
            world,
            parameters,
            cycle,
            count,
            np.concatenate([springs, spills, rising]),
            starts=starts,
            settled=cycle.spills is not None,
        )
        droplets.remember(world.flow, _memory(world, parameters), water)
        ledger = world.ledger
        ledger.water.gain("rain", rained * world.cell_area)
        if len(springs):
            ledger.water.gain("springs", float(springs[:, VOLUME].sum()) * water * world.cell_area)

    def fade(self, world: World, parameters: DropletParameters) -> bool:
        """Let streams run dry, at the rate at which `step` forgets those that no drop passes.

        So a stream lives on for 1 / `stream_memory` cycles in the mean. Drops do not outlive their cycle, and no water
        is in these traces: the ledger knows nothing of them.
        """
        if "stream" not in world.layers or not world.layers["stream"].any():
            return False
        traces = world.flow[..., : len(side_by_side("flow"))]
        traces *= np.float32(1.0 - parameters.stream_memory)
        traces[world.layers["stream"] < DRY_STREAM] = 0.0
        return True


def _small_world(*, rich: bool = False) -> World:
    """One that kernels can be compiled with."""
    world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
    if rich:
        world.trace("wetness")
        world.trace("mobility")
    return world


def _drops_for_one(world: World) -> float:
    """Drops per drop of the reference: the ratio of cell areas.

    So rain and flow per area stay the same.
    """
    return (world.reference_cell_size / world.cell_size) ** 2


def _water_of_drop(world: World, parameters: DropletParameters) -> float:
    """The water of a drop of volume 1, in metres over one cell."""
    return parameters.water * world.reference_cell_size


def raise_averages(world: World, parameters: DropletParameters, cycles: int, before: World) -> None:
    """Set the averages of streams to their limit after many cycles like the latest `cycles`.

    `before` is the world of before these: of its averages nothing stays.
    """
    if parameters.river_transport == 0.0:  # otherwise they are plain means
        left = (1.0 - parameters.stream_memory) ** cycles
        for name in side_by_side("flow"):
            if name in before.layers:
                world.layers[name] -= np.float32(left) * before.layers[name]
        world.flow[..., : len(side_by_side("flow"))] /= np.float32(1.0 - left)


def _memory(world: World, parameters: DropletParameters) -> float:
    """The weight of this cycle in the stream averages.

    Where rivers carry by their discharge, it is the plain mean of all cycles until that forgets as slowly as
    `stream_memory`: else they would be nearly dry in the first ones.
    """
    if parameters.river_transport == 0.0:
        return parameters.stream_memory
    return max(parameters.stream_memory, 1.0 / (world.cycles_before + world.cycle + 1))


def _run(
    world: World,
    parameters: DropletParameters,
    cycle: Cycle,
    rain: int,
    sources: NDArray[np.float64],
    *,
    starts: NDArray[np.float64] | None = None,
    settled: bool,
) -> float:
    """Run drops of rain and of sources, as `_spring_drops` has them, over lakes and sea where these are `settled`.

    `starts` are the places of the rain's, see `_rain_drops`.

    Returns the water that rained, in metres over one cell. Raises `ProcessFailure`.
    """
    from kernels import droplets

    water = _water_of_drop(world, parameters)
    standing = None
    if settled:
        standing = droplets.StandingWater(world.standing, world.water_level, world.water, world.walls)
    totals = droplets.erode(
        world.bedrock,
        world.sediment,
        world.ground,
        world.material_fields(),
        world.cell_size,
        world.seed,
        world.cycle,
        for_kernel(
            droplets.DropletParameters,
            parameters,
            cycle.weather,
            count=rain,
            water=water,
            soaking=cycle.soaking,
            longest_path=round(parameters.longest_path * world.reference_cell_size / world.cell_size),
        ),
        flow=world.flow,
        standing=standing,
        sources=sources,
        rain=world.layers.get("rain"),
        surface=world.surface,
        moisture=world.trace("moisture") if cycle.soaking > 0.0 else None,
        rates=world.rates_in(cycle.scratch.begin()),
        starts=starts,
        arms=world.layers.get(ARM_CODES) if "distributaries" in cycle.running else None,
        reference_cell_size=world.reference_cell_size,
    )
    if totals.failed_row >= 0:
        raise ProcessFailure(DropletErosion.name, totals.failed_row, totals.failed_column)
    area = world.cell_area
    ledger = world.ledger
    account_for(world, "worn by drops", totals.moved)
    ledger.water.lose("evaporated", totals.evaporated * area)
    ledger.water.lose("off the map", totals.water_off_edge * area)
    if standing is not None:
        ledger.water.lose("into the sea", totals.water_into_sea * area)
    return totals.rained


def erode_from(
    world: World, parameters: DropletParameters, edges: EdgeParameters, places: NDArray[np.float64], *, settled: bool
) -> float:
    """Let drops begin at places [drop, (row, column)], between two cycles. Returns their water in cubic metres.

    They leave no streams: these are what passes in the mean of cycles. Raises `ProcessFailure`.
    """
    drops = np.zeros((len(places), 5))
    drops[:, :2], drops[:, VOLUME] = places, 1.0
    _run(world, parameters, Cycle(edges=edges), 0, drops, settled=settled)
    world.flow[..., len(side_by_side("flow")) :] = 0.0
    return len(places) * _water_of_drop(world, parameters) * world.cell_area


def water_of_cycle(world: World, parameters: DropletParameters, cycle: Cycle) -> NDArray[np.float64]:
    """What rain and springs bring to each cell in a cycle as drops, in metres [row, column]."""
    from kernels.rain import rain_map

    if not parameters.enabled:
        return np.zeros(world.shape)
    usual = rain_map(world.ground, world.layers.get("rain"), cycle.weather.rain_by_altitude)
    count = parameters.count * _drops_for_one(world) * cycle.weather.rain
    brought = usual * (count / max(float(usual.sum()), 1e-9))
    if (rate := world.rain_rate) is not None:
        brought *= rate
    for row, column, _, _, volume in _spring_drops(world, parameters).tolist():
        brought[int(row), int(column)] += volume
    return brought * _water_of_drop(world, parameters)


def count_drops(world: World, parameters: DropletParameters, cycle: Cycle) -> NDArray[np.float64] | None:
    """Enter the drops of rain and springs in `cycle`. Returns where those of rain begin, as `_rain_drops` does."""
    cycle.drops_of_rain, starts = _rain_drops(world, parameters, cycle)
    cycle.usual_drops = parameters.count * _drops_for_one(world)
    cycle.drops_of_springs = _spring_drops(world, parameters)
    return starts


def _rain_drops(world: World, parameters: DropletParameters, cycle: Cycle) -> tuple[int, NDArray[np.float64] | None]:
    """How many drops of rain fall in a cycle, and where each begins, [drop, (row, column)].

    A rate of the rain makes more or fewer of them, in proportion to the rain on the map with it and without. Without
    one there is no second: then they begin where the kernel finds that rain falls.
    """
    from kernels import rain
    from kernels.random import process_number, stream

    usual_count = parameters.count * _drops_for_one(world) * cycle.weather.rain
    count = round(usual_count)
    rate = world.rain_rate
    if rate is None:
        return count, None
    usual = rain.rain_map(world.ground, world.layers.get("rain"), cycle.weather.rain_by_altitude)
    falls = usual * rate
    before, after = float(usual.sum()), float(falls.sum())
    count = round(usual_count * after / before) if before > 0.0 else 0
    return count, rain.starts_of_rain(falls, count, stream(world.seed, process_number("rain"), world.cycle))


def _spring_drops(world: World, parameters: DropletParameters) -> NDArray[np.float64]:
    """The drops of all springs, `[drop, (row, column, velocity south, velocity east, volume)]`, of volume 1 or less."""
    rows, columns = world.shape
    drops = [np.empty((0, 5))]
    for spring in read_springs(parameters.springs):
        wells = spring.drops * _drops_for_one(world)
        count = math.ceil(wells)
        row, column = min(spring.south * rows, rows - 1e-6), min(spring.east * columns, columns - 1e-6)
        drops.append(np.tile((row, column, 0.0, 0.0, wells / max(count, 1)), (count, 1)))
    return np.concatenate(drops)


def _spilled_drops(world: World, spills: Spills | None, most: int, water: float) -> NDArray[np.float64]:
    """The drops that carry on what lakes spilled, as `_spring_drops` has them; taken from the world's standing water.

    There are about `most` of them, of volume 1 or less. What is more runs on by itself, and wears no bed.
    """
    if spills is None or len(spills.volume) == 0:
        return np.empty((0, 5))
    taken = spills.volume * min(1.0, most * water / float(spills.volume.sum()))
    count = np.maximum(1, np.ceil(taken / water)).astype(np.int64)
    # What lies on a cell may have come from several lakes, and rounding must not take more than is there.
    cells = world.water.reshape(-1)
    for number, cell in enumerate(spills.beyond):
        taken[number] = min(taken[number], cells[cell])
        cells[cell] -= taken[number]
    columns = world.shape[1]
    sill, beyond = (
        np.stack(np.divmod(cell, columns), axis=-1).astype(np.float64) for cell in (spills.sill, spills.beyond)
    )
    speed = SPILL_SPEED * world.reference_cell_size / world.cell_size
    way = beyond - sill
    way /= np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]
    drops = np.concatenate(
        [sill + 0.5, speed * way, (taken / count / water)[:, None]],
        axis=1,
    )
    return np.repeat(drops, count, axis=0)


def _risen_drops(world: World, cycle: Cycle, most: int, water: float) -> NDArray[np.float64]:
    """The drops that carry on the groundwater that has risen, as `_spring_drops` has them: up to `most`, of one size.

    Where little rises in many cells, a drop stands for that of several: it begins in one of them, which changes from
    cycle to cycle, so that each has its share in the end (systematic sampling). What is more than drops of volume 1 can
    carry stays on its cell, as water that runs on by itself and wears no bed.
    """
    rising, cycle.rising = cycle.rising, None
    if rising is None or not rising.depth.sum() > 0.0:
        return np.empty((0, 5))
    from kernels.random import process_number, stream, uniform

    total = float(rising.depth.sum())
    carried = min(1.0, most * water / total)
    count = min(most, math.ceil(total * carried / water))
    rest = (1.0 - carried) * rising.depth if count else rising.depth
    if rest.any():
        np.add.at(world.water.reshape(-1), rising.cell, rest)
    if count == 0:
        return np.empty((0, 5))
    offset = uniform(np.uint64(stream(world.seed, process_number("rising"), world.cycle)), 0)
    reached = np.cumsum(rising.depth)
    chosen = np.searchsorted(reached, (np.arange(count) + offset) * (reached[-1] / count), side="right")
    cells = rising.cell[np.minimum(chosen, len(rising.cell) - 1)]
    drops = np.zeros((count, 5))
    drops[:, 0], drops[:, 1] = np.divmod(cells, world.shape[1])
    drops[:, :2] += 0.5
    drops[:, VOLUME] = total * carried / water / count
    return drops
