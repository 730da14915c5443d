"""Rivers as lines: cut where they meet, in pieces that tiles have of them, and joined over all tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.export.vectors import Reaches
from app.tiles.borders import Rivers
from app.tiles.tiling import Integers
from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS

Numbers = NDArray[np.float64]
GOES_ON, ENDS = -1, -2  # what a piece has instead of the begin of another reach at its end


class Pieces(NamedTuple):
    """Parts of reaches within a tile, see `app.export.vectors.Reaches`; cells are row * columns + column of the map.

    A piece goes on to the first cell of another reach, that included, or as far as the tile or the river does.
    """

    cells: Integers
    begin: Integers  # [piece + 1]
    is_start: NDArray[np.bool_]  # whether a reach starts with it; others come in over the border
    end: Integers  # the cell in which another reach starts, `GOES_ON` over the border, or `ENDS`
    first: Numbers  # [piece, 2]: Strahler order and watershed of its first cell
    last: Numbers  # [piece, 4]: discharge and land's cells upstream of its last cell, and of the one before it


def pieces_of(
    shape: tuple[int, int],
    cells: Integers,
    directions: NDArray[np.int8],
    beyond: Integers,
    values: Numbers,
    in_map: Callable[[Integers], Integers],
) -> Pieces:
    """The pieces of the rivers of a tile with these cells, ascending, row * columns + column of the tile.

    `directions` are theirs, `beyond` is how many rivers come in over the border, and `values` [cell, 4] have order,
    watershed, discharge and land's cells upstream. `in_map` tells cells of the map from those of the tile.
    """
    row, column = np.divmod(cells, shape[1])
    step = np.append(ROW_STEPS, 0)[directions], np.append(COLUMN_STEPS, 0)[directions]
    row, column = row + step[0], column + step[1]
    ends = directions == OUTLET
    leaves = (row < 0) | (row >= shape[0]) | (column < 0) | (column >= shape[1])
    below = np.where(leaves, -1, row * shape[1] + column)
    place = np.minimum(np.searchsorted(cells, below), max(len(cells) - 1, 0))
    is_river = (cells[place] == below) & ~ends & ~leaves if len(cells) else ends
    inflows = np.bincount(place[is_river], minlength=len(cells)) + beyond
    starts = ~ends & (inflows != 1)
    comes_in = ~ends & (inflows == 1) & (beyond == 1)
    following = np.where(is_river, place, -1).tolist()
    is_start, out, over = starts.tolist(), ends.tolist(), leaves.tolist()
    ways, begin, end, last = list[int](), [0], list[int](), list[tuple[int, int]]()
    mapped, mapped_below = in_map(cells), in_map(below)
    begins = np.flatnonzero(starts | comes_in)
    for start in begins.tolist():
        here, before = start, start
        way = [int(mapped[here])]
        stop = ENDS
        while not out[here]:
            if over[here]:
                stop = GOES_ON
                break
            after = following[here]
            way.append(int(mapped_below[here]))
            before = here
            if after < 0:
                break
            here = after
            if is_start[here]:
                stop = int(mapped[here])
                break
        ways += way
        begin.append(len(ways))
        end.append(stop)
        last.append((here, before))
    ordered = np.array(last, np.int64).reshape(-1, 2)
    return Pieces(
        np.array(ways, np.int64),
        np.array(begin, np.int64),
        starts[begins],
        np.array(end, np.int64),
        values[begins, :2].reshape(-1, 2),
        np.concatenate((values[ordered[:, 0], 2:], values[ordered[:, 1], 2:]), axis=1).reshape(-1, 4),
    )


class JoinedReaches(NamedTuple):
    """Reaches of all tiles, in the order of their first cells, with what is known of them."""

    reaches: Reaches
    order: Integers
    watershed: Integers
    discharge: Numbers  # through its lower end, before the confluence
    land_cells: Numbers


def joined(pieces: Sequence[Pieces], rivers: Rivers, places: Integers) -> JoinedReaches:
    """Join the pieces of all tiles; `places` are the cells of nodes, see `app.tiles.tiling`."""
    crossing = np.flatnonzero(rivers.crosses)
    beyond = dict(zip(places[crossing].tolist(), places[rivers.following[crossing]].tolist(), strict=True))
    begins_at: dict[int, tuple[int, int]] = {}
    starts: list[tuple[int, int, int]] = []
    for tile, of_tile in enumerate(pieces):
        for number, cell in enumerate(of_tile.cells[of_tile.begin[:-1]].tolist()):
            begins_at[cell] = tile, number
            if of_tile.is_start[number]:
                starts.append((cell, tile, number))
    starts.sort()
    number_of = {cell: number for number, (cell, _, _) in enumerate(starts)}
    ways, lengths, following, last, first = list[Integers](), [0], list[int](), list[Numbers](), list[Numbers]()
    for _, tile, number in starts:
        first.append(pieces[tile].first[number])
        length = 0
        while True:
            of_tile = pieces[tile]
            way = of_tile.cells[of_tile.begin[number] : of_tile.begin[number + 1]]
            ways.append(way)
            length += len(way)
            stop = int(of_tile.end[number])
            if stop != GOES_ON:
                last.append(of_tile.last[number, 2:])
                break
            after = beyond[int(way[-1])]
            if after in begins_at and after not in number_of:
                tile, number = begins_at[after]
                continue
            ways.append(np.array([after]))
            length += 1
            stop = after if after in number_of else ENDS
            last.append(of_tile.last[number, :2])
            break
        following.append(number_of[stop] if stop >= 0 else -1)
        lengths.append(length)
    cells = np.concatenate(ways) if ways else np.zeros(0, np.int64)
    known, of_last = np.array(first).reshape(-1, 2), np.array(last).reshape(-1, 2)
    return JoinedReaches(
        Reaches(cells, np.cumsum(np.array(lengths, np.int64)), np.array(following, np.int64)),
        known[:, 0].astype(np.int64),
        known[:, 1].astype(np.int64),
        of_last[:, 0],
        of_last[:, 1],
    )
