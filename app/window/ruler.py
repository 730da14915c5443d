"""A ruler on the land: from one place to another, their distance and rise, and the ground between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.picture.ground import Ground
from app.picture.sides import Side, Sides

if TYPE_CHECKING:
    from app.model.snapshot import Snapshot
    from app.window.views import Views

Place = tuple[float, float]  # metres east and south of the north-western corner

FEWEST_POINTS, MOST_POINTS = 16, 512  # of a profile


@dataclass(frozen=True)
class Profile:
    """The ground along the straight way between two places, in metres; arrays are [point]."""

    along: NDArray[np.float64]  # horizontal distance from the first place
    ground: NDArray[np.float64]
    water: NDArray[np.float64]  # the surface of lake or sea, and the ground where it is dry

    @property
    def length(self) -> float:
        return float(self.along[-1])

    @property
    def rise(self) -> float:
        """From the first place to the second; negative where it falls."""
        return float(self.ground[-1] - self.ground[0])

    @property
    def slope(self) -> float:
        """Degrees, of the straight line between the two places."""
        return math.degrees(math.atan2(self.rise, self.length))


def profile(snapshot: Snapshot, start: Place, end: Place) -> Profile:
    """The profile between two places of a land, with about two points in each cell that it crosses."""
    length = math.dist(start, end)
    count = int(np.clip(2.0 * length / snapshot.cell_size, FEWEST_POINTS, MOST_POINTS))
    parts = np.linspace(0.0, 1.0, count)
    east, south = (first + parts * (last - first) for first, last in zip(start, end, strict=True))
    ground = np.array(Ground(snapshot, 1.0).heights(list(zip(east, south, strict=True))))
    water = ground.copy()
    if "water" in snapshot.layers:
        rows, columns = snapshot.shape
        cells = (
            np.clip((south / snapshot.cell_size).astype(np.intp), 0, rows - 1),
            np.clip((east / snapshot.cell_size).astype(np.intp), 0, columns - 1),
        )
        wet = snapshot.layers["water"][cells] > 0.0
        water[wet] = np.maximum(ground, snapshot.layers["water_level"][cells])[wet]
    return Profile(parts * length, ground, water)


class Ruler:
    """The places that were set with Shift + click. The second one follows the pointer until it is set, too."""

    def __init__(self, sides: Sides, views: Views) -> None:
        self.start: Place | None = None
        self.end: Place | None = None
        self._sides = sides
        self._views = views
        self._world = 0  # the number of that which it lies on

    @property
    def is_on(self) -> bool:
        return self.start is not None

    def set(self, place: Place | None) -> None:
        """Begin at a place, end at one, or begin anew; None: the pointer is on no land, and nothing is set."""
        side = self._views.pointed_side
        if place is None or side.snapshot is None:
            return
        if self.start is None or self.end is not None or self.side is not side:
            self.start, self.end, self._world = place, None, side.snapshot.world
        else:
            self.end = place

    def forget(self) -> None:
        self.start = self.end = None

    @property
    def side(self) -> Side | None:
        """The side that shows the land on which it lies; None if that is not shown any more."""
        for side in self._sides.shown:
            if side.snapshot is not None and side.snapshot.world == self._world:
                return side
        return None

    def profile_to(self, pointer: Place | None) -> Profile | None:
        """The profile to its end, or to the pointer while there is none. Without either there is nothing to measure."""
        end, side = self.end or pointer, self.side
        if self.start is None or end is None or side is None or side.snapshot is None or end == self.start:
            return None
        return profile(side.snapshot, self.start, end)
