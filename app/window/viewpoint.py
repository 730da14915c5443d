"""The camera over a land: pose, goal, and what it sees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
from pyglm import glm

from app.model.view_parameters import CameraParameters
from app.picture.camera import Camera, farther_away
from app.picture.ground import Ground, above_ground

STEEPEST, FLATTEST = 90.0, -30.0  # pitch in degrees

# Fractions of the map's longer side.
FARTHEST = 6.0
TARGET_MARGIN = 0.5
FLIGHT_MARGIN = 2.0
NEAREST_IN_CELLS = 4.0


@dataclass(frozen=True)
class Pose:
    """A camera pose. The height of the target is in metres above sea level, not exaggerated."""

    east: float
    elevation: float
    south: float
    heading: float
    pitch: float
    distance: float

    def toward(self, goal: Pose, part: float) -> Pose:
        """The pose at `part` of the way to a goal. All numbers move alike, so that common fixed points stay fixed."""

        def between(name: str) -> float:
            here: float = getattr(self, name)
            there: float = getattr(goal, name)
            return here + (there - here) * part

        return Pose(*(between(name) for name in POSE_FIELDS))


POSE_FIELDS = tuple(Pose.__dataclass_fields__)


class Viewpoint:
    """A pose over the ground that approaches a goal. The goal is limited to useful views.

    `width` and `height` are the picture's size in the units in which the pointer is counted; `free` is the part of its
    width that nothing covers, from 0 at the left to 1 at the right. Where pictures lie side by side, these are those of
    the one that the pointer is on; `view_aspect` is what ready-made views are made for in all of them, or None if it
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

    @property
    def ready(self) -> bool:
        """Whether there is a ground."""
        return self._ground is not None

    def camera(self) -> Camera:
        """The camera of the picture: on its way to the goal, never below the ground."""
        return self._above_ground(self._camera_of(self._pose))

    def goal(self) -> Camera:
        """The camera at its goal."""
        return self._above_ground(self._camera_of(self._goal))

    def parameters(self) -> CameraParameters:
        """The goal as the opening view of a scene, within the ranges of its parameters."""
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

    def ground_under(self, x: float, y: float) -> glm.vec3 | None:
        """The point of the ground under the pointer, in picture space."""
        if self._ground is None:
            return None
        return self._ground.hit(*self.camera().ray(*self._picture_point(x, y), self._aspect))

    # The goal.

    def _sight(self, ground: Ground) -> float | None:
        """Distance of the ground in the centre of the picture over that of the target; None: no ground."""
        camera = self._camera_of(self._goal)
        hit = ground.hit(camera.position, camera.direction)
        return None if hit is None else glm.length(hit - camera.position) / camera.distance

    def _go_to(self, goal: Pose) -> None:
        """Set the goal; the heading turns the shorter way."""
        turn = (goal.heading - self._pose.heading + 180.0) % 360.0 - 180.0
        self._goal = replace(goal, heading=self._pose.heading + turn)
        self._limit()

    def _rest(self) -> None:
        """Stop at the current pose."""
        self._goal = self._pose

    def _look_at_ground(self) -> None:
        """Make the ground in the centre of the picture the target; the picture stays the same."""
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

    def _limit(self) -> None:
        """Limit the goal to useful views."""
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

    def _distance_range(self) -> tuple[float, float]:
        assert self._ground is not None
        return NEAREST_IN_CELLS * self._ground.cell_size, FARTHEST * self._ground.side

    @property
    def _grounds(self) -> tuple[Ground, ...]:
        assert self._ground is not None
        return self._ground, *self._other_grounds

    def _lowest_eye(self, eye: glm.vec3) -> float:
        return max(ground.lowest_eye(eye.x, eye.z) for ground in self._grounds)

    def _above_ground(self, camera: Camera) -> Camera:
        return above_ground(camera, *self._grounds) if self._ground else camera

    def _far_from_goal(self) -> bool:
        """Whether the remaining movement would be visible."""
        side = self._ground.side if self._ground else 1.0
        tolerance = 1e-5 * min(side, self._goal.distance)
        tolerances = (tolerance, tolerance, tolerance, 1e-3, 1e-3, tolerance)
        return any(
            abs(getattr(self._pose, name) - getattr(self._goal, name)) > allowed
            for name, allowed in zip(POSE_FIELDS, tolerances, strict=True)
        )

    # Conversions between poses, cameras and picture coordinates.

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

    def _picture_point(self, x: float, y: float) -> tuple[float, float]:
        return 2.0 * x / max(self.width, 1.0) - 1.0, 1.0 - 2.0 * y / max(self.height, 1.0)

    @property
    def _aspect(self) -> float:
        return self.width / max(self.height, 1.0)

    @property
    def _view_aspect(self) -> float:
        return self.view_aspect or self._aspect * (self.free[1] - self.free[0])

    @property
    def _middle(self) -> float:
        """Horizontal position of the target in the picture: the middle of the free part."""
        return self.free[0] + self.free[1] - 1.0
