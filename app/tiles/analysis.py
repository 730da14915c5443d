"""An analysis in tiles: which steps follow each other, and what is worked out in one place between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.discharge import relative_to_least
from app.model.errors import UserError
from app.model.river_parameters import RiverParameters
from app.tiles.borders import (
    FlatRounds,
    Numbers,
    Pairs,
    Rivers,
    beside_of,
    filled_levels,
    gathered,
    joined_components,
    pairs_of,
    rivers_of,
)
from app.tiles.gaps import NO_DATA, window_of
from app.tiles.land import TiledLand
from app.tiles.mapping import first_of_each, told_rule
from app.tiles.reaches import JoinedReaches, Pieces, joined
from app.tiles.steps import Arrays
from app.tiles.tiling import Integers, Tiling, Window
from kernels.falls import Falls, Steps, falling, joined_falls
from kernels.lakes import metres_of
from kernels.neighbours import LENGTHS
from kernels.tile_waters import Segments, order_rivers
from kernels.tiles import ENDS, Links, Passes

# Performs a step of tiles, each as it is told; yields what each tells, in any order
Perform = Callable[[str, Iterable[tuple[int, Arrays]]], Iterator[tuple[int, Arrays]]]


@dataclass(frozen=True)
class Found:
    """What was found out about all tiles, beside their maps; cells are row * columns + column of the map."""

    rule: RiverParameters
    land_cells: int
    water: float  # of all land, relative to the precipitation on one cell
    watershed: Arrays  # outlet, cells, water; number 1 first
    lake: Arrays  # level, depth, volume, cells, outlet, inflow, water; number 1 first
    mouth: Arrays  # cell, cells, discharge, longest, watershed
    falls: Falls
    reaches: JoinedReaches
    gaps: Integers  # the window in which cells without data were filled; empty where there are none


class TiledAnalysis:
    """Analyses a land; steps are performed elsewhere."""

    def __init__(
        self,
        land: TiledLand,
        perform: Perform,
        rule: Callable[[int], RiverParameters],
        fill_gaps: Callable[[Window], None],
    ) -> None:
        """`rule` says where rivers begin, and the smallest watershed, of so many cells of land.

        `fill_gaps` fills a window of the map with cells without data, in cells twice as large.
        """
        self.land, self.tiling = land, land.tiling
        self._perform, self._rule_of, self._fill_gaps = perform, rule, fill_gaps
        self._gaps = np.zeros(0, np.int64)  # the window in which data are missing, if any are
        self._pairs = pairs_of(land.tiling)

    def run(self) -> Found:
        """Perform all steps."""
        oceans, ocean_cells = self._find_oceans()
        edges = np.array(self.land.open_edges or not ocean_cells)
        land_cells = self.tiling.rows * self.tiling.columns - ocean_cells
        rule = self._rule_of(land_cells)
        self._common: list[Arrays] = [
            {
                "gaps": self._gaps,
                "sea": labels,
                "edges": edges,
                "smallest": np.array(max(1, rule.watershed_size)),
                "rule": told_rule(rule),
                "river_width": np.array(rule.width),
            }
            for labels in oceans
        ]
        levels, span = self._fill()
        routed = self._direct(levels, span)
        links = [_links(found) for found in routed]
        rivers = rivers_of(self.tiling, links)
        cells, in_cells = gathered(rivers, self._of_nodes(routed, "cells"))
        water, in_water = gathered(rivers, self._of_nodes(routed, "water"))
        watershed, ends = self._number_watersheds(rivers, routed, cells, water)
        lakes = _LakeNumbers(self.tiling, self._pairs, routed)
        discharge = water * self.land.runoff.discharge(self.land.cell_size**2)
        is_river = relative_to_least(rule, cells, discharge, self.land.runoff, self.land.cell_size**2) >= 1.0
        comes_in = np.zeros(len(cells), np.bool_)
        comes_in[rivers.following[rivers.crosses & is_river]] = True
        numbers = _numbers_of(watershed["outlet"], rivers.ends)
        places = self._places()

        def told(tile: int) -> Arrays:
            nodes, beside = self.tiling.nodes(tile), self._beside(tile)
            return {
                **self._common[tile],
                **lakes.told(tile),
                "span": span,
                "in_cells": in_cells[nodes],
                "in_water": in_water[nodes],
                "river_comes_in": comes_in[nodes],
                "distances": rivers.distances[nodes],
                "number": numbers[nodes],
                "outlets": ends[tile][0],
                "outlet_number": ends[tile][1],
                "beside_lake": lakes.component[beside] >= 0,
                "beside_cells": cells[beside],
                "beside_water": water[beside],
                "beside_place": places[beside],
            }

        mapped = self._all("maps", told)
        rivers_in = np.bincount(rivers.following[rivers.crosses & is_river], minlength=len(cells))
        pieces = self._order_rivers(mapped, rivers, rivers_in)
        return Found(
            rule,
            land_cells,
            math.fsum(float(found["water_out"]) for found in mapped),
            watershed,
            _joined_lakes(mapped),
            _joined_mouths(mapped, rivers, self._of_nodes(mapped, "longest"), watershed["outlet"]),
            self._join_falls(mapped, rivers, (levels, discharge), is_river & rivers.crosses),
            joined(pieces, rivers, places),
            self._gaps,
        )

    def _all(self, step: str, told: Callable[[int], Arrays]) -> list[Arrays]:
        """Perform a step of all tiles."""
        found = dict(self._perform(step, ((tile, told(tile)) for tile in range(len(self.tiling)))))
        return [found[tile] for tile in range(len(self.tiling))]

    def _first(self, step: str, told: Sequence[Arrays]) -> list[Arrays]:
        """Perform a step that may be the first one to meet cells without data, which are filled then."""
        found = self._all(step, lambda tile: told[tile])
        again = [tile for tile, of_tile in enumerate(found) if "gap_cells" in of_tile]
        if not again:
            return found
        if sum(int(found[tile]["gap_cells"]) for tile in again) == self.tiling.rows * self.tiling.columns:
            raise UserError(NO_DATA)
        in_rows, in_columns = np.zeros(self.tiling.rows, np.bool_), np.zeros(self.tiling.columns, np.bool_)
        for tile in again:
            in_rows[found[tile]["gap_rows"]] = True
            in_columns[found[tile]["gap_columns"]] = True
        window = window_of(in_rows, in_columns)
        self._fill_gaps(window)
        self._gaps = np.array(window, np.int64)
        for of_tile in told:
            of_tile["gaps"] = self._gaps
        found_again = dict(self._perform(step, ((tile, told[tile]) for tile in again)))
        return [found_again.get(tile, of_tile) for tile, of_tile in enumerate(found)]

    def _of_nodes(self, found: Sequence[Arrays], name: str) -> NDArray[Any]:
        return np.concatenate([of_tile[name] for of_tile in found])

    def _beside(self, tile: int) -> Integers:
        begin, end = self._pairs.begins[tile : tile + 2]
        return self._pairs.other[begin:end]

    def _places(self) -> Integers:
        """The cell of each node."""
        places = (self.tiling.places(tile) for tile in range(len(self.tiling)))
        return np.concatenate([row * self.tiling.columns + column for row, column in places])

    def _find_oceans(self) -> tuple[list[Integers], int]:
        """Which parts of each tile that lie below the sea are the ocean, and its cells."""
        if self.land.sea_level == -math.inf:
            return [np.zeros(0, np.int64)] * len(self.tiling), 0
        found = self._first("sea", [{"gaps": self._gaps} for _ in range(len(self.tiling))])
        component, begins = _components(found, "border", "labels")
        joined = joined_components(self._pairs, component, int(begins[-1]))
        row, column = np.divmod(self._places(), self.tiling.columns)
        at_edge = (row == 0) | (row == self.tiling.rows - 1) | (column == 0) | (column == self.tiling.columns - 1)
        is_ocean = np.zeros(int(begins[-1]), np.bool_)
        is_ocean[joined[component[at_edge & (component >= 0)]]] = True
        is_ocean = is_ocean[joined]
        cells = self._of_nodes(found, "cells")
        parts = (of_tile["labels"] for of_tile in found)
        labels = [part[is_ocean[begin:end]] for part, begin, end in zip(parts, begins[:-1], begins[1:], strict=True)]
        return labels, int(cells[is_ocean].sum())

    def _fill(self) -> tuple[Numbers, Numbers]:
        """The levels that border cells are filled up to, and the lowest and the highest ground."""
        found = self._first("passes", self._common)
        spans = np.stack([of_tile["span"] for of_tile in found])
        levels = filled_levels(
            self.tiling,
            self._pairs,
            self._of_nodes(found, "ground"),
            self._of_nodes(found, "outlets"),
            [Passes(of_tile["nodes"], of_tile["heights"]) for of_tile in found],
        )
        return levels, np.array([spans[:, 0].min(), spans[:, 1].max()])

    def _direct(self, levels: Numbers, span: Numbers) -> list[Arrays]:
        """Fill and direct all tiles, those with flats that go on in others until all ways out of these are known."""
        told: list[Arrays] = [
            {
                **self._common[tile],
                "span": span,
                "levels": levels[self.tiling.nodes(tile)],
                "beside": beside_of(self._pairs, tile, levels),
            }
            for tile in range(len(self.tiling))
        ]
        found = self._all("level", lambda tile: told[tile])
        rounds = FlatRounds(self._pairs, levels)
        rounds.far[:] = self._of_nodes(found, "far")
        while due := list(rounds.due()):
            again = ((tile, {**told[tile], "far": far}) for tile, far in due)
            for tile, routed in self._perform("route", again):
                found[tile] = {**found[tile], **routed}
                rounds.far[self.tiling.nodes(tile)] = routed["far"]
        return found

    def _number_watersheds(
        self, rivers: Rivers, routed: Sequence[Arrays], cells: Numbers, water: Numbers
    ) -> tuple[Arrays, list[tuple[Integers, Integers]]]:
        """The watersheds that are large enough; and the outlets of each tile with the number of theirs, or 0."""
        outlets = [_in_map(self.tiling, tile, found["outlets"]) for tile, found in enumerate(routed)]
        outlet = np.concatenate(outlets)
        order = np.argsort(outlet)
        totals = []
        ends = np.flatnonzero(rivers.following == ENDS)
        place = order[np.searchsorted(outlet, rivers.ends[ends], sorter=order)]
        for name, through, own in (("outlet_cells", cells, "cells"), ("outlet_water", water, "water")):
            total = self._of_nodes(routed, name).astype(np.float64)
            np.add.at(total, place, (through - self._of_nodes(routed, own))[ends])
            totals.append(total)
        smallest = self._common[0]["smallest"]
        large = order[totals[0][order] >= smallest]
        large_outlets: Integers = outlet[large]
        watershed: Arrays = {"outlet": large_outlets, "cells": totals[0][large], "water": totals[1][large]}
        numbered = [
            (found["outlets"], _numbers_of(large_outlets, places))
            for found, places in zip(routed, outlets, strict=True)
        ]
        return watershed, numbered

    def _join_falls(
        self, mapped: Sequence[Arrays], rivers: Rivers, known: tuple[Numbers, Numbers], leaves: NDArray[np.bool_]
    ) -> Falls:
        """The falls of all tiles, and of steps between them; `known` of all nodes are levels and discharge."""
        surface, discharge = np.maximum(known[0], self.land.sea_level), known[1]
        node, columns, places = np.flatnonzero(leaves), self.tiling.columns, self._places()
        below = rivers.following[node]
        south, east = (np.abs(one - other) for one, other in zip(
            np.divmod(places[node], columns), np.divmod(places[below], columns), strict=True))  # fmt: skip
        lengths = self.land.cell_size * np.where((south > 0) & (east > 0), LENGTHS[-1], LENGTHS[0])
        between = Steps(places[node], places[below], surface[node], surface[below], discharge[node])
        width = float(self._common[0]["river_width"])
        parts = [Steps(*(of_tile[f"fall_{name}"] for name in Steps._fields)) for of_tile in mapped]
        parts.append(falling(between, lengths, width))
        return joined_falls(Steps(*(np.concatenate(column) for column in zip(*parts, strict=True))))

    def _order_rivers(self, mapped: Sequence[Arrays], rivers: Rivers, rivers_in: Integers) -> list[Pieces]:
        """Write the map of rivers; the pieces of their lines. `rivers_in` is how many come in at each node."""
        begin, parts = 0, []
        for found in mapped:
            own = Segments(**{name: found[f"segment_{name}"] for name in Segments._fields})
            moved = {name: getattr(own, name) for name in ("into", "entry", "exit")}
            parts.append(own._replace(**{name: np.where(of >= 0, of + begin, -1) for name, of in moved.items()}))
            begin += len(own.into)
        segments = Segments(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        incoming = order_rivers(segments, rivers.following, rivers.crosses)

        def told(tile: int) -> Arrays:
            nodes = self.tiling.nodes(tile)
            return {"gaps": self._gaps, "incoming": incoming[nodes], "rivers_in": rivers_in[nodes]}

        ordered = self._all("orders", told)
        return [Pieces(**{name: found[f"piece_{name}"] for name in Pieces._fields}) for found in ordered]


class _LakeNumbers:
    """The numbers of lakes over all tiles: in the order of their first cells."""

    def __init__(self, tiling: Tiling, pairs: Pairs, found: Sequence[Arrays]) -> None:
        self._tiling, self._found = tiling, found
        self.component, self._begins = _components(found, "lake", "lake_label")  # of each node
        count = int(self._begins[-1])
        lake = joined_components(pairs, self.component, count)
        first = [_in_map(tiling, tile, of_tile["lake_first"]) for tile, of_tile in enumerate(found)]
        firsts = np.concatenate(first) if first else np.zeros(0, np.int64)
        least = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(least, lake, firsts)
        self._begin_here = firsts == least[lake]
        # How many lakes begin in each row of each tile
        begun = np.zeros((tiling.rows, tiling.across), np.int64)
        number = np.zeros(count, np.int64)
        for tile, of_tile in enumerate(found):
            window, east = tiling.window(tile), tile % tiling.across
            own = slice(int(self._begins[tile]), int(self._begins[tile + 1]))
            places = of_tile["lake_first"][self._begin_here[own]]
            row = np.sort(places) // window.columns
            rows = slice(window.row, window.row + window.rows)
            begun[rows, east] = of_tile["lakes_of_rows"] + np.bincount(row, minlength=window.rows)
            among = np.argsort(np.argsort(places))  # labels follow first cells, but not all that reach the border
            before = of_tile["lakes_before"][self._begin_here[own]]
            in_row = among - np.searchsorted(row, places // window.columns)
            number[np.flatnonzero(self._begin_here[own]) + own.start] = before + in_row + 1
        before = np.append(0, np.cumsum(begun.reshape(-1)))[:-1].reshape(begun.shape)
        self._base = before
        for tile, of_tile in enumerate(found):
            window, east = tiling.window(tile), tile % tiling.across
            own = slice(int(self._begins[tile]), int(self._begins[tile + 1]))
            number[own] += before[window.row + of_tile["lake_first"] // window.columns, east]
        number[~self._begin_here] = 0
        whole = np.zeros(count, np.int64)
        np.maximum.at(whole, lake, number)
        self._number = whole[lake]

    def told(self, tile: int) -> Arrays:
        """What a tile needs to number its lakes."""
        window, own = self._tiling.window(tile), slice(int(self._begins[tile]), int(self._begins[tile + 1]))
        return {
            "lake_label": self._found[tile]["lake_label"],
            "lake_begins": self._begin_here[own],
            "lake_number": self._number[own],
            "lake_base": self._base[window.row : window.row + window.rows, tile % self._tiling.across],
        }


def _components(found: Sequence[Arrays], border: str, labels: str) -> tuple[Integers, Integers]:
    """The component of each node, or -1, with numbers that count through all tiles; the first one of each tile."""
    begins = np.append(0, np.cumsum([len(of_tile[labels]) for of_tile in found])).astype(np.int64)
    parts = [
        np.where(of_tile[border] >= 0, of_tile[border] + begin, -1)
        for of_tile, begin in zip(found, begins[:-1], strict=True)
    ]
    return np.concatenate(parts).astype(np.int64), begins


def _in_map(tiling: Tiling, tile: int, cells: Integers) -> Integers:
    window = tiling.window(tile)
    row, column = np.divmod(cells, window.columns)
    places: Integers = (window.row + row) * tiling.columns + window.column + column
    return places


def _links(found: Arrays) -> Links:
    return Links(**{name: found[f"link_{name}"] for name in Links._fields})


def _numbers_of(outlets: Integers, cells: Integers) -> Integers:
    """The numbers of the watersheds with these outlets, ascending, that cells are outlets of; 0 where of none."""
    if not len(outlets):
        return np.zeros(len(cells), np.int64)
    place = np.minimum(np.searchsorted(outlets, cells), len(outlets) - 1)
    return np.where(outlets[place] == cells, place + 1, 0).astype(np.int64)


# Lists.


def _joined_lakes(mapped: Sequence[Arrays]) -> Arrays:
    """The lakes of all tiles, from their parts."""
    names = ("lake_number", "lake_level", "lake_depth", "lake_depths", "lake_cells")
    number, level, depth, depths, cells = (np.concatenate([of_tile[name] for of_tile in mapped]) for name in names)
    count, lake = int(number.max(initial=0)), number - 1
    found: Arrays = {
        "level": np.zeros(count), "depth": np.zeros(count), "cells": np.zeros(count, np.int64),
        "outlet": np.full(count, -1, np.int64), "inflow": np.zeros(count), "water": np.zeros(count),
    }  # fmt: skip
    found["level"][lake] = level
    np.maximum.at(found["depth"], lake, depth)
    np.add.at(found["cells"], lake, cells)
    sums = np.zeros((count, 2), np.int64)
    np.add.at(sums, lake, depths)
    found["metres"] = metres_of(sums)
    names = ("outlet_lake", "outlet_inflow", "outlet_source", "outlet_cell", "outlet_water")
    number, inflow, source, cell, water = (np.concatenate([of_tile[name] for of_tile in mapped]) for name in names)
    best = first_of_each(number, source, inflow)
    lake = number[best] - 1
    found["outlet"][lake], found["inflow"][lake], found["water"][lake] = cell[best], inflow[best], water[best]
    return found


def _joined_mouths(mapped: Sequence[Arrays], rivers: Rivers, longest: Numbers, watersheds: Integers) -> Arrays:
    """The river mouths of all tiles, by their cells."""
    names = ("mouth", "mouth_cells", "mouth_discharge", "mouth_longest")
    cell, cells, discharge, longest_of = (np.concatenate([found[name] for found in mapped]) for name in names)
    order = np.argsort(cell)
    cell, cells, discharge, longest_of = cell[order], cells[order], discharge[order], longest_of[order]
    leaves = np.flatnonzero(longest >= 0.0)
    place = np.searchsorted(cell, rivers.ends[leaves])
    place = np.minimum(place, max(len(cell) - 1, 0))
    if len(cell):
        known = cell[place] == rivers.ends[leaves]
        np.maximum.at(longest_of, place[known], longest[leaves[known]])
    return {
        "cell": cell,
        "cells": cells,
        "discharge": discharge,
        "longest": longest_of,
        "watershed": _numbers_of(watersheds, cell),
    }
