"""Rivers, lakes and watersheds of the current land: surveyed at intervals, while they are looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.engine.channels import ChannelWatch
from app.engine.discharge import closed_edge, discharge_of_world, drained, rivers_by
from app.engine.fragments import fragments_of
from app.engine.realism import measure
from app.engine.streams import streams_of
from app.model.climate import ClimateParameters
from app.model.layered_map import RATES_OF_RAIN
from app.model.overlays import OVERLAYS
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_LEVEL, SURVEYED_WAY, Fall, FlowPath, Lake, Mouth, Survey
from app.model.view_parameters import ViewParameters
from app.model.world import World

if TYPE_CHECKING:
    from kernels.falls import Falls
    from kernels.fronts import Fronts
    from kernels.lakes import Lakes
    from kernels.rivers import Drainage

LONGEST_LIST = 100  # of lakes, of mouths, and of falls
REACH = 2  # cells: a click this close to a river selects the river
USUAL_RUNOFF = Runoff(ClimateParameters().precipitation, ViewParameters().stream_threshold, lasts=False)
CLEARLY_SEEN = 1.5  # times the flow of the smallest visible stream: more than damp ground

RIVER_LAYERS = ("filled", "flow_directions", "lake_depth", "accumulation", "distance", "watersheds", "rivers")
FRAGMENT_LAYER, COST_LAYER = "fragments", "path_cost"  # that come with them where they are wanted
FLOW_PATH_LAYERS = ("catchment", "flow_path")
FILLING_LAYER = "filling"
WATER_LAYERS = (SURVEYED_LEVEL, SURVEYED_FLOW, SURVEYED_WAY)


@dataclass(frozen=True)
class Wanted:
    """The wanted surveys: rivers, the flow path from a place (row, column), and the fronts of the filling.

    `fragments` are the rivers without filling, and `cost` is the least cost to the ocean; both come with rivers. A new
    number of `filling` restarts it; 0 means none. `traffic` is the threshold of snowballs above which cells are rivers
    and lakes; 0 means none. `streams` are the drawn streams.
    """

    rivers: bool = False
    fragments: bool = False
    cost: bool = False
    place: tuple[int, int] | None = None
    filling: int = 0
    channels: bool = False
    traffic: float = 0.0
    realism: bool = False
    streams: bool = False

    @property
    def anything(self) -> bool:
        return self != Wanted()

    @property
    def streams_alone(self) -> bool:
        return self == Wanted(streams=True)


def prepare() -> None:
    """Compile or load the kernels of all surveys."""
    ground = np.add.outer(np.arange(12.0), np.zeros(12))
    ground[4:8, 4:8] -= 5.0  # a lake
    world = World(ground, np.zeros((12, 12)), cell_size=1.0, seed=0)
    parameters = RiverParameters(interval=1, threshold=2, watershed_size=2, ties="cost")
    world.trace("traffic")[:] = 1.0
    surveyor = Surveyor()
    surveyor.survey(world, parameters, Wanted(traffic=0.5))
    prepare_streams()
    for _ in range(3):  # the first has no earlier colours, and fronts advance from the second on
        everything = Wanted(rivers=True, fragments=True, cost=True, place=(8, 8), filling=1, realism=True)
        surveyor.survey(world, parameters, everything)
        world.cycle += 1


def prepare_streams() -> None:
    """Compile or load the kernels of drawn streams."""
    ground = np.add.outer(np.arange(12.0), np.zeros(12))
    ground[4:8, 4:8] -= 5.0  # a hollow that holds its water
    streams_of(World(ground, np.zeros((12, 12)), 1.0, 0), replace(USUAL_RUNOFF, lasts=True))


def wanted_by(view: ViewParameters, place: tuple[int, int] | None = None, filling: int = 1) -> Wanted:
    """The surveys that a view needs, and the flow path from a place."""
    survey = OVERLAYS[view.overlay].survey
    return Wanted(
        rivers=survey in ("rivers", "fragments", "cost"),
        fragments=survey == "fragments",
        cost=survey == "cost",
        place=place,
        filling=filling if survey == "filling" else 0,
        traffic=view.traffic_water,
        streams=True,
    )


class Surveyor:
    """Surveys a world. Not safe for threads: one owner at a time."""

    def __init__(self) -> None:
        self._versions = 0  # number of layers so far
        self._forget(None)

    def is_due(
        self,
        world: World,
        parameters: RiverParameters,
        wanted: Wanted,
        runoff: Runoff = USUAL_RUNOFF,
    ) -> bool:
        """Whether `survey` would find anything new."""
        wanted = _on_map(world, wanted)
        if _is_nothing(world, wanted, runoff):
            return self._survey is not None
        if world is not self._world:
            return True
        return (
            self._rivers_are_due(world, parameters, wanted, runoff)
            or self._flow_path_is_due(wanted)
            or self._filling_is_due(wanted)
            or self._water_is_due(world, parameters, wanted, runoff)
            or self._channels_are_due(world, parameters, wanted)
            or self._realism_is_due(world, parameters, wanted)
        )

    def survey(
        self,
        world: World,
        parameters: RiverParameters,
        wanted: Wanted,
        runoff: Runoff = USUAL_RUNOFF,
    ) -> Survey | None:
        """The wanted surveys, sufficiently up to date; None if nothing is wanted."""
        wanted = _on_map(world, wanted)
        nothing = _is_nothing(world, wanted, runoff)
        if nothing or world is not self._world:
            self._forget(world)
        if nothing:
            return None
        if self._rivers_are_due(world, parameters, wanted, runoff):
            self._find_rivers(world, parameters, wanted, runoff)
        if self._flow_path_is_due(wanted):
            self._follow(world, wanted.place)
        if self._filling_is_due(wanted):
            self._fill(world, parameters, wanted.filling, runoff)
        if self._water_is_due(world, parameters, wanted, runoff):
            self._find_water(world, wanted, runoff)
        if self._channels_are_due(world, parameters, wanted):
            self._look_at_channels(world, parameters)
        if self._realism_is_due(world, parameters, wanted):
            self._measure(world)
        return self._survey

    def _forget(self, world: World | None) -> None:
        self._world = world
        self._survey: Survey | None = None
        self._made_with: tuple[object, ...] = ()
        self._surveyed = 0  # the world's version
        self._ground: NDArray[np.float64] | None = None  # at the last survey
        self._drainage: Drainage | None = None
        self._discharge: NDArray[np.float64] | None = None
        self._rivers: NDArray[np.float64] | None = None  # from `rivers_by`
        self._colours: NDArray[np.int32] | None = None  # of the watersheds, [row * columns + column]
        self._fronts: Fronts | None = None
        self._filled_up: Drainage | None = None  # final drainage of the filling
        self._filled_discharge: NDArray[np.float64] | None = None  # through it
        self._filling = 0
        self._flow: NDArray[np.float32] | None = None  # of the streams, when they were found last
        self._water_found_with: tuple[object, ...] | None = None
        self._water_found_in = 0, 0  # the cycle, and the world's version
        self._channels: ChannelWatch | None = None
        self._channels_seen = 0  # the cycle
        self._measured_with: tuple[object, ...] = ()
        self._measured = 0  # the world's version
        self._measured_drainage: Drainage | None = None

    def _with_layers(self, survey: Survey, names: tuple[str, ...], layers: dict[str, NDArray[np.float32]]) -> Survey:
        """The survey with these layers instead of those of `names`."""
        self._versions += 1
        kept = {name: layer for name, layer in survey.layers.items() if name not in names}
        versions = {name: version for name, version in survey.versions.items() if name not in names}
        return replace(survey, layers=kept | layers, versions=versions | dict.fromkeys(layers, self._versions))

    # Rivers, lakes and watersheds.

    def _rivers_are_due(self, world: World, parameters: RiverParameters, wanted: Wanted, runoff: Runoff) -> bool:
        if not wanted.rivers and wanted.place is None:
            return False
        if self._survey is None or self._drainage is None or self._made_with != _made_with(world, parameters, runoff):
            return True
        if wanted.fragments and FRAGMENT_LAYER not in self._survey.layers:
            return True
        if wanted.cost and COST_LAYER not in self._survey.layers:
            return True
        if world.touches and world.version != self._surveyed:
            return True  # the land was changed by hand
        return not 0 <= world.cycle - self._survey.cycle < parameters.interval

    def _find_rivers(self, world: World, parameters: RiverParameters, wanted: Wanted, runoff: Runoff) -> None:
        from kernels.falls import find_falls
        from kernels.lakes import find_lakes
        from kernels.routing import strahler_orders
        from kernels.watersheds import find_watersheds, watershed_colours

        self._ground, self._surveyed = world.ground.copy(), world.version
        drainage = drained(
            self._ground,
            world.cell_size,
            world.sea_level,
            runoff,
            open_edges=not world.walls,
            by_cost=parameters.ties == "cost",
            out=self._drainage,
        )
        lakes = find_lakes(self._ground, drainage.filled, drainage.directions, drainage.accumulation, world.cell_size)
        self._discharge = discharge_of_world(drainage, world, runoff)
        self._rivers = rivers_by(parameters, drainage, self._discharge, runoff, world.cell_area)
        is_river = self._rivers >= 1.0
        orders = strahler_orders(drainage.directions, drainage.routes.order, is_river)
        watersheds = find_watersheds(drainage.routes.outlets, drainage.ocean, parameters.watershed_size)
        before = None if self._colours is None else self._colours[watersheds.outlet]
        colours = watershed_colours(watersheds, before)
        by_outlet = np.zeros(self._ground.size, np.int32)
        by_outlet[watersheds.outlet] = colours

        land = ~drainage.ocean
        layers = {
            "filled": np.where(land, drainage.filled, world.sea_level).astype(np.float32),
            "flow_directions": np.where(land, 1.0 + drainage.directions, 0.0).astype(np.float32),
            "lake_depth": (drainage.filled - self._ground).astype(np.float32),
            "accumulation": (drainage.accumulation * (world.cell_area * 1e-6)).astype(np.float32),
            "distance": (drainage.routes.distances * 1e-3).astype(np.float32),
            "watersheds": np.append(0, colours).astype(np.float32)[watersheds.labels],
            "rivers": _river_layer(orders, drainage),
        }
        if wanted.fragments:
            fragments = fragments_of(world, parameters, runoff)
            layers[FRAGMENT_LAYER] = _river_layer(fragments.orders, fragments.drainage)
        if wanted.cost:
            from kernels.path_cost import path_cost

            cost = path_cost(drainage.filled, drainage.directions == _OUTLET, world.cell_size)
            layers[COST_LAYER] = (cost * 1e-3).astype(np.float32)
        outlets = np.flatnonzero((drainage.directions == _OUTLET) & is_river)
        surface = np.maximum(drainage.filled, world.sea_level)
        falls = find_falls(surface, drainage.directions, self._discharge, is_river, world.cell_size, parameters.width)
        survey = Survey(
            cycle=world.cycle,
            layers={},
            versions={},
            highest_order=max(1, int(orders.max())),
            lakes=_list_lakes(lakes, self._discharge, world),
            lake_count=len(lakes.volume),
            lake_volume=float(lakes.volume.sum()),
            mouths=_list_mouths(outlets, drainage, self._discharge, world),
            mouth_count=len(outlets),
            falls=_list_falls(falls, world),
            fall_count=len(falls.lip),
            watershed_count=len(watersheds.outlet),
        )
        if self._survey is not None:  # the fronts of the filling continue
            before_it = self._survey
            survey = replace(survey, fronts=before_it.fronts, filled=before_it.filled)
            survey = replace(survey, channels=before_it.channels, realism=before_it.realism)
            others = (FILLING_LAYER, *WATER_LAYERS)
            kept = {name: layer for name, layer in self._survey.layers.items() if name in others}
            survey = replace(survey, layers=kept, versions={name: self._survey.versions[name] for name in kept})
        self._survey = self._with_layers(survey, (*RIVER_LAYERS, FRAGMENT_LAYER, COST_LAYER), layers)
        self._drainage = drainage
        self._colours = by_outlet[drainage.routes.outlets.reshape(-1)]
        self._made_with = _made_with(world, parameters, runoff)

    # The flow path from one place.

    def _flow_path_is_due(self, wanted: Wanted) -> bool:
        known = self._survey.flow_path if self._survey else None
        return wanted.place != (known and known.asked)

    def _nearby_river(self, place: tuple[int, int]) -> tuple[int, int]:
        """The cell that a click selects: the largest river within reach, or the place itself."""
        assert self._drainage is not None
        assert self._rivers is not None
        row, column = place
        north, west = max(row - REACH, 0), max(column - REACH, 0)
        around = self._rivers[north : row + REACH + 1, west : column + REACH + 1]
        if around.max() < 1.0 or self._drainage.ocean[place]:
            return place
        south, east = np.unravel_index(int(around.argmax()), around.shape)
        return north + int(south), west + int(east)

    def _follow(self, world: World, place: tuple[int, int] | None) -> None:
        from kernels.routing import catchment, way_to_outlet

        survey, drainage, ground = self._survey, self._drainage, self._ground
        assert survey is not None
        if place is None:
            self._survey = replace(self._with_layers(survey, FLOW_PATH_LAYERS, {}), flow_path=None)
            return
        assert drainage is not None
        assert ground is not None
        assert self._discharge is not None
        row, column = self._nearby_river(place)
        way = way_to_outlet(drainage.directions, row, column)
        rows, columns = way[:, 0], way[:, 1]
        inside = catchment(drainage.directions, drainage.routes.order, row, column)
        line = np.zeros(ground.shape, np.float32)
        line[rows, columns] = 16.0 + drainage.directions[rows, columns]
        # The surface of the ocean, not its floor
        water = np.maximum(
            drainage.filled[rows, columns], np.where(drainage.ocean[rows, columns], world.sea_level, -np.inf)
        )
        length = float(drainage.routes.distances[row, column])
        flow_path = FlowPath(
            asked=place,
            row=row,
            column=column,
            catchment=float(np.count_nonzero(inside & ~drainage.ocean)) * world.cell_area,
            length=length,
            drop=float(water[0] - water[-1]),
            places=np.asarray(way, np.intp),
            distances=(length - drainage.routes.distances[rows, columns]).astype(np.float32),
            ground=ground[rows, columns].astype(np.float32),
            water=water.astype(np.float32),
            discharge=self._discharge[rows, columns],
        )
        layers = {"catchment": inside.astype(np.float32), "flow_path": line}
        self._survey = replace(self._with_layers(survey, FLOW_PATH_LAYERS, layers), flow_path=flow_path)

    # The filling, front by front.

    def _filling_is_due(self, wanted: Wanted) -> bool:
        if wanted.filling != self._filling:
            return True
        return self._fronts is not None and not self._fronts.finished

    def _fill(self, world: World, parameters: RiverParameters, filling: int, runoff: Runoff) -> None:
        from kernels.fronts import Fronts
        from kernels.ocean import outlet_mask

        survey = self._survey or Survey(world.cycle, {}, {})
        if filling == 0:
            self._fronts, self._filled_up, layers = None, None, {}
            survey = replace(survey, fronts=0, filled=False)
        else:
            if self._fronts is None or self._filled_up is None or filling != self._filling:
                ground = world.ground.copy()
                size, sea_level, is_open = world.cell_size, world.sea_level, not world.walls
                self._filled_up = drained(ground, size, sea_level, runoff, open_edges=is_open)
                self._filled_discharge = discharge_of_world(self._filled_up, world, runoff)
                self._fronts = Fronts(
                    ground, outlet_mask(self._filled_up.ocean, is_open, closed_edge(runoff, world.shape))
                )
            else:
                self._fronts.advance(parameters.filling_pace)
            assert self._filled_discharge is not None
            rivers = rivers_by(parameters, self._filled_up, self._filled_discharge, runoff, world.cell_area)
            smallest = runoff.smallest_stream(world.reference_cell_size)
            layers = _filling_layers(self._fronts, self._filled_up, rivers, smallest)
            survey = replace(survey, fronts=self._fronts.rounds, filled=self._fronts.finished)
        self._filling = filling
        self._water_found_with = None  # either streams or traffic are shown
        self._survey = self._with_layers(survey, (FILLING_LAYER, *WATER_LAYERS), layers)

    # Drawn water: streams, or water where many snowballs passed.

    def _water_is_due(self, world: World, parameters: RiverParameters, wanted: Wanted, runoff: Runoff) -> bool:
        asked = _water_of(world, wanted, runoff)
        if asked is None or self._water_found_with != asked:
            return asked != self._water_found_with
        cycle, version = self._water_found_in
        if version == _water_version(world, asked):
            return False
        return bool(world.touches) or not 0 <= world.cycle - cycle < parameters.interval

    def _find_water(self, world: World, wanted: Wanted, runoff: Runoff) -> None:
        asked = _water_of(world, wanted, runoff)
        if asked is None:
            layers = {}
        elif asked[0] == "traffic":
            layers = _layers_of_traffic(world, wanted.traffic, runoff.smallest_stream(world.reference_cell_size))
        else:
            flow, ways = streams_of(world, runoff, self._flow)
            layers, self._flow = _water_layers(None, flow, ways), flow
        self._water_found_with, self._water_found_in = asked, (world.cycle, _water_version(world, asked))
        self._survey = self._with_layers(self._survey or Survey(world.cycle, {}, {}), WATER_LAYERS, layers)

    # The channels of rivers.

    def _channels_are_due(self, world: World, parameters: RiverParameters, wanted: Wanted) -> bool:
        if not wanted.channels or "discharge" not in world.layers:
            return False
        if self._channels is None or self._channels.least_flow != parameters.channel_flow:
            return True
        return not 0 <= world.cycle - self._channels_seen < parameters.channel_interval

    def _look_at_channels(self, world: World, parameters: RiverParameters) -> None:
        if self._channels is None or self._channels.least_flow != parameters.channel_flow:
            self._channels = ChannelWatch(parameters.channel_flow)
        self._channels_seen = world.cycle
        survey = self._survey or Survey(world.cycle, {}, {})
        figures = self._channels.look(world)
        if math.isnan(figures.migration) and survey.channels is not None:  # only one measurement yet
            figures = replace(figures, migration=survey.channels.migration, bank_wear=survey.channels.bank_wear)
        self._versions += 1
        self._survey = replace(survey, channels=figures)

    # The measures of the land's form.

    def _realism_is_due(self, world: World, parameters: RiverParameters, wanted: Wanted) -> bool:
        if not wanted.realism:
            return False
        known = self._survey.realism if self._survey else None
        if known is None or self._measured_with != (world.sea_level, world.walls):
            return True
        if world.touches and world.version != self._measured:
            return True  # the land was changed by hand
        return not 0 <= world.cycle - known.cycle < parameters.interval

    def _measure(self, world: World) -> None:
        from kernels.rivers import drain

        ground, out = world.ground, self._measured_drainage
        drainage = drain(ground, world.cell_size, world.sea_level, open_edges=not world.walls, out=out)
        found = measure(ground, drainage, world.cell_size, cycle=world.cycle)
        self._measured_with, self._measured = (world.sea_level, world.walls), world.version
        self._measured_drainage = drainage
        self._versions += 1
        self._survey = replace(self._survey or Survey(world.cycle, {}, {}), realism=found)


_OUTLET = 8  # as in `kernels.neighbours`, which would load Numba


def _on_map(world: World, wanted: Wanted) -> Wanted:
    """Drop a place that belongs to another map."""
    if wanted.place is None or (wanted.place[0] < world.shape[0] and wanted.place[1] < world.shape[1]):
        return wanted
    return replace(wanted, place=None)


def _is_nothing(world: World, wanted: Wanted, runoff: Runoff) -> bool:
    """Whether this world has nothing to survey."""
    return not wanted.anything or (wanted.streams_alone and _water_of(world, wanted, runoff) is None)


def _water_of(world: World, wanted: Wanted, runoff: Runoff) -> tuple[object, ...] | None:
    """The inputs of drawn water other than the land; None if none is wanted."""
    if wanted.filling > 0:
        return None
    if wanted.traffic > 0.0 and "traffic" in world.layers:
        return "traffic", wanted.traffic, runoff, world.sea_level, world.walls
    if wanted.streams and (runoff.lasts or "stream" in world.layers):
        return "streams", runoff, world.sea_level, world.walls
    return None


def _made_with(world: World, parameters: RiverParameters, runoff: Runoff) -> tuple[object, ...]:
    """The inputs of rivers other than the ground."""
    rain = tuple(world.changed.get(name) for name in ("rain", *RATES_OF_RAIN))
    p = parameters
    rule = p.begin, p.threshold, p.discharge, p.watershed_size, p.width, p.ties
    return world.sea_level, world.walls, rain, rule, replace(runoff, least_cells=0.0)


def _river_layer(orders: NDArray[np.uint8], drainage: Drainage) -> NDArray[np.float32]:
    return np.where((orders > 0) & ~drainage.ocean, 16.0 * orders + drainage.directions, 0.0).astype(np.float32)


def _list_lakes(lakes: Lakes, discharge: NDArray[np.float64], world: World) -> tuple[Lake, ...]:
    largest = np.lexsort((np.arange(len(lakes.volume)), -lakes.volume))[:LONGEST_LIST]
    return tuple(
        Lake(
            *divmod(int(lakes.outlet[lake]), world.shape[1]),
            level=float(lakes.level[lake]),
            depth=float(lakes.depth[lake]),
            area=float(lakes.cells[lake]) * world.cell_area,
            volume=float(lakes.volume[lake]),
            catchment=float(lakes.inflow[lake]) * world.cell_area,
            discharge=float(discharge.flat[lakes.outlet[lake]]),
        )
        for lake in largest
    )


def _list_mouths(
    outlets: NDArray[np.intp], drainage: Drainage, discharge: NDArray[np.float64], world: World
) -> tuple[Mouth, ...]:
    """The mouths at these cells, by descending discharge."""
    areas = drainage.accumulation.reshape(-1)[outlets] * world.cell_area
    flows = discharge.reshape(-1)[outlets]
    largest = np.lexsort((outlets, -areas, -flows))[:LONGEST_LIST]
    return tuple(
        Mouth(*divmod(int(cell), world.shape[1]), catchment=area, discharge=flow)
        for cell, area, flow in zip(
            outlets[largest].tolist(), areas[largest].tolist(), flows[largest].tolist(), strict=True
        )
    )


def _list_falls(falls: Falls, world: World) -> tuple[Fall, ...]:
    columns = world.shape[1]
    return tuple(
        Fall(
            *divmod(int(falls.lip[number]), columns),
            foot=divmod(int(falls.foot[number]), columns),
            height=float(falls.height[number]),
            discharge=float(falls.discharge[number]),
        )
        for number in range(min(len(falls.lip), LONGEST_LIST))
    )


def _water_version(world: World, asked: tuple[object, ...] | None) -> int:
    """The last version in which the source of the water changed."""
    return world.changed["traffic"] if asked is not None and asked[0] == "traffic" else world.version


def _layers_of_traffic(world: World, threshold: float, smallest: float) -> dict[str, NDArray[np.float32]]:
    """Water in cells that more snowballs than the threshold passed: streams of at least the `smallest` discharge."""
    from kernels.lakes import find_lakes
    from kernels.rivers import drain
    from kernels.traffic import gather

    ground = world.ground
    drainage = drain(ground, world.cell_size, world.sea_level, open_edges=not world.walls)
    lakes = find_lakes(ground, drainage.filled, drainage.directions, drainage.accumulation, world.cell_size)
    found = gather(ground, drainage, lakes, world.layers["traffic"], threshold, world.cell_size)
    flow = found.flow * (smallest * CLEARLY_SEEN / threshold)
    return _water_layers(found.level, flow, _ways(drainage))


def _ways(drainage: Drainage) -> NDArray[np.int8]:
    return np.where(drainage.directions == _OUTLET, 0, drainage.directions + 1)


def _water_layers(
    level: NDArray[np.float64] | None, flow: NDArray[np.floating], ways: NDArray[np.generic]
) -> dict[str, NDArray[np.float32]]:
    """The layers of lakes (minus infinity if there is none) and of streams; a dry one is left out."""
    layers = {}
    if level is not None and np.isfinite(level).any():
        layers[SURVEYED_LEVEL] = level.astype(np.float32)
    if flow.any():
        layers[SURVEYED_FLOW] = flow.astype(np.float32)
        layers[SURVEYED_WAY] = ways.astype(np.float32)
    return layers


def _filling_layers(
    fronts: Fronts, end: Drainage, rivers: NDArray[np.float64], smallest: float
) -> dict[str, NDArray[np.float32]]:
    """The progress of the fronts, and the lakes and rivers behind them, where no later front changes the level.

    `end` is the final drainage of the same ground, and `rivers` are those of `rivers_by`. At their sources they carry
    the discharge of the `smallest` visible stream.
    """
    settled = fronts.levels == end.filled
    to_sink = np.where(np.isfinite(fronts.levels), fronts.levels - end.filled, 0.0)
    deepest = max(float(to_sink.max()), 1e-9)
    filling = np.where(np.isfinite(fronts.levels), 1.0 + np.sqrt(to_sink / deepest), 0.0)
    is_river = settled & ~end.ocean & (rivers >= 1.0)
    return {
        FILLING_LAYER: filling.astype(np.float32),
        **_water_layers(
            np.where(settled & (end.filled > fronts.ground), end.filled, -np.inf),
            np.where(is_river, rivers * (smallest * CLEARLY_SEEN), 0.0),
            _ways(end),
        ),
    }
