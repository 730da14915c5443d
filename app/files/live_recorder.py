"""Live recording: takes pictures as they come and never delays what they show."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.files.atomic import check_writable, write_atomically_by_path
from app.files.encoder import IN_FRAGMENTS, ClipFormat, Encoder, Pixels, convert
from app.model.errors import UserError, explained

WAITING = 4  # largest queue of pictures between window and encoder
REPEATED_AFTER = 0.5  # seconds without a picture after which the last one is repeated
UNFINISHED = "-recording.mp4"  # suffix of captures that still need conversion
FRAME_NAME = "frame_%05d.png"


def capture_ending(clip: ClipFormat) -> str:
    """The suffix of the capture of a clip."""
    return clip.suffix if clip.conversion else UNFINISHED


class LiveRecorder:
    """Takes pictures in real time and encodes a clip on a thread.

    The clip has its frames at a constant rate, and plays as fast as what it shows went: where no picture came in time,
    that before is seen once more. Pictures that the encoder has no room for are dropped and counted.

    What was recorded can be played from `capture` at any time, also where the program is killed. At the end it becomes
    the clip; `say` is called when it is there, or `complain` with why it is not.
    """

    def __init__(
        self,
        path: Path,
        width: int,
        height: int,
        fps: int,
        clip: ClipFormat,
        *,
        say: Callable[[str], None],
        complain: Callable[[str], object],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Raises `UserError` if the place cannot be written."""
        self.path = path
        self.capture = path.with_name(path.name.removesuffix(clip.suffix) + capture_ending(clip))
        self.size = width, height
        self.dropped = 0
        self._fps = fps
        self._clip = clip
        self._say, self._complain = say, complain
        self._clock = clock
        self._pictures: queue.Queue[tuple[int, Pixels]] = queue.Queue(WAITING)
        self._taken = -1  # the number of the last picture
        self._end: int | None = None  # number of frames, once known
        self._is_over = False
        check_writable(self.capture)
        self._begin = clock()
        self._thread = threading.Thread(target=self._record, name="recorder")
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Duration so far, in seconds."""
        return self._clock() - self._begin if self._end is None else self._end / self._fps

    @property
    def bytes(self) -> int:
        """Size of the file so far."""
        try:
            return self.capture.stat().st_size
        except OSError:
            return 0

    @property
    def is_recording(self) -> bool:
        """Whether it takes pictures: it was not stopped and has not failed."""
        return self._end is None and not self._is_over

    @property
    def is_over(self) -> bool:
        """Whether the clip is finished or has failed."""
        return self._is_over

    @property
    def is_due(self) -> bool:
        """Whether the next picture is due."""
        return self.is_recording and self._number(self._clock()) > self._taken

    def take(self, pixels: Pixels) -> None:
        """Take a picture, which must not be changed afterwards."""
        self._taken = self._number(self._clock())
        try:
            self._pictures.put_nowait((self._taken, pixels))
        except queue.Full:
            self.dropped += 1

    def stop(self) -> None:
        """Stop recording; the clip is finished in the background."""
        if self._end is None:
            self._end = self._number(self._clock()) + 1

    def wait(self) -> None:
        """Wait until the clip is finished."""
        self._thread.join()

    def _number(self, now: float) -> int:
        """The frame number of a time."""
        return int((now - self._begin) * self._fps)

    def _record(self) -> None:
        try:
            self._capture()
            self._finish()
        except Exception as error:
            with contextlib.suppress(OSError):
                if not self.bytes:
                    self.capture.unlink(missing_ok=True)
            kept = f"; what was recorded before is in {self.capture}" if self.bytes else ""
            self._complain(f"{explained(error)}{kept}")
        finally:
            self._is_over = True

    def _capture(self) -> None:
        """Write pictures until the end is reached."""
        encoder = Encoder(self.capture, *self.size, self._fps, [*self._clip.capture, *IN_FRAGMENTS])
        last, picture = -1, None
        try:
            while True:
                try:
                    number, picture = self._pictures.get(timeout=0.0 if self._end is not None else REPEATED_AFTER / 2)
                except queue.Empty:
                    number = self._number(self._clock() - REPEATED_AFTER) if self._end is None else self._end - 1
                    if number <= last or picture is None:
                        if self._end is None:
                            continue
                        break
                last = max(number, last + 1)
                encoder.write(last, picture)
            if picture is None:
                raise UserError("there was nothing to record")
            encoder.finish()
        finally:
            encoder.kill()

    def _finish(self) -> None:
        """Convert the capture into the clip."""
        if self._clip.suffix:
            with write_atomically_by_path(self.path) as temporary:
                convert(self.capture, temporary, self._fps, self._clip.finishing, called=self.path)
        else:
            self.path.mkdir()
            convert(self.capture, self.path / FRAME_NAME, self._fps, self._clip.finishing, called=self.path)
        if self.capture != self.path:
            self.capture.unlink()
        dropped = f", {self.dropped} pictures dropped" if self.dropped else ""
        self._say(f"saved {self.path}: {duration(self.seconds)}{dropped}")


def duration(seconds: float) -> str:
    """Minutes and seconds, such as 1:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
