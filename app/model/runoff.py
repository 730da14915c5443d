"""Runoff: amount of water, springs, and losses on the way."""

from __future__ import annotations

from dataclasses import dataclass

from app.model.river_parameters import RIVER_WIDTH

SECONDS_PER_YEAR = 365.25 * 86400.0


@dataclass(frozen=True)
class Runoff:
    """The water of the streams of a world.

    Rain is the precipitation of a year on its map, however many drops stand for it, and less where a map of rain or the
    altitude leaves less. Water wells up at `springs`, each (south, east, part), its place from 0 to 1: as much of the
    rain on the map as its drops are of those of rain, so that a drop is as much water wherever it comes from. `rain` is
    0 where no drops of rain fall; without any to compare them with, all springs together bring the precipitation.
    Rivers that part come in where they are `braided`, each (south, east, metres over a cell in a cycle), with as much
    more as their water is beside that of the drops; without drops, with as much as runs off the map. `inflows` come
    from outside of the map, each (south, east, cubic metres per second).
    """

    precipitation: float  # mm a year
    least_cells: float  # least catchment of a visible stream, in reference cells
    rain: float = 1.0  # factor on the precipitation
    springs: tuple[tuple[float, float, float], ...] = ()
    braided: tuple[tuple[float, float, float], ...] = ()
    inflows: tuple[tuple[float, float, float], ...] = ()
    by_altitude: float = 0.0  # fraction of the rain that follows altitude
    loss: float = 0.0  # fraction lost per reference cell
    river_width: float = RIVER_WIDTH  # metres, of a river of 1 m³/s
    lasts: bool = True  # False: streams dry up as traces of drops fade
    # The drops that stand for the rain, or for the springs where there is none: how many fall on reference cells in the
    # mean of cycles, the water of each as depth over one in cells, and the weight of the latest cycle in the averages
    # of what passes.
    drops: float = 0.0
    drop_depth: float = 0.0
    memory: float = 1.0

    @property
    def from_drops(self) -> bool:
        return self.drops > 0.0

    def discharge(self, area: float) -> float:
        """Mean discharge of an area in square metres, in cubic metres per second."""
        return area * 1e-3 * self.precipitation / SECONDS_PER_YEAR

    def depth_of_drops(self, reference_cell_size: float) -> float:
        """The water of the precipitation in a cycle, in metres over one cell; without drops, of braided rivers."""
        dropped = self.drops * self.drop_depth * reference_cell_size
        return dropped or sum(water for _, _, water in self.braided) or 1.0

    def smallest_stream(self, reference_cell_size: float) -> float:
        """The discharge of the smallest visible stream, in cubic metres per second."""
        return self.discharge(self.least_cells * reference_cell_size**2)
