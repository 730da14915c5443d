"""The context of one cycle: common values, and messages from one process to later ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.edge_parameters import EdgeParameters
from app.model.river_parameters import RIVER_WIDTH
from kernels.scratch import Scratch


class Spills(NamedTuple):
    """Water that spilled over the outlets of lakes in this cycle. It is in the layer `water`, beyond the outlets."""

    sill: NDArray[np.int32]  # the highest cell on the way out, as row * columns + column
    beyond: NDArray[np.int32]  # the next one
    volume: NDArray[np.float64]  # m over one cell


class Rising(NamedTuple):
    """Groundwater that surfaces in this cycle. It is in no layer any more: drops carry it on."""

    cell: NDArray[np.int64]  # row * columns + column
    depth: NDArray[np.float64]  # m over one cell


@dataclass
class Cycle:
    """Input of processes besides the world and their parameters. Each cycle starts with a new one."""

    weather: Weather = field(default_factory=Weather)
    edges: EdgeParameters = field(default_factory=EdgeParameters)
    running: frozenset[str] = frozenset()  # names of the running processes
    scratch: Scratch = field(default_factory=Scratch)  # scratch arrays, shared in turn
    river_width: float = RIVER_WIDTH  # metres, of a river of 1 m³/s
    knows_rivers: bool = True  # whether drops know the river that they are in, and so follow its arms
    bedrock: NDArray[np.float64] | None = None  # where there are beds: rock as of when it spared them last, metres
    spills: Spills | None = None  # by lakes; None: they are not simulated
    rising: Rising | None = None  # by moisture, until drops have taken it
    drops_of_rain: int = 0  # by drops
    usual_drops: float = 0.0  # by drops: of rain on the map, at the usual precipitation
    drops_of_springs: NDArray[np.float64] | None = None  # by drops: [drop, (row, column, …, volume)]
    soaking: float = 0.0  # by moisture: part of a drop's water that dry ground takes in a unit of time
    parcels: int = 0  # by wind: how many blew over the map
    blown: NDArray[np.uint8] | None = None  # by wind: [row, column], 1 where any of them was; None: no wind blew

    @property
    def has_standing_water(self) -> bool:
        """Whether lakes and sea are simulated: whether it is known what stands where."""
        return not self.running.isdisjoint({"pools", "floods"})

    @property
    def snow_feeds_ice(self) -> bool:
        """Whether glaciers gain the snow that outlives the summer."""
        return self.running >= {"snow", "ice"}


def compounded(part: float, times: float) -> float:
    """A fraction or chance `part`, compounded over a number of steps."""
    return part if times == 1.0 else 1.0 - (1.0 - part) ** times
