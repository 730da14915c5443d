"""The cells of a map, and the land on which they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.model.errors import UserError
from app.model.world import DEFAULT_CELL_SIZE, LARGEST_RELIEF, LARGEST_SIDE
from app.sources.land_scene import LandScene

if TYPE_CHECKING:
    from kernels.sampling import Sampling

# Largest longer side for which a land is made in its reference cells, to be averaged or measured.
MOST_SAMPLES = 2048

DEFAULT_RELIEF = 0.15  # of the land's longer side


@dataclass(frozen=True)
class Grid:
    """`rows` × `columns` cells over a land of `land_rows` × `land_columns` reference cells, with a common centre.

    All lengths are in reference cells: those for which the scene's numbers hold.
    """

    rows: int
    columns: int
    cell: float  # side of a cell
    land_rows: int
    land_columns: int

    @property
    def side(self) -> int:
        """The side of the land, to which relative lengths refer."""
        return max(self.land_rows, self.land_columns)

    @property
    def sampling(self) -> Sampling:
        from kernels.sampling import Sampling

        return Sampling(self.cell, *(self._first(*sides) for sides in self._sides))

    @property
    def _sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (self.rows, self.land_rows), (self.columns, self.land_columns)

    def _first(self, cells: int, land: int) -> float:
        """The position of the centre of the first cell."""
        return 0.5 * self.cell - 0.5 - 0.5 * (cells * self.cell - land)

    @property
    def is_land(self) -> bool:
        """Whether these are the land's reference cells."""
        return self == self.land

    @property
    def land(self) -> Grid:
        """The land's reference cells: those to which heights are measured."""
        whole = replace(self, rows=self.land_rows, columns=self.land_columns, cell=1.0)
        return whole if self.cell == 1.0 else whole._in_few_samples()

    @property
    def finest(self) -> Grid:
        """These cells, or reference cells if they are smaller."""
        return self if self.cell <= 1.0 else self.in_reference_cells

    @property
    def in_reference_cells(self) -> Grid:
        """Reference cells over all of the map."""
        if self.cell == 1.0:
            return self
        rows, columns = (max(1, round(cells * self.cell)) for cells in (self.rows, self.columns))
        return replace(self, rows=rows, columns=columns, cell=1.0)._in_few_samples()

    def _in_few_samples(self) -> Grid:
        step = max(self.rows, self.columns) / MOST_SAMPLES
        if step <= 1.0:
            return self
        rows, columns = (max(1, round(cells / step)) for cells in (self.rows, self.columns))
        return replace(self, rows=rows, columns=columns, cell=self.cell * step)


def grid_of(scene: LandScene, rows: int, columns: int) -> Grid:
    """The grid of a scene with a generator. Raises `UserError`."""
    world = scene.world
    cell_size = world.cell_size or DEFAULT_CELL_SIZE
    cell = cell_size / (world.reference_cell_size or cell_size)
    land_rows = world.land_rows or max(1, round(rows * cell))
    land_columns = world.land_columns or max(1, round(columns * cell))
    if max(land_rows, land_columns) > LARGEST_SIDE:
        raise UserError(
            f"world.reference_cell_size = {world.reference_cell_size:g}: the land would have "
            f"{land_columns}×{land_rows} such cells; at most {LARGEST_SIDE} to a side are right"
        )
    return Grid(rows, columns, cell, land_rows, land_columns)


def relief_of(scene: LandScene, grid: Grid) -> float:
    """The relief of a generator in metres: that of the scene, or a default from the size of the land."""
    return scene.world.relief or min(DEFAULT_RELIEF * grid.side * reference_cell(scene), LARGEST_RELIEF)


def reference_cell(scene: LandScene) -> float:
    """The side of a reference cell in metres."""
    return scene.world.reference_cell_size or scene.world.cell_size or DEFAULT_CELL_SIZE
