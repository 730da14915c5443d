"""Scaling: how much faster more threads could make it than one, by count, on a machine that need not have them.

What runs on one thread is measured, and what there is to share is counted: for drops and wind the steps in each tile
of each colour (`kernels/particles.py`), for a parallel loop its pieces. Then the time on n threads is

    T(n) = what one thread does alone + for each region that is shared: the time at which its last piece ends

- Tiles of a colour are taken in their order by whichever thread is free (list scheduling, Graham 1966, "Bounds for
  certain multiprocessing anomalies"), and the next colour waits for the last of them. A step takes what it takes on one
  thread in the mean of that cycle. Trees of flow are shared out likewise, the largest first; each takes time in
  proportion to its area.
- The pieces of a parallel loop take the same time each, and each thread gets as many that follow one another, up to
  one, as Numba shares them out.
- NumPy works on whole maps by blocks of rows, of which each thread takes the next as soon as it is free, and rivers
  that meander take time in proportion to their length.
- All else runs alone: what the coordinating thread does between two colours, kernels without a parallel loop, other
  NumPy, and Python; and it bounds what threads can bring (Amdahl 1967, "Validity of the single processor approach").

It is what the work allows: that cores share memory and caches, that threads must wake up, and that trees are sorted by
their threads, is not in it.
"""

from __future__ import annotations

import contextlib
import heapq
import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kernels
from app.bench.row import Row
from app.bench.world import TREES_PER_CELL, everything, warm_up
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.processes.droplets import DropletErosion
from app.processes.process import Process
from app.processes.wind import WindErosion
from kernels import (
    cascade,
    depressions,
    directions,
    exchanging,
    floods,
    hillslopes,
    ice,
    meanders,
    moisture,
    particles,
    plants,
    stream_power,
    weathering,
)
from kernels.stream_power import Rivers, Trees

SIDES = (512, 1024, 2048)
THREADS = (4, 8, 16)
EVERYTHING = "everything"
BARS = {(1024, 8): 5.0, (2048, 16): 8.0}  # of everything, by side and threads
CYCLES = 16  # after which all that happens in turn has happened, but a new wind field
TINY = 32  # a fraction of the sides that measures nothing


def _row_by_row(rows: int) -> int:
    return rows


def _bands(rows_of_one: int) -> Callable[[int], int]:
    return lambda rows: -(-rows // rows_of_one)


def _stretches(cells_of_one: int) -> Callable[[int], int]:
    return lambda rows: -(-rows * rows // cells_of_one)


def _tiles(rows: int) -> int:
    return -(-rows // floods.TILE_ROWS) * -(-rows // floods.TILE_COLUMNS)


# Into how many pieces a parallel loop cuts a square map, by its rows, where it does not go row by row
PIECES: dict[str, Callable[[int], int]] = {
    "cascade._slide": _bands(cascade.BAND),
    "cascade._slide_rich": _bands(cascade.BAND),
    "weathering._weather": _bands(weathering.BAND),
    "moisture._flow_through_rows": _bands(moisture.LINES),
    "moisture._flow_through_columns": _bands(moisture.LINES),
    **{f"depressions.{name}": _bands(depressions.BAND) for name in ("look", "lead", "find_pairs")},
    **{f"ice.{name}": _bands(ice.WIDTH) for name in ("_flow", "_carry", "_mark")},  # shared among threads by blocks
    "floods._run": _tiles,
    "floods._look": _tiles,
    **{f"pools.{name}": _bands(depressions.BAND) for name in ("_measure", "_gather")},
    "directions._steepest": _bands(directions.BAND),
    "meanders._cover": _bands(meanders.BAND),
    "landscape._exchange_along_lines": _bands(exchanging.LINES),
    "stream_power._find_wear": _stretches(stream_power.STRETCH),
    **{f"hillslopes.{name}": _bands(hillslopes.BAND) for name in ("_creep_down", "_creep_across")},
    **{f"landscape.{name}": _stretches(stream_power.STRETCH) for name in ("_rise", "_sum_rock", "_make_soil_of_kinds")},
    "plants._tend": _bands(plants.STRIPE * plants.PERIOD),
    "plants._living": _bands(plants.STRIPE * plants.PERIOD),
    "plants._find_starts": lambda rows: max(1, round(TREES_PER_CELL * rows * rows) // plants.LOT),
}

OF_TREES = {"landscape._exchange_along_rivers", "landscape._list_channels", "stream_power._wear"}
LOOPS_INSIDE = {"floods._run"}  # kernels whose parallel loops are in kernels that they call, and take nearly all of it


class Region(NamedTuple):
    """Work that threads share: its time on one thread, and the share of each piece in it, wave after wave."""

    seconds: float
    waves: Sequence[NDArray[np.float64]]
    in_turn: bool  # whether a thread takes the next piece as soon as it is free; else each has its own from the start

    def on(self, threads: int) -> float:
        """Seconds on this many threads."""
        makespan = in_turn if self.in_turn else side_by_side
        return self.seconds * sum(makespan(wave, threads) for wave in self.waves)


class Cost(NamedTuple):
    """What something takes on one thread, in seconds, and the regions of it that threads share."""

    seconds: float
    regions: Sequence[Region]

    def speed_up(self, threads: int) -> float:
        """The speed-up possible on this many threads."""
        alone = self.seconds - sum(region.seconds for region in self.regions)
        return self.seconds / (alone + sum(region.on(threads) for region in self.regions))


def in_turn(pieces: NDArray[np.float64], threads: int) -> float:
    """When the last piece ends, where each is taken by the thread that is free first."""
    free = [0.0] * threads
    for piece in pieces:
        heapq.heapreplace(free, free[0] + float(piece))
    return max(free)


def side_by_side(pieces: NDArray[np.float64], threads: int) -> float:
    """When the last piece ends, where each thread has as many of them that follow one another, up to one."""
    return max((float(own.sum()) for own in np.array_split(pieces, threads)), default=0.0)


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    for side in SIDES:
        cells, cycles = (side // TINY, 1) if tiny else (side, CYCLES)
        for name, cost in costs(cells, cycles).items():
            for threads in THREADS:
                bar = BARS.get((side, threads)) if name == EVERYTHING else None
                text = f"{name}, {cells}², {threads} threads against one, by count"
                yield Row(text, cost.speed_up(threads), "times as fast", bar, at_least=True)


def costs(side: int, cycles: int) -> dict[str, Cost]:
    """The costs of droplets, of wind and of everything over `cycles` cycles of everything."""
    world, scene = create_world(everything(side))
    simulator = _Measured(scene, world)
    warm_up(simulator)
    simulator.threads = 1
    with _noted(simulator.regions, side), particles.counted() as counts:
        simulator.counts = counts
        simulator.run_cycle()  # compiles what counts
        simulator.costs.clear()
        for _ in range(cycles):
            simulator.measure(EVERYTHING, simulator.run_cycle)
    return {name: simulator.costs[name] for name in (DropletErosion.name, WindErosion.name, EVERYTHING)}


class _Measured(Simulator):
    """Notes what each process takes, and a whole cycle."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.costs: dict[str, Cost] = {}
        self.regions: list[Region] = []  # of what is being measured
        self.counts: list[particles.Count] = []

    def measure(self, name: str, run: Callable[[], None]) -> None:
        """Add to the cost of what has this name."""
        regions, counts = len(self.regions), len(self.counts)
        begin = time.perf_counter()
        run()
        seconds = time.perf_counter() - begin
        shared = self.regions[regions:]
        for count in self.counts[counts:]:
            seconds -= count.elapsed - (count.preparing + count.spawning + count.sorting + count.running)
            shared += _regions_of(count)
        before = self.costs.get(name, Cost(0.0, []))
        self.costs[name] = Cost(before.seconds + seconds, [*before.regions, *shared])

    def _step(self, process: Process) -> None:
        self.measure(process.name, partial(super()._step, process))


def _regions_of(count: particles.Count) -> Iterator[Region]:
    """What threads share of a run of particles."""
    steps = max(1, sum(int(wave.sum()) for wave in count.steps))
    yield Region(count.spawning, [np.full(count.lots, 1.0 / max(count.lots, 1))], in_turn=True)
    yield Region(count.running, [wave / steps for wave in count.steps if len(wave)], in_turn=True)


@contextlib.contextmanager
def _noted(regions: list[Region], side: int) -> Iterator[None]:
    """Within it each call of a kernel with a parallel loop adds a region."""
    replaced = []
    trees: list[NDArray[np.float64]] = []  # the share of each in the land that was routed last
    for module in (
        importlib.import_module(f"kernels.{found.name}") for found in pkgutil.iter_modules(kernels.__path__)
    ):
        short_name = module.__name__.rpartition(".")[2]
        for name, kernel in vars(module).copy().items():
            long_name = f"{short_name}.{name}"
            if getattr(kernel, "__module__", None) != module.__name__:
                continue
            if long_name == "stream_power._share":
                replacement = _noting_trees(kernel, trees)
            elif long_name in OF_TREES:
                replacement = _noting(kernel, trees, regions, in_turn=True)
            elif long_name == "blocks._share":
                replacement = _noting_by(kernel, _of_blocks, regions, in_turn=True)
            elif long_name == "meanders._exchange":
                replacement = _noting_by(kernel, _of_rivers, regions)
            elif long_name in LOOPS_INSIDE or getattr(kernel, "targetoptions", {}).get("parallel"):
                pieces = PIECES.get(long_name, _row_by_row)(side)
                replacement = _noting(kernel, [np.full(pieces, 1.0 / pieces)], regions)
            else:
                continue
            setattr(module, name, replacement)
            replaced.append((module, name, kernel))
    try:
        yield
    finally:
        for module, name, kernel in replaced:
            setattr(module, name, kernel)


def _noting(
    kernel: Any, waves: Sequence[NDArray[np.float64]], regions: list[Region], in_turn: bool = False
) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        begin = time.perf_counter()
        result = kernel(*arguments)
        regions.append(Region(time.perf_counter() - begin, list(waves), in_turn))
        return result

    return call


def _noting_by(
    kernel: Any, share: Callable[..., NDArray[np.float64]], regions: list[Region], in_turn: bool = False
) -> Callable[..., Any]:
    """As `_noting`, where the arguments tell the share of each piece."""

    def call(*arguments: Any) -> Any:
        return _noting(kernel, [share(*arguments)], regions, in_turn)(*arguments)

    return call


def _of_blocks(work: Any, slices: Sequence[slice], sharing: int) -> NDArray[np.float64]:
    return np.full(len(slices), 1.0 / len(slices))


def _of_rivers(land: Any, points: NDArray[np.float64], *others: Any) -> NDArray[np.float64]:
    return np.unique(points[:, meanders.RIVER], return_counts=True)[1] / len(points)


def _noting_trees(share: Callable[[Rivers], Trees], shares: list[NDArray[np.float64]]) -> Callable[[Rivers], Trees]:
    def call(rivers: Rivers) -> Trees:
        trees = share(rivers)
        areas = np.sort(rivers.area.reshape(-1)[trees.outlets])[::-1]
        shares[:] = [areas / areas.sum()]
        return trees

    return call
