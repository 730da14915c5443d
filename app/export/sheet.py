"""The cells that results are written in: those of a world, others that are asked for, or those of the source model.

A world has square cells in metres. A model in degrees has not, nor have some others, and results are brought back to
its cells, so that they lie over it cell by cell. See `Sheet.numbers`, `Sheet.largest` and `Sheet.labels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.georeference import Georeference, Origin, SourceGrid, local_place
from app.sources.heightmap import resample
from app.sources.heightmap.projection import STEP, LocalMercator
from app.sources.heightmap.resampling import nearest_cells

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

    def resized(self, rows: int, columns: int) -> Sheet:
        """The same land in so many cells."""
        east, south = self.columns / columns, self.rows / rows
        return replace(
            self,
            rows=rows,
            columns=columns,
            width=self.width * east,
            height=self.height * south,
            place=self.place.in_cells(east, south),
            unmapped=None if self.unmapped is None else nearest_cells(self.unmapped, rows, columns),
        )

    @property
    def cell_area(self) -> float:
        """Of a cell in the middle, in square metres."""
        return self.width * self.height

    def numbers(self, values: NDArray[Any]) -> NDArray[Any]:
        """Amounts in the cells of a world, as they are in these: means over larger ones, a curve over smaller ones."""
        if self.back is None and values.shape == (self.rows, self.columns):
            return values
        laid = resample(values, self.rows, self.columns) if self.back is None else self.back.numbers(values)
        return laid.astype(values.dtype)

    def labels(self, values: NDArray[Any]) -> NDArray[Any]:
        """What is no amount, such as numbers of lakes, as it is in the middle of these cells."""
        if self.back is None:
            return nearest_cells(values, self.rows, self.columns)
        nearest: NDArray[Any] = values[self.back.nearest(1, 1)]
        return nearest

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
