"""The profile of the longest river of an analysis in tiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.cli.analyze import Profile
from app.export.vectors import Reaches
from app.tiles.analysis import Found
from app.tiles.land import TiledLand
from app.tiles.steps import Store, ground_of
from app.tiles.tiling import Integers
from kernels.routing import BESIDE, lengths_of
from kernels.tiles import gather, trace


def profile_of(land: TiledLand, found: Found, store: Store) -> Profile | None:
    """The longest river from its source to its outlet, as `app.cli.analyze.profile_of` has it; None without rivers."""
    reaches = found.reaches.reaches
    if not len(reaches):
        return None
    steps = _steps(reaches, land.tiling.columns)
    following = reaches.following
    _, order = gather(following, np.zeros(len(reaches), np.bool_), np.zeros(len(reaches)))
    lengths = np.array([part.sum() for part in steps])
    left = trace(following, order, lengths, np.full(len(reaches), -1, np.int64))
    reach = int(lengths_of(left, land.cell_size).argmax())
    cells, along = [reaches.cells[reaches.begin[reach] : reaches.begin[reach] + 1]], []
    while reach >= 0:
        cells.append(reaches.cells[reaches.begin[reach] + 1 : reaches.begin[reach + 1]])
        along.append(steps[reach])
        reach = int(following[reach])
    counts = np.append(0.0, np.cumsum(np.concatenate(along)))
    ways = lengths_of(counts[-1] - counts, land.cell_size)
    ground, raised, discharge = _along(land, found, store, np.concatenate(cells))
    return Profile(ways[0] - ways, ground, raised, discharge)


def _steps(reaches: Reaches, columns: int) -> list[NDArray[np.float64]]:
    """The steps of each reach, as counts of `kernels.routing.STEPS`."""
    south, east = (np.abs(np.diff(part)) for part in np.divmod(reaches.cells, columns))
    counts = np.where(south * east == 1, 1.0, BESIDE)
    return [counts[begin : end - 1] for begin, end in zip(reaches.begin[:-1], reaches.begin[1:], strict=True)]


def _along(
    land: TiledLand, found: Found, store: Store, cells: Integers
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Ground, filled surface and discharge of some cells of rivers."""
    tiling = land.tiling
    row, column = np.divmod(cells, tiling.columns)
    south = np.searchsorted(tiling.row_cuts, row, side="right") - 1
    east = np.searchsorted(tiling.column_cuts, column, side="right") - 1
    ground, raised, discharge = np.empty(len(cells)), np.empty(len(cells)), np.empty(len(cells))
    tiles = south * tiling.across + east
    for tile in np.unique(tiles).tolist():
        here = np.flatnonzero(tiles == tile)
        window = tiling.window(tile)
        places = row[here] - window.row, column[here] - window.column
        ground[here] = ground_of(land, tile, store, {"gaps": found.gaps})[0][places]
        rivers = store.load("rivers", tile)
        order = np.argsort(rivers[0])
        at = order[np.searchsorted(rivers[0], places[0] * window.columns + places[1], sorter=order)]
        is_ocean = rivers[3][at] > 0
        filled = store.load("filled", tile)[places]
        raised[here] = np.where(is_ocean, np.maximum(filled, land.sea_level), filled)
        discharge[here] = store.load("river-waters", tile)[at, 0]
    return ground, raised, discharge
