"""Width and migration of river channels: figures that compare erosion with and without plants.

A channel is a crest of the discharge: a cell of dry land on which more water passes than on either side, across the
direction of flow. Its section is the discharge q along that line, as far as it falls to both sides, down to a tenth.

    flow    Q = ∫ q             water that passes in a cycle, in metres over one cell times cells
    width   W = Q / largest q   cells: as wide as it would be if all of it were as full as its middle

Wide rivers have wide channels, so that widths are compared at the same flow: W ∝ √Q (Leopold, Maddock 1953).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import ChannelFigures
from app.model.world import World
from kernels.standing import DRY

Numbers = NDArray[np.float64]

REACH = 12.0  # cells to each side over which a section is followed
STEP = 0.5  # cells
CREST = 2.0  # cells to each side within which the middle has the most water
BANK = 0.1  # fraction of the largest discharge at which a section ends
BANKS = 3.0  # cells beyond the bed of a channel, half as wide as it is to each side of its middle
FADING = 0.5  # fraction of the least flow at which a channel still counts
TIME = 1000.0  # cycles: the unit of time of the rates


@dataclass(frozen=True)
class Channels:
    """The centre cells of all channels whose flow is large enough."""

    rows: Numbers  # [channel cell]
    columns: Numbers
    width: Numbers  # cells
    flow: Numbers

    def __len__(self) -> int:
        return len(self.rows)

    def at_least(self, flow: float) -> Channels:
        """The channels with at least this flow."""
        large = self.flow >= flow
        return Channels(self.rows[large], self.columns[large], self.width[large], self.flow[large])

    @property
    def relative_width(self) -> float:
        """The median of W / √Q: the width, in cells, at a flow of 1. 0 if there are no channels."""
        return float(np.median(self.width / np.sqrt(self.flow))) if len(self) else 0.0

    @property
    def typical_width(self) -> float:
        """The median of the widths, in cells. 0 if there are no channels."""
        return float(np.median(self.width)) if len(self) else 0.0


class ChannelWatch:
    """Measures the channels of one world from time to time."""

    def __init__(self, least_flow: float) -> None:
        self.least_flow = least_flow
        # The cycle, its channels down to smaller flows, and its ground
        self._before: tuple[int, Channels, Numbers] | None = None

    def look(self, world: World) -> ChannelFigures:
        """The current channels, and how far those of the last measurement have moved, if there was one."""
        small_too = find_channels(world, FADING * self.least_flow)
        channels = small_too.at_least(self.least_flow)
        moved = worn = math.nan
        if self._before is not None and world.cycle > self._before[0]:
            cycle, before, ground = self._before
            span = (world.cycle - cycle) / TIME
            moved = migration(before, small_too, self.least_flow) / span
            change = np.abs(world.ground - ground)[banks(before.at_least(self.least_flow), world.shape)]
            worn = float(change.mean()) / span if len(change) else math.nan
        self._before = world.cycle, small_too, world.ground.copy()
        return ChannelFigures(len(channels), channels.typical_width, channels.relative_width, moved, worn)


def find_channels(world: World, least_flow: float) -> Channels:
    """The channels of a world with at least `least_flow`, from the recent discharge of its droplets."""
    discharge = np.asarray(world.trace("discharge"), np.float64)
    south, east = (np.asarray(world.trace(f"momentum_{way}"), np.float64) for way in ("south", "east"))
    speed = np.hypot(south, east)
    # A section with the least flow has at least this at its centre.
    wet = (world.standing == DRY) & (speed > 0.0) & (discharge * 2.0 * REACH >= least_flow)
    rows, columns = (places.astype(np.float64) for places in np.nonzero(wet))
    across = np.stack([-east[wet], south[wet]]) / speed[wet]
    middle = discharge[wet]

    def discharge_at(distance: float) -> Numbers:
        return _between_cells(discharge, rows + distance * across[0], columns + distance * across[1])

    crest = np.ones(len(rows), np.bool_)
    flow = middle.copy()
    for side in (-1.0, 1.0):
        before, inside = middle, np.ones(len(rows), np.bool_)
        for distance in np.arange(STEP, REACH + STEP / 2, STEP):
            here = discharge_at(side * distance)
            if distance <= CREST:
                crest &= (here <= middle) if side > 0.0 else (here < middle)
            inside &= (here <= before) & (here >= BANK * middle)
            flow += np.where(inside, here, 0.0)
            before = here
    flow *= STEP
    chosen = crest & (flow >= least_flow)
    return Channels(rows[chosen], columns[chosen], flow[chosen] / middle[chosen], flow[chosen])


def migration(before: Channels, after: Channels, least_flow: float = 0.0) -> float:
    """How far channels have moved, in cells: the mean way from each to the nearest of the other time, both ways.

    The modified Hausdorff distance (Dubuisson, Jain 1994) with the mean of both ways, from channels with at least
    `least_flow` to any: one whose flow was just over that and is just below it has not gone anywhere. NaN where there
    are none at one of the times.
    """
    large_before, large_after = before.at_least(least_flow), after.at_least(least_flow)
    if not (len(large_before) and len(large_after)):
        return math.nan
    return 0.5 * (_mean_way(large_before, after) + _mean_way(large_after, before))


def banks(channels: Channels, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """The cells along channels, outside their beds, [row, column]."""
    bed, near = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for row, column, width in zip(channels.rows, channels.columns, channels.width, strict=True):
        reach = int(0.5 * width + BANKS)
        window = tuple(slice(max(int(middle) - reach, 0), int(middle) + reach + 1) for middle in (row, column))
        rows, columns = np.ogrid[
            tuple(slice(part.start, min(part.stop, cells)) for part, cells in zip(window, shape, strict=True))
        ]
        away = np.hypot(rows - row, columns - column)
        bed[window] |= away <= 0.5 * width
        near[window] |= away <= 0.5 * width + BANKS
    return near & ~bed


def _mean_way(some: Channels, others: Channels) -> float:
    nearest = [
        np.hypot(others.rows - row, others.columns - column).min()
        for row, column in zip(some.rows, some.columns, strict=True)
    ]
    return float(np.mean(nearest))


def _between_cells(layer: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """A layer interpolated between cell centres; 0 beyond its edges."""
    padded = np.pad(layer, 1)
    rows, columns = (
        np.clip(places + 1.0, 0.0, cells + 0.999)
        for places, cells in ((rows, layer.shape[0]), (columns, layer.shape[1]))
    )
    north, west = rows.astype(int), columns.astype(int)
    down, right = rows - north, columns - west
    upper = (1.0 - right) * padded[north, west] + right * padded[north, west + 1]
    lower = (1.0 - right) * padded[north + 1, west] + right * padded[north + 1, west + 1]
    between: Numbers = (1.0 - down) * upper + down * lower
    return between
