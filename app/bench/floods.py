"""Water that runs: what a step costs, all wet and with 1 % of the map wet, and beside a library where it is there."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import numba
import numpy as np
from numpy.typing import NDArray

from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.yardstick import Yardstick, terrain
from app.model.parameters import for_kernel
from app.processes.floods import FloodsParameters
from kernels import floods

CELL_SIZE = 10.0  # metres
RELIEF = 100.0  # metres
DEEP = 5.0  # metres, of water
STEPS = 10

Run = Callable[[], None]


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples = (48, 1) if tiny else (512, 15)
    yardstick = Yardstick()
    numba.set_num_threads(1)
    wet, dry = _run(side, 1.0), _run(side, 0.01)
    cost = yardstick.yards(wet, samples) / STEPS
    yield Row(f"a step of floods, {side}², all wet, one core", cost, "yards", 120_000.0)
    yield Row(f"the same, 1 % wet, {side}²", yardstick.yards(dry, samples) / STEPS / cost, "of that", 0.1)
    with contextlib.suppress(ImportError):
        theirs = yardstick.yards(_run_of_landlab(side), 1 if tiny else 3) / STEPS
        yield Row(
            f"floods, {side}², beside landlab's OverlandFlow", theirs / cost, "times as fast", None, at_least=True
        )
    one = min(_seconds(wet) for _ in range(samples))
    numba.set_num_threads(TWO)
    two = min(_seconds(wet) for _ in range(samples))
    yield Row(f"floods, {side}², two threads against one", one / two, "times as fast", 1.7, at_least=True)


def _seconds(run: Run) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def _land(side: int) -> NDArray[np.float64]:
    ground: NDArray[np.float64] = RELIEF * terrain(side, side)
    return ground


def _run(side: int, share: float) -> Run:
    """Some steps of water that covers a share of the map, from where it stands uneven."""
    ground = _land(side)
    water = np.zeros_like(ground)
    reach = max(round(side * share**0.5), 1)
    lake = (
        np.s_[:reach, :reach] if share == 1.0 else np.s_[side // 3 : side // 3 + reach, side // 3 : side // 3 + reach]
    )
    uneven = np.random.default_rng(1).random(ground.shape)
    water[lake] = (ground.max() - ground + DEEP + uneven)[lake]
    parameters = for_kernel(
        floods.FloodParameters,
        FloodsParameters(most_steps=STEPS),
        seconds=1e6,
        edges=floods.WALL,
        sea_level=0.0,
        wave_begins=0.0,
        wave_south=0.0,
        wave_east=1.0,
    )

    def run() -> None:
        east, south = np.zeros((2, *ground.shape), np.float32)
        assert floods.run(ground, water.copy(), east, south, CELL_SIZE, parameters).steps == STEPS

    return run


def _run_of_landlab(side: int) -> Run:
    """The same steps of the same water. Raises `ImportError` if the library is not there."""
    from landlab import RasterModelGrid
    from landlab.components import OverlandFlow

    grid = RasterModelGrid((side, side), xy_spacing=CELL_SIZE)
    ground = _land(side)
    grid.add_field("topographic__elevation", ground.ravel().copy(), at="node")
    water = ground.max() - ground + DEEP + np.random.default_rng(1).random(ground.shape)
    grid.add_field("surface_water__depth", water.ravel().copy(), at="node")
    flow = OverlandFlow(grid, mannings_n=0.035, alpha=0.6)

    def run() -> None:
        for _ in range(STEPS):
            flow.run_one_step()

    return run
