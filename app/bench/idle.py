"""What cycles pay for a process that is on and finds nothing to do."""

from __future__ import annotations

import time

import numpy as np

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.scene.scene import Scene


def idle_ratio(scene: Scene, process: str, samples: int, *, cycles: int = 1) -> float:
    """How many times as long so many cycles of a scene take with a process of this name as without: the median."""
    simulators = []
    for on in (False, True):
        world, made = create_world(scene.with_value(f"{process}.enabled", on))
        simulators.append(Simulator(made, world, 1))
        simulators[-1].advance()
    off, idle = simulators
    without_and_with = [(_seconds(off, cycles), _seconds(idle, cycles)) for _ in range(samples)]
    return float(np.median([taken / usual for usual, taken in without_and_with]))


def _seconds(simulator: Simulator, cycles: int) -> float:
    """The processor time of some cycles."""
    begin = time.process_time_ns()
    for _ in range(cycles):
        simulator.advance()
    return (time.process_time_ns() - begin) * 1e-9
