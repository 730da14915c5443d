"""Saves the worlds when the window cannot continue."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import platformdirs

from app.engine.messages import Pause, Save, Saved, SaveFailed
from app.engine.thread import SimulationThread
from app.files.atomic import free_path
from app.model.errors import explained
from app.scene.comparison import NAMES
from app.scene.scene import Scene

PATIENCE = 60.0  # seconds for the running cycle and for writing
BETWEEN_LOOKS = 0.02


def rescue(simulation: SimulationThread, name: str, seen: Scene) -> str:
    """Save all worlds in `recovery_folder`, with the view and camera of `seen`.

    Returns one line that says where, or why not.
    """
    deadline = time.monotonic() + PATIENCE
    simulation.ask(Pause())
    while simulation.status.state not in ("paused", "failed") and time.monotonic() < deadline:
        time.sleep(BETWEEN_LOOKS)
    try:
        paths = _ask_for_files(simulation, name, seen)
    except OSError as error:
        return f"the world could not be saved: {explained(error)}"
    waiting = set(paths)
    while waiting:
        for report in simulation.reports():
            match report:
                case Saved(path):
                    waiting.discard(path)
                case SaveFailed(path, why) if path in waiting:
                    return f"the world could not be saved: {why}"
                case _:
                    pass
        if time.monotonic() > deadline:
            return f"the world could not be saved: the simulation did not answer within {PATIENCE:.0f} seconds"
        time.sleep(BETWEEN_LOOKS)
    return f"the world is saved; go on with: {' or '.join(f'thalweg {shlex.quote(str(path))}' for path in paths)}"


def _ask_for_files(simulation: SimulationThread, name: str, seen: Scene) -> list[Path]:
    """Request that each world is saved. Returns the paths."""
    folder, status, paths = recovery_folder(), simulation.status, []
    for world, letter in enumerate(NAMES[: len(status.scenes)]):
        label = f"{name}-{letter}" if len(status.scenes) > 1 else name
        path = free_path(folder, f"{label}-{status.cycle:06d}", ".npz")
        simulation.ask(Save(path, world, seen))
        paths.append(path)
    return paths


def recovery_folder() -> Path:
    """The folder of rescued worlds, created if needed."""
    folder = platformdirs.user_data_path("thalweg", appauthor=False) / "recovery"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
