"""From pictures to files: a clip, the last picture, or every picture.

A recorder is opened before the first picture is drawn, so that a place that cannot be written is noticed before any
work is done. Its file appears when the last picture is in it, and not before.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from app.files.atomic import write_atomically, write_atomically_by_path
from app.model.errors import UserError

Pixels = NDArray[np.uint8]  # [row, column, channel]: red, green and blue, the uppermost row first
Recorder = Callable[[Pixels], None]  # takes the next picture

# The encoder's output depends on the number of its threads, and must not depend on the machine.
ENCODER_THREADS = 4
QUALITY = 18  # x264's constant rate factor: visually lossless

_NUMBER = re.compile(r"%0?\d*d")


def open_recorder(path: Path, width: int, height: int, fps: int) -> AbstractContextManager[Recorder]:
    """The recorder for a file, by its name: `.mp4`, `.png` for the last picture, or `frame_%04d.png` for every one."""
    suffix = path.suffix.lower()
    numbers = len(_NUMBER.findall(path.name))
    if suffix == ".mp4" and numbers == 0:
        if width % 2 or height % 2:
            raise UserError(f"{path}: a clip of {width}×{height} pixels: width and height must be even for .mp4")
        return _clip(path, width, height, fps)
    if suffix == ".png" and numbers <= 1:
        return _every_picture(path) if numbers else _last_picture(path)
    raise UserError(f"{path}: must be a clip (.mp4), a picture (.png) or numbered pictures (frame_%04d.png)")


def is_one_picture(path: Path) -> bool:
    """Whether a recorder's file holds one picture, and not all of them."""
    return path.suffix.lower() == ".png" and not _NUMBER.search(path.name)


def write_png(path: Path, pixels: Pixels) -> None:
    """Write one picture, whole or not at all."""
    with write_atomically(path) as file:
        file.write(_png(pixels))


@contextlib.contextmanager
def _last_picture(path: Path) -> Iterator[Recorder]:
    last: list[Pixels] = []

    def record(pixels: Pixels) -> None:
        last[:] = [pixels]

    with write_atomically(path) as file:
        yield record
        if last:
            file.write(_png(last[0]))


@contextlib.contextmanager
def _every_picture(pattern: Path) -> Iterator[Recorder]:
    count = 0

    def record(pixels: Pixels) -> None:
        nonlocal count
        write_png(pattern.with_name(_NUMBER.sub(lambda number: number.group() % count, pattern.name)), pixels)
        count += 1

    if not pattern.parent.is_dir():
        raise UserError(f"cannot write {pattern}: there is no folder {pattern.parent}; create it first")
    yield record


@contextlib.contextmanager
def _clip(path: Path, width: int, height: int, fps: int) -> Iterator[Recorder]:
    with write_atomically_by_path(path) as temporary, tempfile.TemporaryFile() as complaints:
        command = [_ffmpeg(), "-y", "-v", "error"]
        command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps), "-i", "-", "-an"]
        # Players take what is not marked for the colours of HD television, so they are converted so and marked.
        command += ["-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p", "-color_range", "tv"]
        command += ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"]
        command += ["-c:v", "libx264", "-preset", "veryfast", "-crf", str(QUALITY), "-threads", str(ENCODER_THREADS)]
        # Without names of versions, and with the index in front, so that a browser can play it while it loads.
        command += ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", str(temporary)]
        try:
            # In its own session: Ctrl+C and a terminal that closes must not end it before the clip is whole.
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=complaints, start_new_session=True)
        except OSError as error:
            raise UserError(f"ffmpeg cannot be started ({error.strerror or error}), which makes {path}") from error
        assert process.stdin is not None
        stdin = process.stdin

        def record(pixels: Pixels) -> None:
            try:
                stdin.write(np.ascontiguousarray(pixels).data)
            except OSError as error:  # it has ended before its time
                process.wait()
                raise _failure(path, process, complaints) from error

        try:
            yield record
            with contextlib.suppress(OSError):  # its exit status says more
                stdin.close()
            if process.wait() != 0:
                raise _failure(path, process, complaints)
        finally:
            process.kill()
            process.wait()


def _ffmpeg() -> str:
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise UserError(
            "there is no ffmpeg, which makes the clip; install it, or set IMAGEIO_FFMPEG_EXE to where it is"
        ) from error


def _failure(path: Path, process: subprocess.Popen[bytes], complaints: IO[bytes]) -> UserError:
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return UserError(f"{path}: ffmpeg failed: {lines[-1] if lines else f'exit status {process.returncode}'}")


def _png(pixels: Pixels) -> bytes:
    import imagecodecs

    return bytes(imagecodecs.png_encode(np.ascontiguousarray(pixels)))
