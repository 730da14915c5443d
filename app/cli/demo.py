"""The tour of the presets as a film."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from app.cli.progress import Progress
from app.cli.render import headless_context, tell_of_files
from app.cli.signals import Ended, kept_from_signals
from app.engine.creation import create_world
from app.engine.memory import check_memory
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.survey import Surveyor, wanted_by
from app.files.atomic import claimed
from app.files.encoder import Pixels
from app.files.recorder import open_recorder
from app.model.camera_path import read_camera_path
from app.picture.camera_path import CameraPath
from app.picture.ground import Ground
from app.picture.sides import Sides
from app.scene.captions import picture_labels
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
    """Draw all stops of a tour one after the other into files, together so many seconds long.

    Where a signal ends it early, the files have the frames so far.
    """
    frames = max(round(seconds * fps / len(scenes)), 1)  # of each stop
    done = 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(claimed(*paths))
        recorders = [stack.enter_context(open_recorder(path, *size, fps)) for path in paths]
        context = stack.enter_context(headless_context())
        progress = Progress(range(frames * len(scenes)), "touring", "frame")
        with kept_from_signals("cycle or frame") as wish, progress as bar:
            for scene in scenes:
                try:
                    with wish.at_once():
                        simulator = _simulator(scene, threads)
                except Ended:
                    break
                sides, surveyor = Sides(context, bake_at_once=True), Surveyor()
                try:
                    for frame in range(frames):
                        cycle = last_cycle(scene) * frame / max(frames - 1, 1)
                        while simulator.world.cycle < cycle and not wish:
                            simulator.advance()
                        if wish:
                            break
                        pixels = _picture(sides, surveyor, simulator, cycle, frame / fps, size, quality)
                        for record in recorders:
                            record(pixels)
                        done += 1
                        bar.reach(done)
                finally:
                    sides.release()
                if wish:
                    break
            if not done:
                raise Ended(wish.number)
            stack.close()
    tell_of_files(paths, done, frames * len(scenes), wish)


def _simulator(scene: Scene, threads: int | None) -> Simulator:
    world, scene = create_world(scene, partial(check_memory, [scene], shown=True))
    simulator = Simulator(scene, world, threads)
    simulator.compile_missing()
    return simulator


def _picture(
    sides: Sides,
    surveyor: Surveyor,
    simulator: Simulator,
    cycle: float,
    time: float,
    size: tuple[int, int],
    quality: str,
) -> Pixels:
    """The land of a stop as it is now, seen from where its path is in a cycle."""
    scene = simulator.scene.at(simulator.world.cycle)
    scene = msgspec.structs.replace(scene, view=msgspec.structs.replace(scene.view, quality=quality))
    old = sides.snapshots[0] if sides.snapshots else None
    survey = surveyor.survey(simulator.world, scene.rivers, wanted_by(scene.view), scene.climate, scene.runoff)
    sides.show([take_snapshot(simulator.world, 0, old, survey)])
    sides.lay_out(*size)
    ground = Ground(sides.snapshots[0], scene.view.exaggeration)
    camera = CameraPath(read_camera_path(scene.view.camera_path), ground, size[0] / size[1]).at(cycle)
    sides.redraw()
    labels = picture_labels([scene], simulator.world.cycle, simulator.world.years)
    sides.draw([camera], [scene], time=time, minimap=False, labels=labels)
    pixels = sides.pixels()
    assert pixels is not None
    return pixels
