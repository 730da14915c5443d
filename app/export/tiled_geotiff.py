"""Cloud-optimised GeoTIFF of maps that are larger than memory, from tiles that are written apart and in any order.

The blocks of a tile are encoded where the tile is, with those of overviews as far as these lie in it. All are then
put together without being decoded: first all directories, then the blocks of overviews, the smallest first, as a file
has to have them of which parts are read over a network.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from app.export.geotiff import METADATA_TAG, NO_NUMBER, NODATA, NODATA_TAG, Band, metadata
from app.files.atomic import write_atomically
from app.model.georeference import Georeference

# What an overview has of four cells: their mean, the largest, or the first
Way = Literal["mean", "largest", "label"]
Values = NDArray[Any]

LARGEST_BLOCK = 512  # cells of a side
SMALLEST_BLOCK = 16  # likewise, as TIFF has it; sides are multiples of it
DEFLATE, LEVEL = 8, 1
CLASSIC_LIMIT = 2**32 - 2**20  # bytes of a file without offsets of eight bytes

KINDS = {"s": (2, 1), "H": (3, 2), "I": (4, 4), "d": (12, 8), "Q": (16, 8)}  # number in a file, and bytes
SAMPLE_FORMATS = {"u": 1, "i": 2, "f": 3}


def block_of(side: int) -> int:
    """The side of a block in tiles with a side that is a multiple of `SMALLEST_BLOCK`."""
    block = LARGEST_BLOCK
    while side % block:
        block //= 2
    return block


def nothing_of(dtype: np.dtype[Any]) -> float:
    """What stands for cells without data."""
    return NO_NUMBER if dtype == np.uint8 else NODATA


@dataclass(frozen=True)
class Pyramid:
    """How a map is cut: its size, blocks and overviews, and which of these lie in one tile."""

    rows: int
    columns: int
    side: int  # of a tile

    @property
    def block(self) -> int:
        return block_of(self.side)

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Rows and columns of the map, and of each overview."""
        sizes = [(self.rows, self.columns)]
        while max(sizes[-1]) > self.block:
            sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
        return sizes

    @property
    def within(self) -> int:
        """How many levels have whole blocks in each tile."""
        count, side = 1, self.side
        while side % (2 * self.block) == 0 and count < len(self.levels):
            side //= 2
            count += 1
        return count


def encoded_tile(values: Values, pyramid: Pyramid, way: Way, has_nothing: bool) -> dict[str, Values]:
    """The blocks of a tile on all levels that lie within it, and the last level as it is, for those that do not."""
    parts: dict[str, Values] = {"dtype": np.array(values.dtype.str)}
    for level in range(pyramid.within):
        if level:
            values = halved(values, way, has_nothing)
        blocks = list(_encoded(values, pyramid.block))
        down, across = (-(-count // pyramid.block) for count in values.shape)
        parts[f"sizes{level}"] = np.array([len(block) for block in blocks], np.int64).reshape(down, across)
        parts[f"data{level}"] = np.frombuffer(b"".join(blocks), np.uint8)
    if pyramid.within < len(pyramid.levels):
        parts["last"] = values
    return parts


def halved(values: Values, way: Way, has_nothing: bool) -> Values:
    """A map in cells twice as large; what lies beyond an odd edge is as the edge."""
    rows, columns = values.shape
    values = np.pad(values, ((0, rows % 2), (0, columns % 2)), mode="edge")
    if way == "label":
        return np.ascontiguousarray(values[::2, ::2])
    four = values[::2, ::2], values[::2, 1::2], values[1::2, ::2], values[1::2, 1::2]
    nothing = values.dtype.type(nothing_of(values.dtype))
    if way == "largest":
        if not has_nothing or nothing < 0:
            largest: Values = np.maximum(np.maximum(four[0], four[1]), np.maximum(four[2], four[3]))
            return largest
        largest = np.max([np.where(part == nothing, 0, part) for part in four], axis=0)
        return np.where(np.all([part == nothing for part in four], axis=0), nothing, largest).astype(values.dtype)
    known = [part != nothing for part in four] if has_nothing else [np.ones(four[0].shape, np.bool_)] * 4
    total, count = np.zeros(four[0].shape), np.zeros(four[0].shape)
    for part, is_known in zip(four, known, strict=True):
        total += np.where(is_known, part, 0.0)
        count += is_known
    mean = np.divide(total, count, out=np.full(total.shape, float(nothing)), where=count > 0)
    halves: Values = mean.astype(values.dtype)
    return halves


def _encoded(values: Values, block: int) -> Iterator[bytes]:
    """The blocks of a map, row by row; those at its edge are filled up with zeros."""
    import imagecodecs

    for top in range(0, values.shape[0], block):
        for left in range(0, values.shape[1], block):
            cells = values[top : top + block, left : left + block]
            whole = np.zeros((block, block), values.dtype)
            whole[: cells.shape[0], : cells.shape[1]] = cells
            predict = imagecodecs.floatpred_encode if values.dtype.kind == "f" else imagecodecs.delta_encode
            predicted = predict(whole, axis=-1)
            yield bytes(imagecodecs.zlib_encode(np.asarray(predicted).tobytes(), level=LEVEL))


@dataclass(frozen=True)
class Piece:
    """A tile that was encoded: where it lies in the map, in blocks are counted from there, and its file."""

    row: int
    column: int
    file: Path


def put_together(
    path: Path,
    dtype: np.dtype[Any],
    pyramid: Pyramid,
    pieces: Sequence[Piece],
    place: Georeference | None,
    band: Band,
    way: Way,
    has_nothing: bool,
) -> None:
    """Write the file of a map from its tiles. The file that was there stays whole until all is written."""
    sizes = [_sizes(pyramid, pieces, level) for level in range(pyramid.within)]
    rest = list(_smaller(pyramid, pieces, dtype, way, has_nothing))
    for level, blocks in enumerate(rest, pyramid.within):
        down, across = (-(-count // pyramid.block) for count in pyramid.levels[level])
        sizes.append(np.array([len(block) for block in blocks], np.int64).reshape(down, across))
    tags = list(place.tags()) if place else []
    tags.append((METADATA_TAG, "s", 0, metadata((band,)), True))
    if has_nothing:
        tags.append((NODATA_TAG, "s", 0, f"{nothing_of(dtype):g}", True))
    is_big = sum(int(of_level.sum()) for of_level in sizes) > CLASSIC_LIMIT
    with write_atomically(path) as file:
        head = _Head(pyramid, dtype, tags, sizes, pieces, is_big)
        file.write(head.content)
        for blocks in reversed(rest):
            for block in blocks:
                file.write(block)
        for level in reversed(range(pyramid.within)):
            for piece in pieces:
                with np.load(piece.file) as parts:
                    file.write(parts[f"data{level}"].data)


def _sizes(pyramid: Pyramid, pieces: Sequence[Piece], level: int) -> NDArray[np.int64]:
    """The bytes of each block of a level, [down, across]."""
    down, across = (-(-count // pyramid.block) for count in pyramid.levels[level])
    sizes = np.zeros((down, across), np.int64)
    for piece in pieces:
        with np.load(piece.file) as parts:
            own = parts[f"sizes{level}"]
        sizes[_blocks(pyramid, piece, level, own.shape)] = own
    return sizes


def _blocks(pyramid: Pyramid, piece: Piece, level: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Which blocks of a level are those of a tile."""
    top, left = piece.row // 2**level // pyramid.block, piece.column // 2**level // pyramid.block
    return slice(top, top + shape[0]), slice(left, left + shape[1])


def _smaller(
    pyramid: Pyramid, pieces: Sequence[Piece], dtype: np.dtype[Any], way: Way, has_nothing: bool
) -> Iterator[list[bytes]]:
    """The blocks of the overviews that lie in several tiles."""
    last = pyramid.within - 1
    if pyramid.within == len(pyramid.levels):
        return
    values = np.zeros(pyramid.levels[last], dtype)
    for piece in pieces:
        with np.load(piece.file) as parts:
            own = parts["last"]
        top, left = piece.row // 2**last, piece.column // 2**last
        values[top : top + own.shape[0], left : left + own.shape[1]] = own
    for _ in range(pyramid.within, len(pyramid.levels)):
        values = halved(values, way, has_nothing)
        yield list(_encoded(values, pyramid.block))


class _Head:
    """The begin of a file: all directories, with the places of all blocks that follow."""

    def __init__(
        self,
        pyramid: Pyramid,
        dtype: np.dtype[Any],
        tags: Sequence[Any],
        sizes: Sequence[NDArray[np.int64]],
        pieces: Sequence[Piece],
        is_big: bool,
    ) -> None:
        self._pyramid, self._dtype, self._pieces, self._is_big = pyramid, dtype, pieces, is_big
        start = len(self._directories(tags, sizes, [np.zeros_like(of_level) for of_level in sizes]))
        offsets = [np.zeros_like(of_level) for of_level in sizes]
        for level in reversed(range(len(sizes))):
            start = self._place(level, sizes[level], offsets[level], start)
        self.content = self._directories(tags, sizes, offsets)

    def _place(self, level: int, sizes: NDArray[np.int64], offsets: NDArray[np.int64], start: int) -> int:
        """Where the blocks of a level begin, in the order in which they are written; the end of the last one."""
        parts = [(slice(None), slice(None))]
        if level < self._pyramid.within:
            parts = []
            for piece in self._pieces:
                with np.load(piece.file) as found:
                    parts.append(_blocks(self._pyramid, piece, level, found[f"sizes{level}"].shape))
        for part in parts:
            own = sizes[part]
            begins = start + np.append(0, np.cumsum(own.reshape(-1)))
            offsets[part] = begins[:-1].reshape(own.shape)
            start = int(begins[-1])
        return start

    def _directories(
        self, tags: Sequence[Any], sizes: Sequence[NDArray[np.int64]], offsets: Sequence[NDArray[np.int64]]
    ) -> bytes:
        content = bytearray(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16) if self._is_big else b"II*\0\x08\0\0\0")
        for level, (rows, columns) in enumerate(self._pyramid.levels):
            block, place = self._pyramid.block, "Q" if self._is_big else "I"
            predictor = 3 if self._dtype.kind == "f" else 2
            entries = [
                (254, "I", 0 if level == 0 else 1),
                (256, "I", columns),
                (257, "I", rows),
                (258, "H", 8 * self._dtype.itemsize),
                (259, "H", DEFLATE),
                (262, "H", 1),  # a small number is dark
                (277, "H", 1),
                (284, "H", 1),
                (317, "H", predictor),
                (322, "I", block),
                (323, "I", block),
                (324, place, offsets[level].reshape(-1).tolist()),
                (325, "I", sizes[level].reshape(-1).tolist()),
                (339, "H", SAMPLE_FORMATS[self._dtype.kind]),
            ]
            if level == 0:
                entries += [(number, kind, value) for number, kind, _, value, _ in tags]
            is_last = level == len(self._pyramid.levels) - 1
            self._append_directory(content, sorted(entries, key=lambda entry: entry[0]), is_last)
        return bytes(content)

    def _append_directory(self, content: bytearray, entries: Sequence[tuple[int, str, Any]], is_last: bool) -> None:
        """Add a directory and, behind it, the values that do not fit into it; the next one follows."""
        count, entry, place, room = ("<Q", "<HHQ", "<Q", 8) if self._is_big else ("<H", "<HHI", "<I", 4)
        begin = len(content)
        length = struct.calcsize(count) + len(entries) * (struct.calcsize(entry) + room) + room
        behind = bytearray()
        content += struct.pack(count, len(entries))
        for number, kind, value in entries:
            packed, values = _packed(kind, value)
            content += struct.pack(entry, number, KINDS[kind][0], values)
            if len(packed) <= room:
                content += packed.ljust(room, b"\0")
            else:
                content += struct.pack(place, begin + length + len(behind))
                behind += packed + b"\0" * (-len(packed) % 8)
        behind += b"\0" * (-(begin + length + len(behind)) % 8)
        content += struct.pack(place, 0 if is_last else begin + length + len(behind)) + behind


def _packed(kind: str, value: Any) -> tuple[bytes, int]:
    """A value as a file has it, and how many these are."""
    if kind == "s":
        text = str(value).encode("ascii") + b"\0"
        return text, len(text)
    values = list(value) if isinstance(value, list | tuple) else [value]
    return struct.pack(f"<{len(values)}{kind}", *values), len(values)


def write_parts(file: BinaryIO, parts: dict[str, Values]) -> None:
    """Write what `encoded_tile` made to a file that `put_together` reads."""
    np.savez(file, allow_pickle=False, **parts)
