"""Slope and light of the ground, computed on the map."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

DIRECTIONS = 16  # of horizons
GROWTH = 1.15  # ratio of the distances of consecutive samples


def normals(ground: Numbers, cell_size: float) -> Numbers:
    """Unit normals (east, north, up) of heights in metres, [row, column, axis], by central differences."""
    south, east = np.gradient(ground, cell_size)
    across = np.stack([-east, south, np.ones_like(ground)], axis=-1)
    unit: Numbers = across / np.linalg.norm(across, axis=-1, keepdims=True)
    return unit


def slope(ground: Numbers, cell_size: float) -> Numbers:
    """The steepness of the ground in degrees, [row, column], by central differences."""
    south, east = np.gradient(ground, cell_size)
    degrees: Numbers = np.degrees(np.arctan(np.hypot(south, east)))
    return degrees


def horizon(ground: Numbers, cell_size: float, direction: float) -> Numbers:
    """The tangent of the horizon's angle above each cell, at least 0, [row, column].

    `direction` is clockwise from the north, in radians. Samples get sparser with distance, up to the map's edge.
    """
    rows, columns = ground.shape
    highest = np.zeros_like(ground)
    distance, seen = 1.0, set()
    while distance < math.hypot(rows, columns):
        south, east = round(-math.cos(direction) * distance), round(math.sin(direction) * distance)
        if (south, east) not in seen and abs(south) < rows and abs(east) < columns:
            seen.add((south, east))
            here = _overlap(rows, -south), _overlap(columns, -east)
            there = _overlap(rows, south), _overlap(columns, east)
            rise = (ground[there] - ground[here]) / (math.hypot(south, east) * cell_size)
            np.maximum(highest[here], rise, out=highest[here])
        distance = max(distance * GROWTH, distance + 1.0)
    return highest


def _overlap(count: int, shift: int) -> slice:
    return slice(max(shift, 0), count + min(shift, 0))


def sky_light(ground: Numbers, cell_size: float) -> Numbers:
    """The sky view factor, 0 to 1, [row, column]: the mean of cos² of the horizon's angle (Oke 1987)."""
    angles = 2.0 * math.pi * np.arange(DIRECTIONS) / DIRECTIONS
    seen: Numbers = np.mean([1.0 / (1.0 + horizon(ground, cell_size, angle) ** 2) for angle in angles], axis=0)
    return seen


def sun_light(ground: Numbers, cell_size: float, direction: float, height: float) -> Numbers:
    """The cosine of the sun's angle to the ground, 0 in shadow, [row, column] (Lambert 1760).

    `direction` is clockwise from the north, `height` above the horizon, both in degrees.
    """
    azimuth, up = math.radians(direction), math.radians(height)
    towards = (math.sin(azimuth) * math.cos(up), math.cos(azimuth) * math.cos(up), math.sin(up))
    facing = np.clip(normals(ground, cell_size) @ np.array(towards), 0.0, 1.0)
    lit: Numbers = np.where(horizon(ground, cell_size, azimuth) <= math.tan(up), facing, 0.0)
    return lit
