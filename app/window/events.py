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
    """A key went down. `chord` is what the keyboard's layout makes of it, such as `Ctrl+S`, `F12` or `?`, as in the
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
    """The wheel turned by `amount` notches; away from the person is positive."""

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
    """Another window has the keyboard now: keys that are down will be released unheard."""


@dataclass(frozen=True)
class Steered:
    """How a gamepad steers from now on: each from -1 to 1, relative to what is seen."""

    right: float = 0.0
    up: float = 0.0
    forward: float = 0.0
    turn: float = 0.0  # to the right
    tilt: float = 0.0  # down


@dataclass(frozen=True)
class GamepadPressed:
    """A button of a gamepad went down, by its name in `app.window.gamepad`."""

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
