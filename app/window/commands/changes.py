"""Change parameters, their curves and fields."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.model.curves import write_curve
from app.model.field_parameters import image_mask, masked_by
from app.model.parameters import Value
from app.scene.scene import KEYS, curve_of
from app.window.commands.attempt import attempted

if TYPE_CHECKING:
    from app.window.application import Application


@attempted
def change(application: Application, path: str, value: Value) -> None:
    """Change a parameter."""
    application.editing.change(path, value)


@attempted
def change_back(application: Application, path: str, values: Sequence[Value]) -> None:
    """Restore a parameter's former value in each world."""
    application.editing.change_back(path, values)


@attempted
def reset_parameters(application: Application, paths: Sequence[str]) -> None:
    """Restore the opening values of parameters and curves, as one step of undo."""
    opened = application.documents.opened
    if len(paths) == 1 and not paths[0].startswith(KEYS):
        application.editing.change(paths[0], opened.value(paths[0]))
    else:
        values = {path: opened.value(path) for path in paths}
        application.editing.change_together(values, f"reset {len(paths)} changes")


def mask_by(application: Application, path: str, image: Path | str) -> None:
    """Multiply a field by an image, whose black is 0 and white 1."""
    mask_by_land(application, path, image_mask(str(image)))


def mask_by_land(application: Application, path: str, mask: str) -> None:
    """Multiply a field by another expression, of where it is to act."""
    change(application, path, masked_by(str(application.documents.scene.value(path)), mask))


@attempted
def set_key(application: Application, path: str) -> None:
    """Put a key on a parameter's curve: its current value in this cycle."""
    application.editing.set_key(path, application.documents.scene.value(path))


def remove_key(application: Application, path: str, cycle: int) -> None:
    """Remove a key from a parameter's curve."""
    curve = curve_of(application.documents.scene, path)
    change(application, KEYS + path, write_curve([key for key in curve if key.cycle != cycle]))
