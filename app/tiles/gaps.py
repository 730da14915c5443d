"""Cells without data of a model that is larger than memory: filled as `app.sources.heightmap.nodata.fill` does it.

What is coarser by two than the model is filled first, in one place and band by band, as long as it is large. It lies
in a file, from which each tile fills its own cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from app.sources.heightmap.nodata import SMOOTHING_SWEEPS, continue_in_place, fill, halve, surroundings
from app.tiles.land import Mask, Numbers, Source
from app.tiles.tiling import Window

AT_ONCE = 2**22  # cells that are filled in memory, and that a band has
NO_DATA = "every cell is NODATA; at least one must hold a height"
COARSE = "gaps.npy"  # the file with what is filled in cells twice as large

Rows = Callable[[int, int], tuple[Numbers, Mask]]  # some rows of a map, and where they have no data


def window_of(in_rows: Mask, in_columns: Mask) -> Window:
    """The cells that are filled, from the rows and columns of the map in which data are missing."""
    rows, columns = surroundings(in_rows, in_columns)
    bottom, right = min(rows.stop, len(in_rows)), min(columns.stop, len(in_columns))
    return Window(rows.start, columns.start, bottom - rows.start, right - columns.start)


def fill_coarse(source: Source, window: Window, folder: Path) -> None:
    """Fill what is missing in a window of a model in cells twice as large, into a file in `folder`."""

    def read(begin: int, end: int) -> tuple[Numbers, Mask]:
        ground, missing = source.read(Window(window.row + begin, window.column, end - begin, window.columns))
        return ground, np.zeros(ground.shape, np.bool_) if missing is None else missing

    filled = _filled(*_halved(read, window.rows, window.columns, folder, 1), folder, 1)
    np.save(folder / f"{COARSE}.part", filled, allow_pickle=False)
    (folder / f"{COARSE}.part.npy").replace(folder / COARSE)
    for left in folder.glob("coarse-*.npy"):
        left.unlink()


def fill_tile(source: Source, tile: Window, ground: Numbers, missing: Mask, window: Window, coarse: Numbers) -> None:
    """Fill what is missing in the ground of a tile, in place; `coarse` is what fills the `window`."""
    top, left = max(tile.row - SMOOTHING_SWEEPS, window.row), max(tile.column - SMOOTHING_SWEEPS, window.column)
    bottom = min(tile.row + tile.rows + SMOOTHING_SWEEPS, window.row + window.rows)
    right = min(tile.column + tile.columns + SMOOTHING_SWEEPS, window.column + window.columns)
    around, is_missing = source.read(Window(top, left, bottom - top, right - left))
    assert is_missing is not None
    continue_in_place(around, is_missing, coarse, top - window.row, left - window.column)
    rows, columns = np.nonzero(missing)
    ground[rows, columns] = around[rows + tile.row - top, columns + tile.column - left]


def _bands(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    height = max(AT_ONCE // columns // 2 * 2, 2)
    for begin in range(0, rows, height):
        yield begin, min(begin + height, rows)


def _halved(read: Rows, rows: int, columns: int, folder: Path, level: int) -> tuple[Numbers, NDArray[np.bool_]]:
    """A map in cells twice as large, in files."""
    shape = (rows + 1) // 2, (columns + 1) // 2
    coarse = open_memmap(folder / f"coarse-{level}.npy", "w+", np.float64, shape)
    unknown = open_memmap(folder / f"coarse-{level}-missing.npy", "w+", np.bool_, shape)
    for begin, end in _bands(rows, columns):
        part = slice(begin // 2, (end + 1) // 2)
        coarse[part], unknown[part] = halve(*read(begin, end))
    return coarse, unknown


def _filled(elevation: Numbers, missing: Mask, folder: Path, level: int) -> Numbers:
    """A map without gaps, in memory if it is small."""
    if elevation.size <= AT_ONCE:
        return fill(np.array(elevation), np.array(missing))
    bands = list(_bands(*elevation.shape))
    in_columns = np.zeros(elevation.shape[1], np.bool_)
    in_rows = np.zeros(elevation.shape[0], np.bool_)
    for begin, end in bands:
        in_columns |= missing[begin:end].any(axis=0)
        in_rows[begin:end] = missing[begin:end].any(axis=1)
    if not in_rows.any():
        return elevation
    window = window_of(in_rows, in_columns)
    columns = slice(window.column, window.column + window.columns)

    def read(begin: int, end: int) -> tuple[Numbers, Mask]:
        part = slice(window.row + begin, window.row + end)
        return np.array(elevation[part, columns]), np.array(missing[part, columns])

    coarse = _filled(*_halved(read, window.rows, window.columns, folder, level + 1), folder, level + 1)
    filled = open_memmap(folder / f"coarse-{level}-filled.npy", "w+", np.float64, elevation.shape)
    for begin, end in bands:
        filled[begin:end] = elevation[begin:end]
    for begin, end in _bands(window.rows, window.columns):
        above, below = max(begin - SMOOTHING_SWEEPS, 0), min(end + SMOOTHING_SWEEPS, window.rows)
        values, unknown = read(above, below)
        continue_in_place(values, unknown, coarse, above)
        filled[window.row + begin : window.row + end, columns] = values[begin - above : end - above]
    return filled
