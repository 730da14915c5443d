"""Spin-up: the water and plants of a land before its first cycle, as cycles on unchanging ground produce them.

So streams, lakes and forests exist from the first picture on. The processes of the scene make them with its parameters:
lakes fill and plants grow in a few long steps, and in between water runs until the averages of streams converge. At
last comes the snow of the year before. Only rivers with a bed of their own change the ground: braided ones, because
their positions depend on the bars that they build, and meandering ones, which cut their first bed. A flood has run for
its past, with what it carries. A land on which no other process acts has its debris: walls weather, and what breaks off
slides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from app.model.climate import Weather, weather_of
from app.model.layered_map import Layer
from app.model.layers import LARGEST_CYCLE, LOOSE
from app.model.plants import ROOTED_GROUND
from app.model.world import World
from app.processes import PROCESSES
from app.processes.braiding import Braiding, follow_threads
from app.processes.cascade import Cascade
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion, count_drops, raise_averages, water_of_cycle
from app.processes.floods import Floods
from app.processes.meandering import Meandering
from app.processes.moisture import Moisture, soak
from app.processes.orographic_rain import OrographicRain
from app.processes.plants import PERIOD, Plants
from app.processes.pools import Pools, fill
from app.processes.process import Process
from app.processes.snow import Snow, days_of_cycle
from app.processes.weathering import Weathering
from app.processes.wind_field import WindField
from app.scene.scene import Scene
from kernels.scratch import Scratch

BEDS = (Braiding.name, Meandering.name, Floods.name)  # processes of water with a bed of its own
DEBRIS = (Weathering.name, Cascade.name)  # in the order of a cycle
WATERY = (Pools.name, Moisture.name, DropletErosion.name)  # in the order of a cycle
SNOW_STEPS = 50  # most steps of its snow
CYCLES = 24  # of running water on a map of the size below; larger maps run fewer, so that the time stays the same
CELLS = 512 * 512
TURNS = 12  # steps of each plant, of equal duration
# Fraction of the shortest life of a tree: in longer turns, trees would age between two observations. This limits the
# spin-up to some lifetimes, which suffices: older forests look the same.
LONGEST_TURN = 0.1

BEGIN = LARGEST_CYCLE - 2**20  # number of the first of these cycles, so that their random numbers are unique

GATHERED = "gathered in the past"


def has_spin_up(scene: Scene) -> bool:
    """Whether a scene has water, plants or debris to spin up."""
    return scene.world.past > 0 and (
        sheds_debris(scene) or any(getattr(scene, name).enabled for name in (*WATERY, *BEDS, Plants.name, Snow.name))
    )


def sheds_debris(scene: Scene) -> bool:
    """Whether walls weather in the past: where no process but those of debris shapes what they shed."""
    others = (process.name for process in PROCESSES if process.name not in DEBRIS)
    return scene.weathering.enabled and not any(getattr(scene, name).enabled for name in others)


def changes_ground(scene: Scene) -> bool:
    """Whether a spin-up changes the ground, and so works on a copy of the world."""
    return sheds_debris(scene) or any(getattr(scene, name).enabled for name in BEDS)


def is_due(world: World, scene: Scene) -> bool:
    """Whether a world is still to be spun up."""
    return world.cycle == 0 and not world.has_past and has_spin_up(scene)


def begin(world: World, scene: Scene, enabled: Sequence[Process], scratch: Scratch) -> Iterator[None]:
    """The steps of a world's spin-up. The enabled processes must be prepared."""
    weather = weather_of(scene.climate, world.seed, world.cycle)
    running = frozenset(process.name for process in enabled)
    cycle = Cycle(weather, scene.edges, running, scratch, scene.rivers.width)
    # Separate instances of the processes: the spin-up must not affect those of later cycles.
    return spin_up(world, scene, [type(process)() for process in enabled], cycle)


def spin_up(world: World, scene: Scene, processes: Sequence[Process], cycle: Cycle) -> Iterator[None]:
    """Bring water and plants to their state after `world.past` cycles on unchanging ground.

    Only rivers with a bed and floods shape the ground: braided ones and floods in the same number of cycles, meandering
    ones in one, in which they cut it, and in as many as the years of their past take. Without other processes, debris
    does in as many. Yields after each step. The world changes only in the last step, so that the spin-up can be
    abandoned at any time. `processes` are those that run in `cycle`, in their order. The caller must derive the levels
    of lakes.
    """
    by_name = {process.name: process for process in processes}
    shaped = changes_ground(scene)
    land = world.copy() if shaped else world
    if sheds_debris(scene):
        yield from _shed(land, scene, [by_name[name] for name in DEBRIS if name in by_name], cycle)
    if Braiding.name in by_name:
        for _ in range(scene.world.past):
            by_name[Braiding.name].step(land, scene.braiding, _again(cycle))
            yield
    if Meandering.name in by_name:
        yield from _wander(land, scene, by_name[Meandering.name], cycle)
    if Floods.name in by_name:
        for _ in range(scene.world.past):
            by_name[Floods.name].step(land, scene.floods, _again(cycle))
            yield
    before = land.copy()  # the ground must stay unchanged
    watery = [by_name[name] for name in WATERY if name in by_name]
    if OrographicRain.name in by_name:
        by_name[OrographicRain.name].step(before, scene.orographic_rain, cycle)
    if Pools.name in by_name:
        runoff = water_of_cycle(before, scene.droplets, cycle)
        yield from fill(before, scene.pools, cycle.edges, runoff, scene.world.past)
    if Moisture.name in by_name:
        yield from soak(before, scene.moisture, cycle, scene.world.past)
    still = scene.with_value(f"{DropletErosion.name}.deposition_rate", 0.0)  # then drops do not erode either
    cycles = min(max(round(CYCLES * CELLS / max(world.ground.size, CELLS)), 1), scene.world.past)
    for number in range(cycles if watery else 0):
        before.cycle, before.cycles_before = BEGIN + number, -BEGIN
        now = _again(cycle)
        for process in watery:
            process.step(before, getattr(still, process.name), now)
        yield
    if DropletErosion.name in by_name:
        raise_averages(before, scene.droplets, cycles, land)
        if Braiding.name in by_name:
            _join_threads(before, land, scene)
    if Plants.name in by_name:
        yield from _grow(before, land.ground, scene, by_name[Plants.name], cycle)
    if Snow.name in by_name:
        yield from _snow(before, scene, by_name, cycle)
    others = (OrographicRain.name, Floods.name, Plants.name, Snow.name)
    left = [*watery, *(by_name[name] for name in others if name in by_name)]
    if shaped:
        _take_ground(world, land)
    if Braiding.name in by_name:
        _take(world, land, set(by_name[Braiding.name].changes) - {"sediment"})
    _take(world, before, {name for process in left for name in process.changes} - {"bedrock", "sediment"})
    if DropletErosion.name in by_name:
        world.cycles_before = max(cycles, scene.world.past)
    world.rain_wind = before.rain_wind
    world.has_past = True


def _again(cycle: Cycle, weather: Weather | None = None) -> Cycle:
    """A new cycle like this one, in other weather where one is given."""
    return Cycle(weather or cycle.weather, cycle.edges, cycle.running, cycle.scratch, cycle.river_width)


def _shed(land: World, scene: Scene, processes: Sequence[Process], cycle: Cycle) -> Iterator[None]:
    """Let walls weather and debris slide."""
    for _ in range(scene.world.past):
        now = _again(cycle)
        for process in processes:
            process.step(land, getattr(scene, process.name), now)
        yield


def _wander(land: World, scene: Scene, process: Process, cycle: Cycle) -> Iterator[None]:
    """Let meandering rivers be found, by the water of rain and springs, cut their beds, and wander for the years of
    their past. The land's own time does not pass."""
    land.sea_level, land.walls = cycle.edges.sea, cycle.edges.water == "wall"
    finding = _again(cycle)
    if DropletErosion.name in cycle.running:
        count_drops(land, scene.droplets, finding)
    years = land.years
    process.step(land, scene.meandering, finding)
    yield
    steps = round(scene.meandering.past_years / scene.meandering.years_per_cycle)
    for _ in range(steps if len(land.centrelines) else 0):
        process.step(land, scene.meandering, _again(cycle))
        yield
    land.years = years


def _join_threads(world: World, braided: World, scene: Scene) -> None:
    """Bring the averages of drops to their steady state with the threads of braided rivers."""
    drops, threads = scene.droplets.stream_memory, scene.braiding.memory
    weight = threads / (1.0 - (1.0 - drops) * (1.0 - threads))
    follow_threads(world, braided.layers["stream"], braided.layers["discharge"], weight, among_drops=True)


def _grow(world: World, ground: Layer, scene: Scene, process: Process, cycle: Cycle) -> Iterator[None]:
    """Grow plants on unchanging ground."""
    rate = scene.plants.rate * scene.world.past / (TURNS * PERIOD)
    shortest = min((tree.lifetime for tree in world.flora.trees), default=math.inf)
    parameters = msgspec.structs.replace(scene.plants, rate=min(rate, LONGEST_TURN * shortest / PERIOD))
    world.ground[...] = ground
    world.trace(ROOTED_GROUND)[...] = ground
    for number in range(TURNS * PERIOD):
        world.cycle = BEGIN + number
        process.step(world, parameters, cycle)
        yield


def _snow(world: World, scene: Scene, by_name: Mapping[str, Process], cycle: Cycle) -> Iterator[None]:
    """Let the snow of the last year fall, drift and melt, in equal steps with the weather of their middle.

    Without seasons, that of the whole past.
    """
    past = scene.world.past
    span = min(scene.climate.year or past, past)
    steps = min(span, SNOW_STEPS)
    days = days_of_cycle(scene.snow, cycle.weather) * span / steps
    parameters = msgspec.structs.replace(scene.snow, days_per_cycle=days)
    for number in range(steps):
        world.cycle = BEGIN + number
        weather = weather_of(scene.climate, world.seed, math.floor((number + 0.5) * span / steps) - span)
        now = _again(cycle, weather._replace(year=0))  # so that a step lasts its own days
        if WindField.name in by_name:
            by_name[WindField.name].step(world, scene.wind_field, now)
        by_name[Snow.name].step(world, parameters, now)
        yield


def _take_ground(world: World, shaped: World) -> None:
    """Take the ground, its ledger and the beds of rivers from another world of the same shape."""
    world.bedrock[...] = shaped.bedrock
    world.mix[...] = shaped.mix
    world.centrelines = shaped.centrelines
    for account in ("rock", "sediment", "kinds"):
        setattr(world.ledger, account, getattr(shaped.ledger, account))
    world.sum_mix()
    loose = [LOOSE + name for name in world.materials.names] if world.materials else []
    world.touched("bedrock", "sediment", *loose)


def _take(world: World, before: World, names: set[str]) -> None:
    """Take some layers and the trees from another world of the same shape."""
    stored = world.stored("water")
    there = sorted(names & before.layers.keys())
    for name in there:
        world.trace(name)[...] = before.layers[name]
    world.touched(*there)
    world.trees, world.trees_version = before.trees, world.version
    gained = world.stored("water") - stored
    if gained > 0.0:
        world.ledger.water.gain(GATHERED, gained)
    elif gained < 0.0:
        world.ledger.water.lose(GATHERED, -gained)
