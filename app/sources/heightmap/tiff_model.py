"""TIFF and GeoTIFF as a model of which parts are read: by the tiles or strips that a part lies in, and no others."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.sources.heightmap.georeference import place_of_page
from app.sources.heightmap.models import LONGEST_SIDE, Model, Reader, Samples
from app.sources.heightmap.tiff import declared_missing, full_scale_of, georeference, heights_of, north_up

if TYPE_CHECKING:
    from tifffile import TiffFile, TiffPage

LARGEST_BLOCK = 2**27  # bytes of a tile or strip: the least that is read at once
THREADS = 4
MOST_OVERVIEWS = 16  # pages that are looked at


def open_tiff(path: Path, *, of_heights: bool = True) -> Model | None:
    """The header of the first page of a file; None if it is no single map of numbers.

    Numbers that are not `of_heights` are taken as they are, in whatever unit.
    """
    import tifffile

    tifffile.logger().setLevel(logging.CRITICAL + 1)
    with tifffile.TiffFile(path) as file:
        page = file.pages.first
        rows, columns = page.imagelength, page.imagewidth
        if page.imagedepth != 1 or page.samplesperpixel != 1 or page.dtype is None or page.dtype.kind not in "iuf":
            return None
        if not (1 <= rows <= LONGEST_SIDE and 1 <= columns <= LONGEST_SIDE):
            return None
        to_model, names = georeference(page)
        scale, offset = heights_of(page, names) if of_heights else (1.0, 0.0)
        full_scale = full_scale_of(np.dtype(page.dtype), page.bitspersample) if to_model is None else None
        height = _block_of(page)[0]
        place = place_of_page(page)
        smaller = _smaller(file, rows, columns)
    from_south = from_east = False
    if to_model is not None:
        from_south, from_east, _ = north_up(to_model, rows, columns)

    def of_page(number: int, rows: int, columns: int) -> Reader:
        def read(wanted_rows: slice, wanted_columns: slice) -> tuple[Samples, NDArray[np.bool_] | None]:
            across = _turned(wanted_rows, rows) if from_south else wanted_rows
            along = _turned(wanted_columns, columns) if from_east else wanted_columns
            with tifffile.TiffFile(path) as file:
                page = cast("TiffPage", file.pages[number])
                _check_blocks(page)
                samples = _read(page, across, along)
                missing = declared_missing(file.pages.first, samples)
            turn = (slice(None, None, -1 if from_south else 1), slice(None, None, -1 if from_east else 1))
            return samples[turn], None if missing is None else missing[turn]

        return read

    others = tuple(
        Model(*shape, of_page(number, *shape), names=names, scale=scale, offset=offset, full_scale=full_scale)
        for number, shape in smaller
    )
    read = of_page(0, rows, columns)
    return Model(rows, columns, read, place, names, scale, offset, full_scale, height, smaller=others)


def _smaller(file: TiffFile, rows: int, columns: int) -> list[tuple[int, tuple[int, int]]]:
    """Pages that show the first one smaller: their numbers, rows and columns, from large to small."""
    found: dict[int, tuple[int, int]] = {}
    for number in range(1, MOST_OVERVIEWS):
        try:
            page = cast("TiffPage", file.pages[number])
        except Exception:  # there are no more, or they are damaged
            break
        shape = page.imagelength, page.imagewidth
        alike = page.is_reduced and not page.is_mask and page.dtype == file.pages.first.dtype
        even = abs(shape[0] * columns - shape[1] * rows) <= max(rows, columns) * 2
        if alike and even and min(shape) >= 1 and shape < (rows, columns) and page.samplesperpixel == 1:
            found[number] = shape
    return sorted(found.items(), key=lambda item: item[1], reverse=True)


def _check_blocks(page: TiffPage) -> None:
    """Raise `UserError` if parts cannot be read, before anything is."""
    rows, columns = page.imagelength, page.imagewidth
    height, width = _block_of(page)
    if height * width * np.dtype(page.dtype).itemsize > LARGEST_BLOCK:
        raise UserError(
            f"it is stored in blocks of {width}×{height} cells, which must be read as a whole; "
            "with tiles parts of it can be (gdal_translate -co TILED=YES)"
        )
    blocks = -(-rows // height) * -(-columns // width)
    if len(page.dataoffsets) < blocks or len(page.databytecounts) < blocks:
        raise UserError(f"it says where {len(page.dataoffsets)} of its {blocks} blocks are; it must be complete")


def _block_of(page: TiffPage) -> tuple[int, int]:
    """Rows and columns of a tile or strip."""
    if page.is_tiled:
        return max(page.tilelength, 1), max(page.tilewidth, 1)
    return max(min(page.rowsperstrip, page.imagelength), 1), max(page.imagewidth, 1)


def _turned(part: slice, count: int) -> slice:
    """The same cells counted from the other side."""
    return slice(count - part.stop, count - part.start)


def _read(page: TiffPage, rows: slice, columns: slice) -> Samples:
    """A window of a page. Missing blocks hold the NODATA value of the file, or 0."""
    shape = rows.stop - rows.start, columns.stop - columns.start
    samples: NDArray[Any] = np.full(shape, page.nodata, page.dtype)
    height, width = _block_of(page)
    per_row = -(-page.imagewidth // width)
    numbers = itertools.product(
        range(rows.start // height, -(-rows.stop // height)), range(columns.start // width, -(-columns.stop // width))
    )
    file = page.parent.filehandle

    def encoded() -> Iterator[tuple[int, bytes]]:
        for down, across in numbers:
            number = down * per_row + across
            length = page.databytecounts[number]
            if length:
                file.seek(page.dataoffsets[number])
                yield number, file.read(length)

    def lay(block: tuple[int, bytes]) -> None:
        number, data = block
        values, (_, _, top, left, _), _ = page.decode(data, number, jpegtables=page.jpegtables)
        if values is None:
            return
        values = values[0, :, :, 0]
        upper, lower = max(rows.start, top), min(rows.stop, top + values.shape[0])
        west, east = max(columns.start, left), min(columns.stop, left + values.shape[1])
        if upper < lower and west < east:
            into = slice(upper - rows.start, lower - rows.start), slice(west - columns.start, east - columns.start)
            samples[into] = values[upper - top : lower - top, west - left : east - left]

    page.decode  # noqa: B018  (made once, before several threads ask for it)
    blocks = encoded()
    some = list(itertools.islice(blocks, 2))
    for block in some:
        lay(block)
    if len(some) < 2:  # small tiles have one block, for which no threads are worth while
        return samples
    with ThreadPoolExecutor(THREADS) as pool:
        while some := list(itertools.islice(blocks, 8 * THREADS)):
            list(pool.map(lay, some))
    return samples
