"""Painting: applies strokes to a world, between two cycles.

Brushes change layers and ledger on their own, independent of the kernels of processes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.brushes.forms import image
from app.brushes.material import kind_of
from app.brushes.plants import ALL_PLANTS, tree_of
from app.brushes.tools import RATES, TOOLS, Tool
from app.brushes.touch import Touch, shape
from app.brushes.water import bed_reach, way_of
from app.model.errors import UserError, nearest
from app.model.field_parameters import read_field
from app.model.plants import GRASS
from app.model.world import World
from app.scene.edits import Stroke
from app.scene.scene import Scene
from app.sources.fields import LandVariables
from kernels import brushes
from kernels.brushes import FORMS, Footprint

MOST_DROPS = 1e6  # of a dab, for which there is memory


def check(world: World, stroke: Stroke) -> None:
    """Raise `UserError` if a stroke cannot be painted on a world."""
    if stroke.tool not in TOOLS:
        raise UserError(f"there is no brush '{stroke.tool}'{nearest(stroke.tool, TOOLS)}")
    tool = TOOLS[stroke.tool]
    if tool.act is None:
        raise UserError(f"{tool.label}: this is done by changing a parameter")
    if tool.amount == "drops" and stroke.amount > MOST_DROPS:
        raise UserError(f"{tool.label}: {stroke.amount:g} drops in one dab; there may be {MOST_DROPS:g}")
    read_field(stroke.mask)
    if tool.gesture in ("line", "curve") and len(stroke.dabs) < 2:
        raise UserError(f"{tool.label}: draw from one place to another")
    match tool.choice:
        case "loose":
            kind_of(world, stroke.choice)
        case "plant" if stroke.choice not in (GRASS, *((ALL_PLANTS, "") if stroke.tool == "clear" else ())):
            tree_of(world, stroke.choice)
        case "rate" if stroke.choice not in RATES:
            raise UserError(f"there is no rate '{stroke.choice}'{nearest(stroke.choice, RATES)}")
        case "form" if stroke.choice not in FORMS:
            image(stroke.choice)


def mask_of(world: World, stroke: Stroke) -> NDArray[np.float64] | None:
    """How much each cell may be touched, from 0 to 1, as the land is now; None where all may."""
    if read_field(stroke.mask) is None:
        return None  # most strokes have none, and the variables of a whole land cost more than a dab
    values = LandVariables.of_world(world).value(stroke.mask)
    return None if values is None else np.clip(values, 0.0, 1.0)


def paint(world: World, scene: Scene, stroke: Stroke) -> None:
    """Paint a part of a stroke that has passed `check`."""
    tool = TOOLS[stroke.tool]
    if tool.gesture in ("line", "curve"):
        touches = [_touch_along(world, scene, stroke)]
    else:
        numbers = range(stroke.first, stroke.first + len(stroke.dabs))
        touches = [
            _touch_at(world, scene, stroke, number, *dab) for number, dab in zip(numbers, stroke.dabs, strict=True)
        ]
    assert tool.act is not None
    mask = mask_of(world, stroke)
    if mask is not None:
        touches = [replace(touch, weight=touch.weight * mask[touch.cells]) for touch in touches]
    for touch in touches:
        if touch.weight.any():
            tool.act(_with_protection(touch, tool))


def raise_all(world: World, scene: Scene, metres: NDArray[np.float64]) -> None:
    """Raise the whole ground by so much in each cell, [row, column], and lower it below 0."""
    cells = (slice(0, world.shape[0]), slice(0, world.shape[1]))
    everywhere = Footprint(cells, np.zeros(world.shape), np.zeros(world.shape))
    stroke = Stroke("raise", (), radius=0.0, amount=1.0)
    touch = Touch(world, scene, stroke, 0, (0.0, 0.0), everywhere, metres)
    shape(touch, _with_protection(touch, TOOLS["raise"]).depth)


def _touch_at(
    world: World, scene: Scene, stroke: Stroke, number: int, east: float, south: float, pressure: float
) -> Touch:
    reach = brushes.footprint(world.shape, world.cell_size, east, south, stroke.radius)
    if TOOLS[stroke.tool].gesture == "stamp":  # which has its own shape
        weight = np.where(reach.distance < 1.0, pressure, 0.0)
    else:
        weight = brushes.falloff(reach.distance, stroke.hardness) * pressure
    return Touch(world, scene, stroke, number, (east, south), reach, weight)


def _touch_along(world: World, scene: Scene, stroke: Stroke) -> Touch:
    """All that is near the way through the dabs; the tool finds out itself how near it is."""
    places = np.array([dab[:2] for dab in stroke.dabs])
    reach = stroke.radius
    if TOOLS[stroke.tool].gesture == "curve":
        places, reach = way_of(world, stroke), bed_reach(world, stroke)
    cells = brushes.cells_around(world.shape, world.cell_size, places, reach)
    nothing = np.zeros((cells[0].stop - cells[0].start, cells[1].stop - cells[1].start))
    return Touch(
        world, scene, stroke, stroke.first, stroke.dabs[0][:2], Footprint(cells, nothing, nothing), nothing + 1.0
    )


def _with_protection(touch: Touch, tool: Tool) -> Touch:
    """Exclude protected ground."""
    if tool.everywhere or "mobility" not in touch.world.layers:
        return touch
    weight = touch.weight * touch.world.layers["mobility"][touch.cells]
    return replace(touch, weight=weight)
