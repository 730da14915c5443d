"""A sheet: variations of one land as pictures side by side, or as a clip of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.cli.filming import Film, open_film
from app.cli.headless import scene_camera
from app.cli.progress import Progress
from app.cli.sheet_file import Variation
from app.cli.signals import Ended
from app.engine.cycles import PORTION
from app.engine.publishing import take_snapshot
from app.engine.runner import make_worlds
from app.engine.survey import Surveyor
from app.engine.surveys import surveyed_snapshot
from app.files.encoder import Pixels
from app.model.errors import UserError
from app.model.numbers import spaced
from app.model.overlays import overlay_range
from app.model.snapshot import Snapshot
from app.picture import style
from app.picture.lettering import sign
from app.picture.painter import Painter
from app.picture.passes.declaration import Shot
from app.picture.passes.frame_values import least_discharge
from app.scene.comparison import settings_that_differ
from app.scene.scene import Scene

GAP = 4  # pixels between pictures
LARGEST = 16384  # pixels along a side of the sheet
WHOLE_WIDTH = 1040  # width of the sheet in pixels at which text is as large as in the panel
CAPTION_WIDTH = 210  # width of a picture in pixels for which text of that size is large enough
SMALLEST_TEXT = 0.5
MOST_COVERED = 0.3  # of a picture's height by its caption; a longer caption is cut to its first line
GROUND: Pixels = np.round(255.0 * np.array(style.OVER_SCENE[:3])).astype(np.uint8)  # where there is no picture


@dataclass(frozen=True)
class SheetGrid:
    """The grid of pictures of `width` and `height` pixels in a sheet, below `head` rows for the title."""

    pictures: int
    columns: int
    width: int
    height: int
    head: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the sheet, both even, as clips need. Raises `UserError` if it is too large."""
        columns = min(self.columns, self.pictures)
        rows = -(-self.pictures // columns)
        height, width = rows * (self.height + GAP) - GAP + self.head, columns * (self.width + GAP) - GAP
        height, width = height + height % 2, width + width % 2
        if max(height, width) > LARGEST:
            raise UserError(f"a sheet of {width}×{height} pixels: a side may have up to {LARGEST}")
        return height, width

    def part(self, number: int) -> tuple[slice, slice]:
        """The rows and columns of a picture."""
        row, column = divmod(number, self.columns)
        top, left = self.head + row * (self.height + GAP), column * (self.width + GAP)
        return slice(top, top + self.height), slice(left, left + self.width)

    def blank(self) -> Pixels:
        """The sheet without pictures."""
        return np.broadcast_to(GROUND, (*self.shape, 3)).copy()

    def put(self, whole: Pixels, number: int, picture: Pixels, caption: NDArray[np.uint8]) -> None:
        """Put a picture into its place in the sheet, with its caption."""
        part = whole[self.part(number)]
        part[...] = picture
        lay(caption, part)


def draw_sheet(
    title: str,
    base: Scene,
    variations: Sequence[Variation],
    paths: Sequence[Path],
    *,
    columns: int,
    size: tuple[int, int],
    frames: int = 1,
    fps: int = 30,
    threads: int | None = None,
) -> None:
    """Draw a picture of `size` (width, height) of each variation, in rows, into the files `paths`.

    With one frame, worlds are made and run one after the other. With more, all run side by side, and each frame shows
    their progress: the first one their start, the last one their end.

    If a signal or a failed cycle ends it early, the files contain the pictures or frames so far, and `Ended` or
    `UserError` tells how many. Before the first one there are no files.
    """
    bare = SheetGrid(len(variations), columns, *size, 0)
    scale = text_scale(bare)
    grid = replace(bare, head=len(_title(title, "", scale, bare.shape[1])))
    shape = grid.shape
    captions = [(variation.caption, *settings_that_differ(base, variation.scene)) for variation in variations]
    asked, unit = (frames, "frames") if frames > 1 else (len(variations), "pictures")
    with open_film(paths, (shape[1], shape[0]), fps) as film:
        painter = Painter(film.context, size)
        film.opened.callback(painter.release)
        with film.of(asked, unit):
            series = _Series(variations, size[0] / size[1], threads, film, frames)
            for number, views in enumerate(series.frames()):
                whole = grid.blank()
                lay(_title(title, _facts(views), scale, shape[1]), whole)
                for place, (view, pixels) in enumerate(_paint(painter, views, number / fps)):
                    age = () if len(_ages(views)) == 1 else tuple(_ages([view]))
                    grid.put(whole, place, pixels, _caption((*captions[place], *age), scale, grid))
                    series.progress.update()
                film.take(whole, 1 if frames > 1 else len(views))
            series.progress.close()


@dataclass(frozen=True)
class _View:
    """A world as it is drawn."""

    variation: Variation
    scene: Scene
    shot: Shot
    snapshot: Snapshot


class _Run:
    """The run of a variation."""

    def __init__(
        self, number: int, variation: Variation, aspect: float, room_for: Sequence[Scene], threads: int | None
    ) -> None:
        self.variation = variation
        self._number = number  # identifies the world in pictures
        (self._simulator,) = make_worlds([variation.scene], threads, shown=True, room_for=room_for).simulators
        world, scene = self._simulator.world, self._simulator.scene
        if variation.snowballs:
            self._simulator.begin_snowball_run(variation.snowballs)
        self._simulator.compile_missing()
        self._surveyor = Surveyor()
        # The camera follows from the initial land, so that all views are the same. Streams are surveyed later, when
        # they are visible, as those of the start would be cached for a while.
        self._snapshot = take_snapshot(world, number)
        self._camera = scene_camera(scene, self._snapshot, aspect)
        self._done = 0

    def go_on(self, to: int, film: Film, progress: Progress) -> bool:
        """Advance to this step. Returns whether the film continues."""
        done, self._done = self._done, to
        return film.advance(self._simulator, to - done, progress.update)

    def view(self) -> _View:
        if self.variation.snowballs:
            self._simulator.derive_levels()  # a run of snowballs does not
        world, scene = self._simulator.world, self._simulator.scene
        self._snapshot = surveyed_snapshot(self._surveyor, world, scene, self._number, self._snapshot)
        return _View(self.variation, scene, Shot(self._camera, scene, minimap=False), self._snapshot)


def _steps(variation: Variation) -> int:
    """The number of cycles of a run."""
    return math.ceil(variation.snowballs / PORTION) if variation.snowballs else variation.cycles


class _Series:
    """The frames of a sheet, with progress."""

    def __init__(
        self, variations: Sequence[Variation], aspect: float, threads: int | None, film: Film, frames: int
    ) -> None:
        self._variations = variations
        self._aspect = aspect
        self._threads = threads
        self._film = film
        self._frames = frames
        steps = sum(map(_steps, variations)) + frames * len(variations)
        self.progress = Progress(range(steps), "drawing", "step")

    def frames(self) -> Iterator[list[_View]]:
        """The worlds of each frame, up to a signal or a failure."""
        return self._side_by_side() if self._frames > 1 else self._one_by_one()

    def _one_by_one(self) -> Iterator[list[_View]]:
        """A single frame of all finished runs."""
        views: list[_View] = []
        for number, variation in enumerate(self._variations):
            try:
                with self._film.noting_failure():
                    run = self._begin(number, [variation.scene])
                    run.go_on(_steps(variation), self._film, self.progress)
            except Ended:  # before its world was made
                break
            if not self._film.goes_on:
                break
            views.append(run.view())
            del run  # before the next world is made
        if views:
            yield views

    def _side_by_side(self) -> Iterator[list[_View]]:
        scenes = [variation.scene for variation in self._variations]
        try:
            runs = [self._begin(number, scenes[number:]) for number in range(len(scenes))]
        except Ended:  # before all were made
            return
        for frame in range(self._frames):
            for run in runs:
                run.go_on(round(_steps(run.variation) * frame / (self._frames - 1)), self._film, self.progress)
            if not self._film.goes_on:
                return
            yield [run.view() for run in runs]

    def _begin(self, number: int, still_to_come: Sequence[Scene]) -> _Run:
        """The run of a variation, if memory suffices for it and the worlds that are still to come."""
        with self._film.wish.at_once():
            return _Run(number, self._variations[number], self._aspect, still_to_come, self._threads)


def _paint(painter: Painter, views: Sequence[_View], time: float) -> Iterator[tuple[_View, Pixels]]:
    """A picture of each world after so many seconds, with common scales of streams and overlays."""
    least = least_discharge([view.scene for view in views], [view.snapshot for view in views])
    for view in views:
        overlay = view.scene.view.overlay
        shown = [other.snapshot for other in views if other.scene.view.overlay == overlay]
        shot = view.shot._replace(time=time, overlay_span=overlay_range(overlay, *shown), least_discharge=least)
        yield view, painter.paint(view.snapshot, shot)


def text_scale(grid: SheetGrid) -> float:
    """The size of text relative to the panel's, for the width of the sheet and of its pictures."""
    return max(min(grid.shape[1] / WHOLE_WIDTH, grid.width / CAPTION_WIDTH), SMALLEST_TEXT)


def _ages(views: Sequence[_View]) -> list[str]:
    """The numbers of cycles that the worlds have run, in words."""
    cycles = {view.snapshot.cycle for view in views if not view.variation.snowballs} - {0}
    return [f"after {spaced(number)} cycles" for number in sorted(cycles)]


def _facts(views: Sequence[_View]) -> str:
    """The facts that all worlds share."""
    snapshot, ages = views[0].snapshot, _ages(views)
    rows, columns = snapshot.shape
    return ", ".join([f"{columns}×{rows} cells", f"seed {snapshot.seed}", *(ages if len(ages) == 1 else [])])


def _title(title: str, facts: str, scale: float, widest: int) -> NDArray[np.uint8]:
    return sign((title, facts), scale, widest)


def _caption(lines: tuple[str, ...], scale: float, grid: SheetGrid) -> NDArray[np.uint8]:
    letters = sign(lines, scale, grid.width)
    return letters if len(letters) <= MOST_COVERED * grid.height else sign(lines[:1], scale, grid.width)


def lay(letters: NDArray[np.uint8], picture: Pixels) -> None:
    """Copy letters into the upper left corner of a picture, cropped to its size."""
    seen = letters[: picture.shape[0], : picture.shape[1], :3]
    picture[: seen.shape[0], : seen.shape[1]] = seen
