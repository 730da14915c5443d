"""Films of runs that were steered: evenly, with the camera of the person, and without the pauses."""

from __future__ import annotations

from pathlib import Path

import imagecodecs
import msgspec
import numpy as np
import pytest

from app.cli.film import LONGEST_PAUSE, Playback, _reduced
from app.cli.main import main
from app.engine.messages import Edited, Look, Save, Saved
from app.engine.publishing import take_snapshot
from app.files.journal import Journal
from app.files.opening import read_journal
from app.model.errors import UserError
from app.model.view_parameters import CameraParameters, ViewParameters
from app.model.world import World
from app.picture.ground import Ground
from app.scene.edits import Blur, Change, Edit, Looked, Open
from tests.app.hands import Hands
from tests.app.small import small_scene

pytestmark = pytest.mark.slow  # pictures are drawn

NORTH, EAST = CameraParameters(heading=0.0), CameraParameters(heading=90.0)
DAY, EVENING = (ViewParameters(sun_height=height, quality="low") for height in (40.0, 8.0))
LOOKS = (
    Looked(0, 0.0, DAY, NORTH),
    Looked(100, 10.0, DAY, EAST),
    Looked(100, 500.0, EVENING, EAST),  # after a long pause
    Looked(200, 510.0, EVENING, NORTH),
)
JOURNAL = Journal((Edit(0, Open((small_scene(),))),), 200, LOOKS)
GROUND = Ground(take_snapshot(World(np.zeros((32, 40)), np.zeros((32, 40)), 20.0, 1)), 1.0)


def test_pauses_are_short_and_cycles_go_on_evenly() -> None:
    playback = Playback(JOURNAL)
    assert playback.seconds == pytest.approx(20.0 + LONGEST_PAUSE)
    cycles = [playback.cycle(second) for second in np.linspace(0.0, playback.seconds, 600)]
    assert cycles == sorted(cycles) and cycles[0] == 0 and cycles[-1] == 200
    assert max(np.diff(cycles)) <= 2
    assert {playback.cycle(second) for second in np.linspace(10.0, 10.0 + LONGEST_PAUSE, 20)} == {100}


def test_it_is_as_long_as_one_wants() -> None:
    playback = Playback(JOURNAL, seconds=60.0)
    assert playback.seconds == pytest.approx(60.0)
    assert playback.cycle(60.0) == 200


def test_the_camera_is_where_it_was_and_the_light_as_it_was() -> None:
    playback = Playback(JOURNAL)
    assert playback.view(0.0) == playback.view(10.0) == DAY
    assert playback.view(10.0 + LONGEST_PAUSE) == playback.view(99.0) == EVENING
    for second, heading in ((0.0, 0.0), (9.0, 0.0), (10.0, 90.0), (11.0, 90.0), (22.0, 0.0)):
        found = playback.camera(second, GROUND, 1.2).heading
        assert (found - heading + 180.0) % 360.0 - 180.0 == pytest.approx(0.0, abs=2.0)


def test_a_run_goes_on_after_the_last_look() -> None:
    playback = Playback(msgspec.structs.replace(JOURNAL, cycle=400))
    assert playback.cycle(playback.seconds) == 400
    with pytest.raises(UserError, match="how the land was seen"):
        Playback(msgspec.structs.replace(JOURNAL, looks=()))


def test_a_square_of_pixels_becomes_its_light() -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[::2, ::2] = 200
    assert _reduced(pixels, 2).shape == (2, 3, 3)
    assert (_reduced(pixels, 2) == 100).all()
    assert _reduced(pixels, 1) is pixels


def test_a_steered_run_becomes_a_film(hands: Hands, tmp_path: Path) -> None:
    hands.thread.ask(Look(DAY, NORTH))
    hands.step(6)
    hands.thread.ask(Change({"droplets.count": 200}))
    hands.step(6)
    hands.thread.ask(Look(EVENING, EAST))
    hands.ask(Blur(), Edited)
    hands.step(6)
    path = tmp_path / "world.npz"
    hands.thread.ask(Save(path))
    hands.wait(lambda: Saved(path) in hands.reports)
    journal = read_journal(path)
    assert [(look.cycle, look.view, look.camera) for look in journal.looks] == [(0, DAY, NORTH), (12, EVENING, EAST)]
    assert main(["replay", str(path), "--out", str(tmp_path / "story.toml")]) == 0
    assert read_journal(tmp_path / "story.toml") == journal

    size = ["--width", "96", "--height", "64", "--fps", "1", "--seconds", "2"]
    for source in ([str(path), "--recorded"], [str(tmp_path / "story.toml")]):
        out = tmp_path / "frame_%02d.png"
        assert main(["render", *source, *size, "--out", str(out)]) == 0
        frames = sorted(tmp_path.glob("frame_*.png"))
        assert len(frames) == 2
        pictures = [imagecodecs.png_decode(frame.read_bytes()).astype(float) for frame in frames]
        assert pictures[0].shape == (64, 96, 3)
        assert np.abs(pictures[0] - pictures[-1]).mean() > 5.0  # another light, from another side
        for frame in frames:
            frame.unlink()
    assert main(["render", str(path), "--recorded", *size, "--supersample", "2", "--out", str(tmp_path / "f.mp4")]) == 0
    assert (tmp_path / "f.mp4").stat().st_size > 1000
