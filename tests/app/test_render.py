"""Clips and pictures without a window."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from PIL import Image
from pyglm import glm

from app.cli import main as cli
from app.cli import render as render_module
from app.cli.filming import Stage
from app.engine.lockstep import Lockstep
from app.engine.simulator import SimulationError, Simulator
from app.files.recorder import open_recorder, write_png
from app.files.still import open_png
from app.model.errors import UserError
from app.picture.camera import Camera
from app.picture.passes.declaration import Shot
from app.picture.picture import Picture
from tests.waiting import PATIENCE, running, size_of, wait_for

pytestmark = pytest.mark.slow  # pictures are drawn

# Drops of the preset's cells: as many fall on each of these larger ones, 60 in all.
SMALL = ["noise", "--size", "40x32", "--set", "droplets.count=9830", "--width", "64", "--height", "36"]
SMALL += ["--set", "view.quality=low"]  # drawn in half the time


def render(*words: str | Path) -> None:
    assert cli.main(["render", *SMALL, *map(str, words)]) == 0


def picture(path: Path) -> NDArray[np.uint8]:
    return np.asarray(Image.open(path).convert("RGB"))


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with half a second of frames in all formats, drawn in one run."""
    folder = tmp_path_factory.mktemp("outputs")
    paths = [folder / name for name in ("clip.mp4", "clip.mov", "clip.gif", "clip.webp", "last.png", "frame_%04d.png")]
    render("--frames", "5", "--fps", "10", *(word for path in paths for word in ("--out", path)))
    return folder


def test_clip_last_picture_and_every_picture_in_one_run(outputs: Path) -> None:
    frames = sorted(outputs.glob("frame_*.png"))
    assert [path.name for path in frames] == [f"frame_{number:04d}.png" for number in range(5)]
    assert picture(frames[0]).shape == (36, 64, 3)
    assert picture(frames[0]).std() > 5.0
    assert (outputs / "last.png").read_bytes() == frames[-1].read_bytes()
    assert len({path.read_bytes() for path in frames}) == 5  # it goes on
    clips = {outputs / f"clip.{suffix}" for suffix in ("mp4", "mov", "gif", "webp")}
    assert set(outputs.iterdir()) == {*clips, outputs / "last.png", *frames}


def test_clip_plays_everywhere_and_while_it_loads(outputs: Path) -> None:
    content = (outputs / "clip.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    about = imageio_ffmpeg.read_frames(str(outputs / "clip.mp4")).__next__()
    assert about["codec"] == "h264"
    assert about["pix_fmt"].startswith("yuv420p")
    assert about["size"] == (64, 36)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(outputs / "clip.mp4"))
    assert (count, seconds) == (5, pytest.approx(0.5, abs=0.01))


@pytest.mark.parametrize("suffix", ["mov", "gif", "webp"])
def test_every_kind_of_clip(suffix: str, outputs: Path) -> None:
    path = outputs / f"clip.{suffix}"
    if suffix == "mov":
        about = next(imageio_ffmpeg.read_frames(str(path)))
        assert (about["codec"], about["fps"], about["size"]) == ("prores", 10.0, (64, 36))
        assert imageio_ffmpeg.count_frames_and_secs(str(path))[0] == 5
        return
    with Image.open(path) as image:
        assert image.size == (64, 36) and image.n_frames == 5  # type: ignore[attr-defined]
        lasted = 0
        for number in range(5):
            image.seek(number)
            image.load()
            lasted += image.info["duration"]
        assert lasted == 500


def test_same_bits_every_time(tmp_path: Path) -> None:
    for run, threads in (("a", "1"), ("b", "2")):
        render(
            "--frames", "4", "--threads", threads, "--out", tmp_path / f"{run}.mp4", "--out", tmp_path / f"{run}.png"
        )
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_cycles_between_frames(tmp_path: Path) -> None:
    """Frames of the same cycle at the same time are the same, however many lie between."""
    render("--frames", "3", "--cycles-per-frame", "2", "--fps", "5", "--out", tmp_path / "two_%d.png")
    render("--frames", "5", "--cycles-per-frame", "1", "--fps", "10", "--out", tmp_path / "one_%d.png")
    for two, one in ((0, 0), (1, 2), (2, 4)):
        assert (tmp_path / f"two_{two}.png").read_bytes() == (tmp_path / f"one_{one}.png").read_bytes()


def test_no_cycles_between_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.simulator.Simulator.advance", None)
    render("--frames", "3", "--cycles-per-frame", "0", "--out", tmp_path / "still.png")
    assert (tmp_path / "still.png").exists()


def test_time_in_the_picture_is_that_of_the_clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = []
    slices = Picture.slices

    def note_time(self: Picture, target: moderngl.Framebuffer, shot: Shot) -> Iterator[None]:
        times.append(shot.time)
        return slices(self, target, shot)

    monkeypatch.setattr(Picture, "slices", note_time)
    render("--frames", "3", "--fps", "4", "--out", tmp_path / "picture.png")
    assert times == [0.0, 0.25, 0.5]


@pytest.mark.parametrize(
    ("words", "is_told"), [(["--size", "40x32"], True), (["--size", "40"], False), (SMALL[1:], False)]
)
def test_the_size_of_the_map_is_not_taken_for_that_of_the_picture(
    words: list[str],
    is_told: bool,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.cli.render.render", lambda *_, **__: None)
    command = ["render", "noise", *words, "--frames", "1", "--out", str(tmp_path / "a.png")]
    assert cli.main(command) == 0
    told = "--size 40x32 is that of the map in cells; the picture has 1280×720 pixels (--width, --height)"
    assert (told in [record.getMessage() for record in caplog.records]) == is_told


def test_orbit_turns_the_camera(tmp_path: Path) -> None:
    still = ["--frames", "2", "--cycles-per-frame", "0", "--out"]
    render(*still, tmp_path / "still_%d.png", "--orbit", "0")
    render(*still, tmp_path / "turned_%d.png", "--orbit", "180")
    assert (tmp_path / "still_0.png").read_bytes() == (tmp_path / "turned_0.png").read_bytes()
    assert (tmp_path / "still_1.png").read_bytes() != (tmp_path / "turned_1.png").read_bytes()


def test_the_camera_stays_above_ground_that_rises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a dune comes to where it stands."""
    opening, frame = render_module.scene_camera, Stage.frame
    taken: list[float] = []

    def under_ground(*words: Any) -> Camera:
        camera = opening(*words)
        return replace(camera, target=camera.target - glm.vec3(0.0, 1e4, 0.0))

    def take(stage: Stage, camera: Camera, scenes: Any, time: float) -> Any:
        eye = camera.position
        taken.append(eye.y - stage.ground(scenes[0].view).limit(eye.x, eye.z))
        return frame(stage, camera, scenes, time)

    monkeypatch.setattr(render_module, "scene_camera", under_ground)
    monkeypatch.setattr(Stage, "frame", take)
    render("--frames", "1", "--orbit", "0", "--out", tmp_path / "clip.mp4")
    assert len(taken) == 1 and taken[0] > 0.0


LABEL_ROWS = 90  # more than the labels here have


def test_who_says_where_the_camera_is_gets_no_path(tmp_path: Path) -> None:
    path = ["--set", "view.camera_path=0: 90 30 1 0.5 0.5; 9: 180 30 1 0.5 0.5"]
    view = ["--set", "camera.heading=200"]
    preset = tmp_path / "preset.toml"
    preset.write_text('[view]\ncamera_path = "0: 90 30 1 0.5 0.5; 9: 180 30 1 0.5 0.5"\n')
    words = ["--width", "64", "--height", "40", "--frames", "1"]

    def picture(*more: str) -> bytes:
        out = tmp_path / "picture.png"
        assert cli.main(["render", str(preset), "--size", "24", *words, *more, "--out", str(out)]) == 0
        return out.read_bytes()

    followed = picture()
    assert picture("--orbit", "0") != followed
    assert picture(*view) not in (followed, picture("--orbit", "0"))
    assert picture(*view, *path) == followed


def test_two_worlds_side_by_side_each_as_it_is_alone(tmp_path: Path) -> None:
    """Also where one is a preset, and the clip goes on: the worlds are those of runs of their own.

    As much rain falls in both: streams are as wide as on the side with more.
    """
    preset = tmp_path / "calm.toml"
    preset.write_text(
        "[droplets]\ncount = 9830\nevaporation = 0.01\nriver_transport = 0.5\n"
        "[weathering]\nenabled = true\nfrost = 0.0\n[cascade]\nenabled = true\n"
    )
    still = ["--frames", "3", "--cycles-per-frame", "4", "--fps", "5", "--height", "180", "--orbit", "0", "--out"]
    render("--compare", preset, *still, tmp_path / "both.png", "--width", "256")
    render(*still, tmp_path / "one.png", "--width", "128")
    other = ("--set", "droplets.evaporation=0.01")
    render(*other, *still, tmp_path / "other.png", "--width", "128")
    both, one, other_one = (picture(tmp_path / f"{name}.png") for name in ("both", "one", "other"))
    assert both.shape == (180, 256, 3)
    assert not np.array_equal(one[LABEL_ROWS:], other_one[LABEL_ROWS:])
    for half, alone in ((both[:, :128], one), (both[:, 128:], other_one)):
        np.testing.assert_array_equal(half[LABEL_ROWS:, 2:], alone[LABEL_ROWS:, 2:])
        assert not np.array_equal(half[:LABEL_ROWS], alone[:LABEL_ROWS]), "the label"


def test_a_clip_of_two_worlds_has_the_same_bits_every_time(tmp_path: Path) -> None:
    for run, threads in (("a", "1"), ("b", "2")):
        words = ["--compare", "droplets.friction=0.3", "--frames", "3", "--threads", threads]
        render(*words, "--out", tmp_path / f"{run}.mp4")
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_colours_survive_the_clip(tmp_path: Path) -> None:
    """They are marked for what they are, so that a player shows the picture that was drawn."""
    colours = np.zeros((64, 96, 3), np.uint8)
    colours[:, :32], colours[:, 32:64], colours[:, 64:] = (200, 60, 40), (50, 160, 70), (40, 70, 190)
    with open_recorder(tmp_path / "clip.mp4", 96, 64, 10) as record:
        for _ in range(3):
            record(colours)
    frames = imageio_ffmpeg.read_frames(str(tmp_path / "clip.mp4"))
    next(frames)
    shown = np.frombuffer(next(frames), np.uint8).reshape(64, 96, 3).astype(int)
    for column in (16, 48, 80):
        assert np.abs(shown[32, column] - colours[32, column]).max() <= 6


def test_picture_is_written_as_it_is(tmp_path: Path) -> None:
    colours = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    write_png(tmp_path / "picture.png", colours)
    assert np.array_equal(picture(tmp_path / "picture.png"), colours)


def test_failure_half_way_leaves_the_old_files(tmp_path: Path) -> None:
    colours = np.zeros((16, 16, 3), np.uint8)
    for name in ("clip.mp4", "last.png"):
        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(KeyboardInterrupt), open_recorder(tmp_path / name, 16, 16, 30) as record:
            record(colours)
            raise KeyboardInterrupt
        assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip.mp4", "last.png"]


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("#!/bin/sh\nexit 3\n", "ffmpeg failed: exit status 3"),
        (
            "#!/bin/sh\ncat > /dev/null\necho first >&2\necho 'no such codec' >&2\nexit 1\n",
            "ffmpeg failed: no such codec",
        ),
        (None, "ffmpeg cannot be started (No such file or directory)"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ffmpeg is a shell script")
def test_encoder_that_fails(encoder: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    if encoder:
        program.write_text(encoder)
        program.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    (tmp_path / "clip.mp4").write_bytes(b"old")
    with (
        pytest.raises(UserError) as raised,
        open_recorder(tmp_path / "clip.mp4", 640, 360, 30) as record,
    ):
        for _ in range(3):
            record(np.zeros((360, 640, 3), np.uint8))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert (tmp_path / "clip.mp4").read_bytes() == b"old"


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C is not a signal")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(n, marks=pytest.mark.nightly) for n in (signal.SIGTERM, signal.SIGHUP))]
)
def test_a_signal_leaves_a_clip_of_the_frames_so_far(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app", "render", *SMALL, "--frames", "100000", "--out", str(tmp_path / "clip.mp4")]
    command += ["--out", str(tmp_path / "last.png")]
    with running(command, process_group=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:

        def grows() -> bool:
            assert process.poll() is None, process.communicate()
            return any(map(size_of, tmp_path.iterdir()))

        wait_for(grows, "a clip that grows")
        os.killpg(process.pid, number)  # as a terminal does, to all that the program has started
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    told = re.fullmatch(
        r"thalweg render: stopped; .*clip\.mp4, .*: (\d+) of 100000 frames are complete", error.split("\n")[-2]
    )
    assert told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip.mp4", "last.png"]
    assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "clip.mp4"))[0] == int(told[1]) > 0


def test_a_cycle_that_fails_leaves_a_clip_of_the_frames_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    advance = Simulator.advance

    def fail_in_cycle_6(self: Simulator) -> None:
        advance(self)
        if self.world.cycle == 6:
            raise SimulationError("no rain")

    monkeypatch.setattr(Lockstep, "advance", lambda self: fail_in_cycle_6(self.simulators[0]))
    words = ["--frames", "9", "--cycles-per-frame", "2", "--out", str(tmp_path / "clip.mp4")]
    assert cli.main(["render", *SMALL, *words]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("no rain; " + f"{words[-1]}: 3 of 9 frames are complete")
    assert imageio_ffmpeg.count_frames_and_secs(words[-1])[0] == 3


def test_a_still_in_tiles_is_the_picture_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its PNG, written band by band, can be read by others. tests.passes.test_crops looks at each level."""
    words = ["--frames", "2", "--width", "240", "--height", "180", "--minimap", "--compare", "droplets.friction=0.3"]
    render(*words, "--out", tmp_path / "whole.png")
    monkeypatch.setattr("app.cli.headless.LARGEST_TILE", 160)
    render(*words, "--out", tmp_path / "tiles.png", "--out", tmp_path / "clip.mp4")
    tiles, whole = (picture(tmp_path / f"{name}.png").astype(int) for name in ("tiles", "whole"))
    assert tiles.shape == whole.shape == (180, 240, 3)
    assert (np.abs(tiles - whole).max(axis=2) > 2).mean() < 0.001
    assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "clip.mp4"))[0] == 2


@given(
    arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=40).map(lambda shape: (*shape, 3))),
    st.lists(st.integers(0, 40)),
)
def test_a_png_of_bands_is_the_picture(pixels: NDArray[np.uint8], cuts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bands.png"
        with open_png(path, pixels.shape[1], pixels.shape[0]) as take:
            for band in np.split(pixels, sorted(cut for cut in cuts if cut < len(pixels))):
                if len(band):
                    take(band)
        assert np.array_equal(picture(path), pixels)
