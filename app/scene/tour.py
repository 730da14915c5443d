"""A tour of presets: each as it opens, with its name, and the camera on its path or once around."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.camera_path import CameraKey, read_camera_path, write_camera_path
from app.scene.scene import Scene, load_preset, presets

CYCLES = 300  # of a stop whose camera has no path of its own
TURN = 60.0  # degrees around the land in it
SECONDS = 120.0  # of a tour


def stops(names: Sequence[str] = ()) -> list[Scene]:
    """The presets with these names, or all that do not repeat an article's numbers, ready to be shown."""
    chosen = names or [name for name in presets() if not name.startswith("article-")]
    return [_stop(load_preset(name)) for name in chosen]


def last_cycle(scene: Scene) -> int:
    """When the camera is at the end of its path."""
    return max(key.cycle + key.hold for key in read_camera_path(scene.view.camera_path))


def _stop(scene: Scene) -> Scene:
    path = scene.view.camera_path or write_camera_path(_around(scene))
    caption = scene.view.caption or f"{{name}} | {scene.description}"
    return scene.with_values({"view.camera_path": path, "view.caption": caption})


def _around(scene: Scene) -> list[CameraKey]:
    view = scene.camera
    here = CameraKey(
        0, view.heading, view.pitch, view.distance, view.target_east, view.target_south, view.field_of_view
    )
    return [here._replace(cycle=CYCLES * turn // 2, heading=view.heading + TURN * (turn - 1)) for turn in range(3)]
