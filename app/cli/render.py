"""Pictures without a window: the same bits on every run, however long a frame takes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.cli.progress import Progress
from app.cli.signals import Ended, Wish, kept_from_signals
from app.engine.creation import create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import check_memory
from app.engine.publishing import take_snapshot
from app.engine.simulator import SimulationError, Simulator
from app.engine.survey import Surveyor, wanted_by
from app.files.atomic import claimed
from app.files.recorder import is_one_picture, open_recorder
from app.files.still import open_exr, open_png
from app.model.camera_path import read_camera_path
from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.picture.camera import CLEARANCE, OPENING_ASPECT, Camera, lifted, opening_camera
from app.picture.camera_path import CameraPath
from app.picture.crop import LARGEST_TILE
from app.picture.ground import Ground
from app.picture.layers import CHANNELS, material_names
from app.picture.sides import Sides
from app.scene.captions import picture_labels
from app.scene.scene import Scene

LARGEST_LAYERED_TILE = 1024  # pixels along a side: a band of all layers takes eight times the memory of colours
LARGEST_FRAME = 8192  # pixels along a side of a picture that is drawn in one piece
CYCLES_PER_FRAME = 2  # where neither the scene nor the person says


def render(
    scenes: Sequence[Scene],
    paths: Sequence[Path],
    *,
    frames: int,
    fps: int,
    size: tuple[int, int],
    cycles_per_frame: int | None = None,
    orbit: float = 0.0,
    minimap: bool = False,
    in_grid: bool = False,
    threads: int | None = None,
) -> None:
    """Draw `frames` pictures of `size` (width, height) into the files `paths`, with cycles simulated between them.

    The first picture shows the world as it starts, the last one after (frames − 1) × cycles_per_frame cycles. `orbit`
    is how far the camera turns around the land over the clip, in degrees. Several scenes are drawn side by side or in a
    grid, in the light and from the place of the first.

    Where a signal or a cycle that fails ends it early, the files have the frames so far, and `Ended` or `UserError`
    says how many; before the first there are no files.
    """
    check_size(paths, size)
    with contextlib.ExitStack() as stack:
        stack.enter_context(claimed(*paths))
        stills = [path for path in paths if is_still(path, size)]
        pictures = [stack.enter_context(open_png(path, *size)) for path in stills if not is_layered(path)]
        layered = [stack.enter_context(open_exr(path, *size, CHANNELS)) for path in stills if is_layered(path)]
        recorders = [stack.enter_context(open_recorder(path, *size, fps)) for path in paths if path not in stills]
        context = stack.enter_context(headless_context())
        made = create_worlds(scenes, partial(check_memory, scenes, shown=True))
        lockstep = Lockstep([Simulator(scene, world, threads) for world, scene in made])
        scenes = lockstep.scenes
        scene = scenes[0]
        cycles = cycles_per_frame if cycles_per_frame is not None else scene.simulation.cycles_per_frame
        cycles = CYCLES_PER_FRAME if cycles_per_frame is None and cycles == 0 else cycles

        for simulator in lockstep.simulators:
            simulator.compile_missing()
        surveyors, wanted = [Surveyor() for _ in scenes], wanted_by(scene.view)

        def snapshots(old: Sequence[Snapshot | None]) -> list[Snapshot]:
            worlds = lockstep.worlds
            surveys = [
                surveyor.survey(world, own.rivers, wanted, own.climate, own.runoff)
                for surveyor, world, own in zip(surveyors, worlds, scenes, strict=True)
            ]
            return list(map(take_snapshot, worlds, range(len(worlds)), old, surveys))

        sides = Sides(context, bake_at_once=True)
        stack.callback(sides.release)
        sides.show(snapshots([None] * len(scenes)))
        sides.lay_out(*size, in_grid=in_grid)
        aspect = min(side.area.width / side.area.height for side in sides.shown)
        opening = scene_camera(scene, sides.snapshots[0], aspect)
        with kept_from_signals("cycle or frame") as wish:
            done, failure = 0, ""
            for frame in Progress(range(frames), "rendering", "frame"):
                if frame > 0:
                    try:
                        for _ in range(cycles):
                            if not wish:
                                lockstep.advance()
                        lockstep.verify()
                    except SimulationError as error:
                        failure = str(error)
                        break
                    sides.show(snapshots(sides.snapshots))
                if wish:
                    break
                scenes = [scene.at(lockstep.cycle) for scene in lockstep.scenes]  # where parameters have keys
                camera = replace(opening, heading=opening.heading + orbit * frame / frames)
                if keys := read_camera_path(scene.view.camera_path):
                    ground = Ground(sides.snapshots[0], scenes[0].view.exaggeration)
                    camera = CameraPath(keys, ground, aspect).at(lockstep.cycle)
                labels = picture_labels(scenes, lockstep.cycle, lockstep.worlds[0].years)
                if recorders:
                    sides.redraw()  # time has passed, also where nothing else has changed
                    sides.draw([camera] * len(scenes), scenes, time=frame / fps, minimap=minimap, labels=labels)
                    pixels = sides.pixels()
                    assert pixels is not None
                    for record in recorders:
                        record(pixels)
                done += 1
            if not done:
                raise Ended(wish.number)
            if stills:
                with wish.at_once():  # a picture is whole, or not there
                    looks = sides.looks([camera] * len(scenes), scenes, minimap=minimap, labels=labels)
                    time, largest = (done - 1) / fps, largest_tile(context)
                    if pictures:
                        _take_bands(sides.bands(looks, time, largest), pictures, size[1])
                    if layered:
                        bands = sides.layer_bands(looks, time, min(largest, LARGEST_LAYERED_TILE))
                        names = material_names(sides.snapshots[0]).items()
                        described = {"material.id": "; ".join(f"{number} {name}" for number, name in names)}
                        for still in layered:
                            still.describe(described)
                        _take_bands(bands, [still.take for still in layered], size[1])
            stack.close()  # while a signal still waits, so that the files are finished
    tell_of_files(paths, done, frames, wish, failure)


def tell_of_files(paths: Sequence[Path], done: int, frames: int, wish: Wish, failure: str = "") -> None:
    """Print what was drawn. Raises `UserError` where it failed before all frames were, `Ended` where a signal came."""
    for path in paths:
        print(path)
    kept = f"{', '.join(map(str, paths))}: {done} of {frames} frames are complete"
    if failure:
        raise UserError(f"{failure}; {kept}")
    if done < frames:
        raise Ended(wish.number, f"stopped; {kept}")


def is_still(path: Path, size: tuple[int, int]) -> bool:
    """Whether a file holds one picture that is drawn in tiles: for its size (width, height), or for its layers."""
    return is_layered(path) or (is_one_picture(path) and max(size) > LARGEST_TILE)


def is_layered(path: Path) -> bool:
    """Whether a file holds more than colours."""
    return path.suffix.lower() == ".exr"


Band = TypeVar("Band", NDArray[np.uint8], dict[str, NDArray[np.generic]])


def _take_bands(bands: Iterable[Band], takers: Sequence[Callable[[Band], None]], height: int) -> None:
    """Hand on each band of a still of this height."""
    progress = Progress(range(height), "drawing", "row")
    for band in bands:
        for take in takers:
            take(band)
        progress.update(len(next(iter(band.values())) if isinstance(band, dict) else band))
    progress.close()


def check_size(paths: Sequence[Path], size: tuple[int, int]) -> None:
    """Raise `UserError` where a clip would be of a size (width, height) that only a still can have."""
    for path in paths:
        if max(size) > LARGEST_FRAME and not is_still(path, size):
            raise UserError(f"{path}: frames have at most {LARGEST_FRAME} pixels along a side; only a still has more")


def largest_tile(context: moderngl.Context) -> int:
    """Pixels along a side of what is drawn at once, in a scene that may have half as many again."""
    return min(LARGEST_TILE, int(context.info["GL_MAX_VIEWPORT_DIMS"][0]) * 2 // 3)


def scene_camera(scene: Scene, snapshot: Snapshot, aspect: float = OPENING_ASPECT) -> Camera:
    """The initial view of a scene, as in the window, in a picture of this aspect ratio; never from under the ground."""
    ground = Ground(snapshot, scene.view.exaggeration)
    east, south = scene.camera.target_east * ground.east, scene.camera.target_south * ground.south
    shape = ground.rows, ground.columns, ground.cell_size
    camera = opening_camera(scene.camera, *shape, ground.height(east, south), aspect)
    eye = camera.position
    return lifted(camera, ground.limit(eye.x, eye.z) + CLEARANCE * ground.side)


@contextlib.contextmanager
def headless_context() -> Iterator[moderngl.Context]:
    """OpenGL without a window. Raises `UserError` where there is none, or one that is too old."""
    backend: dict[str, Any] = {"backend": "egl"} if sys.platform == "linux" else {}
    try:
        context = moderngl.create_standalone_context(require=410, **backend)
    except Exception as error:  # moderngl raises plain exceptions
        needs = "needs OpenGL 4.1"
        if sys.platform == "linux":
            needs += " through EGL (on Debian and Ubuntu: apt-get install libegl1 libgl1)"
        raise UserError(f"drawing without a window {needs}: {error}") from error
    with context:
        yield context
    context.release()
