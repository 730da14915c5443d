"""The swash zone of beaches, where nothing takes root."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot
from app.picture.passes.shore import wet_cells
from app.picture.passes.waves import RunUp
from app.picture.sampling import between_cells

Mask = NDArray[np.bool_]


class SeaShore(NamedTuple):
    """The land by the sea, `[row, column]` of cells."""

    height: NDArray[np.float32]  # metres above sea level
    sea: Mask
    cell_size: float

    @staticmethod
    def of(snapshot: Snapshot) -> SeaShore | None:
        """The shore of a snapshot, copied because its arrays are reused; None without a sea."""
        if snapshot.lowest >= snapshot.sea_level:
            return None
        height = snapshot.ground() - np.float32(snapshot.sea_level)
        return SeaShore(height, wet_cells(snapshot) & (height < 0.0), snapshot.cell_size)

    def swept(self, places: NDArray[np.floating], run_up: RunUp) -> Mask:
        """Which positions `[position, (row, column)]`, in cells, are in the sea or within the run-up of its waves.

        Heights are interpolated between centres of cells, and the coast is where they cross sea level.
        """
        rows, columns = self.sea.shape
        cells = np.clip(places, 0.0, (rows - 1, columns - 1)).astype(np.intp)
        around = self._cells_around(run_up)
        result = np.zeros(len(places), bool)
        near = np.flatnonzero(grown(self.sea, around)[cells[:, 0], cells[:, 1]])
        height = between_cells(self.height, east=places[near, 1], south=places[near, 0])
        low = height < run_up.height
        near, height = near[low], np.maximum(height[low], 0.0)
        away = np.full(len(near), np.inf)
        for south in range(-around, around + 1):
            for east in range(-around, around + 1):
                row, column = cells[near, 0] + south, cells[near, 1] + east
                inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
                row, column = np.where(inside, row, 0), np.where(inside, column, 0)
                middle = np.stack([row + 0.5, column + 0.5], axis=1)
                way = np.linalg.norm(places[near] - middle, axis=1)
                way *= height / np.maximum(height - self.height[row, column], 1e-6)
                away = np.where(inside & self.sea[row, column], np.minimum(away, way), away)
        result[near] = away * self.cell_size < run_up.reach
        return result

    def swept_cells(self, run_up: RunUp) -> Mask:
        """The sea, and cells whose centres waves reach, `[row, column]`."""
        result = self.sea.copy()
        near = np.argwhere(grown(self.sea, self._cells_around(run_up)) & ~self.sea)
        result[tuple(near.T)] = self.swept(near + 0.5, run_up)
        return result

    def _cells_around(self, run_up: RunUp) -> int:
        return math.ceil(run_up.reach / self.cell_size) + 1


def grown(mask: Mask, cells: int) -> Mask:
    """Cells within this distance of a true cell, along rows and columns."""
    result = mask.copy()
    for _ in range(cells):
        result[1:] |= result[:-1].copy()
        result[:-1] |= result[1:].copy()
        result[:, 1:] |= result[:, :-1].copy()
        result[:, :-1] |= result[:, 1:].copy()
    return result
