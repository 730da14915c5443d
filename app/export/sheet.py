"""The cells that results are written in: those of a world, others that are asked for, or those of the source model.

A world has square cells in metres. A model in degrees has not, nor have some others, and results are brought back to
its cells, so that they lie over it cell by cell. See `Sheet.numbers`, `Sheet.largest` and `Sheet.labels`.
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
from app.sources.heightmap.projection import STEP, LocalMercator
from app.sources.heightmap.resampling import nearest_cells

Fit = Literal["add", "cut"]
Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Sheet:
    """The cells that maps are written in: how many, how large, and where they lie."""

    rows: int
    columns: int
    width: float  # of a cell in metres, from west to east
    height: float  # from north to south
    place: Georeference
    unmapped: NDArray[np.bool_] | None = None  # where the model that it came from had no data
    back: Back | None = field(default=None, repr=False)  # to the cells of a model that was projected
    is_source: bool = False  # whether these are cells of a model, and not those of the world
    window: Window | None = field(default=None, repr=False)  # of the world that they cover; None: all of it

    @classmethod
    def of_world(cls, shape: tuple[int, int], cell_size: float, origin: Origin | None) -> Sheet:
        """The cells of a world."""
        place = origin.georeference if origin else None
        unmapped = origin.unmapped if origin else None
        return cls(*shape, cell_size, cell_size, place or local_place(shape[0], cell_size), unmapped)

    @classmethod
    def of_source(cls, shape: tuple[int, int], cell_size: float, origin: Origin | None) -> Sheet:
        """The cells of the model that a world came from; those of the world where they are the same."""
        own = cls.of_world(shape, cell_size, origin)
        source = origin.source if origin else None
        if source is None:
            return own
        place = source.place or own.place.in_cells(shape[1] / source.columns, shape[0] / source.rows)
        if source.middle is None:
            width, height = cell_size * shape[1] / source.columns, cell_size * shape[0] / source.rows
            return cls(source.rows, source.columns, width, height, place, source.unmapped, is_source=True)
        back = Back(source, place, own.place, shape)
        outside = back.outside
        unmapped = outside if source.unmapped is None else outside | source.unmapped
        width, height = (cell_size * side for side in back.sides)
        return cls(source.rows, source.columns, width, height, place, unmapped, back, is_source=True)

    def resized(self, rows: int, columns: int, fit: Fit = "add") -> Sheet:
        """The same land in so many cells, which stay square: by more land around it, or less of it.

        Where the sides are in another proportion, `add` goes on beyond two edges with the heights there, and `cut`
        leaves out as much at both ends. The window is of whole cells, so that sides differ by half a cell at most.
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
        """Some of these cells, as where a map is written in tiles."""
        cells = np.s_[top : top + rows, left : left + columns]
        unmapped = None if self.unmapped is None else self.unmapped[cells]
        return replace(self, rows=rows, columns=columns, place=_moved(self.place, left, top), unmapped=unmapped)

    @property
    def cell_area(self) -> float:
        """Of a cell in the middle, in square metres."""
        return self.width * self.height

    def numbers(self, values: NDArray[Any]) -> NDArray[Any]:
        """Amounts in the cells of a world, as they are in these: means over larger ones, a curve over smaller ones."""
        values = self._framed(values)
        if self.back is None and values.shape == (self.rows, self.columns):
            return values
        laid = resample(values, self.rows, self.columns) if self.back is None else self.back.numbers(values)
        return laid.astype(values.dtype)

    def labels(self, values: NDArray[Any]) -> NDArray[Any]:
        """What is no amount, such as numbers of lakes, as it is in the middle of these cells."""
        if self.back is None:
            return nearest_cells(self._framed(values), self.rows, self.columns)
        nearest: NDArray[Any] = values[self.back.nearest(1, 1)]
        return nearest

    def _framed(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.window is None or self.window.is_whole else self.window.framed(values)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest values in these cells, so that the lines of rivers stay whole in larger ones."""
        if self.back is not None:
            return self.back.largest(values)
        for axis, count in ((0, self.rows), (1, self.columns)):
            old = values.shape[axis]
            if count > old:
                values = nearest_cells(values, *((count, values.shape[1]) if axis == 0 else (values.shape[0], count)))
            elif count < old:  # a cell counts where its middle lies
                new = ((np.arange(old) + 0.5) * (count / old)).astype(np.intp)
                values = np.maximum.reduceat(values, np.searchsorted(new, np.arange(count)), axis=axis)
        return values

    def places(self, rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> tuple[Numbers, Numbers]:
        """Rows and columns in a world of this shape, counted from its corner, in these cells."""
        if self.back is not None:
            return self.back.places(rows, columns)
        return rows * (self.rows / shape[0]), columns * (self.columns / shape[1])

    def cell_of(self, row: int, column: int, shape: tuple[int, int]) -> tuple[int, int]:
        """The cell here in which the middle of a cell of a world of this shape lies."""
        south, east = self.places(np.array([row + 0.5]), np.array([column + 0.5]), shape)
        limits = (south.item(), self.rows), (east.item(), self.columns)
        south_cell, east_cell = (min(max(math.floor(place), 0), count - 1) for place, count in limits)
        return south_cell, east_cell

    def coordinates(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Coordinates of places in these cells, counted from their corner."""
        x, y = self.place.to_model @ np.stack([columns, rows, np.ones_like(rows)])
        return x, y


def _moved(place: Georeference, columns: int, rows: int) -> Georeference:
    """That of a map whose corner is so many columns and rows farther on."""
    to_model = place.to_model.copy()
    to_model[:, 2] = to_model @ (columns, rows, 1.0)
    return replace(place, to_model=to_model)


@dataclass(frozen=True)
class Window:
    """Whole cells of a world: how many, from where on, and of how many it has; it may reach beyond its edges."""

    top: int
    left: int
    rows: int
    columns: int
    shape: tuple[int, int]

    @classmethod
    def of(cls, shape: tuple[int, int], sides: tuple[int, int], fit: Fit) -> Window:
        """The window in the middle of a world that has the proportion of these sides."""
        rows, columns = shape
        ratio = sides[1] / sides[0]
        other = round(rows * ratio), round(columns / ratio)  # columns for all rows, and rows for all columns
        keeps_rows = (other[0] > columns) == (fit == "add")
        window = (rows, max(other[0], 1)) if keeps_rows else (max(other[1], 1), columns)
        # What differs by the rounding of sides alone is the same land
        if abs(sides[0] - sides[1] * rows / columns) <= 0.5 or abs(sides[1] - sides[0] * columns / rows) <= 0.5:
            window = shape
        return cls((rows - window[0]) // 2, (columns - window[1]) // 2, *window, shape)

    @property
    def is_whole(self) -> bool:
        return (self.rows, self.columns) == self.shape

    def framed(self, values: NDArray[Any], outside: Any = None) -> NDArray[Any]:
        """Values [row, column] of all cells in this window; beyond the edges as they are there, or `outside`."""
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
        """What was added or cut, in one line; empty where all of the world is there and nothing else."""
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
    """From a world in projected metres back to the cells, in degrees, of the model that it came from."""

    source: SourceGrid
    source_place: Georeference
    world_place: Georeference
    shape: tuple[int, int]  # of the world

    @cached_property
    def metres(self) -> LocalMercator:
        assert self.source.middle is not None
        return LocalMercator(*self.source.middle)

    def _in_world(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Rows and columns of the source in the world; both are counted from the corner."""
        (width, _, west), (_, height, north) = (self.source_place.to_model * self.source.degrees).tolist()
        east, up = self.metres.to_metres(west + columns * width, north + rows * height)
        (side, _, left), (_, down, top) = self.world_place.to_model.tolist()
        return (up - top) / down, (east - left) / side

    def places(self, rows: Numbers, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Rows and columns of the world in the source; both are counted from the corner."""
        (side, _, left), (_, down, top) = self.world_place.to_model.tolist()
        longitude, latitude = self.metres.to_degrees(left + columns * side, top + rows * down)
        (width, _, west), (_, height, north) = (self.source_place.to_model * self.source.degrees).tolist()
        return (latitude - north) / height, (longitude - west) / width

    @cached_property
    def sides(self) -> tuple[float, float]:
        """Width and height of a cell in the middle of the source, in cells of the world."""
        row, column = 0.5 * self.source.rows, 0.5 * self.source.columns
        rows, columns = self._in_world(
            np.array([row, row, row - 0.5, row + 0.5]), np.array([column - 0.5, column + 0.5, column, column])
        )
        return float(columns[1] - columns[0]), float(rows[3] - rows[2])

    @cached_property
    def _parts(self) -> tuple[int, int]:
        """Into how many parts a cell of the source is cut, so that none is larger than a cell of the world."""
        across, down = (max(math.ceil(length - 1e-3), 1) for length in self.sides)
        return down, across

    def _lattice(self, down: int, across: int) -> tuple[Numbers, Numbers]:
        """Where every `STEP`-th part of the source's cells lies in the world, from the middle of its first cell."""
        counts = (self.source.rows * down, self.source.columns * across)
        rows, columns = (STEP * np.arange(-(-count // STEP) + 1) + 0.5 for count in counts)
        south, east = self._in_world(*np.meshgrid(rows / down, columns / across, indexing="ij"))
        return south - 0.5, east - 0.5

    def _all_places(self, down: int, across: int) -> tuple[Numbers, Numbers]:
        """The same of each part."""
        counts = (self.source.rows * down, self.source.columns * across)
        row_places, column_places = (_refined(lattice, *counts) for lattice in self._lattice(down, across))
        return row_places, column_places

    @cached_property
    def outside(self) -> NDArray[np.bool_]:
        """Which cells of the source have their middle outside the world."""
        rows, columns = self._all_places(1, 1)
        beside: NDArray[np.bool_] = (rows < -0.5) | (rows >= self.shape[0] - 0.5)
        beside |= (columns < -0.5) | (columns >= self.shape[1] - 0.5)
        return beside

    def nearest(self, down: int, across: int) -> tuple[Indices, Indices]:
        """The cell of the world at the middle of each part; the nearest one where that lies outside."""
        rows, columns = (
            np.rint(places).clip(0, count - 1).astype(np.intp)
            for places, count in zip(self._all_places(down, across), self.shape, strict=True)
        )
        return rows, columns

    def numbers(self, values: NDArray[Any]) -> Numbers:
        from kernels.warping import warp

        down, across = self._parts
        parts = np.zeros((self.source.rows * down, self.source.columns * across))
        warp(np.ascontiguousarray(values, np.float64), *self._lattice(down, across), STEP, parts)
        means: Numbers = parts.reshape(self.source.rows, down, self.source.columns, across).mean(axis=(1, 3))
        return means

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        down, across = self._parts
        parts = values[self.nearest(down, across)]
        most: NDArray[Any] = parts.reshape(self.source.rows, down, self.source.columns, across).max(axis=(1, 3))
        return most


def _refined(lattice: Numbers, rows: int, columns: int) -> Numbers:
    """Values of every `STEP`-th row and column in all of them, as `kernels.warping.warp` has them."""
    for axis, count in ((0, rows), (1, columns)):
        before, part = np.divmod(np.arange(count), STEP)
        part = np.expand_dims(part / STEP, 1 - axis)
        lattice = lattice.take(before, axis) * (1.0 - part) + lattice.take(before + 1, axis) * part
    return lattice
