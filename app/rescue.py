"""What is left to do where the window cannot go on: keep the worlds, and say where they are."""

from __future__ import annotations

import logging
import shlex
from concurrent.futures import TimeoutError as NoAnswer
from pathlib import Path

import msgspec
import platformdirs

from app import checkpoint
from app.comparison import NAMES
from app.errors import explained
from app.files import free_path
from app.scene import Scene
from app.simulation import Lockstep, SimulationError, SimulationThread

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds for the cycle that runs, and for the writing


def rescue(simulation: SimulationThread, name: str, seen: Scene) -> str:
    """Save all worlds in `recovery_folder`, with the view and camera of `seen`; tells in one line where, or why not."""

    def save(lockstep: Lockstep) -> list[Path]:
        try:
            lockstep.verify()
        except SimulationError as error:  # they have gone back to a cycle after which they were sound
            log.debug("%s", error)
        folder, paths = recovery_folder(), []
        for letter, simulator in zip(NAMES, lockstep.simulators, strict=False):
            label = f"{name}-{letter}" if len(lockstep.simulators) > 1 else name
            path = free_path(folder, f"{label}-{lockstep.cycle:06d}", ".npz")
            scene = msgspec.structs.replace(simulator.scene, view=seen.view, camera=seen.camera)
            checkpoint.save(path, simulator.world, scene)
            paths.append(path)
        return paths

    try:
        paths = simulation.between_cycles(save, PATIENCE)
    except NoAnswer:
        return f"the world could not be saved: the simulation did not answer within {PATIENCE:.0f} seconds"
    except Exception as error:
        return f"the world could not be saved: {explained(error)}"
    return f"the world is saved; go on with: {' or '.join(f'thalweg {shlex.quote(str(path))}' for path in paths)}"


def recovery_folder() -> Path:
    """Where worlds lie that were saved because the window could not go on; it is made where it is not there yet."""
    folder = platformdirs.user_data_path("thalweg", appauthor=False) / "recovery"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
