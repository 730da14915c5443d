"""Events from the state of a gamepad."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.window.events import GamepadPressed, Steered

DEAD_ZONE = 0.18  # of a stick, around its centre: worn sticks do not return exactly
DEAD_TRIGGER = 0.05  # of a trigger

Button = Literal["a", "b", "left bumper", "right bumper", "start", "left", "right", "up", "down"]


@dataclass(frozen=True)
class GamepadState:
    """State of sticks (right and down, -1 to 1), triggers (-1 released to 1) and buttons."""

    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)
    left_trigger: float = -1.0
    right_trigger: float = -1.0
    buttons: frozenset[Button] = frozenset()


AT_REST = GamepadState()


def events(state: GamepadState, before: GamepadState) -> Iterator[Steered | GamepadPressed]:
    """The events between two states: steering if it is or was active, and pressed buttons."""
    steered = steering(state)
    if steered != Steered() or steering(before) != Steered():
        yield steered
    for button in sorted(state.buttons - before.buttons):
        yield GamepadPressed(button)


def steering(state: GamepadState) -> Steered:
    """Steering: the left stick moves, the right one looks, the triggers sink and rise."""
    right, back = without_dead_zone(*state.left)
    turn, tilt = without_dead_zone(*state.right)
    return Steered(right, _pressed(state.right_trigger) - _pressed(state.left_trigger), -back, turn, tilt)


def without_dead_zone(x: float, y: float) -> tuple[float, float]:
    """A stick vector beyond the dead zone, length 0 to 1, with a slow start."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return 0.0, 0.0
    length = math.hypot(x, y)
    if length <= DEAD_ZONE:
        return 0.0, 0.0
    strength = min((length - DEAD_ZONE) / (1.0 - DEAD_ZONE), 1.0) ** 2
    return x / length * strength, y / length * strength


def _pressed(trigger: float) -> float:
    way = (trigger + 1.0) / 2.0 if math.isfinite(trigger) else 0.0
    return min(way, 1.0) if way > DEAD_TRIGGER else 0.0
