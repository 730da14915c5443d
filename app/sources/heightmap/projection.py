"""Longitude and latitude to metres: a transverse Mercator projection of its own for each map, around its middle.

The series in the third flattening are those of Krüger (1912), to its fourth power as Karney (2011) gives them
("Transverse Mercator with an accuracy of a few nanometers", Journal of Geodesy 85): good to less than a millimetre on
any map here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.georeference import KEY_DIRECTORY, KEY_DOUBLES, KEY_TEXTS, Georeference, Tag
from app.model.world import LARGEST_SIDE, SMALLEST_SIDE
from app.sources.heightmap.nodata import fill, usual_markers

Numbers = NDArray[np.float64]
Lattice = tuple[Numbers, Numbers]  # rows and columns in another map of every `STEP`-th cell, row by row

# WGS 84; those of other datums of today differ by less than a millimetre on a map.
RADIUS, FLATTENING = 6_378_137.0, 1.0 / 298.257223563
N = FLATTENING / (2.0 - FLATTENING)
RECTIFYING = RADIUS / (1.0 + N) * (1.0 + N**2 / 4.0 + N**4 / 64.0)
ALPHA = (
    N / 2 - 2 * N**2 / 3 + 5 * N**3 / 16 + 41 * N**4 / 180,
    13 * N**2 / 48 - 3 * N**3 / 5 + 557 * N**4 / 1440,
    61 * N**3 / 240 - 103 * N**4 / 140,
    49561 * N**4 / 161280,
)
BETA = (
    N / 2 - 2 * N**2 / 3 + 37 * N**3 / 96 - N**4 / 360,
    N**2 / 48 + N**3 / 15 - 437 * N**4 / 1440,
    17 * N**3 / 480 - 37 * N**4 / 840,
    4397 * N**4 / 161280,
)
DELTA = (
    2 * N - 2 * N**2 / 3 - 2 * N**3 + 116 * N**4 / 45,
    7 * N**2 / 3 - 8 * N**3 / 5 - 227 * N**4 / 45,
    56 * N**3 / 15 - 136 * N**4 / 35,
    4279 * N**4 / 630,
)
ECCENTRICITY = 2.0 * math.sqrt(N) / (1.0 + N)

STEP = 16  # new cells between places that are found exactly; between them a line is off by millimetres
FARTHEST = 20.0  # degrees of longitude to either side of the middle
NEAREST_TO_A_POLE = 85.0  # degrees of latitude
MISSING_FROM = 0.5  # the part of a new cell whose old ones are missing, from which on it is missing itself
NOT_SEEN = 0.5  # of a cell: tolerated error if degrees are treated as lengths


class LocalMercator:
    """Metres east and north of a place, true to scale along its meridian."""

    def __init__(self, longitude: float, latitude: float) -> None:
        self.longitude, self.latitude = longitude, latitude
        self._north = 0.0
        self._north = float(self.to_metres(np.array(longitude), np.array(latitude))[1])

    def to_metres(self, longitude: Numbers, latitude: Numbers) -> tuple[Numbers, Numbers]:
        """East and north of degrees."""
        turn, sine = np.radians(longitude - self.longitude), np.sin(np.radians(latitude))
        conformal = np.sinh(np.arctanh(sine) - ECCENTRICITY * np.arctanh(ECCENTRICITY * sine))
        xi = np.arctan2(conformal, np.cos(turn))
        eta = np.arctanh(np.sin(turn) / np.hypot(1.0, conformal))
        north, east = _summed(xi, eta, ALPHA, 1.0)
        return RECTIFYING * east, RECTIFYING * north - self._north

    def to_degrees(self, east: Numbers, north: Numbers) -> tuple[Numbers, Numbers]:
        """Longitude and latitude of metres."""
        xi, eta = _summed((north + self._north) / RECTIFYING, east / RECTIFYING, BETA, -1.0)
        chi = np.arcsin(np.sin(xi) / np.cosh(eta))
        latitude = chi + sum(delta * np.sin(2.0 * j * chi) for j, delta in enumerate(DELTA, 1))
        return self.longitude + np.degrees(np.arctan2(np.sinh(eta), np.cos(xi))), np.degrees(latitude)

    def keys(self, datum: int) -> tuple[Tag, ...]:
        """The GeoTIFF keys of its metres on a datum, by its number of EPSG."""
        text = "Transverse Mercator around the map|"
        numbers = (self.longitude, self.latitude, 0.0, 0.0, 1.0)
        short = {1024: 1, 1025: 1, 2048: datum, 3072: 32767, 3074: 32767, 3075: 1, 3076: 9001}
        entries = {key: (0, 1, value) for key, value in short.items()}
        entries[1026] = (KEY_TEXTS, len(text), 0)
        for place, key in enumerate((3080, 3081, 3082, 3083, 3092)):
            entries[key] = (KEY_DOUBLES, 1, place)
        directory = (1, 1, 0, len(entries), *(part for key in sorted(entries) for part in (key, *entries[key])))
        return (
            (KEY_DIRECTORY, "H", len(directory), directory, True),
            (KEY_DOUBLES, "d", len(numbers), numbers, True),
            (KEY_TEXTS, "s", 0, text, True),
        )


def _summed(xi: Numbers, eta: Numbers, series: tuple[float, ...], sign: float) -> tuple[Numbers, Numbers]:
    new_xi, new_eta = xi, eta
    for j, term in enumerate(series, 1):
        new_xi = new_xi + sign * term * np.sin(2.0 * j * xi) * np.cosh(2.0 * j * eta)
        new_eta = new_eta + sign * term * np.cos(2.0 * j * xi) * np.sinh(2.0 * j * eta)
    return new_xi, new_eta


class Degrees:
    """The cells of a map in degrees, and the metres around its middle."""

    def __init__(self, to_degrees: Numbers, rows: int, columns: int) -> None:
        """`to_degrees` (2, 3) leads from [column, row, 1] of cells' corners to longitude and latitude, north up."""
        (self._width, _, self._west), (_, self._height, self._north) = to_degrees.tolist()
        self._rows, self._columns = rows, columns
        longitude, latitude = self._west + columns / 2 * self._width, self._north + rows / 2 * self._height
        # Rounded, so that what other programs show is what was meant
        self.metres = LocalMercator(round(longitude, 2), round(latitude, 2))
        self._middle = longitude, latitude

    @property
    def can_be_projected(self) -> bool:
        """Whether the whole map lies where the projection holds."""
        far = self._columns / 2 * abs(self._width) <= FARTHEST
        lowest, highest = self._north + self._rows * self._height, self._north
        return bool(far and lowest >= -NEAREST_TO_A_POLE and highest <= NEAREST_TO_A_POLE)

    def stray(self, width: float, height: float) -> float:
        """The largest displacement of a place, in cells, if cells had these lengths in metres."""
        longitude, latitude = self._edge()
        east, north = self.metres.to_metres(longitude, latitude)
        (middle_east,), (middle_north,) = self.metres.to_metres(*(np.array([part]) for part in self._middle))
        even_east = (longitude - self._middle[0]) / self._width * width
        even_north = (latitude - self._middle[1]) / -self._height * height
        off_east, off_north = east - middle_east - even_east, north - middle_north - even_north
        return float(max(np.abs(off_east).max() / width, np.abs(off_north).max() / height))

    def _edge(self) -> tuple[Numbers, Numbers]:
        """Longitude and latitude around the map, through the middles of its outer cells."""
        across, down = np.linspace(0.5, self._columns - 0.5, 65), np.linspace(0.5, self._rows - 0.5, 65)
        columns = np.concatenate([across, across, np.full(65, 0.5), np.full(65, self._columns - 0.5)])
        rows = np.concatenate([np.full(65, 0.5), np.full(65, self._rows - 0.5), down, down])
        return self._west + columns * self._width, self._north + rows * self._height

    def grid(self, size: float, most: int = LARGEST_SIDE) -> ProjectedGrid:
        """The largest upright rectangle in the map, in square cells of `size` metres.

        They are larger where a side would have more than `most` of them.
        """
        east, north = (part.reshape(4, 65) for part in self.metres.to_metres(*self._edge()))
        (top, bottom), (left, right) = north[:2], east[2:]
        west, reach_east = float(left.max()), float(right.min())
        highest, lowest = float(top.min()), float(bottom.max())
        size = max(size, max(reach_east - west, highest - lowest) / (most - 1))
        columns = max(int((reach_east - west) / size) + 1, SMALLEST_SIDE)
        rows = max(int((highest - lowest) / size) + 1, SMALLEST_SIDE)
        return ProjectedGrid(rows, columns, size, west, highest, self)

    def places_of(self, east: Numbers, north: Numbers) -> tuple[Numbers, Numbers]:
        """Rows and columns of metres in the map, from the middle of its first cell."""
        longitude, latitude = self.metres.to_degrees(east, north)
        return (latitude - self._north) / self._height - 0.5, (longitude - self._west) / self._width - 0.5


@dataclass(frozen=True)
class ProjectedGrid:
    """Square cells in metres around the middle of a map in degrees."""

    rows: int
    columns: int
    size: float  # of a cell, in metres
    west: float  # the middle of the first cell
    north: float
    degrees: Degrees

    def place(self, datum: int) -> Georeference:
        """Where its cells lie, on a datum by its number of EPSG."""
        to_model = [[self.size, 0.0, self.west - 0.5 * self.size], [0.0, -self.size, self.north + 0.5 * self.size]]
        return Georeference(np.array(to_model), self.degrees.metres.keys(datum))

    def lattice(self, top: int, left: int, rows: int, columns: int) -> Lattice:
        """Where cells from a row and a column on, which are multiples of `STEP`, lie in the map in degrees."""
        east = self.west + self.size * STEP * np.arange(left // STEP, -(-(left + columns) // STEP) + 1)
        north = self.north - self.size * STEP * np.arange(top // STEP, -(-(top + rows) // STEP) + 1)
        return self.degrees.places_of(*np.meshgrid(east, north))

    def projected(self, heights: Numbers, missing: NDArray[np.bool_]) -> tuple[Numbers, NDArray[np.bool_]]:
        """The heights of a map in degrees in these cells, and where none is known; see `warped`."""
        lattice, shape = self.lattice(0, 0, self.rows, self.columns), (self.rows, self.columns)
        unknown = missing | usual_markers(heights)
        result, unseen = np.zeros(shape), np.zeros(shape)
        if not unknown.all():
            result = warped(fill(heights, unknown), lattice, shape)
        if unknown.any():
            unseen = warped(unknown, lattice, shape)
        return result, unseen >= MISSING_FROM


def warped(
    values: NDArray[Any],
    lattice: Lattice,
    shape: tuple[int, int],
    corner: tuple[int, int] = (0, 0),
    whole: tuple[int, int] | None = None,
) -> Numbers:
    """A map with a new `shape`, whose cells lie in an old one as a `lattice` says.

    `values` are the old one from the row and column of a `corner` on, if it has a `whole` shape that is larger. See
    `kernels.warping.warp`.
    """
    from kernels.warping import warp

    result = np.zeros(shape)
    warp(np.ascontiguousarray(values, np.float64), *lattice, STEP, result, corner, whole or values.shape)
    return result


def datum_of(names: dict[str, Any]) -> int:
    """The EPSG code of the datum of a model in degrees; WGS 84 by default."""
    datum = names.get("GeographicTypeGeoKey", 4326)
    return int(datum) if 4000 <= int(datum) < 5000 else 4326
