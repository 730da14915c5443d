"""Ledger entries of changes to rock and loose material."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.model.ledger import Account
from app.model.world import World

if TYPE_CHECKING:
    from kernels.materials import Moved


def account_for(world: World, cause: str, moved: Moved, blown_in: str = "blown in", lost: str = "off the map") -> None:
    """Enter what a process moved: sediment as the sum of all kinds, and each kind if there are several.

    `cause` names what turned rock into loose material, `blown_in` what came over the edge, `lost` what left the map.
    """
    area, ledger = world.cell_area, world.ledger
    kinds = world.materials.loose if world.materials else ()
    accounts = [ledger.sediment, *(ledger.kinds[kind.name] for kind in kinds)]
    for enter, why, amounts in (
        (Account.gain, cause, moved.from_rock),
        (Account.gain, blown_in, moved.blown_in),
        (Account.lose, lost, moved.off_map),
    ):
        for account, amount in zip(accounts, (sum(amounts), *amounts), strict=False):
            if amount:
                enter(account, why, amount * area)
    if worn := sum(moved.from_rock):
        ledger.rock.lose(cause, worn * area)
    for kind, amount in zip(kinds, moved.worn, strict=False):
        if amount:
            ledger.kinds[kind.name].lose(f"worn to {kind.worn}", amount * area)
            ledger.kinds[kind.worn].gain(f"worn from {kind.name}", amount * area)
