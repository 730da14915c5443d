"""A touch of a brush on a world: changes of layers with ledger entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.model.layers import BURIED, LARGEST_HEIGHT, LOOSE
from app.model.ledger import Account
from app.model.plants import ROOTED_GROUND
from app.model.world import World
from kernels import brushes
from kernels.brushes import Footprint, Map
from kernels.standing import DRY, SEA

if TYPE_CHECKING:
    from app.scene.edits import Stroke
    from app.scene.scene import Scene

BY_HAND = "by hand"  # cause in the ledger

HIGHEST = 0.5 * LARGEST_HEIGHT  # metres: limit of raising and lowering


@dataclass(frozen=True)
class Touch:
    """One dab on a world: its cells and their weights from 0 to 1."""

    world: World
    scene: Scene
    stroke: Stroke
    number: int  # of the dab in its stroke
    place: tuple[float, float]  # east and south, in metres
    reach: Footprint
    weight: Map

    @property
    def cells(self) -> tuple[slice, slice]:
        return self.reach.cells

    @property
    def depth(self) -> Map:
        """Metres in each cell for a tool that adds or removes material."""
        return self.stroke.amount * self.weight


def enter(account: Account, volume: float) -> None:
    if volume > 0.0:
        account.gain(BY_HAND, volume)
    elif volume < 0.0:
        account.lose(BY_HAND, -volume)


def dig_out(touch: Touch, depth: Map | float) -> None:
    """Let buried beds down to this depth become loose material that a brush can take."""
    world, (rows, columns) = touch.world, touch.cells
    if world.beds is not None:
        world.sum_mix(touch.cells)
        world.exhume(np.broadcast_to(depth, touch.weight.shape), rows.start, columns.start)
        world.touched(BURIED)


def add_rock(touch: Touch, depth: Map) -> None:
    """Raise the rock with everything on it; lower it if `depth` is negative."""
    world = touch.world
    rock = world.bedrock[touch.cells]
    risen = np.clip(rock + depth, np.minimum(rock, -HIGHEST), np.maximum(rock, HIGHEST))
    enter(world.ledger.rock, float((risen - rock).sum()) * world.cell_area)
    rock[...] = risen


def add_loose(touch: Touch, kind: int, depth: Map) -> Map:
    """Add loose material of a kind, or remove up to this depth. Returns the change."""
    world = touch.world
    mix = world.mix[touch.cells][..., kind]
    room = np.maximum(HIGHEST - world.mix[touch.cells].sum(axis=2), 0.0)
    changed = np.maximum(mix + np.minimum(depth, room), 0.0)
    added: Map = changed - mix
    volume = float(added.sum()) * world.cell_area
    enter(world.ledger.sediment, volume)
    if world.materials is not None:
        enter(world.ledger.kinds[world.materials.names[kind]], volume)
    mix[...] = changed
    return added


def take_ground(touch: Touch, depth: Map) -> None:
    """Remove this depth: first loose material, all kinds in proportion, then rock."""
    dig_out(touch, depth)
    if not depth.any():
        return
    mix = touch.world.mix[touch.cells]
    loose = mix.sum(axis=2)
    part = np.minimum(depth, loose) / np.maximum(loose, 1e-300)
    for kind in range(mix.shape[2]):
        add_loose(touch, kind, -part * mix[..., kind])
    add_rock(touch, -np.maximum(depth - loose, 0.0))


def shape(touch: Touch, change: Map, *, on_top: bool = False) -> None:
    """Raise and lower the ground. What rises is rock, or `on_top`, where something loose lies, more of that."""
    take_ground(touch, np.maximum(-change, 0.0))
    if (risen := np.maximum(change, 0.0)).any():
        _raise(touch, risen, on_top=on_top)
    settle(touch)


def _raise(touch: Touch, risen: Map, *, on_top: bool) -> None:
    if on_top:
        mix = touch.world.mix[touch.cells].copy()
        loose = mix.sum(axis=2)
        covered = loose > 0.0
        for kind in range(mix.shape[2]):
            add_loose(touch, kind, np.where(covered, risen * mix[..., kind] / np.maximum(loose, 1e-300), 0.0))
        risen = np.where(covered, 0.0, risen)
    add_rock(touch, risen)
    _carry_plants(touch, risen)


def _carry_plants(touch: Touch, risen: Map) -> None:
    """Let plants rise with the rock below them, which would bury them else."""
    world = touch.world
    if ROOTED_GROUND in world.layers:
        world.layers[ROOTED_GROUND][touch.cells] += risen.astype(np.float32)
        world.touched(ROOTED_GROUND)


def settle(touch: Touch) -> None:
    """Update ground and water levels, as far as possible without flow."""
    world, cells = touch.world, touch.cells
    if world.beds is not None:
        dig_out(touch, np.where(touch.weight > 0.0, touch.scene.stratigraphy.active_layer, 0.0))
    world.sum_mix(cells)
    ground, level = world.ground[cells], world.water_level[cells]
    standing, water = world.standing[cells], world.water[cells]
    fallen_dry = ((standing == SEA) & (ground >= world.sea_level)) | ((standing != SEA) & (water <= 0.0))
    standing[fallen_dry] = DRY
    level[...] = np.where(standing == DRY, ground, np.maximum(level, ground))
    world.water_version += 1
    world.touched("bedrock", "sediment", "water", *(name for name in world.layers if name.startswith(LOOSE)))


def ground_of(touch: Touch) -> Map:
    ground: Map = touch.world.ground[touch.cells]
    return ground


def part_of_way(touch: Touch) -> Map:
    """The part of the way to a goal that each cell goes."""
    return np.minimum(touch.stroke.amount * touch.weight, 1.0)


def bumps(touch: Touch, wavelength: float) -> Map:
    """Noise that belongs to the land, and does not move with the brush."""
    world, (rows, columns) = touch.world, touch.cells
    south, east = (np.arange(cells.start, cells.stop, dtype=np.float64) + 0.5 for cells in (rows, columns))
    down, across = np.meshgrid(south * world.cell_size, east * world.cell_size, indexing="ij")
    return brushes.noise(across, down, wavelength, world.seed)
