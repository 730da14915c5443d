"""Mouse and keyboard input, as the window passes it to the application.

Positions are in logical units from the top left of the window, as ImGui counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Button(Enum):
    LEFT = "left"
    RIGHT = "right"
    MIDDLE = "middle"


@dataclass(frozen=True)
class KeyPressed:
    """A key went down. `chord` depends on the keyboard layout, such as `Ctrl+S`, `F12` or `?`, as in the
    table of actions; `place` is the key's name on an American keyboard, for what matters by position (W A S D).
    """

    chord: str
    place: str = ""


@dataclass(frozen=True)
class KeyReleased:
    place: str


@dataclass(frozen=True)
class ButtonPressed:
    button: Button
    x: float
    y: float
    shift: bool = False
    control: bool = False
    alt: bool = False


@dataclass(frozen=True)
class ButtonReleased:
    button: Button


@dataclass(frozen=True)
class PointerMoved:
    x: float
    y: float


@dataclass(frozen=True)
class Scrolled:
    """The wheel turned by `amount` notches; positive is away from the user."""

    amount: float
    x: float
    y: float
    shift: bool = False
    control: bool = False
    alt: bool = False


@dataclass(frozen=True)
class FilesDropped:
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class FocusLost:
    """The window lost the focus: releases of pressed keys will not be reported."""


@dataclass(frozen=True)
class Steered:
    """The state of gamepad sticks, each from -1 to 1, relative to the view."""

    right: float = 0.0
    up: float = 0.0
    forward: float = 0.0
    turn: float = 0.0  # to the right
    tilt: float = 0.0  # down


@dataclass(frozen=True)
class GamepadPressed:
    """A gamepad button was pressed; names as in `app.window.gamepad`."""

    button: str


Event = (
    KeyPressed
    | KeyReleased
    | ButtonPressed
    | ButtonReleased
    | PointerMoved
    | Scrolled
    | FilesDropped
    | FocusLost
    | Steered
    | GamepadPressed
)
