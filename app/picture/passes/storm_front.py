"""The front of a dust storm, which runs over the map with the wind."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl

from app.picture.passes.declaration import Frame, Part

BILLOWS, ROWS = 96, 3
VERTICES = 6  # of the two triangles of a square


def front_of(passed: float) -> float:
    """How far the front has come along the wind, in sides of the map from its middle, in the course of a storm.

    `passed` is the part of the storm that has. When it is at its height, the front has left the map.
    """
    return -1.0 + 3.6 * passed


class StormFront:
    """Squares without vertex data, as storm_front.vert places them."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        yield Part(vertices=VERTICES * BILLOWS * ROWS, uniforms={"billows": BILLOWS, "rows": ROWS})

    def release(self) -> None:
        pass
