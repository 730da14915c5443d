"""Films: frames of worlds, and files that keep all frames if a film ends early."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import moderngl

from app.cli.headless import headless_context
from app.cli.signals import Ended, Wish, shielded_from_signals
from app.engine.lockstep import Lockstep
from app.engine.simulator import Simulator
from app.engine.survey import Surveyor
from app.engine.surveys import surveyed_snapshot
from app.files.atomic import claimed
from app.files.encoder import Pixels
from app.files.recorder import Recorder, open_recorder
from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.camera import Camera
from app.picture.ground import Ground
from app.picture.sides import Look, Sides
from app.scene.captions import picture_labels
from app.scene.scene import Scene


class Film:
    """Writes frames to files. A signal or a failed cycle ends it early; the files keep the frames so far."""

    def __init__(
        self,
        paths: Sequence[Path],
        recorders: Sequence[Recorder],
        context: moderngl.Context,
        opened: contextlib.ExitStack,
        clips: contextlib.ExitStack,
    ) -> None:
        """`clips` are the files that need the pixels of every frame."""
        self.context = context
        self.opened = opened  # closed after the last frame
        self.pictures = 0  # taken so far
        self.failure = ""  # of a cycle
        self.wish = Wish()
        self._paths = paths
        self._recorders = recorders
        self._clips = clips

    @contextlib.contextmanager
    def of(self, pictures: int, unit: str = "frames") -> Iterator[None]:
        """The context in which frames are taken. At its end all files are closed and printed.

        Raises `UserError` if a cycle failed, and `Ended` if a signal came before all pictures were taken.
        """
        with shielded_from_signals("cycle or frame") as self.wish:
            yield
            if not self.pictures:
                raise UserError(self.failure) if self.failure else Ended(self.wish.number)
            self.opened.close()  # signals still wait, so that the files are finished
        for path in self._paths:
            print(path)
        kept = f"{', '.join(map(str, self._paths))}: {self.pictures} of {pictures} {unit} are complete"
        if self.failure:
            raise UserError(f"{self.failure}; {kept}")
        if self.pictures < pictures:
            raise Ended(self.wish.number, f"stopped; {kept}")

    def take(self, pixels: Pixels | None, pictures: int = 1) -> None:
        """Take a frame, which may hold several pictures; None if no clip needs it."""
        if pixels is not None:
            for record in self._recorders:
                record(pixels)
        self.pictures += pictures

    @property
    def has_clips(self) -> bool:
        """Whether any file needs the pixels of each frame."""
        return bool(self._recorders)

    @property
    def goes_on(self) -> bool:
        """Whether there was no signal and no failed cycle."""
        return not (self.wish or self.failure)

    def advance(
        self, worlds: Lockstep | Simulator, cycles: int, after_each: Callable[[], object] = lambda: None
    ) -> bool:
        """Run cycles before the next frame, until one fails or a signal comes. Returns whether the film goes on."""
        with self.noting_failure():
            for _ in range(cycles):
                if self.wish:
                    break
                with self.cycle():
                    worlds.advance()
                after_each()
            worlds.verify()
        return self.goes_on

    @contextlib.contextmanager
    def noting_failure(self) -> Iterator[None]:
        """A context: a failure within it ends the film after the frames so far."""
        try:
            yield
        except UserError as error:
            self.failure = str(error)

    @contextlib.contextmanager
    def cycle(self) -> Iterator[None]:
        """The context of a cycle, which is aborted if it takes too long after a signal."""
        with self.wish.or_given_up(self._leave):
            yield

    def _leave(self) -> str:
        if not self.pictures:
            return "stopped before the first frame"
        self._clips.close()
        return f"stopped in the midst of a cycle; frames that are complete: {self.pictures}"


@contextlib.contextmanager
def open_film(paths: Sequence[Path], size: tuple[int, int], fps: int, *, stills: Sequence[Path] = ()) -> Iterator[Film]:
    """Open the files of a film of a size in pixels (width, height); `stills` take no frames.

    Raises `UserError` if one cannot be written, or there is no OpenGL.
    """
    with contextlib.ExitStack() as opened:
        opened.enter_context(claimed(*paths))
        clips = opened.enter_context(contextlib.ExitStack())
        recorders = [clips.enter_context(open_recorder(path, *size, fps)) for path in paths if path not in stills]
        context = opened.enter_context(headless_context())
        yield Film(paths, recorders, context, opened, clips)


class Stage:
    """The worlds of a film, side by side in frames of `size` (width, height)."""

    def __init__(
        self,
        context: moderngl.Context,
        size: tuple[int, int],
        *,
        minimap: bool = False,
        in_grid: bool = False,
        content_scale: float = 1.0,
    ) -> None:
        self.sides = Sides(context, bake_at_once=True)
        self._size = size
        self._minimap = minimap
        self._in_grid = in_grid
        self._content_scale = content_scale
        self._surveyors: list[Surveyor] = []
        self._numbers = range(0)  # of the worlds, which identify them in pictures

    def show(self, lockstep: Lockstep, view: ViewParameters) -> None:
        """Show the current worlds, with the surveys that the view needs."""
        worlds = lockstep.worlds
        old = self.sides.snapshots
        if len(self._surveyors) != len(worlds):
            self._surveyors, old = [Surveyor() for _ in worlds], []
            self._numbers = range(self._numbers.stop, self._numbers.stop + len(worlds))
        before: Sequence[Snapshot | None] = old or [None] * len(worlds)
        seen = zip(self._surveyors, worlds, lockstep.scenes, self._numbers, before, strict=True)
        self.sides.show([surveyed_snapshot(*one, view=view) for one in seen])
        self.sides.lay_out(*self._size, in_grid=self._in_grid)
        self.sides.set_content_scale(self._content_scale)

    @property
    def aspect(self) -> float:
        """The aspect ratio of the narrowest side."""
        return min(side.area.width / side.area.height for side in self.sides.shown)

    def ground(self, view: ViewParameters) -> Ground:
        """The ground of the first world, for the camera."""
        return Ground(self.sides.snapshots[0], view.exaggeration)

    def frame(self, camera: Camera, scenes: Sequence[Scene], time: float) -> Pixels:
        """A frame at a time in seconds, with one camera for all worlds."""
        self.sides.redraw()  # time has passed, even if nothing else changed
        cameras, labels = [camera] * len(scenes), self._labels(scenes)
        self.sides.draw(cameras, scenes, time=time, minimap=self._minimap, labels=labels)
        pixels = self.sides.pixels()
        assert pixels is not None
        return pixels

    def looks(self, camera: Camera, scenes: Sequence[Scene]) -> list[Look]:
        """The look of each side in a frame."""
        return self.sides.looks([camera] * len(scenes), scenes, minimap=self._minimap, labels=self._labels(scenes))

    def _labels(self, scenes: Sequence[Scene]) -> list[tuple[str, ...]]:
        first = self.sides.snapshots[0]
        return picture_labels(scenes, first.cycle, first.years)

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.sides.release()
