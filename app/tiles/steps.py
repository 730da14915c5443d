"""The steps of an analysis that are done tile by tile, in any process.

Each has the land, the number of a tile, a place for arrays that later steps of the same tile need, and what the borders
of all tiles told. It returns what the tile tells in turn: arrays that grow with its border.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.tiles.gaps import fill_tile
from app.tiles.land import Mask, Numbers, TiledLand
from app.tiles.tiling import Window
from kernels.components import components
from kernels.directions import FAR
from kernels.neighbours import OUTLET
from kernels.routing import accumulate
from kernels.tile_waters import first_cells
from kernels.tiles import (
    ENDS,
    Ways,
    border_passes,
    border_places,
    cross_flats,
    fill_within,
    links_of,
    steepest_within,
    ways_of,
)

Arrays = dict[str, NDArray[Any]]


class Store(Protocol):
    """Where a tile keeps arrays between steps."""

    def save(self, name: str, tile: int, array: NDArray[Any]) -> None:
        """Keep an array."""

    def load(self, name: str, tile: int) -> NDArray[Any]:
        """An array that was kept."""

    def coarse(self) -> Numbers:
        """What gaps are filled from, see `app.tiles.gaps`: read where it is used."""

    def write(self, name: str, tile: int, values: NDArray[Any], missing: Mask | None) -> None:
        """Write a tile of a map that is a result."""


Step = Callable[[TiledLand, int, Store, Arrays], Arrays]


# The ground.


class HasGapsError(Exception):
    """There are cells without data, [row, column], and nothing yet to fill them with."""

    def __init__(self, missing: Mask) -> None:
        super().__init__("cells without data")
        self.missing = missing


def ground_of(land: TiledLand, tile: int, store: Store, told: Arrays) -> tuple[Numbers, Mask | None]:
    """The ground of a tile, and where the model has no data, if anywhere in the map: see `app.tiles.gaps`."""
    window = land.tiling.window(tile)
    ground, missing = land.source.read(window)
    if len(told["gaps"]):
        if missing is None:
            return ground, np.zeros(ground.shape, np.bool_)
        fill_tile(land.source, window, ground, missing, Window(*told["gaps"].tolist()), store.coarse())
    elif missing is not None:
        raise HasGapsError(missing)
    return ground, missing


def of_gaps(window: Window, missing: Mask) -> Arrays:
    """In which rows and columns of the map a tile has gaps, and how many cells these are."""
    return {
        "gap_rows": window.row + np.flatnonzero(missing.any(axis=1)),
        "gap_columns": window.column + np.flatnonzero(missing.any(axis=0)),
        "gap_cells": np.array(np.count_nonzero(missing)),
    }


def telling_of_gaps(step: Step) -> Step:
    """The same step, which tells of gaps as long as there is nothing to fill them with."""

    def telling(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
        try:
            return step(land, tile, store, told)
        except HasGapsError as error:
            return of_gaps(land.tiling.window(tile), error.missing)

    return telling


# The sea.


@telling_of_gaps
def sea(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """What lies below the sea: which parts of it reach the border, and how many cells each has."""
    ground, _ = ground_of(land, tile, store, told)
    labels, count = components(ground < land.sea_level)
    parts = np.unique(labels[border_places(*ground.shape)])
    parts = parts[parts > 0]
    cells = np.bincount(labels.reshape(-1), minlength=count + 1)[parts]
    border = np.searchsorted(parts, labels[border_places(*ground.shape)])
    return {
        "border": np.where(labels[border_places(*ground.shape)] > 0, border, -1),
        "labels": parts,
        "cells": cells,
    }


def opened(land: TiledLand, tile: int, store: Store, told: Arrays) -> tuple[Numbers, Mask, Mask, Mask | None]:
    """The ground of a tile, the masks of the ocean and of outlets, and where the model has no data.

    It is told in `sea` which parts below the sea are the ocean, and in `edges` whether water leaves over the map's.
    """
    window, tiling = land.tiling.window(tile), land.tiling
    ground, missing = ground_of(land, tile, store, told)
    ocean = np.zeros(ground.shape, np.bool_)
    if len(told["sea"]):
        labels, count = components(ground < land.sea_level)
        is_ocean = np.zeros(count + 1, np.bool_)
        is_ocean[told["sea"]] = True
        ocean = is_ocean[labels]
    outlets = ocean.copy()
    if told["edges"]:
        outlets[: window.row == 0] = True
        outlets[:, : window.column == 0] = True
        outlets[window.rows - (window.row + window.rows == tiling.rows) :] = True
        outlets[:, window.columns - (window.column + window.columns == tiling.columns) :] = True
    return ground, ocean, outlets, missing


# Filling.


@telling_of_gaps
def passes(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """Over which passes water gets through the tile."""
    ground, _, outlets, _ = opened(land, tile, store, told)
    border = border_places(*ground.shape)
    found = border_passes(ground, outlets)
    return {
        "ground": ground[border],
        "outlets": outlets[border],
        "nodes": found.nodes,
        "heights": found.heights,
        "span": np.array([ground.min(), ground.max()]),
    }


def level(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """Fill the tile, and direct its water as far as is known; what the border has of flats and lakes."""
    ground, _, outlets, _ = opened(land, tile, store, told)
    filled = fill_within(ground, outlets, told["levels"])
    store.save("filled", tile, filled)
    is_lake = filled > ground
    del ground
    framed = land.tiling.framed(tile, filled, told["beside"], np.inf)
    store.save("steepest", tile, steepest_within(framed, outlets))
    del framed
    told = {**told, "far": np.full(len(told["beside"]), FAR, np.int32)}
    return {**_lakes_at_border(is_lake), **route(land, tile, store, told)}


def _lakes_at_border(is_lake: Mask) -> Arrays:
    """Which lakes reach the border, and what is needed to number all lakes of the map by their first cells."""
    rows, columns = is_lake.shape
    labels, count = components(is_lake)
    border = labels[border_places(rows, columns)]
    parts = np.unique(border)
    parts = parts[parts > 0]
    first = first_cells(labels, count)
    within = np.ones(count, np.bool_)
    within[parts - 1] = False
    firsts_within = first[within]  # ascending, as labels are numbered by first cells
    begins = np.searchsorted(firsts_within, np.arange(rows + 1) * columns)
    at = first[parts - 1]
    return {
        "lake": np.where(border > 0, np.searchsorted(parts, border), -1),
        "lake_label": parts,
        "lake_first": at,
        # How many that do not reach the border begin before it in its row, and in each row
        "lakes_before": np.searchsorted(firsts_within, at) - begins[at // columns],
        "lakes_of_rows": np.diff(begins),
    }


# Directions and routing.


def route(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """Cross the tile's flats as the others tell, and follow its water: what gathers within, and where it goes."""
    filled, steepest = store.load("filled", tile), store.load("steepest", tile)
    framed = land.tiling.framed(tile, filled, told["beside"], np.inf)
    far = land.tiling.framed(tile, None, told["far"], FAR)
    directions, at_border = cross_flats(framed, steepest, far)
    del framed, far, filled, steepest
    store.save("directions", tile, directions)
    ways = ways_of(directions)
    links = links_of(directions, ways)
    cells, water = gathered_within(land, tile, store, told, ways)
    # Outlets that can be those of watersheds: large ones, and where water from other tiles ends
    ends = np.unique(links.end[links.following == ENDS])
    is_end = ways.closed == OUTLET
    border = border_places(*directions.shape)
    is_end[border] &= directions[border] == OUTLET
    large = np.flatnonzero(is_end.reshape(-1) & (cells.reshape(-1) >= told["smallest"]))
    outlets = np.union1d(ends, large).astype(np.int64)
    return {
        "far": at_border,
        **{f"link_{name}": value for name, value in links._asdict().items()},
        "cells": cells[border],
        "water": water[border],
        "outlets": outlets,
        "outlet_cells": cells.reshape(-1)[outlets],
        "outlet_water": water.reshape(-1)[outlets],
    }


def gathered_within(
    land: TiledLand, tile: int, store: Store, told: Arrays, ways: Ways, comes_in: tuple[Numbers, Numbers] | None = None
) -> tuple[Numbers, Numbers]:
    """The land's cells upstream of each cell, and their water; with what comes in at border cells, if it is known."""
    if len(told["sea"]) or not land.is_rain_even:
        ground, ocean, _, _ = opened(land, tile, store, told)
        cells = np.where(ocean, 0.0, 1.0)
    else:
        cells = np.ones(ways.closed.shape)
    border = border_places(*cells.shape)
    water = None
    if not land.is_rain_even:
        lowest, highest = told["span"].tolist()
        water = land.water(tile, ground, ocean, (lowest, highest))
        if comes_in is not None:
            water[border] += comes_in[1]
        accumulate(ways.closed, ways.order, water)
    if comes_in is not None:
        cells[border] += comes_in[0]
    accumulate(ways.closed, ways.order, cells)
    return cells, cells if water is None else water
