"""Pictures of the gallery's cards: shipped ones, and those of the user's saved files."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.files.atomic import write_atomically
from app.files.cards import Card
from app.model.errors import UserError
from app.scene.families import picture_file

log = logging.getLogger(__name__)

SIZE = 480, 270  # pixels, across and down
QUALITY = 60  # of WebP, from 0 to 100
MOST_KEPT = 300
LARGEST_FILE = 2**22  # bytes; `keep_picture` writes smaller files

Pixels = NDArray[np.uint8]


def picture_of(path: Path, folder: Path | None) -> Path | None:
    """The path of the picture of a file in its current version."""
    try:
        changed = path.stat().st_mtime_ns
    except (OSError, ValueError):
        return None
    key = hashlib.sha256(f"{path.absolute()}\n{changed}".encode(errors="surrogateescape")).hexdigest()
    return folder / f"{key[:40]}.webp" if folder else None


def keep_picture(path: Path, pixels: Pixels, folder: Path | None) -> None:
    """Keep the picture of a saved file. On failure it has none."""
    place = picture_of(path, folder)
    if place is None or folder is None:
        return
    with contextlib.suppress(OSError):  # reported when it is written
        folder.mkdir(parents=True, exist_ok=True)
    write_picture(place, pixels)
    _remove_oldest(folder)


def write_picture(place: Path, pixels: Pixels) -> None:
    """Write a picture in the size of a card. On failure the old one stays."""
    from imagecodecs import webp_encode

    try:
        with write_atomically(place) as file:
            file.write(webp_encode(card_sized(pixels), level=QUALITY))
    except (OSError, UserError, ValueError, RuntimeError) as error:
        log.debug("%s: this picture cannot be kept: %s", place, error)


def read_picture(card: Card, folder: Path | None) -> Pixels | None:
    """The picture of a card, `[row, column, (red, green, blue)]`, top row first; None if there is none."""
    from imagecodecs import webp_decode

    try:
        place = card.picture or (picture_of(card.path, folder) if card.path else None)
        if card.picture is None and card.path is None:
            content = picture_file(card.source).read_bytes()
        else:
            if place is None or place.stat().st_size > LARGEST_FILE:
                return None
            content = place.read_bytes()
        pixels = np.ascontiguousarray(webp_decode(content)[..., :3], np.uint8)
    except (OSError, ValueError, RuntimeError) as error:
        log.debug("%s: its picture cannot be read: %s", card.source, error)
        return None
    return pixels if pixels.ndim == 3 and pixels.shape[2] == 3 else None


def card_sized(pixels: Pixels) -> Pixels:
    """A picture cropped to the shape of a card and reduced by averaging."""
    width, height = SIZE
    rows, columns = pixels.shape[:2]
    wide, high = (columns, max(columns * height // width, 1)) if columns * height <= rows * width else (
        max(rows * width // height, 1), rows,
    )  # fmt: skip
    top, left = (rows - high) // 2, (columns - wide) // 2
    cut = pixels[top : top + high, left : left + wide, :3].astype(np.float32)
    means = _means(_means(cut, height).swapaxes(0, 1), width).swapaxes(0, 1)
    return np.ascontiguousarray(np.round(means), np.uint8)


def _means(values: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """The picture reduced to `count` rows by averaging, with fractional rows weighted."""
    sums = np.concatenate([np.zeros_like(values[:1], np.float64), np.cumsum(values, axis=0, dtype=np.float64)])
    places = np.linspace(0.0, len(values), count + 1)
    whole = np.minimum(places.astype(np.intp), len(values) - 1)
    part = (places - whole).reshape(-1, *([1] * (values.ndim - 1)))
    at = sums[whole] + part * values[whole]
    return (np.diff(at, axis=0) * (count / len(values))).astype(np.float32)


def _remove_oldest(folder: Path) -> None:
    """Remove the oldest pictures if there are too many."""
    with contextlib.suppress(OSError):
        written = sorted(folder.glob("*.webp"), key=lambda place: place.stat().st_mtime, reverse=True)
        for place in written[MOST_KEPT:]:
            place.unlink(missing_ok=True)
