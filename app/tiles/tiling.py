"""How a map is cut into tiles, and which border cells of theirs lie beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.neighbours import COLUMN_STEPS, ROW_STEPS
from kernels.tiles import border_numbers, border_places

Integers = NDArray[np.int64]
LEAST = 2  # rows and columns of a tile


class Window(NamedTuple):
    """The cells of a tile in the map."""

    row: int
    column: int
    rows: int
    columns: int


class Touches(NamedTuple):
    """Where a border cell of a tile has a neighbour in another one; an entry for each such pair."""

    border: Integers  # number of the border cell
    neighbour: Integers  # which of its neighbours it is: see `kernels.neighbours`
    node: Integers  # number of that neighbour among the border cells of all tiles


@dataclass(frozen=True)
class Tiling:
    """A map cut into tiles with so many rows and columns, numbered row by row.

    The last ones to the south and the east have the rest: what would have less than two rows or columns is a part of
    the tile before. Border cells of all tiles are numbered one tile after the other: as nodes.
    """

    rows: int
    columns: int
    side: int

    @cached_property
    def row_cuts(self) -> Integers:
        return _cuts(self.rows, self.side)

    @cached_property
    def column_cuts(self) -> Integers:
        return _cuts(self.columns, self.side)

    @property
    def down(self) -> int:
        return len(self.row_cuts) - 1

    @property
    def across(self) -> int:
        return len(self.column_cuts) - 1

    def __len__(self) -> int:
        return self.down * self.across

    def window(self, tile: int) -> Window:
        """The cells of a tile."""
        south, east = divmod(tile, self.across)
        (top, bottom), (left, right) = self.row_cuts[south : south + 2], self.column_cuts[east : east + 2]
        return Window(int(top), int(left), int(bottom - top), int(right - left))

    @cached_property
    def first_nodes(self) -> Integers:
        """The node of each tile's first border cell, and the number of all nodes."""
        rows, columns = np.diff(self.row_cuts)[:, None], np.diff(self.column_cuts)[None, :]
        return np.append(0, np.cumsum((2 * columns + 2 * (rows - 2)).reshape(-1))).astype(np.int64)

    def nodes(self, tile: int) -> slice:
        """The nodes of a tile."""
        return slice(int(self.first_nodes[tile]), int(self.first_nodes[tile + 1]))

    def places(self, tile: int) -> tuple[Integers, Integers]:
        """Rows and columns of a tile's border cells in the map."""
        window = self.window(tile)
        row, column = border_places(window.rows, window.columns)
        return row + window.row, column + window.column

    def touches(self, tile: int) -> Touches:
        """What lies beside a tile."""
        row, column = self.places(tile)
        other_row, other_column = row[:, None] + ROW_STEPS, column[:, None] + COLUMN_STEPS
        south = np.searchsorted(self.row_cuts, other_row, side="right") - 1
        east = np.searchsorted(self.column_cuts, other_column, side="right") - 1
        on_map = (other_row >= 0) & (other_row < self.rows) & (other_column >= 0) & (other_column < self.columns)
        border, neighbour = np.nonzero(on_map & (south * self.across + east != tile))
        south, east = south[border, neighbour], east[border, neighbour]
        top, left = self.row_cuts[south], self.column_cuts[east]
        numbers = border_numbers(
            other_row[border, neighbour] - top,
            other_column[border, neighbour] - left,
            self.row_cuts[south + 1] - top,
            self.column_cuts[east + 1] - left,
        )
        return Touches(border, neighbour, self.first_nodes[south * self.across + east] + numbers)

    def framed(self, tile: int, values: NDArray[Any] | None, beside: NDArray[Any], beyond: Any) -> NDArray[Any]:
        """The values of a tile [row, column] in a frame of what lies `beside`, an entry for each of its `touches`.

        Off the map the frame is `beyond`. Without values the tile itself is that, too.
        """
        window, touches = self.window(tile), self.touches(tile)
        framed = np.full((window.rows + 2, window.columns + 2), beyond, beside.dtype)
        row, column = border_places(window.rows, window.columns)
        places = (
            row[touches.border] + ROW_STEPS[touches.neighbour],
            column[touches.border] + COLUMN_STEPS[touches.neighbour],
        )
        framed[places[0] + 1, places[1] + 1] = beside
        if values is not None:
            framed[1:-1, 1:-1] = values
        return framed


def _cuts(length: int, side: int) -> Integers:
    cuts = np.append(np.arange(0, length, side), length).astype(np.int64)
    return np.delete(cuts, -2) if len(cuts) > 2 and cuts[-1] - cuts[-2] < LEAST else cuts
