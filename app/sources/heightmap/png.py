"""PNG: grey, colour or palette, with or without alpha, 1 to 16 bits. It has no scale of heights and no cell size."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from app.sources.heightmap.raster import Raster, check_size, image_raster

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The signature, then the first chunk: its length, its type, width and height.
HEADER = struct.Struct(">8s4x4sII")


def read_png(path: Path) -> Raster:
    """The samples of an image, black the lowest and white the highest."""
    import imagecodecs

    with path.open("rb") as file:
        signature, chunk, columns, rows = HEADER.unpack(file.read(HEADER.size))
        if (signature, chunk) != (SIGNATURE, b"IHDR"):
            raise ValueError("it does not start as a PNG image does")
        check_size(rows, columns)
        file.seek(0)
        image = imagecodecs.png_decode(file.read())
    return image_raster(image, full_scale=float(np.iinfo(image.dtype).max))
