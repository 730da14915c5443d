"""The time line: time to restore a moment, and cost and memory of stored states."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np

from app.bench.resident import resident_bytes
from app.bench.row import Row
from app.bench.threads import TWO
from app.bench.world import everything, simulator_of
from app.engine import timeline as engine_timeline
from app.engine.lockstep import Lockstep
from app.engine.messages import Arrived, GoTo, Pause
from app.engine.thread import SimulationThread
from app.engine.timeline import Timeline
from app.scene.edits import Open
from app.scene.scene import Scene

PATIENCE = 300.0  # seconds
CYCLES = 2000  # to any of which one can go back
ALL_CYCLES = 10_000


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side = 32 if tiny else 512
    lockstep = Lockstep([simulator_of(everything(side), TWO)])
    cost, size, cycles = cost_of_keeping(lockstep, samples=2 if tiny else 9)
    yield Row(f"keeping states of everything, {side}², of the time of cycles", cost, "%", 3.0)
    yield Row(f"a kept state of everything, {side}²", size / 1e6, "MB", None)
    memory = memory_of_states(lockstep, states=3 if tiny else max(int(ALL_CYCLES / cycles), 1))
    yield Row(f"a time line of {ALL_CYCLES} cycles of everything in memory, {side}²", memory / 1e9, "GB", 1.0)
    kept, any_cycle = seconds_back(everything(side), seconds=0.5 if tiny else 25.0, tries=2 if tiny else 7)
    yield Row(f"back to a kept state of everything, {side}²", kept, "s", 0.3)
    yield Row(f"back to any cycle of everything, {side}², the longest way", any_cycle, "s", 3.0)


def cost_of_keeping(lockstep: Lockstep, samples: int) -> tuple[float, float, float]:
    """Per cent of the cycles' time, the bytes of a state, and the cycles between two of them."""
    timeline = Timeline()
    timeline.begin(Open(lockstep.scenes), lockstep)
    cycles, keeps = [], []
    for _ in range(samples):
        cycles.append(_seconds(lockstep.advance))
        timeline.advanced(lockstep, cycles[-1])
        keeps.append(_seconds(lambda: timeline.store_state(lockstep)))
    seen = timeline.seen(None)
    states = sum(len(branch.states) for branch in seen.branches.values())
    pause = max(engine_timeline.SECONDS_BETWEEN_STATES, float(np.median(keeps)) / engine_timeline.LARGEST_COST)
    timeline.store.close()
    size = (seen.bytes_in_memory + seen.bytes_on_disk) / states
    return 100.0 * float(np.median(keeps)) / pause, size, pause / float(np.median(cycles))


def memory_of_states(lockstep: Lockstep, states: int) -> float:
    """Bytes by which the process grows with so many states, each after a cycle."""
    timeline = Timeline()
    before = resident_bytes()
    timeline.begin(Open(lockstep.scenes), lockstep)
    for _ in range(states):
        lockstep.advance()
        timeline.advanced(lockstep, 0.0)
        timeline.store_state(lockstep)
    timeline.store.close()
    return max(resident_bytes() - before, 1.0)


def seconds_back(scene: Scene, seconds: float, tries: int) -> tuple[float, float]:
    """From asking for a moment until it can be shown: where its state is kept, and at the end of the longest way."""
    simulation = SimulationThread(scene)
    simulation.first_picture_shown.set()
    simulation.start()
    try:
        _wait(simulation, lambda: simulation.status.cycle > 2)
        end = time.monotonic() + seconds
        while time.monotonic() < end and simulation.status.cycle < CYCLES:
            simulation.take()
            time.sleep(0.01)
        simulation.ask(Pause())
        _wait(simulation, lambda: simulation.status.state == "paused")
        branch = simulation.status.timeline.branches[simulation.status.moment.branch]
        cycles = [state.moment.cycle for state in branch.states]
        kept = [_back(simulation, branch.number, cycle) for cycle in cycles[-tries - 1 :]]
        ends = [later - 1 for cycle, later in itertools.pairwise(cycles) if later - 1 > cycle]
        longest = [_back(simulation, branch.number, cycle) for cycle in ends[-tries:]] or kept
        return float(np.median(kept)), float(np.max(longest))
    finally:
        simulation.stop()


def _back(simulation: SimulationThread, branch: int, cycle: int) -> float:
    request = GoTo(branch, cycle)
    simulation.take()
    begin = time.perf_counter()
    simulation.ask(request)
    arrived = False
    while True:
        arrived = arrived or any(isinstance(report, Arrived) for report in simulation.reports())
        if any(snapshot.cycle == cycle for snapshot in simulation.take()) and arrived:
            return time.perf_counter() - begin
        if time.perf_counter() - begin > PATIENCE:
            raise TimeoutError(f"cycle {cycle} did not come back")
        time.sleep(0.001)


def _wait(simulation: SimulationThread, done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        simulation.take()
        if time.monotonic() > end:
            raise TimeoutError("the simulation does not run")
        time.sleep(0.005)


def _seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
