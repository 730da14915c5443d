"""The tour of the presets as a film."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.cli.filming import Stage, open_film
from app.cli.progress import Progress
from app.cli.signals import Ended
from app.engine.lockstep import Lockstep
from app.engine.runner import make_worlds
from app.files.encoder import Pixels
from app.model.camera_path import read_camera_path
from app.picture.camera_path import CameraPath
from app.scene.scene import Scene
from app.scene.tour import last_cycle


def render_tour(
    scenes: Sequence[Scene],
    paths: Sequence[Path],
    *,
    seconds: float,
    fps: int,
    size: tuple[int, int],
    quality: str = "high",
    threads: int | None = None,
) -> None:
    """Draw all stops of a tour in sequence into files that last so many seconds in all.

    Where a signal or a cycle that fails ends it early, the files have the frames so far.
    """
    frames = max(round(seconds * fps / len(scenes)), 1)  # per stop
    asked = frames * len(scenes)
    with open_film(paths, size, fps) as film, Progress(range(asked), "touring", "frame") as bar, film.of(asked):
        for scene in scenes:
            try:
                with film.wish.at_once():
                    lockstep = make_worlds([scene], threads, shown=True)
                    lockstep.compile_missing()
            except Ended:
                break
            with Stage(film.context, size) as stage:
                for frame in range(frames):
                    cycle = last_cycle(scene) * frame / max(frames - 1, 1)
                    if not film.advance(lockstep, math.ceil(cycle) - lockstep.cycle):
                        break
                    film.take(_frame(stage, lockstep, cycle, frame / fps, quality))
                    bar.update()
            if not film.goes_on:
                break


def _frame(stage: Stage, lockstep: Lockstep, cycle: float, time: float, quality: str) -> Pixels:
    """A frame of a stop, seen from its camera path at a cycle."""
    (scene,) = (scene.at(lockstep.cycle) for scene in lockstep.scenes)
    scene = msgspec.structs.replace(scene, view=msgspec.structs.replace(scene.view, quality=quality))
    stage.show(lockstep, scene.view)
    camera = CameraPath(read_camera_path(scene.view.camera_path), stage.ground(scene.view), stage.aspect).at(cycle)
    return stage.frame(camera, [scene], time)
