"""Recording the real window: length, size and rate of what F9 leaves."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.gui.program import PATIENCE, SCENE_MIDDLE, Program

FPS = 20
TARDINESS = 0.7  # seconds in which the program takes a key, at most


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    words = ["--set", "view.quality=low", "--set", f"recording.frames_per_second={FPS}"]
    running = Program(tmp_path, "noise", "--size", "64", *words)
    yield running
    running.end()


def frames(path: Path) -> tuple[dict[str, object], NDArray[np.int16]]:
    """What a clip says of itself, and its frames [frame, row, column, colour]."""
    reader = imageio_ffmpeg.read_frames(str(path))
    about = next(reader)
    width, height = about["size"]
    seen = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    return about, np.array(seen).astype(np.int16)


def clips(folder: Path) -> list[Path]:
    return list(folder.glob("thalweg-noise-*.mp4"))


def clip(folder: Path) -> Path:
    (path,) = clips(folder)
    return path


def record(program: Program, folder: Path, key: str, meanwhile: Callable[[], None]) -> tuple[Path, float, float]:
    """Record while something is done. Returns the clip, and how short and how long it may be, in seconds.

    It begins after the key is pressed and before its file is there, and ends soon after the next key.
    """
    program.move(*SCENE_MIDDLE)
    pressed = time.monotonic()
    program.key(key)
    program.wait_for(lambda: bool(clips(folder)), "the file")
    begun = time.monotonic()
    meanwhile()
    shortest = time.monotonic() - begun - 1.0 / FPS
    program.key("F9")
    longest = time.monotonic() - pressed + TARDINESS
    program.wait_for(lambda: b"moof" not in clip(folder).read_bytes(), "the index")
    return clip(folder), shortest, longest


def test_f9_records_the_scene_at_its_true_speed_also_in_another_size(program: Program, tmp_path: Path) -> None:
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    width, height = program.size

    def resize() -> None:
        time.sleep(2.0)
        program.xdotool("windowsize", program.window, "700", "700")
        program.wait_for(lambda: program.size == (700, 700), "the new size")
        cycle = program.cycle
        program.wait_for(lambda: program.cycle > cycle + 5, "pictures of the new size")
        time.sleep(2.0)

    path, shortest, longest = record(program, tmp_path, "F9", resize)
    about, seen = frames(path)
    assert about["codec"] == "h264" and about["fps"] == FPS
    size = about["size"]
    assert isinstance(size, tuple) and size[0] == width // 2 * 2
    assert height - 120 < size[1] < height and size[1] % 2 == 0  # without status line and time line
    assert shortest < len(seen) / FPS < longest
    assert seen[5].std() > 5.0
    changes = np.abs(np.diff(seen[: 2 * FPS], axis=0)).max(axis=(1, 2, 3))
    assert (changes > 8).any(), "nothing moves"
    # The narrower window stands in the middle, whole, with bars at its sides.
    assert seen[-1][:, : size[0] // 8].max() < 24 and seen[-1][:, -size[0] // 8 :].max() < 24
    assert seen[-1][:, size[0] // 3 : -size[0] // 3].std() > 5.0


def test_shift_f9_records_the_panel_too(program: Program, tmp_path: Path) -> None:
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    path, shortest, longest = record(program, tmp_path, "shift+F9", lambda: time.sleep(2.0))
    about, seen = frames(path)
    assert about["size"] == tuple(side // 2 * 2 for side in program.size)
    assert shortest < len(seen) / FPS < longest
    shown = program.picture()[: program.size[1], : program.size[0]]
    panel = (slice(0, 90), slice(-200, -20))  # its buttons, which do not change
    assert np.abs(seen[-1][panel] - shown[: seen.shape[1], : seen.shape[2]][panel]).mean() < 12.0
    assert seen[-1][panel].std() > 5.0


def test_what_was_recorded_before_a_kill_is_left_and_can_be_played(program: Program, tmp_path: Path) -> None:
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    program.move(*SCENE_MIDDLE)
    program.key("F9")
    # Each second is whole on the disk soon after it, and the next begins, while the recording goes on.
    program.wait_for(lambda: sum(path.read_bytes().count(b"moof") for path in clips(tmp_path)) > 2, "three seconds")
    tasks = Path(f"/proc/{program.process.pid}/task")
    children = [child for task in tasks.iterdir() for child in (task / "children").read_text().split()]
    for child in children:
        if "ffmpeg" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(int(child), signal.SIGKILL)
    program.process.send_signal(signal.SIGKILL)
    program.process.wait()
    _, seen = frames(clip(tmp_path))
    assert len(seen) >= 2 * FPS
    assert seen[-1].std() > 5.0


def test_closing_the_window_finishes_the_clip(program: Program, tmp_path: Path) -> None:
    program.wait_for(lambda: program.cycle > 3, "the simulation")
    program.move(*SCENE_MIDDLE)
    program.key("F9")
    program.wait_for(lambda: bool(clips(tmp_path)), "the file")
    time.sleep(1.0)
    program.key("ctrl+q")
    assert program.process.wait(timeout=PATIENCE) == 0
    assert b"moof" not in clip(tmp_path).read_bytes()
    assert len(frames(clip(tmp_path))[1]) >= FPS
    assert not re.search("Traceback|error", program.log.read_text())
