"""Stamps: forms of land, and images."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.brushes.touch import Touch, add_loose, bumps, settle, shape
from app.model.errors import UserError, nearest
from app.model.home import path_of
from app.model.world import World
from app.sources.fields import picture
from kernels import brushes
from kernels.brushes import FORMS

LEVEL_FORMS = ("mesa",)  # which have an even top
LOOSE_FORMS = ("dune",)  # of loose material, and not of rock


def stamp(touch: Touch) -> None:
    """A form, as high as the amount says, on what lies there; one of `LEVEL_FORMS` has an even top."""
    world, stroke, reach = touch.world, touch.stroke, touch.reach
    turn = math.radians(stroke.angle)
    cosine, sine = math.cos(turn), math.sin(turn)
    across = cosine * reach.across + sine * reach.down
    down = -sine * reach.across + cosine * reach.down
    if stroke.choice in FORMS:
        rough = bumps(touch, 0.6 * stroke.radius)
        form = FORMS[stroke.choice](reach.distance, across, down, rough) * (reach.distance < 1.0)
    else:
        heights = image(stroke.choice)
        rows, columns = heights.shape
        # The picture fills the square in the brush's circle.
        side = math.sqrt(2.0)
        column, row = (across * side + 1.0) * 0.5 * columns, (down * side + 1.0) * 0.5 * rows
        inside = (column >= 0.0) & (column < columns) & (row >= 0.0) & (row < rows)
        form = np.where(inside, brushes.heights_at(heights, 1.0, column, row), 0.0)
    height = stroke.amount * form * touch.weight
    if stroke.choice in LEVEL_FORMS:
        top = float(brushes.heights_at(world.ground, world.cell_size, *touch.place)) + stroke.amount
        height = form * touch.weight * (top - world.ground[touch.cells])
    if stroke.choice in LOOSE_FORMS:
        add_loose(touch, 0 if world.materials is None else _sandiest(world), np.maximum(height, 0.0))
        settle(touch)
    else:
        shape(touch, height)


def _sandiest(world: World) -> int:
    """The kind that dunes are made of: sand if there is some, otherwise the thickest kind."""
    assert world.materials is not None
    if "sand" in world.materials.names:
        return world.materials.kind("sand")
    return int(world.mix.sum(axis=(0, 1)).argmax())


def image(name: str) -> NDArray[np.float64]:
    """A picture as a stamp, from 0 to 1. Raises `UserError` if it cannot be read."""
    if not name:
        raise UserError(f"a stamp needs a form ({', '.join(FORMS)}) or an image")
    path = path_of(name)
    if not path.exists():
        raise UserError(f"stamp: there is no form or image '{name}'{nearest(name, FORMS)}")
    return picture(path)
