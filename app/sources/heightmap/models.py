"""Elevation models that lie in files, of which parts are read: single files, and tiles that are joined.

Nothing is read of them before it is asked for, and never more at once than a band of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import Georeference, is_turned
from app.sources.heightmap.nodata import usual_markers
from app.sources.part import Part

Samples = NDArray[Any]
# Reads rows and columns: samples as they are in the file, and where it says NODATA, if anywhere
Reader = Callable[[slice, slice], tuple[Samples, "NDArray[np.bool_] | None"]]

BAND = 2**23  # cells that are read at once
MOST_TILES = 10_000
LONGEST_SIDE = 10**8  # cells; more than any model has
SAME_CELLS = 1e-6  # difference of the sides of tiles' cells, as a part of them
ALIGNED = 0.1  # of a cell, by which a tile may lie beside the grid of the others
TILE_SUFFIXES = (".tif", ".tiff", ".hgt")
COPERNICUS = "_dem.tif"  # how its tiles end; files beside them are masks and qualities
DEEPEST = 3  # folders of folders
KIND_OF_COORDINATES = ("GTModelTypeGeoKey", "GeographicTypeGeoKey", "ProjectedCSTypeGeoKey")


@dataclass(frozen=True)
class Model:
    """The cells of a model, with row 0 in the north and column 0 in the west, and how they are read."""

    rows: int
    columns: int
    read: Reader
    place: Georeference | None = None
    names: dict[str, Any] = field(default_factory=dict)  # the GeoTIFF keys, by their names
    scale: float = 1.0  # metres for each unit of a sample
    offset: float = 0.0  # metres of a sample of 0
    full_scale: float | None = None  # the brightest sample, where they are shades
    band: int = 1  # rows that are read together without waste
    smaller: tuple[Model, ...] = ()  # the same land in larger cells, as the file has it beside, from fine to coarse

    @property
    def whole(self) -> Part:
        return Part(0, 0, self.rows, self.columns)

    @property
    def to_model(self) -> NDArray[np.float64] | None:
        """From [column, row, 1] of cells' corners to coordinates, where they are known."""
        return self.place.to_model if self.place else None

    def part(
        self, part: Part, step: int = 1, progress: Callable[[float], None] = lambda done: None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The heights of a part in metres, [row, column], and where none is known.

        With a step, means of so many rows and columns of cells each, or of all that there are, over those that are
        known. What is left at the southern and the eastern edge is left out.
        """
        down, across = min(step, part.rows), min(step, part.columns)
        shape = part.rows // down, part.columns // across
        heights, missing = np.zeros(shape), np.empty(shape, np.bool_)
        done = 0
        for windows in _windows(part, down, across, self.band):
            sums = [self._sums(window, down, across) for window in windows]
            total, known = (reduce(np.add, parts) for parts in zip(*sums, strict=True))
            top, left = (windows[0].row - part.row) // down, (windows[0].column - part.column) // across
            into = slice(top, top + total.shape[0]), slice(left, left + total.shape[1])
            np.divide(total, known, out=heights[into], where=known > 0)
            missing[into] = known == 0
            done += total.size
            progress(done / heights.size)
        return heights, missing

    def _sums(self, window: Part, down: int, across: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Of the heights that are known, over blocks of cells, and how many these are."""
        samples, unknown = self.read(
            slice(window.row, window.row + window.rows), slice(window.column, window.column + window.columns)
        )
        values = samples.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            values *= self.scale
            values += self.offset
        is_unknown = ~np.isfinite(values)
        if self.full_scale is None:
            is_unknown |= usual_markers(values)
        if unknown is not None:
            is_unknown |= unknown
        values[is_unknown] = 0.0
        if down == across == 1:
            return values, ~is_unknown
        down = min(down, window.rows)
        blocks = window.rows // down, down, window.columns // across, across
        return values.reshape(blocks).sum(axis=(1, 3)), (~is_unknown).reshape(blocks).sum(axis=(1, 3))

    def overview(
        self, side: int, part: Part | None = None, progress: Callable[[float], None] = lambda done: None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """A part, or all, in at most `side` cells along its longer side; from what the file has so, where it does.

        `progress` hears how much is read, from 0 to 1; what it raises ends the reading.
        """
        part = part or self.whole
        wanted = max(part.rows, part.columns) / side
        for other in reversed(self.smaller):
            times = self.columns / other.columns
            if times <= wanted:
                row, column = int(part.row / times), int(part.column / times)
                rows, columns = max(int(part.rows / times), 1), max(int(part.columns / times), 1)
                same = Part(row, column, min(rows, other.rows - row), min(columns, other.columns - column))
                return other.part(same, max(1, -(-max(same.rows, same.columns) // side)), progress)
        return self.part(part, max(1, math.ceil(wanted)), progress)

    def place_of(self, part: Part, step: int = 1) -> Georeference | None:
        """Where a part lies, in cells so many times as large."""
        return self.place and moved(self.place, part.column, part.row).in_cells(step, step)


def _windows(part: Part, down: int, across: int, band: int) -> Iterator[list[Part]]:
    """What is read at once of a part, of which so many rows and columns become one: about `BAND` cells at most.

    Each window has whole new rows, or as many cells from west to east as fit; those of a list lie below each other
    and belong to one new row. As many rows as are read together without waste stay so, where they can.
    """
    rows, columns = part.rows // down * down, part.columns // across * across
    height = BAND // columns // down * down or down
    if band > down:
        height = max(height // band, 1) * band // down * down
    height = min(height, rows)
    piece = height if height * columns <= BAND else min(height, max(BAND // columns // band, 1) * band)
    width = max(BAND // piece // across, 1) * across
    for top in range(0, rows, height):
        bottom = min(top + height, rows)
        for left in range(0, columns, width):
            yield [
                Part(part.row + upper, part.column + left, min(piece, bottom - upper), min(width, columns - left))
                for upper in range(top, bottom, piece)
            ]


# Tiles.


def tiles_in(folder: Path) -> list[Path]:
    """The files of a folder, and of those in it that can be read, that are tiles of a model.

    Raises `UserError` where the folder itself cannot be read.
    """
    found: list[Path] = []
    folders = [folder]
    for _ in range(DEEPEST):
        below: list[Path] = []
        for place in folders:
            try:
                tiles, others = _tiles_and_folders(place)
            except OSError as error:
                if place == folder:
                    raise UserError(f"{folder} cannot be read: {error.strerror or error}") from error
                continue
            found += tiles
            below += others
        folders = below
        if len(found) > MOST_TILES:
            raise UserError(f"{folder} has more than {MOST_TILES} tiles; name a folder with fewer")
    return [tile for tile in found if tile.name.lower().endswith(COPERNICUS)] or found


def _tiles_and_folders(folder: Path) -> tuple[list[Path], list[Path]]:
    """What may be tiles in a folder, and the folders in it. Raises `OSError` where it cannot be read."""
    entries = sorted(folder.iterdir())
    tiles = [entry for entry in entries if entry.suffix.lower() in TILE_SUFFIXES and entry.is_file()]
    return tiles, [entry for entry in entries if entry.is_dir()]


def joined(tiles: Sequence[tuple[str, Model]]) -> Model:
    """Tiles, by their names, as one model. Where they overlap, the first one that knows a height counts.

    Raises `UserError` where they have not the same cells in the same coordinates.
    """
    name, first = tiles[0]
    if len(tiles) == 1:
        return first
    corners = []
    for other_name, other in tiles:
        if other.to_model is None or first.to_model is None:
            raise UserError(f"{other_name if other.to_model is None else name} does not say where it lies")
        for tile_name, tile in ((name, first.to_model), (other_name, other.to_model)):
            if is_turned(tile):
                raise UserError(f"{tile_name} is turned in its coordinates; tiles that are joined must not be")
        sides, others = first.to_model[[0, 1], [0, 1]], other.to_model[[0, 1], [0, 1]]
        if not np.allclose(sides, others, rtol=SAME_CELLS, atol=0.0) or _kind(first) != _kind(other):
            raise UserError(
                f"{other_name} has other cells, or other coordinates, than {name}; tiles that are joined must be alike"
            )
        corner = (other.to_model[:, 2] - first.to_model[:, 2]) / sides
        nearest = np.rint(corner)
        if not np.abs(corner - nearest).max() <= ALIGNED:
            raise UserError(f"{other_name} does not lie in the grid of {name}; tiles that are joined must be aligned")
        corners.append((int(nearest[1]), int(nearest[0])))
    top, left = min(row for row, _ in corners), min(column for _, column in corners)
    placed = [(model, row - top, column - left) for (_, model), (row, column) in zip(tiles, corners, strict=True)]
    rows = max(row + model.rows for model, row, _ in placed)
    columns = max(column + model.columns for model, _, column in placed)
    if max(rows, columns) > LONGEST_SIDE:
        raise UserError(f"its tiles lie too far apart: they span {columns}×{rows} cells")

    def read(window_rows: slice, window_columns: slice) -> tuple[Samples, NDArray[np.bool_]]:
        shape = window_rows.stop - window_rows.start, window_columns.stop - window_columns.start
        heights, missing = np.zeros(shape), np.ones(shape, np.bool_)
        for model, row, column in placed:
            upper, lower = max(window_rows.start, row), min(window_rows.stop, row + model.rows)
            west, east = max(window_columns.start, column), min(window_columns.stop, column + model.columns)
            if upper >= lower or west >= east:
                continue
            into = (
                slice(upper - window_rows.start, lower - window_rows.start),
                slice(west - window_columns.start, east - window_columns.start),
            )
            values, unknown = model.part(Part(upper - row, west - column, lower - upper, east - west))
            fills = missing[into] & ~unknown
            heights[into][fills] = values[fills]
            missing[into] &= unknown
        return heights, missing

    assert first.place is not None
    band = max(model.band for _, model in tiles)
    return Model(rows, columns, read, moved(first.place, left, top), first.names, band=band)


def moved(place: Georeference, columns: int, rows: int) -> Georeference:
    """That of a map that begins so many columns and rows after the one of this place."""
    to_model = place.to_model.copy()
    to_model[:, 2] = to_model @ (columns, rows, 1.0)
    return replace(place, to_model=to_model)


def _kind(model: Model) -> tuple[Any, ...]:
    """What tells one kind of coordinates from another."""
    return tuple(model.names.get(name) for name in KIND_OF_COORDINATES)
