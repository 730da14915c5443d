"""Smooth camera paths through keys, above the ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from app.model.camera_path import CameraKey
from app.model.curves import curve_at
from app.model.view_parameters import CameraParameters
from app.picture.camera import OPENING_ASPECT, Camera, opening_camera
from app.picture.ground import Ground, above_ground

CENTRIPETAL = 0.5  # the power of the distance between keys, with which a curve neither loops nor overshoots
PLACES = 12  # samples of the ground between two keys
CLEARANCE = 0.02  # of the map's longer side, between the ground and the eye
LEAST_CLEARANCE = 0.005
STEADY = 0.02  # of the map's longer side: averaging of the ground under a target
SMOOTHED = 3  # samples on each side over which a lift is spread


Vector = NDArray[np.float64]
Between = Callable[[Vector, Vector, float], Vector]
Farthest = Callable[[Vector, Vector, Vector], float]


class CameraPath:
    """The path through keys over a ground.

    The eye follows a centripetal Catmull-Rom spline (Catmull & Rom 1974; Yuksel, Schaefer & Keyser 2011), the direction
    the same construction on the sphere, with slerp instead of lerp (Schlag 1991). The position along the path is a
    monotone curve of the cycle, with zero speed at the ends and where a key holds.
    """

    def __init__(self, keys: Sequence[CameraKey], ground: Ground, aspect: float = OPENING_ASPECT) -> None:
        cameras = [_camera(key, ground, aspect) for key in keys]
        self._eyes = [np.array(camera.position) for camera in cameras]
        self._directions = [np.array(camera.direction) for camera in cameras]
        self._distances = [camera.distance for camera in cameras]
        self._fields_of_view = [camera.field_of_view for camera in cameras]
        self._ground = ground
        self._single = above_ground(cameras[0], ground) if len(cameras) == 1 else None
        self._knots = _knots(self._eyes, self._directions, ground.side)
        self._cycles, self._places = _timing(keys, self._knots)
        self._lifts = self._needed_lifts() if self._single is None else np.zeros(1)

    def at(self, cycle: float) -> Camera:
        """The camera at a cycle; constant before the first and after the last key."""
        if self._single is not None:
            return self._single
        place = curve_at(self._cycles, self._places, cycle)
        eye = _through(self._eyes, self._knots, place, _lerp)
        eye[1] += np.interp(place, np.linspace(self._knots[0], self._knots[-1], len(self._lifts)), self._lifts)
        # Rough ground between the samples.
        lowest = self._ground.limit(float(eye[0]), float(eye[2])) + LEAST_CLEARANCE * self._ground.side
        eye[1] = max(eye[1], lowest)
        direction = _through(self._directions, self._knots, place, _slerp, _less_than_half_a_turn)
        distance = curve_at(self._knots, self._distances, place)
        return _looking(eye, direction, distance, curve_at(self._knots, self._fields_of_view, place))

    def _needed_lifts(self) -> Vector:
        """Smooth lifts of the eye at even samples along the path, at least as high as needed."""
        places = np.linspace(self._knots[0], self._knots[-1], PLACES * (len(self._knots) - 1) + 1)
        eyes = [_through(self._eyes, self._knots, float(place), _lerp) for place in places]
        lowest = CLEARANCE * self._ground.side
        needed = np.array([self._ground.limit(float(eye[0]), float(eye[2])) + lowest - eye[1] for eye in eyes])
        needed = np.maximum(needed, 0.0)
        padded = np.pad(needed, SMOOTHED, mode="edge")
        highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * SMOOTHED + 1).max(axis=1)
        padded = np.pad(highest, SMOOTHED, mode="edge")
        means = np.lib.stride_tricks.sliding_window_view(padded, 2 * SMOOTHED + 1).mean(axis=1)
        lifts: Vector = np.maximum(means, needed)
        return lifts


def _camera(key: CameraKey, ground: Ground, aspect: float) -> Camera:
    view = CameraParameters(
        heading=key.heading,
        pitch=key.pitch,
        distance=key.distance,
        target_east=key.east,
        target_south=key.south,
        field_of_view=key.field_of_view,
    )
    height = ground.mean_height(key.east * ground.east, key.south * ground.south, STEADY * ground.side)
    return opening_camera(view, ground.rows, ground.columns, ground.cell_size, height, aspect)


def _looking(eye: Vector, direction: Vector, distance: float, field_of_view: float) -> Camera:
    heading = math.degrees(math.atan2(direction[0], -direction[2]))
    pitch = math.degrees(math.asin(min(max(-direction[1], -1.0), 1.0)))
    target = glm.vec3(*(eye + direction * distance))
    return Camera(target, heading % 360.0, pitch, distance, field_of_view)


def _knots(eyes: Sequence[Vector], directions: Sequence[Vector], side: float) -> list[float]:
    """The positions of keys along the path, from movement and rotation of the eye."""
    knots = [0.0]
    for number in range(1, len(eyes)):
        moved = float(np.linalg.norm(eyes[number] - eyes[number - 1])) / side
        turned = _angle(directions[number - 1], directions[number])
        knots.append(knots[-1] + max(moved + turned, 1e-6) ** CENTRIPETAL)
    return knots


def _timing(keys: Sequence[CameraKey], knots: Sequence[float]) -> tuple[list[float], list[float]]:
    """Cycles, and the positions along the path at them."""
    cycles: list[float] = []
    places: list[float] = []
    for key, knot in zip(keys, knots, strict=True):
        for cycle in (key.cycle, key.cycle + key.hold) if key.hold else (key.cycle,):
            if not cycles or cycle > cycles[-1]:
                cycles.append(float(cycle))
                places.append(knot)
    return cycles, places


def _farthest_extrapolation(before: Vector, one: Vector, other: Vector) -> float:
    return math.inf


def _less_than_half_a_turn(before: Vector, one: Vector, other: Vector) -> float:
    """The largest extrapolation of a turn beyond `one`, as a fraction, that stays within half a turn of `other`."""
    return 0.9 * (math.pi - _angle(one, other)) / max(_angle(before, one), 1e-6)


def _through(
    points: Sequence[Vector],
    knots: Sequence[float],
    place: float,
    between: Between,
    farthest: Farthest = _farthest_extrapolation,
) -> Vector:
    """The point at a place of a Catmull-Rom spline, by the pyramid of Barry & Goldman (1988).

    `between(a, b, part)` is lerp, or slerp on the sphere. There `farthest` limits extrapolation, because beyond half a
    turn the next slerp would take the other way round. The ends of the path are extrapolated.
    """
    segment = min(max(int(np.searchsorted(knots, place, side="right")) - 1, 0), len(points) - 2)
    p1, p2 = points[segment], points[segment + 1]
    t1, t2 = knots[segment], knots[segment + 1]
    if segment > 0:
        p0, t0 = points[segment - 1], knots[segment - 1]
    else:
        p0, t0 = between(p1, p2, -1.0), t1 - (t2 - t1)
    if segment + 2 < len(points):
        p3, t3 = points[segment + 2], knots[segment + 2]
    else:
        p3, t3 = between(p1, p2, 2.0), t2 + (t2 - t1)
    a1 = between(p0, p1, min((place - t0) / (t1 - t0), 1.0 + farthest(p0, p1, p2)))
    a2 = between(p1, p2, (place - t1) / (t2 - t1))
    a3 = between(p2, p3, max((place - t2) / (t3 - t2), -farthest(p3, p2, p1)))
    b1 = between(a1, a2, (place - t0) / (t2 - t0))
    b2 = between(a2, a3, (place - t1) / (t3 - t1))
    return np.array(between(b1, b2, (place - t1) / (t2 - t1)))


def _lerp(one: Vector, other: Vector, part: float) -> Vector:
    return one + (other - one) * part


def _slerp(one: Vector, other: Vector, part: float) -> Vector:
    """Along the great circle through two directions (Shoemake 1985), also beyond them."""
    angle = _angle(one, other)
    if angle < 1e-7:
        return one
    if math.pi - angle < 1e-4:  # opposite: any great circle
        other = other + np.array([1e-3, 0.0, 1e-3])
        other /= np.linalg.norm(other)
        angle = _angle(one, other)
    sine = math.sin(angle)
    return one * (math.sin((1.0 - part) * angle) / sine) + other * (math.sin(part * angle) / sine)


def _angle(one: Vector, other: Vector) -> float:
    # From sine and cosine: each alone is imprecise somewhere.
    return math.atan2(float(np.linalg.norm(np.cross(one, other))), float(np.dot(one, other)))
