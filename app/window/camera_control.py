"""Camera control: orbit, pan, zoom, flight, and ready-made views.

All controls change a goal. The camera approaches the goal exponentially, on the same path at any frame
rate. The goal is what tests and saved scenes see; the picture is drawn from `camera()`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from pyglm import glm

from app.model.view_parameters import CameraParameters
from app.picture.camera import Camera, farther_away
from app.picture.ground import Ground, opening_over
from app.window.events import Button, ButtonPressed, PointerMoved, Steered
from app.window.viewpoint import STEEPEST, Viewpoint

TIME_CONSTANT = 0.08  # seconds in which the distance to the goal falls by a factor of e
FLIGHT_TIME_CONSTANT = 0.25

DEGREES_PER_UNIT = 0.3  # of a drag
LOOK_DEGREES_PER_UNIT = 0.12  # of mouse movement in flight
ZOOM_PER_NOTCH = 0.86
STEEPEST_IN_FLIGHT, FLATTEST_IN_FLIGHT = 89.0, -60.0

# Fractions of the map's longer side.
FLIGHT_SPEED = 0.12  # per second
FLIGHT_LOOK_AHEAD = 0.25

FAST_FLIGHT = 4.0
STEERED_DEGREES = 110.0  # per second, by a gamepad
STEERED_HEIGHT = 0.2  # fraction of the map's longer side: height above ground at which a gamepad flies as fast as keys
SLOWEST_STEERED, FASTEST_STEERED = 0.3, 4.0  # bounds of the speed factor near the ground and high above it
SLOWEST_PACE, FASTEST_PACE = 0.1, 8.0
FRAME_MARGIN = 1.06
FARTHER_THAN_BEFORE = 1.6  # factor of distance at which the centre of a picture counts as another view

# Directions of flight keys: right, up, forward.
FLIGHT_KEYS: dict[str, tuple[float, float, float]] = {
    "W": (0.0, 0.0, 1.0),
    "S": (0.0, 0.0, -1.0),
    "A": (-1.0, 0.0, 0.0),
    "D": (1.0, 0.0, 0.0),
    "Q": (0.0, -1.0, 0.0),
    "E": (0.0, 1.0, 0.0),
}
FAST_KEY = "Shift"


class CameraControl(Viewpoint):
    """The camera under control of mouse, wheel and keys."""

    def __init__(self) -> None:
        super().__init__()
        self._velocity = glm.vec3(0.0)
        self._pace = 1.0
        self._held: set[str] = set()
        self._steered = Steered()
        self._drag: Button | None = None
        self._panning = False
        self._grabbed: glm.vec3 | None = None
        self._pointer = (0.0, 0.0)
        self._before_top_view: tuple[float, float] | None = None

    def copy(self) -> CameraControl:
        """A copy at the same place, at rest."""
        other = CameraControl()
        for name in ("width", "height", "free", "view_aspect", "_ground", "_field_of_view", "_pose", "_goal"):
            setattr(other, name, getattr(self, name))
        return other

    # Changes of the land.

    def see(self, ground: Ground, *others: Ground) -> None:
        """Set the current ground, and those of other pictures with the same camera.

        A new exaggeration keeps the same point of the ground in view.
        """
        self._ground, self._other_grounds = ground, others
        self._limit()

    def see_another(self, ground: Ground, *others: Ground) -> None:
        """Set the ground of another world. A view that still fits is kept.

        Otherwise the camera looks at the same part of the map in the same direction, from as many of its sides away, or
        at the whole land where that would not show what it did, either.
        """
        before = self._ground
        if before is None or self.flying:
            self.see(ground, *others)
            return
        kept, showed = self.parameters(), self._sight(before)
        self.see(ground, *others)
        if _extent(before) != _extent(ground):
            self.open(kept)
        if not self._shows_as_much(showed):
            self.frame_all()
            self._pose = self._goal

    def _shows_as_much(self, showed: float | None) -> bool:
        """Whether the goal is above the ground and as far from the centre of its view as before."""
        assert self._ground is not None
        eye = self._camera_of(self._goal).position
        if eye.y < self._lowest_eye(eye):
            return False
        shows = self._sight(self._ground)
        if shows is None or showed is None:
            return shows is showed
        return 1.0 / FARTHER_THAN_BEFORE < shows / max(showed, 1e-6) < FARTHER_THAN_BEFORE

    def keep_width_of_view(self, aspect: float) -> None:
        """Change the distance so that the land fills the picture as it did at another aspect ratio."""
        factor = farther_away(self._view_aspect) / farther_away(aspect)
        self._goal = replace(self._goal, distance=self._goal.distance * factor)
        self._limit()

    def open(self, parameters: CameraParameters, *, at_once: bool = True) -> None:
        """Go to the opening view of a scene."""
        if self._ground is None:
            return
        camera = opening_over(self._ground, parameters, self._view_aspect)
        self._field_of_view = parameters.field_of_view
        self._leave_flight()
        self._go_to(self._pose_of(camera))
        if at_once:
            self._pose = self._goal

    def place(self, camera: Camera) -> None:
        """Place the camera on its path."""
        self._leave_flight()
        self._field_of_view = camera.field_of_view
        self._goal = self._pose = self._pose_of(camera)

    def update(self, dt: float) -> None:
        """Let `dt` seconds pass."""
        if self.flying:
            self._fly(dt)
        self._pose = self._pose.toward(self._goal, 1.0 - math.exp(-dt / TIME_CONSTANT))
        if not self._far_from_goal():
            self._pose = self._goal

    @property
    def moving(self) -> bool:
        return self._pose != self._goal or glm.length(self._velocity) > 0.0

    # Input.

    @property
    def dragging(self) -> bool:
        return self._drag is not None

    def press(self, event: ButtonPressed) -> None:
        """Begin a drag."""
        if self._ground is None or self._drag is not None:
            return
        self._drag = event.button
        self._pointer = (event.x, event.y)
        self._panning = event.button is not Button.LEFT or event.shift
        if self.flying:
            return
        self._rest()
        self._look_at_ground()
        if self._panning:
            self._grabbed = self.ground_under(event.x, event.y)

    def release(self, button: Button) -> None:
        """End a drag."""
        if button is self._drag:
            self._drag = None
            self._grabbed = None
            if not self.flying:
                self._look_at_ground()

    def move(self, event: PointerMoved) -> None:
        """Handle pointer movement in a drag or in flight."""
        across, down = event.x - self._pointer[0], event.y - self._pointer[1]
        self._pointer = (event.x, event.y)
        if self._ground is None:
            return
        if self.flying:
            self._turn(across * LOOK_DEGREES_PER_UNIT, down * LOOK_DEGREES_PER_UNIT)
        elif self._drag is None:
            return
        elif self._panning:
            self._pan(event.x, event.y, across, down)
        else:
            self._before_top_view = None
            self._goal = replace(
                self._goal,
                heading=self._goal.heading + across * DEGREES_PER_UNIT,
                pitch=self._goal.pitch + down * DEGREES_PER_UNIT,
            )
            self._limit()

    def scroll(self, amount: float, x: float, y: float) -> None:
        """Zoom towards the ground under the pointer; in flight change the speed."""
        if self._ground is None:
            return
        if self.flying:
            self._pace = min(max(self._pace / ZOOM_PER_NOTCH**amount, SLOWEST_PACE), FASTEST_PACE)
            return
        goal = self._camera_of(self._goal)
        fixed = self._ground.hit(*goal.ray(*self._picture_point(x, y), self._aspect)) or goal.target
        nearest, farthest = self._distance_range()
        factor = min(max(goal.distance * ZOOM_PER_NOTCH**amount, nearest), farthest) / goal.distance
        self._go_to(
            replace(
                self._goal,
                east=fixed.x + (self._goal.east - fixed.x) * factor,
                south=fixed.z + (self._goal.south - fixed.z) * factor,
                elevation=(fixed.y + (goal.target.y - fixed.y) * factor) / self._ground.exaggeration,
                distance=self._goal.distance * factor,
            )
        )

    def hold(self, place: str) -> None:
        """A key went down."""
        self._held.add(place)

    def let_go(self, place: str) -> None:
        self._held.discard(place)

    def steer(self, steered: Steered) -> None:
        """Steer with a gamepad until its state changes. Takes off by itself."""
        if steered != Steered() and not self.flying:
            self.toggle_fly()
        self._steered = steered if self.flying else Steered()

    def release_all_keys(self) -> None:
        self._held.clear()
        self._steered = Steered()
        self._drag = None

    def look_at(self, east: float, south: float) -> None:
        """Move the target to a place of the map, with the same direction and distance."""
        if self._ground is None:
            return
        self._leave_flight()
        east = min(max(east, 0.0), self._ground.east)
        south = min(max(south, 0.0), self._ground.south)
        elevation = self._ground.height(east, south) / self._ground.exaggeration
        self._go_to(replace(self._goal, east=east, south=south, elevation=elevation))

    def frame_all(self) -> None:
        """Show the whole land from the current direction."""
        if self._ground is None:
            return
        self._leave_flight()
        ground = self._ground
        pitch = max(self._goal.pitch, 10.0)
        middle = glm.vec3(ground.east / 2.0, (ground.lowest + ground.highest) / 2.0, ground.south / 2.0)
        camera = Camera(middle, self._goal.heading, pitch, 1.0, self._field_of_view)
        corners = [
            glm.vec3(east, height, south)
            for east in (0.0, ground.east)
            for height in (ground.lowest, ground.highest)
            for south in (0.0, ground.south)
        ]
        distance = FRAME_MARGIN * _distance_to_see(camera, corners, self._view_aspect)
        self._go_to(self._pose_of(replace(camera, distance=distance)))

    def top_view(self) -> None:
        """Look straight down, north up; again: back to the direction before."""
        if self._ground is None:
            return
        self._leave_flight()
        if self._before_top_view and self._goal.pitch == STEEPEST:
            heading, pitch = self._before_top_view
            self._before_top_view = None
        else:
            self._before_top_view = (self._goal.heading, self._goal.pitch)
            self._look_at_ground()
            heading, pitch = 0.0, STEEPEST
        self._go_to(replace(self._goal, heading=heading, pitch=pitch))

    def toggle_fly(self) -> None:
        if self.flying:
            self._leave_flight()
        elif self._ground is not None:
            self._rest()
            eye, look_ahead = self.camera().position, FLIGHT_LOOK_AHEAD * self._ground.side
            self._goal = self._pose_at(eye, self._goal.heading, self._goal.pitch, look_ahead)
            self._pose = self._goal
            self.flying = True
            self._drag = None
            self._limit()

    # Helpers.

    def _pan(self, x: float, y: float, across: float, down: float) -> None:
        """Move the target so that the grabbed point is under the pointer again."""
        camera = self._camera_of(self._goal)
        moved = self._dragged(camera, x, y)
        if moved is None:
            # Nothing was grabbed, or the pointer is in the sky: move by the apparent motion of the target.
            unit = 2.0 * math.tan(math.radians(camera.field_of_view) / 2.0) * camera.distance / max(self.height, 1.0)
            heading = math.radians(camera.heading)
            forward = glm.vec3(math.sin(heading), 0.0, -math.cos(heading))
            moved = camera.right * (-across * unit) + forward * (down * unit)
        self._goal = replace(self._goal, east=self._goal.east + moved.x, south=self._goal.south + moved.z)
        self._limit()
        self._pose = self._goal  # dragging has no delay

    def _dragged(self, camera: Camera, x: float, y: float) -> glm.vec3 | None:
        """Vector from the pointer, at the height of the grabbed point, to that point."""
        if self._grabbed is None:
            return None
        origin, direction = camera.ray(*self._picture_point(x, y), self._aspect)
        if direction.y > -0.02:
            return None
        distance = (self._grabbed.y - origin.y) / direction.y
        if not 0.0 < distance < 8.0 * camera.distance:
            return None
        return self._grabbed - (origin + direction * distance)

    def _turn(self, across: float, down: float) -> None:
        """Turn the camera in place."""
        eye = self._camera_of(self._goal).position
        pitch = min(max(self._goal.pitch + down, FLATTEST_IN_FLIGHT), STEEPEST_IN_FLIGHT)
        self._goal = self._pose_at(eye, self._goal.heading + across, pitch, self._goal.distance)
        # Target and angles would approach their goals separately and swing the eye: turn at once.
        self._pose = self._goal

    def _fly(self, dt: float) -> None:
        """Approach the speed of the keys and move; exact for any `dt` while the keys are unchanged."""
        assert self._ground is not None
        steered = self._steered
        if steered.turn or steered.tilt:
            self._turn(steered.turn * STEERED_DEGREES * dt, steered.tilt * STEERED_DEGREES * dt)
        camera = self._camera_of(self._goal)
        wanted = glm.vec3(0.0)
        for key in self._held & FLIGHT_KEYS.keys():
            right, up, forward = FLIGHT_KEYS[key]
            wanted += camera.right * right + glm.vec3(0.0, up, 0.0) + camera.direction * forward
        speed = FLIGHT_SPEED * self._pace * self._ground.side * (FAST_FLIGHT if FAST_KEY in self._held else 1.0)
        wanted = glm.normalize(wanted) * speed if glm.length(wanted) > 0.0 else wanted
        wanted += self._steered_velocity(camera) * speed
        decay = math.exp(-dt / FLIGHT_TIME_CONSTANT)
        moved = wanted * dt + (self._velocity - wanted) * (FLIGHT_TIME_CONSTANT * (1.0 - decay))
        self._velocity = wanted + (self._velocity - wanted) * decay
        if glm.length(wanted) == 0.0 and glm.length(self._velocity) < 1e-4 * speed:
            self._velocity = glm.vec3(0.0)
        self._goal = self._pose_at(camera.position + moved, camera.heading, camera.pitch, camera.distance)
        self._limit()
        self._pose = self._goal

    def _steered_velocity(self, camera: Camera) -> glm.vec3:
        """Velocity of a gamepad, relative to the flight speed; it grows with height above the ground."""
        assert self._ground is not None
        steered, eye = self._steered, camera.position
        velocity = camera.right * steered.right + glm.vec3(0.0, steered.up, 0.0) + camera.direction * steered.forward
        above = (eye.y - self._ground.limit(eye.x, eye.z)) / (STEERED_HEIGHT * self._ground.side)
        return velocity * min(max(above, SLOWEST_STEERED), FASTEST_STEERED)

    def _leave_flight(self) -> None:
        if self.flying:
            self.flying = False
            self._steered = Steered()
            self._velocity = glm.vec3(0.0)
            self._look_at_ground()


def _extent(ground: Ground) -> tuple[float, float]:
    """Extent west to east and north to south in metres, rounded."""
    return round(ground.east, 1), round(ground.south, 1)


def _distance_to_see(camera: Camera, points: Iterable[glm.vec3], aspect: float) -> float:
    """The distance from the target at which all points lie in the picture."""
    tall = math.tan(math.radians(camera.field_of_view) / 2.0)
    wide = tall * aspect
    up = glm.cross(camera.right, camera.direction)
    farthest = 0.0
    for point in points:
        away = point - camera.target
        nearer = -glm.dot(away, camera.direction)
        across, along = abs(glm.dot(away, camera.right)), abs(glm.dot(away, up))
        farthest = max(farthest, nearer + across / wide, nearer + along / tall)
    return farthest
