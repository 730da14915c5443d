"""Recordings by the clock: length, rate and size of the clip, what is left after a kill, and what cannot be written."""

from __future__ import annotations

import itertools
import os
import sys
import time
import typing
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import psutil
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.files.encoder import CLIPS, PICTURES, ClipFormat, Encoder
from app.files.live_recorder import UNFINISHED, LiveRecorder
from app.model.errors import UserError
from app.model.recording_parameters import Format
from tests.waiting import running, wait_for

pytestmark = pytest.mark.slow  # pictures are drawn

SIZE = WIDTH, HEIGHT = 64, 48
FPS = 20
ALL = {**CLIPS, "png": PICTURES}


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Said:
    """What a recorder tells."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.complaints: list[str] = []


def hurried() -> float:
    """A time that goes by four times as fast: nobody waits for seconds that pass."""
    return 4.0 * time.monotonic()


def recorder(path: Path, clip: ClipFormat, clock: Callable[[], float], said: Said, fps: int = FPS) -> LiveRecorder:
    return LiveRecorder(path, *SIZE, fps, clip, say=said.said.append, complain=said.complaints.append, clock=clock)


def grey(level: int) -> NDArray[np.uint8]:
    return np.full((HEIGHT, WIDTH, 4), level, np.uint8)


def levels(path: Path) -> list[int]:
    """How bright each frame of a clip is."""
    frames = imageio_ffmpeg.read_frames(str(path))
    about = next(frames)
    assert about["size"] == SIZE
    return [round(float(np.frombuffer(frame, np.uint8).mean())) for frame in frames]


def test_the_choice_in_the_panel_is_the_table_of_formats() -> None:
    assert set(typing.get_args(Format)) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_clip_plays_as_fast_as_what_was_seen(name: str, tmp_path: Path) -> None:
    """Pictures come at odd times, with gaps; each is seen from when it came until the next."""
    clip, clock, said = ALL[name], Clock(), Said()
    path = tmp_path / f"clip{clip.suffix}"
    record = recorder(path, clip, clock, said)
    shown = {0.0: 40, 0.05: 80, 0.31: 120, 0.36: 160, 1.0: 200}
    for seconds, level in shown.items():
        clock.now = 100.0 + seconds + 0.001
        assert record.is_due
        record.take(grey(level))
        assert not record.is_due
        wait_for(record._pictures.empty, "the encoder to take it")
    clock.now = 101.501
    record.stop()
    record.wait()
    assert not said.complaints and said.said == [f"saved {path}: 0:01"]
    expected = [
        level for at in range(31) for level in [[l for s, l in shown.items() if int(s * FPS + 0.001) <= at][-1]]
    ]
    if name == "png":
        frames = sorted(path.iterdir())
        assert [frame.name for frame in frames] == [f"frame_{number:05d}.png" for number in range(1, 32)]
        seen = [round(float(np.asarray(Image.open(frame)).mean())) for frame in frames]
    elif name in ("gif", "webp"):
        seen = []
        with Image.open(path) as image:
            assert image.size == SIZE and image.info.get("loop") == 0
            for number in range(image.n_frames):  # type: ignore[attr-defined]
                image.seek(number)
                level = round(float(np.asarray(image.convert("RGB")).mean()))
                seen += [level] * round(image.info["duration"] * FPS / 1000)
    else:
        seen = levels(path)
        assert imageio_ffmpeg.count_frames_and_secs(str(path)) == (31, pytest.approx(31 / FPS, abs=0.01))
    assert len(seen) == 31
    assert np.abs(np.array(seen) - expected).max() <= 3
    assert list(tmp_path.iterdir()) == [path]


def test_a_finished_clip_has_its_index_in_front(tmp_path: Path) -> None:
    clock, said = Clock(), Said()
    record = recorder(tmp_path / "clip.mp4", CLIPS["mp4"], clock, said)
    record.take(grey(90))
    record.stop()
    record.wait()
    content = (tmp_path / "clip.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat") and b"moof" not in content


def test_nobody_waits_for_the_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has no room for is dropped and counted, and seen in the gap is the picture before."""
    works, held = Encoder.write, [True]

    def write(self: Encoder, number: int, pixels: NDArray[np.uint8]) -> None:
        wait_for(lambda: not held[0], "the end of the wait")
        works(self, number, pixels)

    monkeypatch.setattr(Encoder, "write", write)
    clock, said = Clock(), Said()
    record = recorder(tmp_path / "clip.mp4", CLIPS["mp4"], clock, said)
    for number in range(12):
        clock.now = 100.001 + number / FPS
        record.take(grey(20 * number))
        if number == 0:
            wait_for(record._pictures.empty, "the encoder to take it")  # the encoder has the first
    assert record.dropped == 12 - 1 - 4
    held[0] = False
    record.stop()
    record.wait()
    assert said.said == [f"saved {tmp_path / 'clip.mp4'}: 0:00, 7 pictures dropped"]
    assert np.abs(np.array(levels(tmp_path / "clip.mp4")) - [0, 20, 40, 60, *([80] * 8)]).max() <= 3


def test_a_still_picture_is_recorded_while_it_stands(tmp_path: Path) -> None:
    """What lies there after a crash has the time in which nothing moved, too."""
    path = tmp_path / "clip.mp4"
    record = recorder(path, CLIPS["mp4"], hurried, Said())
    record.take(grey(90))
    wait_for(lambda: path.exists() and path.stat().st_size > 0 and len(playable(path)) >= 2 * FPS, "two seconds")
    record.stop()
    record.wait()


def playable(path: Path) -> list[int]:
    try:
        return levels(path)
    except (OSError, RuntimeError, StopIteration):
        return []


KILLED = """
import sys
from pathlib import Path
import numpy as np
from app.files.encoder import CLIPS
from app.files.live_recorder import LiveRecorder
from tests.app.test_live_recorder import hurried
from tests.waiting import wait_for

path, name = Path(sys.argv[1]), sys.argv[2]
recorder = LiveRecorder(path, 64, 48, 20, CLIPS[name], say=print, complain=print, clock=hurried)
while wait_for(lambda: recorder.is_due, "the next picture"):
    recorder.take(np.random.default_rng(0).integers(0, 256, (48, 64, 4), np.uint8))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
@pytest.mark.parametrize("name", ["mp4", pytest.param("gif", marks=pytest.mark.nightly)])
def test_what_was_recorded_before_a_kill_can_be_played(name: str, tmp_path: Path) -> None:
    """Where encoder and program go at once, as when the power fails; and it is left alone by the next recording."""
    path = tmp_path / f"clip.{name}"
    capture = path if name == "mp4" else tmp_path / f"clip{UNFINISHED}"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with running([sys.executable, "-c", KILLED, str(path), name], env=environment) as program:
        wait_for(lambda: capture.exists() and len(playable(capture)) >= 3 * FPS, "three seconds of it", between=0.1)
        encoders = psutil.Process(program.pid).children()
        assert encoders
        for encoder in encoders:
            encoder.kill()
        program.kill()
    before = levels(capture)
    assert len(before) >= 3 * FPS
    clock, said = Clock(), Said()
    record = recorder(tmp_path / "next.mp4", CLIPS["mp4"], clock, said)
    record.take(grey(90))
    record.stop()
    record.wait()
    assert levels(capture) == before


ON_A_FULL_DISK = """#!/bin/sh
for last; do :; done
head -c 40000 > "$last"
exit 228
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ffmpeg is a shell script")
@pytest.mark.parametrize("name", ["mp4", "webp"])
def test_a_full_disk_is_one_clear_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in for ffmpeg, which ends as that does: with the number of the system's error, below 0."""
    (tmp_path / "older.mp4").write_bytes(b"older")
    program = tmp_path / "ffmpeg"
    program.write_text(ON_A_FULL_DISK)
    program.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    clock, said = Clock(), Said()
    record = recorder(tmp_path / f"clip.{name}", CLIPS[name], clock, said)
    numbers = itertools.count()

    def fails() -> bool:
        number = next(numbers)
        clock.now = 100.001 + number / FPS
        if record.is_due:
            record.take(grey(number % 200))
        return not record.is_recording

    wait_for(fails, "the end of the disk")
    record.stop()
    record.wait()
    assert not said.said and not record.is_recording
    (line,) = said.complaints
    assert line == (
        f"cannot write {record.capture}: no space is left there; free some or choose another place"
        f"; what was recorded before is in {record.capture}"
    )
    assert (tmp_path / "older.mp4").read_bytes() == b"older"


def test_a_disk_that_is_full_at_the_end_leaves_what_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.faults import failing

    clock, said = Clock(), Said()
    record = recorder(tmp_path / "clip.mp4", CLIPS["mp4"], clock, said)
    record.take(grey(90))
    with failing("putting a file on the disk"):
        record.stop()
        record.wait()
    (line,) = said.complaints
    path = tmp_path / "clip.mp4"
    assert line.startswith(f"cannot write {path}: no space is left there")
    assert line.endswith(f"; what was recorded before is in {path}")
    assert len(levels(path)) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_where_nothing_can_be_written_it_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        recorder(tmp_path / "nowhere" / "clip.mp4", CLIPS["mp4"], Clock(), Said())
