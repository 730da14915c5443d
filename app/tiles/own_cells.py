"""The cells of a model that is computed in others, and how maps are brought back to them, tile by tile.

A tile becomes what it would be of the whole map, to the last bit: see `app.export.sheet`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.cli.analysis_maps import Way
from app.export.sheet import Sheet
from app.sources.heightmap.resampling import nearest_lines, resampled_from, rows_needed
from app.sources.part import Part
from app.tiles.tiling import Tiling

Values = NDArray[Any]


@dataclass(frozen=True)
class OwnCells:
    """The model's own cells, in which its maps are written, where others are computed in."""

    tiling: Tiling
    sheet: Sheet
    shape: tuple[int, int]  # of the computed cells

    def outside(self, tile: int) -> NDArray[np.bool_] | None:
        """Which cells of a tile the computed ones do not cover, if any may be."""
        back = self.sheet.back
        return None if back is None else back.outside(Part(*self.tiling.window(tile)))

    def laid(self, tile: int, way: Way, read: Callable[[Part], Values]) -> Values:
        """A tile of a map; `read` reads parts of it in the computed cells."""
        part, back = Part(*self.tiling.window(tile)), self.sheet.back
        if back is None:
            return _laid_evenly(part, (self.sheet.rows, self.sheet.columns), self.shape, way, read)
        around = back.needed(part)
        values, corner = read(around), (around.row, around.column)
        ways = {"mean": back.numbers, "largest": back.largest, "label": back.labels}
        return ways[way](values, part, corner)


def _laid_evenly(
    part: Part, shape: tuple[int, int], computed: tuple[int, int], way: Way, read: Callable[[Part], Values]
) -> Values:
    """As `Sheet.numbers`, `largest` and `labels` do it, where both kinds of cells cover the same extent."""
    lines = slice(part.row, part.row + part.rows), slice(part.column, part.column + part.columns)
    if way == "mean":
        rows, columns = (rows_needed(*line) for line in zip(computed, shape, lines, strict=True))
        values = read(Part(rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start))
        corner = rows.start, columns.start
        return resampled_from(values, corner, computed, shape, lines).astype(values.dtype)
    begins = [_begins(*line, way) for line in zip(computed, shape, lines, strict=True)]
    (top, bottom), (left, right) = ((int(of_axis[0]), int(of_axis[-1])) for of_axis in begins)
    values = read(Part(top, left, bottom - top, right - left))
    for axis, of_axis in enumerate(begins):
        if way == "label":
            values = values.take(of_axis[:-1] - of_axis[0], axis)
        else:  # where lines are repeated this is the line itself
            values = np.maximum.reduceat(values, of_axis[:-1] - of_axis[0], axis)
    return values


def _begins(old: int, new: int, part: slice, way: Way) -> NDArray[np.intp]:
    """The computed row or column that each line of a part begins with, and where the last one ends."""
    if way == "label" or new >= old:
        lines = nearest_lines(old, new)[part]
        return np.append(lines, lines[-1] + 1)
    belongs_to = nearest_lines(new, old)  # a cell belongs where its centre lies
    return np.searchsorted(belongs_to, np.arange(part.start, part.stop + 1))
