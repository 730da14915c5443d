"""Brushes that shape the land: each function applies one dab of a tool."""

from __future__ import annotations

import numpy as np

from app.brushes.touch import BY_HAND, Touch, bumps, ground_of, part_of_way, settle, shape
from app.processes.droplets import erode_from
from kernels import brushes
from kernels.brushes import Map


def raise_land(touch: Touch) -> None:
    shape(touch, touch.depth)


def lower(touch: Touch) -> None:
    shape(touch, -touch.depth)


def smooth(touch: Touch) -> None:
    shape(touch, part_of_way(touch) * (_blurred(touch) - ground_of(touch)), on_top=True)


def sharpen(touch: Touch) -> None:
    steepest = touch.stroke.radius  # per dab, so that a resting brush makes no spikes
    change = part_of_way(touch) * (ground_of(touch) - _blurred(touch))
    shape(touch, np.clip(change, -0.05 * steepest, 0.05 * steepest))


def flatten(touch: Touch) -> None:
    shape(touch, part_of_way(touch) * (touch.stroke.level - ground_of(touch)))


def roughen(touch: Touch) -> None:
    shape(touch, touch.depth * bumps(touch, touch.stroke.radius / 2.5))


def _blurred(touch: Touch) -> Map:
    reach = round(touch.stroke.radius / touch.world.cell_size / 5.0)
    return brushes.blurred(touch.world.ground, touch.cells, reach)


def slope(touch: Touch) -> None:
    """An even slope from the first dab to the last."""
    world, stroke = touch.world, touch.stroke
    ends = np.array([dab[:2] for dab in (stroke.dabs[0], stroke.dabs[-1])])
    heights = brushes.heights_at(world.ground, world.cell_size, ends[:, 0], ends[:, 1])
    way = brushes.beside(world.shape, world.cell_size, touch.cells, ends[0], ends[1])
    weight = brushes.falloff(way.distance / stroke.radius, stroke.hardness) * touch.weight
    goal = heights[0] + way.along * (heights[1] - heights[0])
    shape(touch, np.minimum(stroke.amount * weight, 1.0) * (goal - ground_of(touch)))


def erode(touch: Touch) -> None:
    """Rain that falls under the brush alone, and runs on from there."""
    stroke, world = touch.stroke, touch.world
    count = round(stroke.amount)
    rows, columns = touch.cells
    chance = brushes.uniforms(3 * count, "erosion by hand", stroke.number, touch.number).reshape(3, count)
    row = rows.start + chance[0] * (rows.stop - rows.start)
    column = columns.start + chance[1] * (columns.stop - columns.start)
    weight = touch.weight[row.astype(np.intp) - rows.start, column.astype(np.intp) - columns.start]
    places = np.stack([row, column], axis=1)[chance[2] < weight]
    scene = touch.scene
    poured = erode_from(world, scene.droplets, scene.edges, places, settled=scene.has_standing_water)
    if poured:
        world.ledger.water.gain(BY_HAND, poured)
    settle(touch)
