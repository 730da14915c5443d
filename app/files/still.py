"""Stills larger than memory, written band by band from the top."""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.files.atomic import write_atomically, write_atomically_by_path
from app.files.encoder import Pixels

COMPRESSION = 6
LARGEST_CHUNK = 1 << 20  # bytes

TakeBand = Callable[[Pixels], None]
Layers = Mapping[str, NDArray[Any]]  # of a band: [row, column] by channel name, float16, float32 or uint32


@contextlib.contextmanager
def open_png(path: Path, width: int, height: int) -> Iterator[TakeBand]:
    """A context with a PNG that takes bands [row, column, (red, green, blue)]. Written atomically."""
    with write_atomically(path) as file:

        def chunk(kind: bytes, content: bytes) -> None:
            file.write(struct.pack(">I", len(content)) + kind + content)
            file.write(struct.pack(">I", zlib.crc32(content, zlib.crc32(kind))))

        file.write(b"\x89PNG\r\n\x1a\n")
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))  # 8 bits each of red, green and blue
        compressor = zlib.compressobj(COMPRESSION)
        above = np.zeros((1, width * 3), np.uint8)
        waiting = bytearray()

        def take(band: Pixels) -> None:
            nonlocal above
            rows = np.ascontiguousarray(band).reshape(len(band), width * 3)
            filtered = np.empty((len(rows), 1 + width * 3), np.uint8)
            filtered[:, 0] = 2  # the filter "up": each byte minus the one above
            np.subtract(rows, np.concatenate([above, rows[:-1]]), out=filtered[:, 1:])
            above = rows[-1:].copy()
            waiting.extend(compressor.compress(filtered.tobytes()))
            while len(waiting) >= LARGEST_CHUNK:
                chunk(b"IDAT", bytes(waiting[:LARGEST_CHUNK]))
                del waiting[:LARGEST_CHUNK]

        yield take
        waiting.extend(compressor.flush())
        chunk(b"IDAT", bytes(waiting))
        chunk(b"IEND", b"")


class LayeredStill:
    """An EXR that is being written. Call `describe` before the first band."""

    def __init__(self, path: Path, width: int, height: int, channels: Sequence[tuple[str, str]]) -> None:
        import Imath
        import OpenEXR

        types = {name: Imath.PixelType(getattr(Imath.PixelType, name)) for name in ("HALF", "FLOAT", "UINT")}
        self._path = path
        self._header = OpenEXR.Header(width, height)
        self._header["channels"] = {name: Imath.Channel(types[kind]) for name, kind in channels}
        self._file: Any = None

    def describe(self, texts: Mapping[str, str]) -> None:
        """Add descriptions of layers, by name."""
        self._header |= {name: text.encode() for name, text in texts.items()}

    def take(self, band: Layers) -> None:
        """The next rows."""
        import OpenEXR

        if self._file is None:
            self._file = OpenEXR.OutputFile(str(self._path), self._header)
        rows = len(next(iter(band.values())))
        self._file.writePixels({name: np.ascontiguousarray(layer).tobytes() for name, layer in band.items()}, rows)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


@contextlib.contextmanager
def open_exr(path: Path, width: int, height: int, channels: Sequence[tuple[str, str]]) -> Iterator[LayeredStill]:
    """A context with an EXR of named channels, HALF, FLOAT or UINT. Written atomically."""
    with write_atomically_by_path(path) as temporary:
        still = LayeredStill(temporary, width, height, channels)
        try:
            yield still
        finally:
            still.close()
