"""Maps in square blocks of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PATCH = 8  # cells along a side of the patches of the map by which parts of the mesh are chosen
BAND_ROWS = 64  # of a map, computed at a time: intermediate values then fit in a processor's cache


def reduce_blocks(cells: NDArray[Any], side: int, combine: np.ufunc) -> NDArray[Any]:
    """What `combine` makes of each block of `side` × `side` cells, `[row, column]` of blocks.

    `side` is a power of two, and those of the map are multiples of it. Combines whole rows, and of what is left halves
    again and again: NumPy is slow to reduce a last axis that is short.
    """
    rows, columns = cells.shape
    blocks: NDArray[Any] = combine.reduce(cells.reshape(rows // side, side, columns), axis=1)
    while side > 1:
        blocks = combine(blocks[:, 0::2], blocks[:, 1::2])
        side //= 2
    return blocks


def in_whole_blocks(cells: NDArray[Any], side: int, filling: Any) -> NDArray[Any]:
    """The cells, with as many of a `filling` in the south and east as make whole blocks."""
    missing = [(0, -length % side) for length in cells.shape]
    return np.pad(cells, missing, constant_values=filling) if any(after for _, after in missing) else cells


def corners_of(
    rectangles: NDArray[np.int64], side: int, size: tuple[int, int]
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Rectangles of blocks of `side` × `side` on a target of that size as corners in clip space.

    And two triangles for each, as indices of them.
    """
    low, high = rectangles[:, :2] * side, np.minimum(rectangles[:, 2:] * side, size)
    places = np.stack(
        [low, np.column_stack([high[:, 0], low[:, 1]]), np.column_stack([low[:, 0], high[:, 1]]), high], axis=1
    )
    corners = np.ascontiguousarray(places / size * 2.0 - 1.0, np.float32)
    first = 4 * np.arange(len(rectangles), dtype=np.uint32)[:, None]
    return corners, np.ascontiguousarray(first + np.array([0, 1, 2, 2, 1, 3], np.uint32))


def joined(blocks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Blocks that are true, as few rectangles: `[rectangle, (left, first row, right, end)]`, each in one of them.

    A rectangle is two triangles, and what lies on their common side is drawn twice in software: few are cheap.
    """
    left = np.ones((len(blocks), 1), bool)
    starts = np.argwhere(blocks & ~np.hstack([~left, blocks[:, :-1]]))
    ends = np.argwhere(blocks & ~np.hstack([blocks[:, 1:], ~left])) + 1
    open_runs: dict[tuple[int, int], int] = {}  # columns of rectangles that reach this row, and their first rows
    found: list[tuple[int, int, int, int]] = []
    runs_by_row: dict[int, list[tuple[int, int]]] = {}
    for (row, begin), (_, end) in zip(starts.tolist(), ends.tolist(), strict=True):
        runs_by_row.setdefault(row, []).append((begin, end))
    for row in range(len(blocks) + 1):
        runs = runs_by_row.get(row, [])
        for run in [run for run in open_runs if run not in runs]:
            found.append((run[0], open_runs.pop(run), run[1], row))
        for run in runs:
            open_runs.setdefault(run, row)
    return np.array(found, np.int64).reshape(-1, 4)
