"""Land that faults carry sideways, with all that lies and stands on it, in whole cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.model.centrelines import CENTRELINE_COLUMNS
from app.model.geology_parameters import MILLIMETRE, GeologyParameters
from app.model.layers import LOOSE, STRATA, layer_declaration
from app.model.ledger import Account
from app.model.plants import ROOTED_GROUND
from app.model.world import World, take_beds
from kernels.sideways import Cells, Step, Thrust, along_fault, distances, fault_height, over_thrust, step_towards

CRUST_LOAD = "crust_load"  # of isostasy
WITH_ROCK = ("bedrock", STRATA, ROOTED_GROUND)  # layers of heights that rise with the rock

ONTO, OFF = "carried onto the map", "carried off the map"
BROKEN = "broken up at a thrust"
THRUST = "thrust"


def move_sideways(world: World, parameters: GeologyParameters, years: float) -> tuple[str, ...]:
    """Carry land for so many years, as soon as it has come a step of whole cells. Returns the layers that changed."""
    if parameters.sideways == "none" or parameters.sideways_rate == 0.0:
        return ()
    step = step_towards(parameters.sideways_direction)
    length = step.length * world.cell_size
    way = world.way_to_come + parameters.sideways_rate * MILLIMETRE * years
    times = int(way // length)
    world.way_to_come = max(way - times * length, 0.0)
    if times == 0:
        return ()
    ahead, left = distances(*world.shape, step)
    place = parameters.fault_place * max(world.shape)
    if parameters.sideways in ("thrust", "fold"):
        world.forget_beds()
        _thrust(world, parameters, step, times, (ahead - place) * world.cell_size)
    else:
        moves = left > place if parameters.sideways == "right-lateral fault" else left < place
        source = along_fault(moves, step, times)
        for name in _carried(world):
            _take(world, name, source)
        take_beds(world, source)
        _carry_trees(world, source, np.flatnonzero(moves))
    world.sum_mix()
    if len(world.centrelines):  # found again in the channels as they are now
        world.centrelines = np.empty((0, len(CENTRELINE_COLUMNS)))
    return tuple(name for name in _carried(world) if not name.startswith(LOOSE))


def _carried(world: World) -> list[str]:
    return [name for name in world.layers if not layer_declaration(name).of_place]


def _take(world: World, name: str, source: Cells) -> NDArray[np.floating]:
    """Take the values of a layer from other cells. Returns those of before, [cell]."""
    layer = world.layers[name]
    before = layer.reshape(-1).copy()
    layer[...] = before[source].reshape(world.shape)
    return before


def _carry_trees(world: World, source: Cells, arrived: Cells, gone: Cells | None = None) -> None:
    """Carry trees with the land that has `arrived` in these cells; those on cells that are `gone` fall."""
    if not len(world.trees):
        return
    rows, columns = world.shape
    target = np.arange(rows * columns)
    target[source[arrived]] = arrived
    row, column = (np.clip(world.trees[:, axis].astype(np.int64), 0, world.shape[axis] - 1) for axis in (0, 1))
    cell = row * columns + column
    trees = world.trees.copy()
    trees[:, 0] += target[cell] // columns - row
    trees[:, 1] += target[cell] % columns - column
    world.trees = trees if gone is None else trees[~np.isin(cell, gone)]
    world.trees_version = world.next_version


def _thrust(world: World, parameters: GeologyParameters, step: Step, times: int, ahead: NDArray[np.float64]) -> None:
    """Carry a hanging wall over a ramp; `ahead` is in metres, beyond where a thrust comes up or a hidden ramp begins.

    Where a thrust comes up its front breaks, and falls on what lies before it as loose material.
    """
    slope, comes_up = math.tan(math.radians(parameters.ramp_dip)), parameters.sideways == "thrust"
    hanging = ahead <= 0.0 if comes_up else np.ones(world.shape, np.bool_)
    start = -parameters.ramp_height / slope if comes_up else 0.0
    way = times * step.length * world.cell_size
    fault, behind = (fault_height(place, start, slope, parameters.ramp_height) for place in (ahead, ahead - way))
    rise = np.where(hanging, fault - behind, 0.0)
    wall = over_thrust(hanging, step, times)
    broken = np.maximum(world.bedrock.reshape(-1)[wall.over_front] - world.ground.reshape(-1)[wall.front], 0.0)
    gain = float(rise.sum()) + float(broken.sum())
    for name in _carried(world):
        if name == CRUST_LOAD:  # thrusts carry the cover of the crust, which sinks under it
            continue
        before = _take(world, name, wall.source)
        layer = world.layers[name]
        if name in WITH_ROCK:
            layer += rise.astype(layer.dtype)
        if name == "bedrock":
            came, went = before[wall.source[wall.enters]], before[np.append(wall.over_edge, wall.over_front)]
            gain += float(came.sum()) - float(went.sum())
        elif layer_declaration(name).account:
            _account(world, name, before, wall)
    _break_up(world, wall, broken)
    rock, volume = world.ledger.rock, gain * world.cell_area
    (Account.gain if volume >= 0.0 else Account.lose)(rock, THRUST, abs(volume))
    arrived = np.flatnonzero(hanging.reshape(-1) & ~wall.enters)
    _carry_trees(world, wall.source, arrived, np.append(wall.over_edge, wall.over_front))


def _account(world: World, name: str, before: NDArray[np.floating], wall: Thrust) -> None:
    """Let what was on a front come down beyond it, and enter what crossed the edges of the map."""
    rows = wall.front // world.shape[1], wall.front % world.shape[1]
    world.layers[name][rows] += before[wall.over_front]
    declaration = layer_declaration(name)
    account = world.ledger.accounts()[declaration.account]
    metre = declaration.content * world.cell_area
    if came := float(before[wall.source[wall.enters]].sum()):
        account.gain(ONTO, came * metre)
    if went := float(before[wall.over_edge].sum()):
        account.lose(OFF, went * metre)


def _break_up(world: World, wall: Thrust, broken: NDArray[np.float64]) -> None:
    """Lay down rock that a front has lost, in metres, [cell of the front]."""
    cells = wall.front // world.shape[1], wall.front % world.shape[1]
    world.mix[..., 0][cells] += broken
    volume = float(broken.sum()) * world.cell_area
    if volume == 0.0:
        return
    world.ledger.rock.lose(BROKEN, volume)
    world.ledger.sediment.gain(BROKEN, volume)
    if world.materials is not None:
        world.ledger.kinds[world.materials.names[0]].gain(BROKEN, volume)
