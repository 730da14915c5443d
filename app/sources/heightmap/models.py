"""Elevation models in files, read in parts: single files, and joined tiles.

They are read on demand, at most a band of rows at once.
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
from app.sources.heightmap.nodata import are_heights, usual_markers
from app.sources.heightmap.tiff import degrees_of
from app.sources.part import Part, read_part

Samples = NDArray[Any]
# Reads rows and columns: raw samples, and the mask of NODATA or None
Reader = Callable[[slice, slice], tuple[Samples, "NDArray[np.bool_] | None"]]

BAND = 2**23  # cells read at once
TILES_AT_ONCE = 64  # limits rows per band, so that reading reports progress and can be cancelled
MOST_TILES = 10_000
LONGEST_SIDE = 10**8  # cells; more than any model has
SAME_CELLS = 1e-6  # difference of the sides of tiles' cells, as a part of them
ALIGNED = 0.1  # of a cell, by which a tile may lie beside the grid of the others
TOUCHING = 1e-4  # of a cell, between middles that are the same but for rounding
TILE_SUFFIXES = (".tif", ".tiff", ".hgt")
COPERNICUS = "_dem.tif"  # suffix of its tiles; other files are masks and quality layers
DEEPEST = 3  # folders of folders
TURN = 360.0  # degrees of a full turn
GEOGRAPHIC = 2  # as GTModelTypeGeoKey has it
KIND_OF_COORDINATES = ("GTModelTypeGeoKey", "GeographicTypeGeoKey", "ProjectedCSTypeGeoKey")


@dataclass(frozen=True)
class Model:
    """A model: its cells, with row 0 in the north and column 0 in the west, and how to read them."""

    rows: int
    columns: int
    read: Reader
    place: Georeference | None = None
    names: dict[str, Any] = field(default_factory=dict)  # the GeoTIFF keys, by their names
    scale: float = 1.0  # metres for each unit of a sample
    offset: float = 0.0  # metres of a sample of 0
    full_scale: float | None = None  # the brightest sample, if samples are shades
    band: int = 1  # rows that are read together without waste
    at_once: int = BAND  # cells
    smaller: tuple[Model, ...] = ()  # the same land in larger cells, as the file has it beside, from fine to coarse

    @property
    def whole(self) -> Part:
        return Part(0, 0, self.rows, self.columns)

    @property
    def to_model(self) -> NDArray[np.float64] | None:
        """From [column, row, 1] of cells' corners to coordinates, if known."""
        return self.place.to_model if self.place else None

    @property
    def degrees(self) -> float:
        """Degrees per unit of its coordinates; 0 if they are lengths, or unknown."""
        return 0.0 if self.to_model is None else degrees_of(self.to_model, self.rows, self.columns, self.names)

    def part_of(self, text: str) -> Part:
        """The part that a text means, see `read_part`; of degrees those count that lie whole turns farther on.

        Raises `UserError`.
        """
        part = read_part(text, self.to_model)
        width = 0.0 if self.to_model is None else abs(self.degrees * float(self.to_model[0, 0]))
        if TURN / LONGEST_SIDE <= width <= TURN:
            turn = round(TURN / width)
            beside = 0.5 * self.columns - (part.column + 0.5 * part.columns)
            part = replace(part, column=part.column + turn * round(beside / turn))
        return part.within(self.rows, self.columns)

    def part(
        self, part: Part, step: int = 1, progress: Callable[[float], None] = lambda done: None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The heights of a part in metres, [row, column], and the mask of missing ones.

        With a step, means of so many rows and columns of cells each, or of all that there are, over those that are
        known. What is left at the southern and the eastern edge is left out.
        """
        down, across = min(step, part.rows), min(step, part.columns)
        shape = part.rows // down, part.columns // across
        heights, missing = np.zeros(shape), np.empty(shape, np.bool_)
        done = 0
        for windows in _windows(part, down, across, self.band, min(self.at_once, BAND)):
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
        if (self.scale, self.offset) != (1.0, 0.0):
            with np.errstate(over="ignore", invalid="ignore"):
                values *= self.scale
                values += self.offset
        is_unknown = np.zeros(values.shape, np.bool_) if unknown is None else unknown
        if is_unknown.any():
            values[is_unknown] = 0.0
        if not are_heights(values):  # true for most windows, and a test of each cell is slow
            found = ~np.isfinite(values)
            if self.full_scale is None:
                found |= usual_markers(values)
            values[found] = 0.0
            is_unknown = is_unknown | found
        if down == across == 1:
            return values, ~is_unknown
        down = min(down, window.rows)
        blocks = window.rows // down, down, window.columns // across, across
        return values.reshape(blocks).sum(axis=(1, 3)), (~is_unknown).reshape(blocks).sum(axis=(1, 3))

    def overview(
        self, side: int, part: Part | None = None, progress: Callable[[float], None] = lambda done: None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """A part, or all, in at most `side` cells along its longer side; from an overview in the file if it has one.

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
        """The georeference of a part, in cells enlarged by a factor."""
        return self.place and moved(self.place, part.column, part.row).in_cells(step, step)


def _windows(part: Part, down: int, across: int, band: int, most: int) -> Iterator[list[Part]]:
    """The bands in which a part is read for averaging over blocks: of about `most` cells each.

    Each window has whole new rows, or as many cells from west to east as fit; those of a list lie below each other
    and belong to one new row. As many rows as are read together without waste stay so, where they can.
    """
    rows, columns = part.rows // down * down, part.columns // across * across
    height = most // columns // down * down or down
    if band > down:
        height = max(height // band, 1) * band // down * down
    height = min(height, rows)
    piece = height if height * columns <= most else min(height, max(most // columns // band, 1) * band)
    width = max(most // piece // across, 1) * across
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

    Raises `UserError` if the folder itself cannot be read.
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
    """Possible tiles in a folder, and its folders. Raises `OSError` if it cannot be read."""
    entries = sorted(folder.iterdir())
    tiles = [entry for entry in entries if entry.suffix.lower() in TILE_SUFFIXES and entry.is_file()]
    return tiles, [entry for entry in entries if entry.is_dir()]


def joined(tiles: Sequence[tuple[str, Model]]) -> Model:
    """Tiles, by their names, as one model. Where they overlap, the first one that knows a height counts.

    In degrees their cells may differ in width, as those of Copernicus do from 50° on and farther north, where they are
    wider by steps: then all have the columns of the finest, see `_in_columns_of`. Those on both sides of the 180th
    meridian are joined there. Raises `UserError` if they have
    not the same cells in the same coordinates otherwise.
    """
    tiles = _across_the_date_line(tiles)
    name, first = tiles[0]
    if len(tiles) == 1:
        return first
    bands: dict[float, list[tuple[str, Model]]] = {}  # by the widths of their cells
    for other_name, other in tiles:
        if other.to_model is None or first.to_model is None:
            raise UserError(f"{other_name if other.to_model is None else name} does not say where it lies")
        for tile_name, tile in ((name, first.to_model), (other_name, other.to_model)):
            if is_turned(tile):
                raise UserError(f"{tile_name} is turned in its coordinates; tiles that are joined must not be")
        width, height = other.to_model[0, 0], other.to_model[1, 1]
        known = next((known for known in bands if _same(known, width)), None)
        is_alike = _kind(first) == _kind(other) and _same(first.to_model[1, 1], height)
        may_differ = first.names.get(KIND_OF_COORDINATES[0]) == GEOGRAPHIC and width * first.to_model[0, 0] > 0.0
        if not (is_alike and (not bands or known is not None or may_differ)):
            raise UserError(
                f"{other_name} has other cells, or other coordinates, than {name}; tiles that are joined must be alike"
            )
        bands.setdefault(width if known is None else known, []).append((other_name, other))
    finest, *others = sorted(bands, key=abs)
    model = _side_by_side(bands[finest])
    if not others:
        return model
    wider = [(bands[width][0][0], _in_columns_of(_side_by_side(bands[width]), model)) for width in others]
    whole = _side_by_side([(bands[finest][0][0], model), *wider])
    return replace(whole, at_once=max(band.at_once for band in (model, *(other for _, other in wider))))


def _across_the_date_line(tiles: Sequence[tuple[str, Model]]) -> Sequence[tuple[str, Model]]:
    """Tiles in degrees, some moved by 360° if that brings all closer together.

    They are cut where the widest gap between them is. Their longitudes go on beyond 180° east or west.
    """
    spans = []  # west and east of each tile, in degrees
    for _, model in tiles:
        if model.to_model is None or is_turned(model.to_model) or not model.degrees:
            return tiles
        ends = model.degrees * (model.to_model[0, 2] + model.to_model[0, 0] * np.array([0.0, model.columns]))
        if not np.abs(ends).max() <= TURN:
            return tiles
        spans.append((float(ends.min()), float(ends.max())))
    widest = TURN - (max(east for _, east in spans) - min(west for west, _ in spans))
    cut, reached = -math.inf, -math.inf
    for west, east in sorted(spans):
        if reached > -math.inf and west - reached > widest + SAME_CELLS:
            widest, cut = west - reached, west
        reached = max(reached, east)
    if not math.isfinite(cut):
        return tiles
    turns = [west < cut for west, _ in spans]  # those in the west go on beyond the others
    ends = [(west + TURN * turn, east + TURN * turn) for (west, east), turn in zip(spans, turns, strict=True)]
    middle = 0.5 * (min(west for west, _ in ends) + max(east for _, east in ends))
    back = 1 if middle > 0.5 * TURN + SAME_CELLS else 0
    return [(name, _turned_by(model, turn - back)) for (name, model), turn in zip(tiles, turns, strict=True)]


def _turned_by(model: Model, turns: int) -> Model:
    """A model moved east by multiples of 360°."""
    if not turns:
        return model
    assert model.place is not None
    to_model = model.place.to_model.copy()
    to_model[0, 2] += turns * TURN / model.degrees
    return replace(model, place=replace(model.place, to_model=to_model))


def _same(one: float, other: float) -> bool:
    """Whether two sides of cells are."""
    return abs(one - other) <= SAME_CELLS * abs(other)


def _side_by_side(tiles: Sequence[tuple[str, Model]]) -> Model:
    """Aligned tiles as one model. Raises `UserError` if they are not aligned, or span too much."""
    name, first = tiles[0]
    assert first.to_model is not None and first.place is not None
    corners = []
    for other_name, other in tiles:
        assert other.to_model is not None
        corner = (other.to_model[:, 2] - first.to_model[:, 2]) / first.to_model[[0, 1], [0, 1]]
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

    band = max(model.band for _, model in tiles)
    at_once = min(TILES_AT_ONCE * max(model.rows * model.columns for _, model in tiles), BAND)
    return Model(rows, columns, read, moved(first.place, left, top), first.names, band=band, at_once=at_once)


def _in_columns_of(model: Model, grid: Model) -> Model:
    """A model of wider cells, resampled to the columns of another one whose middles it contains.

    Where it begins or ends less than a cell beside the other one, it does so with it: edges of tiles lie half a cell
    beside their degree, whatever a cell is.

    Between the middles of two cells heights are interpolated along the row; where both models have a middle, they are
    those of the cell. NODATA is where the nearest cell has it, and tells nothing of the height beside it.
    """
    assert model.place is not None and grid.place is not None
    width, west = grid.place.to_model[0, 0], grid.place.to_model[0, 2]
    own_width, own_west = model.place.to_model[0, 0], model.place.to_model[0, 2]
    wider = own_width / width
    start = (own_west - west) / width  # in columns of the grid
    first, last = math.ceil(start - 0.5), math.floor(start + model.columns * wider - 0.5)
    if abs(first) < wider:
        first = 0
    if abs(last - (grid.columns - 1)) < wider:
        last = grid.columns - 1
    columns = last + 1 - first

    def read(window_rows: slice, window_columns: slice) -> tuple[Samples, NDArray[np.bool_]]:
        # From middles of the grid's columns to cells, whose middles are whole numbers
        places = (np.arange(window_columns.start, window_columns.stop) + first + 0.5 - start) / wider - 0.5
        whole = np.rint(places)
        places = np.clip(np.where(np.abs(places - whole) < TOUCHING, whole, places), 0.0, model.columns - 1.0)
        left = np.floor(places).astype(np.intp)
        right = np.minimum(left + 1, model.columns - 1)
        part = places - left
        begin = int(left[0])
        heights, missing = model.part(
            Part(window_rows.start, begin, window_rows.stop - window_rows.start, int(right[-1]) + 1 - begin)
        )
        before, after = heights[:, left - begin], heights[:, right - begin]
        lacks_before, lacks_after = missing[:, left - begin], missing[:, right - begin]
        values = before + part * (after - before)
        values = np.where(lacks_after, before, np.where(lacks_before, after, values))
        return values, np.where(part <= 0.5, lacks_before, lacks_after)

    to_model = model.place.to_model.copy()
    to_model[0, 0], to_model[0, 2] = width, west + first * width
    place = replace(model.place, to_model=to_model)
    return Model(model.rows, columns, read, place, model.names, band=model.band, at_once=model.at_once)


def moved(place: Georeference, columns: int, rows: int) -> Georeference:
    """The georeference of a map that begins `columns` and `rows` cells later."""
    to_model = place.to_model.copy()
    to_model[:, 2] = to_model @ (columns, rows, 1.0)
    return replace(place, to_model=to_model)


def _kind(model: Model) -> tuple[Any, ...]:
    """What tells one kind of coordinates from another."""
    return tuple(model.names.get(name) for name in KIND_OF_COORDINATES)
