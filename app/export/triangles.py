"""Land as triangles: two per square of cells, or fewer that approximate it with a known error.

The approximation is a right-triangulated irregular network on a lattice of 2^n + 1 points per side: triangles are
bisected where their error is too large (Evans, Kirkpatrick and Townsend 2001). A point requires the points that its
triangles depend on, so there are no cracks. Edges of the map stay straight, and the borders of tiles, which lie on
binary fractions of the map, are edges of triangles on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Faces = NDArray[np.int64]

_EVEN, _ODD = slice(0, None, 2), slice(1, None, 2)
FINE_SIDE = 2048  # lattices up to this side are made twice as fine if their points are not centres of cells


@dataclass(frozen=True)
class Surface:
    """Triangles over the land: `points` (east, south) in cells from the centre of the north-western cell, and heights.

    `faces` [triangle, corner] are counter-clockwise as seen from above. `error` is the largest vertical distance from
    the land at the centre of a cell, and `rms` the root mean square, both in metres.
    """

    points: Numbers  # [point, (east, south)]
    heights: Numbers
    faces: Faces
    lines: tuple[Numbers, Numbers]  # borders of tiles, (east, south), in the same units
    error: float = 0.0
    rms: float = 0.0

    def part(self, chosen: NDArray[np.bool_]) -> Surface:
        """Some of the triangles, with their points."""
        faces = self.faces[chosen]
        used, numbers = np.unique(faces, return_inverse=True)
        faces = numbers.reshape(faces.shape)
        return replace(self, points=self.points[used], heights=self.heights[used], faces=faces)


def triangulated(ground: Numbers, most: int, tiles: int = 1) -> Surface:
    """Triangulate land with at most `most` triangles, but at least two for each of `tiles` × `tiles`.

    `tiles` is a power of two. If `most` permits, all cells are used.
    """
    rows, columns = ground.shape
    return all_cells(ground, tiles) if most >= 2 * (rows - 1) * (columns - 1) else few_triangles(ground, most, tiles)


def all_cells(ground: Numbers, tiles: int = 1) -> Surface:
    """A point at the centre of each cell, and two triangles per square of four points."""
    rows, columns = ground.shape
    faces = faces_of_squares(np.ones((rows - 1, columns - 1), np.bool_))
    south, east = np.divmod(np.arange(rows * columns), columns)
    lines = np.rint(_tile_lines(columns, tiles)), np.rint(_tile_lines(rows, tiles))
    return Surface(np.stack([east, south], 1).astype(np.float64), ground.ravel().astype(np.float64), faces, lines)


def faces_of_squares(squares: NDArray[np.bool_]) -> Faces:
    """Two triangles for each chosen square [row, column], as indices of the cells at their corners."""
    rows, columns = squares.shape[0] + 1, squares.shape[1] + 1
    number = np.arange(rows * columns).reshape(rows, columns)
    north_west, north_east = number[:-1, :-1][squares], number[:-1, 1:][squares]
    south_west, south_east = number[1:, :-1][squares], number[1:, 1:][squares]
    return np.concatenate(
        [np.stack([north_west, south_west, north_east], 1), np.stack([north_east, south_west, south_east], 1)]
    )


def few_triangles(ground: Numbers, most: int, tiles: int = 1) -> Surface:
    """At most `most` triangles, and at least two in each of `tiles` × `tiles`, a power of two."""
    rows, columns = ground.shape
    side = lattice_side(rows, columns)
    lattice = _at_places(ground, np.linspace(0.0, rows - 1.0, side + 1), np.linspace(0.0, columns - 1.0, side + 1))
    needs = _needs(lattice, tiles)
    limit = _limit(needs, most)
    corners = np.concatenate(list(_halved(needs > limit, side)))  # [triangle, corner, (row, column)]
    used, numbers = np.unique(corners[..., 0] * (side + 1) + corners[..., 1], return_inverse=True)
    row, column = np.divmod(used, side + 1)
    points = np.stack([column * ((columns - 1) / side), row * ((rows - 1) / side)], 1)
    drawn = _drawn(lattice, needs > limit)
    seen = _at_places(drawn, np.linspace(0.0, side, rows), np.linspace(0.0, side, columns))
    lines = _tile_lines(columns, tiles), _tile_lines(rows, tiles)
    off = np.abs(seen - ground)
    error, rms = float(off.max()), float(np.sqrt(np.mean(off**2)))
    return Surface(points, lattice[row, column], numbers.reshape(-1, 3), lines, error, rms)


def lattice_side(rows: int, columns: int) -> int:
    """The number of squares per side of the lattice for a map."""
    side: int = 2 ** max(1, math.ceil(math.log2(max(rows, columns) - 1)))
    # If lattice points are not centres of cells, a finer lattice has one close to each centre.
    return side if (rows, columns) == (side + 1, side + 1) or side > FINE_SIDE else 2 * side


def in_tiles(surface: Surface) -> Iterator[tuple[int, int, Surface]]:
    """The triangles of each tile that has any, with its row and column."""
    middles = surface.points[surface.faces].mean(axis=1)
    east, south = (np.searchsorted(surface.lines[axis], middles[:, axis], side="right") - 1 for axis in (0, 1))
    for row in range(len(surface.lines[1]) - 1):
        for column in range(len(surface.lines[0]) - 1):
            if (chosen := (south == row) & (east == column)).any():
                yield row, column, surface.part(chosen)


def _tile_lines(cells: int, tiles: int) -> Numbers:
    return np.linspace(0.0, cells - 1.0, tiles + 1)


def _at_places(values: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """Interpolate values linearly at rows and columns, counted from the centre of the first cell."""
    for axis, places in ((0, rows), (1, columns)):
        before = np.minimum(places.astype(np.intp), values.shape[axis] - 2)
        part = np.expand_dims(places - before, 1 - axis)
        values = values.take(before, axis) * (1.0 - part) + values.take(before + 1, axis) * part
    return values


def _needs(lattice: Numbers, tiles: int) -> Numbers:
    """The largest error if a point and the points that depend on it are left out, [row, column]."""
    needs = np.zeros_like(lattice)
    side = len(lattice) - 1
    step = 2
    while step <= side:
        always = np.inf if step > side // tiles else 0.0
        half = step // 2
        # Points at the middle of edges; points of the finer squares around depend on them.
        for middles, ends in _edges(lattice, step):
            here = needs[middles]
            np.maximum(here, np.abs(lattice[middles] - ends), out=here)
            np.maximum(here, always, out=here)
        if half > 1:
            quarter = half // 2
            finer = needs[quarter::half, quarter::half]  # [row, column] of the squares of half the side
            around = np.pad(finer, 1)
            for down in range(2):
                for right in range(2):
                    corners = around[down : down + finer.shape[0] + 1, right : right + finer.shape[1] + 1]
                    for rows, columns in ((_EVEN, _ODD), (_ODD, _EVEN)):
                        here = needs[::half, ::half][rows, columns]
                        np.maximum(here, corners[rows, columns], out=here)
        centres = needs[half::step, half::step]
        np.maximum(centres, np.abs(lattice[half::step, half::step] - _diagonals(lattice, step)), out=centres)
        np.maximum(centres, always, out=centres)
        for beside in (needs[:-1:step, half::step], needs[step::step, half::step]):
            np.maximum(centres, beside, out=centres)
        for beside in (needs[half::step, :-1:step], needs[half::step, step::step]):
            np.maximum(centres, beside, out=centres)
        step *= 2
    return needs


def _edges(lattice: Numbers, step: int) -> Iterator[tuple[tuple[slice, slice], Numbers]]:
    """The midpoints of the edges of squares of a side, and the mean of the ends of each edge."""
    half = step // 2
    on, between = slice(None, None, step), slice(half, None, step)
    yield (on, between), 0.5 * (lattice[::step, :-1:step] + lattice[::step, step::step])
    yield (between, on), 0.5 * (lattice[:-1:step, ::step] + lattice[step::step, ::step])


def _diagonals(lattice: Numbers, step: int) -> Numbers:
    """The value at the midpoint of the diagonal that splits each square of a side. Diagonals alternate."""
    corners = lattice[::step, ::step]
    falling = 0.5 * (corners[:-1, :-1] + corners[1:, 1:])
    rising = 0.5 * (corners[:-1, 1:] + corners[1:, :-1])
    even = np.add.outer(*map(np.arange, falling.shape)) % 2 == 0
    return np.where(even, falling, rising)


def _limit(needs: Numbers, most: int) -> float:
    """The threshold of need that leaves at most `most` triangles.

    Each point bisects two triangles, or one on the edge of the map.
    """
    last = len(needs) - 1
    weights = np.full(needs.shape, 2)
    weights[[0, last], :] = 1
    weights[:, [0, last]] = 1
    order = np.argsort(-needs, axis=None, kind="stable")
    sorted_needs, counts = needs.ravel()[order], 2 + np.cumsum(weights.ravel()[order])
    fits = np.searchsorted(counts, most, side="right")
    if fits >= len(order):
        return -1.0 if sorted_needs[-1] > 0.0 else 0.0
    return min(float(sorted_needs[fits]), np.finfo(np.float64).max)


def _halved(kept: NDArray[np.bool_], side: int) -> Iterator[NDArray[np.int64]]:
    """Triangles [triangle, corner, (row, column)] that are not bisected further, level by level.

    Corners are the two ends of the longest edge, then the opposite one.
    """
    last = side
    triangles = np.array([[[0, 0], [last, last], [0, last]], [[last, last], [0, 0], [last, 0]]])
    for _ in range(2 * int(math.log2(side))):
        middle = (triangles[:, 0] + triangles[:, 1]) // 2
        halve = kept[middle[:, 0], middle[:, 1]]
        yield triangles[~halve]
        first, second, across = np.moveaxis(triangles[halve], 1, 0)
        middle = middle[halve]
        triangles = np.concatenate([np.stack([across, first, middle], 1), np.stack([second, across, middle], 1)])
    yield triangles


def _drawn(lattice: Numbers, kept: NDArray[np.bool_]) -> Numbers:
    """The heights of the triangulated surface at all points of the lattice."""
    drawn = lattice.copy()
    step = len(lattice) - 1
    while step >= 2:
        half = step // 2
        centres = slice(half, None, step), slice(half, None, step)
        drawn[centres] = np.where(kept[centres], lattice[centres], _diagonals(drawn, step))
        for middles, ends in _edges(drawn, step):
            drawn[middles] = np.where(kept[middles], lattice[middles], ends)
        step = half
    return drawn
