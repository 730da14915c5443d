"""A camera that follows keys: through all of them, evenly, and never through the ground."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyglm import glm

from app.engine.publishing import take_snapshot
from app.model.camera_path import CameraKey, read_camera_path, write_camera_path
from app.model.errors import UserError
from app.model.view_parameters import CameraParameters
from app.model.world import World
from app.picture.camera import opening_camera
from app.picture.camera_path import CLEARANCE, LEAST_CLEARANCE, STEADY, CameraPath
from app.picture.ground import Ground
from app.scene.scene import load_preset, presets
from app.window.camera_moves import OVER_LAND, follow_drop, follow_river
from tests.nets.profile import is_nightly

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written

KEYS = read_camera_path(
    "0: 330 24 1.35 0.5 0.5; 200: 300 14 0.4 0.3 0.6 hold 50; 400: 20 50 0.2 0.7 0.2; 500: 20 5 1 0.5 0.5"
)


def ground(relief: float = 300.0, exaggeration: float = 1.0) -> Ground:
    rng = np.random.default_rng(4)
    bumps = rng.random((48, 64)) * relief
    return Ground(take_snapshot(World(bumps, np.zeros_like(bumps), 20.0, 1)), exaggeration)


FLAT = ground(0.0)

numbers = st.builds(
    CameraKey,
    st.integers(0, 5000),
    st.floats(0.0, 360.0),
    st.floats(1.0, 89.0),
    st.floats(0.05, 5.0),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.just(32.0),
    st.just(0),
)
paths = st.lists(numbers, min_size=2, max_size=7, unique_by=lambda key: key.cycle).map(sorted)


def test_a_text_lists_keys() -> None:
    assert KEYS[1] == CameraKey(200, 300.0, 14.0, 0.4, 0.3, 0.6, hold=50)
    assert read_camera_path(write_camera_path(KEYS)) == KEYS
    assert read_camera_path("") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0: 1 2 3", "five numbers"),
        ("x: 330 24 1.35 0.5 0.5", "five numbers"),
        ("0: 330 24 1.35 0.5 0.5 hold x", "five numbers"),
        ("0: 330 24 0 0.5 0.5", "distance 0"),
        ("0: 330 24 nan 0.5 0.5", "distance nan"),
        ("0: 330 24 1 0.5 0.5 hold 30; 20: 330 24 1 0.5 0.5", "holds beyond"),
    ],
)
def test_what_is_wrong_in_it_is_said(text: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        read_camera_path(text)
    assert words in str(error.value)


@given(paths)
def test_it_goes_through_its_keys(keys: list[CameraKey]) -> None:
    path = CameraPath(keys, FLAT)
    for key in keys:
        view = CameraParameters(
            heading=key.heading, pitch=key.pitch, distance=key.distance, target_east=key.east, target_south=key.south
        )
        height = FLAT.mean_height(key.east * FLAT.east, key.south * FLAT.south, STEADY * FLAT.side)
        wanted, there = opening_camera(view, FLAT.rows, FLAT.columns, FLAT.cell_size, height), path.at(key.cycle)
        assert glm.dot(wanted.direction, there.direction) > 1.0 - 1e-4
        lifted = there.position.y - wanted.position.y
        assert lifted > -1e-2 * FLAT.side
        across = glm.vec2(there.position.x - wanted.position.x, there.position.z - wanted.position.z)
        assert glm.length(across) < 1e-3 * FLAT.side


@settings(max_examples=300 if is_nightly() else 12)
@given(paths)
def test_it_moves_and_turns_evenly_between_keys_and_rests_at_the_ends(keys: list[CameraKey]) -> None:
    path = CameraPath(keys, FLAT)
    for number, (key, later) in enumerate(itertools.pairwise(keys)):
        cameras = [path.at(float(cycle)) for cycle in np.linspace(key.cycle, later.cycle, 61)]
        eyes = np.array([[camera.position.x, camera.position.z] for camera in cameras]) / FLAT.side
        directions = np.array([list(camera.direction) for camera in cameras])
        for values in (eyes, directions):
            short = np.linalg.norm(np.diff(values, axis=0), axis=1)
            steps = np.linalg.norm(np.diff(values[::2], axis=0), axis=1)
            if steps.sum() < 0.05:
                continue
            assert short.max() < 0.75 * steps.max()  # no jump: in half the time half as far
            assert number > 0 or steps[0] < 0.7 * steps.max()
            assert number + 2 < len(keys) or steps[-1] < 0.7 * steps.max()


def test_it_stays_where_it_holds() -> None:
    path = CameraPath(KEYS, FLAT)
    assert path.at(200).position == path.at(235).position == path.at(250).position
    assert path.at(-5).position == path.at(0).position
    assert path.at(9999).position == path.at(500).position


def test_its_speed_has_no_steps_at_a_key_in_the_middle() -> None:
    keys = read_camera_path("0: 0 30 1 0.2 0.8; 100: 30 30 1 0.5 0.5; 200: 70 30 1 0.8 0.6; 300: 80 30 1 0.9 0.2")
    path = CameraPath(keys, FLAT)

    def speed(cycle: float) -> float:
        return float(glm.length(path.at(cycle + 0.5).position - path.at(cycle - 0.5).position))

    for key in (100.0, 200.0):
        assert speed(key - 1.0) == pytest.approx(speed(key + 1.0), rel=0.1)
        assert speed(key) > 0.0


@pytest.mark.parametrize("exaggeration", [1.0, 4.0])
def test_the_eye_stays_above_the_ground(exaggeration: float) -> None:
    rough = ground(900.0, exaggeration)
    keys = read_camera_path("0: 90 3 0.2 0.1 0.1; 100: 100 2 0.1 0.5 0.4; 200: 200 4 0.1 0.9 0.9")
    path = CameraPath(keys, rough)
    for cycle in np.linspace(0.0, 200.0, 300):
        eye = path.at(float(cycle)).position
        assert eye.y > rough.limit(eye.x, eye.z) + 0.99 * LEAST_CLEARANCE * rough.side


@pytest.mark.parametrize("height", [100.0, 250.0])
def test_the_eye_rises_before_a_hill_in_its_way_and_passes_well_above_it(height: float) -> None:
    south, east = np.mgrid[0:48, 0:64]
    rock = height * np.exp(-((south - 23.5) ** 2 + (east - 31.5) ** 2) / 40.0)
    hill = Ground(take_snapshot(World(rock, np.zeros_like(rock), 20.0, 1)), 1.0)
    keys = read_camera_path("0: 90 10 0.2 0.3 0.5; 300: 90 10 0.2 0.95 0.5")
    over_hill, over_plain = CameraPath(keys, hill), CameraPath(keys, FLAT)
    eyes = [over_hill.at(cycle).position for cycle in range(301)]
    level = [over_plain.at(cycle).position.y for cycle in range(301)]
    above = [eye.y - hill.limit(eye.x, eye.z) for eye in eyes]
    assert min(above) > 0.5 * CLEARANCE * hill.side
    lifts = np.array([eye.y for eye in eyes]) - level
    assert lifts.max() > 0.7 * height - level[150]
    assert np.abs(np.diff(lifts)).max() < 0.02 * lifts.max(), "it rises and sinks without a jerk"
    rising = eyes[int(np.argmax(lifts > 0.2 * lifts.max()))]
    assert hill.limit(rising.x, rising.z) < 0.2 * height, "it rises before the hill does"


def test_a_turn_is_a_whole_one() -> None:
    view = CameraParameters(heading=40.0)
    path = CameraPath(OVER_LAND["orbit"](view, 0, 800), FLAT)
    headings = np.unwrap([math.radians(path.at(cycle).heading) for cycle in range(0, 801, 10)])
    assert math.degrees(headings[-1] - headings[0]) == pytest.approx(360.0, abs=0.5)
    distances = [glm.length(path.at(cycle).position - path.at(0).target) for cycle in range(0, 801, 10)]
    assert max(distances) < 1.08 * min(distances)


def test_moves_along_water_look_down_the_way() -> None:
    from app.model.snapshot import FlowPath

    way = np.array([[row, 10 + row // 2] for row in range(40)])
    line = np.zeros(40, np.float32)
    flow_path = FlowPath((0, 10), 0, 10, 1.0, 1.0, 1.0, way, line, line, line, np.zeros(len(way)))
    for move in (follow_river, follow_drop):
        keys = move(flow_path, (48, 64), 100, 600)
        assert (keys[0].cycle, keys[-1].cycle) == (100, 700)
        assert all(140.0 < key.heading < 170.0 for key in keys[:-2])  # south-south-east
        assert read_camera_path(write_camera_path(keys))


def test_the_film_of_a_preset_begins_where_the_window_opens(subtests: pytest.Subtests) -> None:
    """That view is composed."""
    for name in presets():
        with subtests.test(name=name):
            scene = load_preset(name)
            first, camera = read_camera_path(scene.view.camera_path)[0], scene.camera
            assert first.cycle == 0
            assert (first.heading, first.pitch, first.distance) == (camera.heading, camera.pitch, camera.distance)
            assert (first.east, first.south) == (camera.target_east, camera.target_south)
