"""Brushes that pour and take water, and make beds and basins for it."""

from __future__ import annotations

import numpy as np

from app.brushes.touch import HIGHEST, Touch, enter, ground_of, settle, shape
from app.model.world import World
from app.scene.edits import Stroke
from kernels import brushes
from kernels.brushes import Map
from kernels.standing import DRY, LAKE, SEA


def pour(touch: Touch) -> None:
    _add_water(touch, touch.depth)


def drain(touch: Touch) -> None:
    _add_water(touch, -touch.depth)


def _add_water(touch: Touch, depth: Map) -> None:
    """Pour or take water. In the sea there is always enough of it."""
    world, cells = touch.world, touch.cells
    water, standing = world.water[cells], world.standing[cells]
    changed = np.where(standing == SEA, water, np.clip(water + depth, 0.0, HIGHEST))
    enter(world.ledger.water, float((changed - water).sum()) * world.cell_area)
    level = world.water_level[cells]
    level += changed - water
    water[...] = changed
    standing[(standing == DRY) & (water > 0.0)] = LAKE
    settle(touch)


def lake(touch: Touch) -> None:
    """A basin that holds a lake, which is full: its level is that of the lowest ground around it, or the one told."""
    world, distance = touch.world, touch.reach.distance
    ground = ground_of(touch)
    rim = (distance > 0.85) & (distance <= 1.0)
    level = float(ground[rim].min()) if rim.any() else float(ground.min())
    if touch.stroke.level > level:  # higher than the land around: a dam holds it
        shape(touch, np.where(distance > 0.9, np.maximum(touch.stroke.level - ground, 0.0), 0.0) * (distance <= 1.0))
        level = touch.stroke.level
    bowl = level - touch.stroke.amount * np.clip(1.0 - distance * distance / 0.81, 0.0, 1.0)
    inside = distance < 0.9
    shape(touch, np.where(inside, np.minimum(bowl - ground_of(touch), 0.0), 0.0) * (touch.weight > 0.0))
    wanted = np.where(inside & (touch.weight > 0.0), np.maximum(level - ground_of(touch), 0.0), 0.0)
    _add_water(touch, np.where(wanted > 0.0, wanted - world.water[touch.cells], 0.0))


def river_bed(touch: Touch) -> None:
    """A bed along the curve through all dabs, which falls all the way from its higher end."""
    world, stroke = touch.world, touch.stroke
    places = way_of(world, stroke)
    heights = brushes.heights_at(world.ground, world.cell_size, places[:, 0], places[:, 1])
    if heights[-1] > heights[0]:
        places, heights = places[::-1], heights[::-1]
    bed = np.minimum.accumulate(heights - stroke.amount)
    (north, south), (west, east) = ((cells.start, cells.stop) for cells in touch.cells)
    nearest_distance = np.full((south - north, east - west), np.inf)
    depth_of_nearest = np.zeros_like(nearest_distance)
    for first, second, high, low in zip(places, places[1:], bed, bed[1:], strict=False):
        pair = np.array([first, second])
        cells = brushes.cells_around(world.shape, world.cell_size, pair, stroke.radius)
        way = brushes.beside(world.shape, world.cell_size, cells, first, second)
        inner = tuple(slice(c.start - o, c.stop - o) for c, o in zip(cells, (north, west), strict=True))
        is_nearer = way.distance < nearest_distance[inner]
        depth_of_nearest[inner] = np.where(is_nearer, high + way.along * (low - high), depth_of_nearest[inner])
        nearest_distance[inner] = np.where(is_nearer, way.distance, nearest_distance[inner])
    part = nearest_distance / stroke.radius
    bank = depth_of_nearest + stroke.amount * part * part
    dug = np.where(part < 1.0, np.minimum(bank - ground_of(touch), 0.0), 0.0) * touch.weight
    shape(touch, dug)


def way_of(world: World, stroke: Stroke) -> Map:
    """The curve through all dabs."""
    places = np.array([dab[:2] for dab in stroke.dabs])
    return brushes.curve(places, max(0.5 * world.cell_size, 0.1 * stroke.radius))
