"""A film of a run that somebody steered: the same land and the same camera, drawn without hurry."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.cli.progress import Progress
from app.cli.render import headless_context, tell_of_files
from app.cli.signals import Ended, kept_from_signals
from app.engine.creation import create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import check_memory
from app.engine.publishing import take_snapshot
from app.engine.simulator import SimulationError, Simulator
from app.engine.survey import Surveyor, wanted_by
from app.engine.timeline import edited
from app.files.atomic import claimed
from app.files.journal import Journal
from app.files.recorder import open_recorder
from app.model.camera_path import CameraKey
from app.model.curves import curve_at
from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.camera import Camera
from app.picture.camera_path import CameraPath
from app.picture.ground import Ground
from app.picture.sides import Sides
from app.scene.captions import picture_labels
from app.scene.edits import Looked, Open
from app.scene.scene import Scene

LONGEST_PAUSE = 2.0  # seconds of a session in which nothing moved that become as many of the film
MOVE = 0.5  # seconds that the camera takes to a view that it came to in a step
AROUND = 4  # keys before and after a moment that its camera depends on
MILLISECONDS = 1000
STILL = 1e-9


class Course:
    """Cycles and views over the seconds of a film, from those of the session that it shows."""

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
        """After which cycle the land is seen."""
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
        """A look as a key, held until the camera must leave to be at the next one in time."""
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
    """Draw a steered run into files, in `seconds` or as long as it took without its pauses.

    With supersampling each pixel is the mean of so many squared. Where a signal or a cycle that fails ends it early,
    the files have the frames so far.
    """
    course = Course(journal, seconds)
    frames = max(round(course.seconds * fps), 1)
    opened = journal.edits[0].request
    assert isinstance(opened, Open)
    with contextlib.ExitStack() as stack:
        stack.enter_context(claimed(*paths))
        recorders = [stack.enter_context(open_recorder(path, *size, fps)) for path in paths]
        context = stack.enter_context(headless_context())
        made = create_worlds(opened.scenes, partial(check_memory, opened.scenes, shown=True))
        lockstep = Lockstep([Simulator(scene, world, threads) for world, scene in made])
        journal.check_beginning(lockstep.cycle)
        for simulator in lockstep.simulators:
            simulator.compile_missing()
        run = _Run(journal, lockstep)
        sides = Sides(context, bake_at_once=True)
        stack.callback(sides.release)
        done, failure = 0, ""
        with kept_from_signals("cycle or frame") as wish:
            for frame in Progress(range(frames), "rendering", "frame"):
                second = course.seconds * frame / max(frames - 1, 1)
                try:
                    run.reach(course.cycle(second), wish)
                except SimulationError as error:
                    failure = str(error)
                    break
                if wish:
                    break
                view = msgspec.structs.replace(course.view(second), quality=quality)
                scenes = [msgspec.structs.replace(scene, view=view) for scene in run.scenes]
                sides.show(run.snapshots(sides.snapshots, view))
                sides.lay_out(size[0] * supersampling, size[1] * supersampling)
                sides.set_content_scale(float(supersampling))
                narrowest = min(side.area.width for side in sides.shown) / (size[1] * supersampling)
                ground = Ground(sides.snapshots[0], view.exaggeration)
                camera = course.camera(second, ground, narrowest)
                sides.redraw()
                labels = picture_labels(scenes, run.cycle, sides.snapshots[0].years)
                sides.draw([camera] * len(scenes), scenes, time=frame / fps, minimap=minimap, labels=labels)
                pixels = sides.pixels()
                assert pixels is not None
                for record in recorders:
                    record(_reduced(pixels, supersampling))
                done += 1
            if not done:
                raise Ended(wish.number)
            stack.close()
    tell_of_files(paths, done, frames, wish, failure)


class _Run:
    """Worlds on their way through a journal."""

    def __init__(self, journal: Journal, lockstep: Lockstep) -> None:
        self._edits = journal.edits
        self._lockstep = lockstep
        self._done = 1  # the first opens the worlds
        self._surveyors: list[Surveyor] = []
        self._generation = 0  # of how many worlds there are

    @property
    def scenes(self) -> list[Scene]:
        return [scene.at(self._lockstep.cycle) for scene in self._lockstep.scenes]

    @property
    def cycle(self) -> int:
        return self._lockstep.cycle

    def reach(self, cycle: int, wish: object) -> None:
        """Run up to a cycle, with the edits that were made before it."""
        while not wish:
            while self._done < len(self._edits) and self._edits[self._done].cycle <= min(self._lockstep.cycle, cycle):
                self._lockstep = edited(self._lockstep, self._edits[self._done].request)
                self._done += 1
            if self._lockstep.cycle >= cycle:
                break
            self._lockstep.advance()
        self._lockstep.verify()

    def snapshots(self, old: Sequence[Snapshot], view: ViewParameters) -> list[Snapshot]:
        worlds, scenes = self._lockstep.worlds, self._lockstep.scenes
        if len(self._surveyors) != len(worlds):
            self._surveyors, self._generation = [Surveyor() for _ in worlds], self._generation + len(worlds)
        wanted = wanted_by(view)
        surveys = [
            surveyor.survey(world, scene.rivers, wanted, scene.climate, scene.runoff)
            for surveyor, world, scene in zip(self._surveyors, worlds, scenes, strict=True)
        ]
        before: Sequence[Snapshot | None] = old if len(old) == len(worlds) else [None] * len(worlds)
        numbers = range(self._generation, self._generation + len(worlds))
        return list(map(take_snapshot, worlds, numbers, before, surveys))


def _reduced(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Each square of pixels as their mean, in light and not in the numbers of a file, which are about its root."""
    if factor == 1:
        return pixels
    rows, columns = pixels.shape[0] // factor, pixels.shape[1] // factor
    squares = np.square(pixels.astype(np.float32)).reshape(rows, factor, columns, factor, 3)
    reduced: NDArray[np.uint8] = np.sqrt(squares.mean(axis=(1, 3))).round().astype(np.uint8)
    return reduced
