"""The tour of the presets."""

from __future__ import annotations

import itertools
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
from pyglm import glm

from app.cli.demo import render_tour
from app.cli.main import main
from app.engine.creation import create_world
from app.engine.lockstep import Lockstep
from app.engine.publishing import take_snapshot
from app.engine.simulator import SimulationError
from app.model.camera_path import read_camera_path
from app.model.errors import UserError
from app.picture.camera import Camera
from app.picture.camera_path import LEAST_CLEARANCE, CameraPath
from app.picture.ground import Ground
from app.scene.captions import caption_lines
from app.scene.scene import load_preset, presets
from app.scene.tour import last_cycle, stops
from tests.app.few_presets import tried_presets
from tests.app.small import small_scene
from tests.nets.profile import is_nightly

pytestmark = pytest.mark.slow  # pictures are drawn


def test_each_preset_but_the_articles_is_a_stop_with_its_name_and_a_path() -> None:
    tour = stops()
    assert [scene.name for scene in tour] == [name for name in presets() if not name.startswith("article-")]
    for scene in tour:
        assert len(read_camera_path(scene.view.camera_path)) > 1
        assert last_cycle(scene) > 50
        name, description = caption_lines(scene, 0)
        assert (name, description) == (scene.name, scene.description)


# How far off the land in the middle of the picture is at least, in parts of the way to what is looked at
NEAREST = 0.6
NEAREST_OF = {"badlands": 0.3}  # which is looked at over one of its ridges
ON_THE_WAY = 0.85  # of what it is at the keys, which are composed: between them no hill comes before the camera


def test_the_camera_of_each_preset_sees_its_land_from_above_the_ground(subtests: pytest.Subtests) -> None:
    for name in tried_presets():
        with subtests.test(name=name):
            world, scene = create_world(load_preset(name))
            ground = Ground(take_snapshot(world), scene.view.exaggeration)

            def way_to_land(camera: Camera, ground: Ground = ground) -> float:
                hit = ground.hit(camera.position, camera.direction)
                assert hit is not None, "the sky is in the middle of the picture"
                return float(glm.distance(camera.position, hit)) / camera.distance

            keys = read_camera_path(scene.view.camera_path)
            assert len(keys) > 2 and keys[0].cycle == 0
            for key in keys:  # none relies on being lifted out of a hill
                eye = CameraPath([key], ground).at(key.cycle).position
                assert eye.y > ground.limit(eye.x, eye.z) + LEAST_CLEARANCE * ground.side, key
            path = CameraPath(keys, ground, 16 / 9)
            composed = min(way_to_land(path.at(key.cycle)) for key in keys)
            assert composed > NEAREST_OF.get(name, NEAREST)
            for cycle in np.linspace(0, last_cycle(scene), 40 if is_nightly() else 14):
                camera = path.at(float(cycle))
                assert way_to_land(camera) > ON_THE_WAY * composed, cycle
                rays = (camera.ray(x, y, 16 / 9) for y in np.linspace(-0.8, 0.8, 5) for x in np.linspace(-0.8, 0.8, 5))
                of_land = (ray for ray in rays if ground.hit(*ray) is not None)
                assert len(list(itertools.islice(of_land, 5))) == 5, cycle  # neither sky nor sea alone


def test_a_tour_becomes_pictures_of_all_stops(tmp_path: Path) -> None:
    stop = stops(["noise"])[0]
    small = small_scene().with_values({"view.camera_path": stop.view.camera_path, "view.caption": "first"})
    other = small.with_values({"world.seed": 8, "view.caption": "second"})
    out = tmp_path / "frame_%02d.png"
    render_tour([small, other], [out], seconds=2.0, fps=3, size=(160, 96), quality="low")
    frames = sorted(tmp_path.glob("*.png"))
    assert len(frames) == 6
    pictures = [imagecodecs.png_decode(frame.read_bytes()).astype(float) for frame in frames]
    assert np.abs(pictures[0] - pictures[2]).mean() > 2.0  # the camera moves
    assert np.abs(pictures[0] - pictures[3]).mean() > 2.0  # another land


def test_a_tour_that_fails_keeps_its_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Lockstep) -> None:
        raise SimulationError("no rain")

    monkeypatch.setattr(Lockstep, "advance", fail)
    small = small_scene().with_values({"view.camera_path": stops(["noise"])[0].view.camera_path})
    with pytest.raises(UserError, match=r"no rain; .*1 of 6 frames are complete"):
        render_tour([small], [tmp_path / "frame_%02d.png"], seconds=2.0, fps=3, size=(64, 48), quality="low")
    assert [path.name for path in tmp_path.iterdir()] == ["frame_00.png"]


def test_a_stop_that_is_no_preset_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "cannyon", "--out", "x.mp4"]) == 1
    assert "did you mean 'canyon'" in capsys.readouterr().err
