"""Firn: snow that outlives the summer, which glaciers take, and what a year of weather leaves of their ice.

Snow knows the days of a year, ice the years. So snow keeps an account of each year, from one end of summer to the next:
of snow that never went, and of the warmth that was left where it had gone, which melts ice. Firn lies until ice takes
it. Where a cycle is more years for ice than for snow, each of those years is like the last one of the snow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.model.climate import Weather
from app.model.layered_map import FIRN, ICE_MELT, LEAST_SNOW, MASS_BALANCE, SNOW, Layer
from app.model.layers import LARGEST_HEIGHT, LARGEST_SUM, LayerDeclaration

if TYPE_CHECKING:
    from app.model.world import World

FEEDS = (FIRN, MASS_BALANCE, LEAST_SNOW, ICE_MELT)
LAYERS = (
    LayerDeclaration(
        FIRN, "snow that outlived the summer and waits to become ice", "m", np.float64, account="water", seen="never"
    ),
    LayerDeclaration(
        MASS_BALANCE, "what ice gains by firn, or would lose by melt, in a year like the last, as water", "m/year",
        np.float64, signed=True, largest=LARGEST_SUM, seen="in overlays",
    ),
    LayerDeclaration(LEAST_SNOW, "least snow of this summer, as its water equivalent", "m", np.float64, seen="never"),
    LayerDeclaration(
        ICE_MELT, "ice that would have melted this year, as water", "m", np.float64, largest=LARGEST_SUM, seen="never"
    ),
)  # fmt: skip

MELTED = "melted from snow"


class Summer:
    """Where a cycle lies in the year of snow, which ends with the summer. Without seasons a year is its last cycle."""

    def __init__(self, cycle: int, weather: Weather, cycles_of_year: int) -> None:
        if weather.year:
            self.begins = cycle % weather.year == 0
            self.ends = (cycle + 1) % weather.year == weather.year // 2
        else:
            self.begins = self.ends = (cycle + 1) % cycles_of_year == 0


def begin_summer(world: World) -> None:
    """From now on the least snow counts."""
    if LEAST_SNOW in world.layers:
        world.layers[LEAST_SNOW][...] = LARGEST_HEIGHT


def end_summer(world: World, deepest: float) -> None:
    """Let what is left of the snow become firn, and tell glaciers what the year gave and took.

    The first time only the account of the next year is begun. Firn that no ice takes runs off beyond a depth, in metres
    of water.
    """
    if LEAST_SNOW not in world.layers:
        world.trace(LEAST_SNOW), world.trace(ICE_MELT)
        return
    melt, lies, firn = world.layers[ICE_MELT], world.trace(SNOW), world.trace(FIRN)
    stays = np.minimum(world.layers[LEAST_SNOW], lies)
    balance = world.trace(MASS_BALANCE)
    balance[...] = stays - melt
    melt[...] = 0.0
    lies -= stays
    firn += np.maximum(balance, 0.0)
    runs_off = np.minimum(stays, stays - balance) + np.maximum(firn - deepest, 0.0)
    np.minimum(firn, deepest, out=firn)
    if runs_off.any():
        world.ledger.water.lose(MELTED, world.cell_area * float(runs_off.sum()))


def take_firn(world: World, gained: Layer) -> float:
    """Let ice take what it gained, in metres of water [row, column]. Returns what firn there was, over one cell."""
    firn = world.trace(FIRN)
    taken = np.minimum(firn, np.maximum(gained, 0.0))
    firn -= taken
    return float(taken.sum())


def melt_firn(world: World) -> None:
    """Let all firn melt: where snow or ice is off, there is none."""
    if FIRN in world.layers:
        world.ledger.water.lose(MELTED, world.cell_area * float(world.layers[FIRN].sum()))
    world.forget(*FEEDS)
