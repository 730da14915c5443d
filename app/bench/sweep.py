"""Sweeps: use of all cores, and overhead per world."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.bench.row import Row
from app.cli.signals import Wish
from app.engine.machine import cores
from app.sweep.recipe import read_recipe
from app.sweep.worlds import Order, Wanted, program

log = logging.getLogger(__name__)

WORLDS, SIDE, CYCLES = 200, 256, 200
BESIDE = 25  # worlds of each process that runs them without a sweep

RECIPE = """
sources = ["noise"]
size = "{side}"
cycles = {cycles}
seeds = {{ from = 1, count = {worlds} }}
layers = ["ground", "water_depth"]
pictures = []
"""

# Run as a separate program, which has a recipe and a number of worlds, of which the first is not counted.
ALONE = """
import sys, time
from pathlib import Path
from app.sweep.recipe import open_recipe
from app.sweep.worlds import Order, Wanted, program, run_world
recipe = open_recipe(Path(sys.argv[1]))
wanted = Wanted(recipe.said.layers, (), 16, 16)
for place, world in enumerate(recipe.worlds[: 1 + int(sys.argv[2])]):
    if place == 1:
        begin = time.process_time()
    run_world(Order(world.number, world.scene, recipe.said.cycles, wanted, program()))
print((time.process_time() - begin) / int(sys.argv[2]))
"""


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    number, side, cycles = (4, 32, 5) if tiny else (WORLDS, SIDE, CYCLES)
    text = RECIPE.format(side=side, cycles=cycles, worlds=number)
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "recipe.toml"
        recipe.write_text(text, encoding="utf-8", newline="\n")
        alone = seconds_alone(recipe, 1 if tiny else BESIDE)
        busy, each = seconds_of_sweep(recipe, number)
    what = f"{number} worlds of {side}², {cycles} cycles"
    yield Row(f"cores busy, {what}", busy and 100.0 * busy, "%", 95.0, at_least=True)
    yield Row("a world alone in a process", alone, "s", None)
    yield Row(
        "processor time of a sweep's world above one alone", alone and each and 100.0 * (each / alone - 1.0), "%", 5.0
    )
    yield Row("worlds that a killed worker loses", worlds_lost(text), "worlds", 1.0)


def seconds_alone(recipe: Path, worlds: int) -> float | None:
    """The processor time of a world in processes that run nothing else, as many side by side as there are cores."""
    command = [sys.executable, "-c", ALONE, str(recipe), str(worlds)]
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
    for side_by_side in (1, cores()):  # the first has kernels compiled
        processes = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8", errors="replace")
            for _ in range(side_by_side)
        ]
        answers = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        log.warning("worlds do not run alone in a process")
        return None
    return sum(map(float, answers)) / len(answers)


def seconds_of_sweep(recipe: Path, worlds: int) -> tuple[float | None, float | None]:
    """The part of all cores that a sweep keeps busy from its start to its end, and its processor time for each world.

    Nothing is returned where the sweep fails, or the system does not tell the processor time of other programs.
    """
    command = [sys.executable, "-m", "app", "sweep", str(recipe), "--out", str(recipe.with_suffix(".zarr"))]
    before, begin = _of_children(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    seconds, worked = time.perf_counter() - begin, _of_children() - before
    if done.returncode != 0 or not worked:
        log.warning("the sweep fails: %s", (done.stderr.strip().splitlines() or ["no reason is told"])[-1])
        return None, None
    return worked / (seconds * cores()), worked / worlds


def worlds_lost(text: str) -> float | None:
    """How many worlds are run again where a worker is killed in their midst."""
    try:
        import psutil

        from app.sweep.cluster import opened, run_all
    except ImportError as error:
        log.warning("no sweep runs without %s", error.name)
        return None
    recipe = read_recipe(text, "recipe", Path())
    worlds = recipe.worlds[:6]
    wanted = Wanted(("ground",), (), 16, 16)
    orders = [Order(world.number, world.scene, recipe.said.cycles, wanted, program()) for world in worlds]
    with opened(workers=2) as client:
        worker = psutil.Process(next(iter(client.run(os.getpid).values())))  # now: to ask lets other worlds end
        killed = False
        for _ in run_all(client, iter(orders), Wish()):
            if not killed:
                worker.kill()
                killed = True
        return float(client.run_on_scheduler(_begun) - len(orders))


def _begun(dask_scheduler: Any) -> int:
    """How many times a scheduler has had a world begun."""
    return sum(finish == "processing" for _, _, finish, *_ in dask_scheduler.transition_log)


def _of_children() -> float:
    """Processor time in seconds of all programs that were started here, or by these, and have ended."""
    times = os.times()
    return math.fsum((times.children_user, times.children_system))
