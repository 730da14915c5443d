"""Recording the real window: length, size and rate of what F9 leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from tests.gui.program import DRY_LAND, Kept, Program, own_screen

FPS = 20


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with own_screen() as display:
        at_rate = ["--set", f"recording.frames_per_second={FPS}"]
        one = Kept(tmp_path_factory.mktemp("programs"), display, *DRY_LAND, *at_rate)
        yield one
        one.end()


@pytest.fixture
def program(kept: Kept) -> Program:
    """While cycles run, with nothing recorded before."""
    running = kept.program()
    for path in clips(running):
        path.unlink()
    running.wait_for(lambda: running.state == "running" and running.cycle > 3, "the simulation")
    return running


def frames(path: Path) -> tuple[dict[str, object], NDArray[np.int16]]:
    """What a clip says of itself, and its frames [frame, row, column, colour]."""
    reader = imageio_ffmpeg.read_frames(str(path))
    about = next(reader)
    width, height = about["size"]
    seen = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    return about, np.array(seen).astype(np.int16)


def clips(program: Program) -> list[Path]:
    return list(program.folder.glob("thalweg-noise-*.mp4"))


def clip(program: Program) -> Path:
    (path,) = clips(program)
    return path


def boxes(path: Path) -> list[str]:
    """The names of the boxes that a clip consists of so far, those that are whole."""
    content, names, place = path.read_bytes(), [], 0
    while place + 8 <= len(content) and place + (size := int.from_bytes(content[place : place + 4])) <= len(content):
        assert size >= 8, "a box without an end"
        names.append(content[place + 4 : place + 8].decode())
        place += size
    return names


def wait_for_seconds(program: Program, count: int) -> None:
    """Until so many more seconds of the recording are whole on the disk: each is a fragment, a moof with its mdat."""
    program.wait_for(lambda: bool(clips(program)), "the file")
    wanted = boxes(clip(program)).count("mdat") + count
    program.wait_for(lambda: boxes(clip(program)).count("mdat") >= wanted, "seconds of the clip")


def record(program: Program, key: str, meanwhile: Callable[[], None]) -> tuple[Path, float, float]:
    """Record while something is done. Returns the clip, and how short and how long it may be, in seconds.

    It begins after the key is pressed and before its file is there. It ends after the next press, and before that has
    been heard.
    """
    pressed = time.monotonic()
    program.key(key)
    program.wait_for(lambda: bool(clips(program)), "the file")
    begun = time.monotonic()
    meanwhile()
    shortest = time.monotonic() - begun
    program.key("F9")
    longest = time.monotonic() - pressed + 1.0 / FPS
    program.wait_for(lambda: is_finished(clip(program)), "the index")
    return clip(program), shortest, longest


def is_finished(path: Path) -> bool:
    """Whether a clip is in one piece, with its index in front."""
    names = boxes(path)
    return "moof" not in names and "mdat" in names and "moov" in names[: names.index("mdat")]


def test_f9_records_the_scene_at_its_true_speed_also_in_another_size(program: Program) -> None:
    width, height = program.size

    def resize() -> None:
        wait_for_seconds(program, 1)
        first, cycle = program.note["recorded"], program.note["cycle"]  # beside other work it may be the first of all
        program.wait_for(
            lambda: program.note["cycle"] > cycle + 1 and program.note["recorded"] > first + 1, "a later picture"
        )
        program.resize(500, 600)
        drawn = program.note["pictures"] + 1  # one more may have the size before
        program.wait_for(lambda: program.note["recorded"] > drawn, "a picture of the new size")

    path, shortest, longest = record(program, "F9", resize)
    about, seen = frames(path)
    assert about["codec"] == "h264" and about["fps"] == FPS
    size = about["size"]
    assert isinstance(size, tuple) and size[0] == width // 2 * 2
    assert height - 120 < size[1] < height and size[1] % 2 == 0  # without status line and time line
    assert shortest <= len(seen) / FPS <= longest
    assert seen[5].std() > 5.0
    # The narrower window stands in the middle, whole, with bars at its sides.
    has_bars = np.maximum(seen[:, :, : size[0] // 8].max((1, 2, 3)), seen[:, :, -size[0] // 8 :].max((1, 2, 3))) < 24
    assert has_bars[-1] and not has_bars[0]
    assert (np.abs(np.diff(seen[~has_bars], axis=0)).max(axis=(1, 2, 3)) > 8).any(), "nothing moves"
    assert seen[-1][:, size[0] // 3 : -size[0] // 3].std() > 5.0


def test_shift_f9_records_the_panel_too(program: Program) -> None:
    path, shortest, longest = record(program, "shift+F9", lambda: wait_for_seconds(program, 1))
    about, seen = frames(path)
    assert about["size"] == tuple(side // 2 * 2 for side in program.size)
    assert shortest <= len(seen) / FPS <= longest
    shown = program.picture()[: program.size[1], : program.size[0]]
    panel = (slice(0, 90), slice(-200, -20))  # its buttons, which do not change
    assert np.abs(seen[-1][panel] - shown[: seen.shape[1], : seen.shape[2]][panel]).mean() < 12.0
    assert seen[-1][panel].std() > 5.0


def test_a_clip_of_the_scene_has_no_minimap_which_comes_back_after_it(program: Program) -> None:
    minimap = (slice(-110, -70), slice(70, 130))  # of the window: over status line and time line
    drawn = program.note["pictures"] + 1  # one more may be without it, as it was begun before the last clip had ended
    program.wait_for(lambda: program.note["pictures"] > drawn, "a picture after the last clip")
    program.frames(1)
    with_it = program.picture()[: program.size[1]][minimap]
    program.key("F9")
    wait_for_seconds(program, 1)
    without = program.picture()[: program.size[1]][minimap]
    path = clip(program)
    program.key("F9")
    program.wait_for(lambda: is_finished(path), "the clip")
    assert np.abs(without - with_it).mean() > 8.0


# What ends the program; the next test starts another.


def test_closing_the_window_finishes_the_clip(program: Program) -> None:
    program.key("F9")
    wait_for_seconds(program, 1)
    program.xdotool("key", "ctrl+q")
    program.ends_well()
    assert is_finished(clip(program))
    assert len(frames(clip(program))[1]) >= FPS


@pytest.mark.nightly  # the check kills a recorder alone, in tests.app.test_live_recorder
def test_what_was_recorded_before_a_kill_is_left_and_can_be_played(program: Program) -> None:
    program.key("F9")
    wait_for_seconds(program, 2)  # each is whole soon after it, while the recording goes on
    for child in psutil.Process(program.process.pid).children():
        if "ffmpeg" in child.name():
            child.kill()
    program.kill()
    _, seen = frames(clip(program))
    assert len(seen) >= 2 * FPS
    assert seen[-1].std() > 5.0
