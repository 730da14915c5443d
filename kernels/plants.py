"""Vegetation: grass and trees germinate, spread, grow, compete and die, and bind and cover the ground.

After the trees of McDonald 2020, "Procedural hydrology": they come up at random where there is no pool, no strong
stream and no steep slope, and around others; they die in pools, in strong streams and at random, and write a density of
roots around themselves. Here each place has a worth for each kind of plant, from 0 to 1: the worst of what wetness,
temperature and slope are worth to it (Liebig's law of the minimum), each of which is 0 below and above what it endures,
1 where it does well, and linear between.

Grass is a density g that grows logistically to K = worth · (1 − shade · canopy) of its place, and comes from the eight
neighbours around, whose mean is m:

    dg/dt = growth · g · (1 − g / K) + spread · max(0, m − g)        where g < K
    dg/dt = −decline · (g − K)                                       where it is not

Trees are individuals, one for each cell at most. With the worth w of its place, its size s and health h:

    dh/dt = (w · light − h) / hardiness,   light = 1 − (1 − shade_tolerance) · (1 − s) · shade of the others
    ds/dt = h · 3 · (1 − s) / growth

It dies where its health does, when it is old, and at random. Where it stands in deep water or in a strong stream, its
health is gone in `_DROWNING` cycles. Ground that rises or falls under a plant faster than it can live with takes its
health, as fast as drought does at the limit; a slide takes it at once. A cell gets the seed of a tree from a distance
that is distributed exponentially, where a grown one stands there, or, rarely, from far away.

Where moisture is not simulated, wetness is estimated: a part everywhere, by its rain, less on steep ground, and more
near streams and standing water (within `reach_of_water` cells).

The growth of a cell (kernels/rates.py) is how much faster grass grows, spreads and comes there, and trees grow and come
up; they die as they do elsewhere.

A cycle looks at every `PERIOD`th stripe of rows alone, for the time of as many cycles, and the next one at the next. So
a cycle costs a fraction of the map; where it goes on follows from its number; and the stripes of one cycle lie too far
apart to see one another, so that they run in parallel with the same bits. Trees are kept in the order of their cells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, inlined, njit
from kernels.parameters import exact
from kernels.random import process_number, stream, uniform
from kernels.rates import GROWTH, Rates
from kernels.standing import DRY, SEA
from kernels.surface import CANOPY, GRASS, ROOTS, WETNESS
from kernels.units import Celsius, CelsiusPerMetre, Metres, PerCycle, Times

Trees = NDArray[np.float32]

PERIOD = 16  # cycles until each stripe has had its turn
STRIPE = 8  # rows
LOT = 4096  # trees that are looked through together

# The columns of a table of trees
ROW, COLUMN, KIND, SIZE, AGE, HEALTH = range(6)

_STREAM, _DISCHARGE = 0, 1  # of what flows there
_WEAKEST = 1e-6  # least stream that sweeps plants away

_GROWS, _TREES, _LIFESPANS = (process_number(f"plants {what}") for what in ("cells", "trees", "lifespans"))

_DROWNING = 20.0  # cycles in which deep water or a strong stream kills
_FARTHEST_SEED = (PERIOD - 2) * STRIPE  # rows and columns: no farther than to the next stripe of the same cycle
_WIDEST_TREE = _FARTHEST_SEED - 2 * STRIPE  # cells: its radius, for the same reason
_SEEDLING = 0.05  # size of a new tree
_SEEDLING_HEALTH = 0.6
_GROWN = 0.4  # size from which a tree has seeds
_LEAST_HEALTH = 0.1  # with less a tree dies
_TUFT = 0.05  # density of grass that has just come
_LEAST_GRASS = 1e-3
_PLACES = 64  # of a tree along the side of its cell: float32 has them in the farthest corner of the largest map
_OPACITY = 0.9  # of a crown in its middle
_WIDEST_CLAIM = 6.0  # cells of the reference

# Numbers of a kind; in the kernel three more, which `_with_parameters` adds
TREE_TRAITS = ("crown", "rooting", "roots", "growth", "lifetime", "hardiness", "seeds", "distance", "shade_tolerance")
_CROWN, _ROOTING, _ROOTS, _GROWTH, _LIFETIME, _HARDINESS, _SEEDS, _DISTANCE, _TOLERANCE = range(len(TREE_TRAITS))
_FOLLOWING, _SEEDED, _CLAIM = range(len(TREE_TRAITS), len(TREE_TRAITS) + 3)


class PlantParameters(NamedTuple):
    """How plants live. Times are in cycles."""

    rate: Times  # how fast time passes for them
    grass_growth: PerCycle
    grass_spread: PerCycle
    grass_decline: PerCycle
    grass_arrival: PerCycle  # chance that grass appears in a cell
    grass_shade: float  # part of the grass that is missing under closed crowns
    grass_roots: float  # density of the roots of full grass
    seeds: Times  # factor of all kinds' own
    tree_arrival: PerCycle  # chance that a tree comes up on a cell from far away
    densest_canopy: float  # part of the ground that crowns cover in a forest
    random_death: PerCycle  # chance
    stream_limit: float  # a stream is strong where drops pass in more of the cycles
    flow_limit: Metres  # or where more water passes in a cycle
    steepest: float  # tangent of the slope beyond which nothing stands
    flood_depth: Metres  # of standing water that plants endure
    burial: Metres  # by which the ground may rise in a cycle
    undercut: Metres  # and fall
    ground_wetness: float  # of level ground far from water where it rains fully, where moisture is not simulated
    reach_of_water: int  # cells, beyond which water wets no ground
    cell: float  # the side of a cell, in cells of the reference: what lengths of trees count


class PlantKinds(NamedTuple):
    """Needs of plants and traits of trees, as tables."""

    needs: NDArray[np.float64]  # [grass and then kind of tree, 4 of wetness, 4 of temperature, 2 tangents of slope]
    traits: NDArray[np.float64]  # [kind, one of TREE_TRAITS]


class _Turn(NamedTuple):
    """What the parameters come to in the time that a turn of a stripe is for: parts and chances."""

    time: float  # cycles that pass for plants
    grass_decline: float
    grass_spread: float
    grass_growth: float  # what the odds against grass shrink by
    grass_arrival: float
    tree_arrival: float
    survival: float
    fading: float  # by which grass fades for each unit of stress
    drowning: float  # what is left of drowned grass


class Climate(NamedTuple):
    """The climate for plants."""

    temperature: Celsius  # at a height of 0, in the mean of a year
    lapse_rate: CelsiusPerMetre
    rain: float
    rain_by_altitude: float  # part of the rain that grows with altitude
    lowest: Metres  # of the ground
    highest: Metres


class Fields(NamedTuple):
    """The map, [row, column]; what is not there is empty."""

    ground: NDArray[np.float64]
    rooted_ground: NDArray[np.float32]  # the ground as plants found it last
    surface: NDArray[np.float32]  # [row, column, see kernels.surface]
    flow: NDArray[np.float32]  # [row, column, (stream, discharge, …)]; or empty
    standing: NDArray[np.uint8]
    water_level: NDArray[np.float64]
    rain: NDArray[np.float32]  # or empty: it rains everywhere alike
    wet: bool  # whether moisture is simulated
    cell_size: float
    rates: Rates = np.empty((0, 0, 0), np.float32)  # [row, column, one of kernels/rates.py]; or empty


# Numba counts who uses an array, by an atomic operation for each array of each call, which costs more than what these
# functions do. They make no arrays, so that it can be left out.
@inlined
def _between(value, none_below, well_from, well_to, none_above):
    """1 from `well_from` to `well_to`, 0 beyond the others, linear between."""
    if value < well_from:
        return max(0.0, (value - none_below) / (well_from - none_below)) if value > none_below else 0.0
    if value > well_to:
        return (none_above - value) / (none_above - well_to) if value < none_above else 0.0
    return 1.0


@inlined
def _worth(needs, plant, wetness, temperature, slope):
    """The suitability of a place for a plant, from 0 to 1."""
    wet = _between(wetness, needs[plant, 0], needs[plant, 1], needs[plant, 2], needs[plant, 3])
    warm = _between(temperature, needs[plant, 4], needs[plant, 5], needs[plant, 6], needs[plant, 7])
    level = _between(slope, -1.0, 0.0, needs[plant, 8], needs[plant, 9])
    return min(wet, warm, level)


@inlined
def _slope(ground, row, column, cell_size):
    """Tangent of the slope of a cell."""
    rows, columns = ground.shape
    north, south = max(row - 1, 0), min(row + 1, rows - 1)
    west, east = max(column - 1, 0), min(column + 1, columns - 1)
    southwards = (ground[south, column] - ground[north, column]) / ((south - north) * cell_size)
    eastwards = (ground[row, east] - ground[row, west]) / ((east - west) * cell_size)
    return math.sqrt(southwards * southwards + eastwards * eastwards)


@inlined
def _strength(fields, parameters, row, column):
    """Of a stream: more than 1 where it is strong."""
    often = fields.flow[row, column, _STREAM] / max(parameters.stream_limit, _WEAKEST)
    return max(often, fields.flow[row, column, _DISCHARGE] / max(parameters.flow_limit, _WEAKEST))


@inlined
def _is_killing(fields, parameters, row, column):
    """Whether plants drown on a cell, or are swept away."""
    if len(fields.flow) > 0 and _strength(fields, parameters, row, column) > 1.0:
        return True
    standing = fields.standing[row, column]
    if standing == DRY:
        return False
    return standing == SEA or fields.water_level[row, column] - fields.ground[row, column] > parameters.flood_depth


@inlined
def _stress(fields, parameters, row, column):
    """How fast the ground rose or fell since plants were there last, beside what they can just live with."""
    moved = np.float64(np.float32(fields.ground[row, column])) - np.float64(fields.rooted_ground[row, column])
    return (moved / parameters.burial if moved > 0.0 else -moved / parameters.undercut) / PERIOD


@inlined
def _water_near(fields, parameters, begin, end, water, near):
    """Fill `near` [row from `begin`, column]: 1 in standing water and strong streams, falling to 0 with distance.

    `water` is room for `reach_of_water` rows more on both sides and a rim around all, where it is 0.
    """
    rows, columns = fields.ground.shape
    reach = parameters.reach_of_water
    first, last = max(begin - reach, 0), min(end + reach, rows)
    for row in range(first, last):
        for column in range(columns):
            strength = np.float32(0.0)
            if fields.standing[row, column] != DRY:
                strength = np.float32(1.0)
            elif len(fields.flow) > 0:
                strength = np.float32(min(1.0, _strength(fields, parameters, row, column)))
            water[row - first + 1, column + 1] = strength * strength
    # Two scans make distances of all shortest ways by the eight neighbours (Borgefors 1986).
    straight = np.float32(1.0 / (reach + 1))
    diagonal = np.float32(math.sqrt(2.0) / (reach + 1))
    for i in range(1, last - first + 1):
        for j in range(1, columns + 1):
            beside = max(water[i, j - 1], water[i - 1, j]) - straight
            across = max(water[i - 1, j - 1], water[i - 1, j + 1]) - diagonal
            water[i, j] = max(water[i, j], beside, across)
    for i in range(last - first, 0, -1):
        for j in range(columns, 0, -1):
            beside = max(water[i, j + 1], water[i + 1, j]) - straight
            across = max(water[i + 1, j + 1], water[i + 1, j - 1]) - diagonal
            water[i, j] = max(water[i, j], beside, across)
    for row in range(begin, end):
        for column in range(columns):
            near[row - begin, column] = water[row - first + 1, column + 1]


@inlined
def _estimated_wetness(fields, parameters, climate, row, column, slope, near):
    """How wet the ground is by its rain, its slope and the water near it."""
    rain = climate.rain
    if climate.highest > climate.lowest:
        height = (fields.ground[row, column] - climate.lowest) / (climate.highest - climate.lowest)
        rain *= 1.0 + climate.rain_by_altitude * (height - 1.0)
    if len(fields.rain) > 0:
        rain *= fields.rain[row, column]
    own = min(1.0, parameters.ground_wetness * rain / (1.0 + slope * slope))
    return own + (1.0 - own) * near


@inlined
def _cover(radius, distance):
    """Which part of a cell a crown covers whose stem is so far from the cell's middle, in cells of the reference."""
    return _OPACITY * min(1.0, math.pi * radius * radius) * min(max(radius + 0.5 - distance, 0.0), 1.0)


@inlined
def _tree_on(trees, starts, row, column):
    """The first tree on a cell, or −1."""
    low, high = starts[row], starts[row + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if int(trees[middle, COLUMN]) < column:
            low = middle + 1
        else:
            high = middle
    return low if low < end and int(trees[low, COLUMN]) == column else -1


@inlined
def _growth(fields, row, column):
    """How much faster plants grow and come up on a cell than on others."""
    return float(fields.rates[row, column, GROWTH]) if len(fields.rates) > 0 else 1.0


@inlined
def _faster(chance, pace):
    """A chance or fraction over a longer time."""
    return 1.0 - (1.0 - chance) ** pace


@inlined
def _tend_trees(fields, kinds, parameters, turn, keys, trees, first, last, begin, wetness, temperature, slopes):
    """Let the trees of a stripe grow, and die: then their health is 0."""
    columns = fields.ground.shape[1]
    for tree in range(first, last):
        row, column, kind = int(trees[tree, ROW]), int(trees[tree, COLUMN]), int(trees[tree, KIND])
        cell = row * columns + column
        slope = slopes[row - begin, column]
        worth = _worth(kinds.needs, kind + 1, wetness[row - begin, column], temperature[row - begin, column], slope)
        size, health, age = trees[tree, SIZE], trees[tree, HEALTH], trees[tree, AGE] + turn.time

        own = _cover(kinds.traits[kind, _CROWN] * size, _from_middle(trees, tree, row, column, parameters.cell))
        shade = max(0.0, 1.0 - (1.0 - fields.surface[row, column, CANOPY]) / (1.0 - own))
        light = 1.0 - (1.0 - kinds.traits[kind, _TOLERANCE]) * (1.0 - size) * shade
        health += (worth * light - health) * kinds.traits[kind, _FOLLOWING]
        health -= PERIOD * _stress(fields, parameters, row, column) / kinds.traits[kind, _HARDINESS]
        if _is_killing(fields, parameters, row, column):
            health -= PERIOD / _DROWNING
        grown = -3.0 * turn.time * max(health, 0.0) / kinds.traits[kind, _GROWTH]
        size += (1.0 - size) * (1.0 - math.exp(grown * _growth(fields, row, column)))
        lifespan = kinds.traits[kind, _LIFETIME] * (0.6 + 0.8 * uniform(keys[2], cell))
        dies = health < _LEAST_HEALTH or age > lifespan or slope > parameters.steepest
        if dies or uniform(keys[1], cell) > turn.survival:
            health = 0.0
        trees[tree, SIZE], trees[tree, AGE], trees[tree, HEALTH] = min(size, 1.0), age, min(health, 1.0)


@inlined
def _lives(trees, tree):
    """Whether a tree lives: one whose health is no number does, too, so that whoever looks at the world finds it."""
    return not trees[tree, HEALTH] <= 0.0


@inlined
def _from_middle(trees, tree, row, column, cell):
    """How far a tree stands from the middle of a cell whose side is so long, in the same unit."""
    south, east = trees[tree, ROW] - (row + 0.5), trees[tree, COLUMN] - (column + 0.5)
    return math.sqrt(south * south + east * east) * cell


@inlined
def _spread_crowns_and_roots(kinds, cell, trees, starts, begin, end, open_sky, loose, room):
    """What the living trees in and around a stripe leave of each of its cells without crowns and without roots.

    `room` is what they leave to new trees: so much that full-grown crowns come to cover the part of the ground that
    they may.
    """
    rows, columns = len(starts) - 1, open_sky.shape[1]
    widest = 0.0
    for kind in range(len(kinds.traits)):
        widest = max(widest, kinds.traits[kind, _CLAIM], kinds.traits[kind, _CROWN], kinds.traits[kind, _ROOTING])
    reach = int((widest + 0.5) / cell) + 1
    for tree in range(starts[max(begin - reach, 0)], starts[min(end + reach, rows)]):
        if not _lives(trees, tree):
            continue
        kind = int(trees[tree, KIND])
        crown, rooting = (
            kinds.traits[kind, _CROWN] * trees[tree, SIZE],
            kinds.traits[kind, _ROOTING] * trees[tree, SIZE],
        )
        density = kinds.traits[kind, _ROOTS] * min(1.0, 2.0 * rooting)
        claim = kinds.traits[kind, _CLAIM]
        radius = (max(claim, crown, rooting) + 0.5) / cell
        north, south = int(trees[tree, ROW] - radius), int(trees[tree, ROW] + radius)
        west, east = int(trees[tree, COLUMN] - radius), int(trees[tree, COLUMN] + radius)
        for row in range(max(north, begin), min(south + 1, end)):
            for column in range(max(west, 0), min(east + 1, columns)):
                distance = _from_middle(trees, tree, row, column, cell)
                open_sky[row - begin, column] *= 1.0 - _cover(crown, distance)
                room[row - begin, column] *= min(max(distance + 0.5 - claim, 0.0), 1.0)
                loose[row - begin, column] *= 1.0 - density * max(0.0, 1.0 - distance / (rooting + 0.5))


@inlined
def _grown_grass(here, around, worth, turn, pace):
    """The density of grass after a turn in which all else stays."""
    spread, growth = turn.grass_spread, turn.grass_growth
    if pace != 1.0:
        spread, growth = _faster(spread, pace), growth**pace
    if here > worth:
        here -= (here - worth) * turn.grass_decline
    elif worth > 0.0:
        here = min(here + max(around - here, 0.0) * spread, worth)
        if here > 0.0:
            here = worth / (1.0 + (worth / here - 1.0) * growth)
    return here if here >= _LEAST_GRASS else 0.0


@inlined
def _sprouting(fields, kinds, cell, turn, key, trees, starts, row, column, room, wetness, temperature, slope):
    """The kind of tree that comes up on a cell without one, or −1. `room` is from 0 to 1."""
    rows, columns = fields.ground.shape
    pace = _growth(fields, row, column)
    for kind in range(len(kinds.traits)):
        number = ((row * columns + column) * (len(kinds.traits) + 1) + kind + 1) * 4
        from_near, from_far = kinds.traits[kind, _SEEDED], turn.tree_arrival
        if pace != 1.0:
            from_near, from_far = _faster(from_near, pace), _faster(from_far, pace)
        chance = uniform(key, number)
        if chance >= from_near + from_far:
            continue
        vigour = 1.0
        if chance < from_near:
            distance = -kinds.traits[kind, _DISTANCE] * math.log(1.0 - uniform(key, number + 1)) / cell
            if distance > _FARTHEST_SEED:
                continue
            angle = 2.0 * math.pi * uniform(key, number + 2)
            south, east = row + 0.5 + distance * math.cos(angle), column + 0.5 + distance * math.sin(angle)
            if not (0.0 <= south < rows and 0.0 <= east < columns):
                continue
            parent = _tree_on(trees, starts, int(south), int(east))
            if parent < 0 or int(trees[parent, KIND]) != kind or trees[parent, SIZE] < _GROWN:
                continue
            vigour = trees[parent, HEALTH]
        worth = _worth(kinds.needs, kind + 1, wetness, temperature, slope)
        if uniform(key, number + 3) < vigour * worth * room:
            return kind
    return -1


@inlined
def _copy_grass(surface, row, grass):
    """The grass of a row, with one more cell at each end."""
    for column in range(surface.shape[1]):
        grass[column + 1] = surface[row, column, GRASS]
    grass[0], grass[-1] = grass[1], grass[-2]


@in_threads
def _tend_stripe(begin, end, fields, kinds, parameters, turn, climate, keys, trees, starts, sprouts):
    """Let the plants of the rows from `begin` to `end` live on; `sprouts` [row, column] are kinds of new trees + 1.

    Returns how many trees have died, and how many have come up.
    """
    rows, columns = fields.ground.shape
    height = end - begin
    surface = fields.surface
    wetness = np.empty((height, columns), np.float32)
    temperature = np.empty((height, columns), np.float32)
    slopes = np.empty((height, columns), np.float32)
    if not fields.wet:
        water = np.zeros((height + 2 * parameters.reach_of_water + 2, columns + 2), np.float32)
        _water_near(fields, parameters, begin, end, water, wetness)
    for i in range(height):
        row = begin + i
        for column in range(columns):
            slope = _slope(fields.ground, row, column, fields.cell_size)
            slopes[i, column] = slope
            temperature[i, column] = climate.temperature - climate.lapse_rate * fields.ground[row, column]
            if fields.wet:
                wetness[i, column] = surface[row, column, WETNESS]
            else:
                near = wetness[i, column]
                wetness[i, column] = _estimated_wetness(fields, parameters, climate, row, column, slope, near)

    first, last = starts[begin], starts[end]
    _tend_trees(fields, kinds, parameters, turn, keys, trees, first, last, begin, wetness, temperature, slopes)
    open_sky = np.ones((height, columns), np.float32)
    loose = np.ones((height, columns), np.float32)
    room = np.ones((height, columns), np.float32)
    _spread_crowns_and_roots(kinds, parameters.cell, trees, starts, begin, end, open_sky, loose, room)
    taken = np.zeros((height, columns), np.bool_)
    for tree in range(first, last):
        taken[int(trees[tree, ROW]) - begin, int(trees[tree, COLUMN])] = True

    # Of grass as it was: the row before, this one and the next, with one more cell at each end
    born = 0
    before = np.zeros((3, columns + 2), np.float32)
    _copy_grass(surface, max(begin - 1, 0), before[0])
    _copy_grass(surface, begin, before[1])
    for i in range(height):
        row = begin + i
        north, here_before, south = before[i % 3], before[(i + 1) % 3], before[(i + 2) % 3]
        _copy_grass(surface, min(row + 1, rows - 1), south)
        for column in range(columns):
            cell = row * columns + column
            canopy = np.float32(1.0) - open_sky[i, column]
            surface[row, column, CANOPY] = canopy
            stress = _stress(fields, parameters, row, column)
            killing = _is_killing(fields, parameters, row, column) or slopes[i, column] > parameters.steepest
            here = here_before[column + 1]
            pace = _growth(fields, row, column)
            worth = 0.0
            if not killing and stress < 1.0:
                worth = _worth(kinds.needs, 0, wetness[i, column], temperature[i, column], slopes[i, column])
                worth *= (1.0 - parameters.grass_shade * canopy) * (1.0 - stress)
                arrival = turn.grass_arrival if pace == 1.0 else _faster(turn.grass_arrival, pace)
                if here < _TUFT and uniform(keys[0], cell * (len(kinds.traits) + 1) * 4) < arrival:
                    here = max(here, min(np.float32(_TUFT), worth))
            around = north[column] + north[column + 1] + north[column + 2]
            around += here_before[column] + here_before[column + 2]
            around += south[column] + south[column + 1] + south[column + 2]
            here = _grown_grass(here, 0.125 * around, worth, turn, pace)
            if killing:
                here *= turn.drowning
            here *= max(0.0, 1.0 - turn.fading * stress)
            surface[row, column, GRASS] = here
            surface[row, column, ROOTS] = 1.0 - loose[i, column] * (1.0 - parameters.grass_roots * here)
            if (
                not killing
                and not taken[i, column]
                and stress < 1.0
                and fields.standing[row, column] == DRY
                and room[i, column] > 0.0
                and parameters.densest_canopy > 0.0
            ):
                sprouts[i, column] = 1 + _sprouting(
                    fields, kinds, parameters.cell, turn, keys[0], trees, starts, row, column, room[i, column],
                    wetness[i, column], temperature[i, column], slopes[i, column],
                )  # fmt: skip
                born += sprouts[i, column] > 0
            else:
                sprouts[i, column] = 0
    for row in range(begin, end):
        for column in range(columns):
            fields.rooted_ground[row, column] = fields.ground[row, column]
    dead = 0
    for tree in range(first, last):
        dead += not _lives(trees, tree)
    return dead, born


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _tend(stripes, fields, kinds, parameters, turn, climate, keys, trees, starts, sprouts, changes):
    """`changes` [stripe] become how many trees have died, and how many have come up."""
    for place in prange(len(stripes)):
        begin = stripes[place] * STRIPE
        end = min(begin + STRIPE, len(fields.ground))
        changes[place, 0], changes[place, 1] = _tend_stripe(
            begin, end, fields, kinds, parameters, turn, climate, keys, trees, starts, sprouts[place]
        )


@inlined
def _is_known(trees, tree, rows, columns, kinds):
    """Whether a tree is on the map and of a known kind, so that these may be indices. False for what is no number."""
    row, column, kind = trees[tree, ROW], trees[tree, COLUMN], trees[tree, KIND]
    return 0.0 <= row < rows and 0.0 <= column < columns and 0.0 <= kind < kinds


@in_threads
def _starts_in_lot(begin, end, trees, starts, columns, kinds):
    """Write to `starts` the first trees of rows that are in a lot.

    Returns whether it is in the order of cells, and all of its trees are on the map and of known kinds.
    """
    row = column = 0
    for tree in range(max(begin - 1, 0), end):
        if not _is_known(trees, tree, len(starts) - 1, columns, kinds):
            return False
        its_row, its_column = int(trees[tree, ROW]), int(trees[tree, COLUMN])
        if tree >= begin:
            if its_row < row or (its_row == row and its_column < column):
                return False
            while row < its_row:
                row += 1
                starts[row] = tree
        row, column = its_row, its_column
    return True


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _find_starts(trees, starts, columns, kinds, in_order):
    for unsigned_lot in prange(len(in_order)):
        lot = np.int64(unsigned_lot)
        in_order[lot] = _starts_in_lot(lot * LOT, min((lot + 1) * LOT, len(trees)), trees, starts, columns, kinds)


def _row_starts(trees: Trees, rows: int, columns: int, kinds: int) -> NDArray[np.int64] | None:
    """[row]: its first tree; one more at the end. None where trees are not in the order of their cells, or strange."""
    starts = np.zeros(rows + 1, np.int64)
    in_order = np.empty(-(-len(trees) // LOT), np.bool_)
    _find_starts(trees, starts, columns, kinds, in_order)
    if not in_order.all():
        return None
    starts[(int(trees[-1, ROW]) if len(trees) else 0) + 1 :] = len(trees)
    return starts


@njit(cache=True, nogil=True, error_model="numpy")
def _order_along(trees, order, axis, cells):
    """`order`, sorted by the cell along one axis; what is in one cell keeps its order."""
    first = np.zeros(cells + 1, np.int64)
    for tree in order:
        first[int(trees[tree, axis]) + 1] += 1
    first = np.cumsum(first)
    sorted_order = np.empty_like(order)
    for tree in order:
        cell = int(trees[tree, axis])
        sorted_order[first[cell]] = tree
        first[cell] += 1
    return sorted_order


def in_order_of_cells(trees: Trees, rows: int, columns: int) -> Trees:
    """The same trees, row by row and from west to east."""
    order = _order_along(trees, np.arange(len(trees)), COLUMN, columns)
    ordered: Trees = trees[_order_along(trees, order, ROW, rows)]
    return ordered


@in_threads
def _copy_trees(trees, begin, end, after, more):
    """Write some trees to `after`, so many places further on."""
    width = trees.shape[1]
    come, go = trees.reshape(-1), after.reshape(-1)
    for number in range(begin * width, end * width):
        go[number + more * width] = come[number]


@njit(nogil=True, error_model="numpy")
def _put_tree(trees, tree, after, place):
    for column in range(trees.shape[1]):
        after[place, column] = trees[tree, column]


@in_threads
def _living_in_stripe(begin, end, trees, starts, sprouts, key, place, after):
    """Write the trees of a stripe that live, with those that have come up, to `after` from a place on."""
    columns = sprouts.shape[1]
    for row in range(begin, end):
        tree = starts[row]
        for column in range(columns):
            while tree < starts[row + 1] and int(trees[tree, COLUMN]) == column:
                if _lives(trees, tree):
                    _put_tree(trees, tree, after, place)
                    place += 1
                tree += 1
            kind = sprouts[row - begin, column]
            if kind > 0:
                cell = row * columns + column
                after[place, ROW] = row + int(uniform(key, 2 * cell) * _PLACES) / _PLACES
                after[place, COLUMN] = column + int(uniform(key, 2 * cell + 1) * _PLACES) / _PLACES
                after[place, KIND] = kind - 1
                after[place, SIZE] = _SEEDLING
                after[place, AGE] = 0.0
                after[place, HEALTH] = _SEEDLING_HEALTH
                place += 1


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _living(stripes, trees, starts, sprouts, key, more, after):
    """Write to `after` the trees that live, with those that have come up, in the order of their cells.

    `more` [stripe] is how many more trees there are before each than there were; one more at the end. Each row of
    `after` is written: all trees are on the map and in the order of their cells, and the same test as here, `_lives`,
    told how many go.
    """
    rows = len(starts) - 1
    for unsigned_number in prange(len(stripes)):
        number = np.int64(unsigned_number)
        begin = stripes[number] * STRIPE
        end = min(begin + STRIPE, rows)
        done = starts[min((stripes[number] - PERIOD + 1) * STRIPE, rows)] if number > 0 else 0
        _copy_trees(trees, done, starts[begin], after, more[number])
        _living_in_stripe(begin, end, trees, starts, sprouts[number], key, starts[begin] + more[number], after)
        if number == len(stripes) - 1:
            _copy_trees(trees, starts[end], len(trees), after, more[number + 1])


def grow(
    trees: Trees,
    fields: Fields,
    kinds: PlantKinds,
    climate: Climate,
    seed: int,
    cycle: int,
    parameters: PlantParameters,
) -> Trees:
    """Let the plants of this cycle's stripes live on for `PERIOD` cycles. Returns the trees there are then.

    `trees` are float32 [tree, (row, column, kind, size, age, health)], changed in place; the result is the same array
    where none has died or come up. `fields.surface` and `fields.rooted_ground` are changed in place. The result does
    not depend on the number of threads. Raises `ValueError` where a tree is off the map, or of no kind.
    """
    rows, columns = fields.ground.shape
    trees = np.ascontiguousarray(trees, np.float32)
    of_map = rows, columns, len(kinds.traits)
    starts = _row_starts(trees, *of_map)
    if starts is None:
        indices = trees[:, (ROW, COLUMN, KIND)]
        known = ((indices >= 0.0) & (indices < of_map)).all(axis=1)
        if not known.all():
            tree = int(known.argmin())
            raise ValueError(f"tree {tree} is off the map, or of no kind that is known: {trees[tree].tolist()}")
        trees = in_order_of_cells(trees, rows, columns)
        starts = _row_starts(trees, *of_map)
    stripes = np.arange(cycle % PERIOD, -(-rows // STRIPE), PERIOD)
    sprouts = np.zeros((len(stripes), STRIPE, columns), np.uint8)
    keys = np.array([stream(seed, _GROWS, cycle), stream(seed, _TREES, cycle), stream(seed, _LIFESPANS, 0)], np.uint64)
    parameters = exact(parameters)
    turn = _turn(parameters)
    kinds = _with_parameters(kinds, parameters)
    changes = np.zeros((len(stripes), 2), np.int64)
    _tend(stripes, fields, kinds, parameters, turn, climate, keys, trees, starts, sprouts, changes)
    dead, born = changes.sum(axis=0)
    if dead or born:
        more = np.append(0, np.cumsum(changes[:, 1] - changes[:, 0]))
        after = np.empty((len(trees) - dead + born, trees.shape[1]), np.float32)
        _living(stripes, trees, starts, sprouts, keys[1] ^ np.uint64(1), more, after)
        trees = after
    return trees


def _turn(parameters: PlantParameters) -> _Turn:
    time = parameters.rate * PERIOD
    return _Turn(
        time=time,
        grass_decline=-math.expm1(-parameters.grass_decline * time),
        grass_spread=-math.expm1(-parameters.grass_spread * time),
        grass_growth=math.exp(-parameters.grass_growth * time),
        grass_arrival=-math.expm1(-parameters.grass_arrival * time),
        tree_arrival=-math.expm1(-parameters.tree_arrival * time),
        survival=(1.0 - parameters.random_death) ** time,
        fading=parameters.grass_decline * PERIOD,
        drowning=math.exp(-3.0 * PERIOD / _DROWNING),
    )


def _with_parameters(kinds: PlantKinds, parameters: PlantParameters) -> PlantKinds:
    """The kinds with what follows from the parameters.

    That is, the part by which health follows in a turn, the chance of a seed, and how far around itself a tree leaves
    no room to others.
    """
    time = parameters.rate * PERIOD
    following = -np.expm1(-time / kinds.traits[:, _HARDINESS])
    seeded = -np.expm1(-parameters.seeds * time * kinds.traits[:, _SEEDS])
    traits, widest = kinds.traits.copy(), _WIDEST_TREE * parameters.cell
    for length in (_CROWN, _ROOTING):
        traits[:, length] = np.minimum(traits[:, length], widest)
    claim = traits[:, _CROWN] / math.sqrt(max(parameters.densest_canopy, 0.01))
    claim = np.minimum(claim, min(_WIDEST_CLAIM, widest))
    return kinds._replace(traits=np.column_stack([traits, following, seeded, claim]))
