"""One world: a cycle of all processes, cost of a disabled process, and gain of a second core."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.yardstick import Yardstick
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.layers import RATES
from app.model.parameters import Value
from app.model.plants import TREE_COLUMNS
from app.model.world import World
from app.processes import PROCESSES
from app.processes.cycle import Cycle
from app.processes.droplets import DropletErosion
from app.processes.process import Process
from app.processes.snowballs import SnowballErosion
from app.scene.scene import Scene, load_preset

WARM_UP = 12  # cycles, after which there are streams, lakes, grass and a wind field
PARTICLES = 512  # drops and parcels of wind in a cycle
PERIOD = 50  # cycles, in which each process takes all its steps: what is due least often is the map of rain
RELIEF = 1.4  # metres for each cell of the side: the land of the preset `coupled-with-trees`
SEA, SNOW_LINE = 0.2, 0.8  # heights, relative to the relief
WARMTH, STEEPEST_LAPSE = 12.0, 60.0  # °C at a height of 0; and °C/km, which small maps are less warm for
LONG_STEP = 0.5  # of parcels, which move less than a cell in it; the article's is half as long
BARS = {"braiding": 60_000.0, "geology": 350_000.0}  # yards of a step among everything
# Processes that joined with a share of their own: water that runs takes some five of its own steps in a cycle here, ice
# up to twelve.
JOINED = {"floods": 700_000.0, "ice": 1_500_000.0, "meandering": 400_000.0, "snow": 200_000.0}
EVERYTHING = 900_000.0 + sum(JOINED.values())
TREES = 100_000  # on the map of 512² cells
TREES_PER_CELL = TREES / 512**2


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples, cycles = (32, 1, 2) if tiny else (512, 31, PERIOD)
    simulator = simulator_of(everything(side), TWO)
    count, mean = len(simulator.enabled()), mean_yards(simulator, cycles)
    cycle = mean.pop("")
    yield Row(f"a cycle of everything, {count} processes, {side}², two threads", cycle, "yards", EVERYTHING)
    for name, part in mean.items():
        yield Row(f"of that: {name}", 100.0 * part / cycle, "%", None)
    for name, bar in (BARS | JOINED).items():
        yield Row(f"a step of {name} among everything, {side}²", mean[name], "yards", bar)
    working = count - len(idle(simulator, cycles))
    yield Row("processes of everything that change its world", working, "processes", float(count), at_least=True)
    yield Row("a cycle of the preset braided, two threads", yards(_braided(TWO, tiny), samples), "yards", None)

    scene = simulator.scene.with_value("wind.time_step", LONG_STEP)
    faster = mean_yards(simulator_of(scene, TWO), cycles)[""]
    yield Row(f"the same, parcels' steps twice as long, {side}²", faster, "yards", None)

    yield Row(f"{TREES} trees at 512² against none, {side}²", cost_of_trees(side, samples), "times", 1.1)
    yield Row(f"drops alone, all else off, against their own step, {side}²", cost_of_off(side, samples), "times", 1.01)
    yield Row(f"all fields against none, {side}²", cost_of_fields(side, samples), "times", None)
    wind_rain = cost_of_wind_rain(side, rounds=1 if tiny else 2)
    yield Row(f"rain that the wind brings against rain everywhere alike, {side}²", wind_rain, "times", 1.05)

    side, samples = (32, 1) if tiny else (1024, 9)
    gain, same_bits = gain_of_two_threads(side, samples)
    yield Row(f"everything, {side}², two threads against one", gain, "times as fast", 1.5, at_least=True)
    yield Row(f"everything, {side}², same bits on both", float(same_bits), "1 is yes", 1.0, at_least=True)


def everything(side: int) -> Scene:
    """All processes but snowballs, each with work to do, on land of six materials.

    Hills with basins, between a sea and ice. A half of them rises, and rivers fall over its edge.
    """
    particles = max(1, PARTICLES * side**2 // 512**2)
    relief = RELIEF * side
    lapse = min(STEEPEST_LAPSE, WARMTH / (1e-3 * SNOW_LINE * relief))
    settings: dict[str, Value] = {
        **{f"{process.name}.enabled": True for process in PROCESSES if process is not SnowballErosion},
        "world.columns": side,
        "world.rows": side,
        "world.soil_depth": 2.0,
        "world.relief": relief,
        "noise.wavelength": 0.9,
        "noise.gain": 0.44,
        "materials.enabled": True,
        "materials.loose": "sand 3; soil 2; clay 1; gravel 1",
        "materials.fold": 60.0,
        "droplets.count": particles,
        "droplets.river_transport": 1.0,  # without which rivers have no arms
        "wind.count": particles,
        "edges.water": "sea",
        "edges.sea_level": SEA * relief,
        "climate.lapse_rate": lapse,
        "climate.temperature": lapse * 1e-3 * SNOW_LINE * relief,
        "snow.days_per_cycle": 73.0,  # five cycles a year: firn and ice come while it warms up
        "distributaries.slope": 0.05,
        "meandering.discharge": 500.0 * (side / 512) ** 2,
        "meandering.steepest": 0.1,
        "geology.uplift_pattern": "fault",
        "geology.uplift": 0.3,
        "geology.erodibility": 2e-6,  # rivers do not wear the fault down at once
        "falls.least": 2e-4,
    }
    return Scene().with_values(settings)


def _braided(threads: int, tiny: bool) -> Simulator:
    """A river that braids, among the bars of its past."""
    scene = load_preset("braided")
    if tiny:
        scene = scene.with_values({"world.columns": 48, "world.rows": 30, "world.past": 0})
    world, scene = create_world(scene)
    simulator = Simulator(scene, world, threads)
    simulator.prepare_all()
    return simulator


def yards(simulator: Simulator, samples: int) -> float:
    """The time of a cycle, in yards that are measured between the samples."""
    yardstick = Yardstick()
    ratios = []
    for _ in range(samples):
        before = yardstick.nanoseconds()
        ratios.append(2.0 * 1e9 * _seconds(simulator.run_cycle) / (before + yardstick.nanoseconds()))
    return float(np.median(ratios))


class _Timed(Simulator):
    """Sums up the seconds of each process."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.spent: defaultdict[str, float] = defaultdict(float)

    def _step(self, process: Process) -> None:
        self.spent[process.name] += _seconds(lambda: super(_Timed, self)._step(process))


def mean_yards(simulator: _Timed, cycles: int) -> dict[str, float]:
    """The yards of a cycle, as '', and those of each process in it, in the mean.

    Not the median, in which processes with a step in ten cycles would cost nothing.
    """
    yardstick, mean = Yardstick(), defaultdict[str, float](float)
    for _ in range(cycles):
        simulator.spent.clear()
        before = yardstick.nanoseconds()
        simulator.spent[""] = _seconds(simulator.run_cycle)
        yard = 0.5e-9 * (before + yardstick.nanoseconds())
        for name, seconds in simulator.spent.items():
            mean[name] += seconds / yard / cycles
    return mean


def idle(simulator: Simulator, cycles: int) -> set[str]:
    """The processes that change no bit of the layers that they may change, in so many cycles."""
    world, found = simulator.world, {process.name for process in simulator.enabled()}

    def layers(process: Process) -> list[bytes]:
        return [world.layers[name].tobytes() for name in process.changes if name in world.layers]

    for _ in range(cycles):
        if not found:
            break
        simulator._begin_cycle()
        for process in simulator.enabled():
            before = layers(process) if process.name in found else []
            simulator._step(process)
            if process.name in found and layers(process) != before:
                found.remove(process.name)
        simulator._end_cycle()
    return found


def cost_of_trees(side: int, samples: int) -> float:
    """The time of a cycle with a forest, relative to one without trees."""
    with_trees, without = simulator_of(everything(side), 2), simulator_of(everything(side), 2)
    ratios = []
    for _ in range(samples):
        plant(with_trees.world)
        without.world.trees = without.world.trees[:0]
        ratios.append(_seconds(with_trees.run_cycle) / _seconds(without.run_cycle))
    return float(np.median(ratios))


def cost_of_off(side: int, samples: int) -> float:
    """The time of a cycle with droplets alone, relative to that of their step."""
    names = {f"{process.name}.enabled": False for process in PROCESSES if process is not DropletErosion}
    scene = everything(side).with_values({**names, "materials.enabled": False})
    cycling, stepping = simulator_of(scene, 2), simulator_of(scene, 2)
    ratios = []
    for sample in range(4 * samples):

        def step() -> None:
            DropletErosion().step(stepping.world, stepping.scene.droplets, Cycle())
            stepping.world.cycle += 1

        runs: Sequence[Callable[[], None]] = (cycling.run_cycle, step)
        seconds = [_seconds(run) for run in (runs if sample % 2 else runs[::-1])]
        ratios.append(seconds[0] / seconds[1] if sample % 2 else seconds[1] / seconds[0])
    return float(np.median(ratios))


def cost_of_fields(side: int, samples: int) -> float:
    """The time of a cycle in which each rate has a field, relative to one without. They are near to 1, so that the
    lands stay alike."""
    with_fields, without = simulator_of(everything(side), 2), simulator_of(everything(side), 2)
    near_one = 1.0 - 0.01 * np.random.default_rng(1).random(with_fields.world.shape)
    for name in RATES:
        with_fields.world.lay_rate(name, near_one)
    ratios = []
    for sample in range(samples):
        runs = (with_fields.run_cycle, without.run_cycle)
        seconds = [_seconds(run) for run in (runs if sample % 2 else runs[::-1])]
        ratios.append(seconds[0] / seconds[1] if sample % 2 else seconds[1] / seconds[0])
    return float(np.median(ratios))


def cost_of_wind_rain(side: int, rounds: int) -> float:
    """The time of all cycles from one map of rain to the next, relative to those in which it rains everywhere alike."""
    scene = everything(side)
    with_wind, without = (
        simulator_of(scene.with_value("orographic_rain.enabled", enabled), 2) for enabled in (True, False)
    )
    spent = [0.0, 0.0]
    for cycle in range(rounds * scene.orographic_rain.every):
        for one in (0, 1) if cycle % 2 else (1, 0):
            spent[one] += _seconds((with_wind, without)[one].run_cycle)
    return spent[0] / spent[1]


def gain_of_two_threads(side: int, samples: int) -> tuple[float, bool]:
    """How many times as fast two threads are as one, run in turn on worlds alike, and whether the bits agree."""
    one_thread, two_threads = simulator_of(everything(side), 1), simulator_of(everything(side), TWO)
    ratios = [_seconds(one_thread.run_cycle) / _seconds(two_threads.run_cycle) for _ in range(samples)]
    worlds = one_thread.world, two_threads.world
    same_bits = worlds[0].trees.tobytes() == worlds[1].trees.tobytes() and all(
        layer.tobytes() == worlds[1].layers[name].tobytes() for name, layer in worlds[0].layers.items()
    )
    return float(np.median(ratios)), same_bits


def simulator_of(scene: Scene, threads: int) -> _Timed:
    """With a forest, after some cycles."""
    world, scene = create_world(scene)
    simulator = _Timed(scene, world, threads)
    warm_up(simulator)
    return simulator


def warm_up(simulator: Simulator) -> None:
    """Run some cycles, and plant a forest among them."""
    for cycle in range(WARM_UP):
        if cycle == WARM_UP // 2:
            plant(simulator.world)
        simulator.run_cycle()


def plant(world: World) -> None:
    """A forest with as many trees for each cell as the large one has, everywhere alike."""
    rows, columns = world.shape
    count = round(TREES_PER_CELL * rows * columns)
    random = np.random.default_rng(1)
    trees = np.zeros((count, len(TREE_COLUMNS)), np.float32)
    for name, values in (
        ("row", random.uniform(0.0, rows - 1e-3, count)),
        ("column", random.uniform(0.0, columns - 1e-3, count)),
        ("kind", random.integers(0, 2, count)),
        ("size", random.uniform(0.2, 1.0, count)),
        ("age", random.uniform(0.0, 200.0, count)),
        ("health", np.ones(count)),
    ):
        trees[:, TREE_COLUMNS.index(name)] = values
    world.trees = trees
    world.trees_version = world.version


def _seconds(run: Callable[[], None]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
