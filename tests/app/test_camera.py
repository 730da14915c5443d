"""The camera: what mouse, wheel and keys do to it, at any frame rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pyglm import glm

from app.cli.headless import scene_camera
from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.model.camera_path import CameraKey
from app.model.ledger import Ledger
from app.model.snapshot import Snapshot
from app.model.view_parameters import CameraParameters
from app.picture.camera import CLEARANCE, OPENING_ASPECT, Camera, opening_camera
from app.picture.camera_path import CameraPath
from app.picture.ground import Ground
from app.scene.scene import Scene, presets
from app.window.camera_control import CameraControl
from app.window.events import Button, ButtonPressed, PointerMoved
from tests.app.small import small_preset
from tests.passes.worlds import drowned, with_water

WIDTH, HEIGHT = 1200.0, 800.0
MIDDLE = (WIDTH / 2.0, HEIGHT / 2.0)
CELL = 10.0
VIEW = CameraParameters(heading=330.0, pitch=40.0, distance=0.9)


def hills(rows: int = 60, columns: int = 90) -> np.ndarray:
    south, east = np.mgrid[0:rows, 0:columns].astype(np.float32)
    return 60.0 + 40.0 * np.sin(east / 9.0) * np.cos(south / 7.0)


def ground_of(heights: np.ndarray, exaggeration: float = 1.0) -> Ground:
    return Ground(snapshot_of(heights), exaggeration)


def snapshot_of(heights: np.ndarray) -> Snapshot:
    bedrock = heights.astype(np.float32)
    return Snapshot(
        world=1,
        layers={"bedrock": bedrock, "sediment": np.zeros_like(bedrock)},
        versions={"bedrock": 0, "sediment": 0},
        cell_size=CELL,
        seed=1,
        cycle=0,
        lowest=float(bedrock.min()),
        highest=float(bedrock.max()),
        sea_level=-math.inf,
        ledger=Ledger(),
        imbalance=0.0,
    )


@pytest.fixture
def control() -> CameraControl:
    control = CameraControl()
    control.width, control.height = WIDTH, HEIGHT
    control.see(ground_of(hills()))
    control.open(VIEW)
    return control


def press(control: CameraControl, button: Button, x: float, y: float, *, shift: bool = False) -> None:
    control.press(ButtonPressed(button, x, y, shift=shift))


def drag(control: CameraControl, button: Button, start: tuple[float, float], end: tuple[float, float]) -> None:
    press(control, button, *start)
    control.move(PointerMoved(*end))
    control.release(button)


def settle(control: CameraControl) -> None:
    for _ in range(200):
        control.update(0.05)
    assert not control.moving


def numbers(camera: Camera) -> list[float]:
    return [*camera.position, *camera.direction, camera.distance]


def on_screen(camera: Camera, point: glm.vec3) -> tuple[float, float]:
    """Where a point of picture space is seen, in the units of the pointer."""
    clip = camera.projection(WIDTH / HEIGHT) * camera.view() * glm.vec4(point, 1.0)
    assert clip.w > 0.0
    return (clip.x / clip.w + 1.0) / 2.0 * WIDTH, (1.0 - clip.y / clip.w) / 2.0 * HEIGHT


class TestGround:
    def test_heights_belong_to_the_middles_of_cells(self) -> None:
        heights = hills()
        ground = ground_of(heights, exaggeration=2.0)
        assert ground.height(40.5 * CELL, 20.5 * CELL) == pytest.approx(2.0 * float(heights[20, 40]), rel=1e-5)
        between = (heights[20, 40] + heights[20, 41]) / 2.0
        assert ground.height(41.0 * CELL, 20.5 * CELL) == pytest.approx(2.0 * float(between), rel=1e-5)

    @pytest.mark.parametrize("height", [-30.0, 30.0])
    def test_diagonal_trenches_and_crests_go_through(self, height: float) -> None:
        falling = np.where(np.eye(40, dtype=bool), height, 0.0)
        for at in (10.5, 10.75, 11.0, 11.3):
            assert ground_of(falling).height(at * CELL, at * CELL) == pytest.approx(height)
            assert ground_of(falling[::-1]).height(at * CELL, (40.0 - at) * CELL) == pytest.approx(height)

    def test_a_ray_meets_the_ground_where_its_height_is_that_of_the_ground(self) -> None:
        ground = ground_of(hills())
        origin = glm.vec3(100.0, 400.0, 550.0)
        hit = ground.hit(origin, glm.normalize(glm.vec3(0.5, -0.4, -0.6)))
        assert hit is not None
        assert hit.y == pytest.approx(ground.height(hit.x, hit.z), abs=0.05)

    def test_a_ray_meets_the_nearest_of_two_ridges(self) -> None:
        heights = np.zeros((40, 40))
        heights[:, 10] = heights[:, 30] = 100.0
        hit = ground_of(heights).hit(glm.vec3(-50.0, 50.0, 200.0), glm.vec3(1.0, 0.0, 0.0))
        assert hit is not None
        assert hit.x == pytest.approx(10.0 * CELL, abs=CELL)

    @pytest.mark.parametrize("direction", [(0.0, 1.0, 0.0), (1.0, 0.2, 0.0), (0.0, 0.0, 1.0)])
    def test_a_ray_into_the_sky_meets_nothing(self, direction: tuple[float, float, float]) -> None:
        assert ground_of(hills()).hit(glm.vec3(450.0, 300.0, 300.0), glm.normalize(glm.vec3(*direction))) is None

    def test_the_limit_beside_the_map_falls_without_a_jump(self) -> None:
        ground = ground_of(np.full((20, 20), 80.0) + np.eye(20))
        assert ground.limit(-1e-3, 100.0) == pytest.approx(ground.limit(1e-3, 100.0), abs=0.1)
        assert ground.limit(-500.0, 100.0) == ground.lowest


class TestOrbit:
    def test_turns_around_what_is_in_the_middle(self, control: CameraControl) -> None:
        before = control.goal()
        press(control, Button.LEFT, *MIDDLE)
        middle = control.goal().target
        control.move(PointerMoved(MIDDLE[0] + 100.0, MIDDLE[1] + 30.0))
        settle(control)
        assert control.camera().heading == pytest.approx(before.heading + 30.0)
        assert control.camera().pitch > before.pitch
        assert on_screen(control.camera(), middle) == pytest.approx(MIDDLE, abs=0.5)

    def test_beginning_and_ending_a_drag_changes_nothing_that_is_seen(self, control: CameraControl) -> None:
        before = numbers(control.camera())
        press(control, Button.LEFT, 300.0, 300.0)
        assert numbers(control.camera())[:6] == pytest.approx(before[:6], abs=0.02)
        control.release(Button.LEFT)
        settle(control)
        assert numbers(control.camera())[:6] == pytest.approx(before[:6], abs=0.02)

    def test_pitch_ends_at_straight_down(self, control: CameraControl) -> None:
        drag(control, Button.LEFT, MIDDLE, (MIDDLE[0], MIDDLE[1] + 5000.0))
        settle(control)
        assert control.camera().pitch == 90.0

    def test_moves_without_a_drag_do_nothing(self, control: CameraControl) -> None:
        before = control.goal()
        control.move(PointerMoved(10.0, 10.0))
        control.move(PointerMoved(900.0, 500.0))
        assert control.goal() == before


class TestPan:
    @pytest.mark.parametrize(("button", "shift"), [(Button.RIGHT, False), (Button.MIDDLE, False), (Button.LEFT, True)])
    def test_the_grabbed_ground_stays_under_the_pointer(
        self, control: CameraControl, button: Button, shift: bool
    ) -> None:
        grabbed = control.ground_under(500.0, 560.0)
        assert grabbed is not None
        press(control, button, 500.0, 560.0, shift=shift)
        for x, y in [(520.0, 550.0), (640.0, 600.0), (610.0, 640.0)]:
            control.move(PointerMoved(x, y))
            control.update(1.0 / 60.0)
            assert on_screen(control.camera(), grabbed) == pytest.approx((x, y), abs=1.0)

    def test_in_the_sky_it_still_moves_the_right_way(self, control: CameraControl) -> None:
        drag(control, Button.LEFT, MIDDLE, (MIDDLE[0], MIDDLE[1] - 60.0))
        settle(control)
        before = control.goal()
        press(control, Button.RIGHT, 600.0, 5.0)
        control.move(PointerMoved(700.0, 5.0))
        moved = control.goal().target - before.target
        assert glm.dot(moved, before.right) < 0.0

    def test_one_cannot_get_lost(self, control: CameraControl) -> None:
        for _ in range(60):
            drag(control, Button.RIGHT, (100.0, 500.0), (1100.0, 700.0))
        settle(control)
        target, side = control.camera().target, 90 * CELL
        assert -side <= target.x <= 2.0 * side
        assert -side <= target.z <= 2.0 * side


class TestZoom:
    @pytest.mark.parametrize("point", [(350.0, 520.0), (800.0, 600.0), MIDDLE])
    def test_the_ground_under_the_pointer_stays_there_all_the_way(
        self, control: CameraControl, point: tuple[float, float]
    ) -> None:
        fixed = control.ground_under(*point)
        assert fixed is not None
        control.scroll(3.0, *point)
        for _ in range(30):
            control.update(1.0 / 60.0)
            assert on_screen(control.camera(), fixed) == pytest.approx(point, abs=1.0)
        assert control.camera().distance < 0.75 * VIEW.distance * 90 * CELL

    def test_in_and_out_again_ends_where_it_began(self, control: CameraControl) -> None:
        before = numbers(control.camera())
        control.scroll(2.0, *MIDDLE)
        control.scroll(-2.0, *MIDDLE)
        settle(control)
        assert numbers(control.camera()) == pytest.approx(before, rel=1e-3, abs=0.5)

    def test_has_an_end_in_both_directions(self, control: CameraControl) -> None:
        control.scroll(500.0, *MIDDLE)
        settle(control)
        assert control.camera().distance >= CELL
        control.scroll(-500.0, *MIDDLE)
        settle(control)
        assert control.camera().distance <= 10.0 * 90 * CELL


class TestFrameRate:
    @staticmethod
    def act(control: CameraControl) -> None:
        drag(control, Button.LEFT, MIDDLE, (MIDDLE[0] + 200.0, MIDDLE[1] + 60.0))
        control.scroll(2.0, 400.0, 500.0)

    @pytest.mark.parametrize("seconds", [0.1, 1.0])
    def test_the_same_path_at_30_and_144_frames_per_second(self, seconds: float) -> None:
        poses = []
        for rate in (30, 144, 10):
            control = CameraControl()
            control.width, control.height = WIDTH, HEIGHT
            control.see(ground_of(hills()))
            control.open(CameraParameters())
            self.act(control)
            for _ in range(round(seconds * rate)):
                control.update(seconds / round(seconds * rate))
            poses.append(numbers(control.camera()))
        assert poses[0] == pytest.approx(poses[1], rel=1e-3, abs=0.05)
        assert poses[0] == pytest.approx(poses[2], rel=1e-3, abs=0.05)

    def test_on_its_way_after_a_short_time_and_there_after_a_long_one(self, control: CameraControl) -> None:
        start, _ = control.camera(), self.act(control)
        control.update(0.02)
        assert control.moving
        assert numbers(start) != pytest.approx(numbers(control.camera()))
        assert numbers(control.goal()) != pytest.approx(numbers(control.camera()))
        control.update(3.0)
        assert not control.moving
        assert control.camera() == control.goal()

    def test_flight_is_the_same_at_30_and_144_frames_per_second(self) -> None:
        poses = []
        for rate in (30, 144):
            control = CameraControl()
            control.width, control.height = WIDTH, HEIGHT
            control.see(ground_of(hills()))
            control.open(CameraParameters())
            control.toggle_fly()
            control.hold("W")
            control.hold("E")
            for _ in range(rate // 2):
                control.update(1.0 / rate)
            control.release_all_keys()
            for _ in range(rate // 2):
                control.update(1.0 / rate)
            poses.append(numbers(control.camera()))
        assert poses[0] == pytest.approx(poses[1], rel=1e-3, abs=0.05)


class TestFlight:
    def test_beginning_and_ending_it_changes_nothing_that_is_seen(self, control: CameraControl) -> None:
        before = numbers(control.camera())
        control.toggle_fly()
        assert numbers(control.camera())[:6] == pytest.approx(before[:6], abs=0.02)
        control.toggle_fly()
        settle(control)
        assert numbers(control.camera())[:6] == pytest.approx(before[:6], abs=0.02)

    def test_looking_around_leaves_the_eye_where_it_is(self, control: CameraControl) -> None:
        control.toggle_fly()
        before = control.camera()
        control.move(PointerMoved(0.0, 0.0))
        control.move(PointerMoved(200.0, -50.0))
        control.update(0.016)
        assert [*control.camera().position] == pytest.approx([*before.position], abs=0.05)
        assert control.camera().heading > before.heading

    @pytest.mark.parametrize(
        ("key", "axis", "sign"), [("W", "direction", 1), ("S", "direction", -1), ("D", "right", 1), ("A", "right", -1)]
    )
    def test_keys_carry_it(self, control: CameraControl, key: str, axis: str, sign: int) -> None:
        control.toggle_fly()
        before = control.camera()
        control.hold(key)
        for _ in range(20):
            control.update(0.02)
        moved = control.camera().position - before.position
        assert glm.dot(glm.normalize(moved), getattr(before, axis)) * sign == pytest.approx(1.0, abs=1e-3)

    def test_shift_is_faster_and_a_lost_focus_stops(self, control: CameraControl) -> None:
        def way(*keys: str) -> float:
            control.open(CameraParameters())
            control.toggle_fly()
            start = control.camera().position
            for key in keys:
                control.hold(key)
            control.update(1.0)
            control.release_all_keys()
            return float(glm.length(control.camera().position - start))

        assert way("E", "Shift") > 2.0 * way("E")
        settle(control)
        assert not control.moving

    def test_never_below_the_ground(self, control: CameraControl) -> None:
        control.toggle_fly()
        control.hold("Q")
        control.hold("W")
        for _ in range(400):
            control.update(0.02)
            eye = control.camera().position
            assert eye.y >= ground_of(hills()).limit(eye.x, eye.z)


class TestAboveGround:
    def test_an_orbit_cannot_go_below_the_ground(self, control: CameraControl) -> None:
        ground = ground_of(hills())
        control.scroll(12.0, *MIDDLE)
        settle(control)
        press(control, Button.LEFT, *MIDDLE)
        for step in range(60):
            control.move(PointerMoved(MIDDLE[0] + 25.0 * step, MIDDLE[1] - 20.0 * step))
            control.update(0.02)
            eye = control.camera().position
            assert eye.y >= ground.limit(eye.x, eye.z) + 0.99 * CLEARANCE * ground.side

    def test_ground_that_rises_lifts_the_camera(self, control: CameraControl) -> None:
        control.scroll(30.0, *MIDDLE)
        settle(control)
        eye = control.camera().position
        control.see(ground_of(hills() + 500.0))
        assert control.camera().position.y > eye.y + 400.0


class TestBesideAPanel:
    @pytest.fixture
    def covered(self, control: CameraControl) -> CameraControl:
        control.free = (0.0, 0.7)
        return control

    def test_the_target_is_in_the_middle_of_what_is_free(self, covered: CameraControl) -> None:
        assert on_screen(covered.camera(), covered.camera().target) == pytest.approx(
            (0.35 * WIDTH, HEIGHT / 2.0), abs=0.5
        )

    def test_the_ground_under_the_pointer_is_what_is_seen_there(self, covered: CameraControl) -> None:
        point = covered.ground_under(300.0, 450.0)
        assert point is not None
        assert on_screen(covered.camera(), point) == pytest.approx((300.0, 450.0), abs=0.5)

    def test_frame_all_leaves_nothing_behind_the_panel(self, covered: CameraControl) -> None:
        covered.frame_all()
        settle(covered)
        ground = ground_of(hills())
        for east in (0.0, ground.east):
            for height in (ground.lowest, ground.highest):
                for south in (0.0, ground.south):
                    x, _ = on_screen(covered.camera(), glm.vec3(east, height, south))
                    assert 0.0 <= x <= 0.7 * WIDTH


class TestViews:
    def test_the_opening_view_is_that_of_the_scene(self, control: CameraControl) -> None:
        parameters = CameraParameters(heading=45.0, pitch=30.0, distance=0.8, target_east=0.4, field_of_view=40.0)
        control.open(parameters)
        camera = control.camera()
        assert (camera.heading % 360.0, camera.pitch, camera.field_of_view) == (45.0, 30.0, 40.0)
        assert camera.distance == pytest.approx(0.8 * 90 * CELL)
        assert camera.target.y == pytest.approx(ground_of(hills()).height(camera.target.x, camera.target.z), abs=0.01)

    @pytest.mark.parametrize(("rows", "columns"), [(300, 9), (37, 1000)])
    def test_the_opening_view_looks_at_the_middle_of_a_strip(self, rows: int, columns: int) -> None:
        target = opening_camera(CameraParameters(), rows, columns, CELL, 0.0).target
        assert (target.x, target.z) == pytest.approx((columns * CELL / 2, rows * CELL / 2))

    def test_what_is_seen_can_be_kept_as_an_opening_view(self, control: CameraControl) -> None:
        drag(control, Button.LEFT, MIDDLE, (MIDDLE[0] + 123.0, MIDDLE[1] + 40.0))
        settle(control)
        before = numbers(control.camera())
        kept = control.parameters()
        control.open(CameraParameters())
        control.open(kept)
        assert numbers(control.camera())[3:6] == pytest.approx(before[3:6], abs=1e-3)
        assert numbers(control.camera())[:3] == pytest.approx(before[:3], abs=2.0)

    @pytest.mark.parametrize("size", [(1200.0, 800.0), (500.0, 900.0), (2000.0, 400.0)])
    def test_frame_all_shows_every_corner(self, control: CameraControl, size: tuple[float, float]) -> None:
        control.width, control.height = size
        control.scroll(8.0, *MIDDLE)
        control.frame_all()
        settle(control)
        ground, camera = ground_of(hills()), control.camera()
        matrix = camera.projection(size[0] / size[1]) * camera.view()
        largest = 0.0
        for east in (0.0, ground.east):
            for height in (ground.lowest, ground.highest):
                for south in (0.0, ground.south):
                    clip = matrix * glm.vec4(east, height, south, 1.0)
                    assert abs(clip.x) <= clip.w and abs(clip.y) <= clip.w
                    largest = max(largest, abs(clip.x) / clip.w, abs(clip.y) / clip.w)
        assert largest > 0.8, "the land is shown much too small"

    def test_top_view_looks_down_with_north_up_and_goes_back(self, control: CameraControl) -> None:
        heading, pitch = control.camera().heading, control.camera().pitch
        control.top_view()
        settle(control)
        assert control.camera().pitch == 90.0
        assert control.camera().heading % 360.0 == pytest.approx(0.0)
        assert control.camera().right.x == pytest.approx(1.0)
        control.top_view()
        settle(control)
        assert control.camera().heading % 360.0 == pytest.approx(heading % 360.0)
        assert control.camera().pitch == pytest.approx(pitch)

    def test_turns_the_shorter_way_round(self, control: CameraControl) -> None:
        control.open(CameraParameters(heading=350.0))
        control.open(CameraParameters(heading=10.0), at_once=False)
        control.update(0.05)
        heading = control.camera().heading
        assert math.cos(math.radians(heading)) > math.cos(math.radians(11.0))

    def test_looking_at_a_place_keeps_direction_and_distance(self, control: CameraControl) -> None:
        before = control.camera()
        control.look_at(200.0, 150.0)
        settle(control)
        after = control.camera()
        assert (after.target.x, after.target.z) == pytest.approx((200.0, 150.0))
        assert (after.heading, after.pitch, after.distance) == (before.heading, before.pitch, before.distance)

    def test_another_exaggeration_keeps_the_same_ground_in_the_middle(self, control: CameraControl) -> None:
        before = control.camera().target
        control.see(ground_of(hills(), exaggeration=3.0))
        after = control.camera().target
        assert (after.x, after.z) == (before.x, before.z)
        assert after.y == pytest.approx(3.0 * before.y, rel=1e-5)


# Another world.


def shows_all(control: CameraControl, ground: Ground) -> bool:
    camera = control.camera()
    matrix = camera.projection(WIDTH / HEIGHT) * camera.view()
    corners = [
        glm.vec3(east, height, south)
        for east in (0.0, ground.east)
        for height in (ground.lowest, ground.highest)
        for south in (0.0, ground.south)
    ]
    clipped = [matrix * glm.vec4(corner, 1.0) for corner in corners]
    return all(abs(clip.x) <= clip.w and abs(clip.y) <= clip.w for clip in clipped)


def test_a_view_that_fits_another_land_stays(control: CameraControl) -> None:
    drag(control, Button.LEFT, MIDDLE, (MIDDLE[0] + 123.0, MIDDLE[1] - 30.0))
    settle(control)
    before = control.camera()
    control.see_another(ground_of(hills()[::-1, ::-1] * 1.1))
    assert control.camera() == before
    finer = np.repeat(np.repeat(hills(), 2, axis=0), 2, axis=1)
    ground = ground_of(finer)
    ground.cell_size = CELL / 2.0
    control.see_another(ground)
    assert control.camera() == before, "other cells, but the same land"


@pytest.mark.parametrize("zoom", [0.0, 6.0])
def test_a_land_that_hides_the_view_is_framed(control: CameraControl, zoom: float) -> None:
    heading = control.camera().heading
    control.scroll(zoom, *MIDDLE)
    settle(control)
    mountains = ground_of(hills() * 12.0)
    control.see_another(mountains)
    assert not control.moving
    assert shows_all(control, mountains)
    assert math.cos(math.radians(control.camera().heading - heading)) == pytest.approx(1.0)
    plain = ground_of(hills() * 0.1)
    control.see_another(plain)
    assert shows_all(control, plain)
    assert glm.length(control.camera().position - glm.vec3(450.0, 0.0, 300.0)) < 5.0 * plain.side


def test_a_larger_land_is_seen_from_as_many_sides_away(control: CameraControl) -> None:
    drag(control, Button.LEFT, MIDDLE, (MIDDLE[0] + 123.0, MIDDLE[1] + 10.0))
    settle(control)
    before, kept = control.camera(), control.parameters()
    control.see_another(ground_of(np.repeat(np.repeat(2.0 * hills(), 2, axis=0), 2, axis=1)))
    after = control.camera()
    assert after.distance == pytest.approx(2.0 * before.distance, rel=0.01)
    assert control.parameters() == kept


def test_flight_goes_on_over_another_land(control: CameraControl) -> None:
    control.toggle_fly()
    mountains = ground_of(hills() * 40.0)
    control.see_another(mountains)
    assert control.flying
    eye = control.camera().position
    assert eye.y > mountains.limit(eye.x, eye.z)


# Pictures that are narrower, and side by side.


@pytest.mark.parametrize("aspect", [0.3, 0.6, 1.0, 1.2, 2.0])
def test_a_narrow_picture_is_opened_from_farther_away_with_the_same_land_in_its_width(
    control: CameraControl, aspect: float
) -> None:
    usual = control.goal().distance
    control.view_aspect = aspect
    control.open(VIEW)
    assert control.goal().distance == pytest.approx(usual * max(OPENING_ASPECT / aspect, 1.0))
    assert control.parameters().distance == pytest.approx(VIEW.distance, abs=1e-3), "saved as it was opened"


def test_the_width_of_the_view_is_kept_and_comes_back(control: CameraControl) -> None:
    scroll_in = control.goal().distance * 0.7
    control.scroll(math.log(0.7) / math.log(0.86), *MIDDLE)
    control.view_aspect = 0.6
    control.keep_width_of_view(1.5)
    assert control.goal().distance == pytest.approx(2.0 * scroll_in, rel=1e-3)
    control.view_aspect = 1.5
    control.keep_width_of_view(0.6)
    assert control.goal().distance == pytest.approx(scroll_in, rel=1e-3)


def test_the_eye_stays_above_the_higher_of_two_grounds(control: CameraControl) -> None:
    control.see(ground_of(hills()), ground_of(hills() + 900.0))
    eye = control.goal().position
    assert eye.y == pytest.approx(ground_of(hills() + 900.0).limit(eye.x, eye.z) + CLEARANCE * 90 * CELL, abs=1e-2)
    control.see(ground_of(hills()))
    assert control.goal().position.y < eye.y


@pytest.mark.parametrize("middle", [0.0, -0.3])
@pytest.mark.parametrize("aspect", [0.7, 1.0, 1.9])
def test_a_point_is_seen_where_the_ray_through_that_place_meets_it(aspect: float, middle: float) -> None:
    camera = Camera(glm.vec3(500.0, 40.0, 300.0), heading=140.0, pitch=35.0, distance=900.0, middle=middle)
    for x, y in ((0.0, 0.0), (0.8, -0.6), (-0.9, 0.4)):
        origin, direction = camera.ray(x, y, aspect)
        assert camera.place_of(origin + 700.0 * direction, aspect) == pytest.approx((x, y), abs=1e-4)
        assert camera.place_of(origin - 700.0 * direction, aspect) is None


@pytest.mark.parametrize("exaggeration", [1.0, 3.0])
def test_no_picture_is_taken_from_under_the_ground(exaggeration: float) -> None:
    wall = np.zeros((60, 90), np.float32)
    wall[40:50] = 300.0
    view = {"camera.heading": 0.0, "camera.pitch": 10.0, "camera.distance": 0.17, "view.exaggeration": exaggeration}
    camera = scene_camera(Scene().with_values(view), snapshot_of(wall))
    eye, ground = camera.position, ground_of(wall, exaggeration)
    assert eye.y == pytest.approx(ground.limit(eye.x, eye.z) + CLEARANCE * ground.side, abs=0.5)
    assert glm.distance(camera.target, glm.vec3(0.5 * ground.east, 0.0, 0.5 * ground.south)) < 0.1
    above = {**view, "camera.pitch": 89.0}
    assert scene_camera(Scene().with_values(above), snapshot_of(wall)).pitch == pytest.approx(89.0)


def test_no_picture_is_taken_from_under_water(control: CameraControl, subtests: pytest.Subtests) -> None:
    """Neither that of a scene nor that of the window, on the map and beside it, where only the sea goes on."""
    bowl = np.full((60, 90), 100.0)
    bowl[20:, 20:70] = 0.0
    dry = snapshot_of(bowl)
    sea, lake = drowned(dry, 60.0), with_water(dry, np.maximum(bowl, 60.0).astype(np.float32))
    for name, wet, distance in (("sea", sea, 0.2), ("beside the map", sea, 0.9), ("lake", lake, 0.2)):
        for exaggeration in (1.0, 3.0):
            with subtests.test(name, exaggeration=exaggeration):
                view = {"camera.heading": 0.0, "camera.pitch": 2.0, "camera.distance": distance}
                camera = scene_camera(Scene().with_values(view | {"view.exaggeration": exaggeration}), wet)
                above = exaggeration * 60.0 + 0.99 * CLEARANCE * 90 * CELL
                assert camera.position.y >= above
                control.see(Ground(wet, exaggeration))
                control.place(camera)
                assert control.goal().position.y >= above
                key = CameraKey(cycle=0, heading=0.0, pitch=2.0, distance=distance, east=0.5, south=0.5)
                assert CameraPath([key], Ground(wet, exaggeration)).at(0).position.y >= above


def test_a_view_of_water_looks_at_its_surface_and_not_at_its_bed(
    control: CameraControl, subtests: pytest.Subtests
) -> None:
    """A camera that is above the water needs no lift, which would turn it down to the bed."""
    bowl = np.full((60, 90), 100.0)
    bowl[20:, 20:70] = 0.0
    dry = snapshot_of(bowl)
    sea, lake = drowned(dry, 60.0), with_water(dry, np.maximum(bowl, 60.0).astype(np.float32))
    parameters = CameraParameters(heading=0.0, pitch=8.0, distance=0.1)
    for name, wet, level in (("sea", sea, 60.0), ("lake", lake, 60.0), ("dry", dry, 0.0)):
        for exaggeration in (1.0, 3.0):
            with subtests.test(name, exaggeration=exaggeration):
                control.see(Ground(wet, exaggeration))
                control.open(parameters)
                view = {"camera.heading": 0.0, "camera.pitch": 8.0, "camera.distance": 0.1}
                scene = Scene().with_values(view | {"view.exaggeration": exaggeration})
                for camera in (control.goal(), scene_camera(scene, wet)):
                    assert camera.target.y == pytest.approx(exaggeration * level, abs=1e-3)
                    assert camera.pitch == pytest.approx(8.0)


# What of the picture is above the land at an opening, in the middle of its columns. More of an island's is sea.
LEAST_ABOVE, MOST_ABOVE = 0.05, 0.45
MOST_ABOVE_ISLANDS = 0.68
HIGHEST_BELOW = 1.0 / 3.0  # of the picture: the highest land reaches its upper third
OPENING_ASPECTS = {"4:3": 4.0 / 3.0, "16:9": 16.0 / 9.0, "21:9": 21.0 / 9.0}
PICTURE_COLUMNS = 32


@pytest.mark.slow
def test_an_opening_is_full_of_land_in_windows_of_any_form(subtests: pytest.Subtests) -> None:
    """No side of the picture is empty, and the land fills most of its height."""
    for name in presets():
        world, scene = create_world(small_preset(name, 96))
        shown = take_snapshot(world)
        ground = Ground(shown, scene.view.exaggeration)
        south, east = (world.cell_size * (0.5 + np.indices(world.shape))).reshape(2, -1)
        points = np.stack([east, ground._heights(east, south), south, np.ones_like(east)])
        for form, aspect in OPENING_ASPECTS.items():
            with subtests.test(name=name, form=form):
                camera = scene_camera(scene, shown, aspect)
                across, up, _, ahead = np.array((camera.projection(aspect) * camera.view()).to_list()).T @ points
                across, up = across[ahead > 0.0] / ahead[ahead > 0.0], up[ahead > 0.0] / ahead[ahead > 0.0]
                skyline = np.full(PICTURE_COLUMNS, -1.0)
                seen = np.abs(across) < 1.0
                column = ((across[seen] + 1.0) / 2.0 * PICTURE_COLUMNS).astype(int)
                np.maximum.at(skyline, column, np.clip(up[seen], -1.0, 1.0))
                above = np.median((1.0 - skyline) / 2.0)
                assert LEAST_ABOVE < above < (MOST_ABOVE_ISLANDS if scene.edges.water == "sea" else MOST_ABOVE)
                assert (1.0 - skyline.max()) / 2.0 < HIGHEST_BELOW, "its skyline lies too low"
                assert np.mean(skyline > -1.0) > 0.75, "a side of it is empty"
