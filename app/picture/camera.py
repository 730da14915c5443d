"""The camera of a picture.

Picture space: x east, y up, z south, in metres; the map's north-western corner is the origin, and y is the elevation
times the view's exaggeration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pyglm import glm

from app.model.view_parameters import CameraParameters

OPENING_ASPECT = 1.2  # aspect ratio that opening views are composed for; wider pictures show more at the sides
CLEARANCE = 0.004  # of the map's longer side: least height of the eye above ground
NEAREST_DRAWN = 0.004  # of the distance to the target: near plane; a smaller one costs precision


@dataclass(frozen=True)
class Camera:
    """A camera that looks at `target` from `distance` metres away.

    `heading` is the direction of view in degrees (0 north, 90 east), `pitch` the angle downwards, `field_of_view` the
    vertical angle of the picture. `middle` is where across the picture the target is seen, from -1 at
    the left edge to 1 at the right: a panel may cover some of the picture.
    """

    target: glm.vec3
    heading: float
    pitch: float
    distance: float
    field_of_view: float = 32.0
    middle: float = 0.0

    @property
    def direction(self) -> glm.vec3:
        """The unit vector in which the camera looks."""
        heading, pitch = math.radians(self.heading), math.radians(self.pitch)
        return glm.vec3(
            math.sin(heading) * math.cos(pitch),
            -math.sin(pitch),
            -math.cos(heading) * math.cos(pitch),
        )

    @property
    def horizontal_direction(self) -> glm.vec3:
        """The horizontal unit vector of the direction of view."""
        heading = math.radians(self.heading)
        return glm.vec3(math.sin(heading), 0.0, -math.cos(heading))

    @property
    def position(self) -> glm.vec3:
        return self.target - self.direction * self.distance

    @property
    def right(self) -> glm.vec3:
        """The unit vector to the right of the picture; defined by the heading, so also when looking straight down."""
        heading = math.radians(self.heading)
        return glm.vec3(math.cos(heading), 0.0, math.sin(heading))

    @property
    def up(self) -> glm.vec3:
        """The unit vector to the top of the picture."""
        return glm.cross(self.right, self.direction)

    def view(self) -> glm.mat4:
        """From picture space to that of the camera."""
        # Not glm.lookAt: it takes a point to look at, and single precision loses the direction far from the origin.
        right, up, back, eye = self.right, self.up, -self.direction, self.position
        # fmt: off
        return glm.mat4(
            right.x, up.x, back.x, 0.0,
            right.y, up.y, back.y, 0.0,
            right.z, up.z, back.z, 0.0,
            -glm.dot(right, eye), -glm.dot(up, eye), -glm.dot(back, eye), 1.0,
        )
        # fmt: on

    def projection(self, aspect: float) -> glm.mat4:
        """From view to clip space, without a far plane."""
        near = NEAREST_DRAWN * self.distance
        matrix = glm.infinitePerspective(math.radians(self.field_of_view), max(aspect, 1e-3), near)
        matrix[2][0] = -self.middle
        return matrix

    def ray(self, x: float, y: float, aspect: float) -> tuple[glm.vec3, glm.vec3]:
        """Origin and unit direction through a point of the picture; x and y from -1 to 1, y upwards."""
        across, up, ahead = self.picture_axes(aspect)
        return self.position, glm.normalize(ahead + across * x + up * y)

    def place_of(self, point: glm.vec3, aspect: float) -> tuple[float, float] | None:
        """The position of a point in the picture, x and y from -1 to 1, y upwards; None if it is behind."""
        way = point - self.position
        ahead = glm.dot(way, self.direction)
        if ahead <= 0.0:
            return None
        height = ahead * math.tan(math.radians(self.field_of_view) / 2.0)
        return glm.dot(way, self.right) / (height * aspect) + self.middle, glm.dot(way, self.up) / height

    def picture_axes(self, aspect: float) -> tuple[glm.vec3, glm.vec3, glm.vec3]:
        """Axes of the direction of a picture point: x times the first, y times the second, plus the third."""
        height = math.tan(math.radians(self.field_of_view) / 2.0)
        across = self.right * (height * aspect)
        return across, self.up * height, self.direction - across * self.middle

    def horizon(self, aspect: float, dip: float = 0.0) -> float:
        """The height of the horizon in the picture, from 0 at the bottom to 1 at the top; beyond if not visible.

        `dip` is the slope by which it lies below the level of the eye.
        """
        _, up, ahead = self.picture_axes(aspect)
        # Directions on the side of this vector are above the horizon.
        above = glm.vec3(0.0, 1.0, 0.0) + self.horizontal_direction * dip
        rises, begins = glm.dot(up, above), glm.dot(ahead, above)
        if rises < 1e-6:
            return -math.inf if begins > 0.0 else math.inf
        return 0.5 - 0.5 * begins / rises


def lifted(camera: Camera, lowest: float) -> Camera:
    """The camera raised so that its eye is at least at `lowest`, looking at the same target."""
    eye = camera.position
    if eye.y >= lowest:
        return camera
    eye = glm.vec3(eye.x, lowest, eye.z)
    away = camera.target - eye
    distance = glm.length(away)
    pitch = math.degrees(math.asin(min(max(-away.y / max(distance, 1e-6), -1.0), 1.0)))
    raised = replace(camera, pitch=pitch, distance=distance)
    return replace(raised, target=eye + raised.direction * distance)


def farther_away(aspect: float) -> float:
    """The factor of distance at which a narrow picture shows the usual width."""
    return max(OPENING_ASPECT / max(aspect, 1e-3), 1.0)


def opening_camera(
    parameters: CameraParameters,
    rows: int,
    columns: int,
    cell_size: float,
    ground_height: float,
    aspect: float = OPENING_ASPECT,
) -> Camera:
    """The camera that a scene opens with; `ground_height` is the height in picture space that it looks at."""
    side = max(rows, columns) * cell_size
    return Camera(
        target=glm.vec3(
            parameters.target_east * columns * cell_size, ground_height, parameters.target_south * rows * cell_size
        ),
        heading=parameters.heading,
        pitch=parameters.pitch,
        distance=parameters.distance * side * farther_away(aspect),
        field_of_view=parameters.field_of_view,
    )
