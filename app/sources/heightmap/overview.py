"""Overviews of models, for choosing a part and for suitable parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.model.world import DEFAULT_CELL_SIZE
from app.sources.heightmap.models import Model
from app.sources.heightmap.nodata import usual_markers
from app.sources.heightmap.reading import open_model, read_heightmap, step_of
from app.sources.heightmap.tiff import cell_sides
from app.sources.part import Part

OVERVIEW_SIDE = 512  # cells of an overview at most
MOST_CELLS = 2**27  # that are read for an overview unasked
LARGEST_WHOLE_FILE = 2**23  # bytes of a file of which no part can be read alone, to be read only for its overview


@dataclass(frozen=True)
class Overview:
    """Heights of a model, or of a part, at low resolution."""

    heights: NDArray[np.float64]  # [row, column], metres
    missing: NDArray[np.bool_]
    rows: int  # of the model, or of the part
    columns: int
    width: float  # of its cells in metres, from west to east
    height: float
    step: int = 1  # of its rows and columns, how many become one of the land

    @property
    def cells(self) -> int:
        """Of the land that is made of it."""
        return (self.rows // self.step) * (self.columns // self.step)

    def part(self, part: Part) -> Overview:
        """The same of some of its cells."""
        down, across = self.heights.shape[0] / self.rows, self.heights.shape[1] / self.columns
        top, left = int(part.row * down), int(part.column * across)
        bottom, right = round((part.row + part.rows) * down), round((part.column + part.columns) * across)
        window = slice(top, max(bottom, top + 1)), slice(left, max(right, left + 1))
        return Overview(self.heights[window], self.missing[window], part.rows, part.columns, self.width, self.height)

    @property
    def known(self) -> NDArray[np.float64]:
        """The heights that are known, in no order."""
        return self.heights[~self.missing]

    @property
    def extent(self) -> tuple[float, float]:
        """Metres from west to east, and from north to south."""
        return self.columns * self.width, self.rows * self.height


def overview_of(
    model: Model, part: Part | None = None, progress: Callable[[float], None] = lambda done: None
) -> Overview:
    """The overview of a model or a part. Raises `UserError` if it cannot be read."""
    heights, missing = model.overview(OVERVIEW_SIDE, part, progress)
    missing |= usual_markers(heights)
    part = part or model.whole
    place = model.place_of(part)
    usual = DEFAULT_CELL_SIZE, DEFAULT_CELL_SIZE
    width, height = cell_sides(place.to_model, part.rows, part.columns, model.names) if place else usual
    return Overview(heights, missing, part.rows, part.columns, width, height)


def overview_of_file(path: Path, text: str = "", wanted: int = 0) -> Overview | None:
    """An overview of a file, a folder of tiles, or a part; None if that would take long.

    `wanted` are the cells along the longer side of the land that will be made, as `read_heightmap` has it.

    Raises `UserError` if it cannot be read.
    """
    model = open_model(path)
    if model is not None and model.full_scale is None:
        part = model.part_of(text) if text else model.whole
        if not (model.smaller or part.rows * part.columns <= MOST_CELLS):
            return None
        step = step_of(model, path, text, max(part.rows, part.columns), wanted)
        return replace(overview_of(model, part), step=step)
    if not path.is_file() or path.stat().st_size > LARGEST_WHOLE_FILE:
        return None
    read = read_heightmap(path, part=text)
    missing = np.zeros(read.elevation.shape, np.bool_) if read.missing is None else read.missing
    size = read.cell_size or DEFAULT_CELL_SIZE
    rows, columns = read.elevation.shape
    return Overview(read.elevation, missing, rows, columns, size, size)
