"""The last steps of an analysis in tiles, when it is known what comes into each: maps, and what lists are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.cli.analysis_maps import D8_CODES
from app.engine.discharge import relative_to_least
from app.model.river_parameters import RiverParameters
from app.tiles.land import Mask, Numbers, TiledLand
from app.tiles.reaches import pieces_of
from app.tiles.relaid import gaps, lay
from app.tiles.steps import Arrays, Step, Store, gathered_within, level, opened, passes, route, sea
from app.tiles.tiling import Integers
from kernels.components import components
from kernels.falls import falling_within
from kernels.neighbours import OUTLET
from kernels.routing import lengths_of, strahler_orders
from kernels.tile_waters import farthest, first_cells, measure_lakes, river_segments
from kernels.tiles import Ways, border_places, ways_of

Write = Callable[[str, NDArray[Any]], None]
WaysOut = tuple[Integers, Numbers, Integers, Integers, Numbers]  # lake, inflow, its cell, that below, its water


class _Tile(NamedTuple):
    """A tile, and how its water runs, [row, column]."""

    land: TiledLand
    number: int
    told: Arrays
    ground: Numbers
    ocean: Mask
    filled: Numbers
    directions: NDArray[np.int8]
    ways: Ways

    def in_map(self, cells: Integers) -> Integers:
        """See `cells_of_map`."""
        return cells_of_map(self.land, self.number, cells)

    @property
    def border(self) -> tuple[Integers, Integers]:
        return border_places(*self.ground.shape)

    @property
    def leaves(self) -> Mask:
        """Whether water leaves the tile from each border cell."""
        leaves: Mask = (self.directions[self.border] != OUTLET) & (self.ways.closed[self.border] == OUTLET)
        return leaves


def cells_of_map(land: TiledLand, tile: int, cells: Integers) -> Integers:
    """Cells of the map, row * columns + column, from those of a tile."""
    window = land.tiling.window(tile)
    row, column = np.divmod(cells, window.columns)
    places: Integers = (window.row + row) * land.tiling.columns + window.column + column
    return places


def rule_of(told: Arrays) -> RiverParameters:
    """Where rivers begin, from the numbers of `told_rule`."""
    is_area, threshold, discharge = told["rule"].tolist()
    return RiverParameters(
        begin="area" if is_area else "discharge", threshold=int(threshold), discharge=float(discharge)
    )


def told_rule(rule: RiverParameters) -> Numbers:
    """Where rivers begin, in numbers."""
    return np.array([rule.begin == "area", rule.threshold, rule.discharge], np.float64)


def maps(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """Write the maps of a tile; what it has of rivers and lakes, which may go on in others."""
    ground, ocean, _, missing = opened(land, tile, store, told)
    directions = store.load("directions", tile)
    here = _Tile(land, tile, told, ground, ocean, store.load("filled", tile), directions, ways_of(directions))

    if land.own is not None:
        missing = None  # maps are brought back to other cells, and it is there that they have nothing
    if missing is not None:
        store.save("missing", tile, missing)

    def write(name: str, values: NDArray[Any]) -> None:
        store.write(name, tile, values, missing)

    write("filled", here.filled)
    write("lake_depth", (here.filled - ground).astype(np.float32))
    write("directions", D8_CODES[directions])
    cells, water = gathered_within(land, tile, store, told, here.ways, (told["in_cells"], told["in_water"]))
    write("accumulation", cells)
    of_a_cell = land.runoff.discharge(land.cell_size**2)
    discharge = water * of_a_cell
    write("discharge", discharge.astype(np.float32))
    leaving = float(water[directions == OUTLET].sum())
    rivers = relative_to_least(rule_of(told), cells, discharge, land.runoff, land.cell_size**2) >= 1.0
    lakes, labels = _lakes(here, cells, water)
    write("lakes", labels)
    falls = _falls(here, rivers, discharge)
    ways, labels = _ways(here, cells, discharge, rivers, write)
    write("watersheds", labels)
    found = _rivers(here, rivers, store, (labels, cells, discharge))
    return {"water_out": np.array(leaving), **found, **lakes, **ways, **falls}


def _rivers(here: _Tile, rivers: Mask, store: Store, known: tuple[NDArray[np.int32], Numbers, Numbers]) -> Arrays:
    """The rivers of a tile, cut for their orders; their cells are kept for `orders`, downstream ones first.

    What is known of all cells are watersheds, land upstream and discharge.
    """
    segments = river_segments(here.ways, rivers, here.told["river_comes_in"])
    cells = here.ways.order[rivers.reshape(-1)[here.ways.order]]
    labels, upstream, discharge = (values.reshape(-1)[cells] for values in known)
    ocean, closed, direction = (values.reshape(-1)[cells] for values in (here.ocean, here.ways.closed, here.directions))
    store.save("rivers", here.number, np.stack((cells, closed, direction, ocean, labels)).astype(np.int32))
    store.save("river-waters", here.number, np.stack((discharge, upstream), axis=-1))
    return {f"segment_{name}": value for name, value in segments._asdict().items()}


def orders(land: TiledLand, tile: int, store: Store, told: Arrays) -> Arrays:
    """Write the map of rivers, when it is known which orders come in; the pieces of their lines."""
    window = land.tiling.window(tile)
    cells, directions, beyond, is_ocean, labels = store.load("rivers", tile)
    shape = window.rows, window.columns
    closed, rivers = np.full(shape, OUTLET, np.int8), np.zeros(shape, np.bool_)
    closed.reshape(-1)[cells], rivers.reshape(-1)[cells] = directions, True
    found = np.zeros(shape, np.uint8)
    found[border_places(*shape)] = told["incoming"]
    strahler_orders(closed, cells, rivers, found)
    found.reshape(-1)[cells[is_ocean > 0]] = 0
    missing = store.load("missing", tile) if len(told["gaps"]) and land.own is None else None
    store.write("rivers", tile, found, missing)
    on_land = np.flatnonzero(is_ocean == 0)
    on_land = on_land[np.argsort(cells[on_land])]
    cells = cells[on_land].astype(np.int64)
    comes_in = np.zeros(shape, np.int64)
    comes_in[border_places(*shape)] = told["rivers_in"]
    known = np.stack((found.reshape(-1)[cells], labels[on_land]), axis=-1)
    values = np.concatenate((known, store.load("river-waters", tile)[on_land]), axis=-1)
    pieces = pieces_of(
        shape,
        cells,
        beyond[on_land].astype(np.int8),
        comes_in.reshape(-1)[cells],
        values,
        lambda within: cells_of_map(land, tile, within),
    )
    return {f"piece_{name}": value for name, value in pieces._asdict().items()}


# Ways: distances, mouths and watersheds.


def _ways(
    here: _Tile, cells: Numbers, discharge: Numbers, rivers: Mask, write: Write
) -> tuple[Arrays, NDArray[np.int32]]:
    """Distances, mouths and the map of watersheds."""
    land, told, ends = here.land, here.told, here.ways.ends
    leaves, border = here.leaves, here.border
    row, column = border[0][leaves], border[1][leaves]
    beyond = np.zeros(here.ground.shape)
    beyond[row, column] = told["distances"][leaves]
    distances = lengths_of(here.ways.distances + beyond.reshape(-1)[ends], land.cell_size)
    del beyond
    write("distance", distances.astype(np.float32))
    longest = np.zeros(here.ground.shape)
    farthest(ends, distances, longest)
    mouths = np.flatnonzero(rivers & (here.directions == OUTLET))
    numbers = np.zeros(here.ground.shape, np.int32)
    numbers.reshape(-1)[told["outlets"]] = told["outlet_number"]
    numbers[row, column] = told["number"][leaves]
    labels = numbers.reshape(-1)[ends]
    labels[here.ocean] = 0
    return {
        "longest": np.where(leaves, longest[border], -1.0),
        "mouth": here.in_map(mouths),
        "mouth_longest": longest.reshape(-1)[mouths],
        "mouth_cells": cells.reshape(-1)[mouths],
        "mouth_discharge": discharge.reshape(-1)[mouths],
    }, labels


# Falls.


def _falls(here: _Tile, rivers: Mask, discharge: Numbers) -> Arrays:
    """The steps of rivers within a tile that fall."""
    surface = np.maximum(here.filled, here.land.sea_level)
    width = float(here.told["river_width"])
    found = falling_within(surface, here.ways.closed, discharge, rivers, here.land.cell_size, width)
    found = found._replace(cell=here.in_map(found.cell), below=here.in_map(found.below))
    return {f"fall_{name}": values for name, values in found._asdict().items()}


# Lakes.


def _lakes(here: _Tile, cells: Numbers, water: Numbers) -> tuple[Arrays, NDArray[np.int32]]:
    """The parts of lakes in a tile, and the map of their numbers."""
    labels, count = components(here.filled > here.ground)
    numbers = _lake_numbers(here, labels, count)
    parts = measure_lakes(here.ground, here.filled, here.ways, cells, labels, count)
    has = np.flatnonzero(parts.outlet >= 0)
    through = water.reshape(-1)[parts.outlet[has]]
    outlets: list[WaysOut] = [
        (has, parts.inflow[has], here.in_map(parts.source[has]), here.in_map(parts.outlet[has]), through)
    ]
    outlets.append(_outlets_beyond(here, labels))
    lake, inflow, source, outlet, through = (np.concatenate(column) for column in zip(*outlets, strict=True))
    best = first_of_each(lake, source, inflow)
    in_map = np.append(0, numbers).astype(np.int32)[labels]
    return {
        "lake_number": numbers,
        "lake_level": parts.level,
        "lake_depth": parts.depth,
        "lake_depths": parts.depths,
        "lake_cells": parts.cells,
        "outlet_lake": numbers[lake[best]],
        "outlet_inflow": inflow[best],
        "outlet_source": source[best],
        "outlet_cell": outlet[best],
        "outlet_water": through[best],
    }, in_map


def first_of_each(lake: Integers, source: Integers, inflow: Numbers) -> Integers:
    """Of several ways out of each lake the one with the most water; of equal ones that from the first cell."""
    order = np.lexsort((source, -inflow, lake))
    is_first = np.append(True, np.diff(lake[order]) != 0)[: len(order)]
    best: Integers = order[is_first]
    return best


def _outlets_beyond(here: _Tile, labels: NDArray[np.int32]) -> WaysOut:
    """Where lakes drain to what is no lake in another tile: lake, inflow, cell of the lake, that below, its water."""
    told, touches = here.told, here.land.tiling.touches(here.number)
    row, column = (places[touches.border] for places in here.border)
    drains = (here.directions[row, column] == touches.neighbour) & (labels[row, column] > 0) & ~told["beside_lake"]
    row, column = row[drains], column[drains]
    source = here.in_map(row * here.ground.shape[1] + column)
    return (
        labels[row, column].astype(np.int64) - 1, told["beside_cells"][drains], source,
        told["beside_place"][drains], told["beside_water"][drains],
    )  # fmt: skip


def _lake_numbers(here: _Tile, labels: NDArray[np.int32], count: int) -> Integers:
    """The numbers of lakes in the map: those that begin in a tile follow those of earlier rows and tiles."""
    told, columns = here.told, here.ground.shape[1]
    begins_here = np.ones(count, np.bool_)
    begins_here[told["lake_label"] - 1] = told["lake_begins"]
    first = first_cells(labels, count)[begins_here]  # ascending
    row = first // columns
    numbers = np.empty(count, np.int64)
    numbers[told["lake_label"] - 1] = told["lake_number"]
    numbers[begins_here] = told["lake_base"][row] + np.arange(len(first)) - np.searchsorted(row, row) + 1
    return numbers


STEPS: dict[str, Step] = {
    "gaps": gaps,
    "sea": sea,
    "passes": passes,
    "level": level,
    "route": route,
    "maps": maps,
    "orders": orders,
    "lay": lay,
}
