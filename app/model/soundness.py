"""Soundness of a world: a sound world can be saved and opened again, and conserves mass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.arms import fault_of_arms
from app.model.centrelines import fault_of_centrelines
from app.model.layers import ARM_CODES, BURIED, GROUND, LOOSE, layer_declaration
from app.model.plants import fault_of_trees
from app.model.world import World


class Fault(NamedTuple):
    """What is wrong with a world, and where, if known: layer and cell (row, column)."""

    why: str
    layer: str = ""
    cell: tuple[int, int] | None = None


def is_within(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether all values are from `low` to `high`; false for NaN."""
    # Far cheaper than a test of each value; both are NaN if any value is.
    return bool(values.min() >= low and values.max() <= high)


def unsound_cell(name: str, layer: NDArray[Any]) -> tuple[int, int] | None:
    """The first cell with a value out of bounds or not finite; None if all are sound."""
    low, high = layer_declaration(name).bounds
    if is_within(layer, low, high):
        return None
    row, column = np.argwhere(~((layer >= low) & (layer <= high)))[0]
    return int(row), int(column)


def find_fault(world: World) -> Fault | None:
    """The first fault of a world's layers, trees or centrelines; None if there is none."""
    # Faster than each kind on its own
    mix_is_sound = world.materials is None or is_within(world.mix, *layer_declaration(LOOSE).bounds)
    for name, layer in world.layers.items():
        if not (mix_is_sound and name.startswith(LOOSE)) and (cell := unsound_cell(name, layer)):
            low, high = layer_declaration(name).bounds
            value = layer[cell]
            found = f"at {value:g} (it may be from {low:g} to {high:g})" if np.isfinite(value) else "not finite"
            return Fault(f"{name} {found} at row {cell[0]}, column {cell[1]}", name, cell)
    differs = world.ground != world.ground_of_layers(np.empty(world.shape))
    if differs.any():
        row, column = map(int, np.argwhere(differs)[0])
        why = f"ground that is not the sum of its layers at row {row}, column {column}"
        return Fault(why, GROUND, (row, column))
    if world.beds is not None and (fault := world.beds.fault(world.layers[BURIED], world.mix.shape[2])):
        return Fault(f"buried beds that {fault}", BURIED)
    if ARM_CODES in world.layers and (fault := fault_of_arms(world.layers[ARM_CODES])):
        return Fault(f"arms of rivers: they {fault}", ARM_CODES)
    if fault := fault_of_trees(world.trees, world.shape, world.flora):
        return Fault(f"trees: {fault}")
    rows, columns = world.shape
    if fault := fault_of_centrelines(world.centrelines, (rows * world.cell_size, columns * world.cell_size)):
        return Fault(f"centrelines: {fault}")
    return None


def unsound_account(world: World, allowed: float) -> str:
    """The substance with the largest imbalance above the tolerance; empty if there is none."""
    imbalances = {name: abs(imbalance) for name, imbalance in world.imbalances().items()}
    beyond = {name: part for name, part in imbalances.items() if not part <= allowed}  # true for NaN, too
    return max(beyond, key=beyond.__getitem__, default="")
