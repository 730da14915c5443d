"""Clips by ffmpeg: a table of formats, and a process that encodes pictures with timestamps."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.files.atomic import REASONS
from app.model.errors import UserError

Pixels = NDArray[np.uint8]  # [row, column, channel]: red, green, blue and an ignored one; top row first

# The output of the encoder depends on its number of threads, which must not depend on the machine.
ENCODER_THREADS = 4
QUALITY = 18  # x264's constant rate factor: visually lossless

# Without version names.
REPRODUCIBLE = ("-fflags", "+bitexact", "-flags:v", "+bitexact")
# A dropped frame repeats the last one without converting it again.
CONSTANT_RATE = "fps=source_fps"
# Players assume HD colours for unmarked video, so pictures are converted to them and marked.
HD_COLOURS = (
    *("-vf", f"scale=out_color_matrix=bt709:out_range=tv,{CONSTANT_RATE}", "-color_range", "tv"),
    *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
)
INDEX_IN_FRONT = ("-movflags", "+faststart")  # a browser can play it while it loads
# Each second is playable once it is written, whatever happens later.
IN_FRAGMENTS = (
    *("-force_key_frames", "expr:gte(t,n_forced)", "-f", "mp4", "-flush_packets", "1"),
    *("-movflags", "+frag_keyframe+empty_moov+default_base_moof"),
)


def _h264(preset: str) -> tuple[str, ...]:
    return (*HD_COLOURS, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", preset, "-crf", str(QUALITY))


LOSSLESS = ("-vf", CONSTANT_RATE, "-c:v", "libx264rgb", "-pix_fmt", "bgr24", "-preset", "ultrafast", "-qp", "0")


@dataclass(frozen=True)
class ClipFormat:
    """A clip format, as options of ffmpeg.

    `encoding` makes a file of pictures. While a window is recorded there is no time for that: then they are encoded as
    `capture` says, in fragments, and its end makes the file of that by `conversion`, or by `encoding` where that is
    empty.
    """

    title: str
    suffix: str
    encoding: tuple[str, ...]
    capture: tuple[str, ...] = LOSSLESS
    conversion: tuple[str, ...] = ()
    even: bool = False  # whether width and height must be even
    fastest: int = 240  # largest frame rate, per second

    @property
    def finishing(self) -> tuple[str, ...]:
        """The options that convert a capture into the clip."""
        return self.conversion or self.encoding


CLIPS: dict[str, ClipFormat] = {
    "mp4": ClipFormat(
        "a clip",
        ".mp4",
        (*_h264("veryfast"), *INDEX_IN_FRONT),
        _h264("ultrafast"),
        ("-c:v", "copy", *INDEX_IN_FRONT),
        even=True,
    ),
    "mov": ClipFormat(
        "a clip for editing, as ProRes",
        ".mov",
        (*HD_COLOURS, "-pix_fmt", "yuv422p10le", "-c:v", "prores_ks", "-profile:v", "hq", "-vendor", "apl0"),
        even=True,
    ),
    "gif": ClipFormat(
        "a short loop",
        ".gif",
        # A palette per picture: a common one would need all of them in memory.
        (
            "-filter_complex",
            "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=bayer:bayer_scale=3",
            *("-c:v", "gif", "-loop", "0"),
        ),
        fastest=50,  # players slow down faster ones
    ),
    "webp": ClipFormat(
        "a short loop, smaller than a GIF",
        ".webp",
        ("-pix_fmt", "yuv420p", "-c:v", "libwebp_anim", "-quality", "85", "-loop", "0"),
    ),
}
PICTURES = ClipFormat("numbered pictures in a folder", "", ("-c:v", "png", "-pred", "mixed"))


class Encoder:
    """A running ffmpeg that writes a clip. If it fails, a `UserError` says why, and the partial file stays.

    Pictures have frame numbers. A missing frame repeats the one before.
    """

    def __init__(
        self, path: Path, width: int, height: int, fps: int, options: Sequence[str], *, called: Path | None = None
    ) -> None:
        """`called` is the name of the file in errors, by default its path."""
        self._size = width, height
        self._fps = fps
        self._begun = False
        self._before: tuple[int, Pixels] | None = None
        self._last: tuple[int, Pixels] | None = None  # waits for the next
        # Pictures are complete: no probing and no buffering.
        source = ["-probesize", "32", "-analyzeduration", "0", "-fpsprobesize", "0", "-f", "matroska", "-i", "-"]
        timed = ["-an", "-fps_mode", "cfr", "-r", str(fps), "-threads", str(ENCODER_THREADS)]
        self._ffmpeg = _Ffmpeg([*source, *timed, *options, *REPRODUCIBLE, str(path)], called or path)

    def write(self, number: int, pixels: Pixels) -> None:
        """Take a picture with a greater number than the last."""
        assert pixels.shape[1::-1] == self._size
        if self._last is not None:
            self._put(*self._last)
        self._before, self._last = self._last, (number, pixels)

    def _put(self, number: int, pixels: Pixels) -> None:
        if not self._begun:
            self._ffmpeg.write(_matroska_head(*self._size, pixels.shape[2], self._fps))
            self._begun = True
        self._ffmpeg.write(_matroska_block_head(number, pixels.nbytes))
        self._ffmpeg.write(np.ascontiguousarray(pixels).data)

    def finish(self) -> None:
        """Wait until all is written."""
        if self._last is not None:
            number = self._last[0]
            # ffmpeg shows the last picture as long as the one before; it shall be one frame.
            if self._before is not None and self._before[0] < number - 1:
                self._put(number - 1, self._before[1])
            self._put(*self._last)
        self._ffmpeg.finish()

    def yield_cores(self) -> None:
        """Lower the priority of ffmpeg."""
        self._ffmpeg.yield_cores()

    def kill(self) -> None:
        self._ffmpeg.kill()


def convert(capture: Path, path: Path, fps: int, options: Sequence[str], *, called: Path | None = None) -> None:
    """Convert a clip to another file; `called` as for `Encoder`."""
    ffmpeg = _Ffmpeg(["-i", str(capture), "-an", "-r", str(fps), *options, *REPRODUCIBLE, str(path)], called or path)
    try:
        ffmpeg.yield_cores()
        ffmpeg.finish()
    finally:
        ffmpeg.kill()


class _Ffmpeg:
    """The ffmpeg process, and its error output."""

    def __init__(self, options: Sequence[str], path: Path) -> None:
        self._path = path
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (`kill` closes it)
        try:
            # In its own session: Ctrl+C and a terminal that closes must not end it before the clip is whole.
            self._process = subprocess.Popen(
                [ffmpeg_program(), "-y", "-v", "error", *options],
                stdin=subprocess.PIPE,
                stderr=self._complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"ffmpeg cannot be started ({error.strerror or error}), which makes {path}") from error
        assert self._process.stdin is not None
        self._stdin = self._process.stdin

    def write(self, content: bytes | memoryview) -> None:
        try:
            self._stdin.write(content)
        except OSError as error:  # it ended early
            self._process.wait()
            raise self._failure() from error

    def finish(self) -> None:
        with contextlib.suppress(OSError):  # the exit status tells more
            self._stdin.close()
        if self._process.wait() != 0:
            raise self._failure()

    def yield_cores(self) -> None:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, 10)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._stdin.close()
        self._complaints.close()

    def _failure(self) -> UserError:
        status = self._process.returncode
        if reason := REASONS.get(256 - status):  # the status is the negative error number
            return UserError(f"cannot write {self._path}: {reason}")
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return UserError(f"{self._path}: ffmpeg failed: {lines[-1] if lines else f'exit status {status}'}")


def ffmpeg_program() -> str:
    """The executable of ffmpeg. Raises `UserError` if there is none."""
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise UserError(
            "there is no ffmpeg, which makes the clip; install it, or set IMAGEIO_FFMPEG_EXE to where it is"
        ) from error


# Matroska (RFC 9559), a plain container with timestamps: one track of raw pictures, whose clock ticks once per frame.


def _element(name: int, content: bytes) -> bytes:
    return _head(name, len(content)) + content


def _head(name: int, size: int) -> bytes:
    return name.to_bytes((name.bit_length() + 7) // 8, "big") + (size | 1 << 56).to_bytes(8, "big")


def _number(name: int, value: int) -> bytes:
    return _element(name, value.to_bytes(8, "big"))


_ENDLESS = (1 << 56) - 1  # a size that is not known yet


def _matroska_head(width: int, height: int, channels: int, fps: int) -> bytes:
    colours = b"RGB\x18" if channels == 3 else b"RGBA"
    video = _element(0xE0, _number(0xB0, width) + _number(0xBA, height) + _element(0x2EB524, colours))
    tick = round(1e9 / fps)  # nanoseconds
    track = _number(0xD7, 1) + _number(0x73C5, 1) + _number(0x83, 1) + _number(0x23E383, tick)
    track += _element(0x86, b"V_UNCOMPRESSED") + video
    info = _element(0x1549A966, _number(0x2AD7B1, tick))
    tracks = _element(0x1654AE6B, _element(0xAE, track))
    head = _element(0x1A45DFA3, _element(0x4282, b"matroska"))
    return head + _head(0x18538067, _ENDLESS) + info + tracks


def _matroska_block_head(number: int, size: int) -> bytes:
    """The header of a picture of `size` bytes: a cluster of its own."""
    cluster = _number(0xE7, number) + _head(0xA3, size + 4) + b"\x81" + struct.pack(">hB", 0, 0x80)
    return _head(0x1F43B675, len(cluster) + size) + cluster
