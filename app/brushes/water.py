"""Brushes that pour and take water, and make beds and basins for it."""

from __future__ import annotations

import numpy as np

from app.brushes.touch import HIGHEST, Touch, enter, ground_of, settle, shape
from app.model.world import World
from app.scene.edits import Stroke
from kernels import brushes
from kernels.brushes import Map
from kernels.standing import DRY, LAKE, SEA

SHORE = 0.8  # of the radius of a basin, within which water stands
BANK_SLOPE = 0.7  # tangent, of the banks of a bed
WIDEST_BANKS = 8.0  # times the width of the bed


def pour(touch: Touch) -> None:
    _add_water(touch, touch.depth)


def drain(touch: Touch) -> None:
    _add_water(touch, -touch.depth)


def _add_water(touch: Touch, depth: Map) -> None:
    """Pour or take water. What is poured into the sea goes into it in the next cycle."""
    world, cells = touch.world, touch.cells
    water, standing = world.water[cells], world.standing[cells]
    changed = np.clip(water + depth, 0.0, np.maximum(water, HIGHEST))
    enter(world.ledger.water, float((changed - water).sum()) * world.cell_area)
    level = world.water_level[cells]
    level += np.where(standing == SEA, 0.0, changed - water)
    water[...] = changed
    standing[(standing == DRY) & (water > 0.0)] = LAKE
    settle(touch)


def lake(touch: Touch) -> None:
    """A basin that holds a lake, which is full: its level is that of the lowest ground around it, or the one told."""
    world, distance = touch.world, touch.reach.distance
    ground = ground_of(touch)
    rim = (distance > SHORE) & (distance <= 1.0)
    level = float(ground[rim].min()) if rim.any() else float(ground.min())
    if touch.stroke.level > level:  # higher than the land around: a dam holds it
        crest = brushes.falloff(np.abs(distance - SHORE) / (1.0 - SHORE), 0.5)
        shape(touch, np.maximum(touch.stroke.level - ground, 0.0) * crest * (touch.weight > 0.0))
        level = touch.stroke.level
    part = distance / SHORE
    bowl = level - touch.stroke.amount * np.clip(1.0 - part * part, 0.0, 1.0)
    # Banks that slope up to the land around
    dug = brushes.falloff(distance, 0.8 * SHORE) * np.minimum(bowl - ground_of(touch), 0.0)
    shape(touch, dug * (touch.weight > 0.0))
    inside = (distance < SHORE) & (touch.weight > 0.0)
    wanted = np.where(inside, np.maximum(level - ground_of(touch), 0.0), 0.0)
    _add_water(touch, np.where(wanted > 0.0, wanted - world.water[touch.cells], 0.0))


def river_bed(touch: Touch) -> None:
    """A bed along the curve through all dabs, which falls all the way from its higher end, and banks as they stand."""
    world, stroke = touch.world, touch.stroke
    places, bed = _course(world, stroke)
    (north, south), (west, east) = ((cells.start, cells.stop) for cells in touch.cells)
    distance = np.full((south - north, east - west), np.inf)
    floor = np.zeros_like(distance)  # of the nearest place of the bed
    reach = bed_reach(world, stroke)
    for first, second, high, low in zip(places, places[1:], bed, bed[1:], strict=False):
        cells = brushes.cells_around(world.shape, world.cell_size, np.array([first, second]), reach)
        way = brushes.beside(world.shape, world.cell_size, cells, first, second)
        inner = tuple(slice(c.start - o, c.stop - o) for c, o in zip(cells, (north, west), strict=True))
        is_nearer = way.distance < distance[inner]
        floor[inner] = np.where(is_nearer, high + way.along * (low - high), floor[inner])
        distance[inner] = np.where(is_nearer, way.distance, distance[inner])
    part = np.minimum(distance / stroke.radius, 1.0)
    bank = floor + stroke.amount * part * part + BANK_SLOPE * np.maximum(distance - stroke.radius, 0.0)
    dug = np.where(distance < reach, np.minimum(bank - ground_of(touch), 0.0), 0.0)
    shape(touch, dug * touch.weight)


def bed_reach(world: World, stroke: Stroke) -> float:
    """How far from its middle a bed changes the land: to where its banks come up to the ground."""
    places, bed = _course(world, stroke)
    heights = brushes.heights_at(world.ground, world.cell_size, places[:, 0], places[:, 1])
    deepest = float((heights - bed).max())
    return min(stroke.radius + deepest / BANK_SLOPE, WIDEST_BANKS * stroke.radius)


def _course(world: World, stroke: Stroke) -> tuple[Map, Map]:
    """The places of a bed from its higher end, and the height of its floor at each."""
    places = way_of(world, stroke)
    heights = brushes.heights_at(world.ground, world.cell_size, places[:, 0], places[:, 1])
    if heights[-1] > heights[0]:
        places, heights = places[::-1], heights[::-1]
    return places, np.minimum.accumulate(heights - stroke.amount)


def way_of(world: World, stroke: Stroke) -> Map:
    """The curve through all dabs."""
    places = np.array([dab[:2] for dab in stroke.dabs])
    return brushes.curve(places, max(0.5 * world.cell_size, 0.1 * stroke.radius))
