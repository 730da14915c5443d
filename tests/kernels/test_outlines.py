"""Outlines of numbered cells against those of a raster library."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from rasterio.features import shapes

from kernels.outlines import Outlines, last_rows

Ring = tuple[tuple[int, int], ...]
Polygons = dict[int, list[tuple[Ring, tuple[Ring, ...]]]]


def from_its_least(ring: list[tuple[float, float]]) -> Ring:
    """A closed ring from its least corner on, in the direction that comes first."""
    assert ring[0] == ring[-1]
    corners = [(int(column), int(row)) for column, row in ring[:-1]]
    ways = [way[at:] + way[:at] for way in (corners, corners[::-1]) for at in range(len(corners))]
    return tuple(min(ways))


def found_by_rows(numbers: NDArray[np.int32], rows: int) -> Polygons:
    """The polygons of each number, of so many rows at a time."""
    last = np.full(int(numbers.max()) + 1, -1, np.int64)
    strips = [numbers[row : row + rows] for row in range(0, len(numbers), rows)]
    for at, strip in enumerate(strips):
        last_rows(strip, at * rows, last)
    outlines = Outlines(numbers.shape[1], last)
    polygons: dict[int, list[list[Ring]]] = {}
    for strip in (*strips, np.zeros((1, numbers.shape[1]), np.int32)):
        rings = outlines.follow(strip)
        for ring, number in enumerate(rings.number.tolist()):
            part = slice(rings.begin[ring], rings.begin[ring + 1])
            corners = from_its_least(list(zip(rings.column[part].tolist(), rings.row[part].tolist(), strict=True)))
            if rings.is_outer[ring]:
                polygons.setdefault(number, []).append([corners])
            else:
                polygons[number][-1].append(corners)
    return {number: sorted((of[0], tuple(sorted(of[1:]))) for of in parts) for number, parts in polygons.items()}


def found_at_once(numbers: NDArray[np.int32]) -> Polygons:
    polygons: Polygons = {}
    for shape, number in shapes(numbers, mask=numbers > 0, connectivity=4):
        outer, *holes = (from_its_least(ring) for ring in shape["coordinates"])
        polygons.setdefault(int(number), []).append((outer, tuple(sorted(holes))))
    return {number: sorted(parts) for number, parts in polygons.items()}


@pytest.mark.parametrize("many", [2, 3, 6])
def test_outlines_are_those_of_a_raster_library_however_many_rows_are_read_at_a_time(many: int) -> None:
    random = np.random.default_rng(many)
    for _ in range(40):
        rows, columns = random.integers(1, 16, 2)
        numbers = random.integers(0, many, (rows, columns)).astype(np.int32)
        if random.random() < 0.5:  # straight lines, and larger parts
            numbers = np.repeat(np.repeat(numbers, 3, axis=0), 2, axis=1)
        read = int(random.integers(1, 6))
        assert found_by_rows(numbers, read) == found_at_once(numbers), (read, numbers.tolist())


def test_what_is_held_is_what_goes_on_below() -> None:
    numbers = np.zeros((400, 6), np.int32)
    numbers[:, 0] = 1
    numbers[::2, 2:4] = np.arange(2, 202)[:, None]
    last = np.full(202, -1, np.int64)
    last_rows(numbers, 0, last)
    outlines = Outlines(6, last)
    held = []
    for row in range(0, 400, 4):
        outlines.follow(numbers[row : row + 4])
        held.append(outlines.held)
    assert max(held) < 20
