"""A tour of presets: each as it opens, with its name, and the camera on its path."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.camera_path import read_camera_path
from app.scene.scene import Scene, load_preset, presets

SECONDS = 120.0  # of a tour


def stops(names: Sequence[str] = ()) -> list[Scene]:
    """The presets with these names, or all that do not repeat an article's numbers, ready to be shown."""
    chosen = names or [name for name in presets() if not name.startswith("article-")]
    return [_stop(load_preset(name)) for name in chosen]


def last_cycle(scene: Scene) -> int:
    """When the camera is at the end of its path."""
    return max(key.cycle + key.hold for key in read_camera_path(scene.view.camera_path))


def _stop(scene: Scene) -> Scene:
    caption = scene.view.caption or f"{{name}} | {scene.description}"
    return scene.with_values({"view.caption": caption})
