"""The grid that results are exported on: the world's, that of the source model, or one with a requested size.

A world has square cells in metres. The cells of a source model may be in degrees or not square; results are resampled
to them, so that they match the model cell by cell. See `Sheet.numbers`, `Sheet.largest` and `Sheet.labels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.model.georeference import Georeference, Origin, SourceGrid, local_place
from app.sources.heightmap import resample
from app.sources.heightmap.projection import STEP, Lattice, LocalMercator, warped
from app.sources.heightmap.resampling import nearest_cells
from app.sources.part import Part

Fit = Literal["add", "cut"]
Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Corner = tuple[int, int]  # row and column


@dataclass(frozen=True)
class Sheet:
    """The grid of exported maps: its number of cells, their size, and its georeference."""

    rows: int
    columns: int
    width: float  # of a cell in metres, from west to east
    height: float  # from north to south
    place: Georeference
    unmapped: NDArray[np.bool_] | None = None  # cells without data in the source model
    back: Back | None = field(default=None, repr=False)  # to the cells of a model in degrees
    is_source: bool = False  # whether these are the cells of the source model
    window: Window | None = field(default=None, repr=False)  # part of the world that they cover; None: all of it

    @classmethod
    def of_world(cls, shape: tuple[int, int], cell_size: float, origin: Origin | None) -> Sheet:
        """The cells of a world."""
        place = origin.georeference if origin else None
        unmapped = origin.unmapped if origin else None
        return cls(*shape, cell_size, cell_size, place or local_place(shape[0], cell_size), unmapped)

    @classmethod
    def of_source(
        cls, shape: tuple[int, int], cell_size: float, origin: Origin | None, *, masked: bool = True
    ) -> Sheet:
        """The cells of the source model, or those of the world if it had none; `unmapped` only where it is `masked`."""
        own = cls.of_world(shape, cell_size, origin)
        source = origin.source if origin else None
        if source is None:
            return own
        place = source.place or own.place.in_cells(shape[1] / source.columns, shape[0] / source.rows)
        if source.middle is None:
            width, height = cell_size * shape[1] / source.columns, cell_size * shape[0] / source.rows
            return cls(source.rows, source.columns, width, height, place, source.unmapped, is_source=True)
        back = Back(source, place, own.place, shape)
        unmapped = back.outside(back.whole) if masked else None
        if unmapped is not None and source.unmapped is not None:
            unmapped |= source.unmapped
        width, height = (cell_size * side for side in back.sides)
        return cls(source.rows, source.columns, width, height, place, unmapped, back, is_source=True)

    def resized(self, rows: int, columns: int, fit: Fit = "add") -> Sheet:
        """The land in a given number of cells, which stay square.

        If the proportions differ, `add` extends the land beyond two opposite edges at the heights of the edges, and
        `cut` crops it at both ends. The window has whole cells, so its proportions are right to half a cell.
        """
        window = Window.of((self.rows, self.columns), (rows, columns), fit)
        east, south = window.columns / columns, window.rows / rows
        unmapped = self.unmapped
        if not window.is_whole:
            known = np.zeros((self.rows, self.columns), np.bool_) if unmapped is None else unmapped
            unmapped = window.framed(known, outside=True)
        return replace(
            self,
            rows=rows,
            columns=columns,
            width=self.width * east,
            height=self.height * south,
            place=_moved(self.place, window.left, window.top).in_cells(east, south),
            unmapped=None if unmapped is None or not unmapped.any() else nearest_cells(unmapped, rows, columns),
            window=window,
        )

    def part(self, top: int, left: int, rows: int, columns: int) -> Sheet:
        """A rectangle of these cells, such as a tile of a map."""
        cells = np.s_[top : top + rows, left : left + columns]
        unmapped = None if self.unmapped is None else self.unmapped[cells]
        return replace(self, rows=rows, columns=columns, place=_moved(self.place, left, top), unmapped=unmapped)

    @property
    def cell_area(self) -> float:
        """Area of a cell at the centre, in square metres."""
        return self.width * self.height

    def numbers(self, values: NDArray[Any]) -> NDArray[Any]:
        """Resample amounts from the world: averaged over larger cells, interpolated smoothly in smaller ones."""
        values = self._framed(values)
        if self.back is None and values.shape == (self.rows, self.columns):
            return values
        if self.back is not None:
            return self.back.numbers(values, self.back.whole)
        return resample(values, self.rows, self.columns).astype(values.dtype)

    def labels(self, values: NDArray[Any]) -> NDArray[Any]:
        """Resample labels, such as numbers of lakes, from the world: the value at the centre of each cell."""
        if self.back is not None:
            return self.back.labels(values, self.back.whole)
        return nearest_cells(self._framed(values), self.rows, self.columns)

    def _framed(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.window is None or self.window.is_whole else self.window.framed(values)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Resample maxima from the world, so that rivers stay connected in larger cells."""
        if self.back is not None:
            return self.back.largest(values, self.back.whole)
        for axis, count in ((0, self.rows), (1, self.columns)):
            old = values.shape[axis]
            if count > old:
                values = nearest_cells(values, *((count, values.shape[1]) if axis == 0 else (values.shape[0], count)))
            elif count < old:  # a cell belongs where its centre lies
                new = ((np.arange(old) + 0.5) * (count / old)).astype(np.intp)
                values = np.maximum.reduceat(values, np.searchsorted(new, np.arange(count)), axis=axis)
        return values

    def places(self, rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> tuple[Numbers, Numbers]:
        """Convert rows and columns in a world of this shape to these cells; both are counted from the corner."""
        if self.back is not None:
            return self.back.places(rows, columns)
        return rows * (self.rows / shape[0]), columns * (self.columns / shape[1])

    def cells_of(self, rows: Integers, columns: Integers, shape: tuple[int, int]) -> tuple[Integers, Integers]:
        """The cells that contain the centres of cells of a world of this shape."""
        south, east = self.places(rows.astype(np.float64) + 0.5, columns.astype(np.float64) + 0.5, shape)
        return _clipped(south, self.rows), _clipped(east, self.columns)

    def coordinates(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Coordinates of points given in these cells from their corner."""
        x, y = self.place.to_model @ np.stack([columns, rows, np.ones_like(rows)])
        return x, y


def _clipped(places: Numbers, count: int) -> Integers:
    return np.clip(np.floor(places), 0, count - 1).astype(np.int64)


def _moved(place: Georeference, columns: int, rows: int) -> Georeference:
    """The georeference of a map whose corner is moved by some columns and rows."""
    to_model = place.to_model.copy()
    to_model[:, 2] = to_model @ (columns, rows, 1.0)
    return replace(place, to_model=to_model)


@dataclass(frozen=True)
class Window:
    """A rectangle of whole cells in a world of a shape. It may extend beyond the edges."""

    top: int
    left: int
    rows: int
    columns: int
    shape: tuple[int, int]

    @classmethod
    def of(cls, shape: tuple[int, int], sides: tuple[int, int], fit: Fit) -> Window:
        """A window at the centre of a world, with the proportions of these sides."""
        rows, columns = shape
        ratio = sides[1] / sides[0]
        other = round(rows * ratio), round(columns / ratio)  # columns for all rows, and rows for all columns
        keeps_rows = (other[0] > columns) == (fit == "add")
        window = (rows, max(other[0], 1)) if keeps_rows else (max(other[1], 1), columns)
        # Proportions that differ only by the rounding of sides are the same.
        if abs(sides[0] - sides[1] * rows / columns) <= 0.5 or abs(sides[1] - sides[0] * columns / rows) <= 0.5:
            window = shape
        return cls((rows - window[0]) // 2, (columns - window[1]) // 2, *window, shape)

    @property
    def is_whole(self) -> bool:
        return (self.rows, self.columns) == self.shape

    def framed(self, values: NDArray[Any], outside: Any = None) -> NDArray[Any]:
        """Values [row, column] in this window. Beyond the edges they are those of the edge, or `outside`."""
        rows, columns = (
            np.arange(start, start + count) for start, count in ((self.top, self.rows), (self.left, self.columns))
        )
        inside: NDArray[Any] = values[np.ix_(rows.clip(0, self.shape[0] - 1), columns.clip(0, self.shape[1] - 1))]
        if outside is not None:
            inside[(rows < 0) | (rows >= self.shape[0])] = outside
            inside[:, (columns < 0) | (columns >= self.shape[1])] = outside
        return inside

    @property
    def told(self) -> str:
        """What was added or cut, in one line; empty if the window is the world."""
        parts = []
        for count, whole, start, name, ends in (
            (self.rows, self.shape[0], self.top, "rows", ("north", "south")),
            (self.columns, self.shape[1], self.left, "columns", ("west", "east")),
        ):
            if count == whole:
                continue
            first, last = abs(start), abs(whole - count - start)
            how = "added, as high as the edge" if count > whole else "cut"
            parts.append(f"{abs(count - whole)} {name} {how}: {first} in the {ends[0]}, {last} in the {ends[1]}")
        cells = f"{self.shape[1]} × {self.shape[0]} cells of the world"
        return f"square cells: of {cells} {'; '.join(parts)}" if parts else ""


@dataclass(frozen=True)
class Back:
    """Resampling from a world in projected metres back to the cells, in degrees, of its source model."""

    source: SourceGrid
    source_place: Georeference
    world_place: Georeference
    shape: tuple[int, int]  # of the world

    @cached_property
    def metres(self) -> LocalMercator:
        assert self.source.middle is not None
        return LocalMercator(*self.source.middle)

    def _in_world(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Convert rows and columns of the source to those of the world; both are counted from the corner."""
        (width, _, west), (_, height, north) = (self.source_place.to_model * self.source.degrees).tolist()
        east, up = self.metres.to_metres(west + columns * width, north + rows * height)
        (side, _, left), (_, down, top) = self.world_place.to_model.tolist()
        return (up - top) / down, (east - left) / side

    def places(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Convert rows and columns of the world to those of the source; both are counted from the corner."""
        (side, _, left), (_, down, top) = self.world_place.to_model.tolist()
        longitude, latitude = self.metres.to_degrees(left + columns * side, top + rows * down)
        (width, _, west), (_, height, north) = (self.source_place.to_model * self.source.degrees).tolist()
        return (latitude - north) / height, (longitude - west) / width

    @cached_property
    def sides(self) -> tuple[float, float]:
        """Width and height of the central cell of the source, in cells of the world."""
        row, column = 0.5 * self.source.rows, 0.5 * self.source.columns
        rows, columns = self._in_world(
            np.array([row, row, row - 0.5, row + 0.5]), np.array([column - 0.5, column + 0.5, column, column])
        )
        return float(columns[1] - columns[0]), float(rows[3] - rows[2])

    @cached_property
    def _parts(self) -> tuple[int, int]:
        """Numbers of parts of a source cell (down, across), so that no part is larger than a cell of the world."""
        across, down = (max(math.ceil(length - 1e-3), 1) for length in self.sides)
        return down, across

    def _lattice(self, down: int, across: int, part: Part) -> Lattice:
        """Positions in the world of every `STEP`-th part of source cells, counted from the centre of its first cell."""
        ends = (part.row, part.rows, down), (part.column, part.columns, across)
        rows, columns = (
            STEP * np.arange(begin * times // STEP, -(-(begin + count) * times // STEP) + 1) + 0.5
            for begin, count, times in ends
        )
        south, east = self._in_world(*np.meshgrid(rows / down, columns / across, indexing="ij"))
        return south - 0.5, east - 0.5

    def _all_places(self, down: int, across: int, part: Part) -> tuple[Numbers, Numbers]:
        """The positions of all parts."""
        counts = (part.rows * down, part.columns * across)
        row_places, column_places = (_refined(lattice, *counts) for lattice in self._lattice(down, across, part))
        return row_places, column_places

    @property
    def whole(self) -> Part:
        """All cells of the source."""
        return Part(0, 0, self.source.rows, self.source.columns)

    # Of a part of the source's cells, whose first row and column are multiples of `STEP`. Values are those of the world
    # from a row and a column on, all of `needed` at least.

    def needed(self, part: Part) -> Part:
        """The cells of the world that a part of the source's lies in."""
        begins, counts = [], []
        for places, count in zip(self._lattice(*self._parts, part), self.shape, strict=True):
            begin = min(max(math.floor(places.min()) - 2, 0), count - 2)
            begins.append(begin)
            counts.append(min(max(math.ceil(places.max()) + 3, begin + 2), count) - begin)
        return Part(*begins, *counts)

    def outside(self, part: Part) -> NDArray[np.bool_]:
        """The source cells whose centres are outside the world."""
        rows, columns = self._all_places(1, 1, part)
        beside: NDArray[np.bool_] = (rows < -0.5) | (rows >= self.shape[0] - 0.5)
        beside |= (columns < -0.5) | (columns >= self.shape[1] - 0.5)
        return beside

    def _nearest(self, values: NDArray[Any], down: int, across: int, part: Part, corner: Corner) -> NDArray[Any]:
        """The value at the centre of each part of a cell."""
        rows, columns = (
            np.rint(places).clip(0, count - 1).astype(np.intp) - first
            for places, count, first in zip(self._all_places(down, across, part), self.shape, corner, strict=True)
        )
        nearest: NDArray[Any] = values[rows, columns]
        return nearest

    def labels(self, values: NDArray[Any], part: Part, corner: Corner = (0, 0)) -> NDArray[Any]:
        """See `Sheet.labels`."""
        return self._nearest(values, 1, 1, part, corner)

    def numbers(self, values: NDArray[Any], part: Part, corner: Corner = (0, 0)) -> NDArray[Any]:
        """See `Sheet.numbers`."""
        down, across = self._parts
        lattice, shape = self._lattice(down, across, part), (part.rows * down, part.columns * across)
        parts = warped(values, lattice, shape, corner, self.shape)
        means: NDArray[Any] = parts.reshape(part.rows, down, part.columns, across).mean(axis=(1, 3))
        return means.astype(values.dtype)

    def largest(self, values: NDArray[Any], part: Part, corner: Corner = (0, 0)) -> NDArray[Any]:
        """See `Sheet.largest`."""
        down, across = self._parts
        parts = self._nearest(values, down, across, part, corner)
        most: NDArray[Any] = parts.reshape(part.rows, down, part.columns, across).max(axis=(1, 3))
        return most


def _refined(lattice: Numbers, rows: int, columns: int) -> Numbers:
    """Interpolate values of every `STEP`-th row and column at all of them, as `kernels.warping.warp` does."""
    for axis, count in ((0, rows), (1, columns)):
        before, part = np.divmod(np.arange(count), STEP)
        part = np.expand_dims(part / STEP, 1 - axis)
        lattice = lattice.take(before, axis) * (1.0 - part) + lattice.take(before + 1, axis) * part
    return lattice
