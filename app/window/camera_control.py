"""How a person moves the camera: orbit, pan, zoom, fly, and the ready-made views.

Everything that is asked for changes a goal; the camera nears the goal exponentially, with the same path at any frame
rate. The goal is what tests and saved scenes see; the picture is drawn from `camera()`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec
from pyglm import glm

from app.model.view_parameters import CameraParameters
from app.picture.camera import CLEARANCE, Camera, farther_away, lifted, opening_camera
from app.picture.ground import Ground
from app.window.events import Button, ButtonPressed, PointerMoved, Steered

TIME_CONSTANT = 0.08  # seconds in which the camera comes nearer to its goal by a factor of e
FLIGHT_TIME_CONSTANT = 0.25

DEGREES_PER_UNIT = 0.3  # of a drag
LOOK_DEGREES_PER_UNIT = 0.12  # of the mouse in flight
ZOOM_PER_NOTCH = 0.86
STEEPEST, FLATTEST = 90.0, -30.0  # pitch in degrees
STEEPEST_IN_FLIGHT, FLATTEST_IN_FLIGHT = 89.0, -60.0

# Parts of the map's longer side.
FARTHEST = 6.0
TARGET_MARGIN = 0.5
FLIGHT_MARGIN = 2.0
FLIGHT_SPEED = 0.12  # per second
FLIGHT_LOOK_AHEAD = 0.25
NEAREST_IN_CELLS = 4.0

FAST_FLIGHT = 4.0
STEERED_DEGREES = 110.0  # per second, by a gamepad
STEERED_HEIGHT = 0.2  # parts of the map's longer side: above the ground by it, a gamepad flies as fast as keys do
SLOWEST_STEERED, FASTEST_STEERED = 0.3, 4.0  # times as fast, nearer to the ground and higher above it
SLOWEST_PACE, FASTEST_PACE = 0.1, 8.0
FRAME_MARGIN = 1.06
FARTHER_THAN_BEFORE = 1.6  # or nearer: from there, the middle of a picture shows something else

# Where keys carry the camera in flight: to the right, up, forward.
FLIGHT_KEYS: dict[str, tuple[float, float, float]] = {
    "W": (0.0, 0.0, 1.0),
    "S": (0.0, 0.0, -1.0),
    "A": (-1.0, 0.0, 0.0),
    "D": (1.0, 0.0, 0.0),
    "Q": (0.0, -1.0, 0.0),
    "E": (0.0, 1.0, 0.0),
}
FAST_KEY = "Shift"


@dataclass(frozen=True)
class Pose:
    """Where the camera is. The target's height is in metres above the sea and not exaggerated."""

    east: float
    elevation: float
    south: float
    heading: float
    pitch: float
    distance: float

    def toward(self, goal: Pose, part: float) -> Pose:
        """`part` of the way to a goal. All numbers move alike, so that what is fixed for both poses stays fixed."""

        def between(name: str) -> float:
            here: float = getattr(self, name)
            there: float = getattr(goal, name)
            return here + (there - here) * part

        return Pose(*(between(name) for name in POSE_FIELDS))


POSE_FIELDS = tuple(Pose.__dataclass_fields__)


class CameraControl:
    """The camera, and what mouse, wheel and keys do to it.

    `width` and `height` are the picture's size in the units in which the pointer is counted; `free` is the part of its
    width that nothing covers, from 0 at the left to 1 at the right. Where pictures lie side by side, these are those of
    the one that the pointer is on; `view_aspect` is what ready-made views are made for in all of them, or None where it
    is that of what is free.
    """

    def __init__(self) -> None:
        self.flying = False
        self.width, self.height = 1.0, 1.0
        self.free = (0.0, 1.0)
        self.view_aspect: float | None = None
        self._ground: Ground | None = None
        self._other_grounds: tuple[Ground, ...] = ()
        self._field_of_view = CameraParameters().field_of_view
        self._pose = self._goal = Pose(0.0, 0.0, 0.0, 0.0, 45.0, 1.0)
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
        """Another one, which is at the same place and at rest."""
        other = CameraControl()
        for name in ("width", "height", "free", "view_aspect", "_ground", "_field_of_view", "_pose", "_goal"):
            setattr(other, name, getattr(self, name))
        return other

    # What the application tells.

    @property
    def ready(self) -> bool:
        """Whether there is a ground to look at."""
        return self._ground is not None

    def see(self, ground: Ground, *others: Ground) -> None:
        """Take the ground as it is now, and those of other pictures that are seen from the same camera.

        Another exaggeration leaves the same point of the ground in view.
        """
        self._ground, self._other_grounds = ground, others
        self._limit()

    def see_another(self, ground: Ground, *others: Ground) -> None:
        """Take the ground of another world. A view that fits it, too, stays as it is.

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

    def _sight(self, ground: Ground) -> float | None:
        """How far away the ground in the middle of the picture is, in distances of the target; None: none is there."""
        camera = self._camera_of(self._goal)
        hit = ground.hit(camera.position, camera.direction)
        return None if hit is None else glm.length(hit - camera.position) / camera.distance

    def _shows_as_much(self, showed: float | None) -> bool:
        """Whether the goal lies above the ground, and sees what is in its middle from about as far as before."""
        assert self._ground is not None
        eye = self._camera_of(self._goal).position
        if eye.y < self._lowest_eye(eye):
            return False
        shows = self._sight(self._ground)
        if shows is None or showed is None:
            return shows is showed
        return 1.0 / FARTHER_THAN_BEFORE < shows / max(showed, 1e-6) < FARTHER_THAN_BEFORE

    def keep_width_of_view(self, aspect: float) -> None:
        """Go so far away, or come so near, that the land fills the picture as it did one with another aspect."""
        factor = farther_away(self._view_aspect) / farther_away(aspect)
        self._goal = replace(self._goal, distance=self._goal.distance * factor)
        self._limit()

    def open(self, parameters: CameraParameters, *, at_once: bool = True) -> None:
        """The view that a scene opens with."""
        if self._ground is None:
            return
        ground = self._ground
        east, south = parameters.target_east * ground.east, parameters.target_south * ground.south
        height = ground.height(east, south)
        shape = ground.rows, ground.columns, ground.cell_size
        camera = opening_camera(parameters, *shape, height, self._view_aspect)
        self._field_of_view = parameters.field_of_view
        self._leave_flight()
        self._go_to(self._pose_of(camera))
        if at_once:
            self._pose = self._goal

    def place(self, camera: Camera) -> None:
        """Be where a path leads."""
        self._leave_flight()
        self._field_of_view = camera.field_of_view
        self._goal = self._pose = self._pose_of(camera)

    def parameters(self) -> CameraParameters:
        """The present goal as the opening view of a scene, within the ranges that are declared for one."""
        ground = self._ground
        side, width, height = (ground.side, ground.east, ground.south) if ground else (1.0, 1.0, 1.0)
        goal = self._goal
        return msgspec.structs.replace(
            CameraParameters(),
            heading=round(goal.heading % 360.0, 2),
            pitch=round(min(max(goal.pitch, 1.0), 90.0), 2),
            distance=round(min(max(goal.distance / farther_away(self._view_aspect) / side, 0.01), 10.0), 4),
            target_east=round(min(max(goal.east / width, -1.0), 2.0), 4),
            target_south=round(min(max(goal.south / height, -1.0), 2.0), 4),
            field_of_view=self._field_of_view,
        )

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

    def camera(self) -> Camera:
        """What the picture is drawn from: as near to the goal as time allows, and never below the ground."""
        return self._above_ground(self._camera_of(self._pose))

    def goal(self) -> Camera:
        """Where the camera will come to rest."""
        return self._above_ground(self._camera_of(self._goal))

    # What a person does.

    @property
    def dragging(self) -> bool:
        return self._drag is not None

    def press(self, event: ButtonPressed) -> None:
        """A drag begins."""
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
        """A drag ends."""
        if button is self._drag:
            self._drag = None
            self._grabbed = None
            if not self.flying:
                self._look_at_ground()

    def move(self, event: PointerMoved) -> None:
        """The pointer moved, in a drag or in flight."""
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
        """Zoom towards the ground under the pointer, which stays there; in flight: faster or slower."""
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
        """A gamepad moves and turns the camera so, until it says otherwise. It takes off by itself."""
        if steered != Steered() and not self.flying:
            self.toggle_fly()
        self._steered = steered if self.flying else Steered()

    def let_go_of_all(self) -> None:
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
        """The whole land in the picture, from the direction that the camera has now."""
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
        """Straight down, with north at the top; once more: back to the direction before."""
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
            eye = self.camera().position
            self._goal = self._pose_at(eye, self._goal.heading, self._goal.pitch, self._look_ahead())
            self._pose = self._goal
            self.flying = True
            self._drag = None
            self._limit()

    # How it is done.

    @property
    def _aspect(self) -> float:
        return self.width / max(self.height, 1.0)

    @property
    def _view_aspect(self) -> float:
        return self.view_aspect or self._aspect * (self.free[1] - self.free[0])

    @property
    def _middle(self) -> float:
        """Where across the picture the target is seen: in the middle of what is free."""
        return self.free[0] + self.free[1] - 1.0

    def ground_under(self, x: float, y: float) -> glm.vec3 | None:
        """The point of the ground under the pointer, in picture space."""
        if self._ground is None:
            return None
        return self._ground.hit(*self.camera().ray(*self._picture_point(x, y), self._aspect))

    def _picture_point(self, x: float, y: float) -> tuple[float, float]:
        return 2.0 * x / max(self.width, 1.0) - 1.0, 1.0 - 2.0 * y / max(self.height, 1.0)

    def _pan(self, x: float, y: float, across: float, down: float) -> None:
        """Move the target so that what was grabbed is under the pointer again."""
        camera = self._camera_of(self._goal)
        moved = self._dragged(camera, x, y)
        if moved is None:
            # Nothing was grabbed, or the pointer is in the sky: as much as the target seems to move.
            unit = 2.0 * math.tan(math.radians(camera.field_of_view) / 2.0) * camera.distance / max(self.height, 1.0)
            heading = math.radians(camera.heading)
            forward = glm.vec3(math.sin(heading), 0.0, -math.cos(heading))
            moved = camera.right * (-across * unit) + forward * (down * unit)
        self._goal = replace(self._goal, east=self._goal.east + moved.x, south=self._goal.south + moved.z)
        self._limit()
        self._pose = self._goal  # the hand holds the ground: no delay

    def _dragged(self, camera: Camera, x: float, y: float) -> glm.vec3 | None:
        """From where the pointer is, on the level of what was grabbed, to what was grabbed."""
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
        """Look around from where the camera is."""
        eye = self._camera_of(self._goal).position
        pitch = min(max(self._goal.pitch + down, FLATTEST_IN_FLIGHT), STEEPEST_IN_FLIGHT)
        self._goal = self._pose_at(eye, self._goal.heading + across, pitch, self._goal.distance)
        # Target and angles near their goals apart from each other, which would swing the eye about: look at once.
        self._pose = self._goal

    def _fly(self, dt: float) -> None:
        """Near the speed that the keys ask for, and move; exact for any `dt` as long as the keys stay the same."""
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
        """What a gamepad asks for, in parts of the speed of flight: more the higher the camera is above the ground."""
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

    def _look_ahead(self) -> float:
        assert self._ground is not None
        return FLIGHT_LOOK_AHEAD * self._ground.side

    def _rest(self) -> None:
        """Give up the way to the goal: what a hand takes hold of stands still."""
        self._goal = self._pose

    def _look_at_ground(self) -> None:
        """Make the ground in the middle of the picture the target, which changes nothing that is seen."""
        assert self._ground is not None
        settled = self._pose == self._goal
        camera = self.goal()
        hit = self._ground.hit(camera.position, camera.direction)
        if hit is None:
            self._goal = self._pose_of(camera)
        else:
            nearest, farthest = self._distance_range()
            distance = min(max(glm.length(hit - camera.position), nearest), farthest)
            self._goal = self._pose_of(
                replace(camera, target=camera.position + camera.direction * distance, distance=distance)
            )
        if settled:
            self._pose = self._goal

    def _go_to(self, goal: Pose) -> None:
        """Set the goal, and turn there the shorter way round."""
        turn = (goal.heading - self._pose.heading + 180.0) % 360.0 - 180.0
        self._goal = replace(goal, heading=self._pose.heading + turn)
        self._limit()

    def _distance_range(self) -> tuple[float, float]:
        assert self._ground is not None
        return NEAREST_IN_CELLS * self._ground.cell_size, FARTHEST * self._ground.side

    def _limit(self) -> None:
        """Keep the goal where one cannot get lost."""
        if self._ground is None:
            return
        ground = self._ground
        if self.flying:
            margin = FLIGHT_MARGIN * ground.side
            camera = self._camera_of(self._goal)
            eye = camera.position
            inside = glm.vec3(
                min(max(eye.x, -margin), ground.east + margin),
                min(max(eye.y, self._lowest_eye(eye)), ground.highest + margin),
                min(max(eye.z, -margin), ground.south + margin),
            )
            self._goal = self._pose_at(inside, camera.heading, camera.pitch, camera.distance)
            return
        margin = TARGET_MARGIN * ground.side
        nearest, farthest = self._distance_range()
        self._goal = replace(
            self._goal,
            east=min(max(self._goal.east, -margin), ground.east + margin),
            south=min(max(self._goal.south, -margin), ground.south + margin),
            pitch=min(max(self._goal.pitch, FLATTEST), STEEPEST),
            distance=min(max(self._goal.distance, nearest), farthest),
        )

    def _lowest_eye(self, eye: glm.vec3) -> float:
        assert self._ground is not None
        grounds = (self._ground, *self._other_grounds)
        return max(ground.limit(eye.x, eye.z) for ground in grounds) + CLEARANCE * self._ground.side

    def _above_ground(self, camera: Camera) -> Camera:
        """The same camera, lifted out of the ground where it is in it, still looking at its target."""
        if self._ground is None:
            return camera
        return lifted(camera, self._lowest_eye(camera.position))

    def _camera_of(self, pose: Pose) -> Camera:
        exaggeration = self._ground.exaggeration if self._ground else 1.0
        target = glm.vec3(pose.east, pose.elevation * exaggeration, pose.south)
        return Camera(target, pose.heading, pose.pitch, pose.distance, self._field_of_view, self._middle)

    def _pose_of(self, camera: Camera) -> Pose:
        exaggeration = self._ground.exaggeration if self._ground else 1.0
        target = camera.target
        return Pose(target.x, target.y / exaggeration, target.z, camera.heading, camera.pitch, camera.distance)

    def _pose_at(self, eye: glm.vec3, heading: float, pitch: float, distance: float) -> Pose:
        """The pose that looks from `eye`."""
        camera = Camera(eye, heading, pitch, distance, self._field_of_view)
        return self._pose_of(replace(camera, target=eye + camera.direction * distance))

    def _far_from_goal(self) -> bool:
        """Whether the rest of the way could still be seen."""
        side = self._ground.side if self._ground else 1.0
        tolerance = 1e-5 * min(side, self._goal.distance)
        tolerances = (tolerance, tolerance, tolerance, 1e-3, 1e-3, tolerance)
        return any(
            abs(getattr(self._pose, name) - getattr(self._goal, name)) > allowed
            for name, allowed in zip(POSE_FIELDS, tolerances, strict=True)
        )


def _extent(ground: Ground) -> tuple[float, float]:
    """Metres from west to east and from north to south, as exactly as a view depends on them."""
    return round(ground.east, 1), round(ground.south, 1)


def _distance_to_see(camera: Camera, points: Iterable[glm.vec3], aspect: float) -> float:
    """How far from its target a camera must be for all points to lie in the picture."""
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
