"""Recordings of the window, with or without the panel."""

from __future__ import annotations

import logging
from pathlib import Path

import moderngl

from app.files.atomic import free_path
from app.files.encoder import CLIPS, PICTURES
from app.files.live_recorder import LiveRecorder, capture_ending
from app.model.errors import UserError
from app.picture.film import Film
from app.picture.sides import Area, Sides
from app.window.documents import Documents
from app.window.notices import Notices

log = logging.getLogger(__name__)


class Recording:
    """One recording at a time, and earlier ones whose clips are being finished."""

    def __init__(self, sides: Sides, documents: Documents, notices: Notices) -> None:
        self._sides = sides
        self._documents = documents
        self._notices = notices
        self._recorders: list[LiveRecorder] = []  # the last one may be recording
        self._film: Film | None = None
        self._with_panel = False
        self._seen = -1  # number of the last recorded picture

    @property
    def current(self) -> LiveRecorder | None:
        """The running recorder, if any."""
        return next((recorder for recorder in self._recorders if recorder.is_recording), None)

    @property
    def finishing(self) -> list[LiveRecorder]:
        """Stopped recorders whose clips are not finished."""
        return [recorder for recorder in self._recorders if not recorder.is_recording and not recorder.is_over]

    def begin(self, folder: Path, name: str, *, window_size: tuple[int, int] | None = None) -> None:
        """Record into a new clip in a folder, in the current size, until `stop`.

        With the size of the window in pixels (width, height) the clip is of the whole window, the panel included.
        """
        parameters = self._documents.scene.recording
        clip = PICTURES if parameters.format == "png" else CLIPS[parameters.format]
        width, height = window_size or self._sides.size
        width, height = width // 2 * 2, height // 2 * 2  # encoders need even sizes
        if not self._sides.snapshots or min(width, height) < 2:
            raise UserError("there is no picture yet")
        path = free_path(folder, name, clip.suffix, capture_ending(clip))
        self._recorders.append(
            LiveRecorder(
                path,
                width,
                height,
                min(parameters.frames_per_second, clip.fastest),
                clip,
                say=self._notices.say,
                complain=self._notices.complain,
            )
        )
        self._with_panel = window_size is not None
        self._seen = -1
        self.release()
        self._film = Film(self._sides.context, width, height)
        if self.hides_minimap and self._documents.seen_scene.view.minimap:
            self._seen = self._sides.pictures  # has the minimap, as has one that is being drawn
            self._sides.abandon()
            self._notices.say("the minimap is hidden while the clip is recorded; recording.minimap keeps it")

    @property
    def hides_minimap(self) -> bool:
        """Whether the running recording excludes the minimap."""
        wanted = self._documents.scene.recording.minimap
        return self.current is not None and not self._with_panel and not wanted

    @property
    def shows_minimap(self) -> bool:
        """Whether a minimap lies over the scene now."""
        return self._documents.seen_scene.view.minimap and not self.hides_minimap

    def stop(self) -> None:
        """Stop recording. The clip is finished in the background."""
        for recorder in self._recorders:
            recorder.stop()

    def take_scene(self) -> None:
        """Record the picture of the scene, if it is due and new."""
        self._recorders = [recorder for recorder in self._recorders if not recorder.is_over]
        sides, recorder = self._sides, self.current
        if recorder is None:
            self.release()
        if self._with_panel or recorder is None or not recorder.is_due or sides.pictures == self._seen:
            return
        if any(side.is_hasty for side in sides.shown):  # of before; the next is whole
            return
        parts = [(side.canvas.framebuffer_as_drawn, side.seen_area) for side in sides.shown]
        self._take(recorder, [(target, area) for target, area in parts if target is not None], sides.size)
        self._seen = sides.pictures

    def take_screen(self, screen: moderngl.Framebuffer, size: tuple[int, int]) -> None:
        """Record the whole window of this size (width, height), if it is due."""
        recorder = self.current
        if self._with_panel and recorder is not None and recorder.is_due:
            self._take(recorder, [(screen, Area(0, *size))], size)

    def _take(
        self, recorder: LiveRecorder, parts: list[tuple[moderngl.Framebuffer, Area]], size: tuple[int, int]
    ) -> None:
        assert self._film is not None
        recorder.take(self._film.expose(parts, size))

    def finish(self) -> None:
        """Stop recording and wait for all clips."""
        self.stop()
        for recorder in self._recorders:
            if not recorder.is_over:
                log.info("finishing %s", recorder.path)
            recorder.wait()

    def release(self) -> None:
        """Release all graphics resources."""
        if self._film is not None:
            self._film.release()
            self._film = None
