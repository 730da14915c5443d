"""What every reader hands over, and the checks that readers make before they decode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.world import LARGEST_SIDE, SMALLEST_SIDE
from app.sources.part import Part

# Rec. 709: how bright red, green and blue look.
LUMINANCE = (0.2126, 0.7152, 0.0722)


@dataclass(frozen=True)
class Raster:
    """A decoded file, before anything is done to its values."""

    samples: NDArray[Any]  # [row, column], real numbers, row 0 in the north
    missing: NDArray[np.bool_] | None = None  # where the file itself says NODATA; NaN and infinity need no mention
    cell_width: float | None = None  # metres from west to east, if the file gives it
    cell_height: float | None = None  # metres from north to south, if the file gives it
    full_scale: float | None = None  # the brightest sample that an image can hold; None where samples are metres
    taken: str = ""  # which part of the file they are, if it holds more

    def part(self, part: Part) -> Raster:
        """The same, of some cells."""
        window = slice(part.row, part.row + part.rows), slice(part.column, part.column + part.columns)
        missing = None if self.missing is None else self.missing[window]
        return replace(self, samples=self.samples[window], missing=missing)


def check_size(rows: int, columns: int) -> None:
    """Refuse a map that is too small or too large. Called before decoding, so that a small file cannot fill memory."""
    if not (SMALLEST_SIDE <= rows <= LARGEST_SIDE and SMALLEST_SIDE <= columns <= LARGEST_SIDE):
        raise UserError(
            f"the map has {rows} rows and {columns} columns; each must be from {SMALLEST_SIDE} to {LARGEST_SIDE}"
        )


def check_array(shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """Refuse an array that is not a map of real numbers."""
    if dtype.kind not in "iuf":
        raise UserError(f"it holds values of type {dtype}; expected integers or floats")
    if len(shape) != 2:
        raise UserError(f"the array has {len(shape)} dimensions; expected 2, [row, column]")
    check_size(shape[0], shape[1])


def image_raster(
    image: NDArray[Any], full_scale: float | None, cell_width: float | None = None, cell_height: float | None = None
) -> Raster:
    """A raster from an image, [row, column] or [row, column, channel], with one to four channels.

    Colour becomes luminance. An alpha channel (the second or the fourth) is NODATA where it is 0.
    """
    if image.ndim == 2:
        return Raster(image, None, cell_width, cell_height, full_scale)
    channels = image.shape[2]
    missing = image[..., -1] == 0 if channels in (2, 4) else None
    if channels < 3:
        return Raster(image[..., 0], missing, cell_width, cell_height, full_scale)
    samples = np.zeros(image.shape[:2])
    for channel, weight in enumerate(LUMINANCE):
        samples += weight * image[..., channel]
    return Raster(samples, missing, cell_width, cell_height, full_scale, taken="the brightness of its colours")
