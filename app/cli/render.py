"""Pictures without a window: the same bits on every run, however long a frame takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from app.cli.filming import Stage, open_film
from app.cli.headless import largest_tile, scene_camera
from app.cli.progress import Progress
from app.engine.runner import make_worlds
from app.files.encoder import Pixels
from app.files.recorder import is_one_picture
from app.files.still import LayeredStill, TakeBand, open_exr, open_png
from app.model.camera_path import read_camera_path
from app.model.errors import UserError
from app.picture.camera_path import CameraPath
from app.picture.crop import LARGEST_TILE
from app.picture.ground import above_ground
from app.picture.layers import CHANNELS, material_names
from app.picture.sides import Look, Sides
from app.scene.scene import Scene

LARGEST_LAYERED_TILE = 1024  # pixels along a side: all layers take eight times the memory of colours
LARGEST_FRAME = 8192  # pixels along a side of a picture that is drawn in one piece
CYCLES_PER_FRAME = 2  # unless the scene or the user sets it


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
    is the angle by which the camera moves around the land over the clip, in degrees. Several scenes are drawn side by
    side or in a grid, with the light and the camera of the first.

    If a signal or a failed cycle ends it early, the files contain the frames so far, and `Ended` or `UserError` says
    how many. Before the first one there are no files.
    """
    check_size(paths, size)
    stills = [path for path in paths if is_still(path, size)]
    with open_film(paths, size, fps, stills=stills) as film:
        opened = film.opened
        pictures = [opened.enter_context(open_png(path, *size)) for path in stills if not is_layered(path)]
        layered = [opened.enter_context(open_exr(path, *size, CHANNELS)) for path in stills if is_layered(path)]
        lockstep = make_worlds(scenes, threads, shown=True)
        scene = lockstep.scenes[0]
        cycles = cycles_per_frame if cycles_per_frame is not None else scene.simulation.cycles_per_frame
        cycles = CYCLES_PER_FRAME if cycles_per_frame is None and cycles == 0 else cycles
        lockstep.compile_missing()
        stage = opened.enter_context(Stage(film.context, size, minimap=minimap, in_grid=in_grid))
        stage.show(lockstep, scene.view)
        opening = scene_camera(scene, stage.sides.snapshots[0], stage.aspect)
        with film.of(frames):
            for frame in Progress(range(frames), "rendering", "frame"):
                if not film.advance(lockstep, cycles if frame > 0 else 0):
                    break
                if frame > 0:
                    stage.show(lockstep, scene.view)
                scenes = [scene.at(lockstep.cycle) for scene in lockstep.scenes]  # keyed parameters change
                view = scenes[0].view
                # The ground may have risen, as where a dune has come, or the orbit leads over higher ground.
                turned = replace(opening, heading=opening.heading + orbit * frame / frames)
                camera = above_ground(turned, stage.ground(view))
                if keys := read_camera_path(view.camera_path):
                    camera = CameraPath(keys, stage.ground(view), stage.aspect).at(lockstep.cycle)
                film.take(stage.frame(camera, scenes, frame / fps) if film.has_clips else None)
            if stills and film.pictures:
                with film.wish.at_once():  # a picture is complete or absent
                    looks, time = stage.looks(camera, scenes), (film.pictures - 1) / fps
                    _draw_stills(stage.sides, looks, time, largest_tile(film.context), pictures, layered)


def _draw_stills(
    sides: Sides,
    looks: Sequence[Look],
    time: float,
    largest: int,
    pictures: Sequence[TakeBand],
    layered: Sequence[LayeredStill],
) -> None:
    """Draw the worlds into stills, in tiles of at most `largest` pixels per side."""
    height = sides.size[1]
    if pictures:
        _take_bands(sides.bands(looks, time, largest), pictures, height)
    if layered:
        names = material_names(sides.snapshots[0]).items()
        described = {"material.id": "; ".join(f"{number} {name}" for number, name in names)}
        for still in layered:
            still.describe(described)
        bands = sides.layer_bands(looks, time, min(largest, LARGEST_LAYERED_TILE))
        _take_bands(bands, [still.take for still in layered], height)


def is_still(path: Path, size: tuple[int, int]) -> bool:
    """Whether a file holds one picture that is drawn in tiles, because of its size or its layers."""
    return is_layered(path) or (is_one_picture(path) and max(size) > LARGEST_TILE)


def is_layered(path: Path) -> bool:
    """Whether a file holds layers besides colours."""
    return path.suffix.lower() == ".exr"


Band = TypeVar("Band", Pixels, dict[str, NDArray[np.generic]])


def _take_bands(bands: Iterable[Band], takers: Sequence[Callable[[Band], None]], height: int) -> None:
    """Pass on each band of a still of this height."""
    progress = Progress(range(height), "drawing", "row")
    for band in bands:
        for take in takers:
            take(band)
        progress.update(len(next(iter(band.values())) if isinstance(band, dict) else band))
    progress.close()


def check_size(paths: Sequence[Path], size: tuple[int, int]) -> None:
    """Raise `UserError` if a clip would have a size (width, height) that only a still may have."""
    for path in paths:
        if max(size) > LARGEST_FRAME and not is_still(path, size):
            raise UserError(f"{path}: frames have at most {LARGEST_FRAME} pixels along a side; only a still has more")
