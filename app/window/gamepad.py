"""From the state of a gamepad to what a person wants with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.window.events import GamepadPressed, Steered

DEAD_ZONE = 0.18  # of a stick's way from its middle, in which it rests; a worn one does not come back to it
DEAD_TRIGGER = 0.05  # of its way

Button = Literal["a", "b", "left bumper", "right bumper", "start", "left", "right", "up", "down"]


@dataclass(frozen=True)
class GamepadState:
    """How sticks (to the right and down, from -1 to 1), triggers (from -1, released, to 1) and buttons stand."""

    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)
    left_trigger: float = -1.0
    right_trigger: float = -1.0
    buttons: frozenset[Button] = frozenset()


AT_REST = GamepadState()


def events(state: GamepadState, before: GamepadState) -> Iterator[Steered | GamepadPressed]:
    """What a state means after another one: how it steers where it does or has done so, and buttons that went down."""
    steered = steering(state)
    if steered != Steered() or steering(before) != Steered():
        yield steered
    for button in sorted(state.buttons - before.buttons):
        yield GamepadPressed(button)


def steering(state: GamepadState) -> Steered:
    """Where the sticks and triggers lead: the left one moves, the right one looks, the triggers sink and rise."""
    right, back = without_dead_zone(*state.left)
    turn, tilt = without_dead_zone(*state.right)
    return Steered(right, _pressed(state.right_trigger) - _pressed(state.left_trigger), -back, turn, tilt)


def without_dead_zone(x: float, y: float) -> tuple[float, float]:
    """The way of a stick beyond its dead zone, from 0 to 1, in the same direction; slowly at first."""
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
