"""Maps in square blocks of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PATCH = 8  # cells along a side of the patches of the map by which parts of the mesh are chosen
BEFORE, AFTER = ((1, 0), np.s_[:-1]), ((0, 1), np.s_[1:])  # the columns on the left of all, and on the right
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
    begins, ends = (blocks & ~np.pad(blocks, ((0, 0), beside))[:, there] for beside, there in (BEFORE, AFTER))
    row, begin = np.nonzero(begins)
    end = np.nonzero(ends)[1] + 1
    # Runs of the same columns one after another, and of those each row after the one before
    order = np.lexsort((row, end, begin))
    row, begin, end = row[order], begin[order], end[order]
    first = np.ones(len(row), bool)
    first[1:] = (np.diff(begin) != 0) | (np.diff(end) != 0) | (np.diff(row) != 1)
    last = np.append(first[1:], True)[: len(row)]
    return np.column_stack([begin[first], row[first], end[first], row[last] + 1])
