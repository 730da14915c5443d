"""From a gamepad's state to the camera's movement, without a device."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from app.window.camera_control import FLIGHT_SPEED, CameraControl
from app.window.events import GamepadPressed, Steered
from app.window.gamepad import AT_REST, DEAD_ZONE, GamepadState, events, steering, without_dead_zone
from tests.app.test_camera import VIEW, ground_of, hills
from tests.nets.cases import tried

way = st.floats(-1.5, 1.5)


def flying(height: float = 0.0) -> CameraControl:
    """A camera in flight, at rest; so many metres higher than where it opens."""
    control = CameraControl()
    control.width, control.height = 1200.0, 800.0
    control.see(ground_of(hills()))
    control.open(VIEW)
    control.toggle_fly()
    if height:
        control.steer(Steered(up=math.copysign(1.0, height)))
        start = control.camera().position.y
        while abs(control.camera().position.y - start) < abs(height):
            control.update(0.01)
        control.steer(Steered())
        while control.moving:
            control.update(0.01)
    return control


def moved(control: CameraControl, steered: Steered, seconds: float = 1.0, steps: int = 100) -> glm.vec3:
    before = control.camera().position
    control.steer(steered)
    for _ in range(steps):
        control.update(seconds / steps)
    return control.camera().position - before


@tried(100)
@given(way, way)
def test_a_stick_has_a_dead_zone_and_no_step_behind_it(x: float, y: float) -> None:
    right, down = without_dead_zone(x, y)
    length = math.hypot(x, y)
    assert math.hypot(right, down) <= 1.0 + 1e-9
    if length <= DEAD_ZONE:
        assert (right, down) == (0.0, 0.0)
    else:
        assert right * y == pytest.approx(down * x, abs=1e-9)  # in the same direction
        assert math.hypot(right, down) <= (length - DEAD_ZONE) / (1.0 - DEAD_ZONE) + 1e-9


@tried(100)
@given(st.tuples(way, way, way, way, way, way))
def test_what_is_steered_is_within_reach(ways: tuple[float, ...]) -> None:
    steered = steering(GamepadState((ways[0], ways[1]), (ways[2], ways[3]), ways[4], ways[5]))
    for part in (steered.right, steered.up, steered.forward, steered.turn, steered.tilt):
        assert -1.0 <= part <= 1.0


def test_a_gamepad_that_rests_says_nothing() -> None:
    drifting = GamepadState(left=(0.1, -0.1), right=(0.05, 0.0), left_trigger=-0.98)
    assert list(events(AT_REST, AT_REST)) == list(events(drifting, AT_REST)) == []
    assert list(events(GamepadState(left=(math.nan, 0.0), right_trigger=math.nan), AT_REST)) == []


def test_letting_go_is_told_once_and_a_button_when_it_goes_down() -> None:
    held = GamepadState(left=(0.0, -1.0), buttons=frozenset({"a"}))
    assert list(events(held, AT_REST)) == [Steered(forward=1.0), GamepadPressed("a")]
    assert list(events(held, held)) == [Steered(forward=1.0)]
    assert list(events(AT_REST, held)) == [Steered()]


def test_sticks_and_triggers_lead_where_they_point() -> None:
    control = flying()
    camera = control.camera()
    for steered, towards in (
        (Steered(right=1.0), camera.right),
        (Steered(right=-1.0), -camera.right),
        (Steered(forward=1.0), camera.direction),
        (Steered(up=1.0), glm.vec3(0.0, 1.0, 0.0)),
    ):
        assert glm.dot(glm.normalize(moved(flying(), steered)), towards) > 0.99, steered


def test_the_right_stick_looks_and_does_not_move() -> None:
    control = flying()
    before = control.camera()
    assert glm.length(moved(control, Steered(turn=0.5, tilt=-0.1))) < 1e-3
    after = control.camera()
    assert after.heading > before.heading + 10.0 and after.pitch < before.pitch - 2.0


def test_half_a_stick_is_slower_and_none_comes_to_rest() -> None:
    whole, half = (glm.length(moved(flying(), Steered(right=part))) for part in (1.0, 0.5))
    assert half == pytest.approx(whole / 2.0, rel=0.02)
    control = flying()
    moved(control, Steered(right=1.0))
    moved(control, Steered(), 5.0)
    assert not control.moving and control.flying


def test_high_above_the_ground_it_is_faster() -> None:
    low, high = flying(-430.0), flying(600.0)
    slow, fast = (glm.length(moved(control, Steered(right=1.0))) for control in (low, high))
    assert fast > 2.0 * slow > 0.0
    assert fast < 5.0 * FLIGHT_SPEED * 900.0


@pytest.mark.parametrize("steps", [10, 300])
def test_the_way_is_the_same_at_any_frame_rate(steps: int) -> None:
    reference = moved(flying(), Steered(right=1.0), steps=100)
    assert glm.length(moved(flying(), Steered(right=1.0), steps=steps) - reference) < 0.02 * glm.length(reference)


def test_a_stick_takes_off_and_a_dead_one_does_not() -> None:
    control = flying()
    control.toggle_fly()
    control.steer(Steered())
    assert not control.flying
    control.steer(Steered(forward=0.2))
    assert control.flying
    control.toggle_fly()
    before = control.camera().position
    control.update(1.0)
    assert glm.length(control.camera().position - before) < 1e-3
