"""Drawing without a window: OpenGL and the opening view."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import moderngl

from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.picture.camera import OPENING_ASPECT, Camera
from app.picture.crop import LARGEST_TILE
from app.picture.ground import Ground, above_ground, opening_over
from app.scene.scene import Scene


@contextlib.contextmanager
def headless_context() -> Iterator[moderngl.Context]:
    """An OpenGL context without a window. Raises `UserError` if there is none or it is too old."""
    backend: dict[str, Any] = {"backend": "egl"} if sys.platform == "linux" else {}
    try:
        context = moderngl.create_standalone_context(require=410, **backend)
    except Exception as error:  # moderngl raises plain exceptions
        needs = "needs OpenGL 4.1"
        if sys.platform == "linux":
            needs += " through EGL (on Debian and Ubuntu: apt-get install libegl1 libgl1)"
        raise UserError(f"drawing without a window {needs}: {error}") from error
    with context:
        yield context
    context.release()


def largest_tile(context: moderngl.Context) -> int:
    """The largest side of a tile in pixels; a scene may have half as many again."""
    return min(LARGEST_TILE, int(context.info["GL_MAX_VIEWPORT_DIMS"][0]) * 2 // 3)


def scene_camera(scene: Scene, snapshot: Snapshot, aspect: float = OPENING_ASPECT) -> Camera:
    """The initial view of a scene, as in the window, in a picture of this aspect ratio.

    It is never taken from under ground or water."""
    ground = Ground(snapshot, scene.view.exaggeration)
    return above_ground(opening_over(ground, scene.camera, aspect), ground)
