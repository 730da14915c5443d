"""What processes enter in the ledger where the ground is of several kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.model.world import World

Amounts = Sequence[float] | NDArray[np.float64]


def account_for_kinds(world: World, cause: str, from_rock: Amounts, off_map: Amounts, worn: Amounts = ()) -> None:
    """Enter what a process did to each kind, in metres over one cell, in the order of `World.mix`.

    `from_rock` is what it made of rock, by the given cause, `off_map` what it took off the map, and `worn` what it wore
    into the next finer kind.
    """
    if world.materials is None:
        return
    area, accounts = world.cell_area, world.ledger.kinds
    for kind, amount in zip(world.materials.loose, from_rock, strict=True):
        if amount:
            accounts[kind.name].gain(cause, float(amount) * area)
    for kind, amount in zip(world.materials.loose, off_map, strict=True):
        if amount:
            accounts[kind.name].lose("off the map", float(amount) * area)
    for kind, amount in zip(world.materials.loose, worn, strict=False):
        if amount:
            accounts[kind.name].lose(f"worn to {kind.worn}", float(amount) * area)
            accounts[kind.worn].gain(f"worn from {kind.name}", float(amount) * area)
