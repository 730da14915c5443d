"""Brushes that put on and take away rock and kinds of loose material."""

from __future__ import annotations

import numpy as np

from app.brushes.touch import Touch, add_loose, add_rock, dig_out, settle
from app.model.errors import UserError, nearest
from app.model.world import World

SEDIMENT = "sediment"  # the one kind of loose material of a world that knows no others


def put_rock(touch: Touch) -> None:
    """Raise rock: loose material below it becomes rock, too."""
    dig_out(touch, np.where(touch.weight > 0.0, np.inf, 0.0))
    mix = touch.world.mix[touch.cells]
    buried = mix.sum(axis=2) * (touch.weight > 0.0)
    for kind in range(mix.shape[2]):
        add_loose(touch, kind, -np.where(touch.weight > 0.0, mix[..., kind], 0.0))
    add_rock(touch, buried + touch.depth)
    settle(touch)


def put_loose(touch: Touch) -> None:
    add_loose(touch, kind_of(touch.world, touch.stroke.choice), touch.depth)
    settle(touch)


def take_loose(touch: Touch) -> None:
    dig_out(touch, touch.depth)
    add_loose(touch, kind_of(touch.world, touch.stroke.choice), -touch.depth)
    settle(touch)


def kind_of(world: World, choice: str) -> int:
    """The number of a loose kind. Raises `UserError` if the land has none of that name."""
    materials = world.materials
    if materials is None:
        return 0
    if choice in materials.names:
        return materials.kind(choice)
    if choice in ("", SEDIMENT):
        return 0
    raise UserError(f"this land has no {choice}{nearest(choice, materials.names)}")
