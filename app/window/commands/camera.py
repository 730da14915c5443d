"""Camera commands, and keys of its path on the time line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.model.camera_path import CameraKey, read_camera_path, write_camera_path
from app.model.errors import UserError
from app.model.numbers import spaced
from app.window.camera_moves import ALONG_WATER, OVER_LAND, key_of
from app.window.commands import changes
from app.window.commands.attempt import attempted

if TYPE_CHECKING:
    from app.window.application import Application


def camera_key(application: Application) -> None:
    """Put a camera key for the current view at the current cycle."""
    cycle = application.simulation.status.cycle
    keys = [key for key in _camera_keys(application) if key.cycle != cycle]
    _set_camera_keys(application, [*keys, key_of(cycle, application.camera.parameters())])
    application.notices.say(f"camera key in cycle {spaced(cycle)}")


def follow_path(application: Application) -> None:
    """Start or stop following the camera keys."""
    if application.camera_follow.following:
        application.camera_follow.following = False
        return
    if not _camera_keys(application):
        raise UserError("the camera has no keys yet; Camera key puts one at this view")
    application.camera_follow.begin()


def hold_camera_key(application: Application, cycle: int, hold: int) -> None:
    """Hold the camera at a key for some cycles, at most until the next key."""
    keys = _camera_keys(application)
    later = min((key.cycle for key in keys if key.cycle > cycle), default=cycle + hold)
    hold = max(0, min(hold, later - cycle))
    _set_camera_keys(application, [key._replace(hold=hold) if key.cycle == cycle else key for key in keys])


def remove_camera_key(application: Application, cycle: int) -> None:
    """Remove a key from the camera path."""
    _set_camera_keys(application, [key for key in _camera_keys(application) if key.cycle != cycle])


def clear_camera_path(application: Application) -> None:
    """Remove all keys from the camera path."""
    _set_camera_keys(application, [])


@attempted
def move_camera(application: Application, move: str, cycles: int) -> None:
    """Put the keys of a ready-made move on the time line from the current cycle on, and follow them."""
    first, view = application.simulation.status.cycle, application.camera.parameters()
    snapshot = application.snapshot
    flow_path = snapshot.survey.flow_path if snapshot and snapshot.survey else None

    if move in OVER_LAND:
        keys = OVER_LAND[move](view, first, cycles)
    elif snapshot is None or flow_path is None or len(flow_path.places) < 2:
        raise UserError("click on the land first: the camera follows the water from there")
    else:
        keys = ALONG_WATER[move](flow_path, snapshot.shape, first, cycles)
    _set_camera_keys(application, [*(key for key in _camera_keys(application) if key.cycle < first), *keys])
    application.camera_follow.begin()


def _camera_keys(application: Application) -> tuple[CameraKey, ...]:
    return read_camera_path(application.documents.scene.view.camera_path)


def _set_camera_keys(application: Application, keys: Sequence[CameraKey]) -> None:
    changes.change(application, "view.camera_path", write_camera_path(keys))


def toggle_fly(application: Application) -> None:
    application.camera.toggle_fly()
    if application.camera.flying:
        application.notices.say("flying: W A S D, Q down, E up, mouse to look, wheel for speed, Esc to leave")
