"""From a path to the land that is analysed in tiles."""

from __future__ import annotations

import logging
from pathlib import Path

from app.export.sheet import Sheet
from app.model.errors import UserError
from app.model.georeference import Georeference, Origin, SourceGrid
from app.model.world import LARGEST_CELL, SMALLEST_CELL
from app.sources.heightmap.models import LONGEST_SIDE
from app.sources.heightmap.projection import datum_of
from app.sources.heightmap.reading import SQUARE_WITHIN, degrees_to_project
from app.sources.heightmap.tiff import cell_sides
from app.tiles.land import ModelSource, TiledLand, model_in
from app.tiles.own_cells import OwnCells
from app.tiles.relaid import FilledModel, ProjectedSource, ResampledSource
from app.tiles.tiling import Tiling

log = logging.getLogger(__name__)


def opened_land(path: Path, side: int, part: str = "", cell_size: float | None = None) -> TiledLand:
    """A model, or a part of one, in tiles with a side of so many cells: in square cells in metres, its own or others.

    `part` and `cell_size` are as for `app.sources.heightmap.reading.read_heightmap`. Raises `UserError`.
    """
    model = model_in(path)
    if model.place is None:
        raise UserError(f"{path}: --tiles takes models that say where they lie, and so how large their cells are")
    window = model.part_of(part) if part else model.whole
    rows, columns, place = window.rows, window.columns, model.place_of(window)
    assert place is not None
    width, height = cell_sides(place.to_model, rows, columns, model.names)
    for length in (width, height):
        if not SMALLEST_CELL <= length <= LARGEST_CELL:
            text = f"its cells have a side of {length:g} m; it must be from {SMALLEST_CELL:g} to {LARGEST_CELL:g} m"
            raise UserError(f"{path}: {text}")
    filled = FilledModel(ModelSource(path, window.row, window.column), rows, columns)
    if degrees := degrees_to_project(model, place, rows, columns):
        log.info("%s: its degrees are projected to metres around its middle", path)
        grid = degrees.grid(min(width, height), LONGEST_SIDE)
        middle = degrees.metres.longitude, degrees.metres.latitude
        own = SourceGrid(rows, columns, place, None, middle, model.degrees)
        source, place = ProjectedSource(filled, grid), grid.place(datum_of(model.names))
        return _relaid(source, (grid.rows, grid.columns), side, cell_size or grid.size, place, own)
    if abs(width - height) <= SQUARE_WITHIN * min(width, height):
        return TiledLand(filled.source, Tiling(rows, columns, side), cell_size or width, place=place)
    size = min(width, height)
    new_rows, new_columns = round(rows * height / size), round(columns * width / size)
    log.info("%s: cells of %g by %g m resampled to %g m", path, width, height, size)
    own, place = SourceGrid(rows, columns, place), place.in_cells(columns / new_columns, rows / new_rows)
    resampled = ResampledSource(filled, new_rows, new_columns)
    return _relaid(resampled, (new_rows, new_columns), side, cell_size or size, place, own)


def _relaid(
    source: ProjectedSource | ResampledSource,
    shape: tuple[int, int],
    side: int,
    cell_size: float,
    place: Georeference,
    own: SourceGrid,
) -> TiledLand:
    """A land in other cells than the model's own."""
    sheet = Sheet.of_source(shape, cell_size, Origin(place, None, own), masked=False)
    cells = OwnCells(Tiling(own.rows, own.columns, side), sheet, shape)
    return TiledLand(source, Tiling(*shape, side), cell_size, place=place, own=cells)
