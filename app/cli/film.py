"""A film of a recorded run: the same land and camera, drawn offline."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.cli.filming import Stage, open_film
from app.cli.progress import Progress
from app.engine.runner import Replay
from app.files.journal import Journal
from app.model.camera_path import CameraKey
from app.model.curves import curve_at
from app.model.errors import UserError
from app.model.view_parameters import ViewParameters
from app.picture.camera import Camera
from app.picture.camera_path import CameraPath
from app.picture.ground import Ground
from app.scene.edits import Looked

LONGEST_PAUSE = 2.0  # seconds: longer pauses of a session are shortened to this
MOVE = 0.5  # seconds in which the camera moves to a view that it jumped to
AROUND = 4  # keys on each side of a moment that its camera depends on
MILLISECONDS = 1000
STILL = 1e-9


class Playback:
    """Cycles and views over the time of a film, from a recorded session."""

    def __init__(self, journal: Journal, seconds: float | None = None) -> None:
        looks = journal.looks
        if not looks:
            raise UserError("the journal does not know how the land was seen; `thalweg replay` runs it again")
        first, last = looks[0], looks[-1]
        if journal.cycle > last.cycle:
            rate = (last.cycle - first.cycle) / max(last.seconds - first.seconds, 1.0) or 30.0
            end = last.seconds + (journal.cycle - last.cycle) / rate
            looks = (*looks, Looked(journal.cycle, end, last.view, last.camera))
        times = [0.0]
        for look, later in itertools.pairwise(looks):
            gap = later.seconds - look.seconds
            is_pause = look.cycle == later.cycle
            times.append(times[-1] + (min(gap, LONGEST_PAUSE) if is_pause else gap))
        stretch = seconds / max(times[-1], STILL) if seconds else 1.0
        self._looks = looks
        self._times = [time * stretch for time in times]
        self.seconds = self._times[-1]
        self._cycles = {
            time: float(look.cycle) for time, look in zip(self._times, looks, strict=True)
        }  # the last counts
        self._keys = [self._key(number) for number in range(len(looks))]

    def cycle(self, second: float) -> int:
        """The cycle whose land is shown at a time."""
        places, cycles = list(self._cycles), list(self._cycles.values())
        return round(curve_at(places, cycles, second)) if len(places) > 1 else self._looks[0].cycle

    def view(self, second: float) -> ViewParameters:
        return self._looks[self._before(second)].view

    def camera(self, second: float, ground: Ground, aspect: float) -> Camera:
        place = self._before(second)
        keys = self._keys[max(place - AROUND, 0) : place + AROUND + 1]
        return CameraPath(keys, ground, aspect).at(second * MILLISECONDS)

    def _before(self, second: float) -> int:
        return max(int(np.searchsorted(self._times, second, side="right")) - 1, 0)

    def _key(self, number: int) -> CameraKey:
        """A look as a camera key, held until the camera must leave for the next one."""
        view, time = self._looks[number].camera, self._times[number]
        last = number + 1 == len(self._looks)
        hold = 0.0 if last else max(self._times[number + 1] - time - MOVE, 0.0)
        return CameraKey(
            round(time * MILLISECONDS),
            view.heading,
            view.pitch,
            view.distance,
            view.target_east,
            view.target_south,
            view.field_of_view,
            int(hold * MILLISECONDS),
        )


def render_recorded(
    journal: Journal,
    paths: Sequence[Path],
    *,
    fps: int,
    size: tuple[int, int],
    seconds: float | None = None,
    quality: str = "ultra",
    supersampling: int = 1,
    minimap: bool = False,
    threads: int | None = None,
) -> None:
    """Draw a recorded session into files, `seconds` long, or by default as long as the session without its pauses.

    With supersampling each pixel is the mean of a square of pixels. If a signal or a failed cycle ends it early, the
    files contain the frames so far.
    """
    playback = Playback(journal, seconds)
    frames = max(round(playback.seconds * fps), 1)
    large = size[0] * supersampling, size[1] * supersampling
    with open_film(paths, size, fps) as film:
        run = Replay(journal, threads, shown=True)
        stage = Stage(film.context, large, minimap=minimap, content_scale=float(supersampling))
        film.opened.enter_context(stage)
        with film.of(frames):
            for frame in Progress(range(frames), "rendering", "frame"):
                second = playback.seconds * frame / max(frames - 1, 1)
                with film.noting_failure():
                    run.reach(playback.cycle(second), film.wish, within=film.cycle)
                if not film.goes_on:
                    break
                view = msgspec.structs.replace(playback.view(second), quality=quality)
                stage.show(run.lockstep, view)
                camera = playback.camera(second, stage.ground(view), stage.aspect)
                now = (scene.at(run.lockstep.cycle) for scene in run.lockstep.scenes)
                scenes = [msgspec.structs.replace(scene, view=view) for scene in now]
                film.take(_reduced(stage.frame(camera, scenes, frame / fps), supersampling))


def _reduced(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """The mean of each square of pixels, in linear light."""
    if factor == 1:
        return pixels
    rows, columns = pixels.shape[0] // factor, pixels.shape[1] // factor
    squares = np.square(pixels.astype(np.float32)).reshape(rows, factor, columns, factor, 3)
    reduced: NDArray[np.uint8] = np.sqrt(squares.mean(axis=(1, 3))).round().astype(np.uint8)
    return reduced
