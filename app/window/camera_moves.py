"""Ready-made moves of the camera, as keys on the time line."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.model.camera_path import CameraKey
from app.model.snapshot import FlowPath
from app.model.view_parameters import CameraParameters

ORBIT_KEYS = 8  # per turn
FLIGHT = (0.1, 0.35, 0.6, 0.85)  # fractions of the path over the land
FLIGHT_PITCH, FLIGHT_DISTANCE = 20.0, 0.42
RIVER_KEYS, RIVER_PITCH, RIVER_DISTANCE = 7, 26.0, 0.3
DROP_KEYS, DROP_PITCH, DROP_DISTANCE = 14, 16.0, 0.08
AHEAD = 0.12  # fraction of the path that the camera looks ahead, so that it turns early


def key_of(cycle: int, view: CameraParameters) -> CameraKey:
    """A view as a key."""
    return CameraKey(
        cycle, view.heading, view.pitch, view.distance, view.target_east, view.target_south, view.field_of_view
    )


def orbit(view: CameraParameters, first: int, cycles: int) -> list[CameraKey]:
    """Once around the target."""
    here = key_of(first, view)
    return [
        here._replace(cycle=first + cycles * turn // ORBIT_KEYS, heading=view.heading + 360.0 * turn / ORBIT_KEYS)
        for turn in range(ORBIT_KEYS + 1)
    ]


def fly_over(view: CameraParameters, first: int, cycles: int) -> list[CameraKey]:
    """Low over the middle of the land, in the current direction."""
    heading = math.radians(view.heading)
    return [
        CameraKey(
            first + cycles * number // (len(FLIGHT) - 1),
            view.heading,
            FLIGHT_PITCH,
            FLIGHT_DISTANCE,
            0.5 + (part - 0.5) * math.sin(heading),
            0.5 - (part - 0.5) * math.cos(heading),
            view.field_of_view,
        )
        for number, part in enumerate(FLIGHT)
    ]


def follow_river(flow_path: FlowPath, shape: tuple[int, int], first: int, cycles: int) -> list[CameraKey]:
    """Down a flow path, seen from above beside it."""
    return _along(flow_path, shape, first, cycles, RIVER_KEYS, RIVER_PITCH, RIVER_DISTANCE)


def follow_drop(flow_path: FlowPath, shape: tuple[int, int], first: int, cycles: int) -> list[CameraKey]:
    """Down a flow path, close to the water."""
    return _along(flow_path, shape, first, cycles, DROP_KEYS, DROP_PITCH, DROP_DISTANCE)


def _along(
    flow_path: FlowPath, shape: tuple[int, int], first: int, cycles: int, count: int, pitch: float, distance: float
) -> list[CameraKey]:
    south, east = ((flow_path.places[:, axis] + 0.5) / shape[axis] for axis in (0, 1))
    parts = np.linspace(0.0, 1.0, count)
    rows, columns = shape
    keys: list[CameraKey] = []
    for number, part in enumerate(parts):
        here, there = _place(south, east, part), _place(south, east, min(part + AHEAD, 1.0))
        away = (there[0] - here[0]) * rows, (there[1] - here[1]) * columns
        heading = (
            math.degrees(math.atan2(away[1], -away[0])) % 360.0 if any(away) else keys[-1].heading if keys else 0.0
        )
        keys.append(CameraKey(first + cycles * number // (count - 1), heading, pitch, distance, here[1], here[0]))
    return keys


def _place(south: NDArray[np.float64], east: NDArray[np.float64], part: float) -> tuple[float, float]:
    """The path averaged over a stretch, so that the camera does not follow each bend."""
    middle, reach = part * (len(south) - 1), max(len(south) / 16.0, 1.0)
    low, high = max(int(middle - reach), 0), min(int(middle + reach) + 1, len(south))
    return float(np.mean(south[low:high])), float(np.mean(east[low:high]))


# By the labels of buttons.
OVER_LAND = {"orbit": orbit, "fly over": fly_over}
ALONG_WATER = {"follow river": follow_river, "follow drop": follow_drop}
