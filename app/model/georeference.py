"""Georeference of a map, and its mask of missing data: what a world keeps of its source model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError

PIXEL_SCALE, TIEPOINT, TRANSFORMATION = 33550, 33922, 34264
KEY_DIRECTORY, KEY_DOUBLES, KEY_TEXTS = 34735, 34736, 34737
KEY_KINDS = {KEY_DIRECTORY: "H", KEY_DOUBLES: "d", KEY_TEXTS: "s"}

MODEL_TYPE, GEOGRAPHIC = 1024, 2  # key of the directory, and its value for geographic coordinates

# As tifffile takes them: number, type, count, value, written once
Tag = tuple[int, str, int, Any, bool]

# Sine of the largest rotation that is ignored.
SMALLEST_TURN = 1e-3
LARGEST_SOURCE = 2**13  # cells along a side of a source model whose world has others
LONGEST_KEYS = 2**14  # numbers or characters; more than any coordinate system needs


@dataclass(frozen=True)
class Georeference:
    """`to_model` (2, 3) maps [column, row, 1], from the north-western corner, to coordinates."""

    to_model: NDArray[np.float64]
    keys: tuple[Tag, ...]  # the coordinate system
    pixel_is_point: bool = False

    def position(self, row: int, column: int) -> tuple[float, float]:
        """The coordinates of the centre of a cell."""
        x, y = self.to_model @ (column + 0.5, row + 0.5, 1.0)
        return float(x), float(y)

    @property
    def in_degrees(self) -> bool:
        """Whether coordinates are longitude and latitude, according to the keys."""
        return self.key(MODEL_TYPE) == GEOGRAPHIC

    def key(self, number: int) -> int | None:
        """The value of a key in the directory; None if it has none."""
        directory = next((value for tag, _, _, value, _ in self.keys if tag == KEY_DIRECTORY), ())
        found: int | None = dict(zip(directory[4::4], directory[7::4], strict=False)).get(number)
        return found

    def in_cells(self, east: float, south: float) -> Georeference:
        """The georeference of the same land in cells enlarged by these factors, west to east and north to south."""
        return replace(self, to_model=self.to_model * (east, south, 1.0))

    def tags(self) -> tuple[Tag, ...]:
        """The tags of a TIFF of this map."""
        to_model = self.to_model.copy()
        if self.pixel_is_point:
            to_model[:, 2] += 0.5 * (to_model[:, 0] + to_model[:, 1])
        (x_by_column, x_by_row, x), (y_by_column, y_by_row, y) = to_model.tolist()
        if x_by_row == y_by_column == 0.0:
            scale, tiepoint = (x_by_column, -y_by_row, 0.0), (0.0, 0.0, 0.0, x, y, 0.0)
            return (PIXEL_SCALE, "d", 3, scale, True), (TIEPOINT, "d", 6, tiepoint, True), *self.keys
        matrix = (x_by_column, x_by_row, 0.0, x, y_by_column, y_by_row, 0.0, y, *[0.0] * 7, 1.0)
        return (TRANSFORMATION, "d", 16, matrix, True), *self.keys


def is_turned(to_model: NDArray[np.float64]) -> bool:
    """Whether the map is rotated against its coordinates."""
    (east, east_by_row), (north_by_column, north) = np.abs(to_model[:, :2]).tolist()
    return bool(east_by_row > SMALLEST_TURN * north or north_by_column > SMALLEST_TURN * east)


# Coordinate systems: WGS 84 (EPSG 4326), and local metres
_OF_WGS_84 = (1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326)
WGS_84: tuple[Tag, ...] = ((KEY_DIRECTORY, "H", len(_OF_WGS_84), _OF_WGS_84, True),)
_LOCAL = "Local metres|"
LOCAL_METRES: tuple[Tag, ...] = (
    (
        KEY_DIRECTORY,
        "H",
        24,
        (
            *(1, 1, 0, 5, 1024, 0, 1, 32767, 1025, 0, 1, 1),
            *(1026, KEY_TEXTS, len(_LOCAL), 0, 3072, 0, 1, 32767, 3076, 0, 1, 9001),
        ),
        True,
    ),
    (KEY_TEXTS, "s", 0, _LOCAL, True),
)


def local_place(rows: int, cell_size: float) -> Georeference:
    """Local coordinates: metres from the south-western corner of a map of so many rows."""
    return Georeference(np.array([[cell_size, 0.0, 0.0], [0.0, -cell_size, rows * cell_size]]), LOCAL_METRES)


@dataclass(frozen=True)
class SourceGrid:
    """The cells of the model that a world was resampled from, row 0 in the north.

    Both cover the same extent, unless the model was in degrees that were projected: then `middle` is the longitude and
    latitude that the projection is true to scale at, and the world lies within the model.
    """

    rows: int
    columns: int
    place: Georeference | None
    unmapped: NDArray[np.bool_] | None = None  # [row, column]: which of them had no data, where any
    middle: tuple[float, float] | None = None
    degrees: float = 1.0  # for each unit of the coordinates of a model that was projected


@dataclass(frozen=True)
class Origin:
    """The source model of a world: georeference, and mask of missing data, [row, column], if any.

    `source` has the cells of the model if the world has others.
    """

    georeference: Georeference | None
    unmapped: NDArray[np.bool_] | None = None
    source: SourceGrid | None = None

    def refined(self, times: int) -> Origin:
        """The origin for cells refined by this factor, which are no longer those of the model."""
        place, unmapped = self.georeference, self.unmapped
        return Origin(
            None if place is None else place.in_cells(1.0 / times, 1.0 / times),
            None if unmapped is None else unmapped.repeat(times, axis=0).repeat(times, axis=1),
        )


class Place(msgspec.Struct, forbid_unknown_fields=True):
    """A georeference in a saved world."""

    to_model: list[float]  # row by row
    keys: list[tuple[int, list[int | float] | str]]
    pixel_is_point: bool = False


class SourceContent(msgspec.Struct, forbid_unknown_fields=True):
    """A source grid as a saved world has it; which of its cells had no data is an array of its own."""

    rows: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_SOURCE)]
    columns: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_SOURCE)]
    place: Place | None = None
    middle: tuple[float, float] | None = None
    degrees: float = 1.0


def content_of(georeference: Georeference) -> Place:
    """A georeference for a file."""
    keys = [
        (number, value if isinstance(value, str) else np.asarray(value).tolist())
        for number, _, _, value, _ in georeference.keys
    ]
    return Place(georeference.to_model.reshape(-1).tolist(), keys, georeference.pixel_is_point)


def georeference_of(place: Place) -> Georeference:
    """The georeference from a file. Raises `UserError` if it is invalid."""
    to_model = np.array(place.to_model, np.float64)
    if to_model.shape != (6,) or not np.isfinite(to_model).all():
        raise UserError("its 'georeference' leads to no coordinates; it must have 6 finite numbers")
    return Georeference(to_model.reshape(2, 3), tuple(_key(*key) for key in place.keys), place.pixel_is_point)


def content_of_source(source: SourceGrid) -> SourceContent:
    """A source grid for a file."""
    place = None if source.place is None else content_of(source.place)
    return SourceContent(source.rows, source.columns, place, source.middle, source.degrees)


def source_of(content: SourceContent, unmapped: NDArray[np.bool_] | None) -> SourceGrid:
    """The source grid that a file has. Raises `UserError` if it is none."""
    place = None if content.place is None else georeference_of(content.place)
    if content.middle is not None and not (place and np.isfinite([*content.middle, content.degrees]).all()):
        raise UserError("its 'source' is projected, and leads to no coordinates")
    return SourceGrid(content.rows, content.columns, place, unmapped, content.middle, content.degrees)


def _key(number: int, value: Sequence[float] | str) -> Tag:
    kind = KEY_KINDS.get(number, "")
    fits = {
        "H": lambda: all(isinstance(item, int) and 0 <= item < 2**16 for item in value) and len(value) % 4 == 0,
        "d": lambda: all(isinstance(item, int | float) and np.isfinite(item) for item in value),
        "s": lambda: isinstance(value, str) and value.isascii(),
    }
    if kind not in fits or isinstance(value, str) != (kind == "s") or len(value) > LONGEST_KEYS or not fits[kind]():
        raise UserError(f"its 'georeference' has a key {number} that is none of GeoTIFF")
    return (number, kind, 0 if kind == "s" else len(value), value if kind == "s" else tuple(value), True)
