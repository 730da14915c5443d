"""A model whose cells are no squares in metres, read in square ones tile by tile.

A tile becomes what it would be of the whole model, to the last bit: see `app.sources.heightmap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.cli.analysis_maps import MAPS, MapRow
from app.model.errors import UserError
from app.sources.heightmap.models import Model
from app.sources.heightmap.projection import MISSING_FROM, STEP, Lattice, ProjectedGrid, warped
from app.sources.heightmap.resampling import resampled_from, rows_needed
from app.sources.heightmap.tiff_model import open_tiff
from app.sources.part import Part
from app.tiles.gaps import COARSE, NO_DATA, fill_coarse, fill_tile, window_of
from app.tiles.land import Mask, ModelSource, Numbers, TiledLand
from app.tiles.own_cells import OwnCells, Values
from app.tiles.steps import Arrays, Store, of_gaps
from app.tiles.tiling import Window


@dataclass(frozen=True)
class FilledModel:
    """The model in its own cells, with its gaps filled."""

    source: ModelSource
    rows: int
    columns: int
    gaps: Window | None = None  # the cells that are filled, if any have no data
    coarse: Path | None = None  # from what, see `app.tiles.gaps`

    def read(self, window: Window) -> tuple[Numbers, Mask | None]:
        """The ground, and where it had no data, if anywhere."""
        ground, missing = self.source.read(window)
        if missing is not None and self.gaps is not None and self.coarse is not None:
            coarse = np.load(self.coarse, mmap_mode="r", allow_pickle=False)
            fill_tile(self.source, window, ground, missing, self.gaps, coarse)
        return ground, missing


@dataclass(frozen=True)
class ProjectedSource:
    """A model in degrees, in square cells in metres."""

    model: FilledModel
    grid: ProjectedGrid

    def read(self, window: Window) -> tuple[Numbers, Mask | None]:
        """See `app.tiles.land.Source`."""
        top, left = window.row // STEP * STEP, window.column // STEP * STEP
        shape = window.row + window.rows - top, window.column + window.columns - left
        lattice = self.grid.lattice(top, left, *shape)
        around = self._around(lattice)
        ground, missing = self.model.read(around)
        corner, whole = (around.row, around.column), (self.model.rows, self.model.columns)
        cells = np.s_[window.row - top :, window.column - left :]
        projected = warped(ground, lattice, shape, corner, whole)[cells]
        if missing is None:
            return np.ascontiguousarray(projected), None
        unknown = warped(missing, lattice, shape, corner, whole)[cells] >= MISSING_FROM
        return np.ascontiguousarray(projected), unknown if unknown.any() else None

    def _around(self, lattice: Lattice) -> Window:
        """The cells of the model that those of a lattice are interpolated from."""
        begins, counts = [], []
        for places, count in zip(lattice, (self.model.rows, self.model.columns), strict=True):
            begin = min(max(int(places.min()) - 2, 0), count - 2)
            begins.append(begin)
            counts.append(min(max(int(places.max()) + 4, begin + 2), count) - begin)
        return Window(*begins, *counts)


@dataclass(frozen=True)
class ResampledSource:
    """A model whose cells are no squares, in so many rows and columns that they are."""

    model: FilledModel
    rows: int
    columns: int

    def read(self, window: Window) -> tuple[Numbers, Mask | None]:
        """See `app.tiles.land.Source`."""
        part = slice(window.row, window.row + window.rows), slice(window.column, window.column + window.columns)
        whole, shape = (self.model.rows, self.model.columns), (self.rows, self.columns)
        rows, columns = (rows_needed(*line) for line in zip(whole, shape, part, strict=True))
        around = Window(rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start)
        ground, _ = self.model.read(around)
        return resampled_from(ground, (rows.start, columns.start), whole, shape, part), None


# The steps before and after those of an analysis. Their tiles are those of the model's own cells.


def gaps(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """In which rows and columns the model has no data."""
    own, model = own_of(land)
    window = own.tiling.window(tile)
    _, missing = model.source.read(window)
    return of_gaps(window, np.zeros((window.rows, window.columns), np.bool_) if missing is None else missing)


def with_gaps_filled(land: TiledLand, found: Sequence[Arrays], folder: Path) -> TiledLand:
    """The same land, when the step `gaps` of all tiles told; what fills them is written into `folder`."""
    _, model = own_of(land)
    count = sum(int(of_tile["gap_cells"]) for of_tile in found)
    if not count:
        return land
    if count == model.rows * model.columns:
        raise UserError(NO_DATA)
    in_rows, in_columns = np.zeros(model.rows, np.bool_), np.zeros(model.columns, np.bool_)
    for of_tile in found:
        in_rows[of_tile["gap_rows"]] = True
        in_columns[of_tile["gap_columns"]] = True
    window = window_of(in_rows, in_columns)
    fill_coarse(model.source, window, folder)
    assert isinstance(land.source, ProjectedSource | ResampledSource)
    return replace(land, source=replace(land.source, model=replace(model, gaps=window, coarse=folder / COARSE)))


def lay(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """Bring a tile of all maps back to the model's cells, from files that are told in `maps`, by their names."""
    own, model = own_of(land)
    nothing = own.outside(tile)
    if model.gaps is not None:
        _, missing = model.source.read(own.tiling.window(tile))
        if nothing is None:
            nothing = np.zeros((own.tiling.window(tile).rows, own.tiling.window(tile).columns), np.bool_)
        nothing = nothing if missing is None else nothing | missing
    for path in map(Path, told["maps"].tolist()):
        row, computed = MAPS[path.stem], open_tiff(path)
        assert computed is not None

        def read(part: Part, computed: Model = computed, row: MapRow = row) -> Values:
            rows, columns = slice(part.row, part.row + part.rows), slice(part.column, part.column + part.columns)
            return row.counted(computed.read(rows, columns)[0], land.cell_size, own.sheet)

        store.write(path.stem, tile, own.laid(tile, row.way, read), nothing)
    return {}


def has_nothing(land: TiledLand) -> bool:
    """Whether some of the model's cells have no result."""
    own, model = own_of(land)
    return own.sheet.back is not None or model.gaps is not None


def own_of(land: TiledLand) -> tuple[OwnCells, FilledModel]:
    """The model's own cells, and what it has in them."""
    assert land.own is not None and isinstance(land.source, ProjectedSource | ResampledSource)
    return land.own, land.source.model
