"""Recorders write pictures to files: a clip, the last picture, or every picture.

A recorder is opened before the first picture is drawn, so that a place that cannot be written is noticed before any
work is done. Its file appears after the last picture.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from app.files.atomic import write_atomically, write_atomically_by_path
from app.files.encoder import CLIPS, ClipFormat, Encoder, Pixels
from app.model.errors import UserError

Recorder = Callable[[Pixels], None]  # takes the next picture

_NUMBER = re.compile(r"%0?(\d*)d")
MOST_DIGITS = 20  # of the number of a picture


def open_recorder(path: Path, width: int, height: int, fps: int) -> AbstractContextManager[Recorder]:
    """The recorder of a file, by its name: a clip, `.png` for the last picture, `frame_%04d.png` for every picture."""
    suffix = path.suffix.lower()
    widths = _NUMBER.findall(path.name)
    numbers = len(widths)
    if any(len(width) > 2 or int(width or 0) > MOST_DIGITS for width in widths):
        raise UserError(f"{path}: pictures are numbered with at most {MOST_DIGITS} digits, such as frame_%04d.png")
    if numbers == 0 and (clip := next((clip for clip in CLIPS.values() if clip.suffix == suffix), None)):
        if clip.even and (width % 2 or height % 2):
            raise UserError(f"{path}: a clip of {width}×{height} pixels: width and height must be even for {suffix}")
        if fps > clip.fastest:
            raise UserError(f"{path}: {fps} frames a second: at most {clip.fastest} for {suffix}")
        return _clip(path, width, height, fps, clip)
    if suffix == ".png" and numbers <= 1:
        return _every_picture(path) if numbers else _last_picture(path)
    suffixes = ", ".join(clip.suffix for clip in CLIPS.values())
    raise UserError(f"{path}: must be a clip ({suffixes}), a picture (.png) or numbered pictures (frame_%04d.png)")


def is_one_picture(path: Path) -> bool:
    """Whether a recorder keeps one picture only."""
    return path.suffix.lower() == ".png" and not _NUMBER.search(path.name)


def write_png(path: Path, pixels: Pixels) -> None:
    """Write one picture atomically."""
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
def _clip(path: Path, width: int, height: int, fps: int, clip: ClipFormat) -> Iterator[Recorder]:
    count = 0
    with write_atomically_by_path(path) as temporary:
        encoder = Encoder(temporary, width, height, fps, clip.encoding, called=path)

        def record(pixels: Pixels) -> None:
            nonlocal count
            encoder.write(count, pixels)
            count += 1

        try:
            yield record
            encoder.finish()
        finally:
            encoder.kill()


def _png(pixels: Pixels) -> bytes:
    import imagecodecs

    return bytes(imagecodecs.png_encode(np.ascontiguousarray(pixels)))
