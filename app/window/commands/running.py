"""Simulation commands: pause, speed, seed, refinement, snowballs."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from app.engine.messages import Pause, Run
from app.model.errors import UserError
from app.model.numbers import spaced
from app.model.parameters import Value
from app.scene.edits import CancelSnowballs, Refine, RollSnowballs

if TYPE_CHECKING:
    from app.window.application import Application

# Speeds as (cycles, frames), from slow to full.
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


def give_up_cycle(application: Application) -> None:
    """Let the cycle that runs end soon, as if it had not begun."""
    if application.simulation.cycle_so_far is None:
        raise UserError("no cycle is running")
    application.simulation.give_up_cycle()


def change_speed(application: Application, steps: int) -> None:
    """Change the speed by steps; negative steps slow down."""
    simulation, status = application.documents.scene.simulation, application.simulation.status
    # From a speed between two steps, both directions lead to a neighbour.
    pace = simulation.cycles_per_frame / simulation.frames_per_cycle or math.inf
    if pace == math.inf and steps < 0 and status.state == "running":
        pace = status.cycles_per_second / FRAMES_PER_SECOND  # a limit above the actual speed would change nothing
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
    """Continue with the land in finer cells."""
    application.documents.ask_as_step(Refine(times), f"refine ×{times}")


def roll_snowballs(application: Application, balls: int) -> None:
    application.documents.ask_as_step(RollSnowballs(balls), f"{spaced(balls)} snowballs")


def cancel_snowballs(application: Application) -> None:
    application.simulation.ask(CancelSnowballs())


def continue_without(application: Application, process: str) -> None:
    """Switch off the process that stopped the simulation, and continue."""
    application.editing.change(f"{process}.enabled", False, in_all=True)
    application.simulation.ask(Run())
