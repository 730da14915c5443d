"""A part of a large model, given in cells or in coordinates."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import is_turned
from app.model.world import SMALLEST_SIDE

EXAMPLES = (
    "2048x2048+1000+500 (columns x rows + column + row, in cells) or 7.1,46.0,7.9,46.6 (west, south, east, north)"
)
IN_CELLS = re.compile(r"(\d{1,9})[x×](\d{1,9})\+(\d{1,9})\+(\d{1,9})")


@dataclass(frozen=True)
class Part:
    """A window of a model's cells, from its north-western corner."""

    row: int
    column: int
    rows: int
    columns: int

    def __str__(self) -> str:
        """The text form, as read by `read_part`."""
        return f"{self.columns}x{self.rows}+{self.column}+{self.row}"

    def grown(self, cells: int) -> Part:
        """The part with so many cells more on each side."""
        return Part(self.row - cells, self.column - cells, self.rows + 2 * cells, self.columns + 2 * cells)

    def within(self, rows: int, columns: int) -> Part:
        """The part within a model. Raises `UserError` if it is too small for a map."""
        top, left = max(self.row, 0), max(self.column, 0)
        bottom, right = min(self.row + self.rows, rows), min(self.column + self.columns, columns)
        if min(bottom - top, right - left) < SMALLEST_SIDE:
            raise UserError(
                f"the part {self} has too little of the model's {columns}×{rows} cells; "
                f"sides must be {SMALLEST_SIDE} or more"
            )
        return Part(top, left, bottom - top, right - left)


def check_part(text: str) -> None:
    """Raise `UserError` if a text is not a valid part of any model."""
    if text.strip():
        _numbers(text)


def read_part(text: str, to_model: NDArray[np.float64] | None) -> Part:
    """The cells that a text means. `to_model` converts cells to coordinates, north up. Raises `UserError`."""
    numbers = _numbers(text)
    if isinstance(numbers, Part):
        return numbers
    if to_model is None:
        raise UserError(f"part {text}: the model says no coordinates; name cells, such as 2048x2048+1000+500")
    if is_turned(to_model):
        raise UserError(f"part {text}: the model is turned in its coordinates; name cells, such as 2048x2048+1000+500")
    west, south, east, north = numbers
    (width, _, left), (_, height, top) = to_model.tolist()
    first, last = sorted(((west - left) / width, (east - left) / width))
    upper, lower = sorted(((north - top) / height, (south - top) / height))
    if not max(map(abs, (first, last, upper, lower))) < 1e9:
        raise UserError(f"part {text}: it lies far outside the model")
    row, column = round(upper), round(first)
    return Part(row, column, math.ceil(lower - 1e-6) - row, math.ceil(last - 1e-6) - column)


def _numbers(text: str) -> Part | tuple[float, float, float, float]:
    """The numbers of a text: cells, or bounds of coordinates."""
    if match := IN_CELLS.fullmatch(text.strip()):
        columns, rows, column, row = map(int, match.groups())
        return Part(row, column, rows, columns)
    try:
        west, south, east, north = map(float, text.split(","))
    except ValueError:
        raise UserError(f"part {text}: must be like {EXAMPLES}") from None
    if -180.0 <= east < 0.0 < west <= 180.0:  # degrees, across the date line
        east += 360.0
    if not (west < east and south < north and all(map(math.isfinite, (west, south, east, north)))):
        raise UserError(f"part {text}: west must lie before east, and south before north")
    return west, south, east, north
