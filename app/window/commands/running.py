"""Run the simulation: pause, speed, and what is asked of it once."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from app.engine.messages import Pause, Run
from app.model.numbers import spaced
from app.model.parameters import Value
from app.scene.edits import CancelSnowballs, Refine, RollSnowballs

if TYPE_CHECKING:
    from app.window.application import Application

# Cycles per frame, and frames that these take, from slow to fast; the last is full speed.
FULL_SPEED = (0, 1)
SPEEDS: tuple[tuple[int, int], ...] = (
    *((1, frames) for frames in (60, 20, 6, 2)),
    *((cycles, 1) for cycles in (1, 2, 5, 10, 20, 50, 100)),
    FULL_SPEED,
)
FRAMES_PER_SECOND = 60

LARGEST_SEED = 2**31 - 1


def toggle_pause(application: Application) -> None:
    simulation = application.simulation
    simulation.ask(Run() if simulation.paused else Pause())


def change_speed(application: Application, steps: int) -> None:
    """Go so many steps towards full speed, or with a negative number away from it."""
    simulation, status = application.documents.scene.simulation, application.simulation.status
    # Where the sliders were set to a number between two of ours, both directions lead to a neighbour.
    pace = simulation.cycles_per_frame / simulation.frames_per_cycle or math.inf
    if pace == math.inf and steps < 0 and status.state == "running":
        pace = status.cycles_per_second / FRAMES_PER_SECOND  # a limit above what it does would change nothing
        below = [index for index, speed in enumerate(SPEEDS[:-1]) if speed[0] / speed[1] < pace]
        index = max(below, default=0)
    else:
        below = [index for index, speed in enumerate(SPEEDS) if (speed[0] / speed[1] or math.inf) <= pace]
        index = min(max(max(below, default=0) + steps, 0), len(SPEEDS) - 1)
    cycles, frames = SPEEDS[index]
    values: dict[str, Value] = {"simulation.cycles_per_frame": cycles, "simulation.frames_per_cycle": frames}
    application.editing.change_together(values, "speed")


def new_seed(application: Application) -> None:
    application.editing.change("world.seed", random.randint(0, LARGEST_SEED))
    application.documents.restart("new seed")


def refine(application: Application, times: int) -> None:
    """Go on with the present land in finer cells."""
    application.documents.ask_as_step(Refine(times), f"refine ×{times}")


def roll_snowballs(application: Application, balls: int) -> None:
    application.documents.ask_as_step(RollSnowballs(balls), f"{spaced(balls)} snowballs")


def cancel_snowballs(application: Application) -> None:
    application.simulation.ask(CancelSnowballs())


def continue_without(application: Application, process: str) -> None:
    """Switch a process off and go on, where it has stopped the simulation."""
    application.editing.change(f"{process}.enabled", False, in_all=True)
    application.simulation.ask(Run())
